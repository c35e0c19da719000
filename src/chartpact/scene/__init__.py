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
    BackgroundPlot,
    BarColorPlot,
    BarsPlot,
    CandlesPlot,
    DivLinePlot,
    DotPlot,
    FillPlot,
    HBarPlot,
    HLinePlot,
    LinePlot,
    Mark,
    Marks,
    Plot,
    Point,
    Points,
    ShapePlot,
    displace,
)
from chartpact.scene.scene import Scene, json_schema
from chartpact.scene.signals import Signal, Signals, signals_of

__all__ = [
    "CHANNELS",
    "NOTHING",
    "PLOTS",
    "Anchor",
    "BackgroundPlot",
    "BarColorPlot",
    "BarsPlot",
    "Box",
    "CandlesPlot",
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
    "Mark",
    "Marks",
    "Plot",
    "Point",
    "Points",
    "Polyline",
    "RecordArray",
    "Scene",
    "SceneError",
    "ShapePlot",
    "Signal",
    "Signals",
    "Table",
    "Vertex",
    "Vertices",
    "displace",
    "json_schema",
    "signals_of",
]
