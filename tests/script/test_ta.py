"""`ta` in scripts is `chartpact.ta`: every function, the same numbers, nothing listed by hand."""

import inspect

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact import script, ta
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.host import ta as host
from chartpact.ta.arguments import Floats

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\ndef compute(ohlcv, params, chart):\n'
BARS = dry_run_bars()
ARGUMENTS = {
    **{name: f"ohlcv.{name}" for name in ("open", "high", "low", "close", "volume", "time")},
    "close_time": "ohlcv.close_time",
    **dict.fromkeys(("n", "fast", "slow", "signal", "short", "long", "di_n", "adx_n"), "3"),
    "source": "ohlcv.close",
    "a": "ohlcv.close",
    "b": "ohlcv.open",
    "condition": "ohlcv.close > ohlcv.open",
    "left": "2",
    "right": "2",
    "mult": "2.0",
    "factor": "3.0",
    "percentage": "50",
    "offset": "0.5",
    "sigma": "6.0",
    "start": "0.02",
    "inc": "0.02",
    "max": "0.2",
    "spec": '"0930-1600"',
    "type": '"Camarilla"',
    "anchor": "ta.falling(ohlcv.close, 2)",
    "timeframe": '"1h"',
    "reset": "ohlcv.close < ohlcv.open",
    "side": "ta.sign(ohlcv.close - ohlcv.open)",
    "top": "ohlcv.high",
    "bottom": "ohlcv.low",
    "first": "ta.barssince(ohlcv.close > ohlcv.open)",
    "last": "ta.barssince(ohlcv.close > ohlcv.open) + 2",
    "x": "2.0",
    "rows": "len(ohlcv)",  # as many as bars, so that a profile is as long as a series
    "weight": "ohlcv.volume",
}


def call(name: str) -> str:
    needed = [
        each.name
        for each in inspect.signature(ta.FUNCTIONS[name]).parameters.values()
        if each.default is each.empty and each.kind is not each.VAR_POSITIONAL
    ]
    one = {} if name.endswith("_scalar") else {"x": "ohlcv.close"}
    return f"ta.{name}({', '.join((ARGUMENTS | one)[each] for each in needed)})"


def drawn(body: str) -> list[np.ndarray]:
    scene = script.execute(script.load(HEAD + body), BARS).scene
    return [plot.values for plot in scene.plots]


@in_one_test("name", ta.FUNCTIONS)
def test_a_function_gives_scripts_what_it_gives_python(name):
    names = {"ohlcv": BARS, "ta": ta}
    result = eval(call(name), names)
    results = result if isinstance(result, tuple) else (result,)
    body = f"    found = {call(name)}\n"
    body += '    parts = found if type(found) == "tuple" else (found,)\n'
    body += "    for part in parts:\n"
    zero = "0" if np.ndim(results[0]) else "ohlcv.bar_index * 0"
    body += f"        chart.line(part + {zero})\n"
    if np.asarray(results[0]).dtype == np.bool_:
        body = f"    chart.line(ta.where({call(name)}, 1, 0))\n"
    for ours, theirs in zip(drawn(body), results, strict=True):
        wanted = np.broadcast_to(np.asarray(theirs, dtype=np.float64), len(BARS))
        wanted = np.where(np.isinf(wanted), np.nan, wanted)
        assert np.array_equal(ours, wanted, equal_nan=True)


def test_a_function_that_the_package_publishes_is_in_scripts_without_further_work(monkeypatch):
    def twice(source: Floats, n: int = 2) -> Floats:
        return np.asarray(source) * n

    monkeypatch.setattr(ta, "FUNCTIONS", {**ta.FUNCTIONS, "twice": twice})
    monkeypatch.setattr(host, "DECLARED", host.declare(ta.FUNCTIONS))
    (values,) = drawn("    chart.line(ta.twice(ohlcv.close) - ta.twice(ohlcv.close, n=1))\n")
    assert np.array_equal(values, BARS.close)
    with pytest.raises(script.ScriptError, match=r"did you mean ta.twice\?"):
        script.load(HEAD + "    ta.twicce(ohlcv.close)\n")


@in_one_test(
    "given", ["[7] * 100, 4", "7, [4] * 100", "[None] * 99 + [7], 4", "7, ohlcv.bar_index * 0 + 4"]
)
def test_a_remainder_takes_lists_and_whole_numbers(given):
    (values,) = drawn(f"    chart.line(ta.mod({given}))\n")
    assert values[-1] == 3.0


def test_a_remainder_of_a_number_beyond_floats_is_refused():
    with pytest.raises(script.ScriptError, match="must hold numbers only"):
        drawn("    x = ta.mod([1] * 100, (1 << 1023) + ((1 << 1023) - 1))\n")


def steps(body: str) -> int:
    return script.execute(script.load(HEAD + body), BARS).steps


@in_one_test(
    ("moving", "fixed"),
    [
        ("ta.sma(ohlcv.close, {n})", "ta.sma(ohlcv.close, 5)"),
        ("ta.sma(ohlcv.close, n={n})", "ta.sma(ohlcv.close, 5)"),
        ("ta.highest(ohlcv, {n})", "ta.highest(ohlcv, 5)"),
        ("ta.stoch(ohlcv.close, ohlcv, {n})", "ta.stoch(ohlcv.close, ohlcv, 5)"),
        ("ta.alma(ohlcv.close, {n}, 0.85, 6)", "ta.alma(ohlcv.close, 5, 0.85, 6)"),
        ("ta.median(ohlcv.close, {n})", "ta.median(ohlcv.close, 5)"),
    ],
)
def test_a_length_may_be_a_series_and_is_charged_by_its_sum(moving, fixed):
    five, many = "ohlcv.bar_index * 0 + 5", "ohlcv.bar_index * 0 + 50"
    (ours,), (theirs,) = (
        drawn(f"    chart.line({code})\n") for code in (moving.format(n=five), fixed)
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    costs = [
        steps(f"    n = {n}\n    x = {moving.format(n='n')}\n    chart.line(x)\n")
        for n in (five, many)
    ]
    assert costs[0] > steps(f"    x = {fixed}\n    chart.line(x)\n") + 12 * len(BARS)
    assert costs[1] > costs[0] + 45 * (len(BARS) - 50) // 32


def test_a_list_of_lengths_is_charged_like_a_series():
    listed = steps("    x = ta.sma(ohlcv.close, [5] * len(ohlcv))\n    chart.line(x)\n")
    assert listed > steps("    x = ta.sma(ohlcv.close, 5)\n    chart.line(x)\n") + 12 * len(BARS)


def test_a_series_of_lengths_is_refused_in_words_where_pine_takes_one():
    with pytest.raises(script.ScriptError) as caught:
        drawn("    chart.line(ta.ema(ohlcv.close, ohlcv.bar_index))\n")
    assert "must be one whole number of at least 1 for all bars" in str(caught.value)
    with pytest.raises(script.ScriptError) as caught:
        drawn("    chart.line(ta.sma(ohlcv.close, ohlcv.bar_index))\n")
    assert "must hold whole numbers from 1 to 5000 only" in str(caught.value)


@in_one_test("name", ["avg", "max", "min"])
def test_each_operand_of_a_function_of_any_number_is_charged(name):
    def steps(operands: int) -> int:
        source = HEAD + f"    x = ta.{name}(*([ohlcv.close] * {operands}))\n"
        return script.execute(script.load(source), BARS).steps

    two, many = steps(2), steps(102)
    assert many - two > 100 * (len(BARS) // 64 + 50)


def test_a_profile_is_charged_by_the_rows_that_its_bars_touch_and_by_its_sessions():
    def charge(call: str) -> int:
        return steps(f"    x = {call}\n")

    narrow = charge("ta.profile(ohlcv, 1)")
    assert charge("ta.profile(ohlcv, 50)") > narrow + 3 * 50
    wide = "ohlcv.high * 0 + 9, ohlcv.high * 0 + 1, ohlcv.volume"
    touched = charge(f"ta.profile({wide}, 101)") - charge(f"ta.profile({wide}, 1)")
    assert touched == (4 * len(BARS) + 3) * 100
    one, many = (charge(f"ta.profile_levels(ohlcv, ohlcv.close > {x}, 50)") for x in (1e9, 0))
    assert many > one + 3 * 50 * (len(BARS) - 1)
