"""`chartpact indicators` and `chartpact chart`."""

import argparse
import json
import sys

from chartpact.bars import Bars, load
from chartpact.charts import chart
from chartpact.cli import ALL_FAILED, DONE, Verbs
from chartpact.cli.picture import add_picture, save, window
from chartpact.indicators import describe, list_indicators


def add(verbs: Verbs) -> None:
    listing = verbs.add_parser(
        "indicators",
        help="list the indicators and their parameters",
        description="Lists every indicator with its aliases and parameters.",
    )
    listing.add_argument("--json", action="store_true", help="as JSON")
    listing.set_defaults(run=run_indicators)

    verb = verbs.add_parser(
        "chart",
        help="compute indicators on bars, and draw them",
        description="Computes indicators on bars, and draws them or prints what they drew.",
        epilog="Example: chartpact chart sample:es-5m -i cipher_b -i rsi:period=7 --summary",
    )
    add_bars(verb)
    verb.add_argument(
        "-i",
        "--indicator",
        action="append",
        default=[],
        metavar="NAME[:k=v,…]",
        help="an indicator and its parameters; may be given several times",
    )
    verb.add_argument("--bars", type=int, metavar="N", help="show the last N bars")
    verb.add_argument("--json", action="store_true", help="what was drawn, as JSON")
    add_picture(verb)
    verb.set_defaults(run=run_chart)


def add_bars(verb: argparse.ArgumentParser) -> None:
    """The arguments that name bars, alike for every verb."""
    verb.add_argument(
        "bars_source",
        metavar="BARS",
        help="a CSV or Parquet file, sample:NAME for bundled synthetic data, or SYMBOL@SOURCE",
    )


def bars_of(args: argparse.Namespace) -> Bars:
    """The bars the arguments name."""
    return load(args.bars_source)


def run_indicators(args: argparse.Namespace) -> int:
    known = list_indicators()
    if args.json:
        print(json.dumps({"indicators": [describe(each) for each in known]}))
        return DONE
    width = max(len(each.name) for each in known)
    for each in known:
        print(f"{each.name:<{width}}  {each.category:<8}  {each.description}")
    return DONE


def run_chart(args: argparse.Namespace) -> int:
    bars, last = window(args, bars_of(args))
    drawn = chart(bars, args.indicator, last=last)
    for each in drawn.drawn:
        if each.error is not None:
            print(f"{each.id}: {each.error}", file=sys.stderr)
    if args.json:
        print(json.dumps(drawn.to_json(), allow_nan=False))
    if args.output:
        save(args, drawn)
    failed = bool(drawn.drawn) and all(each.error is not None for each in drawn.drawn)
    return ALL_FAILED if failed else DONE
