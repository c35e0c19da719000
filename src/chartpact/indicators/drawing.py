"""Plots for builtins, from raw series and conditions."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact import palette
from chartpact.indicators import ink
from chartpact.scene import (
    BarsPlot,
    DotPlot,
    FillPlot,
    HLinePlot,
    LinePlot,
    Plot,
    Points,
    Scene,
    signals_of,
)
from chartpact.textcolumn import TextColumn

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
faded = palette.with_alpha


def finite(values: Floats) -> Floats:
    """The series with infinite values as missing ones."""
    infinite = np.isinf(values)
    if infinite.any():
        values = np.where(infinite, np.nan, values)
    values.flags.writeable = False  # so that plots may share it
    return values


def line(title: str, values: Floats, color: Any, width: float = 1, **rest: Any) -> LinePlot:
    return LinePlot(title=title, values=finite(values), color=color, width=width, **rest)


def columns(title: str, values: Floats, color: Any, base: float = 0) -> BarsPlot:
    return BarsPlot(title=title, values=finite(values), color=color, base=base)


def fill(a: Floats, b: Floats, color: str | TextColumn, alpha: float, **rest: Any) -> FillPlot:
    return FillPlot(a=finite(a), b=finite(b), color=color, alpha=alpha, **rest)


def level(y: float, color: str = ink.GRAY, style: str = "dashed", title: str = "") -> HLinePlot:
    return HLinePlot(y=y, color=color, style=style, title=title)


def across(y: float, bars: int) -> Floats:
    """A level as a series, for fills."""
    return np.full(bars, float(y))


def marks(where: Bools, y: Floats, color: str, size: float, label: str) -> DotPlot:
    """A labelled dot on each bar where the condition holds; y is known there."""
    return dots(np.flatnonzero(where), y, color, size, label)


def dots(at: NDArray[np.intp], y: Floats, color: str, size: float, label: str) -> DotPlot:
    """A labelled dot on each of these bars."""
    return DotPlot(points=Points(x=at, y=y[at], size=size, label=label), color=color)


def paint(choice: NDArray[Any], colors: Sequence[str | None]) -> TextColumn:
    """A colour for each bar: the one its number chooses."""
    return TextColumn(colors, np.asarray(choice))


def scene(
    label: str,
    *plots: Plot,
    y_range: tuple[float, float] | None = None,
    lag: Mapping[str, int] = MappingProxyType({}),
) -> Scene:
    """The scene of these plots, its signals read off the labelled dots."""
    return Scene(plots=plots, signals=signals_of(plots, lag), label=label, y_range=y_range)
