"""Texts from files and to files, and what is wrong with a path."""

import sys
from pathlib import Path

from chartpact.bars.errors import unreadable
from chartpact.cli import UsageError


def read_bytes(file: str) -> bytes:
    """The content of a file, or of standard input where the file is -."""
    if file == "-" and sys.stdin is None:
        raise UsageError("-: standard input is closed")
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        raise UsageError(f"{file}: {unreadable(Path(file), error)}") from None


def read_text(file: str) -> str:
    """The text in a file, or on standard input where the file is -."""
    try:
        return read_bytes(file).decode()
    except UnicodeDecodeError:
        raise UsageError(f"{file}: this is not a text in UTF-8") from None


def write_text(file: str | None, text: str) -> None:
    """Writes the text there, or to standard output where no file is named."""
    if file is None:
        print(text, end="")
        return
    try:
        Path(file).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise unwritable(file, error) from None


def write_bytes(file: str, data: bytes) -> None:
    """Writes the data there, or to standard output where the file is -."""
    try:
        if file == "-":
            sys.stdout.buffer.write(data)
        else:
            Path(file).write_bytes(data)
    except BrokenPipeError:
        raise
    except (OSError, ValueError) as error:
        raise unwritable(file, error) from None


def unwritable(file: str, error: Exception) -> UsageError:
    """What is wrong with a file that should be written."""
    folder = Path(file).parent
    if isinstance(error, FileNotFoundError) and not folder.exists():
        return UsageError(f"{file}: there is no folder {str(folder)!r}: make it first")
    if isinstance(error, IsADirectoryError):
        return UsageError(f"{file}: this is a folder, not a file")
    reason = getattr(error, "strerror", None) or error
    return UsageError(f"{file}: the file cannot be written: {reason}")
