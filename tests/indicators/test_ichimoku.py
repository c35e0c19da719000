import numpy as np
import pytest
from tests.indicators.market import bars, noise, values

import chartpact as cp

NA = np.nan


@pytest.fixture
def ramp():
    closes = np.arange(10.0)
    return cp.indicator("ichimoku", tenkan=1, kijun=3, senkou_b=5, displacement=4)(bars(closes))


def test_the_lines_are_middles_of_their_windows(ramp):
    np.testing.assert_array_equal(values(ramp, "Tenkan"), np.arange(10.0))
    np.testing.assert_array_equal(values(ramp, "Kijun"), [NA, NA, *np.arange(1.0, 9)])


def test_the_cloud_is_drawn_three_bars_ahead_and_goes_on_after_the_last_bar(ramp):
    a, b = (next(p for p in ramp.plots if p.title == f"Senkou {side}") for side in "AB")
    # A = (tenkan + kijun) / 2 is i − 0.5 from bar 2 on, B is i − 2 from bar 4 on
    np.testing.assert_array_equal(a.values, [*[NA] * 5, 1.5, 2.5, 3.5, 4.5, 5.5])
    np.testing.assert_array_equal(a.ahead, [6.5, 7.5, 8.5])
    np.testing.assert_array_equal(b.values, [*[NA] * 7, 2, 3, 4])
    np.testing.assert_array_equal(b.ahead, [5, 6, 7])
    cloud = ramp.plots[-1]
    np.testing.assert_array_equal(cloud.a_ahead, a.ahead)
    np.testing.assert_array_equal(cloud.b_ahead, b.ahead)
    assert cloud.color == "auto"


def test_the_chikou_is_the_close_three_bars_later(ramp):
    np.testing.assert_array_equal(values(ramp, "Chikou"), [3, 4, 5, 6, 7, 8, 9, NA, NA, NA])


def test_the_defaults_displace_by_25_bars():
    market = noise(300)
    scene = cp.indicator("ichimoku")(market)
    assert len(scene.plots[2].ahead) == 25
    middle = (market.high[:52].max() + market.low[:52].min()) / 2
    assert values(scene, "Senkou B")[51 + 25] == middle
    assert values(scene, "Chikou")[0] == market.close[25]


@pytest.mark.parametrize("n", [0, 1, 3, 25, 26])
def test_fewer_bars_than_the_displacement_lie_wholly_ahead(n):
    scene = cp.indicator("ichimoku", tenkan=1, kijun=1)(bars(np.arange(float(n))))
    a = scene.plots[2]
    assert (len(a.values), len(a.ahead)) == (n, 25)
    drawn = np.concatenate((a.values, a.ahead))
    np.testing.assert_array_equal(drawn[25:], np.arange(float(n)))
    assert np.isnan(drawn[:25]).all()


def test_without_displacement_nothing_lies_ahead():
    scene = cp.indicator("ichimoku", displacement=1)(bars(np.arange(60.0)))
    assert len(scene.plots[2].ahead) == 0
    np.testing.assert_array_equal(values(scene, "Chikou"), np.arange(60.0))


def test_a_cut_keeps_what_lies_ahead():
    market = noise(200)
    whole = cp.indicator("ichimoku")(market).plots[2]
    cut = cp.chart(market, ["ichimoku"], last=10).drawn[0].scene.plots[2]
    np.testing.assert_array_equal(cut.values, whole.values[-10:])
    np.testing.assert_array_equal(cut.ahead, whole.ahead)
