"""`chartpact scripts`: a library from a shell, on a real database, with scripts that really run."""

import io
import json
import subprocess
import sys

import pytest

from chartpact.cli import BAD_INPUT, DONE, SCRIPT_ERROR, main

GOOD = """
PARAMS = [{"name": "n", "type": "int", "default": 3, "min": 1, "desc": "Bars"}]
META = {"title": "Average", "category": "overlay", "overlay": True}

def compute(ohlcv, params, chart):
    chart.line(ta.sma(ohlcv.close, params["n"]), title="SMA", color="orange")
"""
BETTER = GOOD.replace("sma", "ema").replace("Average", "Quicker average")
BROKEN = GOOD.replace("ta.sma", "ta.smaa")
FAILING = GOOD.replace("chart.line", "x = 1 // (len(ohlcv) - len(ohlcv))\n    chart.line")


@pytest.fixture(autouse=True)
def _database(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTPACT_DB", f"sqlite:///{tmp_path}/library.db")


@pytest.fixture
def file(tmp_path):
    def write(text: str, name: str = "average.star") -> str:
        (tmp_path / name).write_text(text)
        return str(tmp_path / name)

    return write


@pytest.fixture
def scripts(capsys):
    """Runs `chartpact scripts …` and gives exit code, stdout and stderr."""

    def run(*arguments: str):
        code = main(["scripts", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_a_script_lives_from_adding_to_removal_and_back(scripts, file):
    assert scripts("add", "avg", file(GOOD)) == (DONE, "", "avg is kept\n")
    code, out, _ = scripts("list")
    assert code == DONE
    assert out.split()[0] == "avg"
    assert out.endswith("Average\n")
    assert scripts("show", "avg") == (DONE, GOOD, "")
    assert scripts("update", "avg", file(BETTER))[0] == DONE
    assert scripts("show", "avg")[1] == BETTER
    assert scripts("show", "avg", "--version", "1")[1] == GOOD
    assert [line.split()[0] for line in scripts("history", "avg")[1].splitlines()] == ["2", "1"]
    assert scripts("restore", "avg", "1")[0] == DONE
    assert scripts("show", "avg")[1] == GOOD
    assert scripts("remove", "avg")[0] == DONE
    assert scripts("list")[1] == ""
    assert scripts("restore", "avg", "2")[0] == DONE
    assert scripts("show", "avg")[1] == BETTER


def test_the_name_of_the_file_will_do(scripts, file, monkeypatch):
    assert scripts("add", file(GOOD)) == (DONE, "", "average is kept\n")
    assert scripts("add", file(GOOD, "Bad-Name.star"))[0] == BAD_INPUT
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BETTER.encode())))
    assert scripts("update", "average", "-")[0] == DONE
    assert scripts("show", "average")[1] == BETTER
    code, _, err = scripts("add", "-")
    assert code == BAD_INPUT
    assert "needs a name: scripts add NAME -" in err


def test_json_is_alone_on_stdout_and_has_one_shape_for_every_change(scripts, file):
    code, out, _ = scripts("add", "avg", file(GOOD), "--json")
    told = json.loads(out)
    assert code == DONE
    assert told["ok"] is True
    [kept] = told["scripts"]
    assert (kept["name"], kept["title"], kept["params"][0]["default"]) == ("avg", "Average", 3)
    assert json.loads(scripts("list", "--json")[1]) == {"scripts": [kept]}
    shown = json.loads(scripts("show", "avg", "--json")[1])
    assert shown == {**kept, "source": GOOD}
    [version] = json.loads(scripts("history", "avg", "--json")[1])["versions"]
    assert (version["version"], version["source"]) == (1, GOOD)
    assert json.loads(scripts("show", "avg", "--version", "1", "--json")[1])["source"] == GOOD
    removed = json.loads(scripts("remove", "avg", "--json")[1])
    assert removed == {"ok": True, "scripts": [], "warnings": []}


@pytest.mark.parametrize(
    ("source", "step", "told"),
    [
        (BROKEN, "check", ":6:16: name: there is no ta.smaa"),
        (FAILING, "dry_run", "value: "),
        ("x = (", "parse", ":1:5: syntax: "),
        ("PARAMS = []\nMETA = {}\n", "presence", "compute"),
    ],
)
def test_a_script_with_errors_is_not_kept_and_they_point_at_the_place(
    scripts, file, source, step, told
):
    scripts("add", "avg", file(GOOD))
    for verb in ("add", "update"):
        code, out, err = scripts(verb, "avg", file(source))
        assert (code, out) == (SCRIPT_ERROR, "")
        assert told in err
    code, out, _ = scripts("add", "avg", file(source), "--json")
    answer = json.loads(out)
    assert (code, answer["ok"]) == (SCRIPT_ERROR, False)
    assert answer["errors"][0]["step"] == step
    assert set(answer["errors"][0]) == {"step", "kind", "line", "column", "message", "hint"}
    assert scripts("show", "avg")[1] == GOOD
    assert len(scripts("history", "avg")[1].splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["update", "avgg", "FILE"], "you have no indicator 'avgg': did you mean 'avg'"),
        (["show", "avgg"], "did you mean 'avg'"),
        (["show", "avg", "--version", "7"], "has no version 7; kept versions: 1"),
        (["history", "nothing"], "you have no indicator 'nothing'"),
        (["restore", "avg", "7"], "kept versions: 1"),
        (["remove", "avgg"], "did you mean 'avg'"),
        (["add", "Big Name", "FILE"], "is not a name for an indicator"),
        (["add", "../x", "FILE"], "is not a name for an indicator"),
        (["add", "x", "/no/such/file"], "/no/such/file: there is no such file"),
        (["import", "/no/such/file"], "/no/such/file: there is no such file"),
        (["import", "FILE"], "is not JSON"),
    ],
)
def test_what_cannot_be_done_is_bad_input_and_changes_nothing(scripts, file, arguments, told):
    scripts("add", "avg", file(GOOD))
    path = file(BETTER)
    code, out, err = scripts(*(path if each == "FILE" else each for each in arguments))
    assert (code, out) == (BAD_INPUT, "")
    assert told in err
    assert err.startswith("chartpact scripts: ")
    assert json.loads(scripts("export")[1])["scripts"] == [{"name": "avg", "source": GOOD}]


def test_a_library_goes_to_another_database_as_one_document(scripts, file, tmp_path):
    scripts("add", "one", file(GOOD))
    scripts("add", "two", file(BETTER))
    whole = str(tmp_path / "whole.json")
    assert scripts("export", "-o", whole) == (DONE, "", "")
    other = f"sqlite:///{tmp_path}/other/library.db"
    assert scripts("import", whole, "--db", other)[0] == DONE
    assert scripts("export", "--db", other)[1] == scripts("export")[1]
    assert scripts("export", "-o", "/no/such/place/x.json")[0] == BAD_INPUT


def test_an_import_with_one_broken_script_keeps_none_of_them(scripts, tmp_path):
    exported = {
        "format": "chartpact-library-1",
        "scripts": [{"name": "good", "source": GOOD}, {"name": "bad", "source": BROKEN}],
    }
    whole = tmp_path / "whole.json"
    whole.write_text(json.dumps(exported))
    code, _, err = scripts("import", str(whole))
    assert code == SCRIPT_ERROR
    assert err.startswith("bad:6:16: name: there is no ta.smaa")
    whole.write_text(json.dumps({**exported, "format": "other"}))
    assert scripts("import", str(whole))[0] == BAD_INPUT
    assert scripts("list", "--json")[1] == '{"scripts": []}\n'


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("sqlite:///:memory:", "keeps nothing"),
        ("library.db", "write sqlite:/// and the path of a file"),
        ("nonsense", "cannot be opened"),
        ("sqlite:////proc/no/library.db", "cannot be opened"),
        ("oracle://me:secret@nowhere/x", "cannot be opened"),
    ],
)
def test_a_database_that_cannot_be_opened_is_one_sentence(scripts, url, told):
    code, out, err = scripts("list", "--db", url)
    assert (code, out) == (BAD_INPUT, "")
    assert told in err
    assert "secret" not in err
    assert err.count("\n") == 1


def test_a_file_that_is_no_database_is_one_sentence(scripts, file):
    path = file("these are words, and far too many of them to be a header" * 99)
    code, _, err = scripts("list", "--db", f"sqlite:///{path}")
    assert code == BAD_INPUT
    assert "not a database" in err


def test_what_a_shell_keeps_another_shell_finds(file):
    command = [sys.executable, "-m", "chartpact", "scripts"]
    subprocess.run([*command, "add", "avg", file(GOOD)], check=True, timeout=600)
    shown = subprocess.run(
        [*command, "show", "avg"], check=True, capture_output=True, text=True, timeout=600
    )
    assert shown.stdout == GOOD


# ------------------------------------------------------------------------------------- drawing them


def drawn(capsys, *indicators: str) -> list[dict]:
    asked = [word for each in indicators for word in ("-i", each)]
    main(["chart", "sample:es-5m", "--bars", "5", "--json", *asked])
    return json.loads(capsys.readouterr().out)["indicators"]


def listed(capsys) -> dict[str, dict]:
    assert main(["indicators", "--json"]) == DONE
    told = json.loads(capsys.readouterr().out)["indicators"]
    return {each["name"]: each for each in told}


def test_kept_scripts_are_listed_and_drawn_like_the_others(scripts, file, capsys):
    scripts("add", "avg", file(GOOD))
    assert listed(capsys)["avg"]["source"] == "user"
    mine, builtin = drawn(capsys, "avg:n=2", "rsi")
    assert mine["id"] == "avg:n=2"
    assert len(mine["scene"]["plots"][0]["values"]) == 5
    assert "scene" in builtin
    assert main(["snapshot", "--bars", "sample:es-5m", "-i", "avg"]) == DONE


def test_a_fork_shadows_the_builtin_until_it_is_removed(scripts, file, capsys):
    main(["fork", "wavetrend"])
    fork = capsys.readouterr().out.replace('"title": "WaveTrend"', '"title": "My waves"')
    scripts("add", "wavetrend", file(fork))
    assert listed(capsys)["wavetrend"]["title"] == "My waves"
    scripts("remove", "wavetrend")
    assert listed(capsys)["wavetrend"]["source"] == "builtin"


def test_a_kept_script_that_fails_leaves_the_others_standing(scripts, file, capsys):
    source = GOOD.replace(
        "chart.line", 'if len(ohlcv) > 500:\n        fail("long")\n    chart.line'
    )
    scripts("add", "avg", file(source))
    failed, builtin = drawn(capsys, "avg", "rsi")
    assert "long" in failed["error"]["message"]
    assert "scene" in builtin


def test_a_library_that_cannot_be_read_is_told_and_the_builtins_are_drawn(
    file, capsys, monkeypatch
):
    monkeypatch.setenv("CHARTPACT_DB", f"sqlite:///{file('these are words ' * 99)}")
    assert main(["chart", "sample:es-5m", "-i", "rsi", "--json"]) == DONE
    shown = capsys.readouterr()
    assert json.loads(shown.out)["indicators"][0]["name"] == "rsi"
    assert "your own scripts are left out: the database" in shown.err
