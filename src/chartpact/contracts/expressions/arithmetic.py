"""Sums and products of numbers and times."""

import ast
from collections.abc import Mapping

from chartpact.contracts.expressions.check import Check, quoted
from chartpact.contracts.expressions.facts import Facts
from chartpact.contracts.kinds import NUMBER, TIME, Kind

_ARITHMETIC: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}


def arithmetic(check: Check, node: ast.expr, facts: Facts) -> tuple[Kind, str]:
    """A sum or product whose finiteness is yet to be checked, once, by whoever uses it."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return NUMBER, f"(-{_operand(check, node.operand, facts, NUMBER)[1]})"
    assert isinstance(node, ast.BinOp)
    sign = _ARITHMETIC.get(type(node.op))
    if sign is None:
        raise check.fail(node, "this operator is not known here", "use + - * /", "forbidden")
    left, one = _operand(check, node.left, facts)
    right, other = _operand(check, node.right, facts, divides=sign == "/")
    times = [kind.name for kind in (left, right)].count("time")
    kind = NUMBER
    if times and not (sign == "-" and left.name == "time") and not (sign == "+" and times == 1):
        raise check.fail(
            node, f"a time does not go with {sign} here", "subtract times, or add milliseconds"
        )
    if times == 1:
        kind = TIME
    if sign == "*":  # as floats, so that no product of whole numbers grows without end
        return kind, f"(1.0 * {one} * {other})"
    return kind, f"({one} {sign} {other})"


def _operand(
    check: Check, node: ast.expr, facts: Facts, only: Kind | None = None, divides: bool = False
) -> tuple[Kind, str]:
    if isinstance(node, ast.BinOp) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    ):
        kind, code = arithmetic(check, node, facts)
        return kind, check.finite(code) if divides else code
    value = check.value(node, facts)
    if value.kind.name not in ("number", "time", "unknown") or (
        only is not None and value.kind.name == "time"
    ):
        raise check.fail(node, f"{quoted(node)} is {value.kind}, not a number")
    return value.kind.there(), check.there(node, value)
