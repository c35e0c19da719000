"""`chartpact contract list|show|check|test|diff|draft`."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chartpact import pacts
from chartpact.cli import BAD_INPUT, DONE, VIOLATION, UsageError, Verbs
from chartpact.cli.files import read_text, write_text
from chartpact.contracts import Contract, ContractError, find, load_file
from chartpact.contracts.language.document import describe
from chartpact.contracts.language.values import Column
from chartpact.snapshot import Snapshot, SnapshotError, parse_json


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "contract",
        help="list, show, check, test, compare and draft contracts",
        description="Contracts say what an indicator's drawing means; see `chartpact read`.",
    )
    inner = verb.add_subparsers(title="verbs", metavar="VERB", dest="contract_verb", required=True)

    listing = inner.add_parser("list", help="the contracts that come with the package")
    _json(listing)
    listing.set_defaults(run=run_list)

    show = inner.add_parser(
        "show",
        help="a contract as written, as a page, or its type",
        epilog="Example: chartpact contract show ob_ai --python",
    )
    _contract(show)
    how = show.add_mutually_exclusive_group()
    how.add_argument("--page", action="store_true", help="as a page in Markdown")
    how.add_argument("--schema", action="store_true", help="the JSON Schema of its state")
    how.add_argument("--python", action="store_true", help="the Python type of its state")
    how.add_argument("--json", action="store_true", help="its text, needs, config and types")
    show.set_defaults(run=run_show)

    check = inner.add_parser("check", help="make every proof about a contract file")
    check.add_argument("contract", metavar="FILE", help="a contract file, or a shipped contract")
    _json(check)
    check.set_defaults(run=run_check)

    test = inner.add_parser(
        "test",
        help="read the examples beside a contract, and every change of them",
        description=(
            "Reads every example in the folder `examples` beside the contract and compares it "
            "with what is expected; then changes one field after the other of what the examples "
            "show, and fails where a change that matters goes unnoticed."
        ),
    )
    _contract(test)
    _json(test)
    test.set_defaults(run=run_test)

    differ = inner.add_parser("diff", help="what changed from one contract to another")
    differ.add_argument("old", metavar="OLD", help="a contract file, or a shipped contract")
    differ.add_argument("new", metavar="NEW", help="a contract file, or a shipped contract")
    _json(differ)
    differ.set_defaults(run=run_diff)

    drafter = inner.add_parser(
        "draft",
        help="write a starting contract from what a study drew",
        description=(
            "Writes a contract that claims everything one study drew, an element for each look. "
            "Say what each element means; until then `contract check` refuses it."
        ),
        epilog="Example: chartpact contract draft drawn.json --study 'OB AI' -o mine.yaml",
    )
    drafter.add_argument("snapshot", metavar="SNAPSHOT", help="a snapshot, or - for stdin")
    drafter.add_argument("--study", metavar="NAME", required=True, help="the title of the study")
    drafter.add_argument("-o", dest="output", metavar="FILE", help="where to write it")
    drafter.set_defaults(run=run_draft)


def _contract(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("contract", metavar="CONTRACT", help="a shipped contract, a file or a folder")


def _json(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--json", action="store_true", help="as JSON")


def find_contract(name: str) -> Contract:
    """The contract an argument names; what is wrong with it is bad input."""
    if name.endswith(".star"):
        raise UsageError(
            f"{name} is a script, not a contract. A fork is read in two steps: chartpact snapshot "
            f"--bars BARS -i {name} | chartpact read CONTRACT --snapshot -"
        )
    try:
        return find(name)
    except ContractError as error:
        wrong = "; ".join(str(error).splitlines())
        raise UsageError(f"{name}: {wrong}" if error.problems[0].line else wrong) from None


def _find_file(name: str) -> Path:
    if name in pacts.names():
        return pacts.folder(name) / "contract.yaml"
    path = Path(name)
    return path / "contract.yaml" if path.is_dir() else path


def run_list(args: argparse.Namespace) -> int:
    contracts = [find(name) for name in pacts.names()]
    if args.json:
        print(json.dumps({"contracts": [_summarise(contract) for contract in contracts]}))
        return DONE
    for contract in contracts:
        channels = ", ".join(f"{name} {role}" for name, role in contract.file.channels.items())
        print(f"{contract.name:<16} {contract.version:<8} {contract.title:<18} {channels}")
    return DONE


def _summarise(contract: Contract) -> dict[str, Any]:
    return {
        "name": contract.name,
        "version": contract.version,
        "title": contract.title,
        "channels": dict(contract.file.channels),
        "profiles": list(contract.file.profiles),
        "source": "pact",
    }


def run_show(args: argparse.Namespace) -> int:
    from chartpact.contracts.workbench import examples, exports

    contract, file = find_contract(args.contract), _find_file(args.contract)
    if args.page:
        print(exports.page(contract, examples.load_all(file.parent / "examples")))
    elif args.schema:
        print(json.dumps(exports.json_schema(contract), indent=1))
    elif args.python:
        print(exports.python_source(contract), end="")
    elif args.json:
        print(json.dumps(_describe(contract, file.read_text(encoding="utf-8"))))
    else:
        print(file.read_text(encoding="utf-8"), end="")
    return DONE


def _describe(contract: Contract, text: str) -> dict[str, Any]:
    from chartpact.contracts.workbench import exports

    return {
        "contract": contract.name,
        "version": contract.version,
        "identity": contract.file.identity.model_dump(exclude_none=True),
        "channels": dict(contract.file.channels),
        "config": {
            name: key.model_dump(exclude_unset=True, by_alias=True)
            for name, key in contract.file.config.items()
        },
        "profiles": {name: dict(values) for name, values in contract.file.profiles.items()},
        "needs": _columns(contract.needs),
        "tracking": _columns(contract.tracking),
        "states": {name: list(machine.states) for name, machine in contract.machines.items()},
        "schema": exports.json_schema(contract),
        "text": text,
    }


def _columns(needs: Mapping[str, tuple[Column, ...]]) -> dict[str, list[str]]:
    return {name: [column.name for column in columns] for name, columns in needs.items()}


def run_check(args: argparse.Namespace) -> int:
    file = _find_file(args.contract)
    try:
        contract = load_file(file)
    except ContractError as error:
        if args.json:
            print(json.dumps({"ok": False, "errors": error.to_json()}))
        for problem in error.problems:
            where = f"{args.contract}: " if problem.line is not None else ""
            print(f"{where}{describe(problem)}", file=sys.stderr)
        return BAD_INPUT
    if args.json:
        verdict = {"ok": True, "contract": contract.name, "version": contract.version}
        print(json.dumps({**verdict, "errors": []}))
    else:
        states = sum(len(machine.states) for machine in contract.machines.values())
        counts = f"{len(contract.elements)} elements, {states} states"
        print(f"{contract.name} {contract.version}: every proof holds ({counts})")
    return DONE


def run_test(args: argparse.Namespace) -> int:
    from chartpact.contracts.workbench import examples

    contract, folder = find_contract(args.contract), _find_file(args.contract).parent / "examples"
    try:
        loaded = examples.load_all(folder)
    except ContractError as error:
        raise UsageError(str(error)) from None
    if not loaded:
        raise UsageError(f"there are no examples (*.json) in {folder}")
    failed = {}
    for example in loaded:
        wrong = examples.difference(example, example.read(contract))
        if wrong is not None:
            failed[example.name] = wrong
    result = examples.mutate(
        contract, [example for example in loaded if example.name not in failed]
    )
    ok = not failed and not result.unnoticed
    if args.json:
        verdicts = [
            {"name": name, "ok": name not in failed, "message": failed.get(name, "")}
            for name in (example.name for example in loaded)
        ]
        print(json.dumps({"ok": ok, "examples": verdicts, "mutation": result.to_json()}))
        return DONE if ok else VIOLATION
    for name, wrong in failed.items():
        print(f"{name}: {wrong}", file=sys.stderr)
    for change in result.unnoticed:
        print(f"unnoticed: {change}", file=sys.stderr)
    print(
        f"{contract.name} {contract.version}: {len(loaded) - len(failed)} of {len(loaded)} "
        "examples, "
        f"{result.changes - len(result.unnoticed)} of {result.changes} changes noticed "
        f"in {len(result.targets)} fields"
    )
    return DONE if ok else VIOLATION


def run_diff(args: argparse.Namespace) -> int:
    from chartpact.contracts.workbench.diff import diff

    return show_diff(diff(find_contract(args.old), find_contract(args.new)), args.json)


def show_diff(result: Any, as_json: bool) -> int:
    """Prints what changed between two versions; a fault of the new one is a violation."""
    if as_json:
        print(json.dumps(result.to_json()))
        return DONE if result.ok else VIOLATION
    for change in result.changes:
        print(f"{change.level:<6} {change.path}: {change.change}")
    print(f"{result.old} → {result.new}: {result.level}; the next version is {result.next_version}")
    for fault in result.faults:
        print(fault, file=sys.stderr)
    return DONE if result.ok else VIOLATION


def run_draft(args: argparse.Namespace) -> int:
    from chartpact.contracts.workbench.draft import draft

    text = read_text(args.snapshot).removeprefix("\ufeff")
    try:
        written = draft(Snapshot(parse_json(text)), args.study)
    except SnapshotError as error:
        raise UsageError(f"{args.snapshot}: {error}") from None
    write_text(args.output, written)
    return DONE
