"""`chartpact indicators` and `chartpact symbols`: what can be drawn, and on what."""

import argparse
import json
import sys
from collections.abc import Sequence

from chartpact.catalogue import Indicator, describe
from chartpact.cli import DONE, Verbs
from chartpact.cli.database import own_catalogue
from chartpact.oneline import one_line
from chartpact.params import Param
from chartpact.sources.configuration import VARIABLE, of_local_user, open_directory


def add(verbs: Verbs) -> None:
    listing = verbs.add_parser(
        "indicators",
        help="list the indicators, or tell about one",
        description="Lists every indicator with its aliases and parameters; with a name, tells "
        "what each parameter of that one means.",
        epilog="Example: chartpact indicators rsi",
    )
    listing.add_argument("name", metavar="NAME", nargs="?", help="an indicator or an alias")
    listing.add_argument("--json", action="store_true", help="as JSON")
    listing.set_defaults(run=run_indicators)

    listing = verbs.add_parser(
        "symbols",
        help="list the symbols that BARS can name",
        description="Lists the samples, and the symbols of each source that is configured.",
    )
    listing.add_argument("--json", action="store_true", help="as JSON")
    listing.set_defaults(run=run_symbols)


def run_indicators(args: argparse.Namespace) -> int:
    catalogue = own_catalogue()
    indicators = catalogue.list() if args.name is None else [catalogue.resolve(args.name)]
    if args.json:
        print(json.dumps({"indicators": [describe(indicator) for indicator in indicators]}))
    elif args.name is None:
        _print_list(indicators)
    else:
        _print_details(indicators[0])
    return DONE


def _print_list(indicators: Sequence[Indicator]) -> None:
    width = max(len(indicator.name) for indicator in indicators)
    for indicator in indicators:
        what = one_line(indicator.description)
        print(f"{indicator.name:<{width}}  {indicator.category:<8}  {what}")
        if indicator.aliases:
            print(f"{'':<{width}}  also: {', '.join(indicator.aliases)}")
        if indicator.params:
            pairs = (f"{p.name}={'' if p.default is None else p.default}" for p in indicator.params)
            print(one_line(f"{'':<{width}}  takes: {', '.join(pairs)}"))


def _print_details(indicator: Indicator) -> None:
    print(one_line(f"{indicator.name}: {indicator.title}"))
    print(one_line(f"  {indicator.description}"))
    print(f"  {indicator.category}, {indicator.source}")
    if indicator.aliases:
        print(f"  also: {', '.join(indicator.aliases)}")
    if indicator.params:
        print("  parameters:")
    width = max((len(param.name) for param in indicator.params), default=0)
    for param in indicator.params:
        print(one_line(f"    {param.name:<{width}}  {_describe(param)}"))


def _describe(param: Param) -> str:
    """A parameter's default, what it may be, and what it means."""
    default = "none" if param.default is None else param.default
    facts = [f"{param.type}, default {default}"]
    if param.options:
        facts.append(f"one of {', '.join(map(str, param.options))}")
    if param.min is not None or param.max is not None:
        least = "" if param.min is None else f"from {param.min:g}"
        most = "" if param.max is None else f"to {param.max:g}"
        facts.append(f"{least} {most}".strip())
    return f"{'; '.join(facts)}{f': {param.desc}' if param.desc else ''}"


def run_symbols(args: argparse.Namespace) -> int:
    entries = open_directory(of_local_user()).entries()
    if args.json:
        symbols = [symbol.to_json() for entry in entries for symbol in entry.symbols]
        print(json.dumps({"symbols": symbols, "sources": [entry.to_json() for entry in entries]}))
        return DONE
    for entry in entries:
        print(one_line(f"{entry.name}: {entry.about}"))
        width = max((len(symbol.symbol) for symbol in entry.symbols), default=0)
        for symbol in entry.symbols:
            print(one_line(f"  {symbol.symbol:<{width}}  {symbol.timeframe or ''}").rstrip())
        if entry.error is not None:
            print(one_line(f"  {entry.name}: {entry.error}"), file=sys.stderr)
    if len(entries) == 1:
        print(f"{VARIABLE} names further sources: folders, exchanges, Yahoo", file=sys.stderr)
    return DONE
