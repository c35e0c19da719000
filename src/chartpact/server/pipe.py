"""MCP on standard input and output, where what makes no sense is answered too."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

Heard = SessionMessage | Exception


async def serve(server: MCPServer[Any]) -> None:
    """Serves one client until its input ends."""
    async with stdio_server() as (heard, said), _answering(heard, said) as understood:
        lower = server._lowlevel_server
        await lower.run(understood, said, lower.create_initialization_options())


@asynccontextmanager
async def _answering(heard: Any, said: Any) -> AsyncIterator[MemoryObjectReceiveStream[Heard]]:
    """What is heard, less what is no message: the SDK would leave its sender waiting for ever."""
    passed, understood = anyio.create_memory_object_stream[Heard](0)

    async def listen() -> None:
        async with passed:
            async for each in heard:
                if not isinstance(each, Exception):
                    await passed.send(each)
                elif (problem := _problem(each)) is not None:
                    await said.send(SessionMessage(problem))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        yield understood
        tasks.cancel_scope.cancel()


def _problem(error: Exception) -> JSONRPCError | None:
    """What to say of a line that is no message; nothing of an empty one."""
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
    """Whom to answer, where somebody can be made out: Python reads more than the protocol does."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    found = message.get("id") if isinstance(message, dict) else None
    known = isinstance(found, str | int) and not isinstance(found, bool)
    return found if known and str(found).isprintable() else None
