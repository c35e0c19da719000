"""Markets in which nothing can be found, and seven kinds of signals on them.

Each is a martingale with a drift: volatility clusters and has hours, and tails are fat.
"""

import numpy as np

from chartpact import ta
from chartpact.bars import Bars

START = 1_700_006_400_000
STEP = 300_000
PER = 12  # steps of a bar
KINDS = ("random", "clustered", "breakout", "stretched", "pivot", "ten o'clock", "spike")


def market(seed: int, count: int, drift: float = 0.0, planted=()) -> Bars:
    """Bars of twelve steps each; `planted` is pairs of a bar and what is added to its return."""
    random = np.random.default_rng(seed)
    shocks = random.standard_normal(count)
    variance, level = np.empty(count), 1.0
    for bar in range(count):
        variance[bar] = level
        level = 0.02 + 0.9 * level + 0.08 * level * min(shocks[bar] ** 2, 20)
    hour = np.arange(count) // 12 % 24
    spread = np.sqrt(variance) * (0.5 + 1.5 * np.sin(np.pi * hour / 24) ** 2)
    steps = random.standard_t(4, (count, PER)) * spread[:, None] / np.sqrt(2 * PER) + drift
    for bar, size in planted:
        steps[bar] += size / PER
    return of_path(np.concatenate(([4000.0], 4000 + np.cumsum(steps.ravel()))))


def of_path(path: np.ndarray, per: int = PER, **options) -> Bars:
    """Bars that hold so many steps of a path each."""
    count = (len(path) - 1) // per
    parts = np.stack([path[i : i + per * count : per] for i in range(per + 1)])
    return Bars(
        time=START + STEP * np.arange(count),
        open=parts[0],
        high=parts.max(axis=0),
        low=parts.min(axis=0),
        close=parts[-1],
        volume=np.full(count, np.nan),
        **{"symbol": "X", "timeframe": "5m", "tick_size": 0.25, **options},
    )


def signals(kind: str, bars: Bars, seed: int) -> np.ndarray:
    """The bars on which a signal of this kind became known."""
    random, count = np.random.default_rng(seed + 10_000), len(bars)
    most = max(count // 50, 40)
    match kind:
        case "random":
            return np.sort(random.choice(count, most, replace=False))
        case "clustered":
            centers = random.choice(count, max(most // 8, 5))
            near = centers[:, None] + random.integers(0, 10, (len(centers), 8))
            return np.unique(np.clip(near.ravel(), 0, count - 1))
        case "breakout":
            return np.flatnonzero(bars.close[1:] > ta.highest(bars.high, 20)[:-1]) + 1
        case "stretched":
            atr = ta.atr(bars.high, bars.low, bars.close, 14)
            return np.flatnonzero(bars.close < ta.sma(bars.close, 20) - 2 * atr)
        case "pivot":
            return np.flatnonzero(~np.isnan(ta.pivot_low(bars.low, 5, 5)))
        case "ten o'clock":
            return np.flatnonzero(bars.time // STEP % 288 == 120)
    atr = ta.atr(bars.high, bars.low, bars.close, 14)
    return np.flatnonzero(bars.high - bars.low > 2.5 * atr)
