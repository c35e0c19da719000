"""From a checked module to Python code that keeps the language's rules and counts its steps.

The generated code is ordinary Python over the author's own lines and columns, so that an exception
in it tells where the author went wrong. Three things are added. Operators the kinds cannot vouch
for become calls of `operators`. Loops take their turns from the meter. And inside a loop, a series
that is read by index is read from its list of values, made once before the loop.

Straight code is charged where it is entered, by its longest path: a function by its caller, a loop
body by its loop; only a long branch of an `if` is charged when it is taken. Names of the runtime
begin with an underscore, which no name of a script does.
"""

import ast
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from types import CodeType
from typing import Any, TypeVar
from warnings import catch_warnings, simplefilter

from chartpact.script.check.checked import BUILTIN, FUNCTION, NAMESPACE, Checked
from chartpact.script.check.scopes import target_names
from chartpact.script.compile.hoisting import hoistable, source_of
from chartpact.script.compile.kinds import DICTS, INT, LIST, NUMBER, Kinds, is_none_test
from chartpact.script.compile.type_guards import Guards
from chartpact.script.compile.weights import COLLECT, TURN, Weights, entry, steps, unpacking
from chartpact.script.runtime.values import FILE
from chartpact.syntax import children, walk

BINARY: Mapping[type, str] = {
    ast.Add: "_add", ast.Sub: "_sub", ast.Mult: "_mul", ast.Div: "_div", ast.FloorDiv: "_floordiv",
    ast.Mod: "_mod", ast.BitAnd: "_bitand", ast.BitOr: "_bitor", ast.BitXor: "_xor",
    ast.LShift: "_lshift", ast.RShift: "_rshift",
}  # fmt: skip
COMPARE: Mapping[type, str] = {
    ast.Eq: "_eq", ast.NotEq: "_ne", ast.Lt: "_lt", ast.LtE: "_le", ast.Gt: "_gt", ast.GtE: "_ge",
    ast.In: "_contains", ast.NotIn: "_not_contains",
}  # fmt: skip
UNARY: Mapping[type, str] = {ast.USub: "_neg", ast.UAdd: "_pos", ast.Invert: "_invert"}


@dataclass(frozen=True)
class Compiled:
    """Code to be executed over the runtime's names, and what a call of each function costs."""

    code: CodeType
    weights: Mapping[str, int]
    uses: tuple[str, ...]  # host functions, as "ta.ema"


class TooIntricate(Exception):
    """Python's own compiler refuses the code."""


def compile_module(checked: Checked, kinds: Kinds) -> Compiled:
    """The code of a module that passed its checks."""
    writer = _Writer(checked, kinds)
    tree = writer.module()
    _place_all(tree)
    with catch_warnings():
        simplefilter("ignore", SyntaxWarning)  # Python's advice on `None is None` is for its users
        try:
            code = compile(tree, FILE, "exec", dont_inherit=True, optimize=0)
        except (SyntaxError, ValueError, OverflowError) as error:
            raise TooIntricate from error
    return Compiled(code, writer.weights, tuple(sorted(writer.uses)))


class _Frame:
    """The function being written: its temporaries, its loops, and series read by index."""

    def __init__(self, top: bool = False) -> None:
        self.top = top  # the module's own lines, whose values are frozen as they are assigned
        self.temporaries = 0
        self.pushed: list[ast.For] = []  # loops that the meter must be told of when leaving
        self.hoisted: dict[str, str] = {}

    def temporary(self) -> str:
        self.temporaries += 1
        return f"_t{self.temporaries}"


class _Writer:
    def __init__(self, checked: Checked, kinds: Kinds) -> None:
        self.weights: dict[str, int] = {}
        self.uses: set[str] = set()
        self._checked = checked
        self._guards = Guards(kinds.of)
        self._weigh = Weights(checked, self._guards)
        self._kinds = kinds
        self._frame = _Frame()

    def module(self) -> ast.Module:
        bodies: dict[str, ast.FunctionDef] = {}
        for name, function in self._checked.functions.items():  # callees first: their weights
            self._frame = _Frame()
            self.weights[name] = self._weigh.function(function)
            body = self._block(function.body)
            bodies[name] = _def(function, self._defaults(function.args), body)
        self._frame = _Frame(top=True)
        statements: list[ast.stmt] = []
        own = []
        for statement in self._checked.tree.body:
            if isinstance(statement, ast.FunctionDef):
                statements.append(bodies[statement.name])
            else:
                own.append(statement)
                statements += self._statement(statement)
        self.weights[""] = len(bodies) + steps(self._weigh.path(own))
        return ast.Module(statements, [])

    def _binding(self, node: ast.Name) -> str | None:
        return self._checked.bindings.get(node)

    # ---------------------------------------------------------------------------- statements

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        written: list[ast.stmt] = []
        for statement in statements:
            written += self._statement(statement)
        return written or [ast.Pass()]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        outer = self._frame.hoisted
        found = hoistable(node, self._kinds.at_loop.get(node, {}), self._kinds.of)
        before: list[ast.stmt] = []
        names: dict[str, str] = {}
        for key, source in found.items():
            if key not in outer:
                names[key] = self._frame.temporary()
                listed = _call("_items", self._expression(source))
                before.append(_at(node, _assign(names[key], listed)))
        self._frame.hoisted = {**outer, **names}
        written = [_at(node, each) for each in self._written(node)]
        self._frame.hoisted = outer
        return [*before, *written]

    def _branch(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        if not statements:
            return []
        written = self._block(statements)
        weight = self._weigh.charged(statements)
        if weight is None:
            return written
        charge = ast.Expr(_call("_charge", ast.Constant(weight)))
        return [_at(statements[0], charge), *written]

    def _written(self, node: ast.stmt) -> list[ast.stmt]:
        if isinstance(node, ast.Assign):
            return self._assign(node)
        if isinstance(node, ast.AugAssign):
            return self._augment(node)
        if isinstance(node, ast.Expr):
            return [ast.Expr(self._expression(node.value))]
        if isinstance(node, ast.If):
            test = self._expression(node.test)
            return [ast.If(test, self._branch(node.body), self._branch(node.orelse))]
        if isinstance(node, ast.For):
            return self._for(node)
        if isinstance(node, ast.Return):
            return self._return(node)
        if isinstance(node, ast.FunctionDef):
            return [self._nested(node)]
        return [node]  # pass, break, continue

    def _assign(self, node: ast.Assign) -> list[ast.stmt]:
        target = node.targets[0]
        if isinstance(target, ast.Tuple | ast.List):
            value = node.value
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                sources: ast.expr = ast.Tuple([self._expression(e) for e in value.elts], ast.Load())
            else:
                sources = self._unpacked(value, self._expression(value), len(target.elts))
            return self._spread(target, self._kept(value, sources))
        return self._store(target, self._kept(node.value, self._expression(node.value)))

    def _kept(self, node: ast.expr, value: ast.expr) -> ast.expr:
        """What a name is to stand for: at the top level, what cannot change from here on."""
        if not self._frame.top or isinstance(node, ast.Constant):
            return value
        return _at(node, _call("_frozen", value))

    def _unpacked(self, node: ast.AST, value: ast.expr, count: int) -> ast.expr:
        return _at(node, _call("_unpack", value, ast.Constant(count)))

    def _spread(self, target: ast.Tuple | ast.List, sources: ast.expr) -> list[ast.stmt]:
        """Assigns the values to the parts of a target, through temporaries where needed.

        From left to right, as the language says: in `xs[i], i = v, w` the element is the old i's.
        """
        names: list[ast.expr] = []
        later: list[ast.stmt] = []
        plain = not any(isinstance(each, ast.Subscript) for each in walk(target))
        for each in target.elts:
            if isinstance(each, ast.Name) and plain:
                names.append(ast.Name(each.id, ast.Store()))
                continue
            temporary = self._frame.temporary()
            names.append(ast.Name(temporary, ast.Store()))
            if isinstance(each, ast.Tuple | ast.List):
                inner = self._unpacked(each, _name(temporary), len(each.elts))
                later += self._spread(each, inner)
            else:
                later += self._store(each, _name(temporary))
        return [ast.Assign([ast.Tuple(names, ast.Store())], sources), *later]

    def _store(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        if isinstance(target, ast.Name):
            return [ast.Assign([ast.Name(target.id, ast.Store())], value)]
        assert isinstance(target, ast.Subscript)
        holder, at = self._expression(target.value), self._expression(target.slice)
        if not self._guards.element(target):
            element = _at(target, ast.Subscript(holder, at, ast.Store()))
            return [ast.Assign([element], value)]
        return [ast.Expr(_at(target, _call("_store", holder, at, value)))]

    def _augment(self, node: ast.AugAssign) -> list[ast.stmt]:
        target, value = node.target, self._expression(node.value)
        if isinstance(target, ast.Name):
            result = self._operated(node, node.op, target, node.value, _name(target.id), value)
            return [ast.Assign([ast.Name(target.id, ast.Store())], result)]
        assert isinstance(target, ast.Subscript)
        before: list[ast.stmt] = []
        holder = self._once(self._expression(target.value), before)
        at = self._once(self._expression(target.slice), before)
        scalar = not self._guards.element(target)
        old: ast.expr = ast.Subscript(holder, at, ast.Load())
        if not scalar:
            old = _call("_index", holder, at)
        new = self._operated(node, node.op, target, node.value, _at(target, old), value)
        if scalar:
            return [*before, ast.Assign([_at(target, ast.Subscript(holder, at, ast.Store()))], new)]
        return [*before, ast.Expr(_at(target, _call("_store", holder, at, new)))]

    def _once(self, value: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """The value under a name of its own, unless reading it twice is the same."""
        if isinstance(value, ast.Constant | ast.Name):
            return value
        temporary = self._frame.temporary()
        before.append(_at(value, _assign(temporary, value)))
        return _name(temporary)

    def _operated(
        self,
        node: ast.AugAssign,
        operator: ast.operator,
        left: ast.expr,
        right: ast.expr,
        old: ast.expr,
        value: ast.expr,
    ) -> ast.expr:
        kinds = self._guards.kind(left)
        if isinstance(operator, ast.Add) and kinds & LIST:
            return _at(node, _call("_iadd", old, value))
        if isinstance(operator, ast.BitOr) and kinds & DICTS:
            return _at(node, _call("_ior", old, value))
        if self._guards.binary(operator, left, right):
            return _at(node, _call(BINARY[type(operator)], old, value))
        return _at(node, ast.BinOp(old, operator, value))

    def _return(self, node: ast.Return) -> list[ast.stmt]:
        if not self._frame.pushed:
            value = None if node.value is None else self._expression(node.value)
            return [ast.Return(value)]
        leave = [_left(loop) for loop in reversed(self._frame.pushed)]
        if node.value is None:
            return [*leave, ast.Return(None)]
        temporary = self._frame.temporary()
        kept = _assign(temporary, self._expression(node.value))
        return [kept, *leave, ast.Return(_name(temporary))]

    def _nested(self, node: ast.FunctionDef) -> ast.stmt:
        defaults = self._defaults(node.args)
        outer, self._frame = self._frame, _Frame()
        body = self._block(node.body)
        self._frame = outer
        weight = ast.Constant(steps(entry(node.args) + self._weigh.path(node.body)))
        charge = ast.Expr(_at(node, _call("_charge", weight)))
        return _def(node, defaults, [charge, *body])

    def _defaults(self, args: ast.arguments) -> ast.arguments:
        return ast.arguments(
            posonlyargs=[],
            args=args.args,
            vararg=args.vararg,
            kwonlyargs=[],
            kw_defaults=[],
            kwarg=args.kwarg,
            defaults=[self._expression(each) for each in args.defaults],
        )

    # --------------------------------------------------------------------------------- loops

    def _for(self, node: ast.For) -> list[ast.stmt]:
        exits = _has_exit(node.body)
        weight = TURN + self._weigh.path(node.body)
        if self._pairs(node.iter) is None or exits:
            weight += unpacking(node.target)
        spans = _is_range(node.iter, self._checked) and not exits
        taken = self._turns(node.iter, weight, exits)
        target, first = self._loop_target(node.target, node.iter)
        if not spans:
            self._frame.pushed.append(node)
        body = self._block(node.body)
        loop = ast.For(target, taken, [*first, *body], [])
        if spans:
            return [loop]
        return [loop, _left(self._frame.pushed.pop())]

    def _turns(self, source: ast.expr, weight: int, exits: bool) -> ast.expr:
        """What the loop goes through, taken from the meter."""
        per_turn = ast.Constant(weight)
        if _is_range(source, self._checked) and not exits:
            assert isinstance(source, ast.Call)
            return _at(source, _call("_span", per_turn, *map(self._expression, source.args)))
        pairs = self._pairs(source)
        if pairs is not None and not exits:
            assert isinstance(source, ast.Call)
            given = [self._expression(each) for each in source.args]
            return _at(source, _call(pairs, per_turn, *given))
        name = "_search" if exits else "_enter"
        return _at(source, _call(name, per_turn, self._expression(source)))

    def _pairs(self, source: ast.expr) -> str | None:
        """enumerate(…) or zip(…) as the loop itself can do it, without making a list."""
        if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Name):
            return None
        plain = not source.keywords and not any(isinstance(e, ast.Starred) for e in source.args)
        if self._binding(source.func) != BUILTIN or not plain:
            return None
        if source.func.id == "enumerate" and len(source.args) == 1:
            return "_enter_enumerate"
        return "_enter_zip" if source.func.id == "zip" and source.args else None

    def _loop_target(self, target: ast.expr, source: ast.expr) -> tuple[ast.expr, list[ast.stmt]]:
        if isinstance(target, ast.Name):
            return ast.Name(target.id, ast.Store()), []
        assert isinstance(target, ast.Tuple | ast.List)
        if self._pairs(source) is not None and _width(source) == len(target.elts):
            assigned, *later = self._spread(target, ast.Constant(None))
            assert isinstance(assigned, ast.Assign)
            return assigned.targets[0], [_at(target, each) for each in later]
        temporary = self._frame.temporary()
        unpacked = self._unpacked(target, _name(temporary), len(target.elts))
        first = [_at(target, each) for each in self._spread(target, unpacked)]
        return ast.Name(temporary, ast.Store()), first

    def _comprehension(self, node: ast.ListComp | ast.DictComp) -> ast.expr:
        outer = self._frame.hoisted
        names = {each.id for clause in node.generators for each in target_names(clause.target)}
        self._frame.hoisted = {
            key: name for key, name in outer.items() if key.split(".")[0] not in names
        }
        made = self._collected(node)
        self._frame.hoisted = outer
        return made

    def _collected(self, node: ast.ListComp | ast.DictComp) -> ast.expr:
        parts = [node.elt] if isinstance(node, ast.ListComp) else [node.key, node.value]
        weight = 3 + sum(map(self._weigh.cost, parts))
        weight += COLLECT if isinstance(node, ast.DictComp) else 0
        clauses: list[ast.comprehension] = []
        closes = False
        for clause in reversed(node.generators):
            weight += sum(map(self._weigh.cost, clause.ifs))
            first = clause is node.generators[0]
            closes = closes or (first and not _is_range(clause.iter, self._checked))
            pairs = first and self._pairs(clause.iter) is not None
            weight += 0 if pairs else unpacking(clause.target)
            clauses[:0] = self._clause(clause, weight, first)
            weight = 4 + self._weigh.cost(clause.iter)
        if isinstance(node, ast.ListComp):
            made: ast.expr = ast.ListComp(self._expression(node.elt), clauses)
            return _call("_closed_list" if closes else "_List", _at(node, made))
        key = self._key(node.key)
        if self._guards.kind(node.key) & NUMBER and not self._guards.key(node.key):
            key = _at(node.key, _call("_seal", key))
        made = ast.DictComp(key, self._expression(node.value), clauses)
        return _call("_closed_dict" if closes else "_Dict", _at(node, made))

    def _clause(
        self, clause: ast.comprehension, weight: int, first: bool
    ) -> list[ast.comprehension]:
        source = clause.iter
        if first or _is_range(source, self._checked):
            taken = self._turns(source, weight, exits=False)
        else:
            taken = _at(source, _call("_each", ast.Constant(weight), self._expression(source)))
        ifs = [self._expression(each) for each in clause.ifs]
        if isinstance(clause.target, ast.Name):
            target = ast.Name(clause.target.id, ast.Store())
            return [ast.comprehension(target, taken, ifs, 0)]
        assert isinstance(clause.target, ast.Tuple | ast.List)
        pairs = first and self._pairs(source) is not None
        flat = all(isinstance(each, ast.Name) for each in clause.target.elts)
        if pairs and flat and _width(source) == len(clause.target.elts):
            names = [ast.Name(e.id, ast.Store()) for e in target_names(clause.target)]
            return [ast.comprehension(ast.Tuple(list(names), ast.Store()), taken, ifs, 0)]
        temporary = self._frame.temporary()
        clauses = [ast.comprehension(ast.Name(temporary, ast.Store()), taken, [], 0)]
        clauses += self._unpack_clauses(clause.target, temporary)
        clauses[-1].ifs = ifs
        return clauses

    def _unpack_clauses(self, target: ast.Tuple | ast.List, source: str) -> list[ast.comprehension]:
        """`for (a, b) in (_unpack(source, 2),)`: how a comprehension takes values apart."""
        names: list[ast.expr] = []
        later: list[ast.comprehension] = []
        for each in target.elts:
            if isinstance(each, ast.Name):
                names.append(ast.Name(each.id, ast.Store()))
                continue
            assert isinstance(each, ast.Tuple | ast.List)
            temporary = self._frame.temporary()
            names.append(ast.Name(temporary, ast.Store()))
            later += self._unpack_clauses(each, temporary)
        one = ast.Tuple([self._unpacked(target, _name(source), len(target.elts))], ast.Load())
        return [ast.comprehension(ast.Tuple(names, ast.Store()), one, [], 0), *later]

    # --------------------------------------------------------------------------- expressions

    def _expression(self, node: ast.expr) -> ast.expr:
        return _at(node, self._translated(node))

    def _translated(self, node: ast.expr) -> ast.expr:  # noqa: PLR0911
        if isinstance(node, ast.Constant):
            return ast.Constant(node.value)
        if isinstance(node, ast.Name):
            return ast.Name(node.id, ast.Load())
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        if isinstance(node, ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.BoolOp):
            return ast.BoolOp(node.op, [self._expression(each) for each in node.values])
        if isinstance(node, ast.IfExp):
            return ast.IfExp(*map(self._expression, (node.test, node.body, node.orelse)))
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.List):
            elements = ast.List([self._expression(each) for each in node.elts], ast.Load())
            return _call("_List", elements)
        if isinstance(node, ast.Tuple):
            return ast.Tuple([self._expression(each) for each in node.elts], ast.Load())
        if isinstance(node, ast.Dict):
            return self._dict(node)
        if isinstance(node, ast.ListComp | ast.DictComp):
            return self._comprehension(node)
        if isinstance(node, ast.Lambda):
            return self._lambda(node)
        assert isinstance(node, ast.JoinedStr), node
        parts = [
            self._expression(each.value if isinstance(each, ast.FormattedValue) else each)
            for each in node.values
        ]
        return _call("_joined", ast.Tuple(parts, ast.Load()))

    def _binary(self, node: ast.BinOp) -> ast.expr:
        left, right = self._expression(node.left), self._expression(node.right)
        if self._guards.binary(node.op, node.left, node.right):
            return _call(BINARY[type(node.op)], left, right)
        return ast.BinOp(left, node.op, right)

    def _unary(self, node: ast.UnaryOp) -> ast.expr:
        operand = self._expression(node.operand)
        if self._guards.unary(node.op, node.operand):
            return _call(UNARY[type(node.op)], operand)
        return ast.UnaryOp(node.op, operand)

    def _compare(self, node: ast.Compare) -> ast.expr:
        operator, other = node.ops[0], node.comparators[0]
        left, right = self._expression(node.left), self._expression(other)
        if is_none_test(node):
            same: ast.cmpop = ast.Is() if isinstance(operator, ast.Eq) else ast.IsNot()
            return ast.Compare(left, [same], [right])
        if self._guards.compare(operator, node.left, other):
            return _call(COMPARE[type(operator)], left, right)
        return ast.Compare(left, [operator], [right])

    def _call(self, node: ast.Call) -> ast.expr:
        func = node.func
        given: list[ast.expr] = []
        for each in node.args:
            if isinstance(each, ast.Starred):
                spread = _at(each, _call("_spread", self._expression(each.value)))
                given.append(ast.Starred(spread, ast.Load()))
            else:
                given.append(self._expression(each))
        named = []
        for keyword in node.keywords:
            value = self._expression(keyword.value)
            if keyword.arg is None:
                value = _call("_spread_named", value)
            named.append(ast.keyword(keyword.arg, value))
        if isinstance(func, ast.Name):
            binding = self._binding(func)
            if binding == FUNCTION:
                return ast.Call(ast.Name(func.id, ast.Load()), given, named)
            if binding == BUILTIN:
                return ast.Call(self._builtin(func, node), given, named)
        if isinstance(func, ast.Attribute):
            if self._is_namespaced(func):
                return ast.Call(self._expression(func), given, named)
            if func.attr == "append" and len(given) == 1 and not named:
                # The one method in every loop: only lists have it, and they guard themselves.
                owner = ast.Attribute(self._expression(func.value), "append", ast.Load())
                return ast.Call(_at(func, owner), given, named)
            return ast.Call(self._expression(func), given, named)
        return ast.Call(_name("_call"), [self._expression(func), *given], named)

    def _builtin(self, func: ast.Name, node: ast.Call) -> ast.expr:
        """A builtin, or Python's own where the arguments allow."""
        plain = not node.keywords and not any(isinstance(e, ast.Starred) for e in node.args)
        kinds = 0
        for each in node.args:
            kinds |= self._guards.kind(each)
        if plain and len(node.args) == 1 and func.id == "len":
            return _at(func, _name("_len"))
        if plain and node.args and not kinds & ~NUMBER:
            if func.id in ("min", "max") and len(node.args) > 1:
                return _at(func, _name(f"_{func.id}"))
            if func.id == "abs" and len(node.args) == 1:
                return _at(func, _name("_abs"))
        return ast.Name(func.id, ast.Load())

    def _is_namespaced(self, node: ast.Attribute) -> bool:
        return isinstance(node.value, ast.Name) and self._binding(node.value) == NAMESPACE

    def _attribute(self, node: ast.Attribute) -> ast.expr:
        if self._is_namespaced(node):
            assert isinstance(node.value, ast.Name)
            self.uses.add(f"{node.value.id}.{node.attr}")
            return _name(f"_{node.value.id}_{node.attr}")
        if self._guards.is_series(node):
            return ast.Attribute(self._expression(node.value), node.attr, ast.Load())
        return _call("_attribute", self._expression(node.value), ast.Constant(node.attr))

    def _subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.slice, ast.Slice):
            bounds = [
                ast.Constant(None) if each is None else self._expression(each)
                for each in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            return _call("_slice", self._expression(node.value), *bounds)
        at = self._expression(node.slice)
        if not self._guards.kind(node.slice) & ~INT:
            key, _ = source_of(node.value)
            if key in self._frame.hoisted:
                return ast.Subscript(_name(self._frame.hoisted[key]), at, ast.Load())
        holder = self._expression(node.value)
        if not self._guards.element(node):
            return ast.Subscript(holder, at, ast.Load())
        return _call("_index", holder, at)

    def _key(self, node: ast.expr) -> ast.expr:
        key = self._expression(node)
        return _at(node, _call("_key", key)) if self._guards.key(node) else key

    def _dict(self, node: ast.Dict) -> ast.expr:
        pairs: list[ast.expr] = [
            _at(value, ast.Tuple([self._key(key), self._expression(value)], ast.Load()))
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        ]
        return _call("_made_dict", ast.Tuple(pairs, ast.Load()))

    def _lambda(self, node: ast.Lambda) -> ast.expr:
        arguments = self._defaults(node.args)
        outer, self._frame = self._frame, _Frame()
        body = self._expression(node.body)
        self._frame = outer
        weight = ast.Constant(steps(entry(node.args) + self._weigh.cost(node.body)))
        charge = _at(node.body, _call("_charge", weight))
        charged: ast.expr = _at(node.body, ast.BoolOp(ast.Or(), [charge, body]))
        if (named := arguments.kwarg) is not None:  # **named as one of the language's dicts
            one = ast.arguments([], [ast.arg(named.arg)], None, [], [], None, [])
            charged = ast.Call(ast.Lambda(one, charged), [_call("_Dict", _name(named.arg))], [])
        return ast.Lambda(arguments, _at(node.body, charged))


Node = TypeVar("Node", bound=ast.AST)


def _at(place: ast.AST, node: Node) -> Node:
    """The node, at the author's place if it has none yet."""
    if not hasattr(node, "lineno"):
        _place(node, place)
    return node


def _place(node: ast.AST, place: Any) -> None:
    made: Any = node
    made.lineno, made.col_offset = place.lineno, place.col_offset
    made.end_lineno, made.end_col_offset = place.end_lineno, place.end_col_offset


def _place_all(tree: ast.Module) -> None:
    """Puts every node that has no place where what it stands in is."""
    start = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    pending: list[tuple[ast.AST, ast.AST]] = [(tree, start)]
    while pending:
        node, place = pending.pop()
        if not hasattr(node, "lineno"):
            _place(node, place)
        pending += [(child, node) for child in children(node)]


def _name(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def _call(name: str, *given: ast.expr) -> ast.expr:
    return ast.Call(_name(name), list(given), [])


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _left(loop: ast.For) -> ast.stmt:
    """Leaves the loop; what it has used then is charged on its own line."""
    return _at(loop, ast.Expr(_at(loop, _call("_leave"))))


def _def(node: ast.FunctionDef, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    made = copy(node)
    first: list[ast.stmt] = []
    if (named := arguments.kwarg) is not None:
        first = [_at(node, _assign(named.arg, _call("_Dict", _name(named.arg))))]
    made.args, made.body = arguments, [*first, *body]
    return made


def _has_exit(body: list[ast.stmt], inner: bool = False) -> bool:
    """Can the loop be left before its end?"""
    for statement in body:
        if isinstance(statement, ast.Return) or (isinstance(statement, ast.Break) and not inner):
            return True
        branches = [statement.body, statement.orelse] if isinstance(statement, ast.If) else []
        if any(_has_exit(branch, inner) for branch in branches):
            return True
        if isinstance(statement, ast.For) and _has_exit(statement.body, inner=True):
            return True
    return False


def _is_range(node: ast.expr, checked: Checked) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "range"
        and checked.bindings.get(node.func) == BUILTIN
        and not node.keywords
        and not any(isinstance(each, ast.Starred) for each in node.args)
    )


def _width(source: ast.expr) -> int:
    """How many values enumerate(…) or zip(…) gives at a time."""
    assert isinstance(source, ast.Call) and isinstance(source.func, ast.Name)
    return 2 if source.func.id == "enumerate" else len(source.args)
