"""The tick size of prices: the coarsest usual grid on which all of them lie."""

import math

import numpy as np
from numpy.typing import NDArray

MOST_DECIMALS = 8
SIGNIFICANT = 6  # digits that matter in prices which lie on no grid
ENOUGH, DISTINCT = 100, 20  # prices; fewer, or fewer different ones, may share a grid by chance
_STEPS = (15625, 3125, 625, 125, 25, 5, 2)  # of the last decimal: 0.25, 0.5, 1/32, …


def tick_size_of(prices: NDArray[np.float64]) -> float | None:
    """The tick size of a market by its prices; None where they are too few to tell.

    >>> tick_size_of(np.arange(2000.0, 2100.0, 0.25)), tick_size_of(np.array([2000.25, 2001.0]))
    (0.25, None)
    """
    if len(prices) < ENOUGH or np.count_nonzero(np.diff(np.sort(prices))) < DISTINCT - 1:
        return None
    for decimals in range(MOST_DECIMALS + 1):
        scaled = prices * 10.0**decimals
        ticks = np.rint(scaled)
        # A price comes within a few ulp of its decimal; scaling keeps the relative error.
        if (np.abs(scaled - ticks) <= 1e-12 * np.abs(scaled) + 1e-9).all():
            return _coarsest(ticks) / float(10**decimals)
    typical = float(np.median(np.abs(prices)))
    decimals = SIGNIFICANT - 1 - math.floor(math.log10(typical)) if typical > 0 else 2
    return 1 / float(10 ** min(max(decimals, 0), MOST_DECIMALS))


def _coarsest(ticks: NDArray[np.float64]) -> int:
    if np.abs(ticks).max() > 2**53:
        return 1
    shared = int(np.gcd.reduce(np.abs(ticks).astype(np.int64)))
    return next((step for step in _STEPS if shared and shared % step == 0), 1)
