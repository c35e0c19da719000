"""What the compiler foresees of a value holds when the script runs: the guards rest on it."""

import ast
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import pytest
from hypothesis import given, settings
from tests.cases import in_one_test
from tests.effort import EXHAUSTIVE, examples
from tests.script.chunks import chunks, source_of
from tests.script.grammar import scripts

from chartpact import script
from chartpact.params import resolve
from chartpact.script import host, stock
from chartpact.script.check.checker import check_module
from chartpact.script.check.declarations import read_declarations
from chartpact.script.compile import kinds
from chartpact.script.compile.emitter import Emitter
from chartpact.script.compile.inference import Kinds, infer_kinds
from chartpact.script.compile.nodes import call
from chartpact.script.diagnosis.explain import explain
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.host.chart import ScriptChart
from chartpact.script.host.ohlcv import Ohlcv
from chartpact.script.pipeline import _kinds_of, _script_params
from chartpact.script.runtime.intrinsics import Runtime
from chartpact.script.runtime.meter import Meter
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import DICTS, LISTS, Method
from chartpact.script.source.parser import parse

HERE = Path(__file__).parent
BARS = dry_run_bars(60)
BUDGET = 50_000  # steps: a loop shows in its first rounds what its values are
# Of the hostile scripts, which are many and alike, every third, and all with `make exhaustive`.
SOURCES = {
    chunk.id: source_of(chunk)[0]
    for folder, step in (("language", 1), ("hostile", 1 if EXHAUSTIVE else 3))
    for file in sorted((HERE / folder).glob("*.star"))
    for chunk in islice(chunks(file), 0, None, step)
}
SOURCES |= {name: stock.source(name) for name in stock.NAMES}
SOURCES |= {chunk.id: chunk.text for chunk in chunks(HERE / "traders.star")}
_PLAIN = {
    bool: kinds.BOOL,
    float: kinds.FLOAT,
    str: kinds.STR,
    tuple: kinds.TUPLE,
    range: kinds.RANGE,
    FunctionType: kinds.FUNC,
    MethodType: kinds.FUNC,
    Method: kinds.FUNC,
    Ohlcv: kinds.OHLCV,
    **dict.fromkeys(LISTS, kinds.LIST),
    **dict.fromkeys(DICTS, kinds.DICTS),
}


def kinds_of(value: Any) -> int:
    """The kinds that could stand for the value; any one of them will do."""
    if value is None:
        return kinds.NONE
    if type(value) is int:
        size = value.bit_length()
        return kinds.BIG | (kinds.MID if size <= 126 else 0) | (kinds.SMALL if size <= 63 else 0)
    if type(value) is Series:
        by_type = {"f": kinds.FLOATS, "b": kinds.CONDITIONS}
        return by_type.get(value.array.dtype.kind, kinds.TIMES)
    return _PLAIN.get(type(value), kinds.OTHER)


class Witness(Emitter):
    """Writes code in which every expression shows its value."""

    def __init__(self, checked: Any, found: Kinds) -> None:
        super().__init__(checked, found)
        self.nodes: list[ast.expr] = []
        self._callees = {
            id(node.func) for node in ast.walk(checked.tree) if isinstance(node, ast.Call)
        }

    def _expression(self, node: ast.expr) -> ast.expr:
        made = super()._expression(node)
        if id(node) in self._callees or isinstance(node, ast.Constant):
            return made
        self.nodes.append(node)
        place = ast.Constant(len(self.nodes) - 1)
        return ast.copy_location(call("_seen", place, made), node)


def surprises(source: str) -> Iterator[str]:
    """Values that came out as something the compiler had ruled out."""
    try:
        tree = parse(source, script.Limits())
    except script.ScriptError:
        return
    checked, problems = check_module(tree, source, host.namespaces())
    params, meta, more = read_declarations(checked, source) if not problems else ((), {}, [])
    if problems or more:
        return
    declared = {each.name: _kinds_of(each) for each in params}
    found = infer_kinds(checked, declared, host.RESULTS)
    witness = Witness(checked, found)
    with catch_warnings():
        simplefilter("ignore", SyntaxWarning)
        code = compile(ast.fix_missing_locations(witness.module()), "<script>", "exec")
    meter = Meter(BUDGET)
    runtime = Runtime(meter)
    names = runtime.names() | dict(host.functions(witness.uses, meter, len(BARS), runtime.call))
    told: list[str] = []

    def seen(place: int, value: Any) -> Any:
        node = witness.nodes[place]
        if not kinds_of(value) & found.of.get(node, 0):
            told.append(f"{ast.unparse(node)} was {type(value).__name__} on line {node.lineno}")
        return value

    names["_seen"] = seen
    values = resolve(params, {}, "the script")
    ohlcv = Ohlcv(BARS, meter, call=runtime.call)
    try:
        with np.errstate(all="ignore"):
            given = _script_params(params, values, ohlcv, BARS, script.Extras())
            runtime.load(code, witness.weights, names)
            names["compute"](ohlcv, given, ScriptChart(BARS, meta, meter))
    except Exception as error:  # noqa: BLE001  (however it ends, in words)
        assert explain(error, source).kind != "crash"
    yield from told


@pytest.mark.slow
@in_one_test("name", SOURCES)
def test_no_value_is_what_the_compiler_ruled_out(name):
    assert not list(surprises(SOURCES[name]))


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(scripts())
def test_no_value_of_a_script_made_by_chance_is_what_the_compiler_ruled_out(source):
    assert not list(surprises(source))
