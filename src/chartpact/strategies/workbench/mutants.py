"""Changes of a strategy file, each of which a proof must refuse or an example must notice.

A change that decides alike whatever the facts are is none, and is left out.
"""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from chartpact.contracts import ContractError
from chartpact.contracts.check.totality import OTHERWISE
from chartpact.contracts.language import document
from chartpact.contracts.language.expressions import parse
from chartpact.strategies.logic import BLOCKED, SCORE, World, condition_codes
from chartpact.strategies.model import UNKNOWN
from chartpact.strategies.strategy import Strategy, load_document
from chartpact.strategies.workbench.examples import StrategyExample

BAR_MINUTES = 5

Json = Any
Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class Mutant:
    """A change of the file: where, and what stands there now; `DROPPED` where nothing does."""

    place: Steps
    value: Json
    change: str

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.place))}: {self.change}"

    def apply(self, plain: Json) -> Json:
        changed = deepcopy(plain)
        inner = changed
        for step in self.place[:-1]:
            inner = inner[step]
        if self.value is DROPPED:
            del inner[self.place[-1]]
        else:
            inner[self.place[-1]] = self.value
        return changed


DROPPED = object()


@dataclass(frozen=True)
class FileMutation:
    """How many changes were made, how many each means caught, and those that live."""

    refused: int
    noticed: int
    equal: int
    living: tuple[str, ...]

    @property
    def changes(self) -> int:
        return self.refused + self.noticed + len(self.living)

    def to_json(self) -> dict[str, Json]:
        return {
            "changes": self.changes,
            "refused": self.refused,
            "noticed": self.noticed,
            "equal": self.equal,
            "living": list(self.living),
        }


def mutate(strategy: Strategy, examples: Sequence[StrategyExample]) -> FileMutation:
    """Makes every change of the file, and lists those that nothing catches."""
    plain = document.parse(strategy.text).plain()
    contracts = {one.name: one for one in strategy.contracts.values()}
    refused = noticed = equal = 0
    living: list[str] = []
    for mutant in mutants(plain, strategy):
        changed = mutant.apply(plain)
        data = json.dumps(changed).encode()
        try:
            other = load_document(_node(changed), data, contracts.__getitem__)
        except ContractError:
            refused += 1
            continue
        if any(one.answer(other).difference(one.expect) for one in examples):
            noticed += 1
        elif _decides_alike(strategy, other):
            equal += 1
        else:
            living.append(str(mutant))
    return FileMutation(refused, noticed, equal, tuple(living))


def _node(value: Json) -> document.YamlNode:
    """A value as a document without lines."""
    if isinstance(value, dict):
        inner = {key: _node(item) for key, item in value.items()}
        return document.YamlNode(inner, 0, dict.fromkeys(inner, 0))
    return document.YamlNode(
        [_node(item) for item in value] if isinstance(value, list) else value, 0
    )


def _decides_alike(one: Strategy, other: Strategy) -> bool:
    """Whether two files differ at most in what no facts can tell apart."""
    same = (one.file.facts, one.file.windows, one.file.epoch) == (
        other.file.facts, other.file.windows, other.file.epoch,
    )  # fmt: skip
    if not same or one.logic.vectors != other.logic.vectors:
        return False
    worlds = World(one.logic), World(other.logic)
    for name in (BLOCKED, SCORE, *one.logic.tables):
        codes = [_decoded(world, name) for world in worlds]
        if not _equal(*codes):
            return False
    for section in ("blocks", "factors"):
        for name in getattr(one.logic, section):
            rules = [getattr(world.logic, section)[name] for world in worlds]
            nodes = [rule[0] if section == "factors" else rule for rule in rules]
            holds = [world.holds(node) for world, node in zip(worlds, nodes, strict=True)]
            if not _equal(*holds):
                return False
    rules = [[(rule.after, rule.unless) for rule in w.logic.latches.values()] for w in worlds]
    return rules[0] == rules[1] and _equal(*map(condition_codes, worlds))


def _decoded(world: World, name: str) -> Any:
    values = world.value(name)
    if name in (BLOCKED, SCORE):
        return values
    texts = {code: text for text, code in world.logic.codes.items()}
    return np.vectorize(lambda code: texts[code])(values)


def _equal(one: Any, other: Any) -> bool:
    return bool(np.broadcast_shapes(one.shape, other.shape) and (one == other).all()) or bool(
        one.ndim == 0 and (one == other).all()
    )


# ------------------------------------------------------------------------------------------ changes


def mutants(plain: Mapping[str, Json], strategy: Strategy) -> Iterator[Mutant]:
    """Every change that is tried."""
    for name, written in plain["facts"].items():
        long = isinstance(written, dict)
        place: Steps = ("facts", name, "is") if long else ("facts", name)
        yield from _expressions(place, written["is"] if long else written)
        if long and "none" in written:
            for value in (*strategy.logic.atoms[name], UNKNOWN):
                if value != written["none"]:
                    yield Mutant(("facts", name, "none"), value, f"none: {value}")
    for section, word in (("blocks", "when"), ("factors", "when"), ("latches", "set")):
        for name, written in plain.get(section, {}).items():
            yield from _expressions((section, name, word), written[word])
    for name, factor in plain.get("factors", {}).items():
        for weight in (factor["weight"] + 1, factor["weight"] - 1):
            yield Mutant(("factors", name, "weight"), weight, f"weight {weight}")
    for name, least in list(plain.get("grades", {}).items())[:-1]:
        for other in (least + 1, least - 1):
            yield Mutant(("grades", name), other, f"from {other}")
    for name, window in plain.get("windows", {}).items():
        for word in ("from", "to"):
            for minutes in (BAR_MINUTES, -BAR_MINUTES):
                moved = _move(window[word], minutes)
                yield Mutant(("windows", name, word), moved, f"at {moved}")
    for name, latch in plain.get("latches", {}).items():
        for word in ("after", "unless"):
            if word in latch:
                yield Mutant(("latches", name, word), DROPPED, "dropped")
    for name, table in plain["tables"].items():
        yield from _rows(name, table, strategy)


def _move(time: str, minutes: int) -> str:
    hours, _, rest = time.partition(":")
    moved = (int(hours) * 60 + int(rest) + minutes) % (24 * 60)
    return f"{moved // 60:02}:{moved % 60:02}"


def _rows(name: str, table: Mapping[str, Json], strategy: Strategy) -> Iterator[Mutant]:
    for row, written in table["rows"].items():
        place: Steps = ("tables", name, "rows", row)
        yield Mutant(place, DROPPED, "dropped")
        if written == OTHERWISE:
            continue
        several = isinstance(written, list)
        for n, when in enumerate(written if several else [written]):
            at = (*place, n) if several else place
            if several and len(written) > 1:
                yield Mutant(at, DROPPED, "dropped")
            for cell, value in when.items():
                yield Mutant((*at, cell), DROPPED, "dropped")
                values = value if isinstance(value, list) else [value]
                for other in strategy.logic.domain(cell):
                    if other not in values:
                        yield Mutant((*at, cell), other, f"became {other}")
                if len(values) > 1:
                    yield Mutant((*at, cell), values[1:], f"without {values[0]}")


# -------------------------------------------------------------------------------------- expressions

_SIGNS: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
}  # fmt: skip


def _expressions(place: Steps, written: Json) -> Iterator[Mutant]:
    text = written if isinstance(written, str) else json.dumps(written)
    tree, _ = parse(text)
    texts = list(dict.fromkeys(filter(None, map(_text, ast.walk(tree)))))
    for changed in _changes(tree, texts):
        yield Mutant(place, ast.unparse(changed), f"became {ast.unparse(changed)}")


def _text(node: ast.AST) -> str | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) else None


def _changes(tree: ast.expr, texts: Sequence[str]) -> Iterator[ast.expr]:
    """The expression with one of its parts changed."""
    yield from _turns(tree, texts)
    for name, value in ast.iter_fields(tree):
        parts = value if isinstance(value, list) else [value]
        for n, part in enumerate(parts):
            if isinstance(part, ast.comprehension):
                for m, test in enumerate(part.ifs):
                    for inner in _changes(test, texts):
                        run = deepcopy(part)
                        run.ifs[m] = inner
                        yield _with(tree, name, n, run)
            if not isinstance(part, ast.expr):
                continue
            for inner in _changes(part, texts):
                yield _with(tree, name, n if isinstance(value, list) else None, inner)


def _with(tree: ast.expr, name: str, n: int | None, part: Any) -> ast.expr:
    changed = deepcopy(tree)
    if n is None:
        setattr(changed, name, part)
    else:
        getattr(changed, name)[n] = part
    return changed


def _turns(tree: ast.expr, texts: Sequence[str]) -> Iterator[ast.expr]:
    match tree:
        case ast.BoolOp(op=op, values=values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield ast.BoolOp(other, values)
            for n in range(len(values)):
                left = [*values[:n], *values[n + 1 :]]
                yield left[0] if len(left) == 1 else ast.BoolOp(op, left)
        case ast.Compare(ops=[op]) if type(op) in _SIGNS:
            yield ast.Compare(tree.left, [_SIGNS[type(op)]()], tree.comparators)
        case ast.UnaryOp(op=ast.Not()):
            yield tree.operand
        case ast.Constant() if (text := _text(tree)) and len(texts) > 1:
            yield ast.Constant(texts[(texts.index(text) + 1) % len(texts)])
