"""Kinds of markets: what a symbol's name tells, and what may be said instead."""

import pytest
from tests.cases import in_one_test

from chartpact.clock.errors import ClockError
from chartpact.clock.markets import MARKETS, check_market, market_and_roll

FX = ("fx", "17:00 America/New_York")
METAL = ("fx", "18:00 America/New_York")
FUTURE = ("listed", "18:00 America/New_York")
SHARE = ("listed", "UTC midnight")
US_SHARE = ("listed", "00:00 America/New_York")
UNKNOWN = ("24x7", "UTC midnight")


@in_one_test(
    ("symbol", "meant"),
    [
        *((name, FX) for name in "EURUSD EUR/USD EUR_USD fx:usdjpy OANDA:GBPUSD EURUSD=X".split()),
        *((name, METAL) for name in "XAUUSD OANDA:XAG_USD".split()),
        *((name, FUTURE) for name in "ES NQ ESZ13 ESZ2026 ES1! ES=F /ES MNQH6 6EH4".split()),
        ("CME_MINI:NQ1!", FUTURE),
        *((name, US_SHARE) for name in "NASDAQ:AAPL nyse:IBM SPY AAPL spy BRK.B".split()),
        *((name, SHARE) for name in "XETR:DAX LSE:VOD".split()),
        *((name, UNKNOWN) for name in "BTCUSD BTCUSDT BTC-USD ESTC USDT MA cost".split()),
        *((name, UNKNOWN) for name in ("", "BINANCE:BTCUSDT", "COINBASE:ETHUSD")),
    ],
)
def test_a_symbol_tells_its_market_and_its_roll(symbol, meant):
    assert market_and_roll(symbol) == meant


@in_one_test("text", ["", "FX", "stock", "24/7", None, 5, ["fx"]], ids=str)
def test_what_is_no_market_is_refused_with_those_there_are(text):
    with pytest.raises(ClockError, match="is no kind of market: write '24x7'") as caught:
        check_market(text)
    assert all(repr(market) in str(caught.value) for market in MARKETS)
