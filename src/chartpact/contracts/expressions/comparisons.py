"""Comparisons: order, equality and membership, between kinds that can be compared."""

import ast
from collections.abc import Mapping

from chartpact import palette
from chartpact.contracts.errors import suggestion
from chartpact.contracts.expressions.check import Check, quoted
from chartpact.contracts.expressions.facts import NO_FACTS, Facts, fact
from chartpact.contracts.kinds import COLOR
from chartpact.contracts.scope import Side, Value

_ORDER: Mapping[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def compare(check: Check, node: ast.Compare, facts: Facts) -> tuple[str, Facts, Facts]:
    """The code of a comparison, and what is known to be there when it holds and when not."""
    if len(node.ops) != 1:
        raise check.fail(
            node, "comparisons are made one at a time", "write a < b and b < c", "forbidden"
        )
    op, right = node.ops[0], node.comparators[0]
    match op:
        case ast.In() | ast.NotIn():
            code, known = _membership(check, node, right, facts)
            if isinstance(op, ast.In):
                return code, known, NO_FACTS
            return f"(not {code})", NO_FACTS, known
        case ast.Eq() | ast.NotEq():
            code, when_equal, when_not = _equality(check, node, right, facts)
            if isinstance(op, ast.Eq):
                return code, when_equal, when_not
            return f"(not {code})", when_not, when_equal
        case ast.Is() | ast.IsNot():
            raise check.fail(node, "`is` is not known here", "write == or !=", "forbidden")
    sign = _ORDER[type(op)]
    one, other = check.value(node.left, facts), check.value(right, facts)
    kinds = {one.kind.name, other.kind.name} - {"unknown"}
    if len(kinds) > 1 or not kinds <= {"number", "time", "anchor"}:
        raise check.fail(
            node,
            f"{quoted(node.left)} is {one.kind} and {quoted(right)} {other.kind}: "
            f"{sign} does not compare them",
            "numbers, times and anchors have an order",
        )
    check.unstable |= "anchor" in kinds
    code = f"({check.there(node.left, one)} {sign} {check.there(right, other)})"
    return code, NO_FACTS, NO_FACTS


def _equality(
    check: Check, node: ast.Compare, right: ast.expr, facts: Facts
) -> tuple[str, Facts, Facts]:
    left = node.left
    one, other = check.value(left, facts), check.value(right, facts)
    if one.kind.name == "none" or other.kind.name == "none":
        asked, value = (right, other) if one.kind.name == "none" else (left, one)
        if value.kind.known and (value.kind.name == "none" or not value.kind.nullable):
            raise check.fail(node, f"{quoted(asked)} is never none", "remove the comparison")
        return f"({value.code} is None)", NO_FACTS, fact(asked)
    one, other = _comparable(check, node, left, one, right, other)
    code = f"({one.code} == {other.code})"
    if one.kind.name == "anchor":
        code = f"({one.code} == {other.code} != NOWHERE)"
        check.unstable = True
    known = NO_FACTS
    if one.kind.nullable:
        known = fact(left)
    elif other.kind.nullable:
        known = fact(right)
    return code, known, NO_FACTS


def _membership(
    check: Check, node: ast.Compare, right: ast.expr, facts: Facts
) -> tuple[str, Facts]:
    if not isinstance(right, ast.List) or not right.elts:
        raise check.fail(right, "`in` is followed by a list of values", "write x in [a, b]")
    one = check.value(node.left, facts)
    codes = []
    for item in right.elts:
        other = check.value(item, facts)
        if other.kind.name == "none":
            raise check.fail(item, "none cannot stand in a list", "write x == none or x in […]")
        compared, value = _comparable(check, node, node.left, one, item, other)
        codes.append(value.code)
    if one.kind.name == "anchor":
        check.unstable = True
        return f"({compared.code} != NOWHERE and {one.code} in ({', '.join(codes)},))", NO_FACTS
    known = fact(node.left) if one.kind.nullable else NO_FACTS
    return f"({compared.code} in ({', '.join(codes)},))", known


def _comparable(
    check: Check, node: ast.Compare, left: ast.expr, one: Value, right: ast.expr, other: Value
) -> tuple[Value, Value]:
    """Both sides of an equality, where it can hold; a text written as a colour becomes one."""
    if not one.kind.known or not other.kind.known:
        return one, other
    if one.kind.name == "color" and other.kind.name == "enum":
        other = color(check, right, other)
    elif other.kind.name == "color" and one.kind.name == "enum":
        one = color(check, left, one)
    if one.kind.nullable and other.kind.nullable:
        raise check.fail(
            node,
            f"{quoted(left)} and {quoted(right)} may both be none, and none would equal none",
            f"ask first: {quoted(right)} != none and …",
        )
    names = {one.kind.name, other.kind.name}
    if names == {"enum"} and not set(one.kind.names) & set(other.kind.names):
        raise check.fail(
            node,
            f"{quoted(left)} is {one.kind} and {quoted(right)} is {other.kind}: "
            "they are never equal",
            suggestion(other.kind.names[0], one.kind.names),
        )
    if names <= {"text", "enum"}:
        return one, other
    if len(names) > 1 or not names <= {"number", "bool", "color", "anchor", "time"}:
        raise check.fail(
            node,
            f"{quoted(left)} is {one.kind} and {quoted(right)} {other.kind}: they are never equal",
            "compare values of one kind",
        )
    if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
        raise check.fail(node, "two constants are compared", "write the result")
    return one, other


def color(check: Check, node: ast.expr, literal: Value) -> Value:
    """The colour that a text stands for."""
    for name in literal.kind.names:
        if not palette.is_hex(name):
            raise check.fail(node, f"{name!r} is not a colour", "write '#rrggbb'")
    if not isinstance(node, ast.Constant):
        raise check.fail(node, "a colour is written as such", "write '#rrggbb' where compared")
    full = palette.color(str(node.value))
    return Value(COLOR, ascii(full[:7]), alpha=Side(str(int(full[7:], 16))))
