"""Warnings of what runs and yet means something else than its author may think.

`close[1]` is the second bar of the chart, and in Pine the bar before. A window over a higher
timeframe that was stretched to the chart's bars counts each higher value many times.
"""

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping

from chartpact.problem import Problem
from chartpact.script.check.checked import Checked
from chartpact.script.check.report import Report
from chartpact.script.check.scopes import bound_names
from chartpact.script.compile.hoisting import literal_index, source_of
from chartpact.script.compile.inference import Kinds
from chartpact.script.compile.kinds import OHLCV, OHLCV_KINDS, SERIES
from chartpact.syntax import children, walk

_LOOPS = ast.For | ast.ListComp | ast.DictComp


def warn_of_lookahead(
    checked: Checked, kinds: Kinds, source: str, windows: Collection[str]
) -> tuple[Problem, ...]:
    """What a checked module may mean otherwise; `windows` are host functions with a length."""
    report = Report("check", source)
    for function in checked.functions.values():
        _History(kinds.of, report).visit(function)
        _Stretched(checked, kinds.of, report, windows).visit(function)
    return tuple(sorted(report.warnings, key=lambda warning: (warning.line, warning.column)))


class _History:
    """`close - close[1]`: an element where Pine would have a series."""

    def __init__(self, kinds: Mapping[ast.AST, int], report: Report) -> None:
        self._kinds = kinds
        self._report = report
        self._parents: dict[ast.AST, ast.AST] = {}

    def visit(self, function: ast.FunctionDef) -> None:
        nodes = list(walk(function))
        self._parents = {child: node for node in nodes for child in children(node)}
        for node in nodes:
            if isinstance(node, ast.Subscript) and self._is_series(node.value):
                number = literal_index(node.slice)
                if number is not None and number > 0 and isinstance(node.ctx, ast.Load):
                    self._look_at(node, number)

    def _look_at(self, node: ast.Subscript, number: int) -> None:
        text = ast.unparse(node.value)
        if any(map(self._is_combined, self._expressions_around(node))):
            hint = f"write ta.shift({text}, {number})"
        elif self._is_read_bar_by_bar(node):
            hint = f"in a loop over i write {text}[i - {number}]"
        else:
            return
        message = f"{text}[{number}] is the value of bar {number}, counted from the first one"
        times = "the bar before" if number == 1 else f"{number} bars back"
        self._report.warn(node, "lookahead", f"{message}, and not {times}", hint)

    def _is_series(self, node: ast.AST) -> bool:
        kinds = self._kinds.get(node, 0)
        return bool(kinds) and not kinds & ~SERIES

    def _expressions_around(self, node: ast.expr) -> Iterator[tuple[ast.AST, list[ast.expr]]]:
        """The expressions that this one is a part of, each with its operands."""
        inner: ast.AST = node
        outer = self._parents.get(inner)
        while isinstance(outer, ast.BinOp | ast.Compare | ast.UnaryOp | ast.Call):
            operands = [child for child in children(outer) if isinstance(child, ast.expr)]
            if isinstance(outer, ast.Call):
                operands = [*outer.args, *(keyword.value for keyword in outer.keywords)]
            yield node, [operand for operand in operands if operand is not inner]
            inner, outer = outer, self._parents.get(outer)

    def _is_combined(self, around: tuple[ast.AST, list[ast.expr]]) -> bool:
        """Whether it meets a series, or the element 0 of the same series."""
        node, operands = around
        assert isinstance(node, ast.Subscript)
        first = ast.dump(ast.Subscript(node.value, ast.Constant(0), ast.Load()))
        return any(self._is_series(part) or ast.dump(part) == first for part in operands)

    def _is_read_bar_by_bar(self, node: ast.Subscript) -> bool:
        """Whether a loop around it reads the same series by a computed index."""
        place: ast.AST | None = node
        while place is not None:
            place = self._parents.get(place)
            if isinstance(place, _LOOPS) and any(
                isinstance(other, ast.Subscript)
                and not isinstance(other.slice, ast.Slice)
                and literal_index(other.slice) is None
                and source_of(other.value) == source_of(node.value) is not None
                for other in walk(place)
            ):
                return True
        return False


class _Stretched:
    """`ta.ema(ohlcv.security("1h").close, 20)`: a window that counts the chart's bars."""

    def __init__(
        self,
        checked: Checked,
        kinds: Mapping[ast.AST, int],
        report: Report,
        windows: Collection[str],
    ) -> None:
        self._checked = checked
        self._kinds = kinds
        self._report = report
        self._windows = windows
        self._names: set[str] = set()

    def visit(self, function: ast.FunctionDef) -> None:
        bound = Counter(bound_names(function.body))
        assigned = [node for node in walk(function) if isinstance(node, ast.Assign)]
        for node in sorted(assigned, key=lambda node: node.lineno):
            target = node.targets[0]
            once = isinstance(target, ast.Name) and bound[target.id] == 1
            if once and self._is_stretched(node.value):
                self._names.add(ast.unparse(target))
        calls = [node for node in walk(function) if isinstance(node, ast.Call)]
        for call in calls:
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            windowed = self._checked.namespaced(call.func) in self._windows
            if windowed and any(map(self._is_stretched, values)):
                self._warn(call)

    def _warn(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        message = (
            f"{name} counts the chart's bars here, on each of which a higher value is repeated"
        )
        hint = f'write ohlcv.security("1h", lambda h: {name}(h.close, …))'
        self._report.warn(node, "lookahead", message, hint)

    def _is_stretched(self, node: ast.expr) -> bool:
        """Whether the expression is a higher timeframe on the chart's bars, or made of one."""
        if isinstance(node, ast.Name):
            return node.id in self._names
        if isinstance(node, ast.Attribute):
            return bool(OHLCV_KINDS.get(node.attr, 0) & SERIES) and self._is_stretched(node.value)
        if isinstance(node, ast.BinOp):
            return self._is_stretched(node.left) or self._is_stretched(node.right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of_ohlcv = self._kinds.get(node.func.value, 0) & OHLCV
            values = len(node.args) + len(node.keywords)
            return node.func.attr == "security" and bool(of_ohlcv) and values == 1
        return False
