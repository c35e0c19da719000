"""A TradingView MCP server over stdio that replays replies: `stock_server.py FILE`.

The file maps a tool's name to what it answers, one answer a call; the last one is repeated. A text
is sent as it is, anything else as JSON; `{"error": TEXT}` is sent as a failed call. A file that is
replaced is read again.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


def answer(recorded: Any) -> types.CallToolResult:
    failed = isinstance(recorded, dict) and recorded.get("success") is False
    text = recorded if isinstance(recorded, str) else json.dumps(recorded, indent=2)
    content: list[Any] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, is_error=failed or isinstance(recorded, str))


async def serve(path: Path) -> None:
    text = path.read_text()
    replies: dict[str, list[Any]] = json.loads(text)
    asked = path.with_suffix(".asked")

    async def call(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        nonlocal text, replies
        if path.read_text() != text:
            text = path.read_text()
            replies = json.loads(text)
        with asked.open("a") as log:
            log.write(json.dumps([params.name, params.arguments]) + "\n")
        if replies.get(params.name) == ["die"]:
            print("TypeError: something broke", file=sys.stderr, flush=True)
            os._exit(1)
        queue = replies[params.name]
        return answer(queue.pop(0) if len(queue) > 1 else queue[0])

    async def list_tools(*_: Any) -> types.ListToolsResult:
        schema = {"type": "object", "properties": {}}
        tools = [types.Tool(name=name, input_schema=schema) for name in replies]
        return types.ListToolsResult(tools=tools)

    server: Server[Any] = Server("tradingview", on_call_tool=call, on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(serve, Path(sys.argv[1]))
