"""`chartpact read`: typed state under contracts, and what strategies decide."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chartpact import charts, joint, sources, strategies
from chartpact.charts import Chart
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
from chartpact.cli.strategy import find_strategy
from chartpact.contracts import Contract, ContractError, Reading
from chartpact.contracts.language import document
from chartpact.contracts.reading import jsonable
from chartpact.joint import Reader
from chartpact.oneline import one_line
from chartpact.problem import Failure
from chartpact.snapshot import Snapshot, SnapshotError, parse_json
from chartpact.strategies import DrawnStrategy, Moment, Strategy, StrategyDecision

MOST_OBJECTS = 3  # of a violation that are shown to people
MOST_LETTERS = 300  # of each


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "read",
        help="typed state under one contract or several",
        description=(
            "Reads typed state from what is drawn, under a contract. If the picture breaks the "
            "contract, the violations are printed and the exit code is 3; nothing is guessed. "
            "Several contracts are read from one picture, each with its state or its violations. "
            "A strategy decides from several contracts, or says for want of what it does not."
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
        help="a contract or strategy that ships, a file or a folder",
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
    readers = find_readers(args, strict=len(args.contracts) > 1)
    try:
        source = BarsSource(args, readers) if args.bars_source is not None else None
        drawn = _load_snapshot(args) if source is None else source.read()
        if isinstance(drawn, Chart):
            report_failures(drawn)
        results: dict[str, Reading | StrategyDecision] = {}
        state = readers.contracts.read(drawn)
        for name in readers.names:
            found = state.get(name)
            results[name] = readers.decide(name, drawn) if found is None else found
    except Failure as failure:
        raise UsageError(str(failure), exit_code(failure)) from None
    code = DONE if all(one.ok for one in results.values()) else VIOLATION
    alone = len(results) == 1
    if args.json:
        readings = {name: one.to_json() for name, one in results.items()}
        joined = {"as_of": state.as_of, "source": state.source, "readings": readings}
        print(json.dumps(readings[readers.names[0]] if alone else joined, allow_nan=False))
        return code
    for name, result in results.items():
        if not alone:
            print(f"{name}:", flush=True)
        if isinstance(result, StrategyDecision):
            print(result)
        else:
            _show(result)
    return code


@dataclass(frozen=True)
class Readers:
    """The contracts and strategies that the arguments name, with their settings."""

    names: Sequence[str]
    contracts: Reader
    strategies: Mapping[str, Strategy]
    config: Mapping[str, Mapping[str, Any]]  # of the strategies
    profile: str | None
    params: Mapping[str, Any]

    def draw(self, name: str, drawn: Chart | Snapshot) -> DrawnStrategy | Moment:
        """One strategy on the bars of a chart, or at the moment of a snapshot."""
        strategy, config = self.strategies[name], self.config.get(name)
        profile = self.profile
        if len(self.names) > 1 and profile not in strategy.file.profiles:
            profile = None
        if isinstance(drawn, Snapshot):
            return strategies.read_snapshot(strategy, drawn, config, profile)
        plans = strategies.plans_of(strategy, own_catalogue(), self.params)
        return strategies.draw(strategy, drawn.bars, plans, sources.fetch, config, profile)

    def decide(self, name: str, drawn: Chart | Snapshot) -> StrategyDecision:
        made = self.draw(name, drawn)
        return made.decision() if isinstance(made, DrawnStrategy) else strategies.decide(made)


def find_readers(args: argparse.Namespace, strict: bool = True) -> Readers:
    """What the arguments name, with its settings: those of one stand alone."""
    found: list[Contract | Strategy] = [
        find_strategy(name) if strategies.is_strategy(name) else find_contract(name)
        for name in args.contracts
    ]
    names, config = [one.name for one in found], _read_config(args.config) or {}
    if len({*names}) < len(names):
        raise UsageError("a contract or strategy is named twice")
    configs = {names[0]: config} if len(names) == 1 else config
    own = {one.name: one for one in found if isinstance(one, Strategy)}
    chosen = [one for one in found if not isinstance(one, Strategy)]
    profiles = {name for one in own.values() for name in one.file.profiles}
    profile = None if own and (args.profile in profiles or not chosen) else args.profile
    try:
        settings = {name: one for name, one in configs.items() if name not in own}
        reader = Reader(chosen, settings, profile, strict)
    except Failure as failure:
        raise UsageError(str(failure), exit_code(failure)) from None
    settings = {name: one for name, one in configs.items() if name in own}
    return Readers(names, reader, own, settings, args.profile, read_params(args))


class BarsSource:
    """Our own chart: the pacts of contracts, drawn on bars that are loaded anew each time."""

    def __init__(self, args: argparse.Namespace, readers: Readers) -> None:
        self.name, self._args = args.bars_source, args
        names = [contract.name for contract in readers.contracts.contracts]
        params = readers.params if names else {}
        self._plans = joint.plan(own_catalogue(), names, params)
        for plan in self._plans:
            if plan.problem is not None:
                raise UsageError(str(plan.problem))

    def read(self) -> Chart:
        return charts.draw(load_bars(self._args), self._plans, None, sources.fetch)

    def close(self) -> None:
        """Nothing is held open."""


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
