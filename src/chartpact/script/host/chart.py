"""`chart`: where a script draws, and the scene that comes of it."""

import math
from collections.abc import Mapping
from itertools import chain
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from chartpact import palette
from chartpact.arrays import all_true, any_true
from chartpact.bars import Bars
from chartpact.checks import Unfit
from chartpact.drawing import CAPPED, OBJECTS, DrawnObject, Record, SceneError, Table
from chartpact.drawing.fieldtypes import COLOR
from chartpact.scene import (
    NOTHING,
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
    displaced,
)
from chartpact.script.errors import Fault
from chartpact.script.host.arguments import measure, number, plain, refusal, whole
from chartpact.script.host.objects import (
    FURTHEST,
    BoxHandle,
    Canvas,
    LabelHandle,
    LineHandle,
    TableHandle,
)
from chartpact.script.limits import (
    DOT_TEXT_CHARS,
    DOTS,
    OBJECT_TEXT_CHARS,
    PLOTS,
    POINTS,
    SCENE_TEXT_CHARS,
)
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Array, NotANumber, Series, TextSeries, array_of
from chartpact.script.runtime.values import LISTS, HostObject, a_type, shown
from chartpact.textcolumn import TextColumn

R = TypeVar("R", bound=Record)

PLOT_METHODS = "line fill bars dot hline hbar divline set_y_range set_label".split()
FURTHEST_OFFSET = 10_000
_CHECKED = frozenset(("color", "points"))  # before they come to a plot
OBJECT_METHODS = [f"new_{kind.__name__.lower()}" for kind in OBJECTS.values()]


class Chart(HostObject):
    """Collects what one run draws."""

    __slots__ = (
        "_count_of_dots",
        "_dot_text",
        "_dots",
        "_label",
        "_meter",
        "_numbers",
        "_plots",
        "_scattered",
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
        caps = {
            channel: meta.get(f"max_{channel}_count", palette.DEFAULT_CAP) for channel in CAPPED
        }
        self.canvas = Canvas(bars.time, meter, caps)
        self._meter = meter
        self._size = len(bars)
        self._plots: list[Plot | _Scattered] = []
        self._scattered: dict[str, _Scattered] = {}
        self._dots: list[tuple[Array, Array, str, int]] = []  # bars, heights, name, offset
        self._count_of_dots = 0
        self._dot_text = 0
        self._numbers = 0
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
    ) -> None:
        """A line through the value of each bar, displaced by `offset` bars to the right."""
        values, ahead = self._moved(self._series(s, "s"), offset)
        self._add(
            LinePlot,
            title=title,
            color=self._paint(color),
            values=values,
            width=width,
            style=style,
            ahead=ahead,
        )

    def fill(
        self,
        a: Any,
        b: Any,
        color: Any = "auto",
        alpha: Any = 0.2,
        title: Any = "",
        offset: Any = 0,
    ) -> None:
        """The area between two series, or between a series and a level."""
        if type(alpha) in (int, float) and not 0 <= alpha <= 1:
            hint = "0.2 lets four fifths of what is below shine through"
            raise Fault("value", f"alpha is from 0 to 1, not {shown(alpha)}", hint)
        first, a_ahead = self._moved(self._series(a, "a", level=True), offset)
        second, b_ahead = self._moved(self._series(b, "b", level=True), offset)
        self._add(
            FillPlot,
            title=title,
            color=self._paint(color),
            a=first,
            b=second,
            alpha=alpha,
            a_ahead=a_ahead,
            b_ahead=b_ahead,
        )

    def bars(self, s: Any, title: Any = "", color: Any = "blue", base: Any = 0) -> None:
        """Columns from `base` to the value of each bar."""
        values = self._series(s, "s", level=True)
        self._add(BarsPlot, title=title, color=self._paint(color), values=values, base=base)

    def dot(
        self,
        x: Any,
        y: Any,
        color: Any = "blue",
        size: Any = 4,
        label: Any = None,
        title: Any = "",
        offset: Any = 0,
    ) -> None:
        """A dot on a bar, or on every bar where a condition holds; with a label it is a signal.

        It is drawn `offset` bars to the right (to the left if negative), as a pivot is; the signal
        still counts as known on bar x.
        """
        if label is not None:
            self._check_text(label, "label")
        _check_offset(offset)
        if type(x) is Series or type(x) in LISTS:
            self._dot_series(x, y, color, size, label, title, offset)
            return
        self._meter.charge(45 if label is None else 190)
        height = number(y, "y")
        bar = whole(x, "x")
        self._check_text(title, "title")
        if height is None or bar is None:
            return
        if not 0 <= bar < self._size:
            told = f"x is the number of a bar, from 0 to {self._size - 1}, not {shown(bar)}"
            raise Fault("value", told)
        if not 0 <= bar + offset < self._size:
            raise Fault("value", f"offset: there is no bar {bar + offset}")
        dots = self._scattered.get(title)
        if dots is None:
            dots = self._scattered[title] = _Scattered(title)
            self._reserve()
            self._plots.append(dots)
        self._count(1, label)
        dots.add(bar + offset, height, color, size, label)
        if label is not None:
            self._dots.append((np.array([bar]), np.array([height]), label, offset))

    def _dot_series(
        self, x: Any, y: Any, color: Any, size: Any, label: Any, title: Any, offset: int
    ) -> None:
        self._meter.charge(800)
        condition = self._condition(x, "x")
        at, (heights,) = _drawn(condition, self._series(y, "y", level=True))
        first, last = np.searchsorted(at, (-offset, self._size - offset))
        at, heights = at[first:last], heights[first:last]
        self._count(len(at), label)
        if label is not None:
            self._meter.charge(len(at))
        measure(plain(size, "size"), Point.field_types["size"], "size")
        one = self._make(Point, x=0, y=0.0, size=size, label=label)
        points = Points.like(one, x=at + offset, y=heights)
        paint = self._paint(color)
        if isinstance(paint, TextColumn):
            paint = paint.take(at)
        self._add(DotPlot, title=title, color=paint, points=points)
        if label is not None:
            self._dots.append((at, heights, label, offset))

    def hline(self, y: Any, color: Any = "gray", style: Any = "solid", title: Any = "") -> None:
        """A level across the pane."""
        height = number(y, "y")
        if height is not None:
            paint = plain(color, "color")
            self._add(HLinePlot, title=title, color=paint, y=height, style=style)

    def hbar(
        self,
        y: Any,
        height: Any,
        width: Any,
        color: Any = "blue",
        offset: Any = 0,
        side: Any = "left",
        title: Any = "",
    ) -> None:
        """A bar of a profile, lying; width and offset are shares of the pane."""
        numbers = [number(each, name) for each, name in ((y, "y"), (height, "height"))]
        if None not in numbers:
            self._add(
                HBarPlot,
                title=title,
                color=plain(color, "color"),
                y=numbers[0],
                height=numbers[1],
                width=width,
                offset=offset,
                side=side,
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
    ) -> None:
        """A straight line between two points, such as a divergence.

        With a condition for x2 a line ends on every bar where it holds; x1, y1 and y2 are then
        series, or numbers, and tell on that bar where its line begins and how high it ends. Lines
        are drawn `offset` bars to the right (to the left if negative), as pivots are.
        """
        _check_offset(offset)
        if type(x2) is Series or type(x2) in LISTS:
            self._lines(x1, y1, x2, y2, color, style, title, offset)
            return
        first = self.canvas.bar(x1, "x1", offset)
        last = self.canvas.bar(x2, "x2", offset)
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
        )

    def _lines(
        self, x1: Any, y1: Any, x2: Any, y2: Any, color: Any, style: Any, title: Any, offset: int
    ) -> None:
        ends = self._condition(x2, "x2")
        columns = [
            self._series(each, name, level=True)
            for each, name in ((x1, "x1"), (y1, "y1"), (y2, "y2"))
        ]
        at, (begins, *heights) = _drawn(ends, *columns)
        begins = begins + offset
        if any_true(begins != np.floor(begins)):
            raise Fault("value", "x1 tells the numbers of bars, and they are whole")
        kept = (np.minimum(begins, at + offset) >= 0) & (
            np.maximum(begins, at + offset) < self._size + FURTHEST
        )
        at, begins = at[kept], begins[kept].astype(np.int64)
        y1, y2 = (each[kept] for each in heights)
        paint = self._paint(color)
        rows = {"x1": begins, "y1": y1, "x2": at + offset, "y2": y2}
        if isinstance(paint, TextColumn):
            colors = list(paint.take(at))
            painted = np.flatnonzero([each is not None for each in colors])
            rows = {name: each[painted] for name, each in rows.items()}
            rows["color"] = np.array(colors, object)[painted]
            at = at[painted]
        if not len(at):
            return
        first = {"color": paint} | {name: each[:1].tolist()[0] for name, each in rows.items()}
        self._add(DivLinePlot, title=title, style=style, **first)
        self._meter.charge(250 * (len(at) - 1))
        self._check_text(title, "title", len(at) - 1)
        self._reserve(plots=len(at) - 1)
        for each in dict.fromkeys(rows.get("color", ())):  # a wrong one is told as any other is
            self._make(DivLinePlot, **first | {"color": each})
        others = {name: each[1:] for name, each in rows.items()}
        self._plots += cast(DivLinePlot, self._plots[-1]).alike(**others)

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

    # -------------------------------------------------------------------------------------- scene

    def scene(self) -> Scene:
        """Everything that was drawn and is still there."""
        canvas = self.canvas
        drawn: dict[str, Any] = {
            channel: tuple(handle.draw() for handle in handles.values())
            for channel, handles in canvas.alive.items()
        }
        if sum(map(_text_chars, chain(*drawn.values()))) > SCENE_TEXT_CHARS:
            raise Fault("size", f"all texts together have at most {SCENE_TEXT_CHARS:,} characters")
        plots = tuple(each.plot() if isinstance(each, _Scattered) else each for each in self._plots)
        return Scene(
            plots=plots,
            signals=self._signals(),
            y_range=self._y_range,
            label=self._label,
            limits={name: cap for name, cap in canvas.caps.items() if name in canvas.used},
            evicted=canvas.evicted,
            **drawn,
        )

    def _signals(self) -> Signals:
        if not self._dots:
            return Signals()
        bars, values, names, offsets = zip(*self._dots, strict=True)
        counts = [len(each) for each in bars]
        known = np.concatenate(bars)
        bar = known + np.repeat(offsets, counts)
        number = {name: i for i, name in enumerate(dict.fromkeys(names))}
        which = np.repeat([number[name] for name in names], counts)
        order = np.argsort(bar, kind="stable")
        return Signals(
            bar=bar[order],
            confirmed_bar=known[order],
            value=np.concatenate(values)[order],
            name=TextColumn(number, which[order]),
        )

    # ------------------------------------------------------------------------------------- checks

    def _series(self, value: Any, name: str, level: bool = False) -> Array:
        kind = type(value)
        self._meter.charge(100 + self._size // 32)
        if kind is Series:
            array = value.array
        elif kind in LISTS:
            array = self._listed(value, name)
        elif level and kind in (int, float):
            height = number(value, name)
            array = np.full(self._size, math.nan if height is None else height)
        else:
            raise Fault("type", f"{name} is a series, not {a_type(value)}", _INSTEAD.get(kind, ""))
        if array.dtype == np.bool_:
            raise Fault(
                "type",
                f"{name} is a condition and has no heights",
                "draw it with chart.dot(cond, y), or turn it into numbers: ta.where(cond, 1, 0)",
            )
        self._check_length(len(array), name, kind in LISTS)
        floats: Array = array.astype(np.float64, copy=False)
        floats.flags.writeable = False  # nothing changes a series, so plots may share it
        return floats

    def _listed(self, values: list[Any], name: str) -> Array:
        try:
            return array_of(values, None, self._meter)
        except NotANumber as error:
            hint = "a list that stands for a series holds one number a bar, None where it is na"
            raise Fault("type", f"{name} holds {a_type(error.value)}", hint) from None

    def _check_length(self, length: int, name: str, listed: bool = False) -> None:
        if length != self._size:
            hint = "a higher timeframe comes to the chart's bars with ohlcv.security"
            if listed:
                hint = "a list stands for a series if it has one value a bar, None where it is na"
            raise Fault(
                "value", f"{name} has {length} values, and the chart has {self._size} bars", hint
            )

    def _condition(self, value: Any, name: str) -> Array:
        """A condition that stands for bars."""
        array = value.array if type(value) is Series else self._listed(value, name)
        if array.dtype != np.bool_:
            raise Fault(
                "type",
                f"{name} is a condition, such as a > b, or the number of one bar",
                "for many bars by number, draw in a loop",
            )
        self._check_length(len(array), name, type(value) is not Series)
        return array

    def _moved(self, values: Array, offset: Any) -> tuple[Array, Array]:
        """The series moved to the right, and what then stands right of the last bar."""
        _check_offset(offset)
        self._meter.charge(self._size // 8 if offset else 0)
        return displaced(values, offset) if offset else (values, NOTHING)

    def _paint(self, color: Any) -> Any:
        """One colour, or one for each bar."""
        kind = type(color)
        if kind is TextSeries:
            self._meter.charge(10 + len(color.texts.categories))
            self._check_length(len(color.texts), "color")
            return color.texts
        if kind is Series:
            hint = 'choose one for each bar: ta.where(cond, "green", "red")'
            raise Fault("type", "color is a colour, not a series", hint)
        if kind not in LISTS:
            return plain(color, "color")
        self._meter.charge(10 + 2 * len(color))
        self._check_length(len(color), "color", listed=True)
        if not set(map(type, color)) <= {str, type(None)}:
            raise Fault("type", "a list of colours holds strings, or None where nothing is drawn")
        return TextColumn.encode(color)

    def _check_text(self, value: Any, name: str, times: int = 1) -> None:
        if type(value) is not str:
            raise Fault("type", f"{name} is a string, not {a_type(value)}")
        if len(value) > OBJECT_TEXT_CHARS:
            raise Fault("size", f"{name} has at most {OBJECT_TEXT_CHARS} characters")
        self._text += len(value) * times
        if self._text > SCENE_TEXT_CHARS:
            raise Fault("size", f"all texts together have at most {SCENE_TEXT_CHARS:,} characters")

    def _count(self, dots: int, label: str | None) -> None:
        self._meter.charge(dots)
        self._count_of_dots += dots
        if self._count_of_dots > DOTS:
            raise Fault("size", f"a chart has at most {DOTS:,} dots")
        self._dot_text += dots * len(label or "")
        if self._dot_text > DOT_TEXT_CHARS:
            raise Fault(
                "size",
                f"the labels of all dots together have at most {DOT_TEXT_CHARS:,} characters",
                "a label stands at every dot: use a short one",
            )

    def _reserve(self, numbers: int = 0, plots: int = 1) -> None:
        """Room for one more plot with so many numbers, or for several without any."""
        if len(self._plots) + plots > PLOTS:
            raise Fault("size", f"a chart has at most {PLOTS} plots", "draw one series, or dots")
        self._numbers += numbers
        if self._numbers > POINTS:
            raise Fault("size", f"a chart has at most {POINTS:,} points")

    def _add(self, plot: type[Plot], **given: Any) -> None:
        self._meter.charge(150)
        self._check_text(given["title"], "title")
        numbers = 0
        for name, value in given.items():
            if type(value) is np.ndarray:
                numbers += len(value)
            elif name not in _CHECKED:
                measure(plain(value, name), plot.field_types[name], name)
        self._meter.charge(100 if numbers else 0)
        self._reserve(numbers)
        self._plots.append(self._make(plot, **given))

    @staticmethod
    def _make(kind: type[R], **values: Any) -> R:
        try:
            return kind(**values)
        except SceneError as error:
            if error.unfit is None:
                raise Fault("value", str(error)) from None
            raise refusal(error.unfit, kind.field_types[error.field], error.field) from None


_INSTEAD: Mapping[type, str] = {  # of a series
    tuple: "take its parts first, as in a, b, c = …",
    int: "chart.hline(y) draws a level",
    float: "chart.hline(y) draws a level",
    str: "write ohlcv.close, or a parameter of the type source",
}


class _Scattered:
    """Dots that were drawn one by one, in one plot."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._x: list[int] = []
        self._y: list[float] = []
        self._size: list[float] = []
        self._label: list[str | None] = []
        self._color: list[str] = []

    def add(self, x: int, y: float, color: Any, size: Any, label: str | None) -> None:
        if type(size) not in (int, float):
            raise Fault("type", f"size is a number of pixels, not {a_type(size)}")
        if not measure(size, Point.field_types["size"], "size") >= 0:
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
        return DotPlot(title=self._title, color=color, points=points)


def _drawn(condition: Array, *columns: Array) -> tuple[Array, list[Array]]:
    """The bars where the condition holds and no column is na, and the columns on those bars."""
    at = condition.nonzero()[0]
    for each in columns:
        if not all_true(known := np.isfinite(each[at])):
            at = at[known]
    return at, [each[at] for each in columns]


def _check_offset(offset: Any) -> None:
    if type(offset) is not int:
        raise Fault("type", f"offset is a number of bars, not {a_type(offset)}")
    if abs(offset) > FURTHEST_OFFSET:
        raise Fault("value", f"offset is at most {FURTHEST_OFFSET:,} bars, not {shown(offset)}")


def _text_chars(drawn: DrawnObject) -> int:
    own = sum(len(getattr(drawn, name)) for name in drawn.texts)
    return own + sum(map(_text_chars, drawn.cells)) if isinstance(drawn, Table) else own
