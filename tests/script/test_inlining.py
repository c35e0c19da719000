"""Operators and methods that compiled code does not call the runtime for do the same without it."""

from fractions import Fraction
from functools import partial
from inspect import getmembers
from itertools import islice, product
from types import FunctionType, MethodType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.effort import EXHAUSTIVE

from chartpact import script
from chartpact.script.compile.nodes import ACCESSORS
from chartpact.script.compile.weights import MOVERS
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.errors import Fault
from chartpact.script.host import chart, handles, ohlcv, ta_scalars
from chartpact.script.host import ta as ta_host
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Series, TextSeries
from chartpact.script.runtime.values import DICTS, LISTS, HostObject, Method
from chartpact.ta.arithmetic import round_number

BARS = dry_run_bars(5)
HEAD = 'PARAMS = []\nMETA = {"title": "x"}\n'
OPERATORS = "+ - * / < <= > >= == !=".split()
VALUES = [
    "1.5",
    "-0.0",
    'float("nan")',
    "3",
    "1 << 200",
    "True",
    "None",
    '"a"',
    "[1]",
    "ohlcv.close",
]


def share(number: int, of: int) -> tuple[int, None, int]:
    """A slice of what an operator is tried on: all, or one part of so many, another for each."""
    return (0, None, 1) if EXHAUSTIVE else (number % of, None, of)


def outcome(body: str, head: str = "") -> tuple[str, ...]:
    """What the last line of a script prints, or the error it ends with."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    source = f"{HEAD}{head}def compute(ohlcv, params, chart):\n{lines}"
    try:
        return script.execute(script.load(source), BARS).log
    except script.ScriptError as error:
        return (
            error.kind,
            error.message.split(":")[0].split(" in '")[0].split(" steps")[0],
            error.hint,
        )


@pytest.mark.slow
@in_one_test("operator", OPERATORS)
def test_an_inlined_operator_does_what_the_runtime_does(operator):
    for left, right in islice(product(VALUES, VALUES), *share(OPERATORS.index(operator), 3)):
        values = f"values = [[{left}, {right}]]"
        inlined = f"{values}\na, b = values[0]\nx = a {operator} b\nprint(type(x), str(x))"
        called = f"{values}\nx = [p[0] {operator} p[1] for p in values][0]\nprint(type(x), str(x))"
        assert outcome(inlined) == outcome(called), (left, operator, right)


FORMATS = [
    "",
    "a",
    "%s",
    "%d bars",
    "%s of %s",
    "%r",
    "%x and %f",
    "%g%e",
    "100%%",
    "%",
    "%q",
    "%s %",
]
FORMATTED = [*VALUES, "1e300", "(1, 2)", "()", '("a", 7)', "{}", '("a" * 300, 2.5)', "range(3)"]


@pytest.mark.slow
@in_one_test("template", FORMATS)
def test_a_literal_template_of_percent_does_what_a_computed_one_does(template):
    for value in FORMATTED:
        literal = f'values = [{value}]\nprint("{template}" % values[0])'
        computed = f'values = [{value}]\nt = "{template}"\nprint(t % values[0])'
        assert outcome(literal) == outcome(computed), value


@pytest.mark.slow
@in_one_test(
    "template", ["", "a", "{}", "{} of {}", "{0}", "{1} {0}", "{{}}", "{} }", "{", "{a}", "{}{0}"]
)
def test_a_literal_template_of_format_does_what_a_computed_one_does(template):
    for values in (
        "",
        "1.5",
        "1 << 200, None",
        '"a" * 300, [1]',
        "{}, ohlcv.close",
        "a = 1",
        "*[1, 2]",
    ):
        literal = f'print("{template}".format({values}))'
        computed = f't = "{template}"\nprint(t.format({values}))'
        assert outcome(literal) == outcome(computed), values


TAKEN_APART = [
    "(1, 2)",
    "[1, 2]",
    "(1,)",
    "(1, 2, 3)",
    "None",
    '"ab"',
    "range(2)",
    '{"a": 1, "b": 2}',
    "7",
]


@in_one_test("value", TAKEN_APART)
def test_a_value_is_taken_apart_as_the_runtime_does(value):
    called = outcome(f"print([(a, b) for a, b in [{value}]][0])")
    assert outcome(f"x = [{value}]\na, b = x[0]\nprint((a, b))") == called
    assert outcome(f"for a, b in [{value}]:\n    print((a, b))") == called
    assert outcome(f"for i, (a, b) in enumerate([{value}]):\n    print((a, b))") == called


@in_one_test("key", ['"a"', '"z"', '"long" * 30', "1", "1.5", "None", "True", "[1]", '("a", 1)'])
def test_an_element_of_a_dict_is_found_whatever_its_key(key):
    held = '{"a": 1, "long" * 30: 2, 1: 3, 1.5: 4, None: 5, ("a", 1): 6}'
    read = outcome(f"d = {held}\nfor k in [{key}]:\n    print(d[k])")
    assert read == outcome(f"d = {held}\nprint([d[k] for k in [{key}]][0])")


RECORDS = [
    '{"a": 1}',
    '{"a": 1.0}',
    '{"a": float("nan")}',
    '{"b": 1}',
    "[1, 2]",
    "(1, 2)",
    "[1]",
    "{}",
    "[]",
    "1",
]


def test_a_record_with_a_series_is_found_by_that_very_series():
    records = "c, h = ohlcv.close, ohlcv.high\nxs = [(2, c), (2, h), {'s': h}]\n"
    assert outcome(records + "print(xs.index((2, h)), {'s': h} in xs)") == ("1 True",)
    assert outcome(records + "xs.remove((2, h))\nprint(len(xs), (2, h) in xs)") == ("2 False",)


def test_a_record_is_found_at_the_first_equal_one():
    for value in RECORDS:
        listed = f"xs = [{', '.join(RECORDS)}]\nv = {value}\n"
        found = outcome(f"{listed}print(xs.index(v))")
        asked = outcome(f"{listed}print([i for i, x in enumerate(xs) if x == v][0])")
        if "nan" in value:
            assert found[0] == "value"
        else:
            assert found == asked, value
        assert outcome(f"{listed}print(v in xs)") == (str("nan" not in value),)


@in_one_test("operator", "< <= > >= == !=".split())
def test_an_inlined_comparison_with_an_int_does_what_the_runtime_does(operator):
    values = (*VALUES, "0", "False", "-3.0", "3.0", "{}")
    pairs = product(values, ("a {} 3", "3 {} a", "a {} -3", "a {} 0"))
    for value, written in islice(pairs, *share(OPERATORS.index(operator), 3)):
        compared = written.format(operator)
        begin = f"values = [{value}, None]\na = values[0]\n"
        inlined = f"{begin}x = {compared}\nprint(type(x), str(x))"
        called = f"{begin}x = [{compared} for a in values[:1]][0]\nprint(type(x), str(x))"
        assert outcome(inlined) == outcome(called), (value, compared)


@in_one_test("index", ["1", "0", "-1", "7", "i", "True", "1.0", "None", '"k"'])
def test_an_element_of_what_may_be_a_list_is_the_same_as_of_anything(index):
    holders = ("[1.5, 2]", "(1.5, 2)", "{0: 1.5, 1: 2}", '{"k": 1}', '"ab"', "ohlcv.close",
               "range(3)", "None", "3", "[]", "{}")  # fmt: skip
    for holder in holders:
        begin = f"i = 1\nvalues = [{holder}, None]\nrecord = values[0]\n"
        checked = outcome(f"{begin}x = record[{index}]\nprint(type(x), str(x))")
        unchecked = outcome(f"{begin}x = [record][0][{index}]\nprint(type(x), str(x))")
        named = tuple(text.replace("[record][0]", "record") for text in unchecked)
        assert checked[:2] == named[:2]  # hints know more of a name


def test_records_that_are_lists_cost_less_than_those_that_are_dicts_under_numbers():
    def steps(record: str) -> int:
        source = (
            f"{HEAD}def total(records):\n    sum = 0\n    for r in records:\n"
            "        if r[0] == 1:\n            sum += r[1]\n    return sum\n"
            "def compute(ohlcv, params, chart):\n"
            f"    total([{record} for i in range(1000)])\n"
        )
        return script.execute(script.load(source), BARS).steps

    listed, numbered = steps("[1, 2]"), steps("{0: 1, 1: 2}")
    assert listed + 5000 < numbered


NUMBERS = ["1.5", "-0.0", "0.0", "0", 'float("nan")', "3", "float('inf')", "(1 << 70)"]


@in_one_test("name", ["min", "max"])
def test_min_and_max_of_numbers_choose_as_from_a_list(name):
    for first, second in islice(product(NUMBERS, NUMBERS), *share(name == "max", 3)):
        lines = []
        for others in ([second], *([second, third] for third in NUMBERS)):
            values = f"{first} + 0, {' - 0, '.join(others)} - 0"
            called = f"[{name}({values}) for i in [1]][0]"
            lines.append(f"print({name}({values}), {called}, {name}(*[{values}]))")
        for line in outcome("\n".join(lines)):
            inlined, called, chosen = line.split()
            assert inlined == called == chosen, (first, second)


@pytest.mark.slow
@in_one_test("count", [2, 3])
def test_min_and_max_of_anything_choose_or_fail_as_from_a_list(count):
    tuples = product((*VALUES, "(1,)", '"b"', "2.5"), repeat=count)
    for place, values in enumerate(islice(tuples, *share(1, count**2))):
        name = ("min", "max")[place % 2]
        begin = f"values = [[{', '.join(values)}]]\nv = values[0]\n"
        listed = ", ".join(f"v[{number}]" for number in range(count))
        inlined = f"{begin}x = {name}({listed})\nprint(type(x), str(x))"
        called = f"{begin}x = {name}(*[{listed}])\nprint(type(x), str(x))"
        assert outcome(inlined) == outcome(called), (name, values)


def test_min_and_max_evaluate_all_values_once_and_from_left_to_right():
    head = "def f(x, log):\n    log.append(x)\n    return x\n"
    body = (
        "log = []\n"
        "x = max(f(3.5, log), f(1.5, log), f(4, log) - f(2.0, log), min(f(9, log), f(8.0, log)))\n"
        "y = max([f(5.5, log)][0], f(1.5, log) + [2.5][0], [f(6, log)][0])\n"
        "print(log, x, y)"
    )
    assert outcome(body, head) == ("[3.5, 1.5, 4, 2.0, 9, 8.0, 5.5, 1.5, 6] 8.0 6",)


def test_max_of_many_numbers_is_charged_for_each():
    def steps(count: int) -> int:
        lines = f"    x = max({', '.join(['1.5'] * count)})\n"
        source = f"{HEAD}def compute(ohlcv, params, chart):\n    for i in range(1000):\n    {lines}"
        return script.execute(script.load(source), BARS).steps

    assert steps(3) < 2_000
    assert steps(40) > steps(20) + 30_000


def test_operands_are_evaluated_once_and_from_left_to_right():
    head = "def f(x, log):\n    log.append(x)\n    return [x, 1.5][0 if x > 5 else 1]\n"
    body = (
        "log = []\n"
        "x = f(1, log) + f(2, log) * f(3, log) - (f(7, log) - f(4, log)) / f(5, log)\n"
        "y = (f(8, log) < f(9, log)) == (f(6, log) > f(10, log))\n"
        "total = [0.0]\n"
        "total[f(7, log) - 7] += f(11, log) * f(12, log)\n"
        "print(log, x, y, total)"
    )
    x = 1.5 + 1.5 * 1.5 - (7 - 1.5) / 1.5
    assert outcome(body, head) == (
        f"[1, 2, 3, 7, 4, 5, 8, 9, 6, 10, 7, 11, 12] {x} False [{11 * 12 + 0.0}]",
    )


def test_what_turns_out_to_be_no_float_costs_more():
    body = "values = [{0}] * 1000\nx = {0}\nfor value in values:\n    x = value * x\n"
    source = HEAD + "def compute(ohlcv, params, chart):\n    "
    steps = [
        script.execute(
            script.load(source + body.format(one).replace("\n", "\n    ") + "\n"), BARS
        ).steps
        for one in ("1.0", "1")
    ]
    assert steps[1] - steps[0] >= 3_000


MATHS = ["exp(a)", "log(a)", "sqrt(a)", "pow(a, 2)", "pow(a, -3)", "pow(a, 0.5)", "pow(a, 200)",
         "pow(2, a)", "pow(a, a)", "pow(a - 0, a + 0)"]  # fmt: skip
ARGUMENTS = [
    *NUMBERS,
    "-2.5",
    "1e-310",
    "1e308",
    "-1e308",
    "701.5",
    "720",
    "1e30",
    "-9.5",
    "1 << 40",
]


def test_math_called_in_compiled_code_gives_what_the_host_gives():
    for argument in ARGUMENTS:
        lines = [f"a = {argument}"]
        for called in MATHS:
            lines.append(f"print(math.{called}, [math.{called} for a in [[{argument}][0]]][0])")
        for line, called in zip(outcome("\n".join(lines)), MATHS, strict=True):
            inlined, host = line.split()
            assert inlined == host, (called, argument)


def test_math_in_compiled_code_fails_as_the_host_does():
    for called in ("exp(a)", "pow(a, 2)", "pow(2.5, a)", "sqrt(a, 1.5)", "pow(a)", "log(8.0, 2)",
                   "exp()", "sqrt(True)", 'pow("x", 2)', "pow(None, 2)"):  # fmt: skip
        for value in ("1.5", "None", "True", '"x"', "[1]", "ohlcv.close"):
            inlined = outcome(f"a = {value}\nx = math.{called}\nprint(type(x), str(x))")
            begin = f"values = [{value}, None]\n"
            host = outcome(
                f"{begin}x = [math.{called} for a in values[:1]][0]\nprint(type(x), str(x))"
            )
            assert inlined == host, (called, value)


def test_an_int_beside_a_float_is_as_good_as_the_float():
    operations = [
        "a {} 2",
        "2 {} a",
        "a {} -3",
        "-3 {} a",
        "a {} 0",
        "0 {} a",
        "a {} 9007199254740993",
    ]
    for operator, written in islice(product(OPERATORS, operations), *share(1, 3)):
        for value in ("1.5", "-0.0", "2.0", 'float("nan")', "1e308", "float('inf')"):
            done = written.format(operator)
            native = outcome(f"a = {value}\nx = {done}\nprint(type(x), str(x))")
            begin = f"values = [{value}, None]\n"
            guarded = outcome(f"{begin}x = [{done} for a in values[:1]][0]\nprint(type(x), str(x))")
            assert native[:2] == guarded[:2], (done, value)


SCALARS = [0.0, -0.0, 0.5, 1.5, -2.5, 2.675, 0.49999999999999994, 4503599627370497.5, 5e-324, 1e308,
           -1e308, 710.0, -800.0, np.inf, -np.inf, np.nan, None, True, False, 0, 1, -3, 2**31,
           2**53 + 1, -(2**70), 2**1023, 2**1024, "x", ()]  # fmt: skip
ROUNDED_ELSEWHERE = {"sqrt", "log", "log10", "exp"}  # NumPy's last bit may be another


def result_of(function, arguments):
    """What a call gives, of which type and sign, or the fault it ends with."""
    try:
        result = function(*arguments)
    except Fault as fault:
        return fault.kind, fault.message, fault.hint
    return type(result), repr(result)


def long_and_short(name, monkeypatch):
    short = ta_host.function(name, Meter(10**9), 5)
    with monkeypatch.context() as patch:
        patch.setattr(ta_host, "shorten", lambda _name, call, _meter: call)
        return ta_host.function(name, Meter(10**9), 5), short


@np.errstate(all="ignore")
def test_short_ways_of_ta_give_what_the_long_ones_give(monkeypatch):
    for name in ta_scalars.NAMES:
        long, short = long_and_short(name, monkeypatch)
        most = {"nz": 2, "round": 2, "pow": 2, "max": 3, "min": 3}.get(name, 1)
        for count in range(most + 1):
            calls = product(SCALARS, repeat=count)
            for arguments in calls if count < 3 else islice(calls, *share(1, 29)):
                expected, result = result_of(long, arguments), result_of(short, arguments)
                if name in ROUNDED_ELSEWHERE and result[0] is expected[0] is float:
                    near = {"rtol": 4e-16, "atol": 0, "equal_nan": True}
                    assert np.isclose(float(result[1]), float(expected[1]), **near)
                    continue
                assert result == expected, (name, arguments)


def test_named_values_and_too_many_go_the_long_way(monkeypatch):
    for name in ta_scalars.NAMES:
        long, short = long_and_short(name, monkeypatch)
        assert result_of(short, [1.5] * 9) == result_of(long, [1.5] * 9)
        for named in ({"x": 1.5}, {"x": 1.5, "replacement": 2}, {"precision": 1}, {"wrong": 1}):
            outcomes = [result_of(partial(way, **named), [1.26]) for way in (short, long)]
            assert outcomes[0] == outcomes[1]
            outcomes = [result_of(partial(way, **named), []) for way in (short, long)]
            assert outcomes[0] == outcomes[1]


@given(st.floats(), st.integers(-3, 16))
def test_rounding_is_exact(x, precision):
    rounded = [round_number(x), round_number(x, precision)]
    if not np.isfinite(x):
        assert repr(rounded) == repr([x, x])
        return
    nearest = int(abs(Fraction(x)) + Fraction(1, 2)) * (1 if x > 0 else -1)
    assert rounded[0] == nearest
    assert type(rounded[0]) is int
    if precision <= 0:
        assert repr(rounded[1]) == repr(float(nearest))


def test_a_scalar_of_ta_costs_like_any_call():
    def steps(expression: str) -> int:
        source = f"{HEAD}def compute(ohlcv, params, chart):\n    a = ohlcv.close[1]\n"
        loop = f"    for i in range(1000):\n        x = {expression}\n"
        return script.execute(script.load(source + loop), BARS).steps

    for expression in ("ta.nz(a, 0)", "ta.nz(None, 1.5)", "ta.max(a, 0)", "ta.min(a, 2.5)",
                       "ta.abs(a)", "ta.floor(a)", "ta.ceil(a)", "ta.isna(None)"):  # fmt: skip
        assert steps(expression) < 6_000
    assert steps("ta.round(a)") < 12_000
    assert steps("ta.round(a, 2)") < steps("ta.pow(a, 2)") < 30_000
    # Each number that goes the long way is charged.
    assert steps("ta.avg(a, a, a, a)") > steps("ta.avg(a, a)") + 200_000
    assert steps("ta.time_tradingday(1700000000000)") > 1_000_000


def test_setters_of_places_are_those_that_the_compiler_weighs():
    kinds = [kind for _, kind in getmembers(handles) if isinstance(kind, type)]
    drawn = [kind for kind in kinds if issubclass(kind, handles.Handle) and hasattr(kind, "kind")]
    moves = {
        f"set_{keyword}"
        for kind in drawn
        for keyword, setting in kind.settings.items()
        if setting.field in kind.kind.places
    }
    assert moves == MOVERS


def test_only_host_objects_have_accessors_and_they_list_them_all():
    plain = [*LISTS, *DICTS, Method, str, int, float, bool, tuple, range, type(None)]
    for kind in [*plain, FunctionType, MethodType, Series, TextSeries]:
        assert not [name for name, _ in getmembers(kind) if name.startswith(ACCESSORS)]
    hosts = [chart.ScriptChart, ohlcv.Ohlcv, *_subclasses(handles.Handle)]
    assert all(issubclass(host, HostObject) for host in hosts)
    for host in hosts:
        accessors = {name for name, _ in getmembers(host) if name.startswith(ACCESSORS)}
        assert accessors <= host.methods | host.fields


def _subclasses(kind: type) -> list[type]:
    return [kind, *(each for child in kind.__subclasses__() for each in _subclasses(child))][1:]
