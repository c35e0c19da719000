"""Statistics of the last n values, and running totals."""

from collections.abc import Callable

from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    Floats,
    TaError,
    flag,
    length,
    number,
    rolling,
    series,
    target,
    together,
    whole,
)
from chartpact.ta.kernels import kernel

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

_sum: Callable[..., Floats] = kernel("sum")
_cum: Callable[..., Floats] = kernel("cum")
_stdev: Callable[..., Floats] = kernel("stdev")
_variance: Callable[..., Floats] = kernel("variance")
_dev: Callable[..., Floats] = kernel("dev")
_median: Callable[..., Floats] = kernel("median")
_mode: Callable[..., Floats] = kernel("mode")
_percentrank: Callable[..., Floats] = kernel("percentrank")
_interpolated: Callable[..., Floats] = kernel("percentile_linear_interpolation")
_nearest: Callable[..., Floats] = kernel("percentile_nearest_rank")
_linreg: Callable[..., Floats] = kernel("linreg")
_correlation: Callable[..., Floats] = kernel("correlation")


def sum(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Sum of the last n values; of conditions, how many were true.

    First value at the n-th value; an na bar is na and does not enter the window.

    >>> sum([1, 2, 3], 2)
    array([nan,  3.,  5.])
    """
    return rolling(_sum, "sum", source, n, out)


def cum(source: ArrayLike, out: Floats | None = None) -> Floats:
    """Sum of all values so far; an na bar is na and adds nothing.

    >>> cum([1, 2, 3])
    array([1., 3., 6.])
    """
    x = series("cum", "source", source)
    return _cum(x, out=None if out is None else target("cum", out, x))


def stdev(source: ArrayLike, n: int, biased: bool = True, out: Floats | None = None) -> Floats:
    """Standard deviation of the last n values, divided by n, or by n − 1 when not biased.

    First value at the n-th value; an na bar is na and does not enter the window.

    >>> stdev([1, 3, 5], 2)
    array([nan,  1.,  1.])
    """
    x, n, biased = _spread("stdev", source, n, biased)
    return _stdev(x, n, biased, out=None if out is None else target("stdev", out, x))


def variance(source: ArrayLike, n: int, biased: bool = True, out: Floats | None = None) -> Floats:
    """Square of the standard deviation of the last n values; see `stdev`.

    >>> variance([1, 3, 5], 2, False)
    array([nan,  2.,  2.])
    """
    x, n, biased = _spread("variance", source, n, biased)
    return _variance(x, n, biased, out=None if out is None else target("variance", out, x))


def _spread(function: str, source: ArrayLike, n: int, biased: bool) -> tuple[Floats, int, bool]:
    return (
        series(function, "source", source),
        length(function, "n", n),
        flag(function, "biased", biased),
    )


def dev(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Mean absolute distance of the last n values from their mean.

    First value at the n-th value; an na bar is na and does not enter the window.

    >>> dev([1, 3, 8], 2)
    array([nan, 1. , 2.5])
    """
    return rolling(_dev, "dev", source, n, out)


def median(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Middle one of the last n values in order, or the mean of the middle two.

    First value at the n-th value; an na bar is na and does not enter the window.

    >>> median([1, 9, 2, 3], 3)
    array([nan, nan,  2.,  3.])
    """
    return rolling(_median, "median", source, n, out)


def mode(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Most frequent of the last n values, the smallest of equally frequent ones.

    First value at the n-th value; an na bar is na and does not enter the window.

    >>> mode([2, 1, 2, 1], 3)
    array([nan, nan,  2.,  1.])
    """
    return rolling(_mode, "mode", source, n, out)


def percentrank(source: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """Percentage of the n values before that are not above the current one.

    First value after n values; an na bar is na and does not enter the window.

    >>> percentrank([1, 3, 2], 2)
    array([nan, nan, 50.])
    """
    return rolling(_percentrank, "percentrank", source, n, out)


def percentile_linear_interpolation(
    source: ArrayLike, n: int, percentage: float, out: Floats | None = None
) -> Floats:
    """The value below which `percentage` of the last n values lie, between the two nearest ones.

    The k-th smallest stands for 100·(k − ½)/n percent (Hazen). An na bar is na and does not enter
    the window.

    >>> percentile_linear_interpolation([1, 2, 3, 4], 4, 50)
    array([nan, nan, nan, 2.5])
    """
    x, n, share = _ranked("percentile_linear_interpolation", source, n, percentage)
    where = None if out is None else target("percentile_linear_interpolation", out, x)
    return _interpolated(x, n, share, out=where)


def percentile_nearest_rank(
    source: ArrayLike, n: int, percentage: float, out: Floats | None = None
) -> Floats:
    """The smallest of the last n values with at least `percentage` of them at or below it.

    An na bar is na and does not enter the window.

    >>> percentile_nearest_rank([1, 2, 3, 4], 4, 50)
    array([nan, nan, nan,  2.])
    """
    x, n, share = _ranked("percentile_nearest_rank", source, n, percentage)
    where = None if out is None else target("percentile_nearest_rank", out, x)
    return _nearest(x, n, share, out=where)


def _ranked(
    function: str, source: ArrayLike, n: int, percentage: float
) -> tuple[Floats, int, float]:
    share = number(function, "percentage", percentage)
    if not 0 <= share <= 100:
        raise TaError(function, "percentage", percentage, "must lie between 0 and 100")
    return series(function, "source", source), length(function, "n", n), share


def linreg(source: ArrayLike, n: int, offset: int = 0, out: Floats | None = None) -> Floats:
    """End of the straight line that fits the last n values best, or its point `offset` bars before.

    First value at the n-th value; an na bar is na and does not enter the window.

    >>> linreg([1, 2, 3, 8], 3)
    array([       nan,        nan, 3.        , 7.33333333])
    """
    x, n = series("linreg", "source", source), length("linreg", "n", n)
    offset = whole("linreg", "offset", offset)
    return _linreg(x, n, offset, out=None if out is None else target("linreg", out, x))


def correlation(a: ArrayLike, b: ArrayLike, n: int, out: Floats | None = None) -> Floats:
    """How alike two series moved over the last n bars, −1 … 1 (Pearson).

    na where one of them did not move; a bar where either is na is na and does not enter the window.

    >>> correlation([1, 2, 3], [6, 4, 2], 3)
    array([nan, nan, -1.])
    """
    x, y = together("correlation", ("a", "b"), a, b)
    n = length("correlation", "n", n)
    return _correlation(x, y, n, out=None if out is None else target("correlation", out, x, y))
