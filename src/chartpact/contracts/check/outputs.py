"""The typed output: nested maps of expressions, and lists or objects made of instances."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from pydantic import ValidationError

from chartpact.checks import Unfit
from chartpact.contracts.check.elements import Context
from chartpact.contracts.language.document import ContractPath, suggestion
from chartpact.contracts.language.expressions import EACH
from chartpact.contracts.language.model import (
    EventList,
    OutputList,
    expression_text,
    problems_of,
)
from chartpact.contracts.language.nodes import Expression
from chartpact.contracts.language.values import (
    OWNER,
    UNKNOWN,
    FieldNames,
    Kind,
    Location,
    NameScope,
    Value,
)

_JSON_KINDS = ("number", "text", "bool", "enum", "color", "time", "none")
_SORTED = ("number", "time", "anchor", "text")


@dataclass(frozen=True)
class Leaf:
    """One value."""

    place: ContractPath
    rule: Expression

    @property
    def kind(self) -> Kind:
        return self.rule.kind


@dataclass(frozen=True)
class Map:
    """An object with fixed keys."""

    items: Mapping[str, "Node"] = field(default_factory=dict)


@dataclass(frozen=True)
class Instances:
    """The output object of each instance that passes `where`."""

    place: ContractPath
    element: str
    give: Map
    where: Expression | None
    sort: Expression | None
    split: Expression | None


class Many(Instances):
    """A list of objects, in the order of `sort`; split, one such list for each name."""

    @property
    def lists(self) -> tuple[str, ...]:
        return self.split.kind.names if self.split is not None else ()


class One(Instances):
    """The output of an element that occurs at most once."""

    nullable = True


@dataclass(frozen=True)
class Attached:
    """An object made of what is attached to an instance, or null where that is not there."""

    place: ContractPath
    at: Location
    element: str | None  # None: a part of a group
    named: bool  # an element that the output names, rather than one that is attached
    give: Map
    nullable: bool


@dataclass(frozen=True)
class AttachedList:
    """A list of objects made of all that is attached to an instance, in the order of `sort`."""

    place: ContractPath
    at: Location
    element: str | None
    give: Map
    where: Expression | None
    sort: Expression


Node = Leaf | Map | Many | One | Attached | AttachedList


def parts(node: Node | Instances) -> Iterator[Node | Instances]:
    """A part of the output and everything within it."""
    yield node
    match node:
        case Map():
            for inner in node.items.values():
                yield from parts(inner)
        case Instances() | Attached() | AttachedList():
            yield from parts(node.give)


def expressions(node: Node | Instances) -> Iterator[Expression]:
    """Every expression of a part of the output."""
    for part in parts(node):
        if isinstance(part, Leaf):
            yield part.rule
        elif isinstance(part, Instances):
            yield from filter(None, (part.where, part.sort, part.split))
        elif isinstance(part, AttachedList):
            yield from filter(None, (part.where, part.sort))


class OutputChecker:
    """Checks the output section."""

    def __init__(self, context: Context, scope: NameScope) -> None:
        self.context, self.problem, self.scope = context, context.problem, scope

    def check(self, written: Mapping[str, Any]) -> Map:
        return self._map(written, ("output",), self.scope, inside=False)

    def _map(self, written: Any, place: ContractPath, scope: NameScope, inside: bool) -> Map:
        """A mapping as written; `inside` one instance, `from` reaches what is attached to it."""
        if not isinstance(written, dict) or not written:
            self.problem(place, "a mapping of names to expressions belongs here", "{a: …}")
            return Map()
        items: dict[str, Node] = {}
        for name, value in written.items():
            at = (*place, name)
            if not name.isidentifier() or not name.isascii() or name.startswith("_"):
                message = f"{name!r:.60} is not a name for a value"
                self.problem(at, message, "use letters, digits and _")
            elif isinstance(value, dict) and "from" in value:
                try:
                    spec = OutputList.model_validate(value)
                except ValidationError as error:
                    self.context.problems += problems_of(error, self.context.root, OutputList, at)
                    continue
                made = self._attachment(spec, at, scope) if inside else self._instances(spec, at)
                items[name] = made
            elif isinstance(value, dict):
                items[name] = self._map(value, at, scope, inside)
            else:
                items[name] = Leaf(at, self._leaf(value, at, scope))
        return Map(items)

    def _leaf(self, text: Any, place: ContractPath, scope: NameScope) -> Expression:
        if isinstance(text, list):
            self.problem(place, "a list has no order here", "write {from, sort, give}")
            text = None
        try:
            written = expression_text(text)
        except Unfit as misfit:
            self.problem(place, str(misfit), misfit.hint)
            written = "none"
        rule = self.context.check(written, place, scope)
        if rule.kind.known and rule.kind.name not in _JSON_KINDS:
            hint = "give its .time or .bar" if rule.kind.name == "anchor" else "give its fields"
            if rule.kind.name == "list":
                hint = "a list needs an order: write {from, sort, give}"
            self.problem(place, f"{rule.kind} is not a JSON value", hint)
        return rule

    def _instances(self, spec: OutputList, place: ContractPath) -> Node:
        element = self.context.element(spec.from_, (*place, "from"))
        if element is None:
            return Map()
        scope = self.context.inside(element.name, self.scope)
        where = sort = split = None
        if spec.where is not None:
            where = self.context.check(spec.where, (*place, "where"), scope, condition=True)
        if spec.sort is not None:
            at = (*place, "sort")
            sort = self.context.check(spec.sort, at, scope)
            self.context.want(sort, at, *_SORTED)
        elif not element.single:
            self.problem(place, "sort is missing", "add `sort: x1`, or another order")
        if spec.split is not None:
            at = (*place, "split")
            if element.single:
                self.problem(at, f"{element.name} occurs at most once", "remove split")
            split = self.context.check(spec.split, at, scope)
            self.context.want(split, at, "enum")
        give = self._map(spec.give, (*place, "give"), scope, inside=True)
        kind = One if element.single else Many
        return kind(place, element.name, give, where, sort, split)

    def _attachment(self, spec: OutputList, place: ContractPath, scope: NameScope) -> Node:
        value = scope.get(spec.from_)
        if value is not None and value.kind.name == "list" and value.element is not None:
            return self._attached_list(spec, place, scope, value)
        if value is None or value.kind.shape is None:
            hint = "name an attachment of the element, or an element that occurs at most once"
            self.problem((*place, "from"), f"{spec.from_!r} is not attached here", hint)
            return Map()
        for word in ("sort", "split", "where"):
            if getattr(spec, word) is not None:
                message = f"{spec.from_} occurs at most once here"
                self.problem((*place, word), message, f"remove {word}")
        there = replace(scope, facts=scope.facts | {(spec.from_,)})
        give = self._map(spec.give, (*place, "give"), there, inside=True)
        named = spec.from_ in scope.names
        return Attached(place, value.at, value.element, named, give, value.kind.nullable)

    def _attached_list(
        self, spec: OutputList, place: ContractPath, scope: NameScope, value: Value
    ) -> AttachedList:
        """All that is attached; each stands under the name of the attachment."""
        one = FieldNames()
        one.put(spec.from_, Value(value.kind.of or UNKNOWN, OWNER, element=value.element))
        if scope.runs_over(EACH):
            self.problem(place, "a list stands in a list", "give its fields")
        inner = replace(scope.owned_by(one, EACH), attached=False)
        if spec.split is not None:
            self.problem((*place, "split"), "what is attached is not split", "remove split")
        if spec.sort is None:
            self.problem(place, "sort is missing", f"add `sort: {spec.from_}.x`, or another order")
        where = None
        if spec.where is not None:
            where = self.context.check(spec.where, (*place, "where"), inner, condition=True)
        sort = self.context.check(spec.sort or "0", (*place, "sort"), inner)
        self.context.want(sort, (*place, "sort"), *_SORTED)
        give = self._map(spec.give, (*place, "give"), inner, inside=True)
        return AttachedList(place, value.at, value.element, give, where, sort)


def check_events(context: Context, events: Mapping[str, EventList], output: Map) -> None:
    """Checks which lists of the output are events, and the fields that date and name them."""
    for key, spec in events.items():
        place, node = ("events", key), output.items.get(key)
        if not isinstance(node, Many) or node.split is not None:
            lists = [
                name for name, n in output.items.items() if isinstance(n, Many) and not n.split
            ]
            message = f"{key!r:.60} is not a list of the output"
            context.problem(place, message, suggestion(key, lists))
            continue
        kinds = {
            name: leaf.kind for name, leaf in node.give.items.items() if isinstance(leaf, Leaf)
        }
        named = [("time", spec.time, "time"), ("known", spec.known, "time")]
        named += [("name", name, "enum") for name in spec.name]
        for word, name, wanted in named:
            kind = kinds.get(name)
            if kind is None or kind.name != wanted or (kind.nullable and wanted == "enum"):
                what = "a time" if wanted == "time" else "one of a closed table"
                fit = [known for known, other in kinds.items() if other.name == wanted]
                message = f"{name!r:.60} of {key} is not {what}"
                context.problem((*place, word), message, suggestion(name, fit))
        choices = [kinds[name].names if name in kinds else () for name in spec.name]
        known = {" ".join(words) for words in product(*choices)}
        seen: set[str] = set()
        for side, name in spec.directions():
            if name not in known or name in seen:
                message = (
                    f"{name!r:.60} has two directions"
                    if name in seen
                    else (f"{name!r:.60} is no event of {key}")
                )
                context.problem((*place, "side", side), message, suggestion(name, sorted(known)))
            seen.add(name)
