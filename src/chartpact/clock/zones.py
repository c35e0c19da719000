"""Time zones: what the clocks of a zone add to UTC, for whole columns of times."""

from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from zoneinfo import TZPATH, ZoneInfo, available_timezones

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.int64]

DAY_SECONDS = 86_400
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


# The files of all zones, for a process that has no files; empty until `preload`.
_files: dict[str, bytes] = {}


@cache
def zone(name: str) -> ZoneInfo:
    """The time zone of an IANA name, read once; a name that is none raises KeyError or ValueError.

    >>> zone("America/New_York").key
    'America/New_York'
    """
    if _files:
        return ZoneInfo.from_file(BytesIO(_files[name]), key=name)
    try:
        return ZoneInfo(name)
    except OSError:  # a folder of the zones, or a path too long
        raise KeyError(name) from None


def names() -> set[str]:
    """Every zone there is."""
    return set(_files) or available_timezones()


def preload() -> int:
    """Reads the files of every zone, for a process that will have no files; says how many.

    They are kept as bytes: as objects they would be twenty times as large, and a process that
    forks pays for its size.
    """
    package = find_spec("tzdata")
    homes = [*TZPATH, *(package.submodule_search_locations or () if package else ())]
    found: dict[str, bytes] = {}
    seen: dict[bytes, bytes] = {}
    for name in sorted(available_timezones()):
        paths = (Path(home, *inner, name) for home in homes for inner in ((), ("zoneinfo",)))
        data = next(path for path in paths if path.is_file()).read_bytes()
        found[name] = seen.setdefault(data, data)
    _files.update(found)
    zone.cache_clear()
    return len(_files)


def offsets(where: ZoneInfo, utc: Times) -> Times:
    """What the zone's clocks add to UTC at each of these times, all in ms.

    >>> offsets(zone("America/New_York"), np.array([1_700_000_000_000])) / 3_600_000
    array([-5.])
    """
    if utc.size == 0:
        return np.zeros(utc.shape, np.int64)
    first, last = np.array([utc.min(), utc.max()]).astype("datetime64[ms]").astype("datetime64[Y]")
    pieces = [_changes(where, year) for year in range(first.astype(int), last.astype(int) + 1)]
    starts = np.concatenate([since for since, _ in pieces])
    values = np.concatenate([value for _, value in pieces])
    found: Times = values[np.searchsorted(starts, utc, side="right") - 1]
    return found


@lru_cache(maxsize=4096)
def _changes(where: ZoneInfo, year: int) -> tuple[Times, Times]:
    """The year's start and changes (years count from 1970), and the offset from each on."""

    def offset(second: int) -> int:
        ahead = (EPOCH + timedelta(seconds=second)).astimezone(where).utcoffset() or timedelta()
        return ahead.days * DAY_SECONDS + ahead.seconds

    begin, end = (
        int(np.datetime64(each, "Y").astype("datetime64[s]").astype(np.int64))
        for each in (year, year + 1)
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
