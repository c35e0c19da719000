"""From a checked module to Python code that keeps the language's rules and counts its steps.

The generated code is ordinary Python at the author's own lines and columns, so that an exception in
it leads to the expression that failed. Three things are added. Operators that need a type guard
become calls of the runtime. Loops take their turns from the meter. And inside a loop, a series that
is read by index is read from its list of values, made once before the loop.

Straight code is charged where it is entered, by its longest path: a function by its caller, a loop
body by its loop; only a long branch of an `if` is charged when it is taken. Names of the runtime
begin with an underscore, which no name of a script does.
"""

import ast
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from types import CodeType
from warnings import catch_warnings, simplefilter

from chartpact.script.check.checked import Checked
from chartpact.script.compile.expressions import ExpressionEmitter, FunctionFrame
from chartpact.script.compile.hoisting import Source, hoistable, least_values
from chartpact.script.compile.inference import Kinds
from chartpact.script.compile.kinds import DICTS, LIST
from chartpact.script.compile.nodes import assign, at, call, load, place_all, store, tuple_of
from chartpact.script.compile.weights import SHORTEST_TURN, TURN, entry, steps, unpacking
from chartpact.script.errors import LimitReached
from chartpact.script.runtime.values import FILE
from chartpact.script.source.visitors import visitors
from chartpact.syntax import walk


@dataclass(frozen=True)
class Compiled:
    """Code to be executed over the runtime's names, and the steps of a call of each function."""

    code: CodeType
    weights: Mapping[str, int]
    uses: tuple[str, ...]  # functions of the host, such as "ta.ema"


def compile_module(checked: Checked, kinds: Kinds) -> Compiled:
    """The code of a module that passed its checks."""
    emitter = Emitter(checked, kinds)
    tree = emitter.module()
    place_all(tree)
    with catch_warnings():
        simplefilter("ignore", SyntaxWarning)  # Python's advice on `None is None` is for its users
        try:
            code = compile(tree, FILE, "exec", dont_inherit=True, optimize=0)
        except (SyntaxError, ValueError, OverflowError) as error:
            raise LimitReached from error
    return Compiled(code, emitter.weights, tuple(sorted(emitter.uses)))


class Emitter(ExpressionEmitter):
    """Translates the statements of a module."""

    def __init__(self, checked: Checked, kinds: Kinds) -> None:
        super().__init__(checked, kinds)
        self.weights: dict[str, int] = {}

    def module(self) -> ast.Module:
        functions: dict[str, ast.FunctionDef] = {}
        for name, function in self._checked.functions.items():  # callees first: their weights
            self._frame, self._least = FunctionFrame(), least_values(function, self._checked)
            self.weights[name] = self._weights.function(function)
            body = self._block(function.body)
            functions[name] = _def(function, self._arguments(function.args), body)
        self._frame, self._least = FunctionFrame(top=True, inlines=False), {}
        statements: list[ast.stmt] = []
        own = []
        for statement in self._checked.tree.body:
            if isinstance(statement, ast.FunctionDef):
                statements.append(functions[statement.name])
            else:
                own.append(statement)
                statements += self._statement(statement)
        self.weights[""] = len(functions) + steps(self._weights.path(own))
        return ast.Module(statements, [])

    def _block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        block: list[ast.stmt] = []
        for statement in statements:
            block += self._statement(statement)
        return block or [ast.Pass()]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        """The code of a statement, after the lists of the series that its loops read."""
        outer = self._frame.hoisted
        before: list[ast.stmt] = []
        names: dict[Source | None, str] = {}
        series = hoistable(node, self._kinds.at_loop.get(node, {}), self._kinds.of)
        for source, expression in series.items():
            if source not in outer:
                names[source] = self._frame.temporary()
                items = call("_items", self._expression(expression))
                before.append(at(node, assign(names[source], items)))
        self._frame.hoisted = {**outer, **names}
        visit = _STATEMENTS.get(type(node))
        code = [node] if visit is None else visit(self, node)  # pass, break and continue stay
        statements = [at(node, statement) for statement in code]
        self._frame.hoisted = outer
        return [*before, *statements]

    def visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        return [ast.Expr(self._expression(node.value))]

    def visit_If(self, node: ast.If) -> list[ast.stmt]:
        test = self._expression(node.test)
        return [ast.If(test, self._branch(node.body), self._branch(node.orelse))]

    def _branch(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        if not statements:
            return []
        block = self._block(statements)
        weight = self._weights.charged(statements)
        if weight is None:
            return block
        charge = ast.Expr(call("_charge", ast.Constant(weight)))
        return [at(statements[0], charge), *block]

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        target, value = node.targets[0], node.value
        if not isinstance(target, ast.Tuple | ast.List):
            return self._store(target, self._freeze(value, self._expression(value)))
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            values = tuple_of(self._expressions(value.elts))
        else:
            values = self._unpack(value, self._expression(value), len(target.elts))
        return self._distribute(target, self._freeze(value, values))

    def _freeze(self, node: ast.expr, value: ast.expr) -> ast.expr:
        """A value to be assigned; at the top level it cannot change from then on."""
        if not self._frame.top or isinstance(node, ast.Constant):
            return value
        return at(node, call("_freeze", value))

    def _distribute(self, target: ast.Tuple | ast.List, values: ast.expr) -> list[ast.stmt]:
        """Assigns the values to the parts of a target, through temporaries where needed.

        From left to right, as the language says: in `xs[i], i = v, w` the element is the old i's.
        """
        names: list[ast.expr] = []
        later: list[ast.stmt] = []
        plain = not any(isinstance(part, ast.Subscript) for part in walk(target))
        for part in target.elts:
            if isinstance(part, ast.Name) and plain:
                names.append(store(part.id))
                continue
            temporary = self._frame.temporary()
            names.append(store(temporary))
            if isinstance(part, ast.Tuple | ast.List):
                inner = self._unpack(part, load(temporary), len(part.elts))
                later += self._distribute(part, inner)
            else:
                later += self._store(part, load(temporary))
        return [ast.Assign([ast.Tuple(names, ast.Store())], values), *later]

    def _store(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        if isinstance(target, ast.Name):
            return [assign(target.id, value)]
        assert isinstance(target, ast.Subscript)
        holder, index = self._expression(target.value), self._expression(target.slice)
        return [self._store_element(target, holder, index, value)]

    def _store_element(
        self, target: ast.Subscript, holder: ast.expr, index: ast.expr, value: ast.expr
    ) -> ast.stmt:
        if self._guards.element(target):
            return ast.Expr(at(target, call("_store", value, holder, index)))
        return ast.Assign([at(target, ast.Subscript(holder, index, ast.Store()))], value)

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        target = node.target
        self._frame.held += 1  # the old value waits for the other
        value = self._expression(node.value)
        self._frame.held -= 1
        if isinstance(target, ast.Name):
            return [assign(target.id, self._augmented(node, load(target.id), value))]
        assert isinstance(target, ast.Subscript)
        before: list[ast.stmt] = []
        holder = self._evaluate_once(self._expression(target.value), before)
        index = self._evaluate_once(self._expression(target.slice), before)
        old: ast.expr = ast.Subscript(holder, index, ast.Load())
        if self._guards.element(target):
            old = call("_index", holder, index)
        new = self._augmented(node, at(target, old), value)
        return [*before, self._store_element(target, holder, index, new)]

    def _evaluate_once(self, value: ast.expr, before: list[ast.stmt]) -> ast.expr:
        """The value under a name of its own, unless reading it twice is the same."""
        if isinstance(value, ast.Constant | ast.Name):
            return value
        temporary = self._frame.temporary()
        before.append(at(value, assign(temporary, value)))
        return load(temporary)

    def _augmented(self, node: ast.AugAssign, old: ast.expr, value: ast.expr) -> ast.expr:
        operator, kinds = node.op, self._guards.kind(node.target)
        if isinstance(operator, ast.Add) and kinds & LIST:
            return at(node, call("_iadd", old, value))
        if isinstance(operator, ast.BitOr) and kinds & DICTS:
            return at(node, call("_ior", old, value))
        if self._guards.binary(operator, node.target, node.value):
            return at(node, self._guarded(operator, (node.target, node.value), [old, value]))
        old, value = self._as_floats((node.target, node.value), [old, value])
        return at(node, ast.BinOp(old, operator, value))

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        value = None if node.value is None else self._expression(node.value)
        leave = [_leave(loop) for loop in reversed(self._frame.loops)]
        if value is None or not leave:
            return [*leave, ast.Return(value)]
        temporary = self._frame.temporary()
        return [assign(temporary, value), *leave, ast.Return(load(temporary))]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> list[ast.stmt]:
        arguments = self._arguments(node.args)
        outer, self._frame = self._frame, FunctionFrame()
        body = self._block(node.body)
        weight = ast.Constant(steps(entry(node.args) + self._weights.path(node.body)))
        self._frame = outer
        charge = ast.Expr(at(node, call("_charge", weight)))
        return [_def(node, arguments, [charge, *body])]

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        exits = _has_exit(node.body)
        weight = max(TURN + self._weights.path(node.body), SHORTEST_TURN)
        weight += unpacking(node.target, pairs=self._pairs(node.iter) is not None and not exits)
        turns = self._turns(node.iter, weight, exits)
        target, first = self._loop_target(node.target, node.iter)
        if self._is_range(node.iter) and not exits:  # charged whole, and nothing is locked
            return [ast.For(target, turns, [*first, *self._block(node.body)], [])]
        self._frame.loops.append(node)
        body = self._block(node.body)
        self._frame.loops.pop()
        return [ast.For(target, turns, [*first, *body], []), _leave(node)]

    def _loop_target(self, target: ast.expr, source: ast.expr) -> tuple[ast.expr, list[ast.stmt]]:
        """What the loop assigns, and the statements that take it apart at the start of a turn."""
        if isinstance(target, ast.Name):
            return store(target.id), []
        assert isinstance(target, ast.Tuple | ast.List)
        if self._pair_width(source) == len(target.elts):
            assigned, *later = self._distribute(target, ast.Constant(None))
            assert isinstance(assigned, ast.Assign)
            return assigned.targets[0], [at(target, statement) for statement in later]
        temporary = self._frame.temporary()
        values = self._unpack(target, load(temporary), len(target.elts))
        first = [at(target, statement) for statement in self._distribute(target, values)]
        return store(temporary), first


_STATEMENTS = visitors(Emitter)


def _leave(loop: ast.For) -> ast.stmt:
    """Leaves the loop; what it has used by then is charged on its own line."""
    return at(loop, ast.Expr(at(loop, call("_leave"))))


def _def(node: ast.FunctionDef, arguments: ast.arguments, body: list[ast.stmt]) -> ast.FunctionDef:
    function = copy(node)
    first: list[ast.stmt] = []
    if (named := arguments.kwarg) is not None:  # **named as one of the language's dicts
        first = [at(node, assign(named.arg, call("_Dict", load(named.arg))))]
    function.args, function.body = arguments, [*first, *body]
    return function


def _has_exit(body: list[ast.stmt], inner: bool = False) -> bool:
    """Whether the loop can be left before its end."""
    for statement in body:
        if isinstance(statement, ast.Return) or (isinstance(statement, ast.Break) and not inner):
            return True
        branches = [statement.body, statement.orelse] if isinstance(statement, ast.If) else []
        if any(_has_exit(branch, inner) for branch in branches):
            return True
        if isinstance(statement, ast.For) and _has_exit(statement.body, inner=True):
            return True
    return False
