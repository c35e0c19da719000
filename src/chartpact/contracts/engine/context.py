"""One contract while it is checked: its file, its vocabulary, and the problems found so far."""

from collections.abc import Callable
from dataclasses import dataclass, field

from chartpact.contracts.document import Node, Place
from chartpact.contracts.expressions.check import check_condition, check_expression
from chartpact.contracts.expressions.nodes import Expression, unchecked
from chartpact.contracts.expressions.values import Kind, Scope, Vocabulary
from chartpact.contracts.model import ContractFile
from chartpact.contracts.problems import contract_problem
from chartpact.problem import Problem
from chartpact.syntax import SourceError

SIGNAL, INFORMATIONAL, COSMETIC = "signal", "informational", "cosmetic"


def path_of(place: Place) -> str:
    return ".".join(map(str, place))


@dataclass
class Context:
    """Problems are collected, not raised; expressions are kept by their places."""

    file: ContractFile
    root: Node
    vocabulary: Vocabulary
    problems: list[Problem] = field(default_factory=list)
    expressions: dict[Place, Expression] = field(default_factory=dict)

    def problem(self, place: Place, message: str, hint: str = "") -> None:
        self.problems.append(
            contract_problem(self.root.line_of(place), path_of(place), message, hint)
        )

    def expression(self, text: str, place: Place, scope: Scope) -> Expression:
        return self._check(check_expression, text, place, scope)

    def condition(self, text: str, place: Place, scope: Scope) -> Expression:
        return self._check(check_condition, text, place, scope)

    def _check(
        self,
        check: Callable[[str, Scope, Vocabulary], Expression],
        text: str,
        place: Place,
        scope: Scope,
    ) -> Expression:
        try:
            expression = check(text, scope, self.vocabulary)
        except SourceError as error:
            self.problem(place, error.message, error.hint)
            return unchecked(text)
        self.expressions[place] = expression
        return expression

    def want(self, rule: Expression, place: Place, *kinds: str, nullable: bool = False) -> bool:
        """Whether an expression has one of these kinds; if not, a problem is noted."""
        kind = rule.kind
        if not kind.known:
            return False
        if kind.name not in kinds:
            wanted = " or ".join(str(Kind(name)) for name in kinds)
            self.problem(place, f"this is {kind}", f"{wanted} belongs here")
            return False
        if kind.nullable and not nullable:
            self.problem(place, "this may be none here", "choose something that is always there")
            return False
        return True
