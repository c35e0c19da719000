"""Bars on their way into a run, scenes on their way out: a document, and columns beside it.

Series, dots, signals and the points of polylines cross as columns; a document names a column by its
number. Drawn objects cross field by field inside the document. Bars come from the server and are
taken as they are. A scene comes from a run: every value of it is checked again by the type of its
field, and one that does not fit is a `WireError`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import groupby
from typing import Any, cast

import numpy as np

from chartpact.bars import COLUMNS, Bars
from chartpact.drawing import OBJECTS, Anchor, Cell, Record, Vertices
from chartpact.drawing.fieldtypes import SERIES
from chartpact.drawing.objects import ANCHOR
from chartpact.sandbox.wire import Column, WireError
from chartpact.scene import PLOTS, Marks, Plot, Points, RecordArray, Scene, Signals
from chartpact.textcolumn import TextColumn

Document = dict[str, Any]

_MOST_TEXTS = 1 << 22  # in one text column

_SIMPLE = frozenset(("hline", "hbar", "divline"))  # plots whose fields are all single values
_ARRAYS: Mapping[str, tuple[str, type[RecordArray[Any]]]] = {  # by the kind of the plot
    "dot": ("dots", Points),
    "shape": ("marks", Marks),
}
_ABOUT_BARS = tuple(field.name for field in fields(Bars) if field.name not in (*COLUMNS, "ends"))


# ------------------------------------------------------------------------------------------ bars


def pack_bars(bars: Bars, columns: list[Column]) -> Document:
    """The attributes of the bars as JSON; their columns go to the end of `columns`."""
    first = len(columns)
    names = COLUMNS if bars.ends is None else (*COLUMNS, "ends")
    columns += (getattr(bars, name) for name in names)
    about = {name: getattr(bars, name) for name in _ABOUT_BARS}
    return {"first": first, "columns": names, **about}


def join(job: Document, columns: list[Column], shared: Document, more: list[Column]) -> None:
    """Adds to a job the bars that it shares with other jobs."""
    bars = shared["bars"]
    job["bars"] = {**bars, "first": bars["first"] + len(columns)}
    columns += more


def unpack_bars(document: Document, columns: Sequence[Column]) -> Bars:
    """The bars, unchecked and uncopied: they were checked where they were made."""
    bars = object.__new__(Bars)
    first = document["first"]
    put = bars.__dict__
    put["ends"] = None
    put |= {name: columns[first + i] for i, name in enumerate(document["columns"])}
    put |= {name: document[name] for name in _ABOUT_BARS}
    return bars


# ---------------------------------------------------------------------------------------- scenes


def pack_scene(scene: Scene, columns: list[Column]) -> Document:
    """The scene as a document; series, dots, signals and points go to the end of `columns`."""
    document: Document = {}
    for name, type_ in Scene.field_types.items():
        value = getattr(scene, name)
        if name == "plots":
            document[name] = _pack_plots(value, columns)
            for kind, (rows, array) in _ARRAYS.items():
                if parts := [cast(Any, plot).columns for plot in value if plot.kind == kind]:
                    document[rows] = _pack_array(array.concat(parts), columns)
        elif name == "signals":
            document[name] = _pack_array(value, columns)
        elif name in OBJECTS:
            document[name] = _pack_records(OBJECTS[name], value) if value else []
        else:
            document[name] = type_.encode(value) if type_.encode else value
    if scene.polylines:
        points = Vertices.concat([polyline.columns for polyline in scene.polylines])
        document["vertices"] = _pack_array(points, columns)
    return document


def unpack_scene(document: Any, columns: Sequence[Column]) -> Scene:
    """The scene of a document that a run wrote."""
    try:
        packet = _Packet(columns)
        scene = _unpack_scene(document, packet)
        if packet.wasteful:
            scene = _unpack_scene(document, _Packet([column.copy() for column in columns]))
        return scene
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise WireError(f"it holds no scene ({type(error).__name__})") from None


def _unpack_scene(document: Any, packet: "_Packet") -> Scene:
    values: Document = {}
    points = {
        kind: _Rows(array, document.get(rows), packet) for kind, (rows, array) in _ARRAYS.items()
    }
    vertices = _Rows(Vertices, document.get("vertices"), packet)
    for name, value in document.items():
        if name == "plots":
            values[name] = tuple(_unpack_plots(value, packet, points))
        elif name == "signals":
            values[name] = _unpack_array(Signals, value, packet)
        elif name in OBJECTS:
            values[name] = _unpack_records(OBJECTS[name], value, vertices) if value else ()
        elif name not in ("dots", "marks", "vertices"):
            values[name] = value
    for rows in (*points.values(), vertices):
        rows.check_all_taken()
    return Scene(**values)


class _Packet:
    """The columns of one packet, and which of them a scene names."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._named: set[int] = set()

    def column(self, number: Any, dtype: type | None = None) -> Column:
        if type(number) is not int or not 0 <= number < len(self._columns):
            raise ValueError("column")
        column = self._columns[number]
        if dtype is not None and column.dtype != dtype:
            raise ValueError("column")
        self._named.add(number)
        return column

    @property
    def wasteful(self) -> bool:
        """Whether a scene would hold a packet in memory of which it needs less than half."""
        named = sum(self._columns[number].nbytes for number in self._named)
        return 2 * named < sum(column.nbytes for column in self._columns)


# --------------------------------------------------------------------------------------- objects


def _pack_records(kind: type[Record], records: Sequence[Record]) -> list[Any]:
    """The records field by field: a list for each, in the order of the fields."""
    packed: list[Any] = []
    for name, type_ in kind.field_types.items():
        values = [getattr(record, name) for record in records]
        if type_ is ANCHOR:
            values = _pack_records(Anchor, values)
        elif name == "cells":
            values = [_pack_records(Cell, cells) for cells in values]
        elif name == "points":
            values = [len(points) for points in values]
        packed.append(values)
    return packed


def _unpack_records(
    kind: type[Record], packed: Sequence[Any], vertices: "_Rows | None" = None
) -> list[Any]:
    columns = dict(zip(kind.field_types, packed, strict=True))
    for name, values in columns.items():
        if kind.field_types[name] is ANCHOR:
            columns[name] = _unpack_records(Anchor, values)
        elif name == "cells":
            columns[name] = [_unpack_records(Cell, cells) for cells in values]
        elif name == "points" and vertices is not None:
            columns[name] = [vertices.take(count) for count in values]
    return kind.assemble({}).alike(**columns)


# ----------------------------------------------------------------------------------------- plots


def _pack_plots(plots: Iterable[Plot], columns: list[Column]) -> list[Document]:
    """A document for each plot with series; simple plots in a row share one, field by field."""
    packed: list[Document] = []
    sent: dict[int, int] = {}
    for kind, group in groupby(plots, _simple_kind):
        if kind:
            packed.append({"kind": kind, "rows": _pack_records(PLOTS[kind], list(group))})
        else:
            packed += [_pack_plot(plot, columns, sent) for plot in group]
    return packed


def _simple_kind(plot: Plot) -> str:
    """The kind of a plot whose fields are all single values, else nothing."""
    return plot.kind if plot.kind in _SIMPLE else ""


def _unpack_plots(
    documents: Iterable[Document], packet: _Packet, points: "Mapping[str, _Rows]"
) -> Iterator[Plot]:
    for document in documents:
        kind = PLOTS[document["kind"]]
        if "rows" not in document:
            yield _unpack_plot(kind, document, packet, points)
        elif kind.kind in _SIMPLE:
            yield from _unpack_records(kind, document["rows"])
        else:
            raise ValueError("rows")


class _Rows:
    """The dots or shapes of all plots, or the points of all polylines; each takes its in turn."""

    def __init__(self, kind: type[RecordArray[Any]], packed: Any, packet: _Packet) -> None:
        self._rows = kind() if packed is None else _unpack_array(kind, packed, packet)
        self._taken = 0

    def take(self, count: Any) -> RecordArray[Any]:
        if type(count) is not int or not 0 <= count <= len(self._rows) - self._taken:
            raise ValueError("rows")
        self._taken += count
        return self._rows[self._taken - count : self._taken]

    def check_all_taken(self) -> None:
        if self._taken != len(self._rows):
            raise ValueError("rows")


def _pack_plot(plot: Plot, columns: list[Column], sent: dict[int, int]) -> Document:
    """The fields of a plot that are not at their defaults."""
    document: Document = {"kind": plot.kind}
    blank = vars(_BLANK[plot.kind])
    for name, type_ in plot.field_types.items():
        value = getattr(plot, name)
        if value is blank[name] or (name in plot.beyond and not len(value)):
            continue
        if type_ is SERIES:
            document[name] = _add_once(value, columns, sent)
        elif type_.kind == "paint":
            document[name] = value if isinstance(value, str) else _pack_texts(value, columns)
        elif name == "points":
            document[name] = len(value)
        else:
            document[name] = value  # numbers, texts and names are JSON as they are
    return document


_BLANK: Mapping[str, Plot] = {kind: plot.assemble({}) for kind, plot in PLOTS.items()}


def _unpack_plot(
    kind: type[Plot], document: Document, packet: _Packet, points: Mapping[str, _Rows]
) -> Plot:
    values: Document = {}
    for name, value in document.items():
        if name == "kind":
            continue
        type_ = kind.field_types[name]
        if type_ is SERIES:
            values[name] = packet.column(value, np.float64)
        elif type_.kind == "paint" and not isinstance(value, str):
            values[name] = _unpack_texts(value, packet)
        elif name == "points":
            values[name] = points[kind.kind].take(value)
        else:
            values[name] = value
    return kind(**values)


# --------------------------------------------------------------------------------------- columns


def _pack_array(array: RecordArray[Any], columns: list[Column]) -> Document:
    packed: Document = {}
    for name in array.names:
        column = getattr(array, name)
        is_text = isinstance(column, TextColumn)
        packed[name] = _pack_texts(column, columns) if is_text else _add(column, columns)
    return packed


def _unpack_array(
    kind: type[RecordArray[Any]], document: Document, packet: _Packet
) -> RecordArray[Any]:
    if set(document) != set(kind.names):
        raise ValueError("columns")
    return kind(
        **{
            name: _unpack_texts(packed, packet)
            if isinstance(packed, list)
            else packet.column(packed)
            for name, packed in document.items()
        }
    )


def _pack_texts(texts: TextColumn, columns: list[Column]) -> list[Any]:
    """The distinct texts and the column of their codes; a text alone and its count."""
    if len(texts.categories) == 1:
        return [texts.categories[0], len(texts)]
    return [texts.categories, _add(texts.codes, columns)]


def _unpack_texts(packed: list[Any], packet: _Packet) -> TextColumn:
    categories, number = packed
    if not isinstance(categories, list):
        if type(number) is not int or not 0 <= number <= _MOST_TEXTS:
            raise ValueError("texts")
        return TextColumn.repeat(categories, number)
    codes = packet.column(number)
    if codes.dtype.kind not in "ui":
        raise ValueError("texts")
    if len(codes) and not 0 <= codes.min() <= codes.max() < len(categories):
        raise ValueError("texts")
    return TextColumn(categories, codes)


def _add(column: Column, columns: list[Column]) -> int:
    columns.append(column)
    return len(columns) - 1


def _add_once(column: Column, columns: list[Column], sent: dict[int, int]) -> int:
    """Adds a series that several plots share once."""
    number = sent.get(id(column))
    if number is None:
        sent[id(column)] = number = _add(column, columns)
    return number
