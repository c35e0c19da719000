"""Swings, breaks, gaps and zones: laws of each, and values worked out by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.ta.market import market

from chartpact import ta

NA = np.nan
ticks = st.builds(  # whole prices with many ties
    lambda bars, seed, style: market(bars, style, seed),
    st.integers(1, 80),
    st.integers(0, 10_000),
    st.sampled_from(["steps", "walk"]),
)
strengths = st.tuples(st.integers(1, 3), st.integers(1, 3))


def same(got, wanted):
    np.testing.assert_array_equal(got, np.asarray(wanted, float))


@given(ticks, strengths)
def test_upside_down_a_swing_high_is_a_swing_low(data, strength):
    top, top_bar, bottom, bottom_bar = ta.swings(data.high, data.low, *strength)
    other = ta.swings(-data.low, -data.high, *strength)
    for got, wanted in zip(other, (-bottom, bottom_bar, -top, top_bar), strict=True):
        same(got, wanted)


@given(ticks, strengths)
def test_upside_down_every_break_and_sweep_is_its_opposite(data, strength):
    event, level, bar, trend, sweep = ta.structure(data.high, data.low, data.close, *strength)
    other = ta.structure(-data.low, -data.high, -data.close, *strength)
    sweep = np.where(sweep == 2, sweep, -sweep)
    for got, wanted in zip(other, (-event, -level, bar, -trend, sweep), strict=True):
        same(got, wanted)


@given(ticks, strengths)
def test_a_break_is_the_first_close_beyond_the_last_swing(data, strength):
    event, level, bar, trend, sweep = ta.structure(data.high, data.low, data.close, *strength)
    top, top_bar, bottom, bottom_bar = ta.swings(data.high, data.low, *strength)
    broken = {1: set(), -1: set()}
    for i in range(len(data)):
        before = trend[i - 1] if i else 0
        for side, swing, at in ((1, top, top_bar), (-1, bottom, bottom_bar)):
            fresh = not np.isnan(at[i]) and at[i] not in broken[side]
            beyond = fresh and side * data.close[i] > side * swing[i]
            assert beyond == (np.sign(event[i]) == side)
            if beyond:
                broken[side].add(at[i])
                assert (level[i], bar[i], trend[i]) == (swing[i], at[i], side)
                assert abs(event[i]) == (2 if before == -side else 1)
            wick = data.high[i] if side > 0 else data.low[i]
            swept = fresh and not beyond and side * wick > side * swing[i]
            assert swept == (sweep[i] in (side, 2))


@given(ticks)
def test_gaps_are_where_the_first_and_the_third_bar_do_not_overlap(data):
    side, top, bottom = ta.fvg(data.open, data.high, data.low, data.close, 0, False)
    for i in range(len(data)):
        up = i >= 2 and data.low[i] > data.high[i - 2]
        down = i >= 2 and data.high[i] < data.low[i - 2]
        assert side[i] == int(up) - int(down)
        if side[i]:
            assert top[i] > bottom[i]
    other = ta.fvg(-data.open, -data.low, -data.high, -data.close, 0, False)
    for got, wanted in zip(other, (-side, -bottom, -top), strict=True):
        same(got, wanted)


@given(ticks, st.integers(1, 30))
def test_a_zone_passes_its_phases_in_order_and_upside_down_too(data, max_age):
    side, top, bottom = ta.fvg(data.open, data.high, data.low, data.close, 0, False)
    life = ta.zone_life(data.high, data.low, data.close, side, top, bottom, max_age)
    for phases in zip(*(phase[side != 0] for phase in life), strict=True):
        reached = [bar for bar in phases[:4] if not np.isnan(bar)]
        assert reached == sorted(reached)
        assert not np.isnan(phases[: len(reached)]).any()
        assert not reached or np.isnan(phases[4]) or reached[-1] < phases[4]
    assert all(np.isnan(phase[side == 0]).all() for phase in life)
    other = ta.zone_life(-data.low, -data.high, -data.close, -side, -bottom, -top, max_age)
    for got, wanted in zip(other, life, strict=True):
        same(got, wanted)


def test_a_zone_is_broken_by_a_close_and_dies_of_a_close_or_of_age():
    high = [9, 9, 6, 6, 4, 6, 7]
    low = [6, 6, 5, 4, 2, 3, 4]
    close = [8, 8, 6, 5, 2, 5, 6]
    zone = [0, 1, 0, 0, 0, 0, 0], [5] * 7, [3] * 7
    touched, middle, filled, broken, dead = ta.zone_life(high, low, close, *zone, 500)
    assert [each[1] for each in (touched, middle, filled, broken, dead)] == [2, 3, 4, 4, 6]
    *_, broken, dead = ta.zone_life(high, low, close, *zone, 2)
    assert np.isnan(broken[1])
    assert dead[1] == 4


def test_extremes_between_bars_never_look_ahead():
    x = [5.0, 3, NA, 7]
    value, bar = ta.highest_between(x, [0, 0, -5, 2], [1, 1, 2, 3])
    same(value, [NA, 5, 5, 7])
    same(bar, [NA, 0, 0, 3])
    value, _ = ta.lowest_between(x, [0, 2, 2, NA], [0, 1, 2, 3])
    same(value, [5, NA, NA, NA])


@given(ticks)
def test_an_extreme_since_a_bar_is_the_extreme_between_it_and_now(data):
    bars = np.arange(len(data), dtype=float)
    start = ta.valuewhen(data.condition, bars)
    same(ta.highest_since(data.condition, data.x), ta.highest_between(data.x, start, bars)[0])
    same(ta.lowest_since(data.condition, data.x), ta.lowest_between(data.x, start, bars)[0])


@given(ticks)
def test_of_a_run_the_first_bar_is_known_at_once_and_the_last_grows(data):
    first, last = ta.runs(data.condition)
    inside = data.condition
    bars = np.arange(len(data))
    assert (last[inside] == bars[inside]).all()
    starts = inside & ~np.append(False, inside[:-1])
    same(first, ta.valuewhen(starts, bars.astype(float)))
    assert (ta.first_true(inside, ~inside) == starts).all()


@in_one_test("name", ["swings", "structure", "fvg"])
def test_bars_may_stand_for_prices(name):
    import chartpact as cp

    bars = cp.load("sample:es-5m")[:300]
    numbers = (1.0,) if name == "fvg" else (3, 3)
    needed = ["open", "high", "low", "close"] if name == "fvg" else ["high", "low"]
    needed += ["close"] if name == "structure" else []
    columns = [getattr(bars, column) for column in needed]
    for got, wanted in zip(
        getattr(ta, name)(bars, *numbers), getattr(ta, name)(*columns, *numbers), strict=True
    ):
        same(got, wanted)
