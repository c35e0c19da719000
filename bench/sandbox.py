"""What the sandbox costs: runs of scripts against a bare fork of the same process.

    python bench/sandbox.py            the tables, in Markdown (about half a minute)
    python bench/sandbox.py --quick    fewer rounds
    python bench/sandbox.py --guard    exit 1 if Cipher B at 5 000 bars has a p99 of 50 ms or more
    python bench/sandbox.py --write    also puts the tables into docs/benchmarks.md

The yardstick is *bare*: fork, exit and wait of a process that has loaded what the sandbox's own
has. Everything is measured in rounds that call everybody once, so that a busy machine is busy for
all; between two calls there is a pause, as between two users.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

import chartpact as cp
from chartpact import sandbox, script
from chartpact.bars import Bars
from chartpact.sandbox import pool, scripts, wire
from chartpact.script import stock
from chartpact.work.cores import count_cores
from page import machine, put

GUARD_MS = 50.0
PAUSE_S = 0.02
SOURCE = stock.source("cipher_b")
NOTHING = wire.encode({"kind": "nothing"})
HEAD = 'PARAMS = []\nMETA = {"title": "x"}\ndef compute(ohlcv, params, chart):\n'
HOSTILE = [
    f"{HEAD}    for i in range(1000000000):\n        x = i\n",
    f"{HEAD}    x = [0] * 1000000000\n",
    f"{HEAD}    x = 'x'\n    for i in range(60):\n        x = x + x\n",
    f"{HEAD}    for i in range(100000):\n        chart.new_label(i, 1.0, 'x' * 1000)\n",
    f"{HEAD}    for i in range(100000):\n        chart.line(ohlcv.close)\n",
]
FORKS = """
import os, sys, time
from chartpact.sandbox import zygote
zygote.prepare({"turns": 2, "user": 65534})
for _ in sys.stdin:
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    print(time.perf_counter() - began, flush=True)
"""


def walk(count: int) -> Bars:
    """Bars of a random walk, the same every time."""
    chance = np.random.default_rng(11)
    close = np.round(4500 + np.cumsum(chance.normal(0, 2, count)), 2)
    start = np.concatenate((close[:1], close[:-1]))
    high = np.maximum(start, close) + np.round(np.abs(chance.normal(0, 1, count)), 2)
    low = np.minimum(start, close) - np.round(np.abs(chance.normal(0, 1, count)), 2)
    stamps = 1_700_000_100_000 + 300_000 * np.arange(count)
    volume = np.round(chance.lognormal(6, 0.6, count))
    return Bars(stamps, start, high, low, close, volume, "WALK", "5m", 0.01, synthetic=True)


@contextmanager
def bare_forks() -> Iterator[Callable[[], float]]:
    """How long one fork takes of a process like the zygote, whenever it is called."""
    environment = {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": ":".join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", FORKS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    )
    with process:
        assert process.stdin is not None and process.stdout is not None

        def fork() -> float:
            process.stdin.write("\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            return float(process.stdout.readline())  # type: ignore[union-attr]

        yield fork
        process.stdin.close()


def timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def part(times: list[float], share: float) -> float:
    """The time below which this share of them lies, in ms."""
    return sorted(times)[min(int(len(times) * share), len(times) - 1)] * 1000


def costs(rounds: int, bars: Bars) -> str:
    """The table of what runs cost."""
    program = script.load(SOURCE)
    builtin = cp.indicator("cipher_b")
    runs = pool.process_pool()
    with bare_forks() as fork:
        contenders: dict[str, Callable[[], float]] = {
            "bare: fork, exit, wait": fork,
            "a run that does nothing": lambda: timed(lambda: runs.run(NOTHING)),
            "Cipher B as a script, sandboxed": lambda: timed(lambda: sandbox.run(SOURCE, bars)),
            "the same script, in this process": lambda: timed(
                lambda: script.execute(program, bars)
            ),
            "the builtin, in this process": lambda: timed(lambda: builtin(bars)),
        }
        times: dict[str, list[float]] = {name: [] for name in contenders}
        for call in contenders.values():
            call()
        for _ in range(rounds):
            for name, call in contenders.items():
                time.sleep(PAUSE_S)
                times[name].append(call())
    bare = part(times["bare: fork, exit, wait"], 0.5)
    lines = [f"| {len(bars):,} bars | p50 ms | p99 ms | p50 × bare |", "|---|---:|---:|---:|"]
    for name, each in times.items():
        middle = part(each, 0.5)
        lines.append(f"| {name} | {middle:.2f} | {part(each, 0.99):.2f} | {middle / bare:.1f} |")
    return "\n".join(lines)


def crowd(bars: Bars, runs: int = 100, users: int = 20) -> str:
    """So many runs at once, a tenth of them hostile."""
    sandbox.run(SOURCE, bars)

    def one(i: int) -> tuple[bool, float, str]:
        hostile = i % 10 == 0
        source = HOSTILE[i // 10 % len(HOSTILE)] if hostile else SOURCE
        began = time.perf_counter()
        try:
            sandbox.run(source, bars, user=f"user {i % users}")
            kind = "drawn"
        except script.ScriptError as error:
            kind = error.kind
        return hostile, time.perf_counter() - began, kind

    began = time.perf_counter()
    with ThreadPoolExecutor(runs) as threads:
        outcomes = list(threads.map(one, range(runs)))
    whole = time.perf_counter() - began
    honest = [seconds for hostile, seconds, _ in outcomes if not hostile]
    drawn = sum(kind == "drawn" for hostile, _, kind in outcomes if not hostile)
    kinds = sorted({kind for hostile, _, kind in outcomes if hostile})
    return (
        f"{runs} runs at once, {sum(hostile for hostile, _, _ in outcomes)} of them hostile, by "
        f"{users} users on {count_cores()} cores: all answered in {whole:.2f} s "
        f"({runs / whole:.0f} a second). {drawn} of {len(honest)} honest runs drew (p50 "
        f"{part(honest, 0.5):.0f} ms, p99 {part(honest, 0.99):.0f} ms with the waiting); the "
        f"hostile ones ended as {', '.join(kinds)}."
    )


def colder(bars: Bars, pools: int = 10, bursts: int = 20, size: int = 8) -> str:
    """What the first run on a pool takes, and runs that come all at once after a pause."""
    first = []
    for _ in range(pools):
        with pool.Pool() as fresh:
            first.append(timed(lambda pool=fresh: scripts.run(SOURCE, bars, pool=pool)))  # type: ignore[misc]
    sandbox.run(SOURCE, bars)
    together: list[float] = []
    with ThreadPoolExecutor(size) as threads:
        for _ in range(bursts):
            time.sleep(10 * PAUSE_S)
            began = time.perf_counter()

            def answered(_: int, began: float = began) -> float:
                sandbox.run(SOURCE, bars)
                return time.perf_counter() - began

            together += threads.map(answered, range(size))
    return (
        f"The first run of a pool, which starts the sandbox: p50 {part(first, 0.5):.0f} ms, "
        f"p99 {part(first, 0.99):.0f} ms. Bursts of {size} runs: p50 {part(together, 0.5):.0f} ms, "
        f"p99 {part(together, 0.99):.0f} ms until one is answered."
    )


def guard(bars: Bars, runs: int = 100) -> int:
    """Whether the 99th percentile of runs of Cipher B is where it has to be."""
    for _ in range(3):
        sandbox.run(SOURCE, bars)
    times = [timed(lambda: sandbox.run(SOURCE, bars)) for _ in range(runs)]
    late = part(times, 0.99)
    verdict = "ok" if late < GUARD_MS else f"too slow: it has to stay below {GUARD_MS:g} ms"
    print(
        f"Cipher B, {len(bars):,} bars, {runs} sandboxed runs: p50 {part(times, 0.5):.1f} ms, "
        f"p99 {late:.1f} ms: {verdict}"
    )
    return 0 if late < GUARD_MS else 1


def report(quick: bool) -> str:
    bars = walk(5000)
    few = {"pools": 3, "bursts": 5} if quick else {}
    return "\n\n".join([costs(20 if quick else 100, bars), colder(bars, **few), crowd(bars)])


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="fewer rounds")
    options.add_argument("--guard", action="store_true", help="fail when Cipher B is too slow")
    options.add_argument("--write", action="store_true", help="put it into docs/benchmarks.md")
    given = options.parse_args()
    if given.guard:
        return guard(walk(5000))
    text = f"{machine({'NumPy': np.__version__})}\n\n{report(given.quick)}"
    print(text)
    if given.write:
        put("sandbox", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
