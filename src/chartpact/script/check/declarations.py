"""PARAMS, META and compute: there, well-formed, and readable without running the script."""

import ast
import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from chartpact import drawing
from chartpact.params import TYPES, Param
from chartpact.params import check as check_value
from chartpact.prices import SOURCES
from chartpact.problem import Failure, did_you_mean
from chartpact.script.check.checked import Checked
from chartpact.script.check.report import Enough, Report
from chartpact.script.errors import Fault, ScriptError

MOST_PARAMS = 64
MOST_OPTIONS = 200
MOST_TEXT = 1_000
LARGEST_INT = 2**53
LARGEST_BOUND = 1e15

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_NUMERIC = ("int", "float")
_FETCHED = ("symbol", "calendar")  # may stay unset: the host then offers its own
CATEGORIES = ("overlay", "panel", "external")
CAPS = {f"max_{channel}_count": cap for channel, cap in drawing.CAPS.items()}
META_KEYS: Mapping[str, type] = {
    "title": str,
    "short_title": str,
    "description": str,
    "category": str,
    "overlay": bool,
    **dict.fromkeys(CAPS, int),
}
PARAM_KEYS = "name type default min max step options group desc".split()
SIGNATURE = ("ohlcv", "params", "chart")

_TYPE_WORDS = {str: "a string", bool: "True or False", int: "an int"}


def read_declarations(
    checked: Checked, source: str
) -> tuple[tuple[Param, ...], Mapping[str, Any], list[ScriptError]]:
    """What PARAMS and META say, and what is wrong with them or with compute."""
    report = Report("presence", source)
    assigned = {
        target.id: statement
        for statement in checked.tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(target := statement.targets[0], ast.Name)
    }
    params: tuple[Param, ...] = ()
    meta: Mapping[str, Any] = {}
    with suppress(Enough):
        params = _params(assigned.get("PARAMS"), report)
        meta = _meta(assigned.get("META"), report)
        _check_compute(checked.functions.get("compute"), assigned.get("compute"), report)
    return params, meta, report.problems


class _Wrong(Fault):
    """Something in a declaration, and the node that says it."""

    def __init__(self, node: ast.AST, kind: str, message: str, hint: str = "") -> None:
        super().__init__(kind, message, hint)
        self.node = node

    def add_to(self, report: Report) -> None:
        report.refuse(self.node, self.kind, self.message, self.hint)


def _check_compute(
    function: ast.FunctionDef | None, assigned: ast.Assign | None, report: Report
) -> None:
    signature = f"def compute({', '.join(SIGNATURE)}):"
    if function is None and assigned is None:
        report.refuse(None, "name", "compute is missing", f"write {signature}")
        return
    message = "compute is not a function with a def of its own"
    if function is not None:
        args = function.args
        if tuple(arg.arg for arg in args.args) == SIGNATURE and not (
            args.defaults or args.vararg or args.kwarg
        ):
            return
        message = "compute takes ohlcv, params and chart"
    report.refuse(function or assigned, "type", message, f"write {signature}")


# ------------------------------------------------------------------------------------------ PARAMS


def _params(statement: ast.Assign | None, report: Report) -> tuple[Param, ...]:
    if statement is None:
        hint = "write PARAMS = [] if the script has no parameters"
        report.refuse(None, "name", "PARAMS is missing", hint)
        return ()
    node = statement.value
    if not isinstance(node, ast.List):
        report.refuse(node, "type", "PARAMS is a list of dicts, written out")
        return ()
    if len(node.elts) > MOST_PARAMS:
        report.refuse(node, "size", f"PARAMS has at most {MOST_PARAMS} entries")
        return ()
    params: dict[str, Param] = {}
    for entry in node.elts:
        try:
            param = _param(entry)
            if param.name in params:
                raise _Wrong(entry, "value", f"PARAMS has {param.name!r} twice")
            params[param.name] = param
        except _Wrong as wrong:
            wrong.add_to(report)
    return tuple(params.values())


def _param(node: ast.expr) -> Param:
    entry = _entries(node, "an entry of PARAMS")
    for key, value in entry.items():
        if key not in PARAM_KEYS:
            raise _Wrong(value, "name", f"PARAMS knows no {key!r}", _hint_for_key(key, PARAM_KEYS))
    name = _text(entry, "name", node)
    if not _NAME.fullmatch(name) or name == "name":
        message = f"{name!r:.80} cannot be the name of a parameter"
        hint = "use letters, digits and _, a letter first"
        raise _Wrong(entry["name"], "value", message, hint)
    kind = _text(entry, "type", node)
    if kind not in TYPES:
        message = f"{kind!r:.80} is not a type"
        raise _Wrong(entry["type"], "value", message, f"use {', '.join(TYPES)}")
    param = Param(
        name,
        kind,
        None,
        _bound(entry, "min", kind),
        _bound(entry, "max", kind),
        _bound(entry, "step", kind),
        _options(entry, kind, node),
        _text(entry, "group", node, None),
        _text(entry, "desc", node, "") or "",
    )
    if param.min is not None and param.max is not None and param.min > param.max:
        raise _Wrong(entry["min"], "value", f"{name}: min is above max")
    return replace(param, default=_default(param, entry, node))


def _default(param: Param, entry: Mapping[str, ast.expr], node: ast.expr) -> Any:
    default = literal(entry["default"]) if "default" in entry else None
    if default is None:
        if param.type in _FETCHED:
            return None
        if param.type != "source":
            raise _Wrong(node, "value", f"{param.name} needs a default")
        default = "close"
    at = entry.get("default", node)
    if param.type == "source" and default not in SOURCES:
        message = f"{default!r:.80} is not a price series"
        raise _Wrong(at, "value", message, f"use {', '.join(SOURCES)}")
    try:
        value = check_value(param, default, "PARAMS")
    except Failure as failure:
        raise _Wrong(at, failure.kind, failure.message, failure.hint) from None
    # `check_value` also accepts texts for numbers, as a command line passes them.
    if isinstance(default, str) and param.type in ("int", "float", "bool"):
        raise _Wrong(at, "type", f"{param.name}: the default is a string")
    if param.type == "choice" and isinstance(default, bool):
        raise _Wrong(at, "type", f"{param.name}: options are numbers or strings")
    if param.type == "int" and abs(value) > LARGEST_INT:
        raise _Wrong(at, "value", f"{param.name}: the default is too large")
    return value


def _bound(entry: Mapping[str, ast.expr], key: str, kind: str) -> float | None:
    if key not in entry or (value := literal(entry[key])) is None:
        return None
    if kind not in _NUMERIC or isinstance(value, bool) or not isinstance(value, int | float):
        raise _Wrong(entry[key], "type", f"{key} is a number, and goes with int and float only")
    if not math.isfinite(value) or abs(value) > LARGEST_BOUND:
        raise _Wrong(entry[key], "value", f"{key} is too large")
    if key == "step" and value <= 0:
        raise _Wrong(entry[key], "value", "step is above 0")
    return value


def _options(entry: Mapping[str, ast.expr], kind: str, node: ast.expr) -> tuple[Any, ...] | None:
    if "options" not in entry or (options := literal(entry["options"])) is None:
        if kind == "choice":
            raise _Wrong(node, "value", "a choice needs options", '"options": ["a", "b"]')
        return None
    if not isinstance(options, list) or not 0 < len(options) <= MOST_OPTIONS:
        message = f"options is a list of 1 to {MOST_OPTIONS} values"
        raise _Wrong(entry["options"], "type", message)
    for option in options:
        if isinstance(option, bool) or not isinstance(option, int | float | str):
            raise _Wrong(entry["options"], "type", "options are numbers or strings")
        if isinstance(option, str) and len(option) > MOST_TEXT:
            raise _Wrong(entry["options"], "size", "an option is too long")
    return tuple(options)


# -------------------------------------------------------------------------------------------- META


def _meta(statement: ast.Assign | None, report: Report) -> Mapping[str, Any]:
    if statement is None:
        hint = 'write META = {"title": "…", "overlay": False}'
        report.refuse(None, "name", "META is missing", hint)
        return {}
    try:
        return _read_meta(statement.value)
    except _Wrong as wrong:
        wrong.add_to(report)
        return {}


def _read_meta(node: ast.expr) -> Mapping[str, Any]:
    entry = _entries(node, "META")
    meta = {key: _meta_value(key, value) for key, value in entry.items()}
    if not meta.get("title", "").strip():
        raise _Wrong(node, "value", "META needs a title", '{"title": "…"}')
    kind = meta.get("category", "panel")
    if kind not in CATEGORIES:
        message = f"{kind!r:.60} is not a category"
        raise _Wrong(entry["category"], "value", message, f"use {', '.join(CATEGORIES)}")
    on_price = meta.get("overlay", kind == "overlay")
    if meta.get("category", "external") != "external" and on_price != (kind == "overlay"):
        message = f"category {kind!r} and overlay {on_price} do not go together"
        hint = "an overlay is drawn on the price, a panel below it"
        raise _Wrong(entry["overlay"], "value", message, hint)
    return meta


def _meta_value(key: str, node: ast.expr) -> Any:
    if key not in META_KEYS:
        raise _Wrong(node, "name", f"META knows no {key!r:.60}", _hint_for_key(key, META_KEYS))
    value: Any = literal(node)
    if type(value) is not META_KEYS[key]:
        raise _Wrong(node, "type", f"{key} is {_TYPE_WORDS[META_KEYS[key]]}")
    if isinstance(value, str) and len(value) > MOST_TEXT:
        raise _Wrong(node, "size", f"{key} has at most {MOST_TEXT} characters")
    if isinstance(value, int) and key in CAPS and not 1 <= value <= CAPS[key]:
        raise _Wrong(node, "value", f"{key} is from 1 to {CAPS[key]}")
    return value


# ---------------------------------------------------------------------------------------- literals


def _entries(node: ast.expr, what: str) -> dict[str, ast.expr]:
    if not isinstance(node, ast.Dict):
        raise _Wrong(node, "type", f"{what} is a dict, written out")
    entries: dict[str, ast.expr] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise _Wrong(key or node, "type", f"the keys of {what} are strings")
        if key.value in entries:
            raise _Wrong(key, "value", f"{what} has {key.value!r:.60} twice")
        entries[key.value] = value
    return entries


def _text(entry: Mapping[str, ast.expr], key: str, node: ast.expr, default: str | None = "") -> Any:
    if key not in entry:
        if key in ("name", "type"):
            raise _Wrong(node, "value", f"a parameter needs a {key}")
        return default
    value = literal(entry[key])
    if not isinstance(value, str):
        raise _Wrong(entry[key], "type", f"{key} is a string")
    if len(value) > MOST_TEXT:
        raise _Wrong(entry[key], "size", f"{key} has at most {MOST_TEXT} characters")
    return value


def _hint_for_key(key: str, known: Iterable[str]) -> str:
    return did_you_mean(key, known, alike=0.6) or f"it knows {', '.join(known)}"


def literal(node: ast.expr) -> Any:
    """The value of a literal; nothing is run."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [literal(element) for element in node.elts]
    if isinstance(node, ast.Dict):
        values: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if not isinstance(key, ast.Constant):
                raise _Wrong(key or node, "type", "a key is a string or a number, written out")
            values[key.value] = literal(value)
        return values
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = literal(node.operand)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    hint = "they are read without running the script"
    raise _Wrong(node, "value", "PARAMS and META are written out", hint)
