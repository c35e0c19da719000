"""Volume flowing in and out: obv, mfi, cmf, ad, cvd."""

import numpy as np

from chartpact import ta
from chartpact.bars import Bars
from chartpact.indicators import ink
from chartpact.indicators.builtin import Trace, builtin, period
from chartpact.indicators.drawing import level, line, scene
from chartpact.scene import Scene

MISSING = "where volume is missing"


@builtin(
    "obv",
    "On-Balance Volume",
    "panel",
    "Volume added on rising closes and taken off on falling ones.",
    tracks=(Trace("OBV", first="1", gaps=MISSING),),
    needs_volume=True,
    differences=("The reference counts the first bar's volume; Pine starts with the second bar.",),
)
def obv(bars: Bars) -> Scene:
    return scene("OBV", line("OBV", ta.obv(bars.close, bars.volume), ink.BLUE, 2))


@builtin(
    "mfi",
    "Money Flow Index",
    "panel",
    "An RSI of money: typical price times volume, flowing in against flowing out.",
    params=(period(14),),
    tracks=(Trace("MFI", first="period - 1", gaps="until enough volumes are known"),),
    needs_volume=True,
    differences=(
        "The reference starts at 50 on bar 0 and is na without any flow; Pine is 100 without "
        "outflow.",
    ),
)
def mfi(bars: Bars, period: int) -> Scene:
    return scene(
        "MFI",
        line("MFI", ta.mfi(bars.hlc3, bars.volume, period), ink.BLUE, 2),
        level(80),
        level(20),
        y_range=(0, 100),
    )


@builtin(
    "cmf",
    "Chaikin Money Flow",
    "panel",
    "Volume weighted by where each bar closed in its range, as a share of all volume.",
    params=(period(20),),
    tracks=(Trace("CMF", first="period - 1", gaps="while the window has no volume"),),
    needs_volume=True,
    differences=("The reference draws from the first bar, over the bars there are.",),
)
def cmf(bars: Bars, period: int) -> Scene:
    reach = bars.high - bars.low
    place = np.where(ta.eq(reach, 0), 0.0, (2 * bars.close - bars.low - bars.high) / reach)
    flow = ta.sum(place * bars.volume, period)
    volume = ta.sum(bars.volume, period)
    share = ta.div(flow, volume)
    return scene("CMF", line("CMF", share, ink.BLUE, 2), level(0))


@builtin(
    "ad",
    "Accumulation/Distribution",
    "panel",
    "Volume weighted by where each bar closed in its range, summed up.",
    aliases=("ad_line",),
    tracks=(Trace("A/D"),),
    needs_volume=True,
)
def ad(bars: Bars) -> Scene:
    summed = ta.accdist(bars.high, bars.low, bars.close, bars.volume)
    return scene("A/D", line("A/D", summed, ink.BLUE, 2))


@builtin(
    "cvd",
    "Cumulative Volume Delta",
    "external",
    "Buying less selling volume, estimated from where each bar closed in its range, summed up.",
    tracks=(Trace("CVD", gaps=MISSING),),
    needs_volume=True,
    differences=(
        "TradingView's delta comes from bars of a lower timeframe; without them this estimate "
        "remains, as in the reference.",
    ),
)
def cvd(bars: Bars) -> Scene:
    reach = bars.high - bars.low
    bought = bars.volume * (bars.close - bars.low) / reach
    sold = bars.volume * (bars.high - bars.close) / reach
    delta = np.where(ta.gt(reach, 0), bought - sold, 0 * bars.volume)
    return scene("CVD", line("CVD", ta.cum(delta), ink.BLUE, 2))
