"""Typed parameters: how an indicator declares them, and how given values are checked."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from chartpact import checks, palette
from chartpact.clock.sessions import Session
from chartpact.clock.timeframe import Timeframe
from chartpact.prices import SOURCES
from chartpact.problem import Failure, Problem, did_you_mean

Value = Any

_RARE = ("step", "group", "inline", "tooltip")  # fields that few parameters have


class IndicatorError(Failure, ValueError):
    """One indicator cannot be asked for in this way, or cannot be drawn."""


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
    inline: str | None = None  # parameters of one text stand in one row
    tooltip: str | None = None
    desc: str = ""
    aliases: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Value]:
        names = ("name", "type", "default", "min", "max", "options", "desc")
        rare = [name for name in _RARE if getattr(self, name) is not None]
        data = {name: getattr(self, name) for name in (*names, *rare)}
        return data if self.options is None else {**data, "options": list(self.options)}

    @classmethod
    def from_json(cls, data: Mapping[str, Value]) -> "Param":
        """The parameter that `to_json` wrote."""
        options = data.get("options")
        return cls(**{**data, "options": None if options is None else tuple(options)})


def resolve(params: Sequence[Param], given: Mapping[str, Value], owner: str) -> dict[str, Value]:
    """The value of every parameter: the given ones checked, the others at their default.

    Values may be texts, as a command line passes them.

    >>> resolve([Param("period", "int", 14, min=1, aliases=("length",))], {"length": "7"}, "rsi")
    {'period': 7}
    """
    values = {param.name: param.default for param in params}
    if not given:
        return values
    by_name = _by_name(params)
    spelling: dict[str, str] = {}  # the name or alias that each parameter was given by
    for name, value in given.items():
        if name not in by_name:
            raise _unknown(name, params, owner)
        param = by_name[name]
        if param.name in spelling:
            message = f"{owner}: {spelling[param.name]!r} and {name!r} are the same parameter"
            details = {"parameter": param.name}
            raise IndicatorError(
                Problem("value", message, f"give {param.name!r} once", details=details)
            )
        spelling[param.name] = name
        values[param.name] = check(param, value, owner)
    return values


def check(param: Param, value: Value, owner: str) -> Value:
    """The value in the parameter's own type and range, or an error that says what is allowed."""
    if value is None and param.default is None:
        return None
    read, wanted = _TYPES.get(param.type, _TYPES["str"])
    try:
        typed = read(value)
    except (TypeError, ValueError, OverflowError):
        raise _refusal("type", param, value, owner, f"is not {wanted}") from None
    if param.options is not None:
        for option in param.options:
            if typed == option or (isinstance(value, str) and value == str(option)):
                return option
        question = did_you_mean(str(typed), map(str, param.options), before="; ")
        raise _refusal("value", param, value, owner, "is none of its choices", question)
    if isinstance(typed, int | float) and not isinstance(typed, bool):
        low, high = (-math.inf if param.min is None else param.min), param.max
        if typed < low or (high is not None and typed > high):
            raise _refusal("value", param, value, owner, "is out of range")
    return typed


def _by_name(params: Sequence[Param]) -> dict[str, Param]:
    return {name: param for param in params for name in (param.name, *param.aliases)}


def _refusal(
    kind: str, param: Param, value: Value, owner: str, reason: str, question: str = ""
) -> IndicatorError:
    message = f"{owner}: {param.name}={checks.shown(value)} {reason}"
    hint = f"{param.name} takes {allowed(param)}{question}"
    details = {"parameter": param.name, "allowed": allowed(param)}
    return IndicatorError(Problem(kind, message, hint, details=details))


def allowed(param: Param) -> str:
    """The values a parameter takes, in words.

    >>> allowed(Param("period", "int", 14, min=1, max=5000))
    'a whole number from 1 to 5000'
    """
    if param.options is not None:
        return "one of " + ", ".join(str(option) for option in param.options)
    _, wanted = _TYPES.get(param.type, _TYPES["str"])
    if param.min is not None and param.max is not None:
        return f"{wanted} from {param.min:g} to {param.max:g}"
    if param.min is not None:
        return f"{wanted} of at least {param.min:g}"
    if param.max is not None:
        return f"{wanted} of at most {param.max:g}"
    return wanted


def _unknown(name: str, params: Sequence[Param], owner: str) -> IndicatorError:
    by_name = _by_name(params)
    question = did_you_mean(
        name, by_name, show=lambda near: f"{by_name[near].name!r}, {allowed(by_name[near])}"
    )
    if not params:
        hint = "it takes no parameters"
    elif question:
        hint = f"{question} it takes {', '.join(known.name for known in params)}"
    else:
        hint = "it takes " + "; ".join(f"{known.name}: {allowed(known)}" for known in params)
    message = f"{owner} has no parameter {name!r}"
    return IndicatorError(Problem("name", message, hint, details={"parameter": name}))


# ----------------------------------------------------------------- how a value of each type is read


def _read_int(value: Value) -> int:
    if isinstance(value, str):
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", value.strip()):
            raise ValueError
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return checks.whole(value)


def _read_float(value: Value) -> float:
    if isinstance(value, str):
        if "_" in value:
            raise ValueError
        value = float(value)
    return float(checks.number(value))


def _read_bool(value: Value) -> bool:
    word = value.strip().lower() if isinstance(value, str) else ""
    return _FLAGS[word] if word in _FLAGS else checks.flag(value)


_FLAGS = {"true": True, "yes": True, "on": True, "1": True}
_FLAGS |= {"false": False, "no": False, "off": False, "0": False}


def _read_session(value: Value) -> str:
    session = checks.text(value).strip()
    Session.parse(session)
    return session


def _read_source(value: Value) -> str:
    if value not in SOURCES:
        raise ValueError
    return str(value)


def _read_time(value: Value) -> int:
    """UTC milliseconds; a text may be ISO 8601, in UTC unless it says otherwise."""
    if not isinstance(value, str) or value.strip().isdecimal():
        return _read_int(value)
    moment = datetime.fromisoformat(checks.text(value).strip())
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return (moment - _EPOCH) // timedelta(milliseconds=1)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


# Each type of parameter: how its values are read, and how they are called in messages.
_TYPES: dict[str, tuple[Callable[[Value], Value], str]] = {
    "int": (_read_int, "a whole number"),
    "float": (_read_float, "a number"),
    "bool": (_read_bool, "true or false"),
    "str": (checks.text, "a text"),
    "choice": (lambda value: value, "a text"),
    "color": (palette.color, "a colour (#rrggbb, #rrggbbaa or a name)"),
    "session": (_read_session, "a session such as 0930-1600"),
    "timeframe": (lambda value: str(Timeframe.parse(value)), "a timeframe such as 5m, 4h or 1D"),
    "source": (_read_source, f"a price series ({', '.join(SOURCES)})"),
    "symbol": (checks.text, "a symbol"),
    "calendar": (checks.text, "a calendar"),
    "time": (_read_time, "a time (UTC milliseconds, or a text such as 2024-01-31T09:30Z)"),
    "price": (_read_float, "a price"),
}
TYPES = list(_TYPES)
