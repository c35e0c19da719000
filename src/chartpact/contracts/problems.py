"""What is wrong with a contract's text: each problem with its YAML line and what would be right."""

from collections.abc import Iterable, Sequence
from typing import Any

from chartpact.problem import Problem, did_you_mean


def contract_problem(line: int | None, path: str, message: str, hint: str = "") -> Problem:
    """One thing wrong with a contract's text."""
    return Problem("contract", message, hint, line=line, path=path)


def describe(problem: Problem) -> str:
    """A problem in one line: where, what, and what would be right."""
    sentence = str(problem.at(hint=""))
    return f"{sentence} ({problem.hint})" if problem.hint else sentence


class ContractError(ValueError):
    """A text that is no contract; `problems` says why, in the order of its lines."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.line is None, p.line or 0)))
        super().__init__("\n".join(map(describe, self.problems)))

    def to_json(self) -> list[dict[str, Any]]:
        """The problems as `contract check --json` lists them."""
        keys = ("line", "path", "message", "hint")
        return [{key: getattr(problem, key) for key in keys} for problem in self.problems]


def refusal(line: int | None, message: str, hint: str) -> ContractError:
    """The error of a text with a single problem."""
    return ContractError([contract_problem(line, "", message, hint)])


def suggestion(name: str, known: Sequence[str]) -> str:
    """A hint that names the nearest of the known names, or all of them."""
    if near := did_you_mean(name, known, alike=0.6):
        return near
    shown = ", ".join(sorted(known)[:20])
    return f"known here: {shown}" if shown else "nothing is known here"
