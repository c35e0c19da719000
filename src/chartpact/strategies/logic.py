"""The finite part of a strategy, listed: blocks, score, latches and tables over all that may be.

What is known of a fact is one value, what is not known are all values of its domain. Each unknown
fact is an axis, and everything else is computed on whole arrays: an array has a place for each
completion of what it depends on. One `World` thus answers both questions. Where nothing is known
it holds everything that can ever happen, which is what the proofs look at. Where some facts are
known it holds what may be true now, which is what a decision looks at.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact.contracts.language import nodes
from chartpact.contracts.language.nodes import Node, walk

BLOCKED, SCORE, GRADE = "blocked", "score", "grade"
LATCHES = "latches"  # the axis of what is remembered
MAX_LISTED = 1 << 20  # completions in one array

Value = str | bool
Vector = tuple[bool, ...]  # whether each latch is set
Array = NDArray[Any]


@dataclass(frozen=True)
class LatchRule:
    """A latch: the condition that sets it, after which latches, and unless which."""

    set: Node
    after: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableRule:
    """A proved truth table: the row of each combination of observations."""

    observe: tuple[str, ...]
    rows: tuple[str, ...]
    table: Mapping[tuple[Value, ...], str]


@dataclass
class Logic:
    """The rules of a strategy over its facts. Tables stand in the order of their dependence."""

    atoms: Mapping[str, tuple[Value, ...]]  # facts and windows with their domains
    blocks: dict[str, Node] = field(default_factory=dict)
    factors: dict[str, tuple[Node, int]] = field(default_factory=dict)
    grades: dict[str, float] = field(default_factory=dict)  # from the best, with the least score
    latches: dict[str, LatchRule] = field(default_factory=dict)
    tables: dict[str, TableRule] = field(default_factory=dict)
    vectors: tuple[Vector, ...] = ((),)  # of latches, those that can be reached

    def domain(self, name: str) -> tuple[Value, ...]:
        """The values that a name can have."""
        if name in self.atoms:
            return self.atoms[name]
        if name == GRADE:
            return tuple(self.grades)
        return self.tables[name].rows if name in self.tables else (True, False)

    @property
    def names(self) -> list[str]:
        """Everything that has a value: facts, windows, latches, tables, `blocked` and `grade`."""
        graded = [GRADE] if self.grades else []
        return [*self.atoms, *self.latches, *self.tables, BLOCKED, *graded]

    def support(self, *names: str) -> frozenset[str]:
        """The facts, and `latches`, on which names depend."""
        found: set[str] = set()
        for name in names:
            if name in self.atoms:
                found.add(name)
            elif name in self.latches:
                found.add(LATCHES)
            elif name in self.tables:
                found |= self.support(*self.tables[name].observe)
            elif name == BLOCKED:
                found = found.union(*map(mentioned, self.blocks.values()))
            elif name in (GRADE, SCORE):
                found = found.union(*(mentioned(node) for node, _ in self.factors.values()))
        return frozenset(found)

    def count(self, support: Iterable[str]) -> int:
        """The completions of some facts of which nothing is known."""
        vectors = len(self.vectors)
        return prod(vectors if name == LATCHES else len(self.atoms[name]) for name in support)

    @cached_property
    def codes(self) -> dict[str, int]:
        """A number for each text that occurs; true and false are 1 and 0."""
        domains = [*self.atoms.values(), tuple(self.grades)]
        domains += [rule.rows for rule in self.tables.values()]
        texts = dict.fromkeys(text for domain in domains for text in domain if type(text) is str)
        return {text: number for number, text in enumerate(texts, start=2)}

    def encode(self, value: object) -> int:
        if isinstance(value, bool):
            return int(value)
        return self.codes.get(value, -1) if isinstance(value, str) else -1

    @cached_property
    def dense(self) -> dict[str, tuple[Array, list[Array]]]:
        """Of each table the rows as an array, and for each observation the place of each code."""
        made = {}
        for name, rule in self.tables.items():
            domains = [self.domain(observed) for observed in rule.observe]
            rows = np.zeros([len(domain) for domain in domains], np.int16)
            for values, row in rule.table.items():
                at = tuple(d.index(value) for d, value in zip(domains, values, strict=True))
                rows[at] = self.encode(row)
            places = []
            for domain in domains:
                place = np.zeros(len(self.codes) + 2, np.int16)
                place[[self.encode(value) for value in domain]] = range(len(domain))
                places.append(place)
            made[name] = (rows, places)
        return made


def mentioned(node: Node) -> set[str]:
    """The names in a condition."""
    return {inner.names[0] for inner in walk(node) if isinstance(inner, nodes.Mention)}


class World:
    """Everything that may be, given what is known of facts and latches."""

    def __init__(
        self,
        logic: Logic,
        known: Mapping[str, Value] | None = None,
        vectors: Sequence[Vector] | None = None,
    ) -> None:
        self.logic, known = logic, known or {}
        vectors = logic.vectors if vectors is None else vectors
        choices: dict[str, Sequence[Any]] = {
            name: [known[name]] if name in known else domain for name, domain in logic.atoms.items()
        }
        choices[LATCHES] = vectors
        self.axes = {name: values for name, values in choices.items() if len(values) > 1}
        self._values: dict[str, Array] = {}
        order = list(self.axes)
        for name, values in choices.items():
            shape = [1] * len(order)
            if name in self.axes:
                shape[order.index(name)] = len(values)
            if name != LATCHES:
                self._values[name] = self._array([logic.encode(value) for value in values], shape)
                continue
            for n, latch in enumerate(logic.latches):
                self._values[latch] = self._array([int(vector[n]) for vector in values], shape)

    @staticmethod
    def _array(values: list[int], shape: list[int]) -> Array:
        return np.array(values, np.int16).reshape(shape)

    # ---------------------------------------------------------------------------------------- names

    def value(self, name: str) -> Array:
        """The codes of a name in every completion of what it depends on."""
        if name not in self._values:
            self._values[name] = self._make(name)
        return self._values[name]

    def _make(self, name: str) -> Array:
        logic = self.logic
        if name == BLOCKED:
            return self._any(map(self.holds, logic.blocks.values())).astype(np.int16)
        if name == SCORE:
            score = self.nothing.astype(np.int32)
            for node, weight in logic.factors.values():
                score = score + weight * self.holds(node)
            return score
        if name == GRADE:
            score, grades = self.value(SCORE), list(logic.grades.items())
            made = np.full(score.shape, logic.encode(grades[-1][0]), np.int16)
            for grade, least in reversed(grades[:-1]):
                made[score >= least] = logic.encode(grade)
            return made
        rows, places = logic.dense[name]
        observed = logic.tables[name].observe
        at = tuple(place[self.value(one)] for place, one in zip(places, observed, strict=True))
        made = rows[at]
        return made if made.ndim else made.reshape([1] * len(self.axes))

    @property
    def nothing(self) -> Array:
        return np.zeros([1] * len(self.axes), np.bool_)

    def _any(self, arrays: Iterable[Array]) -> Array:
        made = self.nothing
        for array in arrays:
            made = made | array
        return made

    # ----------------------------------------------------------------------------------- conditions

    def holds(self, node: Node) -> Array:
        """Whether a condition holds, in every completion."""
        return self._evaluate(node).astype(np.bool_)

    def _evaluate(self, node: Node) -> Array:
        match node:
            case nodes.Literal():
                return self._array([self.logic.encode(node.value)], [1] * len(self.axes))
            case nodes.Mention():
                return self.value(node.names[0])
            case nodes.Compare(sign="=="):
                return np.asarray(self._evaluate(node.left) == self._evaluate(node.right))
            case nodes.Among():
                of = self._evaluate(node.of)
                return self._any(of == self._evaluate(item) for item in node.items)
            case nodes.Not():
                return ~self.holds(node.of)
            case nodes.Joined(all=True):
                return ~self._any(~self.holds(part) for part in node.parts)
            case nodes.Joined():
                return self._any(map(self.holds, node.parts))
            case nodes.Choice():
                yes, no = self._evaluate(node.yes), self._evaluate(node.no)
                return np.where(self.holds(node.test), yes, no)
        raise TypeError(f"{type(node).__name__} is not finite")

    # -------------------------------------------------------------------------------------- answers

    def options(self, name: str) -> list[Value]:
        """The values that a name may have, in the order of its domain."""
        codes = set(np.unique(self.value(name)).tolist())
        return [value for value in self.logic.domain(name) if self.logic.encode(value) in codes]

    def varying(self, array: Array) -> list[str]:
        """The unknown facts, and `latches`, on which an array depends."""
        return [
            name
            for axis, name in enumerate(self.axes)
            if array.shape[axis] > 1 and bool((array != array.take([0], axis)).any())
        ]

    def witness(self, array: Array) -> dict[str, Any] | None:
        """A completion in which a condition holds: the facts on which it depends."""
        if not array.any():
            return None
        at = np.unravel_index(int(array.argmax()), array.shape)
        varying = set(self.varying(array))
        picked: dict[str, Any] = {}
        for (name, values), place in zip(self.axes.items(), at, strict=True):
            if name in varying and name == LATCHES:
                picked |= dict(zip(self.logic.latches, values[int(place)], strict=True))
            elif name in varying:
                picked[name] = values[int(place)]
        return picked

    def is_(self, name: str, values: Iterable[Value]) -> Array:
        """Whether a name has one of these values."""
        return np.isin(self.value(name), [self.logic.encode(value) for value in values])


def finite_fault(node: Node) -> str | None:
    """What in a condition is more than a comparison of facts, or nothing."""
    finite = nodes.Literal | nodes.Mention | nodes.Among | nodes.Not | nodes.Joined | nodes.Choice
    for inner in walk(node):
        if (isinstance(inner, nodes.Compare) and inner.sign == "==") or isinstance(inner, finite):
            continue
        return "it calculates"
    return None


# ----------------------------------------------------------------------------------------- latches


def enabled(logic: Logic, vector: Vector) -> Vector:
    """Which latches may be set after these are."""
    on = dict(zip(logic.latches, vector, strict=True))
    return tuple(
        all(map(on.get, rule.after)) and not any(map(on.get, rule.unless))
        for rule in logic.latches.values()
    )


def advance(logic: Logic, vector: Vector, conditions: Vector) -> Vector:
    """The latches after a closed bar on which these conditions held."""
    able = enabled(logic, vector)
    return tuple(
        was or (may and holds) for was, may, holds in zip(vector, able, conditions, strict=True)
    )


def condition_codes(world: World) -> Array:
    """The conditions of all latches in every completion, as the bits of one number."""
    codes = world.nothing.astype(np.int16)
    for n, rule in enumerate(world.logic.latches.values()):
        codes = codes | (world.holds(rule.set).astype(np.int16) << n)
    return codes


def bits(code: int, count: int) -> Vector:
    return tuple(bool(code >> n & 1) for n in range(count))


def steps(logic: Logic, conditions: Sequence[Vector]) -> Iterator[tuple[Vector, Vector, Vector]]:
    """Every step of the latches that can be reached: from, conditions, to.

    The first come from all latches unset, before the first bar of an epoch.
    """
    start: Vector = (False,) * len(logic.latches)
    pending, seen = [start], {start}
    while pending:
        vector = pending.pop()
        for held in conditions:
            after = advance(logic, vector, held)
            yield vector, held, after
            if after not in seen:
                seen.add(after)
                pending.append(after)
