"""Typed nodes: the meaning of an expression, and all that follows from it.

An expression is checked once, into a tree of frozen nodes. Each node has its kind, and a `Mention`
of a name also has its value: where that is held, which drawn columns it needs, which elements it
refers to. Everything else that is asked of an expression is derived from the nodes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from chartpact.contracts.language.values import (
    BOOL,
    NO_FACTS,
    NOTHING,
    NUMBER,
    UNKNOWN,
    Constant,
    Facts,
    Kind,
    Location,
    Names,
    Needs,
    Slot,
    Value,
)

TICK_SIZE = "tick_size"
OF_TICKS = ("near", "round_to_tick")  # the functions that need the tick size
OF_AGE = ("time_of", "outdated")  # the functions that accept a missing time


@dataclass(frozen=True)
class Node:
    """An expression or a part of one."""

    kind: Kind


@dataclass(frozen=True)
class Literal(Node):
    value: object
    alpha: int | None = None  # of a colour


@dataclass(frozen=True)
class Mention(Node):
    """A name and what follows its dots. It is none where one of its guards is none."""

    names: Names
    value: Value
    guards: tuple[Location, ...] = ()
    anchor: Location | None = None  # of a bar or time: where the order of its anchor is
    named: str | None = None  # the element or machine that the first name is
    attached: tuple[str, ...] = ()  # the elements whose instances the dots lead to
    owner: str | None = None  # the element whose field this is; None: that of the expression


@dataclass(frozen=True)
class Choice(Node):
    test: Node
    yes: Node
    no: Node


@dataclass(frozen=True)
class Call(Node):
    """A call of a function of the language that takes values."""

    function: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class ListNode(Node):
    """A value for each instance of an element, or for those that pass a test."""

    over: str
    item: Node
    test: Node | None
    attached: Mention | None = None  # what is attached to an instance, rather than all of them


@dataclass(frozen=True)
class OfList(Node):
    function: str
    listing: ListNode


@dataclass(frozen=True)
class Unary(Node):
    of: Node


class Negative(Unary):
    """A number with the other sign."""


class Finite(Unary):
    """A result of arithmetic that must be a finite number."""


@dataclass(frozen=True)
class Known(Unary):
    """A fact of the chart without which the reading is unavailable."""

    quote: str


@dataclass(frozen=True)
class Encoded(Unary):
    table: str


@dataclass(frozen=True)
class Binary(Node):
    sign: str  # + - * / == < <= > >=
    left: Node
    right: Node


class ArithmeticNode(Binary):
    """A sum, difference, product or quotient."""


class Condition(Node):
    """A node whose form makes it true or false."""


class Compare(Binary, Condition):
    """An equality or a comparison of order."""


class IsNone(Unary, Condition):
    """Whether something is none."""


class Not(Unary, Condition):
    """The opposite of a condition."""


@dataclass(frozen=True)
class Among(Unary, Condition):
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Joined(Condition):
    """Parts that must all hold (`and`), or one of which must (`or`)."""

    all: bool
    parts: tuple[Node, ...]


Conjunct = tuple[Node, str]  # a part of a condition, and its quote in messages


def walk(node: Node) -> Iterator[Node]:
    """A node and all within it."""
    yield node
    for part in vars(node).values():
        for inner in part if isinstance(part, tuple) else (part,):
            if isinstance(inner, Node):
                yield from walk(inner)


@dataclass(frozen=True)
class Expression:
    """A checked expression, and everything it depends on."""

    node: Node
    size: int = 0  # the number of nodes as written
    quotes: tuple[str, ...] = ()  # of a condition: its conjuncts, for messages

    @property
    def kind(self) -> Kind:
        return self.node.kind

    @property
    def conjuncts(self) -> tuple[Conjunct, ...]:
        """The parts of a condition that must all hold."""
        match self.node:
            case Joined(all=True, parts=parts):
                return tuple(zip(parts, self.quotes, strict=True))
        return tuple(zip((self.node,), self.quotes, strict=True))

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        return tuple(walk(self.node))

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        return tuple(node for node in self.nodes if isinstance(node, Mention))

    @cached_property
    def _optional_times(self) -> tuple[Mention, ...]:
        """The times that may be missing."""
        calls = (node for node in self.nodes if isinstance(node, Call) and node.function in OF_AGE)
        return tuple(call.arguments[0] for call in calls if isinstance(call.arguments[0], Mention))

    @cached_property
    def needs(self) -> Needs:
        optional = set(map(id, self._optional_times))
        needed = (mention for mention in self.mentions if id(mention) not in optional)
        return NOTHING.union(*(mention.value.needs for mention in needed))

    @cached_property
    def optional(self) -> Needs:
        """The columns that it uses where the source delivers them."""
        return NOTHING.union(*(time.value.needs for time in self._optional_times)) - self.needs

    @cached_property
    def lists(self) -> frozenset[str]:
        """The elements that a list runs over."""
        return frozenset(node.over for node in self.nodes if isinstance(node, ListNode))

    @cached_property
    def named(self) -> frozenset[str]:
        """The elements and machines that it names."""
        return frozenset(mention.named for mention in self.mentions if mention.named is not None)

    @cached_property
    def elements(self) -> frozenset[str]:
        """The elements and machines that it depends on."""
        attached = (mention.attached for mention in self.mentions)
        return (self.named | self.lists).union(*attached)

    @cached_property
    def config(self) -> frozenset[str]:
        """The config keys that it reads."""
        places = [mention.value.at for mention in self.mentions]
        ticks = any(isinstance(node, Call) and node.function in OF_TICKS for node in self.nodes)
        keys = {at.name for at in places if isinstance(at, Constant)}
        return frozenset(keys | ({TICK_SIZE} if ticks else set()))

    @cached_property
    def chart(self) -> frozenset[str]:
        """The facts of the chart that it reads."""
        slots = [mention.value.at for mention in self.mentions]
        return frozenset(at.name for at in slots if isinstance(at, Slot) and at.what == "chart")

    @cached_property
    def patterns(self) -> tuple[Node, ...]:
        """The patterns that it matches texts with: literals, or config keys."""
        calls = (node for node in self.nodes if isinstance(node, Call))
        return tuple(call.arguments[1] for call in calls if call.function == "matches")

    @cached_property
    def unstable(self) -> bool:
        """Whether it depends on bar numbers or the order of anchors, which shift."""
        return any(map(_unstable, self.nodes))


def join_conjuncts(conjuncts: Sequence[Conjunct]) -> Expression | None:
    """The condition that all of these hold; None where there are none."""
    if not conjuncts:
        return None
    parts, quotes = zip(*conjuncts, strict=True)
    return Expression(Joined(BOOL, True, parts) if len(parts) > 1 else parts[0], quotes=quotes)


def unchecked_expression() -> Expression:
    """The stand-in for an expression with a fault; it causes no further problems."""
    return Expression(Literal(UNKNOWN, None), quotes=("",))


def meaning(node: object) -> object:
    """The form in which two expressions of different contracts are compared.

    Nothing in it depends on where values are held, or on what else is known about them.
    """
    match node:
        case Known():
            return meaning(node.of)
        case Mention():
            return node.names
        case Literal():
            return node.kind.name, node.value, node.alpha
        case Node():
            parts = (meaning(part) for word, part in vars(node).items() if word != "kind")
            return type(node).__name__, *parts
        case tuple():
            return tuple(map(meaning, node))
    return node


def _unstable(node: Node) -> bool:
    match node:
        case Mention():
            return node.value.unstable
        case Compare():
            return "anchor" in (node.left.kind.name, node.right.kind.name)
        case Among():
            return node.of.kind.name == "anchor"
    return False


# ------------------------------------------------------------------------------------------- sides


def side(node: Node, name: str) -> Node | None:
    """The opacity of a colour (`alpha`), the `bar` or `time` of an anchor, where it has one."""
    match node:
        case Mention():
            value = node.value.side(name)
            return Mention(NUMBER, node.names, value, node.guards) if value is not None else None
        case Literal() if node.kind.name == "none":
            return Literal(NUMBER, 0 if name == "alpha" else None)
        case Literal() if name == "alpha" and node.alpha is not None:
            return Literal(NUMBER, node.alpha)
        case Choice():
            yes, no = side(node.yes, name), side(node.no, name)
            return Choice(NUMBER, node.test, yes, no) if yes and no else None
    return None


def side_needs(node: Node) -> Needs:
    """The columns that a side needs besides those of its test."""
    if isinstance(node, Choice):
        return side_needs(node.yes) | side_needs(node.no)
    return node.value.needs if isinstance(node, Mention) else NOTHING


def is_shared(node: Node) -> bool:
    """Whether this may be the colour of a group."""
    if isinstance(node, Choice):
        return is_shared(node.yes) or is_shared(node.no)
    return isinstance(node, Mention) and node.value.shared


# ------------------------------------------------------------------------------------------- facts


def fact(node: Node) -> Facts:
    """The facts implied by `node` not being none: its name and all its prefixes."""
    names = node.names if isinstance(node, Mention) and node.kind.nullable else ()
    return frozenset(names[: n + 1] for n in range(len(names)))


def prove(node: Node) -> tuple[Facts, Facts]:
    """The facts implied by a condition: those where it holds, and those where it does not."""
    match node:
        case Not():
            when_true, when_false = prove(node.of)
            return when_false, when_true
        case IsNone():
            return NO_FACTS, fact(node.of)
        case Compare(sign="=="):
            return fact(node.left if node.left.kind.nullable else node.right), NO_FACTS
        case Among():
            return fact(node.of), NO_FACTS
        case Joined():
            return _prove_joined(node)
        case Choice():
            yes, no = prove(node.test)
            yes_true, yes_false = prove(node.yes)
            no_true, no_false = prove(node.no)
            return (yes | yes_true) & (no | no_true), (yes | yes_false) & (no | no_false)
    return NO_FACTS, NO_FACTS


def _prove_joined(node: Joined) -> tuple[Facts, Facts]:
    """`and` goes on while its parts hold, `or` while they do not; each may stop at any part."""
    gathered, stopped = NO_FACTS, list[Facts]()
    for part in node.parts:
        when_true, when_false = prove(part)
        goes_on, stops = (when_true, when_false) if node.all else (when_false, when_true)
        stopped.append(gathered | stops)
        gathered |= goes_on
    early = frozenset.intersection(*stopped)
    return (gathered, early) if node.all else (early, gathered)
