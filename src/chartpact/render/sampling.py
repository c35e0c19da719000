"""Downsampling: many bars on few pixels, so that no high and no low is lost."""

import math

import numpy as np

from chartpact.render.display import Floats, Ints

LEAST = 1.5  # pixels: bars closer than this share a group
GROUP = 2.0  # pixels: and a group is at least this wide, so that its candle has a body


def bars_per_group(step: float) -> int:
    """How many bars share a group when a bar is `step` pixels wide."""
    return 1 if step >= LEAST else math.ceil(GROUP / step)


def starts(count: int, size: int) -> Ints:
    """The first bar of each group."""
    return np.arange(0, count, size)


def outline(values: Floats, size: int) -> Ints:
    """The bars of a line that matter: the lowest and the highest of each group, and both ends.

    Of a group with no value at all one bar stays, so that the line breaks there.
    """
    count = len(values)
    if size <= 1:
        return np.arange(count)
    groups = math.ceil(count / size)
    padded = np.full(groups * size, np.nan)
    padded[:count] = values
    grid = padded.reshape(groups, size)
    known = np.isfinite(grid)
    picks = np.stack(
        (
            np.where(known, grid, np.inf).argmin(axis=1),
            np.where(known, grid, -np.inf).argmax(axis=1),
        ),
        axis=1,
    )
    picks[~known.any(axis=1)] = 0
    bars = (picks + np.arange(groups)[:, None] * size).ravel()
    finite = np.flatnonzero(np.isfinite(values))
    return np.unique(np.concatenate((bars, finite[[0, -1]] if len(finite) else finite)))


def simplify(x: Floats, y: Floats, tolerance: float = 0.12) -> tuple[Floats, Floats]:
    """The polyline without points that lie on the line between their neighbours."""
    for _ in range(3):
        if len(x) < 5:
            break
        share = (x[1:-1] - x[:-2]) / np.maximum(x[2:] - x[:-2], 1e-9)
        off = np.abs(y[:-2] + share * (y[2:] - y[:-2]) - y[1:-1]) > tolerance
        off[1::2] = True  # remove at most one of two neighbours at a time
        if off.all():
            break
        stays = np.concatenate(([True], off, [True]))
        x, y = x[stays], y[stays]
    return x, y


def envelope(upper: Floats, lower: Floats, size: int) -> tuple[Floats, Floats]:
    """The highest and the lowest of each group; NaN where a group has no value."""
    at = starts(len(upper), size)
    return np.fmax.reduceat(upper, at), np.fmin.reduceat(lower, at)


def candles(
    opens: Floats, highs: Floats, lows: Floats, closes: Floats, size: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """One candle for each group: first open, highest high, lowest low, last close."""
    if size <= 1:
        return opens, highs, lows, closes
    at = starts(len(opens), size)
    last = np.append(at[1:], len(opens)) - 1
    return opens[at], np.fmax.reduceat(highs, at), np.fmin.reduceat(lows, at), closes[last]


def centres(count: int, size: int) -> Floats:
    """The bar, perhaps between two, in the middle of each group."""
    at = starts(count, size)
    last = np.minimum(at + size, count) - 1
    return np.asarray((at + last) / 2)
