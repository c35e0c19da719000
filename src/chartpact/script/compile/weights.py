"""What straight code costs: counted in quarters of a step, along the longest way through it.

What depends on sizes (loops, calls of the host, texts) is charged when it happens and is not
counted here.
"""

import ast

from chartpact.script.check.checked import FUNCTION, Checked
from chartpact.script.compile.kinds import BIG, DICT, NUMBER, is_none_test
from chartpact.script.compile.type_guards import Guards
from chartpact.script.runtime.meter import QUARTERS
from chartpact.syntax import children

LONG_BRANCH = 16  # quarters: a longer branch of an `if` is charged when it is taken
TURN = 2  # of a loop, its body not counted
NATIVE, GUARDED = 1, 11
CALL = 10  # of a builtin, or of the host
UNPACK = 16  # `a, b = x`, for which a function is called
READ = 5  # an element of a dict, under a number
STORE = 10  # an element of a dict, which may have to grow
COLLECT = 12  # an element of a dict that a comprehension makes
DIVIDE_BIG = 16  # ints without bounds divided to a float


def steps(quarters: int) -> int:
    return -(-quarters // QUARTERS)


def unpacking(target: ast.expr) -> int:
    """What it costs to take a value apart."""
    if not isinstance(target, ast.Tuple | ast.List):
        return 0
    return UNPACK + sum(map(unpacking, target.elts))


class Weights:
    """The weights of a module's code; functions are weighed before those that call them."""

    def __init__(self, checked: Checked, guards: Guards) -> None:
        self._checked = checked
        self._guards = guards
        self._functions: dict[str, int] = {}
        self._ends: dict[int, bool] = {}
        self._paths: dict[int, int] = {}  # by the statements, which are weighed again and again

    def function(self, node: ast.FunctionDef) -> int:
        """Weighs a top-level function, so that calls of it are known."""
        self._functions[node.name] = entry(node.args) + self.path(node.body)
        return steps(self._functions[node.name])

    def path(self, statements: list[ast.stmt]) -> int:
        """The longest way through the statements, what is in loops left out."""
        if id(statements) not in self._paths:
            self._paths[id(statements)] = self._path(statements)
        return self._paths[id(statements)]

    def _path(self, statements: list[ast.stmt]) -> int:
        weight = 0
        for statement in reversed(statements):
            if isinstance(statement, ast.If):
                ways = (
                    self._entry(branch) + (weight if self._falls_through(branch) else 0)
                    for branch in (statement.body, statement.orelse)
                )
                weight = 1 + self.cost(statement.test) + max(ways)
            elif isinstance(statement, ast.Return | ast.Break | ast.Continue):
                value = getattr(statement, "value", None)
                weight = 1 + (0 if value is None else self.cost(value))
            else:
                weight += self._statement(statement)
        return weight

    def _falls_through(self, statements: list[ast.stmt]) -> bool:
        """Can the end of the statements be reached?"""
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
        """The steps a long branch charges for itself, None for a short one."""
        weight = self.path(branch)
        return 1 + steps(weight) if weight > LONG_BRANCH else None

    def _entry(self, branch: list[ast.stmt]) -> int:
        weight = self.path(branch)
        return weight if weight <= LONG_BRANCH else 0

    def _statement(self, node: ast.stmt) -> int:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            written_out = isinstance(value, ast.Tuple | ast.List)
            taken = 0 if written_out else unpacking(target)
            return 1 + taken + self.cost(value) + self.cost(target)
        if isinstance(node, ast.AugAssign):
            guarded = self._guards.binary(node.op, node.target, node.value)
            own = GUARDED if guarded else 1 + self._native(node.op, node.target, node.value)
            read = self._read(node.target) if isinstance(node.target, ast.Subscript) else 0
            return own + read + self.cost(node.value) + self.cost(node.target)
        if isinstance(node, ast.Expr):
            return 1 + self.cost(node.value)
        if isinstance(node, ast.For):
            return 4 + self.cost(node.iter)
        if isinstance(node, ast.FunctionDef):
            return 16 + sum(map(self.cost, node.args.defaults))
        return 0

    def cost(self, node: ast.expr) -> int:
        """The weight of an expression."""
        if isinstance(node, ast.Constant | ast.Name):
            return 0
        if isinstance(node, ast.Lambda):
            return 16
        if isinstance(node, ast.IfExp):
            return 1 + self.cost(node.test) + max(self.cost(node.body), self.cost(node.orelse))
        if isinstance(node, ast.ListComp | ast.DictComp):
            return 16 + self.cost(node.generators[0].iter)
        own = self._own(node)
        for child in children(node):
            if isinstance(child, ast.expr):
                own += self.cost(child)
            elif isinstance(child, ast.keyword):
                own += 2 + self.cost(child.value)
        return own

    def _own(self, node: ast.expr) -> int:
        guards = self._guards
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name and self._checked.bindings.get(node.func) == FUNCTION:  # type: ignore[call-overload]
                return 3 + self._functions.get(name, 0)
            return CALL
        if isinstance(node, ast.BinOp):
            guarded = guards.binary(node.op, node.left, node.right)
            return GUARDED if guarded else self._native(node.op, node.left, node.right)
        if isinstance(node, ast.UnaryOp):
            return GUARDED if guards.unary(node.op, node.operand) else NATIVE
        if isinstance(node, ast.Compare):
            if is_none_test(node):
                return NATIVE
            return (
                GUARDED if guards.compare(node.ops[0], node.left, node.comparators[0]) else NATIVE
            )
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            if guards.element(node):
                return GUARDED
            stores = isinstance(node.ctx, ast.Store) and guards.kind(node.value) & DICT
            return STORE if stores else self._read(node)
        if isinstance(node, ast.List):
            return 16 + len(node.elts)
        if isinstance(node, ast.Tuple):
            return 3 + len(node.elts)
        if isinstance(node, ast.Dict):
            return 20 + 8 * len(node.values)
        return 3

    def _read(self, node: ast.Subscript) -> int:
        """The weight of an element that is read without a guard."""
        hashes = self._guards.kind(node.value) & DICT and self._guards.kind(node.slice) & NUMBER
        return READ if hashes else NATIVE

    def _native(self, operator: ast.operator, left: ast.expr, right: ast.expr) -> int:
        """The weight of an operator that needs no guard."""
        big = (self._guards.kind(left) | self._guards.kind(right)) & BIG
        dividing = isinstance(operator, ast.Div | ast.FloorDiv | ast.Mod)
        return DIVIDE_BIG if big and dividing else NATIVE


def entry(args: ast.arguments) -> int:
    """What it costs to enter a function, its body not counted."""
    return 2 + (4 if args.vararg else 0) + (12 if args.kwarg else 0)
