"""Values from outside, checked one by one: finite numbers, whole numbers, texts and flags.

Each room that takes values from users, files or the wire asks here, and turns `Unfit` into its own
error. Booleans are no numbers. NumPy's scalars count as the Python values they hold.
"""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

LARGEST = sys.float_info.max
MAX_WHOLE = 2**53  # beyond it, JSON readers disagree on whole numbers


def shown(value: Any) -> str:
    """A value in a message, cut to a bearable length."""
    return f"{value!r:.60}"


_NO_VALUE = object()


class Unfit(ValueError):
    """A value that is not of the kind asked for.

    The message is the value and the reason, or the reason alone where there is no one value.

    >>> str(Unfit("is not a text", 5))
    '5 is not a text'
    """

    def __init__(self, reason: str, value: Any = _NO_VALUE, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.value = value
        self.hint = hint

    def __str__(self) -> str:
        return self.message()

    def message(self, show: Callable[[Any], str] = shown) -> str:
        """The message, its value written by `show`."""
        return self.reason if self.value is _NO_VALUE else f"{show(self.value)} {self.reason}"


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
    raise Unfit("is not a finite number", value)


def whole(value: Any) -> int:
    """A whole number; a float that happens to have no fraction is none."""
    if type(value) is int:
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_):
        return int(value)
    raise Unfit("is not a whole number", value)


def text(value: Any) -> str:
    """A text that can be written as UTF-8: one with half of a surrogate pair cannot."""
    if not isinstance(value, str):
        raise Unfit("is not a text", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Unfit("holds half of a surrogate pair", value) from None
    return value


def flag(value: Any) -> bool:
    """True or False, nothing else."""
    if is_flag(value):
        return bool(value)
    raise Unfit("is not True or False", value)


def is_number(value: Any) -> bool:
    try:
        number(value)
    except Unfit:
        return False
    return True


def is_whole(value: Any, most: int = MAX_WHOLE) -> bool:
    """Whether it is a whole number that every JSON reader reads alike."""
    return type(value) is int and -most <= value <= most


def is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_)


def is_text(value: Any) -> bool:
    try:
        text(value)
    except Unfit:
        return False
    return True
