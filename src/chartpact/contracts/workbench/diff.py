"""What changed between two versions of a contract, and how much that matters to who reads it.

Compiled models are compared, not texts: a rewording is a patch, an addition is minor, and anything
that may change or refuse a reading, or widen a closed list, is major. An id that disappears must be
reserved, so that it never comes back with another meaning.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from chartpact.contracts.compile import Contract, identifiers, output_ids
from chartpact.contracts.elements import INFORMATIONAL, SIGNAL
from chartpact.contracts.expressions import parse
from chartpact.contracts.kinds import Kind
from chartpact.contracts.machines import MachineCode, Refusal
from chartpact.contracts.outputs import Leaf, Many, Node, One
from chartpact.syntax import SourceError

NONE, PATCH, MINOR, MAJOR = "none", "patch", "minor", "major"
_ORDER = (NONE, PATCH, MINOR, MAJOR)
_PROSE = {"meaning", "changes", "about", "say", "notes"}
_EXPRESSIONS = {"where", "highest", "lowest", "of", "nearest", "when", "epoch", "sort"}


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
        return max((each.level for each in self.changes), key=_ORDER.index, default=NONE)

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
            "changes": [each.to_json() for each in self.changes],
            "unreserved": list(self.unreserved),
            "ok": self.ok,
        }


def diff(old: Contract, new: Contract) -> Diff:
    """The differences from one contract to another."""
    changes = [
        *_identity(old, new),
        *_config(old, new),
        *_channels(old, new),
        *_encodings(old, new),
        *_elements(old, new),
        *_machines(old, new),
        *_edges(old, new),
        *_output(old, new),
        *_prose(old, new),
    ]
    return Diff(old.version, new.version, tuple(changes), tuple(_unreserved(old, new)))


def _unreserved(old: Contract, new: Contract) -> Iterator[str]:
    was, now = (identifiers(each.file, each.output.root) for each in (old, new))
    kept = new.file.reserved.model_dump()
    for section, ids in was.items():
        for each in sorted(ids - now[section]):
            # reserved by its path, by its own name, or with what it stood in
            steps = each.split(".")
            above = {".".join(steps[:n]) for n in range(1, len(steps) + 1)}
            if not {*above, steps[-1]} & set(kept[section]):
                yield f"{section}.{each}"
    for section, ids in old.file.reserved.model_dump().items():
        for each in ids:
            if each in now[section] or each not in kept[section]:
                yield f"{section}.{each}"


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
        told = "versions are refused that were known" if lost else "more versions are known"
        yield Change("identity.script_versions", told, MAJOR if lost else MINOR)


def _config(old: Contract, new: Contract) -> Iterator[Change]:
    was, now = old.file.config, new.file.config
    for name in was.keys() - now.keys():
        yield Change(f"config.{name}", "removed", MAJOR)
    for name, key in now.items():
        path = f"config.{name}"
        if name not in was:
            level = MINOR if key.has_default else MAJOR
            yield Change(path, f"added, {'optional' if key.has_default else 'required'}", level)
            continue
        before, after = was[name].model_dump(), key.model_dump()
        before["has_default"], after["has_default"] = was[name].has_default, key.has_default
        for word in before:
            if before[word] != after[word] and word not in _PROSE:
                yield Change(f"{path}.{word.rstrip('_')}", "changed", MAJOR)
    if old.file.profiles != new.file.profiles:
        yield Change("profiles", "changed", PATCH)


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
            for need in sorted(new.needs[channel] - old.needs[channel], key=str):
                yield Change(f"channels.{channel}", f"{need} is needed now", MAJOR)


def _encodings(old: Contract, new: Contract) -> Iterator[Change]:
    was, now = old.file.encodings, new.file.encodings
    for name in dict.fromkeys([*was, *now]):
        path = f"encodings.{name}"
        if name not in now:
            yield Change(path, "removed", MAJOR)
        elif name not in was:
            yield Change(path, "added", MINOR)
        elif was[name] != now[name]:
            yield Change(path, "changed", MAJOR)


def _elements(old: Contract, new: Contract) -> Iterator[Change]:
    was, now = old.file.elements, new.file.elements
    for name in was.keys() - now.keys():
        yield Change(f"elements.{name}", "removed", MAJOR)
    for name, spec in now.items():
        path = f"elements.{name}"
        if name not in was:
            harmless = spec.ignore is not None or new.elements[name].role == INFORMATIONAL
            what = "ignored" if spec.ignore is not None else new.elements[name].role
            yield Change(path, f"added, {what}", MINOR if harmless else MAJOR)
            continue
        before, after = _meaning(was[name].model_dump()), _meaning(spec.model_dump())
        before["ignore"], after["ignore"] = was[name].ignore is None, spec.ignore is None
        for word in before:
            if before[word] != after[word]:
                yield Change(f"{path}.{word.rstrip('_')}", "changed", MAJOR)
    order_was = [name for name in was if name in now]
    if order_was != [name for name in now if name in was]:
        yield Change("elements", "reordered", PATCH)


def _machines(old: Contract, new: Contract) -> Iterator[Change]:
    was, now = old.machines, new.machines
    for name in was.keys() - now.keys():
        yield Change(f"states.{name}", "removed", MAJOR)
    for name, machine in now.items():
        path = f"states.{name}"
        if name not in was:
            refuses = any(row.violation for row in machine.spec.rows.values())
            yield Change(path, "added", MAJOR if refuses else MINOR)
        else:
            yield from _machine(was[name], machine, path)


def _machine(was: MachineCode, now: MachineCode, path: str) -> Iterator[Change]:
    before, after = _meaning(was.spec.model_dump()), _meaning(now.spec.model_dump())
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


def _rows(was: MachineCode, now: MachineCode, path: str) -> Iterator[Change]:
    """Combination by combination: what was refused may become a state that was there already."""
    opened = changed = reworded = False
    old, new = _table(was), _table(now)
    rows = {row[0]: row for row in old.values() if not isinstance(row[0], Refusal)}
    for values, row in new.items():
        before = old.get(values)
        refused = before is not None and isinstance(before[0], Refusal)
        if isinstance(row[0], Refusal):
            same = refused and [each.kind for each in before or ()] == [each.kind for each in row]
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


def _table(machine: MachineCode) -> dict[Any, tuple[Any, ...]]:
    """What a machine decides; the order of observations and columns means nothing."""

    def decided(row: tuple[Any, ...]) -> tuple[Any, ...]:
        if isinstance(row[0], Refusal):
            return tuple(sorted(row, key=lambda refusal: refusal.name))
        return row[0], dict(zip(machine.columns, row[1:], strict=True))

    return {
        frozenset(zip(machine.observed, values, strict=True)): decided(row)
        for values, row in machine.table.items()
    }


def _domains(machine: MachineCode) -> dict[str, Any]:
    return {name: _closed(kind) for name, kind in machine.observed.items()}


def _closed(kind: Kind) -> Any:
    """A kind as readers of the state see it: the order of its names means nothing."""
    return kind.name, kind.nullable, frozenset(kind.names)


def _unordered(written: Any) -> Any:
    if isinstance(written, Mapping):
        return {key: _unordered(each) for key, each in written.items()}
    return frozenset(written) if isinstance(written, list) else written


def _edges(old: Contract, new: Contract) -> Iterator[Change]:
    was, now = old.file.edge_cases, new.file.edge_cases
    for name in was.keys() - now.keys():
        yield Change(f"edge_cases.{name}", "removed: what was refused is read", MINOR)
    for name, edge in now.items():
        path = f"edge_cases.{name}"
        if name not in was:
            yield Change(path, "added: more is refused", MAJOR)
        elif _meaning(was[name].model_dump()) != _meaning(edge.model_dump()):
            yield Change(path, "changed", MAJOR)


def _output(old: Contract, new: Contract) -> Iterator[Change]:
    was, now = output_ids(old.output.root), output_ids(new.output.root)
    for path in was.keys() - now.keys():
        yield Change(f"output.{path}", "removed", MAJOR)
    for path, node in now.items():
        if path not in was:
            yield Change(f"output.{path}", "added", MINOR)
        elif _shape(was[path]) != _shape(node):
            yield Change(f"output.{path}", "its type changed", MAJOR)
    before, after = (_meaning(each.file.output) for each in (old, new))
    kept = {path for path in now if path in was}
    if _common(before, kept) != _common(after, kept):
        yield Change("output", "a value is computed otherwise", MAJOR)


def _shape(node: Node) -> Any:
    match node:
        case Leaf():
            return _closed(node.kind)
        case Many():
            return "list", frozenset(node.split)
        case One():
            return "object", node.nullable
    return "map"


def _prose(old: Contract, new: Contract) -> Iterator[Change]:
    was, now = _words(old.file.model_dump()), _words(new.file.model_dump())
    if any(was[path] != now[path] for path in was.keys() & now.keys()):
        yield Change("", "prose was reworded", PATCH)


# -------------------------------------------------------------------------------------- comparison


def _meaning(data: Any, word: str = "") -> Any:
    """What was written, without prose and without the spelling of expressions."""
    if isinstance(data, Mapping):
        return {key: _meaning(each, key) for key, each in data.items() if key not in _PROSE}
    if isinstance(data, list | tuple):
        return [_meaning(each, word) for each in data]
    if isinstance(data, str):
        try:
            return ast.dump(parse(data)[0])
        except SourceError:
            return data
    return data


def _common(data: Any, kept: set[str], above: str = "") -> Any:
    """The output as written, for the keys that both versions have."""
    if not isinstance(data, Mapping):
        return data
    if "from" in data:
        inside = _common(data.get("give", {}), kept, above)
        return {**{key: each for key, each in data.items() if key != "give"}, "give": inside}
    return {
        key: _common(each, kept, f"{above}.{key}" if above else key)
        for key, each in data.items()
        if (f"{above}.{key}" if above else key) in kept
    }


def _words(data: Any, above: str = "") -> dict[str, Any]:
    """Every piece of prose, by its place."""
    found: dict[str, Any] = {}
    if isinstance(data, Mapping):
        for key, each in data.items():
            path = f"{above}.{key}"
            if key in (*_PROSE, "ignore") and (each is None or isinstance(each, str)):
                found[path] = each
            else:
                found |= _words(each, path)
    return found
