"""The doors of the language: check, compile, execute, run."""

import ast
from cProfile import Profile
from dataclasses import replace

import numpy as np
import pytest

import chartpact as cp
from chartpact import sandbox, script
from chartpact.script.check.report import CheckReport
from chartpact.script.dry_run import dry_run_bars, run_here
from chartpact.script.errors import ScriptError, read_warning
from chartpact.script.program import Program

SMA = """
PARAMS = [{"name": "n", "type": "int", "default": 3, "min": 1, "desc": "Bars"}]
META = {"title": "Average", "overlay": True}

def compute(ohlcv, params, chart):
    chart.line(ta.sma(ohlcv.close, params["n"]), title="SMA", color="red")
"""


def test_a_script_draws_what_ta_computes():
    bars = dry_run_bars()
    (line,) = sandbox.run(SMA, bars, {"n": 5}).scene.plots
    assert line.title == "SMA"
    assert np.array_equal(line.values, cp.ta.sma(bars.close, 5), equal_nan=True)


def test_the_same_run_costs_the_same_steps():
    bars = dry_run_bars()
    assert len({sandbox.run(SMA, bars).steps for _ in range(3)}) == 1


def test_a_program_survives_being_dumped_and_belongs_to_its_source():
    program = script.load(SMA)
    loaded = Program.undump(SMA, program.dump())
    assert loaded is not None
    assert loaded.params == program.params
    bars = dry_run_bars()
    assert script.execute(loaded, bars).scene == script.execute(program, bars).scene
    assert Program.undump(SMA + "\n", program.dump()) is None


def test_parameters_are_checked_against_params():
    with pytest.raises(script.ScriptError) as caught:
        sandbox.run(SMA, dry_run_bars(), {"n": 0})
    assert (caught.value.step, caught.value.kind) == ("run", "value")


def test_params_has_up_to_200_entries():
    def source(count):
        entries = [{"name": f"p{at}", "type": "int", "default": at} for at in range(count)]
        head = f"PARAMS = {entries}\nMETA = {{'title': 'x'}}\n"
        return head + "def compute(ohlcv, params, chart):\n    pass\n"

    assert len(script.load(source(200)).params) == 200
    with pytest.raises(script.ScriptError, match="PARAMS has at most 200 entries"):
        script.load(source(201))


def test_check_tells_params_meta_and_steps():
    verdict = sandbox.validate(SMA)
    assert verdict.ok
    assert verdict.params[0]["name"] == "n"
    assert verdict.meta == {"title": "Average", "overlay": True}
    assert verdict.steps > 0


LOOP = """PARAMS = []
META = {{"title": "Loop"}}
def compute(ohlcv, params, chart):
    total = 0
    for i in range({warmup}, len(ohlcv)):
        for j in range({turns}):
            total += j
"""


def test_a_check_tells_what_5000_bars_cost():
    for source in (SMA, LOOP.format(warmup=90, turns=100)):
        verdict = script.validate(source)
        assert verdict.warnings == ()
        assert (
            verdict.steps_forecast == script.execute(script.load(source), dry_run_bars(5_000)).steps
        )


@pytest.mark.parametrize("size", ["1000", "len(ohlcv)"])
def test_a_script_that_does_not_fit_at_5000_bars_is_warned_of_with_its_size_and_place(size):
    source = LOOP.format(warmup=0, turns=f"{size} * 4")
    verdict = script.validate(source)
    (warning,) = verdict.warnings
    assert verdict.ok
    assert (warning.step, warning.kind, warning.line) == ("dry_run", "budget", 6)
    program = script.load(source)
    steps = script.execute(program, dry_run_bars(1_000), budget=10**9).steps
    scale = 5 if size == "1000" else 25
    assert 0.4 * scale * steps < verdict.steps_forecast < 1.2 * scale * steps
    assert warning.message.startswith("5,000 bars take about ")


def test_the_warning_does_not_say_that_what_a_run_has_is_too_much():
    def count_steps(turns: int) -> int:
        program = script.load(LOOP.format(warmup=0, turns=turns))
        return script.execute(program, dry_run_bars(1_000), budget=10**9).steps

    most = script.Limits().steps
    first, second = count_steps(100), count_steps(200)
    turns = 100 + (1.01 * most / 5 - first) * 100 / (second - first)  # a hundredth too many
    (warning,) = script.validate(LOOP.format(warmup=0, turns=round(turns))).warnings
    assert warning.message == f"5,000 bars take more than the {most:,} steps that a run has"


@pytest.mark.parametrize(("turns", "warned"), [("len(ohlcv) * 4", True), ("100", False)])
def test_a_check_on_a_busy_host_forecasts_by_shorter_runs(turns, warned):
    def run(source, bars, limits, extras):
        if len(bars) == 5_000 and limits.steps == script.Limits().steps:
            raise ScriptError("run", "busy", "this host is busy")
        return run_here(source, bars, limits, extras)

    source = LOOP.format(warmup=0, turns=turns)
    busy, idle = script.validate(source, run=run), script.validate(source)
    assert idle.steps_forecast * 0.7 < busy.steps_forecast < idle.steps_forecast * 1.4
    assert busy.warnings == idle.warnings
    assert [warning.line for warning in busy.warnings] == ([6] if warned else [])


def test_what_fails_on_more_bars_alone_is_a_warning():
    body = "    chart.hline([1.0] [0 if len(ohlcv) < 500 else 1])\n"
    verdict = script.validate(
        'PARAMS = []\nMETA = {"title": "x"}\ndef compute(ohlcv, params, chart):\n' + body
    )
    (warning,) = verdict.warnings
    assert verdict.ok
    assert (warning.step, warning.kind, warning.line) == ("dry_run", "value", 4)
    assert warning.message.startswith("on 5,000 bars ")


def test_warnings_of_the_check_come_with_a_place_and_in_limited_number():
    source = "x = 1\nlonger = 2\n"
    report = CheckReport("check", source)
    for _ in range(100):
        report.warn(ast.parse(source).body[1], "lookahead", "look", "shift")
    assert len(report.warnings) == 20
    assert read_warning(report.warnings[0].to_json()) == report.warnings[0]
    assert (report.warnings[0].line, report.warnings[0].column) == (2, 1)


def test_check_names_the_step_that_failed():
    broken = SMA.replace('params["n"]', '"three"')
    (error,) = sandbox.validate(broken).errors
    assert (error.step, error.line) == ("dry_run", 6)


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("if up: pass", "up"),
        ("if 1 > 0 and up: pass", "up"),
        ("if not up: pass", "up:"),
        ("x = 1 if up else 2", "up"),
        ("if ohlcv.close > 1: pass", "ohlcv.close"),
        ("x = [i for i in [1] if up]", "up]"),
        ("@up", "up"),
    ],
)
def test_the_column_is_that_of_the_condition(line, at):
    body = f"    up = ohlcv.close > ohlcv.open\n    {line}\n    def f(): pass\n"
    (error,) = sandbox.validate(
        f'PARAMS = []\nMETA = {{"title": "x"}}\ndef compute(ohlcv, params, chart):\n{body}'
    ).errors
    assert (error.line, error.column) == (5, 5 + line.index(at))


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ("  x = 1\n   y = 2\n", (5, 4)),
        ("    if True:\n        x = 1\n      y = 2\n", (6, 7)),
        ("    if True:\n    x = 1\n", (5, 5)),
        ("", (3, 1)),
    ],
)
def test_a_wrong_indent_is_told_where_its_line_begins(body, at):
    head = 'PARAMS = []\nMETA = {"title": "x"}\ndef compute(ohlcv, params, chart):\n'
    (error,) = sandbox.validate(head + body).errors
    assert (error.kind, error.line, error.column) == ("syntax", *at)


def test_an_error_survives_json():
    with pytest.raises(script.ScriptError) as caught:
        script.load("x = 1 +")
    error = caught.value
    assert script.ScriptError.from_json(error.to_json()).to_json() == error.to_json()


@pytest.mark.needs_shared
def test_the_example_of_the_source_document_runs_verbatim(shared):
    source = (shared / "seeds" / "example.star").read_text()
    assert sandbox.validate(source).ok
    result = sandbox.run(source, cp.load("sample:es-5m"))
    kinds = [plot.kind for plot in result.scene.plots]
    assert kinds == ["line", "line", "fill", "hline", "hline"]


HIGHER = """
PARAMS = [{"name": "other", "type": "symbol"}]
META = {"title": "Two symbols, two timeframes"}

def compute(ohlcv, params, chart):
    other = params["other"]
    chart.line(other.security("1h").close, title="hour")
    chart.line(other.security("15m").security("1h").close, title="hour of quarters")
    chart.line(ohlcv.security("15m").security("1h").close, title="own hour")
    print(len(other), len(other.security("1h")), len(other.resample("1h")))
"""


def test_higher_bars_of_another_symbol_lie_on_the_bars_of_the_chart() -> None:
    bars = dry_run_bars(300)
    there = np.flatnonzero(np.arange(300) % 7 < 5)[:150]
    other = dry_run_bars(300).take(there)
    result = sandbox.run(HIGHER, bars, extras=script.Extras({"other": other}, {}))
    hours, own = other.resample("1h"), bars.resample("1h")

    def seen(higher, closed):
        over = higher.close[higher.close_time <= closed]
        return over[-1] if len(over) else np.nan

    expected = [seen(hours, closed) for closed in bars.close_time]
    lines = {line.title: line.values for line in result.scene.plots}
    assert np.array_equal(lines["hour"], expected, equal_nan=True)
    assert np.array_equal(lines["hour of quarters"], expected, equal_nan=True)
    expected = [seen(own, closed) for closed in bars.close_time]
    assert np.array_equal(lines["own hour"], expected, equal_nan=True)
    assert result.log == (f"300 300 {len(hours)}",)


def test_lines_by_condition_are_those_that_a_loop_would_draw() -> None:
    head = 'PARAMS = []\nMETA = {"title": "x"}\ndef compute(ohlcv, params, chart):\n'
    given = """    c = ohlcv.close
    n = ohlcv.bar_index
    up = (c > ta.shift(c, 1)) & (c < 110)
    begin = ta.where(c > 101, n - 9, n + 480)
    paint = ta.where(c > 104, "red", ta.where(c > 102, "blue", None))
"""
    at_once = f"{given}    chart.divline(begin, c - 1, up, c, offset=-4, color=paint, title='t')\n"
    one_by_one = f"""{given}    for i in range(len(ohlcv)):
        if up[i] and paint[i] != None and begin[i] - 4 >= 0 and i - 4 >= 0 and begin[i] - 4 < 600:
            chart.divline(int(begin[i]), c[i] - 1, i, c[i], offset=-4, color=paint[i], title='t')
"""
    scenes = [
        script.execute(script.load(head + body), dry_run_bars()).scene
        for body in (at_once, one_by_one)
    ]
    assert scenes[0] == scenes[1]
    assert 10 < len(scenes[0].plots) < 60
    assert {plot.color for plot in scenes[0].plots} == {"#f23645ff", "#2962ffff"}


# ------------------------------------------------------------------------- how long compiling takes

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\n'
COMPUTE = "def compute(ohlcv, params, chart):\n"


def work(source: str) -> int:
    """What it takes to check and compile a source: the calls of Python functions, not the time."""
    profile = Profile(builtins=False)
    profile.runcall(script.examine, source, script.Limits())
    return sum(function.callcount for function in profile.getstats())


@pytest.mark.parametrize(
    "lines",
    [
        lambda n: [f"v{i % 400} = {i}" for i in range(n)],
        lambda n: ["x = 1", *[f"x = x + {i}" for i in range(n)]],
        lambda n: ["x = 1", *[f"if x > {i}: y{i % 400} = x" for i in range(n)]],
        lambda n: [f"for i{i % 400} in range(3): x = i{i % 400}" for i in range(n)],
        lambda n: [f"f = lambda a: a + {i}" for i in range(n)],
        lambda n: [f"x = [i for i in range({i})]" for i in range(n)],
        lambda n: ["x = [1]", *["x[0] = x[0] + x[0]"] * n],
        lambda n: [" " * d + f"if {d}:" for d in range(min(n // 20, 90))] + [" " * 95 + "pass"],
    ],
)
@pytest.mark.slow
def test_twice_the_source_takes_twice_the_work(lines):
    def source(n):
        return HEAD + COMPUTE + "".join(f"    {line}\n" for line in lines(n))

    assert work(source(600)) < 2.6 * work(source(300))


def test_many_functions_take_work_by_their_number():
    def source(n):
        made = "".join(f"def f{i}(a):\n    b = [a]\n    return b[0]\n" for i in range(n))
        return HEAD + made + COMPUTE + "    f0(1)\n"

    assert work(source(400)) < 2.6 * work(source(200))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (HEAD + COMPUTE + "    x = 1\n" + f"    x = {'+'.join(['x'] * 70)}\n" * 400, "parts"),
        (HEAD + f"X = [{', '.join(['[' * 30 + ']' * 30] * 900)}]\n", "parts"),
        (HEAD + COMPUTE + "".join(f"    v{i} = 1\n" for i in range(501)), "at most 500 names"),
    ],
)  # fmt: skip
def test_what_would_take_too_long_to_compile_is_refused_for_its_size(source, said):
    assert len(source) <= 65_536
    with pytest.raises(script.ScriptError) as caught:
        script.load(source)
    assert caught.value.kind == "size"
    assert said in caught.value.message
    assert caught.value.hint


ANCHORED = """
PARAMS = [
    {"name": "from", "type": "time", "default": "1970-01-01T00:00Z"},
    {"name": "until", "type": "time", "inline": "row"},
    {"name": "level", "type": "price", "min": 0, "tooltip": "drawn as a line"},
]
META = {"title": "Anchored"}
def compute(ohlcv, params, chart):
    print(type(params["from"]), params["from"], params["until"], params["level"])
    if params["level"] != None:
        chart.hline(params["level"])
"""


def test_a_time_is_milliseconds_and_a_price_a_number_and_both_may_stay_unset():
    program = script.load(ANCHORED)
    bars = dry_run_bars()
    assert script.execute(program, bars).log == ("int 0 None None",)
    given = {"from": "2024-01-31", "until": 1_706_693_400_000, "level": "5150.25"}
    result = script.execute(program, bars, given)
    assert result.log == ("int 1706659200000 1706693400000 5150.25",)
    assert result.scene.plots[0].y == 5150.25
    with pytest.raises(script.ScriptError, match="from='soon' is not a time"):
        script.execute(program, bars, {"from": "soon"})
    with pytest.raises(script.ScriptError, match="level=-1 is out of range"):
        script.execute(program, bars, {"level": -1})


@pytest.mark.parametrize("kind", ["int", "float", "str", "color", "session", "timeframe"])
def test_a_parameter_whose_default_is_none_is_unset_until_it_is_given(kind):
    declared = f'PARAMS = [{{"name": "n", "type": "{kind}", "default": None}}]\n'
    source = f'{declared}META = {{"title": "x"}}\ndef compute(ohlcv, params, chart):\n'
    source += '    print(params["n"] == None)\n'
    given = {"color": "teal", "session": "0930-1600", "timeframe": "1D"}.get(kind, 5)
    given = "5" if kind == "str" else given
    program, bars = script.load(source), dry_run_bars()
    assert sandbox.inspect(source).params == program.params
    assert script.execute(program, bars).log == ("True",)
    assert script.execute(program, bars, {"n": given}).log == ("False",)


@pytest.mark.parametrize("kind", ["bool", "choice"])
def test_a_flag_and_a_choice_cannot_be_unset(kind):
    options = ', "options": ["a"]' if kind == "choice" else ""
    declared = f'PARAMS = [{{"name": "n", "type": "{kind}", "default": None{options}}}]\n'
    with pytest.raises(script.ScriptError, match="n needs a default"):
        script.load(f'{declared}META = {{"title": "x"}}\ndef compute(ohlcv, params, chart): pass\n')


def test_a_script_that_needs_volume_refuses_bars_that_have_none(tmp_path):
    file = tmp_path / "mine.star"
    file.write_text(SMA.replace('"overlay": True', '"overlay": True, "needs_volume": True'))
    bars = dry_run_bars()
    silent = replace(bars, volume=np.full(len(bars), np.nan))
    drawn, refused = (cp.chart(each, [str(file)]).drawn[0] for each in (bars, silent))
    assert drawn.error is None
    assert refused.error.message.endswith("needs volume, and these bars have none")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ('"type": "time", "default": "soon"', "n='soon' is not a time"),
        (
            '"type": "time", "min": 5',
            "min is a finite number, and goes with int, float, price only",
        ),
        ('"type": "price", "default": "5"', "n: the default is a string"),
        ('"type": "price", "tooltip": 5', "tooltip is a string"),
        ('"type": "price", "inline": None', "inline is a string"),
        ('"type": "price", "tooltipp": "x"', "PARAMS knows no 'tooltipp'"),
    ],
)
def test_a_wrong_declaration_is_refused_at_its_place(entry, said):
    source = f'PARAMS = [{{"name": "n", {entry}}}]\nMETA = {{"title": "x"}}\n'
    with pytest.raises(script.ScriptError, match=said) as refused:
        script.load(source + "def compute(ohlcv, params, chart):\n    pass\n")
    last_value = source.index(entry.rpartition(": ")[2] + "}") + 1
    assert (refused.value.line, refused.value.column) == (1, last_value)


def test_the_first_bar_in_view_is_known_to_all_bars_of_a_run():
    seen = (
        'PARAMS = [{"name": "other", "type": "symbol"}]\nMETA = {"title": "x"}\n'
        "def compute(ohlcv, params, chart):\n"
        '    higher = ohlcv.resample("1h")\n'
        "    first = ohlcv.first_visible\n"
        "    print(first + 0, type(first), params['other'].first_visible)\n"
        "    print(ohlcv.security('1h').first_visible, higher.first_visible)\n"
        "    if first > 0:\n"
        "        print(higher.time[higher.first_visible] <= ohlcv.time[first],\n"
        "              higher.time[higher.first_visible + 1] > ohlcv.time[first])\n"
        "        ohlcv.security('1h', lambda h: [print(h.first_visible)] * len(h))\n"
    )
    bars = cp.load("sample:es-5m")[:300]
    program = script.load(seen)
    without = script.execute(program, bars, extras=script.Extras({"other": bars}))
    assert without.log == ("0 int 0", "0 0")
    result = script.execute(program, bars, extras=script.Extras({"other": bars}, {}, 100))
    number = result.log[1].split()[1]
    assert result.log == ("100 int 100", f"100 {number}", "True True", number)
