"""The statistics: equal to a plain oracle, silent where nothing is, awake where something is."""

import math
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.studies import markets
from tests.studies.oracle import Oracle

from chartpact.bars import Bars
from chartpact.studies import estimator
from chartpact.studies.market import StudyMarket

ZONE = "America/New_York"
EXHAUSTIVE = os.environ.get("CHARTPACT_EXHAUSTIVE", "") not in ("", "0")


def entries(market: StudyMarket, known, horizon: int) -> np.ndarray:
    rows = np.unique(np.asarray(known, np.int64) + 1)
    rows = rows[rows + horizon < len(market.bars)]
    return rows[market.in_bucket[rows]]


@st.composite
def odd_markets(draw) -> Bars:
    """Bars on a coarse grid with equal prices, flat stretches, gaps in time and jumps."""
    seed = draw(st.integers(0, 2**32 - 1))
    count = draw(st.integers(120, 420))
    random = np.random.default_rng(seed)
    steps = random.choice([-0.5, 0, 0, 0.25, 0.5], 4 * count)
    if draw(st.booleans()):
        steps[100 : 100 + 4 * 40] = 0  # a range of 0, and so an ATR that goes to 0
    if draw(st.booleans()):
        steps[4 * count // 2] += 40
    bars = markets.of_path(np.concatenate(([100.0], 100 + np.cumsum(steps))), per=4)
    time = bars.time.copy()
    time[count // 3 :] += draw(st.sampled_from([0, 50_000_000, 63_000_000 * 100]))
    return replace(bars, time=time)


@settings(max_examples=500 if EXHAUSTIVE else 50)
@given(odd_markets(), st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 5]), st.booleans())
def test_every_sum_is_that_of_a_plain_oracle_bar_by_bar(bars, seed, horizon, long):
    market = StudyMarket(bars, ZONE, first=seed % 20)
    oracle = Oracle(bars, ZONE, first=seed % 20)
    known = np.random.default_rng(seed).choice(len(bars) - 1, 30)  # several on one bar
    rows = entries(market, known, horizon)
    if not len(rows):
        return
    side = 1 if long else -1
    test = estimator.measure(market, rows, side, horizon)
    np.testing.assert_allclose(market.excess, oracle.excess, rtol=0, atol=1e-10)
    for name, expected in oracle.test(rows.tolist(), side, horizon).items():
        np.testing.assert_allclose(getattr(test, name), expected, rtol=0, atol=1e-8, err_msg=name)


def family(bars: Bars, known, side: int = 1, horizons=(1, 3, 10, 20, 50)):
    market = StudyMarket(bars, ZONE)
    rows = [(entries(market, known, bars), bars) for bars in horizons]
    tests = [estimator.measure(market, own, side, bars) for own, bars in rows if len(own) >= 10]
    return tests, estimator.judge(tests)


RUNS = 400 if EXHAUSTIVE else 40


@pytest.mark.slow
def test_nothing_is_found_where_nothing_is():
    """The rate of a family is at most 5 % and three standard errors, for each kind of signal."""
    found = dict.fromkeys([*markets.KINDS, "all kinds as one family"], 0)
    for seed in range(RUNS):
        bars = markets.market(seed, 2760, drift=0.01)
        everything = []
        for kind in markets.KINDS:
            tests, chances = family(bars, markets.signals(kind, bars, seed))
            found[kind] += any(chance.p_family < 0.05 for chance in chances)
            everything += tests
        judged = estimator.judge(everything)
        found["all kinds as one family"] += any(chance.p_family < 0.05 for chance in judged)
    most = RUNS * 0.05 + 3 * math.sqrt(RUNS * 0.05 * 0.95)
    assert {kind: count for kind, count in found.items() if count > most} == {}


@pytest.mark.slow
def test_a_planted_edge_is_found_and_told_without_bias():
    """400 events with 0.5 ATR over ten bars beyond the mean: found in three of four markets.

    A fifth of all bars has the edge. The mean that is subtracted holds a fifth of it too.
    """
    runs, found, means, errors = (60 if EXHAUSTIVE else 16), 0, [], []
    for seed in range(runs):
        plain = markets.market(seed, 20_000)
        unit = StudyMarket(plain, "UTC").atr
        known = np.arange(100, 20_000, 50)[:397]
        planted = [
            (bar, 0.05 / 0.8 * unit[event + 1])
            for event in known.tolist()
            for bar in range(event + 1, event + 11)
        ]
        tests, chances = family(markets.market(seed, 20_000, planted=planted), known)
        found += any(chance.p_family < 0.05 for chance in chances)
        means.append(tests[2].mean)
        errors.append(tests[2].error)
    assert found >= 0.75 * runs
    spread = 3 * np.sqrt(np.mean(np.square(errors)) / runs)
    assert abs(np.mean(means) - 0.5) < spread


def test_prices_times_ten_and_higher_by_a_constant_say_the_same():
    bars = markets.market(3, 3000)
    known = markets.signals("stretched", bars, 3)
    tests, chances = family(bars, known)
    for changed in (scale(bars, 10, 0), replace(bars, time=bars.time + 86_400_000 * 7)):
        others, judged = family(changed, known)
        for test, other in zip(tests, others, strict=True):
            np.testing.assert_allclose(test.effect, other.effect, atol=1e-9)
        assert [c.p_family for c in chances] == [c.p_family for c in judged]


def scale(bars: Bars, by: float, add: float) -> Bars:
    high, low = (by * getattr(bars, name) + add for name in ("high", "low"))
    if by < 0:
        high, low = low, high
    return replace(bars, open=by * bars.open + add, close=by * bars.close + add, high=high, low=low)


def test_a_market_upside_down_gives_the_mirrored_study():
    bars = markets.market(5, 3000)
    market, upside = StudyMarket(bars, ZONE), StudyMarket(scale(bars, -1, 9000), ZONE)
    # The tercile is of ATR over price, which is another one there: only the bucket is given.
    object.__setattr__(upside, "_bucket", market._bucket)
    rows = entries(market, markets.signals("breakout", bars, 5), 10)
    test = estimator.measure(market, rows, 1, 10)
    other = estimator.measure(upside, rows, -1, 10)
    np.testing.assert_allclose(test.effect, other.effect, atol=1e-9)
    np.testing.assert_allclose(test.favourable, other.favourable, atol=1e-9)
    np.testing.assert_allclose(test.hit_baseline, other.hit_baseline, atol=1e-12)


def test_what_comes_after_the_last_exit_changes_nothing_but_the_baseline():
    bars = markets.market(6, 3000)
    known = markets.signals("random", bars, 6)
    known = known[known < 2000]
    whole, cut = StudyMarket(bars, ZONE), StudyMarket(bars[:2100], ZONE)
    rows = entries(cut, known, 10)
    test, other = (estimator.measure(market, rows, 1, 10) for market in (whole, cut))
    for name in ("move", "favourable", "adverse", "hit"):
        np.testing.assert_array_equal(getattr(test, name), getattr(other, name))


def test_the_order_of_tests_and_a_family_of_one():
    bars = markets.market(7, 3000)
    tests, chances = family(bars, markets.signals("random", bars, 7))
    turned = estimator.judge(tests[::-1])[::-1]
    assert [c.p_family for c in turned] == [c.p_family for c in chances]
    [alone] = estimator.judge(tests[:1])
    assert alone.p == alone.p_family == alone.q == chances[0].p
    assert all(c.p_family >= c.p for c in chances)


def test_the_same_bits_everywhere():
    words = estimator._random(3).tolist()
    assert words == [11749869230777074271, 4976686463289251617, 755828109848996024]


def test_the_deflated_sharpe_is_that_of_its_authors():
    """Bailey and López de Prado (2014): SR0 = 0.1132 and DSR = 0.9004."""
    spread, sharpe = math.sqrt(1 / 2 / 250), 2.5 / math.sqrt(250)
    value = estimator.deflated_sharpe(sharpe, 1250, -3, 10, 100, spread)
    assert round(value, 4) == 0.9004


def test_false_discovery_is_that_of_benjamini_and_hochberg():
    p = np.array([0.01, 0.04, 0.03, 0.005, 0.55])
    np.testing.assert_allclose(
        estimator.false_discovery(p), [0.025, 0.05, 0.05, 0.025, 0.55], atol=1e-12
    )
