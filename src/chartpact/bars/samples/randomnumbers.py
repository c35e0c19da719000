"""Random numbers that are the same bits on every machine and with every version of NumPy.

Only the raw output of PCG64, which NumPy promises never to change, and arithmetic that IEEE 754
rounds in one way; no logarithms, no sines.
"""

import numpy as np
from numpy.typing import NDArray


class Stream:
    """An endless stream of uniform and bell-shaped numbers, fixed by its seed."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def uniform(self, count: int) -> NDArray[np.float64]:
        """Numbers from 0 up to, but not including, 1."""
        raw = np.asarray(self._bits.random_raw(count), np.uint64)
        return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, count: int) -> NDArray[np.float64]:
        """Numbers of mean 0 and variance 1, bell-shaped: the sum of twelve uniform ones."""
        total = np.full(count, -6.0)
        for row in self.uniform(12 * count).reshape(12, count):
            total += row
        return total
