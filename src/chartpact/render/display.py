"""The display list: everything drawn, flat and in order, whatever format it is written in.

Coordinates are pixels from the top left corner; colours are `#rrggbb` or `#rrggbbaa`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from chartpact.render import typesetting

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of the picture."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def meets(self, other: "Area") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def holds(self, other: "Area") -> bool:
        return (
            self.left <= other.left
            and other.right <= self.right
            and self.top <= other.top
            and other.bottom <= self.bottom
        )

    def grow(self, by: float) -> "Area":
        return Area(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def move(self, x: float, y: float) -> "Area":
        return Area(self.left + x, self.top + y, self.right + x, self.bottom + y)

    def align(
        self, width: float, height: float, across: str, down: str, margins: tuple[float, float]
    ) -> "Area":
        """A rectangle of this size inside, at an edge less its margin or in the middle."""
        x, y = margins
        left, top = (self.left + self.right - width) / 2, (self.top + self.bottom - height) / 2
        left = {"left": self.left + x, "right": self.right - x - width}.get(across, left)
        top = {"top": self.top + y, "bottom": self.bottom - y - height}.get(down, top)
        return Area(left, top, left + width, top + height)


@dataclass(frozen=True, slots=True)
class Stroke:
    """How a line is drawn."""

    color: str
    width: float = 1.0
    dash: tuple[float, ...] = ()
    round: bool = True  # joins and caps


@dataclass(frozen=True, slots=True)
class Rects:
    """Rectangles of one colour on whole pixels, as rows of left, top, width, height."""

    boxes: Ints
    fill: str


@dataclass(frozen=True, slots=True)
class Panel:
    """One rectangle, perhaps with round corners and a border."""

    area: Area
    fill: str | None = None
    stroke: Stroke | None = None
    radius: float = 0.0


@dataclass(frozen=True, slots=True)
class Shape:
    """Polylines or polygons drawn as one: each part is its xs and its ys."""

    parts: Sequence[tuple[Floats, Floats]]
    stroke: Stroke | None = None
    fill: str | None = None


@dataclass(frozen=True, slots=True)
class Circles:
    """Circles of one colour."""

    x: Floats
    y: Floats
    radius: Floats
    fill: str
    titles: tuple[str, ...] = ()  # tooltips, one a circle


@dataclass(frozen=True, slots=True)
class Words:
    """One line of text; `y` is its baseline."""

    x: float
    y: float
    text: str
    size: float
    color: str
    anchor: str = "start"  # start, middle or end
    face: str = "sans"
    halo: str | None = None  # an outline, behind the letters


@dataclass(frozen=True, slots=True)
class Begin:
    """What follows belongs together, perhaps clipped, until the matching End."""

    name: str
    clip: Area | None = None
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class End:
    pass


Op = Rects | Panel | Shape | Circles | Words | Begin | End


@dataclass
class DisplayList:
    """A picture: its size, its background, its title and its operations."""

    width: int
    height: int
    background: str
    title: str
    ops: list[Op] = field(default_factory=list)

    def add(self, *ops: Op) -> None:
        self.ops.extend(ops)


def bounding_box(op: Op) -> Area:
    """The area that an operation covers; of a text, by its font."""
    match op:
        case Rects() if len(op.boxes):
            left, top = op.boxes[:, :2].min(axis=0).tolist()
            right, bottom = (op.boxes[:, :2] + op.boxes[:, 2:]).max(axis=0).tolist()
            return Area(left, top, right, bottom)
        case Shape() if op.parts:
            x = np.concatenate([part[0] for part in op.parts])
            y = np.concatenate([part[1] for part in op.parts])
            return _box_around(x, y).grow(op.stroke.width / 2 if op.stroke else 0.0)
        case Circles() if len(op.x):
            return _box_around(op.x, op.y).grow(float(op.radius.max()))
        case Panel():
            return op.area.grow(op.stroke.width / 2 if op.stroke else 0.0)
        case Words():
            wide = typesetting.width(op.text, op.size, op.face)
            left = op.x - {"start": 0.0, "middle": wide / 2, "end": wide}[op.anchor]
            return Area(left, op.y - op.size, left + wide, op.y + op.size * 0.3)
    return Area(np.inf, np.inf, -np.inf, -np.inf)  # no area, which every area holds


def _box_around(x: Floats, y: Floats) -> Area:
    return Area(float(x.min()), float(y.min()), float(x.max()), float(y.max()))
