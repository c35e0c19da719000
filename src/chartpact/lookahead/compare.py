"""Two prefixes compared: what the longer one changed of the shorter one's past."""

import bisect
import math
from collections.abc import Callable, Iterator

import numpy as np

from chartpact.lookahead.objects import PlacedObject
from chartpact.lookahead.prefixdrawing import NO_DOTS, PrefixDrawing
from chartpact.lookahead.rounding import (
    TOLERANCE,
    Array,
    format_color,
    format_number,
    is_same,
    noise_of,
)

Difference = tuple[str, int, str, str]  # what, at which bar, before and after


def find_differences(earlier: PrefixDrawing, later: PrefixDrawing) -> list[Difference]:
    """What the longer of two prefixes changed."""
    differences = find_plot_differences(earlier, later)
    for item, others in pair_up(earlier, later):
        if others and not item.provisional and not item.grew_to(others[0], earlier.size):
            differences.append((item.what, int(item.bar), str(item), str(others[0])))
    return differences


def find_plot_differences(earlier: PrefixDrawing, later: PrefixDrawing) -> list[Difference]:
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
        write = format_color if what in earlier.tints else format_number
        new_columns = later.series.get(what, [])
        differences += _series_differences(what, columns, new_columns, earlier.size, write)
    for what, colors in earlier.colors.items():
        if what in later.colors:  # where it has one colour now, it was restyled
            new_colors = [later.colors[what]]
            differences += _series_differences(
                what, [colors], new_colors, earlier.size, format_color
            )
    for what, dots in earlier.dots.items():
        differences += _dot_differences(what, dots, later.dots.get(what, NO_DOTS), earlier.size)
    return differences


def _series_differences(
    what: str,
    columns: list[Array],
    later: list[Array],
    size: int,
    write: Callable[[float], str],
) -> Iterator[Difference]:
    for at, column in enumerate(columns):
        old = column[:size]
        new = later[at][:size] if at < len(later) else np.full(len(old), np.nan)
        if len(new) != len(old):  # drawn on other bars than the chart's
            continue
        noise = noise_of(old)
        changed = np.flatnonzero(~np.isnan(old) & ~np.isclose(old, new, TOLERANCE, noise))
        if len(changed):
            bar = int(changed[0])
            yield what, bar, write(old[bar]), write(new[bar])


def _dot_differences(what: str, dots: Array, later: Array, size: int) -> Iterator[Difference]:
    """The dots that stand nowhere later, each with the nearest one on its bar, or recoloured."""
    later = later[:, later[0] < size]
    if dots.shape == later.shape and np.allclose(
        dots, later, rtol=TOLERANCE, atol=0.0, equal_nan=True
    ):
        return
    heights: dict[float, list[float]] = {}
    colors: dict[float, list[float]] = {}
    for bar, height, color in later.T.tolist():
        heights.setdefault(bar, []).append(height)
        colors.setdefault(bar, []).append(color)
    noise = noise_of(dots[1])
    for bar, height, color in dots.T.tolist():
        others = heights.get(bar, [])
        at = bisect.bisect_left(others, height)
        first, last = max(at - 1, 0), at + 1
        while last < len(others) and is_same(others[last], height, noise):
            last += 1
        near = range(first, min(last, len(others)))
        same = [colors[bar][place] for place in near if is_same(height, others[place], noise)]
        if not same:
            nearest = others[near[0]] if near else math.nan
            yield what, int(bar), format_number(height), format_number(nearest)
        elif not any(color == other or math.isnan(color + other) for other in same):
            yield f"{what} color", int(bar), format_color(color), format_color(same[0])


def pair_up(
    earlier: PrefixDrawing, later: PrefixDrawing
) -> Iterator[tuple[PlacedObject, list[PlacedObject]]]:
    """Each object of the shorter prefix with what became of it: itself, or where it moved to.

    An object without a successor was deleted. It was moved if another was made in its place in the
    past, as a channel that is fitted anew. It was moved, too, if its handle went on to a new bar,
    unless it stood on the last bar and follows that.
    """
    places: dict[tuple[str, float], list[PlacedObject]] = {}
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


def stands(picture: PrefixDrawing, what: str, bar: int) -> bool:
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
        return any(is_same(level, other) for other in others[max(at - 1, 0) : at + 1])

    return [level for level in levels if not is_known(level)]


def _few(levels: list[float]) -> str:
    more = ", …" if len(levels) > 3 else ""
    return ", ".join(map(format_number, levels[:3])) + more
