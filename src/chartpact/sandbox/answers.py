"""What children say, read strictly: anything that a child of ours would not say is a crash."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from chartpact.params import Param
from chartpact.sandbox import bounds, packing, wire
from chartpact.sandbox.pool import Answered
from chartpact.script.check.declared import MOST_PARAMS, DeclarationFault, read_meta, read_param
from chartpact.script.errors import NOT_YOUR_FAULT, ScriptError, read_warning
from chartpact.script.limits import LOG_LINE_CHARS, LOG_LINES
from chartpact.script.program import Inspected, Result

T = TypeVar("T")
log = logging.getLogger(__name__)

_MOST_MESSAGE = 4000
_MOST_PLACE = 1 << 20  # lines, or characters of one
_MOST_STEPS = 1 << 53
_MOST_ERRORS = 100
_MOST_DECLARED = 1 << 20  # characters of params and meta, for a source of 64 KiB

# What reading a document of another shape raises; WireError is a ValueError.
_UNREADABLE = AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError


def read_answer(
    reader: Callable[[Mapping[str, Any], list[wire.Column]], T], answered: Answered, step: str
) -> T:
    """The answer as `reader` decodes it; raises the error that the answer carries."""
    try:
        document = answered.document
        if not isinstance(document, dict):
            raise TypeError
        if "error" in document:
            log_fault(document.get("internal"))
            raise _read_error(document["error"], step)
        return reader(document, answered.columns)
    except ScriptError:
        raise
    except _UNREADABLE:
        message = "the script's process left no usable answer"
        raise ScriptError(step, "crash", message, NOT_YOUR_FAULT) from None


def log_fault(internal: Any) -> None:
    """Logs what failed in chartpact itself, as a child describes it, in one line."""
    if isinstance(internal, str) and internal:
        log.error("chartpact itself failed in a run: %s", ascii(internal[:_MOST_MESSAGE]))


def _read_error(data: Mapping[str, Any], step: str) -> ScriptError:
    data = {"step": step, "line": None, "column": None, **data}
    return ScriptError.from_json(_bound(data))


def _bound(data: Mapping[str, Any]) -> dict[str, Any]:
    """A problem whose texts have the length that ours have, at a place that a source may have."""
    for name in ("line", "column"):
        if data[name] is not None and data[name] > _MOST_PLACE:
            raise ValueError(name)
    return {**data, **{name: str(data[name])[:_MOST_MESSAGE] for name in ("message", "hint")}}


def read_result(document: Mapping[str, Any], columns: list[wire.Column], bars: int) -> Result:
    """What a run on so many bars drew."""
    steps, lines, scene = document["steps"], document["log"], document["scene"]
    if type(steps) is not int or not 0 <= steps <= _MOST_STEPS:
        raise ValueError("steps")
    if not isinstance(lines, list) or len(lines) > LOG_LINES + 1:  # the last: more were left out
        raise ValueError("log")
    if not all(isinstance(line, str) and len(line) <= LOG_LINE_CHARS for line in lines):
        raise ValueError("log")
    bounds.check(scene, columns, bars)
    return Result(packing.unpack_scene(scene, columns), steps, tuple(lines))


def read_inspected(document: Mapping[str, Any], columns: list[wire.Column]) -> Inspected:
    """What a source declares, or what is wrong with it."""
    if "errors" in document:
        if not 0 < len(document["errors"]) <= _MOST_ERRORS:
            raise ValueError("errors")
        return Inspected(errors=tuple(_read_error(error, "check") for error in document["errors"]))
    try:
        meta = read_meta(document["meta"])
        params = tuple(_read_param(entry) for entry in document["params"])
    except DeclarationFault as error:
        raise ValueError(error.message) from None
    if len({param.name for param in params}) < len(document["params"]) or len(params) > MOST_PARAMS:
        raise ValueError("params")
    if len(document["warnings"]) > _MOST_ERRORS:
        raise ValueError("warnings")
    warnings = tuple(read_warning(_bound(data)) for data in document["warnings"])
    inspected = Inspected(params, meta, (), columns[0].tobytes(), warnings)
    if weigh(inspected) - len(inspected.code) > _MOST_DECLARED:
        raise ValueError("declared")
    return inspected


def weigh(inspected: Inspected) -> int:
    """The bytes that an inspected source takes in a cache."""
    return len(inspected.code) + len(repr((inspected.params, inspected.meta, inspected.warnings)))


def _read_param(entry: Mapping[str, Any]) -> Param:
    """A parameter that a source may declare, in the form in which it was declared."""
    absent = [key for key, value in entry.items() if value is None and key != "default"]
    param = read_param({key: value for key, value in entry.items() if key not in absent})
    if param.to_json() != entry or type(param.default) is not type(entry["default"]):
        raise ValueError("param")
    return param
