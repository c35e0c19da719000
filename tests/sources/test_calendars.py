"""Calendars in files: what is read, and what is refused with its place."""

import json

import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact.bars import BarsError, samples
from chartpact.cli import DONE, main
from chartpact.sources import calendars

EVENT = {"title": "CPI y/y", "time_utc": 1710246600000, "impact": "High", "currency": "USD"}


def parse(*events):
    return calendars.parse(json.dumps(list(events)))


def test_events_are_completed_and_come_in_the_order_of_time():
    later = {**EVENT, "time_utc": "2024-03-12T10:30-04:00", "id": "later"}
    first, second = parse(later, EVENT)
    assert (first["id"], second["id"]) == ("1710246600000 CPI y/y", "later")
    assert second["time_utc"] - first["time_utc"] == 2 * 3_600_000
    assert (first["impact"], first["all_day"], first["actual"]) == ("high", False, None)
    assert set(first) == set(calendars.FIELDS) == set(samples.calendar()[0])


@in_one_test(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("{}", "not a list"),
        ("[5]", "event 1 is not an object"),
        (json.dumps([{**EVENT, "title": " "}]), "event 1 has no title"),
        (json.dumps([EVENT, {**EVENT, "impact": "huge"}]), "event 2: impact is one of"),
        (json.dumps([{**EVENT, "time_utc": "2024-03-12T08:30"}]), "with an offset"),
        (json.dumps([{**EVENT, "time_utc": 1.5}]), "time_utc is UTC ms"),
        (json.dumps([{**EVENT, "wen": 1}]), "has no field 'wen'"),
        (json.dumps([{**EVENT, "forecast": [1]}]), "forecast is neither"),
    ],
)
def test_what_is_no_calendar_is_refused_with_its_place(text, said):
    with pytest.raises(BarsError, match=said):
        calendars.parse(text)


def test_a_calendar_file_may_be_given_on_the_command_line(tmp_path, capsys):
    bars = cp.load("sample:es-5m")
    path = tmp_path / "events.json"
    path.write_text(json.dumps([EVENT, {**EVENT, "time_utc": int(bars.time[-1]) + 500_000}]))
    asked = ["read", "economic_calendar", "--bars", "sample:es-5m", "--json"]
    assert main([*asked, "--param", f"calendar={path}"]) == DONE
    state = json.loads(capsys.readouterr().out)["state"]
    assert (state["news"], [event["title"] for event in state["events"]]) == ("PRE", ["CPI y/y"])
    assert main([*asked, "--param", f"calendar={tmp_path / 'nobody.json'}"]) != DONE
    assert "nobody.json" in capsys.readouterr().err
