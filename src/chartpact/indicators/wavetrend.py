"""WaveTrend, and Cipher B that is built on it."""

from dataclasses import dataclass

import numpy as np

from chartpact import ta
from chartpact.bars import Bars
from chartpact.indicators import divergence, ink
from chartpact.indicators.builtin import Trace, bars_of_window, builtin
from chartpact.indicators.drawing import (
    Bools,
    Floats,
    across,
    dots,
    faded,
    fill,
    finite,
    level,
    line,
    marks,
    paint,
    scene,
)
from chartpact.params import Param
from chartpact.scene import DivLinePlot, DotPlot, Plot, Scene

SMOOTH = 3  # bars of the average that is WT2
FLAT = "where the price has not moved in the channel"


@dataclass(frozen=True)
class Waves:
    """The two lines of WaveTrend, and where they cross."""

    wt1: Floats
    wt2: Floats

    @property
    def up(self) -> Bools:
        return ta.lt(ta.shift(self.wt1, 1), ta.shift(self.wt2, 1)) & ta.ge(self.wt1, self.wt2)

    @property
    def down(self) -> Bools:
        return ta.gt(ta.shift(self.wt1, 1), ta.shift(self.wt2, 1)) & ta.le(self.wt1, self.wt2)


def waves(bars: Bars, channel: int, average: int) -> Waves:
    """WaveTrend of hlc3: its distance from an average, in average distances, smoothed."""
    price = bars.hlc3
    centre = ta.ema(price, channel)
    reach = 0.015 * ta.ema(np.abs(price - centre), channel)
    index = np.where(reach == 0, np.nan, (price - centre) / reach)
    wt1 = finite(ta.ema(index, average))
    return Waves(wt1, ta.sma(wt1, SMOOTH))


def _tracks(channel: str, average: str) -> tuple[Trace, Trace]:
    start = f"2 * ({channel} - 1) + {average} - 1"
    return Trace("WT1", start, FLAT), Trace("WT2", f"{start} + {SMOOTH - 1}", FLAT)


@builtin(
    "wavetrend",
    "WaveTrend",
    "panel",
    "How far the price has left its average, in two smoothed waves and their crosses.",
    params=(
        bars_of_window("ch_len", 9, "Bars of the channel"),
        bars_of_window("avg_len", 12, "Bars of the average"),
    ),
    tracks=_tracks("ch_len", "avg_len"),
    signals=("cross_up_os", "cross_down_ob", "cross_up", "cross_down"),
    differences=(
        "Averages are seeded as in Pine; where the channel's deviation is 0 the wave is na, where "
        "the reference says 0.",
    ),
)
def wavetrend(bars: Bars, ch_len: int, avg_len: int) -> Scene:
    lines = waves(bars, ch_len, avg_len)
    wt2 = lines.wt2
    oversold, overbought = ta.le(wt2, -53), ta.ge(wt2, 53)
    return scene(
        "WaveTrend",
        line("WT1", lines.wt1, ink.BLUE, 2),
        line("WT2", lines.wt2, ink.PURPLE, 2),
        fill(lines.wt1, lines.wt2, ink.BLUE, 0.25),
        fill(lines.wt1 - wt2, across(0, len(bars)), ink.GRAY, 0.2),
        marks(lines.up & oversold, wt2, ink.EMERALD, 6, "cross_up_os"),
        marks(lines.down & overbought, wt2, ink.RED, 6, "cross_down_ob"),
        marks(lines.up & ~oversold, wt2, ink.UP, 3, "cross_up"),
        marks(lines.down & ~overbought, wt2, ink.DOWN, 3, "cross_down"),
        level(53),
        level(-53),
        level(0, style="dotted"),
    )


STRONG, WEAK = (45.0, -65.0), (15.0, -40.0)  # levels for the bearish and the bullish divergence
DIVERGENCES = ("wt_bull_div", "wt_bear_div", "any_bull_div", "any_bear_div")
MONEY_BARS = 60
RSI_BARS = 14


@builtin(
    "cipher_b",
    "Cipher B",
    "panel",
    "WaveTrend with RSI, money flow and stochastic RSI: crosses, divergences and gold dots.",
    params=(
        Param(
            "dot_mode",
            "choice",
            "strict",
            options=("strict", "classic"),
            desc="strict: a dot needs RSI and stochastic RSI to agree",
        ),
        bars_of_window("wt_channel_length", 9, "Bars of the WaveTrend channel"),
        bars_of_window("wt_average_length", 12, "Bars of the WaveTrend average"),
        Param("wt_oversold", "float", -53.0, -1000, 1000, desc="At or below: a big buy dot"),
        Param("wt_overbought", "float", 53.0, -1000, 1000, desc="At or above: a big sell dot"),
        Param("show_divergences", "bool", True, desc="Draw divergences and gold dots"),
    ),
    tracks=(
        *_tracks("wt_channel_length", "wt_average_length"),
        Trace("RSI", first=str(RSI_BARS)),
        Trace("MFI", first=str(MONEY_BARS - 1)),
        Trace("Stoch K", str(RSI_BARS + 3), "where RSI stands still or a close is not above 0"),
        Trace("Stoch D", str(RSI_BARS + 5), "where RSI stands still or a close is not above 0"),
    ),
    signals=(
        "rsi_oversold",
        "rsi_overbought",
        "buy",
        "sell",
        "buy_small",
        "sell_small",
        *DIVERGENCES,
        "gold_buy",
    ),
    differences=(
        "RSI is Wilder's and the averages are seeded as in Pine, so the first bars are na.",
        "A divergence is drawn on the fractal's centre and confirmed two bars later; the reference "
        "does not tell when it became known.",
        "The waves and the money flow are areas, as users of the original know it; the reference "
        "draws lines, and the money flow as a strip of one height.",
        "Colours are adapted to be legible on dark and on light backgrounds.",
    ),
)
def cipher_b(
    bars: Bars,
    dot_mode: str,
    wt_channel_length: int,
    wt_average_length: int,
    wt_oversold: float,
    wt_overbought: float,
    show_divergences: bool,
) -> Scene:
    lines = waves(bars, wt_channel_length, wt_average_length)
    rsi = finite(ta.rsi(bars.close, RSI_BARS))
    log_rsi = ta.rsi(np.where(bars.close > 0, np.log(bars.close), np.nan), RSI_BARS)
    k = ta.sma(ta.stoch(log_rsi, log_rsi, log_rsi, RSI_BARS), 3)
    d = ta.sma(k, 3)
    zero = across(0, len(bars))
    flow = _money_flow(bars)
    plots = [
        fill(lines.wt1, zero, ink.BLUE, 0.35),
        fill(lines.wt2, zero, ink.PURPLE, 0.5),
        fill(lines.wt1 - lines.wt2, zero, ink.GOLD, 0.3),
        fill(flow, zero, "auto", 0.45),
        line("WT1", lines.wt1, ink.BLUE, 1),
        line("WT2", lines.wt2, ink.PURPLE, 1),
        line("RSI", rsi, ink.MAGENTA, 1),
        marks(ta.le(rsi, 30), rsi, ink.EMERALD, 2, "rsi_oversold"),
        marks(ta.ge(rsi, 60), rsi, ink.RED, 2, "rsi_overbought"),
        line("MFI", flow, paint(ta.lt(flow, 0), (ink.EMERALD, ink.DOWN)), 1),
        line("Stoch K", k, ink.CYAN, 1),
        line("Stoch D", d, ink.ORANGE, 1),
        *_crosses(lines, rsi, k, dot_mode == "strict", wt_oversold, wt_overbought),
        *(_divergences(bars, lines.wt2, rsi) if show_divergences else ()),
        level(60),
        level(100, style="dotted"),
        level(-60),
        level(0, style="dotted"),
    ]
    lag = dict.fromkeys(DIVERGENCES, divergence.WING)
    return scene("Cipher B", *plots, lag=lag)


def _money_flow(bars: Bars) -> Floats:
    """The share of its range that a bar gained or lost, averaged, and scaled to the waves."""
    reach = bars.high - bars.low
    raw = np.where(ta.eq(reach, 0), 0.0, (bars.close - bars.open) / reach * 150)
    return finite(ta.sma(raw, MONEY_BARS) - 2.5)


def _crosses(
    lines: Waves, rsi: Floats, k: Floats, strict: bool, oversold: float, overbought: float
) -> tuple[DotPlot, ...]:
    """Dots where the waves cross. A big dot that strict mode drops does not become a small one."""
    wt2 = lines.wt2
    is_low, is_high = ta.le(wt2, oversold), ta.ge(wt2, overbought)
    low, up = lines.up & is_low, lines.up & ~is_low
    high, down = lines.down & is_high, lines.down & ~is_high
    if strict:
        low = low & ta.lt(rsi, 30) & ta.lt(k, 20)
        high = high & ta.gt(rsi, 70) & ta.gt(k, 80)
        up, down = up & ta.lt(rsi, 40), down & ta.gt(rsi, 60)
    return (
        marks(low, wt2, ink.EMERALD, 6, "buy"),
        marks(high, wt2, ink.RED, 6, "sell"),
        marks(up, wt2, ink.UP, 3, "buy_small"),
        marks(down, wt2, ink.DOWN, 3, "sell_small"),
    )


def _divergences(bars: Bars, wt2: Floats, rsi: Floats) -> list[Plot]:
    """Strong divergences as lines and dots, weak ones as faint dots, and the gold buys."""
    tops, bottoms = divergence.tops(wt2), divergence.bottoms(wt2)
    bear, faint_bear = (
        divergence.bearish(tops, wt2, bars.high, limit) for limit in (STRONG[0], WEAK[0])
    )
    bull, faint_bull = (
        divergence.bullish(bottoms, wt2, bars.low, limit) for limit in (STRONG[1], WEAK[1])
    )
    lines = [
        (end, begin, color)
        for fractals, color in ((bear, ink.RED), (bull, ink.EMERALD))
        for end, begin in zip(fractals.centre.tolist(), fractals.previous.tolist(), strict=True)
    ]
    plots: list[Plot] = [
        DivLinePlot(
            x1=begin, y1=float(wt2[begin]), x2=end, y2=float(wt2[end]), color=color, style="dashed"
        )
        for end, begin, color in sorted(lines)  # no bar is both a top and a bottom
    ]
    # Every strong divergence is a weak one too, so "any" are the weak ones.
    plots += [
        dots(bull.centre, wt2, ink.EMERALD, 4, "wt_bull_div"),
        dots(bear.centre, wt2, ink.RED, 4, "wt_bear_div"),
        dots(faint_bull.centre, wt2, faded(ink.EMERALD, 0.4), 4, "wt_bull_div"),
        dots(faint_bear.centre, wt2, faded(ink.RED, 0.4), 4, "wt_bear_div"),
        dots(faint_bull.centre, across(-95, len(wt2)), ink.EMERALD, 5, "any_bull_div"),
        dots(faint_bear.centre, across(95, len(wt2)), ink.RED, 5, "any_bear_div"),
    ]
    known = bull.centre + divergence.WING
    then = wt2[bull.previous]
    gold = known[
        ta.le(then, -75)
        & ta.gt(wt2[known], -75)
        & ta.le(then - wt2[known], -5)
        & ta.lt(rsi[bull.centre], 30)
    ]
    return [*plots, dots(gold, wt2, ink.GOLD, 8, "gold_buy")]
