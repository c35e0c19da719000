"""Violations as they are collected during one reading."""

from collections.abc import Mapping, Sequence
from typing import Any

from chartpact.contracts.expressions.codegen import FILENAME
from chartpact.contracts.reading import Trouble, Violation

MAX_VIOLATIONS = 200

CAUGHT = (Trouble, ArithmeticError)  # what generated code may raise


class Stop(Exception):
    """Nothing more can be said."""


class Report:
    """What was found wrong; while `warn` is set, as with informational elements, a warning."""

    def __init__(self, contract: str, version: str, paths: Mapping[int, str]) -> None:
        self._contract, self._version, self._paths = contract, version, paths
        self.violations: list[Violation] = []
        self.warnings: list[Violation] = []
        self.warn = False

    def __len__(self) -> int:
        return len(self.violations) + len(self.warnings)

    def add(
        self,
        kind: str,
        path: str,
        message: str,
        objects: Sequence[Any] = (),
        field: str | None = None,
    ) -> None:
        into = self.warnings if self.warn else self.violations
        if len(into) < MAX_VIOLATIONS:
            about = tuple(objects)
            into.append(Violation(kind, path, message, self._contract, self._version, about, field))
        elif not self.warn:
            raise Stop

    def trouble(self, error: Exception, default: str, objects: Sequence[Any] = ()) -> None:
        """Adds what generated code raised; the line that raised tells the place."""
        path, at = default, error.__traceback__
        while at is not None:
            if at.tb_frame.f_code.co_filename == FILENAME:
                path = self._paths.get(at.tb_lineno, path)
            at = at.tb_next
        kind, message = "malformed", "the result is not a finite number"
        if isinstance(error, Trouble):
            kind, message = error.kind, error.message
            path = f"{path}.{error.path}" if error.path else path
        self.add(kind, path, message, objects)
