"""WaveTrend and Cipher B, against the plain loops that define them."""

import numpy as np
import pytest
from tests.indicators.market import bars, noise, signals, values

import chartpact as cp
from chartpact import ta
from chartpact.indicators import divergence
from chartpact.render.plots import LAYERS
from chartpact.scene import DivLinePlot, DotPlot, FillPlot

CRYPTO = cp.load("sample:btc-4h")


def dots(scene):
    """(bar, height, size, name) of every dot, plot by plot."""
    return [
        (p.x, p.y, p.size, p.label)
        for plot in scene.plots
        if isinstance(plot, DotPlot)
        for p in plot.points
    ]


def crossed(a, b, i):
    up = a[i - 1] < b[i - 1] and a[i] >= b[i]
    down = a[i - 1] > b[i - 1] and a[i] <= b[i]
    return up, down


def test_the_waves_are_distances_from_an_average_in_average_distances():
    scene = cp.indicator("wavetrend", ch_len=2, avg_len=1)(bars([1, 3, 5, 9]))
    # averages of 2: 2, 4, 22/3; distances 1, 1, 5/3 and their averages 1, 13/9 from bar 2 on
    index = [1 / 0.015, (5 / 3) / (0.015 * 13 / 9)]
    np.testing.assert_allclose(values(scene, "WT1"), [np.nan, np.nan, *index])
    assert np.isnan(values(scene, "WT2")).all()
    assert scene.y_range is None  # the waves are not bounded


def test_a_price_that_does_not_move_makes_no_wave():
    scene = cp.indicator("wavetrend")(bars(np.full(60, 7.0)))
    assert np.isnan(values(scene, "WT1")).all()
    assert signals(scene) == []


@pytest.mark.parametrize("market", [CRYPTO, noise(800)], ids=["sample", "noise"])
def test_wavetrend_dots_are_its_crosses_told_apart_by_level(market):
    scene = cp.indicator("wavetrend")(market)
    wt1, wt2 = values(scene, "WT1"), values(scene, "WT2")
    wanted = {"cross_up_os": [], "cross_down_ob": [], "cross_up": [], "cross_down": []}
    for i in range(1, len(market)):
        up, down = crossed(wt1, wt2, i)
        if up and wt2[i] <= -53:
            wanted["cross_up_os"].append((i, wt2[i], 6, "cross_up_os"))
        elif down and wt2[i] >= 53:
            wanted["cross_down_ob"].append((i, wt2[i], 6, "cross_down_ob"))
        elif up:
            wanted["cross_up"].append((i, wt2[i], 3, "cross_up"))
        elif down:
            wanted["cross_down"].append((i, wt2[i], 3, "cross_down"))
    assert dots(scene) == [dot for kind in wanted.values() for dot in kind]
    assert all(wanted.values())


def test_cipher_b_draws_its_parts_in_order():
    scene = cp.indicator("cipher_b")(CRYPTO)
    named = [plot.title for plot in scene.plots if plot.title]
    assert named == ["WT1", "WT2", "RSI", "MFI", "Stoch K", "Stoch D"]
    assert [plot.y for plot in scene.plots if plot.kind == "hline"] == [60, 100, -60, 0]
    waves = cp.indicator("wavetrend")(CRYPTO)
    for name in ("WT1", "WT2"):
        np.testing.assert_array_equal(values(scene, name), values(waves, name))
    assert scene.y_range is None
    np.testing.assert_array_equal(values(scene, "RSI"), ta.rsi(CRYPTO.close, 14))
    r = ta.rsi(np.log(CRYPTO.close), 14)
    k = ta.sma(ta.stoch(r, r, r, 14), 3)
    np.testing.assert_array_equal(values(scene, "Stoch K"), k)
    np.testing.assert_array_equal(values(scene, "Stoch D"), ta.sma(k, 3))


def test_rsi_dots_mark_every_bar_beyond_its_levels():
    scene = cp.indicator("cipher_b")(CRYPTO)
    rsi = ta.rsi(CRYPTO.close, 14)
    low, high = np.flatnonzero(rsi <= 30), np.flatnonzero(rsi >= 60)
    found = [(bar, name) for bar, _, name in signals(scene, "rsi_oversold", "rsi_overbought")]
    wanted = [(i, "rsi_oversold") for i in low] + [(i, "rsi_overbought") for i in high]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("mode", ["strict", "classic"])
@pytest.mark.parametrize("market", [CRYPTO, noise(3000, 5)], ids=["sample", "noise"])
def test_cross_dots_need_rsi_and_stochastic_to_agree_when_strict(mode, market):
    scene = cp.indicator("cipher_b", dot_mode=mode, wt_oversold=-30, wt_overbought=30)(market)
    wt1, wt2 = values(scene, "WT1"), values(scene, "WT2")
    rsi, k = values(scene, "RSI"), values(scene, "Stoch K")
    strict = mode == "strict"
    wanted = []
    for i in range(1, len(market)):
        up, down = crossed(wt1, wt2, i)
        if up and wt2[i] <= -30:
            if not strict or (rsi[i] < 30 and k[i] < 20):
                wanted.append((i, i, "buy"))
        elif down and wt2[i] >= 30:
            if not strict or (rsi[i] > 70 and k[i] > 80):
                wanted.append((i, i, "sell"))
        elif up:
            if not strict or rsi[i] < 40:
                wanted.append((i, i, "buy_small"))
        elif down and (not strict or rsi[i] > 60):
            wanted.append((i, i, "sell_small"))
    assert signals(scene, "buy", "sell", "buy_small", "sell_small") == wanted
    assert {name for _, _, name in wanted} >= {"buy", "sell"}


def plain_divergences(s, high, low, top_limit, bottom_limit):
    """Fractals bar by bar, each compared with the one before it."""
    bear, bull, top, bottom = [], [], None, None
    for i in range(4, len(s)):
        around = [s[i - 4], s[i - 3], s[i - 1], s[i]]
        c = i - 2
        if all(s[c] > each for each in around):
            if top is not None and s[c] >= top_limit and high[c] > high[top] and s[c] < s[top]:
                bear.append((top, c))
            top = c
        if all(s[c] < each for each in around):
            if (
                bottom is not None
                and s[c] <= bottom_limit
                and low[c] < low[bottom]
                and s[c] > s[bottom]
            ):
                bull.append((bottom, c))
            bottom = c
    return bear, bull


@pytest.mark.parametrize("market", [CRYPTO, noise(5000, 1), noise(5000, 2)],
                         ids=["sample", "noise", "more noise"])  # fmt: skip
def test_divergences_are_found_between_neighbouring_fractals(market):
    scene = cp.indicator("cipher_b")(market)
    wt2, rsi = values(scene, "WT2"), values(scene, "RSI")
    bear, bull = plain_divergences(wt2, market.high, market.low, 45, -65)
    faint_bear, faint_bull = plain_divergences(wt2, market.high, market.low, 15, -40)
    lines = [(p.x1, p.x2, p.y1, p.y2) for p in scene.plots if isinstance(p, DivLinePlot)]
    wanted = sorted([*bear, *bull], key=lambda line: line[1])
    assert lines == [(a, b, wt2[a], wt2[b]) for a, b in wanted]
    assert all(p.style == "dashed" for p in scene.plots if isinstance(p, DivLinePlot))

    def at(pairs, name):
        return [(c, c + 2, name) for _, c in pairs]

    assert signals(scene, "wt_bear_div") == sorted(
        at(bear, "wt_bear_div") + at(faint_bear, "wt_bear_div")
    )
    assert signals(scene, "wt_bull_div") == sorted(
        at(bull, "wt_bull_div") + at(faint_bull, "wt_bull_div")
    )
    assert signals(scene, "any_bear_div") == at(faint_bear, "any_bear_div")
    assert signals(scene, "any_bull_div") == at(faint_bull, "any_bull_div")
    gold = [
        (c + 2, c + 2, "gold_buy")
        for before, c in bull
        if wt2[before] <= -75
        and wt2[c + 2] > -75
        and wt2[before] - wt2[c + 2] <= -5
        and rsi[c] < 30
    ]
    assert signals(scene, "gold_buy") == gold
    assert faint_bear
    assert faint_bull


def test_a_deep_low_that_price_undercuts_and_the_wave_does_not_is_gold():
    found = [signals(cp.indicator("cipher_b")(noise(4000, seed)), "gold_buy") for seed in range(8)]
    assert sum(map(len, found)) > 0


def test_divergences_can_be_left_out():
    scene = cp.indicator("cipher_b", show_divergences=False)(CRYPTO)
    assert not any(isinstance(plot, DivLinePlot) for plot in scene.plots)
    assert not signals(scene, "wt_bear_div", "wt_bull_div", "gold_buy")


def test_fractals_are_strict_on_both_sides():
    assert divergence.tops(np.array([1.0, 2, 3, 2, 1])).centre.tolist() == [2]
    assert divergence.tops(np.array([1.0, 3, 3, 2, 1])).centre.tolist() == []
    assert divergence.tops(np.array([1.0, 2, 3, np.nan, 1])).centre.tolist() == []
    assert divergence.bottoms(np.array([2.0, 2, 1, 2, 2, 2, 0, 1, 3])).centre.tolist() == [2, 6]
    assert divergence.bottoms(np.array([2.0, 2, 1, 2, 2, 2, 0, 1, 3])).previous.tolist() == [-1, 2]
    assert divergence.tops(np.ones(4)).centre.tolist() == []


def test_the_waves_and_the_money_flow_are_areas_from_zero_below_lines_and_dots():
    scene = cp.indicator("cipher_b")(CRYPTO)
    reach = CRYPTO.high - CRYPTO.low
    raw = np.where(
        reach == 0, 0, (CRYPTO.close - CRYPTO.open) / np.where(reach == 0, 1, reach) * 150
    )
    flow = ta.sma(raw, 60) - 2.5
    money = next(plot for plot in scene.plots if plot.title == "MFI")
    np.testing.assert_allclose(money.values, flow, rtol=1e-12)
    assert set(money.color[59:]) == {"#00a152ff", "#f23645ff"}
    for i in range(59, len(CRYPTO)):
        assert (money.color[i] == "#f23645ff") == (flow[i] < -1e-10)
    areas = [plot for plot in scene.plots if isinstance(plot, FillPlot)]
    wt1, wt2 = values(scene, "WT1"), values(scene, "WT2")
    for area, edge in zip(areas, (wt1, wt2, wt1 - wt2, flow), strict=True):
        np.testing.assert_allclose(area.a, edge, rtol=1e-12)
        assert not area.b.any()
    assert areas[3].color == "auto"  # green above zero, red below
    assert LAYERS.index("fill") < LAYERS.index("line") < LAYERS.index("dot")


def test_prices_below_zero_have_no_stochastic_rsi_but_everything_else():
    scene = cp.indicator("cipher_b")(noise(300, start=-500.0))
    assert np.isnan(values(scene, "Stoch K")).all()
    assert not np.isnan(values(scene, "WT2")[40:]).any()
    assert not np.isnan(values(scene, "RSI")[14:]).any()
