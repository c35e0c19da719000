"""Moving averages: the level of a series, smoothed."""

import math
from collections.abc import Callable
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    BOOL,
    Check,
    Factor,
    Flag,
    Floats,
    Length,
    Lengths,
    Out,
    Series,
    Volume,
    by_kernel,
    by_kernel_if_ready,
    checked,
    condition,
    number,
    takes_bars,
    whole,
)
from chartpact.ta.kernels import kernel

TINIEST = math.ulp(0)  # of the numbers above 0

__all__ = ["alma", "ema", "hma", "rma", "sma", "swma", "vwap", "vwma", "wma"]

_alma: Callable[..., Floats] = kernel("alma")
_vwap, _anchored, _bands = map(kernel, ("vwap", "vwap_anchored", "vwap_bands"))


@checked
@by_kernel
def sma(source: Series, n: Lengths, out: Out = None) -> Floats:
    """Simple moving average: the mean of the last n values.

    First value at the n-th value; an na bar repeats the last value and does not enter the window.

    >>> sma([1, 2, 3, 4], 2)
    array([nan, 1.5, 2.5, 3.5])
    """


@checked
@by_kernel
def ema(source: Series, n: Length, out: Out = None) -> Floats:
    """Exponential moving average: each bar closes 2/(n+1) of the gap to the new value.

    Seeded with the mean of the first n values; an na bar is na and leaves it where it was.

    >>> ema([1, 2, 3, 5], 3)
    array([nan, nan, 2. , 3.5])
    """


@checked
@by_kernel
def rma(source: Series, n: Length, out: Out = None) -> Floats:
    """Wilder's moving average, as in rsi and atr: each bar closes 1/n of the gap to the new value.

    Seeded with the mean of the first n values; an na bar is na and leaves it where it was.

    >>> rma([1, 3, 4, 5], 2)
    array([nan, 2., 3., 4.])
    """


@checked
@by_kernel
def wma(source: Series, n: Lengths, out: Out = None) -> Floats:
    """Weighted moving average: the newest of the last n bars counts n times, the oldest once.

    First value at the n-th value; an na bar is na, and later counts as the value before it.

    >>> wma([1, 2, 5], 2)
    array([       nan, 1.66666667, 4.        ])
    """


@checked
@by_kernel
def hma(source: Series, n: Annotated[int, whole(2)], out: Out = None) -> Floats:
    """Hull moving average: quick and smooth, wma of 2·wma(n/2) − wma(n) over √n bars.

    n is at least 2; na as in wma.

    >>> hma([1, 2, 3, 4, 5, 6], 4)
    array([nan, nan, nan, nan,  5.,  6.])
    """


@checked
def alma(
    source: Series,
    n: Lengths,
    offset: Factor,
    sigma: Annotated[float, number(least=TINIEST, rule="must be above 0")],
    floor: Flag = False,
    out: Out = None,
) -> Floats:
    """Arnaud Legoux's average: a bell of weights centred at `offset` (0 old … 1 new) of the window.

    `sigma` narrows the bell; `floor` rounds its centre down to a whole bar. An na anywhere in the
    last n bars is na.

    >>> alma([1, 2, 3, 4], 3, 0.5, 6)
    array([nan, nan,  2.,  3.])
    """
    last = cast(int, n) - 1
    if floor and last:
        offset = math.floor(offset * last) / last
    return _alma(source, n, offset, sigma, out=out)


@checked
@by_kernel
def swma(source: Series, out: Out = None) -> Floats:
    """Symmetrically weighted average of the last four bars: 1/6, 2/6, 2/6, 1/6.

    First value at bar 3; an na anywhere in the last four bars is na.

    >>> swma([1, 2, 3, 4, 8])
    array([nan, nan, nan, 2.5, 4. ])
    """


@takes_bars
@by_kernel
def vwma(source: Series, volume: Volume, n: Lengths, out: Out = None) -> Floats:
    """Volume-weighted moving average of the last n bars.

    It is the sma of source · volume over the sma of volume. Each passes over its own na and
    repeats its last value there; no volume at all is na.

    >>> vwma([1, 2, 4], [1, 1, 3], 2)
    array([nan, 1.5, 3.5])
    """


@takes_bars
@by_kernel_if_ready
def vwap(
    source: Series,
    volume: Volume,
    anchor: Annotated[ArrayLike | None, Check(condition, BOOL)] = None,
    mult: Annotated[float | None, number()] = None,
) -> Any:
    """Volume-weighted average price since the last bar where `anchor` was true.

    Without an anchor it starts at the first bar; with one (see `timeframe_change`) it is na until
    the first. With `mult` the result is (vwap, upper, lower), the bands being mult volume-weighted
    standard deviations away. A bar where source or volume is na makes it na until the next anchor.

    >>> vwap([1, 2, 4], [1, 1, 3], [True, False, True])
    array([1. , 1.5, 4. ])
    """
    if mult is None:
        return _vwap(source, volume) if anchor is None else _anchored(source, volume, anchor)
    if anchor is None:
        anchor = np.zeros(volume.shape[-1], bool)
        anchor[:1] = True
    return _bands(source, volume, anchor, mult)
