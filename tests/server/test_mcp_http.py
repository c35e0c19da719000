"""Which calls are answered in one piece, and what a stream is for."""

import asyncio
import json
from collections.abc import Callable
from typing import Annotated

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from pydantic import Field
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
IN_HEADER = {"x-mcp-header": "Region"}


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

    @server.tool()
    async def adding(x: int, note: str = "ü") -> dict[str, int | str | None]:
        "Adds one."
        return {"x": x + 1, "note": note, "nothing": None}

    @server.tool()
    async def routed(region: Annotated[str, Field(json_schema_extra=IN_HEADER)]) -> str:
        "A client repeats its argument in a header."
        return region

    @server.tool()
    async def failing(how: str) -> int:
        "Fails."
        raise {"crash": KeyError(how), "told": ToolError(how), "protocol": MCPError(-32002, how)}[
            how
        ]

    @server.tool()
    async def tidying(ctx: Context) -> int:
        "Leaves something to be done after the answer."
        stack = ctx.request_context.session._connection.exit_stack
        stack.callback(ended.append, "tidied")
        return 7

    @server.resource("note://{name}")
    async def note(name: str) -> str:
        "A note."
        return f"note {name}"

    @server.prompt()
    async def ask(about: str) -> str:
        "Asks."
        return f"what of {about}?"

    return server


def call_with(tool: str, **arguments: object) -> dict:
    message = calling(tool)
    message["params"]["arguments"] = arguments
    return message


def asking(method: str, **params: object) -> dict:
    return {"jsonrpc": "2.0", "id": "a", "method": method, "params": {"_meta": META, **params}}


SHORT = {
    "a call": calling("quick"),
    "arguments": call_with("adding", x=1, note="\u2028 & ☃"),
    "a number that no JSON has": call_with("adding", x=float("nan")),
    "wrong arguments": call_with("adding", x="one"),
    "arguments that are none": calling("quick") | {"params": {"name": "quick", "arguments": 3}},
    "a crash": call_with("failing", how="crash"),
    "a failure": call_with("failing", how="told"),
    "an error of the protocol": call_with("failing", how="protocol"),
    "no such tool": calling("none"),
    "an argument that belongs into a header": call_with("routed", region="eu"),
    "a method that is not there": asking("no/such"),
    "an older method": asking("ping"),
    "tools": asking("tools/list"),
    "discovery": asking("server/discover"),
    "a resource": asking("resources/read", uri="note://x"),
    "no resource": asking("resources/read", uri="none://x"),
    "a prompt": asking("prompts/get", name="ask", arguments={"about": "it"}),
    "a prompt without its argument": asking("prompts/get", name="ask"),
    "no _meta": calling("quick") | {"params": {"name": "quick"}},
    "another version": calling(
        "quick", **{"io.modelcontextprotocol/protocolVersion": "2025-11-25"}
    ),
    "no params": {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    "a notification": {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
    "no JSON-RPC": calling("quick") | {"jsonrpc": "1.0"},
    "an id that is a flag": calling("quick") | {"id": True},
    "an id that is a fraction": calling("quick") | {"id": 1.5},
    "an id that is null": calling("quick") | {"id": None},
    "a long id": calling("quick") | {"id": "ü" * 99},
    "a member too many": calling("quick") | {"more": 1},
    "a batch": [calling("quick")],
    "a text": b'"quick"',
    "no JSON": b"{",
    "nothing": b"",
    "deep JSON": b"[" * 5000,
    "too much": calling("quick", padding="x" * 11_000),
    "another encoding": json.dumps(calling("quick")).encode("utf-16"),
}
ODD_HEADERS = {
    "no content type": {"content-type": None},
    "another content type": {"content-type": "text/plain"},
    "a content type with a charset": {"content-type": "Application/JSON; charset=utf-8"},
    "no accept": {"accept": None},
    "accepts anything": {"accept": "*/*"},
    "accepts pictures": {"accept": "image/png"},
    "another method": {"mcp-method": "tools/list"},
    "no method": {"mcp-method": None},
    "another name": {"mcp-name": "adding"},
    "no name": {"mcp-name": None},
    "a name in base64": {"mcp-name": "=?base64?cXVpY2s=?="},
    "an argument nobody gave": {"mcp-param-region": "eu"},
}


async def answer_both(exchanges: McpOverHttp, caller: Callable[[Callable], Caller]) -> list:
    """What is answered, and what the SDK's own entry answers."""
    ours, sdks = caller(exchanges), caller(exchanges._in_one_piece.handle_request)
    return [(await each()).start | {"body": each.text} for each in (ours, sdks)]


def test_a_short_request_is_answered_as_the_sdk_would_answer_it():
    async def run():
        exchanges = McpOverHttp(tools(asyncio.Event(), []), frozenset(), 10_000)
        async with exchanges.run():
            for about, message in SHORT.items():
                body = message if isinstance(message, bytes) else json.dumps(message).encode()
                params = message.get("params", {}) if isinstance(message, dict) else {}
                method = message["method"] if isinstance(message, dict) else "tools/call"
                name = params.get("name", params.get("uri", "quick"))

                def ask(app, body=body, name=name, method=method):
                    caller = Caller(app, name, body=body)
                    caller.change("mcp-method", method)
                    return caller

                ours, sdks = await answer_both(exchanges, ask)
                assert ours == sdks, about
            for about, changes in ODD_HEADERS.items():

                def ask_oddly(app, changes=changes):
                    caller = Caller(app, "quick")
                    for name, value in changes.items():
                        caller.change(name, value)
                    return caller

                ours, sdks = await answer_both(exchanges, ask_oddly)
                assert ours == sdks, about

    asyncio.run(run())


def test_a_short_request_that_is_in_order_does_not_take_the_longer_way_through_the_sdk():
    async def run():
        exchanges = McpOverHttp(tools(asyncio.Event(), []), frozenset(), 10_000)
        async with exchanges.run():
            del exchanges._in_one_piece
            answer = await Caller(exchanges, "quick")()
            assert (answer.start["status"], '"result":7' in answer.text) == (200, True)

    asyncio.run(run())


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


def test_a_tool_that_leaves_something_to_do_after_the_answer_has_it_done():
    async def run():
        ended = []
        exchanges = McpOverHttp(tools(asyncio.Event(), ended), frozenset(), 10_000)
        async with exchanges.run():
            assert '"result":7' in (await Caller(exchanges, "tidying")()).text
            assert ended == ["tidied"]

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
