"""A snapshot as a value: read from JSON or made of a scene, with the faults of its records."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chartpact.drawing import CAPS, DrawnObject
from chartpact.scene import Drawn, Scene
from chartpact.snapshot.structure import (
    CARRIED,
    CHANNELS,
    FIELDS,
    VERSION,
    Json,
    SnapshotError,
    check_structure,
    fault,
)


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

    >>> chart, source = {"symbol": "ES", "timeframe": "5m"}, {"name": "by hand"}
    >>> Snapshot({"schema": 1, "chart": chart, "source": source, "studies": []}).studies
    ()
    """

    data: Mapping[str, Json]

    def __post_init__(self) -> None:
        check_structure(self.data)

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
        return tuple(map(Study, self.data["studies"]))

    def delivers(self, channel: str, field: str, study: Study | None = None) -> bool:
        """Whether the source declares that it can tell this field, of this study at least."""
        declared = [self.source.get("fields"), study.data.get("fields") if study else None]
        return all(fields is None or field in fields.get(channel, ()) for fields in declared)

    def problems(self) -> list[str]:
        """What is wrong with the records; a reader's snapshots have none."""
        return list(_problems(self))

    def to_json(self) -> dict[str, Json]:
        return dict(self.data)

    @classmethod
    def from_json(cls, data: Json) -> "Snapshot":
        return cls(data)

    @classmethod
    def of(cls, source: "Snapshot | Mapping[str, Json] | str | Path") -> "Snapshot":
        """A snapshot as it is, from JSON data, or from the path of a JSON file."""
        if isinstance(source, Snapshot):
            return source
        return cls.load(source) if isinstance(source, str | Path) else cls(source)

    @classmethod
    def of_scenes(cls, chart: Mapping[str, Json], studies: Sequence[Json]) -> "Snapshot":
        """The snapshot of a chart of our own."""
        source = {"name": "chartpact"}
        return cls({"schema": VERSION, "chart": chart, "source": source, "studies": studies})

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
    data = dict(pairs)
    if len(data) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise SnapshotError(f"the key {counts.most_common(1)[0][0]!r} is there twice")
    return data


def _problems(snapshot: Snapshot) -> Iterator[str]:
    for s, study in enumerate(snapshot.studies):
        for channel in CHANNELS:
            declared = {name for name in FIELDS[channel] if snapshot.delivers(channel, name, study)}
            for i, record in enumerate(study.records(channel) or ()):
                for wrong in _faults(channel, record, declared):
                    yield f"studies[{s}].{channel}[{i}]{wrong}"


def _faults(channel: str, record: Json, declared: set[str]) -> Iterator[str]:
    if not isinstance(record, Mapping):
        yield f": {record!r:.60} is not an object"
        return
    for name, field in FIELDS[channel].items():
        if name in record:
            if wrong := fault(field, record[name]):
                yield f".{name}: {wrong}"
        elif name in declared:
            yield f".{name} is missing, though the source declares it"


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


# -------------------------------------------------------------------------------- scenes of our own


def study(drawn: Drawn) -> dict[str, Json]:
    """The record of an indicator and of the objects it drew."""
    scene = drawn.scene or Scene()
    cells, tables = [], []
    for table in scene.tables:
        frame = table.to_json()
        place = {"table": table.id, "position": table.position}
        cells += [{**cell, **place} for cell in frame.pop("cells")]
        tables.append(frame)
    return {
        "id": drawn.id,
        "name": drawn.title,
        "short_name": drawn.short_title,
        "version": None,
        "inputs": dict(drawn.params),
        **{name: [*map(_record, getattr(scene, name))] for name in ("labels", "lines", "boxes")},
        "cells": cells,
        "tables": tables,
        **{name: [*map(_record, getattr(scene, name))] for name in CARRIED},
        "truncated": [],
        "limits": {channel: cap for channel, cap in scene.limits.items() if channel in CAPS},
    }


def _record(drawn: DrawnObject) -> dict[str, Json]:
    """The JSON of an object; our objects are ordered by their bars."""
    record = drawn.to_json()
    record.pop("made_at", None)  # which is for a proof
    for name in drawn.places:
        place = record[name]
        if place["n"] is None:
            place["n"] = place["bar"]
    return record
