"""`chartpact indicators` and `chartpact chart`."""

import argparse
import json
import sys

from chartpact.bars import Bars, BarsError
from chartpact.catalogue import Indicator, describe
from chartpact.charts import chart
from chartpact.cli import ALL_FAILED, DONE, UNREACHABLE, UsageError, Verbs
from chartpact.cli.database import own_catalogue
from chartpact.cli.params import add_indicators
from chartpact.cli.picture import add_picture, save, window
from chartpact.sources import SourceFailed, load


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
    add_indicators(verb)
    verb.add_argument("--bars", type=int, metavar="N", help="show the last N bars")
    shown = verb.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="what was drawn, as JSON")
    shown.add_argument(
        "--summary",
        action="store_true",
        help="last values, signals and the trend in words; also when nothing else is asked for",
    )
    add_picture(verb)
    verb.set_defaults(run=run_chart)


def add_bars(verb: argparse.ArgumentParser) -> None:
    """The arguments that name bars, alike for every verb."""
    verb.add_argument(
        "bars_source",
        metavar="BARS",
        help="a CSV or Parquet file, sample:NAME for bundled synthetic data, or SYMBOL@SOURCE",
    )
    add_overrides(verb)


def add_overrides(verb: argparse.ArgumentParser) -> None:
    """What the user may know better than the bars, alike for every verb."""
    group = verb.add_argument_group("what the bars do not tell")
    group.add_argument("--bars-tz", metavar="ZONE", help="time zone of times that name none")
    group.add_argument(
        "--stamp", choices=("open", "close"), default="open", help="what of a bar its time is"
    )
    group.add_argument("--symbol", metavar="NAME", help="the symbol of the bars")
    group.add_argument("--timeframe", metavar="TF", help="the timeframe, as in 5m, 4h or 1D")
    group.add_argument(
        "--day-roll", metavar="TIME", help="when a trading day begins: '17:00 America/New_York'"
    )


def bars_of(args: argparse.Namespace) -> Bars:
    """The bars the arguments name."""
    try:
        return load(
            args.bars_source,
            tz=args.bars_tz,
            stamp=args.stamp,
            symbol=args.symbol,
            timeframe=args.timeframe,
            day_roll=args.day_roll,
        )
    except BarsError as error:
        raise UsageError(str(error)) from None
    except SourceFailed as error:
        raise UsageError(str(error), UNREACHABLE) from None


def run_indicators(args: argparse.Namespace) -> int:
    known = own_catalogue().list()
    if args.json:
        print(json.dumps({"indicators": [describe(each) for each in known]}))
        return DONE
    width = max(len(each.name) for each in known)
    for each in known:
        print(f"{each.name:<{width}}  {each.category:<8}  {each.description}")
        for line in _details(each):
            print(f"{'':<{width}}  {line}")
    return DONE


def _details(each: Indicator) -> list[str]:
    lines = []
    if each.aliases:
        lines.append(f"also: {', '.join(each.aliases)}")
    if each.params:
        told = (f"{p.name}={'' if p.default is None else p.default}" for p in each.params)
        lines.append(f"takes: {', '.join(told)}")
    return lines


def run_chart(args: argparse.Namespace) -> int:
    bars, last = window(args, bars_of(args))
    drawn = chart(bars, args.indicator, last=last, catalogue=own_catalogue())
    summary = args.summary or not (args.json or args.output is not None)
    if args.output is not None:  # first: what cannot be drawn leaves nothing half said
        save(args, drawn)
    if not summary:  # which tells the errors itself
        for each in drawn.drawn:
            if each.error is not None:
                print(f"{each.id}: {each.error}", file=sys.stderr)
    if args.json:
        print(json.dumps(drawn.to_json(), allow_nan=False))
    if summary:
        print(drawn.summary(), end="")
    return ALL_FAILED if drawn.failed else DONE
