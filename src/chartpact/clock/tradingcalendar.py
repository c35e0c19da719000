"""The trading days of a symbol: when each begins and ends.

A day is named by the date on which it ends. It runs from its roll to its close. What trades
between a close and the next roll, if anything does, belongs to the day that follows, so that a day
which has closed never changes.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact.clock.errors import ClockError
from chartpact.clock.sessions import MINUTES, minute_of_day
from chartpact.clock.timeframe import DAY, MINUTE
from chartpact.clock.walltime import weekday
from chartpact.clock.zones import to_utc, zone

Times = NDArray[np.int64]
Dates = NDArray[np.int64]  # days since 1970-01-01

UTC_MIDNIGHT = "UTC midnight"
FX_ROLL = "17:00 America/New_York"
FUTURES_ROLL = "18:00 America/New_York"

CURRENCIES = frozenset(
    "AUD BRL CAD CHF CNH CNY CZK DKK EUR GBP HKD HUF ILS INR JPY KRW MXN NOK NZD PLN RUB SEK SGD "
    "THB TRY USD ZAR".split()
)
METALS = frozenset("XAU XAG XPT XPD".split())  # spot metals keep the hours of the futures
FUTURES = frozenset(
    "ES MES NQ MNQ YM MYM RTY M2K NKD EMD CL MCL QM NG QG RB HO BZ GC MGC SI SIL HG PL PA "
    "ZN ZB ZF ZT TN UB 6A 6B 6C 6E 6J 6M 6N 6S M6A M6B M6E".split()
)
_TIME_OF_DAY = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_ROLL = re.compile(rf"({_TIME_OF_DAY}(?:-{_TIME_OF_DAY})?) +(.+)")
_CONTRACT = re.compile(r"([A-Z0-9]+?)(?:[FGHJKMNQUVXZ](?:\d{1,2}|20\d\d)|\d!|=F)?")

# The CME's daily break began at 17:15 until trade date 2015-09-21, and at 17:00 since.
_CLOSE_CHANGED = int(np.datetime64("2015-09-21", "D").astype(np.int64))


@dataclass(frozen=True)
class TradingCalendar:
    """The days of a market, on the wall clock of its zone; times of day are in minutes."""

    roll: int
    zone: str
    close: int | None = None  # None: a day ends where the next begins
    close_before_change: int | None = None
    weekdays_only: bool = False

    @staticmethod
    def of(day_roll: str, symbol: str = "") -> "TradingCalendar":
        """The calendar that a text like `18:00 America/New_York` means for a symbol."""
        text = canonical_roll(day_roll)
        if text == default_roll(symbol) and text in _MARKETS:
            return _MARKETS[text]
        if text == UTC_MIDNIGHT:
            return TradingCalendar(0, "UTC")
        times, _, where = text.partition(" ")
        roll, _, close = times.partition("-")
        return TradingCalendar(
            minute_of_day(roll, ":"), where, minute_of_day(close, ":") if close else None
        )

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
        return (weekday(date) >= 5) & self.weekdays_only

    def _rolls(self, date: Dates) -> Times:
        """The wall-clock time of each roll: a roll after noon begins the day of the next date."""
        return (date - (self.roll >= MINUTES // 2)) * DAY + self.roll * MINUTE


_MARKETS = {
    FX_ROLL: TradingCalendar(17 * 60, "America/New_York", weekdays_only=True),
    FUTURES_ROLL: TradingCalendar(
        18 * 60,
        "America/New_York",
        close=17 * 60,
        close_before_change=17 * 60 + 15,
        weekdays_only=True,
    ),
}


def run_starts(values: NDArray[np.int64]) -> NDArray[np.intp]:
    """The places where a run of equal values begins."""
    starts = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=starts[1:])
    return np.flatnonzero(starts)


def default_roll(symbol: str) -> str:
    """The day roll of a symbol whose kind can be told from its name.

    >>> default_roll("OANDA:EUR_USD"), default_roll("ESZ2026"), default_roll("BTCUSDT")
    ('17:00 America/New_York', '18:00 America/New_York', 'UTC midnight')
    """
    name = symbol.upper().rpartition(":")[2]
    letters = re.sub(r"=X$|[^A-Z]", "", name)
    if len(letters) == 6 and letters[3:] in CURRENCIES:
        if letters[:3] in CURRENCIES:
            return FX_ROLL
        if letters[:3] in METALS:
            return FUTURES_ROLL
    contract = _CONTRACT.fullmatch(name.lstrip("/"))
    return FUTURES_ROLL if contract and contract[1] in FUTURES else UTC_MIDNIGHT


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
