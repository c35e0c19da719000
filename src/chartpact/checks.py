"""Values from outside, checked one by one: finite numbers, whole numbers, texts and flags.

Each room that takes values from users, files or the wire asks here, and turns `Unfit` into its own
error. Booleans are no numbers. NumPy's scalars count as the Python values they hold.
"""

import math
import sys
from typing import Any

import numpy as np

LARGEST = sys.float_info.max
MAX_WHOLE = 2**53  # beyond it, JSON readers disagree on whole numbers


class Unfit(ValueError):
    """A value that is not of the kind asked for; the message says so in half a sentence."""


def shown(value: Any) -> str:
    """A value in a message, cut to a bearable length."""
    return f"{value!r:.60}"


def number(value: Any) -> float:
    """A finite number, as int or float.

    >>> number(np.float64(2.5))
    2.5
    """
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        plain = value.item() if isinstance(value, np.generic) else value
        if abs(plain) <= LARGEST:
            return plain
    raise Unfit(f"{shown(value)} is not a finite number")


def whole(value: Any) -> int:
    """A whole number; a float that happens to have no fraction is none."""
    if type(value) is int:
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_):
        return int(value)
    raise Unfit(f"{shown(value)} is not a whole number")


def text(value: Any) -> str:
    """A text that can be written as UTF-8: one with half of a surrogate pair cannot."""
    if not isinstance(value, str):
        raise Unfit(f"{shown(value)} is not a text")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Unfit("a text holds half of a surrogate pair") from None
    return value


def flag(value: Any) -> bool:
    """True or False, nothing else."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise Unfit(f"{shown(value)} is not True or False")


def is_number(value: Any) -> bool:
    try:
        number(value)
    except Unfit:
        return False
    return True


def is_whole(value: Any, most: int = MAX_WHOLE) -> bool:
    """Whether it is a whole number that every JSON reader reads alike."""
    return type(value) is int and -most <= value <= most


def is_text(value: Any) -> bool:
    try:
        text(value)
    except Unfit:
        return False
    return True
