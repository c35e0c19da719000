"""What straight code costs, in eighths of a step, along its longest path.

What depends on sizes (loops, calls of the host, texts) is charged when it happens and is not
counted here.
"""

import ast
from collections.abc import Callable, Mapping
from functools import partial

from chartpact.script.check.checked import FUNCTION, Checked
from chartpact.script.compile.hoisting import Source, hoisted_read
from chartpact.script.compile.kinds import BIG, DICT, NUMBER, is_none_test
from chartpact.script.compile.nodes import accessed, is_plain_call
from chartpact.script.compile.type_guards import TypeGuards
from chartpact.script.runtime.meter import EIGHTHS
from chartpact.syntax import children

LONG_BRANCH = 32  # eighths: a longer branch of an `if` is charged when it is taken
TURN = 3  # of a loop, without its body
PLAIN = 1  # an assignment, a jump, `not x`
NATIVE, INLINED, GUARDED = 2, 6, 22  # an operator
NO_FLOATS = 3  # steps of an inlined operator whose sides turn out to be no floats
CALL = 20  # of a builtin, or of the host
ACCESS = 10  # `box.set_top(x)`, which charges more as it happens
APPEND = 5  # `values.append(x)`
KEYWORD = 4  # a named value of a call
DIRECT_CALL = 6  # of a function of the script, without its body
UNPACK = 40  # `a, b = x`, for which a function is called
HOISTED = 3  # `close[i]` in a loop, which reads from a list
READ, ELEMENT = 20, 4  # an element of a dict under a number, and any other
STORE = 20  # an element of a dict, which may have to grow
AUGMENT = 24  # `d[k] += 1`, which looks for the element twice
COLLECT = 32  # an element of a dict that a comprehension makes
DIVIDE_BIG = 40  # ints without bounds divided to a float
FUNCTION_VALUE = COMPREHENSION = 32


def steps(eighths: int) -> int:
    return -(-eighths // EIGHTHS)


def entry(args: ast.arguments) -> int:
    """The weight of entering a function, without its body."""
    return 4 + (8 if args.vararg else 0) + (24 if args.kwarg else 0)


def unpacking(target: ast.expr) -> int:
    """The weight of taking a value apart."""
    if not isinstance(target, ast.Tuple | ast.List):
        return 0
    return UNPACK + sum(map(unpacking, target.elts))


def _display(node: ast.expr) -> int:
    """The weight of a list, tuple or dict, of `and` and `or`, and of whatever is left."""
    if isinstance(node, ast.List | ast.Tuple):
        return (32 if isinstance(node, ast.List) else 6) + 2 * len(node.elts)
    if isinstance(node, ast.BoolOp):
        return PLAIN * (len(node.values) - 1)
    return 40 + 16 * len(node.values) if isinstance(node, ast.Dict) else 6


class Weights:
    """The weights of a module's code; functions are weighed before those that call them."""

    def __init__(
        self,
        checked: Checked,
        guards: TypeGuards,
        hoisted: Callable[[], Mapping[Source | None, str]],
    ) -> None:
        self._checked = checked
        self._guards = guards
        self._hoisted = hoisted  # of the code that is being written
        self._functions: dict[str, int] = {}
        # By the identity of a block, which is weighed again for every block around it.
        self._ends: dict[int, bool] = {}
        self._paths: dict[int, int] = {}

    def function(self, node: ast.FunctionDef) -> int:
        """The steps of a call of a top-level function, which later calls of it are charged."""
        self._functions[node.name] = entry(node.args) + self.path(node.body)
        return steps(self._functions[node.name])

    def path(self, statements: list[ast.stmt]) -> int:
        """The weight of the longest path through the statements, without what loops repeat."""
        if id(statements) not in self._paths:
            self._paths[id(statements)] = self._path(statements)
        return self._paths[id(statements)]

    def _path(self, statements: list[ast.stmt]) -> int:
        weight = 0
        for statement in reversed(statements):
            if isinstance(statement, ast.If):
                paths = (
                    self._short(branch) + (weight if self._falls_through(branch) else 0)
                    for branch in (statement.body, statement.orelse)
                )
                weight = PLAIN + self.cost(statement.test) + max(paths)
            elif isinstance(statement, ast.Return | ast.Break | ast.Continue):
                value = getattr(statement, "value", None)
                weight = PLAIN + (0 if value is None else self.cost(value))
            else:
                weight += self._statement(statement)
        return weight

    def _falls_through(self, statements: list[ast.stmt]) -> bool:
        """Whether the end of the statements can be reached."""
        if not statements:
            return True
        if id(statements) not in self._ends:
            last = statements[-1]
            self._ends[id(statements)] = (
                self._falls_through(last.body) or self._falls_through(last.orelse)
                if isinstance(last, ast.If)
                else not isinstance(last, ast.Return | ast.Break | ast.Continue)
            )
        return self._ends[id(statements)]

    def charged(self, branch: list[ast.stmt]) -> int | None:
        """The steps that a long branch charges for itself, None for a short one."""
        weight = self.path(branch)
        return 1 + steps(weight) if weight > LONG_BRANCH else None

    def _short(self, branch: list[ast.stmt]) -> int:
        """The weight of a branch that does not charge for itself."""
        weight = self.path(branch)
        return weight if weight <= LONG_BRANCH else 0

    def _statement(self, node: ast.stmt) -> int:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            unpacked = 0 if isinstance(value, ast.Tuple | ast.List) else unpacking(target)
            return PLAIN + unpacked + self.cost(value) + self.cost(target)
        if isinstance(node, ast.AugAssign):
            guarded = self._guards.binary(node.op, node.target, node.value)
            own = PLAIN + self._native(node.op, node.target, node.value)
            if guarded:
                own = self._guarded(node.op, node.target, node.value, inlines=True)
            read = self._read(node.target) if isinstance(node.target, ast.Subscript) else 0
            if read == READ or (read and guarded):
                read += AUGMENT
            return own + read + self.cost(node.value) + self.cost(node.target)
        if isinstance(node, ast.Expr):
            return PLAIN + self.cost(node.value)
        if isinstance(node, ast.For):
            return 8 + self.cost(node.iter)
        if isinstance(node, ast.FunctionDef):
            return FUNCTION_VALUE + sum(map(self.cost, node.args.defaults))
        return 0

    def cost(self, node: ast.expr, inlines: bool = True) -> int:
        """The weight of an expression, which may be where no operators are inlined."""
        cost = partial(self.cost, inlines=inlines)
        if isinstance(node, ast.Constant | ast.Name):
            return 0
        if isinstance(node, ast.Lambda):
            return FUNCTION_VALUE
        if isinstance(node, ast.IfExp):
            return PLAIN + cost(node.test) + max(cost(node.body), cost(node.orelse))
        if isinstance(node, ast.ListComp | ast.DictComp):
            return COMPREHENSION + cost(node.generators[0].iter)
        if isinstance(node, ast.Subscript):
            index = self._guards.kind(node.slice)
            if hoisted_read(node, self._hoisted(), index) is not None:
                return HOISTED + cost(node.slice)
        if isinstance(node, ast.Call) and (method := accessed(node)) is not None:
            weight = APPEND if method.attr == "append" else ACCESS
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            weight += KEYWORD * len(node.keywords)
            return weight + sum(map(cost, [method.value, *arguments]))
        weight = self._own(node, inlines)
        for child in children(node):
            if isinstance(child, ast.expr):
                weight += cost(child)
            elif isinstance(child, ast.keyword):
                weight += KEYWORD + cost(child.value)
        return weight

    def _own(self, node: ast.expr, inlines: bool) -> int:
        """The weight of an expression without its parts."""
        guards = self._guards
        if isinstance(node, ast.Call):
            func = node.func
            if inlines and self.is_choice(node):
                return INLINED
            if isinstance(func, ast.Name) and self._checked.bindings.get(func) == FUNCTION:
                return DIRECT_CALL + self._functions.get(func.id, 0)
            return CALL
        if isinstance(node, ast.BinOp):
            if guards.binary(node.op, node.left, node.right):
                return self._guarded(node.op, node.left, node.right, inlines)
            return self._native(node.op, node.left, node.right)
        if isinstance(node, ast.UnaryOp):
            plain = PLAIN if isinstance(node.op, ast.Not) else NATIVE
            return GUARDED if guards.unary(node.op, node.operand) else plain
        if isinstance(node, ast.Compare):
            sides = node.left, node.comparators[0]
            if is_none_test(node) or not guards.compare(node.ops[0], *sides):
                return NATIVE
            return self._guarded(node.ops[0], *sides, inlines)
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            if guards.element(node):
                return GUARDED
            stores = isinstance(node.ctx, ast.Store) and guards.kind(node.value) & DICT
            return STORE if stores else self._read(node)
        return _display(node)

    def is_choice(self, node: ast.Call) -> bool:
        """Whether the call is `min` or `max` of two numbers, which is inlined like an operator."""
        return (
            self._checked.is_builtin(node.func, "min", "max")
            and is_plain_call(node)
            and len(node.args) == 2
            and all(map(self._guards.is_number, node.args))
        )

    def _guarded(self, operator: ast.AST, left: ast.expr, right: ast.expr, inlines: bool) -> int:
        return INLINED if inlines and self._guards.inlines(operator, left, right) else GUARDED

    def _read(self, node: ast.Subscript) -> int:
        """The weight of an element that is read without a guard."""
        hashes = self._guards.kind(node.value) & DICT and self._guards.kind(node.slice) & NUMBER
        return READ if hashes else ELEMENT

    def _native(self, operator: ast.operator, left: ast.expr, right: ast.expr) -> int:
        """The weight of an operator that needs no guard."""
        big = (self._guards.kind(left) | self._guards.kind(right)) & BIG
        divides = isinstance(operator, ast.Div | ast.FloorDiv | ast.Mod)
        return DIVIDE_BIG if big and divides else NATIVE
