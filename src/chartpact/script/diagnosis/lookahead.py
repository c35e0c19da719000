"""Warnings of what runs and yet means something else than its author may think.

`close[1]` is the second bar of the chart, and in Pine the bar before. A window over a higher
timeframe that was stretched to the chart's bars counts each higher value many times.
"""

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from types import UnionType

from chartpact.problem import Problem
from chartpact.script.check.checked import Checked
from chartpact.script.check.report import CheckReport
from chartpact.script.check.scopes import bound_names
from chartpact.script.compile.hoisting import literal_index, source_of
from chartpact.script.compile.inference import Kinds
from chartpact.script.compile.kinds import LIST, OHLCV, OHLCV_KINDS, SERIES
from chartpact.syntax import children, walk

_LONGEST_HINT = 120  # letters of the call that it shows
_LOOPS = ast.For | ast.ListComp | ast.DictComp


def warn_of_lookahead(
    checked: Checked, kinds: Kinds, source: str, windows: Collection[str]
) -> tuple[Problem, ...]:
    """What a checked module may mean otherwise; `windows` are host functions with a length."""
    report = CheckReport("check", source)
    for function in checked.functions.values():
        _History(checked, kinds.of, report).visit(function)
        _Stretched(checked, kinds.of, report, windows).visit(function)
    return tuple(sorted(report.warnings, key=lambda warning: (warning.line, warning.column)))


class _History:
    """`close - close[1]`: an element where Pine would have a series."""

    def __init__(self, checked: Checked, kinds: Mapping[ast.AST, int], report: CheckReport) -> None:
        self._checked = checked
        self._kinds = kinds
        self._report = report
        self._parents: dict[ast.AST, ast.AST] = {}
        self._reads: dict[str, list[ast.Name]] = {}  # of names that are bound once
        self._targets: dict[ast.AST, list[str]] = {}  # the names that are given to a value
        self._stepped: set[str] = set()  # names that loops bind

    def visit(self, function: ast.FunctionDef) -> None:
        nodes = list(walk(function))
        self._parents = {child: node for node in nodes for child in children(node)}
        once = {name for name, count in Counter(bound_names(function.body)).items() if count == 1}
        self._reads = {name: [] for name in once}
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in once:
                self._reads[node.id].append(node)
            elif isinstance(node, ast.Assign):
                for target, value in _pairs(node.targets[0], node.value):
                    if isinstance(target, ast.Name):
                        self._targets.setdefault(value, []).append(target.id)
            elif isinstance(node, ast.For):
                self._stepped.update(bound_names(node.body))
        for node in nodes:
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                number = self._element(node)
                if number is not None and number > 0:
                    self._look_at(node, number)

    def _look_at(self, node: ast.Subscript, number: int) -> None:
        text = ast.unparse(node.value)
        parts = list(self._combined_with(node))
        if any(map(self._is_series, parts)) or self._meets_series_by_name(node):
            hint = f"write ta.shift({text}, {number})"
        elif self._is_read_bar_by_bar(node) or any(map(self._is_computed_element, parts)):
            hint = f"in a loop over i write {text}[i - {number}]"
        elif any(self._element(part) is not None for part in parts):
            if _is_time(node) or self._is_seed(node):
                return
            hint = f"write ta.shift({text}, {number})"
        else:
            return
        message = f"{text}[{number}] is the value of bar {number}, counted from the first one"
        times = "the bar before" if number == 1 else f"{number} bars back"
        self._report.warn(node, "lookahead", f"{message}, and not {times}", hint)

    def _is_series(self, node: ast.AST) -> bool:
        kinds = self._kinds.get(node, 0)
        return bool(kinds) and not kinds & ~SERIES

    def _element(self, node: ast.AST) -> int | None:
        """The bar of `close[1]`, a literal from 0 on; None for any other expression."""
        if not isinstance(node, ast.Subscript) or not self._is_series(node.value):
            return None
        number = literal_index(node.slice)
        return number if number is not None and number >= 0 else None

    def _is_computed_element(self, node: ast.AST) -> bool:
        return (
            isinstance(node, ast.Subscript)
            and self._is_series(node.value)
            and not isinstance(node.slice, ast.Slice)
            and literal_index(node.slice) is None
        )

    def _combined_with(self, node: ast.expr) -> Iterator[ast.expr]:
        """The operands that it meets in the expressions it is a part of.

        Arguments that are drawn meet one another only where they are series.
        """
        inner: ast.AST = node
        outer = self._parents.get(inner)
        while isinstance(outer, ast.BinOp | ast.Compare | ast.UnaryOp | ast.Call | ast.IfExp):
            operands = [child for child in children(outer) if isinstance(child, ast.expr)]
            if isinstance(outer, ast.IfExp):
                if inner is outer.test:
                    return
                operands = []
            elif isinstance(outer, ast.Call):
                operands = [*outer.args, *(keyword.value for keyword in outer.keywords)]
                if not self._calculates(outer.func):
                    operands = [operand for operand in operands if self._is_series(operand)]
            yield from (operand for operand in operands if operand is not inner)
            inner, outer = outer, self._parents.get(outer)

    def _calculates(self, function: ast.expr) -> bool:
        name = self._checked.namespaced(function) or ""
        return name.startswith(("ta.", "math.")) or self._checked.is_builtin(function)

    def _meets_series_by_name(self, node: ast.expr) -> bool:
        """Whether a name that stands for it, `before = close[1]`, meets a series."""
        through = ast.BinOp | ast.UnaryOp | ast.Call | ast.Subscript | ast.IfExp
        reads = [
            read for name in self._names_of(node, through) for read in self._reads.get(name, ())
        ]
        return any(self._is_series(part) for read in reads for part in self._combined_with(read))

    def _is_seed(self, node: ast.expr) -> bool:
        """Whether it is what a loop begins with: a name gets its value, which the loop renews."""
        names = self._names_of(node, ast.expr)
        in_loop = any(isinstance(place, ast.For) for place in self._around(node))
        return not in_loop and not self._stepped.isdisjoint(names)

    def _names_of(self, node: ast.expr, through: type | UnionType) -> list[str]:
        """The names given to the value that it is a part of, in expressions of these types."""
        for place in (node, *self._around(node)):
            if place in self._targets:
                return self._targets[place]
            if not isinstance(place, through):
                break
        return []

    def _is_read_bar_by_bar(self, node: ast.Subscript) -> bool:
        """Whether a loop around it reads the same series by a computed index."""
        return any(
            isinstance(other, ast.Subscript)
            and not isinstance(other.slice, ast.Slice)
            and literal_index(other.slice) is None
            and source_of(other.value) == source_of(node.value) is not None
            for place in self._around(node)
            if isinstance(place, _LOOPS)
            for other in walk(place)
        )

    def _around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What it stands in, from the inside out."""
        while (outer := self._parents.get(node)) is not None:
            yield outer
            node = outer


def _is_time(node: ast.Subscript) -> bool:
    """Whether it is `ohlcv.time[1]`: less that of bar 0, it is how long a bar takes."""
    return isinstance(node.value, ast.Attribute) and node.value.attr in ("time", "close_time")


class _Stretched:
    """`ta.ema(ohlcv.security("1h").close, 20)`: a window that counts the chart's bars."""

    def __init__(
        self,
        checked: Checked,
        kinds: Mapping[ast.AST, int],
        report: CheckReport,
        windows: Collection[str],
    ) -> None:
        self._checked = checked
        self._kinds = kinds
        self._report = report
        self._windows = windows
        self._names: dict[str, ast.expr | None] = {}  # with what each stands for, if it is told

    def visit(self, function: ast.FunctionDef) -> None:
        bound = Counter(bound_names(function.body))
        assigned = [node for node in walk(function) if isinstance(node, ast.Assign)]
        for node in sorted(assigned, key=lambda node: node.lineno):
            for target, value in _pairs(node.targets[0], node.value):
                once = isinstance(target, ast.Name) and bound[target.id] == 1
                if once and self._is_stretched(value):
                    whole = target is node.targets[0] or value is not node.value
                    self._names[ast.unparse(target)] = value if whole else None
        calls = [node for node in walk(function) if isinstance(node, ast.Call)]
        for call in calls:
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            windowed = self._checked.namespaced(call.func) in self._windows
            if windowed and self._are_stretched(values):
                self._warn(call)

    def _warn(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        message = (
            f"{name} counts the chart's bars here, on each of which a higher value is repeated"
        )
        above = _Above(self._names)
        inner = ast.unparse(above.visit(deepcopy(node)))
        timeframe = min(above.timeframes, default='"1h"')
        if len(above.timeframes) != 1 or len(inner) > _LONGEST_HINT:
            inner = f"{name}(…)"
        hint = f"write ohlcv.security({timeframe}, lambda h: {inner})"
        self._report.warn(node, "lookahead", message, hint)

    def _is_stretched(self, node: ast.expr) -> bool:
        """Whether the expression is a higher timeframe on the chart's bars, or made of one."""
        if isinstance(node, ast.Name):
            return node.id in self._names
        if isinstance(node, ast.Attribute):
            return bool(OHLCV_KINDS.get(node.attr, 0) & SERIES) and self._is_stretched(node.value)
        if isinstance(node, ast.BinOp):
            return self._are_stretched([node.left, node.right])
        if isinstance(node, ast.UnaryOp):
            return self._is_stretched(node.operand)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if (self._checked.namespaced(node.func) or "").startswith("ta."):
                return self._are_stretched(node.args)
            of_ohlcv = self._kinds.get(node.func.value, 0) & OHLCV
            return node.func.attr == "security" and bool(of_ohlcv)
        return False

    def _are_stretched(self, operands: Sequence[ast.expr]) -> bool:
        """Whether there are series among the operands, and all of them are stretched.

        The spread of a close and the day's has a value of its own on each of the chart's bars.
        """
        series = [node for node in operands if self._kinds.get(node, 0) & (SERIES | OHLCV | LIST)]
        return bool(series) and all(map(self._is_stretched, series))


class _Above(ast.NodeTransformer):
    """Writes an expression of stretched series as one of `h`, the bars of the higher timeframe."""

    def __init__(self, names: Mapping[str, ast.expr | None]) -> None:
        self._names = names
        self._inner: set[str] = set()  # what the bars are called in a lambda
        self._left = 20  # names that are still looked up: they may stand for ever more
        self.timeframes: set[str] = set()

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._inner:
            return ast.Name("h", ast.Load())
        value = self._names.get(node.id)
        if value is None or not self._left:
            return node
        self._left -= 1
        replaced: ast.expr = self.visit(deepcopy(value))
        return replaced

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not (
            isinstance(node.func, ast.Attribute) and node.func.attr == "security" and node.args
        ):
            return self.generic_visit(node)
        self.timeframes.add(ast.unparse(node.args[0]).replace("'", '"'))
        if len(node.args) == 1 or not isinstance(node.args[1], ast.Lambda):
            return ast.Name("h", ast.Load())
        function = node.args[1]
        self._inner |= {argument.arg for argument in function.args.args}
        replaced: ast.AST = self.visit(function.body)
        return replaced


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each target of an assignment with its value; of an unpacked call, with the call."""
    if isinstance(target, ast.Tuple):
        values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
        yield from zip(target.elts, values, strict=False)
    else:
        yield target, value
