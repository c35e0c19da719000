"""Conditions joined by `and`, `or`, `not` and `if`, and what each lets be known."""

import ast

from chartpact.contracts.expressions.check import Check, quoted
from chartpact.contracts.expressions.comparisons import compare
from chartpact.contracts.expressions.facts import NO_FACTS, Facts, fact


def condition(check: Check, node: ast.expr, facts: Facts) -> tuple[str, Facts, Facts]:
    """The code of a condition, and what is known to be there when it holds and when not."""
    match node:
        case ast.BoolOp():
            return _and_or(check, node, facts)
        case ast.UnaryOp(op=ast.Not()):
            code, when_true, when_false = check.condition(node.operand, facts)
            return f"(not {code})", when_false, when_true
        case ast.Compare():
            return compare(check, node, facts)
        case ast.IfExp():
            test, yes, no = check.condition(node.test, facts)
            first, first_true, first_false = check.condition(node.body, facts | yes)
            second, second_true, second_false = check.condition(node.orelse, facts | no)
            return (
                f"({first} if {test} else {second})",
                (yes | first_true) & (no | second_true),
                (yes | first_false) & (no | second_false),
            )
    value = check.value(node, facts)
    if value.kind.name == "bool":
        if value.kind.nullable:
            told = quoted(node)
            raise check.fail(node, f"{told} may be none", f"write {told} == true")
        return value.code, NO_FACTS, NO_FACTS
    if not value.kind.known:
        return value.code, NO_FACTS, NO_FACTS
    if value.kind.name == "none" or not isinstance(node, ast.Name | ast.Attribute):
        raise check.fail(node, f"{value.kind} is neither true nor false", "compare it")
    told = quoted(node)
    if not value.kind.nullable:
        raise check.fail(
            node, f"{told} is always there: it is {value.kind}", "compare it with something"
        )
    return f"({value.code} is not None)", fact(node), NO_FACTS


def _and_or(check: Check, node: ast.BoolOp, facts: Facts) -> tuple[str, Facts, Facts]:
    both = isinstance(node.op, ast.And)
    known, others = facts, None
    codes, gathered = [], NO_FACTS
    for part in node.values:
        code, when_true, when_false = check.condition(part, known)
        codes.append(code)
        goes_on, stops = (when_true, when_false) if both else (when_false, when_true)
        reached = gathered | stops
        others = reached if others is None else others & reached
        gathered |= goes_on
        known |= goes_on
    joined = (" and " if both else " or ").join(codes)
    stopped = others or NO_FACTS
    return f"({joined})", *((gathered, stopped) if both else (stopped, gathered))
