"""Polylines, straight or curved, open or closed, filled or not; and the area between two lines."""

import math
from collections.abc import Sequence

import numpy as np

from chartpact.render.display import Area, Floats, Op, Shape
from chartpact.render.frame import FURTHEST, Frame
from chartpact.render.lines import MAX_WIDTH, Point, arrow_head, cut, head_length, stroke
from chartpact.render.theme import is_visible
from chartpact.scene import Line, Polyline

Part = tuple[Floats, Floats]  # xs and ys
PIECE = 5.0  # pixels: a curve is drawn in straight pieces of about this length
MOST_PIECES = 24  # between two points
MARGIN = 80.0  # pixels around the pane that are drawn too, so that no border shows at its edge


def draw(polyline: Polyline, frame: Frame) -> list[Op]:
    """The fill and the line of a polyline, cut off near the pane."""
    points = polyline.columns
    x = frame.bars.x(np.clip(points.bar, -FURTHEST, FURTHEST))
    y = frame.values.y(points.y)
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < 2:
        return []
    if polyline.curved and len(x) > 2:
        x, y = _curve(x, y, polyline.closed)
    elif polyline.closed:
        x, y = np.append(x, x[0]), np.append(y, y[0])
    area = frame.area.grow(MARGIN)
    ops: list[Op] = []
    if polyline.fill_color and is_visible(polyline.fill_color):
        inside = clip_polygon(x, y, area)
        if len(inside[0]) > 2:
            ops.append(Shape([inside], fill=polyline.fill_color))
    color, width = polyline.line_color, min(float(polyline.line_width), MAX_WIDTH)
    if color and is_visible(color) and width > 0:
        style = polyline.line_style
        heads = []
        if not polyline.closed and style in ("arrow_left", "arrow_both"):
            x, y, head = _point(x[::-1], y[::-1], width)
            x, y = x[::-1], y[::-1]
            heads.append(head)
        if not polyline.closed and style in ("arrow_right", "arrow_both"):
            x, y, head = _point(x, y, width)
            heads.append(head)
        plain = style if style in ("dashed", "dotted") else "solid"
        if parts := _clip_line(x, y, area):
            ops.append(Shape(parts, stroke=stroke(color, max(width, 1.0), plain)))
        if seen := [head for head in heads if frame.area.holds(_spot(head))]:
            ops.append(Shape(seen, fill=color))
    return ops


def _point(x: Floats, y: Floats, width: float) -> tuple[Floats, Floats, Part]:
    """The line up to the head of an arrow at its end, and that head."""
    tip = float(x[-1]), float(y[-1])
    far = np.flatnonzero(np.hypot(x - tip[0], y - tip[1]) >= head_length(width))
    at = int(far[-1]) if len(far) else 0
    head, neck = arrow_head((float(x[at]), float(y[at])), tip, width)
    return np.append(x[: at + 1], neck[0]), np.append(y[: at + 1], neck[1]), head


def _spot(head: Part) -> Area:
    return Area(head[0][0], head[1][0], head[0][0], head[1][0])


# ------------------------------------------------------------------------------------------ curves


def _curve(x: Floats, y: Floats, closed: bool) -> Part:
    """A smooth line through all points, in short straight pieces.

    It is a centripetal Catmull-Rom spline: that has neither loops nor cusps between its points.
    """
    points = np.column_stack((x, y))
    points = points[np.insert(np.diff(points, axis=0).any(axis=1), 0, True)]
    if closed and (points[0] == points[-1]).all():
        points = points[:-1]
    if len(points) < 3:
        return points[:, 0], points[:, 1]
    if closed:
        points = np.vstack((points[-1], points, points[0], points[1]))
    else:
        points = np.vstack((2 * points[0] - points[1], points, 2 * points[-1] - points[-2]))
    steps = np.diff(points, axis=0)
    lengths = np.hypot(steps[:, 0], steps[:, 1])
    knots = np.sqrt(lengths)[:, None]
    slopes = steps / knots
    spans = (steps[:-1] + steps[1:]) / (knots[:-1] + knots[1:])
    leave = knots[1:-1] * (slopes[:-2] - spans[:-1] + slopes[1:-1])
    arrive = knots[1:-1] * (slopes[1:-1] - spans[1:] + slopes[2:])
    pieces = np.clip(np.ceil(lengths[1:-1] / PIECE), 1, MOST_PIECES).astype(np.int64)
    rows = np.repeat(np.arange(len(pieces)), pieces)
    nth = np.arange(len(rows)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    t = (nth / pieces[rows])[:, None]
    curve = (
        (2 * t**3 - 3 * t**2 + 1) * points[1:-2][rows]
        + (t**3 - 2 * t**2 + t) * leave[rows]
        + (3 * t**2 - 2 * t**3) * points[2:-1][rows]
        + (t**3 - t**2) * arrive[rows]
    )
    curve = np.vstack((curve, points[-2]))
    return curve[:, 0], curve[:, 1]


# ---------------------------------------------------------------------------------------- clipping


def _clip_line(x: Floats, y: Floats, area: Area) -> list[Part]:
    """The unbroken parts of a line inside an area."""
    if area.holds(Area(x.min(), y.min(), x.max(), y.max())):
        return [(x, y)]
    parts: list[list[Point]] = []
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    outside = (
        ((x[:-1] < area.left) & (x[1:] < area.left))
        | ((x[:-1] > area.right) & (x[1:] > area.right))
        | ((y[:-1] < area.top) & (y[1:] < area.top))
        | ((y[:-1] > area.bottom) & (y[1:] > area.bottom))
    )
    for at in np.flatnonzero(~outside).tolist():
        inside = cut(area, points[at], points[at + 1])
        if inside is None:
            continue
        if parts and parts[-1][-1] == inside[0]:
            parts[-1].append(inside[1])
        else:
            parts.append(list(inside))
    return [_columns(part) for part in parts]


def clip_polygon(x: Floats, y: Floats, area: Area) -> Part:
    """The part of a polygon inside an area (Sutherland and Hodgman's way)."""
    points = np.column_stack((x, y))
    for axis, edge, sign in (
        (0, area.left, 1.0),
        (0, area.right, -1.0),
        (1, area.top, 1.0),
        (1, area.bottom, -1.0),
    ):
        if not len(points):
            break
        points = _clip_edge(points, axis, edge, sign)
    return points[:, 0], points[:, 1]


def _clip_edge(points: Floats, axis: int, edge: float, sign: float) -> Floats:
    """A polygon without what lies beyond one edge of an area."""
    depth = (points[:, axis] - edge) * sign
    if depth.min() >= 0:
        return points
    before, earlier = np.roll(points, 1, axis=0), np.roll(depth, 1)
    crosses = (depth >= 0) != (earlier >= 0)
    share = np.divide(earlier, earlier - depth, out=np.zeros(len(depth)), where=crosses)
    crossings = before + share[:, None] * (points - before)
    crossings[:, axis] = edge
    both = np.stack((crossings, points), axis=1).reshape(-1, 2)
    stays = np.stack((crosses, depth >= 0), axis=1).ravel()
    return np.asarray(both[stays])


def _columns(points: Sequence[Point]) -> Part:
    x, y = np.array(points, dtype=float).T
    return x, y


# --------------------------------------------------------------------------------------- linefills


def fill_between(one: Line, other: Line, color: str | None, frame: Frame) -> list[Op]:
    """The area between two lines, extended as the lines are."""
    ends = [_ends(line, frame) for line in (one, other)]
    if color is None or not is_visible(color) or ends[0] is None or ends[1] is None:
        return []
    corners = _columns([*ends[0], *reversed(ends[1])])
    inside = clip_polygon(*corners, frame.area.grow(MARGIN))
    return [Shape([inside], fill=color)] if len(inside[0]) > 2 else []


def _ends(line: Line, frame: Frame) -> tuple[Point, Point] | None:
    """Both ends of a line from left to right, far outside the pane where it is extended."""
    bars = frame.timeline.bar(line.x1), frame.timeline.bar(line.x2)
    if bars[0] is None or bars[1] is None or line.y1 is None or line.y2 is None:
        return None
    first = frame.bars.x1(bars[0]), frame.values.y1(line.y1)
    second = frame.bars.x1(bars[1]), frame.values.y1(line.y2)
    if not all(map(math.isfinite, (*first, *second))):
        return None
    before, after = line.extend in ("left", "both"), line.extend in ("right", "both")
    start = _extend(second, first, frame.area) if before else first
    end = _extend(first, second, frame.area) if after else second
    return (start, end) if start[0] <= end[0] else (end, start)


def _extend(start: Point, end: Point, area: Area) -> Point:
    """Where the line from `start` through `end` has left the pane and its margin."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    if dx == dy == 0:
        return end
    # A sloping line is extended to the side of the pane, however high that is, so that the fill
    # between lines of different slopes ends on one upright edge.
    if dx:
        turns = ((area.right + MARGIN if dx > 0 else area.left - MARGIN) - end[0]) / dx
    else:
        turns = ((area.bottom + MARGIN if dy > 0 else area.top - MARGIN) - end[1]) / dy
    return end[0] + dx * max(turns, 0.0), end[1] + dy * max(turns, 0.0)
