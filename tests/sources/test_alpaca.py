"""The adapter of Alpaca on a local server that answers as its data service does."""

from datetime import UTC, datetime

import pytest
from tests.service import Service
from tests.sources.standin import DAY, HOUR, MINUTE, NOW, row

from chartpact.bars import BarsError
from chartpact.sources import SourceFailed, UnknownSymbol
from chartpact.sources.configuration import parse_sources
from chartpact.sources.remote import Deadlines

STOCKS, CRYPTO = "/v2/stocks/bars", "/v1beta3/crypto/us/bars"
STEPS = {"1Min": MINUTE, "5Min": 5 * MINUTE, "1Hour": HOUR, "1Day": DAY}
NEW_YORK = 5 * HOUR  # behind UTC in winter


def text(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def bar(ms: int) -> dict:
    _, opening, high, low, close, volume = row(ms)
    prices = {"o": opening, "h": high, "l": low, "c": close}
    return {"t": text(ms), **prices, "v": volume, "n": 7, "vw": close}


def pages(query: dict) -> dict:
    """The newest bars first, 400 of them a page at most, as Alpaca tells them."""
    step = STEPS[query["timeframe"]]
    assert query["sort"] == "desc"
    offset = NEW_YORK if step == DAY and "/" not in query["symbols"] else 0
    start = datetime.fromisoformat(query["start"]).timestamp() * 1000
    newest = (NOW - offset) // step * step + offset
    begin = int(query.get("page_token", newest))
    count = min(int(query["limit"]), 400)
    times = [ms for ms in range(begin, begin - count * step, -step) if ms >= start]
    following = times[-1] - step if len(times) == count else None
    token = None if following is None else str(following)
    return {"bars": {query["symbols"]: [bar(ms) for ms in times]}, "next_page_token": token}


@pytest.fixture
def service(monkeypatch):
    running = Service()
    running.answers |= {STOCKS: pages, CRYPTO: pages}
    monkeypatch.setenv("APCA_API_KEY_ID", "key")
    monkeypatch.setenv("APCA_API_SECRET_KEY", "secret")
    monkeypatch.setattr("time.time_ns", lambda: NOW * 1_000_000)
    yield running
    running.close()


def alpaca(service, options=""):
    [config] = parse_sources(f"desk=alpaca?url={service.url}&history=500{options}")
    source = config.open()
    source._deadlines = source._remote._deadlines = Deadlines(2, 10, 0, 0)
    return source


def test_the_pages_of_a_stock_are_delivered_oldest_first_without_the_running_bar(service):
    bars = alpaca(service).load("AAPL", "1h")
    running = NOW // HOUR * HOUR
    assert bars.time.tolist() == list(range(running - 500 * HOUR, running, HOUR))
    assert list(bars[7]) == row(int(bars.time[7]))
    assert (bars.symbol, bars.source, bars.market) == ("AAPL", "desk", "listed")
    assert [path for path, _ in service.asked] == [STOCKS, STOCKS]
    assert service.asked[0][1]["feed"] == "iex"
    assert service.asked[0][1]["adjustment"] == "split"


def test_days_of_a_stock_begin_at_midnight_in_new_york(service):
    bars = alpaca(service).load("AAPL")
    assert bars.day_roll == "00:00 America/New_York"
    assert bars.close_time[-1] == NOW // DAY * DAY + NEW_YORK


def test_a_crypto_pair_needs_no_account(service, monkeypatch):
    monkeypatch.delenv("APCA_API_KEY_ID")
    bars = alpaca(service).load("BTC/USD", "2h")
    assert (len(bars), bars.timeframe, bars.market) == (500, "2h", "24x7")
    assert {path for path, _ in service.asked} == {CRYPTO}
    assert "feed" not in service.asked[0][1]
    with pytest.raises(SourceFailed, match="needs the key of an account in APCA_API_KEY_ID"):
        alpaca(service).load("AAPL")


def test_the_keys_go_in_headers_and_into_no_message(service, monkeypatch):
    sent = []
    handler = service.server.RequestHandlerClass
    answer = handler.do_GET

    def look(self):
        sent.append((self.headers["APCA-API-KEY-ID"], self.headers["APCA-API-SECRET-KEY"]))
        answer(self)

    monkeypatch.setattr(handler, "do_GET", look)
    service.answers[STOCKS] = (403, {"message": "forbidden."})
    with pytest.raises(SourceFailed, match=r"desk answered 403: forbidden\.") as caught:
        alpaca(service).load("AAPL")
    assert sent == [("key", "secret")]
    assert "secret" not in str(caught.value)
    assert not any("secret" in str(query) for _, query in service.asked)


def test_a_redirect_is_not_followed_with_the_keys(service):
    other = Service()
    try:
        service.answers[STOCKS] = (302, b"")
        handler = service.server.RequestHandlerClass
        handler.end_headers = _redirecting(handler.end_headers, f"{other.url}{STOCKS}")
        with pytest.raises(SourceFailed, match="desk answered 302"):
            alpaca(service).load("AAPL")
        assert other.asked == []
    finally:
        other.close()


def _redirecting(end_headers, where):
    def end(self):
        self.send_header("Location", where)
        end_headers(self)

    return end


def test_what_is_no_symbol_never_becomes_part_of_a_request(service):
    for symbol in ("../x", "aapl", "AAPL,MSFT", "AAPL&feed=sip", "", "A" * 40, "AAPL\n"):
        with pytest.raises(UnknownSymbol):
            alpaca(service).load(symbol)
    assert service.asked == []


def test_a_symbol_without_bars_is_unknown(service):
    service.answers[STOCKS] = {"bars": {}, "next_page_token": None}
    with pytest.raises(UnknownSymbol, match="desk has no 1D bars of 'ZZZZ'"):
        alpaca(service).load("ZZZZ")


def test_a_timeframe_it_lacks_is_made_of_one_it_has(service):
    assert alpaca(service).load("AAPL", "10m").timeframe == "10m"
    with pytest.raises(BarsError, match="desk has no 30s bars"):
        alpaca(service).load("AAPL", "30s")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ((429, {"message": "too many requests."}), "answered 429: too many requests"),
        ((500, b"oops"), "answered 500"),
        (b"<html>", "did not answer with JSON"),
        ([], "did not answer with a JSON object"),
        ({"bars": {"MSFT": []}}, "answered without its bars"),
        ({"bars": None}, "answered without its bars"),
        ({"bars": {"AAPL": [7]}}, "without a list of bars"),
        ({"bars": {"AAPL": [{}]}}, "something that is no bar"),
        ({"bars": {"AAPL": [{**bar(0), "t": "2024-03-04"}]}}, "something that is no bar"),
        ({"bars": {"AAPL": [{**bar(0), "o": "1"}]}}, "something that is no price"),
        ({"bars": {"AAPL": [bar(0), bar(HOUR)]}}, "bars that cannot be"),
        ({"bars": {"AAPL": [bar(NOW + DAY)]}}, "yet to come"),
        ({"bars": {"AAPL": [bar(0)]}, "next_page_token": 7}, "page token"),
    ],
)
def test_a_broken_answer_is_a_failure_in_words(service, answer, told):
    service.answers[STOCKS] = answer
    with pytest.raises(SourceFailed) as caught:
        alpaca(service).load("AAPL", "1h")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_a_server_it_is_a_failure(service):
    source = alpaca(service)
    service.close()
    with pytest.raises(SourceFailed, match="desk cannot be reached"):
        source.load("AAPL")
