"""Periods: the day, week, month or part of a day that a time lies in."""

from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from chartpact.clock.periods import closes, period_of, periods
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


@pytest.mark.parametrize("first", ["2024-03-09 00:00", "2024-11-02 00:00"])
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


@pytest.mark.parametrize("timeframe", ["7m", "4h", "1D", "2D", "1W", "2W", "1M", "5M", "12M"])
@pytest.mark.parametrize("symbol_roll", [("ES", "18:00 America/New_York"), ("", "08:00 UTC")])
def test_a_period_holds_its_bars_and_ends_before_the_next_begins(timeframe, symbol_roll):
    symbol, roll = symbol_roll
    calendar = TradingCalendar.of(roll, symbol)
    time = hours("2023-02-20 18:00", 24 * 400)
    time = time[(time >= calendar.opening(calendar.date(time)))]
    groups = periods(time, Timeframe.parse(timeframe), calendar)
    assert (groups.first[1:] == groups.stop[:-1]).all()
    assert (groups.start <= time[groups.first]).all()
    assert (groups.end > time[groups.stop - 1]).all()
    assert (groups.end[:-1] <= groups.start[1:]).all()
    assert (np.diff(groups.of_each) >= 0).all()


def test_no_times_have_no_periods():
    none = np.zeros(0, np.int64)
    for timeframe in ("4h", "1D", "1W", "1M"):
        step = Timeframe.parse(timeframe)
        assert period_of(none, step, ROLLED).tolist() == []
        assert periods(none, step, ROLLED).stop.tolist() == []
        assert closes(none, step, ROLLED).tolist() == []
