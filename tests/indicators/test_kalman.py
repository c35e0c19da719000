"""The Kalman volume filter, against the plain loop that defines it."""

import math
from dataclasses import replace

import numpy as np
from tests.indicators.market import noise, signals, values

import chartpact as cp
from chartpact import ta


def plain(market, length, gain, signal_length):
    close, volume, n = market.close, market.volume, len(market)
    signed = np.array([v if i < 2 or close[i] > close[i - 2] else -v for i, v in enumerate(volume)])
    pressure = ta.hma(signed, length) / ta.hma(volume, length)
    scaled = pressure / ta.stdev(pressure, 200)
    filtered, held = np.full(n, np.nan), 0.0
    for i in range(n):
        if not math.isnan(scaled[i]):
            held = gain * scaled[i] + (1 - gain) * held
            filtered[i] = held
    return filtered, ta.sma(filtered, signal_length)


def test_the_filter_follows_scaled_volume_pressure():
    market = noise(1500)
    scene = cp.indicator("kvf", vzo_length=30, k=0.1, sig_length=5)(market)
    filtered, signal = plain(market, 30, 0.1, 5)
    np.testing.assert_allclose(values(scene, "KVF"), filtered, rtol=1e-9)
    np.testing.assert_allclose(values(scene, "Signal"), signal, rtol=1e-9)
    first = 30 + 5 - 2 + 199
    assert np.isnan(filtered[:first]).all()
    assert not np.isnan(filtered[first:]).any()


def test_crosses_are_drawn_a_bar_early_and_known_on_time():
    market = noise(4000)
    scene = cp.indicator("kalman", k=0.3)(market)
    m, s = values(scene, "KVF"), values(scene, "Signal")
    wanted = []
    for i in range(2, len(market)):
        before = m[i - 1]
        if m[i - 1] <= s[i - 1] and m[i] > s[i]:
            if before < -0.6:
                wanted.append((i - 1, i, "buy_oversold"))
            elif abs(before) < 0.6:
                wanted.append((i - 1, i, "buy"))
        elif m[i - 1] >= s[i - 1] and m[i] < s[i]:
            if before > 0.6:
                wanted.append((i - 1, i, "sell_overbought"))
            elif abs(before) < 0.6:
                wanted.append((i - 1, i, "sell"))
    assert signals(scene) == wanted
    assert {name for _, _, name in wanted} == {"buy_oversold", "buy", "sell_overbought", "sell"}


def test_volume_is_drawn_up_and_down_unless_it_is_an_outlier():
    volume = noise(400).volume.copy()
    volume[300] *= 1000
    market = replace(noise(400), volume=volume)
    scene = cp.indicator("kalman_volume")(market)
    size = market.volume / ta.stdev(market.volume, 200) / 10
    wanted = np.where(size > 0.8, 0, size)
    np.testing.assert_allclose(values(scene, "Volume"), wanted)
    np.testing.assert_allclose(values(scene, "Volume (mirrored)"), -wanted)
    assert np.flatnonzero(wanted == 0).tolist() == [300]


def test_the_colour_tells_which_line_is_above():
    scene = cp.indicator("kalman_volume")(noise(1000))
    line = scene.plots[0]
    above = line.values > values(scene, "Signal")
    assert len(set(line.color[300:])) == 2
    assert all((line.color[i] == "#0097a7ff") == above[i] for i in range(300, 1000))


def test_a_missing_volume_leaves_the_estimate_where_it_is():
    market = noise(600)
    volume = market.volume.copy()
    volume[500] = np.nan
    found = values(cp.indicator("kalman_volume")(replace(market, volume=volume)), "KVF")
    assert not np.isnan(found[501:]).any()
