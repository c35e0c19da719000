"""What listens on the debugging port is not trusted: it may be anything, and say anything."""

import json
import socket
import threading
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chartpact as cp
from chartpact.cli import main
from chartpact.problem import Failure
from chartpact.sources.errors import SourceFailed
from chartpact.sources.tradingview import CdpSource
from chartpact.sources.tradingview.cdp import Endpoint
from chartpact.sources.tradingview.decode import decode
from chartpact.sources.tradingview.page import _answer, is_chart
from chartpact.sources.tradingview.stock import TOOLS, parse_reply, read_replies, write_reply

SIMPLE = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JSON = st.recursive(
    SIMPLE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
)
KEYS = "id x y x1 y1 x2 y2 yl t st ci tci sz ex w c bc tid row col bgc tc pos".split()
RECORD = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6)
GROUPS = st.dictionaries(
    st.sampled_from(["false", "true", "x"]), st.lists(RECORD, max_size=2) | JSON
)
FAMILIES = st.dictionaries(
    st.sampled_from(["dwglabels", "dwglines", "dwgboxes", "dwgtables", "dwgtablecells"]), GROUPS
)
STUDY = st.fixed_dictionaries(
    {"name": st.just("S") | JSON, "families": FAMILIES | JSON, "indexes": JSON},
    optional={"palette": JSON, "inputs": JSON, "missing": JSON, "limits": JSON, "id": JSON},
)
PAGE = st.fixed_dictionaries(
    {"reader": st.just(1), "studies": st.lists(STUDY, max_size=2), "symbol": st.just("X") | JSON},
    optional={"resolution": st.just("5") | JSON, "now": JSON, "last_time": JSON, "info": JSON},
)


@given(PAGE)
def test_whatever_a_page_says_there_is_a_snapshot_or_a_failure(page):
    try:
        snapshot = decode(page, "test")
    except SourceFailed:
        return
    for study in snapshot.studies:  # what is declared is there in every record
        for channel in ("labels", "lines", "boxes", "cells"):
            for record in study.records(channel) or ():
                assert {*record} >= {
                    name for name in study.data["fields"][channel] if "." not in name
                }
    assert cp.Snapshot.from_json(json.loads(snapshot.dumps().encode())).data["schema"] == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", [1], {"a": 1}, 10**400])
def test_a_value_that_cannot_be_written_is_not_told(value):
    raw = {"id": 1, "x": 0, "y": value, "t": value, "ci": value, "yl": "pr"}
    study = {"name": "S", "indexes": [[3, 5]], "palette": {"colors": {"0": value}},
             "families": {"dwglabels": {"false": [raw]}, "dwgpolylines": {"true": [raw]}},
             "inputs": [{"id": "in_0", "title": "A", "value": value}]}  # fmt: skip
    page = {"reader": 1, "symbol": "X", "resolution": "5", "now": value, "studies": [study]}
    snapshot = decode(page, "test")
    [told] = snapshot.studies
    assert told.records("labels")[0].keys() == {"id", "x", "yloc", "force_overlay"}
    assert not snapshot.delivers("labels", "y", told)
    assert "as_of" not in snapshot.chart
    assert told.inputs == {}
    assert snapshot.dumps().encode()


def test_texts_and_titles_beyond_pines_longest_are_not_told():
    raw = {"id": 1, "x": 0, "y": 1, "t": "x" * 40_960, "yl": "pr"}
    long = {**raw, "id": 2, "t": "x" * 40_961}
    study = {"name": "S", "indexes": [[3, 5]], "short": "s" * 1001,
             "families": {"dwglabels": {"false": [raw, long]}},
             "inputs": [{"id": "in_0", "title": "T" * 1001, "value": 7}]}  # fmt: skip
    titled = {"name": "T" * 1001, "families": {}}
    page = {"reader": 1, "symbol": "X", "resolution": "5", "studies": [study, titled]}
    snapshot = decode(page, "test")
    [told] = snapshot.studies
    assert [len(label.get("text", "")) for label in told.records("labels")] == [40_960, 0]
    assert not snapshot.delivers("labels", "text", told)
    assert (told.inputs, "short_name" in told.data) == ({"in_0": 7}, False)
    [lack] = snapshot.source["unread"]
    assert (len(lack["study"]), lack["missing"]) == (200, "a title of at most 1000 characters")
    [shown] = write_reply(snapshot, "labels", max_labels=9)["studies"]
    assert shown["labels"][0]["text"] == "x" * 4096 + "…"


@given(st.sampled_from([*TOOLS]), JSON | st.lists(JSON).map(lambda s: {"studies": s}))
def test_whatever_a_tool_replies_there_is_a_snapshot_or_a_failure(channel, reply):
    empty = {"success": True, "study_count": 0, "studies": []}
    state = {"symbol": "X", "resolution": "5"}
    try:
        told = parse_reply(TOOLS[channel], json.dumps(reply))
        snapshot = read_replies(state, {**dict.fromkeys(TOOLS, empty), channel: told}, "test", 0)
    except SourceFailed:
        return
    for kind in TOOLS:
        write_reply(snapshot, kind, verbose=True)
    snapshot.dumps().encode()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "is not a text"),
        (5, "is not a text"),
        ("", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
        ("[]", "is not an object"),
        ('{"a": 1, "a": 2}', "cannot be read"),
        ('{"large": 99999999}', "more is drawn on the chart than can be read at once"),
        ('{"failed": "TypeError\\u001b[2J"}', "the page failed while it was read"),
    ],
)
def test_an_answer_that_is_none_is_a_failure(value, said):
    with pytest.raises(SourceFailed) as wrong:
        _answer(value)
    assert said in str(wrong.value)
    assert "\x1b" not in str(wrong.value)


def test_nothing_that_listens_is_said_in_a_sentence(capsys):
    with closing(socket.socket()) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        assert main(["snapshot", "--tv", f"http://127.0.0.1:{port}"]) == 5
    assert f"nothing listens at http://127.0.0.1:{port}: start" in capsys.readouterr().err


@contextmanager
def answering(body, status=200):
    """A web server that gives one answer to everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


ELSEWHERE = [{"type": "page", "id": "../../json/version", "title": "t",
              "url": "https://www.tradingview.com/chart/",
              "webSocketDebuggerUrl": "ws://evil.example/devtools/page/1"}]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"<html>hello", 200, "is not a browser's debugging port"),
        (b"{}", 200, "is not a browser's debugging port"),
        (b"[1]", 200, "is not a browser's debugging port"),
        (b"[" * 100_000, 200, "is not a browser's debugging port"),
        (b"[]", 404, "is not a browser's debugging port"),
        (b"[]", 200, "no TradingView chart is open"),
        (json.dumps(ELSEWHERE).encode(), 200, "no TradingView chart is open"),
    ],
)
def test_another_program_on_the_port_is_no_browser(body, status, said):
    with answering(body, status) as url, pytest.raises(SourceFailed) as wrong:
        CdpSource(url, timeout=60).read()
    assert said in str(wrong.value)


@pytest.mark.parametrize(
    "url", ["http://10.0.0.7:9222", "http://evil.example", "http://[2001::1]:9"]
)
def test_another_machine_is_refused_unless_it_is_allowed(url):
    with pytest.raises(Failure, match="is not this machine"):
        CdpSource(url)
    assert Endpoint.parse(url, remote=True)


@pytest.mark.parametrize(
    "url", ["", "https://127.0.0.1:9222", "http://127.0.0.1/x", "http://u@127.0.0.1", "http://a:b"]
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(Failure, match="is not the address of a debugging port"):
        CdpSource(url)


def test_a_chart_is_one_by_its_address():
    assert is_chart("https://www.tradingview.com/chart/AbCd/?symbol=NQ1!")
    assert is_chart("https://de.tradingview.com/chart/")
    for url in (
        "https://www.tradingview.com/news/",
        "https://tradingview.com.evil.example/chart/",
        "https://evil.example/tradingview.com/chart/",
        "https://[",
    ):
        assert not is_chart(url)
