"""The snapshot of a chart of our own."""

from typing import TYPE_CHECKING

from chartpact.snapshot.fields import CHANNELS, Json
from chartpact.snapshot.frame import VERSION
from chartpact.snapshot.record import Snapshot

if TYPE_CHECKING:
    from chartpact.charts import Chart, Drawn


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
