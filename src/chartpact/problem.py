"""What went wrong, as one value: a kind for programs, a message and a hint for people, a place."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, Self

from chartpact.oneline import one_line

LONGEST_WORD = 80  # longer words resemble nothing, and comparing them is slow
MOST_WORDS = 5_000
MOST_COMPARED = 24  # of more words only those with the most letters in common are compared


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


def nearest(word: str, known: Iterable[str], most: int = 1, alike: float = 0.5) -> list[str]:
    """The known words that were probably meant, the likeliest first, whatever their case.

    >>> nearest("EMAA", ["sma", "ema", "rsi"])
    ['ema']
    """
    words: dict[str, str] = {}
    for name in known:
        if len(name) <= LONGEST_WORD:
            words.setdefault(name.lower(), name)
    if len(word) > LONGEST_WORD or len(words) > MOST_WORDS:
        return []
    likely = list(words)
    if len(words) > MOST_COMPARED:
        letters = _letters(word.lower())
        likely = sorted(words, key=lambda name: len(letters ^ _letters(name)))[:MOST_COMPARED]
    return [words[name] for name in get_close_matches(word.lower(), likely, most, alike)]


def _letters(word: str) -> set[str]:
    """The letters of a word and its pairs of neighbours."""
    return {*word, *map("".join, pairwise(word))}


def did_you_mean(
    word: str,
    known: Iterable[str],
    most: int = 1,
    alike: float = 0.5,
    before: str = "",
    show: Callable[[str], str] = repr,
) -> str:
    """The question that names what was probably meant, with `before` in front of it, or nothing.

    >>> did_you_mean("emaa", ["sma", "ema"])
    "did you mean 'ema'?"
    >>> did_you_mean("emaa", ["sma", "ema"], show="ta.{}".format)
    'did you mean ta.ema?'
    """
    near = nearest(word, known, most, alike)
    return f"{before}did you mean {' or '.join(map(show, near))}?" if near else ""
