"""The published JSON Schema of snapshots, made from the tables of fields."""

from collections.abc import Mapping

from chartpact import palette
from chartpact.snapshot.fields import (
    ANCHOR_PARTS,
    CHANNELS,
    CHART,
    CHART_NEEDS,
    FIELDS,
    MAX_WHOLE,
    STUDY,
    Field,
    Json,
)
from chartpact.snapshot.frame import VERSION

SCHEMA_ID = "urn:chartpact:schema:snapshot:1"


def _schema_of(field: Field) -> dict[str, Json]:
    whole = {"type": "integer", "minimum": -MAX_WHOLE, "maximum": MAX_WHOLE}
    kinds: dict[str, dict[str, Json]] = {
        "number": {"type": "number", **({"exclusiveMinimum": 0} if field.positive else {})},
        "whole": whole,
        "flag": {"type": "boolean"},
        "text": {"type": "string"},
        "id": {"type": ["string", "number"]},
        "name": {"enum": list(field.names)},
        "color": {"type": "string", "pattern": "^#([0-9a-fA-F]{6}|[0-9a-fA-F]{8})$"},
        "size": {"anyOf": [{"enum": list(palette.TEXT_SIZES)}, whole]},
        "anchor": {
            "type": "object",
            "properties": {part: {"anyOf": [whole, {"type": "null"}]} for part in ANCHOR_PARTS},
        },
    }
    schema = kinds[field.kind]
    return {"anyOf": [schema, {"type": "null"}]} if field.nullable else schema


def json_schema() -> dict[str, Json]:
    """The JSON Schema (2020-12) of a snapshot. Keys may be absent: the source cannot tell them."""

    def record(known: Mapping[str, Field], *required: str) -> dict[str, Json]:
        properties = {name: _schema_of(field) for name, field in known.items()}
        return {"type": "object", "properties": properties, "required": list(required)}

    channels = {name: {"type": "array", "items": record(known)} for name, known in FIELDS.items()}
    study = record(STUDY, "name")
    study["properties"] |= {
        "inputs": {"type": ["object", "null"]},
        **channels,
        "tables": {"type": "array", "items": {"type": "object"}},
        "truncated": {"type": "array", "items": {"enum": list(CHANNELS)}},
        "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
    }
    source = record({"name": Field("text"), "price_step": Field("number", positive=True)}, "name")
    source["properties"]["fields"] = {
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
