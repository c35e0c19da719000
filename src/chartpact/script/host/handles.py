"""Handles: the drawn objects of a run, as scripts hold them.

Constructors, setters and getters are derived from the table of drawn objects. A channel holds at
most its cap: the oldest object leaves first. Linefills count with lines, as in Pine, and leave with
either of theirs. Coordinates that are na keep an object undrawn, yet it counts.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chartpact import palette
from chartpact.arrays import ABSENT
from chartpact.drawing import (
    CHANNELS,
    Anchor,
    Argument,
    Box,
    Cell,
    DrawnObject,
    Label,
    Line,
    Linefill,
    Polyline,
    Table,
    Vertices,
)
from chartpact.script.errors import Fault
from chartpact.script.host.arguments import field_value, number, whole
from chartpact.script.limits import OBJECT_TEXT_CHARS, POLYLINE_POINTS, TABLE_CELLS
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.values import LISTS, HostObject, a_type, shown

FURTHEST = 500  # bars right of the last one that an object may reach to
_LAST_TIME = 1 << 52
_NOWHERE = Anchor(None, None, None)

# Steps that are charged.
_NEW = 63  # a new object
_ARGUMENT = 4  # each argument of a new object
_PUT = 2  # a setter
_CELL_STEPS = 14  # a cell of a table
_PUT_CELL = 24  # a setter of a cell
_FIELD, _CHECKED = 3, 10  # a value that is no place and no height, and one that is checked
_HEIGHT, _PAIR = 3, 3  # a height that is not a finite float, and a setter of two values
_FILL = 100  # of a linefill, which is kept under both of its lines
_AT_TIME = 46  # a bar that is looked for by its time
_MOST_KNOWN = 256  # of the texts of a field whose canonical form is kept
# Steps of the points of a polyline, of each, and of looking up its time.
_POINTS, _POINT, _POINT_AT_TIME = 360, 20, 100

# The channels that are counted together, the one whose cap holds first.
_POOLS: dict[str, tuple[str, ...]] = {channel: (channel,) for channel in CHANNELS}
_POOLS |= dict.fromkeys(("lines", "linefills"), ("lines", "linefills"))


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
    fills: dict[int, set[int]] = field(default_factory=dict)  # ids of linefills, by that of a line
    known: dict[int, dict[str, Any]] = field(  # canonical forms of texts, by the type of a field
        default_factory=lambda: defaultdict(dict)
    )

    @cached_property
    def last_bar(self) -> int:
        """The last bar that an object may stand on."""
        return len(self.time) - 1 + FURTHEST

    def add(self, handle: "Handle") -> None:
        name = handle.kind.channel
        pool = _POOLS[name]
        self.used.add(name)
        self.count += 1
        handle.id = self.count
        self.alive[name][handle.id] = handle
        cap = self.caps.get(pool[0])
        if cap is not None and sum([len(self.alive[channel]) for channel in pool]) > cap:
            self._evict_oldest(pool)

    def _evict_oldest(self, pool: tuple[str, ...]) -> None:
        held = [channel for channel in pool if self.alive[channel]]
        if len(held) == 1:  # so that nothing else leaves with it
            alive = self.alive[held[0]]
            del alive[next(iter(alive))]
            self.evicted[held[0]] = self.evicted.get(held[0], 0) + 1
            return
        before = {channel: len(self.alive[channel]) for channel in pool}
        id_, oldest = min((next(iter(self.alive[name])), name) for name in pool if before[name])
        self.remove(oldest, id_)
        for channel, count in before.items():
            if gone := count - len(self.alive[channel]):
                self.evicted[channel] = self.evicted.get(channel, 0) + gone

    def remove(self, channel: str, id_: int) -> None:
        """Removes an object, and with a line its linefills."""
        handle = self.alive[channel].pop(id_, None)
        if isinstance(handle, LinefillHandle):
            for line in handle.lines:
                self.fills.get(line.id, set()).discard(id_)
        elif channel == "lines":
            for fill in tuple(self.fills.pop(id_, ())):
                self.remove("linefills", fill)

    def anchor(self, x: Any, xloc: str, keyword: str) -> Anchor:
        """The place of an x: a bar's number, or a time in UTC ms."""
        place = whole(x, keyword)
        if place is None:
            return _NOWHERE
        if xloc == "bar_time":
            self.meter.charge(_AT_TIME)
            return self._anchor_at_time(place, keyword)
        return self.anchor_of(self._check_bar(place, keyword))

    def anchor_of(self, bar: int) -> Anchor:
        return _anchor(bar, int(self.time[bar]) if bar < len(self.time) else None)

    def vertices(self, points: Any, xloc: str) -> Vertices:
        """The points of a polyline, without those that are na."""
        if type(points) not in LISTS and type(points) is not tuple:
            raise Fault("type", f"points is a list of points, not {a_type(points)}", _A_POINT)
        count = len(points)
        by_time = xloc == "bar_time"
        self.meter.charge(_POINTS + (_POINT_AT_TIME if by_time else _POINT) * count)
        if count > POLYLINE_POINTS:
            raise Fault("size", f"a polyline has at most {POLYLINE_POINTS:,} points, not {count:,}")
        places, heights = [], []
        for point in points:
            if (type(point) is not tuple and type(point) not in LISTS) or len(point) != 2:
                raise Fault("type", f"points: a point is a pair, not {a_type(point)}", _A_POINT)
            x, height = whole(point[0], "x"), number(point[1], "y")
            if x is not None and height is not None:
                places.append(x if by_time else self._check_bar(x, "x"))
                heights.append(height)
        if by_time:
            anchors = [self._anchor_at_time(ms, "x") for ms in places]
            rows = [at for at, anchor in enumerate(anchors) if anchor.bar is not None]
            return Vertices(
                bar=[anchors[at].bar for at in rows],
                time=[anchors[at].time for at in rows],
                y=[heights[at] for at in rows],
            )
        bar = np.array(places, np.int64)
        time = np.full(len(bar), ABSENT)
        known = bar < len(self.time)
        time[known] = self.time[bar[known]]
        return Vertices(bar=bar, time=time, y=np.array(heights, np.float64))

    def bar(self, x: Any, keyword: str, offset: int = 0) -> int | None:
        """The bar of that number, `offset` bars to the right; None where it is na."""
        place = whole(x, keyword)
        return None if place is None else self._check_bar(place + offset, keyword)

    def _check_bar(self, bar: int, keyword: str) -> int:
        if not 0 <= bar <= self.last_bar:
            raise Fault(
                "value",
                f"{keyword} is the number of a bar, from 0 to {self.last_bar}, not {shown(bar)}",
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


_A_POINT = "a point is (x, y), as in [(0, 100.0), (5, 101.5)]"


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

    def read_place(handle: Handle, value: Any) -> int | Anchor:
        if type(value) is int and 0 <= value <= handle.last_bar:
            return value  # becomes an anchor when it is drawn
        return handle.canvas.anchor(value, handle.xloc, keyword)

    def read_height(handle: Handle, value: Any) -> float | None:
        if type(value) is float and value - value == 0:
            return value
        handle.meter.charge(_HEIGHT)
        return number(value, keyword)

    number_of_type = id(type_)

    def read_text(handle: Handle, value: Any) -> Any:
        if type(value) is not str or len(value) > OBJECT_TEXT_CHARS or not value.isascii():
            return read_field(handle, value)
        meter, steps = handle.meter, _FIELD + len(value) // 16
        if meter.left < steps:
            meter.charge(steps)
        meter.left -= steps
        return value

    def read_field(handle: Handle, value: Any) -> Any:
        steps = len(value) // 16 if type(value) is str else 0
        handle.meter.charge(_CHECKED + steps)
        return field_value(value, type_, keyword)

    def read_name(handle: Handle, value: Any) -> Any:
        if type(value) is not str:
            return read_field(handle, value)
        meter, steps = handle.meter, _FIELD + len(value) // 16
        if meter.left < steps:
            meter.charge(steps)
        meter.left -= steps
        known = handle.canvas.known[number_of_type]
        if value in known:
            return known[value]
        meter.charge(_CHECKED)
        canonical = field_value(value, type_, keyword)
        if len(known) < _MOST_KNOWN:
            known[value] = canonical
        return canonical

    def read_points(handle: Handle, value: Any) -> Vertices:
        return handle.canvas.vertices(value, handle.xloc)

    def read_line(_: Handle, value: Any) -> int:
        return _check_line(value, keyword).id

    read: Callable[[Any, Any], Any] = read_text if type_.kind == "text" else read_name
    if name in kind.places:
        read = read_place
    elif type_.kind == "array":
        read = read_points
    elif type_.kind == "id":
        read = read_line
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
    exec(f"def {name}(self, {', '.join(parameters)}):\n    {body}", names)
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


def _setter(setting: _Setting) -> Callable[["Handle", Any], None]:
    name, read = setting.field, setting.read

    def put(self: Handle, value: Any, /) -> None:
        meter = self.meter
        if meter.left < _PUT:
            meter.charge(_PUT)
        meter.left -= _PUT
        self.values[name] = read(self, value)

    return put


def _place_setter(setting: _Setting) -> Callable[["Handle", Any], None]:
    """Loops move places at every bar, so the usual value is taken without a further call.

    Its steps are part of the weight of the call.
    """
    name, read = setting.field, setting.read

    def put(self: Handle, value: Any, /) -> None:
        if type(value) is int and 0 <= value <= self.last_bar:
            self.values[name] = value
        else:
            self.meter.charge(_PUT)
            self.values[name] = read(self, value)

    return put


_PUT_PAIR = """meter, values = self.meter, self.values
    if meter.left < {steps}:
        meter.charge({steps})
    meter.left -= {steps}
    if type({x}) is int and 0 <= {x} <= self.last_bar and type({y}) is float and {y} - {y} == 0:
        values[{x!r}], values[{y!r}] = {x}, {y}
    else:
        meter.charge({more})
        values[{x!r}], values[{y!r}] = read_place(self, {x}), read_height(self, {y})
"""


def _pair_setter(name: str, x: _Setting, y: _Setting) -> Any:
    """A place and a height, of which usual values are taken without further calls."""
    body = _PUT_PAIR.format(x=x.field, y=y.field, steps=_PAIR, more=2 * _PUT)
    parameters = (x.keyword, y.keyword, "/")
    return _method(name, parameters, body, read_place=x.read, read_height=y.read)


def _place_getter(name: str) -> Callable[["Handle"], int | None]:
    def get(self: Handle, /) -> int | None:
        place: int | Anchor = self.values[name]
        if isinstance(place, int):
            return place
        return place.time if self.xloc == "bar_time" else place.bar

    return get


def _height_getter(name: str) -> Callable[["Handle"], Any]:
    def get(self: Handle, /) -> Any:
        return self.values[name]

    return get


class Handle(HostObject):
    """An object that a script drew, and may change or delete.

    `pairs` are setters of two fields at once. `verbs` are the methods that neither set nor get,
    and `fixed` the keywords that nothing sets later. A class is given further derived methods as
    its keyword arguments.
    """

    __slots__ = ("canvas", "first_place", "id", "last_bar", "meter", "values", "xloc")
    kind: ClassVar[type[DrawnObject]]
    anchor: ClassVar[str]  # the first of its places; empty where it has none
    settings: ClassVar[Mapping[str, _Setting]]
    readers: ClassVar[tuple[tuple[Any, str, Callable[[Any, Any], Any]], ...]]  # of the settings
    pairs: ClassVar[Mapping[str, tuple[str, str]]] = {}
    verbs: ClassVar[tuple[str, ...]] = ("copy", "delete")
    fixed: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **derived: Any) -> None:
        kind = cls.kind
        cls.type_name = kind.__name__.lower()
        cls.anchor = kind.places[0] if kind.places else ""
        cls.settings = _settings(kind, apart=["xloc"])
        cls.readers = tuple((item.default, item.field, item.read) for item in cls.settings.values())
        settings = (cls.settings[keyword] for keyword in cls.settings if keyword not in cls.fixed)
        for setting in settings:
            make = _place_setter if setting.field in kind.places else _setter
            derived[f"set_{setting.keyword}"] = make(setting)
        derived |= {f"get_{name}": _place_getter(name) for name in kind.places}
        derived |= {f"get_{name}": _height_getter(name) for name in kind.heights}
        for name, (x, y) in cls.pairs.items():
            derived[name] = _pair_setter(name, cls.settings[x], cls.settings[y])
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
        takes_xloc = any(argument.keyword == "xloc" for argument in cls.kind.arguments)
        xloc = "xloc" if takes_xloc else "'bar_index'"
        body = f"return make(self.canvas, {xloc}, ({', '.join(cls.settings)}))"
        method = _drawing_method(f"new_{cls.type_name}", cls.kind, body, make=cls)
        method.__doc__ = cls.__doc__
        return method

    def __init__(self, canvas: Canvas, xloc: Any, values: tuple[Any, ...]) -> None:
        canvas.meter.charge(_NEW + _ARGUMENT * len(values))
        self.canvas, self.meter = canvas, canvas.meter
        self.id = 0
        self._measure_by(xloc)
        self.values: dict[str, Any] = {}  # canonical, by field; the others are at their defaults
        for value, (default, field_name, read) in zip(values, self.readers, strict=True):
            if value is not default:
                self.values[field_name] = read(self, value)
        self.first_place: Any = self.values.get(self.anchor)
        canvas.add(self)

    @property
    def alive(self) -> bool:
        return self.id in self.canvas.alive[self.kind.channel]

    def _bar(self, name: str) -> Any:
        """The bar of a place, None where it is na."""
        place: int | Anchor = self.values[name]
        return place.bar if isinstance(place, Anchor) else place

    def put(self, keyword: str, value: Any) -> None:
        self.meter.charge(_PUT)
        setting = self.settings[keyword]
        self.values[setting.field] = setting.read(self, value)

    def put_all(self, **values: Any) -> None:
        for keyword, value in values.items():
            self.put(keyword, value)

    def move(self, xloc: Any, **places: Any) -> None:
        self.canvas.meter.charge(25)
        self._measure_by(xloc)
        self.put_all(**places)

    def _measure_by(self, xloc: Any) -> None:
        """Places are numbers of bars, up to the last one, or times."""
        self.xloc = _check_xloc(xloc)
        self.last_bar = self.canvas.last_bar if self.xloc == "bar_index" else -1

    def delete(self) -> None:
        self.meter.charge(_PUT + 2)
        self.canvas.remove(self.kind.channel, self.id)

    def copy(self) -> "Handle":
        """A new object like this one; of one that is gone, a handle that changes nothing either."""
        self.canvas.meter.charge(40)
        twin = object.__new__(type(self))
        twin.canvas, twin.meter, twin.last_bar = self.canvas, self.meter, self.last_bar
        twin.values, twin.xloc = dict(self.values), self.xloc
        twin.first_place = self.values.get(self.anchor)
        twin.id = 0
        if self.alive:
            self.canvas.add(twin)
        return twin

    def draw(self) -> DrawnObject:
        """The object as a scene holds it."""
        values = {"id": self.id, **self.values}
        for name in self.kind.places:
            if type(place := values.get(name)) is int:
                values[name] = self.canvas.anchor_of(place)
        first = self.first_place
        if first != self.values.get(self.anchor):
            first = self.canvas.anchor_of(first) if type(first) is int else first
            values["made_at"] = first.time
        return self.kind.assemble(values)


# -------------------------------------------------------------------------------------- the kinds


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
        at: Any = self.canvas.anchor(x, "bar_index", "x").bar
        first, last = self._bar("x1"), self._bar("x2")
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


class PolylineHandle(Handle):
    """A line through a list of points (x, y); the handle changes or deletes it.

    It may be curved, closed and filled. A point that is na is left out.
    """

    __slots__ = ()
    kind = Polyline
    verbs = ("delete",)


def _check_line(value: Any, keyword: str) -> LineHandle:
    if type(value) is not LineHandle:
        hint = "pass what chart.new_line returns"
        raise Fault("type", f"{keyword} is a line, not {a_type(value)}", hint)
    return value


class LinefillHandle(Handle):
    """The area between two lines; the handle changes its colour or deletes it.

    It follows its lines when they move, and leaves with either of them. A second one between the
    same two lines takes the place of the first.
    """

    __slots__ = ("lines",)
    kind = Linefill
    verbs = ("delete", "get_line1", "get_line2")
    fixed = ("line1", "line2")

    def __init__(self, canvas: Canvas, xloc: Any, values: tuple[Any, ...]) -> None:
        one, other = _check_line(values[0], "line1"), _check_line(values[1], "line2")
        canvas.meter.charge(_FILL)
        self.lines = one, other
        for former in canvas.fills.get(one.id, set()) & canvas.fills.get(other.id, set()):
            canvas.remove("linefills", former)
        super().__init__(canvas, xloc, values)
        if one.alive and other.alive:
            for line in self.lines:
                canvas.fills.setdefault(line.id, set()).add(self.id)
        else:
            canvas.remove("linefills", self.id)

    def get_line1(self) -> LineHandle:
        return self.lines[0]

    def get_line2(self) -> LineHandle:
        return self.lines[1]


_CELL = _settings(Cell, apart=["column", "row"])


def _readers(settings: Mapping[str, _Setting]) -> dict[str, Any]:
    """The names that `_collect` uses."""
    names: dict[str, Any] = {f"read_{name}": setting.read for name, setting in settings.items()}
    return names | {f"default_{name}": setting.default for name, setting in settings.items()}


def _collect(start: str, settings: Iterable[_Setting]) -> str:
    """The body of a method that reads the arguments which are not at their defaults."""
    reads = [
        f"if {setting.keyword} is not default_{setting.keyword}: "
        f"values[{setting.field!r}] = read_{setting.keyword}(self, {setting.keyword})"
        for setting in settings
    ]
    return "\n    ".join((f"values = {start}", *reads))


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
        self.meter.charge(20)
        self.put("position", value)
        self._hide_older()

    def _hide_older(self) -> None:
        """One table a position: the newer one is seen."""
        tables = self.canvas.alive["tables"]
        for id_, other in list(tables.items()):
            if other is not self and other.values["position"] == self.values["position"]:
                del tables[id_]

    cell = _drawing_method(
        "cell", Cell, _collect("self.begin_cell(column, row)", _CELL.values()), **_readers(_CELL)
    )
    cell.__doc__ = "Writes a cell; whatever it was before is replaced."

    def begin_cell(self, column: Any, row: Any) -> dict[str, Any]:
        """An empty cell in the place of whatever was there."""
        self.meter.charge(_CELL_STEPS)
        if type(column) is not int or type(row) is not int or (column, row) not in self.cells:
            self._check_place(column, row)
        cell = self.cells[column, row] = {}
        return cell

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
        """Joins the cells of a rectangle into its first one; what it overlaps is joined no more."""
        first, last = self._rectangle(start_column, start_row, end_column, end_row)
        values = self.cells.get(first, {})
        self.clear(start_column, start_row, end_column, end_row)
        for (column, row), cell in self.cells.items():
            if (
                "end_column" in cell
                and (column <= last[0] and first[0] <= cell["end_column"])
                and (row <= last[1] and first[1] <= cell["end_row"])
            ):
                del cell["end_column"], cell["end_row"]
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
