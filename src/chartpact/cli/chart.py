"""`chartpact chart`."""

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial

from chartpact.catalogue import parse_requests
from chartpact.charts import chart
from chartpact.cli import ALL_FAILED, DONE, Verbs
from chartpact.cli.arguments import add_bars, add_indicators, load_bars
from chartpact.cli.database import own_catalogue
from chartpact.cli.picture import add_picture, check_output, save, select_bars
from chartpact.cli.watching import add_watch, repeat
from chartpact.oneline import one_line
from chartpact.request import Request


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "chart",
        help="compute indicators on bars, and draw them",
        description="Computes indicators on bars, and draws them or prints what they drew.",
        epilog="Example: chartpact chart sample:es-5m -i cipher_b -i rsi:period=7 --summary",
    )
    add_bars(verb)
    add_indicators(verb)
    shown = verb.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="what was drawn, as JSON")
    shown.add_argument(
        "--summary",
        action="store_true",
        help="last values, signals and the trend in words; also when nothing else is asked for",
    )
    add_picture(verb)
    add_watch(verb)
    verb.set_defaults(run=run_chart)


def run_chart(args: argparse.Namespace) -> int:
    requests = parse_requests(args.indicator)
    names = [request.name for request in requests]
    return repeat(args, [*names, args.bars_source], partial(_draw, requests))


def _draw(requests: Sequence[Request], args: argparse.Namespace) -> int:
    check_output(args)
    bars, last = select_bars(args, load_bars(args))
    asked = chart(bars, requests, last=last, catalogue=own_catalogue())
    summary = args.summary or not (args.json or args.output is not None)
    if args.output is not None:  # first, so that a picture that fails leaves no output behind
        save(args, asked)
    if not summary:  # which has the errors in it
        for drawn in asked.drawn:
            if drawn.error is not None:
                print(f"{one_line(drawn.id)}: {drawn.error}", file=sys.stderr)
    if args.json:
        print(json.dumps(asked.to_json(), allow_nan=False))
    if summary:
        print(asked.summary(), end="")
    return ALL_FAILED if asked.failed else DONE
