"""Loop-invariant series: those that a loop reads by index become lists once, before the loop.

Only names qualify that the loop does not assign, and that surely have a value when it is entered.
A computed index below 0 is na in a series and counts from the end in a list, so it is looked at,
unless the name of a loop shows that it cannot be below 0.
"""

import ast
from collections.abc import Iterator, Mapping

from chartpact.script.check.checked import Checked
from chartpact.script.check.scopes import bound_names, target_names
from chartpact.script.compile.kinds import INT, MAY_FAIL, OHLCV, OHLCV_KINDS, SERIES, UNBOUND
from chartpact.script.compile.nodes import is_plain_call
from chartpact.syntax import children, walk

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
        is_safe = field in OHLCV_KINDS and field not in MAY_FAIL
        if kind & SERIES if field is None else kind == OHLCV and is_safe:
            series[source] = read.value
    return series


def source_of(node: ast.expr) -> Source | None:
    """The name behind `close[i]` or `ohlcv.close[i]`."""
    if isinstance(node, ast.Name):
        return node.id, None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id, node.attr
    return None


def hoisted_read(
    node: ast.Subscript, hoisted: Mapping[Source | None, str], index: int
) -> str | None:
    """The name of the list that `series[i]` is read from; `index` has the kinds of `i`."""
    if index & ~INT or not (is_cheap(node.slice) or literal_index(node.slice) is not None):
        return None
    return hoisted.get(source_of(node.value))


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


def literal_index(node: ast.expr) -> int | None:
    """The index that is written as a literal, perhaps with a minus; None for a computed one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        literal = literal_index(node.operand)
        return None if literal is None else -literal
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return None


def least_values(function: ast.AST, checked: Checked) -> dict[str, int]:
    """Names that only loops over counted ranges bind, each with its least value, 0 or more."""
    least: dict[str, int] = {}
    unknown: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.For | ast.comprehension):
            counter, start = _counter(node.target, node.iter, checked)
            for name in target_names(node.target):
                if name is counter and start >= 0:
                    least[name.id] = min(start, least.get(name.id, start))
                else:
                    unknown.add(name.id)
        elif isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            unknown.update(name.id for target in targets for name in target_names(target))
        elif isinstance(node, ast.arg):
            unknown.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            unknown.add(node.name)
    return {name: start for name, start in least.items() if name not in unknown}


def _counter(target: ast.expr, source: ast.expr, checked: Checked) -> tuple[ast.expr | None, int]:
    """The name that counts the turns of a loop, and where it starts."""
    if not isinstance(source, ast.Call) or not is_plain_call(source):
        return None, -1
    if checked.is_builtin(source.func, "enumerate") and len(source.args) == 1:
        return (target.elts[0] if isinstance(target, ast.Tuple) and target.elts else None), 0
    if not checked.is_builtin(source.func, "range") or not source.args:
        return None, -1
    bounds = [literal_index(bound) for bound in source.args]
    if len(bounds) == 1:
        return target, 0
    start, stop, step = bounds[0], bounds[1], bounds[2] if len(bounds) > 2 else 1
    if step is not None and step > 0 and start is not None:
        return target, start
    if step is not None and step < 0 and stop is not None:
        return target, stop + 1
    return None, -1


def is_never_negative(index: ast.expr, least: Mapping[str, int]) -> bool:
    """Whether the index is `i`, `i + 2` or `i - 1` of a loop that starts late enough."""
    if isinstance(index, ast.Name):
        return index.id in least
    if isinstance(index, ast.BinOp) and isinstance(index.left, ast.Name):
        start, other = least.get(index.left.id, -1), literal_index(index.right)
        if start >= 0 and other is not None and isinstance(index.op, ast.Add | ast.Sub):
            return start + (other if isinstance(index.op, ast.Add) else -other) >= 0
    return False


def is_cheap(index: ast.expr) -> bool:
    """Whether the index may be evaluated twice: names and literals, added or subtracted."""
    if isinstance(index, ast.BinOp):
        sums = isinstance(index.op, ast.Add | ast.Sub)
        return sums and is_cheap(index.left) and is_cheap(index.right)
    return isinstance(index, ast.Name) or literal_index(index) is not None
