"""`chartpact check`, `chartpact run`, `chartpact prove` and `chartpact fork`."""

import argparse
import json
import sys
from pathlib import Path

from chartpact import charts, sandbox, sources, summary
from chartpact.bars import Bars
from chartpact.catalogue import Catalogue, Indicator, Plan, ScriptIndicator, canonical, fork
from chartpact.cli import DONE, REWRITTEN, SCRIPT_ERROR, UsageError, Verbs
from chartpact.cli.arguments import add_bars, add_params, load_bars, read_params
from chartpact.cli.files import read_text
from chartpact.cli.picture import add_picture, check_output, save, select_bars
from chartpact.cli.watching import add_watch, repeat
from chartpact.lookahead import PREFIXES, SECONDS, prove
from chartpact.needs import cut_supplies, gather
from chartpact.oneline import as_name, one_line
from chartpact.params import resolve
from chartpact.problem import Failure, Problem
from chartpact.render.options import PICTURE_BARS
from chartpact.scene import Scene
from chartpact.script import ScriptError
from chartpact.script.limits import FORECAST_BARS

# What a shell can do about a kind of problem; its hint is written for every door.
ADVICE = {"crash": "`chartpact doctor` tells more", "lookahead": "`chartpact prove` tells more"}


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
        description="Runs a script on bars in the sandbox, and draws what it drew or tells it.",
        epilog="Example: chartpact run my_indicator.star sample:es-5m -o x.png --watch",
    )
    verb.add_argument("file", metavar="FILE", help="the script, or - for standard input")
    add_bars(verb)
    add_params(verb)
    verb.add_argument("--json", action="store_true", help="what was drawn, as JSON")
    add_picture(verb)
    add_watch(verb)
    verb.set_defaults(run=run_run)

    verb = verbs.add_parser(
        "prove",
        help="find out whether an indicator rewrites its past",
        description="Draws an indicator on prefixes of the bars and reports what a longer history "
        "changed. Exit code 6 means that something was rewritten.",
        epilog="Example: chartpact prove my_indicator.star sample:es-5m",
    )
    verb.add_argument(
        "file", metavar="FILE", help="a script, - for standard input, or the name of a builtin"
    )
    add_bars(verb)
    add_params(verb)
    verb.add_argument(
        "--prefixes",
        type=int,
        metavar="N",
        help=f"how many prefixes at most (default as many as take {SECONDS:.0f} seconds, and at "
        f"least {PREFIXES})",
    )
    verb.add_argument("--json", action="store_true", help="the proof as JSON")
    verb.set_defaults(run=run_prove)

    verb = verbs.add_parser(
        "fork",
        help="print a builtin or a pact as a script to change",
        description="Prints the script that draws what a builtin or a pact draws, as a start for "
        "your own.",
    )
    verb.add_argument("name", metavar="NAME", help="a builtin or a pact")
    verb.set_defaults(run=run_fork)


def run_check(args: argparse.Namespace) -> int:
    source = read_text(args.file)
    verdict = sandbox.validate(source, own=True)
    if args.json:
        print(json.dumps(verdict.to_json(), allow_nan=False))
    elif verdict.ok:
        title = verdict.meta.get("title", "")
        count = len(verdict.params)
        noun = "parameter" if count == 1 else "parameters"
        cost = (
            f"{verdict.steps:,} steps, about {verdict.steps_forecast:,} on {FORECAST_BARS:,} bars"
        )
        print(f"{as_name(title)}: fine; {count} {noun}, {cost}")
    for warning in verdict.warnings:
        print(format_error(warning, source, args.file, "warning"), file=sys.stderr)
    for error in verdict.errors:
        print(format_error(error, source, args.file), file=sys.stderr)
    return DONE if verdict.ok else SCRIPT_ERROR


def run_run(args: argparse.Namespace) -> int:
    return repeat(args, [args.file, args.bars_source], _run)


def _run(args: argparse.Namespace) -> int:
    check_output(args)
    source = read_text(args.file)
    bars, last = select_bars(args, load_bars(args))
    if last is None and args.output is not None and not args.json:  # the log is of what is shown
        last = PICTURE_BARS
    first = 0 if last is None else len(bars) - min(last, len(bars))
    try:
        script = ScriptIndicator.read(Path(args.file).stem, source)
        values = resolve(script.params, read_params(args), "the script")
        supplies = gather(script.needs(bars, values), sources.fetch)
        plan = Plan(script.name, script.name, values, script)
        drawn, log = charts.draw_script(bars, plan, script, supplies, first)
    except ScriptError as error:
        return _report_error(error.problem, source, args)
    for line in log:
        print(one_line(line), file=sys.stderr)
    whole = charts.Chart(bars, (drawn,), summary.trend(bars))
    chart = whole.view(len(bars) - first)
    if args.output is not None:
        save(args, whole.view(PICTURE_BARS) if last is None else chart)
    if args.json:
        [shown] = chart.to_json()["indicators"]
        answer = {"indicator": script.name, "bars": len(chart.bars), "steps": drawn.steps}
        print(json.dumps({**answer, "scene": shown["scene"]}, allow_nan=False))
    elif args.output is None:
        print(chart.summary(), end="")
        print(f"  steps: {drawn.steps:,}")
    return DONE


def run_prove(args: argparse.Namespace) -> int:
    if args.prefixes is not None and args.prefixes < 1:
        raise UsageError("--prefixes is 1 or more")
    shipped = None if Path(args.file).exists() else canonical(args.file)
    source = read_text(args.file) if shipped is None else ""
    bars = load_bars(args)
    try:
        indicator, owner = _read_indicator(args.file, source, shipped)
        values = resolve(indicator.params, read_params(args), owner)
        supplies = gather(indicator.needs(bars, values), sources.fetch)

        def run(prefix: Bars) -> Scene:
            return indicator.draw(prefix, values, cut_supplies(supplies, prefix))

        proof = prove(run, bars, args.prefixes)
    except ScriptError as error:
        return _report_error(error.problem, source, args)
    if args.json:
        print(json.dumps({"indicator": indicator.name, **proof.to_json()}))
    else:
        print(f"{as_name(indicator.title)}: {proof.prefixes} prefixes of {proof.bars:,} bars")
        for late in proof.late:
            print(one_line(f"  late: {late}"))
        for what in proof.provisional:
            print(one_line(f"  provisional: {what}"))
        if proof.failed:
            print(one_line(f"  cannot be run {proof.failed}"))
        end = "nothing was rewritten" if proof.ok else f"rewritten: {proof.rewritten}"
        print(one_line(f"  {end}"))
    return DONE if proof.ok else REWRITTEN


def _read_indicator(file: str, source: str, shipped: str | None) -> tuple[Indicator, str]:
    """The indicator of that name, or the script, and what an error about a parameter calls it."""
    if shipped is not None:
        return Catalogue().resolve(shipped), shipped
    return ScriptIndicator.read(Path(file).stem, source), "the script"


def _report_error(problem: Problem, source: str, args: argparse.Namespace) -> int:
    if args.json:
        print(json.dumps({"error": problem.to_json()}))
    print(format_error(problem, source, args.file), file=sys.stderr)
    return SCRIPT_ERROR


def run_fork(args: argparse.Namespace) -> int:
    try:
        print(fork(args.name), end="")
    except Failure as failure:
        raise UsageError(str(failure)) from None
    return DONE


def format_error(problem: Problem, source: str, file: str, severity: str = "") -> str:
    """The error or warning with its place and the line it is in."""
    place = file if problem.line is None else f"{file}:{problem.line}:{problem.column}"
    text = one_line(f"{place}: {severity or problem.kind}: {problem.message}")
    lines = source.replace("\r\n", "\n").split("\n")
    if problem.line is not None and problem.line <= len(lines):
        text += f"\n    {lines[problem.line - 1]}"
        if problem.column is not None:
            text += f"\n    {' ' * (problem.column - 1)}^"
    hint = "; ".join(filter(None, (problem.hint, ADVICE.get(problem.kind))))
    return text + (f"\n  {one_line(hint)}" if hint else "")
