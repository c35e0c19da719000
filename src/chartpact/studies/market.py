"""Bars prepared for a study: what each bar returned beyond what its hour and volatility return.

A bar's return is from its open to the next open. Its bucket is the hour of the day and the tercile
of ATR over price, both known before it. The mean of the bucket is subtracted. That mean leaves out
the bar's own block of time and both neighbours: a signal is made by the bars around it, and a mean
that holds them would move against it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chartpact import ta
from chartpact.bars import Bars
from chartpact.clock import zones
from chartpact.clock.timeframe import DAY, HOUR, Timeframe

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ATR_BARS = 14
LEAST_IN_BUCKET = 50  # bars; a smaller bucket joins its tercile
BLOCKS = 400  # of time, about
LEAST_LEFT_OUT = 50  # bars on either side of a bar's own block


@dataclass(frozen=True)
class StudyMarket:
    """The bars from `first` on, in buckets and blocks; bars before it are history alone."""

    bars: Bars
    zone: str
    first: int = 0
    tick: float | None = None  # the unit of effects, in place of ATR

    @cached_property
    def block_bars(self) -> int:
        return max(1, -(-(len(self.bars) - self.first) // BLOCKS))

    @cached_property
    def blocks(self) -> int:
        return -(-(len(self.bars) - self.first) // self.block_bars)

    @cached_property
    def block(self) -> Ints:
        """The block of each bar; bars before `first` count to the first one."""
        since_first = np.arange(len(self.bars)) - self.first
        return cast(Ints, np.maximum(since_first, 0) // self.block_bars)

    @cached_property
    def atr(self) -> Floats:
        """ATR(14) as it was known before each bar."""
        known = np.full(len(self.bars), np.nan)
        known[1:] = ta.atr(self.bars.high, self.bars.low, self.bars.close, ATR_BARS)[:-1]
        return known

    @cached_property
    def unit(self) -> Floats:
        """What the effect of an entry at each bar is measured in."""
        return self.atr if self.tick is None else np.full(len(self.bars), self.tick)

    @cached_property
    def hours(self) -> int:
        """Hours of the day that tell bars apart: of daily bars there is one."""
        long = self.bars.timeframe and Timeframe.parse(self.bars.timeframe).ms >= DAY
        return 1 if long else 24

    @cached_property
    def excess(self) -> Floats:
        """Of each bar its return beyond its bucket; 0 where no bucket is known."""
        returns = np.append(np.diff(self.bars.open), 0.0)
        there = self.in_bucket.copy()
        there[-1:] = False
        return np.where(there, returns - self.baseline(returns, there), 0.0)

    @cached_property
    def path(self) -> Floats:
        """The sum of excess before each bar: a window's excess is a difference of it."""
        return np.concatenate(([0.0], np.cumsum(self.excess)[:-1]))

    @cached_property
    def cells(self) -> int:
        """How many buckets hold bars."""
        return len(np.unique(self._bucket[self.in_bucket]))

    @cached_property
    def in_bucket(self) -> NDArray[np.bool_]:
        """The bars that can be entered: their ATR is known, and not 0."""
        known: NDArray[np.bool_] = self.atr > 0
        known[: self.first] = False
        return known

    @cached_property
    def _bucket(self) -> Ints:
        """Three buckets an hour, by the terciles of ATR over price."""
        share = np.zeros(len(self.bars))
        share[1:] = self.atr[1:] / np.abs(self.bars.close[:-1])
        known = share[self.in_bucket & np.isfinite(share)]
        bounds = np.quantile(known, (1 / 3, 2 / 3)) if len(known) else np.zeros(2)
        hour = np.zeros(len(self.bars), np.int64)
        if self.hours > 1:
            hour = zones.wall(zones.zone(self.zone), self.bars.time) % DAY // HOUR
        return cast(Ints, hour * 3 + np.searchsorted(bounds, share, "right"))

    def baseline(self, values: Floats, there: NDArray[np.bool_], bars: int = 1) -> Floats:
        """For each bar the mean of its bucket, without its own block of time and its neighbours.

        Where a value is of so many `bars`, none that is left in reaches into the own block.
        """
        around = -(-max(LEAST_LEFT_OUT, bars) // self.block_bars) + (bars > 1)
        rows = np.flatnonzero(there)
        place = self._bucket[rows] * self.blocks + self.block[rows]
        size, shape = self.hours * 3 * self.blocks, (self.hours, 3, self.blocks)
        count = np.bincount(place, minlength=size).reshape(shape)
        total = np.bincount(place, values[rows], minlength=size).reshape(shape)
        small = count.sum(axis=2, keepdims=True) < LEAST_IN_BUCKET
        mean, left = _leave_out(total, count, around)
        wider = [(total.sum(axis=0), count.sum(axis=0)), (total.sum((0, 1)), count.sum((0, 1)))]
        for sums, counts in wider:  # its tercile, then all bars
            wide, wide_left = _leave_out(sums, counts, around)
            lacks = small | (left == 0)
            mean = np.where(lacks, wide, mean)
            left = np.where(lacks, wide_left, left)
            small = np.zeros_like(small)
        return cast(Floats, mean.reshape(-1)[self._bucket * self.blocks + self.block])


def _leave_out(
    total: NDArray[Any], count: NDArray[Any], around: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """For each block the mean over all blocks that are further away, and how many bars that is."""
    sums = np.stack([total, count])
    blocks = sums.shape[-1]
    running = np.concatenate((np.zeros((*sums.shape[:-1], 1)), np.cumsum(sums, axis=-1)), axis=-1)
    begin = np.maximum(np.arange(blocks) - around, 0)
    end = np.minimum(np.arange(blocks) + around + 1, blocks)
    far = running[..., -1:] - (running[..., end] - running[..., begin])
    counts = np.rint(far[1]).astype(np.intp)
    return np.where(counts > 0, far[0] / np.maximum(counts, 1), 0.0), counts
