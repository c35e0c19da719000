"""The changes between two versions of a contract, each a patch, a minor or a major one for readers.

Compiled models are compared, not texts: a rewording is a patch, an addition is minor, and anything
that may change or refuse a reading, or widen a closed list, is major. An id that disappears must be
reserved, so that it never comes back with another meaning.
"""

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from chartpact.contracts.check.contract import Contract, identifiers, output_ids, reserved_ids
from chartpact.contracts.check.elements import INFORMATIONAL, SIGNAL
from chartpact.contracts.check.machines import MachinePlan
from chartpact.contracts.check.outputs import Attached, AttachedList, Leaf, Many, Node, One
from chartpact.contracts.check.totality import MachineRefusal
from chartpact.contracts.language.document import ContractPath
from chartpact.contracts.language.model import (
    ConfigKey,
    ContractFile,
    EdgeCase,
    Element,
    FileSection,
    Row,
)
from chartpact.contracts.language.nodes import meaning
from chartpact.contracts.language.values import Kind

Words = Mapping[str, Any]  # the words of a section, or its entries by name

NONE, PATCH, MINOR, MAJOR = "none", "patch", "minor", "major"
_ORDER = (NONE, PATCH, MINOR, MAJOR)
_PROSE: Mapping[type[FileSection], tuple[str, ...]] = {
    ContractFile: ("notes",),
    ConfigKey: ("about",),
    Element: ("meaning", "changes"),
    Row: ("say",),
    EdgeCase: ("say",),
}


@dataclass(frozen=True)
class Change:
    """One difference: where, what, and its class."""

    path: str
    change: str
    level: str

    def to_json(self) -> dict[str, str]:
        return {"path": self.path, "change": self.change, "class": self.level}


@dataclass(frozen=True)
class Diff:
    """All differences between two versions, and the ids that went without being reserved."""

    old: str
    new: str
    changes: tuple[Change, ...]
    unreserved: tuple[str, ...]

    @property
    def level(self) -> str:
        return max((change.level for change in self.changes), key=_ORDER.index, default=NONE)

    @property
    def faults(self) -> Iterator[str]:
        """The faults of the new version: lost ids, and a number that hides a major change."""
        for name in self.unreserved:
            yield f"{name} disappeared or came back: list it in reserved"
        was, now = ([*map(int, version.split("."))] for version in (self.old, self.new))
        if self.level == MAJOR and now[: 1 if was[0] else 2] <= was[: 1 if was[0] else 2]:
            yield f"a major change needs another version than {self.new}: {self.next_version}"

    @property
    def ok(self) -> bool:
        return not any(self.faults)

    @property
    def next_version(self) -> str:
        """The least version that announces these changes."""
        major, minor, patch = map(int, self.old.split("."))
        return {
            NONE: self.old,
            PATCH: f"{major}.{minor}.{patch + 1}",
            MINOR: f"{major}.{minor + 1}.0",
            MAJOR: f"{major + 1}.0.0",
        }[self.level]

    def to_json(self) -> dict[str, Any]:
        return {
            "old": self.old,
            "new": self.new,
            "class": self.level,
            "next_version": self.next_version,
            "changes": [change.to_json() for change in self.changes],
            "unreserved": list(self.unreserved),
            "faults": list(self.faults),
            "ok": self.ok,
        }


def diff(old: Contract, new: Contract) -> Diff:
    """The differences from one contract to another."""
    changes = tuple(_Comparison(old, new).changes())
    return Diff(old.version, new.version, changes, tuple(_find_unreserved(old, new)))


def _find_unreserved(old: Contract, new: Contract) -> Iterator[str]:
    was, now = (identifiers(contract.file, contract.output) for contract in (old, new))
    reserved = reserved_ids(new.file)
    for section, ids in was.items():
        for steps in sorted(ids - now[section]):
            # reserved by its path, by its own name, or with what it stood in
            above = {steps[:n] for n in range(1, len(steps) + 1)}
            if not {*above, steps[-1:]} & set(reserved[section]):
                yield f"{section}.{'.'.join(steps)}"
    for section, paths in reserved_ids(old.file).items():
        for steps in paths:
            if steps in now[section] or steps not in reserved[section]:
                yield f"{section}.{'.'.join(steps)}"


# ---------------------------------------------------------------------------------------- sections


class _Comparison:
    """Two versions of a contract, and what their words mean."""

    def __init__(self, old: Contract, new: Contract) -> None:
        self.old, self.new = old, new
        self.was, self.now = (_meaning(contract, contract.file, ()) for contract in (old, new))

    def changes(self) -> Iterator[Change]:
        yield from self._identity()
        yield from self._entries("config", self._added_key, compare=self._words)
        if self.old.file.profiles != self.new.file.profiles:
            yield Change("profiles", "changed", PATCH)
        if self.old.file.timing != self.new.file.timing:
            yield Change("timing", f"became {self.new.file.timing}", MAJOR)
        if self.old.file.history != self.new.file.history:
            yield Change("history", f"became {self.new.file.history}", MINOR)
        yield from self._channels()
        yield from self._entries("encodings", lambda _: ("added", MINOR))
        yield from self._entries("elements", self._added_element, compare=self._words)
        was, now = self.was["elements"], self.now["elements"]
        if [name for name in was if name in now] != [name for name in now if name in was]:
            yield Change("elements", "reordered", PATCH)
        yield from self._entries("states", self._added_machine, compare=self._machine)
        refused = ("removed: what was refused is read", MINOR)
        yield from self._entries("edge_cases", lambda _: ("added: more is refused", MAJOR), refused)
        yield from self._output()
        yield from self._entries("events", lambda _: ("added", MINOR))
        was, now = (dict(_prose(contract.file, ())) for contract in (self.old, self.new))
        if any(was[place] != now[place] for place in was.keys() & now.keys()):
            yield Change("", "prose was reworded", PATCH)

    def _entries(
        self,
        section: str,
        added: Callable[[str], tuple[str, str]],
        removed: tuple[str, str] = ("removed", MAJOR),
        compare: Callable[[str, str], Iterator[Change]] | None = None,
    ) -> Iterator[Change]:
        """The entries of a section that went, those that came, and the changes of the others."""
        was, now = self.was[section], self.now[section]
        for name in was:
            if name not in now:
                yield Change(f"{section}.{name}", *removed)
        for name, words in now.items():
            if name not in was:
                yield Change(f"{section}.{name}", *added(name))
            elif compare is not None:
                yield from compare(section, name)
            elif was[name] != words:
                yield Change(f"{section}.{name}", "changed", MAJOR)

    def _identity(self) -> Iterator[Change]:
        was, now = self.old.file.identity, self.new.file.identity
        if self.old.name != self.new.name:
            yield Change("contract", f"{self.old.name} became {self.new.name}", MAJOR)
        if was.pine_title != now.pine_title:
            yield Change("identity.pine_title", f"{was.pine_title} became {now.pine_title}", MAJOR)
        for word in ("study_filter", "short_title"):
            if getattr(was, word) != getattr(now, word):
                yield Change(f"identity.{word}", "changed", PATCH)
        before, after = was.script_versions, now.script_versions
        if before != after:
            lost = after is not None and (
                before is None or not {*map(str, before)} <= {*map(str, after)}
            )
            message = "versions are refused that were known" if lost else "more versions are known"
            yield Change("identity.script_versions", message, MAJOR if lost else MINOR)

    def _added_key(self, name: str) -> tuple[str, str]:
        optional = self.new.file.config[name].has_default
        return ("added, optional", MINOR) if optional else ("added, required", MAJOR)

    def _added_element(self, name: str) -> tuple[str, str]:
        plan = self.new.elements[name]
        what = "ignored" if plan.ignored else plan.role
        return f"added, {what}", MINOR if what in ("ignored", INFORMATIONAL) else MAJOR

    def _added_machine(self, name: str) -> tuple[str, str]:
        refuses = any(row.violation for row in self.new.file.states[name].rows.values())
        return "added", MAJOR if refuses else MINOR

    def _channels(self) -> Iterator[Change]:
        was, now = self.old.file.channels, self.new.file.channels
        for channel in dict.fromkeys([*was, *now]):
            before, after = was.get(channel), now.get(channel)
            if before != after:
                # What had to be empty may now be drawn; nothing that was read is read otherwise.
                level = MINOR if before is None and after != SIGNAL else MAJOR
                message = f"{before or 'empty'} became {after or 'empty'}"
                yield Change(f"channels.{channel}", message, level)
        for channel, role in now.items():
            if role == SIGNAL:
                for need in sorted({*self.new.needs[channel]} - {*self.old.needs[channel]}):
                    yield Change(f"channels.{channel}", f"{need} is needed now", MAJOR)

    def _words(self, section: str, name: str) -> Iterator[Change]:
        before, after = self.was[section][name], self.now[section][name]
        for word in before:
            if before[word] != after[word]:
                yield Change(f"{section}.{name}.{word}", "changed", MAJOR)

    def _machine(self, section: str, name: str) -> Iterator[Change]:
        before, after = self.was[section][name], self.now[section][name]
        was, now, path = self.old.machines[name], self.new.machines[name], f"{section}.{name}"
        for word in ("initial", "transitions", "epoch", "gone"):
            if _ignore_order(before[word]) != _ignore_order(after[word]):
                yield Change(f"{path}.{word}", "changed", MAJOR)
        if before["observe"] != after["observe"] or _domains(was) != _domains(now):
            yield Change(f"{path}.observe", "changed", MAJOR)
        elif differs := ", ".join(sorted({*was.states} ^ {*now.states})):
            yield Change(f"{path}.rows", f"the states changed by {differs}", MAJOR)
        elif {*was.columns} != {*now.columns}:
            yield Change(f"{path}.rows", "the columns changed", MAJOR)
        else:
            yield from _rows(was, now, path)

    def _output(self) -> Iterator[Change]:
        before, after = output_ids(self.old.output), output_ids(self.new.output)
        for steps in before:
            if steps not in after:
                yield Change(f"output.{'.'.join(steps)}", "removed", MAJOR)
        for steps, node in after.items():
            path = f"output.{'.'.join(steps)}"
            if steps not in before:
                yield Change(path, "added", MINOR)
            elif _shape(before[steps]) != _shape(node):
                yield Change(path, "its type changed", MAJOR)
        common = before.keys() & after.keys()
        if _common(self.was["output"], common) != _common(self.now["output"], common):
            yield Change("output", "a value is computed otherwise", MAJOR)


def _rows(was: MachinePlan, now: MachinePlan, path: str) -> Iterator[Change]:
    """Combination by combination: what was refused may become a state that was there already."""
    opened = changed = reworded = False
    old, new = _table(was), _table(now)
    rows = {row[0]: row for row in old.values() if not isinstance(row[0], MachineRefusal)}
    for values, row in new.items():
        before = old.get(values)
        refused = before is not None and isinstance(before[0], MachineRefusal)
        if isinstance(row[0], MachineRefusal):
            same = refused and [r.kind for r in before or ()] == [r.kind for r in row]
            changed |= not same
            reworded |= same and before != row
        elif refused and rows.get(row[0]) == row:
            opened = True
        else:
            changed |= before != row
    if changed:
        yield Change(f"{path}.rows", "some observations mean something else now", MAJOR)
    elif opened:
        yield Change(f"{path}.rows", "some observations that were refused have a state now", MINOR)
    elif reworded:
        yield Change(f"{path}.rows", "reworded", PATCH)


def _table(machine: MachinePlan) -> dict[Any, tuple[Any, ...]]:
    """The table of a machine, without the order of observations and columns."""

    def unordered_row(row: tuple[Any, ...]) -> tuple[Any, ...]:
        if isinstance(row[0], MachineRefusal):
            return tuple(sorted(row, key=lambda refusal: refusal.name))
        return row[0], dict(zip(machine.columns, row[1:], strict=True))

    return {
        frozenset(zip(machine.observed, values, strict=True)): unordered_row(row)
        for values, row in machine.table.items()
    }


def _domains(machine: MachinePlan) -> dict[str, Any]:
    return {name: _comparable_kind(rule.kind) for name, rule in machine.observed.items()}


def _comparable_kind(kind: Kind) -> Any:
    """A kind as readers of the state see it: the order of its names means nothing."""
    return kind.name, kind.nullable, frozenset(kind.names)


def _ignore_order(written: Any) -> Any:
    if isinstance(written, Mapping):
        return {key: _ignore_order(value) for key, value in written.items()}
    return frozenset(written) if isinstance(written, list) else written


def _shape(node: Node) -> Any:
    match node:
        case Leaf():
            return _comparable_kind(node.kind)
        case Many():
            return "list", frozenset(node.lists)
        case One() | Attached():
            return "object", node.nullable
        case AttachedList():
            return "list", frozenset()
    return "map"


def _prose(data: Any, place: ContractPath) -> Iterator[tuple[ContractPath, str | None]]:
    """Every piece of prose, by its place."""
    prose = (*_PROSE.get(type(data), ()), "ignore") if isinstance(data, FileSection) else ()
    items = (
        data if isinstance(data, FileSection) else data.items() if isinstance(data, dict) else ()
    )
    for word, value in items:
        if word in prose:
            yield (*place, word), value
        else:
            yield from _prose(value, (*place, word))


# -------------------------------------------------------------------------------------- comparison


def _meaning(contract: Contract, data: Any, place: ContractPath) -> Any:
    """The words at a path, without prose and without the spelling of expressions."""
    match data:
        case FileSection():
            prose, fields = _PROSE.get(type(data), ()), type(data).model_fields
            names = {word: fields[word].alias or word for word, _ in data if word not in prose}
            return {
                name: _meaning(contract, _weight(data, word), (*place, name))
                for word, name in names.items()
            }
        case dict():
            return {key: _meaning(contract, value, (*place, key)) for key, value in data.items()}
        case list() | tuple():
            return [_meaning(contract, value, (*place, n)) for n, value in enumerate(data)]
    rule = contract.expressions.get(place)
    return data if rule is None else meaning(rule.node)


def _weight(section: FileSection, word: str) -> Any:
    """The comparable value of a word.

    `ignore` compares by presence, `default` by presence and value.
    """
    if isinstance(section, Element) and word == "ignore":
        return section.ignore is not None
    if isinstance(section, ConfigKey) and word == "default":
        return section.has_default, section.default
    return getattr(section, word)


def _common(data: Any, common: Set[tuple[str, ...]], above: tuple[str, ...] = ()) -> Any:
    """The output as written, for the keys that both versions have."""
    if not isinstance(data, Mapping):
        return data
    if "from" in data:
        return {**data, "give": _common(data.get("give", {}), common, above)}
    return {
        key: _common(value, common, (*above, key))
        for key, value in data.items()
        if (*above, key) in common
    }
