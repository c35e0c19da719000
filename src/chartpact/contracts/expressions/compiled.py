"""What a compiled expression is: its kind, its code, and everything it depends on."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from chartpact.contracts.kinds import Kind
from chartpact.contracts.scope import Needs, Value


@dataclass
class Vocabulary:
    """What all expressions of a contract may call and mention."""

    encodings: Mapping[str, Mapping[str, list[object]]] = field(default_factory=dict)
    config: Mapping[str, Kind] = field(default_factory=dict)


@dataclass(frozen=True)
class Reference:
    """A name that an expression mentions: of which element (None: its own), and what it needs."""

    element: str | None
    name: str
    needs: Needs


@dataclass
class Compiled:
    """An expression with its kind, its code, and everything it depends on."""

    text: str
    tree: ast.expr
    value: Value
    needs: Needs
    elements: frozenset[str]  # elements and machines that it refers to
    free: frozenset[str]  # variables that a function with this code must fetch first
    config: frozenset[str]
    encodings: frozenset[tuple[str, str]]  # (table, kind of what it is called on)
    patterns: frozenset[str]
    references: Mapping[str, Reference]  # by dotted path
    unstable: bool  # depends on the order of anchors or on bar numbers, which shift
    nodes: int

    @property
    def kind(self) -> Kind:
        return self.value.kind

    @property
    def code(self) -> str:
        return self.value.code
