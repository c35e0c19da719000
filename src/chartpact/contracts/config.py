"""Configuration: what a user may have customised, where each value came from, whether it fits."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from chartpact import palette
from chartpact.contracts import patterns
from chartpact.contracts.errors import suggestion
from chartpact.contracts.kinds import BOOL, COLOR, NUMBER, PATTERN, TEXT, Kind, enum
from chartpact.contracts.model import ConfigKey
from chartpact.contracts.scope import CHART_KINDS

TICK_SIZE = "tick_size"
MAX_TEXT = 4096
# Every contract accepts a tick size; one that does not declare it takes the chart's.
IMPLIED_TICK_SIZE = ConfigKey.model_validate({"type": "number", "from": "chart.tick_size"})
UNREAD_TICK_SIZE = ConfigKey.model_validate({"type": "number", "default": None})


def kind_of(key: ConfigKey) -> Kind:
    """The kind that a key has in expressions."""
    plain = {"color": COLOR, "number": NUMBER, "bool": BOOL, "text": TEXT, "pattern": PATTERN}
    kind = enum(key.options or ()) if key.type == "choice" else plain[key.type]
    return kind.or_none() if key.nullable else kind


def check(name: str, key: ConfigKey, value: Any) -> tuple[Any, str | None]:
    """The value in its canonical form, or what is wrong with it."""
    if value is None:
        return None, None if key.nullable else f"it must not be null; {wanted(key)}"
    if not _fits(key, value):
        return None, f"{value!r:.60} is not {wanted(key)}"
    if key.type == "color":
        canonical = palette.color(value)
        if canonical.endswith("00"):
            return None, f"{value!r} is fully transparent, so it can be seen nowhere"
        return canonical, None
    if key.type == "pattern" and (fault := patterns.fault(value)) is not None:
        return None, fault
    if name == TICK_SIZE and key.type == "number" and value <= 0:
        return None, f"{value!r} is not above 0"
    return value, None


def _fits(key: ConfigKey, value: Any) -> bool:
    match key.type:
        case "color":
            return _is_color(value)
        case "number":
            number = isinstance(value, int | float) and not isinstance(value, bool)
            return number and _finite(value) and _between(key.min, value, key.max)
        case "bool":
            return isinstance(value, bool)
        case "choice":
            return isinstance(value, str) and value in (key.options or ())
    return isinstance(value, str) and len(value) <= MAX_TEXT


def _is_color(value: Any) -> bool:
    try:
        palette.color(value)
    except (ValueError, TypeError):
        return False
    return True


def _between(low: float | None, value: float, high: float | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def wanted(key: ConfigKey) -> str:
    """What a key takes, in words."""
    match key.type:
        case "color":
            return "a colour #rrggbb"
        case "bool":
            return "true or false"
        case "choice":
            return f"one of {', '.join(key.options or ())}"
        case "pattern":
            return "a pattern"
        case "text":
            return "a text"
    ends = [f"at least {key.min:g}" if key.min is not None else "",
            f"at most {key.max:g}" if key.max is not None else ""]  # fmt: skip
    told = " and ".join(filter(None, ends))
    return f"a number of {told}" if told else "a number"


def faults(name: str, key: ConfigKey) -> list[tuple[str, str, str]]:
    """What is wrong with a key's declaration: word, message, hint."""
    found = []
    if (key.type == "choice") != (key.options is not None):
        found.append(("options", "options belong to a choice, and a choice has them", "[a, b]"))
    if key.options is not None and (not key.options or len(set(key.options)) < len(key.options)):
        found.append(("options", "options are different names, at least one", "[a, b]"))
    if key.type != "number" and (key.min is not None or key.max is not None):
        found.append(("min", f"a {key.type} has no min or max", "remove it"))
    if key.from_ is not None:
        where, _, field = key.from_.partition(".")
        kind = CHART_KINDS.get(field) if where == "chart" else None
        if kind is None:
            known = [f"chart.{each}" for each in CHART_KINDS]
            found.append(("from", f"{key.from_!r} is unknown", suggestion(key.from_, known)))
        elif kind.name != {"choice": "enum"}.get(key.type, key.type):
            found.append(("from", f"{key.from_} is {kind}, not {wanted(key)}", "choose another"))
    if key.has_default and key.default is not None:
        fault = check(name, key, key.default)[1]
        if fault is not None:
            found.append(("default", fault, f"write {wanted(key)}, or null"))
    return found


class Setting(NamedTuple):
    """The value of a key, and from whom it came."""

    value: Any
    origin: str  # caller, profile, inputs, chart or default


@dataclass(frozen=True)
class Fault:
    """A configuration that does not fit: the key, or the place, and why."""

    path: str
    message: str


def resolve(
    keys: Mapping[str, ConfigKey],
    profiles: Mapping[str, Mapping[str, Any]],
    given: Mapping[str, Any],
    profile: str | None,
    inputs: Mapping[str, Any],
    chart: Mapping[str, Any],
) -> tuple[dict[str, Setting], list[Fault]]:
    """Every key's value: the caller's, the profile's, the study's, the chart's, or the default."""
    found: list[Fault] = []
    chosen: Mapping[str, Any] = {}
    if profile is not None:
        if profile not in profiles:
            hint = suggestion(profile, list(profiles)) if profiles else "the contract has none"
            found.append(Fault("profiles", f"there is no profile {profile!r:.60}; {hint}"))
        chosen = profiles.get(profile, {})
    for name in given:
        if name not in keys:
            hint = suggestion(str(name), list(keys))
            found.append(Fault("config", f"there is no key {name!r:.60}; {hint}"))
    settings = {}
    for name, key in keys.items():
        setting = _setting(name, key, given, chosen, inputs, chart)
        if setting is None:
            found.append(Fault(f"config.{name}", _lacking(name, key)))
            continue
        value, fault = check(name, key, setting.value)
        if fault is not None:
            told = {"inputs": "the study's input", "chart": "the chart's value"}
            where = told.get(setting.origin, "")
            found.append(Fault(f"config.{name}", f"{where} {fault}".strip()))
        settings[name] = Setting(value, setting.origin)
    return settings, found


def _setting(
    name: str,
    key: ConfigKey,
    given: Mapping[str, Any],
    chosen: Mapping[str, Any],
    inputs: Mapping[str, Any],
    chart: Mapping[str, Any],
) -> Setting | None:
    if name in given:
        return Setting(given[name], "caller")
    if name in chosen:
        return Setting(chosen[name], "profile")
    if inputs.get(name) is not None:
        return Setting(inputs[name], "inputs")
    if key.from_ is not None and chart.get(key.from_.partition(".")[2]) is not None:
        return Setting(chart[key.from_.partition(".")[2]], "chart")
    if key.has_default:
        return Setting(key.default, "default")
    return None


def _lacking(name: str, key: ConfigKey) -> str:
    where = f", and {key.from_} is not known" if key.from_ else ""
    return f"{name} was not given{where}; it is {wanted(key)}"
