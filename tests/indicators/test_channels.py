import numpy as np
import pytest
from tests.indicators.market import bars, noise, values

import chartpact as cp

NA = np.nan


def test_the_stack_is_four_averages_of_the_close_seeded_with_a_mean():
    closes = np.arange(1.0, 11)
    scene = cp.indicator("ema_stack")(bars(closes))
    assert [plot.title for plot in scene.plots] == ["EMA 8", "EMA 21", "EMA 50", "EMA 200"]
    assert [plot.width for plot in scene.plots] == [1, 1, 1, 2]
    # mean of 1..8 is 4.5; then 4.5 + 2/9 · (9 − 4.5) = 5.5
    assert values(scene, "EMA 8")[7:9].tolist() == [4.5, 5.5]
    assert np.isnan(values(scene, "EMA 8")[:7]).all()


def test_bollinger_bands_are_deviations_of_the_window_from_its_mean():
    scene = cp.indicator("bbands", period=4, std_dev=3)(bars([1, 1, 5, 5, 5]))
    # mean 3, deviation 2; then mean 4, variance (9 + 1 + 1 + 1) / 4 = 3
    assert values(scene, "BB Mid").tolist()[3:] == [3, 4]
    np.testing.assert_allclose(values(scene, "BB Upper")[3:], [9, 4 + 3 * 3**0.5])
    np.testing.assert_allclose(values(scene, "BB Lower")[3:], [-3, 4 - 3 * 3**0.5])
    assert [plot.kind for plot in scene.plots] == ["line", "line", "line", "fill"]


def test_no_deviations_make_a_flat_channel():
    scene = cp.indicator("bollinger", length=2, mult=0)(bars([1, 3, 5]))
    np.testing.assert_array_equal(values(scene, "BB Upper"), values(scene, "BB Lower"))


def test_keltner_goes_average_ranges_away_from_an_exponential_average():
    market = bars([10, 10, 10, 13], highs=[11, 11, 12, 14], lows=[9, 9, 10, 12])
    scene = cp.indicator("keltner", period=2, multiplier=2)(market)
    # ranges from bar 1 on: 2, 2, 4, so averages 2 and 2 + 2/3 · 2; averages of the close 10, 10, 12
    np.testing.assert_allclose(values(scene, "KC Mid"), [NA, 10, 10, 12])
    np.testing.assert_allclose(values(scene, "KC Upper"), [NA, NA, 14, 12 + 2 * (2 + 4 / 3)])
    np.testing.assert_allclose(values(scene, "KC Lower"), [NA, NA, 6, 12 - 2 * (2 + 4 / 3)])


def test_donchian_is_the_reach_of_the_window():
    market = bars([5, 6, 4, 5], highs=[7, 8, 5, 6], lows=[4, 5, 3, 4])
    scene = cp.indicator("donchian", period=2)(market)
    np.testing.assert_array_equal(values(scene, "DC Upper"), [NA, 8, 8, 6])
    np.testing.assert_array_equal(values(scene, "DC Lower"), [NA, 4, 3, 3])
    np.testing.assert_array_equal(values(scene, "DC Mid"), [NA, 6, 5.5, 4.5])


@pytest.mark.parametrize("name", ["bbands", "keltner", "donchian"])
def test_a_channel_mirrors_when_prices_do(name):
    market = noise(80)
    mirrored = bars(-market.close, -market.low, -market.high, -market.open)
    scene, mirror = cp.indicator(name)(market), cp.indicator(name)(mirrored)
    upper, lower = scene.plots[0].values, scene.plots[2].values
    np.testing.assert_allclose(mirror.plots[0].values, -lower, rtol=1e-12)
    np.testing.assert_allclose(mirror.plots[2].values, -upper, rtol=1e-12)
