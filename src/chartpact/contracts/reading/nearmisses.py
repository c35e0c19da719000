"""Near misses: which object almost was an element, and what kept it from being one.

A condition is taken apart at its `and`s. An object that fails exactly one part nearly fits; of
several the one that is nearest is named. This runs only once a reading is refused, and decides
nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

from chartpact.cache import Cache
from chartpact.contracts.check.contract import Contract
from chartpact.contracts.check.elements import ElementPlan
from chartpact.contracts.check.generate import Key, generate_parts
from chartpact.contracts.language import nodes
from chartpact.contracts.language.nodes import (
    TICK_SIZE,
    Compare,
    Expression,
    Literal,
    Mention,
    Node,
)
from chartpact.contracts.reading.bind import CAUGHT, Bound
from chartpact.problem import nearest

MAX_ITEMS = 500  # objects that are looked at for one element
MAX_VALUES = 20_000  # values that are computed in all; then nothing more is named
_COMPILING = 200  # values that take as long as it takes to take a condition apart
FAR = 20  # ticks beyond which a price is another one
_SHOWN = ("text", "enum", "number", "bool", "color")

Items = Sequence[Any]
Values = Callable[[list[Any], list[Any]], list[Any]]


class ConditionPart(NamedTuple):
    """One part of a condition: its quote, its value, and the values that it compares."""

    quote: str
    node: Node
    holds: Values
    shown: tuple[tuple[str, Values], ...]
    sides: tuple[Values, ...]  # of `near`


class Code(NamedTuple):
    """The compiled parts of a condition, before they know a configuration."""

    code: CodeType
    functions: Mapping[Key, str]  # their names


_codes: Cache[tuple[str, str], Code] = Cache(
    most=1024, weight=16 << 20, weigh=lambda code: 1024 * len(code.functions)
)


class Miss(NamedTuple):
    """How far an object is from being an instance, and why it is none."""

    distance: float
    why: str


class NearMisses:
    """The conditions of one contract, taken apart as they are needed."""

    def __init__(self, bound: Bound, S: list[Any], items: Callable[[ElementPlan], Items]) -> None:
        self._bound, self._S, self._items = bound, S, items
        self._parts: dict[str, list[ConditionPart]] = {}
        self._left = MAX_VALUES

    def nearest(self, element: ElementPlan) -> str:
        """What the nearest object lacks to be an instance; nothing where none is near."""
        items = self._items(element)[:MAX_ITEMS]
        best = min(filter(None, (self.miss(element, item) for item in items)), default=None)
        return "" if best is None else f"; nearly {element.name}: {best.why}"

    def claimant(self, channel: str, item: Any) -> str:
        """Which element nearly claims an object, and why it does not."""
        elements = self._bound.contract.elements.values()
        claiming = [plan for plan in elements if plan.channel == channel and plan.base is None]
        misses = [(self.miss(plan, item), plan.name) for plan in claiming]
        best = min(((miss, name) for miss, name in misses if miss is not None), default=None)
        return "" if best is None else f"; nearly {best[1]}: {best[0].why}"

    def miss(self, element: ElementPlan, item: Any) -> Miss | None:
        """What one object lacks, if that is a single part of the condition."""
        if self._left < 0:
            return None
        failing = [
            part for part in self._take_apart(element) if self._value(part.holds, item) is False
        ]
        return self._explain(failing[0], item) if len(failing) == 1 else None

    def _value(self, values: Values, item: Any) -> Any:
        """The value for one object; None where it hangs on something that is not there."""
        self._left -= 1
        try:
            return values([item], self._S)[0]
        except (*CAUGHT, TypeError):
            return None

    def _explain(self, part: ConditionPart, item: Any) -> Miss | None:
        shown = [(name, self._value(values, item)) for name, values in part.shown]
        words = " and ".join(f"{name} is {_format(value)}" for name, value in shown)
        why = f"{part.quote} does not hold{f', {words}' if words else ''}"
        if (absent := self._absent(part.node)) is not None:
            return Miss(FAR + 1, f"{absent.name} is not there{self.nearest(absent)}")
        if part.sides:
            one, other = (self._value(values, item) for values in part.sides)
            if one is None or other is None:
                return None
            ticks = abs(one - other) / self._bound.values[TICK_SIZE]
            return Miss(ticks, f"{why}: {ticks:.3g} ticks apart") if ticks <= FAR else None
        wanted = _wanted_text(part.node)
        if wanted is None or not shown or not isinstance(shown[0][1], str):
            return Miss(FAR + 1, why)
        text = shown[0][1]
        if text.strip().casefold() == wanted.strip().casefold():
            return Miss(0, why)
        return Miss(1, why) if nearest(text, [wanted], alike=0.75) else None

    def _absent(self, node: Node) -> ElementPlan | None:
        """The element that a part asks to be there."""
        match node:
            case nodes.Not(of=nodes.IsNone(of=Mention(names=(name,)))):
                return self._bound.contract.elements.get(name)
        return None

    def _take_apart(self, element: ElementPlan) -> list[ConditionPart]:
        if element.name not in self._parts:
            self._left -= _COMPILING
            self._parts[element.name] = list(self._bind(element))
        return self._parts[element.name]

    def _bind(self, element: ElementPlan) -> Iterator[ConditionPart]:
        if element.where is None:
            return
        names = dict(next(iter(self._bound.functions.values())).__globals__)
        contract, where = self._bound.contract, element.where
        code, functions = _codes.get_or_make(
            (contract.digest, element.name), lambda: _compile(contract, element, where)
        )
        exec(code, names)  # ours, as that of the contract is
        for n, (node, quote) in enumerate(where.conjuncts):
            run = {key[1:]: names[name] for key, name in functions.items() if key[0] == n}
            mentions = [(".".join(m.names), run["shown", k]) for k, m in enumerate(_mentions(node))]
            sides = tuple(run["side", k] for k in range(2) if ("side", k) in run)
            yield ConditionPart(quote, node, run["holds",], tuple(mentions), sides)


def _compile(contract: Contract, element: ElementPlan, where: Expression) -> Code:
    parts = [node for node, _ in where.conjuncts]
    program = generate_parts(contract.program, element, parts, list(map(_mentions, parts)))
    return Code(program.code, program.functions)


def _mentions(node: Node) -> list[Mention]:
    """The names, at most two, whose values tell why a part does not hold."""
    mentions = [part for part in nodes.walk(node) if isinstance(part, Mention)]
    return [m for m in mentions if m.kind.name in (*_SHOWN, "none")][:2]


def _wanted_text(node: Node) -> str | None:
    """The text that a part asks for."""
    if isinstance(node, Compare) and node.left.kind.name in ("text", "enum"):
        wanted = node.right.value if isinstance(node.right, Literal) else None
        return wanted if isinstance(wanted, str) else None
    return None


def _format(value: Any) -> str:
    return "none" if value is None else f"{value!r:.60}"
