"""The page at `/`: what is served, a sample chart drawn now, how to connect. No script needed."""

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from mcp_types import Tool

from chartpact._version import VERSION
from chartpact.bars.samples import SAMPLES
from chartpact.catalogue import Indicator, list_indicators
from chartpact.server.jobs import SAMPLE, SHAPES

_STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #131722; --quiet: #5d606b; --rule: #d6dae3;
  --card: #f5f7fa; --link: #1848cc; --mark: #07806d; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #131722; --ink: #e3e6ec; --quiet: #a3a7b2; --rule: #2f3441; --card: #1b202c;
    --link: #7faaff; --mark: #3cc4aa; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header, main, footer { max-width: 66rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 3rem; }
h1 { font-size: clamp(2rem, 6vw, 2.75rem); line-height: 1.1; margin: 0; letter-spacing: -0.03em; }
h1 small { font-size: 0.9rem; font-weight: 400; color: var(--quiet); letter-spacing: 0; }
h2 { font-size: 1.3rem; margin: 3.25rem 0 0.4rem; letter-spacing: -0.01em; }
h3 { font-size: 1rem; margin: 0 0 0.5rem; }
p { margin: 0.4rem 0 1rem; max-width: 46rem; }
.lead { font-size: 1.2rem; color: var(--quiet); margin: 0.6rem 0 1.5rem; }
.facts { list-style: none; display: flex; flex-wrap: wrap; gap: 0.35rem 1.75rem; padding: 0;
  margin: 0 0 2rem; }
.facts b { color: var(--mark); }
figure { margin: 0; }
img { width: 100%; height: auto; display: block; border: 1px solid var(--rule);
  border-radius: 10px; }
figcaption { color: var(--quiet); font-size: 0.9rem; margin-top: 0.6rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
  gap: 1rem; margin-top: 1rem; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px;
  padding: 1rem 1.1rem; min-width: 0; }
.card p { color: var(--quiet); font-size: 0.92rem; margin: 0 0 0.6rem; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; user-select: all;
  font: 13px/1.55 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
a:focus-visible { outline: 2px solid var(--link); outline-offset: 3px; }
code { font: 0.9em ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
table { border-collapse: collapse; width: 100%; margin-top: 0.75rem; }
th, td { text-align: left; vertical-align: top; padding: 0.55rem 1rem 0.55rem 0;
  border-top: 1px solid var(--rule); }
thead th { border-top: 0; color: var(--quiet); font-weight: 600; font-size: 0.85rem; }
th[scope=row] { font-weight: 400; white-space: nowrap; color: var(--link); }
td small { color: var(--quiet); font-size: 0.85rem; display: block; }
.names { color: var(--quiet); margin: 0 0 0.9rem; max-width: none; }
.names code { color: var(--ink); margin-right: 0.7rem; display: inline-block; }
a { color: var(--link); }
footer { color: var(--quiet); font-size: 0.9rem; padding-top: 3rem; padding-bottom: 3rem; }
@media (max-width: 40rem) {
  header { padding-top: 1.75rem; }
  thead { display: none; }
  tr, th, td { display: block; padding: 0; border: 0; }
  tr { border-top: 1px solid var(--rule); padding: 0.6rem 0; }
  th[scope=row] { white-space: normal; overflow-wrap: anywhere; } }
"""

_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": (
        f"default-src 'none'; img-src 'self'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
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
    """How this server is reached: its address, whether it wants a token, and where it lives."""

    address: str
    token: bool
    command: str = "chartpact"


def html(door: Door, tools: Sequence[Tool]) -> str:
    """The page of a server that is reached there and has these tools."""
    indicators = list_indicators()
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="Indicators you can write, and charts a program can trust.">
<title>chartpact</title>
<style>{_STYLE}</style>
</head>
<body>
<header>
<h1>chartpact <small>{VERSION}</small></h1>
<p class="lead">Indicators you can write, and charts a program can trust.</p>
<ul class="facts">
<li><b>{len(indicators)}</b> indicators built in</li>
<li><b>{len(SAMPLES)}</b> sample symbols</li>
<li><b>{len(tools)}</b> MCP tools at <code>/mcp</code></li>
<li>REST at <code>/api/v1</code></li>
</ul>
</header>
<main>
<figure>
{_picture()}
<figcaption>Drawn just now from <code>{SAMPLE}</code>: synthetic sample data.</figcaption>
</figure>
<h2>Connect an MCP client</h2>
{_connect(door)}
<h2>A first conversation</h2>
<p>“Draw <code>{SAMPLE}</code> with Cipher B.” · “Fork Cipher B with a faster WaveTrend.” ·
“Back to the original.” A version of your own is yours alone, and deleting it brings the builtin
back.</p>
<h2>Tools</h2>
{_tools(tools)}
<p>The same verbs as JSON are under <code>/api/v1</code>: see
<a href="/openapi.json">the OpenAPI document</a>.</p>
<h2>Indicators</h2>
{_indicators(indicators)}
<h2>Symbols</h2>
<p class="names">{_names(f"sample:{name}" for name in SAMPLES)}</p>
<p>All of them synthetic. Symbols of sources that the operator configured, and of files you put in
yourself, are told by <code>list_symbols</code>.</p>
</main>
<footer>chartpact {VERSION} · health at <a href="/healthz">/healthz</a> and
<a href="/readyz">/readyz</a></footer>
</body>
</html>
"""


def _picture() -> str:
    """The sample chart: in the reader's colours, and on a phone in a shape that can be read."""

    def address(theme: str, shape: str) -> str:
        return f"/sample.svg?theme={theme}&amp;shape={shape}"

    small, dark = "(max-width: 40rem)", "(prefers-color-scheme: dark)"
    width, height = SHAPES["wide"]
    return f"""<picture>
<source media="{small} and {dark}" srcset="{address("dark", "tall")}">
<source media="{small}" srcset="{address("light", "tall")}">
<source media="{dark}" srcset="{address("dark", "wide")}">
<img src="{address("light", "wide")}" width="{width}" height="{height}"
  alt="A chart of synthetic futures bars with moving averages, VWAP, Cipher B and RSI">
</picture>"""


def _connect(door: Door) -> str:
    url = f"{door.address}/mcp"
    bearer = {"headers": {"Authorization": "Bearer <token>"}} if door.token else {}
    header = ' --header "Authorization: Bearer <token>"' if door.token else ""
    ways = (
        ("Claude Code", "In a shell:", f"claude mcp add --transport http chartpact {url}{header}"),
        ("VS Code", "In .vscode/mcp.json:",
         _json({"servers": {"chartpact": {"type": "http", "url": url, **bearer}}})),
        ("Cursor", "In .cursor/mcp.json:",
         _json({"mcpServers": {"chartpact": {"url": url, **bearer}}})),
        ("Claude Desktop", "And others that start their servers themselves, on their own machine:",
         _json({"mcpServers": {"chartpact": {"command": door.command, "args": ["mcp"]}}})),
    )  # fmt: skip
    told = "".join(
        f'<section class="card"><h3>{name}</h3><p>{escape(where)}</p>'
        f"<pre>{escape(text)}</pre></section>"
        for name, where, text in ways
    )
    wanted = "<p>Put the token that the operator gave you in its place.</p>" if door.token else ""
    return f'{wanted}<div class="cards">{told}</div>'


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)


def _tools(tools: Sequence[Tool]) -> str:
    rows = "".join(
        f'<tr><th scope="row"><code>{escape(tool.name)}</code></th>'
        f"<td>{escape(_sentence(tool))}{_arguments(tool)}</td></tr>"
        for tool in tools
    )
    return (
        '<table><thead><tr><th scope="col">Tool</th><th scope="col">What it does</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _sentence(tool: Tool) -> str:
    return (tool.description or "").partition("\n\n")[0]


def _arguments(tool: Tool) -> str:
    names = tool.input_schema.get("properties", {})
    return f"<small>{escape(', '.join(names))}</small>" if names else ""


def _indicators(indicators: Sequence[Indicator]) -> str:
    return "".join(
        f"<h3>{title}</h3>"
        f'<p class="names">{_names(e.name for e in indicators if e.category == category)}</p>'
        for category, title in _CATEGORIES.items()
    )


def _names(names: Iterable[str]) -> str:
    return " ".join(f"<code>{escape(name)}</code>" for name in names)


def command(executable: str) -> str:
    """How a client on this machine starts the server: the command beside this Python, if any."""
    beside = Path(executable).with_name("chartpact")
    return str(beside) if beside.exists() else "chartpact"
