"""The Pine twin of each pact draws what our script draws, field by field, at every 31st bar.

PineTS judges, not TradingView: docs/pacts.md says what that shows and what it does not.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.effort import EXHAUSTIVE
from tests.pacts import pine
from tests.pacts.pictures import MINUTE, draw, partner, walk

import chartpact as cp
from chartpact import pacts
from chartpact.bars import Bars
from chartpact.needs import Events
from chartpact.sources import calendars

pytestmark = pytest.mark.skipif(not pine.READY, reason=pine.ABSENT)

# pact → deliberate mistakes in its Pine text, each of which must be noticed; every fourth one is
# tried, and all of them with `make exhaustive`
MUTANTS = {
    "ob_ai": [
        ("h[fractal - k] >= h[fractal]", "h[fractal - k] > h[fractal]"),
        ("c > topLevel", "c >= topLevel"),
        ("reach <= b.side * b.far", "reach < b.side * b.far"),
        ("reach <= b.side * b.near", "reach < b.side * b.near"),
        (
            "math.min(opposing + fvg_bars, bar_index - 1)",
            "math.min(opposing + fvg_bars, bar_index - 2)",
        ),
        ("h < l[2] and c[1] < o[1]", "h < l[2] and c[1] > o[1]"),
        ("? h[back] : l[back]) : o[back]", "? h[back] : l[back]) : c[back]"),
    ],
    "bias_ai": [
        ("int bias = c2.last > c2.open ? 1", "int bias = c2.last < c2.open ? 1"),
        ("bar_index > 0 or opening", "bar_index >= 0 or opening"),
        ("inTicks(high) >= inTicks(now.high)", "inTicks(high) >= inTicks(now.high) + 9"),
        ("(24 - roll) * 3600000", "(23 - roll) * 3600000"),
        ("newWeek and weekCount == 3", "newWeek and weekCount == 2"),
        ("today.bias < 0, today.hitLow", "today.bias < 0, today.hitHigh"),
    ],
    "fvg_ob_mss": [
        ("if end < far", "if end <= far"),
        ("if 2 * reach <= near + far", "if 2 * reach < near + far"),
        ("if newer >= keep", "if newer > keep"),
        ("c - o >= displacement * atr", "c - o >= 2 * displacement * atr"),
        ("int lastGap = side > 0 ? lastBullGap : lastBearGap", "int lastGap = -1"),
        ("bar_index - sweptBar <= sweep_bars", "bar_index - sweptBar <= sweep_bars + 30"),
        ("if first.bar >= ready", "if first.bar >= ready - 90"),
        ("math.max(bothBar + settle, bar_index + 1)", "bar_index + 1"),
    ],
    "next_candle_bias": [
        ("bar_index > 0 or opening", "bar_index >= 0 or opening"),
        ("(24 - roll) * 3600000", "(23 - roll) * 3600000"),
        (
            "firstTarget := sideOf(row) > 0 ? c1.top : c1.bottom",
            "firstTarget := sideOf(row) > 0 ? c1.top : c2.bottom",
        ),
        ("events := math.min(events + 1, keep)", "events := math.min(events + 2, keep)"),
        ('above ? "reject_up"', 'above ? "reject_down"'),
    ],
    "session_bias": [
        ("side * inTicks(extreme) > side", "side * inTicks(extreme) >= side"),
        ("side * inTicks(close) <= side", "side * inTicks(close) < side"),
        ("outside == closes", "outside == closes + 1"),
        (
            "s.known >= 0 and s.day == day\n                watch",
            "s.known >= 0\n                watch",
        ),
        ("goesOn := inside and", "goesOn := not inside and"),
        ("bool cut = bar_index == 0 and", "bool cut = bar_index == 1 and"),
        ('"high_rejected" ? now.bottom : now.top', '"high_rejected" ? now.top : now.bottom'),
    ],
    "session_hunt_ai": [
        ("inTicks(high) > inTicks(hunt.top)", "inTicks(high) >= inTicks(hunt.top)"),
        ("hunt.quiet == reext_bars", "hunt.quiet == reext_bars + 1"),
        ("hunterEvent == -1 and hunt.started", "hunterEvent == -2 and hunt.started"),
        ('string TZ = "America/New_York"', 'string TZ = "Etc/GMT+5"'),
        ("bar_index > 0 or here ==", "bar_index >= 0 or here =="),
        ("hunt.quiet := grew ? 0", "hunt.quiet := grew ? 1"),
    ],
    "smt_divergences": [
        ("own.get(middle + k) >= value", "own.get(middle + k) > value"),
        ("and other <= lastOther", "and other >= lastOther"),
        ("for k = 0 to 2 * right", "for k = 0 to right"),
        ("price > lastPrice and", "price < lastPrice and"),
        ("for side = 0 to 1", "for side = 1 to 1"),
    ],
    "ema_trend": [
        ("else if up and close <= slow", "else if up and close >= slow"),
        ("run >= closes or apart", "run > closes or apart"),
        (">= separation * atr", ">= 2 * separation * atr"),
        ("bar_index >= baseLength - 1 + settle", "bar_index >= baseLength + 40 + settle"),
        ("float y = bearish ? high : low", "float y = bearish ? low : high"),
        ("labels.size() > 2 * keep", "labels.size() > 2 * keep + 2"),
        (" and confirmed != UNKNOWN", ""),
    ],
    "smt": [
        ("own.get(middle - k) > value", "own.get(middle - k) >= value"),
        ("own.get(middle + k) >= value", "own.get(middle + k) > value"),
        ("d.pairFailed ? other", "not d.pairFailed ? other"),
        ("newest - d.known > life", "newest - d.known >= life"),
        ("end > math.max(d.price, d.lastPrice)", "end > math.min(d.price, d.lastPrice)"),
        ("if lastAt >= 0 and ours != theirs", "if lastAt >= 0 and ours and not theirs"),
        ("found.size() > keep", "found.size() > keep + 1"),
        ("int oldest = newest - life", "int oldest = newest - life - 20"),
    ],
    "economic_calendar": [
        ("e.at >= opened and e.at < closed", "e.at > opened and e.at < closed"),
        ("e.at - before <= closed", "e.at - before < closed"),
        ("opened < e.at + after", "opened <= e.at + after"),
        ("e.at >= time ? bar_index :", "e.at >= 0 ? bar_index :"),
        ("if other.at <= at", "if other.at < at"),
        ('mine and e.impact != "low"', "mine"),
        ("time < e.at + DAY", "time < e.at + 2 * DAY"),
        ("coverage < now", "coverage < 0"),
        ("labels.size() > 2 * marks", "labels.size() > 2 * marks + 2"),
    ],
    "macro": [
        ("clock + span > w.begin", "clock + span >= w.begin"),
        ("bar_index > 0 or clock <= w.begin", "bar_index >= 0 or clock <= w.begin"),
        ("inTicks(high) > inTicks(m.top)", "inTicks(high) >= inTicks(m.top)"),
        ("m.last < bar_index and m.day == today", "m.last < bar_index"),
        ("int closing = (clock + span) % 1440", "int closing = clock"),
        ("hour(time, zone) * 60", 'hour(time, "Etc/GMT+5") * 60'),
        ("met.size() > keep", "met.size() > keep + 1"),
        ("% 1440 < sinceRoll", "% 1440 < sinceRoll + 700"),
    ],
}
# pact → bars, minutes of a bar, inputs that differ from the defaults
SETTINGS: dict[str, tuple[int, int, dict[str, Any]]] = {
    "ob_ai": (600, 5, {}),
    "bias_ai": (420, 60, {}),
    "fvg_ob_mss": (400, 5, {"settle": 150, "max_age": 150}),
    "next_candle_bias": (300, 60, {}),
    "session_bias": (400, 15, {}),
    "session_hunt_ai": (700, 15, {}),
    "smt_divergences": (600, 5, {}),
    "ema_trend": (400, 5, {"fast": 3, "mid": 5, "slow": 8, "base": 20, "settle": 40, "keep": 6}),
    "smt": (600, 5, {"left": 3, "right": 4, "life": 8, "keep": 5}),
    "economic_calendar": (
        400,
        15,
        {"high_before": 45, "high_after": 30, "medium_after": 45, "keep": 2, "marks": 6},
    ),
    "macro": (700, 15, {}),
}
# Runs with other inputs: pact → bars and inputs
OTHERWISE: list[tuple[str, int, dict[str, Any]]] = [
    ("ob_ai", 300, {"zone": "Wick", "base_style": "dashed", "midline": False, "delLines": False}),
    ("ob_ai", 300, {"fractal": 4, "fvg_bars": 6, "line_length": 5, "bull_fvg_color": "#abcdef80"}),
    (
        "bias_ai",
        200,
        {"weekly": False, "bias_reason": False, "position": "top_left", "keep_days": 2},
    ),
    ("fvg_ob_mss", 300, {"swing": 2, "min_ticks": 3, "keep": 1, "keep_events": 2, "max_age": 40}),
    ("next_candle_bias", 200, {"candle": "4h", "keep": 3}),
    ("next_candle_bias", 420, {"candle": "1W"}),
    ("session_bias", 300, {"closes": 1, "keep": 4, "ny_am": "0830-1200"}),
    ("session_hunt_ai", 400, {"mode": "London", "asia": "2030-0000", "reext_bars": 1}),
    (
        "smt_divergences",
        300,
        {"left": 2, "right": 4, "inverse": True, "keep": 2, "bullStyle": "Dotted"},
    ),
    ("smt", 300, {"left": 2, "right": 3, "inverse": True}),
    ("ema_trend", 120, {"fast": 2, "mid": 4, "slow": 6, "base": 9, "settle": 0, "closes": 4}),
    ("economic_calendar", 200, {"currencies": "EUR, USD", "marks": 0, "high_before": 0}),
    ("macro", 200, {"windows": "0930-1000, 0932-0940,0931-1000,1600-1630", "keep": 2, "ahead": 90}),
]
TITLES = ("CPI y/y", 'The "core" rate', "Payrolls|revised", "C:\\path", "Zinsentscheid für März")
DOCS = Path(__file__).parents[2] / "docs"
ES = "ESZ13_1m_2013-10-06_2013-10-14.csv.gz"
SPY = "SPY_1m_2013-10-04_2013-10-11.csv.gz"
EURUSD = "EURUSD_15m_mt5_2022-10_2023-10.csv.gz"
FIGURES = ("forecast", "previous")
PAIRED = ("smt", "smt_divergences")


@pytest.fixture(scope="module")
def judge() -> Iterator[pine.Judge]:
    with pine.start() as judge:
        yield judge


@cache
def bars_of(pact: str) -> tuple[Bars, Bars | None]:
    count, minutes, _ = SETTINGS[pact]
    # The first bar lies within a session or a window, and the clocks change on the second Sunday.
    cut = 35 if pact == "macro" else 10
    bars = walk(count + cut, 3, minutes=minutes)[cut:]
    return bars, partner(bars, 3) if pact in PAIRED else None


@cache
def events_of(pact: str) -> Events:
    """Events of every kind: when bars open, within them, in pairs, and while the market is shut."""
    if pact != "economic_calendar":
        return ()
    bars = bars_of(pact)[0]
    rng = np.random.default_rng(7)
    opened = bars.time[pine.EVERY - 1 :: pine.EVERY].tolist()  # the bars that are looked at
    minutes = [0, 3, -15, -30, 15, 45, 60, 1440, 2880]
    times = [t + MINUTE * int(rng.choice(minutes)) for t in opened for _ in range(3)]
    times = [t for t in times if t < opened[-2]]  # the calendar ends before the bars do
    shut = bars.time[:-1][np.diff(bars.time) > 16 * MINUTE].tolist()
    events = [
        {
            "title": TITLES[k % len(TITLES)] + f" {k}",
            "time_utc": t,
            "currency": ("USD", "USD", "EUR", "USD")[k % 4],
            "impact": ("high", "medium", "low", "high", "high", "holiday", "medium")[k % 7],
            "all_day": k % 11 == 5,
            "tentative": k % 13 == 7,
            "forecast": None if k % 3 else f"{k}K",
            "previous": None if k % 5 else "-0.1%",
        }
        for k, t in enumerate([*times, *(t + 30 * MINUTE for t in shut)])
    ]
    return calendars.parse(json.dumps(events))


def rows_of(events: Events) -> str:
    """A calendar as the twin's text input takes it."""
    lines = []
    for event in events:
        moment = datetime.fromtimestamp(event["time_utc"] / 1000, UTC)
        time = f"{moment:%Y-%m-%dT%H:%MZ}" if len(lines) % 2 else str(event["time_utc"])
        flag = "all_day" if event["all_day"] else "tentative" if event["tentative"] else ""
        fields = (time, event["currency"], event["impact"], flag)
        lines.append("|".join((*fields, *(event[name] or "" for name in FIGURES), event["title"])))
    return "\n".join(lines)


def ours(pact: str, count: int, params: dict[str, Any]) -> dict[str, list[Any]]:
    bars, pair = bars_of(pact)
    return pine.of_scene(draw(pact, bars[:count], pair or events_of(pact) or None, **params))


@cache
def usual(pact: str, count: int) -> dict[str, list[Any]]:
    """What our script draws with the pact's settings; the twin and its mutants share it."""
    return ours(pact, count, SETTINGS[pact][2])


def theirs(
    judge: pine.Judge, pact: str, text: str, params: dict[str, Any], count: int | None = None
) -> Iterator[tuple[int, dict[str, list[Any]]]]:
    """What a Pine text draws at every 31st bar, with the number of bars."""
    bars, pair = bars_of(pact)
    inputs = params | {"calendar": rows_of(events_of(pact))}
    if pair is not None:
        inputs["pair"] = pair.symbol
    for picture in judge.pictures(text, bars[:count], pair, inputs):
        yield picture["bars"], pine.of_pine(picture)


def compare(judge: pine.Judge, pact: str, text: str) -> Iterator[list[str]]:
    for count, picture in theirs(judge, pact, text, SETTINGS[pact][2]):
        yield pine.differences(usual(pact, count), picture)


def test_every_pact_has_a_twin_and_at_least_five_wrong_ones():
    assert set(MUTANTS) == set(SETTINGS) == set(pacts.drawable())
    assert min(map(len, MUTANTS.values())) >= 5


@pytest.mark.parametrize("pact", MUTANTS)
def test_the_pine_twin_draws_the_same(judge, pact):
    pictures = list(compare(judge, pact, pine.source(pact)))
    assert len(pictures) == -(-len(bars_of(pact)[0]) // pine.EVERY)
    assert [difference for picture in pictures for difference in picture] == []


@pytest.mark.parametrize(("pact", "count", "params"), OTHERWISE)
def test_other_inputs_change_the_twin_as_they_change_the_script(judge, pact, count, params):
    changed = False
    for size, picture in theirs(judge, pact, pine.source(pact), params, count):
        assert pine.differences(ours(pact, size, params), picture) == []
        changed = changed or usual(pact, size) != picture
    assert changed


@pytest.mark.parametrize(
    ("pact", "right", "mistake"),
    [
        (pact, *mutant)
        for pact, mutants in MUTANTS.items()
        for mutant in mutants[:: 1 if EXHAUSTIVE else 4]
    ],
)
def test_a_mistake_in_the_pine_text_is_noticed(judge, pact, right, mistake):
    text = pine.source(pact)
    assert text.count(right) == 1
    assert any(compare(judge, pact, text.replace(right, mistake)))


@pytest.mark.needs_shared
@pytest.mark.parametrize("pact", [pact for pact in MUTANTS if pact != "economic_calendar"])
def test_the_twin_draws_the_same_on_real_bars_through_a_change_of_clocks(judge, shared, pact):
    pair, params = None, SETTINGS[pact][2]
    inputs: dict[str, Any] = {"day_roll": 17, "pair": "SPY"}
    if pact in PAIRED:
        pair = cp.load(shared / "data" / SPY).resample("5m")
        bars = cp.load(shared / "data" / ES).resample("5m")
        bars = bars.take(np.flatnonzero(np.isin(bars.time, pair.time))[:400])
        inputs["day_roll"] = 18
    else:
        bars = cp.load(shared / "data" / EURUSD, tz="Europe/Athens")
        begin = int(np.searchsorted(bars.time, 1_678_323_600_000))  # 2023-03-09T01:00Z
        bars = bars[begin : begin + 400]
    for picture in judge.pictures(pine.source(pact), bars, pair, params | inputs):
        drawn = draw(pact, bars[: picture["bars"]], pair, **params)
        assert pine.differences(pine.of_scene(drawn), pine.of_pine(picture)) == []


LIMITS = pine.limits()


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.what)
def test_pinets_still_answers_what_tradingview_does_not(judge, limit):
    bars = walk(62, 1, minutes=60)
    pair = partner(bars, 1).take(np.delete(np.arange(len(bars)), 20))
    *_, picture = judge.pictures(limit.source, bars, pair)
    assert picture["labels"][-1]["text"] == limit.pinets
    assert limit.pinets != limit.tradingview


def test_the_page_of_the_twins_lists_what_pinets_does_otherwise():
    page = (DOCS / "pine-twins.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")][-len(LIMITS) :]
    told = [tuple(cell.strip() for cell in row.strip("|").split(" | ")) for row in rows]
    assert [(what, a.strip("`"), b.strip("`")) for what, a, b in told] == [
        (limit.what, limit.pinets, limit.tradingview) for limit in LIMITS
    ]
    version = json.loads((pine.FOLDER / "package.json").read_text("utf-8"))["dependencies"][
        "pinets"
    ]
    assert f"PineTS {version} " in page
