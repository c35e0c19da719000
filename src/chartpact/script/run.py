"""The doors of the language: check a source, compile it, run it on bars."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from chartpact.bars import Bars
from chartpact.params import IndicatorError, Param
from chartpact.params import resolve as resolve_params
from chartpact.script import host
from chartpact.script.check import MOST_PROBLEMS
from chartpact.script.check import check as check_tree
from chartpact.script.compile import TooIntricate, compile_module
from chartpact.script.errors import ScriptError
from chartpact.script.explain import explained
from chartpact.script.host.chart import Chart
from chartpact.script.host.ohlcv import Ohlcv, beside
from chartpact.script.kinds import NONE, PARAM_KINDS, Kinds
from chartpact.script.limits import DRY_RUN, DRY_RUN_BARS, Limits
from chartpact.script.meter import Meter
from chartpact.script.presence import LARGEST_INT, MOST_TEXT, SOURCES, presence
from chartpact.script.program import Extras, Program, Result, source_key
from chartpact.script.runtime import Runtime
from chartpact.script.tokens import normalised, read
from chartpact.script.values import FrozenDict, adopted

if TYPE_CHECKING:
    from chartpact.sandbox.scripts import Inspected

CACHED = 1024


def compile(source: str, limits: Limits | None = None) -> Program:
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


def run(
    source: str,
    bars: Bars,
    params: Mapping[str, Any] | None = None,
    *,
    limits: Limits | None = None,
    user: str | None = None,
    name: str = "",
    extras: Extras | None = None,
) -> Result:
    """What a script draws on the bars, in a fresh process that can do nothing else."""
    from chartpact.sandbox import scripts

    return scripts.run(source, bars, params, limits=limits, user=user, name=name, extras=extras)


def inspect(source: str, *, user: str | None = None, name: str = "") -> "Inspected":
    """What a script declares, or all that is wrong with it; it is compiled, and not run."""
    from chartpact.sandbox import scripts

    return scripts.inspect(source, user=user, name=name)


@dataclass(frozen=True)
class Verdict:
    """What the checks say of a source, the dry run included."""

    params: tuple[Mapping[str, Any], ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 0
    errors: tuple[dict[str, Any], ...] = ()

    @property
    def ok(self) -> bool:
        return not self.errors

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "ok": self.ok,
            "params": list(self.params),
            "meta": dict(self.meta),
            "steps": self.steps,
        }
        if self.errors:
            data["errors"] = list(self.errors)
        return data


def check(source: str, *, user: str | None = None, name: str = "") -> Verdict:
    """Checks a source and tries it on synthetic bars, its parameters at their defaults."""
    try:
        found = inspect(source, user=user, name=name)
    except ScriptError as error:  # nothing of the source: it could not be looked at
        return Verdict(errors=(error.at("check").to_json(),))
    if found.errors:
        return Verdict(errors=tuple(each.to_json() for each in found.errors))
    params = tuple(each.to_json() for each in found.params)
    try:
        result = _dry_run(source, found.params, user, name)
    except ScriptError as error:
        return Verdict(params, found.meta, 0, (error.at("dry_run").to_json(),))
    return Verdict(params, found.meta, result.steps)


def _dry_run(source: str, params: tuple[Param, ...], user: str | None, name: str) -> Result:
    bars = dry_run_bars()
    extras = Extras(
        {each.name: bars for each in params if each.type == "symbol"},
        {each.name: DRY_RUN_EVENTS for each in params if each.type == "calendar"},
    )
    try:
        return run(source, bars, limits=DRY_RUN, user=user, name=name, extras=extras)
    except ScriptError as error:
        if error.kind != "busy":
            raise
    # Little time was allowed, and others had it: that says nothing of the script.
    return run(source, bars, user=user, name=name, extras=extras)


# Events with every field that a calendar gives, during the bars that a script is tried on.
DRY_RUN_EVENTS = tuple(
    {
        "id": f"dry-run-{number}",
        "title": "Dry run",
        "country": "US",
        "currency": "USD",
        "time_utc": 1_700_000_100_000 + 300_000 * bar,
        "all_day": False,
        "tentative": False,
        "impact": impact,
        "actual": None if number else "1.0",
        "forecast": "1.5",
        "previous": "2.0",
        "revised": None,
        "unit": "%",
        "period": None,
        "source": "dry run",
        "fetched_at": 1_700_000_000_000,
    }
    for number, (bar, impact) in enumerate([(20, "high"), (90, "medium")])
)


def dry_run_bars(count: int = DRY_RUN_BARS) -> Bars:
    """Bars to try a script on: waves with a trend, the same every time."""
    at = np.arange(count)
    close = 100 + 0.05 * at + 5 * np.sin(at / 7) + 2 * np.sin(at / 2.3)
    close = np.round(close, 2)
    start = np.concatenate((close[:1], close[:-1]))
    reach = 0.5 + 0.4 * np.abs(np.sin(at * 1.7))
    return Bars(
        1_700_000_100_000 + 300_000 * at,
        start,
        np.round(np.maximum(start, close) + reach, 2),
        np.round(np.minimum(start, close) - reach, 2),
        close,
        np.array(1000 + 10 * (at % 17), dtype=np.float64),
        "DRYRUN",
        "5m",
        0.01,
        synthetic=True,
    )
