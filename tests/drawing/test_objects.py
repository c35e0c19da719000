"""One declaration of each drawn object, from which everything else about it is derived."""

import inspect
from dataclasses import fields

import pytest
from tests.cases import in_one_test

from chartpact import palette, scene, snapshot
from chartpact.drawing import (
    CAPS,
    CHANNELS,
    OBJECTS,
    Anchor,
    Box,
    Cell,
    Label,
    Line,
    Linefill,
    Polyline,
    Table,
    Vertex,
    Vertices,
)
from chartpact.script.host.chart import ScriptChart
from chartpact.script.host.handles import (
    BoxHandle,
    LabelHandle,
    LinefillHandle,
    LineHandle,
    PolylineHandle,
    TableHandle,
)

KINDS = (Label, Line, Box, Table, Cell)
HANDLES = (LabelHandle, LineHandle, BoxHandle, TableHandle, PolylineHandle, LinefillHandle)
AT = Anchor(3, 3, 1_000)


def test_the_scene_holds_a_channel_of_each_object():
    assert CHANNELS == ("labels", "lines", "boxes", "tables", "polylines", "linefills")
    assert CAPS == {"labels": 500, "lines": 500, "boxes": 500, "polylines": 100}
    assert set(CHANNELS) <= {field.name for field in fields(scene.Scene)}
    assert {kind.channel: kind for kind in OBJECTS.values()} == OBJECTS


def test_places_heights_and_texts_are_known_by_their_types():
    assert [kind.places for kind in KINDS] == [("x",), ("x1", "x2"), ("left", "right"), (), ()]
    assert [kind.heights for kind in KINDS] == [("y",), ("y1", "y2"), ("top", "bottom"), (), ()]
    assert [kind.texts for kind in KINDS] == [
        ("text", "tooltip"), (), ("text",), (), ("text", "tooltip"),
    ]  # fmt: skip


def test_contracts_read_of_an_object_what_its_declaration_says():
    for kind in (Label, Line, Box, Cell):
        assert set(kind.readable) <= set(snapshot.FIELDS[kind.channel])
        unread = set(kind.field_types) - set(kind.readable)
        assert not unread & set(snapshot.FIELDS[kind.channel])
    assert "text_font_family" not in Label.readable
    assert set(snapshot.FIELDS["cells"]) - set(Cell.readable) == {"table", "position"}


@in_one_test("handle", HANDLES, ids=lambda handle: handle.type_name)
def test_scripts_set_an_object_by_pines_keywords_in_pines_order(handle):
    new = inspect.signature(getattr(ScriptChart, f"new_{handle.type_name}")).parameters
    assert list(new)[1:] == [argument.keyword for argument in handle.kind.arguments]
    for argument in handle.kind.arguments:
        fixed = argument.keyword in handle.fixed or (handle.kind, argument.keyword) == (
            Polyline,
            "xloc",
        )
        assert (f"set_{argument.keyword}" in handle.methods) is not fixed
        if argument.field != "xloc" and argument.keyword not in ("columns", "rows"):
            assert argument.field in handle.kind.field_types
    cell = inspect.signature(TableHandle.cell).parameters
    assert list(cell)[1:] == [argument.keyword for argument in Cell.arguments]


def test_a_keyword_differs_from_the_name_of_its_field_where_pine_has_another():
    renamed = {
        (kind.__name__, argument.keyword): argument.field
        for kind in KINDS
        for argument in kind.arguments
        if argument.keyword != argument.field
    }
    assert renamed == {
        ("Label", "textcolor"): "text_color",
        ("Label", "textalign"): "text_align",
        ("Cell", "text_size"): "size",
    }


def test_an_assembled_record_is_the_record_with_its_defaults():
    made = Label.assemble({"id": 1, "x": AT, "y": 2.0, "text": "a"})
    assert made == Label(1, AT, 2.0, "a")
    assert made.color == palette.color("blue")
    shown = [field.name for field in fields(Label) if field.name not in Label.optional]
    assert list(made.to_json()) == shown


@in_one_test("kind", [kind for kind in OBJECTS.values()], ids=lambda kind: kind.channel)
def test_an_object_that_may_still_change_says_so_and_others_say_nothing(kind):
    settled = kind.assemble({})
    open_ = kind.assemble({"provisional": True})
    assert "provisional" not in settled.schema()["required"]
    assert vars(settled)["provisional"] is False
    places = {name: AT for name in kind.places} | (
        {"points": Vertices()} if kind is Polyline else {}
    )
    assert "provisional" not in kind.assemble(places).to_json()
    assert kind.assemble(places | {"provisional": True}).to_json()["provisional"] is True
    assert vars(open_)["provisional"] is True


def test_the_points_of_a_polyline_are_columns_in_which_a_time_may_be_unknown():
    points = Vertices(bar=[1, 700], time=[1_000, None], y=[2.5, 3.0])
    line = Polyline(1, points, closed=True)
    assert list(line.points) == [Vertex(1, 1_000, 2.5), Vertex(700, None, 3.0)]
    assert line.to_json()["points"][1] == {"bar": 700, "time": None, "y": 3.0}
    assert Polyline.from_json(line.to_json()) == line
    for wrong in ({"bar": [1.5]}, {"time": [True]}, {"y": [float("nan")]}, {"y": [None]}):
        with pytest.raises(scene.SceneError):
            Vertices(**{"bar": [1], "time": [1], "y": [1.0]} | wrong)
    with pytest.raises(scene.SceneError, match="beyond 64 bits"):
        Vertices(bar=[-(2**63)], time=[1], y=[1.0])


def test_a_linefill_names_two_lines_and_has_a_colour_or_none():
    fill = Linefill(3, 1, 2, "#2962ff33")
    assert fill.to_json() == {"id": 3, "line1": 1, "line2": 2, "color": "#2962ff33"}
    assert Linefill.from_json({**fill.to_json(), "color": None}).color is None


def test_records_alike_are_checked_as_if_each_were_made():
    template = Line(1, AT, 1.0, AT, 2.0, color="red")
    several = template.alike(id=[5, 6], y1=[1.5, None], style=["dotted", "solid"])
    assert several == [
        Line(5, AT, 1.5, AT, 2.0, color="red", style="dotted"),
        Line(6, AT, None, AT, 2.0, color="red"),
    ]
    assert template.alike(id=[]) == []
    for wrong in ({"style": ["wavy"]}, {"width": [True]}, {"color": ["rouge"]}, {"y1": ["1"]}):
        (name,) = wrong
        with pytest.raises(scene.SceneError, match=rf"Line\.{name}: "):
            template.alike(**wrong)
    with pytest.raises(ValueError, match="zip"):
        template.alike(id=[1, 2], y1=[1.0])


def test_an_error_names_the_field_and_what_is_wrong_as_data():
    with pytest.raises(scene.SceneError) as refused:
        Label(1, AT, 2.0, style="balloon")
    assert refused.value.field == "style"
    assert refused.value.unfit.value == "balloon"
    assert refused.value.unfit.reason.startswith("is not one of none, arrowdown")
