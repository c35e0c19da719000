"""The doors of the language: check, compile, execute, run."""

import numpy as np
import pytest

import chartpact as cp
from chartpact import script
from chartpact.script.program import Program
from chartpact.script.run import dry_run_bars

SMA = """
PARAMS = [{"name": "n", "type": "int", "default": 3, "min": 1, "desc": "Bars"}]
META = {"title": "Average", "overlay": True}

def compute(ohlcv, params, chart):
    chart.line(ta.sma(ohlcv.close, params["n"]), title="SMA", color="red")
"""


def test_a_script_draws_what_ta_computes():
    bars = dry_run_bars()
    (line,) = script.run(SMA, bars, {"n": 5}).scene.plots
    assert line.title == "SMA"
    assert np.array_equal(line.values, cp.ta.sma(bars.close, 5), equal_nan=True)


def test_the_same_run_costs_the_same_steps():
    bars = dry_run_bars()
    assert len({script.run(SMA, bars).steps for _ in range(3)}) == 1


def test_a_program_survives_being_dumped_and_belongs_to_its_source():
    program = script.compile(SMA)
    loaded = Program.load(SMA, program.dump())
    assert loaded is not None
    assert loaded.params == program.params
    bars = dry_run_bars()
    assert script.execute(loaded, bars).scene == script.execute(program, bars).scene
    assert Program.load(SMA + "\n", program.dump()) is None


def test_parameters_are_checked_against_params():
    with pytest.raises(script.ScriptError) as caught:
        script.run(SMA, dry_run_bars(), {"n": 0})
    assert (caught.value.step, caught.value.kind) == ("run", "value")


def test_check_tells_params_meta_and_steps():
    verdict = script.check(SMA)
    assert verdict.ok
    assert verdict.params[0]["name"] == "n"
    assert verdict.meta == {"title": "Average", "overlay": True}
    assert verdict.steps > 0


def test_check_names_the_step_that_failed():
    broken = SMA.replace('params["n"]', '"three"')
    (error,) = script.check(broken).errors
    assert (error["step"], error["line"]) == ("dry_run", 6)


def test_an_error_survives_json():
    with pytest.raises(script.ScriptError) as caught:
        script.compile("x = 1 +")
    error = caught.value
    assert script.ScriptError.from_json(error.to_json()).to_json() == error.to_json()


@pytest.mark.needs_shared
def test_the_example_of_the_source_document_runs_verbatim(shared):
    source = (shared / "seeds" / "example.star").read_text()
    assert script.check(source).ok
    result = script.run(source, cp.load("sample:es-5m"))
    kinds = [plot.kind for plot in result.scene.plots]
    assert kinds == ["line", "line", "fill", "hline", "hline"]
