"""`ta`: every function of `chartpact.ta`, for the values of the language.

Nothing is listed by hand: what `chartpact.ta` publishes, scripts can call.
"""

import inspect
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_args, get_origin

import numpy as np

from chartpact import ta
from chartpact.arrays import any_true
from chartpact.prices import STORED
from chartpact.script.compile.kinds import CONDITIONS, FLOATS, SERIES_TUPLE
from chartpact.script.errors import Fault
from chartpact.script.host import ta_costs as costs
from chartpact.script.host.ohlcv import Ohlcv
from chartpact.script.host.ta_scalars import shorten
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Series, TextSeries, array_of, charge_division
from chartpact.script.runtime.values import LISTS, List, a_type
from chartpact.ta import TaError, wallclock
from chartpact.ta.arguments import Bools, Floats, checks_of
from chartpact.ta.lengths import LONGEST
from chartpact.ta.profiles import count_touched
from chartpact.textcolumn import TextColumn

# The kinds that functions of numbers give for a series; for a number it is a number.
_OF_SERIES = {
    "isna": CONDITIONS, **dict.fromkeys(("nz", "sqrt", "log", "log10", "exp", "sign"), FLOATS)
}  # fmt: skip
# Functions that return values of the series they are given, and so never an infinite one.
FINITE = frozenset("highest lowest shift valuewhen".split())

_PLAIN = frozenset((int, float, bool, str, type(None)))
_WITH_LENGTH = frozenset((Series, Ohlcv))
_CHOSEN_FROM = frozenset((*LISTS, Series, TextSeries))
_HIDDEN = frozenset(("out",))  # parameters that make sense with NumPy only
_LONGEST_TEXT = 200
_DIVISIONS = frozenset(("mod", "mod_scalar"))
_PROFILES = frozenset(("profile", "profile_levels"))
_BY_CLOCK = frozenset(wallclock.__all__)
_YEAR_MS = 366 * 86_400_000


def names() -> list[str]:
    return list(ta.FUNCTIONS)


@dataclass(frozen=True)
class Declared:
    """What the signature of a function says."""

    kind: int | None  # of the language, where the result always has the same
    outputs: int
    windowed: bool  # takes a number of bars; what `ta.nz` and `ta.where` take is just a number
    hidden: frozenset[str]
    parameters: tuple[str, ...]
    per_bar: Mapping[str, int]  # lengths that may be series, and their places

    @classmethod
    def of(cls, function: Callable[..., Any]) -> "Declared":
        full = inspect.signature(function)
        result = full.return_annotation
        parts = get_args(result) if get_origin(result) is tuple else ()
        kind = SERIES_TUPLE if parts and all(part == Floats for part in parts) else None
        if result in (Floats, Bools):
            kind = FLOATS if result == Floats else CONDITIONS
        annotations = [parameter.annotation for parameter in full.parameters.values()]
        checks = checks_of(function) if hasattr(function, "arguments") else {}
        per_bar = {name for name, check in checks.items() if check.per_bar}
        return cls(
            kind,
            len(parts) or 1,
            any(int in (annotation, *get_args(annotation)) for annotation in annotations),
            _HIDDEN & full.parameters.keys(),
            tuple(name for name in full.parameters if name not in _HIDDEN),
            {name: place for place, name in enumerate(full.parameters) if name in per_bar},
        )


def declare(functions: Mapping[str, Callable[..., Any]]) -> Mapping[str, Declared]:
    return MappingProxyType({name: Declared.of(function) for name, function in functions.items()})


DECLARED = declare(ta.FUNCTIONS)  # read once, before any run


# Those that count bars. A change of a higher value, or an event in it, may well be asked for.
_EVENTS = {*_PROFILES, "change", "falling", "rising", "round", "shift", "valuewhen"}
# The kinds that functions say they return.
RESULTS: dict[str, int] = {
    name: said.kind for name, said in DECLARED.items() if said.kind is not None
} | _OF_SERIES
WINDOWS = frozenset(name for name, said in DECLARED.items() if said.windowed) - _EVENTS


def signature(name: str) -> inspect.Signature:
    """The parameters of a function as scripts may give them."""
    full = inspect.signature(ta.FUNCTIONS[name])
    shown = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in full.parameters.values()
        if parameter.name not in _HIDDEN
    ]
    return full.replace(parameters=shown, return_annotation=inspect.Signature.empty)


def usage(name: str) -> str:
    return f"write ta.{name}{signature(name)}"


def function(name: str, meter: Meter, bars: int) -> Callable[..., Any]:
    """The function as one run calls it, on a chart of so many bars."""
    compute = ta.FUNCTIONS[name]
    declared = DECLARED[name]
    outputs = declared.outputs
    rate, fixed = costs.RATES.get(name, costs.USUAL_RATE), costs.LONG_CALLS.get(name, costs.CALL)
    window = None if name in costs.FLAT or not declared.windowed else costs.WINDOW
    window = costs.SLOW_WINDOWS.get(name, window)
    # Given by name, so that no further value of a call is taken for it.
    hidden = dict.fromkeys(declared.hidden)
    per_bar = declared.per_bar
    by_window = costs.SORTED_WINDOW if name in costs.SORTED else None
    by_length = rate + (costs.LONGER if window else 1)
    divides, by_clock = name in _DIVISIONS, name in _BY_CLOCK
    by_content = _charge_rows if name in _PROFILES else None
    by_content = _charge_zones if name == "zone_life" else by_content
    variadic = "others" in declared.parameters
    finite = name in FINITE

    def call(*positional: Any, **named: Any) -> Any:
        for parameter in hidden.keys() & named.keys() if named else ():
            raise Fault("type", f"ta.{name} takes no argument {parameter!r}")
        values = (*positional, *named.values()) if named else positional
        kinds = {*map(type, values)}
        lengths = {len(value) for value in values if type(value) in _WITH_LENGTH}
        gives_list = False
        if lengths or not LISTS.isdisjoint(kinds):
            if not lengths:
                lengths = {len(value) for value in values if type(value) in LISTS}
                gives_list = bars not in lengths
            longest = max(lengths)
            meter.charge(fixed + longest * outputs * rate // costs.PARTS)
            if variadic and len(positional) > 1:
                further = costs.OPERAND + longest * rate // costs.PARTS
                meter.charge((len(positional) - 1) * further)
            if rate > 1:
                meter.charge(sum([value.breaks() for value in values if type(value) is Series]))
            if window is not None:
                meter.charge(longest * _longest_window(values, longest) // window)
            if per_bar and (named or Ohlcv in kinds or _has_series(positional, per_bar)):
                for series in _lengths(positional, named, declared, meter):
                    _charge_lengths(series, by_length, by_window, meter)
        else:
            meter.charge(costs.SCALARS.get(name, costs.SCALAR))
            if variadic and len(positional) > 2:
                meter.charge((len(positional) - 2) * costs.SCALAR_OPERAND)
        arguments = [_argument(value, lengths, meter, name) for value in positional]
        options = {key: _argument(value, lengths, meter, name) for key, value in named.items()}
        if str in kinds and by_clock:
            _charge_clock(arguments, options, meter)
        if divides and len(arguments) + len(options) > 1:
            _charge_division(arguments, options, meter)
        if by_content is not None:
            by_content(_bind(declared.parameters, arguments, options), meter)
        options.update(hidden)
        try:
            result = compute(*arguments, **options)
        except TaError as error:
            raise _refusal(name, error) from None
        except TypeError as error:
            if not _is_about_arguments(error, compute):
                raise
            raise _misuse(name, positional, named) from None
        if gives_list:
            return _as_list(_result(result, declared.kind, meter), meter)
        if finite and type(result) is np.ndarray and result.ndim:
            return Series(result, meter)
        return _result(result, declared.kind, meter)

    call.__name__ = name
    if name == "where":
        return _choose_texts(call, meter, bars)
    return shorten(name, call, meter)


# --------------------------------------------------------------------------------------- arguments


def _argument(value: Any, lengths: set[int], meter: Meter, name: str) -> Any:
    kind = type(value)
    if kind is Series:
        return value.array
    if kind is Ohlcv:
        return value.columns
    if kind in LISTS:
        array = array_of(value, None, meter)
        if lengths != {len(array)}:
            length = " and ".join(map(str, sorted({*lengths, len(array)})))
            message = f"the lists and series of a call are equally long, and these have {length}"
            raise Fault("value", f"ta.{name}: {message} values")
        return array
    if kind is str and len(value) > _LONGEST_TEXT:
        raise Fault("size", f"a text for ta has at most {_LONGEST_TEXT} characters")
    if kind not in _PLAIN:
        hint = "take its parts first, as in a, b, c = …" if kind is tuple else usage(name)
        raise Fault("type", f"ta.{name} takes series and numbers, not {a_type(value)}", hint)
    return value


def _longest_window(values: tuple[Any, ...], longest: int) -> int:
    """The longest window of a call; one of no length is refused, and costs as one of 1."""
    windows = [value for value in values if type(value) is int and value > 0]
    return max((min(window, longest) for window in windows), default=1)


def _has_series(positional: tuple[Any, ...], per_bar: Mapping[str, int]) -> bool:
    """Whether a length is a series, in a call without ohlcv and without names."""
    places = per_bar.values()
    return any(type(positional[p]) not in _PLAIN for p in places if p < len(positional))


def _lengths(
    positional: tuple[Any, ...],
    named: Mapping[str, Any],
    declared: Declared,
    meter: Meter,
) -> list[Any]:
    """The lengths of a call that are series, as arrays."""
    filled = arguments_for(declared.parameters, [type(value) is Ohlcv for value in positional])
    pairs = zip(positional, filled, strict=True)
    values = [value for value, names in pairs if names[0] in declared.per_bar]
    values += [value for parameter, value in named.items() if parameter in declared.per_bar]
    lists = [array_of(value, None, meter) for value in values if type(value) in LISTS]
    return lists + [value.array for value in values if type(value) is Series]


def _charge_lengths(lengths: Any, rate: int, by_window: int | None, meter: Meter) -> None:
    """A window for every bar costs a call of its own, and its own length."""
    known = np.nan_to_num(np.minimum(lengths, LONGEST), nan=0.0).clip(0, len(lengths))
    meter.charge(len(lengths) * costs.SLICE + int(known.sum()) * rate // costs.PARTS)
    if by_window is not None:
        meter.charge(int(np.square(known).sum()) // by_window)


def _charge_clock(arguments: list[Any], options: Mapping[str, Any], meter: Meter) -> None:
    """Wall clocks are looked up year by year, so times far apart cost more."""
    meter.charge(costs.CLOCK)
    for argument in (*arguments, *options.values()):
        times = getattr(argument, "time", argument)
        if isinstance(times, np.ndarray) and times.dtype.kind in "if" and len(times):
            known = times[np.isfinite(times)]
            span = float(known.max()) - float(known.min()) if len(known) else 0.0
            meter.charge(len(times) + int(min(span / _YEAR_MS, 1e6)) * 300)


def _charge_division(arguments: list[Any], options: Mapping[str, Any], meter: Meter) -> None:
    sides = (*arguments, *options.values())[:2]
    if all(type(side) in (int, float) or isinstance(side, np.ndarray) for side in sides):
        left, right = map(_as_float, sides)
        charge_division(left, right, meter)


def _bind(parameters: Iterable[str], arguments: list[Any], options: Mapping[str, Any]) -> Any:
    """What each parameter is given; a name is missing where the function will refuse the call."""
    are_bars = [hasattr(argument, "high") for argument in arguments]
    filled = zip(arguments, arguments_for(parameters, are_bars), are_bars, strict=True)
    given = dict(options)
    for argument, names, bars in filled:
        given |= {name: getattr(argument, name, None) if bars else argument for name in names}
    return given


def _charge_zones(given: Mapping[str, Any], meter: Meter) -> None:
    """Each zone is followed over the bars after it."""
    side, max_age = given.get("side"), given.get("max_age", 500)
    if isinstance(side, np.ndarray) and type(max_age) is int:
        followed = int(np.count_nonzero(side)) * min(max(max_age, 0), len(side))
        meter.charge(followed // costs.ZONE)


def _charge_rows(given: Mapping[str, Any], meter: Meter) -> None:
    """Each bar weighs on the rows it touches, and each session has rows of its own."""
    high, low, rows = given.get("high"), given.get("low"), given.get("rows")
    if type(rows) is not int or type(high) is not np.ndarray or type(low) is not np.ndarray:
        return  # the function refuses it
    if low.shape != high.shape:
        return
    anchor = np.asarray(given.get("anchor", False), np.bool_)
    fresh = anchor.copy() if anchor.shape == high.shape else np.zeros(len(high), np.bool_)
    fresh[:1] = True
    first = np.flatnonzero(fresh)
    meter.charge(int(costs.PROFILE * count_touched(high, low, first, max(rows, 0))))
    meter.charge(costs.PROFILE_ROW * max(rows, 0) * len(first))


def _as_float(value: Any) -> Any:
    """An int of any size as NumPy can compare it."""
    try:
        return float(value) if type(value) is int else value
    except OverflowError:
        return math.inf


def arguments_for(parameters: Iterable[str], is_ohlcv: Iterable[bool]) -> list[list[str]]:
    """The parameters that each value of a call fills: an ohlcv fills all the prices that follow.

    >>> arguments_for(["source", "high", "low", "n"], [False, True, False])
    [['source'], ['high', 'low'], ['n']]
    """
    left = list(parameters)
    filled = []
    for prices in is_ohlcv:
        names = [left.pop(0) if left else ""]
        while prices and names[0] in STORED and left and left[0] in STORED:
            names.append(left.pop(0))
        filled.append(names)
    return filled


# -------------------------------------------------------------------------------- refused arguments


def _refusal(name: str, error: TaError) -> Fault:
    text = re.sub(r"\bnan\b", "na", str(error)).replace("bars.close", "ohlcv.close")
    text = re.sub(r"not (<Bars|namespace\().*", "not an ohlcv", text, flags=re.DOTALL)
    return Fault("value", text.replace(" (float64)", ""), usage(name))


def _is_about_arguments(error: TypeError, function: Callable[..., Any]) -> bool:
    """Whether the function was given what it does not take; else the fault is in the function."""
    return str(error).startswith((f"{function.__name__}() ", f"{function.__qualname__}() "))


def _misuse(name: str, positional: tuple[Any, ...], named: Mapping[str, Any]) -> Fault:
    """What is wrong with the arguments of a call; an unknown name is reported first."""
    arguments = signature(name)
    for parameter in sorted(named.keys() - arguments.parameters.keys()):
        return Fault("type", f"ta.{name} takes no argument {parameter!r:.60}", usage(name))
    hint = usage(name)
    is_ohlcv = [type(value) is Ohlcv for value in positional]
    if "high" in arguments.parameters and not any(is_ohlcv):
        hint += ", where ohlcv may stand for the prices"
    try:
        filled = arguments_for(arguments.parameters, is_ohlcv)
        values = (value for value, names in zip(positional, filled, strict=True) for _ in names)
        arguments.bind(*values, **named)
    except TypeError as error:
        reason = str(error).replace("missing a required argument:", "is called without")
        reason = reason.replace("too many positional arguments", "is called with too many values")
        reason = re.sub(r"multiple values for argument (.+)", r"is given \1 twice", reason)
        return Fault("type", f"ta.{name} {reason}", hint)
    return Fault("type", f"ta.{name} cannot use these values", hint)


# ----------------------------------------------------------------------------------------- results


def _result(result: Any, declared: int | None, meter: Meter) -> Any:
    if isinstance(result, np.ndarray):
        if result.ndim == 0:
            return _result(result.item(), declared, meter)
        if result.dtype == np.float64 and any_true(infinite := np.isinf(result)):
            result = np.where(infinite, np.nan, result)
        return Series(result, meter)
    if isinstance(result, tuple):
        kind = FLOATS if declared == SERIES_TUPLE else None
        return tuple(_result(part, kind, meter) for part in result)
    if isinstance(result, np.generic):
        result = result.item()
    if declared in (FLOATS, SERIES_TUPLE) and type(result) in (int, bool):
        return float(result)
    return result


def _as_list(result: Any, meter: Meter) -> Any:
    """What was calculated on lists that are no series: na is None in a list."""
    if type(result) is tuple:
        return tuple(_as_list(part, meter) for part in result)
    if type(result) is not Series:
        return result
    meter.charge(len(result))
    return List([None if value != value else value for value in result.items()])  # noqa: PLR0124


# ------------------------------------------------------------------------------------------- texts


def _choose_texts(numeric: Callable[..., Any], meter: Meter, bars: int) -> Callable[..., Any]:
    """`ta.where`, which also chooses among texts: a colour for each bar."""

    def texts(condition: Any, a: Any, b: Any) -> TextSeries | List:
        long = [value for value in (condition, a, b) if type(value) in _CHOSEN_FROM]
        lengths = set(map(len, long)) or {bars}
        meter.charge(costs.TEXTS + max(lengths) // 8)
        if len(lengths) > 1:
            raise Fault("value", "ta.where: condition, a and b have to be equally long")
        mask = _argument(condition, lengths, meter, "where")
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise Fault("type", f"condition is a condition such as a > b, not {a_type(condition)}")
        columns = _text_column(a, "a", meter), _text_column(b, "b", meter)
        meter.charge(4 * sum(len(column.categories) for column in columns))
        chosen = TextColumn.where(mask, *columns)
        is_list = lengths != {bars} and not any(type(value) is Series for value in long)
        return List(chosen) if is_list else TextSeries(chosen, meter)

    def where(*positional: Any, **named: Any) -> Any:
        options = (*positional[1:], *named.values())
        if not any(type(option) in (str, TextSeries) or _has_texts(option) for option in options):
            return numeric(*positional, **named)
        try:
            return texts(*positional, **named)
        except TypeError as error:
            if not _is_about_arguments(error, texts):
                raise
            raise Fault("type", "ta.where takes a condition, a and b", usage("where")) from None

    return where


def _has_texts(value: Any) -> bool:
    return type(value) in LISTS and any(type(element) is str for element in value)


def _text_column(value: Any, name: str, meter: Meter) -> TextColumn:
    """The texts that a value stands for: its own for every bar, or one for all."""
    if type(value) is TextSeries:
        return value.texts
    texts = value if type(value) in LISTS else (value,)
    meter.charge(5 * len(texts))
    for text in texts:
        if text is not None and type(text) is not str:
            raise Fault("type", f"{name} holds {a_type(text)} beside texts", usage("where"))
        if text is not None and len(text) > _LONGEST_TEXT:
            raise Fault("size", f"a text for ta has at most {_LONGEST_TEXT} characters")
    return TextColumn.repeat(texts[0], 1) if len(texts) == 1 else TextColumn.encode(texts)
