"""Timeframes as they are written everywhere: `1m 5m 1h 4h 1D 1W 1M`."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chartpact.clock.errors import ClockError
from chartpact.problem import did_you_mean

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
UNIT_MS = {"s": SECOND, "m": MINUTE, "h": HOUR, "D": DAY, "W": 7 * DAY, "M": 30 * DAY}
COMMON = "1s 15s 30s 1m 2m 3m 5m 10m 15m 30m 45m 1h 2h 3h 4h 6h 8h 12h 1D 1W 1M 3M 12M".split()

# TradingView's own spelling of a chart's interval: minutes without a unit, days without a count.
_TRADINGVIEW = {"D": "1D", "W": "1W", "M": "1M"}
_SHAPE = re.compile(r"([1-9][0-9]{0,4})([smhHdDwWM])")
_MONTHS = (1, 2, 3, 4, 6, 12)  # that bars are apart
_MOST = {"D": 365, "W": 52, "M": 12}


@dataclass(frozen=True)
class Timeframe:
    """A number of seconds, minutes, hours, trading days, weeks or months."""

    count: int
    unit: str

    @staticmethod
    def parse(text: str) -> "Timeframe":
        """The timeframe that a text names, in its canonical spelling.

        >>> str(Timeframe.parse("60m")), str(Timeframe.parse("1d"))
        ('1h', '1D')
        """
        if isinstance(text, str):
            return _parse(text)
        raise ClockError(f"a timeframe is a text such as '5m', not {text!r}")

    @property
    def ms(self) -> int:
        """Its length in milliseconds; of a month, 30 days."""
        return self.count * UNIT_MS[self.unit]

    @property
    def seconds(self) -> int:
        """Its length as Pine tells it; of a month, a twelfth of 365 days and 3 seconds."""
        return self.count * (2_628_003 if self.unit == "M" else UNIT_MS[self.unit] // SECOND)

    @property
    def intraday(self) -> bool:
        return self.unit in "smh"

    def nests_in(self, higher: "Timeframe") -> bool:
        """Whether bars of this timeframe add up to whole bars of `higher`."""
        if self.intraday:
            return (higher.ms if higher.intraday else DAY) % self.ms == 0
        if self.unit == higher.unit:
            return higher.count % self.count == 0
        return self == Timeframe(1, "D") and higher.unit in "WM"

    def __str__(self) -> str:
        return f"{self.count}{self.unit}"


@lru_cache(maxsize=256)
def _parse(text: str) -> Timeframe:
    spelling = _TRADINGVIEW.get(text, f"{text}m" if text.isdecimal() else text)
    match = _SHAPE.fullmatch(spelling)
    if match is None:
        raise _no_timeframe(text)
    count, unit = int(match[1]), {"H": "h", "d": "D", "w": "W"}.get(match[2], match[2])
    if unit in _MOST:
        if count > _MOST[unit]:
            raise _no_timeframe(text)
        return Timeframe(count, unit)
    ms = count * UNIT_MS[unit]
    if ms > DAY:
        raise ClockError(f"{text!r} is no timeframe: longer than a day, it counts days, as in '2D'")
    unit = next(unit for unit in "Dhms" if ms % UNIT_MS[unit] == 0)
    return Timeframe(ms // UNIT_MS[unit], unit)


def _no_timeframe(text: str) -> ClockError:
    minutes = f"{text[:-1]}m"
    if text.endswith("M") and _SHAPE.fullmatch(minutes):  # 15M is asked for when 15m is meant
        hint = f"; m is minutes and M is months: did you mean {minutes!r}?"
    else:
        hint = did_you_mean(text, COMMON, before="; ")
    return ClockError(f"{text!r} is no timeframe: write it like 1m 5m 1h 4h 1D 1W 1M{hint}")


def of_steps(time: NDArray[np.int64]) -> Timeframe | None:
    """The timeframe of bars that open at these times, by the commonest step; None if unclear."""
    if len(time) < 2:
        return None
    steps, counts = np.unique(np.diff(time), return_counts=True)
    step = int(steps[np.argmax(counts)])  # of equally common steps the shortest
    if step >= 28 * DAY:
        steps_in_months = Counter(_month_steps(time).tolist())
        count = min(steps_in_months, key=lambda months: (-steps_in_months[months], months))
        return Timeframe(count, "M") if count in _MONTHS else None
    if step % DAY == 0:
        days = step // DAY
        return Timeframe(days, "D") if days % 7 else Timeframe(days // 7, "W")
    if step > DAY or step % SECOND:
        return None
    return Timeframe.parse(f"{step // SECOND}s")


def _month_steps(time: NDArray[np.int64]) -> NDArray[np.int64]:
    # A month's bar may open on the evening before its first day: half a month later is inside it.
    middle = (time + 14 * DAY).astype("datetime64[ms]").astype("datetime64[M]")
    return np.diff(middle).astype(np.int64)
