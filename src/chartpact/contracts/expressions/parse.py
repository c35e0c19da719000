"""The syntax tree of an expression, within the caps on its size."""

import ast

from chartpact.contracts.model import MAX_EXPRESSION
from chartpact.syntax import SourceError, guarded_parse

MAX_NODES = 200
MAX_NESTING = 40


def parse(text: str) -> tuple[ast.expr, int]:
    """The syntax tree of an expression and its number of nodes."""
    tree = guarded_parse(
        f"({text}\n)",  # brackets let an expression run over lines
        "eval",
        max_chars=MAX_EXPRESSION + 3,
        max_nesting=MAX_NESTING,
        max_depth=MAX_NODES,
        prefixes=("", "r"),
    ).body
    nodes = sum(isinstance(node, ast.expr | ast.comprehension) for node in ast.walk(tree))
    if nodes > MAX_NODES:
        raise SourceError(
            "size", f"{nodes} nodes are too many", hint=f"at most {MAX_NODES}: name parts in reads"
        )
    return tree, nodes
