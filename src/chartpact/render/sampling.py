"""Many bars on few pixels: what is kept so that no high and no low is lost."""

import math

import numpy as np

from chartpact.render.display import Floats, Ints


def bars_per_group(step: float, least: float) -> int:
    """How many bars share a group when a group must be at least that many pixels wide."""
    return 1 if step >= least else math.ceil(least / step)


def starts(count: int, size: int) -> Ints:
    """The first bar of each group."""
    return np.arange(0, count, size)


def outline(values: Floats, size: int) -> Ints:
    """The bars of a line that matter: the first, lowest, highest and last of each group.

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
    any_known = known.any(axis=1)
    picks = np.stack(
        (
            known.argmax(axis=1),
            size - 1 - known[:, ::-1].argmax(axis=1),
            np.where(known, grid, np.inf).argmin(axis=1),
            np.where(known, grid, -np.inf).argmax(axis=1),
        ),
        axis=1,
    )
    picks[~any_known] = 0
    return np.unique(picks + np.arange(groups)[:, None] * size)


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
