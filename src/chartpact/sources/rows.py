"""From the rows of a service's answer to bars: each row checked, only completed bars kept."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from chartpact.bars import COLUMNS, Bars, BarsError
from chartpact.bars.ticksize import tick_size_of
from chartpact.checks import MAX_WHOLE, is_number
from chartpact.clock.timeframe import DAY, Timeframe
from chartpact.sources.errors import SourceFailed

CLOCKS_DIFFER_MS = 60_000  # the most by which the clocks of two machines may differ

Row = Sequence[Any]  # time in UTC ms, open, high, low, close, volume


def completed_bars(
    rows: Sequence[Row],
    *,
    symbol: str,
    source: str,
    timeframe: Timeframe,
    now: int,
    day_roll: str,
    market: str,
    settled: int | None = None,
    tick_size: float | None = None,
) -> Bars:
    """The bars of these rows that are over; raises SourceFailed on the first bad row.

    Times are UTC ms: `now`, and `settled`, until when the rows are final where that is earlier.
    """
    traded = [_read_row(row, number, source) for number, row in enumerate(rows)]
    columns = np.array([row for row in traded if row is not None], np.float64).reshape(-1, 6).T
    time = columns[0].astype(np.int64)
    if len(time) and time.max() > now + CLOCKS_DIFFER_MS:
        raise SourceFailed(f"{source} answered with a bar of {symbol} that is yet to come")
    fields: dict[str, Any] = dict(zip(COLUMNS, (time, *columns[1:]), strict=True))
    try:
        bars = Bars(
            **fields,
            symbol=symbol,
            timeframe=str(timeframe),
            tick_size=tick_size or tick_size_of(columns[1:5].ravel()),
            day_roll=day_roll,
            market=market,
            source=source,
        )
    except BarsError as error:
        raise SourceFailed(f"{source} answered with bars that cannot be: {error}") from None
    if (np.diff(time) < 0.9 * timeframe.ms).any():  # clock changes make a day an hour shorter
        raise SourceFailed(f"{source} answered with other bars than the {timeframe} asked for")
    # A bar is over when the next has begun, or when the longest that it can last has passed.
    if len(bars) and bars.time[-1] + longest_ms(timeframe) > (now if settled is None else settled):
        bars = bars[:-1]
    if not len(bars):
        raise SourceFailed(f"{source} has no completed {timeframe} bars of {symbol} to give")
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
