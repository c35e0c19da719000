"""Boxes: background, border, extension, and a text that stays inside or is left out."""

import numpy as np

from chartpact import palette
from chartpact.render import typesetting
from chartpact.render.display import Area, Op, Panel, Shape
from chartpact.render.frame import Frame
from chartpact.render.lines import cut, stroke
from chartpact.render.textblock import Block, Occupied, block, block_of
from chartpact.render.theme import is_visible, text_color_on
from chartpact.scene import Box

PAD = 4.0
AUTO_SIZES = (14, 12, 11, 10, 9, 8, 7, 6)


def box_area(box: Box, frame: Frame) -> Area | None:
    """The area of the whole box, in view or not."""
    left, right = frame.timeline.bar(box.left), frame.timeline.bar(box.right)
    if left is None or right is None or box.top is None or box.bottom is None:
        return None
    x = sorted((frame.bars.x1(left), frame.bars.x1(right)))
    y = sorted((frame.values.y1(box.top), frame.values.y1(box.bottom)))
    if not np.isfinite([*x, *y]).all():
        return None
    if box.extend in ("left", "both"):
        x[0] = min(x[0], frame.area.left - 100)
    if box.extend in ("right", "both"):
        x[1] = max(x[1], frame.area.right + 100)
    return Area(x[0], y[0], x[1], y[1])


def draw(box: Box, frame: Frame) -> list[Op]:
    """The background and the border of a box, cut off at the pane."""
    area = box_area(box, frame)
    if area is None or not area.grow(1).meets(frame.area):
        return []
    ops: list[Op] = []
    visible_part = _intersection(area, frame.area)
    if box.bgcolor is not None and is_visible(box.bgcolor):
        ops.append(Panel(visible_part, box.bgcolor))
    if box.border_color is not None and is_visible(box.border_color) and box.border_width:
        sides = _border(area, frame.area)
        if sides:
            width = min(float(box.border_width), 64.0)
            ops.append(Shape(sides, stroke=stroke(box.border_color, width, box.border_style)))
    return ops


def _intersection(one: Area, other: Area) -> Area:
    return Area(
        max(one.left, other.left),
        max(one.top, other.top),
        min(one.right, other.right),
        min(one.bottom, other.bottom),
    )


def _border(area: Area, pane: Area) -> list[tuple[np.ndarray, np.ndarray]]:
    corners = [
        (area.left, area.top),
        (area.right, area.top),
        (area.right, area.bottom),
        (area.left, area.bottom),
    ]
    if pane.holds(area):
        x, y = np.array([*corners, corners[0]]).T
        return [(x, y)]
    sides = []
    for start, end in zip(corners, [*corners[1:], corners[0]], strict=True):
        part = cut(pane, start, end)
        if part is not None and part[0] != part[1]:
            x, y = np.array(part).T
            sides.append((x, y))
    return sides


def write(box: Box, frame: Frame, occupied: Occupied) -> list[Op]:
    """The text of a box, aligned as it says, or elsewhere in the box if that place is taken."""
    if not box.text.strip() or box.text_color is None or not is_visible(box.text_color):
        return []
    if occupied.full:
        return []
    area = box_area(box, frame)
    if area is None or not area.meets(frame.area):
        return []
    seen = _intersection(area, frame.area)
    words = _fit(box, seen, frame.area)
    color = text_color_on(box.text_color, frame.theme.background, box.bgcolor)
    columns = [box.text_halign, *(h for h in palette.HALIGNS if h != box.text_halign)]
    rows = [box.text_valign, *(v for v in palette.VALIGNS if v != box.text_valign)]
    for halign in columns:
        for valign in rows:
            spot = seen.align(words.width, words.height, halign, valign, (PAD, PAD / 2))
            if occupied.is_free(spot):
                occupied.add(spot)
                ops = words.draw(spot, halign, color)
                # Words that are higher than their box would be struck through by its border.
                low = words.height > seen.height
                return [Panel(spot.grow(1), frame.theme.background), *ops] if low else ops
    return []


def _fit(box: Box, seen: Area, pane: Area) -> Block:
    """The text in its size, or for `auto` in the largest size that fits."""
    fixed = box.text_size if isinstance(box.text_size, int) else palette.TEXT_SIZES[box.text_size]
    wrap = box.text_wrap == "auto"
    text = block(box.text, 1.0, box.text_formatting, box.text_font_family)
    words = text
    for points in (fixed,) if fixed else AUTO_SIZES:
        words = text.resize(points)
        size = words.size
        if wrap:
            room = max(seen.width - 2 * PAD, size)
            chars = int(seen.height * seen.width / size) + 20  # that the box could hold
            most = int(seen.height / words.pitch) + 1
            lines = typesetting.wrap("\n".join(text.lines)[:chars], size, room, text.face, most)
            words = block_of(lines, size, words.face)
        if words.width <= seen.width - PAD and words.height <= seen.height - PAD / 2:
            return words
    # What does not fit below is cut off: of a wrapped text, all of it.
    return words.cut(seen.height - PAD / 2 - words.pitch if wrap else pane.height)
