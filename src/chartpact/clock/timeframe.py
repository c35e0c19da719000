"""Timeframes as they are written everywhere: `1m 5m 1h 4h 1D 1W 1M`."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from chartpact.bars.errors import BarsError, nearest

DAY = 86_400_000
UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "D": DAY, "W": 7 * DAY, "M": 30 * DAY}
COMMON = "1s 15s 30s 1m 2m 3m 5m 10m 15m 30m 45m 1h 2h 3h 4h 6h 8h 12h 1D 1W 1M 3M 12M".split()

# TradingView's own spelling of a chart's interval: minutes without a unit, days without a count.
_TRADINGVIEW = {"D": "1D", "W": "1W", "M": "1M"}
_SHAPE = re.compile(r"([1-9][0-9]{0,4})([smhHdDwWM])")
_MONTHS = (1, 2, 3, 4, 6, 12)
_MOST = {"D": 365, "W": 52}


@dataclass(frozen=True)
class Timeframe:
    """A number of seconds, minutes, hours, trading days, weeks or months."""

    count: int
    unit: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """The timeframe that a text names, in its canonical spelling.

        >>> str(Timeframe.parse("60m")), str(Timeframe.parse("1d"))
        ('1h', '1D')
        """
        if not isinstance(text, str):
            raise BarsError(f"a timeframe is a text such as '5m', not {text!r}")
        return cls(*_parse(text))

    @property
    def ms(self) -> int:
        """Its length in milliseconds; of a month, 30 days."""
        return self.count * UNIT_MS[self.unit]

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
def _parse(text: str) -> tuple[int, str]:
    spelling = _TRADINGVIEW.get(text, f"{text}m" if text.isdecimal() else text)
    match = _SHAPE.fullmatch(spelling)
    if match is None:
        raise _no_timeframe(text)
    count, unit = int(match[1]), match[2]
    if unit == "M":
        if count not in _MONTHS:
            raise _no_timeframe(text)
        return count, unit
    unit = {"H": "h", "d": "D", "w": "W"}.get(unit, unit)
    if unit in _MOST:
        if count > _MOST[unit]:
            raise _no_timeframe(text)
        return count, unit
    ms = count * UNIT_MS[unit]
    if ms == DAY:
        return 1, "D"
    if ms > DAY:
        raise BarsError(f"{text!r} is no timeframe: longer than a day, it counts days, as in '2D'")
    unit = next(each for each in "hms" if ms % UNIT_MS[each] == 0)
    return ms // UNIT_MS[unit], unit


def _no_timeframe(text: str) -> BarsError:
    minutes = f"{text[:-1]}m"
    if text.endswith("M") and _SHAPE.fullmatch(minutes):  # 15M is asked for when 15m is meant
        hint = f"; m is minutes and M is months: did you mean {minutes!r}?"
    else:
        hint = nearest(text, COMMON)
    return BarsError(f"{text!r} is no timeframe: write it like 1m 5m 1h 4h 1D 1W 1M{hint}")


def of_steps(time: NDArray[np.int64]) -> Timeframe | None:
    """The timeframe of bars that open at these times, by the commonest step; None if unclear."""
    if len(time) < 2:
        return None
    steps, counts = np.unique(np.diff(time), return_counts=True)
    step = int(steps[np.argmax(counts)])  # of equally common steps the shortest
    if step >= 28 * DAY:
        months = Counter(_month_steps(time).tolist())
        count = min(months, key=lambda months_apart: (-months[months_apart], months_apart))
        return Timeframe(count, "M") if count in _MONTHS else None
    if step % DAY == 0:
        days = step // DAY
        return Timeframe(days, "D") if days % 7 else Timeframe(days // 7, "W")
    if step > DAY or step % 1_000:
        return None
    return Timeframe.parse(f"{step // 1_000}s")


def _month_steps(time: NDArray[np.int64]) -> NDArray[np.int64]:
    # A month's bar may open on the evening before its first day: half a month later is inside it.
    middle = (time + 14 * DAY).astype("datetime64[ms]").astype("datetime64[M]")
    return np.diff(middle).astype(np.int64)
