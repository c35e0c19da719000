"""MCP over HTTP: short calls are answered in one piece, long ones as streams."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import Message, Receive, Scope, Send

MODERN = frozenset(version.encode() for version in MODERN_PROTOCOL_VERSIONS)
# A request that holds one of these asks for messages before the answer.
ASKS_FOR_STREAM = (b"progressToken", b"logLevel")
ENCODED = b"=?base64?"  # how the value of a header begins that is not plain text
LISTEN = b"subscriptions/listen"  # a stream that goes on for ever


class McpOverHttp:
    """Two ways of answering over one server object.

    A stream carries progress, keeps the connection alive and ends the work when its client leaves.
    It costs as much as a short call itself, so only calls that need one get it.
    """

    def __init__(self, server: MCPServer[Any], long: frozenset[str], most_bytes: int) -> None:
        self._server = server
        self._long = frozenset(name.encode() for name in long)
        self._in_one_piece = _manage(server, most_bytes, json_response=True)
        self._as_stream = _manage(server, most_bytes, json_response=False)
        self._draining = asyncio.Event()

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with self._in_one_piece.run(), self._as_stream.run():
            yield

    def drain(self) -> None:
        """Ends the streams that would go on for ever."""
        self._draining.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        if headers.get(b"mcp-method") == LISTEN:
            await self._listen(scope, receive, send)
        elif self._is_short(scope, headers):
            await self._in_one_piece.handle_request(scope, receive, send)
        else:
            await self._as_stream.handle_request(scope, receive, send)

    async def writes(self, body: bytes | None) -> bool:
        """Whether a request calls a tool that changes something."""
        try:
            message = json.loads(body or b"")
            if message["method"] != "tools/call":
                return False
            name = message["params"]["name"]
        except (ValueError, RecursionError, LookupError, TypeError):
            return False
        called = [tool for tool in await self._server.list_tools() if tool.name == name]
        return any(
            tool.annotations is None or not tool.annotations.read_only_hint for tool in called
        )

    def _is_short(self, scope: Scope, headers: dict[bytes, bytes]) -> bool:
        # The SDK refuses requests whose headers say otherwise than their bodies.
        name = headers.get(b"mcp-name", b"")
        body = scope["chartpact.body"] or b""
        return (
            headers.get(b"mcp-protocol-version") in MODERN
            and name not in self._long
            and not name.startswith(ENCODED)
            and not any(key in body for key in ASKS_FOR_STREAM)
        )

    async def _listen(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers until the client leaves or the server drains, and ends the answer then."""
        ended = True

        async def receive_or_end() -> Message:
            message = asyncio.ensure_future(receive())
            draining = asyncio.ensure_future(self._draining.wait())
            waiting = {message, draining}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            draining.cancel()
            if message.done():
                return message.result()
            message.cancel()
            return {"type": "http.disconnect"}

        async def note(message: Message) -> None:
            nonlocal ended
            ended = message["type"] == "http.response.body" and not message.get("more_body", False)
            await send(message)

        await self._as_stream.handle_request(scope, receive_or_end, note)
        if not ended:
            await send({"type": "http.response.body", "body": b""})


def _manage(
    server: MCPServer[Any], most_bytes: int, *, json_response: bool
) -> StreamableHTTPSessionManager:
    """The SDK's entry for requests without sessions."""
    server.streamable_http_app(
        json_response=json_response,
        stateless_http=True,
        # The front checks hosts and origins, for every route alike.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=most_bytes,
    )
    return server.session_manager
