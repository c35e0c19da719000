"""Bars by name through a running server: the operator's folder, an exchange, a user's own files."""

import gzip
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.server.conftest import start

HOUR = 3_600_000
ROWS = "".join(f"2024-03-{4 + n // 24:02} {n % 24:02}:00,1,3,1,{n % 2 + 1},5\n" for n in range(48))
NAIVE = f"time,open,high,low,close,volume\n{ROWS}"
COMPARE = """
PARAMS = [{"name": "other", "type": "symbol", "default": "%s", "desc": "Compared with"}]
META = {"title": "Compare", "category": "panel", "overlay": False}

def compute(ohlcv, params, chart):
    chart.line(params["other"].close, title="Other", color="orange")
"""

# A stand-in for ccxt, found by the server and its workers alike.
CCXT = """
import os, time
exchanges = ["shop", "slow", "stuck"]

class shop:
    precisionMode = 4
    has = {"fetchOHLCV": True, "fetchTime": True}
    timeframes = {"1h": "1h"}
    wait = 0
    def __init__(self, options): pass
    def load_markets(self): self.markets = {"BTC/USDT": {"precision": {"price": 0.5}}}
    def fetch_time(self): return time.time_ns() // 1_000_000
    def feature_value(self, *_): return 1000
    def fetch_ohlcv(self, symbol, timeframe, since, limit):
        time.sleep(self.wait)
        step = 3_600_000
        first = -(-since // step) * step
        return [[t, 10, 12, 9, 11, 1] for t in range(first, self.fetch_time(), step)][:limit]

class slow(shop):
    wait = 30

class stuck(shop):
    def fetch_ohlcv(self, *asked):
        while not os.path.exists(os.path.join(os.path.dirname(__file__), "answer")):
            time.sleep(0.01)
        return super().fetch_ohlcv(*asked)
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    home = tmp_path_factory.mktemp("bars")
    (home / "modules").mkdir()
    (home / "modules" / "ccxt.py").write_text(CCXT)
    (home / "data").mkdir()
    (home / "data" / "NQ.csv").write_text(NAIVE)
    sources = f"data=folder:{home}/data?tz=UTC; shop=ccxt:shop; slow=ccxt:slow?deadline=1"
    sources += "; stuck=ccxt:stuck?deadline=120"
    running = start(home, CHARTPACT_SOURCES=sources, PYTHONPATH=str(home / "modules"))
    yield running, home / "modules" / "answer"
    running.process.terminate()
    assert running.process.wait(30) == 0


@pytest.fixture
def ann(served):
    with served[0].client("ann") as client:
        yield client


@pytest.fixture
def bob(served):
    with served[0].client("bob") as client:
        yield client


def chart(client, symbol, **more):
    ask = {"symbol": symbol, "format": "summary", "indicators": ["rsi:period=3"], **more}
    return client.post("/api/v1/charts", json=ask)


def test_symbols_are_listed_with_their_sources(ann):
    told = ann.get("/api/v1/symbols").json()
    listed = {each["symbol"]: each for each in told["symbols"]}
    assert listed["NQ@data"] == {
        "symbol": "NQ@data",
        "timeframe": None,
        "source": "data",
        "synthetic": False,
    }
    assert listed["sample:es-5m"]["synthetic"]
    about = {each["source"]: each["about"] for each in told["sources"]}
    assert list(about) == ["sample", "data", "shop", "slow", "stuck", "mine"]
    assert "BTC/USDT@shop" in about["shop"]


def test_a_folder_and_an_exchange_are_drawn_by_name(ann):
    drawn = chart(ann, "NQ@data", timeframe="4h").json()
    assert (drawn["symbol"], drawn["timeframe"], drawn["synthetic"]) == ("NQ", "4h", False)
    drawn = chart(ann, "BTC/USDT@shop", timeframe="2h").json()
    assert (drawn["symbol"], drawn["timeframe"]) == ("BTC/USDT", "2h")
    assert drawn["last"]["time"] + 2 * HOUR <= time.time() * 1000


@pytest.mark.parametrize(
    ("symbol", "status", "told"),
    [
        ("NX@data", 422, "there is no 'NX' at 'data'; near: NQ"),
        ("BTCUSDT@shop", 422, "near: BTC/USDT"),
        ("x@nowhere", 422, "no source called 'nowhere'"),
        ("../data/NQ@data", 422, "there is no"),
        ("/etc/passwd", 422, "is not a symbol"),
        ("slow@mine", 422, "you have no bars called 'slow'"),
        ("BTC/USDT@slow", 502, "slow did not answer within 1 s"),
    ],
)
def test_what_cannot_be_had_is_an_error_and_no_chart(ann, symbol, status, told):
    answer = chart(ann, symbol)
    assert answer.status_code == status
    assert told in answer.json()["message"]


def test_those_who_wait_for_a_slow_exchange_delay_nobody(served, ann, bob):
    assert chart(bob, "NQ@data").status_code == 200  # the workers are warm
    with ThreadPoolExecutor(6) as crowd:
        waiting = [crowd.submit(chart, ann, "BTC/USDT@stuck") for _ in range(6)]
        time.sleep(0.2)
        assert chart(bob, "NQ@data").status_code == 200
        assert not any(each.done() for each in waiting)
        served[1].touch()
        assert {each.result().status_code for each in waiting} == {200}


def test_an_upload_goes_by_its_name_and_its_answer_tells_what_was_guessed(ann):
    content = "Date,Price,Open,High,Low\n14.03.2024,11,10,12,9\n13.03.2024,10,11,12,9\n"
    stored = ann.put("/api/v1/my/bars/alpha_one", content=content).json()
    assert (stored["symbol"], stored["timeframe"], stored["bars"]) == ("alpha_one", "1D", 2)
    assert stored["notes"] == [
        "column 'Price' is read as the close",
        "rows were newest first, and are turned around",
        "dates are day first, by '14.03.2024' (line 2)",
    ]
    assert ann.delete("/api/v1/my/bars/alpha_one").json() == {"ok": True}
    content = content.replace("14.03", "04.03").replace("13.03", "03.03")
    unclear = ann.put("/api/v1/my/bars/alpha_one", content=content)
    assert unclear.status_code == 422
    assert "date_order='dmy' or 'mdy'" in unclear.json()["message"]
    query = "date_order=dmy&columns=close=Open,open=Price"
    told = ann.put(f"/api/v1/my/bars/alpha_one?{query}", content=content).json()
    assert (told["first"], told["last"]) == (1_709_424_000_000, 1_709_510_400_000)
    assert ann.delete("/api/v1/my/bars/alpha_one").json() == {"ok": True}


def test_a_users_file_is_checked_kept_listed_drawn_and_deleted(ann, bob):
    answer = ann.put("/api/v1/my/bars/es", content=NAIVE)
    assert answer.status_code == 422
    assert "has no time zone" in answer.json()["message"]
    query = "tz=America/New_York&symbol=ES"
    stored = ann.put(f"/api/v1/my/bars/es?{query}", content=gzip.compress(NAIVE.encode())).json()
    assert (stored["symbol"], stored["timeframe"], stored["bars"]) == ("ES", "1h", 48)
    assert ann.get("/api/v1/my/bars").json() == {"bars": [stored]}
    assert "es@mine" in {each["symbol"] for each in ann.get("/api/v1/symbols").json()["symbols"]}
    drawn = chart(ann, "es@mine", timeframe="2h").json()
    assert (drawn["symbol"], drawn["timeframe"]) == ("ES", "2h")
    assert bob.get("/api/v1/my/bars").json() == {"bars": []}
    assert "es@mine" not in bob.get("/api/v1/symbols").text
    assert chart(bob, "es@mine").json()["message"] == "you have no bars called 'es'"
    assert bob.delete("/api/v1/my/bars/es").status_code == 404
    assert ann.delete("/api/v1/my/bars/es").json() == {"ok": True}
    assert chart(ann, "es@mine").status_code == 422


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("..%2Fx", 404),
        ("a%20b?tz=UTC", 422),
        ("a?tz=Mars", 422),
        ("a?zone=UTC", 422),
        ("a?tick_size=nan", 422),
        ("a?stamp=middle", 422),
        ("a?tz=UTC&market=stocks", 422),
    ],
)
def test_what_is_said_wrongly_of_a_file_is_refused(ann, path, status):
    assert ann.put(f"/api/v1/my/bars/{path}", content=NAIVE).status_code == status
    assert ann.get("/api/v1/my/bars").json() == {"bars": []}


@pytest.mark.slow
def test_a_script_compares_with_own_files_and_exchanges_and_fails_alone(ann):
    assert ann.put("/api/v1/my/bars/pair?tz=UTC", content=NAIVE).status_code == 200
    source = COMPARE % "pair@mine"
    assert ann.put("/api/v1/my/indicators/compare", json={"source": source}).json() == {
        "ok": True,
        "warnings": [],
    }
    asked = ["compare", 'compare:other="BTC/USDT@shop"', 'compare:other="x@shop"', "rsi"]
    drawn = chart(ann, "NQ@data", indicators=asked).json()["indicators"]
    assert drawn[0]["last"]["Other"] == 2
    assert "error" not in drawn[1]
    assert "no market 'x'" in drawn[2]["error"]["message"]
    assert "error" not in drawn[3]
    assert ann.delete("/api/v1/my/bars/pair").json() == {"ok": True}
