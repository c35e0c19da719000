"""Wall-clock times taken apart, and UTC times as people read them.

A wall-clock time is what `zones.wall` gives: milliseconds since 1970-01-01 00:00 on that clock.
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from chartpact.clock.timeframe import DAY, HOUR, MINUTE, SECOND

Times = NDArray[np.int64]


def weekday(date: Times) -> Times:
    """The day of the week of dates, 0 = Monday … 6 = Sunday: 1970-01-01 was a Thursday."""
    return (date + 3) % 7


def months(date: Times) -> Times:
    """Months from January 1970 to the month of each date."""
    return date.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def month_start(month: Times) -> Times:
    """The first date of months counted from January 1970."""
    return month.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def year_start(date: Times, later: int = 0) -> Times:
    """1 January of the year of each date, or of the year that many years later."""
    return month_start((months(date) // 12 + later) * 12)


def _week_of_year(wall: Times) -> Times:
    """The ISO week: its Thursday says which year it belongs to."""
    thursday = wall // DAY + 3 - weekday(wall // DAY)
    return (thursday - year_start(thursday)) // 7 + 1


# Pine's names for the parts of a time.
FIELDS: Mapping[str, Callable[[Times], Times]] = {
    "year": lambda wall: months(wall // DAY) // 12 + 1970,
    "month": lambda wall: months(wall // DAY) % 12 + 1,
    "weekofyear": _week_of_year,
    "dayofmonth": lambda wall: wall // DAY - month_start(months(wall // DAY)) + 1,
    "dayofweek": lambda wall: weekday(wall // DAY + 1) + 1,  # 1 = Sunday
    "hour": lambda wall: wall % DAY // HOUR,
    "minute": lambda wall: wall % HOUR // MINUTE,
    "second": lambda wall: wall % MINUTE // SECOND,
}


def iso(ms: int) -> str:
    """A UTC time as people read it.

    >>> iso(1_700_000_100_000)
    '2023-11-14T22:15:00Z'
    """
    seconds, rest = divmod(int(ms), 1_000)
    text = np.datetime64(seconds, "s").item().strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{rest:03d}Z" if rest else f"{text}Z"
