"""What arrives may be anything: it is refused with a sentence, and nobody else notices."""

import json
import os
import signal
import socket
import threading
import time
from itertools import product
from urllib.parse import urlsplit

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, Phase, given, settings
from tests.effort import EXHAUSTIVE
from tests.postgres import url_for
from tests.server.conftest import (
    SCRIPT,
    SLOW,
    TOKENS,
    Running,
    serving,
    wait_until_all_calls_are_under_way,
)
from tests.server.nursery import find_workers

from chartpact import sandbox
from chartpact.library.database import open_database
from chartpact.library.scripts import Scripts

CHART = {"symbol": "sample:es-5m", "bars": 60, "format": "summary"}
BARS = b"time,open,high,low,close\n1709510400,1,2,1,2\n1709514000,2,3,1,1\n"
EXAMPLES = 6 if EXHAUSTIVE else 2  # of each operation, and of each way to get it wrong
INFINITE = b'{"symbol": "sample:es-5m", "indicators": [{"name": "rsi", "period": 1e400}]}'
MCP = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
MODERN = {**MCP, "MCP-Protocol-Version": "2026-07-28"}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A server with limits that a test can reach."""
    limits = "calls_per_minute=100000,calls_at_once=4,script_seconds_per_minute=1,body_seconds=1"
    limits += ",megapixels_per_minute=2,inline_bars=50,upload_bytes=20000,body_bytes=10000"
    with serving(tmp_path_factory.mktemp("small"), CHARTPACT_LIMITS=limits) as running:
        yield running


@pytest.fixture(scope="module")
def strict(tmp_path_factory):
    """A server that grants little in a minute, and runs the scripts of one user only."""
    folder = tmp_path_factory.mktemp("strict")
    database = open_database(url_for(folder))
    kept = Scripts(database, lambda _user, source: sandbox.validate(source))
    for user, name in product(("eve", "fay"), ("rsi", "own")):
        kept.register(user, name, SCRIPT)
    database.close()
    limits = "calls_per_minute=30,body_megabytes_per_minute=4,job_megabytes=32"
    options = {"CHARTPACT_LIMITS": limits, "CHARTPACT_SCRIPTS": "fay"}
    with serving(folder, **options) as running:
        yield running


@pytest.fixture(scope="module")
def generous(tmp_path_factory):
    """A server that grants everything, to four calls at once."""
    limits = (
        "calls_per_minute=1000000,script_seconds_per_minute=1000000,megapixels_per_minute=100000"
    )
    limits += ",calls_at_once=4"
    # A worker that only starts when somebody waits for it would take longer than what it waits for.
    env = {"CHARTPACT_LIMITS": limits, "CHARTPACT_WARM": "on"}
    with serving(tmp_path_factory.mktemp("generous"), **env) as running:
        yield running


# ------------------------------------------------------------------------------- any request


@pytest.mark.slow
def test_no_request_that_the_openapi_document_allows_or_forbids_is_a_5xx(generous):
    import schemathesis  # whose import takes half a second of every process
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks as openapi

    headers = {"Authorization": f"Bearer {TOKENS['cleo']}"}
    conforms = (openapi.response_schema_conformance, openapi.status_code_conformance)
    checks = (not_a_server_error, *conforms)
    tried = 0
    schema = schemathesis.openapi.from_url(f"{generous.url}/openapi.json")
    operations = [each.ok() for each in schema.get_all_operations()]
    for operation, mode in product(operations, GenerationMode):
        takes_nothing = not list(operation.iter_parameters()) and not operation.body
        if mode is GenerationMode.NEGATIVE and takes_nothing:
            continue  # there is nothing to get wrong

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(
            max_examples=EXAMPLES, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
        )
        def no_error(case):
            nonlocal tried
            tried += 1
            answer = case.call(base_url=generous.url, headers=headers, timeout=600)
            case.validate_response(answer, checks=checks)

        no_error()
    assert tried > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (MCP, b""),
        (MCP, b"{"),
        (MCP, b"[]"),
        (MCP, b"[[[[" * 5000),
        (MCP, b'"text"'),
        (MCP, b"null"),
        (MCP, b"\xff\xfe\x00"),
        (MCP, b'{"jsonrpc": "2.0"}'),
        (MCP, b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}'),
        (MCP, b'{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}'),
        (MCP, b'{"jsonrpc": "2.0", "id": 1, "method": 7}'),
        (MCP, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []}'),
        (MODERN, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {}}'),
        (MODERN, b'{"jsonrpc": "2.0", "id": 1, "method": "no/such", "params": {"_meta": 3}}'),
        (MCP | {"Content-Type": "text/plain"}, b"{}"),
        (MCP | {"Content-Type": "application/xml"}, b"<a/>"),
        (MCP | {"Accept": "text/html"}, b"{}"),
        (MCP | {"MCP-Protocol-Version": "1999-01-01"}, b"{}"),
    ],
)
def test_a_malformed_mcp_message_gets_no_result_and_breaks_nothing(ann, headers, body):
    answer = ann.post("/mcp", headers=headers, content=body)
    assert answer.status_code < 500, answer.text
    assert '"result"' not in answer.text


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "OPTIONS", "NONSENSE"])
def test_other_methods_than_post_are_refused_by_mcp(ann, method):
    assert 400 <= ann.request(method, "/mcp").status_code < 500


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"{", "application/json"),
        (b"\xff", "application/json"),
        (b"[" * 100_000, "application/json"),
        (b'{"symbol": "sample:es-5m"}', "text/plain"),
        (b"symbol=x", "application/x-www-form-urlencoded"),
        (b'{"symbol": NaN, "bars": Infinity}', "application/json"),
        (b'{"inline_bars": {"time": [1e400]}}', "application/json"),
        (b'{"symbol": "sample:es-5m", "bars": 99999999999999999999999}', "application/json"),
        (b'{"symbol": "\\ud800", "bars": 10}', "application/json"),
        (INFINITE, "application/json"),
    ],
)
def test_a_malformed_json_body_is_a_4xx_or_an_error_of_the_indicator(ann, content, kind):
    answer = ann.post("/api/v1/charts", content=content, headers={"Content-Type": kind})
    assert answer.status_code < 500, answer.text
    if answer.status_code == 200:
        assert answer.json()["indicators"][0]["error"]["message"]


# -------------------------------------------------------------------------- hosts and origins


@pytest.mark.parametrize("path", ["/", "/api/v1/symbols", "/mcp", "/openapi.json"])
def test_a_page_that_reaches_the_server_under_a_name_of_its_own_is_refused(ann, path):
    assert ann.get(path, headers={"Host": "evil.example"}).status_code == 421
    assert ann.get(path, headers={"Host": "127.0.0.1.evil.example:80"}).status_code == 421
    assert ann.get(path, headers={"Origin": "http://evil.example"}).status_code == 403
    assert ann.get(path, headers={"Origin": "http://localhost:1"}).status_code != 403
    assert ann.get(path, headers={"Host": "LocalHost:80"}).status_code != 421


# ------------------------------------------------------------------------------- bodies, time


def raw(running: Running, head: str, *pieces: bytes, pause: float = 0) -> bytes:
    """The answer to bytes that no client would send."""
    address = urlsplit(running.url)
    with socket.create_connection((address.hostname, address.port), timeout=600) as line:
        token = f"Authorization: Bearer {TOKENS['ann']}\r\nHost: {address.netloc}\r\n"
        line.sendall(head.replace("\r\n", "\r\n" + token, 1).encode() + b"\r\n")
        try:
            for piece in pieces:
                time.sleep(pause)
                line.sendall(piece)
            return line.recv(65536)
        except (BrokenPipeError, ConnectionResetError):
            return line.recv(65536)


@pytest.mark.parametrize("more", ["Host: evil.example", "Origin: http://localhost\r\nOrigin: null"])
def test_a_request_that_says_twice_where_it_goes_or_comes_from_is_refused(server, more):
    answer = raw(server, f"GET / HTTP/1.1\r\n{more}\r\n")
    assert b" 400 " in answer
    assert b"one Host, and one Origin at most" in answer


POST = "POST /api/v1/charts HTTP/1.1\r\nContent-Type: application/json\r\n"


@pytest.mark.slow
def test_a_body_that_comes_too_slowly_is_given_up(small):
    answer = raw(small, f"{POST}Content-Length: 100\r\n", b"{", b" ", b" ", b" ", pause=0.5)
    assert b" 408 " in answer
    assert b"took longer than 1 s" in answer


def test_a_body_in_pieces_is_counted_as_it_comes(small):
    piece = b"1000\r\n" + b"x" * 4096 + b"\r\n"
    answer = raw(small, f"{POST}Transfer-Encoding: chunked\r\n", piece, piece, piece)
    assert b" 413 " in answer


def test_a_body_said_to_be_huge_is_not_waited_for(small):
    assert b" 413 " in raw(small, f"{POST}Content-Length: 99999999999\r\n")


@pytest.mark.parametrize("head", [
    "GET / HTTP/9.9\r\n", "nonsense\r\n", "GET /\x00 HTTP/1.1\r\n", f"{POST}Content-Length: -1\r\n",
    f"{POST}Content-Length: 1\r\nContent-Length: 2\r\n", "GET " + "/x" * 50_000 + " HTTP/1.1\r\n",
])  # fmt: skip
def test_what_is_not_http_is_refused(small, head):
    answer = raw(small, head)
    assert answer == b"" or answer.split(b" ")[1][:1] == b"4", answer[:100]


# ------------------------------------------------------------------------------ limits of one


@pytest.mark.slow
def test_processor_time_of_scripts_is_limited_for_each_user_alone(small):
    with small.client("ann") as ann, small.client("bob") as bob:
        for _ in range(60):  # of which each takes some of it
            answer = ann.put("/api/v1/my/indicators/x", json={"source": SLOW})
            if answer.status_code != 200:
                break
        assert answer.status_code == 429
        assert "1 processor seconds of scripts a minute: wait" in answer.json()["message"]
        assert int(answer.headers["retry-after"]) >= 1
        assert bob.put("/api/v1/my/indicators/x", json={"source": SCRIPT}).json() == {
            "ok": True,
            "warnings": [],
        }


@pytest.mark.slow
@pytest.mark.parametrize(("user", "path"), [("cleo", "check"), ("fay", "prove")])
def test_a_check_and_a_proof_spend_the_processor_time_of_scripts(small, user, path):
    body = {"source": SLOW} if path == "check" else {"source": SLOW, "symbol": "sample:es-5m"}
    with small.client(user) as client:
        for _ in range(60):
            answer = client.post(f"/api/v1/{path}", json=body)
            if answer.status_code != 200:
                break
        assert answer.status_code == 429
        assert "processor seconds of scripts a minute: wait" in answer.json()["message"]


LONG_LIST = f"a: [{'1, ' * 3000}1]"  # which takes a while to read


@pytest.mark.slow
def test_a_check_of_a_contract_spends_the_processor_time_of_scripts(small):
    with small.client("dan") as client:
        for _ in range(60):
            answer = client.post("/api/v1/contracts/check", json={"source": LONG_LIST})
            if answer.status_code != 200:
                break
        assert answer.status_code == 429
        assert "processor seconds of scripts a minute: wait" in answer.json()["message"]


def test_pixels_inline_bars_and_uploads_are_limited(small):
    with small.client("bob") as bob:
        big = {"symbol": "sample:es-5m", "bars": 10, "width": 1600, "height": 1200}
        assert bob.post("/api/v1/charts/image", json=big).status_code == 200
        over = bob.post("/api/v1/charts/image", json=big)
        assert (over.status_code, "2 megapixels a minute" in over.text) == (429, True)
        column = list(range(60))
        inline = dict.fromkeys(("time", "open", "high", "low", "close"), column)
        over = bob.post("/api/v1/charts", json={"inline_bars": inline, "format": "summary"})
        assert (over.status_code, "at most 50 bars" in over.text) == (413, True)
        over = bob.put("/api/v1/my/bars/big", content=b"x" * 30_000)
        assert (over.status_code, "20000 bytes" in over.text) == (413, True)


def test_calls_at_once_are_limited(small):
    held = [socket.create_connection(("127.0.0.1", urlsplit(small.url).port)) for _ in range(4)]
    token = f"Authorization: Bearer {TOKENS['ann']}\r\nHost: {urlsplit(small.url).netloc}\r\n"
    for line in held:
        line.sendall(f"{POST}{token}Content-Length: 10\r\n\r\n".encode())
    try:
        with small.client("bob") as bob:
            wait_until_all_calls_are_under_way(small, "ann")
            assert bob.get("/api/v1/my/bars").status_code == 200
            for line in held:
                line.close()
        with small.client("ann") as ann:
            ends = time.monotonic() + 20
            while ann.get("/api/v1/my/bars").status_code != 200:
                assert time.monotonic() < ends
            for _ in range(6):  # those that are over no longer count
                assert ann.get("/api/v1/my/bars").status_code == 200
    finally:
        for line in held:
            line.close()


@pytest.mark.slow
def test_calls_are_limited_for_each_user_alone(strict):
    with strict.client("cleo") as cleo, strict.client("dan") as dan:
        answers = [cleo.get("/api/v1/my/bars") for _ in range(30)]
        assert [each.status_code for each in answers] == [200] * 30
        over = next(
            each
            for each in (cleo.get("/api/v1/my/bars") for _ in range(1000))
            if each.status_code == 429
        )
        assert "30 calls a minute" in over.json()["message"]
        assert int(over.headers["retry-after"]) >= 1
        assert cleo.get("/healthz").status_code == 200
        assert dan.get("/api/v1/my/bars").status_code == 200


# ------------------------------------------------------------------------- others do not wait


@pytest.mark.alone
@pytest.mark.slow
def test_one_users_second_long_scripts_do_not_delay_anothers_chart(generous):
    asked = {**CHART, "bars": 5000, "indicators": ["slow"] * 12}
    with generous.client("ann") as ann, generous.client("bob") as bob:
        assert ann.put("/api/v1/my/indicators/slow", json={"source": SLOW}).json() == {
            "ok": True,
            "warnings": [],
        }
        bob.post("/api/v1/charts", json=CHART)

        def keep_busy():
            with generous.client("ann") as client:
                while (drawn := client.post("/api/v1/charts", json=asked)).status_code == 429:
                    pass  # the test itself was in the way
                assert drawn.status_code == 200

        busy = [threading.Thread(target=keep_busy) for _ in range(4)]
        for each in busy:
            each.start()
        wait_until_all_calls_are_under_way(generous, "ann")
        for _ in range(2):
            assert bob.post("/api/v1/charts", json=CHART).status_code == 200
        still = sum(each.is_alive() for each in busy)
        for each in busy:
            each.join()
    assert still >= 2, "ann's charts were over when bob's were drawn"


@pytest.mark.slow
def test_one_users_storm_of_writes_does_not_delay_anothers_reply(server):
    before = len(server.log.read_text().splitlines())
    with server.client("dan") as dan:
        assert dan.put("/api/v1/my/bars/b", content=BARS).status_code == 200
    answered = []

    def storm():
        with server.client("cleo") as cleo:
            while (status := cleo.delete("/api/v1/my/bars/none").status_code) == 429:
                pass  # the test itself was in the way
            answered.append(status)

    engine = sa.create_engine(server.database)
    elsewhere = engine.connect()
    if engine.dialect.name == "sqlite":  # now whoever writes has to wait
        elsewhere.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        elsewhere.exec_driver_sql("LOCK TABLE user_bars IN EXCLUSIVE MODE")
    storms = [threading.Thread(target=storm) for _ in range(32)]
    for each in storms:
        each.start()
    wait_until_all_calls_are_under_way(server, "cleo")
    with server.client("dan") as dan:
        assert dan.get("/api/v1/my/bars/b").content == BARS
        assert dan.get("/api/v1/symbols").status_code == 200
        assert answered == []
        threading.Timer(2, elsewhere.rollback).start()
        assert dan.delete("/api/v1/my/bars/b").status_code == 200
    for each in storms:
        each.join()
    elsewhere.close()
    engine.dispose()
    assert answered == [404] * 32
    lines = [json.loads(line) for line in server.log.read_text().splitlines()[before:]]
    deletions = [each for each in lines if each.get("method") == "DELETE"]
    deleted = [each["user"] for each in deletions if each["status"] != 429]
    assert deleted.index("dan") < 8, deleted


def test_a_worker_that_is_killed_costs_its_own_request_at_most(server, ann):
    assert ann.post("/api/v1/charts", json=CHART).status_code == 200
    workers = find_workers(server.process.pid)
    assert workers
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    answers = [ann.post("/api/v1/charts", json=CHART).status_code for _ in range(4)]
    assert set(answers) <= {200, 500}
    assert answers[-1] == 200


@pytest.mark.slow
def test_a_chart_that_takes_too_much_memory_is_refused_with_a_sentence_and_the_next_is_drawn(
    strict,
):
    column = [float(each % 50 + 10) for each in range(20_000)]
    inline = dict.fromkeys(("open", "high", "low", "close"), column)
    inline["time"] = [1_500_000_000 + 60 * each for each in range(20_000)]
    large = {
        "inline_bars": inline,
        "indicators": ["bbands"] * 16,
        "bars": 20_000,
        "format": "series",
    }
    with strict.client("ann") as ann:
        refused = ann.post("/api/v1/charts", json=large)
        assert (refused.status_code, refused.json()["kind"]) == (413, "memory")
        assert "needs more than 32 MB" in refused.json()["message"]
        assert refused.json()["hint"].startswith("ask for fewer bars")
        assert ann.post("/api/v1/charts", json=CHART).status_code == 200


# ------------------------------------------------------------------------- whose scripts run


@pytest.mark.slow
def test_scripts_switched_off_are_said_to_be_so_and_the_builtin_is_not_drawn_in_their_place(
    strict,
):
    with strict.client("eve") as eve, strict.client("fay") as fay:
        asked = {**CHART, "indicators": ["rsi", "own", "macd"]}
        fork, own, builtin = eve.post("/api/v1/charts", json=asked).json()["indicators"]
        for each in (fork, own):
            assert each["error"]["kind"] == "forbidden"
            assert "switched off" in each["error"]["message"]
        assert "delete it to draw the builtin" in fork["error"]["hint"]
        assert own["error"]["hint"] == "ask the operator, who decides by CHARTPACT_SCRIPTS"
        assert "last" in builtin
        assert "steps" in fay.post("/api/v1/charts", json=asked).json()["indicators"][0]
        for answer in (
            eve.put("/api/v1/my/indicators/new", json={"source": SCRIPT}),
            eve.patch("/api/v1/my/indicators/rsi", json={"source": SCRIPT}),
            eve.put("/api/v1/my/library", json=eve.get("/api/v1/my/library").json()),
        ):
            assert answer.json()["ok"] is False
            assert answer.json()["errors"][0]["kind"] == "forbidden"
        assert eve.get("/api/v1/my/indicators/rsi").json()["source"] == SCRIPT
        assert eve.delete("/api/v1/my/indicators/rsi").json() == {"ok": True}
        assert "last" in eve.post("/api/v1/charts", json=asked).json()["indicators"][0]


def test_every_line_of_the_log_is_json(server, ann):
    ann.get("/api/v1/symbols")
    lines = server.log.read_text().splitlines()[1:]  # the first says where it serves
    assert all(json.loads(line)["time"] for line in lines)


# ------------------------------------------------------------------------- what takes its time

WRONG = 400_000  # places
COSTLY = {
    "wrong prices": {"inline_bars": {"time": [], "open": [""] * WRONG}},
    "too many prices": {"inline_bars": {"time": [0] * WRONG, "open": []}},
    "wrong indicators": {"symbol": "sample:es-5m", "indicators": [{}] * WRONG},
    "many indicators": {"symbol": "sample:es-5m", "indicators": ["rsi"] * WRONG},
    "unknown fields": {f"k{at}": 0 for at in range(WRONG // 2)},
    "fields of an indicator": {
        "symbol": "sample:es-5m",
        "indicators": [{"name": "rsi"} | {f"k{at}": 0 for at in range(WRONG // 2)}],
    },
    "blanks that could belong anywhere": {
        "symbol": "sample:es-5m",
        "indicators": ["rsi:period=" + " " * 1900 + ":"] * 16,
    },
    "names like every other": {"symbol": "sample:es-5m", "indicators": ["rsi_" * 499] * 16},
}


def longest_wait(client, goes_on) -> float:
    """The longest that the server takes to say that it is there."""
    longest = 0.0
    while goes_on():
        started = time.perf_counter()
        assert client.get("/healthz").status_code == 200
        longest = max(longest, time.perf_counter() - started)
        time.sleep(0.01)
    return longest


@pytest.mark.slow
@pytest.mark.parametrize("costly", COSTLY)
def test_what_is_wrong_in_a_million_places_is_refused_before_anybody_notices(ann, bob, costly):
    tool = {"name": "generate_chart", "arguments": COSTLY[costly]}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}
    countdown = iter(range(10))
    quiet = longest_wait(bob, lambda: next(countdown, None) is not None)
    for path, body in (("/api/v1/charts", COSTLY[costly]), ("/mcp", call)):
        content = json.dumps(body)
        slow = threading.Thread(target=lambda: ann.post(path, content=content, headers=MCP))  # noqa: B023
        slow.start()
        longest = longest_wait(bob, slow.is_alive)
        slow.join()
        assert longest < 2 + 10 * quiet, path  # a busy machine makes both of them long


@pytest.mark.slow
def test_megabytes_are_limited_for_each_user_alone(strict):
    with strict.client("bob") as bob, strict.client("dan") as dan:
        sent = {"content": b"x" * 1_900_000}  # a third would need 25 s of patience
        answers = [bob.put("/api/v1/my/bars/a", **sent).status_code for _ in range(3)]
        assert answers == [422, 422, 429]
        assert bob.get("/api/v1/my/bars").status_code == 200
        assert dan.put("/api/v1/my/bars/a", **sent).status_code == 422
        with strict.client() as nobody:
            assert nobody.post("/", content=b"x" * 2000).status_code == 413
