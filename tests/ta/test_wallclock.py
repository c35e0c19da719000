"""`ta` asks the clock: parts of a time, sessions and new periods, for whole columns."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact import ta

NEW_YORK = "America/New_York"


def stamp(text: str) -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(NEW_YORK))
    return int(moment.timestamp() * 1000)


def test_each_part_is_that_of_the_wall_clock():
    moment = datetime(2024, 3, 10, 7, 8, 9, tzinfo=UTC)
    parts = {
        name: ta.FUNCTIONS[name]([int(moment.timestamp()) * 1000], NEW_YORK).tolist()
        for name in "year month weekofyear dayofmonth dayofweek hour minute second".split()
    }
    assert list(parts.values()) == [[2024], [3], [10], [10], [1], [3], [8], [9]]


def test_a_single_time_gives_a_single_number():
    assert ta.hour(stamp("2024-07-01 09:30"), NEW_YORK) == 9
    assert isinstance(ta.hour(0), int)
    assert ta.session(stamp("2024-07-01 09:30"), "0930-1600", NEW_YORK) is True


def test_a_session_follows_daylight_saving():
    # half past nine in New York: 14:30 UTC before 2024-03-10, 13:30 from then on
    for day, utc_hour in (("2024-03-08", 14), ("2024-03-11", 13), ("2024-11-04", 14)):
        opens = int(datetime.fromisoformat(f"{day}T{utc_hour}:30+00:00").timestamp() * 1000)
        inside = ta.session(np.array([opens - 1, opens, opens + 1]), "0930-1600", NEW_YORK)
        assert inside.tolist() == [False, True, True]


def test_the_first_bar_of_a_period_is_a_change_but_not_the_first_of_all():
    time = stamp("2024-07-01 17:00") + 3_600_000 * np.arange(25)
    assert np.flatnonzero(ta.timeframe_change(time, "7h", NEW_YORK, "1700")).tolist() == [
        *(7, 14, 21, 24)
    ]
    assert np.flatnonzero(ta.timeframe_change(time, "D", NEW_YORK)).tolist() == [7]


# ---------------------------------------------------------------------------------- sessions

REGULAR, EXTENDED = "0930-1600:23456", "0400-2000:23456"


def flags(function, time, minutes, spec):
    """The hours, on the clocks of New York, of bars of which a flag is true."""
    values = ta.FUNCTIONS[f"session_{function}"]
    ends = () if "market" in function else (time + 60_000 * minutes,)
    bars = time[values(time, *ends, spec, NEW_YORK)]
    return [datetime.fromtimestamp(t / 1000, ZoneInfo(NEW_YORK)).strftime("%d %H:%M") for t in bars]


@pytest.fixture
def stock_hours():
    """The bars of an hour that a chart of AAPL with extended hours has, Friday and Monday."""
    starts = (stamp("2024-03-08 04:00"), stamp("2024-03-11 04:00"))  # clocks change in between
    return np.concatenate([first + 3_600_000 * np.arange(16) for first in starts])


@pytest.mark.parametrize(
    ("flag", "spec", "hour"),
    [
        ("isfirstbar", EXTENDED, "04:00"),
        ("islastbar", EXTENDED, "19:00"),
        ("isfirstbar_regular", REGULAR, "10:00"),  # the bar of nine holds the open, and is none
        ("islastbar_regular", REGULAR, "15:00"),
        ("isfirstbar", REGULAR, "09:00"),
    ],
)
def test_first_and_last_bars_are_those_of_the_open_and_the_close(stock_hours, flag, spec, hour):
    assert flags(flag, stock_hours, 60, spec) == [f"08 {hour}", f"11 {hour}"]
    # and are told without any bar that comes later
    for count in range(1, len(stock_hours)):
        part = flags(flag, stock_hours[:count], 60, spec)
        assert part == flags(flag, stock_hours, 60, spec)[: len(part)]


def test_a_market_is_open_by_the_open_of_a_bar(stock_hours):
    day = stock_hours[:16]
    hours = [f"08 {hour:02}:00" for hour in range(4, 20)]
    assert flags("ispremarket", day, 60, REGULAR) == hours[:6]
    assert flags("ismarket", day, 60, REGULAR) == hours[6:12]
    assert flags("ispostmarket", day, 60, REGULAR) == hours[12:]


def test_between_two_ranges_and_at_weekends_is_neither_before_nor_after_the_market():
    time = stamp("2024-03-09 08:00") + 3_600_000 * np.arange(63)  # from Saturday to Monday
    lunch = "0900-1200,1300-1600"
    early, late = (flags(f"is{when}market", time, 60, lunch) for when in ("pre", "post"))
    assert early == [f"11 {hour:02}:00" for hour in range(9)]
    assert late == [f"11 {hour:02}:00" for hour in range(16, 24)]


def test_after_a_gap_the_first_bar_is_the_first_that_is_there():
    minutes = [stamp("2024-03-08 15:59"), stamp("2024-03-11 09:32"), stamp("2024-03-11 09:33")]
    time = np.array(minutes)
    for flag in ("isfirstbar", "isfirstbar_regular"):
        assert flags(flag, time, 1, REGULAR) == ["11 09:32"]
        assert flags(flag, time[1:], 1, REGULAR) == []  # nothing tells that there was a gap


def test_a_trading_day_is_the_date_on_which_it_ends():
    sunday = stamp("2024-03-10 17:00")
    monday = int(np.datetime64("2024-03-11", "ms").astype(int))
    assert ta.time_tradingday(sunday, NEW_YORK, "1700", "fx") == monday
    assert ta.time_tradingday([sunday], roll="17:00 America/New_York", market="fx") == [monday]
    friday = stamp("2024-03-08 17:00")  # what trades after the close is of the next trading day
    assert ta.time_tradingday([friday], NEW_YORK, "1700", "fx").tolist() == [monday]
    assert ta.time_tradingday([friday], NEW_YORK, "1700").tolist() == [monday - 2 * 86_400_000]


def test_bars_bring_their_own_days_unless_others_are_named():
    bars = cp.load("sample:es-5m")
    by_roll = ta.timeframe_change(bars, "1D")
    assert np.flatnonzero(by_roll).tolist() == bars.periods("1D").first[1:].tolist()
    assert (ta.time_tradingday(bars) == bars.trading_day * 86_400_000).all()
    assert (ta.time_close(bars, "5m") == bars.close_time).all()
    midnight = ta.timeframe_change(bars, "1D", NEW_YORK)
    plain = ta.timeframe_change(bars.time, "1D", NEW_YORK, "0000", "listed")
    assert midnight.tolist() == plain.tolist()
    named = ta.timeframe_change(bars, "2D", roll="18:00 America/New_York", market="fx")
    assert named.tolist() == ta.timeframe_change(bars.time, "2D", NEW_YORK, "1800", "fx").tolist()
    assert ta.timeframe_change(bars.time, "1D").tolist() != by_roll.tolist()


def test_a_bar_is_over_with_its_timeframe_or_its_day():
    time = np.array([stamp("2024-03-08 13:00"), stamp("2024-03-08 14:00")])
    four = ta.time_close(time, "4h", roll="18:00 America/New_York", market="listed")
    assert four.tolist() == [stamp("2024-03-08 17:00"), stamp("2024-03-08 17:00")]
    week = ta.time_close([stamp("2024-03-03 17:00")], "1W", NEW_YORK, "1700", "fx")
    assert week.tolist() == [stamp("2024-03-08 17:00")]


def test_timeframes_last_as_many_seconds_as_pine_says():
    seconds = [ta.in_seconds(text) for text in ("15s", "5", "4h", "D", "W", "M", "2M")]
    assert seconds == [15, 300, 14_400, 86_400, 604_800, 2_628_003, 5_256_006]


def test_periods_of_a_batch_are_counted_row_by_row():
    days = np.arange("2024-07-01", "2024-07-20", dtype="datetime64[D]").astype("M8[ms]")
    time = days.astype(np.int64)[[i for i in range(19) if i % 7 < 5]]
    batch = np.stack([time[:-1], time[1:]])
    changes = ta.timeframe_change(batch, "2D", market="listed")
    assert changes.tolist() == [
        ta.timeframe_change(row, "2D", market="listed").tolist() for row in batch
    ]


@in_one_test("market", ["", "FX", "stocks", None, 5])
def test_an_unknown_market_is_refused(market):
    with pytest.raises(ta.TaError, match='market must be "24x7", "fx" or "listed"'):
        ta.timeframe_change(np.arange(3), "2D", market=market)


# -------------------------------------------------------------------------- what is refused


@in_one_test("tz", [NEW_YORK, "Asia/Tokyo", "Pacific/Kiritimati"])
def test_times_beyond_what_calendars_tell_are_refused(tz):
    for far in (datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)):
        with pytest.raises(ta.TaError, match="time must hold UTC milliseconds"):
            ta.hour([int(far.timestamp() * 1000)], tz)
    for year in (1700, 2400):
        assert ta.year([int(datetime(year, 6, 1, tzinfo=UTC).timestamp() * 1000)], tz) == [year]


@in_one_test("spec", ["09:30-16:00", "0930-1600:8", "usual", "0930-", None, 930])
def test_a_malformed_session_is_refused(spec):
    with pytest.raises(ta.TaError, match="spec must be HHMM-HHMM") as caught:
        ta.session(np.arange(3), spec, NEW_YORK)
    assert (caught.value.function, caught.value.argument) == ("session", "spec")
    assert repr(spec) in str(caught.value)


@in_one_test("tz", ["New York", "../UTC", None, 5, ["UTC"], np.ones(3)], ids=str)
def test_an_unknown_time_zone_is_refused(tz):
    with pytest.raises(ta.TaError, match="tz must be an IANA time zone"):
        ta.hour(np.arange(3), tz)


@in_one_test("time", [[0.5], [np.nan], ["now"], [2**62], None])
def test_times_must_be_milliseconds(time):
    with pytest.raises(ta.TaError, match="time must hold UTC milliseconds"):
        ta.hour(time)


def test_times_may_be_dates_of_numpy():
    assert ta.hour(np.array(["2024-07-01T13:30"], "M8[s]"), NEW_YORK).tolist() == [9]


def test_no_times_have_no_parts():
    none = np.empty(0, np.int64)
    assert ta.hour(none, NEW_YORK).tolist() == []
    assert ta.session(none, "0930-1600", NEW_YORK).tolist() == []
    assert ta.timeframe_change(none, "1D", NEW_YORK).tolist() == []


@in_one_test("timeframe", ["", "0h", "4x", "-1D", "1.5h", "h4", None, 60])
def test_an_unknown_timeframe_is_refused(timeframe):
    with pytest.raises(ta.TaError, match="timeframe must be a timeframe such as"):
        ta.timeframe_change(np.arange(3), timeframe)


@in_one_test("roll", ["", "17", "2400", "5pm", None, 1700])
def test_an_unknown_roll_is_refused(roll):
    with pytest.raises(ta.TaError, match="roll must be a time of day"):
        ta.timeframe_change(np.arange(3), "1D", "UTC", roll)
