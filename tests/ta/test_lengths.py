"""Lengths that change from bar to bar."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.ta.market import HOLES, market

from chartpact import ta
from chartpact.ta.arguments import checks_of

NA = np.nan
# function → its arguments before and after the length
AROUND = {
    "alma": ("x", (0.85, 6)),
    "bb": ("x", (2,)),
    "bbw": ("x", (2,)),
    "correlation": ("ab", ()),
    "linreg": ("x", (1,)),
    "mfi": ("xv", ()),
    "percentile_linear_interpolation": ("x", (40,)),
    "percentile_nearest_rank": ("x", (40,)),
    "stoch": ("xhl", ()),
    "vwma": ("xv", ()),
    "wpr": ("hlx", ()),
}
PER_BAR = {
    name: [argument for argument, check in checks_of(function).items() if check.per_bar]
    for name, function in ta.FUNCTIONS.items()
    if hasattr(function, "arguments") and any(c.per_bar for c in checks_of(function).values())
}
ONE_LENGTH = [name for name, places in PER_BAR.items() if places == ["n"]]
HOLDING = {"cci", "stoch"}  # they repeat a value of another length
SLOTTED = {"percentile_linear_interpolation", "percentile_nearest_rank"}  # order is by history


def columns(name, data):
    letters = AROUND.get(name, ("x", ()))[0]
    by_letter = {"x": data.x, "a": data.a, "b": data.b, "h": data.high, "l": data.low}
    return [(by_letter | {"v": data.volume})[letter] for letter in letters]


def numbers(name):
    return AROUND.get(name, ("x", ()))[1]


def bar_by_bar(name, series, lengths):
    """The last value of the function on each beginning of the series, with its last length."""
    function = ta.FUNCTIONS[name]
    results = [
        function(*(s[: i + 1] for s in series), int(n), *numbers(name))
        for i, n in enumerate(lengths)
    ]
    rows = [r if isinstance(r, tuple) else (r,) for r in results]
    return [np.array([row[k][-1] for row in rows], float) for k in range(len(rows[0]))]


def test_lengths_may_be_series_exactly_where_pine_says_so():
    one = "ema rma rsi atr macd hma kc kcw dmi tsi supertrend rci".split()
    assert not PER_BAR.keys() & set(one)
    windows = {
        name
        for name, function in ta.FUNCTIONS.items()
        if hasattr(function, "arguments") and "n" in checks_of(function)
    }
    assert windows - set(one) == set(ONE_LENGTH)
    assert PER_BAR["pivot_high"] == PER_BAR["pivot_low"] == ["left", "right"]


@settings(max_examples=6)
@pytest.mark.parametrize("name", sorted(set(ONE_LENGTH) - HOLDING))
@given(seed=st.integers(0, 1000), holes=st.sampled_from(HOLES))
def test_each_bar_has_the_value_of_its_own_length(name, seed, holes):
    data = market(40, "walk", seed, "" if name in SLOTTED else holes)
    lengths = np.random.default_rng(seed).integers(1, 12, 40)
    series = columns(name, data)
    got = ta.FUNCTIONS[name](*series, lengths, *numbers(name))
    got = got if isinstance(got, tuple) else (got,)
    for values, wanted in zip(got, bar_by_bar(name, series, lengths), strict=True):
        np.testing.assert_allclose(values, wanted, rtol=1e-9, atol=1e-9)


@in_one_test("name", sorted(ONE_LENGTH))
def test_one_length_on_every_bar_is_that_length(name):
    data = market(60, "walk", 5, "start")
    series = columns(name, data)
    each = ta.FUNCTIONS[name](*series, np.full(60, 7.0), *numbers(name))
    np.testing.assert_allclose(
        np.array(each, float),
        np.array(ta.FUNCTIONS[name](*series, 7, *numbers(name)), float),
        rtol=1e-9,
        atol=1e-9,
    )


@in_one_test("name", sorted(ONE_LENGTH))
def test_bars_that_follow_change_not_a_bit(name):
    data = market(50, "walk", 6, "scattered")
    lengths = np.random.default_rng(2).integers(1, 9, 50)
    series = columns(name, data)
    whole = np.atleast_2d(ta.FUNCTIONS[name](*series, lengths, *numbers(name)))
    for bars in (1, 17, 49):
        part = ta.FUNCTIONS[name](*(s[:bars] for s in series), lengths[:bars], *numbers(name))
        np.testing.assert_array_equal(np.atleast_2d(part), whole[:, :bars])


def test_the_sum_of_a_moving_length():
    x, n = [0.1, 0.2, 0.3, 0.4, 0.7, 0.1, 0.2], [4, 4, 4, 4, 4, 2, 2]
    np.testing.assert_allclose(ta.sum(x, n), [NA, NA, NA, 1, 1.6, 0.8, 0.3], rtol=1e-12)


def test_the_whole_window_is_seen_again_after_a_short_one():
    x = np.arange(13.0)
    n = np.array([10] * 11 + [3, 10])
    assert ta.lowest(x, n)[-3:].tolist() == [1, 9, 3]


def test_on_an_na_bar_a_sum_has_the_length_of_that_bar():
    np.testing.assert_array_equal(ta.sum([1, 2, 4, NA, 8], [1, 2, 2, 3, 2]), [1, 3, 6, 7, 12])


def test_stoch_and_cci_repeat_their_last_value_whatever_its_length():
    x = [1.0, 2, 4, 4, 4, 5]
    np.testing.assert_allclose(ta.cci(x, [2, 2, 3, 2, 1, 2])[1:5], [200 / 3, 100, 100, 100])
    assert ta.stoch(x, x, x, [2, 2, 3, 2, 2, 6]).tolist()[1:] == [100, 100, 100, 100, 100]
    assert ta.stoch([3, 2, 3, 3], [4] * 4, [1, 1, 3, 4], [1, 2, 1, 1])[1:].tolist() == [
        pytest.approx(100 / 3),
        0,
        0,
    ]


def test_pivots_take_a_strength_for_each_side_and_bar():
    x = [1.0, 3, 2, 5, 4, 4]
    got = ta.pivot_high(x, [1] * 6, [0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(got, [NA, 3, 3, NA, 5, 5])
    np.testing.assert_array_equal(ta.pivot_high(x, 1, [1] * 6), ta.pivot_high(x, 1, 1))


def test_a_batch_of_series_has_its_own_lengths_or_shares_them():
    x = np.arange(12.0).reshape(2, 6) ** 2
    n = np.array([[1, 2, 3, 1, 2, 3], [3, 2, 1, 3, 2, 1]])
    rows = [ta.sma(x[k], n[k]) for k in range(2)]
    np.testing.assert_array_equal(ta.sma(x, n), rows)
    np.testing.assert_array_equal(ta.sma(x, n[0])[1], ta.sma(x[1], n[0]))
    out = np.empty((2, 6))
    assert ta.sma(x, n, out=out) is out
    np.testing.assert_array_equal(out, rows)


def test_an_na_length_is_na_where_pine_says_so_and_refused_elsewhere():
    x = [1.0, 2, 3]
    for name in ("median", "mode"):
        assert np.isnan(ta.FUNCTIONS[name](x, [1, NA, 1])).tolist() == [0, 1, 0]
    assert np.isnan(ta.percentile_nearest_rank(x, [1, NA, 1], 50)).tolist() == [0, 1, 0]
    with pytest.raises(ta.TaError, match=r"ta.sma: n must hold whole numbers from 1 to 5000 only"):
        ta.sma(x, [1, NA, 1])


@in_one_test("wrong", [[1, 2, 0], [1, 2, 5001], [1, 2, 2.5], [1, 2, np.inf]])
def test_lengths_that_are_none_are_refused(wrong):
    with pytest.raises(ta.TaError, match=r"ta.sma: n must hold whole numbers from 1 to 5000 only"):
        ta.sma([1.0, 2, 3], wrong)


def test_lengths_are_as_many_as_bars():
    with pytest.raises(ta.TaError, match=r"ta.sma: n must be as long as source \(3 values\)"):
        ta.sma([1.0, 2, 3], [1, 2])


def test_a_series_is_refused_where_pine_takes_one_length():
    with pytest.raises(
        ta.TaError, match=r"ta.ema: n must be one whole number of at least 1 for all bars"
    ):
        ta.ema([1.0, 2, 3], [1, 2, 3])
    with pytest.raises(ta.TaError, match=r"ta.atr: n must be one whole number"):
        ta.atr([1.0, 2], [1.0, 2], [1.0, 2], np.array([1, 2]))
