"""Two sets of bars side by side: joined on time, or a higher timeframe under a chart's bars."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chartpact.bars.bars import Bars, Times
from chartpact.bars.errors import BarsError
from chartpact.bars.loading import BarsLike, to_bars


def align(a: BarsLike, b: BarsLike) -> tuple[Bars, Bars]:
    """The bars that both have: those that open, or of resampled bars those that end, together.

    >>> es, nq = align(Bars([0, 1], *[[1, 1]] * 5), Bars([1, 2], *[[5, 6]] * 5))
    >>> es.time.tolist(), nq.close.tolist()
    ([1], [5.0])
    """
    a, b = to_bars(a), to_bars(b)
    times = times_to_match(a, b)
    _, in_a, in_b = np.intersect1d(*times, assume_unique=True, return_indices=True)
    return a.take(in_a), b.take(in_b)


def times_to_match(a: Bars, b: Bars) -> tuple[Times, Times]:
    """Times of two symbols' bars that are equal where the bars are of the same time.

    These are their opens. Resampled bars open with their first bar, which one of two symbols may
    lack, so that those of one timeframe are matched by their ends.
    """
    if a.timeframe == b.timeframe and (a.ends is not None or b.ends is not None):
        return a.close_time, b.close_time
    return a.time, b.time


def last_closed(bars: Bars, higher: Bars) -> NDArray[np.int64]:
    """For each bar, the number of the last bar of `higher` that is over when it closes, or -1.

    The bar whose close reaches the close of a higher bar sees it already, no earlier bar does,
    and bars that arrive later change nothing.
    """
    return np.searchsorted(higher.close_time, bars.close_time, side="right").astype(np.int64) - 1


def stretch(values: ArrayLike, index: NDArray[np.int64]) -> NDArray[np.float64]:
    """A higher timeframe's values laid under a chart's bars by `last_closed`; NaN before the first.

    >>> stretch([7, 8], np.array([-1, 0, 0, 1]))
    array([nan,  7.,  7.,  8.])
    """
    padded = np.append(np.asarray(values, np.float64), np.nan)
    if len(index) and index.max() >= len(padded) - 1:
        raise BarsError(f"there is no bar {index.max()} among {len(padded) - 1} higher bars")
    return padded[index]
