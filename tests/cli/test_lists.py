"""`chartpact indicators NAME` and `chartpact symbols`."""

import json

from chartpact.bars import samples
from chartpact.cli import BAD_INPUT, DONE, main
from chartpact.sources.configuration import VARIABLE


def test_an_indicator_is_told_with_what_each_parameter_means(capsys):
    assert main(["indicators", "bollinger"]) == DONE
    shown = capsys.readouterr().out
    assert shown.startswith("bbands: Bollinger Bands\n")
    assert "period   int, default 20; from 1 to 5000: Bars in the window" in shown
    assert main(["indicators", "bollinger", "--json"]) == DONE
    [bands] = json.loads(capsys.readouterr().out)["indicators"]
    assert bands["name"] == "bbands"
    assert main(["indicators", "bolinger"]) == BAD_INPUT
    assert "did you mean 'bollinger'" in capsys.readouterr().err


def test_symbols_are_the_samples_and_those_of_each_source(capsys, tmp_path, monkeypatch):
    assert main(["symbols"]) == DONE
    shown = capsys.readouterr()
    assert all(f"sample:{name}" in shown.out for name in samples.SAMPLES)
    assert VARIABLE in shown.err
    (tmp_path / "ES_1m.csv").write_text("time,open,high,low,close\n")
    monkeypatch.setenv(VARIABLE, f"data=folder:{tmp_path}")
    assert main(["symbols", "--json"]) == DONE
    shown = capsys.readouterr()
    listed = json.loads(shown.out)
    assert shown.err == ""
    assert {"symbol": "ES_1m@data", "timeframe": None, "source": "data", "synthetic": False} in (
        listed["symbols"]
    )
    assert [source["source"] for source in listed["sources"]] == ["sample", "data"]


def test_a_source_that_is_not_configured_is_told_how_to_be(capsys, monkeypatch):
    monkeypatch.setenv(VARIABLE, "")
    assert main(["chart", "AAPL@yahoo"]) == BAD_INPUT
    assert f'set {VARIABLE}="yahoo=yfinance"' in capsys.readouterr().err
    monkeypatch.setattr("chartpact.sources.configuration.find_spec", lambda _: None)
    assert main(["chart", "AAPL@yahoo"]) == BAD_INPUT
    assert "and install 'chartpact[yahoo]'" in capsys.readouterr().err
    assert main(["chart", "BTC/USDT@binance"]) == BAD_INPUT
    assert "binance=ccxt:binance for an exchange" in capsys.readouterr().err
