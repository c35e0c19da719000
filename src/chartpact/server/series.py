"""A chart as typed columns for the web page: a JSON head, then arrays, each of them once.

The answer is a packet of `chartpact.sandbox.wire`. A column stands in the head as `{"$": NUMBER}`,
its place among the arrays. A colour for each bar is `{"palette": […], "codes": COLUMN}`.

A whole answer has the times of all bars and everything that is not a value for each bar. A part has
the values of a range of bars alone, for a page that has the rest.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact.charts import Chart
from chartpact.drawing import CHANNELS
from chartpact.drawing.fieldtypes import SERIES
from chartpact.drawing.recordarray import RecordArray
from chartpact.prices import STORED
from chartpact.render.titles import name_of
from chartpact.sandbox import wire
from chartpact.scene import Drawn, Scene
from chartpact.scene.plots import Plot
from chartpact.textcolumn import TextColumn


class Columns:
    """The arrays of a packet; equal ones are stored once."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, bytes], int] = {}
        self._columns: list[wire.Column] = []

    def put(self, values: NDArray[Any], dtype: str) -> dict[str, Any]:
        """Stores an array and returns what stands for it in the head."""
        column = np.ascontiguousarray(values, f"<{dtype}")
        number = self._numbers.setdefault((dtype, column.tobytes()), len(self._columns))
        if number == len(self._columns):
            self._columns.append(column)
        return {"$": number}

    def put_numbers(self, values: NDArray[Any]) -> dict[str, Any]:
        return self.put(values, "f8")

    def put_texts(self, column: TextColumn) -> dict[str, Any]:
        codes = self.put(column.codes, "u1" if len(column.categories) <= 1 << 8 else "u2")
        return {"palette": list(column.categories), "codes": codes}

    def join(self, head: dict[str, Any]) -> bytes:
        return b"".join(wire.encode(head, self._columns))


def encode(chart: Chart, first: int, last: int, *, part: bool = False) -> bytes:
    """The chart with the values of the bars from `first` to before `last`."""
    bars, columns = chart.bars, Columns()
    view = slice(first, last)
    names = STORED if part else ("time", *STORED)
    prices = {
        name: columns.put_numbers(getattr(bars, name)[slice(None) if name == "time" else view])
        for name in names
    }
    head: dict[str, Any] = {"first": first, "count": len(bars), "bars": prices}
    if not part:
        head |= {
            "symbol": bars.symbol,
            "timeframe": bars.timeframe,
            "synthetic": bars.synthetic,
            "source": bars.source,
            "tick_size": bars.tick_size,
            "trend": chart.trend,
        }
    head["indicators"] = [_indicator(drawn, view, columns, part) for drawn in chart.drawn]
    return columns.join(head)


def _indicator(drawn: Drawn, view: slice, columns: Columns, part: bool) -> dict[str, Any]:
    scene = drawn.scene
    data: dict[str, Any] = {"id": drawn.id, "name": drawn.name}
    if part:
        if scene is not None:
            data["plots"] = [_series(plot, view, columns) for plot in scene.plots]
        return data
    data |= {"params": dict(drawn.params), "title": drawn.title or drawn.name}
    if drawn.steps is not None:
        data["steps"] = drawn.steps
    if drawn.cpu_ms is not None:
        data["cpu_ms"] = round(drawn.cpu_ms, 1)
    if scene is None:
        return data | {"error": drawn.error.to_json() if drawn.error else None}
    legend = name_of(drawn, scene)
    return data | {
        "overlay": drawn.overlay,
        "legend": legend,
        "scene": _scene(scene, view, columns),
    }


def _scene(scene: Scene, view: slice, columns: Columns) -> dict[str, Any]:
    objects = {
        channel: [drawn.to_json() for drawn in getattr(scene, channel)] for channel in CHANNELS
    }
    plots = [_plot(plot, columns) | _series(plot, view, columns) for plot in scene.plots]
    return {"plots": plots, "y_range": scene.y_range, "label": scene.label, **objects}


def _is_by_bar(plot: Plot, name: str) -> bool:
    """Whether a field of a plot has something for each bar."""
    value = getattr(plot, name)
    if name in plot.paints:
        return isinstance(value, TextColumn) and not hasattr(plot, "points")
    return plot.field_types[name] is SERIES and name not in plot.beyond


def _series(plot: Plot, view: slice, columns: Columns) -> dict[str, Any]:
    """The fields of a plot that have something for each bar, within a range of bars."""
    data = {}
    for name in plot.field_types:
        if _is_by_bar(plot, name):
            value = getattr(plot, name)[view]
            paint = isinstance(value, TextColumn)
            data[name] = columns.put_texts(value) if paint else columns.put_numbers(value)
    return data


def _plot(plot: Plot, columns: Columns) -> dict[str, Any]:
    """The other fields of a plot."""
    data: dict[str, Any] = {"kind": plot.kind}
    for name in plot.field_types:
        value = getattr(plot, name)
        if _is_by_bar(plot, name):
            continue
        if isinstance(value, RecordArray):
            data |= {column: _column(getattr(value, column), columns) for column in value.names}
        elif isinstance(value, np.ndarray | TextColumn):
            data[name] = _column(value, columns)
        else:
            data[name] = value
    return data


def _column(values: NDArray[Any] | TextColumn, columns: Columns) -> dict[str, Any]:
    if isinstance(values, TextColumn):
        return columns.put_texts(values)
    return columns.put_numbers(values)
