"""A TradingView MCP server that is started over stdio, as a source of snapshots.

Its four tools do not give everything that is drawn, and not at one moment. The chart's state is
asked for before and after them: a chart that changed meanwhile is not given out.
"""

import shlex
import tempfile
from contextlib import ExitStack, suppress
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED

from chartpact.clock.system import now_ms
from chartpact.problem import Failure, Problem
from chartpact.snapshot import Snapshot
from chartpact.sources.errors import SourceFailed
from chartpact.sources.tradingview.stock import STATE_TOOL, TOOLS, parse_reply, read_replies

TIMEOUT = 60.0  # seconds; that server takes 15 to say that TradingView is not there
MOST_LABELS = 100_000


class McpSource:
    """The chart that a TradingView MCP server reads. The server is started at the first read."""

    name = "tradingview-mcp"

    def __init__(self, command: str, timeout: float = TIMEOUT, study: str | None = None) -> None:
        try:
            self._command = shlex.split(command)
        except ValueError as error:
            raise _bad_command(command, str(error)) from None
        if not self._command:
            raise _bad_command(command, "it is empty")
        self._timeout = timeout
        self._study = study
        self._held = ExitStack()
        self._portal: BlockingPortal | None = None
        self._client: Client | None = None

    def read(self) -> Snapshot:
        fresh = self._client is None
        try:
            return self._read()
        except SourceFailed:
            raise
        except (
            MCPError,
            OSError,
            anyio.ClosedResourceError,
            anyio.BrokenResourceError,
            ExceptionGroup,  # of the library, where a server ends while it is greeted
        ) as error:
            said = self._last_words()
            with suppress(ExceptionGroup):  # the same once more
                self.close()
            if fresh:
                raise SourceFailed(
                    f"the MCP server does not answer: {said or _first(error)!s:.300}"
                ) from None
        return self.read()

    def close(self) -> None:
        self._held.close()
        self._portal = self._client = None

    def _read(self) -> Snapshot:
        before = self._call(STATE_TOOL)
        replies = {}
        for channel, tool in TOOLS.items():
            arguments: dict[str, Any] = {} if channel == "cells" else {"verbose": True}
            if channel == "labels":
                arguments["max_labels"] = MOST_LABELS
            if self._study is not None:
                arguments["study_filter"] = self._study
            replies[channel] = self._call(tool, arguments)
        if self._call(STATE_TOOL) != before:
            raise SourceFailed("the chart changed while it was read")
        return read_replies(before, replies, self.name, now_ms(), self._study)

    def _call(self, tool: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
        """What a tool says, as data."""
        portal, client = self._connect()
        try:
            result = portal.call(self._ask, client, tool, arguments or {})
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise
            raise SourceFailed(f"{tool}: {error.message!s:.300}") from None
        except TimeoutError:
            self.close()
            raise SourceFailed(f"{tool}: no reply within {self._timeout:g} s") from None
        text = "".join(getattr(part, "text", "") for part in result.content)
        return parse_reply(tool, text, bool(result.is_error))

    async def _ask(self, client: Client, tool: str, arguments: dict[str, Any]) -> Any:
        with anyio.fail_after(self._timeout):
            return await client.call_tool(tool, arguments)

    def _connect(self) -> tuple[BlockingPortal, Client]:
        if self._portal is None or self._client is None:
            program, *arguments = self._command
            log = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
            self._said = self._held.enter_context(log)
            self._portal = self._held.enter_context(start_blocking_portal())
            server = StdioServerParameters(command=program, args=arguments)
            transport = stdio_client(server, errlog=self._said)
            client = Client(transport, read_timeout_seconds=self._timeout, mode="legacy")
            self._client = self._held.enter_context(self._portal.wrap_async_context_manager(client))
        return self._portal, self._client

    def _last_words(self) -> str:
        """The last line that the server wrote to its standard error."""
        said = getattr(self, "_said", None)
        if said is None or said.closed:
            return ""
        said.seek(0)
        lines = [line.strip() for line in said.read(100_000).splitlines() if line.strip()]
        return lines[-1] if lines else ""


def _first(error: BaseException) -> BaseException:
    """The first error of a group, which says what went wrong."""
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _bad_command(command: str, why: str) -> Failure:
    message = f"{command!r:.200} is no command: {why}"
    return Failure(Problem("value", message, 'it is like "node server.js"'))
