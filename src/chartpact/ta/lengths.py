"""Lengths that change from bar to bar, where Pine takes a series of them.

Each bar has the value that the function would have there if its length were that of all bars. It
is computed from the bars it depends on alone, so that it costs what its own length costs, and bars
that follow change nothing. `stoch` and `cci` repeat their own last value, of whatever length that
was.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact.ta.kernels import KERNELS, NATIVE, kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Column = NDArray[Any]

TYPES = {"d": np.float64, "q": np.int64, "?": np.bool_}
LONGEST = 5_000
ABSENT = 0  # a length that is na: the bar is na
EPSILON = 1e-10

PIVOTS = ("pivot_high", "pivot_low")
# How many bars, or how many present values, a kernel looks back beyond its length.
BARS = dict.fromkeys(
    "alma cog dev highest highestbars linreg lowest lowestbars percentile_linear_interpolation "
    "percentile_nearest_rank wpr".split(),
    0,
) | dict.fromkeys(("percentrank", *PIVOTS), 1)
VALUES = dict.fromkeys(
    "bb correlation median mode sma stdev sum variance vwma window_range wma".split(), 0
) | {"cmo": 1, "mfi": 1}


@np.errstate(all="ignore")
def compute_by_bar(name: str, values: Sequence[Any], places: Sequence[int]) -> Any:
    """The result of a function whose arguments at `places` are lengths, one for each bar."""
    shape = np.broadcast_shapes(*(value.shape for value in values if np.ndim(value)))
    if name in PIVOTS:  # a length for either side
        places = 1, 2
    spread = [
        np.broadcast_to(value, shape) if np.ndim(value) or k in places else value
        for k, value in enumerate(values)
    ]
    rows = [
        _compute_row(name, [value[row] if np.ndim(value) else value for value in spread])
        for row in np.ndindex(*shape[:-1])
    ]
    columns = [np.reshape(column, shape) for column in zip(*rows, strict=True)]
    return columns[0] if len(columns) == 1 else tuple(columns)


def _compute_row(name: str, arguments: list[Any]) -> tuple[Column, ...]:
    if name in BARS or name in VALUES:
        if name == "alma":
            arguments = _alma(*arguments)
        return _by_slices(name, arguments)
    if name == "range":
        return _by_slices("window_range", arguments)
    if name == "bbw":
        middle, upper, lower = _by_slices("bb", arguments)
        return (_bound(100 * (upper - lower) / middle),)
    if name == "cci":
        return (_cci(*arguments),)
    if name == "stoch":
        return (_stoch(*arguments),)
    x, n = arguments
    if name in ("rising", "falling"):
        steps = np.diff(x, prepend=np.nan)
        return (_run(steps if name == "rising" else -steps) >= n,)
    earlier = _earlier(x, n)
    if name == "shift":
        return (earlier,)
    return (_bound(100 * (x - earlier) / earlier if name == "roc" else x - earlier),)


def _by_slices(name: str, arguments: list[Any]) -> tuple[Column, ...]:
    """The last results of a kernel on slices that end at each bar and hold what it depends on."""
    signature, types = KERNELS[name]
    inputs: list[Column] = [
        np.ascontiguousarray(value, TYPES[letter])
        for value, letter in zip(arguments, types.split("->")[0], strict=True)
    ]
    is_series = [part == "(n)" for part in signature.split("->")[0].split(",")]
    series = [value for value, bars in zip(inputs, is_series, strict=True) if bars]
    lengths = [v for v in arguments if np.ndim(v) and v.dtype == np.int64]
    total: Ints = np.sum(lengths, axis=0)
    bars = np.arange(len(total))
    first = bars + 1 - (total + BARS.get(name, 0))
    if name in VALUES:
        present = np.flatnonzero(np.all([np.isfinite(values) for values in series], axis=0))
        at = np.searchsorted(present, bars, "right") - (total + VALUES[name])
        earliest = np.append(present, 0)[np.maximum(at, 0)]
        first = np.minimum(first, np.where(at >= 0, earliest, 0))
    first = np.clip(first, 0, bars)
    if name in NATIVE:
        from chartpact import _native as extension

        results: tuple[Column, ...] = extension.last_values(name, first, *inputs)
        return results
    with_length = [np.maximum(v, 1) if k == len(series) else v for k, v in enumerate(inputs)]
    latest = _last_values(name, first, inputs if name in PIVOTS else with_length, is_series)
    absent = (total == ABSENT) & (name not in PIVOTS)
    return tuple(np.where(absent, np.nan, column) for column in latest)


def _last_values(
    name: str, first: Ints, inputs: list[Column], is_series: list[bool]
) -> tuple[Column, ...]:
    """What the C extension has as well: the last results of a kernel from each first bar on."""
    compute = kernel(name)
    results = []
    for bar, start in enumerate(first.tolist()):
        arguments = [
            value[start : bar + 1] if bars else value.reshape(-1)[bar if value.size > 1 else 0]
            for value, bars in zip(inputs, is_series, strict=True)
        ]
        result = compute(*arguments)
        results.append([r[-1] for r in (result if isinstance(result, tuple) else (result,))])
    return tuple(map(np.array, zip(*results, strict=True)))


def _alma(x: Floats, n: Ints, offset: float, sigma: float, floor: bool) -> list[Any]:
    last = np.maximum(n - 1, 1)
    return [x, n, np.floor(offset * last) / last if floor else offset, sigma]


def _cci(x: Floats, n: Ints) -> Floats:
    (deviation,) = _by_slices("dev", [x, n])
    (mean,) = _by_slices("sma", [x, n])
    flat = deviation <= EPSILON
    index = (x - mean) / (0.015 * deviation)
    return _hold(np.append(0.0, index), np.append(False, flat))[1:]


def _stoch(x: Floats, high: Floats, low: Floats, n: Ints) -> Floats:
    (top,), (bottom,) = _by_slices("highest", [high, n]), _by_slices("lowest", [low, n])
    place = 100 * (x - bottom) / (top - bottom)
    return _hold(_bound(place), ~np.isfinite(place))


def _hold(x: Floats, where: NDArray[np.bool_]) -> Floats:
    """The series, with the last number before them on the bars `where`."""
    last = np.maximum.accumulate(np.where(np.isfinite(x) & ~where, np.arange(len(x)), 0))
    return np.where(where, x[last], x)


def _bound(x: Floats) -> Floats:
    return np.where(np.isinf(x), math.nan, x)


def _run(steps: Floats) -> Ints:
    """How many steps went up since the last that did not; a step that is na is none."""
    known = np.isfinite(steps)
    count = np.cumsum(known & (steps > EPSILON))
    return count - np.maximum.accumulate(np.where(known & (steps <= EPSILON), count, 0))


def _earlier(x: Floats, n: Ints) -> Floats:
    at = np.arange(len(x)) - n
    return np.where(at >= 0, x[np.maximum(at, 0)], np.nan)
