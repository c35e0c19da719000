"""Dots and shapes on single bars, and the signals that labelled dots are."""

from typing import Any

import numpy as np

from chartpact import palette
from chartpact.arrays import all_true
from chartpact.checks import Unfit
from chartpact.drawing.fieldtypes import COLOR, FLAG
from chartpact.scene import DotPlot, Mark, Marks, Point, Points, ShapePlot, Signals
from chartpact.script.errors import Fault
from chartpact.script.host.arguments import (
    SeriesArguments,
    check_offset,
    field_value,
    measure,
    number,
    plain,
    refusal,
    whole,
)
from chartpact.script.host.plotlist import PlotList, make
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Array, Series
from chartpact.script.runtime.values import LISTS, a_type, shown
from chartpact.textcolumn import TextColumn

_DOT_SIZE = Point.field_types["size"]
_LOCATION, _TEXT = ShapePlot.field_types["location"], Mark.field_types["text"]


class Dots:
    """Draws dots and shapes into the plots of a run."""

    def __init__(self, bars: int, plots: PlotList, read: SeriesArguments, meter: Meter) -> None:
        self._bars = bars
        self._plots = plots
        self._read = read
        self._meter = meter
        self._scattered: dict[tuple[str, bool], Scattered] = {}  # by title and provisional
        self._signals: list[tuple[Array, Array, str, int]] = []  # bars, heights, name, offset

    def dot(
        self,
        x: Any,
        y: Any,
        color: Any,
        size: Any,
        label: Any,
        title: Any,
        offset: Any,
        provisional: Any,
    ) -> None:
        if label is not None:
            self._plots.check_text(label, "label")
        check_offset(offset)
        if type(x) is Series or type(x) in LISTS:
            self._dots(x, y, color, size, label, title, offset, provisional)
            return
        self._meter.charge(40 if label is None else 190)
        height = number(y, "y")
        bar = whole(x, "x")
        self._plots.check_text(title, "title")
        if height is None or bar is None:
            return
        if not 0 <= bar < self._bars:
            last = self._bars - 1
            raise Fault("value", f"x is the number of a bar, from 0 to {last}, not {shown(bar)}")
        if not 0 <= bar + offset < self._bars:
            raise Fault("value", f"offset: there is no bar {bar + offset}")
        if type(provisional) is not bool:
            field_value(provisional, FLAG, "provisional")  # raises
        dots = self._scattered.get((title, provisional))
        if dots is None:
            dots = self._scattered[title, provisional] = Scattered(title, provisional)
            self._plots.reserve()
            self._plots.plots.append(dots)
        self._plots.reserve_dots(1, len(label or ""))
        dots.add(bar + offset, height, color, size, label)
        if label is not None:
            self._signals.append((np.array([bar]), np.array([height]), label, offset))

    def _dots(
        self,
        x: Any,
        y: Any,
        color: Any,
        size: Any,
        label: Any,
        title: Any,
        offset: int,
        provisional: Any,
    ) -> None:
        self._meter.charge(800)
        condition = self._read.condition(x, "x")
        bars, (heights,) = known_bars(condition, self._read.series(y, "y", level=True))
        bars, heights = self._within(bars, heights, offset)
        self._plots.reserve_dots(len(bars), len(bars) * len(label or ""))
        if label is not None:
            self._meter.charge(len(bars))
        measure(plain(size, "size"), _DOT_SIZE, "size")
        template = make(Point, x=0, y=0.0, size=size, label=label)
        self._plots.add(
            DotPlot,
            title=title,
            color=self._paint(color, bars),
            points=Points.like(template, x=bars + offset, y=heights),
            provisional=provisional,
        )
        if label is not None:
            self._signals.append((bars, heights, label, offset))

    def shape(
        self,
        where: Any,
        shape: Any,
        location: Any,
        color: Any,
        size: Any,
        text: Any,
        textcolor: Any,
        title: Any,
        offset: Any,
        provisional: Any,
    ) -> None:
        check_offset(offset)
        self._meter.charge(900)
        if field_value(location, _LOCATION, "location") == "absolute":
            series = self._read.series(where, "where", heights=True)
            bars = np.isfinite(series).nonzero()[0]
            heights = series[bars]
        else:
            bars = self._read.condition(where, "where", or_bar=False).nonzero()[0]
            heights = np.full(len(bars), np.nan)
        bars, heights = self._within(bars, heights, offset)
        texts = self._texts(text, bars)
        self._plots.reserve_dots(len(bars), texts.count_chars())
        if textcolor is not None:
            textcolor = field_value(textcolor, COLOR, "textcolor")
        self._plots.add(
            ShapePlot,
            title=title,
            color=self._paint(color, bars),
            points=Marks(x=bars + offset, y=heights, text=texts),
            shape=shape,
            location=location,
            size=size,
            text_color=textcolor,
            provisional=provisional,
        )

    def _within(self, bars: Array, heights: Array, offset: int) -> tuple[Array, Array]:
        """Those of the bars that are still bars of the chart when they are displaced."""
        first, last = np.searchsorted(bars, (-offset, self._bars - offset))
        return bars[first:last], heights[first:last]

    def _paint(self, color: Any, bars: Array) -> Any:
        paint = self._read.paint(color)
        return paint.take(bars) if isinstance(paint, TextColumn) else paint

    def _texts(self, text: Any, bars: Array) -> TextColumn:
        """The text of each of these bars: one for all, or its own."""
        if type(text) is str:
            self._plots.check_text(text, "text")
            return TextColumn.repeat(text, len(bars))
        column = self._read.texts(text, "text").take(bars)
        self._meter.charge(16 * len(column.categories))
        for one in column.categories:
            field_value(one or "", _TEXT, "text")
        return column.map(lambda one: one or "")

    def signals(self) -> Signals:
        """The signals of all labelled dots, in the order of their bars."""
        if not self._signals:
            return Signals()
        bars, heights, names, offsets = zip(*self._signals, strict=True)
        counts = [len(part) for part in bars]
        confirmed = np.concatenate(bars)
        drawn = confirmed + np.repeat(offsets, counts)
        order = np.argsort(drawn, kind="stable")
        name = TextColumn.encode(names)
        return Signals(
            bar=drawn[order],
            confirmed_bar=confirmed[order],
            value=np.concatenate(heights)[order],
            name=name.take(np.repeat(np.arange(len(names)), counts)[order]),
        )


class Scattered:
    """Dots that were drawn one by one, in one plot."""

    def __init__(self, title: str, provisional: bool) -> None:
        self._title = title
        self._provisional = provisional
        self._x: list[int] = []
        self._y: list[float] = []
        self._size: list[float] = []
        self._label: list[str | None] = []
        self._color: list[str] = []

    def add(self, x: int, y: float, color: Any, size: Any, label: str | None) -> None:
        if type(size) not in (int, float):
            raise Fault("type", f"size is a number of pixels, not {a_type(size)}")
        if not measure(size, _DOT_SIZE, "size") >= 0:
            raise Fault("value", f"size is a number of pixels, not {shown(size)}")
        if type(color) is not str:
            raise Fault("type", f"color is a string, not {a_type(color)}")
        try:
            self._color.append(palette.color(color))
        except Unfit as unfit:
            raise refusal(unfit, COLOR, "color") from None
        self._x.append(x)
        self._y.append(y)
        self._size.append(size)
        self._label.append(label)

    def plot(self) -> DotPlot:
        color: Any = self._color[0] if len(set(self._color)) == 1 else tuple(self._color)
        points = Points(x=self._x, y=self._y, size=self._size, label=self._label)
        return DotPlot(title=self._title, color=color, points=points, provisional=self._provisional)


def known_bars(condition: Array, *series: Array) -> tuple[Array, list[Array]]:
    """The bars where the condition holds and no series is na, and the series on those bars."""
    bars = condition.nonzero()[0]
    for values in series:
        if not all_true(known := np.isfinite(values[bars])):
            bars = bars[known]
    return bars, [values[bars] for values in series]
