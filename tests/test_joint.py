"""One strategy state: several contracts from one picture, each with its state or its violations."""

import copy
import json

import pytest

import chartpact as cp
from chartpact import pacts
from chartpact.charts import Chart
from chartpact.cli import BAD_INPUT, DONE, VIOLATION, main
from chartpact.contracts.workbench import examples
from chartpact.params import IndicatorError

GOOD = {
    "bias_ai": "bullish_active",
    "session_hunt_ai": "hunt_low",
    "ob_ai": "bullish_gap",
    "smt_divergences": "bullish",
}


def expected(name):
    return examples.load(pacts.folder(name) / "examples" / f"{GOOD[name]}.json").expect["state"]


@pytest.fixture
def picture():
    """The four documented indicators on one chart."""
    loaded = {
        name: examples.load(pacts.folder(name) / "examples" / f"{example}.json").snapshot.to_json()
        for name, example in GOOD.items()
    }
    chart = copy.deepcopy(loaded["ob_ai"])
    chart["studies"] = [copy.deepcopy(drawn["studies"][0]) for drawn in loaded.values()]
    return chart


def test_several_contracts_read_one_picture_into_one_state(picture):
    found = cp.read_state(GOOD, picture, profile="tfo")
    assert found.ok
    assert {name: reading.state for name, reading in found.items()} == {
        name: expected(name) for name in GOOD
    }
    data = found.to_json()
    assert list(data) == ["as_of", "source", "readings"]
    assert data["as_of"] == picture["chart"]["as_of"]
    assert data["readings"]["ob_ai"]["version"] == "2.1.0"


def test_a_picture_that_breaks_one_contract_leaves_the_others_read(picture):
    picture["studies"][2]["lines"].pop()
    found = cp.read_state(GOOD, picture, profile="tfo")
    assert not found.ok
    assert [name for name, reading in found.items() if not reading.ok] == ["ob_ai"]
    assert found.to_json()["readings"]["ob_ai"]["violations"][0]["kind"] == "missing"
    assert found["smt_divergences"].state == expected("smt_divergences")


def test_settings_are_given_by_contract_and_belong_to_one(picture):
    colors = {"bias_ai": {"before_raid_color": "#2962ff", "after_raid_color": "#f23645"}}
    assert cp.read_state(GOOD, picture, colors).ok
    for wrong in ({"mode": "NY"}, {"nobody": {}}, {"ob_ai": 5}):
        with pytest.raises(IndicatorError, match="maps their names to settings"):
            cp.read_state(GOOD, picture, wrong)
    with pytest.raises(IndicatorError, match="no contract has a profile"):
        cp.read_state(GOOD, picture, profile="nobody")
    with pytest.raises(IndicatorError, match="named twice"):
        cp.read_state(["ob_ai", "ob_ai"], picture)


def test_pacts_are_drawn_on_bars_and_read(picture):
    bars = cp.load("sample:es-5m")
    found = cp.read_state(["ema_trend"], bars, params={"keep": 3})
    assert len(found["ema_trend"].state["changes"]) == 3
    with pytest.raises(IndicatorError, match="has a parameter 'keeps'"):
        cp.read_state(["ema_trend"], bars, params={"keeps": 3})
    with pytest.raises(TypeError, match="drawn on bars"):
        cp.read_state(["ema_trend"], picture, params={"keep": 3})


def test_an_indicator_that_is_not_drawn_is_a_violation_and_not_a_state():
    found = cp.read_state(["ema_trend"], cp.load("sample:es-5m"), params={"fast": 500})
    [violation] = found["ema_trend"].violations
    assert violation.kind == "unavailable"
    assert "the lengths grow from fast to base" in violation.message


def test_the_command_line_reads_several_contracts(picture, tmp_path, capsys):
    path = tmp_path / "drawn.json"
    path.write_text(json.dumps(picture))
    asked = ["read", *GOOD, "--snapshot", str(path), "--profile", "tfo"]
    assert main([*asked, "--json"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert {name: each["state"] for name, each in found["readings"].items()} == {
        name: expected(name) for name in GOOD
    }
    assert main(asked) == DONE
    assert "bias_ai:\n{" in capsys.readouterr().out
    picture["studies"][2]["lines"].pop()
    path.write_text(json.dumps(picture))
    assert main([*asked, "--json"]) == VIOLATION
    assert "violations" in json.loads(capsys.readouterr().out)["readings"]["ob_ai"]
    assert main([*asked, "--param", "n=5"]) == BAD_INPUT
    assert main(["read", "ema_trend", "--bars", "sample:es-5m", "--param", "nob=1"]) == BAD_INPUT
    assert "has a parameter 'nob'" in capsys.readouterr().err


def test_what_was_read_comes_with_the_readings_and_is_recorded_once(monkeypatch):
    record, records = Chart.snapshot, []
    monkeypatch.setattr(Chart, "snapshot", lambda chart: records.append(chart) or record(chart))
    found = cp.read_state(["ema_trend", "bias_ai"], cp.load("sample:es-5m"))
    assert len(records) == 1
    assert found.snapshot == record(records[0])
    assert cp.read("ema_trend", found.snapshot).state == found["ema_trend"].state


def test_whoever_watches_a_chart_reads_what_one_who_reads_it_does(tmp_path, capsys):
    asked = ["ema_trend", "--bars", "sample:es-5m", "--param", "fast=500", "--json"]
    assert main(["watch", *asked, "--reads", "1", "--db", f"sqlite:///{tmp_path}/l.db"]) == DONE
    [event] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    [violation] = cp.read_state(["ema_trend"], cp.load("sample:es-5m"), params={"fast": 500})[
        "ema_trend"
    ].violations
    assert event["type"] == "refused"
    assert violation.message in event["why"]
