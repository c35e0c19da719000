"""`chartpact study`: the table, JSON, the picture, exit codes and the local ledger."""

import json

import pytest
from tests.studies.conftest import EARLY

import chartpact as cp
from chartpact.cli import BAD_INPUT, DONE, REWRITTEN, SCRIPT_ERROR, VIOLATION, main

BARS = "sample:es-5m"
SIDES = ("--long", "flip_up", "--short", "flip_down")


@pytest.fixture(autouse=True)
def ledger(monkeypatch, tmp_path):
    """A ledger of one's own."""
    monkeypatch.setenv("CHARTPACT_DB", f"sqlite:///{tmp_path}/library.db")


def test_a_table_for_people_and_what_it_says(capsys):
    assert main(["study", "supertrend", BARS, *SIDES]) == DONE
    out = capsys.readouterr().out
    assert "p alone" in out
    assert "flip_up long" in out
    assert "The bars are synthetic: nothing can be there." in out
    assert "0 earlier tests" in out


def test_json_alone_on_stdout_and_the_ledger_counts(capsys):
    for before in (0, 6, 12):
        assert main(["study", "supertrend", BARS, *SIDES, "--json"]) == DONE
        answer = json.loads(capsys.readouterr().out)
        assert answer["honesty"]["tests_before"] == before
        assert answer["signals"][0]["horizons"][0]["p_ledger"] is not None


def test_a_second_look_at_the_hold_out_is_told(capsys):
    for seen in (0, 1):
        assert main(["study", "supertrend", BARS, *SIDES, "--confirm", "--json"]) == DONE
        confirmed = json.loads(capsys.readouterr().out)["confirmed"]
        assert confirmed["seen_before"] == seen
    assert "seen before, once" in confirmed["says"]


def test_the_picture_has_the_red_stretch_between_drawn_and_entered(tmp_path, capsys):
    for name in ("s.svg", "s.png"):
        assert main(["study", "supertrend", BARS, *SIDES, "-o", str(tmp_path / name)]) == DONE
    svg = (tmp_path / "s.svg").read_text()
    assert ">drawn<" in svg
    assert ">entered<" in svg
    assert 'fill="#f23645" fill-opacity="0.2"' in svg
    assert (tmp_path / "s.png").read_bytes().startswith(b"\x89PNG")
    capsys.readouterr()


def test_exit_codes_say_what_kind_of_thing_went_wrong(tmp_path, capsys):
    assert main(["study", "supertrend", BARS, "--json"]) == VIOLATION
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "no_side"
    assert main(["study", "rsi", BARS]) == VIOLATION
    assert main(["study", "no_such", BARS]) == BAD_INPUT
    assert main(["study", "supertrend", BARS, *SIDES, "--horizons", "x"]) == BAD_INPUT
    assert main(["study", "supertrend", BARS, *SIDES, "--horizons", "500"]) == VIOLATION
    early = tmp_path / "early.star"
    early.write_text(EARLY)
    assert main(["study", str(early), BARS, "--long", "pivot"]) == REWRITTEN
    assert "fifty" not in capsys.readouterr().out
    early.write_text(EARLY.replace("ta.pivot_low", "ta.pivot_lw"))
    assert main(["study", str(early), BARS, "--long", "pivot"]) == SCRIPT_ERROR


def test_python_says_the_same(tmp_path):
    study = cp.study("supertrend", "sample:es-5m", long=["flip_up"], short=["flip_down"])
    assert study.answer.honesty.tests == 6
    assert "flip_up long" in str(study)
    assert study.save(tmp_path / "s.svg").exists()
    assert study.to_json()["study"] == 1


def test_without_a_database_a_study_is_not_counted_and_says_so(monkeypatch):
    monkeypatch.setenv("CHARTPACT_DB", "sqlite:///:memory:")
    with pytest.warns(UserWarning, match="not counted"):
        study = cp.study("supertrend", "sample:es-5m", long=["flip_up"])
    assert study.answer.honesty.tests_before is None
