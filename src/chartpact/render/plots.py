"""Plots: how each kind is drawn, and the lowest and highest value it draws."""

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact import palette
from chartpact.render import backgrounds, candles, sampling, typesetting
from chartpact.render.candles import body_width
from chartpact.render.display import (
    Area,
    Circles,
    Floats,
    Ints,
    Op,
    Panel,
    Rects,
    Shape,
    Stroke,
    Words,
)
from chartpact.render.frame import Frame
from chartpact.render.lines import straight, stroke
from chartpact.render.paint import Codes, by_color, codes_of
from chartpact.render.textblock import Occupied
from chartpact.render.theme import ensure_contrast, fade, is_visible
from chartpact.scene import (
    BackgroundPlot,
    BarColorPlot,
    BarsPlot,
    CandlesPlot,
    DivLinePlot,
    DotPlot,
    FillPlot,
    HBarPlot,
    HLinePlot,
    LinePlot,
    Plot,
    Points,
    ShapePlot,
)

THINNEST = 1.25  # pixels: a thinner line is hard to see
THICKEST = 64.0
LARGEST_DOT = 200.0
MOST_NAMES = 1_000  # dots with a tooltip; the last ones
TITLE_SIZE = 10.0
LAYERS = (
    "background",
    "fill",
    "hbar",
    "bars",
    "price",
    "candles",
    "hline",
    "line",
    "divline",
    "dot",
)

# ---------------------------------------------------------------------------------------- extents


def extent(plot: Plot) -> tuple[float, float]:
    """The lowest and the highest value that a plot draws; NaN where it draws none.

    Levels are no such values: they may lie far from everything else.
    """
    match plot:
        case LinePlot():
            values = np.concatenate((plot.values, plot.ahead))
            if plot.style in ("histogram", "columns"):
                values = np.append(values, 0.0)
        case BarsPlot():
            values = np.append(plot.values, plot.base) if len(plot.values) else plot.values
        case CandlesPlot():
            values = np.concatenate((plot.open, plot.high, plot.low, plot.close))
        case FillPlot():
            sides = (plot.a, plot.a_ahead), (plot.b, plot.b_ahead)
            moving = [part for side in sides if _level_of(side[0]) is None for part in side]
            values = np.concatenate(moving) if moving else np.empty(0)
        case DotPlot():
            values = plot.columns.y[plot.columns.x >= 0]
        case ShapePlot():
            values = plot.columns.y[plot.columns.x >= 0]
        case HBarPlot():
            values = np.array([plot.y - plot.height / 2, plot.y + plot.height / 2])
        case DivLinePlot():
            values = np.array([plot.y1, plot.y2], dtype=float) if plot.x2 >= 0 else np.empty(0)
        case _:
            values = np.empty(0)
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else (np.nan, np.nan)


def levels(plot: Plot) -> list[float]:
    """The levels that a plot draws: a horizontal line, or a side of a fill that stays at one."""
    if isinstance(plot, HLinePlot):
        return [plot.y]
    sides = (plot.a, plot.b) if isinstance(plot, FillPlot) else ()
    return [level for side in sides if (level := _level_of(side)) is not None]


def _level_of(values: Floats) -> float | None:
    """The value at which a series stays for all bars, if it does."""
    known = values[np.isfinite(values)]
    return float(known[0]) if len(known) and (known == known[0]).all() else None


def is_empty(plot: Plot) -> bool:
    """Whether a plot draws nothing on these bars."""
    if isinstance(plot, BackgroundPlot | BarColorPlot):
        return not isinstance(plot.color, str) and not any(plot.color)
    if isinstance(plot, ShapePlot):
        return not np.any(plot.columns.x >= 0)
    return bool(np.isnan(extent(plot)[0])) and not levels(plot)


# ------------------------------------------------------------------------------------------- lines


def line(plot: LinePlot, frame: Frame) -> list[Op]:
    values = np.concatenate((plot.values, plot.ahead)) if len(plot.ahead) else plot.values
    if not len(values):
        return []

    def rising() -> NDArray[np.bool_]:
        before = np.concatenate((values[:1], values[:-1]))
        return ~(values < before)

    colors, codes = codes_of(plot.color, len(values), rising, frame.theme)
    if plot.style in ("histogram", "columns"):
        width = round(min(max(plot.width, 1), THICKEST)) if plot.style == "histogram" else None
        return columns(values, 0.0, colors, codes, frame, width)
    size = sampling.bars_per_group(frame.bars.step)
    if plot.style == "levels":
        return _levels(values, size, plot.width, colors, codes, frame)
    hidden = codes < 0
    if size > 1:  # a bar that is not drawn must not stand for its group
        values = np.where(hidden, np.nan, values)
    bars = sampling.outline(values, size)
    x, y, codes = frame.bars.x(bars), frame.values.y(values[bars]), codes[bars]
    if size > 1 and hidden.any():  # nor may a line go on over it
        gaps = np.flatnonzero(np.diff(np.cumsum(hidden)[bars])) + 1
        x, y, codes = (
            np.insert(x, gaps, np.nan),
            np.insert(y, gaps, np.nan),
            np.insert(codes, gaps, 0),
        )
    if plot.style == "circles":
        radius = 1.0 + min(max(plot.width, 1), THICKEST) * 0.8
        return _circles(x, y, np.full(len(x), radius), colors, codes)
    if plot.style == "cross":
        return _crosses(x, y, 2.0 + min(max(plot.width, 1), THICKEST), colors, codes)
    ops: list[Op] = []
    stepped = plot.style.startswith("stepline")
    path = (x, y, codes)
    if stepped:  # each value holds until the next bar
        path = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1], np.repeat(codes, 2)[1:]
    if plot.style in ("area", "areabr"):
        ops += _areas(x, y, colors, codes, frame)
    if plot.width > 0:
        # A downsampled line is drawn thin.
        wide = min(max(THINNEST, plot.width if size == 1 else 0.0), THICKEST)
        for color, parts in _runs(*path, colors):
            lines = parts if stepped else [sampling.simplify(*part) for part in parts]
            ops.append(Shape(lines, stroke=Stroke(color, wide, round=size == 1)))
    if plot.style == "stepline_diamond":
        ops += _diamonds(x, y, 2.5 + min(max(plot.width, 1), THICKEST), colors, codes)
    return ops


Part = tuple[Floats, Floats]


def _runs(
    x: Floats, y: Floats, codes: Codes, colors: list[str]
) -> Iterable[tuple[str, list[Part]]]:
    """For each colour the unbroken stretches; a stretch takes the colour of the bar it goes to."""
    known = np.isfinite(y) & np.isfinite(x)
    count = len(x)
    if not known.any():
        return
    joined = known[1:] & known[:-1]
    label = np.where(joined, codes[1:], -2)
    edges = np.flatnonzero(label[1:] != label[:-1]) + 1
    firsts = np.concatenate(([0], edges)) if count > 1 else np.empty(0, dtype=np.int64)
    lasts = np.append(edges, count - 1) if count > 1 else firsts
    parts: dict[int, list[Part]] = {}
    for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True):
        code = int(label[first])
        if code >= 0:
            parts.setdefault(code, []).append((x[first : last + 1], y[first : last + 1]))
    alone = known.copy()
    alone[1:] &= ~joined
    alone[:-1] &= ~joined
    for i in np.flatnonzero(alone).tolist():
        if codes[i] >= 0:
            parts.setdefault(int(codes[i]), []).append((x[i : i + 1], y[i : i + 1]))
    for code, runs in sorted(parts.items()):
        if is_visible(colors[code]):
            yield colors[code], runs


def _levels(
    values: Floats, size: int, width: float, colors: list[str], codes: Codes, frame: Frame
) -> list[Op]:
    """A level stroke for each run of equal values, from half a bar before to half a bar after."""
    at = sampling.starts(len(values), size)
    values, codes = values[at], codes[at]
    changes = (np.diff(values) != 0) | (np.diff(codes) != 0)  # NaN differs from everything
    first = np.concatenate(([0], np.flatnonzero(changes) + 1))
    last = np.append(first[1:], len(values)) * size
    left, right = frame.bars.x(first * size - 0.5), frame.bars.x(last - 0.5)
    y = np.floor(frame.values.y(values[first])) + 0.5
    wide = min(max(THINNEST, width), THICKEST)
    return [
        Shape(
            [(np.array([left[i], right[i]]), np.array([y[i], y[i]])) for i in rows.tolist()],
            stroke=Stroke(color, wide, round=False),
        )
        for color, rows in by_color(codes[first], np.isfinite(y), colors)
    ]


def _areas(x: Floats, y: Floats, colors: list[str], codes: Codes, frame: Frame) -> list[Op]:
    floor = float(frame.values.y(0.0))
    if not frame.area.top < floor < frame.area.bottom:
        floor = frame.area.bottom
    ops: list[Op] = []
    for color, parts in _runs(x, y, codes, colors):
        closed = [
            (np.concatenate((px, px[[-1, 0]])), np.append(py, (floor, floor)))
            for px, py in parts
            if len(px) > 1
        ]
        ops.append(Shape(closed, fill=fade(color, 0.25)))
    return ops


def _circles(x: Floats, y: Floats, radius: Floats, colors: list[str], codes: Codes) -> list[Op]:
    ops: list[Op] = []
    for color, chosen in by_color(codes, np.isfinite(y), colors):
        spots = np.column_stack((x[chosen], y[chosen], radius[chosen]))
        spots = np.unique(np.rint(spots * 2) / 2, axis=0) if len(spots) > 2000 else spots
        ops.append(Circles(spots[:, 0], spots[:, 1], spots[:, 2], color))
    return ops


def _crosses(x: Floats, y: Floats, arm: float, colors: list[str], codes: Codes) -> list[Op]:
    ops: list[Op] = []
    for color, chosen in by_color(codes, np.isfinite(y), colors):
        parts: list[Part] = []
        for px, py in zip(x[chosen].tolist(), y[chosen].tolist(), strict=True):
            parts.append((np.array([px - arm, px + arm]), np.array([py, py])))
            parts.append((np.array([px, px]), np.array([py - arm, py + arm])))
        ops.append(Shape(parts, stroke=Stroke(color, 1.25, round=False)))
    return ops


def _diamonds(x: Floats, y: Floats, arm: float, colors: list[str], codes: Codes) -> list[Op]:
    ops: list[Op] = []
    for color, chosen in by_color(codes, np.isfinite(y), colors):
        parts = [
            (np.array([px - arm, px, px + arm, px]), np.array([py, py - arm, py, py + arm]))
            for px, py in zip(x[chosen].tolist(), y[chosen].tolist(), strict=True)
        ]
        ops.append(Shape(parts, fill=color))
    return ops


# ----------------------------------------------------------------------------------------- columns


def bars(plot: BarsPlot, frame: Frame) -> list[Op]:
    if not len(plot.values):
        return []
    values, base = plot.values, float(plot.base)
    colors, codes = codes_of(plot.color, len(values), lambda: ~(values < base), frame.theme)
    return columns(values, base, colors, codes, frame, None)


def columns(
    values: Floats, base: float, colors: list[str], codes: Codes, frame: Frame, width: int | None
) -> list[Op]:
    size = sampling.bars_per_group(frame.bars.step)
    at = np.arange(len(values))
    if size > 1:  # of each group the tallest on either side stays, with its colour
        tall = np.where((values >= base) & (codes >= 0), values, np.nan)
        deep = np.where((values < base) & (codes >= 0), values, np.nan)
        peaks = np.concatenate((_peaks(tall, size, 1.0), _peaks(deep, size, -1.0)))
        at = np.unique(peaks[peaks >= 0])
    x = frame.bars.x(np.asarray((at // size) * size + (size - 1) / 2, dtype=np.float64))
    y = np.rint(np.clip(frame.values.y(values[at]), frame.area.top - 4, frame.area.bottom + 4))
    zero = frame.values.y1(base)
    zero = zero if np.isfinite(zero) else frame.area.bottom
    floor = round(np.clip(zero, frame.area.top - 4, frame.area.bottom + 4))
    wide = width or body_width(frame.bars.step * size)
    ops: list[Op] = []
    for color, chosen in by_color(codes[at], np.isfinite(y), colors):
        top = np.minimum(y[chosen], floor).astype(np.int64)
        height = np.abs(y[chosen] - floor).astype(np.int64)
        left = np.floor(x[chosen]).astype(np.int64) - wide // 2
        height = np.where((height == 0) & (values[at][chosen] != base), 1, height)
        boxes = np.column_stack((left, top, np.full_like(left, wide), height))
        ops.append(Rects(boxes[height > 0], color))
    return ops


def _peaks(values: Floats, size: int, sign: float) -> Ints:
    groups = -(-len(values) // size)
    padded = np.full(groups * size, -np.inf)
    padded[: len(values)] = np.where(np.isfinite(values), values * sign, -np.inf)
    grid = padded.reshape(groups, size)
    best = grid.argmax(axis=1) + np.arange(groups) * size
    return np.where(np.isfinite(grid.max(axis=1)), best, -1)


# ------------------------------------------------------------------------------------------- fills


def fill(plot: FillPlot, frame: Frame) -> list[Op]:
    a = np.concatenate((plot.a, plot.a_ahead))
    b = np.concatenate((plot.b, plot.b_ahead))
    count = min(len(a), len(b))
    a, b = a[:count], b[:count]
    if not count:
        return []
    colors, codes = codes_of(plot.color, count, lambda: a >= b, frame.theme)
    at = np.arange(count, dtype=float)
    size = sampling.bars_per_group(frame.bars.step)
    if size > 1:
        at, a, b, codes = _downsample(a, b, codes, size)
    if plot.color == palette.AUTO:
        at, a, b, codes = _split_at_crossings(at, a, b)
    x = frame.bars.x(at)
    ya, yb = frame.values.y(a), frame.values.y(b)
    ops: list[Op] = []
    known = np.where(np.isfinite(ya) & np.isfinite(yb), np.arange(len(x)), np.nan)
    for color, parts in _runs(x, known, codes, colors):
        closed = []
        for px, index in parts:
            if len(px) > 1:
                rows = index.astype(np.int64)
                edge = np.concatenate((ya[rows], yb[rows][::-1]))
                closed.append((np.concatenate((px, px[::-1])), edge))
        ops.append(Shape(closed, fill=fade(color, plot.alpha)))
    return ops


def _downsample(
    a: Floats, b: Floats, codes: Codes, size: int
) -> tuple[Floats, Floats, Floats, Codes]:
    """One step for each group, from the outermost value of one series to that of the other."""
    both = np.isfinite(a) & np.isfinite(b) & (codes >= 0)
    a, b = np.where(both, a, np.nan), np.where(both, b, np.nan)
    first = sampling.starts(len(a), size)
    last = np.maximum.reduceat(
        np.where(both, np.arange(len(a)), first.repeat(size)[: len(a)]), first
    )
    above = np.add.reduceat(np.where(both, a - b, 0.0), first) >= 0
    a_high, b_low = sampling.envelope(a, b, size)
    b_high, a_low = sampling.envelope(b, a, size)
    return (
        sampling.centres(len(a), size),
        np.where(above, a_high, a_low),
        np.where(above, b_low, b_high),
        codes[last],
    )


def _split_at_crossings(at: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Codes]:
    """The series with the points where they cross, each stretch coloured by which is above."""
    gap = a - b
    before, after = gap[:-1], gap[1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        crossing = np.flatnonzero((before >= 0) & (after < 0) | (before < 0) & (after >= 0))
        share = before[crossing] / (before[crossing] - after[crossing])
    met = a[crossing] + share * (a[crossing + 1] - a[crossing])
    at = np.insert(at, crossing + 1, at[crossing] + share * (at[crossing + 1] - at[crossing]))
    a, b = np.insert(a, crossing + 1, met), np.insert(b, crossing + 1, met)
    gap = a - b
    between = np.zeros(len(gap))
    between[1:] = gap[1:] + gap[:-1]
    return at, a, b, np.where(between >= 0, 0, 1)


# ------------------------------------------------------------------------------------- other kinds


def dots(plot: DotPlot, frame: Frame) -> list[Op]:
    points = plot.columns
    if not len(points):
        return []
    x, y = frame.bars.x(points.x), frame.values.y(points.y)
    radius = np.clip(points.size, 0.5, LARGEST_DOT) / 2 + 0.5
    paint = plot.color if plot.color != palette.AUTO else frame.theme.up
    colors, codes = codes_of(paint, len(x), lambda: np.ones(len(x), bool), frame.theme)
    y = np.where((y >= frame.area.top - 50) & (y <= frame.area.bottom + 50), y, np.nan)
    ops = _circles(x, y, radius, colors, codes)
    return ops + _tooltips(points, x, y, radius)


def _tooltips(points: Points, x: Floats, y: Floats, radius: Floats) -> list[Op]:
    """The tooltips of dots that are signals."""
    labels = list(points.label)
    named = [i for i in np.flatnonzero(np.isfinite(y)).tolist() if labels[i]][-MOST_NAMES:]
    if not named:
        return []
    titles = tuple(labels[i] or "" for i in named)
    return [Circles(x[named], y[named], radius[named], "#00000000", titles)]


def _one_color(plot: HLinePlot | HBarPlot | DivLinePlot, frame: Frame) -> str:
    return frame.theme.up if plot.color == palette.AUTO else plot.color


def hline(plot: HLinePlot, frame: Frame) -> list[Op]:
    y = frame.values.y1(plot.y)
    color = _one_color(plot, frame)
    if not frame.area.top <= y <= frame.area.bottom or not is_visible(color):
        return []
    y = round(y - 0.5) + 0.5
    ends = np.array([frame.area.left, frame.area.right])
    return [Shape([(ends, np.array([y, y]))], stroke=stroke(color, 1.0, plot.style))]


def level_title(
    plot: HLinePlot, frame: Frame, occupied: Occupied, side: str, over_price: bool
) -> list[Op]:
    """The name of a level at one end, above or below the line, where that is free.

    Over the price it moves along the line until it is off the bars, if there is such a place.
    """
    y, color = frame.values.y1(plot.y), _one_color(plot, frame)
    if occupied.full:
        return []
    name = typesetting.fit(
        " ".join(typesetting.clean(plot.title).split()), TITLE_SIZE, frame.area.width / 3
    )
    if not name or not frame.area.top <= y <= frame.area.bottom or not is_visible(color):
        return []
    wide = typesetting.width(name, TITLE_SIZE)
    room = frame.area.width - 12 - wide
    shares = [*np.linspace(0.0, 0.6, 16).tolist(), 1.0] if over_price else [0.0]
    lefts = [frame.area.left + 6 + room * share for share in shares]
    if side == "right":
        lefts = [frame.area.right - 6 - wide - room * share for share in shares]
    spots = [(left, top) for left in lefts for top in (y - TITLE_SIZE - 4, y + 3)]
    off = (spot for spot in spots if not over_price or _is_off_bars(*spot, wide, frame))
    return _title(name, chain(off, spots[:2]), color, frame, occupied)


def _is_off_bars(left: float, top: float, wide: float, frame: Frame) -> bool:
    """Whether a text there covers none of the chart's bars."""
    bars = frame.timeline.bars
    first, last = ((x - frame.bars.left) / frame.bars.step for x in (left, left + wide))
    under = slice(max(0, math.floor(first)), max(0, math.floor(last) + 1))
    high, low = frame.values.y(bars.high[under]), frame.values.y(bars.low[under])
    return not bool(((high < top + TITLE_SIZE + 2) & (low > top)).any())


def end_title(plot: LinePlot | DivLinePlot, frame: Frame, occupied: Occupied) -> list[Op]:
    """The name of a level behind its right end, or above or below it, where that is free.

    Levels are lines in the style of levels, and level lines between two points. One that ended
    before the last bar has no name.
    """
    if isinstance(plot, LinePlot):
        if plot.style != "levels" or not len(plot.values):
            return []
        bar, value = len(plot.values) - 1, float(plot.values[-1])
        end = plot.color if isinstance(plot.color, str) else plot.color[-1]
        color = frame.theme.up if end == palette.AUTO else end
    else:
        bar, value, color = plot.x2, plot.y2, _one_color(plot, frame)
        if plot.y1 != plot.y2 or bar < len(frame.timeline.bars) - 1:
            return []
    name, y = " ".join(typesetting.clean(plot.title).split()), frame.values.y1(value)
    if not name or not color or not frame.area.top <= y <= frame.area.bottom:
        return []
    name = typesetting.fit(name, TITLE_SIZE, frame.area.width / 3)
    wide, x = typesetting.width(name, TITLE_SIZE), frame.bars.x1(bar + 0.5)
    middle = y - TITLE_SIZE / 2 - 1
    spots = [(x + 4, middle), (x - wide, y - TITLE_SIZE - 4), (x - wide, y + 3)]
    return _title(name, spots, color, frame, occupied)


def _title(
    name: str, spots: Iterable[tuple[float, float]], color: str, frame: Frame, occupied: Occupied
) -> list[Op]:
    """A name at the first of the spots, left and top, that is free."""
    wide = typesetting.width(name, TITLE_SIZE)
    for left, top in spots:
        spot = Area(left, top, left + wide, top + TITLE_SIZE + 2)
        if frame.area.holds(spot) and occupied.is_free(spot):
            occupied.add(spot)
            ground = frame.theme.background
            ink, halo = ensure_contrast(color, ground), fade(ground, 0.75)
            return [Words(left, top + TITLE_SIZE, name, TITLE_SIZE, ink, halo=halo)]
    return []


def hbar(plot: HBarPlot, frame: Frame) -> list[Op]:
    top, bottom = (frame.values.y1(plot.y + s * plot.height / 2) for s in (1, -1))
    color = _one_color(plot, frame)
    if not (np.isfinite(top) and np.isfinite(bottom)) or not is_visible(color):
        return []
    if bottom < frame.area.top or top > frame.area.bottom:
        return []
    start, length = plot.offset * frame.area.width, plot.width * frame.area.width
    left = frame.area.left + start
    if plot.side == "right":
        left = frame.area.right - start - length
    right = min(left + length, frame.area.right)
    top, bottom = max(top, frame.area.top), min(bottom, frame.area.bottom)
    return [Panel(Area(max(left, frame.area.left), top, right, max(bottom, top + 0.5)), color)]


def divline(plot: DivLinePlot, frame: Frame) -> list[Op]:
    return straight(
        frame,
        (frame.bars.x1(plot.x1), frame.values.y1(plot.y1)),
        (frame.bars.x1(plot.x2), frame.values.y1(plot.y2)),
        color=_one_color(plot, frame),
        width=1.75,
        style=plot.style,
    )


DRAW: Mapping[str, Callable[[Any, Frame], list[Op]]] = {
    "background": backgrounds.draw,
    "candles": candles.draw_plot,
    "line": line,
    "bars": bars,
    "fill": fill,
    "dot": dots,
    "hline": hline,
    "hbar": hbar,
    "divline": divline,
}


def draw(plot: Plot, frame: Frame) -> list[Op]:
    """The operations that draw a plot, but for colours of bars and shapes: see `picture`."""
    return DRAW[plot.kind](plot, frame) if plot.kind in DRAW else []
