"""Typical prices: one price for a bar, made of several."""

from chartpact.ta.arguments import (
    Close,
    Floats,
    High,
    Low,
    Open,
    by_kernel,
    takes_bars,
)

__all__ = ["hl2", "hlc3", "hlcc4", "ohlc4"]


@takes_bars
@by_kernel
def hl2(high: High, low: Low) -> Floats:
    """Middle of the bar: (high + low) / 2; na where either is.

    >>> hl2([4], [2])
    array([3.])
    """


@takes_bars
@by_kernel
def hlc3(high: High, low: Low, close: Close) -> Floats:
    """Typical price: (high + low + close) / 3; na where one is.

    >>> hlc3([4], [2], [3])
    array([3.])
    """


@takes_bars
@by_kernel
def ohlc4(open: Open, high: High, low: Low, close: Close) -> Floats:
    """Mean of the bar's four prices; na where one is.

    >>> ohlc4([3], [4], [2], [3])
    array([3.])
    """


@takes_bars
@by_kernel
def hlcc4(high: High, low: Low, close: Close) -> Floats:
    """Mean of high, low and twice the close; na where one is.

    >>> hlcc4([4], [2], [3])
    array([3.])
    """
