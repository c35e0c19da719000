"""The page of limits: every number on it is read from the constant that the code obeys."""

from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent / "limits.md"
MB = 2**20

# A row: what is limited, the constant as MODULE:NAME with attributes behind dots, and the unit. The
# unit `MB` or `KB` converts a number of bytes; after a number, `× 1 MB` is left as it is.
SECTIONS: dict[str, list[tuple[str, str, str]]] = {
    "A run of a script": [
        ("steps", "script.limits:Limits.steps", ""),
        ("processor time", "script.limits:Limits.cpu_ms", "ms"),
        ("time by the clock, on a loaded host", "script.limits:Limits.wall_ms", "ms"),
        ("memory", "script.limits:Limits.memory_mb", "× 1 MB"),
        ("bars", "script.limits:Limits.bars", ""),
        ("source", "script.limits:Limits.source_bytes", "KB"),
        ("lines of `print`", "script.limits:LOG_LINES", ""),
        ("characters of one such line", "script.limits:LOG_LINE_CHARS", ""),
    ],
    "The text of a script": [
        ("parameters", "script.check.declared:MOST_PARAMS", ""),
        ("options of one parameter", "script.check.declared:MOST_OPTIONS", ""),
        ("brackets inside one another", "script.limits:BRACKETS", ""),
        ("blocks, brackets and operators inside one another", "script.limits:DEPTH", ""),
        ("statements and expressions", "script.limits:PARTS", ""),
        ("names of one function", "script.limits:LOCALS", ""),
        ("loops inside one another", "script.limits:LOOP_DEPTH", ""),
        ("calls of functions inside one another", "script.limits:CALL_DEPTH", ""),
        ("digits of a number", "script.limits:LITERAL_DIGITS", ""),
        ("bits of a whole number", "script.limits:INT_BITS", ""),
        ("characters of a text", "script.limits:TEXT_CHARS", ""),
        ("items of a list", "script.limits:LIST_ITEMS", ""),
    ],
    "What one indicator draws": [
        ("labels; the oldest leaves for one more", "drawing.objects:CAPS.labels", ""),
        ("lines, likewise", "drawing.objects:CAPS.lines", ""),
        ("boxes, likewise", "drawing.objects:CAPS.boxes", ""),
        ("polylines, likewise", "drawing.objects:CAPS.polylines", ""),
        (
            "of each of these, unless META asks for more (`max_labels_count`, …)",
            "drawing.objects:DEFAULT_CAP",
            "",
        ),
        ("cells of a table", "script.limits:TABLE_CELLS", ""),
        ("points of a polyline", "script.limits:POLYLINE_POINTS", ""),
        ("points of all polylines", "script.limits:VERTICES", ""),
        ("bars beyond the last one", "script.host.handles:FURTHEST", ""),
        ("plots", "script.limits:PLOTS", ""),
        ("numbers of all plots", "script.limits:POINTS", ""),
        ("dots", "script.limits:DOTS", ""),
        ("characters of a drawn text", "script.limits:OBJECT_TEXT_CHARS", ""),
        ("characters of all drawn texts", "script.limits:SCENE_TEXT_CHARS", ""),
    ],
    "`ta`": [("length of a window", "ta.lengths:LONGEST", "bars")],
    "A picture": [
        ("bars, unless you ask for others", "render.options:PICTURE_BARS", ""),
        ("width and height", "render.look:LARGEST", "pixels"),
        ("panes", "render.panes:MAX_PANES", ""),
        ("drawn objects", "render.panes:MAX_OBJECTS", ""),
        ("columns, and rows, of a table", "render.tables:MAX_SIDE", ""),
        ("lines of a text", "render.textblock:MAX_LINES", ""),
        ("characters of a line of text", "render.textblock:MAX_LENGTH", ""),
        ("width of a line", "render.lines:MAX_WIDTH", "pixels"),
        ("processor time of its layout", "render.deadline:LAYOUT_S", "s"),
        ("time of its drawing, estimated beforehand", "render.weight:MOST_MS", "ms"),
    ],
    "A snapshot": [
        ("characters of a drawn text", "snapshot.structure:LONGEST_TEXT", ""),
        ("characters of a title, a symbol or an id", "snapshot.structure:LONGEST_NAME", ""),
        ("objects of one TradingView chart", "sources.tradingview.decode:MOST_RECORDS", ""),
        ("studies of one TradingView chart", "sources.tradingview.decode:MOST_STUDIES", ""),
        ("answer of TradingView", "sources.tradingview.cdp:MOST_BYTES", "MB"),
    ],
    "A contract": [
        ("file", "contracts.language.document:MAX_BYTES", "KB"),
        ("sections inside one another", "contracts.language.document:MAX_NESTING", ""),
        ("values in the file", "contracts.language.document:MAX_NODES", ""),
        ("elements", "contracts.language.model:MAX_ELEMENTS", ""),
        ("views that look at one another", "contracts.language.model:MAX_VIEWS", ""),
        ("problems that are listed", "contracts.language.document:MAX_PROBLEMS", ""),
        ("characters of a name", "contracts.language.model:MAX_NAME", ""),
        ("characters of an expression", "contracts.language.model:MAX_EXPRESSION", ""),
        ("operators and names of an expression", "contracts.language.expressions:MAX_NODES", ""),
        ("characters of a pattern", "contracts.language.codecs:MAX_PATTERN", ""),
        ("characters of a text that is decoded", "contracts.language.codecs:MAX_TEXT", ""),
        ("entries of an array in a payload", "contracts.language.model:MAX_ENTRIES", ""),
        (
            "combinations of observations of one machine",
            "contracts.check.totality:MAX_COMBINATIONS",
            "",
        ),
        ("cost of a reading, in operators", "contracts.reading.engine:MAX_COST", ""),
        ("violations of a reading", "contracts.reading.bind:MAX_VIOLATIONS", ""),
        ("objects that a violation shows", "contracts.reading.result:MAX_SHOWN", ""),
    ],
    "Following a state": [
        ("states that one user follows on a server", "library.follows:MOST_FOLLOWS", ""),
        ("states that are followed from the shell", "library.follows:MOST_SHELL_FOLLOWS", ""),
        (
            "least time from one reading to the next",
            "library.follows:LEAST_EVERY_MS",
            "ms",
        ),
        ("readings that the journal keeps of one", "library.journal:MOST_ENTRIES", ""),
        ("changes that it keeps", "library.journal:MOST_CHANGES", ""),
        ("states and records that it keeps", "library.journal:MOST_BYTES", "MB"),
        ("snapshots of refused readings that it keeps", "library.journal:MOST_PICTURES", ""),
        ("time that a command of `watch --exec` has", "cli.watch:EXEC_SECONDS", "s"),
    ],
    "A library": [
        ("scripts of one user", "library.scripts:QUOTA.texts", ""),
        ("their text", "library.scripts:QUOTA.bytes", "MB"),
        ("contracts of one user", "library.user_contracts:QUOTA.texts", ""),
        ("their text", "library.user_contracts:QUOTA.bytes", "MB"),
        ("versions of one name", "library.versioned_texts:MOST_VERSIONS", ""),
        ("earlier versions of all names", "library.scripts:QUOTA.history_bytes", "MB"),
        ("uploaded file, unpacked", "library.upload_source:LARGEST", "MB"),
        ("events of a calendar", "sources.calendars:MOST_EVENTS", ""),
    ],
}

# The limits that an operator may change, by the names of CHARTPACT_LIMITS.
USER_LIMITS = {
    "calls_per_minute": "calls",
    "calls_at_once": "calls under way at one time",
    "script_seconds_per_minute": "processor time of scripts",
    "checks_per_minute": "checks of scripts, while they are typed",
    "megapixels_per_minute": "pictures",
    "indicators_per_chart": "indicators of a chart",
    "inline_bars": "bars in a request",
    "body_bytes": "a request",
    "body_megabytes_per_minute": "all requests",
    "body_seconds": "time for a request to arrive",
    "upload_bytes": "an uploaded file, as it is sent",
    "job_megabytes": "memory of a computation",
    "answer_seconds": "time until an answer, with the wait for a turn",
    "fetch_seconds": "time for what an indicator needs from outside",
    "answer_bytes": "values of a chart, or its picture",
}


def page() -> str:
    """Every limit that a user can meet, with the module that holds it."""
    parts = [
        "# Limits\n\n"
        "What a user can run into, with the module under `src/chartpact/` that holds each number. "
        "Going beyond a limit is an error that names it, unless the table says what happens "
        "instead.\n"
    ]
    for title, rows in SECTIONS.items():
        parts.append(_table(title, [_row(*row) for row in rows]))
    parts.append(_user_limits())
    return "\n".join(parts)


def _table(title: str, rows: list[str]) -> str:
    return "\n".join([f"## {title}\n", "| what | limit | where |", "|---|--:|---|", *rows, ""])


def _row(what: str, constant: str, unit: str) -> str:
    module, _, name = constant.partition(":")
    value: Any = import_module(f"chartpact.{module}")
    for step in name.split("."):
        value = value[step] if hasattr(value, "keys") else getattr(value, step)
    return f"| {what} | {_amount(value, unit)} | {_file(module)} |"


def _file(module: str) -> str:
    path = module.replace(".", "/")
    root = PAGE.parents[1] / "src" / "chartpact"
    return f"`{path}.py`" if (root / f"{path}.py").exists() else f"`{path}/`"


def _amount(value: float, unit: str) -> str:
    if unit == "MB":
        return f"{value // MB} MB"
    if unit == "KB":
        return f"{value // 1024} KB"
    unit = unit.removeprefix("× 1 ")
    number = f"{value:,.0f}".replace(",", " ")
    return f"{number} {unit}".rstrip()


def _user_limits() -> str:
    from chartpact.server.settings import UserLimits

    rows = []
    for limit in fields(UserLimits):
        value, what = limit.default, USER_LIMITS[limit.name]
        unit = next((u for u in ("MB", "seconds", "megapixels") if u in limit.name), "")
        if limit.name.endswith("_bytes"):
            unit = "MB"
        elif "megabytes" in limit.name:
            value, unit = int(value) * MB, "MB"
        elif "seconds" in limit.name:
            unit = "s"
        each = " a minute" if limit.name.endswith("_per_minute") else ""
        rows.append(f"| {what} | {_amount(value, unit)}{each} | `{limit.name}` |")
    return "\n".join(
        [
            "## A user of a server\n",
            "An operator changes these: `CHARTPACT_LIMITS=calls_per_minute=60,inline_bars=5000`. "
            "The module is `server/settings.py`.\n",
            "| what | limit | name |",
            "|---|--:|---|",
            *rows,
            "",
        ]
    )
