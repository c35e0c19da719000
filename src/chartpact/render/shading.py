"""The bars to shade: those outside a session, or every second trading day."""

import numpy as np
from numpy.typing import NDArray

from chartpact.bars import Bars
from chartpact.checks import shown
from chartpact.clock import zones
from chartpact.clock.errors import ClockError
from chartpact.clock.markets import UTC_MIDNIGHT
from chartpact.clock.sessions import Session
from chartpact.render.errors import RenderError

DAYS = "days"


def check(text: object) -> None:
    """Raises RenderError unless a text names sessions to shade by."""
    if not isinstance(text, str):
        raise RenderError(f"{shown(text)} is no session: write 0930-1600 or {DAYS}")
    hours, _, zone = text.partition(" ")
    if text != DAYS:
        try:
            Session.parse(hours or " ")
            if zone:
                zones.zone(zone)
        except ClockError as error:
            raise RenderError(f"{error}; or {DAYS!r}, for every second trading day") from None


def shaded(bars: Bars, text: str, tz: str) -> NDArray[np.bool_]:
    """Whether each bar is shaded.

    Hours are those of the zone after them, as in "0930-1600 America/New_York". Without one they
    are those of the zone in which the symbol's trading day begins or, where that is midnight UTC,
    of `tz`. Nothing is shaded where a bar is a day or longer.
    """
    if len(bars) < 2 or np.median(np.diff(bars.time)) >= 86_400_000:
        return np.zeros(len(bars), np.bool_)
    if text == DAYS:
        first = np.diff(bars.trading_day, prepend=bars.trading_day[0]) != 0
        return np.asarray(np.cumsum(first) % 2 == 1)
    hours, _, zone = text.partition(" ")
    if not zone:
        zone = tz if bars.day_roll == UTC_MIDNIGHT else bars.day_roll.partition(" ")[2]
    wall = zones.wall(zones.zone(zone), bars.time)
    return ~Session.parse(hours).contains(wall)
