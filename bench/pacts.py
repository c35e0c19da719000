"""What the pacts cost: each on 5 000 bars, in the sandbox and in this process, with its steps.

    python bench/pacts.py            the table, in Markdown (about ten seconds)
    python bench/pacts.py --guard    exit 1 if one needs 50 ms or more, or a quarter of the steps
    python bench/pacts.py --write    also puts the table into docs/benchmarks.md

The bars are those of sample:es-5m, twice, one after the other, with the samples' pair and calendar.
Times are processor times, the best of twenty runs: a wall clock would tell who else was busy.
"""

import argparse
import sys
import time
from dataclasses import replace

import numpy as np

import chartpact as cp
from chartpact import catalogue, pacts, sandbox, script, sources
from chartpact.bars import Bars
from chartpact.needs import gather
from chartpact.sandbox import pool
from page import machine, put

COUNT = 5_000
GUARD_MS = 50.0


def twice(bars: Bars) -> Bars:
    """The bars, and the same once more in the weeks after."""
    week = 7 * 86_400_000
    later = -(-int(bars.time[-1] - bars.time[0]) // week) * week
    names = ("open", "high", "low", "close", "volume")
    columns = {name: np.tile(getattr(bars, name), 2) for name in names}
    return replace(bars, time=np.append(bars.time, bars.time + later), **columns)


def measure(rounds: int) -> dict[str, tuple[int, float, float]]:
    """The steps of each pact, and its processor time in the sandbox and here, in ms."""
    bars = twice(cp.load("sample:es-5m"))[-COUNT:]
    if len(bars) != COUNT:
        raise SystemExit(f"{len(bars)} bars are not {COUNT}")
    runs = {}
    for name in pacts.drawable():
        pact = catalogue.pact(name)
        values = {param.name: param.default for param in pact.params}
        supplies = gather(pact.needs(bars, values), sources.fetch)
        pairs = {key: got for key, got in supplies.items() if isinstance(got, Bars)}
        pairs = {key: twice(got) for key, got in pairs.items()}
        events = {key: got for key, got in supplies.items() if isinstance(got, tuple)}
        runs[name] = (pact.code, values, script.Extras(pairs, events))
    steps: dict[str, int] = {}
    sandboxed: dict[str, list[float]] = {name: [] for name in runs}
    here: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, (code, values, extras) in runs.items():
            began = pool.process_pool().cpu_s
            sandbox.run(code, bars, values, extras=extras)
            sandboxed[name].append(pool.process_pool().cpu_s - began)
            began = time.process_time()
            steps[name] = script.execute(script.load(code), bars, values, extras=extras).steps
            here[name].append(time.process_time() - began)
    return {
        name: (steps[name], *(1_000 * min(times[name]) for times in (sandboxed, here)))
        for name in runs
    }


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--guard", action="store_true", help="fail when a pact is too slow")
    options.add_argument("--write", action="store_true", help="put it into docs/benchmarks.md")
    given = options.parse_args()
    told = measure(20)
    budget = script.Limits().steps
    rows = [f"| {COUNT:,} bars | steps | of the budget | sandboxed ms | in this process ms |"]
    rows.append("|---|---:|---:|---:|---:|")
    for name, (steps, sandboxed, here) in told.items():
        share = f"{100 * steps / budget:.1f} %"
        rows.append(f"| `{name}` | {steps:,} | {share} | {sandboxed:.1f} | {here:.1f} |")
    text = machine({"NumPy": np.__version__}) + "\n\n" + "\n".join(rows)
    print(text)
    if given.write:
        put("pacts", text)
    slow = [n for n, (steps, ms, _) in told.items() if ms >= GUARD_MS or steps > budget / 4]
    if given.guard and slow:
        print(f"too slow: {', '.join(slow)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
