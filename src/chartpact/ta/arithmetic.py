"""Arithmetic: series with series, and series with numbers.

na in, na out; a division by zero and what lies outside a function's domain is na, and nothing
becomes infinite that was not before.
"""

import builtins
import math
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike, NDArray

from chartpact.ta.arguments import FLOAT, Floats, fitting, number, numbers, series, whole
from chartpact.ta.kernels import kernel

__all__ = [
    "abs",
    "add",
    "add_scalar",
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

_cummax: Callable[..., Floats] = kernel("cummax")
_cummin: Callable[..., Floats] = kernel("cummin")


MOST_DECIMALS = 300  # a float has no more

# No warnings, whatever the caller's settings: na is an answer here, not an accident.
quiet = np.errstate(all="ignore")


def computed(function: Callable[..., Any], *operands: Any) -> Any:
    """The function's result, na where it is infinite though no operand is."""
    try:
        return _attempted(function, *operands)
    except FloatingPointError:
        return _mended(function, *operands)


@np.errstate(divide="raise", over="raise", under="ignore", invalid="ignore")
def _attempted(function: Callable[..., Any], *operands: Any) -> Any:
    return function(*operands)


@quiet
def _mended(function: Callable[..., Any], *operands: Any) -> Any:
    result = function(*operands)
    made = np.isinf(result)
    for operand in operands:
        made = made & ~np.isinf(operand)
    return np.where(made, np.nan, result)


def quotient(a: Any, b: Any) -> Floats:
    """a / b, na where b is 0."""
    return cast(Floats, computed(np.divide, a, b))


def operands(
    function: str, a: ArrayLike, b: ArrayLike, names: tuple[str, str] = ("a", "b")
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two series of one length, either of which may be a number."""
    if type(a) is ndarray and type(b) is ndarray and a.dtype is FLOAT and b.dtype is FLOAT:
        x, y = a, b
        if x.shape == y.shape:
            return x, y
    else:
        x, y = numbers(function, names[0], a), numbers(function, names[1], b)
    if x.ndim and y.ndim:
        fitting(function, names, x, y)
    return x, y


def plain(result: Any) -> Any:
    """A series as it is, a single number as Python's."""
    return result if result.ndim else result.item()


def _with_number(function: str, source: ArrayLike, x: float) -> tuple[Floats, float]:
    return series(function, "source", source), number(function, "x", x)


@quiet
def _remainder(a: Any, b: Any) -> Any:
    return np.where(np.equal(b, 0), np.nan, np.mod(a, b))


def add(a: ArrayLike, b: ArrayLike) -> Floats:
    """a + b, bar by bar; either may be a number.

    >>> add([1, 2], [10, 20])
    array([11., 22.])
    """
    return cast(Floats, plain(computed(np.add, *operands("add", a, b))))


def add_scalar(source: ArrayLike, x: float) -> Floats:
    """Every value plus the number x.

    >>> add_scalar([1, 2], 10)
    array([11., 12.])
    """
    return cast(Floats, computed(np.add, *_with_number("add_scalar", source, x)))


def sub(a: ArrayLike, b: ArrayLike) -> Floats:
    """a − b, bar by bar; either may be a number.

    >>> sub([10, 20], [1, 2])
    array([ 9., 18.])
    """
    return cast(Floats, plain(computed(np.subtract, *operands("sub", a, b))))


def sub_scalar(source: ArrayLike, x: float) -> Floats:
    """Every value less the number x.

    >>> sub_scalar([10, 20], 1)
    array([ 9., 19.])
    """
    return cast(Floats, computed(np.subtract, *_with_number("sub_scalar", source, x)))


def mul(a: ArrayLike, b: ArrayLike) -> Floats:
    """a · b, bar by bar; either may be a number.

    >>> mul([1, 2], [10, 20])
    array([10., 40.])
    """
    return cast(Floats, plain(computed(np.multiply, *operands("mul", a, b))))


def mul_scalar(source: ArrayLike, x: float) -> Floats:
    """Every value times the number x.

    >>> mul_scalar([1, 2], 10)
    array([10., 20.])
    """
    return cast(Floats, computed(np.multiply, *_with_number("mul_scalar", source, x)))


def div(a: ArrayLike, b: ArrayLike) -> Floats:
    """a / b, bar by bar; na where b is 0. Either may be a number.

    >>> div([6, 1], [2, 0])
    array([ 3., nan])
    """
    return cast(Floats, plain(quotient(*operands("div", a, b))))


def div_scalar(source: ArrayLike, x: float) -> Floats:
    """Every value divided by the number x; na where x is 0.

    >>> div_scalar([6, 1], 2)
    array([3. , 0.5])
    """
    return quotient(*_with_number("div_scalar", source, x))


def mod(a: ArrayLike, b: ArrayLike) -> Floats:
    """Remainder of a / b, with the sign of b; na where b is 0. Either may be a number.

    >>> mod([7, -7, 1], [3, 3, 0])
    array([ 1.,  2., nan])
    """
    return cast(Floats, plain(computed(_remainder, *operands("mod", a, b))))


def mod_scalar(source: ArrayLike, x: float) -> Floats:
    """Remainder of every value divided by the number x, with the sign of x.

    >>> mod_scalar([7, -7], 3)
    array([1., 2.])
    """
    return cast(Floats, computed(_remainder, *_with_number("mod_scalar", source, x)))


def pow(a: ArrayLike, b: ArrayLike) -> Floats:
    """a to the power of b, bar by bar; na where that is no real number. Either may be a number.

    >>> pow([2, -8], [3, 0.5])
    array([ 8., nan])
    """
    return cast(Floats, plain(computed(np.power, *operands("pow", a, b))))


def pow_scalar(source: ArrayLike, x: float) -> Floats:
    """Every value to the power of the number x.

    >>> pow_scalar([2, 3], 2)
    array([4., 9.])
    """
    return cast(Floats, computed(np.power, *_with_number("pow_scalar", source, x)))


def max(a: ArrayLike, *others: ArrayLike) -> Floats:
    """Largest value so far of one series; of several, the largest on each bar.

    All-time: na is ignored, and na only before the first value. Bar by bar: na where one is na.

    >>> max([1, 3, 2])
    array([1., 3., 3.])
    >>> max([1, 3, 2], [2, 2, 2])
    array([2., 3., 2.])
    """
    return _extreme("max", np.maximum, _cummax, a, others)


def max_scalar(source: ArrayLike, x: float) -> Floats:
    """The larger of every value and the number x; na stays na.

    >>> max_scalar([1, 3, 2], 2)
    array([2., 3., 2.])
    """
    return np.maximum(*_with_number("max_scalar", source, x))


def min(a: ArrayLike, *others: ArrayLike) -> Floats:
    """Smallest value so far of one series; of several, the smallest on each bar.

    All-time: na is ignored, and na only before the first value. Bar by bar: na where one is na.

    >>> min([2, 1, 3])
    array([2., 1., 1.])
    >>> min([1, 3, 2], [2, 2, 2])
    array([1., 2., 2.])
    """
    return _extreme("min", np.minimum, _cummin, a, others)


def min_scalar(source: ArrayLike, x: float) -> Floats:
    """The smaller of every value and the number x; na stays na.

    >>> min_scalar([1, 3, 2], 2)
    array([1., 2., 2.])
    """
    return np.minimum(*_with_number("min_scalar", source, x))


def _extreme(
    function: str,
    pairwise: Callable[..., Any],
    so_far: Callable[..., Floats],
    a: ArrayLike,
    others: tuple[ArrayLike, ...],
) -> Floats:
    if not others:
        return so_far(series(function, "a", a))
    result: Any = a
    for other in others:
        result = pairwise(*operands(function, result, other))
    return cast(Floats, plain(result))


def abs(x: Value) -> Value:
    """Distance from zero, of a series or a number; na stays na.

    >>> abs([-1, 2])
    array([1., 2.])
    """
    if isinstance(x, int) and not isinstance(x, bool):
        return builtins.abs(x)
    return cast(Value, plain(np.abs(numbers("abs", "x", x))))


def neg(x: Value) -> Value:
    """The opposite, of a series or a number; na stays na.

    >>> neg([-1, 2])
    array([ 1., -2.])
    """
    return cast(Value, plain(np.negative(numbers("neg", "x", x))))


@quiet
def sign(x: Value) -> Value:
    """−1, 0 or 1 as the value is below, at or above zero; na stays na. Takes a number too.

    >>> sign([-5, 0, 3])
    array([-1.,  0.,  1.])
    """
    return cast(Value, plain(np.sign(numbers("sign", "x", x))))


def sqrt(x: Value) -> Value:
    """Square root, of a series or a number; na below zero.

    >>> sqrt([4, -1])
    array([ 2., nan])
    """
    return cast(Value, plain(computed(np.sqrt, numbers("sqrt", "x", x))))


def log(x: Value) -> Value:
    """Natural logarithm, of a series or a number; na at and below zero.

    >>> log([1, 0])
    array([ 0., nan])
    """
    return cast(Value, plain(computed(np.log, numbers("log", "x", x))))


def log10(x: Value) -> Value:
    """Logarithm to base 10, of a series or a number; na at and below zero.

    >>> log10([100, 0])
    array([ 2., nan])
    """
    return cast(Value, plain(computed(np.log10, numbers("log10", "x", x))))


def exp(x: Value) -> Value:
    """e to the power of x, of a series or a number; na where it is beyond all floats.

    >>> exp([0, 1000])
    array([ 1., nan])
    """
    return cast(Value, plain(computed(np.exp, numbers("exp", "x", x))))


def floor(x: Value) -> Value:
    """The whole number at or below, of a series or a number; na stays na.

    >>> floor([1.5, -1.5])
    array([ 1., -2.])
    >>> floor(1.5)
    1
    """
    return cast(Value, _whole(np.floor(numbers("floor", "x", x))))


def ceil(x: Value) -> Value:
    """The whole number at or above, of a series or a number; na stays na.

    >>> ceil([1.5, -1.5])
    array([ 2., -1.])
    >>> ceil(1.5)
    2
    """
    return cast(Value, _whole(np.ceil(numbers("ceil", "x", x))))


@quiet
def round(x: Value, precision: int | None = None) -> Value:
    """The nearest whole number, halves upwards, or the nearest with `precision` decimals.

    Of a series or a number; na stays na.

    >>> round([1.5, 2.5, -1.5])
    array([ 2.,  3., -1.])
    >>> round(2.345, 1)
    2.3
    """
    value = numbers("round", "x", x)
    if precision is None:
        return cast(Value, _whole(_nearest(value)))
    scale = 10.0 ** whole("round", "precision", precision, 0, MOST_DECIMALS)
    scaled = value * scale
    # beyond 2**52 there are no decimals left to round
    exact = np.abs(scaled) < 2.0**52
    return cast(Value, plain(np.where(exact, _nearest(scaled) / scale, value)))


def _nearest(x: Any) -> Any:
    below = np.floor(x)
    return below + (x - below >= 0.5)


def _whole(result: Any) -> Any:
    if result.ndim:
        return result
    single = result.item()
    return int(single) if math.isfinite(single) else single
