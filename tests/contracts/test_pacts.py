"""The shipped contracts: their examples, their types, and what goes unnoticed (nothing)."""

import json
import random
from functools import cache
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator
from tests.cases import in_one_test

import chartpact as cp
from chartpact import pacts
from chartpact.contracts import find
from chartpact.contracts.check.totality import MachineRefusal
from chartpact.contracts.workbench import examples, exports
from chartpact.snapshot import Snapshot

NAMES = pacts.names()


@cache
def examples_of(name):
    return examples.load_all(pacts.folder(name) / "examples")


@cache
def contract_file(name):
    return yaml.safe_load((pacts.folder(name) / "contract.yaml").read_text())


@cache
def reading_of(name, example):
    """What the contract reads from its example."""
    return next(e for e in examples_of(name) if e.name == example).read(find(name))


EXAMPLES = [(name, example) for name in NAMES for example in examples_of(name)]
every_example = in_one_test(
    ("name", "example"), EXAMPLES, ids=[f"{name}-{example.name}" for name, example in EXAMPLES]
)


def test_the_four_documented_contracts_are_there():
    assert {"bias_ai", "ob_ai", "session_hunt_ai", "smt_divergences"} <= set(NAMES)


@every_example
def test_every_example_reads_as_expected(name, example):
    assert example.about
    assert examples.difference(example, reading_of(name, example.name)) is None


@every_example
def test_a_violation_names_a_place_in_the_contract_and_says_why(name, example):
    for violation in reading_of(name, example.name).violations:
        node = contract_file(name)
        for step in violation.path.split("."):
            assert step in node, violation.path
            node = node[step]
        assert len(violation.message) > 10
        shown = violation.to_json()
        assert (shown["contract"], shown["version"]) == (name, find(name).version)
        json.dumps(shown, allow_nan=False)


@in_one_test("name", NAMES)
def test_there_are_examples_of_every_state_and_refusal(name):
    contract, found = find(name), examples_of(name)
    assert len(found) >= 12
    states = {machine: set() for machine in contract.machines}
    for example in found:
        for track in reading_of(name, example.name).tracks or ():
            states[track.machine].add(track.state)
    for machine in contract.machines.values():
        assert states[machine.name] == set(machine.states)
    refused = {v["path"] for e in found if not e.conforming for v in e.expect["violations"]}
    assert {f"edge_cases.{edge}" for edge in contract.file.edge_cases} <= refused
    for machine in contract.machines.values():
        for row in machine.table.values():
            for refusal in row:
                if isinstance(refusal, MachineRefusal):
                    assert f"states.{machine.name}.rows.{refusal.name}" in refused


@in_one_test("name", NAMES)
def test_states_have_the_published_type(name):
    schema = exports.json_schema(find(name))
    Draft202012Validator.check_schema(schema)
    valid = Draft202012Validator(schema)
    for example in examples_of(name):
        if example.conforming:
            assert not list(valid.iter_errors(example.expect["state"]))


@in_one_test("name", NAMES)
def test_no_change_that_matters_goes_unnoticed(name):
    contract = find(name)
    result = examples.mutate(contract, examples_of(name))
    assert [str(each) for each in result.unnoticed] == []
    assert result.unshown == ()
    assert result.changes > 200
    mentioned = {need.field for needs in contract.needs.values() for need in needs}
    reached = " ".join(result.targets)
    # Whether a line is vertical, which side of a box is its left one, when an old level ended.
    tells_nothing = {"x2", "right"} if name != "smt_divergences" else set()
    for field in mentioned - tells_nothing:
        assert field in reached, field


def test_the_mutation_test_finds_the_midline_that_passes_for_a_bound(tmp_path):
    text = (pacts.folder("ob_ai") / "contract.yaml").read_text()
    start, end = text.index("  faint_bound:"), text.index("  stray_box:")
    blind = tmp_path / "contract.yaml"
    blind.write_text(text[:start] + text[end:])
    result = examples.mutate(find(blind), examples_of("ob_ai"))
    assert any("zone as a whole" in str(each) for each in result.unnoticed)


@every_example
def test_the_order_of_drawing_changes_nothing(name, example):
    contract, chance = find(name), random.Random(7)
    before = reading_of(name, example.name)
    data = json.loads(json.dumps(example.snapshot.to_json()))
    for study in data["studies"]:
        for channel in ("labels", "lines", "boxes", "cells"):
            chance.shuffle(study.get(channel, []))
    chance.shuffle(data["studies"])
    after = cp.read(contract, data, example.config, example.profile)
    assert after.state == before.state
    told = [sorted((v.kind, v.path, v.message) for v in r.violations) for r in (before, after)]
    assert told[0] == told[1]
    assert after.tracks is None or set(after.tracks) == set(before.tracks)


IGNORED = {"id", "width", "tooltip", "size", "text_align", "force_overlay", "border_width"}


@every_example
def test_what_the_contract_does_not_mention_changes_nothing(name, example):
    contract = find(name)
    needed = {str(need) for needs in contract.needs.values() for need in needs}
    data = json.loads(json.dumps(example.snapshot.to_json()))
    for study in data["studies"]:
        for channel in ("labels", "lines", "boxes", "cells"):
            for record in study.get(channel, []):
                for field in list(record):
                    if field in IGNORED and f"{channel}.{field}" not in needed:
                        record[field] = ["anything", None]
                record["a key of the future"] = 1
    after = cp.read(contract, data, example.config, example.profile)
    before = reading_of(name, example.name)
    assert after.state == before.state
    assert [(v.kind, v.path) for v in after.violations] == [
        (v.kind, v.path) for v in before.violations
    ]


def test_informational_and_cosmetic_objects_change_nothing():
    example = next(e for e in examples_of("ob_ai") if e.name == "informational_ignored")
    data = json.loads(json.dumps(example.snapshot.to_json()))
    data["studies"][0]["labels"] = data["studies"][0]["cells"] = []
    assert cp.read("ob_ai", data).state == example.expect["state"]


@in_one_test("name", NAMES)
def test_the_study_is_found_by_its_exact_title(name):
    title = find(name).title
    example = next(e for e in examples_of(name) if e.conforming)
    data = json.loads(json.dumps(example.snapshot.to_json()))
    near = [{**data["studies"][0], "name": each} for each in (title.lower(), f"{title} ", "x")]
    data["studies"] = [*near, *data["studies"]]
    reading = cp.read(name, Snapshot(data), example.config, example.profile)
    assert reading.state == example.expect["state"]


def test_a_snapshot_may_be_given_as_a_value_as_json_or_as_a_file(tmp_path):
    example = next(e for e in examples_of("ob_ai") if e.name == "both_sides")
    path = tmp_path / "drawn.json"
    path.write_text(example.snapshot.dumps())
    forms = (example.snapshot, example.snapshot.to_json(), str(path), Path(path))
    assert all(cp.read("ob_ai", form).state == example.expect["state"] for form in forms)


@in_one_test("name", NAMES)
def test_each_contract_accepts_a_tick_size(name):
    example = next(e for e in examples_of(name) if e.conforming)
    given = {**(example.config or {}), "tick_size": 0.25}
    reading = cp.read(name, example.snapshot, given, example.profile)
    assert reading.state == example.expect["state"]
    assert "tick_size" not in [each.key for each in reading.assumptions]
