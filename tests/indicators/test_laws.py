"""What holds for every builtin, on whatever bars, with whatever parameters."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.effort import EXHAUSTIVE

from chartpact import indicators
from chartpact.bars import Bars
from chartpact.indicators.signals import SIGNALS
from chartpact.params import IndicatorError, resolve
from chartpact.scene import BarsPlot, DivLinePlot, DotPlot, FillPlot, LinePlot, Scene

LOCAL = [each for each in indicators.table().values() if not each.looks_outside({})]
SERIES = {LinePlot: ("values",), BarsPlot: ("values",), FillPlot: ("a", "b")}


def walk(n, seed, start, step, tick, volume, minutes, symbol):
    """Random bars; with a step of 0 they are flat, with a low start they go below zero."""
    chance = np.random.default_rng(seed)

    def rounded(values):
        return np.round(values / tick) * tick

    close = rounded(start + step * np.cumsum(chance.normal(0, 1, n)))
    opens = np.concatenate((close[:1], close[:-1]))
    flat = chance.random(n) < 0.2
    above, below = (np.where(flat, 0.0, step * chance.random(n)) for _ in range(2))
    return Bars(
        1_709_500_000_000 // 60_000 * 60_000 + minutes * 60_000 * np.arange(n),
        opens,
        np.maximum(opens, close) + rounded(above),
        np.minimum(opens, close) - rounded(below),
        close,
        {"many": chance.lognormal(6, 1, n), "none": np.zeros(n)}.get(
            volume, np.where(chance.random(n) < 0.5, 0.0, np.ceil(50 * chance.random(n)))
        ),
        symbol,
        {1: "1m", 5: "5m", 60: "1h", 1440: "1D"}[minutes],
    )


markets = st.builds(
    walk,
    n=st.integers(0, 60) | st.integers(200, 320),
    seed=st.integers(0, 10_000),
    start=st.sampled_from([0.0, 1.0, 4500.0, -30.0]),
    step=st.sampled_from([0.0, 0.3, 5.0]),
    tick=st.sampled_from([0.01, 0.25]),
    volume=st.sampled_from(["many", "none", "some"]),
    minutes=st.sampled_from([1, 5, 60, 1440]),
    symbol=st.sampled_from(["ES", "EURUSD", "BTCUSDT"]),
)


def value_of(param):
    if param.options is not None:
        return st.sampled_from(param.options)
    if param.type == "bool":
        return st.booleans()
    if param.type == "int":
        low = int(param.min)
        return st.integers(low, max(low, min(low + 12, int(param.max or 12))))
    if param.type == "float":
        return st.floats(param.min, min(param.max, param.min + 100))
    return st.just(param.default)


def parameters_of(builtin):
    given = {p.name: st.just(p.default) | value_of(p) for p in builtin.params}
    return st.fixed_dictionaries(given)


every_builtin = pytest.mark.parametrize("builtin", LOCAL, ids=lambda each: each.name)
modest = settings(max_examples=20 if EXHAUSTIVE else 8, deadline=None)


def series_of(scene: Scene):
    for plot in scene.plots:
        for name in SERIES.get(type(plot), ()):
            yield plot, getattr(plot, name)


@every_builtin
@modest
@given(data=st.data())
def test_every_series_has_a_finite_value_or_nan_for_each_bar(builtin, data):
    bars = data.draw(markets)
    scene = builtin.compute(bars, data.draw(parameters_of(builtin)))
    for plot, values in series_of(scene):
        assert len(values) == len(bars)
        assert not np.isinf(values).any()
        if not isinstance(plot.color, str):
            assert len(plot.color) == len(bars)
    for plot in scene.plots:
        if isinstance(plot, DotPlot):
            assert ((plot.columns.x >= 0) & (plot.columns.x < len(bars))).all()
    assert Scene.from_json(scene.to_json()) == scene


@every_builtin
@modest
@given(data=st.data())
def test_values_are_missing_only_where_the_metadata_says(builtin, data):
    bars = data.draw(markets)
    params = data.draw(parameters_of(builtin))
    tracks = {track.title: track for track in builtin.tracks}
    for plot in builtin.compute(bars, params).plots:
        if not isinstance(plot, LinePlot | BarsPlot):
            continue
        track = tracks[plot.title]
        first = track.first_bar(params)
        missing = np.isnan(plot.values)
        assert missing[:first].all(), f"{plot.title} has a value before bar {first}"
        if not track.gaps:
            assert not missing[first:].any(), f"{plot.title} misses a value after bar {first}"


@every_builtin
@modest
@given(data=st.data())
def test_signals_are_labelled_dots_in_order_and_known_when_or_after_they_are_drawn(builtin, data):
    bars = data.draw(markets)
    scene = builtin.compute(bars, data.draw(parameters_of(builtin)))
    labelled = [
        (point.x, point.label, point.y)
        for plot in scene.plots
        if isinstance(plot, DotPlot)
        for point in plot.points
        if point.label is not None
    ]
    signals = list(scene.signals)
    assert sorted((s.bar, s.name, s.value) for s in signals) == sorted(labelled)
    assert [s.bar for s in signals] == sorted(s.bar for s in signals)
    assert all(s.bar <= s.confirmed_bar < len(bars) for s in signals)
    assert {s.name for s in signals} <= set(builtin.signals) <= set(SIGNALS)


def known_by(scene: Scene, bar: int):
    return [s for s in scene.signals if s.confirmed_bar <= bar]


@every_builtin
@modest
@given(data=st.data())
def test_the_past_is_not_rewritten_by_builtins_that_claim_it(builtin, data):
    bars = data.draw(markets)
    params = data.draw(parameters_of(builtin))
    k = data.draw(st.integers(0, len(bars)))
    stable = {track.title for track in builtin.tracks if track.prefix_stable}
    whole, part = builtin.compute(bars, params), builtin.compute(bars[:k], params)
    whole_lines = {p.title: p for p in whole.plots if isinstance(p, LinePlot | BarsPlot)}
    for plot in part.plots:
        if isinstance(plot, LinePlot | BarsPlot) and plot.title in stable:
            later = whole_lines[plot.title]
            np.testing.assert_array_equal(plot.values, later.values[:k])
            if not isinstance(plot.color, str):
                assert plot.color == later.color[:k]
    if builtin.prefix_stable:
        assert known_by(part, k - 1) == known_by(whole, k - 1)
        assert list(part.signals) == known_by(whole, k - 1)
        lines = [p for p in part.plots if isinstance(p, DivLinePlot)]
        assert lines == [p for p in whole.plots if isinstance(p, DivLinePlot)][: len(lines)]


@in_one_test("builtin", LOCAL, ids=lambda each: each.name)
@in_one_test("n", [0, 1, 2, 5])
def test_a_few_bars_are_enough(builtin, n):
    bars = walk(n, 1, 100.0, 1.0, 0.25, "many", 5, "ES")
    scene = builtin.compute(bars, resolve(builtin.params, {}, builtin.name))
    assert isinstance(scene, Scene)
    assert all(len(values) == n for _, values in series_of(scene))


@in_one_test("builtin", LOCAL, ids=lambda each: each.name)
def test_extreme_prices_make_no_infinity(builtin):
    far = np.array([1e150, -1e150, 5e-324, 0.0, 1e-150, -3e149] * 50)
    bars = Bars(60_000 * np.arange(300), far, far, far, far, np.full(300, 1e300), "X", "1m")
    scene = builtin.compute(bars, resolve(builtin.params, {}, builtin.name))
    assert all(not np.isinf(values).any() for _, values in series_of(scene))


@in_one_test("builtin", [each for each in LOCAL if each.needs_volume], ids=lambda each: each.name)
def test_who_needs_volume_says_so_when_there_is_none(builtin):
    bars = walk(30, 1, 100.0, 1.0, 0.25, "many", 5, "ES")
    unknown = replace(bars, volume=np.full(30, np.nan))
    with pytest.raises(IndicatorError, match=f"{builtin.name} needs volume") as raised:
        builtin.compute(unknown, resolve(builtin.params, {}, builtin.name))
    assert raised.value.kind == "unavailable"


@in_one_test(
    "builtin", [each for each in LOCAL if not each.needs_volume], ids=lambda each: each.name
)
def test_who_needs_no_volume_draws_the_same_without_it(builtin):
    bars = walk(300, 1, 100.0, 1.0, 0.25, "many", 5, "ES")
    params = resolve(builtin.params, {}, builtin.name)
    unknown = replace(bars, volume=np.full(300, np.nan))
    assert builtin.compute(unknown, params) == builtin.compute(bars, params)


@in_one_test("builtin", [each for each in LOCAL if each.needs_volume], ids=lambda each: each.name)
def test_a_bar_without_volume_among_others_is_no_harm(builtin):
    bars = walk(300, 1, 100.0, 1.0, 0.25, "many", 5, "ES")
    volume = bars.volume.copy()
    volume[[0, 7, 150]] = np.nan
    scene = builtin.compute(replace(bars, volume=volume), resolve(builtin.params, {}, builtin.name))
    assert scene.plots


def test_every_signal_of_the_registry_is_described_and_given_or_reserved():
    given = {name for each in indicators.table().values() for name in each.signals}
    reserved = {name for name, meaning in SIGNALS.items() if "(reserved)" in meaning}
    assert given | reserved == set(SIGNALS)
    assert not given & reserved
