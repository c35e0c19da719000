"""`chartpact study`: what followed a signal."""

import argparse
import json
import sys
from collections.abc import Callable

from chartpact import localstudy
from chartpact.cli import DONE, REWRITTEN, SCRIPT_ERROR, VIOLATION, UsageError, Verbs, exit_code
from chartpact.cli.arguments import add_bars, add_params, load_bars, read_params
from chartpact.cli.database import own_catalogue
from chartpact.cli.files import write_bytes
from chartpact.cli.picture import check_output
from chartpact.oneline import one_line
from chartpact.problem import Failure
from chartpact.studies import StudyError, read_ask, read_share

REFUSALS = ("provisional", "undated", "too_few", "too_long", "no_side", "violation")


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "study",
        help="find out what followed a signal, and whether chance does as much",
        description="Enters one bar after each signal was known, compares what followed with what "
        "usually follows at that hour and volatility, and corrects for every test that is run. "
        "Exit code 3: the study is refused. 6: the indicator rewrites its past.",
        epilog="Example: chartpact study supertrend sample:es-5m --long flip_up --short flip_down",
    )
    verb.add_argument("name", metavar="NAME", help="an indicator, a script's path, or a pact")
    add_bars(verb)
    verb.add_argument("--long", action="append", default=[], metavar="NAME", help="a signal to buy")
    verb.add_argument(
        "--short", action="append", default=[], metavar="NAME", help="a signal to sell"
    )
    verb.add_argument(
        "--state",
        action="append",
        default=[],
        metavar="TABLE=ROW[:long|short]",
        help="each change into a state of a pact, found by reading every bar",
    )
    verb.add_argument("--horizons", metavar="1,3,10", help="how many bars later (1,3,10,20,50)")
    add_params(verb)
    verb.add_argument(
        "--sweep",
        action="append",
        default=[],
        metavar="k=a..b:step",
        help="try values of a parameter, as one family of tests",
    )
    verb.add_argument("--cost-ticks", type=float, metavar="X", help="costs a side, in ticks")
    verb.add_argument(
        "--hold-out",
        default="40%",
        metavar="SHARE",
        help="the last part of the bars, which is not studied (40%%)",
    )
    verb.add_argument(
        "--confirm", action="store_true", help="look at the bars held out, for the best test alone"
    )
    verb.add_argument("--zone", metavar="ZONE", help="time zone of the hours of the day")
    verb.add_argument("--unit", choices=("atr", "ticks"), default="atr", help="of effects")
    verb.add_argument("--all", action="store_true", help="replay states on more than 3 000 bars")
    verb.add_argument("--json", action="store_true", help="the answer as JSON")
    verb.add_argument("-o", "--output", metavar="FILE", help="draw to FILE, a .png or an .svg")
    verb.add_argument("--theme", choices=("dark", "light"), default="dark", help="its colours")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    check_output(args)
    try:
        ask = read_ask(
            args.long,
            args.short,
            args.state,
            _read_horizons(args.horizons),
            read_params(args),
            args.sweep,
            args.cost_ticks,
            read_share(args.hold_out),
            args.confirm,
            args.zone,
            args.unit,
            args.all,
        )
        bars = load_bars(args)
        study = localstudy.run(args.name, bars, ask, own_catalogue(), progress=_show(args.json))
    except Failure as failure:
        code = _code(failure)
        if args.json and code != exit_code(failure):
            print(json.dumps({"error": failure.to_json()}))
        raise UsageError(str(failure), code) from None
    if args.output is not None:
        is_svg = args.output.lower().endswith(".svg")
        picture = study.svg(args.theme).encode() if is_svg else study.png(args.theme)
        write_bytes(args.output, picture)
    if args.json:
        print(json.dumps(study.to_json(), allow_nan=False))
    elif args.output != "-":
        print("\n".join(map(one_line, str(study).split("\n"))), end="")
    return DONE


def _code(failure: Failure) -> int:
    if isinstance(failure, StudyError):
        if failure.kind == "rewrites":
            return REWRITTEN
        if failure.kind in REFUSALS:
            return VIOLATION
    return SCRIPT_ERROR if failure.problem.step is not None else exit_code(failure)


def _read_horizons(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        message = f"--horizons {text:.60}: write numbers of bars, as in 1,3,10"
        raise UsageError(message) from None


def _show(quiet: bool) -> Callable[[float], None]:
    """Progress on a terminal; a log has no use for it."""

    def show(share: float) -> None:
        if not quiet and sys.stderr.isatty():
            print(f"\r{share:4.0%} ", end="" if share < 1 else "\r", file=sys.stderr, flush=True)

    return show
