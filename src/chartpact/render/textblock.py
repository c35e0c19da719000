"""Text inside drawn objects, as blocks of lines, and the areas of a pane that hold text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from chartpact.render import typesetting
from chartpact.render.deadline import Deadline
from chartpact.render.display import Area, Op, Words

LEAST_SIZE, MAX_SIZE = 5.0, 200.0  # pixels: smaller letters cannot be read
MAX_LINES = 200
MAX_LENGTH = 400  # characters of a line: more have no room on any picture
MOST_TEXTS = 1_500  # in one pane
MOST_TRIES = 30_000
CELL = 64  # pixels


def text_size(size: float) -> float:
    """The size in which a text is drawn."""
    return float(min(max(size, LEAST_SIZE), MAX_SIZE))


@dataclass(frozen=True)
class Block:
    """Some lines of text of one size and face; its width is known for every size."""

    lines: tuple[str, ...]
    size: float
    face: str
    advance: float  # of the widest line, at size 1

    @property
    def width(self) -> float:
        return self.advance * self.size

    @property
    def pitch(self) -> float:
        """From one line to the next."""
        return self.size * typesetting.LINE_HEIGHT

    @property
    def height(self) -> float:
        return len(self.lines) * self.pitch

    def resize(self, size: float) -> "Block":
        return replace(self, size=text_size(size))

    def cut(self, height: float) -> "Block":
        """The block without lines that lie wholly below that height; the first one stays."""
        most = 1 + int(max(height, 0.0) / self.pitch)
        lines = self.lines[:most]
        return self if lines == self.lines else block_of(lines, self.size, self.face)

    def fit(self, room: float) -> "Block":
        """The block with every line shortened to that width."""
        if self.width <= room:
            return self
        lines = (typesetting.fit(line, self.size, room, self.face) for line in self.lines)
        return block_of(lines, self.size, self.face)

    def draw(self, area: Area, align: str, color: str, halo: str | None = None) -> list[Op]:
        """The lines from the top of an area, aligned within it."""
        x, anchor = {
            "left": (area.left, "start"),
            "center": ((area.left + area.right) / 2, "middle"),
            "right": (area.right, "end"),
        }[align]
        base = area.top + self.pitch / 2 + self.size * typesetting.CAP_HEIGHT / 2
        return [
            Words(x, base + i * self.pitch, line, self.size, color, anchor, self.face, halo)
            for i, line in enumerate(self.lines)
            if line.strip()
        ]


def block_of(lines: Iterable[str], size: float, face: str) -> Block:
    """These lines, measured."""
    lines = tuple(lines)
    widths = (typesetting.width(line, 1.0, face) for line in lines)
    return Block(lines, text_size(size), face, max(widths, default=0.0))


def block(words: str, size: float, formatting: str, family: str) -> Block:
    """The text of an object, its lines as they were written."""
    lines = [line[:MAX_LENGTH] for line in typesetting.clean(words).split("\n")[:MAX_LINES]]
    face = typesetting.face_for("".join(lines), typesetting.face_of(formatting, family))
    return block_of(lines if words else (), size, face)


class Occupied:
    """The areas of a pane that hold text, in a grid of squares for quick lookup.

    A table may be many times as large as its pane. Only squares near the pane are looked at.
    """

    def __init__(self, pane: Area, deadline: Deadline) -> None:
        self._deadline = deadline
        self._near = pane.grow(4 * CELL)
        self.areas: list[Area] = []
        self._cells: dict[tuple[int, int], list[Area]] = {}
        self._asked = 0

    @property
    def full(self) -> bool:
        """Whether a pane has so much text that more is not worth the search for room."""
        return len(self.areas) >= MOST_TEXTS or self._asked >= MOST_TRIES

    def add(self, area: Area) -> None:
        self.areas.append(area)
        for cell in self._cells_of(area):
            self._cells.setdefault(cell, []).append(area)

    def is_free(self, area: Area) -> bool:
        self._asked += 1
        self._deadline.check()
        return not any(
            area.meets(other)
            for cell in self._cells_of(area)
            for other in self._cells.get(cell, ())
        )

    def _cells_of(self, area: Area) -> Iterator[tuple[int, int]]:
        """The squares of the picture that an area touches."""
        near = self._near
        left, right = max(area.left, near.left), min(area.right, near.right)
        top, bottom = max(area.top, near.top), min(area.bottom, near.bottom)
        for column in range(int(left // CELL), int(right // CELL) + 1):
            for row in range(int(top // CELL), int(bottom // CELL) + 1):
                yield column, row
