"""Many values of a field at once, as a read-only array or as texts."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chartpact.arrays import all_true, any_true
from chartpact.scene.checks import number, text, whole
from chartpact.scene.rule import SceneError
from chartpact.textcolumn import TextColumn

_LISTED = (list, tuple, TextColumn)


def series(values: ArrayLike) -> NDArray[np.float64]:
    if values is NOTHING:
        return NOTHING
    texts = (
        values.dtype.kind in "US"
        if isinstance(values, np.ndarray)
        else isinstance(values, _LISTED) and str in set(map(type, values))
    )
    try:
        array = np.asarray("no numbers" if texts else values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SceneError("a series holds numbers, or None where nothing is drawn") from None
    made_here = array is not values and array.base is None
    if not made_here and not unchanging(array):  # the drawer may go on changing its own
        array = np.array(array)
    if array.ndim != 1:
        raise SceneError(f"a series has one dimension, not {array.ndim}")
    if any_true(np.isinf(array)):
        raise SceneError(f"a series is infinite at bar {int(np.argmax(np.isinf(array)))}")
    array.flags.writeable = False
    return array


def wholes(values: Any) -> NDArray[np.int64]:
    if type(values) is np.ndarray and values.dtype == np.int64 and unchanging(values):
        return values
    array = np.array(values)
    if array.size and array.dtype.kind != "i":
        try:
            array = np.array([whole(value) for value in values], dtype=np.int64)
        except OverflowError:
            raise SceneError("a whole number is beyond 64 bits") from None
    return frozen(array.astype(np.int64))


def numbers(values: Any) -> NDArray[np.float64]:
    kept = type(values) is np.ndarray and values.dtype == np.float64 and unchanging(values)
    array = values if kept else np.array(values)
    if array.size and array.dtype.kind not in "iuf":
        array = np.array([number(value) for value in values])
    if not all_true(np.isfinite(array)):
        raise SceneError(f"{array[np.argmin(np.isfinite(array))]} is not a finite number")
    return array if kept else frozen(array.astype(np.float64))


def texts(values: Any) -> TextColumn:
    texts = TextColumn.encode(values)
    for each in texts.categories:
        text(each)
    return texts


def maybe_texts(values: Any) -> TextColumn:
    texts = TextColumn.encode(values)
    for each in texts.categories:
        if each is not None:
            text(each)
    return texts


def unchanging(array: NDArray[np.float64]) -> bool:
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    return owner is None or type(owner) is bytes


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


NOTHING = frozen(np.empty(0))  # a series that is not there


def listed(column: Any) -> list[Any]:
    if not isinstance(column, np.ndarray):
        return list(column)
    return series_to_json(column) if column.dtype == np.float64 else column.tolist()


def series_to_json(values: NDArray[np.float64]) -> list[float | None]:
    listed: list[float | None] = values.tolist()
    for i in np.flatnonzero(np.isnan(values)).tolist():
        listed[i] = None
    return listed
