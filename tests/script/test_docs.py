"""What the documentation shows of the language is true."""

import re
from pathlib import Path

import numpy as np
import pytest
from tests.cases import in_one_test
from tests.script.chunks import Chunk, chunks, run

from chartpact import script
from chartpact.bars import Bars
from chartpact.script import host
from chartpact.script.check.declared import META_KEYS, PARAM_KEYS
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.host.chart import OBJECT_METHODS, PLOT_METHODS
from chartpact.script.runtime.builtins import NAMES as BUILTINS
from chartpact.script.runtime.methods import NAMES as METHODS

DOCS = Path(__file__).resolve().parents[2] / "docs"
LANGUAGE = (DOCS / "language.md").read_text()
FIRST = (DOCS / "first-indicator.md").read_text()
EXAMPLES = list(chunks(DOCS / "examples" / "chart.star"))


@in_one_test("example", EXAMPLES, ids=lambda c: c.text.split("\n")[0])
def test_an_example_runs(example: Chunk):
    run(example)


def test_every_function_of_the_host_has_an_example():
    shown = {example.text.strip().split("\n")[0].removeprefix("# ") for example in EXAMPLES}
    spaces = host.namespaces()
    wanted = {f"chart.{name}" for name in (*PLOT_METHODS, *OBJECT_METHODS)}
    wanted |= {
        f"{space}.{name}" for space in ("color", "text", "payload") for name in spaces[space]
    }
    assert shown == wanted | {"math", "ta.when"}


def test_the_chart_page_names_everything_of_the_namespaces():
    page = (DOCS / "reference" / "chart.md").read_text()
    for space, names in host.namespaces().items():
        for name in names if space != "ta" else ():
            assert re.search(rf"`{space}\.{name}\b", page), f"{space}.{name}"


def test_the_language_page_names_every_builtin_method_and_key():
    own = [name for each in METHODS.values() for name in each]
    for name in (*BUILTINS, *META_KEYS, *PARAM_KEYS, *own):
        assert re.search(rf"\b{name}\b", LANGUAGE), name


def listed_scripts() -> list[str]:
    blocks = re.findall(r"```python\n([^`]*)```(?!\n\n```text)", LANGUAGE + FIRST)
    return [block for block in blocks if "def compute" in block]


@in_one_test("source", listed_scripts())
def test_a_script_in_the_documentation_runs(source):
    assert script.execute(script.load(source), dry_run_bars()).scene.plots


def test_the_bricks_of_the_first_indicator_never_overshoot_and_are_the_same_upside_down():
    source = next(source for source in listed_scripts() if '"Bricks"' in source)
    bars = dry_run_bars()

    def levels(close: np.ndarray) -> np.ndarray:
        flat = Bars(bars.time, close, close, close, close, bars.volume)
        return script.execute(script.load(source), flat, {"step": 0.5}).scene.plots[0].values

    close = np.round(bars.close * 8) / 8  # so that every difference is exact
    drawn = levels(close)
    assert (np.diff(drawn) > 0).any()
    assert (np.diff(drawn) < 0).any()
    assert (np.abs(close - drawn) < 0.5).all()
    assert np.array_equal(levels(2 * close[0] - close), 2 * close[0] - drawn)


def test_the_first_indicator_shows_what_the_program_really_says():
    """Every error the page shows is the one its script gives."""
    shown = re.findall(r"```python\n([^`]*)```\n\n```text\n([^`]*)```", FIRST)
    assert len(shown) == 2
    for source, said in shown:
        with pytest.raises(script.ScriptError) as caught:
            script.execute(script.load(source), dry_run_bars())
        error = caught.value
        assert f"{error.line}:{error.column}: {error.kind}: {error.message}" in said
        assert error.hint in said
