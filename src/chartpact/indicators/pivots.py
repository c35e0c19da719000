"""Pivot points of the period before, as TradingView's "Pivot Points Standard" draws them."""

import numpy as np

from chartpact import ta
from chartpact.bars import Bars
from chartpact.clock.timeframe import Timeframe, of_steps
from chartpact.indicators import ink
from chartpact.indicators.builtin import Trace, builtin
from chartpact.indicators.drawing import line, scene
from chartpact.indicators.sessions import DAY_ROLL, with_day_roll
from chartpact.params import Param
from chartpact.scene import Scene

FIRST = "on the bars of the first period, which has none before it"
LEVELS = 5
COLORS = {"P": ink.GOLD, "R": ink.DOWN, "S": ink.UP}


def _choose_period(bars: Bars) -> str:
    """TradingView's choice: days up to 15 minutes, then weeks, months of days, years of weeks."""
    step = Timeframe.parse(bars.timeframe) if bars.timeframe else of_steps(bars.time)
    if step is None or (step.intraday and step.ms <= 15 * 60_000):
        return "1D"
    if step.intraday:
        return "1W"
    return "1M" if step.unit == "D" else "12M"


@builtin(
    "pivot",
    "Pivot Points",
    "overlay",
    "The pivot of the previous day (or week, month, year) with its supports and resistances.",
    aliases=("pivot_points",),
    params=(
        Param(
            "timeframe",
            "choice",
            "auto",
            options=("auto", "1D", "1W", "1M", "3M", "12M"),
            desc="The period; auto: 1D up to 15m bars, 1W for other intraday bars, 1M for 1D, 12M",
        ),
        Param("levels", "int", 3, 1, LEVELS, desc="Supports and resistances on each side"),
        DAY_ROLL,
    ),
    tracks=(
        Trace("P", gaps=FIRST),
        *(Trace(f"{side}{k}", gaps=FIRST) for k in range(1, LEVELS + 1) for side in "RS"),
    ),
    differences=(
        "The reference takes the bar before; TradingView the period before, by the trading day.",
        "TradingView draws five levels on each side; here they are a parameter.",
    ),
)
def pivot(bars: Bars, timeframe: str, levels: int, day_roll: str | None) -> Scene:
    bars = with_day_roll(bars, day_roll, "pivot")
    periods = bars.periods(_choose_period(bars) if timeframe == "auto" else timeframe)
    first, of_each = periods.first, periods.of_each
    high, low = np.maximum.reduceat(bars.high, first), np.minimum.reduceat(bars.low, first)
    prices = bars.open[first], high, low, bars.close[periods.stop - 1]
    # Levels are computed once a period, not once a bar.
    computed = ta.pivot_point_levels(*prices, "Traditional", np.ones(len(first), np.bool_))
    titles = ["P", *(f"{side}{k}" for k in range(1, levels + 1) for side in "RS")]
    plots = [
        line(title, level[of_each], COLORS[title[0]], style="levels")
        for title, level in zip(titles, computed, strict=False)
    ]
    return scene("Pivot", *plots)
