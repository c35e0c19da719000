"""Periods: the day, week, month or part of a day that a time lies in."""

from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test

from chartpact.clock.markets import MARKETS
from chartpact.clock.periods import closes, opens, period_of, periods
from chartpact.clock.timeframe import Timeframe
from chartpact.clock.tradingcalendar import TradingCalendar

NEW_YORK = ZoneInfo("America/New_York")
ROLLED = TradingCalendar.of("17:00 America/New_York")
MIDNIGHT = TradingCalendar.of("00:00 America/New_York")


def hours(first: str, count: int) -> np.ndarray:
    moment = datetime.fromisoformat(first).replace(tzinfo=NEW_YORK)
    return int(moment.timestamp()) * 1000 + 3_600_000 * np.arange(count)


def starts(time: np.ndarray, timeframe: str, calendar: TradingCalendar) -> list[str]:
    """When new periods begin after the first, on the clocks of New York."""
    period = period_of(time, Timeframe.parse(timeframe), calendar)
    fresh = time[1:][period[1:] != period[:-1]]
    return [datetime.fromtimestamp(t / 1000, NEW_YORK).strftime("%d %H:%M") for t in fresh]


def test_periods_of_a_day_are_counted_from_its_roll():
    time = hours("2024-07-01 17:00", 30)
    assert starts(time, "7h", ROLLED) == ["02 00:00", "02 07:00", "02 14:00", "02 17:00"]


def test_days_weeks_and_months_change_at_the_roll():
    time = hours("2024-06-28 12:00", 24 * 6)
    assert starts(time, "1D", MIDNIGHT)[0] == "29 00:00"
    assert starts(time, "1D", ROLLED)[:2] == ["28 17:00", "29 17:00"]
    # Monday's trading day starts on Sunday evening, and July's first too
    assert starts(time, "1W", ROLLED) == ["30 17:00"]
    assert starts(time, "1M", ROLLED) == ["30 17:00"]
    assert starts(time, "1W", MIDNIGHT) == ["01 00:00"]


@in_one_test("first", ["2024-03-09 00:00", "2024-11-02 00:00"])
def test_a_day_changes_once_also_when_clocks_do(first):
    assert [text[3:] for text in starts(hours(first, 72), "1D", ROLLED)] == ["17:00"] * 3


def test_on_the_day_that_clocks_change_its_parts_are_equally_long():
    time = hours("2024-03-09 17:00", 23)  # clocks skip two o'clock
    assert starts(time, "4h", ROLLED) == [
        "09 21:00",
        "10 01:00",
        "10 06:00",
        "10 10:00",
        "10 14:00",
    ]


def test_seconds_of_one_day_are_none_of_the_next():
    time = np.array([6 * 3_600_000, 86_400_000])
    assert len(set(period_of(time, Timeframe.parse("15s"), MIDNIGHT).tolist())) == 2


@in_one_test("timeframe", ["7m", "4h", "1D", "2D", "1W", "2W", "1M", "5M", "12M"])
@in_one_test(
    "market_roll",
    [("listed", "18:00 America/New_York"), ("fx", "17:00 America/New_York"), ("24x7", "08:00 UTC")],
)
def test_a_period_holds_its_bars_and_ends_before_the_next_begins(timeframe, market_roll):
    market, roll = market_roll
    calendar = TradingCalendar.of(roll, market)
    time = hours("2023-02-20 18:00", 24 * 400)
    time = time[(time >= calendar.opening(calendar.date(time)))]
    groups = periods(time, Timeframe.parse(timeframe), calendar)
    assert (groups.first[1:] == groups.stop[:-1]).all()
    assert (groups.start <= time[groups.first]).all()
    assert (groups.end > time[groups.stop - 1]).all()
    assert (groups.end[:-1] <= groups.start[1:]).all()
    assert (np.diff(groups.of_each) >= 0).all()


def dates(*texts: str) -> np.ndarray:
    """Noon of these dates in UTC."""
    return np.array(texts, "datetime64[D]").astype("datetime64[ms]").astype(np.int64) + 43_200_000


def every_date(first: str, last: str) -> list[str]:
    return np.arange(first, last, dtype="datetime64[D]").astype(str).tolist()


def starting(days: list[str], timeframe: str, market: str) -> list[str]:
    """The days, after the first, on which a new period begins."""
    calendar = TradingCalendar.of("UTC midnight", market)
    period = period_of(dates(*days), Timeframe.parse(timeframe), calendar)
    return [day for day, new in zip(days[1:], np.diff(period) != 0, strict=True) if new]


def test_days_of_a_market_of_every_day_count_from_the_first_of_january():
    days = every_date("2023-12-28", "2024-01-07")
    assert starting(days, "3D", "24x7") == ["2023-12-30", "2024-01-01", "2024-01-04"]
    days = every_date("2024-02-20", "2024-03-12")  # over the 29th of February
    assert starting(days, "5D", "24x7") == ["2024-02-25", "2024-03-01", "2024-03-06", "2024-03-11"]


def test_days_of_currencies_count_all_from_monday_to_friday():
    weekdays = "12-24 12-26 12-27 12-30 12-31 01-02 01-03 01-06 01-07 01-08 01-09".split()
    days = [f"{2025 if day < '06' else 2024}-{day}" for day in weekdays]
    # 25 December and 1 January count, though nothing trades
    assert [day[5:] for day in starting(days, "2D", "fx")] == [
        *("12-26", "12-30", "01-02", "01-03", "01-07", "01-09")
    ]


def test_days_of_a_listed_market_count_where_they_have_bars():
    # Independence Day, a Thursday, counts for nobody
    days = ["2024-07-01", "2024-07-02", "2024-07-03", "2024-07-05", "2024-07-08", "2024-07-09"]
    # 130 weekdays lie before the first, so that it is the first of two
    assert starting(days, "2D", "listed") == ["2024-07-03", "2024-07-08"]
    assert starting(days, "2D", "fx") == ["2024-07-03", "2024-07-05", "2024-07-09"]
    assert starting(days[1:], "2D", "listed") == ["2024-07-03", "2024-07-08"]
    # and every year begins with the first day that trades
    days = ["2023-12-27", "2023-12-28", "2023-12-29", "2024-01-02", "2024-01-03", "2024-01-04"]
    assert starting(days, "2D", "listed") == ["2023-12-28", "2024-01-02", "2024-01-04"]


def test_a_listed_period_is_over_with_its_last_day_or_with_its_year():
    calendar = TradingCalendar.of("UTC midnight", "listed")
    days = ["2024-07-01", "2024-07-02", "2024-07-03", "2024-07-05", "2024-12-30", "2025-01-02"]

    def ends(count: int) -> list[str]:
        groups = periods(dates(*days[:count]), Timeframe.parse("2D"), calendar)
        return (groups.end // 86_400_000 - 1).astype("datetime64[D]").astype(str).tolist()

    assert ends(1) == ["2024-07-02"]
    assert ends(2) == ["2024-07-02"]
    assert ends(3) == ["2024-07-02", "2024-07-04"]  # the next weekday, until it turns out
    assert ends(4) == ["2024-07-02", "2024-07-05"]
    assert ends(5) == ["2024-07-02", "2024-07-05", "2024-12-31"]
    assert ends(6) == ["2024-07-02", "2024-07-05", "2024-12-31", "2025-01-03"]


@in_one_test("market", MARKETS)
def test_weeks_count_the_mondays_of_their_year(market):
    mondays = np.arange("2024-11-04", "2025-02-08", 7, dtype="datetime64[D]").astype(str).tolist()
    assert starting(mondays, "3W", market) == [
        *("2024-11-11", "2024-12-02", "2024-12-23", "2025-01-06", "2025-01-27")
    ]


@in_one_test("market", MARKETS)
def test_months_count_from_january(market):
    months = np.arange("2025-09", "2026-08", dtype="datetime64[M]").astype("datetime64[D]")
    starts = [day[:7] for day in starting((months + 4).astype(str).tolist(), "5M", market)]
    assert starts == ["2025-11", "2026-01", "2026-06"]


def one_by_one(days: list[date], timeframe: Timeframe, market: str) -> list[tuple[int, int]]:
    """The period of each trading day by counting days, with the standard library."""
    keys, seen = [], {}
    for day in days:
        year, count = day.year, timeframe.count
        so_far = [date(year, 1, 1) + timedelta(n) for n in range((day - date(year, 1, 1)).days)]
        weekdays = sum(past.weekday() < 5 for past in so_far)
        if timeframe.unit == "M":
            place = day.month - 1
        elif timeframe.unit == "W":
            monday = day - timedelta(day.weekday())
            year = monday.year
            place = (monday.timetuple().tm_yday - 1) // 7
        elif market == "24x7":
            place = len(so_far)
        elif market == "fx":
            place = weekdays
        else:
            if not seen:
                seen = {(year, weekdays - 1 - n): None for n in range(weekdays)}
            if (year, day) not in seen:
                seen[year, day] = sum(1 for other, _ in seen if other == year)
            place = seen[year, day]
        keys.append((year, place // count))
    return keys


@given(
    st.dates(date(2015, 1, 1), date(2030, 1, 1)),
    st.lists(st.integers(1, 20), min_size=2, max_size=60),
    st.sampled_from(["2D", "3D", "7D", "100D", "1W", "2W", "5W", "2M", "5M", "12M"]),
    st.sampled_from(MARKETS),
)
def test_periods_are_those_that_counting_day_by_day_gives(first, steps, timeframe, market):
    days = [first + timedelta(n) for n in np.cumsum(steps).tolist()]
    if market != "24x7":
        days = [day for day in days if day.weekday() < 5]
    step = Timeframe.parse(timeframe)
    calendar = TradingCalendar.of("UTC midnight", market)
    period = period_of(dates(*map(str, days)), step, calendar).tolist()
    counted = one_by_one(days, step, market)
    changes = [a != b for a, b in pairwise(period)]
    assert changes == [a != b for a, b in pairwise(counted)]


def test_the_first_period_is_whole_where_the_bars_begin_with_it():
    step = Timeframe.parse("1D")
    time = hours("2024-07-01 17:00", 30)
    assert periods(time, step, ROLLED).whole.tolist() == [True, False]
    assert periods(time[1:], step, ROLLED).whole.tolist() == [False, False]
    until = int(time[23]) + 3_600_000
    assert periods(time[:24], step, ROLLED, until).whole.tolist() == [True]
    assert periods(time[:24], step, ROLLED, until - 1).whole.tolist() == [False]


def test_bars_on_a_grid_of_their_own_last_their_full_length():
    three_days = dates("2024-01-02", "2024-01-05") - 43_200_000  # as counted from 1970
    day = 86_400_000
    calendar = TradingCalendar.of("UTC midnight")
    assert (closes(three_days, Timeframe.parse("3D"), calendar) - three_days).tolist() == [
        3 * day
    ] * 2
    ours = dates("2024-01-01", "2024-12-30") - 43_200_000
    length = (closes(ours, Timeframe.parse("7D"), calendar) - ours) // day
    assert length.tolist() == [7, 2]  # the last period of a year ends with it


@in_one_test("market", MARKETS)
@in_one_test("timeframe", ["1D", "2D", "3D", "1W", "2W", "1M", "5M"])
def test_what_is_stamped_at_its_close_opened_where_its_period_did(timeframe, market):
    calendar = TradingCalendar.of("17:00 America/New_York", market)
    step = Timeframe.parse(timeframe)
    days = calendar.opening(calendar.date(hours("2023-11-01 18:00", 24 * 200)[::24]))
    groups = periods(days[np.append(True, np.diff(days) > 0)], step, calendar)
    assert opens(groups.end, step, calendar)[1:].tolist() == groups.start[1:].tolist()
    assert closes(groups.start[1:], step, calendar).tolist() == groups.end[1:].tolist()


def test_no_times_have_no_periods():
    none = np.zeros(0, np.int64)
    for timeframe in ("4h", "1D", "1W", "1M"):
        step = Timeframe.parse(timeframe)
        assert period_of(none, step, ROLLED).tolist() == []
        assert periods(none, step, ROLLED).stop.tolist() == []
        assert closes(none, step, ROLLED).tolist() == []
