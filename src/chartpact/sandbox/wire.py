"""The packet that crosses the boundary: a header, a JSON document and numeric columns beside it.

Series cross as raw numbers. The header is written last: a packet without it was never finished.
Nothing is pickled, and `decode` takes every byte for hostile.
"""

import json
import re
import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]
Part = bytes | memoryview

MAGIC = b"cpact\x00\x01\n"
HEADER = struct.Struct("<8sQQ")  # magic, bytes of JSON, bytes of columns
MOST_JSON = 8 << 20

_TYPES: dict[str, np.dtype[Any]] = {
    code: np.dtype(name) for code, name in {"d": "<f8", "q": "<i8", "H": "<u2", "B": "u1"}.items()
}
_CODES = {dtype: code for code, dtype in _TYPES.items()}
_MOST_COLUMNS = 4096
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_STRINGS = re.compile(rb'"[^"]*"?')  # unterminated ones too, so that no byte is read twice

# Made once: a run pays for every page of memory that it is the first to touch.
_to_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


_to_utf8 = json.JSONEncoder(ensure_ascii=False).encode


class WireError(ValueError):
    """Bytes that are no packet; they come from a run that failed, or from one that is hostile."""


def _padding(size: int) -> int:
    return -size % 8


def encode(body: Any, columns: Iterable[Column] = ()) -> list[Part]:
    """The packet in parts, the first of which holds header and JSON."""
    arrays = [np.ascontiguousarray(column) for column in columns]
    shapes = [[_CODES[array.dtype], len(array)] for array in arrays]
    text = _to_json([body, shapes]).encode()
    text += b" " * _padding(HEADER.size + len(text))
    parts: list[Part] = []
    for array in arrays:
        if array.nbytes:  # a memoryview cannot cast one that is empty
            parts.append(array.data.cast("B"))
        if gap := _padding(array.nbytes):
            parts.append(bytes(gap))
    size = sum(len(part) for part in parts)
    return [HEADER.pack(MAGIC, len(text), size) + text, *parts]


def write(parts: Sequence[Part], view: memoryview) -> None:
    """Writes the packet into memory of at least its size, the header last."""
    at = len(parts[0])
    for part in parts[1:]:
        view[at : at + len(part)] = part
        at += len(part)
    view[HEADER.size : len(parts[0])] = parts[0][HEADER.size :]
    view[: HEADER.size] = parts[0][: HEADER.size]


def erase(view: memoryview) -> None:
    """Makes a packet one that was never finished."""
    view[: HEADER.size] = bytes(HEADER.size)


def decode(packet: bytes | memoryview, most_json: int = MOST_JSON) -> tuple[Any, list[Column]]:
    """The document and its columns, which are read-only views of the packet."""
    if len(packet) < HEADER.size:
        raise WireError("it is shorter than a header")
    magic, text_size, columns_size = HEADER.unpack_from(packet)
    if magic != MAGIC:
        raise WireError("it does not begin as a packet does")
    first = HEADER.size + text_size
    if text_size > most_json or first + columns_size > len(packet):
        raise WireError("it announces more than it may hold")
    return _read(bytes(packet[HEADER.size : first]), packet[first : first + columns_size])


def read(text: bytes, numbers: bytes | memoryview) -> tuple[Any, list[Column]]:
    """The document and the columns of an answer, from the two parts of its packet."""
    body, columns = _read(text, numbers)
    if _SURROGATE.search(text):
        try:
            _to_utf8(body).encode()
        except UnicodeEncodeError:
            raise WireError("it holds half of a surrogate pair") from None
    return body, columns


def _read(text: bytes, numbers: bytes | memoryview) -> tuple[Any, list[Column]]:
    try:
        # `json.loads` guesses the encoding of bytes, and lets surrogates pass.
        body, shapes = json.loads(text.decode(), parse_constant=_refuse_constant)
        columns = _columns(numbers, shapes)
    except (TypeError, ValueError, RecursionError) as error:
        raise WireError(f"it cannot be read ({type(error).__name__})") from None
    return body, columns


def _refuse_constant(name: str) -> None:
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


def has_more_values(text: bytes, most: int) -> bool:
    """Whether a JSON document may hold more values than that, told without reading it.

    Three bytes can be a list, which takes a hundred once it is read.
    """
    if _count_marks(text) <= most:
        return False
    return _count_marks(_STRINGS.sub(b"", text.replace(b"\\\\", b"").replace(b'\\"', b""))) > most


def _count_marks(text: bytes) -> int:
    return sum(text.count(mark) for mark in b",[{")
