"""The package as syntax trees: its modules, parsed once, the names they bind and what they import.

All of it is made from source texts, so that a test can plant a fault in a small house.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGE = "chartpact"
NATIVE = f"{PACKAGE}._native"  # compiled, so there is no tree of it
# Functions that import the module whose name is their first argument.
IMPORTERS = {"import_module", "__import__", "resolve_name", "run_module"}

LEAVES = ast.Name | ast.Constant | ast.expr_context  # nodes that have nothing to visit below them
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Import = ast.Import | ast.ImportFrom
# What a top-level name stands for: the full name of what was imported, or the node that binds it.
Binding = str | ast.AST


@dataclass(frozen=True)
class Module:
    name: str
    path: str  # within the package
    tree: ast.Module
    nodes: list[ast.Import | ast.ImportFrom | ast.Call]  # wherever they stand in the tree

    @cached_property
    def bindings(self) -> list[tuple[str, Binding]]:
        """The names that the module binds at its top level, in an `if`, `try` or `for` too."""
        found: list[tuple[str, Binding]] = []
        for node in nodes_of_scope(self.tree):
            if isinstance(node, Import):
                found += self.imported(node)
            else:
                found += [(name, node) for name in bound_names(node)]
        return found

    @cached_property
    def names(self) -> dict[str, Binding]:
        """The same, where an import counts for more than what is bound to its name besides."""
        return dict(sorted(self.bindings, key=lambda item: isinstance(item[1], str)))

    @cached_property
    def listed_in_all(self) -> set[str] | None:
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return {
                    part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)
                }
        return None

    def imported(self, node: Import) -> Iterator[tuple[str, str]]:
        """The names that an import binds, each with the full name of what it stands for."""
        for alias in node.names:
            if isinstance(node, ast.ImportFrom):
                yield alias.asname or alias.name, f"{self._source(node)}.{alias.name}"
            elif alias.asname:
                yield alias.asname, alias.name
            else:
                root = alias.name.split(".")[0]
                yield root, root

    def _source(self, node: ast.ImportFrom) -> str:
        """The module that `from … import` names, its dots resolved."""
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        parts = parts[: len(parts) + self.path.endswith("__init__.py") - node.level]
        return ".".join([*parts, node.module] if node.module else parts)

    def imported_by_call(self, node: ast.AST) -> list[str | None]:
        """The module that `import_module("chartpact.x")` names; None is a computed name."""
        if not isinstance(node, ast.Call) or called_name(node) not in self._importers:
            return []
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        first, *others = [_literal(argument) for argument in arguments] or [None]
        if first and first.startswith("."):
            return [others[0] + first if others and others[0] else None]
        return [first.partition(":")[0] if first else None]

    @cached_property
    def _importers(self) -> set[str]:
        imports = [node for node in self.nodes if isinstance(node, ast.ImportFrom)]
        names = [alias for node in imports for alias in node.names if alias.name in IMPORTERS]
        return IMPORTERS | {alias.asname for alias in names if alias.asname}


class House:
    """The modules of the package, made of source texts by their paths within it."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.modules: dict[str, Module] = {}
        for path, source in sources.items():
            parts = Path(path).with_suffix("").parts
            name = ".".join((PACKAGE, *(parts[:-1] if parts[-1] == "__init__" else parts)))
            tree = ast.parse(source)
            nodes = [node for node in ast.walk(tree) if isinstance(node, Import | ast.Call)]
            self.modules[name] = Module(name, path, tree, nodes)

    @cached_property
    def public(self) -> dict[str, str]:
        """The names that the root package imports when they are first used, and their modules."""
        for node in self.modules[PACKAGE].tree.body:
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "_PUBLIC":
                table = ast.literal_eval(node.value)
                return {name: module for name, (module, _) in table.items()}
        raise AssertionError("the root package has no table _PUBLIC")

    @cached_property
    def imports(self) -> dict[str, list[tuple[int, str]]]:
        """Of each module the modules of the package that it imports, and the lines of the imports.

        A name of the root package counts as the module that it comes from. The root itself is
        given where the import opens a way to all of them.
        """
        return {name: [*self._imports(module)] for name, module in self.modules.items()}

    def _imports(self, module: Module) -> Iterator[tuple[int, str]]:
        for node in module.nodes:
            if isinstance(node, Import):
                named = [name for _, name in module.imported(node)]
                if isinstance(node, ast.Import):  # `import chartpact.ta` also binds the root
                    named += [alias.name for alias in node.names]
            else:
                named = [name for name in module.imported_by_call(node) if name]
            for name in dict.fromkeys(named):
                if name.split(".")[0] == PACKAGE:
                    yield node.lineno, self._module_of(name)

    def _module_of(self, name: str) -> str:
        """The module that a full name is, or the one that defines it."""
        if name in self.modules or name == NATIVE:
            return name
        package, _, last = name.rpartition(".")
        return self.public.get(last, PACKAGE) if package == PACKAGE else package

    def hidden_modules(self, package: Module) -> list[str]:
        """The submodules whose names a package gives to something else."""
        names = [*self._all_bindings(package)]
        if package.name == PACKAGE:
            names += self.public.items()
        return [
            submodule
            for name, binding in names
            if (submodule := f"{package.name}.{name}") in self.modules and binding != submodule
        ]

    def _all_bindings(self, module: Module) -> Iterator[tuple[str, Binding]]:
        """The names that a module binds, those of `from … import *` included."""
        for name, binding in module.bindings:
            source = self.modules.get(str(binding).removesuffix(".*")) if name == "*" else None
            if source is None:
                yield name, binding
            else:
                public = source.listed_in_all
                bindings = self._all_bindings(source)
                yield from (item for item in bindings if public is None or item[0] in public)

    def find(self, full_name: str) -> tuple[Module, Binding] | None:
        """The module that binds a full name of the package, imports followed to their source."""
        package, _, name = full_name.rpartition(".")
        module = self.modules.get(package)
        binding = module.names.get(name) if module else None
        if module is None or binding is None or full_name in self.modules:
            return None
        return self.find(binding) if isinstance(binding, str) else (module, binding)


def read_house(folder: Path) -> House:
    paths = sorted(folder.rglob("*.py"))
    return House({path.relative_to(folder).as_posix(): path.read_text() for path in paths})


def nodes_of_scope(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module, function or class, without the insides of those defined in it."""
    body = scope.body
    waiting = body[::-1] if isinstance(body, list) else [body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, LEAVES | Function | ast.ClassDef):
            waiting.extend(reversed([*ast.iter_child_nodes(node)]))


def bound_names(node: ast.AST) -> list[str]:
    """The names that a node binds in its own scope, imports apart."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return [name]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return [name]
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return [name]
    return []


def called_name(node: ast.Call) -> str:
    """The last name of what is called: `import_module` of `importlib.import_module(…)`."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _literal(node: ast.expr) -> str | None:
    """A literal text; of an f-string, what stands before its first value."""
    if isinstance(node, ast.JoinedStr) and node.values:
        text = _literal(node.values[0])
        return text.rstrip(".") if text else None
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None
