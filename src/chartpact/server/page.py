"""The page at `/`: what is served, a sample chart drawn now, how to connect. No script needed."""

import html as escape
from functools import lru_cache

from chartpact._version import VERSION
from chartpact.indicators import list_indicators
from chartpact.server.jobs import SAMPLE

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
}

TOOLS = (
    ("list_symbols", "what can be drawn"),
    ("list_indicators", "the builtins and your own, with their parameters"),
    ("generate_chart", "a picture and its values"),
    ("fork_indicator", "a builtin's source, to change it"),
    ("register_indicator", "keep a script of yours"),
    ("update_indicator", "replace its source"),
    ("delete_indicator", "take it out of use"),
    ("list_my_indicators", "what you have registered"),
    ("get_indicator_source", "read one of yours"),
)

_STYLE = """
:root { color-scheme: dark light; }
body { margin: 0; background: #131722; color: #d1d4dc; font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 3rem 1.25rem 4rem; }
h1 { font-size: 2.2rem; margin: 0; letter-spacing: -0.02em; }
h1 small { font-size: 0.9rem; font-weight: 400; color: #787b86; margin-left: 0.5rem; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 0.75rem; color: #fff; }
p.lead { font-size: 1.15rem; margin: 0.5rem 0 2rem; color: #b2b5be; }
img { width: 100%; height: auto; display: block; border: 1px solid #2a2e39; border-radius: 8px; }
figcaption { color: #787b86; font-size: 0.85rem; margin-top: 0.5rem; }
figure { margin: 0; }
pre { background: #1e222d; border: 1px solid #2a2e39; border-radius: 8px; padding: 0.9rem 1rem;
  overflow-x: auto; font: 13px/1.5 ui-monospace, monospace; }
code { font: 0.92em ui-monospace, monospace; color: #e0e3eb; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.35rem 1.5rem; margin: 0; }
dt code { color: #5b9cf6; } dd { margin: 0; color: #b2b5be; }
ul.names { list-style: none; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: 0.4rem; }
ul.names li { background: #1e222d; border: 1px solid #2a2e39; border-radius: 999px;
  padding: 0.1rem 0.7rem; font: 13px/1.6 ui-monospace, monospace; }
a { color: #5b9cf6; }
"""


@lru_cache(maxsize=8)
def html(address: str) -> str:
    """The page of a server that is reached at this address."""
    address = escape.escape(address)
    names = "".join(f"<li>{escape.escape(each.name)}</li>" for each in list_indicators())
    tools = "".join(f"<dt><code>{name}</code></dt><dd>{what}</dd>" for name, what in TOOLS)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>chartpact</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>chartpact<small>{VERSION}</small></h1>
<p class="lead">Indicators you can write, and charts a program can trust.</p>
<figure>
<img src="/sample.svg" width="1200" height="820"
  alt="A chart of synthetic futures bars with moving averages, VWAP, Cipher B and RSI">
<figcaption>Drawn just now from <code>{SAMPLE}</code>: synthetic sample data.</figcaption>
</figure>
<h2>Connect an MCP client</h2>
<p>Claude Code:</p>
<pre>claude mcp add --transport http chartpact {address}/mcp</pre>
<p>VS Code, in <code>.vscode/mcp.json</code>:</p>
<pre>{{"servers": {{"chartpact": {{"type": "http", "url": "{address}/mcp"}}}}}}</pre>
<p>Cursor, in <code>.cursor/mcp.json</code>:</p>
<pre>{{"mcpServers": {{"chartpact": {{"url": "{address}/mcp"}}}}}}</pre>
<p>Claude Desktop and others that start their servers themselves, on their own machine:</p>
<pre>{{"mcpServers": {{"chartpact": {{"command": "chartpact", "args": ["mcp"]}}}}}}</pre>
<h2>Tools</h2>
<dl>{tools}</dl>
<p>The same verbs as JSON live under <code>/api/v1</code>:
<a href="/openapi.json">the OpenAPI document</a>.</p>
<h2>Indicators</h2>
<ul class="names">{names}</ul>
</main>
</body>
</html>
"""
