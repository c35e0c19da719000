"""Handles: the drawn objects of a run, as scripts hold them.

Constructors, setters and getters are derived from the table of drawn objects. A channel holds at
most its cap: the oldest object leaves first. Coordinates that are na keep an object undrawn, yet it
counts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chartpact import palette
from chartpact.drawing import CHANNELS, Anchor, Argument, Box, Cell, DrawnObject, Label, Line, Table
from chartpact.script.errors import Fault
from chartpact.script.host.arguments import field_value, number, whole
from chartpact.script.limits import TABLE_CELLS
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.values import HostObject, a_type, shown

FURTHEST = 500  # bars right of the last one that an object may reach to
_LAST_TIME = 1 << 52
_NOWHERE = Anchor(None, None, None)

# Steps of a new object, of each argument of an object, of each argument of a cell.
_NEW, _PUT, _PUT_CELL = 130, 22, 28


@dataclass
class Canvas:
    """What the objects of one run share: the bars they stand on, the caps, the meter."""

    time: NDArray[np.int64]
    meter: Meter
    caps: Mapping[str, int]
    alive: dict[str, dict[int, "Handle"]] = field(
        default_factory=lambda: {channel: {} for channel in CHANNELS}
    )
    evicted: dict[str, int] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    count: int = 0

    def add(self, handle: "Handle") -> None:
        name = handle.kind.channel
        channel = self.alive[name]
        self.used.add(name)
        self.count += 1
        handle.id = self.count
        channel[handle.id] = handle
        if name in self.caps and len(channel) > self.caps[name]:
            del channel[next(iter(channel))]
            self.evicted[name] = self.evicted.get(name, 0) + 1

    def anchor(self, x: Any, xloc: str, keyword: str) -> Anchor:
        """The place of an x: a bar's number, or a time in UTC ms."""
        place = whole(x, keyword)
        if place is None:
            return _NOWHERE
        if xloc == "bar_time":
            return self._anchor_at_time(place, keyword)
        bar = self._check_bar(place, keyword)
        return _anchor(bar, int(self.time[bar]) if bar < len(self.time) else None)

    def bar(self, x: Any, keyword: str, offset: int = 0) -> int | None:
        """The bar of that number, `offset` bars to the right; None where it is na."""
        place = whole(x, keyword)
        return None if place is None else self._check_bar(place + offset, keyword)

    def _check_bar(self, bar: int, keyword: str) -> int:
        last = len(self.time) - 1
        if not 0 <= bar <= last + FURTHEST:
            raise Fault(
                "value",
                f"{keyword} is the number of a bar, from 0 to {last + FURTHEST}, not {shown(bar)}",
                'for a time in milliseconds, pass xloc="bar_time"' if bar > 10**9 else "",
            )
        return bar

    @cached_property
    def _step(self) -> int:
        """The usual time from bar to bar."""
        return int(np.median(np.diff(self.time))) if len(self.time) > 1 else 0

    def _anchor_at_time(self, ms: int, keyword: str) -> Anchor:
        if abs(ms) > _LAST_TIME:
            raise Fault(
                "value",
                f"{keyword} is a time in UTC milliseconds, not {shown(ms)}",
                "take it from ohlcv.time[i]",
            )
        if not len(self.time) or ms < self.time[0]:
            return _NOWHERE
        bar = int(np.searchsorted(self.time, ms, side="right")) - 1
        if bar < len(self.time) - 1 or ms == self.time[bar]:
            return _anchor(bar, int(self.time[bar]))
        ahead = -(-(ms - int(self.time[bar])) // self._step) if self._step > 0 else 0
        return _anchor(bar + ahead, ms)


def _anchor(bar: int, time: int | None) -> Anchor:
    return Anchor.assemble({"n": bar, "bar": bar, "time": time})


def _check_xloc(value: Any) -> str:
    if type(value) is not str or value not in palette.XLOCS:
        kind = "value" if type(value) is str else "type"
        raise Fault(kind, f"xloc is {' or '.join(palette.XLOCS)}, not {shown(value)}")
    return str(value)


# -------------------------------------------------------------------------- derived from the table


class _Setting(NamedTuple):
    """An argument that a script passes, the field it sets, and how its value is read."""

    keyword: str
    field: str
    default: Any
    read: Callable[[Any, Any], Any]  # of the handle and the value


def _setting(argument: Argument, kind: type[DrawnObject]) -> _Setting:
    keyword, name, type_ = argument.keyword, argument.field, argument.type

    def read_place(handle: Handle, value: Any) -> Anchor:
        return handle.canvas.anchor(value, handle.xloc, keyword)

    def read_height(_: Handle, value: Any) -> float | None:
        return number(value, keyword)

    def read_field(handle: Handle, value: Any) -> Any:
        if type(value) is str:
            handle.canvas.meter.charge(len(value) // 16)
        return field_value(value, type_, keyword)

    read: Callable[[Any, Any], Any] = read_field
    if name in kind.places:
        read = read_place
    elif name in kind.heights:
        read = read_height
    return _Setting(keyword, name, argument.default, read)


def _settings(kind: type[DrawnObject], apart: Sequence[str]) -> dict[str, _Setting]:
    """The settings of a kind of object by keyword, but for arguments that are read apart."""
    passed = [argument for argument in kind.arguments if argument.keyword not in apart]
    return {argument.keyword: _setting(argument, kind) for argument in passed}


def _method(name: str, parameters: Iterable[str], body: str, **names: Any) -> Any:
    """A method with these parameters, so that Python itself refuses calls with other arguments."""
    names["__name__"] = __name__
    exec(f"def {name}(self, {', '.join(parameters)}):\n    return {body}", names)
    return names[name]


def _drawing_method(name: str, kind: type[DrawnObject], body: str, **names: Any) -> Any:
    """A method that takes all that a script passes for an object."""
    parameters = [
        argument.keyword
        if argument.default is MISSING
        else f"{argument.keyword}={argument.default!r}"
        for argument in kind.arguments
    ]
    return _method(name, parameters, body, **names)


def _setter(keyword: str) -> Callable[["Handle", Any], None]:
    def put(self: Handle, value: Any, /) -> None:
        self.put(keyword, value)

    return put


def _place_getter(name: str) -> Callable[["Handle"], int | None]:
    def get(self: Handle, /) -> int | None:
        place: Anchor = self.values[name]
        return place.time if self.xloc == "bar_time" else place.bar

    return get


def _height_getter(name: str) -> Callable[["Handle"], Any]:
    def get(self: Handle, /) -> Any:
        return self.values[name]

    return get


class Handle(HostObject):
    """An object that a script drew, and may change or delete.

    `pairs` are setters of two fields at once. `verbs` are the methods that neither set nor get.
    A class is given further derived methods as its keyword arguments.
    """

    __slots__ = ("canvas", "id", "values", "xloc")
    kind: ClassVar[type[DrawnObject]]
    settings: ClassVar[Mapping[str, _Setting]]
    pairs: ClassVar[Mapping[str, tuple[str, str]]] = {}
    verbs: ClassVar[tuple[str, ...]] = ("copy", "delete")

    def __init_subclass__(cls, **derived: Any) -> None:
        kind = cls.kind
        cls.type_name = kind.__name__.lower()
        cls.settings = _settings(kind, apart=["xloc"])
        derived |= {f"set_{keyword}": _setter(keyword) for keyword in cls.settings}
        derived |= {f"get_{name}": _place_getter(name) for name in kind.places}
        derived |= {f"get_{name}": _height_getter(name) for name in kind.heights}
        for name, (x, y) in cls.pairs.items():
            derived[name] = _method(name, (x, y, "/"), f"self.put_all({x}={x}, {y}={y})")
        if kind.places:
            places = ", ".join(f"{name}={name}" for name in kind.places)
            parameters = (*kind.places, "xloc", "/")
            derived["set_xloc"] = _method("set_xloc", parameters, f"self.move(xloc, {places})")
        for name, method in derived.items():
            if name not in vars(cls):
                setattr(cls, name, method)
        accessors = {name for name in dir(cls) if name.startswith(("set_", "get_", "cell_set_"))}
        cls.methods = frozenset((*accessors, *cls.verbs))

    @classmethod
    def constructor(cls) -> Any:
        """The method of the chart that draws such an object."""
        xloc = "xloc" if cls.kind.places else "'bar_index'"
        body = f"make(self.canvas, {xloc}, ({', '.join(cls.settings)}))"
        method = _drawing_method(f"new_{cls.type_name}", cls.kind, body, make=cls)
        method.__doc__ = cls.__doc__
        return method

    def __init__(self, canvas: Canvas, xloc: Any, values: tuple[Any, ...]) -> None:
        canvas.meter.charge(_NEW + _PUT * len(values))
        self.canvas = canvas
        self.id = 0
        self.xloc = _check_xloc(xloc)
        self.values: dict[str, Any] = {}  # canonical, by field; the others are at their defaults
        for setting, value in zip(self.settings.values(), values, strict=True):
            if value is not setting.default:
                self.values[setting.field] = setting.read(self, value)
        canvas.add(self)

    @property
    def alive(self) -> bool:
        return self.id in self.canvas.alive[self.kind.channel]

    def put(self, keyword: str, value: Any) -> None:
        self.canvas.meter.charge(_PUT)
        setting = self.settings[keyword]
        self.values[setting.field] = setting.read(self, value)

    def put_all(self, **values: Any) -> None:
        for keyword, value in values.items():
            self.put(keyword, value)

    def move(self, xloc: Any, **places: Any) -> None:
        self.canvas.meter.charge(15)
        self.xloc = _check_xloc(xloc)
        self.put_all(**places)

    def delete(self) -> None:
        self.canvas.alive[self.kind.channel].pop(self.id, None)

    def copy(self) -> "Handle":
        """A new object like this one; of one that is gone, a handle that changes nothing either."""
        self.canvas.meter.charge(40)
        twin = object.__new__(type(self))
        twin.canvas, twin.values, twin.xloc = self.canvas, dict(self.values), self.xloc
        twin.id = 0
        if self.alive:
            self.canvas.add(twin)
        return twin

    def draw(self) -> DrawnObject:
        """The object as a scene holds it."""
        return self.kind.assemble({"id": self.id, **self.values})


# --------------------------------------------------------------------------------- the four kinds


class LabelHandle(Handle):
    """A text at a bar and a price; the handle changes or deletes it."""

    __slots__ = ()
    kind = Label
    pairs: ClassVar[Mapping[str, tuple[str, str]]] = {"set_xy": ("x", "y")}

    def get_text(self) -> str:
        return str(self.values.get("text", ""))


class LineHandle(Handle):
    """A line between two points; the handle changes or deletes it."""

    __slots__ = ()
    kind = Line
    pairs: ClassVar[Mapping[str, tuple[str, str]]] = {
        "set_xy1": ("x1", "y1"),
        "set_xy2": ("x2", "y2"),
    }

    def get_price(self, x: Any, /) -> float | None:
        """The height of the line, or of its continuation, at a bar."""
        self.canvas.meter.charge(50)
        at = self.canvas.anchor(x, "bar_index", "x").bar
        first, last = self.values["x1"].bar, self.values["x2"].bar
        low, high = self.values["y1"], self.values["y2"]
        if None in (at, first, last, low, high) or first == last:
            return None
        return float(low + (high - low) * (at - first) / (last - first))


class BoxHandle(Handle):
    """A rectangle; the handle changes or deletes it."""

    __slots__ = ()
    kind = Box
    pairs: ClassVar[Mapping[str, tuple[str, str]]] = {
        "set_lefttop": ("left", "top"),
        "set_rightbottom": ("right", "bottom"),
    }


_CELL = _settings(Cell, apart=["column", "row"])


def _cell_setter(keyword: str) -> Callable[["TableHandle", Any, Any, Any], None]:
    def put(self: "TableHandle", column: Any, row: Any, value: Any, /) -> None:
        self.put_cell(keyword, column, row, value)

    return put


class TableHandle(Handle, **{f"cell_set_{keyword}": _cell_setter(keyword) for keyword in _CELL}):
    """A table in a corner of the pane; its handle writes the cells."""

    __slots__ = ("cells",)
    kind = Table
    verbs = ("cell", "clear", "delete", "merge_cells")

    def __init__(self, canvas: Canvas, xloc: Any, values: tuple[Any, ...]) -> None:
        _check_size(columns=values[1], rows=values[2])
        self.cells: dict[tuple[int, int], dict[str, Any]] = {}  # by column and row
        super().__init__(canvas, xloc, values)
        self._hide_older()

    def set_columns(self, value: Any, /) -> None:  # noqa: ARG002
        raise Fault("forbidden", "the columns of a table cannot be changed")

    def set_rows(self, value: Any, /) -> None:  # noqa: ARG002
        raise Fault("forbidden", "the rows of a table cannot be changed")

    def set_position(self, value: Any, /) -> None:
        self.put("position", value)
        self._hide_older()

    def _hide_older(self) -> None:
        """One table a position: the newer one is seen."""
        tables = self.canvas.alive["tables"]
        for id_, other in list(tables.items()):
            if other is not self and other.values["position"] == self.values["position"]:
                del tables[id_]

    cell = _drawing_method("cell", Cell, f"self.write_cell(column, row, ({', '.join(_CELL)}))")
    cell.__doc__ = "Writes a cell; whatever it was before is replaced."

    def write_cell(self, column: Any, row: Any, values: tuple[Any, ...]) -> None:
        self.canvas.meter.charge(_PUT_CELL * len(values))
        cell: dict[str, Any] = {}
        self.cells[self._check_place(column, row)] = cell
        for setting, value in zip(_CELL.values(), values, strict=True):
            if value is not setting.default:
                cell[setting.field] = setting.read(self, value)

    def put_cell(self, keyword: str, column: Any, row: Any, value: Any) -> None:
        self.canvas.meter.charge(_PUT_CELL)
        cell = self.cells.setdefault(self._check_place(column, row), {})
        cell[_CELL[keyword].field] = _CELL[keyword].read(self, value)

    def clear(
        self, start_column: Any, start_row: Any, end_column: Any = None, end_row: Any = None
    ) -> None:
        """Removes the cells of a rectangle."""
        first, last = self._rectangle(start_column, start_row, end_column, end_row)
        for place in list(self.cells):
            if first[0] <= place[0] <= last[0] and first[1] <= place[1] <= last[1]:
                del self.cells[place]

    def merge_cells(self, start_column: Any, start_row: Any, end_column: Any, end_row: Any) -> None:
        """Joins the cells of a rectangle into its first one."""
        first, last = self._rectangle(start_column, start_row, end_column, end_row)
        values = self.cells.get(first, {})
        self.clear(start_column, start_row, end_column, end_row)
        self.cells[first] = {**values, "end_column": last[0], "end_row": last[1]}

    def _rectangle(self, *corners: Any) -> tuple[tuple[int, int], tuple[int, int]]:
        self.canvas.meter.charge(40 + len(self.cells))
        first = self._check_place(corners[0], corners[1], "start_")
        last = self._check_place(
            corners[0] if corners[2] is None else corners[2],
            corners[1] if corners[3] is None else corners[3],
            "end_",
        )
        if last[0] < first[0] or last[1] < first[1]:
            raise Fault("value", "end_column and end_row are not before start_column and start_row")
        return first, last

    def _check_place(self, column: Any, row: Any, corner: str = "") -> tuple[int, int]:
        for value, name, count in ((column, "column", "columns"), (row, "row", "rows")):
            last = self.values[count] - 1
            if type(value) is not int:
                raise Fault("type", f"{corner}{name} is an int, not {a_type(value)}")
            if not 0 <= value <= last:
                raise Fault("value", f"{corner}{name} is from 0 to {last}, not {shown(value)}")
        return column, row

    def draw(self) -> Table:
        by_row = sorted(self.cells.items(), key=lambda item: (item[0][1], item[0][0]))
        cells = tuple(
            Cell.assemble({"id": number, "column": column, "row": row, **values})
            for number, ((column, row), values) in enumerate(by_row, 1)
        )
        return Table.assemble({"id": self.id, "cells": cells, **self.values})


def _check_size(**counts: Any) -> None:
    cells = 1
    for name, count in counts.items():
        if type(count) is not int:
            raise Fault("type", f"{name} is an int, not {a_type(count)}")
        if count < 1:
            raise Fault("value", f"{name} is at least 1, not {shown(count)}")
        cells *= count
        if cells > TABLE_CELLS:
            raise Fault("size", f"{name}: a table has at most {TABLE_CELLS:,} cells")
