"""The verbs: their JSON, their exit codes, and their words for people."""

import io
import json

import drawings as draw
import pytest

from chartpact import pacts
from chartpact.cli import main


def run(capsys, *argv):
    code = main(list(argv))
    out, err = capsys.readouterr()
    return code, out, err


def run_json(capsys, *argv):
    code, out, _ = run(capsys, *argv, "--json")
    return code, json.loads(out)


@pytest.fixture
def drawn(tmp_path):
    path = tmp_path / "drawn.json"
    path.write_text(json.dumps(draw.snapshot(draw.ob(draw.block(300, 5875.0, 5872.5)))))
    return str(path)


def test_read_gives_the_state_with_its_source_and_assumptions(capsys, drawn):
    code, found = run_json(capsys, "read", "ob_ai", "--snapshot", drawn)
    assert code == 0
    told = {"contract", "version", "state", "as_of", "source", "assumptions"}
    assert set(found) == {*told, "confirmed", "tracks"}
    assert found["state"]["order_blocks"]["bullish"][0]["high"] == 5875.0
    assert found["source"] == "drawn by hand"
    assert {"key": "base_style", "value": "solid", "from": "default"} in found["assumptions"]
    assert {"key": "tick_size", "value": 0.25, "from": "chart"} in found["assumptions"]


def test_a_person_is_told_what_was_assumed(capsys, drawn):
    code, out, err = run(capsys, "read", "ob_ai", "--snapshot", drawn)
    assert code == 0
    assert json.loads(out)["order_blocks"]["bullish"][0]["high"] == 5875.0
    assert 'assumed: base_style = "solid" (the contract\'s default)' in err
    assert "assumed: tick_size = 0.25 (from the chart)" in err


def test_a_violation_is_exit_code_3_and_nothing_else_is_printed(capsys, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(draw.snapshot(draw.ob(draw.block(300, 5875.0, 5872.5)[:1]))))
    code, found = run_json(capsys, "read", "ob_ai", "--snapshot", str(path))
    assert code == 3
    assert set(found) == {
        "contract", "version", "violations", "as_of", "source", "assumptions",
        "confirmed", "untracked",
    }  # fmt: skip
    first = found["violations"][0]
    assert set(first) == {"kind", "path", "message", "object", "contract", "version"}
    assert first["object"]["y1"] == 5875.0
    code, out, err = run(capsys, "read", "ob_ai", "--snapshot", str(path))
    assert (code, out) == (3, "")
    assert "missing at elements.zone.parts.bottom" in err


def test_config_comes_from_json_or_yaml_and_profiles_by_name(capsys, tmp_path):
    path = tmp_path / "drawn.json"
    path.write_text(json.dumps(draw.snapshot(draw.bias("before"))))
    colors = {"before_raid_color": draw.BEFORE, "after_raid_color": draw.AFTER}
    as_json, as_yaml = tmp_path / "c.json", tmp_path / "c.yaml"
    as_json.write_text(json.dumps(colors))
    as_yaml.write_text("".join(f'{key}: "{value}"\n' for key, value in colors.items()))
    asked = ["read", "bias_ai", "--snapshot", str(path)]
    states = []
    for extra in (["--config", str(as_json)], ["--config", str(as_yaml)], ["--profile", "tfo"]):
        code, found = run_json(capsys, *asked, *extra)
        assert code == 0
        states.append(found["state"])
    assert states[0] == states[1] == states[2]
    code, found = run_json(capsys, *asked)
    assert (code, found["violations"][0]["kind"]) == (3, "config")
    code, found = run_json(capsys, *asked, "--profile", "nobody")
    assert (code, found["violations"][0]["path"]) == (3, "profiles")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "not JSON"),
        ("[]", "is not a snapshot"),
        ('{"schema": 1}', "chart is missing"),
        ('{"schema": 9, "chart": {}}', "schema 9"),
        ("[" * 50_000, "nested too deeply"),
    ],
)
def test_what_is_no_snapshot_is_bad_input(capsys, tmp_path, text, told):
    path = tmp_path / "bad.json"
    path.write_text(text)
    code, out, err = run(capsys, "read", "ob_ai", "--snapshot", str(path), "--json")
    assert (code, out) == (2, "")
    assert told in err


def test_bad_usage_is_exit_code_2_with_one_clear_sentence(capsys, drawn, tmp_path):
    assert run(capsys, "read", "nobody_ai", "--snapshot", drawn)[0] == 2
    assert run(capsys, "read", "ob_ai", "--snapshot", str(tmp_path / "none.json"))[0] == 2
    missing = run(capsys, "read", "ob_ai", "--snapshot", drawn, "--config", "nowhere.json")
    assert missing[0] == 2
    assert "nowhere.json" in missing[2]
    listed = tmp_path / "list.json"
    listed.write_text("[1]")
    code, _, err = run(capsys, "read", "ob_ai", "--snapshot", drawn, "--config", str(listed))
    assert code == 2
    assert "maps keys to values" in err
    code, _, err = run(capsys, "read", "ob_ai", "--snapshot", drawn, "--param", "a=1")
    assert code == 2
    with pytest.raises(SystemExit) as stopped:
        main(["read", "ob_ai"])
    assert stopped.value.code == 2


def test_what_does_not_fit_the_contract_is_named_the_picture_or_the_configuration(capsys, drawn):
    assert main(["read", "ob_ai", "--snapshot", drawn, "--profile", "tfo"]) == 3
    told = capsys.readouterr().err
    assert "ob_ai 2.1.0: the configuration does not fit" in told
    assert "there is no profile 'tfo'; the contract has none" in told
    assert main(["read", "bias_ai", "--snapshot", drawn]) == 3
    assert "the picture breaks the contract" in capsys.readouterr().err


def test_a_person_is_told_which_object_broke_the_contract(capsys, tmp_path):
    lines = [
        draw.line(3, price, "#2962ff", id=identity)
        for identity, price in ((71, 5000.0), (72, 5010.0), (73, 5020.0))
    ]
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(draw.snapshot(draw.study("OB AI", lines=lines, boxes=[]))))
    assert main(["read", "ob_ai", "--snapshot", str(path)]) == 3
    told = capsys.readouterr().err
    assert "the picture breaks the contract" in told
    assert '    {"id": 7' in told


def test_every_fault_of_a_contract_file_stands_in_one_line(capsys, drawn, tmp_path):
    path = tmp_path / "wrong.yaml"
    path.write_text("contract: wrong\nversion: 1\nidentity: {}\nelements: {}\n")
    assert main(["read", str(path), "--snapshot", drawn]) == 2
    told = capsys.readouterr().err
    assert "wrong.yaml: line " in told
    assert "; line " in told
    assert "\\n" not in told


def test_a_snapshot_may_come_from_stdin(capsys, drawn, monkeypatch):
    with open(drawn, "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(file.read())))
    assert run_json(capsys, "read", "ob_ai", "--snapshot", "-")[0] == 0


def test_bars_are_drawn_by_the_indicator_of_the_contracts_name(capsys, tmp_path):
    contract = tmp_path / "contract.yaml"
    contract.write_text(
        "contract: rsi\nversion: 1.0.0\nidentity: {pine_title: Relative Strength Index}\n"
        "config: {period: {type: number, default: 0}}\n"
        "channels: {labels: informational}\nelements: {any_label: {from: labels, count: 0..1}}\n"
        "output: {period: period, text: any_label.text}\n"
    )
    asked = ["read", str(contract), "--bars", "sample:es-5m"]
    code, found = run_json(capsys, *asked, "--param", "period=9")
    assert (code, found["state"]) == (0, {"period": 9, "text": None})
    assert found["assumptions"] == [{"key": "period", "value": 9, "from": "inputs"}]
    assert found["source"] == "chartpact"
    for wrong, told in (("perod=9", "period"), ("period=0", "period"), ("period=x", "period")):
        code, out, err = run(capsys, *asked, "--param", wrong)
        assert (code, out, err.count("\n"), told in err) == (2, "", 1, True), err
    code, _, err = run(capsys, "read", "bias_ai", "--bars", "sample:es-5m")
    if code != 0:
        assert code in (2, 3)
        assert "bias_ai" in err


def test_list_and_show_tell_what_there_is(capsys):
    code, found = run_json(capsys, "contract", "list")
    assert code == 0
    assert {each["name"] for each in found["contracts"]} == set(pacts.names())
    code, out, _ = run(capsys, "contract", "show", "ob_ai")
    assert out == (pacts.folder("ob_ai") / "contract.yaml").read_text()
    code, found = run_json(capsys, "contract", "show", "ob_ai")
    assert found["needs"]["boxes"] == [
        "bgcolor", "bottom", "left", "left.bar", "right", "right.bar", "top",
    ]  # fmt: skip
    assert found["schema"]["properties"]["order_blocks"]["required"] == ["bullish", "bearish"]
    assert "class ObAi(TypedDict)" in run(capsys, "contract", "show", "ob_ai", "--python")[1]
    assert "## 3 Element dictionary" in run(capsys, "contract", "show", "ob_ai", "--page")[1]
    assert json.loads(run(capsys, "contract", "show", "ob_ai", "--schema")[1])["type"] == "object"


def test_check_names_the_line_and_what_would_be_right(capsys, tmp_path):
    text = (pacts.folder("ob_ai") / "contract.yaml").read_text()
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert run_json(capsys, "contract", "check", str(path))[1]["ok"] is True
    path.write_text(text.replace("top.style != bottom.style", "top.stile != bottom.style"))
    code, found = run_json(capsys, "contract", "check", str(path))
    assert code == 2
    problem = found["errors"][0]
    line = text.splitlines()[problem["line"] - 1]
    assert "top.style != bottom.style" in line
    assert problem["path"] == "edge_cases.mixed_style.when"
    assert problem["hint"] == "did you mean 'style'?"
    code, out, err = run(capsys, "contract", "check", str(path))
    assert (code, out) == (2, "")
    assert f"line {problem['line']}" in err
    assert run(capsys, "contract", "check", str(tmp_path / "nowhere.yaml"))[0] == 2


def test_test_runs_the_examples_and_the_mutations(capsys, tmp_path):
    code, found = run_json(capsys, "contract", "test", "smt_divergences")
    assert code == 0
    assert found["ok"] and all(each["ok"] for each in found["examples"])
    assert found["mutation"]["changes"] > 100
    text = (pacts.folder("smt_divergences") / "contract.yaml").read_text()
    (tmp_path / "contract.yaml").write_text(text.replace("default: 20,", "default: 21,"))
    folder = tmp_path / "examples"
    folder.mkdir()
    for path in (pacts.folder("smt_divergences") / "examples").glob("*.json"):
        (folder / path.name).write_text(path.read_text())
    code, found = run_json(capsys, "contract", "test", str(tmp_path))
    assert code == 3
    assert [each["name"] for each in found["examples"] if not each["ok"]] == ["expired"]
    (folder / "bad.json").write_text("{}")
    assert run(capsys, "contract", "test", str(tmp_path))[0] == 2


def test_diff_classifies_and_demands_reserved_ids(capsys, tmp_path):
    text = (pacts.folder("bias_ai") / "contract.yaml").read_text()
    new = tmp_path / "new.yaml"
    new.write_text(text.replace("  pdl_swept: day.pdl_mark == 'after'\n", ""))
    code, found = run_json(capsys, "contract", "diff", "bias_ai", str(new))
    assert code == 3
    assert (found["class"], found["unreserved"]) == ("major", ["output.pdl_swept"])
    new.write_text(new.read_text() + "reserved: {output: [pdl_swept]}\n")
    code, found = run_json(capsys, "contract", "diff", "bias_ai", str(new))
    assert (code, found["class"], found["next_version"]) == (3, "major", "3.0.0")
    new.write_text(new.read_text().replace("version: 2.0.0", "version: 3.0.0", 1))
    code, found = run_json(capsys, "contract", "diff", "bias_ai", str(new))
    assert (code, found["class"], found["next_version"]) == (0, "major", "3.0.0")
    code, out, _ = run(capsys, "contract", "diff", "bias_ai", "bias_ai")
    assert (code, out) == (0, "2.0.0 → 2.0.0: none; the next version is 2.0.0\n")
