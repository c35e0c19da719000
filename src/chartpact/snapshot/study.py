"""The study of an indicator of our own: its scene as the records of a snapshot."""

from collections.abc import Sequence

from chartpact.drawing import CAPS, DrawnObject
from chartpact.scene import Drawn, Scene
from chartpact.snapshot.fields import CARRIED, Json


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
        **{channel: _records(getattr(scene, channel)) for channel in ("labels", "lines", "boxes")},
        "cells": cells,
        "tables": tables,
        **{channel: _records(getattr(scene, channel)) for channel in CARRIED},
        "truncated": [],
        "limits": {channel: cap for channel, cap in scene.limits.items() if channel in CAPS},
    }


def _records(objects: Sequence[DrawnObject]) -> list[Json]:
    return list(map(_record, objects))


def _record(drawn: DrawnObject) -> dict[str, Json]:
    """The JSON of an object; our objects are ordered by their bars."""
    record = drawn.to_json()
    for name in drawn.places:
        place = record[name]
        if place["n"] is None:
            place["n"] = place["bar"]
    return record
