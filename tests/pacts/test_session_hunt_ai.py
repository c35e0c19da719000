"""Session Hunt AI: what its contract reads is what the rules say, in all seasons."""

from collections import Counter

import pytest
from tests.pacts import detectors
from tests.pacts.pictures import SUNDAY, draw, prefixes, read, walk

import chartpact as cp
from chartpact import script

TICK = 0.25


def compare(bars, mode="NY"):
    reading = read("session_hunt_ai", bars, mode=mode)
    wanted = detectors.session_hunt_ai(bars, mode)
    assert reading.ok, (len(bars), reading.violations)
    hunt = reading.state["hunt"]
    assert hunt["state"] == wanted["state"], len(bars)
    if wanted["state"] != "NO_RANGE":
        levels = [round(hunt[name] / bars.tick_size) for name in ("target_high", "target_low")]
        assert levels == wanted["levels"]
        again = [
            hunt[name] and round(hunt[name] / bars.tick_size)
            for name in ("reext_high", "reext_low")
        ]
        assert again == (wanted["again"] or [None, None])
    return wanted["state"]


@pytest.mark.parametrize("mode", ["NY", "London"])
@pytest.mark.parametrize("minutes", [5, 15])
def test_the_contract_reads_the_hunt_that_the_rules_give(mode, minutes):
    # the second week of these bars begins with a change of clocks
    seen = Counter(
        compare(bars, mode)
        for seed in (1, 2)
        for bars in prefixes(walk(9 * 276 * 5 // minutes, seed, minutes=minutes), 37, 4)
    )
    assert len(seen) >= 6, seen


@pytest.mark.needs_shared
def test_sessions_keep_new_york_time_through_the_weeks_of_clock_changes(shared):
    bars = cp.load(
        shared / "data" / "EURUSD_15m_mt5_2022-10_2023-10.csv.gz", tz="Europe/Athens",
        tick_size=0.00001,
    )  # fmt: skip
    for first, last in (("2022-10-31", "2022-11-11"), ("2023-03-13", "2023-03-24")):
        begin, end = (int(_ms(day)) for day in (first, last))
        week = bars[int((bars.time < begin).sum()) - 96 : int((bars.time < end).sum())]
        for part in prefixes(week, 17, 100):
            compare(part)


def _ms(day):
    import numpy as np

    return np.datetime64(day, "ms").astype(int)


def test_a_history_that_begins_after_the_hunted_session_is_refused_in_words():
    bars = walk(276, 1)
    with pytest.raises(script.ScriptError, match="load a longer history"):
        draw("session_hunt_ai", bars[120:200])


def test_four_hour_bars_are_refused_in_words():
    with pytest.raises(script.ScriptError, match="lower timeframe"):
        draw("session_hunt_ai", walk(60, 1, minutes=240, start=SUNDAY))


def test_a_shorter_history_gives_the_same_hunt_or_says_that_it_is_too_short():
    bars = walk(1_000, 4)
    whole = read("session_hunt_ai", bars).state
    told = set()
    for first in range(0, 990, 30):
        try:
            told.add(read("session_hunt_ai", bars[first:]).state == whole)
        except script.ScriptError as error:
            assert "load a longer history" in str(error)
            told.add("refused")
    assert told == {True, "refused"}
