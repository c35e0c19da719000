"""Folders with files of many symbols, and with partitions."""

import os

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import chartpact as cp
from chartpact.bars import BarsError
from chartpact.cli import DONE, main
from chartpact.sources import UnknownSymbol, configuration
from chartpact.sources.folder import Folder

START, HOUR = 1_709_510_400_000, 3_600_000


def table(symbol: str, count: int = 6, first: int = 0, price: float = 100.0) -> pa.Table:
    times = [START + (first + n) * HOUR for n in range(count)]
    prices = [price + n + first for n in range(count)]
    columns = {name: prices for name in ("open", "high", "low", "close")}
    return pa.table({"symbol": [symbol] * count, "time": times, **columns, "volume": prices})


BOTH = pa.concat_tables([table("ES"), table("NQ", price=200.0)])


@pytest.fixture
def lake(tmp_path, monkeypatch):
    """A folder that is the source `lake`."""
    home = tmp_path / "lake"
    home.mkdir()
    monkeypatch.setenv("CHARTPACT_SOURCES", f"lake=folder:{home}")
    configuration._directories.clear()
    yield home
    configuration._directories.clear()


def test_a_file_of_many_symbols_is_asked_for_one_of_them(lake, capsys):
    pq.write_table(BOTH, lake / "all.parquet")
    for bars in (cp.load("all@lake", symbol="NQ"), cp.load("all/NQ@lake")):
        assert (bars.symbol, bars.close.tolist()) == ("NQ", [200, 201, 202, 203, 204, 205])
    assert main(["chart", "all@lake", "--symbol", "NQ", "--json"]) == DONE
    assert '"symbol": "NQ"' in capsys.readouterr().out
    with pytest.raises(BarsError, match=r"rows of 2 symbols, ES, NQ.*all/SYMBOL@lake"):
        cp.load("all@lake")
    for missing in ("all/YM@lake", "any/NQ@lake"):
        with pytest.raises(UnknownSymbol):
            cp.load(missing)


def test_symbol_still_names_the_bars_of_a_file_of_one(lake):
    pq.write_table(table("ES").drop_columns("symbol"), lake / "es.parquet")
    assert cp.load("es@lake", symbol="MES").symbol == "MES"


@pytest.mark.parametrize("packed", ["parquet", "csv"])
def test_partitions_that_other_tools_write_are_read(lake, packed):
    rows = BOTH.append_column("part", pa.array([n % 3 for n in range(12)]))
    kinds = pa.schema([("symbol", pa.string()), ("part", pa.int64())])
    ds.write_dataset(rows, lake, format=packed, partitioning=ds.partitioning(kinds, flavor="hive"))
    bars = cp.load("NQ@lake")
    assert (bars.symbol, bars.close.tolist()) == ("NQ", [200, 201, 202, 203, 204, 205])
    assert cp.load("NQ").source == "lake"
    assert cp.load("NQ@lake", timeframe="2h").timeframe == "2h"
    listed = {symbol.symbol for symbol in Folder("lake", lake).symbols()}
    assert listed == {"ES@lake", "NQ@lake"}


def test_days_of_many_symbols_are_found_by_the_column(lake):
    for day in range(1, 4):
        folder = lake / "2024" / "03"
        folder.mkdir(parents=True, exist_ok=True)
        parts = [table(name, 2, 2 * day, price) for name, price in (("ES", 100.0), ("NQ", 200.0))]
        pq.write_table(pa.concat_tables(parts), folder / f"2024-03-0{day}.parquet")
    bars = cp.load("NQ@lake")
    assert bars.close.tolist() == [202, 203, 204, 205, 206, 207]
    with pytest.raises(UnknownSymbol, match="there is no 'YM' at 'lake'"):
        cp.load("YM@lake")


def test_parts_of_different_form_are_an_error_that_names_one(lake):
    for number in (0, 1):
        folder = lake / f"symbol=ES/part={number}"
        folder.mkdir(parents=True)
        pq.write_table(table("ES", 2, 2 * number), folder / "0.parquet")
    pq.write_table(table("ES", 2, 2).drop_columns("volume"), lake / "symbol=ES/part=1/0.parquet")
    with pytest.raises(BarsError, match=r"symbol=ES/part=1/0\.parquet: its columns are not those"):
        cp.load("ES@lake")


def test_a_bad_row_of_a_part_is_named_with_its_file(lake):
    folder = lake / "symbol=ES"
    folder.mkdir()
    pq.write_table(table("ES"), folder / "0.parquet")
    pq.write_table(table("ES"), folder / "1.parquet")
    with pytest.raises(BarsError, match=r"symbol=ES/1\.parquet: row 1: time .* is there twice"):
        cp.load("ES@lake")


def test_a_new_part_is_seen(lake):
    folder = lake / "symbol=ES"
    folder.mkdir()
    pq.write_table(table("ES"), folder / "0.parquet")
    os.utime(folder / "0.parquet", (1, 1))
    assert len(cp.load("ES@lake")) == 6
    pq.write_table(table("ES", 3, 6), folder / "1.parquet")
    assert len(cp.load("ES@lake")) == 9


def test_nothing_outside_of_the_folder_and_no_other_subfolder_is_there(lake, tmp_path):
    secret = tmp_path / "secret"
    secret.mkdir()
    pq.write_table(table("X"), secret / "0.parquet")
    (lake / "symbol=OUT").symlink_to(secret)
    (lake / "symbol=IN").mkdir()
    (lake / "symbol=IN" / "0.parquet").symlink_to(secret / "0.parquet")
    (lake / "private").mkdir()
    pq.write_table(table("X"), lake / "private" / "x.parquet")
    folder = Folder("lake", lake)
    assert list(folder.symbols()) == []
    for symbol in ("OUT", "IN", "X", "private/x", "../secret/0", "symbol=OUT/0", "symbol=IN"):
        with pytest.raises(UnknownSymbol):
            folder.load(symbol)
