"""The columns of bars: their names, and the checks that every row of them passes."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chartpact.arrays import freeze, is_frozen
from chartpact.bars.errors import BarsError
from chartpact.clock.walltime import iso
from chartpact.prices import OHLC, STORED

COLUMNS = ("time", *STORED)
TIMES = ("time", "ends")  # of the columns, those that hold UTC ms
EARLIEST, LATEST = -5_364_662_400_000, 7_258_118_400_000  # 1800-01-01 and 2200-01-01

Column = NDArray[Any]
DescribeRow = Callable[[int], str]


def check(columns: dict[str, Column], place: DescribeRow) -> None:
    """Raises on the first row that cannot be a bar, naming it by `place` of its number."""
    time, opening, high, low, close, volume = (columns[name] for name in COLUMNS)
    for name, column in columns.items():
        if len(column) != len(time):
            raise BarsError(f"{name} has {len(column)} values, but time has {len(time)}")
    top, bottom = np.maximum(opening, close), np.minimum(opening, close)
    step_back = np.zeros(len(time), np.bool_)
    step_back[1:] = time[1:] <= time[:-1]

    def describe_bound(name: str, side: str, bound: Column, row: int) -> str:
        other = "open" if bound[row] == opening[row] else "close"
        return f"{name} {columns[name][row]} is {side} the {other} {bound[row]}"

    def describe_far(row: int) -> str:
        return (
            f"time {time[row]} ms is outside the years 1800 to 2200: "
            "is it in another unit than the other times?"
        )

    def describe_order(row: int) -> str:
        now, before = iso(time[row]), iso(time[row - 1])
        if now == before:
            return f"time {now} is there twice; each bar has a time of its own"
        return (
            f"time {now} comes after {before}; bars are sorted, oldest first; sort=True sorts them"
        )

    def describe_price(name: str) -> DescribeRow:
        return lambda row: f"{name} is {columns[name][row]}; prices are finite numbers"

    faults: tuple[tuple[Column, DescribeRow], ...] = (
        ((time < EARLIEST) | (time > LATEST), describe_far),
        (step_back, describe_order),
        *((~np.isfinite(columns[name]), describe_price(name)) for name in OHLC),
        (high < top, lambda row: describe_bound("high", "below", top, row)),
        (low > bottom, lambda row: describe_bound("low", "above", bottom, row)),
        (
            (volume < 0) | np.isinf(volume),
            lambda row: f"volume is {volume[row]}; it is zero or more, or NaN where unknown",
        ),
    )
    rows = [(int(np.argmax(mask)), describe) for mask, describe in faults if mask.any()]
    if rows:
        row, describe = min(rows, key=lambda fault: fault[0])
        raise BarsError(f"{place(row)}: {describe(row)}")


def to_column(name: str, values: ArrayLike) -> Column:
    """The values as a read-only column; shared when nobody else can change them, else copied."""
    kind = np.int64 if name in TIMES else np.float64
    try:
        array = np.asarray(values)
        if name in TIMES and array.dtype.kind not in "iu" and array.size:
            raise BarsError(f"{name} holds {array.dtype} values, not whole UTC ms")
        array = np.asarray(array, dtype=kind)
    except BarsError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise BarsError(f"{name} holds something that is not a number: {error}") from None
    if array.ndim != 1:
        raise BarsError(f"{name} has {array.ndim} dimensions, not 1")
    return array if is_frozen(array) else freeze(array.copy())
