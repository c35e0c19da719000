"""Volatility: how far prices reach, and channels drawn from that."""

from collections.abc import Callable

from chartpact.ta.arguments import (
    Close,
    Factor,
    Flag,
    Floats,
    High,
    Length,
    Lengths,
    Low,
    Out,
    Series,
    by_kernel,
    checked,
    takes_bars,
)
from chartpact.ta.arithmetic import quiet, quotient
from chartpact.ta.kernels import kernel

__all__ = ["atr", "bb", "bbw", "kc", "kcw", "tr"]

_bb: Callable[..., tuple[Floats, Floats, Floats]] = kernel("bb")


@takes_bars
@by_kernel
def tr(high: High, low: Low, close: Close, handle_na: Flag = False, out: Out = None) -> Floats:
    """True range: how far the bar reached, counted from the previous close where that is outside.

    Without a previous close (on the first bar, after an na) it is na, or high − low with handle_na.

    >>> tr([5, 6, 9], [4, 5, 8], [5, 5, 9])
    array([nan, 1., 4.])
    """


@takes_bars
@by_kernel
def atr(high: High, low: Low, close: Close, n: Length, out: Out = None) -> Floats:
    """Average true range: the rma of `tr`, whose first bar counts as high − low.

    First value at bar n − 1; a bar without high or low is na and leaves it where it was.

    >>> atr([5, 6, 9], [4, 5, 8], [5, 5, 9], 2)
    array([nan, 1. , 2.5])
    """


@checked
@by_kernel
def bb(source: Series, n: Lengths, mult: Factor) -> tuple[Floats, Floats, Floats]:
    """Bollinger bands: (middle, upper, lower), the sma and `mult` biased stdevs around it.

    First value at the n-th value; an na bar repeats the last values and does not enter the window.

    >>> middle, upper, lower = bb([1, 3, 5], 2, 2)
    >>> upper
    array([nan,  4.,  6.])
    """


@checked
@quiet
def bbw(source: Series, n: Lengths, mult: Factor) -> Floats:
    """Width of the Bollinger bands in percent of the middle; a middle of 0 is na.

    >>> bbw([1, 3, 5], 2, 2)
    array([ nan, 200., 100.])
    """
    middle, upper, lower = _bb(source, n, mult)
    return quotient(100 * (upper - lower), middle)


@takes_bars
@by_kernel
def kc(
    source: Series,
    high: High,
    low: Low,
    close: Close,
    n: Length,
    mult: Factor,
    use_tr: Flag = True,
) -> tuple[Floats, Floats, Floats]:
    """Keltner channels: (middle, upper, lower), the ema and `mult` mean ranges around it.

    The range is the ema of tr (na on the first bar, so the bands start one bar after the middle),
    or of high − low without use_tr.

    >>> middle, upper, lower = kc([5, 5, 9], [5, 6, 9], [4, 5, 8], [5, 5, 9], 2, 1)
    >>> upper
    array([        nan,         nan, 10.16666667])
    """


@takes_bars
@quiet
def kcw(
    source: Series,
    high: High,
    low: Low,
    close: Close,
    n: Length,
    mult: Factor,
    use_tr: Flag = True,
) -> Floats:
    """Width of the Keltner channels as a share of the middle, not in percent; a middle of 0 is na.

    >>> kcw([5, 5, 9], [5, 6, 9], [4, 5, 8], [5, 5, 9], 2, 1)
    array([       nan,        nan, 0.65217391])
    """
    middle, upper, lower = kc(source, high, low, close, n, mult, use_tr)
    return quotient(upper - lower, middle)
