"""A refusal names what was nearly right: a text, a price, a setting."""

import drawings as draw
from small import make, reading
from tests.cases import in_one_test

import chartpact as cp
from chartpact.contracts.reading.engine import read
from chartpact.snapshot import Snapshot

TABLE = """\
channels: {cells: signal}
elements:
  high: {from: cells, where: "column == 0 and text == 'PDH'", count: 1}
  other: {from: cells, where: "column != 0 or text != 'PDH'", ignore: the rest}
output: {row: high.row}
"""


@in_one_test("text", ["PDH ", " pdh", "PDHH", "\u200bPDH"])
def test_a_text_that_is_nearly_right_is_named(text):
    cells = [draw.cell(0, "Bias"), draw.cell(1, text), draw.cell(2, "PDL-statistics")]
    for drawn in (cells, cells[::-1]):
        (violation,) = reading(TABLE, cells=drawn).violations
        assert violation.message == (
            f"0 found, 1 expected; nearly high: text == 'PDH' does not hold, text is {text!r}"
        )


def test_a_text_that_is_another_one_is_not_named():
    (violation,) = reading(TABLE, cells=[draw.cell(1, "Bias")]).violations
    assert violation.message == "0 found, 1 expected"


def test_the_shipped_contract_names_the_blank_behind_its_text():
    study = draw.bias("before", "none")
    cell = next(cell for cell in study["cells"] if cell["text"] == "PDH")
    cell["text"] = "PDH "
    found = cp.read("bias_ai", draw.snapshot(study), profile="tfo")
    messages = [v.message for v in found.violations if v.path == "elements.pdh_cell.count"]
    assert messages and "text is 'PDH '" in messages[0]


LEVELS = """\
config: {tick_size: {type: number, default: 0.25}}
channels: {boxes: signal, lines: signal}
elements:
  range: {from: boxes, count: 0..1}
  upper: {from: lines, where: "horizontal and range and near(y1, range.top)", count: 0..1}
states:
  levels:
    observe: {there: upper != none}
    rows: {DRAWN: {when: {there: true}}, lost: {when: {there: false}, violation: missing}}
    initial: DRAWN
output: {level: upper.y1}
"""


def test_a_line_that_is_most_of_a_tick_off_is_named_with_its_distance():
    box, line = draw.box(1, 10.0, 5.0, "#ff0000"), draw.line(2, 10.2, "#ff0000")
    near = (
        "nearly upper: near(y1, range.top) does not hold, "
        "y1 is 10.2 and range.top is 10.0: 0.8 ticks apart"
    )
    unclaimed, lost = reading(LEVELS, boxes=[box], lines=[line]).violations
    assert unclaimed.message == f"no element claims this; {near}"
    assert lost.message == f"there = false; {near}"


def test_a_line_that_is_far_off_is_not_named():
    box, line = draw.box(1, 10.0, 5.0, "#ff0000"), draw.line(2, 90.0, "#ff0000")
    assert [v.message for v in reading(LEVELS, boxes=[box], lines=[line]).violations] == [
        "no element claims this",
        "there = false",
    ]


def test_what_hangs_on_something_that_is_not_there_says_so():
    unclaimed, _ = reading(LEVELS, lines=[draw.line(2, 10.0, "#ff0000")]).violations
    assert unclaimed.message == "no element claims this; nearly upper: range is not there"


def test_the_wrong_mode_is_named():
    study = draw.hunt()
    data = draw.snapshot(study)
    assert cp.read("session_hunt_ai", data).ok
    found = cp.read("session_hunt_ai", data, {"mode": "London"})
    told = [v.message for v in found.violations if 'with mode = "NY" it would be read' in v.message]
    assert len(told) == 1


def test_no_setting_is_named_where_several_would_do_or_none():
    text = """\
    config:
      a: {type: choice, options: [x, y, z], default: x}
    channels: {lines: signal}
    elements: {line: {from: lines}}
    edge_cases: {case: {when: "a == 'x' and len([l for l in line]) > 0", violation: missing}}
    output: {a: a}
    """
    contract = make(text)
    data = Snapshot(draw.snapshot(draw.study("Small", lines=[draw.line(1, 1.0, "#ff0000")])))
    assert "would be read" not in read(contract, data).violations[0].message
    one = make(text.replace("[x, y, z]", "[x, y]"))
    assert 'with a = "y" it would be read' in read(one, data).violations[0].message


def test_near_misses_have_a_budget():
    elements = "\n".join(
        f"  e{n}: {{from: cells, where: \"row == {n} and text == 'PDH'\", count: 1}}"
        for n in range(300)
    )
    counts = ", ".join(f"r{n}: e{n}.row" for n in range(300))
    text = f"channels: {{cells: signal}}\nelements:\n{elements}\noutput: {{{counts}}}\n"
    cells = [draw.cell(n, "PDH ") for n in range(300)]
    found = reading(text, cells=cells)
    told = [v for v in found.violations if "nearly" in v.message]
    assert 0 < len(told) < len(found.violations) == 200


def test_a_refusal_carries_when_from_where_and_under_which_assumptions():
    found = cp.read("bias_ai", draw.snapshot(draw.study("Bias AI")), profile="tfo").to_json()
    assert "state" not in found and found["violations"]
    assert isinstance(found["as_of"], int) and found["source"] == "drawn by hand"
    assert {each["from"] for each in found["assumptions"]} >= {"profile"}
    assert isinstance(found["confirmed"], bool)
    assert found["untracked"] == "the reading was refused"
