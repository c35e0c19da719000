"""Volume: who is buying and selling, judged by volume and price."""

from chartpact.ta.arguments import (
    Close,
    Floats,
    High,
    Low,
    Open,
    Out,
    Volume,
    by_kernel,
    takes_bars,
)
from chartpact.ta.arithmetic import quiet, quotient

__all__ = ["accdist", "iii", "nvi", "obv", "pvi", "pvt", "wad", "wvad"]


@takes_bars
@by_kernel
def obv(close: Close, volume: Volume, out: Out = None) -> Floats:
    """On-balance volume: volume summed up, added on up closes and taken off on down closes.

    na on bar 0, on an na bar and on the bar after an na close; nothing is added there.

    >>> obv([1, 2, 1], [5, 6, 7])
    array([nan,  6., -1.])
    """


@takes_bars
@by_kernel
def accdist(high: High, low: Low, close: Close, volume: Volume, out: Out = None) -> Floats:
    """Accumulation/distribution: volume summed up, weighted by where in its bar the close lies.

    A bar without range, and an na bar, adds nothing and shows the total before it.

    >>> accdist([4, 4], [0, 0], [4, 1], [10, 10])
    array([10.,  5.])
    """


@takes_bars
@by_kernel
def pvt(close: Close, volume: Volume, out: Out = None) -> Floats:
    """Price–volume trend: volume summed up, times the close's relative step.

    na on bar 0, on an na bar and on the bar after an na close; nothing is added there.

    >>> pvt([1, 2, 1], [5, 6, 8])
    array([nan,  6.,  2.])
    """


@takes_bars
@by_kernel
def pvi(close: Close, volume: Volume, out: Out = None) -> Floats:
    """Positive volume index: from 1, moves with the close on bars of rising volume only.

    On an na bar and the next the index holds.

    >>> pvi([1, 2, 4], [5, 6, 6])
    array([1., 2., 2.])
    """


@takes_bars
@by_kernel
def nvi(close: Close, volume: Volume, out: Out = None) -> Floats:
    """Negative volume index: from 1, moves with the close on bars of falling volume only.

    On an na bar and the next the index holds.

    >>> nvi([1, 2, 4], [5, 6, 5])
    array([1., 1., 2.])
    """


@takes_bars
@quiet
def iii(high: High, low: Low, close: Close, volume: Volume) -> Floats:
    """Intraday intensity: where in its bar the close lies, −1 … 1, divided by volume.

    na where an input is, and on a bar without range or volume.

    >>> iii([4, 4], [0, 4], [3, 4], [10, 10])
    array([0.05,  nan])
    """
    return quotient(2 * close - high - low, (high - low) * volume)


@takes_bars
@by_kernel
def wad(high: High, low: Low, close: Close, out: Out = None) -> Floats:
    """Williams' accumulation/distribution: closes summed up, less the true low or high.

    0 on bar 0; an na bar and the next add nothing and show the total before it.

    >>> wad([5, 6, 6], [4, 5, 3], [5, 6, 4])
    array([ 0.,  1., -1.])
    """


@takes_bars
@quiet
def wvad(open: Open, high: High, low: Low, close: Close, volume: Volume) -> Floats:
    """Williams' variable accumulation/distribution: the body's share of the range, times volume.

    na where an input is, and on a bar without range.

    >>> wvad([1], [4], [0], [3], [10])
    array([5.])
    """
    return quotient(close - open, high - low) * volume
