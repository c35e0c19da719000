"""Every forkable builtin has a script that draws the same, to the last dot."""

from collections.abc import Iterator
from dataclasses import fields
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import chartpact as cp
from chartpact import script
from chartpact.bars import Bars
from chartpact.indicators import resolve
from chartpact.indicators.params import Param
from chartpact.indicators.params import resolve as resolve_params
from chartpact.scene import DotPlot, Plot, Scene
from chartpact.script import refimpl

NEAR = 1e-9

VARIANTS = {
    "cipher_b": [
        {},
        {"dot_mode": "classic"},
        {"wt_channel_length": 3, "wt_average_length": 5, "wt_oversold": -20, "wt_overbought": 10},
        {"show_divergences": False},
    ],
    "wavetrend": [{}, {"ch_len": 4, "avg_len": 1}],
    "ichimoku": [{}, {"displacement": 1}, {"tenkan": 3, "kijun": 5, "senkou_b": 7}],
    "rsi_mfi_stoch": [
        {},
        {"rsi_length": 3, "mfi_length": 4, "stoch_k": 5, "stoch_smooth": 1},
        {"show_entry_dots": False},
        {"show_trend_bars": False, "overbought": 55, "oversold": 45},
    ],
}


def market(
    bars: int,
    drift: float,
    noise: float,
    seed: int,
    hold: float = 0,
    gap: float = 0,
    tick: float = 0.01,
) -> Bars:
    """A random walk in ticks; `hold` of the bars do not move, `gap` of them jump."""
    rng = np.random.default_rng(seed)
    steps = drift + noise * rng.normal(size=bars)
    steps[rng.random(bars) < hold] = 0
    steps += 8 * noise * rng.normal(size=bars) * (rng.random(bars) < gap)
    close = np.round(tick * np.round(np.maximum(100 + np.cumsum(steps), 1) / tick), 2)
    start = np.concatenate((close[:1], close[:-1]))
    start = np.where(rng.random(bars) < gap, close, start)
    reach = tick * np.round(noise * rng.random(bars) / tick) * (rng.random(bars) >= hold)
    time = 1_700_000_100_000 + 300_000 * np.cumsum(1 + 50 * (rng.random(bars) < gap))
    return Bars(
        time,
        start,
        np.maximum(start, close) + reach,
        np.minimum(start, close) - np.minimum(reach, 0.5),
        close,
        np.round(rng.lognormal(5, 1, bars)),
        "TEST",
        "5m",
    )


BATTERY = {
    "trend up": market(600, 0.2, 0.5, 1),
    "trend down": market(400, -0.2, 0.5, 2),
    "low volatility": market(500, 0, 0.01, 3),
    "high volatility": market(500, 0, 5, 4),
    "sparse": market(300, 0, 0.3, 5, hold=0.7),
    "gaps": market(500, 0, 0.5, 6, gap=0.1),
    "coarse ticks": market(800, 0, 1.2, 11, hold=0.2, tick=1),
    "a long decline": market(1500, -0.05, 0.5, 2),
    "flat": market(120, 0, 0, 7),
    "short": market(30, 0, 1, 8),
    "very short": market(3, 0, 1, 9),
    "one bar": market(1, 0, 1, 10),
}


def cases() -> Iterator[tuple[str, dict, str]]:
    for name, variants in VARIANTS.items():
        for params in variants:
            for kind in BATTERY:
                yield name, params, kind


def assert_same(ours: Scene, theirs: Scene) -> None:
    assert [plot.kind for plot in ours.plots] == [plot.kind for plot in theirs.plots]
    for mine, other in zip(ours.plots, theirs.plots, strict=True):
        assert_same_plot(mine, other)
    assert [(s.bar, s.confirmed_bar, s.name) for s in ours.signals] == [
        (s.bar, s.confirmed_bar, s.name) for s in theirs.signals
    ]
    assert np.allclose(
        [s.value for s in ours.signals], [s.value for s in theirs.signals], rtol=0, atol=NEAR
    )
    assert (ours.y_range, ours.label) == (theirs.y_range, theirs.label)
    for channel in ("labels", "lines", "boxes", "tables"):
        assert getattr(ours, channel) == getattr(theirs, channel)


def assert_same_plot(mine: Plot, other: Plot) -> None:
    assert type(mine) is type(other)
    if isinstance(mine, DotPlot) and isinstance(other, DotPlot):
        assert np.array_equal(mine.columns.x, other.columns.x)
        assert np.allclose(mine.columns.y, other.columns.y, rtol=0, atol=NEAR)
        assert np.array_equal(mine.columns.size, other.columns.size)
        assert mine.columns.label == other.columns.label
        assert mine.color == other.color
        return
    for each in fields(mine):
        a, b = getattr(mine, each.name), getattr(other, each.name)
        if isinstance(a, np.ndarray):
            assert a.shape == b.shape, each.name
            assert np.array_equal(np.isnan(a), np.isnan(b)), each.name
            assert np.allclose(a, b, rtol=0, atol=NEAR, equal_nan=True), each.name
        elif isinstance(a, float):
            assert abs(a - b) <= NEAR, each.name
        else:
            assert a == b, each.name


def compare(name: str, params: dict, bars: Bars) -> None:
    builtin = resolve(name)
    values = resolve_params(builtin.params, params, name)
    theirs = builtin.compute(bars, values)
    ours = script.execute(script.compile(refimpl.source(name)), bars, params).scene
    assert_same(ours, theirs)


@pytest.mark.parametrize(("name", "params", "kind"), list(cases()))
def test_the_script_draws_what_the_builtin_draws(name, params, kind):
    compare(name, params, BATTERY[kind])


@pytest.mark.parametrize("name", refimpl.NAMES)
def test_parity_holds_on_the_samples(name):
    for sample in ("sample:es-5m", "sample:eurusd-15m"):
        compare(name, {}, cp.load(sample).last(3000))


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", refimpl.NAMES)
def test_parity_holds_on_real_bars(name, shared):
    es = cp.load(shared / "data" / "ESZ13_1m_2013-10-06_2013-10-14.csv.gz")
    eurusd = cp.load(shared / "data" / "EURUSD_15m_mt5_2022-10_2023-10.csv.gz", tz="Europe/Athens")
    for bars in (es.last(5000), eurusd.last(5000)):
        compare(name, {}, bars)


@given(st.integers(0, 2**32), st.floats(-0.3, 0.3), st.floats(0.01, 3), st.integers(1, 200))
def test_parity_holds_on_any_market(seed, drift, noise, bars):
    found = market(bars, drift, noise, seed, hold=0.1, gap=0.05)
    for name in refimpl.NAMES:
        compare(name, {}, found)


def values_of(param: Param) -> st.SearchStrategy[Any]:
    """What a user could set the parameter to."""
    if param.options:
        return st.sampled_from(param.options)
    if param.type == "bool":
        return st.booleans()
    low = -100 if param.min is None else param.min
    high = low + 200 if param.max is None else min(param.max, low + 200)
    if param.type == "int":
        return st.integers(int(low), int(min(high, low + 60)))
    return st.floats(low, high).map(lambda x: round(x, 2))


@pytest.mark.parametrize("name", refimpl.NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_parity_holds_for_any_parameters(name, data):
    params = data.draw(
        st.fixed_dictionaries({}, optional={p.name: values_of(p) for p in resolve(name).params})
    )
    kind = data.draw(st.sampled_from(["gaps", "coarse ticks", "high volatility", "short"]))
    compare(name, params, BATTERY[kind])


def test_every_forkable_builtin_has_a_script_and_no_script_is_idle():
    there = {each.name.removesuffix(".star") for each in files(refimpl).iterdir()} - {
        "__init__.py",
        "__pycache__",
    }
    assert there == set(refimpl.NAMES) == set(VARIANTS)


@pytest.mark.parametrize("name", refimpl.NAMES)
def test_the_script_takes_the_parameters_of_the_builtin(name):
    verdict = script.check(refimpl.source(name))
    assert verdict.ok, verdict.errors
    builtin = resolve(name)
    assert list(verdict.params) == [param.to_json() for param in builtin.params]
    assert verdict.meta["title"] == builtin.title
    assert verdict.meta["category"] == builtin.category


def test_a_drifted_script_is_noticed():
    """The comparison itself can fail."""
    bars = BATTERY["trend up"]
    source = refimpl.source("wavetrend").replace("0.015", "0.0150001")
    ours = script.execute(script.compile(source), bars).scene
    with pytest.raises(AssertionError):
        assert_same(ours, resolve("wavetrend").compute(bars, {"ch_len": 9, "avg_len": 12}))
