import pytest
from tests.cases import in_one_test

from chartpact import palette


def test_the_alpha_byte_is_rounded_as_pine_rounds_it():
    assert [palette.alpha_byte(t) for t in (0, 25, 50, 80, 90, 99.9, 100)] == [
        255, 191, 128, 51, 26, 0, 0,
    ]  # fmt: skip


@in_one_test("transparency", [-1, 100.5, float("nan")])
def test_a_transparency_outside_0_to_100_is_refused(transparency):
    with pytest.raises(ValueError, match="between 0 and 100"):
        palette.alpha_byte(transparency)


def test_pine_names_and_hexadecimal_forms_give_one_canonical_form():
    assert palette.color("red") == palette.color("#F23645") == palette.color("#f23645FF")


@in_one_test("value", ["", "rouge", "#fff", "#12345g", "red ", "#f23645\n", 7, None, ["red"]])
def test_what_is_no_colour_is_refused_with_the_known_names(value):
    with pytest.raises(ValueError, match="use #rrggbb, #rrggbbaa or one of aqua, black"):
        palette.color(value)


def test_pine_has_21_label_styles_and_9_positions():
    assert len(set(palette.LABEL_STYLES)) == 21
    assert len(set(palette.POSITIONS)) == 9
