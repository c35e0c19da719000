"""The price itself: candles, Heikin-Ashi candles, OHLC bars or a line."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from chartpact.bars import Bars
from chartpact.render import sampling
from chartpact.render.display import Floats, Ints, Op, Rects, Shape, Stroke
from chartpact.render.frame import Frame
from chartpact.render.theme import fade

MAX_BODY = 41  # pixels: a few bars on a wide picture are still candles


def heikin_ashi(bars: Bars) -> tuple[Floats, Floats, Floats, Floats]:
    """Open, high, low and close of the averaged candles."""
    close = (bars.open + bars.high + bars.low + bars.close) / 4
    start = np.empty_like(close)
    previous = (bars.open[0] + bars.close[0]) / 2 if len(close) else 0.0
    for i, value in enumerate(close.tolist()):
        start[i] = previous
        previous = (previous + value) / 2
    return (
        start,
        np.maximum(bars.high, np.maximum(start, close)),
        np.minimum(bars.low, np.minimum(start, close)),
        close,
    )


def body_width(step: float) -> int:
    """The width of a candle's body: odd where it can be, so that the wick is in its middle."""
    if step < 3:
        return max(1, int(step))
    room = int(step * 0.78 + 0.5)
    return min(room - 1 + room % 2, MAX_BODY)


Prices = tuple[Floats, Floats, Floats, Floats]  # open, high, low, close


@dataclass(frozen=True)
class Candles:
    """The candles of one colour, in whole pixels."""

    fill: str
    x: Ints
    high: Ints
    low: Ints
    open: Ints
    close: Ints


def _candles(prices: Prices, frame: Frame) -> tuple[list[Candles], float]:
    """The rising and the falling candles, merged where they are too many, and their spacing."""
    size = sampling.bars_per_group(frame.bars.step)
    x = np.floor(frame.bars.x(sampling.centres(len(prices[0]), size)))
    opens, highs, lows, closes = sampling.candles(*prices, size)
    columns = [x, *(np.rint(frame.values.y(price)) for price in (highs, lows, opens, closes))]
    known = np.isfinite(columns).all(axis=0)
    by_color = ((frame.theme.up, closes >= opens), (frame.theme.down, closes < opens))
    candles = [
        Candles(fill, *(column[known & rows].astype(np.int64) for column in columns))
        for fill, rows in by_color
    ]
    return candles, frame.bars.step * size


def _boxes(left: Ints, top: Ints, width: int, height: Ints | int) -> Ints:
    sizes = np.full_like(left, width), np.maximum(np.broadcast_to(height, left.shape), 1)
    return np.column_stack((left, top, *sizes))


def draw_candles(prices: Prices, frame: Frame) -> list[Op]:
    candles, step = _candles(prices, frame)
    width = body_width(step)
    ops: list[Op] = []
    for candle in candles:
        top, bottom = np.minimum(candle.open, candle.close), np.maximum(candle.open, candle.close)
        wicks = _boxes(candle.x, candle.high, 1, candle.low - candle.high)
        bodies = _boxes(candle.x - width // 2, top, width, bottom - top)
        if width > 1:
            ops.append(Rects(np.concatenate((wicks, bodies)), candle.fill))
        else:  # a wick as wide as its body is drawn fainter
            ops += [Rects(wicks, fade(candle.fill, 0.6)), Rects(bodies, candle.fill)]
    return ops


def draw_bars(prices: Prices, frame: Frame) -> list[Op]:
    candles, step = _candles(prices, frame)
    arm = max(0, (body_width(step) - 1) // 2)
    thick = 1 if step < 9 else 2
    ops: list[Op] = []
    for candle in candles:
        boxes = [_boxes(candle.x, candle.high, thick, candle.low - candle.high)]
        if arm:
            boxes.append(_boxes(candle.x - arm, candle.open, arm, thick))
            boxes.append(_boxes(candle.x + thick, candle.close, arm, thick))
        ops.append(Rects(np.concatenate(boxes), candle.fill))
    return ops


def draw_line(prices: Prices, frame: Frame) -> list[Op]:
    closes = prices[3]
    bars = sampling.outline(closes, sampling.bars_per_group(frame.bars.step))
    x, y = frame.bars.x(bars), frame.values.y(closes[bars])
    known = np.isfinite(y)
    x, y = x[known], y[known]
    if not len(x):
        return []
    floor = np.full(2, frame.area.bottom)
    under = (np.concatenate((x, x[[-1, 0]])), np.concatenate((y, floor)))
    color = frame.theme.line
    return [
        Shape([under], fill=fade(color, 0.09)),
        Shape([(x, y)], stroke=Stroke(color, 1.75)),
    ]


KINDS: Mapping[str, Callable[[Prices, Frame], list[Op]]] = {
    "candles": draw_candles,
    "heikin_ashi": draw_candles,
    "bars": draw_bars,
    "line": draw_line,
}
