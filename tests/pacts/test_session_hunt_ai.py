"""Session Hunt AI: what its contract reads is what the rules say, in all seasons."""

from collections import Counter

import pytest
from tests.cases import in_one_test
from tests.pacts.agreement import session_hunt_ai
from tests.pacts.pictures import SUNDAY, draw, prefixes, walk

from chartpact import script


@in_one_test("mode", ["NY", "London"])
def test_the_contract_reads_the_hunt_that_the_rules_give(mode):
    # the second week of these bars begins with a change of clocks
    seen = Counter(
        session_hunt_ai(bars, mode=mode)
        for seed in (1, 2)
        for bars in prefixes(walk(9 * 92, seed, minutes=15), 29, 4)
    )
    assert len(seen) >= 6, seen


def test_a_history_that_begins_after_the_hunted_session_is_refused_in_words():
    bars = walk(276, 1)
    with pytest.raises(script.ScriptError, match="load a longer history"):
        draw("session_hunt_ai", bars[120:200])


def test_four_hour_bars_are_refused_in_words():
    with pytest.raises(script.ScriptError, match="lower timeframe"):
        draw("session_hunt_ai", walk(60, 1, minutes=240, start=SUNDAY))
