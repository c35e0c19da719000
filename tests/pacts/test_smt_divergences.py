"""SMT Divergences: what its contract reads is what the rules say of the bars that both have."""

import numpy as np
import pytest
from tests.pacts import detectors
from tests.pacts.agreement import smt_divergences
from tests.pacts.pictures import draw, partner, walk

from chartpact import script


def test_a_shorter_history_shows_no_other_divergence():
    bars = walk(600, 1)
    pair = partner(bars, 1)
    whole = detectors.smt_divergences(bars, pair)
    for first in range(20, 560, 60):
        part = bars[first:]
        smt_divergences(part, pair)
        told = detectors.smt_divergences(part, pair)
        assert set(told) <= set(whole)
        assert {d for d in whole if d[1] >= part.time[10]} <= set(told)


def test_bars_that_the_pair_does_not_have_take_no_part():
    bars = walk(500, 4)
    pair = partner(bars, 4)
    holes = np.random.default_rng(1).random(len(bars)) < 0.2
    full, some = (
        detectors.smt_divergences(bars, other)
        for other in (pair, pair.take(np.flatnonzero(~holes)))
    )
    assert full != some
    smt_divergences(bars, pair.take(np.flatnonzero(~holes)))


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
