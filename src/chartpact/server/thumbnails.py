"""Small pictures of indicators: what each draws on the last bars of a sample, as SVG paths."""

from collections.abc import Callable, Iterable
from math import isnan

import numpy as np
from numpy.typing import NDArray

from chartpact.bars import Bars
from chartpact.catalogue import Indicator
from chartpact.scene import Scene
from chartpact.scene.plots import BarsPlot, CandlesPlot, FillPlot, HBarPlot, LinePlot
from chartpact.server.shapes import ThumbnailStroke
from chartpact.textcolumn import TextColumn

BARS, WARMUP = 60, 400  # shown, and drawn on before them
WIDTH, HEIGHT, MARGIN = 62.0, 32.0, 3.0
MOST_LINES = 4
MOST_HEIGHTS = 24  # bars of a profile
PRICE, COLUMN, PLAIN = "#8a90a0", "#26a69a", "#2962ff"

Array = NDArray[np.float64]
Scale = Callable[[float], float]


def draw(indicators: Iterable[Indicator], bars: Bars) -> dict[str, list[ThumbnailStroke]]:
    """The strokes of each indicator that draws on these bars as they are."""
    bars = bars[-(BARS + WARMUP) :]
    pictures = {}
    for indicator in indicators:
        values = {param.name: param.default for param in indicator.params}
        if not indicator.needs(bars, values):
            scene = indicator.draw(bars, values, {})
            pictures[indicator.name] = strokes(scene, bars, indicator.overlay)
    return pictures


def strokes(scene: Scene, bars: Bars, overlay: bool) -> list[ThumbnailStroke]:
    """What a scene draws on the last bars, in a few strokes."""
    first = max(0, len(bars) - BARS)
    lines = [plot for plot in scene.plots if isinstance(plot, LinePlot)]
    series: list[tuple[Array, str]] = [
        (plot.values[first : len(bars)], _color(plot.color)) for plot in lines[:MOST_LINES]
    ]
    columns = [plot for plot in scene.plots if isinstance(plot, BarsPlot)][:1]
    for plot in scene.plots:
        if isinstance(plot, CandlesPlot):
            series.append((plot.close[first : len(bars)], PRICE))
        elif isinstance(plot, FillPlot) and not lines:
            series += [(plot.a[first : len(bars)], _color(plot.color))]
    if overlay or not (series or columns):
        series.insert(0, (bars.close[first:], PRICE))
    known = [values[np.isfinite(values)] for values, _ in series]
    known += [plot.values[first:][np.isfinite(plot.values[first:])] for plot in columns]
    levels = [(box.top, box.bottom) for box in scene.boxes] if overlay else []
    values = np.concatenate(known) if known else np.empty(0)
    if not len(values):
        return []
    low, high = float(values.min()), float(values.max())
    scale = (HEIGHT - 2 * MARGIN) / ((high - low) or 1.0)

    def y(value: float) -> float:
        return HEIGHT - MARGIN - (value - low) * scale

    drawn = [ThumbnailStroke(path=_columns(plot, first, y), color=COLUMN) for plot in columns]
    drawn += [ThumbnailStroke(path=_line(line, y), color=color) for line, color in series]
    for top, bottom in levels[-3:]:
        if top is not None and bottom is not None and low <= bottom and top <= high:
            box = f"M20 {y(top):.1f}H60V{y(bottom):.1f}H20Z"
            drawn.append(ThumbnailStroke(path=box, color=PLAIN))
    drawn += _profile([plot for plot in scene.plots if isinstance(plot, HBarPlot)], y, low, high)
    return [stroke for stroke in drawn if stroke.path]


def _color(paint: str | TextColumn) -> str:
    if isinstance(paint, TextColumn):
        return next((color for color in paint.categories if color), PLAIN)[:7]
    return PLAIN if not paint.startswith("#") else paint[:7]


def _x(bar: int) -> float:
    return 2 + (WIDTH - 4) * bar / (BARS - 1)


def _line(values: Array, y: Scale) -> str:
    path, pen = [], "M"
    for bar, value in enumerate(values.tolist()):
        if isnan(value):
            pen = "M"
            continue
        path.append(f"{pen}{_x(bar):.1f} {y(value):.1f}")
        pen = "L"
    return "".join(path)


def _columns(plot: BarsPlot, first: int, y: Scale) -> str:
    values = plot.values[first:].tolist()
    base = min(max(y(plot.base), MARGIN), HEIGHT - MARGIN)
    return "".join(
        f"M{_x(bar):.1f} {base:.1f}V{y(value):.1f}"
        for bar, value in enumerate(values)
        if bar % 2 == 0 and not isnan(value)
    )


def _profile(plots: list[HBarPlot], y: Scale, low: float, high: float) -> list[ThumbnailStroke]:
    inside = [plot for plot in plots if low <= plot.y <= high][:MOST_HEIGHTS]
    widest = max((plot.width for plot in inside), default=0) or 1
    path = "".join(f"M2 {y(plot.y):.1f}h{26 * plot.width / widest:.1f}" for plot in inside)
    return [ThumbnailStroke(path=path, color="#5b8cff")]
