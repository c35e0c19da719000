"""What can be wrong with bars, always said as one sentence."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chartpact.clock.errors import ClockError
from chartpact.problem import did_you_mean


class BarsError(ValueError):
    """Bars that cannot be used; the message says what is wrong, where, and what would be right."""


class SourceNotConfigured(BarsError):
    """`SYMBOL@SOURCE` names a source that nobody has set up."""


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` when a known word resembles the one given, else nothing."""
    question = did_you_mean(word, known)
    return f"; {question}" if question else ""


@contextmanager
def clock_errors_translated() -> Iterator[None]:
    """Reports a zone, timeframe or day roll that cannot be read as a BarsError."""
    try:
        yield
    except ClockError as error:
        raise BarsError(str(error)) from None


def unreadable(path: Path, error: Exception) -> str:
    """Why a file cannot be read, in words that help to name the right one."""
    if isinstance(error, FileNotFoundError):
        siblings = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        return f"there is no such file{nearest(path.name, siblings)}"
    if isinstance(error, IsADirectoryError):
        return "this is a folder, not a file"
    return f"the file cannot be read: {getattr(error, 'strerror', None) or error}"
