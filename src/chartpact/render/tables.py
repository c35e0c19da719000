"""Tables in the nine places of a pane."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from chartpact import palette
from chartpact.render.deadline import Deadline
from chartpact.render.display import Area, Begin, End, Op, Panel, Stroke
from chartpact.render.frame import Frame
from chartpact.render.textblock import Block, block
from chartpact.render.theme import Theme, is_visible, text_color_on
from chartpact.scene import Cell, Table

PADDING = (6.0, 3.0)
MARGIN = 8.0
AUTO_SIZE = 12
SMALLEST = 0.35  # of its size: a table is made no smaller
SHARES = (1.0, 0.85, 0.7, 0.6, 0.5, 0.42, SMALLEST)  # tried where tables have to share a pane
MAX_SIDE = 200  # columns or rows; more could not be read on any picture


@dataclass(frozen=True)
class Grid:
    """A table measured: how wide its columns and how high its rows are."""

    table: Table
    cells: tuple[tuple[Cell, Block], ...]
    columns: np.ndarray
    rows: np.ndarray
    line: float  # between cells, and the frame
    frame: float

    @property
    def width(self) -> float:
        return float(self.columns.sum()) + self.line * (len(self.columns) - 1) + 2 * self.frame

    @property
    def height(self) -> float:
        return float(self.rows.sum()) + self.line * (len(self.rows) - 1) + 2 * self.frame


def visible_tables(tables: Iterable[Table]) -> list[Table]:
    """One table for each position: a later one hides the earlier."""
    return list({table.position: table for table in tables}.values())


def measure(table: Table, pane: Area, deadline: Deadline, share: float = 1.0) -> Grid | None:
    """The grid of a table at a share of its size, made smaller where it would not fit."""
    width, height = pane.width, pane.height
    grid = _grid(table, width, height, share, deadline)
    if grid is None:
        return None
    across, down = max(grid.width, 1.0), max(grid.height, 1.0)  # a cell may have no width at all
    fits = min((width - 2 * MARGIN) / across, (height - MARGIN) / down, 1.0)
    if fits == 1:
        return grid
    return _grid(table, width, height, max(share * fits * 0.97, SMALLEST), deadline)


def arrange(
    tables: Iterable[Table], pane: Area, taken: Sequence[Area], deadline: Deadline
) -> list[tuple[Grid, Area]]:
    """A place for every table: outside the taken areas, and small enough to cover no other."""
    waiting = visible_tables(tables)
    placed: list[tuple[Grid, Area]] = []
    for share in SHARES:
        placed = [spot for table in waiting if (spot := _spot(table, pane, share, taken, deadline))]
        areas = [area for _, area in placed]
        if not any(one.meets(other) for i, one in enumerate(areas) for other in areas[:i]):
            break
    return placed


def _spot(
    table: Table, pane: Area, share: float, taken: Sequence[Area], deadline: Deadline
) -> tuple[Grid, Area] | None:
    grid = measure(table, pane, deadline, share)
    if grid is None:
        return None
    spot = table_area(grid, pane)
    hit = [area.bottom for area in taken if area.meets(spot)]
    if not hit:
        return grid, spot
    below = Area(pane.left, max(hit) + 4 - MARGIN, pane.right, pane.bottom)
    lower = measure(table, below, deadline, share) or grid
    return lower, table_area(lower, below)


def _grid(
    table: Table, width: float, height: float, scale: float, deadline: Deadline
) -> Grid | None:
    count_columns, count_rows = min(table.columns, MAX_SIDE), min(table.rows, MAX_SIDE)
    alive = {
        (cell.column, cell.row): cell
        for cell in table.cells
        if cell.column < count_columns and cell.row < count_rows
    }
    covered = _count_covers(alive.values(), count_columns, count_rows)
    cells = [cell for place, cell in alive.items() if covered[place] == 1]  # by itself alone
    if not cells:
        return None
    columns, rows = np.zeros(count_columns), np.zeros(count_rows)
    measured = []
    for cell in deadline.watch(cells):
        points = cell.size if isinstance(cell.size, int) else palette.TEXT_SIZES[cell.size]
        size = max(5.0, (points or AUTO_SIZE) * scale)
        words = block(cell.text, size, cell.text_formatting, cell.text_font_family)
        if scale <= SMALLEST:  # a text that is still too long is shortened
            words = words.fit(width - 2 * (MARGIN + PADDING[0]))
        measured.append((cell, words))
    for whole in (False, True):  # single cells first, then those that reach over several
        for cell, words in deadline.watch(measured):
            end_column = _end(cell.end_column, cell.column, count_columns)
            end_row = _end(cell.end_row, cell.row, count_rows)
            wide = (
                cell.width * width / 100 * scale
                if cell.width
                else words.width + 2 * PADDING[0] * scale
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
    return Grid(table, tuple(measured), columns, rows, line, frame)


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
    table, theme = grid.table, frame.theme
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
        places.append(spot)
        if cell.bgcolor is not None and is_visible(cell.bgcolor):
            ops.append(Panel(spot, cell.bgcolor))
        ops += _text(cell, words, spot, table, theme)
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


def _text(cell: Cell, words: Block, spot: Area, table: Table, theme: Theme) -> list[Op]:
    if not words.lines or not _is_seen(cell.text_color) or cell.text_color is None:
        return []
    grounds = [color for color in (table.bgcolor, cell.bgcolor) if color is not None]
    ink = text_color_on(cell.text_color, theme.background, *grounds)
    height = words.height
    top = {
        "top": spot.top + PADDING[1],
        "center": (spot.top + spot.bottom - height) / 2,
        "bottom": spot.bottom - PADDING[1] - height,
    }[cell.text_valign]
    inner = Area(spot.left + PADDING[0], top, spot.right - PADDING[0], top + height)
    drawn = words.draw(inner, cell.text_halign, ink)
    return [Begin("cell", tooltip=cell.tooltip), *drawn, End()] if cell.tooltip else drawn
