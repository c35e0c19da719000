"""Oscillators: how fast, and how far from usual, a series moves."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    Floats,
    length,
    prices,
    rolling,
    series,
    target,
    together,
)
from chartpact.ta.arithmetic import quiet, quotient
from chartpact.ta.events import shifted
from chartpact.ta.kernels import kernel
from chartpact.ta.logic import carried

__all__ = [
    "cci",
    "change",
    "cmo",
    "cog",
    "macd",
    "mfi",
    "mom",
    "roc",
    "rsi",
    "stoch",
    "tsi",
    "wpr",
]

_rsi: Callable[..., Floats] = kernel("rsi")
_ema: Callable[..., Floats] = kernel("ema")
_macd: Callable[..., tuple[Floats, Floats, Floats]] = kernel("macd")
_stoch: Callable[..., Floats] = kernel("stoch")
_cci: Callable[..., Floats] = kernel("cci")
_cmo: Callable[..., Floats] = kernel("cmo")
_cog: Callable[..., Floats] = kernel("cog")
_mfi: Callable[..., Floats] = kernel("mfi")


def rsi(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Relative strength index, 0 … 100: the share of rises in all movement, smoothed by rma.

    First value at the n-th step; without falls it is 100. An na bar is na, and the next step is
    taken from the last value before it.

    >>> rsi([1, 2, 1, 3], 2)
    array([        nan,         nan, 50.        , 83.33333333])
    """
    return rolling(_rsi, "rsi", source, n, out)


def macd(source: ArrayLike, fast: int, slow: int, signal: int) -> tuple[Floats, Floats, Floats]:
    """Distance of a fast from a slow ema, the ema of that, and their difference (histogram).

    The signal is seeded with the line's first values; an na bar is na in all three.

    >>> line, signal, histogram = macd([1, 2, 4, 7, 11], 1, 2, 2)
    >>> line
    array([       nan, 0.5       , 0.83333333, 1.27777778, 1.75925926])
    """
    return _macd(
        series("macd", "source", source),
        length("macd", "fast", fast),
        length("macd", "slow", slow),
        length("macd", "signal", signal),
    )


@prices("high", "low", at=1)
def stoch(
    source: ArrayLike, high: ArrayLike, low: ArrayLike, n: int, out: Floats | None = None
) -> Floats:
    """Where the source stands between the lowest low (0) and the highest high (100) of n bars.

    Not clamped; a range of zero, and a bar where an input is na, are na.

    >>> stoch([2, 3], [4, 5], [0, 1], 2)
    array([nan, 60.])
    """
    x, h, low_ = together("stoch", ("source", "high", "low"), source, high, low)
    n = length("stoch", "n", n)
    return _stoch(x, h, low_, n, out=None if out is None else target("stoch", out, x, h, low_))


@prices("high", "low", "close")
@quiet
def wpr(high: ArrayLike, low: ArrayLike, close: ArrayLike, n: int) -> Floats:
    """Williams %R: where the close stands below the highest high (0) of n bars, down to −100.

    A range of zero, and a bar where an input is na, are na.

    >>> wpr([4, 5], [0, 1], [2, 3], 2)
    array([ nan, -40.])
    """
    h, low_, c = together("wpr", ("high", "low", "close"), high, low, close)
    # upside down it is stoch: the highest high becomes the lowest low
    return 0.0 - _stoch(-c, -low_, -h, length("wpr", "n", n))


def cci(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Commodity channel index: distance from the mean of n values in 0.015 mean deviations.

    n equal values are na; an na bar is na and does not enter the window.

    >>> cci([1, 2, 6], 3)
    array([ nan,  nan, 100.])
    """
    return rolling(_cci, "cci", source, n, out)


def cmo(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Chande momentum oscillator, −100 … 100: ups less downs as a share of n steps.

    No movement is na; an na bar is na, and the next step is taken from the last value before it.

    >>> cmo([1, 4, 3], 2)
    array([nan, nan, 50.])
    """
    return rolling(_cmo, "cmo", source, n, out)


def cog(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Centre of gravity: the mean age of n values, weighted by them, as a negative number.

    Values that add up to 0 are na; an na bar is na and does not enter the window.

    >>> cog([1, 1, 2], 2)
    array([        nan, -1.5       , -1.33333333])
    """
    return rolling(_cog, "cog", source, n, out)


@prices("volume", at=1)
def mfi(source: ArrayLike, volume: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Money flow index, 0 … 100: the share of rising bars in source · volume over n bars.

    The first bar's flow counts as both; without outflow it is 100. A bar where an input is na is
    na and does not enter the window.

    >>> mfi([2, 3, 1], [1, 1, 1], 2)
    array([        nan, 71.42857143, 75.        ])
    """
    x, v = together("mfi", ("source", "volume"), source, volume)
    n = length("mfi", "n", n)
    return _mfi(x, v, n, out=None if out is None else target("mfi", out, x, v))


@quiet
def tsi(source: ArrayLike, short: int, long: int) -> Floats:
    """True strength index, −1 … 1: twice-smoothed steps over twice-smoothed absolute steps.

    No movement is na; an na bar is na, and the next step is taken from the last value before it.

    >>> tsi([1, 2, 3, 5], 1, 2)
    array([nan, nan,  1.,  1.])
    """
    x = series("tsi", "source", source)
    short, long = length("tsi", "short", short), length("tsi", "long", long)
    step = x - shifted(carried(x), 1)
    return quotient(
        _ema(_ema(step, long), short),
        _ema(_ema(np.abs(step), long), short),
    )


@quiet
def change(source: ArrayLike, n: int = 1) -> Floats:
    """Difference to the value n bars ago; na where either is na.

    >>> change([1, 4, 9])
    array([nan,  3.,  5.])
    """
    return _step(series("change", "source", source), length("change", "n", n))


@quiet
def mom(source: ArrayLike, n: int) -> Floats:
    """Momentum: difference to the value n bars ago; na where either is na.

    >>> mom([1, 4, 9], 2)
    array([nan, nan,  8.])
    """
    return _step(series("mom", "source", source), length("mom", "n", n))


def _step(x: Floats, n: int) -> Floats:
    result: Floats = np.empty(x.shape)
    result[..., :n] = np.nan
    np.subtract(x[..., n:], x[..., :-n], out=result[..., n:])
    return result


@quiet
def roc(source: ArrayLike, n: int) -> Floats:
    """Rate of change: difference to the value n bars ago, in percent of it.

    na where either is na or the old value is 0.

    >>> roc([2, 3, 6], 1)
    array([ nan,  50., 100.])
    """
    x, n = series("roc", "source", source), length("roc", "n", n)
    result: Floats = np.empty(x.shape)
    result[..., :n] = np.nan
    before = x[..., :-n]
    result[..., n:] = quotient(100 * (x[..., n:] - before), before)
    return result
