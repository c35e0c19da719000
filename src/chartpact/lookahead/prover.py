"""Runs an indicator on prefixes of the bars and compares what it draws."""

import bisect
import math
import time
from collections.abc import Callable, Mapping

import numpy as np

from chartpact.bars import Bars, BarsLike, to_bars
from chartpact.lookahead.compare import find_differences, find_plot_differences, pair_up, stands
from chartpact.lookahead.prefixdrawing import NO_DOTS, PrefixDrawing, trace
from chartpact.lookahead.prefixes import choose
from chartpact.lookahead.report import SIGNAL, Late, Proof, Rewrite
from chartpact.problem import Failure
from chartpact.scene import Scene

Run = Callable[[Bars], Scene]
PREFIXES = 120  # at least
SECONDS = 10.0
_BUSY = "busy"  # the kind of a failure that says nothing about the indicator
_Arrival = tuple[int, int, int, int]  # a bar, the prefix without and with it, the delay it tells


def prove(
    function: Run,
    bars: BarsLike,
    most: int | None = None,
    *,
    fewest: int = PREFIXES,
    seconds: float = SECONDS,
) -> Proof:
    """Runs an indicator on prefixes of the bars, more of them where it draws.

    There are at most `most` of them; by default as many as take about so many seconds, and no less
    than `fewest`.

    >>> import chartpact as cp
    >>> cp.prove(cp.indicator("rsi"), cp.load("sample:es-5m")[:300], most=20).ok
    True
    """
    prover = Prover(to_bars(bars), function)
    return prover.prove(max(fewest, prover.count_within(seconds)) if most is None else most)


class Prover:
    def __init__(self, bars: Bars, run: Run) -> None:
        self._bars = bars
        self._run = run
        self._titles: Mapping[str, list[str]] = {}
        self._whole = self._picture(len(bars))
        self._titles = self._whole.titles
        self._failed: dict[int, Failure] = {}
        self._late: dict[str, list[_Arrival]] = {}
        self._signals: set[str] = set()

    def count_within(self, seconds: float) -> int:
        """How many prefixes can be compared in so many seconds: half the bars take the mean."""
        quickest = math.inf
        for _ in range(2):  # since a busy host slows one down
            began = time.perf_counter()
            half = self._draw(max(len(self._bars) // 2, 1))
            if half is None:
                return 0
            find_differences(half, self._whole)
            quickest = min(quickest, time.perf_counter() - began)
        return int(seconds / quickest)

    def prove(self, most: int) -> Proof:
        change, earlier, count = None, None, 0
        provisional = set(self._whole.provisional)
        for length in (*choose(self._whole, self._bars, most), len(self._bars)):
            picture = self._draw(length)
            if picture is None:
                continue
            if earlier is not None:
                count += 1
                provisional |= earlier.provisional
                self._note_late(earlier, picture)
                if change is None and find_differences(earlier, picture):
                    change = self._narrow(earlier, picture)
            earlier = picture
        longest = max(self._failed, default=0)
        if longest and not count:  # which would prove nothing
            failure = self._failed[longest]
            failure.problem = failure.problem.at(message=f"on {longest:,} bars: {failure.message}")
            raise failure
        late = [self._measure(what, arrivals) for what, arrivals in self._late.items()]
        return Proof(
            len(self._bars),
            count,
            change,
            tuple(sorted(late, key=lambda item: (item.bar, item.what))),
            tuple(sorted(provisional)),
            f"on {longest:,} bars: {self._failed[longest]}" if longest else "",
        )

    def _draw(self, size: int) -> PrefixDrawing | None:
        """What it draws on so many bars; None where it fails."""
        if size == self._whole.size:
            return self._whole
        if size not in self._failed:
            try:
                return self._picture(size)
            except Failure as failure:
                if failure.kind == _BUSY:  # says nothing about this prefix
                    raise
                self._failed[size] = failure
        return None

    def _picture(self, size: int) -> PrefixDrawing:
        """What it draws on so many bars; a host that is busy is asked once more."""
        try:
            scene = self._run(self._bars[:size])
        except Failure as failure:
            if failure.kind != _BUSY:
                raise
            scene = self._run(self._bars[:size])
        return trace(scene, size, self._titles)

    def _narrow(self, earlier: PrefixDrawing, later: PrefixDrawing) -> Rewrite | None:
        """The change, with the first of the longer prefixes that shows it.

        Objects are told apart by their order. Over many bars one may take the place of another
        that was deleted, so what changed has to change from one bar to the next.
        """
        changed = {later.size: later}

        def is_changed(size: int) -> bool:
            picture = self._draw(size)
            if picture is not None and find_differences(earlier, picture):
                changed[size] = picture
            return size in changed

        bisect.bisect_left(range(earlier.size + 1, later.size), True, key=is_changed)
        size = min(changed)
        former = earlier if size == earlier.size + 1 else self._draw(size - 1) or earlier
        differences = find_differences(former, changed[size])
        if not differences:
            former, differences = earlier, find_plot_differences(earlier, changed[size])
        if not differences:
            return None
        what, bar, before, after = min(differences, key=lambda difference: difference[1])
        return Rewrite(what, bar, self._time(bar), former.size, size, before, after)

    def _time(self, bar: int) -> int:
        return int(self._bars.time[min(max(bar, 0), len(self._bars) - 1)])

    def _note_late(self, earlier: PrefixDrawing, later: PrefixDrawing) -> None:
        """Notes what stands at bars of the shorter prefix and was not there then."""
        size, late = earlier.size, list[tuple[str, int]]()
        self._signals |= later.signals
        late += [(name, bar) for name, bar in later.events - earlier.events if bar < size]
        for what, columns in later.series.items():
            before = earlier.series.get(what, [])
            for at, column in enumerate(columns):
                arrived = ~np.isnan(column[:size])
                if at < len(before) and len(before[at]) >= size:
                    arrived &= np.isnan(before[at][:size])
                late += [(what, bar) for bar in np.flatnonzero(arrived).tolist()]
        for what, dots in later.dots.items():
            arrived = np.setdiff1d(dots[0], earlier.dots.get(what, NO_DOTS)[0])
            late += [(what, int(bar)) for bar in arrived.tolist() if bar < size]
        known = {id(other) for _, others in pair_up(earlier, later) for other in others}
        for item in later.objects:
            if id(item) not in known and item.bar < size and not item.provisional:
                late.append((item.what, int(item.bar)))
        for what, bar in late:
            told = later.told.get((what, bar), 0)
            self._late.setdefault(what, []).append((bar, size, later.size, told))

    def _measure(self, what: str, arrivals: list[_Arrival]) -> Late:
        """The first late drawing and its delay, found by bisecting prefixes."""
        bar, without, with_it, told = min(arrivals)

        def is_there(size: int) -> bool:
            picture = self._draw(size)
            return picture is not None and stands(picture, what, bar)

        at = bisect.bisect_left(range(without + 1, with_it), True, key=is_there)
        kind = SIGNAL if what in self._signals else ""
        delay = without + at - bar
        return Late(what, bar, self._time(bar), delay, len(arrivals), told, kind)
