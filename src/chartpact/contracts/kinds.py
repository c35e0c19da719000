"""The kinds of values that expressions have: what may be compared, given out, or be none."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chartpact.contracts.scope import Shape


@dataclass(frozen=True)
class Kind:
    """A kind of value.

    `nullable`: it may be none. `absent`: it may be none because the element it belongs to may not
    be there. `loose`: a fact of the chart, which may be unknown; where it is needed, its lack makes
    the reading unavailable.
    """

    name: str  # number text bool color anchor time enum element list pattern none unknown
    nullable: bool = False
    names: tuple[str, ...] = ()
    shape: "Shape | None" = field(default=None, compare=False)
    of: "Kind | None" = None
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

    def __str__(self) -> str:
        told = _TOLD.get(self.name, self.name)
        if self.name == "enum":
            told = " or ".join(repr(name) for name in self.names[:8])
            told += " …" if len(self.names) > 8 else ""
        elif self.name == "list" and self.of is not None:
            told = f"a list, each {self.of}"
        return f"{told}, or none" if self.nullable and self.name != "none" else told


_TOLD = {
    "number": "a number",
    "text": "a text",
    "bool": "a condition",
    "color": "a colour",
    "anchor": "an anchor",
    "time": "a time",
    "element": "an element",
    "pattern": "a pattern",
}

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


def domain(kind: Kind) -> tuple[Any, ...] | None:
    """The values of a finite kind, None standing for absent; nothing where it is not finite."""
    values: tuple[Any, ...]
    if kind.name == "bool":
        values = (True, False)
    elif kind.name == "enum":
        values = kind.names
    else:
        return None
    return (*values, None) if kind.nullable else values
