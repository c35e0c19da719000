"""State machines, and the edge cases in which a reading is refused.

A machine is a truth table over finite observations; `totality` proves it. It runs once for each
instance of the element of its name; where there is none, once a reading.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from chartpact.checks import is_number
from chartpact.contracts.check.elements import SHIFTING, Context, ElementPlan
from chartpact.contracts.check.totality import Combination, Decision, TotalityProof, prove_machine
from chartpact.contracts.language.document import ContractPath, suggestion
from chartpact.contracts.language.model import EdgeCase, Machine
from chartpact.contracts.language.nodes import Expression, unchecked_expression
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

FORGET = "forget"


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
    table: dict[Combination, Decision] = field(default_factory=dict)

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
        self._proof = TotalityProof(context.problem)

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
        plan.table = prove_machine(self._proof, spec, observed, plan.columns, place, self.elements)
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
