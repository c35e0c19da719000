"""Loop-invariant series: those that a loop reads by index become lists once, before the loop.

Only names qualify that the loop does not assign, and that surely have a value when it is entered.
"""

import ast
from collections.abc import Iterator, Mapping

from chartpact.script.check.scopes import bound_names, target_names
from chartpact.script.compile.kinds import INT, OHLCV, OHLCV_KINDS, SERIES, UNBOUND
from chartpact.syntax import children

Source = tuple[str, str | None]  # `close` is ("close", None), `ohlcv.close` is ("ohlcv", "close")


def hoistable(
    node: ast.stmt, entry: Mapping[str, int], kinds: Mapping[ast.AST, int]
) -> dict[Source, ast.expr]:
    """The series that the loops of a statement read by index, and the expression of each.

    `entry` has the kinds of the names where the statement is reached.
    """
    if not entry or isinstance(node, ast.If | ast.FunctionDef):
        return {}
    rebound = set(bound_names([node]))
    series: dict[Source, ast.expr] = {}
    for read in _reads_in_loops(node):
        source = source_of(read.value)
        if source is None or source in series or source[0] in rebound:
            continue
        name, field = source
        kind = entry.get(name, UNBOUND)
        if kind & UNBOUND or kinds.get(read.slice, 0) & ~INT:
            continue
        if kind & SERIES if field is None else kind == OHLCV and field in OHLCV_KINDS:
            series[source] = read.value
    return series


def source_of(node: ast.expr) -> Source | None:
    """The name behind `close[i]` or `ohlcv.close[i]`."""
    if isinstance(node, ast.Name):
        return node.id, None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id, node.attr
    return None


def _reads_in_loops(node: ast.AST, in_loop: bool = False) -> Iterator[ast.Subscript]:
    """Every `x[i]` that a loop or a comprehension of the statement evaluates again and again."""
    if isinstance(node, ast.Lambda | ast.FunctionDef):
        return
    if in_loop and isinstance(node, ast.Subscript) and _is_element(node):
        yield node
    hidden: set[str] = set()
    if isinstance(node, ast.ListComp | ast.DictComp):
        hidden = {name.id for clause in node.generators for name in target_names(clause.target)}
    in_loop = in_loop or isinstance(node, ast.For | ast.ListComp | ast.DictComp)
    for child in children(node):
        for read in _reads_in_loops(child, in_loop):
            source = source_of(read.value)
            if source is None or source[0] not in hidden:
                yield read


def _is_element(node: ast.Subscript) -> bool:
    return isinstance(node.ctx, ast.Load) and not isinstance(node.slice, ast.Slice)
