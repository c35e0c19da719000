"""What is left of plots, signals and objects when a scene is seen from a later bar on."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from chartpact.scene.objects import Anchor
from chartpact.scene.plots import DivLinePlot, DotPlot, Plot
from chartpact.scene.signals import Signals


def cut_plots(plots: Iterable[Plot], first: int) -> tuple[Plot, ...]:
    return tuple(_cut(plot, first) for plot in plots if _reaches(plot, first))


def _reaches(plot: Plot, first: int) -> bool:
    return not isinstance(plot, DivLinePlot) or max(plot.x1, plot.x2) >= first


def _cut(plot: Plot, first: int) -> Plot:
    if isinstance(plot, DotPlot):
        kept = np.flatnonzero(plot.columns.x >= first)
        points = plot.columns.at(kept, x=plot.columns.x[kept] - first)
        color = plot.color if isinstance(plot.color, str) else plot.color.take(kept)
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


def cut_signals(signals: Signals, first: int) -> Signals:
    """Those drawn or first known in view: a divergence is known some bars after its dot."""
    kept = np.flatnonzero(np.maximum(signals.bar, signals.confirmed_bar) >= first)
    return signals.at(
        kept, bar=signals.bar[kept] - first, confirmed_bar=signals.confirmed_bar[kept] - first
    )


def moved(place: Anchor, first: int) -> Anchor:
    if place.bar is None:
        return place
    n = None if place.n is None else place.n - first
    return Anchor(n, place.bar - first, place.time)
