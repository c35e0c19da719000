"""Events: when something happened, and what was then."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    BOOL,
    FLOAT,
    Bools,
    Floats,
    TaError,
    condition,
    fitting,
    length,
    numbers,
    series,
    target,
    whole,
)
from chartpact.ta.kernels import kernel

__all__ = [
    "barssince",
    "cross",
    "crossover",
    "crossunder",
    "falling",
    "rising",
    "shift",
    "valuewhen",
]

_crossover: Callable[..., Bools] = kernel("crossover")
_crossunder: Callable[..., Bools] = kernel("crossunder")
_cross: Callable[..., Bools] = kernel("cross")
_rising: Callable[..., Bools] = kernel("rising")
_falling: Callable[..., Bools] = kernel("falling")
_barssince: Callable[..., Floats] = kernel("barssince")
_valuewhen: Callable[..., Floats] = kernel("valuewhen")


def crossover(a: ArrayLike, b: ArrayLike, out: Bools | None = None) -> Bools:
    """True where a rises above b: it is above now and was not on the bar before.

    Either may be a number. A bar where one is na is false and is passed over.

    >>> crossover([1, 2, 3], [2, 2, 2])
    array([False, False,  True])
    """
    return _crossing(_crossover, "crossover", a, b, out)


def crossunder(a: ArrayLike, b: ArrayLike, out: Bools | None = None) -> Bools:
    """True where a falls below b: it is below now and was not on the bar before.

    Either may be a number. A bar where one is na is false and is passed over.

    >>> crossunder([3, 2, 1], 2)
    array([False, False,  True])
    """
    return _crossing(_crossunder, "crossunder", a, b, out)


def cross(a: ArrayLike, b: ArrayLike, out: Bools | None = None) -> Bools:
    """True where a and b change sides, also across bars where they are equal.

    Either may be a number. A bar where one is na is false and is passed over; touching b and
    turning back is no cross.

    >>> cross([1, 2, 3, 2, 3], 2)
    array([False, False,  True, False, False])
    """
    return _crossing(_cross, "cross", a, b, out)


def _crossing(
    found: Callable[..., Bools], function: str, a: ArrayLike, b: ArrayLike, out: Bools | None
) -> Bools:
    x, y = a, b
    if (
        type(x) is not ndarray
        or type(y) is not ndarray
        or x.dtype is not FLOAT
        or y.dtype is not FLOAT
        or x.shape != y.shape
        or not x.ndim
    ):
        x, y = _levels(function, a, b)
    return found(x, y, out=None if out is None else target(function, out, x, y, dtype=BOOL))


def _levels(function: str, a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    """Two series, one of which may be a level: the same number on every bar."""
    x, y = numbers(function, "a", a), numbers(function, "b", b)
    if not x.ndim and not y.ndim:
        raise TaError(function, "a", a, "or b must be a series, one number a bar")
    if not x.ndim:
        x = np.broadcast_to(x, y.shape[-1:])
    if not y.ndim:
        y = np.broadcast_to(y, x.shape[-1:])
    fitting(function, ("a", "b"), x, y)
    return x, y


def rising(source: ArrayLike, n: int, out: Bools | None = None) -> Bools:
    """True where the last n steps all went up, each by more than 1e-10.

    An na bar is false and is passed over.

    >>> rising([1, 2, 3, 3], 2)
    array([False, False,  True, False])
    """
    return _stepping(_rising, "rising", source, n, out)


def falling(source: ArrayLike, n: int, out: Bools | None = None) -> Bools:
    """True where the last n steps all went down, each by more than 1e-10.

    An na bar is false and is passed over.

    >>> falling([3, 2, 1, 1], 2)
    array([False, False,  True, False])
    """
    return _stepping(_falling, "falling", source, n, out)


def _stepping(
    found: Callable[..., Bools], function: str, source: ArrayLike, n: int, out: Bools | None
) -> Bools:
    x, n = series(function, "source", source), length(function, "n", n)
    return found(x, n, out=None if out is None else target(function, out, x, dtype=BOOL))


def barssince(condition: ArrayLike, out: Floats | None = None) -> Floats:
    """How many bars ago the condition was last true: 0 where it is; na until it first was.

    >>> barssince([False, True, False, False])
    array([nan,  0.,  1.,  2.])
    """
    c = _true("barssince", "condition", condition)
    return _barssince(c, out=None if out is None else target("barssince", out, c))


def valuewhen(
    condition: ArrayLike, source: ArrayLike, occurrence: int = 0, out: Floats | None = None
) -> Floats:
    """The source's value when the condition was last true, or `occurrence` times before that.

    na until the condition was true often enough; an na value counts as an occurrence.

    >>> valuewhen([True, False, True], [5, 6, 7], 0)
    array([5., 5., 7.])
    """
    c, x = _true("valuewhen", "condition", condition), series("valuewhen", "source", source)
    fitting("valuewhen", ("condition", "source"), c, x)
    occurrence = whole("valuewhen", "occurrence", occurrence, 0)
    where = None if out is None else target("valuewhen", out, c, x)
    return _valuewhen(c, x, occurrence, out=where)


_true = condition  # the argument of that name hides the function


def shift(source: ArrayLike, n: int = 1) -> Floats:
    """The value n bars ago (Pine's source[n]), na on the first n bars.

    >>> shift([1, 2, 3], 1)
    array([nan,  1.,  2.])
    """
    return shifted(series("shift", "source", source), whole("shift", "n", n, 0))


def shifted(x: Floats, n: int) -> Floats:
    result: Any = np.empty(x.shape)
    result[..., :n] = np.nan
    result[..., n:] = x[..., : max(x.shape[-1] - n, 0)]
    return result  # type: ignore[no-any-return]
