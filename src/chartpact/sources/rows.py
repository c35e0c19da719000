"""From the rows of a service's answer to bars: each row checked, only completed bars kept."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chartpact.bars import COLUMNS, Bars, BarsError
from chartpact.bars.ticksize import tick_size_of
from chartpact.checks import MAX_WHOLE, is_number
from chartpact.clock.markets import UTC_MIDNIGHT
from chartpact.clock.timeframe import DAY, MINUTE, Timeframe
from chartpact.clock.tradingcalendar import canonical_roll
from chartpact.clock.zones import wall, zone
from chartpact.sources.errors import SourceFailed

# Of the zones in which daily bars of round-the-clock markets begin at one time of day.
ZONES = ("UTC", "America/New_York", "America/Chicago")
CLOCKS_DIFFER_MS = 60_000  # the most by which the clocks of two machines may differ

Row = Sequence[Any]  # time in UTC ms, open, high, low, close, volume


@dataclass(frozen=True)
class Answer:
    """What a service said of one symbol: rows, oldest first, and what holds for all of them.

    Times are UTC ms: `now` by the service's clock, and `settled`, until when rows are final where
    that is earlier.
    """

    rows: Sequence[Row]
    now: int
    market: str
    day_roll: str
    settled: int | None = None
    tick_size: float | None = None  # where the service declares it

    @property
    def final_until(self) -> int:
        return self.now if self.settled is None else self.settled


def completed_bars(answer: Answer, symbol: str, step: Timeframe, source: str) -> Bars:
    """The bars of an answer that are over; raises SourceFailed on the first bad row."""
    traded = [_read_row(row, number, source) for number, row in enumerate(answer.rows)]
    columns = np.array([row for row in traded if row is not None], np.float64).reshape(-1, 6).T
    time = columns[0].astype(np.int64)
    if len(time) and time.max() > answer.now + CLOCKS_DIFFER_MS:
        raise SourceFailed(f"{source} answered with a bar of {symbol} that is yet to come")
    fields: dict[str, Any] = dict(zip(COLUMNS, (time, *columns[1:]), strict=True))
    try:
        bars = Bars(
            **fields,
            symbol=symbol,
            timeframe=str(step),
            tick_size=answer.tick_size or tick_size_of(columns[1:5].ravel()),
            day_roll=answer.day_roll,
            market=answer.market,
            source=source,
        )
    except BarsError as error:
        raise SourceFailed(f"{source} answered with bars that cannot be: {error}") from None
    if (np.diff(time) < 0.9 * step.ms).any():  # clock changes make a day an hour shorter
        raise SourceFailed(f"{source} answered with other bars than the {step} asked for")
    # A bar is over when the next has begun, or when the longest that it can last has passed.
    if len(bars) and bars.time[-1] + longest_ms(step) > answer.final_until:
        bars = bars[:-1]
    if not len(bars):
        raise SourceFailed(f"{source} has no completed {step} bars of {symbol} to give")
    return bars


def choose_step(asked: Timeframe, offered: Iterable[Timeframe], source: str) -> Timeframe:
    """The timeframe asked for, or else the longest on offer of which it is made."""
    steps = sorted(offered, key=lambda step: step.ms)
    parts = [step for step in steps if step == asked or step.nests_in(asked)]
    if not parts:
        raise BarsError(f"{source} has no {asked} bars; it has {' '.join(map(str, steps))}")
    return asked if asked in parts else parts[-1]


def longest_ms(timeframe: Timeframe) -> int:
    return timeframe.count * 31 * DAY if timeframe.unit == "M" else timeframe.ms


def day_roll_of(rows: Sequence[Row], step: Timeframe) -> str:
    """When the days of a market begin that trades round the clock: as its daily bars do.

    Of other bars nothing tells it, and days begin at UTC midnight.
    """
    times = np.array([row[0] for row in rows if str(step) == "1D"], np.int64)
    for zone_name in ZONES:
        minutes = np.unique(wall(zone(zone_name), times) % DAY // MINUTE)
        if len(minutes) == 1:
            hour, minute = divmod(int(minutes[0]), 60)
            return canonical_roll(f"{hour:02d}:{minute:02d} {zone_name}")
    return UTC_MIDNIGHT


def _read_row(row: Any, number: int, source: str) -> tuple[float, ...] | None:
    """The numbers of a row; None for a period without a trade, which has no prices at all."""
    if not isinstance(row, (list, tuple)) or len(row) < 6 or not _is_time(row[0]):
        raise SourceFailed(f"{source} answered with something that is no bar: row {number + 1}")
    time, *prices, volume = row[:6]
    if all(price is None for price in prices):
        return None
    if not all(map(is_number, prices if volume is None else (*prices, volume))):
        raise SourceFailed(
            f"{source} answered with something that is no price: row {number + 1} is {row!r:.120}"
        )
    return (time, *prices, np.nan if volume is None else volume)


def _is_time(value: Any) -> bool:
    return is_number(value) and abs(value) < MAX_WHOLE and value == int(value)
