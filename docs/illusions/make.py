"""Draws the three illusions of docs/what-followed.md, by running them on markets without anything.

Each market is a random walk whose volatility clusters and has hours. Run it again with
`python docs/illusions/make.py`; the seeds are fixed.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from chartpact import ta
from chartpact.bars import Bars
from chartpact.render import typesetting
from chartpact.render.display import Area, DisplayList, Panel, Words
from chartpact.render.svgdocument import document
from chartpact.render.theme import LIGHT, fade
from chartpact.studies import estimator
from chartpact.studies.estimator import Test
from chartpact.studies.market import StudyMarket

HERE = Path(__file__).resolve().parent
MARKETS, BARS, STEPS = 30, 4000, 8
HORIZONS = (1, 3, 10, 20, 40)
LENGTHS = range(5, 85, 2)
PIVOT = 5  # bars on either side
SURE = 1.96


def market(seed: int) -> Bars:
    """A market in which nothing can be found."""
    random = np.random.default_rng(seed)
    level, levels = 1.0, []
    for shock in random.standard_normal(BARS).tolist():
        levels.append(level)
        level = 0.02 + 0.9 * level + 0.08 * level * min(shock * shock, 20.0)
    hours = 0.5 + 1.5 * np.sin(np.pi * (np.arange(BARS) // 12 % 24) / 24) ** 2
    spread = np.sqrt(levels) * hours
    moves = random.standard_normal((BARS, STEPS)) * spread[:, None] / np.sqrt(STEPS)
    path = 4000 + np.concatenate(([0.0], np.cumsum(moves)))
    parts = np.stack([path[i : i + STEPS * BARS : STEPS] for i in range(STEPS + 1)])
    time = 1_700_006_400_000 + 300_000 * np.arange(BARS)
    high, low = parts.max(axis=0), parts.min(axis=0)
    volume = np.full(BARS, np.nan)
    return Bars(time, parts[0], high, low, parts[-1], volume, "X", "5m", 0.25)


def measure(market: StudyMarket, known: np.ndarray) -> list[Test]:
    """The tests of a signal, as a study makes them."""
    entry = np.unique(known + 1)
    entry = entry[entry < BARS - max(HORIZONS)]
    entry = entry[market.in_bucket[entry]]
    return [estimator.measure(market, entry, 1, bars) for bars in HORIZONS]


def naive(test: Test) -> float:
    """The t of the events as if none overlapped another."""
    deviation = float(test.effect.std()) or 1.0
    return abs(test.mean) / deviation * np.sqrt(test.events)


def illusions() -> Iterator[tuple[str, str, list[tuple[str, float]]]]:
    """Of each illusion its picture's name, its title, and in which share of markets it shows."""
    counts = dict.fromkeys(("early", "late", "overlap", "sums", "best", "family"), 0)
    for seed in range(MARKETS):
        bars = market(seed)
        prepared = StudyMarket(bars, "UTC")
        pivots = np.flatnonzero(~np.isnan(ta.pivot_low(bars.low, PIVOT, PIVOT)))
        early, late = measure(prepared, pivots - PIVOT), measure(prepared, pivots)
        counts["early"] += any(naive(test) > SURE for test in early)
        counts["late"] += any(one.p_family < 0.05 for one in estimator.judge(late))
        close = bars.close
        above = np.flatnonzero(close > ta.sma(close, 50) + ta.atr(bars, 14))  # lasts, so overlaps
        lasting = measure(prepared, above)
        counts["overlap"] += any(naive(test) > SURE for test in lasting)
        counts["sums"] += any(one.p_family < 0.05 for one in estimator.judge(lasting))
        tests = [test for length in LENGTHS for test in measure(prepared, crossings(close, length))]
        judged = estimator.judge(tests)
        counts["best"] += any(one.p < 0.05 for one in judged)
        counts["family"] += any(one.p_family < 0.05 for one in judged)
    shares = {name: count / MARKETS for name, count in counts.items()}
    tests = len(LENGTHS) * len(HORIZONS)
    yield "drawn-early", "A pivot low, bought", [
        (f"where it is drawn, {PIVOT} bars before it is known", shares["early"]),
        ("one bar after it is known", shares["late"]),
    ]  # fmt: skip
    yield "overlapping", "A close far above its mean, bought each time", [
        ("every event counted as independent", shares["overlap"]),
        ("sums over bars, tested by blocks of time", shares["sums"]),
    ]  # fmt: skip
    yield "best-of-many", f"A cross of a moving average: {tests} tests", [
        ("the best one, told alone", shares["best"]),
        ("all tests as one family", shares["family"]),
    ]  # fmt: skip


def crossings(close: np.ndarray, length: int) -> np.ndarray:
    """The bars that close above their moving average for the first time."""
    above = close > ta.sma(close, length)
    return np.flatnonzero(above[1:] & ~above[:-1]) + 1


def draw(title: str, rows: list[tuple[str, float]]) -> str:
    """The shares as bars."""
    width, height, left, right = 760, 176, 24.0, 640.0
    picture = DisplayList(width, height, LIGHT.background, title)
    picture.add(Words(left, 28, title, 15, LIGHT.text, face="sans-bold"))
    note = f"finds something in so many of {MARKETS} markets in which nothing is"
    picture.add(Words(left, 47, note, 11, LIGHT.muted))
    for i, (name, share) in enumerate(rows):
        top = 66.0 + 50 * i
        color = (LIGHT.down, LIGHT.line)[i]
        picture.add(Words(left, top + 11, name, 12, LIGHT.text))
        track = Area(left, top + 18, right, top + 36)
        picture.add(Panel(track, fade(LIGHT.muted, 0.12), radius=3))
        end = left + max(share * (right - left), 2.0)
        picture.add(Panel(Area(left, top + 18, end, top + 36), color, radius=3))
        baseline = top + 27 + 12 * typesetting.CAP_HEIGHT / 2
        picture.add(Words(right + 12, baseline, f"{share:.0%}", 14, LIGHT.text, face="sans-bold"))
    return document(picture)


def main() -> None:
    for name, title, rows in illusions():
        (HERE / f"{name}.svg").write_text(draw(title, rows), encoding="utf-8")
        print(name, rows)


if __name__ == "__main__":
    main()
