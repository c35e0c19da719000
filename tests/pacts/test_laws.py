"""The laws of every pact, over one list of all eleven (roster.py).

Nothing is rewritten; a shorter history gives the same state or says that it warms up; up and down
are twins; what is read from the drawing is the detector's own state, also where clocks change and
markets halt; runs are cheap. On synthetic bars here, on real ones in test_real_bars.py.
"""

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.effort import EXHAUSTIVE
from tests.pacts.pictures import (
    SUNDAY,
    draw,
    mirrored,
    open_times,
    prefixes,
    read,
    run,
    walk,
)
from tests.pacts.roster import ROSTER, Entry

from chartpact import pacts, script
from chartpact.bars import Bars
from chartpact.clock.walltime import iso
from chartpact.lookahead import prove

every_pact = pytest.mark.parametrize("entry", ROSTER, ids=str)
BUDGET = 10_000_000


def subject_to(law: str) -> Any:
    """Every pact to which a law applies; the roster says why it does not to the others."""
    entries = [entry for entry in ROSTER if law not in dict(entry.exempt)]
    return pytest.mark.parametrize("entry", entries, ids=str)


def test_the_roster_lists_every_pact_once_and_exempts_few_with_reasons():
    assert sorted(entry.pact for entry in ROSTER) == sorted(pacts.drawable())
    assert len(ROSTER) == 11
    reasons = [reason for entry in ROSTER for _, reason in entry.exempt]
    assert len(reasons) <= 3
    assert all(len(reason) > 40 for reason in reasons)


# ------------------------------------------------------------------------------------ no rewrite


@every_pact
def test_nothing_that_was_drawn_is_rewritten(entry):
    bars = walk(entry.count, 4, minutes=entry.minutes)
    check_no_rewrite(entry, bars, 60 if EXHAUSTIVE else 30)


def check_no_rewrite(entry: Entry, bars: Bars, most: int) -> None:
    companion = entry.companion(bars)
    proof = prove(lambda part: draw(entry.pact, part, companion), bars, most)
    assert proof.ok, proof.rewritten
    assert not proof.failed


# --------------------------------------------------------------------------------------- left cut


@subject_to("left cut")
def test_a_shorter_history_gives_the_same_state_or_a_warm_up(entry):
    seen = Counter()
    for seed in (1, 2) if EXHAUSTIVE else (1,):
        bars = walk(entry.count, seed, minutes=entry.minutes)
        seen.update(check_left_cut(entry, bars, range(1, len(bars) - 1, entry.count // 23)))
    assert seen["same"] > 5, seen


@pytest.mark.parametrize("entry", [e for e in ROSTER if "left cut" in dict(e.exempt)], ids=str)
def test_a_pact_that_keeps_what_is_old_tells_from_when_on_its_state_speaks(entry):
    bars = walk(entry.count, 1, minutes=entry.minutes)
    companion = entry.companion(bars)
    for part in (bars, bars[100:]):
        reading = read(entry.pact, part, companion)
        settings = {setting.key: setting for setting in reading.assumptions}
        assert settings["history_from"].value == iso(int(part.time[0]))
        assert settings["history_from"].origin == "chart"


def check_left_cut(entry: Entry, bars: Bars, cuts: range) -> list[str]:
    """Whether each shorter history gave the same state or a warm-up; anything else fails."""
    companion = entry.companion(bars)
    whole = read(entry.pact, bars, companion).state
    told = []
    for cut in cuts:
        try:
            reading = read(entry.pact, bars[cut:], companion)
        except script.ScriptError as error:
            assert "load a longer history" in str(error)
            told.append("refused")
            continue
        if not reading.ok:
            assert {violation.kind for violation in reading.violations} == {"missing"}
            assert entry.missing
        elif not entry.warms_up(reading.state):
            for key in whole:
                check_cut_value(entry, key, reading.state[key], whole[key])
            told.append("same")
            continue
        told.append("warm-up")
    return told


def check_cut_value(entry: Entry, key: str, part: Any, whole: Any) -> None:
    if key in entry.logs:
        rest = iter(whole)
        assert all(item in rest for item in part), key  # in the same order
    elif key in entry.inexact:
        assert part == pytest.approx(whole, rel=1e-4)
    elif not (key in entry.unknown and part is None):
        assert part == whole, key


# ----------------------------------------------------------------------------------------- mirror


@every_pact
@pytest.mark.parametrize("seed", [5, 6] if EXHAUSTIVE else [5])
def test_prices_upside_down_give_the_mirrored_state(entry, seed):
    bars = walk(entry.count, seed, minutes=entry.minutes)
    check_mirror(entry, prefixes(bars, entry.count // 7, entry.count // 5))


def check_mirror(entry: Entry, parts: list[Bars]) -> None:
    readings = 0
    for bars in parts:
        companion = entry.companion(bars)
        turn = mirrored(companion) if isinstance(companion, Bars) else companion
        up, down = read(entry.pact, bars, companion), read(entry.pact, mirrored(bars), turn)
        around = 2 * float(bars.close[0])
        assert up.ok == down.ok
        if up.ok:
            readings += 1
            if not entry.sided:
                assert up.state == down.state
                continue
            check_same(turned(down.state, around), turned(turned(up.state, around), around))
    assert readings


def check_same(a: Any, b: Any) -> None:
    """Equal; prices but for the last digits of a float."""
    if isinstance(a, dict):
        assert a.keys() == b.keys()
        for key in a:
            check_same(a[key], b[key])
    elif isinstance(a, list):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            check_same(one, other)
    else:
        assert a == (pytest.approx(b, rel=1e-9) if isinstance(b, float) else b)


def turned(state: Any, around: float) -> Any:
    """A state with its sides swapped and its prices mirrored."""
    if isinstance(state, dict):
        pairs = {key: value for key, value in state.items() if key not in ROUNDED}
        pairs |= {key: float(pairs[key]) for key in PRICES & pairs.keys()}
        return {TWINS.get(key, key): turned(value, around) for key, value in pairs.items()}
    if isinstance(state, list):
        # Of one bar the sides come in a fixed order, which is no side's privilege.
        return sorted((turned(value, around) for value in state), key=written)
    if isinstance(state, str):
        return TWINS.get(state, state)
    return around - state if isinstance(state, float) else state


def written(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


PRICES = {"level"}  # a label writes 1008 where a cell writes 1008.0
ROUNDED = ("aggressive", "safe")  # entries are rounded to ticks, halves upwards
PAIRS = (
    "bullish bearish", "bull bear", "top bottom", "high low", "PDH PDL", "pdh pdl",
    "pdh_swept pdl_swept", "hi_swept lo_swept", "high_swept low_swept",
    "CONT_UP CONT_DOWN", "cont_up cont_down", "REJECT_UP REJECT_DOWN", "reject_up reject_down",
    "bullish_active bearish_active", "HUNT_HIGH HUNT_LOW",
    "REEXT_HIGH REEXT_LOW", "target_high target_low", "reext_high reext_low",
    "high_outcome low_outcome", "HIGH_SWEPT LOW_SWEPT", "HIGH_REJECTED LOW_REJECTED",
    "HIGH_ACCEPTED LOW_ACCEPTED", "BULL BEAR", "PULLBACK_BULL PULLBACK_BEAR",
    "pullback_bull pullback_bear",
)  # fmt: skip
TWINS = {a: b for pair in map(str.split, PAIRS) for a, b in (pair, pair[::-1])}


# ------------------------------------------------------------------------------------- round trip


@every_pact
@pytest.mark.parametrize("seed", [1, 2] if EXHAUSTIVE else [1])
def test_what_is_read_from_the_drawing_is_the_detectors_own_state(entry, seed):
    # futures with a halt every day; the week after the first begins with a change of clocks
    bars = walk(entry.count, seed, minutes=entry.minutes)
    companion = entry.companion(bars)
    seen = {entry.agree(part, companion) for part in prefixes(bars, entry.count // 13, 3)}
    assert len(seen) > 2


candles = st.tuples(*[st.integers(10, 14)] * 4).map(lambda p: (p[0], max(p), min(p), p[3]))


@every_pact
@settings(max_examples=8)
@given(rows=st.lists(candles, min_size=60, max_size=60))
def test_for_any_prices_exactly_one_state_holds_equalities_included(entry, rows):
    # two and a half days of hourly bars on five prices, so that every comparison ties
    times = open_times(len(rows), 60, SUNDAY, halt=True)
    columns = (np.array(column, float) for column in zip(*rows, strict=True))
    bars = Bars(times, *columns, np.ones(len(rows)), "ES", "1h", tick_size=1.0)
    companion = entry.companion(bars)
    for part in (bars[:40], bars):
        entry.agree(part, companion, **dict(entry.small))


# ------------------------------------------------------------------------------------------- cost


@every_pact
def test_five_thousand_bars_stay_far_within_the_budget(entry):
    bars = walk(5_000, 2)
    assert run(entry.pact, bars, entry.companion(bars)).steps < BUDGET / 8


@in_one_test("entry", ROSTER)
@in_one_test("count", [0, 1, 2, 3, 7])
def test_the_first_bars_are_drawn_without_a_fault(entry, count):
    bars = walk(20, 3)
    draw(entry.pact, bars[:count], entry.companion(bars))
