"""Which prefixes of the bars are tried."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from chartpact.bars import Bars
from chartpact.lookahead.prefixdrawing import PrefixDrawing
from chartpact.lookahead.rounding import Array

_CROSSED = 6  # series of which crossings are looked for


def choose(whole: PrefixDrawing, bars: Bars, most: int) -> list[int]:
    """Lengths of prefixes: where something is drawn and right after it, and spread evenly.

    What is drawn and vanishes on the next bar is not on the whole chart. So a third of the
    prefixes end where the bars themselves do something.
    """
    lengths = range(1, whole.size)
    drawn = sorted(_drawn_bars(whole))
    chosen = {bar + step for bar in _spread(drawn, most // 6) for step in (1, 2)}
    chosen.intersection_update(lengths)
    striking = dict.fromkeys(bar + 1 for bar in _rank(whole, bars) if bar + 1 not in chosen)
    chosen.update(itertools.islice(striking, most // 3))
    rest = [length for length in lengths if length not in chosen]
    return sorted(chosen.union(_spread(rest, most - len(chosen))))


def _spread(items: Sequence[int], most: int) -> list[int]:
    """At most so many of the items, evenly from the first to the last."""
    places = np.linspace(0, len(items) - 1, min(len(items), most)).astype(int)
    return [items[place] for place in places.tolist()]


def _drawn_bars(picture: PrefixDrawing) -> set[int]:
    """The bars on which something is drawn, begins or ends."""
    drawn = {bar for _, bar in picture.events}
    for item in picture.objects:
        drawn.update(int(bar) for bar, _ in item.points if not math.isnan(bar))
    for dots in picture.dots.values():
        drawn.update(dots[0].astype(int).tolist())
    for columns in picture.series.values():
        for column in columns[:1]:
            there = ~np.isnan(column)
            drawn.update(np.flatnonzero(there[1:] != there[:-1]).tolist())
    return {bar for bar in drawn if 0 <= bar < picture.size}


def _rank(whole: PrefixDrawing, bars: Bars) -> Iterator[int]:
    """Bars that do something, the most striking first, each kind in turn.

    They are the highest and lowest for long, those after such a turn, the widest ones, and those
    on which a plotted series crosses another, the close or zero.
    """
    high, low = _count_lower(bars.high), _count_lower(-bars.low)
    turned = [(counts[1:] == 0) * counts[:-1] for counts in (high, low)]
    turns = np.append(0, np.maximum(*turned))
    rankings = [np.argsort(-by, kind="stable") for by in (high, low, turns, bars.high - bars.low)]
    crossings = np.flatnonzero(_cross(whole, bars))
    rankings.append(np.random.default_rng(0).permutation(crossings))  # no one before another
    for rank in itertools.zip_longest(*(ranking.tolist() for ranking in rankings)):
        yield from (bar for bar in rank if bar is not None and bar < whole.size - 1)


def _count_lower(prices: Array) -> Array:
    """For each bar, how many bars right before it are lower."""
    counts = np.zeros(len(prices))
    higher: list[int] = []  # bars that none after them has reached
    for bar, price in enumerate(prices.tolist()):
        while higher and prices[higher[-1]] < price:
            higher.pop()
        counts[bar] = bar - 1 - (higher[-1] if higher else -1)
        higher.append(bar)
    return counts


def _cross(whole: PrefixDrawing, bars: Bars) -> NDArray[np.bool_]:
    """The bars on which one of the first plotted series crosses another, the close or zero."""
    columns = [columns[0] for columns in whole.series.values() if columns][:_CROSSED]
    series = [np.zeros(whole.size), bars.close, *(c for c in columns if len(c) == whole.size)]
    crossed = np.zeros(whole.size, np.bool_)
    for one, other in itertools.combinations(series, 2):
        above = np.sign(one - other)
        crossed[1:] |= above[1:] * above[:-1] < 0
    return crossed
