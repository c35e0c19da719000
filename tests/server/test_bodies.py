"""Large bodies are read in workers, and what reaches the event loop is soon read."""

import asyncio
import gc
import json
import time
from typing import get_args

import pytest
from tests.server.conftest import SCRIPT
from tests.server.test_mcp_http import HEADERS, META

from chartpact import sandbox
from chartpact.bars import Bars
from chartpact.clock.markets import MARKETS
from chartpact.library.database import open_database
from chartpact.library.scripts import Scripts
from chartpact.server import shapes
from chartpact.server.bodies import MOST_VALUES, SMALL_BYTES, Unreadable, check_escapes, read

JSON = {"Content-Type": "application/json"}
HELD_UP_S = 0.15  # before all this it was up to a second; now it is milliseconds on a quiet machine
OLD = {**HEADERS, "mcp-protocol-version": "2025-11-25"}


def inline(count: int) -> dict:
    close = [100 + number % 7 + 0.25 for number in range(count)]
    times = [1_500_000_000 + 60 * number for number in range(count)]
    high = [each + 1 for each in close]
    return {"time": times, "open": close, "high": high, "low": close, "close": close}


def body(value: object) -> bytes:
    return json.dumps(value).encode()


def call(arguments: object, **more: object) -> dict:
    params = {"name": "generate_chart", "arguments": arguments, "_meta": META}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params, **more}


# ------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize(
    ("symbol", "market", "meant"), [("EURUSD", None, "fx"), ("DAX", "listed", "listed")]
)
def test_a_caller_says_which_days_are_trading_days(symbol, market, meant):
    asked = inline(3) | {"symbol": symbol} | ({"market": market} if market else {})
    bars = read(body({"inline_bars": asked}), mcp=False).bars
    assert bars.market == meant
    assert get_args(shapes.Market) == MARKETS


def test_bars_are_taken_out_and_the_rest_is_left_as_it_was():
    asked = {"inline_bars": inline(3), "indicators": ["rsi", {"name": "é", "n": 1.5}], "x": None}
    for found in (
        read(body(asked), mcp=False),
        read(body(call(asked)), mcp=True),
        read(body(call(asked | {"inline_bars": json.dumps(inline(3))})), mcp=True),
    ):
        left = json.loads(found.body)
        left = left if "jsonrpc" not in left else left["params"]["arguments"]
        empty = {"time": [], "open": [], "high": [], "low": [], "close": []}
        assert left == asked | {"inline_bars": empty}
        assert isinstance(found.bars, Bars)
        assert found.bars.close.tolist() == inline(3)["close"]
        assert found.bars.time.tolist() == [1000 * each for each in inline(3)["time"]]


def test_what_is_wrong_with_the_bars_is_told_and_leaves_the_call_readable():
    wrong = read(body({"inline_bars": inline(3) | {"open": [1, "x", 3]}}), mcp=False)
    assert wrong.bars.startswith("inline_bars.open.1: Input should be a valid number")
    crossed = read(body({"inline_bars": inline(3) | {"high": [0, 0, 0]}}), mcp=False)
    assert "high" in crossed.bars
    assert json.loads(wrong.body)["inline_bars"]["open"] == []


HOSTILE = {
    "deep": (b"[" * 100_000, "not JSON: recursion limit"),
    "digits": (b'{"a": ' + b"1" * 100_000 + b"}", "not JSON: number out of range"),
    "half a letter": (b'{"a": "\\ud800"}', "not JSON: unexpected end of hex escape"),
    "no letter": (b"\xff", "not JSON"),
    "a long list": (body([[]] * (MOST_VALUES + 1)), "more than 20000 values"),
    "many fields": (body({"a": dict.fromkeys(range(MOST_VALUES))}), "more than 20000 values"),
    "many lists": (body([[0] * 150] * 150), "more than 20000 values"),
    "a large number": (body({"a": [10**4000]}), "'a': a number of more than 64 bits"),
    "below all": (body({"a": [-(10**30)]}), "'a': a number of more than 64 bits"),
    "a long id": (body({"id": "x" * (SMALL_BYTES + 1)}), "'id': a text of more than 32768 letters"),
    "a long name": (body({"x" * (SMALL_BYTES + 1): 0}), "a text of more than 32768 letters"),
    "a long name of a text": (body({"x" * (SMALL_BYTES + 1): "y"}), "a text of more than 32768"),
    "a long script": (body([{"source": "x" * 7_000_000}]), "6291456 will do"),
}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_nobody_needs_and_would_take_long_to_read_is_refused(hostile):
    content, told = HOSTILE[hostile]
    with pytest.raises(Unreadable) as refusal:
        read(content, mcp=False)
    assert told in refusal.value.message


@pytest.mark.parametrize("half", [b"\\ud800", b"\\uDfFf", b"\\ude00\\ud83d", b"\\ud83d\\ud83d"])
def test_half_a_letter_is_refused_in_a_small_body_too(half):
    with pytest.raises(Unreadable, match="half of a surrogate pair"):
        check_escapes(b'{"indicators": [{"name": "rsi", "s": "a' + half + b'b"}]}')


@pytest.mark.parametrize("letter", [b"\\ud83d\\ude00", b"\\u00e9", "é😀".encode(), b"\\\\ud800"])
def test_whole_letters_are_let_through_however_they_are_written(letter):
    check_escapes(b'{"s": "a' + letter + b'b"}')


def test_what_every_call_needs_is_let_through():
    schema = [{"name": f"n{at}", "type": "int", "default": 2**63, "min": 1} for at in range(1000)]
    script = {"source": "x" * 262_144, "params_schema": schema}
    assert json.loads(read(body(script), mcp=False).body) == script
    library = {"scripts": [{"name": f"s{at}", "source": "é\n" * 9000} for at in range(150)]}
    assert json.loads(read(body(library), mcp=False).body) == library


# ------------------------------------------------------------------------------ over the wire


@pytest.fixture
def longest(monkeypatch):
    """The most processor time, in seconds, that the event loop has spent on one thing."""
    spent = [0.0]
    run = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        before = time.thread_time()
        run(handle)
        spent.append(time.thread_time() - before)

    monkeypatch.setattr(asyncio.Handle, "_run", timed)
    gc.disable()  # which would look through all that this test has in its hands
    yield lambda: max(spent)
    gc.enable()


MANY = 400_000
WRONG = {
    "empty lists": {"indicators": [[]] * MANY},
    "unknown fields": {f"k{at}": 0 for at in range(MANY // 2)},
    "wrong prices": {"inline_bars": inline(0) | {"open": [""] * MANY}},
    "too many prices": {"inline_bars": inline(0) | {"open": [0] * MANY}},
    "a text of JSON": {"indicators": "[" + "[]," * MANY + "[]]"},
    "half a text of JSON": {"indicators": "[" + "[]," * MANY},
    "a text of JSON for a text": {"symbol": "[" + "[]," * MANY + "[]]"},
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_in_a_million_places_holds_up_nobody(here, longest, wrong):
    named = {**HEADERS, "mcp-name": "generate_chart"}
    with here.client("ann") as ann:
        for path, headers, content in (
            ("/api/v1/charts", JSON, body(WRONG[wrong])),
            ("/mcp", named, body(call(WRONG[wrong]))),
            ("/mcp", OLD, body(call(WRONG[wrong]))),
        ):
            answer = ann.post(path, headers=headers, content=content)
            assert answer.status_code in (413, 422) or '"isError":true' in answer.text
    assert longest() < HELD_UP_S


@pytest.mark.parametrize(
    "message",
    [
        call({}, id="x" * 3_000_000),
        call({}, id=10**4000, padding="x" * 30_000),
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/list",
            "params": {"_meta": {"a": [[]] * MANY}},
        },
        {"jsonrpc": "2.0", "method": "notifications/x", "params": {"x": [[]] * MANY}},
        {"jsonrpc": "2.0", "id": 1, "params": {"x": [[]] * 19_000}},
        call({}, id={"source": "\0" * 500_000}),
        [call({})] * 1000,
        [[]] * MANY,
    ],
    ids=[
        "long id",
        "large id",
        "meta",
        "notification",
        "no method",
        "script for an id",
        "batch",
        "lists",
    ],
)
def test_a_large_message_that_is_no_call_holds_up_nobody(here, longest, message):
    with here.client("ann") as ann:
        for headers in (HEADERS, OLD):
            answer = ann.post("/mcp", headers=headers, content=body(message))
            assert 400 <= answer.status_code < 500, answer.text[:200]
    assert longest() < HELD_UP_S


def test_a_large_body_that_is_not_json_is_answered_as_the_protocol_has_it(here):
    broken = body(call({"padding": "x" * 40_000}))[:-1]
    with here.client("ann") as ann:
        for headers in (HEADERS, OLD):
            answer = ann.post("/mcp", headers=headers, content=broken)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)
        answer = ann.post("/api/v1/charts", headers=JSON, content=broken)
        assert (answer.status_code, answer.json()["kind"]) == (422, "value")
        assert "not JSON: EOF" in answer.json()["message"]


@pytest.mark.slow
def test_a_library_that_is_hostile_or_whole_holds_up_nobody(here, longest):
    kept = [{"name": f"s{at}", "source": f"{SCRIPT}# {'a, b: c ' * 7500}"} for at in range(8)]
    whole = {"format": "chartpact-library-1", "scripts": kept}
    with here.client("bob") as bob:
        for hostile in ({f"k{at}": 0 for at in range(2 * MANY)}, {"scripts": [{}] * 2 * MANY}):
            answer = bob.put("/api/v1/my/library", headers=JSON, content=body(hostile))
            assert (answer.status_code, answer.json()["kind"]) == (413, "size")
        assert bob.put("/api/v1/my/library", json=whole).json() == {"ok": True, "warnings": []}
        assert len(bob.get("/api/v1/my/library").json()["scripts"]) == len(kept)
        for script in kept:
            bob.delete(f"/api/v1/my/indicators/{script['name']}")
    assert longest() < HELD_UP_S


@pytest.mark.slow
def test_lists_of_many_parameters_are_alike_through_every_door_and_hold_up_nobody(here, longest):
    one = {"type": "choice", "default": "a", "options": ["a", "b", "c"], "desc": "one \u00e9 of"}
    params = [{"name": f"p{at}", **one} for at in range(200)]
    head, _, tail = SCRIPT.partition("[{")
    rest = tail.partition("}]")[2].replace('params["n"]', "3")
    source = f"{head}{json.dumps(params)}{rest}"
    # A run of the sandbox for each of them would take most of the time of this test.
    checked = sandbox.validate(source)
    database = open_database(here.database)
    kept = Scripts(database, lambda _user, _source: checked)
    names = [f"s{at}" for at in range(40)]
    for name in names[2:]:
        kept.register("bob", name, f"{source}# {name}")
    database.close()
    sent = [{"name": name, "source": f"{source}# {name}"} for name in names[:2]]
    library = {"format": "chartpact-library-1", "scripts": sent}
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    listing["params"] = {"name": "list_indicators", "arguments": {"detail": True}}
    listing["params"]["_meta"] = META
    with here.client("bob") as bob:
        assert bob.put("/api/v1/my/library", json=library).json() == {"ok": True, "warnings": []}
        listed = bob.get("/api/v1/indicators").json()
        mine = [each for each in listed["indicators"] if each["source"] == "user"]
        assert [len(each["params"]) for each in mine] == [200] * 40
        named = {**HEADERS, "mcp-name": "list_indicators"}
        result = bob.post("/mcp", headers=named, json=listing).json()["result"]
        assert result["structuredContent"] == json.loads(result["content"][0]["text"]) == listed
        assert len(bob.get("/api/v1/my/indicators").json()["indicators"]) == 40
        assert len(bob.get("/api/v1/my/library").json()["scripts"]) == 40
        for name in names:
            bob.delete(f"/api/v1/my/indicators/{name}")
    assert longest() < HELD_UP_S


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["summary", "series", "png", "svg"])
def test_many_bars_handed_over_are_drawn_alike_through_every_door_and_hold_up_nobody(
    here, longest, shape
):
    asked = {"inline_bars": inline(20_000), "bars": 20_000, "indicators": ["bbands"] * 4}
    asked |= {"format": shape, "timeframe": "5m"}
    named = {**HEADERS, "mcp-name": "generate_chart"}
    with here.client("ann") as ann:
        told = ann.post("/api/v1/charts", content=body(asked), headers=JSON)
        new = ann.post("/mcp", content=body(call(asked)), headers=named)
        old = ann.post("/mcp", content=body(call(asked)), headers=OLD)
    event = next(line for line in old.text.splitlines() if line.startswith("data: {"))
    assert told.json()["timeframe"] == "5m"
    for result in (new.json()["result"], json.loads(event.removeprefix("data: "))["result"]):
        assert result["structuredContent"] == told.json()
        assert result["content"][0]["text"] == told.json()["summary"]
        assert len(result["content"]) == (2 if shape in ("png", "svg") else 1)
    assert longest() < HELD_UP_S


def test_what_is_wrong_with_many_bars_is_told_through_every_door(here):
    asked = {"inline_bars": inline(5000) | {"close": ["x"] * 5000}, "format": "summary"}
    named = {**HEADERS, "mcp-name": "generate_chart"}
    with here.client("ann") as ann:
        told = ann.post("/api/v1/charts", content=body(asked), headers=JSON)
        assert (told.status_code, told.json()["kind"]) == (422, "value")
        assert told.json()["message"].startswith("inline_bars.close.0: Input should be a valid")
        result = ann.post("/mcp", content=body(call(asked)), headers=named).json()["result"]
        assert result["isError"]
        assert "inline_bars.close.0: Input should be a valid" in result["content"][0]["text"]
        many = {"inline_bars": inline(20_001), "format": "summary"}
        told = ann.post("/api/v1/charts", content=body(many), headers=JSON)
        assert (told.status_code, "at most 20000 bars" in told.text) == (413, True)


@pytest.mark.slow
def test_an_answer_that_would_be_too_large_is_refused_with_what_to_ask_for(here):
    asked = {"inline_bars": inline(20_000), "bars": 20_000, "format": "series"}
    asked |= {"indicators": [f"bbands:period={20 + at}" for at in range(16)]}
    with here.client("ann") as ann:
        told = ann.post("/api/v1/charts", content=body(asked), headers=JSON)
        assert (told.status_code, told.json()["kind"]) == (413, "size")
        assert told.json()["hint"] == "ask for fewer bars or indicators"
