"""Bars one can compute with a pencil."""

import numpy as np

from chartpact.bars import Bars

START = 1_709_510_400_000  # 2024-03-04T00:00Z, a Monday
MINUTE = 60_000


def bars(closes, highs=None, lows=None, opens=None, volumes=None, minutes=5, **known):
    """Bars of these columns; what is left out equals the close, volume is 1."""
    close = np.asarray(closes, dtype=float)
    n = len(close)
    opens = close if opens is None else np.asarray(opens, dtype=float)
    top, bottom = np.maximum(opens, close), np.minimum(opens, close)
    known = {"symbol": "BTCUSDT", "timeframe": {5: "5m", 60: "1h", 1440: "1D"}[minutes], **known}
    return Bars(
        START + minutes * MINUTE * np.arange(n),
        opens,
        top if highs is None else np.asarray(highs, dtype=float),
        bottom if lows is None else np.asarray(lows, dtype=float),
        close,
        np.ones(n) if volumes is None else np.asarray(volumes, dtype=float),
        **known,
    )


def noise(n, seed=3, start=100.0, step=1.0, **known):
    """A random walk, for what no pencil reaches."""
    chance = np.random.default_rng(seed)
    close = start + step * np.cumsum(chance.normal(0, 1, n))
    opens = np.concatenate((close[:1], close[:-1]))
    above, below = step * chance.random(n), step * chance.random(n)
    return bars(
        close,
        np.maximum(opens, close) + above,
        np.minimum(opens, close) - below,
        opens,
        chance.lognormal(5, 1, n),
        **known,
    )


def values(scene, title):
    """The series of a title."""
    return next(plot.values for plot in scene.plots if plot.title == title)


def level(scene, title):
    """The height of a level."""
    return next(plot.y for plot in scene.plots if plot.title == title and plot.kind == "hline")


def signals(scene, *names):
    """(bar, confirmed bar, name) of the signals of these names, or of all."""
    return [
        (each.bar, each.confirmed_bar, each.name)
        for each in scene.signals
        if not names or each.name in names
    ]
