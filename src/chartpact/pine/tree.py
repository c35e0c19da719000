"""The parts of a Pine script: expressions, structures and statements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict


class Place(TypedDict):
    line: int
    column: int


@dataclass(eq=False)
class PineNode:
    line: int = field(default=0, kw_only=True)
    column: int = field(default=0, kw_only=True)

    @property
    def place(self) -> Place:
        return {"line": self.line, "column": self.column}

    def children(self) -> Iterator[PineNode]:
        for part in fields(self):
            yield from _nodes(getattr(self, part.name))

    def walk(self) -> Iterator[PineNode]:
        yield self
        for child in self.children():
            yield from child.walk()


def _nodes(value: Any) -> Iterator[PineNode]:
    if isinstance(value, PineNode):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _nodes(item)


class Expr(PineNode):
    pass


@dataclass(eq=False)
class Number(Expr):
    text: str

    @property
    def whole(self) -> bool:
        return not set(self.text) & set(".eE")


@dataclass(eq=False)
class Text(Expr):
    value: str


@dataclass(eq=False)
class Flag(Expr):
    value: bool


@dataclass(eq=False)
class Hue(Expr):
    """A colour that is written out: #rrggbb or #rrggbbaa."""

    value: str


@dataclass(eq=False)
class Name(Expr):
    """A name of the script, or a dotted one of Pine's own (`ta.sma`, `color.red`)."""

    name: str


@dataclass(eq=False)
class Member(Expr):
    """A field of an object of the script."""

    value: Expr
    name: str


@dataclass(eq=False)
class ArgumentNode(PineNode):
    name: str | None
    value: Expr


@dataclass(eq=False)
class CallNode(Expr):
    """A call: `target` is a name, or a member where a method is called on a value."""

    target: Expr
    arguments: list[ArgumentNode]
    types: list[str]


@dataclass(eq=False)
class History(Expr):
    """`value[offset]`: the value some bars ago."""

    value: Expr
    offset: Expr


@dataclass(eq=False)
class UnaryNode(Expr):
    op: str  # - + not
    value: Expr


@dataclass(eq=False)
class BinaryNode(Expr):
    op: str
    left: Expr
    right: Expr


@dataclass(eq=False)
class ChoiceNode(Expr):
    """`test ? yes : no`."""

    test: Expr
    yes: Expr
    no: Expr


@dataclass(eq=False)
class Group(Expr):
    """Several values: `[a, b]`."""

    items: list[Expr]


@dataclass(eq=False)
class If(Expr):
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]


@dataclass(eq=False)
class Arm(PineNode):
    test: Expr | None
    body: list[Stmt]


@dataclass(eq=False)
class Switch(Expr):
    subject: Expr | None
    arms: list[Arm]


@dataclass(eq=False)
class For(Expr):
    name: str
    start: Expr
    stop: Expr
    step: Expr | None
    body: list[Stmt]


@dataclass(eq=False)
class ForIn(Expr):
    names: list[str]
    values: Expr
    body: list[Stmt]


@dataclass(eq=False)
class While(Expr):
    test: Expr
    body: list[Stmt]


class Stmt(PineNode):
    pass


@dataclass(eq=False)
class Declare(Stmt):
    """`[var] [type] name = value`, or of several names."""

    mode: str  # "", "var" or "varip"
    kind: str  # the type as it is written, or ""
    names: list[str]
    value: Expr


@dataclass(eq=False)
class Assign(Stmt):
    """`target := value`, or with an operator."""

    target: Expr
    op: str
    value: Expr


@dataclass(eq=False)
class Do(Stmt):
    """An expression as a statement."""

    value: Expr


@dataclass(eq=False)
class Jump(Stmt):
    word: str  # break or continue


@dataclass(eq=False)
class Parameter(PineNode):
    name: str
    kind: str
    default: Expr | None


@dataclass(eq=False)
class FunctionNode(Stmt):
    name: str
    parameters: list[Parameter]
    body: list[Stmt]
    method: bool


@dataclass(eq=False)
class TypeOf(Stmt):
    """`type Name` with its fields."""

    name: str
    fields: list[Parameter]


@dataclass(eq=False)
class EnumOf(Stmt):
    name: str
    members: list[tuple[str, str]]  # name and title


@dataclass(eq=False)
class Import(Stmt):
    path: str
    alias: str


@dataclass(frozen=True)
class PineSource:
    """A parsed script."""

    body: list[Stmt]
    comments: dict[int, str]
    version: int
    lines: int
