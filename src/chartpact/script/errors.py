"""What can be wrong with a script, as a value its author can act on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from chartpact.params import IndicatorError
from chartpact.problem import Problem

STEPS = ("parse", "check", "presence", "dry_run", "run")
KINDS = (
    "syntax",
    "forbidden",
    "name",
    "type",
    "value",
    "budget",
    "memory",
    "time",
    "crash",
    "size",
    "busy",
)


class ScriptError(IndicatorError):
    """A script cannot be used or run: where, why, and what to write instead.

    Lines and columns count characters from 1; None where the place is not known. `inside` tells
    what failed in the host, where it is not the script that is wrong: that is for the host's log.

    >>> ScriptError("run", "name", "there is no 'emaa'", line=3, column=9).to_json()["line"]
    3
    """

    def __init__(
        self,
        step: str,
        kind: str,
        message: str,
        hint: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
        inside: str = "",
    ) -> None:
        if step not in STEPS or kind not in KINDS:
            raise ValueError(f"{step!r} and {kind!r} are not a step and a kind of script error")
        super().__init__(Problem(kind, message, hint, step, line, column))
        self.inside = inside

    @property
    def step(self) -> str:
        return self.problem.step or "run"

    @property
    def line(self) -> int | None:
        return self.problem.line

    @property
    def column(self) -> int | None:
        return self.problem.column

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        return f"{place}{self.message}" + (f" ({self.hint})" if self.hint else "")

    def to_json(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "kind": self.kind,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "hint": self.hint,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ScriptError":
        """The error in `to_json`'s shape, nothing in it taken on trust."""
        return cls(
            str(data["step"]),
            str(data["kind"]),
            str(data["message"]),
            str(data["hint"]),
            line=_count(data["line"]),
            column=_count(data["column"]),
        )

    def at(self, step: str) -> "ScriptError":
        """The same error, met in another step."""
        return ScriptError(
            step,
            self.kind,
            self.message,
            self.hint,
            line=self.line,
            column=self.column,
            inside=self.inside,
        )


def _count(value: Any) -> int | None:
    if value is None or (type(value) is int and value > 0):
        return value
    raise ValueError(f"{value!r} is not a line or a column")


NOT_YOUR_FAULT = "this is a fault in chartpact: please report it, with the script"
_MOST_FRAMES = 8


def inside(error: BaseException) -> str:
    """What failed in the host and where, in one line and without its sources.

    >>> try:
    ...     nearest(5, [])
    ... except TypeError as error:
    ...     print(inside(error))  # doctest: +ELLIPSIS
    TypeError: object of type 'int' has no len(), in chartpact.script.errors:nearest:... < ...
    """
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        module = trace.tb_frame.f_globals.get("__name__", "the script")
        frames.append(f"{module}:{code.co_name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}, in {' < '.join(frames[: -_MOST_FRAMES - 1 : -1])}"


_LONGEST_NAME, _MOST_NAMES = 40, 1_000


def nearest(word: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """The known name that was probably meant; long words and long lists are not searched.

    >>> nearest("emaa", ["sma", "ema"])
    'ema'
    """
    names = [name for name in known if len(name) <= _LONGEST_NAME]
    if len(word) > _LONGEST_NAME or len(names) > _MOST_NAMES:
        return None
    near = get_close_matches(word, sorted(names), 1, alike)
    return near[0] if near else None


@dataclass
class Fault(Exception):
    """A rule broken while a script runs; the place is where the script stood."""

    kind: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return self.message
