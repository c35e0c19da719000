"""The clock: what time it was on a bar, by the wall clock of a time zone.

Times are UTC milliseconds, a bar's time is its opening, and `tz` is an IANA name such as
"America/New_York": daylight saving is looked up, never assumed.
"""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from chartpact.checks import Unfit
from chartpact.ta.arguments import Bools, Check, Ints, takes_bars

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

# The years of Python's calendar, less one at each end, where a zone's offset would leave it.
EARLIEST, LATEST = (np.datetime64(f"{year}-01-01", "ms").astype(int) for year in (2, 9999))


def _times(value: Any) -> Ints:
    refusal = Unfit("must hold UTC milliseconds")
    try:
        array = np.asarray(value)
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


def _series_of_times(value: Any) -> Ints:
    times = _times(value)
    if not times.ndim:
        raise Unfit("must be a series, one time a bar")
    return times


# The room of clocks is imported when first asked: zones and calendars would slow `import ta`.


def _zone(value: Any) -> Any:
    from chartpact.clock.zones import zone

    return _parse(zone, value, 'must be an IANA time zone such as "America/New_York"')


def _session(value: Any) -> Any:
    from chartpact.clock.sessions import FORM, Session

    return _parse(Session.parse, value, f"must be {FORM}")


def _timeframe(value: Any) -> Any:
    from chartpact.clock.timeframe import Timeframe

    return _parse(Timeframe.parse, value, "must be a timeframe such as 5m, 4h, 1D, 1W or 1M")


def _time_of_day(value: Any) -> Any:
    from chartpact.clock.sessions import minute_of_day

    return _parse(minute_of_day, value, 'must be a time of day such as "1700"')


def _market(value: Any) -> Any:
    from chartpact.clock.markets import check_market

    return _parse(check_market, value, 'must be "24x7", "fx" or "listed"')


def _parse(parse: Callable[[Any], Any], value: Any, rule: str) -> Any:
    from chartpact.clock.errors import ClockError

    try:
        return parse(value)
    except ClockError:
        raise Unfit(rule) from None


Time = Annotated[Any, Check(_times, column="time")]
Zone = Annotated[Any, Check(_zone)]


@takes_bars
def year(time: Time, tz: Zone = "UTC") -> Any:
    """The year of each bar; takes a single time too.

    >>> year([1_700_000_000_000], "America/New_York")
    array([2023])
    """
    return _field("year", time, tz)


@takes_bars
def month(time: Time, tz: Zone = "UTC") -> Any:
    """The month of each bar, 1 … 12; takes a single time too.

    >>> month([1_700_000_000_000], "America/New_York")
    array([11])
    """
    return _field("month", time, tz)


@takes_bars
def weekofyear(time: Time, tz: Zone = "UTC") -> Any:
    """The ISO week of each bar, 1 … 53: weeks start on Monday, week 1 holds the first Thursday.

    >>> weekofyear([1_700_000_000_000], "America/New_York")
    array([46])
    """
    return _field("weekofyear", time, tz)


@takes_bars
def dayofmonth(time: Time, tz: Zone = "UTC") -> Any:
    """The day of the month of each bar, 1 … 31; takes a single time too.

    >>> dayofmonth([1_700_000_000_000], "America/New_York")
    array([14])
    """
    return _field("dayofmonth", time, tz)


@takes_bars
def dayofweek(time: Time, tz: Zone = "UTC") -> Any:
    """The day of the week of each bar, 1 = Sunday … 7 = Saturday; takes a single time too.

    >>> dayofweek([1_700_000_000_000], "America/New_York")
    array([3])
    """
    return _field("dayofweek", time, tz)


@takes_bars
def hour(time: Time, tz: Zone = "UTC") -> Any:
    """The hour of each bar, 0 … 23; takes a single time too.

    >>> hour([1_700_000_000_000], "America/New_York")
    array([17])
    """
    return _field("hour", time, tz)


@takes_bars
def minute(time: Time, tz: Zone = "UTC") -> Any:
    """The minute of each bar, 0 … 59; takes a single time too.

    >>> minute([1_700_000_000_000], "America/New_York")
    array([13])
    """
    return _field("minute", time, tz)


@takes_bars
def second(time: Time, tz: Zone = "UTC") -> Any:
    """The second of each bar, 0 … 59; takes a single time too.

    >>> second([1_700_000_000_000], "America/New_York")
    array([20])
    """
    return _field("second", time, tz)


def _field(name: str, time: Ints, tz: Any) -> Any:
    from chartpact.clock.walltime import FIELDS
    from chartpact.clock.zones import wall

    field = np.asarray(FIELDS[name](wall(tz, time)))
    return field if field.ndim else int(field)


@takes_bars
def session(time: Time, spec: Annotated[Any, Check(_session)], tz: Zone = "UTC") -> Any:
    """True on bars that open within a session such as "0930-1600" by the clock of tz.

    `spec` is HHMM-HHMM, several joined by commas, then perhaps a colon and the days they are on
    (1 = Sunday … 7 = Saturday): "0930-1200,1300-1600:23456"; or "24x7". The end is not part of it,
    an end of 0000 is midnight, and a session past midnight belongs to the day it ends on.

    >>> session([1_700_000_000_000, 1_700_010_000_000], "1700-1800", "America/New_York")
    array([ True, False])
    """
    from chartpact.clock.zones import wall

    inside = spec.contains(wall(tz, time))
    return inside if inside.ndim else bool(inside)


@takes_bars
def timeframe_change(
    time: Annotated[Any, Check(_series_of_times, column="time")],
    timeframe: Annotated[Any, Check(_timeframe)],
    tz: Zone = "UTC",
    roll: Annotated[Any, Check(_time_of_day)] = "0000",
    market: Annotated[Any, Check(_market)] = "24x7",
) -> Bools:
    """True on the first bar of each new period of a timeframe such as "4h", "1D", "1W" or "1M".

    Days start at the wall-clock time `roll` ("1700" in New York for currencies) and the periods of
    a day are counted from there. Several days, weeks or months are counted from 1 January of each
    year; `market` says which days count: "24x7" all, "fx" Monday to Friday, "listed" those of
    Monday to Friday that have bars. The first bar of all is no change. An anchor for `vwap`.

    >>> timeframe_change([0, 1_800_000, 3_600_000], "1h")
    array([False, False,  True])
    """
    from chartpact.clock.periods import period_of
    from chartpact.clock.tradingcalendar import TradingCalendar

    calendar = TradingCalendar(roll, tz.key, market=market)
    changed = np.zeros(time.shape, bool)
    for row in np.ndindex(time.shape[:-1]):
        period = period_of(time[row], timeframe, calendar)
        changed[row][1:] = period[1:] != period[:-1]
    return changed
