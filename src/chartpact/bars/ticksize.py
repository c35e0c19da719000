"""The tick size of prices: the coarsest usual grid on which all of them lie."""

import math

import numpy as np
from numpy.typing import NDArray

MOST_DECIMALS = 8
SIGNIFICANT = 6  # digits that matter in prices which lie on no grid
ENOUGH = 100  # prices; fewer may share a coarse grid by chance
_STEPS = (15625, 3125, 625, 125, 25, 5, 2)  # of the last decimal: 0.25, 0.5, 1/32, …


def tick_size_of(prices: NDArray[np.float64]) -> float:
    """The tick size of a market by its prices.

    >>> tick_size_of(np.array([1.06994, 1.06912]))
    1e-05
    """
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
    if len(ticks) < ENOUGH or np.abs(ticks).max() > 2**53:
        return 1
    shared = int(np.gcd.reduce(np.abs(ticks).astype(np.int64)))
    return next((step for step in _STEPS if shared and shared % step == 0), 1)
