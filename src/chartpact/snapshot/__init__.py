"""A Snapshot is the lossless record of what was drawn on one chart at one moment, by whomever.

It is JSON with a fixed shape, version 1. **An absent key means that the source cannot tell; null
means that nothing is there** (Pine's `na`); neither is ever turned into the other. The
structure of a snapshot (chart, source, studies, their channels) is checked when it is made. Its
records stay as the source gave them, unknown keys included: `problems` lists what is wrong with
them, and a contract that needs a wrong one refuses to be read.
"""

from chartpact.snapshot.snapshot import Snapshot, Study, parse_json, study
from chartpact.snapshot.source import SnapshotSource
from chartpact.snapshot.structure import (
    CHANNELS,
    CHART,
    FIELDS,
    LONGEST_NAME,
    LONGEST_TEXT,
    PRICES,
    Field,
    SnapshotError,
    fault,
    json_schema,
)

__all__ = [
    "CHANNELS",
    "CHART",
    "FIELDS",
    "LONGEST_NAME",
    "LONGEST_TEXT",
    "PRICES",
    "Field",
    "Snapshot",
    "SnapshotError",
    "SnapshotSource",
    "Study",
    "fault",
    "json_schema",
    "parse_json",
    "study",
]
