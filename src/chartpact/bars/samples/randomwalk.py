"""A random walk of two related symbols that behaves like a market.

Its volatility clusters, its regimes trend, its hours differ, it gaps over a pause and jumps on
the news. As a session opens, price is drawn beyond one end of the range of the session before
and, once it got there, back: the sweeps that session indicators look for.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact.bars.samples import economiccalendar
from chartpact.bars.samples.randomnumbers import Stream
from chartpact.clock import zones
from chartpact.clock.markets import market_and_roll
from chartpact.clock.timeframe import DAY, MINUTE
from chartpact.clock.tradingcalendar import TradingCalendar

Floats = NDArray[np.float64]
Times = NDArray[np.int64]
Columns = tuple[Times, Floats, Floats, Floats, Floats, Floats]

PARTS = 8  # steps inside a bar, from which its high and low come
NEWS = {"high": 4.0, "medium": 2.0}  # times the usual volatility
FADE = {1: 0.93, 15: 0.35}  # decay of that volatility per bar, by the bar's minutes


@dataclass(frozen=True)
class Quote:
    """One symbol of a pair: its grid, where it starts, how far it moves, how much of it trades."""

    symbol: str
    ticks_per_point: int
    start: float
    beta: float
    volume: float


@dataclass(frozen=True)
class Market:
    """Two symbols that trade the same hours and move together; hours are HHMM in New York."""

    quotes: tuple[Quote, Quote]
    first: str
    last: str
    minutes: int
    daily_move: float  # standard deviation of a day's return
    together: float  # correlation of the two symbols' steps
    hours: tuple[tuple[int, float, float], ...]  # from when on: volatility, volume
    weekend_gap: float  # standard deviation of the jump, in daily moves
    currencies: tuple[str, ...]
    raids: tuple[tuple[int, int, int, int], ...]  # range from and to, raid from and to
    regime: int  # bars that a trend lasts, about
    trend: float  # its strength
    home: float  # the part of its way from the start that price is drawn back in a bar
    seed: int


def walk(market: Market) -> tuple[Columns, Columns]:
    """The columns of both symbols."""
    time = _times(market)
    count, chance = len(time), Stream(market.seed)
    minute = zones.wall(zones.zone("America/New_York"), time) % DAY // MINUTE
    hour = np.searchsorted([_minutes(row[0]) for row in market.hours], minute, side="right") - 1
    wild = np.array([row[1] for row in market.hours])[hour]
    busy = np.array([row[2] for row in market.hours])[hour]
    days = len(np.unique(time // DAY))
    # cumsum adds one by one, so that no processor's way of summing shows in the result.
    usual = market.daily_move / math.sqrt(np.cumsum(wild * wild)[-1] / days)
    news = _news(market, time)

    shared = _parts(chance, count)
    own = _parts(chance, count)
    mixed = market.together * shared + math.sqrt(1 - market.together * market.together) * own
    gap = _gaps(market, time, chance)
    sigma = usual * wild * news
    swell, drift = _moods(market, np.column_stack((minute, shared[:, -1], sigma, gap)), chance)
    sigma *= swell
    noise = busy * news * (0.3 + 0.5 * swell + 0.4 * np.abs(shared[:, -1]))

    def columns(quote: Quote, steps: Floats) -> Columns:
        volume = np.maximum(1.0, np.rint(quote.volume * noise * (0.5 + chance.uniform(count))))
        moves = quote.beta * sigma[:, None] * (drift[:, None] * _FRACTION + steps)
        jumps = 1 + quote.beta * gap
        close = quote.start * np.cumprod(jumps * (1 + moves[:, -1]))
        before = np.append(quote.start, close[:-1]) * jumps
        inside = before[:, None] * (1 + moves)
        opening = before * (1 + moves[:, 0] / 4)
        prices = np.column_stack((opening, inside))
        on_grid = np.rint(prices * quote.ticks_per_point) / quote.ticks_per_point
        return (
            time,
            on_grid[:, 0],
            on_grid.max(axis=1),
            on_grid.min(axis=1),
            on_grid[:, -1],
            volume,
        )

    return columns(market.quotes[0], shared), columns(market.quotes[1], mixed)


_FRACTION = np.arange(1, PARTS + 1) / PARTS


def _times(market: Market) -> Times:
    symbol = market.quotes[0].symbol
    first, last = np.array([market.first, market.last], "datetime64[D]").astype(np.int64)
    kind, roll = market_and_roll(symbol)
    calendar = TradingCalendar.of(roll, kind)
    dates = np.unique(calendar.following(np.arange(first, last + 1)))
    step = market.minutes * MINUTE
    spans = zip(calendar.opening(dates), calendar.closing(dates), strict=True)
    return np.concatenate([np.arange(start, end, step, dtype=np.int64) for start, end in spans])


def _parts(chance: Stream, count: int) -> Floats:
    """The way of a standard normal step through the parts of each bar."""
    return np.cumsum(chance.normal(count * PARTS).reshape(count, PARTS), axis=1) / math.sqrt(PARTS)


def _gaps(market: Market, time: Times, chance: Stream) -> Floats:
    pause = np.diff(time, prepend=time[0]) - market.minutes * MINUTE
    size = np.where(pause > DAY, market.weekend_gap, np.where(pause > 0, 0.05, 0.0))
    return market.daily_move * size * chance.normal(len(time))


def _news(market: Market, time: Times) -> Floats:
    boost = np.ones(len(time))
    fade = FADE.get(market.minutes, 0.0)
    for moment, impact in economiccalendar.timed_releases(market.currencies, NEWS):
        bar = int(np.searchsorted(time, moment, side="right")) - 1
        extra = (NEWS[impact] - 1) * min(1.0, 30 / market.minutes)
        while 0 <= bar < len(time) and extra > 0.1:
            boost[bar] = max(boost[bar], 1 + extra)
            bar, extra = bar + 1, extra * fade
    return boost


def _moods(market: Market, bars: Floats, chance: Stream) -> tuple[Floats, Floats]:
    """For each bar how volatility has swollen, and the drift: of a regime, or of a raid.

    A bar is its minute of the day, its chance step, its usual volatility and the gap before it.
    """
    raids = [_Raid(*map(_minutes, raid)) for raid in market.raids]
    dice = iter(chance.uniform(3 * len(bars)).tolist())
    heat, price, left, trend = 1.0, 1.0, 0, 0.0
    swells, drifts = [], []
    for now, step, usual, jump in bars.tolist():
        if left <= 0:
            left = int(market.regime * (0.5 + next(dice)))
            turn = next(dice)
            side = (turn > 0.66) - (turn < 0.34)
            trend = side * market.trend / math.sqrt(market.regime)
        left -= 1
        drift = trend - market.home * (price - 1) / usual
        for raid in raids:
            pull = raid.pull(now, price, dice)
            drift = pull * math.sqrt(market.minutes) if pull else drift
        swell = math.sqrt(heat)
        price *= (1 + jump) * (1 + usual * swell * (drift + step))
        heat = min(12.0, 0.012 + heat * (0.918 + 0.07 * step * step))
        swells.append(swell)
        drifts.append(drift)
    return np.array(swells), np.array(drifts)


class _Raid:
    """One window's hunt for an end of an earlier window's range, and the way back from it."""

    def __init__(self, begin: int, end: int, start: int, stop: int) -> None:
        self.range, self.window = (begin, end), (start, stop)
        self.minutes = stop - start
        self.high = self.low = 0.0
        self.side = 0
        self.back, self.until = 0, 0.0
        self.before = -1.0

    def pull(self, minute: float, price: float, dice: Iterator[float]) -> float:
        """The drift that this raid adds at this time of day; 0 when it rests."""
        (begin, end), (start, stop) = self.range, self.window
        fresh, self.before = self.before, minute
        if begin <= minute < end:
            first = not begin <= fresh < end
            self.high = price if first else max(self.high, price)
            self.low = price if first else min(self.low, price)
        if start <= minute < stop and not start <= fresh < stop:
            turn = next(dice)
            self.side = (turn > 0.7) - (turn < 0.3)  # on some days nothing is hunted
        if not start <= minute < stop:
            self.side = 0
        if (self.side > 0 and price > self.high) or (self.side < 0 and price < self.low):
            self.side, self.back, self.until = 0, -self.side, minute + self.minutes
        if not start <= minute < self.until:
            self.back = 0
        return (1.7 * self.side + 1.2 * self.back) / math.sqrt(self.minutes)


def _minutes(hhmm: int) -> int:
    return hhmm // 100 * 60 + hhmm % 100
