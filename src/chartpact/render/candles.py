"""Candles, of the price and of indicators, and the price as OHLC bars or a line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact import palette
from chartpact.bars import Bars
from chartpact.render import sampling
from chartpact.render.display import Floats, Ints, Op, Rects, Shape, Stroke
from chartpact.render.frame import Frame
from chartpact.render.paint import Codes, by_color, codes_of
from chartpact.render.theme import Theme, fade
from chartpact.scene import BarColorPlot, CandlesPlot
from chartpact.textcolumn import TextColumn

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
    """Candles in whole pixels, merged where they are too many for the picture."""

    step: float  # pixels from one to the next
    first: Ints  # the first bar of each
    last: Ints
    rising: NDArray[np.bool_]
    x: Ints
    high: Ints
    low: Ints
    open: Ints
    close: Ints


def _candles(prices: Prices, frame: Frame) -> Candles:
    """The candles of which all prices are known."""
    count, size = len(prices[0]), sampling.bars_per_group(frame.bars.step)
    x = np.floor(frame.bars.x(sampling.centres(count, size)))
    first = sampling.starts(count, size)
    last = np.minimum(first + size, count) - 1
    opens, highs, lows, closes = sampling.candles(*prices, size)
    columns = [x, *(np.rint(frame.values.y(price)) for price in (highs, lows, opens, closes))]
    known = np.isfinite(columns).all(axis=0)
    pixels = (column[known].astype(np.int64) for column in columns)
    rising = (closes >= opens)[known]
    return Candles(frame.bars.step * size, first[known], last[known], rising, *pixels)


def _codes(paint: str | TextColumn, candles: Candles, theme: Theme) -> tuple[list[str], Codes]:
    if isinstance(paint, str):
        return codes_of(paint, len(candles.x), lambda: candles.rising, theme)
    colors, codes = codes_of(paint, len(paint), lambda: np.ones(len(paint), bool), theme)
    colored = np.maximum.accumulate(np.where(codes >= 0, np.arange(len(codes)), -1))
    latest = colored[candles.last]  # of several bars that share a candle, the last that is coloured
    return colors, np.where(latest >= candles.first, codes[latest], -1)


def _price_codes(
    tints: Sequence[BarColorPlot], candles: Candles, theme: Theme
) -> tuple[list[str], Codes]:
    """The colours of the chart's own bars; the last indicator that colours a bar decides."""
    colors, codes = _codes(palette.AUTO, candles, theme)
    for tint in tints:
        more, others = _codes(tint.color, candles, theme)
        codes = np.where(others >= 0, others + len(colors), codes)
        colors = colors + more
    return colors, codes


def _boxes(left: Ints, top: Ints, width: int, height: Ints | int) -> Ints:
    sizes = np.full_like(left, width), np.maximum(np.broadcast_to(height, left.shape), 1)
    return np.column_stack((left, top, *sizes))


def draw_candles(prices: Prices, frame: Frame, tints: Sequence[BarColorPlot] = ()) -> list[Op]:
    candles = _candles(prices, frame)
    return _draw_candles(candles, *_price_codes(tints, candles, frame.theme))


def _draw_candles(candles: Candles, colors: list[str], codes: Codes) -> list[Op]:
    """Candles whose wicks and bodies have one colour."""
    width = body_width(candles.step)
    top = np.minimum(candles.open, candles.close)
    height = np.abs(candles.open - candles.close)
    wicks = _boxes(candles.x, candles.high, 1, candles.low - candles.high)
    bodies = _boxes(candles.x - width // 2, top, width, height)
    ops: list[Op] = []
    for color, rows in by_color(codes, np.ones(len(codes), bool), colors):
        if width > 1:
            ops.append(Rects(np.concatenate((wicks[rows], bodies[rows])), color))
        else:  # a wick as wide as its body is drawn fainter
            ops += [Rects(wicks[rows], fade(color, 0.6)), Rects(bodies[rows], color)]
    return ops


def draw_plot(plot: CandlesPlot, frame: Frame) -> list[Op]:
    """The candles of an indicator."""
    candles = _candles((plot.open, plot.high, plot.low, plot.close), frame)
    body = _codes(plot.color, candles, frame.theme)
    if plot.wick_color is None and plot.border_color is None:
        return _draw_candles(candles, *body)
    wick = body if plot.wick_color is None else _codes(plot.wick_color, candles, frame.theme)
    width = body_width(candles.step)
    left = candles.x - width // 2
    top = np.minimum(candles.open, candles.close)
    bottom = np.maximum(np.maximum(candles.open, candles.close), top + 1)
    parts = [
        (wick, _boxes(candles.x, candles.high, 1, top - candles.high), candles.high < top),
        (wick, _boxes(candles.x, bottom, 1, candles.low - bottom), candles.low > bottom),
        (body, _boxes(left, top, width, bottom - top), top < bottom),
    ]
    if plot.border_color is not None:
        border = _codes(plot.border_color, candles, frame.theme)
        high = np.maximum(bottom - top - 2, 1)
        parts += [
            (border, _boxes(left, top, width, 1), top < bottom),
            (border, _boxes(left, bottom - 1, width, 1), bottom - top > 1),
            (border, _boxes(left, top + 1, 1, high), bottom - top > 2),
            (border, _boxes(left + width - 1, top + 1, 1, high), bottom - top > 2),
        ]
    return [
        Rects(boxes[rows], color)
        for (colors, codes), boxes, drawn in parts
        for color, rows in by_color(codes, drawn, colors)
    ]


def draw_bars(prices: Prices, frame: Frame, tints: Sequence[BarColorPlot] = ()) -> list[Op]:
    candles = _candles(prices, frame)
    colors, codes = _price_codes(tints, candles, frame.theme)
    arm = max(0, (body_width(candles.step) - 1) // 2)
    thick = 1 if candles.step < 9 else 2
    parts = [_boxes(candles.x, candles.high, thick, candles.low - candles.high)]
    if arm:
        parts.append(_boxes(candles.x - arm, candles.open, arm, thick))
        parts.append(_boxes(candles.x + thick, candles.close, arm, thick))
    return [
        Rects(np.concatenate([boxes[rows] for boxes in parts]), color)
        for color, rows in by_color(codes, np.ones(len(codes), bool), colors)
    ]


def draw_line(prices: Prices, frame: Frame, _: Sequence[BarColorPlot] = ()) -> list[Op]:
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


KINDS: Mapping[str, Callable[[Prices, Frame, Sequence[BarColorPlot]], list[Op]]] = {
    "candles": draw_candles,
    "heikin_ashi": draw_candles,
    "bars": draw_bars,
    "line": draw_line,
}
