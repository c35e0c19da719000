"""MCP over HTTP: short calls are answered in one piece, long ones as streams."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import MCPServer
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.types import Receive, Scope, Send

from chartpact.server.inlays import Inlays

MODERN = frozenset(version.encode() for version in MODERN_PROTOCOL_VERSIONS)
# Who asks for any of these is told something before the answer is there.
WISHES = (b"progressToken", b"logLevel")


class Exchanges:
    """The SDK's two ways of answering, over one server object.

    A stream carries progress, keeps the connection alive and ends the work when its client leaves;
    it costs as much as a short call itself, so only calls that need it get one.
    """

    def __init__(self, server: MCPServer[Any], long: frozenset[str], most_bytes: int) -> None:
        self._long = frozenset(name.encode() for name in long)
        self._pieces, self._streams = (
            StreamableHTTPSessionManager(
                server._lowlevel_server,
                json_response=whole,
                stateless=True,
                # The front looks at hosts and origins, for every route alike.
                security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
                max_request_body_size=most_bytes,
            )
            for whole in (True, False)
        )

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with self._pieces.run(), self._streams.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        way = self._pieces if self._is_short(scope) else self._streams
        inlays = scope["chartpact.inlays"] = Inlays()
        await way.handle_request(scope, receive, inlays.sending(send))

    def _is_short(self, scope: Scope) -> bool:
        # The SDK refuses requests whose headers say otherwise than their bodies.
        headers = dict(scope["headers"])
        body = scope["chartpact.body"] or b""
        return (
            headers.get(b"mcp-protocol-version") in MODERN
            and headers.get(b"mcp-name") not in self._long
            and not any(wish in body for wish in WISHES)
        )
