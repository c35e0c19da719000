from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples
from tests.indicators.market import START, bars, level, noise, values

import chartpact as cp
from chartpact import ta
from chartpact.bars import Bars

PROFILES = ("volume_profile", "session_vp", "hvn_lvn", "naked_poc", "tpo")


def stacked():
    """Four rows of height 1 from 0 to 4 that hold 3, 8, 4 and 1."""
    return bars(
        [1, 2, 2, 4],
        highs=[1, 2, 3, 4],
        lows=[0, 1, 1, 0],
        opens=[0, 1, 1, 0],
        volumes=[2, 5, 4, 4],  # the third over two rows, the last over all four
    )


def rows(market, bins, **rest):
    return ta.profile(market, bins, **rest)[-1].tolist()


def test_volume_is_spread_evenly_from_low_to_high():
    assert rows(stacked(), 4) == [3, 8, 3, 1]
    assert rows(stacked(), 2) == [2 + 5 + 2 + 2, 2 + 2]


def test_a_bar_within_a_row_gives_it_all():
    assert rows(bars([1.5, 4, 0], lows=[1.2, 4, 0], highs=[1.8, 4, 0], opens=[1.2, 4, 0]), 4) == [
        1, 1, 0, 1,
    ]  # fmt: skip


def test_the_profile_has_its_control_and_its_value_area():
    scene = cp.indicator("vp", bins=4)(stacked())
    # 15 in all: 8 and, of the equal neighbours, the lower one make 11 ≥ 10.5
    assert level(scene, "POC") == 1.5
    assert (level(scene, "VAL"), level(scene, "VAH")) == (0, 2)
    drawn = [plot for plot in scene.plots if plot.kind == "hbar"]
    assert [plot.y for plot in drawn] == [0.5, 1.5, 2.5, 3.5]
    assert [plot.width for plot in drawn] == [0.25 * share / 8 for share in (3, 8, 3, 1)]
    assert {plot.height for plot in drawn} == {0.9}
    assert drawn[0].color == drawn[0].color != drawn[2].color != drawn[1].color
    assert {plot.side for plot in drawn} == {"left"}


def test_the_value_area_takes_the_heavier_side_and_then_what_is_left():
    market = bars([1, 2, 3, 4, 5], lows=[0, 1, 2, 3, 4], opens=[0, 1, 2, 3, 4],
                  volumes=[1, 1, 10, 4, 4])  # fmt: skip
    scene = cp.indicator("volume_profile", bins=5)(market)
    assert (level(scene, "VAL"), level(scene, "VAH")) == (2, 4)  # 10 + 4 of 20 is 70 %
    tall = cp.indicator("volume_profile", bins=5)(replace(market, volume=[1, 1, 10, 8, 8]))
    assert (level(tall, "VAL"), level(tall, "VAH")) == (2, 5)


def test_rising_and_falling_bars_can_be_split():
    market = bars([1, 1, 3], lows=[0, 0, 2], highs=[1, 2, 4], opens=[0, 2, 4], volumes=[4, 4, 8])
    scene = cp.indicator("vpvr", bins=2, split_up_down=True, color_up="#112233", opacity=1)(market)
    drawn = [plot for plot in scene.plots if plot.kind == "hbar"]
    # the lower row: 4 up and 4 down, the upper one 8 down
    assert [(p.offset, p.width) for p in drawn] == [(0, 0.125), (0.125, 0.125), (0, 0.25)]
    assert drawn[0].color == "#112233ff"


def test_only_the_last_bars_count_if_one_says_so():
    market = noise(50)
    part = cp.indicator("volume_profile")(market[-10:])
    assert cp.indicator("volume_profile", range_bars=10)(market) == part
    assert cp.indicator("volume_profile", range_bars=0)(market) == cp.indicator("vp")(market)


def test_sessions_are_trading_days_weeks_or_counted():
    day = 288
    market = noise(3 * day)
    scene = cp.indicator("svp")(market)
    assert [plot.title for plot in scene.plots] == ["POC", "VAH", "VAL"]
    for k in range(3):
        own = cp.indicator("volume_profile")(market[k * day : (k + 1) * day])
        for title in ("POC", "VAH", "VAL"):
            part = values(scene, title)[k * day : (k + 1) * day]
            np.testing.assert_allclose(part, level(own, title))
    assert len(set(values(cp.indicator("svp", session="weekly")(market), "POC"))) == 1
    hourly = values(cp.indicator("svp", session="hourly")(market), "POC")
    counted = values(cp.indicator("svp", bars_per_session=12)(market), "POC")
    np.testing.assert_array_equal(hourly, counted)
    assert len(cp.indicator("svp", show_value_area=False)(market).plots) == 1


def test_a_futures_session_begins_on_the_evening_before():
    market = cp.load("sample:es-5m")
    poc = values(cp.indicator("session_vp")(market), "POC")
    changed = np.flatnonzero(np.diff(poc)) + 1
    assert len(changed) == 9
    # 18:00 New York: 23:00 UTC, and 22:00 once the clocks have changed
    assert {int(market.time[i] // 3_600_000 % 24) for i in changed} == {22, 23}


def test_nodes_stand_out_from_their_neighbourhood():
    heights = [1, 1, 9, 1, 1, 6, 1, 0.5, 1, 1]
    market = bars(np.arange(10) + 1.0, lows=np.arange(10.0), opens=np.arange(10.0), volumes=heights)
    scene = cp.indicator("hvn_lvn", bins=10)(market)
    assert [(plot.title, plot.y) for plot in scene.plots] == [
        ("HVN", 2.5),
        ("HVN", 5.5),
        ("LVN", 7.5),
    ]
    best = cp.indicator("volume_nodes", bins=10, top_n=1, show_lvn=False)(market)
    assert [(plot.title, plot.y) for plot in best.plots] == [("HVN", 2.5)]
    proud = cp.indicator("hvn_lvn", bins=10, min_prominence=0.7)(market)
    assert [(plot.title, plot.y) for plot in proud.plots] == [("HVN", 2.5)]


def test_a_point_of_control_is_naked_until_a_later_bar_touches_it():
    # three sessions of two bars around 10, 20 and 30; the last one comes back to 20
    closes = [10, 10, 20, 20, 30, 30]
    market = bars(closes, np.add(closes, 1), np.subtract(closes, 1))
    scene = cp.indicator("npoc", bars_per_session=2, bins=2)(market)
    drawn = [(plot.title, plot.x1, plot.x2, plot.y1, plot.y2) for plot in scene.plots]
    assert drawn == [
        ("nPOC", 2, 5, 9.5, 9.5), ("nPOC", 4, 5, 19.5, 19.5), ("dPOC", 4, 5, 29.5, 29.5),
    ]  # fmt: skip
    lows = np.subtract(closes, 1)
    lows[5] = 19.5
    touched = cp.indicator("npoc", bars_per_session=2, bins=2)(
        bars(closes, np.add(closes, 1), lows)
    )
    assert [plot.y1 for plot in touched.plots if plot.title == "nPOC"] == [9.5]
    few = cp.indicator("npoc", bars_per_session=2, bins=2, max_sessions=2, include_current=False)
    assert [plot.y1 for plot in few(market).plots] == [19.5]


@pytest.mark.parametrize("session", ["hourly", "daily"])
def test_naked_levels_are_those_a_plain_search_finds(session):
    market = noise(900, step=3.0)
    scene = cp.indicator("naked_poc", session=session, max_sessions=0)(market)
    poc = values(cp.indicator("session_vp", session=session)(market), "POC")
    groups = market.periods({"hourly": "1h", "daily": "1D"}[session])
    wanted = [
        (stop, poc[first])
        for first, stop in zip(groups.first[:-1], groups.stop[:-1], strict=True)
        if not ((market.low[stop:] <= poc[first]) & (poc[first] <= market.high[stop:])).any()
    ]
    found = [(plot.x1, plot.y1) for plot in scene.plots if plot.title == "nPOC"]
    np.testing.assert_allclose(found, wanted)


def test_time_at_price_counts_each_bar_once_at_every_row_it_touched():
    market = bars([1.5, 1.5, 3.5], highs=[2.5, 1.8, 4], lows=[0, 1.2, 3], opens=[0, 1.2, 3])
    scene = cp.indicator("market_profile", bins=4)(market)
    drawn = [plot for plot in scene.plots if plot.kind == "hbar"]
    # rows 0..4: touched by 1, 2, 1 and 1 bars
    assert [plot.width for plot in drawn] == [0.125, 0.25, 0.125, 0.125]
    assert level(scene, "POC") == 1.5
    assert {plot.side for plot in drawn} == {"right"}


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("price", [-30.0, 0.0, 100.0])
@pytest.mark.parametrize("n", [1, 7])
def test_flat_prices_make_one_level(name, price, n):
    scene = cp.indicator(name)(bars(np.full(n, price)))
    if name in ("volume_profile", "tpo"):
        assert level(scene, "POC") == level(scene, "VAH") == level(scene, "VAL") == price
    elif name == "session_vp":
        assert set(values(scene, "POC")) == {price}
    elif name == "naked_poc":
        assert [plot.y1 for plot in scene.plots] == [price]


@pytest.mark.parametrize("name", PROFILES)
def test_prices_and_volumes_at_the_end_of_the_range_of_a_float_have_levels(name):
    price = np.array([-1.6e308, 1.6e308, 1.5e308, 0, 1.6e308])
    market = bars(price, highs=price + 1e307, lows=price - 1e307, volumes=np.full(5, 1.7e308))
    scene = cp.indicator(name)(market)
    if name in ("volume_profile", "tpo"):
        assert level(scene, "VAL") < level(scene, "POC") < level(scene, "VAH") <= 1.7e308
        assert level(scene, "POC") > 1.5e308
    elif name == "session_vp":
        assert np.isfinite(values(scene, "POC")).all()


@pytest.mark.parametrize("name", PROFILES)
def test_without_volume_there_is_no_level(name):
    scene = cp.indicator(name)(replace(noise(50), volume=np.zeros(50)))
    if name == "session_vp":
        assert np.isnan(values(scene, "POC")).all()
    elif name != "tpo":
        assert scene.plots == ()


@settings(max_examples=examples(40), deadline=None)
@given(
    seed=st.integers(0, 999),
    n=st.integers(1, 60),
    bins=st.integers(1, 40),
    start=st.sampled_from([-50.0, 0.0, 1e9]),
    step=st.sampled_from([0.0, 1e-7, 1.0, 1e6]),
)
def test_no_volume_is_lost_and_the_value_area_holds_its_share(seed, n, bins, start, step):
    market = noise(n, seed, start, step)
    _, bottom, top, weight = ta.profile(market, bins)
    total = market.volume.sum()
    np.testing.assert_allclose(weight.sum(), total, rtol=1e-9)
    assert (weight >= 0).all()
    np.testing.assert_array_equal(top[:-1], bottom[1:])
    np.testing.assert_allclose((bottom[0], top[-1]), (market.low.min(), market.high.max()))
    inside = np.flatnonzero(ta.value_area(weight))
    assert len(inside) == inside[-1] - inside[0] + 1
    assert weight.argmax() in inside
    held = weight[inside].sum()
    assert held >= 0.7 * total * (1 - 1e-9)
    if len(inside) > 1:  # without the lighter end it would not do
        assert held - weight[inside[[0, -1]]].max() < 0.7 * total


def test_profiles_mirror_when_prices_do():
    market = noise(200)
    mirrored = bars(-market.close, -market.low, -market.high, -market.open, market.volume)
    one, other = rows(market, 24), rows(mirrored, 24)
    np.testing.assert_allclose(one, other[::-1], rtol=1e-9)


def test_a_profile_worked_out_in_portions_is_the_same(monkeypatch):
    market = noise(300)
    whole = cp.indicator("session_vp", bars_per_session=7)(market)
    weight = rows(market, 24)
    monkeypatch.setattr("chartpact.ta.profiles.PORTION", 50)
    np.testing.assert_allclose(rows(market, 24), weight, rtol=1e-12)
    again = cp.indicator("session_vp", bars_per_session=7)(market)
    for title in ("POC", "VAH", "VAL"):
        np.testing.assert_allclose(values(again, title), values(whole, title))


def test_a_session_may_hold_one_bar():
    close = np.arange(1.0, 6)
    market = Bars(START + 86_400_000 * np.arange(5), close, close + 2, close - 1, close,
                  np.ones(5), "BTCUSDT", "1D")  # fmt: skip
    scene = cp.indicator("session_vp", bins=3)(market)
    np.testing.assert_allclose(values(scene, "POC"), close - 0.5)
