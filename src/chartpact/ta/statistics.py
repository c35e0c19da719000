"""Statistics of the last n values, and running totals."""

from typing import Annotated

from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    Flag,
    Floats,
    Lengths,
    Out,
    Series,
    by_kernel,
    checked,
    lengths,
    number,
    whole,
)

__all__ = [
    "correlation",
    "cum",
    "dev",
    "linreg",
    "median",
    "mode",
    "percentile_linear_interpolation",
    "percentile_nearest_rank",
    "percentrank",
    "stdev",
    "sum",
    "variance",
]


LengthsOrNa = Annotated[int | ArrayLike, lengths(na=True)]
Percentage = Annotated[float, number(0, 100, "must lie between 0 and 100")]


@checked
@by_kernel
def sum(source: Series, n: Lengths, out: Out = None) -> Floats:
    """Sum of the last n values; of conditions, how many were true.

    First value at the n-th value; an na bar repeats the last value and does not enter the window.

    >>> sum([1, 2, 3], 2)
    array([nan,  3.,  5.])
    """


@checked
@by_kernel
def cum(source: Series, out: Out = None) -> Floats:
    """Sum of all values so far; an na bar is na and adds nothing.

    >>> cum([1, 2, 3])
    array([1., 3., 6.])
    """


@checked
@by_kernel
def stdev(source: Series, n: Lengths, biased: Flag = True, out: Out = None) -> Floats:
    """Standard deviation of the last n values, divided by n, or by n − 1 when not biased.

    First value at the n-th value; an na bar repeats the last value and does not enter the window.

    >>> stdev([1, 3, 5], 2)
    array([nan,  1.,  1.])
    """


@checked
@by_kernel
def variance(source: Series, n: Lengths, biased: Flag = True, out: Out = None) -> Floats:
    """Square of the standard deviation of the last n values; see `stdev`.

    >>> variance([1, 3, 5], 2, False)
    array([nan,  2.,  2.])
    """


@checked
@by_kernel
def dev(source: Series, n: Lengths, out: Out = None) -> Floats:
    """Mean absolute distance of the last n values from their mean.

    First value at bar n − 1; an na anywhere in the last n bars is na.

    >>> dev([1, 3, 8], 2)
    array([nan, 1. , 2.5])
    """


@checked
@by_kernel
def median(source: Series, n: LengthsOrNa, out: Out = None) -> Floats:
    """Middle one of the last n values in order, or the mean of the middle two.

    First value at the n-th value; an na bar repeats the last value and does not enter the window.

    >>> median([1, 9, 2, 3], 3)
    array([nan, nan,  2.,  3.])
    """


@checked
@by_kernel
def mode(source: Series, n: LengthsOrNa, out: Out = None) -> Floats:
    """Most frequent of the last n values, the smallest of equally frequent ones.

    First value at the n-th value; an na bar repeats the last value and does not enter the window.

    >>> mode([2, 1, 2, 1], 3)
    array([nan, nan,  2.,  1.])
    """


@checked
@by_kernel
def percentrank(source: Series, n: Lengths, out: Out = None) -> Floats:
    """Percentage of the n bars before that are not above the current one by more than 1e-10.

    First value at bar n; an na bar is na, and an na before counts as above.

    >>> percentrank([1, 3, 2], 2)
    array([nan, nan, 50.])
    """


@checked
@by_kernel
def percentile_linear_interpolation(
    source: Series, n: LengthsOrNa, percentage: Percentage, out: Out = None
) -> Floats:
    """The value below which `percentage` of the last n values lie, between the two nearest ones.

    First value at bar n − 1. The k-th smallest stands for 100·(k − ½)/n percent (Hazen). An na
    counts as the largest when it comes, those before the first value as the smallest; a result that
    falls on one is na.

    >>> percentile_linear_interpolation([1, 2, 3, 4], 4, 50)
    array([nan, nan, nan, 2.5])
    """


@checked
@by_kernel
def percentile_nearest_rank(
    source: Series, n: LengthsOrNa, percentage: Percentage, out: Out = None
) -> Floats:
    """The smallest of the last n values with at least `percentage` of them at or below it.

    na counts as in `percentile_linear_interpolation`.

    >>> percentile_nearest_rank([1, 2, 3, 4], 4, 50)
    array([nan, nan, nan,  2.])
    """


@checked
@by_kernel
def linreg(
    source: Series, n: Lengths, offset: Annotated[int, whole()] = 0, out: Out = None
) -> Floats:
    """End of the straight line that fits the last n values best, or its point `offset` bars before.

    First value at bar n − 1; an na anywhere in the last n bars is na.

    >>> linreg([1, 2, 3, 8], 3)
    array([       nan,        nan, 3.        , 7.33333333])
    """


@checked
@by_kernel
def correlation(a: Series, b: Series, n: Lengths, out: Out = None) -> Floats:
    """How alike two series moved over the last n bars, −1 … 1 (Pearson).

    0 where they did not move together (a covariance within 1e-10 of 0). First value when n bars had
    both; each mean is over the last n values of its own, so gaps in one series only may lead beyond
    ±1.

    >>> correlation([1, 2, 3], [6, 4, 2], 3)
    array([nan, nan, -1.])
    """
