"""The parts of a time by the wall clock of its zone, against the standard library."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test

from chartpact.clock.walltime import FIELDS, iso
from chartpact.clock.zones import wall, zone

ZONES = [
    *("UTC", "America/New_York", "Europe/London", "Asia/Kolkata", "Australia/Lord_Howe"),
    "Pacific/Apia",
]
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
    moments = [datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=t) for t in times]
    shown = wall(zone(tz), np.array(times) * 1000)
    assert set(FIELDS) == set(PARTS)
    for name, part in PARTS.items():
        expected = [part(moment.astimezone(ZoneInfo(tz))) for moment in moments]
        assert FIELDS[name](shown).tolist() == expected, name


@in_one_test("tz", ZONES)
def test_every_hour_of_a_decade_is_right(tz):
    first, last = (int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (2015, 2025))
    times = np.arange(first, last, 3600 * 5)
    moments = [datetime.fromtimestamp(t, ZoneInfo(tz)) for t in times.tolist()]
    shown = wall(zone(tz), times * 1000)
    for name in ("hour", "minute", "dayofmonth"):
        assert FIELDS[name](shown).tolist() == [PARTS[name](moment) for moment in moments]


def test_sunday_is_day_1():
    days = np.array(["2024-03-10", "2024-03-16"], "datetime64[ms]").astype(np.int64)
    assert FIELDS["dayofweek"](days).tolist() == [1, 7]


def test_a_time_is_written_with_milliseconds_only_where_it_has_some():
    assert iso(0) == "1970-01-01T00:00:00Z"
    assert iso(1_700_000_000_001) == "2023-11-14T22:13:20.001Z"
