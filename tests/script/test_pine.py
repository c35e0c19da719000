"""What Pine calls otherwise is answered with what to write here."""

import re

import pytest
from tests.cases import in_one_test

from chartpact import script
from chartpact.script import host
from chartpact.script.check import pine
from chartpact.script.host.chart import ScriptChart

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\n\ndef compute(ohlcv, params, chart):\n    '


def hint_of(line: str) -> str:
    with pytest.raises(script.ScriptError) as failure:
        script.load(f"{HEAD}{line}\n")
    return failure.value.hint


CHECKED = [name for name in sorted(pine.HINTS) if name not in pine.STATEMENTS]


@in_one_test("name", CHECKED)
def test_every_name_of_the_table_is_answered_with_its_hint(name):
    assert hint_of(f"x = {name}(1)") == pine.HINTS[name]


@in_one_test(
    ("line", "statement"),
    [
        ("var x = 0", "var"),
        ("var float x = 0.0", "var"),
        ("varip int n = 1", "varip"),
        ("for i = 0 to 10\n        print(i)", "for i = 0 to 10"),
        ("for i = 0 to n by 2:\n        print(i)", "for i = 0 to 10"),
        ("x = switch\n        1 > 0 => 2", "x = switch"),
        ("x = switch mode\n        1 => 2", "x = switch"),
        ("switch\n        1 > 0 => 2", "x = switch"),
        ("type Foo\n        int x", "type Foo"),
        ("export type Foo\n        int x", "type Foo"),
        ("enum Foo\n        one", "enum Foo"),
        ("x = if 1 > 0\n        2\n    else\n        3", "x = if condition"),
    ],
)
def test_a_statement_is_answered_though_it_is_no_syntax(line, statement):
    assert hint_of(line) == pine.STATEMENTS[statement]


@in_one_test(
    ("line", "hint"),
    [
        ("math.inf", 'write float("inf")'),
        ("math.nan", 'write float("nan"), or None in a list; test with ta.isna(x)'),
        ("math.isnan(1)", "write ta.isna(x)"),
        ("math.hypot(3, 4)", "write math.sqrt(x * x + y * y)"),
        ("math.fabs(1)", "write abs(x), or ta.abs(s) of a series"),
        ("ta.pi", "did you mean math.pi?"),
        ("math.ema(1, 2)", "did you mean ta.ema?"),
        ("ta.sorted([])", "did you mean sorted?"),
    ],
)
def test_what_stands_elsewhere_is_answered_with_its_place(line, hint):
    assert hint_of(f"x = {line}") == hint


def test_a_name_may_be_that_of_a_statement():
    script.load(f"{HEAD}switch = 1\n    type_of = switch\n    print(type_of)\n")
    assert hint_of("switch = 1 +") == hint_of("other = 1 +")


@in_one_test("line", ["chart.point(1, 2.0)", "chart.point.from_index(1, 2.0)"])
def test_a_point_of_a_chart_is_a_pair(line):
    assert hint_of(f"p = {line}") == "a point is a pair: (bar, price)"


def test_fundamentals_are_not_taken_for_another_timeframe():
    assert "security" not in hint_of('x = request.financial("AAPL", "TOTAL_REVENUE", "FQ")')
    assert "security" in hint_of('x = request.security("AAPL", "1D", 1)')


@in_one_test(
    "line", ['study("x")', "x = iff(1, 2, 3)", "x = security(1, 2, 3)", "max_bars_back(1)"]
)
def test_what_older_versions_called_otherwise_is_answered_too(line):
    assert hint_of(line) in pine.HINTS.values()


@in_one_test(
    ("constant", "text"),
    [
        ("color.red", "red"),
        ("shape.labelup", "labelup"),
        ("location.belowbar", "belowbar"),
        ("size.tiny", "tiny"),
        ("position.bottom_left", "bottom_left"),
        ("label.style_none", "none"),
        ("line.style_arrow_both", "arrow_both"),
        ("plot.style_columns", "columns"),
        ("text.align_center", "center"),
    ],
)
def test_constants_are_texts(constant, text):
    assert hint_of(f"x = {constant}") == f'write "{text}"'


@in_one_test("hint", sorted(set(pine.HINTS.values())))
def test_hints_name_what_there_is(hint):
    spaces = {name: set(functions) for name, functions in host.namespaces().items()}
    for space, name in re.findall(r"\b(ta|math|color|text|chart|ohlcv)\.(\w+)", hint):
        if space == "chart":
            assert hasattr(ScriptChart, name)
        elif space in spaces:
            assert name in spaces[space]


def test_a_script_may_use_such_a_name_for_its_own():
    script.load(f"{HEAD}plot = [1]\n    line = plot[0]\n")
