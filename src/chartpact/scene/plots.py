"""The kinds of plots: lines, columns, fills, dots, levels, lying bars and divergence lines."""

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
    Flag,
    Json,
    LineStyle,
    Measure,
    Number,
    Offset,
    OnePaint,
    Paint,
    PlotStyle,
    Positive,
    Series,
    Side,
    Text,
    TextOrNone,
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
    _columns: ClassVar[tuple[str, ...]] = ()  # the fields that have a value for each bar or dot
    title: Text = ""
    color: Paint = "blue"
    provisional: Flag = False  # it may change when bars are added

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kinds = {name: one.kind for name, one in cls.field_types.items() if name not in cls.beyond}
        cls._columns = tuple(name for name, kind in kinds.items() if kind in ("series", "array"))

    def __post_init__(self) -> None:
        super().__post_init__()
        lengths = {name: len(getattr(self, name)) for name in self._columns}
        if not isinstance(self.color, str):
            lengths["color"] = len(self.color)
        if len(set(lengths.values())) > 1:
            counts = " and ".join(f"{count} {name}" for name, count in lengths.items())
            raise SceneError(f"{type(self).__name__}: {counts} do not fit together")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plot) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.kind, self.title))

    def to_json(self) -> dict[str, Json]:
        data: dict[str, Json] = {"kind": self.kind, **super().to_json()}
        if not isinstance(self.color, str):
            data["colors"] = list(self.color)
            del data["color"]
        return data

    @classmethod
    def from_json(cls, data: Json) -> Self:
        if not isinstance(data, Mapping):
            raise SceneError(f"{shown(data)} is not a plot")
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
        properties["color"] = {"anyOf": [COLOR_SCHEMA, {"const": palette.AUTO}]}
        if not cls._columns:
            return {**schema, "properties": properties, "required": ["kind", *schema["required"]]}
        properties["colors"] = {
            "type": "array",
            "items": {"anyOf": [COLOR_SCHEMA, {"type": "null"}]},
        }
        return {
            **schema,
            "properties": properties,
            "required": ["kind", *(name for name in schema["required"] if name != "color")],
            "oneOf": [{"required": ["color"]}, {"required": ["colors"]}],
        }


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
        for plot in (LinePlot, BarsPlot, FillPlot, DotPlot, HLinePlot, HBarPlot, DivLinePlot)
    }
)
