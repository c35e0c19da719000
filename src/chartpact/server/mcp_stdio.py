"""MCP on standard input and output, with an answer to lines that are no messages.

The SDK's own entry leaves the sender of such a line waiting for ever. Its public server cannot be
run on other streams than its own, so this module takes the low-level server out of it.
"""

import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server import MCPServer
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

TRIED = "2.3", "2.3"  # releases of the SDK, first and last

Incoming = SessionMessage | Exception


async def serve(server: MCPServer[Any], beside: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Serves one client until its input ends; `beside` runs meanwhile."""
    async with stdio_server() as (received, outgoing), _filter(received, outgoing) as messages:
        lower = find_lower(server)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(beside)
            await lower.run(messages, outgoing, lower.create_initialization_options())
            tasks.cancel_scope.cancel()


def find_lower(server: MCPServer[Any]) -> Server[Any]:
    """The server below the SDK's public one, which runs on any streams."""
    return server._lowlevel_server


@asynccontextmanager
async def _filter(
    received: Any, outgoing: Any
) -> AsyncIterator[MemoryObjectReceiveStream[Incoming]]:
    """The messages alone; the SDK would leave the sender of anything else waiting for ever."""
    forward, messages = anyio.create_memory_object_stream[Incoming](0)

    async def listen() -> None:
        async with forward:
            async for incoming in received:
                if not isinstance(incoming, Exception):
                    await forward.send(incoming)
                elif (error := _explain(incoming)) is not None:
                    await outgoing.send(SessionMessage(error))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        yield messages
        tasks.cancel_scope.cancel()


def _explain(error: Exception) -> JSONRPCError | None:
    """The answer to a line that is no message; an empty line gets none."""
    if not isinstance(error, ValidationError):
        return _error(None, PARSE_ERROR, "the line cannot be read")
    wrong = error.errors(include_url=False, include_context=False)[0]
    if wrong["type"] != "json_invalid":
        return _error(None, INVALID_REQUEST, "a line is one JSON-RPC request or notification")
    line = str(wrong["input"])
    return _error(_id(line), PARSE_ERROR, wrong["msg"]) if line.strip() else None


def _error(to: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=to, error=ErrorData(code=code, message=message))


def _id(line: str) -> str | int | None:
    """The id to answer to, if the line has one: Python's JSON is laxer than the protocol's."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    sent = message.get("id") if isinstance(message, dict) else None
    known = isinstance(sent, str | int) and not isinstance(sent, bool)
    return sent if known and str(sent).isprintable() else None
