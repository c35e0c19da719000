"""Scripts in hardened processes: run them, inspect them, validate them."""

import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from chartpact.bars import Bars
from chartpact.cache import Cache
from chartpact.sandbox import layers, packing, wire
from chartpact.sandbox.answers import log_fault, read_answer, read_inspected, read_result, weigh
from chartpact.sandbox.endings import RunBounds, RunFailed
from chartpact.sandbox.memory_files import Sealed
from chartpact.sandbox.pool import Answered, Pool, Shared, process_pool
from chartpact.sandbox.zygote_handle import SandboxError
from chartpact.script.dry_run import Verdict
from chartpact.script.dry_run import validate as validate_with
from chartpact.script.errors import ScriptError
from chartpact.script.limits import Limits
from chartpact.script.pipeline import execute, load
from chartpact.script.pipeline import inspect as inspect_here
from chartpact.script.program import Extras, Inspected, Result, source_key
from chartpact.script.source.parser import check_size

_ANSWER, _ANSWER_PER_BAR = 4 << 20, 512  # bytes

# By user and by the name of the script: a hit under another key would tell that somebody has it.
_inspected: Cache[tuple[str | None, str, str], Inspected] = Cache(
    1024, weight=64 << 20, weigh=weigh
)
# The last bars that scripts ran on, by their id, in memory files that all runs on them share. The
# bars are kept with their file, so that no others get their id meanwhile.
MOST_SHARED = 8
_shared_bars: Cache[int, tuple[Bars, Sealed]] = Cache(
    MOST_SHARED, weight=16 << 20, weigh=lambda entry: entry[1].size
)


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
    own: bool = False,
) -> Result:
    """What the script draws on the bars, in a process of its own.

    `user` is whose turn it takes, `name` tells scripts of one user apart. Without a pool of the
    caller's, that of this process serves. Where there is no sandbox, the caller's `own` script runs
    unprotected, with a warning.
    """
    limits, extras, pool = limits or Limits(), extras or Extras(), pool or process_pool()
    for some in (bars, *extras.symbols.values()):
        if len(some) > limits.bars:
            message = f"{len(some):,} bars are too many: a script runs on {limits.bars:,}"
            hint = "use the last bars alone, or a higher timeframe"
            raise ScriptError("run", "size", message, hint)
    inspected = inspect(source, limits=limits, user=user, name=name, pool=pool, own=own)
    if inspected.errors:
        raise inspected.errors[0]
    if _is_unprotected(pool, own):
        began = time.process_time()
        try:
            program = load(source, limits)
            result = execute(program, bars, params, budget=limits.steps, extras=extras)
            return replace(result, cpu_ms=1000 * (time.process_time() - began))
        except ScriptError as error:
            log_fault(error.internal)
            raise
        finally:
            pool.cpu_s += time.process_time() - began
    answer = _ANSWER + _ANSWER_PER_BAR * len(bars)
    allowance = RunBounds(limits.cpu_ms, limits.wall_ms, limits.memory_mb << 20, answer)
    parts = _encode_run(source, inspected, params, limits, extras)
    answered = _ask(pool, parts, allowance, user, "run", partial(_share, bars))
    result = read_answer(partial(read_result, bars=len(bars)), answered, "run")
    return replace(result, cpu_ms=answered.cpu_ms)


def inspect(
    source: str,
    *,
    limits: Limits | None = None,
    user: str | None = None,
    name: str = "",
    pool: Pool | None = None,
    own: bool = False,
) -> Inspected:
    """What the source declares, or what is wrong with it; compiled in a process of its own."""
    limits, pool = limits or Limits(), pool or process_pool()
    key = (user, name, source_key(source))
    if (known := _inspected.get(key)) is not None:
        return known
    try:
        check_size(source, limits.source_bytes)
    except ScriptError as error:
        return Inspected(errors=(error,))
    if _is_unprotected(pool, own):
        return inspect_here(source, limits)
    parts = wire.encode({"kind": "inspect", "source": source, "limits": asdict(limits)})
    usual = Limits()
    allowance = RunBounds(usual.cpu_ms, usual.wall_ms, limits.memory_mb << 20, _ANSWER)
    answered = _ask(pool, parts, allowance, user, "check")
    inspected = read_answer(read_inspected, answered, "check")
    if not inspected.errors:
        _inspected.put(key, inspected)
    return inspected


def validate(
    source: str,
    *,
    user: str | None = None,
    name: str = "",
    pool: Pool | None = None,
    own: bool = False,
) -> Verdict:
    """Checks a source and tries it on synthetic bars, each in a process of its own."""
    apart: dict[str, Any] = {"user": user, "name": name, "pool": pool, "own": own}

    def run_apart(source: str, bars: Bars, limits: Limits, extras: Extras) -> Result:
        return run(source, bars, limits=limits, extras=extras, **apart)

    return validate_with(source, inspect=partial(inspect, **apart), run=run_apart)


def _is_unprotected(pool: Pool, own: bool) -> bool:
    """Whether a script runs in this very process: without a sandbox, if it is trusted."""
    if not pool.unavailable:
        return False
    if layers.trusted():
        return True
    if not own:
        message = f"scripts cannot be run safely here: {pool.unavailable}"
        hint = f"the operator can run scripts of trusted users, unprotected, with {layers.TRUST}=1"
        raise ScriptError("run", "crash", message, hint)
    message = f"scripts run unprotected, in this very process: {pool.unavailable}"
    warnings.warn(message, layers.UnprotectedWarning, stacklevel=3)
    return True


def _encode_run(
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
        "first_visible": extras.first_visible,
    }
    try:
        return wire.encode(job, columns)
    except (TypeError, ValueError, RecursionError):
        message = "a parameter or an event holds something that is neither text nor finite number"
        hint = "give parameters as texts, numbers, True or False"
        raise ScriptError("run", "type", message, hint) from None


def _share(bars: Bars) -> Sealed:
    """The memory file of these bars."""

    def seal() -> tuple[Bars, Sealed]:
        columns: list[wire.Column] = []
        document = {"bars": packing.pack_bars(bars, columns)}
        return bars, Sealed("bars", wire.encode(document, columns))

    return _shared_bars.get_or_make(id(bars), seal)[1]


def _ask(
    pool: Pool,
    parts: list[wire.Part],
    allowance: RunBounds,
    user: str | None,
    step: str,
    shared: Shared = lambda: None,
) -> Answered:
    try:
        return pool.run(parts, allowance, user, shared)
    except RunFailed as failed:
        raise ScriptError(step, failed.kind, failed.message, failed.hint) from None
    except SandboxError as error:
        message = f"scripts cannot be run here: {error}"
        raise ScriptError(step, "crash", message, "this host needs attention") from None
