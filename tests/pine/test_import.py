"""Imported scripts, run on bars and compared with what Pine's rules say, and reports on them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chartpact as cp
from chartpact.pine import import_pine
from chartpact.script import execute, load

HEAD = '//@version=5\nindicator("case", overlay=true)\n'


@pytest.fixture(scope="module")
def bars():
    return cp.load("sample:es-5m")[:400]


def scene(body, bars, head=HEAD):
    found = import_pine(head + body)
    assert found.script, found.report["items"]
    return execute(load(found.script), bars).scene


def plotted(body, bars, head=HEAD):
    return np.asarray(scene(body, bars, head).plots[0].values)


def same(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-9, equal_nan=True)


def test_a_var_keeps_its_value_from_bar_to_bar(bars):
    same(plotted("var n = 0\nif close > open\n    n += 1\nplot(n)", bars),
         np.cumsum(bars.close > bars.open))  # fmt: skip


def test_an_earlier_value_of_a_variable_is_its_last_of_the_bar_before(bars):
    found = plotted("float x = 0.0\nx := nz(x[1]) * 0.5 + close\nplot(x)", bars)
    wanted, last = [], 0.0
    for close in bars.close:
        last = last * 0.5 + close
        wanted.append(last)
    same(found, wanted)


def test_an_old_script_may_refer_to_itself_where_it_declares(bars):
    head = '//@version=2\nstudy("case")\n'
    found = plotted("x = nz(x[1]) + 1\nplot(x)", bars, head)
    same(found, np.arange(1, len(bars.close) + 1))


def test_a_choice_of_inputs_is_made_before_the_bars(bars):
    body = 'kind = input.string("EMA", options=["EMA", "SMA"])\nn = 10\n'
    body += 'm = switch kind\n    "EMA" => ta.ema(close, n)\n    => ta.sma(close, n)\nplot(m)'
    same(plotted(body, bars), cp.ta.ema(bars.close, 10))
    assert "for bar" not in import_pine(HEAD + body).script


def test_a_for_counts_down_where_it_ends_below_its_start(bars):
    body = "s = 0\nend = bar_index > 100 ? 1 : 5\nfor i = 3 to end\n    s := s * 10 + i\n"
    found = plotted(body + "plot(s)", bars)
    assert found[50] == 345
    assert found[200] == 321


def test_what_is_divided_by_0_in_a_loop_is_na(bars):
    found = plotted("var s = 0.0\ns := 1 / (bar_index - 3)\nplot(s)", bars)
    assert np.isnan(found[3])
    assert found[4] == 1


def test_a_function_has_a_state_of_its_own_at_each_call(bars):
    body = "count(c) =>\n    var n = 0\n    if c\n        n += 1\n    n\n"
    body += "up = count(close > open)\ndown = count(close < open)\nplot(up - down)"
    wanted = np.cumsum((bars.close > bars.open).astype(int) - (bars.close < bars.open).astype(int))
    same(plotted(body, bars), wanted)


def test_an_average_of_what_a_loop_calculates_follows_the_loop(bars):
    body = "var x = 0.0\nx := close > open ? x + 1 : x - 1\nplot(ta.sma(x, 5))"
    ups = np.cumsum(np.where(bars.close > bars.open, 1.0, -1.0))
    same(plotted(body, bars), cp.ta.sma(ups, 5))


def test_a_function_under_a_condition_remembers_the_bars_on_which_it_ran(bars):
    body = "y = close > open ? ta.sma(close, 3) : na\nplot(y)"
    up = bars.close > bars.open
    wanted = np.full(len(up), np.nan)
    wanted[up] = cp.ta.sma(bars.close[up], 3)
    same(plotted(body, bars), wanted)


def test_an_array_is_a_list_and_its_sum_leaves_na_out(bars):
    body = "var a = array.new_float()\na.push(close)\nif a.size() > 3\n    a.shift()\nplot(a.sum())"
    closes = np.asarray(bars.close)
    wanted = [closes[max(0, i - 2) : i + 1].sum() for i in range(len(closes))]
    same(plotted(body, bars), wanted)


def test_objects_of_a_type_keep_their_fields(bars):
    body = "type Zone\n    float top\n    int born = 0\nvar Zone z = na\n"
    body += "if bar_index == 5\n    z := Zone.new(high, bar_index)\n"
    body += "if bar_index > 5\n    z.top := z.top + 1\n"
    body += "plot(na(z) ? na : z.top)"
    found = plotted(body, bars)
    assert np.isnan(found[4])
    assert found[15] == bars.high[5] + 10


def test_labels_and_boxes_are_drawn_where_pine_draws_them(bars):
    body = "var box b = na\nif bar_index == 10\n"
    body += "    b := box.new(bar_index, high, bar_index + 5, low)\n"
    body += (
        'if bar_index == 20\n    box.set_right(b, bar_index)\n    label.new(bar_index, high, "x")\n'
    )
    drawn = scene(body, bars)
    assert (drawn.boxes[0].left.bar, drawn.boxes[0].right.bar) == (10, 20)
    assert drawn.labels[0].x.bar == 20


def test_what_is_na_can_be_deleted(bars):
    body = "var line l = na\nline.delete(l)\nl := line.new(bar_index, low, bar_index + 1, high)"
    assert len(scene(body, bars).lines) == 1


def test_a_higher_timeframe_is_seen_when_its_bar_is_over(bars):
    body = 'h = request.security(syminfo.tickerid, "60", ta.sma(close, 2))\nplot(h)'
    higher = bars.resample("1h")
    found = plotted(body, bars)
    averages = cp.ta.sma(higher.close, 2)
    assert set(found[~np.isnan(found)]) <= set(averages[~np.isnan(averages)])


def test_inputs_become_params():
    body = 'n = input.int(14, "Length", minval=1, maxval=50, group="G")\nplot(ta.sma(close, n))'
    (param,) = load(import_pine(HEAD + body).script).params
    assert (param.name, param.type, param.default, param.min, param.max) == ("n", "int", 14, 1, 50)


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ('x = request.security("", "D", close, lookahead=barmerge.lookahead_on)', "lookahead"),
        ('x = request.security_lower_tf("", "1", close)', "request.security_lower_tf"),
        ('x = request.financial("AAPL", "EPS", "FQ")', "request.financial"),
        ("x = math.random()", "math.random"),
        ('strategy.entry("a", strategy.long)', "strategy.entry"),
        ("import Somebody/library/1 as l", "import"),
    ],
)
def test_what_no_script_may_do_is_refused_with_line_and_reason(body, rule):
    found = import_pine(f"{HEAD}a = 1\n{body}\nplot(close)")
    (item,) = [item for item in found.report["items"] if item["status"] == "refused"]
    assert (found.verdict, found.script) == ("refused", "")
    assert (item["line"], item["rule"]) == (4, rule)
    assert item["message"]


def test_a_part_is_written_on_request_and_leaves_out_what_depends_on_the_refused():
    found = import_pine(f"{HEAD}r = math.random()\nplot(r)\nplot(close)", partial=True)
    assert found.verdict == "partial"
    assert found.script.count("chart.line") == 1


def test_licence_and_author_are_carried_over_and_named():
    head = "// subject to the terms of the Mozilla Public License 2.0\n// © somebody\n"
    found = import_pine(f'{head}//@version=5\nindicator("case")\nplot(close)')
    assert found.report["pine"]["licence"] == "MPL-2.0"
    assert found.report["pine"]["author"] == "somebody"
    assert "© somebody" in found.script


def test_the_authors_names_and_comments_are_kept():
    script = import_pine(f"{HEAD}// how far it is\ndistance = close - open\nplot(distance)").script
    assert "distance = close - open" in script
    assert "# how far it is" in script


def test_the_same_source_gives_the_same_script():
    source = f"{HEAD}var x = 0\nx := x[1] + ta.ema(close, 3)\nplot(x)"
    assert import_pine(source).script == import_pine(source).script


PIECES = st.sampled_from(
    [
        "var x = 0.0", "x = close", "x := x + 1", "if close > open", "    x := nz(x[1])", "else",
        "plot(x)", "f(a) =>", "    a[1] + 1", "y = f(close)", "y = ta.ema(x, 3)", "plot(y)",
        "for i = 0 to 3", "    x := x + i", "label.new(bar_index, x)", "z = x[y]", "[a, b] = f(1)",
        "import A/b/1", "type T", "    float q", "t = T.new(1)", "    break", "x = if close > 1",
        "var l = array.new<float>(0)", "l.push(x)", "plot(l.get(0))", "while x > 0",
        "x = y ? z : 1",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14))
def test_whatever_is_imported_gives_a_script_that_is_accepted_or_a_reason(pieces):
    found = import_pine(HEAD + "\n".join(pieces))
    if found.script:
        load(found.script)
    else:
        assert any(
            item["status"] == "refused" and item["message"] for item in found.report["items"]
        )
