"""`chartpact watch`: what changes in the typed state of a chart, as it changes."""

import argparse
import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chartpact.charts import Chart
from chartpact.cli import DONE, UNREACHABLE, UsageError, Verbs, exit_code
from chartpact.cli.arguments import (
    open_tradingview,
    read_params,
)
from chartpact.cli.read import BarsSource, Readers, add_reading, find_readers
from chartpact.contracts import Contract
from chartpact.joint import JointState
from chartpact.library.local import LOCAL_USER, add_database, open_library
from chartpact.oneline import one_line
from chartpact.problem import Failure, Problem
from chartpact.snapshot import Snapshot, SnapshotError, SnapshotSource
from chartpact.strategies import Strategy, following
from chartpact.tracker import Rules

if TYPE_CHECKING:
    from chartpact.library.follows import Follow, Follows
    from chartpact.library.journal import Journal

EXEC_SECONDS = 60
STDERR = 2  # what a command prints does not mix with our lines


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "watch",
        help="follow typed state, and print what changes",
        description=(
            "Reads a chart again and again under contracts, and prints what changed: states, what "
            "appeared and disappeared, and changes that no contract allows. Every reading is in a "
            "journal before it is printed, so that the next start goes on where this one ended."
        ),
        epilog="Example: chartpact watch ob_ai --tv http://127.0.0.1:9222 --every 5 --json",
    )
    verb.add_argument(
        "contracts", metavar="CONTRACT", nargs="+", help="a shipped contract, a file or a folder"
    )
    source = verb.add_mutually_exclusive_group(required=True)
    source.add_argument("--snapshot", metavar="FILE", help="a snapshot that somebody rewrites")
    add_reading(verb, source)
    verb.add_argument(
        "--every", type=float, default=5, metavar="S", help="seconds between two reads (default 5)"
    )
    verb.add_argument("--reads", type=int, metavar="N", help="end after so many reads")
    verb.add_argument("--json", action="store_true", help="as JSON, a line each")
    verb.add_argument(
        "--exec",
        dest="command",
        metavar="CMD",
        help="run a command for each change, with the change as JSON on its standard input; "
        "no shell runs it: for pipes write `sh -c '...'`",
    )
    add_database(verb)
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if not 0.1 <= args.every <= 86_400:
        raise UsageError("--every is a number of seconds from 0.1 to 86400")
    if args.reads is not None and args.reads < 1:
        raise UsageError("--reads is a whole number of at least 1")
    if args.snapshot == "-":
        raise UsageError("standard input can be read once: name a file")
    readers = find_readers(args)
    with _following(args, readers) as watched, closing(_open(args, readers)) as source:
        try:
            return _watch(args, readers, watched, source)
        except KeyboardInterrupt:
            return DONE


@dataclass
class _Watched:
    """A contract or strategy that is watched, and where its changes go."""

    contract: Contract | Strategy
    follows: "Follows"
    journal: "Journal"
    follow: "Follow"

    def record(
        self, readers: Readers, state: JointState, drawn: Chart | Snapshot, show: Any
    ) -> None:
        """Commits what was read, then tells what changed."""
        from chartpact.library.journal import SnapshotRecord

        watched, picture = self.contract, SnapshotRecord.of(state.snapshot)
        if isinstance(watched, Strategy):
            rules, known = following.rules_of(watched), self.journal.memory
            readings = following.follow(readers.draw(watched.name, drawn), known)
        else:
            rules, readings = Rules.of(watched), [state[watched.name]]
        for reading in readings:
            for event in self.journal.record(rules, watched.text, reading, picture).shown:
                show(event)

    def deliver(self, show: Any, command: Sequence[str]) -> None:
        """Delivers pending changes in order, each at least once."""
        for event in self.journal.after(self.follow.delivered):
            show(event)
            if command:
                _execute(command, event)
            self.follow = self.follows.deliver(self.follow, event["seq"])


@contextmanager
def _following(args: argparse.Namespace, readers: Readers) -> Iterator[list[_Watched]]:
    """The contracts with their journals; while it lasts, nobody else reads these follows."""
    from chartpact.library.follows import SHELL, Follows, LostLease
    from chartpact.library.journal import Journal

    owner = f"{os.uname().nodename} {os.getpid()} {time.time_ns()}"
    with open_library(args.db) as database:
        follows, watched = Follows(database), []
        try:
            chosen: list[Contract | Strategy] = [*readers.contracts.contracts]
            for contract in [*chosen, *readers.strategies.values()]:
                decides = isinstance(contract, Strategy)
                configs = readers.config if decides else readers.contracts.config
                config, name = configs.get(contract.name) or {}, contract.name
                profile = args.profile if args.profile in contract.file.profiles else None
                asked = {**_describe_source(args), "config": config, "profile": profile}
                name = f"{following.PREFIX}{name}" if decides else name
                follow = follows.add(LOCAL_USER, name, asked, int(args.every * 1000), SHELL)
                if _is_dead(follow.lease_owner):
                    follows.release(follow, str(follow.lease_owner))
                follow = follows.lease(follow, owner)
                journal = Journal(database, follow, owner)
                watched.append(_Watched(contract, follows, journal, follow))
            yield watched
        except LostLease as error:
            raise UsageError(f"{error}; end it, or wait a minute after it was killed") from None
        finally:
            for one in watched:
                follows.release(one.follow, owner)


def _is_dead(owner: str | None) -> bool:
    """Whether a process of this host, which took a lease, is not there any more."""
    host, _, rest = (owner or "").partition(" ")
    if host != os.uname().nodename:
        return False
    try:
        os.kill(int(rest.partition(" ")[0]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _watch(
    args: argparse.Namespace,
    readers: Readers,
    watched: list[_Watched],
    source: SnapshotSource | BarsSource,
) -> int:
    command = shlex.split(args.command or "")
    show = _show_json if args.json else _show_text
    reads, reported, code = 0, "", DONE
    while True:
        started, wait = time.monotonic(), args.every
        try:
            drawn = source.read()
            state = readers.contracts.read(drawn)
            for one in watched:
                one.record(readers, state, drawn, show)
            reported, code = "", DONE
        except Failure as failure:
            code = exit_code(failure) or UNREACHABLE
            for one in watched:
                one.follow = one.follows.fail(one.follow, str(failure))
            failures = max(one.follow.failures for one in watched)
            wait = min(args.every * 2 ** min(failures, 10), max(300, args.every))
            if str(failure) != reported:
                reported = str(failure)
                print(one_line(f"chartpact watch: {reported}; tried again"), file=sys.stderr)
        code = max(code, _deliver(watched, show, command))
        reads += 1
        if args.reads is not None and reads >= args.reads:
            return code
        time.sleep(max(0, wait - (time.monotonic() - started)))


def _deliver(watched: list[_Watched], show: Any, command: Sequence[str]) -> int:
    """Tells what changed; what a command would not take is tried again after the next read."""
    code = DONE
    for one in watched:
        try:
            one.deliver(show, command)
        except Failure as failure:
            code = exit_code(failure)
            print(one_line(f"chartpact watch: {failure}; tried again"), file=sys.stderr)
    return code


def _execute(command: Sequence[str], event: Mapping[str, Any]) -> None:
    """Runs the user's command for one change; it has failed unless it ends with 0."""
    text = json.dumps(event) + "\n"
    try:
        done = subprocess.run(
            command, input=text, text=True, timeout=EXEC_SECONDS, stdout=STDERR, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failure(Problem("unavailable", f"--exec {command[0]}: {error}")) from None
    if done.returncode != 0:
        message = f"--exec {command[0]} ended with {done.returncode}"
        raise Failure(Problem("unavailable", message))


# ------------------------------------------------------------------------------------------ sources


class FileSource:
    """A file with a snapshot, which somebody else rewrites."""

    def __init__(self, path: str) -> None:
        self.name = path

    def read(self) -> Snapshot:
        try:
            return Snapshot.load(self.name)
        except SnapshotError as error:
            raise Failure(Problem("unavailable", str(error))) from None

    def close(self) -> None:
        """Nothing is held open."""


def _open(args: argparse.Namespace, readers: Readers) -> SnapshotSource | BarsSource:
    if args.bars_source is not None:
        return BarsSource(args, readers)
    if args.param:
        raise UsageError("--param sets parameters of an indicator, and goes with --bars")
    return open_tradingview(args) or FileSource(args.snapshot)


def _describe_source(args: argparse.Namespace) -> dict[str, Any]:
    """What tells this source from others, for the journal."""
    if args.bars_source is not None:
        overrides = {"symbol": args.symbol, "timeframe": args.timeframe}
        return {"bars": args.bars_source, "params": read_params(args), **overrides}
    if args.snapshot is not None:
        return {"snapshot": str(Path(args.snapshot).absolute())}
    if args.tv_mcp is not None:
        return {"tv_mcp": args.tv_mcp}
    return {"tv": args.tv, "tab": args.tv_tab}


# ------------------------------------------------------------------------------------------- output


def _show_json(event: Mapping[str, Any]) -> None:
    print(json.dumps(event), flush=True)


def _show_text(event: Mapping[str, Any]) -> None:
    at = event["as_of"]
    when = f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S}" if at is not None else "?"
    line = f"{when} {event['symbol']} {event['timeframe']} {event['contract']}: "
    if event["type"] in ("refused", "readable"):
        line += f"{event['type']}{': ' if event.get('why') else ''}{event.get('why') or ''}"
    else:
        key = ", ".join(map(str, event["key"]))
        line += f"{event['machine']}{f'[{key}]' if key else ''} "
        line += f"{event.get('kind') or event['type']}: {event['from'] or '(none)'} → "
        line += event["to"] or "(none)"
        breach = event.get("violation")
        line += f" ({breach['message']})" if breach else ""
    print(one_line(line), flush=True)
