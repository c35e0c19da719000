"""The one door: whoever wants an indicator asks for it by name, as a user."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

import chartpact as cp
from chartpact import indicators
from chartpact.indicators import IndicatorError, builtins, list_indicators, provide, resolve
from chartpact.scene import Scene

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
    "ema": "ema_stack", "bollinger": "bbands", "parabolic_sar": "sar", "ha": "heikin_ashi",
    "pivot_points": "pivot", "vp": "volume_profile", "vpvr": "volume_profile", "svp": "session_vp",
    "session_volume_profile": "session_vp", "vp_nodes": "hvn_lvn", "volume_nodes": "hvn_lvn",
    "npoc": "naked_poc", "market_profile": "tpo", "stochastic": "stoch", "willr": "williams_r",
    "ad_line": "ad", "hv": "histvol", "kalman": "kalman_volume", "kvf": "kalman_volume",
    "rsi_combo": "rsi_mfi_stoch", "combo": "rsi_mfi_stoch", "funding_rate": "funding",
    "open_interest": "oi", "ls_ratio": "long_short", "fng": "fear_greed",
}  # fmt: skip


@pytest.mark.parametrize("name", [None, 7, ["rsi"], "", "x" * 5000])
def test_what_is_no_name_is_refused_like_an_unknown_one(name):
    with pytest.raises(IndicatorError) as raised:
        resolve(name)
    assert raised.value.kind == "name"
    assert len(str(raised.value)) < 200


def test_all_38_builtins_are_there_by_category():
    found = {each.name: each.category for each in list_indicators() if each.source == "builtin"}
    wanted = {name: "overlay" for name in OVERLAYS} | {name: "panel" for name in PANELS}
    assert found == wanted | {name: "external" for name in EXTERNAL}
    assert len(found) == 38


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_aliases_lead_to_their_builtin(alias, name):
    assert resolve(alias) is resolve(name)


def test_no_name_or_alias_is_taken_twice():
    names = [n for each in builtins.table().values() for n in (each.name, *each.aliases)]
    assert sorted(names) == sorted(set(names))
    assert set(names) == {*OVERLAYS, *PANELS, *EXTERNAL, *ALIASES}


@pytest.mark.parametrize("builtin", builtins.table().values(), ids=lambda each: each.name)
def test_every_builtin_says_in_one_line_what_it_shows(builtin):
    assert re.fullmatch(r"[A-Z][^\n]{15,110}\.", builtin.description)
    assert builtin.title


def test_an_unknown_name_tells_near_ones():
    with pytest.raises(IndicatorError) as raised:
        resolve("suprtrend")
    assert raised.value.kind == "name"
    assert raised.value.hint.startswith("did you mean supertrend")
    with pytest.raises(IndicatorError, match="did you mean rsi"):
        resolve("RSI")
    with pytest.raises(IndicatorError, match="chartpact indicators"):
        resolve("zzzzzzzz")


class Alices:
    """A provider with a script of alice's that is called as a builtin is."""

    own = replace(resolve("rsi"), title="My RSI", source="user", draw=lambda *_, **__: Scene())

    def find(self, name, user):
        return self.own if (name, user) == ("rsi", "alice") else None

    def list(self, user):
        return [self.own] if user == "alice" else []


@pytest.fixture
def _alices(monkeypatch):
    monkeypatch.setattr(indicators, "_providers", list(indicators._providers))
    provide(Alices())


@pytest.mark.usefixtures("_alices")
def test_a_users_script_shadows_a_builtin_for_that_user_alone():
    assert resolve("rsi", "alice").title == "My RSI"
    assert resolve("rsi", "bob").title == resolve("rsi").title == "Relative Strength Index"
    listed = {user: {e.name: e.source for e in list_indicators(user)} for user in ("alice", "bob")}
    assert listed["alice"]["rsi"] == "user"
    assert listed["bob"]["rsi"] == "builtin"
    assert len(listed["alice"]) == len(listed["bob"])


@pytest.mark.usefixtures("_alices")
def test_an_alias_of_a_shadowed_builtin_finds_what_shadows_it(monkeypatch):
    monkeypatch.setattr(Alices, "own", replace(Alices.own, name="stoch"))
    monkeypatch.setattr(
        Alices, "find", lambda self, *asked: self.own if asked == ("stoch", "alice") else None
    )
    assert resolve("stochastic", "alice").title == resolve("stoch", "alice").title == "My RSI"
    assert resolve("stochastic", "bob").title == resolve("stoch").title != "My RSI"


@pytest.mark.usefixtures("_alices")
def test_a_chart_sees_what_its_user_sees():
    bars = cp.load("sample:es-5m")
    assert cp.chart(bars, ["rsi"], user="alice").drawn[0].scene == Scene()
    assert cp.chart(bars, ["rsi"], user="bob").drawn[0].scene.plots


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


def test_the_table_of_builtins_is_looked_into_through_the_door_alone():
    """Only the door, the tests, the benchmarks and the reference pages know the table."""
    source = Path(indicators.__file__).parents[1]
    knowing = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(
            r"indicators import .*builtins|indicators\.builtins|builtins\.table", path.read_text()
        )
    ]
    assert knowing == ["indicators/__init__.py"]
