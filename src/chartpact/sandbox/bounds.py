"""The bounds of a scene that comes out of a run: the caps of its run, checked once more.

A run that broke out of the language draws without caps, and a few bytes of a document can stand
for gigabytes. So a document is measured before a scene is made of it: a column counts each time
that it is named, and a text each time that it occurs.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from chartpact import palette
from chartpact.checks import MAX_WHOLE, is_whole
from chartpact.drawing import CAPS, OBJECTS, Cell, DrawnObject, Record, Table
from chartpact.drawing.fieldtypes import LARGEST_MEASURE, SERIES
from chartpact.sandbox.wire import Column, WireError
from chartpact.scene import PLOTS as PLOT_KINDS
from chartpact.script.limits import (
    DOT_TEXT_CHARS,
    DOTS,
    OBJECT_TEXT_CHARS,
    PLOTS,
    POINTS,
    SCENE_TEXT_CHARS,
    TABLE_CELLS,
    VERTICES,
)

LARGE = "it holds a larger width or size than may be drawn"
_SERIES = {
    (name, name in kind.beyond)
    for kind in PLOT_KINDS.values()
    for name, type_ in kind.field_types.items()
    if type_ is SERIES
}
_PAINTS = {name for kind in PLOT_KINDS.values() for name in kind.paints}
_MOST_OBJECTS = {**CAPS, "linefills": CAPS["lines"]}  # linefills count as lines


def check(document: Any, columns: Sequence[Column], bars: int) -> None:
    """Raises `WireError` for a scene that no run on so many bars could have drawn."""
    try:
        _check(document, columns, bars)
    except WireError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise WireError(f"it holds no scene ({type(error).__name__})") from None


def _check(document: Any, columns: Sequence[Column], bars: int) -> None:
    plots = document.get("plots", [])
    simple = [plot["rows"] for plot in plots if "rows" in plot]  # plots packed field by field
    counts = (len(values) for rows in simple for values in rows[:1])
    _check_most("plots", sum(counts) + len(plots) - len(simple), PLOTS)
    if any(len(values) != len(rows[0]) for rows in simple for values in rows):
        raise WireError("it holds plots of which fields are missing")
    points = 0
    for plot in plots:
        for name, is_ahead in _SERIES:
            if name in plot:
                points += (length := _length(plot[name], columns))
                if length != bars and not is_ahead:
                    raise WireError("it holds a series of another length than the bars")
    _check_most("points", points, POINTS)
    colors = 0
    for plot in plots:
        for paint in (plot.get(name) for name in _PAINTS):
            if isinstance(paint, list):
                colors += (length := _length(paint, columns))
                if length != bars and "points" not in plot:
                    raise WireError("it holds another number of colours than of bars")
    _check_most("colours", colors, POINTS + DOTS)
    _check_array("dots", document.get("dots", {}), columns, bars, DOTS)
    _check_array("shapes", document.get("marks", {}), columns, bars, DOTS)
    _check_array("signals", document.get("signals", {}), columns, bars, DOTS)
    _check_array("points of polylines", document.get("vertices", {}), columns, MAX_WHOLE, VERTICES)
    objects = {channel: document.get(channel, ()) for channel in OBJECTS if channel != "tables"}
    for channel, fields in objects.items():
        _check_most(channel, max(map(len, fields), default=0), _MOST_OBJECTS[channel])
        _check_measures(OBJECTS[channel], fields)
    for plot in plots:
        kind = PLOT_KINDS[plot["kind"]]
        _check_measures(kind, plot.get("rows") or ((plot.get(name),) for name in kind.field_types))
    for channel, count in document.get("limits", {}).items():
        _check_most("limits", count, CAPS[channel])
    for count in document.get("evicted", {}).values():
        _check_most("evicted objects", count, MAX_WHOLE)
    _check_texts(chain([[document.get("label")]], (plot.values() for plot in plots), *simple))
    _check_texts(chain(*objects.values(), *_check_tables(document.get("tables", ()))))


def _check_tables(packed: Sequence[Any]) -> list[Any]:
    """The packed cells of tables, after a look at the sizes that a layout works through."""
    tables = _by_field(Table, packed)
    cells: list[Any] = tables.get("cells", [])
    sizes = list(zip(tables.get("columns", ()), tables.get("rows", ()), strict=True))
    _check_most("tables", max(len(sizes), len(cells)), len(palette.POSITIONS))
    if len(set(tables.get("position", ()))) < len(sizes):
        raise WireError("it holds several tables at one position")
    _check_measures(Table, packed)
    for (columns, rows), fields in zip(sizes, cells, strict=True):
        if not (is_whole(columns, TABLE_CELLS) and is_whole(rows, TABLE_CELLS)):
            raise WireError("it holds larger tables than may be drawn")
        _check_most("cells", columns * rows, TABLE_CELLS)
        _check_cells(columns, rows, _by_field(Cell, fields))
        _check_measures(Cell, fields)
    return cells


def _check_measures(kind: type[Record], packed: Iterable[Iterable[Any]]) -> None:
    """Raises `WireError` for a width or a size that is larger than a script may set."""
    for type_, values in zip(kind.field_types.values(), packed, strict=False):
        if (largest := type_.largest) is None:
            continue
        if any(type(value) in (int, float) and abs(value) > largest for value in values):
            raise WireError(LARGE)


def _by_field(kind: type[DrawnObject], packed: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(kind.field_types, packed, strict=True)) if packed else {}


def _check_cells(columns: int, rows: int, cells: dict[str, Any]) -> None:
    """Raises `WireError` where cells lie outside their table, or two merged ones overlap."""
    names = ("column", "row", "end_column", "end_row")
    places: set[tuple[int, int]] = set()
    merged: set[tuple[int, int]] = set()
    for column, row, end_column, end_row in zip(
        *(cells.get(name, ()) for name in names), strict=True
    ):
        last_column = column if end_column is None else end_column
        last_row = row if end_row is None else end_row
        if not 0 <= column <= last_column < columns or not 0 <= row <= last_row < rows:
            raise WireError("it holds cells outside their table")
        if (column, row) in places:
            raise WireError("it holds several cells at one place")
        places.add((column, row))
        if (last_column, last_row) != (column, row):
            area = {
                (x, y) for x in range(column, last_column + 1) for y in range(row, last_row + 1)
            }
            if not merged.isdisjoint(area):
                raise WireError("it holds merged cells that overlap")
            merged |= area


def _check_array(
    what: str, array: dict[str, Any], columns: Sequence[Column], bars: int, most: int
) -> None:
    _check_most(what, max((_length(packed, columns) for packed in array.values()), default=0), most)
    texts = (packed for packed in array.values() if isinstance(packed, list))
    _check_most(f"text of {what}", sum(_chars(text, columns) for text in texts), DOT_TEXT_CHARS)
    sizes = _column(array["size"], columns) if "size" in array else np.empty(0)
    if sizes.max(initial=0) > LARGEST_MEASURE:
        raise WireError(LARGE)
    for name in ("x", "bar", "confirmed_bar"):
        if name in array and not _is_within(_column(array[name], columns), bars):
            raise WireError(f"it holds {what} where no bar is")


def _check_texts(fields: Iterable[Iterable[Any]]) -> None:
    sizes = [len(value) for value in chain.from_iterable(fields) if isinstance(value, str)]
    _check_most("characters of a text", max(sizes, default=0), OBJECT_TEXT_CHARS)
    _check_most("characters", sum(sizes), 2 * SCENE_TEXT_CHARS)  # with names of colours and styles


def _check_most(what: str, count: int, most: int) -> None:
    if count > most:
        raise WireError(f"it holds more {what} than may be drawn")


def _column(number: Any, columns: Sequence[Column]) -> Column:
    if type(number) is not int or number < 0:
        raise ValueError("column")
    return columns[number]


def _length(packed: Any, columns: Sequence[Column]) -> int:
    """The length of a column, or of a text column: categories and codes, or a text and a count."""
    if not isinstance(packed, list):
        return len(_column(packed, columns))
    categories, number = packed
    if isinstance(categories, list):
        return len(_column(number, columns))
    if type(number) is not int or number < 0:
        raise ValueError("texts")
    return number


def _chars(packed: list[Any], columns: Sequence[Column]) -> int:
    categories, number = packed
    if not isinstance(categories, list):
        return len(categories or "") * _length(packed, columns)
    codes = _column(number, columns)
    if codes.dtype.kind not in "ui" or not _is_within(codes, len(categories)):
        raise ValueError("texts")
    counts = np.bincount(codes, minlength=len(categories)).tolist()
    return sum(len(text or "") * count for text, count in zip(categories, counts, strict=True))


def _is_within(column: Column, end: int) -> bool:
    return not len(column) or bool(column.min() >= 0 and column.max() < end)
