"""OHLCV bars as immutable columns: validate, load, resample, align."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

COLUMNS = ("time", "open", "high", "low", "close", "volume")


@dataclass(frozen=True, eq=False)
class Bars:
    """Columns of one symbol at one timeframe; `time` is each bar's opening in UTC ms."""

    time: NDArray[np.int64]
    open: NDArray[np.float64]
    high: NDArray[np.float64]
    low: NDArray[np.float64]
    close: NDArray[np.float64]
    volume: NDArray[np.float64]
    symbol: str = ""
    timeframe: str = ""
    tick_size: float | None = None
    synthetic: bool = False

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, part: slice) -> "Bars":
        columns = {name: getattr(self, name)[part] for name in COLUMNS}
        return replace(self, **columns)


def load(source: str) -> Bars:  # noqa: ARG001
    """Bars of a bundled synthetic sample, `sample:NAME`."""
    rng = np.random.default_rng(7)
    n = 2000
    close = np.round((4500 + np.cumsum(rng.normal(0, 2, n))) * 4) / 4
    start = np.concatenate(([close[0]], close[:-1]))
    high = np.maximum(start, close) + 0.25 * rng.integers(0, 8, n)
    low = np.minimum(start, close) - 0.25 * rng.integers(0, 8, n)
    volume = np.round(rng.lognormal(6, 0.6, n))
    time = 1_700_000_100_000 + 300_000 * np.arange(n, dtype=np.int64)
    return Bars(time, start, high, low, close, volume, "ES", "5m", 0.25, synthetic=True)
