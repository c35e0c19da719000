"""`chartpact check`, `run` and `fork`: what they print, and their exit codes."""

import io
import json
import sys

import pytest

from chartpact import sandbox
from chartpact.cli import BAD_INPUT, DONE, SCRIPT_ERROR, main

GOOD = """
PARAMS = [
    {"name": "n", "type": "int", "default": 3, "min": 1, "desc": "Bars"},
    {"name": "pair", "type": "symbol"},
]
META = {"title": "Spread", "overlay": False}

def compute(ohlcv, params, chart):
    print("bars", len(ohlcv))
    if params["pair"] != None:
        chart.line(ta.sma(ohlcv.close - params["pair"].close, params["n"]), title="Spread")
    chart.dot(5, 1.0, label="five")
"""
BROKEN = GOOD.replace("ta.sma", "ta.smaa")
FAILING = GOOD.replace('print("bars", len(ohlcv))', "x = 1 // (len(ohlcv) - len(ohlcv))")


# The loop over 5 000 × 5 000 turns is refused when it is entered: no processor time decides.
SLOW = """PARAMS = []
META = {"title": "Slow"}
def compute(ohlcv, params, chart):
    for i in range(3):
        for j in range(len(ohlcv) * len(ohlcv)):
            x = i * j
"""


@pytest.fixture
def script(tmp_path):
    def write(text: str) -> str:
        file = tmp_path / "spread.star"
        file.write_text(text)
        return str(file)

    return write


def test_check_of_a_good_script_tells_what_it_takes_and_costs(script, capsys):
    assert main(["check", script(GOOD)]) == DONE
    assert capsys.readouterr().out.startswith("Spread: fine; 2 parameters, ")


def test_check_json_has_the_documented_shape(script, capsys):
    assert main(["check", script(GOOD), "--json"]) == DONE
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"ok", "params", "meta", "steps", "steps_at_5000", "warnings"}
    assert told["ok"] is True
    assert told["warnings"] == []
    assert told["steps"] < told["steps_at_5000"] < 50 * told["steps"]
    assert told["meta"] == {"title": "Spread", "overlay": False}


def test_check_warns_at_the_place_where_more_bars_would_not_fit(script, capsys):
    file = script(SLOW)
    assert main(["check", file, "--json"]) == DONE
    shown = capsys.readouterr()
    (warning,) = json.loads(shown.out)["warnings"]
    assert set(warning) == {"step", "kind", "line", "column", "message", "hint"}
    assert (warning["step"], warning["kind"], warning["line"]) == ("dry_run", "budget", 5)
    assert f"{file}:5:18: warning: 5,000 bars take about " in shown.err


def test_check_of_a_broken_script_points_at_the_place(script, capsys):
    file = script(BROKEN)
    assert main(["check", file]) == SCRIPT_ERROR
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"{file}:11:20: name: there is no ta.smaa" in shown.err
    assert "did you mean ta.sma?" in shown.err
    lines = shown.err.splitlines()
    assert lines[2].index("^") == lines[1].index("ta.smaa")


def test_check_json_of_a_broken_script_lists_the_errors(script, capsys):
    assert main(["check", script(FAILING), "--json"]) == SCRIPT_ERROR
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    (error,) = told["errors"]
    assert set(error) == {"step", "kind", "line", "column", "message", "hint"}
    assert (error["step"], error["kind"], error["line"]) == ("dry_run", "value", 9)


def test_run_json_has_the_documented_shape(script, capsys):
    assert main(["run", script(GOOD), "sample:es-5m", "--param", "n=5", "--json"]) == DONE
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert set(told) == {"indicator", "bars", "steps", "scene"}
    assert told["indicator"] == "spread"
    assert told["scene"]["plots"][0]["title"] == "Spread"
    assert told["scene"]["signals"] == [
        {"bar": 5, "confirmed_bar": 5, "value": 1.0, "name": "five"}
    ]
    assert shown.err == f"bars {told['bars']}\n"


def test_run_tells_people_what_was_drawn(script, capsys):
    assert main(["run", script(GOOD), "sample:es-5m"]) == DONE
    shown = capsys.readouterr().out
    assert "spread: Spread\n" in shown
    assert "values: Spread" in shown
    assert "signal: five" in shown
    assert "steps: " in shown


def test_run_of_a_failing_script_is_an_error_in_json(script, capsys):
    assert main(["run", script(FAILING), "sample:es-5m", "--json"]) == SCRIPT_ERROR
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"error"}
    assert told["error"]["step"] == "run"
    assert "division by zero" in told["error"]["message"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--param", "n"], "write it as name=value"),
        (["--param", "n=0"], "out of range"),
        (["--param", "m=1"], "no parameter 'm'"),
        (["--param", "n=1", "--param", "n=2"], "given twice"),
        (["--param", "pair=sample:nope"], "no sample 'nope'"),
    ],
)
def test_bad_parameters_are_bad_usage(given, said, script, capsys):
    assert main(["run", script(GOOD), "sample:es-5m", *given]) == BAD_INPUT
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err


def test_a_missing_file_is_bad_usage(capsys):
    assert main(["check", "nowhere.star"]) == BAD_INPUT
    assert "nowhere.star" in capsys.readouterr().err


def test_a_file_that_is_no_text_is_bad_usage(tmp_path, capsys):
    file = tmp_path / "x.star"
    file.write_bytes(b"\xff\xfe")
    assert main(["check", str(file)]) == BAD_INPUT
    assert "UTF-8" in capsys.readouterr().err


def test_a_script_may_come_from_standard_input(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert main(["check", "-"]) == DONE
    assert "fine" in capsys.readouterr().out


def test_a_fork_passes_the_check_as_it_is(script, capsys):
    assert main(["fork", "cipher_b"]) == DONE
    source = capsys.readouterr().out
    assert main(["check", script(source)]) == DONE


def test_what_cannot_be_forked_is_bad_usage_and_names_what_can(capsys):
    told = {
        "funding": "'funding' cannot be forked: it draws readings that no script can fetch",
        "cipherb": "there is no builtin 'cipherb': did you mean 'cipher_b'?",
    }
    for name, why in told.items():
        assert main(["fork", name]) == BAD_INPUT
        assert why in capsys.readouterr().err


def test_no_text_of_a_script_reaches_the_terminal_as_a_command(script, capsys):
    hostile = GOOD.replace('"five"', r'"\x1b[2J\x07\r\u202e"').replace(
        '"bars"', r'"\x1b]0;title\x07"'
    )
    hostile = hostile.replace('"title": "Spread"', r'"title": "\x1b[31m"')
    for command in (["check"], ["run"], ["run", "--json"]):
        bars = [] if command == ["check"] else ["sample:es-5m"]
        assert main([*command, script(hostile), *bars]) == DONE
        said = capsys.readouterr()
        assert not any(each in said.out + said.err for each in "\x1b\x07\r\u202e")
        assert "u001b" in said.out
    (signal,) = json.loads(said.out)["scene"]["signals"]
    assert signal["name"] == "\x1b[2J\x07\r\u202e"
    assert main(["check", script(GOOD.replace('print("bars"', r'fail("\x1b[2J"'))]) == SCRIPT_ERROR
    assert "\\u001b[2J" in capsys.readouterr().err


def test_no_text_of_a_script_forges_a_line_of_the_terminal(script, capsys):
    forged = r"x\nchartpact run: error: forged\u2028  signal: FORGED"
    hostile = GOOD.replace('"five"', f'"{forged}"').replace('"bars"', f'"{forged}"')
    hostile = hostile.replace('"title": "Spread"', f'"title": "{forged}"')
    honest = []
    for source in (GOOD, hostile):
        for command in (["check"], ["run"]):
            bars = [] if command == ["check"] else ["sample:es-5m"]
            assert main([*command, script(source), *bars]) == DONE
            said = capsys.readouterr()
            honest.append((len(said.out.splitlines()), len(said.err.splitlines())))
    assert honest[:2] == honest[2:]
    assert main(["check", script(GOOD.replace('print("bars"', f'fail("{forged}"'))]) == SCRIPT_ERROR
    told = capsys.readouterr().err.splitlines()
    assert not [line for line in told if line.startswith(("chartpact run: error", "  signal"))]


@pytest.mark.parametrize("more", [[], ["--json"], ["--json", "--bars", "50"]])
def test_a_run_with_a_picture_runs_the_script_once(script, tmp_path, capsys, monkeypatch, more):
    runs = []
    run = sandbox.run
    monkeypatch.setattr(
        sandbox, "run", lambda *args, **named: runs.append(args) or run(*args, **named)
    )
    picture = tmp_path / "spread.png"
    assert main(["run", script(GOOD), "sample:es-5m", "-o", str(picture), *more]) == DONE
    assert len(runs) == 1
    assert capsys.readouterr().err.count("bars ") == 1
    assert picture.read_bytes().startswith(b"\x89PNG")
