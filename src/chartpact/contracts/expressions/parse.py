"""From text to Python's syntax tree, and what every part of the checker shares."""

import ast
from abc import ABC, abstractmethod

from chartpact.contracts.expressions.nodes import Known, Node
from chartpact.contracts.expressions.values import Facts, Scope, Vocabulary
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
    ).body
    size = sum(isinstance(node, ast.expr | ast.comprehension) for node in ast.walk(tree))
    if size > MAX_NODES:
        raise SourceError(
            "size", f"{size} nodes are too many", hint=f"at most {MAX_NODES}: name parts in reads"
        )
    return tree, size


def fault(message: str, hint: str = "", kind: str = "type") -> SourceError:
    """What is wrong with an expression."""
    return SourceError(kind, message, hint=hint)


def quoted(tree: ast.expr) -> str:
    """An expression as a message quotes it."""
    return ast.unparse(tree)[:60]


class Check(ABC):
    """One expression while it is checked."""

    def __init__(self, scope: Scope, vocabulary: Vocabulary) -> None:
        self.scope, self.vocabulary = scope, vocabulary

    @abstractmethod
    def value(self, tree: ast.expr, facts: Facts) -> Node:
        """The node of an expression."""

    @abstractmethod
    def condition(self, tree: ast.expr, facts: Facts) -> Node:
        """The node of an expression that must be true or false."""

    def there(self, tree: ast.expr, node: Node) -> Node:
        """A node that must not be none here."""
        if not node.kind.nullable:
            return node
        shown = quoted(tree)
        if node.kind.loose:
            return Known(node.kind.there(), node, shown)
        raise fault(f"{shown} may be none here", f"ask first: {shown} != none and …")
