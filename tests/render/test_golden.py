"""Every scene of the gallery keeps its structure.

A golden is our own drawing, looked at before it was kept; a change of structure is a decision:
CHARTPACT_WRITE_GOLDENS=1 writes them anew, and the new pictures are looked at again.
"""

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from .scenery import gallery

GOLDEN = Path(__file__).parent / "golden"
LOOK = {"width": 520, "height": 320, "volume": "none"}
CLOSE = 0.35  # pixels: what rounding may do to a coordinate
_NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)")


def drawing(name: str) -> str:
    from chartpact.render import svg

    return svg(gallery.SCENES[name](), fonts=False, **LOOK)


def parts(svg: str) -> Iterator[tuple[str, str, str]]:
    """Path, attribute and value of everything in a document, in order."""

    def walk(element: ET.Element, path: str) -> Iterator[tuple[str, str, str]]:
        here = f"{path}/{element.tag.rpartition('}')[2]}"
        yield here, "", (element.text or "").strip()
        for key, value in sorted(element.attrib.items()):
            yield here, key, value
        for i, child in enumerate(element):
            yield from walk(child, f"{here}[{i}]")
            yield f"{here}[{i}]", "tail", (child.tail or "").strip()

    return walk(ET.fromstring(svg), "")


def alike(one: str, other: str) -> bool:
    """Equal texts, but for numbers that differ by a rounding."""
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(abs(float(a) - float(b)) <= CLOSE for a, b in pairs)


@pytest.mark.parametrize("name", gallery.SCENES)
def test_the_scene_is_drawn_as_it_was(name):
    found, path = drawing(name), GOLDEN / f"{name}.svg"
    if os.environ.get("CHARTPACT_WRITE_GOLDENS"):
        path.write_text(found)
    assert path.exists(), f"no golden of {name}: look at the drawing, then write it"
    now, then = list(parts(found)), list(parts(path.read_text()))
    for (here, key, value), (there, name_then, value_then) in zip(now, then, strict=False):
        assert (here, key) == (there, name_then)
        same = value == value_then if not key and "text" in here else alike(value, value_then)
        assert same, f"{here} {key}: {value!r} was {value_then!r}"
    assert len(now) == len(then)


def test_every_golden_belongs_to_a_scene():
    assert {path.stem for path in GOLDEN.glob("*.svg")} == set(gallery.SCENES)


def test_a_moved_line_is_noticed():
    assert alike("M1 2l3 4", "M1.2 2l3 4")
    assert not alike("M1 2l3 4", "M2 2l3 4")
    assert not alike("M1 2l3 4", "M1 2h3 4")
    assert not alike("M1 2l3 4", "M1 2l3 4 5")


def test_every_kind_of_plot_and_every_style_has_a_golden():
    from chartpact import palette
    from chartpact.scene import PLOTS

    scenes = [each.scene for make in gallery.SCENES.values() for each in make().drawn if each.scene]
    plots = [plot for scene in scenes for plot in scene.plots]
    labels = [label for scene in scenes for label in scene.labels]
    lines = [line for scene in scenes for line in scene.lines]
    boxes = [box for scene in scenes for box in scene.boxes]
    tables = [table for scene in scenes for table in scene.tables]
    assert {plot.kind for plot in plots} == set(PLOTS)
    assert {plot.style for plot in plots if plot.kind == "line"} == set(palette.PLOT_STYLES)
    assert {label.style for label in labels} == set(palette.LABEL_STYLES)
    assert {label.yloc for label in labels} == set(palette.YLOCS)
    assert {line.style for line in lines} == set(palette.LINE_STYLES)
    assert {line.extend for line in lines} == set(palette.EXTENDS)
    assert {box.border_style for box in boxes} == set(palette.BORDER_STYLES)
    assert {box.text_wrap for box in boxes} == set(palette.WRAPS)
    assert {table.position for table in tables} == set(palette.POSITIONS)
    formats = {cell.text_formatting for table in tables for cell in table.cells}
    assert formats == set(palette.FORMATS)
