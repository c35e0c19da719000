"""Drawn objects as rows: the fields a contract needs, checked and made comparable.

A column is taken from all records at once and checked as a whole, at the speed of C. Only when
something is irregular are records looked at one by one, to say which field of which is wrong.
The snapshot itself is never changed.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import isfinite
from operator import eq, itemgetter
from typing import Any

from chartpact.cache import Memo
from chartpact.checks import MAX_WHOLE, is_number, is_whole
from chartpact.contracts.language.values import MADE_OF, POINTS, Column, Needs
from chartpact.palette import TEXT_SIZES, is_hex
from chartpact.snapshot import FIELDS, PRICES, Field, fault

NOWHERE = float("-inf")  # the order of an anchor outside the loaded history: older than every bar

Record = Any
Row = tuple[Any, ...]
Take = Callable[[Field, Sequence[Any]], Sequence[Any]]


@dataclass(frozen=True)
class Wrong:
    """A field of a record that is missing or is not what it should be."""

    record: Record
    field: str | None
    message: str


@dataclass(frozen=True)
class ChannelRows:
    """A channel's visible records, their rows, and the number of invisible objects."""

    records: Sequence[Record]
    rows: list[Row]
    undrawn: int = 0


def rows(
    channel: str,
    records: Sequence[Record],
    columns: Iterable[Column],
    needed: Mapping[Column, Needs],
) -> ChannelRows | list[Wrong]:
    """The rows of a channel's objects, or everything that is wrong with them.

    Place 0 of a row is its number among the drawn records; a column that is not needed holds None.
    """
    needs = set().union(*needed.values())
    names = {need.field for need in needs}
    try:
        visible = records
        raw = _raw({*names, *PRICES[channel]}, visible)
        if any(None in raw[name] for name in PRICES[channel]):
            visible = _visible(channel, records)
            raw = _raw(names, visible)
        return _make_rows(visible, columns, needed, raw, _fast, len(records))
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError):
        wrong = list(_wrong(channel, records, needs))
    if wrong:
        return wrong
    visible = _visible(channel, records)
    raw = _raw(names, visible)
    return _make_rows(visible, columns, needed, raw, _slow, len(records))


def _raw(names: set[str], records: Sequence[Record]) -> dict[str, Sequence[Any]]:
    """The fields as columns; each record is looked at once, for they lie far apart in memory."""
    order = sorted(names)
    if not records or not order:
        return {name: () for name in order}
    if len(order) == 1:
        return {order[0]: list(map(itemgetter(order[0]), records))}
    return dict(zip(order, zip(*map(itemgetter(*order), records), strict=True), strict=True))


def _make_rows(
    records: Sequence[Record],
    columns: Iterable[Column],
    needed: Mapping[Column, Needs],
    raw: Mapping[str, Sequence[Any]],
    take: Take,
    total: int,
) -> ChannelRows:
    values = _Columns(raw, take)
    taken = [values.of(column) if column in needed else repeat(None) for column in columns]
    return ChannelRows(records, list(zip(range(len(records)), *taken)), total - len(records))  # noqa: B905


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


class _Columns:
    """The columns of a channel, checked as they are taken from the fields of its records."""

    def __init__(self, raw: Mapping[str, Sequence[Any]], take: Take) -> None:
        self._raw, self._take = raw, take
        self._taken: dict[tuple[str, str], Sequence[Any]] = {}

    def of(self, column: Column) -> Iterable[Any]:
        made_of = MADE_OF.get(column[:2])
        if made_of is None:
            return self._whole(*column)
        if column.field in ("left", "right"):
            return self._side(column)
        one, other = (self._whole(column.channel, name) for name in made_of)
        match column.field:
            case "top":  # a box drawn upside down reads upright
                return map(max, one, other)
            case "bottom":
                return map(min, one, other)
            case "vertical" if NOWHERE in one:
                return (a == b != NOWHERE for a, b in zip(one, other, strict=True))
        return map(eq, one, other)

    def _side(self, column: Column) -> Iterable[Any]:
        """A side of each box, or its bar or time; one drawn right to left reads left to right."""
        channel, field, part = column
        lefts, rights = (self._whole(channel, name) for name in ("left", "right"))
        one, other = (self._whole(channel, name, part) for name in ("left", "right"))
        if field == "right":
            one, other = other, one
        return (
            b if left > right else a
            for left, right, a, b in zip(lefts, rights, one, other, strict=True)
        )

    def _whole(self, channel: str, name: str, part: str = "") -> Sequence[Any]:
        taken = self._taken.get((name, part))
        if taken is None:
            field, values = FIELDS[channel][name], self._raw[name]
            if field.kind == "anchor":
                values = list(map(itemgetter(part or "n"), values))
                field = _BAR if part else _ORDER
            taken = self._take(_ALPHA if part == "alpha" else field, values)
            self._taken[name, part] = taken
        return taken


_ORDER, _BAR, _ALPHA = Field("order"), Field("bar"), Field("alpha", nullable=True)
_TYPES: Mapping[str, set[type]] = {
    "number": {int, float},
    "whole": {int},
    "order": {int},
    "bar": {int},
    "text": {str},
    "flag": {bool},
}


def _fast(field: Field, values: Sequence[Any]) -> Sequence[Any]:
    """A column whose values are all of the plainest types."""
    kind = field.kind
    if not values:
        return values
    if kind in ("color", "alpha", "size"):  # few differ, so each distinct one is looked at once
        return list(map(Memo(_CONVERT[kind], most=len(values)).__getitem__, values))
    if kind == "name":
        if not set(values) <= set(field.names):
            raise ValueError
        return values
    types, plain = set(map(type, values)), _TYPES[kind]
    if not types <= plain:
        if types <= {*plain, type(None)} and (kind in ("order", "bar") or field.nullable):
            return _slow(field, values)
        raise ValueError
    if kind == "text":
        "".join(values).encode()  # half of a surrogate pair raises
    elif kind != "flag":
        whole = int not in types or max(map(abs, values)) <= MAX_WHOLE
        if not whole or (kind == "number" and not isfinite(sum(values))):
            raise ValueError
    return values


def _slow(field: Field, values: Sequence[Any]) -> Sequence[Any]:
    """A column whose values are known to be right, one by one in the form that rows hold."""
    convert = _CONVERT.get(field.kind)
    return values if convert is None else list(map(convert, values))


def _bar(raw: int | None) -> int | None:
    if raw is not None and abs(raw) > MAX_WHOLE:
        raise ValueError
    return raw


def _order(raw: int | None) -> float:
    bar = _bar(raw)
    return NOWHERE if bar is None else bar


def _number(raw: Any) -> float | None:
    if raw is None:
        return None
    if not is_number(raw):
        raise ValueError
    return float(raw) if not isinstance(raw, int) or abs(raw) > MAX_WHOLE else raw


def _rgb(raw: Any) -> str | None:
    """A colour by its look: #rrggbb, and None where nothing can be seen."""
    if raw is None:
        return None
    if not isinstance(raw, str) or not is_hex(raw):
        raise ValueError
    return None if raw[7:] == "00" else raw[:7].lower()


def _alpha(raw: Any) -> int:
    """The opacity of a colour, 0 to 255."""
    if raw is None:
        return 0
    if not isinstance(raw, str) or not is_hex(raw):
        raise ValueError
    return int(raw[7:], 16) if len(raw) == 9 else 255


def _size(raw: Any) -> str:
    if isinstance(raw, str) and raw in TEXT_SIZES:
        return raw
    if is_whole(raw):
        return POINTS
    raise ValueError


_CONVERT: Mapping[str, Callable[[Any], Any]] = {
    "order": _order,
    "bar": _bar,
    "number": _number,
    "color": _rgb,
    "alpha": _alpha,
    "size": _size,
}


# ------------------------------------------------------------------------------------------ faults


def _wrong(channel: str, records: Sequence[Record], needs: Iterable[Column]) -> Iterator[Wrong]:
    """Everything that is wrong with the needed fields of what is drawn."""
    wanted: dict[str, set[str]] = {}  # field → the parts of its anchor
    for need in sorted(needs):
        parts = wanted.setdefault(need.field, set())
        if FIELDS[channel][need.field].kind == "anchor":
            parts.add(need.part or "n")
    for record in records:
        if not isinstance(record, Mapping):
            yield Wrong(record, None, f"{record!r:.60} is not an object")
            continue
        if not _visible(channel, [record]):
            continue
        for name, parts in wanted.items():
            if name not in record:
                yield Wrong(record, name, f"{name} is missing, though the source declares it")
            elif (wrong := _fault(FIELDS[channel][name], record[name], channel)) is not None:
                yield Wrong(record, name, f"{name}: {wrong}")
            else:
                for part in sorted(part for part in parts if part not in record[name]):
                    field = name if part == "n" else f"{name}.{part}"
                    yield Wrong(record, field, f"{name} has no {part}")


def _fault(field: Field, value: Any, channel: str) -> str | None:
    if field.kind == "number" and value is None and channel != "labels":
        return "null stands here"
    return fault(field, value)
