"""The element dictionary, compiled: for each element the functions that match, build and attach.

An instance is a list. Its place 0 holds what it was made of: a row of the channel, an instance of
the element that a view looks at, or the members of a group. Then come a group's keys and parts,
decoded fields, readings, attachments, and last the row of its state machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from chartpact.contracts import codecs
from chartpact.contracts.attachments import Attachment, Search
from chartpact.contracts.context import Context, path_of
from chartpact.contracts.document import Place
from chartpact.contracts.errors import suggestion
from chartpact.contracts.expressions import Compiled
from chartpact.contracts.kinds import Kind
from chartpact.contracts.model import Attach, Element
from chartpact.contracts.scope import NOTHING, OWNER, Needs, Rows, Scope, Shape, Value
from chartpact.snapshot import CHANNELS

SIGNAL, INFORMATIONAL, COSMETIC = "signal", "informational", "cosmetic"
_ORDERED = ("number", "time", "anchor")
_GROUPABLE = ("number", "text", "bool", "color", "anchor", "enum", "time")
_IDENTIFYING = ("number", "text", "bool", "color", "enum", "time")
_ALLOWED_WITH_IGNORE = {"from_", "where", "count", "ignore", "meaning", "changes"}


@dataclass
class ElementCode:
    """An element as the engine runs it."""

    name: str
    spec: Element
    channel: str
    role: str
    base: str | None  # of a view: the element that it looks at
    shape: Shape
    where: bool = False
    group: tuple[int, ...] | None = None  # places of anchors among the keys
    newest: int | None = None  # of a group: the place of the key
    parts: dict[str, int] = field(default_factory=dict)  # where an instance keeps each part
    decode: codecs.Codec | None = None
    attachments: tuple[Attachment, ...] = ()
    key: bool = False
    slots: int = 1
    row: int = 0  # the place of its state machine's row
    needs: Needs = NOTHING
    asked: Needs = NOTHING  # its needs, and those of what gives it out
    tracking: Needs = NOTHING  # needed only to follow it through time
    uses: frozenset[str] = frozenset()  # other elements its expressions refer to
    nodes: int = 0
    free: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def ignored(self) -> bool:
        return self.spec.ignore is not None

    @property
    def single(self) -> bool:
        return self.spec.count[1] is not None and self.spec.count[1] <= 1 and not self.ignored

    @property
    def may_lack(self) -> bool:
        return self.spec.count[0] == 0 or self.role == INFORMATIONAL

    def value(self) -> Value:
        """What the element's name stands for, where it occurs at most once."""
        kind = Kind("element", shape=self.shape, nullable=self.may_lack)
        return Value(kind, f"e_{self.name}", element=self.name)

    def items(self) -> Value:
        """What a list runs over."""
        kind = Kind("list", of=Kind("element", shape=self.shape))
        return Value(kind, f"L_{self.name}", element=self.name)


class ElementCompiler:
    """Compiles one element after the other; each may refer to earlier ones."""

    def __init__(self, context: Context, base_scope: Scope) -> None:
        self.context, self.module = context, context.module
        self.base_scope = base_scope
        self.done: dict[str, ElementCode] = {}

    def scope(self) -> Scope:
        """Config, the chart, and the elements that occur at most once."""
        singles = {name: each.value() for name, each in self.done.items() if each.single}
        return self.base_scope.with_names(singles)

    def compile(self, name: str, spec: Element) -> None:
        place: Place = ("elements", name)
        started = self._begin(name, spec, place)
        if started is None:
            return
        element, member = started
        work = _Work(self, element, member, place)
        work.run()
        if not element.ignored or element.base is None:
            self.done[name] = element

    def _begin(self, name: str, spec: Element, place: Place) -> tuple[ElementCode, Shape] | None:
        source, at = spec.from_, (*place, "from")
        if source in CHANNELS:
            role = self.context.file.channels.get(source)  # type: ignore[call-overload]
            if role is None:
                self.context.problem(at, f"{source} is not in channels", f"add `{source}: signal`")
                return None
            if role == COSMETIC:
                self.context.problem(
                    at,
                    f"{source} is cosmetic, so nothing reads it",
                    "make it signal, or remove this",
                )
                return None
            member: Shape = Rows(source)
            return ElementCode(name, spec, source, role, None, Shape()), member
        base = self.done.get(source)
        if base is None or base.ignored:
            later = source in self.context.file.elements
            message = f"{source!r} is neither a channel nor an earlier element"
            if base is not None:
                message = f"{source!r} is ignored, so nothing may refer to it"
            hint = (
                "move it up"
                if later and base is None
                else suggestion(source, [*CHANNELS, *self.done])
            )
            self.context.problem(at, message, hint)
            return None
        if spec.ignore is not None:
            self.context.problem(
                (*place, "ignore"), "a view claims nothing, so there is nothing to ignore",
                "remove the view",
            )  # fmt: skip
            return None
        return ElementCode(name, spec, base.channel, base.role, source, Shape()), base.shape


class _Work:
    """The words of one element, in the order in which they work."""

    def __init__(
        self, compiler: ElementCompiler, element: ElementCode, member: Shape, place: Place
    ) -> None:
        self.compiler, self.context, self.module = compiler, compiler.context, compiler.module
        self.element, self.member, self.place = element, member, place
        self.spec = element.spec
        self.outer = compiler.scope()
        self.needs: set[object] = set()
        self.uses: set[str] = {element.base} if element.base else set()
        self.build: list[tuple[str, str]] = []  # the lines of the loop that builds instances
        self.free: set[str] = set()
        self.local: Scope = self.outer
        self.slots_of_keys: list[str] = []
        self.read_slots: list[str] = []

    def run(self) -> None:
        element, spec = self.element, self.spec
        if element.ignored:
            extra = spec.model_fields_set - _ALLOWED_WITH_IGNORE
            for word in sorted(extra):
                self._problem(word, "an ignored element is claimed and forgotten", "remove it")
        self._where()
        if spec.group is not None:
            self._group()
        else:
            element.shape = Shape(self.member, f"{OWNER}[0]")
            self.local = self.outer.owned_by(self.member, "m")
            if spec.parts is not None:
                self._problem("parts", "parts are chosen inside a group", "add group: [fields]")
        if spec.newest is not None:
            self._newest(spec.newest)
        if spec.parts is not None and spec.group is not None:
            self._parts()
        if spec.decode is not None:
            self._decode()
        self._reads()
        self._emit_build()
        for name, attach in spec.attach.items():
            self._attach(name, attach)
        if spec.key is not None:
            self._key(spec.key)
        element.row = self._slot()
        element.slots = element.row + 1
        element.needs = frozenset(self.needs)  # type: ignore[arg-type]
        element.uses = frozenset(self.uses)

    # ------------------------------------------------------------------------------- book-keeping

    def _problem(self, word: str, message: str, hint: str = "") -> None:
        self.context.problem((*self.place, word), message, hint)

    def _slot(self) -> int:
        at = self.element.slots
        self.element.slots += 1
        return at

    def _took(self, compiled: Compiled, place: Place, tracking: bool = False) -> Compiled:
        """Notes what an expression of this element depends on."""
        if tracking:
            self.element.tracking |= compiled.needs
        else:
            self.needs |= compiled.needs
        self.element.nodes += compiled.nodes
        others = compiled.elements - {self.element.name}
        for name in sorted(others):
            self._check_reference(name, place)
        self.uses |= others
        return compiled

    def _check_reference(self, name: str, place: Place) -> None:
        other = self.compiler.done.get(name)
        if other is not None and other.role == INFORMATIONAL and self.element.role == SIGNAL:
            self.context.problem(
                place,
                f"{name!r} is informational and would decide about a signal",
                f"make the channel {other.channel} a signal, or do without",
            )

    # --------------------------------------------------------------------------------- the words

    def _where(self) -> None:
        if self.spec.where is None:
            return
        place = (*self.place, "where")
        scope = self.outer.owned_by(self.member, "m")
        found = self._took(self.context.condition(self.spec.where, place, scope), place)
        self.element.where = True
        self.module.function(f"where_{self.element.name}", "items, S", found.free)
        self.module.line(f"return [m for m in items if {found.code}]", path_of(place))

    def _group(self) -> None:
        """Objects with equal keys; an anchor's bar and time are part of the key, so that no
        object of a group speaks for the others."""
        codes: list[str] = []
        anchors: list[int] = []
        names = Shape()
        self.key_places: dict[str, int] = {}

        def key(code: str) -> tuple[str, str]:
            codes.append(code.replace(OWNER, "m"))
            self.slots_of_keys.append(f"key[{len(codes) - 1}]")
            return f"{OWNER}[{self._slot()}]", self.slots_of_keys[-1]

        for i, name in enumerate(self.spec.group or []):
            value, place = self.member.get(name), (*self.place, "group", i)
            if value is None:
                hint = suggestion(name, list(self.member.names()))
                self.context.problem(place, f"{name!r} is not a field here", hint)
                continue
            if value.kind.name not in _GROUPABLE or (
                value.kind.nullable and value.kind.name != "color"
            ):
                self.context.problem(
                    place, f"{value.kind} cannot make a group", "choose a field that is there"
                )
                continue
            self.needs |= value.needs
            self.key_places[name] = len(codes)
            if value.kind.name == "anchor":
                anchors.append(len(codes))
            there, here = key(value.code)
            shared = value.kind.name == "color"
            kept = Value(value.kind, there, shared=shared)
            local = Value(value.kind, here, shared=shared)
            for side, other in value.sides().items():
                if side != "alpha":
                    there, here = key(other.code)
                    kept = kept.with_side(side, replace(other, code=there))
                    local = local.with_side(side, replace(other, code=here))
            self.element.shape.put(name, kept)
            names.put(name, local)
        if not codes:
            self._problem("group", "a group needs a field", "write group: [x1]")
        self.element.group = tuple(anchors)
        self.local = self.outer.owned_by(names, "")
        self.module.function(f"group_{self.element.name}", "items, S", ())
        listed = "".join(f"{code}, " for code in codes)
        self.module.line(f"return [({listed}) for m in items]", path_of((*self.place, "group")))

    def _newest(self, name: str) -> None:
        place = (*self.place, "newest")
        if self.spec.group is not None:
            if name not in self.spec.group:
                self.context.problem(
                    place, f"{name!r} is not a key of the group", f"one of {self.spec.group}"
                )
                return
            kind = self.member.get(name)
            if kind is not None and kind.kind.name not in _ORDERED:
                self.context.problem(place, f"{kind.kind} has no newest", "name an anchor")
                return
            self.element.newest = self.key_places.get(name)
            return
        scope = Scope({}).owned_by(self.member, "m")
        found = self._took(self.context.expression(name, place, scope), place)
        if self.context.want(found, place, *_ORDERED):
            self.element.newest = 0
            self.module.function(f"newest_{self.element.name}", "items, S", found.free)
            self.module.line(f"return [{found.code} for m in items]", path_of(place))

    def _parts(self) -> None:
        shapes = Shape()
        inner = self.local.owned_by(shapes, "")
        for name, part in (self.spec.parts or {}).items():
            way = next(
                way for way in ("where", "highest", "lowest") if getattr(part, way) is not None
            )
            text = str(getattr(part, way))
            place = (*self.place, "parts", name, way)
            scope = inner.owned_by(self.member, "m")
            variable, path = f"p_{name}", path_of(place[:-1])
            if way == "where":
                found = self._took(self.context.condition(text, place, scope), place)
                self._line(f"w = [m for m in left if {found.code}]", path_of(place))
                self._line("if len(w) > 1: raise tie(w)", path)
                self._choose(variable, "left.index(w[0])", part.optional, path)
            else:
                found = self._took(self.context.expression(text, place, scope), place)
                self.context.want(found, place, *_ORDERED)
                best = "max" if way == "highest" else "min"
                self._line(f"w = [{found.code} for m in left]", path_of(place))
                self._line(f"b = {best}(w) if w else None", path)
                self._line(
                    "if w.count(b) > 1: raise tie([m for m, v in zip(left, w) if v == b])", path
                )
                self._choose(variable, "w.index(b)", part.optional, path)
            self.free |= found.free
            slot = self._slot()
            kind = Kind("element", shape=self.member, nullable=part.optional)
            shapes.put(name, Value(kind, variable))
            self.element.shape.put(name, Value(kind, f"{OWNER}[{slot}]"))
            self.element.parts[name] = slot
            self.slots_of_keys.append(variable)
        self._line("if left: raise surplus(left)", path_of((*self.place, "parts")))
        self.local = inner

    def _choose(self, variable: str, place: str, optional: bool, path: str) -> None:
        """Takes the object at a place of what is left; `w` is empty where there is none."""
        if optional:
            self._line(f"{variable} = None", path)
            self._line(
                f"if w: n = {place}; {variable} = left[n]; left = left[:n] + left[n + 1:]", path
            )
            return
        self._line("if not w: raise nothing_left(members)", path)
        self._line(f"n = {place}; {variable} = left[n]; left = left[:n] + left[n + 1:]", path)

    def _line(self, code: str, path: str) -> None:
        self.build.append((code, path))

    def _decode(self) -> None:
        spec = self.spec.decode
        assert spec is not None
        place = (*self.place, "decode")
        found = self._took(
            self.context.expression(spec.of, (*place, "of"), self.local), (*place, "of")
        )
        self.context.want(found, (*place, "of"), "text")
        codec, problems = codecs.compile_codec(spec, self.context.vocabulary.config)
        for steps, message, hint in problems:
            self.context.problem((*place, *steps), message, hint)
        self.element.decode = codec
        self.free |= found.free
        self._line(f"d = D_{self.element.name}({found.code})", path_of(place))
        slot, names = self._slot(), Shape()
        for i, (name, field_kind) in enumerate(codecs.kinds(spec).items()):
            names.put(name, Value(field_kind, f"d[{i}]"))
            self.element.shape.put(name, Value(field_kind, f"{OWNER}[{slot}][{i}]"))
        self.local = self.local.owned_by(names, "")
        self.decode_slot = "d"

    def _reads(self) -> None:
        names = Shape()
        scope = replace(self.local.owned_by(names, ""), encodings=True)
        for name, text in self.spec.reads.items():
            place = (*self.place, "reads", name)
            found = self._took(self.context.expression(text, place, scope), place)
            if found.kind.name in ("list", "pattern", "element", "none"):
                self.context.problem(
                    place, f"{found.kind} is not a reading", "read a field, a number or a name"
                )
            self.free |= found.free
            value, path = found.value, path_of(place)
            self._line(f"v_{name} = {value.code}", path)
            put = Value(
                value.kind, f"{OWNER}[{self._slot()}]", shared=value.shared, unstable=found.unstable
            )
            self.read_slots.append(f"v_{name}")
            local = replace(put, code=f"v_{name}")
            for side, other in value.sides().items():
                variable = f"v_{name}__{side}"
                self._line(f"{variable} = {other.code}", path)
                put = put.with_side(side, replace(other, code=f"{OWNER}[{self._slot()}]"))
                local = local.with_side(side, replace(other, code=variable))
                self.read_slots.append(variable)
            self.element.shape.put(name, put)
            names.put(name, local)

    def _emit_build(self) -> None:
        """The loop that makes instances; it comes last, when every slot is known."""
        element, grouped = self.element, self.spec.group is not None
        slots = ["members" if grouped else "m"]
        if grouped:
            slots += self.slots_of_keys
        if self.spec.decode is not None:
            slots.append(self.decode_slot)
        slots += self.read_slots
        later = len(self.spec.attach) + 1
        made = ", ".join([*slots, *["None"] * later])
        self.module.function(f"build_{element.name}", "items, S", self.free)
        if not self.build and not grouped:
            self.module.line(f"return [[{made}] for m in items]", path_of(self.place))
            return
        self.module.line("out = []")
        self.module.line("for key, members in items:" if grouped else "for m in items:")
        if grouped:
            self.module.line("left = members", indent=2)
        for code, path in self.build:
            self.module.line(code, path, indent=2)
        self.module.line(f"out.append([{made}])", path_of(self.place), indent=2)
        self.module.line("return out")

    # --------------------------------------------------------------------------- attach and key

    def _attach(self, name: str, attach: Attach) -> None:
        place = (*self.place, "attach", name)
        other = self.compiler.done.get(attach.from_)
        slot = self._slot()
        if other is None or other.ignored:
            hint = suggestion(
                attach.from_, [n for n, e in self.compiler.done.items() if not e.ignored]
            )
            self.context.problem(
                (*place, "from"), f"{attach.from_!r} is not an earlier element", hint
            )
            return
        self.uses.add(other.name)
        self._check_reference(other.name, (*place, "from"))
        if attach.count not in ((1, 1), (0, 1)):
            self.context.problem((*place, "count"), "one instance is attached", "write 1 or 0..1")
        required = attach.count[0] == 1
        owner = self.outer.owned_by(self.element.shape, "i")
        candidate = Value(Kind("element", shape=other.shape), "c", element=other.name)
        both = owner.with_names({name: candidate})
        search = self._ranges(attach.within, (*place, "within"), other.shape, owner)
        if attach.where is not None:
            at = (*place, "where")
            test = self._took(self.context.condition(attach.where, at, both), at)
            search.free |= test.free
            search.tests.append(test.code)
        if attach.nearest is not None:
            at = (*place, "nearest")
            nearest = self._took(self.context.expression(attach.nearest, at, both), at)
            self.context.want(nearest, at, "number")
            search.free |= nearest.free
            search.nearest = nearest.code
        search.emit(self.module, f"attach_{self.element.name}_{name}", place)
        kind = Kind("element", shape=other.shape, nullable=not required)
        self.element.shape.put(name, Value(kind, f"{OWNER}[{slot}]", element=other.name))
        self.element.attachments += (
            Attachment(name, other.name, slot, required, attach.exclusive),
        )

    def _ranges(
        self, within: Mapping[str, list[str]], place: Place, candidate: Shape, owner: Scope
    ) -> Search:
        """The ranges in which a candidate must lie: the first is searched, the others tested."""
        search = Search()
        if not within:
            self.context.problem(place, "a range is missing", "write {field: [low, high]}")
        for k, (field_name, ends) in enumerate(within.items()):
            at = (*place, field_name)
            scope = Scope({}).owned_by(candidate, "c")
            found = self._took(self.context.expression(field_name, at, scope), at)
            self.context.want(found, at, *_ORDERED, nullable=True)
            if len(ends) != 2:
                self.context.problem(at, "a range has two ends", "write [low, high]")
                continue
            for n, (end, text) in enumerate(zip(("l", "h"), ends, strict=True)):
                bound = self._took(self.context.expression(text, (*at, n), owner), at)
                if found.kind.known and self.context.want(bound, at, found.kind.name):
                    search.free |= bound.free
                search.bounds.append((f"{end}{k} = {bound.code}", path_of(at)))
            search.free |= found.free
            if k == 0:
                search.keyed = found.code
            else:
                search.tests.append(f"{found.code} is not None and l{k} <= {found.code} <= h{k}")
        return search

    def _key(self, texts: list[str]) -> None:
        scope = self.outer.owned_by(self.element.shape, "i")
        codes, free = "", set[str]()
        for n, text in enumerate(texts):
            place = (*self.place, "key", n)
            found = self._took(self.context.expression(text, place, scope), place, tracking=True)
            self.context.want(found, place, *_IDENTIFYING, "anchor", nullable=True)
            if found.unstable or found.kind.name == "anchor":
                self.context.problem(
                    place,
                    "bar numbers and the order of anchors shift as history loads",
                    "identify by .time, prices or decoded ids",
                )
            codes += f"{found.code}, "
            free |= found.free
        if not texts:
            self._problem("key", "a key needs an expression", "write key: [x1.time]")
        self.element.key = True
        self.module.function(f"key_{self.element.name}", "items, S", free)
        self.module.line(f"return [({codes}) for i in items]", path_of((*self.place, "key")))
