"""The static check: only the syntax of the language, only names that are known, no recursion.

Everything is refused that is not listed here; each refusal says what to write instead. The check
also finds out what every name stands for, which is what the compiler works from.
"""

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from chartpact.script.check.scopes import (
    Comprehension,
    Function,
    Scope,
    bound_names,
    names_of,
    parameters,
    target_names,
)
from chartpact.script.errors import ScriptError, nearest
from chartpact.script.limits import CALL_DEPTH, LITERAL_DIGITS, LOCALS, LOOP_DEPTH
from chartpact.script.runtime.builtins import NAMES as BUILTINS
from chartpact.script.runtime.values import CHANGES
from chartpact.syntax import Places, walk

MOST_PROBLEMS = 20
PRICES = frozenset(
    "bar_index open high low close volume time hl2 hlc3 ohlc4 hlcc4 tick_size".split()
)

OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod,
    ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift,
)  # fmt: skip
COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn)

LITERALS = ("PARAMS", "META")  # read without running the script

# Binding of a name where it is read.
LOCAL, GLOBAL, FUNCTION, BUILTIN, NAMESPACE = "local global function builtin namespace".split()


@dataclass
class Checked:
    """A module that passed the check, and what its names stand for."""

    tree: ast.Module
    functions: dict[str, ast.FunctionDef]  # top level, each before the functions that use it
    globals: set[str]
    bindings: dict[ast.Name, str] = field(default_factory=dict)
    scopes: dict[ast.AST, Scope] = field(default_factory=dict)
    called: set[ast.Name] = field(default_factory=set)  # names as they stand in calls
    uses: dict[str, set[str]] = field(default_factory=dict)  # "" is the module itself

    def reachable(self) -> set[str]:
        """The functions that a run can come to, from the module's own lines and compute."""
        found: set[str] = set()
        pending = ["", "compute"]
        while pending:
            name = pending.pop()
            pending += self.uses.get(name, set()) - found
            found |= self.uses.get(name, set()) | {name}
        return found


def check(
    tree: ast.Module, source: str, namespaces: Mapping[str, Iterable[str]]
) -> tuple[Checked, list[ScriptError]]:
    """What is wrong with the module, by place; nothing if it may be compiled."""
    checker = _Checker(tree, source, {name: set(held) for name, held in namespaces.items()})
    with suppress(_Enough):
        checker.module()
    problems = sorted(checker.problems, key=lambda each: (each.line or 0, each.column or 0))
    return checker.checked, problems[:MOST_PROBLEMS]


class _Enough(Exception):
    """More problems than anyone reads."""


class _Checker:
    def __init__(self, tree: ast.Module, source: str, namespaces: dict[str, set[str]]) -> None:
        self.checked = Checked(tree, {}, set())
        self.problems: list[ScriptError] = []
        self._places = Places(source)
        self._namespaces = namespaces
        self._scope: Scope | None = None
        self._loops = 0
        self._uses = self.checked.uses
        self._uses[""] = set()
        self._assigned: dict[ast.FunctionDef, set[str]] = {}
        self._inside = ""

    def _refuse(self, node: ast.AST, kind: str, message: str, hint: str = "") -> None:
        line, column = self._places.of(node)
        self.problems.append(ScriptError("check", kind, message, hint, line=line, column=column))
        if len(self.problems) >= MOST_PROBLEMS:
            raise _Enough

    # -------------------------------------------------------------------------------- statements

    def module(self) -> None:
        body = self.checked.tree.body
        for name in bound_names(body):
            self._bind_global(name)
        for statement in body:
            if isinstance(statement, ast.If | ast.For):
                word = "if" if isinstance(statement, ast.If) else "for"
                self._refuse(
                    statement, "forbidden", f"{word!r} stands outside a function",
                    "put it into compute, or into a function that compute calls",
                )  # fmt: skip
            elif isinstance(statement, ast.AugAssign):
                self._refuse(statement, "forbidden", "a global is assigned once")
            else:
                self._statement(statement)
        self._order_functions()

    def _bind_global(self, name: ast.Name | ast.FunctionDef) -> None:
        text = name.id if isinstance(name, ast.Name) else name.name
        if text in self.checked.globals:
            self._refuse(
                name, "forbidden", f"{text!r} is assigned twice", "a global is assigned once"
            )
        if text in self._namespaces:
            self._refuse(name, "forbidden", f"{text!r} is the host's", "choose another name")
        self.checked.globals.add(text)
        if isinstance(name, ast.FunctionDef):
            self.checked.functions.setdefault(text, name)

    def _statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        visit = _STATEMENTS.get(type(node))
        if isinstance(node, ast.AnnAssign):
            self._refuse(node, "forbidden", "types are not written in scripts", "write x = …")
        elif visit is None:
            self._refuse(node, "forbidden", f"{_WORDS.get(type(node), 'this')} is not allowed")
        else:
            visit(self, node)

    def _function(self, node: ast.FunctionDef) -> None:
        if node.decorator_list:
            self._refuse(node.decorator_list[0], "forbidden", "decorators are not allowed")
        if node.returns is not None:
            self._refuse(node.returns, "forbidden", "types are not written in scripts")
        self._arguments(node.args)
        top = self._scope is None
        if top:
            self._inside = node.name
            self._uses.setdefault(node.name, set())
        loops, self._loops = self._loops, 0
        self._within(node, lambda: self._statements(node.body))
        self._loops = loops
        if top:
            self._inside = ""

    def _arguments(self, args: ast.arguments) -> None:
        if args.posonlyargs or args.kwonlyargs:
            odd = [*args.posonlyargs, *args.kwonlyargs][0]
            self._refuse(
                odd, "forbidden", "'/' and '*' between parameters are not allowed",
                "give the parameter a default instead",
            )  # fmt: skip
        seen: set[str] = set()
        for each in [*args.args, *(e for e in (args.vararg, args.kwarg) if e is not None)]:
            if each.annotation is not None:
                self._refuse(each, "forbidden", "types are not written in scripts")
            if each.arg in seen:
                self._refuse(each, "syntax", f"{each.arg!r} is a parameter twice")
            seen.add(each.arg)
        for default in args.defaults:
            self._expression(default)

    def _within(self, function: Function, visit: Callable[[], None]) -> None:
        outer = self._scope
        self._scope = Scope(names_of(function), outer, function)
        if len(self._scope.names) > LOCALS:
            self._refuse(
                function, "size", f"a function has at most {LOCALS} names",
                "split it into smaller functions, or keep values in a list",
            )  # fmt: skip
            raise _Enough
        self.checked.scopes[function] = self._scope
        visit()
        self._scope = outer

    def _return(self, node: ast.Return) -> None:
        if self._scope is None:
            self._refuse(node, "syntax", "'return' stands outside a function")
        if node.value is not None:
            self._expression(node.value)

    def _assign(self, node: ast.Assign) -> None:
        if len(node.targets) > 1:
            self._refuse(node, "forbidden", "'a = b = …' is not allowed", "assign one by one")
        self._expression(node.value)
        for target in node.targets:
            self._target(target)

    def _augmented(self, node: ast.AugAssign) -> None:
        self._operator(node, node.op)
        self._expression(node.value)
        if isinstance(node.target, ast.Name):
            name = node.target.id
            if self._only_augmented(name) and name in self.checked.globals:
                self._refuse(
                    node, "forbidden", f"the global {name!r} cannot be changed in a function",
                    "return the new value instead",
                )  # fmt: skip
        elif isinstance(node.target, ast.Tuple | ast.List):
            self._refuse(node, "syntax", "several names cannot be augmented at once")
        else:
            self._target(node.target)

    def _only_augmented(self, name: str) -> bool:
        """Is the name nowhere assigned in this function but by `+=` and the like?"""
        scope = self._scope
        if scope is None or not isinstance(scope.function, ast.FunctionDef):
            return False
        if scope.function not in self._assigned:
            self._assigned[scope.function] = _assigned_names(scope.function)
        return name not in self._assigned[scope.function]

    def _target(self, target: ast.expr) -> None:
        if isinstance(target, ast.Name):
            return
        if isinstance(target, ast.Tuple | ast.List):
            if not target.elts:
                self._refuse(target, "syntax", "nothing is assigned here")
            for each in target.elts:
                self._target(each)
        elif isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice):
            self._keep_global(target)
            self._expression(target.value)
            self._index(target.slice)
        elif isinstance(target, ast.Attribute):
            self._refuse(
                target, "forbidden", "attributes cannot be assigned",
                "a drawn object is changed with its set_… methods",
            )  # fmt: skip
        else:
            self._refuse(
                target, "forbidden", "this cannot be assigned to",
                "assign to a name, or to one element: values[i] = x",
            )  # fmt: skip

    def _keep_global(self, node: ast.Subscript | ast.Attribute) -> None:
        """Refuses to change a part of a global, such as `TABLE[0]` or what `PARAMS.append` does."""
        root: ast.expr = node.value
        while isinstance(root, ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Name) or self._binding(root.id) != GLOBAL:
            return
        if root.id in LITERALS:
            hint = "write all of it where it is assigned: it is read without running the script"
            self._refuse(node, "forbidden", f"{root.id} is a literal and cannot be changed", hint)
        else:
            self._refuse(
                node, "forbidden", f"the global {root.id!r} cannot be changed",
                "make a copy in a function, list(x) or dict(x), and return it",
            )  # fmt: skip

    def _for(self, node: ast.For) -> None:
        self._loop_target(node.target)
        if isinstance(node.iter, ast.Tuple) and _bare(node.iter):
            self._refuse(
                node.iter, "syntax", "the values of a loop need brackets", "for i in (1, 2):"
            )
        self._expression(node.iter)
        self._enter_loops(node, 1)
        self._statements(node.body)
        self._loops -= 1
        if node.orelse:
            self._refuse(node.orelse[0], "forbidden", "a loop has no 'else'")

    def _enter_loops(self, node: ast.For | Comprehension, count: int) -> None:
        self._loops += count
        if self._loops > LOOP_DEPTH:
            self._refuse(
                node,
                "forbidden",
                f"loops are nested more than {LOOP_DEPTH} deep",
                "put the inner ones into a function",
            )

    def _loop_target(self, target: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if not target.elts:
                self._refuse(target, "syntax", "a loop needs a name")
            for each in target.elts:
                self._loop_target(each)
        elif not isinstance(target, ast.Name):
            self._refuse(target, "forbidden", "a loop assigns to names only")

    def _jump(self, node: ast.Break | ast.Continue) -> None:
        if not self._loops:
            word = "break" if isinstance(node, ast.Break) else "continue"
            self._refuse(node, "syntax", f"{word!r} stands outside a loop")

    def _if(self, node: ast.If) -> None:
        self._expression(node.test)
        self._statements(node.body)
        self._statements(node.orelse)

    def _expression_statement(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Tuple) and _bare(node.value):
            self._refuse(node, "syntax", "several values stand here and nothing is done with them")
        self._expression(node.value)

    def _pass(self, node: ast.Pass) -> None:
        pass

    # ------------------------------------------------------------------------------- expressions

    def _expression(self, node: ast.expr) -> None:
        visit = _EXPRESSIONS.get(type(node))
        if visit is None:
            what, hint = _REFUSED.get(type(node), ("this", ""))
            self._refuse(node, "forbidden", f"{what} is not allowed", hint)
        else:
            visit(self, node)

    def _each(self, nodes: Iterable[ast.expr]) -> None:
        for node in nodes:
            self._expression(node)

    def _constant(self, node: ast.Constant) -> None:
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

    def _name(self, node: ast.Name) -> None:
        binding = self._binding(node.id)
        if binding is None:
            self._unknown(node)
            return
        if binding == NAMESPACE:
            self._refuse(node, "type", f"{node.id!r} is not a value", f"write {node.id}.name(…)")
        self.checked.bindings[node] = binding
        if binding == FUNCTION:
            self._uses[self._inside].add(node.id)

    def _binding(self, name: str) -> str | None:
        found = self._scope.find(name) if self._scope is not None else None
        if found is not None:
            if found is not self._scope and self._function_scope() is not _owner(found):
                found.captured.add(name)
            return LOCAL
        if name in self.checked.functions:
            return FUNCTION
        if name in self.checked.globals:
            return GLOBAL
        if name in BUILTINS:
            return BUILTIN
        return NAMESPACE if name in self._namespaces else None

    def _function_scope(self) -> Scope | None:
        return None if self._scope is None else _owner(self._scope)

    def _unknown(self, node: ast.Name) -> None:
        known = [*BUILTINS, *self._namespaces, *self.checked.globals]
        scope = self._scope
        while scope is not None:
            known += scope.names
            scope = scope.above
        owners = [name for name, held in self._namespaces.items() if node.id in held]
        elsewhere = [
            function.name
            for function in self.checked.functions.values()
            if node.id in names_of(function)
        ]
        if elsewhere:
            hint = f"it is {elsewhere[0]}'s own: use it there, or hand it on as a parameter"
        elif node.id in _parameters(self.checked.tree):
            hint = f'write params["{node.id}"]'
        elif node.id in _NOT_HERE:
            hint = _NOT_HERE[node.id]
        elif node.id in PRICES:
            hint = f"did you mean ohlcv.{node.id}?"
        elif owners:
            hint = f"did you mean {owners[0]}.{node.id}?"
        else:
            near = nearest(node.id, known)
            hint = f"did you mean {near!r}?" if near else ""
        self._refuse(node, "name", f"there is no {node.id!r:.60}", hint)

    def _attribute(self, node: ast.Attribute) -> None:
        space = self._namespace(node.value)
        if space is None:
            if node.attr in CHANGES:
                self._keep_global(node)
            self._expression(node.value)
            return
        if node.attr not in self._namespaces[space]:
            near = nearest(node.attr, self._namespaces[space], 0.5)
            hint = f"did you mean {space}.{near}?" if near else ""
            self._refuse(node, "name", f"there is no {space}.{node.attr:.60}", hint)
        self.checked.bindings[node.value] = NAMESPACE  # type: ignore[index]

    def _namespace(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Name) and self._binding(node.id) == NAMESPACE:
            return node.id
        return None

    def _call(self, node: ast.Call) -> None:
        self._expression(node.func)
        if isinstance(node.func, ast.Name):
            self.checked.called.add(node.func)
        if len(node.keywords) > LOCALS:
            self._refuse(node, "size", f"a call takes at most {LOCALS} named values")
            raise _Enough
        starred = [each for each in node.args if isinstance(each, ast.Starred)]
        if len(starred) > 1 or (starred and node.args[-1] is not starred[0]):
            self._refuse(starred[0], "syntax", "*values come once, after the other values")
        named: set[str] = set()
        for at, keyword in enumerate(node.keywords):
            if keyword.arg is None and at < len(node.keywords) - 1:
                self._refuse(keyword, "syntax", "**values come once, at the end")
            if keyword.arg is not None and keyword.arg in named:
                self._refuse(keyword, "syntax", f"{keyword.arg!r} is given twice")
            named.add(keyword.arg or "")
            if starred and keyword.arg is not None and _place(keyword) > _place(starred[0]):
                self._refuse(
                    keyword, "syntax", "named values come before *values",
                    "as in f(a, key=b, *values)",
                )  # fmt: skip
        for each in node.args:
            self._expression(each.value if isinstance(each, ast.Starred) else each)
        for keyword in node.keywords:
            self._expression(keyword.value)

    def _subscript(self, node: ast.Subscript) -> None:
        self._expression(node.value)
        if isinstance(node.slice, ast.Slice):
            parts = (node.slice.lower, node.slice.upper, node.slice.step)
            self._each(each for each in parts if each is not None)
        else:
            self._index(node.slice)

    def _index(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple) and _bare(node):
            self._refuse(
                node, "forbidden", "an index is one value",
                "for an element of an element write x[i][j]; put a tuple in brackets",
            )  # fmt: skip
        self._expression(node)

    def _operator(self, node: ast.AST, operator: ast.operator) -> None:
        if not isinstance(operator, OPERATORS):
            hint = "write x * x, or ta.pow(x, n)" if isinstance(operator, ast.Pow) else ""
            sign = "**" if isinstance(operator, ast.Pow) else "@"
            self._refuse(node, "forbidden", f"{sign!r} is not allowed", hint)

    def _binary(self, node: ast.BinOp) -> None:
        self._operator(node, node.op)
        self._each((node.left, node.right))

    def _unary(self, node: ast.UnaryOp) -> None:
        self._expression(node.operand)

    def _logical(self, node: ast.BoolOp) -> None:
        self._each(node.values)

    def _compare(self, node: ast.Compare) -> None:
        if len(node.ops) > 1:
            middle = node.comparators[:-1]
            joined = any(
                isinstance(each, ast.BinOp) and isinstance(each.op, ast.BitAnd | ast.BitOr)
                for each in middle
            )
            if joined:
                self._refuse(
                    node, "syntax", "parentheses are missing: & and | bind before comparisons",
                    "write (a > 1) & (b < 2)",
                )  # fmt: skip
            else:
                hint = "write a < b and b < c, with series (a < b) & (b < c)"
                self._refuse(node, "syntax", "comparisons cannot be chained", hint)
        for each in node.ops:
            if not isinstance(each, COMPARISONS):
                self._refuse(node, "forbidden", "'is' is not allowed", "write x == None")
        self._each((node.left, *node.comparators))

    def _conditional(self, node: ast.IfExp) -> None:
        self._each((node.test, node.body, node.orelse))

    def _sequence(self, node: ast.List | ast.Tuple) -> None:
        self._each(node.elts)

    def _dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                self._refuse(value, "forbidden", "'**' in a dict is not allowed", "write a | b")
            else:
                self._expression(key)
            self._expression(value)

    def _comprehension(self, node: Comprehension) -> None:
        outer = self._scope
        names: set[str] = set()
        for at, clause in enumerate(node.generators):
            if clause.is_async:
                self._refuse(node, "forbidden", "'async' is not allowed")
            if at == 0:
                self._expression(clause.iter)
                self._enter_loops(node, len(node.generators))
                self._scope = Scope(names, outer)
                self.checked.scopes[node] = self._scope
                for each in node.generators:
                    self._loop_target(each.target)
                    names.update(name.id for name in target_names(each.target))
            else:
                self._expression(clause.iter)
            self._each(clause.ifs)
        parts = (node.elt,) if isinstance(node, ast.ListComp) else (node.key, node.value)
        self._each(parts)
        self._loops -= len(node.generators)
        self._scope = outer

    def _lambda(self, node: ast.Lambda) -> None:
        self._arguments(node.args)
        loops, self._loops = self._loops, 0
        self._within(node, lambda: self._expression(node.body))
        self._loops = loops

    def _fstring(self, node: ast.JoinedStr) -> None:
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                ast.copy_location(each.value, node)  # Python counts these from the wrong place
                self._expression(each.value)

    # -------------------------------------------------------------------------------- call graph

    def _order_functions(self) -> None:
        """Puts each function before those that use it; refuses circles and towers."""
        depths: dict[str, int] = {}
        for name in self.checked.functions:
            self._visit_function(name, depths)
        functions = self.checked.functions
        self.checked.functions = {name: functions[name] for name in depths if name in functions}
        for name, depth in depths.items():
            if depth > CALL_DEPTH:
                self._refuse(
                    functions[name], "forbidden",
                    f"functions call one another more than {CALL_DEPTH} deep",
                )  # fmt: skip
                return

    def _visit_function(self, start: str, depths: dict[str, int]) -> None:
        if start in depths:
            return
        path = {start: None}  # ordered, and quick to look into
        pending: list[tuple[str, Iterator[str]]] = [(start, iter(sorted(self._uses[start])))]
        while pending:
            name, uses = pending[-1]
            for used in uses:
                if used in path:
                    circle = list(path)[list(path).index(used) :]
                    told = " → ".join([*circle, used] if len(circle) < 8 else [used, "…", used])
                    self._refuse(
                        self.checked.functions[name],
                        "forbidden",
                        f"a function cannot call itself: {told}",
                        "write a loop instead",
                    )
                elif used not in depths:
                    path[used] = None
                    pending.append((used, iter(sorted(self._uses[used]))))
                    break
            else:
                pending.pop()
                del path[name]
                depths[name] = 1 + max((depths.get(u, 0) for u in self._uses[name]), default=0)


def _assigned_names(function: ast.FunctionDef) -> set[str]:
    augmented = {id(node.target) for node in walk(function) if isinstance(node, ast.AugAssign)}
    names = {each.arg for each in parameters(function)}
    for each in bound_names(function.body):
        if id(each) not in augmented:
            names.add(each.id if isinstance(each, ast.Name) else each.name)
    return names


def _owner(scope: Scope) -> Scope | None:
    """The function a comprehension stands in; a function itself."""
    found: Scope | None = scope
    while found is not None and found.function is None:
        found = found.above
    return found


def _bare(node: ast.Tuple) -> bool:
    """Is the tuple written without brackets?"""
    return bool(node.elts) and _place(node) == _place(node.elts[0])


def _place(node: ast.expr | ast.keyword) -> tuple[int, int]:
    return node.lineno, node.col_offset


_STATEMENTS: Mapping[type, Callable[[_Checker, Any], None]] = {
    ast.FunctionDef: _Checker._function,
    ast.Return: _Checker._return,
    ast.Assign: _Checker._assign,
    ast.AugAssign: _Checker._augmented,
    ast.For: _Checker._for,
    ast.If: _Checker._if,
    ast.Expr: _Checker._expression_statement,
    ast.Pass: _Checker._pass,
    ast.Break: _Checker._jump,
    ast.Continue: _Checker._jump,
}
_EXPRESSIONS: Mapping[type, Callable[[_Checker, Any], None]] = {
    ast.Constant: _Checker._constant,
    ast.Name: _Checker._name,
    ast.Attribute: _Checker._attribute,
    ast.Call: _Checker._call,
    ast.Subscript: _Checker._subscript,
    ast.BinOp: _Checker._binary,
    ast.UnaryOp: _Checker._unary,
    ast.BoolOp: _Checker._logical,
    ast.Compare: _Checker._compare,
    ast.IfExp: _Checker._conditional,
    ast.List: _Checker._sequence,
    ast.Tuple: _Checker._sequence,
    ast.Dict: _Checker._dict,
    ast.ListComp: _Checker._comprehension,
    ast.DictComp: _Checker._comprehension,
    ast.Lambda: _Checker._lambda,
    ast.JoinedStr: _Checker._fstring,
}


def _parameters(tree: ast.Module) -> set[str]:
    """The names in PARAMS, as far as it is well written."""
    dicts = [
        each
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.List)
        if any(isinstance(name, ast.Name) and name.id == "PARAMS" for name in statement.targets)
        for each in statement.value.elts
        if isinstance(each, ast.Dict)
    ]
    return {
        value.value
        for each in dicts
        for key, value in zip(each.keys, each.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == "name"
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
    }


_REFUSED: Mapping[type, tuple[str, str]] = {
    ast.Set: ("a set", "use a dict, or a list"),
    ast.SetComp: ("a set", "use a dict, or a list"),
    ast.GeneratorExp: ("a generator", "write a list: [… for …]"),
    ast.NamedExpr: ("':='", "assign on a line of its own"),
    ast.Starred: ("'*' here", "join lists with +"),
}
_WORDS: Mapping[type, str] = {
    ast.Delete: "'del'",
    ast.Match: "'match'",
}
_NOT_HERE = {
    "sum": "write a loop, or ta.sum(s, n) and ta.cum(s) on a series",
    "round": "write ta.round(x)",
    "math": "ta has abs, sqrt, log, exp, floor, ceil, round",
    "np": "series have operators: a - b; ta has the functions",
    "pd": "series have operators: a - b; ta has the functions",
    "set": "use a dict, or a list",
    "isinstance": 'write type(x) == "int"',
    "map": "write [f(x) for x in values]",
    "filter": "write [x for x in values if f(x)]",
    "na": "na is None in a list; test with ta.isna(x)",
    "nan": "na is None in a list; test with ta.isna(x)",
    "true": "write True",
    "false": "write False",
    "null": "write None",
    "none": "write None",
    "bar_index": "write ohlcv.bar_index, or count the bars: for i in range(len(ohlcv))",
    "input": "declare it in PARAMS and read params[name]",
    "indicator": "the title stands in META",
    "plot": "write chart.line(s, title, color)",
    "plotshape": "write chart.dot(cond, y, label=name)",
    "hline": "write chart.hline(y)",
    "fill": "write chart.fill(a, b)",
    "label": "write chart.new_label(x, y, text)",
    "line": "write chart.line(s), or chart.new_line(x1, y1, x2, y2)",
    "box": "write chart.new_box(left, top, right, bottom)",
    "table": "write chart.new_table(position, columns, rows)",
    "color": 'a colour is a text: "red", "#rrggbb" or "#rrggbbaa"',
    "request": "write ohlcv.security(timeframe)",
    "timeframe": "write ohlcv.timeframe",
    "syminfo": "write ohlcv.symbol, or ohlcv.tick_size",
    "barstate": "the last bar is len(ohlcv) - 1, and every bar is confirmed",
    "last_bar_index": "write len(ohlcv) - 1",
    "alert": "a dot with a label is a signal: chart.dot(cond, y, label=name)",
    "alertcondition": "a dot with a label is a signal: chart.dot(cond, y, label=name)",
    "plotchar": "write chart.dot(cond, y, label=name)",
    "plotarrow": "write chart.dot(cond, y, label=name)",
    "strategy": "scripts draw, and place no orders",
    "array": "write a list: [0.0] * n, values.append(x), values[i]",
    "matrix": "write a list of lists: [[0.0] * columns for i in range(rows)]",
    "timestamp": "times are UTC milliseconds, as in ohlcv.time[i]",
    "float64": "write float(x)",
    "eval": "",
    "exec": "",
    "chr": "",
    "ord": "",
}
