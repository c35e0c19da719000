"""Volatility: how far prices reach, and channels drawn from that."""

from collections.abc import Callable

from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    Floats,
    flag,
    length,
    number,
    prices,
    series,
    target,
    together,
)
from chartpact.ta.arithmetic import quiet, quotient
from chartpact.ta.kernels import kernel

__all__ = ["atr", "bb", "bbw", "kc", "kcw", "tr"]

_tr: Callable[..., Floats] = kernel("tr")
_atr: Callable[..., Floats] = kernel("atr")
_ema: Callable[..., Floats] = kernel("ema")
_bb: Callable[..., tuple[Floats, Floats, Floats]] = kernel("bb")

PRICES = ("high", "low", "close")


@prices(*PRICES)
def tr(
    high: ArrayLike,
    low: ArrayLike,
    close: ArrayLike,
    handle_na: bool = False,
    out: Floats | None = None,
) -> Floats:
    """True range: how far the bar reached, counted from the previous close where that is outside.

    Without a previous close (on the first bar, after an na) it is na, or high − low with handle_na.

    >>> tr([5, 6, 9], [4, 5, 8], [5, 5, 9])
    array([nan, 1., 4.])
    """
    h, low_, c = together("tr", PRICES, high, low, close)
    handle_na = flag("tr", "handle_na", handle_na)
    return _tr(h, low_, c, handle_na, out=None if out is None else target("tr", out, h, low_, c))


@prices(*PRICES)
def atr(
    high: ArrayLike, low: ArrayLike, close: ArrayLike, n: int, out: Floats | None = None
) -> Floats:
    """Average true range: the rma of `tr`, whose first bar counts as high − low.

    First value at bar n − 1; a bar without high or low is na and leaves it where it was.

    >>> atr([5, 6, 9], [4, 5, 8], [5, 5, 9], 2)
    array([nan, 1. , 2.5])
    """
    h, low_, c = together("atr", PRICES, high, low, close)
    n = length("atr", "n", n)
    return _atr(h, low_, c, n, out=None if out is None else target("atr", out, h, low_, c))


def bb(source: ArrayLike, n: int, mult: float) -> tuple[Floats, Floats, Floats]:
    """Bollinger bands: (middle, upper, lower), the sma and `mult` biased stdevs around it.

    First value at the n-th value; an na bar is na in all three and does not enter the window.

    >>> middle, upper, lower = bb([1, 3, 5], 2, 2)
    >>> upper
    array([nan,  4.,  6.])
    """
    x = series("bb", "source", source)
    return _bb(x, length("bb", "n", n), number("bb", "mult", mult))


@quiet
def bbw(source: ArrayLike, n: int, mult: float) -> Floats:
    """Width of the Bollinger bands in percent of the middle; a middle of 0 is na.

    >>> bbw([1, 3, 5], 2, 2)
    array([ nan, 200., 100.])
    """
    x = series("bbw", "source", source)
    middle, upper, lower = _bb(x, length("bbw", "n", n), number("bbw", "mult", mult))
    return quotient(100 * (upper - lower), middle)


@quiet
def _keltner(
    function: str,
    columns: tuple[ArrayLike, ArrayLike, ArrayLike, ArrayLike],
    n: int,
    mult: float,
    use_tr: bool,
) -> tuple[Floats, Floats]:
    x, h, low_, c = together(function, ("source", *PRICES), *columns)
    n, mult = length(function, "n", n), number(function, "mult", mult)
    span = _tr(h, low_, c, False) if flag(function, "use_tr", use_tr) else h - low_
    return _ema(x, n), mult * _ema(span, n)


@prices(*PRICES, at=1)
@quiet
def kc(
    source: ArrayLike,
    high: ArrayLike,
    low: ArrayLike,
    close: ArrayLike,
    n: int,
    mult: float,
    use_tr: bool = True,
) -> tuple[Floats, Floats, Floats]:
    """Keltner channels: (middle, upper, lower), the ema and `mult` mean ranges around it.

    The range is the ema of tr (na on the first bar, so the bands start one bar after the middle),
    or of high − low without use_tr.

    >>> middle, upper, lower = kc([5, 5, 9], [5, 6, 9], [4, 5, 8], [5, 5, 9], 2, 1)
    >>> upper
    array([        nan,         nan, 10.16666667])
    """
    middle, reach = _keltner("kc", (source, high, low, close), n, mult, use_tr)
    return middle, middle + reach, middle - reach


@prices(*PRICES, at=1)
@quiet
def kcw(
    source: ArrayLike,
    high: ArrayLike,
    low: ArrayLike,
    close: ArrayLike,
    n: int,
    mult: float,
    use_tr: bool = True,
) -> Floats:
    """Width of the Keltner channels as a share of the middle, not in percent; a middle of 0 is na.

    >>> kcw([5, 5, 9], [5, 6, 9], [4, 5, 8], [5, 5, 9], 2, 1)
    array([       nan,        nan, 0.65217391])
    """
    middle, reach = _keltner("kcw", (source, high, low, close), n, mult, use_tr)
    return quotient((middle + reach) - (middle - reach), middle)
