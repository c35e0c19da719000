"""Scripts written to do harm: each is stopped by the layer it names, with the kind it names."""

import re
import time
from pathlib import Path

import pytest
from tests.script.chunks import Chunk, chunks, source_of
from tests.script.hostile.generated import GENERATED

from chartpact import script
from chartpact.script.run import dry_run_bars

FAMILIES = sorted((Path(__file__).parent / "hostile").glob("*.star"))
SCRIPTS = [chunk for file in FAMILIES for chunk in chunks(file)]
LONGEST_S = 2.0  # of processor time on a busy machine: the language must be quick to refuse


def expected(chunk: Chunk) -> tuple[str, str]:
    mark = next(line for line in chunk.text.split("\n") if line.startswith("#! "))
    _, step, kind = mark.split()
    return step, kind


def refusal(source: str) -> script.ScriptError:
    began = time.process_time()
    with pytest.raises(script.ScriptError) as caught:
        script.execute(script.compile(source), dry_run_bars())
    assert time.process_time() - began < LONGEST_S
    error = caught.value
    assert "Traceback" not in str(error)
    assert not re.search(r"\.py\b|site-packages|File \"", str(error))
    assert len(error.message) <= 2_000
    return error


def test_there_are_enough_of_them():
    assert len(SCRIPTS) + len(GENERATED) >= 150


@pytest.mark.parametrize("chunk", SCRIPTS, ids=lambda c: c.id)
def test_a_hostile_script_is_refused(chunk):
    error = refusal(source_of(chunk)[0])
    assert (error.step, error.kind) == expected(chunk), error.to_json()


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_bomb_is_refused(name):
    source, step, kind = GENERATED[name]
    error = refusal(source)
    assert (error.step, error.kind) == (step, kind), error.to_json()
