"""Volume by price: rows, the value area, and the levels of sessions."""

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact import ta
from chartpact.bars import Bars
from chartpact.ta import TaError

NA = np.nan


def market(bars: int, seed: int = 1) -> Bars:
    rng = np.random.default_rng(seed)
    close = 100 + np.cumsum(rng.normal(size=bars))
    start = np.append(close[:1], close[:-1])
    reach = rng.random(bars)
    high, low = np.maximum(start, close) + reach, np.minimum(start, close) - reach
    time = 60_000 * np.arange(bars)
    return Bars(time, start, high, low, close, rng.lognormal(5, 1, bars))


def plain_profile(bars: Bars, rows: int, spread: bool) -> list[float]:
    """Row by row and bar by bar."""
    bottom, top = bars.low.min(), bars.high.max()
    step = (top - bottom) / rows
    weights = []
    for k in range(rows):
        low, high = bottom + k * step, bottom + (k + 1) * step
        inside = np.minimum(bars.high, high) - np.maximum(bars.low, low)
        share = inside / (bars.high - bars.low) if spread else 1.0
        weights.append(float(np.sum(bars.volume * np.where(inside > 0, share, 0))))
    return weights


@in_one_test("spread", [True, False])
@in_one_test("rows", [1, 7, 24, 300])
def test_a_profile_is_the_one_that_a_plain_search_finds(rows, spread):
    bars = market(80)
    price, bottom, top, weight = ta.profile(bars, rows, spread)
    np.testing.assert_allclose(weight, plain_profile(bars, rows, spread), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(price, (bottom + top) / 2)


def test_a_bar_without_a_price_is_left_out_and_one_without_volume_weighs_nothing():
    *_, weight = ta.profile([1, NA, 9, 2], [0, 0, NA, 1], [2, 7, 7, NA], 2)
    assert weight.tolist() == [2, 0]
    for bars in ([], [NA]):
        price, bottom, top, weight = ta.profile(bars, bars, bars, 3)
        assert np.isnan([price, bottom, top]).all()
        assert weight.tolist() == [0, 0, 0]


def test_the_value_area_grows_to_the_heavier_side_and_downwards_among_equals():
    assert ta.value_area([1, 2, 8, 3, 1], 0.7).tolist() == [False, False, True, True, False]
    assert ta.value_area([1, 3, 8, 3, 0], 0.7).tolist() == [False, True, True, False, False]
    assert ta.value_area([1, 1, 1], 0.6).tolist() == [True, True, False]
    assert ta.value_area([1, 2, 1], 1).all()
    assert ta.value_area([1, 2, 1], 0).tolist() == [False, True, False]
    assert not ta.value_area([0, NA, -1]).any()
    assert len(ta.value_area([])) == 0


def test_levels_are_those_of_the_profile_of_each_session():
    bars = market(90)
    anchor = np.isin(np.arange(90), (20, 21, 60))
    levels = np.array(ta.profile_levels(bars, anchor, 12, 0.5))
    for first, stop in ((0, 20), (20, 21), (21, 60), (60, 90)):
        price, bottom, top, weight = ta.profile(bars[first:stop], 12)
        inside = np.flatnonzero(ta.value_area(weight, 0.5))
        wanted = price[weight.argmax()], top[inside[-1]], bottom[inside[0]]
        np.testing.assert_array_equal(levels[:, first:stop].T, [wanted] * (stop - first))


def test_a_session_without_volume_has_no_levels():
    levels = ta.profile_levels([1, 2, 3], [0, 1, 2], [0, 0, 5], [False, False, True], 2)
    assert np.isnan(levels).tolist() == [[True, True, False]] * 3
    assert np.shape(ta.profile_levels([], [], [], [], 2)) == (3, 0)


def test_a_share_and_a_number_of_rows_have_bounds():
    with pytest.raises(TaError, match=r"share must lie between 0 and 1, not 1\.5"):
        ta.value_area([1, 2], 1.5)
    with pytest.raises(TaError, match="rows must be a whole number of at least 1"):
        ta.profile(market(5), 0)
