"""Functions of `ta` for one or two plain numbers, which loops over the bars ask again and again.

They give what the functions for series give, to the last bit, without NumPy's arrays: a call takes
no longer than any call of a script is weighed, or charges for the rest. Other arguments (series,
lists, na where it has no meaning of its own, wrong values) fall through to the array version.
"""

import math
import sys
from collections.abc import Callable, Mapping
from functools import reduce
from math import copysign, isfinite
from typing import Any

import numpy as np

from chartpact.script.runtime.arithmetic import NUMBERS
from chartpact.script.runtime.meter import Meter
from chartpact.ta.arithmetic import round_number

Call = Callable[..., Any]

_POWER, _ROUND, _DECIMALS = 21, 6, 18  # steps, beside those of the call
_LOGARITHM, _FROM_INT = 3, 4
_MORE = 8  # each number of a `max` but the first
_MOST_DECIMALS = 16  # with more, numbers become long
_LEAST, _MOST = -(2**30) + 1, 2**30 - 1  # of ints that Python compares and converts at once
_BEYOND = 9e15  # floats below it are ints that Python has at once
_LARGEST_EXPONENT = math.log(sys.float_info.max)
_MISSING = object()


def _exp(x: float) -> float:
    if _LARGEST_EXPONENT < x < math.inf:
        return math.nan
    try:
        return math.exp(x)
    except OverflowError:
        return math.nan


# Of one float; na is None or NaN.
ON_ONE_BAR: Mapping[str, Callable[[Any], Any]] = {
    "isna": lambda x: x is None or not isfinite(x),
    "abs": abs,
    "sqrt": lambda x: math.sqrt(x) if x >= 0.0 else math.nan,
    "log": lambda x: math.log(x) if x > 0.0 else math.nan,
    "log10": lambda x: math.log10(x) if x > 0.0 else math.nan,
    "exp": _exp,
    "sign": lambda x: 1.0 if x > 0.0 else -1.0 if x < 0.0 else x + 0.0,
}


def shorten(name: str, call: Call, meter: Meter) -> Call:
    """The function with a shorter way for plain numbers, if it has one."""
    if name in ON_ONE_BAR:
        return _of_one(name, call, meter)
    make = _SHORTENED.get(name)
    return call if make is None else make(call, meter)


def _of_one(name: str, call: Call, meter: Meter) -> Call:
    compute = ON_ONE_BAR[name]
    takes_none, gives_int, is_log = name == "isna", name == "abs", name == "log"

    def function(x: Any = _MISSING, /, *others: Any, **named: Any) -> Any:
        if not others and not named:
            if type(x) is float or (takes_none and x is None):
                if is_log:
                    meter.charge(_LOGARITHM)
                return compute(x)
            if type(x) is int and _LEAST <= x <= _MOST:
                meter.charge(_FROM_INT)
                return compute(x if gives_int else float(x))
        return _take_long_way(call, (x, *others), named)

    return function


def _nz(call: Call, _: Meter) -> Call:
    def nz(x: Any = _MISSING, y: Any = _MISSING, /, *others: Any, **named: Any) -> Any:
        if not others and not named:
            replacement = 0.0 if y is _MISSING else y
            if type(replacement) is int and _LEAST <= replacement <= _MOST:
                replacement += 0.0
            if type(replacement) is float:
                if type(x) is float:
                    return x if x - x == 0.0 else replacement
                if x is None:
                    return replacement
                if type(x) is int and _LEAST <= x <= _MOST:
                    return x + 0.0
        return _take_long_way(call, (x, y, *others), named)

    return nz


def _extreme(is_max: bool) -> Callable[[Call, Meter], Call]:
    def make(call: Call, meter: Meter) -> Call:
        def extreme(a: Any = _MISSING, b: Any = _MISSING, /, *others: Any, **named: Any) -> Any:
            if not others and not named:
                x = a + 0.0 if type(a) is int and _LEAST <= a <= _MOST else a
                y = b + 0.0 if type(b) is int and _LEAST <= b <= _MOST else b
                if type(x) is float and type(y) is float:
                    if x > y:
                        return x if is_max else y
                    if x < y:
                        return y if is_max else x
                    if x != y:
                        return math.nan
                    if x != 0.0 or copysign(1.0, x * y) > 0.0:  # zeros
                        return x
            elif not named and {type(a), type(b), *map(type, others)} <= NUMBERS:
                meter.charge(_MORE + _MORE * len(others))
                return reduce(extreme, others, extreme(a, b))
            return _take_long_way(call, (a, b, *others), named)

        return extreme

    return make


def _pow(call: Call, meter: Meter) -> Call:
    def power(a: Any = _MISSING, b: Any = _MISSING, /, *others: Any, **named: Any) -> Any:
        if not others and not named:
            x = a + 0.0 if type(a) is int and _LEAST <= a <= _MOST else a
            y = b + 0.0 if type(b) is int and _LEAST <= b <= _MOST else b
            if type(x) is float and type(y) is float and x - x == 0.0 and y - y == 0.0:
                meter.charge(_POWER)
                # NumPy's own: its last bit may differ from that of the C library.
                result = float(np.power(x, y))
                return result if isfinite(result) else math.nan
        return _take_long_way(call, (a, b, *others), named)

    return power


def _round(call: Call, meter: Meter) -> Call:
    def rounded(x: Any = _MISSING, y: Any = _MISSING, /, *others: Any, **named: Any) -> Any:
        if type(x) is float and -_BEYOND < x < _BEYOND and not others and not named:
            if y is _MISSING or y is None:
                meter.charge(_ROUND)
                return round_number(x)
            if type(y) is int and -_MOST_DECIMALS <= y <= _MOST_DECIMALS:
                meter.charge(_DECIMALS)
                return round_number(x, y)
        if type(x) is int and _LEAST <= x <= _MOST and y is _MISSING and not others and not named:
            return x
        return _take_long_way(call, (x, y, *others), named)

    return rounded


def _to_int(compute: Callable[[float], int]) -> Callable[[Call, Meter], Call]:
    def make(call: Call, _: Meter) -> Call:
        def function(x: Any = _MISSING, /, *others: Any, **named: Any) -> Any:
            if not others and not named:
                if type(x) is float and -_BEYOND < x < _BEYOND:
                    return compute(x)
                if type(x) is int and _LEAST <= x <= _MOST:
                    return x
            return _take_long_way(call, (x, *others), named)

        return function

    return make


_SHORTENED: Mapping[str, Callable[[Call, Meter], Call]] = {
    "nz": _nz,
    "max": _extreme(True),
    "min": _extreme(False),
    "pow": _pow,
    "round": _round,
    "floor": _to_int(math.floor),
    "ceil": _to_int(math.ceil),
}
NAMES = (*ON_ONE_BAR, *_SHORTENED)


def _take_long_way(call: Call, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    return call(*(value for value in given if value is not _MISSING), **named)
