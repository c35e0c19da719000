"""The plots of one run, within the limits of a drawing."""

from typing import Any, TypeVar

import numpy as np

from chartpact.drawing import Record, SceneError
from chartpact.scene import Plot
from chartpact.script.errors import Fault
from chartpact.script.host.arguments import measure, plain, refusal
from chartpact.script.limits import (
    DOT_TEXT_CHARS,
    DOTS,
    OBJECT_TEXT_CHARS,
    PLOTS,
    POINTS,
    SCENE_TEXT_CHARS,
)
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.values import a_type
from chartpact.textcolumn import TextColumn

R = TypeVar("R", bound=Record)
P = TypeVar("P", bound=Plot)

_CHECKED = frozenset(("color", "wick_color", "border_color", "points"))  # before they come here


class PlotList:
    """Collects plots, and refuses more of them than a drawing may have."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self.plots: list[Any] = []  # plots, and what becomes one when the run ends
        self._points = 0
        self._dots = 0
        self._dot_text = 0
        self._text = 0

    def add(self, kind: type[P], **values: Any) -> P:
        """Adds a plot of these values, each checked by the type of its field."""
        self._meter.charge(124 + 18 * len(values))
        self.check_text(values["title"], "title")
        points = colors = 0
        for name, value in values.items():
            if type(value) is np.ndarray:
                points += len(value)
            elif name not in _CHECKED:
                measure(plain(value, name), kind.field_types[name], name)
            elif type(value) is TextColumn and "points" not in values:
                colors += len(value)
        self._meter.charge(100 if points else 0)
        self.reserve(max(points, colors))
        plot = make(kind, **values)
        self.plots.append(plot)
        return plot

    def check_text(self, value: Any, name: str, times: int = 1) -> None:
        if type(value) is not str:
            raise Fault("type", f"{name} is a string, not {a_type(value)}")
        if len(value) > OBJECT_TEXT_CHARS:
            raise Fault("size", f"{name} has at most {OBJECT_TEXT_CHARS} characters")
        self._text += len(value) * times
        if self._text > SCENE_TEXT_CHARS:
            raise Fault("size", f"all texts together have at most {SCENE_TEXT_CHARS:,} characters")

    def reserve(self, points: int = 0, plots: int = 1) -> None:
        """Room for a plot with so many points, or for several plots without any."""
        if len(self.plots) + plots > PLOTS:
            raise Fault("size", f"a chart has at most {PLOTS} plots", "draw one series, or dots")
        self._points += points
        if self._points > POINTS:
            raise Fault("size", f"a chart has at most {POINTS:,} points")

    def reserve_dots(self, count: int, chars: int) -> None:
        """Room for so many dots or shapes, and for all characters that they say."""
        self._meter.charge(count)
        self._dots += count
        if self._dots > DOTS:
            raise Fault("size", f"a chart has at most {DOTS:,} dots and shapes")
        self._dot_text += chars
        if self._dot_text > DOT_TEXT_CHARS:
            raise Fault(
                "size",
                f"the texts of all dots together have at most {DOT_TEXT_CHARS:,} characters",
                "a text stands at every dot: use a short one",
            )


def make(kind: type[R], **values: Any) -> R:
    """A record of these values; what is wrong with one is the script's fault."""
    try:
        return kind(**values)
    except SceneError as error:
        raise fault(error, kind) from None


def fault(error: SceneError, kind: type[Record]) -> Fault:
    if error.unfit is None:
        return Fault("value", str(error))
    return refusal(error.unfit, kind.field_types[error.field], error.field)
