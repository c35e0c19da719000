"""Trends, how they turn and how strong they are: supertrend, sar, heikin_ashi, adx."""

import numpy as np

from chartpact import ta
from chartpact.bars import Bars
from chartpact.indicators import ink
from chartpact.indicators.builtin import Trace, builtin, period
from chartpact.indicators.drawing import (
    Bools,
    Floats,
    fill,
    finite,
    level,
    line,
    marks,
    paint,
    scene,
)
from chartpact.params import Param
from chartpact.scene import BarColorPlot, CandlesPlot, DotPlot, Scene

FLIPS = ("flip_up", "flip_down")
HIDDEN = "#00000000"


def _flips(up: Bools, known: Bools, y: Floats, size: float) -> tuple[DotPlot, DotPlot]:
    """Dots on the bars where a known trend turned."""
    turned = np.zeros(len(up), dtype=np.bool_)
    turned[1:] = known[1:] & known[:-1] & (up[1:] != up[:-1])
    return (
        marks(turned & up, y, ink.UP, size, "flip_up"),
        marks(turned & ~up, y, ink.DOWN, size, "flip_down"),
    )


@builtin(
    "supertrend",
    "Supertrend",
    "overlay",
    "A stop some average true ranges from the price, on the side of the trend.",
    params=(
        period(10, "Bars of the average true range"),
        Param("multiplier", "float", 3.0, 0, 50, desc="Ranges", aliases=("mult", "factor")),
    ),
    tracks=(
        Trace("Up Trend", first="max(1, period - 1)", gaps="while the trend is down"),
        Trace("Down Trend", first="max(1, period - 1)", gaps="while the trend is up"),
    ),
    signals=FLIPS,
    differences=(
        "The reference starts in an up trend on bar 0 over an exponential average of the range; "
        "Pine starts down at the first average true range.",
        "The reference draws a dot a bar; TradingView two lines with breaks. The dots of the flips "
        "are kept.",
    ),
)
def supertrend(bars: Bars, period: int, multiplier: float) -> Scene:
    stop, direction = ta.supertrend(bars.high, bars.low, bars.close, multiplier, period)
    stop = np.array(stop)
    stop[:1] = np.nan  # Pine's 0 on the first bar is no level
    stop = finite(stop)
    up = direction < 0
    rising, falling = np.where(up, stop, np.nan), np.where(up, np.nan, stop)
    body = (bars.open + bars.close) / 2
    return scene(
        "Supertrend",
        line("Up Trend", rising, ink.UP, 2, style="linebr"),
        line("Down Trend", falling, ink.DOWN, 2, style="linebr"),
        fill(body, rising, ink.UP, 0.1),
        fill(body, falling, ink.DOWN, 0.1),
        *_flips(up, ~np.isnan(stop), stop, 4),
    )


def _sar_is_below(bars: Bars, stop: Floats) -> Bools:
    """Whether the stop trails below the price; a flat bar at the stop is as the bar before it."""
    below, above = ta.le(stop, bars.low), ta.ge(stop, bars.high)
    side = below.astype(np.int8) - above.astype(np.int8)
    if len(side) > 1:
        side[1] = 1 if bars.high[1] >= bars.high[0] else -1  # how Pine's sar starts
    known_at = np.where(side != 0, np.arange(len(side)), 0)
    return np.asarray(side[np.maximum.accumulate(known_at)] > 0)


@builtin(
    "sar",
    "Parabolic SAR",
    "overlay",
    "Wilder's stop that accelerates towards the price and reverses when it is touched.",
    aliases=("parabolic_sar",),
    params=(
        Param("af_start", "float", 0.02, 0, 10, desc="First acceleration", aliases=("start",)),
        Param("af_step", "float", 0.02, 0, 10, desc="Added at every new extreme", aliases=("inc",)),
        Param("af_max", "float", 0.2, 0, 10, desc="Largest acceleration", aliases=("max",)),
    ),
    tracks=(Trace("SAR", first="1"),),
    signals=FLIPS,
    differences=(
        "The reference starts long on bar 0; Pine on bar 1, on the side of the first move.",
        "On a reversal Pine holds the new stop outside the bar as well.",
        "The dot of every bar is a line in the style of circles, so that it can be read as values.",
    ),
)
def sar(bars: Bars, af_start: float, af_step: float, af_max: float) -> Scene:
    stop = finite(ta.sar(bars.high, bars.low, bars.close, af_start, af_step, af_max))
    up = _sar_is_below(bars, stop)
    return scene(
        "SAR",
        line("SAR", stop, paint(~up, (ink.UP, ink.DOWN)), 2, style="circles"),
        *_flips(up, ~np.isnan(stop), stop, 4),
    )


@builtin(
    "heikin_ashi",
    "Heikin Ashi",
    "overlay",
    "Averaged candles in place of the chart's own, and where their colour changes.",
    aliases=("ha",),
    signals=FLIPS,
    differences=(
        "The reference draws a dot for every close; here candles take the chart's place.",
    ),
)
def heikin_ashi(bars: Bars) -> Scene:
    closes, opens = finite(bars.ohlc4), (bars.open + bars.close) / 2
    if len(bars) > 1:
        # open = (open₁ + close₁) / 2, an rma over two bars that is seeded with its first two
        opens = np.concatenate((opens[:1], ta.rma(np.append(opens[:1], closes[:-1]), 2)[1:]))
    opens = finite(opens)
    up = ta.ge(closes, opens)
    body = np.maximum(opens, closes), np.minimum(opens, closes)
    return scene(
        "HA",
        BarColorPlot(color=HIDDEN),
        CandlesPlot(
            title="HA",
            open=opens,
            high=finite(np.maximum(bars.high, body[0])),
            low=finite(np.minimum(bars.low, body[1])),
            close=closes,
            color=paint(~up, (ink.UP, ink.DOWN)),
        ),
        *_flips(up, np.isfinite(closes), closes, 3),
    )


NO_RANGE = "while the average true range is 0"


@builtin(
    "adx",
    "Average Directional Index",
    "panel",
    "How strong the trend is, and the directional movement up and down.",
    params=(period(14, "Bars of the directional movement and of its average"),),
    tracks=(
        Trace("ADX", first="2 * period - 1", gaps=NO_RANGE),
        Trace("+DI", first="period", gaps=NO_RANGE),
        Trace("-DI", first="period", gaps=NO_RANGE),
    ),
    differences=(
        "The reference averages the first period + 1 values of DX; Pine seeds with period values.",
    ),
)
def adx(bars: Bars, period: int) -> Scene:
    plus, minus, strength = ta.dmi(bars.high, bars.low, bars.close, period, period)
    return scene(
        "ADX",
        line("ADX", strength, ink.MAGENTA, 2),
        line("+DI", plus, ink.UP),
        line("-DI", minus, ink.DOWN),
        level(25),
    )
