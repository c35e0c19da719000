"""`chart`: where a script draws, and the scene that comes of it."""

from collections.abc import Mapping
from itertools import chain
from typing import Any, ClassVar, TypeVar

import numpy as np

from chartpact import palette
from chartpact.arrays import all_true, any_true
from chartpact.bars import Bars
from chartpact.checks import Unfit
from chartpact.drawing import (
    CAPS,
    DEFAULT_CAP,
    OBJECTS,
    DrawnObject,
    Record,
    SceneError,
    Table,
)
from chartpact.drawing.fieldtypes import COLOR, FLAG
from chartpact.scene import (
    BarsPlot,
    DivLinePlot,
    DotPlot,
    FillPlot,
    HBarPlot,
    HLinePlot,
    LinePlot,
    Plot,
    Point,
    Points,
    Scene,
    Signals,
)
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
from chartpact.script.host.handles import (
    FURTHEST,
    BoxHandle,
    Canvas,
    LabelHandle,
    LinefillHandle,
    LineHandle,
    PolylineHandle,
    TableHandle,
)
from chartpact.script.limits import (
    DOT_TEXT_CHARS,
    DOTS,
    OBJECT_TEXT_CHARS,
    PLOTS,
    POINTS,
    SCENE_TEXT_CHARS,
    VERTICES,
)
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Array, Series
from chartpact.script.runtime.values import LISTS, HostObject, a_type, shown
from chartpact.textcolumn import TextColumn

R = TypeVar("R", bound=Record)
P = TypeVar("P", bound=Plot)

PLOT_METHODS = "line fill bars dot hline hbar divline set_y_range set_label".split()
OBJECT_METHODS = [f"new_{kind.__name__.lower()}" for kind in OBJECTS.values()]
_CHECKED = frozenset(("color", "points"))  # before they come to a plot
_DOT_SIZE = Point.field_types["size"]


class Chart(HostObject):
    """Collects what one run draws."""

    __slots__ = (
        "_dot_count",
        "_dot_text",
        "_label",
        "_meter",
        "_plots",
        "_point_count",
        "_read",
        "_scattered",
        "_signals",
        "_size",
        "_text",
        "_y_range",
        "canvas",
    )
    type_name = "chart"
    methods = frozenset((*PLOT_METHODS, *OBJECT_METHODS))
    meant: ClassVar[Mapping[str, str]] = {
        "plot": "line",
        "plotshape": "dot",
        "marker": "dot",
        "arrow": "dot",
        "histogram": "bars",
        "columns": "bars",
        "bgcolor": "fill",
        "band": "fill",
        "level": "hline",
        "label": "new_label",
        "text": "new_label",
        "box": "new_box",
        "rect": "new_box",
        "table": "new_table",
        "title": "set_label",
    }

    def __init__(self, bars: Bars, meta: Mapping[str, Any], meter: Meter) -> None:
        caps = {channel: meta.get(f"max_{channel}_count", DEFAULT_CAP) for channel in CAPS}
        self.canvas = Canvas(bars.time, meter, caps)
        self._meter = meter
        self._size = len(bars)
        self._read = SeriesArguments(len(bars), meter)
        self._plots: list[Plot | _Scattered] = []
        self._scattered: dict[tuple[str, bool], _Scattered] = {}  # by title and provisional
        self._signals: list[tuple[Array, Array, str, int]] = []  # bars, heights, name, offset
        self._dot_count = 0
        self._dot_text = 0
        self._point_count = 0
        self._text = 0
        self._y_range: tuple[float, float] | None = None
        self._label: str | None = None

    # -------------------------------------------------------------------------------------- plots

    def line(
        self,
        s: Any,
        title: Any = "",
        color: Any = "blue",
        width: Any = 1,
        style: Any = "line",
        offset: Any = 0,
        provisional: Any = False,
    ) -> None:
        """A line through the value of each bar, displaced by `offset` bars to the right."""
        values, ahead = self._read.displace(self._read.series(s, "s"), offset)
        self._add(
            LinePlot,
            title=title,
            color=self._read.paint(color),
            values=values,
            width=width,
            style=style,
            ahead=ahead,
            provisional=provisional,
        )

    def fill(
        self,
        a: Any,
        b: Any,
        color: Any = "auto",
        alpha: Any = 0.2,
        title: Any = "",
        offset: Any = 0,
        provisional: Any = False,
    ) -> None:
        """The area between two series, or between a series and a level."""
        if type(alpha) in (int, float) and not 0 <= alpha <= 1:
            hint = "0.2 lets four fifths of what is below shine through"
            raise Fault("value", f"alpha is from 0 to 1, not {shown(alpha)}", hint)
        first, a_ahead = self._read.displace(self._read.series(a, "a", level=True), offset)
        second, b_ahead = self._read.displace(self._read.series(b, "b", level=True), offset)
        self._add(
            FillPlot,
            title=title,
            color=self._read.paint(color),
            a=first,
            b=second,
            alpha=alpha,
            a_ahead=a_ahead,
            b_ahead=b_ahead,
            provisional=provisional,
        )

    def bars(
        self,
        s: Any,
        title: Any = "",
        color: Any = "blue",
        base: Any = 0,
        provisional: Any = False,
    ) -> None:
        """Columns from `base` to the value of each bar."""
        self._add(
            BarsPlot,
            title=title,
            values=self._read.series(s, "s", level=True),
            color=self._read.paint(color),
            base=base,
            provisional=provisional,
        )

    def dot(
        self,
        x: Any,
        y: Any,
        color: Any = "blue",
        size: Any = 4,
        label: Any = None,
        title: Any = "",
        offset: Any = 0,
        provisional: Any = False,
    ) -> None:
        """A dot on a bar, or on every bar where a condition holds; with a label it is a signal.

        It is drawn `offset` bars to the right (to the left if negative), as a pivot is; the signal
        still counts as known on bar x.
        """
        if label is not None:
            self._check_text(label, "label")
        check_offset(offset)
        if type(x) is Series or type(x) in LISTS:
            self._dots(x, y, color, size, label, title, offset, provisional)
            return
        self._meter.charge(45 if label is None else 190)
        height = number(y, "y")
        bar = whole(x, "x")
        self._check_text(title, "title")
        if height is None or bar is None:
            return
        if not 0 <= bar < self._size:
            last = self._size - 1
            raise Fault("value", f"x is the number of a bar, from 0 to {last}, not {shown(bar)}")
        if not 0 <= bar + offset < self._size:
            raise Fault("value", f"offset: there is no bar {bar + offset}")
        if type(provisional) is not bool:
            field_value(provisional, FLAG, "provisional")  # raises
        dots = self._scattered.get((title, provisional))
        if dots is None:
            dots = self._scattered[title, provisional] = _Scattered(title, provisional)
            self._reserve()
            self._plots.append(dots)
        self._reserve_dots(1, label)
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
        bars, (heights,) = _known(condition, self._read.series(y, "y", level=True))
        first, last = np.searchsorted(bars, (-offset, self._size - offset))
        bars, heights = bars[first:last], heights[first:last]
        self._reserve_dots(len(bars), label)
        if label is not None:
            self._meter.charge(len(bars))
        measure(plain(size, "size"), _DOT_SIZE, "size")
        template = _make(Point, x=0, y=0.0, size=size, label=label)
        points = Points.like(template, x=bars + offset, y=heights)
        paint = self._read.paint(color)
        if isinstance(paint, TextColumn):
            paint = paint.take(bars)
        self._add(DotPlot, title=title, color=paint, points=points, provisional=provisional)
        if label is not None:
            self._signals.append((bars, heights, label, offset))

    def hline(
        self,
        y: Any,
        color: Any = "gray",
        style: Any = "solid",
        title: Any = "",
        provisional: Any = False,
    ) -> None:
        """A level across the pane."""
        height = number(y, "y")
        if height is not None:
            self._add(
                HLinePlot,
                title=title,
                color=plain(color, "color"),
                y=height,
                style=style,
                provisional=provisional,
            )

    def hbar(
        self,
        y: Any,
        height: Any,
        width: Any,
        color: Any = "blue",
        offset: Any = 0,
        side: Any = "left",
        title: Any = "",
        provisional: Any = False,
    ) -> None:
        """A bar of a profile, lying; width and offset are shares of the pane."""
        middle, thickness = number(y, "y"), number(height, "height")
        if middle is not None and thickness is not None:
            self._add(
                HBarPlot,
                title=title,
                color=plain(color, "color"),
                y=middle,
                height=thickness,
                width=width,
                offset=offset,
                side=side,
                provisional=provisional,
            )

    def divline(
        self,
        x1: Any,
        y1: Any,
        x2: Any,
        y2: Any,
        color: Any = "blue",
        style: Any = "solid",
        title: Any = "",
        offset: Any = 0,
        provisional: Any = False,
    ) -> None:
        """A straight line between two points, such as a divergence.

        With a condition for x2 a line ends on every bar where it holds; x1, y1 and y2 are then
        series, or numbers, and tell on that bar where its line begins and how high it ends. Lines
        are drawn `offset` bars to the right (to the left if negative), as pivots are.
        """
        check_offset(offset)
        if type(x2) is Series or type(x2) in LISTS:
            self._divlines(x1, y1, x2, y2, color, style, title, offset, provisional)
            return
        first, last = self.canvas.bar(x1, "x1", offset), self.canvas.bar(x2, "x2", offset)
        begin, end = number(y1, "y1"), number(y2, "y2")
        if first is None or last is None or begin is None or end is None:
            return
        self._add(
            DivLinePlot,
            title=title,
            color=plain(color, "color"),
            x1=first,
            y1=begin,
            x2=last,
            y2=end,
            style=style,
            provisional=provisional,
        )

    def _divlines(
        self,
        x1: Any,
        y1: Any,
        x2: Any,
        y2: Any,
        color: Any,
        style: Any,
        title: Any,
        offset: int,
        provisional: Any,
    ) -> None:
        condition = self._read.condition(x2, "x2")
        series = [
            self._read.series(value, name, level=True)
            for value, name in ((x1, "x1"), (y1, "y1"), (y2, "y2"))
        ]
        bars, (begins, y1, y2) = _known(condition, *series)
        begins, ends = begins + offset, bars + offset
        if any_true(begins != np.floor(begins)):
            raise Fault("value", "x1 tells the numbers of bars, and they are whole")
        within = (np.minimum(begins, ends) >= 0) & (
            np.maximum(begins, ends) < self._size + FURTHEST
        )
        columns: dict[str, Any] = {"x1": begins.astype(np.int64), "y1": y1, "x2": ends, "y2": y2}
        paint = self._read.paint(color)
        if isinstance(paint, TextColumn):  # where it has no colour, a line is not drawn
            colors = list(paint.take(bars))
            columns["color"] = np.array(colors, object)
            within &= np.array([color is not None for color in colors], np.bool_)
        columns = {name: column[within].tolist() for name, column in columns.items()}
        count = len(columns["x1"])
        if not count:
            return
        first = {"color": paint} | {name: values[0] for name, values in columns.items()}
        template = self._add(
            DivLinePlot, title=title, style=style, provisional=provisional, **first
        )
        self._meter.charge(250 * (count - 1))
        self._check_text(title, "title", count - 1)
        self._reserve(plots=count - 1)
        try:
            self._plots += template.alike(**{name: rest[1:] for name, rest in columns.items()})
        except SceneError as error:
            raise _fault(error, DivLinePlot) from None

    def set_y_range(self, lo: Any, hi: Any) -> None:
        """The least and the greatest height the pane shows."""
        self._meter.charge(20)
        low, high = number(lo, "lo"), number(hi, "hi")
        if low is None or high is None or not low < high:
            raise Fault(
                "value", f"a range goes from low to high, not from {shown(lo)} to {shown(hi)}"
            )
        self._y_range = (low, high)

    def set_label(self, text: Any) -> None:
        """The name in the corner of the pane."""
        self._check_text(text, "text")
        self._label = text

    # ------------------------------------------------------------------------------------ objects

    new_label = LabelHandle.constructor()
    new_line = LineHandle.constructor()
    new_box = BoxHandle.constructor()
    new_table = TableHandle.constructor()
    new_polyline = PolylineHandle.constructor()
    new_linefill = LinefillHandle.constructor()

    # -------------------------------------------------------------------------------------- scene

    def scene(self) -> Scene:
        """Everything that was drawn and is still there."""
        canvas = self.canvas
        objects: dict[str, Any] = {
            channel: tuple(handle.draw() for handle in handles.values())
            for channel, handles in canvas.alive.items()
        }
        if sum(map(_text_chars, chain(*objects.values()))) > SCENE_TEXT_CHARS:
            raise Fault("size", f"all texts together have at most {SCENE_TEXT_CHARS:,} characters")
        if sum(len(polyline.points) for polyline in objects["polylines"]) > VERTICES:
            raise Fault("size", f"all polylines together have at most {VERTICES:,} points")
        plots = (plot.plot() if isinstance(plot, _Scattered) else plot for plot in self._plots)
        return Scene(
            plots=tuple(plots),
            signals=self._signals_by_bar(),
            y_range=self._y_range,
            label=self._label,
            limits={name: cap for name, cap in canvas.caps.items() if name in canvas.used},
            evicted=canvas.evicted,
            **objects,
        )

    def _signals_by_bar(self) -> Signals:
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

    # ------------------------------------------------------------------------------------- limits

    def _add(self, kind: type[P], **values: Any) -> P:
        self._meter.charge(150)
        self._check_text(values["title"], "title")
        points = 0
        for name, value in values.items():
            if type(value) is np.ndarray:
                points += len(value)
            elif name not in _CHECKED:
                measure(plain(value, name), kind.field_types[name], name)
        self._meter.charge(100 if points else 0)
        self._reserve(points)
        plot = _make(kind, **values)
        self._plots.append(plot)
        return plot

    def _check_text(self, value: Any, name: str, times: int = 1) -> None:
        if type(value) is not str:
            raise Fault("type", f"{name} is a string, not {a_type(value)}")
        if len(value) > OBJECT_TEXT_CHARS:
            raise Fault("size", f"{name} has at most {OBJECT_TEXT_CHARS} characters")
        self._text += len(value) * times
        if self._text > SCENE_TEXT_CHARS:
            raise Fault("size", f"all texts together have at most {SCENE_TEXT_CHARS:,} characters")

    def _reserve(self, points: int = 0, plots: int = 1) -> None:
        """Room for a plot with so many points, or for several plots without any."""
        if len(self._plots) + plots > PLOTS:
            raise Fault("size", f"a chart has at most {PLOTS} plots", "draw one series, or dots")
        self._point_count += points
        if self._point_count > POINTS:
            raise Fault("size", f"a chart has at most {POINTS:,} points")

    def _reserve_dots(self, count: int, label: str | None) -> None:
        self._meter.charge(count)
        self._dot_count += count
        if self._dot_count > DOTS:
            raise Fault("size", f"a chart has at most {DOTS:,} dots")
        self._dot_text += count * len(label or "")
        if self._dot_text > DOT_TEXT_CHARS:
            raise Fault(
                "size",
                f"the labels of all dots together have at most {DOT_TEXT_CHARS:,} characters",
                "a label stands at every dot: use a short one",
            )


def _make(kind: type[R], **values: Any) -> R:
    try:
        return kind(**values)
    except SceneError as error:
        raise _fault(error, kind) from None


def _fault(error: SceneError, kind: type[Record]) -> Fault:
    if error.unfit is None:
        return Fault("value", str(error))
    return refusal(error.unfit, kind.field_types[error.field], error.field)


class _Scattered:
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


def _known(condition: Array, *series: Array) -> tuple[Array, list[Array]]:
    """The bars where the condition holds and no series is na, and the series on those bars."""
    bars = condition.nonzero()[0]
    for values in series:
        if not all_true(known := np.isfinite(values[bars])):
            bars = bars[known]
    return bars, [values[bars] for values in series]


def _text_chars(drawn: DrawnObject) -> int:
    own = sum(len(getattr(drawn, name)) for name in drawn.texts)
    return own + sum(map(_text_chars, drawn.cells)) if isinstance(drawn, Table) else own
