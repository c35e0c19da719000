"""The error of this room."""

from chartpact.problem import Failure, Problem


class ClockError(Failure, ValueError):
    """A zone, timeframe, session or trading day that cannot be read.

    The message names the text and says how to write it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(Problem("value", message))
