"""`ta` asks the clock: parts of a time, sessions and new periods, for whole columns."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

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


@pytest.mark.parametrize("tz", [NEW_YORK, "Asia/Tokyo", "Pacific/Kiritimati"])
def test_times_beyond_what_calendars_tell_are_refused(tz):
    for far in (datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)):
        with pytest.raises(ta.TaError, match="time must hold UTC milliseconds"):
            ta.hour([int(far.timestamp() * 1000)], tz)
    for year in (1700, 2400):
        assert ta.year([int(datetime(year, 6, 1, tzinfo=UTC).timestamp() * 1000)], tz) == [year]


@pytest.mark.parametrize("spec", ["", "09:30-16:00", "0930-1600:8", "regular", None, 930])
def test_a_malformed_session_is_refused(spec):
    with pytest.raises(ta.TaError, match="spec must be HHMM-HHMM") as caught:
        ta.session(np.arange(3), spec, NEW_YORK)
    assert (caught.value.function, caught.value.argument) == ("session", "spec")
    assert repr(spec) in str(caught.value)


@pytest.mark.parametrize("tz", ["New York", "../UTC", None, 5, ["UTC"], np.ones(3)], ids=str)
def test_an_unknown_time_zone_is_refused(tz):
    with pytest.raises(ta.TaError, match="tz must be an IANA time zone"):
        ta.hour(np.arange(3), tz)


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


@pytest.mark.parametrize("timeframe", ["", "0h", "4x", "-1D", "1.5h", "h4", None, 60])
def test_an_unknown_timeframe_is_refused(timeframe):
    with pytest.raises(ta.TaError, match="timeframe must be a timeframe such as"):
        ta.timeframe_change(np.arange(3), timeframe)


@pytest.mark.parametrize("roll", ["", "17", "2400", "5pm", None, 1700])
def test_an_unknown_roll_is_refused(roll):
    with pytest.raises(ta.TaError, match="roll must be a time of day"):
        ta.timeframe_change(np.arange(3), "1D", "UTC", roll)
