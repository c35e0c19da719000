"""What an indicator drew on the first bars of a chart, in a form that can be compared."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from chartpact import palette
from chartpact.lookahead.objects import ABOVE, PlacedObject, place
from chartpact.lookahead.rounding import AUTO, Array
from chartpact.scene import Scene
from chartpact.scene.plots import (
    BackgroundPlot,
    BarColorPlot,
    BarsPlot,
    DivLinePlot,
    DotPlot,
    HBarPlot,
    HLinePlot,
    Plot,
    ShapePlot,
)
from chartpact.textcolumn import TextColumn

NO_DOTS: Array = np.empty((3, 0))
_OBJECTS = ("labels", "lines", "boxes", "polylines")


@dataclass
class PrefixDrawing:
    """What an indicator drew on the first `size` bars, as it is compared."""

    size: int
    series: dict[str, list[Array]] = field(default_factory=dict)
    tints: set[str] = field(default_factory=set)  # the series that are colours
    colors: dict[str, Array] = field(default_factory=dict)  # of plots with one for each bar
    dots: dict[str, Array] = field(default_factory=dict)  # and shapes: bars, heights and colours
    levels: dict[str, list[float]] = field(default_factory=dict)
    signals: set[str] = field(default_factory=set)  # the names of signals, as events have them
    events: set[tuple[str, int]] = field(default_factory=set)  # signals, by name and bar
    told: dict[tuple[str, int], int] = field(default_factory=dict)  # the delays of signals
    titles: dict[str, list[str]] = field(default_factory=dict)  # of all plots, by their kinds
    objects: list[PlacedObject] = field(default_factory=list)
    provisional: set[str] = field(default_factory=set)


def trace(scene: Scene, size: int, titles: Mapping[str, list[str]]) -> PrefixDrawing:
    """What is compared of a scene; `titles` are those of the whole chart's plots, by kind."""
    picture = PrefixDrawing(size)
    for plot in scene.plots:
        picture.titles.setdefault(plot.kind, []).append(plot.title)
    retitled = {
        kind: iter(_retitle(own, titles.get(kind, own))) for kind, own in picture.titles.items()
    }
    names: Counter[str] = Counter()
    parts: dict[str, list[Array]] = {}
    for plot in scene.plots:
        title = next(retitled[plot.kind])
        what = f"{plot.kind} {title!r}" if title else plot.kind
        if plot.provisional:
            picture.provisional.add(what)
        elif isinstance(plot, HLinePlot | HBarPlot):
            picture.levels.setdefault(what, []).append(plot.y)
        elif isinstance(plot, DivLinePlot):
            points = ((plot.x1, plot.y1), (plot.x2, plot.y2))
            picture.objects.append(PlacedObject(what, tuple(sorted(points)), (), False))
        elif isinstance(plot, DotPlot | ShapePlot):
            parts.setdefault(what, []).append(_dots(plot, size))
            if isinstance(plot, ShapePlot):
                texts = zip(plot.columns.text, plot.columns.x.tolist(), strict=True)
                picture.events.update((f"{what} {text!r}", bar) for text, bar in texts if text)
        else:
            names[what] += 1
            number = f" ({names[what]})" if names[what] > 1 else ""
            picture.series[what + number] = list(_columns(plot))
            picture.colors.update(_colors(plot, what + number))
            if isinstance(plot, BackgroundPlot | BarColorPlot):
                picture.tints.add(what + number)
    for what, arrays in parts.items():
        dots = np.hstack(arrays)
        picture.dots[what] = dots[:, np.lexsort(dots[::-1])]
    for channel in _OBJECTS:
        for item in getattr(scene, channel):
            if (placed := place(item)).is_somewhere:
                picture.objects.append(placed)
            if item.provisional:
                picture.provisional.add(channel)
    provisional = _provisional_signals(scene.plots)
    for signal in scene.signals:
        if (signal.name, signal.bar) in provisional:
            continue
        picture.events.add(event := (f"signal {signal.name!r}", signal.bar))
        picture.signals.add(event[0])
        if signal.confirmed_bar > signal.bar:
            picture.told[event] = signal.confirmed_bar - signal.bar
    return picture


def _retitle(titles: list[str], whole: list[str]) -> list[str]:
    """The titles that plots of one kind have on the whole chart.

    A title may tell the last value. So plots whose titles differ are paired by their order.
    """
    if len(titles) == len(whole) and Counter(titles) != Counter(whole):
        return whole
    fresh = (Counter(whole) - Counter(titles)).elements()
    return [title if title in whole else next(fresh, title) for title in titles]


def _provisional_signals(plots: Sequence[Plot]) -> set[tuple[str | None, int]]:
    """The names and bars of signals of which every dot is provisional."""
    labels: dict[bool, set[tuple[str | None, int]]] = {True: set(), False: set()}
    for plot in plots:
        if isinstance(plot, DotPlot):
            points = zip(plot.columns.label, plot.columns.x.tolist(), strict=True)
            labels[plot.provisional].update(points)
    return labels[True] - labels[False]


def _dots(plot: DotPlot | ShapePlot, size: int) -> Array:
    """Bars, heights and colours of dots and shapes; without a height one is above or below."""
    unplaced = ABOVE.get(plot.location, 0.0) if isinstance(plot, ShapePlot) else 0.0
    bars, heights = plot.columns.x, plot.columns.y
    colors = np.full(len(bars), np.nan)
    if isinstance(plot.color, TextColumn):
        colors = _color_numbers(plot.color)
    dots = np.array((bars, np.where(np.isnan(heights), unplaced, heights), colors), np.float64)
    return dots[:, (bars >= 0) & (bars < size)]


def _columns(plot: Plot) -> Iterator[Array]:
    """The values of a plot, bar by bar; of one that colours bars, its colours."""
    if isinstance(plot, BackgroundPlot | BarColorPlot):
        if isinstance(plot.color, TextColumn):
            yield _color_numbers(plot.color)
    else:
        for name, kind in plot.field_types.items():
            if kind.kind == "series" and name not in plot.beyond:
                yield getattr(plot, name)
        if isinstance(plot, BarsPlot):
            yield np.where(np.isnan(plot.values), np.nan, plot.base)


def _colors(plot: Plot, what: str) -> Iterator[tuple[str, Array]]:
    """The colours that a plot has bar by bar, where it has values."""
    if isinstance(plot, BackgroundPlot | BarColorPlot):
        return
    known = np.logical_and.reduce([~np.isnan(column) for column in _columns(plot)])
    for name in plot.paints:
        paint = getattr(plot, name)
        if isinstance(paint, TextColumn):
            yield f"{what} {name}", np.where(known, _color_numbers(paint), np.nan)


def _color_numbers(paint: TextColumn) -> Array:
    numbers = [
        math.nan if color is None else AUTO if color == palette.AUTO else int(color[1:], 16)
        for color in paint.categories
    ]
    colors: Array = np.array(numbers, np.float64)[paint.codes]
    return colors
