"""Builtins that are nothing but a script: they draw what they promise."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact import ta
from chartpact.bars import Bars
from chartpact.scene import Scene
from chartpact.script import stock

ES = cp.load("sample:es-5m").last(700)


def draw(name: str, bars: Bars = ES, **params: object) -> Scene:
    return cp.indicator(name, **params)(bars)


def values(scene: Scene, title: str) -> np.ndarray:
    (plot,) = [plot for plot in scene.plots if plot.title == title]
    return np.asarray(plot.values)


@in_one_test("name", stock.ALONE)
def test_one_draws_on_no_bar_on_one_and_on_bars_without_a_pair(name):
    for bars in (ES[:0], ES[:1], ES[:3]):
        draw(name, bars)


@pytest.mark.parametrize("name", stock.ALONE)
def test_one_is_drawn_where_no_script_of_a_user_may_run(name, monkeypatch):
    monkeypatch.setenv("CHARTPACT_SCRIPTS", "none")
    (drawn,) = cp.chart(ES, [name]).drawn
    assert drawn.error is None


@in_one_test("name", ["chaikin_oscillator", "vwma"])
def test_one_that_needs_volume_says_so(name):
    none = replace(ES, volume=np.full(len(ES), np.nan))
    (drawn,) = cp.chart(none, [name]).drawn
    assert drawn.error.message == f"{name} needs volume, and these bars have none"


AVERAGES = {
    "sma": lambda bars: ta.sma(bars.close, 7),
    "ema": lambda bars: ta.ema(bars.close, 7),
    "wma": lambda bars: ta.wma(bars.close, 7),
    "rma": lambda bars: ta.rma(bars.close, 7),
    "hma": lambda bars: ta.hma(bars.close, 7),
    "vwma": lambda bars: ta.vwma(bars.close, bars.volume, 7),
    "alma": lambda bars: ta.alma(bars.close, 7, 0.85, 6),
}


@in_one_test("name", AVERAGES)
def test_an_average_is_that_of_ta(name):
    drawn = values(draw(name, period=7), name.upper())
    np.testing.assert_array_equal(drawn, AVERAGES[name](ES))


def test_stochastic_rsi_is_the_place_of_the_rsi_in_its_own_range():
    rsi = ta.rsi(ES.close, 14)
    window = np.lib.stride_tricks.sliding_window_view(rsi[14:], 14)
    low, high = window.min(1), window.max(1)
    place = 100 * (window[:, -1] - low) / (high - low)
    k = np.convolve(place, np.ones(3) / 3, "valid")
    np.testing.assert_allclose(values(draw("stoch_rsi"), "%K")[-len(k) :], k, rtol=1e-9, atol=1e-9)


def test_aroon_counts_the_bars_since_the_extreme_the_first_of_equals():
    up, down = (values(draw("aroon", period=5), f"Aroon {side}") for side in ("Up", "Down"))
    assert np.isnan(up[:5]).all()
    for i in range(5, 300):
        highs, lows = ES.high[i - 5 : i + 1], ES.low[i - 5 : i + 1]
        assert up[i] == pytest.approx(20 * highs.argmax())
        assert down[i] == pytest.approx(20 * lows.argmin())


def test_trix_is_the_change_of_a_logarithm_that_was_smoothed_three_times():
    smooth = np.log(ES.close)
    for _ in range(3):
        smooth = ta.ema(smooth, 5)
    drawn = values(draw("trix", period=5), "TRIX")
    np.testing.assert_allclose(drawn[1:], 1e4 * np.diff(smooth), rtol=1e-9, atol=1e-9)


def test_the_detrended_price_lies_back_by_half_its_average():
    average = ta.sma(ES.close, 21)
    np.testing.assert_allclose(values(draw("dpo"), "DPO")[11:], ES.close[11:] - average[:-11])
    centred = values(draw("dpo", centered=True), "DPO")
    np.testing.assert_allclose(centred[:-11], ES.close[:-11] - average[11:])
    assert np.isnan(centred[-11:]).all()


def test_the_oscillators_of_averages_are_their_distances():
    middle = (ES.high + ES.low) / 2
    awesome = ta.sma(middle, 5) - ta.sma(middle, 34)
    np.testing.assert_allclose(values(draw("awesome"), "AO"), awesome, atol=1e-9)
    flow = ta.accdist(ES.high, ES.low, ES.close, ES.volume)
    chaikin = ta.ema(flow, 3) - ta.ema(flow, 10)
    drawn = values(draw("chaikin_oscillator"), "Chaikin Oscillator")
    np.testing.assert_allclose(drawn, chaikin, rtol=1e-9, atol=1e-9)


def test_a_squeeze_is_bollinger_bands_inside_keltner_channels():
    scene = draw("squeeze")
    (dots,) = [plot for plot in scene.plots if plot.title == "Squeeze"]
    quiet = 2 * ta.stdev(ES.close, 20) < 1.5 * ta.sma(ta.tr(ES.high, ES.low, ES.close), 20)
    known = np.flatnonzero(~np.isnan(np.asarray(dots.values)))
    assert {bool(quiet[i]) for i in known} == {True, False}
    assert [dots.color[i].startswith("#ef6c00") for i in known] == [bool(quiet[i]) for i in known]
    momentum = values(scene, "Momentum")
    ends = [i for i in known[1:] if quiet[i - 1] and not quiet[i] and not np.isnan(momentum[i])]
    assert sorted(each.bar for each in scene.signals) == ends


def test_the_ut_bot_trails_as_its_authors_script_does():
    loss = 1.0 * ta.atr(ES.high, ES.low, ES.close, 10)
    drawn, close = values(draw("ut_bot"), "Stop"), ES.close
    for i in range(11, len(ES)):
        before, previous, price = drawn[i - 1], close[i - 1], close[i]
        if price > before and previous > before:
            wanted = max(before, price - loss[i])
        elif price < before and previous < before:
            wanted = min(before, price + loss[i])
        else:
            wanted = price - loss[i] if price > before else price + loss[i]
        assert drawn[i] == pytest.approx(wanted, rel=1e-12)


def test_the_chandelier_only_tightens_until_a_close_beyond_it():
    scene = draw("chandelier", period=10)
    long_stop, short_stop = (values(scene, f"{side} Stop") for side in ("Long", "Short"))
    assert (np.isnan(long_stop[20:]) != np.isnan(short_stop[20:])).all()
    both = ~np.isnan(long_stop[1:]) & ~np.isnan(long_stop[:-1])
    fell = both & (np.diff(long_stop) < 0)
    assert both.any()
    assert (ES.close[:-1][fell] <= long_stop[:-1][fell]).all()
    for signal in scene.signals:
        assert np.isnan((long_stop if signal.name == "flip_up" else short_stop)[signal.bar - 1])


def test_the_channel_is_the_least_squares_line_of_the_last_closes():
    scene = draw("linreg_channel", period=50)
    slope, start = np.polyfit(np.arange(50), ES.close[-50:], 1)
    middle, upper, lower = scene.lines
    assert (middle.y1, middle.y2) == pytest.approx((start, start + 49 * slope))
    reach = 2 * np.sqrt(np.mean((ES.close[-50:] - start - slope * np.arange(50)) ** 2))
    assert (upper.y1 - middle.y1, middle.y2 - lower.y2) == pytest.approx((reach, reach))
    assert all(line.provisional for line in scene.lines)


def test_a_zigzag_joins_highs_and_lows_in_turn_and_only_its_end_may_move():
    lines = draw("zigzag", depth=5).lines
    assert len(lines) > 10
    for one, next_one in pairwise(lines):
        assert (one.x2, one.y2) == (next_one.x1, next_one.y1)
        assert (one.y2 - one.y1) * (next_one.y2 - next_one.y1) < 0
    for line in lines:
        assert line.y2 in (ES.high[line.x2.bar], ES.low[line.x2.bar])
    assert [line.provisional for line in lines] == [False] * (len(lines) - 1) + [True]


def test_structure_tells_a_turn_from_a_continuation():
    scene = draw("market_structure")
    ups = {"bos_up": 1, "choch_up": 1, "bos_down": -1, "choch_down": -1}
    trend = 0
    assert {each.name for each in scene.signals} == set(ups)
    for signal in sorted(scene.signals, key=lambda each: each.bar):
        side = ups[signal.name]
        assert signal.name.startswith("choch") == (trend == -side)
        assert (ES.close[signal.bar] - signal.value) * side > 0
        trend = side


def test_a_session_is_boxed_from_its_low_to_its_high():
    boxes = draw("sessions", asia="1800-0300").boxes
    assert {box.text for box in boxes} == {"Asia", "London", "New York"}
    for box in boxes:
        assert box.top == ES.high[box.left.bar : box.right.bar + 1].max()
        assert box.bottom == ES.low[box.left.bar : box.right.bar + 1].min()
