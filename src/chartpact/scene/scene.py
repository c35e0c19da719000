"""The scene itself: everything that one indicator drew on one run of bars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chartpact import frames
from chartpact.checks import Unfit, number, shown
from chartpact.drawing import (
    CHANNELS,
    Box,
    Label,
    Line,
    Linefill,
    Polyline,
    Record,
    SceneError,
    Table,
)
from chartpact.drawing.fieldtypes import COUNT, FieldType, Json, TextOrNone, list_of, nullable
from chartpact.drawing.record import record_type
from chartpact.drawing.recordarray import array_type
from chartpact.scene.cut import cut_objects, cut_plots, cut_signals
from chartpact.scene.plots import PLOTS, Plot
from chartpact.scene.series import series_of
from chartpact.scene.signals import Signal, Signals

SCHEMA_ID = "urn:chartpact:schema:scene:1"


def _plot(value: Any) -> Plot:
    if isinstance(value, Plot):
        return value
    raise Unfit("is not a plot", value)


def _plot_from_json(data: Json) -> Plot:
    kind = data.get("kind") if isinstance(data, Mapping) else None
    if not isinstance(kind, str) or kind not in PLOTS:
        raise SceneError(f"{shown(kind)} is not a kind of plot: {', '.join(PLOTS)}")
    return PLOTS[kind].from_json(data)


def _range(value: Any) -> tuple[float, float]:
    if isinstance(value, Sequence) and len(value) == 2:
        low, high = number(value[0]), number(value[1])
        if low < high:
            return (low, high)
    raise Unfit("is not a range (low, high) with low < high", value)


def _counts(value: Any) -> Mapping[str, int]:
    if not isinstance(value, Mapping) or not set(value) <= set(CHANNELS):
        raise Unfit(f"does not map {', '.join(CHANNELS)} to counts", value)
    return MappingProxyType({name: COUNT.check(count) for name, count in value.items()})


_PLOT = FieldType(
    "plot",
    _plot,
    {"oneOf": [plot.schema() for plot in PLOTS.values()]},
    encode=lambda plot: plot.to_json(),
    decode=_plot_from_json,
)
_RANGE = FieldType(
    "range",
    _range,
    {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    encode=list,
)
_COUNTS = FieldType(
    "counts",
    _counts,
    {
        "type": "object",
        "properties": {name: {"type": "integer", "minimum": 0} for name in CHANNELS},
        "additionalProperties": False,
    },
    encode=dict,
)


@dataclass(frozen=True)
class Scene(Record):
    """Everything one indicator drew on one run of bars.

    `limits` is how many objects of a channel may live, `evicted` how many left because of it.
    """

    optional = ("polylines", "linefills")
    plots: Annotated[tuple[Plot, ...], list_of(_PLOT)] = ()
    signals: Annotated[Sequence[Signal], array_type(Signals)] = ()
    labels: Annotated[tuple[Label, ...], list_of(record_type(Label))] = ()
    lines: Annotated[tuple[Line, ...], list_of(record_type(Line))] = ()
    boxes: Annotated[tuple[Box, ...], list_of(record_type(Box))] = ()
    tables: Annotated[tuple[Table, ...], list_of(record_type(Table))] = ()
    polylines: Annotated[tuple[Polyline, ...], list_of(record_type(Polyline))] = ()
    linefills: Annotated[tuple[Linefill, ...], list_of(record_type(Linefill))] = ()
    y_range: Annotated[tuple[float, float] | None, nullable(_RANGE)] = None
    label: TextOrNone = None
    limits: Annotated[Mapping[str, int], _COUNTS] = field(default_factory=dict, hash=False)
    evicted: Annotated[Mapping[str, int], _COUNTS] = field(default_factory=dict, hash=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Scene.from_json, (self.to_json(),)

    def to_pandas(self, time: ArrayLike | None = None) -> Any:
        """A pandas DataFrame of its lines, columns and candles, and of its signals when known.

        The rows are bars, indexed by `time` where their times are given, as in
        `scene.to_pandas(bars.time)`. Lines that are `provisional` may change with later bars.
        """
        times = None if time is None else np.asarray(time)
        return frames.to_pandas(self.series(None if times is None else len(times)), times)

    def to_polars(self, time: ArrayLike | None = None) -> Any:
        """The polars DataFrame of the same."""
        times = None if time is None else np.asarray(time)
        return frames.to_polars(self.series(None if times is None else len(times)), times)

    def series(self, count: int | None = None) -> dict[str, NDArray[np.float64]]:
        """Its lines, columns, candles and signals by name; `count` is the number of bars."""
        return series_of(self.plots, cast(Signals, self.signals), count)

    def cut(self, first: int) -> Self:
        """The scene as seen from bar `first` on, which is then bar 0.

        What begins earlier and may reach into view stays, at negative bars.
        """
        if first <= 0:
            return self
        objects: dict[str, Any] = {
            channel: cut_objects(getattr(self, channel), first) for channel in CHANNELS
        }
        signals = cut_signals(cast(Signals, self.signals), first)
        return replace(self, plots=cut_plots(self.plots, first), signals=signals, **objects)


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
