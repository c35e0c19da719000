"""PARAMS, META and compute: there, well-formed, and readable without running the script."""

import ast
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from chartpact.params import Param
from chartpact.script.check import declared
from chartpact.script.check.checked import Checked
from chartpact.script.check.declared import META_KEYS, MOST_PARAMS, PARAM_KEYS, DeclarationFault
from chartpact.script.check.report import CheckReport
from chartpact.script.errors import LimitReached, ScriptError

SIGNATURE = ("ohlcv", "params", "chart")
Declared = TypeVar("Declared")


def read_declarations(
    checked: Checked, source: str
) -> tuple[tuple[Param, ...], Mapping[str, Any], list[ScriptError]]:
    """What PARAMS and META say, and what is wrong with them or with compute."""
    report = CheckReport("presence", source)
    assigned = {
        target.id: statement
        for statement in checked.tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(target := statement.targets[0], ast.Name)
    }
    params: tuple[Param, ...] = ()
    meta: Mapping[str, Any] = {}
    with suppress(LimitReached):
        params = _params(assigned.get("PARAMS"), report)
        meta = _meta(assigned.get("META"), report)
        _check_compute(checked.functions.get("compute"), assigned.get("compute"), report)
    return params, meta, report.problems


def _refuse(report: CheckReport, fault: DeclarationFault) -> None:
    node = fault.at if isinstance(fault.at, ast.AST) else None
    report.refuse(node, fault.kind, fault.message, fault.hint)


def _check_compute(
    function: ast.FunctionDef | None, assigned: ast.Assign | None, report: CheckReport
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


def _params(statement: ast.Assign | None, report: CheckReport) -> tuple[Param, ...]:
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
                raise DeclarationFault(entry, "value", f"PARAMS has {param.name!r} twice")
            params[param.name] = param
        except DeclarationFault as wrong:
            _refuse(report, wrong)
    return tuple(params.values())


def _param(node: ast.expr) -> Param:
    entry = _entries(node, "an entry of PARAMS")
    return _declare("PARAMS", node, entry, PARAM_KEYS, declared.read_param)


# -------------------------------------------------------------------------------------------- META


def _meta(statement: ast.Assign | None, report: CheckReport) -> Mapping[str, Any]:
    if statement is None:
        hint = 'write META = {"title": "…", "overlay": False}'
        report.refuse(None, "name", "META is missing", hint)
        return {}
    try:
        entry = _entries(statement.value, "META")
        return _declare("META", statement.value, entry, META_KEYS, declared.read_meta)
    except DeclarationFault as wrong:
        _refuse(report, wrong)
        return {}


def _declare(
    name: str,
    node: ast.expr,
    entry: Mapping[str, ast.expr],
    keys: Collection[str],
    read: Callable[[dict[str, Any]], Declared],
) -> Declared:
    """Reads a dict of literals; what is wrong is told at the value of its key."""
    try:
        declared.check_keys(name, entry, keys)
        return read({key: literal(value) for key, value in entry.items()})
    except DeclarationFault as error:
        at = entry.get(error.at, node) if isinstance(error.at, str) else error.at
        raise DeclarationFault(at, error.kind, error.message, error.hint) from None


# ---------------------------------------------------------------------------------------- literals


def _entries(node: ast.expr, what: str) -> dict[str, ast.expr]:
    if not isinstance(node, ast.Dict):
        raise DeclarationFault(node, "type", f"{what} is a dict, written out")
    entries: dict[str, ast.expr] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            raise DeclarationFault(key or node, "type", f"the keys of {what} are strings")
        if key.value in entries:
            raise DeclarationFault(key, "value", f"{what} has {key.value!r:.60} twice")
        entries[key.value] = value
    return entries


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
                raise DeclarationFault(
                    key or node, "type", "a key is a string or a number, written out"
                )
            values[key.value] = literal(value)
        return values
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = literal(node.operand)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    hint = "they are read without running the script"
    raise DeclarationFault(node, "value", "PARAMS and META are written out", hint)
