"""The adapter of OANDA on a local server that answers as its REST service does."""

from datetime import UTC, datetime

import pytest
from tests.service import Service
from tests.sources.standin import DAY, HOUR, MINUTE, NOW, row

from chartpact.bars import BarsError
from chartpact.sources import SourceFailed, UnknownSymbol
from chartpact.sources.configuration import parse_sources
from chartpact.sources.remote import Deadlines

CANDLES = "/v3/instruments/EUR_USD/candles"
STEPS = {"M1": MINUTE, "H1": HOUR, "D": DAY}
ROLL = 22 * HOUR  # 17:00 in New York


def text(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.000000000Z")


def candle(ms: int, complete: bool = True) -> dict:
    _, *prices, volume = row(ms)
    mid = {key: f"{price:.5f}" for key, price in zip("ohlc", prices, strict=True)}
    return {"complete": complete, "volume": int(volume), "time": text(ms), "mid": mid}


def candles(query: dict) -> dict:
    step = STEPS[query["granularity"]]
    offset = ROLL if step == DAY else 0
    newest = (NOW - offset) // step * step + offset
    if "to" in query:
        before = datetime.fromisoformat(query["to"]).timestamp() * 1000
        newest = min(newest, int((before - 1 - offset) // step * step + offset))
    times = range(newest - (int(query["count"]) - 1) * step, newest + 1, step)
    rows = [candle(ms, ms + step <= NOW) for ms in times]
    return {"instrument": "EUR_USD", "granularity": query["granularity"], "candles": rows}


@pytest.fixture
def service(monkeypatch):
    running = Service()
    running.answers[CANDLES] = candles
    monkeypatch.setenv("OANDA_API_TOKEN", "secret")
    monkeypatch.setattr("time.time_ns", lambda: NOW * 1_000_000)
    yield running
    running.close()


def oanda(service, history=500):
    [config] = parse_sources(f"desk=oanda?url={service.url}&history={history}")
    source = config.open()
    source._deadlines = source._remote._deadlines = Deadlines(2, 10, 0, 0)
    return source


def test_the_middle_prices_of_complete_candles_are_delivered(service):
    bars = oanda(service).load("EUR_USD")
    running = NOW // HOUR * HOUR
    assert bars.time.tolist() == list(range(running - 500 * HOUR, running, HOUR))
    assert list(bars[7]) == row(int(bars.time[7]))
    assert (bars.market, bars.day_roll) == ("fx", "17:00 America/New_York")
    [(_, query)] = service.asked
    assert (query["price"], query["dailyAlignment"]) == ("M", "17")


def test_more_than_a_page_is_fetched_backwards(service, monkeypatch):
    monkeypatch.setattr("chartpact.sources.oanda.PAGE", 120)
    bars = oanda(service).load("EUR_USD")
    assert len(bars) == 500
    assert (bars.time[1:] - bars.time[:-1] == HOUR).all()
    assert len(service.asked) == 5


def test_days_begin_at_17_00_in_new_york(service):
    bars = oanda(service, history=20).load("EUR_USD", "1D")
    assert {int(ms) % DAY for ms in bars.time} == {ROLL}
    assert bars.close_time[-1] <= NOW


def test_the_token_goes_in_a_header_and_into_no_message(service, monkeypatch):
    sent = []
    handler = service.server.RequestHandlerClass
    answer = handler.do_GET

    def look(self):
        sent.append(self.headers["Authorization"])
        answer(self)

    monkeypatch.setattr(handler, "do_GET", look)
    service.answers[CANDLES] = (401, {"errorMessage": "Insufficient authorization"})
    with pytest.raises(SourceFailed, match="desk answered 401: Insufficient auth") as caught:
        oanda(service).load("EUR_USD")
    assert sent == ["Bearer secret"]
    assert "secret" not in str(caught.value)
    monkeypatch.delenv("OANDA_API_TOKEN")
    with pytest.raises(SourceFailed, match="desk needs the token of an account in OANDA_API_TOKEN"):
        oanda(service).load("EUR_USD")


def test_what_is_no_instrument_never_becomes_part_of_an_address(service):
    for symbol in ("../x", "EURUSD", "EUR_USD/candles", "EUR_USD?x=1", "", "eur_usd"):
        with pytest.raises(UnknownSymbol, match="no instrument of OANDA, such as EUR_USD"):
            oanda(service).load(symbol)
    assert service.asked == []


def test_a_timeframe_it_lacks_is_made_of_one_it_has(service):
    assert oanda(service).load("EUR_USD", "1W").timeframe == "1W"
    with pytest.raises(BarsError, match="desk has no 1s bars"):
        oanda(service).load("EUR_USD", "1s")


def answer(**changes) -> dict:
    return {"instrument": "EUR_USD", "granularity": "H1", "candles": [candle(0)], **changes}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((503, b""), "answered 503"),
        ((400, {"errorMessage": "Invalid value"}), "answered 400: Invalid value"),
        (b"{", "did not answer with JSON"),
        (answer(instrument="GBP_USD"), "was asked for EUR_USD, and answered"),
        (answer(granularity="M1"), "was asked for EUR_USD, and answered"),
        (answer(candles=None), "without a list of candles"),
        (answer(candles=[]), "no completed 1h bars"),
        (answer(candles=[{"complete": True}]), "a candle without prices"),
        (answer(candles=[{**candle(0), "time": "soon"}]), "something that is no bar"),
        (answer(candles=[{**candle(0), "mid": {"o": "x"}}]), "something that is no price"),
        (answer(candles=[candle(HOUR), candle(0)]), "bars that cannot be"),
        (answer(candles=[candle(NOW + DAY)]), "yet to come"),
    ],
)
def test_a_broken_answer_is_a_failure_in_words(service, given, told):
    service.answers[CANDLES] = given
    with pytest.raises(SourceFailed) as caught:
        oanda(service).load("EUR_USD")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_a_server_it_is_a_failure(service):
    source = oanda(service)
    service.close()
    with pytest.raises(SourceFailed, match="desk cannot be reached"):
        source.load("EUR_USD")
