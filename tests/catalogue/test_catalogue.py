"""What a user can ask for: every builtin by name and alias, and their own scripts before them."""

import pickle
import re
from collections import Counter
from dataclasses import replace

import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact import catalogue, indicators, request
from chartpact.catalogue import Catalogue, ScriptIndicator, list_indicators
from chartpact.indicators import builtin
from chartpact.params import IndicatorError, Param
from chartpact.problem import Problem
from chartpact.scene import Scene

resolve = Catalogue().resolve

OVERLAYS = (
    "ema_stack bbands keltner donchian vwap vwap_bands supertrend sar ichimoku heikin_ashi pivot "
    "volume_profile session_vp hvn_lvn naked_poc tpo"
).split()
PANELS = (
    "cipher_b macd rsi wavetrend stoch atr obv cci roc mfi williams_r cmf adx ad histvol "
    "kalman_volume rsi_mfi_stoch"
).split()
EXTERNAL = "cvd funding oi long_short fear_greed".split()
ALIASES = {
    "bollinger": "bbands", "parabolic_sar": "sar", "ha": "heikin_ashi",
    "pivot_points": "pivot", "vp": "volume_profile", "vpvr": "volume_profile", "svp": "session_vp",
    "session_volume_profile": "session_vp", "vp_nodes": "hvn_lvn", "volume_nodes": "hvn_lvn",
    "npoc": "naked_poc", "market_profile": "tpo", "stochastic": "stoch", "willr": "williams_r",
    "ad_line": "ad", "hv": "histvol", "kalman": "kalman_volume", "kvf": "kalman_volume",
    "rsi_combo": "rsi_mfi_stoch", "combo": "rsi_mfi_stoch", "funding_rate": "funding",
    "open_interest": "oi", "ls_ratio": "long_short", "fng": "fear_greed",
}  # fmt: skip
ALONE = set(  # nothing but a script each
    "sma ema wma rma hma vwma alma stoch_rsi aroon trix dpo awesome chaikin_oscillator squeeze "
    "ut_bot chandelier linreg_channel zigzag market_structure sessions".split()
)


@in_one_test("name", [None, 7, ["rsi"], "", "x" * 5000])
def test_what_is_no_name_is_refused_like_an_unknown_one(name):
    with pytest.raises(IndicatorError) as raised:
        resolve(name)
    assert raised.value.kind == "name"
    assert len(str(raised.value)) < 200


def test_all_58_builtins_are_there_by_category():
    found = {each.name: each.category for each in list_indicators() if each.source == "builtin"}
    wanted = {name: "overlay" for name in OVERLAYS} | {name: "panel" for name in PANELS}
    wanted |= {name: "external" for name in EXTERNAL}
    assert {name: found[name] for name in wanted} == wanted
    assert found.keys() == wanted.keys() | ALONE
    assert len(found) == 58


def test_no_builtin_bears_a_pacts_title():
    titles = {each.title for each in list_indicators() if each.source == "pact"}
    assert titles
    assert not titles & {each.title for each in list_indicators() if each.source == "builtin"}


@in_one_test(("asked", "id"), [
    ("RSI", "rsi"), ("Bollinger:20", "bbands"), ("rsi:7", "rsi:period=7"),
    ("AO:3", "awesome:fast=3"), ("sma:50,source=hl2", "sma:period=50,source=hl2"),
    ('vwap:"week"', "vwap:anchor=week"),
])  # fmt: skip
def test_case_does_not_matter_and_a_value_alone_is_the_first_parameters(asked, id):
    (plan,) = Catalogue().plan(asked)
    assert (plan.id, plan.problem) == (id, None)


@in_one_test(("asked", "said"), [
    ("obv:7", "obv takes no parameters, and '7' is given"),
    ("rsi:7,period=8", "rsi: 'period' is given twice, once without its name"),
    ("rsi:7,length=8", "rsi: 'period' is given twice, once without its name"),
    ("rsi:length", "rsi: 'length' is given without a value"),
    ("rsi:seven", "rsi: period='seven' is not a whole number"),
    ("ema:fast=8", "ema has no parameter 'fast'"),
])  # fmt: skip
def test_a_value_alone_that_cannot_be_meant_is_refused(asked, said):
    (plan,) = Catalogue().plan(asked)
    assert plan.problem.message == said


def test_the_average_that_was_the_stack_names_the_stack():
    (plan,) = Catalogue().plan("ema:lengths=9")
    assert "ema_stack" in plan.problem.hint


@in_one_test(("alias", "name"), ALIASES.items())
def test_aliases_lead_to_their_builtin(alias, name):
    assert resolve(alias) is resolve(name)


def test_no_name_or_alias_is_taken_twice():
    names = [n for each in indicators.table().values() for n in (each.name, *each.aliases)]
    assert set(names) == {*OVERLAYS, *PANELS, *EXTERNAL, *ALIASES}
    names = [n for each in list_indicators() for n in (each.name, *each.aliases)]
    assert sorted(names) == sorted(set(names))


@in_one_test("builtin", list_indicators(), ids=lambda each: each.name)
def test_every_builtin_says_in_one_line_what_it_shows(builtin):
    assert re.fullmatch(r"[A-Z][^\n]{15,110}\.", builtin.description)
    assert builtin.title


def test_an_unknown_name_tells_near_ones():
    with pytest.raises(IndicatorError) as raised:
        resolve("suprtrend")
    assert raised.value.kind == "name"
    assert raised.value.hint.startswith("did you mean 'supertrend'")
    with pytest.raises(IndicatorError, match="list_indicators"):
        resolve("zzzzzzzz")


# A script of alice's that is called as a builtin is.
OWN = replace(resolve("rsi"), title="My RSI", source="user", function=lambda *_, **__: Scene())
ALICES = Catalogue({"rsi": OWN})


def test_a_name_like_no_other_tells_every_door_where_the_names_are():
    with pytest.raises(IndicatorError) as raised:
        Catalogue().resolve("q" * 9)
    assert raised.value.hint == "chartpact.list_indicators() lists them"


def test_a_users_script_shadows_a_builtin_for_that_user_alone():
    assert ALICES.resolve("rsi").title == "My RSI"
    assert Catalogue().resolve("rsi").title == "Relative Strength Index"
    sources = {indicator.name: indicator.source for indicator in ALICES.list()}
    assert sources["rsi"] == "user"
    assert sources.keys() == {indicator.name for indicator in list_indicators()}


def test_an_alias_of_a_shadowed_builtin_finds_what_shadows_it():
    alices = Catalogue({"stoch": replace(OWN, name="stoch")})
    assert alices.resolve("stochastic").title == alices.resolve("stoch").title == "My RSI"
    assert resolve("stochastic").title == resolve("stoch").title != "My RSI"


def test_a_chart_sees_what_its_user_sees():
    bars = cp.load("sample:es-5m")
    assert cp.chart(bars, ["rsi"], catalogue=ALICES).drawn[0].scene == Scene()
    assert cp.chart(bars, ["rsi"]).drawn[0].scene.plots


def test_a_barred_script_says_why_and_no_builtin_is_drawn_in_its_place():
    why = Problem("forbidden", "scripts are switched off")
    barred = Catalogue(barred={"stoch": why})
    for name in ("stoch", "stochastic"):
        (plan,) = barred.plan(name)
        assert (plan.indicator, plan.problem) == (None, why)
    assert barred.plan("rsi")[0].problem is None


def test_an_unknown_name_may_have_meant_a_script_that_is_not_at_hand():
    with pytest.raises(IndicatorError, match="did you mean 'my_waves'"):
        Catalogue(others=("my_waves",)).resolve("my_wave")


def test_a_plan_is_the_same_in_another_process():
    script = ScriptIndicator("mine", "code", (Param("n", "int", 3),), {"title": "Mine"}, user="ann")
    plans = Catalogue({"mine": script}).plan(["mine:n=5", "stochastic:period=7", "funding", "no"])
    assert pickle.loads(pickle.dumps(plans)) == plans
    assert [plan.id for plan in plans] == ["mine:n=5", "stoch:period=7", "funding", "no"]


def test_a_request_is_parsed_once_and_its_parameters_are_resolved_once(monkeypatch):
    counts = Counter()

    def count(module, name):
        original = getattr(module, name)

        def counted(*args):
            counts[name] += 1
            return original(*args)

        monkeypatch.setattr(module, name, counted)

    count(request, "_parse_text")
    count(catalogue, "resolve_params")
    monkeypatch.setattr(builtin, "resolve", None)
    assert cp.chart(cp.load("sample:es-5m"), ["rsi:period=7"]).drawn[0].scene.plots
    assert counts == {"_parse_text": 1, "resolve_params": 1}


def test_an_indicator_is_a_function_from_bars_to_a_scene():
    bars = cp.load("sample:es-5m")
    scene = cp.indicator("rsi", length=7)(bars)
    assert scene == resolve("rsi").compute(bars, {"period": 7})
    with pytest.raises(IndicatorError, match="has no parameter 'n'"):
        cp.indicator("rsi", n=7)


def test_computing_fills_in_and_checks_the_parameters_itself():
    bars = cp.load("sample:es-5m")
    rsi = resolve("rsi")
    assert rsi.compute(bars, {}) == rsi.compute(bars, {"period": 14})
    assert rsi.compute(bars, {"length": "7"}) == rsi.compute(bars, {"period": 7})
    with pytest.raises(IndicatorError, match="out of range"):
        rsi.compute(bars, {"period": 0})
