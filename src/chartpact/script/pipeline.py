"""The language from end to end: examine a source, load it as a program, execute that on bars."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from chartpact.bars import Bars, BarsLike, to_bars
from chartpact.checks import is_text
from chartpact.params import Param
from chartpact.params import resolve as resolve_params
from chartpact.prices import SOURCES
from chartpact.problem import Failure
from chartpact.script import host
from chartpact.script.check.checker import check_module
from chartpact.script.check.declarations import read_declarations
from chartpact.script.check.declared import LARGEST_INT, MOST_TEXT
from chartpact.script.compile.emitter import compile_module
from chartpact.script.compile.inference import infer_kinds
from chartpact.script.compile.kinds import NONE, PARAM_KINDS
from chartpact.script.diagnosis.explain import explain
from chartpact.script.diagnosis.lookahead import warn_of_lookahead
from chartpact.script.errors import LimitReached, ScriptError
from chartpact.script.host.chart import ScriptChart
from chartpact.script.host.ohlcv import Ohlcv, lay_on
from chartpact.script.limits import Limits
from chartpact.script.program import (
    Extras,
    Inspected,
    Program,
    Result,
    compiled_programs,
    source_key,
)
from chartpact.script.runtime.intrinsics import Runtime
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.values import FrozenDict, adopt
from chartpact.script.source.parser import normalize, parse


def load(source: str, limits: Limits | None = None) -> Program:
    """The program of a source that passes every check; raises the first `ScriptError`."""
    program, problems = examine(source, limits or Limits())
    if program is None:
        raise problems[0]
    return program


def inspect(source: str, limits: Limits | None = None) -> Inspected:
    """What a source declares, or all that is wrong with it; it is compiled, and not run."""
    program, problems = examine(source, limits or Limits())
    if program is None:
        return Inspected(errors=tuple(problems))
    return Inspected(program.params, program.meta, (), program.dump(), program.warnings)


def examine(source: str, limits: Limits) -> tuple[Program | None, list[ScriptError]]:
    """The program of a source, or all that is wrong with it."""
    source = normalize(source)
    key = source_key(source)
    if (known := compiled_programs.get(key)) is not None:
        return known, []
    try:
        tree = parse(source, limits)
    except ScriptError as error:
        return None, [error]
    checked, problems = check_module(tree, source, host.namespaces())
    if problems:
        return None, problems
    params, meta, problems = read_declarations(checked, source)
    if problems:
        return None, problems
    try:
        param_kinds = {param.name: _kinds_of(param) for param in params}
        kinds = infer_kinds(checked, param_kinds, host.RESULTS)
        compiled = compile_module(checked, kinds)
    except (RecursionError, MemoryError, LimitReached):
        message = "this script is too intricate to be compiled"
        return None, [ScriptError("check", "size", message, "split it into smaller functions")]
    warnings = warn_of_lookahead(checked, kinds, source, host.windows())
    program = Program(
        source,
        params,
        meta,
        compiled.code,
        compiled.weights,
        compiled.uses,
        (*checked.warnings, *warnings),
    )
    compiled_programs.put(key, program)
    return program, []


def _kinds_of(param: Param) -> int:
    kinds = PARAM_KINDS[param.type]
    return kinds if param.default is not None else kinds | NONE


def execute(
    program: Program,
    bars: BarsLike,
    params: Mapping[str, Any] | None = None,
    *,
    budget: int = Limits().steps,
    extras: Extras | None = None,
) -> Result:
    """What the program draws on the bars, in this process; nothing is read or written."""
    bars = to_bars(bars)
    meter = Meter(budget)
    runtime = Runtime(meter)
    extras = extras or Extras()
    chart = ScriptChart(bars, program.meta, meter)
    values = _param_values(program.params, params or {})
    names = runtime.names()
    names.update(host.functions(program.uses, meter, len(bars), runtime.call))
    try:
        with np.errstate(all="ignore"):
            first = extras.first_visible
            ohlcv = Ohlcv(bars, meter, call=runtime.call, first_visible=first)
            script_params = _script_params(program.params, values, ohlcv, bars, extras)
            runtime.load(program.code, program.weights, names)
            meter.charge(program.weights["compute"])
            names["compute"](ohlcv, script_params, chart)
            scene = chart.scene()
    except ScriptError:
        raise
    except Exception as error:  # noqa: BLE001  (every failure of a script becomes a value)
        raise explain(error, program.source) from None
    return Result(scene, meter.used, tuple(runtime.builtins.log))


def _param_values(params: tuple[Param, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """The value of every parameter, checked, its default where none is given."""
    try:
        values = resolve_params(params, given, "the script")
    except Failure as failure:
        kind = failure.kind if failure.kind in ("name", "type") else "value"
        raise ScriptError("run", kind, failure.message, failure.hint) from None
    for name, value in values.items():
        too_large = isinstance(value, int) and abs(value) > LARGEST_INT
        if too_large or (isinstance(value, str) and len(value) > MOST_TEXT):
            raise ScriptError("run", "value", f"the script: the value of {name} is too large")
        if isinstance(value, str) and not is_text(value):
            message = f"the script: {name} holds half of a surrogate pair"
            raise ScriptError("run", "value", message)
    return values


def _script_params(
    params: tuple[Param, ...], values: Mapping[str, Any], ohlcv: Ohlcv, bars: Bars, extras: Extras
) -> Any:
    """`params` as a script sees it: sources are series, symbols and calendars what was fetched."""
    return FrozenDict(
        {param.name: _script_value(param, values, ohlcv, bars, extras) for param in params}
    )


def _script_value(
    param: Param, values: Mapping[str, Any], ohlcv: Ohlcv, bars: Bars, extras: Extras
) -> Any:
    value = values[param.name]
    if param.type == "source":
        if value not in SOURCES:
            message = f"the script: {param.name}={value!r:.60} is not a price series"
            raise ScriptError("run", "value", message, f"use {', '.join(SOURCES)}")
        return getattr(ohlcv, str(value))
    if param.type == "symbol":
        other = extras.symbols.get(param.name)
        if other is None:
            return None
        return lay_on(bars, other, ohlcv.meter, ohlcv.call, ohlcv.first_visible)
    if param.type == "calendar":
        events = extras.calendars.get(param.name)
        return None if events is None else adopt([dict(event) for event in events])
    return adopt(value)
