"""The element dictionary: each element checked, and where its instances keep what they hold.

An instance is a list. Its place 0 holds what it was made of: a row of the channel, an instance of
the element that a view looks at, or the members of a group. Then come a group's keys and parts,
decoded fields, readings, attachments, and last the row of its state machine.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from chartpact.contracts.check.config import kind_of
from chartpact.contracts.language import document, expressions
from chartpact.contracts.language.codecs import Codec, compile_codec
from chartpact.contracts.language.document import (
    MAX_PROBLEMS,
    ContractError,
    ContractPath,
    contract_problem,
    suggestion,
)
from chartpact.contracts.language.model import Attach, ContractFile, Decode, Element, PayloadField
from chartpact.contracts.language.nodes import (
    Conjunct,
    Expression,
    Node,
    is_shared,
    join_conjuncts,
    prove,
    side,
    side_needs,
    unchecked_expression,
)
from chartpact.contracts.language.values import (
    NO_FACTS,
    NOTHING,
    NUMBER,
    OWNER,
    SIDES,
    Constant,
    FieldNames,
    Item,
    Kind,
    Local,
    Location,
    NameScope,
    Needs,
    Slot,
    Value,
    Vocabulary,
)
from chartpact.drawing import CAPS
from chartpact.problem import Failure, Problem
from chartpact.snapshot import CHANNELS

SIGNAL, INFORMATIONAL, COSMETIC = "signal", "informational", "cosmetic"
# The variables of generated functions.
MEMBER, INSTANCE, CANDIDATE = Local("m"), Local("i"), Local("c")

UNWRITTEN = "TODO"  # what a draft says in place of a meaning
SHIFTING = "bar numbers and the order of anchors shift as history loads"

_ORDERED = ("number", "time", "anchor")
_IDENTIFYING = ("number", "text", "bool", "color", "enum", "time", "anchor")
_ALLOWED_WITH_IGNORE = {"from_", "where", "count", "ignore", "meaning", "changes"}


# ------------------------------------------------------------------------------------------- plans


@dataclass(frozen=True)
class GroupMember:
    """A member of a group: how it is chosen, and where an instance keeps it."""

    way: str  # where, highest or lowest
    rule: Expression
    optional: bool
    slot: int
    alike: bool = False  # whether objects that cannot be told apart may tie


@dataclass(frozen=True)
class Decoding:
    """A text that is decoded, and where an instance keeps its fields."""

    rule: Expression
    codec: Codec
    slot: int


@dataclass(frozen=True)
class Entries:
    """Expands a decoded list: `at` locates the list, `slot` stores one entry."""

    at: Location
    slot: int


@dataclass(frozen=True)
class Read:
    """A reading, and where an instance keeps its value and its sides."""

    rule: Expression
    slots: tuple[tuple[int, Node], ...]


@dataclass(frozen=True)
class Range:
    """A range of the owner in which a value of the candidate must lie."""

    place: ContractPath
    of: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True)
class Attachment:
    """Another element's instance that belongs to an owner: how it is found, where it is kept."""

    name: str
    candidates: str
    slot: int
    count: tuple[int, int | None]
    exclusive: bool
    ranges: tuple[Range, ...]
    where: Expression | None
    nearest: Expression | None

    @property
    def several(self) -> bool:
        """Whether an owner keeps a list of them."""
        return is_several(self.count)


def is_several(count: tuple[int, int | None]) -> bool:
    """Whether a count allows more than one."""
    return count[1] is None or count[1] > 1


@dataclass
class ElementPlan:
    """A checked element: what the engine does to find its instances."""

    name: str
    spec: Element
    channel: str
    role: str
    base: str | None  # of a view: the element that it looks at
    rules: list[Expression] = field(
        default_factory=list
    )  # all that are evaluated to find instances
    where: Expression | None = None
    sift: Expression | None = None  # the condition that decoded fields decide
    group: tuple[Location, ...] | None = None  # where a member has the parts of its group's key
    anchors: tuple[int, ...] = ()  # which of those are anchors
    newest: Expression | None = None
    newest_key: int | None = None  # of a group: the place in its key
    # The columns of `per`: one newest member is kept for each of their values.
    per: tuple[Location, ...] = ()
    per_keys: tuple[int, ...] = ()  # of a group: the places in its key
    parts: dict[str, GroupMember] = field(default_factory=dict)
    each: Entries | None = None
    decode: Decoding | None = None
    reads: dict[str, Read] = field(default_factory=dict)
    attachments: list[Attachment] = field(default_factory=list)
    key: tuple[Expression, ...] | None = None
    age: Expression | None = None  # by which the oldest are known, which the cap on objects takes
    age_key: int | None = None  # of a group: the place in its key
    row: int = 1  # the slot of its state machine's row, the last
    grouping: Needs = NOTHING  # the columns of its group

    @property
    def ignored(self) -> bool:
        return self.spec.ignore is not None

    @property
    def single(self) -> bool:
        return self.spec.count[1] is not None and self.spec.count[1] <= 1 and not self.ignored

    @property
    def may_lack(self) -> bool:
        return self.spec.count[0] == 0 or self.role == INFORMATIONAL

    @property
    def needs(self) -> Needs:
        return self.grouping.union(*(rule.needs for rule in self.rules))

    @property
    def optional(self) -> Needs:
        """The columns that it uses where the source delivers them."""
        return NOTHING.union(*(rule.optional for rule in self.rules))

    @property
    def tracking(self) -> Needs:
        """The columns that are needed only to follow it through time."""
        return NOTHING.union(*(rule.needs for rule in self.key or ()))

    @cached_property
    def uses(self) -> frozenset[str]:
        """The other elements on which it depends."""
        others = {attachment.candidates for attachment in self.attachments}
        others |= {self.base} if self.base is not None else set()
        rules = [*self.rules, *(self.key or ())]
        return frozenset(others).union(*(rule.elements for rule in rules))

    @property
    def late(self) -> bool:
        """Whether its instances are known, and counted, only once they are made."""
        return self.sift is not None or self.each is not None

    @property
    def size(self) -> int:
        return sum(rule.size for rule in [*self.rules, *(self.key or ())])


# ----------------------------------------------------------------------------------------- context


@dataclass
class Checking:
    """One file while it is checked. Problems are collected, and raised when they are many."""

    root: document.YamlNode
    vocabulary: Vocabulary
    problems: list[Problem] = field(default_factory=list)
    expressions: dict[ContractPath, Expression] = field(default_factory=dict)

    def problem(self, place: ContractPath, message: str, hint: str = "") -> None:
        path = ".".join(map(str, place))
        self.problems.append(contract_problem(self.root.line_of(place), path, message, hint))
        if len(self.problems) > MAX_PROBLEMS:
            raise ContractError(self.problems)

    def check(
        self, text: str, place: ContractPath, scope: NameScope, condition: bool = False
    ) -> Expression:
        """The expression at a place; one with a fault is noted as a problem."""
        try:
            rule = expressions.check(text, scope, self.vocabulary, condition)
        except Failure as error:
            self.problem(place, error.message, error.hint)
            return unchecked_expression()
        self.expressions[place] = rule
        return rule

    def want(
        self, rule: Expression, place: ContractPath, *kinds: str, nullable: bool = False
    ) -> None:
        """Notes a problem unless an expression has one of these kinds."""
        kind = rule.kind
        if kind.known and kind.name not in kinds:
            wanted = " or ".join(str(Kind(name)) for name in kinds)
            self.problem(place, f"this is {kind}", f"{wanted} belongs here")
        elif kind.known and kind.nullable and not nullable:
            self.problem(place, "this may be none here", "choose something that is always there")

    def config_names(self) -> dict[str, Value]:
        """The config keys, by name."""
        names = {}
        for name, kind in self.vocabulary.config.items():
            opacity = (("alpha", Value(NUMBER, Constant("opacity", name))),)
            sides = opacity if kind.name == "color" else ()
            names[name] = Value(kind, Constant("config", name), sides=sides)
        return names


@dataclass
class Context(Checking):
    """One contract while it is checked."""

    file: ContractFile = field(kw_only=True)
    elements: dict[str, ElementPlan] = field(default_factory=dict)  # those checked so far

    def want_signals(self, names: Iterable[str], place: ContractPath, hint: str) -> None:
        """Notes a problem where an informational element is among the names."""
        for name in sorted(names):
            if name in self.elements and self.elements[name].role == INFORMATIONAL:
                self.problem(place, f"{name!r} is informational and cannot decide", hint)

    def element(
        self, name: str, place: ContractPath, what: str = "an element"
    ) -> ElementPlan | None:
        """The element that a place refers to; if there is none, a problem is noted."""
        known = {name: plan for name, plan in self.elements.items() if not plan.ignored}
        if name not in known:
            self.problem(place, f"{name!r} is not {what}", suggestion(name, list(known)))
        return known.get(name)

    def scope(self) -> NameScope:
        """Config, and the elements that occur at most once."""
        names = self.config_names()
        for name, plan in self.elements.items():
            if plan.single:
                kind = Kind("element", shape=name, nullable=plan.may_lack)
                names[name] = Value(kind, Slot("element", name), element=name)
        return NameScope(names)

    def inside(self, element: str, scope: NameScope) -> NameScope:
        """The scope of what runs for each instance of an element."""
        shape = self.vocabulary.shapes[element]
        return NameScope(scope.names, attached=True).owned_by(shape, INSTANCE)


# ------------------------------------------------------------------------------------------ checks


def check_element(context: Context, name: str, spec: Element) -> None:
    """Checks an element, which may refer to earlier ones, and adds its plan to the context."""
    place, source = ("elements", name), spec.from_
    for word, prose in (("meaning", spec.meaning), ("ignore", spec.ignore)):
        if prose is not None and prose.strip() == UNWRITTEN:
            context.problem((*place, word), "this is a draft", "say what the element means")
    at, role = (*place, "from"), context.file.role(source)
    base = context.elements.get(source)
    if source in CHANNELS and role is None:
        context.problem(at, f"{source} is not in channels", f"add `{source}: signal`")
    elif source in CHANNELS and role == COSMETIC:
        message = f"{source} is cosmetic, so nothing reads it"
        context.problem(at, message, "make it signal, or remove this")
    elif source in CHANNELS:
        _Words(context, ElementPlan(name, spec, source, str(role), None)).check()
    elif base is not None and base.ignored:
        hint = suggestion(source, [*CHANNELS, *context.elements])
        context.problem(at, f"{source!r} is ignored, so nothing may refer to it", hint)
    elif base is None:
        hint = suggestion(source, [*CHANNELS, *context.elements])
        message = f"{source!r} is neither a channel nor an earlier element"
        context.problem(at, message, "move it up" if source in context.file.elements else hint)
    elif spec.ignore is not None:
        message = "a view claims nothing, so there is nothing to ignore"
        context.problem((*place, "ignore"), message, "remove the view")
    else:
        _Words(context, ElementPlan(name, spec, base.channel, base.role, source)).check()


class _Words:
    """The words of one element, in the order in which they work."""

    def __init__(self, context: Context, plan: ElementPlan) -> None:
        self.context, self.problem, self.plan = context, context.problem, plan
        self.spec, self.place = plan.spec, ("elements", plan.name)
        self.member = context.vocabulary.shapes[plan.spec.from_]
        self.payload = FieldNames()  # what decoding, or the entries of a decoded list, bring
        self.outer = context.scope()

    def check(self) -> None:
        plan, spec = self.plan, self.spec
        if plan.ignored:
            for word in sorted(spec.model_fields_set - _ALLOWED_WITH_IGNORE):
                message = "an ignored element is claimed and forgotten"
                self.problem((*self.place, word), message, "remove it")
        if spec.group is None and spec.parts is not None:
            place = (*self.place, "parts")
            self.problem(place, "parts are chosen inside a group", "add group: [fields]")
        self.shape = FieldNames(self.member, Item(OWNER, 0)) if spec.group is None else FieldNames()
        self.context.vocabulary.shapes[plan.name] = self.shape
        self.own = self.outer.owned_by(self.shape, INSTANCE)
        if spec.group is not None:
            self._group(spec.group)
        if spec.newest is not None:
            self._newest(spec.newest)
            self._per(spec.per or [])
        for word in ("per", "top"):
            if spec.newest is None and getattr(spec, word) is not None:
                message = f"{word} says of what, or how many, the newest are kept"
                self.problem((*self.place, word), message, "add `newest: x1`")
        if spec.parts is not None and spec.group is not None:
            self._parts()
        if spec.each is not None:
            self._each(spec.each)
        if spec.decode is not None:
            self._decode(spec.decode)
        if spec.where is not None:
            self._where(spec.where)
        self._reads()
        for name, attach in spec.attach.items():
            self._attach(name, attach, self._slot())
        if spec.key is not None:
            self._key(spec.key)
        if spec.evicted is not None:
            self._read_evicted(spec.evicted)
        self.context.elements[plan.name] = plan

    def _where(self, text: str) -> None:
        """Splits a condition: conjuncts that rest on decoded fields are tested after decoding."""
        scope = self.outer.owned_by(self.member, MEMBER).owned_by(self.payload, INSTANCE)
        rule = self._rule(text, (*self.place, "where"), scope, condition=True)
        before, after, proven_late = list[Conjunct](), list[Conjunct](), NO_FACTS
        for node, quote in rule.conjuncts:
            names = [mention.names for mention in Expression(node).mentions]
            prefixes = {path[:n] for path in names for n in range(1, len(path) + 1)}
            if prefixes & proven_late or any(map(self.payload.get, (path[0] for path in names))):
                after.append((node, quote))
                proven_late |= prove(node)[0]
            else:
                before.append((node, quote))
        self.plan.where, self.plan.sift = map(join_conjuncts, (before, after))
        for word in ("group", "newest"):
            if after and getattr(self.spec, word) is not None:
                message = f"{word} comes before decoding, and this condition after it"
                self.problem((*self.place, word), message, "write it in a view of this element")

    def _entry_fields(self, name: str) -> Mapping[str, PayloadField]:
        """The fields of the entries of a list that the element of a view decodes."""
        base = self.plan.base
        while base is not None:
            plan = self.context.elements[base]
            if plan.decode is not None and name in plan.decode.codec.fields:
                return plan.decode.codec.fields[name].fields or {}
            base = plan.base
        return {}

    def _each(self, name: str) -> None:
        place, value = (*self.place, "each"), self.member.get(name)
        for word in ("group", "newest", "decode"):
            if getattr(self.spec, word) is not None:
                message = f"{word} does not go with each"
                self.problem((*self.place, word), message, "write it in a view of this element")
        if value is None or value.kind.name != "list":
            message = f"{name!r} is not a decoded list"
            hint = "name a field of type list that the element in `from` decodes"
            self.problem(place, message, hint)
            return
        self.plan.each = Entries(value.of(MEMBER).at, self._slot())
        for i, (field_name, declared) in enumerate(self._entry_fields(name).items()):
            at = Item(Item(OWNER, self.plan.each.slot), i)
            payload = value.payload and (*value.payload, field_name)
            self._put_payload(field_name, Value(kind_of(declared), at, payload=payload))

    def _put_payload(self, name: str, value: Value) -> None:
        self.shape.put(name, value)
        self.payload.put(name, value)

    def _slot(self) -> int:
        self.plan.row += 1
        return self.plan.row - 1

    def _rule(
        self, text: str, place: ContractPath, scope: NameScope, condition: bool = False
    ) -> Expression:
        rule = self.context.check(text, place, scope, condition)
        self._check_references(rule.elements, place)
        self.plan.rules.append(rule)
        return rule

    def _check_references(self, names: Iterable[str], place: ContractPath) -> None:
        for name in sorted(names):
            other = self.context.elements.get(name)
            if other is not None and other.role == INFORMATIONAL and self.plan.role == SIGNAL:
                message = f"{name!r} is informational and would decide about a signal"
                hint = f"make the channel {other.channel} a signal, or do without"
                self.problem(place, message, hint)

    def _group(self, fields: list[str]) -> None:
        """Objects with equal keys; an anchor's bar and time are part of the key, so that no
        object of a group speaks for the others."""
        keys: list[Location] = []
        anchors: list[int] = []
        self.key_places: dict[str, int] = {}

        def add_key(at: Location) -> Location:
            """Adds to the key what a member has somewhere, and returns where an instance has it."""
            keys.append(at)
            return Item(OWNER, self._slot())

        for i, name in enumerate(fields):
            value, place = self.member.get(name), (*self.place, "group", i)
            if value is None:
                hint = suggestion(name, list(self.member.names()))
                self.problem(place, f"{name!r} is not a field here", hint)
                continue
            kind, value = value.kind, value.of(MEMBER)
            if kind.name not in _IDENTIFYING or (kind.nullable and kind.name != "color"):
                self.problem(place, f"{kind} cannot make a group", "choose a field that is there")
                continue
            self.plan.grouping |= value.needs
            self.key_places[name] = len(keys)
            if kind.name == "anchor":
                anchors.append(len(keys))
            at, sides = add_key(value.at), value.sides if kind.name == "anchor" else ()
            sides = tuple((part, replace(other, at=add_key(other.at))) for part, other in sides)
            shared, payload = kind.name == "color", value.payload
            self.shape.put(name, Value(kind, at, sides=sides, shared=shared, payload=payload))
        if not keys:
            self.problem((*self.place, "group"), "a group needs a field", "write group: [x1]")
        self.plan.group, self.plan.anchors = tuple(keys), tuple(anchors)

    def _newest(self, name: str) -> None:
        place, value = (*self.place, "newest"), self.member.get(name)
        if self.spec.group is None:
            rule = self._rule(name, place, NameScope({}).owned_by(self.member, MEMBER))
            self.context.want(rule, place, *_ORDERED)
            self.plan.newest = rule
        elif name not in self.spec.group:
            hint = f"one of {self.spec.group}"
            self.problem(place, f"{name!r} is not a key of the group", hint)
        elif value is not None and value.kind.name not in _ORDERED:
            self.problem(place, f"{value.kind} has no newest", "name an anchor")
        else:
            self.plan.newest_key = self.key_places.get(name)

    def _read_evicted(self, name: str) -> None:
        place, value = (*self.place, "evicted"), self.member.get(name)
        if self.plan.channel not in CAPS:
            message = f"nothing is evicted from {self.plan.channel}: they have no cap"
            self.problem(place, message, "remove it")
        elif self.spec.group is None:
            self.plan.age = self._rule(name, place, NameScope({}).owned_by(self.member, MEMBER))
            self.context.want(self.plan.age, place, *_ORDERED)
        elif name not in self.spec.group or value is None or value.kind.name not in _ORDERED:
            message = f"{name!r} is no key of the group that has an order"
            self.problem(place, message, "name an anchor of the group")
        else:
            self.plan.age_key = self.key_places.get(name)

    def _per(self, fields: list[str]) -> None:
        """The fields of objects, or keys of a group, for each value of which a newest is kept."""
        for i, name in enumerate(fields):
            value, place = self.member.get(name), (*self.place, "per", i)
            if self.spec.group is not None and name not in self.spec.group:
                hint = f"one of {self.spec.group}"
                self.problem(place, f"{name!r} is not a key of the group", hint)
            elif value is None:
                hint = suggestion(name, list(self.member.names()))
                self.problem(place, f"{name!r} is not a field here", hint)
            elif value.kind.name not in _IDENTIFYING or value.kind.name == "anchor":
                self.problem(place, f"{value.kind} tells nothing apart", "name a reading")
            else:
                self.plan.grouping |= value.needs
                self.plan.per = (*self.plan.per, value.of(MEMBER).at)
                if self.spec.group is not None:
                    self.plan.per_keys = (*self.plan.per_keys, self.key_places.get(name, 0))

    def _parts(self) -> None:
        scope = self.own.owned_by(self.member, MEMBER)
        for name, part in (self.spec.parts or {}).items():
            way, text = part.choice
            place = (*self.place, "parts", name, way)
            rule = self._rule(text, place, scope, condition=way == "where")
            if way != "where":
                self.context.want(rule, place, *_ORDERED)
            elif part.alike:
                self.problem(place, "only highest and lowest have ties", "remove alike")
            slot = self._slot()
            kind = Kind("element", shape=self.spec.from_, nullable=part.optional)
            self.shape.put(name, Value(kind, Item(OWNER, slot)))
            self.plan.parts[name] = GroupMember(way, rule, part.optional, slot, part.alike)

    def _decode(self, spec: Decode) -> None:
        place = (*self.place, "decode")
        rule = self._rule(spec.of, (*place, "of"), self.own)
        self.context.want(rule, (*place, "of"), "text")
        codec, faults = compile_codec(spec, self.context.vocabulary.config)
        for steps, message, hint in faults:
            self.problem((*place, *steps), message, hint)
        slot = self._slot()
        self.plan.decode = Decoding(rule, codec, slot)
        for i, (name, declared) in enumerate(spec.fields.items()):
            payload = (self.plan.name, name)
            value = Value(kind_of(declared), Item(Item(OWNER, slot), i), payload=payload)
            self._put_payload(name, value)

    def _reads(self) -> None:
        scope = replace(self.own, encodings=True)
        for name, text in self.spec.reads.items():
            place = (*self.place, "reads", name)
            rule = self._rule(text, place, scope)
            kind, node = rule.kind, rule.node
            if kind.name in ("list", "pattern", "element", "none"):
                hint = "read a field, a number or a name"
                self.problem(place, f"{kind} is not a reading", hint)
            slots, sides = [(self._slot(), node)], list[tuple[str, Value]]()
            for part, side_kind in SIDES.get(kind.name, {}).items():
                if (other := side(node, part)) is not None:
                    slots.append((self._slot(), other))
                    at = Item(OWNER, slots[-1][0])
                    sides.append((part, Value(side_kind, at, side_needs(other))))
            value = Value(kind, Item(OWNER, slots[0][0]), sides=tuple(sides))
            self.shape.put(name, replace(value, shared=is_shared(node), unstable=rule.unstable))
            self.plan.reads[name] = Read(rule, tuple(slots))

    def _attach(self, name: str, attach: Attach, slot: int) -> None:
        place = (*self.place, "attach", name)
        other = self.context.element(attach.from_, (*place, "from"), "an earlier element")
        if other is None:
            return
        self._check_references([other.name], (*place, "from"))
        several = is_several(attach.count)
        if attach.count[1] == 0:
            self.problem((*place, "count"), "nothing would be attached", "write 1, 0..1 or 0..")
        if several and attach.nearest is not None:
            message = "several are attached, and nearest would choose one"
            self.problem((*place, "nearest"), message, "remove it, or write count: 0..1")
        one = Kind("element", shape=other.name)
        both = self.own.with_names({name: Value(one, CANDIDATE, element=other.name)})
        ranges = tuple(self._ranges(attach.within, (*place, "within"), other.name))
        where = nearest = None
        if attach.where is not None:
            where = self._rule(attach.where, (*place, "where"), both, condition=True)
        if attach.nearest is not None:
            at = (*place, "nearest")
            nearest = self._rule(attach.nearest, at, both)
            self.context.want(nearest, at, "number")
        kind = Kind("list", of=one) if several else replace(one, nullable=attach.count[0] == 0)
        self.shape.put(name, Value(kind, Item(OWNER, slot), element=other.name))
        self.plan.attachments.append(
            Attachment(
                name, other.name, slot, attach.count, attach.exclusive, ranges, where, nearest
            )
        )

    def _ranges(
        self, within: Mapping[str, list[str]], place: ContractPath, other: str
    ) -> Iterator[Range]:
        """The ranges in which a candidate must lie: the first is searched, the others tested."""
        if not within:
            self.problem(place, "a range is missing", "write {field: [low, high]}")
        scope = NameScope({}).owned_by(self.context.vocabulary.shapes[other], CANDIDATE)
        for text, ends in within.items():
            at = (*place, text)
            of = self._rule(text, at, scope)
            self.context.want(of, at, *_ORDERED, nullable=True)
            if len(ends) != 2:
                self.problem(at, "a range has two ends", "write [low, high]")
                continue
            bounds = [self._rule(end, (*at, n), self.own) for n, end in enumerate(ends)]
            for bound in bounds if of.kind.known else ():
                self.context.want(bound, at, of.kind.name)
            yield Range(at, of, *bounds)

    def _key(self, texts: list[str]) -> None:
        rules = []
        for n, text in enumerate(texts):
            place = (*self.place, "key", n)
            rule = self.context.check(text, place, self.own)
            self._check_references(rule.elements, place)
            self.context.want(rule, place, *_IDENTIFYING, nullable=True)
            if rule.unstable or rule.kind.name == "anchor":
                self.problem(place, SHIFTING, "identify by .time, prices or decoded ids")
            rules.append(rule)
        if not texts:
            self.problem((*self.place, "key"), "a key needs an expression", "write key: [x1.time]")
        self.plan.key = tuple(rules)
