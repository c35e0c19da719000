"""The clock: what time it was on a bar, by the wall clock of a time zone.

Times are UTC milliseconds, a bar's time is its opening, and `tz` is an IANA name such as
"America/New_York": daylight saving is looked up, never assumed.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from chartpact.ta.arguments import Bools, Ints, TaError, prices

__all__ = [
    "dayofmonth",
    "dayofweek",
    "hour",
    "minute",
    "month",
    "second",
    "session",
    "timeframe_change",
    "weekofyear",
    "year",
]

SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
EPOCH_WEEKDAY = 4  # 1970-01-01 was a Thursday, four days after Sunday
# the years of Python's calendar, less one at each end, where a zone's offset would leave it
EARLIEST, LATEST = (np.datetime64(f"{year}-01-01", "ms").astype(int) for year in (2, 9999))


@prices("time")
def year(time: ArrayLike, tz: str = "UTC") -> Any:
    """The year of each bar; takes a single time too.

    >>> year([1_700_000_000_000], "America/New_York")
    array([2023])
    """
    return _part(_local("year", time, tz).astype("datetime64[ms]").astype("datetime64[Y]"), 1970)


@prices("time")
def month(time: ArrayLike, tz: str = "UTC") -> Any:
    """The month of each bar, 1 … 12; takes a single time too.

    >>> month([1_700_000_000_000], "America/New_York")
    array([11])
    """
    local = _local("month", time, tz).astype("datetime64[ms]")
    return _part(local.astype("datetime64[M]").astype(np.int64) % 12, 1)


@prices("time")
def weekofyear(time: ArrayLike, tz: str = "UTC") -> Any:
    """The ISO week of each bar, 1 … 53: weeks start on Monday, week 1 holds the first Thursday.

    >>> weekofyear([1_700_000_000_000], "America/New_York")
    array([46])
    """
    day = _local("weekofyear", time, tz) // DAY
    thursday = day + 3 - (day + EPOCH_WEEKDAY - 1) % 7
    first = thursday.astype("datetime64[D]").astype("datetime64[Y]").astype("datetime64[D]")
    return _part((thursday - first.astype(np.int64)) // 7, 1)


@prices("time")
def dayofmonth(time: ArrayLike, tz: str = "UTC") -> Any:
    """The day of the month of each bar, 1 … 31; takes a single time too.

    >>> dayofmonth([1_700_000_000_000], "America/New_York")
    array([14])
    """
    day = _local("dayofmonth", time, tz).astype("datetime64[ms]").astype("datetime64[D]")
    return _part(day - day.astype("datetime64[M]").astype("datetime64[D]"), 1)


@prices("time")
def dayofweek(time: ArrayLike, tz: str = "UTC") -> Any:
    """The day of the week of each bar, 1 = Sunday … 7 = Saturday; takes a single time too.

    >>> dayofweek([1_700_000_000_000], "America/New_York")
    array([3])
    """
    return _part((_local("dayofweek", time, tz) // DAY + EPOCH_WEEKDAY) % 7, 1)


@prices("time")
def hour(time: ArrayLike, tz: str = "UTC") -> Any:
    """The hour of each bar, 0 … 23; takes a single time too.

    >>> hour([1_700_000_000_000], "America/New_York")
    array([17])
    """
    return _part(_local("hour", time, tz) % DAY // HOUR, 0)


@prices("time")
def minute(time: ArrayLike, tz: str = "UTC") -> Any:
    """The minute of each bar, 0 … 59; takes a single time too.

    >>> minute([1_700_000_000_000], "America/New_York")
    array([13])
    """
    return _part(_local("minute", time, tz) % HOUR // MINUTE, 0)


@prices("time")
def second(time: ArrayLike, tz: str = "UTC") -> Any:
    """The second of each bar, 0 … 59; takes a single time too.

    >>> second([1_700_000_000_000], "America/New_York")
    array([20])
    """
    return _part(_local("second", time, tz) % MINUTE // SECOND, 0)


def _part(value: Any, base: int) -> Any:
    result = np.asarray(value).astype(np.int64) + base
    return result if result.ndim else int(result)


# ---------------------------------------------------------------------------------- sessions


class Span(NamedTuple):
    """A stretch of the day in minutes since midnight; it runs past midnight if start ≥ end."""

    start: int
    end: int


class Schedule(NamedTuple):
    spans: tuple[Span, ...]
    days: frozenset[int]  # 1 = Sunday … 7 = Saturday


@prices("time")
def session(time: ArrayLike, spec: str, tz: str = "UTC") -> Any:
    """True on bars that open within a session such as "0930-1600" by the clock of tz.

    `spec` is HHMM-HHMM, several joined by commas, then perhaps a colon and the days they are on
    (1 = Sunday … 7 = Saturday): "0930-1200,1300-1600:23456"; or "24x7". The end is not part of it,
    an end of 0000 is midnight, and a session past midnight belongs to the day it ends on.

    >>> session([1_700_000_000_000, 1_700_010_000_000], "1700-1800", "America/New_York")
    array([ True, False])
    """
    if not isinstance(spec, str):
        raise TaError("session", "spec", spec, 'must be a text such as "0930-1600:23456"')
    schedule = _schedule(spec)
    local = _local("session", time, tz)
    inside = np.ones(local.shape, bool) if schedule is None else _within(local, schedule)
    return inside if inside.ndim else bool(inside)


def _within(local: Ints, schedule: Schedule) -> Bools:
    clock = local % DAY // MINUTE
    today = (local // DAY + EPOCH_WEEKDAY) % 7  # 0 = Sunday
    on = np.array([day + 1 in schedule.days for day in range(7)])
    inside = np.zeros(local.shape, bool)
    for start, end in schedule.spans:
        if start < end:
            inside |= (clock >= start) & (clock < end) & on[today]
        else:
            inside |= (clock >= start) & on[(today + 1) % 7] | (clock < end) & on[today]
    return inside


@lru_cache(maxsize=256)
def _schedule(spec: str) -> Schedule | None:
    """What a session text says; None for "24x7"."""
    if spec == "24x7":
        return None
    hours, colon, days = spec.partition(":")
    spans = tuple(_span(spec, text) for text in hours.split(","))
    if colon and (not days or set(days) - set("1234567")):
        raise TaError(
            "session", "spec", spec, "must name its days by digits 1 to 7 after the colon"
        )
    return Schedule(spans, frozenset(map(int, days or "1234567")))


def _span(spec: str, text: str) -> Span:
    rule = 'must be HHMM-HHMM, as in "0930-1600", several joined by commas, or "24x7"'
    start, dash, end = text.partition("-")
    if not dash:
        raise TaError("session", "spec", spec, rule)
    try:
        return Span(
            _minutes(start), DAY // MINUTE if end == "2400" else _minutes(end) or DAY // MINUTE
        )
    except ValueError:
        raise TaError("session", "spec", spec, rule) from None


def _minutes(clock: str) -> int:
    """Minutes since midnight of a time of day written HHMM."""
    if len(clock) != 4 or not (clock.isascii() and clock.isdigit()):
        raise ValueError(clock)
    hours, minutes = int(clock[:2]), int(clock[2:])
    if hours > 23 or minutes > 59:
        raise ValueError(clock)
    return 60 * hours + minutes


# ----------------------------------------------------------------------------------- periods


@prices("time")
def timeframe_change(time: ArrayLike, timeframe: str, tz: str = "UTC", roll: str = "0000") -> Bools:
    """True on the first bar of each new period of a timeframe such as "4h", "1D", "1W" or "1M".

    Days start at the wall-clock time `roll` ("1700" in New York for currencies) and the periods of
    a day are counted from there. The first bar of all is no change. An anchor for `vwap`.

    >>> timeframe_change([0, 1_800_000, 3_600_000], "1h")
    array([False, False,  True])
    """
    local = _local("timeframe_change", time, tz)
    if not local.ndim:
        raise TaError("timeframe_change", "time", time, "must be a series, one time a bar")
    count, unit = _timeframe(timeframe)
    start = _roll(roll)
    since = local - start
    day = since // DAY
    if unit in _UNITS:
        period = day * (DAY // MINUTE) + since % DAY // (count * _UNITS[unit])
    else:
        # a day that starts in the evening is named after the day it ends on
        date = day + (start >= DAY // 2)
        if unit == "D":
            period = date // count
        elif unit == "W":
            period = (date + EPOCH_WEEKDAY - 1) // 7 // count  # weeks start on Monday
        else:
            period = date.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) // count
    changed = np.zeros(local.shape, bool)
    changed[..., 1:] = period[..., 1:] != period[..., :-1]
    return changed


_UNITS = {"s": SECOND, "m": MINUTE, "h": HOUR}


def _timeframe(text: str) -> tuple[int, str]:
    count, unit = str(text)[:-1] or "1", str(text)[-1:]
    counted = count.isascii() and count.isdigit() and len(count) < 10 and int(count) > 0
    if not counted or unit not in (*_UNITS, *"DWM"):
        rule = "must be a timeframe such as 5m, 4h, 1D, 1W or 1M"
        raise TaError("timeframe_change", "timeframe", text, rule)
    return int(count), unit


def _roll(text: str) -> int:
    try:
        return _minutes(text) * MINUTE
    except (ValueError, TypeError, AttributeError):
        rule = 'must be a time of day such as "1700"'
        raise TaError("timeframe_change", "roll", text, rule) from None


# ------------------------------------------------------------------------------- local time


def _local(function: str, time: Any, tz: Any) -> Ints:
    """Each time as the milliseconds its wall clock shows since 1970-01-01 00:00."""
    from chartpact.clock.zones import offsets, zone

    stamps = _stamps(function, time)
    if isinstance(tz, str) and tz == "UTC":
        return stamps
    try:
        where = zone(tz)
    except (KeyError, ValueError, TypeError, AttributeError):
        rule = 'must be an IANA time zone such as "America/New_York"'
        raise TaError(function, "tz", tz, rule) from None
    return stamps + offsets(where, stamps)


def _stamps(function: str, time: ArrayLike) -> Ints:
    refusal = TaError(function, "time", time, "must hold UTC milliseconds")
    try:
        array = np.asarray(time)
    except ValueError:  # rows of different lengths
        raise refusal from None
    if array.dtype.kind == "M":
        array = array.astype("datetime64[ms]").astype(np.int64)
    whole = array.dtype.kind in "iu" or (
        array.dtype.kind == "f" and np.array_equal(array, np.trunc(array))
    )
    if not whole or (array.size and not (array.min() >= EARLIEST and array.max() < LATEST)):
        raise refusal
    return array.astype(np.int64, copy=False)
