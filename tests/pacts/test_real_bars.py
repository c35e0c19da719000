"""The laws of every pact on real bars: ES with its halts, and EURUSD where the clocks change."""

from functools import cache

import numpy as np
import pytest
from tests.conftest import SHARED
from tests.effort import EXHAUSTIVE
from tests.pacts.pictures import prefixes
from tests.pacts.roster import ROSTER
from tests.pacts.test_laws import check_left_cut, check_mirror, check_no_rewrite, subject_to

import chartpact as cp
from chartpact.bars import Bars

pytestmark = pytest.mark.needs_shared
every_pact = pytest.mark.parametrize("entry", ROSTER, ids=str)
# New York changes its clocks on 2022-11-06 and 2023-03-12, Europe a week before and two after.
WEEKS = [("2022-10-31", "2022-11-10"), ("2023-03-08", "2023-03-18")]


@cache
def es() -> Bars:
    return cp.load(SHARED / "data" / "ESZ13_1m_2013-10-06_2013-10-14.csv.gz").resample("5m")


@cache
def eurusd() -> Bars:
    path = SHARED / "data" / "EURUSD_15m_mt5_2022-10_2023-10.csv.gz"
    return cp.load(path, tz="Europe/Athens", tick_size=0.00001, symbol="EURUSD")


def between(bars: Bars, first: str, last: str) -> Bars:
    begin, end = (int(np.datetime64(day, "ms").astype(int)) for day in (first, last))
    return bars[int((bars.time < begin).sum()) : int((bars.time < end).sum())]


@every_pact
@pytest.mark.parametrize("week", WEEKS, ids=lambda week: week[0])
def test_weeks_in_which_clocks_change_read_as_the_detector_sees_them(entry, week):
    bars = between(eurusd(), *week)
    assert len(bars) > 600
    companion = entry.companion(bars)
    for part in prefixes(bars, 61 if EXHAUSTIVE else 131, 100):
        entry.agree(part, companion)


@every_pact
def test_real_futures_with_their_halts_read_as_the_detector_sees_them(entry):
    bars = es()[-1_300:]
    companion = entry.companion(bars)
    for part in prefixes(bars, 173, 60):
        entry.agree(part, companion)


@every_pact
def test_nothing_that_was_drawn_on_real_bars_is_rewritten(entry):
    check_no_rewrite(entry, es()[-1_300:], 24 if EXHAUSTIVE else 12)


@every_pact
def test_real_prices_upside_down_give_the_mirrored_state(entry):
    check_mirror(entry, prefixes(es()[-1_300:], 311, 300))


@subject_to("left cut")
def test_a_shorter_history_of_real_bars_gives_the_same_state_or_a_warm_up(entry):
    told = check_left_cut(entry, es(), range(1, len(es()) - 2, 131 if EXHAUSTIVE else 263))
    assert "same" in told or entry.pact == "ema_trend"
