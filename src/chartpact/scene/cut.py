"""The plots, signals and objects of a scene that is seen from a later bar on."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from chartpact.drawing import Anchor, DrawnObject, Polyline
from chartpact.drawing.fieldtypes import SERIES
from chartpact.scene.plots import DivLinePlot, DotPlot, Plot, ShapePlot
from chartpact.scene.signals import Signals
from chartpact.textcolumn import TextColumn

T = TypeVar("T", bound=DrawnObject)


def cut_plots(plots: Iterable[Plot], first: int) -> tuple[Plot, ...]:
    return tuple(_cut(plot, first) for plot in plots if _is_in_view(plot, first))


def _is_in_view(plot: Plot, first: int) -> bool:
    return not isinstance(plot, DivLinePlot) or max(plot.x1, plot.x2) >= first


def _cut(plot: Plot, first: int) -> Plot:
    if isinstance(plot, DotPlot | ShapePlot):
        rows = np.flatnonzero(plot.columns.x >= first)
        points = plot.columns.take(rows, x=plot.columns.x[rows] - first)
        color = plot.color if isinstance(plot.color, str) else plot.color.take(rows)
        moved: dict[str, Any] = {"points": points, "color": color}
        return replace(plot, **moved)
    if isinstance(plot, DivLinePlot):
        return replace(plot, x1=plot.x1 - first, x2=plot.x2 - first)
    changes: dict[str, Any] = {
        name: getattr(plot, name)[first:]
        for name, type_ in plot.field_types.items()
        if type_ is SERIES and name not in plot.beyond
    }
    for name in plot.paints:
        if isinstance(paint := getattr(plot, name), TextColumn):
            changes[name] = paint[first:]
    return replace(plot, **changes) if changes else plot


def cut_signals(signals: Signals, first: int) -> Signals:
    """The signals drawn or first known in view: a divergence is known some bars after its dot."""
    rows = np.flatnonzero(np.maximum(signals.bar, signals.confirmed_bar) >= first)
    return signals.take(
        rows, bar=signals.bar[rows] - first, confirmed_bar=signals.confirmed_bar[rows] - first
    )


def cut_objects(objects: Iterable[T], first: int) -> tuple[T, ...]:
    return tuple(drawn.assemble(vars(drawn) | _moved_places(drawn, first)) for drawn in objects)


def _moved_places(drawn: DrawnObject, first: int) -> dict[str, Any]:
    if isinstance(drawn, Polyline):
        return {"points": drawn.columns.replace(bar=drawn.columns.bar - first)}
    return {name: _move(getattr(drawn, name), first) for name in drawn.places}


def _move(place: Anchor, first: int) -> Anchor:
    if place.bar is None:
        return place
    n = None if place.n is None else place.n - first
    return Anchor(n, place.bar - first, place.time)
