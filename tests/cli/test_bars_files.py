"""Files of bars on the command line: what was guessed of them is on stderr."""

import json

from chartpact.cli import DONE, main

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
