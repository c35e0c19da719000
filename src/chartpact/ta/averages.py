"""Moving averages: the level of a series, smoothed."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    Floats,
    TaError,
    condition,
    fitting,
    flag,
    length,
    number,
    prices,
    rolling,
    series,
    target,
    together,
)
from chartpact.ta.arithmetic import quiet
from chartpact.ta.kernels import kernel

__all__ = ["alma", "ema", "hma", "rma", "sma", "swma", "vwap", "vwma", "wma"]

_sma: Callable[..., Floats] = kernel("sma")
_ema: Callable[..., Floats] = kernel("ema")
_rma: Callable[..., Floats] = kernel("rma")
_wma: Callable[..., Floats] = kernel("wma")
_alma: Callable[..., Floats] = kernel("alma")
_swma: Callable[..., Floats] = kernel("swma")
_vwma: Callable[..., Floats] = kernel("vwma")
_vwap: Callable[..., tuple[Floats, Floats, Floats]] = kernel("vwap")


def sma(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Simple moving average: the mean of the last n values.

    First value at the n-th value; an na bar is na and does not enter the window.

    >>> sma([1, 2, 3, 4], 2)
    array([nan, 1.5, 2.5, 3.5])
    """
    return rolling(_sma, "sma", source, n, out)


def ema(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Exponential moving average: each bar closes 2/(n+1) of the gap to the new value.

    Seeded with the mean of the first n values; an na bar is na and leaves it where it was.

    >>> ema([1, 2, 3, 5], 3)
    array([nan, nan, 2. , 3.5])
    """
    return rolling(_ema, "ema", source, n, out)


def rma(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Wilder's moving average, as in rsi and atr: each bar closes 1/n of the gap to the new value.

    Seeded with the mean of the first n values; an na bar is na and leaves it where it was.

    >>> rma([1, 3, 4, 5], 2)
    array([nan, 2., 3., 4.])
    """
    return rolling(_rma, "rma", source, n, out)


def wma(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Weighted moving average: the newest of the last n bars counts n times, the oldest once.

    First value at the n-th value; an na bar is na, and later counts as the value before it.

    >>> wma([1, 2, 5], 2)
    array([       nan, 1.66666667, 4.        ])
    """
    return rolling(_wma, "wma", source, n, out)


@quiet
def hma(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Hull moving average: quick and smooth, wma of 2·wma(n/2) − wma(n) over √n bars.

    n is at least 2; na as in wma.

    >>> hma([1, 2, 3, 4, 5, 6], 4)
    array([nan, nan, nan, nan,  5.,  6.])
    """
    x = series("hma", "source", source)
    if length("hma", "n", n) < 2:
        raise TaError("hma", "n", n, "must be a whole number of at least 2")
    lead = 2 * _wma(x, n // 2) - _wma(x, n)
    return _wma(lead, math.isqrt(n), out=None if out is None else target("hma", out, x))


def alma(
    source: ArrayLike,
    n: int,
    offset: float,
    sigma: float,
    floor: bool = False,
    out: Floats | None = None,
) -> Floats:
    """Arnaud Legoux's average: a bell of weights centred at `offset` (0 old … 1 new) of the window.

    `sigma` narrows the bell; `floor` rounds its centre down to a whole bar. An na anywhere in the
    last n bars is na.

    >>> alma([1, 2, 3, 4], 3, 0.5, 6)
    array([nan, nan,  2.,  3.])
    """
    x, n = series("alma", "source", source), length("alma", "n", n)
    offset = number("alma", "offset", offset)
    if number("alma", "sigma", sigma) <= 0:
        raise TaError("alma", "sigma", sigma, "must be above 0")
    if flag("alma", "floor", floor) and n > 1:
        offset = math.floor(offset * (n - 1)) / (n - 1)
    return _alma(x, n, offset, sigma, out=None if out is None else target("alma", out, x))


def swma(source: ArrayLike, out: Floats | None = None) -> Floats:
    """Symmetrically weighted average of the last four bars: 1/6, 2/6, 2/6, 1/6.

    First value at bar 3; an na anywhere in the last four bars is na.

    >>> swma([1, 2, 3, 4, 8])
    array([nan, nan, nan, 2.5, 4. ])
    """
    x = series("swma", "source", source)
    return _swma(x, out=None if out is None else target("swma", out, x))


@prices("volume", at=1)
def vwma(source: ArrayLike, volume: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Volume-weighted moving average of the last n bars.

    A bar where source or volume is na is na and does not enter the window; no volume at all is na.

    >>> vwma([1, 2, 4], [1, 1, 3], 2)
    array([nan, 1.5, 3.5])
    """
    x, v = together("vwma", ("source", "volume"), source, volume)
    n = length("vwma", "n", n)
    return _vwma(x, v, n, out=None if out is None else target("vwma", out, x, v))


@prices("volume", at=1)
def vwap(
    source: ArrayLike,
    volume: ArrayLike,
    anchor: ArrayLike | None = None,
    mult: float | None = None,
) -> Any:
    """Volume-weighted average price since the last bar where `anchor` was true.

    Without an anchor it starts at the first bar; with one (see `timeframe_change`) it is na until
    the first. With `mult` the result is (vwap, upper, lower), the bands being mult volume-weighted
    standard deviations away. A bar where source or volume is na is na and adds nothing.

    >>> vwap([1, 2, 4], [1, 1, 3], [True, False, True])
    array([1. , 1.5, 4. ])
    """
    x, v = together("vwap", ("source", "volume"), source, volume)
    if anchor is None:
        starts = np.zeros(x.shape[-1], bool)
        starts[:1] = True
    else:
        starts = condition("vwap", "anchor", anchor)
        fitting("vwap", ("source", "volume", "anchor"), x, v, starts)
    if mult is None:
        return _vwap(x, v, starts, 0.0)[0]
    return _vwap(x, v, starts, number("vwap", "mult", mult))
