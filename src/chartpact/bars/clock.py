"""Wall clocks and UTC: the daylight-saving rules of a zone applied to whole columns."""

from datetime import UTC, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import numpy as np
from numpy.typing import NDArray

from chartpact.bars.errors import BarsError, nearest
from chartpact.bars.timeframe import DAY

Times = NDArray[np.int64]

FIRST, LAST = -5_364_662_400_000, 7_258_118_400_000  # 1800-01-01 and 2200-01-01


def zone(name: str) -> ZoneInfo:
    """The time zone of an IANA name."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        hint = nearest(str(name), available_timezones())
        raise BarsError(
            f"{name!r} is no time zone: use an IANA name such as 'America/New_York'{hint}"
        ) from None


def iso(ms: int) -> str:
    """A UTC time as people read it.

    >>> iso(1_700_000_100_000)
    '2023-11-14T22:15:00Z'
    """
    seconds, rest = divmod(int(ms), 1_000)
    text = np.datetime64(seconds, "s").item().strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{rest:03d}Z" if rest else f"{text}Z"


def offsets(where: ZoneInfo, utc: Times) -> Times:
    """What the zone's clocks add to UTC at each of these times, in ms."""
    if len(utc) == 0:
        return np.zeros(0, np.int64)
    first, last = _year(int(utc.min())), _year(int(utc.max()))
    changes, values = _changes(where.key, first, last)
    return values[np.searchsorted(changes, utc, side="right")]


def to_utc(where: ZoneInfo, local: Times) -> tuple[Times, Times, NDArray[np.bool_]]:
    """UTC of wall-clock times: the earlier reading, the later one, and which do not exist.

    Both readings are equal except in the hour that clocks repeat. A time that clocks skip is read
    with the offset from before, so that it lies just as far behind the skip.
    """
    before = offsets(where, local - DAY)
    after = offsets(where, local + DAY)
    by_before, by_after = local - before, local - after
    keeps_before = offsets(where, by_before) == before
    keeps_after = offsets(where, by_after) == after
    earlier = np.where(keeps_before | ~keeps_after, by_before, by_after)
    later = np.where(keeps_after, by_after, by_before)
    return earlier, later, ~(keeps_before | keeps_after)


@lru_cache(maxsize=64)
def _changes(key: str, first_year: int, last_year: int) -> tuple[Times, Times]:
    """When the zone's offset changes in these years, and the offset before, between and after."""
    where = ZoneInfo(key)

    def offset(second: int) -> int:
        delta = datetime.fromtimestamp(second, where).utcoffset()
        assert delta is not None
        return delta.days * 86_400 + delta.seconds

    begin = int(datetime(first_year, 1, 1, tzinfo=UTC).timestamp())
    end = int(datetime(last_year + 1, 1, 1, tzinfo=UTC).timestamp())
    moments: list[int] = []
    values = [offset(begin)]
    for day in range(begin + 86_400, end + 86_400, 86_400):
        now = offset(day)
        if now != values[-1]:
            low, high = day - 86_400, day
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == values[-1] else (low, middle)
            moments.append(high)
            values.append(now)
    return np.array(moments, np.int64) * 1_000, np.array(values, np.int64) * 1_000


def _year(ms: int) -> int:
    return int(np.datetime64(ms, "ms").astype("datetime64[Y]").astype(np.int64)) + 1970
