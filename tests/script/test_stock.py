"""Every forkable builtin has a script that draws the same, to the last dot."""

from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import EXHAUSTIVE
from tests.script.battery import BATTERY, TEXTS, TOGETHER, Case, cases, market
from tests.script.brinks import BRINKS, EQUAL, Brink
from tests.script.mutants import Mutant, mutants
from tests.script.parity import assert_same
from tests.script.watch import (
    EQUIVALENT,
    Watch,
    assert_same_drawing,
    assert_same_face,
    why_equivalent,
)

import chartpact as cp
from chartpact import indicators, script
from chartpact.bars import Bars
from chartpact.catalogue import BUILTIN, Catalogue, ScriptIndicator
from chartpact.params import Param
from chartpact.scene import BarsPlot, LinePlot, Scene
from chartpact.script import stock
from chartpact.script.dry_run import validate

load = cache(cp.load)


@cache
def program(name: str) -> script.Program:
    return script.load(stock.source(name))


def compare(name: str, bars: Bars, params: dict[str, Any] | None = None) -> None:
    assert_same_drawing(program(name), Case(name, "", bars, params or {}))


@pytest.mark.parametrize("name", stock.NAMES)
def test_the_script_draws_what_the_builtin_draws(name):
    for case in cases(name):
        try:
            assert_same_drawing(program(name), case)
        except AssertionError as error:
            error.add_note(case.title)
            raise


@pytest.mark.parametrize("name", stock.NAMES)
def test_parity_holds_at_every_length_until_all_is_warm(name):
    bars = BATTERY["gaps"]
    for length in range(80) if EXHAUSTIVE else (*range(12), *range(12, 80, 5)):
        compare(name, bars[:length])


@pytest.mark.parametrize("name", stock.NAMES)
def test_parity_holds_on_the_samples(name):
    for sample in ("sample:es-5m", "sample:eurusd-15m"):
        compare(name, load(sample).last(3000))


@pytest.mark.parametrize("name", [name for name in stock.NAMES if indicators.table()[name].of_view])
def test_a_fork_takes_the_bars_in_view_where_the_builtin_does(name):
    builtin, bars = indicators.table()[name], BATTERY["gaps"]
    values = {param.name: param.default for param in builtin.params}
    parts = program(name)
    fork = ScriptIndicator(name, parts.source, parts.params, parts.meta, BUILTIN)
    in_view = fork.run(bars, values, {}, 300).scene
    assert_same(in_view, builtin.draw(bars, values, {}, 300))
    assert in_view != fork.run(bars, values, {}).scene


@pytest.mark.needs_shared
@pytest.mark.parametrize("name", stock.NAMES)
def test_parity_holds_on_real_bars(name, shared):
    es = load(shared / "data" / "ESZ13_1m_2013-10-06_2013-10-14.csv.gz")
    eurusd = load(shared / "data" / "EURUSD_15m_mt5_2022-10_2023-10.csv.gz", tz="Europe/Athens")
    for bars in (es.last(5000), eurusd.last(5000)):
        compare(name, bars)


@settings(max_examples=3)
@given(st.integers(0, 2**32), st.floats(-0.3, 0.3), st.floats(0.01, 3), st.integers(1, 200))
@pytest.mark.parametrize("name", stock.NAMES)
def test_parity_holds_on_any_market(name, seed, drift, noise, bars):
    compare(name, market(bars, drift, noise, seed, hold=0.1, gap=0.05))


def values_of(param: Param) -> st.SearchStrategy[Any]:
    """What a user could set the parameter to."""
    if param.options:
        return st.sampled_from(param.options)
    if param.type == "bool":
        return st.booleans()
    if param.type in TEXTS:
        return st.sampled_from(TEXTS[param.type])
    low = -100 if param.min is None else param.min
    high = low + 200 if param.max is None else min(param.max, low + 200)
    if param.type == "int":
        return st.integers(int(low), int(min(high, low + 60)))
    return st.floats(low, high).map(lambda x: round(x, 2))


@pytest.mark.parametrize("name", stock.NAMES)
@settings(max_examples=10)
@given(data=st.data())
def test_parity_holds_for_any_parameters(name, data):
    params = data.draw(
        st.fixed_dictionaries(
            {}, optional={p.name: values_of(p) for p in Catalogue().resolve(name).params}
        )
    )
    kind = data.draw(st.sampled_from(["gaps", "coarse ticks", "high volatility", "short"]))
    compare(name, BATTERY[kind], params)


def test_every_builtin_that_draws_the_bars_has_a_script_and_no_script_is_idle():
    there = {each.name.removesuffix(".star") for each in files(stock).iterdir()} - {
        "__init__.py",
        "__pycache__",
    }
    assert there == {*stock.NAMES, *stock.ALONE}
    assert {*TOGETHER, *EQUIVALENT} <= set(stock.NAMES)
    local = {name for name, each in indicators.table().items() if not each.looks_outside({})}
    assert set(stock.NAMES) == local


@pytest.mark.parametrize("name", stock.NAMES)
def test_the_script_takes_the_parameters_of_the_builtin(name):
    verdict = validate(stock.source(name))
    assert (verdict.errors, verdict.warnings) == ((), ())
    assert_same_face(program(name), name)


# --------------------------------------------------------------------- what the battery can notice


def drawn_by(brink: Brink, scene: Scene) -> list[Any]:
    """What hangs on a brink: its signals, or the colours of its plot and where that is 0."""
    for plot in scene.plots:
        if isinstance(plot, BarsPlot | LinePlot) and plot.title == brink.hangs:
            return [*plot.color, *np.flatnonzero(plot.values == 0)]
    return [(each.bar, each.confirmed_bar) for each in scene.signals if each.name == brink.hangs]


@pytest.mark.parametrize("brink", BRINKS, ids=lambda brink: f"{brink.indicator}-{brink.title}")
def test_on_a_brink_a_hair_decides_what_is_drawn(brink):
    builtin = Catalogue().resolve(brink.indicator)
    sides = brink.sides
    below, tie, above = (brink.weigh(bars) for bars in sides)
    assert below < -EQUAL <= tie <= EQUAL < above
    assert above - below < 3 * EQUAL
    low, _, high = (drawn_by(brink, builtin.compute(bars, brink.params)) for bars in sides)
    assert low != high


@pytest.mark.parametrize("name", stock.NAMES)
def test_the_battery_reaches_every_signal_and_its_absence(name):
    scenes = [case.wanted for case in cases(name) if case.wanted is not None]
    for signal in Catalogue().resolve(name).signals:
        drawn = [any(each.name == signal for each in scene.signals) for scene in scenes]
        assert True in drawn, signal
        assert False in drawn, signal


def spread(items: list[Mutant], number: int) -> list[Mutant]:
    return items[:: -(-len(items) // number) or 1]


@pytest.mark.parametrize("name", stock.NAMES)
@pytest.mark.slow
def test_the_battery_notices_small_changes_of_a_script(name):
    """A sample, half of which only a tie can tell; `make mutants` tries them all."""
    changes = mutants(stock.source(name))
    sharp = [change for change in changes if change.is_sharp]
    number = min(14 if EXHAUSTIVE else 3, len(changes) // 20)
    tried = [*spread(changes, number), *spread(sharp, number)]
    left = [change.change for change in Watch(name).unnoticed(tried)]
    assert [change for change in left if why_equivalent(name, change) is None] == []
    assert len(left) < len(tried) / 2


def test_a_change_that_is_no_change_is_not_noticed():
    source = stock.source("wavetrend")
    watch = Watch("wavetrend")
    assert not watch.notices(source)
    assert not watch.notices(source.replace("wt1", "fast"))
    assert watch.notices(source.replace("0.015", "0.0150001"))
