"""Typed nodes: a checked expression knows its kind, what it needs and what it proves."""

from tests.cases import in_one_test

from chartpact.contracts.language.expressions import check
from chartpact.contracts.language.nodes import prove
from chartpact.contracts.language.values import (
    BOOL,
    NUMBER,
    Column,
    Constant,
    Kind,
    Local,
    NameScope,
    Slot,
    Value,
    Vocabulary,
)

VOCABULARY = Vocabulary(config={"limit": NUMBER.or_none()})
LINES = VOCABULARY.shapes["lines"]
SCOPE = NameScope(
    {
        "limit": Value(NUMBER.or_none(), Constant("config", "limit")),
        "level": Value(
            Kind("element", shape="lines", nullable=True), Slot("element", "level"), element="level"
        ),
    },
    lists=frozenset(["level"]),
).owned_by(LINES, Local("m"))


def expression(text):
    return check(text, SCOPE, VOCABULARY)


def test_an_expression_knows_its_kind_and_the_columns_it_needs():
    found = expression("x1.time if horizontal else none")
    assert (found.kind.name, found.kind.nullable) == ("time", True)
    assert {str(column) for column in found.needs} == {"lines.x1.time", "lines.y1", "lines.y2"}
    assert Column("boxes", "top").needs == {Column("boxes", "top"), Column("boxes", "bottom")}
    assert expression("alpha(color)").needs == {Column("lines", "color")}


def test_an_expression_knows_the_config_and_the_chart_that_it_reads():
    assert expression("limit if limit != none else 1").config == {"limit"}
    assert expression("near(y1, y2)").config == {"tick_size"}
    assert expression("starts_with(style, 'near(')").config == set()
    assert expression("chart.last_bar").chart == {"last_bar"}
    assert expression("y1").chart == set()


def test_an_expression_knows_the_elements_it_names_and_those_it_lists():
    assert expression("level.y1").named == {"level"}
    listed = expression("len([v for v in level])")
    assert (listed.named, listed.lists, listed.elements) == (set(), {"level"}, {"level"})


@in_one_test(
    ("text", "when_true", "when_false"),
    [
        ("level", {("level",)}, set()),
        ("level == none", set(), {("level",)}),
        ("level.style == 'solid'", {("level",), ("level", "style")}, set()),
        ("level and limit", {("level",), ("limit",)}, set()),
        ("not level or limit == none", set(), {("level",), ("limit",)}),
        ("limit if level else level", {("level",)}, set()),
    ],
)
def test_a_condition_says_what_it_proves_to_be_there(text, when_true, when_false):
    found = check(text, SCOPE, VOCABULARY, condition=True)
    assert found.kind == BOOL
    assert prove(found.node) == (when_true, when_false)


def test_nodes_are_values():
    one, other = expression("y1 + 1"), expression("( y1+1 )")
    assert one.node == other.node
    assert hash(one.node) == hash(other.node)
    assert one.node != expression("y1 + 2").node
