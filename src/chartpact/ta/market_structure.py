"""Market structure: swings, their breaks, gaps between bars, and the life of price zones.

Prices are compared exactly. To let whole ticks decide, hand in prices divided by the tick size and
rounded.
"""

from typing import Annotated

from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    FLOAT,
    Bools,
    Check,
    Close,
    Condition,
    Flag,
    Floats,
    High,
    Low,
    Open,
    Out,
    OutBools,
    Series,
    by_kernel,
    checked,
    number,
    series,
    takes_bars,
    whole,
)

__all__ = [
    "first_true",
    "fvg",
    "highest_between",
    "highest_since",
    "lowest_between",
    "lowest_since",
    "runs",
    "structure",
    "swings",
    "zone_life",
]

Strength = Annotated[int, whole(0)]  # bars on one side of a swing
Bar = Annotated[ArrayLike, Check(series, FLOAT)]  # a bar's number, for each bar


@takes_bars
@by_kernel
def swings(
    high: High, low: Low, left: Strength, right: Strength
) -> tuple[Floats, Floats, Floats, Floats]:
    """The last confirmed swing high, the bar it lies on, the last swing low, its bar.

    A swing is a `pivot_high` or `pivot_low`; it counts from the bar that confirms it until the next
    is confirmed. na before the first.

    >>> top, bar, bottom, _ = swings([1, 3, 2, 2], [1, 2, 1, 1], 1, 1)
    >>> top, bar
    (array([nan, nan,  3.,  3.]), array([nan, nan,  1.,  1.]))
    """


@takes_bars
@by_kernel
def structure(
    high: High, low: Low, close: Close, left: Strength, right: Strength
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Breaks of swings: event, level, its bar, trend, sweep.

    A close beyond the last confirmed swing breaks it, once. The event is 1 or −1 where the break
    goes with the trend or is the first (BOS), 2 or −2 where it turns the trend (CHoCH), else 0;
    level and bar are those of the broken swing, na without an event. The trend is the direction of
    the last break, 0 before the first. A wick beyond a swing whose bar closes at or inside it is a
    sweep: 1 of the high, −1 of the low, 2 of both. A swing confirmed on a bar counts on that bar.

    >>> event, level, _, trend, _ = structure([1, 3, 2, 4], [1, 2, 1, 3], [1, 2, 2, 4], 1, 1)
    >>> event, level, trend
    (array([0., 0., 0., 1.]), array([nan, nan, nan,  3.]), array([0., 0., 0., 1.]))
    """


@takes_bars
@by_kernel
def fvg(
    open: Open,
    high: High,
    low: Low,
    close: Close,
    min_size: Annotated[float, number()] = 0.0,
    body: Flag = True,
) -> tuple[Floats, Floats, Floats]:
    """Fair value gaps: side, top, bottom, on the third of the three bars.

    The side is 1 where this low is above the high of two bars ago, −1 where this high is below that
    low, else 0; top and bottom bound the gap, na without one. It is at least `min_size` high. With
    `body` the middle bar closes in the direction of the gap.

    >>> side, top, bottom = fvg([1, 2, 5], [2, 5, 6], [1, 2, 4], [2, 5, 5])
    >>> side[2], top[2], bottom[2]
    (np.float64(1.0), np.float64(4.0), np.float64(2.0))
    """


@takes_bars
@by_kernel
def zone_life(
    high: High,
    low: Low,
    close: Close,
    side: Series,
    top: Series,
    bottom: Series,
    max_age: Annotated[int, whole(1)] = 500,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """When price reached each zone: the bars of touched, middle, filled, broken, dead.

    A bar whose side is 1 (bullish, price comes from above) or −1 makes the zone from bottom to top
    known; the bars after it count, and the results stand on that bar. A bullish zone is touched by
    a low at or below its top, reached to the middle or filled by one at or below that or its
    bottom, broken by a close below the bottom. It is dead once a later close is above its top, or
    when it is more than `max_age` bars old. na where that has not happened.

    The results tell of bars that follow, so draw with them and take no signal from them. A later
    bar only fills in what was na.

    >>> bars, zone = ([9, 9, 6, 4], [6, 6, 5, 2], [8, 8, 6, 2]), ([0, 1, 0, 0], [5] * 4, [3] * 4)
    >>> touched, middle, filled, broken, dead = zone_life(*bars, *zone)
    >>> touched[1], middle[1], broken[1]
    (np.float64(2.0), np.float64(3.0), np.float64(3.0))
    """


@checked
@by_kernel
def highest_between(source: Series, first: Bar, last: Bar) -> tuple[Floats, Floats]:
    """The largest value from bar `first` to bar `last`, and its bar, the latest of equals.

    Each bar has its own `first` and `last`. na where `last` has not come yet, is before `first`, or
    all values between are na.

    >>> highest_between([5, 3, 5, 4], [0, 0, 0, 3], [0, 1, 2, 3])
    (array([5., 5., 5., 4.]), array([0., 0., 2., 3.]))
    """


@checked
@by_kernel
def lowest_between(source: Series, first: Bar, last: Bar) -> tuple[Floats, Floats]:
    """The smallest value from bar `first` to bar `last`, and its bar, the latest of equals.

    Each bar has its own `first` and `last`. na where `last` has not come yet, is before `first`, or
    all values between are na.

    >>> lowest_between([5, 3, 5, 4], [0, 0, 0, 3], [0, 1, 2, 3])
    (array([5., 3., 3., 4.]), array([0., 1., 1., 3.]))
    """


@checked
@by_kernel
def highest_since(condition: Condition, source: Series, out: Out = None) -> Floats:
    """The largest value since the condition was last true, that bar included.

    na until the condition first was true; na values are passed over.

    >>> highest_since([False, True, False, True], [9, 2, 3, 1])
    array([nan,  2.,  3.,  1.])
    """


@checked
@by_kernel
def lowest_since(condition: Condition, source: Series, out: Out = None) -> Floats:
    """The smallest value since the condition was last true, that bar included.

    na until the condition first was true; na values are passed over.

    >>> lowest_since([False, True, False, True], [0, 2, 1, 3])
    array([nan,  2.,  1.,  3.])
    """


@checked
@by_kernel
def first_true(condition: Condition, reset: Condition, out: OutBools = None) -> Bools:
    """True where the condition is true for the first time since `reset` last was, or ever.

    A bar that resets counts with what follows it.

    >>> first_true([True, True, True, False, True], [False, False, True, False, False])
    array([ True, False,  True, False, False])
    """


@checked
@by_kernel
def runs(condition: Condition) -> tuple[Floats, Floats]:
    """The first bar and the last bar so far of the latest run of true bars; na before the first.

    >>> runs([False, True, True, False, True])
    (array([nan,  1.,  1.,  1.,  4.]), array([nan,  1.,  2.,  2.,  4.]))
    """
