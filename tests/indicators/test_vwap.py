from dataclasses import replace

import numpy as np
import pytest
from tests.indicators.market import MINUTE, bars, values

import chartpact as cp
from chartpact.bars import Bars
from chartpact.params import IndicatorError

HOUR = 60 * MINUTE


def around(utc, count=6, symbol="BTCUSDT", price=None):
    """Hourly bars that begin three hours before a time."""
    first = int(np.datetime64(utc, "ms").astype(np.int64)) - 3 * HOUR
    close = np.arange(1.0, count + 1) if price is None else np.asarray(price, dtype=float)
    return Bars(first + HOUR * np.arange(count), *[close] * 4, np.ones(count), symbol, "1h")


def resets(market, **params):
    """The bars after the first on which the average is the bar's own price."""
    found = values(cp.indicator("vwap", **params)(market), "VWAP")
    return [i for i in range(1, len(market)) if found[i] == market.hlc3[i]]


def test_it_is_what_was_paid_on_average():
    scene = cp.indicator("vwap")(bars([1, 2, 6], volumes=[1, 3, 1]))
    np.testing.assert_allclose(values(scene, "VWAP"), [1, 7 / 4, 13 / 5])


@pytest.mark.parametrize(("symbol", "winter", "summer"), [
    ("EURUSD", "2024-01-17T22:00", "2024-07-17T21:00"),  # 17:00 New York
    ("ES", "2024-01-17T23:00", "2024-07-17T22:00"),  # 18:00 New York
    ("BTCUSDT", "2024-01-17T00:00", "2024-07-17T00:00"),  # the exchange's day
])  # fmt: skip
def test_it_begins_anew_with_the_markets_own_day(symbol, winter, summer):
    for roll in (winter, summer):
        market = around(roll, symbol=symbol)
        if symbol == "ES":  # nothing trades in the hour before the roll
            market = market.take(np.array([0, 1, 3, 4, 5]))
        (begins,) = resets(market)
        assert market.time[begins] == np.datetime64(roll, "ms").astype(np.int64)


def test_the_day_may_begin_when_the_user_says():
    market = around("2024-01-17T22:00")
    assert resets(market) == [5]  # midnight UTC
    assert resets(market, day_roll="17:00 America/New_York") == [3]
    assert resets(replace(market, day_roll="20:00 UTC")) == [1]
    with pytest.raises(IndicatorError) as raised:
        cp.indicator("vwap", day_roll="five o'clock")(market)
    assert raised.value.to_json()["parameter"] == "day_roll"
    assert "17:00" in raised.value.hint or "18:00" in raised.value.hint


def test_other_anchors_are_longer_and_none_is_the_first_bar_alone():
    sunday = around("2024-03-04T00:00")  # a Monday begins at bar 3
    assert resets(sunday, anchor="session") == [3]
    assert resets(sunday, anchor="week") == [3]
    assert resets(sunday, anchor="month") == []
    assert resets(sunday, anchor="none") == []
    assert resets(around("2024-04-01T00:00"), anchor="month") == [3]
    assert resets(around("2024-04-01T00:00"), anchor="quarter") == [3]
    assert resets(around("2024-05-01T00:00"), anchor="quarter") == []
    assert resets(around("2025-01-01T00:00"), anchor="year") == [3]


def test_bands_are_the_weighted_deviation_of_the_session():
    market = bars([1, 3, 3], volumes=[1, 1, 2])
    scene = cp.indicator("vwap_bands", std_dev=2)(market)
    assert [plot.title for plot in scene.plots[:3]] == ["VWAP Upper", "VWAP", "VWAP Lower"]
    # means 1, 2, 2.5; deviations 0, 1, √(3/4)
    np.testing.assert_allclose(values(scene, "VWAP Upper"), [1, 4, 2.5 + 2 * 0.75**0.5])
    np.testing.assert_allclose(values(scene, "VWAP Lower"), [1, 0, 2.5 - 2 * 0.75**0.5])


def test_nothing_is_drawn_until_the_session_has_volume():
    found = values(cp.indicator("vwap")(bars([1, 2, 3], volumes=[0, 0, 5])), "VWAP")
    np.testing.assert_array_equal(found, [np.nan, np.nan, 3])
