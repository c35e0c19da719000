"""Which part of a condition is a series, which has no single truth value.

Python may report the first part of a condition when it tested the last one, so the parts are looked
at with the values that their names have.
"""

import ast
from collections.abc import Iterator

from chartpact.script.compile.kinds import OHLCV_KINDS, SERIES
from chartpact.script.diagnosis.location import Location
from chartpact.script.runtime.builtins import NAMES as BUILTINS
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import type_name

_HINTS: dict[type, str] = {
    ast.BoolOp: "join conditions with & or |, as in (a > 1) & (b < 2), or take one bar: cond[i]",
    ast.UnaryOp: "turn a condition round with ~, as in ~(a > 1), or take one bar: not cond[i]",
}
_SERIES_FIELDS = frozenset(name for name, kinds in OHLCV_KINDS.items() if kinds & SERIES)


def explain_truth(location: Location, hint: str) -> tuple[str, str]:
    """The message and the hint for a series that was tested; the location then points at it."""
    series = _tested_series(location)
    location.point_at(series)
    text = location.text(series)
    subject = f"{text!r} is a series and" if text else "a series"
    return (
        f"{subject} has no single truth value",
        _HINTS.get(type(location.parent(series)), hint),
    )


def _tested_series(location: Location) -> ast.AST | None:
    """The expression that was tested for its truth and is a series."""
    node = location.node
    operands: list[ast.expr] = []
    while node is not None:
        operands = [operand for test in _tests(node) for operand in _operands(test)]
        for operand in operands:
            if _is_series(operand, location):
                return operand
        parent = location.parent(node)
        within = isinstance(parent, ast.BoolOp | ast.UnaryOp | ast.If | ast.IfExp)
        node = parent if within else None
    return next(filter(_is_unclear, operands), None)


def _tests(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions whose truth a node asks for."""
    if isinstance(node, ast.If | ast.IfExp):
        yield node.test
    elif isinstance(node, ast.BoolOp | ast.Compare):
        yield node
    elif isinstance(node, ast.UnaryOp):
        yield node.operand
    elif isinstance(node, ast.ListComp | ast.DictComp):
        for clause in node.generators:
            yield from clause.ifs
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in BUILTINS:  # bool(x), any(x)
        yield from node.args
    elif isinstance(node, ast.expr):  # from Python 3.12 on, the test itself
        yield node


def _operands(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp):
        for operand in node.values:
            yield from _operands(operand)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _operands(node.operand)
    elif isinstance(node, ast.List):  # any([a > 1, b < 2])
        yield from node.elts
    else:
        yield node


def _is_unclear(node: ast.expr) -> bool:
    """Whether it depends on a value that no name has: an element, or what a function returns."""
    return any(
        isinstance(part, ast.Subscript)
        or (isinstance(part, ast.Call) and getattr(part.func, "id", "") not in BUILTINS)
        for part in ast.walk(node)
    )


def _is_series(node: ast.expr, location: Location) -> bool:
    """Whether the expression would be a series, with the values that its names have now."""
    if isinstance(node, ast.Name):
        return isinstance(location.names.get(node.id), Series)
    if isinstance(node, ast.Attribute):
        return node.attr in _SERIES_FIELDS
    if isinstance(node, ast.BinOp):
        return _is_series(node.left, location) or _is_series(node.right, location)
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Not) and _is_series(node.operand, location)
    if isinstance(node, ast.Compare):
        return _is_series(node.left, location) or _is_series(node.comparators[0], location)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice) and _is_series(node.value, location)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        return any(
            _is_series(argument, location) or type_name(location.value(argument)) == "ohlcv"
            for argument in arguments
        )
    return False
