"""Where a script failed: the expression, and the loops and calls around it.

Compiled code keeps the author's lines and columns, so the failing instruction leads to the failing
expression of the source.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import FrameType, TracebackType
from typing import Any

from chartpact.script.check.scopes import bound_names, local_names, target_names
from chartpact.script.runtime.values import FILE, shown
from chartpact.syntax import Places

Span = tuple[int, int, int | None, int | None]  # line and column, end line and end column

_LONGEST = 80
_COMPREHENSIONS = ("<listcomp>", "<dictcomp>")  # up to Python 3.11 they are calls of their own
_SCALARS = frozenset((int, float, bool, str))


class Location:
    """The expression that failed, its text, and the values of the names there."""

    def __init__(self, trace: TracebackType | None, source: str) -> None:
        self.source = source
        self.node: ast.AST | None = None
        self.line: int | None = None
        self.column: int | None = None
        self.names: Mapping[str, Any] = {}
        self._stack: list[tuple[FrameType, int]] = []  # the script's own calls, innermost last
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == FILE:
                self._stack.append((trace.tb_frame, trace.tb_lasti))
            trace = trace.tb_next
        if self._stack:
            self._locate(*self._stack[-1])

    def _locate(self, frame: FrameType, instruction: int) -> None:
        span = _span(frame, instruction)
        if span is None:
            self.line = frame.f_lineno
            return
        self.names = {**frame.f_globals, **frame.f_locals}
        self.node = self._nodes.get(span)
        self.point_at(ast.Pass(lineno=span[0], col_offset=span[1]))

    def point_at(self, node: ast.AST | None) -> None:
        """Makes the start of a node the line and column of the error."""
        if node is not None:
            self.line, self.column = Places(self.source).of(node)

    @cached_property
    def _tree(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def _nodes(self) -> dict[Span, ast.AST]:
        """The nodes by where they begin and end; of those alike, the innermost."""
        return {
            (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset): node
            for node in ast.walk(self._tree)
            if isinstance(node, ast.stmt | ast.expr)
        }

    @cached_property
    def _parents(self) -> dict[ast.AST, ast.AST]:
        return {
            child: node for node in ast.walk(self._tree) for child in ast.iter_child_nodes(node)
        }

    def parent(self, node: ast.AST | None) -> ast.AST | None:
        return None if node is None else self._parents.get(node)

    def shadows(self, name: str) -> bool:
        """Whether the function that failed assigns a name that is also assigned around it."""
        scopes = []
        node = self.parent(self.node)
        while node is not None:
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                scopes.append(local_names(node))
            node = self.parent(node)
        scopes.append(set(bound_names(self._tree.body)))
        return name in scopes[0] and any(name in names for names in scopes[1:])

    def text(self, node: ast.AST | None) -> str:
        """The author's own words for a node, on one line."""
        if node is None:
            return ""
        words = ast.get_source_segment(self.source, node) or ""
        words = re.sub(r"\s+", " ", words)
        return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"

    def value(self, node: ast.AST) -> Any:
        """The value of a name or a constant, `...` for any other expression."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, ...)
        return node.value if isinstance(node, ast.Constant) else ...

    def surroundings(self) -> Iterator[str]:
        """The loops in progress and the calls that led here, from the inside outwards."""
        innermost: Span | None = None
        names: dict[str, Any] = {}
        entered = True
        for frame, instruction in reversed(self._stack):
            if entered:
                innermost, names = _span(frame, instruction), {}
                if frame is not self._stack[-1][0] and innermost is not None:
                    yield f"called on line {innermost[0]}"
            names = {**frame.f_locals, **names}
            entered = frame.f_code.co_name not in _COMPREHENSIONS
            if entered and innermost is not None:
                for target in self._loop_targets(self._nodes.get(innermost)):
                    yield f"in the loop on line {target.lineno}{_values(target, names)}"

    def _loop_targets(self, node: ast.AST | None) -> Iterator[ast.expr]:
        """The targets of the loops around a node, up to the function it stands in."""
        while node is not None and node in self._parents:
            parent = self._parents[node]
            if isinstance(parent, ast.FunctionDef | ast.Lambda):
                return
            repeated = parent.body if isinstance(parent, ast.For) else getattr(parent, "ifs", ())
            if node in repeated:
                yield parent.target  # type: ignore[attr-defined]
            elif isinstance(parent, ast.ListComp | ast.DictComp):
                outer = parent.generators
                if isinstance(node, ast.comprehension):
                    outer = outer[: outer.index(node)]
                yield from (clause.target for clause in reversed(outer))
            node = parent


def _span(frame: FrameType, instruction: int) -> Span | None:
    for at, (line, end_line, column, end_column) in enumerate(frame.f_code.co_positions()):
        if at == instruction // 2:
            known = line is not None and column is not None
            return (line, column, end_line, end_column) if known else None  # type: ignore[return-value]
    return None


def _values(target: ast.expr, names: Mapping[str, Any]) -> str:
    """The values of the names that a loop assigns: ", where i is 487"."""
    values = [
        f"{name.id} is {shown(names[name.id])}"
        for name in target_names(target)
        if type(names.get(name.id)) in _SCALARS
    ]
    return f", where {' and '.join(values)}" if values else ""
