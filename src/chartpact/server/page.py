"""The page at `/connect`: what is served, a sample chart, how to connect. Its script copies."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from mcp_types import Tool

from chartpact._version import VERSION
from chartpact.bars.samples import SAMPLES
from chartpact.catalogue import Indicator, list_indicators
from chartpact.server.jobs import SAMPLE, SHAPES
from chartpact.server.web import read_style

_STATIC = files("chartpact.server") / "static"
_HOME = Template((_STATIC / "home.html").read_text("utf-8"))
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
    return _HOME.substitute(
        style=_STYLE,
        version=VERSION,
        sample=SAMPLE,
        width=width,
        height=height,
        indicator_count=len(indicators),
        sample_count=len(SAMPLES),
        tool_count=len(tools),
        clients=_list_clients(door),
        tools="".join(map(_format_tool, tools)),
        indicators=_list_indicators(indicators),
        samples=_format_names(f"sample:{name}" for name in SAMPLES),
    )


def _list_clients(door: Door) -> str:
    url = f"{door.address}/mcp"
    token = door.token and not door.accounts
    bearer = {"headers": {"Authorization": "Bearer <token>"}} if token else {}
    header = ' --header "Authorization: Bearer <token>"' if token else ""
    clients = (
        ("Claude Code", "In a shell:", f"claude mcp add --transport http chartpact {url}{header}"),
        ("VS Code", "In .vscode/mcp.json:",
         _json({"servers": {"chartpact": {"type": "http", "url": url, **bearer}}})),
        ("Cursor", "In .cursor/mcp.json:",
         _json({"mcpServers": {"chartpact": {"url": url, **bearer}}})),
        ("Claude Desktop", "And others that start their servers themselves, on their own machine:",
         _json({"mcpServers": {"chartpact": {"command": door.command, "args": ["mcp"]}}})),
    )  # fmt: skip
    cards = "".join(
        f'<section class="card"><h3>{name}</h3><p>{escape(where)}</p>'
        f"<pre>{escape(text)}</pre></section>"
        for name, where, text in clients
    )
    wanted = "<p>Put the token that the operator gave you in its place.</p>" if token else ""
    if door.accounts:
        wanted = (
            "<p>Your client opens a page here, where you sign in and allow it. "
            '<a href="/account">Your account</a> lists what you allowed, and makes tokens for '
            "programs that cannot ask.</p>"
        )
    return f'{wanted}<div class="cards">{cards}</div>'


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)


def _format_tool(tool: Tool) -> str:
    sentence = (tool.description or "").partition("\n\n")[0]
    names = tool.input_schema.get("properties", {})
    arguments = f"<small>{escape(', '.join(names))}</small>" if names else ""
    return (
        f'<tr><th scope="row"><code>{escape(tool.name)}</code></th>'
        f"<td>{escape(sentence)}{arguments}</td></tr>"
    )


def _list_indicators(indicators: Sequence[Indicator]) -> str:
    groups = {
        title: _format_names(known.name for known in indicators if known.category == category)
        for category, title in _CATEGORIES.items()
    }
    return "".join(
        f'<h3>{title}</h3><p class="names">{names}</p>' for title, names in groups.items()
    )


def _format_names(names: Iterable[str]) -> str:
    return " ".join(f"<code>{escape(name)}</code>" for name in names)


def find_command(executable: str) -> str:
    """How a client on this machine starts the server: the command beside this Python, if any."""
    beside = Path(executable).with_name("chartpact")
    return str(beside) if beside.exists() else "chartpact"
