"""A file's name tells the symbol and often the timeframe; daily levels depend on them."""

import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact.bars import BarsError
from chartpact.bars.filenames import read_name

MINUTE = 60_000


def write_bars(folder, name, step_ms=5 * MINUTE, count=4, header=True):
    """A file of that name with bars that are so far apart."""
    rows = [f"{(1_709_544_600_000 + n * step_ms) // 1000},10,12,9,11,100" for n in range(count)]
    path = folder / name
    path.write_text("\n".join((["time,open,high,low,close,Volume"] if header else []) + rows))
    return path


@in_one_test(
    ("name", "symbol", "timeframe"),
    [
        ("CME_MINI_ES1!, 5.csv", "CME_MINI:ES1!", "5m"),
        ("CME_MINI_ES1!, 5 (1).csv", "CME_MINI:ES1!", "5m"),
        ("CME_MINI_ES1!, 5_4f3a1.csv", "CME_MINI:ES1!", "5m"),
        ("CME_MINI_DL_ES1!, 60.csv", "CME_MINI_DL:ES1!", "1h"),
        ("NASDAQ_AAPL, 1D.csv", "NASDAQ:AAPL", "1D"),
        ("NSE_M_M, 1W.csv", "NSE:M_M", "1W"),
        ("FX_IDC_EURUSD, 240.csv", "FX_IDC:EURUSD", "4h"),
        ("BINANCE_BTCUSDT.P, 30S.csv", "BINANCE:BTCUSDT.P", "30s"),
        ("CRYPTOCAP_BTC.D, D.csv", "CRYPTOCAP:BTC.D", "1D"),
        ("ES1!, 15.csv", "ES1!", "15m"),
        ("CME_MINI_ES1!.csv", "CME_MINI:ES1!", ""),
        ("BTCUSDT-1h-2024-01.csv", "BTCUSDT", "1h"),
        ("BTCUSDT-1mo-2024-01-03.csv", "BTCUSDT", "1M"),
        ("ES 03-24.Last.txt", "ESH2024", ""),
        ("AAPL.Last.txt", "AAPL", ""),
        ("ESH24-CME.scid_BarData.txt", "ESH24", ""),
        ("ESH24_FUT_CME.scid_BarData.txt", "ESH24", ""),
        ("EUR_USD Historical Data.csv", "EUR_USD", ""),
        ("S&P 500 Historical Data (1).csv", "S&P 500", ""),
        ("EURUSD_M15_202210100000_202310100000.csv", "EURUSD", ""),
        ("ES_old.csv", "ES", ""),
        ("btc_usd_1h.csv", "btc_usd", ""),
        ("alpha_one.csv", "alpha_one", ""),
        ("EUR_USD.csv", "EUR_USD", ""),
        ("six_months.csv", "six_months", ""),
        ("notes, mine.csv", "notes, mine", ""),
    ],
)
def test_what_a_name_says(name, symbol, timeframe):
    clues = read_name(name)
    assert (clues.symbol, clues.timeframe) == (symbol, timeframe)


def test_a_tradingview_export_has_the_days_of_its_exchange_and_says_what_it_took(tmp_path):
    bars = cp.load(write_bars(tmp_path, "CME_MINI_ES1!, 5.csv"))
    assert (bars.symbol, bars.timeframe, bars.market) == ("CME_MINI:ES1!", "5m", "listed")
    assert bars.day_roll == "18:00 America/New_York"
    assert bars.notes == ("symbol CME_MINI:ES1! and timeframe 5m by the file's name",)
    delayed = cp.load(write_bars(tmp_path, "NASDAQ_DLY_AAPL, 5.csv"))
    assert (delayed.symbol, delayed.market) == ("NASDAQ_DLY:AAPL", "listed")


def test_what_the_caller_says_is_not_guessed(tmp_path):
    path = write_bars(tmp_path, "CME_MINI_ES1!, 5.csv")
    bars = cp.load(path, symbol="NQ", timeframe="5m")
    assert (bars.symbol, bars.notes) == ("NQ", ())
    assert cp.load(write_bars(tmp_path, "alpha_one.csv")).notes == ()


def test_one_bar_has_the_timeframe_of_its_files_name(tmp_path):
    assert cp.load(write_bars(tmp_path, "NASDAQ_AAPL, 60.csv", count=1)).timeframe == "1h"


def test_a_quiet_symbol_keeps_the_timeframe_of_its_files_name(tmp_path):
    path = tmp_path / "OTC_QUIET, 5.csv"
    times = [0, 600, 1200, 1500, 2400, 3000]
    path.write_text("time,open,high,low,close\n" + "".join(f"{t},1,1,1,1\n" for t in times))
    assert cp.load(path).timeframe == "5m"


@pytest.mark.parametrize("step", [MINUTE, 7 * MINUTE, 60 * MINUTE, 1440 * MINUTE])
def test_rows_that_contradict_the_name_are_a_question(tmp_path, step):
    path = write_bars(tmp_path, "CME_MINI_ES1!, 5.csv", step)
    with pytest.raises(
        BarsError, match=r"the file's name says 5m, but the bars are .* apart: give"
    ):
        cp.load(path)
    wanted = {1: "1m", 7: "7m", 60: "1h", 1440: "1D"}[step // MINUTE]
    assert cp.load(path, timeframe=wanted).timeframe == wanted


def test_bars_of_ticks_or_of_a_range_have_no_timeframe(tmp_path):
    path = write_bars(tmp_path, "CME_MINI_ES1!, 100R.csv")
    with pytest.raises(
        BarsError, match="bars of 100R on TradingView, which counts ticks or prices"
    ):
        cp.load(path)
    assert cp.load(path, timeframe="5m").symbol == "CME_MINI:ES1!"


def test_notes_do_not_make_bars_differ_and_go_with_them(tmp_path):
    noted = cp.load(write_bars(tmp_path, "CME_MINI_ES1!, 5.csv"))
    assert noted[1:].notes == noted.notes
    told = cp.load(
        write_bars(tmp_path, "CME_MINI_ES1!, 5.csv"), symbol="CME_MINI:ES1!", timeframe="5m"
    )
    assert told.notes != noted.notes
    assert told == noted
