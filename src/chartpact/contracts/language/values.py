"""Names and their values: kinds, locations in generated code, and scopes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from chartpact.checks import is_flag, is_number
from chartpact.contracts.language.document import suggestion
from chartpact.palette import TEXT_SIZES, is_hex
from chartpact.snapshot import CHANNELS, CHART, FIELDS
from chartpact.snapshot.structure import CHART_NEEDS

POINTS = "points"  # how a size in points, rather than by name, is read


# ------------------------------------------------------------------------------------------- kinds


@dataclass(frozen=True)
class Kind:
    """A kind of value.

    `nullable`: it may be none. `absent`: it may be none because the element it belongs to may not
    be there. `loose`: a fact of the chart, which may be unknown; where it is needed, its lack makes
    the reading unavailable.
    """

    name: str  # number text bool color anchor time enum element list pattern none unknown
    nullable: bool = False
    names: tuple[str, ...] = ()  # of an enum
    shape: str | None = None  # of an element: whose names it has
    of: "Kind | None" = None  # of a list
    absent: bool = False
    loose: bool = False

    def or_none(self, absent: bool = False) -> "Kind":
        return replace(self, nullable=True, absent=self.absent or absent)

    def there(self) -> "Kind":
        """This kind where it is known not to be none."""
        return replace(self, nullable=False, absent=False, loose=False)

    @property
    def known(self) -> bool:
        return self.name != "unknown"

    @property
    def domain(self) -> tuple[Any, ...] | None:
        """The values of a finite kind, None standing for absent; None where it is not finite."""
        if self.name not in ("bool", "enum"):
            return None
        values = (True, False) if self.name == "bool" else self.names
        return (*values, None) if self.nullable else values

    def __str__(self) -> str:
        words = _WORDS.get(self.name, f"a {self.name}")
        if self.name == "enum":
            words = " or ".join(repr(name) for name in self.names[:8])
            words += " …" if len(self.names) > 8 else ""
        elif self.name == "list":
            words = f"a list, each {self.of}"
        return f"{words}, or none" if self.nullable and self.name != "none" else words


_WORDS = {"bool": "a condition", "color": "a colour", "anchor": "an anchor"}
_WORDS |= {"element": "an element", "none": "none", "unknown": "unknown"}

NUMBER, TEXT, BOOL, COLOR = Kind("number"), Kind("text"), Kind("bool"), Kind("color")
ANCHOR, TIME, PATTERN = Kind("anchor"), Kind("time"), Kind("pattern")
NONE, UNKNOWN = Kind("none", nullable=True), Kind("unknown")


def enum(names: Iterable[str]) -> Kind:
    return Kind("enum", names=tuple(dict.fromkeys(names)))


def union(a: Kind, b: Kind) -> Kind | None:
    """The kind of a value that is either; None where they do not go together."""
    if not a.known or not b.known:
        return UNKNOWN
    nullable, absent = a.nullable or b.nullable, a.absent or b.absent
    if a.name == "none":
        return replace(b, nullable=True)
    if b.name == "none":
        return replace(a, nullable=True)
    if a.name == b.name == "enum":
        return replace(enum((*a.names, *b.names)), nullable=nullable, absent=absent)
    if {a.name, b.name} == {"enum", "text"}:
        return replace(TEXT, nullable=nullable, absent=absent)
    if a.name == b.name and a.name in ("number", "text", "bool", "color", "anchor", "time"):
        return replace(a, nullable=nullable, absent=absent, loose=a.loose or b.loose)
    return None


# ----------------------------------------------------------------------------------------- columns


class Column(NamedTuple):
    """A column of a channel's rows: a field, or the `alpha`, `bar` or `time` of one."""

    channel: str
    field: str
    part: str = ""

    @property
    def name(self) -> str:
        """The column as a source declares it."""
        return f"{self.field}.{self.part}" if self.part else self.field

    @property
    def needs(self) -> "Needs":
        """The columns that a source must deliver for this one."""
        fields = MADE_OF.get((self.channel, self.field), (self.field,))
        part = "" if self.part == "alpha" else self.part
        # Which side of a box is its left one is told by the order of its anchors.
        parts = {part, ""} if self.field in ("left", "right") else {part}
        return frozenset(Column(self.channel, field, part) for field in fields for part in parts)

    def __str__(self) -> str:
        return f"{self.channel}.{self.name}"


Needs = frozenset[Column]
NOTHING: Needs = frozenset()
Names = tuple[str, ...]  # a name and what follows its dots

# Fields that are derived, and the edges of a box, which may be drawn from any corner.
MADE_OF = {
    ("lines", "horizontal"): ("y1", "y2"),
    ("lines", "vertical"): ("x1", "x2"),
    ("boxes", "top"): ("top", "bottom"),
    ("boxes", "bottom"): ("top", "bottom"),
    ("boxes", "left"): ("left", "right"),
    ("boxes", "right"): ("left", "right"),
}


def field_names(channel: str) -> list[str]:
    """The names that expressions may use for a channel's objects."""
    names = [name for name, field in FIELDS[channel].items() if field.kind != "id"]
    return [*names, "horizontal", "vertical"] if channel == "lines" else names


# --------------------------------------------------------------------------------------- locations


@dataclass(frozen=True)
class Local:
    """A variable of a generated function."""

    name: str


class Slot(NamedTuple):
    """A result that the reading has found so far.

    An `element`, its `list`, a `machine`, a `chart` fact, or the `notes` of what it had to assume.
    Of a strategy: an `input`, a `fact`, a `config` key or the `moment`.
    """

    what: str
    name: str


@dataclass(frozen=True)
class Constant:
    """A value that a configuration fixes.

    `config` and `opacity` name a key, `encoding` a table (and the kind it reads), `pattern` holds
    its text, `decoder` names an element; `half_tick` and `to_tick` are made of the tick size. The
    zone of `time_of_day` and the roll of `trading_day` are a text, or a key where `kind` is config.
    """

    what: str
    name: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Item:
    """One place of a row or an instance, or one key of an object."""

    of: "Location"
    step: int | str | Column


Location = Local | Slot | Constant | Item
OWNER = Local("")  # in the location of a member: whatever has it


def relocate(at: Location, owner: Location) -> Location:
    """The location of a member of one particular owner."""
    if isinstance(at, Item):
        return Item(relocate(at.of, owner), at.step)
    return owner if at == OWNER else at


# ------------------------------------------------------------------------------------------ values


@dataclass(frozen=True)
class Value:
    """The value of a name: its kind, its location, and the columns it needs."""

    kind: Kind
    at: Location
    needs: Needs = NOTHING
    sides: tuple[tuple[str, "Value"], ...] = ()  # values that belong to this one: see SIDES
    element: str | None = None  # the element that this is an instance of
    shared: bool = False  # a colour of a group, whose members may differ in opacity
    unstable: bool = False  # derived from bar numbers or the order of anchors
    payload: Names | None = None  # of a decoded field: the element that decodes it, and its names

    def side(self, name: str) -> "Value | None":
        return dict(self.sides).get(name)

    def of(self, owner: Location) -> "Value":
        """This value of one particular owner."""
        sides = tuple((name, side.of(owner)) for name, side in self.sides)
        return replace(self, at=relocate(self.at, owner), sides=sides)


# The values that belong to one of a kind: a colour's opacity, an anchor's bar and time.
SIDES: Mapping[str, Mapping[str, Kind]] = {
    "color": {"alpha": NUMBER},
    "anchor": {"bar": NUMBER, "time": TIME},
}
_PLAIN = {"number": NUMBER, "whole": NUMBER, "flag": BOOL, "text": TEXT}


def field_value(channel: str, name: str) -> Value:
    """A field of one drawn object."""
    column = Column(channel, name)
    if (channel, name) in (("lines", "horizontal"), ("lines", "vertical")):
        return Value(BOOL, Item(OWNER, column), column.needs)
    field = FIELDS[channel][name]
    match field.kind:
        case "color":
            kind = COLOR.or_none()
        case "anchor":
            kind = ANCHOR
        case "name":
            kind = enum(field.names)
        case "size":
            kind = enum((*TEXT_SIZES, POINTS))
        case _:
            kind = _PLAIN[field.kind]
    if (channel, name) == ("labels", "y"):  # above or below its bar, a label has no price
        kind = kind.or_none()
    sides = []
    for part, side_kind in SIDES.get(field.kind, {}).items():
        other = Column(channel, name, part)
        sides.append((part, Value(side_kind, Item(OWNER, other), other.needs)))
    return Value(kind, Item(OWNER, column), column.needs, tuple(sides))


# ------------------------------------------------------------------------------------------- scope


class FieldNames:
    """The names that something with fields has; a view has those of its base beside its own."""

    def __init__(self, base: "FieldNames | None" = None, through: Location = OWNER) -> None:
        self._own: dict[str, Value] = {}
        self._base, self._through = base, through

    def put(self, name: str, value: Value) -> None:
        self._own[name] = value

    def get(self, name: str) -> Value | None:
        if name in self._own:
            return self._own[name]
        inherited = self._base.get(name) if self._base is not None else None
        return inherited and inherited.of(self._through)

    def names(self) -> Iterator[str]:
        yield from self._own
        if self._base is not None:
            yield from self._base.names()


CHART_KINDS: Mapping[str, Kind] = {
    name: TIME if name == "as_of" or name.endswith("_time") else _PLAIN[field.kind]
    for name, field in CHART.items()
}


def chart_kind(name: str) -> Kind:
    """The kind of a fact of the chart; most may be unknown to a source."""
    kind = CHART_KINDS[name]
    return kind if name in CHART_NEEDS else replace(kind, nullable=True, loose=True)


@dataclass(frozen=True)
class EncodedLook:
    """One look of an encoding's meaning: a literal, none, or the value of a config key."""

    value: Any = None
    key: str | None = None

    def __str__(self) -> str:
        return repr(self.key or ("none" if self.value is None else self.value))

    def misfit(self, kind: Kind, config: Mapping[str, Kind]) -> str | None:
        """The reason why no value of a kind can look so, if there is one."""
        value = self.value
        if self.key is not None:
            key = config[self.key]
            if key.name == kind.name == "enum":
                extra = [name for name in key.names if name not in kind.names]
                return f"{self.key} may be {extra[0]!r}, which never occurs" if extra else None
            fits = key.name == kind.name or (key.name == "enum" and kind.name == "text")
            return None if fits else f"the config key {self.key} is {key}"
        if value is None:
            return None if kind.name == "color" and kind.nullable else "none never occurs"
        if kind.name == "bool":
            return None if is_flag(value) else f"{value!r} is not true or false"
        if kind.name == "number":
            return None if is_number(value) else f"{value!r} is not a number"
        if not isinstance(value, str):
            return f"{value!r} is not a text"
        if kind.name == "color":
            return None if is_hex(value) else f"{value!r} is not a colour #rrggbb"
        if kind.name == "enum" and value not in kind.names:
            return f"{value!r} never occurs; {suggestion(value, kind.names)}"
        return None


Tables = Mapping[str, Mapping[str, tuple[EncodedLook, ...]]]  # encoding → meaning → its looks


@dataclass
class Vocabulary:
    """The encodings, config keys and shapes that all expressions of a contract share.

    Where it is `strict`, what may be none is not compared: none would silently equal nothing.
    """

    tables: Tables = field(default_factory=dict)
    config: Mapping[str, Kind] = field(default_factory=dict)
    shapes: dict[str, FieldNames] = field(
        default_factory=lambda: {name: FieldNames() for name in CHANNELS}
    )
    strict: bool = False

    def __post_init__(self) -> None:
        for channel in CHANNELS:
            for name in field_names(channel):
                self.shapes[channel].put(name, field_value(channel, name))


Facts = frozenset[Names]  # the names that are known to be there
NO_FACTS: Facts = frozenset()


@dataclass(frozen=True)
class NameScope:
    """The names an expression may use, and what it may do with them."""

    names: Mapping[str, Value]
    owners: tuple[
        tuple[FieldNames, Location], ...
    ] = ()  # whose names stand bare, the nearest first
    lists: frozenset[str] = frozenset()  # elements that a list may run over
    attached: bool = False  # whether a list may run over what is attached to an instance
    encodings: bool = False  # whether encodings may be called
    facts: Facts = NO_FACTS  # what is known to be there

    def get(self, name: str) -> Value | None:
        for shape, owner in self.owners:
            if (value := shape.get(name)) is not None:
                return value.of(owner)
        return self.names.get(name)

    def runs_over(self, at: Location) -> bool:
        """Whether the fields of the value at a location can be named without a prefix."""
        return any(owner == at for _, owner in self.owners)

    def all_names(self) -> list[str]:
        return [*self.names, *(name for shape, _ in self.owners for name in shape.names())]

    def owned_by(self, shape: FieldNames, owner: Location = OWNER) -> "NameScope":
        return replace(self, owners=((shape, owner), *self.owners))

    def with_names(self, names: Mapping[str, Value]) -> "NameScope":
        return replace(self, names={**self.names, **names})
