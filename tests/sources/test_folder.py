import gzip
import os
import shutil
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chartpact.bars import BarsError
from chartpact.bars.loading import of_content
from chartpact.cache import Cache
from chartpact.sources import SourceFailed, UnknownSymbol
from chartpact.sources import folder as folder_module
from chartpact.sources.folder import Folder


@pytest.fixture
def source(folder):
    return Folder("data", folder)


def symbols(source) -> list[str]:
    return [each.symbol for each in source.symbols()]


def test_a_file_goes_by_its_name_without_the_ending(source):
    assert symbols(source) == ["BTC@data", "ES_1h@data", "NQ@data"]
    bars = source.load("ES_1h")
    assert (bars.symbol, bars.timeframe, bars.source, len(bars)) == ("ES", "1h", "data", 10)
    assert source.load("NQ").open[0] == 200
    assert source.load("BTC").close.tolist() == bars.close.tolist()


def test_a_longer_timeframe_is_made_of_the_file(source):
    assert source.load("BTC", "4h").open.tolist() == [100, 104]
    with pytest.raises(BarsError, match="cannot be resampled to 1m"):
        source.load("BTC", "1m")


def test_an_unknown_symbol_gets_near_names(source):
    with pytest.raises(UnknownSymbol, match="there is no 'ES' at 'data'; near: ES_1h"):
        source.load("ES")


def test_two_files_of_one_name_go_by_their_whole_names(source, folder, csv):
    (folder / "BTC.csv").write_text(csv(price=7.0))
    assert symbols(source)[:2] == ["BTC.csv@data", "BTC.parquet@data"]
    assert source.load("BTC.csv").open[0] == 7
    with pytest.raises(UnknownSymbol, match=r"near: BTC.csv"):
        source.load("BTC")


def test_what_the_operator_knows_of_the_files_is_applied(folder):
    rows = "2024-03-04 09:30,1,1,1,1\n2024-03-04 10:30,1,1,1,1\n"
    (folder / "naive.csv").write_text("time,open,high,low,close\n" + rows)
    bars = Folder("data", folder, tz="America/New_York", stamp="close").load("naive")
    assert bars.time[0] == 1_709_559_000_000
    options = {"tz": "America/New_York", "market": "listed"}
    assert Folder("data", folder, **options).load("naive").market == "listed"
    with pytest.raises(BarsError, match="has no time zone"):
        Folder("data", folder).load("naive")


@pytest.mark.parametrize(
    "symbol",
    [
        "../secret",
        "..",
        ".",
        "/etc/passwd",
        "../bars/NQ",
        "NQ.csv.gz",
        "nq",
        "NQ\0",
        "NQ\n",
        "",
        "*",
        "x" * 5000,
        "~",
        "sub/deep",
    ],
)
def test_no_symbol_leads_out_of_the_folder(source, folder, csv, symbol):
    (folder.parent / "secret.csv").write_text(csv())
    (folder / "sub").mkdir()
    (folder / "sub" / "deep.csv").write_text(csv())
    with pytest.raises(UnknownSymbol) as caught:
        source.load(symbol)
    assert str(folder) not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_links_that_lead_out_of_the_folder_are_not_there(source, folder, csv):
    (folder.parent / "secret.csv").write_text(csv())
    (folder / "out.csv").symlink_to(folder.parent / "secret.csv")
    (folder / "up.csv").symlink_to("../secret.csv")
    (folder / "nowhere.csv").symlink_to("gone.csv")
    (folder / "loop.csv").symlink_to("loop.csv")
    (folder / "within.csv").symlink_to("ES_1h.csv")
    assert symbols(source) == ["BTC@data", "ES_1h@data", "NQ@data", "within@data"]
    assert source.load("within").close.tolist() == source.load("ES_1h").close.tolist()
    for name in ("out", "up", "nowhere", "loop"):
        with pytest.raises(UnknownSymbol):
            source.load(name)


def test_what_is_no_plain_file_of_bars_is_not_there(source, folder, csv):
    before = symbols(source)
    (folder / "folder.csv").mkdir()
    os.mkfifo(folder / "pipe.csv")
    for name in (".hidden.csv", ".csv", "notes.txt", "a\nb.csv", "ES.csv.bak", " .csv"):
        (folder / name).write_text(csv())
    (folder / os.fsdecode(b"\xff.csv")).write_text(csv())
    assert symbols(source) == before


def test_a_name_may_hold_an_at_sign_and_blanks(source, folder, csv):
    (folder / "me@home 2.csv").write_text(csv())
    assert len(source.load("me@home 2")) == 10


def test_a_huge_file_is_refused_before_it_is_read(folder):
    with (folder / "huge.csv").open("wb") as file:
        file.truncate(10**12)  # takes no room on the disk
    with pytest.raises(SourceFailed, match="huge@data: the file has 1000000000000 bytes; up to"):
        Folder("data", folder).load("huge")


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(folder):
    (folder / "bomb.csv.gz").write_bytes(gzip.compress(bytes(20_000_000), 9))
    same = pa.array([1.0] * 500_000)
    columns = {name: same for name in ("time", "open", "high", "low", "close")}
    pq.write_table(pa.table(columns), folder / "runs.parquet")
    source = Folder("data", folder, largest=1_000_000)
    assert (folder / "runs.parquet").stat().st_size < 100_000
    with pytest.raises(BarsError, match=r"bomb.csv.gz: the file holds more than 1000000 bytes"):
        source.load("bomb")
    with pytest.raises(BarsError, match=r"runs.parquet: its columns take more than 1000000 bytes"):
        source.load("runs")


def test_a_file_that_vanishes_is_unknown_and_one_that_cannot_be_read_is_a_failure(
    source, monkeypatch
):
    def gone(path, _mode):
        path.unlink()
        raise FileNotFoundError

    def closed(path, _mode):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", closed)
    with pytest.raises(SourceFailed, match=r"NQ@data cannot be read: Permission denied$"):
        source.load("NQ")
    monkeypatch.setattr(Path, "open", gone)
    with pytest.raises(UnknownSymbol, match="there is no 'NQ' at 'data'"):
        source.load("NQ")


def test_a_folder_that_is_gone_is_a_failure_that_does_not_tell_where_it_was(source, folder):
    shutil.rmtree(folder)
    for ask in (source.symbols, lambda: source.load("NQ")):
        with pytest.raises(SourceFailed, match="the folder of 'data' cannot be read") as caught:
            ask()
        assert str(folder) not in str(caught.value)


def test_a_file_that_holds_no_bars_says_what_is_wrong_with_it(source, folder):
    (folder / "odd.csv").write_text("time,open,high,low,close\n60,1,1,1,x\n")
    with pytest.raises(BarsError, match=r"odd.csv: line 2: close 'x' is not a number"):
        source.load("odd")


# ----------------------------------------------------------------------- files read before


@pytest.fixture
def readings(monkeypatch):
    """The names of files that were read, with nothing at hand from before."""
    names = []

    def read(data, name, *rest):
        names.append(name)
        return of_content(data, name, *rest)

    monkeypatch.setattr(folder_module, "of_content", read)
    monkeypatch.setattr(folder_module, "PARSED", Cache(10))
    return names


@pytest.fixture
def settled(monkeypatch):
    """Counts a file that was changed a moment ago as one that is at rest."""
    monkeypatch.setattr(folder_module, "SETTLED_NS", 20_000_000)
    return lambda: time.sleep(0.03)


def test_a_file_is_read_once_whatever_timeframe_is_asked_for(source, settled, readings):
    settled()
    assert len(source.load("BTC")) == 10
    assert len(source.load("BTC", "4h")) < 10
    assert source.load("NQ").open[0] == 200
    assert readings == ["BTC.parquet", "NQ.csv.gz"]


def test_a_file_that_was_changed_is_read_again_even_where_size_and_time_are_as_before(
    source, folder, csv, settled, readings
):
    path = folder / "SPY.csv"
    for price in (100.0, 200.0, 300.0):
        path.write_text(csv(price=price))
        os.utime(path, (1_700_000_000, 1_700_000_000))
        settled()
        assert source.load("SPY").open[0] == source.load("SPY").open[0] == price
    other = folder / "other"
    other.write_text(csv(price=400.0))
    os.utime(other, (1_700_000_000, 1_700_000_000))
    os.replace(other, path)
    settled()
    assert source.load("SPY").open[0] == 400
    assert readings == ["SPY.csv"] * 4


def test_files_changed_in_quick_succession_are_never_seen_as_they_were(source, folder, csv):
    for price in range(100, 160):
        (folder / "SPY.csv").write_text(csv(price=float(price)))
        assert source.load("SPY").open[0] == price


def test_one_file_under_two_sets_of_options_is_read_for_each(folder, settled, readings):
    rows = "2024-03-04 09:30,1,1,1,1\n2024-03-04 10:30,1,1,1,1\n"
    (folder / "naive.csv").write_text("time,open,high,low,close\n" + rows)
    settled()
    times = {Folder("data", folder, tz=tz).load("naive").time[0] for tz in ("UTC", "Asia/Tokyo")}
    assert len(times) == len(readings) == 2


def test_a_file_that_is_gone_is_gone(source, folder, settled):
    settled()
    source.load("NQ")
    (folder / "NQ.csv.gz").unlink()
    with pytest.raises(UnknownSymbol):
        source.load("NQ")
