"""`SYMBOL@SOURCE` through the doors: the Python API and the command line."""

import json
import sys
from types import SimpleNamespace

import pytest
from tests.sources import standin
from tests.sources.test_yahoo import DAYS, Module
from tests.sources.test_yahoo import frame as yahoo_frame

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
    configure.setenv("CHARTPACT_SOURCES", "")
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
            "data (folder), kiosk (ccxt, lacks: pip install 'chartpact[exchanges]')",
        ),
        ("nonsense", "CHARTPACT_SOURCES: 'nonsense': write NAME=KIND:WHAT"),
        ("", "none besides the samples"),
        ("a=alpaca", "a (alpaca, lacks: set APCA_API_KEY_ID and APCA_API_SECRET_KEY)"),
    ):
        monkeypatch.setenv("CHARTPACT_SOURCES", text)
        assert main(["doctor"]) == DONE
        assert told in capsys.readouterr().out


# ----------------------------------------------------------------------- without a source's name


@pytest.fixture
def alone(monkeypatch):
    """A local user without configuration, whose exchange and Yahoo are stand-ins."""

    def binance(_options):
        client = standin.Client()
        client.markets = {}
        return client

    configuration._directories.clear()
    module = SimpleNamespace(exchanges=["binance"], binance=binance)
    monkeypatch.setitem(sys.modules, "ccxt", module)
    monkeypatch.setitem(sys.modules, "yfinance", Module(yahoo_frame(DAYS[:-1])))
    monkeypatch.setattr("time.time_ns", lambda: standin.NOW * 1_000_000)
    monkeypatch.delenv("CHARTPACT_SOURCES")
    yield monkeypatch
    configuration._directories.clear()


@pytest.mark.usefixtures("alone")
def test_a_pair_is_asked_for_at_the_exchange_and_all_else_at_yahoo():
    for name, source in (("BTC/USDT", "binance"), ("AAPL", "yahoo"), ("ES=F", "yahoo")):
        bars = cp.load(name)
        assert (bars.symbol, bars.source) == (name, source)
        assert bars.fetched == standin.NOW


@pytest.mark.usefixtures("alone")
def test_the_answer_names_the_source_and_when_it_was_asked(capsys):
    assert main(["chart", "AAPL", "--summary"]) == DONE
    shown = capsys.readouterr()
    assert "from yahoo, fetched 2024-03-05T12:34:56Z" in shown.out
    assert "note: yahoo: fetched 2024-03-05T12:34:56Z" in shown.err
    assert main(["chart", "BTC/USDT", "--json"]) == DONE
    chart = json.loads(capsys.readouterr().out)
    assert (chart["source"], chart["fetched"]) == ("binance", standin.NOW)


def test_a_file_comes_before_a_symbol_of_that_name(alone, csv, tmp_path):
    alone.chdir(tmp_path)
    (tmp_path / "AAPL").write_text(csv())
    (tmp_path / "BTC").mkdir()
    (tmp_path / "BTC" / "USDT").write_text(csv())
    for name in ("AAPL", "BTC/USDT"):
        assert len(cp.load(name)) == 10
    with pytest.raises(BarsError, match="this is a folder"):
        cp.load("BTC")


def test_a_configured_source_replaces_both_and_is_asked_first(alone, folder):
    alone.setenv("CHARTPACT_SOURCES", f"data=folder:{folder}; kiosk=ccxt:binance")
    assert cp.load("NQ").source == "data"
    assert cp.load("BTC/USDT").source == "kiosk"
    with pytest.raises(BarsError, match="AAPL: there is no such file, and 'AAPL' is not a symbol"):
        cp.load("AAPL")


def test_without_the_extra_the_error_says_which_command_gives_it_and_offers_a_sample(alone, capsys):
    alone.setitem(sys.modules, "yfinance", None)
    assert main(["chart", "AAPL"]) == UNREACHABLE
    told = capsys.readouterr().err
    assert "pip install 'chartpact[yahoo]'" in told
    assert "sample:es-5m" in told


def test_without_a_network_the_error_says_which_command_asks_again(alone, capsys):
    class ConnectionError(Exception):
        pass

    alone.setitem(sys.modules, "yfinance", Module(ConnectionError("no route")))
    assert main(["chart", "AAPL"]) == UNREACHABLE
    told = capsys.readouterr().err
    assert "yahoo cannot be reached: sample:es-5m" in told
    assert "`chartpact chart AAPL@yahoo` asks again" in told


@pytest.mark.usefixtures("alone")
def test_a_misspelt_file_is_never_asked_for_at_a_service():
    with pytest.raises(BarsError, match=r"nope\.csv: there is no such file"):
        cp.load("nope.csv")
    for path in ("./AAPL", "/AAPL", "a/b/c", "~/AAPL"):
        with pytest.raises(BarsError, match="there is no such file"):
            cp.load(path)


@pytest.mark.usefixtures("alone")
def test_a_server_with_accounts_has_only_what_its_operator_named(monkeypatch):
    from chartpact.server import command, settings

    names = [config.name for config in command._settings(Args(), alone=True).sources]
    assert names == ["binance", "yahoo"]
    assert command._settings(Args(), alone=False).sources == ()
    assert settings.from_environment().sources == ()
    monkeypatch.setenv("CHARTPACT_SOURCES", "mars=ccxt:binance")
    assert [config.name for config in command._settings(Args(), alone=True).sources] == ["mars"]


class Args(SimpleNamespace):
    db = None
