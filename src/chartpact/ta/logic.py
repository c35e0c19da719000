"""Logic: comparisons, conditions, and choosing by them.

Comparisons are exact and na is never equal, above or below: a comparison with it is false (`ne`:
true).
"""

from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    Bools,
    Floats,
    condition,
    fitting,
    number,
    numbers,
    series,
)
from chartpact.ta.arithmetic import operands, plain

__all__ = [
    "eq",
    "eq_scalar",
    "fixnan",
    "ge",
    "ge_scalar",
    "gt",
    "gt_scalar",
    "isna",
    "le",
    "le_scalar",
    "logical_and",
    "logical_not",
    "logical_or",
    "lt",
    "lt_scalar",
    "ne",
    "ne_scalar",
    "nz",
    "where",
]

Value = TypeVar("Value", float, Floats)  # a number gives a number, a series a series


def gt(a: ArrayLike, b: ArrayLike) -> Bools:
    """True where a is above b; either may be a number.

    >>> gt([1, 2, 3], [2, 2, 2])
    array([False, False,  True])
    """
    return cast(Bools, plain(np.greater(*operands("gt", a, b))))


def gt_scalar(source: ArrayLike, x: float) -> Bools:
    """True where the value is above the number x.

    >>> gt_scalar([1, 2, 3], 2)
    array([False, False,  True])
    """
    return np.greater(series("gt_scalar", "source", source), number("gt_scalar", "x", x))


def ge(a: ArrayLike, b: ArrayLike) -> Bools:
    """True where a is at or above b; either may be a number.

    >>> ge([1, 2, 3], [2, 2, 2])
    array([False,  True,  True])
    """
    return cast(Bools, plain(np.greater_equal(*operands("ge", a, b))))


def ge_scalar(source: ArrayLike, x: float) -> Bools:
    """True where the value is at or above the number x.

    >>> ge_scalar([1, 2, 3], 2)
    array([False,  True,  True])
    """
    return np.greater_equal(series("ge_scalar", "source", source), number("ge_scalar", "x", x))


def lt(a: ArrayLike, b: ArrayLike) -> Bools:
    """True where a is below b; either may be a number.

    >>> lt([1, 2, 3], [2, 2, 2])
    array([ True, False, False])
    """
    return cast(Bools, plain(np.less(*operands("lt", a, b))))


def lt_scalar(source: ArrayLike, x: float) -> Bools:
    """True where the value is below the number x.

    >>> lt_scalar([1, 2, 3], 2)
    array([ True, False, False])
    """
    return np.less(series("lt_scalar", "source", source), number("lt_scalar", "x", x))


def le(a: ArrayLike, b: ArrayLike) -> Bools:
    """True where a is at or below b; either may be a number.

    >>> le([1, 2, 3], [2, 2, 2])
    array([ True,  True, False])
    """
    return cast(Bools, plain(np.less_equal(*operands("le", a, b))))


def le_scalar(source: ArrayLike, x: float) -> Bools:
    """True where the value is at or below the number x.

    >>> le_scalar([1, 2, 3], 2)
    array([ True,  True, False])
    """
    return np.less_equal(series("le_scalar", "source", source), number("le_scalar", "x", x))


def eq(a: ArrayLike, b: ArrayLike) -> Bools:
    """True where a is equal to b; either may be a number.

    >>> eq([1, 2, 3], [2, 2, 2])
    array([False,  True, False])
    """
    return cast(Bools, plain(np.equal(*operands("eq", a, b))))


def eq_scalar(source: ArrayLike, x: float) -> Bools:
    """True where the value is equal to the number x.

    >>> eq_scalar([1, 2, 3], 2)
    array([False,  True, False])
    """
    return np.equal(series("eq_scalar", "source", source), number("eq_scalar", "x", x))


def ne(a: ArrayLike, b: ArrayLike) -> Bools:
    """True where a is different from b; either may be a number.

    >>> ne([1, 2, 3], [2, 2, 2])
    array([ True, False,  True])
    """
    return cast(Bools, plain(np.not_equal(*operands("ne", a, b))))


def ne_scalar(source: ArrayLike, x: float) -> Bools:
    """True where the value is different from the number x.

    >>> ne_scalar([1, 2, 3], 2)
    array([ True, False,  True])
    """
    return np.not_equal(series("ne_scalar", "source", source), number("ne_scalar", "x", x))


def logical_and(a: ArrayLike, b: ArrayLike) -> Bools:
    """True where both conditions are; of numbers, what is neither 0 nor na counts as true.

    >>> logical_and([True, True], [True, False])
    array([ True, False])
    """
    return np.logical_and(*_conditions("logical_and", a, b))


def logical_or(a: ArrayLike, b: ArrayLike) -> Bools:
    """True where either condition is; of numbers, what is neither 0 nor na counts as true.

    >>> logical_or([False, True], [False, False])
    array([False,  True])
    """
    return np.logical_or(*_conditions("logical_or", a, b))


def _conditions(function: str, a: ArrayLike, b: ArrayLike) -> tuple[Bools, Bools]:
    x, y = condition(function, "a", a), condition(function, "b", b)
    fitting(function, ("a", "b"), x, y)
    return x, y


def logical_not(a: ArrayLike) -> Bools:
    """True where the condition is not; of numbers, 0 and na count as false.

    >>> logical_not([False, True])
    array([ True, False])
    """
    return np.logical_not(condition("logical_not", "a", a))


def isna(x: ArrayLike | None) -> Any:
    """True where the value is na; takes a number too.

    >>> isna([1, None])
    array([False,  True])
    """
    return plain(np.isnan(numbers("isna", "x", np.nan if x is None else x)))


def nz(x: Value, replacement: ArrayLike = 0.0) -> Value:
    """The value, or the replacement (a number or a series) where it is na; takes a number too.

    >>> nz([1, None, 3])
    array([1., 0., 3.])
    """
    value, other = operands("nz", x, replacement, ("x", "replacement"))
    return cast(Value, plain(np.where(np.isnan(value), other, value)))


def fixnan(source: ArrayLike) -> Floats:
    """The series with every na replaced by the last value before it; na before the first.

    >>> fixnan([None, 1, None, 3])
    array([nan,  1.,  1.,  3.])
    """
    return carried(series("fixnan", "source", source)).copy()


def carried(x: Floats) -> Floats:
    missing = np.isnan(x)
    if not missing.any():
        return x
    last = np.maximum.accumulate(np.where(missing, 0, np.arange(x.shape[-1])), axis=-1)
    return np.take_along_axis(x, last, axis=-1)


def where(condition: ArrayLike, a: ArrayLike, b: ArrayLike) -> Floats:
    """a where the condition is true, else b; either may be a number.

    >>> where([True, False], [1, 2], 0)
    array([1., 0.])
    """
    chosen = _true("where", "condition", condition)
    options = {name: numbers("where", name, value) for name, value in (("a", a), ("b", b))}
    several = {"condition": chosen} | {n: each for n, each in options.items() if each.ndim}
    fitting("where", tuple(several), *several.values())
    return cast(Floats, np.where(chosen, options["a"], options["b"]))


_true = condition  # the argument of that name hides the function
