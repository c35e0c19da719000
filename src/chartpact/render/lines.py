"""Straight lines in a pane: extended, styled, with arrow heads, cut off at its edges."""

import math

import numpy as np

from chartpact.render.display import Area, Floats, Op, Shape, Stroke
from chartpact.render.frame import Frame
from chartpact.render.theme import is_visible
from chartpact.scene import Line

Point = tuple[float, float]
MAX_WIDTH = 64.0
DASHES = {"solid": (), "dashed": (5.0, 4.0), "dotted": (0.1, 3.5)}
FINE_DOTS = (1.5, 2.5)  # round dots of one pixel are all but invisible


def stroke(color: str, width: float, style: str = "solid") -> Stroke:
    """The stroke of a line style; dots are round, dashes are not."""
    scale = max(width, 1.0)
    if style == "dotted" and width < 2:
        return Stroke(color, width, FINE_DOTS, round=False)
    dash = tuple(max(length * scale**0.7, 0.1) for length in DASHES.get(style, ()))
    return Stroke(color, width, dash, round=style != "dashed")


def cut(
    area: Area, first: Point, second: Point, before: bool = False, after: bool = False
) -> tuple[Point, Point] | None:
    """The part of a line inside an area; `before` and `after` extend it beyond its points."""
    (x, y), (to_x, to_y) = first, second
    dx, dy = to_x - x, to_y - y
    low, high = (-math.inf if before else 0.0), (math.inf if after else 1.0)
    if not all(map(math.isfinite, (x, y, dx, dy))) or (dx == dy == 0 and (before or after)):
        return None
    for speed, room in (
        (-dx, x - area.left),
        (dx, area.right - x),
        (-dy, y - area.top),
        (dy, area.bottom - y),
    ):
        if speed == 0:
            if room < 0:
                return None
        elif speed < 0:
            low = max(low, room / speed)
        else:
            high = min(high, room / speed)
    if low > high:
        return None
    return (x + low * dx, y + low * dy), (x + high * dx, y + high * dy)


def straight(
    frame: Frame,
    first: Point,
    second: Point,
    *,
    color: str | None,
    width: float,
    style: str = "solid",
    extend: str = "none",
) -> list[Op]:
    """One line; an arrow head is drawn at a point that is inside the pane and not extended."""
    if color is None or not is_visible(color) or width <= 0:
        return []
    width = min(width, MAX_WIDTH)
    before, after = extend in ("left", "both"), extend in ("right", "both")
    inside = cut(frame.area, first, second, before, after)
    if inside is None:
        return []
    (x1, y1), (x2, y2) = inside
    heads = []
    if style in ("arrow_left", "arrow_both") and not before and (x1, y1) == first:
        heads.append((second, first))
    if style in ("arrow_right", "arrow_both") and not after and _same(inside[1], second):
        heads.append((first, second))
    tips = []
    for start, tip in heads:
        head, neck = arrow_head(start, tip, width)
        tips.append(head)
        if tip == first:
            x1, y1 = neck
        else:
            x2, y2 = neck
    if x1 == x2 and abs(y1 - y2) >= 1:  # an upright or level thin line is drawn on whole pixels
        x1 = x2 = math.floor(x1) + (0.5 if round(width) % 2 else 0.0)
    elif y1 == y2 and abs(x1 - x2) >= 1:
        y1 = y2 = math.floor(y1) + (0.5 if round(width) % 2 else 0.0)
    ends = np.array([x1, x2]), np.array([y1, y2])
    plain = style if style in ("dashed", "dotted") else "solid"
    ops: list[Op] = [Shape([ends], stroke=stroke(color, max(width, 1.0), plain))]
    if tips:
        ops.append(Shape(tips, fill=color))
    return ops


def _same(one: Point, other: Point) -> bool:
    return math.isclose(one[0], other[0], abs_tol=1e-6) and math.isclose(
        one[1], other[1], abs_tol=1e-6
    )


def head_length(width: float) -> float:
    return 5.0 + 2.5 * width


def arrow_head(start: Point, tip: Point, width: float) -> tuple[tuple[Floats, Floats], Point]:
    """The triangle of an arrow head, and where the line ends inside it."""
    length = math.hypot(tip[0] - start[0], tip[1] - start[1]) or 1.0
    ux, uy = (tip[0] - start[0]) / length, (tip[1] - start[1]) / length
    long = min(head_length(width), max(length, 2.0))
    half = long * 0.42
    bx, by = tip[0] - ux * long, tip[1] - uy * long
    x = np.array([tip[0], bx - uy * half, bx + uy * half])
    y = np.array([tip[1], by + ux * half, by - ux * half])
    return (x, y), (tip[0] - ux * long * 0.8, tip[1] - uy * long * 0.8)


def draw(line: Line, frame: Frame) -> list[Op]:
    """A drawn line; one without a place is not drawn."""
    one, other = frame.timeline.bar(line.x1), frame.timeline.bar(line.x2)
    if one is None or other is None or line.y1 is None or line.y2 is None:
        return []
    return straight(
        frame,
        (frame.bars.x1(one), frame.values.y1(line.y1)),
        (frame.bars.x1(other), frame.values.y1(line.y2)),
        color=line.color,
        width=line.width,
        style=line.style,
        extend=line.extend,
    )
