"""Finds the state that modules keep: what is changed after the import and stays for the next call.

`changes` looks for code that changes what stands in a module: its names, the attributes of its
classes, and what it imports from other modules. `holders` looks for objects that are made to be
changed. `misplaced_memos` looks for memos of anything but a function.

A value is followed through local names and classes, but not through the arguments and results of
functions, and not into closures. Ruff refuses mutable defaults.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tests.repository.house import (
    LEAVES,
    Function,
    House,
    Module,
    bound_names,
    called_name,
    nodes_of_scope,
)

Finding = tuple[int, str]  # a line, and what it holds or changes

# Methods that change their object.
CHANGING = {
    *("append", "appendleft", "extend", "extendleft", "insert", "add", "update", "setdefault"),
    *("pop", "popleft", "popitem", "remove", "discard", "clear", "sort", "reverse", "rotate"),
    *("difference_update", "intersection_update", "symmetric_difference_update", "subtract"),
    *("move_to_end", "register", "__setitem__", "__delitem__"),
}
# Functions that change their first argument.
CHANGING_FIRST = {
    *("setattr", "delattr", "__setattr__", "__delattr__", "setitem", "delitem", "next"),
    *("heappush", "heappop", "heappushpop", "heapreplace", "heapify", "shuffle"),
    *("insort", "insort_left", "insort_right"),
}
GETTERS = {"get", "values", "items", "__getitem__"}  # methods that give a part of their object
MUTABLE_TYPES = {
    *("dict", "list", "set", "bytearray", "deque", "defaultdict", "OrderedDict", "Counter"),
}
MUTABLE_DISPLAYS = ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp
# Types of the standard library that exist to be changed.
HOLDERS = {
    *("contextvars.ContextVar", "threading.local", "itertools.count", "itertools.cycle"),
    *("queue.Queue", "queue.SimpleQueue", "queue.LifoQueue", "queue.PriorityQueue"),
    *("asyncio.Queue", "weakref.WeakKeyDictionary", "weakref.WeakValueDictionary"),
}
MEMOS = {"functools.cache", "functools.lru_cache"}
# Methods that run before anybody else has the object.
MAKERS = {"__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__"}


@dataclass(frozen=True)
class Standing:
    """Something that stands in a module."""

    name: str
    elsewhere: bool = False  # in another module
    is_namespace: bool = False  # a module, class or function: `.update()` is what it defines


@dataclass(frozen=True)
class Instance:
    """The `self` of a method, and the mutable attributes that it shares with its class."""

    shared: frozenset[str]


Scope = dict[str, Standing | Instance | None]  # None: a local value


def changes(house: House, module: Module) -> list[Finding]:
    """Where code that runs after the import changes what stands in a module.

    What another module holds is not changed during the import either.
    """
    walk = _Walk(house, module)
    for node in module.tree.body:
        walk.visit(node)
    return walk.found


class _Walk:
    """Goes through a module with the scopes of the functions around the current node."""

    def __init__(self, house: House, module: Module) -> None:
        self.house = house
        self.module = module
        self.found: list[Finding] = []
        top = {name: self._of_binding(name, binding) for name, binding in module.names.items()}
        self.scopes: list[Scope] = [top]

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, LEAVES):
            return
        if isinstance(node, Function):
            self._visit_function(node)
        elif isinstance(node, ast.ClassDef):
            self._visit_class(node)
        else:
            self._judge(node)
            for child in ast.iter_child_nodes(node):
                self.visit(child)

    def _visit_class(self, node: ast.ClassDef) -> None:
        shared = frozenset(_shared_attributes(self.house, self.module, node))
        for decorator in node.decorator_list:
            self.visit(decorator)
        for child in node.body:
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                self._visit_function(child, _first_argument(child, node, shared))
            else:
                self.visit(child)

    def _visit_function(self, node: Function, first: Scope | None = None) -> None:
        for expression in (*getattr(node, "decorator_list", ()), *_defaults(node)):
            self.visit(expression)
        self.scopes.append({})
        self._fill_scope(node, first or {})
        for child in node.body if isinstance(node.body, list) else [node.body]:
            self.visit(child)
        self.scopes.pop()

    def _fill_scope(self, function: Function, first: Scope) -> None:
        """The local names of a function, of which some lead to what stands in a module."""
        scope = self.scopes[-1]
        scope.update(dict.fromkeys(_arguments(function)), **first)
        times: Counter[str] = Counter()  # that a name is bound; twice, and it is no alias
        aliases: list[tuple[str, ast.expr]] = []
        imported: Scope = {}
        outer: set[str] = set()
        for node in nodes_of_scope(function):
            for name in bound_names(node):
                times[name] += 1
            aliases += _assigned(node)
            match node:
                case ast.Import() | ast.ImportFrom():
                    names = self.module.imported(node)
                    imported |= {name: self._of_import(full) for name, full in names}
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    outer.update(names)
        scope.update(dict.fromkeys(set(times) - outer - set(first)), **imported)
        for name, value in aliases:
            if times[name] == 1 and scope.get(name, value) is None:
                scope[name] = self._standing(value)

    def _of_binding(self, name: str, binding: str | ast.AST) -> Standing | None:
        if isinstance(binding, str):
            return self._of_import(binding)
        return Standing(name, is_namespace=isinstance(binding, Function | ast.ClassDef))

    def _of_import(self, full_name: str) -> Standing | None:
        if full_name in self.house.modules:
            return Standing(full_name, elsewhere=True, is_namespace=True)
        if not (found := self.house.find(full_name)):
            return None
        is_namespace = isinstance(found[1], Function | ast.ClassDef)
        return Standing(full_name, elsewhere=True, is_namespace=is_namespace)

    def _look_up(self, name: str) -> Standing | Instance | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def _standing(self, node: ast.AST) -> Standing | None:
        """What an expression leads to, where that stands in a module."""
        match node:
            case ast.Name(id=name):
                found = self._look_up(name)
                return found if isinstance(found, Standing) else None
            case ast.NamedExpr(value=value):
                return self._standing(value)
            case ast.Attribute():
                return self._standing_attribute(node)
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id="sys"), attr="modules")):
                return Standing(ast.unparse(node), is_namespace=True)
            case ast.Subscript(value=inner):
                whole = self._standing(inner)
                return whole and Standing(whole.name, whole.elsewhere)
            case ast.Call():
                return self._standing_result(node)
        return None

    def _standing_attribute(self, node: ast.Attribute) -> Standing | None:
        if node.attr == "__class__":
            return Standing(ast.unparse(node), is_namespace=True)
        if isinstance(node.value, ast.Name):
            instance = self._look_up(node.value.id)
            if isinstance(instance, Instance):
                return Standing(ast.unparse(node)) if node.attr in instance.shared else None
        whole = self._standing(node.value)
        if whole and whole.name in self.house.modules:
            return self._of_import(f"{whole.name}.{node.attr}")
        return whole and Standing(f"{whole.name}.{node.attr}", whole.elsewhere)

    def _standing_result(self, node: ast.Call) -> Standing | None:
        """What a call gives, if it gives more than a value of its own."""
        match node:
            case ast.Call(func=ast.Name(id="globals")):
                return Standing("globals()")
            case ast.Call(func=ast.Name(id="type"), args=[_]):
                return Standing(ast.unparse(node), is_namespace=True)
            case ast.Call(func=ast.Name(id="vars"), args=[inner]):
                return self._standing(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in GETTERS:
                whole = self._standing(inner)
                return whole if whole and not whole.is_namespace else None
        if imported := self.module.imported_by_call(node):
            return self._of_import(imported[0] or "")
        called = self._standing(node.func)
        is_memo = called and self._is_memoised(called)
        return Standing(f"{called.name}()", called.elsewhere) if is_memo else None

    def _is_memoised(self, called: Standing) -> bool:
        name = called.name if called.elsewhere else f"{self.module.name}.{called.name}"
        found = self.house.find(name)
        return bool(found) and any(
            _is_memo(found[0], decorator) for decorator in getattr(found[1], "decorator_list", ())
        )

    def _judge(self, node: ast.AST) -> None:
        if isinstance(node, ast.Global):
            self._report(node, Standing(", ".join(node.names)))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            changed = self._standing(node.target)
            if changed and changed.elsewhere:
                self._report(node, changed)
        elif expression := _changed_by(node):
            changed = self._standing(expression)
            calls_method = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
            if changed and not (calls_method and changed.is_namespace):
                self._report(node, changed)

    def _report(self, node: ast.AST, changed: Standing | None) -> None:
        runs_later = len(self.scopes) > 1
        if changed and (runs_later or changed.elsewhere):
            self.found.append((node.lineno, changed.name))


def _changed_by(node: ast.AST) -> ast.expr | None:
    """The expression whose value a node changes: `x` of `x[0] = 1`, `x.append` and `next(x)`."""
    if isinstance(node, ast.Attribute | ast.Subscript):
        is_method = isinstance(node, ast.Attribute) and node.attr in CHANGING
        return node.value if is_method or not isinstance(node.ctx, ast.Load) else None
    if isinstance(node, ast.Call) and node.args:
        function = node.func
        is_of_type = isinstance(function, ast.Attribute) and (
            function.attr in CHANGING and ast.unparse(function.value) in MUTABLE_TYPES
        )
        return node.args[0] if is_of_type or called_name(node) in CHANGING_FIRST else None
    return None


def _arguments(function: Function) -> list[str]:
    takes = function.args
    starred = [argument for argument in (takes.vararg, takes.kwarg) if argument]
    return [own.arg for own in (*takes.posonlyargs, *takes.args, *takes.kwonlyargs, *starred)]


def _defaults(function: Function) -> list[ast.expr]:
    takes = function.args
    return [*takes.defaults, *(default for default in takes.kw_defaults if default)]


def _first_argument(
    method: ast.FunctionDef | ast.AsyncFunctionDef, owner: ast.ClassDef, shared: frozenset[str]
) -> Scope:
    decorators = {ast.unparse(decorator) for decorator in method.decorator_list}
    names = _arguments(method)
    if not names or "staticmethod" in decorators or method.name == "__init_subclass__":
        return {}
    if "classmethod" in decorators or method.name == "__new__":
        return {names[0]: Standing(owner.name, is_namespace=True)}
    return {names[0]: Instance(shared)}


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement assigns, each with the value that it is or is a part of."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(target, value)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
            | ast.For(target=target, iter=value)
        ):
            yield from _unpacked(target, value)


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        is_row = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
        values = value.elts if is_row else [value] * len(target.elts)
        for part, own in zip(target.elts, values, strict=True):
            yield from _unpacked(part, own)


def _shared_attributes(house: House, module: Module, node: ast.ClassDef) -> set[str]:
    """The mutable values of a class and its bases that no method replaces by an object's own."""
    shared = set()
    for base in node.bases:
        found = house.find(_full_name(module, base) or "")
        if found and isinstance(found[1], ast.ClassDef):
            shared |= _shared_attributes(house, found[0], found[1])
    for child in node.body:
        for name, value in _assigned(child):
            is_made = isinstance(value, ast.Call) and called_name(value) in MUTABLE_TYPES
            if is_made or isinstance(value, MUTABLE_DISPLAYS):
                shared.add(name)
    return shared - {part.attr for part in ast.walk(node) if _is_stored_attribute(part)}


def _is_stored_attribute(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


def holders(house: House, module: Module) -> Iterator[Finding]:
    """The types of those objects in a module, or in its classes, that are made to be changed."""
    for node in _nodes_of_import(module.tree):
        if isinstance(node, ast.Call):
            name = _full_name(module, node.func)
            if name in HOLDERS or (name and _changes_itself(house, name)):
                yield node.lineno, name


def misplaced_memos(house: House, module: Module) -> Iterator[Finding]:
    """Memos of classes, and of methods, where they keep each object that they were called with."""
    for node in _nodes_of_import(module.tree):
        if isinstance(node, ast.ClassDef):
            methods = [child for child in node.body if isinstance(child, Function)]
            for owner in (node, *methods):
                if any(_is_memo(module, decorator) for decorator in owner.decorator_list):
                    yield owner.lineno, owner.name
        elif memoised := _memoised(module, node):
            found = house.find(_full_name(module, memoised) or "")
            if not isinstance(found[1] if found else memoised, Function):
                yield node.lineno, ast.unparse(memoised)


def _memoised(module: Module, node: ast.AST) -> ast.expr | None:
    """What `cache(walk)` or `lru_cache(64)(walk)` calls."""
    if not isinstance(node, ast.Call) or not node.args or not _is_memo(module, node.func):
        return None
    is_size = not isinstance(node.func, ast.Call) and called_name(node) == "lru_cache"
    return None if is_size else node.args[0]


def _is_memo(module: Module, node: ast.expr) -> bool:
    """Whether this is `cache`, or `lru_cache(64)`."""
    return _full_name(module, node.func if isinstance(node, ast.Call) else node) in MEMOS


def _nodes_of_import(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of the code that runs while a module is imported."""
    for node in nodes_of_scope(scope):
        yield node
        if isinstance(node, ast.ClassDef):
            yield from _nodes_of_import(node)


def _full_name(module: Module, node: ast.expr) -> str | None:
    match node:
        case ast.Name(id=name):
            binding = module.names.get(name)
            return binding if isinstance(binding, str) else f"{module.name}.{name}"
        case ast.Attribute(value=value, attr=attribute):
            return f"{_full_name(module, value)}.{attribute}"
        case ast.Subscript(value=value):
            return _full_name(module, value)
    return None


def _changes_itself(house: House, name: str) -> bool:
    """Whether a class of the package has, or inherits, a method that changes its object."""
    found = house.find(name)
    if not found or not isinstance(found[1], ast.ClassDef):
        return False
    module, node = found
    methods = [child for child in node.body if isinstance(child, Function)]
    return any(
        method.name not in MAKERS and _changes_first_argument(method) for method in methods
    ) or any(_changes_itself(house, _full_name(module, base) or "") for base in node.bases)


def _changes_first_argument(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = _arguments(method)[:1]
    for node in ast.walk(method):
        changed = _changed_by(node)
        while isinstance(changed, ast.Attribute | ast.Subscript):
            changed = changed.value
        if isinstance(changed, ast.Name) and [changed.id] == names:
            return True
    return False
