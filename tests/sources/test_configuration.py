import pickle
from pathlib import Path

import pytest
from tests.cases import in_one_test

from chartpact.bars import BarsError, SourceNotConfigured
from chartpact.server import settings
from chartpact.sources import Directory, Misconfigured, SourceFailed, UnknownSymbol
from chartpact.sources.configuration import KINDS, from_environment, open_directory, parse_sources
from chartpact.sources.exchange import Exchange
from chartpact.sources.folder import Folder
from chartpact.sources.yahoo import Yahoo


def test_each_entry_is_a_source(folder):
    found = parse_sources(
        f"data=folder:{folder}?tz=America/New_York; "
        "binance = ccxt:binance?history=2000&timeframe=60m&symbols=BTC/USDT,ETH/USDT:USDT ;"
        "yahoo=yfinance?cache=0&timeout=2.5&deadline=9;"
    )
    assert [each.name for each in found] == ["data", "binance", "yahoo"]
    assert [type(each.open()) for each in found] == [Folder, Exchange, Yahoo]
    assert dict(found[1].options) == {
        "history": 2000,
        "symbols": ("BTC/USDT", "ETH/USDT:USDT"),
        "timeframe": "1h",
    }
    assert dict(found[2].options) == {"cache": 0.0, "deadline": 9.0, "timeout": 2.5}


def test_nothing_configured_leaves_the_samples():
    found = open_directory(from_environment({}))
    assert {each.source for each in found.symbols()} == {"sample"}
    assert len(found.load("sample:es-5m", "1h")) < len(found.load("sample:es-5m"))


def test_characters_that_mean_something_are_written_as_in_urls(tmp_path):
    odd = tmp_path / "a;b?c=50%"
    odd.mkdir()
    [each] = parse_sources(f"data=folder:{tmp_path}/a%3Bb%3Fc=50%25")
    assert each.what == str(odd)


def test_a_folder_says_how_the_rows_of_its_files_are_read(folder):
    rows = "".join(f"0{4 - n}.04.2024;1,234;1,235;1,233;1,234\n" for n in range(3))
    (folder / "dax.csv").write_text("Tag;Auf;Hoch;Tief;Zu\n" + rows)
    names = "columns=time=Tag,open=Auf,high=Hoch,low=Tief,close=Zu"
    [source] = parse_sources(f"data=folder:{folder}?{names}&date_order=dmy&decimal=%2C")
    bars = source.open().load("dax")
    assert (bars.close[0], str(bars.time[0].astype("datetime64[ms]"))[:10]) == (1.234, "2024-04-02")
    assert bars.notes == ("rows were newest first, and are turned around",)
    [strict] = parse_sources(f"data=folder:{folder}?{names}&date_order=dmy&decimal=%2C&sort=no")
    with pytest.raises(BarsError, match="oldest first"):
        strict.open().load("dax")
    for wrong, told in (("sort=maybe", "yes or no"), ("columns=x=y", "columns has 'x'")):
        with pytest.raises(Misconfigured, match=told):
            parse_sources(f"data=folder:{folder}?{wrong}")


def test_a_folder_may_be_relative_or_at_home(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    monkeypatch.setenv("HOME", str(folder.parent))
    assert (
        parse_sources("a=folder:bars")[0].what
        == parse_sources("a=folder:~/bars")[0].what
        == str(folder)
    )


@in_one_test(
    ("text", "told"),
    [
        ("binance", "write NAME=KIND:WHAT"),
        ("=ccxt:binance", "write NAME=KIND:WHAT"),
        ("a b=ccxt:binance", "write NAME=KIND:WHAT"),
        ("9=ccxt:binance", "write NAME=KIND:WHAT"),
        ("a@b=ccxt:binance", "write NAME=KIND:WHAT"),
        ("mine=yfinance", "'mine' is taken"),
        ("sample=yfinance", "'sample' is taken"),
        ("a=cctx:binance", "there is no kind 'cctx' among folder, ccxt, yfinance, alpaca,"),
        ("a=", "there is no kind ''"),
        ("a=ccxt", "ccxt: is followed by the name of an exchange"),
        ("a=ccxt:../x", "is no name of an exchange"),
        ("a=yfinance:x", "yfinance stands alone"),
        ("a=python:x", "python: is followed by package.module:function"),
        ("a=python:../x:y", "python: is followed by package.module:function"),
        ("a=python:no_such_package.x:y", "there is no module 'no_such_package' on Python's path"),
        ("a=alpaca?feed=free", "feed: iex or sip or delayed_sip"),
        ("a=oanda?url=file:///etc", "url: an http or https address"),
        ("a=yfinance?keep=maybe", "keep: yes or no"),
        ("a=folder:", "folder: is followed by the path of a folder"),
        ("a=folder:/no/such/place", "there is no such folder"),
        ("a=yfinance?histroy=5", "yfinance has no option 'histroy'; it has timeframe, history"),
        ("a=yfinance?history=1e3", "history: a whole number from 10 to 20000"),
        ("a=yfinance?history=5", "history: a whole number from 10 to 20000"),
        ("a=yfinance?timeout=0", "timeout: a number of seconds, up to 600"),
        ("a=yfinance?cache=-1", "cache: a number of seconds"),
        ("a=yfinance?timeframe=7x", "timeframe: '7x' is no timeframe"),
        ("a=yfinance?symbols=,", "symbols: symbols, separated by commas"),
        ("a=folder:/?tz=New York", "tz: 'New York' is no time zone"),
        ("a=folder:/?stamp=middle", "stamp: close or open"),
        ("a=yfinance;a=yfinance", "there are two sources called 'a'"),
    ],
)
def test_a_bad_entry_says_what_would_be_right(text, told):
    with pytest.raises(Misconfigured) as caught:
        parse_sources(text)
    assert str(caught.value).startswith("CHARTPACT_SOURCES: ")
    assert told in str(caught.value)


def test_a_description_goes_to_other_processes_and_gives_one_catalog_there(folder):
    found = parse_sources(f"data=folder:{folder}; yahoo=yfinance")
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert open_directory(again) is open_directory(found)


def test_the_settings_of_a_server_carry_the_descriptions(folder):
    given = settings.from_environment({"CHARTPACT_SOURCES": f"data=folder:{folder}"})
    assert pickle.loads(pickle.dumps(given)) == given
    assert [each.name for each in given.sources] == ["data"]
    with pytest.raises(ValueError, match="CHARTPACT_SOURCES"):
        settings.from_environment({"CHARTPACT_SOURCES": "nonsense"})


# ------------------------------------------------------------------------------------- the catalog


class Broken:
    name, about, remote = "broken", "Always down.", True

    def symbols(self):
        raise SourceFailed("broken is down")

    def may_have(self, _symbol):
        return False

    def load(self, symbol, timeframe=None):
        raise SourceFailed(f"broken is down: {symbol} {timeframe}")


def test_a_symbol_is_found_at_its_source_and_nowhere_else(folder):
    found = open_directory(parse_sources(f"data=folder:{folder}"))
    assert found.load("NQ@data", "2h").timeframe == "2h"
    assert "NQ@data" in {each.symbol for each in found.symbols()}
    source, name = found.find("me@NQ@data")
    assert (type(source), name) == (Folder, "me@NQ")
    with pytest.raises(UnknownSymbol, match="there is no 'NX' at 'data'; near: NQ"):
        found.load("NX@data")
    with pytest.raises(SourceNotConfigured, match=r"no source called 'date'.*there is data"):
        found.load("NQ@date")


@pytest.mark.parametrize("symbol", ["NX", "NQ@", "@data", " @data", "", "/etc/passwd", "a.csv"])
def test_what_is_no_name_is_no_path_either(folder, symbol):
    found = open_directory(parse_sources(f"data=folder:{folder}"))
    with pytest.raises(BarsError):
        found.load(symbol)


def test_one_source_that_fails_spoils_no_list():
    found = Directory([Broken()])
    assert {each.source for each in found.symbols()} == {"sample"}
    told = [shelf.to_json() for shelf in found.entries()]
    assert told[0]["source"] == "sample"
    assert told[1] == {"source": "broken", "about": "Always down.", "error": "broken is down"}


def test_a_failed_fetch_is_an_error_and_never_other_bars():
    with pytest.raises(SourceFailed, match="broken is down: es-5m 1h"):
        Directory([Broken()]).load("es-5m@broken", "1h")


def test_a_catalog_with_one_source_more_leaves_the_first_as_it_was(folder):
    first = open_directory(parse_sources(f"data=folder:{folder}"))
    more = first | Broken()
    assert more.find("x@broken")[1] == "x"
    with pytest.raises(SourceNotConfigured):
        first.find("x@broken")
    assert more.load("NQ@data") == first.load("NQ@data")


@in_one_test("kind", KINDS)
def test_every_kind_and_its_options_are_documented(kind):
    page = (Path(__file__).resolve().parents[2] / "docs" / "sources.md").read_text()
    assert f"`{kind}" in page
    for option in KINDS[kind].options:
        assert f"`{option}`" in page
