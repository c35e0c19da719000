"""Sessions: the hours of certain days, written as in "0930-1600:23456"."""

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chartpact.clock.errors import ClockError
from chartpact.clock.timeframe import DAY, MINUTE
from chartpact.clock.walltime import FIELDS, Times

MINUTES = DAY // MINUTE  # of a day
ALWAYS = "24x7"
FORM = (
    "HHMM-HHMM, several joined by commas, then perhaps a colon and days by digits "
    f'(1 = Sunday … 7 = Saturday), as in "0930-1600:23456"; or "{ALWAYS}"'
)
_HOURS = "(?:[01][0-9]|2[0-3])[0-5][0-9]"
_SPAN = f"{_HOURS}-(?:{_HOURS}|2400)"
_SESSION = re.compile(f"({_SPAN}(?:,{_SPAN})*)(?::([1-7]+))?")


@dataclass(frozen=True)
class Session:
    """Spans of the day in minutes since midnight, and the days they are on (1 = Sunday).

    A span whose start is not before its end runs past midnight, and belongs to the day it ends on.
    """

    spans: tuple[tuple[int, int], ...]
    days: frozenset[int] = frozenset(range(1, 8))

    @staticmethod
    def parse(text: str) -> "Session":
        """The session that a text names.

        >>> Session.parse("0930-1600:2").spans
        ((570, 960),)
        """
        if isinstance(text, str):
            return _parse(text)
        raise ClockError(f"a session is a text, not {text!r}: write {FORM}")

    def contains(self, wall: Times) -> NDArray[np.bool_]:
        """Whether each wall-clock time lies within the session. The end is not part of it."""
        minute = wall % DAY // MINUTE
        day = FIELDS["dayofweek"](wall)
        on = np.array([number in self.days for number in range(8)])
        inside = np.zeros(wall.shape, np.bool_)
        for start, end in self.spans:
            if start < end:
                inside |= (minute >= start) & (minute < end) & on[day]
            else:
                inside |= (minute >= start) & on[day % 7 + 1] | (minute < end) & on[day]
        return inside


@lru_cache(maxsize=256)
def _parse(text: str) -> Session:
    if text == ALWAYS:
        return Session(((0, MINUTES),))
    session = _SESSION.fullmatch(text)
    if session is None:
        raise ClockError(f"{text!r} is no session: write {FORM}")
    spans = tuple(_span(hours) for hours in session[1].split(","))
    return Session(spans, frozenset(map(int, session[2] or "1234567")))


def _span(hours: str) -> tuple[int, int]:
    start, _, end = hours.partition("-")
    return minute_of_day(start), MINUTES if end == "2400" else minute_of_day(end) or MINUTES


def minute_of_day(text: object, colon: str = "") -> int:
    """Minutes since midnight of a time of day written HHMM, or HH:MM where `colon` is a colon.

    >>> minute_of_day("0930"), minute_of_day("17:00", ":")
    (570, 1020)
    """
    form = rf"([01][0-9]|2[0-3]){colon}([0-5][0-9])"
    time = re.fullmatch(form, text) if isinstance(text, str) else None
    if time is None:
        raise ClockError(f"{text!r} is no time of day: write it like 09{colon}30")
    return int(time[1]) * 60 + int(time[2])
