"""Profiles of volume and time by price: volume_profile, session_vp, hvn_lvn, naked_poc, tpo."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chartpact import ta
from chartpact.bars import Bars
from chartpact.indicators import ink
from chartpact.indicators.builtin import Trace, builtin
from chartpact.indicators.drawing import Floats, faded, level, line, scene
from chartpact.indicators.sessions import DAY_ROLL, SESSIONS, with_day_roll
from chartpact.params import Param
from chartpact.scene import DivLinePlot, HBarPlot, HLinePlot, Plot, Scene

Indices = NDArray[np.intp]

WIDEST = 0.25  # of the pane's width
FILLED = 0.9  # of a row's height

RANGE = Param("range_bars", "int", None, 0, desc="Only the last bars; unset: those in view; 0: all")
OPACITY = Param("opacity", "float", 0.35, 0, 1, desc="How opaque the rows are")
SESSION = Param("session", "choice", "daily", options=tuple(SESSIONS), desc="What a session is")
CHUNK = Param("bars_per_session", "int", None, 0, desc="Sessions of this many bars instead")
WHOLE = "The whole range changes with every bar; so do all its rows."


def _rows(default: int, least: int = 1) -> Param:
    return Param("bins", "int", default, least, 500, desc="Rows of the profile")


def _side(default: str) -> Param:
    return Param("side", "choice", default, options=("left", "right"), desc="Where the rows begin")


def _take_last(bars: Bars, count: int | None) -> Bars:
    return bars.last(count) if count else bars


class Profile(NamedTuple):
    """Rows by price, the lowest first; `middle` is a row's price."""

    middle: Floats
    bottom: Floats
    top: Floats
    weight: Floats

    @property
    def peak(self) -> int:
        """The heaviest row, the lowest of equals."""
        return int(np.argmax(self.weight))

    def row(self, row: int, share: float, **rest: Any) -> HBarPlot:
        """A horizontal bar of that width."""
        height = FILLED * float(self.top[row] - self.bottom[row])
        y = float(self.middle[row])
        return HBarPlot(y=y, height=height, width=share, provisional=True, **rest)


def _profile_all(bars: Bars, rows: int, volume: bool = True) -> Profile:
    weight = bars.volume if volume else np.ones(len(bars))
    return Profile(*ta.profile(bars.high, bars.low, weight, rows, volume))


def _session_starts(
    bars: Bars, session: str, count: int | None, day_roll: str | None, owner: str
) -> Indices:
    if count:
        return np.arange(0, len(bars), count, dtype=np.intp)
    return with_day_roll(bars, day_roll, owner).periods(SESSIONS[session]).first


def _shade_rows(
    profile: Profile, side: str, control: str, inside: str, outside: str
) -> Iterator[Plot]:
    """A horizontal bar for each row, coloured by the value area."""
    within, peak = ta.value_area(profile.weight), profile.peak
    for row, share in _row_widths(profile):
        color = control if row == peak else inside if within[row] else outside
        yield profile.row(row, share, color=color, side=side)


def _row_widths(profile: Profile) -> Iterator[tuple[int, float]]:
    """The rows with any weight, and how wide they are drawn."""
    widest = profile.weight.max()
    for row in np.flatnonzero(profile.weight > 0).tolist():
        yield row, float(WIDEST * (profile.weight[row] / widest))


def _mark_levels(profile: Profile, edge: str) -> Iterator[HLinePlot]:
    within = np.flatnonzero(ta.value_area(profile.weight))
    yield _mark(profile.middle[profile.peak], ink.GOLD, "POC")
    yield _mark(profile.top[within[-1]], edge, "VAH", "dashed")
    yield _mark(profile.bottom[within[0]], edge, "VAL", "dashed")


def _mark(price: float, color: str, title: str, style: str = "solid") -> HLinePlot:
    return replace(level(float(price), color, style, title), provisional=True)


@builtin(
    "volume_profile",
    "Volume Profile",
    "overlay",
    "Volume by price over the range, its point of control and its value area.",
    aliases=("vp", "vpvr"),
    params=(
        _rows(24),
        _side("left"),
        RANGE,
        Param("split_up_down", "bool", False, desc="Rising and falling bars side by side"),
        Param("color_up", "color", ink.UP + "ff", desc="Colour of rising bars when split"),
        Param("color_down", "color", ink.DOWN + "ff", desc="Colour of falling bars when split"),
        OPACITY,
    ),
    needs_volume=True,
    stable=False,
    of_view=True,
    differences=(
        "Flat prices make one row at that price; the reference draws nothing.",
        "TradingView's rows come from bars of a lower timeframe, so its figures differ slightly.",
    ),
)
def volume_profile(
    bars: Bars,
    bins: int,
    side: str,
    range_bars: int | None,
    split_up_down: bool,
    color_up: str,
    color_down: str,
    opacity: float,
) -> Scene:
    bars = _take_last(bars, range_bars)
    profile = _profile_all(bars, bins)
    if not profile.weight.any():
        return scene("VPVR")
    plots: Iterator[Plot]
    if split_up_down:
        up, down = faded(color_up, opacity), faded(color_down, opacity)
        plots = _split_rows(bars, profile, side, up, down)
    else:
        control = faded(ink.GOLD, min(1, 2 * opacity))
        inside = faded(ink.COBALT, min(1, 1.14 * opacity))
        plots = _shade_rows(profile, side, control, inside, faded(ink.COBALT, 0.57 * opacity))
    return scene("VPVR", *plots, *_mark_levels(profile, ink.GRAY))


def _split_rows(bars: Bars, profile: Profile, side: str, up: str, down: str) -> Iterator[Plot]:
    rising = np.where(ta.ge(bars.close, bars.open), bars.volume, 0.0)
    bought = ta.profile(bars.high, bars.low, rising, len(profile.weight))[-1]
    for row, share in _row_widths(profile):
        first = share * min(1.0, float(bought[row] / profile.weight[row]))
        if first > 0:
            yield profile.row(row, first, color=up, side=side)
        if share > first:
            yield profile.row(row, share - first, offset=first, color=down, side=side)


@builtin(
    "session_vp",
    "Session Volume Profile",
    "overlay",
    "The point of control and the value area of each session.",
    aliases=("svp", "session_volume_profile"),
    params=(
        _rows(24),
        SESSION,
        CHUNK,
        Param("show_value_area", "bool", True, desc="Draw the edges of the value area too"),
        DAY_ROLL,
    ),
    tracks=tuple(
        Trace(title, gaps="in a session without volume", prefix_stable=False)
        for title in ("POC", "VAH", "VAL")
    ),
    needs_volume=True,
    differences=(
        "Sessions are trading days by the symbol's day roll, and weeks begin on Monday; the "
        "reference counts UTC days, and weeks from Thursday.",
        "One line for all sessions, where the reference draws a line a session.",
    ),
)
def session_vp(
    bars: Bars,
    bins: int,
    session: str,
    bars_per_session: int | None,
    show_value_area: bool,
    day_roll: str | None,
) -> Scene:
    first = _session_starts(bars, session, bars_per_session, day_roll, "session_vp")
    control, top, bottom = _session_levels(bars, first, bins)
    style: dict[str, Any] = {"style": "levels", "provisional": True}
    plots = [line("POC", control, ink.GOLD, 2, **style)]
    if show_value_area:
        plots.append(line("VAH", top, ink.GRAY, **style))
        plots.append(line("VAL", bottom, ink.GRAY, **style))
    return scene("SVP", *plots)


def _session_levels(bars: Bars, first: Indices, rows: int) -> tuple[Floats, Floats, Floats]:
    anchor = np.zeros(len(bars), dtype=np.bool_)
    anchor[first] = True
    return ta.profile_levels(bars, anchor, rows)


@builtin(
    "hvn_lvn",
    "High and Low Volume Nodes",
    "overlay",
    "Prices where volume stands out from its neighbourhood, upwards or downwards.",
    aliases=("vp_nodes", "volume_nodes"),
    params=(
        _rows(48, 3),
        RANGE,
        Param("neighborhood", "int", 2, 1, 500, desc="Rows on each side to stand out from"),
        Param("min_prominence", "float", 0.10, 0, 1, desc="By how much, of the heaviest row"),
        Param("top_n", "int", None, 1, desc="Only the most prominent ones of each kind"),
        Param("show_hvn", "bool", True, desc="Draw the high volume nodes"),
        Param("show_lvn", "bool", True, desc="Draw the low volume nodes"),
    ),
    needs_volume=True,
    stable=False,
    of_view=True,
)
def hvn_lvn(
    bars: Bars,
    bins: int,
    range_bars: int | None,
    neighborhood: int,
    min_prominence: float,
    top_n: int | None,
    show_hvn: bool,
    show_lvn: bool,
) -> Scene:
    profile = _profile_all(_take_last(bars, range_bars), bins)
    weight = profile.weight.tolist()
    least = min_prominence * max(weight)
    high: list[tuple[float, int]] = []
    low: list[tuple[float, int]] = []
    for row, own in enumerate(weight):
        near = weight[max(0, row - neighborhood) : row] + weight[row + 1 : row + 1 + neighborhood]
        top, bottom = max(near), min(near)
        if own > top and own - top >= least:
            high.append((own - top, row))
        if own < bottom and top - own >= least:
            low.append((top - own, row))
    plots: list[Plot] = []
    for nodes, shown, color, title in (
        (high, show_hvn, ink.UP, "HVN"),
        (low, show_lvn, ink.DOWN, "LVN"),
    ):
        nodes.sort(key=lambda node: -node[0])
        for _, row in nodes[:top_n] if shown else ():
            plots.append(_mark(profile.middle[row], color, title))
    return scene("HVN/LVN", *plots)


@builtin(
    "naked_poc",
    "Naked Points of Control",
    "overlay",
    "Points of control of past sessions that no later bar has touched.",
    aliases=("npoc",),
    params=(
        _rows(24),
        SESSION,
        CHUNK,
        Param("max_sessions", "int", 20, 0, desc="Look back this many sessions; 0 or unset: all"),
        Param("include_current", "bool", True, desc="Draw the current session's as well"),
        DAY_ROLL,
    ),
    needs_volume=True,
    stable=False,
    differences=(
        "Sessions are trading days by the symbol's day roll; the reference counts UTC days.",
        "Each level is one straight line, where the reference fills a series.",
    ),
)
def naked_poc(
    bars: Bars,
    bins: int,
    session: str,
    bars_per_session: int | None,
    max_sessions: int | None,
    include_current: bool,
    day_roll: str | None,
) -> Scene:
    first = _session_starts(bars, session, bars_per_session, day_roll, "naked_poc")
    if max_sessions:
        first = first[-max_sessions:]
    if len(first) == 0:
        return scene("nPOC")
    begun = bars[int(first[0]) :]
    control = _session_levels(begun, first - first[0], bins)[0][first - first[0]]
    stop = np.append(first[1:], len(bars))
    end = len(bars) - 1
    touched = _last_touch(bars, control)
    plots: list[Plot] = []
    for k, price in enumerate(control.tolist()):
        current = k == len(first) - 1
        if np.isnan(price) or (current and not include_current):
            continue
        if not current and touched[k] >= stop[k]:
            continue
        title, color = ("dPOC", ink.GOLD) if current else ("nPOC", ink.ORANGE)
        begin = int(first[k] if current else stop[k])
        ends = {"x1": begin, "y1": price, "x2": end, "y2": price}
        plots.append(DivLinePlot(title=title, color=color, provisional=True, **ends))
    return scene("nPOC", *plots)


def _last_touch(bars: Bars, prices: Floats) -> Indices:
    """For each price, the last bar that touches it; -1 if there is none.

    A bar covers a run of the ranked prices, and every run is the union of two blocks whose size is
    a power of two (a sparse table). Each bar is noted on its blocks, then each block passes its
    latest bar on to its halves.
    """
    order = np.argsort(prices)
    ranked = prices[order]
    low = np.searchsorted(ranked, bars.low, side="left")
    high = np.searchsorted(ranked, bars.high, side="right")
    touching = np.flatnonzero(high > low)
    low, high = low[touching], high[touching]
    size = np.frexp(high - low)[1] - 1  # of the largest block within the run, as a power of two
    last = np.full((int(size.max(initial=0)) + 1, len(prices)), -1, dtype=np.intp)
    np.maximum.at(last, (size, low), touching)
    np.maximum.at(last, (size, high - (1 << size)), touching)
    for k in range(len(last) - 1, 0, -1):
        half = 1 << (k - 1)
        np.maximum(last[k - 1], last[k], out=last[k - 1])
        np.maximum(last[k - 1, half:], last[k, :-half], out=last[k - 1, half:])
    touched = np.empty(len(prices), dtype=np.intp)
    touched[order] = last[0]
    return touched


@builtin(
    "tpo",
    "Time Price Opportunity",
    "overlay",
    "How many bars traded at each price, the point of control and the value area.",
    aliases=("market_profile",),
    params=(_rows(32), _side("right"), RANGE, OPACITY),
    stable=False,
    of_view=True,
    differences=(
        "The reference spreads one unit a bar over its range; on TradingView, and here, a bar "
        "counts once at every price it touched.",
    ),
)
def tpo(bars: Bars, bins: int, side: str, range_bars: int | None, opacity: float) -> Scene:
    profile = _profile_all(_take_last(bars, range_bars), bins, volume=False)
    if not profile.weight.any():
        return scene("TPO")
    control = faded(ink.GOLD, min(1, 2 * opacity))
    inside = faded(ink.VIOLET, min(1, 1.2 * opacity))
    rows = _shade_rows(profile, side, control, inside, faded(ink.VIOLET, 0.55 * opacity))
    return scene("TPO", *rows, *_mark_levels(profile, ink.VIOLET))
