"""The table of drawn objects: labels, lines, boxes, tables, polylines and linefills.

Each class declares what an object has, with Pine's defaults and in the order of Pine's arguments.
Scenes hold these records; snapshots, the handles of scripts, the bounds of the sandbox and the JSON
Schemas are derived from their fields. A field is `Annotated` with its type and, where it applies,
with Pine's keyword for it, with `UNREAD` if contracts cannot read it, and with `UNSET` if scripts
do not pass it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, cast, get_type_hints

import numpy as np
from numpy.typing import NDArray

from chartpact.drawing.fieldtypes import (
    PRICE,
    TEXT,
    BorderStyle,
    Color,
    Count,
    Extend,
    FieldType,
    Flag,
    Font,
    Format,
    Halign,
    Id,
    LabelStyle,
    LineStyle,
    Measure,
    Number,
    Pixels,
    Position,
    Price,
    Size,
    Text,
    Valign,
    Whole,
    WholeOrNone,
    Wrap,
    Xloc,
    Yloc,
    list_of,
)
from chartpact.drawing.record import Record, record_type
from chartpact.drawing.recordarray import RecordArray, array_type


@dataclass(frozen=True)
class Anchor(Record):
    """A place on the time axis: order within the study, bar index, and that bar's UTC ms."""

    n: WholeOrNone
    bar: WholeOrNone
    time: WholeOrNone


ANCHOR = record_type(Anchor, "anchor")
Place = Annotated[Anchor, ANCHOR]


@dataclass(frozen=True)
class Keyword:
    """Pine's keyword, where it is not the name of the field."""

    name: str


UNREAD, UNSET = object(), object()
# The UTC ms of the bar that an object was made at, where a setter moved it to another since.
MadeAt = Annotated[WholeOrNone, UNREAD, UNSET]


@dataclass(frozen=True)
class Argument:
    """What a script passes for a field, by Pine's keyword."""

    keyword: str
    field: str
    type: FieldType
    default: Any = MISSING


class DrawnObject(Record):
    """What a kind of object is, derived from its fields.

    `places` are its fields on the time axis, `heights` those on the price axis, `texts` what it
    says. `arguments` are what scripts pass for it and `readable` is what contracts read of it.
    `cap` is how many may live at once if META asks for so many; None where nothing counts them.
    """

    optional: ClassVar[tuple[str, ...]] = ("provisional",)
    noun: ClassVar[str]  # one of its channel: box, of the boxes
    channel: ClassVar[str]
    cap: ClassVar[int | None]
    places: ClassVar[tuple[str, ...]]
    heights: ClassVar[tuple[str, ...]]
    texts: ClassVar[tuple[str, ...]]
    readable: ClassVar[tuple[str, ...]]
    arguments: ClassVar[tuple[Argument, ...]]

    def __init_subclass__(cls, channel: str, cap: int | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        types = cls.field_types
        marks = {name: hint.__metadata__ for name, hint in _hints(cls) if name in types}
        cls.noun, cls.channel, cls.cap = cls.__name__.lower(), channel, cap
        cls.places = tuple(name for name, type_ in types.items() if type_ is ANCHOR)
        cls.heights = tuple(name for name, type_ in types.items() if type_ is PRICE)
        cls.texts = tuple(name for name, type_ in types.items() if type_ is TEXT)
        cls.readable = tuple(name for name in types if UNREAD not in marks[name])
        cls.arguments = tuple(_arguments(cls))


def _hints(cls: type) -> Iterator[tuple[str, Any]]:
    """The annotations of a class in their order; that of a class variable without `ClassVar`."""
    hints = get_type_hints(cls, include_extras=True)
    for name in cls.__annotations__:
        hint = hints[name]
        yield name, hint if hasattr(hint, "__metadata__") else hint.__args__[0]


def _arguments(cls: type) -> Iterator[Argument]:
    for name, hint in _hints(cls):
        if UNSET not in hint.__metadata__:
            keywords = [mark.name for mark in hint.__metadata__ if isinstance(mark, Keyword)]
            keyword = keywords[0] if keywords else name
            yield Argument(keyword, name, hint.__metadata__[0], getattr(cls, name, MISSING))


@dataclass(frozen=True)
class Label(DrawnObject, channel="labels", cap=500):
    """A text at a bar and a price."""

    optional = ("provisional", "made_at")
    id: Annotated[Id, UNSET]
    x: Place
    y: Price
    text: Text = ""
    xloc: ClassVar[Xloc] = "bar_index"  # says what a script's x means; the record holds an anchor
    yloc: Yloc = "price"
    color: Color = "blue"
    style: LabelStyle = "label_down"
    text_color: Annotated[Color, Keyword("textcolor")] = "white"
    size: Size = "normal"
    text_align: Annotated[Halign, Keyword("textalign")] = "center"
    tooltip: Text = ""
    text_font_family: Annotated[Font, UNREAD] = "default"
    force_overlay: Flag = False
    text_formatting: Annotated[Format, UNREAD] = "none"
    provisional: Annotated[Flag, UNREAD] = False
    made_at: MadeAt = None


@dataclass(frozen=True)
class Line(DrawnObject, channel="lines", cap=500):
    """A line between two points."""

    optional = ("provisional", "made_at")
    id: Annotated[Id, UNSET]
    x1: Place
    y1: Price
    x2: Place
    y2: Price
    xloc: ClassVar[Xloc] = "bar_index"
    extend: Extend = "none"
    color: Color = "blue"
    style: LineStyle = "solid"
    width: Pixels = 1
    force_overlay: Flag = False
    provisional: Annotated[Flag, UNREAD] = False
    made_at: MadeAt = None


@dataclass(frozen=True)
class Box(DrawnObject, channel="boxes", cap=500):
    """A rectangle."""

    optional = ("provisional", "made_at")
    id: Annotated[Id, UNSET]
    left: Place
    top: Price
    right: Place
    bottom: Price
    border_color: Color = "blue"
    border_width: Pixels = 1
    border_style: BorderStyle = "solid"
    extend: Extend = "none"
    xloc: ClassVar[Xloc] = "bar_index"
    bgcolor: Color = "blue"
    text: Text = ""
    text_size: Size = "auto"
    text_color: Color = "black"
    text_halign: Halign = "center"
    text_valign: Valign = "center"
    text_wrap: Annotated[Wrap, UNREAD] = "none"
    text_font_family: Annotated[Font, UNREAD] = "default"
    force_overlay: Flag = False
    text_formatting: Annotated[Format, UNREAD] = "none"
    provisional: Annotated[Flag, UNREAD] = False
    made_at: MadeAt = None


@dataclass(frozen=True)
class Cell(DrawnObject, channel="cells"):
    """One cell of a table; a merged one reaches to `end_column` and `end_row`."""

    optional = ()
    id: Annotated[Id, UNSET]
    column: Count
    row: Count
    text: Text = ""
    width: Annotated[Measure, UNREAD] = 0
    height: Annotated[Measure, UNREAD] = 0
    text_color: Color = "black"
    text_halign: Annotated[Halign, UNREAD] = "center"
    text_valign: Annotated[Valign, UNREAD] = "center"
    size: Annotated[Size, Keyword("text_size")] = "normal"
    bgcolor: Color = None
    tooltip: Text = ""
    text_font_family: Annotated[Font, UNREAD] = "default"
    text_formatting: Annotated[Format, UNREAD] = "none"
    end_column: Annotated[WholeOrNone, UNREAD, UNSET] = None
    end_row: Annotated[WholeOrNone, UNREAD, UNSET] = None


@dataclass(frozen=True)
class Table(DrawnObject, channel="tables"):
    """A table in a corner of the pane."""

    id: Annotated[Id, UNSET]
    position: Position
    columns: Count
    rows: Count
    bgcolor: Color = None
    frame_color: Color = None
    frame_width: Pixels = 0
    border_color: Color = None
    border_width: Pixels = 0
    force_overlay: Flag = False
    provisional: Annotated[Flag, UNREAD] = False
    cells: Annotated[tuple[Cell, ...], list_of(record_type(Cell)), UNSET] = ()


@dataclass(frozen=True)
class Vertex(Record):
    """One point of a polyline: its bar, that bar's UTC ms where it is known, and its height."""

    bar: Whole
    time: WholeOrNone
    y: Number


class Vertices(RecordArray[Vertex]):
    """The points of a polyline as columns."""

    record = Vertex
    bar: NDArray[np.int64]
    time: NDArray[np.int64]
    y: NDArray[np.float64]


@dataclass(frozen=True)
class Polyline(DrawnObject, channel="polylines", cap=100):
    """A line through many points, which may be curved, closed and filled."""

    id: Annotated[Id, UNSET]
    points: Annotated[Sequence[Vertex], array_type(Vertices)]
    curved: Flag = False
    closed: Flag = False
    xloc: ClassVar[Xloc] = "bar_index"
    line_color: Color = "blue"
    fill_color: Color = None
    line_style: LineStyle = "solid"
    line_width: Pixels = 1
    force_overlay: Flag = False
    provisional: Flag = False

    @property
    def columns(self) -> Vertices:
        """The points as columns."""
        return cast(Vertices, self.points)


@dataclass(frozen=True)
class Linefill(DrawnObject, channel="linefills"):
    """The area between two lines of the same scene, named by their ids; it counts as a line."""

    id: Annotated[Id, UNSET]
    line1: Id
    line2: Id
    color: Color
    provisional: Flag = False


OBJECTS: Mapping[str, type[DrawnObject]] = MappingProxyType(
    {kind.channel: kind for kind in (Label, Line, Box, Table, Polyline, Linefill)}
)
CHANNELS = tuple(OBJECTS)
# Of these an indicator has a limited number: when there is one more, the oldest leaves.
CAPS: Mapping[str, int] = MappingProxyType(
    {channel: kind.cap for channel, kind in OBJECTS.items() if kind.cap is not None}
)
DEFAULT_CAP = 50
