"""`chartpact snapshot`: what indicators drew, as canonical JSON."""

import argparse
import sys

from chartpact import charts, sources
from chartpact.catalogue import parse_requests
from chartpact.charts import Chart
from chartpact.cli import ALL_FAILED, DONE, UsageError, Verbs
from chartpact.cli.arguments import add_drawn, add_indicators, load_bars
from chartpact.cli.database import own_catalogue
from chartpact.cli.files import write_text
from chartpact.oneline import one_line
from chartpact.snapshot import Snapshot


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "snapshot",
        help="what indicators drew, as the canonical JSON that contracts read",
        description=(
            "Computes indicators on bars and writes the labels, lines, boxes and table cells they "
            "drew, as a snapshot: the canonical JSON that contracts read."
        ),
        epilog="Example: chartpact snapshot --bars sample:es-5m -i rsi -o drawn.json",
    )
    add_drawn(verb)
    add_indicators(verb, required=True)
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
    requests = parse_requests(args.indicator)
    plans = own_catalogue().with_files(requests).plan(requests)
    chart = charts.draw(load_bars(args), plans, None, sources.fetch)
    report_failures(chart)
    snapshot = chart.snapshot()
    if args.study is not None:
        snapshot = only_study(snapshot, args.study)
    write_text(args.output, snapshot.dumps())
    return DONE


def only_study(snapshot: Snapshot, name: str) -> Snapshot:
    """The snapshot with the studies of that title alone."""
    studies = [study.data for study in snapshot.studies if study.name == name]
    if not studies:
        drawn = ", ".join(repr(study.name) for study in snapshot.studies)
        raise UsageError(f"there is no study {name!r} here; drawn: {drawn or 'nothing'}")
    return Snapshot({**snapshot.data, "studies": studies})
