"""The composition of a picture: panes, scales, axes and everything drawn, in one display list."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chartpact.prices import decimals_of
from chartpact.render import (
    axes,
    backgrounds,
    boxes,
    candles,
    errorcard,
    labels,
    legend,
    lines,
    panes,
    plots,
    polylines,
    shading,
    shapes,
    tables,
    timeaxis,
    titles,
    typesetting,
    weight,
)
from chartpact.render.axes import Tag
from chartpact.render.deadline import Deadline
from chartpact.render.display import (
    Area,
    Begin,
    DisplayList,
    End,
    Op,
    Rects,
    Shape,
    Stroke,
    Words,
    bounding_box,
)
from chartpact.render.errors import RenderError
from chartpact.render.frame import SMALL, ChartView, Frame, Timeline
from chartpact.render.legend import Row
from chartpact.render.look import Look
from chartpact.render.numberformat import NumberFormat, price_format, range_format
from chartpact.render.panes import Content
from chartpact.render.scales import BarScale, ValueScale
from chartpact.render.textblock import Occupied
from chartpact.render.theme import fade, theme
from chartpact.scene import BackgroundPlot, BarColorPlot, DivLinePlot, HBarPlot, HLinePlot, LinePlot
from chartpact.textcolumn import TextColumn

RIGHT_MARGIN = (0.045, 26.0, 60.0)  # between the last bar and the axis: a share, and its ends
LEAST_AXIS = 46.0
WIDEST_AXIS = 0.45  # of the picture
AXIS = 70.0  # pixels: the width of the axis until it is measured
FLOOR = 8.0  # pixels free of values at the bottom of a pane
MOST_TAGS = 8
SMALL_PANE = 34  # pixels: a lower one has no legend


@dataclass
class Pane:
    """A pane while the picture is composed."""

    content: Content
    area: Area
    value_format: NumberFormat  # of last values
    tick_format: NumberFormat
    scale: ValueScale
    ticks: list[float]
    rows: list[Row]


def compose(chart: ChartView, look: Look) -> DisplayList:
    """The display list of a chart."""
    return _Composer(chart, look).picture()


class _Composer:
    def __init__(self, chart: ChartView, look: Look) -> None:
        self.deadline = Deadline()
        self.chart = chart
        self.look = look
        self.theme = theme(look.theme)
        self.timeline = Timeline(chart.bars)
        self.prices = _prices(chart, look.kind)
        contents = panes.contents(chart, look.volume)
        self.sheets = {id(pane): tables.sheets(pane.tables, self.deadline) for pane in contents}
        self.width = look.width
        self.height = look.height or panes.free_height(contents)
        self.bottom = self.height - axes.TIME_HEIGHT
        self.panes = self._stack(contents, self.width - AXIS)
        self.right = self.width - self._axis_width()
        if self.right < self.width - AXIS:  # the legends have less room than was assumed
            self.panes = self._stack(contents, self.right)
        share, least, most = RIGHT_MARGIN
        margin = min(max(share * self.right, least), most)
        ahead = panes.ahead(contents, self.timeline)
        self.bars = BarScale(len(chart.bars), 0.0, self.right - margin, ahead)
        time = self.timeline.times(int(self.bars.ahead))
        ticks = timeaxis.ticks(time, self.bars.step, look.tz, SMALL)
        self.times = axes.arrange_times(ticks, time, self.bars, self.right, look.tz)
        days = timeaxis.day_starts(time, look.tz)
        apart = self.right / (len(days) + 1)
        between = [self.bars.x1(bar - 0.5) for bar in days.tolist()]
        self.days = between if apart >= axes.DAYS_APART else []
        for pane in self.panes:
            pane.area = Area(0.0, pane.area.top, self.right, pane.area.bottom)

    # ----------------------------------------------------------------------------------- layout

    def _stack(self, contents: list[Content], right: float) -> list[Pane]:
        stack, top = [], 0.0
        heights = panes.heights(contents, self.bottom)
        for content, height in self.deadline.watch(zip(contents, heights, strict=True)):
            area = Area(0.0, top, right, top + height)
            stack.append(self._pane(content, area))
            top += height
        return stack

    def _pane(self, content: Content, area: Area) -> Pane:
        span, value_format = self._values(content)
        log = self.look.log and content.kind == "price"
        low, high = span or (0.0, 1.0)
        if log and low <= 0:
            raise RenderError(f"a log scale needs prices above 0, and the lowest here is {low:g}")
        rows = self._legend(content, value_format, area)
        head, foot = self._margins(content, rows, area.height)
        scale = ValueScale(low, high, area.top + head, area.bottom - foot, log)
        ticks = self._ticks(content, scale, area) if span else []
        tick_format = value_format
        if len(ticks) > 1 and not value_format.compact:
            step = min(b - a for a, b in pairwise(ticks))
            least = value_format.decimals if content.kind == "price" else 0
            tick_format = NumberFormat(max(least, decimals_of(step)))
        return Pane(content, area, value_format, tick_format, scale, ticks, rows)

    def _values(self, content: Content) -> tuple[tuple[float, float] | None, NumberFormat]:
        """The span of a pane's values, if it has any, and how to write them."""
        bars = self.chart.bars
        if content.kind == "volume":
            return (0.0, float(np.nanmax(bars.volume)) or 1.0), NumberFormat(0, compact=True)
        if content.kind == "price":
            span = panes.value_range(content, _span(self.prices), self.timeline, self.look.log)
            return span, price_format(bars.close, bars.tick_size)
        span = panes.value_range(content, None, self.timeline, log=False)
        return span, range_format(*(span or (0.0, 1.0)))

    def _margins(self, content: Content, rows: list[Row], height: float) -> tuple[float, float]:
        """Pixels free of values at the top and at the bottom of a pane."""
        bars = len(self.chart.bars)
        above, below = panes.label_room(content, self.width / max(bars, 1), bars)
        head = min(legend.height(rows) + 6 + above, height * 0.45)
        foot = min(FLOOR + below, height * 0.25)
        if content.kind == "volume":
            foot = 0.0
        elif content.kind == "price" and self.look.volume == "overlay":
            foot = max(foot, height * 0.12)
        return head, foot

    def _ticks(self, content: Content, scale: ValueScale, area: Area) -> list[float]:
        tick_size = self.chart.bars.tick_size if content.kind == "price" else None
        for spacing in axes.label_spacings(area.height):
            ticks = scale.ticks(area.top, area.bottom, spacing, tick_size)
            if content.kind != "price" and content.fixed:
                ticks = [tick for tick in ticks if tick <= scale.high]
            if sum(axes.is_inside(scale.y1(tick), area) for tick in ticks) > axes.SEEN:
                break
        return ticks

    def _legend(self, content: Content, value_format: NumberFormat, area: Area) -> list[Row]:
        room = area.width - 2 * legend.LEFT
        for sheet in self.sheets[id(content)]:  # the legend leaves room for tables
            position = sheet.table.position
            if position not in ("top_right", "top_center"):
                continue
            grid = tables.measure(sheet, area, self.deadline)
            if position == "top_right":
                room = min(room, area.width - grid.width - 2 * tables.MARGIN - legend.LEFT)
            else:
                room = min(room, (area.width - grid.width) / 2 - legend.LEFT - tables.MARGIN)
        room = max(room, 80.0)
        most = max(1, int(area.height * 0.3 / legend.ROW))
        entries = [
            legend.entry(titles.name_of(drawn, scene), scene, value_format, self.theme)
            for drawn, scene in content.drawn
        ]
        if content.kind == "price":
            known = self.chart.history or self.chart.bars
            before = float(known.close[-2]) if len(known) > 1 else None
            title = titles.title_row(self.chart.bars, before, value_format, room, self.theme)
            rest = legend.arrange(entries, room, most - 1, self.theme) if most > 1 else []
            return [title, *rest] if title else rest
        if area.height < SMALL_PANE:
            return []
        if content.kind == "volume":
            entries = [titles.volume_entry(self.chart.bars, value_format, self.theme)]
        return legend.arrange(entries, room, most, self.theme)

    def _axis_width(self) -> float:
        """Wide enough for every label and every tag."""
        widest = 0.0
        for pane in self.panes:
            labels = [pane.tick_format(value) for value in pane.ticks]
            labels += [pane.value_format(value) for value in (pane.scale.low, pane.scale.high)]
            if pane.content.kind != "error":
                widest = max(widest, *(typesetting.width(label, SMALL) for label in labels))
        return float(min(max(LEAST_AXIS, round(widest + 2 * axes.PAD)), self.width * WIDEST_AXIS))

    # ---------------------------------------------------------------------------------- drawing

    def picture(self) -> DisplayList:
        bars = self.chart.bars
        title = titles.title_of(bars) + (", synthetic data" if bars.synthetic else "")
        picture = DisplayList(self.width, self.height, self.theme.background, title)
        for pane in self.deadline.watch(self.panes):
            picture.add(*self._draw(pane))
        picture.add(*self._frame())
        weight.check(picture, self.look.scale)
        return picture

    def _draw(self, pane: Pane) -> list[Op]:
        frame = Frame(pane.area, self.bars, pane.scale, self.theme, self.timeline)
        if pane.content.failed is not None:
            inner = errorcard.draw(pane.content.failed, pane.area, self.theme)
            return [Begin("pane error"), *inner, End()]
        xs = [label.line for label in self.times if label.line is not None]
        ops: list[Op] = [Begin(f"pane {pane.content.kind}")]
        ops += self._shade(frame)
        ops += axes.grid(frame, pane.ticks, xs, self.days)
        ops += self._clip(self._plots(pane, frame), frame)
        ops += self._last_price(frame) if pane.content.kind == "price" else []
        words, places = legend.draw(pane.rows, pane.area, self.theme)
        occupied = Occupied(pane.area, self.deadline)
        sheets = self.sheets[id(pane.content)]
        spots = tables.arrange(sheets, pane.area, places, self.deadline)
        for place in (*places, *(spot for _, spot in spots)):
            occupied.add(place)
        ops += self._clip(self._objects(pane, frame, occupied), frame)
        watch = self.deadline.watch
        drawn = [op for grid, spot in watch(spots) for op in tables.draw(grid, spot, frame)]
        ops += self._clip(drawn, frame)
        ops += words
        ops += axes.values(frame, pane.ticks, pane.tick_format, self._tags(pane, frame), self.width)
        ops.append(End())
        return ops

    def _shade(self, frame: Frame) -> list[Op]:
        if self.look.sessions is None:
            return []
        shaded = shading.shaded(self.chart.bars, self.look.sessions, self.look.tz)
        colors = TextColumn((None, self.theme.shade), shaded.astype(np.int64))
        return backgrounds.draw(BackgroundPlot(color=colors), frame)

    def _plots(self, pane: Pane, frame: Frame) -> list[Op]:
        layers: dict[str, list[Op]] = {layer: [] for layer in plots.LAYERS}
        for _, scene in pane.content.drawn:
            for plot in self.deadline.watch(scene.plots):
                if ops := plots.draw(plot, frame):
                    layers[plot.kind] += ops
        if pane.content.kind == "price":
            if self.look.volume == "overlay":
                layers["fill"][:0] = self._volume(frame, 0.18)
            layers["price"] = candles.KINDS[self.look.kind](self.prices, frame, self._tints())
        elif pane.content.kind == "volume":
            layers["bars"] = self._volume(frame, 1.0)
        return [op for layer in plots.LAYERS for op in layers[layer]]

    def _tints(self) -> list[BarColorPlot]:
        """The colours that indicators of all panes give to the chart's own bars."""
        scenes = (drawn.scene for drawn in self.chart.drawn if drawn.scene is not None)
        plots = (plot for scene in scenes for plot in scene.plots)
        return [plot for plot in plots if isinstance(plot, BarColorPlot)]

    def _volume(self, frame: Frame, share: float) -> list[Op]:
        bars = self.chart.bars
        if not np.isfinite(bars.volume).any():
            return []
        top = float(np.nanmax(bars.volume)) or 1.0
        low = frame.area.bottom if share < 1 else frame.values.bottom
        high = low - frame.area.height * share if share < 1 else frame.values.top
        scale = ValueScale(0.0, top, high, low)
        rising = bars.close >= bars.open
        codes = np.where(rising, 0, 1)
        colors = [self.theme.volume_up, self.theme.volume_down]
        if share < 1:
            colors = [fade(color, 0.6) for color in colors]
        inner = Frame(frame.area, self.bars, scale, self.theme, self.timeline)
        return plots.columns(bars.volume, 0.0, colors, codes, inner, None)

    def _objects(self, pane: Pane, frame: Frame, occupied: Occupied) -> list[Op]:
        content, watch = pane.content, self.deadline.watch
        placed = labels.arrange(content.labels, frame, occupied)
        texts = [op for box in reversed(content.boxes) for op in boxes.write(box, frame, occupied)]
        drawn_plots = [plot for _, scene in content.drawn for plot in scene.plots]
        profile = any(isinstance(plot, HBarPlot) and plot.side == "right" for plot in drawn_plots)
        side = "left" if profile else "right"  # names keep off the profile
        has_price = content.kind == "price"
        levels = [
            op
            for plot in drawn_plots
            if isinstance(plot, HLinePlot) and plot.title
            for op in plots.level_title(plot, frame, occupied, side, has_price)
        ]
        levels += [
            op
            for plot in drawn_plots
            if isinstance(plot, LinePlot | DivLinePlot) and plot.title
            for op in plots.end_title(plot, frame, occupied)
        ]
        ops = [op for box in watch(content.boxes) for op in boxes.draw(box, frame)]
        for one, other, fill in watch(content.linefills):
            ops += polylines.fill_between(one, other, fill.color, frame)
        ops += [op for line in watch(content.lines) for op in lines.draw(line, frame)]
        ops += [op for line in watch(content.polylines) for op in polylines.draw(line, frame)]
        top = frame.area.top + legend.height(pane.rows) + 2
        ops += shapes.draw(content.shapes(), frame, top, has_price, occupied)
        ops += [op for label in placed for op in labels.thread(label, frame)]
        return ops + levels + texts + [op for label in placed for op in labels.draw(label, frame)]

    def _clip(self, ops: list[Op], frame: Frame) -> list[Op]:
        """The operations, clipped only where one would stick out: clipping is slow."""
        if all(frame.area.grow(0.5).holds(bounding_box(op)) for op in ops):
            return ops
        return [Begin("clip", clip=frame.area), *ops, End()]

    def _last_price(self, frame: Frame) -> list[Op]:
        if not len(self.chart.bars):
            return []
        y = round(frame.values.y1(float(self.chart.bars.close[-1]))) + 0.5
        if not frame.area.top <= y <= frame.area.bottom:
            return []
        ends = np.array([frame.area.left, frame.area.right])
        color = fade(titles.rising(self.chart.bars, self.theme), 0.75)
        dots = Stroke(color, 1.0, (1.0, 2.5), round=False)
        return [Shape([(ends, np.array([y, y]))], stroke=dots)]

    def _tags(self, pane: Pane, frame: Frame) -> list[Tag]:
        tags: list[Tag] = []
        if pane.content.kind == "price" and len(self.chart.bars):
            last = float(self.chart.bars.close[-1])
            color = titles.rising(self.chart.bars, self.theme)
            tags.append(Tag(frame.values.y1(last), pane.value_format(last), color, first=True))
        for _, scene in pane.content.drawn:
            for plot in legend.tagged(scene):
                value, paint = legend.last_value(plot), legend.last_color(plot, self.theme)
                if value is not None and paint is not None and len(tags) < MOST_TAGS:
                    tags.append(Tag(frame.values.y1(value), pane.value_format(value), paint))
        return [tag for tag in tags if np.isfinite(tag.y)]

    def _frame(self) -> list[Op]:
        """The lines between panes and axes, and the times."""
        edges = [(0, int(pane.area.bottom), self.width, 1) for pane in self.panes]
        edges.append((int(self.right), 0, 1, int(self.bottom)))
        area = Area(0.0, self.bottom, self.right, float(self.height))
        ops: list[Op] = [
            Begin("axis"),
            Rects(np.array(edges, dtype=np.int64), self.theme.frame),
            *axes.times(self.times, area, self.theme),
        ]
        name = typesetting.fit(
            self.look.tz.rpartition("/")[2].replace("_", " "), 10, self.width - self.right - 8
        )
        y = self.bottom + axes.TIME_HEIGHT / 2 + 10 * typesetting.CAP_HEIGHT / 2
        ops.append(Words(self.right + axes.PAD, y, name, 10, self.theme.muted))
        return [*ops, End()]


def _prices(chart: ChartView, kind: str) -> candles.Prices:
    bars = chart.bars
    if kind == "heikin_ashi":  # a candle depends on the one before, back to the first of all
        opens, highs, lows, closes = candles.heikin_ashi(chart.history or bars)
        first = len(opens) - len(bars)
        return opens[first:], highs[first:], lows[first:], closes[first:]
    return bars.open, bars.high, bars.low, bars.close


def _span(prices: candles.Prices) -> tuple[float, float]:
    low, high = prices[2], prices[1]
    if not np.isfinite(low).any():
        return 0.0, 1.0
    return float(np.nanmin(low)), float(np.nanmax(high))
