"""Laws that hold for every series, whatever its values."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.ta.market import market

from chartpact import ta

series = st.builds(
    lambda bars, seed, holes: market(bars, "walk", seed, holes).close,
    st.integers(1, 60),
    st.integers(0, 10_000),
    st.sampled_from(["", "start", "scattered"]),
)
lengths = st.integers(1, 12)
near = {"rtol": 1e-9, "atol": 1e-9}


@given(series, lengths)
def test_a_high_is_a_low_upside_down(x, n):
    np.testing.assert_array_equal(ta.highest(x, n), -ta.lowest(-x, n))
    np.testing.assert_array_equal(ta.highestbars(x, n), ta.lowestbars(-x, n))
    np.testing.assert_array_equal(ta.pivot_high(x, n, 2), -ta.pivot_low(-x, n, 2))
    np.testing.assert_array_equal(ta.max(x), -ta.min(-x))


@given(series, lengths)
def test_the_highest_bar_is_where_highestbars_points(x, n):
    offsets, tops = ta.highestbars(x, n), ta.highest(x, n)
    for bar in np.flatnonzero(~np.isnan(tops)):
        assert x[bar + int(offsets[bar])] == tops[bar]


@given(series, lengths)
def test_rises_and_falls_share_the_rsi(x, n):
    both = ta.rsi(x, n) + ta.rsi(-x, n)
    moved = ~np.isnan(both) & (both < 200)  # without any movement each is 100
    np.testing.assert_allclose(both[moved], 100, rtol=1e-9)


@given(series, lengths, st.floats(-50, 50), st.floats(0.1, 10))
def test_averages_move_and_stretch_with_the_series(x, n, move, stretch):
    for name in ("sma", "ema", "rma", "wma", "median", "highest", "linreg"):
        function = ta.FUNCTIONS[name]
        np.testing.assert_allclose(
            function(stretch * x + move, n), stretch * function(x, n) + move, **near
        )
    for name in ("stdev", "dev", "range"):
        function = ta.FUNCTIONS[name]
        np.testing.assert_allclose(
            function(stretch * x + move, n), stretch * function(x, n), **near
        )


@given(series, lengths)
def test_averages_stay_between_the_extremes(x, n):
    present = x[~np.isnan(x)]
    for name in ("sma", "ema", "rma", "median", "mode"):
        average = ta.FUNCTIONS[name](present, n)
        known = average[~np.isnan(average)]
        assert (known <= present.max(initial=-np.inf) + 1e-9).all()
        assert (known >= present.min(initial=np.inf) - 1e-9).all()


@given(series, series)
def test_a_cross_is_a_crossover_or_a_crossunder(a, b):
    bars = min(len(a), len(b))
    a, b = a[:bars], b[:bars]
    over, under = ta.crossover(a, b), ta.crossunder(a, b)
    assert not (over & under).any()
    np.testing.assert_array_equal(over, ta.crossunder(b, a))
    assert not (ta.cross(a, b) & ~(over | under)).any()


@given(series)
def test_what_was_taken_apart_can_be_put_together(x):
    present = x[~np.isnan(x)]
    if len(present):
        steps = ta.nz(ta.change(present))
        np.testing.assert_allclose(ta.cum(steps) + present[0], present, **near)
        np.testing.assert_array_equal(ta.nz(ta.shift(present, 1), present)[1:], present[:-1])


@in_one_test("n", [1, 2, 5])
def test_of_a_constant_every_average_is_the_constant(n):
    flat = np.full(20, 0.1)
    for name in ("sma", "ema", "rma", "wma", "median", "mode", "linreg", "highest", "lowest"):
        average = ta.FUNCTIONS[name](flat, n)
        np.testing.assert_allclose(average[n - 1 :], 0.1, rtol=1e-15)
