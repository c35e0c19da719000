"""One declaration of each drawn object, from which everything else about it is derived."""

import inspect
from dataclasses import fields

import pytest

from chartpact import palette, scene, snapshot
from chartpact.drawing import CAPPED, CHANNELS, OBJECTS, Anchor, Box, Cell, Label, Line, Table
from chartpact.script.host.chart import Chart
from chartpact.script.host.handles import BoxHandle, LabelHandle, LineHandle, TableHandle

KINDS = (Label, Line, Box, Table, Cell)
HANDLES = (LabelHandle, LineHandle, BoxHandle, TableHandle)
AT = Anchor(3, 3, 1_000)


def test_the_scene_holds_a_channel_of_each_object():
    assert CHANNELS == ("labels", "lines", "boxes", "tables")
    assert CAPPED == ("labels", "lines", "boxes")
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


@pytest.mark.parametrize("handle", HANDLES, ids=lambda handle: handle.type_name)
def test_scripts_set_an_object_by_pines_keywords_in_pines_order(handle):
    new = inspect.signature(getattr(Chart, f"new_{handle.type_name}")).parameters
    assert list(new)[1:] == [argument.keyword for argument in handle.kind.arguments]
    for argument in handle.kind.arguments:
        assert f"set_{argument.keyword}" in handle.methods
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
    assert list(made.to_json()) == [field.name for field in fields(Label)]


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
