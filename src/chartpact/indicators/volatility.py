"""Volatility: atr, histvol."""

import math

import numpy as np

from chartpact import ta
from chartpact.bars import Bars
from chartpact.clock.timeframe import Timeframe, of_steps
from chartpact.indicators import ink
from chartpact.indicators.builtin import Trace, builtin, period
from chartpact.indicators.drawing import line, scene
from chartpact.scene import Scene

DAYS_A_YEAR = 365


@builtin(
    "atr",
    "Average True Range",
    "panel",
    "Wilder's average of the range from bar to bar.",
    params=(period(14),),
    tracks=(Trace("ATR", first="period - 1"),),
    differences=("The reference averages exponentially; Pine as Wilder did.",),
)
def atr(bars: Bars, period: int) -> Scene:
    return scene("ATR", line("ATR", ta.atr(bars.high, bars.low, bars.close, period), ink.ORANGE, 2))


@builtin(
    "histvol",
    "Historical Volatility",
    "panel",
    "The standard deviation of logarithmic returns, as percent a year.",
    aliases=("hv",),
    params=(period(20),),
    tracks=(Trace("HV", first="period", gaps="until enough closes are above 0"),),
    differences=(
        "The reference counts 252 periods a year for every timeframe; TradingView 365 up to 1D "
        "and 365/7 above.",
        "TradingView's own study starts at 10 bars.",
    ),
)
def histvol(bars: Bars, period: int) -> Scene:
    returns = np.log(bars.close / ta.shift(bars.close, 1))
    returns[~np.isfinite(returns)] = np.nan
    a_year = math.sqrt(DAYS_A_YEAR / _days_a_bar(bars))
    return scene("HV", line("HV", 100 * ta.stdev(returns, period) * a_year, ink.ORANGE, 2))


def _days_a_bar(bars: Bars) -> int:
    """TradingView's count: 1 up to daily bars, 7 above."""
    step = Timeframe.parse(bars.timeframe) if bars.timeframe else of_steps(bars.time)
    return 1 if step is None or step.intraday or step == Timeframe(1, "D") else 7
