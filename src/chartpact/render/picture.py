"""A chart put together: panes, scales, axes and everything drawn, as one display list."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from chartpact.bars import Bars
from chartpact.charts import Chart, Drawn
from chartpact.render import (
    axes,
    boxes,
    candles,
    cards,
    labels,
    legend,
    lines,
    panes,
    plots,
    tables,
    text,
    timeaxis,
)
from chartpact.render.axes import Tag
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
    reach,
)
from chartpact.render.errors import RenderError
from chartpact.render.frame import SMALL, Clock, Frame
from chartpact.render.legend import Entry, Piece, Row
from chartpact.render.look import Look
from chartpact.render.numbers import MINUS, Numbers, of_prices, of_range, of_step
from chartpact.render.panes import Content
from chartpact.render.scales import BarScale, ValueScale
from chartpact.render.theme import faded, legible, theme
from chartpact.render.wording import Taken
from chartpact.scene import Scene, Table

RIGHT_MARGIN = 14.0  # pixels between the last bar and the axis
LEAST_AXIS = 46.0
FLOOR = 8.0  # pixels kept free at the bottom of a pane
MOST_TAGS = 8
SMALL_PANE = 34  # pixels: a lower one has no legend


@dataclass
class Pane:
    """A pane with what is known of it while the picture is put together."""

    content: Content
    area: Area
    numbers: Numbers  # of last values
    axis: Numbers  # of round ones
    scale: ValueScale
    ticks: list[float]
    rows: list[Row]
    grids: list[tables.Grid]


def compose(chart: Chart, look: Look) -> DisplayList:
    """The display list of a chart."""
    return _Composer(chart, look).picture()


class _Composer:
    def __init__(self, chart: Chart, look: Look) -> None:
        self.chart = chart
        self.look = look
        self.theme = theme(look.theme)
        self.clock = Clock(chart.bars)
        self.prices = _prices(chart, look.kind)
        contents = panes.contents(chart, look.volume)
        self.width = look.width
        self.height = look.height or panes.free_height(contents)
        self.bottom = self.height - axes.TIME_HEIGHT
        self.step_guess = self.width / max(len(chart.bars), 1)
        self.panes = self._stack(contents)
        self.right = self.width - self._axis_width()
        self.bars = BarScale(
            len(chart.bars), 0.0, self.right - RIGHT_MARGIN, panes.ahead(contents, self.clock)
        )
        self.times = [
            tick
            for tick in timeaxis.ticks(chart.bars.time, self.bars.step, look.tz, SMALL)
            if axes.inside(tick, self.bars.x1(tick.bar), 0.0, self.right)
        ]
        for pane in self.panes:
            pane.area = Area(0.0, pane.area.top, self.right, pane.area.bottom)

    # ----------------------------------------------------------------------------------- layout

    def _stack(self, contents: list[Content]) -> list[Pane]:
        found, top = [], 0.0
        for content, height in zip(contents, panes.heights(contents, self.bottom), strict=True):
            area = Area(0.0, top, self.width - 70.0, top + height)
            found.append(self._pane(content, area))
            top += height
        return found

    def _pane(self, content: Content, area: Area) -> Pane:
        prices = None
        tick_size = None
        if content.kind == "price":
            tick_size = self.chart.bars.tick_size
            prices = _span(self.prices)
            numbers = of_prices(self.chart.bars.close, tick_size)
        if content.kind == "volume":
            top = np.nanmax(self.chart.bars.volume)
            low, high = 0.0, float(top) if top > 0 else 1.0
            numbers = Numbers(0, compact=True)
        else:
            log = self.look.log and content.kind == "price"
            low, high = panes.value_range(content, prices, self.clock, log)
            if content.kind != "price":
                numbers = of_range(low, high)
        log = self.look.log and content.kind == "price"
        if log and low <= 0:
            raise RenderError(f"a log scale needs prices above 0, and the lowest here is {low:g}")
        grids = [
            grid
            for table in _last_in_place(content.tables)
            if (grid := tables.measure(table, area.width - 16, area.height - 8)) is not None
        ]
        rows = self._legend(content, numbers, area, grids)
        above, below = panes.label_room(content, self.step_guess)
        head = min(legend.height(rows) + 6 + above, area.height * 0.45)
        foot = min(FLOOR + below, area.height * 0.25)
        if content.kind == "volume":
            foot = 0.0
        if content.kind == "price" and self.look.volume == "overlay":
            foot = max(foot, area.height * 0.12)
        scale = ValueScale(low, high, area.top + head, area.bottom - foot, log)
        ticks = (
            scale.ticks(area.top, area.bottom, axes.apart(area.height), tick_size)
            if content.kind != "error"
            else []
        )
        axis = numbers
        if len(ticks) > 1 and not numbers.compact:
            step = min(b - a for a, b in pairwise(ticks))
            axis = numbers.finer(step) if content.kind == "price" else of_step(step)
        return Pane(content, area, numbers, axis, scale, ticks, rows, grids)

    def _legend(
        self, content: Content, numbers: Numbers, area: Area, grids: list[tables.Grid]
    ) -> list[Row]:
        if content.kind == "error" or area.height < SMALL_PANE:
            return []
        room = area.width - 2 * legend.LEFT
        for grid in grids:  # tables at the top keep their place, the legend makes room
            if grid.table.position == "top_right":
                room = min(room, area.width - grid.width - 2 * tables.MARGIN - legend.LEFT)
            elif grid.table.position == "top_center":
                room = min(room, (area.width - grid.width) / 2 - legend.LEFT - tables.MARGIN)
        room = max(room, 80.0)
        entries = [
            legend.entry(name_of(drawn, scene), scene, numbers, self.theme)
            for drawn, scene in content.drawn
        ]
        most = max(1, int(area.height * 0.3 / legend.ROW))
        if content.kind == "price":
            title = self._title(numbers, room)
            return [*title, *legend.arrange(entries, room, max(1, most - 1), self.theme)][:most]
        if content.kind == "volume":
            entries = [self._volume_entry(numbers)]
        return legend.arrange(entries, room, most, self.theme)

    def _volume_entry(self, numbers: Numbers) -> Entry:
        bars = self.chart.bars
        color = self.theme.up if bars.close[-1] >= bars.open[-1] else self.theme.down
        color = legible(color, self.theme.background, 3.5)
        return Piece("Volume", self.theme.muted), Piece(numbers(float(bars.volume[-1])), color)

    def _title(self, numbers: Numbers, room: float) -> list[Row]:
        bars = self.chart.bars
        pieces = [Piece(title_of(bars), self.theme.text, "sans-bold", 14)]
        if bars.synthetic:
            pieces.append(Piece("synthetic", self.theme.warning, "sans-bold", 11))
        rows = legend.arrange([tuple(pieces)], room, 1, self.theme)
        used = rows[0][-1][0] + rows[0][-1][1].width + legend.APART if rows else 0.0
        if len(bars):
            first, last = (float(each[-1]) for each in (bars.open, bars.close))
            before = float(bars.close[-2]) if len(bars) > 1 else first
            color = self.theme.up if last >= first else self.theme.down
            change = last - before
            share = f"{100 * change / before:+.2f}%" if before else ""
            values = zip("OHLC", (bars.open, bars.high, bars.low, bars.close), strict=True)
            parts = []
            for letter, series in values:
                parts += [
                    Piece(letter, self.theme.muted),
                    Piece(numbers(float(series[-1])), color),
                ]
            sign = "+" if change >= 0 else ""
            moved = f"{sign}{numbers(change)} ({share})".replace("-", MINUS)
            parts.append(Piece(moved, color))
            placed, x = [], used
            for i, piece in enumerate(parts):
                placed.append((x, piece))
                x += piece.width + (3.0 if i % 2 == 0 and i < 8 else 8.0)
            if x <= room and rows:
                rows[0] = (*rows[0], *placed)
        return rows

    def _axis_width(self) -> float:
        """Wide enough for every label and every tag."""
        widest = 0.0
        for pane in self.panes:
            written = [pane.axis(value) for value in pane.ticks]
            written += [pane.numbers(value) for value in (pane.scale.low, pane.scale.high)]
            if pane.content.kind != "error":
                widest = max(widest, *(text.width(each, SMALL) for each in written))
        return float(min(max(LEAST_AXIS, round(widest + 2 * axes.PAD)), self.width / 3))

    # ---------------------------------------------------------------------------------- drawing

    def picture(self) -> DisplayList:
        bars = self.chart.bars
        said = title_of(bars) + (", synthetic data" if bars.synthetic else "")
        found = DisplayList(self.width, self.height, self.theme.background, said)
        for pane in self.panes:
            found.add(*self._draw(pane))
        found.add(*self._frame())
        return found

    def _draw(self, pane: Pane) -> list[Op]:
        frame = Frame(pane.area, self.bars, pane.scale, pane.numbers, self.theme, self.clock)
        if pane.content.failed is not None:
            inner = cards.draw(pane.content.failed, pane.area, self.theme)
            return [Begin("pane error"), *inner, End()]
        xs = [self.bars.x1(tick.bar) for tick in self.times]
        ops: list[Op] = [Begin(f"pane {pane.content.kind}")]
        ops += axes.grid(frame, pane.ticks, xs)
        ops += self._clipped(self._inside(pane, frame), frame)
        words, places = legend.draw(pane.rows, pane.area, self.theme)
        taken = Taken()
        for place in places:
            taken.add(place)
        spots = self._table_spots(pane, taken)
        ops += self._clipped(self._objects(pane, frame, taken), frame)
        ops += [op for grid, spot in spots for op in tables.draw(grid, spot, frame)]
        ops += words
        ops += self._last_price(frame) if pane.content.kind == "price" else []
        ops += axes.values(frame, pane.ticks, pane.axis, self._tags(pane, frame), self.width)
        ops.append(End())
        return ops

    def _inside(self, pane: Pane, frame: Frame) -> list[Op]:
        layers: dict[str, list[Op]] = {layer: [] for layer in plots.LAYERS}
        for _, scene in pane.content.drawn:
            for plot in scene.plots:
                layers[plot.kind] += plots.draw(plot, frame)
        if pane.content.kind == "price":
            if self.look.volume == "overlay":
                layers["fill"][:0] = self._volume(frame, 0.18)
            layers["price"] = candles.KINDS[self.look.kind](self.prices, frame)
        elif pane.content.kind == "volume":
            layers["bars"] = self._volume(frame, 1.0)
        return [op for layer in plots.LAYERS for op in layers[layer]]

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
            colors = [faded(each, 0.6) for each in colors]
        inner = Frame(frame.area, self.bars, scale, frame.numbers, self.theme, self.clock)
        return plots.columns(bars.volume, 0.0, colors, codes, inner, None)

    def _objects(self, pane: Pane, frame: Frame, taken: Taken) -> list[Op]:
        content = pane.content
        placed = labels.arrange(content.labels, frame, taken)
        written = [op for box in reversed(content.boxes) for op in boxes.write(box, frame, taken)]
        ops = [op for box in content.boxes for op in boxes.draw(box, frame)]
        ops += [op for line in content.lines for op in lines.draw(line, frame)]
        ops += [op for each in placed for op in labels.thread(each, frame)]
        return ops + written + [op for each in placed for op in labels.draw(each, frame)]

    def _table_spots(self, pane: Pane, taken: Taken) -> list[tuple[tables.Grid, Area]]:
        spots = []
        for grid in pane.grids:
            spot = tables.place(grid, pane.area)
            hit = [each.bottom for each in taken.areas if each.meets(spot)]
            if hit and grid.table.position.startswith("top"):
                spot = tables.place(grid, pane.area, max(hit) - pane.area.top + 4)
            taken.add(spot)
            spots.append((grid, spot))
        return spots

    def _clipped(self, ops: list[Op], frame: Frame) -> list[Op]:
        """A clip only where something would stick out: clipping is dear."""
        if all(frame.area.grown(0.5).holds(reach(op)) for op in ops):
            return ops
        return [Begin("clip", clip=frame.area), *ops, End()]

    def _last_price(self, frame: Frame) -> list[Op]:
        if not len(self.chart.bars):
            return []
        y = round(frame.values.y1(float(self.chart.bars.close[-1]))) + 0.5
        if not frame.area.top <= y <= frame.area.bottom:
            return []
        ends = np.array([frame.area.left, frame.area.right])
        dots = Stroke(faded(self._price_color(), 0.75), 1.0, (1.0, 2.5), round=False)
        return [Shape([(ends, np.array([y, y]))], stroke=dots)]

    def _price_color(self) -> str:
        bars = self.chart.bars
        return self.theme.up if bars.close[-1] >= bars.open[-1] else self.theme.down

    def _tags(self, pane: Pane, frame: Frame) -> list[Tag]:
        tags: list[Tag] = []
        if pane.content.kind == "price" and len(self.chart.bars):
            last = float(self.chart.bars.close[-1])
            tags.append(Tag(frame.values.y1(last), pane.numbers(last), self._price_color(), True))
        for _, scene in pane.content.drawn:
            for plot in scene.plots:
                value, color = legend.last_value(plot), legend.last_color(plot, self.theme)
                if value is not None and color is not None and len(tags) < MOST_TAGS:
                    tags.append(Tag(frame.values.y1(value), pane.numbers(value), color))
        return [tag for tag in tags if np.isfinite(tag.y)]

    def _frame(self) -> list[Op]:
        """The lines between panes and axes, and the times."""
        edges = [(0, int(pane.area.bottom), self.width, 1) for pane in self.panes]
        edges.append((int(self.right), 0, 1, int(self.bottom)))
        area = Area(0.0, self.bottom, self.right, float(self.height))
        xs = [self.bars.x1(tick.bar) for tick in self.times]
        ops: list[Op] = [
            Begin("axis"),
            Rects(np.array(edges, dtype=np.int64), self.theme.frame),
            *axes.times(self.times, xs, area, self.theme),
        ]
        name = text.fit(
            self.look.tz.rpartition("/")[2].replace("_", " "), 10, self.width - self.right - 8
        )
        y = self.bottom + axes.TIME_HEIGHT / 2 + 10 * text.CAP_HEIGHT / 2
        ops.append(Words(self.right + axes.PAD, y, name, 10, self.theme.muted))
        return [*ops, End()]


def _last_in_place(found: list[Table]) -> list[Table]:
    """One table for each position: a later one hides the earlier."""
    return list({table.position: table for table in found}.values())


def _prices(chart: Chart, kind: str) -> candles.Prices:
    bars = chart.bars
    if kind == "heikin_ashi":
        return candles.heikin_ashi(bars)
    return bars.open, bars.high, bars.low, bars.close


def _span(prices: candles.Prices) -> tuple[float, float]:
    low, high = prices[2], prices[1]
    if not np.isfinite(low).any():
        return 0.0, 1.0
    return float(np.nanmin(low)), float(np.nanmax(high))


def title_of(bars: Bars) -> str:
    """Symbol, timeframe and where the bars come from."""
    source = bars.source.removeprefix("synthetic ").rpartition("/")[2]
    parts = (bars.symbol, bars.timeframe, source)
    return " · ".join(" ".join(text.clean(each).split()) for each in parts if each)


def name_of(drawn: Drawn, scene: Scene) -> str:
    """What the legend calls an indicator: its label and the parameters that matter."""
    name = scene.label or (drawn.indicator.title if drawn.indicator else drawn.name)
    values = dict(drawn.params)
    if drawn.indicator is not None and len(values) > legend.MOST_PARAMS:
        defaults = {param.name: param.default for param in drawn.indicator.params}
        values = {key: value for key, value in values.items() if value != defaults.get(key)}
    return f"{name} {legend.params_of(values.values())}".strip()
