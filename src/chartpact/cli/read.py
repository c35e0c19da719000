"""`chartpact read`: typed state under a contract, from a snapshot or from our own drawing."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from chartpact import charts, joint, sources
from chartpact.cli import DONE, VIOLATION, UsageError, Verbs, exit_code
from chartpact.cli.arguments import (
    add_drawn,
    add_params,
    add_tradingview,
    load_bars,
    open_tradingview,
    read_once,
    read_params,
)
from chartpact.cli.contract import find_contract
from chartpact.cli.database import own_catalogue
from chartpact.cli.files import read_text
from chartpact.cli.snapshot import report_failures
from chartpact.contracts import Contract, ContractError, Reading, read
from chartpact.contracts.language import document
from chartpact.contracts.reading import jsonable
from chartpact.oneline import one_line
from chartpact.problem import Failure
from chartpact.snapshot import Snapshot, SnapshotError, parse_json

MOST_OBJECTS = 3  # of a violation that are shown to people
MOST_LETTERS = 300  # of each


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "read",
        help="typed state under one contract or several",
        description=(
            "Reads typed state from what is drawn, under a contract. If the picture breaks the "
            "contract, the violations are printed and the exit code is 3; nothing is guessed. "
            "Several contracts are read from one picture, each with its state or its violations."
        ),
        epilog=(
            "Example: chartpact read ob_ai --snapshot drawn.json --json. A fork of a pact keeps "
            "its title, so the pact's contract reads it: chartpact snapshot --bars BARS "
            "-i my_ob.star | chartpact read ob_ai --snapshot -"
        ),
    )
    verb.add_argument(
        "contracts",
        metavar="CONTRACT",
        nargs="+",
        help="a shipped contract, a file or a folder; several make one strategy state",
    )
    source = verb.add_mutually_exclusive_group(required=True)
    source.add_argument("--snapshot", metavar="FILE", help="a snapshot, or - for stdin")
    add_reading(verb, source)
    verb.add_argument("--json", action="store_true", help="as JSON")
    verb.set_defaults(run=run)


def add_reading(verb: argparse.ArgumentParser, source: Any) -> None:
    """Where a reading gets its picture from, besides a file, and the settings of its contracts."""
    add_drawn(verb, source)
    add_tradingview(verb, source)
    add_params(verb, "with --bars, a parameter of the indicator")
    verb.add_argument(
        "--config",
        metavar="FILE",
        help="JSON or YAML with what is customised; of several contracts, by name",
    )
    verb.add_argument("--profile", metavar="NAME", help="one of the contract's profiles")


def run(args: argparse.Namespace) -> int:
    chosen = [find_contract(name) for name in args.contracts]
    config = read_config(args.config)
    result: Reading | joint.JointState
    try:
        if args.bars_source is not None:
            result = _read_bars(args, chosen, config)
        elif len(chosen) == 1:
            result = read(chosen[0], _load_snapshot(args), config, args.profile)
        else:
            result = joint.read_snapshot(chosen, _load_snapshot(args), config, args.profile)
    except Failure as failure:
        raise UsageError(str(failure), exit_code(failure)) from None
    if args.json:
        print(json.dumps(result.to_json(), allow_nan=False))
    elif isinstance(result, Reading):
        _show(result)
    else:
        for reading in result.values():
            print(f"{reading.contract}:", flush=True)
            _show(reading)
    return DONE if result.ok else VIOLATION


def _read_bars(
    args: argparse.Namespace, chosen: list[Contract], config: dict[str, Any] | None
) -> Reading | joint.JointState:
    """Draws the indicators of the contracts on bars and reads them."""
    names = [contract.name for contract in chosen]
    plans = joint.plan(own_catalogue(), names, read_params(args))
    for plan in plans:
        if plan.problem is not None:
            raise UsageError(str(plan.problem))
    chart = charts.draw(load_bars(args), plans, None, sources.fetch)
    report_failures(chart)
    if len(chosen) == 1:
        return read(chosen[0], chart.snapshot(), config, args.profile)
    return joint.read_chart(chosen, chart, config, args.profile)


def read_config(path: str | None) -> dict[str, Any] | None:
    if path is None:
        return None
    text = read_text(path).removeprefix("\ufeff")
    try:
        if Path(path).suffix in (".yaml", ".yml"):
            data = document.parse(text).plain()
        else:
            data = parse_json(text)
    except (SnapshotError, ContractError) as error:
        raise UsageError(f"{path}: {error}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{path}: a config maps keys to values")
    return data


def _load_snapshot(args: argparse.Namespace) -> Snapshot:
    if args.param:
        raise UsageError("--param sets parameters of an indicator, and goes with --bars")
    source = open_tradingview(args)
    if source is not None:
        return read_once(source)
    text = read_text(args.snapshot).removeprefix("\ufeff")
    try:
        return Snapshot(parse_json(text))
    except SnapshotError as error:
        raise UsageError(f"{args.snapshot}: {error}") from None


def _show(reading: Reading) -> None:
    for assumed in reading.assumptions:
        print(one_line(f"assumed: {assumed}"), file=sys.stderr)
    for warning in reading.warnings:
        print(one_line(f"warning: {warning}"), file=sys.stderr)
    if reading.ok:
        print(json.dumps(reading.state, indent=2))
        return
    misset = all(violation.kind == "config" for violation in reading.violations)
    verdict = "the configuration does not fit" if misset else "the picture breaks the contract"
    print(f"{reading.contract} {reading.version}: {verdict}", file=sys.stderr)
    for violation in reading.violations:
        print(one_line(f"  {violation}"), file=sys.stderr)
        for record in violation.objects[:MOST_OBJECTS]:
            print(one_line(f"    {json.dumps(jsonable(record)):.{MOST_LETTERS}}"), file=sys.stderr)
        if len(violation.objects) > MOST_OBJECTS:
            print(f"    and {len(violation.objects) - MOST_OBJECTS} more", file=sys.stderr)
