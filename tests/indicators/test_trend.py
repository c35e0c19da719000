from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.indicators.market import bars, noise, signals, values

import chartpact as cp
from chartpact.render.display import Rects
from chartpact.render.look import Look
from chartpact.render.picture import compose
from chartpact.scene import CandlesPlot

UP, DOWN = "#089981", "#f23645"
NA = np.nan


def test_supertrend_starts_down_and_flips_when_the_close_breaks_the_band():
    #            bar 0   1    2    3    4   5   6
    closes = [10, 10, 10, 20, 21, 22, 10]
    market = bars(closes, np.array(closes) + 1.0, np.array(closes) - 1.0)
    scene = cp.indicator("supertrend", period=2, multiplier=1)(market)
    up, down = values(scene, "Up Trend"), values(scene, "Down Trend")
    # ranges 2, 2, 2, 11, 2, 2, 13 give averages 2, 2, 6.5, 4.25, 3.125, 8.0625 from bar 1 on
    np.testing.assert_allclose(down, [NA, 12, 12, NA, NA, NA, 18.0625])
    np.testing.assert_allclose(up, [NA, NA, NA, 13.5, 16.75, 18.875, NA])
    assert signals(scene) == [(3, 3, "flip_up"), (6, 6, "flip_down")]
    assert [s.value for s in scene.signals] == [13.5, 18.0625]


def test_supertrend_never_shows_pines_zero_on_the_first_bar():
    for period in (1, 2, 10):
        scene = cp.indicator("supertrend", period=period)(noise(30))
        assert np.isnan(values(scene, "Up Trend")[0])
        assert np.isnan(values(scene, "Down Trend")[0])
        assert not any(bar <= 1 for bar, _, _ in signals(scene))


def test_sar_starts_on_the_second_bar_and_accelerates_with_every_extreme():
    highs, lows = [10, 11, 12, 13, 9], [9, 10, 11, 12, 5]
    market = bars(np.add(highs, lows) / 2, highs, lows)
    scene = cp.indicator("sar", af_start=0.1, af_step=0.1, af_max=0.5)(market)
    # long from 9 towards 11: 9 + 0.1·(11 − 9) = 9.2, held below the lows 9 and 10 → 9;
    # the extreme 12 brings 0.2: 9 + 0.2·(12 − 9) = 9.6, held below 10 → 9.6; then 5 is below
    np.testing.assert_allclose(values(scene, "SAR"), [NA, 9, 9, 9.6, 13])
    assert signals(scene) == [(4, 4, "flip_down")]


def test_sar_is_dots_in_the_colour_of_the_trend():
    scene = cp.indicator("parabolic_sar")(noise(100))
    plot = scene.plots[0]
    assert plot.style == "circles"
    market = noise(100)
    below = plot.values < market.low
    assert all(
        (color == plot.color[1]) == (below[i] == below[1])
        for i, color in enumerate(plot.color)
        if i >= 1
    )


def test_a_market_that_does_not_move_does_not_flip():
    flat = bars(np.full(50, 100.0))
    for name in ("supertrend", "sar", "heikin_ashi"):
        assert signals(cp.indicator(name)(flat)) == []


def test_heikin_ashi_averages_the_bar_and_opens_in_the_middle_of_the_one_before():
    market = bars([12, 10, 20], [13, 13, 21], [9, 8, 9], [10, 12, 10])
    scene = cp.indicator("ha")(market)
    # closes (10 + 13 + 9 + 12) / 4 = 11, 10.75, 15; opens 11, 11, 10.875
    [candles] = [plot for plot in scene.plots if isinstance(plot, CandlesPlot)]
    np.testing.assert_allclose(candles.close, [11, 10.75, 15])
    np.testing.assert_allclose(candles.open, [11, 11, 10.875])
    np.testing.assert_allclose(candles.high, [13, 13, 21])
    np.testing.assert_allclose(candles.low, [9, 8, 9])
    assert signals(scene) == [(1, 1, "flip_down"), (2, 2, "flip_up")]


def test_heikin_ashi_of_many_bars_is_the_plain_recursion():
    market = noise(500)
    scene = cp.indicator("heikin_ashi")(market)
    closes = (market.open + market.high + market.low + market.close) / 4
    opens = [(market.open[0] + market.close[0]) / 2]
    for close in closes[:-1]:
        opens.append((opens[-1] + close) / 2)
    [candles] = [plot for plot in scene.plots if isinstance(plot, CandlesPlot)]
    np.testing.assert_allclose(candles.open, opens, rtol=1e-13)
    assert (candles.high >= np.maximum(candles.open, candles.close)).all()
    assert (candles.low <= np.minimum(candles.open, candles.close)).all()


def test_heikin_ashi_candles_take_the_place_of_the_charts_own():
    chart = cp.chart(cp.load("sample:es-5m"), "heikin_ashi", last=100)
    asked, kind = (
        compose(chart, Look()),
        compose(replace(chart, drawn=()), Look(kind="heikin_ashi")),
    )
    seen = [
        op
        for op in asked.ops
        if isinstance(op, Rects) and op.fill[:7] in (UP, DOWN) and op.fill[7:] in ("", "ff")
    ]
    wanted = [
        op
        for op in kind.ops
        if isinstance(op, Rects) and op.fill[:7] in (UP, DOWN) and op.fill[7:] in ("", "ff")
    ]
    assert sum(len(op.boxes) for op in seen) == sum(len(op.boxes) for op in wanted) == 200


def test_adx_is_one_hundred_in_a_market_that_only_rises():
    closes = np.arange(10.0, 40)
    scene = cp.indicator("adx", period=5)(bars(closes, closes + 1, closes - 1))
    # every bar moves 1 up within a range of 2
    np.testing.assert_allclose(values(scene, "+DI")[5:], 50)
    np.testing.assert_allclose(values(scene, "-DI")[5:], 0)
    np.testing.assert_allclose(values(scene, "ADX")[9:], 100)
    assert np.isnan(values(scene, "ADX")[:9]).all()


@pytest.mark.parametrize("name", ["supertrend", "heikin_ashi"])
def test_flips_alternate(name):
    turns = [kind for _, _, kind in signals(cp.indicator(name)(noise(2000)))]
    assert len(turns) > 20
    assert all(a != b for a, b in pairwise(turns))
