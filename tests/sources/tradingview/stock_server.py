"""A TradingView MCP server over stdio that replays replies: `stock_server.py FILE`.

The file maps a tool's name to what it answers, one answer a call; the last one is repeated. A text
is sent as it is, as a failed call; anything else is sent as JSON. `"die"` ends the server. A file
that is replaced is read again.

The stock server is no Python program: its messages are written here by hand, as they are on the
wire, and not by the package that the client reads them with.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

VERSION = "2025-06-18"  # of the protocol, which the stock server speaks


class Replies:
    """The replies in a file, and a log of what was asked for beside it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = ""
        self._asked = path.with_suffix(".asked")

    def read(self) -> dict[str, list[Any]]:
        text = self._path.read_text()
        if text != self._text:
            self._text = text
            self._replies: dict[str, list[Any]] = json.loads(text)
        return self._replies

    def call(self, name: str, arguments: Any) -> dict[str, Any]:
        queue = self.read()[name]
        with self._asked.open("a") as log:
            log.write(json.dumps([name, arguments]) + "\n")
        if queue == ["die"]:
            print("TypeError: something broke", file=sys.stderr, flush=True)
            os._exit(1)
        recorded = queue.pop(0) if len(queue) > 1 else queue[0]
        is_text = isinstance(recorded, str)
        failed = is_text or recorded.get("success") is False
        text = recorded if is_text else json.dumps(recorded, indent=2)
        return {"content": [{"type": "text", "text": text}], "isError": failed}


def answer(replies: Replies, method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            about = {"name": "tradingview", "version": "1.0.0"}
            capabilities: dict[str, Any] = {"tools": {}}
            return {"protocolVersion": VERSION, "capabilities": capabilities, "serverInfo": about}
        case "tools/list":
            schema = {"type": "object", "properties": {}}
            return {"tools": [{"name": name, "inputSchema": schema} for name in replies.read()]}
        case "tools/call":
            return replies.call(params["name"], params.get("arguments"))
    raise NotImplementedError(method)


def serve(path: Path) -> None:
    replies = Replies(path)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue  # a notification
        result = answer(replies, request["method"], request.get("params", {}))
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
