"""Events: when something happened, and what was then."""

from collections.abc import Callable
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    FLOAT,
    Bools,
    Check,
    Condition,
    Floats,
    Lengths,
    Out,
    OutBools,
    Series,
    TaError,
    by_kernel,
    by_kernel_if_ready,
    checked,
    lengths,
    numbers,
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

Level = Annotated[ArrayLike, Check(numbers, FLOAT)]  # a series, or one number for all bars

_crossover: Callable[..., Bools] = kernel("crossover")
_crossunder: Callable[..., Bools] = kernel("crossunder")
_cross: Callable[..., Bools] = kernel("cross")


@checked
@by_kernel_if_ready
def crossover(a: Level, b: Level, out: OutBools = None) -> Bools:
    """True where a rises above b: it is above now and was not on the bar before.

    Either may be a number. A bar where one is na is false and is passed over.

    >>> crossover([1, 2, 3], [2, 2, 2])
    array([False, False,  True])
    """
    return _crossing(_crossover, a, b, out)


@checked
@by_kernel_if_ready
def crossunder(a: Level, b: Level, out: OutBools = None) -> Bools:
    """True where a falls below b: it is below now and was not on the bar before.

    Either may be a number. A bar where one is na is false and is passed over.

    >>> crossunder([3, 2, 1], 2)
    array([False, False,  True])
    """
    return _crossing(_crossunder, a, b, out)


@checked
@by_kernel_if_ready
def cross(a: Level, b: Level, out: OutBools = None) -> Bools:
    """True where a and b change sides, also across bars where they are equal.

    Either may be a number. A bar where one is na is false and is passed over; touching b and
    turning back is no cross.

    >>> cross([1, 2, 3, 2, 3], 2)
    array([False, False,  True, False, False])
    """
    return _crossing(_cross, a, b, out)


def _crossing(compute: Callable[..., Bools], a: Any, b: Any, out: Bools | None) -> Bools:
    if not b.ndim:
        if not a.ndim:
            rule = "or b must be a series, one number a bar"
            raise TaError(compute.__name__, "a", a.item(), rule)
        b = np.broadcast_to(b, a.shape[-1:])
    elif not a.ndim:
        a = np.broadcast_to(a, b.shape[-1:])
    return compute(a, b, out=out)


@checked
@by_kernel
def rising(source: Series, n: Lengths, out: OutBools = None) -> Bools:
    """True where the last n steps all went up, each by more than 1e-10.

    A step from or to an na bar neither counts nor breaks the run.

    >>> rising([1, 2, 3, 3], 2)
    array([False, False,  True, False])
    """


@checked
@by_kernel
def falling(source: Series, n: Lengths, out: OutBools = None) -> Bools:
    """True where the last n steps all went down, each by more than 1e-10.

    A step from or to an na bar neither counts nor breaks the run.

    >>> falling([3, 2, 1, 1], 2)
    array([False, False,  True, False])
    """


@checked
@by_kernel
def barssince(condition: Condition, out: Out = None) -> Floats:
    """How many bars ago the condition was last true: 0 where it is; na until it first was.

    >>> barssince([False, True, False, False])
    array([nan,  0.,  1.,  2.])
    """


@checked
@by_kernel
def valuewhen(
    condition: Condition,
    source: Series,
    occurrence: Annotated[int, whole(0)] = 0,
    out: Out = None,
) -> Floats:
    """The source's value when the condition was last true, or `occurrence` times before that.

    na until the condition was true often enough; an na value counts as an occurrence.

    >>> valuewhen([True, False, True], [5, 6, 7], 0)
    array([5., 5., 7.])
    """


@checked
def shift(source: Series, n: Annotated[int | ArrayLike, lengths(0)] = 1) -> Floats:
    """The value n bars ago (Pine's source[n]), na on the first n bars.

    >>> shift([1, 2, 3], 1)
    array([nan,  1.,  2.])
    """
    return shift_by(source, cast(int, n))


def shift_by(x: Any, n: int) -> Floats:
    result = np.empty(x.shape)
    result[..., :n] = np.nan
    result[..., n:] = x[..., : max(x.shape[-1] - n, 0)]
    return result
