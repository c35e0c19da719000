"""Wall clocks and UTC: the daylight-saving rules of a zone applied to whole columns."""

from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from chartpact.bars.errors import BarsError, nearest
from chartpact.clock.timeframe import DAY
from chartpact.clock.zones import names as zone_names
from chartpact.clock.zones import offsets
from chartpact.clock.zones import zone as known_zone

__all__ = ["FIRST", "LAST", "iso", "offsets", "to_utc", "zone"]

Times = NDArray[np.int64]

FIRST, LAST = -5_364_662_400_000, 7_258_118_400_000  # 1800-01-01 and 2200-01-01


def zone(name: str) -> ZoneInfo:
    """The time zone of an IANA name."""
    try:
        return known_zone(name)
    except (KeyError, ValueError, TypeError, AttributeError):
        hint = nearest(str(name), zone_names())
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
