"""How fast `chartpact.ta` is: one interleaved run against TA-Lib, bottleneck and pandas-ta-classic.

    python bench/ta.py            the tables, in Markdown (under three minutes)
    python bench/ta.py --quick    fewer rounds (under half a minute)
    python bench/ta.py --write    also puts them into docs/benchmarks.md

Every contender is called as its users call it. A batch ends in one array for all series, from
whoever computes it. A time is processor time, the least of several rounds; that of a batch is the
time that passed, since ours uses all processors. A round calls everybody once before anybody twice,
so that a busy machine is busy for all. All that is run three times, and of the ratios of two times
the median counts.
"""

import argparse
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from time import perf_counter, process_time

import numpy as np
from tqdm import tqdm

from chartpact import ta
from chartpact.ta.kernels import BACKEND
from page import put

os.environ.setdefault("POLARS_SKIP_CPU_CHECK", "1")
warnings.simplefilter("ignore")  # pandas-ta-classic computes with zeros and warns of it

import bottleneck as bn  # noqa: E402
import pandas as pd  # noqa: E402
import pandas_ta_classic as pta  # noqa: E402
import talib  # noqa: E402

OTHERS = ("TA-Lib", "bottleneck", "pandas-ta-classic")

# function | ours | TA-Lib | bottleneck | pandas-ta-classic (on Series, in capitals)
# ≈ marks another definition of about the same work: the last values are not compared.
CASES = """
sma         | ta.sma(c, 20)              | talib.SMA(c, 20)               | bn.move_mean(c, 20)   | pta.sma(C, 20, talib=False)
ema         | ta.ema(c, 20)              | talib.EMA(c, 20)               |                       | pta.ema(C, 20, talib=False)
rma         | ta.rma(c, 14)              | talib.RMA(c, 14)               |                       | ≈pta.rma(C, 14)
wma         | ta.wma(c, 20)              | talib.WMA(c, 20)               |                       | pta.wma(C, 20, talib=False)
hma         | ta.hma(c, 16)              | talib.HMA(c, 16)               |                       | ≈pta.hma(C, 16)
vwma        | ta.vwma(c, v, 20)          | talib.VWMA(c, v, 20)           |                       | pta.vwma(C, V, 20)
alma        | ta.alma(c, 9, 0.85, 6)     |                                |                       | ≈pta.alma(C, 9)
swma        | ta.swma(c)                 |                                |                       |
vwap        | ta.vwap(ta.hlc3(h, l, c), v) | talib.VWAP(h, l, c, v)       |                       |
vwap_anchored | ta.vwap(c, v, u)         |                                |                       |
vwap_bands  | ta.vwap(c, v, u, 2.0)      |                                |                       |
rsi         | ta.rsi(c, 14)              | talib.RSI(c, 14)               |                       | pta.rsi(C, 14, talib=False)
stoch       | ta.stoch(c, h, l, 14)      | talib.STOCHF(h, l, c, 14, 1)   |                       | pta.stochf(H, L, C, 14, 1, talib=False)
macd        | ta.macd(c, 12, 26, 9)      | talib.MACD(c, 12, 26, 9)       |                       | pta.macd(C, 12, 26, 9, talib=False)
cci         | ta.cci(ta.hlc3(h, l, c), 20) | talib.CCI(h, l, c, 20)       |                       | pta.cci(H, L, C, 20, talib=False)
cmo         | ta.cmo(c, 14)              | talib.CMOU(c, 14)              |                       | pta.cmo(C, 14, talib=False)
cog         | ta.cog(c, 10)              |                                |                       | ≈pta.cg(C, 10)
mfi         | ta.mfi(ta.hlc3(h, l, c), v, 14) | talib.MFI(h, l, c, v, 14) |                       | pta.mfi(H, L, C, V, 14, talib=False)
tsi         | ta.tsi(c, 13, 25)          | ≈talib.TSI(c, 25, 13)          |                       | ≈pta.tsi(C, 13, 25)
wpr         | ta.wpr(h, l, c, 14)        | talib.WILLR(h, l, c, 14)       |                       | pta.willr(H, L, C, 14, talib=False)
mom         | ta.mom(c, 10)              | talib.MOM(c, 10)               |                       | pta.mom(C, 10, talib=False)
roc         | ta.roc(c, 10)              | talib.ROC(c, 10)               |                       | pta.roc(C, 10, talib=False)
change      | ta.change(c)               |                                |                       |
tr          | ta.tr(h, l, c)             | talib.TRANGE(h, l, c)          |                       | pta.true_range(H, L, C, talib=False)
atr         | ta.atr(h, l, c, 14)        | talib.ATR(h, l, c, 14)         |                       | pta.atr(H, L, C, 14, talib=False)
stdev       | ta.stdev(c, 20)            | talib.STDDEV(c, 20)            | bn.move_std(c, 20)    | ≈pta.stdev(C, 20, talib=False)
variance    | ta.variance(c, 20)         | talib.VAR(c, 20)               | bn.move_var(c, 20)    | ≈pta.variance(C, 20, talib=False)
dev         | ta.dev(c, 20)              | talib.AVGDEV(c, 20)            |                       | pta.mad(C, 20)
bb          | ta.bb(c, 20, 2)            | ≈talib.BBANDS(c, 20, 2, 2)     |                       | ≈pta.bbands(C, 20, 2, talib=False)
kc          | ta.kc(c, h, l, c, 20, 2)   | ≈talib.KC(h, l, c, 20, 20, 2)  |                       | ≈pta.kc(H, L, C, 20, 2)
dmi         | ta.dmi(h, l, c, 14, 14)    | (talib.PLUS_DI(h, l, c, 14), talib.MINUS_DI(h, l, c, 14), talib.ADX(h, l, c, 14)) | | ≈pta.adx(H, L, C, 14, talib=False)
supertrend  | ta.supertrend(h, l, c, 3, 10) | talib.SUPERTREND(h, l, c, 10, 3) |                 | ≈pta.supertrend(H, L, C, 10, 3)
sar         | ta.sar(h, l, c, 0.02, 0.02, 0.2) | talib.SAR(h, l, 0.02, 0.2) |                      | ≈pta.psar(H, L, C, talib=False)
highest     | ta.highest(c, 20)          | talib.MAX(c, 20)               | bn.move_max(c, 20)    |
lowest      | ta.lowest(c, 20)           | talib.MIN(c, 20)               | bn.move_min(c, 20)    |
highestbars | ta.highestbars(c, 20)      | ≈talib.MAXINDEX(c, 20)         | ≈bn.move_argmax(c, 20) |
lowestbars  | ta.lowestbars(c, 20)       | ≈talib.MININDEX(c, 20)         | ≈bn.move_argmin(c, 20) |
pivot_high  | ta.pivot_high(h, 5, 5)     |                                |                       |
pivot_low   | ta.pivot_low(l, 5, 5)      |                                |                       |
median      | ta.median(c, 20)           |                                | bn.move_median(c, 20) | pta.median(C, 20)
range       | ta.range(c, 20)            |                                |                       |
mode        | ta.mode(c, 20)             |                                |                       |
percentrank | ta.percentrank(c, 20)      | ≈talib.PERCENTRANK(c, 20)      | ≈bn.move_rank(c, 21)  |
percentile_linear_interpolation | ta.percentile_linear_interpolation(c, 20, 75) | ≈talib.PERCENTILE(c, 20, 75) | | ≈pta.quantile(C, 20, 0.75)
percentile_nearest_rank | ta.percentile_nearest_rank(c, 20, 75) |                    |                       |
linreg      | ta.linreg(c, 20, 0)        | talib.LINEARREG(c, 20)         |                       | pta.linreg(C, 20, talib=False)
correlation | ta.correlation(c, v, 20)   | talib.CORREL(c, v, 20)         |                       | pta.correl(C, V, 20)
sum         | ta.sum(c, 20)              | talib.SUM(c, 20)               | bn.move_sum(c, 20)    |
cum         | ta.cum(c)                  | talib.CUMSUM(c)                |                       |
max         | ta.max(c)                  |                                |                       |
min         | ta.min(c)                  |                                |                       |
obv         | ta.obv(c, v)               | ≈talib.OBV(c, v)               |                       | ≈pta.obv(C, V, talib=False)
accdist     | ta.accdist(h, l, c, v)     | talib.AD(h, l, c, v)           |                       | pta.ad(H, L, C, V, talib=False)
pvt         | ta.pvt(c, v)               | ≈talib.PVT(c, v)               |                       | ≈pta.pvt(C, V)
pvi         | ta.pvi(c, v)               | ≈talib.PVI(c, v)               |                       | ≈pta.pvi(C, V)
nvi         | ta.nvi(c, v)               | ≈talib.NVI(c, v)               |                       | ≈pta.nvi(C, V)
wad         | ta.wad(h, l, c)            | talib.WAD(h, l, c)             |                       |
crossover   | ta.crossover(c, o)         |                                |                       |
crossunder  | ta.crossunder(c, o)        |                                |                       |
cross       | ta.cross(c, o)             |                                |                       |
rising      | ta.rising(c, 3)            |                                |                       |
falling     | ta.falling(c, 3)           |                                |                       |
barssince   | ta.barssince(u)            |                                |                       |
valuewhen   | ta.valuewhen(u, c, 1)      |                                |                       |
rci         | ta.rci(c, 10)              |                                |                       |
swings      | ta.swings(h, l, 5, 5)      |                                |                       |
structure   | ta.structure(h, l, c, 5, 5) |                                |                       |
fvg         | ta.fvg(o, h, l, c)         |                                |                       |
zone_life   | ta.zone_life(h, l, c, *ta.fvg(o, h, l, c), 500) |                                |                       |
highest_between | ta.highest_between(h, *ta.runs(u)) |                                |                       |
lowest_between | ta.lowest_between(l, *ta.runs(u)) |                                |                       |
highest_since | ta.highest_since(u, h)     |                                |                       |
lowest_since | ta.lowest_since(u, l)      |                                |                       |
first_true  | ta.first_true(u, ~u)       |                                |                       |
runs        | ta.runs(u)                 |                                |                       |
pivot_point_levels | ta.pivot_point_levels(o, h, l, c, "Traditional", u) |          |                       |
lt          | ta.lt(c, o)                |                                |                       |
le          | ta.le(c, o)                |                                |                       |
gt          | ta.gt(c, o)                |                                |                       |
ge          | ta.ge(c, o)                |                                |                       |
eq          | ta.eq(c, o)                |                                |                       |
ne          | ta.ne(c, o)                |                                |                       |
hl2         | ta.hl2(h, l)               | talib.MEDPRICE(h, l)           |                       |
hlc3        | ta.hlc3(h, l, c)           | talib.TYPPRICE(h, l, c)        |                       |
hlcc4       | ta.hlcc4(h, l, c)          | talib.WCLPRICE(h, l, c)        |                       |
ohlc4       | ta.ohlc4(o, h, l, c)       | talib.AVGPRICE(o, h, l, c)     |                       |
add         | ta.add(c, o)               | talib.ADD(c, o)                |                       |
sub         | ta.sub(c, o)               | talib.SUB(c, o)                |                       |
mul         | ta.mul(c, o)               | talib.MULT(c, o)               |                       |
div         | ta.div(c, o)               | talib.DIV(c, o)                |                       |
sqrt        | ta.sqrt(c)                 | talib.SQRT(c)                  |                       |
log         | ta.log(c)                  | talib.LN(c)                    |                       |
log10       | ta.log10(c)                | talib.LOG10(c)                 |                       |
exp         | ta.exp(c / 1000)           | talib.EXP(c / 1000)            |                       |
floor       | ta.floor(c)                | talib.FLOOR(c)                 |                       |
ceil        | ta.ceil(c)                 | talib.CEIL(c)                  |                       |
"""  # noqa: E501

Call = Callable[..., object]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Case:
    function: str
    calls: tuple[Call | None, ...]  # ours first, then OTHERS
    comparable: tuple[bool, ...]


def cases() -> list[Case]:
    names = {"ta": ta, "talib": talib, "bn": bn, "pta": pta}
    made = []
    for line in CASES.strip().splitlines():
        function, *texts = (cell.strip() for cell in line.split("|"))
        calls = tuple(
            eval(f"lambda o, h, l, c, v, u, O, H, L, C, V: {text.lstrip('≈')}", names)
            if text
            else None
            for text in texts
        )
        made.append(Case(function, calls, tuple(not text.startswith("≈") for text in texts)))
    return made


@dataclass(frozen=True)
class Size:
    title: str
    shape: tuple[int, ...]
    rounds: int  # of a run, and those of a quick one
    quick_rounds: int
    calls: int  # a round

    @property
    def bars(self) -> int:
        return int(np.prod(self.shape))

    @property
    def is_batch(self) -> bool:
        return len(self.shape) == 2


def market(*shape: int) -> tuple[np.ndarray, ...]:
    """open, high, low, close, volume, and whether the bar closed up."""
    random = np.random.default_rng(11)
    close = np.maximum(1000 + np.cumsum(random.standard_normal(shape), axis=-1), 50)
    first = close + random.standard_normal(shape)
    high = np.maximum(first, close) + random.random(shape)
    low = np.minimum(first, close) - random.random(shape)
    return first, high, low, close, np.round(1e4 * random.random(shape)) + 1, close > first


def in_pandas(bars: tuple[np.ndarray, ...]) -> tuple[pd.Series, ...]:
    return tuple(pd.Series(column) for column in bars[:5])


def check_that_contenders_compute_the_same(each: list[Case]) -> None:
    bars = market(5000)
    given = (*bars, *in_pandas(bars))
    for case in each:
        ours = last_value(case.calls[0](*given))
        for other, call, comparable in zip(
            OTHERS, case.calls[1:], case.comparable[1:], strict=True
        ):
            if call and comparable and not np.isclose(last_value(call(*given)), ours, rtol=1e-6):
                theirs = last_value(call(*given))
                raise SystemExit(f"{case.function}: ours {ours}, {other} {theirs}")


def last_value(result: object) -> float:
    while isinstance(result, tuple):
        result = result[0]
    values = result.to_numpy() if isinstance(result, pd.Series | pd.DataFrame) else result
    return float(values[-1] if values.ndim == 1 else values[-1, 0])


def seconds(call: Callable[[], object], repeats: int, clock: Clock = process_time) -> float:
    began = clock()
    for _ in range(repeats):
        call()
    return (clock() - began) / repeats


def is_slow(job: tuple[str, str], best: dict[tuple[str, str], float]) -> bool:
    """Whether one call is enough, of a contender that is far behind."""
    return best[job] > 0.15 and job[1] not in ("ours", OTHERS[0])


def rounds_of(
    jobs: dict[tuple[str, str], Callable[[], object]], size: Size, rounds: int, clock: Clock
) -> dict[tuple[str, str], float]:
    """The fastest time of each job. A slow one is left out of later rounds."""
    best: dict[tuple[str, str], float] = {}
    for turn in tqdm(range(rounds), desc=size.title, leave=False, disable=not sys.stderr.isatty()):
        for job, call in jobs.items():
            if turn and is_slow(job, best):
                continue
            if best.get(job, 1) < 0.05:  # once untimed: nobody pays for who ran before
                call()
            took = seconds(call, size.calls if best.get(job, 1) < 1e-3 else 1, clock)
            best[job] = min(best.get(job, took), took)
    return best


def jobs_of(each: list[Case], bars: tuple[np.ndarray, ...]) -> dict:
    """One call a contender. Of a batch, who knows no batch is called row by row."""
    batch = bars[0].ndim == 2
    rows = [(*row, *(None,) * 5) for row in zip(*bars, strict=True)] if batch else []
    given = (*bars, *((None,) * 5 if batch else in_pandas(bars)))
    jobs: dict[tuple[str, str], Callable[[], object]] = {}
    for case in each:
        for contender, call in zip(("ours", *OTHERS), case.calls, strict=True):
            if call is None or (batch and contender == "pandas-ta-classic"):
                continue
            if batch and contender == "TA-Lib":
                jobs[case.function, contender] = lambda call=call: row_by_row(call, rows)
            else:
                jobs[case.function, contender] = lambda call=call: call(*given)
    return jobs


def row_by_row(call: Call, rows: list[tuple[np.ndarray, ...]]) -> object:
    """What one call over all rows gives: one array for each thing that is computed."""
    first = call(*rows[0])
    if isinstance(first, tuple):
        wholes = [np.empty((len(rows), part.size), part.dtype) for part in first]
        for number, row in enumerate(rows):
            for whole, part in zip(wholes, call(*row), strict=True):
                whole[number] = part
        return wholes
    whole = np.empty((len(rows), first.size), first.dtype)
    for number, row in enumerate(rows):
        whole[number] = call(*row)
    return whole


def copy_cost(rounds: int) -> float:
    """Seconds a bar to copy ten million values."""
    source, to = np.ones(10_000_000), np.ones(10_000_000)
    return min(seconds(lambda: np.copyto(to, source), 1) for _ in range(rounds)) / len(source)


def import_costs(rounds: int) -> dict[str, float]:
    """Seconds to import each in a fresh process, compiled as an installed package is."""
    script = "import time; t = time.process_time(); import {}; print(time.process_time() - t)"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", "import chartpact.ta"], env=environment, check=True)
    best = dict.fromkeys(("numpy", "chartpact.ta"), np.inf)
    for _ in range(rounds):
        for module in best:
            run = [sys.executable, "-c", script.format(module)]
            took = subprocess.run(run, env=environment, capture_output=True, text=True, check=True)
            best[module] = min(best[module], float(took.stdout))
    return best


def geometric_mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


Runs = list[dict[tuple[str, str], float]]  # the fastest time of each job, in each run


def ratio(runs: Runs, function: str, other: str) -> float | None:
    """How many times longer the other takes, in the median of the runs."""
    ratios = [r[function, other] / r[function, "ours"] for r in runs if (function, other) in r]
    return float(np.median(ratios)) if ratios else None


def table(each: list[Case], runs: Runs, bars: int, copy: float) -> str:
    others = [o for o in OTHERS if any((case.function, o) in runs[0] for case in each)]
    lines = [
        "| function | ns a bar | × copy | " + " | ".join(others) + " |",
        "|---|--:|--:|" + "--:|" * len(others),
    ]
    ratios: dict[str, list[float]] = {other: [] for other in others}
    for case in each:
        ours = min(run[case.function, "ours"] for run in runs)
        cells = [case.function, f"{ours / bars * 1e9:.2f}", f"{ours / bars / copy:.1f}"]
        for other in others:
            slower = ratio(runs, case.function, other)
            cells.append(f"{slower:.2f}" if slower else "")
            ratios[other] += [slower] if slower else []
        lines.append("| " + " | ".join(cells) + " |")
    means = [f"**{geometric_mean(r):.2f}** ({len(r)})" for r in ratios.values()]
    return "\n".join([*lines, "| **geometric mean** (of) | | | " + " | ".join(means) + " |"])


RUNS = 3
SIZES = (
    Size("500 bars", (500,), 20, 4, 20),
    Size("5 000 bars", (5000,), 25, 4, 5),
    Size("1 000 000 bars", (1_000_000,), 2, 1, 1),
    Size("5 000 series of 500 bars, in one call (TA-Lib: row by row)", (5000, 500), 2, 1, 1),
)


def report(quick: bool) -> str:
    each = cases()
    check_that_contenders_compute_the_same(each)
    runs, copies, imports = {}, [copy_cost(5)], [import_costs(2 if quick else 6)]
    for size in reversed(SIZES):  # the largest first, so that the allocator has settled for all
        jobs = jobs_of(each, market(*size.shape))
        if quick and size.bars >= 1_000_000:
            jobs = {job: call for job, call in jobs.items() if job[1] != "pandas-ta-classic"}
        rounds = size.quick_rounds if quick else size.rounds
        runs[size] = []
        for _ in range(RUNS):
            run = rounds_of(jobs, size, rounds, perf_counter if size.is_batch else process_time)
            runs[size].append(run)
            jobs = {job: call for job, call in jobs.items() if not is_slow(job, run)}
        if size.is_batch:
            on_one_thread = [rounds_of(jobs, size, rounds, process_time)]
        copies.append(copy_cost(5))
        imports.append(import_costs(2 if quick else 6))
    copy = min(copies)
    tables = [f"### {s.title}\n\n{table(each, runs[s], s.bars, copy)}" for s in SIZES]
    return "\n\n".join([heading(copy), summary(runs, on_one_thread, copy, imports), *tables])


def heading(copy: float) -> str:
    versions = {"Python": platform.python_version(), "NumPy": np.__version__}
    versions |= dict(zip(OTHERS, (talib.__version__, bn.__version__, pta.version), strict=True))
    return (
        f"{date.today():%B %Y}, on a {os.cpu_count()}-core {platform.machine()} virtual machine, "
        f"kernels in {BACKEND.upper()}, {', '.join(f'{k} {v}' for k, v in versions.items())}. "
        f"Copying 10 M values cost {copy * 1e9:.2f} ns a bar.\n"
        "Under a library's name stands its time over ours: above 1, chartpact is faster."
    )


def summary(
    runs: dict[Size, Runs], on_one_thread: Runs, copy: float, imports: list[dict[str, float]]
) -> str:
    def against_talib(runs: Runs) -> dict[str, float]:
        ratios = {f: ratio(runs, f, "TA-Lib") for f, who in runs[0] if who == "ours"}
        return {function: slower for function, slower in ratios.items() if slower}

    short, single, long, batch = SIZES
    ema = min(run["ema", "ours"] for run in runs[long]) / long.bars / copy
    singles = against_talib(runs[single])
    least = min(singles, key=singles.__getitem__)
    rows = [
        (
            f"TA-Lib's time over ours, 5 000 bars, the least of all: `{least}`",
            singles[least],
            "≥ 0.97",
        ),
        ("the same, geometric mean", geometric_mean([*singles.values()]), "≥ 1"),
        ("the same, 500 bars", geometric_mean([*against_talib(runs[short]).values()]), "≥ 1.2"),
        (
            "the same, 5 000 series of 500 bars",
            geometric_mean([*against_talib(runs[batch]).values()]),
            "≥ 5",
        ),
        (
            "the same in processor time",
            geometric_mean([*against_talib(on_one_thread).values()]),
            "",
        ),
        ("`ema`, 1 000 000 bars, over the copy", ema, "≤ 3.5"),
        (
            "`import chartpact.ta` over `import numpy`",
            min(i["chartpact.ta"] for i in imports) / min(i["numpy"] for i in imports),
            "≤ 1.3",
        ),
    ]
    lines = [f"| {what} | {value:.2f} | {bound} |" for what, value, bound in rows]
    return "\n".join(["| what | measured | to reach |", "|---|--:|--:|", *lines])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="fewer rounds, under half a minute")
    options.add_argument("--write", action="store_true", help="also update docs/benchmarks.md")
    chosen = options.parse_args()
    text = report(chosen.quick)
    print(text)
    if chosen.write:
        put("ta", text)


if __name__ == "__main__":
    main()
