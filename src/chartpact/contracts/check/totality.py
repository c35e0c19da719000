"""The proof that a machine is total and exclusive.

A machine observes values that each have a closed list: a condition is true or false, a choice has
its options, and what may be absent can also be `absent`. The product of these lists is finite, so
the proof lists it. Each row of the machine speaks of some combinations. The proof goes through all
of them and asks which rows speak:

- none: the machine is not total. `otherwise` is the row for these, if there is one.
- one state: the combination is decided.
- several rows, all of them violations: all of them are reported.
- several rows with a state among them: the machine is not exclusive.

A row that decides no combination is refused as well, since its author meant something by it. Some
combinations cannot occur, such as an element that is absent while one of its fields is not; they
need no row. What is listed becomes the table that a reading looks its observations up in, so that
the proof and the execution are the same data.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from chartpact.contracts.check.elements import ElementPlan
from chartpact.contracts.language.document import ContractPath, suggestion
from chartpact.contracts.language.model import Machine
from chartpact.contracts.language.nodes import Expression, Mention

MAX_COMBINATIONS = 65_536
MAX_WORK = 300_000  # combinations listed for all rows of all machines of a contract
ABSENT = "absent"
OTHERWISE = "otherwise"  # as the `when` of a row: whatever no other row speaks of

Combination = tuple[Any, ...]
Decision = tuple[Any, ...]  # a state and its columns, or refusals


@dataclass(frozen=True)
class MachineRefusal:
    """A row that refuses: its name, the kind of violation, and what it says."""

    name: str
    kind: str
    say: str


class TotalityProof:
    """Proves the truth tables of one file, which share the work that a proof may take."""

    def __init__(self, problem: Callable[[ContractPath, str, str], None]) -> None:
        self.problem, self._work = problem, 0

    def prove(
        self,
        place: ContractPath,
        domains: Mapping[str, tuple[Any, ...]],
        rows: Mapping[str, tuple[str, Any]],
        states: Collection[str],
        impossible: Callable[[Combination], bool] = lambda _: False,
    ) -> dict[Combination, list[str]]:
        """The rows that speak of each combination of observations; the undecided are problems.

        Of each row, `rows` has the word under which its condition stands, if any, and the
        condition. Of `states` one alone may speak of a combination; several other rows may.
        """
        if not all(domains.values()) or not domains:
            return {}
        alternatives = list(self._alternatives(place, domains, rows))
        count = prod(map(len, domains.values()))
        self._work += count + sum(prod(map(len, allowed)) for _, allowed in alternatives)
        if count > MAX_COMBINATIONS or self._work > MAX_WORK:
            message = f"{count} combinations of observations are too many to list"
            hint = f"observe less; at most {MAX_COMBINATIONS}, and not in many machines"
            self.problem((*place, "observe"), message, hint)
            return {}
        table: dict[Combination, list[str]] = {}
        rest = self._rest(place, rows)
        said: dict[Combination, dict[str, None]] = {}
        for row, allowed in alternatives:
            for values in product(*allowed):
                said.setdefault(values, {})[row] = None
        silent: list[Combination] = []
        torn: list[tuple[Combination, list[str]]] = []
        for values in product(*domains.values()):
            if impossible(values):
                continue
            names = list(said.get(values, rest))
            if not names:
                silent.append(values)
            elif len(names) > 1 and {*names} & {*states}:
                torn.append((values, names))
            else:
                table[values] = names
        at = (*place, "rows")
        more = f" (and {len(silent) - 3} more)" if len(silent) > 3 else ""
        kinds = "a state or a violation" if len(states) < len(rows) else "or `otherwise`"
        for values in silent[:3]:
            message = f"{combination(domains, values)}: nothing is said{more}"
            self.problem(at, message, f"add a row for it, {kinds}")
        for values, names in torn[:3]:
            message = f"{combination(domains, values)}: {' and '.join(names)} both hold"
            hint = "each combination belongs to one state, or to violations only"
            self.problem((*at, names[1]), message, hint)
        decided = {name for names in table.values() for name in names}
        for name in rows:
            if name not in decided and not silent and not torn:
                message = f"{name} never decides anything"
                self.problem((*at, name), message, "remove it, or mend its when")
        return table

    def _rest(self, place: ContractPath, rows: Mapping[str, tuple[str, Any]]) -> list[str]:
        """The row for whatever no other row speaks of, if there is one."""
        names = [name for name, (_, when) in rows.items() if when == OTHERWISE]
        for name in names[1:]:
            at = _place(place, name, rows)
            self.problem(at, f"{names[0]} is for everything else already", "keep one")
        return names[:1]

    def _alternatives(
        self,
        place: ContractPath,
        domains: Mapping[str, tuple[Any, ...]],
        rows: Mapping[str, tuple[str, Any]],
    ) -> Iterator[tuple[str, list[frozenset[Any]]]]:
        """For each map of a row's condition, the row and the values each observation may have."""
        for name, (_, said) in rows.items():
            at = _place(place, name, rows)
            for when in () if said == OTHERWISE else said if isinstance(said, list) else [said]:
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
                        frozenset(self.parse_values(asked, when[asked], values, at))
                        if asked in when
                        else frozenset(values)
                        for asked, values in domains.items()
                    ],
                )

    def parse_values(
        self, name: str, written: Any, values: tuple[Any, ...], place: ContractPath
    ) -> Iterator[Any]:
        """The values of a closed list that are written at a place: one of them, or several."""
        for word in written if isinstance(written, list) else [written]:
            value = None if word == ABSENT and None in values else word
            if any(value == known and type(value) is type(known) for known in values):
                yield value
            else:
                shown = ", ".join(map(spell, values))
                self.problem(place, f"{name} is never {word!r:.60}", f"it is one of {shown}")


def _place(place: ContractPath, name: str, rows: Mapping[str, tuple[str, Any]]) -> ContractPath:
    word = rows[name][0]
    return (*place, "rows", name, word) if word else (*place, "rows", name)


def prove_machine(
    proof: TotalityProof,
    spec: Machine,
    observed: Mapping[str, Expression],
    columns: Sequence[str],
    place: ContractPath,
    elements: Mapping[str, ElementPlan],
) -> dict[Combination, Decision]:
    """What one machine decides for each combination; whatever is undecided is a problem."""
    domains = {name: rule.kind.domain or () for name, rule in observed.items()}
    rows = {name: ("when", row.when) for name, row in spec.rows.items()}
    states = [name for name, row in spec.rows.items() if row.violation is None]
    table = proof.prove(place, domains, rows, states, _half_absent(observed, elements))
    return {values: _decide(spec, columns, names) for values, names in table.items()}


def _decide(spec: Machine, columns: Sequence[str], names: list[str]) -> Decision:
    """The result of each combination: a state and its columns, or refusals."""
    rows = {name: spec.rows[name] for name in names}
    first = rows[names[0]]
    if first.violation is None:
        return (names[0], *((first.give or {}).get(column) for column in columns))
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
