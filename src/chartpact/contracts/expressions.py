"""Expressions: parsed as Starlark, held to a whitelist, given kinds, and turned into Python code.

The checker walks the syntax tree once. Each node yields a kind and a piece of code made only of
index lookups on rows, names with a prefix of our own, and literals that were written anew; nothing
of the author's text reaches the code otherwise. Knowledge that a value is there flows through
`and`, `or`, `not` and `if` as a set of dotted paths.
"""

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from chartpact import palette
from chartpact.contracts import patterns
from chartpact.contracts.errors import suggestion
from chartpact.contracts.kinds import (
    BOOL,
    COLOR,
    NONE,
    NUMBER,
    TIME,
    UNKNOWN,
    Kind,
    enum,
    union,
)
from chartpact.contracts.model import MAX_EXPRESSION, RESERVED
from chartpact.contracts.scope import CHART_KINDS, NOTHING, Needs, Scope, Side, Value
from chartpact.syntax import Places, SourceError, guarded_parse

MAX_NODES = 200
MAX_NESTING = 40
LARGEST_WHOLE = 2**53

Facts = frozenset[str]
NO_FACTS: Facts = frozenset()

_OF_LISTS = ("len", "any", "all", "only")
FUNCTIONS = (
    *"abs min max mean near round_to_tick alpha starts_with matches".split(),
    *_OF_LISTS,
)

_ARITHMETIC: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}
_ORDER: Mapping[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
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


@dataclass
class Vocabulary:
    """What all expressions of a contract may call and mention."""

    encodings: Mapping[str, Mapping[str, list[object]]] = field(default_factory=dict)
    config: Mapping[str, Kind] = field(default_factory=dict)


@dataclass(frozen=True)
class Reference:
    """A name that an expression mentions: of which element (None: its own), and what it needs."""

    element: str | None
    name: str
    needs: Needs


@dataclass
class Compiled:
    """An expression with its kind, its code, and everything it depends on."""

    text: str
    tree: ast.expr
    value: Value
    needs: Needs
    elements: frozenset[str]  # elements and machines that it refers to
    free: frozenset[str]  # variables that a function with this code must fetch first
    config: frozenset[str]
    encodings: frozenset[tuple[str, str]]  # (table, kind of what it is called on)
    patterns: frozenset[str]
    references: Mapping[str, Reference]  # by dotted path
    unstable: bool  # depends on the order of anchors or on bar numbers, which shift
    nodes: int

    @property
    def kind(self) -> Kind:
        return self.value.kind

    @property
    def code(self) -> str:
        return self.value.code


def compile_expression(text: str, scope: Scope, vocabulary: Vocabulary) -> Compiled:
    """The expression in a text, or a `SourceError` that says what would be right."""
    tree, nodes = parse(text)
    checker = _Checker(text, scope, vocabulary)
    value = checker.value(tree, NO_FACTS)
    return checker.compiled(text, tree, value, nodes)


def compile_condition(text: str, scope: Scope, vocabulary: Vocabulary) -> Compiled:
    """The same for an expression that must be true or false."""
    tree, nodes = parse(text)
    checker = _Checker(text, scope, vocabulary)
    code, _, _ = checker.condition(tree, NO_FACTS)
    return checker.compiled(text, tree, Value(BOOL, code), nodes)


def parse(text: str) -> tuple[ast.expr, int]:
    """The syntax tree of an expression and its number of nodes."""
    tree = guarded_parse(
        f"({text}\n)",  # brackets let an expression run over lines
        "eval",
        max_chars=MAX_EXPRESSION + 3,
        max_nesting=MAX_NESTING,
        max_depth=MAX_NODES,
        prefixes=("", "r"),
    ).body
    nodes = sum(isinstance(node, ast.expr | ast.comprehension) for node in ast.walk(tree))
    if nodes > MAX_NODES:
        raise SourceError(
            "size", f"{nodes} nodes are too many", hint=f"at most {MAX_NODES}: name parts in reads"
        )
    return tree, nodes


class _Checker:
    def __init__(self, text: str, scope: Scope, vocabulary: Vocabulary) -> None:
        self.scope, self.vocabulary = scope, vocabulary
        self._places = Places(f"({text}\n)")
        self.needs: set[object] = set()
        self.elements: set[str] = set()
        self.free: set[str] = set()
        self.config: set[str] = set()
        self.encodings: set[tuple[str, str]] = set()
        self.patterns: set[str] = set()
        self.references: dict[str, Reference] = {}
        self.unstable = False
        self._temporaries = 0
        self._in_list = False

    def compiled(self, text: str, tree: ast.expr, value: Value, nodes: int) -> Compiled:
        return Compiled(
            text,
            tree,
            value,
            frozenset(self.needs),  # type: ignore[arg-type]
            frozenset(self.elements),
            frozenset(self.free),
            frozenset(self.config),
            frozenset(self.encodings),
            frozenset(self.patterns),
            self.references,
            self.unstable,
            nodes,
        )

    def fail(self, node: ast.AST, message: str, hint: str = "", kind: str = "type") -> SourceError:
        line, column = self._places.of(node)
        if line == 1 and column is not None:
            column = max(column - 1, 1)  # the bracket that was put in front
        return SourceError(kind, message, line, column, hint)

    # ---------------------------------------------------------------------------------- values

    def value(self, node: ast.expr, facts: Facts) -> Value:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name() | ast.Attribute():
                return self._path(node, facts)
            case ast.IfExp():
                return self._choice(node, facts)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as number):
                positive = self._constant(number)
                if positive.kind.name != "number":
                    raise self.fail(number, f"{self._told(number)} is not a number")
                return Value(NUMBER, f"(-{positive.code})")
            case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
                kind, code = self._arithmetic(node, facts)
                return Value(kind, self._finite(code))
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp() | ast.Compare():
                return Value(BOOL, self.condition(node, facts)[0])
            case ast.Call():
                return self._call(node, facts)
            case ast.ListComp():
                return self._list(node, facts)
        for refused, (message, hint) in _REFUSED.items():
            if isinstance(node, refused):
                raise self.fail(node, message, hint, "forbidden")
        raise self.fail(
            node, f"{type(node).__name__} is not part of the language", kind="forbidden"
        )

    def _constant(self, node: ast.Constant) -> Value:
        value = node.value
        if isinstance(value, bool) or value is None:
            word = {True: "true", False: "false", None: "none"}[value]
            raise self.fail(node, f"{value} is not known here", f"write {word}", "name")
        if isinstance(value, str):
            return Value(enum([value]), ascii(value))
        if isinstance(value, int | float):
            number = float(value) if abs(value) > LARGEST_WHOLE else value
            if not math.isfinite(number):
                raise self.fail(node, "this number is too large", "write a smaller one")
            return Value(NUMBER, repr(number))
        raise self.fail(node, f"{value!r:.40} is not a value", "use numbers and texts")

    def _path(self, node: ast.expr, facts: Facts) -> Value:
        names: list[str] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            names.append(base.attr)
            base = base.value
        if not isinstance(base, ast.Name):
            raise self.fail(base, "a dot follows a name", "name the value in reads first")
        names.append(base.id)
        names.reverse()
        return self._resolve(node, names, facts)

    def _resolve(self, node: ast.expr, names: list[str], facts: Facts) -> Value:
        first = names[0]
        if first in ("true", "false", "none") and len(names) == 1:
            return {
                "true": Value(BOOL, "True"),
                "false": Value(BOOL, "False"),
                "none": Value(NONE, "None"),
            }[first]
        if first == "chart":
            return self._chart(node, names, facts)
        found = self.scope.get(first)
        if found is None:
            raise self._unknown(node, first)
        current, path, guards = found, first, []
        owner = self._note(first, current)
        for name in names[1:]:
            if current.kind.shape is not None:
                if current.kind.nullable and path not in facts:
                    guards.append(f"{current.code} is None")
                inside = current.kind.shape.get(name)
                if inside is None:
                    known = list(current.kind.shape.names())
                    raise self.fail(
                        node, f"{path} has no {name!r}", suggestion(name, known), "name"
                    )
                current = inside.on(current.code)
                owner = current.element or owner
                if current.element is not None:
                    self.elements.add(current.element)
            elif current.kind.name == "anchor" and name in ("bar", "time"):
                current = self._anchor_part(current, name)
            else:
                raise self._no_field(node, path, current.kind, name)
            path = f"{path}.{name}"
        self.needs |= current.needs
        self.unstable |= current.unstable
        self.references[path] = Reference(owner, names[-1], current.needs)
        if guards and path not in facts:
            current = self._guarded(current, guards)
        elif path in facts:
            current = replace(current, kind=current.kind.there())
        return current

    def _note(self, first: str, found: Value) -> str | None:
        if first in self.vocabulary.config and found.code == f"c_{first}":
            self.config.add(first)
        if found.code[:2] in ("e_", "s_"):
            self.free.add(found.code)
            self.elements.add(found.element or first)
        return found.element

    def _guarded(self, value: Value, guards: list[str]) -> Value:
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

    def _anchor_part(self, anchor: Value, name: str) -> Value:
        side = anchor.bar if name == "bar" else anchor.time
        assert side is not None
        self.unstable |= name == "bar"
        kind = NUMBER if name == "bar" else TIME
        lost = f"lost({anchor.code})"
        return Value(kind, f"({side.code} if {side.code} is not None else {lost})", side.needs)

    def _chart(self, node: ast.expr, names: list[str], facts: Facts) -> Value:
        if len(names) != 2 or names[1] not in CHART_KINDS:
            hint = suggestion(names[-1], list(CHART_KINDS))
            raise self.fail(node, f"the chart has no {'.'.join(names[1:])!r}", hint, "name")
        kind, code = CHART_KINDS[names[1]], f"ch_{names[1]}"
        self.free.add(code)
        self.unstable |= names[1] == "last_bar"
        if names[1] not in ("symbol", "timeframe") and ".".join(names) not in facts:
            kind = replace(kind, nullable=True, loose=True)
        return Value(kind, code)

    def _unknown(self, node: ast.expr, name: str) -> SourceError:
        if name in self.scope.sets:
            return self.fail(
                node,
                f"{name!r} may occur several times, so it cannot be named alone",
                "give it a count of at most one, or list it: [e for v in " + name + "]",
                "name",
            )
        if name in self.vocabulary.encodings:
            return self.fail(node, f"{name!r} is an encoding", f"call it: {name}(field)", "name")
        hint = suggestion(name, [*self.scope.known(), *self.scope.sets])
        return self.fail(node, f"{name!r} is not known here", hint, "name")

    def _no_field(self, node: ast.expr, path: str, kind: Kind, name: str) -> SourceError:
        if kind.name == "anchor":
            return self.fail(node, f"{path} has no {name!r}", "an anchor has bar and time", "name")
        return self.fail(node, f"{path} is {kind}: it has no {name!r}", kind="name")

    def _choice(self, node: ast.IfExp, facts: Facts) -> Value:
        test, when_true, when_false = self.condition(node.test, facts)
        first = self.value(node.body, facts | when_true)
        second = self.value(node.orelse, facts | when_false)
        kind = union(first.kind, second.kind)
        if kind is None:
            raise self.fail(
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

    # ------------------------------------------------------------------------------ arithmetic

    def _arithmetic(self, node: ast.expr, facts: Facts) -> tuple[Kind, str]:
        """A sum or product whose finiteness is yet to be checked, once, by whoever uses it."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return NUMBER, f"(-{self._operand(node.operand, facts, NUMBER)[1]})"
        assert isinstance(node, ast.BinOp)
        sign = _ARITHMETIC.get(type(node.op))
        if sign is None:
            raise self.fail(node, "this operator is not known here", "use + - * /", "forbidden")
        left, one = self._operand(node.left, facts)
        right, other = self._operand(node.right, facts, divides=sign == "/")
        times = [kind.name for kind in (left, right)].count("time")
        kind = NUMBER
        if times and not (sign == "-" and left.name == "time") and not (sign == "+" and times == 1):
            raise self.fail(
                node, f"a time does not go with {sign} here", "subtract times, or add milliseconds"
            )
        if times == 1:
            kind = TIME
        if sign == "*":  # as floats, so that no product of whole numbers grows without end
            return kind, f"(1.0 * {one} * {other})"
        return kind, f"({one} {sign} {other})"

    def _operand(
        self, node: ast.expr, facts: Facts, only: Kind | None = None, divides: bool = False
    ) -> tuple[Kind, str]:
        if isinstance(node, ast.BinOp) or (
            isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        ):
            kind, code = self._arithmetic(node, facts)
            return kind, self._finite(code) if divides else code
        value = self.value(node, facts)
        if value.kind.name not in ("number", "time", "unknown") or (
            only is not None and value.kind.name == "time"
        ):
            raise self.fail(node, f"{self._told(node)} is {value.kind}, not a number")
        return value.kind.there(), self._there(node, value)

    def _finite(self, code: str) -> str:
        name = self._temporary()
        return f"({name} if -1e999 < ({name} := {code}) < 1e999 else endless())"

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    def _there(self, node: ast.expr, value: Value) -> str:
        """The code of a value that must not be none here."""
        if not value.kind.nullable:
            return value.code
        told = self._told(node)
        if value.kind.loose:
            return f"({value.code} if {value.code} is not None else unknown({told!a}))"
        raise self.fail(node, f"{told} may be none here", f"ask first: {told} != none and …")

    def _told(self, node: ast.expr) -> str:
        return ast.unparse(node)[:60]

    # ------------------------------------------------------------------------------ conditions

    def condition(self, node: ast.expr, facts: Facts) -> tuple[str, Facts, Facts]:
        """The code of a condition, and what is known to be there when it holds and when not."""
        match node:
            case ast.BoolOp():
                return self._and_or(node, facts)
            case ast.UnaryOp(op=ast.Not()):
                code, when_true, when_false = self.condition(node.operand, facts)
                return f"(not {code})", when_false, when_true
            case ast.Compare():
                return self._compare(node, facts)
            case ast.IfExp():
                test, yes, no = self.condition(node.test, facts)
                first, first_true, first_false = self.condition(node.body, facts | yes)
                second, second_true, second_false = self.condition(node.orelse, facts | no)
                return (
                    f"({first} if {test} else {second})",
                    (yes | first_true) & (no | second_true),
                    (yes | first_false) & (no | second_false),
                )
        value = self.value(node, facts)
        if value.kind.name == "bool":
            if value.kind.nullable:
                told = self._told(node)
                raise self.fail(node, f"{told} may be none", f"write {told} == true")
            return value.code, NO_FACTS, NO_FACTS
        if not value.kind.known:
            return value.code, NO_FACTS, NO_FACTS
        if value.kind.name == "none" or not isinstance(node, ast.Name | ast.Attribute):
            raise self.fail(node, f"{value.kind} is neither true nor false", "compare it")
        told = self._told(node)
        if not value.kind.nullable:
            raise self.fail(
                node, f"{told} is always there: it is {value.kind}", "compare it with something"
            )
        return f"({value.code} is not None)", _prefixes(told), NO_FACTS

    def _and_or(self, node: ast.BoolOp, facts: Facts) -> tuple[str, Facts, Facts]:
        both = isinstance(node.op, ast.And)
        known, others = facts, None
        codes, gathered = [], NO_FACTS
        for part in node.values:
            code, when_true, when_false = self.condition(part, known)
            codes.append(code)
            goes_on, stops = (when_true, when_false) if both else (when_false, when_true)
            reached = gathered | stops
            others = reached if others is None else others & reached
            gathered |= goes_on
            known |= goes_on
        joined = (" and " if both else " or ").join(codes)
        stopped = others or NO_FACTS
        return f"({joined})", *((gathered, stopped) if both else (stopped, gathered))

    def _compare(self, node: ast.Compare, facts: Facts) -> tuple[str, Facts, Facts]:
        if len(node.ops) != 1:
            raise self.fail(
                node, "comparisons are made one at a time", "write a < b and b < c", "forbidden"
            )
        op, right = node.ops[0], node.comparators[0]
        match op:
            case ast.In() | ast.NotIn():
                code, known = self._membership(node, right, facts)
                if isinstance(op, ast.In):
                    return code, known, NO_FACTS
                return f"(not {code})", NO_FACTS, known
            case ast.Eq() | ast.NotEq():
                code, when_equal, when_not = self._equality(node, right, facts)
                if isinstance(op, ast.Eq):
                    return code, when_equal, when_not
                return f"(not {code})", when_not, when_equal
            case ast.Is() | ast.IsNot():
                raise self.fail(node, "`is` is not known here", "write == or !=", "forbidden")
        sign = _ORDER[type(op)]
        one, other = self.value(node.left, facts), self.value(right, facts)
        kinds = {one.kind.name, other.kind.name} - {"unknown"}
        if len(kinds) > 1 or not kinds <= {"number", "time", "anchor"}:
            raise self.fail(
                node,
                f"{self._told(node.left)} is {one.kind} and {self._told(right)} {other.kind}: "
                f"{sign} does not compare them",
                "numbers, times and anchors have an order",
            )
        self.unstable |= "anchor" in kinds
        code = f"({self._there(node.left, one)} {sign} {self._there(right, other)})"
        return code, NO_FACTS, NO_FACTS

    def _equality(
        self, node: ast.Compare, right: ast.expr, facts: Facts
    ) -> tuple[str, Facts, Facts]:
        left = node.left
        one, other = self.value(left, facts), self.value(right, facts)
        if one.kind.name == "none" or other.kind.name == "none":
            asked, value = (right, other) if one.kind.name == "none" else (left, one)
            if value.kind.known and (value.kind.name == "none" or not value.kind.nullable):
                raise self.fail(node, f"{self._told(asked)} is never none", "remove the comparison")
            return f"({value.code} is None)", NO_FACTS, self._fact(asked)
        one, other = self._comparable(node, left, one, right, other)
        code = f"({one.code} == {other.code})"
        if one.kind.name == "anchor":
            code = f"({one.code} == {other.code} != NOWHERE)"
            self.unstable = True
        known = NO_FACTS
        if one.kind.nullable:
            known = self._fact(left)
        elif other.kind.nullable:
            known = self._fact(right)
        return code, known, NO_FACTS

    def _membership(self, node: ast.Compare, right: ast.expr, facts: Facts) -> tuple[str, Facts]:
        if not isinstance(right, ast.List) or not right.elts:
            raise self.fail(right, "`in` is followed by a list of values", "write x in [a, b]")
        one = self.value(node.left, facts)
        codes = []
        for item in right.elts:
            other = self.value(item, facts)
            if other.kind.name == "none":
                raise self.fail(item, "none cannot stand in a list", "write x == none or x in […]")
            compared, value = self._comparable(node, node.left, one, item, other)
            codes.append(value.code)
        if one.kind.name == "anchor":
            self.unstable = True
            return f"({compared.code} != NOWHERE and {one.code} in ({', '.join(codes)},))", NO_FACTS
        known = self._fact(node.left) if one.kind.nullable else NO_FACTS
        return f"({compared.code} in ({', '.join(codes)},))", known

    def _comparable(
        self, node: ast.Compare, left: ast.expr, one: Value, right: ast.expr, other: Value
    ) -> tuple[Value, Value]:
        """Both sides of an equality, where it can hold; a text written as a colour becomes one."""
        if not one.kind.known or not other.kind.known:
            return one, other
        if one.kind.name == "color" and other.kind.name == "enum":
            other = self._color(right, other)
        elif other.kind.name == "color" and one.kind.name == "enum":
            one = self._color(left, one)
        if one.kind.nullable and other.kind.nullable:
            raise self.fail(
                node,
                f"{self._told(left)} and {self._told(right)} may both be none, "
                "and none would equal none",
                f"ask first: {self._told(right)} != none and …",
            )
        names = {one.kind.name, other.kind.name}
        if names == {"enum"} and not set(one.kind.names) & set(other.kind.names):
            raise self.fail(
                node,
                f"{self._told(left)} is {one.kind} and {self._told(right)} is {other.kind}: "
                "they are never equal",
                suggestion(other.kind.names[0], one.kind.names),
            )
        if names <= {"text", "enum"}:
            return one, other
        if len(names) > 1 or not names <= {"number", "bool", "color", "anchor", "time"}:
            raise self.fail(
                node,
                f"{self._told(left)} is {one.kind} and {self._told(right)} {other.kind}: "
                "they are never equal",
                "compare values of one kind",
            )
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
            raise self.fail(node, "two constants are compared", "write the result")
        return one, other

    def _color(self, node: ast.expr, literal: Value) -> Value:
        for name in literal.kind.names:
            if not palette.is_hex(name):
                raise self.fail(node, f"{name!r} is not a colour", "write '#rrggbb'")
        if not isinstance(node, ast.Constant):
            raise self.fail(node, "a colour is written as such", "write '#rrggbb' where compared")
        full = palette.color(str(node.value))
        return Value(COLOR, ascii(full[:7]), alpha=Side(str(int(full[7:], 16))))

    def _fact(self, node: ast.expr) -> Facts:
        return (
            _prefixes(ast.unparse(node)) if isinstance(node, ast.Name | ast.Attribute) else NO_FACTS
        )

    # ----------------------------------------------------------------------------------- calls

    def _call(self, node: ast.Call, facts: Facts) -> Value:
        if not isinstance(node.func, ast.Name):
            raise self.fail(node, "only functions of the language are called", kind="forbidden")
        name = node.func.id
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            raise self.fail(node, f"{name} takes plain arguments", kind="forbidden")
        if name in self.vocabulary.encodings:
            return self._encode(node, name, facts)
        if name in _OF_LISTS:
            return self._over_list(node, name, facts)
        if name not in FUNCTIONS:
            functions = [*FUNCTIONS, *self.vocabulary.encodings]
            raise self.fail(
                node, f"there is no function {name!r}", suggestion(name, functions), "name"
            )
        at_least, at_most = _ARGUMENTS.get(name, (2, 2))
        if not at_least <= len(node.args) <= at_most:
            wanted = f"{at_least}" if at_least == at_most else f"at least {at_least}"
            raise self.fail(node, f"{name} takes {wanted} values, not {len(node.args)}")
        if name == "alpha":
            return self._alpha(node, facts)
        if name in ("starts_with", "matches"):
            return self._text_test(node, name, facts)
        return self._numeric(node, name, facts)

    def _numeric(self, node: ast.Call, name: str, facts: Facts) -> Value:
        codes = []
        for argument in node.args:
            value = self.value(argument, facts)
            if value.kind.name not in ("number", "unknown"):
                raise self.fail(
                    argument, f"{name} takes numbers; {self._told(argument)} is {value.kind}"
                )
            codes.append(self._there(argument, value))
        if name in ("near", "round_to_tick"):
            tick = self.vocabulary.config.get("tick_size", NUMBER)
            if tick.name != "number" or tick.nullable:
                raise self.fail(
                    node,
                    f"{name} needs tick_size, which may be none or is no number here",
                    "declare it: tick_size: {type: number, from: chart.tick_size}",
                )
            self.config.add("tick_size")
        match name:
            case "near":
                return Value(BOOL, f"(abs({codes[0]} - {codes[1]}) <= HALF_TICK)")
            case "round_to_tick":
                return Value(NUMBER, f"to_tick({codes[0]})")
            case "mean":
                return Value(NUMBER, self._finite(f"(({' + '.join(codes)}) / {len(codes)})"))
        return Value(NUMBER, f"{name}({', '.join(codes)})")

    def _alpha(self, node: ast.Call, facts: Facts) -> Value:
        argument = node.args[0]
        value = self.value(argument, facts)
        told = self._told(argument)
        if not value.kind.known:
            return Value(NUMBER, "0")
        if value.kind.name == "enum":
            value = self._color(argument, value)
        if value.kind.name != "color":
            raise self.fail(argument, f"alpha takes a colour, {told} is {value.kind}")
        if value.kind.absent:
            raise self.fail(argument, f"{told} may be none here", "ask first whether it is there")
        if value.shared:
            raise self.fail(
                argument,
                f"{told} is the colour of a group, whose members may differ in opacity",
                "ask for the opacity of one part",
            )
        if value.alpha is None:
            raise self.fail(argument, f"{told} has no opacity of its own", "name a drawn colour")
        return Value(NUMBER, value.alpha.code)

    def _text_test(self, node: ast.Call, name: str, facts: Facts) -> Value:
        subject, pattern = node.args
        text = self.value(subject, facts)
        if text.kind.name not in ("text", "enum", "unknown"):
            raise self.fail(subject, f"{self._told(subject)} is {text.kind}, not a text")
        code = self._there(subject, text)
        if name == "starts_with":
            start = self.value(pattern, facts)
            if start.kind.name not in ("text", "enum", "unknown"):
                raise self.fail(pattern, f"{self._told(pattern)} is {start.kind}, not a text")
            return Value(BOOL, f"{code}.startswith({self._there(pattern, start)})")
        if isinstance(pattern, ast.Constant) and isinstance(pattern.value, str):
            if (wrong := patterns.fault(pattern.value)) is not None:
                raise self.fail(pattern, wrong, "patterns are those of RE2")
            self.patterns.add(pattern.value)
            return Value(BOOL, f"matching[{pattern.value!a}]({code})")
        found = self.value(pattern, facts)
        if found.kind.name != "pattern":
            raise self.fail(
                pattern, f"{self._told(pattern)} is {found.kind}, not a pattern",
                "write a text, or a config key of type pattern",
            )  # fmt: skip
        return Value(BOOL, f"{self._there(pattern, found)}.matches({code})")

    def _encode(self, node: ast.Call, name: str, facts: Facts) -> Value:
        if not self.scope.encodings:
            raise self.fail(
                node, f"the encoding {name!r} is called in reads only",
                "name its result in reads, and use that name here", "forbidden",
            )  # fmt: skip
        if len(node.args) != 1:
            raise self.fail(node, f"{name} takes one value, not {len(node.args)}")
        argument = node.args[0]
        value = self.value(argument, facts)
        names = enum(self.vocabulary.encodings[name])
        if not value.kind.known:
            return Value(UNKNOWN, "None")
        if value.kind.nullable and (value.kind.absent or value.kind.name != "color"):
            self._there(argument, value)
        self._check_fit(node, name, value.kind)
        self.encodings.add((name, value.kind.name))
        return Value(names, f"E_{name}_{value.kind.name}[{value.code}]")

    def _check_fit(self, node: ast.Call, name: str, kind: Kind) -> None:
        if kind.name not in ("color", "text", "enum", "bool", "number"):
            raise self.fail(node, f"an encoding does not read {kind}", "give it a drawn field")
        for meaning, values in self.vocabulary.encodings[name].items():
            for value in values:
                if (wrong := self._misfit(value, kind)) is not None:
                    raise self.fail(
                        node, f"encodings.{name}.{meaning}: {wrong}",
                        f"{name} is called on {self._told(node.args[0])}, {kind}",
                    )  # fmt: skip

    def _misfit(self, value: object, kind: Kind) -> str | None:
        key = self.vocabulary.config.get(value) if isinstance(value, str) else None
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

    # ----------------------------------------------------------------------------------- lists

    def _over_list(self, node: ast.Call, name: str, facts: Facts) -> Value:
        if len(node.args) != 1:
            raise self.fail(node, f"{name} takes one list")
        argument = node.args[0]
        if not isinstance(argument, ast.ListComp):
            raise self.fail(argument, f"{name} takes a list", f"write {name}([e for v in element])")
        listed = self.value(argument, facts)
        item = listed.kind.of
        assert item is not None
        if not item.known:
            return Value(UNKNOWN, "None")
        if name == "len":
            return Value(NUMBER, f"len({listed.code})")
        if name in ("any", "all"):
            if item.name != "bool" or item.nullable:
                raise self.fail(argument, f"{name} takes a list of conditions, each here is {item}")
            return Value(BOOL, f"{name}({listed.code})")
        if item.name not in ("number", "text", "bool", "enum", "color", "time"):
            raise self.fail(
                argument, f"only takes values that can be compared, each here is {item}"
            )
        return Value(replace(item, nullable=True), f"only({listed.code})")

    def _list(self, node: ast.ListComp, facts: Facts) -> Value:
        if self._in_list:
            raise self.fail(node, "a list stands in a list", "a list has one `for`", "forbidden")
        if not self.scope.sets:
            raise self.fail(
                node, "a list has no place here: this runs once for each object",
                "list in output, in edge_cases without each, or in a machine of the reading",
                "forbidden",
            )  # fmt: skip
        run = node.generators[0]
        if len(node.generators) > 1 or len(run.ifs) > 1 or run.is_async:
            raise self.fail(node, "a list has one `for` and one `if`", "join with and", "forbidden")
        if not isinstance(run.iter, ast.Name) or run.iter.id not in self.scope.sets:
            hint = suggestion(ast.unparse(run.iter), list(self.scope.sets))
            raise self.fail(run.iter, "a list runs over an element", hint, "name")
        if not isinstance(run.target, ast.Name):
            raise self.fail(run.target, "a list has one variable", "write [e for v in element]")
        over, variable = run.iter.id, run.target.id
        if self.scope.get(variable) is not None or variable in {
            *self.scope.sets,
            *self.vocabulary.encodings,
            *RESERVED,
        }:
            raise self.fail(run.target, f"{variable!r} has a meaning already", "choose another")
        items = self.scope.sets[over]
        self.free.add(items.code)
        self.elements.add(over)
        kind = items.kind.of
        assert kind is not None
        outer, self._in_list = self.scope, True
        each = Value(kind, f"x_{variable}", element=over)
        self.scope = outer.with_names({variable: each})
        test, known, _ = ("", NO_FACTS, NO_FACTS)
        if run.ifs:
            test, known, _ = self.condition(run.ifs[0], facts)
        value = self.value(node.elt, facts | known)
        self.scope, self._in_list = outer, False
        condition = f" if {test}" if test else ""
        code = f"[{value.code} for x_{variable} in {items.code}{condition}]"
        return Value(Kind("list", of=value.kind), code)


_ARGUMENTS = {
    "abs": (1, 1),
    "round_to_tick": (1, 1),
    "alpha": (1, 1),
    "min": (2, MAX_NODES),
    "max": (2, MAX_NODES),
    "mean": (2, MAX_NODES),
}


def _opacity(value: Value) -> Side | None:
    """The opacity of one branch; where there is no colour it is 0."""
    return Side("0", NOTHING) if value.kind.name == "none" else value.alpha


def _prefixes(path: str) -> Facts:
    """A path that is there, and with it everything it hangs on."""
    names = path.split(".")
    return frozenset(".".join(names[: i + 1]) for i in range(len(names)))
