"""Arithmetic: series with series, and series with numbers.

na in, na out; a division by zero and what lies outside a function's domain is na, and nothing
becomes infinite that was not before.
"""

import builtins
import math
from collections.abc import Callable
from functools import reduce
from typing import Annotated, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    FLOAT,
    NUMBERS,
    Check,
    Factor,
    Floats,
    Numbers,
    Operand,
    Series,
    argument,
    checked,
    fit,
    numbers,
    series_by,
    whole,
)
from chartpact.ta.kernels import kernel

__all__ = [
    "abs",
    "add",
    "add_scalar",
    "avg",
    "ceil",
    "div",
    "div_scalar",
    "exp",
    "floor",
    "log",
    "log10",
    "max",
    "max_scalar",
    "min",
    "min_scalar",
    "mod",
    "mod_scalar",
    "mul",
    "mul_scalar",
    "neg",
    "pow",
    "pow_scalar",
    "round",
    "sign",
    "sqrt",
    "sub",
    "sub_scalar",
]

Value = TypeVar("Value", float, Floats)  # a number gives a number, a series a series

MOST_DECIMALS = 300  # a float has no more
TOLERANCE = 1e-10  # Pine's

# No warnings, whatever the caller's settings: na is an answer here, not an accident.
quiet = np.errstate(all="ignore")


def without_infinity(function: Callable[..., Any], *operands: Any) -> Any:
    """The function's result, na where it is infinite though no operand is."""
    try:
        return _compute(function, *operands)
    except FloatingPointError:
        return _compute_with_na(function, *operands)


@np.errstate(divide="raise", over="raise", under="ignore", invalid="ignore")
def _compute(function: Callable[..., Any], *operands: Any) -> Any:
    return function(*operands)


@quiet
def _compute_with_na(function: Callable[..., Any], *operands: Any) -> Any:
    result = function(*operands)
    made = np.isinf(result)
    for operand in operands:
        made = made & ~np.isinf(operand)
    return np.where(made, np.nan, result)


_add, _sub, _mul, _sqrt = map(kernel, ("add", "sub", "mul", "sqrt"))
quotient: Callable[..., Floats] = kernel("div")  # na where the divisor is 0


def plain(result: Any) -> Any:
    """A series as it is, a single number as Python's."""
    return result if result.ndim else result.item()


def with_number(
    twin: Callable[..., Any], purpose: str, example: str, result: str
) -> Callable[[ArrayLike, float], Any]:
    """The function `…_scalar`: what a function does with two series, with a series and a number."""
    compute: Any = getattr(twin, "__wrapped__", twin)

    def function(source: Series, x: Factor) -> Any:
        return compute(source, x)

    name = f"{twin.__name__}_scalar"
    function.__name__ = function.__qualname__ = name
    function.__module__ = twin.__module__
    function.__doc__ = f"{purpose}\n\n    >>> {name}({example})\n    {result}\n    "
    function.__annotations__["return"] = compute.__annotations__["return"]
    return checked(function)


@quiet
def _remainder(a: Any, b: Any) -> Any:
    return np.where(np.equal(b, 0), np.nan, np.mod(a, b))


@checked
@series_by(_add)
def add(a: Numbers, b: Operand) -> Floats:
    """a + b, bar by bar; either may be a number.

    >>> add([1, 2], [10, 20])
    array([11., 22.])
    """
    return cast(Floats, plain(_add(a, b)))


@checked
@series_by(_sub)
def sub(a: Numbers, b: Operand) -> Floats:
    """a − b, bar by bar; either may be a number.

    >>> sub([10, 20], [1, 2])
    array([ 9., 18.])
    """
    return cast(Floats, plain(_sub(a, b)))


@checked
@series_by(_mul)
def mul(a: Numbers, b: Operand) -> Floats:
    """a · b, bar by bar; either may be a number.

    >>> mul([1, 2], [10, 20])
    array([10., 40.])
    """
    return cast(Floats, plain(_mul(a, b)))


@checked
@series_by(quotient)
def div(a: Numbers, b: Operand) -> Floats:
    """a / b, bar by bar; na where b is 0. Either may be a number.

    >>> div([6, 1], [2, 0])
    array([ 3., nan])
    """
    return cast(Floats, plain(quotient(a, b)))


@checked
def mod(a: Numbers, b: Operand) -> Floats:
    """Remainder of a / b, with the sign of b; na where b is 0. Either may be a number.

    >>> mod([7, -7, 1], [3, 3, 0])
    array([ 1.,  2., nan])
    """
    return cast(Floats, plain(without_infinity(_remainder, a, b)))


@checked
def pow(a: Numbers, b: Operand) -> Floats:
    """a to the power of b, bar by bar; na where that is no real number. Either may be a number.

    >>> pow([2, -8], [3, 0.5])
    array([ 8., nan])
    """
    return cast(Floats, plain(without_infinity(np.power, a, b)))


def _extreme(name: str, choose: Any, so_far: Callable[..., Floats]) -> tuple[Any, Any]:
    """What `max` or `min` does with two operands, and with one series."""

    def of_two(a: Numbers, b: Operand) -> Any:
        return plain(choose(a, b))

    def of_one(a: Series) -> Any:
        return so_far(a)

    of_two.__name__ = of_one.__name__ = name
    return checked(of_two), checked(of_one)


_max_of_two, _max_so_far = _extreme("max", np.maximum, kernel("cummax"))
_min_of_two, _min_so_far = _extreme("min", np.minimum, kernel("cummin"))


def max(a: ArrayLike, *others: ArrayLike) -> Floats:
    """Largest value so far of one series; of several, the largest on each bar.

    All-time: na is ignored, and na only before the first value. Bar by bar: na where one is na.

    >>> max([1, 3, 2])
    array([1., 3., 3.])
    >>> max([1, 3, 2], [2, 2, 2])
    array([2., 3., 2.])
    """
    result: Any = reduce(_max_of_two, others, a) if others else _max_so_far(a)
    return cast(Floats, result)


def min(a: ArrayLike, *others: ArrayLike) -> Floats:
    """Smallest value so far of one series; of several, the smallest on each bar.

    All-time: na is ignored, and na only before the first value. Bar by bar: na where one is na.

    >>> min([2, 1, 3])
    array([2., 1., 1.])
    >>> min([1, 3, 2], [2, 2, 2])
    array([1., 2., 2.])
    """
    result: Any = reduce(_min_of_two, others, a) if others else _min_so_far(a)
    return cast(Floats, result)


def avg(a: ArrayLike, *others: ArrayLike) -> Floats:
    """Mean of several series or numbers, bar by bar; na where one is na.

    >>> avg([1, 2], [3, 6])
    array([2., 4.])
    >>> avg(1, 2, 6)
    3.0
    """
    given = {"a": a, **{f"argument {place}": value for place, value in enumerate(others, start=2)}}
    values = {name: argument("avg", name, numbers, value) for name, value in given.items()}
    fit("avg", {name: value for name, value in values.items() if value.ndim})
    return cast(Floats, plain(without_infinity(_mean, *values.values())))


def _mean(*values: Any) -> Any:
    """Pine adds more than two numbers with Kahan's correction."""
    if len(values) <= 2:
        return reduce(np.add, values) / len(values)
    total, correction = 0.0, 0.0
    for value in values:
        corrected = value - correction
        longer = total + corrected
        correction = (longer - total) - corrected
        total = longer
    return (total - correction) / len(values)


add_scalar = with_number(add, "Every value plus the number x.", "[1, 2], 10", "array([11., 12.])")
sub_scalar = with_number(sub, "Every value less the number x.", "[10, 20], 1", "array([ 9., 19.])")
mul_scalar = with_number(mul, "Every value times the number x.", "[1, 2], 10", "array([10., 20.])")
div_scalar = with_number(
    div, "Every value divided by the number x; na where x is 0.", "[6, 1], 2", "array([3. , 0.5])"
)
mod_scalar = with_number(
    mod,
    "Remainder of every value divided by the number x, with the sign of x.",
    "[7, -7], 3",
    "array([1., 2.])",
)
pow_scalar = with_number(
    pow, "Every value to the power of the number x.", "[2, 3], 2", "array([4., 9.])"
)
max_scalar = with_number(
    max,
    "The larger of every value and the number x; na stays na.",
    "[1, 3, 2], 2",
    "array([2., 3., 2.])",
)
min_scalar = with_number(
    min,
    "The smaller of every value and the number x; na stays na.",
    "[1, 3, 2], 2",
    "array([1., 2., 2.])",
)


def _exact(value: Any) -> Any:
    """Numbers as usual, but an int stays one."""
    return value if type(value) is int else numbers(value)


@checked
def abs(x: Annotated[Value, Check(_exact, FLOAT)]) -> Value:
    """Distance from zero, of a series or a number; na stays na.

    >>> abs([-1, 2])
    array([1., 2.])
    """
    number: Any = x
    return cast(Value, builtins.abs(number) if type(number) is int else plain(np.abs(x)))


@checked
def neg(x: Annotated[Value, NUMBERS]) -> Value:
    """The opposite, of a series or a number; na stays na.

    >>> neg([-1, 2])
    array([ 1., -2.])
    """
    return cast(Value, plain(np.negative(x)))


@checked
@quiet
def sign(x: Annotated[Value, NUMBERS]) -> Value:
    """−1, 0 or 1 as the value is below, at or above zero; na stays na. Takes a number too.

    >>> sign([-5, 0, 3])
    array([-1.,  0.,  1.])
    """
    return cast(Value, plain(np.sign(x)))


@checked
@series_by(_sqrt)
def sqrt(x: Annotated[Value, NUMBERS]) -> Value:
    """Square root, of a series or a number; na below zero.

    >>> sqrt([4, -1])
    array([ 2., nan])
    """
    return cast(Value, plain(_sqrt(x)))


@checked
def log(x: Annotated[Value, NUMBERS]) -> Value:
    """Natural logarithm, of a series or a number; na at and below zero.

    >>> log([1, 0])
    array([ 0., nan])
    """
    return cast(Value, plain(without_infinity(np.log, x)))


@checked
def log10(x: Annotated[Value, NUMBERS]) -> Value:
    """Logarithm to base 10, of a series or a number; na at and below zero.

    >>> log10([100, 0])
    array([ 2., nan])
    """
    return cast(Value, plain(without_infinity(np.log10, x)))


@checked
def exp(x: Annotated[Value, NUMBERS]) -> Value:
    """e to the power of x, of a series or a number; na where it is beyond all floats.

    >>> exp([0, 1000])
    array([ 1., nan])
    """
    return cast(Value, plain(without_infinity(np.exp, x)))


@checked
def floor(x: Annotated[Value, NUMBERS]) -> Value:
    """The whole number at or below, of a series or a number; na stays na.

    >>> floor([1.5, -1.5])
    array([ 1., -2.])
    >>> floor(1.5)
    1
    """
    return cast(Value, _whole(np.floor(x)))


@checked
def ceil(x: Annotated[Value, NUMBERS]) -> Value:
    """The whole number at or above, of a series or a number; na stays na.

    >>> ceil([1.5, -1.5])
    array([ 2., -1.])
    >>> ceil(1.5)
    2
    """
    return cast(Value, _whole(np.ceil(x)))


@checked
@quiet
def round(
    x: Annotated[Value, NUMBERS],
    precision: Annotated[int | None, whole(most=MOST_DECIMALS)] = None,
) -> Value:
    """The nearest whole number, halves away from zero, or the nearest with `precision` decimals.

    Of a series or a number; na stays na. As in Pine, what is less than 1e-10 of the last decimal
    short of a half counts as one (1.005 has no exact float), and a precision below 0 acts like 0.

    >>> round([1.5, 2.5, -1.5])
    array([ 2.,  3., -2.])
    >>> round(1.005, 2)
    1.01
    """
    if not np.ndim(x):
        rounded: Any = round_number(float(x), precision)
        return cast(Value, rounded)
    size = np.abs(x)
    if precision is None or precision <= 0:
        return cast(Value, np.copysign(_nearest(size, 0.0, 0.5), x) + 0.0)  # no negative zero
    scale = 10.0**precision
    scaled, error = _product(size, scale)
    nearest = np.copysign(_nearest(scaled, error, 0.5 - TOLERANCE) / scale, x) + 0.0
    # beyond 2**52 there are no decimals left to round
    return cast(Value, np.where(scaled < 2.0**52, nearest, x))


def round_number(x: float, precision: int | None = None) -> float:
    """`round` of one number, exactly: in whole numbers, so that no digit is lost."""
    if not math.isfinite(x):
        return x
    if precision is None or precision <= 0:
        nearest = int(x)  # towards 0
        rest = x - nearest
        if rest >= 0.5 or rest <= -0.5:
            nearest += 1 if x > 0 else -1
        return nearest if precision is None else float(nearest)
    size, of = builtins.abs(x).as_integer_ratio()
    whole, rest = divmod(size * 10**precision, of)
    nearest = whole + (rest * 10**10 >= of * (5 * 10**9 - 1))
    rounded: float = (nearest if x > 0 else -nearest) / 10**precision
    return rounded


def _nearest(x: Any, error: Any, half: float) -> Any:
    """The whole number nearest to x + error."""
    below = np.floor(x)
    return below + ((x - below) + error >= half)


def _product(a: Any, b: float) -> tuple[Any, Any]:
    """a · b, and what rounding took from it (Dekker's product of halves)."""
    product = np.multiply(a, b)
    high, other = _upper_half(a), _upper_half(b)
    low, rest = a - high, b - other
    return product, low * rest - (((product - high * other) - low * other) - high * rest)


def _upper_half(x: Any) -> Any:
    large = np.multiply(x, 2.0**27 + 1)
    return large - (large - x)


def _whole(result: Any) -> Any:
    if result.ndim:
        return result
    single = result.item()
    return int(single) if math.isfinite(single) else single
