"""The Pine twin of each pact draws what our script draws, field by field, at every 31st bar.

PineTS judges, not TradingView: docs/pacts.md says what that shows and what it does not.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from tests.pacts import pine
from tests.pacts.pictures import draw, partner, walk

from chartpact.bars import Bars

pytestmark = pytest.mark.skipif(not pine.READY, reason=pine.ABSENT)

# pact → deliberate mistakes in its Pine text, each of which must be noticed
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
        ("bar_index >= baseLength - 1 + settle", "bar_index >= baseLength + settle"),
        ("float y = bearish ? high : low", "float y = bearish ? low : high"),
        ("labels.size() > 2 * keep", "labels.size() > 2 * keep + 2"),
    ],
    "smt": [
        ("own.get(middle - k) > value", "own.get(middle - k) >= value"),
        ("own.get(middle + k) >= value", "own.get(middle + k) > value"),
        ("d.pairFailed ? other", "not d.pairFailed ? other"),
        ("newest - d.known > life", "newest - d.known >= life"),
        ("end > math.max(d.price, d.lastPrice)", "end > math.min(d.price, d.lastPrice)"),
        ("if lastAt >= 0 and ours != theirs", "if lastAt >= 0 and ours and not theirs"),
        ("found.size() > keep", "found.size() > keep + 1"),
    ],
    "macro": [
        ("clock + span > w.begin", "clock + span >= w.begin"),
        ("bar_index > 0 or clock <= w.begin", "bar_index >= 0 or clock <= w.begin"),
        ("inTicks(high) > inTicks(m.top)", "inTicks(high) >= inTicks(m.top)"),
        ("m.last < bar_index and m.day == today", "m.last < bar_index"),
        ("int closing = (clock + span) % 1440", "int closing = clock"),
        ("hour(time, zone) * 60", 'hour(time, "Etc/GMT+5") * 60'),
        ("met.size() > keep", "met.size() > keep + 1"),
    ],
}
# pact → bars, minutes of a bar, inputs that differ from the defaults
SETTINGS: dict[str, tuple[int, int, dict[str, Any]]] = {
    "ob_ai": (600, 5, {}),
    "bias_ai": (420, 60, {}),
    "fvg_ob_mss": (400, 5, {}),
    "next_candle_bias": (300, 60, {}),
    "session_bias": (400, 15, {}),
    "session_hunt_ai": (700, 15, {}),
    "smt_divergences": (600, 5, {}),
    "ema_trend": (400, 5, {"fast": 3, "mid": 5, "slow": 8, "base": 20, "settle": 40, "keep": 6}),
    "smt": (600, 5, {"left": 3, "right": 4, "life": 8, "keep": 5}),
    "macro": (700, 15, {}),
}
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
def ours(pact: str, count: int) -> dict[str, list[Any]]:
    bars, pair = bars_of(pact)
    return pine.of_scene(draw(pact, bars[:count], pair, **SETTINGS[pact][2]))


def compare(judge: pine.Judge, pact: str, text: str) -> Iterator[list[str]]:
    """The differences at every 31st bar between our picture and that of a Pine text."""
    bars, pair = bars_of(pact)
    inputs = SETTINGS[pact][2] | ({"pair": pair.symbol} if pair is not None else {})
    for picture in judge.pictures(text, bars, pair, inputs):
        yield pine.differences(ours(pact, picture["bars"]), pine.of_pine(picture))


@pytest.mark.parametrize("pact", MUTANTS)
def test_the_pine_twin_draws_the_same(judge, pact):
    pictures = list(compare(judge, pact, pine.source(pact)))
    assert len(pictures) == -(-len(bars_of(pact)[0]) // pine.EVERY)
    assert [difference for picture in pictures for difference in picture] == []


@pytest.mark.parametrize(
    ("pact", "right", "mistake"),
    [(pact, *mutant) for pact, mutants in MUTANTS.items() for mutant in mutants],
)
def test_a_mistake_in_the_pine_text_is_noticed(judge, pact, right, mistake):
    text = pine.source(pact)
    assert text.count(right) == 1
    assert any(compare(judge, pact, text.replace(right, mistake)))


@pytest.mark.parametrize("pact", PAIRED)
def test_the_twin_of_two_instruments_joins_them_on_time(pact):
    # PineTS gives na where a pair lacks a bar, and TradingView the last value: only the text tells.
    assert "bool joined = pairTime == time" in pine.source(pact)
