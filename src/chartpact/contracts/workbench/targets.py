"""Which drawn fields reach a state, an edge case or the output, under one configuration.

The table is made from the contract alone. A field is a target if changing it must change the
reading. Such fields stand in conditions known to be true (that of an element which claimed the
object) or false (an edge case of a good reading), in observations and in outputs. A condition that
the configuration switches off has no targets.

With `every`, each change must be noticed; else, as behind a comparison of order, only a large one.
A field is `unsure` if another part of its condition may overrule it: some example should notice it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from chartpact.contracts.check.contract import Contract
from chartpact.contracts.check.elements import ElementPlan
from chartpact.contracts.check.outputs import Attached, AttachedList, Instances, Leaf, Map
from chartpact.contracts.check.outputs import Node as OutputNode
from chartpact.contracts.language import nodes
from chartpact.contracts.language.nodes import Expression, Joined, Mention, Node, OfList
from chartpact.contracts.language.values import Column, Constant, field_names, field_value

GIVEN = "given"  # a condition whose value is itself looked at: it matters that it flips
Truth = bool | str | None


@dataclass(frozen=True)
class Target:
    """A field of an element's objects, or of one part of them."""

    element: str
    part: str | None
    need: Column
    alpha: bool = False
    every: bool = True
    referrer: str | None = None  # another element, whose instances the mention depends on
    attachment: str | None = None  # it reaches only for what is attached under this name
    beside: str | None = None  # it reaches only where this part of the group is there
    grouped: bool = False  # it reaches as a key of a group
    unsure: bool = False

    def __str__(self) -> str:
        part = f".{self.part}" if self.part else ""
        field = f"alpha({self.need.name})" if self.alpha else self.need.name
        return f"{self.element}{part}.{field}"


@dataclass(frozen=True)
class _Field:
    """A name that an expression mentions where it matters."""

    mention: Mention
    every: bool
    alpha: bool = False
    unsure: bool = False


def targets(contract: Contract, values: Mapping[str, Any]) -> list[Target]:
    """The table of reaching fields."""
    return list(dict.fromkeys(_Targets(contract, values).all()))


class _Targets:
    """The fields that reach under one configuration."""

    def __init__(self, contract: Contract, values: Mapping[str, Any]) -> None:
        self.contract, self.values = contract, values
        self._reading: set[tuple[str, str, bool, str | None]] = set()  # against endless descent

    def all(self) -> Iterator[Target]:
        contract = self.contract
        for element in contract.elements.values():
            if not element.ignored:
                yield from self._element(element)
        for machine in contract.machines.values():
            for rule in machine.observed.values():
                yield from self._mentions(rule, machine.element, GIVEN)
        for edge in contract.edges.values():
            if edge.spec.violation != "config":
                yield from self._mentions(edge.when, edge.spec.each, False)
        yield from self._output(contract.output, None)

    def _output(self, node: OutputNode, owner: str | None) -> Iterator[Target]:
        match node:
            case Leaf():
                yield from self._mentions(node.rule, owner, GIVEN)
            case Map():
                for inner in node.items.values():
                    yield from self._output(inner, owner)
            case Attached() | AttachedList():
                yield from self._output(node.give, owner)
            case Instances():
                if node.split is not None:
                    yield from self._mentions(node.split, node.element, GIVEN)
                yield from self._output(node.give, node.element)

    def _element(self, plan: ElementPlan) -> Iterator[Target]:
        name = plan.name
        if plan.where is not None:
            yield from self._mentions(plan.where, name, True, inside=True)
        for key in plan.spec.group or ():
            yield from self._group_key(plan, key)
        if plan.newest is not None:
            # The only one of its kind is the newest whatever its value.
            alone = plan.spec.per is not None or plan.spec.top is not None
            for target in self._mentions(plan.newest, name, True, inside=True):
                yield replace(_weaker(target), unsure=target.unsure or alone)
        for part, chosen in plan.parts.items():
            if chosen.way == "where":
                mentioned = self._mentions(chosen.rule, name, True, part, inside=True)
                yield from (replace(target, beside=part) for target in mentioned)
            else:
                yield from map(_weaker, self._mentions(chosen.rule, name, True, inside=True))
        if plan.decode is not None:
            yield from map(_weaker, self._mentions(plan.decode.rule, name, True, inside=True))
        for attachment in plan.attachments:
            attached = attachment.name
            for reach in attachment.ranges:
                for target in self._mentions(reach.of, attachment.candidates, True, inside=True):
                    yield replace(_weaker(target), referrer=name, attachment=attached)
                for end in (reach.low, reach.high):
                    bound = self._mentions(end, name, True, None, attached, inside=True)
                    yield from map(_weaker, bound)
            if attachment.where is not None:
                yield from self._mentions(attachment.where, name, True, None, attached, inside=True)

    def _group_key(self, plan: ElementPlan, key: str) -> Iterator[Target]:
        """The fields behind a key of a group: a drawn one, or a reading of what a view looks at."""
        if key not in field_names(plan.channel):
            yield from self._read(plan.name, key, True, None, None)
            return
        for need in sorted(field_value(plan.channel, key).needs):
            derived = need.field != key  # what a derived key is made of may change without it
            yield Target(plan.name, None, need, every=not derived, grouped=True, unsure=derived)

    # -------------------------------------------------------------------------------- expressions

    def _mentions(
        self,
        rule: Expression,
        own: str | None,
        truth: Truth,
        part: str | None = None,
        attachment: str | None = None,
        inside: bool = False,
    ) -> Iterator[Target]:
        """The targets of mutation in an expression.

        The fields of the element `own` need no prefix. `inside` says whether the expression
        selects instances of `own`.
        """
        walk = self._condition if rule.kind.name == "bool" else self._value
        for field in walk(rule.node, truth):
            yield from self._resolve(field, own, part, attachment, inside)

    def _resolve(
        self, field: _Field, own: str | None, part: str | None, attachment: str | None, inside: bool
    ) -> Iterator[Target]:
        mention = field.mention
        owner = mention.owner or own
        if owner is None or owner not in self.contract.elements:
            return
        elsewhere = mention.owner is not None and mention.owner != own
        referrer = own if elsewhere and inside else None
        attached = self.contract.elements[own].spec.attach if own is not None else {}
        if elsewhere and attachment is None and mention.names[0] in attached:
            attachment, referrer = mention.names[0], own
        if not mention.value.needs:
            name = mention.names[-1]
            for target in self._read(owner, name, field.every, referrer, attachment):
                yield replace(target, unsure=target.unsure or field.unsure)
            return
        parts = self.contract.elements[owner].parts
        for name in mention.names[:-1]:
            part = name if name in parts else part
        for need in sorted(_own_needs(mention)):
            # The other edge of a box matters only where it would pass this one.
            across = (need.field, mention.names[-1]) in (("top", "bottom"), ("bottom", "top"))
            # A side that is moved past the other one may leave the order as it was.
            passing = need.field in ("left", "right") and not need.part
            every, unsure = field.every and not across, field.unsure or across or passing
            at = (referrer, attachment)
            yield Target(owner, part, need, field.alpha, every, *at, unsure=unsure)

    def _read(
        self, element: str, name: str, every: bool, referrer: str | None, attachment: str | None
    ) -> Iterator[Target]:
        """The targets behind a reading; `decode.of` stands for decoded fields."""
        at: str | None = element
        while at is not None and name not in self.contract.elements[at].reads:
            at = self.contract.elements[at].base
        reading = (at or "", name, every, attachment)
        if at is None or reading in self._reading:
            return
        self._reading.add(reading)
        rule = self.contract.elements[at].reads[name].rule
        for target in self._mentions(rule, at, GIVEN, inside=True):
            reached = target if every else _weaker(target)
            if reached.element == at and reached.part is None:
                reached = replace(reached, element=element)  # what the view kept of it
            yield replace(reached, referrer=referrer, attachment=attachment)
        self._reading.discard(reading)

    # ----------------------------------------------------------- the names that matter in a node

    def _value(self, node: Node, truth: Truth, every: bool = True) -> Iterator[_Field]:
        match node:
            case Mention():
                yield _Field(node, every)
            case nodes.ArithmeticNode():
                linear = every and node.sign in "+-"
                yield from self._value(node.left, truth, linear)
                yield from self._value(node.right, truth, linear)
            case nodes.Negative() | nodes.Finite() | nodes.Known():
                yield from self._value(node.of, truth, every)
            case nodes.Call(function="alpha"):
                colors = [color for color in node.arguments if isinstance(color, Mention)]
                yield from (_Field(color, False, alpha=True) for color in colors)
            case nodes.Call():
                for argument in node.arguments:
                    yield from self._value(argument, truth, False)
            case nodes.Encoded():
                yield from self._value(node.of, truth, False)
            case OfList():
                yield from self._list(node, truth)
            case nodes.Choice():
                known = self._decide(node.test)
                if known is None:
                    yield from self._condition(node.test, GIVEN)
                else:
                    yield from self._value(node.yes if known else node.no, truth, every)
            case nodes.Condition():
                yield from self._condition(node, truth)

    def _list(self, node: OfList, truth: Truth) -> Iterator[_Field]:
        listing = node.listing
        if node.function != "len":  # how many there are does not depend on what is listed
            # Where others may decide in its place, no one instance is sure to matter.
            open_ = listing.test is not None or node.function in ("any", "all", "min", "max")
            for field in self._value(listing.item, truth, False):
                yield replace(field, unsure=field.unsure or open_)
        if listing.test is not None:
            yield from self._condition(listing.test, None)

    def _condition(self, node: Node, truth: Truth) -> Iterator[_Field]:
        if self._decide(node) is not None:
            return
        if truth is None:
            for field in self._condition(node, GIVEN):
                yield replace(field, every=False, unsure=True)
            return
        match node:
            case Joined():
                yield from self._join(node, truth)
            case nodes.Not():
                yield from self._condition(node.of, not truth if isinstance(truth, bool) else truth)
            case nodes.Compare():
                equal = node.sign == "==" and truth is True
                yield from self._value(node.left, truth, equal)
                yield from self._value(node.right, truth, equal)
            case nodes.IsNone():
                yield from self._value(node.of, truth, truth is True)
            case nodes.Among():
                for item in (node.of, *node.items):
                    yield from self._value(item, truth, False)
            case nodes.Choice():
                known = self._decide(node.test)
                if known is None:
                    for branch in (node.test, node.yes, node.no):
                        yield from self._condition(branch, None)
                else:
                    yield from self._condition(node.yes if known else node.no, truth)
            case _:
                yield from self._value(node, truth, False)

    def _join(self, node: Joined, truth: Truth) -> Iterator[_Field]:
        undecided = []
        for part in node.parts:
            known = self._decide(part)
            if known is not None and known is not node.all:
                return  # the configuration decides it
            if known is None:
                undecided.append(part)
        inner: Truth = truth if len(undecided) == 1 or truth is node.all else None
        for part in undecided:
            yield from self._condition(part, inner)

    def _decide(self, node: Node) -> bool | None:
        """The value of a condition on the configuration alone; None where it needs more."""
        try:
            return bool(self._evaluate(node))
        except LookupError:
            return None

    def _evaluate(self, node: Node) -> Any:
        match node:
            case nodes.Literal():
                return node.value
            case Mention() if isinstance(at := node.value.at, Constant):
                value = self.values[at.name]
                colored = value is not None and self.contract.keys[at.name].type == "color"
                return value[:7] if colored else value
            case nodes.Not():
                return not self._evaluate(node.of)
            case Joined():
                parts = [self._evaluate(part) for part in node.parts]
                return all(parts) if node.all else any(parts)
            case nodes.Compare(sign="=="):
                return self._evaluate(node.left) == self._evaluate(node.right)
            case nodes.IsNone():
                return self._evaluate(node.of) is None
        raise LookupError


def _own_needs(mention: Mention) -> Iterator[Column]:
    """The columns behind a name, of a box's side without those of the other side."""
    part = mention.names[-1] if mention.names[-1] in ("bar", "time") else ""
    field = mention.names[-2] if part and len(mention.names) > 1 else mention.names[-1]
    for need in mention.value.needs:
        if need.field not in ("left", "right") or (need.field, need.part) == (field, part):
            yield need


def _weaker(target: Target) -> Target:
    return replace(target, every=False)
