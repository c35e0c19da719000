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
class Value:
    """A typed expression. `op` says what it is, `data` what is particular to it."""

    op: str
    kind: str
    args: list[Value] = field(default_factory=list)
    data: Any = None
    simple: bool = False
    const: bool = False
    line: int = 0
    column: int = 0

    def walk(self) -> Iterator[Value]:
        yield self
        for arg in self.args:
            yield from arg.walk()


@dataclass(eq=False)
class Step:
    """A statement."""

    line: int = field(default=0, kw_only=True)

    def values(self) -> list[Value]:
        return []

    def blocks(self) -> list[list[Step]]:
        return []

    def walk(self) -> Iterator[Step]:
        yield self
        for block in self.blocks():
            for step in block:
                yield from step.walk()


@dataclass(eq=False)
class Set(Step):
    var: Var
    value: Value
    first: bool = False  # this is the declaration

    def values(self) -> list[Value]:
        return [self.value]


@dataclass(eq=False)
class Unpack(Step):
    targets: list[Var]
    value: Value

    def values(self) -> list[Value]:
        return [self.value]


@dataclass(eq=False)
class SetField(Step):
    target: Value
    field: str
    value: Value

    def values(self) -> list[Value]:
        return [self.target, self.value]


@dataclass(eq=False)
class Effect(Step):
    value: Value

    def values(self) -> list[Value]:
        return [self.value]


@dataclass(eq=False)
class IfStep(Step):
    test: Value
    body: list[Step]
    orelse: list[Step]

    def values(self) -> list[Value]:
        return [self.test]

    def blocks(self) -> list[list[Step]]:
        return [self.body, self.orelse]


@dataclass(eq=False)
class ForStep(Step):
    var: Var
    start: Value
    stop: Value
    by: Value | None
    body: list[Step]

    def values(self) -> list[Value]:
        return [self.start, self.stop, *([self.by] if self.by else [])]

    def blocks(self) -> list[list[Step]]:
        return [self.body]


@dataclass(eq=False)
class EachStep(Step):
    index: Var | None
    var: Var
    items: Value
    body: list[Step]

    def values(self) -> list[Value]:
        return [self.items]

    def blocks(self) -> list[list[Step]]:
        return [self.body]


@dataclass(eq=False)
class WhileStep(Step):
    test: Value
    body: list[Step]

    def values(self) -> list[Value]:
        return [self.test]

    def blocks(self) -> list[list[Step]]:
        return [self.body]


@dataclass(eq=False)
class JumpStep(Step):
    word: str


@dataclass(eq=False)
class Output(Step):
    """A plot, a fill, a colour of bars or of the background."""

    name: str
    options: dict[str, Value]

    def values(self) -> list[Value]:
        return list(self.options.values())


@dataclass
class Program:
    title: str
    meta: dict[str, Any]
    params: list[dict[str, Any]]
    steps: list[Step]


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
