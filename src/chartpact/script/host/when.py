"""`ta.when`: a calculation over those bars alone on which a condition holds."""

from collections.abc import Callable
from typing import Any

import numpy as np

from chartpact.script.errors import OPERAND, Fault
from chartpact.script.host.ohlcv import Call
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import (
    OPERATION,
    Array,
    Series,
    TextSeries,
    array_of,
    check_lengths,
)
from chartpact.script.runtime.values import LISTS, a_type
from chartpact.textcolumn import TextColumn

NAME = "when"
USAGE = "condition, function, *series"
_HINT = "as in ta.when(up, lambda s: ta.sma(s, 5), ohlcv.close)"


def function(meter: Meter, call: Call) -> Callable[..., Any]:
    """The function as one run calls it."""

    def when(*given: Any, **named: Any) -> Any:
        """What a function gives of series that have only the bars on which a condition holds.

        The series are shortened to those bars, the function is called with them, and its series,
        or each of a tuple, is laid back on the chart: na on the other bars, False of a condition.
        So an average of five counts the last five bars on which the condition held. It is also
        what Pine does with a `ta` call inside `if`: the call remembers only the bars it ran on.
        """
        if len(given) < 3 or named:
            message = "ta.when takes a condition, a function and the series it is called with"
            raise Fault("type", message, f"write ta.{NAME}({USAGE})")
        condition, calculate, *series = given
        mask = _read(condition, meter)
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            message = f"condition is a condition such as a > b, not {a_type(condition)}"
            raise Fault("type", message, _HINT)
        bars = np.flatnonzero(mask)
        shortened = [_shorten(one, bars, len(mask), meter) for one in series]
        return _lay(call(calculate, *shortened), bars, len(mask), meter)

    return when


def _read(value: Any, meter: Meter) -> Array | TextColumn | None:
    """The values of a series or a list; None of anything else."""
    if type(value) is TextSeries:
        return value.texts
    if type(value) in LISTS:
        try:
            return array_of(value, None, meter)
        except Fault as error:
            if error.cause != OPERAND:
                raise
            return None
    return value.array if type(value) is Series else None


def _shorten(value: Any, bars: Array, length: int, meter: Meter) -> Series | TextSeries:
    meter.charge(OPERATION + length // 8)
    values = _read(value, meter)
    if values is None:
        message = f"ta.when calls its function with series, and this is {a_type(value)}"
        raise Fault("type", message, _HINT)
    check_lengths(length, len(values))
    if isinstance(values, TextColumn):
        return TextSeries(values.take(bars), meter)
    return Series(values[bars], meter)


def _lay(calculated: Any, bars: Array, length: int, meter: Meter) -> Any:
    """A series of the bars where the condition holds, or a tuple of some, on all bars."""
    if type(calculated) is tuple:
        return tuple(_lay(part, bars, length, meter) for part in calculated)
    meter.charge(OPERATION + length // 8)
    values = _read(calculated, meter)
    if values is None or len(values) != len(bars):
        what = a_type(calculated)
        if values is not None:
            what += f" of {len(values)} bars, where the condition holds on {len(bars)}"
        raise Fault(
            "type", f"the function of ta.when gives a series of its bars, not {what}", _HINT
        )
    if isinstance(values, TextColumn):
        index: dict[str | None, int] = {None: 0}
        codes = np.zeros(length, np.int64)
        codes[bars] = values.recode(index)
        return TextSeries(TextColumn(index, codes), meter)
    is_condition = values.dtype == np.bool_
    laid = np.zeros(length, np.bool_) if is_condition else np.full(length, np.nan)
    laid[bars] = values
    return Series(laid, meter)
