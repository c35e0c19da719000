"""The fields of a snapshot: what may stand in each, and what is wrong with a value otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chartpact import palette
from chartpact.checks import is_number, is_text, is_whole, shown
from chartpact.drawing import Anchor, Box, Cell, DrawnObject, FieldType, Label, Line, Table

Json = Any


@dataclass(frozen=True)
class Field:
    """What may stand in one field: its kind, whether null may, and the names of a closed list."""

    kind: str  # number whole flag text name color size anchor id
    nullable: bool = False
    names: tuple[str, ...] = ()
    positive: bool = False


def _field(type_: FieldType) -> Field:
    return Field(type_.kind, type_.nullable, type_.names if type_.kind == "name" else ())


def _fields(kind: type[DrawnObject]) -> dict[str, Field]:
    return {name: _field(kind.field_types[name]) for name in kind.readable}


_WHOLE, _TEXT, _FLAG, _ID = Field("whole"), Field("text"), Field("flag"), Field("id")

# What contracts can read, by channel.
FIELDS: Mapping[str, Mapping[str, Field]] = {
    "labels": _fields(Label),
    "lines": _fields(Line),
    "boxes": _fields(Box),
    "cells": {
        **_fields(Cell),
        "table": _WHOLE,
        "position": _field(Table.field_types["position"]),
    },
}
CHANNELS = tuple(FIELDS)
CARRIED = ("polylines", "linefills")  # recorded, and read by no contract
PRICES: Mapping[str, tuple[str, ...]] = {
    kind.channel: kind.heights for kind in (Label, Line, Box, Cell)
}

CHART: Mapping[str, Field] = {
    "symbol": _TEXT,
    "timeframe": _TEXT,
    "as_of": _WHOLE,
    "confirmed": _FLAG,
    "last_bar": _WHOLE,
    "last_time": _WHOLE,
    "tick_size": Field("number", positive=True),
    "timezone": _TEXT,
}
CHART_NEEDS = ("symbol", "timeframe")
SOURCE: Mapping[str, Field] = {"name": _TEXT, "price_step": Field("number", positive=True)}
STUDY: Mapping[str, Field] = {
    "id": _ID,
    "name": _TEXT,
    "short_name": Field("text", nullable=True),
    "version": Field("id", nullable=True),
}


def fault(field: Field, value: Json) -> str | None:
    """What is wrong with a value in this field, or nothing.

    >>> fault(FIELDS["lines"]["style"], "wavy")
    "'wavy' is not one of solid, dotted, dashed, arrow_left, arrow_right, arrow_both"
    """
    if value is None:
        return None if field.nullable else "null stands here"
    right, reason = True, ""
    match field.kind:
        case "number":
            right, reason = is_number(value), "is not a finite number"
            if right and field.positive:
                right, reason = value > 0, "is not above 0"
        case "whole":
            right, reason = is_whole(value), "is not a whole number"
        case "flag":
            right, reason = isinstance(value, bool), "is not true or false"
        case "text":
            right, reason = is_text(value), "is not a text"
        case "id":
            right, reason = is_text(value) or is_number(value), "is neither a text nor a number"
        case "name":
            right = isinstance(value, str) and value in field.names
            reason = f"is not one of {', '.join(field.names)}"
        case "color":
            right = isinstance(value, str) and palette.is_hex(value)
            reason = "is not a colour #rrggbbaa"
        case "size":
            right = value in palette.TEXT_SIZES if isinstance(value, str) else is_whole(value)
            reason = "is not a size"
        case "anchor":
            return _anchor_fault(value)
    return None if right else f"{shown(value)} {reason}"


def _anchor_fault(value: Json) -> str | None:
    if not isinstance(value, Mapping):
        return f"{shown(value)} is not an anchor {{n, bar, time}}"
    for part in Anchor.field_types:
        at = value.get(part)
        if at is not None and not is_whole(at):
            return f"its {part} {shown(at)} is not a whole number"
    return None
