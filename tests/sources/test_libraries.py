"""The adapters with the real ccxt and yfinance, on local servers that answer as the services do.

No test here reaches the live services.
"""

import threading
from urllib.parse import urlsplit, urlunsplit

import pandas as pd
import pytest
from tests.service import Service
from tests.sources.standin import HOUR, NOW, row

from chartpact.sources import SourceFailed, UnknownSymbol, exchange, yahoo
from chartpact.sources.exchange import Exchange
from chartpact.sources.remote import Deadlines
from chartpact.sources.yahoo import Yahoo

pytestmark = pytest.mark.filterwarnings("default")  # theirs, not ours

QUICK = Deadlines(request_s=2, answer_s=10, keep_s=0, keep_failure_s=0)


@pytest.fixture
def service():
    running = Service()
    yield running
    running.close()


# ---------------------------------------------------------------------------------- Binance by ccxt


def _market(base: str, quote: str) -> dict:
    return {
        "symbol": base + quote,
        "status": "TRADING",
        "baseAsset": base,
        "quoteAsset": quote,
        "baseAssetPrecision": 8,
        "quotePrecision": 8,
        "orderTypes": ["LIMIT"],
        "isSpotTradingAllowed": True,
        "permissions": ["SPOT"],
        "filters": [
            {"filterType": "PRICE_FILTER", "tickSize": "0.50000000"},
            {"filterType": "LOT_SIZE", "stepSize": "0.00010000", "minQty": "0.1", "maxQty": "9"},
        ],
    }


@pytest.fixture
def binance(service):
    nothing = {"symbols": []}
    service.answers |= {
        "/api/v3/exchangeInfo": {"symbols": [_market("BTC", "USDT"), _market("ETH", "USDT")]},
        "/fapi/v1/exchangeInfo": nothing,
        "/dapi/v1/exchangeInfo": nothing,
        "/api/v3/time": {"serverTime": NOW},
        "/api/v3/klines": _klines,
    }

    def connect(name: str, request_s: float):
        client = exchange.connect(name, request_s)
        client.urls["api"] = {
            key: service.url + "/" + address.split("/", 3)[3]
            for key, address in client.urls["api"].items()
        }
        return client

    return Exchange(
        "binance", "binance", history=1500, connect=connect, deadlines=QUICK, now=lambda: NOW
    )


def _klines(query: dict) -> list:
    assert (query["symbol"], query["interval"]) == ("BTCUSDT", "1h")
    first = -(-int(query["startTime"]) // HOUR) * HOUR
    times = range(first, NOW, HOUR)[: int(query["limit"])]
    return [
        [each, *map(str, row(each)[1:]), each + HOUR - 1, "0", 1, "0", "0", "0"] for each in times
    ]


def test_ccxt_delivers_the_pages_of_an_exchange(binance, service):
    bars = binance.load("BTC/USDT")
    running = NOW // HOUR * HOUR
    assert bars.time.tolist() == [running - n * HOUR for n in range(1500, 0, -1)]
    assert list(bars[7]) == row(int(bars.time[7]))
    assert (bars.tick_size, bars.symbol) == (0.5, "BTC/USDT")
    assert [path for path, _ in service.asked].count("/api/v3/klines") == 2


def test_ccxt_names_the_markets_that_are_near(binance):
    with pytest.raises(UnknownSymbol, match="binance has no market 'BTCUSDT'; near: BTC/USDT"):
        binance.load("BTCUSDT")


@pytest.mark.parametrize(
    ("path", "answer", "told"),
    [
        ("/api/v3/klines", (429, {"code": -1003, "msg": "Too many requests"}), "refuses for now"),
        ("/api/v3/klines", (418, {"code": -1003, "msg": "banned"}), "refuses for now"),
        ("/api/v3/klines", (451, {"code": 0, "msg": "restricted location"}), "binance "),
        ("/api/v3/klines", (500, b"oops"), "cannot be reached"),
        ("/api/v3/klines", (200, b"<html>"), "binance "),
        ("/api/v3/klines", (200, b"["), "binance "),
        ("/api/v3/klines", {"surprise": 1}, "binance "),
        ("/api/v3/klines", [["x"]], "binance "),
        ("/api/v3/klines", [[None] * 12], "binance "),
        ("/api/v3/klines", [], "no completed 1h bars"),
        ("/api/v3/exchangeInfo", (503, b""), "cannot be reached"),
        ("/api/v3/exchangeInfo", b"{", "binance names no markets"),
        ("/api/v3/time", {"serverTime": "soon"}, "binance does not report its clock"),
    ],
)
def test_ccxt_on_a_broken_answer_is_a_failure_in_words(binance, service, path, answer, told):
    service.answers[path] = answer
    with pytest.raises(SourceFailed) as caught:
        binance.load("BTC/USDT")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_ccxt_without_a_server_is_a_failure(binance, service):
    service.close()
    with pytest.raises(SourceFailed, match="binance cannot be reached"):
        binance.load("BTC/USDT")


def test_ccxt_on_a_server_that_keeps_silent_gives_up_in_time(binance, service):
    binance._remote._deadlines = Deadlines(request_s=1, answer_s=1, keep_failure_s=0)
    over = threading.Event()
    service.answers["/api/v3/klines"] = lambda _: over.wait(60) and []
    try:
        with pytest.raises(SourceFailed, match="did not answer"):
            binance.load("BTC/USDT")
        assert not over.is_set()
    finally:
        over.set()


def test_every_exchange_of_ccxt_can_be_named():
    import ccxt

    from chartpact.sources.configuration import parse_sources

    for name in ccxt.exchanges:
        assert parse_sources(f"x=ccxt:{name}")[0].what == name


# -------------------------------------------------------------------------------- Yahoo by yfinance


NEW_YORK = "America/New_York"


def _at(text: str) -> int:
    return int(pd.Timestamp(text, tz=NEW_YORK).timestamp())


def _chart(times: list[str], symbol: str = "AAPL", seen: str = "2024-03-06 11:45") -> dict:
    stamps = [_at(each) for each in times]
    close = [100.0 + n for n in range(len(times))]
    period = {"timezone": "EST", "gmtoffset": -18000}
    days = sorted({each[:10] for each in times})
    sessions = [
        [{**period, "start": _at(f"{day} 09:30"), "end": _at(f"{day} 16:00")}] for day in days
    ]
    meta = {
        "symbol": symbol,
        "currency": "USD",
        "instrumentType": "EQUITY",
        "exchangeTimezoneName": NEW_YORK,
        "timezone": "EST",
        "gmtoffset": -18000,
        "regularMarketTime": _at(seen),
        "firstTradeDate": 345479400,
        "priceHint": 2,
        "dataGranularity": "1d",
        "range": "10y",
        "validRanges": ["1d", "5d", "1mo", "3mo", "6mo", "1y", "2y", "5y", "10y", "ytd", "max"],
        "tradingPeriods": sessions,
    }
    quote = {
        "open": close,
        "high": [each + 1 for each in close],
        "low": [each - 1 for each in close],
        "close": close,
        "volume": [1000] * len(times),
    }
    indicators = {"quote": [quote], "adjclose": [{"adjclose": [each / 2 for each in close]}]}
    result = {"meta": meta, "timestamp": stamps, "indicators": indicators}
    return {"chart": {"result": [result], "error": None}}


DAYS = [f"2024-03-0{day} 09:30" for day in (1, 4, 5, 6)]
MISSING = {"code": "Not Found", "description": "No data found, symbol may be delisted"}


@pytest.fixture
def desk(service, tmp_path, monkeypatch):
    """yfinance whose every request goes to the local server."""
    import yfinance
    import yfinance.data
    from yfinance._http import requests

    class Local(requests.Session):
        def request(self, method, url, *rest, **options):
            local = urlsplit(service.url)
            here = urlsplit(url)._replace(scheme=local.scheme, netloc=local.netloc)
            return super().request(method, urlunsplit(here), *rest, **options)

    monkeypatch.setattr(yfinance.data.SingletonMeta, "_instances", {})
    yfinance.set_tz_cache_location(str(tmp_path / "cache"))
    yfinance.data.YfData(session=Local())
    service.answers |= {
        "/": b"",
        "/v1/test/getcrumb": b"crumb",
        "/v8/finance/chart/AAPL": _chart(DAYS),
        "/v1/finance/search": {"quotes": [{"symbol": "AAPL"}], "news": []},
    }
    now = _at("2024-03-06 12:00") * 1000
    return Yahoo("desk", connect=yahoo.connect, now=lambda: now, deadlines=QUICK)


def test_yfinance_delivers_days_as_they_were_traded(desk):
    bars = desk.load("AAPL")
    assert bars.time.tolist() == [_at(day[:10]) * 1000 for day in DAYS[:-1]]
    assert bars.close.tolist() == [100, 101, 102]
    assert (bars.symbol, bars.timeframe) == ("AAPL", "1D")
    assert bars.day_roll == "00:00 America/New_York"


def test_yfinance_delivers_minutes_without_those_that_may_still_change(desk, service):
    times = [f"2024-03-06 {each}" for each in ("11:30", "11:35", "11:40", "11:45")]
    service.answers["/v8/finance/chart/AAPL"] = _chart(times, seen="2024-03-06 11:46")
    bars = desk.load("AAPL", "5m")
    assert bars.time.tolist() == [_at(each) * 1000 for each in times[:-1]]


def test_yfinance_on_an_unknown_ticker_names_those_that_are_near(desk, service):
    service.answers["/v8/finance/chart/APPL"] = (
        404,
        {"chart": {"result": None, "error": MISSING}},
    )
    with pytest.raises(UnknownSymbol, match="desk has no 1D bars of 'APPL'; near: AAPL"):
        desk.load("APPL")


@pytest.mark.parametrize(
    "answer",
    [
        (429, b"Too Many Requests"),
        (500, b"oops"),
        (200, b"<html>"),
        (200, b"Will be right back"),
        {"chart": {"result": [], "error": None}},
        {"surprise": 1},
        _chart(DAYS, symbol="MSFT"),
    ],
)
def test_yfinance_on_a_broken_answer_is_an_error_and_no_bars(desk, service, answer):
    service.answers["/v8/finance/chart/AAPL"] = answer
    with pytest.raises((SourceFailed, UnknownSymbol)) as caught:
        desk.load("AAPL")
    assert str(caught.value).startswith("desk ")


def test_yfinance_without_a_server_is_a_failure(desk, service):
    service.close()
    with pytest.raises(SourceFailed, match="desk cannot be reached"):
        desk.load("AAPL")
