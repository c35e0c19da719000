"""`chart`: where a script draws, and the scene that comes of it."""

from collections.abc import Mapping
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from chartpact.arrays import any_true
from chartpact.bars import Bars
from chartpact.drawing import CAPS, DEFAULT_CAP, OBJECTS, DrawnObject, SceneError, Table
from chartpact.drawing.fieldtypes import TINT
from chartpact.scene import (
    BackgroundPlot,
    BarColorPlot,
    BarsPlot,
    CandlesPlot,
    DivLinePlot,
    FillPlot,
    HBarPlot,
    HLinePlot,
    LinePlot,
    Plot,
    Scene,
)
from chartpact.script.errors import Fault
from chartpact.script.host.arguments import SeriesArguments, check_offset, number, plain
from chartpact.script.host.dots import Dots, Scattered, known_bars
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
from chartpact.script.host.plotlist import PlotList, fault
from chartpact.script.limits import SCENE_TEXT_CHARS, VERTICES
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import LISTS, HostObject, shown
from chartpact.textcolumn import TextColumn

PLOT_METHODS = (
    "line fill bars candles background bar_color dot shape hline hbar divline set_y_range set_label"
).split()
OBJECT_METHODS = [f"new_{kind.__name__.lower()}" for kind in OBJECTS.values()]


class ScriptChart(HostObject):
    """Collects what one run draws."""

    __slots__ = ("_dots", "_label", "_meter", "_plots", "_read", "_size", "_y_range", "canvas")
    type_name = "chart"
    methods = frozenset((*PLOT_METHODS, *OBJECT_METHODS))
    meant: ClassVar[Mapping[str, str]] = {
        "plot": "line",
        "plotshape": "shape",
        "plotchar": "shape",
        "plotarrow": "shape",
        "marker": "shape",
        "arrow": "shape",
        "plotcandle": "candles",
        "plotbar": "candles",
        "histogram": "bars",
        "columns": "bars",
        "bgcolor": "background",
        "barcolor": "bar_color",
        "band": "fill",
        "level": "hline",
        "label": "new_label",
        "text": "new_label",
        "box": "new_box",
        "rect": "new_box",
        "table": "new_table",
        "polyline": "new_polyline",
        "linefill": "new_linefill",
        "title": "set_label",
    }

    def __init__(self, bars: Bars, meta: Mapping[str, Any], meter: Meter) -> None:
        caps = {channel: meta.get(f"max_{channel}_count", DEFAULT_CAP) for channel in CAPS}
        self.canvas = Canvas(bars.time, meter, caps)
        self._meter = meter
        self._size = len(bars)
        self._read = SeriesArguments(len(bars), meter)
        self._plots = PlotList(meter)
        self._dots = Dots(len(bars), self._plots, self._read, meter)
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
        self._plots.add(
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
        self._plots.add(
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
        self._plots.add(
            BarsPlot,
            title=title,
            values=self._read.series(s, "s", level=True),
            color=self._read.paint(color),
            base=base,
            provisional=provisional,
        )

    def candles(
        self,
        o: Any,
        h: Any,
        l: Any,  # noqa: E741
        c: Any,
        color: Any = "auto",
        wick: Any = None,
        border: Any = None,
        title: Any = "",
        provisional: Any = False,
    ) -> None:
        """Candles of the indicator's own; wick and border have the colour of the body by default.

        `"auto"` is the theme's up colour where a candle closes at or above its open. A body whose
        colour is None is hollow: its border and its wick need a colour of their own.
        """
        prices = {
            field: self._read.series(value, name)
            for field, name, value in (
                ("open", "o", o),
                ("high", "h", h),
                ("low", "l", l),
                ("close", "c", c),
            )
        }
        self._plots.add(
            CandlesPlot,
            title=title,
            color=TextColumn.repeat(None, self._size) if color is None else self._read.paint(color),
            wick_color=None if wick is None else self._read.paint(wick, "wick"),
            border_color=None if border is None else self._read.paint(border, "border"),
            provisional=provisional,
            **prices,
        )

    def background(self, colors: Any, title: Any = "", provisional: Any = False) -> None:
        """Colours the background of the pane: one colour a bar, None where there is none.

        A colour hides the grid unless it is transparent, such as `#08998120`.
        """
        self._tint(BackgroundPlot, colors, title, provisional)

    def bar_color(self, colors: Any, title: Any = "", provisional: Any = False) -> None:
        """Colours the chart's own bars: one colour a bar, None where a bar keeps its own.

        An indicator in a panel may do so too. Of several, the last that colours a bar decides.
        """
        self._tint(BarColorPlot, colors, title, provisional)

    def _tint(self, kind: type[Plot], colors: Any, title: Any, provisional: Any) -> None:
        paint = self._read.paint(colors, "colors", TINT)
        self._plots.add(kind, title=title, color=paint, provisional=provisional)

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
        self._dots.dot(x, y, color, size, label, title, offset, provisional)

    def shape(
        self,
        where: Any,
        shape: Any = "xcross",
        location: Any = "abovebar",
        color: Any = "blue",
        size: Any = "auto",
        text: Any = "",
        textcolor: Any = None,
        title: Any = "",
        offset: Any = 0,
        provisional: Any = False,
    ) -> None:
        """A shape on every bar where a condition holds.

        `shape` is `xcross`, `cross`, `circle`, `square`, `diamond`, `flag`, `triangleup`,
        `triangledown`, `arrowup`, `arrowdown`, `labelup` or `labeldown` (the text is inside);
        `location` is `abovebar`, `belowbar`, `top`, `bottom` or `absolute`: then `where` is a
        series of heights, na where there is no shape. In a panel, `abovebar` and `belowbar` are
        its top and bottom. `size` is `tiny`, `small`, `normal`, `large`, `huge` or `auto`. `text`
        may be one for each bar. A signal is a dot with a label, and not a shape.
        """
        self._dots.shape(
            where, shape, location, color, size, text, textcolor, title, offset, provisional
        )

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
            self._plots.add(
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
            self._plots.add(
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
        self._plots.add(
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
        bars, (begins, y1, y2) = known_bars(condition, *series)
        begins, ends = begins + offset, bars + offset
        if any_true(begins != np.floor(begins)):
            raise Fault("value", "x1 must hold whole numbers of bars")
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
        template = self._plots.add(
            DivLinePlot, title=title, style=style, provisional=provisional, **first
        )
        self._meter.charge(250 * (count - 1))
        self._plots.check_text(title, "title", count - 1)
        self._plots.reserve(plots=count - 1)
        try:
            self._plots.plots += template.alike(
                **{name: rest[1:] for name, rest in columns.items()}
            )
        except SceneError as error:
            raise fault(error, DivLinePlot) from None

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
        self._meter.charge(20)
        self._plots.check_text(text, "text")
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
        plots = self._plots.plots
        return Scene(
            plots=tuple(plot.plot() if isinstance(plot, Scattered) else plot for plot in plots),
            signals=self._dots.signals(),
            y_range=self._y_range,
            label=self._label,
            limits={name: cap for name, cap in canvas.caps.items() if name in canvas.used},
            evicted=canvas.evicted,
            **objects,
        )


def _text_chars(drawn: DrawnObject) -> int:
    own = sum(len(getattr(drawn, name)) for name in drawn.texts)
    return own + sum(map(_text_chars, drawn.cells)) if isinstance(drawn, Table) else own
