"""Gaps, order blocks and market structure, beside the package `smartmoneyconcepts`.

    python bench/smc.py            the table, in Markdown (some minutes: the peer takes them)
    python bench/smc.py --quick    5 000 bars alone
    python bench/smc.py --write    also puts it into docs/benchmarks.md

Both find swings of five bars, fair value gaps with what became of them, breaks of structure and
order blocks, on one random walk. Definitions differ, so the numbers found do; the work is of one
kind. Times are CPU time of one run after a short one. Then each is run again on every prefix of the
last hundred bars: how often does it tell an earlier bar otherwise than before? A reading that was
empty and is filled in later is not counted.
"""

import argparse
import contextlib
import io
from importlib.metadata import version
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

from chartpact import ta
from page import machine, put

SWING = 5
SIZES = (5_000, 100_000)
REPLAYED = 400  # bars of the replay; each of the last hundred is a prefix
Columns = dict[str, np.ndarray]


def walk(bars: int) -> Columns:
    """Open, high, low and close in whole ticks."""
    rng = np.random.default_rng(7)
    close = 40_000 + np.cumsum(
        rng.integers(-6, 7, bars) + rng.integers(-14, 15, bars) * (rng.random(bars) < 0.1)
    )
    first = np.concatenate((close[:1], close[:-1])).astype(float)
    high = np.maximum(first, close) + rng.integers(0, 5, bars)
    low = np.minimum(first, close) - rng.integers(0, 5, bars)
    return {
        "open": first,
        "high": high.astype(float),
        "low": low.astype(float),
        "close": close.astype(float),
    }


def ours(bars: Columns) -> dict[str, np.ndarray]:
    """Gaps with their lives, breaks with their trend, blocks with their lives."""
    o, h, low, c = bars.values()
    side, top, bottom = ta.fvg(o, h, low, c, 1.0)
    life = ta.zone_life(h, low, c, side, top, bottom, 500)
    event, level, bar, trend, sweep = ta.structure(h, low, c, SWING, SWING)
    blocks = order_blocks(bars, event, bar)
    lives = ta.zone_life(h, low, c, *blocks, 500)
    return {
        "gap": side, "event": event, "level": level, "trend": trend, "sweep": sweep,
        "block": blocks[0],
        **{f"gap {k}": phase for k, phase in enumerate(life)},
        **{f"block {k}": phase for k, phase in enumerate(lives)},
    }  # fmt: skip


def order_blocks(bars: Columns, event: np.ndarray, bar: np.ndarray) -> tuple[np.ndarray, ...]:
    """The last opposing candle between the extreme of a leg and its first displacement."""
    o, h, low, c = bars.values()
    index = np.arange(len(c), dtype=float)
    _, leg_low = ta.lowest_between(low, bar, index)
    _, leg_high = ta.highest_between(h, bar, index)
    body, reach = c - o, ta.atr(h, low, c, 14)
    side, top, bottom = np.zeros(len(c)), np.full(len(c), np.nan), np.full(len(c), np.nan)
    taken: set[tuple[int, int]] = set()
    for i in np.flatnonzero(event):
        way = 1 if event[i] > 0 else -1
        start = int(leg_low[i] if way > 0 else leg_high[i])
        move = way * body[start : i + 1]
        pushes = np.flatnonzero(move >= reach[start : i + 1])
        against = np.flatnonzero(move[: pushes[0]] < 0) if len(pushes) else pushes
        if len(against) and (start + int(against[-1]), way) not in taken:
            at = start + int(against[-1])
            taken.add((at, way))
            side[i], top[i], bottom[i] = way, h[at], low[at]
    return side, top, bottom


def theirs(bars: Columns) -> dict[str, np.ndarray]:
    """The same of the peer: gaps, breaks of structure and blocks, with what became of them."""
    with contextlib.redirect_stdout(io.StringIO()):  # it prints an advert
        from smartmoneyconcepts import smc
    frame = pd.DataFrame({**bars, "volume": 1.0})
    swings = smc.swing_highs_lows(frame, SWING)
    tables = smc.fvg(frame), smc.bos_choch(frame, swings), smc.ob(frame, swings)
    return {
        f"{name} {column}": table[column].to_numpy(float)
        for name, table in zip(("gap", "break", "block"), tables, strict=True)
        for column in table
    }


def seconds(run: Any, bars: Columns) -> float:
    run({name: column[:300] for name, column in bars.items()})
    began = process_time()
    run(bars)
    return process_time() - began


def rewrites(run: Any, bars: Columns) -> int:
    """Of the last hundred bars, how many changed what had been told of an earlier one."""
    count, before = 0, run({name: column[: REPLAYED - 101] for name, column in bars.items()})
    for size in range(REPLAYED - 100, REPLAYED + 1):
        now = run({name: column[:size] for name, column in bars.items()})
        count += any(
            (told := ~np.isnan(old) & (old != 0)).any()
            and (old[told] != now[name][: len(old)][told]).any()
            for name, old in before.items()
        )
        before = now
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="5 000 bars alone")
    parser.add_argument(
        "--write", action="store_true", help="put the table into docs/benchmarks.md"
    )
    options = parser.parse_args()
    rows = ["| bars | chartpact | smartmoneyconcepts | ratio |", "|---|---|---|---|"]
    for size in SIZES[:1] if options.quick else SIZES:
        bars = walk(size)
        mine, other = seconds(ours, bars), seconds(theirs, bars)
        rows.append(
            f"| {size:,} | {1000 * mine:.1f} ms | {1000 * other:,.0f} ms | {other / mine:,.0f} × |"
        )
    bars = walk(REPLAYED)
    counts = rewrites(ours, bars), rewrites(theirs, bars)
    rows += [
        "",
        f"Of 101 bars that were appended one by one, {counts[0]} changed what chartpact had told "
        f"of an earlier bar, and {counts[1]} what smartmoneyconcepts had.",
    ]
    versions = {
        "NumPy": np.__version__,
        "pandas": pd.__version__,
        "smartmoneyconcepts": version("smartmoneyconcepts"),
    }
    text = "\n".join(["", machine(versions), "", *rows, ""])
    print(text)
    if options.write:
        put("smc", text)


if __name__ == "__main__":
    main()
