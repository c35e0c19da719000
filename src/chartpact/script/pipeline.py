"""The language from end to end: examine a source, load it as a program, execute that on bars."""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

import numpy as np

from chartpact.bars import Bars
from chartpact.params import IndicatorError, Param
from chartpact.params import resolve as resolve_params
from chartpact.script import host
from chartpact.script.check.checker import MOST_PROBLEMS
from chartpact.script.check.checker import check as check_tree
from chartpact.script.check.declarations import LARGEST_INT, MOST_TEXT, SOURCES, presence
from chartpact.script.compile.emitter import TooIntricate, compile_module
from chartpact.script.compile.kinds import NONE, PARAM_KINDS, Kinds
from chartpact.script.diagnosis.explain import explained
from chartpact.script.errors import ScriptError
from chartpact.script.host.chart import Chart
from chartpact.script.host.ohlcv import Ohlcv, beside
from chartpact.script.limits import Limits
from chartpact.script.program import Extras, Inspected, Program, Result, source_key
from chartpact.script.runtime.intrinsics import Runtime
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.values import FrozenDict, adopted
from chartpact.script.source.parser import normalised, read

CACHED = 1024


def load(source: str, limits: Limits | None = None) -> Program:
    """The program of a source that passes every check; raises the first `ScriptError`."""
    program, problems = examine(source, limits or Limits())
    if program is None:
        raise problems[0]
    return program


def examine(source: str, limits: Limits) -> tuple[Program | None, list[ScriptError]]:
    """The program of a source, or all that is wrong with it."""
    source = normalised(source)
    if (known := _cache.get(source)) is not None:
        return known, []
    try:
        tree = read(source, limits)
    except ScriptError as error:
        return None, [error]
    checked, problems = check_tree(tree, source, host.namespaces())
    if problems:
        return None, problems
    params, meta, problems = presence(checked, source)
    if problems:
        return None, problems[:MOST_PROBLEMS]
    try:
        kinds = Kinds(checked, {each.name: _kinds_of(each) for each in params}, host.results())
        compiled = compile_module(checked, kinds)
    except (RecursionError, MemoryError, TooIntricate):
        message = "this script is too intricate to be compiled"
        return None, [ScriptError("check", "size", message, "split it into smaller functions")]
    program = Program(source, params, meta, compiled.code, compiled.weights, compiled.uses)
    _cache.put(program)
    return program, []


def inspect(source: str, limits: Limits | None = None) -> Inspected:
    """What a source declares, or all that is wrong with it; it is compiled, and not run."""
    program, problems = examine(source, limits or Limits())
    if program is None:
        return Inspected(errors=tuple(problems))
    return Inspected(program.params, program.meta, (), program.dump())


def _kinds_of(param: Param) -> int:
    kinds = PARAM_KINDS[param.type]
    return kinds if param.default is not None else kinds | NONE


def execute(
    program: Program,
    bars: Bars,
    params: Mapping[str, Any] | None = None,
    *,
    budget: int = Limits().steps,
    extras: Extras | None = None,
) -> Result:
    """What the program draws on the bars, in this very process: nothing is read or written."""
    extras = extras or Extras()
    meter = Meter(budget)
    runtime = Runtime(meter)
    chart = Chart(bars, program.meta, meter)
    try:
        values = resolve_params(program.params, params or {}, "the script")
    except IndicatorError as error:
        raise ScriptError("run", _kind(error.kind), error.message, error.hint) from None
    _bearable(values)
    names = runtime.names()
    names.update(host.functions(program.uses, meter, len(bars)))
    try:
        with np.errstate(all="ignore"):
            ohlcv = Ohlcv(bars, meter)
            given = _given(program.params, values, ohlcv, bars, extras, meter)
            runtime.load(program.code, program.weights, names)
            meter.charge(program.weights["compute"])
            names["compute"](ohlcv, given, chart)
            scene = chart.scene()
    except ScriptError:
        raise
    except Exception as error:  # noqa: BLE001  (every failure of a script becomes a value)
        raise explained(error, program.source) from None
    return Result(scene, meter.used, tuple(runtime.builtins.log))


def _kind(kind: str) -> str:
    return kind if kind in ("name", "type", "value") else "value"


def _given(
    params: tuple[Param, ...],
    values: Mapping[str, Any],
    ohlcv: Ohlcv,
    bars: Bars,
    extras: Extras,
    meter: Meter,
) -> Any:
    """`params` as the script sees it: sources are series, symbols and calendars are fetched."""
    given: dict[str, Any] = {}
    for param in params:
        value = values[param.name]
        if param.type == "source":
            value = _price(ohlcv, param.name, value)
        elif param.type == "symbol":
            other = extras.symbols.get(param.name)
            value = None if other is None else beside(bars, other, meter)
        elif param.type == "calendar":
            events = extras.calendars.get(param.name)
            value = None if events is None else adopted([dict(each) for each in events])
        else:
            value = adopted(value)
        given[param.name] = value
    return FrozenDict(given)


def _price(ohlcv: Ohlcv, name: str, value: Any) -> Any:
    if value not in SOURCES:
        raise ScriptError(
            "run",
            "value",
            f"the script: {name}={value!r:.60} is not a price series",
            f"use {', '.join(SOURCES)}",
        )
    return getattr(ohlcv, str(value))


def _bearable(values: Mapping[str, Any]) -> None:
    """Refuses numbers and texts that no parameter can mean."""
    for name, value in values.items():
        whole = isinstance(value, int) and abs(value) > LARGEST_INT
        long = isinstance(value, str) and len(value) > MOST_TEXT
        if whole or long:
            raise ScriptError("run", "value", f"the script: the value of {name} is too large")
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                message = f"the script: {name} holds half of a surrogate pair"
                raise ScriptError("run", "value", message) from None


class _Cache:
    """Programs by the hash of their source; the least recently used leaves first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[str, Program] = OrderedDict()
        self._lock = Lock()

    def get(self, source: str) -> Program | None:
        key = source_key(source)
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
            return found

    def put(self, program: Program) -> None:
        with self._lock:
            self._held[program.key] = program
            while len(self._held) > self._most:
                self._held.popitem(last=False)


_cache = _Cache(CACHED)
