"""The periods of a timeframe: in which a time lies, when each begins, when it is over."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact.clock.timeframe import Timeframe
from chartpact.clock.tradingcalendar import Dates, Times, TradingCalendar, run_starts
from chartpact.clock.walltime import month_start, months, weekday

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Periods:
    """Periods that hold at least one bar: `first` and `stop` bar, `start` and `end` in UTC ms."""

    first: Indices
    stop: Indices
    start: Times
    end: Times

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


def periods(time: Times, timeframe: Timeframe, calendar: TradingCalendar) -> Periods:
    """The periods that bars opening at these times fall into."""
    date = calendar.date(time)
    period = _period_on(date, time, timeframe, calendar)
    first = run_starts(period)
    period = period[first]
    if timeframe.intraday:
        start = period
        end = np.minimum(period + timeframe.ms, _by_run(calendar.closing, date[first]))
    else:
        start = calendar.opening(calendar.following(period))
        end = _end(period, timeframe, calendar)
    return Periods(first, _stops(first, len(time)), start, end)


def closes(time: Times, timeframe: Timeframe, calendar: TradingCalendar) -> Times:
    """When bars of this timeframe that open at these times are over."""
    date = calendar.date(time)
    full = time + timeframe.ms
    if timeframe.intraday:
        # The last bar of a day may be a short one, but only bars that are counted from the start
        # of the day end with it: others, as on a grid of UTC hours, go on into the next day.
        counted = (time - _by_run(calendar.opening, date)) % timeframe.ms == 0
        return np.where(counted, np.minimum(full, _by_run(calendar.closing, date)), full)
    period = _period_on(date, time, timeframe, calendar)
    end = _by_run(lambda first: _end(first, timeframe, calendar), period)
    # A week that is stamped on another day than Monday is not one of our weeks.
    return np.where(weekday(date) == 0, end, full) if timeframe.unit == "W" else end


def opens(time: Times, timeframe: Timeframe, calendar: TradingCalendar) -> Times:
    """When bars of this timeframe that are over at these times began."""
    if timeframe.intraday:
        # No bar begins before the one before it ended: a day's last bar may be a short one.
        return np.append(time[:1] - timeframe.ms, np.maximum(time[1:] - timeframe.ms, time[:-1]))
    groups = periods(time - 1, timeframe, calendar)
    return groups.start[groups.of_each]


def _period_on(date: Dates, time: Times, timeframe: Timeframe, calendar: TradingCalendar) -> Times:
    """`period_of` times whose trading dates are known."""
    count = timeframe.count
    match timeframe.unit:
        case "D":
            return date // count * count
        case "W":  # weeks begin on Monday
            return (date + 3) // (7 * count) * (7 * count) - 3
        case "M":
            return _by_run(lambda dates: month_start(months(dates) // count * count), date)
    opening = _by_run(calendar.opening, date)
    slot: Times = np.maximum(time - opening, 0) // timeframe.ms
    return opening + slot * timeframe.ms


def _end(period: Dates, timeframe: Timeframe, calendar: TradingCalendar) -> Times:
    """When the periods of days, weeks or months that begin on these dates are over."""
    if timeframe.unit == "M":
        after = month_start(months(period) + timeframe.count)
    else:
        after = period + timeframe.count * (7 if timeframe.unit == "W" else 1)
    return calendar.closing(calendar.preceding(after - 1))


def _by_run(compute: Callable[[Dates], Times], values: Dates) -> Times:
    """What is computed of each value, but once for a whole run of equal values."""
    first = run_starts(values)
    return np.repeat(compute(values[first]), _stops(first, len(values)) - first)


def _stops(first: Indices, count: int) -> Indices:
    """Where runs stop that begin at these of `count` places: where the next one begins."""
    stops = np.full(len(first), count, np.intp)
    stops[:-1] = first[1:]
    return stops
