"""Every local builtin on real markets: it draws, it keeps its past, it says when it cannot."""

import numpy as np
import pytest

import chartpact as cp
from chartpact import indicators
from chartpact.scene import BarsPlot, LinePlot

pytestmark = pytest.mark.needs_shared

LOCAL = [each for each in indicators.table().values() if not each.looks_outside({})]
FILES = {
    "ESZ13_1m_2013-10-06_2013-10-14.csv.gz": {},
    "SPY_1m_2013-10-04_2013-10-11.csv.gz": {},
    "EURUSD_15m_mt5_2022-10_2023-10.csv.gz": {"tz": "Europe/Athens"},
    "EURUSD_oanda_1m_bid_2014-05-01_2014-05-15.csv.gz": {},
}


@pytest.fixture(scope="module", params=FILES)
def market(request, shared):
    return cp.load(shared / "data" / request.param, **FILES[request.param])


def test_all_draw_on_one_chart_or_say_what_is_missing(market):
    drawn = cp.chart(market, [each.name for each in LOCAL], last=500).drawn
    silent = np.isnan(market.volume).all()
    failed = {each.name for each in drawn if each.error is not None}
    assert failed == {each.name for each in LOCAL if each.needs_volume and silent}
    assert all(each.scene.plots for each in drawn if each.error is None)


def test_no_past_value_or_signal_is_rewritten_as_bars_come_in(market):
    cuts = (len(market) // 3, len(market) // 2, len(market) - 1)
    silent = np.isnan(market.volume).all()
    for builtin in LOCAL:
        if builtin.needs_volume and silent:
            continue
        stable = {track.title for track in builtin.tracks if track.prefix_stable}
        whole = builtin.compute(market, {})
        lines = {p.title: p.values for p in whole.plots if isinstance(p, LinePlot | BarsPlot)}
        for k in cuts:
            part = builtin.compute(market[:k], {})
            for plot in part.plots:
                if isinstance(plot, LinePlot | BarsPlot) and plot.title in stable:
                    np.testing.assert_array_equal(plot.values, lines[plot.title][:k])
            if builtin.prefix_stable:
                known = [s for s in whole.signals if s.confirmed_bar < k]
                assert list(part.signals) == known
