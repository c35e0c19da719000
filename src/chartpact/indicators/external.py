"""What comes from outside the chart: funding, oi, long_short, fear_greed."""

from collections.abc import Mapping

import numpy as np

from chartpact.bars import Bars
from chartpact.clock.timeframe import Timeframe
from chartpact.indicators import ink
from chartpact.indicators.builtin import Track, builtin
from chartpact.indicators.drawing import (
    Floats,
    across,
    columns,
    fill,
    level,
    line,
    paint,
    scene,
)
from chartpact.params import IndicatorError
from chartpact.problem import Problem
from chartpact.scene import Scene
from chartpact.sources import readings
from chartpact.sources.readings import DAY, HOUR, PERIODS, Readings, ReadingsError

OUTSIDE = "where the service has no reading that is recent enough"
EMPTY = (
    "Without data the reference draws an empty panel and, for funding, zeros; here that is an "
    "error of this indicator.",
    "The reference takes the nearest reading, even a later one; here a bar shows the last reading "
    "before its close.",
)


def _aligned(bars: Bars, what: str, oldest: int) -> Mapping[str, Floats]:
    """For each bar the last reading that was there before its close, if not older than `oldest`."""
    if len(bars) == 0:
        numbers = readings.FEEDS[what].numbers
        return {name: np.zeros(0) for name in numbers}
    closes = bars.close_time if bars.timeframe else bars.time + 1
    try:
        found = readings.current().read(
            what, bars.symbol, bars.timeframe, int(bars.time[0]) - oldest, int(closes[-1]) - 1
        )
        return _as_of(bars, closes, found, what, oldest)
    except ReadingsError as error:
        hint = "nothing is drawn for this indicator alone"
        raise IndicatorError(Problem("unavailable", f"{what}: {error}", hint)) from None


def _as_of(
    bars: Bars,
    closes: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    found: Readings,
    what: str,
    oldest: int,
) -> Mapping[str, Floats]:
    last = np.searchsorted(found.time, closes, side="left") - 1
    fresh = (last >= 0) & (bars.time - found.time[last] <= oldest)
    if not fresh.any():
        raise ReadingsError(f"the service has no {what} readings of the time of these bars")
    return {name: np.where(fresh, values[last], np.nan) for name, values in found.values.items()}


def _twice(timeframe: str) -> int:
    """Two bars, or two of the service's periods where they are longer."""
    bar = Timeframe.parse(timeframe).ms if timeframe else HOUR
    return 2 * max(bar, PERIODS[readings.period(timeframe)])


@builtin(
    "funding",
    "Funding Rate",
    "external",
    "What holders of a perpetual contract's longs pay the shorts, in percent.",
    aliases=("funding_rate",),
    tracks=(Track("Funding", gaps=OUTSIDE),),
    needs_network=True,
    differences=EMPTY,
)
def funding(bars: Bars) -> Scene:
    rate = 100 * _aligned(bars, "funding", 8 * HOUR)["rate"]
    return scene("Funding", columns("Funding", rate, paint(rate < 0, (ink.UP, ink.DOWN))), level(0))


@builtin(
    "oi",
    "Open Interest",
    "external",
    "The value of all open contracts.",
    aliases=("open_interest",),
    tracks=(Track("OI", gaps=OUTSIDE),),
    needs_network=True,
    differences=EMPTY,
)
def oi(bars: Bars) -> Scene:
    value = _aligned(bars, "oi", _twice(bars.timeframe))["value"]
    return scene(
        "OI", line("OI", value, ink.BLUE), fill(value, across(0, len(bars)), ink.BLUE, 0.15)
    )


@builtin(
    "long_short",
    "Long/Short Ratio",
    "external",
    "The shares of accounts that are long and short.",
    aliases=("ls_ratio",),
    tracks=(Track("Long", gaps=OUTSIDE), Track("Short", gaps=OUTSIDE)),
    needs_network=True,
    differences=EMPTY,
)
def long_short(bars: Bars) -> Scene:
    found = _aligned(bars, "long_short", _twice(bars.timeframe))
    return scene(
        "L/S",
        line("Long", found["long"], ink.UP),
        line("Short", found["short"], ink.DOWN),
        fill(found["long"], found["short"], ink.UP, 0.1),
        level(0.5),
        y_range=(0, 1),
    )


MOODS = (25, 45, 55, 75)  # where fear, caution, calm, greed and high spirits begin


@builtin(
    "fear_greed",
    "Fear and Greed",
    "external",
    "The mood of the crypto market, from 0 (fear) to 100 (greed).",
    aliases=("fng",),
    tracks=(Track("F&G", gaps=OUTSIDE),),
    needs_network=True,
    differences=(
        *EMPTY,
        "The dot of every bar is the line's colour, so that it can be read as values.",
    ),
)
def fear_greed(bars: Bars) -> Scene:
    mood = _aligned(bars, "fear_greed", DAY)["value"]
    shades = (ink.DOWN, ink.ORANGE, ink.GOLD, ink.GREEN, ink.UP)
    colors = paint(np.searchsorted(MOODS, mood, side="right"), (*shades,))
    return scene(
        "F&G",
        line("F&G", mood, colors, 2),
        level(25),
        level(50, style="dotted"),
        level(75),
        y_range=(0, 100),
    )
