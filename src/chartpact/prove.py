"""Does an indicator rewrite its past? It is run on prefixes of the bars, and what it drew compared.

What stood on a chart of k bars must stand on a longer one too: values of plots, signals and drawn
objects up to bar k - 1, with the words of their texts. Objects may be extended to the right,
restyled and deleted. Numbers in a text may run on and words may be added, as of a zone that was
touched again; "buy" must not become "sell". What is drawn at an earlier bar than it became known on
is late, which is told and no fault. What is marked `provisional` may change, and is listed.
"""

import bisect
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact.bars import Bars, BarsLike, to_bars
from chartpact.drawing import Polyline
from chartpact.drawing.objects import DrawnObject
from chartpact.problem import Failure
from chartpact.scene import Scene
from chartpact.scene.plots import (
    BackgroundPlot,
    BarColorPlot,
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
Point = tuple[float, float]  # a bar and a price; NaN where it has none

MOST_PREFIXES = 120
_TOLERANCE = 1e-9
_BUSY = "busy"  # the kind of a failure that says nothing about the indicator
_WORD = re.compile(r"[^\W\d_]+")
_OBJECTS = ("labels", "lines", "boxes", "polylines")
_COLORED = (BackgroundPlot.kind, BarColorPlot.kind)  # plots whose colours are their values


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
    """Something drawn `delay` bars before the one it became known on, the first of `count`."""

    what: str
    bar: int
    time: int
    delay: int
    count: int

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


def prove(bars: BarsLike, run: Run, most: int = MOST_PREFIXES) -> Proof:
    """Runs an indicator on at most so many prefixes of the bars, more where it draws."""
    return _Prover(to_bars(bars), run).prove(most)


@dataclass(frozen=True)
class _Object:
    """A drawn object: its points from left to right, and whether it may change."""

    what: str
    points: tuple[Point, ...]
    heights: tuple[float, ...]  # of a box: its top and bottom
    provisional: bool
    id: object = None  # tells objects of one run apart, in the order in which they were made
    text: str = ""

    @property
    def bar(self) -> float:
        return self.points[0][0]

    @property
    def words(self) -> set[str]:
        return set(_WORD.findall(self.text.casefold()))

    def grew_to(self, other: "_Object") -> bool:
        """Whether the other is this one, extended to the right if at all, and says no less."""
        if not self.words <= other.words:
            return False
        if self.points == other.points and self.heights == other.heights:
            return True
        if not len(self.points) == len(other.points) == 2:  # a label, or a polyline that grew
            return other.points[: len(self.points)] == self.points
        (left, low), (right, high) = self.points
        (other_left, other_low), (other_right, other_high) = other.points
        if self.heights != other.heights or (left, low) != (other_left, other_low):
            return False
        if not other_right > right:
            return False
        if right == left:  # of one bar: it has no direction yet
            return True
        slope = (high - low) / (right - left)
        return _same(other_high, high) or _same(other_high, low + slope * (other_right - left))

    def moved_to(self, other: "_Object") -> bool:
        """Whether the other begins where this one does, and stands elsewhere."""
        if self.heights:
            return self.bar == other.bar and not set(self.heights).isdisjoint(other.heights)
        return self.bar == other.bar and (
            len(self.points) == 1 or self.points[0] == other.points[0]
        )

    def __str__(self) -> str:
        prices = self.heights or tuple(price for _, price in self.points)
        numbers = [f"{price:.10g}" for price in (*prices[:1], *prices[-1:]) if price == price]  # noqa: PLR0124
        says = f"{self.text[:40]!r} " if self.text else ""
        return (
            f"{says}from bar {self.bar:.0f} at {' and '.join(dict.fromkeys(numbers)) or 'its bar'}"
        )


@dataclass
class _Picture:
    """What an indicator drew on the first `size` bars, as it is compared."""

    size: int
    series: dict[str, list[Array]] = field(default_factory=dict)
    levels: dict[str, list[str]] = field(default_factory=dict)
    events: set[tuple[str, int]] = field(default_factory=set)  # signals, by name and bar
    objects: list[_Object] = field(default_factory=list)
    provisional: set[str] = field(default_factory=set)


_Difference = tuple[str, int, str, str]  # what, at which bar, before and after


class _Prover:
    def __init__(self, bars: Bars, run: Run) -> None:
        self._bars = bars
        self._run = run
        self._pictures: dict[int, _Picture] = {}
        self._failed: dict[int, str] = {}
        self._late: dict[str, list[tuple[int, int, int]]] = {}  # bar, prefix without, prefix with

    def prove(self, most: int) -> Proof:
        size = len(self._bars)
        whole = self._pictures[size] = self._picture(size)
        lengths = _choose(whole, most)
        pictures = [picture for length in lengths if (picture := self._draw(length)) is not None]
        change = None
        for earlier, later in itertools.pairwise([*pictures, whole]):
            self._note_late(earlier, later)
            if change is None and _differences(earlier, later):
                change = self._narrow(earlier, later)
        late = [self._measure(what, items) for what, items in self._late.items()]
        return Proof(
            size,
            len(pictures),
            change,
            tuple(sorted(late, key=lambda item: (item.bar, item.what))),
            tuple(sorted(set().union(*(picture.provisional for picture in [*pictures, whole])))),
            self._failed[max(self._failed)] if self._failed else "",
        )

    def _draw(self, size: int) -> _Picture | None:
        if size not in self._pictures and size not in self._failed:
            try:
                self._pictures[size] = self._picture(size)
            except Failure as failure:
                if failure.kind == _BUSY:  # which would leave a gap in the proof
                    raise
                self._failed[size] = f"on {size:,} bars: {failure}"
        return self._pictures.get(size)

    def _picture(self, size: int) -> _Picture:
        """What it draws on so many bars; a host that is busy is asked once more."""
        try:
            return _picture(self._run(self._bars[:size]), size)
        except Failure as failure:
            if failure.kind != _BUSY:
                raise
        return _picture(self._run(self._bars[:size]), size)

    def _narrow(self, earlier: _Picture, later: _Picture) -> Change:
        """The change, with the first of the longer prefixes that shows it."""

        def is_changed(size: int) -> bool:
            picture = self._draw(size)
            return picture is not None and bool(_differences(earlier, picture))

        at = bisect.bisect_left(range(earlier.size + 1, later.size), True, key=is_changed)
        size = earlier.size + 1 + at
        picture = self._pictures.get(size, later)
        found = _differences(earlier, picture) or _differences(earlier, later)
        what, bar, before, after = min(found, key=lambda difference: difference[1])
        return Change(what, bar, self._time(bar), earlier.size, size, before, after)

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
        known = {id(other) for _, others in _followed(earlier, later) for other in others}
        for item in later.objects:
            if id(item) not in known and item.bar < size and not item.provisional:
                late.append((item.what, int(item.bar)))
        for what, bar in late:
            self._late.setdefault(what, []).append((bar, size, later.size))

    def _measure(self, what: str, items: list[tuple[int, int, int]]) -> Late:
        """The first of what came late, and how late: prefixes between tell when it was known."""
        bar, without, with_it = min(items)

        def is_there(size: int) -> bool:
            picture = self._draw(size)
            return picture is not None and _stands(picture, what, bar)

        at = bisect.bisect_left(range(without + 1, with_it), True, key=is_there)
        return Late(what, bar, self._time(bar), without + at - bar, len(items))


def _differences(earlier: _Picture, later: _Picture) -> list[_Difference]:
    """What stood on the shorter prefix and stands otherwise on the longer one."""
    found = [
        (name, bar, "there", "gone")
        for name, bar in sorted(earlier.events - later.events)
        if bar < earlier.size
    ]
    for what, old in earlier.levels.items():
        new = later.levels.get(what, [])
        if gone := Counter(old) - Counter(new):
            arrived = ", ".join(Counter(new) - Counter(old)) or "gone"
            found.append((what, earlier.size - 1, ", ".join(gone), arrived))
    for what, columns in earlier.series.items():
        found += _series_differences(what, columns, later.series.get(what, []), earlier.size)
    for item, others in _followed(earlier, later):
        if others and not item.provisional and not item.grew_to(others[0]):
            found.append((item.what, int(item.bar), str(item), str(others[0])))
    return found


def _series_differences(
    what: str, columns: list[Array], later: list[Array], size: int
) -> Iterator[_Difference]:
    for at, column in enumerate(columns):
        old = column[:size]
        new = later[at][:size] if at < len(later) else np.full(len(old), np.nan)
        if len(new) != len(old):  # drawn on other bars than the chart's
            continue
        changed = np.flatnonzero(~np.isnan(old) & ~np.isclose(old, new, rtol=_TOLERANCE, atol=0.0))
        if len(changed):
            bar = int(changed[0])
            write = _color if what.startswith(_COLORED) else _number
            yield what, bar, write(old[bar]), write(new[bar])


def _followed(earlier: _Picture, later: _Picture) -> Iterator[tuple[_Object, list[_Object]]]:
    """Each object of the shorter prefix with what became of it: itself, or where it moved to.

    One that stands nowhere was deleted, unless the one that was made in its place stands elsewhere
    in the past: a channel that is fitted anew is moved.
    """
    places: dict[tuple[str, float], list[_Object]] = {}
    for item in later.objects:
        places.setdefault((item.what, item.bar), []).append(item)
    same = {
        index: [other for other in places.get((item.what, item.bar), []) if item.grew_to(other)]
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
        if other is not None and other.bar < earlier.size:
            others.append(other)
        yield item, [other for other in others if id(other) not in known]


def _choose(whole: _Picture, most: int) -> list[int]:
    """Lengths of prefixes: half where something is drawn and right after it, half evenly."""
    size = whole.size
    drawn: set[int] = {bar for _, bar in whole.events}
    for item in whole.objects:
        drawn.update(int(bar) for bar, _ in item.points if not math.isnan(bar))
    for columns in whole.series.values():
        for column in columns[:1]:
            there = ~np.isnan(column)
            drawn.update(np.flatnonzero(there[1:] != there[:-1]).tolist())
    near = sorted({bar + step for bar in drawn for step in (1, 2) if 0 < bar + step < size})
    kept = {near[at] for at in np.linspace(0, len(near) - 1, min(len(near), most // 2)).astype(int)}
    even = np.linspace(1, size - 1, max(min(size - 1, most - len(kept)), 0))
    return sorted(kept | set(even.astype(int).tolist()))


def _picture(scene: Scene, size: int) -> _Picture:
    picture = _Picture(size)
    names: Counter[str] = Counter()
    for plot in scene.plots:
        what = f"{plot.kind} {plot.title!r}" if plot.title else plot.kind
        if plot.provisional:
            picture.provisional.add(what)
        elif isinstance(plot, HLinePlot | HBarPlot):
            picture.levels.setdefault(what, []).append(f"{plot.y:.10g}")
        elif isinstance(plot, DivLinePlot):
            points = ((plot.x1, plot.y1), (plot.x2, plot.y2))
            picture.objects.append(_Object(what, tuple(sorted(points)), (), False))
        else:
            names[what] += 1
            number = f" ({names[what]})" if names[what] > 1 else ""
            picture.series[what + number] = list(_columns(plot, size))
            if isinstance(plot, ShapePlot):
                texts = zip(plot.columns.text, plot.columns.x.tolist(), strict=True)
                picture.events.update((f"{what} {text!r}", bar) for text, bar in texts if text)
    for channel in _OBJECTS:
        for item in getattr(scene, channel):
            picture.objects.append(_object(item, channel))
            if item.provisional:
                picture.provisional.add(channel)
    for signal in scene.signals:
        picture.events.add((f"signal {signal.name!r}", signal.bar))
    return picture


def _columns(plot: Plot, size: int) -> Iterator[Array]:
    """The values of a plot, bar by bar; of what has none, its colour or 1 where it is drawn."""
    if isinstance(plot, DotPlot | ShapePlot):
        column = np.full(size, np.nan)
        heights = np.where(np.isnan(plot.columns.y), 1.0, plot.columns.y)
        inside = (plot.columns.x >= 0) & (plot.columns.x < size)
        column[plot.columns.x[inside]] = heights[inside]
        yield column
    elif isinstance(plot, BackgroundPlot | BarColorPlot):
        if isinstance(plot.color, TextColumn):
            numbers = [math.nan if c is None else int(c[1:], 16) for c in plot.color.categories]
            yield np.array(numbers, np.float64)[plot.color.codes]
    else:
        for name, kind in plot.field_types.items():
            if kind.kind == "series" and name not in plot.beyond:
                yield getattr(plot, name)


def _object(item: DrawnObject, channel: str) -> _Object:
    what = {"boxes": "box"}.get(channel, channel[:-1])
    if isinstance(item, Polyline):
        points = tuple((float(point.bar), point.y) for point in item.points)
        return _Object(what, points, (), item.provisional, item.id)
    values: Mapping[str, Any] = item.__dict__
    bars = [_bar(values[name]) for name in item.places]
    prices = [math.nan if values[name] is None else values[name] for name in item.heights]
    if channel == "boxes":
        points = tuple((bar, 0.0) for bar in sorted(bars))
        heights = tuple(sorted(prices))
    else:
        points = tuple(sorted(zip(bars, prices, strict=True), key=lambda point: point[0]))
        heights = ()
    text = values.get("text", "")
    return _Object(what, points, heights, values["provisional"], values["id"], text)


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
    return any(item.what == what and item.bar == bar for item in picture.objects)


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=_TOLERANCE)


def _number(value: float) -> str:
    return "nothing" if math.isnan(value) else f"{value:.10g}"


def _color(value: float) -> str:
    return "nothing" if math.isnan(value) else f"#{int(value):08x}"
