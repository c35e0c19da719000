"""Time zones: what clocks show, what they skip and what they repeat."""

import subprocess
import sys
from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact.clock.errors import ClockError
from chartpact.clock.zones import names, offsets, to_utc, wall, zone

HOUR = 3_600_000


def shown(*texts: str) -> np.ndarray:
    return np.array(texts, "datetime64[ms]").astype(np.int64)


def test_a_clock_shows_its_time_of_the_season():
    for text, hours in (("2024-03-08", -5), ("2024-03-11", -4), ("2024-11-04", -5)):
        assert offsets(zone("America/New_York"), shown(text)).tolist() == [hours * HOUR]
    assert wall(zone("UTC"), shown("2024-03-08")).tolist() == shown("2024-03-08").tolist()


@in_one_test("tz", ["America/New_York", "Europe/London", "Australia/Lord_Howe"])
def test_what_a_clock_shows_leads_back_to_the_time(tz):
    where = zone(tz)
    times = shown("2024-01-01") + 1800_000 * np.arange(2 * 24 * 366)
    earlier, later, missing = to_utc(where, wall(where, times))
    assert ((earlier == times) | (later == times)).all()
    assert not missing.any()
    assert 0 < (earlier != later).sum() <= 4


def test_skipped_times_do_not_exist_and_repeated_ones_are_read_twice():
    where = zone("America/New_York")
    earlier, later, missing = to_utc(
        where, shown("2024-03-10T02:30", "2024-11-03T01:30", "2024-07-01T12:00")
    )
    assert missing.tolist() == [True, False, False]
    assert ((later - earlier) // HOUR).tolist() == [0, 1, 0]
    first = datetime(2024, 11, 3, 1, 30, tzinfo=ZoneInfo("America/New_York"))
    assert earlier[1] == int(first.timestamp()) * 1000
    assert wall(where, earlier[:1]).tolist() == shown("2024-03-10T03:30").tolist()


@in_one_test(
    "name",
    ["EST5", "New York", "", "../UTC", "/etc/localtime", "America", None, 5, ["UTC"], np.ones(3)],
    ids=str,
)
def test_what_is_no_time_zone_is_refused(name):
    with pytest.raises(ClockError, match="is no time zone: use an IANA name"):
        zone(name)


def test_an_unknown_zone_gets_the_nearest_name():
    with pytest.raises(ClockError, match="did you mean 'America/New_York'"):
        zone("America/NewYork")


def test_zones_are_there_without_files_once_they_were_read():
    code = """
import zoneinfo
from chartpact.clock import zones
from chartpact.clock.errors import ClockError
assert zones.preload() == len(zones.names()) > 400
zoneinfo.reset_tzpath(["/nowhere"])
print(sum(zones.zone(name).key == name for name in zones.names()) == len(zones.names()))
try:
    zones.zone("Europe/Londn")
except ClockError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = run.stdout.splitlines()
    assert first == "True"
    assert second.endswith("did you mean 'Europe/London'?")
    assert "Europe/London" in names()
