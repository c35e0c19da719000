"""What the host gives to scripts: `ohlcv`, `params` and `chart`; `ta`, `text` and `payload`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from chartpact.script.host import payload, ta, text
from chartpact.script.runtime.formatting import many_digits
from chartpact.script.runtime.meter import Meter

# Steps of a call, what it makes of its arguments not counted.
COSTS = {"text.number": 42, "text.time": 160, "payload.json": 60, "payload.label": 40}

_WORD = 64
_USUAL, _LONG = 32, 200  # characters of a format and a time zone; longer formats cost more


def namespaces() -> dict[str, Iterable[str]]:
    """The namespaces of the language and what each holds."""
    return {"ta": ta.names(), "text": list(text.FUNCTIONS), "payload": payload.NAMES}


def results() -> dict[str, int]:
    """The kinds of what their functions give back, by "space.name"."""
    return {f"ta.{name}": kinds for name, kinds in ta.results().items()}


def functions(uses: Iterable[str], meter: Meter, bars: int) -> Mapping[str, Callable[..., Any]]:
    """The functions a script uses, under the names its compiled code calls them by."""
    payloads = payload.functions(meter)
    found: dict[str, Callable[..., Any]] = {}
    for each in uses:
        space, name = each.split(".")
        if space == "ta":
            function = ta.function(name, meter, bars)
        else:
            table = payloads if space == "payload" else text.FUNCTIONS
            function = _charged(table[name], meter, COSTS[each])
        found[f"_{space}_{name}"] = function
    return found


def _large(number: float) -> int:
    """What the digits of a large number cost."""
    if type(number) is int:
        return number.bit_length() // 2 if number.bit_length() > _WORD else 0
    return many_digits(number)


def _charged(function: Callable[..., Any], meter: Meter, cost: int) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        texts = sum(len(each) for each in (*given, *named.values()) if type(each) is str)
        meter.charge(cost + 9 * max(min(texts, _LONG) - _USUAL, 0))
        if given and type(given[0]) in (int, float):
            meter.charge(_large(given[0]))
        return called(function, given, named)

    call.__name__ = function.__name__
    return call


def called(function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    """What the function gives; a TypeError here is of arguments it does not have."""
    return function(*given, **named)
