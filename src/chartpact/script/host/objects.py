"""Pine-style drawn objects: labels, lines, boxes and tables, and the handles scripts hold.

Each kind is a table from Pine's keyword to the field of the scene's record, so that constructors,
setters and getters are the same for all. A channel holds at most its cap: the oldest leaves first.
Coordinates that are na keep an object undrawn, yet it counts.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from chartpact import palette
from chartpact.scene import Anchor, Box, Cell, Label, Line, Rule, SceneError, Table, Value, rules
from chartpact.script.errors import Fault, nearest
from chartpact.script.limits import OBJECT_TEXT_CHARS, TABLE_CELLS
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import HostObject, a_type, shown

FURTHEST = 500  # bars right of the last one that an object may reach to
LARGEST_SIZE = 1_000  # of a width in pixels, of a text in points, of a cell in percent
_SIZES = frozenset("width height size border_width frame_width text_size offset".split())
_LAST_TIME = 1 << 52
_JSON_TYPES: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,), "integer": (int,), "number": (int, float), "string": (str,),
}  # fmt: skip
_NOWHERE = Anchor(None, None, None)
_PLAIN = frozenset((int, float, bool, str, type(None)))


@dataclass
class Canvas:
    """What the objects of one run share: the bars they stand on, the caps, the meter."""

    time: NDArray[np.int64]
    meter: Meter
    caps: Mapping[str, int]
    alive: dict[str, dict[int, "Handle"]] = field(
        default_factory=lambda: {"labels": {}, "lines": {}, "boxes": {}, "tables": {}}
    )
    evicted: dict[str, int] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    count: int = 0

    def add(self, handle: "Handle") -> None:
        channel = self.alive[handle.channel]
        self.used.add(handle.channel)
        self.count += 1
        handle.id = self.count
        channel[handle.id] = handle
        cap = self.caps.get(handle.channel)
        if cap is not None and len(channel) > cap:
            del channel[next(iter(channel))]
            self.evicted[handle.channel] = self.evicted.get(handle.channel, 0) + 1

    def anchor(self, x: Any, xloc: str, keyword: str) -> Anchor:
        """The place of an x: a bar's number, or a time in UTC ms."""
        place = whole(x, keyword)
        if place is None:
            return _NOWHERE
        if xloc == "bar_time":
            return self._at_time(place, keyword)
        bar = self._in_reach(place, keyword)
        return Anchor(bar, bar, int(self.time[bar]) if bar < len(self.time) else None)

    def bar(self, x: Any, keyword: str, offset: int = 0) -> int | None:
        """The bar of that number, so many bars to the right; None where it is na."""
        place = whole(x, keyword)
        return None if place is None else self._in_reach(place + offset, keyword)

    def _in_reach(self, bar: int, keyword: str) -> int:
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

    def _at_time(self, ms: int, keyword: str) -> Anchor:
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
            return Anchor(bar, bar, int(self.time[bar]))
        ahead = -(-(ms - int(self.time[bar])) // self._step) if self._step > 0 else 0
        return Anchor(bar + ahead, bar + ahead, ms)


def checked(record: type[Value], name: str, value: Any, keyword: str) -> Any:
    """The value in the form the scene keeps it, or what would be right."""
    if type(value) is str and len(value) > OBJECT_TEXT_CHARS:
        raise Fault("size", f"{keyword} has at most {OBJECT_TEXT_CHARS} characters")
    rule = rules(record)[name]
    try:
        return rule.check(bearable(plain(value, keyword), keyword))
    except SceneError as error:
        raise refused(f"{keyword}: {error}", value, rule) from None


def refused(message: str, value: Any, rule: Rule) -> Fault:
    """What the scene says of a value it does not take, without the whole of a long one."""
    wrong = type(value) in _PLAIN and type(value) not in _types(rule.schema)
    kind = "type" if wrong else "value"
    hint = ""
    if type(value) in (int, float) and message.endswith("is not a text"):
        hint = "write text.number(x, decimals), or str(x)"
    elif type(value) is str:
        known = palette.COLORS if "is not a colour" in message else _choices(rule.schema)
        near = nearest(value.lower(), known)
        hint = f"did you mean {near!r}?" if near else ""
    return Fault(kind, message.replace(repr(value), shown(value)), hint)


def _choices(schema: Mapping[str, Any]) -> list[str]:
    """The names a rule can take."""
    parts = schema.get("anyOf", (schema,))
    return [name for part in parts for name in part.get("enum", ())]


def _types(schema: Mapping[str, Any]) -> tuple[type, ...]:
    """The types of the values a rule can take; names and colours are texts."""
    if "anyOf" in schema:
        return tuple(each for part in schema["anyOf"] for each in _types(part))
    wanted = schema.get("type", "string")
    named = [wanted] if isinstance(wanted, str) else wanted
    return tuple(each for name in named for each in _JSON_TYPES.get(name, ()))


def bearable(value: Any, keyword: str) -> Any:
    """A width or a size, if it is one that can be drawn."""
    if keyword in _SIZES and type(value) in (int, float) and abs(value) > LARGEST_SIZE:
        raise Fault("value", f"{keyword} is at most {LARGEST_SIZE:,}, not {shown(value)}")
    return value


def plain(value: Any, keyword: str) -> Any:
    """One number, text, truth or None: nothing that would have to be walked."""
    if type(value) not in _PLAIN:
        hint = "take one bar: s[i]" if type(value) is Series else ""
        raise Fault("type", f"{keyword} is one value, not {a_type(value)}", hint)
    return value


def number(value: Any, keyword: str) -> float | None:
    """A height: a finite number, None where it is na."""
    if value is None or (type(value) is float and not math.isfinite(value)):
        return None
    if type(value) not in (int, float):
        hint = "take one bar: s[i]" if type(value) is Series else ""
        raise Fault("type", f"{keyword} is a number, not {a_type(value)}", hint)
    try:
        return float(value)
    except OverflowError:
        raise Fault("value", f"{keyword} is too large a number to be drawn") from None


def whole(value: Any, keyword: str) -> int | None:
    """A bar's number or a time: a whole number, None where it is na."""
    if type(value) is int:
        return value
    if value is None or (type(value) is float and math.isnan(value)):
        return None
    if type(value) not in (int, float):
        hint = "take one bar: s[i]" if type(value) is Series else ""
        raise Fault("type", f"{keyword} is a bar's number or a time, not {a_type(value)}", hint)
    if type(value) is float and not value.is_integer():
        hint = "cut the fraction with int(x)" if math.isfinite(value) else ""
        raise Fault("value", f"{keyword} is a whole number, not {shown(value)}", hint)
    return int(value)


class Handle(HostObject):
    """What a script holds of an object it drew."""

    __slots__ = ("canvas", "id", "values", "xloc")
    channel: ClassVar[str]
    record: ClassVar[type[Value]]
    places: ClassVar[tuple[str, ...]] = ()
    heights: ClassVar[tuple[str, ...]] = ()
    names: ClassVar[Mapping[str, str]] = {}  # Pine's keyword → the record's field

    def __init__(self, canvas: Canvas, given: Mapping[str, Any], xloc: Any = "bar_index") -> None:
        canvas.meter.charge(130)
        self.canvas = canvas
        self.id = 0
        self.values: dict[str, Any] = {}
        self.xloc = _xloc(xloc)
        for name, value in given.items():
            self.put(name, value)
        canvas.add(self)

    @property
    def alive(self) -> bool:
        return self.id in self.canvas.alive[self.channel]

    def put(self, name: str, value: Any) -> None:
        """Sets one value by Pine's keyword."""
        self.canvas.meter.charge(22)
        if name in self.places:
            self.values[name] = self.canvas.anchor(value, self.xloc, name)
        elif name in self.heights:
            self.values[name] = number(value, name)
        else:
            known = self.names[name]
            if type(value) is str:
                self.canvas.meter.charge(len(value) // 16)
            self.values[known] = checked(self.record, known, value, name)

    def delete(self) -> None:
        self.canvas.alive[self.channel].pop(self.id, None)

    def copied(self) -> "Handle":
        """A new object like this one; of one that is gone, a handle that changes nothing either."""
        made = object.__new__(type(self))
        self.canvas.meter.charge(40)
        made.canvas, made.values, made.xloc = self.canvas, dict(self.values), self.xloc
        made.id = 0
        if self.alive:
            self.canvas.add(made)
        return made

    def drawn(self) -> Any:
        make: Callable[..., Value] = self.record
        return make(id=self.id, **self.values)


def _xloc(value: Any) -> str:
    if type(value) is not str or value not in palette.XLOCS:
        kind = "value" if type(value) is str else "type"
        raise Fault(kind, f"xloc is {' or '.join(palette.XLOCS)}, not {shown(value)}")
    return str(value)


def _setter(name: str) -> Callable[[Handle, Any], None]:
    def put(self: Handle, value: Any, /) -> None:
        self.put(name, value)

    return put


def _place_getter(name: str) -> Callable[[Handle], int | None]:
    def get(self: Handle, /) -> int | None:
        place = self.values[name]
        return place.time if self.xloc == "bar_time" else place.bar  # type: ignore[no-any-return]

    return get


def _getter(name: str) -> Callable[[Handle], Any]:
    def get(self: Handle, /) -> Any:
        return self.values[name]

    return get


def _with_methods(kind: type[Handle]) -> type[Handle]:
    """Gives a kind of handle `set_…` for all it has, and `get_…` for its coordinates and text."""
    for name in (*kind.places, *kind.heights, *kind.names):
        setattr(kind, f"set_{name}", _setter(name))
    for name in kind.places:
        setattr(kind, f"get_{name}", _place_getter(name))
    for name in kind.heights:
        setattr(kind, f"get_{name}", _getter(name))
    shown = {each for each in dir(kind) if each.startswith(("set_", "get_", "cell_set_"))}
    kind.methods = frozenset(shown | {"delete"} | kind.methods)
    return kind


@_with_methods
class LabelHandle(Handle):
    __slots__ = ()
    type_name = "label"
    channel = "labels"
    record = Label
    places = ("x",)
    heights = ("y",)
    methods = frozenset(("copy", "get_text"))
    names: ClassVar[Mapping[str, str]] = {
        "text": "text",
        "yloc": "yloc",
        "color": "color",
        "style": "style",
        "textcolor": "text_color",
        "size": "size",
        "textalign": "text_align",
        "tooltip": "tooltip",
        "text_font_family": "text_font_family",
        "force_overlay": "force_overlay",
        "text_formatting": "text_formatting",
    }

    def set_xy(self, x: Any, y: Any, /) -> None:
        self.put("x", x)
        self.put("y", y)

    def set_xloc(self, x: Any, xloc: Any, /) -> None:
        self.canvas.meter.charge(15)
        self.xloc = _xloc(xloc)
        self.put("x", x)

    def get_text(self) -> str:
        return str(self.values.get("text", ""))

    def copy(self) -> Handle:
        return self.copied()


@_with_methods
class LineHandle(Handle):
    __slots__ = ()
    type_name = "line"
    channel = "lines"
    record = Line
    places = ("x1", "x2")
    heights = ("y1", "y2")
    methods = frozenset(("copy", "get_price"))
    names: ClassVar[Mapping[str, str]] = {
        name: name for name in "extend color style width force_overlay".split()
    }

    def set_xy1(self, x: Any, y: Any, /) -> None:
        self.put("x1", x)
        self.put("y1", y)

    def set_xy2(self, x: Any, y: Any, /) -> None:
        self.put("x2", x)
        self.put("y2", y)

    def set_xloc(self, x1: Any, x2: Any, xloc: Any, /) -> None:
        self.canvas.meter.charge(15)
        self.xloc = _xloc(xloc)
        self.put("x1", x1)
        self.put("x2", x2)

    def get_price(self, x: Any, /) -> float | None:
        """The height of the line, or of its continuation, at a bar."""
        self.canvas.meter.charge(50)
        at = self.canvas.anchor(x, "bar_index", "x").bar
        first, last = self.values["x1"].bar, self.values["x2"].bar
        low, high = self.values["y1"], self.values["y2"]
        if None in (at, first, last, low, high) or first == last:
            return None
        return float(low + (high - low) * (at - first) / (last - first))

    def copy(self) -> Handle:
        return self.copied()


@_with_methods
class BoxHandle(Handle):
    __slots__ = ()
    type_name = "box"
    channel = "boxes"
    record = Box
    places = ("left", "right")
    heights = ("top", "bottom")
    methods = frozenset(("copy",))
    names: ClassVar[Mapping[str, str]] = {
        name: name
        for name in (
            "border_color border_width border_style extend bgcolor text text_size text_color "
            "text_halign text_valign text_wrap text_font_family force_overlay text_formatting"
        ).split()
    }

    def set_lefttop(self, left: Any, top: Any, /) -> None:
        self.put("left", left)
        self.put("top", top)

    def set_rightbottom(self, right: Any, bottom: Any, /) -> None:
        self.put("right", right)
        self.put("bottom", bottom)

    def set_xloc(self, left: Any, right: Any, xloc: Any, /) -> None:
        self.canvas.meter.charge(15)
        self.xloc = _xloc(xloc)
        self.put("left", left)
        self.put("right", right)

    def copy(self) -> Handle:
        return self.copied()


CELL_NAMES: Mapping[str, str] = {
    "text": "text",
    "width": "width",
    "height": "height",
    "text_color": "text_color",
    "text_halign": "text_halign",
    "text_valign": "text_valign",
    "text_size": "size",
    "bgcolor": "bgcolor",
    "tooltip": "tooltip",
    "text_font_family": "text_font_family",
    "text_formatting": "text_formatting",
}


def _cell_setter(name: str) -> Callable[..., None]:
    def put(self: "TableHandle", column: Any, row: Any, value: Any, /) -> None:
        self.put_cell(name, column, row, value)

    return put


class TableHandle(Handle):
    __slots__ = ("cells",)
    type_name = "table"
    channel = "tables"
    record = Table
    methods = frozenset(("cell", "clear", "merge_cells"))
    names: ClassVar[Mapping[str, str]] = {
        name: name
        for name in (
            "position columns rows bgcolor frame_color frame_width border_color border_width "
            "force_overlay"
        ).split()
    }

    def __init__(self, canvas: Canvas, given: Mapping[str, Any]) -> None:
        self.cells: dict[tuple[int, int], dict[str, Any]] = {}
        super().__init__(canvas, given)
        self._hide_older()

    def put(self, name: str, value: Any) -> None:
        if name in ("columns", "rows"):
            self._measure(name, value)
        super().put(name, value)
        if name == "position" and self.id:
            self._hide_older()

    def _measure(self, name: str, value: Any) -> None:
        if name in self.values:
            raise Fault("forbidden", f"the {name} of a table cannot be changed")
        if type(value) is not int:
            raise Fault("type", f"{name} is an int, not {a_type(value)}")
        if value < 1:
            raise Fault("value", f"{name} is at least 1, not {shown(value)}")
        if value * self.values.get("columns", 1) > TABLE_CELLS:
            raise Fault("size", f"{name}: a table has at most {TABLE_CELLS:,} cells")

    def _hide_older(self) -> None:
        """One table a position: the newer one is seen."""
        tables = self.canvas.alive["tables"]
        for id_, other in list(tables.items()):
            if other is not self and other.values["position"] == self.values["position"]:
                del tables[id_]

    def cell(
        self,
        column: Any,
        row: Any,
        text: Any = "",
        width: Any = 0,
        height: Any = 0,
        text_color: Any = "black",
        text_halign: Any = "center",
        text_valign: Any = "center",
        text_size: Any = "normal",
        bgcolor: Any = None,
        tooltip: Any = "",
        text_font_family: Any = "default",
        text_formatting: Any = "none",
    ) -> None:
        """Writes a cell; whatever it was before is replaced."""
        given = locals()
        place = self._place(column, row)
        self.cells[place] = {}
        for name in CELL_NAMES:
            self.put_cell(name, column, row, given[name])

    def put_cell(self, name: str, column: Any, row: Any, value: Any) -> None:
        self.canvas.meter.charge(28 + (len(value) // 16 if type(value) is str else 0))
        known = CELL_NAMES[name]
        cell = self.cells.setdefault(self._place(column, row), {})
        cell[known] = checked(Cell, known, value, name)

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
        kept = self.cells.get(first, {})
        self.clear(start_column, start_row, end_column, end_row)
        self.cells[first] = {**kept, "end_column": last[0], "end_row": last[1]}

    def _rectangle(self, *corners: Any) -> tuple[tuple[int, int], tuple[int, int]]:
        self.canvas.meter.charge(40 + len(self.cells))
        first = self._place(corners[0], corners[1], "start_")
        last = self._place(
            corners[0] if corners[2] is None else corners[2],
            corners[1] if corners[3] is None else corners[3],
            "end_",
        )
        if last[0] < first[0] or last[1] < first[1]:
            raise Fault("value", "end_column and end_row are not before start_column and start_row")
        return first, last

    def _place(self, column: Any, row: Any, corner: str = "") -> tuple[int, int]:
        for value, name in ((column, "column"), (row, "row")):
            last = self.values[f"{name}s"] - 1
            if type(value) is not int:
                raise Fault("type", f"{corner}{name} is an int, not {a_type(value)}")
            if not 0 <= value <= last:
                raise Fault("value", f"{corner}{name} is from 0 to {last}, not {shown(value)}")
        return column, row

    def drawn(self) -> Table:
        cells = tuple(
            Cell(id=at + 1, column=column, row=row, **values)
            for at, ((column, row), values) in enumerate(
                sorted(self.cells.items(), key=lambda item: (item[0][1], item[0][0]))
            )
        )
        return Table(id=self.id, cells=cells, **self.values)


for _name in CELL_NAMES:
    setattr(TableHandle, f"cell_set_{_name}", _cell_setter(_name))
_with_methods(TableHandle)
