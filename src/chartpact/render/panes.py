"""The panes of a chart: what each shows, how high it is, and which values it spans."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from chartpact.drawing import CHANNELS, DrawnObject
from chartpact.render import labels, plots, shapes
from chartpact.render.display import Floats
from chartpact.render.errors import RenderError
from chartpact.render.frame import ChartView, Timeline
from chartpact.scene import (
    Box,
    Drawn,
    FillPlot,
    HBarPlot,
    Label,
    Line,
    Linefill,
    LinePlot,
    Polyline,
    Scene,
    ShapePlot,
    Table,
)

OVERREACH = 0.4  # how far overlays may stretch the price range, as a share of it on either side
LEAST_SHARE = 0.5  # of a panel: levels may not leave less to what is drawn
MAX_OBJECTS = 20_000
MAX_PANES = 100
LEAST_HEIGHT = 18  # pixels
NARROWEST = 1e-100  # a span below it has no share that is a number
FURTHEST = 1e300  # beyond it the difference of two values is no number
WEIGHTS = {"price": 4.6, "volume": 0.95, "panel": 1.2, "error": 0.7}
ROOMIER = 0.45
CARD_HEIGHT = 74
PANEL_HEIGHT = 116  # what a panel adds to a picture whose height is free
BASE_HEIGHT = 800
FREE_PANELS = 3  # so many fit into the base height
NOWHERE = (math.nan, math.nan)


@dataclass
class Content:
    """What one pane shows."""

    kind: str  # price, volume, panel or error
    drawn: list[tuple[Drawn, Scene]] = field(default_factory=list)
    failed: Drawn | None = None
    labels: list[Label] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    polylines: list[Polyline] = field(default_factory=list)
    linefills: list[tuple[Line, Line, Linefill]] = field(default_factory=list)

    @property
    def fixed(self) -> tuple[float, float] | None:
        """The range that a panel's indicator asked for."""
        return next((scene.y_range for _, scene in self.drawn if scene.y_range), None)

    def add_objects(self, scene: Scene, forced: bool | None = None) -> None:
        """Adds the objects of a scene: all, or only those that are forced over the price or not."""
        for channel in CHANNELS:
            if channel != "linefills":
                getattr(self, channel).extend(
                    drawn
                    for drawn in getattr(scene, channel)
                    if forced is None or drawn.force_overlay is forced
                )
        lines = {line.id: line for line in scene.lines}
        for fill in scene.linefills:
            one, other = lines.get(fill.line1), lines.get(fill.line2)
            if one and other and (forced is None or one.force_overlay is forced):
                self.linefills.append((one, other, fill))

    def shapes(self) -> list[ShapePlot]:
        plots = (plot for _, scene in self.drawn for plot in scene.plots)
        return [plot for plot in plots if isinstance(plot, ShapePlot)]

    def placed_objects(self) -> Iterator[DrawnObject]:
        """The objects that stand on bars."""
        yield from self.labels
        yield from self.lines
        yield from self.boxes
        yield from self.polylines


def contents(chart: ChartView, volume: str) -> list[Content]:
    """The panes from top to bottom: price, volume, then every panel and every failure in order."""
    price = Content("price")
    panes = [price]
    if volume == "pane" and np.isfinite(chart.bars.volume).any():
        panes.append(Content("volume"))
    for drawn in chart.drawn:
        if drawn.scene is None:
            panes.append(Content("error", failed=drawn))
        elif drawn.overlay:
            price.drawn.append((drawn, drawn.scene))
            price.add_objects(drawn.scene)
        else:
            panel = Content("panel", drawn=[(drawn, drawn.scene)])
            panel.add_objects(drawn.scene, forced=False)
            price.add_objects(drawn.scene, forced=True)
            panes.append(panel)
    _check_limits(panes)
    return panes


def _check_limits(panes: Sequence[Content]) -> None:
    if len(panes) > MAX_PANES:
        raise RenderError(f"{len(panes)} panes are too many for one picture: at most {MAX_PANES}")
    placed = sum(1 for pane in panes for _ in pane.placed_objects())
    objects = placed + sum(1 + len(table.cells) for pane in panes for table in pane.tables)
    if objects > MAX_OBJECTS:
        raise RenderError(
            f"{objects:,} drawn objects are too many for one picture: at most {MAX_OBJECTS:,}"
        )


def free_height(panes: Sequence[Content]) -> int:
    """A height that suits these panes."""
    panels = _count(panes, "panel")
    extra = max(0, panels - FREE_PANELS) * PANEL_HEIGHT + _count(panes, "error") * CARD_HEIGHT
    return min(4096, BASE_HEIGHT + extra)


def _count(panes: Sequence[Content], kind: str) -> int:
    return sum(pane.kind == kind for pane in panes)


def heights(panes: Sequence[Content], total: float) -> list[int]:
    """The height of each pane; together they fill the picture."""
    more = ROOMIER * max(0, FREE_PANELS - _count(panes, "panel"))  # among few, a panel is higher
    weights = [WEIGHTS[pane.kind] + more * (pane.kind == "panel") for pane in panes]
    cards = _count(panes, "error")
    card = min(CARD_HEIGHT, total * 0.5 / cards) if cards else 0.0
    room = total - card * cards
    shared = sum(w for w, pane in zip(weights, panes, strict=True) if pane.kind != "error")
    pixels = [
        int(card) if pane.kind == "error" else int(room * weight / shared)
        for weight, pane in zip(weights, panes, strict=True)
    ]
    if min(pixels) < LEAST_HEIGHT:
        need = math.ceil(LEAST_HEIGHT * total / min(pixels)) + 30
        raise RenderError(
            f"{len(panes)} panes do not fit into this height: ask for at least {need} pixels"
        )
    pixels[0] += int(total) - sum(pixels)
    return pixels


# ------------------------------------------------------------------------------------------ ranges


def ahead(panes: Sequence[Content], timeline: Timeline) -> int:
    """How many bars of room are needed right of the last bar, within reason."""
    count = len(timeline.bars)
    furthest = 0.0
    for pane in panes:
        for _, scene in pane.drawn:
            for plot in scene.plots:
                if isinstance(plot, LinePlot):
                    furthest = max(furthest, _known_length(plot.ahead))
                elif isinstance(plot, FillPlot):
                    furthest = max(furthest, *map(_known_length, (plot.a_ahead, plot.b_ahead)))
        for drawn in pane.placed_objects():
            furthest = max([furthest, *(bar - (count - 1) for bar in _bars(drawn, timeline))])
    return int(min(math.ceil(furthest), max(40, count // 2)))


def _known_length(values: Floats) -> int:
    """The length of a series without the unknown values at its end."""
    known = np.flatnonzero(np.isfinite(values))
    return int(known[-1]) + 1 if len(known) else 0


def _bars(drawn: DrawnObject, timeline: Timeline) -> list[float]:
    """The bars of the places that an object has; of many, the first and the last."""
    if isinstance(drawn, Polyline):
        points = drawn.columns.bar
        return [float(points.min()), float(points.max())] if len(points) else []
    bars = (timeline.bar(getattr(drawn, place)) for place in drawn.places)
    return [bar for bar in bars if bar is not None]


def _union(*ranges: tuple[float, float]) -> tuple[float, float]:
    known = [(low, high) for low, high in ranges if math.isfinite(low) and math.isfinite(high)]
    if not known:
        return NOWHERE
    return min(low for low, _ in known), max(high for _, high in known)


def object_range(pane: Content, timeline: Timeline) -> tuple[float, float]:
    """The values between which the objects in view are drawn."""
    last = len(timeline.bars) + 40
    values: list[float] = []
    for drawn in pane.placed_objects():
        if isinstance(drawn, Label) and drawn.yloc != "price":
            continue
        if isinstance(drawn, Line) and drawn.extend != "none":
            continue
        bars = _bars(drawn, timeline)
        if bars and max(bars) >= 0 and min(bars) <= last:
            values += _heights(drawn, last)
    return (min(values), max(values)) if values else NOWHERE


def _heights(drawn: DrawnObject, last: int) -> list[float]:
    """The heights of an object; of a polyline, the lowest and the highest in view."""
    if isinstance(drawn, Polyline):
        points = drawn.columns
        y = points.y[(points.bar >= 0) & (points.bar <= last)]
        return [float(y.min()), float(y.max())] if len(y) else []
    heights = (getattr(drawn, name) for name in drawn.heights)
    return [height for height in heights if height is not None]


def value_range(
    pane: Content, prices: tuple[float, float] | None, timeline: Timeline, log: bool
) -> tuple[float, float] | None:
    """The lowest and the highest value of a pane; None where it has none."""
    drawn_plots = [plot for _, scene in pane.drawn for plot in scene.plots]
    drawn = _union(
        object_range(pane, timeline),
        *(plots.extent(plot) for plot in drawn_plots if not isinstance(plot, HBarPlot)),
    )
    levels = [level for plot in drawn_plots for level in plots.levels(plot)]
    if prices is None:
        low, high = pane.fixed or _reach_levels(*drawn, levels)
    else:
        low, high = _stretch(*prices, *drawn, log)
    low, high = max(low, -FURTHEST), min(high, FURTHEST)
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    if high - low <= max(1e-12 * max(abs(low), abs(high)), NARROWEST):
        room = max(abs(high) * 0.01, 1e-9) if high else 1.0
        return (low - room, high + room) if not log else (low * 0.99, high * 1.01)
    return low, high


def _reach_levels(low: float, high: float, levels: Sequence[float]) -> tuple[float, float]:
    """The range of what a panel draws, with its levels, the nearest first, while it stays large.

    A level that would leave the drawing less than `LEAST_SHARE` of the pane is out of view: a sum
    of volumes far from zero is not flattened by it.
    """
    if not math.isfinite(low):
        return _union(*((level, level) for level in levels))
    span = high - low
    for level in sorted(levels, key=lambda level: max(low - level, level - high)):
        wider = min(low, level), max(high, level)
        if span and wider[1] - wider[0] > span / LEAST_SHARE:
            break
        low, high = wider
    return low, high


def _stretch(
    low: float, high: float, lowest: float, highest: float, log: bool
) -> tuple[float, float]:
    """The price range, stretched towards what is drawn over it as far as `OVERREACH` allows."""
    if not math.isfinite(lowest):
        return low, high
    if log:
        ratio = (high / low) ** OVERREACH if low > 0 else 1.0
        return min(low, max(lowest, low / ratio)), max(high, min(highest, high * ratio))
    reach = OVERREACH * (high - low)
    return min(low, max(lowest, low - reach)), max(high, min(highest, high + reach))


def label_room(pane: Content, step: float, bars: int) -> tuple[float, float]:
    """Pixels above and below the values that labels and shapes reach into."""
    above, below = shapes.room(pane.shapes(), step, bars)
    for label in pane.labels:
        size = labels.text_size(label, step)
        lines = label.text.count("\n") + 1 if label.text else 0
        height = min(size * 1.3 * lines + size, 90.0)
        down = labels.BUBBLES.get(label.style, (0, 0))[1]
        if label.yloc == "abovebar" or (label.yloc == "price" and down < 0):
            above = max(above, height)
        elif label.yloc == "belowbar" or down > 0:
            below = max(below, height)
    return above, below
