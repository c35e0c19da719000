"""What is drawn lies where it should: checked against positions worked out by hand, in pixels."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact import palette
from chartpact.charts import Chart
from chartpact.render import candles, sampling
from chartpact.render.display import Area, Circles, Panel, Rects, Shape, Words, bounding_box
from chartpact.render.lines import cut
from chartpact.render.look import Look
from chartpact.render.picture import _Composer, compose
from chartpact.render.polylines import clip_polygon
from chartpact.scene import (
    Anchor,
    BackgroundPlot,
    BarColorPlot,
    BarsPlot,
    Box,
    CandlesPlot,
    Cell,
    DivLinePlot,
    DotPlot,
    FillPlot,
    HBarPlot,
    HLinePlot,
    Label,
    Line,
    Linefill,
    LinePlot,
    Mark,
    Marks,
    Point,
    Polyline,
    Scene,
    ShapePlot,
    Table,
    Vertex,
)

from .scenery import at, chart_of, elements, flat_bars, gallery, pixels, written

UP, DOWN, BLUE = "#089981", "#f23645", "#2962ff"
LOOK = Look(width=600, height=400, volume="none")


def rgb(color: str) -> tuple[int, int, int]:
    return tuple(bytes.fromhex(color[1:7]))


class Place:
    """Where bars and values of a chart's panes lie."""

    def __init__(self, chart: Chart, look: Look = LOOK) -> None:
        self.made = _Composer(chart, look)
        self.ops = self.made.picture().ops

    def x(self, bar: float) -> float:
        return self.made.bars.x1(bar)

    def y(self, value: float, pane: int = 0) -> float:
        return self.made.panes[pane].scale.y1(value)

    def area(self, pane: int = 0) -> Area:
        return self.made.panes[pane].area

    def shapes(self, color: str) -> list[Shape]:
        return [
            op
            for op in self.ops
            if isinstance(op, Shape)
            and color in ((op.stroke.color if op.stroke else "")[:7], (op.fill or "")[:7])
        ]


# ------------------------------------------------------------------------------------------ candles


def test_candles_stand_on_their_bars_between_open_and_close():
    chart = chart_of(Scene(), flat_bars(10))
    place = Place(chart)
    shown = pixels(chart.png(width=600, height=400, volume="none"))
    for bar in range(10):
        color = rgb(UP if bar % 2 == 0 else DOWN)
        x = int(place.x(bar))
        assert tuple(shown[round(place.y(100.5)), x]) == color
        assert tuple(shown[round(place.y(101.25)), x]) == color  # the wick, to 101.5
        assert tuple(shown[round(place.y(101.25)), x + 3]) != color
        assert tuple(shown[round(place.y(101.55)) - 2, x]) != color


def test_a_candle_that_closes_where_it_opened_is_seen():
    bars = flat_bars(5)
    still = type(bars)(bars.time, bars.open, bars.high, bars.low, bars.open, bars.volume)
    bodies = [
        op for op in compose(Chart(still), LOOK).ops if isinstance(op, Rects) and op.fill == UP
    ]
    assert bodies[0].boxes[:, 3].min() == 1


def test_heikin_ashi_candles_follow_their_definition_from_the_first_bar_of_all():
    from dataclasses import replace

    import chartpact as cp

    bars = cp.load("sample:btc-4h")[:60]
    opens, highs, lows, closes = candles.heikin_ashi(bars)
    assert opens[0] == (bars.open[0] + bars.close[0]) / 2
    for i in range(1, 60):
        assert closes[i] == pytest.approx(
            (bars.open[i] + bars.high[i] + bars.low[i] + bars.close[i]) / 4
        )
        assert opens[i] == pytest.approx((opens[i - 1] + closes[i - 1]) / 2)
        assert highs[i] == max(bars.high[i], opens[i], closes[i])
        assert lows[i] == min(bars.low[i], opens[i], closes[i])
    whole = _Composer(cp.chart(bars, last=20), Look(kind="heikin_ashi"))
    assert whole.prices[0].tolist() == opens[-20:].tolist()
    alone = _Composer(replace(cp.chart(bars, last=20), history=None), Look(kind="heikin_ashi"))
    assert alone.prices[0][0] != opens[-20]


def test_ohlc_bars_have_the_open_at_the_left_and_the_close_at_the_right():
    chart = chart_of(Scene(), flat_bars(5))
    place = Place(chart, Look(width=600, height=400, volume="none", kind="bars"))
    shown = pixels(chart.png(width=600, height=400, volume="none", kind="bars"))
    x = int(place.x(0))  # opens at 100, closes at 101
    assert tuple(shown[round(place.y(100)), x - 6]) == rgb(UP)
    assert tuple(shown[round(place.y(100)), x + 8]) != rgb(UP)
    assert np.abs(shown[round(place.y(101)), x + 8] - np.array(rgb(UP))).max() <= 1  # a dot on it
    assert tuple(shown[round(place.y(101)), x - 6]) != rgb(UP)


def test_a_line_chart_goes_through_the_closes():
    bars = flat_bars(6)
    place = Place(chart_of(Scene(), bars), Look(width=600, height=400, kind="line"))
    [line] = [shape for shape in place.shapes("#2962ff") if shape.stroke]
    x, y = line.parts[0]
    assert x.tolist() == pytest.approx([place.x(i) for i in range(6)])
    assert y.tolist() == pytest.approx([place.y(v) for v in bars.close])


def test_volume_columns_reach_from_the_floor_in_the_colour_of_their_bar():
    picture = compose(chart_of(Scene(), flat_bars(4)), Look(width=600, height=400))
    columns = [op for op in picture.ops if isinstance(op, Rects) and op.fill.startswith(UP + "9")]
    place = _Composer(chart_of(Scene(), flat_bars(4)), Look(width=600, height=400))
    floor = place.panes[1].area.bottom
    assert (columns[0].boxes[:, 1] + columns[0].boxes[:, 3] == floor).all()
    for look, panes in (("pane", 2), ("overlay", 1), ("none", 1)):
        made = _Composer(chart_of(Scene(), flat_bars(4)), Look(volume=look))
        assert len(made.panes) == panes


def test_bars_without_volume_have_no_volume_pane():
    bars = flat_bars(4)
    silent = type(bars)(bars.time, bars.open, bars.high, bars.low, bars.close, bars.volume * np.nan)
    assert len(_Composer(Chart(silent), Look()).panes) == 1


# -------------------------------------------------------------------------------------- many bars


def spiky(count: int):
    chance = np.random.default_rng(3)
    close = 100 + np.cumsum(chance.normal(0, 0.05, count))
    high, low = close + 0.05, close - 0.05
    high[count // 3] += 9
    low[2 * count // 3] -= 7
    time = 1_700_000_000_000 + 60_000 * np.arange(count)
    from chartpact.bars import Bars

    return Bars(time, close, high, low, close, np.ones(count), "SPIKE", "1m")


@in_one_test("count", [5, 700, 5_000, 50_000])
def test_no_high_and_no_low_is_lost(count):
    bars = spiky(count)
    scene = Scene(plots=[LinePlot(values=bars.high, color="#ff00ff", title="highs")])
    place = Place(chart_of(scene, bars), Look(width=1200, height=800))
    rects = np.concatenate(
        [op.boxes for op in place.ops if isinstance(op, Rects) and op.fill[:7] in (UP, DOWN)]
    )
    in_price = rects[rects[:, 1] < place.area().bottom]
    assert in_price[:, 1].min() == round(place.y(bars.high.max()))
    lowest = (in_price[:, 1] + in_price[:, 3]).max()
    assert abs(lowest - round(place.y(bars.low.min()))) <= 1
    heights = np.concatenate([y for shape in place.shapes("#ff00ff") for _, y in shape.parts])
    assert heights.min() == pytest.approx(place.y(bars.high.max()), abs=0.2)
    assert len(in_price) < 4 * 1200


@in_one_test("count", [10, 999, 50_000])
def test_a_thinned_line_keeps_the_extremes_of_every_group(count):
    values = np.random.default_rng(1).normal(size=count)
    values[count // 4 : count // 2] = np.nan
    size = 7
    kept = sampling.outline(values, size)
    assert (np.diff(kept) > 0).all()
    for start in range(0, count, size):
        group = values[start : start + size]
        mine = values[kept[(kept >= start) & (kept < start + size)]]
        if np.isfinite(group).any():
            assert np.nanmax(mine) == np.nanmax(group)
            assert np.nanmin(mine) == np.nanmin(group)
        else:
            assert np.isnan(mine).all()
            assert len(mine) == 1


def test_straightening_moves_no_line_by_more_than_a_third_of_a_pixel():
    x = np.linspace(0, 1000, 900)
    y = 200 + 150 * np.sin(x / 90) + np.random.default_rng(2).normal(0, 0.05, 900)
    thin_x, thin_y = sampling.simplify(x, y)
    assert len(thin_x) < 700
    assert np.abs(np.interp(x, thin_x, thin_y) - y).max() < 0.36


# ------------------------------------------------------------------------------------------- plots


def panel(*plots, **more):
    return chart_of(Scene(plots=plots, **more), flat_bars(10), overlay=False)


def test_a_line_breaks_where_there_is_no_value():
    values = [1.0, 2, 3, None, 5, 6, None, 8, None, None]
    place = Place(panel(LinePlot(values=values, color="#ff00ff", title="x")))
    [line] = place.shapes("#ff00ff")
    bars = [[round(place.made.bars.count * 0 + (x / place.made.bars.step - 0.5)) for x in part[0]]
            for part in line.parts]  # fmt: skip
    assert bars == [[0, 1, 2], [4, 5], [7]]  # bar 7 stands alone, as a dot


def test_every_stretch_has_the_colour_of_the_bar_it_leads_to():
    colors = ["#ff0000"] * 4 + ["#00ff00"] * 3 + [None] * 3
    place = Place(panel(LinePlot(values=np.arange(10.0), color=colors, title="x")))
    red, green = place.shapes("#ff0000"), place.shapes("#00ff00")
    assert [len(part[0]) for part in red[0].parts] == [4]
    assert red[0].parts[0][0][-1] == pytest.approx(place.x(3))
    assert green[0].parts[0][0][0] == pytest.approx(place.x(3))
    assert green[0].parts[0][0][-1] == pytest.approx(place.x(6))


def test_an_auto_fill_changes_colour_exactly_where_the_series_cross():
    a, b = np.arange(10.0), np.full(10, 4.25)
    place = Place(panel(FillPlot(a=a, b=b, color="auto", alpha=1.0)))
    [up] = [op for op in place.ops if isinstance(op, Shape) and op.fill == UP + "ff"]
    [down] = [op for op in place.ops if isinstance(op, Shape) and op.fill == DOWN + "ff"]
    crossing = place.x(4.25)
    assert down.parts[0][0].max() == pytest.approx(crossing)
    assert up.parts[0][0].min() == pytest.approx(crossing)


def test_equal_series_count_as_up():
    place = Place(
        panel(FillPlot(a=[2.0] * 10, b=[2.0] * 10, color="auto"), LinePlot(values=[1, 2] * 5))
    )
    fills = [op.fill for op in place.ops if isinstance(op, Shape) and op.fill]
    assert [fill[:7] for fill in fills] == [UP]


def test_a_fill_stops_where_one_of_its_series_has_no_value():
    a = [1.0, 2, 3, None, None, 3, 2, 1, 1, 1]
    place = Place(panel(FillPlot(a=a, b=[0.0] * 10, color="#ff00ff")))
    [shape] = place.shapes("#ff00ff")
    assert len(shape.parts) == 2
    assert shape.parts[0][0].max() == pytest.approx(place.x(2))
    assert shape.parts[1][0].min() == pytest.approx(place.x(5))


def test_columns_reach_from_the_base_to_the_value():
    place = Place(panel(BarsPlot(values=[3.0, -2.0] * 5, base=1.0, color="#ff00ff", title="x")))
    [columns] = [op for op in place.ops if isinstance(op, Rects) and op.fill[:7] == "#ff00ff"]
    base = round(place.y(1.0, 1))
    assert columns.boxes[0, 1] == round(place.y(3.0, 1))
    assert columns.boxes[0, 1] + columns.boxes[0, 3] == base
    assert columns.boxes[1, 1] == base
    assert columns.boxes[1, 1] + columns.boxes[1, 3] == round(place.y(-2.0, 1))


def test_what_lies_ahead_is_drawn_right_of_the_last_bar():
    place = Place(panel(LinePlot(values=np.ones(10), ahead=[2.0, 3.0, 4.0], color="#ff00ff")))
    [line] = place.shapes("#ff00ff")
    assert line.parts[0][0][-1] == pytest.approx(place.x(12))
    assert place.x(12) < place.area().right


def test_dots_levels_profiles_and_divergences_lie_where_they_say():
    place = Place(
        panel(
            DotPlot(points=[Point(x=2, y=5.0, size=8, label="buy")], color="#ff00ff"),
            HLinePlot(y=5.0, color="#00ffff", style="dashed"),
            HBarPlot(y=4.0, height=2.0, width=0.25, offset=0.1, side="left", color="#ffff00"),
            HBarPlot(y=4.0, height=2.0, width=0.25, offset=0.1, side="right", color="#00ff00"),
            DivLinePlot(x1=1, y1=2.0, x2=8, y2=6.0, color="#ff8800"),
            y_range=(0, 10),
        )
    )
    area = place.area(1)
    dot, named = [op for op in place.ops if isinstance(op, Circles)]
    assert (dot.x[0], dot.y[0]) == pytest.approx((place.x(2), place.y(5.0, 1)))
    assert named.titles == ("buy",)
    [level] = place.shapes("#00ffff")
    assert level.parts[0][0].tolist() == [area.left, area.right]
    assert level.parts[0][1][0] == pytest.approx(place.y(5.0, 1), abs=0.6)
    assert level.stroke.dash
    left, right = [
        op for op in place.ops if isinstance(op, Panel) and op.fill in ("#ffff00ff", "#00ff00ff")
    ]
    assert left.area.left == pytest.approx(0.1 * area.width)
    assert left.area.right == pytest.approx(0.35 * area.width)
    assert right.area.right == pytest.approx(0.9 * area.width)
    assert left.area.top == pytest.approx(place.y(5.0, 1))
    assert left.area.bottom == pytest.approx(place.y(3.0, 1))
    [divergence] = place.shapes("#ff8800")
    assert divergence.parts[0][0].tolist() == pytest.approx([place.x(1), place.x(8)])


def test_nothing_of_a_pane_is_drawn_outside_it():
    values = [0.0, 1000.0] * 5
    chart = panel(LinePlot(values=values, color="#ff00ff", width=4), y_range=(400, 600))
    place = Place(chart)
    shown = pixels(chart.png(width=600, height=400, volume="none")).astype(int)
    pink = (abs(shown - np.array([255, 0, 255])).sum(axis=2) < 60).any(axis=1)
    area = place.area(1)
    assert pink[int(area.top) + 1 : int(area.bottom)].any()
    assert not pink[: int(area.top)].any()
    assert not pink[int(area.bottom) + 1 :].any()


# ------------------------------------------------------------------------------------------ objects


@in_one_test(
    ("extend", "ends"),
    [("none", (2, 4)), ("left", (0, 4)), ("right", (2, 10)), ("both", (0, 10))],
)
def test_a_line_is_extended_to_the_edges_asked_for(extend, ends):
    area = Area(0, 0, 10, 10)
    first, second = cut(
        area, (2, 5), (4, 5), extend in ("left", "both"), extend in ("right", "both")
    )
    assert (first[0], second[0]) == ends


def test_extend_right_goes_on_beyond_the_second_point_even_to_the_left():
    first, second = cut(Area(0, 0, 10, 10), (6, 5), (4, 5), after=True)
    assert (first[0], second[0]) == (6, 0)


def test_an_upright_line_is_extended_up_and_down():
    first, second = cut(Area(0, 0, 10, 10), (3, 4), (3, 6), before=True, after=True)
    assert (first, second) == ((3, 0), (3, 10))


def test_a_line_out_of_view_is_not_drawn():
    assert cut(Area(0, 0, 10, 10), (20, 20), (30, 30)) is None
    assert cut(Area(0, 0, 10, 10), (5, 5), (5, 5), after=True) is None


@in_one_test(
    ("style", "heads"), [("solid", 0), ("arrow_left", 1), ("arrow_right", 1), ("arrow_both", 2)]
)
def test_arrow_heads_are_at_the_ends_their_style_names(style, heads):
    line = Line(id=1, x1=at(2), y1=100.0, x2=at(7), y2=101.0, style=style, color="#ff00ff")
    place = Place(chart_of(Scene(lines=[line])))
    tips = [shape for shape in place.shapes("#ff00ff") if shape.fill]
    points = [(part[0][0], part[1][0]) for shape in tips for part in shape.parts]
    assert len(points) == heads
    if style == "arrow_left":
        assert points[0] == pytest.approx((place.x(2), place.y(100.0)))
    if style == "arrow_right":
        assert points[0] == pytest.approx((place.x(7), place.y(101.0)))


def corners(*points: tuple[int, float]) -> list[Vertex]:
    return [Vertex(bar, None, y) for bar, y in points]


POINTS = corners((1, 100.0), (4, 101.5), (7, 100.0))


def test_a_polyline_goes_straight_through_its_points():
    place = Place(chart_of(Scene(polylines=[Polyline(1, POINTS, line_color="#ff00ff")])))
    [line] = place.shapes("#ff00ff")
    [(x, y)] = line.parts
    assert x.tolist() == pytest.approx([place.x(1), place.x(4), place.x(7)])
    assert y.tolist() == pytest.approx([place.y(100.0), place.y(101.5), place.y(100.0)])
    assert line.fill is None


def test_a_curved_polyline_goes_through_its_points_without_a_corner():
    curve = Polyline(1, POINTS, curved=True, line_color="#ff00ff")
    place = Place(chart_of(Scene(polylines=[curve])))
    [line] = place.shapes("#ff00ff")
    [(x, y)] = line.parts
    for point in POINTS:
        gap = np.hypot(x - place.x(point.bar), y - place.y(point.y))
        assert gap.min() < 1e-9
    turns = np.diff(np.unwrap(np.arctan2(np.diff(y), np.diff(x))))
    assert abs(turns).max() < 0.5  # radians: the straight one turns by more than 2
    assert (np.diff(x) > 0).all()


def test_a_closed_polyline_ends_where_it_began_and_its_fill_is_below_its_line():
    for curved in (False, True):
        shape = Polyline(
            1, POINTS, curved, closed=True, line_color="#ff00ff", fill_color="#00ffff80"
        )
        place = Place(chart_of(Scene(polylines=[shape])))
        [fill], [line] = place.shapes("#00ffff"), place.shapes("#ff00ff")
        [(x, y)] = line.parts
        assert (x[0], y[0]) == pytest.approx((x[-1], y[-1]))
        order = [id(op) for op in place.ops]
        assert order.index(id(fill)) < order.index(id(line))


def test_a_polyline_out_of_view_is_cut_off_near_the_pane():
    far = corners((-(10**6), 100.0), (3, 101.0), (10**6, 1e12), (5, 99.5))
    shape = Polyline(1, far, line_color="#ff00ff", fill_color="#00ffff80", line_style="dashed")
    place = Place(chart_of(Scene(polylines=[shape])))
    for color in ("#ff00ff", "#00ffff"):
        for drawn in place.shapes(color):
            assert place.area().grow(81).holds(bounding_box(drawn))
    gone = Polyline(2, corners((-90, 100.0), (-80, 101.0)), line_color="#ff00ff")
    assert not Place(chart_of(Scene(polylines=[gone]))).shapes("#ff00ff")


@in_one_test(
    ("style", "heads"), [("solid", 0), ("arrow_left", 1), ("arrow_right", 1), ("arrow_both", 2)]
)
def test_an_open_polyline_has_the_arrow_heads_of_its_style_and_a_closed_one_none(style, heads):
    for closed, count in ((False, heads), (True, 0)):
        shape = Polyline(1, POINTS, closed=closed, line_style=style, line_color="#ff00ff")
        drawn = Place(chart_of(Scene(polylines=[shape]))).shapes("#ff00ff")
        assert sum(len(op.parts) for op in drawn if op.fill) == count


def test_fewer_than_two_points_are_no_line():
    scene = Scene(polylines=[Polyline(1, POINTS[:1]), Polyline(2, [])])
    assert not Place(chart_of(scene)).shapes(BLUE)


def test_a_polyline_makes_room_for_what_is_ahead_and_for_its_heights():
    shape = Polyline(1, corners((1, 100.0), (18, 101.9)))
    place = Place(chart_of(Scene(polylines=[shape])))
    assert place.x(18) < place.area().right
    panel_ = Place(chart_of(Scene(polylines=[shape]), overlay=False))
    assert panel_.area(1).top < panel_.y(101.9, 1) < panel_.y(100.0, 1) < panel_.area(1).bottom


def filled(extend: str, second: tuple[float, float] = (100.0, 100.5)) -> Place:
    lines = [
        Line(1, at(2), 101.0, at(6), 101.5, extend=extend, color=None),
        Line(2, at(2), second[0], at(6), second[1], extend=extend, color=None),
    ]
    return Place(chart_of(Scene(lines=lines, linefills=[Linefill(3, 1, 2, "#ff00ff80")])))


@in_one_test(
    ("extend", "left", "right"),
    [("none", True, True), ("left", False, True), ("right", True, False), ("both", False, False)],
)
def test_the_area_between_two_lines_is_filled_as_far_as_they_go(extend, left, right):
    place = filled(extend)
    [fill] = place.shapes("#ff00ff")
    spot = bounding_box(fill)
    assert spot.left == pytest.approx(place.x(2)) if left else spot.left <= place.area().left
    assert spot.right == pytest.approx(place.x(6)) if right else spot.right >= place.area().right
    if extend == "none":
        points = ((2, 101.0), (6, 101.5), (6, 100.5), (2, 100.0))
        expected = [(place.x(bar), place.y(price)) for bar, price in points]
        np.testing.assert_allclose(np.transpose(fill.parts[0]), expected)


def test_a_line_drawn_from_right_to_left_fills_the_same_area():
    lines = [
        Line(1, at(2), 101.0, at(6), 101.5, color=None),
        Line(2, at(6), 100.5, at(2), 100.0, color=None),
    ]
    scene = Scene(lines=lines, linefills=[Linefill(3, 1, 2, "#ff00ff80")])
    [turned], [usual] = Place(chart_of(scene)).shapes("#ff00ff"), filled("none").shapes("#ff00ff")
    np.testing.assert_allclose(turned.parts[0], usual.parts[0])


def test_a_linefill_without_a_colour_or_without_its_lines_is_not_drawn():
    line = Line(1, at(2), 101.0, at(6), 101.5)
    lost = Line(2, Anchor(None, None, None), 101.0, at(6), 101.5)
    for fills in (
        [Linefill(3, 1, 9, "#ff00ff")],
        [Linefill(3, 1, 2, "#ff00ff")],
        [Linefill(3, 1, 1, None)],
    ):
        scene = Scene(lines=[line, lost], linefills=fills)
        assert not Place(chart_of(scene)).shapes("#ff00ff")


def test_a_linefill_is_drawn_in_the_pane_of_its_first_line():
    lines = [
        Line(k, at(2), y, at(6), y, force_overlay=forced, color=None)
        for k, (y, forced) in enumerate(((100.2, True), (100.8, False), (100.5, False)))
    ]
    fills = [Linefill(5, 0, 1, "#ff00ff"), Linefill(6, 1, 2, "#00ffff")]
    place = Place(chart_of(Scene(lines=lines, linefills=fills), overlay=False))
    [over], [under] = place.shapes("#ff00ff"), place.shapes("#00ffff")
    assert place.area(0).holds(bounding_box(over))
    assert place.area(1).holds(bounding_box(under))


@in_one_test("inside", [0, 1])
def test_a_clipped_polygon_is_what_both_share(inside):
    area = Area(0, 0, 10, 10)
    x, y = np.array([-5.0, 5.0, 15.0, 5.0]), np.array([5.0, -5.0, 5.0, 15.0])
    if inside:
        x, y = x / 4 + 4, y / 4 + 4
    clipped = clip_polygon(x, y, area)
    edge = sum(
        a * d - b * c
        for (a, b), (c, d) in pairwise(
            [*zip(*clipped, strict=True), (clipped[0][0], clipped[1][0])]
        )
    )
    assert abs(edge) / 2 == pytest.approx(12.5 if inside else 100)
    assert len(clip_polygon(x + 100, y, area)[0]) == 0


def test_an_object_placed_by_time_stands_on_the_bar_of_that_time():
    bars = flat_bars(10)
    inside = Anchor(n=None, bar=None, time=int(bars.time[4]) + 30_000)
    beyond = Anchor(n=None, bar=None, time=int(bars.time[-1]) + 3 * 60_000)
    line = Line(id=1, x1=inside, y1=100.0, x2=beyond, y2=101.0, color="#ff00ff")
    place = Place(chart_of(Scene(lines=[line]), bars))
    x = place.shapes("#ff00ff")[0].parts[0][0]
    assert x.tolist() == pytest.approx([place.x(4), place.x(12)])


def test_an_object_without_a_place_is_not_seen():
    nowhere = Anchor(n=None, bar=None, time=None)
    scene = Scene(
        labels=[
            Label(id=1, x=nowhere, y=100.0, text="unseen"),
            Label(id=2, x=at(2), y=None, text="unseen"),
        ],
        lines=[Line(id=1, x1=nowhere, y1=1.0, x2=at(2), y2=1.0, color="#ff00ff")],
        boxes=[Box(id=1, left=at(1), top=None, right=at(2), bottom=1.0, text="unseen")],
    )
    picture = chart_of(scene).svg()
    assert "unseen" not in written(picture)
    assert "#ff00ff" not in picture


@in_one_test(
    ("style", "across", "down"),
    [
        ("label_down", 0, -1),
        ("label_up", 0, 1),
        ("label_left", 1, 0),
        ("label_right", -1, 0),
        ("label_lower_left", 1, -1),
        ("label_lower_right", -1, -1),
        ("label_upper_left", 1, 1),
        ("label_upper_right", -1, 1),
        ("label_center", 0, 0),
    ],
)
def test_the_box_of_a_label_lies_where_its_style_says(style, across, down):
    label = Label(id=1, x=at(5), y=100.5, text="here", style=style, color="#ff00ff")
    place = Place(chart_of(Scene(labels=[label]), flat_bars(11)))
    [box] = [op.area for op in place.ops if isinstance(op, Panel) and op.fill == "#ff00ffff"]
    x, y = place.x(5), place.y(100.5)
    middle = ((box.left + box.right) / 2 - x, (box.top + box.bottom) / 2 - y)
    for side, distance in zip((across, down), middle, strict=True):
        assert math.copysign(1, distance) == side if side else abs(distance) < 1e-6
    tails = [shape for shape in place.shapes("#ff00ff") if shape.fill]
    if style == "label_center":
        assert tails == []
    else:
        assert (x, y) == pytest.approx((tails[0].parts[0][0][0], tails[0].parts[0][1][0]))


@in_one_test("yloc", ["abovebar", "belowbar"])
@in_one_test("style", ["label_down", "label_up", "triangleup", "circle", "none"])
def test_a_label_above_or_below_its_bar_does_not_cover_it(yloc, style):
    label = Label(id=1, x=at(5), y=None, yloc=yloc, text="here", style=style, color="#ff00ff")
    place = Place(chart_of(Scene(labels=[label]), flat_bars(11)))
    word = next(op for op in place.ops if isinstance(op, Words) and op.text == "here")
    if yloc == "abovebar":
        assert word.y < place.y(101.5)
    else:
        assert word.y - word.size * 0.7 > place.y(99.5)


def test_text_formats_choose_the_cut_of_the_font():
    cells = [
        Cell(id=i, column=i, row=0, text=name, text_formatting=name, text_font_family=family)
        for i, (name, family) in enumerate(
            [("none", "default"), ("bold", "default"), ("italic", "default"),
             ("bold_italic", "default"), ("bold", "monospace")]
        )
    ]  # fmt: skip
    table = Table(id=1, position="middle_center", columns=5, rows=1, cells=cells)
    picture = chart_of(Scene(tables=[table])).svg()
    drawn = {
        (
            each.text,
            each.get("font-weight"),
            each.get("font-style"),
            "Mono" in each.get("font-family", ""),
        )
        for each in elements(picture, "text")
    }
    assert {
        ("none", None, None, False),
        ("bold", "700", None, False),
        ("italic", None, "italic", False),
        ("bold_italic", "700", "italic", False),
        ("bold", "700", None, True),
    } <= drawn


def test_tables_stand_in_the_nine_places():
    made = _Composer(gallery.SCENES["table-places"](), Look(width=900, height=600))
    pane = made.panes[0].area
    titles = {op.text: op for op in made.picture().ops if isinstance(op, Words) and "_" in op.text}
    for position, words in titles.items():
        row, column = position.split("_")
        x = (words.x - pane.left) / pane.width
        y = (words.y - pane.top) / pane.height
        assert {"left": x < 0.2, "center": 0.4 < x < 0.6, "right": x > 0.8}[column]
        assert {"top": y < 0.25, "middle": 0.4 < y < 0.6, "bottom": y > 0.8}[row]
    assert len(titles) == 9


def test_a_later_table_hides_an_earlier_one_in_its_place():
    tables = [
        Table(
            id=i,
            position="top_right",
            columns=1,
            rows=1,
            cells=[Cell(id=1, column=0, row=0, text=name)],
        )
        for i, name in enumerate(("earlier", "later"))
    ]
    words = written(chart_of(Scene(tables=tables)).svg())
    assert "later" in words
    assert "earlier" not in words


def test_a_merged_cell_reaches_over_its_columns_and_hides_what_is_under_it():
    cells = [
        Cell(id=1, column=0, row=0, end_column=1, end_row=0, text="merged", bgcolor="#ff00ff"),
        Cell(id=2, column=1, row=0, text="hidden", bgcolor="#ff00ff"),
        Cell(id=3, column=0, row=1, text="left", bgcolor="#00ffff"),
        Cell(id=4, column=1, row=1, text="right", bgcolor="#ffff00"),
    ]
    table = Table(id=1, position="middle_center", columns=2, rows=2, cells=cells)
    place = Place(chart_of(Scene(tables=[table])))
    area = {op.fill: op.area for op in place.ops if isinstance(op, Panel) and op.fill}
    merged, left, right = area["#ff00ffff"], area["#00ffffff"], area["#ffff00ff"]
    assert (merged.left, merged.right) == (left.left, right.right)
    assert "hidden" not in [op.text for op in place.ops if isinstance(op, Words)]


def test_a_cell_may_take_a_share_of_the_pane():
    cells = [Cell(id=1, column=0, row=0, text="x", width=50, height=20, bgcolor="#ff00ff")]
    table = Table(id=1, position="middle_center", columns=1, rows=1, cells=cells)
    place = Place(chart_of(Scene(tables=[table])))
    [area] = [op.area for op in place.ops if isinstance(op, Panel) and op.fill == "#ff00ffff"]
    assert area.width == pytest.approx(place.area().width / 2, rel=0.05)
    assert area.height == pytest.approx(place.area().height / 5, rel=0.05)


def test_a_table_larger_than_its_pane_is_made_smaller_and_never_leaves_it():
    cells = [
        Cell(id=i, column=i % 30, row=i // 30, text="wide text", size="huge", bgcolor="#ff00ff")
        for i in range(900)
    ]
    table = Table(id=1, position="middle_center", columns=30, rows=30, cells=cells)
    chart = chart_of(Scene(tables=[table]), overlay=False)
    area = Place(chart).area(1)
    shown = pixels(chart.png(width=600, height=400, volume="none")).astype(int)
    pink = abs(shown - np.array([255, 0, 255])).sum(axis=2) < 60
    rows = np.flatnonzero(pink.any(axis=1))
    assert rows.min() >= int(area.top) - 1
    assert rows.max() <= area.bottom
    assert np.flatnonzero(pink.any(axis=0)).max() <= area.right


def test_a_table_with_a_long_text_is_made_smaller_and_says_all_of_it():
    text = "long while above 5010 " * 7 + "stop 4990"
    table = Table(id=1, position="bottom_left", columns=1, rows=1,
                  cells=[Cell(id=1, column=0, row=0, text=text, size="normal")])  # fmt: skip
    [words] = [op for op in Place(chart_of(Scene(tables=[table]))).ops
               if isinstance(op, Words) and "5010" in op.text]  # fmt: skip
    assert words.text == text
    assert words.size < 14


def test_a_wrapped_text_stays_inside_its_box():
    box = Box(id=1, left=at(2), top=101.4, right=at(6), bottom=99.6, text="many words " * 30,
              text_wrap="auto", text_size="normal", bgcolor="#ff00ff")  # fmt: skip
    place = Place(chart_of(Scene(boxes=[box])))
    lines = [op for op in place.ops if isinstance(op, Words) and "words" in op.text]
    assert len(lines) > 3
    from chartpact.render.display import bounding_box

    ground = Area(place.x(2), place.y(101.4), place.x(6), place.y(99.6))
    assert all(ground.grow(1).holds(bounding_box(op)) for op in lines)


@in_one_test(("top", "plates"), [(100.02, 1), (101.4, 0)])
def test_words_that_are_higher_than_their_box_are_not_struck_through(top, plates):
    box = Box(id=1, left=at(2), top=top, right=at(8), bottom=100.0, text="FVG", text_size="small")
    place = Place(chart_of(Scene(boxes=[box])))
    (words,) = [op for op in place.ops if isinstance(op, Words) and op.text == "FVG"]
    before = place.ops[: place.ops.index(words)]
    grounds = [op for op in before if isinstance(op, Panel) and op.area.height < 40]
    inside = [op for op in grounds if op.area.left <= words.x <= op.area.right]
    assert len([op for op in inside if op.area.top <= words.y <= op.area.bottom]) == plates


@in_one_test(("extend", "left", "right"), [("left", 1, 0), ("right", 0, 1), ("both", 1, 1)])
def test_a_box_is_extended_to_the_edges_of_the_pane(extend, left, right):
    box = Box(
        id=1, left=at(3), top=101.0, right=at(6), bottom=100.0, extend=extend, bgcolor="#ff00ff"
    )
    place = Place(chart_of(Scene(boxes=[box])))
    [ground] = [op.area for op in place.ops if isinstance(op, Panel) and op.fill == "#ff00ffff"]
    assert ground.left == pytest.approx(place.area().left if left else place.x(3))
    assert ground.right == pytest.approx(place.area().right if right else place.x(6))


def test_forced_objects_of_a_panel_are_drawn_over_the_price():
    scene = Scene(
        plots=[LinePlot(values=np.arange(10.0))],
        labels=[
            Label(id=1, x=at(5), y=100.5, text="on the price", force_overlay=True),
            Label(id=2, x=at(5), y=5.0, text="in the panel"),
        ],
    )
    chart = chart_of(scene, overlay=False)
    place = Place(chart)
    words = {op.text: op.y for op in place.ops if isinstance(op, Words)}
    assert words["on the price"] < place.area(0).bottom < words["in the panel"]


def test_tooltips_become_titles():
    label = Label(id=1, x=at(5), y=100.0, text="x", tooltip="said when pointed at")
    titles = [each.text for each in elements(chart_of(Scene(labels=[label])).svg(), "title")]
    assert "said when pointed at" in titles


def test_panes_always_fill_the_picture():
    for count in (0, 1, 3, 8):
        drawn = [gallery.drawn(Scene(plots=[LinePlot(values=np.ones(10))]), f"p{i}", overlay=False)
                 for i in range(count)]  # fmt: skip
        for height in (400, 800, 1401):
            made = _Composer(Chart(flat_bars(), tuple(drawn)), Look(height=height))
            edges = [(pane.area.top, pane.area.bottom) for pane in made.panes]
            assert edges[0][0] == 0
            assert edges[-1][1] == made.bottom
            assert all(a[1] == b[0] for a, b in pairwise(edges))
            assert edges[0][1] - edges[0][0] >= max(b - a for a, b in edges)


def test_a_log_scale_of_prices_at_nought_is_refused():
    from chartpact.render import RenderError

    with pytest.raises(RenderError, match="needs prices above 0"):
        chart_of(Scene(), flat_bars(price=0.25)).svg(log=True)


def test_no_bars_at_all_still_make_a_picture():
    assert "<svg" in Chart(flat_bars(10)[:0]).svg()


@in_one_test(("one", "other", "name"), [
    ("rsi:period=7", "rsi", "RSI 7"),
    ("cipher_b:dot_mode=classic", "cipher_b", "Cipher B classic"),
    ("combo:show_entry_dots=false", "combo", "RSI/MFI/Stoch show_entry_dots=false"),
    ('vwap:day_roll="17:00 Europe/Paris"', "vwap", "VWAP session day_roll=17:00 Europe/Paris"),
    ("vp:color_up=#112233", "vp", "VPVR color_up=#112233ff"),
])  # fmt: skip
def test_the_legend_tells_two_of_a_kind_apart(one, other, name):
    bars = cp.load("sample:es-5m")
    words = [each.text for each in elements(cp.chart(bars, [one, other], last=60).svg(), "text")]
    assert name in words
    assert any(word != name and word.startswith(name.split()[0]) for word in words)


def test_the_legend_tells_the_last_values_in_their_colours():
    plots = [
        LinePlot(values=np.arange(10.0), title="one", color="#ff00ff"),
        LinePlot(values=[1.0] * 10),
    ]
    picture = chart_of(Scene(plots=plots, label="Mine"), overlay=False).svg()
    found = [(each.text, each.get("fill")) for each in elements(picture, "text")]
    assert ("9.00", "#ff00ff") in found
    assert "Mine" in dict(found)


def test_dark_and_light_differ_in_ground_and_ink_alone():
    chart = gallery.SCENES["everything"]()
    dark, light = (
        re.sub(r'#[0-9a-f]{6}|-opacity="[^"]*"', "", chart.svg(theme=each))
        for each in ("dark", "light")
    )
    assert (
        re.sub(r'\s+\w+(-opacity)?=""|\s\w+(?=[\s/>])', "", dark)[:200]
        == re.sub(r'\s+\w+(-opacity)?=""|\s\w+(?=[\s/>])', "", light)[:200]
    )
    assert 'fill="#131722"' in chart.svg(theme="dark")
    assert 'fill="#ffffff"' in chart.svg(theme="light")


@in_one_test("hidden", range(3))
def test_bars_without_a_colour_do_not_stand_for_their_neighbours(hidden):
    count = 3_000  # several share each pixel
    colors = tuple(None if i % 3 == hidden else "#4caf50" for i in range(count))
    rising = np.arange(count, dtype=float)
    bars = BarsPlot(values=rising, color=colors)
    line = LinePlot(values=rising, color=colors)
    fill = FillPlot(a=rising, b=rising - 900, color=colors, alpha=1)
    for plot in (bars, line, fill):
        found = compose(chart_of(Scene(plots=[plot]), flat_bars(count), overlay=False), Look())
        drawn = [
            bounding_box(op)
            for op in found.ops
            if isinstance(op, Rects | Shape)
            and (getattr(op, "fill", None) or op.stroke.color).startswith("#4caf50")
        ]
        assert max(area.right for area in drawn) - min(area.left for area in drawn) > 1_000
        if isinstance(plot, BarsPlot):
            assert (
                sum(
                    len(op.boxes)
                    for op in found.ops
                    if isinstance(op, Rects) and op.fill[:7] == "#4caf50"
                )
                > 400
            )


# --------------------------------------------------- candles, backgrounds, colours of bars, shapes

INK, PAPER, EDGE = "#123456", "#654321", "#abcdef"


def own_candles(**colors):
    """Candles ten below those of `flat_bars`, in a panel."""
    bars = flat_bars(10)
    prices = {name: getattr(bars, name) - 10 for name in ("open", "high", "low", "close")}
    plot = CandlesPlot(**prices, **colors)
    chart = chart_of(Scene(plots=[plot]), bars, overlay=False)
    return Place(chart), pixels(chart.png(width=600, height=400, volume="none"))


def test_candles_of_an_indicator_stand_in_its_pane_in_the_colours_of_the_theme():
    place, shown = own_candles()
    for bar, color in ((0, UP), (1, DOWN)):
        x = int(place.x(bar))
        assert tuple(shown[round(place.y(90.5, 1)), x + 5]) == rgb(color)
        assert tuple(shown[round(place.y(91.25, 1)), x]) == rgb(color)
        assert tuple(shown[round(place.y(91.25, 1)), x + 3]) != rgb(color)


def test_a_hollow_candle_has_a_border_and_no_wick_within():
    place, shown = own_candles(color=[None, PAPER] * 5, wick_color=INK, border_color=EDGE)
    x, middle = int(place.x(0)), round(place.y(90.5, 1))
    width = candles.body_width(place.made.bars.step)
    assert tuple(shown[round(place.y(91.25, 1)), x]) == rgb(INK)
    assert tuple(shown[round(place.y(89.75, 1)), x]) == rgb(INK)
    assert tuple(shown[middle, x]) == rgb("#131722")
    for edge in (x - width // 2, x - width // 2 + width - 1):
        assert tuple(shown[middle, edge]) == rgb(EDGE)
    assert tuple(shown[round(place.y(91, 1)), x + 4]) == rgb(EDGE)
    assert tuple(shown[middle, int(place.x(1))]) == rgb(PAPER)


def test_a_candle_without_a_colour_is_not_drawn():
    place = own_candles(color=[INK, None] * 5)[0]
    [drawn] = [op for op in place.ops if isinstance(op, Rects) and op.fill[:7] == INK]
    assert len(drawn.boxes) == 10  # five wicks and five bodies
    assert not [
        op for op in place.ops if isinstance(op, Rects) and op.fill in (UP, DOWN) and
        op.boxes[:, 1].min() > place.area(1).top
    ]  # fmt: skip


def test_backgrounds_fill_the_pane_from_half_a_bar_before_to_half_a_bar_after():
    colors = [None, INK, INK, PAPER, None, None, None, None, None, EDGE]
    plots = [BackgroundPlot(color=colors), LinePlot(values=np.arange(10.0))]
    place = Place(chart_of(Scene(plots=plots), overlay=False))
    area = place.area(1)
    for color, first, last in ((INK, 1, 2), (PAPER, 3, 3), (EDGE, 9, 9)):
        [op] = [op for op in place.ops if isinstance(op, Rects) and op.fill[:7] == color]
        edges = [round(place.x(first - 0.5)), round(place.x(last + 0.5))]
        [left, top, width, height] = op.boxes[0].tolist()
        assert [left, left + width] == edges
        assert (top, height) == (area.top, area.height)


def test_one_background_colour_fills_the_whole_pane():
    place = Place(chart_of(Scene(plots=[BackgroundPlot(color=INK)])))
    [op] = [op for op in place.ops if isinstance(op, Rects) and op.fill[:7] == INK]
    area = place.area()
    assert op.boxes.tolist() == [[area.left, area.top, round(area.right), area.height]]


@in_one_test("kind", ["candles", "bars", "heikin_ashi"])
def test_a_panel_may_colour_the_bars_of_the_chart_and_the_last_indicator_decides(kind):
    bars = flat_bars(10)
    first = Scene(plots=[BarColorPlot(color=[INK, None] * 5)])
    second = Scene(plots=[BarColorPlot(color=[PAPER, None, None, EDGE, *[None] * 6])])
    drawn = (gallery.drawn(first, "a", overlay=False), gallery.drawn(second, "b"))
    place = Place(Chart(bars, drawn), Look(width=600, height=400, volume="none", kind=kind))
    area = place.area()
    of_color = {}
    for op in place.ops:
        if isinstance(op, Rects) and bounding_box(op).bottom <= area.bottom:
            middle = op.boxes[:, 0] + op.boxes[:, 2] / 2
            step = place.made.bars.step
            of_color.setdefault(op.fill[:7], set()).update((middle // step).astype(int).tolist())
    assert of_color[PAPER] == {0}
    assert of_color[INK] == {2, 4, 6, 8}
    assert of_color[EDGE] == {3}
    assert of_color.get(DOWN, set()) | of_color.get(UP, set()) == {1, 5, 7, 9}


def test_bars_that_share_a_candle_have_the_colour_of_the_last_coloured_one():
    count = 3_000
    colors = [INK if i % 20 == 7 else None for i in range(count)]
    scene = Scene(plots=[BarColorPlot(color=colors)])
    place = Place(chart_of(scene, flat_bars(count)))
    [*ops] = [op for op in place.ops if isinstance(op, Rects) and op.fill[:7] == INK]
    assert len({left for op in ops for left in op.boxes[:, 0].tolist()}) >= count // 20 * 0.9


def shape_chart(*plots, bars=None, overlay=True):
    return Place(chart_of(Scene(plots=plots), bars, overlay=overlay))


@in_one_test("name", palette.SHAPES)
def test_a_shape_clears_its_bar_above_and_below(name):
    for location, way in (("abovebar", -1), ("belowbar", 1)):
        plot = ShapePlot(points=[Mark(3)], shape=name, color=INK, location=location)
        place = shape_chart(plot)
        [op] = [op for op in place.ops if getattr(op, "fill", None) == f"{INK}ff"]
        box = bounding_box(op)
        edge = place.y(101.5) if way < 0 else place.y(99.5)
        assert abs((box.left + box.right) / 2 - place.x(3)) < 1
        if way < 0:
            assert edge - 10 < box.bottom < edge
        else:
            assert edge < box.top < edge + 10
        assert place.area().holds(box)


def test_shapes_of_one_bar_are_stacked_and_none_covers_another():
    plots = [ShapePlot(points=[Mark(3, text="ab")], shape=name, color=INK, size="small")
             for name in ("circle", "square", "labeldown", "diamond")]  # fmt: skip
    place = shape_chart(*plots)
    signs = (op for op in place.ops if isinstance(op, Circles | Shape) and op.fill == f"{INK}ff")
    boxes = [bounding_box(op) for op in signs]
    words = [bounding_box(op) for op in place.ops if isinstance(op, Words) and op.text == "ab"]
    assert (len(boxes), len(words)) == (4, 4)
    tops = [box.top for box in boxes]
    assert tops == sorted(tops, reverse=True)
    for i, box in enumerate(boxes):
        assert not any(box.meets(other) for other in boxes[i + 1 :])


def test_absolute_shapes_stand_at_their_heights_and_stretch_the_pane():
    plot = ShapePlot(points=[Mark(2, 55.0), Mark(4)], location="absolute", color=INK)
    place = shape_chart(plot, overlay=False)
    [op] = place.shapes(INK)
    assert len(op.parts) == 1
    box = bounding_box(op)
    assert (box.left + box.right) / 2 == pytest.approx(place.x(2))
    assert (box.top + box.bottom) / 2 == pytest.approx(place.y(55.0, 1))


@in_one_test("overlay", [True, False])
def test_shapes_at_the_top_and_bottom_stay_in_the_pane(overlay):
    marks = Marks(x=[2, 4], y=[np.nan] * 2, text=["a", ""])
    for location in ("top", "bottom") if overlay else ("abovebar", "belowbar"):
        place = shape_chart(
            ShapePlot(points=marks, location=location, color=[INK, None]), overlay=overlay
        )
        [op] = place.shapes(INK)
        area, box = place.area(not overlay), bounding_box(op)
        assert area.holds(box)
        near = box.top - area.top if location in ("top", "abovebar") else area.bottom - box.bottom
        assert near < 45
        assert len(op.parts) == 1


def test_the_text_of_a_shape_without_room_is_left_out_and_its_sign_stays():
    crowd = Marks(x=np.arange(40), y=np.full(40, np.nan), text=["a long text"] * 40)
    place = shape_chart(ShapePlot(points=crowd, shape="labeldown", color=INK), bars=flat_bars(40))
    texts = [bounding_box(op) for op in place.ops if isinstance(op, Words) and "long" in op.text]
    assert 2 < len(texts) < 40
    assert not any(one.meets(two) for i, one in enumerate(texts) for two in texts[i + 1 :])
    signs = sum(len(op.parts) for op in place.shapes(INK))
    assert signs == 40


def test_what_is_drawn_without_heights_is_drawn_all_the_same():
    bars = flat_bars(10)
    for plot in (
        BackgroundPlot(color=[INK] * 10), BarColorPlot(color=INK),
        ShapePlot(points=[Mark(3)], color=INK),
    ):  # fmt: skip
        assert "nothing drawn" not in chart_of(Scene(plots=[plot]), bars).svg()
    for plot in (BackgroundPlot(color=[None] * 10), ShapePlot(points=[])):
        assert "nothing drawn" in chart_of(Scene(plots=[plot]), bars).svg()


def test_the_legend_tells_the_close_of_a_hollow_candle_in_the_colour_of_its_border():
    bars = flat_bars(10)
    prices = {name: getattr(bars, name) - 10 for name in ("open", "high", "low", "close")}
    plot = CandlesPlot(**prices, color=[None] * 10, border_color=[EDGE] * 10, title="x")
    place = Place(chart_of(Scene(plots=[plot]), bars, overlay=False))
    assert [op.text for op in place.ops if isinstance(op, Words)].count("90.000") == 2


def test_the_legend_tells_the_close_of_titled_candles():
    bars = flat_bars(10)
    prices = {name: getattr(bars, name) - 10 for name in ("open", "high", "low", "close")}
    chart = chart_of(Scene(plots=[CandlesPlot(**prices, title="x")]), bars, overlay=False)
    assert written(chart.svg()).count("90.000") == 2  # in the legend and on the axis


def test_a_time_to_come_is_named_too():
    label = Label(id=1, x=at(79), y=101.0, text="later")
    picture = compose(chart_of(Scene(labels=[label]), flat_bars(60)), Look())
    pane = next(op for op in picture.ops if isinstance(op, Words) and op.text == "later")
    times = [op.x for op in picture.ops if isinstance(op, Words) and ":" in op.text]
    assert max(times) > pane.x - 120


@in_one_test("price", [81_351.83, 3e12, 3e-8])
def test_a_number_is_never_cut_off_at_the_edge_of_a_small_picture(price):
    bars = flat_bars(price=price, tick_size=None)
    picture = compose(chart_of(Scene(), bars), Look(width=160, height=200))
    for op in picture.ops:
        if isinstance(op, Words):
            assert bounding_box(op).right <= 160


def test_a_series_that_needs_more_bars_says_so_though_its_levels_are_drawn():
    for name in ("macd", "rsi"):
        said = written(cp.chart(flat_bars(8), [name]).svg())
        assert "nothing drawn on these bars" in said


def test_bars_without_a_name_have_a_title_without_a_gap():
    picture = compose(Chart(flat_bars(symbol="", timeframe="")), Look())
    assert next(op.x for op in picture.ops if isinstance(op, Words) and op.text == "O") == 10
