"""When a symbol's trading day begins and ends.

A day is named by the date on which it ends. It runs from its roll to its close; what trades
between a close and the next roll, if anything does, belongs to the day that follows, so that a
day which has closed never changes.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact.bars.errors import BarsError
from chartpact.clock import walltime as clock
from chartpact.clock.timeframe import DAY

MINUTE = 60_000
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
_CONTRACT = re.compile(r"([A-Z0-9]+?)(?:[FGHJKMNQUVXZ](?:\d{1,2}|20\d\d)|\d!|=F)?")

# The CME's daily break began at 17:15 until trade date 2015-09-21, and at 17:00 since.
_CLOSE_CHANGED = int(np.datetime64("2015-09-21", "D").astype(np.int64))


@dataclass(frozen=True)
class Days:
    """Consecutive trading days: their dates (days since 1970) and when they run, in UTC ms."""

    date: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]

    def index(self, time: NDArray[np.int64]) -> NDArray[np.intp]:
        """The day that each of these times belongs to."""
        return np.searchsorted(self.end, time, side="right")


@dataclass(frozen=True)
class TradingDay:
    """The daily rhythm of a market, on the wall clock of its zone."""

    roll: int  # minutes after midnight
    zone: str
    close: int | None = None  # minutes after midnight; None: a day ends where the next begins
    close_before_change: int | None = None
    weekdays_only: bool = False

    @classmethod
    def of(cls, day_roll: str, symbol: str = "") -> "TradingDay":
        """The rhythm that a text like `18:00 America/New_York` means for a symbol."""
        text = canonical_roll(day_roll)
        if text == default_roll(symbol) and text in _MARKETS:
            return _MARKETS[text]
        if text == UTC_MIDNIGHT:
            return cls(0, "UTC")
        times, _, zone = text.partition(" ")
        roll, _, close = times.partition("-")
        return cls(_minutes(roll), zone, _minutes(close) if close else None)

    def days(self, first: int, last: int, margin: int = 4) -> Days:
        """All trading days from the one of time `first` to the one of `last`, and some around."""
        date = np.arange(first // DAY - margin, last // DAY + margin + 1, dtype=np.int64)
        if self.weekdays_only:
            date = date[(date + 3) % 7 < 5]
        where = clock.zone(self.zone)
        # A day that rolls after noon is the day of the following date.
        rolls = (date - (self.roll >= 12 * 60)) * DAY + self.roll * MINUTE
        start, _, _ = clock.to_utc(where, rolls)
        close = np.full(len(date), self.roll if self.close is None else self.close)
        if self.close_before_change is not None:
            close[date < _CLOSE_CHANGED] = self.close_before_change
        minutes = (close - self.roll - 1) % (24 * 60) + 1
        end, _, _ = clock.to_utc(where, rolls + minutes * MINUTE)
        return Days(date, start, end)


_MARKETS = {
    FX_ROLL: TradingDay(17 * 60, "America/New_York", weekdays_only=True),
    FUTURES_ROLL: TradingDay(
        18 * 60,
        "America/New_York",
        close=17 * 60,
        close_before_change=17 * 60 + 15,
        weekdays_only=True,
    ),
}


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
    """The one spelling of a day roll, or an error that tells the forms.

    >>> canonical_roll("17:00 US/Eastern"), canonical_roll("00:00 UTC")
    ('17:00 US/Eastern', 'UTC midnight')
    """
    times, _, zone = str(text).strip().partition(" ")
    parts = times.split("-")
    if str(text).strip().lower() in ("utc midnight", "00:00 utc"):
        return UTC_MIDNIGHT
    if not zone or len(parts) > 2 or any(_minutes(part) < 0 for part in parts):
        raise BarsError(
            f"{text!r} is no day roll: write '18:00 America/New_York', "
            f"'18:00-17:00 America/New_York' (with the time of the close) or '{UTC_MIDNIGHT}'"
        )
    clock.zone(zone.strip())
    return f"{times} {zone.strip()}"


def _minutes(text: str) -> int:
    """Minutes after midnight of `HH:MM`; -1 for anything else."""
    match = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", text)
    return int(match[1]) * 60 + int(match[2]) if match else -1
