"""The static check: only the syntax of the language, only names that are known, no recursion.

Everything is refused that is not listed here or in `expressions`; each refusal says what to write
instead. The check also resolves every name, which is what the compiler works from.
"""

import ast
from collections.abc import Iterable, Mapping
from contextlib import suppress

from chartpact.problem import Problem
from chartpact.script.check.call_graph import order_functions
from chartpact.script.check.checked import Checked
from chartpact.script.check.expressions import ExpressionChecker, is_bare_tuple
from chartpact.script.check.report import CheckReport
from chartpact.script.check.scopes import bindings, bound_name, parameters
from chartpact.script.errors import LimitReached, ScriptError
from chartpact.script.source.visitors import visitors
from chartpact.syntax import walk

# Namespaces that came when scripts were stored already: a script may define these names itself.
_REPLACEABLE = frozenset(("math", "color"))
_WORDS: Mapping[type, str] = {ast.Delete: "'del'", ast.Match: "'match'"}


def check_module(
    tree: ast.Module, source: str, namespaces: Mapping[str, Iterable[str]]
) -> tuple[Checked, list[ScriptError]]:
    """The module with its names resolved, and what is wrong with it, by place."""
    report = CheckReport("check", source)
    known = {name: set(functions) for name, functions in namespaces.items()}
    checker = _ModuleChecker(tree, report, known)
    with suppress(LimitReached):
        checker.module()
        checked = checker.checked
        checked.functions = order_functions(checked.functions, checked.uses, report)
    report.problems.sort(key=_by_place)
    checker.checked.warnings = tuple(sorted(report.warnings, key=_by_place))
    return checker.checked, report.problems


def _by_place(problem: ScriptError | Problem) -> tuple[int, int]:
    return problem.line or 0, problem.column or 0


class _ModuleChecker(ExpressionChecker):
    _assigned: dict[ast.FunctionDef, set[str]]  # names that a function assigns other than by +=

    def module(self) -> None:
        self._assigned = {}
        body = self.checked.tree.body
        for node in bindings(body):
            self._bind_global(node)
        for statement in body:
            if isinstance(statement, ast.If | ast.For):
                word = "if" if isinstance(statement, ast.If) else "for"
                hint = "put it into compute, or into a function that compute calls"
                self._refuse(statement, "forbidden", f"{word!r} stands outside a function", hint)
            elif isinstance(statement, ast.AugAssign):
                self._refuse(statement, "forbidden", "a global is assigned once")
            else:
                self._statement(statement)

    def _bind_global(self, node: ast.Name | ast.FunctionDef) -> None:
        name = bound_name(node)
        if name in self.checked.globals:
            hint = "a global is assigned once"
            self._refuse(node, "forbidden", f"{name!r} is assigned twice", hint)
        if name in self._namespaces.keys() - _REPLACEABLE:
            self._refuse(node, "forbidden", f"{name!r} is the host's", "choose another name")
        self.checked.globals.add(name)
        if isinstance(node, ast.FunctionDef):
            self.checked.functions.setdefault(name, node)

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        visit = _VISITS.get(type(node))
        if isinstance(node, ast.AnnAssign):
            self._refuse(node, "forbidden", "types are not written in scripts", "write x = …")
        elif visit is None:
            self._refuse(node, "forbidden", f"{_WORDS.get(type(node), 'this')} is not allowed")
        else:
            visit(self, node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            self._refuse(node.decorator_list[0], "forbidden", "decorators are not allowed")
        if node.returns is not None:
            self._refuse(node.returns, "forbidden", "types are not written in scripts")
        self._arguments(node.args)
        outer = self._function
        if self._scope is None:
            self._function = node.name
            self.checked.uses.setdefault(node.name, set())
        self._within(node, lambda: self._block(node.body))
        self._function = outer

    def visit_Return(self, node: ast.Return) -> None:
        if self._scope is None:
            self._refuse(node, "syntax", "'return' stands outside a function")
        if node.value is not None:
            self.expression(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            self._refuse(node, "forbidden", "'a = b = …' is not allowed", "assign one by one")
        self.expression(node.value)
        for target in node.targets:
            self._target(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._operator(node, node.op)
        self.expression(node.value)
        if isinstance(node.target, ast.Name):
            name = node.target.id
            if self._only_augmented(name) and name in self.checked.globals:
                message = f"the global {name!r} cannot be changed in a function"
                self._refuse(node, "forbidden", message, "return the new value instead")
        elif isinstance(node.target, ast.Tuple | ast.List):
            self._refuse(node, "syntax", "several names cannot be augmented at once")
        else:
            self._target(node.target)

    def _only_augmented(self, name: str) -> bool:
        """Whether this function assigns the name by `+=` and the like alone."""
        function = None if self._scope is None else self._scope.function
        if not isinstance(function, ast.FunctionDef):
            return False
        if function not in self._assigned:
            self._assigned[function] = _assigned_names(function)
        return name not in self._assigned[function]

    def _target(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            return
        if isinstance(target, ast.Tuple | ast.List):
            if not target.elts:
                self._refuse(target, "syntax", "nothing is assigned here")
            for part in target.elts:
                self._target(part)
        elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            self._keep_global(target)
            self.expression(target.value)
            self._index(target.slice)
        elif isinstance(target, ast.Attribute):
            hint = "a drawn object is changed with its set_… methods"
            self._refuse(target, "forbidden", "attributes cannot be assigned", hint)
        else:
            hint = "assign to a name, or to one element: values[i] = x"
            self._refuse(target, "forbidden", "this cannot be assigned to", hint)

    def visit_For(self, node: ast.For) -> None:
        self._loop_target(node.target)
        if is_bare_tuple(node.iter):
            message = "the values of a loop need brackets"
            self._refuse(node.iter, "syntax", message, "for i in (1, 2):")
        self.expression(node.iter)
        self._enter_loops(node, 1)
        self._block(node.body)
        self._loops -= 1
        if node.orelse:
            self._refuse(node.orelse[0], "forbidden", "a loop has no 'else'")

    def visit_Break(self, node: ast.Break | ast.Continue) -> None:
        if not self._loops:
            word = "break" if isinstance(node, ast.Break) else "continue"
            self._refuse(node, "syntax", f"{word!r} stands outside a loop")

    visit_Continue = visit_Break

    def visit_If(self, node: ast.If) -> None:
        self.expression(node.test)
        self._block(node.body)
        self._block(node.orelse)

    def visit_Expr(self, node: ast.Expr) -> None:
        """An expression on a line of its own."""
        if is_bare_tuple(node.value):
            self._refuse(node, "syntax", "several values stand here and nothing is done with them")
        self.expression(node.value)

    def visit_Pass(self, node: ast.Pass) -> None:
        pass


def _assigned_names(function: ast.FunctionDef) -> set[str]:
    augmented = {node.target for node in walk(function) if isinstance(node, ast.AugAssign)}
    names = {arg.arg for arg in parameters(function)}
    names.update(bound_name(node) for node in bindings(function.body) if node not in augmented)
    return names


_VISITS = visitors(_ModuleChecker)
