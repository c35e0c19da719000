"""State machines, and the edge cases in which a reading is refused.

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
from chartpact.contracts.check.elements import SHIFTING, Context, ElementPlan
from chartpact.contracts.language.document import ContractPath, suggestion
from chartpact.contracts.language.model import EdgeCase, Machine
from chartpact.contracts.language.nodes import Expression, Mention, unchecked_expression
from chartpact.contracts.language.values import (
    BOOL,
    NONE,
    NUMBER,
    OWNER,
    UNKNOWN,
    FieldNames,
    Item,
    Kind,
    Location,
    NameScope,
    Slot,
    Value,
    enum,
)

MAX_COMBINATIONS = 65_536
MAX_WORK = 300_000  # combinations listed for all rows of all machines of a contract
FORGET = "forget"
ABSENT = "absent"
OTHERWISE = "otherwise"  # as the `when` of a row: whatever no other row speaks of

Combination = tuple[Any, ...]


@dataclass(frozen=True)
class MachineRefusal:
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
    table: dict[Combination, tuple[Any, ...]] = field(default_factory=dict)  # a row, or refusals

    def expressions(self) -> Iterator[Expression]:
        yield from self.observed.values()
        yield from [self.epoch] if self.epoch is not None else []

    @cached_property
    def uses(self) -> frozenset[str]:
        """The elements and machines on which it depends."""
        own = frozenset([self.element] if self.element is not None else [])
        return own.union(*(rule.elements for rule in self.expressions()))


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

    def check(self, name: str, spec: Machine, scope: NameScope) -> None:
        place: ContractPath = ("states", name)
        context, problem, element = self.context, self.problem, self.elements.get(name)
        if element is not None and element.ignored:
            problem(place, f"{name!r} is ignored, so it has no states", "remove the machine")
            return
        scope = scope.with_names(self.values())
        if element is not None:
            scope = context.inside(name, scope)
            context.want_signals([name], place, "make its channel a signal")
            if element.key is None:
                message = "an element with states needs a key"
                problem(("elements", name), message, "write key: [x1.time]")
        elif spec.gone is not None:
            problem((*place, "gone"), "only instances of an element can be gone", "remove it")
        observed = {}
        for observation, text in spec.observe.items():
            at = (*place, "observe", observation)
            rule = observed[observation] = context.check(text, at, scope)
            if rule.kind.known and rule.kind.domain is None:
                message = f"{observation} is {rule.kind}: it has no closed list of values"
                problem(at, message, "observe a condition, an encoding, a choice or a state")
            context.want_signals(rule.elements, at, "observe a signal")
        if not observed:
            problem((*place, "observe"), "a machine observes something", "observe: {a: …}")
        states = tuple(state for state, row in spec.rows.items() if row.violation is None)
        plan = MachinePlan(name, spec, element.name if element else None, observed, states)
        self._rows(plan, place)
        self._steps(plan, place)
        self._prove(plan, place)
        if spec.epoch is not None:
            at = (*place, "epoch")
            plan.epoch = context.check(spec.epoch, at, scope)
            kinds = ("time", "number", "text", "enum", "bool")
            context.want(plan.epoch, at, *kinds, nullable=True)
            if plan.epoch.unstable:
                problem(at, SHIFTING, "use .time")
        self._put_columns(plan, element, place)
        self.done[name] = plan

    # ------------------------------------------------------------------------------ rows and steps

    def _rows(self, plan: MachinePlan, place: ContractPath) -> None:
        columns: tuple[str, ...] | None = None
        for name, row in plan.spec.rows.items():
            at, names = (*place, "rows", name), tuple(row.give or ())
            if row.violation is not None:
                if row.give is not None:
                    self.problem((*at, "give"), "a violation gives nothing", "remove it")
                continue
            if row.say is not None:
                self.problem((*at, "say"), "a state says nothing", "remove it")
            if columns is None:
                columns = names
            elif differs := sorted({*names} ^ {*columns}):
                message = f"{name} gives other columns than the states before it: "
                message += ", ".join(differs)
                self.problem(at, message, "every state gives the same columns")
        plan.columns = columns or ()
        if not plan.states:
            self.problem((*place, "rows"), "there is no state", "add a row without violation")

    def _steps(self, plan: MachinePlan, place: ContractPath) -> None:
        spec, known = plan.spec, list(plan.states)
        if spec.gone not in (None, FORGET):
            known.append(str(spec.gone))
        for i, state in enumerate(spec.initial):
            if state not in plan.states:
                at = (*place, "initial", i)
                self.problem(at, f"{state!r} is not a state", suggestion(state, known))
        for state, nexts in spec.transitions.items():
            at = (*place, "transitions", state)
            for name in (state, *nexts):
                if name not in known:
                    self.problem(at, f"{name!r} is not a state", suggestion(name, known))
            if state == spec.gone and nexts:
                self.problem(at, "nothing comes after what is gone", "remove it")
        reached, pending = {*spec.initial}, [*spec.initial]
        while pending:
            fresh = {*spec.transitions.get(pending.pop(), ())} - reached
            reached |= fresh
            pending += fresh
        for state in known:
            if state not in reached:
                hint = "add it to initial, or a transition to it"
                self.problem((*place, "transitions"), f"{state} is never reached", hint)

    # --------------------------------------------------------------------------------- the proof

    def _prove(self, plan: MachinePlan, place: ContractPath) -> None:
        """Lists all combinations of observations with the rows that speak of each."""
        domains = {name: rule.kind.domain or () for name, rule in plan.observed.items()}
        if not all(domains.values()) or not domains:
            return
        alternatives = list(self._alternatives(plan, domains, place))
        count = prod(map(len, domains.values()))
        self._work += count + sum(prod(map(len, allowed)) for _, allowed in alternatives)
        if count > MAX_COMBINATIONS or self._work > MAX_WORK:
            message = f"{count} combinations of observations are too many to list"
            hint = f"observe less; at most {MAX_COMBINATIONS}, and not in many machines"
            self.problem((*place, "observe"), message, hint)
            return
        rest = self._rest(plan, place)
        said: dict[Combination, dict[str, None]] = {}
        for row, allowed in alternatives:
            for values in product(*allowed):
                said.setdefault(values, {})[row] = None
        impossible = _half_absent(plan.observed, self.elements)
        decided: set[str] = set()
        silent: list[Combination] = []
        torn: list[tuple[Combination, list[str]]] = []
        for values in product(*domains.values()):
            if impossible(values):
                continue
            rows = list(said.get(values, rest))
            if not rows:
                silent.append(values)
            elif len(rows) > 1 and {*rows} & {*plan.states}:
                torn.append((values, rows))
            else:
                decided |= {*rows}
                plan.table[values] = _verdict(plan, rows)
        at = (*place, "rows")
        more = f" (and {len(silent) - 3} more)" if len(silent) > 3 else ""
        for values in silent[:3]:
            message = f"{combination(plan.observed, values)}: nothing is said{more}"
            self.problem(at, message, "add a row for it, a state or a violation")
        for values, rows in torn[:3]:
            message = f"{combination(plan.observed, values)}: {' and '.join(rows)} both hold"
            hint = "each combination belongs to one state, or to violations only"
            self.problem((*at, rows[1]), message, hint)
        for name in plan.spec.rows:
            if name not in decided and not silent and not torn:
                message = f"{name} never decides anything"
                self.problem((*at, name), message, "remove it, or mend its when")

    def _rest(self, plan: MachinePlan, place: ContractPath) -> list[str]:
        """The row for whatever no other row speaks of, if there is one."""
        names = [name for name, row in plan.spec.rows.items() if row.when == OTHERWISE]
        for name in names[1:]:
            message = f"{names[0]} is for everything else already"
            self.problem((*place, "rows", name, "when"), message, "keep one")
        return names[:1]

    def _alternatives(
        self, plan: MachinePlan, domains: Mapping[str, tuple[Any, ...]], place: ContractPath
    ) -> Iterator[tuple[str, list[frozenset[Any]]]]:
        """For each map of a row's `when`, the row and the values each observation may have."""
        for name, row in plan.spec.rows.items():
            at = (*place, "rows", name, "when")
            for when in row.alternatives if row.when != OTHERWISE else ():
                if not isinstance(when, dict):
                    self.problem(at, f"{when!r:.60} is not a mapping", "write {observation: value}")
                    continue
                for asked in when:
                    if asked not in domains:
                        hint = suggestion(asked, list(domains))
                        self.problem(at, f"{asked!r} is not observed", hint)
                yield (
                    name,
                    [
                        frozenset(self._parse_values(asked, when[asked], values, at))
                        if asked in when
                        else frozenset(values)
                        for asked, values in domains.items()
                    ],
                )

    def _parse_values(
        self, name: str, written: Any, values: tuple[Any, ...], place: ContractPath
    ) -> Iterator[Any]:
        for word in written if isinstance(written, list) else [written]:
            value = None if word == ABSENT and None in values else word
            if any(value == known and type(value) is type(known) for known in values):
                yield value
            else:
                shown = ", ".join(map(spell, values))
                self.problem(place, f"{name} is never {word!r:.60}", f"it is one of {shown}")

    # --------------------------------------------------------------------------------- its names

    def _put_columns(
        self, plan: MachinePlan, element: ElementPlan | None, place: ContractPath
    ) -> None:
        """Gives the state and its columns to the element, or to the machine's own name."""
        shapes = self.context.vocabulary.shapes
        shape = shapes[plan.name] if element is not None else FieldNames()
        shapes[plan.name] = shape
        row: Location = Item(OWNER, element.row) if element is not None else OWNER
        shape.put("state", Value(enum(plan.states), Item(row, 0)))
        states = [plan.spec.rows[state].give or {} for state in plan.states]
        for i, column in enumerate(plan.columns, start=1):
            kind = self._column_kind(column, [give.get(column) for give in states], place)
            shape.put(column, Value(kind, Item(row, i)))

    def _column_kind(self, column: str, values: list[Any], place: ContractPath) -> Kind:
        present = [value for value in values if value is not None]
        kind = UNKNOWN
        if all(isinstance(value, bool) for value in present):
            kind = BOOL
        elif all(map(is_number, present)):
            kind = NUMBER
        elif all(isinstance(value, str) for value in present):
            kind = enum(present)
        else:
            message = f"{column} is given values of different kinds"
            self.problem((*place, "rows"), message, "give texts, numbers, or true and false")
        if not present:
            kind = NONE
        return kind.or_none() if len(present) < len(values) else kind


def _verdict(plan: MachinePlan, names: list[str]) -> tuple[Any, ...]:
    """The result of each combination: a state and its columns, or refusals."""
    rows = {name: plan.spec.rows[name] for name in names}
    first = rows[names[0]]
    if first.violation is None:
        return (names[0], *((first.give or {}).get(column) for column in plan.columns))
    return tuple(
        MachineRefusal(name, str(row.violation), row.say or "") for name, row in rows.items()
    )


def combination(names: Iterable[str], values: Combination) -> str:
    """Observations in words."""
    pairs = zip(names, map(spell, values), strict=True)
    return ", ".join(f"{name} = {value}" for name, value in pairs)


def spell(value: Any) -> str:
    """The value of an observation as a row of the table names it."""
    if value is None:
        return ABSENT
    return str(value).lower() if isinstance(value, bool) else str(value)


def _half_absent(
    observed: Mapping[str, Expression], elements: Mapping[str, ElementPlan]
) -> Callable[[Combination], bool]:
    """Tells combinations that cannot occur: one optional element there and not there at once.

    If `e` is absent, so is `e.x`. The converse holds only if `x` is never none.
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


def check_edge(context: Context, name: str, spec: EdgeCase, scope: NameScope) -> EdgePlan:
    place = ("edge_cases", name)
    at = (*place, "when")
    if spec.each is not None:
        owner = context.element(spec.each, (*place, "each"))
        if owner is None:
            return EdgePlan(name, spec, unchecked_expression())
        scope = context.inside(owner.name, scope)
    plan = EdgePlan(name, spec, context.check(spec.when, at, scope, condition=True))
    context.want_signals(plan.uses, at, "look at a signal")
    if spec.violation == "config" and (plan.uses or plan.when.needs or plan.when.chart):
        context.problem(at, "a case of kind config looks at the config only", "choose another kind")
    return plan
