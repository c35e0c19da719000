"""The gallery shows everything, in both themes, and stays small."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from tests.cases import in_one_test

import chartpact as cp

from .scenery import gallery

HERE = Path(__file__).resolve().parents[2] / "docs" / "gallery"
PAGE = (HERE / "README.md").read_text()
PICTURES = re.findall(r"\]\(([^)]+\.svg)\)", PAGE)


@in_one_test("theme", ["dark", "light"])
def test_every_builtin_has_its_picture(theme):
    names = {each.name for each in cp.list_indicators() if each.source == "builtin"}
    shown = {Path(each).name for each in PICTURES if each.startswith("builtins/")}
    missing = sorted(name for name in names if f"{name}-{theme}.svg" not in shown)
    assert not missing, f"run `make gallery` for {', '.join(missing)}"


def test_every_scene_is_shown_or_part_of_one_that_is():
    shown = {Path(each).stem.rpartition("-")[0] for each in PICTURES}
    styles = {name for name in gallery.SCENES if name.startswith("line-")} - shown
    assert set(gallery.SCENES) - shown == styles
    assert "plot-styles" in shown


def test_the_page_and_the_folder_hold_the_same_pictures():
    files = {path.relative_to(HERE).as_posix() for path in HERE.rglob("*.svg")}
    assert files == set(PICTURES)


def test_no_picture_is_large_and_all_together_are_small():
    sizes = [(HERE / each).stat().st_size for each in PICTURES]
    assert max(sizes) < 600_000
    assert sum(sizes) < 45_000 * len(sizes)


@in_one_test("name", PICTURES)
def test_every_picture_is_a_document_of_its_own(name):
    root = ET.parse(HERE / name).getroot()
    assert root.tag.endswith("svg")
    assert "could not be drawn" not in "".join(root.itertext()) or "error-card" in name
