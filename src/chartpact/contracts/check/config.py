"""Configuration: the values that a user may have customised, each checked and with its origin."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from chartpact import palette
from chartpact.checks import Unfit, flag, is_text, number, text
from chartpact.contracts.language.codecs import pattern_fault
from chartpact.contracts.language.document import suggestion
from chartpact.contracts.language.model import ConfigKey, PayloadField, misplaced_words
from chartpact.contracts.language.nodes import TICK_SIZE
from chartpact.contracts.language.values import CHART_KINDS, Kind, enum
from chartpact.problem import Problem

MAX_TEXT = 4096
# Every contract accepts a tick size; one that does not declare it takes the chart's.
IMPLIED_TICK_SIZE = ConfigKey.model_validate({"type": "number", "from": "chart.tick_size"})
UNREAD_TICK_SIZE = ConfigKey.model_validate({"type": "number", "default": None})

_ORIGINS = {
    "caller": "from the caller",
    "profile": "from the profile",
    "inputs": "from the study's inputs",
    "chart": "from the chart",
    "default": "the contract's default",
    "source": "the source does not tell",
    "cap": "the oldest lost something to the cap on objects",
}


class Setting(NamedTuple):
    """The value of a config key, and from where it was taken."""

    key: str
    value: Any
    origin: str  # caller, profile, inputs, chart, default, source where nobody knows it, or cap

    def __str__(self) -> str:
        return f"{self.key} = {json.dumps(self.value)} ({_ORIGINS[self.origin]})"

    def to_json(self) -> dict[str, Any]:
        return {"key": self.key, "value": self.value, "from": self.origin}


def kind_of(declared: ConfigKey | PayloadField) -> Kind:
    """The kind that a config key, or a field of a payload, has in expressions."""
    kind = enum(declared.options or ()) if declared.type == "choice" else Kind(declared.type)
    if declared.type == "list":
        return Kind("list", of=Kind("entry"))
    return kind.or_none() if declared.nullable else kind


def check(name: str, key: ConfigKey, value: Any) -> tuple[Any, str | None]:
    """The value in its canonical form, or what is wrong with it."""
    if value is None:
        return None, None if key.nullable else f"it must not be null; {describe(key)}"
    try:
        canonical = _canonical(key, value)
    except (ValueError, TypeError):
        return None, f"{value!r:.60} is not {describe(key)}"
    if key.type == "color" and canonical.endswith("00"):
        return None, f"{value!r} is fully transparent, so it can be seen nowhere"
    if key.type == "pattern" and (wrong := pattern_fault(canonical)) is not None:
        return None, wrong
    if name == TICK_SIZE and key.type == "number" and canonical <= 0:
        return None, f"{value!r} is not above 0"
    return canonical, None


def _canonical(key: ConfigKey, value: Any) -> Any:
    match key.type:
        case "color":
            return palette.color(value)
        case "number":
            plain = number(value)
            above = key.min is None or plain >= key.min
            if above and (key.max is None or plain <= key.max):
                return plain
        case "bool":
            return flag(value)
        case "choice" if is_text(value) and value in (key.options or ()):
            return value
        case "text" | "pattern" if len(text(value)) <= MAX_TEXT:
            return value
    raise Unfit(f"is not {describe(key)}", value)


_WORDS = {
    "color": "a colour #rrggbb",
    "bool": "true or false",
    "pattern": "a pattern",
    "text": "a text",
    "number": "a number",
}


def describe(key: ConfigKey) -> str:
    """The values that a key takes, in words."""
    if key.type == "choice":
        return f"one of {', '.join(key.options or ())}"
    limits = [f"at least {key.min:g}"] if key.min is not None else []
    limits += [f"at most {key.max:g}"] if key.max is not None else []
    number = key.type == "number" and limits
    return f"a number of {' and '.join(limits)}" if number else _WORDS[key.type]


def declaration_faults(name: str, key: ConfigKey) -> list[tuple[str, str, str]]:
    """The faults of a key's declaration: word, message, hint."""
    faults = misplaced_words(key)
    if key.options is not None and len({*key.options}) < max(len(key.options), 1):
        faults.append(("options", "options are different names, at least one", "[a, b]"))
    if key.from_ is not None:
        kind = CHART_KINDS.get(key.chart_fact or "")
        if kind is None:
            known = [f"chart.{name}" for name in CHART_KINDS]
            faults.append(("from", f"{key.from_!r} is unknown", suggestion(key.from_, known)))
        elif kind.name != {"choice": "enum"}.get(key.type, key.type):
            faults.append(("from", f"{key.from_} is {kind}, not {describe(key)}", "choose another"))
    if key.has_default and key.default is not None:
        wrong = check(name, key, key.default)[1]
        if wrong is not None:
            faults.append(("default", wrong, f"write {describe(key)}, or null"))
    return faults


def fault(path: str, message: str) -> Problem:
    """A configuration that does not fit: the key, or the place, and why."""
    return Problem("config", message, path=path)


def _input_values(name: str, key: ConfigKey, inputs: Mapping[str, Any]) -> list[Any]:
    """The values of a key among a study's inputs.

    They are those of the input with the key's name, else of the inputs with its title.

    >>> _input_values("ext_hi_color", ConfigKey(type="text"), {"Ext Hi Color": "red", "Width": 2})
    ['red']
    """
    if inputs.get(name) is not None:
        return [inputs[name]]
    titles = set(map(_letters, (name, *key.input)))
    values = [value for title, value in inputs.items() if _letters(title) in titles]
    return [value for value in values if value is not None]


def _letters(title: object) -> str:
    """A title as it is compared: without case, spaces and signs."""
    return "".join(filter(str.isalnum, str(title).casefold()))


def resolve(
    keys: Mapping[str, ConfigKey],
    profiles: Mapping[str, Mapping[str, Any]],
    overrides: Mapping[str, Any],
    profile: str | None,
    inputs: Mapping[str, Any],
    chart: Mapping[str, Any],
) -> tuple[dict[str, Setting], list[Problem]]:
    """Every key's value: the caller's, the profile's, the study's, the chart's, or the default."""
    faults: list[Problem] = []
    chosen: Mapping[str, Any] = {}
    if profile is not None:
        if profile not in profiles:
            hint = suggestion(profile, list(profiles)) if profiles else "the contract has none"
            faults.append(fault("profiles", f"there is no profile {profile!r:.60}; {hint}"))
        chosen = profiles.get(profile, {})
    for name in overrides:
        if name not in keys:
            hint = suggestion(str(name), list(keys))
            faults.append(fault("config", f"there is no key {name!r:.60}; {hint}"))
    settings = {}
    for name, key in keys.items():
        if name in overrides:
            value, origin = overrides[name], "caller"
        elif name in chosen:
            value, origin = chosen[name], "profile"
        elif (input_values := _input_values(name, key, inputs)) != []:
            value, origin = input_values[0], "inputs"
            if any(other != value for other in input_values[1:]):
                message = f"the study has several inputs that are called like {name}"
                faults.append(fault(f"config.{name}", f"{message}; give it"))
                continue
        elif (fact := chart.get(key.chart_fact or "")) is not None:
            value, origin = fact, "chart"
        elif key.has_default:
            value, origin = key.default, "default"
        else:
            where = f", and {key.from_} is not known" if key.from_ else ""
            message = f"{name} was not given{where}; it is {describe(key)}"
            faults.append(fault(f"config.{name}", message))
            continue
        canonical, wrong = check(name, key, value)
        if wrong is not None:
            whose = {"inputs": "the study's input ", "chart": "the chart's value "}
            faults.append(fault(f"config.{name}", f"{whose.get(origin, '')}{wrong}"))
            continue
        settings[name] = Setting(name, canonical, origin)
    return settings, faults
