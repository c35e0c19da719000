"""What comes from outside the chart: funding, oi, long_short, fear_greed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from chartpact import ta
from chartpact.arrays import any_true
from chartpact.bars import Bars
from chartpact.clock.timeframe import DAY, HOUR, Timeframe
from chartpact.indicators import ink
from chartpact.indicators.builtin import Builtin, Function, Trace
from chartpact.indicators.drawing import Floats, across, columns, fill, level, line, paint, scene
from chartpact.needs import PERIODS, Need, Needs, Readings, Supplies, reporting_period
from chartpact.params import IndicatorError
from chartpact.problem import Problem
from chartpact.scene import Scene

OUTSIDE = "where the service has no reading that is recent enough"
EMPTY = (
    "Without data the reference draws an empty panel and, for funding, zeros; here that is an "
    "error of this indicator.",
    "The reference takes the nearest reading, even a later one; here a bar shows the last reading "
    "before its close.",
)


@dataclass(frozen=True)
class External(Builtin):
    """A builtin that draws the readings of a feed; its name is the feed's."""

    numbers: tuple[str, ...] = ()  # of each reading: the arguments of its function
    oldest_ms: Callable[[str], int] = lambda _: DAY  # how old a reading may be, by the timeframe

    def needs(self, bars: Bars, values: Mapping[str, Any]) -> Needs:  # noqa: ARG002
        if len(bars) == 0:
            return {}
        first = int(bars.time[0]) - self.oldest_ms(bars.timeframe)
        last = int(_closes(bars)[-1]) - 1
        return {self.name: Need(self.name, bars.symbol, bars.timeframe, first, last)}

    def looks_outside(self, values: Mapping[str, Any]) -> bool:  # noqa: ARG002
        return True

    def draw(
        self, bars: Bars, values: Mapping[str, Any], supplies: Supplies, first_visible: int = 0
    ) -> Scene:
        readings = supplies.get(self.name)
        if isinstance(readings, Readings):
            numbers = self._align(bars, readings)
        elif len(bars) == 0:
            numbers = dict.fromkeys(self.numbers, np.zeros(0))
        else:
            raise self._unavailable("nobody fetched its readings")
        return super().draw(bars, {**values, **numbers}, supplies, first_visible)

    def _align(self, bars: Bars, readings: Readings) -> Mapping[str, Floats]:
        """For each bar the last reading before its close, unless that is too old."""
        last = np.searchsorted(readings.time, _closes(bars), side="left") - 1
        fresh = bars.time - readings.time[last] <= self.oldest_ms(bars.timeframe)
        fresh &= last >= 0
        if not any_true(fresh):
            raise self._unavailable(
                f"the service has no {self.name} readings for the period of these bars"
            )
        return {
            name: np.where(fresh, values[last], np.nan) for name, values in readings.values.items()
        }

    def _unavailable(self, reason: str) -> IndicatorError:
        hint = "nothing is drawn for this indicator alone"
        return IndicatorError(Problem("unavailable", f"{self.name}: {reason}", hint))


def _closes(bars: Bars) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return bars.close_time if bars.timeframe else bars.time + 1


def _two_bars(timeframe: str) -> int:
    """Two bars, or two of the service's periods where they are longer."""
    bar = Timeframe.parse(timeframe).ms if timeframe else HOUR
    return 2 * max(bar, PERIODS[reporting_period(timeframe)])


def external(
    name: str, title: str, description: str, *numbers: str, **rest: Any
) -> Callable[[Function], External]:
    """Makes an external builtin of the function that draws its numbers."""
    return lambda function: External(
        name, title, "external", description, function, numbers=numbers, **rest
    )


@external(
    "funding",
    "Funding Rate",
    "What holders of a perpetual contract's longs pay the shorts, in percent.",
    "rate",
    aliases=("funding_rate",),
    tracks=(Trace("Funding", gaps=OUTSIDE),),
    oldest_ms=lambda _: 8 * HOUR,
    differences=EMPTY,
)
def funding(bars: Bars, rate: Floats) -> Scene:  # noqa: ARG001
    percent = 100 * rate
    colors = paint(ta.lt(percent, 0), (ink.UP, ink.DOWN))
    return scene("Funding", columns("Funding", percent, colors), level(0))


@external(
    "oi",
    "Open Interest",
    "The value of all open contracts.",
    "value",
    aliases=("open_interest",),
    tracks=(Trace("OI", gaps=OUTSIDE),),
    oldest_ms=_two_bars,
    differences=EMPTY,
)
def oi(bars: Bars, value: Floats) -> Scene:
    return scene(
        "OI", line("OI", value, ink.BLUE), fill(value, across(0, len(bars)), ink.BLUE, 0.15)
    )


@external(
    "long_short",
    "Long/Short Ratio",
    "The shares of accounts that are long and short.",
    "long",
    "short",
    aliases=("ls_ratio",),
    tracks=(Trace("Long", gaps=OUTSIDE), Trace("Short", gaps=OUTSIDE)),
    oldest_ms=_two_bars,
    differences=EMPTY,
)
def long_short(bars: Bars, long: Floats, short: Floats) -> Scene:  # noqa: ARG001
    return scene(
        "L/S",
        line("Long", long, ink.UP),
        line("Short", short, ink.DOWN),
        fill(long, short, ink.UP, 0.1),
        level(0.5),
    )


MOODS = (25, 45, 55, 75)  # where fear, caution, calm, greed and high spirits begin


@external(
    "fear_greed",
    "Fear and Greed",
    "The mood of the crypto market, from 0 (fear) to 100 (greed).",
    "value",
    aliases=("fng",),
    tracks=(Trace("F&G", gaps=OUTSIDE),),
    differences=(
        *EMPTY,
        "The dot of every bar is the line's colour, so that it can be read as values.",
    ),
)
def fear_greed(bars: Bars, value: Floats) -> Scene:  # noqa: ARG001
    shades = (ink.DOWN, ink.ORANGE, ink.GOLD, ink.GREEN, ink.UP)
    colors = paint(np.searchsorted(MOODS, value, side="right"), (*shades,))
    return scene(
        "F&G",
        line("F&G", value, colors, 2),
        level(25),
        level(50, style="dotted"),
        level(75),
        y_range=(0, 100),
    )
