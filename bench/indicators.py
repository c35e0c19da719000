"""How fast the 58 builtins are, from bars to a finished scene, and how they grow.

    python bench/indicators.py            the table, in Markdown (about a minute)
    python bench/indicators.py --quick    fewer rounds
    python bench/indicators.py --write    also puts it into docs/benchmarks.md

TA-Lib and pandas-ta-classic compute the bare series and draw nothing; what ours costs more is the
scene: its plots, colours, dots and signals, all checked. A peer that is not installed is left out,
and the report says so. The four builtins that draw readings from outside are given synthetic ones,
a reading for each bar. Times are those of the processor.
"""

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from time import process_time
from types import ModuleType

import numpy as np
from tqdm import tqdm

from chartpact import indicators, pacts
from chartpact.bars import Bars
from chartpact.catalogue import Indicator, shipped
from chartpact.indicators.external import External
from chartpact.needs import Readings, Supplies
from chartpact.params import resolve
from chartpact.ta.kernels import BACKEND
from page import machine, put

os.environ.setdefault("POLARS_SKIP_CPU_CHECK", "1")
warnings.simplefilter("ignore")  # pandas-ta-classic computes with zeros and warns of it


def installed(module: str) -> ModuleType | None:
    """A peer's module, if its package could be installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


talib, pta = installed("talib"), installed("pandas_ta_classic")

SMALL, LARGE = 5_000, 100_000
BUDGET_MS = 60

# builtin | TA-Lib | pandas-ta-classic (on Series, in capitals)
PEERS = """
ema_stack    | [talib.EMA(c, n) for n in (8, 21, 50, 200)] | [pta.ema(C, n, talib=False) for n in (8, 21, 50, 200)]
bbands       | talib.BBANDS(c, 20, 2, 2)          | pta.bbands(C, 20, 2, talib=False)
keltner      | talib.KC(h, l, c, 20, 20, 1.5)     | pta.kc(H, L, C, 20, 1.5)
donchian     | (talib.MAX(h, 20), talib.MIN(l, 20)) | pta.donchian(H, L, 20, 20)
vwap         | talib.VWAP(h, l, c, v)             |
supertrend   | talib.SUPERTREND(h, l, c, 10, 3)   | pta.supertrend(H, L, C, 10, 3)
sar          | talib.SAR(h, l, 0.02, 0.2)         | pta.psar(H, L, C, talib=False)
ichimoku     |                                    | pta.ichimoku(H, L, C, 9, 26, 52)
heikin_ashi  |                                    | pta.ha(O, H, L, C)
macd         | talib.MACD(c, 12, 26, 9)           | pta.macd(C, 12, 26, 9, talib=False)
rsi          | talib.RSI(c, 14)                   | pta.rsi(C, 14, talib=False)
stoch        | talib.STOCH(h, l, c, 14, 3, 0, 3, 0) | pta.stoch(H, L, C, 14, 3, 3, talib=False)
atr          | talib.ATR(h, l, c, 14)             | pta.atr(H, L, C, 14, talib=False)
obv          | talib.OBV(c, v)                    | pta.obv(C, V, talib=False)
cci          | talib.CCI(h, l, c, 20)             | pta.cci(H, L, C, 20, talib=False)
roc          | talib.ROC(c, 14)                   | pta.roc(C, 14, talib=False)
mfi          | talib.MFI(h, l, c, v, 14)          | pta.mfi(H, L, C, V, 14, talib=False)
williams_r   | talib.WILLR(h, l, c, 14)           | pta.willr(H, L, C, 14, talib=False)
cmf          | talib.CMF(h, l, c, v, 20)          | pta.cmf(H, L, C, V, length=20)
adx          | (talib.ADX(h, l, c, 14), talib.PLUS_DI(h, l, c, 14), talib.MINUS_DI(h, l, c, 14)) | pta.adx(H, L, C, 14, talib=False)
ad           | talib.AD(h, l, c, v)               | pta.ad(H, L, C, V, talib=False)
sma          | talib.SMA(c, 20)                   | pta.sma(C, 20, talib=False)
ema          | talib.EMA(c, 21)                   | pta.ema(C, 21, talib=False)
wma          | talib.WMA(c, 20)                   | pta.wma(C, 20, talib=False)
rma          | talib.RMA(c, 14)                   | pta.rma(C, 14)
hma          | talib.HMA(c, 20)                   | pta.hma(C, 20)
vwma         | talib.VWMA(c, v, 20)               | pta.vwma(C, V, 20)
alma         |                                    | pta.alma(C, 9, 6, 0.85)
stoch_rsi    | talib.STOCHRSI(c, 14, 14, 3, 0)    | pta.stochrsi(C, 14, 14, 3, 3, talib=False)
aroon        | talib.AROON(h, l, 14)              | pta.aroon(H, L, 14, talib=False)
trix         | talib.TRIX(c, 18)                  | pta.trix(C, 18, 9, talib=False)
dpo          | talib.DPO(c, 21)                   | pta.dpo(C, 21, False)
awesome      | talib.AO(h, l, 5, 34)              | pta.ao(H, L, 5, 34)
chaikin_oscillator | talib.ADOSC(h, l, c, v, 3, 10) | pta.adosc(H, L, C, V, fast=3, slow=10, talib=False)
squeeze      |                                    | pta.squeeze(H, L, C, 20, 2, 20, 1.5)
"""  # noqa: E501
OTHERS = {"TA-Lib": talib, "pandas-ta-classic": pta}

Job = tuple[str, str, int]  # who, what, on how many bars
Call = Callable[[], object]


def market(n: int) -> Bars:
    """Five-minute futures bars, so that there are sessions to find."""
    chance = np.random.default_rng(11)
    close = 4500 + np.cumsum(chance.normal(0, 2, n))
    opens = np.concatenate((close[:1], close[:-1]))
    high = np.maximum(opens, close) + 3 * chance.random(n)
    low = np.minimum(opens, close) - 3 * chance.random(n)
    time = 1_709_510_400_000 + 300_000 * np.arange(n)
    return Bars(time, opens, high, low, close, chance.lognormal(6, 0.6, n), "ES", "5m")


def builtins() -> dict[str, Indicator]:
    """Every builtin; pacts are timed with the contracts."""
    return {name: each for name, each in shipped().items() if name not in pacts.drawable()}


def readings(bars: Bars) -> Supplies:
    """What a host would fetch: a reading for each bar."""
    chance = np.random.default_rng(12)
    return {
        name: Readings(bars.time, {key: chance.random(len(bars)) for key in each.numbers})
        for name, each in indicators.table().items()
        if isinstance(each, External)
    }


def ours(bars: Bars) -> dict[Job, Call]:
    supplies = readings(bars)
    jobs: dict[Job, Call] = {}
    for name, each in builtins().items():
        params = resolve(each.params, {}, name)
        jobs["ours", name, len(bars)] = lambda each=each, params=params: each.draw(
            bars, params, supplies
        )
    return jobs


def theirs(bars: Bars) -> dict[Job, Call]:
    columns = {
        name[0]: np.array(getattr(bars, name)) for name in "open high low close volume".split()
    }
    names = {"talib": talib, "pta": pta, **columns}
    if pta is not None:
        from pandas import Series

        names |= {key.upper(): Series(column) for key, column in columns.items()}
    jobs: dict[Job, Call] = {}
    for row in PEERS.strip().splitlines():
        name, *texts = (cell.strip() for cell in row.split("|"))
        for other, text in zip(OTHERS, texts, strict=True):
            if text and OTHERS[other] is not None:
                call = eval(f"lambda: {text}", names)
                if call() is None:  # how pandas-ta-classic says that it did not like an argument
                    raise SystemExit(f"{other} computes nothing for {text}")
                jobs[other, name, len(bars)] = call
    return jobs


def fastest(jobs: dict[Job, Call], rounds: int) -> dict[Job, float]:
    """Processor seconds of the fastest of several calls; a round calls everybody once.

    Not by the wall clock: whatever else the machine does would be counted to the longer calls.
    """
    best: dict[Job, float] = {}
    for turn in tqdm(range(rounds), leave=False, disable=not sys.stderr.isatty()):
        for job, call in jobs.items():
            slow = best.get(job, 0) > 0.02 and job[0] != "ours"
            if turn > 2 and slow:
                continue
            began = process_time()
            call()
            took = process_time() - began
            best[job] = min(best.get(job, took), took)
    return best


def report(quick: bool) -> str:
    large, small = market(LARGE), market(SMALL)  # the larger first: the allocator has settled then
    best = fastest(ours(large), 3 if quick else 12)
    best |= fastest({**ours(small), **theirs(small)}, 10 if quick else 60)
    names = [*builtins()]
    total = {n: sum(best["ours", name, n] for name in names) for n in (SMALL, LARGE)}
    growth = {
        name: best["ours", name, LARGE] / best["ours", name, SMALL] / (LARGE / SMALL)
        for name in names
    }
    worst, count = max(growth, key=growth.__getitem__), len(names)
    versions = {"NumPy": np.__version__}
    versions |= {name: version(name) for name, module in OTHERS.items() if module is not None}
    absent = "".join(
        f" {name} is not installed here, so its column is empty."
        for name, module in OTHERS.items()
        if module is None
    )
    lines = [
        f"{machine(versions)} Kernels in {BACKEND.upper()}.{absent}",
        "",
        "| what | measured | to reach |",
        "|---|--:|--:|",
        f"| all {count} together, 5 000 bars, ms | {1e3 * total[SMALL]:.1f} | < {BUDGET_MS} |",
        f"| all {count} together, 100 000 bars, ms | {1e3 * total[LARGE]:.0f} | |",
        f"| largest growth of the time a bar, 5 000 → 100 000 (`{worst}`) | {growth[worst]:.2f} "
        "| ≤ 1, noise aside |",
        "",
        "| builtin | 5 000 bars, µs | share | 100 000 bars, ms | growth a bar | "
        + " | ".join(f"{other}, its time over ours" for other in OTHERS)
        + " |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name in sorted(names, key=lambda name: -best["ours", name, SMALL]):
        own = best["ours", name, SMALL]
        peers = [best.get((other, name, SMALL)) for other in OTHERS]
        cells = [
            f"`{name}`",
            f"{1e6 * own:.0f}",
            f"{own / total[SMALL]:.1%}",
            f"{1e3 * best['ours', name, LARGE]:.2f}",
            f"{growth[name]:.2f}",
            *(f"{peer / own:.2f}" if peer else "" for peer in peers),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--quick", action="store_true", help="fewer rounds")
    options.add_argument("--write", action="store_true", help="also update docs/benchmarks.md")
    chosen = options.parse_args()
    text = report(chosen.quick)
    print(text)
    if chosen.write:
        put("indicators", text)


if __name__ == "__main__":
    main()
