"""What indicators need from outside: fetched before a worker is taken, each at its own risk."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from tests.server.conftest import serving
from tests.service import Service

pytestmark = pytest.mark.slow

HOUR = 3_600_000
START = 1_709_510_400_000
CLOSES = [100.0 + k for k in range(24)]
INLINE = {
    "time": [START + HOUR * k for k in range(24)],
    **{name: CLOSES for name in ("open", "high", "low", "close")},
    "symbol": "BTCUSDT",
    "timeframe": "1h",
}
CSV = "time,open,high,low,close\n" + "".join(
    f"{(START + HOUR * k) // 1000},{c},{c},{c},{c}\n" for k, c in enumerate(CLOSES)
)
ASKED = {"indicators": ["funding", "rsi:period=3"], "format": "summary"}
FETCH_SECONDS = 6


class Mute:
    """A server that takes connections and never says a word."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._lines: list[socket.socket] = []
        self.asked = threading.Event()
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        with suppress(OSError):
            while True:
                self._lines.append(self._listening.accept()[0])
                self.asked.set()

    def close(self) -> None:
        for line in (self._listening, *self._lines):
            line.close()


@pytest.fixture
def mute(tmp_path):
    service = Mute()
    settings = {
        "CHARTPACT_FUTURES_URL": service.url,
        "CHARTPACT_LIMITS": f"fetch_seconds={FETCH_SECONDS}",
        "CHARTPACT_WARM": "on",  # a worker that starts could take longer than the service is asked
    }
    with serving(tmp_path, **settings) as running:
        with running.client("ann") as ann:
            ann.put("/api/v1/my/bars/btc?symbol=BTCUSDT", content=CSV).raise_for_status()
        yield service, running
    service.close()


def test_a_mute_service_costs_its_own_panels_and_delays_nobody_else(mute):
    service, running = mute
    asks = [{"inline_bars": INLINE, **ASKED}, {"symbol": "btc@mine", **ASKED}] * 8
    with running.client("ann") as ann, running.client("bob") as bob:
        started = time.monotonic()
        with ThreadPoolExecutor(len(asks)) as threads:
            answers = [threads.submit(ann.post, "/api/v1/charts", json=ask) for ask in asks]
            assert service.asked.wait(60)
            other = bob.post("/api/v1/charts", json={"symbol": "sample:es-5m", **ASKED})
            assert not any(answer.done() for answer in answers)
            assert other.json()["indicators"][1]["last"]
        assert time.monotonic() - started < FETCH_SECONDS + 30
    for answer in answers:
        assert answer.result().status_code == 200, answer.result().text
        funding, rsi = answer.result().json()["indicators"]
        assert funding["error"]["kind"] == "unavailable"
        assert "funding: " in funding["error"]["message"]
        assert rsi["last"]["RSI"] is not None


def test_a_mute_service_is_left_alone_after_the_first_chart(mute):
    service, running = mute
    connections = [0]
    with running.client("ann") as ann:
        for _ in range(3):
            drawn = ann.post("/api/v1/charts", json={"inline_bars": INLINE, **ASKED}).json()
            assert "did not answer within" in drawn["indicators"][0]["error"]["message"]
            connections.append(len(service._lines))
    assert connections[-1] < 3


def test_readings_are_drawn_on_bars_that_only_a_worker_reads(tmp_path):
    service = Service()
    service.answers["/fapi/v1/fundingRate"] = [{"fundingTime": START, "fundingRate": "0.0001"}]
    try:
        with (
            serving(tmp_path, CHARTPACT_FUTURES_URL=service.url) as running,
            running.client("ann") as ann,
        ):
            ann.put("/api/v1/my/bars/btc?symbol=BTCUSDT", content=CSV).raise_for_status()
            ask = {"symbol": "btc@mine", "indicators": ["funding"], "format": "series"}
            drawn = ann.post("/api/v1/charts", json=ask).json()["indicators"][0]
    finally:
        service.close()
    assert drawn["scene"]["plots"][0]["values"][0] == pytest.approx(0.01)
    (_, query) = service.asked[0]
    assert (query["symbol"], query["startTime"]) == ("BTCUSDT", str(START - 8 * HOUR))
