"""A chart in words, for a reader or a language model: last values, signals and the trend."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from chartpact import ta
from chartpact.bars import Bars
from chartpact.bars.columns import COLUMNS
from chartpact.clock.walltime import iso
from chartpact.scene import BarsPlot, DivLinePlot, Drawn, HLinePlot, LinePlot, Scene

if TYPE_CHECKING:
    from chartpact.charts import Chart

FAST, SLOW = 21, 50  # bars of the averages that decide the trend
MOST_LEVELS = 12
ONE = {"labels": "label", "lines": "line", "boxes": "box", "tables": "table"}


def figure(value: float) -> str:
    """A number with as many digits as one reads.

    >>> figure(5150.25), figure(1.082134), figure(-0.5), figure(1e300)
    ('5150.25', '1.08213', '-0.5', '1e+300')
    """
    return f"{value:.2f}" if 1000 <= abs(value) < 1e15 else f"{value:.6g}"


def last_bar(bars: Bars) -> dict[str, Any] | None:
    """The last bar by its columns; an unknown volume is null."""
    if len(bars) == 0:
        return None
    last = {name: getattr(bars, name)[-1].item() for name in COLUMNS}
    return {name: None if np.isnan(value) else value for name, value in last.items()}


def digest(scene: Scene) -> dict[str, Any]:
    """What a scene says without its series: last values, levels and signals."""
    return {
        "label": scene.label,
        "last": {title: _or_null(values[-1:]) for title, values in _series(scene)},
        "levels": [{"title": title, "y": y} for title, y in _levels(scene)],
        "signals": [each.to_json() for each in scene.signals],
    }


def trend(bars: Bars) -> str:
    """Where the price is going, by its close and two exponential averages of it.

    >>> trend(Bars([0, 1], *[[1, 2]] * 4, [1, 1]))
    'up: the close rose from 1 to 2 over 2 bars'
    """
    if len(bars) < 2:
        return "unknown: there are not enough bars"
    close, first = float(bars.close[-1]), float(bars.close[0])
    if len(bars) < SLOW:
        way = "up" if close > first else "down" if close < first else "sideways"
        moved = {"up": "rose", "down": "fell", "sideways": "went"}[way]
        span = f"from {figure(first)} to {figure(close)} over {len(bars)} bars"
        return f"{way}: the close {moved} {span}"
    fast, slow = (float(ta.ema(bars.close, n)[-1]) for n in (FAST, SLOW))
    way = "up" if close > fast > slow else "down" if close < fast < slow else "sideways"
    return (
        f"{way}: the close {figure(close)} is {_beside(close, fast)} its EMA {FAST} "
        f"({figure(fast)}), which is {_beside(fast, slow)} the EMA {SLOW} ({figure(slow)})"
    )


def _beside(a: float, b: float) -> str:
    return "above" if a > b else "below" if a < b else "at"


def text(chart: "Chart") -> str:
    """The whole chart as lines of text."""
    return "\n".join(_lines(chart)) + "\n"


def _lines(chart: "Chart") -> Iterator[str]:
    bars = chart.bars
    name = " ".join(filter(None, (bars.symbol, bars.timeframe))) or "(no symbol)"
    if bars.synthetic:
        name += " (synthetic sample data)"
    if len(bars) == 0:
        yield f"{name}: no bars"
    else:
        count = "1 bar" if len(bars) == 1 else f"{len(bars)} bars"
        yield f"{name}: {count}, {iso(bars.time[0])} to {iso(bars.time[-1])}"
        last = last_bar(bars) or {}
        told = {key: value for key, value in last.items() if key != "time" and value is not None}
        yield f"last bar: {', '.join(f'{key} {figure(value)}' for key, value in told.items())}"
        yield f"trend: {chart.trend}"
    for each in chart.drawn:
        yield ""
        yield from _indicator(each, bars)


def _indicator(each: Drawn, bars: Bars) -> Iterator[str]:
    if each.error is not None:
        yield f"{each.id}: error: {each.error}"
        return
    scene = each.scene or Scene()
    yield f"{each.id}: {each.title or scene.label or each.name}"
    values = [_value(title, values) for title, values in _series(scene)]
    if values:
        yield f"  values: {', '.join(values)}"
    levels = [f"{title} {figure(y)}" for title, y in _levels(scene)]
    if levels:
        more = f" and {len(levels) - MOST_LEVELS} more" if len(levels) > MOST_LEVELS else ""
        yield f"  levels: {', '.join(levels[:MOST_LEVELS])}{more}"
    latest = {signal.name: signal for signal in scene.signals}
    counts = {name: sum(signal.name == name for signal in scene.signals) for name in latest}
    for name, signal in sorted(latest.items(), key=lambda item: -item[1].confirmed_bar):
        at = f"bar {signal.bar} ({_time(bars, signal.bar)})"
        if signal.confirmed_bar != signal.bar:
            at += f", known on bar {signal.confirmed_bar}"
        value = "" if signal.value is None else f" at {figure(signal.value)}"
        often = f" ({counts[name]} in all)" if counts[name] > 1 else ""
        yield f"  signal: {name}{value} on {at}{often}"
    objects = [
        f"{len(drawn)} {channel if len(drawn) > 1 else ONE[channel]}"
        for channel in ONE
        if (drawn := getattr(scene, channel))
    ]
    if objects:
        yield f"  drawn: {', '.join(objects)}"


def _series(scene: Scene) -> Iterator[tuple[str, np.ndarray[Any, np.dtype[np.float64]]]]:
    """The titled series of a scene, of equal titles the first; strips of colour tell nothing."""
    seen: set[str] = set()
    for plot in scene.plots:
        if not isinstance(plot, LinePlot | BarsPlot) or not plot.title or plot.title in seen:
            continue
        if isinstance(plot, LinePlot) or isinstance(plot.color, str) or not _constant(plot.values):
            seen.add(plot.title)
            yield plot.title, plot.values


def _constant(values: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    known = values[~np.isnan(values)]
    return bool((known == known[:1]).all())


def _levels(scene: Scene) -> Iterator[tuple[str, float]]:
    for plot in scene.plots:
        if plot.title and isinstance(plot, HLinePlot | DivLinePlot):
            yield plot.title, plot.y if isinstance(plot, HLinePlot) else plot.y2


def _value(title: str, values: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    recent = values[-2:]
    if len(recent) == 0 or np.isnan(recent[-1]):
        return f"{title} none"
    now = float(recent[-1])
    if len(recent) < 2 or np.isnan(recent[0]) or recent[0] == now:
        return f"{title} {figure(now)}"
    return f"{title} {figure(now)} ({'rising' if now > recent[0] else 'falling'})"


def _or_null(values: np.ndarray[Any, np.dtype[np.float64]]) -> float | None:
    return None if len(values) == 0 or np.isnan(values[-1]) else float(values[-1])


def _time(bars: Bars, bar: int) -> str:
    return iso(bars.time[bar]) if 0 <= bar < len(bars) else "out of view"
