"""Pacts in the catalogue: listed, drawn in process, forked, and read back with nothing to set."""

import io
import json
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact import catalogue, pacts, sandbox, script, sources
from chartpact.catalogue import Catalogue, ScriptIndicator, canonical, fork
from chartpact.cli import DONE, main
from chartpact.contracts import find
from chartpact.lookahead import prove
from chartpact.needs import cut_supplies, gather
from chartpact.script.dry_run import validate

DRAWABLE = pacts.drawable()


def test_every_pact_with_an_indicator_has_a_contract():
    assert DRAWABLE
    assert set(DRAWABLE) <= set(pacts.names())


@in_one_test("name", DRAWABLE)
def test_a_pact_is_listed_under_the_title_that_its_contract_reads(name):
    listed = {known.name: known for known in Catalogue().list()}
    assert listed[name].source == "pact"
    assert listed[name].title == find(name).title
    assert (pacts.folder(name) / "README.md").exists()


@in_one_test("name", DRAWABLE)
def test_the_readme_of_a_pact_follows_the_template_and_names_its_inputs(name):
    text = (pacts.folder(name) / "README.md").read_text("utf-8")
    heads = ("Purpose", "Timeframes", "Inputs", "Outputs", "Signal logic", "Edge cases")
    assert [head for head in heads if f"\n**{head}" not in text] == []
    inputs = [param for param in catalogue.pact(name).params if param.type != "color"]
    assert [param.name for param in inputs if f"`{param.name}" not in text] == []
    assert "checked with PineTS, not yet on TradingView" in text


@pytest.mark.parametrize("name", DRAWABLE)
def test_a_pact_is_read_from_a_sample_with_nothing_to_set(name, capsys):
    assert main(["read", name, "--bars", "sample:es-5m", "--json"]) == DONE
    reading = json.loads(capsys.readouterr().out)
    assert reading["contract"] == name
    assert reading["state"]


def test_a_pact_runs_in_this_process_and_under_its_meter(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a trusted script needs no sandbox")

    monkeypatch.setattr(sandbox, "run", refuse)
    (drawn,) = cp.chart(cp.load("sample:es-5m"), ["ema_trend"]).drawn
    assert drawn.error is None
    assert 0 < drawn.steps < script.Limits().steps


def test_a_fork_of_a_pact_is_its_source_and_may_take_its_place():
    source = fork("ema_trend")
    assert source == pacts.source("ema_trend")
    own = ScriptIndicator.read("ema_trend", source)
    assert own.source == "user"
    assert not own.trusted
    assert Catalogue({"ema_trend": own}).resolve("ema_trend") is own
    shipped = catalogue.pact("ema_trend")
    assert replace(own, source="pact").params == shipped.params


@in_one_test("name", DRAWABLE)
def test_a_fork_of_a_pact_can_be_registered_without_a_warning(name):
    verdict = validate(fork(name))
    assert (verdict.errors, verdict.warnings) == ((), ())


@in_one_test("name", DRAWABLE)
def test_a_fork_runs_in_the_sandbox_and_is_read_as_the_pact_is(name):
    bars = cp.load("sample:es-5m")[-900:]
    own = ScriptIndicator.read(name, fork(name))
    forked = cp.chart(bars, [name], catalogue=Catalogue({name: own}))
    ours = cp.chart(bars, [name])
    assert not own.trusted
    assert forked.drawn[0].error is None
    assert forked.drawn[0].scene == ours.drawn[0].scene
    assert cp.read(name, forked.snapshot()).state == cp.read(name, ours.snapshot()).state


def test_reading_a_script_tells_how_a_fork_is_read(tmp_path, capsys, monkeypatch):
    path = tmp_path / "my_trend.star"
    path.write_text(fork("ema_trend"), "utf-8")
    assert main(["read", str(path), "--bars", "sample:es-5m"]) != DONE
    assert f"-i {path} | chartpact read CONTRACT --snapshot -" in capsys.readouterr().err
    assert main(["snapshot", "--bars", "sample:es-5m", "-i", str(path)]) == DONE
    drawn = io.BytesIO(capsys.readouterr().out.encode())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(drawn))
    assert main(["read", "ema_trend", "--snapshot", "-", "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["state"]["trend"] == "BEAR"


def test_canonical_knows_builtins_aliases_and_pacts():
    assert [canonical(name) for name in ("ema", "ema_trend", "nobody")] == [
        "ema",
        "ema_trend",
        None,
    ]


def _prefixes(bars, count=10):
    return [bars[:n] for n in range(len(bars), 900, -(len(bars) - 900) // count)]


@in_one_test("name", DRAWABLE)
def test_a_pact_reads_back_at_every_sampled_bar_of_its_sample(name):
    for bars in _prefixes(cp.load("sample:es-5m")):
        reading = cp.read_state([name], bars)[name]
        assert reading.ok, (len(bars), reading.violations)


@in_one_test("name", DRAWABLE)
def test_a_pact_does_not_rewrite_its_past(name):
    shipped, bars = catalogue.pact(name), cp.load("sample:es-5m")
    values = {param.name: param.default for param in shipped.params}
    supplies = gather(shipped.needs(bars, values), sources.fetch)

    def draw(prefix):
        return shipped.draw(prefix, values, cut_supplies(supplies, prefix))

    proof = prove(draw, bars, 15)
    assert proof.ok, proof.rewritten


@in_one_test("cut", [1, 37, 400, 1500, 2400])
def test_a_shorter_history_gives_the_same_trend_or_a_warm_up(cut):
    bars = cp.load("sample:es-5m")
    whole = cp.read_state(["ema_trend"], bars)["ema_trend"].state
    part = cp.read_state(["ema_trend"], bars[cut:])["ema_trend"].state
    assert part["trend"] in (whole["trend"], "WARMUP")
    assert (part["trend"] == "WARMUP") == (len(bars) - cut < 1200)


@in_one_test("count", [600, 1200, 2880])  # before and after New York's clocks change
def test_macros_stay_where_the_clocks_of_new_york_put_them(count):
    bars = cp.load("sample:eurusd-15m")[:count]
    found = cp.read_state(["macro"], bars, params={"keep": 16})["macro"].state["windows"]
    begins = {
        datetime.fromtimestamp(window["begin"] / 1000, ZoneInfo("America/New_York")).strftime(
            "%H%M"
        )
        for window in found
    }
    assert len(found) == 16
    assert begins == set("0233 0403 0850 0950 1050 1150 1310 1515".split())
