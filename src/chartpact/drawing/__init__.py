"""Drawn objects, declared once: what a label, a line, a box, a table and a cell has.

A record is a frozen value, checked where it is made: the type of each field says what may stand
there, and the same type reads, writes and describes it in JSON.
"""

from chartpact.drawing.fieldtypes import FieldType
from chartpact.drawing.objects import (
    CAPPED,
    CHANNELS,
    DEFAULT_CAP,
    MAX_CAP,
    OBJECTS,
    Anchor,
    Argument,
    Box,
    Cell,
    DrawnObject,
    Label,
    Line,
    Table,
)
from chartpact.drawing.record import Record, SceneError

__all__ = [
    "CAPPED",
    "CHANNELS",
    "DEFAULT_CAP",
    "MAX_CAP",
    "OBJECTS",
    "Anchor",
    "Argument",
    "Box",
    "Cell",
    "DrawnObject",
    "FieldType",
    "Label",
    "Line",
    "Record",
    "SceneError",
    "Table",
]
