"""A Scene is what an indicator drew: its plots, its signals and its Pine-style objects.

Everything here is a frozen value, checked where it is made: each field's type carries the rule
that says what may stand there, and the same rule reads, writes and describes it in JSON. Series
are read-only float64 arrays in which NaN means "nothing is drawn on this bar"; in JSON it is null.
`to_json` and `from_json` lose nothing.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chartpact import palette

SCHEMA_ID = "urn:chartpact:schema:scene:1"
CHANNELS = ("labels", "lines", "boxes", "tables")


class SceneError(ValueError):
    """Something that cannot stand in a scene; the message says what, and what would be right."""


# ------------------------------------------------------------------------------- rules of fields

Json = Any


@dataclass(frozen=True)
class Rule:
    """What may stand in a field: how it is made canonical, written to JSON, read, described."""

    check: Callable[[Any], Any]
    schema: Mapping[str, Json]
    encode: Callable[[Any], Json] = lambda value: value
    decode: Callable[[Json], Any] = lambda value: value


def _whole(value: Any) -> int:
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_):
        return int(value)
    raise SceneError(f"{value!r} is not a whole number")


def _number(value: Any) -> float:
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        number = value.item() if isinstance(value, np.generic) else value
        if math.isfinite(number):
            return number
    raise SceneError(f"{value!r} is not a finite number")


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


def _color(value: Any) -> str:
    try:
        return palette.color(value)
    except ValueError as error:
        raise SceneError(str(error)) from None


def _series(values: ArrayLike) -> NDArray[np.float64]:
    try:
        array = np.array(values, dtype=np.float64)  # a copy: the drawer may go on changing its own
    except (TypeError, ValueError):
        raise SceneError("a series holds numbers, or None where nothing is drawn") from None
    if array.ndim != 1:
        raise SceneError(f"a series has one dimension, not {array.ndim}")
    if np.isinf(array).any():
        raise SceneError(f"a series is infinite at bar {int(np.argmax(np.isinf(array)))}")
    array.flags.writeable = False
    return array


def _paint(value: Any) -> str | tuple[str | None, ...]:
    if isinstance(value, str):
        return palette.AUTO if value == palette.AUTO else _color(value)
    if not isinstance(value, Sequence):
        raise SceneError(f"{value!r} is neither a colour nor a list of colours")
    canonical = {each: None if each is None else _color(each) for each in set(value)}
    return tuple(canonical[each] for each in value)


def _size(value: Any) -> str | int:
    if isinstance(value, str) and value in palette.TEXT_SIZES:
        return value
    if not isinstance(value, str) and (points := _whole(value)) > 0:
        return points
    raise SceneError(
        f"{value!r} is not a size: use {', '.join(palette.TEXT_SIZES)} or a whole number of points"
    )


def _series_to_json(values: NDArray[np.float64]) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _one_of(names: Sequence[str]) -> Rule:
    allowed = frozenset(names)

    def check(value: Any) -> str:
        if isinstance(value, str) and value in allowed:
            return value
        raise SceneError(f"{value!r} is not one of {', '.join(names)}")

    return Rule(check, {"enum": list(names)})


def _nullable(rule: Rule) -> Rule:
    return Rule(
        lambda value: None if value is None else rule.check(value),
        {"anyOf": [rule.schema, {"type": "null"}]},
        lambda value: None if value is None else rule.encode(value),
        lambda value: None if value is None else rule.decode(value),
    )


def _at_least(rule: Rule, low: int) -> Rule:
    def check(value: Any) -> Any:
        number = rule.check(value)
        if number < low:
            raise SceneError(f"{value!r} is less than {low}")
        return number

    return Rule(check, {**rule.schema, "minimum": low})


_COLOR_SCHEMA = {"type": "string", "pattern": "^#[0-9a-f]{8}$"}
WHOLE = Rule(_whole, {"type": "integer"})
NUMBER = Rule(_number, {"type": "number"})
COLOR = Rule(_color, _COLOR_SCHEMA)

Whole = Annotated[int, WHOLE]
Count = Annotated[int, _at_least(WHOLE, 0)]
Number = Annotated[float, NUMBER]
Positive = Annotated[float, _at_least(NUMBER, 0)]
MaybeWhole = Annotated[int | None, _nullable(WHOLE)]
MaybeNumber = Annotated[float | None, _nullable(NUMBER)]
Text = Annotated[str, Rule(_text, {"type": "string"})]
MaybeText = Annotated[str | None, _nullable(Rule(_text, {"type": "string"}))]
Flag = Annotated[bool, Rule(_flag, {"type": "boolean"})]
MaybeColor = Annotated[str | None, _nullable(COLOR)]
Series = Annotated[
    NDArray[np.float64],
    Rule(_series, {"type": "array", "items": {"type": ["number", "null"]}}, _series_to_json),
]
# One colour for the whole plot, or one for each bar or dot (None: not drawn).
Paint = Annotated[str | tuple[str | None, ...], Rule(_paint, {})]
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


def rules(value_type: type) -> Mapping[str, Rule]:
    """The rule of each field, in order."""
    if value_type not in _rules:
        hints = get_type_hints(value_type, include_extras=True)
        _rules[value_type] = {f.name: hints[f.name].__metadata__[0] for f in fields(value_type)}
    return _rules[value_type]


class Value:
    """A frozen record whose fields are checked when it is made."""

    def __post_init__(self) -> None:
        for name, rule in rules(type(self)).items():
            value = getattr(self, name)
            try:
                checked = rule.check(value)
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
        try:
            return cls(**{name: known[name].decode(value) for name, value in data.items()})
        except TypeError:
            needed = [f.name for f in fields(cls) if f.default is MISSING]  # type: ignore[arg-type]
            missing = [name for name in needed if name not in data]
            raise SceneError(f"{cls.__name__}: {', '.join(missing)} missing") from None

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
        if "colors" in rest:
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


@dataclass(frozen=True, eq=False, kw_only=True)
class DotPlot(Plot):
    """Dots on bars; `color` may be one colour for each dot."""

    kind = "dot"
    points: Annotated[tuple[Point, ...], _list_of(_record(Point))]


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
    return MappingProxyType({name: _whole(count) for name, count in value.items()})


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
    signals: Annotated[tuple[Signal, ...], _list_of(_record(Signal))] = ()
    labels: Annotated[tuple[Label, ...], _list_of(_record(Label))] = ()
    lines: Annotated[tuple[Line, ...], _list_of(_record(Line))] = ()
    boxes: Annotated[tuple[Box, ...], _list_of(_record(Box))] = ()
    tables: Annotated[tuple[Table, ...], _list_of(_record(Table))] = ()
    y_range: Annotated[tuple[float, float] | None, _RANGE] = None
    label: MaybeText = None
    limits: Annotated[Mapping[str, int], _COUNTS] = field(default_factory=dict)
    evicted: Annotated[Mapping[str, int], _COUNTS] = field(default_factory=dict)

    def cut(self, first: int) -> Self:
        """The scene as seen from bar `first` on: bars are counted anew, earlier ones are gone.

        Objects that begin earlier stay, at negative bars, because they may reach into view.
        """
        if first <= 0:
            return self
        return replace(
            self,
            plots=tuple(_cut_plot(plot, first) for plot in self.plots),
            signals=tuple(
                replace(each, bar=each.bar - first, confirmed_bar=each.confirmed_bar - first)
                for each in self.signals
                if each.bar >= first
            ),
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


def _cut_plot(plot: Plot, first: int) -> Plot:
    if isinstance(plot, DotPlot):
        kept = [i for i, point in enumerate(plot.points) if point.x >= first]
        points = tuple(replace(plot.points[i], x=plot.points[i].x - first) for i in kept)
        color = plot.color if isinstance(plot.color, str) else tuple(plot.color[i] for i in kept)
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
