"""Code for expressions: Python's own operators where the kinds allow, else calls of the runtime.

An operator of the language is a call of the runtime, `_add(a, b)`: it knows series, refuses True as
a number, keeps ints in bounds, and charges steps. In a loop over bars nearly all operands are
floats, and for two floats Python's own `+` does all of that. So each operator is written in one of
three ways, by what inference knows of its sides:

1. Both are surely floats: `a + b`.
2. They may be: `(a + b) if type(a) is float and type(b) is float else _add(a, b)`. This is a guard.
3. One surely is not, such as a series: `_add(a, b)`.

A guard names each side twice, and a side must be evaluated once. A side that is no plain name is
put into a temporary `_g0`, `_g1`, … by a walrus in the test, where it is evaluated first. While a
side waits in its temporary, the code of the other side must not use the same one: `frame.held`
counts the temporaries that wait. Temporaries are locals of the function being written, so inside of
a comprehension or a lambda, whose names are another scope, nothing is inlined.

Steps are charged where the code is: a statement's operators are known when it is written, so their
sum is one number that the statement charges at once (`weights`). A guard that falls through to the
runtime charges the difference there.
"""

import ast
from collections.abc import Iterable, Mapping
from functools import partial, reduce

from chartpact.script.check.checked import BUILTIN, FUNCTION, Checked
from chartpact.script.check.scopes import Comprehension, target_names
from chartpact.script.compile.hoisting import (
    Source,
    hoisted_read,
    is_never_negative,
    literal_index,
)
from chartpact.script.compile.inference import Kinds
from chartpact.script.compile.kinds import NUMBER, OTHER, SERIES, is_none_test
from chartpact.script.compile.nodes import (
    accessed,
    at,
    call,
    is_plain_call,
    literal_text,
    load,
    store,
    tuple_of,
)
from chartpact.script.compile.quick_math import BOUNDS, quick_math, within_bounds
from chartpact.script.compile.type_guards import TypeGuards
from chartpact.script.compile.weights import (
    COLLECT,
    COLLECTED,
    LOOP,
    NO_FLOATS,
    NO_LIST,
    Weights,
    entry,
    steps,
    unpacking,
)
from chartpact.script.runtime.formatting import Template, read_percent, read_template
from chartpact.script.source.visitors import visitors

GUARDS: Mapping[type, str] = {
    ast.Add: "_add", ast.Sub: "_sub", ast.Mult: "_mul", ast.Div: "_div", ast.FloorDiv: "_floordiv",
    ast.Mod: "_mod", ast.BitAnd: "_bitand", ast.BitOr: "_bitor", ast.BitXor: "_xor",
    ast.LShift: "_lshift", ast.RShift: "_rshift",
    ast.Eq: "_eq", ast.NotEq: "_ne", ast.Lt: "_lt", ast.LtE: "_le", ast.Gt: "_gt", ast.GtE: "_ge",
    ast.In: "_contains", ast.NotIn: "_not_contains",
}  # fmt: skip
UNARY: Mapping[type, str] = {ast.USub: "_neg", ast.UAdd: "_pos", ast.Invert: "_invert"}
_PAIRS = {"enumerate": "_enter_enumerate", "zip": "_enter_zip"}


class FunctionFrame:
    """The function being written: its temporaries, its loops, and its hoisted series."""

    def __init__(self, top: bool = False, inlines: bool = True) -> None:
        self.top = top  # the module's own lines, whose values are frozen as they are assigned
        self.inlines = inlines  # not where names for operands would be of another scope
        self.temporaries = 0
        self.held = 0  # operands of the expression at hand that wait for others to be evaluated
        self.loops: list[ast.For] = []  # those that the meter must be told of when they are left
        self.hoisted: dict[Source | None, str] = {}  # the name of the list of each series

    def temporary(self) -> str:
        self.temporaries += 1
        return f"_t{self.temporaries}"


class ExpressionEmitter:
    """Translates expressions, and notes the functions of the host that they use."""

    def __init__(self, checked: Checked, kinds: Kinds) -> None:
        self.uses: set[str] = set()
        self._checked = checked
        self._kinds = kinds
        self._guards = TypeGuards(kinds.of)
        self._weights = Weights(checked, self._guards, lambda: self._frame.hoisted)
        self._frame = FunctionFrame()
        self._least: Mapping[str, int] = {}  # names of loops, and their least values

    def _expression(self, node: ast.expr) -> ast.expr:
        translated: ast.expr = _VISITS[type(node)](self, node)
        return at(node, translated)

    def _expressions(self, nodes: list[ast.expr]) -> list[ast.expr]:
        return [self._expression(node) for node in nodes]

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Constant(node.value)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return load(node.id)

    # --------------------------------------------------------------------------------- operators

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if (template := _literal_percent(node)) is not None:
            values = self._operands(node.left, node.right)
            return call("_fill_in_percent", *_template(template), *values)
        sides = self._operands(node.left, node.right)
        if self._guards.binary(node.op, node.left, node.right):
            return self._guarded(node.op, (node.left, node.right), sides)
        return _native(node.op, *self._as_floats((node.left, node.right), sides))

    def _operands(self, *nodes: ast.expr) -> list[ast.expr]:
        """The sides of an operator; the names that hold the first are not used by the second."""
        operands = []
        for node in nodes:
            operands.append(self._expression(node))
            self._frame.held += 1
        self._frame.held -= len(nodes)
        return operands

    def _as_floats(self, nodes: tuple[ast.expr, ast.expr], sides: list[ast.expr]) -> list[ast.expr]:
        """The sides of an operator; of two floats Python makes quicker work."""
        pairs = zip(nodes, reversed(nodes), sides, strict=True)
        return [
            at(node, ast.Constant(float(literal_index(node) or 0)))
            if self._guards.turns_float(node, other)
            else side
            for node, other, side in pairs
        ]

    def _guarded(
        self,
        operator: ast.operator | ast.cmpop,
        nodes: tuple[ast.expr, ast.expr],
        sides: list[ast.expr],
    ) -> ast.expr:
        """An operator whose sides may be anything: Python's own if they turn out to be floats.

        Where it compares with an int, literal or not, ints are as good.
        """
        function = GUARDS[type(operator)]
        if not self._frame.inlines or not self._guards.inlines(operator, *nodes):
            return call(function, *sides)
        takes_ints = self._guards.takes_ints(operator, *nodes)
        test, names = self._check_floats(nodes, sides, takes_ints)
        return _either(test, _native(operator, *names), call(function, *names))

    def _check_floats(
        self, nodes: Iterable[ast.expr], sides: list[ast.expr], takes_ints: bool = False
    ) -> tuple[ast.expr, list[ast.expr]]:
        """A test that evaluates all sides and asks whether they are floats, and their names."""
        evaluated: list[ast.expr] = []
        checks: list[ast.expr] = []
        names: list[ast.expr] = []
        for node, side in zip(nodes, sides, strict=True):
            is_number = self._guards.is_number(node)
            if (literal := literal_index(node)) is not None:
                names.append(at(node, ast.Constant(literal)))
                continue
            if isinstance(side, ast.Name | ast.Constant):
                names.append(side)
                checks += [] if is_number else [_is_number(side, side, takes_ints)]
                continue
            name = f"_g{self._frame.held + len(names)}"
            names.append(load(name))
            value = at(node, ast.NamedExpr(ast.Name(name, ast.Store()), side))
            known = ast.Compare(value, [ast.IsNot()], [ast.Constant(None)])
            evaluated.append(known if is_number else _is_number(value, names[-1], takes_ints))
        if evaluated:  # all of them, whatever the first is
            checks.insert(0, reduce(lambda a, b: ast.BinOp(a, ast.BitAnd(), b), evaluated))
        return checks[0] if len(checks) == 1 else ast.BoolOp(ast.And(), checks), names

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self._expression(node.operand)
        if self._guards.unary(node.op, node.operand):
            return call(UNARY[type(node.op)], operand)
        return ast.UnaryOp(node.op, operand)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        operator, other = node.ops[0], node.comparators[0]
        left, right = self._operands(node.left, other)
        if is_none_test(node):
            identity: ast.cmpop = ast.Is() if isinstance(operator, ast.Eq) else ast.IsNot()
            return ast.Compare(left, [identity], [right])
        if self._guards.compare(operator, node.left, other):
            return self._guarded(operator, (node.left, other), [left, right])
        return _native(operator, *self._as_floats((node.left, other), [left, right]))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        return ast.BoolOp(node.op, self._expressions(node.values))

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        return ast.IfExp(*map(self._expression, (node.test, node.body, node.orelse)))

    # ------------------------------------------------------------------------------------ values

    def visit_List(self, node: ast.List) -> ast.expr:
        return call("_List", ast.List(self._expressions(node.elts), ast.Load()))

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        return tuple_of(self._expressions(node.elts))

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        pairs: list[ast.expr] = [
            at(value, tuple_of([self._key(key), self._expression(value)]))
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        ]
        return call("_make_dict", tuple_of(pairs))

    def _key(self, node: ast.expr) -> ast.expr:
        key = self._expression(node)
        return at(node, call("_key", key)) if self._guards.key(node) else key

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        parts = [
            self._expression(part.value if isinstance(part, ast.FormattedValue) else part)
            for part in node.values
        ]
        return call("_join_parts", tuple_of(parts))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.slice, ast.Slice):
            bounds = [
                ast.Constant(None) if bound is None else self._expression(bound)
                for bound in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            return call("_slice", self._expression(node.value), *bounds)
        index = self._expression(node.slice)
        literal = literal_index(node.slice)
        hoisted = hoisted_read(node, self._frame.hoisted, self._guards.kind(node.slice))
        if hoisted is not None:
            if literal is not None or is_never_negative(node.slice, self._least):
                return ast.Subscript(load(hoisted), index, ast.Load())
            tested = index
            if self._frame.inlines and not isinstance(index, ast.Name):
                temporary = f"_g{self._frame.held}"
                tested = ast.NamedExpr(ast.Name(temporary, ast.Store()), index)
                index = load(temporary)
            below = ast.Compare(tested, [ast.Lt()], [ast.Constant(0)])
            value = ast.Subscript(load(hoisted), index, ast.Load())
            return ast.IfExp(below, self._element(node, index), at(node, value))
        if literal is not None and literal < 0 and self._guards.kind(node.value) & (SERIES | OTHER):
            return call("_from_end", self._expression(node.value), index)
        return self._element(node, index)

    def _element(self, node: ast.Subscript, index: ast.expr) -> ast.expr:
        holder = self._expression(node.value)
        if self._guards.element(node):
            return call("_index", holder, index)
        value = at(node, ast.Subscript(holder, index, ast.Load()))
        if not self._weights.may_be_list(node):
            return value
        charge = call("_charge", ast.Constant(NO_LIST))
        slow = ast.BoolOp(ast.Or(), [charge, value])
        return ast.IfExp(_has_type(holder, "_List"), value, slow)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if host_function := self._checked.namespaced(node):
            self.uses.add(host_function)
            return load(f"_{host_function.replace('.', '_')}")
        if self._guards.is_series(node):
            return ast.Attribute(self._expression(node.value), node.attr, ast.Load())
        return call("_attribute", self._expression(node.value), ast.Constant(node.attr))

    # ------------------------------------------------------------------------------------- calls

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if self._weights.is_choice(node, self._frame.inlines):
            return self._choice(node)
        if (template := _literal_format(node)) is not None:
            return call("_fill_in", *_template(template), *self._expressions(node.args))
        if self._frame.inlines and (name := quick_math(node, self._checked, self._guards)):
            return self._quick_call(node, name)
        arguments = [self._argument(argument) for argument in node.args]
        keywords = [
            ast.keyword(keyword.arg, self._keyword_value(keyword)) for keyword in node.keywords
        ]
        made = self._call(node, arguments, keywords)
        if keywords and arguments and isinstance(arguments[-1], ast.Starred):
            return _apply(made)
        return made

    def _call(
        self, node: ast.Call, arguments: list[ast.expr], keywords: list[ast.keyword]
    ) -> ast.Call:
        func = node.func
        if isinstance(func, ast.Name):
            binding = self._checked.bindings.get(func)
            if binding == BUILTIN:
                return ast.Call(self._builtin(func, node), arguments, keywords)
            if binding == FUNCTION:
                return ast.Call(load(func.id), arguments, keywords)
        elif isinstance(func, ast.Attribute):
            if accessed(node) is not None:
                method = ast.Attribute(self._expression(func.value), func.attr, ast.Load())
                return ast.Call(at(func, method), arguments, keywords)
            return ast.Call(self._expression(func), arguments, keywords)
        return ast.Call(load("_call"), [self._expression(func), *arguments], keywords)

    def _quick_call(self, node: ast.Call, name: str) -> ast.expr:
        """A function of `math`, called at once where its values are within bounds."""
        names: list[ast.expr] = []
        tests: list[ast.expr] = []
        values = zip(BOUNDS[name], node.args, self._operands(*node.args), strict=True)
        for place, (bounds, argument, value) in enumerate(values):
            named = isinstance(value, ast.Name | ast.Constant)
            temporary = f"_g{self._frame.held + place}"
            tested = value if named else ast.NamedExpr(ast.Name(temporary, ast.Store()), value)
            test = within_bounds(bounds, argument, tested, self._guards)
            tests += [] if test is None else [test]
            names.append(value if named or test is None else load(temporary))
        slow = ast.Call(self._expression(node.func), names, [])
        quick = call(f"_quick_{name.removeprefix('math.')}", *names)
        if not tests:
            return quick
        return _either(reduce(lambda a, b: ast.BinOp(a, ast.BitAnd(), b), tests), quick, slow)

    def _choice(self, node: ast.Call) -> ast.expr:
        """`min` or `max` of a few values: of numbers the first two, their choice and the third…"""
        assert isinstance(node.func, ast.Name)
        sides = self._operands(*node.args)
        if all(map(self._guards.is_number, node.args)):
            return self._fold(node.func.id, sides)
        test, names = self._check_floats(node.args, sides)
        quick = self._fold(node.func.id, names)
        return _either(test, quick, call(node.func.id, *names))

    def _fold(self, name: str, sides: list[ast.expr]) -> ast.expr:
        chosen, *others = sides
        for place, other in enumerate(others, start=1):
            if self._frame.inlines:
                chosen = self._choice_of_two(name == "max", chosen, other, place)
            else:
                chosen = call("_larger" if name == "max" else "_smaller", chosen, other)
        return chosen

    def _choice_of_two(
        self, is_max: bool, first: ast.expr, second: ast.expr, place: int
    ) -> ast.expr:
        """What `smaller` and `larger` of the runtime choose; `place` is that of the second."""
        values: list[ast.expr] = []
        names: list[ast.expr] = []
        for number, side in enumerate((first, second), start=place - 1):
            name = f"_g{self._frame.held + number}"
            named = isinstance(side, ast.Name | ast.Constant)
            names.append(side if named else load(name))
            values.append(side if named else ast.NamedExpr(ast.Name(name, ast.Store()), side))
        order: ast.cmpop = ast.GtE() if is_max else ast.LtE()
        highest = names[0 if is_max else 1]  # if it is NaN
        is_nan = _native(ast.NotEq(), highest, highest)
        is_first = ast.BoolOp(ast.Or(), [_native(order, *values), is_nan])
        return ast.IfExp(is_first, *names)

    def _argument(self, node: ast.expr) -> ast.expr:
        if not isinstance(node, ast.Starred):
            return self._expression(node)
        values = at(node, call("_spread", self._expression(node.value)))
        return ast.Starred(values, ast.Load())

    def _keyword_value(self, keyword: ast.keyword) -> ast.expr:
        value = self._expression(keyword.value)
        return call("_spread_named", value) if keyword.arg is None else value

    def _builtin(self, func: ast.Name, node: ast.Call) -> ast.expr:
        """A builtin, or Python's own where the arguments allow."""
        name, count = func.id, len(node.args)
        if is_plain_call(node) and count:
            numbers = not any(self._guards.kind(argument) & ~NUMBER for argument in node.args)
            if name in ("min", "max") and count > 1 and numbers:
                return at(func, load(f"_{name}"))
            if count == 1 and (name == "len" or (name == "abs" and numbers)):
                return at(func, load(f"_{name}"))
        return load(name)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        arguments = self._arguments(node.args)
        outer, self._frame = self._frame, FunctionFrame(inlines=False)
        body = self._expression(node.body)
        weight = ast.Constant(
            steps(entry(node.args) + self._weights.cost(node.body, inlines=False))
        )
        self._frame = outer
        charge = at(node.body, call("_charge", weight))
        charged: ast.expr = at(node.body, ast.BoolOp(ast.Or(), [charge, body]))
        if (named := arguments.kwarg) is not None:  # **named as one of the language's dicts
            one = ast.arguments([], [ast.arg(named.arg)], None, [], [], None, [])
            charged = ast.Call(ast.Lambda(one, charged), [call("_Dict", load(named.arg))], [])
        return ast.Lambda(arguments, at(node.body, charged))

    def _arguments(self, args: ast.arguments) -> ast.arguments:
        """The parameters of a function, with the code of their defaults."""
        return ast.arguments(
            posonlyargs=[],
            args=args.args,
            vararg=args.vararg,
            kwonlyargs=[],
            kw_defaults=[],
            kwarg=args.kwarg,
            defaults=self._expressions(args.defaults),
        )

    # ------------------------------------------------------------------------------------- loops

    def _turns(self, source: ast.expr, weight: int, exits: bool) -> ast.expr:
        """What a loop iterates over, with its turns charged to the meter."""
        per_turn = ast.Constant(weight)
        if not exits and isinstance(source, ast.Call):
            function = "_span" if self._is_range(source) else self._pairs(source)
            if function is not None:
                return at(source, call(function, per_turn, *self._expressions(source.args)))
        function = "_search" if exits else "_enter"
        return at(source, call(function, per_turn, self._expression(source)))

    def _is_range(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Call)
            and is_plain_call(node)
            and self._checked.is_builtin(node.func, "range")
        )

    def _pairs(self, source: ast.expr) -> str | None:
        """The function that goes through enumerate(…) or zip(…) without making a list."""
        if not isinstance(source, ast.Call) or not is_plain_call(source) or not source.args:
            return None
        if self._checked.is_builtin(source.func, "enumerate") and len(source.args) == 1:
            return _PAIRS["enumerate"]
        return _PAIRS["zip"] if self._checked.is_builtin(source.func, "zip") else None

    def _pair_width(self, source: ast.expr) -> int:
        """How many values enumerate(…) or zip(…) gives at a time; 0 for anything else."""
        function = self._pairs(source)
        if function is None or not isinstance(source, ast.Call):
            return 0
        return 2 if function == _PAIRS["enumerate"] else len(source.args)

    def _unpack(self, node: ast.AST, value: ast.expr, count: int) -> ast.expr:
        """Unpacks a sequence; a tuple of the right length needs no call."""
        if not self._frame.inlines:
            return at(node, call("_unpack", value, ast.Constant(count)))
        name, tested = value, value
        if not isinstance(value, ast.Name):
            temporary = f"_g{self._frame.held}"
            name = load(temporary)
            tested = at(node, ast.NamedExpr(ast.Name(temporary, ast.Store()), value))
        fits = _native(ast.Eq(), call("_len", name), ast.Constant(count))
        test = ast.BoolOp(ast.And(), [_has_type(tested, "_tuple"), fits])
        return at(node, ast.IfExp(test, name, call("_unpack", name, ast.Constant(count))))

    def visit_ListComp(self, node: Comprehension) -> ast.expr:
        outer, inlines = self._frame.hoisted, self._frame.inlines
        names = {name.id for clause in node.generators for name in target_names(clause.target)}
        self._frame.hoisted = {
            source: name for source, name in outer.items() if source and source[0] not in names
        }
        self._frame.inlines = False
        made = self._collection(node)
        self._frame.hoisted, self._frame.inlines = outer, inlines
        return made

    visit_DictComp = visit_ListComp

    def _collection(self, node: Comprehension) -> ast.expr:
        parts = [node.elt] if isinstance(node, ast.ListComp) else [node.key, node.value]
        cost = partial(self._weights.cost, inlines=False)
        weight = COLLECTED + sum(map(cost, parts))
        weight += COLLECT if isinstance(node, ast.DictComp) else 0
        clauses: list[ast.comprehension] = []
        for clause in reversed(node.generators):  # the innermost first: its turns weigh the others
            first = clause is node.generators[0]
            weight += sum(map(cost, clause.ifs))
            pairs = first and self._pairs(clause.iter) is not None
            weight += unpacking(clause.target, pairs, inlines=False)
            clauses[:0] = self._clause(clause, weight, first)
            weight = LOOP + cost(clause.iter)
        locks = not self._is_range(node.generators[0].iter)
        if isinstance(node, ast.ListComp):
            items: ast.expr = ast.ListComp(self._expression(node.elt), clauses)
            return call("_close_list" if locks else "_List", at(node, items))
        key = self._key(node.key)
        if self._guards.kind(node.key) & NUMBER and not self._guards.key(node.key):
            key = at(node.key, call("_seal", key))
        items = ast.DictComp(key, self._expression(node.value), clauses)
        return call("_close_dict" if locks else "_Dict", at(node, items))

    def _clause(
        self, clause: ast.comprehension, weight: int, first: bool
    ) -> list[ast.comprehension]:
        source, target = clause.iter, clause.target
        if first or self._is_range(source):
            turns = self._turns(source, weight, exits=False)
        else:
            turns = at(source, call("_enter_inner", ast.Constant(weight), self._expression(source)))
        ifs = self._expressions(clause.ifs)
        if isinstance(target, ast.Name):
            return [ast.comprehension(store(target.id), turns, ifs, 0)]
        assert isinstance(target, ast.Tuple | ast.List)
        flat = all(isinstance(part, ast.Name) for part in target.elts)
        if first and flat and self._pair_width(source) == len(target.elts):
            names = [store(name.id) for name in target_names(target)]
            return [ast.comprehension(ast.Tuple(names, ast.Store()), turns, ifs, 0)]
        temporary = self._frame.temporary()
        clauses = [ast.comprehension(store(temporary), turns, [], 0)]
        clauses += self._unpack_clauses(target, temporary)
        clauses[-1].ifs = ifs
        return clauses

    def _unpack_clauses(self, target: ast.Tuple | ast.List, source: str) -> list[ast.comprehension]:
        """`for (a, b) in (_unpack(source, 2),)`: how a comprehension takes values apart."""
        names: list[ast.expr] = []
        inner: list[ast.comprehension] = []
        for part in target.elts:
            if isinstance(part, ast.Name):
                names.append(store(part.id))
                continue
            assert isinstance(part, ast.Tuple | ast.List)
            temporary = self._frame.temporary()
            names.append(store(temporary))
            inner += self._unpack_clauses(part, temporary)
        once = tuple_of([self._unpack(target, load(source), len(target.elts))])
        return [ast.comprehension(ast.Tuple(names, ast.Store()), once, [], 0), *inner]


def _literal_format(node: ast.Call) -> Template | None:
    """The template of `"{} of {}".format(…)` with as many values as fields."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr != "format" or not is_plain_call(node):
        return None
    text = literal_text(func.value)
    template = None if text is None else read_template(text)
    return template if template and len(template.letters) == len(node.args) else None


def _literal_percent(node: ast.BinOp) -> Template | None:
    """The template of `"%s is %d" % values`."""
    text = literal_text(node.left) if isinstance(node.op, ast.Mod) else None
    return None if text is None else read_percent(text)


def _template(template: Template) -> tuple[ast.expr, ast.expr]:
    texts: list[ast.expr] = [ast.Constant(text) for text in template.texts]
    return tuple_of(texts), ast.Constant(template.letters)


def _native(operator: ast.operator | ast.cmpop, left: ast.expr, right: ast.expr) -> ast.expr:
    if isinstance(operator, ast.operator):
        return ast.BinOp(left, operator, right)
    return ast.Compare(left, [operator], [right])


def _either(test: ast.expr, quick: ast.expr, slow: ast.expr) -> ast.expr:
    """The quick way where the test holds, else the slow one, which costs more."""
    charge = call("_charge", ast.Constant(NO_FLOATS))
    return ast.IfExp(test, quick, ast.BoolOp(ast.Or(), [charge, slow]))


def _is_number(value: ast.expr, name: ast.expr, takes_ints: bool) -> ast.expr:
    """Whether a value, which the name then holds, is a float, or an int if those are taken."""
    if not takes_ints:
        return _has_type(value, "_float")
    return ast.BoolOp(ast.Or(), [_has_type(value, "_int"), _has_type(name, "_float")])


def _has_type(value: ast.expr, type_name: str) -> ast.expr:
    return ast.Compare(call("_type", value), [ast.Is()], [load(type_name)])


_VISITS = visitors(ExpressionEmitter)


def _apply(made: ast.Call) -> ast.expr:
    """A call whose named values are evaluated before its *values: Python takes them after."""
    *arguments, spread = made.args
    assert isinstance(spread, ast.Starred)
    named = [keyword for keyword in made.keywords if keyword.arg is not None]
    keys: list[ast.expr | None] = [ast.Constant(keyword.arg) for keyword in named]
    values = ast.Dict(keys, [keyword.value for keyword in named])
    rest = [keyword.value for keyword in made.keywords if keyword.arg is None]
    return call("_apply", made.func, tuple_of(arguments), values, spread.value, *rest)
