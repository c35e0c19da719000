"""What checking one expression gathers, and how a fault in it is told."""

import ast
from abc import ABC, abstractmethod

from chartpact.contracts.expressions.compiled import Compiled, Reference, Vocabulary
from chartpact.contracts.expressions.facts import Facts
from chartpact.contracts.scope import Need, Scope, Value
from chartpact.syntax import Places, SourceError


class Check(ABC):
    """One expression while it is checked: where names are looked up, and what was used so far."""

    def __init__(self, text: str, scope: Scope, vocabulary: Vocabulary) -> None:
        self.scope, self.vocabulary = scope, vocabulary
        self._places = Places(f"({text}\n)")
        self.needs: set[Need] = set()
        self.elements: set[str] = set()
        self.free: set[str] = set()
        self.config: set[str] = set()
        self.encodings: set[tuple[str, str]] = set()
        self.patterns: set[str] = set()
        self.references: dict[str, Reference] = {}
        self.unstable = False
        self._temporaries = 0
        self.in_list = False

    def compiled(self, text: str, tree: ast.expr, value: Value, nodes: int) -> Compiled:
        return Compiled(
            text,
            tree,
            value,
            frozenset(self.needs),
            frozenset(self.elements),
            frozenset(self.free),
            frozenset(self.config),
            frozenset(self.encodings),
            frozenset(self.patterns),
            self.references,
            self.unstable,
            nodes,
        )

    def fail(self, node: ast.AST, message: str, hint: str = "", kind: str = "type") -> SourceError:
        line, column = self._places.of(node)
        if line == 1 and column is not None:
            column = max(column - 1, 1)  # the bracket that was put in front
        return SourceError(kind, message, line, column, hint)

    def there(self, node: ast.expr, value: Value) -> str:
        """The code of a value that must not be none here."""
        if not value.kind.nullable:
            return value.code
        told = quoted(node)
        if value.kind.loose:
            return f"({value.code} if {value.code} is not None else unknown({told!a}))"
        raise self.fail(node, f"{told} may be none here", f"ask first: {told} != none and …")

    def finite(self, code: str) -> str:
        name = self._temporary()
        return f"({name} if -1e999 < ({name} := {code}) < 1e999 else endless())"

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"t{self._temporaries}"

    @abstractmethod
    def value(self, node: ast.expr, facts: Facts) -> Value:
        """The kind of an expression and its code."""

    @abstractmethod
    def condition(self, node: ast.expr, facts: Facts) -> tuple[str, Facts, Facts]:
        """The code of a condition, and what is known to be there when it holds and when not."""


def quoted(node: ast.expr) -> str:
    """An expression as a message quotes it."""
    return ast.unparse(node)[:60]
