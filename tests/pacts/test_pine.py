"""The Pine twin of each pact draws what our script draws, field by field, at every 31st bar.

PineTS judges, not TradingView: docs/pacts.md says what that shows and what it does not.
"""

import pytest
from tests.pacts import pine
from tests.pacts.pictures import draw, partner, walk

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
        ("math.min(2 * right, newest)", "math.min(right, newest)"),
        ("price > lastPrice and", "price < lastPrice and"),
        ("for side = 0 to 1", "for side = 1 to 1"),
    ],
}
PAIRED = ("smt_divergences",)
BARS = {
    "fvg_ob_mss": (400, 5),
    "bias_ai": (420, 60),
    "next_candle_bias": (300, 60),
    "session_bias": (400, 15),
    "session_hunt_ai": (700, 15),
}


@pytest.mark.parametrize("pact", MUTANTS)
def test_the_pine_twin_draws_the_same_and_a_wrong_one_is_noticed(pact):
    count, minutes = BARS.get(pact, (600, 5))
    # the first bar lies within a session, and the clocks change on the second Sunday
    bars = walk(count + 10, 3, minutes=minutes)[10:]
    pair = partner(bars, 3) if pact in PAIRED else None
    text = pine.source(pact)
    wrong = []
    for right, mistake in MUTANTS[pact]:
        assert text.count(right) == 1, right
        wrong.append(text.replace(right, mistake))
    inputs = {"pair": pair.symbol} if pair is not None else {}
    twin, *mutants = pine.run([text, *wrong], bars, pair, inputs)
    assert isinstance(twin, list), twin
    ours = {
        picture["bars"]: pine.of_scene(draw(pact, bars[: picture["bars"]], pair))
        for picture in twin
    }
    assert len(ours) == -(-len(bars) // pine.EVERY)
    for picture in twin:
        assert pine.differences(ours[picture["bars"]], pine.of_pine(picture)) == []
    for (right, mistake), pictures in zip(MUTANTS[pact], mutants, strict=True):
        noticed = isinstance(pictures, dict) or any(
            pine.differences(ours[picture["bars"]], pine.of_pine(picture)) for picture in pictures
        )
        assert noticed, f"{mistake} for {right}"


def test_the_twin_of_two_instruments_joins_them_on_time():
    # PineTS gives na where a pair lacks a bar, and TradingView the last value: only the text tells.
    assert "bool joined = pairTime == time" in pine.source("smt_divergences")
