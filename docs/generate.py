"""Writes docs/reference from the code; with --check, fails when a page has drifted.

A page is a function that returns Markdown; `PAGES` names them all.
"""

import argparse
import asyncio
import inspect
import json
import re
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import conversation
import facts
import limits

from chartpact.catalogue import Indicator, ScriptIndicator
from chartpact.indicators.builtin import Builtin
from chartpact.params import allowed

DOCS = Path(__file__).resolve().parent
REFERENCE = DOCS / "reference"
CLOSE = DOCS / "how-close-to-tradingview.md"
STATES = DOCS.parent / "src" / "chartpact" / "states.py"
NOTE = (
    "<!-- Written by docs/generate.py from the code: edit the code, then run `make docs`. -->\n\n"
)


def cli_page() -> str:
    """Every verb with its help text."""
    from chartpact.__main__ import parser

    top = parser()
    verbs = next(a for a in top._actions if isinstance(a, argparse._SubParsersAction))
    parts = ["# Command line\n", _help(top)]
    for name, verb in verbs.choices.items():
        parts.append(f"## `chartpact {name}`\n\n{_help(verb)}")
        for inner in verb._actions:
            if isinstance(inner, argparse._SubParsersAction):
                parts += [
                    f"### `chartpact {name} {each}`\n\n{_help(sub)}"
                    for each, sub in inner.choices.items()
                ]
    return "\n".join(parts)


def _help(parser: argparse.ArgumentParser) -> str:
    """What a verb takes, as tables: argparse words its help differently in each Python."""
    parts = [f"{parser.description}\n"] if parser.description else []
    for group in parser._action_groups:
        rows = [
            row
            for action in group._group_actions
            if not isinstance(action, argparse._HelpAction)
            for row in _rows(action)
        ]
        if rows:
            parts += [f"| {group.title} | |\n|---|---|", *rows, ""]
    if parser.epilog:
        parts.append(f"{parser.epilog}\n")
    return "\n".join(parts)


def _rows(action: argparse.Action) -> list[str]:
    if isinstance(action, argparse._SubParsersAction):
        return [_row(f"`{each.dest}`", each.help or "") for each in action._choices_actions]
    value = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    if action.choices is not None:
        value = " or ".join(map(str, action.choices))
    if action.nargs == "?":
        value = f"[{value}]"
    names = ", ".join(action.option_strings)
    needed = " (needed)" if action.required and action.option_strings else ""
    return [_row(f"`{f'{names} {value}'.strip()}`", f"{action.help or ''}{needed}")]


def _row(name: str, told: str) -> str:
    cells = (each.replace("%%", "%").replace("|", "\\|") for each in (name, told))
    return f"| {' | '.join(cells)} |"


def ta_page() -> str:
    """Every function of `chartpact.ta`, by family: how it is called, what it does, an example."""
    from chartpact import ta
    from chartpact.script.host import when
    from chartpact.script.runtime.meter import Meter

    parts = [f"# `ta`: numeric primitives\n\n{_prose(inspect.getdoc(ta) or '')}"]
    parts += [
        f"- [{_title(family)}](#{_title(family).lower()}): "
        + " ".join(f"[`{name}`](#{name})" for name in family.__all__)
        for family in ta.FAMILIES
    ]
    for family in ta.FAMILIES:
        parts.append(f"\n## {_title(family)}\n\n{_prose(inspect.getdoc(family) or '')}")
        for name in family.__all__:
            function = ta.FUNCTIONS[name]
            text = inspect.getdoc(function) or ""
            about, example = text.split("\n\n>>>", 1)
            parts.append(f"### `{name}`\n\n`{name}{_call(function)}`\n\n{about}\n")
            parts.append(f"```pycon\n>>>{example}\n```\n")
    parts.append(
        f"\n## In scripts alone\n\n### `{when.NAME}`\n\n`{when.NAME}({when.USAGE})`\n\n"
        f"{inspect.getdoc(when.function(Meter(0), print))}\n\n"
        f"```starlark\n{script_examples()['ta.when']}\n```\n"
    )
    return "\n".join(parts)


def _title(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2].capitalize()


def _prose(text: str) -> str:
    """A docstring without its doctest."""
    return text.split("\n>>>", 1)[0].rstrip() + "\n"


def _call(function: Callable[..., object]) -> str:
    """A function's parameters as one writes them, without their types."""
    signature = inspect.signature(function)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


def python_page() -> str:
    """Every public name of the package: how it is called, and what its value can do."""
    import chartpact
    from chartpact.charts import Chart
    from chartpact.contracts import Reading
    from chartpact.lookahead import Proof

    public = {name: getattr(chartpact, name) for name in chartpact._PUBLIC}
    parts = [
        "# Python\n\n`import chartpact as cp` gives these names, each imported when first used. "
        "What `cp.chart`, `cp.read` and `cp.prove` return stands at the end.\n"
    ]
    for name, value in public.items():
        call = _call(value) if inspect.isfunction(value) else ""
        parts.append(f"## `cp.{name}`\n\n{f'`cp.{name}{call}`' + chr(10) * 2 if call else ''}")
        parts.append(_documented(value))
    for value in (Chart, Reading, Proof):
        parts.append(f"## `{value.__name__}`\n\n{_documented(value)}")
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _documented(value: object) -> str:
    """A docstring with its example; of a type also what its values have."""
    about, _, example = (inspect.getdoc(value) or "").partition("\n\n>>>")
    if inspect.ismodule(value):
        page = {"ta": "ta.md", "script": "../language.md"}[_title(value).lower()]
        return f"{about.partition(chr(10) * 2)[0]} [More]({page}).\n"
    text = f"{about}\n" + (f"\n```pycon\n>>>{example}\n```\n" if example else "")
    if not inspect.isclass(value):
        return text
    rows = []
    for name, member in vars(value).items():
        function = getattr(member, "__func__", getattr(member, "fget", None)) or getattr(
            member, "func", member
        )
        told = inspect.getdoc(function) if inspect.isfunction(function) else None
        if told and not name.startswith("_"):
            called = _call(function) if isinstance(member, classmethod | FunctionType) else ""
            called = re.sub(r"^\((self|cls)(, )?", "(", called)
            rows.append(_row(f"`{name}{called}`", told.partition("\n\n")[0].replace("\n", " ")))
    return text + ("\n".join(["", "| | |", "|---|---|", *rows, ""]) if rows else "")


def indicators_page() -> str:
    """Every builtin: how it is asked for, what it draws, what its numbers promise."""
    from chartpact import catalogue, indicators
    from chartpact.indicators.signals import SIGNALS
    from chartpact.sources import readings

    table = indicators.table()
    given = {name: [b.name for b in table.values() if name in b.signals] for name in SIGNALS}
    parts = [INDICATORS_INTRODUCTION]
    for category in ("overlay", "panel", "external"):
        named = [each for each in table.values() if each.category == category]
        parts.append(f"\n## {category.capitalize()}s\n" if category != "external" else EXTERNAL)
        parts += [_builtin(each) for each in sorted(named, key=lambda each: each.name)]
    alone = [each for each in catalogue.shipped().values() if each.name not in table]
    parts.append(SCRIPTED)
    parts += [_scripted(each) for each in alone if each.source == "builtin"]
    told = [
        f"| `{name}` | {what} | {' '.join(f'[`{n}`](#{n})' for n in given[name])} |"
        for name, what in SIGNALS.items()
    ]
    parts.append("\n## Signals\n\n| name | meaning | given by |\n|---|---|---|\n" + "\n".join(told))
    parts.append(f"\n## Where readings come from\n\n{_prose(inspect.getdoc(readings) or '')}")
    return "\n".join(parts)


INDICATORS_INTRODUCTION = """\
# Built-in indicators

Ask for one as `rsi`, `rsi:period=7` or `{"name": "rsi", "period": 7}`. All stand on
[`ta`](ta.md), so a value that Pine leaves na is missing here. Under *first value* stands the bar of
the first value, in the indicator's parameters, bars counted from 0. *Rewrites its past: no* means
that the first k bars give the first k values, and the signals confirmed by then; bars that come
later change nothing of it. A signal carries the bar it is drawn on and the bar on which it could
first be known, which is later where it says so.

Where the reference project (chartgen) differs from what TradingView shows, TradingView wins; each
difference is listed, and also where TradingView's own study starts with other parameters. Colours
are chosen anew throughout, to be legible on dark and on light backgrounds.
"""

EXTERNAL = """
## External

`cvd` is computed from the bars. The others need the network: see
[where readings come from](#where-readings-come-from). A bar shows the last reading that was there
before its close. No network, a refused symbol or an answer that cannot be read is an error of that
indicator alone. The tests run against a server of their own; the live services are untried.
"""


SCRIPTED = """
## Scripts

These builtins are scripts and nothing else: `chartpact fork zigzag` prints the very text that draws
them. They run in the process that asks, under the meter of the language, and cost no user a run.
*Provisional* is what later bars may still change; `chartpact prove` shows that nothing else does.
"""


def _scripted(each: ScriptIndicator) -> str:
    lines = [_face(each)]
    signals = re.findall(r'label="(\w+)"', each.code)
    facts = [f"Signals: {', '.join(f'`{name}`' for name in signals)}."] if signals else []
    if "provisional=" in each.code:
        facts.append("Its last part is provisional.")
    if each.needs_volume:
        facts.append("Needs volume.")
    return "\n".join([*lines, " ".join(facts) + "\n"] if facts else lines)


def _face(each: Indicator) -> str:
    """How an indicator is called, what it shows and what it takes."""
    also = f" (also {', '.join(f'`{alias}`' for alias in each.aliases)})" if each.aliases else ""
    lines = [f"### `{each.name}`\n\n{each.title}{also}. {each.description}\n"]
    if each.params:
        lines.append("| parameter | default | takes | |\n|---|---|---|---|")
        for param in each.params:
            names = ", ".join(f"`{name}`" for name in (param.name, *param.aliases))
            default = "unset" if param.default is None else f"`{param.default}`"
            lines.append(f"| {names} | {default} | {allowed(param)} | {param.desc} |")
        lines.append("")
    return "\n".join(lines)


def _builtin(each: Builtin) -> str:
    lines = [_face(each)]
    if each.tracks:
        lines.append(
            "| series | first value | missing later | rewrites its past |\n|---|---|---|---|"
        )
        for track in each.tracks:
            first = "bar 0" if track.first == "0" else f"bar `{track.first}`"
            gaps = track.gaps or "never"
            stable = "no" if each.stable and track.prefix_stable else "yes"
            lines.append(f"| {track.title} | {first} | {gaps} | {stable} |")
        lines.append("")
    facts = []
    if each.signals:
        facts.append(f"Signals: {', '.join(f'`{name}`' for name in each.signals)}.")
    if not each.stable:
        facts.append(
            "Provisional: it is drawn over a range of bars, and every further bar may move it."
        )
    if each.needs_volume:
        facts.append("Needs volume.")
    if each.looks_outside({}):
        facts.append("Needs the network.")
    if facts:
        lines.append(" ".join(facts) + "\n")
    if each.differences:
        lines.append("Differences:\n")
        lines += [f"- {difference}" for difference in each.differences]
        lines.append("")
    return "\n".join(lines)


def scene_schema() -> str:
    from chartpact.scene import json_schema

    return json.dumps(json_schema(), indent=1) + "\n"


def snapshot_schema() -> str:
    from chartpact.snapshot import json_schema

    return json.dumps(json_schema(), indent=1) + "\n"


def study_schema() -> str:
    from chartpact.studies import json_schema

    return json.dumps(json_schema(), indent=1) + "\n"


def contract_schema() -> str:
    from chartpact.contracts.language.model import json_schema

    return json.dumps(json_schema(), indent=1) + "\n"


def contract_page(name: str) -> str:
    """A shipped contract: its five sections, its state tables, its type, its examples."""
    from chartpact import pacts
    from chartpact.contracts import find
    from chartpact.contracts.workbench import examples, exports

    return exports.page(find(name), examples.load_all(pacts.folder(name) / "examples"))


def state_schema(name: str) -> str:
    from chartpact.contracts import find
    from chartpact.contracts.workbench import exports

    return json.dumps(exports.json_schema(find(name)), indent=1) + "\n"


def contract_pages() -> dict[str, Callable[[], str]]:
    from chartpact import pacts

    pages: dict[str, Callable[[], str]] = {}
    for name in pacts.names():
        pages[f"contracts/{name}.md"] = partial(contract_page, name)
        pages[f"contracts/{name}.schema.json"] = partial(state_schema, name)
    return pages


def strategy_page(name: str) -> str:
    from chartpact import strategies
    from chartpact.strategies.workbench import examples, pages

    shown = examples.load_all(strategies.folder(name) / "examples")
    return pages.page(strategies.find(name), shown)


def strategy_pages() -> dict[str, Callable[[], str]]:
    from chartpact import strategies

    return {f"strategies/{name}.md": partial(strategy_page, name) for name in strategies.names()}


def states_module() -> str:
    """The types of all shipped contracts' states, for type checkers."""
    from chartpact import pacts
    from chartpact.contracts import find
    from chartpact.contracts.workbench import exports

    classes = "\n\n".join(exports.python_classes(find(name)) for name in pacts.names())
    return (
        '"""The types of the states that are read under the shipped contracts.\n\n'
        "Written by docs/generate.py from the contracts: edit those, then run `make docs`.\n"
        '"""\n\n'
        f"from typing import Literal, TypedDict\n\n\n{classes}"
    )


def _methods(handle: Any) -> list[str]:
    """The methods of a handle, without those that only say what cannot be changed."""
    return sorted(handle.methods - {"set_columns", "set_rows"})


def chart_page() -> str:
    """What a script can draw and write, each with an example that the tests run."""
    from chartpact.script.host import colors, maths, payload, text
    from chartpact.script.host.chart import OBJECT_METHODS, PLOT_METHODS, ScriptChart
    from chartpact.script.host.handles import (
        BoxHandle,
        LabelHandle,
        LinefillHandle,
        LineHandle,
        PolylineHandle,
        TableHandle,
    )

    handles = (LabelHandle, LineHandle, BoxHandle, TableHandle, PolylineHandle, LinefillHandle)
    examples = script_examples()
    parts = [
        "# chart, math, color, text and payload\n",
        "What a script draws and calculates with, and how it writes numbers and machine-readable "
        "state. "
        "Where nothing else is said, x is the number of a bar, counted from 0, and a height that "
        'is na is not drawn. Colours are names, `#rrggbb`, `#rrggbbaa`, for a plot also `"auto"` '
        "(the theme's up colour where the first series is at or above the second, else down) or "
        "a list with one colour a bar. What may still change when bars are added, such as the "
        "last leg of a zigzag, is drawn with `provisional=True`: the scene and the snapshot then "
        "say so. The language itself is told in [The script language](../language.md).\n",
    ]
    for title, names in (("Plots", PLOT_METHODS), ("Drawn objects", OBJECT_METHODS)):
        parts.append(f"## {title}\n")
        parts += [_entry("chart", name, getattr(ScriptChart, name), examples) for name in names]
    parts.append(
        "### Handles\n\nA drawn object is changed through its handle. On an object that was "
        "deleted, or left because of the cap, the methods do nothing.\n\n"
        "| of | methods |\n|---|---|\n"
        + "\n".join(
            f"| {kind.type_name} | {' '.join(f'`{name}`' for name in _methods(kind))} |"
            for kind in handles
        )
        + "\n\nAt most 50 labels, lines, boxes and polylines live at once, or as many as META "
        "says (up to 500, of polylines 100): the oldest leaves first, and the scene tells how many "
        "left. Linefills count with lines, as in Pine. A polyline has at most 10 000 points. One "
        "table can stand at each position. x is a bar's number unless "
        '`xloc="bar_time"` (UTC ms).\n'
    )
    rows = (*maths.SCALARS.items(), *maths.STATISTICS.items())
    parts.append(
        "## math\n\nFunctions of one number; for a series there is `ta`. What is na, or has no "
        "value, is NaN. Statistics take a list, or a slice of a series, and leave na out. "
        "`math.pi` and `math.e` are constants.\n\n| function | |\n|---|---|\n"
        + "\n".join(f"| `math.{name}({usage})` | {told} |" for name, (usage, _, told) in rows)
        + f"\n\n```starlark\n{examples['math']}\n```\n"
    )
    parts.append("## color\n")
    parts += [
        _entry("color", name, getattr(colors.Colors, name), examples) for name in colors.NAMES
    ]
    parts.append("## text\n")
    parts += [_entry("text", name, each, examples) for name, each in text.FUNCTIONS.items()]
    parts.append("## payload\n")
    parts += [
        _entry("payload", name, getattr(payload.Payloads, name), examples) for name in payload.NAMES
    ]
    return "\n".join(parts)


def script_examples() -> dict[str, str]:
    """The examples of docs/examples/chart.star by the name each begins with."""
    chunks = (DOCS / "examples" / "chart.star").read_text().split("\n---\n")
    return {
        name.removeprefix("# "): body.strip()
        for name, _, body in (chunk.strip().partition("\n") for chunk in chunks)
    }


def _entry(space: str, name: str, function: Callable[..., object], examples: dict[str, str]) -> str:
    parameters = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in inspect.signature(function).parameters.values()
        if each.name != "self"
    ]
    signature = inspect.Signature(parameters)
    told = inspect.cleandoc(function.__doc__ or "").split("\n\n>>>")[0]
    example = examples[f"{space}.{name}"]
    return f"### `{space}.{name}{signature}`\n\n{told}\n\n```starlark\n{example}\n```\n"


@cache
def _server() -> Any:
    """A server that is described and never run."""
    from chartpact.server import app
    from chartpact.server.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        served = app.create(Settings(database=f"sqlite:///{folder}/none.db"))
        served.close()
    return served


def mcp_page() -> str:
    """Every tool, resource and prompt, as MCP clients are told of them."""
    server = _server().mcp

    async def listed() -> tuple[Any, ...]:
        return (
            await server.list_tools(),
            [*await server.list_resource_templates(), *await server.list_resources()],
            await server.list_prompts(),
        )

    tools, resources, prompts = asyncio.run(listed())
    parts = [
        "# MCP reference\n\nAs clients are told. See [the server](../server.md).\n\n## Tools\n"
    ]
    for tool in tools:
        parts.append(f"### `{tool.name}`\n\n{tool.description}\n")
        given = tool.input_schema.get("properties", {})
        if given:
            parts.append("| argument | type | default | meaning |\n|---|---|---|---|")
            needed = tool.input_schema.get("required", [])
            parts += [_argument(name, each, name in needed) for name, each in given.items()]
            parts.append("")
        fields = (tool.output_schema or {}).get("properties", {})
        answers = ", ".join(f"`{name}`" for name in fields) or "a text"
        hints = tool.annotations
        kind = "reads only" if hints.read_only_hint else "changes the user's library"
        parts.append(f"Answers with {answers}. It {kind}.\n")
    parts.append("## Resources\n")
    for each in resources:
        uri = getattr(each, "uri_template", None) or each.uri
        parts.append(f"- `{uri}`: {each.description}")
    parts.append("\n## Prompts\n")
    for each in prompts:
        arguments = ", ".join(argument.name for argument in each.arguments or [])
        parts.append(f"- `{each.name}({arguments})`: {each.description}")
    return "\n".join(parts) + "\n"


def _argument(name: str, schema: dict[str, Any], needed: bool) -> str:
    kinds = [schema, *schema.get("anyOf", [])]
    found = [
        each.get("type") or each.get("$ref", "").rpartition("/")[2]
        for each in kinds
        if ("type" in each or "$ref" in each) and each.get("type") != "null"
    ]
    if "enum" in schema:
        found = [json.dumps(value) for value in schema["enum"]]
    default = "needed" if needed else f"`{json.dumps(schema.get('default'))}`"
    meaning = schema.get("description", "")
    return f"| `{name}` | {' or '.join(dict.fromkeys(found))} | {default} | {meaning} |"


def openapi() -> str:
    """The OpenAPI document of the REST routes."""
    return json.dumps(_server().api.openapi(), indent=1) + "\n"


def pine_page() -> str:
    """What Pine calls otherwise, from the table that the check takes its hints from."""
    from chartpact.script.check import pine

    parts = [PINE_INTRODUCTION]
    for title, names in pine.SECTIONS.items():
        hints: dict[str, list[str]] = {}
        for name, hint in names.items():
            hints.setdefault(hint, []).append(f"`{name}`")
        rows = [_row(", ".join(same), hint) for hint, same in hints.items()]
        parts += [f"## {title}\n", "| Pine | here |\n|---|---|", *rows, ""]
    return "\n".join(parts)


PINE_INTRODUCTION = """# Coming from Pine

A Pine script runs once a bar. Here `compute(ohlcv, params, chart)` runs once, and sees all bars.

- A series has operators: `mid = (ohlcv.high + ohlcv.low) / 2`, and `ta` has Pine's functions.
- `close[1]` of Pine is `ta.shift(close, 1)`. Here `close[1]` is bar 1, and a check warns of it
  where it looks like Pine's.
- What Pine keeps in `var` is a name that gets its value before `for i in range(len(ohlcv)):`.
  In the loop the bar before is `close[i - 1]`, which is na on the first bar.
- `cond ? a : b` is `a if cond else b` for one bar, and `ta.where(cond, a, b)` for all of them.
- Conditions of all bars are joined with `&`, `|` and `~`, each in parentheses.
- Names are written out: `ohlcv.close`, `chart.line(…)`, `params["length"]`.
- Every bar is confirmed. What would change with the next bar is drawn with `provisional=True`, and
  a check warns of what rewrites its past.

A name of Pine's in a script is an error that says what to write. These are the same words.
"""


def closeness_page() -> str:
    """What is known of TradingView's functions, family by family, from evidence.toml."""
    families = tomllib.loads((DOCS / "evidence.toml").read_text())
    kinds = families.pop("kinds")
    rows = [
        f"| [`{name}`](reference/ta.md#{name}) | {values} | {gaps or '–'} | {remark} |"
        for family in families.values()
        for name, (values, gaps, remark) in family.items()
    ]
    evidence = [f"| **{kind}** | {meaning} |" for kind, meaning in kinds.items()]
    counts = Counter(values for family in families.values() for values, _, _ in family.values())
    tally = ", ".join(f"{counts[kind]} by {kind}" for kind in kinds if counts[kind])
    return CLOSENESS.format(
        evidence="\n".join(evidence), tally=tally, total=len(rows), rows="\n".join(rows)
    )


CLOSENESS = """# How close to TradingView

`ta` computes what Pine's functions compute on TradingView, to 1e-9 of the value, and is na on the
same bars. How well that is known differs from function to function.

| evidence | what it is |
|---|---|
{evidence}

Of the {total} functions below, the values are known
{tally}.
The second column tells how it is known what a function does on and after a bar that is na.

## What is followed, and what is not

- **The laws** are followed: which bars count, seeds, na and hold, ties, the tolerance of 1e-10,
  zero cases, the first bar with a value, periods and sessions.
- **Rounding errors** are not. Where TradingView's own sums lose digits, the value here is the exact
  one: the variance of 100 000 000 and 100 000 000.001 is 2.5e-7 here and 2 there.
- **Comparisons** of series (`<`, `==`, …) take values within 1e-10 for equal and are false with na.
  `crossover`, `highest`, pivots, `max`, `min`, `sign` and `change` are exact, as in Pine.
- **Nothing becomes infinite**: what would is na.
- **A function sees every bar.** In Pine a function that is called on some bars only remembers some;
  here it is given whole series.
- **Arguments are checked.** A length that is no whole number is refused; Pine truncates it.

Every function of Pine's `ta` namespace is there. Some that Pine keeps elsewhere are in `ta` too:
`math.sum`, `math.avg`, `math.round`, `nz`, `fixnan`, `timeframe.change`, the session flags and the
calendar. Variables such as `ta.obv` or `ta.tr` are functions of the price series they need.
Functions that only this package has (`shift`, `where`, arithmetic of series) have nothing to be
compared with.

What is open, and why each rule is as it is: [decision 1](adr/0001-ta-follows-pine.md).

A second runtime is asked too: the tests run every function that PyneCore has over the same bars,
with and without gaps, and list each difference with its reason.

## Function by function

| function | values | gaps | remark |
|---|---|---|---|
{rows}
"""


PAGES: dict[str, Callable[[], str]] = {
    "chart.md": chart_page,
    "cli.md": cli_page,
    "mcp.md": mcp_page,
    "pine.md": pine_page,
    "python.md": python_page,
    "openapi.json": openapi,
    "indicators.md": indicators_page,
    "ta.md": ta_page,
    "scene.schema.json": scene_schema,
    "snapshot.schema.json": snapshot_schema,
    "study.schema.json": study_schema,
    "contract.schema.json": contract_schema,
    **contract_pages(),
    **strategy_pages(),
}


def main() -> int:
    """Writes the pages, or tells which have drifted."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--check", action="store_true", help="write nothing, fail on drift")
    check = options.parse_args().check
    drifted = written(REFERENCE, PAGES, check)
    others = {
        STATES: states_module(),
        CLOSE: NOTE + closeness_page(),
        conversation.PAGE: conversation.page(),
        limits.PAGE: NOTE + limits.page(),
        facts.MODULE: facts.module(),
    }
    for path, text in others.items():
        if not path.exists() or path.read_text() != text:
            drifted.append(path.name)
            if not check:
                path.write_text(text)
    if check and drifted:
        print(f"drifted: {', '.join(drifted)}; run `make docs`", file=sys.stderr)
        return 1
    return 0


def written(folder: Path, pages: dict[str, Callable[[], str]], check: bool) -> list[str]:
    """Brings a folder to what the pages say, unless it is only checked; tells what differed."""
    differing = []
    for name, page in pages.items():
        path = folder / name
        text = (NOTE if path.suffix == ".md" else "") + page()
        if not path.exists() or path.read_text() != text:
            differing.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    there = sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*.*"))
    for name in (name for name in there if name not in pages and (folder / name).is_file()):
        differing.append(name)
        if not check:
            (folder / name).unlink()
    return differing


if __name__ == "__main__":
    sys.exit(main())
