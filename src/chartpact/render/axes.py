"""The axes: round values at the right, tags of last values, times below."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chartpact.render import typesetting
from chartpact.render.display import Area, Floats, Op, Panel, Rects, Words
from chartpact.render.frame import SMALL, Frame
from chartpact.render.numberformat import NumberFormat
from chartpact.render.theme import Theme, blend, ink
from chartpact.render.timeaxis import TimeTick

APART = 38.0  # pixels between value labels, where there is room
PAD = 8.0  # between the edge of the panes and the labels
TAG = 17.0  # height of a tag
TIME_HEIGHT = 27.0


@dataclass(frozen=True)
class Tag:
    """A last value on the axis; the `first` one, the price, gives way to no other."""

    y: float
    text: str
    color: str
    first: bool = False


def label_y(y: float) -> float:
    return y + SMALL * typesetting.CAP_HEIGHT / 2


def label_spacing(height: float) -> float:
    """How far apart the value labels of a pane of that height should be."""
    return min(APART, max(20.0, height / 4))


def spread(tags: Sequence[Tag], area: Area) -> list[tuple[float, Tag]]:
    """Tags moved apart until none covers another, within the pane; too many are left out.

    The `first` tag keeps its place; the others make room for it.
    """
    tags = [tag for tag in tags if area.top <= tag.y <= area.bottom]
    most = max(1, int(area.height // TAG))
    tags = sorted(tags, key=lambda tag: not tag.first)[:most]
    tags.sort(key=lambda tag: tag.y)
    if not tags:
        return []
    y = np.array([tag.y for tag in tags])
    pinned = next((i for i, tag in enumerate(tags) if tag.first), None)
    low, high = area.top + TAG / 2, area.bottom - TAG / 2
    if pinned is not None:
        below = len(tags) - 1 - pinned
        y[pinned] = min(max(y[pinned], low + pinned * TAG), high - below * TAG)
    _push_up(y, pinned or 0)
    _push_down(y, pinned or 0)
    y[-1] = min(y[-1], high)
    _push_up(y, len(y) - 1)
    y[0] = max(y[0], low)
    _push_down(y, 0)
    return list(zip(y.tolist(), tags, strict=True))


def _push_up(y: Floats, start: int) -> None:
    for i in range(start - 1, -1, -1):
        y[i] = min(y[i], y[i + 1] - TAG)


def _push_down(y: Floats, start: int) -> None:
    for i in range(start + 1, len(y)):
        y[i] = max(y[i], y[i - 1] + TAG)


def values(
    frame: Frame,
    ticks: Sequence[float],
    format_value: NumberFormat,
    tags: Sequence[Tag],
    right: float,
) -> list[Op]:
    """The labels of a pane's value axis, then its tags; a label under a tag is left out."""
    placed = spread(tags, frame.area)
    ops: list[Op] = []
    edge = frame.area.right
    room = right - edge - PAD
    for value in ticks:
        y = frame.values.y1(value)
        inside = frame.area.top + 7 <= y <= frame.area.bottom - 7
        if inside and all(abs(y - taken) >= TAG / 2 + 6 for taken, _ in placed):
            label = typesetting.fit(format_value(value), SMALL, room)
            ops.append(Words(edge + PAD, label_y(y), label, SMALL, frame.theme.muted))
    for y, tag in placed:
        ground = blend(tag.color, frame.theme.background)
        area = Area(edge + 1, round(y - TAG / 2), right, round(y - TAG / 2) + TAG)
        ops.append(Panel(area, ground, radius=2))
        middle = (area.top + area.bottom) / 2
        label = typesetting.fit(tag.text, SMALL, room)
        ops.append(Words(edge + PAD, label_y(middle), label, SMALL, ink(ground)))
    return ops


def grid(frame: Frame, ticks: Sequence[float], times: Sequence[float]) -> list[Op]:
    """Horizontal lines at the values, vertical ones at the times."""
    area = frame.area
    boxes = [
        (round(area.left), round(frame.values.y1(value)), round(area.width), 1)
        for value in ticks
        if area.top + 2 < frame.values.y1(value) < area.bottom - 2
    ]
    boxes += [(int(x), round(area.top), 1, round(area.height)) for x in times]
    if not boxes:
        return []
    return [Rects(np.array(boxes, dtype=np.int64), frame.theme.grid)]


def has_room(tick: TimeTick, x: float, left: float, right: float) -> bool:
    """Whether the label of a tick at x stays between the sides."""
    half = typesetting.width(tick.label, SMALL, "sans-bold" if tick.major else "sans") / 2
    return left + half + 2 <= x <= right - half - 2


def times(ticks: Sequence[TimeTick], xs: Sequence[float], area: Area, theme: Theme) -> list[Op]:
    """The labels of the time axis."""
    ops: list[Op] = []
    y = label_y((area.top + area.bottom) / 2)
    for tick, x in zip(ticks, xs, strict=True):
        face = "sans-bold" if tick.major else "sans"
        color = theme.text if tick.major else theme.muted
        ops.append(Words(x, y, tick.label, SMALL, color, "middle", face))
    return ops
