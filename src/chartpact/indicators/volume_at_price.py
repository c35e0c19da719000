"""Volume by price: the weights of rows of equal height, for groups of bars."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

VALUE_AREA = 0.70  # of all weight
PORTION = 1_000_000  # rows that are computed at once, to bound memory
VAST = 1e290


@dataclass(frozen=True)
class Profiles:
    """One profile for each group: `rows` rows of `step` upwards from `bottom`, and their weights.

    Where all prices of a group are equal, its step is 0 and its first row holds everything.
    """

    bottom: Floats  # of each group
    step: Floats
    weight: Floats  # of each group and row
    total: Floats

    @cached_property
    def peak(self) -> Indices:
        """The heaviest row of each group, the lowest of equals."""
        return np.asarray(np.argmax(self.weight, axis=1))

    def middles(self, group: int) -> list[float]:
        """The prices in the middle of all rows of a group, from the lowest."""
        rows = np.arange(self.weight.shape[1])
        return list(_price(self.bottom[group], self.step[group], rows + 0.5).tolist())

    @property
    def control(self) -> Floats:
        """The point of control: the price of the heaviest row; NaN without any weight."""
        return np.where(self.total > 0, _price(self.bottom, self.step, self.peak + 0.5), np.nan)

    @cached_property
    def value_area(self) -> tuple[Indices, Indices]:
        """The lowest and highest row of the value area of each group.

        It grows from the heaviest row to the heavier neighbour, downwards if they are equal.
        """
        groups, rows = self.weight.shape
        padded = np.zeros((groups, rows + 2))
        padded[:, 1:-1] = self.weight
        group = np.arange(groups)
        low = self.peak
        high = low.copy()
        inside = self.weight[group, low] if rows else np.zeros(groups)
        target = VALUE_AREA * self.total
        for _ in range(rows - 1):
            growing = inside < target
            if not growing.any():
                break
            below, above = padded[group, low], padded[group, high + 2]
            down = (low > 0) & ((below >= above) | (high == rows - 1))
            up = ~down & (high < rows - 1)
            inside = inside + np.where(growing, np.where(down, below, above), 0.0)
            low = low - (growing & down)
            high = high + (growing & up)
        return low, high

    @property
    def value_prices(self) -> tuple[Floats, Floats]:
        """Bottom and top price of the value area of each group; NaN without any weight."""
        low, high = self.value_area
        known = self.total > 0
        return (
            np.where(known, _price(self.bottom, self.step, low), np.nan),
            np.where(known, _price(self.bottom, self.step, high + 1), np.nan),
        )


def _price(bottom: Any, step: Any, row: Any) -> Any:
    """The price so many rows above the bottom, by two steps where one would be infinite."""
    price, half = bottom + row * step, row / 2 * step
    return np.where(np.isinf(price), bottom + half + half, price)


def profiles(
    low: Floats, high: Floats, weight: Floats, first: Indices, rows: int, spread: bool = True
) -> Profiles:
    """The profiles of groups of bars that begin at the bars `first`.

    A bar's weight is spread evenly from its low to its high; without `spread` every row it touches
    gets all of it. A missing weight counts as none.
    """
    if len(low) == 0:
        nothing = np.zeros(0)
        return Profiles(nothing, nothing, np.zeros((0, rows)), nothing)
    weight = np.nan_to_num(weight, nan=0.0)
    if weight.max() > VAST:  # only shares are read, and the sum of these may be infinite
        weight = weight * 2.0**-64
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(low))))
    bottom = np.minimum.reduceat(low, first)
    step = np.maximum.reduceat(high, first) / rows - bottom / rows
    low, high = (_in_rows(price, group, bottom, step, rows) for price in (low, high))
    lowest, highest = (np.minimum(price.astype(np.intp), rows - 1) for price in (low, high))
    more = highest - lowest
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
    by_row = cells.reshape(len(first), rows).astype(np.float64, copy=False)
    total = np.add.reduceat(weight, first) if spread else by_row.sum(axis=1)
    return Profiles(bottom, step, by_row, total)


def _in_rows(price: Floats, group: Indices, bottom: Floats, step: Floats, rows: int) -> Floats:
    """Prices counted in rows from the bottom, so that the shares of a bar add up to one."""
    height = step[group]
    height = np.where(height > 0, height, 1.0)
    place = (price - bottom[group]) / height
    place = np.where(np.isinf(place), price / height - bottom[group] / height, place)
    return np.clip(np.nan_to_num(place), 0, rows)


def levels(
    low: Floats, high: Floats, weight: Floats, first: Indices, rows: int
) -> tuple[Floats, Floats, Floats]:
    """Point of control, and bottom and top of the value area, of each group of bars."""
    prices = np.full((3, len(first)), np.nan)
    edges = np.append(first, len(low))
    at_once = max(1, PORTION // rows)
    for k in range(0, len(first), at_once):
        groups = slice(k, k + at_once)
        own = slice(edges[k], edges[min(k + at_once, len(first))])
        part = profiles(low[own], high[own], weight[own], first[groups] - edges[k], rows)
        prices[:, groups] = part.control, *part.value_prices
    return prices[0], prices[1], prices[2]
