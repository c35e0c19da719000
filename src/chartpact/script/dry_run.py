"""The dry run: a script is checked, then tried on synthetic bars with its parameters at default.

It also forecasts what the script costs on as many bars as charts usually have.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact.bars import Bars
from chartpact.lookahead import SIGNAL, prove
from chartpact.params import Param
from chartpact.problem import Problem
from chartpact.script.errors import ScriptError
from chartpact.script.limits import (
    BRIEF,
    DRY_RUN,
    DRY_RUN_BARS,
    FEWEST_PREFIXES,
    FORECAST_BARS,
    MOST_PREFIXES,
    PROOF_BARS,
    PROOF_STEPS,
    TREND_BARS,
    Limits,
)
from chartpact.script.pipeline import execute, inspect, load
from chartpact.script.program import Extras, Inspected, Result

Inspect = Callable[[str], Inspected]
Run = Callable[[str, Bars, Limits, Extras], Result]


@dataclass(frozen=True)
class Verdict:
    """What the checks say of a source, the dry run included.

    `steps_forecast` are the steps that it would take on FORECAST_BARS.
    """

    params: tuple[Mapping[str, Any], ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 0
    errors: tuple[Problem, ...] = ()
    steps_forecast: int = 0
    warnings: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.errors

    def to_json(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "ok": self.ok,
            "params": list(self.params),
            "meta": dict(self.meta),
            "steps": self.steps,
            f"steps_at_{FORECAST_BARS}": self.steps_forecast,
            "warnings": [warning.to_json() for warning in self.warnings],
        }
        if self.errors:
            data["errors"] = [error.to_json() for error in self.errors]
        return data


def run_here(source: str, bars: Bars, limits: Limits, extras: Extras) -> Result:
    """Runs a script in this process, for callers that trust it."""
    return execute(load(source, limits), bars, budget=limits.steps, extras=extras)


def validate(source: str, *, inspect: Inspect = inspect, run: Run = run_here) -> Verdict:
    """Checks a source and tries it on synthetic bars.

    `inspect` and `run` say where that happens: in this process, unless a sandbox hands in its own.
    """
    try:
        inspected = inspect(source)
    except ScriptError as error:  # nothing of the source: it could not be looked at
        return Verdict(errors=(error.at("check").problem,))
    if inspected.errors:
        return Verdict(errors=tuple(error.problem for error in inspected.errors))
    params = tuple(param.to_json() for param in inspected.params)
    try:
        steps = _try(source, inspected.params, run, dry_run_bars(), DRY_RUN)
    except ScriptError as error:
        problem = error.at("dry_run").problem
        return Verdict(params, inspected.meta, 0, (problem,), 0, inspected.warnings)
    forecast, warnings = _forecast(source, inspected.params, run, steps)
    rewriting = _look_for_rewriting(source, inspected.params, run, steps)
    warnings = (*inspected.warnings, *warnings, *rewriting)
    return Verdict(params, inspected.meta, steps, (), forecast, warnings)


def _try(source: str, params: tuple[Param, ...], run: Run, bars: Bars, limits: Limits) -> int:
    """The steps that the script takes on these bars."""
    return run(source, bars, limits, _extras(params, bars)).steps


def _extras(params: tuple[Param, ...], bars: Bars) -> Extras:
    return Extras(
        {param.name: bars for param in params if param.type == "symbol"},
        {param.name: DRY_RUN_EVENTS for param in params if param.type == "calendar"},
    )


def _look_for_rewriting(
    source: str, params: tuple[Param, ...], run: Run, steps: int
) -> tuple[Problem, ...]:
    """Warnings where a few prefixes show that the script changes its past, or knows too early."""
    affordable = PROOF_STEPS * DRY_RUN_BARS // (PROOF_BARS * max(steps, 1))
    try:
        proof = prove(
            lambda bars: run(source, bars, Limits(), _extras(params, bars)).scene,
            wandering_bars(PROOF_BARS),
            max(FEWEST_PREFIXES, min(affordable, MOST_PREFIXES)),
        )
    except ScriptError:
        return ()
    warnings = []
    if proof.rewritten is not None:
        hint = (
            "a value of the last bar, such as close[-1], is not known on earlier ones; what may "
            "change is drawn with provisional=True"
        )
        message = f"it rewrites its past: {proof.rewritten}"
        warnings.append(Problem("lookahead", message, hint, "dry_run"))
    for late in proof.late:
        if late.kind == SIGNAL and late.delay > late.told:
            hint = (
                "a signal counts as known on its bar: draw it on the bar on which it is known, "
                f"and back from there with offset=-{late.delay}"
            )
            message = f"it signals before it can know: {late}"
            warnings.append(Problem("lookahead", message, hint, "dry_run"))
    return tuple(warnings)


def _forecast(
    source: str, params: tuple[Param, ...], run: Run, steps: int
) -> tuple[int, tuple[Problem, ...]]:
    """The steps that FORECAST_BARS take, and a warning where a run on them does not succeed."""
    try:
        return _try(source, params, run, wandering_bars(FORECAST_BARS), Limits()), ()
    except ScriptError as error:
        failed = error
    if failed.kind not in ("budget", "busy"):
        message = f"on {FORECAST_BARS:,} bars {failed.message}"
        forecast = steps * FORECAST_BARS // DRY_RUN_BARS
        return forecast, (failed.at("dry_run").problem.at(message=message),)
    forecast = _extrapolate(source, params, run, steps)
    if failed.kind == "busy":  # The run got no time, so shorter ones have to tell.
        if forecast <= Limits().steps:
            return forecast, ()
        failed = _exhaust(source, params, run)
    most = Limits().steps
    about = float(f"{forecast:.2g}")
    if about > most:
        message = f"{FORECAST_BARS:,} bars take about {about:,.0f} steps, and a run has {most:,}"
    else:
        message = f"{FORECAST_BARS:,} bars take more than the {most:,} steps that a run has"
    forecast = max(forecast, most)
    return forecast, (failed.at("dry_run").problem.at(message=message),)


def _extrapolate(source: str, params: tuple[Param, ...], run: Run, steps: int) -> int:
    """The steps that FORECAST_BARS would take, by a power law through two shorter runs."""
    linear = steps * FORECAST_BARS // DRY_RUN_BARS
    most = Limits().steps
    few, more = DRY_RUN_BARS, TREND_BARS
    taken = []
    for count in (few, more):
        try:
            taken.append(_try(source, params, run, wandering_bars(count), Limits()))
        except ScriptError as error:
            if error.kind != "budget":
                return linear
            taken.append(most)
    growth = log(taken[1] / max(taken[0], 1), more / few)
    return max(int(taken[1] * (FORECAST_BARS / more) ** growth), linear)


def _exhaust(source: str, params: tuple[Param, ...], run: Run) -> ScriptError:
    """The error of a run on FORECAST_BARS with a part of the budget, which takes little time."""
    try:
        _try(source, params, run, wandering_bars(FORECAST_BARS), BRIEF)
    except ScriptError as error:
        if error.kind == "budget":
            return error
    return ScriptError("dry_run", "budget", "")  # at a place that is not known


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
    reach = 0.5 + 0.4 * np.abs(np.sin(at * 1.7))
    return _bars(close, reach, reach)


def wandering_bars(count: int) -> Bars:
    """Bars that wander, with as many gaps as markets have.

    On waves every guess of the future comes true, and gaps are filled soon: a script that follows
    them would seem cheap.
    """
    at = np.arange(count)
    close = 100 + 0.9 * np.cumsum(np.sin(2.1 * at * at))
    above, below = (0.05 + 0.27 * np.abs(np.sin(at * pace)) for pace in (1.7, 1.3))
    return _bars(close, above, below)


def _bars(
    close: NDArray[np.float64], above: NDArray[np.float64], below: NDArray[np.float64]
) -> Bars:
    """Bars with these closes, which reach so far above and below open and close."""
    at = np.arange(len(close))
    close = np.round(close, 2)
    start = np.concatenate((close[:1], close[:-1]))
    return Bars(
        1_700_000_100_000 + 300_000 * at,
        start,
        np.round(np.maximum(start, close) + above, 2),
        np.round(np.minimum(start, close) - below, 2),
        close,
        np.array(1000 + 10 * (at % 17), dtype=np.float64),
        "DRYRUN",
        "5m",
        0.01,
        synthetic=True,
    )
