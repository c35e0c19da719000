"""Which names each function binds: Starlark's scopes, which are Python's."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.DictComp


@dataclass
class Scope:
    """The names bound in one function, lambda or comprehension; `None` above is the module."""

    names: set[str]
    above: "Scope | None" = None
    function: Function | None = None
    captured: set[str] = field(default_factory=set)  # names that inner functions read

    def find(self, name: str) -> "Scope | None":
        """The scope that binds the name, from here outwards."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.above
        return scope


def parameters(function: Function) -> list[ast.arg]:
    """Every parameter, in order."""
    args = function.args
    extra = [each for each in (args.vararg, args.kwarg) if each is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *extra]


def bound_names(statements: list[ast.stmt]) -> Iterator[ast.Name | ast.FunctionDef]:
    """What the statements bind in their own function, in order; inner functions keep theirs."""
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
            yield from bound_names(statement.body)
        elif isinstance(statement, ast.If):
            yield from bound_names(statement.body)
            yield from bound_names(statement.orelse)


def target_names(target: ast.expr) -> Iterator[ast.Name]:
    """The names an assignment to the target binds."""
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, ast.Tuple | ast.List):
        for each in target.elts:
            yield from target_names(each)


def names_of(function: Function) -> set[str]:
    """Every name that is local to the function."""
    names = {each.arg for each in parameters(function)}
    if isinstance(function, ast.FunctionDef):
        for each in bound_names(function.body):
            names.add(each.id if isinstance(each, ast.Name) else each.name)
    return names
