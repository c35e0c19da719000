"""Field types: what may stand in a field of a drawn record, as a value, in JSON and in a column."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from chartpact import arrays, checks, palette
from chartpact.checks import Unfit
from chartpact.textcolumn import TextColumn

Json = Any
LARGEST_MEASURE = 1_000  # of a width in pixels, of a text in points, of a cell in percent


@dataclass(frozen=True, eq=False)
class FieldType:
    """What may stand in a field.

    `check` gives the canonical form of a value, or raises `Unfit`. `encode` and `decode` lead to
    JSON and back where the value is not JSON itself. `column` checks many values at once. `types`
    are the Python types of the plain values it takes and `names` those that are known by name:
    error messages speak of them. A script may set no number above `largest`.
    """

    kind: str  # number whole flag text name color size anchor id, or one that contracts never read
    check: Callable[[Any], Any]
    schema: Mapping[str, Json]
    types: tuple[type, ...] = ()
    names: tuple[str, ...] = ()
    nullable: bool = False
    largest: int | None = None
    encode: Callable[[Any], Json] | None = None
    decode: Callable[[Json], Any] | None = None
    column: Callable[[Any], Any] | None = None


# -------------------------------------------------------------------------------- combined types


def one_of(names: Sequence[str]) -> FieldType:
    known = frozenset(names)

    def check(value: Any) -> str:
        if isinstance(value, str) and value in known:
            return value
        raise Unfit(f"is not one of {', '.join(names)}", value)

    return FieldType("name", check, {"enum": list(names)}, (str,), tuple(names))


def nullable(one: FieldType, column: Callable[[Any], Any] | None = None) -> FieldType:
    check, encode, decode = one.check, one.encode, one.decode
    return replace(
        one,
        check=lambda value: None if value is None else check(value),
        schema={"anyOf": [one.schema, {"type": "null"}]},
        nullable=True,
        encode=encode and (lambda value: None if value is None else encode(value)),
        decode=decode and (lambda value: None if value is None else decode(value)),
        column=column,
    )


def at_least(one: FieldType, low: int) -> FieldType:
    def check(value: Any) -> Any:
        number = one.check(value)
        if number < low:
            raise Unfit(f"is less than {low}", value)
        return number

    def column(values: Any) -> Any:
        array = one.column(values) if one.column else np.array([])
        if arrays.any_true(array < low):
            raise Unfit(f"is less than {low}", array.min().item())
        return array

    schema = {**one.schema, "minimum": low}
    return replace(one, check=check, schema=schema, column=one.column and column)


def list_of(one: FieldType) -> FieldType:
    def check(values: Any) -> tuple[Any, ...]:
        if not isinstance(values, Sequence) or isinstance(values, str):
            raise Unfit("is not a list", values)
        return tuple(map(one.check, values))

    def encode(values: Sequence[Any]) -> Json:
        return list(map(one.encode, values)) if one.encode else list(values)

    def decode(values: Json) -> Any:
        return list(map(one.decode, values)) if one.decode and isinstance(values, list) else values

    schema = {"type": "array", "items": one.schema}
    return FieldType("list", check, schema, encode=encode, decode=decode)


# ------------------------------------------------------------------------------------ the checks


def _one_paint(value: Any) -> str:
    return palette.AUTO if value == palette.AUTO else palette.color(value)


def _paint(value: Any) -> str | TextColumn:
    if isinstance(value, str):
        return _one_paint(value)
    if not isinstance(value, Sequence):
        raise Unfit("is neither a colour nor a list of colours", value)
    try:
        colors = TextColumn.encode(value)
    except TypeError:
        raise Unfit("is no list of colours", value) from None
    return colors.map(lambda color: None if color is None else palette.color(color))


def _tint(value: Any) -> str | TextColumn:
    if isinstance(value, str) and value == palette.AUTO:
        raise Unfit("goes with a series, and there is none here", value)
    return _paint(value)


def _size(value: Any) -> str | int:
    if value in palette.TEXT_SIZES if isinstance(value, str) else checks.whole(value) > 0:
        return value if isinstance(value, str) else int(value)
    raise Unfit(
        f"is not a size: use {', '.join(palette.TEXT_SIZES)} or a whole number of points", value
    )


def _texts(values: Any) -> TextColumn:
    column = TextColumn.encode(values)
    for text in column.categories:
        checks.text(text)
    return column


def _texts_or_none(values: Any) -> TextColumn:
    column = TextColumn.encode(values)
    for text in column.categories:
        if text is not None:
            checks.text(text)
    return column


# ---------------------------------------------------------------------- the types that fields have

COLOR_SCHEMA = {"type": "string", "pattern": "^#[0-9a-f]{8}$"}
_PAINT_SCHEMA = {"anyOf": [COLOR_SCHEMA, {"const": palette.AUTO}]}
_SIZE_SCHEMA = {"anyOf": [{"enum": list(palette.TEXT_SIZES)}, {"type": "integer", "minimum": 1}]}

WHOLE = FieldType("whole", checks.whole, {"type": "integer"}, (int,), column=arrays.wholes)
NUMBER = FieldType("number", checks.number, {"type": "number"}, (int, float), column=arrays.numbers)
TEXT = FieldType("text", checks.text, {"type": "string"}, (str,), column=_texts)
FLAG = FieldType("flag", checks.flag, {"type": "boolean"}, (bool,))
COLOR = FieldType("color", palette.color, COLOR_SCHEMA, (str,), tuple(palette.COLORS))
SIZE = FieldType("size", _size, _SIZE_SCHEMA, (str, int), tuple(palette.TEXT_SIZES))
SERIES = FieldType(
    "series",
    arrays.series,
    {"type": "array", "items": {"type": ["number", "null"]}},
    encode=arrays.to_list,
)
PAINT = FieldType("paint", _paint, _PAINT_SCHEMA, (str,), tuple(palette.COLORS))
ONE_PAINT = replace(PAINT, kind="one_paint", check=_one_paint)
TINT = replace(PAINT, check=_tint, schema=COLOR_SCHEMA)
ID = replace(WHOLE, kind="id")
COUNT = at_least(WHOLE, 0)
POSITIVE = at_least(NUMBER, 0)
PRICE = nullable(NUMBER, arrays.series)  # in a column, None is NaN

Id = Annotated[int, ID]
Whole = Annotated[int, WHOLE]
WholeOrNone = Annotated[int | None, nullable(WHOLE, arrays.wholes_or_none)]
Count = Annotated[int, COUNT]
Pixels = Annotated[int, replace(COUNT, largest=LARGEST_MEASURE)]
Number = Annotated[float, NUMBER]
Positive = Annotated[float, POSITIVE]
Measure = Annotated[float, replace(POSITIVE, largest=LARGEST_MEASURE)]
Offset = Annotated[float, replace(NUMBER, largest=LARGEST_MEASURE)]
Price = Annotated[float | None, PRICE]
Text = Annotated[str, TEXT]
TextOrNone = Annotated[str | None, nullable(TEXT, _texts_or_none)]
Flag = Annotated[bool, FLAG]
Color = Annotated[str | None, nullable(COLOR)]  # None: not drawn
Size = Annotated[str | int, replace(SIZE, largest=LARGEST_MEASURE)]
Series = Annotated[NDArray[np.float64], SERIES]
OnePaint = Annotated[str, ONE_PAINT]
# One colour for the whole plot, or one for each bar or dot (None: not drawn).
Paint = Annotated[str | TextColumn, PAINT]
PaintOrNone = Annotated[str | TextColumn | None, nullable(PAINT)]
Tint = Annotated[str | TextColumn, TINT]  # without "auto"
PlotStyle = Annotated[str, one_of(palette.PLOT_STYLES)]
LineStyle = Annotated[str, one_of(palette.LINE_STYLES)]
BorderStyle = Annotated[str, one_of(palette.BORDER_STYLES)]
LabelStyle = Annotated[str, one_of(palette.LABEL_STYLES)]
Xloc = Annotated[str, one_of(palette.XLOCS)]
Yloc = Annotated[str, one_of(palette.YLOCS)]
Extend = Annotated[str, one_of(palette.EXTENDS)]
Position = Annotated[str, one_of(palette.POSITIONS)]
Halign = Annotated[str, one_of(palette.HALIGNS)]
Valign = Annotated[str, one_of(palette.VALIGNS)]
Wrap = Annotated[str, one_of(palette.WRAPS)]
Font = Annotated[str, one_of(palette.FONTS)]
Format = Annotated[str, one_of(palette.FORMATS)]
Side = Annotated[str, one_of(palette.SIDES)]
ShapeName = Annotated[str, one_of(palette.SHAPES)]
Location = Annotated[str, one_of(palette.LOCATIONS)]
ShapeSize = Annotated[str, one_of(tuple(palette.TEXT_SIZES))]
