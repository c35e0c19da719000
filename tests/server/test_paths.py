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
from tests.server.conftest import SCRIPT, Running, serving
from tests.server.test_mcp import over_http

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


def hostile_names(folder: Path) -> list[str]:
    return [
        "./x.star", "x.star", "./x.csv", "x.csv", f"{folder}/x.star", f"{folder}/x.csv",
        f"file:{folder}/x.csv", f"file://{folder}/x.star", "/etc/passwd", "file:///etc/passwd",
        "-", "~", "~/x.star", "~/x.csv", ".", "..", f"../{folder.name}/x.csv", "C:\\x.csv",
        f"{folder}/x.csv@mine", "./x.csv@mine", f"sample:{folder}/x.csv", "sample:../x",
    ]  # fmt: skip


def is_refused(answer: Any) -> bool:
    """Whether the answer of a tool or a route says that there is no such thing."""
    if isinstance(answer, dict) and "columns" in answer:
        packed = base64.b64decode(answer["columns"])
        answer = json.loads(packed[8 : 8 + int.from_bytes(packed[4:8], "little")])
    if isinstance(answer, dict) and "indicators" in answer:
        return all("error" in drawn for drawn in answer["indicators"])
    if isinstance(answer, dict) and "readings" in answer:
        return not any("state" in reading for reading in answer["readings"].values())
    return isinstance(answer, dict) and (answer.get("ok") is False or "message" in answer)


# ---------------------------------------------------------------------------------------------- MCP

Arguments = Callable[[str], dict[str, Any]]
READ = {"contracts": ["ob_ai"], "symbol": "sample:es-5m"}
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
    "follow_state": {
        "contracts": [lambda name: {**READ, "contracts": [name]}],
        "symbol": [lambda name: {**READ, "symbol": name}],
        "timeframe": [lambda name: {**READ, "timeframe": name}],
        "params": [
            lambda name: {**READ, "contracts": ["smt_divergences"], "params": {"pair": name}},
        ],
        "config": [],  # kept with the follow, and refused by each of its readings
        "profile": [lambda name: {**READ, "profile": name}],
    },
    "unfollow_state": {},
    "get_state_changes": {"since": [lambda name: {"id": 1, "since": name}]},
    "list_contracts": {},
    "get_contract": {"name": [lambda name: {"name": name}]},
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
            for tool, ways in TOOLS.items():
                properties = listed[tool].input_schema.get("properties", {})
                texts = {name for name, schema in properties.items() if takes_text(schema)}
                assert texts == ways.keys(), tool
                for argument, variants in ways.items():
                    for name in hostile_names(canary):
                        for arguments in variants:
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
            for name in hostile_names(canary):
                for uri in (f"indicator://{name}", f"indicator://{quote(name, safe='')}"):
                    with pytest.raises((MCPError, ValueError)):
                        await client.read_resource(uri)

    asyncio.run(try_all())
    assert not watch.opened()
    watch.close()


# --------------------------------------------------------------------------------------------- REST

Send = Callable[[httpx2.Client, str], httpx2.Response]


def chart(ask: Callable[[str], dict[str, Any]]) -> list[Send]:
    return [
        lambda client, name: client.post("/api/v1/charts", json={**SAMPLE, **ask(name)}),
        lambda client, name: client.post("/api/v1/charts/image", json={**SAMPLE, **ask(name)}),
    ]


def at(method: str, path: str, **request: Any) -> Send:
    """A request whose path has the name in it."""
    return lambda client, name: client.request(
        method, path.replace("NAME", quote(name, safe="").replace(".", "%2E")), **request
    )


ROUTES: dict[str, list[Send]] = {
    "symbol": chart(lambda name: {"symbol": name}),
    "timeframe": chart(lambda name: {"timeframe": name}),
    "indicators, as a text": chart(lambda name: {"indicators": [name]})[:1],
    "indicators, by name": chart(lambda name: {"indicators": [{"name": name}]})[:1],
    "parameters": [
        lambda client, name, param=param: client.post(
            "/api/v1/charts", json={**SAMPLE, "indicators": [{"name": "naming", param: name}]}
        )
        for param in NAMING_PARAMS
    ],
    "forks": [at("GET", "/api/v1/forks/NAME")],
    "scripts": [
        at("GET", "/api/v1/my/indicators/NAME"),
        at("PUT", "/api/v1/my/indicators/NAME", json={"source": SCRIPT}),
        at("PATCH", "/api/v1/my/indicators/NAME", json={"source": SCRIPT}),
        at("DELETE", "/api/v1/my/indicators/NAME"),
        at("GET", "/api/v1/my/indicators/NAME/versions"),
        at("POST", "/api/v1/my/indicators/NAME/restore", json={"version": 1}),
    ],
    "sources of scripts": [
        lambda client, name: client.put("/api/v1/my/indicators/mine", json={"source": name}),
        lambda client, name: client.patch("/api/v1/my/indicators/naming", json={"source": name}),
    ],
    "bars": [at("GET", "/api/v1/my/bars/NAME"), at("DELETE", "/api/v1/my/bars/NAME")],
    "what is known of bars": [
        lambda client, name, known=known: client.put(
            "/api/v1/my/bars/mine", params={known: name}, content=BARS
        )
        for known in ("tz", "stamp", "timeframe", "day_roll")
    ],
    "a library": [
        lambda client, name: client.put(
            "/api/v1/my/library",
            json={"format": "chartpact-library-1", "scripts": [{"name": name, "source": SCRIPT}]},
        )
    ],
}


@pytest.mark.parametrize("argument", ROUTES)
def test_no_argument_of_a_route_is_a_path(running, canary, argument):
    watch = Watch(canary / "x.star", canary / "x.csv")
    with running.client("ann") as ann:
        for name in hostile_names(canary):
            for send in ROUTES[argument]:
                answer = send(ann, name)
                assert answer.status_code < 500, answer.text
                refused = answer.status_code >= 400 or is_refused(answer.json())
                assert refused, (argument, name, answer.text)
    assert not watch.opened()
    watch.close()


def test_names_of_kept_bars_are_no_paths_either(running, canary):
    """What a user calls their bars is kept in the database, under letters, digits, _ . and -."""
    watch = Watch(canary / "x.star", canary / "x.csv")
    with running.client("ann") as ann:
        for name in hostile_names(canary):
            put = at("PUT", "/api/v1/my/bars/NAME", content=BARS)(ann, name)
            assert put.status_code == 200 or put.status_code in (404, 422), put.text
            if put.status_code == 200:
                assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name)
                ann.delete(f"/api/v1/my/bars/{name}")
    assert sorted(path.name for path in canary.iterdir()) == ["x.csv", "x.star"]
    assert not watch.opened()
    watch.close()
