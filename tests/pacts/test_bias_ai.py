"""Bias AI: what its contract reads is what the rules say, day by day and week by week."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pacts.agreement import bias_ai
from tests.pacts.pictures import draw, half_days, prefixes, read, walk

from chartpact import script


def test_every_bias_hit_and_week_is_met():
    seen = Counter(bias_ai(part) for part in prefixes(walk(92 * 25, 1, minutes=15), 47, 2))
    assert len(seen) > 8, seen


def test_a_day_or_week_whose_beginning_is_not_loaded_counts_for_nothing():
    bars = walk(92 * 18, 3, minutes=15)
    for first in (1, 40, 91, 92, 300, 460, 461):
        bias_ai(bars[first:])


candles = st.tuples(*[st.integers(10, 14)] * 4).map(lambda p: (p[0], max(p), min(p), p[3]))


@given(st.tuples(candles, candles, candles))
def test_exactly_one_rule_holds_for_any_two_candles_equalities_included(days):
    bars = half_days([*days])
    reading = read("bias_ai", bars, weekly=False)
    (bo, bh, bl, bc), (_, h, low, c), _ = days
    rules = {
        "above": (c > bh, "bullish"),
        "below": (c < bl, "bearish"),
        "outside": (bl <= c <= bh and h > bh and low < bl, "neutral"),
        "swept high": (bl <= c <= bh and h > bh and low >= bl, "bearish"),
        "swept low": (bl <= c <= bh and h <= bh and low < bl, "bullish"),
        "inside": (
            h <= bh and low >= bl,
            "bullish" if bc > bo else "bearish" if bc < bo else "neutral",
        ),
    }
    (answer,) = [bias for holds, bias in rules.values() if holds]
    if h > low:  # a flat day has one level, which the contract's examples cover
        assert reading.ok, reading.violations
        assert reading.state["daily"] == answer


def test_a_daily_chart_is_refused_in_words():
    with pytest.raises(script.ScriptError, match="needs an intraday chart"):
        draw("bias_ai", walk(1_200, 1).resample("1D"))
