"""A Pine script after lowering: typed expressions and flat statements, functions written out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

SCALARS = frozenset("int float bool string color na".split())
NUMBERS = frozenset("int float na".split())
DRAWN = frozenset("label line box table polyline linefill".split())


@dataclass(eq=False)
class Var:
    """A variable of the script under a name of its own."""

    name: str
    kind: str
    mode: str = ""  # "var" keeps its value from bar to bar
    simple: bool = False  # known before the bars
    top: bool = True  # declared outside of every block
    line: int = 0
    maybe_na: bool = True


@dataclass(eq=False)
class TypedValue:
    """A typed expression. `op` says what it is, `data` what is particular to it."""

    op: str
    kind: str
    args: list[TypedValue] = field(default_factory=list)
    data: Any = None
    simple: bool = False
    const: bool = False
    line: int = 0
    column: int = 0

    def walk(self) -> Iterator[TypedValue]:
        yield self
        for arg in self.args:
            yield from arg.walk()


@dataclass(eq=False)
class FlatStep:
    """A statement."""

    line: int = field(default=0, kw_only=True)

    def values(self) -> list[TypedValue]:
        return []

    def blocks(self) -> list[list[FlatStep]]:
        return []

    def walk(self) -> Iterator[FlatStep]:
        yield self
        for block in self.blocks():
            for step in block:
                yield from step.walk()


@dataclass(eq=False)
class Set(FlatStep):
    var: Var
    value: TypedValue
    first: bool = False  # this is the declaration

    def values(self) -> list[TypedValue]:
        return [self.value]


@dataclass(eq=False)
class Unpack(FlatStep):
    targets: list[Var]
    value: TypedValue

    def values(self) -> list[TypedValue]:
        return [self.value]


@dataclass(eq=False)
class SetField(FlatStep):
    target: TypedValue
    field: str
    value: TypedValue

    def values(self) -> list[TypedValue]:
        return [self.target, self.value]


@dataclass(eq=False)
class Effect(FlatStep):
    value: TypedValue

    def values(self) -> list[TypedValue]:
        return [self.value]


@dataclass(eq=False)
class IfStep(FlatStep):
    test: TypedValue
    body: list[FlatStep]
    orelse: list[FlatStep]

    def values(self) -> list[TypedValue]:
        return [self.test]

    def blocks(self) -> list[list[FlatStep]]:
        return [self.body, self.orelse]


@dataclass(eq=False)
class ForStep(FlatStep):
    var: Var
    start: TypedValue
    stop: TypedValue
    by: TypedValue | None
    body: list[FlatStep]

    def values(self) -> list[TypedValue]:
        return [self.start, self.stop, *([self.by] if self.by else [])]

    def blocks(self) -> list[list[FlatStep]]:
        return [self.body]


@dataclass(eq=False)
class EachStep(FlatStep):
    index: Var | None
    var: Var
    items: TypedValue
    body: list[FlatStep]

    def values(self) -> list[TypedValue]:
        return [self.items]

    def blocks(self) -> list[list[FlatStep]]:
        return [self.body]


@dataclass(eq=False)
class WhileStep(FlatStep):
    test: TypedValue
    body: list[FlatStep]

    def values(self) -> list[TypedValue]:
        return [self.test]

    def blocks(self) -> list[list[FlatStep]]:
        return [self.body]


@dataclass(eq=False)
class JumpStep(FlatStep):
    word: str


@dataclass(eq=False)
class Output(FlatStep):
    """A plot, a fill, a colour of bars or of the background."""

    name: str
    options: dict[str, TypedValue]

    def values(self) -> list[TypedValue]:
        return list(self.options.values())


@dataclass
class FlatProgram:
    title: str
    meta: dict[str, Any]
    params: list[dict[str, Any]]
    steps: list[FlatStep]


def element(kind: str) -> str:
    """The kind of what an array, a matrix or a map holds."""
    inner = kind[kind.index("<") + 1 : -1] if "<" in kind else "na"
    return inner.rsplit(",", 1)[-1] if kind.startswith("map") else inner


def unify(a: str, b: str) -> str:
    """The kind of a value that is one or the other."""
    if b in (a, "na"):
        return a
    if a == "na":
        return b
    if {a, b} <= {"int", "float", "bool"}:
        return "float"
    if a.startswith("array<") and b.startswith("array<"):
        return a if element(b) == "na" else b
    return a if b == "void" else b if a == "void" else a
