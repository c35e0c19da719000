"""What scripts cost: loops against CPython, the sandbox against a fork, all against PyneCore; and
naive ports of community indicators on 5,000 and on 20,000 bars.

    python bench/script.py            the tables, in Markdown (about a minute)
    python bench/script.py --quick    fewer rounds
    python bench/script.py --write    also puts the tables into docs/benchmarks.md
    python bench/script.py --community   all eighteen community scripts alone

PyneCore runs the same EMA, RSI and ATR bar by bar, as it runs every script; its first run of a
script, which also translates it, is not counted.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median

import numpy as np

import chartpact as cp
import sandbox
from chartpact import script
from chartpact.bars import Bars
from chartpact.sandbox import run
from chartpact.sandbox.pool import process_pool
from page import machine, put

HEAD = 'PARAMS = []\nMETA = {"title": "Bench"}\n\ndef compute(ohlcv, params, chart):\n'
EMA_LOOP = """    close = [ohlcv.close[i] for i in range(len(ohlcv))]
    total = 0.0
    for i in range(20):
        total += close[i]
    ema = total / 20
    for i in range(20, len(close)):
        ema += (close[i] - ema) * 2 / 21
    chart.hline(ema)
"""
MILLION = """    total = 0
    for i in range(1000000):
        total += i
    chart.hline(float(total))
"""
SERIES = """    chart.line(ta.ema(ohlcv.close, 20), title="EMA")
    chart.line(ta.rsi(ohlcv.close, 14), title="RSI")
    chart.line(ta.atr(ohlcv, 14), title="ATR")
"""
BUDGET = 100_000_000  # a loop of a million turns is beyond the usual one
COMMUNITY = Path(__file__).parents[1] / "tests" / "script" / "community"
SIX = "chandelier_exit fair_value_gaps nadaraya_watson order_blocks sessions squeeze".split()
PRICES = ("open", "high", "low", "close", "volume")
WEEK_MS = 7 * 86_400_000
PYNE = '''"""@pyne
"""
from pynecore.lib import close, plot, script, ta


@script.indicator(title="Bench")
def main():
    plot(ta.ema(close, 20), "EMA")
    plot(ta.rsi(close, 14), "RSI")
    plot(ta.atr(14), "ATR")
'''


def plain_ema(bars: Bars) -> float:
    """The loop of the script, as Python."""
    close = [bars.close.item(i) for i in range(len(bars))]
    total = 0.0
    for i in range(20):
        total += close[i]
    ema = total / 20
    for i in range(20, len(close)):
        ema += (close[i] - ema) * 2 / 21
    return ema


def plain_sum(count: int) -> float:
    total = 0
    for i in range(count):
        total += i
    return float(total)


def fastest(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The shortest time of each, in ms, all of them called in turn."""
    times = {name: float("inf") for name in contenders}
    for call in contenders.values():
        call()
    for _ in range(rounds):
        for name, call in contenders.items():
            times[name] = min(times[name], 1000 * sandbox.timed(call))
    return times


def loops(rounds: int) -> str:
    """Loops in the language, against the same loops in Python, both in this process."""
    bars = sandbox.walk(50_000)
    ema, million = script.load(HEAD + EMA_LOOP), script.load(HEAD + MILLION)
    pairs = {
        "an EMA of 50,000 bars, bar by bar": (
            lambda: script.execute(ema, bars),
            lambda: plain_ema(bars),
        ),
        "adding up a million numbers": (
            lambda: script.execute(million, bars, budget=BUDGET),
            lambda: plain_sum(1_000_000),
        ),
    }
    lines = ["| loop | script ms | CPython ms | script × CPython |", "|---|---:|---:|---:|"]
    for name, (ours, theirs) in pairs.items():
        found = fastest({"ours": ours, "theirs": theirs}, rounds)
        ratio = found["ours"] / found["theirs"]
        lines.append(f"| {name} | {found['ours']:.1f} | {found['theirs']:.1f} | {ratio:.2f} |")
    return "\n".join(lines)


def pyne(bars: Bars, folder: Path) -> Callable[[], object]:
    """PyneCore on the same bars."""
    from pynecore.core.script_runner import ScriptRunner
    from pynecore.core.syminfo import SymInfo
    from pynecore.types.ohlcv import OHLCV

    path = folder / "bench_script.py"
    path.write_text(PYNE)
    columns = (bars.time, bars.open, bars.high, bars.low, bars.close, bars.volume)
    rows = [OHLCV(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
    symbol = SymInfo(
        prefix="X",
        description="",
        ticker="X",
        currency="USD",
        period="5",
        type="futures",
        mintick=0.01,
        pricescale=100,
        pointvalue=1.0,
        mincontract=1.0,
        opening_hours=[],
        session_starts=[],
        session_ends=[],
        timezone="UTC",
    )
    return lambda: ScriptRunner(path, iter(rows), symbol, last_bar_index=len(rows) - 1).run()


def against_pyne(rounds: int) -> str:
    """EMA, RSI and ATR of 5,000 bars: ours in the full sandbox, PyneCore in this process."""
    bars = sandbox.walk(5000)
    with tempfile.TemporaryDirectory() as folder:
        found = fastest(
            {
                "ours": lambda: run(HEAD + SERIES, bars),
                "PyneCore": pyne(bars, Path(folder)),
            },
            rounds,
        )
    ratio = found["PyneCore"] / found["ours"]
    return (
        f"EMA, RSI and ATR of {len(bars):,} bars: {found['ours']:.1f} ms as a script in the full "
        f"sandbox, {found['PyneCore']:.0f} ms in PyneCore {version('pynesys-pynecore')}: "
        f"{ratio:.0f} × faster."
    )


def sample(count: int) -> Bars:
    """The sample of five-minute bars, repeated week after week until it is so long."""
    bars = cp.load("sample:es-5m")
    times = -(-count // len(bars))
    weeks = -(-int(bars.time[-1] - bars.time[0]) // WEEK_MS)
    stamps = [bars.time + number * weeks * WEEK_MS for number in range(times)]
    columns = [np.tile(getattr(bars, name), times)[-count:] for name in PRICES]
    stamp = np.concatenate(stamps)[-count:]
    return Bars(stamp, *columns, bars.symbol, bars.timeframe, bars.tick_size, synthetic=True)


def community(names: list[str], rounds: int) -> str:
    """Naive ports of community indicators, in the full sandbox: processor time and steps."""
    lines = [
        "| community script | 5,000 bars: ms | steps | 20,000 bars: ms | steps |",
        "|---|---:|---:|---:|---:|",
    ]
    for name in names:
        source = (COMMUNITY / f"{name}.star").read_text()
        cells = [figures(source, sample(count), rounds) for count in (5_000, 20_000)]
        lines.append(f"| {name.replace('_', ' ')} | {' | '.join(cells)} |")
    return "\n".join(lines)


def figures(source: str, bars: Bars, rounds: int) -> str:
    """The median processor time of a run, and its steps."""
    pool, times = process_pool(), []
    for _ in range(rounds):
        before = pool.cpu_s
        try:
            steps = f"{run(source, bars).steps / 1e6:.1f} M"
        except script.ScriptError as error:
            return f"– | {error.kind}"
        times.append(1000 * (pool.cpu_s - before))
    return f"{median(times):.0f} | {steps}"


def report(quick: bool) -> str:
    rounds = 3 if quick else 10
    parts = [loops(rounds), against_pyne(rounds), community(SIX, rounds), sandbox.report(quick)]
    return "\n\n".join(parts)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--quick", action="store_true", help="fewer rounds")
    options.add_argument("--write", action="store_true", help="put the tables into the docs")
    options.add_argument("--community", action="store_true", help="the community scripts alone")
    args = options.parse_args()
    if args.community:
        print(community(sorted(path.stem for path in COMMUNITY.glob("*.star")), 3))
        return 0
    began = time.perf_counter()
    text = f"{machine({'pynesys-pynecore': version('pynesys-pynecore')})}\n\n{report(args.quick)}"
    print(text)
    print(f"({time.perf_counter() - began:.0f} s)", file=sys.stderr)
    if args.write:
        put("script", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
