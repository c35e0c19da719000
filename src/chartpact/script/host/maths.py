"""`math`: functions of one number, and statistics of a list.

What is na, or has no value, is NaN: `math.sqrt(-1)`, `math.log(0)`, the average of nothing.
"""

import math
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any

from chartpact import ta
from chartpact.script.compile.kinds import BIG, FLOAT
from chartpact.script.errors import Fault
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import LISTS, a_type, shown
from chartpact.ta.arithmetic import round_number

MOST_DECIMALS = 16
# Steps, beside those of the call.
_COSTS: Mapping[str, int] = {"ceil": 4, "floor": 4, "log": 4, "round": 8, "sign": 4}
_COSTS_OF_TWO: Mapping[str, int] = {"pow": 3, "round": 18}
_NO_VALUE = 10  # of a result that is na, or a long int
_LONG = 1e15
_MISSING = object()
_LISTS = frozenset((*LISTS, tuple, range))
_MAYBE_NUMBERS = frozenset((int, float, type(None)))

CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e}


def _round(x: float, precision: Any = None) -> float:
    if precision is not None and (type(precision) is not int or precision > MOST_DECIMALS):
        message = f"precision is an int up to {MOST_DECIMALS}, not {shown(precision)}"
        raise Fault("value", message)
    return round_number(x, precision)


def _sign(x: float) -> float:
    return math.nan if math.isnan(x) else float((x > 0) - (x < 0))


def _div(x: float, y: float) -> float:
    divisor = float(y)
    return float(x) / divisor if divisor else math.nan


# How each function is called, what it computes, and the sentence about it.
SCALARS: Mapping[str, tuple[str, Callable[..., float], str]] = {
    "div": ("x, y", _div, "x divided by y; na where y is 0 or one of them is na."),
    "sqrt": ("x", math.sqrt, "The square root."),
    "log": ("x", math.log, "The natural logarithm."),
    "exp": ("x", math.exp, "`math.e` to the power of x."),
    "pow": ("x, y", math.pow, "x to the power of y."),
    "sin": ("x", math.sin, "The sine of an angle in radians."),
    "cos": ("x", math.cos, "The cosine of an angle in radians."),
    "tan": ("x", math.tan, "The tangent of an angle in radians."),
    "asin": ("x", math.asin, "The angle of a sine, in radians."),
    "acos": ("x", math.acos, "The angle of a cosine, in radians."),
    "atan": ("x", math.atan, "The angle of a tangent, in radians."),
    "floor": ("x", math.floor, "The largest int that is not above x."),
    "ceil": ("x", math.ceil, "The smallest int that is not below x."),
    "round": (
        "x, precision=None",
        _round,
        "The nearest int, halves away from 0; with a precision a float of so many decimals.",
    ),
    "sign": ("x", _sign, "1.0 above 0, -1.0 below 0, else 0.0."),
}
STATISTICS: Mapping[str, tuple[str, Callable[[list[float]], float], str]] = {
    "sum": ("values", math.fsum, "The sum of a list; of nothing it is 0."),
    "avg": ("values", lambda x: math.fsum(x) / len(x), "The average of a list."),
    "median": (
        "values",
        lambda x: float(median(x)),
        "The middle of a list, or the average of the middle two.",
    ),
}
NAMES = (*SCALARS, *STATISTICS, *CONSTANTS)
RESULTS: Mapping[str, int] = {  # the kinds that calls return
    **dict.fromkeys((*SCALARS, *STATISTICS), FLOAT),
    **dict.fromkeys(("floor", "ceil", "round"), BIG | FLOAT),
}


def function(name: str, meter: Meter) -> Any:
    """A function, or a constant, as one run sees it."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    call = _scalar(name, meter) if name in SCALARS else _statistic(name, meter)
    call.__name__ = call.__qualname__ = name
    return call


def _scalar(name: str, meter: Meter) -> Callable[..., float]:
    usage, compute, _ = SCALARS[name]
    takes_two = "," in usage
    cost, cost_of_two = _COSTS.get(name, 0), _COSTS_OF_TWO.get(name, 0)

    def call(x: Any = _MISSING, y: Any = _MISSING, /, *others: Any) -> float:
        is_one = y is _MISSING
        if (
            (type(x) is float or type(x) is int)
            and (is_one or (takes_two and (type(y) is float or type(y) is int)))
            and not others
        ):
            if steps := cost if is_one else cost_of_two:
                meter.charge(steps)
            try:
                result = compute(x) if is_one else compute(x, y)
            except (ValueError, OverflowError):
                meter.charge(_NO_VALUE)
                return math.nan
            except TypeError:
                raise _misuse(name) from None
            if -_LONG < result < _LONG:
                return result
            meter.charge(_NO_VALUE)
            return result if result - result == 0 else math.nan
        meter.charge(_NO_VALUE)
        return _without_value(name, [given for given in (x, y, *others) if given is not _MISSING])

    return call


def _without_value(name: str, arguments: list[Any]) -> float:
    """na, if there is one before a value that is wrong; else there are too many or too few."""
    for value in arguments:
        if value is None:
            return math.nan
        if type(value) is not float and type(value) is not int:
            raise _not_a_number(name, value)
    raise _misuse(name)


def _misuse(name: str) -> Fault:
    message = f"math.{name} is called with too many or too few values"
    return Fault("type", message, f"write math.{name}({SCALARS[name][0]})")


def _not_a_number(name: str, value: Any) -> Fault:
    hint = ""
    if type(value) is Series:
        hint = f"write ta.{name}(s)" if name in ta.FUNCTIONS else "take one bar: s[i]"
    return Fault("type", f"math.{name} takes a number, not {a_type(value)}", hint)


def _statistic(name: str, meter: Meter) -> Callable[..., float]:
    compute = STATISTICS[name][1]

    def call(values: Any) -> float:
        numbers = _known_numbers(values, name, meter)
        if name == "median":
            meter.charge(len(numbers) * len(numbers).bit_length() // 2)
        try:
            return compute(numbers)
        except (ValueError, ZeroDivisionError, OverflowError):
            return math.nan

    return call


def _known_numbers(values: Any, name: str, meter: Meter) -> list[float]:
    """The numbers of a list, or of a slice of a series, without those that are na."""
    if type(values) is Series:
        values = values.items()
    elif type(values) not in _LISTS:
        raise Fault("type", f"math.{name} takes a list of numbers, not {a_type(values)}")
    meter.charge(24 + 5 * len(values) // 4)
    if not {*map(type, values)} <= _MAYBE_NUMBERS:
        odd = next(value for value in values if type(value) not in _MAYBE_NUMBERS)
        raise Fault("type", f"math.{name} takes a list of numbers, and this holds {a_type(odd)}")
    return [value for value in values if value is not None and not math.isnan(value)]
