"""Which names each function binds: Starlark's scopes, which are Python's."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.DictComp


@dataclass
class Scope:
    """The names bound in one function, lambda or comprehension; above the outermost is the module.

    `captured` are the names that inner functions read.
    """

    names: set[str]
    above: "Scope | None" = None
    function: Function | None = None
    captured: set[str] = field(default_factory=set)

    def find(self, name: str) -> "Scope | None":
        """The scope that binds the name, from here outwards."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.above
        return scope

    def owner(self) -> "Scope | None":
        """The function that a comprehension stands in; a function is its own."""
        scope: Scope | None = self
        while scope is not None and scope.function is None:
            scope = scope.above
        return scope


def parameters(function: Function) -> list[ast.arg]:
    """Every parameter, in order."""
    args = function.args
    extra = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *extra]


def bindings(statements: list[ast.stmt]) -> Iterator[ast.Name | ast.FunctionDef]:
    """The nodes that bind a name in the function of these statements, in order."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef):
            yield statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                yield from target_names(target)
        elif isinstance(statement, ast.AugAssign):
            yield from target_names(statement.target)
        elif isinstance(statement, ast.For):
            yield from target_names(statement.target)
            yield from bindings(statement.body)
        elif isinstance(statement, ast.If):
            yield from bindings(statement.body)
            yield from bindings(statement.orelse)


def bound_name(node: ast.Name | ast.FunctionDef) -> str:
    return node.id if isinstance(node, ast.Name) else node.name


def bound_names(statements: list[ast.stmt]) -> Iterator[str]:
    """The names that the statements bind in their own function, in order and repeated."""
    return map(bound_name, bindings(statements))


def target_names(target: ast.expr) -> Iterator[ast.Name]:
    """The names that an assignment to the target binds."""
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from target_names(part)


def local_names(function: Function) -> set[str]:
    """Every name that is local to the function."""
    names = {arg.arg for arg in parameters(function)}
    if isinstance(function, ast.FunctionDef):
        names.update(bound_names(function.body))
    return names
