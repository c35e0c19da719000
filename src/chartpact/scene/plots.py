"""The kinds of plots: lines, columns, fills, candles, dots, shapes, levels, colours of bars …"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from chartpact import palette
from chartpact.arrays import NOTHING
from chartpact.checks import shown
from chartpact.drawing.fieldtypes import (
    COLOR_SCHEMA,
    BorderStyle,
    Color,
    Flag,
    Json,
    LineStyle,
    Location,
    Measure,
    Number,
    Offset,
    OnePaint,
    Paint,
    PaintOrNone,
    PlotStyle,
    Positive,
    Price,
    Series,
    ShapeName,
    ShapeSize,
    Side,
    Text,
    TextOrNone,
    Tint,
    Whole,
)
from chartpact.drawing.record import Record, SceneError
from chartpact.drawing.recordarray import RecordArray, array_type
from chartpact.textcolumn import TextColumn


@dataclass(frozen=True, eq=False, kw_only=True)
class Plot(Record):
    """What every plot has: a title and its colour."""

    kind: ClassVar[str]
    optional: ClassVar[tuple[str, ...]] = ("provisional",)
    beyond: ClassVar[tuple[str, ...]] = ()  # series that lie right of the last bar
    paints: ClassVar[tuple[str, ...]] = ()  # fields with one colour, or one for each bar or dot
    _columns: ClassVar[tuple[str, ...]] = ()  # fields with a value for each bar or dot
    title: Text = ""
    color: Paint = "blue"
    provisional: Flag = False  # it may change when bars are added

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kinds = {name: one.kind for name, one in cls.field_types.items() if name not in cls.beyond}
        cls._columns = tuple(name for name, kind in kinds.items() if kind in ("series", "array"))
        cls.paints = tuple(name for name, kind in kinds.items() if kind == "paint")

    def __post_init__(self) -> None:
        super().__post_init__()
        lengths = {name: len(getattr(self, name)) for name in self._columns}
        paints = {name: getattr(self, name) for name in self.paints}
        lengths |= {name: len(one) for name, one in paints.items() if isinstance(one, TextColumn)}
        if len(set(lengths.values())) > 1:
            counts = " and ".join(f"{count} {name}" for name, count in lengths.items())
            raise SceneError(f"{type(self).__name__}: {counts} do not fit together")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plot) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.kind, self.title))

    def to_json(self) -> dict[str, Json]:
        data: dict[str, Json] = {"kind": self.kind, **super().to_json()}
        for name in self.paints:  # in JSON, a list of colours has a plural name
            if name in data and not isinstance(data[name], str):
                data[f"{name}s"] = list(data.pop(name))
        return data

    @classmethod
    def from_json(cls, data: Json) -> Self:
        if not isinstance(data, Mapping):
            raise SceneError(f"{shown(data)} is not a plot")
        rest = {name: value for name, value in data.items() if name != "kind"}
        for one in cls.paints:
            many = f"{one}s"
            is_one = isinstance(rest.get(one, ""), str | None)
            if isinstance(rest.get(many, []), str) or not is_one:
                raise SceneError(f"{cls.__name__}: {one} is one colour, {many} is a list of them")
            if many in rest:
                if one in rest:
                    raise SceneError(f"{cls.__name__}: there is {one} or {many}, not both")
                rest[one] = rest.pop(many)
        return super().from_json(rest)

    @classmethod
    def schema(cls) -> dict[str, Json]:
        schema = super().schema()
        properties = {"kind": {"const": cls.kind}, **schema["properties"]}
        required = ["kind", *schema["required"]]
        if not cls.paints:
            return {**schema, "properties": properties, "required": required}
        required.remove("color")
        for name in cls.paints:
            properties[f"{name}s"] = _COLORS_SCHEMA
        schema |= {"properties": properties, "required": required}
        schema["oneOf"] = [{"required": ["color"]}, {"required": ["colors"]}]
        if either := [{"not": {"required": [name, f"{name}s"]}} for name in cls.paints[1:]]:
            schema["allOf"] = either
        return schema


_COLORS_SCHEMA = {"type": "array", "items": {"anyOf": [COLOR_SCHEMA, {"type": "null"}]}}


@dataclass(frozen=True, eq=False, kw_only=True)
class LinePlot(Plot):
    """A value for each bar; `ahead` is what is drawn right of the last bar, bar by bar."""

    kind = "line"
    optional = ("provisional", "ahead")
    beyond = ("ahead",)
    values: Series
    width: Measure = 1
    style: PlotStyle = "line"
    ahead: Series = field(default_factory=lambda: NOTHING)


def displace(
    values: NDArray[np.float64], by: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A series drawn `by` bars to the right: its values by bar, and what lies ahead of the last.

    >>> displace(np.array([1.0, 2.0, 3.0]), 2)
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
    optional = ("provisional", "a_ahead", "b_ahead")
    beyond = ("a_ahead", "b_ahead")
    a: Series
    b: Series
    alpha: Positive = 0.2
    a_ahead: Series = field(default_factory=lambda: NOTHING)
    b_ahead: Series = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, eq=False, kw_only=True)
class CandlesPlot(Plot):
    """Candles of an indicator's own; wicks and borders have the colour of the body by default."""

    kind = "candles"
    optional = ("provisional", "wick_color", "border_color")
    color: Paint = palette.AUTO
    open: Series
    high: Series
    low: Series
    close: Series
    wick_color: PaintOrNone = None
    border_color: PaintOrNone = None


@dataclass(frozen=True, eq=False, kw_only=True)
class BackgroundPlot(Plot):
    """The background of the indicator's pane, in a colour for each bar."""

    kind = "background"
    color: Tint = "blue"


@dataclass(frozen=True, eq=False, kw_only=True)
class BarColorPlot(Plot):
    """The colours of the chart's own bars; a bar without one keeps its own."""

    kind = "bar_color"
    color: Tint = "blue"


@dataclass(frozen=True)
class Point(Record):
    """One dot: its bar, its height, its size in pixels and, where it is a signal, the name."""

    x: Whole
    y: Number
    size: Measure = 4
    label: TextOrNone = None


class Points(RecordArray[Point]):
    """Dots as columns: `Points(x=bars, y=heights, size=6, label="buy")`."""

    record = Point
    x: NDArray[np.int64]
    y: NDArray[np.float64]
    size: NDArray[np.float64]
    label: TextColumn


@dataclass(frozen=True, eq=False, kw_only=True)
class DotPlot(Plot):
    """Dots on bars; `color` may be one colour for each dot."""

    kind = "dot"
    points: Annotated[Sequence[Point], array_type(Points)]

    @property
    def columns(self) -> Points:
        """The dots as columns, for who draws many."""
        return cast(Points, self.points)


@dataclass(frozen=True)
class Mark(Record):
    """One shape: its bar, its height where its location is absolute, and its text."""

    x: Whole
    y: Price = None
    text: Text = ""


class Marks(RecordArray[Mark]):
    """Shapes as columns."""

    record = Mark
    x: NDArray[np.int64]
    y: NDArray[np.float64]
    text: TextColumn


@dataclass(frozen=True, eq=False, kw_only=True)
class ShapePlot(Plot):
    """Shapes above, below or on bars, or at the top or bottom; `color` may be one for each."""

    kind = "shape"
    optional = ("provisional", "text_color")
    points: Annotated[Sequence[Mark], array_type(Marks)]
    shape: ShapeName = "xcross"
    location: Location = "abovebar"
    size: ShapeSize = "auto"
    text_color: Color = None  # by default that of the shape

    @property
    def columns(self) -> Marks:
        """The shapes as columns."""
        return cast(Marks, self.points)


@dataclass(frozen=True, eq=False, kw_only=True)
class HLinePlot(Plot):
    """A level across the whole pane."""

    kind = "hline"
    color: OnePaint = "blue"
    y: Number
    style: BorderStyle = "solid"


@dataclass(frozen=True, eq=False, kw_only=True)
class HBarPlot(Plot):
    """A bar of a profile, lying; `width` and `offset` are shares of the pane, from its `side`."""

    kind = "hbar"
    color: OnePaint = "blue"
    y: Number
    height: Positive
    width: Measure
    offset: Offset = 0
    side: Side = "left"


@dataclass(frozen=True, eq=False, kw_only=True)
class DivLinePlot(Plot):
    """A straight line between two points of the pane, such as a divergence."""

    kind = "divline"
    color: OnePaint = "blue"
    x1: Whole
    y1: Number
    x2: Whole
    y2: Number
    style: LineStyle = "solid"


PLOTS: Mapping[str, type[Plot]] = MappingProxyType(
    {
        plot.kind: plot
        for plot in (
            LinePlot,
            BarsPlot,
            FillPlot,
            CandlesPlot,
            BackgroundPlot,
            BarColorPlot,
            DotPlot,
            ShapePlot,
            HLinePlot,
            HBarPlot,
            DivLinePlot,
        )
    }
)
