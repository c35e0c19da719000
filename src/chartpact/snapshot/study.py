"""The study of an indicator of our own: its scene as the records of a snapshot."""

from chartpact.drawing import CAPPED, DrawnObject
from chartpact.scene import Drawn, Scene
from chartpact.snapshot.fields import Json


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
        **{channel: list(map(_record, getattr(scene, channel))) for channel in CAPPED},
        "cells": cells,
        "tables": tables,
        "truncated": [],
        "limits": {channel: cap for channel, cap in scene.limits.items() if channel in CAPPED},
    }


def _record(drawn: DrawnObject) -> dict[str, Json]:
    """The JSON of an object; our objects are ordered by their bars."""
    record = drawn.to_json()
    for name in drawn.places:
        place = record[name]
        if place["n"] is None:
            place["n"] = place["bar"]
    return record
