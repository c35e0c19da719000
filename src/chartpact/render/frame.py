"""What a picture is drawn from, and the frame of a pane: its place, its scales, its colours."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from chartpact.bars import Bars
from chartpact.render.display import Area, Ints
from chartpact.render.scales import BarScale, ValueScale
from chartpact.render.theme import Theme
from chartpact.scene import Anchor, Drawn

TEXT = 12.0  # pixels: legends and tags
SMALL = 11.0  # axis labels
FURTHEST = 10**9  # bars


class ChartView(Protocol):
    """The bars in view, the bars before them too where they are known, and the indicators."""

    @property
    def bars(self) -> Bars: ...
    @property
    def history(self) -> Bars | None: ...
    @property
    def drawn(self) -> Sequence[Drawn]: ...


@dataclass(frozen=True)
class Timeline:
    """Which bar a time belongs to, before the first and after the last one too."""

    bars: Bars

    @cached_property
    def bar_ms(self) -> int:
        steps = np.diff(self.bars.time)
        return max(1, int(np.median(steps))) if len(steps) else 60_000

    def times(self, ahead: int) -> Ints:
        """The times of the bars, and of so many that are to come."""
        known = self.bars.time
        if not len(known):
            return known
        return np.concatenate((known, known[-1] + self.bar_ms * np.arange(1, ahead + 1)))

    def bar(self, place: Anchor) -> float | None:
        """The bar at which a drawn object stands; None where it has no place."""
        if place.bar is not None:
            return float(min(max(place.bar, -FURTHEST), FURTHEST))
        if place.time is None or not len(self.bars):
            return None
        time, known = min(max(place.time, -(2**60)), 2**60), self.bars.time
        if time > known[-1]:
            return len(known) - 1 + (time - int(known[-1])) / self.bar_ms
        if time < known[0]:
            return (time - int(known[0])) / self.bar_ms
        return float(np.searchsorted(known, time, "right") - 1)


@dataclass(frozen=True)
class Frame:
    """Where a pane lies and how its bars and values become pixels."""

    area: Area
    bars: BarScale
    values: ValueScale
    theme: Theme
    timeline: Timeline
