"""Series that loops read by index: found, so that each is turned into a list once, before the loop.

Only names that the loop does not assign, and that surely have a value when it is entered, qualify.
"""

import ast
from collections.abc import Iterator, Mapping

from chartpact.script.check.scopes import bound_names, target_names
from chartpact.script.compile.kinds import INT, OHLCV, OHLCV_KINDS, SERIES, UNBOUND
from chartpact.syntax import children


def hoistable(
    node: ast.stmt, entry: Mapping[str, int], kinds: Mapping[ast.AST, int]
) -> dict[str, ast.expr]:
    """What the statement's loops read by index: `close` or `ohlcv.close` → the expression."""
    if not entry or isinstance(node, ast.If | ast.FunctionDef):
        return {}
    rebound = set(bound_names([node]))
    found: dict[str, ast.expr] = {}
    for read in _indexed_in_loops(node):
        key, name = source_of(read.value)
        if key is None or name is None or key in found or name in rebound:
            continue
        kind = entry.get(name, UNBOUND)
        if kind & UNBOUND or kinds.get(read.slice, 0) & ~INT:
            continue
        field = read.value.attr if isinstance(read.value, ast.Attribute) else None
        if kind & SERIES if field is None else kind == OHLCV and field in OHLCV_KINDS:
            found[key] = read.value
    return found


def source_of(node: ast.expr) -> tuple[str | None, str | None]:
    """The key and the name behind `close[i]` ("close") or `ohlcv.close[i]` ("ohlcv.close")."""
    if isinstance(node, ast.Name):
        return node.id, node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}", node.value.id
    return None, None


def _indexed_in_loops(node: ast.AST, inside: bool = False) -> Iterator[ast.Subscript]:
    """Every `x[i]` that a loop or a comprehension of the statement evaluates again and again."""
    if isinstance(node, ast.Lambda | ast.FunctionDef):
        return
    if inside and isinstance(node, ast.Subscript) and _is_element(node):
        yield node
    loops = isinstance(node, ast.For | ast.ListComp | ast.DictComp)
    hidden: set[str] = set()
    if isinstance(node, ast.ListComp | ast.DictComp):
        hidden = {n.id for clause in node.generators for n in target_names(clause.target)}
    for child in children(node):
        for found in _indexed_in_loops(child, inside or loops):
            if source_of(found.value)[1] not in hidden:
                yield found


def _is_element(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice)
