"""A study that is refused: its kind, what was found, and what can be done."""

from typing import Any, Literal

from chartpact.problem import Failure, Problem

Kind = Literal["rewrites", "provisional", "undated", "too_few", "too_long", "no_side"]


class StudyError(Failure):
    """A study that would not be honest, or that was asked for wrongly (kind `value` or `name`)."""

    def __init__(self, kind: str, message: str, hint: str = "", **details: Any) -> None:
        super().__init__(Problem(kind, message, hint, details=details))


def refuse(kind: Kind, message: str, hint: str, **details: Any) -> StudyError:
    """The refusal of a study."""
    return StudyError(kind, message, hint, **details)
