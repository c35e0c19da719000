"""Oscillators: how fast, and how far from usual, a series moves."""

from chartpact.ta.arguments import (
    Close,
    Floats,
    High,
    Length,
    Lengths,
    Low,
    Out,
    Series,
    Volume,
    by_kernel,
    checked,
    takes_bars,
)

__all__ = [
    "cci",
    "change",
    "cmo",
    "cog",
    "macd",
    "mfi",
    "mom",
    "rci",
    "roc",
    "rsi",
    "stoch",
    "tsi",
    "wpr",
]


@checked
@by_kernel
def rsi(source: Series, n: Length, out: Out = None) -> Floats:
    """Relative strength index, 0 … 100: the share of rises in all movement, smoothed by rma.

    First value at the n-th step. Without falls (an average within 1e-10 of 0) it is 100, else
    without rises 0. An na bar is na, and the next step is taken from the last value before it.

    >>> rsi([1, 2, 1, 3], 2)
    array([        nan,         nan, 50.        , 83.33333333])
    """


@checked
@by_kernel
def macd(
    source: Series, fast: Length, slow: Length, signal: Length
) -> tuple[Floats, Floats, Floats]:
    """Distance of a fast from a slow ema, the ema of that, and their difference (histogram).

    The signal is seeded with the line's first values; an na bar is na in all three.

    >>> line, signal, histogram = macd([1, 2, 4, 7, 11], 1, 2, 2)
    >>> line
    array([       nan, 0.5       , 0.83333333, 1.27777778, 1.75925926])
    """


@takes_bars
@by_kernel
def stoch(source: Series, high: High, low: Low, n: Lengths, out: Out = None) -> Floats:
    """Where the source stands between the lowest low (0) and the highest high (100) of n bars.

    Not clamped; where the range is zero or an input is na, it repeats its last value.

    >>> stoch([2, 3], [4, 5], [0, 1], 2)
    array([nan, 60.])
    """


@takes_bars
@by_kernel
def wpr(high: High, low: Low, close: Close, n: Lengths, out: Out = None) -> Floats:
    """Williams %R: where the close stands below the highest high (0) of n bars, down to −100.

    A range of zero, and a bar where an input is na, are na.

    >>> wpr([4, 5], [0, 1], [2, 3], 2)
    array([ nan, -40.])
    """


@checked
@by_kernel
def cci(source: Series, n: Lengths, out: Out = None) -> Floats:
    """Commodity channel index: distance from the mean of n values in 0.015 mean deviations.

    Where the deviation is 0 (within 1e-10) it repeats its last value, 0 before the first. An na
    anywhere in the last n bars is na.

    >>> cci([1, 2, 6], 3)
    array([ nan,  nan, 100.])
    """


@checked
@by_kernel
def cmo(source: Series, n: Lengths, out: Out = None) -> Floats:
    """Chande momentum oscillator, −100 … 100: ups less downs as a share of n steps.

    No movement is na; an na bar is na, and the next step is taken from the last value before it.

    >>> cmo([1, 4, 3], 2)
    array([nan, nan, 50.])
    """


@checked
@by_kernel
def cog(source: Series, n: Lengths, out: Out = None) -> Floats:
    """Centre of gravity: the mean age of n values, weighted by them, as a negative number.

    Values that add up to 0 are na, and so is an na anywhere in the last n bars.

    >>> cog([1, 1, 2], 2)
    array([        nan, -1.5       , -1.33333333])
    """


@checked
@by_kernel
def rci(source: Series, n: Length, out: Out = None) -> Floats:
    """Rank correlation index, −100 … 100: how far the order of n values is that of time.

    Values less than 1e-10 apart share a rank; n equal values are na. First value at bar n, as in
    Pine. An na bar repeats the last value; the windows after it hold in its place the value of
    n + 1 bars before.

    >>> rci([1, 2, 3, 5, 4], 3)
    array([ nan,  nan,  nan, 100.,  50.])
    """


@takes_bars
@by_kernel
def mfi(source: Series, volume: Volume, n: Lengths, out: Out = None) -> Floats:
    """Money flow index, 0 … 100: the share of rising bars in source · volume over n bars.

    The flow of a bar without a value before it counts as both; without outflow it is 100. Flows are
    summed over the last n that are not na, and an na bar repeats the last value.

    >>> mfi([2, 3, 1], [1, 1, 1], 2)
    array([        nan, 71.42857143, 75.        ])
    """


@checked
@by_kernel
def tsi(source: Series, short: Length, long: Length) -> Floats:
    """True strength index, −1 … 1: twice-smoothed steps over twice-smoothed absolute steps.

    No movement is na; an na bar is na, and so is the bar after it, which has no step.

    >>> tsi([1, 2, 3, 5], 1, 2)
    array([nan, nan,  1.,  1.])
    """


@checked
@by_kernel
def change(source: Series, n: Lengths = 1) -> Floats:
    """Difference to the value n bars ago; na where either is na.

    >>> change([1, 4, 9])
    array([nan,  3.,  5.])
    """


@checked
@by_kernel
def mom(source: Series, n: Lengths) -> Floats:
    """Momentum: difference to the value n bars ago; na where either is na.

    >>> mom([1, 4, 9], 2)
    array([nan, nan,  8.])
    """


@checked
@by_kernel
def roc(source: Series, n: Lengths) -> Floats:
    """Rate of change: difference to the value n bars ago, in percent of it.

    na where either is na or the old value is 0.

    >>> roc([2, 3, 6], 1)
    array([ nan,  50., 100.])
    """
