"""What cannot be drawn, and why."""

from chartpact.problem import Failure, Problem


class RenderError(Failure, ValueError):
    """A picture that cannot be made as asked; the message says what would be right."""

    def __init__(self, message: str, hint: str = "", kind: str = "value") -> None:
        super().__init__(Problem(kind, message, hint))
