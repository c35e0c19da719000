"""Columns of text into float64: whole columns at once, and to the last bit as `float` would."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact.bars.errors import BarsError

Texts = NDArray[np.bytes_]

_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_LETTERS = np.frombuffer(b"\0 0123456789+-.eE", np.uint8)
_ABSENT = frozenset((b"", b"nan", b"na", b"n/a", b"null", b"none", b"-"))
_INFINITE = frozenset((b"inf", b"-inf", b"+inf", b"infinity", b"-infinity"))
_EXACT_DIGITS = 15  # below 2**53, and 10**15 is exact, so that one division rounds just once
_POWERS = 10.0 ** np.arange(23)


def numbers(texts: Texts, name: str, place: Callable[[int], str]) -> NDArray[np.float64]:
    """The numbers that the texts spell; NaN where one is absent."""
    values, plain = _plain_decimals(texts)
    if not plain.all():
        plain |= _read_by_numpy(texts, ~plain, values)
    for row in np.flatnonzero(~plain).tolist():
        values[row] = _number(texts[row].strip(), name, row, place)
    return values


def matrix(texts: Texts) -> NDArray[np.uint8]:
    """The texts as rows of bytes, filled up with zeros."""
    width = max(texts.dtype.itemsize, 1)
    return np.ascontiguousarray(texts).view(np.uint8).reshape(len(texts), width)


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


def _number(text: bytes, name: str, row: int, place: Callable[[int], str]) -> float:
    if _NUMBER.fullmatch(text):
        return float(text)
    word = text.lower()
    if word in _ABSENT:
        return float("nan")
    if word in _INFINITE:
        return float(word)
    shown = text.decode("utf-8", "replace")
    hint = "; write it with a decimal point" if b"," in text else ""
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
