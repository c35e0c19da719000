"""The ticks of the time axis: which bars they name, and how, in any time zone.

A tick stands on the first bar of each new stretch of local time (five minutes, a day, a quarter…).
The stretch is the shortest whose labels have room; where sessions leave two ticks closer than
`EVEN` of the usual distance, the one that begins something greater stays.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np

from chartpact.clock import zones
from chartpact.clock.errors import ClockError
from chartpact.clock.timeframe import DAY, HOUR, MINUTE, SECOND
from chartpact.render import typesetting
from chartpact.render.display import Ints
from chartpact.render.errors import RenderError

APART = 3.0  # between labels where there is room, in their heights
EVEN = 0.6  # of the usual distance between labels: two are never closer
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()

# (unit, how many): from the finest to the coarsest
STRETCHES: tuple[tuple[str, int], ...] = (
    *(("ms", seconds * SECOND) for seconds in (1, 5, 15, 30)),
    *(("ms", minutes * MINUTE) for minutes in (1, 2, 5, 10, 15, 30)),
    *(("ms", hours * HOUR) for hours in (1, 2, 3, 4, 6, 12)),
    *(("day", days) for days in (1, 2, 4, 7, 14)),
    *(("month", months) for months in (1, 2, 3, 6)),
    *(("year", years) for years in (1, 2, 5, 10, 20, 50, 100)),
)


@dataclass(frozen=True)
class TimeTick:
    """A bar that is named; a major one begins a day, a month or a year among lesser ones."""

    bar: int
    label: str
    major: bool


def zone(name: str) -> ZoneInfo:
    """The time zone of an IANA name."""
    try:
        return zones.zone(name)
    except ClockError as error:
        raise RenderError(str(error)) from None


def local(time: Ints, tz: str) -> Ints:
    """The wall clock of each time, as milliseconds since 1970 on that clock."""
    return zones.wall(zone(tz), np.asarray(time, dtype=np.int64))


def _stretch(wall: Ints, unit: str, size: int) -> Ints:
    """A number for each bar that changes where a new stretch begins."""
    if unit == "ms":
        return wall // DAY * (DAY // size + 1) + wall % DAY // size
    days = wall.astype("datetime64[ms]").astype("datetime64[D]")
    months: Ints = days.astype("datetime64[M]").astype(np.int64)
    if unit == "day":
        in_month: Ints = (days - days.astype("datetime64[M]")).astype(np.int64)
        if size == 1:
            return wall // DAY
        if size == 7:
            return (wall // DAY + 3) // 7  # weeks begin on Monday
        return np.asarray(months * 100 + np.minimum(in_month // size, 30 // size - 1))
    part = months // size if unit == "month" else (months // 12 + 1970) // size
    return np.asarray(part, dtype=np.int64)


def _rank(wall: Ints) -> Ints:
    """What begins with each bar: 3 a year, 2 a month, 1 a day, 0 nothing of that kind."""
    days = wall.astype("datetime64[ms]").astype("datetime64[D]")
    months = days.astype("datetime64[M]").astype(np.int64)
    rank = np.zeros(len(wall), dtype=np.int64)
    for level, part in ((1, wall // DAY), (2, months), (3, months // 12)):
        rank[1:][part[1:] != part[:-1]] = level
    return rank


def date(time: int, tz: str) -> str:
    """The date of a time, with its year.

    >>> date(1_710_475_200_000, "America/New_York")
    '15 Mar 2024'
    """
    day = local(np.array([time]), tz).astype("datetime64[ms]").astype("datetime64[D]")[0].item()
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def day_starts(time: Ints, tz: str) -> Ints:
    """The first bar of each local day but the first; none where a bar is a day or longer."""
    if len(time) < 2 or np.median(np.diff(time)) >= DAY:
        return np.empty(0, dtype=np.int64)
    return np.flatnonzero(np.diff(local(time, tz) // DAY)) + 1


def ticks(time: Ints, step: float, tz: str, size: float) -> list[TimeTick]:
    """The bars to name when a bar is `step` pixels wide and labels are `size` pixels high."""
    count = len(time)
    if count == 0:
        return []
    wall = local(time, tz)
    rank = _rank(wall)
    alone = MINUTE if wall[0] % DAY else DAY  # what a single bar may be
    bar_ms = int(np.median(np.diff(time))) if count > 1 else alone
    room = count * step
    for unit, length in STRETCHES:
        if unit == "ms" and (length < bar_ms or bar_ms >= DAY):
            continue
        if unit == "day" and bar_ms >= 28 * DAY:
            continue
        part = _stretch(wall, unit, length)
        starts = np.flatnonzero(part[1:] != part[:-1]) + 1
        if not len(starts) and count > 1:
            continue
        widest = typesetting.width(_widest(unit, length), size)
        if len(starts) * (widest + APART * size) <= room * 1.1:
            break
    if count < 12:  # a handful of bars: name what there is room for
        if len(starts) < count - 1:
            unit, length = ("ms", MINUTE) if bar_ms < DAY else ("day", 1)
            if bar_ms >= 28 * DAY:
                unit = "month"
        starts = np.arange(count)
    if not len(starts):
        starts = np.array([0])
    return _with_room(wall, rank, starts, unit, length, step, size)


def _widest(unit: str, size: int) -> str:
    if unit == "ms":
        return "00:00:00" if size < MINUTE else "00:00"
    return {"day": "30 Nov", "month": "Nov", "year": "2000"}[unit]


def _with_room(
    wall: Ints, rank: Ints, starts: Ints, unit: str, length: int, step: float, size: float
) -> list[TimeTick]:
    """Labels where there is room, the greater ones first."""
    lowest = {"ms": 0, "day": 1, "month": 2, "year": 3}[unit]
    spans: list[tuple[float, float]] = []
    ticks: list[TimeTick] = []
    gap = size * 1.4
    usual = float(np.median(np.diff(starts))) * step if len(starts) > 1 else 0.0
    for bar in sorted(starts.tolist(), key=lambda start: (-int(rank[start]), start)):
        level = max(int(rank[bar]), lowest) if bar else lowest
        label = _label(int(wall[bar]), level, unit, length)
        half = max(typesetting.width(label, size) / 2 + gap / 2, EVEN / 2 * usual)
        x = bar * step
        if all(x + half <= left or right <= x - half for left, right in spans):
            spans.append((x - half, x + half))
            ticks.append(TimeTick(bar, label, level > lowest))
    return sorted(ticks, key=lambda tick: tick.bar)


def _label(wall: int, level: int, unit: str, length: int) -> str:
    moment = datetime(1970, 1, 1) + timedelta(milliseconds=wall)
    if level == 3:
        return f"{moment.year}"
    if level:
        month = MONTHS[moment.month - 1]
        return month if level == 2 and unit != "ms" else f"{moment.day} {month}"
    return f"{moment:%H:%M:%S}" if unit == "ms" and length < MINUTE else f"{moment:%H:%M}"
