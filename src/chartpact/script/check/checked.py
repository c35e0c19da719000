"""A module that passed the check, and what its names stand for: what the compiler works from."""

import ast
from dataclasses import dataclass, field

from chartpact.problem import Problem
from chartpact.script.check.scopes import Scope

# What a name stands for where it is read.
LOCAL, GLOBAL, FUNCTION, BUILTIN, NAMESPACE = "local global function builtin namespace".split()


@dataclass
class Checked:
    """A syntax tree and its resolved names."""

    tree: ast.Module
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)  # callees before callers
    globals: set[str] = field(default_factory=set)
    bindings: dict[ast.Name, str] = field(default_factory=dict)
    scopes: dict[ast.AST, Scope] = field(default_factory=dict)
    called: set[ast.Name] = field(default_factory=set)  # the names before the brackets of calls
    uses: dict[str, set[str]] = field(default_factory=dict)  # by function; "" is the module
    warnings: tuple[Problem, ...] = ()

    def reachable(self) -> set[str]:
        """The functions that a run can reach from the module's own lines and compute."""
        names: set[str] = set()
        pending = ["", "compute"]
        while pending:
            name = pending.pop()
            used = self.uses.get(name, set())
            pending += used - names
            names |= used | {name}
        return names

    def is_builtin(self, node: ast.expr, *names: str) -> bool:
        """Whether the node is the name of a builtin function, of these if any are given."""
        if not isinstance(node, ast.Name) or self.bindings.get(node) != BUILTIN:
            return False
        return not names or node.id in names

    def namespaced(self, node: ast.expr) -> str | None:
        """The host function that an attribute names, such as "ta.ema"."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        is_namespace = self.bindings.get(node.value) == NAMESPACE
        return f"{node.value.id}.{node.attr}" if is_namespace else None
