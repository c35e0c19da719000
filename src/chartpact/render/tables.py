"""Tables in the nine places of a pane."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chartpact import palette
from chartpact.render.deadline import Deadline
from chartpact.render.display import Area, Begin, End, Op, Panel, Stroke
from chartpact.render.frame import Frame
from chartpact.render.textblock import Block, block
from chartpact.render.theme import is_visible, text_color_on
from chartpact.scene import Cell, Table

PADDING = (6.0, 3.0)
MARGIN = 8.0
AUTO_SIZE = 12
SMALLEST = 0.35  # of its size: a table is made no smaller
SHARES = (1.0, 0.85, 0.7, 0.6, 0.5, 0.42, SMALLEST)  # tried where tables have to share a pane
MAX_SIDE = 200  # columns or rows; more could not be read on any picture


@dataclass(frozen=True)
class Sheet:
    """A table whose texts are measured once, to be tried in several sizes."""

    table: Table
    cells: tuple[tuple[Cell, Block], ...]
    columns: int
    rows: int


@dataclass(frozen=True)
class Grid:
    """A table measured: how wide its columns and how high its rows are."""

    table: Table
    cells: tuple[tuple[Cell, Block], ...]
    columns: np.ndarray
    rows: np.ndarray
    line: float  # between cells, and the frame
    frame: float
    scale: float

    @property
    def width(self) -> float:
        return float(self.columns.sum()) + self.line * (len(self.columns) - 1) + 2 * self.frame

    @property
    def height(self) -> float:
        return float(self.rows.sum()) + self.line * (len(self.rows) - 1) + 2 * self.frame


def sheets(tables: Iterable[Table], deadline: Deadline) -> list[Sheet]:
    """The tables that have cells, one for each position: a later one hides the earlier."""
    visible = {table.position: table for table in tables}.values()
    measured = (_sheet(table, deadline) for table in visible)
    return [sheet for sheet in measured if sheet.cells]


def _sheet(table: Table, deadline: Deadline) -> Sheet:
    columns, rows = min(table.columns, MAX_SIDE), min(table.rows, MAX_SIDE)
    alive = {
        (cell.column, cell.row): cell
        for cell in table.cells
        if cell.column < columns and cell.row < rows
    }
    covered = _count_covers(alive.values(), columns, rows)
    cells = [cell for place, cell in alive.items() if covered[place] == 1]  # by itself alone
    measured = []
    for cell in deadline.watch(cells):
        points = cell.size if isinstance(cell.size, int) else palette.TEXT_SIZES[cell.size]
        family = cell.text_font_family
        words = block(cell.text, points or AUTO_SIZE, cell.text_formatting, family)
        measured.append((cell, words))
    return Sheet(table, tuple(measured), columns, rows)


def measure(sheet: Sheet, pane: Area, deadline: Deadline, share: float = 1.0) -> Grid:
    """The grid of a table at a share of its size, made smaller where it would not fit."""
    width, height = pane.width, pane.height
    grid = _grid(sheet, width, height, share, deadline)
    across, down = max(grid.width, 1.0), max(grid.height, 1.0)  # a cell may have no width at all
    fits = min((width - 2 * MARGIN) / across, (height - MARGIN) / down, 1.0)
    if fits == 1:
        return grid
    return _grid(sheet, width, height, max(share * fits * 0.97, SMALLEST), deadline)


def arrange(
    waiting: Sequence[Sheet], pane: Area, taken: Sequence[Area], deadline: Deadline
) -> list[tuple[Grid, Area]]:
    """A place for every table: outside the taken areas, and small enough to cover no other."""
    placed: list[tuple[Grid, Area]] = []
    for share in SHARES:
        placed = [_spot(sheet, pane, share, taken, deadline) for sheet in waiting]
        areas = [area for _, area in placed]
        crowded = any(one.meets(other) for i, one in enumerate(areas) for other in areas[:i])
        if not crowded or all(grid.scale <= SMALLEST for grid, _ in placed):
            break
    return placed


def _spot(
    sheet: Sheet, pane: Area, share: float, taken: Sequence[Area], deadline: Deadline
) -> tuple[Grid, Area]:
    grid = measure(sheet, pane, deadline, share)
    spot = table_area(grid, pane)
    hit = [area.bottom for area in taken if area.meets(spot)]
    if not hit:
        return grid, spot
    below = Area(pane.left, max(hit) + 4 - MARGIN, pane.right, pane.bottom)
    lower = measure(sheet, below, deadline, share)
    return lower, table_area(lower, below)


def _grid(sheet: Sheet, width: float, height: float, scale: float, deadline: Deadline) -> Grid:
    table = sheet.table
    columns, rows = np.zeros(sheet.columns), np.zeros(sheet.rows)
    scaled = [(cell, words.resize(words.size * scale)) for cell, words in sheet.cells]
    room = _text_room(width) if scale <= SMALLEST else math.inf  # what is wider makes it smaller
    for whole in (False, True):  # single cells first, then those that reach over several
        for cell, words in deadline.watch(scaled):
            end_column = _end(cell.end_column, cell.column, sheet.columns)
            end_row = _end(cell.end_row, cell.row, sheet.rows)
            if whole and (end_column, end_row) == (cell.column, cell.row):
                continue
            wide = (
                cell.width * width / 100 * scale
                if cell.width
                else min(words.width, room) + 2 * PADDING[0] * scale
            )
            high = (
                cell.height * height / 100 * scale
                if cell.height
                else (max(words.height, words.size) + 2 * PADDING[1] * scale)
            )
            _stretch(columns, cell.column, end_column, min(wide, 4 * width), whole)
            _stretch(rows, cell.row, end_row, min(high, 4 * height), whole)
    line = min(float(table.border_width), 32.0) if _is_seen(table.border_color) else 0.0
    frame = min(float(table.frame_width), 32.0) if _is_seen(table.frame_color) else 0.0
    return Grid(table, tuple(scaled), columns, rows, line, frame, scale)


def _text_room(width: float) -> float:
    """How wide a text may be in a pane of that width; a longer one is shortened."""
    return width - 2 * (MARGIN + PADDING[0])


def _count_covers(cells: Iterable[Cell], columns: int, rows: int) -> np.ndarray:
    """How many cells reach over each place of a table, from the corners of the cells alone."""
    corners = np.zeros((columns + 1, rows + 1), np.int64)
    for cell in cells:
        right = _end(cell.end_column, cell.column, columns) + 1
        below = _end(cell.end_row, cell.row, rows) + 1
        corners[cell.column, cell.row] += 1
        corners[right, below] += 1
        corners[right, cell.row] -= 1
        corners[cell.column, below] -= 1
    return corners.cumsum(axis=0).cumsum(axis=1)


def _end(end: int | None, start: int, count: int) -> int:
    return start if end is None else min(max(end, start), count - 1)


def _stretch(sizes: np.ndarray, first: int, last: int, least: float, whole: bool) -> None:
    if first == last:
        sizes[first] = max(sizes[first], least)
    elif whole:
        missing = least - float(sizes[first : last + 1].sum())
        if missing > 0:
            sizes[first : last + 1] += missing / (last + 1 - first)


def _is_seen(color: str | None) -> bool:
    return color is not None and is_visible(color)


def table_area(grid: Grid, pane: Area) -> Area:
    """The area of a table at its position in the pane."""
    row, _, column = grid.table.position.partition("_")
    return pane.align(grid.width, grid.height, column, row, (MARGIN, MARGIN))


def draw(grid: Grid, area: Area, frame: Frame) -> list[Op]:
    """The background, the cells, the lines between them, the texts and the frame."""
    table = grid.table
    x = area.left + grid.frame + np.concatenate(([0], np.cumsum(grid.columns + grid.line)))
    y = area.top + grid.frame + np.concatenate(([0], np.cumsum(grid.rows + grid.line)))
    x, y = np.rint(x), np.rint(y)
    whole = Area(round(area.left), round(area.top), x[-1] - grid.line, y[-1] - grid.line)
    ops: list[Op] = [Begin("table")]
    if table.bgcolor is not None and is_visible(table.bgcolor):
        ops.append(Panel(whole, table.bgcolor))
    places = []
    for cell, words in grid.cells:
        end_column = _end(cell.end_column, cell.column, len(grid.columns))
        end_row = _end(cell.end_row, cell.row, len(grid.rows))
        spot = Area(
            x[cell.column], y[cell.row], x[end_column + 1] - grid.line, y[end_row + 1] - grid.line
        )
        if not spot.grow(grid.line).meets(frame.area):  # however large the table is
            continue
        places.append(spot)
        if cell.bgcolor is not None and is_visible(cell.bgcolor):
            ops.append(Panel(spot, cell.bgcolor))
        ops += _text(cell, words, spot, table, frame)
    if grid.line and table.border_color:
        ops += [
            Panel(
                spot.grow(grid.line / 2), stroke=Stroke(table.border_color, grid.line, round=False)
            )
            for spot in places
        ]
    if grid.frame and table.frame_color:
        edge = Stroke(table.frame_color, grid.frame, round=False)
        ops.append(Panel(whole.grow(grid.frame / 2), stroke=edge))
    ops.append(End())
    return ops


def _text(cell: Cell, words: Block, spot: Area, table: Table, frame: Frame) -> list[Op]:
    """The lines of a cell that are in view and begin inside of it."""
    if not words.lines or not _is_seen(cell.text_color) or cell.text_color is None:
        return []
    words = words.cut(spot.height)
    height = words.height
    top = {
        "top": spot.top + PADDING[1],
        "center": (spot.top + spot.bottom - height) / 2,
        "bottom": spot.bottom - PADDING[1] - height,
    }[cell.text_valign]
    pane = frame.area
    above = min(max(int((pane.top - top) / words.pitch), 0), len(words.lines))
    words = replace(words, lines=words.lines[above:])
    top += above * words.pitch
    words = words.cut(pane.bottom - top).fit(_text_room(pane.width))
    grounds = [color for color in (table.bgcolor, cell.bgcolor) if color is not None]
    ink = text_color_on(cell.text_color, frame.theme.background, *grounds)
    inner = Area(spot.left + PADDING[0], top, spot.right - PADDING[0], top + words.height)
    drawn = words.draw(inner, cell.text_halign, ink)
    return [Begin("cell", tooltip=cell.tooltip), *drawn, End()] if cell.tooltip else drawn
