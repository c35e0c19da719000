"""The page at `/connect`: what is served, a sample chart, how to connect. Its script copies."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp_types import Tool

from chartpact._version import VERSION
from chartpact.bars.samples import SAMPLES
from chartpact.catalogue import list_indicators
from chartpact.server.jobs import SAMPLE, SHAPES
from chartpact.server.templating import render
from chartpact.server.workbench_page import read_style

_STYLE, _STYLE_SOURCE = read_style("home.css")
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; img-src 'self'; style-src {_STYLE_SOURCE}; font-src 'self'; "
        "script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "Cache-Control": "no-store",
}
# A picture brings its own style and its own fonts, and nothing else.
PICTURE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; font-src data:; frame-ancestors 'none'; sandbox"
)
PICTURE_HEADERS = {"Content-Security-Policy": PICTURE_POLICY, "Cache-Control": "no-store"}

_CATEGORIES = {
    "overlay": "Over the price",
    "panel": "In a pane of their own",
    "external": "From what exchanges tell besides prices",
}


@dataclass(frozen=True)
class Door:
    """How this server is reached: its address, whether it wants a token, and its command."""

    address: str
    token: bool
    command: str = "chartpact"
    accounts: bool = False  # clients sign in by themselves, and nobody needs a token


def html(door: Door, tools: Sequence[Tool]) -> str:
    """The page of a server that is reached there and has these tools."""
    indicators = list_indicators()
    width, height = SHAPES["wide"]
    return render(
        "connect.html",
        style=_STYLE,
        version=VERSION,
        sample=SAMPLE,
        width=width,
        height=height,
        accounts=door.accounts,
        wants_token=door.token and not door.accounts,
        clients=_list_clients(door),
        tools=tools,
        indicators={
            title: [known.name for known in indicators if known.category == category]
            for category, title in _CATEGORIES.items()
        },
        indicator_count=len(indicators),
        samples=[f"sample:{name}" for name in SAMPLES],
    )


def _list_clients(door: Door) -> tuple[tuple[str, str, str], ...]:
    """Each client, where its configuration stands, and what to write there."""
    url = f"{door.address}/mcp"
    token = door.token and not door.accounts
    bearer = {"headers": {"Authorization": "Bearer <token>"}} if token else {}
    header = ' --header "Authorization: Bearer <token>"' if token else ""
    return (
        ("Claude Code", "In a shell:", f"claude mcp add --transport http chartpact {url}{header}"),
        ("VS Code", "In .vscode/mcp.json:",
         _json({"servers": {"chartpact": {"type": "http", "url": url, **bearer}}})),
        ("Cursor", "In .cursor/mcp.json:",
         _json({"mcpServers": {"chartpact": {"url": url, **bearer}}})),
        ("Claude Desktop", "And others that start their servers themselves, on their own machine:",
         _json({"mcpServers": {"chartpact": {"command": door.command, "args": ["mcp"]}}})),
    )  # fmt: skip


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)


def find_command(executable: str) -> str:
    """How a client on this machine starts the server: the command beside this Python, if any."""
    beside = Path(executable).with_name("chartpact")
    return str(beside) if beside.exists() else "chartpact"
