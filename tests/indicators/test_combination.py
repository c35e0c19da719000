import numpy as np
import pytest
from tests.indicators.market import noise, signals, values

import chartpact as cp
from chartpact import ta
from chartpact.catalogue import Catalogue

MARKET = noise(2000)


def test_the_three_oscillators_are_those_of_ta():
    scene = cp.indicator("combo", rsi_length=7, mfi_length=8, stoch_k=9, stoch_d=4)(MARKET)
    np.testing.assert_array_equal(values(scene, "RSI"), ta.rsi(MARKET.close, 7))
    np.testing.assert_array_equal(values(scene, "MFI"), ta.mfi(MARKET.hlc3, MARKET.volume, 8))
    k = ta.sma(ta.stoch(MARKET.close, MARKET.high, MARKET.low, 9), 3)
    np.testing.assert_array_equal(values(scene, "Stoch K"), k)
    np.testing.assert_array_equal(values(scene, "Stoch D"), ta.sma(k, 4))
    assert [plot.y for plot in scene.plots if plot.kind == "hline"] == [70, 50, 30]


def test_dots_mark_where_an_oscillator_leaves_its_extreme():
    scene = cp.indicator("rsi_mfi_stoch", overbought=60, oversold=40)(MARKET)
    rsi, k, d = (values(scene, title) for title in ("RSI", "Stoch K", "Stoch D"))
    wanted = []
    for i in range(1, len(MARKET)):
        if rsi[i - 1] < 40 <= rsi[i]:
            wanted.append((i, i, "rsi_oversold"))
        if rsi[i - 1] > 60 >= rsi[i]:
            wanted.append((i, i, "rsi_overbought"))
        if k[i - 1] <= d[i - 1] and k[i] > d[i] and k[i] < 20:
            wanted.append((i, i, "stoch_oversold"))
        if k[i - 1] >= d[i - 1] and k[i] < d[i] and k[i] > 80:
            wanted.append((i, i, "stoch_overbought"))
    assert signals(scene) == wanted
    assert {name for _, _, name in wanted} == set(Catalogue().resolve("combo").signals)


def test_the_strip_is_coloured_where_all_three_agree():
    strip = next(plot for plot in cp.indicator("combo")(MARKET).plots if plot.title == "Trend")
    assert set(strip.values) == {5.0}
    three = [
        ta.rsi(MARKET.close, 14),
        ta.mfi(MARKET.hlc3, MARKET.volume, 14),
        ta.sma(ta.stoch(MARKET.close, MARKET.high, MARKET.low, 14), 3),
    ]
    for i in range(len(MARKET)):
        up, down = all(each[i] > 50 for each in three), all(each[i] < 50 for each in three)
        color = strip.color[i]
        assert (color is None) == (not up and not down)
        if color is not None:
            assert color[:7] == ("#089981" if up else "#f23645")


@pytest.mark.parametrize(("given", "missing"), [
    ({"show_entry_dots": False}, "dot"), ({"show_trend_bars": False}, "bars"),
])  # fmt: skip
def test_parts_can_be_left_out(given, missing):
    scene = cp.indicator("rsi_combo", **given)(MARKET)
    assert missing not in {plot.kind for plot in scene.plots}
