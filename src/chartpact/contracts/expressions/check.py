"""The checker: from an expression's syntax tree to typed nodes, or to what would be right.

The tree is walked once. What is known to be there at each place flows through `and`, `or`, `not`
and `if` as a set of names: `hunted and near(y1, hunted.top)` is fine where `hunted` may be none.
"""

import ast
import math
from collections.abc import Callable, Mapping

from chartpact.checks import MAX_WHOLE
from chartpact.contracts.expressions import nodes
from chartpact.contracts.expressions.calls import call, color, listed
from chartpact.contracts.expressions.nodes import Expression, Literal, Mention, Node, established
from chartpact.contracts.expressions.parse import Check, fault, parse, quoted
from chartpact.contracts.expressions.values import (
    BOOL,
    CHART_KINDS,
    NONE,
    NUMBER,
    TIME,
    Facts,
    Location,
    Names,
    Scope,
    Slot,
    Value,
    Vocabulary,
    chart_kind,
    enum,
    union,
)
from chartpact.contracts.problems import suggestion
from chartpact.syntax import SourceError

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
_WORDS = {"true": Literal(BOOL, True), "false": Literal(BOOL, False), "none": Literal(NONE, None)}
_SIGNS: Mapping[type, str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_ORDER: Mapping[type, str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def check_expression(text: str, scope: Scope, vocabulary: Vocabulary) -> Expression:
    """The expression in a text, or a `SourceError` that says what would be right."""
    tree, size = parse(text)
    return Expression(text, _Check(scope, vocabulary).value(tree, scope.facts), size)


def check_condition(text: str, scope: Scope, vocabulary: Vocabulary) -> Expression:
    """The same for an expression that must be true or false."""
    tree, size = parse(text)
    return Expression(text, _Check(scope, vocabulary).condition(tree, scope.facts), size)


class _Check(Check):
    def value(self, tree: ast.expr, facts: Facts) -> Node:
        match tree:
            case ast.Constant():
                return _constant(tree)
            case ast.Name() | ast.Attribute():
                return _mention(self, tree, facts)
            case ast.IfExp():
                return _choice(self, tree, facts, self.value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as number):
                positive = _constant(number)
                if positive.kind.name != "number":
                    raise fault(f"{quoted(number)} is not a number")
                return nodes.Negative(NUMBER, positive)
            case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
                result = _arithmetic(self, tree, facts)
                return nodes.Finite(result.kind, result)
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp() | ast.Compare():
                return self.condition(tree, facts)
            case ast.Call():
                return call(self, tree, facts)
            case ast.ListComp():
                return listed(self, tree, facts)
        for refused, (message, hint) in _REFUSED.items():
            if isinstance(tree, refused):
                raise fault(message, hint, "forbidden")
        raise fault(f"{type(tree).__name__} is not part of the language", kind="forbidden")

    def condition(self, tree: ast.expr, facts: Facts) -> Node:
        match tree:
            case ast.BoolOp():
                return _joined(self, tree, facts)
            case ast.UnaryOp(op=ast.Not()):
                return nodes.Not(BOOL, self.condition(tree.operand, facts))
            case ast.Compare():
                return _compare(self, tree, facts)
            case ast.IfExp():
                return _choice(self, tree, facts, self.condition)
        node, shown = self.value(tree, facts), quoted(tree)
        if node.kind.name == "bool":
            if node.kind.nullable:
                raise fault(f"{shown} may be none", f"write {shown} == true")
            return node
        if not node.kind.known:
            return node
        if not isinstance(node, Mention):
            raise fault(f"{node.kind} is neither true nor false", "compare it")
        if not node.kind.nullable:
            raise fault(f"{shown} is always there: it is {node.kind}", "compare it with something")
        return nodes.Not(BOOL, nodes.IsNone(BOOL, node))


def _constant(tree: ast.Constant) -> Node:
    value = tree.value
    if isinstance(value, bool) or value is None:
        word = {True: "true", False: "false", None: "none"}[value]
        raise fault(f"{value} is not known here", f"write {word}", "name")
    if isinstance(value, str):
        return Literal(enum([value]), value)
    if isinstance(value, int | float):
        number = float(value) if abs(value) > MAX_WHOLE else value
        if not math.isfinite(number):
            raise fault("this number is too large", "write a smaller one")
        return Literal(NUMBER, number)
    raise fault(f"{value!r:.40} is not a value", "use numbers and texts")


def _choice(
    check: Check, tree: ast.IfExp, facts: Facts, branch: Callable[[ast.expr, Facts], Node]
) -> Node:
    test = check.condition(tree.test, facts)
    when_true, when_false = established(test)
    yes, no = branch(tree.body, facts | when_true), branch(tree.orelse, facts | when_false)
    kind = union(yes.kind, no.kind)
    if kind is None:
        raise fault(f"one side is {yes.kind}, the other {no.kind}", "both must be alike")
    return nodes.Choice(kind, test, yes, no)


def _joined(check: Check, tree: ast.BoolOp, facts: Facts) -> Node:
    both, parts = isinstance(tree.op, ast.And), list[Node]()
    for part in tree.values:
        node = check.condition(part, facts)
        facts |= established(node)[0 if both else 1]
        parts.append(node)
    return nodes.Joined(BOOL, both, tuple(parts))


# ------------------------------------------------------------------------------------------- names


def _mention(check: Check, tree: ast.expr, facts: Facts) -> Node:
    names: list[str] = []
    base = tree
    while isinstance(base, ast.Attribute):
        names.append(base.attr)
        base = base.value
    if not isinstance(base, ast.Name):
        raise fault("a dot follows a name", "name the value in reads first")
    path = (base.id, *reversed(names))
    if path[0] in _WORDS and len(path) == 1:
        return _WORDS[path[0]]
    return _chart(path, facts) if path[0] == "chart" else _resolved(check, path, facts)


def _resolved(check: Check, names: Names, facts: Facts) -> Mention:
    """What a path of names leads to, step by step."""
    value = check.scope.get(names[0])
    if value is None:
        raise _unknown(check, names[0])
    named = value.at.name if isinstance(value.at, Slot) else None  # an element or a machine
    owner, anchor = value.element, None
    guards, attached = list[Location](), list[str]()
    for n, name in enumerate(names[1:], start=1):
        path = ".".join(names[:n])
        if value.kind.nullable and names[:n] not in facts:
            guards.append(value.at)
        if value.kind.shape is not None:
            shape = check.vocabulary.shapes[value.kind.shape]
            inside = shape.get(name)
            if inside is None:
                raise fault(f"{path} has no {name!r}", suggestion(name, [*shape.names()]), "name")
            value = inside.of(value.at)
            if value.element is not None:
                owner = value.element
                attached.append(owner)
        elif value.kind.name == "anchor" and (part := value.side(name)) is not None:
            kind, anchor = (NUMBER if name == "bar" else TIME), value.at
            value = Value(kind, part.at, part.needs, unstable=value.unstable or name == "bar")
        elif value.kind.name == "anchor":
            raise fault(f"{path} has no {name!r}", "an anchor has bar and time", "name")
        else:
            raise fault(f"{path} is {value.kind}: it has no {name!r}", kind="name")
    kind = value.kind
    if names in facts:
        kind, guards = kind.there(), []
    elif guards:
        kind = kind.or_none(absent=True)
    return Mention(kind, names, value, tuple(guards), anchor, named, tuple(attached), owner)


def _chart(names: Names, facts: Facts) -> Mention:
    if len(names) != 2 or names[1] not in CHART_KINDS:
        hint = suggestion(names[-1], list(CHART_KINDS))
        raise fault(f"the chart has no {'.'.join(names[1:])!r}", hint, "name")
    kind = CHART_KINDS[names[1]] if names in facts else chart_kind(names[1])
    value = Value(kind, Slot("chart", names[1]), unstable=names[1] == "last_bar")
    return Mention(kind, names, value)


def _unknown(check: Check, name: str) -> SourceError:
    if name in check.scope.lists:
        return fault(
            f"{name!r} may occur several times, so it cannot be named alone",
            f"give it a count of at most one, or list it: [e for v in {name}]",
            "name",
        )
    if name in check.vocabulary.tables:
        return fault(f"{name!r} is an encoding", f"call it: {name}(field)", "name")
    known = [*check.scope.known(), *check.scope.lists]
    return fault(f"{name!r} is not known here", suggestion(name, known), "name")


# -------------------------------------------------------------------------------------- arithmetic


def _arithmetic(check: Check, tree: ast.expr, facts: Facts) -> Node:
    """A sum or product whose finiteness is yet to be checked, once, by whoever uses it."""
    if isinstance(tree, ast.UnaryOp):
        return nodes.Negative(NUMBER, _operand(check, tree.operand, facts, times=False))
    assert isinstance(tree, ast.BinOp)
    sign = _SIGNS.get(type(tree.op))
    if sign is None:
        raise fault("this operator is not known here", "use + - * /", "forbidden")
    left, right = _operand(check, tree.left, facts), _operand(check, tree.right, facts)
    if sign == "/" and isinstance(right, nodes.Arithmetic | nodes.Negative):
        right = nodes.Finite(right.kind, right)
    times = [node.kind.name for node in (left, right)].count("time")
    if times and not (sign == "-" and left.kind.name == "time") and (sign, times) != ("+", 1):
        raise fault(f"a time does not go with {sign} here", "subtract times, or add milliseconds")
    return nodes.Arithmetic(TIME if times == 1 else NUMBER, sign, left, right)


def _operand(check: Check, tree: ast.expr, facts: Facts, times: bool = True) -> Node:
    if isinstance(tree, ast.BinOp) or (
        isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub)
    ):
        return _arithmetic(check, tree, facts)
    node = check.value(tree, facts)
    if node.kind.name not in ("number", "unknown", *(["time"] if times else [])):
        raise fault(f"{quoted(tree)} is {node.kind}, not a number")
    return check.there(tree, node)


# ------------------------------------------------------------------------------------- comparisons


def _compare(check: Check, tree: ast.Compare, facts: Facts) -> Node:
    if len(tree.ops) != 1:
        raise fault("comparisons are made one at a time", "write a < b and b < c", "forbidden")
    op, left, right = tree.ops[0], tree.left, tree.comparators[0]
    match op:
        case ast.In():
            return _membership(check, left, right, facts)
        case ast.NotIn():
            return nodes.Not(BOOL, _membership(check, left, right, facts))
        case ast.Eq():
            return _equality(check, left, right, facts)
        case ast.NotEq():
            return nodes.Not(BOOL, _equality(check, left, right, facts))
        case ast.Is() | ast.IsNot():
            raise fault("`is` is not known here", "write == or !=", "forbidden")
    sign = _ORDER[type(op)]
    one, other = check.value(left, facts), check.value(right, facts)
    kinds = {one.kind.name, other.kind.name} - {"unknown"}
    if len(kinds) > 1 or not kinds <= {"number", "time", "anchor"}:
        raise fault(
            f"{quoted(left)} is {one.kind} and {quoted(right)} {other.kind}: "
            f"{sign} does not compare them",
            "numbers, times and anchors have an order",
        )
    return nodes.Compare(BOOL, sign, check.there(left, one), check.there(right, other))


def _equality(check: Check, left: ast.expr, right: ast.expr, facts: Facts) -> Node:
    one, other = check.value(left, facts), check.value(right, facts)
    if one.kind.name == "none" or other.kind.name == "none":
        asked, node = (right, other) if one.kind.name == "none" else (left, one)
        if node.kind.known and (node.kind.name == "none" or not node.kind.nullable):
            raise fault(f"{quoted(asked)} is never none", "remove the comparison")
        return nodes.IsNone(BOOL, node)
    return nodes.Compare(BOOL, "==", *_comparable(left, one, right, other))


def _membership(check: Check, left: ast.expr, right: ast.expr, facts: Facts) -> Node:
    if not isinstance(right, ast.List) or not right.elts:
        raise fault("`in` is followed by a list of values", "write x in [a, b]")
    one, items = check.value(left, facts), list[Node]()
    compared = one
    for item in right.elts:
        other = check.value(item, facts)
        if other.kind.name == "none":
            raise fault("none cannot stand in a list", "write x == none or x in […]")
        compared, value = _comparable(left, one, item, other)
        items.append(value)
    return nodes.Among(BOOL, compared, tuple(items))


def _comparable(left: ast.expr, one: Node, right: ast.expr, other: Node) -> tuple[Node, Node]:
    """Both sides of an equality, where it can hold; a text written as a colour becomes one."""
    if not one.kind.known or not other.kind.known:
        return one, other
    if one.kind.name == "color" and other.kind.name == "enum":
        other = color(other)
    elif other.kind.name == "color" and one.kind.name == "enum":
        one = color(one)
    if one.kind.nullable and other.kind.nullable:
        message = f"{quoted(left)} and {quoted(right)} may both be none, and none would equal none"
        raise fault(message, f"ask first: {quoted(right)} != none and …")
    names = {one.kind.name, other.kind.name}
    if names == {"enum"} and not set(one.kind.names) & set(other.kind.names):
        raise fault(
            f"{quoted(left)} is {one.kind} and {quoted(right)} is {other.kind}: "
            "they are never equal",
            suggestion(other.kind.names[0], one.kind.names),
        )
    if names <= {"text", "enum"}:
        return one, other
    if len(names) > 1 or not names <= {"number", "bool", "color", "anchor", "time"}:
        raise fault(
            f"{quoted(left)} is {one.kind} and {quoted(right)} {other.kind}: they are never equal",
            "compare values of one kind",
        )
    if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
        raise fault("two constants are compared", "write the result")
    return one, other
