"""Logic: comparisons, conditions, and choosing by them.

Comparisons are Pine's: values within 1e-10 of each other are equal, and a comparison with na is
false, `ne` included.
"""

from collections.abc import Callable
from typing import Annotated, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from chartpact.ta.arguments import (
    NUMBERS,
    Bools,
    Condition,
    Floats,
    Numbers,
    Operand,
    Series,
    checked,
    series_by,
)
from chartpact.ta.arithmetic import plain, with_number
from chartpact.ta.kernels import kernel

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

_gt, _ge, _lt, _le, _eq, _ne = map(kernel, ("gt", "ge", "lt", "le", "eq", "ne"))


@checked
@series_by(_gt)
def gt(a: Numbers, b: Operand) -> Bools:
    """True where a is above b by more than 1e-10; either may be a number.

    >>> gt([1, 2, 3], [2, 2, 2])
    array([False, False,  True])
    """
    return cast(Bools, plain(_gt(a, b)))


@checked
@series_by(_ge)
def ge(a: Numbers, b: Operand) -> Bools:
    """True where a is above b or equal to it within 1e-10; either may be a number.

    >>> ge([1, 2, 3], [2, 2, 2])
    array([False,  True,  True])
    """
    return cast(Bools, plain(_ge(a, b)))


@checked
@series_by(_lt)
def lt(a: Numbers, b: Operand) -> Bools:
    """True where a is below b by more than 1e-10; either may be a number.

    >>> lt([1, 2, 3], [2, 2, 2])
    array([ True, False, False])
    """
    return cast(Bools, plain(_lt(a, b)))


@checked
@series_by(_le)
def le(a: Numbers, b: Operand) -> Bools:
    """True where a is below b or equal to it within 1e-10; either may be a number.

    >>> le([1, 2, 3], [2, 2, 2])
    array([ True,  True, False])
    """
    return cast(Bools, plain(_le(a, b)))


@checked
@series_by(_eq)
def eq(a: Numbers, b: Operand) -> Bools:
    """True where a is equal to b within 1e-10; either may be a number.

    >>> eq([1, 2, 3], [2, 2, 2])
    array([False,  True, False])
    """
    return cast(Bools, plain(_eq(a, b)))


@checked
@series_by(_ne)
def ne(a: Numbers, b: Operand) -> Bools:
    """True where a and b are more than 1e-10 apart; false where one is na. Either may be a number.

    >>> ne([1, 2, 3], [2, 2, 2])
    array([ True, False,  True])
    """
    return cast(Bools, plain(_ne(a, b)))


def _with_number(twin: Callable[..., Any], side: str, result: str) -> Callable[..., Any]:
    purpose = f"True where the value is {side} the number x."
    return with_number(twin, purpose, "[1, 2, 3], 2", result)


gt_scalar = _with_number(gt, "above", "array([False, False,  True])")
ge_scalar = _with_number(ge, "at or above", "array([False,  True,  True])")
lt_scalar = _with_number(lt, "below", "array([ True, False, False])")
le_scalar = _with_number(le, "at or below", "array([ True,  True, False])")
eq_scalar = _with_number(eq, "equal to", "array([False,  True, False])")
ne_scalar = _with_number(ne, "different from", "array([ True, False,  True])")


@checked
def logical_and(a: Condition, b: Condition) -> Bools:
    """True where both conditions are; of numbers, na and what is 0 within 1e-10 count as false.

    >>> logical_and([True, True], [True, False])
    array([ True, False])
    """
    return np.logical_and(a, b)


@checked
def logical_or(a: Condition, b: Condition) -> Bools:
    """True where either condition is; of numbers, na and what is 0 within 1e-10 count as false.

    >>> logical_or([False, True], [False, False])
    array([False,  True])
    """
    return np.logical_or(a, b)


@checked
def logical_not(a: Condition) -> Bools:
    """True where the condition is not; of numbers, na and what is 0 within 1e-10 count as false.

    >>> logical_not([False, True])
    array([ True, False])
    """
    return np.logical_not(a)


@checked
def isna(x: Annotated[ArrayLike | None, NUMBERS]) -> Any:
    """True where the value is na, as an infinity is in Pine; takes a number too.

    >>> isna([1, None])
    array([False,  True])
    """
    return plain(~np.isfinite(cast(Floats, x)))


@checked
def nz(x: Annotated[Value, NUMBERS], replacement: Numbers = 0.0) -> Value:
    """The value, or the replacement (a number or a series) where `isna`; takes a number too.

    >>> nz([1, None, 3])
    array([1., 0., 3.])
    """
    return cast(Value, plain(np.where(np.isfinite(x), x, replacement)))


@checked
def fixnan(source: Series) -> Floats:
    """The series with every na replaced by the last value before it; na before the first.

    An infinity passes, as in Pine.

    >>> fixnan([None, 1, None, 3])
    array([nan,  1.,  1.,  3.])
    """
    return carry_forward(source).copy()


def carry_forward(values: Any) -> Floats:
    x: Floats = values
    missing = np.isnan(x)
    if not missing.any():
        return x
    last = np.maximum.accumulate(np.where(missing, 0, np.arange(x.shape[-1])), axis=-1)
    return np.take_along_axis(x, last, axis=-1)


@checked
def where(condition: Condition, a: Numbers, b: Numbers) -> Floats:
    """a where the condition is true, else b; either may be a number.

    >>> where([True, False], [1, 2], 0)
    array([1., 0.])
    """
    return cast(Floats, np.where(cast(Bools, condition), a, b))
