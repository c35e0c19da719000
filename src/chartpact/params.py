"""Typed parameters: what an indicator may be asked with, and the check of what was given."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from chartpact import palette
from chartpact.clock.timeframe import Timeframe
from chartpact.indicators.errors import IndicatorError

TYPES = "int float bool str choice color session timeframe source symbol calendar".split()
SOURCES = "open high low close hl2 hlc3 ohlc4 hlcc4 volume".split()

Value = Any


@dataclass(frozen=True)
class Param:
    """One parameter; `aliases` are other names it answers to."""

    name: str
    type: str
    default: Value = None
    min: float | None = None
    max: float | None = None
    step: float | None = None
    options: tuple[Value, ...] | None = None
    group: str | None = None
    desc: str = ""
    aliases: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Value]:
        data: dict[str, Value] = {
            "name": self.name,
            "type": self.type,
            "default": self.default,
            "min": self.min,
            "max": self.max,
            "options": None if self.options is None else list(self.options),
            "desc": self.desc,
        }
        if self.step is not None:
            data["step"] = self.step
        if self.group is not None:
            data["group"] = self.group
        return data

    @classmethod
    def from_json(cls, data: Mapping[str, Value]) -> "Param":
        """The parameter that `to_json` wrote."""
        options = data.get("options")
        return cls(**{**data, "options": None if options is None else tuple(options)})


def resolve(params: Sequence[Param], given: Mapping[str, Value], owner: str) -> dict[str, Value]:
    """Every parameter's value, the given ones checked and the others at their default.

    Values may be texts, as a command line hands them over.

    >>> resolve([Param("period", "int", 14, min=1, aliases=("length",))], {"length": "7"}, "rsi")
    {'period': 7}
    """
    by_name = {alias: param for param in params for alias in (param.name, *param.aliases)}
    values = {param.name: param.default for param in params}
    asked: dict[str, str] = {}
    for name, value in given.items():
        if name not in by_name:
            raise _unknown(name, params, owner)
        param = by_name[name]
        if param.name in asked:
            raise IndicatorError(
                "value",
                f"{owner}: {asked[param.name]!r} and {name!r} are the same parameter",
                f"give {param.name!r} once",
                parameter=param.name,
            )
        asked[param.name] = name
        values[param.name] = check(param, value, owner)
    return values


def check(param: Param, value: Value, owner: str) -> Value:
    """The value in the parameter's own type and range, or an error that says what is allowed."""
    if value is None and param.default is None:
        return None
    reader = _READERS.get(param.type, _text)
    try:
        typed = reader(value)
    except (TypeError, ValueError, OverflowError):
        wanted = f"is not {_WANTED.get(param.type, 'a text')}"
        raise _refused("type", param, value, owner, wanted) from None
    if param.options is not None:
        for option in param.options:
            if typed == option or (isinstance(value, str) and value == str(option)):
                return option
        near = get_close_matches(str(typed).lower(), [str(each) for each in param.options], 1, 0.5)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise _refused("value", param, value, owner, "is none of its choices", meant)
    if isinstance(typed, int | float) and not isinstance(typed, bool):
        low, high = (-math.inf if param.min is None else param.min), param.max
        if typed < low or (high is not None and typed > high):
            raise _refused("value", param, value, owner, "is out of range")
    return typed


def _refused(
    kind: str, param: Param, value: Value, owner: str, why: str, meant: str = ""
) -> IndicatorError:
    may = allowed(param)
    return IndicatorError(
        kind,
        f"{owner}: {param.name}={value!r:.60} {why}",
        f"{param.name} takes {may}{meant}",
        parameter=param.name,
        allowed=may,
    )


def allowed(param: Param) -> str:
    """What the parameter takes, in words.

    >>> allowed(Param("period", "int", 14, min=1, max=5000))
    'a whole number from 1 to 5000'
    """
    if param.options is not None:
        return "one of " + ", ".join(str(option) for option in param.options)
    wanted = _WANTED.get(param.type, "a text")
    if param.min is not None and param.max is not None:
        return f"{wanted} from {param.min:g} to {param.max:g}"
    if param.min is not None:
        return f"{wanted} of at least {param.min:g}"
    if param.max is not None:
        return f"{wanted} of at most {param.max:g}"
    return wanted


def _unknown(name: str, params: Sequence[Param], owner: str) -> IndicatorError:
    by_name = {alias: param for param in params for alias in (param.name, *param.aliases)}
    near = get_close_matches(name.lower(), by_name, 1, 0.5)
    if not params:
        hint = "it takes no parameters"
    elif near:
        meant = by_name[near[0]]
        known = ", ".join(each.name for each in params)
        hint = f"did you mean {meant.name!r}, {allowed(meant)}? it takes {known}"
    else:
        hint = "it takes " + "; ".join(f"{each.name}: {allowed(each)}" for each in params)
    return IndicatorError("name", f"{owner} has no parameter {name!r}", hint, parameter=name)


def _int(value: Value) -> int:
    if isinstance(value, bool):
        raise TypeError
    if isinstance(value, float):
        if not value.is_integer():
            raise ValueError
        return int(value)
    if isinstance(value, str) and not re.fullmatch(r"[+-]?[0-9]{1,18}", value.strip()):
        raise ValueError
    return int(value)


def _float(value: Value) -> float:
    if isinstance(value, bool) or (isinstance(value, str) and "_" in value):
        raise TypeError
    number = float(value)
    if not math.isfinite(number):
        raise ValueError
    return number


def _bool(value: Value) -> bool:
    if isinstance(value, bool):
        return value
    words = {"true": True, "yes": True, "on": True, "1": True}
    words |= {"false": False, "no": False, "off": False, "0": False}
    if isinstance(value, str) and value.strip().lower() in words:
        return words[value.strip().lower()]
    raise TypeError


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _color(value: Value) -> str:
    return palette.color(value)


def _session(value: Value) -> str:
    if isinstance(value, str) and re.fullmatch(
        r"24x7|\d{4}-\d{4}(,\d{4}-\d{4})*(:[1-7]+)?", value.strip()
    ):
        return value.strip()
    raise ValueError


def _timeframe(value: Value) -> str:
    return str(Timeframe.parse(value))


def _source(value: Value) -> str:
    if value in SOURCES:
        return str(value)
    raise ValueError


def _choice(value: Value) -> Value:
    return value


_READERS = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "str": _text,
    "choice": _choice,
    "color": _color,
    "session": _session,
    "timeframe": _timeframe,
    "source": _source,
    "symbol": _text,
    "calendar": _choice,
}
_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "color": "a colour (#rrggbb, #rrggbbaa or a name)",
    "session": "a session such as 0930-1600",
    "timeframe": "a timeframe such as 5m, 4h or 1D",
    "source": f"a price series ({', '.join(SOURCES)})",
    "symbol": "a symbol",
    "calendar": "a calendar",
}
