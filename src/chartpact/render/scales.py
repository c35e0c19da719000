"""Where values and bars lie on the picture, and the round values the axes name."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from chartpact.render.display import Floats, Ints

ROUND = (1.0, 2.0, 2.5, 5.0)
# The digits that a log scale names in each power of ten, from many to few
DIGITS = (
    tuple(n / 20 for n in range(20, 200)),
    tuple(n / 10 for n in range(10, 100)),
    (*(n / 10 for n in range(10, 20)), *(n / 4 for n in range(8, 40))),
    (*(n / 5 for n in range(5, 15)), *(n / 2 for n in range(6, 20))),
    (1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9),
    (1, 1.5, 2, 3, 4, 5, 6, 8),
    (1, 2, 3, 5),
    (1, 2, 5),
    (1, 3),
    (1,),
)
FAR = 1e6  # pixels: nothing is drawn further away


@dataclass(frozen=True)
class BarScale:
    """Bars side by side, whatever time lies between them; x of a bar is its centre."""

    count: int
    left: float
    right: float
    ahead: float  # room right of the last bar, in bars

    @cached_property
    def step(self) -> float:
        return (self.right - self.left) / max(self.count + self.ahead, 1e-9)

    def x(self, bar: Floats | Ints | float) -> Floats:
        return np.asarray(self.left + (np.asarray(bar, dtype=float) + 0.5) * self.step)

    def x1(self, bar: float) -> float:
        return self.left + (bar + 0.5) * self.step


@dataclass(frozen=True)
class ValueScale:
    """Values from `low` at `bottom` to `high` at `top`, linear or logarithmic."""

    low: float
    high: float
    top: float
    bottom: float
    log: bool = False

    def _place(self, value: Floats) -> Floats:
        if not self.log:
            return value
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(value > 0, np.log(value), np.nan)

    def y(self, value: Floats | float) -> Floats:
        """The heights of values: NaN where a log scale has none, at most FAR away."""
        placed = self._place(np.asarray(value, dtype=float))
        low, high = self._ends
        with np.errstate(over="ignore"):
            y = self.bottom - (placed - low) / (high - low) * (self.bottom - self.top)
        return np.asarray(np.clip(y, -FAR, FAR))

    def y1(self, value: float) -> float:
        return float(self.y(value))

    @cached_property
    def _ends(self) -> tuple[float, float]:
        if self.log:
            return math.log(self.low), math.log(self.high)
        return self.low, self.high

    def value(self, y: float) -> float:
        """The value that lies there."""
        low, high = self._ends
        placed = low + (self.bottom - y) * (high - low) / (self.bottom - self.top)
        return math.exp(placed) if self.log else placed

    def ticks(
        self, top: float, bottom: float, apart: float, tick_size: float | None
    ) -> list[float]:
        """Round values between two heights, at least `apart` pixels from each other."""
        low, high = self.value(bottom), self.value(top)
        if self.log and low > 0 and high / low > 4:
            return self._decades(low, high, apart)
        step = round_step((high - low) * apart / max(bottom - top, 1.0), tick_size)
        if not step > 0 or (high - low) / step > 10_000:
            return []
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        values = [i * step for i in range(first, last + 1)]
        if not self.log:
            return values
        ticks: list[float] = []  # even values lie closer and closer on a log scale
        for value in values:
            if value > 0 and (not ticks or self.y1(ticks[-1]) - self.y1(value) >= apart * 0.7):
                ticks.append(value)
        return ticks

    def _decades(self, low: float, high: float, apart: float) -> list[float]:
        """Round values of every power of ten, as many as have room between each two."""
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for digits in DIGITS:
            values = [digit * 10.0**power for power in powers for digit in digits]
            ticks = [value for value in values if low <= value <= high]
            y = self.y(np.array(ticks))
            if len(ticks) < 2 or -np.diff(y).max() >= apart * 0.7:
                return ticks
        return ticks[:: math.ceil(apart * 0.7 / -np.diff(y).max())]


def round_step(least: float, tick_size: float | None = None) -> float:
    """The smallest round step of at least `least`; with a tick size, a whole number of ticks.

    >>> round_step(0.3), round_step(0.3, 0.25), round_step(0.03, 0.03125)
    (0.5, 0.5, 0.03125)
    """
    if not math.isfinite(least) or least <= 0:
        return math.nan
    steps = [
        digit * 10.0 ** (math.floor(math.log10(least)) + power)
        for power in (0, 1, 2)
        for digit in ROUND
    ]
    if tick_size and not any(math.isclose(_mantissa(tick_size), digit) for digit in ROUND):
        steps = sorted([*steps, *(tick_size * 2**i for i in range(12))])  # thirty-seconds and such
    for step in steps:
        if step >= least * (1 - 1e-9) and (not tick_size or _is_whole(step / tick_size)):
            return step
    return max(least, tick_size or 0.0)


def _mantissa(value: float) -> float:
    return value / 10.0 ** math.floor(math.log10(value) + 1e-9)


def _is_whole(value: float) -> bool:
    return round(value) > 0 and abs(value - round(value)) < 1e-6 * max(1.0, abs(value))
