"""Planted repainters are found, and honest scripts pass."""

import json

import pytest
from tests.cases import in_one_test

from chartpact import script
from chartpact.__main__ import main
from chartpact.bars import samples
from chartpact.catalogue import list_indicators
from chartpact.lookahead import prove
from chartpact.needs import Readings, cut_supplies, cut_supply
from chartpact.params import resolve
from chartpact.script.dry_run import dry_run_bars, run_here, validate
from chartpact.script.limits import DRY_RUN_BARS, PROOF_BARS

BARS = samples.bars("sample:es-5m")[:400]
HEAD = 'PARAMS = []\nMETA = {"title": "x", "overlay": True}\n\ndef compute(ohlcv, params, chart):\n'


def source(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.strip().split("\n"))


def proof_of(body: str, bars=BARS, most=40):
    program = script.load(source(body))
    return prove(lambda prefix: script.execute(program, prefix).scene, bars, most)


REPAINTERS = {
    "a series scaled by the highest bar of all": (
        "chart.line(ohlcv.close / max([x for x in ohlcv.high]), title='ratio')",
        "line 'ratio'",
    ),
    "the next bar, guessed until it is there": (
        """
c = ohlcv.close
chart.line([c[i + 1] if i + 1 < len(c) else c[i] for i in range(len(c))], title="next")
""",
        "line 'next'",
    ),
    "a level at the last close": ("chart.hline(ohlcv.close[-1], title='last')", "hline 'last'"),
    "a signal on the lowest bar so far, which moves": (
        """
low = ohlcv.low
at = 0
for i in range(len(low)):
    if low[i] < low[at]:
        at = i
chart.dot([i == at for i in range(len(low))], low, label="bottom")
""",
        "",
    ),
    "a label that buys and sells when it turns out otherwise": (
        """
c = ohlcv.close
word = "Buy" if c[-1] > c[100 if len(c) > 100 else 0] else "Sell"
if len(c) > 101:
    chart.new_label(100, c[100], word)
""",
        "label",
    ),
    "a label with a price that goes from above its bar to below": (
        """
c = ohlcv.close
for i in range(0, len(c), 9):
    up = i == len(c) - 1 or c[i + 1] > c[i]
    chart.new_label(i, c[i], "x", yloc="abovebar" if up else "belowbar")
""",
        "label",
    ),
    "a plot whose title and values depend on the last close": (
        "chart.line(ohlcv.close - ohlcv.close[-1], title='since %d' % len(ohlcv))",
        "line 'since 400'",
    ),
    "a box that turns from bullish to bearish": (
        """
c = ohlcv.close
if len(c) > 101:
    chart.new_box(100, c[100] + 5, 120, c[100], text = "bull" if c[-1] > c[100] else "bear")
""",
        "box",
    ),
    "the last leg of a zigzag": (
        """
h = ohlcv.high
at = 10
for i in range(10, len(h)):
    if h[i] > h[at]:
        at = i
if len(h) > 20:
    chart.new_line(0, h[0], at, h[at])
""",
        "line",
    ),
    "a box whose top falls": (
        """
if len(ohlcv) > 60:
    top = min([ohlcv.high[i] for i in range(50, len(ohlcv))])
    chart.new_box(50, top, len(ohlcv) - 1, ohlcv.low[50] - 100)
""",
        "box",
    ),
    "a label whose height changes": (
        "chart.new_label(5, max([x for x in ohlcv.high]), 'top')",
        "label",
    ),
    "a fill up to the mean of all bars": (
        """
mean = ta.cum(ohlcv.close)[-1] / len(ohlcv)
chart.fill(ohlcv.close, ohlcv.close * 0 + mean, title="area")
""",
        "fill 'area'",
    ),
    "a channel fitted to the last bars": (
        """
n = len(ohlcv)
if n > 60:
    chart.new_line(n - 50, ohlcv.low[n - 50], n - 1, ohlcv.low[n - 1])
    chart.new_line(n - 50, ohlcv.high[n - 50], n - 1, ohlcv.high[n - 1])
""",
        "line",
    ),
    "a profile of the last bars": (
        """
n = len(ohlcv)
if n > 60:
    low = min([ohlcv.low[i] for i in range(n - 50, n)])
    for row in range(5):
        chart.new_box(n - 50, low + row + 1, n - 40, low + row)
""",
        "box",
    ),
    "a polyline that is drawn anew": (
        """
n = len(ohlcv)
if n > 10:
    chart.new_polyline([(0, ohlcv.close[0]), (n // 2, ohlcv.close[n // 2])])
""",
        "polyline",
    ),
    "a background whose colour depends on the last close": (
        "up = ohlcv.close > ohlcv.close[-1]\nchart.background(ta.where(up, 'green', 'red'))",
        "background",
    ),
    "bars coloured by the last close": (
        "up = ohlcv.close > ohlcv.close[-1]\nchart.bar_color(ta.where(up, 'green', 'red'))",
        "bar_color",
    ),
    "shapes that say something else later": (
        "word = 'buy' if ohlcv.close[-1] > ohlcv.open[-1] else 'sell'\n"
        "chart.shape(ohlcv.close > ohlcv.open, 'circle', text=word)",
        "shape 'buy'",
    ),
    "an arrow that turns round": (
        """
c = ohlcv.close
if len(c) > 101:
    chart.new_label(100, c[100], "▲ +1.5" if c[-1] > c[100] else "▼ -0.5")
""",
        "label",
    ),
    "one of two dots on a bar": (
        """
for i in range(0, len(ohlcv), 10):
    chart.dot(i, max([x for x in ohlcv.high]), title="both")
    chart.dot(i, 1.0, title="both")
""",
        "dot 'both'",
    ),
    "columns that stand on the last close": (
        "chart.bars(ohlcv.close, base=ohlcv.close[-1], title='b')",
        "bars 'b'",
    ),
    "a label that changes from below its bar to above": (
        """
if len(ohlcv) > 20:
    up = ohlcv.close[-1] > ohlcv.open[-1]
    chart.new_label(5, None, "x", yloc="abovebar" if up else "belowbar")
""",
        "label",
    ),
    "shapes that change from below their bars to above": (
        """
n = len(ohlcv)
chart.shape([i == 50 for i in range(n)], "circle", "belowbar" if n < 200 else "abovebar")
""",
        "shape",
    ),
    "a line that is extended into the past": (
        "n = len(ohlcv)\nif n > 60:\n"
        "    chart.new_line(50, 9.0, 55, 9.0, extend='left' if n > 200 else 'none')",
        "line",
    ),
    "a line whose bars are coloured by later ones": (
        """
c, n = ohlcv.close, len(ohlcv)
later = ["green" if c[min(i + 3, n - 1)] > c[i] else "red" for i in range(n)]
chart.line(c, color=later, title="l")
""",
        "line 'l' color",
    ),
    "candles whose wicks are coloured by the last close": (
        """
o, h, l, c = ohlcv.open, ohlcv.high, ohlcv.low, ohlcv.close
chart.candles(o, h, l, c, wick=ta.where(c > c[-1], "green", "red"), title="c")
""",
        "candles 'c' wick_color",
    ),
    "dots that are coloured by later bars": (
        """
c, n = ohlcv.close, len(ohlcv)
for i in range(0, n, 5):
    chart.dot(i, c[i], color="green" if c[min(i + 3, n - 1)] > c[i] else "red")
""",
        "dot color",
    ),
    "shapes that are coloured by the last bar": (
        "c = ohlcv.close\nchart.shape(c > ohlcv.open, color=ta.where(c > c[-1], 'green', 'red'))",
        "shape color",
    ),
    "a signal on bars that stand out, unless the next close is higher": (
        """
h, c, n = ohlcv.high, ohlcv.close, len(ohlcv)
top = ta.highest(h, 100)
for i in range(100, n):
    if h[i] == top[i] and (i == n - 1 or c[i + 1] < c[i]):
        chart.dot(i, h[i], label="top")
""",
        "",
    ),
    "a label that moves on to each new high": (
        """
h = ohlcv.high
label = chart.new_label(0, h[0], "SELL the top")
for i in range(1, len(h)):
    if h[i] > h[label.get_x()]:
        label.set_xy(i, h[i])
""",
        "label",
    ),
    "labels that move for some bars": (
        """
h, n = ohlcv.high, len(ohlcv)
for i in range(0, n, 40):
    label = chart.new_label(i, h[i], "top")
    for j in range(i, min(i + 30, n)):
        if h[j] > h[label.get_x()]:
            label.set_xy(j, h[j])
""",
        "label",
    ),
    "a box that slides along with the bars": (
        """
h, l = ohlcv.high, ohlcv.low
box = chart.new_box(0, h[0], 1, l[0])
for i in range(10, len(h), 10):
    box.set_lefttop(i - 5, h[i])
    box.set_rightbottom(i, l[i])
""",
        "box",
    ),
    "a polyline of two points that becomes another of three": (
        """
n = len(ohlcv)
points = [(0, ohlcv.close[0]), (n // 2, ohlcv.close[n // 2]), (n - 1, ohlcv.close[-1])]
chart.new_polyline(points if n > 100 else points[:2])
""",
        "polyline",
    ),
}


@in_one_test("name", REPAINTERS)
def test_a_planted_repainter_is_found(name):
    body, what = REPAINTERS[name]
    proof = proof_of(body)
    assert not proof.ok
    change = proof.rewritten
    assert change.what.startswith(what)
    assert change.before != change.after
    assert change.bar < change.bars < change.later <= len(BARS)
    assert change.time == int(BARS.time[change.bar])


def test_the_same_with_provisional_is_listed_and_passes():
    for body, what in (
        ("chart.hline(ohlcv.close[-1], title='last', provisional=True)", "hline 'last'"),
        (
            REPAINTERS["the last leg of a zigzag"][0].replace("h[at])", "h[at], provisional=True)"),
            "lines",
        ),
    ):
        proof = proof_of(body)
        assert proof.ok, proof.rewritten
        assert proof.provisional == (what,)


OPEN_SWING = """
h, n = ohlcv.high, len(ohlcv)
at = n - 1
for i in range(max(0, n - 20), n):
    if h[i] >= h[at]:
        at = i
"""


def test_the_signal_of_a_provisional_dot_is_neither_rewritten_nor_late():
    for dot in (
        "chart.dot(at, h[at], label='swing', provisional=True)",
        "chart.dot([i == at for i in range(n)], h, label='swing', provisional=True)",
    ):
        proof = proof_of(OPEN_SWING + dot)
        assert (proof.rewritten, proof.late, proof.provisional) == (None, (), ("dot",))
        assert validate(source(OPEN_SWING + dot)).warnings == ()
        both = f"{OPEN_SWING}chart.dot(at, h[at], label='swing')\n{dot}"
        assert proof_of(both).rewritten.what == "signal 'swing'"


def test_titles_that_tell_a_value_are_paired_where_another_plot_is_drawn_later():
    body = """
chart.line(ohlcv.close, title="close %d" % len(ohlcv))
if len(ohlcv) > 50:
    chart.line(ohlcv.open, title="open %d" % len(ohlcv))
"""
    proof = proof_of(body)
    assert proof.ok, proof.rewritten
    assert [late.what for late in proof.late] == ["line 'open 400'"]


def test_a_provisional_plot_whose_title_tells_a_value_is_listed_once():
    body = "chart.line(ohlcv.close, title='now %d' % len(ohlcv), provisional=True)"
    assert proof_of(body).provisional == ("line 'now 400'",)


HONEST = {
    "averages": "chart.line(ta.ema(ohlcv.close, 20))\nchart.line(ta.sma(ohlcv.close, 9))",
    "higher bars": 'chart.line(ohlcv.security("1h", lambda h: ta.ema(h.close, 3)))',
    "signals": "chart.dot(ta.cross(ohlcv.close, ta.sma(ohlcv.close, 9)), ohlcv.low, label='x')",
    "a box that grows to the right": (
        "if len(ohlcv) > 50:\n    chart.new_box(50, ohlcv.high[50], len(ohlcv) - 1, ohlcv.low[50])"
    ),
    "a line extended along its slope": (
        "n = len(ohlcv)\nif n > 50:\n    chart.new_line(50, 10.0, n - 1, 10.0 + 2.0 * (n - 51))"
    ),
    "a label that counts and then tells more": (
        "n = len(ohlcv)\nif n > 50:\n    chart.new_label(50, ohlcv.high[50], "
        "'touched %d times%s' % (n // 40, ', broken' if n > 200 else ''))"
    ),
    "a label whose number changes its sign, and whose meter fills": (
        "n = len(ohlcv)\nif n > 50:\n    chart.new_label(50, ohlcv.high[50], "
        "'$ %s %s' % (text.number(n - 200, 1), '█' * (n // 100) + '░' * (4 - n // 100)))"
    ),
    "a dot below another, which comes later": (
        "for i in range(len(ohlcv)):\n    chart.dot(i, 9.0, title='d')\n"
        "    if i == len(ohlcv) - 1:\n        chart.dot(i, 8.0, title='d', provisional=True)"
    ),
    "lines at means that are summed up from the last bar": (
        """
c, n = ohlcv.close * 1.1, len(ohlcv)
tail = [0.0] * (n + 1)
for i in reversed(range(n)):
    tail[i] = tail[i + 1] + c[i]
for i in range(10, n, 10):
    y = (tail[i - 10] - tail[i]) / 10
    chart.new_line(i, y, i + 5, y)
    chart.new_box(i, y, i + 5, y - 1)
    chart.new_label(i, y, "mean")
    chart.hline(y)
"""
    ),
    "a plot that has colours bar by bar on some bars only": (
        "n, c = len(ohlcv), ohlcv.close\n"
        "chart.line(c, color='red' if n % 2 else ta.where(c > ohlcv.open, 'green', 'red'))"
    ),
    "bars without a value, which may have any colour": (
        "n, c = len(ohlcv), ohlcv.close\n"
        "some = [c[i] if i % 3 else None for i in range(n)]\n"
        "chart.bars(some, color=['red' if i % 3 or n % 2 else 'green' for i in range(n)])"
    ),
    "dots of two colours": (
        "up = ohlcv.close > ohlcv.open\n"
        "chart.dot(up, ohlcv.low, color='green')\nchart.dot(~up, ohlcv.high, color='red')\n"
        "chart.dot(up, ohlcv.close, color=ta.where(ohlcv.close > 4000, 'green', 'red'))"
    ),
    "a label that follows the last bar": "chart.new_label(len(ohlcv) - 1, ohlcv.close[-1], 'now')",
    "a label whose handle follows the last bar": (
        """
c = ohlcv.close
label = chart.new_label(0, c[0], "")
for i in range(1, len(c)):
    label.set_xy(i, c[i])
    label.set_text("bull" if c[i] > c[i - 1] else "bear")
"""
    ),
    "a label that moves on with each high, and is provisional": (
        """
h = ohlcv.high
label = chart.new_label(0, h[0], "high", provisional=True)
for i in range(1, len(h)):
    if h[i] > h[label.get_x()]:
        label.set_xy(i, h[i])
"""
    ),
    "a label that is deleted and made again at each new high": (
        """
h = ohlcv.high
label = chart.new_label(0, h[0], "high")
for i in range(1, len(h)):
    if h[i] > h[label.get_x()]:
        label.delete()
        label = chart.new_label(i, h[i], "high")
"""
    ),
    "the last highs, the newest first": (
        """
high = ta.pivothigh(ohlcv.high, 5, 0)
tops = [i for i in range(len(ohlcv)) if not ta.isna(high[i])]
for i in reversed(tops)[:5]:
    chart.new_label(i, high[i], "H")
"""
    ),
    "lines to a time after the last bar": (
        "for i in range(20, len(ohlcv), 50):\n    t, h = ohlcv.time[i], ohlcv.high[i]\n"
        "    chart.new_line(t, h, t + 60000, h, xloc='bar_time', extend='right')"
    ),
    "boxes that end earlier than was expected": (
        "n = len(ohlcv)\nfor i in range(0, n, 40):\n"
        "    box = chart.new_box(i, ohlcv.high[i], i + 30, ohlcv.low[i])\n"
        "    if i + 10 < n:\n        box.set_right(i + 10)"
    ),
    "objects that are deleted": (
        "for i in range(0, len(ohlcv), 50):\n"
        "    if len(ohlcv) - i < 120:\n        chart.new_label(i, ohlcv.high[i], 'x')"
    ),
    "labels of which the oldest leave": (
        "for i in range(0, len(ohlcv), 4):\n    chart.new_label(i, ohlcv.high[i], 'x')"
    ),
    "highs first, then lows, of which the oldest leave": (
        "for i in range(0, len(ohlcv), 9):\n    chart.new_label(i, ohlcv.high[i], 'h')\n"
        "for i in range(0, len(ohlcv), 7):\n    chart.new_label(i, ohlcv.low[i], 'l')"
    ),
    "a line that is replaced by another": (
        "n = len(ohlcv)\nfor i in range(0, n, 40):\n"
        "    line = chart.new_line(i, ohlcv.low[i], min(i + 5, n - 1), ohlcv.low[i])\n"
        "    if n - i > 60:\n        line.delete()"
    ),
    "colours that change": (
        "up = ohlcv.close > ohlcv.open\n"
        "n = len(ohlcv)\nchart.line(ohlcv.close, color='red' if n % 2 else 'green')"
    ),
    "a polyline that grows from one point": (
        "chart.new_polyline([(i, ohlcv.close[i]) for i in range(0, len(ohlcv), 20)])"
    ),
    "backgrounds and shapes of each bar": (
        "up = ohlcv.close > ohlcv.open\n"
        "chart.background(ta.where(up, 'green', None))\nchart.shape(up, 'circle', text='up')"
    ),
    "plots whose titles tell the last value": (
        "r = ta.rsi(ohlcv.close, 14)\nfor x in [r, ta.rsi(ohlcv.close, 3)]:\n"
        "    chart.line(x, title='RSI %d' % int(ta.nz(x[-1])))\n"
        "chart.dot(r > 70, r, title='hot %d' % len(ohlcv))\n"
        "chart.hline(50, title='middle, now %d' % len(ohlcv))"
    ),
    "a label whose price is ignored": (
        "chart.new_label(0, ohlcv.close[-1], 'first', yloc='abovebar')"
    ),
    "an oscillator with other rounding near 0": (
        "c = ohlcv.close / ohlcv.close[-1]\nd = (ta.sma(c, 3) - ta.sma(c, 4)) * ohlcv.close[-1]\n"
        "chart.bars(d)"
    ),
    "dots with other rounding near 0": (
        "c = ohlcv.close / ohlcv.close[-1]\nd = (ta.sma(c, 3) - ta.sma(c, 4)) * ohlcv.close[-1]\n"
        "chart.dot(~ta.isna(d), d)"
    ),
    "a table": (
        't = chart.new_table("top_right", 1, 1)\nt.cell(0, 0, text.number(ohlcv.close[-1], 2))'
    ),
}


@in_one_test("name", HONEST)
def test_an_honest_script_passes(name):
    proof = proof_of(HONEST[name])
    assert proof.ok, proof.rewritten
    assert proof.late == ()
    assert proof.prefixes >= 20


VANISHING = """
h, l, c, n = ohlcv.high, ohlcv.low, ohlcv.close, len(ohlcv)
top = ta.highest(h, 200)
for i in range(200, n):
    if h[i] == top[i] and h[i] - c[i] > 0.5 * (h[i] - l[i]) and (i == n - 1 or c[i + 1] < c[i]):
        chart.dot(i, h[i], label="top")
"""


def test_a_signal_that_vanishes_is_found_where_the_bars_do_something():
    bars = samples.bars("sample:es-5m")
    for first in (0, 250, 500, 750):
        assert not proof_of(VANISHING, bars[first:], 100).ok


@in_one_test(
    "body",
    ["chart.line(ohlcv.close)", "chart.dot(ohlcv.close > 0, ohlcv.low)", HONEST["signals"]],
)
def test_there_are_as_many_prefixes_as_were_asked_for(body):
    assert [proof_of(body, most=most).prefixes for most in (1, 8, 60, 399, 999)] == [
        1, 8, 60, 399, 399,
    ]  # fmt: skip


def test_the_cost_of_a_run_says_on_how_many_prefixes_it_is_run():
    program = script.load(source("chart.line(ohlcv.close)"))

    def count(**options):
        proof = prove(lambda bars: script.execute(program, bars).scene, BARS[:100], **options)
        return proof.prefixes

    assert count() == 99
    assert count(fewest=7, seconds=0.0) == 7
    assert count(most=5, seconds=0.0) == 5


def test_one_that_takes_the_place_of_a_deleted_one_was_not_moved():
    body = """
high = ta.pivothigh(ohlcv.high, 5, 5)
tops = [i for i in range(len(ohlcv)) if not ta.isna(high[i])]
for i in tops[-3:]:
    chart.new_line(i - 5, high[i], len(ohlcv) - 1, high[i])
for i in reversed(tops)[:3]:
    chart.new_label(i - 5, high[i], "H")
"""
    for most in (3, 6, 12, 24, 100, 399):
        assert proof_of(body, most=most).ok


@pytest.mark.parametrize("place", ["na, na, na, na", "0, na, 1, na", "na, 1, na, 1"])
def test_an_object_without_a_place_may_be_set_anywhere(place):
    body = f"""
na = None
line = chart.new_line({place})
high = ohlcv.high
for i in range(200, len(ohlcv)):
    if i == 200:
        line.set_xy1(20, high[20])
        line.set_xy2(30, high[20])
"""
    proof = proof_of(body)
    assert proof.ok, proof.rewritten
    assert [(late.what, late.bar) for late in proof.late] == [("line", 20)]


def test_an_object_that_had_a_place_and_moves_is_still_found():
    proof = proof_of(
        """
line = chart.new_line(None, None, None, None)
high = list(ohlcv.high)
top = high.index(max(high))
line.set_xy1(0, high[top])
line.set_xy2(1, high[top])
"""
    )
    assert proof.rewritten.what == "line"


def test_what_changed_is_written_with_the_digits_in_which_it_differs():
    body = "chart.new_line(0, 1.0 + 2e-9 * len(ohlcv), 1, 1.0)\nchart.hline(1 + 2e-9 * len(ohlcv))"
    for line in body.split("\n"):
        change = proof_of(line).rewritten
        assert change.before != change.after


def test_what_is_drawn_before_it_was_known_is_late_by_so_many_bars():
    body = """
high = ta.pivothigh(ohlcv.high, 5, 3)
for i in range(len(ohlcv)):
    if not ta.isna(high[i]):
        chart.new_label(i - 3, high[i], "H")
chart.line(ta.shift(ohlcv.close, -2) if len(ohlcv) < 0 else ohlcv.close, title="c")
chart.line(ta.pivothigh(ohlcv.high, 5, 3), title="known", offset=-3)
chart.dot(~ta.isna(high), high, label="H", title="told", offset=-3)
"""
    proof = proof_of(body)
    assert proof.ok, proof.rewritten
    delays = {late.what: (late.delay, late.told) for late in proof.late}
    assert delays == {
        "label": (3, 0),
        "line 'known'": (3, 0),
        "dot 'told'": (3, 0),
        "signal 'H'": (3, 3),
    }
    assert all(late.count > 1 for late in proof.late)


def test_prefixes_that_cannot_be_run_are_told():
    proof = proof_of("chart.hline(ohlcv.close[30])", most=40)
    assert proof.ok
    assert "bars:" in proof.failed and "outside" in proof.failed
    assert proof.prefixes < 40


@in_one_test(("times", "proves"), [(1, True), (2, False)])
def test_a_busy_host_is_asked_once_more_and_leaves_no_gap_in_the_proof(times, proves):
    program = script.load(source("chart.line(ohlcv.close)"))
    busy = {100: times}

    def run(prefix):
        if busy.get(len(prefix), 0):
            busy[len(prefix)] -= 1
            raise script.ScriptError("run", "busy", "this host is busy")
        return script.execute(program, prefix).scene

    if proves:
        proof = prove(run, BARS[:101], 200)
        assert (proof.ok, proof.prefixes, proof.failed) == (True, 100, "")
    else:
        with pytest.raises(script.ScriptError, match="busy"):
            prove(run, BARS[:101], 200)


def test_nothing_is_proved_by_a_script_that_runs_on_no_prefix():
    with pytest.raises(script.ScriptError, match="on 399 bars: too few"):
        proof_of("if len(ohlcv) < 400:\n    fail('too few')\nchart.hline(ohlcv.close[-1])")


def test_an_indicator_that_fails_on_all_bars_is_an_error():
    with pytest.raises(script.ScriptError, match="outside"):
        proof_of("chart.hline(ohlcv.close[30000])")


# What later bars may still change of a builtin. Of all others nothing may change.
PROVISIONAL = {
    "hvn_lvn": ("hline 'HVN'", "hline 'LVN'"),
    "linreg_channel": ("lines",),
    "naked_poc": ("divline 'dPOC'",),  # and 'nPOC', of which these bars have none
    "session_vp": ("line 'POC'", "line 'VAH'", "line 'VAL'"),
    "sessions": ("boxes",),
    "tpo": ("hbar", "hline 'POC'", "hline 'VAH'", "hline 'VAL'"),
    "volume_profile": ("hbar", "hline 'POC'", "hline 'VAH'", "hline 'VAL'"),
    "zigzag": ("labels", "lines"),
}
BUILTINS = [known for known in list_indicators() if known.source == "builtin"]


@in_one_test("builtin", BUILTINS, ids=lambda builtin: builtin.name)
def test_every_builtin_passes_and_lists_what_is_provisional(builtin):
    values = resolve(builtin.params, {}, builtin.name)
    numbers = dict.fromkeys(getattr(builtin, "numbers", ()), BARS.close)
    readings = {builtin.name: Readings(BARS.time, numbers)} if numbers else {}

    def draw(bars):
        return builtin.draw(bars, values, cut_supplies(readings, bars))

    proof = prove(draw, BARS[:300], 20)
    assert proof.ok, proof.rewritten
    assert proof.provisional == PROVISIONAL.get(builtin.name, ())
    assert not proof.failed


def test_a_check_warns_of_a_script_that_rewrites_its_past():
    (warning,) = validate(source(REPAINTERS["a level at the last close"][0])).warnings
    assert (warning.kind, warning.step) == ("lookahead", "dry_run")
    assert "hline 'last'" in warning.message
    assert "provisional=True" in warning.hint
    assert validate(source(HONEST["averages"])).warnings == ()


HINDSIGHT = """
c, n = ohlcv.close, len(ohlcv)
cross = ta.crossover(ta.ema(c, 9), ta.ema(c, 21))
good = [cross[i] and min([c[j] for j in range(i, min(n, i + 10))]) > c[i] * 0.999 for i in range(n)]
"""


@in_one_test(
    "body",
    [
        HINDSIGHT + "chart.dot(good, c, label='buy')",
        HINDSIGHT + "chart.shape(good, 'triangleup')",
        REPAINTERS["a label that moves on to each new high"][0],
        REPAINTERS["labels that move for some bars"][0],
        REPAINTERS["dots that are coloured by later bars"][0],
    ],
)
def test_a_check_finds_signals_that_vanish_and_labels_that_move(body):
    assert "lookahead" in [warning.kind for warning in validate(source(body)).warnings]


@in_one_test("name", HONEST)
def test_a_check_does_not_warn_of_an_honest_script(name):
    assert "lookahead" not in [warning.kind for warning in validate(source(HONEST[name])).warnings]


def test_a_check_runs_an_expensive_script_on_fewer_prefixes():
    def count_runs(body):
        runs = []

        def run(source, bars, limits, extras):
            runs.append(len(bars))
            return run_here(source, bars, limits, extras)

        validate(source(body), run=run)
        return len([size for size in runs if size < PROOF_BARS and size != DRY_RUN_BARS])

    assert count_runs("chart.line(ohlcv.close)") > 20
    slow = "x = 0\nfor i in range(len(ohlcv) * 4000):\n    x += 1\nchart.line(ohlcv.close)"
    assert count_runs(slow) < 12


def test_a_check_warns_of_a_signal_that_counts_as_known_before_it_was():
    body = "c, n = ohlcv.close, len(ohlcv)\n"
    early = "chart.dot([i + 3 < n and c[i + 3] > c[i] for i in range(n)], c, label='buy')"
    (warning,) = validate(source(body + early)).warnings
    assert (warning.kind, warning.step) == ("lookahead", "dry_run")
    assert "signal 'buy' at bar 0: known 3 bars later" in warning.message
    assert "offset=-3" in warning.hint
    told = "chart.dot([i > 2 and c[i] > c[i - 3] for i in range(n)], c, label='buy', offset=-3)"
    assert validate(source(body + told)).warnings == ()


def test_a_check_looks_for_rewriting_even_where_5000_bars_cannot_be_run():
    body = "if len(ohlcv) > 1000:\n    fail('long')\nchart.hline(ohlcv.close[-1])"
    warnings = validate(source(body)).warnings
    assert [warning.kind for warning in warnings] == ["value", "lookahead"]


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    def run(body: str, *options: str) -> tuple[int, str, str]:
        file = tmp_path / "mine.star"
        file.write_text(source(body))
        arguments = ["chartpact", "prove", str(file), "sample:es-5m", "--prefixes", "8", *options]
        monkeypatch.setattr("sys.argv", arguments)
        code = main()
        return code, *capsys.readouterr()

    return run


def test_the_command_says_what_was_rewritten_and_ends_with_six(shell):
    code, out, _ = shell(REPAINTERS["a level at the last close"][0])
    assert code == 6
    assert "rewritten: hline 'last'" in out
    code, out, _ = shell(HONEST["averages"])
    assert code == 0
    assert "nothing was rewritten" in out


def test_the_command_proves_what_is_built_in_by_its_name(capsys):
    arguments = ["sample:es-5m", "--prefixes", "8"]
    assert main(["prove", "ZigZag", *arguments]) == 0
    out = capsys.readouterr().out
    assert out.startswith("ZigZag: 8 prefixes of 2,760 bars\n")
    assert "provisional: lines" in out
    assert main(["prove", "rsi", *arguments, "--param", "length=0"]) != 0
    assert "rsi: period='0' is out of range" in capsys.readouterr().err


def test_the_proof_as_json(shell):
    code, out, err = shell(REPAINTERS["a level at the last close"][0], "--json")
    proof = json.loads(out)
    assert (code, proof["ok"], err) == (6, False, "")
    assert proof["rewritten"].keys() == {
        "what", "bar", "time", "bars", "later", "before", "after",
    }  # fmt: skip
    assert proof.keys() == {
        "indicator", "ok", "bars", "prefixes", "rewritten", "late", "provisional", "failed",
    }  # fmt: skip


def test_a_script_with_an_error_ends_with_four(shell):
    code, _, err = shell("x = nothing_of_that_name")
    assert code == 4
    assert "nothing_of_that_name" in err


def test_supplies_are_cut_to_what_there_was():
    bars = dry_run_bars(50)
    readings = Readings(bars.time, {"rate": bars.close})
    cut = cut_supplies({"other": bars, "funding": readings, "events": ()}, bars[:20])
    assert len(cut["other"]) == 20
    assert cut["funding"].time[-1] <= bars[:20].close_time[-1]
    assert len(cut["funding"].values["rate"]) == len(cut["funding"].time) < 50
    assert cut["events"] == ()


def test_the_outcome_of_an_event_is_not_known_before_it():
    bars = dry_run_bars(50)
    ended = int(bars[:20].close_time[-1])
    before, after = (
        {"time_utc": time, "title": "CPI", "forecast": "1", "actual": "2", "revised": "3"}
        for time in (ended, ended + 1)
    )
    assert cut_supply((before, after), bars[:20]) == (
        before,
        {**after, "actual": None, "revised": None},
    )
    assert cut_supply((before, after), bars) == (before, after)
