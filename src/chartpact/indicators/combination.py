"""RSI, money flow and stochastic in one pane."""

import numpy as np

from chartpact import ta
from chartpact.bars import Bars
from chartpact.indicators import ink
from chartpact.indicators.builtin import Trace, bars_of_window, builtin
from chartpact.indicators.crossing import crosses_above, crosses_below
from chartpact.indicators.drawing import (
    Bools,
    Floats,
    across,
    columns,
    faded,
    finite,
    level,
    line,
    marks,
    paint,
    scene,
)
from chartpact.params import Param
from chartpact.scene import Plot, Scene

FLAT = "until the window's high first differs from its low"
MIDDLE = 50


@builtin(
    "rsi_mfi_stoch",
    "RSI, MFI and Stochastic",
    "panel",
    "Three oscillators together, where they agree, and dots where they leave an extreme.",
    aliases=("rsi_combo", "combo"),
    params=(
        bars_of_window("rsi_length", 14, "Bars of the RSI"),
        bars_of_window("mfi_length", 14, "Bars of the money flow index"),
        bars_of_window("stoch_k", 14, "Bars of the stochastic"),
        bars_of_window("stoch_d", 3, "Bars of its signal line"),
        bars_of_window("stoch_smooth", 3, "Bars of its average"),
        Param("overbought", "float", 70.0, 0, 100, desc="Upper level of the RSI"),
        Param("oversold", "float", 30.0, 0, 100, desc="Lower level of the RSI"),
        Param("show_entry_dots", "bool", True, desc="Draw the dots"),
        Param("show_trend_bars", "bool", True, desc="Draw where all three agree"),
    ),
    tracks=(
        Trace("RSI", "rsi_length"),
        Trace("MFI", "mfi_length - 1", "until enough volumes are known"),
        Trace("Stoch K", "stoch_k + stoch_smooth - 2", FLAT),
        Trace("Stoch D", "stoch_k + stoch_smooth + stoch_d - 3", FLAT),
        Trace("Trend"),
    ),
    signals=("rsi_oversold", "rsi_overbought", "stoch_oversold", "stoch_overbought"),
    needs_volume=True,
    differences=(
        "RSI is Wilder's, the money flow index and the stochastic are Pine's, with their na.",
        "Lines within 1e-10 are equal: rounding makes no cross.",
        "Colours are adapted to be legible on dark and on light backgrounds.",
    ),
)
def rsi_mfi_stoch(
    bars: Bars,
    rsi_length: int,
    mfi_length: int,
    stoch_k: int,
    stoch_d: int,
    stoch_smooth: int,
    overbought: float,
    oversold: float,
    show_entry_dots: bool,
    show_trend_bars: bool,
) -> Scene:
    rsi = finite(ta.rsi(bars.close, rsi_length))
    mfi = ta.mfi(bars.hlc3, bars.volume, mfi_length)
    k = ta.sma(finite(ta.stoch(bars.close, bars.high, bars.low, stoch_k)), stoch_smooth)
    d = ta.sma(k, stoch_d)
    plots: list[Plot] = [
        line("RSI", rsi, ink.UP, 2),
        line("MFI", mfi, ink.COBALT, 2),
        line("Stoch K", k, ink.VIOLET, 2),
        line("Stoch D", d, ink.GRAY, 1),
        level(overbought, ink.DOWN),
        level(MIDDLE, style="dotted"),
        level(oversold, ink.UP),
    ]
    if show_trend_bars:
        plots.append(_agreement(rsi, mfi, k))
    if show_entry_dots:
        was = ta.shift(rsi, 1)
        plots += [
            marks(ta.lt(was, oversold) & ta.ge(rsi, oversold), rsi, ink.EMERALD, 5, "rsi_oversold"),
            marks(
                ta.gt(was, overbought) & ta.le(rsi, overbought), rsi, ink.RED, 5, "rsi_overbought"
            ),
            marks(crosses_above(k, d) & ta.lt(k, 20), k, ink.EMERALD, 5, "stoch_oversold"),
            marks(crosses_below(k, d) & ta.gt(k, 80), k, ink.RED, 5, "stoch_overbought"),
        ]
    return scene("RSI/MFI/Stoch", *plots, y_range=(0, 100))


def _agreement(*oscillators: Floats) -> Plot:
    """A low strip in the colour of the trend where all three are on one side of the middle."""
    up: Bools = np.logical_and.reduce([ta.gt(values, MIDDLE) for values in oscillators])
    down: Bools = np.logical_and.reduce([ta.lt(values, MIDDLE) for values in oscillators])
    colors = paint(up + 2 * down, (None, faded(ink.UP, 0.3), faded(ink.DOWN, 0.3)))
    return columns("Trend", across(5, len(up)), colors)
