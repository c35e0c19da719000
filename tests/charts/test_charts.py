"""A chart holds what every indicator drew, or why it could not."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact.bars import Bars
from chartpact.catalogue import Catalogue, ScriptIndicator
from chartpact.charts import Chart
from chartpact.indicators import by_any_name
from chartpact.needs import Readings
from chartpact.params import IndicatorError
from chartpact.problem import Problem
from chartpact.render.options import PICTURE_BARS
from chartpact.scene import CandlesPlot, Drawn, Mark, Polyline, Scene, ShapePlot, Signals, Vertex
from chartpact.summary import MOST_NAMES


@pytest.fixture(scope="module")
def bars():
    return cp.load("sample:es-5m")


def test_instances_of_one_indicator_live_side_by_side(bars):
    asked = ["rsi:period=7", {"name": "rsi", "period": 21}, "rsi", "rsi:length=14", "rsi:period=7"]
    drawn = cp.chart(bars, asked).drawn
    assert [each.id for each in drawn] == [
        "rsi:period=7", "rsi:period=21", "rsi", "rsi#2", "rsi:period=7#2",
    ]  # fmt: skip
    assert [each.params["period"] for each in drawn] == [7, 21, 14, 14, 7]
    assert drawn[0].scene != drawn[1].scene


def test_a_broken_one_stands_beside_the_good_ones(bars):
    drawn = cp.chart(bars, ["ris", "stochastic:period=0", "rsi", "rsi:", {"x": 1}]).drawn
    assert [each.error.kind if each.error else None for each in drawn] == [
        "name", "value", None, "syntax", "syntax",
    ]  # fmt: skip
    assert [each.id for each in drawn[:3]] == ["ris", "stoch:period=0", "rsi"]
    data = [each.to_json() for each in drawn]
    assert data[1]["name"] == "stoch"
    assert data[1]["params"] == {"period": "0"}
    assert {"kind", "message", "hint"} <= set(data[1]["error"])
    assert "scene" not in data[1]
    assert "error" not in data[2]


def test_one_that_cannot_say_what_it_needs_fails_alone(bars, monkeypatch):
    def refuse(*_):
        raise IndicatorError(Problem("value", "nobody knows", ""))

    monkeypatch.setattr(type(by_any_name()["funding"]), "needs", refuse)
    drawn = cp.chart(bars, ["funding", "rsi"]).drawn
    assert [each.error and each.error.message for each in drawn] == ["nobody knows", None]


def test_no_two_of_a_chart_have_the_same_id(bars):
    drawn = cp.chart(bars, ["rsi#2", "rsi", "rsi", "rsi#2", "rsi"], last=3).drawn
    assert [each.id for each in drawn] == ["rsi#2", "rsi", "rsi#3", "rsi#2#2", "rsi#4"]


@pytest.mark.parametrize("asked", ["rsi:period=7", {"name": "rsi", "period": 7}])
def test_one_indicator_may_be_asked_for_without_a_list(bars, asked):
    assert [each.id for each in cp.chart(bars, asked, last=3).drawn] == ["rsi:period=7"]


def test_a_broken_one_has_a_canonical_id_too(bars):
    silent = replace(bars, volume=np.full(len(bars), np.nan))
    asked = [
        "mfi:length=7", "mfi:period=7", "mfi:period=14", "vp:split_up_down=no,bins=12", "svp",
        "bollinger:length=0", "rsi:length=7,period=8", {"name": "rsi", "length": float("nan")},
    ]  # fmt: skip
    drawn = cp.chart(silent, asked).drawn
    assert all(each.error for each in drawn)
    assert [each.id for each in drawn] == [
        "mfi:period=7", "mfi:period=7#2", "mfi", "volume_profile:bins=12", "session_vp",
        "bbands:period=0", "rsi:length=7,period=8", "rsi:period=nan",
    ]  # fmt: skip
    assert drawn[0].params == {"period": 7}
    json.dumps([each.to_json() for each in drawn], allow_nan=False)


def test_it_is_computed_on_all_bars_and_cut_to_the_last(bars):
    whole, cut = (cp.chart(bars, ["rsi", "cipher_b"], last=n) for n in (None, 50))
    assert len(cut.bars) == 50
    np.testing.assert_array_equal(
        cut.drawn[0].scene.plots[0].values, whole.drawn[0].scene.plots[0].values[-50:]
    )
    first = len(bars) - 50
    kept = [s for s in whole.drawn[1].scene.signals if s.bar >= first]
    assert [s.bar + first for s in cut.drawn[1].scene.signals] == [s.bar for s in kept]


def test_a_script_knows_the_first_bar_in_view(bars):
    source = (
        'PARAMS = []\nMETA = {"title": "View"}\ndef compute(ohlcv, params, chart):\n'
        '    chart.line(ohlcv.close, title="close")\n'
        "    chart.new_label(ohlcv.first_visible, 1.0, str(ohlcv.first_visible))\n"
    )
    mine = ScriptIndicator("view", source, (), {"title": "View"})
    catalogue = Catalogue({"view": mine})
    for last, first in ((5, len(bars) - 5), (None, 0)):
        [drawn] = cp.chart(bars, ["view"], catalogue, last=last).drawn
        assert drawn.error is None
        [label] = drawn.scene.labels
        assert (label.text, label.x.bar) == (str(first), 0)


@pytest.mark.parametrize("name", ["volume_profile", "tpo", "hvn_lvn"])
def test_a_profile_of_the_visible_range_is_that_of_the_bars_in_view(bars, name):
    def scene(asked, **how):
        [drawn] = cp.chart(bars, asked, **how).drawn
        return drawn.scene

    in_view = cp.indicator(name)(bars.last(80))
    assert in_view != cp.indicator(name)(bars)
    assert scene(name, last=80) == in_view
    assert scene(name) == scene(f"{name}:range_bars=0", last=80) == cp.indicator(name)(bars)
    assert scene(f"{name}:range_bars=50", last=80) == cp.indicator(name)(bars.last(50))


def test_a_picture_shows_200_bars_unless_more_or_fewer_are_asked_for(bars):
    whole = cp.chart(bars, ["rsi", "volume_profile"])
    assert len(whole.to_json()["time"]) == len(bars) > PICTURE_BARS == 200
    pictures = {n: cp.chart(bars, ["rsi", "volume_profile"], last=n).svg() for n in (50, 200, 400)}
    assert whole.svg() == pictures[200]  # the profile too is that of the bars in view
    assert whole.svg(bars=50) == pictures[50]
    assert whole.svg(bars=400) == pictures[400]
    assert len(set(pictures.values())) == 3
    assert len(whole.view(10**9).bars) == len(bars)
    assert cp.chart(bars, ["rsi"], last=400).view().bars == bars.last(400)


def test_a_picture_fetches_nothing_that_the_chart_has_fetched(bars):
    needed = []

    def fetch(need):
        needed.append(need)
        return Readings(bars.time, {"value": np.full(len(bars), 50.0)})

    coin = replace(bars, symbol="BTCUSDT")
    cp.chart(coin, ["fear_greed", "volume_profile"], fetch=fetch).svg()
    assert len(needed) == 1


def test_more_bars_than_there_are_is_all_of_them(bars):
    assert len(cp.chart(bars, last=10**9).bars) == len(bars)


def test_its_json_has_the_times_and_every_scene(bars):
    data = json.loads(json.dumps(cp.chart(bars, ["rsi"], last=5).to_json(), allow_nan=False))
    assert (data["symbol"], data["timeframe"], data["synthetic"]) == ("ES", "5m", True)
    assert data["time"] == bars.time[-5:].tolist()
    (one,) = data["indicators"]
    assert set(one) == {"id", "name", "params", "scene"}
    assert one["params"] == {"period": 14}
    line = one["scene"]["plots"][0]
    assert (line["kind"], line["title"], len(line["values"])) == ("line", "RSI", 5)
    assert Scene.from_json(one["scene"]).to_json() == one["scene"]


def test_without_the_series_it_tells_the_last_values_levels_and_signals(bars):
    asked = ["supertrend", "volume_profile", "ris"]
    data = json.loads(json.dumps(cp.chart(bars, asked).to_json(series=False), allow_nan=False))
    assert "time" not in data
    assert (data["bars"], data["last"]["close"]) == (len(bars), bars.close[-1])
    trend, profile, unknown = data["indicators"]
    assert set(trend["last"]) == {"Up Trend", "Down Trend"}
    assert sum(value is None for value in trend["last"].values()) == 1
    keys = {"bar", "confirmed_bar", "time", "value", "name"}
    assert {frozenset(signal) for signal in trend["signals"]} == {frozenset(keys)}
    assert [level["title"] for level in profile["levels"]] == ["POC", "VAH", "VAL"]
    assert unknown["error"]["kind"] == "name"


def test_of_each_signal_the_latest_three_are_told_with_their_times_and_all_are_counted(bars):
    chart = cp.chart(bars, ["cipher_b"], last=2_000)
    (cipher,) = chart.to_json(series=False)["indicators"]
    drawn = [(s.name, s.bar, s.confirmed_bar) for s in chart.drawn[0].scene.signals]
    for name, count in cipher["signal_counts"].items():
        signals = [s for s in cipher["signals"] if s["name"] == name]
        of_name = [signal for signal in drawn if signal[0] == name]
        assert [(name, s["bar"], s["confirmed_bar"]) for s in signals] == of_name[-3:]
        assert count == len(of_name)
        assert [s["time"] for s in signals] == [int(bars.time[-2_000 + s["bar"]]) for s in signals]
    assert {name for name, _, _ in drawn} == set(cipher["signal_counts"])
    assert len(drawn) > 500


def test_a_signal_that_is_drawn_before_the_view_and_known_in_it_has_its_time(bars):
    (cipher,) = cp.chart(bars, ["cipher_b"], last=17).to_json(series=False)["indicators"]
    earlier = [signal for signal in cipher["signals"] if signal["bar"] < 0]
    assert earlier
    assert all(signal["confirmed_bar"] >= 0 for signal in earlier)
    assert all(s["time"] == int(bars.time[-17 + s["bar"]]) for s in earlier)


def test_a_script_with_a_signal_of_another_name_on_every_bar_is_told_in_short(bars):
    at = np.arange(len(bars))
    names = [f"kind {k}" for k in at]
    signals = Signals(bar=at, confirmed_bar=at, value=np.ones(len(at)), name=names)
    chart = Chart(bars, (Drawn("many", "many", scene=Scene(signals=signals)),))
    (many,) = chart.to_json(series=False)["indicators"]
    assert [signal["name"] for signal in many["signals"]] == names[-MOST_NAMES:]
    assert len(many["signal_counts"]) == MOST_NAMES
    assert f"  signals of {len(bars) - MOST_NAMES} more names" in chart.summary().splitlines()


def test_it_failed_when_something_was_asked_for_and_nothing_drew(bars):
    assert not cp.chart(bars).failed
    assert not cp.chart(bars, ["ris", "rsi"]).failed
    assert cp.chart(bars, ["ris"]).failed


def test_the_summary_reads_like_a_page_of_notes(bars):
    asked = ["rsi:period=7", "cipher_b", "volume_profile", "ris"]
    chart = cp.chart(bars, asked, last=200)
    lines = chart.summary().splitlines()
    assert lines[0].startswith("ES 5m (synthetic sample data): 200 bars, 2024-03-15T")
    assert lines[1].startswith("last bar: open ")
    assert lines[2].startswith("trend: ")
    assert "rsi:period=7: Relative Strength Index" in lines
    value = chart.drawn[0].scene.plots[0].values[-1]
    assert any(line.startswith(f"  values: RSI {value:.6g}") for line in lines)
    assert any(line.startswith("  levels: POC ") for line in lines)
    assert any(line.startswith("ris: error: there is no indicator 'ris'") for line in lines)
    last = [s for s in chart.drawn[1].scene.signals if s.name == "wt_bull_div"][-1]
    said = next(line for line in lines if "signal: wt_bull_div" in line)
    assert f"on bar {last.bar} (" in said
    assert f"known on bar {last.bar + 2}" in said


def straight(closes):
    n = len(closes)
    return Bars(60_000 * np.arange(n), closes, closes, closes, closes, np.ones(n), "X", "1m")


@in_one_test(("closes", "word"), [
    (np.arange(1.0, 101), "up"),
    (np.arange(100.0, 0, -1), "down"),
    (np.ones(100), "sideways"),
    (np.concatenate((np.arange(1.0, 100), [60.0])), "sideways"),
    (np.arange(1.0, 11), "up"),
    (np.arange(10.0, 0, -1), "down"),
    (np.ones(10), "sideways"),
    (np.ones(1), "unknown"),
    (np.ones(0), "unknown"),
])  # fmt: skip
def test_the_trend_is_told_by_the_close_and_two_averages(closes, word):
    assert cp.chart(straight(closes)).trend.startswith(f"{word}: ")


def test_a_chart_of_nothing_says_so():
    assert cp.chart(straight(np.ones(0)), ["rsi"]).summary().startswith("X 1m: no bars")


def test_the_summary_takes_time_by_the_number_of_signals_and_not_of_their_kinds(bars):
    def summarise(kinds: int) -> tuple[float, int]:
        at = np.arange(200_000)
        names = [f"kind {k % kinds}" for k in at]
        signals = Signals(bar=at % 100, confirmed_bar=at % 100, value=np.ones(len(at)), name=names)
        drawn = Drawn("many", "many", scene=Scene(signals=signals))
        started = time.process_time()
        lines = Chart(bars, (drawn,)).summary().splitlines()
        return time.process_time() - started, len([line for line in lines if "in all" in line])

    few, many = (min(summarise(kinds) for _ in range(3)) for kinds in (10, 2_000))
    assert (few[1], many[1]) == (10, MOST_NAMES)
    assert many[0] < 50 * few[0]  # comparing every signal with every kind took hundreds of times


def test_the_summary_tells_the_close_of_candles_and_counts_shapes(bars):
    prices = {name: getattr(bars, name) for name in ("open", "high", "low", "close")}
    scene = Scene(
        plots=[
            CandlesPlot(**prices, title="Own"),
            ShapePlot(points=[Mark(1), Mark(2)]),
            ShapePlot(points=[Mark(3)]),
        ],
        polylines=[Polyline(1, [Vertex(1, None, 2.0)])],
    )
    lines = Chart(bars, (Drawn("x", "x", title="X", scene=scene),)).summary().splitlines()
    assert lines[-2].startswith("  values: Own ")
    assert lines[-1] == "  drawn: 1 polyline, 3 shapes"
