"""The periods of a timeframe: which bars fall into which, when each begins, when it is over."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact.clock.timeframe import DAY, Timeframe
from chartpact.clock.tradingday import Days, TradingDay

Times = NDArray[np.int64]
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


def periods(time: Times, timeframe: Timeframe, day: TradingDay) -> Periods:
    """The periods that bars opening at these times fall into."""
    if len(time) == 0:
        nothing = np.zeros(0, np.int64)
        return Periods(nothing.astype(np.intp), nothing.astype(np.intp), nothing, nothing)
    days = _days_around(time, timeframe, day)
    if timeframe.intraday:
        which = days.index(time)
        start, end = _slots(time, timeframe.ms, days, which)
        first = _changes(start)
        start, end = start[first], end[first]
    else:
        group = _calendar_group(days.date, timeframe)
        opening = _changes(group)
        closing = np.append(opening[1:], len(group)) - 1
        which = np.searchsorted(opening, days.index(time), side="right") - 1
        first = _changes(which)
        start = days.start[opening][which[first]]
        end = days.end[closing][which[first]]
    stop = np.append(first[1:], len(time))
    return Periods(first, stop, start, end)


def closes(time: Times, timeframe: Timeframe, day: TradingDay) -> Times:
    """When bars of this timeframe that open at these times are over."""
    if len(time) == 0:
        return np.zeros(0, np.int64)
    days = _days_around(time, timeframe, day)
    which = days.index(time)
    if timeframe.intraday:
        # The last bar of a day may be a short one, but only bars that are counted from the start
        # of the day end with it: others, as on a grid of UTC hours, go on into the next day.
        counted = (time - days.start[which]) % timeframe.ms == 0
        full = time + timeframe.ms
        return np.where(counted, np.minimum(full, days.end[which]), full)
    group = _calendar_group(days.date, timeframe)
    closing = np.append(_changes(group)[1:], len(group)) - 1
    end: Times = days.end[closing[np.searchsorted(closing, which)]]
    if timeframe.unit == "W":
        # A week that is stamped on another day than Monday is not one of our weeks.
        monday = (days.date[which] + 3) % 7 == 0
        end = np.where(monday, end, time + timeframe.ms)
    return end


def opens(time: Times, timeframe: Timeframe, day: TradingDay) -> Times:
    """When bars of this timeframe that are over at these times began."""
    if timeframe.intraday:
        # No bar begins before the one before it ended: a day's last bar may be a short one.
        return np.append(time[:1] - timeframe.ms, np.maximum(time[1:] - timeframe.ms, time[:-1]))
    found = periods(time - 1, timeframe, day)
    return found.start[found.of_each]


def _days_around(time: Times, timeframe: Timeframe, day: TradingDay) -> Days:
    margin = 4 + (0 if timeframe.intraday else 2 * timeframe.ms // DAY)  # over a long weekend
    return day.days(int(time[0]), int(time[-1]), margin)


def _slots(time: Times, ms: int, days: Days, which: Indices) -> tuple[Times, Times]:
    """Start and end of the intraday slot of each time, counted from the start of its day.

    What trades before its day's roll, in the break, belongs to the first slot.
    """
    day_start = days.start[which]
    start = day_start + np.maximum(time - day_start, 0) // ms * ms
    return start, np.minimum(start + ms, days.end[which])


def _calendar_group(date: NDArray[np.int64], timeframe: Timeframe) -> NDArray[np.int64]:
    """A number for each date that is the same for all dates of one period."""
    if timeframe.unit == "D":
        unit = date
    elif timeframe.unit == "W":
        unit = (date + 3) // 7  # 1970-01-01 was a Thursday; weeks begin on Monday
    else:
        unit = date.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return unit // timeframe.count


def _changes(values: NDArray[np.int64] | Indices) -> Indices:
    """The places where a value differs from the one before it, the first included."""
    return np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
