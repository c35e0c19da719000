"""Moving averages and the channels around them: ema_stack, bbands, keltner, donchian."""

from chartpact import ta
from chartpact.bars import Bars
from chartpact.indicators import ink
from chartpact.indicators.builtin import Trace, builtin, period
from chartpact.indicators.drawing import Floats, fill, line, scene
from chartpact.params import Param
from chartpact.scene import Plot, Scene

STACK = ((8, ink.GOLD, 1), (21, ink.ORANGE, 1), (50, ink.BLUE, 1), (200, ink.RED, 2))


@builtin(
    "ema_stack",
    "EMA Stack",
    "overlay",
    "Exponential moving averages of the close over 8, 21, 50 and 200 bars.",
    tracks=tuple(Trace(f"EMA {n}", first=str(n - 1)) for n, _, _ in STACK),
    differences=("The reference seeds each average with the first close; Pine with a mean.",),
)
def ema_stack(bars: Bars) -> Scene:
    lines = (line(f"EMA {n}", ta.ema(bars.close, n), ink_, width) for n, ink_, width in STACK)
    return scene("EMA 8 21 50 200", *lines)


def _channel(
    name: str, color: str, upper: Floats, middle: Floats, lower: Floats
) -> tuple[Plot, ...]:
    """A channel in a colour of its own, so that two channels on one price are told apart."""
    return (
        line(f"{name} Upper", upper, color),
        line(f"{name} Mid", middle, color),
        line(f"{name} Lower", lower, color),
        fill(upper, lower, color, 0.1),
    )


@builtin(
    "bbands",
    "Bollinger Bands",
    "overlay",
    "A moving average, and bands some standard deviations above and below it.",
    aliases=("bollinger",),
    params=(
        period(20),
        Param("std_dev", "float", 2.0, 0, 50, desc="Standard deviations", aliases=("mult",)),
    ),
    tracks=tuple(Trace(f"BB {part}", first="period - 1") for part in ("Upper", "Mid", "Lower")),
    differences=("The reference draws from the first bar, over the bars there are.",),
)
def bbands(bars: Bars, period: int, std_dev: float) -> Scene:
    middle, upper, lower = ta.bb(bars.close, period, std_dev)
    return scene("BB", *_channel("BB", ink.COBALT, upper, middle, lower))


@builtin(
    "keltner",
    "Keltner Channels",
    "overlay",
    "An exponential average of the close, and bands some average true ranges around it.",
    params=(
        period(20),
        Param("multiplier", "float", 1.5, 0, 50, desc="Average ranges", aliases=("mult",)),
    ),
    tracks=(
        Trace("KC Upper", first="period"),
        Trace("KC Mid", first="period - 1"),
        Trace("KC Lower", first="period"),
    ),
    differences=(
        "The reference averages (high + low + close) / 3; Pine's `ta.kc` the close.",
        "The bands lie around Pine's exponential average of the true range, whose first bar is na.",
        "TradingView's own study starts at a multiplier of 2 and an ATR over 10 bars.",
    ),
)
def keltner(bars: Bars, period: int, multiplier: float) -> Scene:
    middle, upper, lower = ta.kc(
        bars.close, bars.high, bars.low, bars.close, period, multiplier, True
    )
    return scene("KC", *_channel("KC", ink.CYAN, upper, middle, lower))


@builtin(
    "donchian",
    "Donchian Channels",
    "overlay",
    "The highest high and the lowest low of the window, and the middle between them.",
    params=(period(20),),
    tracks=tuple(Trace(f"DC {part}", first="period - 1") for part in ("Upper", "Mid", "Lower")),
)
def donchian(bars: Bars, period: int) -> Scene:
    upper, lower = ta.highest(bars.high, period), ta.lowest(bars.low, period)
    return scene("DC", *_channel("DC", ink.PURPLE, upper, upper / 2 + lower / 2, lower))
