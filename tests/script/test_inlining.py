"""Operators and methods that compiled code does not call the runtime for do the same without it."""

from inspect import getmembers
from types import FunctionType, MethodType

import numpy as np
import pytest

from chartpact import script, ta
from chartpact.script.compile.nodes import ACCESSORS
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.host import chart, handles, ohlcv
from chartpact.script.host.ta import ON_ONE_BAR
from chartpact.script.runtime.series import Series, TextSeries
from chartpact.script.runtime.values import DICTS, LISTS, HostObject, Method

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\n'
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


def outcome(body: str, head: str = "") -> tuple[str, ...]:
    """What the last line of a script prints, or the error it ends with."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    source = f"{HEAD}{head}def compute(ohlcv, params, chart):\n{lines}"
    try:
        return script.execute(script.load(source), dry_run_bars(5)).log
    except script.ScriptError as error:
        return (
            error.kind,
            error.message.split(":")[0].split(" in '")[0].split(" steps")[0],
            error.hint,
        )


@pytest.mark.slow
@pytest.mark.parametrize("operator", "+ - * / < <= > >= == !=".split())
def test_an_inlined_operator_does_what_the_runtime_does(operator):
    for left in VALUES:
        for right in VALUES:
            values = f"values = [[{left}, {right}]]"
            inlined = f"{values}\na, b = values[0]\nx = a {operator} b\nprint(type(x), str(x))"
            called = (
                f"{values}\nx = [p[0] {operator} p[1] for p in values][0]\nprint(type(x), str(x))"
            )
            assert outcome(inlined) == outcome(called), (left, operator, right)


@pytest.mark.parametrize("name", ["min", "max"])
def test_inlined_min_and_max_choose_as_the_runtime_does(name):
    values = ["1.5", "-0.0", "0.0", "0", 'float("nan")', "3", "float('inf')", "(1 << 70)"]
    for left in values:
        for right in values:
            inlined = f"x = {name}({left} + 0, {right} - 0)\nprint(type(x), str(x))"
            called = (
                f"x = [{name}({left} + 0, {right} - 0) for i in [1]][0]\nprint(type(x), str(x))"
            )
            assert outcome(inlined) == outcome(called), (left, right)


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
            script.load(source + body.format(one).replace("\n", "\n    ") + "\n"), dry_run_bars(5)
        ).steps
        for one in ("1.0", "1")
    ]
    assert steps[1] - steps[0] >= 3_000


def test_scalars_are_computed_as_series_are():
    values = [0.0, -0.0, 1.5, -2.5, 1e308, -1e308, 5e-324, 710.0, -800.0, np.inf, -np.inf, np.nan]
    for name, compute in ON_ONE_BAR.items():
        for value in values:
            expected = ta.FUNCTIONS[name](value)
            result = compute(value)
            assert type(result) is type(expected)
            close = np.isclose(result, expected, rtol=4e-16, atol=0, equal_nan=True)
            signs = np.isnan(result) or np.signbit(result) == np.signbit(expected)
            assert close and signs, (name, value)


def test_only_host_objects_have_accessors_and_they_list_them_all():
    plain = [*LISTS, *DICTS, Method, str, int, float, bool, tuple, range, type(None)]
    for kind in [*plain, FunctionType, MethodType, Series, TextSeries]:
        assert not [name for name, _ in getmembers(kind) if name.startswith(ACCESSORS)]
    hosts = [chart.Chart, ohlcv.Ohlcv, *_subclasses(handles.Handle)]
    assert all(issubclass(host, HostObject) for host in hosts)
    for host in hosts:
        accessors = {name for name, _ in getmembers(host) if name.startswith(ACCESSORS)}
        assert accessors <= host.methods | host.fields


def _subclasses(kind: type) -> list[type]:
    return [kind, *(each for child in kind.__subclasses__() for each in _subclasses(child))][1:]
