"""Files as people have them: any order and case of columns, any common form of times."""

import gzip
import io
import re
import sys
import time
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.effort import examples

import chartpact as cp
from chartpact.bars import BarsError, SourceNotConfigured
from chartpact.bars.filenames import read_name

HEADER = "time,open,high,low,close,volume"
ROWS = (
    "2024-03-04T09:30:00Z,10,12,9,11,100",
    "2024-03-04T09:31:00Z,11,13,10,12,200",
    "2024-03-04T09:32:00Z,12,14,11,13,300",
)
PLAIN = "\n".join((HEADER, *ROWS)) + "\n"
FIRST = int(datetime(2024, 3, 4, 9, 30, tzinfo=UTC).timestamp()) * 1000


@pytest.fixture
def save(tmp_path):
    def write(content, name="XYZ_1m.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_a_plain_file(save):
    bars = cp.load(save(PLAIN))
    assert bars.time.tolist() == [FIRST, FIRST + 60_000, FIRST + 120_000]
    assert bars.high.tolist() == [12, 13, 14]
    assert bars.volume.tolist() == [100, 200, 300]
    assert (bars.symbol, bars.timeframe, bars.tick_size) == ("XYZ", "1m", None)
    assert (bars.synthetic, bars.source, bars.day_roll) == (False, "XYZ_1m.csv", "UTC midnight")


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(PLAIN.encode(), mtime=0),
        PLAIN.rstrip("\n").encode(),
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.encode("utf-16"),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace("\n", "\r").encode(),
        PLAIN.replace(",", ";").encode(),
        PLAIN.replace(",", "\t").encode(),
        PLAIN.replace(",", " , ").encode(),
        PLAIN.replace(",", "|").encode(),
        PLAIN.replace(HEADER, '"Time","Open","High","Low","Close","Volume"').encode(),
        re.sub(r"([^,\n]+)", r'"\1"', PLAIN).encode(),
        PLAIN.replace(HEADER, "TIME,Open,HIGH, low ,<CLOSE>,Vol").encode(),
        PLAIN.replace("volume", "tickvol").encode(),
        ("\n\n" + PLAIN.replace(ROWS[1], ROWS[1] + "\n\n") + "\n \n").encode(),
        PLAIN.replace("time,", "date,").encode(),
        PLAIN.replace("time,", "datetime,").encode(),
        PLAIN.replace("time,", "timestamp,").encode(),
        re.sub(r"^([^,]+),(.*)$", r"\2,\1", PLAIN, flags=re.M).encode(),
        re.sub(r"$", ",x", PLAIN.rstrip("\n"), flags=re.M).encode(),
        re.sub(
            r"(\d)$", r'\1,"a, ""b"" \nc"', PLAIN.replace("volume", "volume,é"), flags=re.M
        ).encode(),
        re.sub(r"(\d)$", r"\1,é", PLAIN.replace("volume", "volume,é"), flags=re.M).encode(
            "latin-1"
        ),
        PLAIN.replace("T", " ").encode(),
        PLAIN.replace("2024-03-04T", "2024.03.04 ").encode(),
        PLAIN.replace("Z,", "+00:00,").encode(),
    ],
)
def test_the_same_bars_in_many_dresses(save, content):
    assert cp.load(save(content)) == cp.load(save(PLAIN, "XYZ_1m.csv"))


def test_date_and_time_in_two_columns(save):
    split = PLAIN.replace("time,", "date,time,").replace("T09", ",09").replace("Z,", ",")
    assert cp.load(save(split), tz="UTC").time.tolist()[0] == FIRST
    compact = (
        split.replace("2024-03-04,", "20240304,").replace("09:3", "093").replace(":00,", "00,")
    )
    assert cp.load(save(compact), tz="UTC").time.tolist()[0] == FIRST


def test_a_time_of_day_that_lost_its_zero_is_not_a_second_of_1970(save):
    content = "date,time,open,high,low,close\n20240304,93000,1,1,1,1\n20240304,93100,1,1,1,1\n"
    with pytest.raises(BarsError, match="line 2: time '93000' beside a date is a time of day"):
        cp.load(save(content), tz="UTC")


def test_a_metatrader_export(save):
    content = (
        "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\r\n"
        "2024.03.04\t11:30:00\t1.1\t1.2\t1.0\t1.15\t60\t0\t20\r\n"
        "2024.03.04\t11:45:00\t1.15\t1.2\t1.1\t1.2\t61\t0\t20\r\n"
    )
    bars = cp.load(save(content.encode("utf-16"), "EURUSD_M15.csv"), tz="Europe/Athens")
    assert bars.time.tolist()[0] == FIRST
    assert bars.volume.tolist() == [60, 61]
    assert bars.day_roll == "17:00 America/New_York"


def test_a_time_column_that_holds_the_date_too_needs_no_date_column(save):
    content = (
        "date,time,open,high,low,close\nMonday,1709544600,1,1,1,1\nMonday,1709544660,1,1,1,1\n"
    )
    assert cp.load(save(content)).time.tolist()[0] == FIRST


def test_the_real_volume_counts_unless_it_is_all_zero(save):
    head = "time,open,high,low,close,tickvol,volume\n"
    assert cp.load(save(head + "1,1,1,1,1,7,0\n2,1,1,1,1,8,5\n")).volume.tolist() == [0, 5]
    assert cp.load(save(head + "1,1,1,1,1,7,0\n2,1,1,1,1,8,0\n")).volume.tolist() == [7, 8]


def test_absent_volume_is_nan(save):
    bars = cp.load(save("time,open,high,low,close\n60,1,1,1,1\n120,1,1,1,1\n"))
    assert np.isnan(bars.volume).all()
    holes = cp.load(save("time,open,high,low,close,volume\n60,1,1,1,1,\n120,1,1,1,1,5\n"))
    assert np.isnan(holes.volume[0])


def test_time_utc_needs_no_zone(save):
    content = PLAIN.replace("time,", "time_utc,").replace("Z,", ",")
    assert cp.load(save(content)).time.tolist()[0] == FIRST


def test_daily_files_have_dates(save):
    content = "Date,Open,High,Low,Close,Adj Close,Volume\n" + "".join(
        f"2024-03-{day:02},1.5,2,1,1.5,1.4999,9\n" for day in (4, 5, 6, 7, 8, 11)
    )
    bars = cp.load(save(content, "AAPL.csv"))
    assert bars.timeframe == "1D"
    assert bars.time[0] == FIRST - (9 * 60 + 30) * 60_000
    assert bars.close_time[0] == bars.time[1]


def test_close_stamps_are_shifted_to_the_open(save):
    bars = cp.load(save(PLAIN), stamp="close")
    assert bars.time.tolist()[0] == FIRST - 60_000
    assert bars.close_time.tolist()[0] == FIRST
    with pytest.raises(BarsError, match="stamp is 'end'"):
        cp.load(save(PLAIN), stamp="end")


def test_a_short_last_bar_of_the_day_does_not_open_inside_the_one_before(save):
    rows = "".join(f"2024-03-0{d}T{h}:00:00Z,1,1,1,1\n" for d in (5, 6) for h in (15, 19, 22))
    content = "time,open,high,low,close\n" + rows
    bars = cp.load(save(content), stamp="close", symbol="ES", timeframe="4h")
    assert [t // 3_600_000 % 24 for t in bars.time.tolist()] == [11, 15, 19, 11, 15, 19]
    assert [t // 3_600_000 % 24 for t in bars.close_time.tolist()] == [15, 19, 22, 15, 19, 22]


def test_daily_close_stamps_become_the_rolls_on_either_side_of_a_clock_change(save):
    content = "time,open,high,low,close\n" + "".join(
        f"2024-03-{day:02} 17:00,1,1,1,1\n" for day in (7, 8, 11, 12)
    )
    bars = cp.load(
        save(content, "EURUSD.csv"), tz="America/New_York", stamp="close", timeframe="1D"
    )
    opened = bars.time.astype("datetime64[ms]").astype(str).tolist()
    assert [text[5:16] for text in opened] == [
        "03-06T22:00",
        "03-07T22:00",
        "03-10T21:00",
        "03-11T21:00",
    ]


def test_what_the_caller_knows_better(save):
    bars = cp.load(
        save(PLAIN), symbol="ES", timeframe="1m", tick_size=0.25, day_roll="17:00 Europe/London"
    )
    assert (bars.symbol, bars.tick_size, bars.day_roll) == ("ES", 0.25, "17:00 Europe/London")
    assert cp.load(save(PLAIN), symbol="ES").day_roll == "18:00 America/New_York"
    with pytest.raises(BarsError, match="there is no whole bar of 5m in 3 bars of 1m"):
        cp.load(save(PLAIN), timeframe="5m")
    with pytest.raises(BarsError, match="timeframe 15s was asked for, but the bars are 1m apart"):
        cp.load(save(PLAIN), timeframe="15s")


def test_a_misspelt_zone_is_told_even_where_it_is_not_needed(save):
    with pytest.raises(BarsError, match="'Europe/Athen' is no time zone"):
        cp.load(save(PLAIN), tz="Europe/Athen")
    with pytest.raises(BarsError, match="'Europe/Athen' is no time zone"):
        cp.load("sample:es-5m", tz="Europe/Athen")
    with pytest.raises(BarsError, match="stamp is 'middle'"):
        cp.load("sample:es-5m", stamp="middle")


def test_one_bar_does_not_tell_its_timeframe_and_needs_it_only_for_its_ends(save):
    path = save("\n".join((HEADER, ROWS[0])))
    assert cp.load(path).timeframe == ""
    with pytest.raises(BarsError, match="close_time needs the bars' timeframe"):
        _ = cp.load(path).close_time
    with pytest.raises(BarsError, match="the opening of one bar needs its timeframe"):
        cp.load(path, stamp="close")
    assert cp.load(path, timeframe="5m").close_time[0] == FIRST + 300_000


def rows_of(prices):
    rows = [f"{60 * n},{p},{p},{p},{p}\n" for n, p in enumerate(prices, start=1)]
    return "time,open,high,low,close\n" + "".join(rows)


@pytest.mark.parametrize(
    ("first", "tick", "decimals"),
    [
        (4500.25, 0.25, 2),
        (1.06994, 0.00001, 5),
        (167.62, 0.01, 2),
        (110.5, 0.5, 1),
        (110.03125, 0.03125, 5),
        (64000, 1.0, 0),
        (0.00000012, 0.00000001, 8),
    ],
)
def test_the_tick_size_is_read_off_the_prices(save, first, tick, decimals):
    prices = [f"{first + tick * (n * n % 53):.{decimals}f}" for n in range(30)]
    assert cp.load(save(rows_of(prices))).tick_size == tick


def test_prices_on_no_grid_have_a_tick_of_six_digits(save):
    prices = [169.99234771728516 + n / 7 for n in range(30)]
    assert cp.load(save(rows_of(prices))).tick_size == 0.001


def test_a_handful_of_rows_tells_no_tick_size(save):
    prices = [5000 + 0.25 * (n * n % 53) for n in range(60)]
    assert cp.load(save(rows_of(prices[:20]))).tick_size is None
    assert cp.load(save(rows_of(prices[:20])), tick_size=0.25).tick_size == 0.25
    assert cp.load(save(rows_of(prices))).tick_size == 0.25
    assert cp.load(save(rows_of([5000.0] * 60))).tick_size is None  # nor do many of the same


@in_one_test(
    ("name", "symbol"),
    [
        ("ESZ13_1m_2013.csv.gz", "ESZ13"),
        ("es.csv", "es"),
        ("BTC-USD.parquet", "BTC-USD"),
        ("BTCUSDT-1h.csv", "BTCUSDT"),
        ("AAPL 2024.CSV", "AAPL"),
        ("_x.csv", "_x"),
    ],
)
def test_the_symbol_is_what_the_file_name_begins_with(name, symbol):
    assert read_name(name).symbol == symbol


def test_a_symbol_at_a_source_says_that_the_source_is_not_configured():
    with pytest.raises(SourceNotConfigured, match=r"BTCUSDT@binance: no source called 'binance'"):
        cp.load("BTCUSDT@binance")
    with pytest.raises(BarsError, match="no such file"):
        cp.load("me@home.csv")


def test_a_sample_takes_another_timeframe_symbol_and_tick():
    bars = cp.load("sample:es-5m", timeframe="1h", symbol="MES", tick_size=0.5)
    assert (bars.timeframe, bars.symbol, bars.tick_size, bars.synthetic) == ("1h", "MES", 0.5, True)


def test_paths_may_be_path_objects_or_contain_an_at_sign(save):
    path = save(PLAIN, "me@home.csv")
    assert len(cp.load(path)) == len(cp.load(str(path))) == 3


def test_many_rows_are_read_in_parts_as_one(save, monkeypatch):
    monkeypatch.setattr("chartpact.bars.csvfile.CHUNK", 7)
    rows = [f"{60 * n},{n}.5,{n}.75,{n}.25,{n}.5,{n}" for n in range(1, 100)]
    content = "time,open,high,low,close,volume\n" + "\n".join(rows)
    bars = cp.load(save(content))
    assert bars.volume.tolist() == list(range(1, 100))
    assert cp.load(save(content.replace("99.75", '"99.75"'))) == bars
    broken = content.replace("60.75", "60.x")
    for spelled in (broken, broken.replace("99.75", '"99.75"')):
        with pytest.raises(BarsError, match=r"line 61: high '60.x' is not a number"):
            cp.load(save(spelled))


@settings(max_examples=examples(40), deadline=None)
@given(
    steps=st.lists(st.integers(1, 400), min_size=1, max_size=39).map(lambda steps: [1, 1, *steps]),
    prices=st.lists(st.floats(0.0001, 1e6), min_size=42, max_size=42),
)
def test_what_is_written_is_what_is_read(tmp_path_factory, steps, prices):
    time = FIRST + 60_000 * np.cumsum(steps)
    close = np.array(prices[: len(steps)])
    opening = np.array(prices[1 : len(steps) + 1])
    high, low = np.maximum(opening, close) * 1.01, np.minimum(opening, close) / 1.01
    bars = cp.Bars(time, opening, high, low, close, close * 10, "X", "1m", 0.01)
    text = "time,open,high,low,close,volume\n" + "".join(
        ",".join(map(repr, bar)) + "\n" for bar in bars
    )
    path = tmp_path_factory.mktemp("round") / "X.csv"
    path.write_text(text)
    read = cp.load(path, timeframe="1m", tick_size=0.01)
    for name in cp.bars.COLUMNS:
        assert getattr(read, name).tolist() == getattr(bars, name).tolist()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_long_files_show_their_progress_to_a_person_and_to_nobody_else(save, monkeypatch, capsys):
    monkeypatch.setattr("chartpact.bars.csvfile.SHOW_PROGRESS", 3)
    path = save(PLAIN)
    cp.load(path)
    assert capsys.readouterr() == ("", "")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    cp.load(path)
    assert "reading bars" in screen.getvalue()
    assert capsys.readouterr().out == ""


def test_a_hundred_thousand_rows_load_in_no_time(save):
    rows = "".join(
        f"{60 * n},4500.25,4500.75,4499.50,4500.00,{n % 977}\n" for n in range(1, 100_001)
    )
    path = save(HEADER + "\n" + rows)
    begin = time.process_time()
    bars = cp.load(path)
    assert time.process_time() - begin < 5  # about 0.1 s alone on a machine
    assert len(bars) == 100_000
