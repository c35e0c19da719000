"""Arguments that several verbs share, and the values they name."""

import argparse
import sys
from contextlib import closing
from typing import Any

from chartpact.bars import Bars
from chartpact.bars.loading import of_content
from chartpact.bars.options import LoadOptions, check_options
from chartpact.cli import UsageError, on_terminal
from chartpact.cli.files import read_bytes
from chartpact.extras import require_server
from chartpact.oneline import as_name, one_line
from chartpact.options import read_table
from chartpact.snapshot import Snapshot, SnapshotSource
from chartpact.sources import load

_BARS = (
    "a CSV or Parquet file, - for standard input, sample:NAME for bundled synthetic data, "
    "or SYMBOL@SOURCE"
)
BARS_TZ = "bars_tz"  # --tz is the zone of a picture's axis


def add_bars(verb: argparse.ArgumentParser) -> None:
    """The argument that names bars, and those that override what they say."""
    verb.add_argument("bars_source", metavar="BARS", help=_BARS)
    _add_overrides(verb)


def add_drawn(
    verb: argparse.ArgumentParser, group: argparse._MutuallyExclusiveGroup | None = None
) -> None:
    """The option that names the bars to draw on, and those that override what they say.

    In a group, `--bars` is one of several ways to say where drawings come from.
    """
    required = group is None
    (group or verb).add_argument(
        "--bars", dest="bars_source", metavar="BARS", required=required, help=_BARS
    )
    _add_overrides(verb)


def _add_overrides(verb: argparse.ArgumentParser) -> None:
    add_options(verb.add_argument_group("what the bars do not tell"), LoadOptions, tz=BARS_TZ)


def add_options(group: argparse._ArgumentGroup, table: type, **renamed: str) -> None:
    """A flag for each option of a table."""
    for option in read_table(table).values():
        flag = "--" + renamed.get(option.name, option.name).replace("_", "-")
        if option.type is bool:
            action = argparse.BooleanOptionalAction
            group.add_argument(flag, action=action, help=option.help)
        else:
            group.add_argument(
                flag,
                type=option.type,
                choices=option.choices or None,
                metavar=option.metavar,
                help=option.help,
            )


def read_options(args: argparse.Namespace, table: type, **renamed: str) -> dict[str, Any]:
    """The options of a table that the flags of a verb give, as far as it has them."""
    given = vars(args)
    values = {name: given.get(renamed.get(name, name)) for name in read_table(table)}
    return {name: value for name, value in values.items() if value is not None}


def load_bars(args: argparse.Namespace) -> Bars:
    """The bars the arguments name; what was guessed of them goes to stderr."""
    options = check_options(read_options(args, LoadOptions, tz=BARS_TZ))
    with on_terminal():
        if args.bars_source == "-":
            if getattr(args, "file", None) == "-":
                raise UsageError("the script and the bars cannot both come from standard input")
            bars = of_content(read_bytes("-"), "stdin", options)
        else:
            bars = load(args.bars_source, **options)
    for note in bars.notes:
        print(one_line(f"note: {bars.source}: {note}"), file=sys.stderr)
    return bars


def add_indicators(verb: argparse.ArgumentParser, required: bool = False) -> None:
    """The argument that asks for indicators."""
    verb.add_argument(
        "-i",
        "--indicator",
        action="append",
        default=[],
        required=required,
        metavar="NAME[:k=v,…]",
        help="an indicator or a script's path, with parameters; may be given several times",
    )


def add_params(verb: argparse.ArgumentParser, whose: str = "a parameter") -> None:
    """The argument that sets one parameter."""
    verb.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="k=v",
        help=f"{whose}; may be given several times",
    )


def read_params(args: argparse.Namespace) -> dict[str, str]:
    """The parameters that the arguments set, as texts."""
    values: dict[str, str] = {}
    for pair in args.param:
        name, sign, value = pair.partition("=")
        if not sign or not name.strip():
            raise UsageError(f"--param {pair}: write it as name=value")
        if name.strip() in values:
            raise UsageError(f"--param {name.strip()} is given twice")
        values[name.strip()] = value
    return values


def add_tradingview(verb: argparse.ArgumentParser, group: argparse._MutuallyExclusiveGroup) -> None:
    """The options that name a chart on TradingView; the ways to reach it stand in `group`."""
    group.add_argument(
        "--tv",
        metavar="URL",
        help="a TradingView chart, by the debugging port of its browser: http://127.0.0.1:9222",
    )
    group.add_argument(
        "--tv-mcp",
        metavar="COMMAND",
        help='a TradingView chart, by the command of an MCP server that reads it: "node server.js"',
    )
    verb.add_argument(
        "--tv-tab", metavar="TEXT", help="of several tabs, this id or part of a title or address"
    )
    verb.add_argument("--tv-timeout", type=float, metavar="S", help="seconds that a read may take")
    verb.add_argument(
        "--tv-remote", action="store_true", help="allow a debugging port on another machine"
    )


def open_tradingview(args: argparse.Namespace) -> SnapshotSource | None:
    """The TradingView chart that the arguments name, if they name one."""
    if args.tv_timeout is not None and not 0 < args.tv_timeout <= 600:
        raise UsageError("--tv-timeout is a number of seconds up to 600")
    if args.tv is not None:
        from chartpact.sources.tradingview import page

        timeout = args.tv_timeout or page.TIMEOUT
        return page.CdpSource(args.tv, args.tv_tab, timeout, args.tv_remote)
    if args.tv_mcp is not None:
        require_server("--tv-mcp")
        from chartpact.sources.tradingview import mcp_client

        timeout = args.tv_timeout or mcp_client.TIMEOUT
        return mcp_client.McpSource(args.tv_mcp, timeout, getattr(args, "study", None))
    return None


def read_once(source: SnapshotSource) -> Snapshot:
    """One snapshot of a source; what could not be read of it goes to stderr."""
    with closing(source):
        snapshot = source.read()
    for lack in snapshot.source.get("unread", ()):
        note = f"note: {as_name(lack['study'])}: {lack['what']} cannot be read: {lack['missing']}"
        print(one_line(f"{note} is not there"), file=sys.stderr)
    return snapshot
