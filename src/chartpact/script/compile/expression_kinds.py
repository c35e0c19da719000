"""The kinds of expressions, by the kinds of the names in them."""

import ast
from collections.abc import Mapping

from chartpact.script.check.checked import BUILTIN, FUNCTION, GLOBAL, Checked
from chartpact.script.check.scopes import Comprehension, Function
from chartpact.script.compile import kinds as k
from chartpact.script.compile.hoisting import literal_index
from chartpact.script.errors import LimitReached
from chartpact.script.source.visitors import visitors

_NUMERIC_CHOICE = k.UNBOUND | k.NUMBER | k.SERIES  # options of which `ta.where` makes numbers
_MOST_VISITS = 60_000  # of expressions

Env = dict[str, int]  # the kinds of each name at one place


class ExpressionKinds:
    """Visits expressions again and again; `of` has all the kinds that each was seen to have."""

    def __init__(
        self, checked: Checked, params: Mapping[str, int], results: Mapping[str, int]
    ) -> None:
        self.of: dict[ast.AST, int] = {}
        self._checked = checked
        self._params = params
        self._results = results
        self._globals: Env = {}
        self._inputs: dict[str, Env] = {name: {} for name in checked.functions}
        self._returns: dict[str, int] = dict.fromkeys(checked.functions, 0)
        self._elements: dict[str, int] = {}  # of the private lists of the function at hand
        self._changed = False
        self._visits = 0

    def _kinds(self, node: ast.expr, env: Env) -> int:
        self._visits += 1
        if self._visits > _MOST_VISITS:
            raise LimitReached
        visit = _VISITS.get(type(node))
        kinds = k.ANY if visit is None else visit(self, node, env)
        self.of[node] = self.of.get(node, 0) | kinds
        return kinds

    def _join(self, table: dict[str, int], name: str, kinds: int) -> None:
        joined = table.get(name, 0) | kinds
        if joined != table.get(name):
            table[name] = joined
            self._changed = True

    def visit_Constant(self, node: ast.Constant, _: Env) -> int:
        return k.of_constant(node.value)

    def visit_Name(self, node: ast.Name, env: Env) -> int:
        binding = self._checked.bindings.get(node)
        if binding in (FUNCTION, BUILTIN):
            return k.FUNC
        if binding == GLOBAL:
            return self._globals.get(node.id, 0)
        return env.get(node.id, k.ANY) & ~k.UNBOUND

    def visit_BinOp(self, node: ast.BinOp, env: Env) -> int:
        return k.of_binary(node.op, self._kinds(node.left, env), self._kinds(node.right, env))

    def visit_UnaryOp(self, node: ast.UnaryOp, env: Env) -> int:
        return k.of_unary(node.op, self._kinds(node.operand, env))

    def visit_Compare(self, node: ast.Compare, env: Env) -> int:
        left, right = self._kinds(node.left, env), self._kinds(node.comparators[0], env)
        return k.of_comparison(node, left, right)

    def visit_BoolOp(self, node: ast.BoolOp, env: Env) -> int:
        return k.union([self._kinds(operand, env) for operand in node.values])

    def visit_IfExp(self, node: ast.IfExp, env: Env) -> int:
        self._kinds(node.test, env)
        return self._kinds(node.body, env) | self._kinds(node.orelse, env)

    def visit_List(self, node: ast.List | ast.Tuple, env: Env) -> int:
        for element in node.elts:
            self._kinds(element, env)
        return k.LIST if isinstance(node, ast.List) else k.TUPLE

    visit_Tuple = visit_List

    def visit_Dict(self, node: ast.Dict, env: Env) -> int:
        for part in [*node.keys, *node.values]:
            if part is not None:
                self._kinds(part, env)
        return k.DICT

    def visit_JoinedStr(self, node: ast.JoinedStr, env: Env) -> int:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self._kinds(part.value, env)
        return k.STR

    def visit_Slice(self, node: ast.Slice, env: Env) -> int:
        for bound in (node.lower, node.upper, node.step):
            if bound is not None:
                self._kinds(bound, env)
        return k.ANY

    def visit_Starred(self, node: ast.Starred, env: Env) -> int:
        self._kinds(node.value, env)
        return k.ANY  # any number of anything

    def visit_Subscript(self, node: ast.Subscript, env: Env) -> int:
        holder = self._kinds(node.value, env)
        index = self._kinds(node.slice, env)
        if isinstance(node.slice, ast.Slice):
            return holder & (k.SERIES | k.SEQUENCE | k.RANGE)
        if holder == k.PARAMS and isinstance(node.slice, ast.Constant):
            return self._params.get(str(node.slice.value), k.ANY)
        if isinstance(node.value, ast.Name) and node.value.id in self._elements:
            return self._elements[node.value.id]
        if holder & k.TIMES and literal_index(node.slice) is None:
            holder |= k.FLOATS  # na below 0
        return k.elements(holder, k.INDEXED) if index else 0

    def visit_Attribute(self, node: ast.Attribute, env: Env) -> int:
        if name := self._checked.namespaced(node):
            return k.CONSTANT_KINDS.get(name, k.FUNC)
        if self._kinds(node.value, env) == k.OHLCV:
            return k.OHLCV_KINDS.get(node.attr, k.FUNC)
        return k.ANY

    # ------------------------------------------------------------------------------------- calls

    def visit_Call(self, node: ast.Call, env: Env) -> int:
        func = node.func
        spread = any(isinstance(argument, ast.Starred) for argument in node.args)
        positional = [self._kinds(argument, env) for argument in node.args]
        named = {keyword.arg or "": self._kinds(keyword.value, env) for keyword in node.keywords}
        if host_function := self._checked.namespaced(func):
            options = (
                k.ANY if spread or "" in named else k.union([*positional[1:], *named.values()])
            )
            if host_function == "ta.where" and options & ~_NUMERIC_CHOICE:
                return k.ANY  # it may choose among texts
            result = self._results.get(host_function, k.ANY)
            return k.of_host_call(result, [*positional, *named.values()])
        if isinstance(func, ast.Attribute):
            kinds = self._method(func, k.ANY if spread else k.union(positional), env)
            calculates = spread or len(positional) + len(named) != 1  # security(timeframe, f)
            return k.ANY if kinds == k.OHLCV and calculates else kinds
        self._kinds(func, env)
        if not isinstance(func, ast.Name):
            return k.ANY
        binding = self._checked.bindings.get(func)
        if binding == FUNCTION:
            return self._script_function(func.id, positional, named, spread or "" in named)
        return k.of_builtin(func.id, positional, spread) if binding == BUILTIN else k.ANY

    def _method(self, func: ast.Attribute, arguments: int, env: Env) -> int:
        owner = self._kinds(func.value, env)
        self.of[func] = k.FUNC
        if func.attr in ("append", "insert"):
            self._put(func.value, arguments)
        if owner == k.OHLCV:
            return k.of_ohlcv_method(func.attr, arguments)
        if owner & (k.OHLCV | k.OTHER | k.PARAMS | k.FUNC):
            return k.ANY
        return k.METHOD_KINDS.get(func.attr, k.ANY)

    def _script_function(self, name: str, positional: list[int], named: Env, spread: bool) -> int:
        """A call of a function of the script: its parameters receive these kinds."""
        args, inputs = self._checked.functions[name].args, self._inputs[name]
        names = [arg.arg for arg in args.args]
        defaulted = names[len(names) - len(args.defaults) :]
        for parameter, default in zip(defaulted, args.defaults, strict=True):
            self._join(inputs, parameter, self.of.get(default, 0) or self._kinds(default, {}))
        for parameter, kinds in zip(names, positional, strict=False):
            self._join(inputs, parameter, kinds)
        for parameter, kinds in named.items():
            if parameter in names:
                self._join(inputs, parameter, kinds)
        for parameter in names if spread else ():
            self._join(inputs, parameter, k.ANY)
        for extra in (args.vararg, args.kwarg):
            if extra is not None:
                self._join(inputs, extra.arg, k.TUPLE | k.DICT)
        return self._returns[name]

    def visit_Lambda(self, node: ast.Lambda, env: Env) -> int:
        for default in node.args.defaults:
            self._kinds(default, env)
        self._inner(node)
        return k.FUNC

    def _inner(self, function: Function) -> None:
        raise NotImplementedError

    # ------------------------------------------------------------------------------------- loops

    def visit_ListComp(self, node: Comprehension, env: Env) -> int:
        inner = dict(env)
        for clause in node.generators:
            self._kinds(clause.iter, inner)
            self._bind_loop(clause.target, clause.iter, inner)
            for condition in clause.ifs:
                self._kinds(condition, inner)
        if isinstance(node, ast.ListComp):
            self._kinds(node.elt, inner)
            return k.LIST
        self._kinds(node.key, inner)
        self._kinds(node.value, inner)
        return k.DICT

    visit_DictComp = visit_ListComp

    def _bind_loop(self, target: ast.expr, source: ast.expr, env: Env) -> None:
        columns = self._columns(source, env)
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        if columns is not None and len(parts) == len(columns):
            for part, kinds in zip(parts, columns, strict=True):
                self._bind(part, kinds, env)
            return
        self._bind(target, k.TUPLE if columns is not None else self._element(source, env), env)

    def _columns(self, source: ast.expr, env: Env) -> list[int] | None:
        """The kinds in the tuples of enumerate(…) and zip(…)."""
        if not isinstance(source, ast.Call):
            return None
        if any(isinstance(argument, ast.Starred) for argument in source.args):
            return None
        if self._checked.is_builtin(source.func, "enumerate"):
            inner = self._element(source.args[0], env) if source.args else k.ANY
            return [k.SMALL if len(source.args) == 1 else k.BIG, inner]
        if self._checked.is_builtin(source.func, "zip"):
            return [self._element(argument, env) for argument in source.args]
        return None

    def _element(self, source: ast.expr, env: Env) -> int:
        """What one turn of a loop over the source yields."""
        if isinstance(source, ast.Name) and source.id in self._elements:
            return self._elements[source.id]
        return k.elements(self._kinds(source, env), k.ITERATED)

    def _bind(self, target: ast.expr, kinds: int, env: Env) -> None:
        if isinstance(target, ast.Name):
            if env is self._globals:
                self._join(self._globals, target.id, kinds)
            else:
                env[target.id] = kinds
        elif isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._bind(part, k.ANY, env)
        elif isinstance(target, ast.Subscript):
            self._kinds(target.value, env)
            self._kinds(target.slice, env)
            self._put(target.value, kinds)

    def _put(self, holder: ast.expr, kinds: int) -> None:
        """An element is put into a list, which may be a private one."""
        if isinstance(holder, ast.Name) and holder.id in self._elements:
            self._join(self._elements, holder.id, kinds)


_VISITS = visitors(ExpressionKinds)
