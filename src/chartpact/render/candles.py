"""The price itself: candles, Heikin-Ashi candles, OHLC bars or a line."""

from collections.abc import Callable, Mapping

import numpy as np

from chartpact.bars import Bars
from chartpact.render import sampling
from chartpact.render.display import Floats, Op, Rects, Shape, Stroke
from chartpact.render.frame import Frame
from chartpact.render.theme import faded

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
    """The width of a candle's body: odd, so that the wick stands in its middle, if it can be."""
    if step < 3:
        return max(1, int(step))
    room = int(step * 0.78 + 0.5)
    return min(room - 1 + room % 2, MAX_BODY)


Prices = tuple[Floats, Floats, Floats, Floats]


def _merged(prices: Prices, frame: Frame) -> tuple[Floats, Prices, float]:
    size = sampling.bars_per_group(frame.bars.step)
    x = frame.bars.x(sampling.centres(len(prices[0]), size))
    return x, sampling.candles(*prices, size), frame.bars.step * size


def draw_candles(prices: Prices, frame: Frame) -> list[Op]:
    x, (opens, highs, lows, closes), step = _merged(prices, frame)
    y = [np.rint(frame.values.y(each)) for each in (highs, lows, opens, closes)]
    known = np.isfinite(y).all(axis=0)
    width = body_width(step)
    ops: list[Op] = []
    for fill, chosen in (
        (frame.theme.up, known & (closes >= opens)),
        (frame.theme.down, known & (closes < opens)),
    ):
        top, bottom, first, last = (each[chosen].astype(np.int64) for each in y)
        centre = np.floor(x[chosen]).astype(np.int64)
        wicks = _rects(centre, 1, top, bottom)
        bodies = _rects(centre, width, np.minimum(first, last), np.maximum(first, last))
        if width > 1:
            ops.append(Rects(np.concatenate((wicks, bodies)), fill))
        else:  # a body no wider than its wick is told from it by its strength
            ops += [Rects(wicks, faded(fill, 0.6)), Rects(bodies, fill)]
    return ops


def _rects(centre: np.ndarray, width: int, top: np.ndarray, bottom: np.ndarray) -> np.ndarray:
    height = np.maximum(bottom - top, 1)
    return np.column_stack((centre - width // 2, top, np.full_like(centre, width), height))


def draw_bars(prices: Prices, frame: Frame) -> list[Op]:
    x, (opens, highs, lows, closes), step = _merged(prices, frame)
    y = [np.rint(frame.values.y(each)) for each in (highs, lows, opens, closes)]
    known = np.isfinite(y).all(axis=0)
    arm = max(0, (body_width(step) - 1) // 2)
    thick = 1 if step < 9 else 2
    ops: list[Op] = []
    for fill, chosen in (
        (frame.theme.up, known & (closes >= opens)),
        (frame.theme.down, known & (closes < opens)),
    ):
        top, bottom, first, last = (each[chosen].astype(np.int64) for each in y)
        centre = np.floor(x[chosen]).astype(np.int64)
        ones = np.ones_like(centre)
        boxes = [np.column_stack((centre, top, thick * ones, np.maximum(bottom - top, 1)))]
        if arm:
            boxes.append(np.column_stack((centre - arm, first, arm * ones, thick * ones)))
            boxes.append(np.column_stack((centre + thick, last, arm * ones, thick * ones)))
        ops.append(Rects(np.concatenate(boxes), fill))
    return ops


def draw_line(prices: Prices, frame: Frame) -> list[Op]:
    closes = prices[3]
    kept = sampling.outline(closes, sampling.bars_per_group(frame.bars.step))
    x, y = frame.bars.x(kept), frame.values.y(closes[kept])
    known = np.isfinite(y)
    x, y = x[known], y[known]
    if not len(x):
        return []
    floor = np.full(2, frame.area.bottom)
    under = (np.concatenate((x, x[[-1, 0]])), np.concatenate((y, floor)))
    color = frame.theme.line
    return [
        Shape([under], fill=faded(color, 0.09)),
        Shape([(x, y)], stroke=Stroke(color, 1.75)),
    ]


KINDS: Mapping[str, Callable[[Prices, Frame], list[Op]]] = {
    "candles": draw_candles,
    "heikin_ashi": draw_candles,
    "bars": draw_bars,
    "line": draw_line,
}
