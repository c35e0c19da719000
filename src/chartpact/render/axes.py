"""The axes: round values at the right, tags of last values, times below."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from chartpact.render import timeaxis, typesetting
from chartpact.render.display import Area, Ints, Op, Panel, Rects, Words
from chartpact.render.frame import SMALL, Frame
from chartpact.render.numberformat import NumberFormat
from chartpact.render.scales import BarScale
from chartpact.render.theme import Theme, blend, ink
from chartpact.render.timeaxis import TimeTick

APART = 38.0  # pixels between value labels, where there is room
PAD = 8.0  # between the edge of the panes and the labels
TAG = 17.0  # height of a tag
TAGGED = 0.5  # of a pane's axis: at most so much is under tags
SEEN = 2  # labels of an axis that tags leave free, where it has so many
TIME_HEIGHT = 27.0
LEFT = 6.0  # before the date
GAP = 12.0  # after it
DAYS_APART = 70.0  # pixels: days closer than this are not marked


@dataclass(frozen=True)
class Tag:
    """A last value on the axis; the `first` one, the price, gives way to no other."""

    y: float
    text: str
    color: str
    first: bool = False


def label_y(y: float) -> float:
    return y + SMALL * typesetting.CAP_HEIGHT / 2


def label_spacings(height: float) -> tuple[float, ...]:
    """How far apart the value labels of a pane of that height should be, and how far at least."""
    usual = min(APART, max(20.0, height / 4))
    return usual, max(18.0, 0.7 * usual), 18.0


def is_inside(y: float, area: Area) -> bool:
    """Whether a label at that height lies within a pane."""
    return area.top + 7 <= y <= area.bottom - 7


def spread(tags: Sequence[Tag], area: Area) -> list[tuple[float, Tag]]:
    """Tags moved apart until none covers another, within the pane; too many are left out.

    The `first` tag stays at its value. Those above it move up, those below it down, and of more
    than have room the later ones are left out. Together they take at most half of the axis.
    """
    low, high = area.top + TAG / 2, area.bottom - TAG / 2
    inside = [tag for tag in tags if area.top <= tag.y <= area.bottom]
    inside = sorted(inside, key=lambda tag: not tag.first)[
        : max(1, int(TAGGED * area.height / TAG))
    ]
    pinned = next((tag for tag in inside if tag.first), None)
    if pinned is None:
        return _stack(inside, low, high)
    y = min(max(pinned.y, low), high)
    rest = [tag for tag in inside if tag is not pinned]
    above = _stack([tag for tag in rest if tag.y < pinned.y], low, y - TAG)
    below = _stack([tag for tag in rest if tag.y >= pinned.y], y + TAG, high)
    return [*above, (y, pinned), *below]


def _stack(tags: Sequence[Tag], low: float, high: float) -> list[tuple[float, Tag]]:
    """Tags between two heights of their middles, as many as have room, from the top."""
    room = int((high - low) / TAG) + 1 if high >= low else 0
    stack = sorted(tags[:room], key=lambda tag: tag.y)
    heights = [tag.y for tag in stack]
    for i, y in enumerate(heights):
        heights[i] = max(y, heights[i - 1] + TAG if i else low)
    for i in range(len(heights) - 1, -1, -1):
        heights[i] = min(heights[i], heights[i + 1] - TAG if i + 1 < len(heights) else high)
    return list(zip(heights, stack, strict=True))


def values(
    frame: Frame,
    ticks: Sequence[float],
    format_value: NumberFormat,
    tags: Sequence[Tag],
    right: float,
) -> list[Op]:
    """The labels of a pane's value axis, then its tags; a label under a tag is left out."""
    heights = {value: frame.values.y1(value) for value in ticks}
    area, edge = frame.area, frame.area.right
    inside = [value for value, y in heights.items() if is_inside(y, area)]
    placed, free = _leave_free(tags, [heights[value] for value in inside], area)
    ops: list[Op] = []
    room = right - edge - PAD
    for value in inside:
        if heights[value] in free:
            label = typesetting.fit(format_value(value), SMALL, room)
            ops.append(Words(edge + PAD, label_y(heights[value]), label, SMALL, frame.theme.muted))
    for y, tag in placed:
        ground = blend(tag.color, frame.theme.background)
        area = Area(edge + 1, round(y - TAG / 2), right, round(y - TAG / 2) + TAG)
        ops.append(Panel(area, ground, radius=2))
        middle = (area.top + area.bottom) / 2
        label = typesetting.fit(tag.text, SMALL, room)
        ops.append(Words(edge + PAD, label_y(middle), label, SMALL, ink(ground)))
    return ops


def _leave_free(
    tags: Sequence[Tag], heights: Sequence[float], area: Area
) -> tuple[list[tuple[float, Tag]], list[float]]:
    """Where tags go, and the labels of the axis that they leave free.

    A tag that would leave fewer than `SEEN` labels is left out, but for the first of all.
    """
    chosen: list[Tag] = []
    placed: list[tuple[float, Tag]] = []
    free = list(heights)
    for tag in tags:
        moved = spread([*chosen, tag], area)
        left = [y for y in heights if all(abs(y - taken) >= TAG / 2 + 6 for taken, _ in moved)]
        if len(left) >= min(SEEN, len(heights)) or not chosen:
            chosen, placed, free = [*chosen, tag], moved, left
    return placed, free


def grid(
    frame: Frame, ticks: Sequence[float], times: Sequence[float], days: Sequence[float]
) -> list[Op]:
    """Horizontal lines at the values, vertical ones at the times, stronger ones between days."""
    area = frame.area
    boxes = [
        (round(area.left), round(frame.values.y1(value)), round(area.width), 1)
        for value in ticks
        if area.top + 2 < frame.values.y1(value) < area.bottom - 2
    ]
    marks = [(int(x), round(area.top), 1, round(area.height)) for x in days]
    near = frame.bars.step  # a day begins half a bar before the label of its first bar
    apart = [x for x in times if all(abs(x - day) > near for day in days)]
    boxes += [(int(x), round(area.top), 1, round(area.height)) for x in apart]
    return [
        Rects(np.array(rows, dtype=np.int64), color)
        for rows, color in ((boxes, frame.theme.grid), (marks, frame.theme.day))
        if rows
    ]


@dataclass(frozen=True)
class TimeLabel:
    """A label of the time axis: the middle of its text, and the grid line that it names, if any."""

    x: float
    text: str
    major: bool
    line: float | None = None

    @property
    def half(self) -> float:
        return typesetting.width(self.text, SMALL, "sans-bold" if self.major else "sans") / 2

    @property
    def left(self) -> float:
        return self.x - self.half

    @property
    def right(self) -> float:
        return self.x + self.half


def arrange_times(
    ticks: Sequence[TimeTick], time: Ints, bars: BarScale, right: float, tz: str
) -> list[TimeLabel]:
    """The labels of the time axis: the date of the first bar, then the ticks that have room.

    Where a new day begins under that date, the new day is named instead.
    """
    if not len(time):
        return []
    labels = [TimeLabel(x := bars.x1(tick.bar), tick.label, tick.major, x) for tick in ticks]
    first = _date(int(time[0]), 0.0, None, tz)
    for tick, label in zip(ticks, labels, strict=True):
        if label.major and label.left < first.right + GAP:
            first = _date(int(time[tick.bar]), label.x, label.x, tz)
    ends = first.right + GAP, right - 2
    return [first, *(one for one in labels if ends[0] <= one.left and one.right <= ends[1])]


def _date(time: int, x: float, line: float | None, tz: str) -> TimeLabel:
    label = TimeLabel(x, timeaxis.date(time, tz), True, line)
    return replace(label, x=max(x, LEFT + label.half))


def times(labels: Sequence[TimeLabel], area: Area, theme: Theme) -> list[Op]:
    """The labels of the time axis."""
    y = label_y((area.top + area.bottom) / 2)
    return [
        Words(
            label.x,
            y,
            label.text,
            SMALL,
            theme.text if label.major else theme.muted,
            "middle",
            "sans-bold" if label.major else "sans",
        )
        for label in labels
    ]
