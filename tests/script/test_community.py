"""Community indicators, ported naively, draw on as many bars as charts have."""

from pathlib import Path

import pytest
from tests.cases import in_one_test
from tests.script import oracle

import chartpact as cp
from chartpact import script
from chartpact.script.dry_run import dry_run_bars, wandering_bars

BARS = cp.load("sample:es-5m").last(1500)
FOLDER = Path(__file__).parent / "community"
SCRIPTS = sorted(FOLDER.glob("*.star"))
LARGEST = (
    "chandelier_exit",
    "fair_value_gaps",
    "nadaraya_watson",
    "order_blocks",
    "sessions",
    "squeeze",
)


def name(path: Path) -> str:
    return path.stem


@in_one_test("path", SCRIPTS, ids=name)
def test_a_community_script_is_starlark_and_draws(path):
    source = path.read_text()
    assert oracle.parses(source) is None
    scene = script.execute(script.load(source), BARS).scene
    assert any((scene.plots, scene.labels, scene.lines, scene.boxes, scene.tables))


@in_one_test("stem", LARGEST)
def test_the_costliest_fit_into_the_budget_on_5000_bars(stem):
    source = (FOLDER / f"{stem}.star").read_text()
    steps = script.execute(script.load(source), dry_run_bars(5_000)).steps
    assert steps < script.Limits().steps / 2


@pytest.mark.slow
@in_one_test("stem", LARGEST)
def test_the_costliest_without_hundreds_of_live_objects_fit_on_20000_bars(stem):
    source = (FOLDER / f"{stem}.star").read_text()
    script.execute(script.load(source), dry_run_bars(20_000))


def test_twenty_live_boxes_kept_as_dicts_fit_on_20000_bars():
    source = (Path(__file__).parent / "live_blocks.star").read_text()
    assert oracle.parses(source) is None
    result = script.execute(script.load(source), dry_run_bars(20_000))
    assert len(result.scene.boxes) == 20
    assert result.steps < script.Limits().steps


def test_fifty_live_boxes_kept_as_lists_fit_on_20000_bars():
    source = (Path(__file__).parent / "live_gaps.star").read_text()
    assert oracle.parses(source) is None
    result = script.execute(script.load(source), dry_run_bars(20_000))
    last = [box for box in result.scene.boxes if box.right.bar == 19_999]
    assert len(last) == 50
    assert result.steps < script.Limits().steps


@pytest.mark.slow
@in_one_test("path", sorted((FOLDER.parent / "naive").glob("*.star")), ids=name)
def test_a_naive_script_with_no_more_than_fifty_live_objects_fits_on_20000_bars(path):
    source = path.read_text()
    assert oracle.parses(source) is None
    scene = script.execute(script.load(source), wandering_bars(20_000)).scene
    assert any((scene.plots, scene.lines, scene.boxes))


def test_there_is_one_of_every_kind():
    assert len(SCRIPTS) == 18
    assert {path.stem for path in SCRIPTS} > set(LARGEST)
