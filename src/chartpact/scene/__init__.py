"""A Scene is what an indicator drew: its plots, its signals and its Pine-style objects.

Everything here is a record of `chartpact.drawing`: frozen, and checked where it is made. Series are
read-only float64 arrays in which NaN means "nothing is drawn on this bar"; in JSON it is null.
`to_json` and `from_json` lose nothing.
"""

from chartpact.arrays import NOTHING
from chartpact.drawing import (
    CHANNELS,
    Anchor,
    Box,
    Cell,
    Label,
    Line,
    Linefill,
    Polyline,
    SceneError,
    Table,
    Vertex,
    Vertices,
)
from chartpact.drawing.recordarray import RecordArray
from chartpact.scene.drawn import Drawn
from chartpact.scene.plots import (
    PLOTS,
    BarsPlot,
    DivLinePlot,
    DotPlot,
    FillPlot,
    HBarPlot,
    HLinePlot,
    LinePlot,
    Plot,
    Point,
    Points,
    displace,
)
from chartpact.scene.scene import Scene, json_schema
from chartpact.scene.signals import Signal, Signals, signals_of

__all__ = [
    "CHANNELS",
    "NOTHING",
    "PLOTS",
    "Anchor",
    "BarsPlot",
    "Box",
    "Cell",
    "DivLinePlot",
    "DotPlot",
    "Drawn",
    "FillPlot",
    "HBarPlot",
    "HLinePlot",
    "Label",
    "Line",
    "LinePlot",
    "Linefill",
    "Plot",
    "Point",
    "Points",
    "Polyline",
    "RecordArray",
    "Scene",
    "SceneError",
    "Signal",
    "Signals",
    "Table",
    "Vertex",
    "Vertices",
    "displace",
    "json_schema",
    "signals_of",
]
