"""Extremes: highs and lows of the last bars, and pivots."""

from collections.abc import Callable

from chartpact.ta.arguments import (
    Floats,
    High,
    Length,
    Low,
    Out,
    Series,
    by_kernel,
    checked,
    takes_bars,
)
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


@takes_bars
@by_kernel
def highest(source: High, n: Length, out: Out = None) -> Floats:
    """Largest value of the last n bars (of bars: the highest high).

    na before bar n − 1; after that na is ignored, unless all n bars are.

    >>> highest([3, 1, 2], 2)
    array([nan,  3.,  2.])
    """


@takes_bars
@by_kernel
def lowest(source: Low, n: Length, out: Out = None) -> Floats:
    """Smallest value of the last n bars (of bars: the lowest low).

    na before bar n − 1; after that na is ignored, unless all n bars are.

    >>> lowest([3, 1, 2], 2)
    array([nan,  1.,  1.])
    """


@takes_bars
@by_kernel
def highestbars(source: High, n: Length, out: Out = None) -> Floats:
    """Offset to the bar with the largest of the last n values: 0 or less, the oldest of equals.

    na where `highest` is.

    >>> highestbars([3, 1, 2], 2)
    array([nan, -1.,  0.])
    """


@takes_bars
@by_kernel
def lowestbars(source: Low, n: Length, out: Out = None) -> Floats:
    """Offset to the bar with the smallest of the last n values: 0 or less, the oldest of equals.

    na where `lowest` is.

    >>> lowestbars([3, 1, 2], 2)
    array([nan,  0., -1.])
    """


@checked
@quiet
def range(source: Series, n: Length) -> Floats:
    """Largest less smallest value of the last n bars; na as in `highest`.

    >>> range([3, 1, 5], 2)
    array([nan,  2.,  4.])
    """
    return _highest(source, n) - _lowest(source, n)


@takes_bars
@by_kernel
def pivot_high(source: High, left: Length, right: Length, out: Out = None) -> Floats:
    """A high confirmed by `right` lower bars: its value, on the bar that confirms it, else na.

    It lies `right` bars back, not below any of the `left` bars before it and above all `right` bars
    after it. An na among these bars means no pivot.

    >>> pivot_high([1, 3, 2, 2], 1, 1)
    array([nan, nan,  3., nan])
    """


@takes_bars
@by_kernel
def pivot_low(source: Low, left: Length, right: Length, out: Out = None) -> Floats:
    """A low confirmed by `right` higher bars: its value, on the bar that confirms it, else na.

    It lies `right` bars back, not above any of the `left` bars before it and below all `right` bars
    after it. An na among these bars means no pivot.

    >>> pivot_low([3, 1, 2, 2], 1, 1)
    array([nan, nan,  1., nan])
    """


pivothigh = pivot_high
pivotlow = pivot_low
