"""Extremes: highs and lows of the last bars, and pivots."""

from collections.abc import Callable

from numpy.typing import ArrayLike

from chartpact.ta.arguments import Floats, length, prices, rolling, series, target
from chartpact.ta.arithmetic import quiet
from chartpact.ta.kernels import kernel

__all__ = [
    "highest",
    "highestbars",
    "lowest",
    "lowestbars",
    "pivot_high",
    "pivot_low",
    "pivothigh",
    "pivotlow",
    "range",
]

_highest: Callable[..., Floats] = kernel("highest")
_lowest: Callable[..., Floats] = kernel("lowest")
_highestbars: Callable[..., Floats] = kernel("highestbars")
_lowestbars: Callable[..., Floats] = kernel("lowestbars")
_pivot_high: Callable[..., Floats] = kernel("pivot_high")
_pivot_low: Callable[..., Floats] = kernel("pivot_low")


@prices("high")
def highest(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Largest value of the last n bars (of bars: the highest high).

    na before bar n − 1; after that na is ignored, unless all n bars are.

    >>> highest([3, 1, 2], 2)
    array([nan,  3.,  2.])
    """
    return rolling(_highest, "highest", source, n, out)


@prices("low")
def lowest(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Smallest value of the last n bars (of bars: the lowest low).

    na before bar n − 1; after that na is ignored, unless all n bars are.

    >>> lowest([3, 1, 2], 2)
    array([nan,  1.,  1.])
    """
    return rolling(_lowest, "lowest", source, n, out)


@prices("high")
def highestbars(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Offset to the bar with the largest of the last n values: 0 or less, the oldest of equals.

    na where `highest` is.

    >>> highestbars([3, 1, 2], 2)
    array([nan, -1.,  0.])
    """
    return rolling(_highestbars, "highestbars", source, n, out)


@prices("low")
def lowestbars(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Offset to the bar with the smallest of the last n values: 0 or less, the oldest of equals.

    na where `lowest` is.

    >>> lowestbars([3, 1, 2], 2)
    array([nan,  0., -1.])
    """
    return rolling(_lowestbars, "lowestbars", source, n, out)


@quiet
def range(source: ArrayLike, n: int) -> Floats:
    """Largest less smallest value of the last n bars; na as in `highest`.

    >>> range([3, 1, 5], 2)
    array([nan,  2.,  4.])
    """
    x, n = series("range", "source", source), length("range", "n", n)
    return _highest(x, n) - _lowest(x, n)


@prices("high")
def pivot_high(source: ArrayLike, left: int, right: int, out: Floats | None = None) -> Floats:
    """A high confirmed by `right` lower bars: its value, on the bar that confirms it, else na.

    It lies `right` bars back, not below any of the `left` bars before it and above all `right` bars
    after it. An na among these bars means no pivot.

    >>> pivot_high([1, 3, 2, 2], 1, 1)
    array([nan, nan,  3., nan])
    """
    x = series("pivot_high", "source", source)
    left, right = length("pivot_high", "left", left), length("pivot_high", "right", right)
    return _pivot_high(x, left, right, out=None if out is None else target("pivot_high", out, x))


@prices("low")
def pivot_low(source: ArrayLike, left: int, right: int, out: Floats | None = None) -> Floats:
    """A low confirmed by `right` higher bars: its value, on the bar that confirms it, else na.

    It lies `right` bars back, not above any of the `left` bars before it and below all `right` bars
    after it. An na among these bars means no pivot.

    >>> pivot_low([3, 1, 2, 2], 1, 1)
    array([nan, nan,  1., nan])
    """
    x = series("pivot_low", "source", source)
    left, right = length("pivot_low", "left", left), length("pivot_low", "right", right)
    return _pivot_low(x, left, right, out=None if out is None else target("pivot_low", out, x))


pivothigh = pivot_high
pivotlow = pivot_low
