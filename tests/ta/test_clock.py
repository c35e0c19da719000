"""Time parts, sessions and periods, through daylight saving, against the standard library."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chartpact import ta

NEW_YORK = "America/New_York"
ZONES = ["UTC", NEW_YORK, "Europe/London", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia"]


def stamp(text: str, tz: str = NEW_YORK) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(tz)).timestamp() * 1000)


def stamps(*texts: str, tz: str = NEW_YORK) -> np.ndarray:
    return np.array([stamp(text, tz) for text in texts])


PARTS = {
    "year": lambda t: t.year,
    "month": lambda t: t.month,
    "weekofyear": lambda t: t.isocalendar().week,
    "dayofmonth": lambda t: t.day,
    "dayofweek": lambda t: t.isoweekday() % 7 + 1,
    "hour": lambda t: t.hour,
    "minute": lambda t: t.minute,
    "second": lambda t: t.second,
}


@given(
    times=st.lists(st.integers(-3_000_000_000, 4_000_000_000), min_size=1, max_size=20),
    tz=st.sampled_from(ZONES),
)
def test_time_parts_are_those_of_the_wall_clock(times, tz):
    for name, part in PARTS.items():
        moments = [datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=t) for t in times]
        expected = [part(moment.astimezone(ZoneInfo(tz))) for moment in moments]
        assert ta.FUNCTIONS[name](np.array(times) * 1000, tz).tolist() == expected


@pytest.mark.parametrize("tz", ZONES)
def test_every_hour_of_a_decade_is_right(tz):
    times = np.arange(stamp("2015-01-01"), stamp("2025-01-01"), 3_600_000 * 5)
    moments = [datetime.fromtimestamp(t / 1000, ZoneInfo(tz)) for t in times.tolist()]
    assert ta.hour(times, tz).tolist() == [m.hour for m in moments]
    assert ta.minute(times, tz).tolist() == [m.minute for m in moments]
    assert ta.dayofmonth(times, tz).tolist() == [m.day for m in moments]


@pytest.mark.parametrize("tz", [NEW_YORK, "Asia/Tokyo", "Pacific/Kiritimati"])
def test_times_beyond_what_calendars_tell_are_refused(tz):
    for far in (datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)):
        with pytest.raises(ta.TaError, match="time must hold UTC milliseconds"):
            ta.hour([int(far.timestamp() * 1000)], tz)
    for year in (1700, 2400):
        assert ta.year([int(datetime(year, 6, 1, tzinfo=UTC).timestamp() * 1000)], tz) == [year]


def test_a_single_time_gives_a_single_number():
    assert ta.hour(stamp("2024-07-01 09:30"), NEW_YORK) == 9
    assert isinstance(ta.hour(0), int)
    assert ta.session(stamp("2024-07-01 09:30"), "0930-1600", NEW_YORK) is True


def test_sunday_is_day_1():
    assert ta.dayofweek(stamps("2024-03-10 12:00", "2024-03-16 12:00"), NEW_YORK).tolist() == [1, 7]


def test_a_session_is_half_open():
    times = stamps("2024-07-01 09:29", "2024-07-01 09:30", "2024-07-01 15:59", "2024-07-01 16:00")
    assert ta.session(times, "0930-1600", NEW_YORK).tolist() == [False, True, True, False]


def test_a_session_follows_daylight_saving():
    # half past nine in New York: 14:30 UTC before 2024-03-10, 13:30 from then on
    for day, utc_hour in (("2024-03-08", 14), ("2024-03-11", 13), ("2024-11-04", 14)):
        opens = int(datetime.fromisoformat(f"{day}T{utc_hour}:30+00:00").timestamp() * 1000)
        inside = ta.session(np.array([opens - 1, opens, opens + 1]), "0930-1600", NEW_YORK)
        assert inside.tolist() == [False, True, True]


def test_several_spans_and_days():
    spec = "0930-1200,1300-1600:2"  # Mondays; 2024-07-01 was one
    times = stamps("2024-07-01 11:00", "2024-07-01 12:30", "2024-07-01 13:00", "2024-07-02 11:00")
    assert ta.session(times, spec, NEW_YORK).tolist() == [True, False, True, False]


def test_an_overnight_session_belongs_to_the_day_it_ends_on():
    spec = "1800-1700:23456"  # Monday's session opens on Sunday evening
    times = stamps(
        "2024-06-30 17:59",  # Sunday
        "2024-06-30 18:00",
        "2024-07-01 16:59",
        "2024-07-01 17:30",
        "2024-07-05 16:59",  # Friday
        "2024-07-05 18:00",  # would be Saturday's
        "2024-07-06 10:00",
    )
    assert ta.session(times, spec, NEW_YORK).tolist() == [
        False,
        True,
        True,
        False,
        True,
        False,
        False,
    ]


def test_an_end_of_0000_is_midnight_of_the_same_day():
    times = stamps("2024-07-01 17:00", "2024-07-01 23:59", "2024-07-02 00:00")
    assert ta.session(times, "1700-0000:2", NEW_YORK).tolist() == [True, True, False]
    assert ta.session(times, "0000-0000", NEW_YORK).tolist() == [True, True, True]
    assert ta.session(times, "0000-2400:2", NEW_YORK).tolist() == [True, True, False]


def test_24x7_is_always():
    assert ta.session(stamps("2024-07-06 03:00"), "24x7", NEW_YORK).tolist() == [True]


@pytest.mark.parametrize(
    "spec",
    [
        *["", "0930", "0930-", "930-1600", "09:30-16:00", "0930-1660", "2500-2600", "2400-0930"],
        *["0930-1600:", "0930-1600:8", "0930-1600:0", "0930-1600:a", "0930-1600,", ",0930-1600"],
        *["0930-1600 ", "0930–1600", "٠٩٣٠-1600", "24X7", "24x7:2", "0930-1600:2:3", "regular"],
        *[None, 930, b"0930-1600"],
    ],
)
def test_a_malformed_session_is_refused(spec):
    with pytest.raises(ta.TaError) as caught:
        ta.session(np.arange(3), spec, NEW_YORK)
    assert (caught.value.function, caught.value.argument) == ("session", "spec")
    assert repr(spec) in str(caught.value)


@pytest.mark.parametrize(
    "tz",
    ["EST5", "New York", "", "../UTC", "/etc/localtime", None, 5, ["UTC"], np.ones(3)],
    ids=str,
)
def test_an_unknown_time_zone_is_refused(tz):
    with pytest.raises(ta.TaError, match="tz must be an IANA time zone"):
        ta.hour(np.arange(3), tz)


@pytest.mark.parametrize("spec", ["9:30-16", "09:30-16:00", "0930-16:00"])
def test_colons_within_hours_are_told_from_days(spec):
    with pytest.raises(ta.TaError, match="spec must be HHMM-HHMM"):
        ta.session(np.arange(3), spec)


@pytest.mark.parametrize("time", [[0.5], [np.nan], ["now"], [2**62], None])
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


def hours(first: str, count: int, tz: str = NEW_YORK) -> np.ndarray:
    return stamp(first, tz) + 3_600_000 * np.arange(count)


def starts(changed, times, tz: str = NEW_YORK) -> list[str]:
    return [
        datetime.fromtimestamp(t / 1000, ZoneInfo(tz)).strftime("%d %H:%M") for t in times[changed]
    ]


def test_periods_of_a_day_are_counted_from_its_roll():
    times = hours("2024-07-01 17:00", 30)
    changed = ta.timeframe_change(times, "7h", NEW_YORK, "1700")
    wanted = ["02 00:00", "02 07:00", "02 14:00", "02 17:00"]
    assert starts(changed, times) == wanted


def test_days_weeks_and_months_change_at_the_roll():
    times = hours("2024-06-28 12:00", 24 * 6)
    assert starts(ta.timeframe_change(times, "1D", NEW_YORK), times)[0] == "29 00:00"
    rolled = ta.timeframe_change(times, "1D", NEW_YORK, "1700")
    assert starts(rolled, times)[:2] == ["28 17:00", "29 17:00"]
    # Monday's trading day starts on Sunday evening, and July's first too
    assert starts(ta.timeframe_change(times, "1W", NEW_YORK, "1700"), times) == ["30 17:00"]
    assert starts(ta.timeframe_change(times, "1M", NEW_YORK, "1700"), times) == ["30 17:00"]
    assert starts(ta.timeframe_change(times, "1W", NEW_YORK), times) == ["01 00:00"]


def test_a_day_changes_once_also_when_clocks_do():
    for start in ("2024-03-09 00:00", "2024-11-02 00:00"):
        times = hours(start, 72)
        changed = ta.timeframe_change(times, "1D", NEW_YORK, "1700")
        assert [text[3:] for text in starts(changed, times)] == ["17:00"] * 3


@pytest.mark.parametrize("timeframe", ["", "0h", "4x", "-1D", "1.5h", "h4", None, 60])
def test_an_unknown_timeframe_is_refused(timeframe):
    with pytest.raises(ta.TaError, match="timeframe must be a timeframe such as"):
        ta.timeframe_change(np.arange(3), timeframe)


@pytest.mark.parametrize("roll", ["", "17", "2400", "5pm", None, 1700])
def test_an_unknown_roll_is_refused(roll):
    with pytest.raises(ta.TaError, match="roll must be a time of day"):
        ta.timeframe_change(np.arange(3), "1D", "UTC", roll)
