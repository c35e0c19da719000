"""Volume: who is buying and selling, judged by volume and price."""

from collections.abc import Callable

from numpy.typing import ArrayLike

from chartpact.ta.arguments import Floats, prices, target, together
from chartpact.ta.arithmetic import quiet, quotient
from chartpact.ta.kernels import kernel

__all__ = ["accdist", "iii", "nvi", "obv", "pvi", "pvt", "wad", "wvad"]

_obv: Callable[..., Floats] = kernel("obv")
_accdist: Callable[..., Floats] = kernel("accdist")
_pvt: Callable[..., Floats] = kernel("pvt")
_pvi: Callable[..., Floats] = kernel("pvi")
_nvi: Callable[..., Floats] = kernel("nvi")
_wad: Callable[..., Floats] = kernel("wad")


@prices("close", "volume")
def obv(close: ArrayLike, volume: ArrayLike, out: Floats | None = None) -> Floats:
    """On-balance volume: volume summed up, added on up closes and taken off on down closes.

    na on bar 0, on an na bar and on the bar after an na close; nothing is added there.

    >>> obv([1, 2, 1], [5, 6, 7])
    array([nan,  6., -1.])
    """
    c, v = together("obv", ("close", "volume"), close, volume)
    return _obv(c, v, out=None if out is None else target("obv", out, c, v))


@prices("high", "low", "close", "volume")
def accdist(
    high: ArrayLike,
    low: ArrayLike,
    close: ArrayLike,
    volume: ArrayLike,
    out: Floats | None = None,
) -> Floats:
    """Accumulation/distribution: volume summed up, weighted by where in its bar the close lies.

    A bar without range adds nothing; an na bar is na and adds nothing.

    >>> accdist([4, 4], [0, 0], [4, 1], [10, 10])
    array([10.,  5.])
    """
    names = ("high", "low", "close", "volume")
    h, low_, c, v = together("accdist", names, high, low, close, volume)
    where = None if out is None else target("accdist", out, h, low_, c, v)
    return _accdist(h, low_, c, v, out=where)


@prices("close", "volume")
def pvt(close: ArrayLike, volume: ArrayLike, out: Floats | None = None) -> Floats:
    """Price–volume trend: volume summed up, times the close's relative step.

    na on bar 0, on an na bar and on the bar after an na close; nothing is added there.

    >>> pvt([1, 2, 1], [5, 6, 8])
    array([nan,  6.,  2.])
    """
    c, v = together("pvt", ("close", "volume"), close, volume)
    return _pvt(c, v, out=None if out is None else target("pvt", out, c, v))


@prices("close", "volume")
def pvi(close: ArrayLike, volume: ArrayLike, out: Floats | None = None) -> Floats:
    """Positive volume index: from 1, moves with the close on bars of rising volume only.

    An na bar is na; on the bar after it the index holds.

    >>> pvi([1, 2, 4], [5, 6, 6])
    array([1., 2., 2.])
    """
    c, v = together("pvi", ("close", "volume"), close, volume)
    return _pvi(c, v, out=None if out is None else target("pvi", out, c, v))


@prices("close", "volume")
def nvi(close: ArrayLike, volume: ArrayLike, out: Floats | None = None) -> Floats:
    """Negative volume index: from 1, moves with the close on bars of falling volume only.

    An na bar is na; on the bar after it the index holds.

    >>> nvi([1, 2, 4], [5, 6, 5])
    array([1., 1., 2.])
    """
    c, v = together("nvi", ("close", "volume"), close, volume)
    return _nvi(c, v, out=None if out is None else target("nvi", out, c, v))


@prices("high", "low", "close", "volume")
@quiet
def iii(high: ArrayLike, low: ArrayLike, close: ArrayLike, volume: ArrayLike) -> Floats:
    """Intraday intensity: where in its bar the close lies, −1 … 1, divided by volume.

    na where an input is, and on a bar without range or volume.

    >>> iii([4, 4], [0, 4], [3, 4], [10, 10])
    array([0.05,  nan])
    """
    names = ("high", "low", "close", "volume")
    h, low_, c, v = together("iii", names, high, low, close, volume)
    return quotient(2 * c - h - low_, (h - low_) * v)


@prices("high", "low", "close")
def wad(high: ArrayLike, low: ArrayLike, close: ArrayLike, out: Floats | None = None) -> Floats:
    """Williams' accumulation/distribution: closes summed up, less the true low or high.

    An na bar is na; on bar 0 and on the bar after an na it adds nothing.

    >>> wad([5, 6, 6], [4, 5, 3], [5, 6, 4])
    array([ 0.,  1., -1.])
    """
    h, low_, c = together("wad", ("high", "low", "close"), high, low, close)
    return _wad(h, low_, c, out=None if out is None else target("wad", out, h, low_, c))


@prices("open", "high", "low", "close", "volume")
@quiet
def wvad(
    open: ArrayLike, high: ArrayLike, low: ArrayLike, close: ArrayLike, volume: ArrayLike
) -> Floats:
    """Williams' variable accumulation/distribution: the body's share of the range, times volume.

    na where an input is, and on a bar without range.

    >>> wvad([1], [4], [0], [3], [10])
    array([5.])
    """
    names = ("open", "high", "low", "close", "volume")
    o, h, low_, c, v = together("wvad", names, open, high, low, close, volume)
    return quotient(c - o, h - low_) * v
