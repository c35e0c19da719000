"""PARAMS, META and compute: there, well-formed, and readable without running the script."""

import ast
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from chartpact.drawing import CAPPED, MAX_CAP
from chartpact.params import TYPES, IndicatorError, Param
from chartpact.params import check as check_value
from chartpact.script.check.checker import Checked
from chartpact.script.errors import ScriptError, nearest
from chartpact.syntax import Places

MOST_PARAMS = 64
MOST_TEXT = 1_000
LARGEST_INT = 2**53

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_NUMERIC = ("int", "float")
_ABSENT = ("symbol", "calendar")  # may stay unset: the host then offers its own
CATEGORIES = ("overlay", "panel", "external")
SOURCES = "open high low close volume hl2 hlc3 ohlc4 hlcc4".split()
CAPS = tuple(f"max_{channel}_count" for channel in CAPPED)
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


def presence(
    checked: Checked, source: str
) -> tuple[tuple[Param, ...], Mapping[str, Any], list[ScriptError]]:
    """What PARAMS and META say, and what is wrong with them or with compute."""
    reader = _Reader(Places(source))
    values = {
        target.id: statement
        for statement in checked.tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(target := statement.targets[0], ast.Name)
    }
    params = reader.params(values.get("PARAMS"))
    meta = reader.meta(values.get("META"))
    reader.compute(checked.functions.get("compute"), values.get("compute"))
    return params, meta, reader.problems


class _Wrong(Exception):
    def __init__(self, node: ast.AST, kind: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.node, self.kind, self.message, self.hint = node, kind, message, hint


class _Reader:
    def __init__(self, places: Places) -> None:
        self.problems: list[ScriptError] = []
        self._places = places

    def _report(self, wrong: _Wrong) -> None:
        line, column = self._places.of(wrong.node)
        self.problems.append(
            ScriptError("presence", wrong.kind, wrong.message, wrong.hint, line=line, column=column)
        )

    def _missing(self, what: str, hint: str) -> None:
        self.problems.append(ScriptError("presence", "name", f"{what} is missing", hint))

    def params(self, statement: ast.Assign | None) -> tuple[Param, ...]:
        if statement is None:
            self._missing("PARAMS", "write PARAMS = [] if the script has no parameters")
            return ()
        node = statement.value
        if not isinstance(node, ast.List):
            self._report(_Wrong(node, "type", "PARAMS is a list of dicts, written out"))
            return ()
        if len(node.elts) > MOST_PARAMS:
            self._report(_Wrong(node, "size", f"PARAMS has at most {MOST_PARAMS} entries"))
            return ()
        found: dict[str, Param] = {}
        for each in node.elts:
            try:
                param = _param(each)
                if param.name in found:
                    raise _Wrong(each, "value", f"PARAMS has {param.name!r} twice")
                found[param.name] = param
            except _Wrong as wrong:
                self._report(wrong)
        return tuple(found.values())

    def meta(self, statement: ast.Assign | None) -> Mapping[str, Any]:
        if statement is None:
            self._missing("META", 'write META = {"title": "…", "overlay": False}')
            return {}
        try:
            return _meta(statement.value)
        except _Wrong as wrong:
            self._report(wrong)
            return {}

    def compute(self, function: ast.FunctionDef | None, assigned: ast.Assign | None) -> None:
        signature = f"def compute({', '.join(SIGNATURE)}):"
        if function is None:
            if assigned is not None:
                wrong = "compute is not a function with a def of its own"
                self._report(_Wrong(assigned, "type", wrong, f"write {signature}"))
            else:
                self._missing("compute", f"write {signature}")
            return
        args = function.args
        names = tuple(each.arg for each in args.args)
        if names != SIGNATURE or args.defaults or args.vararg or args.kwarg:
            self._report(
                _Wrong(
                    function, "type", "compute takes ohlcv, params and chart", f"write {signature}"
                )
            )


def _param(node: ast.expr) -> Param:
    entry = _dict(node, "an entry of PARAMS")
    for key in entry:
        if key not in PARAM_KEYS:
            raise _Wrong(entry[key], "name", f"PARAMS knows no {key!r}", _near(key, PARAM_KEYS))
    name = _text(entry, "name", node)
    if not _NAME.fullmatch(name) or name == "name":
        raise _Wrong(
            entry["name"],
            "value",
            f"{name!r:.80} cannot be the name of a parameter",
            "use letters, digits and _, a letter first",
        )
    kind = _text(entry, "type", node)
    if kind not in TYPES:
        raise _Wrong(
            entry["type"], "value", f"{kind!r:.80} is not a type", f"use {', '.join(TYPES)}"
        )
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
    return _with_default(param, entry, node)


def _with_default(param: Param, entry: Mapping[str, ast.expr], node: ast.expr) -> Param:
    default = literal(entry["default"]) if "default" in entry else None
    if default is None:
        if param.type == "source":
            default = "close"
        elif param.type in _ABSENT:
            return param
        else:
            raise _Wrong(node, "value", f"{param.name} needs a default")
    if param.type == "source" and default not in SOURCES:
        raise _Wrong(
            entry["default"],
            "value",
            f"{default!r:.80} is not a price series",
            f"use {', '.join(SOURCES)}",
        )
    try:
        # `check` accepts None for what has no default yet, and texts as a command line gives them
        checked = check_value(param, default, "PARAMS")
    except IndicatorError as error:
        raise _Wrong(entry["default"], error.kind, error.message, error.hint) from None
    if isinstance(default, str) and param.type in ("int", "float", "bool"):
        raise _Wrong(entry["default"], "type", f"{param.name}: the default is a string")
    if param.type == "calendar" and not isinstance(default, str):
        raise _Wrong(entry["default"], "type", f"{param.name}: the default is a calendar's name")
    if param.type == "choice" and isinstance(default, bool):
        raise _Wrong(entry["default"], "type", f"{param.name}: options are numbers or strings")
    if param.type == "int" and abs(checked) > LARGEST_INT:
        raise _Wrong(entry["default"], "value", f"{param.name}: the default is too large")
    fields = {**param.__dict__, "default": checked}
    return Param(**fields)


def _bound(entry: Mapping[str, ast.expr], key: str, kind: str) -> float | None:
    if key not in entry:
        return None
    value = literal(entry[key])
    if value is None:
        return None
    if kind not in _NUMERIC or isinstance(value, bool) or not isinstance(value, int | float):
        raise _Wrong(entry[key], "type", f"{key} is a number, and goes with int and float only")
    if not math.isfinite(value) or abs(value) > 1e15:
        raise _Wrong(entry[key], "value", f"{key} is too large")
    if key == "step" and value <= 0:
        raise _Wrong(entry[key], "value", "step is above 0")
    return value


def _options(entry: Mapping[str, ast.expr], kind: str, node: ast.expr) -> tuple[Any, ...] | None:
    if "options" not in entry or (options := literal(entry["options"])) is None:
        if kind == "choice":
            raise _Wrong(node, "value", "a choice needs options", '"options": ["a", "b"]')
        return None
    if not isinstance(options, list) or not 0 < len(options) <= 200:
        raise _Wrong(entry["options"], "type", "options is a list of 1 to 200 values")
    for each in options:
        if isinstance(each, bool) or not isinstance(each, int | float | str):
            raise _Wrong(entry["options"], "type", "options are numbers or strings")
        if isinstance(each, str) and len(each) > MOST_TEXT:
            raise _Wrong(entry["options"], "size", "an option is too long")
    return tuple(options)


def _meta(node: ast.expr) -> Mapping[str, Any]:
    entry = _dict(node, "META")
    meta: dict[str, Any] = {}
    for key, value_node in entry.items():
        if key not in META_KEYS:
            raise _Wrong(value_node, "name", f"META knows no {key!r:.60}", _near(key, META_KEYS))
        value: Any = literal(value_node)
        if type(value) is not META_KEYS[key]:
            wanted = {str: "a string", bool: "True or False", int: "an int"}[META_KEYS[key]]
            raise _Wrong(value_node, "type", f"{key} is {wanted}")
        if isinstance(value, str) and len(value) > MOST_TEXT:
            raise _Wrong(value_node, "size", f"{key} has at most {MOST_TEXT} characters")
        if isinstance(value, int) and key in CAPS and not 1 <= value <= MAX_CAP:
            raise _Wrong(value_node, "value", f"{key} is from 1 to {MAX_CAP}")
        meta[key] = value
    if not meta.get("title", "").strip():
        raise _Wrong(node, "value", "META needs a title", '{"title": "…"}')
    category = meta.get("category", "panel")
    if category not in CATEGORIES:
        raise _Wrong(
            entry["category"],
            "value",
            f"{category!r:.60} is not a category",
            f"use {', '.join(CATEGORIES)}",
        )
    drawn_on_price = meta.get("overlay", category == "overlay")
    if meta.get("category", "external") != "external" and drawn_on_price != (category == "overlay"):
        raise _Wrong(
            entry["overlay"],
            "value",
            f"category {category!r} and overlay {drawn_on_price} do not go together",
            "an overlay is drawn on the price, a panel below it",
        )
    return meta


def is_overlay(meta: Mapping[str, Any]) -> bool:
    """Is it drawn on the price chart?"""
    return bool(meta.get("overlay", meta.get("category") == "overlay"))


def category(meta: Mapping[str, Any]) -> str:
    """overlay, panel or external."""
    return str(meta.get("category", "overlay" if is_overlay(meta) else "panel"))


def _dict(node: ast.expr, what: str) -> dict[str, ast.expr]:
    if not isinstance(node, ast.Dict):
        raise _Wrong(node, "type", f"{what} is a dict, written out")
    entry: dict[str, ast.expr] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise _Wrong(key or node, "type", f"the keys of {what} are strings")
        if key.value in entry:
            raise _Wrong(key, "value", f"{what} has {key.value!r:.60} twice")
        entry[key.value] = value
    return entry


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


def _near(key: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    near = nearest(key, known)
    return f"did you mean {near!r}?" if near else f"it knows {', '.join(known)}"


def literal(node: ast.expr) -> Any:
    """The value of a literal; nothing is run."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [literal(each) for each in node.elts]
    if isinstance(node, ast.Dict):
        return {literal(key): literal(value) for key, value in _entries(node)}
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = literal(node.operand)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    raise _Wrong(
        node, "value", "PARAMS and META are written out", "they are read without running the script"
    )


def _entries(node: ast.Dict) -> list[tuple[ast.expr, ast.expr]]:
    entries: list[tuple[ast.expr, ast.expr]] = []
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant):
            raise _Wrong(key or node, "type", "a key is a string or a number, written out")
        entries.append((key, value))
    return entries
