"""The clock: what time it was on a bar, by the wall clock of a time zone.

Times are UTC milliseconds, a bar's time is its opening, and `tz` is an IANA name such as
"America/New_York": daylight saving is looked up, never assumed.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from chartpact.ta.arguments import Bools, Ints, TaError, prices

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

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


@prices("time")
def year(time: ArrayLike, tz: str = "UTC") -> Any:
    """The year of each bar; takes a single time too.

    >>> year([1_700_000_000_000], "America/New_York")
    array([2023])
    """
    return _field("year", time, tz)


@prices("time")
def month(time: ArrayLike, tz: str = "UTC") -> Any:
    """The month of each bar, 1 … 12; takes a single time too.

    >>> month([1_700_000_000_000], "America/New_York")
    array([11])
    """
    return _field("month", time, tz)


@prices("time")
def weekofyear(time: ArrayLike, tz: str = "UTC") -> Any:
    """The ISO week of each bar, 1 … 53: weeks start on Monday, week 1 holds the first Thursday.

    >>> weekofyear([1_700_000_000_000], "America/New_York")
    array([46])
    """
    return _field("weekofyear", time, tz)


@prices("time")
def dayofmonth(time: ArrayLike, tz: str = "UTC") -> Any:
    """The day of the month of each bar, 1 … 31; takes a single time too.

    >>> dayofmonth([1_700_000_000_000], "America/New_York")
    array([14])
    """
    return _field("dayofmonth", time, tz)


@prices("time")
def dayofweek(time: ArrayLike, tz: str = "UTC") -> Any:
    """The day of the week of each bar, 1 = Sunday … 7 = Saturday; takes a single time too.

    >>> dayofweek([1_700_000_000_000], "America/New_York")
    array([3])
    """
    return _field("dayofweek", time, tz)


@prices("time")
def hour(time: ArrayLike, tz: str = "UTC") -> Any:
    """The hour of each bar, 0 … 23; takes a single time too.

    >>> hour([1_700_000_000_000], "America/New_York")
    array([17])
    """
    return _field("hour", time, tz)


@prices("time")
def minute(time: ArrayLike, tz: str = "UTC") -> Any:
    """The minute of each bar, 0 … 59; takes a single time too.

    >>> minute([1_700_000_000_000], "America/New_York")
    array([13])
    """
    return _field("minute", time, tz)


@prices("time")
def second(time: ArrayLike, tz: str = "UTC") -> Any:
    """The second of each bar, 0 … 59; takes a single time too.

    >>> second([1_700_000_000_000], "America/New_York")
    array([20])
    """
    return _field("second", time, tz)


@prices("time")
def session(time: ArrayLike, spec: str, tz: str = "UTC") -> Any:
    """True on bars that open within a session such as "0930-1600" by the clock of tz.

    `spec` is HHMM-HHMM, several joined by commas, then perhaps a colon and the days they are on
    (1 = Sunday … 7 = Saturday): "0930-1200,1300-1600:23456"; or "24x7". The end is not part of it,
    an end of 0000 is midnight, and a session past midnight belongs to the day it ends on.

    >>> session([1_700_000_000_000, 1_700_010_000_000], "1700-1800", "America/New_York")
    array([ True, False])
    """
    from chartpact.clock.errors import ClockError
    from chartpact.clock.sessions import FORM, Session

    try:
        inside = Session.parse(spec).contains(_wall("session", time, tz))
    except ClockError:
        raise TaError("session", "spec", spec, f"must be {FORM}") from None
    return inside if inside.ndim else bool(inside)


@prices("time")
def timeframe_change(time: ArrayLike, timeframe: str, tz: str = "UTC", roll: str = "0000") -> Bools:
    """True on the first bar of each new period of a timeframe such as "4h", "1D", "1W" or "1M".

    Days start at the wall-clock time `roll` ("1700" in New York for currencies) and the periods of
    a day are counted from there. The first bar of all is no change. An anchor for `vwap`.

    >>> timeframe_change([0, 1_800_000, 3_600_000], "1h")
    array([False, False,  True])
    """
    from chartpact.clock.errors import ClockError
    from chartpact.clock.periods import period_of
    from chartpact.clock.sessions import minute_of_day
    from chartpact.clock.timeframe import Timeframe
    from chartpact.clock.tradingcalendar import TradingCalendar

    times = _times("timeframe_change", time)
    if not times.ndim:
        raise TaError("timeframe_change", "time", time, "must be a series, one time a bar")
    try:
        step = Timeframe.parse(timeframe)
    except ClockError:
        rule = "must be a timeframe such as 5m, 4h, 1D, 1W or 1M"
        raise TaError("timeframe_change", "timeframe", timeframe, rule) from None
    try:
        minute = minute_of_day(roll)
    except (ClockError, TypeError):
        rule = 'must be a time of day such as "1700"'
        raise TaError("timeframe_change", "roll", roll, rule) from None
    calendar = TradingCalendar(minute, _zone("timeframe_change", tz).key)
    period = period_of(times.ravel(), step, calendar).reshape(times.shape)
    changed = np.zeros(times.shape, bool)
    changed[..., 1:] = period[..., 1:] != period[..., :-1]
    return changed


def _field(function: str, time: Any, tz: Any) -> Any:
    from chartpact.clock.walltime import FIELDS

    field = np.asarray(FIELDS[function](_wall(function, time, tz)))
    return field if field.ndim else int(field)


def _wall(function: str, time: Any, tz: Any) -> Ints:
    from chartpact.clock.zones import wall

    return wall(_zone(function, tz), _times(function, time))


def _zone(function: str, tz: Any) -> "ZoneInfo":
    from chartpact.clock.errors import ClockError
    from chartpact.clock.zones import zone

    try:
        return zone(tz)
    except ClockError:
        rule = 'must be an IANA time zone such as "America/New_York"'
        raise TaError(function, "tz", tz, rule) from None


def _times(function: str, time: ArrayLike) -> Ints:
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
