"""A dictionary-encoded column behaves as the sequence of its texts."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test

from chartpact.scene import BarsPlot, DotPlot, Points, Scene, SceneError
from chartpact.textcolumn import TextColumn

lists = st.lists(st.none() | st.sampled_from(["red", "green", "", "ü"]) | st.text(max_size=2))


@given(lists, lists)
def test_a_column_is_the_sequence_it_encodes(one, two):
    texts = TextColumn.encode(one)
    assert list(texts) == one and len(texts) == len(one)
    assert texts == one and texts == tuple(one) and TextColumn.encode(one) == texts
    assert (texts == two) == (one == two) == (texts == TextColumn.encode(two))
    assert [texts[i] for i in range(-len(one), len(one))] == one + one
    assert list(texts[1:]) == one[1:] and list(texts[::-1]) == one[::-1]
    assert list(TextColumn.concat([texts, TextColumn.encode(two)])) == one + two
    assert hash(texts) == hash(tuple(one))
    assert pickle.loads(pickle.dumps(texts)) == texts
    back = np.arange(len(one))[::-1]
    assert list(texts.take(back)) == one[::-1]
    assert list(texts.map(lambda text: text and text.upper())) == [t and t.upper() for t in one]


@in_one_test(("count", "width"), [(256, 1), (257, 2), (65_536, 2), (65_537, 8)])
def test_codes_take_the_smallest_type_that_holds_them(count, width):
    texts = TextColumn.encode([str(i) for i in range(count)])
    assert texts.codes.dtype.itemsize == width
    assert texts[count - 1] == str(count - 1)


def test_a_column_does_not_change_with_the_codes_it_was_made_of():
    codes = np.array([0, 1, 0])
    texts = TextColumn(("a", "b"), codes)
    codes[:] = 1
    assert list(texts) == ["a", "b", "a"]
    with pytest.raises(ValueError, match="read-only"):
        texts.codes[0] = 1
    assert repr(TextColumn.repeat("x", 10)).endswith("'x'] and 2 more)")
    assert TextColumn.encode([]) != "" and TextColumn.encode(["a"]) != 5


def test_the_colours_of_a_plot_are_canonical_whatever_they_were_given_as():
    for colors in (
        ["red", None, "red"],
        ("red", None, "red"),
        TextColumn.encode(["red", None, "red"]),
    ):
        plot = BarsPlot(values=[1, 2, 3], color=colors)
        assert list(plot.color) == ["#f23645ff", None, "#f23645ff"]
        assert plot == BarsPlot.from_json(plot.to_json())
    for wrong in (["red", 5], ["red", ["blue"]], ["no colour"], 5):
        with pytest.raises(SceneError, match=r"BarsPlot\.color"):
            BarsPlot(values=[1, 2], color=wrong)


def test_a_text_is_no_number_of_a_column():
    with pytest.raises(SceneError, match=r"Point\.y"):
        Points(x=[1, 2], y="12")
    with pytest.raises(SceneError, match=r"Point\.x"):
        Points(x="12", y=[1.0, 2.0])


def test_a_scene_cut_keeps_the_colours_of_what_stays():
    dots = DotPlot(points=Points(x=[0, 3, 5], y=[1.0, 2.0, 3.0]), color=["red", "blue", "green"])
    strip = BarsPlot(values=np.arange(6.0), color=["red", "blue"] * 3)
    cut = Scene(plots=(dots, strip)).cut(3)
    assert list(cut.plots[0].color) == list(dots.color)[1:]
    assert list(cut.plots[1].color) == list(strip.color)[3:]
