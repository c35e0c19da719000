"""Pine's layout and grammar, from v1 to v6."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chartpact.pine import PineError
from chartpact.pine import tree as t
from chartpact.pine.parser import parse


def only(source):
    (statement,) = parse(source).body
    return statement


def test_a_line_whose_indentation_is_no_multiple_of_four_continues_the_one_before():
    assert len(parse("x = close +\n  open\ny = 1").body) == 2
    assert len(parse("x = close\n     + open\n").body) == 1


def test_a_text_over_several_lines_is_joined_by_one_space():
    statement = only('x = "one\n     two"')
    assert isinstance(statement.value, t.Text)
    assert statement.value.value == "one two"


def test_several_statements_stand_on_a_line_with_commas_between_them():
    assert [s.names for s in parse("a = 1, b = 2").body] == [["a"], ["b"]]


def test_not_binds_tighter_than_a_comparison():
    value = only("x = not a == b").value
    assert isinstance(value, t.BinaryNode)
    assert isinstance(value.left, t.UnaryNode)


def test_words_of_later_versions_are_names_in_old_scripts():
    assert only("type = 3").names == ["type"]
    assert only("method = type").names == ["method"]


def test_else_belongs_to_the_if_of_its_indentation():
    statement = only("x = if a\n    1\nelse if b\n    2\nelse\n    3")
    assert isinstance(statement.value, t.If)
    assert isinstance(statement.value.orelse[0].value, t.If)


def test_type_arguments_are_told_from_a_comparison():
    assert only("a = array.new<float>(3)").value.types == ["float"]
    assert isinstance(only("x = a < b").value, t.BinaryNode)


@pytest.mark.parametrize(
    ("source", "line"), [("x = (1", 1), ("a = 1\nx = 1 +", 2), ("a = 1\nb = 2\nx = @", 3)]
)
def test_what_is_no_pine_is_refused_with_its_line(source, line):
    with pytest.raises(PineError) as caught:
        parse(source)
    assert caught.value.line == line


@pytest.mark.parametrize(
    "source", ["(" * 5_000, "x = " + "-" * 5_000 + "1", "x = " + "1 ? " * 3_000, "a\n" * 6_000]
)
def test_depth_and_length_are_bounded(source):
    with pytest.raises(PineError):
        parse(source)


@given(st.text(alphabet="ab=()[]<>.,:?+-*/ \n\t\"'#ifelsfor0123 not:=>", max_size=200))
def test_whatever_is_parsed_gives_a_tree_or_a_place(source):
    try:
        parse(source)
    except PineError as error:
        assert 1 <= error.line <= source.count("\n") + 1
