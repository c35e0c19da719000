"""What decides: state machines, and the edge cases in which a reading is refused.

A machine is a truth table over finite observations, proved total and exclusive by listing. It runs
once for each instance of the element of its name; where there is none, once a reading.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

from chartpact.checks import is_number
from chartpact.contracts.document import Place, suggestion
from chartpact.contracts.elements import INFORMATIONAL, SHIFTING, Context, ElementPlan
from chartpact.contracts.model import EdgeCase, Machine
from chartpact.contracts.nodes import Expression, Mention, unchecked
from chartpact.contracts.values import (
    BOOL,
    NONE,
    NUMBER,
    OWNER,
    UNKNOWN,
    Item,
    Kind,
    Location,
    Scope,
    Shape,
    Slot,
    Value,
    enum,
)

MAX_COMBINATIONS = 65_536
MAX_WORK = 1_000_000  # combinations listed for all rows of all machines of a contract
FORGET = "forget"
ABSENT = "absent"

Combination = tuple[Any, ...]


@dataclass(frozen=True)
class Refusal:
    """A row that refuses: its name, the kind of violation, and what it says."""

    name: str
    kind: str
    say: str


@dataclass
class MachinePlan:
    """A checked machine: what it observes, and what it decides for every combination of that."""

    name: str
    spec: Machine
    element: str | None  # of which instances it runs
    observed: Mapping[str, Expression]
    states: tuple[str, ...]
    columns: tuple[str, ...] = ()
    epoch: Expression | None = None
    table: dict[Combination, tuple[Any, ...] | tuple[Refusal, ...]] = field(default_factory=dict)

    def expressions(self) -> Iterator[Expression]:
        yield from self.observed.values()
        yield from [self.epoch] if self.epoch is not None else []

    @cached_property
    def uses(self) -> frozenset[str]:
        """The elements and machines on which it depends."""
        own = frozenset([self.element] if self.element is not None else [])
        return own.union(*(rule.elements for rule in self.expressions()))


@dataclass(frozen=True)
class _Alternative:
    """One map of a row's `when`: for each observation the values it may have."""

    row: str
    allowed: tuple[frozenset[Any], ...]


class MachineChecker:
    """Checks one machine after the other; each may refer to earlier ones."""

    def __init__(self, context: Context) -> None:
        self.context, self.problem, self.elements = context, context.problem, context.elements
        self.done: dict[str, MachinePlan] = {}
        self._work = 0

    def values(self) -> dict[str, Value]:
        """The machines of the reading, by name."""
        return {
            name: Value(Kind("element", shape=name), Slot("machine", name))
            for name, plan in self.done.items()
            if plan.element is None
        }

    def check(self, name: str, spec: Machine, scope: Scope) -> None:
        place: Place = ("states", name)
        context, problem, element = self.context, self.problem, self.elements.get(name)
        if element is not None and element.ignored:
            problem(place, f"{name!r} is ignored, so it has no states", "remove the machine")
            return
        if element is not None and element.key is None:
            message = "an element with states needs a key"
            problem(("elements", name), message, "write key: [x1.time]")
        if element is not None and element.role == INFORMATIONAL:
            message = f"{name!r} is informational and cannot decide"
            problem(place, message, "make its channel a signal")
        if element is None and spec.gone is not None:
            problem((*place, "gone"), "only instances of an element can be gone", "remove it")
        scope = scope.with_names(self.values())
        if element is not None:
            scope = context.inside(name, scope)
        observed = {
            asked: self._observe(asked, text, (*place, "observe", asked), scope)
            for asked, text in spec.observe.items()
        }
        if not observed:
            problem((*place, "observe"), "a machine observes something", "observe: {a: …}")
        states = tuple(state for state, row in spec.rows.items() if row.violation is None)
        plan = MachinePlan(name, spec, element.name if element else None, observed, states)
        self._rows(plan, place)
        self._steps(plan, place)
        self._prove(plan, place)
        if spec.epoch is not None:
            plan.epoch = self._epoch(spec.epoch, (*place, "epoch"), scope)
        self._put_columns(plan, element, place)
        self.done[name] = plan

    def _observe(self, name: str, text: str, place: Place, scope: Scope) -> Expression:
        rule = self.context.check(text, place, scope)
        if rule.kind.known and rule.kind.domain is None:
            message = f"{name} is {rule.kind}: it has no closed list of values"
            self.problem(place, message, "observe a condition, an encoding, a choice or a state")
        self.context.want_signals(rule.elements, place, "observe a signal")
        return rule

    def _epoch(self, text: str, place: Place, scope: Scope) -> Expression:
        rule = self.context.check(text, place, scope)
        self.context.want(rule, place, "time", "number", "text", "enum", "bool", nullable=True)
        if rule.unstable:
            self.problem(place, SHIFTING, "use .time")
        return rule

    # ------------------------------------------------------------------------------ rows and steps

    def _rows(self, plan: MachinePlan, place: Place) -> None:
        columns: tuple[str, ...] | None = None
        for name, row in plan.spec.rows.items():
            at = (*place, "rows", name)
            if row.violation is not None:
                if row.give is not None:
                    self.problem((*at, "give"), "a violation gives nothing", "remove it")
                continue
            if row.say is not None:
                self.problem((*at, "say"), "a state says nothing", "remove it")
            given = tuple(row.give or ())
            if columns is None:
                columns = given
            elif set(given) != set(columns):
                differs = sorted(set(given) ^ set(columns))
                self.problem(
                    at,
                    f"{name} gives other columns than the states before it: {', '.join(differs)}",
                    "every state gives the same columns",
                )
        plan.columns = columns or ()
        if not plan.states:
            self.problem((*place, "rows"), "there is no state", "add a row without violation")

    def _steps(self, plan: MachinePlan, place: Place) -> None:
        spec, known = plan.spec, list(plan.states)
        if spec.gone not in (None, FORGET):
            known.append(str(spec.gone))
        for i, state in enumerate(spec.initial):
            if state not in plan.states:
                self.problem(
                    (*place, "initial", i), f"{state!r} is not a state", suggestion(state, known)
                )
        for state, nexts in spec.transitions.items():
            at = (*place, "transitions", state)
            for name in (state, *nexts):
                if name not in known:
                    self.problem(at, f"{name!r} is not a state", suggestion(name, known))
            if state == spec.gone and nexts:
                self.problem(at, "nothing comes after what is gone", "remove it")
        reached = _reached(spec.initial, spec.transitions)
        for state in known:
            if state not in reached:
                hint = "add it to initial, or a transition to it"
                self.problem((*place, "transitions"), f"{state} is never reached", hint)

    # --------------------------------------------------------------------------------- the proof

    def _prove(self, plan: MachinePlan, place: Place) -> None:
        domains = {name: rule.kind.domain or () for name, rule in plan.observed.items()}
        if not all(domains.values()) or not domains:
            return
        alternatives = list(self._alternatives(plan, domains, place))
        count = prod(len(values) for values in domains.values())
        listed = sum(prod(map(len, alternative.allowed)) for alternative in alternatives)
        self._work += count + listed
        if count > MAX_COMBINATIONS or self._work > MAX_WORK:
            self.problem(
                (*place, "observe"),
                f"{count} combinations of observations are too many to list",
                f"observe less; at most {MAX_COMBINATIONS}, and not in many machines",
            )
            return
        said: dict[Combination, dict[str, None]] = {}
        for alternative in alternatives:
            for values in product(*alternative.allowed):
                said.setdefault(values, {})[alternative.row] = None
        impossible = _half_absent(plan.observed, self.elements)
        decided: set[str] = set()
        silent: list[Combination] = []
        torn: list[tuple[Combination, list[str]]] = []
        for values in product(*domains.values()):
            if impossible(values):
                continue
            rows = list(said.get(values, ()))
            states = [name for name in rows if name in plan.states]
            if not rows:
                silent.append(values)
            elif states and len(rows) > 1:
                torn.append((values, rows))
            else:
                decided |= set(rows)
                plan.table[values] = tuple(self._verdict(plan, rows))
        self._report(plan, silent, torn, decided, place)

    def _verdict(self, plan: MachinePlan, rows: list[str]) -> Iterator[Any]:
        first = plan.spec.rows[rows[0]]
        if first.violation is None:
            yield rows[0]
            yield from ((first.give or {}).get(column) for column in plan.columns)
            return
        for name in rows:
            row = plan.spec.rows[name]
            yield Refusal(name, str(row.violation), row.say or "")

    def _report(
        self,
        plan: MachinePlan,
        silent: list[Combination],
        torn: list[tuple[Combination, list[str]]],
        decided: set[str],
        place: Place,
    ) -> None:
        at = (*place, "rows")
        for values in silent[:3]:
            more = f" (and {len(silent) - 3} more)" if len(silent) > 3 else ""
            message = f"{combination(plan.observed, values)}: nothing is said{more}"
            self.problem(at, message, "add a row for it, a state or a violation")
        for values, rows in torn[:3]:
            self.problem(
                (*at, rows[1]),
                f"{combination(plan.observed, values)}: {' and '.join(rows)} both hold",
                "each combination belongs to one state, or to violations only",
            )
        if silent or torn:
            return
        for name in plan.spec.rows:
            if name not in decided:
                self.problem(
                    (*at, name), f"{name} never decides anything", "remove it, or mend its when"
                )

    def _alternatives(
        self, plan: MachinePlan, domains: Mapping[str, tuple[Any, ...]], place: Place
    ) -> Iterator[_Alternative]:
        for name, row in plan.spec.rows.items():
            at = (*place, "rows", name, "when")
            for when in row.when if isinstance(row.when, list) else [row.when]:
                if not isinstance(when, dict):
                    self.problem(at, f"{when!r:.60} is not a mapping", "write {observation: value}")
                    continue
                yield _Alternative(name, tuple(self._allowed(when, domains, at)))

    def _allowed(
        self, when: Mapping[str, Any], domains: Mapping[str, tuple[Any, ...]], place: Place
    ) -> Iterator[frozenset[Any]]:
        for name in when:
            if name not in domains:
                self.problem(place, f"{name!r} is not observed", suggestion(name, list(domains)))
        for name, values in domains.items():
            if name not in when:
                yield frozenset(values)
                continue
            listed = when[name] if isinstance(when[name], list) else [when[name]]
            yield frozenset(self._values(name, listed, values, place))

    def _values(
        self, name: str, listed: Iterable[Any], values: tuple[Any, ...], place: Place
    ) -> Iterator[Any]:
        for written in listed:
            value = None if written == ABSENT and None in values else written
            if any(value == known and type(value) is type(known) for known in values):
                yield value
            else:
                shown = ", ".join(map(_word, values))
                self.problem(place, f"{name} is never {written!r:.60}", f"it is one of {shown}")

    # --------------------------------------------------------------------------------- its names

    def _put_columns(self, plan: MachinePlan, element: ElementPlan | None, place: Place) -> None:
        """Gives the state and its columns to the element, or to the machine's own name."""
        shapes = self.context.vocabulary.shapes
        shape = shapes[plan.name] if element is not None else Shape()
        shapes[plan.name] = shape
        row: Location = Item(OWNER, element.row) if element is not None else OWNER
        shape.put("state", Value(enum(plan.states), Item(row, 0)))
        states = [plan.spec.rows[state].give or {} for state in plan.states]
        for i, column in enumerate(plan.columns, start=1):
            kind = self._column_kind(column, [give.get(column) for give in states], place)
            shape.put(column, Value(kind, Item(row, i)))

    def _column_kind(self, column: str, values: list[Any], place: Place) -> Kind:
        given = [value for value in values if value is not None]
        kind = UNKNOWN
        if all(isinstance(value, bool) for value in given):
            kind = BOOL
        elif all(map(is_number, given)):
            kind = NUMBER
        elif all(isinstance(value, str) for value in given):
            kind = enum(given)
        else:
            message = f"{column} is given values of different kinds"
            self.problem((*place, "rows"), message, "give texts, numbers, or true and false")
        if not given:
            kind = NONE
        return kind.or_none() if len(given) < len(values) else kind


def combination(names: Iterable[str], values: Combination) -> str:
    """Observations in words."""
    pairs = zip(names, map(_word, values), strict=True)
    return ", ".join(f"{name} = {value}" for name, value in pairs)


def _word(value: Any) -> str:
    if value is None:
        return ABSENT
    return str(value).lower() if isinstance(value, bool) else str(value)


def _half_absent(
    observed: Mapping[str, Expression], elements: Mapping[str, ElementPlan]
) -> Callable[[Combination], bool]:
    """Tells combinations that cannot occur: one optional element there and not there at once.

    `e.x` is absent exactly when `e` is, where `x` itself is never none; where `x` may be none, it
    still cannot be there when `e` is not.
    """
    exact: dict[str, list[int]] = {}
    loose: dict[str, list[int]] = {}
    for at, rule in enumerate(observed.values()):
        node = rule.node
        if not isinstance(node, Mention) or len(node.names) < 2:
            continue
        element = elements.get(node.named or "")
        if element is not None and element.single and element.may_lack:
            never_none = len(node.names) == 2 and not node.value.kind.nullable
            (exact if never_none else loose).setdefault(element.name, []).append(at)

    def impossible(values: Combination) -> bool:
        for name, places in exact.items():
            gone = [values[at] is None for at in places]
            if any(gone) != all(gone):
                return True
            if all(gone) and any(values[at] is not None for at in loose.get(name, ())):
                return True
        return False

    return impossible


def _reached(initial: Iterable[str], transitions: Mapping[str, Iterable[str]]) -> set[str]:
    """The states that some way leads to."""
    reached = set(initial)
    pending = list(reached)
    while pending:
        fresh = set(transitions.get(pending.pop(), ())) - reached
        reached |= fresh
        pending += fresh
    return reached


# -------------------------------------------------------------------------------------- edge cases


@dataclass(frozen=True)
class EdgePlan:
    """A checked edge case."""

    name: str
    spec: EdgeCase
    when: Expression

    @cached_property
    def uses(self) -> frozenset[str]:
        """The elements and machines on which it depends."""
        return self.when.elements.union([self.spec.each] if self.spec.each is not None else [])


def check_edge(context: Context, name: str, spec: EdgeCase, scope: Scope) -> EdgePlan:
    place = ("edge_cases", name)
    at = (*place, "when")
    if spec.each is not None:
        owner = context.element(spec.each, (*place, "each"))
        if owner is None:
            return EdgePlan(name, spec, unchecked(spec.when))
        scope = context.inside(owner.name, scope)
    plan = EdgePlan(name, spec, context.check(spec.when, at, scope, condition=True))
    context.want_signals(plan.uses, at, "look at a signal")
    if spec.violation == "config" and (plan.uses or plan.when.needs or plan.when.chart):
        context.problem(at, "a case of kind config looks at the config only", "choose another kind")
    return plan
