"""Laws of every pact: nothing is rewritten, up and down are twins, runs are cheap."""

from typing import Any

import pytest
from tests.pacts.pictures import draw, mirrored, prefixes, read, run, walk

from chartpact.prove import prove

PACTS = ["bias_ai", "ob_ai", "session_hunt_ai"]
every_pact = pytest.mark.parametrize("pact", PACTS)
BUDGET = 10_000_000


@every_pact
def test_nothing_that_was_drawn_is_rewritten(pact):
    bars = walk(900, 4)
    proof = prove(bars, lambda part: draw(pact, part))
    assert proof.ok, proof.rewritten
    assert not proof.failed


@every_pact
def test_five_thousand_bars_stay_far_within_the_budget(pact):
    assert run(pact, walk(5_000, 2)).steps < BUDGET / 5


@every_pact
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
def test_the_first_bars_are_drawn_without_a_fault(pact, count):
    draw(pact, walk(20, 3)[:count])


@every_pact
@pytest.mark.parametrize("seed", [5, 6])
def test_prices_upside_down_give_the_mirrored_state(pact, seed):
    for bars in prefixes(walk(700, seed), 83, 40):
        up, down = read(pact, bars), read(pact, mirrored(bars))
        around = 2 * float(bars.close[0])
        assert up.ok == down.ok
        if up.ok:
            assert turned(down.state, around) == turned(turned(up.state, around), around)


def turned(state: Any, around: float) -> Any:
    """A state with its sides swapped and its prices mirrored."""
    if isinstance(state, dict):
        pairs = {key: value for key, value in state.items() if key not in ROUNDED}
        return {TWINS.get(key, key): turned(value, around) for key, value in pairs.items()}
    if isinstance(state, list):
        return [turned(value, around) for value in state]
    if isinstance(state, str):
        return TWINS.get(state, state)
    return around - state if isinstance(state, float) else state


ROUNDED = ("aggressive", "safe")  # entries are rounded to ticks, halves upwards
PAIRS = (
    "bullish bearish", "high low", "PDH PDL", "pdh pdl", "pdh_swept pdl_swept", "hi_swept lo_swept",
    "HUNT_HIGH HUNT_LOW", "REEXT_HIGH REEXT_LOW", "target_high target_low", "reext_high reext_low",
)  # fmt: skip
TWINS = {a: b for pair in map(str.split, PAIRS) for a, b in (pair, pair[::-1])}
