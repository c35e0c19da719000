"""What may look ahead, or mean another bar than its author thinks, is na or is warned of."""

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact import script
from chartpact.bars import samples
from chartpact.bars.alignment import last_closed, stretch
from chartpact.script.dry_run import dry_run_bars, validate

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\n\ndef compute(ohlcv, params, chart):\n'


def source(*lines: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in lines)


def log(*lines: str, bars=None) -> str:
    program = script.load(source(*lines))
    return "\n".join(script.execute(program, bars or dry_run_bars(20)).log)


def warnings(*lines: str) -> list[tuple[int | None, str, str]]:
    verdict = validate(source(*lines))
    assert verdict.ok, verdict.errors
    return [(each.line, each.message, each.hint) for each in verdict.warnings]


CHANGES = "c = ohlcv.close"


@pytest.mark.parametrize(
    "expression, answer",
    [
        ("ta.isna(c[-n])", "True"),
        ("ta.isna(c[0 - 1])", "True"),
        ("ta.isna(c[n - 2])", "True"),
        ("c[-1] == c[len(c) - 1]", "True"),
        ("c[-20] == c[0]", "True"),
        ("c[n] == c[1]", "True"),
        ("(c > 0)[-n]", "False"),
        ("(c > 0)[-1]", "True"),
        ("ta.isna(ohlcv.time[-n])", "True"),
        ("ohlcv.time[-1] == ohlcv.time[19]", "True"),
        ('ta.where(c > 0, "a", "b")[-n]', "None"),
        ('ta.where(c > 0, "a", "b")[-1]', "a"),
        ("[1, 2, 3][-n]", "3"),
        ('"abc"[-n]', "c"),
        ("(1, 2)[-n]", "2"),
        ("len(c[-n:])", "1"),
        ("ta.isna((lambda s, i: s[i])(c, -1))", "True"),
        ("(lambda s, i: s[i])([7, 8], -1)", "8"),
        ("[ta.isna(c[i - 2]) for i in range(4)]", "[True, True, False, False]"),
        ("[[5, 6][i - 1] for i in range(2)]", "[6, 5]"),
    ],
)
def test_a_computed_index_below_zero_is_na_in_a_series_alone(expression, answer):
    assert log(CHANGES, "n = 1", f"print({expression})") == answer


LOOPS = [
    ("for i in range(len(c)):", "i - 1", 1),
    ("for i in range(1, len(c)):", "i - 1", 0),
    ("for i in range(1, len(c)):", "i - 2", 1),
    ("for i in range(len(c) - 1, -1, -1):", "i", 0),
    ("for i in range(len(c) - 1, -1, -1):", "i - 1", 1),
    ("for i, x in enumerate(ohlcv.open):", "i - 3", 3),
    ("for i in [0, 5, -1]:", "i", 1),
    ("for i in range(-2, 3):", "i", 2),
    ("for i in range(n - 3, 3):", "i", 2),
    ("for i in range(len(c)):", "int(i / 2) - 1", 2),
]


@pytest.mark.parametrize("loop, index, na", LOOPS)
def test_every_kind_of_loop_reads_na_before_the_first_bar(loop, index, na):
    body = f"    t += 1 if ta.isna(c[{index}]) else 0"
    assert log(CHANGES, "n = 1", "t = 0", loop, body, "print(t)") == str(na)


def test_a_loop_whose_counter_is_changed_is_looked_at():
    lines = ["t = 0", "for i in range(5):", "    i = i - 2", "    t += 1 if ta.isna(c[i]) else 0"]
    assert log(CHANGES, *lines, "print(t)") == "2"


def test_a_list_and_a_series_in_one_name_keep_their_own_meaning():
    lines = ["for v in [[1, 2], c]:", "    for i in range(1):", "        print(v[i - 1])"]
    assert log(CHANGES, *lines) == "2\nnan"


def test_an_index_past_the_end_is_an_error_as_before():
    with pytest.raises(script.ScriptError, match="is outside"):
        log(CHANGES, "n = 20", "print(c[n])")


@pytest.mark.parametrize(
    "line, hint",
    [
        ("d = ohlcv.close - ohlcv.close[1]", "write ta.shift(ohlcv.close, 1)"),
        ("d = (c[1] + c[2]) / 2 > c", "write ta.shift(c, 1)"),
        ("d = c[0] > c[1]", "write ta.shift(c, 1)"),
        ("d = ta.max(c, c[3])", "write ta.shift(c, 3)"),
        ("d = ta.sma(c, 3) < ta.sma(c, 3)[1]", "write ta.shift(ta.sma(c, 3), 1)"),
        ("d = [c[i] - c[1] for i in range(5)]", "in a loop over i write c[i - 1]"),
        ("d = ohlcv.low[0] > ohlcv.high[2]", "write ta.shift(ohlcv.high, 2)"),
        ("d = ohlcv.close[1] > ohlcv.open[1]", "write ta.shift(ohlcv.close, 1)"),
        ("d = max(c[1], c[2])", "write ta.shift(c, 1)"),
        ("d = [ohlcv.low[i] > c[2] for i in range(5)]", "in a loop over i write c[i - 2]"),
        ("d = ta.nz(c[1]); e = c - d", "write ta.shift(c, 1)"),
        ("a, b = ohlcv.open[0], c[1]; d = c - b", "write ta.shift(c, 1)"),
        ("a = c[1] if len(c) > 5 else c[0]; d = c - a", "write ta.shift(c, 1)"),
        ("d = c - (c[1] if len(c) > 5 else c[0])", "write ta.shift(c, 1)"),
    ],
)
def test_what_looks_like_the_history_operator_is_warned_of(line, hint):
    found = warnings(CHANGES, line)
    assert found[0][0] == 6
    assert found[0][2] == hint
    assert "counted from the first one" in found[0][1]


@in_one_test(
    "line",
    [
        "d = c[1]",
        "d = c[-1] - c[-2]",
        "d = c - c[0]",
        "d = c[len(c) - 2] < c[-1]",
        "d = [1, 2, 3][1] + len(c)",
        "d = ta.bb(c, 20, 2)[1] - c",
        "d = c > ta.shift(c, 1)",
        "d = [c[i] - c[i - 1] for i in range(5)]",
        "d = ohlcv.time[1] - ohlcv.time[0]",
        "d = c[1]; e = d + 1",
        "[chart.new_line(i, ohlcv.low[i], i + 1, c[5]) for i in range(3)]",
        "a, b = c[1], c[2]; d = c - c[0]",
        "a, b = c[1], c; d = c - b",
        "d = c if c[1] else ohlcv.open",
    ],
)
def test_other_elements_are_not_warned_of(line):
    assert warnings(CHANGES, line) == []


@in_one_test(
    ("seed", "step"),
    [
        ("x = (c[0] + c[1] + c[2]) / 3", "x = x + (c[i] - x) / 10"),
        ("x = 1 if c[1] > c[0] else -1", "x = 1 if c[i] > c[i - 1] else x"),
        ("x = max(ohlcv.high[0], ohlcv.high[1])", "x = max(x, ohlcv.high[i])"),
        ("x, y = c[1] > c[0], c[1] - c[0]", "x, y = c[i] > c[i - 1], c[i] - c[i - 1]"),
    ],
)
def test_the_seed_of_a_loop_is_not_warned_of(seed, step):
    loop = ("for i in range(3, len(c)):", f"    {step}", "print(x)")
    assert warnings(CHANGES, seed, *loop) == []
    assert warnings(CHANGES, seed, "print(x)") != []


@in_one_test(
    "lines",
    [
        ('d = ta.ema(ohlcv.security("1h").close, 20)',),
        ('h = ohlcv.security("1h")', "d = ta.sma(h.close, 3)"),
        ('h = ohlcv.security("1h")', "x = h.high - h.low", "d = ta.highest(x, 3)"),
        ('h = ohlcv.security("1h")', "d = ta.atr(h, 3)"),
        ('h = ohlcv.security("1h")', "d = ta.sma((h.high + h.low) / 2 * len(c), 3)"),
        ('h = ohlcv.security(timeframe="1h").close', "d = ta.rsi(h, n=3)"),
        ('d = ta.ema(ohlcv.security("1h", lambda h: h.close), 20)',),
        ('d = ta.ema(-ta.nz(ohlcv.security("1h").close), 20)',),
        ('h = ohlcv.security("1h")', "x, y = h.high, h.low", "d = ta.highest(x, 3)"),
        ('x, y = ohlcv.security("1h", lambda h: (h.high, h.low))', "d = ta.highest(y, 3)"),
    ],
)
def test_a_window_over_a_stretched_series_is_warned_of(lines):
    found = warnings(CHANGES, *lines)
    assert len(found) == 1
    assert "counts the chart's bars" in found[0][1]
    assert 'ohlcv.security("1h", lambda h: ta.' in found[0][2]


@in_one_test(
    ("lines", "call"),
    [
        (['d = ta.ema(ohlcv.security("1h").close, 20)'], '"1h", lambda h: ta.ema(h.close, 20)'),
        (['x = ohlcv.security("4h")', "d = ta.highest(x.high, 9)"],
         '"4h", lambda h: ta.highest(h.high, 9)'),
        (['x = ohlcv.security("1D")', "d = ta.atr(x.high, x.low, x.close, 14)"],
         '"1D", lambda h: ta.atr(h.high, h.low, h.close, 14)'),
        (['x = ohlcv.security("1h").close', "y = x * 2", "d = ta.sma(y, 5)"],
         '"1h", lambda h: ta.sma(h.close * 2, 5)'),
        (['x = ohlcv.security("1h", lambda b: ta.ema(b.close, 3))', "d = ta.sma(x, 5)"],
         '"1h", lambda h: ta.sma(ta.ema(h.close, 3), 5)'),
        (['d = ta.sma(ohlcv.security("1h").close - ohlcv.security("4h").close, 5)'],
         '"1h", lambda h: ta.sma(…)'),
        (['x = ohlcv.security("1h").close', *(f"x{n} = {x} + {x}" for n, x in
           enumerate(["x", *(f"x{n}" for n in range(60))])), "d = ta.sma(x60, 5)"],
         '"1h", lambda h: ta.sma(…)'),
    ],
)  # fmt: skip
def test_the_hint_is_the_call_on_the_higher_bars(lines, call):
    assert warnings(CHANGES, *lines)[-1][2] == f"write ohlcv.security({call})"


@in_one_test(
    "line",
    [
        'd = ta.crossover(c, ohlcv.security("1h").close)',
        'd = ta.change(ohlcv.security("1h").close)',
        'd = ta.ema(ohlcv.resample("1h").close, 20)',
        'd = ohlcv.security("1h", lambda h: ta.ema(h.close, 20))',
        'd = ta.max(c, ohlcv.security("1h").high)',
        'd = ta.sma(ta.where(c > ohlcv.security("1h").close, 1, 0), 20)',
        'd = ta.ema(c - ohlcv.security("1D").close, 20)',
        'd = ta.stdev(-(c - ohlcv.security("1D").close) / ohlcv.security("1D").close, n=20)',
        'd = ta.correlation(c, ohlcv.security("1D").close, 20)',
    ],
)
def test_other_uses_of_higher_bars_are_not_warned_of(line):
    assert warnings(CHANGES, line) == []


def test_a_function_of_higher_bars_is_calculated_there_and_stretched():
    bars = samples.bars("sample:es-5m")[:600]
    code = source(
        'fast, up = ohlcv.security("1h", lambda h: (ta.ema(h.close, 5), h.close > h.open))',
        "chart.line(fast)",
        "chart.line(ta.where(up, 1, 0))",
    )
    scene = script.execute(script.load(code), bars).scene
    higher = bars.resample("1h")
    at = last_closed(bars, higher)
    from chartpact import ta

    assert np.array_equal(scene.plots[0].values, stretch(ta.ema(higher.close, 5), at), True)
    up = np.append(higher.close > higher.open, False)[at]
    assert np.array_equal(scene.plots[1].values, np.where(up, 1.0, 0.0))


def test_times_of_higher_bars_are_ints_whichever_way_they_were_stretched():
    bars = samples.bars("sample:es-5m")[:60]
    code = source(
        'one, other = ohlcv.security("1h").time, ohlcv.security("1h", lambda h: h.time)',
        "print(type(one[40]), type(other[40]), one[40] == other[40], one[0], other[0])",
    )
    assert script.execute(script.load(code), bars).log == ("int int True nan nan",)


@pytest.mark.parametrize(
    "function, message",
    [
        ("lambda h: 5", "is a series of them, not an int"),
        ("lambda h: h", "is a series of them, not an ohlcv"),
        ("lambda h: ohlcv.close", "where there are"),
        ("lambda: 5", "called with too many values"),
        ("5", "an int cannot be called"),
    ],
)
def test_what_is_calculated_on_higher_bars_must_be_a_series_of_them(function, message):
    with pytest.raises(script.ScriptError, match=message):
        log(f'd = ohlcv.security("1h", {function})', bars=samples.bars("sample:es-5m")[:600])
