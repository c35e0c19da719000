"""What goes wrong with one indicator, as a value that stands beside the good results."""

from typing import Any


class IndicatorError(ValueError):
    """One indicator cannot be drawn: `kind` for programs, `message` and `hint` for people."""

    def __init__(self, kind: str, message: str, hint: str = "", **details: Any) -> None:
        super().__init__(f"{message}: {hint}" if hint else message)
        self.kind = kind
        self.message = message
        self.hint = hint
        self.details = details

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "message": self.message, "hint": self.hint, **self.details}
