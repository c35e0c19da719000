"""The fields of what is drawn, by channel: what may stand in each, and what is wrong otherwise."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chartpact import palette

CHANNELS = ("labels", "lines", "boxes", "cells")
MAX_WHOLE = 2**53  # beyond it, JSON readers disagree on whole numbers

Json = Any


@dataclass(frozen=True)
class Field:
    """What may stand in one field: its kind, whether null may, and the names of a closed list."""

    kind: str  # number whole flag text name color size anchor id value
    nullable: bool = False
    names: tuple[str, ...] = ()
    positive: bool = False


def _names(*names: str) -> Field:
    return Field("name", names=names)


_WHOLE, _TEXT, _FLAG, _ID = Field("whole"), Field("text"), Field("flag"), Field("id")
_PRICE, _COLOR = Field("number", nullable=True), Field("color", nullable=True)
_ANCHOR, _SIZE = Field("anchor"), Field("size")
_EXTEND, _BORDER = _names(*palette.EXTENDS), _names(*palette.BORDER_STYLES)
_HALIGN, _VALIGN = _names(*palette.HALIGNS), _names(*palette.VALIGNS)

# What contracts can read, by channel.
FIELDS: Mapping[str, Mapping[str, Field]] = {
    "labels": {
        "id": _ID,
        "x": _ANCHOR,
        "y": _PRICE,
        "yloc": _names(*palette.YLOCS),
        "text": _TEXT,
        "style": _names(*palette.LABEL_STYLES),
        "color": _COLOR,
        "text_color": _COLOR,
        "size": _SIZE,
        "text_align": _HALIGN,
        "tooltip": _TEXT,
        "force_overlay": _FLAG,
    },
    "lines": {
        "id": _ID,
        "x1": _ANCHOR,
        "y1": _PRICE,
        "x2": _ANCHOR,
        "y2": _PRICE,
        "extend": _EXTEND,
        "style": _names(*palette.LINE_STYLES),
        "color": _COLOR,
        "width": _WHOLE,
        "force_overlay": _FLAG,
    },
    "boxes": {
        "id": _ID,
        "left": _ANCHOR,
        "top": _PRICE,
        "right": _ANCHOR,
        "bottom": _PRICE,
        "border_color": _COLOR,
        "bgcolor": _COLOR,
        "border_style": _BORDER,
        "border_width": _WHOLE,
        "extend": _EXTEND,
        "text": _TEXT,
        "text_color": _COLOR,
        "text_size": _SIZE,
        "text_halign": _HALIGN,
        "text_valign": _VALIGN,
        "force_overlay": _FLAG,
    },
    "cells": {
        "id": _ID,
        "table": _WHOLE,
        "position": _names(*palette.POSITIONS),
        "row": _WHOLE,
        "column": _WHOLE,
        "text": _TEXT,
        "bgcolor": _COLOR,
        "text_color": _COLOR,
        "size": _SIZE,
        "tooltip": _TEXT,
    },
}
PRICES: Mapping[str, tuple[str, ...]] = {
    "labels": ("y",),
    "lines": ("y1", "y2"),
    "boxes": ("top", "bottom"),
    "cells": (),
}
ANCHOR_PARTS = ("n", "bar", "time")

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
        return None if field.nullable or field.kind == "value" else "null stands here"
    match field.kind:
        case "number":
            if not is_number(value):
                return f"{value!r:.60} is not a finite number"
            return f"{value!r:.60} is not above 0" if field.positive and value <= 0 else None
        case "whole":
            return None if is_whole(value) else f"{value!r:.60} is not a whole number"
        case "flag":
            return None if isinstance(value, bool) else f"{value!r:.60} is not true or false"
        case "text":
            return None if is_text(value) else f"{value!r:.60} is not a text"
        case "id":
            good = is_text(value) or is_number(value)
            return None if good else f"{value!r:.60} is neither a text nor a number"
        case "name":
            good = isinstance(value, str) and value in field.names
            return None if good else f"{value!r:.60} is not one of {', '.join(field.names)}"
        case "color":
            good = isinstance(value, str) and palette.is_hex(value)
            return None if good else f"{value!r:.60} is not a colour #rrggbbaa"
        case "size":
            good = value in palette.TEXT_SIZES if isinstance(value, str) else is_whole(value)
            return None if good else f"{value!r:.60} is not a size"
        case "anchor":
            return _anchor_fault(value)
    return None


def is_number(value: Json) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number too large to be a float
        return False


def is_text(value: Json) -> bool:
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def is_whole(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_WHOLE


def _anchor_fault(value: Json) -> str | None:
    if not isinstance(value, Mapping):
        return f"{value!r:.60} is not an anchor {{n, bar, time}}"
    for part in ANCHOR_PARTS:
        at = value.get(part)
        if at is not None and not is_whole(at):
            return f"its {part} {at!r:.60} is not a whole number"
    return None
