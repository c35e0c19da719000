import math

import numpy as np
import pytest
from tests.indicators.market import bars, values

import chartpact as cp
from chartpact.indicators import ink
from chartpact.palette import color

NA = np.nan


def test_rsi_is_wilders():
    # steps +1 −1 +2 +1: averages of 2 are (0.5, 0.5), then (1.25, 0.25), then (1.125, 0.125)
    scene = cp.indicator("rsi", period=2)(bars([5, 6, 5, 7, 8]))
    np.testing.assert_allclose(values(scene, "RSI"), [NA, NA, 50, 100 * 5 / 6, 90])
    assert scene.y_range is None  # it seldom leaves the middle of its range
    assert [plot.y for plot in scene.plots if plot.kind == "hline"] == [70, 30, 50]


def test_rsi_without_losses_is_a_hundred():
    assert (
        values(cp.indicator("rsi", period=2)(bars([1, 2, 3, 4])), "RSI")[2:].tolist() == [100] * 2
    )


def test_macd_is_the_distance_of_two_averages_and_its_own_average():
    scene = cp.indicator("macd", fast=1, slow=3, signal=2)(bars([3, 6, 9, 12, 12, 9]))
    # the slow average is 6, 9, 10.5, 9.75; the distances 3, 3, 1.5, −0.75; the signal 3, 2, 1/6
    np.testing.assert_allclose(values(scene, "MACD"), [NA, NA, 3, 3, 1.5, -0.75])
    np.testing.assert_allclose(values(scene, "Signal"), [NA, NA, NA, 3, 2, 1 / 6])
    np.testing.assert_allclose(values(scene, "Histogram"), [NA, NA, NA, 0, -0.5, -11 / 12])


def test_the_histogram_fades_while_it_shrinks():
    rising = np.concatenate((np.arange(40.0), 40 - np.arange(40.0)))
    plot = cp.indicator("macd")(bars(rising)).plots[2]
    shades = {color(ink.UP), color(ink.DOWN)}
    for i in range(35, 80):
        solid = plot.color[i] in shades
        shrank = abs(plot.values[i - 1]) - abs(plot.values[i]) > 1e-10
        assert solid != shrank
        assert (plot.color[i][:7] == ink.UP) == (plot.values[i] >= 0)


def test_the_stochastic_is_the_place_in_the_range_smoothed_by_simple_means():
    market = bars([2, 4, 3, 5], highs=[5, 5, 5, 6], lows=[1, 1, 1, 2])
    scene = cp.indicator("stochastic", period=2, k_smooth=2, d_smooth=1)(market)
    # raw 75, 50, 80 of the ranges 1..5, 1..5, 1..6
    np.testing.assert_allclose(values(scene, "%K"), [NA, NA, 62.5, 65])
    np.testing.assert_array_equal(values(scene, "%D"), values(scene, "%K"))


def test_a_range_of_nothing_has_no_place_in_it():
    flat = bars([5] * 5)
    for name, title in (("stoch", "%K"), ("williams_r", "%R")):
        assert np.isnan(values(cp.indicator(name, period=2)(flat), title)).all()


def test_cci_stays_where_it_was_while_prices_do_not_move():
    found = values(cp.indicator("cci", period=2)(bars([5, 5, 6, 6, 6])), "CCI")
    np.testing.assert_allclose(found, [NA, 0, *[200 / 3] * 3])


def test_cci_measures_the_typical_price_in_mean_deviations():
    market = bars([3, 3, 9], highs=[3, 3, 9], lows=[3, 3, 9])
    # typical 3, 3, 9: mean 5, mean deviation 8/3
    scene = cp.indicator("cci", period=3)(market)
    assert values(scene, "CCI")[2] == pytest.approx((9 - 5) / (0.015 * 8 / 3))
    assert scene.y_range is None  # it is not bounded


def test_rate_of_change_is_in_percent_of_the_earlier_close():
    scene = cp.indicator("roc", period=2)(bars([4, 5, 5, 0, 10, 1]))
    np.testing.assert_allclose(values(scene, "ROC"), [NA, NA, 25, -100, 100, NA])


def test_williams_r_counts_down_from_the_high():
    market = bars([2, 4], highs=[5, 5], lows=[1, 1])
    assert values(cp.indicator("willr", period=2)(market), "%R")[1] == -25


def test_atr_is_wilders_average_from_the_first_bar_on():
    market = bars([10, 12, 11], highs=[11, 13, 13], lows=[9, 11, 10])
    # ranges 2, 3, 3
    np.testing.assert_allclose(
        values(cp.indicator("atr", period=2)(market), "ATR"), [NA, 2.5, 2.75]
    )


@pytest.mark.parametrize(("timeframe", "minutes", "bars_a_year"), [
    ("5m", 5, 365), ("1h", 60, 365), ("1D", 1440, 365),
    ("1W", 1440, 365 / 7), ("2D", 1440, 365 / 7),
])  # fmt: skip
def test_volatility_is_a_years_worth_as_tradingview_counts(timeframe, minutes, bars_a_year):
    e = math.e
    market = bars([1, e, 1, e], minutes=minutes, timeframe=timeframe)
    # returns +1, −1, +1: deviation 1
    found = values(cp.indicator("hv", period=2)(market), "HV")
    np.testing.assert_allclose(found, [NA, NA, *[100 * math.sqrt(bars_a_year)] * 2])


def test_volatility_passes_over_a_price_that_is_not_positive():
    found = values(cp.indicator("histvol", period=2)(bars([1, 2, 2, -1, 2, 0, 2, 3])), "HV")
    # returns ln 2, 0, na, na, na, na, ln 1.5
    earlier = 100 * math.log(2) / 2 * math.sqrt(365)
    later = 100 * math.log(1.5) / 2 * math.sqrt(365)
    np.testing.assert_allclose(found, [NA, NA, *[earlier] * 5, later])
