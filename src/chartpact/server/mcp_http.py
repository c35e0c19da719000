"""MCP over HTTP: short calls are answered in one piece, long ones as streams."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast

import anyio
from mcp.server import MCPServer
from mcp.server.connection import Connection
from mcp.server.runner import ServerRunner, aclose_shielded, modern_error_data
from mcp.server.streamable_http import check_accept_headers
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PARAM_HEADER_PREFIX,
    X_MCP_HEADER_KEY,
    InboundModernRoute,
    classify_inbound_request,
)
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import RequestId
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from chartpact.server.splices import Splices

MODERN = frozenset(version.encode() for version in MODERN_PROTOCOL_VERSIONS)
# A request that holds one of these asks for messages before the answer.
ASKS_FOR_STREAM = (b"progressToken", b"logLevel")
ENCODED = b"=?base64?"  # how the value of a header begins that is not plain text
ROUTED_BY = (b"mcp-protocol-version", b"mcp-method", b"mcp-name")
MEMBERS = {"jsonrpc", "id", "method", "params"}
PARAM_HEADER = MCP_PARAM_HEADER_PREFIX.lower().encode()

_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass
class _Exchange:
    """The SDK's view of a request whose answer is one piece: nothing is sent before it."""

    transport: TransportContext
    request_id: RequestId
    message_metadata: ServerMessageMetadata
    can_send_request: bool = False

    @cached_property
    def cancel_requested(self) -> anyio.Event:
        return anyio.Event()

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,  # noqa: ARG002
        opts: CallOptions | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Drops the notification: there is no stream."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Drops the progress: the client did not ask for it."""


class _Connection(Connection):
    """The SDK's connection, whose exit stack is made and closed only where a tool uses it."""

    _stack: AsyncExitStack | None = None

    @property
    def exit_stack(self) -> AsyncExitStack:
        if self._stack is None:
            self._stack = AsyncExitStack()
        return self._stack

    @exit_stack.setter
    def exit_stack(self, _: AsyncExitStack) -> None:
        """Ignores the one that the SDK makes for every connection."""

    async def close(self) -> None:
        if self._stack is not None:
            await aclose_shielded(self)


class McpOverHttp:
    """Three ways of answering over one server object.

    A stream carries progress, keeps the connection alive and ends the work when its client leaves.
    It costs as much as a short call itself, so only calls that need one get it.

    A short request that is in order is handed to the SDK's dispatch by `_answer`, which spares half
    of what the SDK's own entry costs. The SDK's entry answers everything else, so that every error
    of the protocol is in its words.
    """

    def __init__(self, server: MCPServer[Any], long: frozenset[str], most_bytes: int) -> None:
        self._server = server._lowlevel_server
        self._long = frozenset(name.encode() for name in long)
        self._most_bytes = most_bytes
        self._lifespan_state: Any = None
        # Tools without arguments that a client has to repeat in headers.
        self._plain_tools = frozenset(
            tool.name
            for tool in server._tool_manager.list_tools()
            if X_MCP_HEADER_KEY not in json.dumps(tool.parameters)
        )
        self._in_one_piece, self._as_stream = (
            StreamableHTTPSessionManager(
                self._server,
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
        async with (
            self._in_one_piece.run(),
            self._as_stream.run(),
            self._server.lifespan(self._server) as self._lifespan_state,
        ):
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        splices = scope["chartpact.splices"] = Splices()
        send = splices.wrap(send)
        headers = dict(scope["headers"])
        if not self._is_short(scope, headers):
            await self._as_stream.handle_request(scope, receive, send)
            return
        request = Request(scope, receive)
        message, route = self._read(request, headers)
        if route is None:
            await self._in_one_piece.handle_request(scope, receive, send)
        else:
            await self._answer(request, message, route, send)

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

    def _read(
        self, request: Request, headers: dict[bytes, bytes]
    ) -> tuple[dict[str, Any], InboundModernRoute | None]:
        """The message and where it goes; without a route it is for the SDK to look at."""
        body = request.scope["chartpact.body"] or b""
        if (
            len(headers) < len(request.scope["headers"])  # one comes twice
            or len(body) > self._most_bytes
            or not headers.get(b"content-type", b"").lower().startswith(b"application/json")
            or not _accepts_json(headers.get(b"accept", b""))
            or any(name.startswith(PARAM_HEADER) for name in headers)
        ):
            return {}, None
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            return {}, None
        if not (
            isinstance(message, dict)
            and message.keys() == MEMBERS
            and message["jsonrpc"] == "2.0"
            and type(message["id"]) in (int, str)
            and isinstance(message["method"], str)
            and isinstance(message["params"], dict)
        ):
            return {}, None
        method, name = message["method"], message["params"].get("name")
        if method == "subscriptions/listen" or (
            method == "tools/call" and not (isinstance(name, str) and name in self._plain_tools)
        ):
            return {}, None
        routing = {
            name.decode(): headers[name].decode("latin-1") for name in ROUTED_BY if name in headers
        }
        verdict = classify_inbound_request(message, headers=routing)
        return message, verdict if isinstance(verdict, InboundModernRoute) else None

    async def _answer(
        self, request: Request, message: dict[str, Any], route: InboundModernRoute, send: Send
    ) -> None:
        """Has the SDK carry out a request that is in order, and writes its answer."""
        exchange = _Exchange(
            TransportContext(
                kind="streamable-http", can_send_request=False, headers=request.headers
            ),
            message["id"],
            ServerMessageMetadata(request_context=request),
        )
        parts = route.protocol_version, route.client_info, route.client_capabilities
        connection = cast(_Connection, _Connection.from_envelope(*parts))
        runner = ServerRunner(self._server, connection, self._lifespan_state)
        answer, status = {"jsonrpc": "2.0", "id": message["id"]}, 200
        try:
            answer["result"] = await runner.on_request(
                exchange, message["method"], message["params"]
            )
        except Exception as error:  # noqa: BLE001 - what nobody expected is logged in there
            data = modern_error_data(error)
            answer["error"] = data.model_dump(mode="json", by_alias=True, exclude_none=True)
            status = ERROR_CODE_HTTP_STATUS.get(data.code, status)
        finally:
            await connection.close()
        body = _encode(answer).encode()
        headers = [
            (b"content-length", str(len(body)).encode()),
            (b"content-type", b"application/json"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@lru_cache(maxsize=64)
def _accepts_json(accept: bytes) -> bool:
    return check_accept_headers(Request({"type": "http", "headers": [(b"accept", accept)]}))[0]
