"""The periods of a timeframe: in which a time lies, when each begins, when it is over.

As on TradingView, periods of several days, weeks or months begin anew every year. Months count
from January. A week belongs to the year of its Monday, and the Mondays since 1 January are
counted. Days count by their place among the trading days of their year: on a market of every day,
all dates are trading days, and on FX all from Monday to Friday. On a listed market the trading days
are the dates that have bars, and the first of them stands where its weekday puts it.

Three questions are answered: which period a time lies in (`period_of`), which bars each period has
and when it ends (`periods`), and when a single bar opens or closes (`opens`, `closes`). All go by
the trading date, never by the date of the clock: a Sunday evening belongs to Monday.

- Intraday periods are slots counted from the opening of the trading day. The last slot of a day
  ends with the day, however short it is. Bars on another grid, such as UTC hours, are recognised by
  their distance from the opening, which is no multiple of the slot. They last a full slot.
- Weeks and months need the calendar alone, and so do days on markets whose days are known.
- Several days of a listed market are the hard case. Holidays are not known, so the place of a date
  among the trading days of its year is counted from the dates that have bars. The end of the last
  period is then unknown as well: as many weekdays are added as days are left in it.

The first period may have begun before the first bar, and the last may go on; `whole` says so, and
callers leave such periods out or mark them. A calendar is asked once for each run of equal dates
(`_by_run`), not once a bar.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact.clock.markets import EVERY_DAY, LISTED
from chartpact.clock.timeframe import Timeframe
from chartpact.clock.tradingcalendar import Dates, Times, TradingCalendar, run_starts
from chartpact.clock.walltime import month_start, months, weekday, year_start

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Periods:
    """Periods that hold at least one bar: `first` and `stop` bar, `start` and `end` in UTC ms.

    The first is not `whole` where the bars begin after its start, nor the last where they end
    before it is over.
    """

    first: Indices
    stop: Indices
    start: Times
    end: Times
    whole: NDArray[np.bool_]

    @property
    def of_each(self) -> Indices:
        """For each bar, the number of its period."""
        return np.repeat(np.arange(len(self.first)), self.stop - self.first)


def period_of(time: Times, timeframe: Timeframe, calendar: TradingCalendar) -> Times:
    """The period that each time lies in, as a number that all times of one period share.

    It is the period's first date, for a timeframe of days, weeks or months, and else the period's
    start in UTC ms. Intraday periods count from the start of the trading day. What trades before
    its day's roll belongs to the first of them.
    """
    return _period_on(calendar.date(time), time, timeframe, calendar)


def periods(
    time: Times, timeframe: Timeframe, calendar: TradingCalendar, until: int | None = None
) -> Periods:
    """The periods that bars opening at these times fall into; the last of them closes at `until`.

    Where that is not known, a period is over when a bar opens after it.
    """
    date = calendar.date(time)
    period = _period_on(date, time, timeframe, calendar)
    first = run_starts(period)
    stop = _stops(first, len(time))
    if timeframe.intraday:
        start = period[first]
        end = np.minimum(start + timeframe.ms, _by_run(calendar.closing, date[first]))
    else:
        start = calendar.opening(calendar.following(period[first]))
        if _counts_days_seen(timeframe, calendar):
            last = stop - 1
            left = timeframe.count - _places_of_days_seen(date)[last] % timeframe.count
            final = _last_of_days(date[last], left, calendar)
        else:
            final = _last_date(period[first], timeframe, calendar)
        end = calendar.closing(final)
    whole = np.ones(len(first), np.bool_)
    if len(time):
        whole[0] = time[0] <= start[0]
        whole[-1] &= end[-1] <= (time[-1] if until is None else until)
    return Periods(first, stop, start, end, whole)


def closes(time: Times, timeframe: Timeframe, calendar: TradingCalendar) -> Times:
    """When bars of this timeframe that open at these times are over."""
    date = calendar.date(time)
    full = time + timeframe.ms
    if timeframe.intraday:
        # The last bar of a day may be a short one, but only bars that are counted from the start
        # of the day end with it: others, as on a grid of UTC hours, go on into the next day.
        counted = (time - _by_run(calendar.opening, date)) % timeframe.ms == 0
        return np.where(counted, np.minimum(full, _by_run(calendar.closing, date)), full)
    if _counts_days_seen(timeframe, calendar):  # the calendar cannot tell which days have bars
        return calendar.closing(_last_of_days(date, np.array(timeframe.count), calendar))
    period = _period_on(date, time, timeframe, calendar)
    end = _by_run(lambda first: calendar.closing(_last_date(first, timeframe, calendar)), period)
    if timeframe.unit == "M" or (timeframe.unit == "D" and calendar.market != EVERY_DAY):
        return end
    # Bars that begin elsewhere, as weeks from Sunday or three days from 1970 on, are not ours.
    return np.where(date == period, end, full)


def opens(time: Times, timeframe: Timeframe, calendar: TradingCalendar) -> Times:
    """When bars of this timeframe that are over at these times began."""
    # No bar begins before the one before it ended: a day's last bar may be a short one.
    full = np.append(time[:1] - timeframe.ms, np.maximum(time[1:] - timeframe.ms, time[:-1]))
    if timeframe.intraday:
        return full
    date = calendar.date(time - 1)
    if _counts_days_seen(timeframe, calendar):
        first = np.maximum(_weekdays(date) + 1 - timeframe.count, _weekdays(year_start(date)))
        start = calendar.opening(_weekday_date(first))
        start[1:] = np.maximum(start[1:], time[:-1])
        return start
    period = _period_on(date, time - 1, timeframe, calendar)
    start = _by_run(lambda first: calendar.opening(calendar.following(first)), period)
    if timeframe.count == 1 or timeframe.unit == "M":
        return start
    last = _by_run(lambda first: _last_date(first, timeframe, calendar), period)
    return np.where(date == last, start, full)


def _period_on(date: Dates, time: Times, timeframe: Timeframe, calendar: TradingCalendar) -> Times:
    """`period_of` times whose trading dates are known."""
    if timeframe.intraday:
        opening = _by_run(calendar.opening, date)
        slot: Times = np.maximum(time - opening, 0) // timeframe.ms
        return opening + slot * timeframe.ms
    if _counts_days_seen(timeframe, calendar):
        place = _places_of_days_seen(date)
        year = _by_run(year_start, date)
        first = run_starts(year + place // timeframe.count)  # a year has more days than places
        # The first period may have begun before the first bar, so many weekdays earlier.
        begin = _weekday_date(_weekdays(date[first]) - place[first] % timeframe.count)
        return np.repeat(begin, _stops(first, len(date)) - first)
    return _by_run(lambda dates: _first_date(dates, timeframe, calendar), date)


def _first_date(date: Dates, timeframe: Timeframe, calendar: TradingCalendar) -> Dates:
    """The first date of the period of days, weeks or months that each date lies in."""
    count = timeframe.count
    if timeframe.unit == "M":
        month = months(date)
        return month_start(month - month % 12 % count)
    if timeframe.unit == "W":
        monday = date - weekday(date)
        return monday - (monday - year_start(monday)) // 7 % count * 7
    if count == 1:
        return date
    if calendar.market == EVERY_DAY:
        return date - (date - year_start(date)) % count
    place = _weekdays(date) - _weekdays(year_start(date))
    return _weekday_date(_weekdays(date) - place % count)


def _last_date(first: Dates, timeframe: Timeframe, calendar: TradingCalendar) -> Dates:
    """The last trading day of the periods of days, weeks or months that begin on these dates."""
    if timeframe.unit == "D":
        return _last_of_days(first, np.array(timeframe.count), calendar)
    if timeframe.unit == "M":
        month = months(first)
        after = month_start(np.minimum(month + timeframe.count, (month // 12 + 1) * 12))
    else:
        january = year_start(first, 1)
        after = np.minimum(first + 7 * timeframe.count, january + -weekday(january) % 7)
    return calendar.preceding(after - 1)


def _last_of_days(first: Dates, count: NDArray[np.int64], calendar: TradingCalendar) -> Dates:
    """The last of `count` trading days from these on, or the last of their year."""
    january = year_start(first, 1)
    if calendar.market == EVERY_DAY:
        last: Dates = np.minimum(first + count, january) - 1
        return last
    return _weekday_date(np.minimum(_weekdays(first) + count, _weekdays(january)) - 1)


def _counts_days_seen(timeframe: Timeframe, calendar: TradingCalendar) -> bool:
    return timeframe.unit == "D" and timeframe.count > 1 and calendar.market == LISTED


def _places_of_days_seen(date: Dates) -> Dates:
    """The place of each date among those of its year that are here, from 0.

    The first date of all stands where it would if every weekday of its year so far had been one.
    """
    return _by_run(_places, date)


def _places(dates: Dates) -> Dates:
    """The places of trading days that are all different."""
    year = year_start(dates)
    first = run_starts(year)
    place: Dates = np.arange(len(dates)) - np.repeat(first, _stops(first, len(dates)) - first)
    if len(dates):
        place[year == year[0]] += _weekdays(dates[:1]) - _weekdays(year[:1])
    return place


def _weekdays(date: Dates) -> Dates:
    """How many days from Monday to Friday lie before each date, since 1969-12-29."""
    return (date + 3) // 7 * 5 + np.minimum(weekday(date), 5)


def _weekday_date(count: Dates) -> Dates:
    """The day from Monday to Friday that has so many before it."""
    return count // 5 * 7 + count % 5 - 3


def _by_run(compute: Callable[[Dates], Times], values: Dates) -> Times:
    """Maps values run by run: `compute` is called once per run of equal values."""
    first = run_starts(values)
    return np.repeat(compute(values[first]), _stops(first, len(values)) - first)


def _stops(first: Indices, count: int) -> Indices:
    """The end of each run, given the starts."""
    stops = np.full(len(first), count, np.intp)
    stops[:-1] = first[1:]
    return stops
