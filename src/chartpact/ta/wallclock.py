"""The clock: what time it was on a bar, by the wall clock of a time zone.

Times are UTC milliseconds, a bar's time is its opening, and `tz` is an IANA name such as
"America/New_York": daylight saving is looked up, never assumed.
"""

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from chartpact.checks import Unfit
from chartpact.ta.arguments import Bools, Check, Ints, checked, takes_bars

__all__ = [
    "dayofmonth",
    "dayofweek",
    "hour",
    "in_seconds",
    "minute",
    "month",
    "second",
    "session",
    "session_isfirstbar",
    "session_isfirstbar_regular",
    "session_islastbar",
    "session_islastbar_regular",
    "session_ismarket",
    "session_ispostmarket",
    "session_ispremarket",
    "time_close",
    "time_tradingday",
    "timeframe_change",
    "weekofyear",
    "year",
]

# The years of Python's calendar, less one at each end, where a zone's offset would leave it.
DAY = 86_400_000  # ms
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


def _roll(value: Any) -> Any:
    """A time of day in minutes, or a day roll with its zone as a text."""
    from chartpact.clock.sessions import minute_of_day
    from chartpact.clock.tradingcalendar import canonical_roll

    rule = 'must be a time of day such as "1700", or a day roll such as "17:00 America/New_York"'
    with_zone = isinstance(value, str) and " " in value
    return _parse(canonical_roll if with_zone else minute_of_day, value, rule)


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
Times = Annotated[Any, Check(_series_of_times, column="time")]
CloseTimes = Annotated[Any, Check(_series_of_times, column="close_time")]
Spec = Annotated[Any, Check(_session)]
Frame = Annotated[Any, Check(_timeframe)]
Zone = Annotated[Any, Check(_zone)]
# Bars that stand for the times say when their days begin and which are trading days.
Roll = Annotated[Any, Check(_roll, fact="day_roll", unless="tz")]
Market = Annotated[Any, Check(_market, fact="market")]


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

    field = np.asarray(FIELDS[name](_wall(tz, time)))
    return field if field.ndim else int(field)


def _wall(tz: Any, time: Ints) -> Ints:
    from chartpact.clock.zones import wall

    return wall(tz, time)


@takes_bars
def session(time: Time, spec: Spec, tz: Zone = "UTC") -> Any:
    """True on bars that open within a session such as "0930-1600" by the clock of tz.

    `spec` is HHMM-HHMM, several joined by commas, then perhaps a colon and the days they are on
    (1 = Sunday … 7 = Saturday): "0930-1200,1300-1600:23456"; or "24x7". Without days, one range is
    on all of them, and several are on Monday to Friday. After a | stand the hours of other days:
    "0930-1600|0930-1300:6". The end is not part of it, an end of 0000 is midnight, and a session
    past midnight belongs to the day it ends on. "", "regular" and "extended" hold every bar.

    >>> session([1_700_000_000_000, 1_700_010_000_000], "1700-1800", "America/New_York")
    array([ True, False])
    """
    inside = spec.contains(_wall(tz, time))
    return inside if inside.ndim else bool(inside)


@takes_bars
def session_ismarket(time: Times, spec: Spec, tz: Zone = "UTC") -> Bools:
    """True on bars that open within the regular hours, such as "0930-1600:23456".

    >>> session_ismarket([1_700_060_400_000], "0930-1600:23456", "America/New_York")
    array([ True])
    """
    inside: Bools = spec.contains(_wall(tz, time))
    return inside


@takes_bars
def session_ispremarket(time: Times, spec: Spec, tz: Zone = "UTC") -> Bools:
    """True on bars that open before the regular hours of their date.

    >>> session_ispremarket([1_700_053_200_000], "0930-1600:23456", "America/New_York")
    array([ True])
    """
    now, has_hours, opening, _ = _hours_of_date(time, spec, tz)
    early: Bools = has_hours & (now < opening)
    return early


@takes_bars
def session_ispostmarket(time: Times, spec: Spec, tz: Zone = "UTC") -> Bools:
    """True on bars that open after the regular hours of their date.

    >>> session_ispostmarket([1_700_082_000_000], "0930-1600:23456", "America/New_York")
    array([ True])
    """
    now, has_hours, _, closing = _hours_of_date(time, spec, tz)
    late: Bools = has_hours & (now >= closing)
    return late


@takes_bars
def session_isfirstbar(time: Times, close_time: CloseTimes, spec: Spec, tz: Zone = "UTC") -> Bools:
    """True on the bar that holds the open of the chart's session, or is the first after it.

    `spec` is the session of the chart, such as "0400-2000:23456". On the first bar of all it is
    true only where that bar holds the open.

    >>> session_isfirstbar([0, 3_600_000], [3_600_000, 7_200_000], "0030-0200")
    array([ True, False])
    """
    start, end = _wall(tz, time), _wall(tz, close_time)
    _, opening, closing = _sessions(spec, start)
    last = np.searchsorted(opening, end, side="left") - 1  # that opened before the bar was over
    since = np.concatenate((start[..., :1], end[..., :-1]), axis=-1)
    return (opening[last] >= since) & (start < closing[last])


@takes_bars
def session_isfirstbar_regular(
    time: Times, close_time: CloseTimes, spec: Spec, tz: Zone = "UTC"
) -> Bools:
    """True on the first bar that opens within the regular hours, such as "0930-1600:23456".

    A bar that opens earlier and holds their open is none.

    >>> session_isfirstbar_regular([0, 3_600_000], [3_600_000, 7_200_000], "0030-0200")
    array([False,  True])
    """
    start, end = _wall(tz, time), _wall(tz, close_time)
    _, opening, closing = _sessions(spec, start)
    last = np.searchsorted(opening, start, side="right") - 1  # that opened by the bar's open
    # Before the first bar of all there was one as long as it.
    before = np.concatenate((2 * start[..., :1] - end[..., :1], start[..., :-1]), axis=-1)
    return (opening[last] > before) & (start < closing[last])


@takes_bars
def session_islastbar(time: Times, close_time: CloseTimes, spec: Spec, tz: Zone = "UTC") -> Bools:
    """True on the bar that holds the close of the chart's session, such as "0400-2000:23456".

    A day that closed early has no such bar: nothing tells it before the next day opens.

    >>> session_islastbar([0, 3_600_000], [3_600_000, 7_200_000], "0030-0200")
    array([False,  True])
    """
    return _holds_close(time, close_time, spec, tz)


@takes_bars
def session_islastbar_regular(
    time: Times, close_time: CloseTimes, spec: Spec, tz: Zone = "UTC"
) -> Bools:
    """True on the bar that holds the close of the regular hours, such as "0930-1600:23456".

    >>> session_islastbar_regular([0, 3_600_000], [3_600_000, 7_200_000], "0030-0130")
    array([False,  True])
    """
    return _holds_close(time, close_time, spec, tz)


def _holds_close(time: Ints, close_time: Ints, spec: Any, tz: Any) -> Bools:
    start, end = _wall(tz, time), _wall(tz, close_time)
    closing = _sessions(spec, start)[2]
    return closing[np.searchsorted(closing, start, side="right")] <= end


def _sessions(spec: Any, wall: Ints) -> tuple[Ints, Ints, Ints]:
    """Dates, opens and closes of the sessions around these times, more than a week both ways."""
    span = (int(wall.min()) // DAY, int(wall.max()) // DAY) if wall.size else (0, 0)
    sessions: tuple[Ints, Ints, Ints] = spec.days(span[0] - 9, span[1] + 9)
    return sessions


def _hours_of_date(time: Ints, spec: Any, tz: Any) -> tuple[Ints, Bools, Ints, Ints]:
    """The time by the clock of tz, whether its date has regular hours, and their open and close."""
    now = _wall(tz, time)
    dates, opening, closing = _sessions(spec, now)
    at = np.searchsorted(dates, now // DAY)
    return now, dates[at] == now // DAY, opening[at], closing[at]


@takes_bars
def time_tradingday(
    time: Time, tz: Zone = "UTC", roll: Roll = "0000", market: Market = "24x7"
) -> Any:
    """The trading day of each bar: the date on which it ends, as 00:00 UTC in milliseconds.

    `tz`, `roll` and `market` say what days are, as in `timeframe_change`: bars know their own.

    >>> time_tradingday(1_700_431_200_000, "America/New_York", "1700", "fx")  # a Sunday, 17:00
    1700438400000
    """
    date = _calendar(tz, roll, market).date(time.ravel()).reshape(time.shape) * DAY
    return date if date.ndim else int(date)


@takes_bars
def time_close(
    time: Times,
    timeframe: Frame,
    tz: Zone = "UTC",
    roll: Roll = "0000",
    market: Market = "24x7",
) -> Ints:
    """When bars of a timeframe are over: at its end, or with their trading day.

    `tz`, `roll` and `market` say what days are, as in `timeframe_change`: bars know their own.

    >>> time_close([0, 3_600_000], "1h")
    array([3600000, 7200000])
    """
    from chartpact.clock.periods import closes

    return closes(time.ravel(), timeframe, _calendar(tz, roll, market)).reshape(time.shape)


@checked
def in_seconds(timeframe: Frame) -> Any:
    """How many seconds a timeframe lasts; a month is a twelfth of a year, as Pine has it.

    >>> in_seconds("4h"), in_seconds("2M")
    (14400, 5256006)
    """
    return timeframe.seconds


@takes_bars
def timeframe_change(
    time: Times,
    timeframe: Frame,
    tz: Zone = "UTC",
    roll: Roll = "0000",
    market: Market = "24x7",
) -> Bools:
    """True on the first bar of each new period of a timeframe such as "4h", "1D", "1W" or "1M".

    Days start at the wall-clock time `roll` ("1700" in New York for currencies) and the periods of
    a day are counted from there; `roll` may name its zone: "17:00 America/New_York". Several days,
    weeks or months are counted from 1 January of each year; `market` says which days count: "24x7"
    all, "fx" Monday to Friday, "listed" those of Monday to Friday that have bars. Bars that stand
    for `time` bring their own roll, unless `tz` is given, and their own market. The first bar of
    all is no change. An anchor for `vwap`.

    >>> timeframe_change([0, 1_800_000, 3_600_000], "1h")
    array([False, False,  True])
    """
    from chartpact.clock.periods import period_of

    calendar = _calendar(tz, roll, market)
    changed = np.zeros(time.shape, bool)
    for row in np.ndindex(time.shape[:-1]):
        period = period_of(time[row], timeframe, calendar)
        changed[row][1:] = period[1:] != period[:-1]
    return changed


def _calendar(tz: Any, roll: int | str, market: str) -> Any:
    from chartpact.clock.tradingcalendar import TradingCalendar

    if isinstance(roll, str):
        return TradingCalendar.of(roll, market)
    return TradingCalendar(roll, tz.key, market=market)
