"""What straight code costs: counted in thirds of a step, along the longest way through it.

What depends on sizes (loops, calls of the host, texts) is charged when it happens and is not
counted here.
"""

import ast

from chartpact.script.check import FUNCTION, Checked
from chartpact.script.guards import Guards
from chartpact.script.kinds import is_none_test

THIRDS = 3
LONG_BRANCH = 30  # thirds: a longer branch of an `if` is charged when it is taken
NATIVE, GUARDED = 1, 8


def steps(thirds: int) -> int:
    return -(-thirds // THIRDS)


class Weights:
    """The weights of a module's code; functions are weighed before those that call them."""

    def __init__(self, checked: Checked, guards: Guards) -> None:
        self._checked = checked
        self._guards = guards
        self._functions: dict[str, int] = {}

    def function(self, node: ast.FunctionDef) -> int:
        """Weighs a top-level function, so that calls of it are known."""
        self._functions[node.name] = 2 + self.path(node.body)
        return steps(self._functions[node.name])

    def path(self, statements: list[ast.stmt]) -> int:
        """The longest way through the statements, what is in loops left out."""
        weight = 0
        for statement in reversed(statements):
            if isinstance(statement, ast.If):
                ways = (
                    self._entry(branch) + (weight if falls_through(branch) else 0)
                    for branch in (statement.body, statement.orelse)
                )
                weight = 1 + self.cost(statement.test) + max(ways)
            elif isinstance(statement, ast.Return | ast.Break | ast.Continue):
                value = getattr(statement, "value", None)
                weight = 1 + (0 if value is None else self.cost(value))
            else:
                weight += self._statement(statement)
        return weight

    def charged(self, branch: list[ast.stmt]) -> int | None:
        """The steps a long branch charges for itself, None for a short one."""
        weight = self.path(branch)
        return steps(weight) if weight > LONG_BRANCH else None

    def _entry(self, branch: list[ast.stmt]) -> int:
        weight = self.path(branch)
        return weight if weight <= LONG_BRANCH else 0

    def _statement(self, node: ast.stmt) -> int:
        if isinstance(node, ast.Assign):
            return 1 + self.cost(node.value) + self.cost(node.targets[0])
        if isinstance(node, ast.AugAssign):
            guarded = self._guards.binary(node.op, node.target, node.value)
            return (GUARDED if guarded else 2) + self.cost(node.value) + self.cost(node.target)
        if isinstance(node, ast.Expr):
            return 1 + self.cost(node.value)
        if isinstance(node, ast.For):
            return 3 + self.cost(node.iter)
        if isinstance(node, ast.FunctionDef):
            return 12 + sum(map(self.cost, node.args.defaults))
        return 0

    def cost(self, node: ast.expr) -> int:
        """The weight of an expression."""
        if isinstance(node, ast.Constant | ast.Name):
            return 0
        if isinstance(node, ast.Lambda):
            return 12
        if isinstance(node, ast.IfExp):
            return 1 + self.cost(node.test) + max(self.cost(node.body), self.cost(node.orelse))
        if isinstance(node, ast.ListComp | ast.DictComp):
            return 12 + self.cost(node.generators[0].iter)
        own = self._own(node)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                own += self.cost(child)
            elif isinstance(child, ast.keyword):
                own += 1 + self.cost(child.value)
        return own

    def _own(self, node: ast.expr) -> int:
        guards = self._guards
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name and self._checked.bindings.get(node.func) == FUNCTION:  # type: ignore[call-overload]
                return 2 + self._functions.get(name, 0)
            return 4
        if isinstance(node, ast.BinOp):
            return GUARDED if guards.binary(node.op, node.left, node.right) else NATIVE
        if isinstance(node, ast.UnaryOp):
            return GUARDED if guards.unary(node.op, node.operand) else NATIVE
        if isinstance(node, ast.Compare):
            if is_none_test(node):
                return NATIVE
            return (
                GUARDED if guards.compare(node.ops[0], node.left, node.comparators[0]) else NATIVE
            )
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            return GUARDED if guards.element(node) else NATIVE
        if isinstance(node, ast.List):
            return 8 + len(node.elts)
        if isinstance(node, ast.Tuple):
            return 2 + len(node.elts)
        if isinstance(node, ast.Dict):
            return 15 + 6 * len(node.values)
        return 2


def falls_through(statements: list[ast.stmt]) -> bool:
    """Can the end of the statements be reached?"""
    if not statements:
        return True
    last = statements[-1]
    if isinstance(last, ast.If):
        return falls_through(last.body) or falls_through(last.orelse)
    return not isinstance(last, ast.Return | ast.Break | ast.Continue)
