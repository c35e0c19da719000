import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.cases import in_one_test
from tests.effort import examples

import chartpact as cp
from chartpact import charts
from chartpact.catalogue import Catalogue
from chartpact.cli import main
from chartpact.scene import (
    Anchor,
    Box,
    Cell,
    Label,
    Line,
    Linefill,
    Polyline,
    Scene,
    Table,
    Vertex,
)
from chartpact.snapshot import (
    CHANNELS,
    FIELDS,
    Snapshot,
    SnapshotError,
    json_schema,
)
from chartpact.snapshot.structure import STUDY, fault

VALID = Draft202012Validator(json_schema())


def frame(**changes):
    return {
        "schema": 1,
        "chart": {"symbol": "ES", "timeframe": "5m"},
        "source": {"name": "by hand"},
        "studies": [],
        **changes,
    }


class Drawer:
    """An indicator that draws one of everything."""

    name, title, aliases, category = "drawer", "Drawer AI", (), "overlay"
    source, description, params, overlay = "user", "", (), True
    short_title = "DRW"

    def needs(self, bars, values):  # noqa: ARG002
        return {}

    def draw(self, bars, values, supplies, first=0):  # noqa: ARG002
        at, ahead = Anchor(3, 3, int(bars.time[3])), Anchor(None, len(bars) + 5, None)
        lost = Anchor(None, None, None)
        return Scene(
            labels=(Label(1, at, None, "none"), Label(2, at, 4500.25, "é", color="#2962ff80")),
            lines=(Line(1, at, 1, ahead, 1), Line(2, lost, 1, at, 2, color=None)),
            boxes=(Box(1, at, 2, ahead, 1),),
            tables=(Table(7, "top_right", 2, 1, cells=(Cell(1, 0, 0, "PDH", bgcolor="#ff0000"),)),),
            polylines=(Polyline(8, [Vertex(3, int(bars.time[3]), 1.5), Vertex(9, None, 2)]),),
            linefills=(Linefill(9, 1, 2, "#2962ff33", provisional=True),),
            limits={"labels": 50, "lines": 50, "boxes": 50, "polylines": 50},
        )


OWN = Catalogue({"drawer": Drawer()})


@pytest.fixture
def drawn():
    return charts.chart(cp.load("sample:es-5m"), ["drawer"], catalogue=OWN).snapshot()


def test_any_scene_of_ours_is_a_snapshot_without_problems(drawn):
    assert drawn.problems() == []
    assert not list(VALID.iter_errors(drawn.to_json()))
    study = drawn.studies[0]
    assert (study.name, study.data["id"], study.data["short_name"]) == (
        "Drawer AI",
        "drawer",
        "DRW",
    )
    assert {channel: len(study.records(channel)) for channel in CHANNELS} == {
        "labels": 2,
        "lines": 2,
        "boxes": 1,
        "cells": 1,
    }


def test_every_field_that_contracts_can_read_is_delivered_by_our_own_charts(drawn):
    for channel in CHANNELS:
        for record in drawn.studies[0].records(channel):
            assert set(FIELDS[channel]) <= set(record)
        assert all(drawn.delivers(channel, field) for field in FIELDS[channel])


def test_the_chart_is_confirmed_at_the_close_of_its_last_bar(drawn):
    bars = cp.load("sample:es-5m")
    assert drawn.chart == {
        "symbol": "ES",
        "timeframe": "5m",
        "confirmed": True,
        "timezone": "UTC",
        "day_roll": "18:00 America/New_York",
        "last_bar": len(bars) - 1,
        "last_time": int(bars.time[-1]),
        "previous_time": int(bars.time[-2]),
        "first_time": int(bars.time[0]),
        "last_price": float(bars.close[-1]),
        "as_of": int(bars.time[-1]) + 300_000,
        "tick_size": 0.25,
    }


def test_anchors_keep_what_is_not_known_apart(drawn):
    first, second = drawn.studies[0].records("lines")
    bars = len(cp.load("sample:es-5m"))
    assert first["x2"] == {"n": bars + 5, "bar": bars + 5, "time": None}
    assert second["x1"] == {"n": None, "bar": None, "time": None}


def test_a_table_becomes_cells_and_keeps_its_frame_beside_them(drawn):
    study = drawn.studies[0].data
    cell = study["cells"][0]
    assert (cell["table"], cell["position"], cell["text"]) == (7, "top_right", "PDH")
    assert cell["bgcolor"] == "#ff0000ff"
    assert study["tables"][0]["columns"] == 2
    assert "cells" not in study["tables"][0]


def test_polylines_and_linefills_are_carried_beside_the_channels_of_contracts(drawn):
    study = drawn.studies[0].data
    assert not {"polylines", "linefills"} & set(CHANNELS)
    time = int(cp.load("sample:es-5m").time[3])
    assert study["polylines"][0]["points"] == [
        {"bar": 3, "time": time, "y": 1.5},
        {"bar": 9, "time": None, "y": 2},
    ]
    assert study["linefills"] == [
        {"id": 9, "line1": 1, "line2": 2, "color": "#2962ff33", "provisional": True}
    ]
    assert study["limits"]["polylines"] == 50
    for wrong in ({"polylines": {}}, {"linefills": "x"}):
        with pytest.raises(SnapshotError, match="is not a list"):
            Snapshot(frame(studies=[{"name": "A", **wrong}]))


def test_an_indicator_that_draws_none_says_so_by_an_empty_list():
    plain = charts.chart(cp.load("sample:es-5m"), ["rsi"]).snapshot().studies[0].data
    assert plain["polylines"] == plain["linefills"] == []


def test_what_may_still_change_is_marked_in_the_record_of_any_object():
    at = Anchor(3, 3, 1)
    scene = Scene(
        labels=(Label(1, at, 1.0, provisional=True), Label(2, at, 1.0)),
        tables=(Table(3, "top_left", 1, 1, provisional=True),),
    )
    study = charts.Chart(
        cp.load("sample:es-5m"), (charts.Drawn("a", "a", title="A", scene=scene),)
    ).snapshot()
    assert not list(VALID.iter_errors(study.to_json()))
    first, second = study.studies[0].records("labels")
    assert first["provisional"] is True
    assert "provisional" not in second
    assert study.studies[0].data["tables"][0]["provisional"] is True


def test_json_there_and_back_loses_nothing(drawn, tmp_path):
    path = tmp_path / "drawn.json"
    path.write_text(drawn.dumps(), encoding="utf-8")
    assert Snapshot.load(path) == drawn
    assert json.loads(drawn.dumps()) == drawn.to_json()


def test_absent_and_null_stay_apart_and_unknown_keys_stay():
    data = frame(studies=[{"name": "A", "lines": [{"y1": None, "glow": 3}], "note": "x"}])
    back = Snapshot.from_json(json.loads(Snapshot(data).dumps())).to_json()
    assert back == data
    assert "y2" not in back["studies"][0]["lines"][0]
    assert Snapshot(data).studies[0].records("boxes") is None


def test_a_source_that_declares_nothing_delivers_everything():
    assert Snapshot(frame()).delivers("cells", "bgcolor")
    partly = Snapshot(frame(source={"name": "stock", "fields": {"lines": ["x1", "y1"]}}))
    assert partly.delivers("lines", "x1")
    assert not partly.delivers("lines", "x1.bar")
    assert not partly.delivers("cells", "text")


@in_one_test(
    ("data", "told"),
    [
        ([], "is not a snapshot"),
        (None, "is not a snapshot"),
        ({}, '"schema": 1 is missing'),
        (frame(schema=2), "schema 2 is not known"),
        (frame(schema=True), "schema True is not known"),
        (frame(chart=None), "chart is missing"),
        (frame(chart={"symbol": "ES"}), "chart.timeframe is missing"),
        (frame(chart={"symbol": "ES", "timeframe": "5m", "tick_size": 0}), "not above 0"),
        (frame(chart={"symbol": "ES", "timeframe": "5m", "as_of": "now"}), "not a whole number"),
        (frame(source={}), "source.name"),
        (frame(source={"name": "x", "price_step": "1"}), "not a finite number"),
        (frame(source={"name": "x", "fields": {"lines": "all"}}), "not a list of field names"),
        (frame(studies={}), "studies is missing"),
        (frame(studies=[[]]), "studies[0]"),
        (frame(studies=[{"labels": []}]), "studies[0].name is missing"),
        (frame(studies=[{"name": 3}]), "not a text"),
        (frame(studies=[{"name": "A", "lines": None}]), "studies[0].lines is not a list"),
        (frame(studies=[{"name": "A", "inputs": []}]), "inputs"),
        (frame(studies=[{"name": "A", "truncated": ["dots"]}]), "truncated"),
        (frame(studies=[{"name": "A", "limits": {"lines": "500"}}]), "limits"),
    ],
)
def test_what_is_not_a_snapshot_is_refused_with_its_place(data, told):
    with pytest.raises(SnapshotError) as refused:
        Snapshot.from_json(data)
    assert told in str(refused.value)


@in_one_test(
    ("record", "told"),
    [
        ("x", "is not an object"),
        ({"y1": "1"}, "lines[0].y1: '1' is not a finite number"),
        ({"y1": float("nan")}, "y1: nan is not a finite number"),
        ({"y1": 10**400}, "is not a finite number"),
        ({"x1": 5}, "x1: 5 is not an anchor"),
        ({"x1": {"n": 1.5}}, "its n 1.5 is not a whole number"),
        ({"style": "sold"}, "'sold' is not one of solid"),
        ({"color": 4294926889}, "4294926889 is not a colour"),
        ({"color": "blue"}, "'blue' is not a colour"),
        ({"width": True}, "True is not a whole number"),
        ({"extend": None}, "null stands here"),
        ({}, "lines[0].x1 is missing, though the source declares it"),
    ],
)
def test_problems_of_records_are_listed_not_raised(record, told):
    problems = Snapshot(frame(studies=[{"name": "A", "lines": [record]}])).problems()
    assert any(told in problem for problem in problems)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@settings(max_examples=examples(150), deadline=None)
@given(ANY_JSON, st.data())
def test_arbitrary_json_is_a_snapshot_or_refused(junk, data):
    whole = frame(studies=[{"name": "A", "lines": [{"y1": 1.0}], "limits": {}, "truncated": []}])
    place = data.draw(st.sampled_from([*whole, "name", "lines", "inputs", "truncated", "limits"]))
    damaged = copy.deepcopy(whole)
    (damaged if place in whole else damaged["studies"][0])[place] = junk
    for given_data in (junk, damaged):
        try:
            Snapshot.from_json(given_data).problems()
        except SnapshotError as refused:
            assert str(refused)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "not JSON"),
        ('{"schema": 1, "schema": 1}', "'schema' is there twice"),
        ("\x00", "not JSON"),
    ],
)
def test_a_file_that_holds_no_json_is_refused_with_its_name(tmp_path, text, told):
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(SnapshotError) as refused:
        Snapshot.load(path)
    assert "bad.json" in str(refused.value)
    assert told in str(refused.value)


def test_the_command_line_writes_what_was_drawn(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("chartpact.cli.snapshot.own_catalogue", lambda: OWN)
    path = tmp_path / "out.json"
    assert main(["snapshot", "--bars", "sample:es-5m", "-i", "drawer", "-o", str(path)]) == 0
    assert Snapshot.load(path).studies[0].name == "Drawer AI"
    asked = ["snapshot", "--bars", "sample:es-5m", "-i", "drawer", "-i", "rsi"]
    assert main(asked) == 0
    assert len(json.loads(capsys.readouterr().out)["studies"]) == 2
    assert main([*asked, "--study", "Drawer AI"]) == 0
    assert len(json.loads(capsys.readouterr().out)["studies"]) == 1
    assert main([*asked, "--study", "Drawer"]) == 2
    assert "there is no study 'Drawer'" in capsys.readouterr().err


def test_the_command_line_says_when_nothing_could_be_drawn(capsys):
    assert main(["snapshot", "--bars", "sample:es-5m", "-i", "no_such_thing"]) == 1
    assert "there is no indicator 'no_such_thing'" in capsys.readouterr().err


def test_inputs_are_the_indicators_parameters():
    snapshot = charts.chart(cp.load("sample:es-5m"), ["rsi:period=7"]).snapshot()
    assert snapshot.studies[0].inputs["period"] == 7
    assert not any(isinstance(value, np.generic) for value in snapshot.studies[0].inputs.values())


def test_a_text_longer_than_pines_longest_is_a_fault():
    text, name = FIELDS["labels"]["text"], STUDY["name"]
    assert (fault(text, "x" * 40_960), fault(name, "x" * 1000)) == (None, None)
    assert "is longer than 40960 characters" in fault(text, "x" * 40_961)
    assert "is longer than 1000 characters" in fault(name, "x" * 1001)
