"""Next Candle Bias: six rows, one of which holds, read back as the rules give them."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pacts import detectors
from tests.pacts.pictures import draw, half_days, prefixes, read, walk

from chartpact import script


def compare(bars):
    reading, wanted = read("next_candle_bias", bars), detectors.next_candle_bias(bars)
    assert reading.ok, (len(bars), reading.violations)
    state = reading.state
    if wanted is None:
        assert state["row"] == "WARMUP"
        return "WARMUP"
    assert (state["row"], state["start"]) == (wanted["row"], wanted["start"])
    targets = [state["first_target"], state["second_target"]]
    assert [round(t / bars.tick_size) for t in targets if t is not None] == wanted["targets"]
    return wanted["row"]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_contract_reads_the_row_that_the_rules_give(seed):
    seen = Counter(compare(part) for part in prefixes(walk(92 * 24, seed, minutes=15), 29, 2))
    assert len(seen) >= 5, seen


def test_a_shorter_history_gives_the_same_row_or_says_that_it_warms_up():
    bars = walk(92 * 6, 3, minutes=15)
    whole = compare(bars)
    told = {compare(bars[first:]) for first in range(0, 92 * 6 - 1, 20)}
    assert told == {whole, "WARMUP"}


candles = st.tuples(*[st.integers(10, 14)] * 4).map(lambda p: (p[0], max(p), min(p), p[3]))


@given(st.tuples(candles, candles, candles))
def test_exactly_one_row_holds_for_any_two_candles_equalities_included(days):
    assert compare(half_days([*days])) != "WARMUP"


def test_a_candle_that_is_not_above_the_charts_is_refused_in_words():
    with pytest.raises(script.ScriptError, match="above the chart's"):
        draw("next_candle_bias", walk(60, 1), candle="5m")
