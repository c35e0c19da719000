"""Extremes: highs and lows of the last bars, and pivots."""

from collections.abc import Callable
from typing import Annotated

from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    Floats,
    High,
    Lengths,
    Low,
    Out,
    Series,
    by_kernel,
    checked,
    lengths,
    takes_bars,
)
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

_range: Callable[..., Floats] = kernel("window_range")

Strength = Annotated[int | ArrayLike, lengths(0)]  # bars on one side of a pivot


@takes_bars
@by_kernel
def highest(source: High, n: Lengths, out: Out = None) -> Floats:
    """Largest value of the last n bars (of bars: the highest high).

    na before bar n − 1 and on an na bar; an na ends the window, only the bars after it count.

    >>> highest([3, 1, 2], 2)
    array([nan,  3.,  2.])
    """


@takes_bars
@by_kernel
def lowest(source: Low, n: Lengths, out: Out = None) -> Floats:
    """Smallest value of the last n bars (of bars: the lowest low).

    na before bar n − 1 and on an na bar; an na ends the window, only the bars after it count.

    >>> lowest([3, 1, 2], 2)
    array([nan,  1.,  1.])
    """


@takes_bars
@by_kernel
def highestbars(source: High, n: Lengths, out: Out = None) -> Floats:
    """Offset to the bar with the largest of the last n values: 0 or less, the oldest of equals.

    na before bar n − 1, and 0 on an na bar; an na ends the window as in `highest`.

    >>> highestbars([3, 1, 2], 2)
    array([nan, -1.,  0.])
    """


@takes_bars
@by_kernel
def lowestbars(source: Low, n: Lengths, out: Out = None) -> Floats:
    """Offset to the bar with the smallest of the last n values: 0 or less, the oldest of equals.

    na before bar n − 1, and 0 on an na bar; an na ends the window as in `lowest`.

    >>> lowestbars([3, 1, 2], 2)
    array([nan,  0., -1.])
    """


@checked
def range(source: Series, n: Lengths, out: Out = None) -> Floats:
    """Largest less smallest of the last n values.

    First value at the n-th value; an na bar repeats the last value and does not enter the window.

    >>> range([3, 1, 5], 2)
    array([nan,  2.,  4.])
    """
    return _range(source, n, out=out)


@takes_bars
@by_kernel
def pivot_high(source: High, left: Strength, right: Strength, out: Out = None) -> Floats:
    """A high confirmed by `right` lower bars: its value, on the bar that confirms it, else na.

    It lies `right` bars back, not below any of the `left` bars before it and above all `right` bars
    after it; either may be 0. An na after it means no pivot, one before it ends the comparison.

    >>> pivot_high([1, 3, 2, 2], 1, 1)
    array([nan, nan,  3., nan])
    """


@takes_bars
@by_kernel
def pivot_low(source: Low, left: Strength, right: Strength, out: Out = None) -> Floats:
    """A low confirmed by `right` higher bars: its value, on the bar that confirms it, else na.

    It lies `right` bars back, not above any of the `left` bars before it and below all `right` bars
    after it; either may be 0. An na after it means no pivot, one before it ends the comparison.

    >>> pivot_low([3, 1, 2, 2], 1, 1)
    array([nan, nan,  1., nan])
    """


pivothigh = pivot_high
pivotlow = pivot_low
