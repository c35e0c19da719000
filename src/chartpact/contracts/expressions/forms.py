"""Every form an expression may have, each handed to the module that knows it."""

import ast
import math
from collections.abc import Mapping

from chartpact.contracts.expressions.arithmetic import arithmetic
from chartpact.contracts.expressions.calls import call
from chartpact.contracts.expressions.check import Check, quoted
from chartpact.contracts.expressions.compiled import Compiled, Vocabulary
from chartpact.contracts.expressions.conditions import condition
from chartpact.contracts.expressions.facts import NO_FACTS, Facts
from chartpact.contracts.expressions.lists import listed
from chartpact.contracts.expressions.names import named
from chartpact.contracts.expressions.parse import parse
from chartpact.contracts.kinds import BOOL, NUMBER, enum, union
from chartpact.contracts.scope import NOTHING, Scope, Side, Value

_REFUSED: Mapping[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("a function cannot be made here", "name the value in reads"),
    ast.Subscript: ("[ ] picks nothing here", "fields are reached with a dot"),
    ast.JoinedStr: ("a text cannot be put together", "compare fields one by one"),
    ast.Dict: ("a mapping has no place here", "output is written as YAML"),
    ast.Tuple: ("a tuple has no place here", "write one value"),
    ast.List: ("a list stands only after `in`, or as [e for v in element]", "write x in [a, b]"),
    ast.GeneratorExp: ("a list is missing its brackets", "write [e for v in element]"),
    ast.NamedExpr: ("nothing is assigned here", "name the value in reads"),
    ast.Starred: ("* spreads nothing here", "write the values out"),
}
LARGEST_WHOLE = 2**53


def compile_expression(text: str, scope: Scope, vocabulary: Vocabulary) -> Compiled:
    """The expression in a text, or a `SourceError` that says what would be right."""
    tree, nodes = parse(text)
    forms = _Forms(text, scope, vocabulary)
    value = forms.value(tree, NO_FACTS)
    return forms.compiled(text, tree, value, nodes)


def compile_condition(text: str, scope: Scope, vocabulary: Vocabulary) -> Compiled:
    """The same for an expression that must be true or false."""
    tree, nodes = parse(text)
    forms = _Forms(text, scope, vocabulary)
    code, _, _ = forms.condition(tree, NO_FACTS)
    return forms.compiled(text, tree, Value(BOOL, code), nodes)


class _Forms(Check):
    def value(self, node: ast.expr, facts: Facts) -> Value:
        match node:
            case ast.Constant():
                return _constant(self, node)
            case ast.Name() | ast.Attribute():
                return named(self, node, facts)
            case ast.IfExp():
                return _choice(self, node, facts)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as number):
                positive = _constant(self, number)
                if positive.kind.name != "number":
                    raise self.fail(number, f"{quoted(number)} is not a number")
                return Value(NUMBER, f"(-{positive.code})")
            case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
                kind, code = arithmetic(self, node, facts)
                return Value(kind, self.finite(code))
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp() | ast.Compare():
                return Value(BOOL, condition(self, node, facts)[0])
            case ast.Call():
                return call(self, node, facts)
            case ast.ListComp():
                return listed(self, node, facts)
        for refused, (message, hint) in _REFUSED.items():
            if isinstance(node, refused):
                raise self.fail(node, message, hint, "forbidden")
        raise self.fail(
            node, f"{type(node).__name__} is not part of the language", kind="forbidden"
        )

    def condition(self, node: ast.expr, facts: Facts) -> tuple[str, Facts, Facts]:
        return condition(self, node, facts)


def _constant(check: Check, node: ast.Constant) -> Value:
    value = node.value
    if isinstance(value, bool) or value is None:
        word = {True: "true", False: "false", None: "none"}[value]
        raise check.fail(node, f"{value} is not known here", f"write {word}", "name")
    if isinstance(value, str):
        return Value(enum([value]), ascii(value))
    if isinstance(value, int | float):
        number = float(value) if abs(value) > LARGEST_WHOLE else value
        if not math.isfinite(number):
            raise check.fail(node, "this number is too large", "write a smaller one")
        return Value(NUMBER, repr(number))
    raise check.fail(node, f"{value!r:.40} is not a value", "use numbers and texts")


def _choice(check: Check, node: ast.IfExp, facts: Facts) -> Value:
    test, when_true, when_false = check.condition(node.test, facts)
    first = check.value(node.body, facts | when_true)
    second = check.value(node.orelse, facts | when_false)
    kind = union(first.kind, second.kind)
    if kind is None:
        raise check.fail(
            node, f"one side is {first.kind}, the other {second.kind}", "both must be alike"
        )

    def both(one: Side | None, other: Side | None) -> Side | None:
        if one is None or other is None:
            return None
        return Side(f"({one.code} if {test} else {other.code})", one.needs | other.needs)

    return Value(
        kind,
        f"({first.code} if {test} else {second.code})",
        alpha=both(_opacity(first), _opacity(second)) if kind.name == "color" else None,
        bar=both(first.bar, second.bar),
        time=both(first.time, second.time),
        shared=first.shared or second.shared,
    )


def _opacity(value: Value) -> Side | None:
    """The opacity of one branch; where there is no colour it is 0."""
    return Side("0", NOTHING) if value.kind.name == "none" else value.alpha
