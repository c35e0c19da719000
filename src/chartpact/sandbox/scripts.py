"""Scripts in the sandbox, as the rest of the package asks for them: inspect, run.

What comes back from a child is untrusted: it is read strictly, and anything that is not what a
child of ours would say is a crash of the run.
"""

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from math import isfinite
from threading import Lock
from typing import Any, TypeVar

import numpy as np

from chartpact.bars import Bars
from chartpact.params import TYPES, Param
from chartpact.sandbox import bounds, layers, packing, wire
from chartpact.sandbox.pool import Allowance, Answered, Pool, RunFailed, Shared, default
from chartpact.sandbox.process import Unavailable
from chartpact.script.dry_run import Verdict
from chartpact.script.dry_run import validate as validate_with
from chartpact.script.errors import NOT_YOUR_FAULT, ScriptError
from chartpact.script.limits import LOG_LINE_CHARS, LOG_LINES, Limits
from chartpact.script.pipeline import execute, load
from chartpact.script.pipeline import inspect as inspect_here
from chartpact.script.program import Extras, Inspected, Result, source_key
from chartpact.script.source.parser import check_size

T = TypeVar("T")
log = logging.getLogger(__name__)

_KEPT, _KEPT_BYTES = 1024, 64 << 20
_MOST_MESSAGE = 4000
_MOST_STEPS = 1 << 53
_MOST_ERRORS = 100
_MOST_DECLARED = 1 << 20  # of a source of 64 KiB, however it is written down
_ANSWER, _ANSWER_A_BAR = 4 << 20, 512  # bytes
_SHARED, _SHARED_BYTES = 8, 16 << 20


def inspect(
    source: str,
    *,
    limits: Limits | None = None,
    user: str | None = None,
    name: str = "",
    pool: Pool | None = None,
) -> Inspected:
    """What the source declares; compiled in a child, and remembered for that user and name."""
    limits = limits or Limits()
    key = (user, name, source_key(source))
    if (known := _known.get(key)) is not None:
        return known
    try:
        check_size(source, limits.source_bytes)
    except ScriptError as error:
        return Inspected(errors=(error,))
    if _unprotected():
        return inspect_here(source, limits)
    parts = wire.encode({"kind": "inspect", "source": source, "limits": asdict(limits)})
    allowance = Allowance(Limits().wall_ms, limits.memory_mb << 20, _ANSWER)
    inspected = _read(_inspected, _ask(parts, allowance, user, pool, "check"), "check")
    if not inspected.errors:
        _known.put(key, inspected)
    return inspected


def run(
    source: str,
    bars: Bars,
    params: Mapping[str, Any] | None = None,
    *,
    limits: Limits | None = None,
    user: str | None = None,
    name: str = "",
    extras: Extras | None = None,
    pool: Pool | None = None,
) -> Result:
    """What the script draws on the bars, in a process of its own."""
    limits, extras = limits or Limits(), extras or Extras()
    for each in (bars, *extras.symbols.values()):
        if len(each) > limits.bars:
            raise ScriptError(
                "run",
                "size",
                f"{len(each):,} bars are too many: a script runs on {limits.bars:,}",
                "use the last bars alone, or a higher timeframe",
            )
    inspected = inspect(source, limits=limits, user=user, name=name, pool=pool)
    if inspected.errors:
        raise inspected.errors[0]
    if _unprotected():
        program = load(source, limits)
        try:
            return execute(program, bars, params, budget=limits.steps, extras=extras)
        except ScriptError as error:
            _log_fault(error.internal)
            raise
    answer = _ANSWER + _ANSWER_A_BAR * len(bars)
    allowance = Allowance(limits.wall_ms, limits.memory_mb << 20, answer)
    parts = _job(source, inspected, params, limits, extras)
    answered = _ask(parts, allowance, user, pool, "run", partial(_shared.of, bars))
    return _read(partial(_result, bars=len(bars)), answered, "run")


def validate(
    source: str, *, user: str | None = None, name: str = "", pool: Pool | None = None
) -> Verdict:
    """Checks a source and tries it on synthetic bars, each in a process of its own."""

    def try_on(source: str, bars: Bars, limits: Limits, extras: Extras) -> Result:
        return run(source, bars, limits=limits, user=user, name=name, extras=extras, pool=pool)

    return validate_with(
        source, inspect=partial(inspect, user=user, name=name, pool=pool), run=try_on
    )


def _job(
    source: str,
    inspected: Inspected,
    params: Mapping[str, Any] | None,
    limits: Limits,
    extras: Extras,
) -> list[wire.Part]:
    columns: list[wire.Column] = [np.frombuffer(inspected.code, np.uint8)]
    job = {
        "kind": "run",
        "source": source,
        "program": 0,
        "limits": asdict(limits),
        "params": dict(params or {}),
        "symbols": {name: packing.pack_bars(b, columns) for name, b in extras.symbols.items()},
        "calendars": {name: list(events) for name, events in extras.calendars.items()},
    }
    try:
        return wire.encode(job, columns)
    except (TypeError, ValueError, RecursionError):
        raise ScriptError(
            "run",
            "type",
            "a parameter or an event holds something that is neither text nor finite number",
            "give parameters as texts, numbers, True or False",
        ) from None


def _unprotected() -> bool:
    """Whether a script is to run in this very process: where no sandbox is, and by word alone."""
    reason = layers.unavailable()
    if not reason:
        return False
    if not layers.trusted():
        raise ScriptError(
            "run",
            "crash",
            f"scripts cannot be run safely here: {reason}",
            f"to run scripts that you trust, unprotected, set {layers.TRUST}=1",
        )
    return True


def _ask(
    parts: list[wire.Part],
    allowance: Allowance,
    user: str | None,
    pool: Pool | None,
    step: str,
    shared: Shared = lambda: None,
) -> Answered:
    try:
        return (pool or default()).run(parts, allowance, user, shared)
    except RunFailed as failed:
        raise ScriptError(step, failed.kind, failed.message, failed.hint) from None
    except Unavailable as error:
        raise ScriptError(
            step, "crash", f"scripts cannot be run here: {error}", "see `chartpact doctor`"
        ) from None


# ---------------------------------------------------------------------------- what children say


_UNREADABLE = (
    AttributeError,
    LookupError,
    OverflowError,
    RecursionError,
    TypeError,
    ValueError,  # of which WireError is one
)


def _read(
    reader: Callable[[Mapping[str, Any], list[wire.Column]], T], answered: Answered, step: str
) -> T:
    try:
        document = answered.document
        if not isinstance(document, dict):
            raise TypeError
        if "error" in document:
            _log_fault(document.get("internal"))
            raise _error(document["error"], step)
        return reader(document, answered.columns)
    except ScriptError:
        raise
    except _UNREADABLE:
        raise ScriptError(
            step,
            "crash",
            "the script's process left no usable answer",
            NOT_YOUR_FAULT,
        ) from None


def _log_fault(internal: Any) -> None:
    """Tells the operator what failed in chartpact itself, in the words of a child: in one line."""
    if isinstance(internal, str) and internal:
        log.error("chartpact itself failed in a run: %s", ascii(internal[:_MOST_MESSAGE]))


def _error(data: Mapping[str, Any], step: str) -> ScriptError:
    error = ScriptError.from_json({"step": step, "line": None, "column": None, **data})
    return ScriptError(
        error.step,
        error.kind,
        error.message[:_MOST_MESSAGE],
        error.hint[:_MOST_MESSAGE],
        line=error.line,
        column=error.column,
    )


def _result(document: Mapping[str, Any], columns: list[wire.Column], bars: int) -> Result:
    steps, log, scene = document["steps"], document["log"], document["scene"]
    if type(steps) is not int or not 0 <= steps <= _MOST_STEPS:
        raise ValueError("steps")
    if not isinstance(log, list) or len(log) > LOG_LINES + 1:  # the last: more were left out
        raise ValueError("log")
    if not all(isinstance(line, str) and len(line) <= LOG_LINE_CHARS for line in log):
        raise ValueError("log")
    bounds.check(scene, columns, bars)
    return Result(packing.unpack_scene(scene, columns), steps, tuple(log))


def _inspected(document: Mapping[str, Any], columns: list[wire.Column]) -> Inspected:
    if "errors" in document:
        if not 0 < len(document["errors"]) <= _MOST_ERRORS:
            raise ValueError("errors")
        return Inspected(errors=tuple(_error(each, "check") for each in document["errors"]))
    meta = document["meta"]
    if not all(isinstance(value, str | int) for value in meta.values()):
        raise TypeError("meta")
    if not isinstance(meta["title"], str):
        raise TypeError("title")
    params = tuple(_param(each) for each in document["params"])
    inspected = Inspected(params, meta, (), columns[0].tobytes())
    if _weight(inspected) - len(inspected.code) > _MOST_DECLARED:
        raise ValueError("declared")
    return inspected


def _weight(inspected: Inspected) -> int:
    return len(inspected.code) + len(repr((inspected.params, inspected.meta)))


def _param(data: Mapping[str, Any]) -> Param:
    scalar = (str, int, float, type(None))
    number = (int, float, type(None))
    options = data["options"]
    fits = (
        isinstance(data["name"], str) and data["name"].isidentifier(),
        data["type"] in TYPES and isinstance(data["desc"], str),
        isinstance(data["default"], scalar) and isinstance(data.get("group"), str | None),
        all(type(data.get(name)) in number for name in ("min", "max", "step")),
        options is None or all(isinstance(each, scalar) for each in options),
        all(map(isfinite, (each for each in data.values() if isinstance(each, float)))),
        options is None or all(not isinstance(each, float) or isfinite(each) for each in options),
    )
    if not all(fits):
        raise ValueError("param")
    return Param(**{**data, "options": None if options is None else tuple(options)})


_Key = tuple[str | None, str, str]  # a user, the script's name, the hash of its source


class _Known:
    """Scripts that were inspected; the least recently used leaves first.

    By user, since whoever finds a source known already learns that somebody has it.
    """

    def __init__(self) -> None:
        self._held: OrderedDict[_Key, Inspected] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: _Key) -> Inspected | None:
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key)

    def put(self, key: _Key, inspected: Inspected) -> None:
        with self._lock:
            self._bytes += _weight(inspected)
            if (former := self._held.pop(key, None)) is not None:
                self._bytes -= _weight(former)
            self._held[key] = inspected
            while len(self._held) > _KEPT or self._bytes > _KEPT_BYTES:
                _, gone = self._held.popitem(last=False)
                self._bytes -= _weight(gone)


_known = _Known()


class _Shared:
    """The last bars that scripts ran on, in memory files which all runs on them share."""

    def __init__(self) -> None:
        self._held: OrderedDict[int, tuple[Bars, wire.Sealed]] = OrderedDict()
        self._lock = Lock()

    def of(self, bars: Bars) -> wire.Sealed:
        with self._lock:
            if id(bars) in self._held:
                self._held.move_to_end(id(bars))
                return self._held[id(bars)][1]
        columns: list[wire.Column] = []
        document = {"bars": packing.pack_bars(bars, columns)}
        made = wire.Sealed("bars", wire.encode(document, columns))
        with self._lock:
            self._held[id(bars)] = bars, made  # nobody else has that id while they are held
            while len(self._held) > _SHARED or self._bytes() > _SHARED_BYTES:
                self._held.popitem(last=False)
        return made

    def _bytes(self) -> int:
        return sum(made.size for _, made in self._held.values())


_shared = _Shared()
