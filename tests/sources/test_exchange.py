import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from tests.cases import in_one_test
from tests.sources import standin
from tests.sources.standin import DAY, HOUR, MINUTE, NOW, Client, row

from chartpact.bars import BarsError
from chartpact.sources import SourceFailed, UnknownSymbol
from chartpact.sources.exchange import Exchange
from chartpact.sources.remote import Deadlines

QUICK = Deadlines(request_s=1, answer_s=5, keep_s=60, keep_failure_s=60)


def exchange(client: Client, **options) -> Exchange:
    settings = {"history": 50, "deadlines": QUICK, "now": lambda: NOW} | options
    return Exchange("kiosk", "standin", connect=lambda *_: client, **settings)


def spoiled(spoil, **options):
    client = Client(**options)
    client.spoil = spoil
    return exchange(client)


def changed(number, column, value):
    def spoil(rows):
        rows[number][column] = value
        return rows

    return spoil


# -------------------------------------------------------------------------------- what is delivered


def test_the_last_completed_bars_are_delivered_and_never_the_running_one():
    bars = exchange(Client()).load("BTC/USDT")
    running = NOW // HOUR * HOUR
    assert bars.time.tolist() == list(range(running - 50 * HOUR, running, HOUR))
    assert [list(bar) for bar in (bars[0], bars[-1])] == [
        row(running - 50 * HOUR),
        row(running - HOUR),
    ]
    assert (bars.symbol, bars.timeframe, bars.source) == ("BTC/USDT", "1h", "kiosk")
    assert (bars.tick_size, bars.synthetic) == (0.5, False)


def test_a_bar_is_over_by_the_clock_of_the_exchange():
    late, early = (exchange(Client(ahead=ahead)).load("BTC/USDT") for ahead in (0, HOUR))
    assert early.time[-1] - late.time[-1] == HOUR


@in_one_test("page", [1, 7, 50, 1000])
def test_the_pages_of_an_exchange_make_no_difference(page):
    client = Client(page=page)
    assert exchange(client).load("BTC/USDT") == exchange(Client()).load("BTC/USDT")
    assert len(client.asked) >= 50 // page


def test_a_market_younger_than_the_history_delivers_what_there_is():
    first = NOW // HOUR * HOUR - 5 * HOUR
    for page in (3, 300):
        bars = exchange(Client(first=first, page=page)).load("BTC/USDT")
        assert bars.time.tolist() == [first + n * HOUR for n in range(5)]


def test_an_exchange_that_ignores_since_delivers_what_it_has():
    running = NOW // HOUR * HOUR
    client = Client()
    client.fetch_ohlcv = lambda *_: [row(running - n * HOUR) for n in range(20, -1, -1)]
    assert len(exchange(client).load("BTC/USDT")) == 20


def test_periods_without_a_trade_are_left_out():
    def quiet(rows):
        for each in rows[10:12]:
            each[1:] = [None, None, None, None, 0]
        return rows

    bars = spoiled(quiet).load("BTC/USDT")
    assert len(bars) == 48
    assert np.diff(bars.time).max() == 3 * HOUR


def test_a_volume_that_is_not_told_is_unknown():
    assert np.isnan(spoiled(changed(3, 5, None)).load("BTC/USDT").volume[3])


def test_a_timeframe_the_exchange_has_is_asked_for_as_it_spells_it():
    client = Client()
    bars = exchange(client).load("BTC/USDT", "1D")
    assert bars.time[-1] == NOW // DAY * DAY - DAY
    assert {each[1] for each in client.asked} == {"1d"}


def test_several_days_are_made_of_days_because_an_exchange_counts_them_from_1970():
    client = Client()
    client.timeframes["3d"] = "3d"
    bars = exchange(client).load("BTC/USDT", "3D")
    assert {step for _, step, _, _ in client.asked} == {"1d"}
    dates = bars.time.astype("datetime64[ms]").astype("datetime64[D]")
    assert (((dates - dates.astype("datetime64[Y]")).astype(int)) % 3 == 0).all()


def test_a_timeframe_the_exchange_lacks_is_made_of_whole_ones_it_has():
    bars = exchange(Client()).load("BTC/USDT", "2h")
    hours = exchange(Client(), history=200).load("BTC/USDT", "1h")
    assert len(bars) == 50
    assert bars.time[-1] == NOW // (2 * HOUR) * 2 * HOUR - 2 * HOUR
    assert bars.close.tolist() == [
        hours.close[np.searchsorted(hours.time, time) + 1] for time in bars.time
    ]


def test_a_timeframe_that_nothing_adds_up_to_names_those_there_are():
    with pytest.raises(BarsError, match="kiosk has no 30s bars; it has 1m 5m 1h 1D"):
        exchange(Client()).load("BTC/USDT", "30s")


def test_days_that_begin_at_another_hour_say_so():
    def eastern(rows):
        return [[each[0] - 8 * HOUR, *each[1:]] for each in rows]

    client = Client()
    client.spoil = eastern
    bars = exchange(client).load("BTC/USDT", "1D")
    assert bars.day_roll == "16:00 UTC"
    assert bars.close_time[-1] == bars.time[-1] + DAY <= NOW


def test_a_pair_of_currencies_trades_round_the_clock_on_an_exchange():
    bars = exchange(Client()).load("EUR/USD")
    assert (bars.day_roll, bars.market) == ("UTC midnight", "24x7")


# ---------------------------------------------------------------------------------- wrong questions


def test_an_unknown_symbol_gets_near_names_and_no_bars():
    client = Client()
    with pytest.raises(UnknownSymbol, match="kiosk has no market 'BTCUSDT'; near: BTC/USDT"):
        exchange(client).load("BTCUSDT")
    assert client.asked == []


@in_one_test("symbol", ["../../etc/passwd", "BTC/USDT?x=1", "", "BTC/USDT ", "x" * 9999])
def test_a_symbol_is_looked_up_and_never_sent_as_it_is(symbol):
    client = Client()
    with pytest.raises(UnknownSymbol) as caught:
        exchange(client).load(symbol)
    assert len(str(caught.value)) < 300
    assert client.asked == []


def test_an_operator_may_grant_some_symbols_alone():
    client = Client()
    source = exchange(client, symbols=("BTC/USDT",))
    assert [each.symbol for each in source.symbols()] == ["BTC/USDT@kiosk"]
    assert len(source.load("BTC/USDT")) == 50
    with pytest.raises(UnknownSymbol, match="'ETH/USDT' is not among the symbols of 'kiosk'"):
        source.load("ETH/USDT")
    assert {each[0] for each in client.asked} == {"BTC/USDT"}


# ------------------------------------------------------------------------------------ wrong answers


@in_one_test(
    ("spoil", "told"),
    [
        (lambda rows: rows[::-1], "comes after"),
        (lambda rows: [*rows[:9], rows[8], *rows[9:]], "is there twice"),
        (lambda rows: [*rows[:5], rows[7], rows[6], *rows[8:]], "comes after"),
        (changed(4, 2, 1.0), "high 1.0 is below"),
        (changed(4, 3, 1e9), "low 1000000000.0 is above"),
        (changed(4, 4, float("nan")), "no price: row 5"),
        (changed(4, 4, float("inf")), "no price: row 5"),
        (changed(4, 4, 10**400), "no price: row 5"),
        (changed(4, 5, 10**400), "no price: row 5"),
        (changed(4, 0, 10**400), "no bar: row 5"),
        (changed(4, 5, -1), "volume is -1"),
        (changed(4, 4, "101.5"), "no price: row 5"),
        (changed(4, 4, None), "no price: row 5"),
        (changed(4, 4, True), "no price: row 5"),
        (changed(4, 4, {}), "no price: row 5"),
        (changed(49, 0, NOW + DAY), "yet to come"),
        (lambda rows: [*rows[:3], rows[3][:4], *rows[4:]], "no bar: row 4"),
        (lambda _: {"code": -1}, "makes no sense"),
        (lambda _: None, "makes no sense"),
        (lambda _: "<html>", "makes no sense"),
        (lambda rows: [None, *rows], "makes no sense"),
        (lambda _: [["soon", 1, 1, 1, 1, 1]], "makes no sense"),
        (lambda _: [[float("nan"), 1, 1, 1, 1, 1]], "no completed"),
        (lambda rows: [[each[0] // 1000, *each[1:]] for each in rows], "no completed 1h bars"),
        (
            lambda rows: [row(each[0] + n * 20 * MINUTE) for each in rows[:-1] for n in range(3)],
            "other bars than the 1h asked for",
        ),
        (lambda _: [], "no completed 1h bars of BTC/USDT"),
        (lambda rows: rows[-1:] if rows[-1][0] > NOW - HOUR else [], "no completed 1h bars"),
    ],
)
def test_an_answer_that_cannot_be_is_an_error_and_never_mended(spoil, told):
    with pytest.raises(SourceFailed) as caught:
        spoiled(spoil).load("BTC/USDT")
    message = str(caught.value)
    assert told in message
    assert message.startswith("kiosk ")
    assert "\n" not in message
    assert len(message) < 300


@in_one_test(
    ("error", "told"),
    [
        (standin.NetworkError("kiosk GET https://…"), "kiosk cannot be reached"),
        (standin.RequestTimeout("kiosk GET https://…"), "kiosk did not answer in time"),
        (standin.RateLimitExceeded("429"), "kiosk refuses for now"),
        (standin.ExchangeError("451"), "kiosk refused the request"),
        (KeyError("result"), "kiosk answered with something that makes no sense"),
        (RecursionError(), "kiosk answered with something that makes no sense"),
    ],
)
def test_a_failure_is_told_in_words_and_nothing_else_is_delivered(error, told):
    def fail(_):
        raise error

    with pytest.raises(SourceFailed, match=told):
        spoiled(fail).load("BTC/USDT")


def test_an_exchange_without_bars_says_so():
    client = Client()
    client.has["fetchOHLCV"] = "emulated"
    with pytest.raises(SourceFailed, match="kiosk gives no bars, only trades"):
        exchange(client).load("BTC/USDT")


# ---------------------------------------------------------------------------- time-outs and caching


def test_the_same_range_is_asked_for_once_until_its_next_bar_begins():
    client = Client()
    now = [NOW]
    source = exchange(client, now=lambda: now[0])
    first = source.load("BTC/USDT")
    assert source.load("BTC/USDT") is first
    asked = len(client.asked)
    source.load("ETH/USDT")
    source.load("BTC/USDT", "5m")
    assert len(client.asked) > asked
    asked = len(client.asked)
    now[0] += HOUR
    client.ahead = HOUR
    assert source.load("BTC/USDT").time[-1] == first.time[-1] + HOUR
    assert len(client.asked) > asked


def test_an_answer_grows_old():
    client = Client()
    source = exchange(client, deadlines=Deadlines(keep_s=0.05))
    source.load("BTC/USDT")
    asked = len(client.asked)
    time.sleep(0.1)
    source.load("BTC/USDT")
    assert len(client.asked) == 2 * asked


def test_a_failure_is_not_asked_for_over_and_over_and_passes(monkeypatch):
    failing = [True]

    def sometimes(rows):
        calls.append(1)
        if failing[0]:
            raise standin.NetworkError("down")
        return rows

    calls: list[int] = []
    client = Client()
    client.spoil = sometimes
    source = exchange(client, deadlines=Deadlines(keep_failure_s=600))
    for _ in range(5):
        with pytest.raises(SourceFailed):
            source.load("BTC/USDT")
    assert len(calls) == 1
    failing[0] = False
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 601)
    monkeypatch.setattr("chartpact.sources.remote.time", later)
    assert len(source.load("BTC/USDT")) == 50


def test_who_asks_for_the_same_at_the_same_time_shares_one_answer():
    client = Client()
    begun, go = threading.Event(), threading.Event()

    def wait(rows):
        begun.set()
        go.wait(60)
        return rows

    client.spoil = wait
    source = exchange(client, deadlines=Deadlines(answer_s=60))
    got: list[object] = []
    threads = [
        threading.Thread(target=lambda: got.append(source.load("BTC/USDT"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    begun.wait(60)
    go.set()
    for thread in threads:
        thread.join()
    assert len(got) == 8
    assert len({id(each) for each in got}) == 1
    assert len(client.asked) == 1


def test_a_request_that_hangs_is_given_up_and_the_next_one_gets_a_new_client():
    stuck, free = Client(), Client()
    hang = threading.Event()
    stuck.spoil = lambda rows: hang.wait(60) and rows
    clients = [stuck, free]
    source = Exchange(
        "kiosk",
        "standin",
        history=50,
        connect=lambda *_: clients.pop(0),
        deadlines=Deadlines(answer_s=1),
        now=lambda: NOW,
    )
    with pytest.raises(SourceFailed, match=r"kiosk did not answer within 1 s"):
        source.load("BTC/USDT")
    assert len(source.load("BTC/USDT")) == 50
    assert free.asked
    hang.set()


def test_requests_that_hang_do_not_pile_up(monkeypatch):
    monkeypatch.setattr("chartpact.sources.remote.MOST_REQUESTS", 2)
    client = Client()
    hang = threading.Event()
    client.spoil = lambda rows: hang.wait(60) and rows
    source = exchange(client, deadlines=Deadlines(answer_s=0.1))
    for symbol in ("BTC/USDT", "ETH/USDT"):
        with pytest.raises(SourceFailed, match="did not answer"):
            source.load(symbol)
    with pytest.raises(SourceFailed, match="2 requests to answer already"):
        source.load("EUR/USD")
    hang.set()


def test_an_exchange_that_gives_bar_by_bar_is_stopped_in_time():
    client = Client(page=1)

    def slowly(rows):
        time.sleep(0.02)
        return rows

    client.spoil = slowly
    source = exchange(client, history=1000, deadlines=Deadlines(answer_s=0.2))
    with pytest.raises(SourceFailed, match=r"did not answer within|takes too long"):
        source.load("BTC/USDT")
    for asking in source._remote._requests:
        asking.join(60)
        assert not asking.is_alive()
    assert len(client.asked) < 1000


# ------------------------------------------------------------------------------- the library itself


def test_without_ccxt_the_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ccxt", None)
    with pytest.raises(SourceFailed, match=r"not installed: it comes with chartpact\[exchanges\]"):
        Exchange("kiosk", "binance").load("BTC/USDT")


def test_ccxt_is_asked_for_the_exchange_by_its_name(monkeypatch):
    made = []

    def shop(options):
        made.append(options)
        return Client()

    monkeypatch.setitem(sys.modules, "ccxt", SimpleNamespace(exchanges=["shop"], shop=shop))
    source = Exchange("kiosk", "shop", now=lambda: NOW, deadlines=Deadlines(request_s=2.5))
    assert len(source.load("BTC/USDT")) == 1000
    assert made == [{"enableRateLimit": True, "timeout": 2500}]
    with pytest.raises(SourceFailed, match="ccxt knows no exchange 'shopp'; near: shop"):
        Exchange("kiosk", "shopp").load("BTC/USDT")
