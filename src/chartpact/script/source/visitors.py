"""Passes over a syntax tree: each has a method for every type of node it knows."""

import ast
from collections.abc import Callable
from typing import Any


def visitors(cls: type) -> dict[type[ast.AST], Callable[..., Any]]:
    """The methods of a class by the type of node they visit, named as in `ast.NodeVisitor`."""
    return {
        getattr(ast, name.removeprefix("visit_")): method
        for name, method in vars(cls).items()
        if name.startswith("visit_")
    }
