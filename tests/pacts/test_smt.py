"""SMT: divergences and their phases read back as the rules give them."""

from collections import Counter

import numpy as np
import pytest
from tests.cases import in_one_test
from tests.pacts import detectors
from tests.pacts.agreement import smt
from tests.pacts.pictures import draw, partner, prefixes, walk

from chartpact import script


def test_every_phase_of_a_divergence_is_met():
    seen = Counter()
    for seed in (1, 2, 3):
        bars = walk(600, seed)
        pair = partner(bars, seed)
        seen.update(phase for part in prefixes(bars, 67, 1) for phase in smt(part, pair))
    assert set(seen) == {"confirmed", "resolved", "invalidated", "expired"}


def test_bars_that_the_pair_does_not_have_take_no_part():
    bars = walk(500, 4)
    holes = np.random.default_rng(1).random(len(bars)) < 0.2
    smt(bars, partner(bars, 4).take(np.flatnonzero(~holes)))


def test_a_shorter_history_tells_the_same_of_the_swings_it_holds():
    bars = walk(600, 5)
    pair = partner(bars, 5)
    whole = detectors.smt(bars, pair)
    for first in (40, 150, 300):
        part = bars[first:]
        smt(part, pair)
        settled = {d for d in whole if d[3] >= int(part.time[20])}
        assert settled <= set(detectors.smt(part, pair))


@in_one_test("pact", ["smt", "smt_divergences"])
def test_a_swing_takes_part_once_all_of_the_pairs_bars_around_it_are_known(pact):
    # With right above left a swing is confirmed before the pair's first 2 right + 1 bars are there.
    for seed in range(12):
        bars = walk(80, seed)
        pair = partner(bars, seed)
        whole = ends(draw(pact, bars, pair, left=1, right=6), 0)
        for first in (3, 7, 12, 20):
            part = bars[first:]
            assert ends(draw(pact, part, pair, left=1, right=6), first) <= whole


def ends(scene, shift):
    """The bars at both ends of each line, counted from the whole history's first bar."""
    return {(line.x1.n + shift, line.x2.n + shift, line.y2) for line in scene.lines}


def test_without_a_pair_the_script_says_what_is_missing():
    with pytest.raises(script.ScriptError, match="parameter pair"):
        draw("smt", walk(50, 1))
