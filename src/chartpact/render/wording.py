"""Text inside drawn objects: its face, its size, its lines, and the room that is taken."""

from dataclasses import dataclass, field

import numpy as np

from chartpact.render import text
from chartpact.render.display import Area, Op, Words

MAX_SIZE = 200
MAX_LINES = 200


@dataclass(frozen=True)
class Block:
    """Some lines of text of one size and face."""

    lines: tuple[str, ...]
    size: float
    face: str

    @property
    def width(self) -> float:
        return max((text.width(line, self.size, self.face) for line in self.lines), default=0.0)

    @property
    def height(self) -> float:
        return len(self.lines) * self.size * text.LINE_HEIGHT

    def draw(self, area: Area, align: str, color: str, halo: str | None = None) -> list[Op]:
        """The lines from the top of an area, aligned within it."""
        x, anchor = {
            "left": (area.left, "start"),
            "center": ((area.left + area.right) / 2, "middle"),
            "right": (area.right, "end"),
        }[align]
        pitch = self.size * text.LINE_HEIGHT
        base = area.top + pitch / 2 + self.size * text.CAP_HEIGHT / 2
        return [
            Words(x, base + i * pitch, line, self.size, color, anchor, self.face, halo)
            for i, line in enumerate(self.lines)
            if line.strip()
        ]


def block(words: str, size: float, formatting: str, family: str) -> Block:
    """The text of an object, its lines as they were written."""
    lines = tuple(text.clean(words).split("\n")[:MAX_LINES])
    return Block(lines if words else (), min(size, MAX_SIZE), face_of(formatting, family))


def face_of(formatting: str, family: str) -> str:
    return text.face("bold" in formatting, "italic" in formatting, family == "monospace")


@dataclass
class Taken:
    """The places of a pane that already hold text."""

    areas: list[Area] = field(default_factory=list)
    _rows: list[tuple[float, float, float, float]] = field(default_factory=list)

    def add(self, area: Area) -> None:
        self.areas.append(area)
        self._rows.append((area.left, area.top, area.right, area.bottom))

    def free(self, area: Area) -> bool:
        if len(self._rows) < 16:
            return not any(area.meets(each) for each in self.areas)
        rows = np.array(self._rows)
        return not bool(
            (
                (rows[:, 0] < area.right)
                & (area.left < rows[:, 2])
                & (rows[:, 1] < area.bottom)
                & (area.top < rows[:, 3])
            ).any()
        )
