"""Columns of text into float64: whole columns at once, and to the last bit as `float` would."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact.bars.errors import BarsError

Texts = NDArray[np.bytes_]

_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LETTERS = np.frombuffer(b"\0 0123456789+-.eE", np.uint8)
_ABSENT = frozenset((b"", b"nan", b"na", b"n/a", b"null", b"none", b"-", b"--"))
_INFINITE = frozenset((b"inf", b"-inf", b"+inf", b"infinity", b"-infinity"))
_GAPS = "' \u00a0\u202f"
# A number with thousands apart, and a scale such as the K of 12.3K.
_GROUPED = {
    mark: re.compile(
        rf"(?P<whole>[+-]?(?:\d+|\d{{1,3}}(?:[{group}{_GAPS}]\d{{2,3}})*[{group}{_GAPS}]\d{{3}}))"
        rf"(?P<rest>[{mark}]\d+)?[ ]?(?P<scale>[KMBTkmbt])?",
        re.ASCII,
    )
    for mark, group in ((".", ","), (",", "."))
}
_SCALES = {"": 0} | {letter: power for power, both in ((3, "Kk"), (6, "Mm"), (9, "Bb"), (12, "Tt"))
                     for letter in both}  # fmt: skip
_DIGIT_BYTES = np.arange(256, dtype=np.uint8)
_DIGIT_BYTES[48:58] = 48
_EXACT_DIGITS = 15  # below 2**53, and 10**15 is exact, so that one division rounds just once
_POWERS = 10.0 ** np.arange(23)


def numbers(
    texts: Texts, name: str, place: Callable[[int], str], mark: str = "."
) -> NDArray[np.float64]:
    """The numbers that the texts spell, with `mark` before decimals; NaN where one is absent."""
    written = texts
    if mark == ",":  # a point is between thousands then, and those are read one by one
        grouped = np.char.find(texts, b".") >= 0
        texts = np.where(grouped, b"?", np.char.replace(texts, b",", b"."))
    values, plain = _plain_decimals(texts)
    if not plain.all():
        plain |= _read_by_numpy(texts, ~plain, values)
    for row in np.flatnonzero(~plain).tolist():
        values[row] = _number(written[row].strip(), name, row, place, mark)
    return values


def find_mark(
    columns: Mapping[str, Texts], place: Callable[[int], str]
) -> tuple[str, tuple[str, ...]]:
    """The sign before decimals in a table's numbers, a point or a comma, and a note of it.

    `1,234.50` and `1.234,50` decide for all of them; `1,234` alone does not.
    """
    if not any((matrix(texts) == ord(",")).any() for texts in columns.values()):
        return ".", ()
    seen: dict[str, tuple[str, int]] = {}
    for texts in columns.values():
        shapes = _DIGIT_BYTES.take(matrix(texts)).view(texts.dtype).reshape(len(texts))
        leading_zero = np.char.startswith(texts, b"0,") | np.char.startswith(texts, b"0.")
        for rows in (np.flatnonzero(leading_zero), np.flatnonzero(~leading_zero)):
            for shape, first in zip(*np.unique(shapes[rows], return_index=True), strict=True):
                row = int(rows[first])
                mark = _mark_of(bytes(shape), bool(leading_zero[row]))
                if mark:
                    where = texts[row].decode("utf-8", "replace"), row
                    seen[mark] = min(seen.get(mark, where), where, key=lambda pair: pair[1])
    if len(seen) > 1:
        (point, row), (comma, other) = seen["."], seen[","]
        raise BarsError(
            f"{point!r} ({place(row)}) has a decimal point, and {comma!r} ({place(other)}) has a "
            "decimal comma: one file has one of them"
        )
    if not seen:
        name, texts = next((n, t) for n, t in columns.items() if (matrix(t) == ord(",")).any())
        row = int(np.argmax((matrix(texts) == ord(",")).any(axis=1)))
        raise BarsError(
            f"{place(row)}: {name} {texts[row].decode('utf-8', 'replace')!r} may have thousands or "
            "decimals after its comma: say it with decimal='.' or decimal=','",
            option="decimal",
        )
    mark, (text, row) = next(iter(seen.items()))
    sign = "decimal comma" if mark == "," else "comma between thousands"
    return mark, (f"numbers have a {sign}, by {text!r} ({place(row)})",)


def matrix(texts: Texts) -> NDArray[np.uint8]:
    """The texts as rows of bytes, filled up with zeros."""
    width = max(texts.dtype.itemsize, 1)
    return np.ascontiguousarray(texts).view(np.uint8).reshape(len(texts), width)


def _mark_of(shape: bytes, leading_zero: bool) -> str | None:
    """The sign before the decimals of a number of this shape; None where the shape does not tell.

    >>> _mark_of(b"0,000.00", False), _mark_of(b"0,00", False), _mark_of(b"0,000", False)
    ('.', ',', None)
    """
    commas, points = shape.count(b","), shape.count(b".")
    if commas and points:
        return "." if shape.rfind(b".") > shape.rfind(b",") else ","
    if commas > 1 or points > 1:
        thousands = re.fullmatch(rb"\D*0{1,3}(?:[.,]0{2,3})+[.,]0{3}\D*", shape)
        return ("." if commas else ",") if thousands else None
    if not commas and not points:
        return None
    sign = "," if commas else "."
    before, _, after = shape.strip(b"+-$ KMBTkmbt").partition(sign.encode())
    return sign if leading_zero or len(after) != 3 or len(before) > 3 else None


def _plain_decimals(texts: Texts) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The values of plain decimals such as -12.50, and a mask of the texts that are plain."""
    # One column of bytes after the other: the transposed copy makes each of them contiguous.
    columns = np.ascontiguousarray(matrix(texts).T)
    count = len(texts)
    whole = np.zeros(count, np.int64)
    digits = np.zeros(count, np.int64)
    decimals = np.zeros(count, np.int64)
    pointed = np.zeros(count, np.bool_)
    plain = np.ones(count, np.bool_)
    ended = np.zeros(count, np.bool_)
    minus = columns[0] == ord("-")
    for place, column in enumerate(columns):
        digit = column - np.uint8(48)
        is_digit = digit < 10
        is_point = column == ord(".")
        padding = column == 0
        fits = is_digit | (is_point & ~pointed)
        if place == 0:
            fits |= minus
        plain &= padding | (fits & ~ended)
        ended |= padding
        pointed |= is_point
        taken = is_digit & (digits <= _EXACT_DIGITS)
        whole = np.where(taken, whole * 10 + digit, whole)
        digits += is_digit
        decimals += is_digit & pointed
    plain &= (digits > 0) & (digits <= _EXACT_DIGITS)
    values = whole / _POWERS[np.minimum(decimals, 22)]
    return np.where(minus, -values, values), plain


def _read_by_numpy(
    texts: Texts, rows: NDArray[np.bool_], values: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Fills in the rows that NumPy can read, and returns their mask; 1_0 is left out."""
    letters = matrix(texts)
    read: NDArray[np.bool_] = rows & np.isin(letters, _LETTERS).all(axis=1) & (letters[:, 0] != 0)
    try:
        values[read] = texts[read].astype(np.float64)
    except ValueError:
        return np.zeros(len(texts), np.bool_)
    return read


def _number(text: bytes, name: str, row: int, place: Callable[[int], str], mark: str) -> float:
    if mark == "." and _NUMBER.fullmatch(text):
        return float(text)
    word = text.lower()
    if word in _ABSENT:
        return float("nan")
    if word in _INFINITE:
        return float(word)
    shown = text.decode("utf-8", "replace")
    match = _GROUPED[mark].fullmatch(shown.lstrip("$€£¥"))
    if match and (name == "volume" or not match["scale"]):
        digits = re.sub(r"[^0-9+-]", "", match["whole"]) + (match["rest"] or "").replace(",", ".")
        return float(f"{digits}e{_SCALES[match['scale'] or '']}")
    hint = "; is its comma a decimal comma? then say decimal=','" if b"," in text else ""
    raise BarsError(f"{place(row)}: {name} {shown!r} is not a number{hint}")


def to_texts(values: NDArray[Any]) -> Texts:
    """A column of texts or dates as fixed-width bytes; empty where a value is absent."""
    if values.dtype.kind == "S":
        return values
    if values.dtype.kind == "M":
        return values.astype("datetime64[D]").astype(np.bytes_)
    return np.array([_spell(value) for value in values.tolist()], dtype=np.bytes_)


def _spell(value: object) -> bytes:
    absent = value is None or (isinstance(value, float) and math.isnan(value))
    return b"" if absent else str(value).encode()
