"""Nothing that a script or a file says can break the document or make it load anything."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import examples

from chartpact import palette
from chartpact.charts import Chart
from chartpact.problem import Problem
from chartpact.render import RenderError, deadline, panes, raster, svg, textblock
from chartpact.render.display import Area
from chartpact.scene import (
    Anchor,
    BackgroundPlot,
    BarColorPlot,
    Box,
    CandlesPlot,
    Cell,
    DotPlot,
    Drawn,
    HLinePlot,
    Label,
    Line,
    Linefill,
    LinePlot,
    Mark,
    Marks,
    Point,
    Polyline,
    Scene,
    ShapePlot,
    Table,
    Vertex,
)

from .scenery import SVG, at, chart_of, flat_bars, gallery, written

HOSTILE = [
    '"/><script>alert(1)</script>',
    "</text></svg><svg onload='x()'>",
    "]]>&<!--",
    "<image href='http://example.com/x.png'/>",
    "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>&y;",
    "url(#clip) javascript:alert(1)",
    "&#0; &#x1F; \x00\x01\x08\x0b\x1f\x7f\ufffe\uffff",
    "\u202eright to left\u202c \u200f\u2066x\u2069",
    "שלום مرحبا 漢字 🚀",
    "a  b   c\td\r\ne",
    "",
    " ",
    "\n\n\n",
    "x" * 20_000,
    "line\n" * 3_000,
]
TAGS = {
    "svg", "title", "style", "defs", "clipPath", "rect", "path", "g", "circle", "text",
    "tspan",
}  # fmt: skip


def everywhere(words: str) -> Chart:
    """A chart that says this wherever something can be said."""
    plots = (
        LinePlot(values=[100.0] * 10, title=words),
        HLinePlot(y=100.5, title=words),
        DotPlot(points=[Point(x=3, y=100.0, label=words)], title=words),
    )
    cells = [Cell(id=1, column=0, row=0, text=words, tooltip=words)]
    scene = Scene(
        plots=plots,
        labels=[Label(id=1, x=at(4), y=100.0, text=words, tooltip=words)],
        boxes=[
            Box(id=i, left=at(1), top=101.0, right=at(6), bottom=99.5, text=words, text_wrap=wrap)
            for i, wrap in enumerate(("none", "auto"))
        ],
        tables=[Table(id=1, position="top_right", columns=1, rows=1, cells=cells)],
        label=words,
    )
    bars = replace(flat_bars(), symbol=words, source=words)
    error = Problem("name", words, words)
    return Chart(
        bars,
        (
            gallery.drawn(scene, "over"),
            gallery.drawn(scene, "below", overlay=False),
            Drawn(words, words, {"p": words}, error=error),
        ),
    )


def check(document: str) -> None:
    root = ET.fromstring(document)
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in TAGS
        for key, value in element.attrib.items():
            assert not key.startswith("on")
            assert "href" not in key
            assert "url(" not in value or re.fullmatch(r"url\(#clip-[\d.-]+\)", value)
    assert "<!" not in document
    assert re.findall(r"url\([^)]*\)", document) == [
        each
        for each in re.findall(r"url\([^)]*\)", document)
        if each.startswith(('url("data:font/woff;base64,', "url(#clip"))
    ]


@pytest.mark.parametrize("words", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_is_only_ever_text(words):
    chart = everywhere(words)
    check(chart.svg())
    assert raster.rasterize(svg(chart, fonts=False)).startswith(b"\x89PNG")


@settings(max_examples=examples(40), deadline=None)
@given(st.text(max_size=40))
def test_any_text_at_all_makes_a_document(words):
    if any(0xD800 <= ord(char) <= 0xDFFF for char in words):
        return
    check(everywhere(words).svg(width=500, height=400))


def test_what_was_written_can_be_read_back():
    words = "a < b & \"c\" > 'd'"
    scene = Scene(labels=[Label(id=1, x=at(4), y=100.0, text=words)])
    assert words in written(chart_of(scene).svg())


numbers = st.floats(allow_nan=False, allow_infinity=False)
bars = st.integers(-(10**20), 10**20) | st.integers(-5, 20)
anchors = st.builds(
    Anchor, n=st.none(), bar=st.none() | bars, time=st.none() | st.integers(-(10**25), 10**25)
)
colors = st.sampled_from(["#00000000", "#ffffffff", "#2962ff80"]) | st.none()
heights = st.none() | numbers | st.floats(98, 103)


def ten(one):
    """A value for each of ten bars."""
    return st.lists(one, min_size=10, max_size=10)


scenes = st.builds(
    Scene,
    plots=st.lists(
        st.builds(
            LinePlot,
            values=ten(numbers),
            width=st.floats(0, 1e12),
            ahead=st.lists(numbers, max_size=3),
            style=st.sampled_from(["line", "columns", "area", "cross", "stepline_diamond"]),
        )
        | st.builds(HLinePlot, y=numbers, title=st.text("ab", max_size=3))
        | st.builds(
            DotPlot,
            points=st.lists(
                st.builds(Point, x=st.integers(-9, 99), y=numbers, size=st.floats(0, 1e12)),
                max_size=4,
            ),
        )
        | st.builds(
            CandlesPlot,
            **dict.fromkeys(("open", "high", "low", "close"), ten(numbers)),
            color=st.just("auto") | ten(colors),
            wick_color=st.none() | ten(colors),
            border_color=st.none() | ten(colors),
        )
        | st.builds(BackgroundPlot, color=ten(colors))
        | st.builds(BarColorPlot, color=ten(colors))
        | st.builds(
            ShapePlot,
            points=st.lists(
                st.builds(
                    Mark,
                    x=st.integers(-9, 99),
                    y=st.none() | numbers,
                    text=st.sampled_from(["", "x", "two\nlines"]),
                ),
                max_size=4,
            ),
            shape=st.sampled_from(palette.SHAPES),
            location=st.sampled_from(palette.LOCATIONS),
            size=st.sampled_from(list(palette.TEXT_SIZES)),
        ),
        max_size=3,
    ),
    labels=st.lists(
        st.builds(
            Label,
            id=st.just(1),
            x=anchors,
            y=heights,
            text=st.sampled_from(["", "x", "two\nlines"]),
            style=st.sampled_from(["label_down", "none", "flag", "circle", "label_upper_left"]),
            yloc=st.sampled_from(["price", "abovebar", "belowbar"]),
            size=st.sampled_from(["auto", "huge"]) | st.integers(1, 10**9),
            color=colors,
            text_color=colors,
        ),
        max_size=3,
    ),
    lines=st.lists(
        st.builds(
            Line,
            id=st.integers(1, 2),
            x1=anchors,
            y1=heights,
            x2=anchors,
            y2=heights,
            extend=st.sampled_from(["none", "left", "right", "both"]),
            style=st.sampled_from(["solid", "arrow_both", "dotted"]),
            width=st.integers(0, 10**12),
            color=colors,
        ),
        max_size=3,
    ),
    boxes=st.lists(
        st.builds(
            Box,
            id=st.just(1),
            left=anchors,
            top=heights,
            right=anchors,
            bottom=heights,
            border_width=st.integers(0, 10**12),
            text=st.sampled_from(["", "some words in a box"]),
            text_size=st.sampled_from(["auto", "tiny"]) | st.integers(1, 10**9),
            text_wrap=st.sampled_from(["none", "auto"]),
            extend=st.sampled_from(["none", "both"]),
        ),
        max_size=3,
    ),
    tables=st.lists(
        st.builds(
            Table,
            id=st.just(1),
            position=st.sampled_from(["top_left", "middle_center", "bottom_right"]),
            columns=st.integers(0, 10**12),
            rows=st.integers(0, 10**12),
            frame_width=st.integers(0, 10**12),
            frame_color=colors,
            cells=st.lists(
                st.builds(
                    Cell,
                    id=st.just(1),
                    column=st.integers(0, 3),
                    row=st.integers(0, 3),
                    end_column=st.none() | st.integers(0, 10**12),
                    width=st.floats(0, 1e12),
                    text=st.sampled_from(["", "cell"]),
                ),
                max_size=4,
            ),
        ),
        max_size=2,
    ),
    polylines=st.lists(
        st.builds(
            Polyline,
            id=st.just(1),
            points=st.lists(
                st.builds(
                    Vertex,
                    bar=st.integers(-(10**18), 10**18) | st.integers(-5, 20),
                    time=st.none(),
                    y=numbers | st.floats(98, 103),
                ),
                max_size=6,
            ),
            curved=st.booleans(),
            closed=st.booleans(),
            line_color=colors,
            fill_color=colors,
            line_style=st.sampled_from(["solid", "arrow_both", "dotted"]),
            line_width=st.integers(0, 10**12),
        ),
        max_size=3,
    ),
    linefills=st.lists(
        st.builds(Linefill, id=st.just(1), line1=st.just(1), line2=st.integers(0, 2), color=colors),
        max_size=2,
    ),
    y_range=st.none()
    | st.tuples(numbers, numbers).map(sorted).filter(lambda p: p[0] < p[1]).map(tuple),
)


@settings(max_examples=examples(120), deadline=None)
@given(scenes, st.booleans(), st.booleans())
def test_any_scene_makes_a_document_that_can_be_drawn(scene, overlay, log):
    document = svg(chart_of(scene, overlay=overlay), fonts=False, width=400, height=300, log=log)
    check(document)
    assert "nan" not in document
    assert "inf" not in document
    assert raster.rasterize(document).startswith(b"\x89PNG")


def test_a_table_of_no_width_is_no_reason_to_fail():
    cell = Cell(id=1, column=0, row=0, end_column=5, width=5e-324)
    check(svg(chart_of(Scene(tables=[Table(1, "top_left", 6, 1, cells=[cell])])), fonts=False))


def test_too_many_objects_are_refused_with_the_limit(monkeypatch):
    monkeypatch.setattr(panes, "MAX_OBJECTS", 10)
    labels = [Label(id=i, x=at(1), y=100.0) for i in range(11)]
    with pytest.raises(RenderError, match=r"11 drawn objects are too many .* at most 10"):
        chart_of(Scene(labels=labels)).svg()


def test_too_many_panes_for_the_height_are_refused_with_the_height_needed():
    scene = Scene(plots=[LinePlot(values=[1.0] * 10)])
    drawn = tuple(gallery.drawn(scene, f"p{i}", overlay=False) for i in range(30))
    chart = Chart(flat_bars(), drawn)
    with pytest.raises(RenderError, match="ask for at least") as refused:
        chart.svg(height=300)
    need = int(re.findall(r"(\d+) pixels", str(refused.value))[0])
    chart.svg(height=need)


def test_more_panes_than_any_picture_holds_are_refused():
    scene = Scene(plots=[LinePlot(values=[1.0] * 10)])
    drawn = tuple(gallery.drawn(scene, f"p{i}", overlay=False) for i in range(101))
    with pytest.raises(RenderError, match="at most 100"):
        Chart(flat_bars(), drawn).svg()


def test_thousands_of_long_texts_take_a_moment_not_minutes():
    from time import process_time

    labels = [Label(id=i, x=at(i % 10), y=100.0, text="x" * 4000) for i in range(6_000)]
    boxes = [
        Box(id=i, left=at(i % 5), top=101.0, right=at(9), bottom=99.5, text="word " * 800,
            text_wrap="auto")
        for i in range(500)
    ]  # fmt: skip
    start = process_time()
    chart_of(Scene(labels=labels, boxes=boxes)).svg()
    assert process_time() - start < 20  # minutes, before the search for room had an end


LINES = "W\n" * 200


def many_cells(columns: int, rows: int, **fields) -> list[Cell]:
    return [
        Cell(id=i, column=i % columns, row=i // columns, text=LINES, **fields)
        for i in range(columns * rows)
    ]


@pytest.mark.parametrize(
    "scene",
    [
        Scene(tables=[Table(1, "top_right", 44, 45, cells=many_cells(44, 45))]),
        Scene(tables=[Table(1, "top_right", 1, 1, cells=many_cells(1, 1, size=1))]),
        Scene(
            tables=[
                Table(i, position, 14, 15, cells=many_cells(14, 15))
                for i, position in enumerate(palette.POSITIONS)
            ]
        ),
        Scene(
            labels=[
                Label(i, at(i % 10), 100.0 + i % 5, text=LINES, size=1, style="none")
                for i in range(500)
            ]
        ),
        Scene(
            boxes=[
                Box(i, at(i % 9), 101.0, at(9), 99.0, text=LINES, text_size=1, text_wrap=wrap)
                for i in range(250)
                for wrap in palette.WRAPS
            ]
        ),
    ],
    ids=["a table", "a cell", "nine tables", "labels", "boxes"],
)
def test_lines_of_text_that_a_picture_cannot_show_are_not_written(scene):
    document = svg(chart_of(scene), fonts=False)
    heights = [float(y) for y in re.findall(r'<text x="[^"]*" y="([^"]*)"', document)]
    assert len(document) < 2_000_000
    assert min(heights) > -20
    assert max(heights) < 820


def zigzag(number: int, **look) -> Polyline:
    points = [Vertex(i * 7 % 10, None, 99.0 + (i * 37 + number) % 101 / 50) for i in range(1000)]
    return Polyline(number, points, **look)


BAR_COLORS = [f"#{i:06x}" for i in range(10)]
HEAVY = {
    "dotted polylines": (
        lambda: Scene(polylines=[zigzag(i, line_style="dotted", line_width=2) for i in range(100)]),
        "lines and fills",
    ),
    "curved polylines": (
        lambda: Scene(polylines=[zigzag(i, curved=True, line_width=64) for i in range(100)]),
        "lines and fills",
    ),
    "dots": (
        lambda: Scene(
            plots=[
                DotPlot(points=[Point(bar, 99.0 + i / 500, 200) for bar in range(10)])
                for i in range(2_500)
            ]
        ),
        "dots",
    ),
    "crosses": (
        lambda: Scene(plots=[LinePlot(values=[100.0] * 10, style="cross")] * 10_000),
        "lines and fills",
    ),
    "candles": (
        lambda: Scene(plots=[candles_of(BAR_COLORS)] * 2_000),
        "columns and candles",
    ),
}


def candles_of(colors: list[str]) -> CandlesPlot:
    prices = [100.0] * 10
    return CandlesPlot(
        open=prices, high=[101.0] * 10, low=[99.0] * 10, close=prices,
        color=colors, wick_color=colors, border_color=colors,
    )  # fmt: skip


@pytest.mark.parametrize("crowd", HEAVY)
def test_a_picture_that_would_take_seconds_to_rasterise_is_refused(crowd):
    scene, name = HEAVY[crowd]
    with pytest.raises(RenderError, match=f"most of it is {name}: draw fewer") as refusal:
        svg(chart_of(scene()), fonts=False)
    assert refusal.value.kind == "size"


class Clock:
    """A clock that goes on by a second each time that it is read."""

    def __init__(self) -> None:
        self.now = 0.0

    def thread_time(self) -> float:
        self.now += 1.0
        return self.now


@pytest.mark.parametrize(
    "crowd", ["plots", "labels", "boxes", "lines", "polylines", "shapes", "cells"]
)
def test_a_layout_that_takes_too_long_is_ended(crowd, monkeypatch):
    """Each object costs a look at the clock, which is all that passes here."""
    count = int(deadline.LAYOUT_S) + 5
    anchor = Anchor(n=None, bar=4, time=None)
    marks = Marks(x=np.arange(count) % 10, y=np.full(count, np.nan), text=["word"] * count)
    cells = [Cell(id=number, column=0, row=number, text="w") for number in range(count)]
    scene = {
        "plots": lambda: Scene(plots=[HLinePlot(y=100.0)] * count),
        "labels": lambda: Scene(labels=[Label(id=1, x=anchor, y=100.0, text="w")] * count),
        "boxes": lambda: Scene(boxes=[Box(1, anchor, 101.0, anchor, 100.0)] * count),
        "lines": lambda: Scene(lines=[Line(1, anchor, 101.0, anchor, 100.0)] * count),
        "polylines": lambda: Scene(polylines=[Polyline(1, [Vertex(1, None, 100.0)])] * count),
        "shapes": lambda: Scene(plots=[ShapePlot(points=marks)]),
        "cells": lambda: Scene(tables=[Table(1, "top_left", 10**9, 10**9, cells=cells)]),
    }[crowd]()
    clock = Clock()
    monkeypatch.setattr(deadline, "time", clock)
    with pytest.raises(RenderError, match="too long to lay out: draw fewer objects") as refusal:
        svg(chart_of(scene), fonts=False)
    assert refusal.value.kind == "time"
    assert clock.now < 2 * count
    clock.now = 0.0
    assert svg(chart_of(Scene()), fonts=False).startswith("<svg")


def test_a_table_many_times_as_large_as_its_pane_takes_no_longer_than_the_pane():
    occupied = textblock.Occupied(Area(0, 0, 1200, 800), deadline.Deadline())
    occupied.add(Area(-1e7, 100, 1e7, 1e7))
    assert len(occupied._cells) < 1000
    assert not occupied.is_free(Area(500, 500, 560, 520))
    assert occupied.is_free(Area(500, 20, 560, 40))
