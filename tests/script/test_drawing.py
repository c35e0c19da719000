"""Every argument of every drawing function: it is drawn, or it is refused by name, kind and remedy.

What is na (None, NaN) draws nothing, as in Pine; an infinite height is na, as in a series.
"""

import inspect
import re
from collections.abc import Iterator

import pytest
from tests.cases import in_one_test
from tests.effort import EXHAUSTIVE

from chartpact import script
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.host.chart import OBJECT_METHODS, PLOT_METHODS, ScriptChart
from chartpact.script.host.handles import (
    BoxHandle,
    LabelHandle,
    LinefillHandle,
    LineHandle,
    PolylineHandle,
    TableHandle,
)

BARS = dry_run_bars()
HEAD = 'PARAMS = []\nMETA = {"title": "x"}\ndef compute(ohlcv, params, chart):\n'

LINE = "chart.new_line(1, 1.5, 2, 2.5)"
# What stands for each argument where another one is tried.
USUAL = {
    "line": {"s": "ohlcv.close"},
    "fill": {"a": "ohlcv.close", "b": "ohlcv.open"},
    "bars": {"s": "ohlcv.close"},
    "candles": {"o": "ohlcv.open", "h": "ohlcv.high", "l": "ohlcv.low", "c": "ohlcv.close"},
    "background": {"colors": '"red"'},
    "bar_color": {"colors": '"red"'},
    "dot": {"x": "5", "y": "1.5"},
    "shape": {"where": "ohlcv.close > ohlcv.open"},
    "hline": {"y": "1.5"},
    "hbar": {"y": "1.5", "height": "1.0", "width": "0.5"},
    "divline": {"x1": "1", "y1": "1.5", "x2": "2", "y2": "2.5"},
    "set_y_range": {"lo": "1", "hi": "2"},
    "set_label": {"text": '"x"'},
    "new_label": {"x": "5", "y": "1.5"},
    "new_line": {"x1": "1", "y1": "1.5", "x2": "2", "y2": "2.5"},
    "new_box": {"left": "1", "top": "2.5", "right": "2", "bottom": "1.5"},
    "new_table": {"position": '"top_left"', "columns": "2", "rows": "2"},
    "new_polyline": {"points": "[(1, 1.5), (5, 2.5)]"},
    "new_linefill": {"line1": LINE, "line2": LINE, "color": '"red"'},
}
MADE = {
    LabelHandle: 'h = chart.new_label(5, 1.5, "x")',
    LineHandle: "h = chart.new_line(1, 1.5, 2, 2.5)",
    BoxHandle: "h = chart.new_box(1, 2.5, 2, 1.5)",
    TableHandle: 'h = chart.new_table("top_left", 2, 2)',
    PolylineHandle: "h = chart.new_polyline([(1, 1.5), (5, 2.5)])",
    LinefillHandle: f'h = chart.new_linefill({LINE}, {LINE}, "red")',
}
SETTINGS = {
    "x": "5", "y": "1.5", "x1": "1", "x2": "2", "left": "1", "right": "2", "top": "2.5",
    "bottom": "1.5", "column": "0", "row": "0", "start_column": "0", "start_row": "0",
    "end_column": "1", "end_row": "1", "xloc": '"bar_index"',
}  # fmt: skip

# Values nobody means; each with the type it has.
ODD = {
    "None": "None", 'float("nan")': "float", 'float("inf")': "float", "-1": "int", "1.5": "float",
    "(1 << 700)": "int", "(1 << 1023) - 1 + (1 << 1023)": "int", "1e300": "float", "True": "bool",
    '"a\\x00\\x07b"': "string", '"x" * 5000': "string", "[1.0]": "list", '["a"] * 100': "list",
    "{}": "dict", "ohlcv.close": "series", "(ohlcv.close > 1)": "condition", "len": "function",
}  # fmt: skip

# An argument of a chart's function is tried with every other value, its neighbour with the rest.
# The methods of drawn objects check as the functions that make them do: they are tried with one
# value of each type. `make exhaustive` tries everything.
OF_EACH_TYPE = list({kind: value for value, kind in reversed(ODD.items())}.values())

HEIGHTS = {"y", "y1", "y2", "top", "bottom", "height", "lo", "hi", "base"}
PLACES = {"x", "x1", "x2", "left", "right"}
TEXTS = {"text", "title", "label", "tooltip"}
SIZES = {
    "width",
    "line_width",
    "size",
    "border_width",
    "frame_width",
    "text_size",
    "cell height",
    "cell width",
}
FLAGS = {"force_overlay", "provisional", "curved", "closed"}
COUNTS = {
    "columns", "rows", "column", "row", "start_column", "start_row", "end_column", "end_row",
}  # fmt: skip


def attempt(*lines: str) -> script.ScriptError | None:
    source = HEAD + "".join(f"    {line}\n" for line in lines)
    try:
        script.execute(script.load(source), BARS).scene.to_json()
    except script.ScriptError as error:
        return error
    return None


def calls() -> Iterator[tuple[str, str, str, list[str]]]:
    """(function, argument, odd value, the lines that try it)"""
    for name in (*PLOT_METHODS, *OBJECT_METHODS):
        arguments = list(inspect.signature(getattr(ScriptChart, name)).parameters)[1:]
        for number, argument in enumerate(arguments):
            for value in ODD if EXHAUSTIVE else list(ODD)[number % 2 :: 2]:
                given = {**USUAL[name], argument: value}
                written = ", ".join(f"{key} = {each}" for key, each in given.items())
                yield f"chart.{name}", argument, value, [f"chart.{name}({written})"]
    for kind, made in MADE.items():
        for method in sorted(kind.methods):
            parameters = list(inspect.signature(getattr(kind, method)).parameters.values())[1:]
            needed = [each for each in parameters if each.default is each.empty]
            for tried in parameters:
                for value in ODD if EXHAUSTIVE else OF_EACH_TYPE:
                    given = [SETTINGS.get(each.name, "1") for each in needed]
                    if tried in needed:
                        given[needed.index(tried)] = value
                    else:
                        given.append(f"{tried.name} = {value}")
                    name = tried.name if tried.name != "value" else method.split("set_")[-1]
                    line = f"h.{method}({', '.join(given)})"
                    yield f"{kind.type_name}.{method}", name, value, [made, line]


TRIED = list(calls())
FUNCTIONS = sorted({function for function, *_ in TRIED})


def drawn(function: str, argument: str, value: str) -> bool:  # noqa: PLR0911
    """Is this odd value one that the argument can mean?"""
    kind = ODD[value]
    if "1023" in value:  # too large for a float
        return False
    if argument in ("s", "a", "b", "o", "h", "l", "c") and kind == "series":
        return True
    if function == "chart.shape" and argument in ("where", "text") and "ohlcv" not in value:
        return argument == "text" and value in ('"a\\x00\\x07b"', '["a"] * 100')
    if argument == "where":
        return kind == "condition"
    if argument in ("s", "a", "b") and function in ("chart.fill", "chart.bars"):
        return kind in ("int", "float")
    if argument in PLACES:
        by_condition = (function, argument) in (("chart.dot", "x"), ("chart.divline", "x2"))
        return value in ("None", 'float("nan")') or (by_condition and kind == "condition")
    if argument in ("lo", "hi"):
        return value in {"lo": ("-1", "1.5"), "hi": ("1.5", "(1 << 700)", "1e300")}[argument]
    if function == "chart.hbar" and argument == "height":
        return value in ("None", 'float("nan")', 'float("inf")', "1.5", "(1 << 700)", "1e300")
    if function == "chart.bars" and argument == "base":
        return value in ("-1", "1.5", "(1 << 700)", "1e300")
    if argument in HEIGHTS and not function.startswith("table."):
        return kind in ("None", "int", "float")
    if argument in TEXTS:
        return value == '"a\\x00\\x07b"' or (argument == "label" and kind == "None")
    if argument in FLAGS:
        return kind == "bool"
    if argument == "offset":
        return value == "-1" or (function == "chart.hbar" and value == "1.5")
    if argument in ("end_column", "end_row"):
        return kind == "None"
    if function == "chart.candles" and argument in ("color", "wick", "border"):
        return kind == "None"
    if "color" in argument and kind == "None":
        of_plot = function.removeprefix("chart.") in PLOT_METHODS and argument != "textcolor"
        return not of_plot
    fractional = function in ("chart.line", "chart.hbar", "chart.dot") or function.startswith(
        "table"
    )
    if argument in ("width", "height", "size") and fractional:
        return value == "1.5"
    return False


@pytest.mark.slow
@in_one_test("function", FUNCTIONS)
def test_an_odd_argument_is_drawn_or_refused_by_name(function):
    for name, argument, value, lines in TRIED:
        if name != function:
            continue
        told = f"{lines[-1]}"
        error = attempt(*lines)
        if error is None:
            assert drawn(function, argument, value), told
            continue
        told += f" → {error.kind}: {error.message}"
        assert not drawn(function, argument, value), told
        assert error.kind in ("type", "value", "size", "forbidden"), told
        assert argument in error.message or error.kind == "forbidden", told
        assert len(error.message) < 320, told
        if ODD[value] in ("dict", "function", "series") and error.kind != "forbidden":
            assert error.kind == "type", told


@in_one_test(
    ("line", "kind", "said"),
    [
        ("chart.background('auto')", "value", "colors: 'auto' goes with a series, and there is"),
        ("chart.bar_color(['red'])", "value", "colors has 1 values, and the chart has"),
        ("chart.bar_color(ohlcv.close)", "type", "colors .* is a colour, not a series"),
        ("chart.bar_color(['rouge'] * 100)", "value", "colors: 'rouge' is not a colour"),
        ("chart.candles(ohlcv.open, ohlcv.high, 1, ohlcv.close)", "type", "l is a series, not an"),
        ("chart.shape(ohlcv.close)", "type", "where .* is a condition, such as a > b$"),
        ("chart.shape(5)", "type", "where is a condition, such as a > b, not an int"),
        ("chart.shape(ohlcv.close > 1, 'star')", "value", "shape: 'star' is not one of xcross"),
        (
            "chart.shape(ohlcv.close > 1, location = 'absolute')",
            "type",
            "where .* is a condition and has no",
        ),
        ("chart.shape(ohlcv.close > 1, size = 9)", "type", "size: 9 is not one of auto, tiny"),
        ("chart.shape(ohlcv.close > 1, text = ['a'])", "value", "text has 1 values"),
        (
            "chart.shape(ohlcv.close > 1, text = [1] * 100)",
            "type",
            "text: the items of a list are strings",
        ),
        ("chart.new_label(1 << 700, 1.0, xloc = 'bar_time')", "value", "x is a time in UTC"),
        ("chart.new_label(1.5, 1.0)", "value", r"x is a whole number, not 1\.5"),
        ("chart.new_line(1, 1.0, 2.5, 1.0)", "value", r"x2 is a whole number, not 2\.5"),
        ("chart.new_box(0.5, 1.0, 2, 1.0)", "value", r"left is a whole number, not 0\.5"),
        ("chart.dot(2.5, 1.0)", "value", r"x is a whole number, not 2\.5"),
        ("chart.divline(1, 1.0, 2.5, 1.0)", "value", r"x2 is a whole number, not 2\.5"),
        ("chart.new_table('top_left', 0, 2)", "value", "columns is at least 1, not 0"),
        ("chart.new_table('top_left', 2, -1)", "value", "rows is at least 1, not -1"),
        ("chart.new_table('top_left', 2.0, 1)", "type", "columns is an int, not a float"),
        ("chart.new_table('top_left', 1000, 1000)", "size", "at most 2,000 cells"),
        ("chart.new_label(1, 1 << 1023)", None, ""),
        ("chart.new_label(1, (1 << 1023) - 1 + (1 << 1023))", "value", "y is too large a number"),
        ("chart.hline(1.0, color = ['red'] * 100)", "type", "color is one value, not a list"),
        ("chart.line(ohlcv.close, width = 1 << 700)", "value", "width is at most 1,000"),
        ("chart.new_label(1, 1.0, size = 100000)", "value", "size is at most 1,000"),
        ("chart.line(['a'] * 100)", "type", "s holds a string"),
        ("chart.new_polyline([(1, 2.0), 3])", "type", "a point is a pair, not an int"),
        ("chart.new_polyline([(1, 2.0, 3)])", "type", "a point is a pair, not a tuple"),
        ("chart.new_polyline([('1', 2.0)])", "type", "x is a bar's number or a time"),
        ("chart.new_polyline([(1, ohlcv.close)])", "type", "y is a number, not a series"),
        ("chart.new_polyline([(-1, 2.0)])", "value", "x is the number of a bar, from 0 to 599"),
        ("chart.new_polyline([(700, 2.0)])", "value", "x is the number of a bar, from 0 to 599"),
        ("chart.new_polyline([(1, 1)] * 10001)", "size", "at most 10,000 points, not 10,001"),
        (f"chart.new_linefill({LINE}, 5, 'red')", "type", "line2 is a line, not an int"),
        (f"chart.new_linefill(chart.new_label(1, 1), {LINE}, 'red')", "type", "line, not a label"),
        ("chart.dot(1, 1, provisional = 1)", "type", "provisional: 1 is not True or False"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_remedy(line, kind, said):
    error = attempt(line)
    if kind is None:
        assert error is None
        return
    assert error is not None
    assert error.kind == kind
    assert re.search(said, error.message), error.message


def test_a_whole_float_is_the_number_of_a_bar():
    source = HEAD + "    chart.new_label(5.0, 1.0)\n    chart.dot(7.0, 1.0)\n"
    scene = script.execute(script.load(source), BARS).scene
    assert scene.labels[0].x.bar == 5
    assert scene.plots[0].points.x.tolist() == [7]


def test_na_draws_nothing():
    na = 'float("nan")'
    source = HEAD + f"    chart.dot({na}, 1.0)\n    chart.dot(None, 1.0)\n    chart.hline({na})\n"
    source += f"    chart.divline(1, {na}, 2, 1.0)\n    chart.hbar({na}, 1, 1)\n"
    assert script.execute(script.load(source), BARS).scene.plots == ()


@in_one_test("gone", ["lines[4].delete()", "pass"], ids=["deleted", "evicted"])
def test_a_copy_of_what_is_gone_draws_nothing(gone: str) -> None:
    body = (
        "    lines = [chart.new_line(i, 1, i + 1, 2) for i in range(60)]\n"
        f"    {gone}\n"
        "    copies = [each.copy() for each in lines[:5]]\n"
        "    copies[4].set_x1(7)\n"
        "    copies[4].delete()\n"
        "    lines[59].copy().set_x1(9)\n"
    )
    scene = script.execute(script.load(HEAD + body), BARS).scene
    assert [line.x1.bar for line in scene.lines] == [*range(11, 60), 9]
    assert scene.evicted == {"lines": 11}


def drawing(*lines: str, meta: str = "") -> script.Result:
    head = HEAD.replace('"title": "x"', f'"title": "x"{meta}')
    source = head + "".join(f"    {line}\n" for line in lines)
    return script.execute(script.load(source), BARS)


def test_the_points_of_a_polyline_that_are_na_are_left_out():
    nan = 'float("nan")'
    points = f"[(0, 1.0), (None, 2.0), (3, None), (4, {nan}), ({nan}, 1), (5.0, 2), (140, 3.5)]"
    [line] = drawing(f"chart.new_polyline({points})").scene.polylines
    assert [(point.bar, point.time, point.y) for point in line.points] == [
        (0, BARS.time[0], 1.0),
        (5, BARS.time[5], 2.0),
        (140, None, 3.5),
    ]


def test_a_polyline_placed_by_time_stands_on_the_bars_of_those_times():
    times = "(ohlcv.time[0] - 1, 1), (ohlcv.time[2] + 5, 2), (ohlcv.time[99] + 600000, 3)"
    [line] = drawing(f'chart.new_polyline([{times}], xloc = "bar_time")').scene.polylines
    assert [(point.bar, point.time) for point in line.points] == [
        (2, BARS.time[2]),
        (101, BARS.time[99] + 600_000),
    ]


def test_at_most_50_polylines_live_unless_meta_says_otherwise_and_100_at_most():
    draw = "for i in range(150): chart.new_polyline([(i % 90, 1), (5, 2)])"
    for meta, cap in (("", 50), (', "max_polylines_count": 100', 100)):
        scene = drawing(draw, meta=meta).scene
        assert len(scene.polylines) == cap
        assert scene.polylines[-1].points[0].bar == 149 % 90
        assert scene.evicted == {"polylines": 150 - cap}
        assert scene.limits == {"polylines": cap}
    with pytest.raises(script.ScriptError, match="max_polylines_count is from 1 to 100"):
        drawing("pass", meta=', "max_polylines_count": 101')


def test_all_polylines_together_have_a_bounded_number_of_points():
    lines = "for i in range(11): chart.new_polyline([(1, 1.0)] * 10000)"
    with pytest.raises(script.ScriptError, match="at most 100,000 points") as refused:
        execute_with(10**8, lines)
    assert refused.value.kind == "size"


def execute_with(steps: int, *lines: str) -> script.Result:
    source = HEAD + "".join(f"    {line}\n" for line in lines)
    return script.execute(script.load(source), BARS, budget=steps)


FILL = (
    "a = chart.new_line(0, 1, 5, 2)",
    "b = chart.new_line(0, 2, 5, 3)",
    'f = chart.new_linefill(a, b, "red")',
)


def test_there_is_one_linefill_between_two_lines_the_last_one():
    scene = drawing(*FILL, 'chart.new_linefill(b, a, "#00ff0080")').scene
    [fill] = scene.linefills
    assert (fill.line1, fill.line2, fill.color) == (2, 1, "#00ff0080")
    assert scene.evicted == {}


@in_one_test("gone", ["a.delete()", "b.delete()", "f.delete()"])
def test_a_linefill_leaves_with_either_of_its_lines(gone):
    scene = drawing(*FILL, gone, "f.set_color('blue')", "f.delete()").scene
    assert scene.linefills == ()
    assert len(scene.lines) == (2 if gone.startswith("f") else 1)
    late = drawing(*FILL[:2], gone if gone[0] != "f" else "a.delete()", FILL[2])
    assert late.scene.linefills == ()


def test_linefills_count_with_lines_and_the_oldest_of_both_leaves():
    pair = "chart.new_linefill(chart.new_line(i, 1, 9, 1), chart.new_line(i, 2, 9, 2), 'red')"
    scene = drawing(f"for i in range(9): {pair}", meta=', "max_lines_count": 6').scene
    assert len(scene.lines) + len(scene.linefills) == 6
    ids = {line.id for line in scene.lines}
    assert all({fill.line1, fill.line2} <= ids for fill in scene.linefills)
    assert scene.limits == {"lines": 6}
    assert scene.evicted["lines"] + len(scene.lines) == 18
    assert scene.evicted["linefills"] + len(scene.linefills) == 9


def test_a_linefill_tells_its_lines():
    scene = drawing(*FILL, "f.get_line1().set_color('red')", "f.get_line2().set_width(3)").scene
    assert [(line.color, line.width) for line in scene.lines] == [
        ("#f23645ff", 1),
        ("#2962ffff", 3),
    ]


def test_what_may_still_change_can_be_marked_wherever_it_is_drawn():
    for name in (*PLOT_METHODS, *OBJECT_METHODS):
        if name.startswith("set_"):
            continue
        given = ", ".join(f"{key} = {value}" for key, value in USUAL[name].items())
        for flag in (True, False):
            scene = drawing(f"chart.{name}({given}, provisional = {flag})").scene
            data = scene.to_json()
            channel = "plots" if name in PLOT_METHODS else f"{name[4:]}s".replace("boxs", "boxes")
            assert [each.get("provisional", False) for each in data[channel]] == [flag], name


def test_dots_drawn_one_by_one_are_gathered_by_title_and_by_whether_they_may_change():
    dots = [f"chart.dot({i}, 1.5, title = 'a', provisional = {i > 3})" for i in range(6)]
    plots = drawing(*dots).scene.plots
    assert [(plot.provisional, plot.columns.x.tolist()) for plot in plots] == [
        (False, [0, 1, 2, 3]),
        (True, [4, 5]),
    ]


def test_candles_have_prices_and_three_colours():
    prices = "ohlcv.open, ohlcv.high, ohlcv.low, ohlcv.close"
    where = 'ta.where(ohlcv.close > ohlcv.open, "green", "red")'
    plain, full = drawing(
        f"chart.candles({prices})",
        f'chart.candles({prices}, {where}, wick = "gray", border = {where}, title = "x")',
    ).scene.plots
    assert plain.color == "auto"
    assert plain.wick_color is plain.border_color is None
    assert plain.low.tolist() == BARS.low.tolist()
    assert set(full.color) == {"#4caf50ff", "#f23645ff"}
    assert full.border_color == full.color
    assert full.wick_color == "#787b86ff"
    data = full.to_json()
    assert {"colors", "wick_color", "border_colors", "open", "high"} < set(data)
    assert not {"color", "wick_colors", "border_color"} & set(data)


def test_candles_without_a_colour_are_hollow_all_of_them():
    prices = "ohlcv.open, ohlcv.high, ohlcv.low, ohlcv.close"
    one, many = drawing(
        f"chart.candles({prices}, color = None, border = 'gray')",
        f"chart.candles({prices}, color = [None] * len(ohlcv), border = 'gray')",
    ).scene.plots
    assert one.to_json() == many.to_json()
    assert list(one.color) == [None] * len(BARS)


def test_backgrounds_and_bar_colours_are_a_colour_a_bar_or_one():
    some = '["red" if i % 2 else None for i in range(len(ohlcv))]'
    for name in ("background", "bar_color"):
        one, many = drawing(f"chart.{name}('#12345678')", f"chart.{name}({some})").scene.plots
        assert (one.kind, one.color) == (name, "#12345678")
        assert list(many.color) == [None, "#f23645ff"] * 50


def test_shapes_stand_where_the_condition_holds_and_their_texts_may_differ():
    scene = drawing(
        "c = ohlcv.bar_index % 30 == 20",
        "chart.shape(c)",
        'chart.shape(c, "labelup", "belowbar", "green", "small", "Buy", textcolor = "white")',
        'chart.shape(c, text = [str(i) for i in range(100)], color = ["red"] * 50 + [None] * 50)',
        'chart.shape(ta.where(c, ohlcv.close, float("nan")), location = "absolute", offset = -1)',
        "chart.shape([i == 7 for i in range(100)], offset = 93)",
    ).scene
    plain, labels, many, heights, gone = scene.plots
    assert [(mark.x, mark.y, mark.text) for mark in plain.points] == [
        (bar, None, "") for bar in (20, 50, 80)
    ]
    assert (plain.shape, plain.location, plain.size) == ("xcross", "abovebar", "auto")
    assert (labels.shape, labels.size, labels.text_color) == ("labelup", "small", "#ffffffff")
    assert list(labels.columns.text) == ["Buy"] * 3
    assert list(many.columns.text) == ["20", "50", "80"]
    assert list(many.color) == ["#f23645ff", None, None]
    assert heights.columns.x.tolist() == [19, 49, 79]
    assert heights.columns.y.tolist() == BARS.close[[20, 50, 80]].tolist()
    assert len(gone.points) == 0
    assert len(scene.signals) == 0


def test_shapes_and_colours_of_bars_are_bounded_like_dots_and_points():
    loud = "for i in range(99): chart.shape(ohlcv.close > 0, text = 'x' * 4096)"
    with pytest.raises(script.ScriptError, match="the texts of all dots together") as refused:
        execute_with(10**8, loud)
    assert refused.value.kind == "size"
    with pytest.raises(script.ScriptError, match="at most 2000 plots"):
        execute_with(10**9, "for i in range(2001): chart.background('red')")


def test_cells_that_overlap_a_new_merger_are_joined_no_more():
    scene = drawing(
        't = chart.new_table("top_left", 4, 4)',
        "t.cell(0, 0, 'first')",
        "t.merge_cells(0, 0, 1, 1)",
        "t.merge_cells(1, 1, 2, 2)",
        "t.merge_cells(3, 3, 3, 3)",
    ).scene
    ends = {(c.column, c.row): (c.end_column, c.end_row) for c in scene.tables[0].cells}
    assert ends == {(0, 0): (None, None), (1, 1): (2, 2), (3, 3): (3, 3)}


@in_one_test("offset", [-3, 0, 3])
def test_a_signal_is_known_on_its_bar_wherever_it_is_drawn(offset: int) -> None:
    body = f'    chart.dot(ohlcv.bar_index % 30 == 20, 1, label="a", offset={offset})\n'
    body += f'    chart.dot(21, 1, label="b", offset={offset})\n'
    signals = script.execute(script.load(HEAD + body), BARS).scene.signals
    assert sorted((each.confirmed_bar, each.bar) for each in signals) == [
        (bar, bar + offset) for bar in (20, 21, 50, 80)
    ]


def test_what_was_moved_tells_the_bar_that_it_was_made_at() -> None:
    body = [
        'moved = chart.new_label(5, 1.5, "moved")',
        "moved.set_xy(7, 2.5)",
        'moved.copy().set_text("copy")',
        'chart.new_label(5, 1.5, "stays").set_text("stays here")',
        "chart.new_line(1, 1.5, 2, 2.5).set_x2(9)",
        "chart.new_box(3, 2.5, 4, 1.5).set_left(2)",
    ]
    source = HEAD + "".join(f"    {line}\n" for line in body)
    scene = script.execute(script.load(source), BARS).scene
    made_at = {label.text: label.made_at for label in scene.labels}
    assert made_at == {"moved": int(BARS.time[5]), "copy": None, "stays here": None}
    assert [line.made_at for line in scene.lines] == [None]
    assert [box.made_at for box in scene.boxes] == [int(BARS.time[3])]
    assert type(scene).from_json(scene.to_json()) == scene
