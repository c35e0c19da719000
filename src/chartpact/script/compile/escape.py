"""Escape analysis: lists that only their own function can reach.

What such a list holds is known from what its function puts into it. A list escapes when it is
passed to a function of the script, stored in another value, captured by an inner function, or
assigned to a second name.
"""

import ast
from collections import Counter
from collections.abc import Iterator

from chartpact.script.check.checked import Checked
from chartpact.script.check.scopes import bound_names, parameters, target_names
from chartpact.syntax import walk

# Builtins that read a list and keep no hold of it.
_READERS = tuple("len enumerate zip reversed sorted list tuple any all str repr print sum".split())
_HOLDERS = frozenset("append insert extend update setdefault pop remove index get".split())


def private_lists(function: ast.FunctionDef, checked: Checked) -> set[str]:
    """The names that only ever stand for lists made here, which nobody else can reach."""
    scope = checked.scopes.get(function)
    if scope is None:
        return set()
    made = Counter(
        statement.targets[0].id
        for statement in _statements(function.body)
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and _makes_list(statement.value)
    )
    bound = Counter(bound_names(function.body))
    shared = {arg.arg for arg in parameters(function)} | scope.captured
    names = {name for name, count in made.items() if bound[name] == count} - shared
    if not names:
        return names
    nodes = list(walk(function))
    harmless = {name for name in _harmless_reads(nodes, checked) if name.id in names}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in harmless:
            names.discard(node.id)
        elif isinstance(node, ast.comprehension):  # its own name hides the list's
            names -= {name.id for name in target_names(node.target)}
    return names


def _makes_list(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return isinstance(value.left, ast.List) or isinstance(value.right, ast.List)
    return isinstance(value, ast.List | ast.ListComp)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.For | ast.If):
            yield from _statements(statement.body)
            yield from _statements(statement.orelse)


def _harmless_reads(nodes: list[ast.AST], checked: Checked) -> Iterator[ast.Name]:
    """Where a list is read, filled, or passed to a function that keeps no hold of it."""
    for node in nodes:
        reads: list[ast.expr | None] = []
        if isinstance(node, ast.Subscript):
            reads = [node.value]
        elif isinstance(node, ast.For | ast.comprehension):
            reads = [node.iter]
        elif isinstance(node, ast.If | ast.IfExp):
            reads = [node.test]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            reads = [node.operand]
        elif isinstance(node, ast.Compare):
            reads = [node.left, *node.comparators]
        elif isinstance(node, ast.Return):
            reads = [*node.value.elts] if isinstance(node.value, ast.Tuple) else [node.value]
        elif isinstance(node, ast.Call):
            reads = _harmless_arguments(node, checked)
        yield from (read for read in reads if isinstance(read, ast.Name))


def _harmless_arguments(node: ast.Call, checked: Checked) -> list[ast.expr | None]:
    func = node.func
    arguments: list[ast.expr | None] = [*node.args, *(keyword.value for keyword in node.keywords)]
    if checked.is_builtin(func, *_READERS) or checked.namespaced(func):
        return arguments
    if checked.is_builtin(func, "min", "max") and len(node.args) == 1:  # an element, not the list
        return arguments
    if not isinstance(func, ast.Attribute):
        return []
    if func.attr in ("append", "insert", "pop", "clear"):
        return [func.value]
    return [] if func.attr in _HOLDERS else [func.value, *arguments]
