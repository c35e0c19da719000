"""Session Bias: sessions, sweeps and their outcomes read back as a forward pass finds them."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.pacts.agreement import session_bias
from tests.pacts.pictures import SUNDAY, draw, prefixes, walk

from chartpact import script
from chartpact.bars import Bars


@in_one_test(("minutes", "every"), [(15, 53), (60, 7)])
def test_the_contract_reads_the_bias_that_the_rules_give(minutes, every):
    # the second week of these bars begins with a change of clocks
    seen = Counter(
        session_bias(bars)
        for seed in (1, 2)
        for bars in prefixes(walk(8 * 23 * 60 // minutes, seed, minutes=minutes), every, 3)
    )
    assert len(seen) >= 8, seen


steps = st.tuples(*[st.integers(10, 13)] * 4).map(lambda p: (p[0], max(p), min(p), p[3]))


@settings(max_examples=25)
@given(st.lists(steps, min_size=9, max_size=9), st.integers(1, 3))
def test_exactly_one_phase_holds_for_any_bars_equalities_included(rows, closes):
    # an Asian range of four hourly bars, then five more on whole ticks that tie often
    times = [SUNDAY + 7_200_000 + 3_600_000 * i for i in range(len(rows))]
    columns = zip(*rows, strict=True)
    bars = Bars(times, *columns, [1.0] * len(rows), "ES", "1h", tick_size=1.0)
    for size in range(1, len(rows) + 1):
        session_bias(bars[:size], closes=closes)


def test_four_hour_bars_are_refused_in_words():
    with pytest.raises(script.ScriptError, match="lower timeframe"):
        draw("session_bias", walk(60, 1, minutes=240))
