"""What is wrong with a contract's text: each problem with its YAML line and what would be right."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a contract: where it stands, what it is, and what would be right."""

    line: int | None
    path: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = "" if self.line is None else f"line {self.line}: "
        told = f"{place}{self.path}: {self.message}" if self.path else f"{place}{self.message}"
        return f"{told} ({self.hint})" if self.hint else told

    def to_json(self) -> dict[str, Any]:
        return {
            "line": self.line,
            "path": self.path,
            "message": self.message,
            "hint": self.hint,
        }


class ContractError(ValueError):
    """A text that is no contract; `problems` says why, in the order of its lines."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.line is None, p.line or 0)))
        super().__init__("\n".join(map(str, self.problems)))


def suggestion(name: str, known: Sequence[str]) -> str:
    """A hint that names the nearest of the known names, or all of them."""
    near = get_close_matches(name, known, 1, 0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    shown = ", ".join(sorted(known)[:20])
    return f"known here: {shown}" if shown else "nothing is known here"
