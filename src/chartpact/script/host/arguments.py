"""The arguments of drawing functions: numbers, bars, fields, or a fault that says the remedy."""

import math
from typing import Any

from chartpact.checks import Unfit
from chartpact.drawing import FieldType
from chartpact.problem import did_you_mean
from chartpact.script.errors import Fault
from chartpact.script.limits import OBJECT_TEXT_CHARS
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import a_type, shown

_PLAIN = frozenset((int, float, bool, str, type(None)))


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
