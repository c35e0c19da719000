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
OWN = ("", "regular", "extended")  # Pine's names for the symbol's session: all of its bars
FORM = (
    "HHMM-HHMM, several joined by commas, then perhaps a colon and days by digits "
    '(1 = Sunday … 7 = Saturday), as in "0930-1600:23456", other days after a |; '
    f'or "{ALWAYS}"'
)
_SECTION = re.compile(
    r"(?P<spans>[0-9]{4}-[0-9]{4}(?:,[0-9]{4}-[0-9]{4})*),?(?::(?P<days>[1-7]*))?"
)
_BARE = re.compile(r"[0-9]{4}-[0-9]{4}")
_ALL_DAYS, _WEEKDAYS = "1234567", "23456"

Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Session:
    """Spans of the day in minutes since midnight, on the days they are on (1 = Sunday).

    A span whose start is not before its end runs past midnight, and belongs to the day it ends on.
    """

    hours: tuple[tuple[frozenset[int], Spans], ...]

    @staticmethod
    def parse(text: str) -> "Session":
        """The session that a text names.

        >>> Session.parse("0930-1600:2").hours
        ((frozenset({2}), ((570, 960),)),)
        """
        if isinstance(text, str):
            return _parse(text)
        raise ClockError(f"a session is a text, not {text!r}: write {FORM}")

    def contains(self, wall: Times) -> NDArray[np.bool_]:
        """Whether each wall-clock time lies within the session. The end is not part of it."""
        minute = wall % DAY // MINUTE
        day = FIELDS["dayofweek"](wall)
        inside = np.zeros(wall.shape, np.bool_)
        for days, spans in self.hours:
            on = np.array([number in days for number in range(8)])
            for start, end in spans:
                if start < end:
                    inside |= (minute >= start) & (minute < end) & on[day]
                else:
                    inside |= (minute >= start) & on[day % 7 + 1] | (minute < end) & on[day]
        return inside

    def days(self, first: int, last: int) -> tuple[Times, Times, Times]:
        """The dates from `first` to `last` that have a session, and its wall-clock open and close.

        Of several spans of a day, it opens with the earliest and closes with the latest.
        """
        dates = np.arange(first, last + 1)
        weekday = FIELDS["dayofweek"](dates * DAY)
        opening = np.full(8, -1)
        closing = np.full(8, -1)
        for days, spans in self.hours:
            for day in days:
                opening[day] = min(start - MINUTES * (start >= end) for start, end in spans)
                closing[day] = max(end for _, end in spans)
        dates, weekday = (values[closing[weekday] >= 0] for values in (dates, weekday))
        return (
            dates,
            dates * DAY + opening[weekday] * MINUTE,
            dates * DAY + closing[weekday] * MINUTE,
        )


@lru_cache(maxsize=256)
def _parse(text: str) -> Session:
    plain = "0000-2400" if text == ALWAYS or text in OWN else text
    usual = _ALL_DAYS if _BARE.fullmatch(plain) else _WEEKDAYS
    hours: dict[int, Spans] = {}
    for section in (plain.removesuffix("|") or plain).split("|"):
        match = _SECTION.fullmatch(section)
        spans = _spans(match["spans"]) if match else None
        if match is None or spans is None:
            raise ClockError(f"{text!r} is no session: write {FORM}")
        days = map(int, match["days"] or usual)
        hours |= dict.fromkeys(days, spans)  # a later section replaces an earlier one
    by_spans: dict[Spans, set[int]] = {}
    for day, spans in hours.items():
        by_spans.setdefault(spans, set()).add(day)
    return Session(tuple((frozenset(days), spans) for spans, days in by_spans.items()))


def _spans(text: str) -> Spans | None:
    """Starts and ends in minutes, where 0960 is 10:00 and 2500 is 01:00; None if they cannot be."""
    spans = []
    for span in text.split(","):
        start, end = (int(hhmm[:2]) * 60 + int(hhmm[2:]) for hhmm in span.split("-"))
        if start >= MINUTES or end > start + MINUTES:  # begins on no day, or lasts longer than one
            return None
        spans.append((start, end - MINUTES if end > MINUTES else end or MINUTES))
    return tuple(spans)


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
