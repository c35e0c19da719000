"""Trading days: where a symbol's day begins and ends, in summer and in winter."""

from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test

from chartpact.clock.errors import ClockError
from chartpact.clock.markets import MARKETS, market_and_roll
from chartpact.clock.tradingcalendar import TradingCalendar, canonical_roll

NEW_YORK = ZoneInfo("America/New_York")


def at(*moment, zone=NEW_YORK):
    return int(datetime(*moment, tzinfo=zone).timestamp()) * 1000


def days_of(symbol, *times, day_roll=""):
    market, roll = market_and_roll(symbol)
    calendar = TradingCalendar.of(day_roll or roll, market)
    return calendar.date(np.array(times)).astype("datetime64[D]").astype(str).tolist()


@in_one_test(
    "text",
    [
        "17:00",
        "America/New_York",
        "25:00 UTC",
        "17:60 UTC",
        "5pm America/New_York",
        "",
        "17:00-16:00-15:00 UTC",
    ],
)
def test_what_is_no_day_roll_is_told(text):
    with pytest.raises(ClockError, match="is no day roll: write '18:00 America/New_York'"):
        canonical_roll(text)


def test_a_futures_day_begins_at_six_in_the_evening_before():
    assert days_of(
        "ES",
        at(2024, 3, 4, 16, 59),
        at(2024, 3, 4, 18, 0),
        at(2024, 3, 5, 0, 0),
        at(2024, 3, 5, 16, 59),
    ) == ["2024-03-04", "2024-03-05", "2024-03-05", "2024-03-05"]


def test_sunday_evening_belongs_to_monday():
    assert days_of("ES", at(2024, 3, 8, 16, 59), at(2024, 3, 10, 18, 0)) == [
        "2024-03-08",
        "2024-03-11",
    ]
    assert days_of("EURUSD", at(2024, 3, 8, 16, 45), at(2024, 3, 10, 17, 0)) == [
        "2024-03-08",
        "2024-03-11",
    ]


def test_what_trades_after_the_close_belongs_to_the_next_day():
    assert days_of("EURUSD", at(2024, 3, 8, 17, 0), at(2024, 3, 9, 12, 0)) == ["2024-03-11"] * 2


def test_the_break_of_futures_began_a_quarter_later_before_2015():
    assert days_of("ES", at(2013, 10, 7, 17, 14), at(2013, 10, 7, 17, 15)) == [
        "2013-10-07",
        "2013-10-08",
    ]


def test_a_symbol_of_unknown_kind_trades_every_day():
    noon = [at(2024, 3, day, 12) for day in (8, 9, 10, 11)]
    expected = ["2024-03-08", "2024-03-09", "2024-03-10", "2024-03-11"]
    assert days_of("BTCUSD", *noon) == expected
    assert days_of("BTCUSD", *noon, day_roll="17:00 America/New_York") == expected


@in_one_test("month_day", [(3, 10), (11, 3)])
def test_the_roll_keeps_its_wall_clock_when_clocks_change(month_day):
    for day in (-2, -1, 0, 1, 2):
        date = datetime(2024, *month_day, 17, tzinfo=NEW_YORK)
        roll = int(date.replace(day=date.day + day).timestamp()) * 1000
        before, after = days_of("BTC", roll - 1, roll, day_roll="17:00 America/New_York")
        assert int(after[-2:]) == int(before[-2:]) + 1


def test_a_morning_roll_names_the_day_by_its_date():
    times = [at(2024, 3, 4, 8, 59), at(2024, 3, 4, 9, 0)]
    assert days_of("X", *times, day_roll="09:00 America/New_York") == ["2024-03-03", "2024-03-04"]


def test_a_declared_close_ends_the_day():
    calendar = TradingCalendar.of("09:30-16:00 America/New_York")
    date = np.array(["2024-03-04"], "datetime64[D]").astype(np.int64)
    assert calendar.opening(date).tolist() == [at(2024, 3, 4, 9, 30)]
    assert calendar.closing(date).tolist() == [at(2024, 3, 4, 16, 0)]


ROLLS = [
    "18:00 America/New_York",
    "01:30 America/New_York",
    "02:30 America/New_York",
    "09:30-16:00 America/New_York",
    "11:59 Pacific/Kiritimati",
    "12:00 Pacific/Pago_Pago",
    "22:00-06:00 Africa/Casablanca",
    "11:59 Asia/Manila",
    "UTC midnight",
]


@given(
    st.sampled_from(ROLLS),
    st.sampled_from(MARKETS),
    st.lists(st.integers(at(1801, 1, 1), at(2199, 1, 1)), min_size=1, max_size=30),
)
def test_every_time_lies_in_one_day_that_is_not_over_after_the_last_that_is(roll, market, times):
    calendar = TradingCalendar.of(roll, market)
    time = np.array(times)
    date = calendar.date(time)
    before = calendar.preceding(date - 1)
    assert (time < calendar.closing(date)).all()
    assert (time >= calendar.closing(before)).all()
    assert (calendar.closing(before) <= calendar.opening(date)).all()
    assert (calendar.following(date) == date).all()


def test_no_times_have_no_days():
    assert TradingCalendar.of("UTC midnight").date(np.zeros(0, np.int64)).tolist() == []
