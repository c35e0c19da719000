"""Scripts in the sandbox draw what they draw outside, and what comes back is not believed."""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact import sandbox, script
from chartpact.bars import Bars
from chartpact.cache import Cache
from chartpact.sandbox import answers, packing, scripts, wire
from chartpact.sandbox.pool import Answered, Pool
from chartpact.script import Extras, Inspected, Limits, ScriptError, stock
from chartpact.script.dry_run import dry_run_bars

from .conftest import Ask

BARS = dry_run_bars(400)


def source(body: str, params: str = "[]") -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    head = f'PARAMS = {params}\nMETA = {{"title": "T"}}\n'
    return f"{head}def compute(ohlcv, params, chart):\n{lines}"


@pytest.mark.parametrize("name", stock.NAMES)
def test_a_run_in_the_sandbox_is_the_run_in_this_process(name: str) -> None:
    inside = sandbox.run(stock.source(name), BARS)
    outside = script.execute(script.load(stock.source(name)), BARS)
    assert inside.scene.to_json() == outside.scene.to_json()
    assert (inside.steps, inside.log) == (outside.steps, outside.log)


def test_bars_arrive_whole() -> None:
    text = source(
        "print(ohlcv.symbol, ohlcv.timeframe, ohlcv.tick_size, len(ohlcv), ohlcv.time[0])\n"
        "print(ohlcv.resample('1h').time[0])"
    )
    inside, outside = sandbox.run(text, BARS), script.execute(script.load(text), BARS)
    assert inside.log == outside.log
    assert inside.log[0] == "DRYRUN 5m 0.01 400 1700000100000"


def other_bars(number: int) -> Bars:
    return Bars(BARS.time, *[number + each for each in _prices(BARS)], BARS.volume, "X", "5m")


def test_runs_on_the_same_bars_share_one_file_of_them() -> None:
    first = scripts._share(BARS)
    assert scripts._share(BARS) is first
    sandbox.run(source("pass"), BARS)
    assert scripts._share(BARS) is first


def test_bars_are_shared_for_as_long_as_few_others_are_run_on() -> None:
    first = scripts._share(BARS)
    fd = first.fd
    several = [other_bars(number) for number in range(scripts.MOST_SHARED)]
    files = [scripts._share(bars) for bars in several]
    assert [scripts._share(bars) for bars in several] == files
    assert len(scripts._shared_bars) == scripts.MOST_SHARED
    del first
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)


def test_large_bars_leave_no_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    small: Any = Cache(8, weight=30_000, weigh=scripts._shared_bars._weigh)
    monkeypatch.setattr(scripts, "_shared_bars", small)
    several = (BARS, other_bars(1), other_bars(2))
    files = [scripts._share(bars) for bars in several]
    assert [bool(small.get(id(bars))) for bars in several] == [False, False, True]
    assert scripts._share(several[2]) is files[2]


def test_bars_are_never_taken_for_others_that_lay_in_the_same_memory() -> None:
    text = source("print(ohlcv.close[0])")
    for number in range(1, 12):
        assert sandbox.run(text, other_bars(number)).log == (str(number + BARS.close[0].item()),)


def test_a_second_symbol_and_a_calendar_are_handed_in() -> None:
    text = source(
        "print(params['other'].symbol, params['other'].close[3], params['events'][0]['title'])",
        '[{"name": "other", "type": "symbol"}, {"name": "events", "type": "calendar"}]',
    )
    other = Bars(BARS.time, *[2 * each for each in _prices(BARS)], BARS.volume, "OTHER", "5m")
    event = {"title": "CPI", "time_utc": 1_700_000_000_000, "actual": None}
    result = sandbox.run(text, BARS, extras=Extras({"other": other}, {"events": (event,)}))
    assert result.log == (f"OTHER {2 * BARS.close[3]} CPI",)


def test_a_source_that_one_user_has_is_new_to_every_other(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = scripts._ask

    def counted(*args: Any) -> Any:
        asked.append(args[4])
        return ask(*args)

    monkeypatch.setattr(scripts, "_ask", counted)
    text = source("print(1) # of ann's")
    for user, name in (("ann", "a"), ("ann", "a"), ("bob", "a"), ("ann", "b"), (None, "")):
        sandbox.run(text, BARS, user=user, name=name)
    assert asked == ["check", "run", "run", "check", "run", "check", "run", "check", "run"]


def _prices(bars: Bars) -> list[Any]:
    return [bars.open, bars.high, bars.low, bars.close]


def test_parameters_are_checked_in_the_child() -> None:
    text = source("print(params['n'])", '[{"name": "n", "type": "int", "default": 3, "min": 1}]')
    assert sandbox.run(text, BARS, {"n": "7"}).log == ("7",)
    with pytest.raises(ScriptError) as refused:
        sandbox.run(text, BARS, {"n": 0})
    assert (refused.value.kind, refused.value.step) == ("value", "run")
    with pytest.raises(ScriptError, match="neither text nor finite number"):
        sandbox.run(text, BARS, {"n": object()})
    with pytest.raises(ScriptError, match="neither text nor finite number"):
        sandbox.run(text, BARS, {"n": float("nan")})


def test_an_error_keeps_its_place() -> None:
    with pytest.raises(ScriptError) as failed:
        sandbox.run(source("x = 1\ny = x / 0"), BARS)
    assert (failed.value.step, failed.value.line) == ("run", 5)
    assert "/src/" not in str(failed.value)


def test_a_source_that_does_not_compile_is_refused_with_every_problem() -> None:
    found = sandbox.inspect(source("x = nothing_known\ny = ta.emaa(1)"))
    assert [each.line for each in found.errors] == [4, 5]
    with pytest.raises(ScriptError) as refused:
        sandbox.run("import os\n", BARS)
    assert refused.value.step in ("parse", "check")


@pytest.mark.parametrize(
    "text",
    ["x = " + "(" * 5000, "x = " + "-" * 50_000 + "1", "#" * 70_000, "x = '\ud800'", "\x00", ""],
    ids=["deep", "unary", "long", "surrogate", "nul", "empty"],
)
def test_a_hostile_source_is_a_structured_error(text: str) -> None:
    with pytest.raises(ScriptError) as refused:
        sandbox.run(text, BARS)
    assert refused.value.kind in ("syntax", "size", "forbidden", "name")


def test_too_many_bars_are_refused_before_anything_runs() -> None:
    with pytest.raises(ScriptError, match="400 bars are too many: a script runs on 399") as refused:
        sandbox.run(source("pass"), BARS, limits=Limits(bars=399))
    assert refused.value.kind == "size"


def test_a_source_is_compiled_once() -> None:
    with Pool(1) as pool:
        text = source("chart.line(ohlcv.close)  # only here")
        for _ in range(3):
            scripts.run(text, BARS, pool=pool)
        assert pool.zygote().runs == 4


def test_windows_line_ends_are_compiled_once_too() -> None:
    with Pool(1) as pool:
        text = source("print('only here')").replace("\n", "\r\n")
        assert scripts.run(text, BARS, pool=pool).log == ("only here",)


def test_what_is_kept_of_sources_is_bounded() -> None:
    known: Cache[str, Inspected] = Cache(3, weight=100, weigh=scripts._inspected._weigh)
    for name in "abcd":
        known.put(name, Inspected(code=b"x" * 10))
    assert [name for name in "abcd" if known.get(name)] == ["b", "c", "d"]
    known.put("e", Inspected(code=b"x" * 65))
    assert [name for name in "abcde" if known.get(name)] == ["d", "e"]


def test_the_budget_ends_a_loop_long_before_the_clock() -> None:
    with pytest.raises(ScriptError) as failed:
        sandbox.run(source("for i in range(1000 * 1000 * 1000):\n    x = i"), BARS)
    assert failed.value.kind == "budget"


def test_every_function_works_in_a_child_and_imports_nothing(ask: Ask) -> None:
    columns: list[wire.Column] = []
    found = ask("every_function", columns, bars=packing.pack_bars(BARS, columns)).document
    assert found["failed"] == {}
    assert found["imported"] == []
    assert [each.startswith("worked") for each in found["outcomes"]] == [True, True, False] + [
        True
    ] * 3
    assert "2023-11-15 03:43" in found["outcomes"][1]
    assert found["zones"] > 400


FULL = {
    "plots": "for i in range(2000):\n    chart.hline(i, title=str(i))",
    "lines": "for i in range(1000):\n    chart.hline(i)\n    chart.divline(0, 1, i % 400, i)",
    "dots": "for i in range(400):\n    chart.dot(i, i, label='x' * 4096 if i < 240 else None)",
    "far": "chart.dot(ohlcv.close > 0, 1, label='x', offset=500)\n"
    "chart.line(ohlcv.close, offset=999)",
    "back": "chart.dot(ohlcv.close > 0, 1, label='x', offset=-500)\n"
    "chart.fill(ohlcv.close, 1, offset=-9)",
    "labels": "for i in range(600):\n    chart.new_label(i % 400, 1, 'x' * 1990, tooltip='y')",
    "texts": "for i in range(120):\n    chart.new_label(899, 1, 'x' * 4096, tooltip='y' * 4096)",
    "cells": "t = chart.new_table('top_left', 40, 50)\n"
    "for i in range(2000):\n    t.cell(i % 40, i // 40, 'x')",
    "title": "chart.line(ohlcv.close, title='x' * 4096)\nchart.set_label('y' * 4096)",
}


@pytest.mark.parametrize("body", FULL.values(), ids=FULL)
def test_what_is_as_large_as_it_may_be_comes_out_whole(body: str) -> None:
    text = source(body).replace('"T"', '"T", "max_labels_count": 500')
    inside, outside = sandbox.run(text, BARS), script.execute(script.load(text), BARS)
    assert inside.scene.to_json() == outside.scene.to_json()
    assert inside.steps == outside.steps


@pytest.mark.parametrize("lines", [200, 201, 500])
def test_a_log_that_is_full_ends_with_a_word_about_the_rest(lines: int) -> None:
    log = sandbox.run(source(f"for i in range({lines}):\n    print('y' * 2500)"), BARS).log
    rest = ("(more than 200 lines: the rest is left out)",) if lines > 200 else ()
    assert log == ("y" * 2000,) * 200 + rest


def test_texts_that_grow_on_the_wire_are_too_large_and_no_crash() -> None:
    body = "for i in range(249):\n    chart.new_label(i, 1.0, '\U0001f600' * 4000)"
    text = source(body).replace('"T"', '"T", "max_labels_count": 500')
    with pytest.raises(ScriptError, match="does not fit") as refused:
        sandbox.run(text, dry_run_bars(20_000))
    assert refused.value.kind == "size"


# ------------------------------------------------------------------------------- forged answers


@pytest.fixture(scope="module")
def forger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Any], None]]:
    """A pool whose children answer what they are told to, whatever they are asked."""
    module = tmp_path_factory.mktemp("forger") / "forger.py"
    module.write_text(
        "import json\n"
        "import numpy as np\n"
        "from chartpact.sandbox import tasks\n"
        "COLUMNS = [np.arange(400.0), np.arange(400), np.zeros(400, np.uint8)]\n"
        "COLUMNS.append(np.full(3, np.inf))\n"
        "def run(job, columns):\n"
        "    if 'say' not in job['params']:\n"
        "        return tasks.run(job, columns)\n"
        "    return json.loads(job['params']['say']), COLUMNS\n"
        "TASKS = {'run': run}\n"
    )
    with Pool(1, planted=module) as pool:

        def ask(say: Any) -> script.Result:
            return scripts.run(source("pass"), BARS, {"say": json.dumps(say)}, pool=pool)

        yield ask


LINE = {"kind": "line", "values": 0}
GOOD = {"scene": {"plots": [LINE]}, "steps": 3, "log": ["x"]}


def test_an_honest_forgery_passes(forger: Callable[[Any], script.Result]) -> None:
    result = forger(GOOD)
    assert (result.steps, result.log) == (3, ("x",))
    np.testing.assert_array_equal(result.scene.plots[0].values, np.arange(400.0))  # type: ignore


def plot(**fields: Any) -> dict[str, Any]:
    return {**GOOD, "scene": {"plots": [{**LINE, **fields}]}}


DOT = {"x": 1, "y": 0, "size": 0, "label": [["a"], 2]}


@in_one_test(
    "say",
    [
        [],
        {},
        None,
        {**GOOD, "steps": -1},
        {**GOOD, "steps": True},
        {**GOOD, "steps": "3"},
        {**GOOD, "log": "x"},
        {**GOOD, "log": [1]},
        {**GOOD, "log": ["x"] * 202},
        {**GOOD, "log": ["x"] * 100_000},
        {**GOOD, "log": ["x" * 1_000_000]},
        {**GOOD, "scene": None},
        {**GOOD, "scene": {"plots": [None]}},
        {**GOOD, "scene": {"unknown": 1}},
        {**GOOD, "scene": {"plots": [{"kind": "__class__"}]}},
        {**GOOD, "scene": {"plots": [{"kind": ["line"]}]}},
        {**GOOD, "scene": {"plots": [{"kind": "line"}]}},
        {**GOOD, "scene": {"labels": [{"id": 1}]}},
        {**GOOD, "scene": {"y_range": [1, 0]}},
        {**GOOD, "scene": {"label": 7}},
        {**GOOD, "scene": {"signals": {"bar": 1}}},
        {**GOOD, "scene": {"limits": {"x": 1}}},
        plot(values=9),
        plot(values=-1),
        plot(values=True),
        plot(values=1),
        plot(values=3),
        plot(values=[1, 2]),
        plot(values=None),
        plot(color="no colour"),
        plot(color=[["#ff0000ff"], 1]),
        plot(color=[["#ff0000ff"], 0]),
        plot(color=[[], 2]),
        plot(color=["#ff0000ff", 1 << 40]),
        plot(color=["#ff0000ff", -1]),
        plot(color=[[7], 2]),
        plot(title="\ud800"),
        plot(title=None),
        plot(width=-1),
        plot(width="1"),
        plot(style="../etc"),
        plot(kind="dot", points=DOT),
        plot(points=DOT),
        {**GOOD, "scene": {"plots": [{"kind": "dot", "points": {**DOT, "y": 3}}]}},
        {**GOOD, "scene": {"plots": [{"kind": "dot", "points": {**DOT, "z": 1}}]}},
        {**GOOD, "scene": {"plots": [{"kind": "dot", "points": {"x": 1}}]}},
        {**GOOD, "scene": {"plots": [{"kind": "dot", "points": {**DOT, "label": [{}, 400]}}]}},
        {"error": {}},
        {"error": {"step": "run", "kind": "nonsense", "message": "", "hint": ""}},
        {"error": {"kind": "value", "message": "x", "hint": "", "line": -1}},
        {"error": "text"},
    ],
    ids=str,
)
def test_a_forged_answer_is_a_crash(forger: Callable[[Any], script.Result], say: Any) -> None:
    with pytest.raises(ScriptError) as refused:
        forger(say)
    assert refused.value.kind == "crash"
    assert "no usable answer" in refused.value.message


def test_a_forged_error_is_cut_to_a_readable_length(
    forger: Callable[[Any], script.Result],
) -> None:
    with pytest.raises(ScriptError) as failed:
        forger({"error": {"kind": "value", "message": "x" * 100_000, "hint": "y" * 100_000}})
    assert len(failed.value.message) == len(failed.value.hint) == 4000


PARAM = {"name": "n", "type": "int", "default": 1, "desc": "", "min": 1, "max": 2}
WARNING = {"step": "check", "kind": "lookahead", "line": 2, "column": 1, "message": "m", "hint": ""}
DECLARED = {
    "params": [{**PARAM, "options": None}],
    "meta": {"title": "T"},
    "warnings": [WARNING],
}


EVERY_TYPE = [
    {"name": "a", "type": "int", "default": 5, "min": 1, "max": 9, "step": 2, "group": "g"},
    {"name": "b", "type": "float", "default": 5, "tooltip": "t", "inline": "row"},
    {"name": "c", "type": "bool", "default": True, "desc": "d"},
    {"name": "d", "type": "str", "default": "é"},
    {"name": "e", "type": "choice", "default": 2, "options": [1, 2.5, "x", 2]},
    {"name": "f", "type": "color", "default": "red"},
    {"name": "g", "type": "session", "default": "0930-1600"},
    {"name": "h", "type": "timeframe", "default": "1D"},
    {"name": "i", "type": "source"},
    {"name": "j", "type": "symbol"},
    {"name": "k", "type": "calendar", "default": "x"},
    {"name": "l", "type": "time", "default": "2024-01-31T09:30Z"},
    {"name": "m", "type": "time"},
    {"name": "o", "type": "price", "default": 1.5, "min": 0},
    {"name": "p", "type": "int", "default": None, "min": 1},
]


def forged(**changes: Any) -> dict[str, Any]:
    return {**DECLARED, "params": [{**PARAM, "options": None, **changes}]}


def inspected(document: Any) -> Inspected:
    answered = Answered(document, [np.zeros(3, np.uint8)])
    return answers.read_answer(answers.read_inspected, answered, "check")


def test_whatever_params_may_declare_passes_as_it_was_declared() -> None:
    program = script.load(source("pass", params=str(EVERY_TYPE)))
    document = {"params": [param.to_json() for param in program.params], "meta": dict(program.meta)}
    document = json.loads(json.dumps({**document, "warnings": []}))
    assert inspected(document).params == program.params
    assert inspected(document).meta == program.meta


def test_an_honest_inspection_passes() -> None:
    assert inspected(DECLARED).params[0].name == "n"
    assert inspected(DECLARED).code == bytes(3)
    assert [warning.to_json() for warning in inspected(DECLARED).warnings] == [WARNING]


@in_one_test(
    "document",
    [
        {"errors": []},
        {"errors": [{"kind": "value", "message": "x", "hint": ""}] * 101},
        {"errors": 7},
        {**DECLARED, "warnings": None},
        {**DECLARED, "warnings": [WARNING] * 101},
        {**DECLARED, "warnings": [{**WARNING, "kind": "nonsense"}]},
        {**DECLARED, "warnings": [{**WARNING, "line": -1}]},
        {**DECLARED, "meta": {}},
        {**DECLARED, "meta": {"title": 7}},
        {**DECLARED, "meta": {"title": "T", "more": []}},
        {**DECLARED, "meta": {"title": "x" * (2 << 20)}},
        {**DECLARED, "meta": {"title": "T", **{f"x{i}": i for i in range(100_000)}}},
        {**DECLARED, "params": [{**PARAM, "options": None, "default": float("inf")}]},
        {**DECLARED, "params": [{**PARAM, "options": None, "max": float("inf")}]},
        {**DECLARED, "params": [{**PARAM, "options": [float("inf")]}]},
        {**DECLARED, "params": [{**PARAM, "options": ["x"] * 1_000_000}]},
        {**DECLARED, "params": [{**PARAM, "name": "no name", "options": None}]},
        {**DECLARED, "params": [{**PARAM, "options": None, "unknown": 1}]},
        {**DECLARED, "params": [{**PARAM, "options": None}] * 2},
        {**DECLARED, "params": [{**PARAM, "options": None, "name": f"n{i}"} for i in range(201)]},
        {**DECLARED, "params": {"n": PARAM}},
        {**DECLARED, "params": [[]]},
        forged(default=9),
        forged(default=True),
        forged(default=1.0),
        forged(default="1"),
        forged(type="bool", default=None, min=None, max=None),
        forged(default=1 << 60, max=None),
        forged(min=2, max=1),
        forged(min=True),
        forged(min=1e300),
        forged(step=0),
        forged(step=None),
        forged(type="str", default="x", min=None, max=None, desc="x" * 1001),
        forged(type="str", default="x" * 1001, min=None, max=None),
        forged(type="color", default="red", min=None, max=None),
        forged(type="session", default="never", min=None, max=None),
        forged(type="source", default="secret", min=None, max=None),
        forged(type="choice", default="x", min=None, max=None),
        forged(type="choice", default="x", options=["x", []], min=None, max=None),
        forged(type="choice", default="x", options=["x"] * 201, min=None, max=None),
        forged(type=["int"]),
        forged(name="name"),
        forged(name="n" * 65),
        forged(name=7),
        forged(desc=7),
        forged(group="\ud800"),
        forged(tooltip=["x"]),
        forged(aliases=["m"]),
        {**DECLARED, "meta": {"title": "  "}},
        {**DECLARED, "meta": {"title": "x" * 1001}},
        {**DECLARED, "meta": {"title": "\udfff"}},
        {**DECLARED, "meta": {"title": "T", "overlay": 1}},
        {**DECLARED, "meta": {"title": "T", "category": "chaos"}},
        {**DECLARED, "meta": {"title": "T", "category": "panel", "overlay": True}},
        {**DECLARED, "meta": {"title": "T", "max_labels_count": 501}},
        {**DECLARED, "meta": {"title": "T", "max_labels_count": True}},
    ],
    ids=lambda document: str(document)[:60],
)
def test_a_forged_inspection_is_a_crash(document: Any) -> None:
    with pytest.raises(ScriptError, match="no usable answer"):
        inspected(document)


def test_what_is_kept_is_counted_whole_and_once() -> None:
    known: Cache[str, Inspected] = Cache(1024, weight=1000, weigh=answers.weigh)
    for size in (500, 0, 700, 1):  # another thread was quicker, and got another answer
        known.put("a", Inspected(code=bytes(size)))
        assert known._weight == size + len("((), {}, ())")
    for name in "bcd":
        known.put(name, Inspected(meta={"title": "x" * 400}))
    assert [name for name in "abcd" if known.get(name)] == ["c", "d"]
