"""`--watch`: a verb done again whenever a file that it reads is saved."""

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from chartpact.cli import DONE, UsageError
from chartpact.oneline import one_line
from chartpact.problem import Failure

POLL_S = 0.1

Signature = tuple[tuple[int, int, int] | None, ...]  # of each file: inode, size and time


def add_watch(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--watch",
        action="store_true",
        help="do it again whenever the script or the file of the bars is saved, until Ctrl-C",
    )


def repeat(
    args: argparse.Namespace, names: Iterable[str], draw: Callable[[argparse.Namespace], int]
) -> int:
    """Draws once, or, with --watch, after every change of one of these files.

    Names of no file, such as sample:NAME, do not change. A mistake in a script or in a file is
    reported, and the next save may mend it. Only what is wrong at the start ends the command.
    """
    if not args.watch:
        return draw(args)
    names = list(names)
    if "-" in (*names, args.output):
        raise UsageError("--watch needs files: standard input and output cannot be used again")
    files = [Path(name) for name in names if Path(name).is_file()]
    if not files:
        raise UsageError("--watch: there is no file here that could change")
    try:
        seen = _sign(files)
        code: int | None = draw(args)
        while True:
            drawn = f"{args.output}: drawn; " if args.output and code == DONE else ""
            watched = ", ".join(file.name for file in files)
            print(one_line(f"{drawn}watching {watched} (Ctrl-C ends it)"), file=sys.stderr)
            seen = _await_change(files, seen)
            code = _try(args, draw)
    except KeyboardInterrupt:
        return DONE


def _try(args: argparse.Namespace, draw: Callable[[argparse.Namespace], int]) -> int | None:
    try:
        return draw(args)
    except Failure as error:
        print(f"chartpact {args.verb}: {error}", file=sys.stderr)
        return None


def _await_change(files: list[Path], seen: Signature) -> Signature:
    """Waits until a file has changed and all are there again, unchanged for a moment."""
    before = seen
    while True:
        time.sleep(POLL_S)
        now = _sign(files)
        if now == before != seen and None not in now:
            return now
        before = now


def _sign(files: list[Path]) -> Signature:
    signature: list[tuple[int, int, int] | None] = []
    for file in files:
        try:
            state = file.stat()
            signature.append((state.st_ino, state.st_size, state.st_mtime_ns))
        except OSError:  # editors replace files
            signature.append(None)
    return tuple(signature)
