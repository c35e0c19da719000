"""`chartpact strategy list|show|check|test|diff`."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from chartpact import strategies
from chartpact.cli import BAD_INPUT, DONE, VIOLATION, UsageError, Verbs
from chartpact.contracts import ContractError
from chartpact.contracts.language.document import describe
from chartpact.strategies import Strategy, find, load_file
from chartpact.strategies.strategy import otherwise_takes


def add(verbs: Verbs) -> None:
    verb = verbs.add_parser(
        "strategy",
        help="list, show, check, test and compare strategies",
        description=(
            "A strategy decides from the states of several contracts; see `chartpact read`. It "
            "places no orders."
        ),
    )
    inner = verb.add_subparsers(title="verbs", metavar="VERB", dest="strategy_verb", required=True)

    listing = inner.add_parser("list", help="the strategies that come with the package")
    _json(listing)
    listing.set_defaults(run=run_list)

    show = inner.add_parser(
        "show",
        help="a strategy as written, or as a page",
        epilog="Example: chartpact strategy show session_turn --page",
    )
    _strategy(show)
    how = show.add_mutually_exclusive_group()
    how.add_argument("--page", action="store_true", help="as a page in Markdown")
    how.add_argument("--json", action="store_true", help="its text, inputs, facts and tables")
    show.set_defaults(run=run_show)

    check = inner.add_parser("check", help="make every proof about a strategy file")
    check.add_argument("strategy", metavar="FILE", help="a strategy file, or one that ships")
    _json(check)
    check.set_defaults(run=run_check)

    test = inner.add_parser(
        "test",
        help="run the examples beside a strategy, and change the file",
        description=(
            "Runs every example in the folder `examples` beside the strategy, and lists what no "
            "example shows. Then changes one word of the file after the other: a proof must refuse "
            "each change, or an example must notice it. Those that live are listed."
        ),
    )
    _strategy(test)
    _json(test)
    test.set_defaults(run=run_test)

    differ = inner.add_parser("diff", help="what changed from one strategy to another")
    differ.add_argument("old", metavar="OLD", help="a strategy file, or one that ships")
    differ.add_argument("new", metavar="NEW", help="a strategy file, or one that ships")
    _json(differ)
    differ.set_defaults(run=run_diff)


def _strategy(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("strategy", metavar="STRATEGY", help="one that ships, a file or a folder")


def _json(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--json", action="store_true", help="as JSON")


def find_strategy(name: str) -> Strategy:
    """The strategy an argument names; what is wrong with it is bad input."""
    try:
        return find(name)
    except ContractError as error:
        wrong = "; ".join(str(error).splitlines())
        raise UsageError(f"{name}: {wrong}" if error.problems[0].line else wrong) from None


def _find_file(name: str) -> Path:
    if name in strategies.names():
        return strategies.folder(name) / "strategy.yaml"
    path = Path(name)
    return path / "strategy.yaml" if path.is_dir() else path


def run_list(args: argparse.Namespace) -> int:
    found = [find(name) for name in strategies.names()]
    if args.json:
        print(json.dumps({"strategies": [strategies.summarise(one) for one in found]}))
        return DONE
    for one in found:
        inputs = ", ".join(spec.contract for spec in one.file.inputs.values())
        print(f"{one.name:<16} {one.version:<8} {inputs}")
    return DONE


def run_show(args: argparse.Namespace) -> int:
    strategy = find_strategy(args.strategy)
    if args.page:
        from chartpact.strategies.workbench import examples, pages

        folder = _find_file(args.strategy).parent / "examples"
        print(pages.page(strategy, examples.load_all(folder)))
    elif args.json:
        print(json.dumps(strategies.describe(strategy)))
    else:
        print(strategy.text, end="")
    return DONE


def run_check(args: argparse.Namespace) -> int:
    try:
        strategy = load_file(_find_file(args.strategy))
    except ContractError as error:
        if args.json:
            print(json.dumps({"ok": False, "errors": error.to_json()}))
        for problem in error.problems:
            where = f"{args.strategy}: " if problem.line is not None else ""
            print(f"{where}{describe(problem)}", file=sys.stderr)
        return BAD_INPUT
    taken = _otherwise(strategy)
    if args.json:
        verdict = {"ok": True, "strategy": strategy.name, "version": strategy.version}
        print(json.dumps({**verdict, "errors": [], "otherwise": taken}))
        return DONE
    counts = f"{len(strategy.file.facts)} facts, {len(strategy.file.tables)} tables"
    print(f"{strategy.name} {strategy.version}: every proof holds ({counts})")
    for one in taken:
        rows = "; ".join(", ".join(map(str, values.values())) for values in one["takes"][:4])
        more = f" and {len(one['takes']) - 4} more" if len(one["takes"]) > 4 else ""
        print(f"{one['table']}: {one['row']} takes everything else: {rows}{more}")
    return DONE


def _otherwise(strategy: Strategy) -> list[dict[str, Any]]:
    """What the rows for everything else take."""
    listed = []
    for name, rule in strategy.logic.tables.items():
        if (rest := otherwise_takes(strategy, name)) is not None:
            takes = [dict(zip(rule.observe, values, strict=True)) for values in rest[1]]
            listed.append({"table": name, "row": rest[0], "takes": takes})
    return listed


def run_test(args: argparse.Namespace) -> int:
    from chartpact.strategies.workbench import examples, mutants

    strategy = find_strategy(args.strategy)
    folder = _find_file(args.strategy).parent / "examples"
    try:
        loaded = examples.load_all(folder)
    except examples.ExampleError as error:
        raise UsageError(str(error)) from None
    if not loaded:
        raise UsageError(f"there are no examples (*.json) in {folder}")
    failed: dict[str, str] = {}
    for example in loaded:
        wrong = example.answer(strategy).difference(example.expect)
        if wrong is not None:
            failed[example.name] = wrong
    holding = [example for example in loaded if example.name not in failed]
    unshown, result = examples.unshown(strategy, holding), mutants.mutate(strategy, holding)
    ok = not failed and not unshown and not result.living
    if args.json:
        verdicts = [
            {"name": one.name, "ok": one.name not in failed, "message": failed.get(one.name, "")}
            for one in loaded
        ]
        mutation = result.to_json()
        answer = {"ok": ok, "examples": verdicts, "unshown": unshown, "mutation": mutation}
        print(json.dumps(answer))
        return DONE if ok else VIOLATION
    for name, wrong in failed.items():
        print(f"{name}: {wrong}", file=sys.stderr)
    for one in unshown:
        print(f"no example shows {one}", file=sys.stderr)
    for change in result.living:
        print(f"lives: {change}", file=sys.stderr)
    print(
        f"{strategy.name} {strategy.version}: {len(holding)} of {len(loaded)} examples; "
        f"{result.changes} changes of the file: {result.refused} refused by proofs, "
        f"{result.noticed} noticed by examples, {len(result.living)} alive"
    )
    return DONE if ok else VIOLATION


def run_diff(args: argparse.Namespace) -> int:
    from chartpact.cli.contract import show_diff
    from chartpact.strategies.workbench.diff import diff

    return show_diff(diff(find_strategy(args.old), find_strategy(args.new)), args.json)
