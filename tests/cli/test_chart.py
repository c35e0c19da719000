"""`chartpact indicators` and `chartpact chart`, as a shell sees them."""

import json

import pytest

from chartpact.catalogue import Catalogue
from chartpact.cli import ALL_FAILED, BAD_INPUT, DONE, main

SAMPLE = "sample:es-5m"


def test_the_list_is_for_people_or_for_programs(capsys):
    assert main(["indicators"]) == DONE
    text = capsys.readouterr().out
    assert "bollinger" in text
    assert "period=20" in text
    assert main(["indicators", "--json"]) == DONE
    shown = capsys.readouterr()
    assert shown.err == ""
    listed = json.loads(shown.out)["indicators"]
    assert len(listed) >= 38
    bands = next(each for each in listed if each["name"] == "bbands")
    assert set(bands) == {
        "name", "title", "aliases", "category", "source", "description", "params",
    }  # fmt: skip
    assert bands["params"][0] == {
        "name": "period", "type": "int", "default": 20, "min": 1, "max": 5000, "options": None,
        "desc": "Bars in the window",
    }  # fmt: skip


def test_json_is_alone_on_stdout_and_errors_stand_beside_the_good_results(capsys):
    asked = ["-i", "rsi:period=7", "-i", "ris", "-i", "rsi:period=21"]
    assert main(["chart", SAMPLE, *asked, "--json", "--bars", "20"]) == DONE
    shown = capsys.readouterr()
    data = json.loads(shown.out)
    assert [each["id"] for each in data["indicators"]] == ["rsi:period=7", "ris", "rsi:period=21"]
    assert data["indicators"][1]["error"]["hint"].startswith("did you mean 'rsi'")
    assert len(data["time"]) == 20
    assert shown.err.startswith("ris: there is no indicator 'ris'")


def test_a_path_stands_where_an_indicator_is_asked_for(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    declared = 'PARAMS = [{"name": "n", "type": "int", "default": 3}]\nMETA = {"title": "Mine"}\n'
    body = 'def compute(ohlcv, params, chart):\n    chart.line(ta.sma(ohlcv.close, params["n"]))\n'
    (tmp_path / "rsi.star").write_text(declared + body)
    (tmp_path / "bad.star").write_text("def compute(:\n")
    asked = ["./rsi.star:n=5", "rsi", "bad.star", "none.star", "./rsi.star:m=5"]
    flags = [part for name in asked for part in ("-i", name)]
    assert main(["chart", SAMPLE, *flags, "--json", "--bars", "20"]) == DONE
    mine, builtin, *wrong = json.loads(capsys.readouterr().out)["indicators"]
    assert (mine["id"], len(mine["scene"]["plots"][0]["values"])) == ("./rsi.star:n=5", 20)
    assert builtin["id"] == "rsi"
    assert "error" not in builtin
    assert [(each["error"]["kind"], each["error"].get("line")) for each in wrong] == [
        ("syntax", 1), ("value", None), ("name", None),
    ]  # fmt: skip
    assert wrong[1]["error"]["message"].startswith("none.star: ")
    assert main(["snapshot", "--bars", SAMPLE, "-i", "./rsi.star"]) == DONE


def test_a_path_is_an_unknown_name_to_a_plan_alone(tmp_path):
    file = tmp_path / "mine.star"
    file.write_text("secret")
    (plan,) = Catalogue().plan(str(file))
    assert plan.problem is not None
    assert plan.problem.message.startswith("there is no indicator")


@pytest.mark.parametrize("flags", [["--summary"], []])
def test_the_summary_is_what_is_shown_otherwise(capsys, flags):
    assert main(["chart", SAMPLE, "-i", "macd", *flags]) == DONE
    assert "macd: MACD" in capsys.readouterr().out


def test_no_indicator_is_no_failure(capsys):
    assert main(["chart", SAMPLE]) == DONE
    assert capsys.readouterr().out.startswith("ES 5m (synthetic sample data)")


def test_when_all_fail_the_exit_code_tells(capsys):
    assert main(["chart", SAMPLE, "-i", "ris", "-i", "rsi:period=x", "--json"]) == ALL_FAILED
    assert len(json.loads(capsys.readouterr().out)["indicators"]) == 2


@pytest.mark.parametrize("arguments", [
    ["nowhere.csv"], ["sample:nothing"], [SAMPLE, "--bars", "0"], [SAMPLE, "--timeframe", "7x"],
    [SAMPLE, "--tz", "Mars"], [SAMPLE, "--tz", "Mars", "--json"],
])  # fmt: skip
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, arguments):
    assert main(["chart", *arguments, "-i", "rsi"]) == BAD_INPUT
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("chartpact chart: ")
    assert shown.err.count("\n") == 1


def test_json_and_summary_exclude_each_other(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["chart", SAMPLE, "--json", "--summary"])
    assert stop.value.code == BAD_INPUT
    capsys.readouterr()


def test_the_user_may_know_better_than_the_file(capsys, tmp_path):
    path = tmp_path / "bars.csv"
    rows = [f"2024-03-04 {hour:02d}:00:00,1,2,1,2,5" for hour in range(1, 6)]
    path.write_text("\n".join(["time,open,high,low,close,volume", *rows]))
    options = ["--bars-tz", "Europe/Berlin", "--stamp", "close", "--symbol", "DAX"]
    options += ["--market", "listed", "--tick-size", "0.5"]
    assert main(["chart", str(path), *options, "--json"]) == DONE
    data = json.loads(capsys.readouterr().out)
    assert (data["symbol"], data["timeframe"], data["synthetic"]) == ("DAX", "1h", False)
    assert data["time"][0] == 1_709_506_800_000  # 23:00Z on the evening before
    assert main(["chart", str(path)]) == BAD_INPUT  # naive times need a zone
    capsys.readouterr()
