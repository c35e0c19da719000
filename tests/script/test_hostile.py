"""Scripts written to do harm: each is stopped by the layer it names, with the kind it names."""

import re
import time
from dataclasses import replace
from opcode import opmap
from pathlib import Path

import pytest
from tests.cases import in_one_test
from tests.effort import EXHAUSTIVE
from tests.script.chunks import Chunk, chunks, source_of
from tests.script.hostile.generated import GENERATED
from tests.script.hostile.outgrown import OUTGROWN, SPENDTHRIFT

from chartpact import sandbox, script
from chartpact.sandbox import scripts
from chartpact.sandbox.pool import process_pool
from chartpact.script.dry_run import dry_run_bars

FAMILIES = sorted((Path(__file__).parent / "hostile").glob("*.star"))
FAMILY = {file.stem: list(chunks(file)) for file in FAMILIES}
SCRIPTS = [chunk for family in FAMILY.values() for chunk in family]
BARS = dry_run_bars()
STEPS = 1_000_000  # of the ten million that a run has: refusing takes less time and memory
FEW_STEPS = 100_000  # enough for most of them
LONGEST_S = 10.0  # of processor time, where most need none and none half a second


def expected(chunk: Chunk) -> tuple[str, str]:
    mark = next(line for line in chunk.text.split("\n") if line.startswith("#! "))
    _, step, kind = mark.split()
    return step, kind


def refusal(source: str, steps: int = STEPS) -> script.ScriptError:
    began = time.process_time()
    with pytest.raises(script.ScriptError) as caught:
        script.execute(script.load(source), BARS, budget=steps)
    assert time.process_time() - began < LONGEST_S
    error = caught.value
    assert "Traceback" not in str(error)
    assert not re.search(r"\.py\b|site-packages|File \"", str(error))
    assert len(error.message) <= 2_000
    return error


def test_there_are_enough_of_them():
    assert len(SCRIPTS) + len(GENERATED) >= 150


def check_refusal(chunk: Chunk) -> None:
    source, refused = source_of(chunk)[0], expected(chunk)
    error = refusal(source, STEPS if EXHAUSTIVE else FEW_STEPS)
    if error.kind == "budget" != refused[1]:  # it gets further with more steps
        error = refusal(source)
    assert (error.step, error.kind) == refused, error.to_json()


@pytest.mark.parametrize("family", FAMILY)
def test_a_hostile_script_is_refused(family):
    in_one_test("chunk", FAMILY[family], ids=lambda c: c.id)(check_refusal)()


def test_a_type_statement_is_refused_whether_python_knows_it_or_not():
    source = (
        'PARAMS = []\nMETA = {"title": "x"}\ndef compute(ohlcv, params, chart):\n    type x = int\n'
    )
    error = refusal(source)
    assert (error.step, error.kind) in (("parse", "syntax"), ("check", "forbidden"))


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_bomb_is_refused(name):
    source, step, kind = GENERATED[name]
    error = refusal(source)
    assert (error.step, error.kind) == (step, kind), error.to_json()


# ------------------------------------------------------------------- the same in the real sandbox

SANDBOXED = SCRIPTS[:: 8 if EXHAUSTIVE else 24]
HEAD_OF_ONE = 'PARAMS = []\nMETA = {"title": "x"}\n'
QUIET = HEAD_OF_ONE + "def compute(ohlcv, params, chart):\n    chart.hline(1.5)\n"


def outcome(source: str, bars: int = 100) -> script.ScriptError:
    for _ in range(5):
        with pytest.raises(script.ScriptError) as caught:
            sandbox.run(source, dry_run_bars(bars), limits=script.Limits(steps=STEPS))
        if caught.value.kind != "busy":  # which says nothing of the script
            break
    return caught.value


@pytest.mark.slow
@pytest.mark.parametrize("chunk", SANDBOXED, ids=lambda c: c.id)
def test_the_language_refuses_it_in_the_sandbox_as_well(chunk):
    error = outcome(source_of(chunk)[0])
    assert (error.step, error.kind) == expected(chunk), error.to_json()
    assert "Traceback" not in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(GENERATED)[::5])
def test_a_generated_bomb_is_refused_in_the_sandbox_as_well(name):
    source, step, kind = GENERATED[name]
    error = outcome(source)
    assert (error.step, error.kind) == (step, kind), error.to_json()


@pytest.mark.parametrize("name", OUTGROWN)
def test_the_process_stops_what_the_language_lets_pass(name):
    source, bars, kind = OUTGROWN[name]
    script.load(source)  # the language has nothing against it
    error = outcome(source, bars)
    assert (error.step, error.kind) == ("run", kind), error.to_json()
    assert sandbox.run(QUIET, dry_run_bars()).scene.plots[0].y == 1.5  # and the next run is served


@pytest.mark.slow
@pytest.mark.parametrize("name", SPENDTHRIFT)
def test_the_whole_budget_buys_no_more_than_the_time_of_a_run(name):
    spent = process_pool().cpu_s
    error = None
    for _ in range(5):
        with pytest.raises(script.ScriptError) as caught:
            sandbox.run(SPENDTHRIFT[name], dry_run_bars())
        error = caught.value
        if error.kind != "busy":
            break
        spent = process_pool().cpu_s
    # A slow machine ends it by time, and one that is busy all along by the backstop.
    assert error is not None and error.kind in ("budget", "memory", "time", "busy"), error
    assert process_pool().cpu_s - spent < 1.5


def test_code_that_breaks_the_interpreter_is_a_crash_of_its_run_alone(monkeypatch):
    program = script.load(QUIET)
    far = [opmap["EXTENDED_ARG"], 255, opmap["EXTENDED_ARG"], 255, opmap["EXTENDED_ARG"], 255]
    broken = bytes([opmap["RESUME"], 0, *far, opmap["LOAD_CONST"], 255, opmap["RETURN_VALUE"], 0])
    planted = replace(program, code=program.code.replace(co_code=broken))
    with monkeypatch.context() as patched:
        inspected = scripts.Inspected((), program.meta, (), planted.dump())
        patched.setattr(scripts, "inspect", lambda *_, **__: inspected)
        error = outcome(QUIET)
    assert (error.step, error.kind) == ("run", "crash"), error.to_json()
    assert sandbox.run(QUIET, dry_run_bars()).scene.plots[0].y == 1.5
