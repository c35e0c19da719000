"""A Snapshot is the lossless record of what was drawn on one chart at one moment, by whomever.

It is JSON with a fixed shape, version 1. **An absent key means that the source cannot tell; null
means that nothing is there** (Pine's `na`); neither is ever turned into the other. A snapshot's
frame (chart, source, studies, their channels) is checked when it is made. Its records are kept as
the source gave them, unknown keys included: `problems` lists what is wrong with them, and a
contract that needs a wrong one refuses to be read.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chartpact import palette

if TYPE_CHECKING:
    from chartpact.charts import Chart, Drawn

VERSION = 1
SCHEMA_ID = "urn:chartpact:schema:snapshot:1"
CHANNELS = ("labels", "lines", "boxes", "cells")
MAX_WHOLE = 2**53  # beyond it, JSON readers disagree on whole numbers

Json = Any


class SnapshotError(ValueError):
    """This is no snapshot; the message says where and what would be right."""


# ------------------------------------------------------------------------------------------ fields


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
_CHART_NEEDS = ("symbol", "timeframe")
_STUDY: Mapping[str, Field] = {
    "id": _ID,
    "name": _TEXT,
    "short_name": Field("text", nullable=True),
    "version": Field("id", nullable=True),
}


def deliverable(channel: str) -> list[str]:
    """Every field a source can declare for a channel; the parts of an anchor count apart."""
    names = []
    for name, field in FIELDS[channel].items():
        names.append(name)
        if field.kind == "anchor":
            names += [f"{name}.bar", f"{name}.time"]
    return names


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
            return None if _is_whole(value) else f"{value!r:.60} is not a whole number"
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
            good = value in palette.TEXT_SIZES if isinstance(value, str) else _is_whole(value)
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


def _is_whole(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_WHOLE


def _anchor_fault(value: Json) -> str | None:
    if not isinstance(value, Mapping):
        return f"{value!r:.60} is not an anchor {{n, bar, time}}"
    for part in ANCHOR_PARTS:
        at = value.get(part)
        if at is not None and not _is_whole(at):
            return f"its {part} {at!r:.60} is not a whole number"
    return None


# ---------------------------------------------------------------------------------------- snapshot


@dataclass(frozen=True)
class Study:
    """One indicator on the chart, as it stands in the snapshot."""

    data: Mapping[str, Json]

    @property
    def name(self) -> str:
        return str(self.data["name"])

    @property
    def inputs(self) -> Mapping[str, Json]:
        return self.data.get("inputs") or {}

    @property
    def truncated(self) -> Sequence[str]:
        """Channels of which the source left records out."""
        return self.data.get("truncated") or ()

    def records(self, channel: str) -> Sequence[Json] | None:
        """What was drawn in a channel; None where the source cannot read it."""
        return self.data.get(channel)


@dataclass(frozen=True)
class Snapshot:
    """Everything drawn on one chart at one moment.

    >>> Snapshot({"schema": 1, "chart": {"symbol": "ES", "timeframe": "5m"},
    ...           "source": {"name": "by hand"}, "studies": []}).chart["symbol"]
    'ES'
    """

    data: Mapping[str, Json]

    def __post_init__(self) -> None:
        _check_frame(self.data)

    @property
    def chart(self) -> Mapping[str, Json]:
        chart: Mapping[str, Json] = self.data["chart"]
        return chart

    @property
    def source(self) -> Mapping[str, Json]:
        source: Mapping[str, Json] = self.data["source"]
        return source

    @property
    def studies(self) -> tuple[Study, ...]:
        return tuple(Study(each) for each in self.data["studies"])

    def delivers(self, channel: str, field: str) -> bool:
        """Whether the source declares that it can tell this field."""
        declared = self.source.get("fields")
        return declared is None or field in declared.get(channel, ())

    def problems(self) -> list[str]:
        """What is wrong with the records; a reader's snapshots have none."""
        return list(_problems(self))

    def to_json(self) -> dict[str, Json]:
        return dict(self.data)

    @classmethod
    def from_json(cls, data: Json) -> "Snapshot":
        return cls(data)

    @classmethod
    def of(cls, given: "Snapshot | Mapping[str, Json] | str | Path") -> "Snapshot":
        """The snapshot that is given as such, as JSON data, or as the path of a JSON file."""
        if isinstance(given, Snapshot):
            return given
        if isinstance(given, str | Path):
            return cls.load(given)
        return cls(given)

    @classmethod
    def load(cls, path: str | Path) -> "Snapshot":
        """The snapshot in a file."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise SnapshotError(f"{path}: {error.strerror or error}") from None
        except (UnicodeDecodeError, ValueError):
            raise SnapshotError(f"{path}: this is not a text in UTF-8") from None
        try:
            return cls(parse_json(text))
        except SnapshotError as error:
            raise SnapshotError(f"{path}: {error}") from None

    def dumps(self) -> str:
        """The snapshot as JSON text, one record a line."""
        return _dump(self.data)


def parse_json(text: str) -> Json:
    """The JSON of a text. A key that is there twice is refused: one of the two would be lost."""
    try:
        return json.loads(text, object_pairs_hook=_pairs)
    except SnapshotError:
        raise
    except ValueError as error:  # also JSONDecodeError, and whole numbers too long to read
        raise SnapshotError(f"this is not JSON: {error}") from None
    except RecursionError:
        raise SnapshotError("this JSON is nested too deeply") from None


def _pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise SnapshotError(f"the key {twice!r} is there twice")
    return found


def _check_frame(data: Json) -> None:
    if not isinstance(data, Mapping):
        raise SnapshotError(
            f"{data!r:.60} is not a snapshot: it is an object with schema, chart, source, studies"
        )
    if "schema" not in data:
        raise SnapshotError(f'this is not a snapshot: "schema": {VERSION} is missing')
    if isinstance(data["schema"], bool) or data["schema"] != VERSION:
        raise SnapshotError(f"schema {data['schema']!r:.60} is not known here; {VERSION} is")
    chart, source = _object(data, "chart"), _object(data, "source")
    for name in _CHART_NEEDS:
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
    _check_fields(source, {"price_step": Field("number", positive=True)}, "source")
    fields = source.get("fields")
    if "fields" not in source:
        return
    if not isinstance(fields, Mapping):
        raise SnapshotError("source.fields is not an object of channels")
    for channel, names in fields.items():
        if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
            raise SnapshotError(f"source.fields.{channel!s:.60} is not a list of field names")


def _check_study(study: Json, place: str) -> None:
    if not isinstance(study, Mapping):
        raise SnapshotError(f"{place}: {study!r:.60} is not an object")
    if "name" not in study:
        raise SnapshotError(f"{place}.name is missing")
    _check_fields(study, _STUDY, place)
    inputs = study.get("inputs")
    if inputs is not None and not isinstance(inputs, Mapping):
        raise SnapshotError(f"{place}.inputs is neither an object nor null")
    truncated = study.get("truncated", [])
    if not isinstance(truncated, list | tuple) or not set(map(str, truncated)) <= set(CHANNELS):
        raise SnapshotError(f"{place}.truncated is not a list of {', '.join(CHANNELS)}")
    limits = study.get("limits", {})
    if not isinstance(limits, Mapping) or not all(map(_is_whole, limits.values())):
        raise SnapshotError(f"{place}.limits does not map channels to whole numbers")
    for channel in CHANNELS:
        if channel in study and not isinstance(study[channel], list | tuple):
            raise SnapshotError(
                f"{place}.{channel} is not a list; leave it out where it cannot be read"
            )


def _problems(snapshot: Snapshot) -> Iterator[str]:
    for s, study in enumerate(snapshot.studies):
        for channel in CHANNELS:
            declared = {name for name in FIELDS[channel] if snapshot.delivers(channel, name)}
            for i, record in enumerate(study.records(channel) or ()):
                place = f"studies[{s}].{channel}[{i}]"
                if not isinstance(record, Mapping):
                    yield f"{place}: {record!r:.60} is not an object"
                    continue
                for name, field in FIELDS[channel].items():
                    if name not in record:
                        if name in declared:
                            yield f"{place}.{name} is missing, though the source declares it"
                    elif wrong := fault(field, record[name]):
                        yield f"{place}.{name}: {wrong}"


# -------------------------------------------------------------------------------- our own drawings


def from_chart(chart: "Chart") -> Snapshot:
    """The snapshot of a chart of ours: a study for each indicator that drew.

    Bars are confirmed, so the moment of the snapshot is the close of the last one.
    """
    bars = chart.bars
    facts: dict[str, Json] = {
        "symbol": bars.symbol,
        "timeframe": bars.timeframe,
        "confirmed": True,
        "timezone": "UTC",
    }
    if len(bars):
        facts |= {"last_bar": len(bars) - 1, "last_time": int(bars.time[-1])}
        if bars.timeframe:
            facts["as_of"] = int(bars.close_time[-1])
    if bars.tick_size is not None:
        facts["tick_size"] = bars.tick_size
    studies = [_study(each) for each in chart.drawn if each.scene is not None]
    return Snapshot(
        {"schema": VERSION, "chart": facts, "source": {"name": "chartpact"}, "studies": studies}
    )


def _study(drawn: "Drawn") -> dict[str, Json]:
    scene, indicator = drawn.scene, drawn.indicator
    assert scene is not None and indicator is not None
    cells, tables = [], []
    for table in scene.tables:
        frame = table.to_json()
        inside = frame.pop("cells")
        tables.append(frame)
        cells += [{**cell, "table": table.id, "position": table.position} for cell in inside]
    return {
        "id": drawn.id,
        "name": indicator.title,
        "short_name": getattr(indicator, "short_title", None),
        "version": None,
        "inputs": dict(drawn.params),
        "labels": [_placed(each.to_json(), "x") for each in scene.labels],
        "lines": [_placed(each.to_json(), "x1", "x2") for each in scene.lines],
        "boxes": [_placed(each.to_json(), "left", "right") for each in scene.boxes],
        "cells": cells,
        "tables": tables,
        "truncated": [],
        "limits": {name: cap for name, cap in scene.limits.items() if name in CHANNELS},
    }


def _placed(record: dict[str, Json], *anchors: str) -> dict[str, Json]:
    """Our objects are ordered by their bars."""
    for name in anchors:
        at = record[name]
        if at["n"] is None and at["bar"] is not None:
            record[name] = {**at, "n": at["bar"]}
    return record


# --------------------------------------------------------------------------------- text and schema


def _dump(data: Mapping[str, Json]) -> str:
    def compact(value: Json) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)

    studies = []
    for study in data["studies"]:
        rows = []
        for key, value in study.items():
            if isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
                records = ",\n    ".join(compact(record) for record in value)
                rows.append(f"   {compact(key)}: [\n    {records}\n   ]")
            else:
                rows.append(f"   {compact(key)}: {compact(value)}")
        studies.append("  {\n" + ",\n".join(rows) + "\n  }")
    rest = [f" {compact(k)}: {compact(v)}" for k, v in data.items() if k != "studies"]
    listed = "[\n" + ",\n".join(studies) + "\n ]" if studies else "[]"
    return "{\n" + ",\n".join([*rest, f' "studies": {listed}']) + "\n}\n"


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
    study = record(_STUDY, "name")
    study["properties"] |= {
        "inputs": {"type": ["object", "null"]},
        **channels,
        "tables": {"type": "array", "items": {"type": "object"}},
        "truncated": {"type": "array", "items": {"enum": list(CHANNELS)}},
        "limits": {"type": "object", "additionalProperties": {"type": "integer"}},
    }
    source = record({"name": _TEXT, "price_step": Field("number", positive=True)}, "name")
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
            "chart": record(CHART, *_CHART_NEEDS),
            "source": source,
            "studies": {"type": "array", "items": study},
        },
        "required": ["schema", "chart", "source", "studies"],
    }
