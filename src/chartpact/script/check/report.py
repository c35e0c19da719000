"""The problems of a script, collected so that its author sees more than the first."""

import ast

from chartpact.problem import Problem
from chartpact.script.errors import LimitReached, ScriptError
from chartpact.syntax import Places

MOST_PROBLEMS = 20


class CheckReport:
    """What one step of the check refused or warns of, and where."""

    def __init__(self, step: str, source: str) -> None:
        self.problems: list[ScriptError] = []
        self.warnings: list[Problem] = []
        self._step = step
        self._places = Places(source)

    def refuse(self, node: ast.AST | None, kind: str, message: str, hint: str = "") -> None:
        line, column = (None, None) if node is None else self._places.of(node)
        self.problems.append(ScriptError(self._step, kind, message, hint, line=line, column=column))
        if len(self.problems) >= MOST_PROBLEMS:
            raise LimitReached

    def warn(self, node: ast.AST, kind: str, message: str, hint: str = "") -> None:
        """Adds a warning, of which `WARNING_KINDS` are the kinds."""
        if len(self.warnings) < MOST_PROBLEMS:
            place = self._places.of(node)
            self.warnings.append(Problem(kind, message, hint, self._step, *place))
