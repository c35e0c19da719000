import copy
import json
import math
import pickle
from dataclasses import fields, replace

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test

from chartpact import palette
from chartpact import scene as sc

finite = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
colors = st.sampled_from([*palette.COLORS, "#12345678", "#ABCDEF"])
values = st.none() | finite
series = st.lists(values, max_size=6)
paint = colors | st.just("auto")
sizes = st.sampled_from(list(palette.TEXT_SIZES)) | st.integers(1, 99)
whole = st.integers(-(2**53), 2**53)
anchors = st.builds(sc.Anchor, st.none() | whole, st.none() | whole, st.none() | whole)
points = st.builds(sc.Point, whole, finite, st.floats(0, 50), st.none() | texts)
style = {"title": texts, "provisional": st.booleans()}


def plots_of(kind, columns, **fields):
    """Plots that have as many colours, if not one, as each of their columns has values."""

    def of_length(count):
        def exactly(one):
            return st.lists(one, min_size=count, max_size=count)

        lists = {name: exactly(one) for name, one in columns.items()}
        color = paint | exactly(st.none() | colors) if columns else paint
        return st.builds(kind, color=color, **lists, **style, **fields)

    return st.integers(0, 6).flatmap(of_length)


def tints(kind):
    lists = st.lists(st.none() | colors, max_size=6)
    return st.builds(kind, color=colors | lists, **style)


marks = st.builds(sc.Mark, whole, values, texts)
prices = dict.fromkeys(("open", "high", "low", "close"), values)
plots = st.one_of(
    plots_of(sc.CandlesPlot, prices, wick_color=st.none() | paint,
             border_color=st.none() | paint),
    tints(sc.BackgroundPlot),
    tints(sc.BarColorPlot),
    plots_of(sc.ShapePlot, {"points": marks}, shape=st.sampled_from(palette.SHAPES),
             location=st.sampled_from(palette.LOCATIONS), text_color=st.none() | colors,
             size=st.sampled_from(list(palette.TEXT_SIZES))),
    plots_of(sc.LinePlot, {"values": values}, width=st.floats(0, 9), ahead=series,
              style=st.sampled_from(palette.PLOT_STYLES)),
    plots_of(sc.BarsPlot, {"values": values}, base=finite),
    plots_of(sc.FillPlot, {"a": values, "b": values}, alpha=st.floats(0, 1), a_ahead=series),
    plots_of(sc.DotPlot, {"points": points}),
    plots_of(sc.HLinePlot, {}, y=finite, style=st.sampled_from(palette.BORDER_STYLES)),
    plots_of(sc.HBarPlot, {}, y=finite, height=st.floats(0, 9), width=st.floats(0, 1),
             offset=finite, side=st.sampled_from(palette.SIDES)),
    plots_of(sc.DivLinePlot, {}, x1=whole, y1=finite, x2=whole, y2=finite),
)  # fmt: skip
maybe_color = st.none() | colors
labels = st.builds(
    sc.Label, whole, anchors, st.none() | finite, texts, size=sizes, color=maybe_color,
    style=st.sampled_from(palette.LABEL_STYLES), yloc=st.sampled_from(palette.YLOCS), tooltip=texts,
    text_formatting=st.sampled_from(palette.FORMATS), force_overlay=st.booleans(),
)  # fmt: skip
lines = st.builds(
    sc.Line, whole, anchors, st.none() | finite, anchors, st.none() | finite,
    extend=st.sampled_from(palette.EXTENDS), style=st.sampled_from(palette.LINE_STYLES),
)  # fmt: skip
boxes = st.builds(
    sc.Box, whole, anchors, st.none() | finite, anchors, st.none() | finite, bgcolor=maybe_color,
    text=texts, text_size=sizes, text_wrap=st.sampled_from(palette.WRAPS),
)  # fmt: skip
cells = st.builds(sc.Cell, whole, st.integers(0, 9), st.integers(0, 9), texts, size=sizes)
tables = st.builds(
    sc.Table, whole, st.sampled_from(palette.POSITIONS), st.integers(0, 9), st.integers(0, 9),
    cells=st.lists(cells, max_size=3),
)  # fmt: skip
vertices = st.builds(sc.Vertex, whole, st.none() | whole, finite)
polylines = st.builds(
    sc.Polyline, whole, st.lists(vertices, max_size=4), st.booleans(), st.booleans(),
    fill_color=maybe_color, line_style=st.sampled_from(palette.LINE_STYLES),
    provisional=st.booleans(),
)  # fmt: skip
linefills = st.builds(sc.Linefill, whole, whole, whole, maybe_color, provisional=st.booleans())
scenes = st.builds(
    sc.Scene,
    plots=st.lists(plots, max_size=3),
    signals=st.lists(st.builds(sc.Signal, whole, whole, st.none() | finite, texts), max_size=3),
    labels=st.lists(labels, max_size=2),
    lines=st.lists(lines, max_size=2),
    boxes=st.lists(boxes, max_size=2),
    tables=st.lists(tables, max_size=2),
    polylines=st.lists(polylines, max_size=2),
    linefills=st.lists(linefills, max_size=2),
    y_range=st.none() | st.just((-1.5, 2)),
    label=st.none() | texts,
    limits=st.dictionaries(st.sampled_from(sc.CHANNELS), st.integers(0, 500), max_size=2),
)
SCHEMA = jsonschema.Draft202012Validator(sc.json_schema())


@given(scenes)
def test_json_loses_nothing_and_keeps_to_the_schema(scene):
    data = json.loads(json.dumps(scene.to_json(), allow_nan=False))
    SCHEMA.validate(data)
    again = sc.Scene.from_json(data)
    assert again == scene
    assert again.to_json() == data


def test_the_schema_is_itself_a_schema():
    jsonschema.Draft202012Validator.check_schema(sc.json_schema())


def test_a_scene_has_the_keys_of_the_published_shape():
    keys = "plots signals labels lines boxes tables y_range label".split()
    assert set(keys) <= set(sc.Scene().to_json())


def test_nan_is_null_in_json_and_nothing_is_infinite():
    plot = sc.LinePlot(values=[1, math.nan, None])
    assert plot.to_json()["values"] == [1.0, None, None]
    with pytest.raises(sc.SceneError, match=r"LinePlot.values: .* infinite at bar 1"):
        sc.LinePlot(values=[1, math.inf])


def test_a_series_is_a_copy_that_nobody_can_change():
    drawn = np.array([1.0, 2.0])
    plot = sc.LinePlot(values=drawn)
    drawn[0] = 9
    assert plot.values.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        plot.values[0] = 9


AT = sc.Anchor(3, 3, 1_000)


@in_one_test(
    ("make", "message"),
    [
        (
            lambda: sc.Label(1, AT, 2.0, style="balloon"),
            "Label.style: 'balloon' is not one of none",
        ),
        (lambda: sc.Label(1, AT, 2.0, color="rouge"), "Label.color: 'rouge' is not a colour"),
        (lambda: sc.Label(1, AT, 2.0, size="big"), "Label.size: 'big' is not a size"),
        (lambda: sc.Label(1, AT, 2.0, size=0), "Label.size: 0 is not a size"),
        (lambda: sc.Label(1, AT, math.nan), "Label.y: nan is not a finite number"),
        (lambda: sc.Label(1, AT, True), "Label.y: True is not a finite number"),
        (lambda: sc.Label(1, (3, 3, 1), 2.0), r"Label.x: \(3, 3, 1\) is not a Anchor"),
        (lambda: sc.Label(1, AT, 2.0, "\ud800"), "Label.text: .* surrogate"),
        (lambda: sc.Line(1, AT, 1, AT, 2, width=-1), "Line.width: -1 is less than 0"),
        (lambda: sc.Table(1, "middle", 1, 1), "Table.position: 'middle' is not one of top_left"),
        (lambda: sc.DotPlot(points=[(1, 2)]), "DotPlot.points: .* is not a Point"),
        (lambda: sc.LinePlot(values=[[1.0]]), "LinePlot.values: .* one dimension, not 2"),
        (lambda: sc.LinePlot(values=["a"]), "LinePlot.values: a series holds numbers"),
        (lambda: sc.Scene(y_range=(1, 1)), "Scene.y_range: .* low < high"),
        (lambda: sc.LinePlot(values=["1"]), "LinePlot.values: a series holds numbers"),
        (lambda: sc.LinePlot(values=np.array(["1"])), "LinePlot.values: a series holds numbers"),
        (lambda: sc.LinePlot(values=[10**400]), "LinePlot.values: a series holds numbers"),
        (lambda: sc.HLinePlot(y=10**400), "HLinePlot.y: 1000.* is not a finite number"),
        (lambda: sc.DotPlot(points=[sc.Point(2**63, 1)]), "Point.x: .* beyond 64 bits"),
        (lambda: sc.LinePlot(values=[1], color=[["red"]]), "LinePlot.color: .* no list of colours"),
        (lambda: sc.LinePlot(values=[1, 2], color=["red"]), "LinePlot: 2 values and 1 color do"),
        (lambda: sc.DotPlot(points=[sc.Point(1, 2)], color=[]), "DotPlot: 1 points and 0 color do"),
        (lambda: sc.BackgroundPlot(color="auto"), "BackgroundPlot.color: .* there is none here"),
        (lambda: sc.ShapePlot(points=[], shape="star"), "ShapePlot.shape: 'star' is not one of"),
        (
            lambda: sc.CandlesPlot(open=[1], high=[1], low=[1], close=[1], wick_color=[]),
            "1 close and 0 wick_color do not fit together",
        ),
        (lambda: sc.FillPlot(a=[1, 2], b=[1]), "FillPlot: 2 a and 1 b do not fit together"),
        (lambda: sc.HLinePlot(y=1, color=["red"]), "HLinePlot.color: .* is not a colour"),
        (lambda: sc.Scene(limits={"circles": 1}), "Scene.limits"),
        (lambda: sc.Scene(limits={"labels": -1}), "Scene.limits: -1 is less than 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused_where_it_is_made(make, message):
    with pytest.raises(sc.SceneError, match=message):
        make()


@in_one_test(
    "data",
    [
        None, 1, [], "x", {"plots": 3}, {"plots": [3]}, {"plots": [{"kind": "pie"}]}, {"extra": 1},
        {"plots": [{"kind": "line"}]}, {"labels": [{"id": 1}]}, {"labels": {"id": 1}},
        {"labels": [{"id": 1, "x": 3, "y": 1}]}, {"plots": [{"kind": ["line"]}]},
        {"plots": [{"kind": "line", "values": [1], "color": "red", "colors": {}}]},
        {"plots": [{"kind": "line", "values": {"a": 1}}]}, {"y_range": [2, 1]},
        {"tables": [{"id": 1, "position": "top_left", "columns": 1, "rows": 1, "cells": [{}]}]},
        {"plots": [{"kind": "line", "values": [1], "colors": [[]]}]}, {"label": 7},
        {"plots": [{"kind": "line", "values": [1], "color": "red", "colors": ["red"]}]},
        {"plots": [{"kind": "line", "values": [1], "colors": "red"}]},
        {"plots": [{"kind": "line", "values": [1], "color": ["red"]}]},
        {"plots": [{"kind": "line", "values": [10**400]}]}, {"y_range": [1, 10**400]},
        {"signals": [{"bar": 2**63, "confirmed_bar": 2**70, "value": None, "name": "a"}]},
        {"evicted": {"boxes": -1}}, {"plots": [{"kind": "hline", "y": 1, "colors": ["#ff0000ff"]}]},
        {"plots": [{"kind": "line", "values": [1], "colors": []}]},
    ],
)  # fmt: skip
def test_json_of_any_other_shape_is_an_error_and_nothing_else(data):
    with pytest.raises(sc.SceneError):
        sc.Scene.from_json(data)


@in_one_test(
    ("data", "message"),
    [
        ({"plots": [{"kind": "line"}]}, "LinePlot: values missing"),
        ({"labels": [{"id": 1}]}, "Label: x, y missing"),
        ({"plots": [{"kind": "line", "values": [1], "colors": [["x"]]}]}, "LinePlot.color: "),
    ],
)
def test_an_error_names_what_is_wrong_and_not_what_may_be_left_out(data, message):
    with pytest.raises(sc.SceneError, match=f"^{message}"):
        sc.Scene.from_json(data)


def test_a_scene_may_be_pickled_copied_and_hashed():
    scene = sc.Scene(
        plots=[sc.LinePlot(values=[1, None], color=["red", None])],
        signals=[sc.Signal(1, 2, None, "a")],
        limits={"labels": 3},
    )
    for other in (pickle.loads(pickle.dumps(scene)), copy.deepcopy(scene)):
        assert other == scene
        assert hash(other) == hash(scene)
        assert not other.plots[0].values.flags.writeable


def test_a_scene_cut_at_a_bar_counts_its_bars_anew():
    scene = sc.Scene(
        plots=(
            sc.LinePlot(values=[1, 2, 3], color=["red", None, "blue"], ahead=[9]),
            sc.FillPlot(a=[1, 2, 3], b=[0, 0, 0]),
            sc.DotPlot(points=[sc.Point(0, 1), sc.Point(2, 5)], color=["red", "blue"]),
            sc.DivLinePlot(x1=0, y1=1, x2=2, y2=3),
            sc.HLinePlot(y=70),
            sc.CandlesPlot(
                **{key: [1, 2, 3] for key in ("open", "high", "low", "close")},
                wick_color=["red", None, "blue"],
            ),
            sc.BackgroundPlot(color=["red", None, "blue"]),
            sc.ShapePlot(points=[sc.Mark(0, 1), sc.Mark(2, text="b")], color=["red", "blue"]),
        ),
        signals=(sc.Signal(0, 0, 1, "early"), sc.Signal(1, 2, 1, "late")),
        labels=(sc.Label(1, sc.Anchor(0, 0, 50), 1.0),),
        lines=(sc.Line(2, sc.Anchor(0, 0, 50), 1.0, sc.Anchor(None, None, None), 1.0),),
        polylines=(sc.Polyline(3, [sc.Vertex(0, 50, 1.5), sc.Vertex(9, None, 2.5)]),),
    )
    cut = scene.cut(1)
    line, fill, dot, divline, hline, candles, background, shape = cut.plots
    assert candles.low.tolist() == [2, 3]
    assert candles.wick_color == background.color == (None, palette.color("blue"))
    assert list(shape.points) == [sc.Mark(1, None, "b")]
    assert shape.color == (palette.color("blue"),)
    assert line.values.tolist() == [2, 3]
    assert line.color == (None, palette.color("blue"))
    assert line.ahead.tolist() == [9]
    assert fill.a.tolist() == [2, 3]
    assert [(p.x, p.y) for p in dot.points] == [(1, 5)]
    assert dot.color == (palette.color("blue"),)
    assert (divline.x1, divline.x2) == (-1, 1)
    assert hline == scene.plots[4]
    assert cut.signals == (sc.Signal(0, 1, 1, "late"),)
    assert cut.labels[0].x == sc.Anchor(-1, -1, 50)
    assert list(cut.polylines[0].points) == [sc.Vertex(-1, 50, 1.5), sc.Vertex(8, None, 2.5)]
    assert cut.lines[0].x2 == sc.Anchor(None, None, None)
    assert scene.cut(0) is scene


@given(scenes, st.integers(0, 4), st.integers(0, 4))
def test_two_cuts_are_one(scene, first, second):
    assert scene.cut(first).cut(second) == scene.cut(first + second)


def test_every_field_of_every_record_has_a_type():
    for record in (sc.Scene, sc.Label, sc.Line, sc.Box, sc.Table, sc.Cell, *sc.PLOTS.values()):
        assert list(record.field_types) == [field.name for field in fields(record)]


def test_a_changed_copy_is_checked_too():
    with pytest.raises(sc.SceneError, match="width"):
        replace(sc.LinePlot(values=[1]), width="wide")


def test_plots_alike_are_checked_as_if_each_were_made():
    one = sc.DivLinePlot(x1=1, y1=2.0, x2=3, y2=4.0, color="red", style="dashed", title="t")
    several = one.alike(x1=np.array([5, 6]), y1=[1.5, 2.5])
    assert several == [replace(one, x1=5, y1=1.5), replace(one, x1=6, y1=2.5)]
    assert one.alike(x1=[], y1=[]) == []
    with pytest.raises(sc.SceneError, match=r"DivLinePlot\.y1: nan is not a finite number"):
        one.alike(y1=[1.0, float("nan")])
    with pytest.raises(sc.SceneError, match=r"DivLinePlot\.x1"):
        one.alike(x1=[1.5])
    with pytest.raises(ValueError, match="zip"):
        one.alike(x1=[1, 2], y1=[1.0])
