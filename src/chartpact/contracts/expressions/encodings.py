"""Calls of a contract's own encodings, whose tables must fit what they are called on."""

import ast

from chartpact import palette
from chartpact.contracts.errors import suggestion
from chartpact.contracts.expressions.check import Check, quoted
from chartpact.contracts.expressions.facts import Facts
from chartpact.contracts.kinds import UNKNOWN, Kind, enum
from chartpact.contracts.scope import Value


def encode(check: Check, node: ast.Call, name: str, facts: Facts) -> Value:
    if not check.scope.encodings:
        raise check.fail(
            node, f"the encoding {name!r} is called in reads only",
            "name its result in reads, and use that name here", "forbidden",
        )  # fmt: skip
    if len(node.args) != 1:
        raise check.fail(node, f"{name} takes one value, not {len(node.args)}")
    argument = node.args[0]
    value = check.value(argument, facts)
    names = enum(check.vocabulary.encodings[name])
    if not value.kind.known:
        return Value(UNKNOWN, "None")
    if value.kind.nullable and (value.kind.absent or value.kind.name != "color"):
        check.there(argument, value)
    _check_fit(check, node, name, value.kind)
    check.encodings.add((name, value.kind.name))
    return Value(names, f"E_{name}_{value.kind.name}[{value.code}]")


def _check_fit(check: Check, node: ast.Call, name: str, kind: Kind) -> None:
    if kind.name not in ("color", "text", "enum", "bool", "number"):
        raise check.fail(node, f"an encoding does not read {kind}", "give it a drawn field")
    for meaning, values in check.vocabulary.encodings[name].items():
        for value in values:
            if (wrong := _misfit(check, value, kind)) is not None:
                raise check.fail(
                    node, f"encodings.{name}.{meaning}: {wrong}",
                    f"{name} is called on {quoted(node.args[0])}, {kind}",
                )  # fmt: skip


def _misfit(check: Check, value: object, kind: Kind) -> str | None:
    key = check.vocabulary.config.get(value) if isinstance(value, str) else None
    if key is not None:
        fits = key.name == kind.name or (key.name == "enum" and kind.name == "text")
        if key.name == kind.name == "enum":
            extra = [each for each in key.names if each not in kind.names]
            return f"{value} may be {extra[0]!r}, which never occurs" if extra else None
        return None if fits else f"the config key {value} is {key}"
    if value == "none" or value is None:
        fits = kind.name == "color" and kind.nullable
        return None if fits else "none never occurs"
    if kind.name == "bool":
        return None if isinstance(value, bool) else f"{value!r} is not true or false"
    if kind.name == "number":
        good = isinstance(value, int | float) and not isinstance(value, bool)
        return None if good else f"{value!r} is not a number"
    if not isinstance(value, str):
        return f"{value!r} is not a text"
    if kind.name == "color":
        return None if palette.is_hex(value) else f"{value!r} is not a colour #rrggbb"
    if kind.name == "enum" and value not in kind.names:
        return f"{value!r} never occurs; {suggestion(value, kind.names)}"
    return None
