"""MCP over HTTP: short calls are answered in one piece, long ones as streams."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import Receive, Scope, Send

from chartpact.server.splices import Splices

MODERN = frozenset(version.encode() for version in MODERN_PROTOCOL_VERSIONS)
# A request that holds one of these asks for messages before the answer.
ASKS_FOR_STREAM = (b"progressToken", b"logLevel")


class McpOverHttp:
    """The SDK's two ways of answering, in one piece and as a stream, over one server object.

    A stream carries progress, keeps the connection alive and ends the work when its client leaves.
    It costs as much as a short call itself, so only calls that need one get it.
    """

    def __init__(self, server: MCPServer[Any], long: frozenset[str], most_bytes: int) -> None:
        self._long = frozenset(name.encode() for name in long)
        self._in_one_piece, self._as_stream = (
            StreamableHTTPSessionManager(
                server._lowlevel_server,
                json_response=whole,
                stateless=True,
                # The front checks hosts and origins, for every route alike.
                security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
                max_request_body_size=most_bytes,
            )
            for whole in (True, False)
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with self._in_one_piece.run(), self._as_stream.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = self._in_one_piece if self._is_short(scope) else self._as_stream
        splices = scope["chartpact.splices"] = Splices()
        await manager.handle_request(scope, receive, splices.wrap(send))

    def _is_short(self, scope: Scope) -> bool:
        # The SDK refuses requests whose headers say otherwise than their bodies.
        headers = dict(scope["headers"])
        body = scope["chartpact.body"] or b""
        return (
            headers.get(b"mcp-protocol-version") in MODERN
            and headers.get(b"mcp-name") not in self._long
            and not any(key in body for key in ASKS_FOR_STREAM)
        )
