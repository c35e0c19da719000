"""Labels: 21 styles, and a place for each.

The newest label is placed first. A label whose text would cover another's moves away from its
anchor, on a thread. Where there is no place nearby it keeps its mark and loses its text.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chartpact import palette
from chartpact.render import textblock
from chartpact.render.display import Area, Begin, Circles, End, Floats, Op, Panel, Shape, Stroke
from chartpact.render.frame import Frame
from chartpact.render.textblock import Block, Occupied, block
from chartpact.render.theme import fade, is_visible, text_color_on
from chartpact.scene import Label

PADDING = (6.0, 2.5)  # beside and above the text of a bubble, at size 12
CLEAR = 4.0  # between a bar and a label above or below it
TRIES = 10
SHORT = 4  # a text without room is shortened to the width of the pane over this, and tries again

# Bubbles: where the box lies from the point it names (−1 left or above, 0 about it, 1 right, below)
BUBBLES: Mapping[str, tuple[int, int]] = {
    "label_up": (0, 1),
    "label_down": (0, -1),
    "label_left": (1, 0),
    "label_right": (-1, 0),
    "label_lower_left": (1, -1),
    "label_lower_right": (-1, -1),
    "label_upper_left": (1, 1),
    "label_upper_right": (-1, 1),
    "label_center": (0, 0),
}
BARE = ("none", "text_outline")
NO_WORDS = Block((), 12.0, "sans", 0.0)


def _polygon(
    *points: tuple[float, float],
) -> Callable[[float, float, float], tuple[Floats, Floats]]:
    xs, ys = np.array(points, dtype=float).T
    return lambda x, y, r: (x + xs * r, y + ys * r)


_T = 0.3  # half the thickness of a cross's arms
_cross = [
    (-_T, -1), (_T, -1), (_T, -_T), (1, -_T), (1, _T), (_T, _T),
    (_T, 1), (-_T, 1), (-_T, _T), (-1, _T), (-1, -_T), (-_T, -_T),
]  # fmt: skip
_turn = math.sqrt(0.5)

_arrow = [(0, -1), (0.8, -0.1), (0.32, -0.1), (0.32, 1), (-0.32, 1), (-0.32, -0.1), (-0.8, -0.1)]
_pin = [(0, -1), (0.5, -0.45), (0.9, -0.45), (0.9, 1), (-0.9, 1), (-0.9, -0.45), (-0.5, -0.45)]
_flag = [(-0.8, -1), (0.9, -1), (0.45, -0.45), (0.9, 0.1), (-0.5, 0.1), (-0.5, 1), (-0.8, 1)]

# Signs: a polygon about the point, of radius 1
SIGNS = {
    "arrowup": _polygon(*_arrow),
    "arrowdown": _polygon(*((x, -y) for x, y in _arrow)),
    "triangleup": _polygon((0, -0.85), (0.95, 0.8), (-0.95, 0.8)),
    "triangledown": _polygon((0, 0.85), (0.95, -0.8), (-0.95, -0.8)),
    "square": _polygon((-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)),
    "diamond": _polygon((0, -1.1), (1.1, 0), (0, 1.1), (-1.1, 0)),
    "cross": _polygon(*_cross),
    "xcross": _polygon(*((_turn * (x - y), _turn * (x + y)) for x, y in _cross)),
    "flag": _polygon(*_flag),
    "labelup": _polygon(*_pin),  # of shapes; labels of these styles are bubbles
    "labeldown": _polygon(*((x, -y) for x, y in _pin)),
}


@dataclass(frozen=True)
class Placed:
    """A label with its place: the point it names, the box of its text, and its thread."""

    label: Label
    x: float
    y: float
    box: Area
    words: Block
    moved: bool = False
    mute: bool = False  # no room for the text


def text_size(label: Label, step: float) -> float:
    if isinstance(label.size, int):
        return textblock.text_size(label.size)
    points = palette.LABEL_SIZES[label.size]
    return float(points) if points else (12.0 if step >= 6 else 10.0)


def point_of(label: Label, frame: Frame) -> tuple[float, float] | None:
    """The point a label names; None where it has none or it is out of view."""
    bar = frame.timeline.bar(label.x)
    if bar is None:
        return None
    x = frame.bars.x1(bar)
    if label.yloc == "price":
        if label.y is None:
            return None
        y = frame.values.y1(label.y)
    else:
        bars = frame.timeline.bars
        if not 0 <= bar < len(bars):
            return None
        above = label.yloc == "abovebar"
        value = (bars.high if above else bars.low)[int(bar)]
        y = frame.values.y1(float(value)) + (-CLEAR if above else CLEAR)
    inside = frame.area.left <= x <= frame.area.right and math.isfinite(y)
    if not inside or not frame.area.top <= y <= frame.area.bottom:
        return None
    return x, y


def _box(label: Label, words: Block, x: float, y: float, size: float) -> tuple[Area, int]:
    """The box of the text and which way it may move (−1 up, 1 down, 0 either)."""
    scale = size / 12
    if label.style in BUBBLES:
        across, down = BUBBLES[label.style]
        width = max(words.width + 2 * PADDING[0] * scale, size)
        height = max(words.height, size * 1.1) + 2 * PADDING[1] * scale
        tail = 6 * scale if label.style != "label_center" else 0.0
        corner = across and down
        left = x - width / 2 + across * (width / 2 + (0 if corner else tail))
        top = y - height / 2 + down * (height / 2 + tail)
        way = down
    elif label.style in BARE:
        width, height = words.width, words.height
        left, top, way = x - width / 2, y - height / 2, 0
    else:
        radius = size * 0.6
        below = label.yloc == "belowbar" or (label.yloc == "price" and label.style.endswith("up"))
        width = max(words.width, 2 * radius)
        height = words.height + 2 * radius
        left, top = x - width / 2, y - radius - (0 if below else words.height)
        way = 1 if below else -1
    if label.yloc == "abovebar" and top + height > y:
        top, way = y - height, -1
    elif label.yloc == "belowbar" and top < y:
        top, way = y, 1
    return Area(left, top, left + width, top + height), way


def arrange(labels: Sequence[Label], frame: Frame, occupied: Occupied) -> list[Placed]:
    """A place for every label in view, in the order they are drawn."""
    arranged: list[Placed] = []
    for label in reversed(labels):
        point = point_of(label, frame)
        if point is None:
            continue
        size = text_size(label, frame.bars.step)
        if occupied.full:
            spot = Area(*point, *point)
            arranged.append(Placed(label, *point, spot, NO_WORDS, mute=True))
            continue
        shown = label.text if label.text_color and is_visible(label.text_color) else ""
        words = block(shown, size, label.text_formatting, label.text_font_family)
        words = words.cut(frame.area.height - 3 * words.pitch)  # with its bubble or sign
        placed = None
        for room in (frame.area.width - 4 * PADDING[0] * size / 12, frame.area.width / SHORT):
            if placed is None or (placed.mute and words.width > room):
                words = words.fit(room)
                box, way = _box(label, words, *point, size)
                placed = _place(Placed(label, *point, box, words), way, frame.area, occupied)
        if placed is not None and placed.box.height > 0 and placed.box.width > 0:
            arranged.append(placed)
    return arranged[::-1]


def _place(placed: Placed, way: int, area: Area, occupied: Occupied) -> Placed:
    """The label where its text is free: as near as there is room, or without its text."""
    box = _move_inside(placed.box, area)
    if not placed.words.lines:
        return replace(placed, box=box)
    pitch = box.height + 2
    ways = (way,) if way else (-1, 1)
    shifts = [0.0] + [sign * turn * pitch for turn in range(1, TRIES) for sign in ways]
    if way:
        shifts += [-way * turn * pitch for turn in range(2, 5)]
    for shift in shifts:
        moved = box.move(0, shift)
        if (shift == 0 or area.holds(moved)) and occupied.is_free(moved):
            occupied.add(moved.grow(0.5))
            return replace(placed, box=moved, moved=shift != 0)
    return replace(placed, box=box, mute=True)


def _move_inside(box: Area, area: Area) -> Area:
    """The box moved into the area, as far as it sticks out."""
    x = max(area.left + 2 - box.left, 0) or min(area.right - 2 - box.right, 0)
    y = max(area.top + 2 - box.top, 0) or min(area.bottom - 2 - box.bottom, 0)
    return box.move(x if box.width < area.width else 0, y if box.height < area.height else 0)


def thread(placed: Placed, frame: Frame) -> list[Op]:
    """The line from a label that moved away to the point it names."""
    label, box = placed.label, placed.box
    if not placed.moved or placed.mute:
        return []
    color = label.text_color or frame.theme.text
    if label.style not in BARE and label.color is not None and is_visible(label.color):
        color = label.color
    edge = box.bottom if box.bottom < placed.y else box.top
    x = min(max(placed.x, box.left), box.right)
    ends = np.array([placed.x, x]), np.array([placed.y, edge])
    return [Shape([ends], stroke=Stroke(fade(color, 0.8), 1.0))]


def draw(placed: Placed, frame: Frame) -> list[Op]:
    """A label as it was placed."""
    label = placed.label
    inner = _draw_mark(placed, frame) if placed.mute else _draw_whole(placed, frame)
    if label.tooltip and inner:
        return [Begin("label", tooltip=label.tooltip), *inner, End()]
    return inner


def _draw_mark(placed: Placed, frame: Frame) -> list[Op]:
    label = placed.label
    if label.style in BUBBLES or label.style in BARE:
        color = label.color if label.style in BUBBLES else label.text_color
        return [_dot(placed.x, placed.y, 2.5, color)] if color and is_visible(color) else []
    return _sign(placed, frame)


def _dot(x: float, y: float, radius: float, color: str) -> Op:
    return Circles(np.array([x]), np.array([y]), np.array([radius]), color)


def _draw_whole(placed: Placed, frame: Frame) -> list[Op]:
    label, words, box = placed.label, placed.words, placed.box
    ops: list[Op] = []
    filled = label.color is not None and is_visible(label.color)
    ink = label.text_color or frame.theme.text
    if label.style in BUBBLES:
        if filled and label.color:
            ops += _bubble(placed, label.color)
        ink = text_color_on(ink, frame.theme.background, label.color if filled else None)
        inner = box.grow(-PADDING[0] * words.size / 12)
        top = (box.top + box.bottom - words.height) / 2
        return ops + words.draw(
            Area(inner.left, top, inner.right, top + words.height), label.text_align, ink
        )
    if label.style in BARE:
        if label.style == "text_outline" and filled:
            halo = label.color
        else:
            halo, ink = shade(frame), text_color_on(ink, frame.theme.background)
        return ops + words.draw(box, label.text_align, ink, halo)
    ops += _sign(placed, frame)
    middle = (box.top + box.bottom) / 2
    top = box.top if middle < placed.y else box.bottom - words.height
    area = Area(box.left, top, box.right, top + words.height)
    ink = text_color_on(ink, frame.theme.background)
    return ops + words.draw(area, label.text_align, ink, shade(frame))


def shade(frame: Frame) -> str:
    """The halo of a text without a background, over what is drawn behind it."""
    return fade(frame.theme.background, 0.75)


def _sign(placed: Placed, frame: Frame) -> list[Op]:
    label = placed.label
    if label.color is None or not is_visible(label.color):
        return []
    radius = text_size(label, frame.bars.step) * 0.6
    x, y = placed.x, placed.y
    if label.yloc == "abovebar":
        y -= radius
    elif label.yloc == "belowbar":
        y += radius
    if label.style == "circle":
        return [_dot(x, y, radius, label.color)]
    return [Shape([SIGNS[label.style](x, y, radius)], fill=label.color)]


def _bubble(placed: Placed, color: str) -> list[Op]:
    """A box with round corners and, unless it moved away, a tail to the point it names."""
    label, box = placed.label, placed.box
    radius = min(4.0 * placed.words.size / 12, box.height / 3)
    ops: list[Op] = []
    if label.style != "label_center" and not placed.moved:
        tail = _tail(BUBBLES[label.style], placed, radius)
        if tail is not None:
            ops.append(Shape([tail], fill=color))
    ops.append(Panel(box, color, radius=radius))
    return ops


def _tail(side: tuple[int, int], placed: Placed, radius: float) -> tuple[Floats, Floats] | None:
    box, x, y = placed.box, placed.x, placed.y
    across, down = side
    half = 5.0 * placed.words.size / 12
    if down:
        edge = box.top if y < box.top else box.bottom
        if box.top <= y <= box.bottom:
            return None
        low, high = box.left + radius * bool(not across), box.right - radius * bool(not across)
        left = min(max(x - half, low), high)
        right = min(max(x + half, low), high)
        if across:  # the tail of a corner extends its edge
            inner = edge + math.copysign(min(box.height / 2, 2 * half), edge - y)
            return np.array([x, x, x + across * 2 * half, x]), np.array([y, inner, edge, y])
        return np.array([x, left, right]), np.array([y, edge, edge])
    edge = box.left if x < box.left else box.right
    if box.left <= x <= box.right:
        return None
    top = min(max(y - half, box.top + radius), box.bottom - radius)
    bottom = min(max(y + half, box.top + radius), box.bottom - radius)
    return np.array([x, edge, edge]), np.array([y, top, bottom])
