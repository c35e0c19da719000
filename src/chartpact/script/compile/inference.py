"""What kinds of value each expression can have, found out before the script runs.

Starlark's rules (no True + 1, no endless "x" * n) need a check wherever the operands are unknown.
Most are known: prices are series of floats, a loop over a range counts, PARAMS have types. So this
pass follows the script the way it runs (abstract interpretation): branches join, loops repeat until
nothing new appears, and functions receive what their callers pass. Private lists (`escape`) are the
one refinement: such a list is known by what is put into it.

The pass ends early where it would take too long. Then every expression can be anything, and the
script runs with all its checks.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from chartpact.script.check.checked import FUNCTION, Checked
from chartpact.script.check.scopes import Function, local_names, parameters
from chartpact.script.compile import kinds as k
from chartpact.script.compile.escape import private_lists
from chartpact.script.compile.expression_kinds import Env, ExpressionKinds
from chartpact.script.errors import LimitReached
from chartpact.syntax import walk

_MOST_ROUNDS = 8


@dataclass
class Kinds:
    """The kinds of every expression, and of the names where each loop is entered."""

    of: dict[ast.AST, int] = field(default_factory=dict)
    at_loop: dict[ast.stmt, Env] = field(default_factory=dict)


class _Anything(dict[ast.AST, int]):
    """Every expression can be anything."""

    def get(self, node: ast.AST, default: int = 0) -> int:  # type: ignore[override]  # noqa: ARG002
        return k.ANY


def infer_kinds(checked: Checked, params: Mapping[str, int], results: Mapping[str, int]) -> Kinds:
    """The kinds in a module; `params` are by name, `results` by host function ("ta.ema")."""
    inference = _Statements(checked, params, results)
    try:
        inference.module()
    except LimitReached:
        return Kinds(_Anything())
    return Kinds(inference.of, inference.at_loop)


class _Statements(ExpressionKinds):
    """Follows the statements of a module until nothing new appears."""

    def __init__(
        self, checked: Checked, params: Mapping[str, int], results: Mapping[str, int]
    ) -> None:
        super().__init__(checked, params, results)
        self.at_loop: dict[ast.stmt, Env] = {}
        self._private: dict[str, dict[str, int]] = {}
        self._returned = 0
        self._breaks: list[list[Env]] = []
        self._continues: list[list[Env]] = []

    def module(self) -> None:
        functions = self._checked.functions
        unknown_callers = set(self._used_as_values()) | (set(functions) - self._checked.reachable())
        for name, function in functions.items():
            self._private[name] = dict.fromkeys(private_lists(function, self._checked), 0)
            if name in unknown_callers:
                self._widen(name)
        if "compute" in functions:
            names = (arg.arg for arg in parameters(functions["compute"]))
            self._inputs["compute"] = dict(zip(names, (k.OHLCV, k.PARAMS, k.OTHER), strict=False))
        for turn in range(_MOST_ROUNDS + 1):
            self._changed = False
            if turn == _MOST_ROUNDS:  # give up precision, keep the promise
                for name in functions:
                    self._widen(name)
            self._block(self._checked.tree.body, self._globals)
            for name in reversed(list(functions)):  # callers first
                self._function(functions[name])
            if not self._changed:
                break

    def _widen(self, name: str) -> None:
        """A function of which nothing is known."""
        for arg in parameters(self._checked.functions[name]):
            self._inputs[name][arg.arg] = k.ANY | k.PARAMS
        self._returns[name] = k.ANY
        self._private[name] = dict.fromkeys(self._private[name], k.ANY)

    def _used_as_values(self) -> Iterator[str]:
        """Functions that are used other than by calling them."""
        for name, binding in self._checked.bindings.items():
            if binding == FUNCTION and name not in self._checked.called:
                yield name.id

    def _function(self, function: ast.FunctionDef) -> None:
        inputs = self._inputs[function.name]
        if not inputs and parameters(function):
            return
        self._elements = self._private[function.name]
        self._returned = 0
        env: Env = dict.fromkeys(local_names(function), k.UNBOUND)
        env.update({arg.arg: inputs.get(arg.arg, k.ANY) for arg in parameters(function)})
        if function.args.vararg:
            env[function.args.vararg.arg] = k.TUPLE
        if function.args.kwarg:
            env[function.args.kwarg.arg] = k.DICT
        end = self._block(function.body, env)
        self._join(
            self._returns, function.name, self._returned | (k.NONE if end is not None else 0)
        )
        self._elements = {}

    def _inner(self, function: Function) -> None:
        """A function within a function: nothing is known of what it receives or captures."""
        outer = self._elements, self._returned, self._breaks, self._continues
        self._elements, self._breaks, self._continues = {}, [], []
        env = dict.fromkeys(local_names(function), k.ANY | k.UNBOUND)
        if isinstance(function, ast.Lambda):
            self._kinds(function.body, env)
        else:
            self._block(function.body, env)
        self._elements, self._returned, self._breaks, self._continues = outer

    def _block(self, statements: list[ast.stmt], env: Env | None) -> Env | None:
        """The kinds of names after the statements; None if their end is not reached."""
        for statement in statements:
            if env is None:
                return None
            env = self._statement(statement, env)
        return env

    def _statement(self, node: ast.stmt, env: Env) -> Env | None:
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr | ast.Return | ast.For):
            self._note_loop(node, env)
        if isinstance(node, ast.Assign):
            self._assign(node.targets[0], node.value, self._kinds(node.value, env), env)
        elif isinstance(node, ast.AugAssign):
            self._augment(node, env)
        elif isinstance(node, ast.Expr):
            self._kinds(node.value, env)
        elif isinstance(node, ast.Return):
            self._returned |= k.NONE if node.value is None else self._kinds(node.value, env)
            return None
        elif isinstance(node, ast.If):
            self._kinds(node.test, env)
            return _join_envs(
                [self._block(node.body, dict(env)), self._block(node.orelse, dict(env))]
            )
        elif isinstance(node, ast.For):
            return self._for(node, env)
        elif isinstance(node, ast.Break):
            self._breaks[-1].append(env)
            return None
        elif isinstance(node, ast.Continue):
            self._continues[-1].append(env)
            return None
        elif isinstance(node, ast.FunctionDef):
            for default in node.args.defaults:
                self._kinds(default, env)
            if node.name not in self._checked.functions or env is not self._globals:
                self._inner(node)
                env[node.name] = k.FUNC
        return env

    def _note_loop(self, node: ast.stmt, env: Env) -> None:
        """Notes what the names in a statement's loops can be when it is reached."""
        noted = self.at_loop.get(node)
        if noted is None:
            noted = self.at_loop[node] = dict.fromkeys(_names_in_loops(node), 0)
        for name in noted:
            noted[name] |= env.get(name, k.UNBOUND)

    def _for(self, node: ast.For, env: Env) -> Env | None:
        self._kinds(node.iter, env)
        head: Env = dict(env)
        while True:
            body = dict(head)
            self._bind_loop(node.target, node.iter, body)
            self._breaks.append([])
            self._continues.append([])
            end = self._block(node.body, body)
            exits, nexts = self._breaks.pop(), self._continues.pop()
            again = _join_envs([head, end, *nexts])
            if again == head:
                return _join_envs([head, *exits])
            head = again or {}

    def _assign(self, target: ast.expr, value: ast.expr, kinds: int, env: Env) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                # All values are read before any name is bound: a, b = b, a.
                values = [self.of[element] for element in value.elts]
                for part, element in zip(target.elts, values, strict=True):
                    self._bind(part, element, env)
                return
            if isinstance(value, ast.Call):
                host_function = self._checked.namespaced(value.func) or ""
                if self._results.get(host_function) == k.SERIES_TUPLE:
                    given = (*value.args, *(keyword.value for keyword in value.keywords))
                    lists = k.list_of_lists([self.of[argument] for argument in given])
                    for part in target.elts:
                        self._bind(part, k.FLOATS | lists, env)
                    return
        if isinstance(target, ast.Name) and target.id in self._elements:
            self._fill(target.id, value)
        self._bind(target, kinds, env)

    def _fill(self, name: str, value: ast.expr) -> None:
        """What a private list holds when it is made."""
        if isinstance(value, ast.BinOp):
            value = value.left if isinstance(value.left, ast.List) else value.right
        if isinstance(value, ast.ListComp):
            self._join(self._elements, name, self.of[value.elt])
        elif isinstance(value, ast.List):
            for element in value.elts:
                self._join(self._elements, name, self.of[element])

    def _augment(self, node: ast.AugAssign, env: Env) -> None:
        value = self._kinds(node.value, env)
        target = node.target
        if isinstance(target, ast.Name):
            before = env.get(target.id, k.ANY) & ~k.UNBOUND
            self.of[target] = self.of.get(target, 0) | before
            after = k.of_binary(node.op, before, value) | (before & (k.LIST | k.DICTS))
            self._bind(target, after, env)
        elif isinstance(target, ast.Subscript):
            before = self.visit_Subscript(target, env)
            self.of[target] = self.of.get(target, 0) | before
            self._put(target.value, k.of_binary(node.op, before, value) | (before & k.CONTAINER))


def _join_envs(envs: list[Env | None]) -> Env | None:
    reached = [env for env in envs if env is not None]
    if not reached:
        return None
    joined, *others = reached
    for env in others:
        if env != joined:
            names = {**joined, **env}
            joined = {name: joined.get(name, 0) | env.get(name, 0) for name in names}
    return joined


def _names_in_loops(node: ast.stmt) -> set[str]:
    """The names of a statement that is a loop, or has one among its expressions."""
    nodes = list(walk(node))
    if not any(isinstance(part, ast.For | ast.ListComp | ast.DictComp) for part in nodes):
        return set()
    return {part.id for part in nodes if isinstance(part, ast.Name)}
