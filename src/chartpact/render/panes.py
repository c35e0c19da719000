"""Which pane shows what, how high each is, and which values it reaches from and to."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from chartpact.render import labels, plots
from chartpact.render.display import Floats
from chartpact.render.errors import RenderError
from chartpact.render.frame import Clock
from chartpact.render.subject import Chart
from chartpact.scene import (
    Anchor,
    Box,
    Drawn,
    FillPlot,
    HBarPlot,
    HLinePlot,
    Label,
    Line,
    LinePlot,
    Scene,
    Table,
)

OVERREACH = 0.4  # how far overlays may stretch the price range, as a share of it on either side
MAX_OBJECTS = 20_000
MAX_PANES = 100
LEAST_HEIGHT = 18  # pixels
NARROWEST = 1e-100  # and so must a share of it
FURTHEST = 1e300  # a difference of values must be a number too
WEIGHTS = {"price": 4.6, "volume": 0.95, "panel": 1.2, "error": 0.7}
ROOMIER = 0.25
CARD_HEIGHT = 74
PANEL_HEIGHT = 116  # what a panel adds to a picture whose height is free
BASE_HEIGHT = 800
FREE_PANELS = 3  # so many fit into the base height


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

    @property
    def fixed(self) -> tuple[float, float] | None:
        """The range that a panel's indicator asked for."""
        return next((scene.y_range for _, scene in self.drawn if scene.y_range), None)

    def take(self, scene: Scene, forced: bool | None = None) -> None:
        """The objects of a scene: all, or only those that are forced over the price or not."""
        for mine, theirs in (
            (self.labels, scene.labels),
            (self.lines, scene.lines),
            (self.boxes, scene.boxes),
            (self.tables, scene.tables),
        ):
            for each in theirs:
                if forced is None or each.force_overlay is forced:
                    mine.append(each)  # type: ignore[arg-type]


def contents(chart: Chart, volume: str) -> list[Content]:
    """The panes from top to bottom: price, volume, then every panel and every failure in order."""
    price = Content("price")
    panes = [price]
    if volume == "pane" and np.isfinite(chart.bars.volume).any():
        panes.append(Content("volume"))
    for each in chart.drawn:
        if each.scene is None:
            panes.append(Content("error", failed=each))
        elif each.overlay:
            price.drawn.append((each, each.scene))
            price.take(each.scene)
        else:
            panel = Content("panel", drawn=[(each, each.scene)])
            panel.take(each.scene, forced=False)
            price.take(each.scene, forced=True)
            panes.append(panel)
    _within_limits(panes)
    return panes


def _within_limits(panes: Sequence[Content]) -> None:
    if len(panes) > MAX_PANES:
        raise RenderError(f"{len(panes)} panes are too many for one picture: at most {MAX_PANES}")
    objects = sum(
        len(each.labels)
        + len(each.lines)
        + len(each.boxes)
        + sum(1 + len(table.cells) for table in each.tables)
        for each in panes
    )
    if objects > MAX_OBJECTS:
        raise RenderError(
            f"{objects:,} drawn objects are too many for one picture: at most {MAX_OBJECTS:,}"
        )


def free_height(panes: Sequence[Content]) -> int:
    """A height that suits these panes."""
    panels = sum(each.kind == "panel" for each in panes)
    cards = sum(each.kind == "error" for each in panes)
    extra = max(0, panels - FREE_PANELS) * PANEL_HEIGHT + cards * CARD_HEIGHT
    return min(4096, BASE_HEIGHT + extra)


def heights(panes: Sequence[Content], total: float) -> list[int]:
    """The height of each pane; together they fill the picture."""
    panels = sum(each.kind == "panel" for each in panes)
    more = ROOMIER * max(0, FREE_PANELS - panels)  # a panel among few is a little higher
    weights = [WEIGHTS[each.kind] + more * (each.kind == "panel") for each in panes]
    cards = sum(each.kind == "error" for each in panes)
    fixed = min(CARD_HEIGHT, total * 0.5 / cards) if cards else 0.0
    shared = sum(w for w, each in zip(weights, panes, strict=True) if each.kind != "error")
    room = total - fixed * cards
    found = [
        int(fixed) if each.kind == "error" else int(room * weight / shared)
        for weight, each in zip(weights, panes, strict=True)
    ]
    if min(found) < LEAST_HEIGHT:
        need = math.ceil(LEAST_HEIGHT * total / min(found)) + 30
        raise RenderError(
            f"{len(panes)} panes do not fit into this height: ask for at least {need} pixels"
        )
    found[0] += int(total) - sum(found)
    return found


# ------------------------------------------------------------------------------------------ ranges


def ahead(panes: Sequence[Content], clock: Clock) -> int:
    """How many bars of room are needed right of the last bar, within reason."""
    last = len(clock.series) - 1
    furthest = 0.0
    for pane in panes:
        for _, scene in pane.drawn:
            for plot in scene.plots:
                if isinstance(plot, LinePlot):
                    furthest = max(furthest, _known(plot.ahead))
                elif isinstance(plot, FillPlot):
                    furthest = max(furthest, _known(plot.a_ahead), _known(plot.b_ahead))
        for place in _places(pane):
            bar = clock.bar(place)
            if bar is not None:
                furthest = max(furthest, bar - last)
    return int(min(math.ceil(furthest), max(40, len(clock.series) // 2)))


def _known(values: Floats) -> int:
    known = np.flatnonzero(np.isfinite(values))
    return int(known[-1]) + 1 if len(known) else 0


def _places(pane: Content) -> Iterable[Anchor]:
    for label in pane.labels:
        yield label.x
    for line in pane.lines:
        yield from (line.x1, line.x2)
    for box in pane.boxes:
        yield from (box.left, box.right)


def _union(*ranges: tuple[float, float]) -> tuple[float, float]:
    known = [each for each in ranges if math.isfinite(each[0]) and math.isfinite(each[1])]
    if not known:
        return math.nan, math.nan
    return min(low for low, _ in known), max(high for _, high in known)


def object_range(pane: Content, clock: Clock) -> tuple[float, float]:
    """The values between which the objects in view are drawn."""
    last = len(clock.series) + 40

    def seen(*places: Anchor) -> bool:
        bars = [bar for place in places if (bar := clock.bar(place)) is not None]
        return bool(bars) and max(bars) >= 0 and min(bars) <= last

    values = [each.y for each in pane.labels if each.yloc == "price" and seen(each.x)]
    for line in pane.lines:
        if seen(line.x1, line.x2) and line.extend == "none":
            values += [line.y1, line.y2]
    for box in pane.boxes:
        if seen(box.left, box.right):
            values += [box.top, box.bottom]
    known = [each for each in values if each is not None]
    return (min(known), max(known)) if known else (math.nan, math.nan)


def value_range(
    pane: Content, prices: tuple[float, float] | None, clock: Clock, log: bool
) -> tuple[float, float] | None:
    """From where to where the values of a pane reach; None where it has none."""
    scenes = [scene for _, scene in pane.drawn]
    drawn = _union(
        *(
            plots.extent(plot)
            for scene in scenes
            for plot in scene.plots
            if prices is None or not isinstance(plot, HLinePlot | HBarPlot)
        )  # a level or a profile says nothing of where the price is now
    )
    drawn = _union(drawn, object_range(pane, clock))
    if prices is None:
        low, high = pane.fixed or drawn
    else:
        low, high = prices
        reach = OVERREACH * (high - low)
        if math.isfinite(drawn[0]):
            if log:
                ratio = (high / low) ** OVERREACH if low > 0 else 1.0
                low, high = (
                    min(low, max(drawn[0], low / ratio)),
                    max(high, min(drawn[1], high * ratio)),
                )
            else:
                low = min(low, max(drawn[0], low - reach))
                high = max(high, min(drawn[1], high + reach))
    low, high = max(low, -FURTHEST), min(high, FURTHEST)
    if not (math.isfinite(low) and math.isfinite(high)):
        return None
    if high - low <= max(1e-12 * max(abs(low), abs(high)), NARROWEST):
        room = max(abs(high) * 0.01, 1e-9) if high else 1.0
        return (low - room, high + room) if not log else (low * 0.99, high * 1.01)
    return low, high


def label_room(pane: Content, step: float) -> tuple[float, float]:
    """Pixels to keep free above and below the values for the labels that reach out there."""
    above = below = 0.0
    for label in pane.labels:
        size = labels.size_of(label, step)
        lines = label.text.count("\n") + 1 if label.text else 0
        tall = min(size * 1.3 * lines + size, 90.0)
        down = labels.BUBBLES.get(label.style, (0, 0))[1]
        if label.yloc == "abovebar" or (label.yloc == "price" and down < 0):
            above = max(above, tall)
        elif label.yloc == "belowbar" or down > 0:
            below = max(below, tall)
    return above, below
