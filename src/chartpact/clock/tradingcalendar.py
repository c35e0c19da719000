"""The trading days of a symbol: when each begins and ends.

A day is named by the date on which it ends. It runs from its roll to its close. Trades after the
close belong to the next day. A closed day therefore never changes.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact.clock.errors import ClockError
from chartpact.clock.markets import EVERY_DAY, FUTURES_ROLL, UTC_MIDNIGHT
from chartpact.clock.sessions import MINUTES, minute_of_day
from chartpact.clock.timeframe import DAY, MINUTE
from chartpact.clock.walltime import weekday
from chartpact.clock.zones import to_utc, zone

Times = NDArray[np.int64]
Dates = NDArray[np.int64]  # days since 1970-01-01

_TIME_OF_DAY = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_ROLL = re.compile(rf"({_TIME_OF_DAY}(?:-{_TIME_OF_DAY})?) +(.+)")

# The CME's daily break began at 17:15 until trade date 2015-09-21, and at 17:00 since.
_CLOSE_CHANGED = int(np.datetime64("2015-09-21", "D").astype(np.int64))


@dataclass(frozen=True)
class TradingCalendar:
    """The days of a market, on the wall clock of its zone; times of day are in minutes."""

    roll: int
    zone: str
    close: int | None = None  # None: a day ends where the next begins
    market: str = EVERY_DAY
    close_before_change: int | None = None

    @staticmethod
    def of(day_roll: str, market: str = EVERY_DAY) -> "TradingCalendar":
        """The calendar that a text like `18:00 America/New_York` means for a kind of market."""
        text = canonical_roll(day_roll)
        if text == UTC_MIDNIGHT:
            return TradingCalendar(0, "UTC", market=market)
        times, _, where = text.partition(" ")
        if text == FUTURES_ROLL and market != EVERY_DAY:
            return TradingCalendar(18 * 60, where, 17 * 60, market, 17 * 60 + 15)
        roll, _, close = times.partition("-")
        end = minute_of_day(close, ":") if close else None
        return TradingCalendar(minute_of_day(roll, ":"), where, end, market)

    def opening(self, date: Dates) -> Times:
        """When the trading days of these dates begin, in UTC ms."""
        return to_utc(zone(self.zone), self._rolls(date))[0]

    def closing(self, date: Dates) -> Times:
        """When the trading days of these dates end, in UTC ms."""
        close = np.full(date.shape, self.roll if self.close is None else self.close)
        if self.close_before_change is not None:
            close[date < _CLOSE_CHANGED] = self.close_before_change
        minutes = (close - self.roll - 1) % MINUTES + 1
        return to_utc(zone(self.zone), self._rolls(date) + minutes * MINUTE)[0]

    def date(self, time: Times) -> Dates:
        """The date of the trading day that each of these times belongs to."""
        day = time // DAY
        # Clocks are at most 16 hours off UTC and a day ends by the next noon, so that the day of a
        # time has one of five dates.
        near = np.sort(np.add.outer(day[run_starts(day)], np.arange(-2, 3)), axis=None)
        near = near[run_starts(near)]
        index = np.searchsorted(self.closing(near), time, side="right")
        return self.following(near)[index]

    def following(self, date: Dates) -> Dates:
        """Each date, or the first trading day after it where it is none."""
        return date + (7 - weekday(date)) * self._rest(date)

    def preceding(self, date: Dates) -> Dates:
        """Each date, or the last trading day before it where it is none."""
        return date - (weekday(date) - 4) * self._rest(date)

    def _rest(self, date: Dates) -> NDArray[np.bool_]:
        return (weekday(date) >= 5) & (self.market != EVERY_DAY)

    def _rolls(self, date: Dates) -> Times:
        """The wall-clock time of each roll: a roll after noon begins the day of the next date."""
        return (date - (self.roll >= MINUTES // 2)) * DAY + self.roll * MINUTE


def run_starts(values: NDArray[np.int64]) -> NDArray[np.intp]:
    """The places where a run of equal values begins."""
    starts = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=starts[1:])
    return np.flatnonzero(starts)


def canonical_roll(text: str) -> str:
    """The one spelling of a day roll.

    >>> canonical_roll("17:00 US/Eastern"), canonical_roll("00:00 UTC")
    ('17:00 US/Eastern', 'UTC midnight')
    """
    if str(text).strip().lower() in ("utc midnight", "00:00 utc"):
        return UTC_MIDNIGHT
    roll = _ROLL.fullmatch(str(text).strip())
    if roll is None:
        raise ClockError(
            f"{text!r} is no day roll: write '18:00 America/New_York', "
            f"'18:00-17:00 America/New_York' (with the time of the close) or '{UTC_MIDNIGHT}'"
        )
    zone(roll[2])
    return f"{roll[1]} {roll[2]}"
