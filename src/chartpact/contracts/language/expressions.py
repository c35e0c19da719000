"""Expressions: from text to typed nodes, or to what would be right.

Python's parser reads the text, and its syntax tree is walked once. What is known to be there at
each place flows through `and`, `or`, `not` and `if` as a set of names: `hunted and near(y1,
hunted.top)` is fine where `hunted` may be none.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace

from chartpact import palette
from chartpact.checks import LARGEST, MAX_WHOLE
from chartpact.clock.errors import ClockError
from chartpact.clock.tradingcalendar import canonical_roll
from chartpact.clock.zones import zone
from chartpact.contracts.language import nodes
from chartpact.contracts.language.codecs import pattern_fault
from chartpact.contracts.language.document import suggestion
from chartpact.contracts.language.model import MAX_EXPRESSION, RESERVED
from chartpact.contracts.language.nodes import Expression, Literal, Mention, Node, prove
from chartpact.contracts.language.values import (
    BOOL,
    CHART_KINDS,
    COLOR,
    NO_FACTS,
    NONE,
    NUMBER,
    PATTERN,
    TIME,
    UNKNOWN,
    Constant,
    Facts,
    Kind,
    Local,
    Location,
    Names,
    NameScope,
    Slot,
    Value,
    Vocabulary,
    chart_kind,
    enum,
    union,
)
from chartpact.problem import Failure
from chartpact.syntax import fault, guarded_parse

MAX_NODES = 200
MAX_NESTING = 40
EACH = Local("x")  # the instance that a list has come to

_UNSUPPORTED: Mapping[type[ast.AST], tuple[str, str]] = {
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


def parse(text: str) -> tuple[ast.expr, int]:
    """The syntax tree of an expression and its number of nodes."""
    tree = guarded_parse(
        f"({text}\n)",  # brackets let an expression run over lines
        ast.Expression,
        max_chars=MAX_EXPRESSION + 3,
        max_nesting=MAX_NESTING,
        max_depth=MAX_NODES,
    ).body
    size = sum(isinstance(node, ast.expr | ast.comprehension) for node in ast.walk(tree))
    if size > MAX_NODES:
        raise _fault(f"{size} nodes are too many", f"at most {MAX_NODES}: name parts in reads")
    return tree, size


def check(
    text: str, scope: NameScope, vocabulary: Vocabulary, condition: bool = False
) -> Expression:
    """The expression in a text; raises `Failure`. A `condition` must be true or false."""
    tree, size = parse(text)
    checker = _Checker(scope, vocabulary)
    if not condition:
        return Expression(checker.value(tree, scope.facts), size)
    match tree:
        case ast.BoolOp(op=ast.And(), values=conjuncts):
            quotes = tuple(map(_quote, conjuncts))
        case _:
            quotes = (_quote(tree),)
    return Expression(checker.condition(tree, scope.facts), size, quotes)


def _fault(message: str, hint: str = "") -> Failure:
    return fault("type", message, hint=hint)


def _quote(tree: ast.expr) -> str:
    """An expression as a message quotes it."""
    return ast.unparse(tree)[:80]


def _require(tree: ast.expr, node: Node) -> Node:
    """A node that must not be none here."""
    if not node.kind.nullable:
        return node
    quote = _quote(tree)
    if node.kind.loose:
        return nodes.Known(node.kind.there(), node, quote)
    raise _fault(f"{quote} may be none here", f"ask first: {quote} != none and …")


class _Checker:
    """One expression while it is checked."""

    def __init__(self, scope: NameScope, vocabulary: Vocabulary) -> None:
        self.scope, self.vocabulary = scope, vocabulary

    def value(self, tree: ast.expr, facts: Facts) -> Node:
        match tree:
            case ast.Constant():
                return _constant(tree)
            case ast.Name() | ast.Attribute():
                return self._mention(tree, facts)
            case ast.IfExp():
                return self._choice(tree, facts, self.value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() as number):
                positive = _constant(number)
                if positive.kind.name != "number":
                    raise _fault(f"{_quote(number)} is not a number")
                return nodes.Negative(NUMBER, positive)
            case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
                result = self._arithmetic(tree, facts)
                return nodes.Finite(result.kind, result)
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp() | ast.Compare():
                return self.condition(tree, facts)
            case ast.Call():
                return self._call(tree, facts)
            case ast.ListComp():
                return self._listing(tree, facts)
        for syntax, (message, hint) in _UNSUPPORTED.items():
            if isinstance(tree, syntax):
                raise _fault(message, hint)
        raise _fault(f"{type(tree).__name__} is not part of the language")

    def condition(self, tree: ast.expr, facts: Facts) -> Node:
        match tree:
            case ast.BoolOp():
                return self._join(tree, facts)
            case ast.UnaryOp(op=ast.Not()):
                return nodes.Not(BOOL, self.condition(tree.operand, facts))
            case ast.Compare():
                return self._compare(tree, facts)
            case ast.IfExp():
                return self._choice(tree, facts, self.condition)
        node, quote = self.value(tree, facts), _quote(tree)
        if node.kind.name == "bool" and node.kind.nullable:
            raise _fault(f"{quote} may be none", f"write {quote} == true")
        if node.kind.name == "bool" or not node.kind.known:
            return node
        if not isinstance(node, Mention):
            raise _fault(f"{node.kind} is neither true nor false", "compare it")
        if not node.kind.nullable:
            raise _fault(f"{quote} is always there: it is {node.kind}", "compare it with something")
        return nodes.Not(BOOL, nodes.IsNone(BOOL, node))

    def _choice(
        self, tree: ast.IfExp, facts: Facts, branch: Callable[[ast.expr, Facts], Node]
    ) -> Node:
        test = self.condition(tree.test, facts)
        when_true, when_false = prove(test)
        yes, no = branch(tree.body, facts | when_true), branch(tree.orelse, facts | when_false)
        kind = union(yes.kind, no.kind)
        if kind is None:
            raise _fault(f"one side is {yes.kind}, the other {no.kind}", "both must be alike")
        return nodes.Choice(kind, test, yes, no)

    def _join(self, tree: ast.BoolOp, facts: Facts) -> Node:
        both, parts = isinstance(tree.op, ast.And), list[Node]()
        for part in tree.values:
            node = self.condition(part, facts)
            facts |= prove(node)[0 if both else 1]
            parts.append(node)
        return nodes.Joined(BOOL, both, tuple(parts))

    # --------------------------------------------------------------------------------------- names

    def _mention(self, tree: ast.expr, facts: Facts) -> Node:
        names: list[str] = []
        base = tree
        while isinstance(base, ast.Attribute):
            names.append(base.attr)
            base = base.value
        if not isinstance(base, ast.Name):
            raise _fault("a dot follows a name", "name the value in reads first")
        path = (base.id, *reversed(names))
        if path[0] in _WORDS and len(path) == 1:
            return _WORDS[path[0]]
        return _chart(path, facts) if path[0] == "chart" else self._resolve(path, facts)

    def _resolve(self, names: Names, facts: Facts) -> Mention:
        """The mention at the end of a path of names."""
        value = self.scope.get(names[0])
        if value is None:
            raise self._unknown_name(names[0])
        named = value.at.name if isinstance(value.at, Slot) else None  # an element or a machine
        owner, anchor = value.element, None
        guards, attached = list[Location](), list[str]()
        for n, name in enumerate(names[1:], start=1):
            path = ".".join(names[:n])
            if value.kind.nullable and names[:n] not in facts:
                guards.append(value.at)
            if value.kind.shape is not None:
                shape = self.vocabulary.shapes[value.kind.shape]
                inside = shape.get(name)
                if inside is None:
                    raise _fault(f"{path} has no {name!r}", suggestion(name, [*shape.names()]))
                value = inside.of(value.at)
                if value.element is not None:
                    owner = value.element
                    attached.append(owner)
            elif value.kind.name == "anchor" and (part := value.side(name)) is not None:
                anchor = value.at
                value = replace(part, unstable=value.unstable or name == "bar")
            elif value.kind.name == "anchor":
                raise _fault(f"{path} has no {name!r}", "an anchor has bar and time")
            else:
                raise _fault(f"{path} is {value.kind}: it has no {name!r}")
        kind = value.kind
        if names in facts:
            kind, guards = kind.there(), []
        elif guards:
            kind = kind.or_none(absent=True)
        return Mention(kind, names, value, tuple(guards), anchor, named, tuple(attached), owner)

    def _unknown_name(self, name: str) -> Failure:
        if name in self.scope.lists:
            return _fault(
                f"{name!r} may occur several times, so it cannot be named alone",
                f"give it a count of at most one, or list it: [e for v in {name}]",
            )
        if name in self.vocabulary.tables:
            return _fault(f"{name!r} is an encoding", f"call it: {name}(field)")
        known = [*self.scope.all_names(), *self.scope.lists]
        return _fault(f"{name!r} is not known here", suggestion(name, known))

    # ---------------------------------------------------------------------------------- arithmetic

    def _operand(
        self, tree: ast.expr, facts: Facts, *kinds: str, before: str = "", after: str = ""
    ) -> Node:
        """A value of one of some kinds; the message for another has words around its kind."""
        node = self.value(tree, facts)
        if node.kind.name not in (*kinds, "unknown"):
            raise _fault(f"{before}{_quote(tree)} is {node.kind}{after}")
        return _require(tree, node)

    def _arithmetic(self, tree: ast.expr, facts: Facts, *kinds: str) -> Node:
        """Unchecked arithmetic; the caller wraps it in `Finite`."""
        match tree:
            case ast.UnaryOp(op=ast.USub()):
                return nodes.Negative(NUMBER, self._arithmetic(tree.operand, facts, "number"))
            case ast.BinOp():
                pass
            case _:
                return self._operand(tree, facts, *kinds, after=", not a number")
        sign = _SIGNS.get(type(tree.op))
        if sign is None:
            raise _fault("this operator is not known here", "use + - * /")
        left, right = (
            self._arithmetic(side, facts, "number", "time") for side in (tree.left, tree.right)
        )
        if sign == "/" and isinstance(right, nodes.ArithmeticNode | nodes.Negative):
            right = nodes.Finite(right.kind, right)
        times = [node.kind.name for node in (left, right)].count("time")
        if times and not (sign == "-" and left.kind.name == "time") and (sign, times) != ("+", 1):
            hint = "subtract times, or add milliseconds"
            raise _fault(f"a time does not go with {sign} here", hint)
        return nodes.ArithmeticNode(TIME if times == 1 else NUMBER, sign, left, right)

    # --------------------------------------------------------------------------------- comparisons

    def _compare(self, tree: ast.Compare, facts: Facts) -> Node:
        if len(tree.ops) != 1:
            raise _fault("comparisons are made one at a time", "write a < b and b < c")
        op, left, right = tree.ops[0], tree.left, tree.comparators[0]
        match op:
            case ast.In() | ast.NotIn():
                node = self._membership(left, right, facts)
                return node if isinstance(op, ast.In) else nodes.Not(BOOL, node)
            case ast.Eq() | ast.NotEq():
                node = self._equality(left, right, facts)
                return node if isinstance(op, ast.Eq) else nodes.Not(BOOL, node)
            case ast.Is() | ast.IsNot():
                raise _fault("`is` is not known here", "write == or !=")
        sign = _ORDER[type(op)]
        one, other = self.value(left, facts), self.value(right, facts)
        kinds = {one.kind.name, other.kind.name} - {"unknown"}
        if len(kinds) > 1 or not kinds <= {"number", "time", "anchor"}:
            raise _fault(
                f"{_quote(left)} is {one.kind} and {_quote(right)} {other.kind}: "
                f"{sign} does not compare them",
                "numbers, times and anchors have an order",
            )
        return nodes.Compare(BOOL, sign, _require(left, one), _require(right, other))

    def _equality(self, left: ast.expr, right: ast.expr, facts: Facts) -> Node:
        one, other = self.value(left, facts), self.value(right, facts)
        if one.kind.name == "none" or other.kind.name == "none":
            asked, node = (right, other) if one.kind.name == "none" else (left, one)
            if node.kind.known and (node.kind.name == "none" or not node.kind.nullable):
                raise _fault(f"{_quote(asked)} is never none", "remove the comparison")
            return nodes.IsNone(BOOL, node)
        self._require_sides(left, one, right, other)
        return nodes.Compare(BOOL, "==", *_comparable(left, one, right, other))

    def _require_sides(self, left: ast.expr, one: Node, right: ast.expr, other: Node) -> None:
        """Refuses, where the vocabulary is strict, to compare what may be none."""
        for tree, node in ((left, one), (right, other)):
            if self.vocabulary.strict and node.kind.known and not node.kind.loose:
                _require(tree, node)

    def _membership(self, left: ast.expr, right: ast.expr, facts: Facts) -> Node:
        if not isinstance(right, ast.List) or not right.elts:
            raise _fault("`in` is followed by a list of values", "write x in [a, b]")
        one, items = self.value(left, facts), list[Node]()
        compared = one
        for item in right.elts:
            other = self.value(item, facts)
            if other.kind.name == "none":
                raise _fault("none cannot stand in a list", "write x == none or x in […]")
            self._require_sides(left, one, item, other)
            compared, value = _comparable(left, one, item, other)
            items.append(value)
        return nodes.Among(BOOL, compared, tuple(items))

    # --------------------------------------------------------------------------------------- calls

    def _call(self, tree: ast.Call, facts: Facts) -> Node:
        if not isinstance(tree.func, ast.Name):
            raise _fault("only functions of the language are called")
        name, tables = tree.func.id, self.vocabulary.tables
        if tree.keywords or any(isinstance(argument, ast.Starred) for argument in tree.args):
            raise _fault(f"{name} takes plain arguments")
        if name in tables:
            return self._encode(tree, name, facts)
        if name in OF_LISTS or (name in ("min", "max") and _is_list(tree)):
            return self._of_list(tree, name, facts)
        if name not in _FUNCTIONS:
            hint = suggestion(name, [*FUNCTIONS, *tables])
            raise _fault(f"there is no function {name!r}", hint)
        at_least, at_most, checked = _FUNCTIONS[name]
        if not at_least <= len(tree.args) <= at_most:
            wanted = f"{at_least}" if at_least == at_most else f"at least {at_least}"
            raise _fault(f"{name} takes {wanted} values, not {len(tree.args)}")
        return checked(self, tree, name, facts)

    def _numeric(self, tree: ast.Call, name: str, facts: Facts) -> Node:
        before = f"{name} takes numbers; "
        arguments = [self._operand(arg, facts, "number", before=before) for arg in tree.args]
        if name in nodes.OF_TICKS:
            tick = self.vocabulary.config.get(nodes.TICK_SIZE, NUMBER)
            if tick.name != "number" or tick.nullable:
                hint = "declare it: tick_size: {type: number, from: chart.tick_size}"
                message = f"{name} needs tick_size, which may be none or is no number here"
                raise _fault(message, hint)
        return nodes.Call(BOOL if name == "near" else NUMBER, name, tuple(arguments))

    def _alpha(self, tree: ast.Call, name: str, facts: Facts) -> Node:
        node, quote = self.value(tree.args[0], facts), _quote(tree.args[0])
        if not node.kind.known:
            return node
        if node.kind.name == "enum":
            node = _color(node)
        if node.kind.name != "color":
            raise _fault(f"alpha takes a colour, {quote} is {node.kind}")
        if node.kind.absent:
            raise _fault(f"{quote} may be none here", "ask first whether it is there")
        if nodes.is_shared(node):
            message = f"{quote} is the colour of a group, whose members may differ in opacity"
            raise _fault(message, "ask for the opacity of one part")
        if nodes.side(node, "alpha") is None:
            raise _fault(f"{quote} has no opacity of its own", "name a drawn colour")
        return nodes.Call(NUMBER, name, (node,))

    def _text(self, tree: ast.expr, facts: Facts) -> Node:
        return self._operand(tree, facts, "text", "enum", after=", not a text")

    def _starts_with(self, tree: ast.Call, name: str, facts: Facts) -> Node:
        return nodes.Call(BOOL, name, tuple(self._text(argument, facts) for argument in tree.args))

    def _matches(self, tree: ast.Call, name: str, facts: Facts) -> Node:
        subject, argument = tree.args
        text, pattern = self._text(subject, facts), self.value(argument, facts)
        if isinstance(pattern, Literal) and isinstance(pattern.value, str):
            if (wrong := pattern_fault(pattern.value)) is not None:
                raise _fault(wrong, "patterns are those of RE2")
            return nodes.Call(BOOL, name, (text, Literal(PATTERN, pattern.value)))
        if pattern.kind.name != "pattern":
            hint = "write a text, or a config key of type pattern"
            raise _fault(f"{_quote(argument)} is {pattern.kind}, not a pattern", hint)
        return nodes.Call(BOOL, name, (text, _require(argument, pattern)))

    def _minutes(self, tree: ast.Call, name: str, facts: Facts) -> Node:
        return nodes.Call(NUMBER, name, (self._text(tree.args[0], facts),))

    def _on_clock(self, tree: ast.Call, name: str, facts: Facts) -> Node:
        """The time of day, or the trading day, of a time that must be known."""
        time = self._operand(tree.args[0], facts, "time", after=", not a time")
        return nodes.Call(NUMBER, name, (time, self._clock(tree.args[1], name, facts)))

    def _clock(self, tree: ast.expr, name: str, facts: Facts) -> Node:
        """The text of a zone or of a day roll: written as such, or a config key."""
        node, quote = self.value(tree, facts), _quote(tree)
        if isinstance(node, Literal) and isinstance(node.value, str):
            try:
                zone(node.value) if name == "time_of_day" else canonical_roll(node.value)
            except ClockError as error:
                raise _fault(str(error)) from None
            return node
        configured = isinstance(node, Mention) and isinstance(node.value.at, Constant)
        if not configured or node.kind.name != "text" or node.kind.nullable:
            hint = "write it as a text, or name a config key of type text"
            raise _fault(f"{quote} is no zone or day roll that a configuration fixes", hint)
        return node

    def _of_age(self, tree: ast.Call, name: str, facts: Facts) -> Node:
        """A function that accepts a missing time."""
        before, anchor = f"{name} takes an anchor; ", tree.args[0]
        node = self._operand(anchor, facts, "anchor", before=before)
        value = node.value.side("time") if isinstance(node, Mention) else None
        if not isinstance(node, Mention) or value is None:
            raise _fault(f"{_quote(anchor)} has no time of its own", "name a drawn anchor")
        time = replace(node, kind=TIME.or_none(), names=(*node.names, "time"), value=value)
        if name == "time_of":
            return nodes.Call(TIME.or_none(), name, (time,))
        last = _chart(("chart", "last_time"), facts)
        return nodes.Call(BOOL, name, (time, last, self._clock(tree.args[1], name, facts)))

    def _of_list(self, tree: ast.Call, name: str, facts: Facts) -> Node:
        if len(tree.args) != 1:
            raise _fault(f"{name} takes one list")
        if not isinstance(tree.args[0], ast.ListComp):
            raise _fault(f"{name} takes a list", f"write {name}([e for v in element])")
        listing = self._listing(tree.args[0], facts)
        item, kind = listing.item.kind, UNKNOWN
        if name == "len" and item.known:
            kind = NUMBER
        elif name in ("any", "all") and item.known:
            kind = BOOL
            if item.name != "bool" or item.nullable:
                raise _fault(f"{name} takes a list of conditions, each here is {item}")
        elif name in ("min", "max") and item.known:
            kind = replace(item, nullable=True)
            if item.name not in ("number", "time") or item.nullable:
                raise _fault(f"{name} takes a list of numbers or times, each here is {item}")
        elif item.known:
            kind = replace(item, nullable=True)
            if item.name not in ("number", "text", "bool", "enum", "color", "time"):
                raise _fault(f"only takes values that can be compared, each here is {item}")
        return nodes.OfList(kind, name, listing)

    def _listing(self, tree: ast.ListComp, facts: Facts) -> nodes.ListNode:
        scope = self.scope
        if EACH in (value.at for value in scope.names.values()) or scope.runs_over(EACH):
            raise _fault("a list stands in a list", "a list has one `for`")
        if not scope.lists and not scope.attached:
            hint = "list in output, in edge_cases without each, or in a machine of the reading"
            raise _fault("a list has no place here: this runs once for each object", hint)
        run = tree.generators[0]
        if len(tree.generators) > 1 or len(run.ifs) > 1 or run.is_async:
            raise _fault("a list has one `for` and one `if`", "join with and")
        attached = self._attached_list(run.iter, facts)
        if attached is None and not (isinstance(run.iter, ast.Name) and run.iter.id in scope.lists):
            hint = suggestion(ast.unparse(run.iter), sorted(scope.lists))
            raise _fault("a list runs over an element, or over what is attached", hint)
        if not isinstance(run.target, ast.Name):
            raise _fault("a list has one variable", "write [e for v in element]")
        over, variable = _quote(run.iter), run.target.id
        if attached is not None:
            over = str(attached.value.element)
        taken = {*scope.lists, *self.vocabulary.tables, *RESERVED}
        if scope.get(variable) is not None or variable in taken:
            raise _fault(f"{variable!r} has a meaning already", "choose another")
        instance = Value(Kind("element", shape=over), EACH, element=over)
        self.scope = scope.with_names({variable: instance})
        test = self.condition(run.ifs[0], facts) if run.ifs else None
        known = prove(test)[0] if test is not None else NO_FACTS
        item = self.value(tree.elt, facts | known)
        self.scope = scope
        return nodes.ListNode(Kind("list", of=item.kind), over, item, test, attached)

    def _attached_list(self, tree: ast.expr, facts: Facts) -> Mention | None:
        """The instances that are attached to one, where a list runs over these."""
        known = isinstance(tree, ast.Name) and self.scope.get(tree.id) is not None
        if not known and not isinstance(tree, ast.Attribute):
            return None
        node = self._mention(tree, facts)
        if not isinstance(node, Mention) or node.kind.name != "list" or node.value.element is None:
            return None
        if node.guards:
            raise _fault(f"{_quote(tree)} may be none here", "ask first whether it is there")
        return node

    def _encode(self, tree: ast.Call, name: str, facts: Facts) -> Node:
        if not self.scope.encodings:
            hint = "name its result in reads, and use that name here"
            raise _fault(f"the encoding {name!r} is called in reads only", hint)
        if len(tree.args) != 1:
            raise _fault(f"{name} takes one value, not {len(tree.args)}")
        node = self.value(tree.args[0], facts)
        kind = node.kind
        if not kind.known:
            return node
        if kind.nullable and (kind.absent or kind.name != "color"):
            node = _require(tree.args[0], node)
        if kind.name not in ("color", "text", "enum", "bool", "number"):
            raise _fault(f"an encoding does not read {kind}", "give it a drawn field")
        for meaning, looks in self.vocabulary.tables[name].items():
            for look in looks:
                if (wrong := look.misfit(kind, self.vocabulary.config)) is not None:
                    hint = f"{name} is called on {_quote(tree.args[0])}, {kind}"
                    raise _fault(f"encodings.{name}.{meaning}: {wrong}", hint)
        return nodes.Encoded(enum(self.vocabulary.tables[name]), node, name)


_FUNCTIONS: dict[str, tuple[int, int, Callable[[_Checker, ast.Call, str, Facts], Node]]] = {
    "abs": (1, 1, _Checker._numeric),
    "min": (2, MAX_NODES, _Checker._numeric),
    "max": (2, MAX_NODES, _Checker._numeric),
    "mean": (2, MAX_NODES, _Checker._numeric),
    "near": (2, 2, _Checker._numeric),
    "round_to_tick": (1, 1, _Checker._numeric),
    "alpha": (1, 1, _Checker._alpha),
    "starts_with": (2, 2, _Checker._starts_with),
    "matches": (2, 2, _Checker._matches),
    "minutes": (1, 1, _Checker._minutes),
    "time_of_day": (2, 2, _Checker._on_clock),
    "trading_day": (2, 2, _Checker._on_clock),
    "time_of": (1, 1, _Checker._of_age),
    "outdated": (2, 2, _Checker._of_age),
}
OF_LISTS = ("len", "any", "all", "only")
FUNCTIONS = (*_FUNCTIONS, *OF_LISTS)


def _is_list(tree: ast.Call) -> bool:
    return len(tree.args) == 1 and isinstance(tree.args[0], ast.ListComp)


def _constant(tree: ast.Constant) -> Node:
    value = tree.value
    if isinstance(value, bool) or value is None:
        word = {True: "true", False: "false", None: "none"}[value]
        raise _fault(f"{value} is not known here", f"write {word}")
    if isinstance(value, str):
        return Literal(enum([value]), value)
    if isinstance(value, int | float):
        if abs(value) > LARGEST:
            raise _fault("this number is too large", "write a smaller one")
        return Literal(NUMBER, float(value) if abs(value) > MAX_WHOLE else value)
    raise _fault(f"{value!r:.40} is not a value", "use numbers and texts")


def _color(literal: Node) -> Node:
    """The colour that a text stands for."""
    for name in literal.kind.names:
        if not palette.is_hex(name):
            raise _fault(f"{name!r} is not a colour", "write '#rrggbb'")
    if not isinstance(literal, Literal):
        raise _fault("a colour is written as such", "write '#rrggbb' where compared")
    full = palette.color(str(literal.value))
    return Literal(COLOR, full[:7], int(full[7:], 16))


def _chart(names: Names, facts: Facts) -> Mention:
    if len(names) != 2 or names[1] not in CHART_KINDS:
        hint = suggestion(names[-1], list(CHART_KINDS))
        raise _fault(f"the chart has no {'.'.join(names[1:])!r}", hint)
    kind = CHART_KINDS[names[1]] if names in facts else chart_kind(names[1])
    value = Value(kind, Slot("chart", names[1]), unstable=names[1] == "last_bar")
    return Mention(kind, names, value)


def _comparable(left: ast.expr, one: Node, right: ast.expr, other: Node) -> tuple[Node, Node]:
    """Both sides of an equality, where it can hold; a text written as a colour becomes one."""
    if not one.kind.known or not other.kind.known:
        return one, other
    if one.kind.name == "color" and other.kind.name == "enum":
        other = _color(other)
    elif other.kind.name == "color" and one.kind.name == "enum":
        one = _color(one)
    if one.kind.nullable and other.kind.nullable:
        message = f"{_quote(left)} and {_quote(right)} may both be none, and none would equal none"
        raise _fault(message, f"ask first: {_quote(right)} != none and …")
    kinds = {one.kind.name, other.kind.name}
    if kinds == {"enum"} and not set(one.kind.names) & set(other.kind.names):
        raise _fault(
            f"{_quote(left)} is {one.kind} and {_quote(right)} is {other.kind}: "
            "they are never equal",
            suggestion(other.kind.names[0], one.kind.names),
        )
    if kinds <= {"text", "enum"}:
        return one, other
    if len(kinds) > 1 or not kinds <= {"number", "bool", "color", "anchor", "time"}:
        raise _fault(
            f"{_quote(left)} is {one.kind} and {_quote(right)} {other.kind}: they are never equal",
            "compare values of one kind",
        )
    if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
        raise _fault("two constants are compared", "write the result")
    return one, other
