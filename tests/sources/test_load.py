"""`SYMBOL@SOURCE` through the doors: the Python API and the command line."""

import json
import sys
from types import SimpleNamespace

import pytest
from tests.sources import standin

import chartpact as cp
from chartpact.bars import BarsError, SourceNotConfigured
from chartpact.cli import BAD_INPUT, DONE, UNREACHABLE, main
from chartpact.sandbox import host_probe
from chartpact.sources import configuration


@pytest.fixture
def configure(folder, monkeypatch):
    """The environment of an operator who has a folder and an exchange."""

    def shop(_options):
        client = standin.Client()
        client.markets = {}
        return client

    configuration._directories.clear()
    monkeypatch.setitem(sys.modules, "ccxt", SimpleNamespace(exchanges=["shop"], shop=shop))
    monkeypatch.setattr("time.time_ns", lambda: standin.NOW * 1_000_000)
    monkeypatch.setenv("CHARTPACT_SOURCES", f"data=folder:{folder}; kiosk=ccxt:shop")
    yield monkeypatch
    configuration._directories.clear()


@pytest.mark.usefixtures("configure")
def test_python_loads_bars_by_their_names():
    assert len(cp.load("ES_1h@data")) == 10
    assert cp.load("NQ@data", timeframe="2h").timeframe == "2h"
    bars = cp.load("BTC/USDT@kiosk", symbol="BTC", tick_size=0.25)
    assert (bars.symbol, bars.tick_size, len(bars)) == ("BTC", 0.25, 1000)


@pytest.mark.usefixtures("configure")
def test_days_that_begin_when_the_caller_says_are_made_of_shorter_bars():
    days = cp.load("BTC/USDT@kiosk", timeframe="1D", day_roll="17:00 America/New_York")
    assert days.day_roll == "17:00 America/New_York"
    assert {int(time) % 86_400_000 for time in days.time} == {22 * 3_600_000}


@pytest.mark.usefixtures("configure")
def test_days_of_the_market_that_the_caller_names_are_made_of_shorter_bars():
    everyday, weekdays = (
        cp.load("BTC/USDT@kiosk", timeframe="1D", **option) for option in ({}, {"market": "fx"})
    )
    assert (everyday.market, weekdays.market) == ("24x7", "fx")
    assert set((everyday.trading_day + 3) % 7) == set(range(7))
    assert set((weekdays.trading_day + 3) % 7) == set(range(5))


@pytest.mark.usefixtures("configure")
def test_what_only_files_have_is_refused():
    for option in ({"tz": "UTC"}, {"stamp": "close"}):
        with pytest.raises(BarsError, match=r"(tz|stamp) is for files"):
            cp.load("NQ@data", **option)


def test_without_a_source_of_that_name_the_error_says_so(configure):
    with pytest.raises(SourceNotConfigured, match="there is data, kiosk"):
        cp.load("BTC/USDT@binance")
    configure.delenv("CHARTPACT_SOURCES")
    with pytest.raises(SourceNotConfigured, match="there is none besides sample:NAME"):
        cp.load("BTC/USDT@binance")


@pytest.mark.usefixtures("configure")
def test_the_command_line_draws_them(capsys):
    for bars in ("NQ@data", "BTC/USDT@kiosk", "BTC/USDT:USDT@kiosk"):
        assert main(["chart", bars, "-i", "rsi:period=3", "--json"]) == DONE
        assert json.loads(capsys.readouterr().out)["indicators"][0]["name"] == "rsi"
    assert main(["chart", "BTC/USDT@kiosk", "--timeframe", "4h", "--json"]) == DONE
    assert json.loads(capsys.readouterr().out)["timeframe"] == "4h"
    assert main(["snapshot", "--bars", "NQ@data", "-i", "rsi"]) == DONE


@pytest.mark.parametrize(
    ("bars", "code", "told"),
    [
        ("NX@data", BAD_INPUT, "there is no 'NX' at 'data'; near: NQ"),
        ("NQ@date", BAD_INPUT, "no source called 'date' is configured; there is data, kiosk, and"),
        ("BTCUSDT@kiosk", BAD_INPUT, "kiosk has no market 'BTCUSDT'; near: BTC/USDT"),
    ],
)
@pytest.mark.usefixtures("configure")
def test_a_name_that_leads_nowhere_is_bad_input(capsys, bars, code, told):
    assert main(["chart", bars, "-i", "rsi"]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert told in shown.err
    assert shown.err.count("\n") == 1


def test_a_source_that_cannot_be_reached_has_an_exit_code_of_its_own(configure, capsys, folder):
    configure.setenv("CHARTPACT_SOURCES", f"data=folder:{folder}; kiosk=ccxt:shop?deadline=9")
    configure.setitem(sys.modules, "ccxt", None)
    assert main(["chart", "BTC/USDT@kiosk", "-i", "rsi"]) == UNREACHABLE
    shown = capsys.readouterr()
    assert shown.out == ""
    assert (
        "shop needs ccxt, which is not installed: it comes with chartpact[exchanges]" in shown.err
    )
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    configuration._directories.clear()
    assert main(["chart", "BTC/USDT@kiosk", "-i", "rsi"]) == BAD_INPUT
    assert "there is no such folder" in capsys.readouterr().err


def test_doctor_tells_the_sources_and_what_they_lack(monkeypatch, capsys, folder):
    monkeypatch.setitem(sys.modules, "ccxt", None)
    monkeypatch.setattr(host_probe, "probe", lambda: [host_probe.Finding("seccomp", True, "on")])
    for text, told in (
        (
            f"data=folder:{folder}; kiosk=ccxt:shop",
            "data (folder), kiosk (ccxt, needs chartpact[ex",
        ),
        ("nonsense", "CHARTPACT_SOURCES: 'nonsense': write NAME=KIND:WHAT"),
        ("", "none besides the samples"),
    ):
        monkeypatch.setenv("CHARTPACT_SOURCES", text)
        assert main(["doctor"]) == DONE
        assert told in capsys.readouterr().out
