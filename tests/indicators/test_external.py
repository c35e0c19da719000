"""Readings from outside: aligned without looking ahead, and never an empty panel."""

import socket
import threading
import time
from contextlib import suppress

import numpy as np
import pytest
from tests.service import Service

import chartpact as cp
from chartpact.bars import Bars
from chartpact.catalogue import Catalogue
from chartpact.needs import Readings
from chartpact.params import IndicatorError
from chartpact.sources.readings import Addresses, Services

HOUR = 3_600_000
START = 1_709_510_400_000
NETWORKED = ("funding", "oi", "long_short", "fear_greed")
PATHS = {
    "funding": "/fapi/v1/fundingRate",
    "oi": "/futures/data/openInterestHist",
    "long_short": "/futures/data/globalLongShortAccountRatio",
    "fear_greed": "/fng/",
}


def funding_at(*times):
    return [{"symbol": "BTCUSDT", "fundingTime": t, "fundingRate": "0.0001"} for t in times]


def interest(first, last, step=HOUR):
    return [
        {"timestamp": t, "sumOpenInterestValue": str(float(t - START))}
        for t in range(first, last + 1, step)
    ]


def asked_range(query):
    return int(query["startTime"]), int(query["endTime"])


def test_a_bar_shows_the_last_reading_before_its_close(service, hourly):
    rates = {START - 1: -0.5, START + HOUR: 0.01, START + 3 * HOUR + 60_000: 0.02}
    service.answers[PATHS["funding"]] = [
        {"fundingTime": t, "fundingRate": str(rate)} for t, rate in rates.items()
    ]
    values = cp.indicator("funding")(hourly).plots[0].values
    # bar 0 closes as the second reading comes, so it does not know it; bar 3 is open at the third
    assert values[:5] == pytest.approx([-50.0, 1.0, 1.0, 2.0, 2.0])


def test_readings_that_come_later_change_no_earlier_bar(service, hourly):
    times = [START + k * HOUR // 2 for k in range(-4, 44)]
    service.answers[PATHS["oi"]] = lambda query: [
        {"timestamp": t, "sumOpenInterestValue": str(k * 10.0)}
        for k, t in enumerate(times)
        if asked_range(query)[0] <= t <= asked_range(query)[1]
    ]
    whole = cp.indicator("oi")(hourly).plots[0].values
    for k in (1, 5, 17):
        part = cp.indicator("oi")(hourly[:k]).plots[0].values
        np.testing.assert_array_equal(part, whole[:k])


def test_an_old_reading_is_not_drawn_on(service, hourly):
    service.answers[PATHS["funding"]] = funding_at(START)
    values = cp.indicator("funding")(hourly).plots[0].values
    assert not np.isnan(values[:9]).any()  # eight hours
    assert np.isnan(values[9:]).all()


def test_long_and_short_are_two_lines_of_one_answer(service, hourly):
    service.answers[PATHS["long_short"]] = [
        {"timestamp": START, "longAccount": "0.6", "shortAccount": "0.4"}
    ]
    scene = cp.indicator("ls_ratio")(hourly)
    assert [plot.title for plot in scene.plots[:2]] == ["Long", "Short"]
    assert (scene.plots[0].values[0], scene.plots[1].values[0]) == (0.6, 0.4)
    assert scene.y_range is None  # shares near one half would be squashed


def test_fear_and_greed_reads_seconds_in_any_order_and_needs_no_symbol(service, hourly):
    service.answers[PATHS["fear_greed"]] = {
        "data": [
            {"value": "71", "timestamp": str(START // 1000 + 12 * 3600)},
            {"value": "20", "timestamp": str(START // 1000)},
        ]
    }
    bars = Bars(
        *(getattr(hourly, c) for c in "time open high low close volume".split()), "ES", "1h"
    )
    values = cp.indicator("fng")(bars).plots[0].values
    assert values[[0, 11, 12, 23]].tolist() == [20.0, 20.0, 71.0, 71.0]


def test_a_long_range_is_read_in_pages(service):
    n = 1200
    bars = Bars(START + HOUR * np.arange(n), *[np.ones(n)] * 5, symbol="ETHUSDT", timeframe="1h")
    service.answers[PATHS["oi"]] = lambda query: interest(
        -(-asked_range(query)[0] // HOUR) * HOUR, asked_range(query)[1]
    )[: int(query["limit"])]
    values = cp.indicator("oi")(bars).plots[0].values
    np.testing.assert_array_equal(values, (HOUR * np.arange(n)).astype(float))
    assert len(service.asked) == 3
    assert {query["period"] for _, query in service.asked} == {"1h"}


def test_a_full_page_that_ends_early_is_continued_after_its_last_reading(service, hourly):
    """Contracts that pay hourly fill a page of funding sooner than its span."""
    times = [START + k * 60_000 for k in range(1400)]
    service.answers[PATHS["funding"]] = lambda query: funding_at(
        *[t for t in times if asked_range(query)[0] <= t <= asked_range(query)[1]][:1000]
    )
    values = cp.indicator("funding")(hourly).plots[0].values
    assert not np.isnan(values).any()
    assert len(service.asked) == 2


def test_the_same_range_is_asked_for_once(service, hourly):
    service.answers[PATHS["funding"]] = funding_at(START)
    for _ in range(3):
        cp.indicator("funding")(hourly)
    assert len(service.asked) == 1
    cp.indicator("funding")(hourly[:10])
    assert len(service.asked) == 2


def test_a_range_that_is_not_over_is_asked_for_again_after_a_while(service, hourly):
    service.answers[PATHS["funding"]] = funding_at(START)
    clock = START / 1000 + 10 * 3600  # in the middle of the bars
    services = Services(Addresses(service.url), now=lambda: clock)
    for _ in range(2):
        cp.chart(hourly, "funding", fetch=services.read)
    assert len(service.asked) == 1
    clock += 60
    service.answers[PATHS["funding"]] = funding_at(START, START + 8 * HOUR)
    scene = cp.chart(hourly, "funding", fetch=services.read).drawn[0].scene
    assert scene.plots[0].values[16] == pytest.approx(0.01)
    assert len(service.asked) == 2


def test_a_failing_server_is_tried_once_more(service, hourly):
    tries = []

    def answer(query):
        tries.append(query)
        return (503, {}) if len(tries) == 1 else funding_at(START)

    service.answers[PATHS["funding"]] = answer
    assert cp.indicator("funding")(hourly).plots[0].values[0] == pytest.approx(0.01)
    assert len(tries) == 2


def error_of(name, bars):
    with pytest.raises(IndicatorError) as raised:
        cp.indicator(name)(bars)
    assert raised.value.kind == "unavailable"
    assert raised.value.message.startswith(f"{name}: ")
    return raised.value.message


@pytest.mark.parametrize("name", NETWORKED)
def test_a_refusal_is_an_error_in_the_servers_words_and_not_tried_again(service, hourly, name):
    service.answers[PATHS[name]] = (400, {"code": -1121, "msg": "Invalid symbol."})
    assert "answered 400: Invalid symbol." in error_of(name, hourly)
    assert len(service.asked) == 1


@pytest.mark.parametrize("name", NETWORKED)
@pytest.mark.parametrize(
    "body",
    [
        b"<html>not json</html>",
        b"",
        b'{"code": -1}',
        b"[1, 2]",
        b'[{"timestamp": 1709510400000}]',
        b'{"data": [{"timestamp": "x", "value": "1"}]}',
        b'[{"fundingTime": 1709510400000, "fundingRate": "NaN", "timestamp": 1709510400000,'
        b' "sumOpenInterestValue": null, "longAccount": [], "shortAccount": "0.5"}]',
        b'{"data": null}',
    ],
)
def test_a_malformed_answer_is_an_error(service, hourly, name, body):
    service.answers[PATHS[name]] = (200, body)
    assert "JSON" in (said := error_of(name, hourly)) or "cannot be read" in said


@pytest.mark.parametrize("name", NETWORKED)
def test_no_readings_are_an_error_and_not_an_empty_panel(service, hourly, name):
    service.answers[PATHS[name]] = {"data": []} if name == "fear_greed" else []
    assert "no " + name in error_of(name, hourly)


@pytest.mark.parametrize("name", NETWORKED)
def test_no_network_is_an_error(monkeypatch, hourly, name):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    monkeypatch.setenv("CHARTPACT_FUTURES_URL", url)
    monkeypatch.setenv("CHARTPACT_SENTIMENT_URL", url)
    assert "cannot be reached" in error_of(name, hourly)


def test_a_server_that_says_nothing_is_given_up_in_time_and_not_asked_again(monkeypatch, hourly):
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        monkeypatch.setenv("CHARTPACT_FUTURES_URL", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        monkeypatch.setenv("CHARTPACT_HTTP_TIMEOUT_S", "0.1")
        error = error_of("oi", hourly)
        assert error == "oi: the futures service did not answer within 0.1 s"
        deaf.setblocking(False)
        deaf.accept()[0].close()
        with pytest.raises(BlockingIOError):
            deaf.accept()


@pytest.mark.parametrize("begin", [
    b"HTTP/1.1 200 OK\r\nX-Wait: ",
    b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n",
    b"HTTP/1.1 500 Sorry\r\nContent-Length: 5000\r\n\r\n",
], ids=["headers", "body", "refusal"])  # fmt: skip
def test_a_server_that_sends_a_byte_now_and_then_is_given_up_in_time(monkeypatch, hourly, begin):
    over = threading.Event()

    def trickle(listening):
        while not over.is_set():
            with suppress(OSError), listening.accept()[0] as asking:
                asking.sendall(begin)
                while not over.wait(0.05):
                    asking.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        threads = [threading.Thread(target=trickle, args=(listening,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        monkeypatch.setenv(
            "CHARTPACT_FUTURES_URL", f"http://127.0.0.1:{listening.getsockname()[1]}"
        )
        monkeypatch.setenv("CHARTPACT_HTTP_TIMEOUT_S", "0.2")
        try:
            assert "did not answer within 0.2 s" in error_of("funding", hourly)
        finally:
            over.set()
            for thread in threads:
                thread.join()


def test_a_service_that_does_not_answer_is_waited_for_once(service, hourly):
    left_alone = Services(Addresses(service.url), trouble_s=600)
    service.answers[PATHS["funding"]] = (503, {"msg": "down"})
    service.answers[PATHS["oi"]] = [{"timestamp": START, "sumOpenInterestValue": "7"}]
    drawn = cp.chart(hourly, ["funding", "oi"], fetch=left_alone.read).drawn
    assert ["answered 503: down" in each.error.message for each in drawn] == [True, True]
    assert [path for path, _ in service.asked] == [PATHS["funding"]] * 2
    over_at_once = Services(Addresses(service.url), trouble_s=0)
    drawn = cp.chart(hourly, ["funding", "oi"], fetch=over_at_once.read).drawn
    assert drawn[1].scene.plots[0].values[0] == 7


def test_two_services_are_asked_at_the_same_time(service, hourly, monkeypatch):
    other = Service()
    monkeypatch.setenv("CHARTPACT_SENTIMENT_URL", other.url)
    both = threading.Barrier(2, timeout=1)  # each answers once the other was asked too

    def answer(rows):
        both.wait()
        return rows

    greed = {"data": [{"timestamp": str(START // 1000), "value": "40"}]}
    service.answers[PATHS["funding"]] = lambda _: answer(funding_at(START))
    other.answers[PATHS["fear_greed"]] = lambda _: answer(greed)
    drawn = cp.chart(hourly, ["funding", "oi", "fear_greed", "rsi:period=3"]).drawn
    assert [each.error is None for each in drawn] == [True, False, True, True]
    assert "no such path" in drawn[1].error.message
    assert [path for path, _ in service.asked] == [PATHS["funding"], PATHS["oi"]]
    other.close()


def test_pages_that_come_slowly_are_given_up_together(service, monkeypatch):
    monkeypatch.setenv("CHARTPACT_HTTP_TIMEOUT_S", "0.8")
    n = 15_000  # 30 pages
    bars = Bars(START + HOUR * np.arange(n), *[np.ones(n)] * 5, symbol="ETHUSDT", timeframe="1h")

    def slowly(query):
        time.sleep(0.2)
        return interest(*asked_range(query))[: int(query["limit"])]

    service.answers[PATHS["oi"]] = slowly
    assert "not all there within 2.4 s" in error_of("oi", bars)
    assert len(service.asked) < 30


def test_more_pages_than_are_read_are_not_asked_for_at_all(service):
    n = 21_000
    bars = Bars(START + HOUR * np.arange(n), *[np.ones(n)] * 5, symbol="ETHUSDT", timeframe="1h")
    assert "more than 40 answers of 500 readings" in error_of("oi", bars)
    assert service.asked == []


@pytest.mark.parametrize(("body", "why"), [
    (b"[" * 200_000, "did not answer with JSON"),
    (b'[{"fundingTime": 1' + b"0" * 400 + b', "fundingRate": "0.1"}]', "cannot be read"),
], ids=["nested", "too large a number"])  # fmt: skip
def test_an_answer_made_to_break_its_reader_is_an_error_of_that_indicator(
    service, hourly, body, why
):
    service.answers[PATHS["funding"]] = (200, body)
    drawn = cp.chart(hourly, ["funding", "rsi:period=3"]).drawn
    assert why in drawn[0].error.message
    assert drawn[0].error.kind == "unavailable"
    assert drawn[1].scene is not None


def test_an_answer_that_ends_before_its_length_is_no_answer(monkeypatch, hourly):
    def cut_short(listening):
        for _ in range(2):
            with listening.accept()[0] as asking:
                asking.recv(4096)
                asking.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[]")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        thread = threading.Thread(target=cut_short, args=(listening,))
        thread.start()
        monkeypatch.setenv(
            "CHARTPACT_FUTURES_URL", f"http://127.0.0.1:{listening.getsockname()[1]}"
        )
        assert "broke off 98 bytes before the end" in error_of("funding", hourly)
        thread.join()


@pytest.mark.parametrize("symbol", ["ES", "EURUSD", "USDT", "", "BTCUSDT&x=1", "../BTCUSDT"])
def test_a_symbol_without_a_perpetual_is_refused_before_anyone_is_asked(service, hourly, symbol):
    columns = [getattr(hourly, c) for c in "time open high low close volume".split()]
    assert "has no perpetual contract" in error_of("oi", Bars(*columns, symbol, "1h"))
    assert service.asked == []


def test_a_service_may_be_switched_off(monkeypatch, hourly):
    monkeypatch.setenv("CHARTPACT_FUTURES_URL", "")
    assert "the futures service is switched off" in error_of("funding", hourly)


@pytest.mark.parametrize(("name", "value"), [
    ("CHARTPACT_FUTURES_URL", "file:///etc/passwd"),
    ("CHARTPACT_FUTURES_URL", "fapi"),
    ("CHARTPACT_FUTURES_URL", "http://a..b"),
    ("CHARTPACT_FUTURES_URL", "http://[::1"),
    ("CHARTPACT_FUTURES_URL", "http://ex ample"),
    ("CHARTPACT_FUTURES_URL", "http://example:port"),
    ("CHARTPACT_HTTP_TIMEOUT_S", "soon"),
])  # fmt: skip
def test_a_wrong_setting_is_told(monkeypatch, hourly, name, value):
    monkeypatch.setenv(name, value)
    assert repr(value) in error_of("funding", hourly)


def test_an_answer_without_end_is_cut_off(service, hourly, monkeypatch):
    monkeypatch.setattr("chartpact.sources.http.LARGEST", 2**20)
    service.answers[PATHS["funding"]] = (200, b"[" + b" " * 2**21)
    assert "more than 1 MB" in error_of("funding", hourly)


def test_one_that_fails_leaves_the_others_on_the_chart(hourly):
    drawn = cp.chart(hourly, ["funding", "rsi:period=3"]).drawn
    assert drawn[0].error.kind == "unavailable"
    assert drawn[0].scene is None
    assert drawn[1].scene is not None


def test_no_bars_need_no_readings(service, hourly):
    for name in NETWORKED:
        assert len(cp.indicator(name)(hourly[:0]).plots[0].values) == 0
    assert service.asked == []


def test_readings_may_come_from_anywhere(hourly):
    def fetch(need):
        assert (need.what, need.name, need.timeframe) == ("fear_greed", "BTCUSDT", "1h")
        times = np.array([need.first, need.last])
        return Readings(times, {"value": np.array([50.0, 60.0])})

    scene = cp.chart(hourly, "fear_greed", fetch=fetch).drawn[0].scene
    assert scene.plots[0].values[-1] == 60.0


def test_an_indicator_fetches_nothing_itself(service, hourly):
    with pytest.raises(IndicatorError, match="nobody fetched"):
        Catalogue().resolve("funding").compute(hourly, {})
    assert service.asked == []


def test_bars_without_a_timeframe_see_only_what_was_there_when_they_opened(service, hourly):
    service.answers[PATHS["funding"]] = funding_at(START + 1)
    columns = [getattr(hourly, c) for c in "time open high low close volume".split()]
    values = cp.indicator("funding")(Bars(*columns, "BTCUSDT")).plots[0].values
    assert np.isnan(values[0])
    assert values[1] == pytest.approx(0.01)
