"""The error of this room."""


class ClockError(ValueError):
    """A zone, timeframe, session or trading day that cannot be read.

    The message names the text and says how to write it.
    """
