"""Which calls are answered in one piece, and what a stream is for."""

import asyncio
import json
from collections.abc import Callable

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from tests.server.conftest import TOKENS
from tests.service import PLAIN

from chartpact.server.mcp_http import McpOverHttp

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
}


def calling(tool: str, **meta: object) -> dict:
    params = {"name": tool, "arguments": {}, "_meta": {**META, **meta}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


class Caller:
    """An ASGI client of one call, which may leave before the answer is there."""

    def __init__(
        self, exchanges: Callable, tool: str, *, body: bytes | None = None, **meta: object
    ) -> None:
        self._body = json.dumps(calling(tool, **meta)).encode() if body is None else body
        headers = HEADERS | {"mcp-name": tool, "content-length": str(len(self._body))}
        self._scope = {
            "type": "http",
            "method": "POST",
            "path": "/mcp",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "chartpact.body": self._body,
        }
        self._exchanges = exchanges
        self._asked = False
        self.left = asyncio.Event()
        self.kind, self.text, self.start = "", "", {}

    def change(self, name: str, value: str | None) -> None:
        """Replaces a header, or leaves it out."""
        others = [each for each in self._scope["headers"] if each[0] != name.encode()]
        changed = [] if value is None else [(name.encode(), value.encode())]
        self._scope["headers"] = [*others, *changed]

    async def _receive(self) -> dict:
        if self._asked:
            await self.left.wait()
            return {"type": "http.disconnect"}
        self._asked = True
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def _send(self, message: dict) -> None:
        if message["type"] == "http.response.start":
            self.start = message
            self.kind = dict(message["headers"]).get(b"content-type", b"").decode()
        else:
            self.text += message.get("body", b"").decode()

    async def __call__(self) -> "Caller":
        await self._exchanges(self._scope, self._receive, self._send)
        return self


def tools(began: asyncio.Event, ended: list[str]) -> MCPServer:
    server = MCPServer("test", log_level="WARNING")

    @server.tool()
    async def quick() -> int:
        "Answers."
        return 7

    @server.tool()
    async def telling(ctx: Context) -> int:
        "Says how far it is."
        await ctx.report_progress(1, 2, "half way")
        return 7

    @server.tool()
    async def lasting() -> int:
        "Takes for ever."
        began.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("lasting")
            raise
        return 7

    return server


@pytest.mark.parametrize("name", ["mcp-name", "mcp-method", "mcp-protocol-version"])
def test_a_header_by_which_a_request_is_routed_comes_once(name):
    async def run():
        exchanges = McpOverHttp(tools(asyncio.Event(), []), frozenset(), 10_000)
        async with exchanges.run():
            caller = Caller(exchanges, "quick")
            twice = next(
                header for header in caller._scope["headers"] if header[0].decode() == name
            )
            caller._scope["headers"].append(twice)
            answer = await caller()
            assert answer.start["status"] == 400
            assert f"{name} header appears more than once" in answer.text

    asyncio.run(run())


def test_a_long_tool_is_long_also_where_its_header_is_encoded():
    async def run():
        exchanges = McpOverHttp(tools(asyncio.Event(), []), frozenset({"quick"}), 10_000)
        async with exchanges.run():
            caller = Caller(exchanges, "quick")
            caller.change("mcp-name", "=?base64?cXVpY2s=?=")
            asked = []

            async def handle(*_args) -> None:
                asked.append("stream")

            exchanges._as_stream.handle_request = handle
            await caller()
            assert asked == ["stream"]

    asyncio.run(run())


def test_a_stream_that_would_go_on_for_ever_ends_when_the_server_drains():
    async def run():
        exchanges = McpOverHttp(tools(asyncio.Event(), []), frozenset(), 10_000)
        async with exchanges.run():
            body = calling("quick") | {"method": "subscriptions/listen"}
            body["params"] = {"_meta": META, "notifications": {"toolsListChanged": True}}
            caller = Caller(exchanges, "quick", body=json.dumps(body).encode())
            caller.change("mcp-method", "subscriptions/listen")
            caller.change("mcp-name", None)
            listening = asyncio.create_task(caller())
            while not caller.text:
                await asyncio.sleep(0.01)
            assert (caller.kind, listening.done()) == ("text/event-stream", False)
            exchanges.drain()
            await asyncio.wait_for(listening, 10)

    asyncio.run(run())


def test_a_short_call_is_answered_in_one_piece_and_one_that_asks_for_progress_as_a_stream():
    async def run():
        exchanges = McpOverHttp(tools(asyncio.Event(), []), frozenset(), 10_000)
        async with exchanges.run():
            short = await Caller(exchanges, "quick")()
            assert (short.kind, '"result":7' in short.text) == ("application/json", True)
            silent = await Caller(exchanges, "telling")()
            assert (silent.kind, "half way" in silent.text) == ("application/json", False)
            told = await Caller(exchanges, "telling", progressToken="p")()
            assert told.kind == "text/event-stream"
            assert told.text.index("half way") < told.text.index('"result":7')

    asyncio.run(run())


def test_a_call_of_the_older_protocol_is_answered_as_a_stream():
    async def run():
        exchanges = McpOverHttp(tools(asyncio.Event(), []), frozenset(), 10_000)
        async with exchanges.run():
            caller = Caller(exchanges, "quick")
            caller._scope["headers"] = [
                (name, b"2025-11-25" if name == b"mcp-protocol-version" else value)
                for name, value in caller._scope["headers"]
            ]
            answer = await caller()
            assert (answer.kind, '"result":7' in answer.text) == ("text/event-stream", True)

    asyncio.run(run())


def test_a_body_beyond_the_limit_is_refused():
    async def run():
        exchanges = McpOverHttp(tools(asyncio.Event(), []), frozenset(), 10_000)
        async with exchanges.run():
            assert '"result":7' in (await Caller(exchanges, "quick", padding="x" * 9000)()).text
            assert "result" not in (await Caller(exchanges, "quick", padding="x" * 11_000)()).text

    asyncio.run(run())


def test_long_work_ends_when_its_client_leaves():
    async def run():
        began, ended = asyncio.Event(), []
        exchanges = McpOverHttp(tools(began, ended), frozenset({"lasting"}), 10_000)
        async with exchanges.run():
            caller = Caller(exchanges, "lasting")
            call = asyncio.create_task(caller())
            await asyncio.wait_for(began.wait(), 5)
            caller.left.set()
            await asyncio.wait_for(call, 5)
            assert ended == ["lasting"]

    asyncio.run(run())


def test_a_header_that_names_another_tool_than_the_body_is_refused():
    async def run():
        exchanges = McpOverHttp(tools(asyncio.Event(), []), frozenset({"lasting"}), 10_000)
        async with exchanges.run():
            caller = Caller(exchanges, "lasting")
            caller._scope["headers"] = [
                (name, b"quick" if name == b"mcp-name" else value)
                for name, value in caller._scope["headers"]
            ]
            assert '"error"' in (await caller()).text

    asyncio.run(run())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_official_client_hears_how_far_its_chart_is(server, mode):
    heard = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    async def run():
        headers = {"Authorization": f"Bearer {TOKENS['ann']}"}
        async with httpx2.AsyncClient(headers=headers, timeout=600, verify=PLAIN) as http:
            transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                asked = {"symbol": "sample:es-5m", "bars": 30, "format": "summary"}
                drawn = await client.call_tool("generate_chart", asked, progress_callback=progress)
                assert not drawn.is_error

    asyncio.run(run())
    assert (heard[0], heard[-1]) == ((0, 1, "drawing"), (1, 1, "done"))
