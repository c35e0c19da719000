"""The series of a scene: what it drew with one value for each bar, by name."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact.drawing import SceneError
from chartpact.scene.plots import BarsPlot, CandlesPlot, LinePlot, Plot
from chartpact.scene.signals import Signals

Series = NDArray[np.float64]


def series_of(
    plots: Sequence[Plot], signals: Signals, count: int | None = None
) -> dict[str, Series]:
    """Lines, columns and candles by their titles, and signals by their names.

    A signal stands on the bar on which it became known, with its value. Dots and shapes without a
    name are left out, because they may be drawn before the bar on which they became known. `count`
    is the number of bars, for scenes that draw no line.
    """
    lengths = {len(values) for plot in plots for _, values in _values(plot)}
    if count is None:
        if not lengths and len(signals):
            raise SceneError("the scene has no line that tells the number of bars: give the times")
        count = max(lengths, default=0)
    if lengths - {count}:
        raise SceneError(f"the scene has {max(lengths)} bars, and {count} times were given")
    series: dict[str, Series] = {}
    for plot in plots:
        for name, values in _values(plot):
            series[_free(name, series)] = values
    names = np.array([signal.name for signal in signals], object)
    for name in dict.fromkeys(names.tolist()):
        own = names == name
        values = np.where(np.isnan(signals.value[own]), 1.0, signals.value[own])
        series[_free(f"signal {name}", series)] = _spread(signals.confirmed_bar[own], values, count)
    return series


def _values(plot: Plot) -> Iterator[tuple[str, Series]]:
    name = plot.title or plot.kind
    if isinstance(plot, LinePlot | BarsPlot):
        yield name, plot.values
    elif isinstance(plot, CandlesPlot):
        for price, type_ in plot.field_types.items():
            if type_.kind == "series":
                yield f"{name} {price}", getattr(plot, price)


def _spread(bars: NDArray[Any], values: Series, count: int) -> Series:
    """A series with these values at these bars, NaN at all others."""
    series = np.full(count, np.nan)
    inside = (bars >= 0) & (bars < count)
    series[bars[inside].astype(np.int64)] = values[inside]
    return series


def _free(name: str, taken: dict[str, Series]) -> str:
    """The name, numbered where another series has it."""
    number, free = 1, name
    while free in taken:
        number, free = number + 1, f"{name} {number + 1}"
    return free
