"""`chartpact read`: typed state under a contract, from a snapshot or from our own drawing."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from chartpact.cli import DONE, VIOLATION, UsageError, Verbs
from chartpact.cli.arguments import add_drawn, add_params, read_params
from chartpact.cli.contract import find_contract
from chartpact.cli.database import own_catalogue
from chartpact.cli.files import read_text
from chartpact.cli.snapshot import draw
from chartpact.contracts import Contract, ContractError, Reading, document, read
from chartpact.oneline import one_line
from chartpact.request import Request
from chartpact.snapshot import Snapshot, SnapshotError, parse_json


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "read",
        help="typed state under a contract",
        description=(
            "Reads typed state from what is drawn, under a contract. If the picture breaks the "
            "contract, the violations are printed and the exit code is 3; nothing is guessed."
        ),
        epilog="Example: chartpact read ob_ai --snapshot drawn.json --json",
    )
    verb.add_argument("contract", metavar="CONTRACT", help="a shipped contract, a file or a folder")
    source = verb.add_mutually_exclusive_group(required=True)
    source.add_argument("--snapshot", metavar="FILE", help="a snapshot, or - for stdin")
    add_drawn(verb, source)
    add_params(verb, "with --bars, a parameter of the indicator")
    verb.add_argument("--config", metavar="FILE", help="JSON or YAML with what is customised")
    verb.add_argument("--profile", metavar="NAME", help="one of the contract's profiles")
    verb.add_argument("--json", action="store_true", help="as JSON")
    verb.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    contract = find_contract(args.contract)
    config = _read_config(args.config)
    snapshot = _get_snapshot(args, contract)
    reading = read(contract, snapshot, config, args.profile)
    if args.json:
        print(json.dumps(reading.to_json(), allow_nan=False))
    else:
        _show(reading)
    return DONE if reading.ok else VIOLATION


def _read_config(path: str | None) -> dict[str, Any] | None:
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


def _get_snapshot(args: argparse.Namespace, contract: Contract) -> Snapshot:
    if args.snapshot is not None and args.param:
        raise UsageError("--param sets parameters of an indicator, which --snapshot has not")
    if args.snapshot is not None:
        text = read_text(args.snapshot).removeprefix("\ufeff")
        try:
            return Snapshot(parse_json(text))
        except SnapshotError as error:
            raise UsageError(f"{args.snapshot}: {error}") from None
    (plan,) = own_catalogue().plan(Request(contract.name, read_params(args)))
    if plan.indicator is None:
        raise UsageError(
            f"there is no indicator {contract.name!r} to draw what this contract reads; "
            "give what another chart shows with --snapshot"
        )
    if plan.problem is not None:
        raise UsageError(str(plan.problem))
    return draw(args, [plan])


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
