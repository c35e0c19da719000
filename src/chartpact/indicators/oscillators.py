"""Oscillators of the price: rsi, macd, stoch, cci, roc, williams_r."""

from chartpact import ta
from chartpact.bars import Bars
from chartpact.indicators import ink
from chartpact.indicators.builtin import Trace, bars_of_window, builtin, period
from chartpact.indicators.drawing import across, columns, faded, fill, level, line, paint, scene
from chartpact.scene import Scene

FLAT = "while the window's high equals its low"
UNMOVED = "until the window's high first differs from its low"


@builtin(
    "rsi",
    "Relative Strength Index",
    "panel",
    "Wilder's measure of recent gains against recent losses, from 0 to 100.",
    params=(period(14),),
    tracks=(Trace("RSI", first="period"),),
    differences=("The reference averages exponentially from bar 0; TradingView as Wilder did.",),
)
def rsi(bars: Bars, period: int) -> Scene:
    return scene(
        "RSI",
        line("RSI", ta.rsi(bars.close, period), ink.PURPLE, 2),
        level(70),
        level(30),
        level(50, style="dotted"),
        fill(across(70, len(bars)), across(30, len(bars)), ink.PURPLE, 0.1),
    )


@builtin(
    "macd",
    "MACD",
    "panel",
    "The distance of two exponential averages, its signal line and the gap between them.",
    params=(
        bars_of_window("fast", 12, "Bars of the fast average"),
        bars_of_window("slow", 26, "Bars of the slow average"),
        bars_of_window("signal", 9, "Bars of the signal line"),
    ),
    tracks=(
        Trace("MACD", first="max(fast, slow) - 1"),
        Trace("Signal", first="max(fast, slow) + signal - 2"),
        Trace("Histogram", first="max(fast, slow) + signal - 2"),
    ),
    differences=(
        "The reference starts on bar 0; Pine seeds each average with a mean.",
        "The histogram fades while it shrinks, as on TradingView.",
    ),
)
def macd(bars: Bars, fast: int, slow: int, signal: int) -> Scene:
    distance, smooth, gap = ta.macd(bars.close, fast, slow, signal)
    shrinks = ta.lt(abs(gap), abs(ta.shift(gap, 1)))
    shades = (ink.UP, ink.DOWN, faded(ink.UP, 0.5), faded(ink.DOWN, 0.5))
    return scene(
        "MACD",
        line("MACD", distance, ink.COBALT, 2),
        line("Signal", smooth, ink.ORANGE, 2),
        columns("Histogram", gap, paint(ta.lt(gap, 0) + 2 * shrinks, shades)),
        level(0),
    )


@builtin(
    "stoch",
    "Stochastic",
    "panel",
    "Where the close lies between the window's low and high, smoothed twice.",
    aliases=("stochastic",),
    params=(
        period(14),
        bars_of_window("k_smooth", 3, "Bars of the average that is %K"),
        bars_of_window("d_smooth", 3, "Bars of the average that is %D"),
    ),
    tracks=(
        Trace("%K", first="period + k_smooth - 2", gaps=UNMOVED),
        Trace("%D", first="period + k_smooth + d_smooth - 3", gaps=UNMOVED),
    ),
    differences=(
        "The reference smooths exponentially; TradingView with simple averages.",
        "A window without range repeats the last value, as in Pine; the reference says 50.",
        "TradingView's own study starts with %K over 1 bar.",
    ),
)
def stoch(bars: Bars, period: int, k_smooth: int, d_smooth: int) -> Scene:
    k = ta.sma(ta.stoch(bars.close, bars.high, bars.low, period), k_smooth)
    d = ta.sma(k, d_smooth)
    return scene(
        "Stoch",
        line("%K", k, ink.BLUE, 2),
        line("%D", d, ink.ORANGE, 2),
        fill(k, d, ink.BLUE, 0.1),
        level(80),
        level(20),
        y_range=(0, 100),
    )


@builtin(
    "cci",
    "Commodity Channel Index",
    "panel",
    "How far the typical price is from its average, in mean deviations.",
    params=(period(20),),
    tracks=(Trace("CCI", first="period - 1"),),
    differences=(
        "The reference divides by the deviation of the close; TradingView by that of hlc3.",
    ),
)
def cci(bars: Bars, period: int) -> Scene:
    return scene(
        "CCI",
        line("CCI", ta.cci(bars.hlc3, period), ink.BLUE, 2),
        level(100),
        level(-100),
    )


@builtin(
    "roc",
    "Rate of Change",
    "panel",
    "The change of the close over the window, in percent.",
    params=(period(14),),
    tracks=(Trace("ROC", first="period", gaps="where the earlier close is 0"),),
    differences=(
        "The reference compares the first bars with bar 0; Pine leaves them na.",
        "TradingView's own study starts at 9 bars.",
    ),
)
def roc(bars: Bars, period: int) -> Scene:
    return scene("ROC", line("ROC", ta.roc(bars.close, period), ink.BLUE, 2), level(0))


@builtin(
    "williams_r",
    "Williams %R",
    "panel",
    "Where the close lies below the window's high, from 0 down to -100.",
    aliases=("willr",),
    params=(period(14),),
    tracks=(Trace("%R", first="period - 1", gaps=FLAT),),
    differences=("A window without range is na, as in Pine; the reference says 0.",),
)
def williams_r(bars: Bars, period: int) -> Scene:
    return scene(
        "W%R",
        line("%R", ta.wpr(bars.high, bars.low, bars.close, period), ink.BLUE, 2),
        level(-20),
        level(-80),
        y_range=(-100, 0),
    )
