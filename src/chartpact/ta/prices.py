"""Prices: one price for a bar, made of several."""

from numpy.typing import ArrayLike

from chartpact.ta.arguments import Floats, prices, together
from chartpact.ta.arithmetic import quiet

__all__ = ["hl2", "hlc3", "hlcc4", "ohlc4"]


@prices("high", "low")
@quiet
def hl2(high: ArrayLike, low: ArrayLike) -> Floats:
    """Middle of the bar: (high + low) / 2; na where either is.

    >>> hl2([4], [2])
    array([3.])
    """
    h, low_ = together("hl2", ("high", "low"), high, low)
    return (h + low_) / 2


@prices("high", "low", "close")
@quiet
def hlc3(high: ArrayLike, low: ArrayLike, close: ArrayLike) -> Floats:
    """Typical price: (high + low + close) / 3; na where one is.

    >>> hlc3([4], [2], [3])
    array([3.])
    """
    h, low_, c = together("hlc3", ("high", "low", "close"), high, low, close)
    return (h + low_ + c) / 3


@prices("open", "high", "low", "close")
@quiet
def ohlc4(open: ArrayLike, high: ArrayLike, low: ArrayLike, close: ArrayLike) -> Floats:
    """Mean of the bar's four prices; na where one is.

    >>> ohlc4([3], [4], [2], [3])
    array([3.])
    """
    names = ("open", "high", "low", "close")
    o, h, low_, c = together("ohlc4", names, open, high, low, close)
    return (o + h + low_ + c) / 4


@prices("high", "low", "close")
@quiet
def hlcc4(high: ArrayLike, low: ArrayLike, close: ArrayLike) -> Floats:
    """Mean of high, low and twice the close; na where one is.

    >>> hlcc4([4], [2], [3])
    array([3.])
    """
    h, low_, c = together("hlcc4", ("high", "low", "close"), high, low, close)
    return (h + low_ + c + c) / 4
