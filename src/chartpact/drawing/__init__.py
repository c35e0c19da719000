"""Drawn objects, declared once: what a label, a line, a box, a table, a polyline … has.

A record is a frozen value, checked where it is made: the type of each field says what may stand
there, and the same type reads, writes and describes it in JSON.
"""

from chartpact.drawing.fieldtypes import FieldType
from chartpact.drawing.objects import (
    CAPS,
    CHANNELS,
    DEFAULT_CAP,
    OBJECTS,
    Anchor,
    Argument,
    Box,
    Cell,
    DrawnObject,
    Label,
    Line,
    Linefill,
    Polyline,
    Table,
    Vertex,
    Vertices,
)
from chartpact.drawing.record import Record, SceneError

__all__ = [
    "CAPS",
    "CHANNELS",
    "DEFAULT_CAP",
    "OBJECTS",
    "Anchor",
    "Argument",
    "Box",
    "Cell",
    "DrawnObject",
    "FieldType",
    "Label",
    "Line",
    "Linefill",
    "Polyline",
    "Record",
    "SceneError",
    "Table",
    "Vertex",
    "Vertices",
]
