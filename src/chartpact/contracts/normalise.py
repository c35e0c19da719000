"""Drawn objects as rows: the fields a contract needs, checked and made comparable.

A column is taken from all records at once and checked as a whole, at the speed of C. Only when
something is irregular are records looked at one by one, to say which field of which is wrong.
The snapshot itself is never changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import isfinite
from operator import itemgetter
from typing import Any

from chartpact.contracts.scope import POINTS
from chartpact.palette import TEXT_SIZES, is_hex
from chartpact.snapshot import FIELDS, MAX_WHOLE, PRICES, Field, fault, is_number

NOWHERE = float("-inf")  # the order of an anchor outside the loaded history: older than every bar

Record = Any
Row = tuple[Any, ...]
Take = Callable[[Field, Sequence[Any]], Sequence[Any]]


class Irregular(Exception):
    """A column that cannot be taken as a whole."""


@dataclass(frozen=True)
class Wrong:
    """A field of a record that is missing or is not what it should be."""

    record: Record
    field: str | None
    message: str


@dataclass(frozen=True)
class Drawn:
    """What a channel shows: its records, their rows, and how many objects are not visible."""

    records: Sequence[Record]
    rows: list[Row]
    undrawn: int = 0


def rows(
    channel: str, records: Sequence[Record], columns: Sequence[str], needed: frozenset[str]
) -> Drawn | list[Wrong]:
    """The rows of a channel's objects, or everything that is wrong with them.

    Place 0 of a row is its number among the drawn records; a column that is not needed holds None.
    """
    names = _fields(channel, needed)
    try:
        visible = records
        raw = _raw({*names, *PRICES[channel]}, visible)
        if any(None in raw[name] for name in PRICES[channel]):
            visible = _visible(channel, records)
            raw = _raw(names, visible)
        return _drawn(channel, visible, columns, needed, raw, _fast, len(records))
    except (Irregular, LookupError, TypeError, AttributeError, ValueError, OverflowError):
        wrong = list(_wrong(channel, records, needed))
    if wrong:
        return wrong
    visible = _visible(channel, records)
    raw = _raw(names, visible)
    return _drawn(channel, visible, columns, needed, raw, _slow, len(records))


def _fields(channel: str, needed: Iterable[str]) -> set[str]:
    names = {column.partition(".")[0] for column in needed}
    if channel == "boxes" and names & {"top", "bottom"}:  # which is which, both tell
        names |= {"top", "bottom"}
    return names


def _raw(names: set[str], records: Sequence[Record]) -> dict[str, Sequence[Any]]:
    """The fields as columns; each record is looked at once, for they lie far apart in memory."""
    order = sorted(names)
    if not records or not order:
        return {name: () for name in order}
    if len(order) == 1:
        return {order[0]: list(map(itemgetter(order[0]), records))}
    return dict(zip(order, zip(*map(itemgetter(*order), records), strict=True), strict=True))


def _drawn(
    channel: str,
    records: Sequence[Record],
    columns: Sequence[str],
    needed: frozenset[str],
    raw: Mapping[str, Sequence[Any]],
    take: Take,
    given: int,
) -> Drawn:
    taken = [
        _column(channel, column, take, raw) if column in needed else repeat(None)
        for column in columns
    ]
    return Drawn(records, list(zip(range(len(records)), *taken)), given - len(records))  # noqa: B905


# ----------------------------------------------------------------------------------------- undrawn


def _visible(channel: str, records: Sequence[Record]) -> list[Record]:
    """The records without those that have no price, which are drawn nowhere."""
    if channel == "labels":
        return [r for r in records if r.get("y", 0) is not None or _beside_bar(r)]
    prices = PRICES[channel]
    return [r for r in records if all(r.get(name, 0) is not None for name in prices)]


def _beside_bar(record: Mapping[str, Any]) -> bool:
    return record.get("yloc", "price") in ("abovebar", "belowbar")


# ----------------------------------------------------------------------------------------- columns


def _column(
    channel: str, column: str, take: Take, raw: Mapping[str, Sequence[Any]]
) -> Iterable[Any]:
    name, _, part = column.partition(".")
    field, values = FIELDS[channel][name], raw[name]
    if channel == "boxes" and name in ("top", "bottom"):  # a box drawn upside down reads upright
        other = raw["bottom" if name == "top" else "top"]
        return map(max if name == "top" else min, take(field, values), take(field, other))
    if field.kind == "anchor":
        return take(_BAR if part else _ORDER, list(map(itemgetter(part or "n"), values)))
    return take(_ALPHA if part == "alpha" else field, values)


_ORDER, _BAR, _ALPHA = Field("order"), Field("bar"), Field("alpha", nullable=True)
_NUMBERS, _WHOLES, _TEXTS, _FLAGS = {int, float}, {int}, {str}, {bool}
_PLACES = {int, type(None)}


def _fast(field: Field, values: Sequence[Any]) -> Sequence[Any]:
    """A column whose values are all of the plainest types."""
    if not values:
        return values
    match field.kind:
        case "color":
            return list(map(_Rgb().__getitem__, values))
        case "alpha":
            return list(map(_Alpha().__getitem__, values))
        case "name":
            if not set(values) <= set(field.names):
                raise Irregular
            return values
        case "size":
            return list(map(_Sizes().__getitem__, values))
    types = set(map(type, values))
    match field.kind:
        case "number" if types <= _NUMBERS and isfinite(sum(values)):
            if int not in types or max(map(abs, values)) <= MAX_WHOLE:
                return values
        case "number" if field.nullable and types <= {*_NUMBERS, type(None)}:
            return _slow(field, values)
        case "whole" if types <= _WHOLES and max(map(abs, values)) <= MAX_WHOLE:
            return values
        case "text" if types == _TEXTS:
            "".join(values).encode()  # half of a surrogate pair raises
            return values
        case "flag" if types == _FLAGS:
            return values
        case "order" | "bar" if types == _WHOLES and max(map(abs, values)) <= MAX_WHOLE:
            return values
        case "order" | "bar" if types <= _PLACES:
            return _slow(field, values)
    raise Irregular


def _slow(field: Field, values: Sequence[Any]) -> Sequence[Any]:
    return [_one(field, value) for value in values]


def _one(field: Field, value: Any) -> Any:
    """One value that is known to be right, in the form that rows hold."""
    match field.kind:
        case "order":
            return NOWHERE if value is None else _within(value)
        case "bar":
            return None if value is None else _within(value)
        case "number":
            if value is None:
                return None
            if not is_number(value):
                raise Irregular
            return float(value) if not isinstance(value, int) or abs(value) > MAX_WHOLE else value
        case "color":
            return _Rgb()[value]
        case "alpha":
            return _Alpha()[value]
        case "size":
            return value if isinstance(value, str) else POINTS
    return value


def _within(value: int) -> int:
    if abs(value) > MAX_WHOLE:
        raise Irregular
    return value


class _Rgb(dict[Any, str | None]):
    """Colours by their look: #rrggbb, and None where nothing can be seen."""

    def __missing__(self, raw: Any) -> str | None:
        if raw is None:
            look = None
        elif isinstance(raw, str) and is_hex(raw):
            look = None if raw[7:] == "00" else raw[:7].lower()
        else:
            raise Irregular
        self[raw] = look
        return look


class _Alpha(dict[Any, int]):
    """Opacity of colours, 0 to 255."""

    def __missing__(self, raw: Any) -> int:
        if raw is None:
            alpha = 0
        elif isinstance(raw, str) and is_hex(raw):
            alpha = int(raw[7:], 16) if len(raw) == 9 else 255
        else:
            raise Irregular
        self[raw] = alpha
        return alpha


class _Sizes(dict[Any, str]):
    def __missing__(self, raw: Any) -> str:
        if isinstance(raw, str) and raw in TEXT_SIZES:
            return raw
        if isinstance(raw, int) and not isinstance(raw, bool) and abs(raw) <= MAX_WHOLE:
            return POINTS
        raise Irregular


# ------------------------------------------------------------------------------------------ faults


def _wrong(channel: str, records: Sequence[Record], needed: frozenset[str]) -> Iterator[Wrong]:
    """Everything that is wrong with the needed fields of what is drawn."""
    known = FIELDS[channel]
    wanted = {name.partition(".")[0] for name in needed}
    parts = {
        name: sorted(
            column.partition(".")[2] or "n" for column in needed if column.partition(".")[0] == name
        )
        for name in wanted
        if known[name].kind == "anchor"
    }
    for record in records:
        if not isinstance(record, Mapping):
            yield Wrong(record, None, f"{record!r:.60} is not an object")
            continue
        if not _visible(channel, [record]):
            continue
        for name in sorted(wanted):
            if name not in record:
                yield Wrong(record, name, f"{name} is missing, though the source declares it")
            elif (told := _fault(known[name], record[name], channel)) is not None:
                yield Wrong(record, name, f"{name}: {told}")
            else:
                lacking = [part for part in parts.get(name, ()) if part not in record[name]]
                for part in lacking:
                    field = name if part == "n" else f"{name}.{part}"
                    yield Wrong(record, field, f"{name} has no {part}")


def _fault(field: Field, value: Any, channel: str) -> str | None:
    if field.kind == "number" and value is None and channel != "labels":
        return "null stands here"
    return fault(field, value)
