"""`ta`: every function of `chartpact.ta`, given and giving the values of the language.

Nothing is listed by hand: what `chartpact.ta` publishes, scripts can call.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_origin

import numpy as np

from chartpact import ta
from chartpact.arrays import any_true
from chartpact.script.compile.kinds import CONDITIONS, FLOATS, SERIES_TUPLE
from chartpact.script.errors import Fault
from chartpact.script.host.ohlcv import Ohlcv
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Series, TextSeries, array_of, charge_division
from chartpact.script.runtime.values import LISTS, a_type
from chartpact.ta import TaError
from chartpact.ta.arguments import Bools, Floats
from chartpact.textcolumn import TextColumn

_PLAIN = frozenset((int, float, bool, str, type(None)))
_HIDDEN = frozenset(("out",))  # parameters that make sense with NumPy only
_LONGEST_TEXT = 200
_DIVISIONS = frozenset(("mod", "mod_scalar"))
PRICES = frozenset(("open", "high", "low", "close", "volume"))
_YEAR_MS = 366 * 86_400_000

# What a call is charged: CALL, by its rate for every bar and result, a step wherever na begins or
# ends, and a step for every 300 bars × window. `bench/steps.py` tells what a step then takes.
# What is not listed is taken for slow.
CALL = 350
LONG_CALLS: Mapping[str, int] = {
    "bb": 450, "dmi": 480, "kc": 620, "kcw": 500, "macd": 420, "pow": 450, "session": 520,
    "timeframe_change": 1_200, "tsi": 450, "weekofyear": 420,
}  # fmt: skip
SCALAR = 110  # a call without any series
SCALARS: Mapping[str, int] = {"nz": 170, "round": 150}
QUICK = 12
# What loops over the bars ask of one value again and again: the same, without NumPy.
ON_ONE_BAR: Mapping[str, Callable[[Any], Any]] = {
    "isna": lambda x: x is None or math.isnan(x),
    "nz": lambda x: 0.0 if x is None or math.isnan(x) else x,
}
_QUICK = frozenset((float, type(None)))
# Functions that give back values of the series they are given, and so never an infinite one.
KEPT = frozenset("highest lowest shift valuewhen".split())
CLOCK = 2_000  # functions that look at a time zone
RATES: Mapping[str, int] = {  # in parts of a step: PARTS are one
    name: rate
    for rate, listed in (
        (1, "abs add add_scalar change crossover crossunder div div_scalar eq eq_scalar ge "
            "ge_scalar gt gt_scalar hl2 hlc3 isna le le_scalar logical_and logical_not logical_or "
            "lt lt_scalar max_scalar min_scalar mom mul mul_scalar ne ne_scalar neg shift sub "
            "sub_scalar"),
        (3, "accdist alma atr bb cci cmo cog cross cum dev ema falling fixnan highest hlcc4 iii "
            "linreg lowest macd max min nvi nz obv ohlc4 percentrank pvi pvt range rising rma roc "
            "sign sma sqrt stdev stoch sum swma tr valuewhen variance wad where wma wvad"),
        (4, "kc"),
        (6, "dmi highestbars log log10 lowestbars pivot_high pivot_low pivothigh pivotlow rsi "
            "supertrend"),
        (20, "dayofweek hma hour minute mod mod_scalar round second timeframe_change"),
        (32, "exp median percentile_linear_interpolation percentile_nearest_rank session"),
        (64, "dayofmonth mode month weekofyear year"),
        (192, "pow pow_scalar"),
    )
    for name in listed.split()
}  # fmt: skip
USUAL_RATE, PARTS = 8, 32
WINDOW = 300
MODE_WINDOW = 30
FLAT = frozenset(  # functions that take no longer for a longer window
    (
        "atr bb bbw change cmo cog correlation dmi ema falling highest highestbars hma kc kcw "
        "linreg lowest lowestbars macd mfi mom pivot_high pivot_low pivothigh pivotlow range "
        "rising rma roc rsi shift sma stdev stoch sum supertrend swma tsi variance vwma wma wpr"
    ).split()
)


def names() -> list[str]:
    return list(ta.FUNCTIONS)


@dataclass(frozen=True)
class _Declared:
    """What the signature of a function says; it is read once, long before any run."""

    kind: int | None  # of the language, where the result is always one
    outputs: int
    windowed: bool  # takes a number of bars; what `ta.nz` and `ta.where` take is just a number
    hidden: frozenset[str]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "_Declared":
        full = inspect.signature(function)
        returned = full.return_annotation
        parts = get_args(returned) if get_origin(returned) is tuple else ()
        kinds = {Floats: FLOATS, Bools: CONDITIONS}
        several = SERIES_TUPLE if parts and all(each == Floats for each in parts) else None
        kind = next((kinds[each] for each in kinds if each == returned), several)
        annotations = [each.annotation for each in full.parameters.values()]
        return cls(
            kind,
            len(parts) or 1,
            any(int in (each, *get_args(each)) for each in annotations),
            _HIDDEN & full.parameters.keys(),
        )


@cache
def _declared() -> dict[str, _Declared]:
    return {name: _Declared.of(function) for name, function in ta.FUNCTIONS.items()}


@cache
def results() -> dict[str, int]:
    """The kinds that functions say they return."""
    return {name: each.kind for name, each in _declared().items() if each.kind is not None}


@cache
def signature(name: str) -> inspect.Signature:
    """The arguments of a function as scripts may give them."""
    full = inspect.signature(ta.FUNCTIONS[name])
    kept = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in full.parameters.values()
        if each.name not in _HIDDEN
    ]
    return full.replace(parameters=kept, return_annotation=inspect.Signature.empty)


def function(name: str, meter: Meter, bars: int) -> Callable[..., Any]:
    """The function as one run calls it, on a chart of so many bars."""
    compute = ta.FUNCTIONS[name]
    declared = _declared()[name]
    outputs = declared.outputs
    rate, fixed = RATES.get(name, USUAL_RATE), LONG_CALLS.get(name, CALL)
    window = None if name in FLAT or not declared.windowed else WINDOW
    window = MODE_WINDOW if name == "mode" else window
    quick = ON_ONE_BAR.get(name)
    # Given by name, so that no further value of a call is taken for it.
    hidden = dict.fromkeys(declared.hidden)
    divides = name in _DIVISIONS
    kept = name in KEPT

    def call(*given: Any, **named: Any) -> Any:
        if quick is not None and len(given) == 1 and not named and type(given[0]) in _QUICK:
            meter.charge(QUICK)
            return quick(given[0])
        for each in hidden.keys() & named.keys() if named else ():
            raise Fault("type", f"ta.{name} takes no argument {each!r}")
        values = (*given, *named.values()) if named else given
        kinds = {*map(type, values)}
        lengths = {len(each) for each in values if type(each) in _WITH_LENGTH}
        if lengths or not LISTS.isdisjoint(kinds):
            lengths = lengths or {bars}
            longest = max(lengths)
            meter.charge(fixed + longest * outputs * rate // PARTS)
            if rate > 1:
                meter.charge(sum([each.breaks() for each in values if type(each) is Series]))
            if window is not None:
                meter.charge(longest * _window(values, longest) // window)
        else:
            meter.charge(SCALARS.get(name, SCALAR))
        arguments = [_argument(each, lengths, meter, name) for each in given]
        options = {key: _argument(each, lengths, meter, name) for key, each in named.items()}
        if str in kinds:
            _charge_clock(arguments, options, meter)
        if divides and len(arguments) + len(options) > 1:
            _charge_division(arguments, options, meter)
        options.update(hidden)
        try:
            result = compute(*arguments, **options)
        except TaError as error:
            raise _refused(name, error) from None
        except TypeError as error:
            if not _is_of_arguments(error, compute):
                raise
            raise _misused(name, given, named) from None
        if kept and type(result) is np.ndarray and result.ndim:
            return Series(result, meter)
        return _result(result, declared.kind, meter)

    call.__name__ = name
    return _choosing(call, meter, bars) if name == "where" else call


def _choosing(numeric: Callable[..., Any], meter: Meter, bars: int) -> Callable[..., Any]:
    """`ta.where`, which also chooses among texts: a colour for each bar."""

    def texts(condition: Any, a: Any, b: Any) -> TextSeries:
        lengths = {len(each) for each in (condition, a, b) if type(each) in _LONG} or {bars}
        meter.charge(CALL + max(lengths) // 8)
        if len(lengths) > 1:
            raise Fault("value", "ta.where: condition, a and b have to be equally long")
        chosen = _argument(condition, lengths, meter, "where")
        if not isinstance(chosen, np.ndarray) or chosen.dtype != np.bool_:
            raise Fault("type", f"condition is a condition such as a > b, not {a_type(condition)}")
        options = [_texts(each, name, meter) for each, name in ((a, "a"), (b, "b"))]
        meter.charge(sum(len(each.categories) for each in options))
        return TextSeries(TextColumn.where(chosen, *options), meter)

    def where(*given: Any, **named: Any) -> Any:
        options = (*given[1:], *named.values())
        if not any(type(each) in (str, TextSeries) or _of_texts(each) for each in options):
            return numeric(*given, **named)
        try:
            return texts(*given, **named)
        except TypeError as error:
            if not _is_of_arguments(error, texts):
                raise
            raise Fault("type", "ta.where takes a condition, a and b", usage("where")) from None

    return where


_LONG = frozenset((*LISTS, Series, TextSeries))


def _of_texts(value: Any) -> bool:
    return type(value) in LISTS and any(type(each) is str for each in value)


def _texts(value: Any, name: str, meter: Meter) -> TextColumn:
    """The texts that a value stands for: its own for every bar, or one for all."""
    if type(value) is TextSeries:
        return value.texts
    listed = value if type(value) in LISTS else (value,)
    meter.charge(2 * len(listed))
    for each in listed:
        if each is not None and type(each) is not str:
            raise Fault("type", f"{name} holds {a_type(each)} beside texts", usage("where"))
        if each is not None and len(each) > _LONGEST_TEXT:
            raise Fault("size", f"a text for ta has at most {_LONGEST_TEXT} characters")
    return TextColumn.repeat(listed[0], 1) if len(listed) == 1 else TextColumn.encode(listed)


def usage(name: str) -> str:
    return f"write ta.{name}{signature(name)}"


_WITH_LENGTH = frozenset((Series, Ohlcv))


def _argument(value: Any, lengths: set[int], meter: Meter, name: str) -> Any:
    kind = type(value)
    if kind is Series:
        return value.array
    if kind is Ohlcv:
        return value.columns
    if kind in LISTS:
        array = array_of(value, None, meter)
        if len(array) not in lengths:
            wanted = " or ".join(map(str, sorted(lengths)))
            raise Fault(
                "value",
                f"a list that stands for a series has one value a bar: {wanted}, not {len(array)}",
            )
        return array
    if kind is str and len(value) > _LONGEST_TEXT:
        raise Fault("size", f"a text for ta has at most {_LONGEST_TEXT} characters")
    if kind not in _PLAIN:
        hint = "take its parts first, as in a, b, c = …" if kind is tuple else usage(name)
        raise Fault("type", f"ta.{name} takes series and numbers, not {a_type(value)}", hint)
    return value


def _window(values: tuple[Any, ...], longest: int) -> int:
    """The longest window the call asks for; one of no length is refused, and costs as one of 1."""
    whole = [each for each in values if type(each) is int]
    return max((min(each, longest) for each in whole if each > 0), default=1)


def _charge_clock(arguments: list[Any], options: Mapping[str, Any], meter: Meter) -> None:
    """Wall clocks are looked up year by year, so times far apart cost more."""
    meter.charge(CLOCK)
    for each in (*arguments, *options.values()):
        times = getattr(each, "time", each)
        if isinstance(times, np.ndarray) and times.dtype.kind in "if" and len(times):
            known = times[np.isfinite(times)]
            span = float(known.max()) - float(known.min()) if len(known) else 0.0
            meter.charge(len(times) + int(min(span / _YEAR_MS, 1e6)) * 300)


def _charge_division(arguments: list[Any], options: Mapping[str, Any], meter: Meter) -> None:
    left, right = (*arguments, *options.values())[:2]
    if all(type(each) in (int, float) or isinstance(each, np.ndarray) for each in (left, right)):
        charge_division(_float(left), _float(right), meter)


def _float(value: Any) -> Any:
    """An int of any size as NumPy can compare it."""
    try:
        return float(value) if type(value) is int else value
    except OverflowError:
        return math.inf


def _is_of_arguments(error: TypeError, function: Callable[..., Any]) -> bool:
    """Was the function given what it does not take? Any other TypeError is a fault in it."""
    return str(error).startswith((f"{function.__name__}() ", f"{function.__qualname__}() "))


def _refused(name: str, error: TaError) -> Fault:
    text = re.sub(r"\bnan\b", "na", str(error)).replace("bars.close", "ohlcv.close")
    text = re.sub(r"not (<Bars|namespace\().*", "not an ohlcv", text, flags=re.DOTALL)
    return Fault("value", text.replace(" (float64)", ""), usage(name))


def _misused(name: str, given: tuple[Any, ...], named: Mapping[str, Any]) -> Fault:
    """What is wrong with the arguments of a call, one that is not known coming first."""
    arguments = signature(name)
    for each in named.keys() - arguments.parameters.keys():
        return Fault("type", f"ta.{name} takes no argument {each!r:.60}", usage(name))
    hint = usage(name)
    if "high" in arguments.parameters and not any(type(each) is Ohlcv for each in given):
        hint += ", where ohlcv may stand for the prices"
    try:
        names = stood_for(arguments.parameters, [type(each) is Ohlcv for each in given])
        spread = (each for each, stands in zip(given, names, strict=True) for _ in stands)
        arguments.bind(*spread, **named)
    except TypeError as error:
        said = str(error).replace("missing a required argument:", "is called without")
        said = said.replace("too many positional arguments", "is called with too many values")
        said = re.sub(r"multiple values for argument (.+)", r"is given \1 twice", said)
        return Fault("type", f"ta.{name} {said}", hint)
    return Fault("type", f"ta.{name} cannot use these values", hint)


def stood_for(parameters: Iterable[str], ohlcv: Iterable[bool]) -> list[list[str]]:
    """The parameters each value in a row stands for: an ohlcv for all the prices that follow.

    >>> stood_for(["source", "high", "low", "n"], [False, True, False])
    [['source'], ['high', 'low'], ['n']]
    """
    left = list(parameters)
    found = []
    for prices in ohlcv:
        names = [left.pop(0) if left else ""]
        while prices and names[0] in PRICES and left and left[0] in PRICES:
            names.append(left.pop(0))
        found.append(names)
    return found


def _result(result: Any, declared: int | None, meter: Meter) -> Any:
    if isinstance(result, np.ndarray):
        if result.ndim == 0:
            return _result(result.item(), declared, meter)
        if result.dtype == np.float64 and any_true(infinite := np.isinf(result)):
            result = np.where(infinite, np.nan, result)
        return Series(result, meter)
    if isinstance(result, tuple):
        return tuple(_result(each, FLOATS if declared == SERIES_TUPLE else None, meter)
                     for each in result)  # fmt: skip
    if isinstance(result, np.generic):
        result = result.item()
    if declared in (FLOATS, SERIES_TUPLE) and type(result) in (int, bool):
        return float(result)
    return result
