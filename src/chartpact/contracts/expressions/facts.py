"""Facts: the dotted paths that are known to be there at some place of an expression."""

import ast

Facts = frozenset[str]
NO_FACTS: Facts = frozenset()


def fact(node: ast.expr) -> Facts:
    """What is known once this expression is not none."""
    return _prefixes(ast.unparse(node)) if isinstance(node, ast.Name | ast.Attribute) else NO_FACTS


def _prefixes(path: str) -> Facts:
    """A path that is there, and with it everything it hangs on."""
    names = path.split(".")
    return frozenset(".".join(names[: i + 1]) for i in range(len(names)))
