"""What can be wrong with bars, always said as one sentence."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class BarsError(ValueError):
    """Bars that cannot be used; the message says what is wrong, where, and what would be right."""


class SourceNotConfigured(BarsError):
    """`SYMBOL@SOURCE` names a source that nobody has set up."""


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean …?` when a known word resembles the one given, else nothing."""
    names: dict[str, str] = {}
    for name in known:
        names.setdefault(name.lower(), name)
    close = get_close_matches(word.lower(), names, n=1, cutoff=0.5)
    return f"; did you mean {names[close[0]]!r}?" if close else ""


def unreadable(path: Path, error: Exception) -> str:
    """Why a file cannot be read, in words that help to name the right one."""
    if isinstance(error, FileNotFoundError):
        siblings = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        return f"there is no such file{nearest(path.name, siblings)}"
    if isinstance(error, IsADirectoryError):
        return "this is a folder, not a file"
    return f"the file cannot be read: {getattr(error, 'strerror', None) or error}"
