"""The scene itself: everything that one indicator drew on one run of bars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, Self, cast

from chartpact.scene.checks import number
from chartpact.scene.cut import cut_plots, cut_signals, moved
from chartpact.scene.fields import COUNT, MaybeText
from chartpact.scene.objects import Box, Label, Line, Table
from chartpact.scene.plots import PLOTS, Plot
from chartpact.scene.rows import rows
from chartpact.scene.rule import Json, Rule, SceneError, list_of, nullable
from chartpact.scene.signals import Signal, Signals
from chartpact.scene.values import Value, record

SCHEMA_ID = "urn:chartpact:schema:scene:1"
CHANNELS = ("labels", "lines", "boxes", "tables")


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
        low, high = number(value[0]), number(value[1])
        if low < high:
            return (low, high)
    raise SceneError(f"{value!r:.60} is not a range (low, high) with low < high")


_RANGE = nullable(
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

    plots: Annotated[tuple[Plot, ...], list_of(_ANY_PLOT)] = ()
    signals: Annotated[Sequence[Signal], rows(Signals)] = ()
    labels: Annotated[tuple[Label, ...], list_of(record(Label))] = ()
    lines: Annotated[tuple[Line, ...], list_of(record(Line))] = ()
    boxes: Annotated[tuple[Box, ...], list_of(record(Box))] = ()
    tables: Annotated[tuple[Table, ...], list_of(record(Table))] = ()
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
            plots=cut_plots(self.plots, first),
            signals=cut_signals(cast(Signals, self.signals), first),
            labels=tuple(replace(each, x=moved(each.x, first)) for each in self.labels),
            lines=tuple(
                replace(each, x1=moved(each.x1, first), x2=moved(each.x2, first))
                for each in self.lines
            ),
            boxes=tuple(
                replace(each, left=moved(each.left, first), right=moved(each.right, first))
                for each in self.boxes
            ),
        )


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
