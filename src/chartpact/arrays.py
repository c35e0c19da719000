"""Arrays that nothing changes, made of values from anywhere, and quick tests of many conditions."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chartpact.checks import Unfit, number, whole
from chartpact.textcolumn import TextColumn


def any_true(conditions: NDArray[np.bool_]) -> bool:
    """Whether one holds; NumPy's `any` takes ten times as long."""
    return len(conditions) > 0 and bool(conditions[conditions.argmax()])


def all_true(conditions: NDArray[np.bool_]) -> bool:
    """Whether all hold; NumPy's `all` takes ten times as long."""
    return len(conditions) == 0 or bool(conditions[conditions.argmin()])


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, now read-only."""
    array.flags.writeable = False
    return array


def is_frozen(array: NDArray[Any]) -> bool:
    """Whether nobody can change an array, not even through another view of its memory."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    return owner is None or type(owner) is bytes


NOTHING: NDArray[np.float64] = freeze(np.empty(0))  # a series that is not there
ABSENT = np.iinfo(np.int64).min  # None in a column of whole numbers


def series(values: ArrayLike) -> NDArray[np.float64]:
    """A read-only series; None is NaN. An array that somebody could change is copied."""
    if values is NOTHING:
        return NOTHING
    texts = (
        values.dtype.kind in "US"
        if isinstance(values, np.ndarray)
        else isinstance(values, list | tuple | TextColumn) and str in set(map(type, values))
    )
    try:
        array = np.asarray("no numbers" if texts else values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise Unfit("a series holds numbers, or None where nothing is drawn") from None
    made_here = array is not values and array.base is None
    if not made_here and not is_frozen(array):
        array = np.array(array)
    if array.ndim != 1:
        raise Unfit(f"a series has one dimension, not {array.ndim}")
    if any_true(np.isinf(array)):
        raise Unfit(f"a series is infinite at bar {int(np.argmax(np.isinf(array)))}")
    return freeze(array)


def wholes(values: Any) -> NDArray[np.int64]:
    """A read-only column of whole numbers."""
    if type(values) is np.ndarray and values.dtype == np.int64 and is_frozen(values):
        return values
    array = np.array(values)
    if array.size and array.dtype.kind != "i":
        try:
            array = np.array([whole(value) for value in values], dtype=np.int64)
        except OverflowError:
            raise Unfit("a whole number is beyond 64 bits") from None
    if any_true(array == ABSENT):
        raise Unfit("a whole number is beyond 64 bits")
    return freeze(array.astype(np.int64))


def wholes_or_none(values: Any) -> NDArray[np.int64]:
    """A read-only column of whole numbers in which None is `ABSENT`."""
    if isinstance(values, np.ndarray) and values.dtype == np.int64:
        return values if is_frozen(values) else freeze(values.copy())
    column = wholes([0 if value is None else value for value in values]).copy()
    column[[value is None for value in values]] = ABSENT
    return freeze(column)


def numbers(values: Any) -> NDArray[np.float64]:
    """A read-only column of finite numbers."""
    shared = type(values) is np.ndarray and values.dtype == np.float64 and is_frozen(values)
    array = values if shared else np.array(values)
    if array.size and array.dtype.kind not in "iuf":
        array = np.array([number(value) for value in values])
    if not all_true(np.isfinite(array)):
        raise Unfit("is not a finite number", array[np.argmin(np.isfinite(array))].item())
    return array if shared else freeze(array.astype(np.float64))


def to_list(column: Any) -> list[Any]:
    """The column as Python's own values; NaN and `ABSENT` are None."""
    if not isinstance(column, np.ndarray):
        return list(column)
    values: list[Any] = column.tolist()
    missing = np.isnan(column) if column.dtype == np.float64 else column == ABSENT
    for i in np.flatnonzero(missing).tolist():
        values[i] = None
    return values
