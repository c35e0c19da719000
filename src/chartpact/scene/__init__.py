"""A Scene is what an indicator drew: its plots, its signals and its Pine-style objects.

Everything here is a frozen value, checked where it is made: each field's type carries the rule
that says what may stand there, and the same rule reads, writes and describes it in JSON. Series
are read-only float64 arrays in which NaN means "nothing is drawn on this bar"; in JSON it is null.
`to_json` and `from_json` lose nothing.
"""

from chartpact.scene.columns import NOTHING
from chartpact.scene.drawn import Drawn
from chartpact.scene.fields import Paint, Series
from chartpact.scene.objects import Anchor, Box, Cell, Label, Line, Table
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
    displaced,
)
from chartpact.scene.rows import Rows
from chartpact.scene.rule import Rule, SceneError
from chartpact.scene.scene import CHANNELS, Scene, json_schema
from chartpact.scene.signals import Signal, Signals, signals_of
from chartpact.scene.values import Value, rules

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
    "Paint",
    "Plot",
    "Point",
    "Points",
    "Rows",
    "Rule",
    "Scene",
    "SceneError",
    "Series",
    "Signal",
    "Signals",
    "Table",
    "Value",
    "displaced",
    "json_schema",
    "rules",
    "signals_of",
]
