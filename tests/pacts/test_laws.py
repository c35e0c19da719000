"""Laws of every pact: nothing is rewritten, up and down are twins, runs are cheap."""

from typing import Any

import pytest
from tests.pacts.pictures import draw, mirrored, partner, prefixes, read, run, walk

from chartpact.prove import prove

PACTS = [
    "bias_ai",
    "fvg_ob_mss",
    "next_candle_bias",
    "ob_ai",
    "session_hunt_ai",
    "smt",
    "smt_divergences",
]
every_pact = pytest.mark.parametrize("pact", PACTS)
BUDGET = 10_000_000


def pair_of(pact: str, bars: Any) -> Any:
    return partner(bars, 8) if pact.startswith("smt") else None


@every_pact
def test_nothing_that_was_drawn_is_rewritten(pact):
    bars = walk(900, 4)
    pair = pair_of(pact, bars)
    proof = prove(bars, lambda part: draw(pact, part, pair))
    assert proof.ok, proof.rewritten
    assert not proof.failed


@every_pact
def test_five_thousand_bars_stay_far_within_the_budget(pact):
    bars = walk(5_000, 2)
    assert run(pact, bars, pair_of(pact, bars)).steps < BUDGET / 3


@every_pact
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
def test_the_first_bars_are_drawn_without_a_fault(pact, count):
    bars = walk(20, 3)
    draw(pact, bars[:count], pair_of(pact, bars))


@every_pact
@pytest.mark.parametrize("seed", [5, 6])
def test_prices_upside_down_give_the_mirrored_state(pact, seed):
    for bars in prefixes(walk(700, seed), 83, 40):
        pair = pair_of(pact, bars)
        up = read(pact, bars, pair)
        down = read(pact, mirrored(bars), pair and mirrored(pair))
        around = 2 * float(bars.close[0])
        assert up.ok == down.ok
        if up.ok:
            assert turned(down.state, around) == turned(turned(up.state, around), around)


def turned(state: Any, around: float) -> Any:
    """A state with its sides swapped and its prices mirrored."""
    if isinstance(state, dict):
        pairs = {key: value for key, value in state.items() if key not in ROUNDED}
        pairs |= {key: float(pairs[key]) for key in PRICES & pairs.keys()}
        return {TWINS.get(key, key): turned(value, around) for key, value in pairs.items()}
    if isinstance(state, list):
        return [turned(value, around) for value in state]
    if isinstance(state, str):
        return TWINS.get(state, state)
    return around - state if isinstance(state, float) else state


PRICES = {"level"}  # a label writes 1008 where a cell writes 1008.0
ROUNDED = ("aggressive", "safe")  # entries are rounded to ticks, halves upwards
PAIRS = (
    "bullish bearish", "bull bear", "top bottom", "high low", "PDH PDL", "pdh pdl",
    "pdh_swept pdl_swept", "hi_swept lo_swept",
    "CONT_UP CONT_DOWN", "cont_up cont_down", "REJECT_UP REJECT_DOWN", "reject_up reject_down",
    "bullish_active bearish_active", "HUNT_HIGH HUNT_LOW",
    "REEXT_HIGH REEXT_LOW", "target_high target_low", "reext_high reext_low",
)  # fmt: skip
TWINS = {a: b for pair in map(str.split, PAIRS) for a, b in (pair, pair[::-1])}
