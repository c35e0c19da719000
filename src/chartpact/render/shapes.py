"""Shapes: signs on bars, and their texts where there is room.

Shapes above or below one bar are stacked. In a pane without the price, those above and below bars
stand at its top and bottom.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact import palette
from chartpact.render.display import Area, Circles, Floats, Op, Panel, Shape
from chartpact.render.frame import Frame
from chartpact.render.labels import CLEAR, SIGNS, shade
from chartpact.render.paint import Codes, by_color, codes_of
from chartpact.render.textblock import Block, Occupied, block
from chartpact.render.theme import ink as readable_on
from chartpact.render.theme import is_visible, text_color_on
from chartpact.render.typesetting import LINE_HEIGHT
from chartpact.scene import ShapePlot

MOST_TEXTS = 400  # of one plot; the last ones
MANY = 2_000  # of more, those on one pixel are drawn once
APART = 2.0  # pixels between stacked shapes
PAD, TAIL = 4.0, 5.0  # pixels: beside the text of a bubble, and its tail
BUBBLES = {"labelup": -1, "labeldown": 1}  # which way the tail points


def _size(plot: ShapePlot, step: float) -> float:
    """The size of a shape in pixels; `auto` follows the width of a bar."""
    return float(palette.LABEL_SIZES[plot.size]) or float(np.clip(step, 7, 12))


def _text_size(plot: ShapePlot, step: float) -> float:
    return max(_size(plot, step), 9.0)


def height(plot: ShapePlot, step: float) -> float:
    """The pixels of the highest shape with its text."""
    lines = max(text.count("\n") + 1 if text else 0 for text in (*plot.columns.text.categories, ""))
    text = lines * _text_size(plot, step) * LINE_HEIGHT
    if lines and plot.shape in BUBBLES:
        return text + PAD + TAIL
    return text + _size(plot, step)


def room(plots: Iterable[ShapePlot], step: float, bars: int) -> tuple[float, float]:
    """Pixels above and below the values that shapes reach into."""
    pixels = {location: np.zeros(bars) for location in palette.LOCATIONS}
    for plot in plots:
        x = plot.columns.x
        pixels[plot.location][x[(x >= 0) & (x < bars)]] += height(plot, step) + APART
    most = {location: min(float(rows.max(initial=0)), 90.0) for location, rows in pixels.items()}
    return most["abovebar"] + most["top"], most["belowbar"] + most["bottom"]


@dataclass(frozen=True)
class _Placed:
    """The shapes of one plot that are in view."""

    plot: ShapePlot
    rows: Codes
    x: Floats
    y: Floats  # of the edge from which the shape grows; of an absolute one, of its middle
    way: int  # in which it grows, and then its text: −1 up, 1 down
    colors: list[str]
    codes: Codes


# For each location, where the next shape of a bar begins, and which way it grows.
_Starts = dict[str, tuple[Floats, int]]


def draw(
    plots: Sequence[ShapePlot], frame: Frame, top: float, has_price: bool, occupied: Occupied
) -> list[Op]:
    """The shapes of a pane; those at the top begin at `top`. Newer plots have the first texts."""
    bars = frame.timeline.bars
    upper, lower = (np.full(len(bars), y) for y in (top, frame.area.bottom - CLEAR))
    starts: _Starts = {"top": (upper, 1), "bottom": (lower, -1)}
    if has_price:
        starts["abovebar"] = frame.values.y(bars.high) - CLEAR, -1
        starts["belowbar"] = frame.values.y(bars.low) + CLEAR, 1
    else:
        starts["abovebar"], starts["belowbar"] = starts["top"], starts["bottom"]
    placed = [_place(plot, frame, starts) for plot in plots]
    drawn = [_draw(one, frame, occupied) for one in reversed(placed) if len(one.rows)]
    return [op for ops in reversed(drawn) for op in ops]


def _place(plot: ShapePlot, frame: Frame, starts: _Starts) -> _Placed:
    marks, step = plot.columns, frame.bars.step
    rows = np.flatnonzero((marks.x >= 0) & (marks.x < len(frame.timeline.bars)))
    bars = marks.x[rows]
    if plot.location == "absolute":
        y = frame.values.y(marks.y[rows])
        way = 1 if plot.shape.endswith("up") else -1
    else:
        start, way = starts[plot.location]
        y = start[bars]
        start[bars] += way * (height(plot, step) + APART)
    known = np.isfinite(y) & (y > frame.area.top - 50) & (y < frame.area.bottom + 50)
    rows, y = rows[known], y[known]
    paint = plot.color if isinstance(plot.color, str) else plot.color.take(rows)
    if paint == palette.AUTO:
        paint = frame.theme.up
    colors, codes = codes_of(paint, len(rows), lambda: np.ones(len(rows), bool), frame.theme)
    return _Placed(plot, rows, frame.bars.x(marks.x[rows]), y, way, colors, codes)


def _draw(placed: _Placed, frame: Frame, occupied: Occupied) -> list[Op]:
    plot, radius = placed.plot, _size(placed.plot, frame.bars.step) / 2
    texts = plot.columns.text.take(placed.rows)
    drawn = placed.codes >= 0
    ops: list[Op] = []
    if any(texts.categories):
        said = [i for i, text in enumerate(texts) if text and drawn[i]][-MOST_TEXTS:]
        for i in reversed(said):
            if occupied.full:
                break
            words = _words(placed, texts[i] or "", frame)
            if inner := _write(placed, i, words, frame, occupied):
                drawn[i] = plot.shape not in BUBBLES
                ops += inner
    middle = placed.y if plot.location == "absolute" else placed.y + placed.way * radius
    return _signs(placed, placed.x, middle, radius, drawn) + ops


def _words(placed: _Placed, text: str, frame: Frame) -> Block:
    words = block(text, _text_size(placed.plot, frame.bars.step), "none", "default")
    return words.fit(frame.area.width / 4)


def _write(placed: _Placed, i: int, words: Block, frame: Frame, occupied: Occupied) -> list[Op]:
    """The text of a shape, in or beyond it; nothing where there is no room."""
    plot, way = placed.plot, placed.way
    x, y, fill = float(placed.x[i]), float(placed.y[i]), placed.colors[placed.codes[i]]
    bubble = BUBBLES.get(plot.shape, 0)
    ink = plot.text_color or (readable_on(fill) if bubble else fill)
    if not is_visible(ink):
        return []
    radius = _size(plot, frame.bars.step) / 2
    wide, high = words.width / 2 + PAD * bool(bubble), words.height + PAD * bool(bubble)
    if not bubble:
        near = y + way * (radius if plot.location == "absolute" else 2 * radius)
    elif plot.location == "absolute":
        way, near = -bubble, y - bubble * TAIL
    else:
        near = y + way * (TAIL if bubble == -way else 0)
    box = Area(x - wide, min(near, near + way * high), x + wide, max(near, near + way * high))
    if not frame.area.holds(box) or not occupied.is_free(box):
        return []
    occupied.add(box)
    if not bubble:
        return words.draw(box, "center", text_color_on(ink, frame.theme.background), shade(frame))
    edge = box.top if bubble < 0 else box.bottom
    tail = np.array([x - TAIL, x, x + TAIL]), np.array([edge, edge + bubble * TAIL, edge])
    inner = Area(box.left, box.top + PAD / 2, box.right, box.bottom)
    return [
        Shape([tail], fill=fill),
        Panel(box, fill, radius=3.0),
        *words.draw(inner, "center", text_color_on(ink, frame.theme.background, fill)),
    ]


def _signs(
    placed: _Placed, x: Floats, y: Floats, radius: float, drawn: NDArray[np.bool_]
) -> list[Op]:
    ops: list[Op] = []
    for color, rows in by_color(placed.codes, drawn, placed.colors):
        spots = np.column_stack((x[rows], y[rows]))
        spots = np.unique(np.rint(spots), axis=0) if len(spots) > MANY else spots
        if placed.plot.shape == "circle":
            ops.append(Circles(spots[:, 0], spots[:, 1], np.full(len(spots), radius), color))
        else:
            polygon = SIGNS[placed.plot.shape]
            ops.append(Shape([polygon(px, py, radius) for px, py in spots.tolist()], fill=color))
    return ops
