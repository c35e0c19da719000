"""The chart as an MCP App: one HTML file with everything in it, for hosts that show such files.

The specification is that of MCP Apps, 2026-01-26. A host fetches nothing for an app, so the page's
own modules are linked into one script here: each becomes a function that returns what others import
from it. They are plain modules with named imports at the beginning of a line.
"""

import re
from collections import defaultdict
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
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";\n', re.MULTILINE)
_FORWARD = re.compile(r'^export \* from "\.\./(vendor/[\w.-]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=async |class |const |function |let )", re.MULTILINE)
_VENDORED = re.compile(r"export\{([^}]*)\};\s*$")


@cache
def html() -> str:
    """The whole app."""
    layout = Template((_STATIC / "app.html").read_text("utf-8"))
    style = "".join((_STATIC / name).read_text("utf-8") for name in _STYLES)
    return layout.substitute(style=style, script=_escape(link("app")))


def _escape(script: str) -> str:
    """A script that can stand inside a script element."""
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def link(entry: str) -> str:
    """A module and all it imports as one script, in which a module comes after those it needs."""
    sources: dict[str, str] = {}
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    order: list[str] = []

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"modules import each other: {' → '.join((*path, name))}")
        if name in sources:
            return
        sources[name] = (_STATIC / "js" / f"{name}.js").read_text("utf-8")
        for names, module in _IMPORT.findall(sources[name]):
            wanted[module] |= {part.split(" as ")[0].strip() for part in names.split(",")} - {""}
            visit(module, (*path, name))
        order.append(name)

    visit(entry, ())
    return "\n".join(_wrap(name, sources[name], sorted(wanted[name])) for name in order)


def _wrap(name: str, source: str, exports: list[str]) -> str:
    """A module as a function whose result has what other modules import from it."""
    if (forward := _FORWARD.search(source)) is not None:
        body = (_STATIC / forward[1]).read_text("utf-8")
        pairs = (pair.split(" as ") for pair in _VENDORED.search(body)[1].split(","))  # type: ignore[index]
        result = ", ".join(f"{pair[-1]}: {pair[0]}" for pair in pairs if pair[-1] in exports)
        body = _VENDORED.sub("", body)
    else:
        body = _IMPORT.sub(_take, source)
        body = _EXPORT.sub("", body)
        result = ", ".join(exports)
    return f"const {_variable(name)} = (() => {{\n{body}\nreturn {{ {result} }};\n}})();"


def _take(match: re.Match[str]) -> str:
    names = ",".join(part.replace(" as ", ": ") for part in match[1].split(","))
    return f"const {{{names}}} = {_variable(match[2])};\n"


def _variable(name: str) -> str:
    return f"$${name}"
