"""Syntax nodes of generated code, at the author's own lines and columns."""

import ast
from typing import Any, TypeVar

from chartpact.syntax import children

Node = TypeVar("Node", bound=ast.AST)

ACCESSORS = ("set_", "get_", "cell")  # how methods of handles begin, and nothing of another value


def at(place: ast.AST, node: Node) -> Node:
    """The node at the author's place, unless it has one already."""
    if not hasattr(node, "lineno"):
        _copy_place(node, place)
    return node


def place_all(tree: ast.Module) -> None:
    """Gives every node without a place that of the node around it."""
    start = ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    pending: list[tuple[ast.AST, ast.AST]] = [(tree, start)]
    while pending:
        node, place = pending.pop()
        if not hasattr(node, "lineno"):
            _copy_place(node, place)
        pending += [(child, node) for child in children(node)]


def _copy_place(node: Any, place: Any) -> None:
    node.lineno, node.col_offset = place.lineno, place.col_offset
    node.end_lineno, node.end_col_offset = place.end_lineno, place.end_col_offset


def load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.expr:
    return ast.Name(name, ast.Store())


def tuple_of(values: list[ast.expr]) -> ast.expr:
    return ast.Tuple(values, ast.Load())


def call(name: str, *arguments: ast.expr) -> ast.expr:
    """A call of a function of the runtime."""
    return ast.Call(load(name), list(arguments), [])


def assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([store(name)], value)


def literal_text(node: ast.expr) -> str | None:
    """The text of a literal."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def is_plain_call(node: ast.expr) -> bool:
    """Whether it is a call without named values, *values or **values."""
    return (
        isinstance(node, ast.Call)
        and not node.keywords
        and not any(isinstance(argument, ast.Starred) for argument in node.args)
    )


def accessed(node: ast.Call) -> ast.Attribute | None:
    """The method of a loop that compiled code calls directly: it guards itself.

    Only handles have methods whose names begin like `ACCESSORS`, and only lists `append`.
    """
    func = node.func
    if not isinstance(func, ast.Attribute):
        return None
    appends = func.attr == "append" and len(node.args) == 1 and is_plain_call(node)
    return func if appends or func.attr.startswith(ACCESSORS) else None
