"""What PARAMS and META may say, value by value.

The check of a source reads them from its literals, and the sandbox from what a child says.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from chartpact import checks, drawing
from chartpact.params import TYPES, Param
from chartpact.params import check as check_value
from chartpact.prices import SOURCES
from chartpact.problem import Failure, did_you_mean
from chartpact.script.errors import Fault

MOST_PARAMS = 200
MOST_OPTIONS = 200
MOST_TEXT = 1_000
LARGEST_INT = 2**53
LARGEST_BOUND = 1e15

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_NUMERIC = ("int", "float", "price")
_UNSET = ("symbol", "calendar", "time", "price")  # types that need no default
_ALWAYS_SET = ("bool", "choice", "source")  # types of which the default cannot be None
CATEGORIES = ("overlay", "panel", "external")
CAPS = {f"max_{channel}_count": cap for channel, cap in drawing.CAPS.items()}
META_KEYS: Mapping[str, type] = {
    "title": str,
    "short_title": str,
    "description": str,
    "category": str,
    "overlay": bool,
    "needs_volume": bool,
    **dict.fromkeys(CAPS, int),
}
PARAM_KEYS = "name type default min max step options group inline tooltip desc".split()

_TYPE_WORDS = {str: "a string", bool: "True or False", int: "an int"}


class DeclarationFault(Fault):
    """Something that cannot be declared; `at` is its key, "" for the whole, or its node."""

    def __init__(self, at: str | ast.AST, kind: str, message: str, hint: str = "") -> None:
        super().__init__(kind, message, hint)
        self.at = at


def check_keys(what: str, keys: Iterable[str], known: Iterable[str]) -> None:
    for key in keys:
        if key not in known:
            hint = did_you_mean(key, known, alike=0.6) or f"it knows {', '.join(known)}"
            raise DeclarationFault(key, "name", f"{what} knows no {key!r:.60}", hint)


# ------------------------------------------------------------------------------------------ PARAMS


def read_param(entry: Mapping[str, Any]) -> Param:
    """The parameter that an entry of PARAMS declares."""
    check_keys("PARAMS", entry, PARAM_KEYS)
    name = _text(entry, "name")
    if not _NAME.fullmatch(name) or name == "name":
        message = f"{name!r:.80} cannot be the name of a parameter"
        raise DeclarationFault(
            "name", "value", message, "use letters, digits and _, a letter first"
        )
    kind = _text(entry, "type")
    if kind not in TYPES:
        raise DeclarationFault(
            "type", "value", f"{kind!r:.80} is not a type", f"use {', '.join(TYPES)}"
        )
    param = Param(
        name,
        kind,
        None,
        _bound(entry, "min", kind),
        _bound(entry, "max", kind),
        _bound(entry, "step", kind),
        _options(entry, kind),
        _text(entry, "group", None),
        _text(entry, "inline", None),
        _text(entry, "tooltip", None),
        _text(entry, "desc", "") or "",
    )
    if param.min is not None and param.max is not None and param.min > param.max:
        raise DeclarationFault("min", "value", f"{name}: min is above max")
    return replace(param, default=_default(param, entry))


def _default(param: Param, entry: Mapping[str, Any]) -> Any:
    default = entry.get("default")
    if default is None:
        if param.type in _UNSET or ("default" in entry and param.type not in _ALWAYS_SET):
            return None
        if param.type != "source":
            raise DeclarationFault("", "value", f"{param.name} needs a default")
        default = "close"
    if param.type == "source" and default not in SOURCES:
        message = f"{default!r:.80} is not a price series"
        raise DeclarationFault("default", "value", message, f"use {', '.join(SOURCES)}")
    try:
        value = check_value(param, default, "PARAMS")
    except Failure as failure:
        raise DeclarationFault("default", failure.kind, failure.message, failure.hint) from None
    # `check_value` also accepts texts for numbers, as a command line passes them.
    if isinstance(default, str) and param.type in (*_NUMERIC, "bool"):
        raise DeclarationFault("default", "type", f"{param.name}: the default is a string")
    if param.type == "choice" and isinstance(default, bool):
        raise DeclarationFault("default", "type", f"{param.name}: options are numbers or strings")
    if isinstance(value, int) and abs(value) > LARGEST_INT:
        raise DeclarationFault("default", "value", f"{param.name}: the default is too large")
    if isinstance(value, str) and len(value) > MOST_TEXT:
        raise DeclarationFault("default", "size", f"{param.name}: the default is too long")
    return value


def _bound(entry: Mapping[str, Any], key: str, kind: str) -> float | None:
    value: float | None = entry.get(key)
    if value is None:
        return None
    if kind not in _NUMERIC or not checks.is_number(value):
        names = ", ".join(_NUMERIC)
        raise DeclarationFault(key, "type", f"{key} is a finite number, and goes with {names} only")
    if abs(value) > LARGEST_BOUND:
        raise DeclarationFault(key, "value", f"{key} is too large")
    if key == "step" and value <= 0:
        raise DeclarationFault(key, "value", "step is above 0")
    return value


def _options(entry: Mapping[str, Any], kind: str) -> tuple[Any, ...] | None:
    options = entry.get("options")
    if options is None:
        if kind == "choice":
            raise DeclarationFault("", "value", "a choice needs options", '"options": ["a", "b"]')
        return None
    if not isinstance(options, list) or not 0 < len(options) <= MOST_OPTIONS:
        message = f"options is a list of 1 to {MOST_OPTIONS} values"
        raise DeclarationFault("options", "type", message)
    for option in options:
        if isinstance(option, bool) or not isinstance(option, int | float | str):
            raise DeclarationFault("options", "type", "options are numbers or strings")
        if isinstance(option, str):
            _check_text("options", option, "an option is too long")
        elif not checks.is_number(option):
            raise DeclarationFault("options", "value", "an option is too large")
    return tuple(options)


# -------------------------------------------------------------------------------------------- META


def read_meta(meta: Mapping[str, Any]) -> Mapping[str, Any]:
    """Checks every value of META and returns it."""
    check_keys("META", meta, META_KEYS)
    for key, value in meta.items():
        if type(value) is not META_KEYS[key]:
            raise DeclarationFault(key, "type", f"{key} is {_TYPE_WORDS[META_KEYS[key]]}")
        if isinstance(value, str):
            _check_text(key, value, f"{key} has at most {MOST_TEXT} characters")
        if isinstance(value, int) and key in CAPS and not 1 <= value <= CAPS[key]:
            raise DeclarationFault(key, "value", f"{key} is from 1 to {CAPS[key]}")
    if not meta.get("title", "").strip():
        raise DeclarationFault("", "value", "META needs a title", '{"title": "…"}')
    kind = meta.get("category", "panel")
    if kind not in CATEGORIES:
        message = f"{kind!r:.60} is not a category"
        raise DeclarationFault("category", "value", message, f"use {', '.join(CATEGORIES)}")
    on_price = meta.get("overlay", kind == "overlay")
    if meta.get("category", "external") != "external" and on_price != (kind == "overlay"):
        message = f"category {kind!r} and overlay {on_price} do not go together"
        hint = "an overlay is drawn on the price, a panel below it"
        raise DeclarationFault("overlay", "value", message, hint)
    return meta


# ------------------------------------------------------------------------------------------- texts


def _text(entry: Mapping[str, Any], key: str, default: str | None = "") -> Any:
    if key not in entry:
        if key in ("name", "type"):
            raise DeclarationFault("", "value", f"a parameter needs a {key}")
        return default
    value = entry[key]
    if not isinstance(value, str):
        raise DeclarationFault(key, "type", f"{key} is a string")
    _check_text(key, value, f"{key} has at most {MOST_TEXT} characters")
    return value


def _check_text(key: str, value: str, too_long: str) -> None:
    if len(value) > MOST_TEXT:
        raise DeclarationFault(key, "size", too_long)
    if not checks.is_text(value):
        raise DeclarationFault(key, "value", f"{key} holds half of a surrogate pair")
