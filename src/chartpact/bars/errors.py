"""What can be wrong with bars, always said as one sentence."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from chartpact.clock.errors import ClockError
from chartpact.problem import Failure, Problem, did_you_mean


class BarsError(Failure, ValueError):
    """Bars that cannot be used; the message says what is wrong, where, and what would be right.

    `option` is the option of `load` that decides what the bars do not tell, such as tz.
    """

    KIND: ClassVar[str] = "value"  # of the problem

    def __init__(self, message: str, option: str = "") -> None:
        super().__init__(Problem(self.KIND, message))
        self.option = option


class UnknownBars(BarsError):
    """No bars go by this name."""


class SourceNotConfigured(UnknownBars):
    """`SYMBOL@SOURCE` names a source that nobody has set up."""


@contextmanager
def translate_clock_errors() -> Iterator[None]:
    """Reports a zone, timeframe or day roll that cannot be read as a BarsError."""
    try:
        yield
    except ClockError as error:
        raise BarsError(error.message) from None


def unreadable(path: Path, error: Exception) -> str:
    """Why a file cannot be read, in words that help to name the right one."""
    if isinstance(error, FileNotFoundError):
        siblings = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
        return f"there is no such file{did_you_mean(path.name, siblings, before='; ')}"
    if isinstance(error, IsADirectoryError):
        return "this is a folder, not a file"
    return f"the file cannot be read: {getattr(error, 'strerror', None) or error}"
