import numpy as np
import pytest
from tests.indicators.market import MINUTE, START, noise, values

import chartpact as cp
from chartpact.bars import Bars

HOUR = 60 * MINUTE
NA = np.nan


def three_days():
    """Eight bars of 5 minutes around two midnights."""
    time = START + np.array([0, 1, 288, 289, 290, 576, 577, 578]) * 5 * MINUTE
    close = np.array([10.0, 12, 20, 18, 19, 30, 31, 32])
    return Bars(time, close, close + 2, close - 2, close, np.ones(8), "BTCUSDT", "5m")


def test_levels_come_from_the_day_before_and_hold_all_day():
    scene = cp.indicator("pivot_points")(three_days())
    # day 1: high 14, low 8, close 12 → 34/3; day 2: high 22, low 16, close 19 → 19
    p = 34 / 3
    np.testing.assert_allclose(values(scene, "P"), [NA, NA, p, p, p, 19, 19, 19])
    np.testing.assert_allclose(values(scene, "R1")[5], 2 * 19 - 16)
    np.testing.assert_allclose(values(scene, "S1")[5], 2 * 19 - 22)
    np.testing.assert_allclose(values(scene, "R2")[5], 19 + 6)
    np.testing.assert_allclose(values(scene, "S2")[5], 19 - 6)
    assert [plot.title for plot in scene.plots] == ["P", "R1", "S1", "R2", "S2", "R3", "S3"]
    assert {plot.style for plot in scene.plots} == {"levels"}


def test_outer_levels_are_tradingviews_traditional_ones():
    scene = cp.indicator("pivot", levels=5)(three_days())
    p, high, low = 19, 22, 16
    for title, wanted in {
        "R3": p * 2 + (high - 2 * low), "S3": p * 2 - (2 * high - low),
        "R4": p * 3 + (high - 3 * low), "S4": p * 3 - (3 * high - low),
        "R5": p * 4 + (high - 4 * low), "S5": p * 4 - (4 * high - low),
    }.items():  # fmt: skip
        assert values(scene, title)[-1] == wanted


@pytest.mark.parametrize(("timeframe", "step", "changes"), [
    ("15m", HOUR / 4, "1D"), ("1h", HOUR, "1W"), ("1D", 24 * HOUR, "1M"),
    ("3D", 72 * HOUR, "1M"), ("1W", 168 * HOUR, "12M"),
    ("", HOUR / 4, "1D"), ("", HOUR, "1W"),
])  # fmt: skip
def test_the_period_follows_the_timeframe_as_on_tradingview(timeframe, step, changes):
    market = noise(600)
    columns = [getattr(market, name) for name in "open high low close volume".split()]
    timed = Bars(START + int(step) * np.arange(600), *columns, "BTCUSDT", timeframe)
    auto, chosen = (cp.indicator("pivot", timeframe=t)(timed) for t in ("auto", changes))
    assert auto == chosen
    found = values(auto, "P")
    groups = timed.periods(changes)
    assert len(groups.first) > 2
    for k in range(1, len(groups.first)):
        before = slice(groups.first[k - 1], groups.stop[k - 1])
        own = slice(groups.first[k], groups.stop[k])
        wanted = (timed.high[before].max() + timed.low[before].min() + timed.close[before][-1]) / 3
        np.testing.assert_allclose(found[own], wanted)


def test_the_day_begins_when_the_market_says():
    market = cp.load("sample:eurusd-15m")
    found = values(cp.indicator("pivot")(market), "P")
    changed = np.flatnonzero(np.diff(found[200:])) + 201
    opens = {int(market.time[i] // HOUR % 24) for i in changed}
    assert opens == {21, 22}  # 17:00 New York, in summer and in winter
    utc = values(cp.indicator("pivot", day_roll="UTC midnight")(market), "P")
    moved = np.flatnonzero(np.diff(utc[200:])) + 201
    assert 0 in {int(market.time[i] // HOUR % 24) for i in moved}


def test_one_period_has_none_before_it():
    scene = cp.indicator("pivot")(noise(10))
    assert all(np.isnan(plot.values).all() for plot in scene.plots)
