"""What went wrong, as one value: a kind for programs, a message and a hint for people, a place."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from chartpact.didyoumean import did_you_mean, nearest
from chartpact.oneline import one_line

__all__ = ["Failure", "Problem", "did_you_mean", "nearest"]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: what, where, and what would be right.

    `step` is the step of a script's pipeline, `path` a place inside a document. Lines and columns
    count characters from 1. `details` are further facts for programs.

    >>> str(Problem("name", "there is no 'emaa'", "did you mean 'ema'?", line=3))
    "line 3: there is no 'emaa': did you mean 'ema'?"
    """

    kind: str
    message: str
    hint: str = ""
    step: str | None = None
    line: int | None = None
    column: int | None = None
    path: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        line = "" if self.line is None else f"line {self.line}: "
        path = f"{self.path}: " if self.path else ""
        hint = f": {self.hint}" if self.hint else ""
        return one_line(f"{line}{path}{self.message}{hint}")

    def to_json(self) -> dict[str, Any]:
        """The problem for programs; step, line, column and path only where they have a meaning."""
        data: dict[str, Any] = {"kind": self.kind, "message": self.message, "hint": self.hint}
        if self.step is not None:
            data |= {"step": self.step, "line": self.line, "column": self.column}
        if self.path is not None:
            data |= {"line": self.line, "path": self.path}
        return {**data, **self.details}

    def at(self, **place: Any) -> Self:
        """The same problem in another step, line, column or path."""
        return replace(self, **place)


class Failure(Exception):
    """Something that cannot be done, and the problem that says why. It survives pickling."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return str(self.problem)

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses may have constructors of their own, so theirs is not called again.
        return _remake, (type(self), *self.args), self.__dict__

    @property
    def kind(self) -> str:
        return self.problem.kind

    @property
    def message(self) -> str:
        return self.problem.message

    @property
    def hint(self) -> str:
        return self.problem.hint

    @property
    def line(self) -> int | None:
        return self.problem.line

    @property
    def column(self) -> int | None:
        return self.problem.column

    def to_json(self) -> dict[str, Any]:
        return self.problem.to_json()


def _remake(failure: type[Failure], *args: Any) -> Failure:
    return failure.__new__(failure, *args)
