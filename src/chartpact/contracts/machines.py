"""State machines: truth tables over finite observations, proved total and exclusive by listing.

A machine named like an element runs once for each of its instances, any other once a reading.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from chartpact.contracts.context import Context, path_of
from chartpact.contracts.document import Place
from chartpact.contracts.elements import INFORMATIONAL, ElementCode
from chartpact.contracts.errors import suggestion
from chartpact.contracts.expressions import Compiled
from chartpact.contracts.kinds import BOOL, NUMBER, UNKNOWN, Kind, domain, enum
from chartpact.contracts.model import Machine, Row
from chartpact.contracts.scope import NOTHING, OWNER, Needs, Scope, Shape, Value

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
class MachineCode:
    """A machine as the engine runs it."""

    name: str
    spec: Machine
    element: str | None  # of which instances it runs
    states: tuple[str, ...]
    columns: tuple[str, ...]
    shape: Shape
    table: dict[Combination, tuple[Any, ...] | tuple[Refusal, ...]] = field(default_factory=dict)
    uses: frozenset[str] = frozenset()
    needs: Needs = NOTHING
    tracking: Needs = NOTHING
    epoch: bool = False
    observed: Mapping[str, Kind] = field(default_factory=dict)

    def value(self) -> Value:
        return Value(Kind("element", shape=self.shape), f"s_{self.name}")


@dataclass(frozen=True)
class _Alternative:
    """One map of a row's `when`: for each observation the values it may have."""

    row: str
    allowed: tuple[frozenset[Any], ...]


class MachineCompiler:
    """Compiles one machine after the other; each may refer to earlier ones."""

    def __init__(self, context: Context, elements: Mapping[str, ElementCode]) -> None:
        self.context, self.elements = context, elements
        self.done: dict[str, MachineCode] = {}
        self._work = 0

    def values(self) -> dict[str, Value]:
        """The machines of the reading, by name."""
        return {name: each.value() for name, each in self.done.items() if each.element is None}

    def compile(self, name: str, spec: Machine, scope: Scope) -> None:
        place: Place = ("states", name)
        context, element = self.context, self.elements.get(name)
        if element is not None and element.ignored:
            context.problem(
                place, f"{name!r} is ignored, so it has no states", "remove the machine"
            )
            return
        if element is not None and not element.key:
            context.problem(
                ("elements", name), "an element with states needs a key", "write key: [x1.time]"
            )
        if element is not None and element.role == INFORMATIONAL:
            context.problem(
                place, f"{name!r} is informational and cannot decide", "make its channel a signal"
            )
        if element is None and spec.gone is not None:
            context.problem(
                (*place, "gone"), "only instances of an element can be gone", "remove it"
            )
        scope = scope.with_names(self.values())
        if element is not None:
            scope = Scope({**scope.names}).owned_by(element.shape, "i")
        observed = {
            each: self._observe(each, text, (*place, "observe", each), scope)
            for each, text in spec.observe.items()
        }
        if not observed:
            context.problem((*place, "observe"), "a machine observes something", "observe: {a: …}")
        states = tuple(each for each, row in spec.rows.items() if row.violation is None)
        machine = MachineCode(name, spec, element.name if element else None, states, (), Shape())
        machine.observed = {each: found.kind for each, found in observed.items()}
        machine.uses = frozenset().union(*(found.elements for found in observed.values()))
        machine.needs = frozenset().union(*(found.needs for found in observed.values()))
        self._rows(machine, place)
        self._steps(machine, place)
        self._prove(machine, observed, place)
        self._emit(machine, observed, scope, place)
        self._put_columns(machine, element, place)
        self.done[name] = machine

    def _observe(self, name: str, text: str, place: Place, scope: Scope) -> Compiled:
        found = self.context.expression(text, place, scope)
        if found.kind.known and domain(found.kind) is None:
            self.context.problem(
                place,
                f"{name} is {found.kind}: it has no closed list of values",
                "observe a condition, an encoding, a choice or a state",
            )
        for each in sorted(found.elements):
            element = self.elements.get(each)
            if element is not None and element.role == INFORMATIONAL:
                self.context.problem(
                    place, f"{each!r} is informational and cannot decide", "observe a signal"
                )
        return found

    # ------------------------------------------------------------------------------ rows and steps

    def _rows(self, machine: MachineCode, place: Place) -> None:
        columns: tuple[str, ...] | None = None
        for name, row in machine.spec.rows.items():
            at = (*place, "rows", name)
            if row.violation is not None:
                if row.give is not None:
                    self.context.problem((*at, "give"), "a violation gives nothing", "remove it")
                continue
            if row.say is not None:
                self.context.problem((*at, "say"), "a state says nothing", "remove it")
            given = tuple(row.give or ())
            if columns is None:
                columns = given
            elif set(given) != set(columns):
                differs = sorted(set(given) ^ set(columns))
                self.context.problem(
                    at,
                    f"{name} gives other columns than the states before it: {', '.join(differs)}",
                    "every state gives the same columns",
                )
        machine.columns = columns or ()
        if not machine.states:
            self.context.problem(
                (*place, "rows"), "there is no state", "add a row without violation"
            )

    def _steps(self, machine: MachineCode, place: Place) -> None:
        spec, known = machine.spec, list(machine.states)
        if spec.gone not in (None, FORGET):
            known.append(str(spec.gone))
        for i, state in enumerate(spec.initial):
            if state not in machine.states:
                self.context.problem(
                    (*place, "initial", i), f"{state!r} is not a state", suggestion(state, known)
                )
        for state, nexts in spec.transitions.items():
            at = (*place, "transitions", state)
            for each in (state, *nexts):
                if each not in known:
                    self.context.problem(at, f"{each!r} is not a state", suggestion(each, known))
            if state == spec.gone and nexts:
                self.context.problem(at, "nothing comes after what is gone", "remove it")
        reached = _reached(spec.initial, spec.transitions)
        for state in known:
            if state not in reached:
                self.context.problem(
                    (*place, "transitions"),
                    f"{state} is never reached",
                    "add it to initial, or a transition to it",
                )

    # --------------------------------------------------------------------------------- the proof

    def _prove(self, machine: MachineCode, observed: Mapping[str, Compiled], place: Place) -> None:
        domains = {name: domain(found.kind) for name, found in observed.items()}
        if any(values is None for values in domains.values()) or not domains:
            return
        sizes = {name: values or () for name, values in domains.items()}
        alternatives = list(self._alternatives(machine, sizes, place))
        count = prod(len(values) for values in sizes.values())
        listed = sum(prod(map(len, each.allowed)) for each in alternatives)
        self._work += count + listed
        if count > MAX_COMBINATIONS or self._work > MAX_WORK:
            self.context.problem(
                (*place, "observe"),
                f"{count} combinations of observations are too many to list",
                f"observe less; at most {MAX_COMBINATIONS}, and not in many machines",
            )
            return
        said: dict[Combination, dict[str, None]] = {}
        for each in alternatives:
            for values in product(*each.allowed):
                said.setdefault(values, {})[each.row] = None
        impossible = _half_absent(observed, self.elements)
        decided: set[str] = set()
        silent: list[Combination] = []
        torn: list[tuple[Combination, list[str]]] = []
        for values in product(*sizes.values()):
            if impossible(values):
                continue
            rows = list(said.get(values, ()))
            states = [name for name in rows if name in machine.states]
            if not rows:
                silent.append(values)
            elif states and len(rows) > 1:
                torn.append((values, rows))
            else:
                decided |= set(rows)
                machine.table[values] = tuple(self._verdict(machine, rows))
        self._report(machine, list(sizes), silent, torn, decided, place)

    def _verdict(self, machine: MachineCode, rows: list[str]) -> Iterator[Any]:
        first = machine.spec.rows[rows[0]]
        if first.violation is None:
            yield rows[0]
            yield from ((first.give or {}).get(column) for column in machine.columns)
            return
        for name in rows:
            row = machine.spec.rows[name]
            yield Refusal(name, str(row.violation), row.say or "")

    def _report(
        self,
        machine: MachineCode,
        names: list[str],
        silent: list[Combination],
        torn: list[tuple[Combination, list[str]]],
        decided: set[str],
        place: Place,
    ) -> None:
        at = (*place, "rows")
        for values in silent[:3]:
            more = f" (and {len(silent) - 3} more)" if len(silent) > 3 else ""
            self.context.problem(
                at,
                f"{combination(names, values)}: nothing is said{more}",
                "add a row for it, a state or a violation",
            )
        for values, rows in torn[:3]:
            self.context.problem(
                (*at, rows[1]),
                f"{combination(names, values)}: {' and '.join(rows)} both hold",
                "each combination belongs to one state, or to violations only",
            )
        if silent or torn:
            return
        for name in machine.spec.rows:
            if name not in decided:
                self.context.problem(
                    (*at, name), f"{name} never decides anything", "remove it, or mend its when"
                )

    def _alternatives(
        self, machine: MachineCode, domains: Mapping[str, tuple[Any, ...]], place: Place
    ) -> Iterator[_Alternative]:
        for name, row in machine.spec.rows.items():
            at = (*place, "rows", name, "when")
            for each in _maps(row):
                if not isinstance(each, dict):
                    self.context.problem(
                        at, f"{each!r:.60} is not a mapping", "write {observation: value}"
                    )
                    continue
                yield _Alternative(name, tuple(self._allowed(each, domains, at)))

    def _allowed(
        self, when: Mapping[str, Any], domains: Mapping[str, tuple[Any, ...]], place: Place
    ) -> Iterator[frozenset[Any]]:
        for name in when:
            if name not in domains:
                self.context.problem(
                    place, f"{name!r} is not observed", suggestion(name, list(domains))
                )
        for name, values in domains.items():
            if name not in when:
                yield frozenset(values)
                continue
            listed = when[name] if isinstance(when[name], list) else [when[name]]
            yield frozenset(self._values(name, listed, values, place))

    def _values(
        self, name: str, listed: Iterable[Any], values: tuple[Any, ...], place: Place
    ) -> Iterator[Any]:
        for each in listed:
            value = None if each == ABSENT and None in values else each
            if isinstance(value, dict | list) or not _among(value, values):
                shown = ", ".join("absent" if v is None else str(v).lower() if
                                  isinstance(v, bool) else str(v) for v in values)  # fmt: skip
                self.context.problem(
                    place, f"{name} is never {each!r:.60}", f"it is one of {shown}"
                )
                continue
            yield value

    # ------------------------------------------------------------------------------ code and names

    def _emit(
        self, machine: MachineCode, observed: Mapping[str, Compiled], scope: Scope, place: Place
    ) -> None:
        module, line = self.context.module, self.context.module.line
        free: frozenset[str] = frozenset().union(*(each.free for each in observed.values()))
        each_instance = machine.element is not None
        module.function(f"observe_{machine.name}", "items, S" if each_instance else "S", free)
        line("return [(" if each_instance else "return (")
        for name, found in observed.items():
            line(f"{found.code},", path_of((*place, "observe", name)), indent=2)
        line(") for i in items]" if each_instance else ")")
        if machine.spec.epoch is None:
            return
        at = (*place, "epoch")
        found = self.context.expression(machine.spec.epoch, at, scope)
        self.context.want(found, at, "time", "number", "text", "enum", "bool", nullable=True)
        if found.unstable:
            self.context.problem(
                at, "bar numbers and the order of anchors shift as history loads", "use .time"
            )
        machine.tracking |= found.needs
        machine.uses |= found.elements
        machine.epoch = True
        module.function(f"epoch_{machine.name}", "items, S" if each_instance else "S", found.free)
        line(f"return [{found.code} for i in items]" if each_instance else f"return {found.code}",
             path_of(at))  # fmt: skip

    def _put_columns(self, machine: MachineCode, element: ElementCode | None, place: Place) -> None:
        shape = element.shape if element is not None else machine.shape
        owner = f"{OWNER}[{element.row}]" if element is not None else OWNER
        shape.put("state", Value(enum(machine.states), f"{owner}[0]"))
        for i, column in enumerate(machine.columns):
            values = [
                (row.give or {}).get(column)
                for row in machine.spec.rows.values()
                if row.violation is None
            ]
            kind = self._column_kind(column, values, place)
            shape.put(column, Value(kind, f"{owner}[{i + 1}]"))

    def _column_kind(self, column: str, values: list[Any], place: Place) -> Kind:
        given = [value for value in values if value is not None]
        kind = UNKNOWN
        if all(isinstance(value, bool) for value in given):
            kind = BOOL
        elif all(isinstance(v, int | float) and not isinstance(v, bool) for v in given):
            kind = NUMBER
        elif all(isinstance(value, str) for value in given):
            kind = enum(given)
        else:
            self.context.problem(
                (*place, "rows"), f"{column} is given values of different kinds",
                "give texts, numbers, or true and false",
            )  # fmt: skip
        if not given:
            kind = Kind("none", nullable=True)
        return kind.or_none() if len(given) < len(values) else kind


def _maps(row: Row) -> list[Any]:
    return row.when if isinstance(row.when, list) else [row.when]


def _among(value: Any, values: tuple[Any, ...]) -> bool:
    """Membership that tells true from 1."""
    return any(value == each and type(value) is type(each) for each in values)


def combination(names: Iterable[str], values: Combination) -> str:
    """Observations in words."""

    def told(value: Any) -> str:
        if value is None:
            return ABSENT
        return str(value).lower() if isinstance(value, bool) else str(value)

    return ", ".join(f"{name} = {told(value)}" for name, value in zip(names, values, strict=True))


def _half_absent(observed: Mapping[str, Compiled], elements: Mapping[str, ElementCode]) -> Any:
    """Tells combinations that cannot occur: one optional element there and not there at once.

    `e.x` is absent exactly when `e` is, where `x` itself is never none; where `x` may be none, it
    still cannot be there when `e` is not.
    """
    exact: dict[str, list[int]] = {}
    loose: dict[str, list[int]] = {}
    for at, found in enumerate(observed.values()):
        names = found.text.strip().split(".")
        element = elements.get(names[0])
        if len(names) < 2 or element is None or not element.single or not element.may_lack:
            continue
        inside = element.shape.get(names[1])
        if inside is None or not all(name.isidentifier() for name in names):
            continue
        never_none = len(names) == 2 and not inside.kind.nullable
        (exact if never_none else loose).setdefault(names[0], []).append(at)

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
