"""What followed events, and whether chance does as much: sums over bars, tested by blocks of time.

The effect of an event over h bars is the sum of excess over these bars, in ATR as a rule, times its
side. Events overlap, bars do not: the sum over events is a sum over bars of exposure times excess.
Without an effect the terms of two bars are uncorrelated, however events overlap. So these sums are
taken per block of time, and the signs of whole blocks are flipped. The same flips serve all tests:
what the largest of all does by chance is what the largest of all must exceed (Romano and Wolf).

Random bits come from one generator with a fixed seed, as raw bits: these are the same everywhere.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import cast

import numpy as np
from numpy.typing import NDArray

from chartpact import ta
from chartpact.studies.market import Floats, Ints, StudyMarket

SEED = 0
FLIPS = 4999
DRAWS = 1000
POWER = 2.8  # standard errors: an effect of this size is seen four times in five
LEAST_APART = 30  # events that do not overlap, for an interval
LEAST_BLOCKS = 20  # blocks with events, for an interval
_TIE = 1 - 1e-9  # sums that differ by rounding are equal
_EULER = 0.5772156649015329

Interval = tuple[float, float]


@dataclass(frozen=True)
class Test:
    """One signal over one horizon: what followed its events, and the sums by block."""

    bars: int  # the horizon
    side: int
    entry: Ints
    apart: int
    move: Floats  # of each event: from entry to exit in its direction, in price
    effect: Floats  # of each event: its excess, in units
    excess: Floats  # the same in price
    favourable: Floats  # from the entry to the best price on the way
    adverse: Floats
    hit: NDArray[np.bool_]
    hit_baseline: Floats
    gross: Floats  # by block: sums of exposure times excess
    weight: Floats  # by block: events, each spread over the bars of its window
    entries: Floats  # by block of the entry
    hits: Floats

    @property
    def events(self) -> int:
        return len(self.entry)

    @property
    def blocks_with_events(self) -> int:
        return int(np.count_nonzero(self.entries))

    @property
    def mean(self) -> float:
        """The mean effect."""
        return float(self.effect.mean()) if self.events else 0.0

    @property
    def unexplained(self) -> Floats:
        """By block: the sum less what the mean effect explains of it."""
        return self.gross - self.mean * self.weight

    @property
    def error(self) -> float:
        """The standard error of the mean effect."""
        return math.sqrt(float(self.unexplained @ self.unexplained)) / max(self.events, 1)

    @property
    def ratio(self) -> float:
        """The sum in units of what flipped signs make of it."""
        return ratio(self.gross)

    @property
    def is_short(self) -> bool:
        """Whether there are too few events for an interval."""
        return self.apart < LEAST_APART or self.blocks_with_events < LEAST_BLOCKS


@dataclass(frozen=True)
class Chance:
    """What chance makes of one test: p alone and in its family, q, and intervals."""

    p: float
    q: float
    p_family: float
    interval: Interval | None
    hit_interval: Interval | None


def ratio(gross: Floats) -> float:
    """A sum over blocks in units of what flipped signs make of it."""
    size = math.sqrt(float(gross @ gross))
    return float(gross.sum()) / size if size > 0 else 0.0


def measure(market: StudyMarket, entry: Ints, side: int, bars: int) -> Test:
    """What followed entries at the open of these bars, `bars` bars later; each has them ahead."""
    exit_ = entry + bars
    prices, blocks, block = market.bars, market.blocks, market.block
    unit = market.unit[entry]
    share = side / unit
    excess = side * (market.path[exit_] - market.path[entry])
    move = side * (prices.open[exit_] - prices.open[entry])
    exposure = _spread(entry, exit_, share, len(prices))
    weight = _spread(entry, exit_, np.full(len(entry), 1 / bars), len(prices))
    last = exit_ - 1  # the last bar that is held
    up = ta.highest(prices.high, bars)[last] - prices.open[entry]
    down = prices.open[entry] - ta.lowest(prices.low, bars)[last]
    best, worst = (up, down) if side > 0 else (down, up)
    ahead = np.zeros(len(prices))
    ahead[:-bars] = side * (prices.open[bars:] - prices.open[:-bars]) > 0
    there = market.in_bucket.copy()
    there[-bars:] = False
    expected = market.baseline(ahead, there, bars)[entry]
    hit = move > 0
    place = block[entry]
    return Test(
        bars,
        side,
        entry,
        _count_apart(entry, bars),
        move,
        excess / unit,
        excess,
        best,
        worst,
        hit,
        expected,
        _sum(block, exposure * market.excess, blocks),
        _sum(block, weight, blocks),
        _sum(place, np.ones(len(entry)), blocks),
        _sum(place, hit.astype(np.float64), blocks),
    )


def _sum(block: Ints, values: Floats, blocks: int) -> Floats:
    return cast(Floats, np.bincount(block, values, minlength=blocks))


def _spread(entry: Ints, exit_: Ints, share: Floats, count: int) -> Floats:
    """For each bar the sum of the shares of the windows that hold it."""
    steps = np.bincount(entry, share, minlength=count) - np.bincount(exit_, share, minlength=count)
    return cast(Floats, np.cumsum(steps))


def _count_apart(entry: Ints, bars: int) -> int:
    """How many windows there are of which none meets another."""
    count, free = 0, -1
    for bar in entry.tolist():
        if bar >= free:
            count, free = count + 1, bar + bars
    return count


def judge(tests: Sequence[Test]) -> list[Chance]:
    """All tests as one family."""
    if not tests:
        return []
    gross = np.column_stack([test.gross for test in tests])
    blocks = len(gross)
    scale = np.sqrt((gross * gross).sum(axis=0))
    scale[scale == 0] = np.inf  # nothing happened: its ratio is 0
    observed = np.abs(gross.sum(axis=0)) / scale
    bits = np.unpackbits(_random(-(-FLIPS * blocks // 64)).view(np.uint8))[: FLIPS * blocks]
    flipped = bits.reshape(FLIPS, blocks).astype(np.float64) @ gross
    flipped = np.abs(2 * flipped - gross.sum(axis=0)) / scale
    p = (1 + (flipped >= observed * _TIE).sum(axis=0)) / (1 + FLIPS)
    intervals = _intervals(tests, blocks)
    family, q = step_down(observed, flipped), false_discovery(p)
    return [
        Chance(float(p[i]), float(q[i]), float(family[i]), *intervals[i]) for i in range(len(tests))
    ]


def _random(words: int) -> NDArray[np.uint64]:
    return np.asarray(np.random.PCG64(SEED).random_raw(words)).astype("<u8")


def step_down(observed: Floats, flipped: Floats) -> Floats:
    """The p of each test against the largest of all that are no larger than it."""
    order = np.argsort(-observed, kind="stable")
    largest = np.maximum.accumulate(flipped[:, order[::-1]], axis=1)[:, ::-1]
    p = (1 + (largest >= observed[order] * _TIE).sum(axis=0)) / (1 + len(flipped))
    family = np.empty(len(observed))
    family[order] = np.maximum.accumulate(p)
    return family


def false_discovery(p: Floats) -> Floats:
    """The q of Benjamini and Hochberg."""
    order = np.argsort(-p, kind="stable")
    ranks = np.arange(len(p), 0, -1)
    q = np.empty(len(p))
    q[order] = np.minimum.accumulate(p[order] * len(p) / ranks)
    return np.minimum(q, 1.0)


def _intervals(tests: Sequence[Test], blocks: int) -> list[tuple[Interval | None, Interval | None]]:
    """Of each test the intervals of its mean and of its hits, from blocks drawn again."""
    drawn = (_random(DRAWS * blocks) % np.uint64(blocks)).astype(np.int64).reshape(DRAWS, blocks)
    rows = drawn + blocks * np.arange(DRAWS)[:, None]
    times = np.bincount(rows.ravel(), minlength=DRAWS * blocks).reshape(DRAWS, blocks)
    columns = [part for test in tests for part in (test.unexplained, test.entries, test.hits)]
    sums = times.astype(np.float64) @ np.column_stack(columns)
    intervals: list[tuple[Interval | None, Interval | None]] = []
    for i, test in enumerate(tests):
        if test.is_short:
            intervals.append((None, None))
            continue
        errors, events, hits = sums[:, 3 * i : 3 * i + 3].T
        low, high = np.quantile(errors / test.events, (0.025, 0.975)).tolist()
        shares = hits[events > 0] / events[events > 0]
        hit_low, hit_high = np.quantile(shares, (0.025, 0.975)).tolist()
        intervals.append(((test.mean + low, test.mean + high), (hit_low, hit_high)))
    return intervals


@dataclass(frozen=True)
class Path:
    """The mean excess from some bars before the entry to some after it, and what chance gives."""

    start: int
    mean: Floats
    band: Floats


def trace(market: StudyMarket, entry: Ints, side: int, before: int, after: int) -> Path:
    """The mean path of the events that have all these bars; 0 at the entry."""
    whole = (entry - before >= market.first) & (entry + after < len(market.bars))
    entry = entry[whole]
    share = side / market.unit[entry]
    places = entry[:, None] + np.arange(-before, after + 1)
    count = max(len(entry), 1)
    moves = (market.path[places] - market.path[entry][:, None]) * share[:, None]
    steps = market.excess[places] * share[:, None]
    columns, blocks = before + after + 1, market.blocks
    cells = np.arange(columns) * blocks + market.block[places]
    sums = np.bincount(cells.ravel(), steps.ravel(), minlength=columns * blocks)
    running = np.concatenate(
        (np.zeros((1, blocks)), np.cumsum(sums.reshape(columns, blocks), axis=0)[:-1])
    )
    running -= running[before]
    band = 1.96 * np.sqrt((running * running).sum(axis=1)) / count
    return Path(-before, moves.sum(axis=0) / count, band)


def deflated_sharpe(
    sharpe: float, events: int, skew: float, kurtosis: float, trials: int, spread: float
) -> float:
    """How likely a ratio of mean to deviation is real, as the best of so many trials.

    `spread` is the deviation of the ratio over the trials (Bailey and López de Prado, 2014).
    """
    normal = NormalDist()
    most = 0.0  # what the best of as many empty trials reaches
    if trials > 1:
        near, far = (normal.inv_cdf(1 - 1 / (trials * k)) for k in (1.0, math.e))
        most = spread * ((1 - _EULER) * near + _EULER * far)
    variance = 1 - skew * sharpe + (kurtosis - 1) / 4 * sharpe * sharpe
    return normal.cdf((sharpe - most) * math.sqrt(events - 1) / math.sqrt(max(variance, 1e-12)))
