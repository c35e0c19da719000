"""Names and what follows their dots: elements, fields, config keys, facts of the chart."""

import ast
from dataclasses import replace

from chartpact.contracts.errors import suggestion
from chartpact.contracts.expressions.check import Check
from chartpact.contracts.expressions.compiled import Reference
from chartpact.contracts.expressions.facts import Facts
from chartpact.contracts.kinds import BOOL, NONE, NUMBER, TIME, Kind
from chartpact.contracts.scope import CHART_KINDS, Side, Value
from chartpact.syntax import SourceError


def named(check: Check, node: ast.expr, facts: Facts) -> Value:
    names: list[str] = []
    base: ast.expr = node
    while isinstance(base, ast.Attribute):
        names.append(base.attr)
        base = base.value
    if not isinstance(base, ast.Name):
        raise check.fail(base, "a dot follows a name", "name the value in reads first")
    names.append(base.id)
    names.reverse()
    return _resolve(check, node, names, facts)


def _resolve(check: Check, node: ast.expr, names: list[str], facts: Facts) -> Value:
    first = names[0]
    if first in ("true", "false", "none") and len(names) == 1:
        return {
            "true": Value(BOOL, "True"),
            "false": Value(BOOL, "False"),
            "none": Value(NONE, "None"),
        }[first]
    if first == "chart":
        return _chart(check, node, names, facts)
    found = check.scope.get(first)
    if found is None:
        raise _unknown(check, node, first)
    current, path, guards = found, first, []
    owner = _note(check, first, current)
    for name in names[1:]:
        if current.kind.shape is not None:
            if current.kind.nullable and path not in facts:
                guards.append(f"{current.code} is None")
            inside = current.kind.shape.get(name)
            if inside is None:
                known = list(current.kind.shape.names())
                raise check.fail(node, f"{path} has no {name!r}", suggestion(name, known), "name")
            current = inside.on(current.code)
            owner = current.element or owner
            if current.element is not None:
                check.elements.add(current.element)
        elif current.kind.name == "anchor" and name in ("bar", "time"):
            current = _anchor_part(check, current, name)
        else:
            raise _no_field(check, node, path, current.kind, name)
        path = f"{path}.{name}"
    check.needs |= current.needs
    check.unstable |= current.unstable
    check.references[path] = Reference(owner, names[-1], current.needs)
    if guards and path not in facts:
        current = _guarded(current, guards)
    elif path in facts:
        current = replace(current, kind=current.kind.there())
    return current


def _note(check: Check, first: str, found: Value) -> str | None:
    if first in check.vocabulary.config and found.code == f"c_{first}":
        check.config.add(first)
    if found.code[:2] in ("e_", "s_"):
        check.free.add(found.code)
        check.elements.add(found.element or first)
    return found.element


def _guarded(value: Value, guards: list[str]) -> Value:
    absent = " or ".join(guards)

    def guard(side: Side | None) -> Side | None:
        return side and replace(side, code=f"(None if {absent} else {side.code})")

    return replace(
        value,
        kind=value.kind.or_none(absent=True),
        code=f"(None if {absent} else {value.code})",
        alpha=guard(value.alpha),
        bar=guard(value.bar),
        time=guard(value.time),
    )


def _anchor_part(check: Check, anchor: Value, name: str) -> Value:
    side = anchor.bar if name == "bar" else anchor.time
    assert side is not None
    check.unstable |= name == "bar"
    kind = NUMBER if name == "bar" else TIME
    lost = f"lost({anchor.code})"
    return Value(kind, f"({side.code} if {side.code} is not None else {lost})", side.needs)


def _chart(check: Check, node: ast.expr, names: list[str], facts: Facts) -> Value:
    if len(names) != 2 or names[1] not in CHART_KINDS:
        hint = suggestion(names[-1], list(CHART_KINDS))
        raise check.fail(node, f"the chart has no {'.'.join(names[1:])!r}", hint, "name")
    kind, code = CHART_KINDS[names[1]], f"ch_{names[1]}"
    check.free.add(code)
    check.unstable |= names[1] == "last_bar"
    if names[1] not in ("symbol", "timeframe") and ".".join(names) not in facts:
        kind = replace(kind, nullable=True, loose=True)
    return Value(kind, code)


def _unknown(check: Check, node: ast.expr, name: str) -> SourceError:
    if name in check.scope.sets:
        return check.fail(
            node,
            f"{name!r} may occur several times, so it cannot be named alone",
            "give it a count of at most one, or list it: [e for v in " + name + "]",
            "name",
        )
    if name in check.vocabulary.encodings:
        return check.fail(node, f"{name!r} is an encoding", f"call it: {name}(field)", "name")
    hint = suggestion(name, [*check.scope.known(), *check.scope.sets])
    return check.fail(node, f"{name!r} is not known here", hint, "name")


def _no_field(check: Check, node: ast.expr, path: str, kind: Kind, name: str) -> SourceError:
    if kind.name == "anchor":
        return check.fail(node, f"{path} has no {name!r}", "an anchor has bar and time", "name")
    return check.fail(node, f"{path} is {kind}: it has no {name!r}", kind="name")
