"""What an import can fail with: a place in the Pine source and what to do."""


class PineError(ValueError):
    """A construct that cannot be imported, with its place in the Pine source."""

    def __init__(self, message: str, line: int = 1, column: int = 1, rule: str = "syntax") -> None:
        super().__init__(message)
        self.message, self.line, self.column, self.rule = message, line, column, rule
