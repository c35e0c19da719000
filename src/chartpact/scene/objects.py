"""The objects that Pine draws: labels, lines, boxes and tables, with Pine's defaults."""

from dataclasses import dataclass
from typing import Annotated

from chartpact import palette
from chartpact.scene.fields import (
    BorderStyle,
    Count,
    Extend,
    Flag,
    Font,
    Format,
    Halign,
    LabelStyle,
    LineStyle,
    MaybeColor,
    MaybeNumber,
    MaybeWhole,
    Position,
    Positive,
    Size,
    Text,
    Valign,
    Whole,
    Wrap,
    Yloc,
)
from chartpact.scene.rule import list_of
from chartpact.scene.values import Value, record


@dataclass(frozen=True)
class Anchor(Value):
    """A place on the time axis: order within the study, bar index, and that bar's UTC ms."""

    n: MaybeWhole
    bar: MaybeWhole
    time: MaybeWhole


Place = Annotated[Anchor, record(Anchor)]


@dataclass(frozen=True)
class Label(Value):
    id: Whole
    x: Place
    y: MaybeNumber
    text: Text = ""
    yloc: Yloc = "price"
    color: MaybeColor = palette.COLORS["blue"]
    style: LabelStyle = "label_down"
    text_color: MaybeColor = palette.COLORS["white"]
    size: Size = "normal"
    text_align: Halign = "center"
    tooltip: Text = ""
    text_font_family: Font = "default"
    force_overlay: Flag = False
    text_formatting: Format = "none"


@dataclass(frozen=True)
class Line(Value):
    id: Whole
    x1: Place
    y1: MaybeNumber
    x2: Place
    y2: MaybeNumber
    extend: Extend = "none"
    color: MaybeColor = palette.COLORS["blue"]
    style: LineStyle = "solid"
    width: Count = 1
    force_overlay: Flag = False


@dataclass(frozen=True)
class Box(Value):
    id: Whole
    left: Place
    top: MaybeNumber
    right: Place
    bottom: MaybeNumber
    border_color: MaybeColor = palette.COLORS["blue"]
    border_width: Count = 1
    border_style: BorderStyle = "solid"
    extend: Extend = "none"
    bgcolor: MaybeColor = palette.COLORS["blue"]
    text: Text = ""
    text_size: Size = "auto"
    text_color: MaybeColor = palette.COLORS["black"]
    text_halign: Halign = "center"
    text_valign: Valign = "center"
    text_wrap: Wrap = "none"
    text_font_family: Font = "default"
    force_overlay: Flag = False
    text_formatting: Format = "none"


@dataclass(frozen=True)
class Cell(Value):
    """One cell of a table; a merged one reaches to `end_column` and `end_row`."""

    id: Whole
    column: Count
    row: Count
    text: Text = ""
    width: Positive = 0
    height: Positive = 0
    text_color: MaybeColor = palette.COLORS["black"]
    text_halign: Halign = "center"
    text_valign: Valign = "center"
    size: Size = "normal"
    bgcolor: MaybeColor = None
    tooltip: Text = ""
    text_font_family: Font = "default"
    text_formatting: Format = "none"
    end_column: MaybeWhole = None
    end_row: MaybeWhole = None


@dataclass(frozen=True)
class Table(Value):
    id: Whole
    position: Position
    columns: Count
    rows: Count
    bgcolor: MaybeColor = None
    frame_color: MaybeColor = None
    frame_width: Count = 0
    border_color: MaybeColor = None
    border_width: Count = 0
    force_overlay: Flag = False
    cells: Annotated[tuple[Cell, ...], list_of(record(Cell))] = ()
