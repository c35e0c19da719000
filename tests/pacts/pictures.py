"""What the tests of pacts share: bars of several kinds, drawing, and reading what was drawn."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import chartpact as cp
from chartpact import contracts, pacts, script
from chartpact.bars import Bars
from chartpact.charts import Chart
from chartpact.needs import Events
from chartpact.scene import Drawn, Scene
from chartpact.sources.calendars import parse

Companion = Bars | Events  # the pair of a chart, or its calendar
MINUTE = 60_000
SUNDAY = 1_709_506_800_000  # 2024-03-03T23:00Z: 18:00 in New York, a week before its clocks change


@cache
def program(pact: str) -> script.Program:
    return script.load((pacts.folder(pact) / "indicator.star").read_text(encoding="utf-8"))


def run(pact: str, bars: Bars, companion: Companion | None = None, **params: Any) -> script.Result:
    extras = script.Extras()
    if isinstance(companion, Bars):
        extras = script.Extras(symbols={"pair": companion})
    elif companion is not None:
        extras = script.Extras(calendars={"calendar": companion})
    return script.execute(program(pact), bars, params, extras=extras)


def draw(pact: str, bars: Bars, companion: Companion | None = None, **params: Any) -> Scene:
    return run(pact, bars, companion, **params).scene


def snapshot(
    pact: str, bars: Bars, companion: Companion | None = None, **params: Any
) -> cp.Snapshot:
    made = program(pact)
    scene = draw(pact, bars, companion, **params)
    supplied = ("symbol", "calendar")
    values = {p.name: p.default for p in made.params if p.type not in supplied} | params
    drawn = Drawn(pact, pact, values, made.meta["title"], made.meta.get("short_title"), scene=scene)
    return Chart(bars, (drawn,)).snapshot()


def read(
    pact: str, bars: Bars, companion: Companion | None = None, config: Any = None, **params: Any
) -> contracts.Reading:
    return contracts.read(pact, snapshot(pact, bars, companion, **params), config=config)


def walk(
    count: int,
    seed: int = 1,
    tick: float = 0.25,
    minutes: int = 5,
    start: int = SUNDAY,
    halt: bool = True,
    **known: Any,
) -> Bars:
    """Futures on whole ticks with many ties, shut at 17:00 in New York and at weekends."""
    rng = np.random.default_rng(seed)
    time = open_times(count, minutes, start, halt)
    close = 4000 + np.cumsum(
        rng.integers(-6, 7, count) + rng.integers(-14, 15, count) * (rng.random(count) < 0.12)
    )
    open_ = np.concatenate((close[:1], close[:-1])) + rng.integers(-1, 2, count) * (
        rng.random(count) < 0.2
    )
    high = np.maximum(open_, close) + rng.integers(0, 4, count)
    low = np.minimum(open_, close) - rng.integers(0, 4, count)
    facts = {
        "symbol": "ES",
        "timeframe": f"{minutes}m" if minutes < 60 else f"{minutes // 60}h",
        "tick_size": tick,
    }
    return Bars(
        time, open_ * tick, high * tick, low * tick, close * tick, np.ones(count), **(facts | known)
    )


def open_times(count: int, minutes: int, start: int, halt: bool) -> np.ndarray:
    step = minutes * MINUTE
    times = start + step * np.arange(4 * count + 2_000)
    if halt:
        from chartpact.ta import dayofweek, hour

        hours, days = hour(times, "America/New_York"), dayofweek(times, "America/New_York")
        shut = (
            (hours == 17)
            | (days == 7)
            | ((days == 1) & (hours < 18))
            | ((days == 6) & (hours > 16))
        )
        times = times[~shut]
    return times[:count]


def mirrored(bars: Bars) -> Bars:
    """The bars upside down around a price on the tick grid."""
    around = 2 * float(bars.close[0])
    names = {"open": bars.open, "high": bars.low, "low": bars.high, "close": bars.close}
    return replace(bars, **{name: around - column for name, column in names.items()})


def prefixes(bars: Bars, every: int = 97, first: int = 1) -> list[Bars]:
    sizes = {*range(first, len(bars) + 1, every), len(bars)}
    return [bars[:size] for size in sorted(sizes)]


def partner(bars: Bars, seed: int = 1) -> Bars:
    """A related instrument: most of every move, and some of its own, on the same bars."""
    own = walk(len(bars), seed + 100)
    tick = bars.tick_size or 1.0
    steps = np.cumsum(np.diff(own.close, prepend=own.close[0])) / own.tick_size
    shift = np.rint(steps * 0.35) * tick
    names = ("open", "high", "low", "close")
    return replace(bars, symbol="NQ", **{name: getattr(bars, name) + shift for name in names})


def half_days(days: list[tuple[int, int, int, int]]) -> Bars:
    """Two bars a day: the first holds the day's open, high and low, the second its close."""
    rows = []
    for begin, high, low, end in days:
        rows += [(begin, high, low, begin), (begin, max(begin, end), min(begin, end), end)]
    times = SUNDAY + 43_200_000 * np.arange(len(rows))
    columns = np.array(rows, float).T
    return Bars(
        times,
        *columns,
        np.ones(len(rows)),
        "ES",
        "12h",
        tick_size=1.0,
        market="24x7",
        day_roll="18:00 America/New_York",
    )


def calendar(bars: Bars, seed: int = 1) -> Events:
    """Events of all impacts on these bars and after them, some on a bar's opening or close."""
    rng = np.random.default_rng(seed)
    step = int(bars.close_time[0] - bars.time[0])
    entries = []
    for number, bar in enumerate(rng.integers(0, len(bars), len(bars) // 4).tolist()):
        shift = int(rng.choice([0, step, step // 2, 60_000, 23 * 60_000]))
        entries.append({
            "title": f"Event {number} | revised", "time_utc": int(bars.time[bar]) + shift,
            "impact": str(rng.choice(["high", "high", "medium", "low", "holiday"])),
            "currency": str(rng.choice(["USD", "USD", "EUR"])),
            "tentative": bool(rng.random() < 0.1), "all_day": bool(rng.random() < 0.1),
        })  # fmt: skip
    return parse(json.dumps(entries))
