"""`chartpact snapshot`: what indicators drew, as canonical JSON."""

import argparse
import json
import sys
from contextlib import closing

from chartpact import charts, sources
from chartpact.catalogue import parse_requests
from chartpact.charts import Chart
from chartpact.cli import ALL_FAILED, DONE, UsageError, Verbs
from chartpact.cli.arguments import (
    add_drawn,
    add_indicators,
    add_tradingview,
    load_bars,
    open_tradingview,
    read_once,
)
from chartpact.cli.database import own_catalogue
from chartpact.cli.files import write_text
from chartpact.oneline import escape_unseen, one_line
from chartpact.snapshot import Snapshot, SnapshotSource


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "snapshot",
        help="what indicators drew, as the canonical JSON that contracts read",
        description=(
            "Writes the labels, lines, boxes and table cells that indicators drew, as a snapshot: "
            "the canonical JSON that contracts read. The indicators are computed on bars, or stand "
            "on a chart of TradingView."
        ),
        epilog="Example: chartpact snapshot --bars sample:es-5m -i rsi -o drawn.json",
    )
    drawn = verb.add_mutually_exclusive_group(required=True)
    add_drawn(verb, drawn)
    add_tradingview(verb, drawn)
    add_indicators(verb)
    verb.add_argument(
        "--raw",
        action="store_true",
        help="with --tv, the page's own answer, to verify the reader with; no account data",
    )
    verb.add_argument("--study", metavar="NAME", help="keep the study of this title alone")
    verb.add_argument("-o", "--output", metavar="FILE", help="write there, not to stdout")
    verb.set_defaults(run=run)


def report_failures(chart: Chart) -> None:
    """Tells which indicators were not drawn; where none was, there is nothing to go on with."""
    for drawn in chart.drawn:
        if drawn.error is not None:
            print(f"{one_line(drawn.id)}: {drawn.error}", file=sys.stderr)
    if chart.failed:
        raise UsageError("nothing was drawn", ALL_FAILED)


def run(args: argparse.Namespace) -> int:
    source = open_tradingview(args)
    if source is not None:
        return _run_tradingview(args, source)
    if args.raw:
        raise UsageError("--raw records what a page of TradingView says, and goes with --tv")
    if not args.indicator:
        raise UsageError("with --bars, name an indicator to draw: -i NAME")
    requests = parse_requests(args.indicator)
    plans = own_catalogue().with_files(requests).plan(requests)
    chart = charts.draw(load_bars(args), plans, None, sources.fetch)
    report_failures(chart)
    return _write(args, chart.snapshot())


def _run_tradingview(args: argparse.Namespace, source: SnapshotSource) -> int:
    if args.indicator:
        raise UsageError("-i draws indicators on bars; on TradingView they are drawn: --study NAME")
    if not args.raw:
        return _write(args, read_once(source))
    from chartpact.sources.tradingview import CdpSource

    if not isinstance(source, CdpSource):
        raise UsageError("--raw records what a page of TradingView says, and goes with --tv")
    with closing(source):
        recording = source.read_raw()
    write_text(args.output, escape_unseen(json.dumps(recording, ensure_ascii=False)) + "\n")
    return DONE


def _write(args: argparse.Namespace, snapshot: Snapshot) -> int:
    if args.study is not None:
        snapshot = only_study(snapshot, args.study)
    write_text(args.output, escape_unseen(snapshot.dumps()))  # the same data, fit for a terminal
    return DONE


def only_study(snapshot: Snapshot, name: str) -> Snapshot:
    """The snapshot with the studies of that title alone."""
    studies = [study.data for study in snapshot.studies if study.name == name]
    if not studies:
        drawn = ", ".join(repr(study.name) for study in snapshot.studies)
        raise UsageError(f"there is no study {name!r} here; drawn: {drawn or 'nothing'}")
    return Snapshot({**snapshot.data, "studies": studies})
