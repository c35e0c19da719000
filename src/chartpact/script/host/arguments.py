"""The arguments of drawing functions: numbers, bars, fields, or a fault that says the remedy."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from chartpact.arrays import NOTHING, freeze
from chartpact.checks import Unfit
from chartpact.drawing import FieldType
from chartpact.drawing.fieldtypes import PAINT
from chartpact.problem import did_you_mean
from chartpact.scene import displace
from chartpact.script.errors import OPERAND, Fault
from chartpact.script.limits import OBJECT_TEXT_CHARS
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Array, Series, TextSeries, array_of
from chartpact.script.runtime.values import LISTS, a_type, shown
from chartpact.textcolumn import TextColumn

FURTHEST_OFFSET = 10_000
_PLAIN = frozenset((int, float, bool, str, type(None)))
_COLOR = 40  # steps for each distinct colour of a plot, which is read twice


def plain(value: Any, keyword: str) -> Any:
    """One number, text, truth or None: nothing that would have to be walked."""
    if type(value) not in _PLAIN:
        raise Fault("type", f"{keyword} is one value, not {a_type(value)}", _one_bar(value))
    return value


def number(value: Any, keyword: str) -> float | None:
    """A height: a finite number, None where it is na."""
    if value is None or (type(value) is float and not math.isfinite(value)):
        return None
    if type(value) not in (int, float):
        raise Fault("type", f"{keyword} is a number, not {a_type(value)}", _one_bar(value))
    try:
        return float(value)
    except OverflowError:
        raise Fault("value", f"{keyword} is too large a number to be drawn") from None


def whole(value: Any, keyword: str) -> int | None:
    """A bar's number or a time: a whole number, None where it is na."""
    if type(value) is int:
        return value
    if value is None or (type(value) is float and math.isnan(value)):
        return None
    if type(value) not in (int, float):
        message = f"{keyword} is a bar's number or a time, not {a_type(value)}"
        raise Fault("type", message, _one_bar(value))
    if type(value) is float and not value.is_integer():
        hint = "cut the fraction with int(x)" if math.isfinite(value) else ""
        raise Fault("value", f"{keyword} is a whole number, not {shown(value)}", hint)
    return int(value)


def _one_bar(value: Any) -> str:
    return "take one bar: s[i]" if type(value) is Series else ""


def field_value(value: Any, type_: FieldType, keyword: str) -> Any:
    """The canonical value of a field."""
    if type(value) is str and len(value) > OBJECT_TEXT_CHARS:
        raise Fault("size", f"{keyword} has at most {OBJECT_TEXT_CHARS} characters")
    try:
        return type_.check(measure(plain(value, keyword), type_, keyword))
    except Unfit as unfit:
        raise refusal(unfit, type_, keyword) from None


def measure(value: Any, type_: FieldType, keyword: str) -> Any:
    """A width or a size, if it is one that can be drawn."""
    largest = type_.largest
    if largest is not None and type(value) in (int, float) and abs(value) > largest:
        raise Fault("value", f"{keyword} is at most {largest:,}, not {shown(value)}")
    return value


def refusal(unfit: Unfit, type_: FieldType, keyword: str) -> Fault:
    """The fault that says why a value cannot stand in a field; a long value is not written out."""
    value = unfit.value
    hint = ""
    if type(value) in (int, float) and type_.kind == "text":
        hint = "write text.number(x, decimals), or str(x)"
    elif type(value) is str:
        hint = did_you_mean(value, type_.names, alike=0.6)
    kind = "type" if type(value) in _PLAIN and type(value) not in type_.types else "value"
    return Fault(kind, f"{keyword}: {unfit.message(shown)}", hint)


def check_offset(offset: Any) -> None:
    if type(offset) is not int:
        raise Fault("type", f"offset is a number of bars, not {a_type(offset)}")
    if abs(offset) > FURTHEST_OFFSET:
        raise Fault("value", f"offset is at most {FURTHEST_OFFSET:,} bars, not {shown(offset)}")


class SeriesArguments:
    """Arguments with a value for each bar of a chart: series, conditions and colours."""

    def __init__(self, bars: int, meter: Meter) -> None:
        self._bars = bars
        self._meter = meter

    def series(self, value: Any, name: str, level: bool = False, heights: bool = False) -> Array:
        """A series; with `level` a number will do, which then holds on every bar.

        `heights` says that a condition would also do, were it not for the location.
        """
        kind = type(value)
        self._meter.charge(100 + self._bars // 32)
        if kind is Series:
            array = value.array
        elif kind in LISTS:
            array = self._list(value, name)
        elif level and kind in (int, float):
            height = number(value, name)
            array = np.full(self._bars, math.nan if height is None else height)
        else:
            hint = _NOT_A_SERIES.get(kind, "")
            raise Fault("type", f"{name} is a series, not {a_type(value)}", hint)
        if array.dtype == np.bool_:
            hint = "draw it with chart.dot(cond, y), or turn it into numbers: ta.where(cond, 1, 0)"
            if heights:
                hint = 'write ta.where(cond, y, float("nan")), or another location'
            raise Fault("type", f"{name} is a condition and has no heights", hint)
        self._check_length(len(array), name, kind in LISTS)
        return freeze(array.astype(np.float64, copy=False))  # so that plots may share it

    def condition(self, value: Any, name: str, or_bar: bool = True) -> Array:
        """A condition; `or_bar` says that the number of a bar would do too."""
        if type(value) is not Series and type(value) not in LISTS:
            raise Fault("type", f"{name} is a condition, such as a > b, not {a_type(value)}")
        array = value.array if type(value) is Series else self._list(value, name)
        if array.dtype != np.bool_:
            also = ", or the number of one bar" if or_bar else ""
            hint = "for many bars by number, draw in a loop" if or_bar else ""
            raise Fault("type", f"{name} is a condition, such as a > b{also}", hint)
        self._check_length(len(array), name, type(value) is not Series)
        return array

    def paint(self, color: Any, name: str = "color", type_: FieldType = PAINT) -> Any:
        """One colour, or one for each bar, in the canonical form."""
        if type(color) is Series:
            hint = 'choose one for each bar: ta.where(cond, "green", "red")'
            raise Fault("type", f"{name} is a colour, not a series", hint)
        if type(color) is TextSeries or type(color) in LISTS:
            read = self.texts(color, name)
            self._meter.charge(_COLOR * len(read.categories))
        else:
            read = plain(color, name)
        try:
            return type_.check(read)
        except Unfit as unfit:
            raise refusal(unfit, type_, name) from None

    def texts(self, value: Any, name: str) -> TextColumn:
        """A text for each bar; None where there is none."""
        if type(value) is TextSeries:
            self._meter.charge(60)
            self._check_length(len(value.texts), name)
            return value.texts
        if type(value) not in LISTS:
            raise Fault("type", f"{name} is a string, or one for each bar, not {a_type(value)}")
        self._meter.charge(80 + 3 * len(value))
        self._check_length(len(value), name, is_list=True)
        if not set(map(type, value)) <= {str, type(None)}:
            raise Fault("type", f"{name}: the items of a list are strings or None")
        return TextColumn.encode(value)

    def displace(self, values: Array, offset: Any) -> tuple[Array, Array]:
        """The series moved to the right, and what then stands right of the last bar."""
        check_offset(offset)
        self._meter.charge(self._bars // 8 if offset else 0)
        return displace(values, offset) if offset else (values, NOTHING)

    def _list(self, values: list[Any], name: str) -> Array:
        try:
            return array_of(values, None, self._meter)
        except Fault as error:
            if error.cause != OPERAND:
                raise
            hint = "a list that stands for a series holds one number a bar, None where it is na"
            raise Fault("type", f"{name} holds {a_type(error.value)}", hint) from None

    def _check_length(self, length: int, name: str, is_list: bool = False) -> None:
        if length != self._bars:
            hint = "a higher timeframe comes to the chart's bars with ohlcv.security"
            if is_list:
                hint = "a list stands for a series if it has one value a bar, None where it is na"
            raise Fault(
                "value", f"{name} has {length} values, and the chart has {self._bars} bars", hint
            )


_NOT_A_SERIES: Mapping[type, str] = {
    tuple: "take its parts first, as in a, b, c = …",
    int: "chart.hline(y) draws a level",
    float: "chart.hline(y) draws a level",
    str: "write ohlcv.close, or a parameter of the type source",
}
