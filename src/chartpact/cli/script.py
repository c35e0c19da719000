"""`chartpact check`, `chartpact run` and `chartpact fork`."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chartpact import sandbox, script, sources, summary
from chartpact.bars import Bars
from chartpact.catalogue import ScriptIndicator
from chartpact.charts import Chart
from chartpact.cli import BAD_INPUT, DONE, SCRIPT_ERROR, UNREACHABLE, UsageError, Verbs
from chartpact.cli.chart import add_bars, bars_of
from chartpact.cli.files import read_text
from chartpact.cli.params import add_params, params_of
from chartpact.indicators import canonical
from chartpact.needs import gather
from chartpact.params import IndicatorError, resolve
from chartpact.scene import Drawn
from chartpact.script import stock


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "check",
        help="check a script and try it on synthetic bars",
        description="Checks a script and tries it on 100 synthetic bars.",
        epilog="Example: chartpact check my_indicator.star",
    )
    verb.add_argument("file", metavar="FILE", help="the script, or - for standard input")
    verb.add_argument("--json", action="store_true", help="the verdict as JSON")
    verb.set_defaults(run=run_check)

    verb = verbs.add_parser(
        "run",
        help="run a script on bars",
        description="Runs a script on bars in the sandbox and tells what it drew.",
        epilog="Example: chartpact run my_indicator.star sample:es-5m --param n=21",
    )
    verb.add_argument("file", metavar="FILE", help="the script, or - for standard input")
    add_bars(verb)
    add_params(verb)
    verb.add_argument("--json", action="store_true", help="what was drawn, as JSON")
    verb.set_defaults(run=run_run)

    verb = verbs.add_parser(
        "fork",
        help="print a builtin as a script to change",
        description="Prints the script that draws what a builtin draws, as a start for your own.",
        epilog=f"Forkable: {', '.join(stock.NAMES)}",
    )
    verb.add_argument("name", metavar="NAME", help="a forkable builtin")
    verb.set_defaults(run=run_fork)


def run_check(args: argparse.Namespace) -> int:
    source = read_text(args.file)
    verdict = sandbox.validate(source)
    if args.json:
        print(json.dumps(verdict.to_json(), allow_nan=False))
    elif verdict.ok:
        title = verdict.meta.get("title", "")
        count = len(verdict.params)
        noun = "parameter" if count == 1 else "parameters"
        print(f"{title}: fine; {count} {noun}, {verdict.steps:,} steps")
    for error in verdict.errors:
        print(told(error, source, args.file), file=sys.stderr)
    return DONE if verdict.ok else SCRIPT_ERROR


def run_run(args: argparse.Namespace) -> int:
    source = read_text(args.file)
    bars = bars_of(args)
    try:
        indicator = _read_script(Path(args.file).stem, source)
        result = _run(indicator, bars, params_of(args))
    except script.ScriptError as error:
        if args.json:
            print(json.dumps({"error": error.to_json()}))
        print(told(error.to_json(), source, args.file), file=sys.stderr)
        return SCRIPT_ERROR
    for line in result.log:
        print(line, file=sys.stderr)
    name = indicator.name
    if args.json:
        scene = result.scene.to_json()
        answer = {"indicator": name, "bars": len(bars), "steps": result.steps, "scene": scene}
        print(json.dumps(answer, allow_nan=False))
    else:
        drawn = Drawn(name, name, title=indicator.title, scene=result.scene)
        print(Chart(bars, (drawn,), summary.trend(bars)).summary(), end="")
        print(f"  steps: {result.steps:,}")
    return DONE


def _read_script(name: str, source: str) -> ScriptIndicator:
    """The script as an indicator; raises the first error in it."""
    declared = sandbox.inspect(source)
    if declared.errors:
        raise declared.errors[0]
    return ScriptIndicator(name, source, tuple(declared.params), declared.meta)


def _run(indicator: ScriptIndicator, bars: Bars, given: Mapping[str, str]) -> script.Result:
    """What the script draws on the bars with the given parameters."""
    try:
        values = resolve(indicator.params, given, "the script")
        supplies = gather(indicator.needs(bars, values), sources.fetch)
    except IndicatorError as error:
        code = UNREACHABLE if error.kind == "unavailable" else BAD_INPUT
        raise UsageError(str(error), code) from None
    return indicator.run(bars, values, supplies)


def run_fork(args: argparse.Namespace) -> int:
    builtin = canonical(args.name)
    if builtin not in stock.NAMES:
        raise UsageError(stock.refusal(args.name, builtin is not None))
    print(stock.source(builtin), end="")
    return DONE


def told(error: dict[str, Any], source: str, file: str) -> str:
    """The error with its place and the line it speaks of."""
    place = file if error["line"] is None else f"{file}:{error['line']}:{error['column']}"
    text = f"{place}: {error['kind']}: {error['message']}"
    lines = source.replace("\r\n", "\n").split("\n")
    if error["line"] is not None and error["line"] <= len(lines):
        text += f"\n    {lines[error['line'] - 1]}"
        if error["column"] is not None:
            text += f"\n    {' ' * (error['column'] - 1)}^"
    return text + (f"\n  {error['hint']}" if error["hint"] else "")
