"""Does an indicator rewrite its past? It is run on prefixes of the bars, and what it drew compared.

What stood on a chart of k bars must stand on a longer one too, up to bar k - 1: values of plots and
the colours that they have bar by bar, signals, and drawn objects with the words and symbols of
their texts. Objects may be extended to the right, restyled and deleted. Numbers in a text may run
on and words may be added, as of a zone that was touched again; "buy" must not become "sell". A
drawing placed before the bar that revealed it is late. Lateness is reported, not failed. Drawings
marked `provisional` are listed and may change.
"""

import bisect
import itertools
import math
import re
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact import palette
from chartpact.bars import Bars, BarsLike, to_bars
from chartpact.drawing import Box, DrawnObject, Polyline
from chartpact.problem import Failure
from chartpact.scene import Scene
from chartpact.scene.plots import (
    BackgroundPlot,
    BarColorPlot,
    BarsPlot,
    DivLinePlot,
    DotPlot,
    HBarPlot,
    HLinePlot,
    Plot,
    ShapePlot,
)
from chartpact.textcolumn import TextColumn

Run = Callable[[Bars], Scene]
Array = NDArray[np.float64]
Point = tuple[float, float]  # a bar and a price; infinite above or below the bar

PREFIXES = 120  # at least
SECONDS = 10.0
_TOLERANCE = 1e-9
_NOISE = 1e-11  # rounding near 0, as a share of the largest value of a series
_CROSSED = 6  # series of which crossings are looked for
_BUSY = "busy"  # the kind of a failure that says nothing about the indicator
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"[-+±−]?\d[\d.,]*")
_METER = re.compile("[\u2580-\u259f]")  # blocks of a bar that shows a share
_AUTO = -1.0  # the number of a colour that is chosen when it is drawn
_SYMBOLS = ("So", "Sm", "Sc")  # categories of arrows, emoji, signs of arithmetic and currencies
_NO_DOTS: Array = np.empty((3, 0))
_ABOVE = {"abovebar": math.inf, "top": math.inf, "belowbar": -math.inf, "bottom": -math.inf}
_OBJECTS = ("labels", "lines", "boxes", "polylines")


@dataclass(frozen=True)
class Change:
    """What a longer history changed: on `bars` bars it was `before`, on `later` ones `after`."""

    what: str
    bar: int
    time: int
    bars: int
    later: int
    before: str
    after: str

    def to_json(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __str__(self) -> str:
        noun = "bar" if self.bars == 1 else "bars"
        was = f"on {self.bars:,} {noun} it was {self.before}"
        return f"{self.what} at bar {self.bar}: {was}, on {self.later:,} it is {self.after}"


@dataclass(frozen=True)
class Late:
    """Something drawn `delay` bars before the one it became known on, the first of `count`.

    `told` is the delay that a signal tells itself, by its confirmed bar.
    """

    what: str
    bar: int
    time: int
    delay: int
    count: int
    told: int = 0

    def to_json(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __str__(self) -> str:
        bars = "bar" if self.delay == 1 else "bars"
        more = f"; {self.count - 1:,} more" if self.count > 1 else ""
        return f"{self.what} at bar {self.bar}: known {self.delay} {bars} later{more}"


@dataclass(frozen=True)
class Proof:
    """What the prefixes showed; `failed` is why it cannot be run on the shortest of them."""

    bars: int
    prefixes: int
    rewritten: Change | None = None
    late: tuple[Late, ...] = ()
    provisional: tuple[str, ...] = ()
    failed: str = ""

    @property
    def ok(self) -> bool:
        return self.rewritten is None

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "bars": self.bars,
            "prefixes": self.prefixes,
            "rewritten": None if self.rewritten is None else self.rewritten.to_json(),
            "late": [late.to_json() for late in self.late],
            "provisional": list(self.provisional),
            "failed": self.failed,
        }


def prove(
    bars: BarsLike,
    run: Run,
    most: int | None = None,
    *,
    fewest: int = PREFIXES,
    seconds: float = SECONDS,
) -> Proof:
    """Runs an indicator on prefixes of the bars, more of them where it draws.

    There are at most `most` of them; by default as many as take about so many seconds, and no less
    than `fewest`.
    """
    prover = _Prover(to_bars(bars), run)
    return prover.prove(max(fewest, prover.count_within(seconds)) if most is None else most)


@dataclass(frozen=True)
class _Object:
    """A drawn object: its points from left to right, and whether it may change."""

    what: str
    points: tuple[Point, ...]
    heights: tuple[float, ...]  # of a box: its top and bottom
    provisional: bool
    id: object = None  # tells objects of one run apart, in the order in which they were made
    made_at: int | None = None  # the time of the bar at which it was made
    text: str = ""
    extends_left: bool = False

    @property
    def bar(self) -> float:
        return self.points[0][0]

    @property
    def words(self) -> set[str]:
        """The words and symbols of its text; digits, signs of numbers and meters may run on."""
        symbols = _METER.sub("", _NUMBER.sub("", self.text))
        return {
            *_WORD.findall(self.text.casefold()),
            *(symbol for symbol in symbols if unicodedata.category(symbol) in _SYMBOLS),
        }

    def grew_to(self, other: "_Object", size: int) -> bool:
        """Whether the other is this one, extended to the right if at all, and says no less.

        What reached beyond the last of `size` bars may reach less far, as long as it is there.
        """
        if self.extends_left != other.extends_left or not self.words <= other.words:
            return False
        if not _same_heights(self.heights, other.heights):
            return False
        if not len(self.points) == len(other.points) == 2:  # a label, or a polyline that grew
            return _begins_with(other.points, self.points)
        if _begins_with(other.points, self.points):
            return True
        (left, low), (right, high) = self.points
        _, (other_right, other_high) = other.points
        if not _begins_with(other.points, self.points[:1]):
            return False
        if not (other_right > right or other_right >= size - 1):
            return False
        if right == left:  # of one bar: it has no direction yet
            return True
        slope = (high - low) / (right - left)
        return _same(other_high, high) or _same(other_high, low + slope * (other_right - left))

    def moved_to(self, other: "_Object") -> bool:
        """Whether the other begins where this one does, and stands elsewhere."""
        if self.bar != other.bar:
            return False
        if self.heights:
            pairs = itertools.product(self.heights, other.heights)
            return any(_same(height, another) for height, another in pairs)
        return len(self.points) == 1 or _begins_with(other.points, self.points[:1])

    def has_handle_of(self, other: "_Object") -> bool:
        """Whether both were made at the same bar, as the same of all objects."""
        return self.id == other.id and self.made_at == other.made_at is not None

    def __str__(self) -> str:
        prices = self.heights or tuple(price for _, price in self.points)
        numbers = dict.fromkeys(_number(price) for price in (*prices[:1], *prices[-1:]))
        says = f"{self.text[:40]!r} " if self.text else ""
        at = "" if math.isinf(prices[0]) else "at "
        extended = ", extended to the left" if self.extends_left else ""
        return f"{says}from bar {self.bar:.0f} {at}{' and '.join(numbers)}{extended}"


@dataclass
class _Picture:
    """What an indicator drew on the first `size` bars, as it is compared."""

    size: int
    series: dict[str, list[Array]] = field(default_factory=dict)
    tints: set[str] = field(default_factory=set)  # the series that are colours
    colors: dict[str, Array] = field(default_factory=dict)  # of plots with one for each bar
    dots: dict[str, Array] = field(default_factory=dict)  # and shapes: bars, heights and colours
    levels: dict[str, list[float]] = field(default_factory=dict)
    events: set[tuple[str, int]] = field(default_factory=set)  # signals, by name and bar
    told: dict[tuple[str, int], int] = field(default_factory=dict)  # the delays of signals
    titles: dict[str, list[str]] = field(default_factory=dict)  # of all plots, by their kinds
    objects: list[_Object] = field(default_factory=list)
    provisional: set[str] = field(default_factory=set)


_Difference = tuple[str, int, str, str]  # what, at which bar, before and after
_Arrival = tuple[int, int, int, int]  # a bar, the prefix without and with it, the delay it tells


class _Prover:
    def __init__(self, bars: Bars, run: Run) -> None:
        self._bars = bars
        self._run = run
        self._titles: Mapping[str, list[str]] = {}
        self._whole = self._picture(len(bars))
        self._titles = self._whole.titles
        self._failed: dict[int, Failure] = {}
        self._late: dict[str, list[_Arrival]] = {}

    def count_within(self, seconds: float) -> int:
        """How many prefixes can be compared in so many seconds: half the bars take the mean."""
        quickest = math.inf
        for _ in range(2):  # since a busy host slows one down
            began = time.perf_counter()
            half = self._draw(max(len(self._bars) // 2, 1))
            if half is None:
                return 0
            _differences(half, self._whole)
            quickest = min(quickest, time.perf_counter() - began)
        return int(seconds / quickest)

    def prove(self, most: int) -> Proof:
        change, earlier, count = None, None, 0
        provisional = set(self._whole.provisional)
        for length in (*_choose(self._whole, self._bars, most), len(self._bars)):
            picture = self._draw(length)
            if picture is None:
                continue
            if earlier is not None:
                count += 1
                provisional |= earlier.provisional
                self._note_late(earlier, picture)
                if change is None and _differences(earlier, picture):
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

    def _draw(self, size: int) -> _Picture | None:
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

    def _picture(self, size: int) -> _Picture:
        """What it draws on so many bars; a host that is busy is asked once more."""
        try:
            scene = self._run(self._bars[:size])
        except Failure as failure:
            if failure.kind != _BUSY:
                raise
            scene = self._run(self._bars[:size])
        return _picture(scene, size, self._titles)

    def _narrow(self, earlier: _Picture, later: _Picture) -> Change | None:
        """The change, with the first of the longer prefixes that shows it.

        Objects are told apart by their order. Over many bars one may take the place of another
        that was deleted, so what changed has to change from one bar to the next.
        """
        changed = {later.size: later}

        def is_changed(size: int) -> bool:
            picture = self._draw(size)
            if picture is not None and _differences(earlier, picture):
                changed[size] = picture
            return size in changed

        bisect.bisect_left(range(earlier.size + 1, later.size), True, key=is_changed)
        size = min(changed)
        former = earlier if size == earlier.size + 1 else self._draw(size - 1) or earlier
        differences = _differences(former, changed[size])
        if not differences:
            former, differences = earlier, _plot_differences(earlier, changed[size])
        if not differences:
            return None
        what, bar, before, after = min(differences, key=lambda difference: difference[1])
        return Change(what, bar, self._time(bar), former.size, size, before, after)

    def _time(self, bar: int) -> int:
        return int(self._bars.time[min(max(bar, 0), len(self._bars) - 1)])

    def _note_late(self, earlier: _Picture, later: _Picture) -> None:
        """Notes what stands at bars of the shorter prefix and was not there then."""
        size, late = earlier.size, list[tuple[str, int]]()
        late += [(name, bar) for name, bar in later.events - earlier.events if bar < size]
        for what, columns in later.series.items():
            before = earlier.series.get(what, [])
            for at, column in enumerate(columns):
                arrived = ~np.isnan(column[:size])
                if at < len(before) and len(before[at]) >= size:
                    arrived &= np.isnan(before[at][:size])
                late += [(what, bar) for bar in np.flatnonzero(arrived).tolist()]
        for what, dots in later.dots.items():
            arrived = np.setdiff1d(dots[0], earlier.dots.get(what, _NO_DOTS)[0])
            late += [(what, int(bar)) for bar in arrived.tolist() if bar < size]
        known = {id(other) for _, others in _pair_up(earlier, later) for other in others}
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
            return picture is not None and _stands(picture, what, bar)

        at = bisect.bisect_left(range(without + 1, with_it), True, key=is_there)
        return Late(what, bar, self._time(bar), without + at - bar, len(arrivals), told)


def _differences(earlier: _Picture, later: _Picture) -> list[_Difference]:
    """What the longer of two prefixes changed."""
    differences = _plot_differences(earlier, later)
    for item, others in _pair_up(earlier, later):
        if others and not item.provisional and not item.grew_to(others[0], earlier.size):
            differences.append((item.what, int(item.bar), str(item), str(others[0])))
    return differences


def _plot_differences(earlier: _Picture, later: _Picture) -> list[_Difference]:
    """What the longer of two prefixes changed in plots and signals."""
    differences = [
        (name, bar, "there", "gone")
        for name, bar in sorted(earlier.events - later.events)
        if bar < earlier.size
    ]
    for what, old in earlier.levels.items():
        new = later.levels.get(what, [])
        if gone := _without(old, new):
            fresh = _few(_without(new, old)) or "gone"
            differences.append((what, earlier.size - 1, _few(gone), fresh))
    for what, columns in earlier.series.items():
        write = _color if what in earlier.tints else _number
        new_columns = later.series.get(what, [])
        differences += _series_differences(what, columns, new_columns, earlier.size, write)
    for what, colors in earlier.colors.items():
        if what in later.colors:  # where it has one colour now, it was restyled
            new_colors = [later.colors[what]]
            differences += _series_differences(what, [colors], new_colors, earlier.size, _color)
    for what, dots in earlier.dots.items():
        differences += _dot_differences(what, dots, later.dots.get(what, _NO_DOTS), earlier.size)
    return differences


def _series_differences(
    what: str,
    columns: list[Array],
    later: list[Array],
    size: int,
    write: Callable[[float], str],
) -> Iterator[_Difference]:
    for at, column in enumerate(columns):
        old = column[:size]
        new = later[at][:size] if at < len(later) else np.full(len(old), np.nan)
        if len(new) != len(old):  # drawn on other bars than the chart's
            continue
        noise = _noise(old)
        changed = np.flatnonzero(~np.isnan(old) & ~np.isclose(old, new, _TOLERANCE, noise))
        if len(changed):
            bar = int(changed[0])
            yield what, bar, write(old[bar]), write(new[bar])


def _dot_differences(what: str, dots: Array, later: Array, size: int) -> Iterator[_Difference]:
    """The dots that stand nowhere later, each with the nearest one on its bar, or recoloured."""
    later = later[:, later[0] < size]
    if dots.shape == later.shape and np.allclose(
        dots, later, rtol=_TOLERANCE, atol=0.0, equal_nan=True
    ):
        return
    heights: dict[float, list[float]] = {}
    colors: dict[float, list[float]] = {}
    for bar, height, color in later.T.tolist():
        heights.setdefault(bar, []).append(height)
        colors.setdefault(bar, []).append(color)
    noise = _noise(dots[1])
    for bar, height, color in dots.T.tolist():
        others = heights.get(bar, [])
        at = bisect.bisect_left(others, height)
        first, last = max(at - 1, 0), at + 1
        while last < len(others) and _same(others[last], height, noise):
            last += 1
        near = range(first, min(last, len(others)))
        same = [colors[bar][place] for place in near if _same(height, others[place], noise)]
        if not same:
            nearest = others[near[0]] if near else math.nan
            yield what, int(bar), _number(height), _number(nearest)
        elif not any(color == other or math.isnan(color + other) for other in same):
            yield f"{what} color", int(bar), _color(color), _color(same[0])


def _pair_up(earlier: _Picture, later: _Picture) -> Iterator[tuple[_Object, list[_Object]]]:
    """Each object of the shorter prefix with what became of it: itself, or where it moved to.

    An object without a successor was deleted. It was moved if another was made in its place in the
    past, as a channel that is fitted anew. It was moved, too, if its handle went on to a new bar,
    unless it stood on the last bar and follows that.
    """
    places: dict[tuple[str, float], list[_Object]] = {}
    for item in later.objects:
        places.setdefault((item.what, item.bar), []).append(item)
    same = {
        index: [
            other
            for other in places.get((item.what, item.bar), [])
            if item.grew_to(other, earlier.size)
        ]
        for index, item in enumerate(earlier.objects)
    }
    known = {id(other) for others in same.values() for other in others}
    in_place = {(item.what, item.id): item for item in later.objects if item.id is not None}
    for index, item in enumerate(earlier.objects):
        if same[index] or item.bar >= earlier.size:
            yield item, same[index]
            continue
        others = [other for other in places.get((item.what, item.bar), []) if item.moved_to(other)]
        other = in_place.get((item.what, item.id))
        if other is not None and (
            other.bar < earlier.size or (item.bar < earlier.size - 1 and item.has_handle_of(other))
        ):
            others.append(other)
        yield item, [other for other in others if id(other) not in known]


def _choose(whole: _Picture, bars: Bars, most: int) -> list[int]:
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


def _drawn_bars(picture: _Picture) -> set[int]:
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


def _rank(whole: _Picture, bars: Bars) -> Iterator[int]:
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


def _cross(whole: _Picture, bars: Bars) -> NDArray[np.bool_]:
    """The bars on which one of the first plotted series crosses another, the close or zero."""
    columns = [columns[0] for columns in whole.series.values() if columns][:_CROSSED]
    series = [np.zeros(whole.size), bars.close, *(c for c in columns if len(c) == whole.size)]
    crossed = np.zeros(whole.size, np.bool_)
    for one, other in itertools.combinations(series, 2):
        above = np.sign(one - other)
        crossed[1:] |= above[1:] * above[:-1] < 0
    return crossed


def _picture(scene: Scene, size: int, titles: Mapping[str, list[str]]) -> _Picture:
    """What is compared of a scene; `titles` are those of the whole chart's plots, by kind."""
    picture = _Picture(size)
    for plot in scene.plots:
        picture.titles.setdefault(plot.kind, []).append(plot.title)
    retitled = {
        kind: iter(_retitle(own, titles.get(kind, own))) for kind, own in picture.titles.items()
    }
    names: Counter[str] = Counter()
    parts: dict[str, list[Array]] = {}
    for plot in scene.plots:
        title = next(retitled[plot.kind])
        what = f"{plot.kind} {title!r}" if title else plot.kind
        if plot.provisional:
            picture.provisional.add(what)
        elif isinstance(plot, HLinePlot | HBarPlot):
            picture.levels.setdefault(what, []).append(plot.y)
        elif isinstance(plot, DivLinePlot):
            points = ((plot.x1, plot.y1), (plot.x2, plot.y2))
            picture.objects.append(_Object(what, tuple(sorted(points)), (), False))
        elif isinstance(plot, DotPlot | ShapePlot):
            parts.setdefault(what, []).append(_dots(plot, size))
            if isinstance(plot, ShapePlot):
                texts = zip(plot.columns.text, plot.columns.x.tolist(), strict=True)
                picture.events.update((f"{what} {text!r}", bar) for text, bar in texts if text)
        else:
            names[what] += 1
            number = f" ({names[what]})" if names[what] > 1 else ""
            picture.series[what + number] = list(_columns(plot))
            picture.colors.update(_colors(plot, what + number))
            if isinstance(plot, BackgroundPlot | BarColorPlot):
                picture.tints.add(what + number)
    for what, arrays in parts.items():
        dots = np.hstack(arrays)
        picture.dots[what] = dots[:, np.lexsort(dots[::-1])]
    for channel in _OBJECTS:
        for item in getattr(scene, channel):
            picture.objects.append(_object(item))
            if item.provisional:
                picture.provisional.add(channel)
    provisional = _provisional_signals(scene.plots)
    for signal in scene.signals:
        if (signal.name, signal.bar) in provisional:
            continue
        picture.events.add(event := (f"signal {signal.name!r}", signal.bar))
        if signal.confirmed_bar > signal.bar:
            picture.told[event] = signal.confirmed_bar - signal.bar
    return picture


def _retitle(titles: list[str], whole: list[str]) -> list[str]:
    """The titles that plots of one kind have on the whole chart.

    A title may tell the last value. So plots whose titles differ are paired by their order.
    """
    if len(titles) == len(whole) and Counter(titles) != Counter(whole):
        return whole
    fresh = (Counter(whole) - Counter(titles)).elements()
    return [title if title in whole else next(fresh, title) for title in titles]


def _provisional_signals(plots: Sequence[Plot]) -> set[tuple[str | None, int]]:
    """The names and bars of signals of which every dot is provisional."""
    labels: dict[bool, set[tuple[str | None, int]]] = {True: set(), False: set()}
    for plot in plots:
        if isinstance(plot, DotPlot):
            points = zip(plot.columns.label, plot.columns.x.tolist(), strict=True)
            labels[plot.provisional].update(points)
    return labels[True] - labels[False]


def _dots(plot: DotPlot | ShapePlot, size: int) -> Array:
    """Bars, heights and colours of dots and shapes; without a height one is above or below."""
    unplaced = _ABOVE.get(plot.location, 0.0) if isinstance(plot, ShapePlot) else 0.0
    bars, heights = plot.columns.x, plot.columns.y
    colors = np.full(len(bars), np.nan)
    if isinstance(plot.color, TextColumn):
        colors = _color_numbers(plot.color)
    dots = np.array((bars, np.where(np.isnan(heights), unplaced, heights), colors), np.float64)
    return dots[:, (bars >= 0) & (bars < size)]


def _columns(plot: Plot) -> Iterator[Array]:
    """The values of a plot, bar by bar; of one that colours bars, its colours."""
    if isinstance(plot, BackgroundPlot | BarColorPlot):
        if isinstance(plot.color, TextColumn):
            yield _color_numbers(plot.color)
    else:
        for name, kind in plot.field_types.items():
            if kind.kind == "series" and name not in plot.beyond:
                yield getattr(plot, name)
        if isinstance(plot, BarsPlot):
            yield np.where(np.isnan(plot.values), np.nan, plot.base)


def _colors(plot: Plot, what: str) -> Iterator[tuple[str, Array]]:
    """The colours that a plot has bar by bar, where it has values."""
    if isinstance(plot, BackgroundPlot | BarColorPlot):
        return
    known = np.logical_and.reduce([~np.isnan(column) for column in _columns(plot)])
    for name in plot.paints:
        paint = getattr(plot, name)
        if isinstance(paint, TextColumn):
            yield f"{what} {name}", np.where(known, _color_numbers(paint), np.nan)


def _color_numbers(paint: TextColumn) -> Array:
    numbers = [
        math.nan if color is None else _AUTO if color == palette.AUTO else int(color[1:], 16)
        for color in paint.categories
    ]
    colors: Array = np.array(numbers, np.float64)[paint.codes]
    return colors


def _object(item: DrawnObject) -> _Object:
    if isinstance(item, Polyline):
        points = tuple((float(point.bar), point.y) for point in item.points)
        return _Object(item.noun, points, (), item.provisional, item.id)
    values: Mapping[str, Any] = item.__dict__
    bars = [_bar(values[name]) for name in item.places]
    prices = [math.nan if values[name] is None else values[name] for name in item.heights]
    if values.get("yloc") in _ABOVE:  # a label above or below its bar, whatever its price
        prices = [_ABOVE[values["yloc"]]]
    if isinstance(item, Box):
        points = tuple((bar, 0.0) for bar in sorted(bars))
        heights = tuple(sorted(prices))
    else:
        points = tuple(sorted(zip(bars, prices, strict=True), key=lambda point: point[0]))
        heights = ()
    text = values.get("text", "")
    extends_left = values.get("extend") in ("left", "both")
    made_at = values["made_at"] or values[item.places[0]].time
    return _Object(
        item.noun,
        points,
        heights,
        values["provisional"],
        values["id"],
        made_at,
        text,
        extends_left,
    )


def _bar(anchor: Any) -> float:
    """The bar of an anchor; where it has none, its time orders it as well."""
    place = anchor.time if anchor.bar is None else anchor.bar
    return math.nan if place is None else float(place)


def _stands(picture: _Picture, what: str, bar: int) -> bool:
    """Whether something of that name stands at the bar."""
    if (what, bar) in picture.events:
        return True
    columns = picture.series.get(what)
    if columns is not None:
        return any(bar < len(column) and not math.isnan(column[bar]) for column in columns)
    if what in picture.dots:
        return bar in picture.dots[what][0]
    return any(item.what == what and item.bar == bar for item in picture.objects)


def _without(levels: list[float], others: list[float]) -> list[float]:
    """The levels that are not among the others."""
    others = sorted(others)

    def is_known(level: float) -> bool:
        at = bisect.bisect_left(others, level)
        return any(_same(level, other) for other in others[max(at - 1, 0) : at + 1])

    return [level for level in levels if not is_known(level)]


def _few(levels: list[float]) -> str:
    more = ", …" if len(levels) > 3 else ""
    return ", ".join(map(_number, levels[:3])) + more


def _noise(values: Array) -> float:
    """The differences that are rounding even in values near 0."""
    return _NOISE * float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))


def _same(a: float, b: float, noise: float = 0.0) -> bool:
    """Whether two prices or bars are equal but for rounding; what is nowhere is alike."""
    close = math.isclose(a, b, rel_tol=_TOLERANCE, abs_tol=noise)
    return close or (math.isnan(a) and math.isnan(b))


def _same_heights(heights: tuple[float, ...], others: tuple[float, ...]) -> bool:
    return len(heights) == len(others) and all(map(_same, heights, others))


def _begins_with(points: tuple[Point, ...], first: tuple[Point, ...]) -> bool:
    """Whether a line through some points begins with others."""
    return len(points) >= len(first) and all(map(_same_heights, points, first))


def _number(height: float) -> str:
    if math.isinf(height):
        return "above its bar" if height > 0 else "below its bar"
    return "nothing" if math.isnan(height) else f"{height:.12g}"


def _color(value: float) -> str:
    if value == _AUTO:
        return palette.AUTO
    return "nothing" if math.isnan(value) else f"#{int(value):08x}"
