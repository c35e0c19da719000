"""What changed between two versions of a contract, and how much that matters to who reads it.

Compiled models are compared, not texts: a rewording is a patch, an addition is minor, and anything
that may change or refuse a reading, or widen a closed list, is major. An id that disappears must be
reserved, so that it never comes back with another meaning.
"""

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from chartpact.contracts.contract import Contract, identifiers, output_ids, reserved
from chartpact.contracts.document import Place
from chartpact.contracts.elements import INFORMATIONAL, SIGNAL
from chartpact.contracts.expressions import parse
from chartpact.contracts.machines import MachinePlan, Refusal
from chartpact.contracts.model import ConfigKey, ContractFile, EdgeCase, Element, Row, Section
from chartpact.contracts.outputs import Attached, Leaf, Many, Node, One
from chartpact.contracts.values import Kind

Words = Mapping[str, Any]  # the words of a section, or its entries by name

NONE, PATCH, MINOR, MAJOR = "none", "patch", "minor", "major"
_ORDER = (NONE, PATCH, MINOR, MAJOR)
_PROSE: Mapping[type[Section], tuple[str, ...]] = {
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
    def ok(self) -> bool:
        return not self.unreserved

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
            "ok": self.ok,
        }


def diff(old: Contract, new: Contract) -> Diff:
    """The differences from one contract to another."""
    was, now = (_meaning(contract, contract.file, ()) for contract in (old, new))
    changes = [
        *_identity(old, new),
        *_config(was["config"], now["config"], old, new),
        *_channels(old, new),
        *_encodings(was["encodings"], now["encodings"]),
        *_elements(was["elements"], now["elements"], new),
        *_machines(was["states"], now["states"], old, new),
        *_edges(was["edge_cases"], now["edge_cases"]),
        *_output(was["output"], now["output"], old, new),
        *_prose(old, new),
    ]
    return Diff(old.version, new.version, tuple(changes), tuple(_unreserved(old, new)))


def _unreserved(old: Contract, new: Contract) -> Iterator[str]:
    was, now = (identifiers(contract.file, contract.output) for contract in (old, new))
    kept = reserved(new.file)
    for section, ids in was.items():
        for steps in sorted(ids - now[section]):
            # reserved by its path, by its own name, or with what it stood in
            above = {steps[:n] for n in range(1, len(steps) + 1)}
            if not {*above, steps[-1:]} & set(kept[section]):
                yield f"{section}.{'.'.join(steps)}"
    for section, reserved_ids in reserved(old.file).items():
        for steps in reserved_ids:
            if steps in now[section] or steps not in kept[section]:
                yield f"{section}.{'.'.join(steps)}"


# ---------------------------------------------------------------------------------------- sections


def _identity(old: Contract, new: Contract) -> Iterator[Change]:
    was, now = old.file.identity, new.file.identity
    if old.name != new.name:
        yield Change("contract", f"{old.name} became {new.name}", MAJOR)
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


def _config(was: Words, now: Words, old: Contract, new: Contract) -> Iterator[Change]:
    for name in was.keys() - now.keys():
        yield Change(f"config.{name}", "removed", MAJOR)
    for name, key in now.items():
        if name in was:
            yield from _changed(was[name], key, f"config.{name}")
        elif new.file.config[name].has_default:
            yield Change(f"config.{name}", "added, optional", MINOR)
        else:
            yield Change(f"config.{name}", "added, required", MAJOR)
    if old.file.profiles != new.file.profiles:
        yield Change("profiles", "changed", PATCH)


def _changed(before: Words, after: Words, path: str) -> Iterator[Change]:
    for word in before:
        if before[word] != after[word]:
            yield Change(f"{path}.{word}", "changed", MAJOR)


def _channels(old: Contract, new: Contract) -> Iterator[Change]:
    was, now = old.file.channels, new.file.channels
    for channel in dict.fromkeys([*was, *now]):
        before, after = was.get(channel), now.get(channel)
        if before == after:
            continue
        # What had to be empty may now be drawn; nothing that was read is read otherwise.
        level = MINOR if before is None and after != SIGNAL else MAJOR
        yield Change(f"channels.{channel}", f"{before or 'empty'} became {after or 'empty'}", level)
    for channel, role in now.items():
        if role == SIGNAL:
            for need in sorted({*new.needs[channel]} - {*old.needs[channel]}):
                yield Change(f"channels.{channel}", f"{need} is needed now", MAJOR)


def _encodings(was: Words, now: Words) -> Iterator[Change]:
    for name in dict.fromkeys([*was, *now]):
        path = f"encodings.{name}"
        if name not in now:
            yield Change(path, "removed", MAJOR)
        elif name not in was:
            yield Change(path, "added", MINOR)
        elif was[name] != now[name]:
            yield Change(path, "changed", MAJOR)


def _elements(was: Words, now: Words, new: Contract) -> Iterator[Change]:
    for name in was.keys() - now.keys():
        yield Change(f"elements.{name}", "removed", MAJOR)
    for name, words in now.items():
        if name in was:
            yield from _changed(was[name], words, f"elements.{name}")
            continue
        plan = new.elements[name]
        what = "ignored" if plan.ignored else plan.role
        level = MINOR if plan.ignored or plan.role == INFORMATIONAL else MAJOR
        yield Change(f"elements.{name}", f"added, {what}", level)
    if [name for name in was if name in now] != [name for name in now if name in was]:
        yield Change("elements", "reordered", PATCH)


def _machines(was: Words, now: Words, old: Contract, new: Contract) -> Iterator[Change]:
    for name in was.keys() - now.keys():
        yield Change(f"states.{name}", "removed", MAJOR)
    for name, words in now.items():
        if name in was:
            yield from _machine(was[name], words, old.machines[name], new.machines[name])
        else:
            refuses = any(row.violation for row in new.file.states[name].rows.values())
            yield Change(f"states.{name}", "added", MAJOR if refuses else MINOR)


def _machine(before: Words, after: Words, was: MachinePlan, now: MachinePlan) -> Iterator[Change]:
    path = f"states.{now.name}"
    for word in ("initial", "transitions", "epoch", "gone"):
        if _unordered(before[word]) != _unordered(after[word]):
            yield Change(f"{path}.{word}", "changed", MAJOR)
    if before["observe"] != after["observe"] or _domains(was) != _domains(now):
        yield Change(f"{path}.observe", "changed", MAJOR)
        return
    if set(was.states) != set(now.states):
        differs = ", ".join(sorted(set(was.states) ^ set(now.states)))
        yield Change(f"{path}.rows", f"the states changed by {differs}", MAJOR)
        return
    if set(was.columns) != set(now.columns):
        yield Change(f"{path}.rows", "the columns changed", MAJOR)
        return
    yield from _rows(was, now, path)


def _rows(was: MachinePlan, now: MachinePlan, path: str) -> Iterator[Change]:
    """Combination by combination: what was refused may become a state that was there already."""
    opened = changed = reworded = False
    old, new = _table(was), _table(now)
    rows = {row[0]: row for row in old.values() if not isinstance(row[0], Refusal)}
    for values, row in new.items():
        before = old.get(values)
        refused = before is not None and isinstance(before[0], Refusal)
        if isinstance(row[0], Refusal):
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
    """What a machine decides; the order of observations and columns means nothing."""

    def decided(row: tuple[Any, ...]) -> tuple[Any, ...]:
        if isinstance(row[0], Refusal):
            return tuple(sorted(row, key=lambda refusal: refusal.name))
        return row[0], dict(zip(machine.columns, row[1:], strict=True))

    return {
        frozenset(zip(machine.observed, values, strict=True)): decided(row)
        for values, row in machine.table.items()
    }


def _domains(machine: MachinePlan) -> dict[str, Any]:
    return {name: _closed(rule.kind) for name, rule in machine.observed.items()}


def _closed(kind: Kind) -> Any:
    """A kind as readers of the state see it: the order of its names means nothing."""
    return kind.name, kind.nullable, frozenset(kind.names)


def _unordered(written: Any) -> Any:
    if isinstance(written, Mapping):
        return {key: _unordered(value) for key, value in written.items()}
    return frozenset(written) if isinstance(written, list) else written


def _edges(was: Words, now: Words) -> Iterator[Change]:
    for name in was.keys() - now.keys():
        yield Change(f"edge_cases.{name}", "removed: what was refused is read", MINOR)
    for name, words in now.items():
        if name not in was:
            yield Change(f"edge_cases.{name}", "added: more is refused", MAJOR)
        elif was[name] != words:
            yield Change(f"edge_cases.{name}", "changed", MAJOR)


def _output(was: Words, now: Words, old: Contract, new: Contract) -> Iterator[Change]:
    before, after = output_ids(old.output), output_ids(new.output)
    for steps in before.keys() - after.keys():
        yield Change(f"output.{'.'.join(steps)}", "removed", MAJOR)
    for steps, node in after.items():
        path = f"output.{'.'.join(steps)}"
        if steps not in before:
            yield Change(path, "added", MINOR)
        elif _shape(before[steps]) != _shape(node):
            yield Change(path, "its type changed", MAJOR)
    kept = before.keys() & after.keys()
    if _common(was, kept) != _common(now, kept):
        yield Change("output", "a value is computed otherwise", MAJOR)


def _shape(node: Node) -> Any:
    match node:
        case Leaf():
            return _closed(node.kind)
        case Many():
            return "list", frozenset(node.lists)
        case One() | Attached():
            return "object", node.nullable
    return "map"


def _prose(old: Contract, new: Contract) -> Iterator[Change]:
    was, now = dict(_prose_of(old.file, ())), dict(_prose_of(new.file, ()))
    if any(was[place] != now[place] for place in was.keys() & now.keys()):
        yield Change("", "prose was reworded", PATCH)


def _prose_of(data: Any, place: Place) -> Iterator[tuple[Place, str | None]]:
    """Every piece of prose, by its place."""
    prose = (*_PROSE.get(type(data), ()), "ignore") if isinstance(data, Section) else ()
    items = data if isinstance(data, Section) else data.items() if isinstance(data, dict) else ()
    for word, value in items:
        if word in prose:
            yield (*place, word), value
        else:
            yield from _prose_of(value, (*place, word))


# -------------------------------------------------------------------------------------- comparison


def _meaning(contract: Contract, data: Any, place: Place) -> Any:
    """What stands at a place, without prose and without the spelling of expressions."""
    match data:
        case Section():
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
    return data if rule is None else ast.dump(parse(rule.text)[0])


def _weight(section: Section, word: str) -> Any:
    """What counts of a word: of a reason that it is there, of a default also whether it is."""
    if isinstance(section, Element) and word == "ignore":
        return section.ignore is not None
    if isinstance(section, ConfigKey) and word == "default":
        return section.has_default, section.default
    return getattr(section, word)


def _common(data: Any, kept: Set[tuple[str, ...]], above: tuple[str, ...] = ()) -> Any:
    """The output as written, for the keys that both versions have."""
    if not isinstance(data, Mapping):
        return data
    if "from" in data:
        return {**data, "give": _common(data.get("give", {}), kept, above)}
    return {
        key: _common(value, kept, (*above, key))
        for key, value in data.items()
        if (*above, key) in kept
    }
