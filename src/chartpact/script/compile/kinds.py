"""What kinds of value an expression can have, found out before the script runs.

Starlark's rules (no True + 1, no endless "x" * n) need a check wherever the operands are unknown.
Most are known: prices are series of floats, a loop over a range counts, PARAMS have types. So every
expression gets the set of kinds it can have, as bits, by following the script the way it runs:
branches join, loops repeat until nothing new appears, and functions receive what their callers
pass. The sets may be too large, never too small. `private lists` are the one refinement: a list
that only its function can reach is known by what is put into it.
"""

import ast
from collections.abc import Iterator, Mapping

from chartpact.script.check.checked import BUILTIN, FUNCTION, GLOBAL, NAMESPACE, Checked
from chartpact.script.check.scopes import bindings, local_names, parameters, target_names
from chartpact.syntax import walk

(
    UNBOUND, NONE, BOOL, SMALL, MID, BIG, FLOAT, STR, LIST, TUPLE, DICT, RANGE,
    FLOATS, CONDITIONS, TIMES, FUNC, OHLCV, PARAMS, OTHER,
) = (1 << bit for bit in range(19))  # fmt: skip

# Ints by size: SMALL fits 62 bits, MID is one operation away from that, BIG can be anything.
INT = SMALL | MID | BIG
NUMBER = INT | FLOAT
SERIES = FLOATS | CONDITIONS | TIMES
CONTAINER = LIST | TUPLE | DICT
DICTS = DICT | PARAMS  # params is a dict whose values have the kinds that PARAMS declares
_CHOSEN = UNBOUND | NUMBER | SERIES  # what `ta.where` makes a series of numbers of
SERIES_TUPLE = TUPLE | FLOATS  # as the result of a ta function: a tuple of series
ANY = (1 << 19) - 1 - UNBOUND - PARAMS | DICT

PARAM_KINDS: Mapping[str, int] = {
    "int": SMALL,
    "float": FLOAT,
    "bool": BOOL,
    "str": STR,
    "choice": SMALL | FLOAT | STR,
    "color": STR,
    "session": STR,
    "timeframe": STR,
    "source": FLOATS,
    "symbol": OHLCV | NONE,
    "calendar": LIST | NONE,
}
OHLCV_KINDS: Mapping[str, int] = {
    **dict.fromkeys("bar_index open high low close volume hl2 hlc3 ohlc4 hlcc4".split(), FLOATS),
    "time": TIMES,
    "symbol": STR,
    "timeframe": STR,
    "tick_size": FLOAT | NONE,
}
BUILTIN_KINDS: Mapping[str, int] = {
    "all": BOOL, "any": BOOL, "bool": BOOL, "dict": DICT, "enumerate": LIST, "float": FLOAT,
    "int": BIG, "len": SMALL, "list": LIST, "print": NONE, "range": RANGE, "repr": STR,
    "reversed": LIST, "sorted": LIST, "str": STR, "tuple": TUPLE, "type": STR, "zip": LIST,
}  # fmt: skip
METHOD_KINDS: Mapping[str, int] = {
    **dict.fromkeys("append clear extend insert remove update".split(), NONE),
    **dict.fromkeys("elems items keys rsplit split splitlines values".split(), LIST),
    **dict.fromkeys("endswith startswith isalnum isalpha isdigit islower isspace".split(), BOOL),
    **dict.fromkeys("capitalize format join lower replace strip title upper".split(), STR),
    **dict.fromkeys("find rfind rindex count".split(), SMALL),
}
# Builtins that read a list and keep no hold of it.
_READERS = frozenset("len enumerate zip reversed sorted list tuple any all str repr print".split())
_HOLDERS = frozenset("append insert extend update setdefault pop remove index get".split())
_MOST_ROUNDS = 8
_MOST_VISITS = 60_000  # of expressions; a script that needs more is compiled without knowledge

Env = dict[str, int]


class _TooMuch(Exception):
    """The script is too intricate to be followed."""


class _Anything(dict[ast.AST, int]):
    """Every expression can be anything."""

    def get(self, node: ast.AST, default: int = 0) -> int:  # type: ignore[override]  # noqa: ARG002
        return ANY


class Kinds:
    """The kinds of every expression of a module."""

    def __init__(
        self,
        checked: Checked,
        params: Mapping[str, int],
        results: Mapping[str, int],
    ) -> None:
        self.of: dict[ast.AST, int] = {}
        self.at_loop: dict[ast.stmt, Env] = {}  # what its names can be where a loop is entered
        self._checked = checked
        self._params = params
        self._results = results  # "ta.ema" → FLOATS
        self._globals: Env = {}
        self._inputs: dict[str, Env] = {name: {} for name in checked.functions}
        self._returns: dict[str, int] = dict.fromkeys(checked.functions, 0)
        self._private: dict[str, dict[str, int]] = {}
        self._elements: dict[str, int] = {}
        self._returned = 0
        self._changed = False
        self._breaks: list[list[Env]] = []
        self._continues: list[list[Env]] = []
        self._visits = 0
        try:
            self._infer()
        except _TooMuch:
            self.of, self.at_loop = _Anything(), {}

    def _infer(self) -> None:
        functions = self._checked.functions
        unknown_callers = set(self._values()) | (set(functions) - self._checked.reachable())
        for name, function in functions.items():
            self._private[name] = {each: 0 for each in private_lists(function, self._checked)}
            if name in unknown_callers:
                self._widen(name)
        if "compute" in functions:
            self._inputs["compute"] = dict(zip(
                (each.arg for each in parameters(functions["compute"])), (OHLCV, PARAMS, OTHER),
                strict=False,
            ))  # fmt: skip
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
        for each in parameters(self._checked.functions[name]):
            self._inputs[name][each.arg] = ANY | PARAMS
        self._returns[name] = ANY
        self._private[name] = dict.fromkeys(self._private[name], ANY)

    def _values(self) -> Iterator[str]:
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
        env: Env = dict.fromkeys(local_names(function), UNBOUND)
        env.update({each.arg: inputs.get(each.arg, ANY) for each in parameters(function)})
        if function.args.vararg:
            env[function.args.vararg.arg] = TUPLE
        if function.args.kwarg:
            env[function.args.kwarg.arg] = DICT
        end = self._block(function.body, env)
        self._join(self._returns, function.name, self._returned | (NONE if end is not None else 0))
        self._elements = {}

    def _join(self, table: dict[str, int], name: str, kinds: int) -> None:
        joined = table.get(name, 0) | kinds
        if joined != table.get(name):
            table[name] = joined
            self._changed = True

    # -------------------------------------------------------------------------------- statements

    def _block(self, statements: list[ast.stmt], env: Env | None) -> Env | None:
        """What names can be after the statements; None if their end is not reached."""
        for statement in statements:
            if env is None:
                return None
            env = self._statement(statement, env)
        return env

    def _statement(self, node: ast.stmt, env: Env) -> Env | None:
        if isinstance(node, ast.Assign):
            self._note(node, env)
            self._assign(node.targets[0], node.value, self._kinds(node.value, env), env)
        elif isinstance(node, ast.AugAssign):
            self._augment(node, env)
        elif isinstance(node, ast.Expr):
            self._note(node, env)
            self._kinds(node.value, env)
        elif isinstance(node, ast.Return):
            self._note(node, env)
            self._returned |= NONE if node.value is None else self._kinds(node.value, env)
            return None
        elif isinstance(node, ast.If):
            self._note(node, env)
            self._kinds(node.test, env)
            return _joined([self._block(node.body, dict(env)), self._block(node.orelse, dict(env))])
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
                env[node.name] = FUNC
        return env

    def _note(self, node: ast.stmt, env: Env) -> None:
        noted = self.at_loop.get(node)
        if noted is None:
            noted = self.at_loop[node] = dict.fromkeys(_names_in_loops(node), 0)
        for name in noted:
            noted[name] |= env.get(name, UNBOUND)

    def _for(self, node: ast.For, env: Env) -> Env | None:
        self._note(node, env)
        self._kinds(node.iter, env)
        head: Env = dict(env)
        while True:
            body = dict(head)
            self._bind_loop(node.target, node.iter, body)
            self._breaks.append([])
            self._continues.append([])
            end = self._block(node.body, body)
            exits, nexts = self._breaks.pop(), self._continues.pop()
            again = _joined([head, end, *nexts])
            if again == head:
                return _joined([head, *exits])
            head = again or {}

    def _bind_loop(self, target: ast.expr, source: ast.expr, env: Env) -> None:
        columns = self._columns(source, env)
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        if columns is not None and len(parts) == len(columns):
            for each, kinds in zip(parts, columns, strict=True):
                self._bind(each, kinds, env)
            return
        self._bind(target, TUPLE if columns is not None else self._element(source, env), env)

    def _columns(self, source: ast.expr, env: Env) -> list[int] | None:
        """The kinds in the tuples of enumerate(…) and zip(…)."""
        if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Name):
            return None
        spread = any(isinstance(each, ast.Starred) for each in source.args)
        if self._checked.bindings.get(source.func) != BUILTIN or spread:
            return None
        if source.func.id == "enumerate":
            inner = self._element(source.args[0], env) if source.args else ANY
            return [SMALL if len(source.args) == 1 else BIG, inner]
        if source.func.id == "zip":
            return [self._element(each, env) for each in source.args]
        return None

    def _element(self, source: ast.expr, env: Env) -> int:
        """What one turn of a loop over the source yields."""
        if isinstance(source, ast.Name) and source.id in self._elements:
            return self._elements[source.id]
        kinds = self._kinds(source, env)
        found = 0
        for bit, element in (
            (RANGE, SMALL), (FLOATS, FLOAT), (CONDITIONS, BOOL), (TIMES, SMALL),
            (CONTAINER | PARAMS, ANY),
        ):  # fmt: skip
            found |= element if kinds & bit else 0
        return found

    def _bind(self, target: ast.expr, kinds: int, env: Env) -> None:
        if isinstance(target, ast.Name):
            if env is self._globals:
                self._join(self._globals, target.id, kinds)
            else:
                env[target.id] = kinds
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._bind(each, ANY, env)
        elif isinstance(target, ast.Subscript):
            self._kinds(target.value, env)
            self._kinds(target.slice, env)
            self._put(target.value, kinds)

    def _assign(self, target: ast.expr, value: ast.expr, kinds: int, env: Env) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                found = [self.of[each] for each in value.elts]
                for each, element in zip(target.elts, found, strict=True):
                    self._bind(each, element, env)
                return
            if isinstance(value, ast.Call) and self._is_series_tuple(value):
                for each in target.elts:
                    self._bind(each, FLOATS, env)
                return
        if isinstance(target, ast.Name) and target.id in self._elements:
            self._fill(target.id, value)
        self._bind(target, kinds, env)

    def _is_series_tuple(self, call: ast.Call) -> bool:
        return self._results.get(self._namespaced(call.func) or "") == SERIES_TUPLE

    def _fill(self, name: str, value: ast.expr) -> None:
        """What a private list holds when it is made."""
        if isinstance(value, ast.BinOp):
            value = value.left if isinstance(value.left, ast.List) else value.right
        if isinstance(value, ast.ListComp):
            self._join(self._elements, name, self.of[value.elt])
        elif isinstance(value, ast.List):
            for each in value.elts:
                self._join(self._elements, name, self.of[each])

    def _put(self, holder: ast.expr, kinds: int) -> None:
        if isinstance(holder, ast.Name) and holder.id in self._elements:
            self._join(self._elements, holder.id, kinds)

    def _augment(self, node: ast.AugAssign, env: Env) -> None:
        self._note(node, env)
        value = self._kinds(node.value, env)
        target = node.target
        if isinstance(target, ast.Name):
            before = env.get(target.id, ANY) & ~UNBOUND
            self.of[target] = self.of.get(target, 0) | before
            after = binary(node.op, before, value) | (before & (LIST | DICTS))
            self._bind(target, after, env)
        elif isinstance(target, ast.Subscript):
            before = self._subscript(target, env)
            self.of[target] = self.of.get(target, 0) | before
            self._put(target.value, binary(node.op, before, value) | (before & CONTAINER))

    # ------------------------------------------------------------------------------- expressions

    def _kinds(self, node: ast.expr, env: Env) -> int:
        self._visits += 1
        if self._visits > _MOST_VISITS:
            raise _TooMuch
        kinds = self._find(node, env)
        self.of[node] = self.of.get(node, 0) | kinds
        return kinds

    def _find(self, node: ast.expr, env: Env) -> int:  # noqa: PLR0911, PLR0912
        if isinstance(node, ast.Constant):
            return _constant(node.value)
        if isinstance(node, ast.Name):
            return self._name(node, env)
        if isinstance(node, ast.BinOp):
            return binary(node.op, self._kinds(node.left, env), self._kinds(node.right, env))
        if isinstance(node, ast.UnaryOp):
            return _unary(node.op, self._kinds(node.operand, env))
        if isinstance(node, ast.Compare):
            return self._compare(node, env)
        if isinstance(node, ast.Call):
            return self._call(node, env)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, env)
        if isinstance(node, ast.Attribute):
            return self._attribute(node, env)
        if isinstance(node, ast.BoolOp):
            return _union(self._kinds(each, env) for each in node.values)
        if isinstance(node, ast.IfExp):
            self._kinds(node.test, env)
            return self._kinds(node.body, env) | self._kinds(node.orelse, env)
        if isinstance(node, ast.Lambda):
            for default in node.args.defaults:
                self._kinds(default, env)
            self._inner(node)
            return FUNC
        if isinstance(node, ast.ListComp | ast.DictComp):
            return self._comprehension(node, env)
        if isinstance(node, ast.List | ast.Tuple):
            for each in node.elts:
                self._kinds(each, env)
            return LIST if isinstance(node, ast.List) else TUPLE
        if isinstance(node, ast.Dict):
            for part in [*node.keys, *node.values]:
                if part is not None:
                    self._kinds(part, env)
            return DICT
        if isinstance(node, ast.JoinedStr):
            for piece in node.values:
                if isinstance(piece, ast.FormattedValue):
                    self._kinds(piece.value, env)
            return STR
        if isinstance(node, ast.Slice):
            for bound in (node.lower, node.upper, node.step):
                if bound is not None:
                    self._kinds(bound, env)
        if isinstance(node, ast.Starred):  # any number of anything
            self._kinds(node.value, env)
        return ANY

    def _name(self, node: ast.Name, env: Env) -> int:
        binding = self._checked.bindings.get(node)
        if binding in (FUNCTION, BUILTIN):
            return FUNC
        if binding == GLOBAL:
            return self._globals.get(node.id, 0)
        return env.get(node.id, ANY) & ~UNBOUND

    def _compare(self, node: ast.Compare, env: Env) -> int:
        left, right = self._kinds(node.left, env), self._kinds(node.comparators[0], env)
        operator = node.ops[0]
        if isinstance(operator, ast.In | ast.NotIn) or is_none_test(node):
            return BOOL
        if not (left | right) & SERIES:
            return BOOL
        whole = not left & ~SERIES or not right & ~SERIES
        equality = isinstance(operator, ast.Eq | ast.NotEq)
        return CONDITIONS if whole and not equality else CONDITIONS | BOOL

    def _subscript(self, node: ast.Subscript, env: Env) -> int:
        holder = self._kinds(node.value, env)
        index = self._kinds(node.slice, env)
        if isinstance(node.slice, ast.Slice):
            return holder & (SERIES | LIST | TUPLE | STR | RANGE)
        if holder == PARAMS and isinstance(node.slice, ast.Constant):
            return self._params.get(str(node.slice.value), ANY)
        if isinstance(node.value, ast.Name) and node.value.id in self._elements:
            return self._elements[node.value.id]
        found = 0
        for bit, element in (
            (FLOATS, FLOAT), (CONDITIONS, BOOL), (TIMES, SMALL), (STR, STR), (RANGE, SMALL),
            (CONTAINER | PARAMS, ANY),
        ):  # fmt: skip
            found |= element if holder & bit else 0
        return found if index else 0

    def _attribute(self, node: ast.Attribute, env: Env) -> int:
        if self._namespaced(node):
            return FUNC
        owner = self._kinds(node.value, env)
        if owner == OHLCV:
            return OHLCV_KINDS.get(node.attr, FUNC)
        return ANY

    def _namespaced(self, node: ast.expr) -> str | None:
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        inside = self._checked.bindings.get(node.value) == NAMESPACE
        return f"{node.value.id}.{node.attr}" if inside else None

    def _call(self, node: ast.Call, env: Env) -> int:
        spread = any(isinstance(each, ast.Starred) for each in node.args)
        given = [self._kinds(each, env) for each in node.args]
        named = {each.arg or "": self._kinds(each.value, env) for each in node.keywords}
        if space := self._namespaced(node.func):
            options = ANY if spread or "" in named else _union([*given[1:], *named.values()])
            if space == "ta.where" and options & ~_CHOSEN:
                return ANY  # it may choose among texts
            return self._host_result(self._results.get(space, ANY), [*given, *named.values()])
        if isinstance(node.func, ast.Name):
            binding = self._checked.bindings.get(node.func)
            self._kinds(node.func, env)
            if binding == FUNCTION:
                return self._direct(node.func.id, given, named, spread or "" in named)
            if binding == BUILTIN:
                return self._builtin(node.func.id, given, spread)
            return ANY
        if isinstance(node.func, ast.Attribute):
            owner = self._kinds(node.func.value, env)
            self.of[node.func] = FUNC
            if node.func.attr in ("append", "insert"):
                self._put(node.func.value, ANY if spread else _union(given))
            if owner == OHLCV:
                return OHLCV
            if not owner & (OHLCV | OTHER | PARAMS | FUNC):
                return METHOD_KINDS.get(node.func.attr, ANY)
            return ANY
        self._kinds(node.func, env)
        return ANY

    @staticmethod
    def _host_result(result: int, given: list[int]) -> int:
        """A function that gives a series of a series gives a number of a number."""
        if result == SERIES_TUPLE:
            return TUPLE
        if not any(each and not each & ~(SERIES | LIST | OHLCV) for each in given):
            result |= (FLOAT if result & FLOATS else 0) | (BOOL if result & CONDITIONS else 0)
        return result

    def _direct(self, name: str, given: list[int], named: Env, spread: bool) -> int:
        function, inputs = self._checked.functions[name], self._inputs[name]
        names = [each.arg for each in function.args.args]
        defaults = names[len(names) - len(function.args.defaults) :]
        for parameter, default in zip(defaults, function.args.defaults, strict=True):
            self._join(inputs, parameter, self.of.get(default, 0) or self._kinds(default, {}))
        for parameter, kinds in zip(names, given, strict=False):
            self._join(inputs, parameter, kinds)
        for parameter, kinds in named.items():
            if parameter in names:
                self._join(inputs, parameter, kinds)
        for parameter in names if spread else ():
            self._join(inputs, parameter, ANY)
        for each in (function.args.vararg, function.args.kwarg):
            if each is not None:
                self._join(inputs, each.arg, TUPLE | DICT)
        return self._returns[name]

    def _builtin(self, name: str, given: list[int], spread: bool) -> int:
        if name == "abs" and given:
            return given[0] & NUMBER
        if name in ("min", "max") and len(given) > 1 and not spread:
            return _union(given)
        if name in ("min", "max") and given == [RANGE]:
            return SMALL
        return BUILTIN_KINDS.get(name, ANY)

    def _comprehension(self, node: ast.ListComp | ast.DictComp, env: Env) -> int:
        inner = dict(env)
        for clause in node.generators:
            self._kinds(clause.iter, inner)
            self._bind_loop(clause.target, clause.iter, inner)
            for condition in clause.ifs:
                self._kinds(condition, inner)
        if isinstance(node, ast.ListComp):
            self._kinds(node.elt, inner)
            return LIST
        self._kinds(node.key, inner)
        self._kinds(node.value, inner)
        return DICT

    def _inner(self, function: ast.FunctionDef | ast.Lambda) -> None:
        """A function within a function: nothing is known of what it receives or captures."""
        kept = self._elements, self._returned, self._breaks, self._continues
        self._elements, self._breaks, self._continues = {}, [], []
        env = dict.fromkeys(local_names(function), ANY | UNBOUND)
        if isinstance(function, ast.Lambda):
            self._kinds(function.body, env)
        else:
            self._block(function.body, env)
        self._elements, self._returned, self._breaks, self._continues = kept


def is_none_test(node: ast.Compare) -> bool:
    """Is it `x == None` or `x != None`?"""
    sides = (node.left, node.comparators[0])
    return isinstance(node.ops[0], ast.Eq | ast.NotEq) and any(
        isinstance(side, ast.Constant) and side.value is None for side in sides
    )


def _constant(value: object) -> int:
    if value is None:
        return NONE
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return SMALL if abs(value) < 1 << 62 else BIG
    return FLOAT if isinstance(value, float) else STR


def binary(operator: ast.operator, left: int, right: int) -> int:
    """The kinds a binary operator can give."""
    found = FLOAT if (left & FLOAT and right & NUMBER) or (right & FLOAT and left & NUMBER) else 0
    if (left | right) & SERIES:
        found |= CONDITIONS if isinstance(operator, ast.BitAnd | ast.BitOr) else FLOATS
    ints = left & INT and right & INT
    if isinstance(operator, ast.Div):
        return found | (FLOAT if ints else 0)
    if ints:
        if isinstance(operator, ast.Add | ast.Sub | ast.Mult):
            found |= MID if left & SMALL and right & SMALL else 0
            found |= BIG if (left | right) & (MID | BIG) else 0
        elif isinstance(operator, ast.FloorDiv):
            found |= left & INT
        elif isinstance(operator, ast.Mod):
            found |= right & INT
        else:
            found |= BIG
    if isinstance(operator, ast.Add):
        found |= left & right & (STR | LIST | TUPLE)
    elif isinstance(operator, ast.Mult):
        found |= (left & (STR | LIST | TUPLE)) if right & INT else 0
        found |= (right & (STR | LIST | TUPLE)) if left & INT else 0
    elif isinstance(operator, ast.Mod):
        found |= left & STR
    elif isinstance(operator, ast.BitOr) and left & DICTS and right & DICTS:
        found |= DICT
    return found


def _unary(operator: ast.unaryop, operand: int) -> int:
    if isinstance(operator, ast.Not):
        return BOOL
    if isinstance(operator, ast.Invert):
        return (BIG if operand & INT else 0) | (CONDITIONS if operand & SERIES else 0)
    return (operand & NUMBER) | (FLOATS if operand & SERIES else 0)


def _union(kinds: Iterator[int] | list[int]) -> int:
    found = 0
    for each in kinds:
        found |= each
    return found


def _joined(envs: list[Env | None]) -> Env | None:
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
    if isinstance(node, ast.If):
        return set()
    within = list(walk(node))
    if not any(isinstance(each, ast.For | ast.ListComp | ast.DictComp) for each in within):
        return set()
    return {each.id for each in within if isinstance(each, ast.Name)}


def private_lists(function: ast.FunctionDef, checked: Checked) -> set[str]:
    """Names that only ever hold lists made here, which nobody else can reach or change."""
    scope = checked.scopes.get(function)
    if scope is None:
        return set()
    made: dict[str, int] = {}
    for statement in _all_statements(function.body):
        if not isinstance(statement, ast.Assign):
            continue
        target = statement.targets[0]
        if isinstance(target, ast.Name) and _makes_list(statement.value):
            made[target.id] = made.get(target.id, 0) + 1
    bound: dict[str, int] = {}
    for each in bindings(function.body):
        name = each.id if isinstance(each, ast.Name) else each.name
        bound[name] = bound.get(name, 0) + 1
    inputs = {each.arg for each in parameters(function)}
    found = {
        name
        for name, count in made.items()
        if bound[name] == count and name not in inputs and name not in scope.captured
    }
    if not found:
        return found
    nodes = list(walk(function))
    kept = {id(name) for name in _harmless_uses(nodes, checked) if name.id in found}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in kept:
            found.discard(node.id)
        elif isinstance(node, ast.comprehension):  # its own name hides the list's
            found -= {name.id for name in target_names(node.target)}
    return found


def _makes_list(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return isinstance(value.left, ast.List) or isinstance(value.right, ast.List)
    return isinstance(value, ast.List | ast.ListComp)


def _all_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.For | ast.If):
            yield from _all_statements(statement.body)
            yield from _all_statements(statement.orelse)


def _harmless_uses(nodes: list[ast.AST], checked: Checked) -> Iterator[ast.Name]:
    """Where a list is read, filled or handed to someone who keeps no hold of it."""
    for node in nodes:
        found: list[ast.expr | None] = []
        if isinstance(node, ast.Subscript):
            found = [node.value]
        elif isinstance(node, ast.For | ast.comprehension):
            found = [node.iter]
        elif isinstance(node, ast.If | ast.IfExp):
            found = [node.test]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found = [node.operand]
        elif isinstance(node, ast.Compare):
            found = [node.left, *node.comparators]
        elif isinstance(node, ast.Return):
            found = [*node.value.elts] if isinstance(node.value, ast.Tuple) else [node.value]
        elif isinstance(node, ast.Call):
            found = _harmless_arguments(node, checked)
        for each in found:
            if isinstance(each, ast.Name):
                yield each


def _harmless_arguments(node: ast.Call, checked: Checked) -> list[ast.expr | None]:
    func = node.func
    given: list[ast.expr | None] = [*node.args, *(each.value for each in node.keywords)]
    if isinstance(func, ast.Name):
        harmless = checked.bindings.get(func) == BUILTIN and func.id in _READERS
        return given if harmless else []
    if isinstance(func, ast.Attribute):
        if isinstance(func.value, ast.Name) and checked.bindings.get(func.value) == NAMESPACE:
            return given
        if func.attr in ("append", "insert", "pop", "clear"):
            return [func.value]
        return [] if func.attr in _HOLDERS else [func.value, *given]
    return []
