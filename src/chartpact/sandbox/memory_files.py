"""Packets in memory files: sealed ones that go in, and answers of a fixed size that come out."""

import os
from collections.abc import Sequence
from typing import Any
from weakref import finalize

from chartpact.sandbox.wire import (
    HEADER,
    MAGIC,
    MOST_JSON,
    Column,
    Part,
    WireError,
    has_more_values,
)
from chartpact.sandbox.wire import read as read_packet

try:
    import fcntl
except ImportError:  # not a Unix, and no sandbox either: `layers` says so
    fcntl = None  # type: ignore[assignment]

_SEALABLE = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING if hasattr(os, "MFD_CLOEXEC") else 0
_NOEXEC_SEAL = 8  # Linux 6.3
_SEALED_SIZE = getattr(fcntl, "F_SEAL_SHRINK", 2) | getattr(fcntl, "F_SEAL_GROW", 4)
_SEALED = _SEALED_SIZE | getattr(fcntl, "F_SEAL_SEAL", 1)
_READ_ONLY = _SEALED | getattr(fcntl, "F_SEAL_WRITE", 8)
_IOV_MAX = 1024
_NOTICE = 8  # bytes before the packet of an answer: the futex by which its child's end is noticed
_MOST_VALUES = 1 << 19  # of which cells of nine full tables have 306 000, objects and plots 60 000


def _create(name: str) -> int:
    try:
        return os.memfd_create(name, _SEALABLE | _NOEXEC_SEAL)
    except OSError:  # before Linux 6.3
        return os.memfd_create(name, _SEALABLE)


class Sealed:
    """A packet in a memory file that nobody can change; closed at the latest with its last user."""

    __slots__ = ("__weakref__", "close", "fd", "size")

    def __init__(self, name: str, parts: Sequence[Part]) -> None:
        self.size = sum(len(part) for part in parts)
        self.fd = _write_sealed(name, parts, self.size)
        self.close = finalize(self, os.close, self.fd)

    def __enter__(self) -> "Sealed":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _write_sealed(name: str, parts: Sequence[Part], size: int) -> int:
    fd = _create(f"chartpact-{name}")
    try:
        # Written by call, not through a mapping: a writable mapping would prevent the seal.
        written = os.pwritev(fd, parts[:_IOV_MAX], 0)
        for part in parts[_IOV_MAX:]:
            written += os.pwrite(fd, part, written)
        if written != size:
            raise OSError(f"wrote {written} of {size} bytes of a job")
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _READ_ONLY)
    except BaseException:
        os.close(fd)
        raise
    return fd


def create_answer(room: int) -> int:
    """A memory file for an answer; `confine` settles its size."""
    fd = _create("chartpact-answer")
    try:
        os.ftruncate(fd, _NOTICE + room)
    except BaseException:
        os.close(fd)
        raise
    return fd


def confine(fd: int, room: int) -> int:
    """Gives an answer room for so many bytes, for good; returns how much of its file that is.

    The file costs only the pages that are written. It grows and never shrinks: its child may still
    rehearse in it, and writing to a page that a file has lost ends a process with SIGBUS.
    """
    size = _NOTICE + room
    os.ftruncate(fd, max(size, os.fstat(fd).st_size))
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALED)
    return size


def is_finished(fd: int) -> bool:
    """Whether the packet of an answer is written to its end."""
    return os.pread(fd, len(MAGIC), _NOTICE) == MAGIC


def read_answer(fd: int, room: int, most_json: int = MOST_JSON) -> tuple[Any, list[Column]]:
    """The packet of an answer, copied once: later changes of the file do not reach the copy.

    Columns are copied apart from the JSON, so a kept series does not retain the text.
    """
    header = os.pread(fd, HEADER.size, _NOTICE)
    if len(header) < HEADER.size or header[: len(MAGIC)] != MAGIC:
        raise WireError("there is none")
    _, text_size, columns_size = HEADER.unpack(header)
    if text_size > most_json or HEADER.size + text_size + columns_size > room:
        raise WireError("it announces more than it may hold")
    first = _NOTICE + HEADER.size
    text = os.pread(fd, text_size, first)
    if has_more_values(text, _MOST_VALUES):
        raise WireError("it holds more values than may be drawn")
    return read_packet(text, os.pread(fd, columns_size, first + text_size))
