"""What scripts see: `ohlcv`, `params`, `chart`; `ta`, `math`, `color`, `text` and `payload`."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from chartpact.script.host import colors, maths, ohlcv, payload, ta, text, when
from chartpact.script.runtime.formatting import digit_steps
from chartpact.script.runtime.meter import Meter

# The steps of a call, without what depends on its arguments.
COSTS = {"text.number": 58, "text.time": 175, "payload.json": 90, "payload.label": 40}

# The kinds of what host functions return, by names such as "ta.ema".
RESULTS: Mapping[str, int] = MappingProxyType(
    {
        f"{space}.{name}": kinds
        for space, of in {"ta": ta.RESULTS, "math": maths.RESULTS}.items()
        for name, kinds in of.items()
    }
)

_WORD_BITS = 64
_NUMBER = 24  # steps of text.number(x, decimals) of a float
_USUAL, _LONG = 32, 200  # characters of a format and a time zone; longer formats cost more


def namespaces() -> dict[str, Iterable[str]]:
    """The namespaces of the language, with the names of their functions."""
    return {
        "ta": [*ta.names(), when.NAME],
        "math": maths.NAMES,
        "color": colors.NAMES,
        "text": list(text.FUNCTIONS),
        "payload": payload.NAMES,
    }


def windows() -> frozenset[str]:
    """The host functions that look back over a number of bars, by names such as "ta.ema"."""
    return frozenset(f"ta.{name}" for name in ta.WINDOWS)


def functions(uses: Iterable[str], meter: Meter, bars: int, call: ohlcv.Call) -> Mapping[str, Any]:
    """What a script uses of the namespaces, under the names in its compiled code.

    `call` is how the run calls a function of the script.
    """
    payloads = payload.functions(meter)
    table: dict[str, Any] = {}
    for use in uses:
        space, name = use.split(".")
        if use == f"ta.{when.NAME}":
            function = when.function(meter, call)
        elif space == "ta":
            function = ta.function(name, meter, bars)
        elif space == "math":
            function = maths.function(name, meter)
        elif space == "color":
            function = colors.function(name, meter)
        else:
            functions = payloads if space == "payload" else text.FUNCTIONS
            function = _charge_calls(functions[name], meter, COSTS[use])
        table[f"_{space}_{name}"] = function
    return table


def _charge_calls(function: Callable[..., Any], meter: Meter, cost: int) -> Callable[..., Any]:
    is_number = function is text.number

    def call(*arguments: Any, **named: Any) -> Any:
        if is_number and len(arguments) == 2 and not named and type(arguments[0]) is float:
            meter.charge(_NUMBER + digit_steps(arguments[0]))
            return function(*arguments)
        values = (*arguments, *named.values())
        chars = sum(len(value) for value in values if type(value) is str)
        meter.charge(cost + 9 * max(min(chars, _LONG) - _USUAL, 0))
        if arguments and type(arguments[0]) in (int, float):
            meter.charge(_number_steps(arguments[0]))
        return invoke(function, arguments, named)

    call.__name__ = function.__name__
    return call


def _number_steps(number: float) -> int:
    """The steps that the digits of a large number cost."""
    if type(number) is int:
        return number.bit_length() // 2 if number.bit_length() > _WORD_BITS else 0
    return digit_steps(number)


def invoke(
    function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]
) -> Any:
    """Calls a function; a TypeError raised in this very frame is about its arguments."""
    return function(*arguments, **named)
