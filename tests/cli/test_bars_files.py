"""Files of bars on the command line: what was guessed of them is on stderr."""

import json

from chartpact.cli import BAD_INPUT, DONE, main

ROWS = "".join(f"{1_709_544_600 + 300 * n},10,12,9,11,100\n" for n in range(5))


def test_a_tradingview_export_says_what_its_name_told(tmp_path, capsys):
    path = tmp_path / "CME_MINI_ES1!, 5.csv"
    path.write_text(f"time,open,high,low,close,Volume\n{ROWS}")
    assert main(["chart", str(path), "--json"]) == DONE
    shown = capsys.readouterr()
    assert json.loads(shown.out)["symbol"] == "CME_MINI:ES1!"
    assert shown.err == (
        "note: CME_MINI_ES1!, 5.csv: symbol CME_MINI:ES1! and timeframe 5m by the file's name\n"
    )
    assert main(["chart", str(path), "--symbol", "ES", "--timeframe", "5m", "--json"]) == DONE
    assert capsys.readouterr().err == ""


def test_a_question_names_the_option_that_answers_it(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    row = "{day};1,234;1,236;1,233;1,235\n"
    days = ("05.04.2024 9:30 AM", "04.04.2024 9:30 AM", "03.04.2024 9:30 AM")
    path.write_text("Tag;Auf;Hoch;Tief;Zu\n" + "".join(row.format(day=day) for day in days))
    answers = []
    for option, value in (
        ("--columns", "time=Tag,open=Auf,high=Hoch,low=Tief,close=Zu"),
        ("--date-order", "dmy"),
        ("--bars-tz", "Europe/Berlin"),
        ("--decimal", ","),
    ):
        assert main(["chart", str(path), "--json", *answers]) == BAD_INPUT
        assert option in capsys.readouterr().err
        answers += [option, value]
    assert main(["chart", str(path), "--json", *answers]) == DONE
    shown = capsys.readouterr()
    assert len(json.loads(shown.out)["time"]) == 3
    assert shown.err == "note: mine.csv: rows were newest first, and are turned around\n"
    assert main(["chart", str(path), "--json", *answers, "--no-sort"]) == BAD_INPUT
    assert "oldest first" in capsys.readouterr().err
