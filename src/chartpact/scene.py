"""A Scene is what an indicator drew: its plots, its signals and its Pine-style objects.

Everything here is a frozen value, checked where it is made: each field's type carries the rule
that says what may stand there, and the same rule reads, writes and describes it in JSON. Series
are read-only float64 arrays in which NaN means "nothing is drawn on this bar"; in JSON it is null.
`to_json` and `from_json` lose nothing.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar, cast, get_type_hints, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chartpact import palette
from chartpact.texts import Texts

SCHEMA_ID = "urn:chartpact:schema:scene:1"
CHANNELS = ("labels", "lines", "boxes", "tables")


class SceneError(ValueError):
    """Something that cannot stand in a scene; the message says what, and what would be right."""


# ------------------------------------------------------------------------------- rules of fields

Json = Any


@dataclass(frozen=True)
class Rule:
    """What may stand in a field: how it is made canonical, written to JSON, read, described.

    `column` makes many values of the field canonical at once, for records kept as columns.
    """

    check: Callable[[Any], Any]
    schema: Mapping[str, Json]
    encode: Callable[[Any], Json] = lambda value: value
    decode: Callable[[Json], Any] = lambda value: value
    column: Callable[[Any], Any] | None = None


LARGEST = sys.float_info.max  # a whole number may be larger, but cannot be drawn


def _whole(value: Any) -> int:
    if type(value) is int:
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_):
        return int(value)
    raise SceneError(f"{value!r} is not a whole number")


def _number(value: Any) -> float:
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        number = value.item() if isinstance(value, np.generic) else value
        if abs(number) <= LARGEST:
            return number
    raise SceneError(f"{value!r:.60} is not a finite number")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise SceneError(f"{value!r} is not a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SceneError("a text holds half of a surrogate pair") from None
    return value


def _flag(value: Any) -> bool:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    raise SceneError(f"{value!r} is not True or False")


_colors: dict[str, str] = {}  # those seen so far in their canonical spelling


def _color(value: Any) -> str:
    if isinstance(value, str) and value in _colors:
        return _colors[value]
    try:
        canonical = palette.color(value)
    except ValueError as error:
        raise SceneError(str(error)) from None
    if len(_colors) < 4096:
        _colors[value] = canonical
    return canonical


def _series(values: ArrayLike) -> NDArray[np.float64]:
    texts = (
        values.dtype.kind in "US"
        if isinstance(values, np.ndarray)
        else isinstance(values, _LISTED) and str in set(map(type, values))
    )
    try:
        array = np.asarray("no numbers" if texts else values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SceneError("a series holds numbers, or None where nothing is drawn") from None
    made_here = array is not values and array.base is None
    if not made_here and not _unchanging(array):  # the drawer may go on changing its own
        array = np.array(array)
    if array.ndim != 1:
        raise SceneError(f"a series has one dimension, not {array.ndim}")
    if np.isinf(array).any():
        raise SceneError(f"a series is infinite at bar {int(np.argmax(np.isinf(array)))}")
    array.flags.writeable = False
    return array


_LISTED = (list, tuple, Texts)


def _unchanging(array: NDArray[np.float64]) -> bool:
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    return owner is None or type(owner) is bytes


def _paint(value: Any) -> str | Texts:
    if isinstance(value, str):
        return palette.AUTO if value == palette.AUTO else _color(value)
    if not isinstance(value, Sequence):
        raise SceneError(f"{value!r} is neither a colour nor a list of colours")
    try:
        colors = Texts.of(value)
    except TypeError:
        raise SceneError(f"{value!r:.60} is no list of colours") from None
    return colors.mapped(lambda each: None if each is None else _color(each))


def _size(value: Any) -> str | int:
    if isinstance(value, str) and value in palette.TEXT_SIZES:
        return value
    if not isinstance(value, str) and (points := _whole(value)) > 0:
        return points
    raise SceneError(
        f"{value!r} is not a size: use {', '.join(palette.TEXT_SIZES)} or a whole number of points"
    )


def _series_to_json(values: NDArray[np.float64]) -> list[float | None]:
    listed: list[float | None] = values.tolist()
    for i in np.flatnonzero(np.isnan(values)).tolist():
        listed[i] = None
    return listed


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _wholes(values: Any) -> NDArray[np.int64]:
    if type(values) is np.ndarray and values.dtype == np.int64 and _unchanging(values):
        return values
    array = np.array(values)
    if array.size and array.dtype.kind != "i":
        try:
            array = np.array([_whole(value) for value in values], dtype=np.int64)
        except OverflowError:
            raise SceneError("a whole number is beyond 64 bits") from None
    return _frozen(array.astype(np.int64))


def _numbers(values: Any) -> NDArray[np.float64]:
    kept = type(values) is np.ndarray and values.dtype == np.float64 and _unchanging(values)
    array = values if kept else np.array(values)
    if array.size and array.dtype.kind not in "iuf":
        array = np.array([_number(value) for value in values])
    if not np.isfinite(array).all():
        raise SceneError(f"{array[np.argmin(np.isfinite(array))]} is not a finite number")
    return array if kept else _frozen(array.astype(np.float64))


def _texts(values: Any) -> Texts:
    texts = Texts.of(values)
    for each in texts.different:
        _text(each)
    return texts


def _maybe_texts(values: Any) -> Texts:
    texts = Texts.of(values)
    for each in texts.different:
        if each is not None:
            _text(each)
    return texts


def _one_of(names: Sequence[str]) -> Rule:
    allowed = frozenset(names)

    def check(value: Any) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise SceneError(f"{value!r} is not one of {', '.join(names)}")

    return Rule(check, {"enum": list(names)})


def _nullable(rule: Rule, column: Callable[[Any], Any] | None = None) -> Rule:
    return Rule(
        lambda value: None if value is None else rule.check(value),
        {"anyOf": [rule.schema, {"type": "null"}]},
        lambda value: None if value is None else rule.encode(value),
        lambda value: None if value is None else rule.decode(value),
        column,
    )


def _at_least(rule: Rule, low: int) -> Rule:
    def check(value: Any) -> Any:
        number = rule.check(value)
        if number < low:
            raise SceneError(f"{value!r} is less than {low}")
        return number

    def column(values: Any) -> Any:
        array = cast("Callable[[Any], Any]", rule.column)(values)
        if (array < low).any():
            raise SceneError(f"{array.min()} is less than {low}")
        return array

    return Rule(check, {**rule.schema, "minimum": low}, column=column if rule.column else None)


_COLOR_SCHEMA = {"type": "string", "pattern": "^#[0-9a-f]{8}$"}
WHOLE = Rule(_whole, {"type": "integer"}, column=_wholes)
NUMBER = Rule(_number, {"type": "number"}, column=_numbers)
TEXT = Rule(_text, {"type": "string"}, column=_texts)
COUNT = _at_least(WHOLE, 0)
COLOR = Rule(_color, _COLOR_SCHEMA)

Whole = Annotated[int, WHOLE]
Count = Annotated[int, COUNT]
Number = Annotated[float, NUMBER]
Positive = Annotated[float, _at_least(NUMBER, 0)]
MaybeWhole = Annotated[int | None, _nullable(WHOLE)]
MaybeNumber = Annotated[float | None, _nullable(NUMBER, _series)]  # None is NaN in a column
Text = Annotated[str, TEXT]
MaybeText = Annotated[str | None, _nullable(TEXT, _maybe_texts)]
Flag = Annotated[bool, Rule(_flag, {"type": "boolean"})]
MaybeColor = Annotated[str | None, _nullable(COLOR)]
Series = Annotated[
    NDArray[np.float64],
    Rule(_series, {"type": "array", "items": {"type": ["number", "null"]}}, _series_to_json),
]
# One colour for the whole plot, or one for each bar or dot (None: not drawn).
Paint = Annotated[str | Texts, Rule(_paint, {})]
Size = Annotated[
    str | int,
    Rule(_size, {"anyOf": [{"enum": list(palette.TEXT_SIZES)}, {"type": "integer", "minimum": 1}]}),
]
PlotStyle = Annotated[str, _one_of(palette.PLOT_STYLES)]
LineStyle = Annotated[str, _one_of(palette.LINE_STYLES)]
BorderStyle = Annotated[str, _one_of(palette.BORDER_STYLES)]
LabelStyle = Annotated[str, _one_of(palette.LABEL_STYLES)]
Yloc = Annotated[str, _one_of(palette.YLOCS)]
Extend = Annotated[str, _one_of(palette.EXTENDS)]
Position = Annotated[str, _one_of(palette.POSITIONS)]
Halign = Annotated[str, _one_of(palette.HALIGNS)]
Valign = Annotated[str, _one_of(palette.VALIGNS)]
Wrap = Annotated[str, _one_of(palette.WRAPS)]
Font = Annotated[str, _one_of(palette.FONTS)]
Format = Annotated[str, _one_of(palette.FORMATS)]
Side = Annotated[str, _one_of(palette.SIDES)]


_rules: dict[type, Mapping[str, Rule]] = {}
_checks: dict[type, tuple[tuple[str, Callable[[Any], Any]], ...]] = {}
_needed: dict[type, tuple[str, ...]] = {}


def rules(value_type: type) -> Mapping[str, Rule]:
    """The rule of each field, in order."""
    if value_type not in _rules:
        hints = get_type_hints(value_type, include_extras=True)
        found = {f.name: hints[f.name].__metadata__[0] for f in fields(value_type)}
        _checks[value_type] = tuple((name, rule.check) for name, rule in found.items())
        _needed[value_type] = tuple(
            f.name
            for f in fields(value_type)
            if f.default is MISSING and f.default_factory is MISSING
        )
        _rules[value_type] = found
    return _rules[value_type]


class Value:
    """A frozen record whose fields are checked when it is made."""

    def __post_init__(self) -> None:
        rules(type(self))
        for name, check in _checks[type(self)]:
            value = getattr(self, name)
            try:
                checked = check(value)
            except SceneError as error:
                raise SceneError(f"{type(self).__name__}.{name}: {error}") from None
            if checked is not value:
                object.__setattr__(self, name, checked)

    def to_json(self) -> dict[str, Json]:
        return {name: rule.encode(getattr(self, name)) for name, rule in rules(type(self)).items()}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        known = rules(cls)
        if not isinstance(data, Mapping):
            raise SceneError(f"{cls.__name__}: {data!r:.60} is not a JSON object")
        if unknown := sorted(set(data) - set(known)):
            raise SceneError(f"{cls.__name__}: unknown field {unknown[0]!r}")
        if missing := [name for name in _needed[cls] if name not in data]:
            raise SceneError(f"{cls.__name__}: {', '.join(missing)} missing")
        return cls(**{name: known[name].decode(value) for name, value in data.items()})

    @classmethod
    def schema(cls) -> dict[str, Json]:
        return {
            "type": "object",
            "properties": {name: dict(rule.schema) for name, rule in rules(cls).items()},
            "required": list(rules(cls)),
            "additionalProperties": False,
        }


def _record(value_type: type[Value]) -> Rule:
    def check(value: Any) -> Value:
        if isinstance(value, value_type):
            return value
        raise SceneError(f"{value!r:.60} is not a {value_type.__name__}")

    return Rule(check, value_type.schema(), lambda value: value.to_json(), value_type.from_json)


def _list_of(one: Rule) -> Rule:
    def check(values: Any) -> tuple[Any, ...]:
        if not isinstance(values, Sequence) or isinstance(values, str):
            raise SceneError(f"{values!r:.60} is not a list")
        return tuple(one.check(value) for value in values)

    def decode(values: Json) -> Json:
        return [one.decode(value) for value in values] if isinstance(values, list) else values

    return Rule(
        check,
        {"type": "array", "items": one.schema},
        lambda values: [one.encode(value) for value in values],
        decode,
    )


R = TypeVar("R", bound=Value)


class Rows(Sequence[R], Generic[R]):
    """Many small records kept as columns: a sequence of `record`, at the cost of an array a field.

    Columns are given by name; one value stands for all rows.
    """

    record: ClassVar[type[Value]]

    def __init__(self, **columns: Any) -> None:
        known = rules(self.record)
        sized = [each for each in columns.values() if _is_column(each)]
        self._length = len(sized[0]) if sized else 1 if columns else 0
        for name, rule in known.items():
            given = columns.pop(name) if name in columns else _default(self.record, name)
            try:
                if _is_column(given):
                    column = cast("Callable[[Any], Any]", rule.column)(given)
                else:
                    column = _repeated(rule, rule.check(given), self._length)
            except SceneError as error:
                raise SceneError(f"{self.record.__name__}.{name}: {error}") from None
            if len(column) != self._length:
                raise SceneError(
                    f"{self.record.__name__}.{name}: {len(column)} values for {self._length} rows"
                )
            setattr(self, name, column)
        if columns:
            raise SceneError(f"{self.record.__name__}: unknown field {next(iter(columns))!r}")

    @classmethod
    def of(cls, records: Iterable[R]) -> Self:
        """The rows of records that are there already."""
        records = tuple(records)
        for each in records:
            if not isinstance(each, cls.record):
                raise SceneError(f"{each!r:.60} is not a {cls.record.__name__}")
        return cls(**{name: [getattr(each, name) for each in records] for name in cls.names()})

    @classmethod
    def joined(cls, several: Sequence[Self]) -> Self:
        """The rows of all, one after the other."""
        columns = {}
        for name in cls.names():
            parts = [getattr(each, name) for each in several]
            texts = isinstance(parts[0], Texts)
            columns[name] = Texts.joined(parts) if texts else _frozen(np.concatenate(parts))
        return cls._of(columns)

    @classmethod
    def _of(cls, columns: Mapping[str, Any]) -> Self:
        """The rows of columns that are checked already."""
        rows = object.__new__(cls)
        rows.__dict__.update(columns)
        rows._length = len(next(iter(columns.values())))
        return rows

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(rules(cls.record))

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> R: ...
    @overload
    def __getitem__(self, at: slice) -> Self: ...
    def __getitem__(self, at: int | slice) -> R | Self:
        if isinstance(at, slice):
            return self._of({name: getattr(self, name)[at] for name in self.names()})
        if not -self._length <= at < self._length:
            raise IndexError(at)
        return next(self._records(at % self._length, at % self._length + 1))

    def __iter__(self) -> Iterator[R]:
        return self._records(0, self._length)

    def _records(self, first: int, last: int) -> Iterator[R]:
        parts = (_listed(getattr(self, name)[first:last]) for name in self.names())
        return (cast(R, self.record(*row)) for row in zip(*parts, strict=True))

    def at(self, rows: NDArray[np.int64], **changed: Any) -> Self:
        """These rows alone, some columns replaced."""
        kept = {}
        for name in self.names():
            column = getattr(self, name)
            kept[name] = column.at(rows) if isinstance(column, Texts) else column[rows]
        return type(self)(**{**kept, **changed})

    def to_json(self) -> list[dict[str, Json]]:
        names = self.names()
        parts = [_listed(getattr(self, name)) for name in names]
        return [dict(zip(names, row, strict=True)) for row in zip(*parts, strict=True)]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) or not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._length} rows)"


def _repeated(rule: Rule, value: Any, count: int) -> Any:
    """A column of one value, which is checked."""
    if isinstance(value, str) or (value is None and rule.column is _maybe_texts):
        return Texts.repeated(count, value)
    return _frozen(np.full(count, value, np.int64 if rule.column is _wholes else np.float64))


def _is_column(value: Any) -> bool:
    return isinstance(value, _COLUMNS)


_COLUMNS = (np.ndarray, Texts, tuple, list)


def _default(record: type[Value], name: str) -> Any:
    return getattr(record, name, ())  # a dataclass keeps its defaults as attributes of the class


def _listed(column: Any) -> list[Any]:
    if not isinstance(column, np.ndarray):
        return list(column)
    return _series_to_json(column) if column.dtype == np.float64 else column.tolist()


def _rows(rows_type: type[Rows[Any]]) -> Rule:
    one = _record(rows_type.record)

    def check(values: Any) -> Rows[Any]:
        if isinstance(values, rows_type):
            return values
        if not isinstance(values, Sequence) or isinstance(values, str):
            raise SceneError(f"{values!r:.60} is not a list")
        return rows_type.of(values)

    def decode(values: Json) -> Json:
        return [one.decode(value) for value in values] if isinstance(values, list) else values

    return Rule(
        check,
        {"type": "array", "items": one.schema},
        lambda values: values.to_json(),
        decode,
    )


# ----------------------------------------------------------------------------------------- plots


def _nothing() -> NDArray[np.float64]:
    return np.empty(0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Plot(Value):
    """What every plot has: a title and its colour."""

    kind: ClassVar[str]
    optional: ClassVar[tuple[str, ...]] = ()  # left out of the JSON when empty
    title: Text = ""
    color: Paint = palette.COLORS["blue"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plot) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.kind, self.title))

    def alike(self, **columns: Any) -> list[Self]:
        """As many plots as the columns have rows, each like this one but for its row."""
        known = rules(type(self))
        listed = []
        for name, values in columns.items():
            try:
                listed.append(cast("Callable[[Any], Any]", known[name].column)(values).tolist())
            except SceneError as error:
                raise SceneError(f"{type(self).__name__}.{name}: {error}") from None
        made = []
        for row in zip(*listed, strict=True):
            other = object.__new__(type(self))
            other.__dict__.update(self.__dict__)
            other.__dict__.update(zip(columns, row, strict=True))
            made.append(other)
        return made

    def to_json(self) -> dict[str, Json]:
        data: dict[str, Json] = {"kind": self.kind, **super().to_json()}
        if not isinstance(self.color, str):
            data["colors"] = list(self.color)
            del data["color"]
        for name in self.optional:
            if not data[name]:
                del data[name]
        return data

    @classmethod
    def from_json(cls, data: Json) -> Self:
        if not isinstance(data, Mapping):
            raise SceneError(f"{data!r:.60} is not a plot")
        rest = {name: value for name, value in data.items() if name != "kind"}
        if isinstance(rest.get("colors", []), str) or not isinstance(rest.get("color", ""), str):
            raise SceneError(f"{cls.__name__}: color is one colour, colors is a list of them")
        if "colors" in rest:
            if "color" in rest:
                raise SceneError(f"{cls.__name__}: there is color or colors, not both")
            rest["color"] = rest.pop("colors")
        return super().from_json(rest)

    @classmethod
    def schema(cls) -> dict[str, Json]:
        schema = super().schema()
        properties = {"kind": {"const": cls.kind}, **schema["properties"]}
        properties["color"] = {"anyOf": [_COLOR_SCHEMA, {"const": palette.AUTO}]}
        properties["colors"] = {
            "type": "array",
            "items": {"anyOf": [_COLOR_SCHEMA, {"type": "null"}]},
        }
        painted = {"color", *cls.optional}
        return {
            **schema,
            "properties": properties,
            "required": ["kind", *(name for name in schema["required"] if name not in painted)],
            "oneOf": [{"required": ["color"]}, {"required": ["colors"]}],
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class LinePlot(Plot):
    """A value for each bar; `ahead` is what is drawn right of the last bar, bar by bar."""

    kind = "line"
    optional = ("ahead",)
    values: Series
    width: Positive = 1
    style: PlotStyle = "line"
    ahead: Series = field(default_factory=_nothing)


def displaced(
    values: NDArray[np.float64], by: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A series drawn `by` bars to the right: its values by bar, and what lies ahead of the last.

    >>> displaced(np.array([1.0, 2.0, 3.0]), 2)
    (array([nan, nan,  1.]), array([2., 3.]))
    """
    size = len(values)
    moved = np.full(size, np.nan)
    if by <= 0:
        moved[: max(0, size + by)] = values[-by:]
        return moved, values[:0]
    moved[by:] = values[: max(0, size - by)]
    return moved, np.concatenate((np.full(max(0, by - size), np.nan), values[-by:]))


@dataclass(frozen=True, eq=False, kw_only=True)
class BarsPlot(Plot):
    """Columns from `base` to the value of each bar."""

    kind = "bars"
    values: Series
    base: Number = 0


@dataclass(frozen=True, eq=False, kw_only=True)
class FillPlot(Plot):
    """The area between two series."""

    kind = "fill"
    optional = ("a_ahead", "b_ahead")
    a: Series
    b: Series
    alpha: Positive = 0.2
    a_ahead: Series = field(default_factory=_nothing)
    b_ahead: Series = field(default_factory=_nothing)


@dataclass(frozen=True)
class Point(Value):
    """One dot: its bar, its height, its size in pixels and, where it is a signal, the name."""

    x: Whole
    y: Number
    size: Positive = 4
    label: MaybeText = None


class Points(Rows[Point]):
    """Dots as columns: `Points(x=bars, y=heights, size=6, label="buy")`."""

    record = Point
    x: NDArray[np.int64]
    y: NDArray[np.float64]
    size: NDArray[np.float64]
    label: Texts


@dataclass(frozen=True, eq=False, kw_only=True)
class DotPlot(Plot):
    """Dots on bars; `color` may be one colour for each dot."""

    kind = "dot"
    points: Annotated[Sequence[Point], _rows(Points)]

    @property
    def columns(self) -> Points:
        """The dots as columns, for who draws many."""
        return cast(Points, self.points)


@dataclass(frozen=True, eq=False, kw_only=True)
class HLinePlot(Plot):
    """A level across the whole pane."""

    kind = "hline"
    y: Number
    style: BorderStyle = "solid"


@dataclass(frozen=True, eq=False, kw_only=True)
class HBarPlot(Plot):
    """A bar of a profile, lying; `width` and `offset` are shares of the pane, from its `side`."""

    kind = "hbar"
    y: Number
    height: Positive
    width: Positive
    offset: Number = 0
    side: Side = "left"


@dataclass(frozen=True, eq=False, kw_only=True)
class DivLinePlot(Plot):
    """A straight line between two points of the pane, such as a divergence."""

    kind = "divline"
    x1: Whole
    y1: Number
    x2: Whole
    y2: Number
    style: LineStyle = "solid"


PLOTS: Mapping[str, type[Plot]] = MappingProxyType(
    {
        plot.kind: plot
        for plot in (LinePlot, BarsPlot, FillPlot, DotPlot, HLinePlot, HBarPlot, DivLinePlot)
    }
)


@dataclass(frozen=True)
class Signal(Value):
    """A named event: `bar` is where it is drawn, `confirmed_bar` when it could first be known."""

    bar: Whole
    confirmed_bar: Whole
    value: MaybeNumber
    name: Text


class Signals(Rows[Signal]):
    """Signals as columns; a value of NaN is None."""

    record = Signal
    bar: NDArray[np.int64]
    confirmed_bar: NDArray[np.int64]
    value: NDArray[np.float64]
    name: Texts


def signals_of(plots: Iterable[Plot], lag: Mapping[str, int] = MappingProxyType({})) -> Signals:
    """The signals that labelled dots are, in the order of their bars.

    `lag` tells, by name, how many bars after its dot a signal could first be known.
    """
    dots = [plot.columns for plot in plots if isinstance(plot, DotPlot) and len(plot.points)]
    if not dots:
        return Signals()
    names = Texts.joined([each.label for each in dots])
    signal = np.array([each is not None for each in names.different], np.bool_)
    kept = np.flatnonzero(signal[names.which])
    bars = np.concatenate([each.x for each in dots])[kept]
    order = np.argsort(bars, kind="stable")
    kept, bars = kept[order], bars[order]
    labels = names.at(kept)
    later = np.array([lag.get(each or "", 0) for each in labels.different], np.int64)
    known = bars + later[labels.which]
    values = np.concatenate([each.y for each in dots])[kept]
    return Signals(bar=bars, confirmed_bar=known, value=values, name=labels)


# --------------------------------------------------------------------------------- drawn objects


@dataclass(frozen=True)
class Anchor(Value):
    """A place on the time axis: order within the study, bar index, and that bar's UTC ms."""

    n: MaybeWhole
    bar: MaybeWhole
    time: MaybeWhole


Place = Annotated[Anchor, _record(Anchor)]


@dataclass(frozen=True)
class Label(Value):
    id: Whole
    x: Place
    y: MaybeNumber
    text: Text = ""
    yloc: Yloc = "price"
    color: MaybeColor = palette.COLORS["blue"]
    style: LabelStyle = "label_down"
    text_color: MaybeColor = palette.COLORS["white"]
    size: Size = "normal"
    text_align: Halign = "center"
    tooltip: Text = ""
    text_font_family: Font = "default"
    force_overlay: Flag = False
    text_formatting: Format = "none"


@dataclass(frozen=True)
class Line(Value):
    id: Whole
    x1: Place
    y1: MaybeNumber
    x2: Place
    y2: MaybeNumber
    extend: Extend = "none"
    color: MaybeColor = palette.COLORS["blue"]
    style: LineStyle = "solid"
    width: Count = 1
    force_overlay: Flag = False


@dataclass(frozen=True)
class Box(Value):
    id: Whole
    left: Place
    top: MaybeNumber
    right: Place
    bottom: MaybeNumber
    border_color: MaybeColor = palette.COLORS["blue"]
    border_width: Count = 1
    border_style: BorderStyle = "solid"
    extend: Extend = "none"
    bgcolor: MaybeColor = palette.COLORS["blue"]
    text: Text = ""
    text_size: Size = "auto"
    text_color: MaybeColor = palette.COLORS["black"]
    text_halign: Halign = "center"
    text_valign: Valign = "center"
    text_wrap: Wrap = "none"
    text_font_family: Font = "default"
    force_overlay: Flag = False
    text_formatting: Format = "none"


@dataclass(frozen=True)
class Cell(Value):
    """One cell of a table; a merged one reaches to `end_column` and `end_row`."""

    id: Whole
    column: Count
    row: Count
    text: Text = ""
    width: Positive = 0
    height: Positive = 0
    text_color: MaybeColor = palette.COLORS["black"]
    text_halign: Halign = "center"
    text_valign: Valign = "center"
    size: Size = "normal"
    bgcolor: MaybeColor = None
    tooltip: Text = ""
    text_font_family: Font = "default"
    text_formatting: Format = "none"
    end_column: MaybeWhole = None
    end_row: MaybeWhole = None


@dataclass(frozen=True)
class Table(Value):
    id: Whole
    position: Position
    columns: Count
    rows: Count
    bgcolor: MaybeColor = None
    frame_color: MaybeColor = None
    frame_width: Count = 0
    border_color: MaybeColor = None
    border_width: Count = 0
    force_overlay: Flag = False
    cells: Annotated[tuple[Cell, ...], _list_of(_record(Cell))] = ()


# ----------------------------------------------------------------------------------------- scene


def _plot_from_json(data: Json) -> Plot:
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in PLOTS:
        raise SceneError(f"{kind!r} is not a kind of plot: {', '.join(PLOTS)}")
    return PLOTS[kind].from_json(data)


def _plot(value: Any) -> Plot:
    if isinstance(value, Plot):
        return value
    raise SceneError(f"{value!r:.60} is not a plot")


_ANY_PLOT = Rule(
    _plot,
    {"oneOf": [plot.schema() for plot in PLOTS.values()]},
    lambda plot: plot.to_json(),
    _plot_from_json,
)


def _range(value: Any) -> tuple[float, float]:
    if isinstance(value, Sequence) and len(value) == 2:
        low, high = _number(value[0]), _number(value[1])
        if low < high:
            return (low, high)
    raise SceneError(f"{value!r:.60} is not a range (low, high) with low < high")


_RANGE = _nullable(
    Rule(
        _range,
        {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
        list,
    )
)


def _counts(value: Any) -> Mapping[str, int]:
    if not isinstance(value, Mapping) or not set(value) <= set(CHANNELS):
        raise SceneError(f"{value!r:.60} does not map {', '.join(CHANNELS)} to counts")
    return MappingProxyType({name: COUNT.check(count) for name, count in value.items()})


_COUNTS = Rule(
    _counts,
    {
        "type": "object",
        "properties": {name: {"type": "integer", "minimum": 0} for name in CHANNELS},
        "additionalProperties": False,
    },
    dict,
)


@dataclass(frozen=True)
class Scene(Value):
    """Everything one indicator drew on one run of bars.

    `limits` tells how many objects of a channel may live, `evicted` how many left for it.
    """

    plots: Annotated[tuple[Plot, ...], _list_of(_ANY_PLOT)] = ()
    signals: Annotated[Sequence[Signal], _rows(Signals)] = ()
    labels: Annotated[tuple[Label, ...], _list_of(_record(Label))] = ()
    lines: Annotated[tuple[Line, ...], _list_of(_record(Line))] = ()
    boxes: Annotated[tuple[Box, ...], _list_of(_record(Box))] = ()
    tables: Annotated[tuple[Table, ...], _list_of(_record(Table))] = ()
    y_range: Annotated[tuple[float, float] | None, _RANGE] = None
    label: MaybeText = None
    limits: Annotated[Mapping[str, int], _COUNTS] = field(default_factory=dict, hash=False)
    evicted: Annotated[Mapping[str, int], _COUNTS] = field(default_factory=dict, hash=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Scene.from_json, (self.to_json(),)

    def cut(self, first: int) -> Self:
        """The scene as seen from bar `first` on: bars are counted anew, earlier ones are gone.

        What begins earlier and may reach into view stays, at negative bars.
        """
        if first <= 0:
            return self
        return replace(
            self,
            plots=tuple(_cut_plot(plot, first) for plot in self.plots if _reaches(plot, first)),
            signals=_cut_signals(cast(Signals, self.signals), first),
            labels=tuple(replace(each, x=_moved(each.x, first)) for each in self.labels),
            lines=tuple(
                replace(each, x1=_moved(each.x1, first), x2=_moved(each.x2, first))
                for each in self.lines
            ),
            boxes=tuple(
                replace(each, left=_moved(each.left, first), right=_moved(each.right, first))
                for each in self.boxes
            ),
        )


def _moved(place: Anchor, first: int) -> Anchor:
    if place.bar is None:
        return place
    n = None if place.n is None else place.n - first
    return Anchor(n, place.bar - first, place.time)


def _reaches(plot: Plot, first: int) -> bool:
    return not isinstance(plot, DivLinePlot) or max(plot.x1, plot.x2) >= first


def _cut_signals(signals: Signals, first: int) -> Signals:
    kept = np.flatnonzero(signals.bar >= first)
    return signals.at(
        kept, bar=signals.bar[kept] - first, confirmed_bar=signals.confirmed_bar[kept] - first
    )


def _cut_plot(plot: Plot, first: int) -> Plot:
    if isinstance(plot, DotPlot):
        kept = np.flatnonzero(plot.columns.x >= first)
        points = plot.columns.at(kept, x=plot.columns.x[kept] - first)
        color = plot.color if isinstance(plot.color, str) else plot.color.at(kept)
        return replace(plot, points=points, color=color)
    if isinstance(plot, DivLinePlot):
        return replace(plot, x1=plot.x1 - first, x2=plot.x2 - first)
    changes: dict[str, Any] = {}
    if not isinstance(plot.color, str):
        changes["color"] = plot.color[first:]
    for name in ("values", "a", "b"):
        if hasattr(plot, name):
            changes[name] = getattr(plot, name)[first:]
    return replace(plot, **changes) if changes else plot


def json_schema() -> dict[str, Json]:
    """The JSON Schema (2020-12) of a scene."""
    schema = Scene.schema()
    later = {"limits", "evicted"}  # additions to the first published shape
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "chartpact scene",
        **schema,
        "required": [name for name in schema["required"] if name not in later],
    }
