"""Trend: which way the market goes, and where that would end."""

from chartpact.ta.arguments import (
    Close,
    Factor,
    Floats,
    High,
    Length,
    Low,
    Out,
    by_kernel,
    takes_bars,
)

__all__ = ["dmi", "sar", "supertrend"]


@takes_bars
@by_kernel
def dmi(
    high: High, low: Low, close: Close, di_n: Length, adx_n: Length
) -> tuple[Floats, Floats, Floats]:
    """Directional movement: (+DI, −DI, ADX), each 0 … 100.

    Smoothed by rma over di_n and adx_n bars from bar 1 on. A bar where an input is na, and the bar
    after it, is na in all three and leaves them where they were.

    >>> plus, minus, adx = dmi([5, 6, 9], [4, 5, 8], [5, 5, 9], 1, 1)
    >>> plus
    array([ nan, 100.,  75.])
    """


@takes_bars
@by_kernel
def supertrend(
    high: High, low: Low, close: Close, factor: Factor, n: Length
) -> tuple[Floats, Floats]:
    """A stop that trails hl2 by `factor` atr(n), and its direction: −1 up, 1 down.

    As in Pine, bar 0 is (0, 1) and the trend starts down with the first atr. On an na bar the line
    is na and the direction stays.

    >>> line, direction = supertrend([5, 6, 9], [4, 5, 8], [5, 5, 9], 1, 2)
    >>> line, direction
    (array([0. , 6.5, 6. ]), array([ 1.,  1., -1.]))
    """


@takes_bars
@by_kernel
def sar(
    high: High,
    low: Low,
    close: Close,
    start: Factor,
    inc: Factor,
    max: Factor,
    out: Out = None,
) -> Floats:
    """Parabolic stop and reverse: a stop that speeds up with every new extreme of the trend.

    It turns when a price goes beyond the stop, not when one touches it. From bar 1 on; a bar where
    high or low is na is na and leaves it where it was.

    >>> sar([5, 6, 9], [4, 5, 8], [5, 5, 9], 0.02, 0.02, 0.2)
    array([nan,  4.,  4.])
    """
