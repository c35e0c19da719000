"""SMT Divergences: what its contract reads is what the rules say of the bars that both have."""

import numpy as np
import pytest
from tests.pacts import detectors
from tests.pacts.pictures import draw, partner, prefixes, read, walk

from chartpact import script


def compare(bars, pair):
    reading = read("smt_divergences", bars, pair)
    assert reading.ok, (len(bars), reading.violations)
    wanted = detectors.smt_divergences(bars, pair)
    told = reading.state["divergences"]
    assert sorted((d["direction"], d["start_time"], d["end_time"]) for d in told) == sorted(wanted)
    assert {d["ticker"] for d in told} <= {"NQ"}
    places = {time: i for i, time in enumerate(bars.time.tolist())}
    for one in told:
        assert one["active"] == (len(bars) - 1 - places[one["end_time"]] <= 20)
    return len(wanted)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_contract_reads_the_divergences_that_the_rules_give(seed):
    bars = walk(700, seed)
    pair = partner(bars, seed)
    counts = [compare(part, pair) for part in prefixes(bars, 43, 5)]
    assert counts[-1] > 3


def test_bars_that_the_pair_does_not_have_take_no_part():
    bars = walk(500, 4)
    pair = partner(bars, 4)
    holes = np.random.default_rng(1).random(len(bars)) < 0.2
    full, some = (
        detectors.smt_divergences(bars, other)
        for other in (pair, pair.take(np.flatnonzero(~holes)))
    )
    assert full != some
    compare(bars, pair.take(np.flatnonzero(~holes)))


def test_an_inverse_pair_is_looked_at_upside_down():
    from tests.pacts.pictures import mirrored

    bars = walk(500, 5)
    pair = partner(bars, 5)
    plain = draw("smt_divergences", bars, pair)
    inverse = draw("smt_divergences", bars, mirrored(pair), inverse=True)
    assert [line.to_json() for line in plain.lines] == [line.to_json() for line in inverse.lines]


def test_without_a_pair_the_script_says_what_is_missing():
    with pytest.raises(script.ScriptError, match="parameter pair"):
        draw("smt_divergences", walk(50, 1))
