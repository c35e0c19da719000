"""The study of an indicator of our own: its scene as the records of a snapshot."""

from chartpact.scene import Drawn, Scene
from chartpact.snapshot.fields import CHANNELS, Json


def study(drawn: Drawn) -> dict[str, Json]:
    """The record of an indicator and of the objects it drew."""
    scene = drawn.scene or Scene()
    cells, tables = [], []
    for table in scene.tables:
        frame = table.to_json()
        inside = frame.pop("cells")
        tables.append(frame)
        cells += [{**cell, "table": table.id, "position": table.position} for cell in inside]
    return {
        "id": drawn.id,
        "name": drawn.title,
        "short_name": drawn.short_title,
        "version": None,
        "inputs": dict(drawn.params),
        "labels": [_placed(label.to_json(), "x") for label in scene.labels],
        "lines": [_placed(line.to_json(), "x1", "x2") for line in scene.lines],
        "boxes": [_placed(box.to_json(), "left", "right") for box in scene.boxes],
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
