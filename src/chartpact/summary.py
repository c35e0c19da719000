"""A chart in words, for a reader or a language model: last values, signals and the trend."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from chartpact import ta
from chartpact.bars import COLUMNS, Bars
from chartpact.clock.walltime import iso
from chartpact.drawing import OBJECTS
from chartpact.oneline import as_name, one_line
from chartpact.scene import (
    BarsPlot,
    CandlesPlot,
    DivLinePlot,
    Drawn,
    HLinePlot,
    LinePlot,
    Scene,
    ShapePlot,
    Signals,
)

Floats = NDArray[np.float64]
Times = NDArray[np.int64]

FAST, SLOW = 21, 50  # bars of the averages that decide the trend
MOST_LEVELS = 12
RECENT = 3  # signals of one name that are listed; the others are counted
MOST_NAMES = 20  # of signals, those with the latest signal first


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


def digest(scene: Scene, times: Times, first: int = 0) -> dict[str, Any]:
    """A scene without its series: last values, levels, the latest signals and their number.

    `times` are those of all bars, of which bar `first` is bar 0 of the scene.
    """
    signals = cast(Signals, scene.signals)
    groups = _by_name(signals)
    rows = [row for group in groups[:MOST_NAMES] for row in group[-RECENT:]]
    recent = signals.take(np.array(sorted(rows), np.int64)).to_json()
    counts = {str(signals.name[int(group[0])]): len(group) for group in groups[:MOST_NAMES]}
    return {
        "label": scene.label,
        "last": {title: _last(values) for title, values in _series(scene)},
        "levels": [{"title": title, "y": y} for title, y in _levels(scene)],
        "signals": [{**signal, "time": _time(times, first, signal["bar"])} for signal in recent],
        "signal_counts": counts,
    }


def _time(times: Times, first: int, bar: Any) -> int | None:
    return int(times[first + bar]) if 0 <= first + bar < len(times) else None


def _by_name(signals: Signals) -> list[NDArray[np.int64]]:
    """The rows of each name, the name with the latest signal first."""
    codes = signals.name.codes
    rows = np.argsort(codes, kind="stable")
    groups = np.split(rows, np.flatnonzero(np.diff(codes[rows])) + 1) if len(rows) else []
    return sorted(groups, key=lambda group: (-signals.confirmed_bar[group[-1]], group[0]))


def trend(bars: Bars) -> str:
    """The direction of the price, by its close and two exponential averages of it.

    >>> trend(Bars([0, 1], *[[1, 2]] * 4, [1, 1]))
    'up: the close rose from 1 to 2 over 2 bars'
    """
    if len(bars) < 2:
        return "unknown: there are not enough bars"
    close, first = float(bars.close[-1]), float(bars.close[0])
    if len(bars) < SLOW:
        direction = "up" if close > first else "down" if close < first else "sideways"
        verb = {"up": "rose", "down": "fell", "sideways": "went"}[direction]
        span = f"from {figure(first)} to {figure(close)} over {len(bars)} bars"
        return f"{direction}: the close {verb} {span}"
    fast, slow = (float(ta.ema(bars.close, n)[-1]) for n in (FAST, SLOW))
    direction = "up" if close > fast > slow else "down" if close < fast < slow else "sideways"
    return (
        f"{direction}: the close {figure(close)} is {_compare(close, fast)} its EMA {FAST} "
        f"({figure(fast)}), which is {_compare(fast, slow)} the EMA {SLOW} ({figure(slow)})"
    )


def _compare(a: float, b: float) -> str:
    return "above" if a > b else "below" if a < b else "at"


def text(bars: Bars, drawn: Iterable[Drawn], trend: str) -> str:
    """The whole chart as lines of text."""
    return "\n".join(_lines(bars, drawn, trend)) + "\n"


def _lines(bars: Bars, drawn: Iterable[Drawn], trend: str) -> Iterator[str]:
    what = one_line(" ".join(filter(None, (bars.symbol, bars.timeframe)))) or "(no symbol)"
    if bars.synthetic:
        what += " (synthetic sample data)"
    if len(bars) == 0:
        yield f"{what}: no bars"
    else:
        count = "1 bar" if len(bars) == 1 else f"{len(bars)} bars"
        yield f"{what}: {count}, {iso(bars.time[0])} to {iso(bars.time[-1])}{_origin(bars)}"
        values = {key: value for key, value in (last_bar(bars) or {}).items() if value is not None}
        values.pop("time", None)
        yield f"last bar: {', '.join(f'{key} {figure(value)}' for key, value in values.items())}"
        yield f"trend: {trend}"
    for indicator in drawn:
        yield ""
        yield from _indicator_lines(indicator, bars)


def _origin(bars: Bars) -> str:
    """Where bars of a source come from, and when it was asked for them."""
    if bars.fetched is None:
        return ""
    return f", from {one_line(bars.source)}, fetched {iso(bars.fetched)}"


def _indicator_lines(drawn: Drawn, bars: Bars) -> Iterator[str]:
    if drawn.error is not None:
        yield f"{one_line(drawn.id)}: error: {drawn.error}"
        return
    scene = drawn.scene or Scene()
    yield f"{one_line(drawn.id)}: {as_name(drawn.title or scene.label or drawn.name)}"
    values = [_format_last(title, values) for title, values in _series(scene)]
    if values:
        yield f"  values: {', '.join(values)}"
    levels = [f"{as_name(title)} {figure(y)}" for title, y in _levels(scene)]
    if levels:
        more = f" and {len(levels) - MOST_LEVELS} more" if len(levels) > MOST_LEVELS else ""
        yield f"  levels: {', '.join(levels[:MOST_LEVELS])}{more}"
    yield from _signal_lines(scene, bars)
    objects = [
        f"{len(records)} {channel if len(records) > 1 else drawn.noun}"
        for channel, drawn in OBJECTS.items()
        if (records := getattr(scene, channel))
    ]
    shapes = sum(len(plot.points) for plot in scene.plots if isinstance(plot, ShapePlot))
    objects += [f"{shapes} shape{'s' if shapes > 1 else ''}"] if shapes else []
    if objects:
        yield f"  drawn: {', '.join(objects)}"


def _signal_lines(scene: Scene, bars: Bars) -> Iterator[str]:
    """The latest signal of each name, and how many of it there are."""
    signals = cast(Signals, scene.signals)
    groups = _by_name(signals)
    for group in groups[:MOST_NAMES]:
        signal = signals[int(group[-1])]
        time = iso(bars.time[signal.bar]) if 0 <= signal.bar < len(bars) else "out of view"
        at = f"bar {signal.bar} ({time})"
        if signal.confirmed_bar != signal.bar:
            at += f", known on bar {signal.confirmed_bar}"
        value = "" if signal.value is None else f" at {figure(signal.value)}"
        total = f" ({len(group)} in all)" if len(group) > 1 else ""
        yield f"  signal: {as_name(signal.name)}{value} on {at}{total}"
    if len(groups) > MOST_NAMES:
        yield f"  signals of {len(groups) - MOST_NAMES} more names"


def _series(scene: Scene) -> Iterator[tuple[str, Floats]]:
    """The titled series of a scene, of equal titles the first; constant coloured bars left out.

    Of candles it is the close.
    """
    seen: set[str] = set()
    for plot in scene.plots:
        if not plot.title or plot.title in seen:
            continue
        if isinstance(plot, CandlesPlot):
            seen.add(plot.title)
            yield plot.title, plot.close
        if not isinstance(plot, LinePlot | BarsPlot):
            continue
        known = plot.values[~np.isnan(plot.values)]
        constant = bool((known == known[:1]).all())
        if isinstance(plot, LinePlot) or isinstance(plot.color, str) or not constant:
            seen.add(plot.title)
            yield plot.title, plot.values


def _levels(scene: Scene) -> Iterator[tuple[str, float]]:
    for plot in scene.plots:
        if plot.title and isinstance(plot, HLinePlot | DivLinePlot):
            yield plot.title, plot.y if isinstance(plot, HLinePlot) else plot.y2


def _last(values: Floats) -> float | None:
    return None if len(values) == 0 or np.isnan(values[-1]) else float(values[-1])


def _format_last(title: str, values: Floats) -> str:
    now, before = _last(values), _last(values[:-1])
    title = as_name(title)
    if now is None:
        return f"{title} none"
    turn = "" if before is None or before == now else " (rising)" if now > before else " (falling)"
    return f"{title} {figure(now)}{turn}"
