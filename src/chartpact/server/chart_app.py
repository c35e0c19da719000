"""The chart as an MCP App: one HTML file with everything in it, for hosts that show such files.

The specification is that of MCP Apps, 2026-01-26. A host fetches nothing for an app, so its script
is a bundle of the page's own modules, made by `make web` as the other bundles are.
"""

from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

URI = "ui://chartpact/chart.html"
# Hosts that follow an earlier draft know the flat key alone.
LINK: dict[str, Any] = {"ui": {"resourceUri": URI}, "ui/resourceUri": URI}
APP_ONLY: dict[str, Any] = {"ui": {"resourceUri": URI, "visibility": ["app"]}}

_STATIC = files("chartpact.server") / "static"
_STYLES = ("design.css", "chart.css", "app.css")


@cache
def html() -> str:
    """The whole app."""
    layout = Template((_STATIC / "app.html").read_text("utf-8"))
    script = (_STATIC / "vendor" / "chart-app.js").read_text("utf-8")
    style = "".join((_STATIC / name).read_text("utf-8") for name in _STYLES)
    return layout.substitute(style=style, script=_escape(script))


def _escape(script: str) -> str:
    """A script that can stand inside a script element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
