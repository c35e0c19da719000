"""The work that a picture is, estimated from its display list before it is written.

A rasteriser cannot be interrupted, and one that runs out of memory takes its process with it. So a
picture that would take it seconds is refused. The estimate is the same on every machine.
"""

import numpy as np

from chartpact.render import typesetting
from chartpact.render.display import (
    Begin,
    Circles,
    DisplayList,
    End,
    Op,
    Panel,
    Rects,
    Shape,
    Words,
)
from chartpact.render.errors import RenderError

MOST_MS = 2_500.0

# Microseconds of a processor of 2024, for writing and rasterising together.
_OP = 30.0
_PART = 15.0  # of a path
_POINT = 0.8
_CHAR = 10.0
_TOFU = 150.0  # a character that no font has: all of them are searched
_TITLE_CHAR = 0.03
_ROUND_DASH, _DASH = 2.6, 0.25
_CIRCLE = 1.5
_RISE = 0.08  # a pixel that an edge goes up or down
_PIXEL = 0.002
_ROUND_PIXEL = 0.005  # of a circle
_MARGIN = 100.0  # pixels: what lies further out costs nothing

_NAMES = {
    Words: "texts",
    Shape: "lines and fills",
    Rects: "columns and candles",
    Panel: "boxes and bars of profiles",
    Circles: "dots",
    Begin: "tooltips",
    End: "objects",
}


def check(picture: DisplayList, scale: float) -> None:
    """Raises `RenderError` for a picture that takes too long to rasterise at that scale."""
    width, height = picture.width, picture.height
    weights = dict.fromkeys(_NAMES, 0.0)
    for op in picture.ops:
        weights[type(op)] += _weigh(op, scale, width, height) / 1000
    if (total := sum(weights.values())) > MOST_MS:
        heaviest = _NAMES[max(weights, key=weights.__getitem__)]
        message = f"the picture would take about {total / 1000:.1f} s to draw, which is too long"
        hint = f"most of it is {heaviest}: draw fewer, shorter or smaller ones, or fewer bars"
        raise RenderError(message, hint, kind="size")


def _weigh(op: Op, scale: float, width: int, height: int) -> float:
    """About how many microseconds an operation takes on a picture of that size."""
    pixel, rise = _PIXEL * scale**2, _RISE * scale
    match op:
        case Words():
            tofu = 0 if op.text.isascii() else sum(not typesetting.has_glyph(c) for c in op.text)
            return _OP + _CHAR * len(op.text) + _TOFU * tofu
        case Rects():
            sides = np.minimum(op.boxes[:, 2:], (width, height))
            area = float((sides[:, 0] * sides[:, 1]).sum())
            return _OP + len(op.boxes) + pixel * area
        case Panel():
            area = max(op.area.width, 0.0) * max(op.area.height, 0.0)
            return _OP + pixel * min(area, width * height)
        case Circles():
            area = float((op.radius**2).sum()) * np.pi
            titles = _TITLE_CHAR * sum(map(len, op.titles))
            return _OP + _CIRCLE * len(op.x) + _ROUND_PIXEL * scale**2 * area + titles
        case Shape() if op.parts:
            return _OP + _weigh_path(op, pixel, rise, width, height)
        case Begin():
            return _OP + _TITLE_CHAR * len(op.tooltip)
    return _OP


def _weigh_path(op: Shape, pixel: float, rise: float, width: int, height: int) -> float:
    x, y = (np.concatenate([part[axis] for part in op.parts]) for axis in (0, 1))
    x, y = np.clip(x, -_MARGIN, width + _MARGIN), np.clip(y, -_MARGIN, height + _MARGIN)
    starts = np.cumsum([len(part[0]) for part in op.parts])[:-1]
    dx, dy = np.abs(np.diff(x)), np.abs(np.diff(y))
    dx[starts - 1] = dy[starts - 1] = 0.0  # from the end of one part to the next
    up = float(dy.sum())
    weight = _PART * len(op.parts) + _POINT * len(x)
    if op.fill is not None:
        under = float((dx * (y.max() - y[1:])).sum())  # no less than the area, unless it is tiny
        weight += rise * up + pixel * min(under, width * height * len(op.parts))
    if op.stroke is not None:
        length = float(np.hypot(dx, dy).sum())
        weight += 2 * rise * up + pixel * length * op.stroke.width
        if op.stroke.dash:
            dash = _ROUND_DASH if op.stroke.round else _DASH
            weight += dash * length / sum(op.stroke.dash)
    return weight
