"""Scripts as traders write them keep working, and cost what a chart can afford."""

from itertools import pairwise
from pathlib import Path

from tests.cases import in_one_test
from tests.script import oracle
from tests.script.chunks import Chunk, chunks

import chartpact as cp
from chartpact import script
from chartpact.bars import samples

SCRIPTS = list(chunks(Path(__file__).parent / "traders.star"))
BARS = cp.load("sample:es-5m").last(1000)
PAIR, EVENTS = cp.load(BARS.pair), tuple(samples.calendar(BARS.calendar))


def name(chunk: Chunk) -> str:
    lines = chunk.text.split("\n")
    return next(a for a, b in pairwise(lines) if b.startswith("PARAMS"))[2:]


@in_one_test("chunk", SCRIPTS, ids=name)
def test_a_trader_s_script_draws_within_its_budget(chunk):
    program = script.load(chunk.text)
    assert oracle.parses(chunk.text) is None
    extras = script.Extras(
        {param.name: PAIR for param in program.params if param.type == "symbol"},
        {param.name: EVENTS for param in program.params if param.type == "calendar"},
    )
    result = script.execute(program, BARS, extras=extras)
    scene = result.scene
    drawn = (scene.plots, scene.labels, scene.lines, scene.boxes, scene.tables, scene.label)
    assert any(drawn)
    assert result.steps < script.Limits().steps / 2


def test_there_are_enough_of_them():
    assert len({name(chunk) for chunk in SCRIPTS}) >= 59
