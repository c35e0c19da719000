import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.cases import in_one_test

from chartpact.bars import BarsError
from chartpact.sources import SourceFailed, UnknownSymbol
from chartpact.sources.remote import Deadlines
from chartpact.sources.yahoo import INTERVALS, Yahoo

NEW_YORK = "America/New_York"
QUICK = Deadlines(request_s=1, answer_s=5)


class YFException(Exception):
    pass


class YFRateLimitError(YFException):
    pass


class YFPricesMissingError(YFException):
    pass


class YFTzMissingError(YFException):
    pass


def frame(times, zone=NEW_YORK) -> pd.DataFrame:
    index = pd.DatetimeIndex(pd.to_datetime(times)).tz_localize(zone)
    close = 100.0 + np.arange(len(index)) % 13
    return pd.DataFrame(
        {
            "Open": close - 0.25,
            "High": close + 0.5,
            "Low": close - 0.5,
            "Close": close,
            "Adj Close": close * 0.9,
            "Volume": 1000 + np.arange(len(index)),
        },
        index=index,
    )


class Module:
    """yfinance as the adapter sees it: a ticker, its history, its metadata, a search."""

    def __init__(self, answer, **meta) -> None:
        self.config = SimpleNamespace(debug=SimpleNamespace(hide_exceptions=True))
        self.asked: list[tuple[str, dict]] = []
        self.answer = answer
        self.meta = meta
        self.found = ["AAPL"]

    def Ticker(self, symbol):
        return Ticker(self, symbol)

    def Search(self, _query, **_):
        return SimpleNamespace(quotes=[{"symbol": each} for each in self.found])


class Ticker:
    def __init__(self, module, symbol) -> None:
        self.module = module
        self.symbol = symbol
        self.history_metadata = {"symbol": symbol, "exchangeTimezoneName": NEW_YORK} | module.meta

    def history(self, **options):
        self.module.asked.append((self.symbol, options))
        if isinstance(self.module.answer, Exception):
            assert not self.module.config.debug.hide_exceptions
            raise self.module.answer
        return self.module.answer


def at(text, zone=NEW_YORK) -> int:
    return int(pd.Timestamp(text, tz=zone).timestamp() * 1000)


def yahoo(module, now="2024-03-06 12:00", **options) -> Yahoo:
    return Yahoo("desk", connect=lambda: module, now=lambda: at(now), deadlines=QUICK, **options)


DAYS = ["2024-02-29", "2024-03-01", "2024-03-04", "2024-03-05", "2024-03-06"]


# -------------------------------------------------------------------------------- what is delivered


def test_days_are_delivered_without_the_one_that_runs_and_without_dividends_in_their_prices():
    module = Module(frame(DAYS))
    bars = yahoo(module).load("AAPL")
    assert bars.time.tolist() == [at(each) for each in DAYS[:-1]]
    assert bars.close.tolist() == [100, 101, 102, 103]
    assert (bars.symbol, bars.timeframe, bars.source) == ("AAPL", "1D", "desk")
    assert bars.day_roll == "00:00 America/New_York"
    [(symbol, options)] = module.asked
    assert symbol == "AAPL"
    assert (options["auto_adjust"], options["back_adjust"]) == (False, False)
    assert (options["period"], options["interval"], options["timeout"]) == ("10y", "1d", 1)
    assert module.config.debug.hide_exceptions is True


def test_a_day_is_over_after_its_night():
    for now, last in (("2024-03-06 23:59", "2024-03-05"), ("2024-03-07 01:00", "2024-03-06")):
        assert yahoo(Module(frame(DAYS)), now).load("AAPL").time[-1] == at(last)


def test_the_day_of_an_eastern_exchange_is_not_taken_for_over_when_it_begins():
    module = Module(frame(DAYS, "Asia/Tokyo"), exchangeTimezoneName="Asia/Tokyo")
    source = Yahoo("desk", connect=lambda: module, now=lambda: at("2024-03-06 09:30", "Asia/Tokyo"))
    bars = source.load("7203.T")
    assert bars.time[-1] == at("2024-03-05", "Asia/Tokyo")
    assert bars.close_time[-1] == at("2024-03-06", "Asia/Tokyo")


def test_a_bar_whose_trades_arrive_late_is_not_taken_for_over():
    times = [f"2024-03-06 {hour}" for hour in ("09:30", "09:35", "09:40")]
    seen = pd.Timestamp("2024-03-06 09:43", tz=NEW_YORK)
    for meta in ({"regularMarketTime": seen}, {"regularMarketTime": int(seen.timestamp())}, {}):
        late = yahoo(Module(frame(times), **meta), "2024-03-06 09:58").load("AAPL", "5m")
        assert late.time[-1] == at("2024-03-06 09:35")
    done = yahoo(Module(frame(times)), "2024-03-06 10:45").load("AAPL", "5m")
    assert done.time[-1] == at("2024-03-06 09:40")


def test_minutes_without_a_trade_are_left_out_and_half_a_row_is_an_error():
    prices = frame(DAYS)
    prices.iloc[1, :] = np.nan
    assert len(yahoo(Module(prices)).load("AAPL")) == 3
    prices.iloc[2, 1] = np.nan
    with pytest.raises(SourceFailed, match="no price: row 3"):
        yahoo(Module(prices)).load("AAPL")


def test_clock_changes_make_no_odd_bars():
    days = pd.date_range("2024-03-01", "2024-03-20", freq="B").strftime("%Y-%m-%d")
    bars = yahoo(Module(frame(days)), "2024-03-25 12:00").load("AAPL")
    assert len(bars) == len(days)
    assert bars.trading_day.tolist() == [
        (pd.Timestamp(each) - pd.Timestamp(0)).days for each in days
    ]


@in_one_test(
    ("symbol", "market", "roll"),
    [
        ("ES=F", "listed", "18:00 America/New_York"),
        ("EURUSD=X", "fx", "17:00 America/New_York"),
        ("ES", "listed", "00:00 America/New_York"),  # a share, at Yahoo
        ("BTC-USD", "24x7", "00:00 America/New_York"),
    ],
)
def test_the_trading_day_is_that_of_the_market(symbol, market, roll):
    kind = "CRYPTOCURRENCY" if market == "24x7" else "EQUITY"
    bars = yahoo(Module(frame(DAYS), instrumentType=kind)).load(symbol)
    assert (bars.market, bars.day_roll) == (market, roll)


def test_a_timeframe_yahoo_lacks_is_made_of_one_it_has():
    times = pd.date_range("2024-03-04 09:30", "2024-03-04 15:55", freq="5min")
    module = Module(frame(times))
    bars = yahoo(module).load("AAPL", "10m")
    assert module.asked[0][1]["interval"] == "5m"
    assert bars.timeframe == "10m"
    assert len(bars) == 39
    with pytest.raises(BarsError, match="desk has no 30s bars; it has 1m 2m"):
        yahoo(module).load("AAPL", "30s")


@in_one_test("timeframe", INTERVALS)
def test_every_timeframe_of_the_table_is_asked_for(timeframe):
    module = Module(frame(["2020-01-06", "2022-04-04"]))
    assert yahoo(module).load("AAPL", timeframe).timeframe == timeframe
    assert module.asked[0][1]["interval"] == INTERVALS[timeframe][0]


# ---------------------------------------------------------------------------------- what goes wrong


@in_one_test(
    "symbol", ["../x", "A/B", "AAPL?x=1", "AAPL%2F..", "", " AAPL", "A" * 31, "AAPL\n", "-", "Ä"]
)
def test_what_is_no_ticker_never_becomes_part_of_an_address(symbol):
    module = Module(frame(DAYS))
    with pytest.raises(UnknownSymbol, match="is no ticker of Yahoo"):
        yahoo(module).load(symbol)
    assert module.asked == []


def test_bars_of_another_symbol_are_refused():
    for other in ("AAPL2", None, 7):
        with pytest.raises(SourceFailed, match="desk was asked for AAPL, and answered"):
            yahoo(Module(frame(DAYS), symbol=other)).load("AAPL")


@in_one_test(
    "error",
    [
        YFTzMissingError("$APPL: possibly delisted; no timezone found"),
        YFPricesMissingError("$APPL: possibly delisted; no price data found (period=10y)"),
        YFPricesMissingError("$APPL: No data found, symbol may be delisted"),
    ],
)
def test_an_unknown_ticker_gets_near_names(error):
    module = Module(error)
    with pytest.raises(UnknownSymbol, match="desk has no 1D bars of 'APPL'; near: AAPL"):
        yahoo(module).load("APPL")
    module.found = None
    with pytest.raises(UnknownSymbol, match=r"desk has no 1D bars of 'APPL'$"):
        yahoo(module).load("APPL")


@in_one_test(
    ("error", "told"),
    [
        (YFRateLimitError("Too Many Requests"), "desk refuses for now"),
        (YFPricesMissingError("$AAPL: 1m data not available"), "desk has no such bars to give"),
        (
            type("ConnectTimeout", (type("Timeout", (OSError,), {}),), {})(),
            "did not answer in time",
        ),
        (ConnectionError("refused"), "desk cannot be reached"),
        (ValueError("Expecting value: line 1 column 1"), "makes no sense"),
    ],
)
def test_a_failure_is_told_in_words(error, told):
    with pytest.raises(SourceFailed, match=told):
        yahoo(Module(error)).load("AAPL")


@in_one_test(
    ("spoil", "told"),
    [
        (lambda prices: prices[::-1], "comes after"),
        (lambda prices: pd.concat([prices[:3], prices[2:]]), "is there twice"),
        (lambda prices: prices[:0], "no completed 1D bars of AAPL"),
        (lambda prices: prices[-1:], "no completed 1D bars of AAPL"),
        (lambda prices: prices.assign(High=1.0), "high 1.0 is below"),
        (lambda prices: prices.drop(columns="Close"), "makes no sense"),
        (lambda _: None, "makes no sense"),
        (lambda _: frame(["2024-03-04 09:30", "2024-03-04 10:30"]), "other bars than the 1D"),
        (lambda _: frame([*DAYS, "2024-04-01"]), "yet to come"),
    ],
)
def test_an_answer_that_cannot_be_is_an_error_and_never_mended(spoil, told):
    with pytest.raises(SourceFailed, match=told):
        yahoo(Module(spoil(frame(DAYS)))).load("AAPL")


def test_without_yfinance_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "yfinance", None)
    with pytest.raises(SourceFailed, match=r"not installed: it comes with chartpact\[yahoo\]"):
        Yahoo("desk").load("AAPL")


def test_an_older_yfinance_is_told_to_raise_by_its_option(monkeypatch):
    module = Module(frame(DAYS))
    del module.config
    monkeypatch.setitem(sys.modules, "yfinance", module)
    source = Yahoo("desk", now=lambda: at("2024-03-06 12:00"), symbols=("AAPL",))
    assert len(source.load("AAPL")) == 4
    assert module.asked[0][1]["raise_errors"] is True
    assert [each.symbol for each in source.symbols()] == ["AAPL@desk"]
    with pytest.raises(UnknownSymbol, match="not among the symbols of 'desk'"):
        source.load("MSFT")
