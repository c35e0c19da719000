"""Profiles: how much was traded at each price.

A profile cuts the range of some bars into rows of equal height. Its series have a value for each
row, the lowest first, and not one for each bar.
"""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chartpact.ta.arguments import (
    Bools,
    Condition,
    Flag,
    Floats,
    High,
    Low,
    Series,
    Volume,
    checked,
    number,
    takes_bars,
    whole,
)
from chartpact.ta.arithmetic import quiet

__all__ = ["profile", "profile_levels", "value_area"]

Indices = NDArray[np.intp]
Rows = Annotated[int, whole(1, 5000)]

VALUE_AREA = 0.70  # of all weight
PORTION = 200_000  # rows that are computed at once, to bound memory
VAST = 1e290

Share = Annotated[float, number(0, 1, "must lie between 0 and 1")]


@takes_bars
@quiet
def profile(
    high: High, low: Low, volume: Volume, rows: Rows, spread: Flag = True
) -> tuple[Floats, Floats, Floats, Floats]:
    """Volume by price: (price, bottom, top, weight) of each of the rows, the lowest first.

    The rows go from the lowest low to the highest high; a row's price is its middle. The volume of
    a bar is spread evenly from its low to its high; without `spread` every row it touches gets all
    of it. A bar with an na price is left out, and an na volume is none. Where all prices are equal,
    the first row has everything.

    >>> price, bottom, top, weight = profile([1, 2, 2], [0, 1, 0], [2, 4, 2], 2)
    >>> price, weight
    (array([0.5, 1.5]), array([3., 5.]))
    """
    high, low, volume = np.broadcast_arrays(high, low, volume)
    shape, bars = high.shape[:-1], high.shape[-1]
    size = int(np.prod(shape))
    if not bars:
        absent = np.full((*shape, rows), np.nan)
        return absent, absent, absent, np.zeros((*shape, rows))
    prices = _Columns(high.reshape(-1), low.reshape(-1), volume.reshape(-1))
    groups = weigh(prices, bars * np.arange(size), rows, spread)
    series = (groups.price(np.arange(rows) + 0.5), *groups.edges, groups.weight)
    price, bottom, top, weight = (part.reshape(*shape, rows) for part in series)
    return price, bottom, top, weight


@checked
@quiet
def value_area(weight: Series, share: Share = VALUE_AREA) -> Bools:
    """True on the rows of a profile that hold this share of its weight around the heaviest.

    It grows from the heaviest row, the lowest of equals, to the heavier neighbour, downwards where
    they are equal. No row is in it where all weights are 0 or na.

    >>> value_area([1, 3, 8, 2, 1])
    array([False,  True,  True, False, False])
    """
    known = np.maximum(np.nan_to_num(weight, nan=0.0, posinf=0.0, neginf=0.0), 0.0)
    if not known.size:
        return np.zeros(known.shape, np.bool_)
    groups = known.reshape(-1, known.shape[-1])
    low, high = _grow(groups, share)
    row = np.arange(groups.shape[1])
    inside = (low[:, None] <= row) & (row <= high[:, None]) & (groups.max(1) > 0)[:, None]
    return np.reshape(inside, known.shape)


@takes_bars
@quiet
def profile_levels(
    high: High, low: Low, volume: Volume, anchor: Condition, rows: Rows, share: Share = VALUE_AREA
) -> tuple[Floats, Floats, Floats]:
    """Point of control, and top and bottom of the value area, of the session of each bar.

    A bar where `anchor` is true begins a session (see `timeframe_change`), and so does bar 0. Its
    `profile` has so many rows; the point of control is the price of the heaviest one. na in a
    session without volume.

    All bars of a session have the same levels, which tell of bars that follow: draw with them and
    take no signal from them.

    >>> anchor = [False, False, True]
    >>> control, top, bottom = profile_levels([1, 2, 5], [0, 1, 3], [2, 4, 1], anchor, 2)
    >>> control, top, bottom
    (array([1.5, 1.5, 3.5]), array([2., 2., 5.]), array([0., 0., 3.]))
    """
    high, low, volume, anchor = np.broadcast_arrays(high, low, volume, anchor)
    fresh = anchor.copy()
    fresh[..., :1] = True
    first = np.flatnonzero(fresh)
    flat = _Columns(high.reshape(-1), low.reshape(-1), volume.reshape(-1))
    levels = np.empty((3, len(first)))
    edges = np.append(first, high.size)
    at_once = max(1, PORTION // rows)
    for k in range(0, len(first), at_once):
        last = min(k + at_once, len(first))
        own = slice(edges[k], edges[last])
        columns = _Columns(flat.high[own], flat.low[own], flat.volume[own])
        part = weigh(columns, first[k:last] - edges[k], rows)
        levels[:, k:last] = part.levels(share)
    control, top, bottom = np.repeat(levels, np.diff(edges), axis=1).reshape(3, *high.shape)
    return control, top, bottom


class _Columns(NamedTuple):
    high: Floats
    low: Floats
    volume: Floats


@dataclass(frozen=True)
class Profiles:
    """One profile for each group of bars: rows of `step` upwards from `bottom`, and their weights.

    Where all prices of a group are equal, its step is 0 and its first row holds everything.
    """

    bottom: Floats  # of each group
    step: Floats
    weight: Floats  # of each group and row

    def price(self, row: Any) -> Floats:
        """The prices so many rows above the bottom, by two steps where one would be infinite."""
        bottom, step = self.bottom[:, None], self.step[:, None]
        price, half = bottom + row * step, row / 2 * step
        return np.asarray(np.where(np.isinf(price), bottom + half + half, price))

    @property
    def edges(self) -> tuple[Floats, Floats]:
        """Bottom and top of every row."""
        edges = self.price(np.arange(self.weight.shape[1] + 1))
        return edges[:, :-1], edges[:, 1:]

    def levels(self, share: float) -> tuple[Floats, Floats, Floats]:
        """Point of control, top and bottom of the value area; NaN without any weight."""
        peak = np.argmax(self.weight, axis=1)
        low, high = _grow(self.weight, share)
        rows = np.stack((peak + 0.5, high + 1, low), axis=1)
        known = self.weight.max(axis=1) > 0
        control, top, bottom = np.where(known[:, None], self.price(rows), np.nan).T
        return control, top, bottom


def _grow(weight: Floats, share: float) -> tuple[Indices, Indices]:
    """The lowest and the highest row of the value area of each group."""
    peaks = np.argmax(weight, axis=1).tolist()
    targets = (share * weight.sum(axis=1)).tolist()
    lows, highs = [], []
    for rows, peak, target in zip(weight.tolist(), peaks, targets, strict=True):
        low = high = peak
        inside, last = rows[peak], len(rows) - 1
        while inside < target and (low > 0 or high < last):
            if low > 0 and (high == last or rows[low - 1] >= rows[high + 1]):
                low -= 1
                inside += rows[low]
            else:
                high += 1
                inside += rows[high]
        lows.append(low)
        highs.append(high)
    return np.array(lows, np.intp), np.array(highs, np.intp)


@quiet
def count_touched(high: Floats, low: Floats, first: Indices, rows: int) -> float:
    """About how many rows all bars together touch, which is what a profile costs."""
    if not len(high):
        return 0.0
    span = np.maximum.reduceat(high, first) - np.minimum.reduceat(low, first)
    spans = np.repeat(span, np.diff(np.append(first, len(high))))
    shares = np.nan_to_num((high - low) / spans, nan=1.0, posinf=1.0, neginf=1.0)
    return float(np.sum(1 + rows * np.clip(shares, 0, 1)))


def weigh(columns: _Columns, first: Indices, rows: int, spread: bool = True) -> Profiles:
    """The profiles of groups of bars that begin at the bars `first`; each has at least one."""
    high, low, volume = columns
    absent = ~(np.isfinite(high) & np.isfinite(low))
    weight = np.maximum(np.nan_to_num(volume, nan=0.0, posinf=0.0, neginf=0.0), 0.0)
    if absent.any():
        weight = np.where(absent, 0.0, weight)
        high, low = np.where(absent, -np.inf, high), np.where(absent, np.inf, low)
    if weight.max() > VAST:  # only shares are read, and the sum of these may be infinite
        weight = weight * 2.0**-64
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(low))))
    bottom = np.minimum.reduceat(low, first)
    step = np.maximum.reduceat(high, first) / rows - bottom / rows
    bottom, step = (np.where(np.isfinite(step), part, np.nan) for part in (bottom, step))
    origin, height = bottom[group], np.where(step > 0, step, 1.0)[group]
    low, high = (_in_rows(price, origin, height, rows) for price in (low, high))
    lowest, highest = (np.minimum(price.astype(np.intp), rows - 1) for price in (low, high))
    more = np.maximum(highest - lowest, 0)
    cell = group * rows + lowest
    within, across = np.flatnonzero(more == 0), np.flatnonzero(more)
    cells: NDArray[Any] = np.bincount(cell[within], weight[within], len(first) * rows)
    for part in np.array_split(across, more.sum() // PORTION + 1):
        touched = more[part] + 1
        bar = np.repeat(part, touched)  # once for every row it touches
        above = np.arange(len(bar)) - np.repeat(np.cumsum(touched) - touched, touched)
        share = weight[bar]
        if spread:
            row = lowest[bar] + above
            inside = np.minimum(high[bar], row + 1) - np.maximum(low[bar], row)
            share = share * (inside / (high[bar] - low[bar]))
        cells = cells + np.bincount(cell[bar] + above, share, len(first) * rows)
    return Profiles(bottom, step, cells.reshape(len(first), rows).astype(np.float64, copy=False))


def _in_rows(price: Floats, origin: Floats, height: Floats, rows: int) -> Floats:
    """Prices counted in rows from the bottom, so that the shares of a bar add up to one."""
    place = (price - origin) / height
    if not np.isfinite(place).all():
        place = np.where(np.isinf(place), price / height - origin / height, place)
        place = np.nan_to_num(place)
    return np.clip(place, 0, rows)
