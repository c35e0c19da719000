"""What crosses the boundary: memory files that hold a packet, and the messages that hand them over.

A packet is a header, a JSON document and numeric columns beside it, so that series cross as raw
numbers. The header is written last: a packet without it was never finished. Nothing is pickled,
and `decode` takes every byte for hostile.
"""

import json
import os
import re
import socket
import struct
from array import array
from collections.abc import Iterable, Sequence
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

try:
    import fcntl
except ImportError:  # not a Unix, and no sandbox either: `layers` says so
    fcntl = None  # type: ignore[assignment]

Column = NDArray[Any]
Part = bytes | memoryview

# ------------------------------------------------------------------------------------- packets

_MAGIC = b"cpact\x00\x01\n"
_HEADER = struct.Struct("<8sQQ")  # magic, bytes of JSON, bytes of columns
_TYPES: dict[str, np.dtype[Any]] = {
    code: np.dtype(name) for code, name in {"d": "<f8", "q": "<i8", "H": "<u2", "B": "u1"}.items()
}
_CODES = {dtype: code for code, dtype in _TYPES.items()}
_MOST_COLUMNS = 4096
MOST_JSON = 8 << 20
_MOST_PARTS = 1 << 17  # of which objects, cells and plots can have some 80 000
_STRINGS = re.compile(rb'"[^"]*"?')  # that do not end too, so that no byte is looked at twice


# Made once: a run pays for every page of memory that it is the first to touch.
_to_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class WireError(ValueError):
    """Bytes that are no packet; they come from a run that failed, or from one that is hostile."""


def _padding(size: int) -> int:
    return -size % 8


def encode(body: Any, columns: Iterable[Column] = ()) -> list[Part]:
    """The packet in parts, the first of which holds header and JSON."""
    arrays = [np.ascontiguousarray(column) for column in columns]
    shapes = [[_CODES[each.dtype], len(each)] for each in arrays]
    text = _to_json([body, shapes]).encode()
    text += b" " * _padding(_HEADER.size + len(text))
    parts: list[Part] = []
    for each in arrays:
        if each.nbytes:  # a memoryview cannot cast one that is empty
            parts.append(each.data.cast("B"))
        if gap := _padding(each.nbytes):
            parts.append(bytes(gap))
    size = sum(len(part) for part in parts)
    return [_HEADER.pack(_MAGIC, len(text), size) + text, *parts]


def write(parts: Sequence[Part], view: memoryview) -> None:
    """Writes the packet into memory of at least its size, the header last."""
    at = len(parts[0])
    for part in parts[1:]:
        view[at : at + len(part)] = part
        at += len(part)
    view[_HEADER.size : len(parts[0])] = parts[0][_HEADER.size :]
    view[: _HEADER.size] = parts[0][: _HEADER.size]


def erase(view: memoryview) -> None:
    """Makes a packet one that was never finished."""
    view[: _HEADER.size] = bytes(_HEADER.size)


def decode(packet: bytes | memoryview, most_json: int = MOST_JSON) -> tuple[Any, list[Column]]:
    """The document and its columns, which are read-only views of the packet."""
    if len(packet) < _HEADER.size:
        raise WireError("it is shorter than a header")
    magic, text_size, columns_size = _HEADER.unpack_from(packet)
    if magic != _MAGIC:
        raise WireError("it does not begin as a packet does")
    first = _HEADER.size + text_size
    if text_size > most_json or first + columns_size > len(packet):
        raise WireError("it announces more than it may hold")
    return _read(bytes(packet[_HEADER.size : first]), packet[first : first + columns_size])


def _read(text: bytes, numbers: bytes | memoryview) -> tuple[Any, list[Column]]:
    try:
        body, shapes = json.loads(text, parse_constant=_no_constant)
        columns = _columns(numbers, shapes)
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"it cannot be read ({type(error).__name__})") from None
    return body, columns


def _no_constant(name: str) -> None:
    raise ValueError(name)


def _columns(numbers: bytes | memoryview, shapes: Any) -> list[Column]:
    if not isinstance(shapes, list) or len(shapes) > _MOST_COLUMNS:
        raise ValueError("columns")
    at, end = 0, len(numbers)
    columns = []
    for shape in shapes:
        code, count = shape
        if code not in _TYPES or type(count) is not int or count < 0:
            raise ValueError("column")
        dtype = _TYPES[code]
        room = count * dtype.itemsize
        if room > end - at:
            raise ValueError("column")
        column = np.frombuffer(numbers, dtype, count, at) if count else np.empty(0, dtype)
        column.flags.writeable = False
        columns.append(column)
        at += room + _padding(room)
    if at != end:
        raise ValueError("rest")
    return columns


# ---------------------------------------------------------------------------------- memory files

_SEALABLE = os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING if hasattr(os, "MFD_CLOEXEC") else 0
_NOEXEC_SEAL = 8  # Linux 6.3
_SEALED_SIZE = getattr(fcntl, "F_SEAL_SHRINK", 2) | getattr(fcntl, "F_SEAL_GROW", 4)
_SEALED = _SEALED_SIZE | getattr(fcntl, "F_SEAL_SEAL", 1)
_READ_ONLY = _SEALED | getattr(fcntl, "F_SEAL_WRITE", 8)


def _memory_file(name: str) -> int:
    try:
        return os.memfd_create(name, _SEALABLE | _NOEXEC_SEAL)
    except OSError:  # before Linux 6.3
        return os.memfd_create(name, _SEALABLE)


class Sealed:
    """A packet in a memory file that nobody can change; closed at the latest with its last user."""

    __slots__ = ("__weakref__", "close", "fd", "size")

    def __init__(self, name: str, parts: Sequence[Part]) -> None:
        self.size = sum(len(part) for part in parts)
        self.fd = _written(name, parts, self.size)
        self.close = finalize(self, os.close, self.fd)

    def __enter__(self) -> "Sealed":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _written(name: str, parts: Sequence[Part], size: int) -> int:
    fd = _memory_file(f"chartpact-{name}")
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


_IOV_MAX = 1024


_NOTICE = 8  # bytes before the packet of an answer, by which its child's end is noticed


def blank(room: int) -> int:
    """A memory file for an answer of some size, which `confine` settles."""
    fd = _memory_file("chartpact-answer")
    try:
        os.ftruncate(fd, _NOTICE + room)
    except BaseException:
        os.close(fd)
        raise
    return fd


def confine(fd: int, room: int) -> int:
    """Gives an answer room for so many bytes, for good, and tells the size of its file.

    It costs only what is written to it.
    """
    os.ftruncate(fd, _NOTICE + room)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, _SEALED)
    return _NOTICE + room


def finished(fd: int) -> bool:
    """Whether the packet of an answer is written to its end."""
    return os.pread(fd, len(_MAGIC), _NOTICE) == _MAGIC


def read_answer(fd: int, room: int, most_json: int = MOST_JSON) -> tuple[Any, list[Column]]:
    """The packet of an answer, copied once: whatever is still changed there changes no copy.

    Its numbers are copied by themselves, so that whoever keeps a series keeps no text with it.
    """
    header = os.pread(fd, _HEADER.size, _NOTICE)
    if len(header) < _HEADER.size or header[: len(_MAGIC)] != _MAGIC:
        raise WireError("there is none")
    _, text_size, columns_size = _HEADER.unpack(header)
    if text_size > most_json or _HEADER.size + text_size + columns_size > room:
        raise WireError("it announces more than it may hold")
    first = _NOTICE + _HEADER.size
    text = os.pread(fd, text_size, first)
    if _parts(text) > _MOST_PARTS and _parts(_without_strings(text)) > _MOST_PARTS:
        raise WireError("it holds more values than may be drawn")
    return _read(text, os.pread(fd, columns_size, first + text_size))


def _without_strings(text: bytes) -> bytes:
    return _STRINGS.sub(b"", text.replace(b"\\\\", b"").replace(b'\\"', b""))


def _parts(text: bytes) -> int:
    """How many values it holds, at most: three bytes can be a list, which takes a hundred."""
    return sum(text.count(each) for each in b",[{")


# -------------------------------------------------------------------------------------- messages

REQUEST = struct.Struct("<QQQII")  # job, shared and answer bytes, wall ms, memory KiB
STARTED = struct.Struct("<ci")  # b"S", pid (for logs: across a pid namespace it means nothing)
FAILED = struct.Struct("<ci")  # b"F", errno of the fork
_MOST_RIGHTS = 3
EXITED = struct.Struct("<cidQQ")  # b"X", wait status, processor s, peak RSS KiB, page faults


def send(channel: socket.socket, message: bytes, fds: Sequence[int] = ()) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", fds))] if fds else []
    channel.sendmsg([message], rights)


def receive(channel: socket.socket, size: int = 64) -> tuple[bytes, list[int]]:
    """One message and the descriptors that came with it; b"" is the end."""
    # Not socket.recv_fds, which ignores its flags and so lets descriptors be inherited.
    fds = array("i")
    room = socket.CMSG_SPACE(_MOST_RIGHTS * fds.itemsize)
    message, rights, _, _ = channel.recvmsg(size, room, socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in rights:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return message, list(fds)
