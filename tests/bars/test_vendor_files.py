"""Files as vendors deliver them, which load without a word about their columns."""

import gzip
import json
from datetime import date
from types import SimpleNamespace

import numpy as np
import pytest

from chartpact.bars import Bars, BarsError, load

START = 1_709_542_800  # 2024-03-04T09:00:00Z
PRICES = [(100 + n, 102.5 + n, 99 + n, 101 + n) for n in range(8)]
MINUTES = [START + 60 * n for n in range(8)]


def lines(*rows) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def iso(second: int) -> str:
    return np.datetime64(second, "s").item().strftime("%Y-%m-%dT%H:%M:%S.000000000Z")


def databento(pretty: bool) -> str:
    header = "ts_event rtype publisher_id instrument_id open high low close volume symbol".split()
    rows = [
        [
            iso(second) if pretty else second * 10**9,
            33,
            1,
            4916,
            *((f"{p:.9f}" if pretty else round(p * 10**9)) for p in prices),
            7,
            "ESH4",
        ]
        for second, prices in zip(MINUTES, PRICES, strict=True)
    ]
    return lines(header, *rows)


def massive() -> str:
    header = "ticker volume open close high low window_start transactions".split()
    rows = [
        ["AAPL", 7, o, c, h, low, second * 10**9, 3]
        for second, (o, h, low, c) in zip(MINUTES, PRICES, strict=True)
    ]
    return lines(header, *rows)


def oanda() -> str:
    header = "time volume mid.o mid.h mid.l mid.c complete".split()
    rows = [[iso(second), 7, *prices, True] for second, prices in zip(MINUTES, PRICES, strict=True)]
    return lines(header, *rows)


def kraken() -> str:
    return lines(*([s, *prices, 7, 3] for s, prices in zip(MINUTES, PRICES, strict=True)))


def first_rate() -> str:
    times = [str(np.datetime64(second, "s")).replace("T", " ") for second in MINUTES]
    return lines(*([time, *prices, 7] for time, prices in zip(times, PRICES, strict=True)))


def freqtrade() -> str:
    return json.dumps([[s * 1000, *p, 7] for s, p in zip(MINUTES, PRICES, strict=True)])


FILES = {
    "glbx-mdp3-20240304.ohlcv-1m.csv": databento(True),
    "glbx-mdp3-20240304.ohlcv-1m.raw.csv": databento(False),
    "2024-03-04.csv": massive(),
    "EUR_USD_M1.csv": oanda(),
    "XBTUSD_1.csv": kraken(),
    "BTC_USDT-1m.json": freqtrade(),
    "AAPL_1min_firstratedata.txt": first_rate(),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("packed", [False, True])
def test_it_loads_without_columns(tmp_path, name, packed):
    content = FILES[name].encode()
    path = tmp_path / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(content) if packed else content)
    zone = {"tz": "UTC"} if "firstrate" in name else {}
    bars = load(path, **zone)
    assert bars.time.tolist() == [second * 1000 for second in MINUTES]
    assert [tuple(bar)[1:] for bar in bars] == [(*prices, 7) for prices in PRICES]
    assert bars.timeframe == "1m"


def test_a_zone_is_still_asked_for_where_times_have_none(tmp_path):
    (tmp_path / "AAPL.txt").write_text(first_rate())
    with pytest.raises(BarsError, match="has no time zone: say which one") as caught:
        load(tmp_path / "AAPL.txt")
    assert caught.value.option == "tz"


def test_the_symbol_stands_in_the_file(tmp_path):
    (tmp_path / "a.csv").write_text(databento(True))
    (tmp_path / "b.csv").write_text(massive())
    assert load(tmp_path / "a.csv").symbol == "ESH4"
    assert load(tmp_path / "b.csv").symbol == "AAPL"


def test_what_was_guessed_of_the_columns_is_noted(tmp_path):
    for text, told in (
        (databento(False), "billionths"),
        (kraken(), "Kraken"),
        (freqtrade(), "freqtrade"),
        (oanda(), "'mid.o' is read as the open"),
    ):
        (tmp_path / "x.csv").write_text(text)
        assert any(told in note for note in load(tmp_path / "x.csv").notes)


def test_records_of_json_are_read_by_their_names(tmp_path):
    rows = [
        {"time": iso(s), "open": str(o), "high": h, "low": low, "close": c, "volume": None}
        for s, (o, h, low, c) in zip(MINUTES, PRICES, strict=True)
    ]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    bars = load(tmp_path / "x.json")
    assert bars.close.tolist() == [price[3] for price in PRICES]
    assert np.isnan(bars.volume).all()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1, 2", "begins like JSON, but is not"),
        ("[]", "no list of bars"),
        ("[[1, 2]]", "row 1 is neither"),
        ('[{"time": 1}, 7]', "row 2 is neither"),
        ("[" * 100_000, "begins like JSON, but is not"),
        ("[[NaN, 1, 1, 1, 1, 1]]", "time"),
        ('[["x", 1, 1, 1, 1, 1], [60000, 1, 1, 1, 1, 1]]', "'x' is not a time"),
        ("[[1709542800000, 2, 1, 1, 1, 1]]", "high 1"),
        ("[[true, 1, 1, 1, 1, 1]]", "time"),
        ("[[1" + "0" * 400 + ", 1, 1, 1, 1, 1]]", "time"),
        ('{"candles": []}', "this is a JSON object"),
        ("<!DOCTYPE html><html></html>", "this is a web page"),
        ("\ufeff  <html>", "this is a web page"),
        ("PARAMS = [\n", "this is a script"),
    ],
)
def test_what_is_no_file_of_bars_is_told_by_its_kind(tmp_path, text, told):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(BarsError) as caught:
        load(tmp_path / "x.json")
    assert told in str(caught.value)


# ------------------------------------------------------------------------------------------- DBN


def dbn(schema: str = "ohlcv-1m", ids: tuple[int, ...] = (4916,)) -> bytes:
    dbn = pytest.importorskip("databento_dbn")
    names = {4916: "ESH4", 4917: "NQH4"}
    metadata = dbn.Metadata(
        dataset="GLBX.MDP3",
        start=START * 10**9,
        end=(START + 86_400) * 10**9,
        stype_in=dbn.SType.RAW_SYMBOL,
        stype_out=dbn.SType.INSTRUMENT_ID,
        schema=dbn.Schema.from_str(schema),
        symbols=[names[number] for number in ids],
        mappings=[_mapping(names[number], number) for number in ids],
    )
    rows = [
        dbn.OHLCVMsg(33, 1, number, s * 10**9, *(round(p * 10**9) for p in prices), 7)
        for s, prices in zip(MINUTES, PRICES, strict=True)
        for number in ids
    ]
    return bytes(metadata) + b"".join(map(bytes, rows))


def _mapping(name: str, number: int):
    interval = SimpleNamespace(
        start_date=date(2024, 3, 4), end_date=date(2024, 3, 5), symbol=str(number)
    )
    return SimpleNamespace(raw_symbol=name, intervals=[interval])


@pytest.mark.parametrize("packed", [False, True])
def test_a_dbn_file_of_bars_is_read(tmp_path, packed):
    content = dbn()
    if packed:
        content = pytest.importorskip("zstandard").compress(content)
    path = tmp_path / f"glbx-mdp3-20240304.ohlcv-1m.dbn{'.zst' * packed}"
    path.write_bytes(content)
    bars = load(path)
    assert [tuple(bar) for bar in bars] == [
        (s * 1000, *prices, 7) for s, prices in zip(MINUTES, PRICES, strict=True)
    ]
    assert (bars.symbol, bars.market) == ("ESH4", "listed")


def test_a_dbn_file_of_several_symbols_asks_which(tmp_path):
    (tmp_path / "x.dbn").write_bytes(dbn(ids=(4916, 4917)))
    with pytest.raises(BarsError, match="rows of 2 symbols, ESH4, NQH4"):
        load(tmp_path / "x.dbn")
    assert len(load(tmp_path / "x.dbn", symbol="NQH4")) == 8


def test_a_csv_file_that_databento_packed_is_read(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    (tmp_path / "x.csv.zst").write_bytes(zstandard.compress(databento(False).encode()))
    assert load(tmp_path / "x.csv.zst").symbol == "ESH4"
    with pytest.raises(BarsError, match="the zstd file is damaged"):
        (tmp_path / "x.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd" + b"junk" * 9)
        load(tmp_path / "x.csv.zst")


def test_a_dbn_file_of_something_else_or_a_damaged_one_is_an_error(tmp_path):
    for content, told in (
        (dbn("trades"), "holds trades"),
        (dbn()[:-9], "DBN file"),
        (b"DBN\x01", "DBN file"),
    ):
        (tmp_path / "x.dbn").write_bytes(content)
        with pytest.raises(BarsError, match=told):
            load(tmp_path / "x.dbn")


def test_without_the_extra_the_error_names_it(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "databento", None)
    (tmp_path / "x.dbn").write_bytes(b"DBN\x01")
    with pytest.raises(BarsError, match=r"it comes with chartpact\[databento\]"):
        load(tmp_path / "x.dbn")


# ------------------------------------------------------------ the timeframe and number asked for


@pytest.fixture
def hours(tmp_path):
    path = tmp_path / "BTC_1h.csv"
    path.write_text(
        "time,open,high,low,close\n"
        + lines(*([START + 3600 * (n + 15), n + 1, n + 1, n + 1, n + 1] for n in range(48)))
    )
    return path


def test_a_longer_timeframe_resamples_an_equal_one_confirms_and_a_shorter_one_is_an_error(hours):
    assert load(hours, timeframe="1h") == load(hours)
    assert load(hours, timeframe="4h") == load(hours).resample("4h")
    with pytest.raises(BarsError, match="timeframe 5m was asked for, but the bars are 1h apart"):
        load(hours, timeframe="5m")
    with pytest.raises(BarsError, match="bars of 1h cannot be resampled to 90m"):
        load(hours, timeframe="90m")
    with pytest.raises(BarsError, match="there is no whole bar of 1W in 48 bars of 1h"):
        load(hours, timeframe="1W")


def test_the_last_bars_are_taken_after_resampling(hours):
    assert load(hours, last=5) == load(hours).last(5)
    assert load(hours, last=3, timeframe="4h") == load(hours).resample("4h").last(3)
    assert len(load(hours, last=1000)) == 48
    assert len(load("sample:es-5m", last=7)) == 7
    for wrong in (0, -5, 2.5, True, "7"):
        with pytest.raises(BarsError, match="last is"):
            load(hours, last=wrong)


def test_bars_are_stamped_with_their_period_where_that_is_asked_for(tmp_path):
    path = tmp_path / "x.csv"
    rows = [[START + 60 * n, 1, 1, 1, 1] for n in range(20) if n not in (5, 6)]
    path.write_text("time,open,high,low,close\n" + lines(*rows))
    first, period = (
        load(path, timeframe="5m", resample_stamp=stamp) for stamp in ("first", "period")
    )
    assert (first.time - period.time).tolist() == [0, 120_000, 0, 0]
    assert (period.time // 1000 % 300 == 0).all()
    assert first.close_time.tolist() == period.close_time.tolist()
    assert period == load(path).resample("5m", stamp="period")
    assert first.resample("5m", stamp="period") == period
    frame = load(path).to_pandas().resample("5min").close.first().dropna()
    assert frame.index.equals(period.to_pandas().index)
    with pytest.raises(BarsError, match="resample_stamp is 'open': it is 'first' or 'period'"):
        load(path, resample_stamp="open")


def test_frames_and_bars_take_the_same_options(hours):
    bars = load(hours)
    for given in (bars, bars.to_pandas(), bars.to_polars()):
        made = load(given, timeframe="4h", last=3, resample_stamp="period")
        assert made.close.tolist() == bars.resample("4h").last(3).close.tolist()


def test_one_bar_has_the_timeframe_that_is_given():
    bar = {"time": [START], "open": [1], "high": [1], "low": [1], "close": [1]}
    assert Bars.from_columns(bar, timeframe="4h").timeframe == "4h"


# ------------------------------------------------------------------------- the market of a symbol


def evening(symbol: str, **options) -> Bars:
    """Hours of a Monday in New York, from 09:00 to 20:00."""
    frame = {"time": [1_704_722_400 + 3600 * n for n in range(12)]}
    frame |= {name: [1.0] * 12 for name in ("open", "high", "low", "close")}
    return load(frame, symbol=symbol, **options)


def test_the_evening_in_new_york_belongs_to_the_day_of_a_share():
    bars = evening("SPY")
    assert (bars.market, bars.day_roll) == ("listed", "00:00 America/New_York")
    assert len(bars.resample("1D", partial=True)) == 1
    assert any("SPY is taken for a share or fund of New York" in note for note in bars.notes)


def test_a_ticker_that_nothing_is_known_of_is_noted_unless_the_caller_says_its_market():
    assert any("nothing tells on which days ESTC trades" in note for note in evening("ESTC").notes)
    assert evening("ESTC", market="listed").notes == ()
    assert evening("BTCUSDT").notes == evening("alpha_one").notes == ()


def test_daily_bars_of_a_share_that_are_dates_are_days_of_those_dates():
    days = ["2024-01-05", "2024-01-08", "2024-01-09"]
    frame = {"date": days, **{name: [1.0] * 3 for name in ("open", "high", "low", "close")}}
    bars = load(frame, symbol="SPY", timeframe="1D")
    assert bars.trading_day.astype("datetime64[D]").astype(str).tolist() == days
    assert Bars(bars.time, *[[1.0] * 3] * 5, "SPY", "1D").day_roll == "UTC midnight"
