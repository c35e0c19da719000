"""The arguments of a picture: where it goes, how it looks, which bars it shows."""

import argparse
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np

from chartpact.bars import Bars
from chartpact.charts import Chart
from chartpact.cli import UsageError
from chartpact.cli.arguments import add_options, read_options
from chartpact.cli.files import write_bytes
from chartpact.clock import zones
from chartpact.clock.errors import ClockError
from chartpact.render.options import PICTURE_BARS, LookOptions

FORMATS = ("png", "svg")


def add_picture(verb: argparse.ArgumentParser) -> None:
    """The arguments that say what the picture looks like."""
    group = verb.add_argument_group("picture")
    group.add_argument(
        "-o", "--output", metavar="FILE", help="draw to FILE, a .png or an .svg; - is stdout"
    )
    group.add_argument(
        "--format", choices=FORMATS, help="which of the two, where the file's name does not tell"
    )
    view = group.add_mutually_exclusive_group()
    view.add_argument(
        "--bars",
        type=int,
        metavar="N",
        help=f"show the last N bars up to --to, or N from --from on (pictures: {PICTURE_BARS})",
    )
    view.add_argument("--all", action="store_true", help="show all bars, also in a picture")
    add_options(group, LookOptions)
    group.add_argument(
        "--from", dest="start", metavar="TIME", help="first bar shown, such as 2024-03-05 09:30"
    )
    group.add_argument("--to", dest="end", metavar="TIME", help="last bar computed and shown")


def select_bars(args: argparse.Namespace, bars: Bars) -> tuple[Bars, int | None]:
    """The bars to compute on, and how many of the last ones to show; None where nothing says it.

    Two of --from, --to and --bars say which bars are shown: from the first to the last of them,
    as many from the first on, or as many up to the last.
    """
    try:
        zone = zones.zone(args.tz or "UTC")
    except ClockError as error:
        raise UsageError(f"--tz: {error}") from None
    if args.bars is not None and args.bars < 1:
        raise UsageError(f"--bars {args.bars}: at least one bar must be shown")
    if args.bars is not None and args.start is not None and args.end is not None:
        raise UsageError("--from, --to and --bars together say too much: leave out one of them")
    if args.all and args.start is not None:
        raise UsageError("--all and --from contradict each other: leave out one of them")
    if args.end is not None:
        until = _read_time(args.end, zone, "--to", end=True)
        bars = bars[: int(np.searchsorted(bars.time, until, "right"))]
    last = len(bars) if args.all else args.bars
    if args.start is not None:
        since = _read_time(args.start, zone, "--from", end=False)
        first = int(np.searchsorted(bars.time, since, "left"))
        if args.bars is not None:
            bars = bars[: first + args.bars]
        last = len(bars) - first
    if (args.start or args.end) and not (len(bars) if last is None else last):
        raise UsageError("there is no bar between --from and --to")
    return bars, last


def _read_time(text: str, zone: ZoneInfo, option: str, end: bool) -> int:
    """UTC ms of a date or a time; a date as an end is the end of that day."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(
            f"{option} {text!r} is not a time: write 2024-03-05, 2024-03-05 09:30 "
            "or 2024-03-05T09:30Z"
        ) from None
    if end and len(text.strip()) <= 10:
        moment += timedelta(days=1, milliseconds=-1)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return round((moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1))


def check_output(args: argparse.Namespace) -> None:
    """Refuses what cannot go to standard output, before anything is computed."""
    if args.output != "-":
        return
    if args.json or getattr(args, "summary", False):
        raise UsageError("-o -: the picture alone goes to standard output: name a file for it")
    if sys.stdout is None or sys.stdout.isatty():
        raise UsageError("-o -: a terminal shows no picture: redirect it, or name a file")


def save(args: argparse.Namespace, chart: Chart) -> None:
    """Draws the chart into the file of -o, or to standard output."""
    look = read_options(args, LookOptions)
    ending = Path(args.output).suffix.lower().removeprefix(".")
    form = args.format or (ending if ending in FORMATS else "png" if args.output == "-" else None)
    if form is None:
        name = Path(args.output).name
        raise UsageError(f"{name!r} ends neither in .png nor in .svg: say which by --format")
    data = chart.png(**look) if form == "png" else chart.svg(**look).encode()
    write_bytes(args.output, data)
