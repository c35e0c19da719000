"""Panes fit what is in view: nothing is cut off, nothing is squashed."""

import numpy as np
from tests.cases import in_one_test

import chartpact as cp
from chartpact.render import axes, panes, plots
from chartpact.render.display import Shape, Words
from chartpact.render.look import Look
from chartpact.render.picture import _Composer, compose
from chartpact.scene import FillPlot, HLinePlot, LinePlot, Scene

from .scenery import chart_of, flat_bars

LEAST = 0.4  # of its pane that a drawing takes
BOUNDED = {"aroon", "fear_greed", "mfi", "rsi_mfi_stoch", "stoch", "stoch_rsi", "williams_r"}
PANELS = [
    one.name
    for one in cp.list_indicators()
    if one.source == "builtin" and not one.overlay and not one.looks_outside({})
]


def panel_of(chart, **look):
    made = _Composer(chart, Look(**look))
    return next(pane for pane in made.panes if pane.content.kind == "panel")


@in_one_test("sample", ["es-5m", "eurusd-15m", "btc-1d"])
def test_no_panel_cuts_or_squashes_what_its_indicator_drew(sample):
    bars = cp.load(f"sample:{sample}")
    for last in (20, 200, 700):
        for drawn in cp.chart(bars, PANELS, last=last).drawn:
            pane = panel_of(cp.charts.Chart(bars.last(last), (drawn,)), height=600)
            low, high = panes._union(*map(plots.extent, drawn.scene.plots))
            if np.isfinite(low):
                assert pane.scale.low - 1e-9 <= low, drawn.name
                assert high <= pane.scale.high + 1e-9, drawn.name
            if np.isfinite(low) and drawn.name not in BOUNDED:
                assert high - low >= LEAST * (pane.scale.high - pane.scale.low), drawn.name


def test_only_bounded_indicators_that_use_their_range_set_one():
    bars = cp.load("sample:es-5m")
    fixed = {one.name for one in cp.chart(bars, PANELS).drawn if one.scene.y_range}
    assert fixed == BOUNDED - {"fear_greed"}  # which needs readings from outside


@in_one_test(("values", "levels", "span"), [
    ([40, 60], [30, 70], (30, 70)),  # levels near by are in view
    ([1000, 1100], [0], (1000, 1100)),  # a far one is not, and flattens nothing
    ([-280, 310], [-100, 100], (-280, 310)),
    ([5, 5], [0, 10], (0, 10)),  # what does not move leaves the room to its levels
    ([np.nan, np.nan], [0, 10], (0, 10)),
])  # fmt: skip
def test_levels_are_in_view_unless_they_would_take_more_than_half_of_the_panel(
    values, levels, span
):
    series = np.resize(np.array(values, dtype=float), 10)
    lines = [HLinePlot(y=y) for y in levels]
    fills = [FillPlot(a=series, b=np.full(10, float(y))) for y in levels]
    for others in (lines, fills):
        scene = Scene(plots=[LinePlot(title="x", values=series), *others])
        scale = panel_of(chart_of(scene, flat_bars(), overlay=False)).scale
        assert (scale.low, scale.high) == span


def test_a_panel_has_labels_on_its_axis():
    bars = cp.load("sample:es-5m")
    for first in (0, 300, 900, 1500):
        for drawn in cp.chart(bars[: first + 400], PANELS, last=200).drawn:
            chart = cp.charts.Chart(bars[first + 200 : first + 400], (drawn,))
            pane = panel_of(chart, width=900, height=500)
            inside = [y for y in map(pane.scale.y1, pane.ticks) if axes.is_inside(y, pane.area)]
            assert len(inside) >= 2 or np.isnan(
                panes._union(*map(plots.extent, drawn.scene.plots))[0]
            )


# ------------------------------------------------------------------------------------------ levels


def strokes(picture):
    return [op for op in picture.ops if isinstance(op, Shape) and op.stroke]


@in_one_test("name", ["pivot", "session_vp", "session_vp:session=hourly", "naked_poc"])
def test_levels_that_change_with_the_session_are_broken(name):
    for last in (200, 700, 2000):
        chart = cp.chart(cp.load("sample:es-5m"), name, last=last)
        for op in strokes(compose(chart, Look(volume="none"))):
            for _, y in op.parts:
                assert (y == y[0]).all()


@in_one_test("name", ["vwap", "vwap_bands"])
def test_no_stroke_leads_from_one_session_to_the_next(name):
    for last in (700, 2000):  # alone, and several bars on a pixel
        chart = cp.chart(cp.load("sample:es-5m"), name, last=last)
        made = _Composer(chart, Look(volume="none"))
        days = chart.bars.trading_day
        starts = made.bars.x(np.flatnonzero(np.diff(days)) + 1)
        assert len(starts) >= 2
        lines = [op for op in strokes(made.picture()) if op.stroke.width >= 1.25]
        assert lines
        for op in lines:
            for x, _ in op.parts:
                inner = starts[(starts > x[0] + 0.1) & (starts <= x[-1])]
                assert not len(inner)


def test_levels_of_one_value_are_one_stroke_from_edge_to_edge_of_its_bars():
    values = [1.0, 1, 1, 2, 2, np.nan, 3, 3, 3, 3]
    chart = chart_of(
        Scene(plots=[LinePlot(values=values, style="levels", color="#123456")]), overlay=False
    )
    made = _Composer(chart, Look())
    [op] = [op for op in strokes(made.picture()) if op.stroke.color == "#123456ff"]
    ends = [(x[0], x[-1]) for x, _ in op.parts]
    edges = [(0, 3), (3, 5), (6, 10)]
    wanted = [(made.bars.x1(a - 0.5), made.bars.x1(b - 0.5)) for a, b in edges]
    np.testing.assert_allclose(ends, wanted)


@in_one_test(("name", "wanted"), [
    ("pivot", {"P", "R1", "S1"}),
    ("session_vp", {"POC", "VAH", "VAL"}),
    ("volume_profile", {"POC", "VAH", "VAL"}),
    ("tpo", {"POC", "VAH", "VAL"}),
    ("naked_poc", {"dPOC"}),
])  # fmt: skip
def test_levels_have_their_names_on_the_lines(name, wanted):
    bars = cp.load("sample:es-5m")[:1500]
    for width in (420, 900):
        chart = cp.chart(bars, name, last=200)
        made = _Composer(chart, Look(width=width, height=500))
        words = [op for op in made.picture().ops if isinstance(op, Words)]
        named = {op.text: op for op in words if op.text in wanted}
        assert set(named) == wanted
        values = {
            plot.title: getattr(plot, "y", None) or getattr(plot, "y2", None) or plot.values[-1]
            for plot in chart.drawn[0].scene.plots
            if plot.title in wanted
        }
        for title, op in named.items():
            assert abs(op.y - made.panes[0].scale.y1(values[title])) <= 16


@in_one_test("name", ["volume_profile", "tpo", "hvn_lvn"])
def test_the_names_of_levels_keep_off_the_bars(name):
    bars = cp.load("sample:es-5m")[:1500]
    made = _Composer(cp.chart(bars, name, last=200), Look(width=900, height=500))
    shown, price = bars.last(200), made.panes[0].scale
    x = made.bars.x(np.arange(200))
    titles = {"POC", "VAH", "VAL", "HVN", "LVN"}
    words = [op for op in made.picture().ops if isinstance(op, Words) and op.text in titles]
    covered = [
        op.text
        for op in words
        if ((x >= op.x) & (x <= op.x + 20) & (price.y(shown.high) < op.y)
            & (price.y(shown.low) > op.y - 9)).any()
    ]  # fmt: skip
    assert len(words) >= 3
    assert not covered
