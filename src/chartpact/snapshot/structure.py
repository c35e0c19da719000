"""The structure of a snapshot: checked when one is made, and published as a JSON Schema.

Chart, source, studies and their channels are checked. `fault` says what is wrong with a field of a
record; a snapshot holds records as the source gave them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chartpact import palette
from chartpact.checks import MAX_WHOLE, is_number, is_text, is_whole, shown
from chartpact.drawing import OBJECTS, Anchor, Box, Cell, DrawnObject, FieldType, Label, Line, Table

SCHEMA_ID = "urn:chartpact:schema:snapshot:1"
VERSION = 1
LONGEST_TEXT = 40_960  # characters of a drawn text: Pine's longest string
LONGEST_NAME = 1_000  # of a title, a symbol or an id

Json = Any


# ------------------------------------------------------------------------------------------ fields


@dataclass(frozen=True)
class Field:
    """What may stand in one field: its kind, whether null may, and the names of a closed list."""

    kind: str  # number whole flag text name color size anchor id
    nullable: bool = False
    names: tuple[str, ...] = ()
    positive: bool = False
    longest: int = LONGEST_TEXT  # of a text, in characters


def _field(type_: FieldType) -> Field:
    return Field(type_.kind, type_.nullable, type_.names if type_.kind == "name" else ())


def _fields(kind: type[DrawnObject]) -> dict[str, Field]:
    return {name: _field(kind.field_types[name]) for name in kind.readable}


_WHOLE, _FLAG = Field("whole"), Field("flag")
_TEXT, _ID = (Field(kind, longest=LONGEST_NAME) for kind in ("text", "id"))

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
    "previous_time": _WHOLE,  # of the bar before the last
    "first_time": _WHOLE,  # of the oldest bar that the source has loaded
    "last_price": Field("number"),
    "tick_size": Field("number", positive=True),
    "timezone": _TEXT,
    "day_roll": _TEXT,
}
CHART_NEEDS = ("symbol", "timeframe")
SOURCE: Mapping[str, Field] = {"name": _TEXT, "price_step": Field("number", positive=True)}
STUDY: Mapping[str, Field] = {
    "id": _ID,
    "name": _TEXT,
    "short_name": replace(_TEXT, nullable=True),
    "version": replace(_ID, nullable=True),
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
    if right and isinstance(value, str) and len(value) > field.longest:
        right, reason = False, f"is longer than {field.longest} characters"
    return None if right else f"{shown(value)} {reason}"


def _anchor_fault(value: Json) -> str | None:
    if not isinstance(value, Mapping):
        return f"{shown(value)} is not an anchor {{n, bar, time}}"
    for part in Anchor.field_types:
        at = value.get(part)
        if at is not None and not is_whole(at):
            return f"its {part} {shown(at)} is not a whole number"
    return None


# --------------------------------------------------------------------------------------- structure


class SnapshotError(ValueError):
    """This is no snapshot; the message says where and what would be right."""


def check_structure(data: Json) -> None:
    if not isinstance(data, Mapping):
        raise SnapshotError(
            f"{shown(data)} is not a snapshot: it is an object with schema, chart, source, studies"
        )
    if "schema" not in data:
        raise SnapshotError(f'this is not a snapshot: "schema": {VERSION} is missing')
    if isinstance(data["schema"], bool) or data["schema"] != VERSION:
        raise SnapshotError(f"schema {shown(data['schema'])} is not known here; {VERSION} is")
    chart, source = _object(data, "chart"), _object(data, "source")
    for name in CHART_NEEDS:
        if name not in chart:
            raise SnapshotError(f"chart.{name} is missing")
    _check_fields(chart, CHART, "chart")
    _check_source(source)
    studies = data.get("studies")
    if not isinstance(studies, list | tuple):
        raise SnapshotError("studies is missing, or not a list")
    for i, study in enumerate(studies):
        _check_study(study, f"studies[{i}]")


def _object(data: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = data.get(name)
    if not isinstance(value, Mapping):
        raise SnapshotError(f"{name} is missing, or not an object")
    return value


def _check_fields(data: Mapping[str, Json], known: Mapping[str, Field], place: str) -> None:
    for name, field in known.items():
        if name in data and (wrong := fault(field, data[name])):
            raise SnapshotError(f"{place}.{name}: {wrong}")


def _check_source(source: Mapping[str, Json]) -> None:
    if not is_text(source.get("name")):
        raise SnapshotError("source.name is missing, or not a text")
    _check_fields(source, SOURCE, "source")
    tools = source.get("tools", {})
    if not isinstance(tools, Mapping) or not all(map(is_text, tools.values())):
        raise SnapshotError("source.tools does not map channels to the names of tools")
    _check_declared(source, "source")


def _check_declared(data: Mapping[str, Json], place: str) -> None:
    """Checks which fields a source declares, of all studies or of one."""
    if "fields" not in data:
        return
    fields = data["fields"]
    if not isinstance(fields, Mapping):
        raise SnapshotError(f"{place}.fields is not an object of channels")
    for channel, names in fields.items():
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise SnapshotError(f"{place}.fields.{channel!s:.60} is not a list of field names")


def _check_study(study: Json, place: str) -> None:
    if not isinstance(study, Mapping):
        raise SnapshotError(f"{place}: {shown(study)} is not an object")
    if "name" not in study:
        raise SnapshotError(f"{place}.name is missing")
    _check_fields(study, STUDY, place)
    _check_declared(study, place)
    inputs = study.get("inputs")
    if inputs is not None and not isinstance(inputs, Mapping):
        raise SnapshotError(f"{place}.inputs is neither an object nor null")
    truncated = study.get("truncated", [])
    if not isinstance(truncated, list | tuple) or not set(map(str, truncated)) <= set(CHANNELS):
        raise SnapshotError(f"{place}.truncated is not a list of {', '.join(CHANNELS)}")
    limits = study.get("limits", {})
    if not isinstance(limits, Mapping) or not all(map(is_whole, limits.values())):
        raise SnapshotError(f"{place}.limits does not map channels to whole numbers")
    for channel in (*CHANNELS, *CARRIED):
        if channel in study and not isinstance(study[channel], list | tuple):
            raise SnapshotError(
                f"{place}.{channel} is not a list; leave it out where it cannot be read"
            )


def _schema_of(field: Field) -> dict[str, Json]:
    whole = {"type": "integer", "minimum": -MAX_WHOLE, "maximum": MAX_WHOLE}
    kinds: dict[str, dict[str, Json]] = {
        "number": {"type": "number", **({"exclusiveMinimum": 0} if field.positive else {})},
        "whole": whole,
        "flag": {"type": "boolean"},
        "text": {"type": "string", "maxLength": field.longest},
        "id": {"type": ["string", "number"], "maxLength": field.longest},
        "name": {"enum": list(field.names)},
        "color": {"type": "string", "pattern": "^#([0-9a-fA-F]{6}|[0-9a-fA-F]{8})$"},
        "size": {"anyOf": [{"enum": list(palette.TEXT_SIZES)}, whole]},
        "anchor": {
            "type": "object",
            "properties": {
                part: {"anyOf": [whole, {"type": "null"}]} for part in Anchor.field_types
            },
        },
    }
    schema = kinds[field.kind]
    return {"anyOf": [schema, {"type": "null"}]} if field.nullable else schema


def json_schema() -> dict[str, Json]:
    """The JSON Schema (2020-12) of a snapshot. Keys may be absent: the source cannot tell them."""

    def record(known: Mapping[str, Field], *required: str) -> dict[str, Json]:
        properties = {name: _schema_of(field) for name, field in known.items()}
        return {"type": "object", "properties": properties, "required": list(required)}

    channels: dict[str, Json] = {
        name: {"type": "array", "items": record(known)} for name, known in FIELDS.items()
    }
    for name, kind in OBJECTS.items():
        properties = kind.schema()["properties"]
        if name in CARRIED:
            channels[name] = {
                "type": "array",
                "items": {"type": "object", "properties": properties},
            }
        elif name in FIELDS:
            channels[name]["items"]["properties"]["provisional"] = properties["provisional"]
    study = record(STUDY, "name")
    study["properties"] |= {
        "inputs": {"type": ["object", "null"]},
        **channels,
        "tables": {"type": "array", "items": {"type": "object"}},
        "truncated": {"type": "array", "items": {"enum": list(CHANNELS)}},
        "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
    }
    source = record(SOURCE, "name")
    source["properties"]["tools"] = {
        "type": "object",
        "additionalProperties": {"type": "string"},
    }
    source["properties"]["fields"] = study["properties"]["fields"] = {
        "type": "object",
        "properties": {name: {"type": "array", "items": {"type": "string"}} for name in CHANNELS},
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "chartpact snapshot",
        "description": "An absent key: the source cannot tell. null: nothing is there.",
        "type": "object",
        "properties": {
            "schema": {"const": VERSION},
            "chart": record(CHART, *CHART_NEEDS),
            "source": source,
            "studies": {"type": "array", "items": study},
        },
        "required": ["schema", "chart", "source", "studies"],
    }
