"""What names mean in an expression: the code that fetches a value, its kind, and what it needs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from chartpact.contracts.kinds import (
    ANCHOR,
    BOOL,
    COLOR,
    NUMBER,
    TEXT,
    TIME,
    Kind,
    enum,
)
from chartpact.palette import TEXT_SIZES
from chartpact.snapshot import CHART, FIELDS

OWNER = "§"  # in the code of a member: stands for the code of what has it
POINTS = "points"  # how a size in points, rather than by name, is read


@dataclass(frozen=True)
class Need:
    """A field of a channel that a source must deliver."""

    channel: str
    field: str

    def __str__(self) -> str:
        return f"{self.channel}.{self.field}"


Needs = frozenset[Need]
NOTHING: Needs = frozenset()


@dataclass(frozen=True)
class Side:
    """A second value that belongs to a first: a colour's opacity, an anchor's bar or time."""

    code: str
    needs: Needs = NOTHING


@dataclass(frozen=True)
class Value:
    """What a name or an expression stands for."""

    kind: Kind
    code: str
    needs: Needs = NOTHING
    alpha: Side | None = None
    bar: Side | None = None
    time: Side | None = None
    element: str | None = None  # the element that this is an instance of
    shared: bool = False  # a colour of a group, whose members may differ in opacity
    unstable: bool = False  # derived from bar numbers or the order of anchors

    def sides(self) -> dict[str, Side]:
        """What belongs to this value, by name."""
        found = {"alpha": self.alpha, "bar": self.bar, "time": self.time}
        return {name: side for name, side in found.items() if side is not None}

    def with_side(self, name: str, side: Side) -> "Value":
        sides = {**self.sides(), name: side}
        return replace(self, alpha=sides.get("alpha"), bar=sides.get("bar"), time=sides.get("time"))

    def on(self, owner: str) -> "Value":
        """This value of one particular owner."""

        def put(side: Side | None) -> Side | None:
            return side and replace(side, code=side.code.replace(OWNER, owner))

        return replace(
            self,
            code=self.code.replace(OWNER, owner),
            alpha=put(self.alpha),
            bar=put(self.bar),
            time=put(self.time),
        )


class Shape:
    """The names that something with fields has; a view has those of its base beside its own."""

    def __init__(self, base: "Shape | None" = None, through: str = OWNER) -> None:
        self._own: dict[str, Value] = {}
        self._base, self._through = base, through

    def put(self, name: str, value: Value) -> None:
        self._own[name] = value

    def get(self, name: str) -> Value | None:
        if name in self._own:
            return self._own[name]
        found = self._base.get(name) if self._base is not None else None
        return found and found.on(self._through)

    def names(self) -> Iterator[str]:
        yield from self._own
        if self._base is not None:
            yield from self._base.names()


def column(channel: str, name: str) -> str:
    """The code of a column of a row; the emitter gives each column it meets its place."""
    return f"{OWNER}[⟨{channel}.{name}⟩]"


_KINDS = {"number": NUMBER, "whole": NUMBER, "flag": BOOL, "text": TEXT, "anchor": ANCHOR}


class Rows(Shape):
    """The fields of one drawn object."""

    def __init__(self, channel: str) -> None:
        super().__init__()
        for name in field_names(channel):
            self.put(name, _field(channel, name))


def _field(channel: str, name: str) -> Value:
    code = column(channel, name)
    if channel == "lines" and name in ("horizontal", "vertical"):
        ends = ("y1", "y2") if name == "horizontal" else ("x1", "x2")
        first, second = (column(channel, end) for end in ends)
        known = "" if name == "horizontal" else " != NOWHERE"
        needs = frozenset(Need(channel, end) for end in ends)
        return Value(BOOL, f"({first} == {second}{known})", needs)
    field = FIELDS[channel][name]
    needs = frozenset([Need(channel, name)])
    if channel == "boxes" and name in ("top", "bottom"):  # which is which, both tell
        needs = frozenset([Need(channel, "top"), Need(channel, "bottom")])
    if field.kind == "color":
        alpha = Side(column(channel, f"{name}.alpha"), needs)
        return Value(COLOR.or_none(), code, needs, alpha=alpha)
    if field.kind == "anchor":
        bar, time = (
            Side(column(channel, f"{name}.{part}"), frozenset([Need(channel, f"{name}.{part}")]))
            for part in ("bar", "time")
        )
        return Value(ANCHOR, code, needs, bar=bar, time=time)
    if field.kind in ("name", "size"):
        names = field.names if field.kind == "name" else (*TEXT_SIZES, POINTS)
        return Value(enum(names), code, needs)
    kind = _KINDS[field.kind]
    if channel == "labels" and name == "y":  # above or below its bar, a label has no price
        kind = kind.or_none()
    return Value(kind, code, needs)


def field_names(channel: str) -> list[str]:
    """The names that expressions may use for a channel's objects."""
    names = [name for name, field in FIELDS[channel].items() if field.kind != "id"]
    return [*names, "horizontal", "vertical"] if channel == "lines" else names


CHART_KINDS: Mapping[str, Kind] = {
    "symbol": TEXT,
    "timeframe": TEXT,
    "as_of": TIME,
    "confirmed": BOOL,
    "last_bar": NUMBER,
    "last_time": TIME,
    "tick_size": NUMBER,
    "timezone": TEXT,
}
assert set(CHART_KINDS) == set(CHART)


@dataclass(frozen=True)
class Scope:
    """The names an expression may use, and what it may do with them."""

    names: Mapping[str, Value]
    owners: tuple[tuple[Shape, str], ...] = ()  # whose names stand bare, the nearest first
    sets: Mapping[str, Value] = field(default_factory=dict)  # elements a list may run over
    encodings: bool = False

    def get(self, name: str) -> Value | None:
        for shape, code in self.owners:
            if (found := shape.get(name)) is not None:
                return found.on(code)
        return self.names.get(name)

    def known(self) -> list[str]:
        return [*self.names, *(name for shape, _ in self.owners for name in shape.names())]

    def owned_by(self, shape: Shape, code: str) -> "Scope":
        return replace(self, owners=((shape, code), *self.owners))

    def narrowed(self, name: str, value: Value) -> "Scope":
        """The scope in which a name is known to be there."""
        shape = Shape()
        shape.put(name, value)
        return replace(self, owners=((shape, ""), *self.owners))

    def with_names(self, names: Mapping[str, Value]) -> "Scope":
        return replace(self, names={**self.names, **names})
