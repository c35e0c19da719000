"""Time zones: what their clocks add to UTC, and UTC of what their clocks show."""

from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo, available_timezones

import numpy as np
from numpy.typing import NDArray

from chartpact.cache import Cache
from chartpact.clock.errors import ClockError
from chartpact.clock.timeframe import DAY
from chartpact.problem import did_you_mean

Times = NDArray[np.int64]

DAY_SECONDS = 86_400
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# The files of all zones once `preload` has read them, for a process that cannot open files.
_files: Cache[str, bytes] = Cache(most=2_000)


def zone(name: str) -> ZoneInfo:
    """The time zone of an IANA name.

    >>> zone("America/New_York").key
    'America/New_York'
    """
    try:
        return _zone(name)
    except (KeyError, ValueError, TypeError, AttributeError, OSError):
        # not a text, no such zone, a folder of zones, or a path too long
        hint = did_you_mean(str(name), names(), before="; ")
        raise ClockError(
            f"{name!r} is no time zone: use an IANA name such as 'America/New_York'{hint}"
        ) from None


@cache
def _zone(name: str) -> ZoneInfo:
    if len(_files):
        return ZoneInfo.from_file(BytesIO(_files.get(name) or b""), key=name)
    return ZoneInfo(name)


@cache
def names() -> frozenset[str]:
    """Every zone there is."""
    return frozenset(available_timezones())


def preload() -> int:
    """Reads the files of every zone, for a process that will have no files; says how many.

    They are kept as bytes: as objects they would be twenty times as large, and a process that
    forks pays for its size.
    """
    package = find_spec("tzdata")
    homes = [*TZPATH, *(package.submodule_search_locations or () if package else ())]
    contents: dict[bytes, bytes] = {}
    for name in sorted(names()):
        paths = (Path(home, *inner, name) for home in homes for inner in ((), ("zoneinfo",)))
        content = next(path for path in paths if path.is_file()).read_bytes()
        _files.put(name, contents.setdefault(content, content))
    return len(_files)


def wall(where: ZoneInfo, utc: Times) -> Times:
    """What the zone's clocks show at each of these times, in ms since 1970-01-01 00:00 there."""
    return utc if where.key == "UTC" else utc + offsets(where, utc)


def offsets(where: ZoneInfo, utc: Times) -> Times:
    """What the zone's clocks add to UTC at each of these times, all in ms.

    >>> offsets(zone("America/New_York"), np.array([1_700_000_000_000])) / 3_600_000
    array([-5.])
    """
    if utc.size == 0 or where.key == "UTC":
        return np.zeros(utc.shape, np.int64)
    years = np.array([utc.min(), utc.max()], "datetime64[ms]").astype("datetime64[Y]")
    starts, values = _changes_between(where, *years.astype(int).tolist())
    return values[starts.searchsorted(utc, side="right") - 1]


def to_utc(where: ZoneInfo, local: Times) -> tuple[Times, Times, NDArray[np.bool_]]:
    """UTC of wall-clock times: the earlier reading, the later one, and which do not exist.

    Both readings are equal except in the hour that clocks repeat. A time that clocks skip is read
    with the offset from before, so that it lies just as far behind the skip.
    """
    if where.key == "UTC":
        return local, local, np.zeros(local.shape, np.bool_)
    around = offsets(where, np.add.outer((-DAY, DAY), local))
    by_before, by_after = readings = local - around
    keeps_before, keeps_after = offsets(where, readings) == around
    earlier = np.where(keeps_before | ~keeps_after, by_before, by_after)
    later = np.where(keeps_after, by_after, by_before)
    return earlier, later, ~(keeps_before | keeps_after)


@lru_cache(maxsize=64)
def _changes_between(where: ZoneInfo, first: int, last: int) -> tuple[Times, Times]:
    """`_changes` of these years, one after the other."""
    pieces = [_changes(where, year) for year in range(first, last + 1)]
    starts, values = zip(*pieces, strict=True)
    return np.concatenate(starts), np.concatenate(values)


@lru_cache(maxsize=4096)
def _changes(where: ZoneInfo, year: int) -> tuple[Times, Times]:
    """The year's start and changes (years count from 1970), and the offset from each on."""

    def offset(second: int) -> int:
        ahead = (EPOCH + timedelta(seconds=second)).astimezone(where).utcoffset() or timedelta()
        return ahead.days * DAY_SECONDS + ahead.seconds

    begin, end = (
        int(np.datetime64(count, "Y").astype("datetime64[s]").astype(np.int64))
        for count in (year, year + 1)
    )
    moments, values = [begin], [offset(begin)]
    for morning in range(begin, end, DAY_SECONDS):
        low, high = morning, min(morning + DAY_SECONDS, end - 1)
        now = offset(high)
        if now != values[-1]:
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if offset(middle) == now else (middle, high)
            moments.append(high)
            values.append(now)
    return np.array(moments, np.int64) * 1000, np.array(values, np.int64) * 1000
