"""What compiling the parts of one contract has in common: the file, its lines, its problems."""

import ast
from dataclasses import dataclass, field

from chartpact.contracts.document import Node, Place
from chartpact.contracts.emit import Module
from chartpact.contracts.errors import Problem
from chartpact.contracts.expressions import (
    Compiled,
    Vocabulary,
    compile_condition,
    compile_expression,
)
from chartpact.contracts.kinds import UNKNOWN, Kind
from chartpact.contracts.model import ContractFile
from chartpact.contracts.scope import Scope, Value
from chartpact.syntax import SourceError


def path_of(place: Place) -> str:
    return ".".join(map(str, place))


@dataclass
class Context:
    """One contract while it is compiled; problems are collected, not raised."""

    file: ContractFile
    root: Node
    vocabulary: Vocabulary
    module: Module = field(default_factory=Module)
    problems: list[Problem] = field(default_factory=list)
    expressions: dict[str, Compiled] = field(default_factory=dict)  # by path

    def problem(self, place: Place, message: str, hint: str = "") -> None:
        self.problems.append(Problem(self.root.line_of(place), path_of(place), message, hint))

    def expression(self, text: str, place: Place, scope: Scope) -> Compiled:
        return self._compile(compile_expression, text, place, scope)

    def condition(self, text: str, place: Place, scope: Scope) -> Compiled:
        return self._compile(compile_condition, text, place, scope)

    def _compile(self, how: object, text: str, place: Place, scope: Scope) -> Compiled:
        try:
            compiled: Compiled = how(text, scope, self.vocabulary)  # type: ignore[operator]
        except SourceError as error:
            self.problem(place, error.message, error.hint)
            return nothing(text)
        self.expressions[path_of(place)] = compiled
        return compiled

    def want(self, compiled: Compiled, place: Place, *kinds: str, nullable: bool = False) -> bool:
        """Whether an expression has one of these kinds; if not, a problem is noted."""
        kind = compiled.kind
        if not kind.known:
            return False
        if kind.name not in kinds:
            self.problem(
                place,
                f"this is {kind}",
                f"{' or '.join(str(Kind(each)) for each in kinds)} belongs here",
            )
            return False
        if kind.nullable and not nullable:
            self.problem(place, "this may be none here", "choose something that is always there")
            return False
        return True


def nothing(text: str, kind: Kind = UNKNOWN) -> Compiled:
    """What stands for an expression that could not be compiled; it causes no further problems."""
    empty = frozenset[str]()
    return Compiled(
        text,
        ast.Constant(None),
        Value(kind, "None"),
        frozenset(),
        empty,
        empty,
        empty,
        frozenset(),
        empty,
        {},
        False,
        0,
    )
