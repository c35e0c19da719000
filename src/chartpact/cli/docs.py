"""`chartpact docs`: the language reference by topic."""

import argparse

from chartpact.cli import DONE, Verbs


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "docs",
        help="read about a topic of the script language",
        description="Prints a part of the language reference, or which topics there are.",
        epilog="Example: chartpact docs ta.ema",
    )
    verb.add_argument("topic", metavar="TOPIC", nargs="?", help="such as series, ta or chart.line")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from chartpact.script import manual  # which other verbs have no use for

    print(manual.read(args.topic), end="")
    return DONE
