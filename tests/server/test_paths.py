"""Over MCP and REST a path is an unknown name, in whatever argument it stands; nothing is opened.

Real files lie where the names point: in the server's working folder, in its home, and at absolute
paths. The kernel says whether anybody opens them.
"""

import asyncio
import base64
import ctypes
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from mcp import Client, MCPError
from tests.cases import in_one_test
from tests.effort import EXHAUSTIVE
from tests.server.conftest import SCRIPT, Running, serving
from tests.server.test_mcp import over_http

from chartpact import strategies
from chartpact.sandbox import wire

pytestmark = pytest.mark.slow

SAMPLE = {"symbol": "sample:es-5m", "bars": 20, "format": "summary"}
SERIES = {"symbol": "sample:es-5m", "view": 20, "known": 20}
BARS = "time,open,high,low,close\n1709510400,1,2,1,2\n1709514000,2,3,1,1\n"
# A script with a parameter of every type that names something.
NAMING = """
PARAMS = [
    {"name": "other", "type": "symbol"},
    {"name": "events", "type": "calendar"},
    {"name": "frame", "type": "timeframe", "default": "1h"},
    {"name": "price", "type": "source", "default": "close"},
    {"name": "hours", "type": "session", "default": "0930-1600"},
    {"name": "ink", "type": "color", "default": "red"},
    {"name": "way", "type": "choice", "default": "up", "options": ["up", "down"]},
]
META = {"title": "Naming"}

def compute(ohlcv, params, chart):
    chart.line(ohlcv.close, title="Close")
"""
NAMING_PARAMS = ("other", "events", "frame", "price", "hours", "ink", "way")


TURNS = 6  # until every spelling was tried


class Watch:
    """Counts how often files are opened, by any process."""

    IN_OPEN = 0x20

    def __init__(self, *files: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self._queue = libc.inotify_init1(os.O_NONBLOCK)
        assert self._queue >= 0, os.strerror(ctypes.get_errno())
        for file in files:
            watched = libc.inotify_add_watch(self._queue, os.fsencode(file), self.IN_OPEN)
            assert watched >= 0, os.strerror(ctypes.get_errno())

    def opened(self) -> bool:
        try:
            return bool(os.read(self._queue, 4096))
        except BlockingIOError:
            return False

    def close(self) -> None:
        os.close(self._queue)


@pytest.fixture(scope="module")
def canary() -> Iterator[Path]:
    """A folder with a script and bars that must not be opened."""
    folder = Path(tempfile.mkdtemp(prefix="canary-"))  # a short path: names have a longest length
    (folder / "x.star").write_text(SCRIPT)
    (folder / "x.csv").write_text(BARS)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, canary: Path) -> Iterator[Running]:
    plenty = "calls_per_minute=1000000,script_seconds_per_minute=1000000"
    folder = tmp_path_factory.mktemp("paths")
    with serving(folder, cwd=canary, HOME=str(canary), CHARTPACT_LIMITS=plenty) as server:
        with server.client("ann") as ann:
            source = {"source": NAMING}
            assert ann.put("/api/v1/my/indicators/naming", json=source).json()["ok"]
        yield server


def hostile_names(folder: Path, turn: int) -> list[str]:
    """The kinds of path, and some of their spellings: others at each turn."""
    kinds = ["./x.star", f"{folder}/x.csv", f"file:{folder}/x.csv", "-", "~"]
    spellings = [
        "x.star", "./x.csv", "x.csv", f"{folder}/x.star", f"file://{folder}/x.star", "/etc/passwd",
        "file:///etc/passwd", "~/x.star", "~/x.csv", ".", "..", f"../{folder.name}/x.csv",
        "C:\\x.csv", f"{folder}/x.csv@mine", "./x.csv@mine", f"sample:{folder}/x.csv",
        "sample:../x",
    ]  # fmt: skip
    return [*kinds, *(spellings if EXHAUSTIVE else spellings[turn % TURNS :: TURNS])]


def is_refused(answer: Any) -> bool:
    """Whether the answer of a tool or a route says that there is no such thing."""
    if isinstance(answer, dict) and "columns" in answer:
        answer, _ = wire.decode(base64.b64decode(answer["columns"]))
    if isinstance(answer, dict) and "indicators" in answer:
        return any("error" in drawn for drawn in answer["indicators"])
    if isinstance(answer, dict) and "readings" in answer:
        return not any("state" in reading for reading in answer["readings"].values())
    if isinstance(answer, dict) and "objects" in answer:
        return "state" not in answer["reading"]
    return isinstance(answer, dict) and (answer.get("ok") is False or "message" in answer)


# ---------------------------------------------------------------------------------------------- MCP

Arguments = Callable[[str], dict[str, Any]]
READ = {"contracts": ["ob_ai"], "symbol": "sample:es-5m"}
GAPS = {"symbol": "sample:es-5m", "bars": 300, "hold_out": 0}
DOTTED = """PARAMS = []
META = {"title": "Dotted"}
def compute(ohlcv, params, chart):
    for i in range(len(ohlcv)):
        if ohlcv.close[i] > ohlcv.open[i]:
            chart.dot(i, ohlcv.close[i], label="up")
"""
STUDY = {"indicator": "supertrend", "symbol": "sample:es-5m"}
# Every argument that takes a text, and how a name gets into it.
TOOLS: dict[str, dict[str, list[Arguments]]] = {
    "list_symbols": {},
    "list_indicators": {"filter": []},  # words to look for, and no name
    "get_language_reference": {"topic": [lambda name: {"topic": name}]},
    "read_state": {
        "contracts": [lambda name: {**READ, "contracts": [name]}],
        "symbol": [lambda name: {**READ, "symbol": name}],
        "timeframe": [lambda name: {**READ, "timeframe": name}],
        "params": [
            lambda name: {**READ, "contracts": ["smt_divergences"], "params": {"pair": name}},
            lambda name: {**READ, "contracts": ["economic_calendar"], "params": {"calendar": name}},
        ],
        "config": [lambda name: {**READ, "config": {"ob_ai": {"safe_ratio": name}}}],
        "profile": [lambda name: {**READ, "profile": name}],
    },
    "study_signals": {
        "symbol": [lambda name: {**STUDY, "symbol": name}],
        "indicator": [lambda name: {**STUDY, "indicator": name}],
        "timeframe": [lambda name: {**STUDY, "timeframe": name}],
        "long": [lambda name: {**STUDY, "long": [name]}],
        "short": [lambda name: {**STUDY, "short": [name]}],
        "states": [lambda name: {**STUDY, "states": [name]}],
        "sweep": [lambda name: {**STUDY, "sweep": [name]}],
        "horizons": [lambda name: {**STUDY, "horizons": [name]}],
        "unit": [lambda name: {**STUDY, "unit": name}],
        "zone": [lambda name: {**STUDY, "zone": name}],
    },
    "follow_state": {
        "contracts": [lambda name: {**READ, "contracts": [name]}],
        "symbol": [lambda name: {**READ, "symbol": name}],
        "timeframe": [lambda name: {**READ, "timeframe": name}],
        "params": [
            lambda name: {**READ, "contracts": ["smt_divergences"], "params": {"pair": name}},
        ],
        # Settings themselves are kept with the follow, and refused by each of its readings.
        "config": [lambda name: {**READ, "config": {name: {}}}],
        "profile": [lambda name: {**READ, "profile": name}],
    },
    "unfollow_state": {},
    "get_state_changes": {"since": [lambda name: {"id": 1, "since": name}]},
    "list_contracts": {},
    "get_contract": {"name": [lambda name: {"name": name}]},
    "list_strategies": {},
    "get_strategy": {"name": [lambda name: {"name": name}]},
    "register_strategy": {"source": [lambda name: {"source": name}]},
    "delete_strategy": {"name": [lambda name: {"name": name}]},
    "register_contract": {"source": [lambda name: {"source": name}]},
    "delete_contract": {"name": [lambda name: {"name": name}]},
    "draft_contract": {
        "study": [lambda name: {"study": name}],
        "symbol": [lambda name: {"study": "macro", "symbol": name}],
    },
    **{
        f"data_get_pine_{kind}": {
            "symbol": [lambda name: {"symbol": name}],
            "indicators": [lambda name: {**SAMPLE, "indicators": [name]}],
            "timeframe": [lambda name: {**SAMPLE, "timeframe": name}],
            "study_filter": [],  # words to look for, and no name
        }
        for kind in ("labels", "lines", "boxes", "tables")
    },
    "list_my_indicators": {},
    "generate_chart": {
        "symbol": [lambda name: {"symbol": name}],
        "indicators": [
            lambda name: {**SAMPLE, "indicators": [name]},
            lambda name: {**SAMPLE, "indicators": [{"name": name}]},
            *(
                lambda name, param=param: {
                    **SAMPLE,
                    "indicators": [{"name": "naming", param: name}],
                }
                for param in NAMING_PARAMS
            ),
            lambda name: {**SAMPLE, "indicators": [{"name": "vwap", "day_roll": name}]},
        ],
        "timeframe": [lambda name: {**SAMPLE, "timeframe": name}],
        "theme": [lambda name: {**SAMPLE, "theme": name}],
        "format": [lambda name: {**SAMPLE, "format": name}],
        "inline_bars": [lambda name: {"inline_bars": name}],
    },
    "get_chart_series": {
        "symbol": [lambda name: {"symbol": name}],
        "indicators": [lambda name: {**SERIES, "indicators": [name]}],
        "timeframe": [lambda name: {**SERIES, "timeframe": name}],
        "drafts": [
            lambda name: {
                **SERIES,
                "indicators": ["x"],
                "drafts": [{"name": "x", "source": name}],
            }
        ],
    },
    "register_indicator": {
        "name": [lambda name: {"name": name, "source": SCRIPT}],
        "source": [lambda name: {"name": "mine", "source": name}],
        "params_schema": [lambda name: {"name": "mine", "source": SCRIPT, "params_schema": name}],
    },
    "update_indicator": {
        "name": [lambda name: {"name": name, "source": SCRIPT}],
        "source": [lambda name: {"name": "naming", "source": name}],
    },
    "delete_indicator": {"name": [lambda name: {"name": name}]},
    "get_indicator_source": {"name": [lambda name: {"name": name}]},
    "fork_indicator": {"builtin_name": [lambda name: {"builtin_name": name}]},
}


def takes_text(schema: dict[str, Any]) -> bool:
    """Whether an argument of that schema may be a text, or hold one."""
    return re.search(r'"type": "(string|object|array)"|\$ref', json.dumps(schema)) is not None


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> Any:
    answer = await client.call_tool(tool, arguments)
    if answer.is_error:
        return {"message": answer.content[0].text}
    return answer.structured_content


def test_no_argument_of_a_tool_is_a_path(running, canary):
    watch = Watch(canary / "x.star", canary / "x.csv")

    async def try_all() -> None:
        async with over_http(running, "ann") as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert listed.keys() == TOOLS.keys()
            turn = 0
            for tool, ways in TOOLS.items():
                properties = listed[tool].input_schema.get("properties", {})
                texts = {name for name, schema in properties.items() if takes_text(schema)}
                assert texts == ways.keys(), tool
                for argument, variants in ways.items():
                    for arguments in variants:
                        turn += 1
                        for name in hostile_names(canary, turn):
                            answer = await call(client, tool, arguments(name))
                            assert is_refused(answer), (tool, argument, name, answer)

    asyncio.run(try_all())
    assert not watch.opened()
    (canary / "x.csv").read_text()
    assert watch.opened()  # it would have been noticed
    watch.close()


def test_no_resource_is_a_path(running, canary):
    watch = Watch(canary / "x.star", canary / "x.csv")

    async def try_all() -> None:
        async with over_http(running, "ann") as client:
            names = {name for turn in range(TURNS) for name in hostile_names(canary, turn)}
            for name in names:
                for uri in (f"indicator://{name}", f"indicator://{quote(name, safe='')}"):
                    with pytest.raises((MCPError, ValueError)):
                        await client.read_resource(uri)

    asyncio.run(try_all())
    assert not watch.opened()
    watch.close()


# --------------------------------------------------------------------------------------------- REST

Request = dict[str, Any]  # its path, query and body
CONTRACT = """contract: naming
version: 1.0.0
identity: {pine_title: Naming}
channels: {labels: signal}
elements:
  fine: {from: labels, where: text == 'fine', meaning: what should be drawn}
output: {fine: "len([f for f in fine])"}
"""
CALENDAR = "sample:calendar"
LIBRARY = "chartpact-library-1"
NAMED: Request = {
    "name": "naming", "other": "sample:nq-5m", "events": CALENDAR, "frame": "1h",
    "price": "open", "hours": "0930-1600", "ink": "blue", "way": "down",
}  # fmt: skip
INLINE: Request = {
    **{price: [2.0, 2.0] for price in ("open", "high", "low", "close")},
    "time": [1709510400, 1709514000], "symbol": "ES", "timeframe": "1h", "market": "listed",
}  # fmt: skip
KNOWN: Request = {
    "tz": "UTC", "stamp": "open", "columns": "close=close", "sort": True, "date_order": "dmy",
    "decimal": ".", "timeframe": "1h", "tick_size": 0.5, "day_roll": "17:00 America/New_York",
    "market": "listed", "resample_stamp": "first", "last": 100,
}  # fmt: skip
BIAS: Request = {"symbol": "sample:es-5m", "timeframe": "15m", "profile": "tfo"}
DAY: Request = {"day_roll": "18:00 America/New_York"}
STATES: list[Request] = [
    {"body": {**BIAS, "contracts": ["bias_ai"], "config": {"bias_ai": DAY}}},
    {"body": {**READ, "contracts": ["smt_divergences"], "params": {"pair": "sample:nq-5m"}}},
    {"body": {**READ, "contracts": ["economic_calendar"], "params": {"calendar": CALENDAR}}},
]
LINK: Request = {
    "symbol": "sample:es-5m", "tf": "1h", "i": ["rsi"], "bars": 20, "width": 400, "height": 400,
    "theme": "light", "tz": "Europe/Berlin",
}  # fmt: skip
PICTURE: Request = {**SAMPLE, "width": 400, "height": 400, "format": "svg"}
RSI: Request = {"name": "rsi", "period": 7}
STRATEGY = strategies.find("session_turn").text.replace("session_turn", "deciding")
DECIDING_PATH: Request = {"path": {"name": "deciding"}}
NAMING_PATH: Request = {"path": {"name": "naming"}}
MINE_PATH: Request = {"path": {"name": "mine"}}
FOLLOW_PATH: Request = {"path": {"number": 1}}
# Requests that are served, in this order. A path in place of any of their texts must be refused.
REQUESTS: dict[str, list[Request]] = {
    "get /api/v1/indicators": [{"query": {"detail": False}}],
    "post /api/v1/charts": [
        {"body": {**SAMPLE, "timeframe": "1h", "theme": "dark", "indicators": ["rsi", RSI]}},
        {"body": {**SAMPLE, "indicators": "rsi"}},
        {"body": {**SAMPLE, "indicators": NAMED}},
        {"body": {"inline_bars": INLINE, "format": "summary"}},
    ],
    "post /api/v1/charts/image": [
        {"body": {**PICTURE, "timeframe": "1h", "theme": "dark", "indicators": ["rsi", RSI]}},
        {"body": {**PICTURE, "indicators": "rsi"}},
        {"body": {**PICTURE, "indicators": RSI}},
        {"body": {"inline_bars": INLINE, "format": "svg"}},
    ],
    "post /api/v1/charts/series": [
        {"body": {**SERIES, "timeframe": "1h", "indicators": ["rsi", RSI]}},
        {"body": {**SERIES, "indicators": RSI}},
        {"body": {**SERIES, "indicators": "x", "drafts": [{"name": "x", "source": SCRIPT}]}},
    ],
    "post /api/v1/check": [{"body": {"source": SCRIPT}}],
    "post /api/v1/prove": [
        {"body": {"symbol": "sample:es-5m", "timeframe": "1h", "indicator": "rsi", "bars": 10}},
        {"body": {"symbol": "sample:es-5m", "indicator": RSI, "bars": 10}},
        {"body": {"symbol": "sample:es-5m", "source": SCRIPT, "bars": 10}},
    ],
    "post /api/v1/study": [
        {
            "body": {
                **STUDY,
                "long": ["flip_up"],
                "short": ["flip_down"],
                "timeframe": "5m",
                "zone": "UTC",
                "unit": "atr",
                "picture": "dark",
                "sweep": ["period=10..11"],
            }
        },
        {"body": {**STUDY, "indicator": {"name": "supertrend", "period": 9}, "long": ["flip_up"]}},
        {"body": {**GAPS, "indicator": "fvg_ob_mss", "states": ["gap=OPEN:long"]}},
        {"body": {**GAPS, "source": DOTTED, "long": ["up"]}},
    ],
    "post /api/v1/state": STATES,
    "put /api/v1/my/layout": [],
    "get /api/v1/forks/{builtin_name}": [{"path": {"builtin_name": "rsi"}}],
    "get /api/v1/my/indicators/{name}": [NAMING_PATH],
    "put /api/v1/my/indicators/{name}": [{**MINE_PATH, "body": {"source": SCRIPT}}],
    "patch /api/v1/my/indicators/{name}": [{**NAMING_PATH, "body": {"source": NAMING}}],
    "delete /api/v1/my/indicators/{name}": [MINE_PATH],
    "get /api/v1/my/indicators/{name}/versions": [{**NAMING_PATH, "query": {"sources": False}}],
    "post /api/v1/my/indicators/{name}/restore": [{**NAMING_PATH, "body": {"version": 1}}],
    "post /api/v1/my/bars/{name}/check": [{**MINE_PATH, "query": KNOWN, "body": BARS}],
    "put /api/v1/my/bars/{name}": [{**MINE_PATH, "query": KNOWN, "body": BARS}],
    "get /api/v1/my/bars/{name}": [MINE_PATH],
    "delete /api/v1/my/bars/{name}": [MINE_PATH],
    "post /api/v1/bars/after": [
        {"body": {"symbol": "sample:es-5m", "timeframe": "1h", "after": 1709510400000}}
    ],
    "put /api/v1/my/watchlists/{name}": [{**MINE_PATH, "body": {"symbols": ["sample:es-5m"]}}],
    "delete /api/v1/my/watchlists/{name}": [MINE_PATH],
    "put /api/v1/my/library": [
        {"body": {"format": LIBRARY, "scripts": [{"name": "mine", "source": SCRIPT}]}}
    ],
    "post /api/v1/contracts/check": [{"body": {"source": CONTRACT}}],
    "post /api/v1/contracts/draft": [{"body": {"study": "macro", "symbol": "sample:es-5m"}}],
    "post /api/v1/contracts/match": [
        {"body": {**BIAS, "contract": "bias_ai", "config": DAY, "params": {"weekly": True}}},
        {"body": {"source": CONTRACT, "symbol": "sample:es-5m"}},
        *(
            {"body": {"source": CONTRACT, "symbol": "sample:es-5m", "indicators": drawn}}
            for drawn in ("naming", NAMED, ["naming"], [NAMED])
        ),
    ],
    "put /api/v1/my/contracts/{name}": [{**NAMING_PATH, "body": {"source": CONTRACT}}],
    "get /api/v1/contracts/{name}": [NAMING_PATH],
    "post /api/v1/strategies/check": [{"body": {"source": STRATEGY}}],
    "post /api/v1/strategies/state": STATES,
    "put /api/v1/my/strategies/{name}": [{**DECIDING_PATH, "body": {"source": STRATEGY}}],
    "get /api/v1/strategies/{name}": [DECIDING_PATH],
    "delete /api/v1/my/strategies/{name}": [DECIDING_PATH],
    "get /api/v1/my/contracts/{name}/versions": [NAMING_PATH],
    "post /api/v1/my/contracts/{name}/restore": [{**NAMING_PATH, "body": {"version": 1}}],
    "delete /api/v1/my/contracts/{name}": [NAMING_PATH],
    "post /api/v1/my/follows": [
        {"body": {**BIAS, "contracts": ["bias_ai"], "config": {"bias_ai": {}}}},
        STATES[1],
    ],
    "get /api/v1/my/follows/{number}": [FOLLOW_PATH],
    "patch /api/v1/my/follows/{number}": [{**FOLLOW_PATH, "body": {"paused": True}}],
    "get /api/v1/my/follows/{number}/changes": [{**FOLLOW_PATH, "query": {"since": "MC4w"}}],
    "delete /api/v1/my/follows/{number}": [FOLLOW_PATH],
    "get /chart.png": [{"query": LINK}],
    "get /chart.svg": [{"query": LINK}],
}
# Texts that name nothing.
FREE = {
    "get /api/v1/indicators query.filter": "words to look for",
    "post /api/v1/charts body.inline_bars.symbol": "what the picture is headed",
    "post /api/v1/charts/image body.inline_bars.symbol": "what the picture is headed",
    "put /api/v1/my/layout body.layout.KEY": "kept for the page as it is",
    "put /api/v1/my/layout body.layout.*": "kept for the page as it is",
    "put /api/v1/my/indicators/{name} body.params_schema[].KEY": "compared with the source",
    "put /api/v1/my/indicators/{name} body.params_schema[].*": "compared with the source",
    "put /api/v1/my/bars/{name} path.name": "a new name, tested below",
    "put /api/v1/my/bars/{name} query.symbol": "what the picture is headed",
    "post /api/v1/my/bars/{name}/check path.name": "nothing is looked for, and nothing is kept",
    "post /api/v1/my/bars/{name}/check query.symbol": "what the picture is headed",
    "post /api/v1/contracts/draft body.snapshot.KEY": "what a chart showed",
    "post /api/v1/contracts/draft body.snapshot.*": "what a chart showed",
    "post /api/v1/contracts/match body.snapshot.KEY": "what a chart showed",
    "post /api/v1/contracts/match body.snapshot.*": "what a chart showed",
    "put /api/v1/my/watchlists/{name} body.symbols[]": "looked for when the list is shown",
    "post /api/v1/my/follows body.config.*.KEY": "kept, and refused by each of its readings",
    "post /api/v1/my/follows body.config.*.*": "kept, and refused by each of its readings",
    "get /chart.png query.i[]": "its error is drawn, as in /chart.svg",
}


def texts_of(schema: dict[str, Any], shapes: dict[str, Any], at: str) -> Iterator[str]:
    """Where a value of a schema may have a text: at `.name`, at `.*` or `.KEY` of any key, `[]`."""
    if "$ref" in schema:
        schema = shapes[schema["$ref"].rpartition("/")[2]]
    for variant in schema.get("anyOf", [schema]):
        if variant is not schema:
            yield from texts_of(variant, shapes, at)
        elif variant.get("type") == "array":
            yield from texts_of(variant["items"], shapes, f"{at}[]")
        elif variant.get("type") == "object":
            for name, part in variant.get("properties", {}).items():
                yield from texts_of(part, shapes, f"{at}.{name}")
            if others := variant.get("additionalProperties", False):
                yield f"{at}.KEY"
                yield from texts_of({} if others is True else others, shapes, f"{at}.*")
        elif variant.get("type", "string") == "string":
            yield at


def texts_of_route(route: dict[str, Any], shapes: dict[str, Any]) -> set[str]:
    """Where a request to a route may have a text. In an address all is text, numbers too."""
    texts = set()
    for argument in route.get("parameters", ()):
        several = "[]" if argument["schema"].get("type") == "array" else ""
        texts.add(f"{argument['in']}.{argument['name']}{several}")
    for content in route.get("requestBody", {"content": {}})["content"].values():
        texts |= set(texts_of(content["schema"], shapes, "body"))
    return texts


def put_into(value: Any, name: str, texts: set[str], at: str) -> Iterator[tuple[str, Any]]:
    """Where the value has a text, and the value with the name in place of that text."""
    if isinstance(value, dict):
        for key, part in value.items():
            place = f"{at}.{key}" if at else key
            if f"{at}.KEY" in texts and place not in texts:
                place = f"{at}.*"
                yield f"{at}.KEY", {name if old == key else old: value[old] for old in value}
            for text, changed in put_into(part, name, texts, place):
                yield text, {**value, key: changed}
    elif isinstance(value, list):
        for index, part in enumerate(value):
            for text, changed in put_into(part, name, texts, f"{at}[]"):
                yield text, [*value[:index], changed, *value[index + 1 :]]
    elif at in texts:
        yield at, name


def send(client: httpx2.Client, route: str, request: Request) -> httpx2.Response:
    method, path = route.split()
    for name, text in request.get("path", {}).items():
        path = path.replace(f"{{{name}}}", quote(str(text), safe="").replace(".", "%2E"))
    body = request.get("body")
    content = {"content": body} if isinstance(body, str) else {"json": body} if body else {}
    return client.request(method, path, params=request.get("query", {}), **content)


def is_served(answer: httpx2.Response) -> bool:
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        return False
    if answer.headers["content-type"] == "application/json":
        return not is_refused(answer.json())
    if answer.headers["content-type"] == "image/svg+xml":
        return 'class="pane error"' not in answer.text
    if answer.request.url.path == "/api/v1/charts/series":
        return not is_refused({"columns": base64.b64encode(answer.content)})
    return True


@pytest.fixture(scope="module")
def texts(running) -> dict[str, set[str]]:
    """Every route that takes a text, and where, as the OpenAPI document declares them."""
    document = running.ask("/openapi.json").json()
    shapes = document["components"]["schemas"]
    routes = {
        f"{method} {path}": texts_of_route(route, shapes)
        for path, methods in document["paths"].items()
        for method, route in methods.items()
    }
    return {route: texts for route, texts in routes.items() if texts}


def test_every_text_of_a_route_is_in_the_tables(texts):
    tried = {
        f"{route} {text}"
        for route, requests in REQUESTS.items()
        for request in requests
        for text, _ in put_into(request, "-", texts[route], "")
    }
    assert tried | FREE.keys() == {f"{route} {text}" for route in texts for text in texts[route]}


@in_one_test("route", REQUESTS)
def test_no_argument_of_a_route_is_a_path(running, canary, texts, route):
    watch = Watch(canary / "x.star", canary / "x.csv")
    with running.client("ann") as ann:
        for request in REQUESTS[route]:
            answer = send(ann, route, request)
            assert is_served(answer), (request, answer.text)
        for name in hostile_names(canary, list(REQUESTS).index(route)):
            for request in REQUESTS[route]:
                for text, changed in put_into(request, name, texts[route], ""):
                    if f"{route} {text}" not in FREE and changed != request:
                        assert not is_served(send(ann, route, changed)), (text, name)
    assert not watch.opened()
    watch.close()


def test_names_of_kept_bars_are_no_paths_either(running, canary):
    """What a user calls their bars is kept in the database, under letters, digits, _ . and -."""
    watch = Watch(canary / "x.star", canary / "x.csv")
    with running.client("ann") as ann:
        for name in {name for turn in range(TURNS) for name in hostile_names(canary, turn)}:
            put = send(ann, "put /api/v1/my/bars/{name}", {"path": {"name": name}, "body": BARS})
            assert put.status_code == 200 or put.status_code in (404, 422), put.text
            if put.status_code == 200:
                assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name)
                ann.delete(f"/api/v1/my/bars/{name}")
    assert sorted(path.name for path in canary.iterdir()) == ["x.csv", "x.star"]
    assert not watch.opened()
    watch.close()
