"""The Kalman volume filter: smoothed volume pressure, its signal line and their crosses."""

import numpy as np

from chartpact import ta
from chartpact.bars import Bars
from chartpact.indicators import ink
from chartpact.indicators.builtin import Trace, bars_of_window, builtin
from chartpact.indicators.crossing import crosses_above, crosses_below
from chartpact.indicators.drawing import (
    Floats,
    across,
    columns,
    faded,
    fill,
    level,
    line,
    marks,
    paint,
    scene,
)
from chartpact.params import Param
from chartpact.scene import Scene

SCALE = 200  # bars whose deviation is the unit
ZONE = 0.6
TINY = 1e-30
NEGLIGIBLE = 1e-20
START = "vzo_length + isqrt(vzo_length) - 2 + 199"
STILL = "while volume pressure or volume stands still, and where volume is missing"
CROSSES = ("buy_oversold", "buy", "sell_overbought", "sell")


@builtin(
    "kalman_volume",
    "Kalman Volume Filter",
    "panel",
    "Volume pressure through a simple Kalman filter, its signal line and their crosses.",
    aliases=("kalman", "kvf"),
    params=(
        bars_of_window("vzo_length", 70, "Bars of the volume averages", least=2),
        Param("k", "float", 0.06, 0.0001, 1, desc="The filter's gain"),
        bars_of_window("sig_length", 10, "Bars of the signal line"),
    ),
    tracks=(
        Trace("KVF", START, STILL),
        Trace("Signal", f"{START} + sig_length - 1", STILL),
        Trace("Volume", str(SCALE - 1), STILL),
        Trace("Volume (mirrored)", str(SCALE - 1), STILL),
    ),
    signals=CROSSES,
    needs_volume=True,
    differences=(
        "The reference leaves the first 199 values unscaled and then jumps; here the filter starts "
        "with the first scaled value.",
        "A cross is drawn on the bar before it and confirmed on the bar of the cross.",
        "The dots of every bar are lines in the style of circles, so that they can be read as "
        "values.",
    ),
)
def kalman_volume(bars: Bars, vzo_length: int, k: float, sig_length: int) -> Scene:
    volume, n = bars.volume, len(bars)
    rose = np.ones(n, dtype=np.bool_)
    rose[2:] = ta.gt(bars.close[2:], bars.close[:-2])
    total = ta.hma(volume, vzo_length)
    pressure = ta.hma(np.where(rose, volume, -volume), vzo_length)
    pressure = np.where(np.abs(total) > TINY, pressure / total, np.nan)
    unit = ta.stdev(pressure, SCALE)
    smooth = _filter(np.where(unit > TINY, pressure / unit, np.nan), k)
    signal = ta.sma(smooth, sig_length)

    bull = ta.gt(smooth, signal)
    both = np.where(np.isnan(signal), np.nan, smooth)
    over = np.zeros(n, dtype=np.bool_)  # crosses over on the next bar
    under = np.zeros(n, dtype=np.bool_)
    over[:-1] = crosses_above(smooth, signal)[1:]
    under[:-1] = crosses_below(smooth, signal)[1:]
    calm = ta.lt(np.abs(smooth), ZONE)
    size = volume / ta.stdev(volume, SCALE) / 10
    size = np.where(ta.gt(size, 0.8), 0.0, size)
    shades = paint(bull, (ink.DOWN, ink.CYAN))
    return scene(
        "KVF",
        line("KVF", smooth, shades, 2, style="circles"),
        line("Signal", signal, ink.GRAY, 1, style="circles"),
        marks(over & ta.lt(smooth, -ZONE), smooth, ink.CYAN, 6, "buy_oversold"),
        marks(over & calm, smooth, ink.CYAN, 4, "buy"),
        marks(under & ta.gt(smooth, ZONE), smooth, ink.DOWN, 6, "sell_overbought"),
        marks(under & calm, smooth, ink.DOWN, 4, "sell"),
        fill(np.where(bull, both, np.nan), np.where(bull, signal, np.nan), ink.CYAN, 0.15),
        fill(np.where(bull, np.nan, both), np.where(bull, np.nan, signal), ink.DOWN, 0.15),
        fill(across(2, n), across(ZONE, n), ink.DOWN, 0.1),
        fill(across(-ZONE, n), across(-2, n), ink.CYAN, 0.1),
        columns("Volume", size, faded(ink.CYAN, 0.3)),
        columns("Volume (mirrored)", -size, faded(ink.CYAN, 0.3)),
        level(0),
        lag=dict.fromkeys(CROSSES, 1),
    )


def _filter(values: Floats, gain: float) -> Floats:
    """Each value pulls the estimate by `gain`, from 0; a missing one leaves it where it is.

    The weights of the last m values are known once those of the last m/2 are, so the span doubles
    until what lies before it weighs nothing.
    """
    known = np.flatnonzero(~np.isnan(values))
    estimate = gain * values[known]
    span, left = 1, 1 - gain
    while span < len(estimate) and left > NEGLIGIBLE:
        estimate[span:] += left * estimate[:-span]
        span, left = 2 * span, left * left
    out = np.full(len(values), np.nan)
    out[known] = estimate
    missing = np.flatnonzero(np.isnan(out))
    late = missing[missing > known[0]] if len(known) else missing[:0]
    out[late] = estimate[np.searchsorted(known, late) - 1]
    return out
