"""Series: a value for each bar, with operators that work on all bars at once.

A series holds finite numbers or na (NaN); what would be infinite, such as a division by zero, is
na. Comparisons give a series of True and False by Pine's rules: values within 1e-10 are equal, and
a comparison with na is false, `!=` included. Every operator is charged by the length of the series
before it works.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact.arrays import any_true
from chartpact.script.errors import OPERAND, TRUTH, Fault
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.values import LISTS, HostObject
from chartpact.ta.kernels import kernel
from chartpact.textcolumn import TextColumn

Array = NDArray[Any]
Operator = Callable[["Series", Any], Any]


def ambiguous_truth() -> Fault:
    """The fault of a series that stands where one True or False is needed."""
    hint = "use ta.where(cond, a, b), or cond[i] for one bar"
    return Fault("type", "a series has no single truth value", hint, cause=TRUTH)


def not_a_number(value: Any) -> Fault:
    """The fault of a value that cannot be calculated with."""
    message = "a series can be combined with numbers and series only"
    return Fault("type", message, cause=OPERAND, value=value)


OPERATION = 75  # steps of an operator on a series, however short
ELEMENT = 3  # steps of `s[i]`, where a loop does not read it from a list
PER_STEP = 64  # bars that an operator does in a step more
CACHED = 16_384  # bars that a processor's cache holds; those beyond are twice as dear

_FAR_APART = 2.0**50
_PARENTHESES = "put each comparison in parentheses: (a > 1) & (b < 2)"
_FLOAT, _BOOL = np.dtype(np.float64), np.dtype(np.bool_)


def _arithmetic(
    operate: Callable[[Any, Any], Array], divides: bool = False
) -> tuple[Operator, Operator]:
    def forward(self: "Series", other: Any) -> "Series":
        left, right = self._sides(other)
        if divides:
            charge_division(left, right, self.meter)
        return self._finite(operate(left, right))

    def backward(self: "Series", other: Any) -> "Series":
        right, left = self._sides(other)
        if divides:
            charge_division(left, right, self.meter)
        return self._finite(operate(left, right))

    return forward, backward


def operation_steps(length: int) -> int:
    """What an operator on a series of this length costs."""
    return OPERATION + length // PER_STEP + max(length - CACHED, 0) // PER_STEP


def charge_division(left: Any, right: Any, meter: Meter) -> None:
    """Charges for `//` and `%`, which take longer the further their sides are apart."""
    length = max(np.size(left), np.size(right))
    meter.charge(215 + length // 2)
    if not length:
        return
    dividends, divisors = (np.abs(np.asarray(side, np.float64)) for side in (left, right))
    largest = np.max(dividends, where=np.isfinite(dividends), initial=0.0)
    smallest = np.min(divisors, where=divisors > 0, initial=np.inf)
    if not largest <= _FAR_APART * smallest:
        meter.charge(15 * length)


def _comparison(compare: Callable[[Any, Any], Array]) -> Operator:
    def operate(self: "Series", other: Any) -> "Series":
        return Series(compare(*self._sides(other)), self.meter)

    return operate


def _equality(compare: Callable[[Any, Any], Array], otherwise: bool) -> Operator:
    def operate(self: "Series", other: Any) -> Any:
        kind = type(other)
        if self.array.dtype == np.bool_:
            if kind is not bool and not (kind is Series and other.array.dtype == np.bool_):
                return otherwise
            return Series(compare(self.array, self._condition_of(other)), self.meter)
        if kind in (Series, int, float) or kind in LISTS:
            self._charge()
            return Series(compare(self.array, self._other(other)), self.meter)
        return otherwise  # values of different types are never equal

    return operate


def _logic(combine: Callable[[Any, Any], Array]) -> Operator:
    def operate(self: "Series", other: Any) -> "Series":
        if type(other) is Series and self.array.dtype is _BOOL is other.array.dtype:
            self._charge()
            self._check_length(other)
            return Series(combine(self.array, other.array), self.meter)
        return Series(combine(self._conditions(), self._condition_of(other)), self.meter)

    return operate


class Series:
    """An immutable series of floats, of True and False, or of whole numbers (times)."""

    __slots__ = ("_breaks", "array", "listed", "meter")
    type_name = "series"

    def __init__(self, array: Array, meter: Meter) -> None:
        self.array = array
        self.meter = meter
        self.listed: list[Any] | None = None
        self._breaks: int | None = None

    def __len__(self) -> int:
        return len(self.array)

    def __bool__(self) -> bool:
        raise ambiguous_truth()

    __iter__ = None
    __contains__ = None

    def items(self) -> list[Any]:
        """The values as Python's own, made once."""
        if self.listed is None:
            self.meter.charge(10 + 3 * len(self.array) // 8)
            self.listed = self.array.tolist()
        return self.listed

    def __getitem__(self, bar: int) -> Any:
        """The value of a bar; below 0 it is na, which is False for a condition."""
        meter = self.meter
        if meter.left < ELEMENT:
            meter.charge(ELEMENT)
        meter.left -= ELEMENT
        if type(bar) is int and bar < 0:
            return False if self.array.dtype is _BOOL else np.nan
        listed = self.listed
        return self.items()[bar] if listed is None else listed[bar]

    def breaks(self) -> int:
        """How often na begins or ends, which is what slows a calculation down."""
        if self._breaks is None:
            self._breaks = breaks(self.array)
        return self._breaks

    def sliced(self, part: slice) -> "Series":
        return Series(self.array[part], self.meter)

    __add__, __radd__ = _arithmetic(np.add)
    __sub__, __rsub__ = _arithmetic(np.subtract)
    __mul__, __rmul__ = _arithmetic(np.multiply)
    __truediv__, __rtruediv__ = _arithmetic(np.divide)
    __floordiv__, __rfloordiv__ = _arithmetic(np.floor_divide, divides=True)
    __mod__, __rmod__ = _arithmetic(np.mod, divides=True)
    __lt__ = _comparison(kernel("lt"))
    __le__ = _comparison(kernel("le"))
    __gt__ = _comparison(kernel("gt"))
    __ge__ = _comparison(kernel("ge"))
    __eq__ = _equality(kernel("eq"), otherwise=False)
    __ne__ = _equality(kernel("ne"), otherwise=True)
    __hash__ = None  # type: ignore[assignment]
    __and__ = __rand__ = _logic(np.logical_and)
    __or__ = __ror__ = _logic(np.logical_or)

    def __neg__(self) -> "Series":
        self._charge()
        return self._finite(-1.0 * self._numbers())

    def __pos__(self) -> "Series":
        self.meter.charge(6)
        self._numbers()
        return self

    def __invert__(self) -> "Series":
        self._charge()
        return Series(~self._conditions(), self.meter)

    def _charge(self) -> None:
        self.meter.charge(operation_steps(len(self.array)))

    def _numbers(self) -> Array:
        if self.array.dtype == np.float64:
            return self.array
        if self.array.dtype == np.bool_:
            hint = "write ta.where(cond, 1, 0)"
            raise Fault("type", "a series of True and False is no number", hint)
        self.meter.charge(20 + len(self.array) // 32)
        return self.array.astype(np.float64)

    def _conditions(self) -> Array:
        if self.array.dtype == np.bool_:
            return self.array
        message = "& | and ~ join conditions, and this is a series of numbers"
        raise Fault("type", message, f"{_PARENTHESES}; compare 1 and 0: s == 1")

    def _sides(self, other: Any) -> tuple[Array, Any]:
        """Both sides of an operator on numbers."""
        own = self.array if self.array.dtype is _FLOAT else self._numbers()
        self._charge()
        if type(other) is Series and other.array.dtype is _FLOAT:
            self._check_length(other)
            return own, other.array
        return own, self._other(other)

    def _other(self, other: Any) -> Any:
        """The other side of an arithmetic operator: a number or an array as long as this."""
        kind = type(other)
        if kind is Series:
            self._check_length(other)
            return other._numbers()
        if kind is float or kind is int:
            try:
                return float(other)
            except OverflowError:
                raise Fault("value", "a number is too large for a series") from None
        if kind in LISTS:
            return Series(array_of(other, len(self.array), self.meter), self.meter)._numbers()
        raise not_a_number(other)

    def _condition_of(self, other: Any) -> Any:
        """The other side of & and |: True or False, or conditions for the same bars."""
        self._charge()
        if type(other) is bool:
            return other
        if type(other) in LISTS:
            other = Series(array_of(other, len(self.array), self.meter), self.meter)
        if type(other) is Series:
            self._check_length(other)
            return other._conditions()
        raise Fault("type", "& and | join a condition with another condition", _PARENTHESES)

    def _check_length(self, other: "Series") -> None:
        check_lengths(len(self.array), len(other.array))

    def _finite(self, array: Array) -> "Series":
        """A series of the results, in which what is infinite is na."""
        if any_true(infinite := np.isinf(array)):
            self.meter.charge(len(array) // PER_STEP)
            array[infinite] = np.nan
        return Series(array, self.meter)


class TextSeries(HostObject):
    """A text for each bar, such as its colour."""

    __slots__ = ("_listed", "_meter", "texts")
    type_name = "text series"

    def __init__(self, texts: TextColumn, meter: Meter) -> None:
        self.texts = texts
        self._meter = meter
        self._listed: list[Any] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def __bool__(self) -> bool:
        raise ambiguous_truth()

    def items(self) -> list[Any]:
        """The texts as Python's own, made once."""
        if self._listed is None:
            self._meter.charge(10 + len(self.texts) // 3)
            self._listed = list(self.texts)
        return self._listed

    def __getitem__(self, bar: int) -> Any:
        return None if type(bar) is int and bar < 0 else self.items()[bar]

    def __eq__(self, other: object) -> Any:
        return self._compared(other, equal=True)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, equal=False)

    __hash__ = None  # type: ignore[assignment]

    def _compared(self, other: Any, equal: bool) -> Any:
        """Bar by bar, whether the text is equal, or is not; without a text neither holds."""
        if type(other) is TextSeries:
            column = other.texts
        elif type(other) is str or (type(other) in LISTS and set(map(type, other)) <= _TEXTS):
            self._meter.charge(5 * len(other) if type(other) in LISTS else 0)
            column = TextColumn.encode(other if type(other) in LISTS else [other])
        else:
            return not equal  # values of different types are never equal
        if len(column) not in (1, len(self)):
            check_lengths(len(self), len(column))
        self._meter.charge(operation_steps(len(self)) + len(self) // 8 + len(column.categories))
        index: dict[str | None, int] = {None: 0}
        own, others = self.texts.recode(index), column.recode(index)
        holds = (own == others) if equal else (own != others)
        return Series(holds & (own != 0) & (others != 0), self._meter)

    def __repr__(self) -> str:
        return f"<text series of {len(self.texts)} bars>"


def check_lengths(own: int, other: int) -> None:
    """Refuses to combine series of different bars."""
    if own != other:
        hint = "bring both to the chart's bars, for example with ohlcv.security"
        message = f"a series of {own} bars and one of {other} cannot be combined"
        raise Fault("value", message, hint)


def breaks(array: Array) -> int:
    """How often na begins or ends in an array of floats.

    >>> breaks(np.array([np.nan, 1.0, 2.0, np.nan, 3.0]))
    3
    """
    if array.dtype != np.float64 or not len(array):
        return 0
    na = np.isnan(array)
    return int(np.count_nonzero(na[1:] ^ na[:-1]))


_NUMBERS = {int, float, type(None)}
_TEXTS = {str, type(None)}


def array_of(values: list[Any], length: int | None, meter: Meter) -> Array:
    """A list of numbers (None is na) or of True and False as an array."""
    meter.charge(40 + len(values))
    if length is not None and len(values) != length:
        raise Fault(
            "value",
            f"a list that stands for a series has one value a bar: {length}, not {len(values)}",
        )
    kinds = set(map(type, values))
    if kinds == {bool}:
        return np.array(values, dtype=np.bool_)
    if not kinds <= _NUMBERS:
        raise not_a_number(next(value for value in values if type(value) not in _NUMBERS))
    if kinds != {float}:  # None is replaced, and a whole number may be long
        meter.charge(len(values))
    if type(None) in kinds:
        values = [math.nan if value is None else value for value in values]
    try:
        array = np.array(values, dtype=np.float64)
    except OverflowError:
        raise Fault("value", "a number in the list is too large for a series") from None
    array[np.isinf(array)] = np.nan
    return array
