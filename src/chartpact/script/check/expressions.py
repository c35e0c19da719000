"""The check of expressions: only the syntax that is listed, only names that are known."""

import ast
import math
from collections.abc import Callable, Iterable, Mapping

from chartpact.script.check.checked import BUILTIN, FUNCTION, GLOBAL, LOCAL, NAMESPACE, Checked
from chartpact.script.check.hints import hint_for_function, hint_for_member, hint_for_name
from chartpact.script.check.report import CheckReport
from chartpact.script.check.scopes import Comprehension, Function, Scope, local_names, target_names
from chartpact.script.errors import LimitReached
from chartpact.script.limits import LITERAL_DIGITS, LOCALS, LOOP_DEPTH
from chartpact.script.runtime.builtins import NAMES as BUILTINS
from chartpact.script.runtime.values import CHANGES
from chartpact.script.source.visitors import visitors

OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod,
    ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift,
)  # fmt: skip
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn)
LITERALS = ("PARAMS", "META")  # read without running the script

_REFUSED: Mapping[type, tuple[str, str]] = {
    ast.Set: ("a set", "use a dict, or a list"),
    ast.SetComp: ("a set", "use a dict, or a list"),
    ast.GeneratorExp: ("a generator", "write a list: [… for …]"),
    ast.NamedExpr: ("':='", "assign on a line of its own"),
    ast.Starred: ("'*' here", "join lists with +"),
}


class ExpressionChecker:
    """Checks expressions, and notes in `checked` what their names stand for."""

    def __init__(
        self, tree: ast.Module, report: CheckReport, namespaces: Mapping[str, set[str]]
    ) -> None:
        self.checked = Checked(tree, uses={"": set()})
        self._refuse = report.refuse
        self._namespaces = namespaces
        self._scope: Scope | None = None
        self._loops = 0
        self._function = ""  # the top-level function being checked

    def expression(self, node: ast.expr) -> None:
        visit = _VISITS.get(type(node))
        if visit is None:
            what, hint = _REFUSED.get(type(node), ("this", ""))
            self._refuse(node, "forbidden", f"{what} is not allowed", hint)
        else:
            visit(self, node)

    def _expressions(self, nodes: Iterable[ast.expr]) -> None:
        for node in nodes:
            self.expression(node)

    # -------------------------------------------------------------------------------------- names

    def visit_Name(self, node: ast.Name) -> None:
        binding = self._binding(node.id)
        if binding is None:
            hint = hint_for_name(node.id, self.checked, self._namespaces, self._visible_names())
            self._refuse(node, "name", f"there is no {node.id!r:.60}", hint)
            return
        if binding == NAMESPACE:
            self._refuse(node, "type", f"{node.id!r} is not a value", f"write {node.id}.name(…)")
        self.checked.bindings[node] = binding
        if binding == FUNCTION:
            self.checked.uses[self._function].add(node.id)

    def _binding(self, name: str) -> str | None:
        """What a name stands for here; a local of an outer function is noted as captured."""
        here = self._scope
        scope = here.find(name) if here is not None else None
        if here is not None and scope is not None:
            if scope is not here and here.owner() is not scope.owner():
                scope.captured.add(name)
            return LOCAL
        if name in self.checked.functions:
            return FUNCTION
        if name in self.checked.globals:
            return GLOBAL
        if name in BUILTINS:
            return BUILTIN
        return NAMESPACE if name in self._namespaces else None

    def _visible_names(self) -> list[str]:
        names = [*BUILTINS, *self._namespaces, *self.checked.globals]
        scope = self._scope
        while scope is not None:
            names += scope.names
            scope = scope.above
        return sorted(names)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        owner = node.value
        binding = self._binding(owner.id) if isinstance(owner, ast.Name) else LOCAL
        hint = hint_for_member(owner.id, node.attr) if isinstance(owner, ast.Name) else ""
        is_pine = binding in (None, BUILTIN) or (
            isinstance(owner, ast.Name) and owner.id == "chart"
        )
        if hint and is_pine and isinstance(owner, ast.Name):
            self._refuse(node, "name", f"there is no {owner.id}.{node.attr:.60}", hint)
            return
        if not isinstance(owner, ast.Name) or binding != NAMESPACE:
            if node.attr in CHANGES:
                self._keep_global(node)
            self.expression(owner)
            return
        if node.attr not in self._namespaces[owner.id]:
            hint = hint or hint_for_function(owner.id, node.attr, self._namespaces)
            self._refuse(node, "name", f"there is no {owner.id}.{node.attr:.60}", hint)
        self.checked.bindings[owner] = NAMESPACE

    def _keep_global(self, node: ast.Subscript | ast.Attribute) -> None:
        """Refuses to change a part of a global, by `TABLE[0] = x` or `TABLE.append(x)`."""
        root: ast.expr = node.value
        while isinstance(root, ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Name) or self._binding(root.id) != GLOBAL:
            return
        if root.id in LITERALS:
            message = f"{root.id} is a literal and cannot be changed"
            hint = "write all of it where it is assigned: it is read without running the script"
        else:
            message = f"the global {root.id!r} cannot be changed"
            hint = "make a copy in a function, list(x) or dict(x), and return it"
        self._refuse(node, "forbidden", message, hint)

    # ------------------------------------------------------------------------------------- values

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, int) and not isinstance(value, bool):
            if abs(value) >= 10**LITERAL_DIGITS:
                self._refuse(node, "size", f"an int has at most {LITERAL_DIGITS} digits")
        elif isinstance(value, float) and not math.isfinite(value):
            self._refuse(node, "value", "this number is too large for a float")
        elif value is Ellipsis:
            self._refuse(node, "forbidden", "'...' is not allowed")
        elif not isinstance(value, str | float | bool | None):
            self._refuse(node, "forbidden", f"a {type(value).__name__} is not allowed")

    def visit_List(self, node: ast.List | ast.Tuple) -> None:
        self._expressions(node.elts)

    visit_Tuple = visit_List

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self._refuse(value, "forbidden", "'**' in a dict is not allowed", "write a | b")
            else:
                self.expression(key)
            self.expression(value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                ast.copy_location(part.value, node)  # Python counts these from the wrong place
                self.expression(part.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.expression(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = (node.slice.lower, node.slice.upper, node.slice.step)
            self._expressions(bound for bound in bounds if bound is not None)
        else:
            self._index(node.slice)

    def _index(self, node: ast.expr) -> None:
        if is_bare_tuple(node):
            hint = "for an element of an element write x[i][j]; put a tuple in brackets"
            self._refuse(node, "forbidden", "an index is one value", hint)
        self.expression(node)

    # ---------------------------------------------------------------------------------- operators

    def _operator(self, node: ast.AST, operator: ast.operator) -> None:
        if not isinstance(operator, OPERATORS):
            power = isinstance(operator, ast.Pow)
            hint = "write x * x, or ta.pow(x, n)" if power else ""
            self._refuse(node, "forbidden", f"{'**' if power else '@'!r} is not allowed", hint)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self._operator(node, node.op)
        self._expressions((node.left, node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.expression(node.operand)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._expressions(node.values)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) > 1:
            joined = any(
                isinstance(operand, ast.BinOp) and isinstance(operand.op, ast.BitAnd | ast.BitOr)
                for operand in node.comparators[:-1]
            )
            message = "comparisons cannot be chained"
            hint = "write a < b and b < c, with series (a < b) & (b < c)"
            if joined:
                message = "parentheses are missing: & and | bind before comparisons"
                hint = "write (a > 1) & (b < 2)"
            self._refuse(node, "syntax", message, hint)
        for operator in node.ops:
            if not isinstance(operator, COMPARISONS):
                self._refuse(node, "forbidden", "'is' is not allowed", "write x == None")
        self._expressions((node.left, *node.comparators))

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._expressions((node.test, node.body, node.orelse))

    # ------------------------------------------------------------------------------------ functions

    def visit_Call(self, node: ast.Call) -> None:
        self.expression(node.func)
        if isinstance(node.func, ast.Name):
            self.checked.called.add(node.func)
        if len(node.keywords) > LOCALS:
            self._refuse(node, "size", f"a call takes at most {LOCALS} named values")
            raise LimitReached
        starred = [value for value in node.args if isinstance(value, ast.Starred)]
        if len(starred) > 1 or (starred and node.args[-1] is not starred[0]):
            self._refuse(starred[0], "syntax", "*values come once, after the other values")
        names: set[str] = set()
        for at, keyword in enumerate(node.keywords):
            if keyword.arg is None and at < len(node.keywords) - 1:
                self._refuse(keyword, "syntax", "**values come once, at the end")
            if keyword.arg is not None and keyword.arg in names:
                self._refuse(keyword, "syntax", f"{keyword.arg!r} is given twice")
            names.add(keyword.arg or "")
            if starred and keyword.arg is not None and _start(keyword) > _start(starred[0]):
                hint = "as in f(a, key=b, *values)"
                self._refuse(keyword, "syntax", "named values come before *values", hint)
        for value in node.args:
            self.expression(value.value if isinstance(value, ast.Starred) else value)
        self._expressions(keyword.value for keyword in node.keywords)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._arguments(node.args)
        self._within(node, lambda: self.expression(node.body))

    def _arguments(self, args: ast.arguments) -> None:
        if args.posonlyargs or args.kwonlyargs:
            odd = [*args.posonlyargs, *args.kwonlyargs][0]
            message = "'/' and '*' between parameters are not allowed"
            self._refuse(odd, "forbidden", message, "give the parameter a default instead")
        names: set[str] = set()
        for arg in [*args.args, *(extra for extra in (args.vararg, args.kwarg) if extra)]:
            if arg.annotation is not None:
                self._refuse(arg, "forbidden", "types are not written in scripts")
            if arg.arg in names:
                self._refuse(arg, "syntax", f"{arg.arg!r} is a parameter twice")
            names.add(arg.arg)
        self._expressions(args.defaults)

    def _within(self, function: Function, visit: Callable[[], None]) -> None:
        """Checks the body of a function in a scope of its own."""
        outer, loops = self._scope, self._loops
        self._scope, self._loops = Scope(local_names(function), outer, function), 0
        if len(self._scope.names) > LOCALS:
            hint = "split it into smaller functions, or keep values in a list"
            self._refuse(function, "size", f"a function has at most {LOCALS} names", hint)
            raise LimitReached
        self.checked.scopes[function] = self._scope
        visit()
        self._scope, self._loops = outer, loops

    # -------------------------------------------------------------------------------------- loops

    def visit_ListComp(self, node: Comprehension) -> None:
        outer = self._scope
        names: set[str] = set()
        for at, clause in enumerate(node.generators):
            if clause.is_async:
                self._refuse(node, "forbidden", "'async' is not allowed")
            self.expression(clause.iter)  # the first one in the scope around the comprehension
            if at == 0:
                self._enter_loops(node, len(node.generators))
                self._scope = self.checked.scopes[node] = Scope(names, outer)
                for inner in node.generators:
                    self._loop_target(inner.target)
                    names.update(name.id for name in target_names(inner.target))
            self._expressions(clause.ifs)
        parts = (node.elt,) if isinstance(node, ast.ListComp) else (node.key, node.value)
        self._expressions(parts)
        self._loops -= len(node.generators)
        self._scope = outer

    visit_DictComp = visit_ListComp

    def _enter_loops(self, node: ast.For | Comprehension, count: int) -> None:
        self._loops += count
        if self._loops > LOOP_DEPTH:
            message = f"loops are nested more than {LOOP_DEPTH} deep"
            self._refuse(node, "forbidden", message, "put the inner ones into a function")

    def _loop_target(self, target: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if not target.elts:
                self._refuse(target, "syntax", "a loop needs a name")
            for part in target.elts:
                self._loop_target(part)
        elif not isinstance(target, ast.Name):
            self._refuse(target, "forbidden", "a loop assigns to names only")


def is_bare_tuple(node: ast.expr) -> bool:
    """Whether the node is a tuple that is written without brackets."""
    return isinstance(node, ast.Tuple) and bool(node.elts) and _start(node) == _start(node.elts[0])


def _start(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


_VISITS = visitors(ExpressionChecker)
