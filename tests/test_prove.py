"""Planted repainters are found, and honest scripts pass."""

import json

import pytest

from chartpact import script
from chartpact.__main__ import main
from chartpact.bars import samples
from chartpact.catalogue import list_indicators
from chartpact.needs import Readings, cut_supplies
from chartpact.params import resolve
from chartpact.prove import prove
from chartpact.script.dry_run import dry_run_bars, validate

BARS = samples.bars("sample:es-5m")[:400]
HEAD = 'PARAMS = []\nMETA = {"title": "x", "overlay": True}\n\ndef compute(ohlcv, params, chart):\n'


def source(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.strip().split("\n"))


def proof_of(body: str, bars=BARS, most=40):
    program = script.load(source(body))
    return prove(bars, lambda prefix: script.execute(program, prefix).scene, most)


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
    "a polyline of two points that becomes another of three": (
        """
n = len(ohlcv)
points = [(0, ohlcv.close[0]), (n // 2, ohlcv.close[n // 2]), (n - 1, ohlcv.close[-1])]
chart.new_polyline(points if n > 100 else points[:2])
""",
        "polyline",
    ),
}


@pytest.mark.parametrize("name", REPAINTERS)
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
    "a label that follows the last bar": "chart.new_label(len(ohlcv) - 1, ohlcv.close[-1], 'now')",
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
    "a table": (
        't = chart.new_table("top_right", 1, 1)\nt.cell(0, 0, text.number(ohlcv.close[-1], 2))'
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_script_passes(name):
    proof = proof_of(HONEST[name])
    assert proof.ok, proof.rewritten
    assert proof.late == ()
    assert proof.prefixes >= 20


def test_what_is_drawn_before_it_was_known_is_late_by_so_many_bars():
    body = """
high = ta.pivothigh(ohlcv.high, 5, 3)
for i in range(len(ohlcv)):
    if not ta.isna(high[i]):
        chart.new_label(i - 3, high[i], "H")
chart.line(ta.shift(ohlcv.close, -2) if len(ohlcv) < 0 else ohlcv.close, title="c")
chart.line(ta.pivothigh(ohlcv.high, 5, 3), title="known", offset=-3)
"""
    proof = proof_of(body)
    assert proof.ok, proof.rewritten
    delays = {late.what: late.delay for late in proof.late}
    assert delays == {"label": 3, "line 'known'": 3}
    assert all(late.count > 1 for late in proof.late)


def test_prefixes_that_cannot_be_run_are_told():
    proof = proof_of("chart.hline(ohlcv.close[30])", most=40)
    assert proof.ok
    assert "bars:" in proof.failed and "outside" in proof.failed
    assert proof.prefixes < 40


@pytest.mark.parametrize(("times", "proves"), [(1, True), (2, False)])
def test_a_busy_host_is_asked_once_more_and_leaves_no_gap_in_the_proof(times, proves):
    program = script.load(source("chart.line(ohlcv.close)"))
    busy = {100: times}

    def run(prefix):
        if busy.get(len(prefix), 0):
            busy[len(prefix)] -= 1
            raise script.ScriptError("run", "busy", "this host is busy")
        return script.execute(program, prefix).scene

    if proves:
        proof = prove(BARS[:101], run, 200)
        assert (proof.ok, proof.prefixes, proof.failed) == (True, 100, "")
    else:
        with pytest.raises(script.ScriptError, match="busy"):
            prove(BARS[:101], run, 200)


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


@pytest.mark.parametrize("builtin", BUILTINS, ids=lambda builtin: builtin.name)
def test_every_builtin_passes_and_lists_what_is_provisional(builtin):
    values = resolve(builtin.params, {}, builtin.name)
    numbers = dict.fromkeys(getattr(builtin, "numbers", ()), BARS.close)
    readings = {builtin.name: Readings(BARS.time, numbers)} if numbers else {}

    def draw(bars):
        return builtin.draw(bars, values, cut_supplies(readings, bars))

    proof = prove(BARS[:300], draw, 20)
    assert proof.ok, proof.rewritten
    assert proof.provisional == PROVISIONAL.get(builtin.name, ())
    assert not proof.failed


def test_a_check_warns_of_a_script_that_rewrites_its_past():
    (warning,) = validate(source(REPAINTERS["a level at the last close"][0])).warnings
    assert (warning.kind, warning.step) == ("lookahead", "dry_run")
    assert "hline 'last'" in warning.message
    assert "provisional=True" in warning.hint
    assert validate(source(HONEST["averages"])).warnings == ()


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
