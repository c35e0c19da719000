"""What a contract needs and means is read from typed nodes, never from the text around them."""

# ruff: noqa: E501  (contracts in one line each)

import subprocess
import sys

import drawings as draw
from small import make, problems, reading, refused, state, study, told
from tests.cases import in_one_test

from chartpact.contracts.reading.engine import read
from chartpact.contracts.workbench.diff import diff
from chartpact.contracts.workbench.examples import Example, mutate
from chartpact.snapshot import Snapshot

RED = "#ff0000"


# --------------------------------------------------------------------------------------- tick size

UNTOLD = """\
notes: {notes}
channels: {{lines: signal}}
elements: {{level: {{from: lines, meaning: "{meaning}", where: "style == 'solid'", count: 1}}}}
edge_cases: {{high: {{when: level.y1 > 100, violation: unexpected, say: "{say}"}}}}
output: {{price: {price}}}
"""


def without_tick(text):
    data = draw.snapshot(study(lines=[draw.line(1, 5.0, RED)]))
    return read(make(text), Snapshot(draw.without(data, "chart", "tick_size")))


@in_one_test("place", ["notes", "meaning", "say"])
@in_one_test("word", ["near(", "round_to_tick("])
def test_a_function_that_only_prose_mentions_needs_no_tick_size(place, word):
    prose = {"notes": "none", "meaning": "none", "say": "none", place: f"as {word}a b)"}
    assert without_tick(UNTOLD.format(**prose, price="level.y1")).state == {"price": 5.0}


def test_a_text_that_holds_a_functions_name_needs_no_tick_size():
    text = UNTOLD.format(notes="none", meaning="none", say="none", price="level.y1")
    text = text.replace(
        "style == 'solid'", "style == 'solid' or starts_with(chart.symbol, 'near(')"
    )
    assert without_tick(text).state == {"price": 5.0}


@in_one_test("price", ["round_to_tick(level.y1)", '"near(level.y1, 5)"', "tick_size"])
def test_an_expression_that_uses_the_tick_size_needs_it(price):
    text = UNTOLD.format(notes="none", meaning="none", say="none", price=price)
    assert [v.path for v in without_tick(text).violations] == ["config.tick_size"]


# ------------------------------------------------------------------------------------------- names


def test_names_that_would_make_one_name_when_joined_stay_apart():
    text = """\
    channels: {lines: signal, boxes: signal, labels: signal}
    elements:
      zone: {from: boxes}
      tag: {from: labels}
      a: {from: lines, where: width == 1, count: 1, attach: {b_c: {from: zone, within: {left: [x1, x1]}, exclusive: false}}}
      a_b: {from: lines, where: width == 2, count: 1, attach: {c: {from: tag, within: {y: [y1, y1]}, exclusive: false}}}
    output: {zone: a.b_c.top, tag: a_b.c.text}
    """
    lines = [draw.line(1, 5.0, RED, width=1), draw.line(7, 6.0, RED, width=2)]
    drawn = {"boxes": [draw.box(1, 9, 7, RED)], "labels": [draw.label(1, 6.0, "here")]}
    assert state(text, lines=lines, **drawn) == {"zone": 9, "tag": "here"}


def test_a_reading_named_like_the_opacity_of_another_is_its_own():
    text = """\
    channels: {lines: signal}
    elements: {level: {from: lines, count: 1, reads: {c: color, c__alpha: y1, d: alpha(c)}}}
    output: {alpha: level.d, price: level.c__alpha}
    """
    drawn = draw.line(1, 5.0, RED, alpha="80")
    assert state(text, lines=[drawn]) == {"alpha": 128, "price": 5.0}


def test_a_name_may_hold_what_separates_a_message_from_its_hint():
    text = "channels: {lines: signal}\nelements: {'a; b': {from: lines}}\noutput: {a: 1}\n"
    found = problems(text)[0]
    assert found.message == "'a; b' is not a name"
    assert found.hint.startswith("use letters")


def test_the_keys_of_an_element_named_like_a_section_are_those_of_an_element():
    text = "channels: {lines: signal}\nelements: {parts: {from: lines, cout: 1}}\noutput: {a: 1}\n"
    assert "unknown key 'cout' (did you mean 'count'?)" in told(text)


def test_an_observation_in_brackets_is_known_to_be_absent_with_its_element():
    text = """\
    channels: {lines: signal}
    elements: {level: {from: lines, count: 0..1}}
    states:
      looks:
        observe: {style: "%s", extend: level.extend}
        rows:
          NONE: {when: {style: absent, extend: absent}}
          SOME: {when: {style: [solid, dotted, dashed, arrow_left, arrow_right, arrow_both], extend: [none, left, right, both]}}
        initial: [NONE, SOME]
    output: {state: looks.state}
    """
    assert told(text % "level.style") == ""
    assert told(text % "(level.style)") == ""


# ------------------------------------------------------------------------------------------- values


def test_an_anchor_that_may_be_none_has_a_bar_that_may_be_none():
    text = """\
    channels: {lines: signal}
    elements: {level: {from: lines, count: 1, reads: {at: x1 if width == 1 else none, bar: at.bar}}}
    output: {bar: level.bar}
    """
    assert state(text, lines=[draw.line(3, 5.0, RED, width=1)]) == {"bar": 3}
    assert state(text, lines=[draw.line(3, 5.0, RED, width=2)]) == {"bar": None}


def test_a_text_that_begins_like_a_colour_is_encoded_as_it_is_written():
    text = """\
    channels: {labels: signal}
    encodings: {words: {sell: "#SELL", buy: "#Buy"}}
    elements: {tag: {from: labels, count: 1, reads: {word: words(text)}}}
    output: {word: tag.word}
    """
    assert state(text, labels=[draw.label(1, 5.0, "#SELL")]) == {"word": "sell"}
    assert refused(text, labels=[draw.label(1, 5.0, "#sell")]) == [
        ("malformed", "elements.tag.reads.word")
    ]


def test_half_a_box_leaves_an_informational_element_empty():
    text = """\
    channels: {boxes: informational}
    elements: {zone: {from: boxes, where: top > 1}}
    output: {zones: "len([z for z in zone])"}
    """
    half = draw.without(draw.box(1, 9, 7, RED), "bottom")
    found = reading(text, boxes=[half], source={"fields": {"boxes": ["top", "left"]}})
    assert found.state == {"zones": 0}
    assert [str(warning.field) for warning in found.warnings] == ["boxes.bottom"]


@in_one_test("values", [(1, 1.0), (1.0, 1)])
def test_equal_settings_have_one_digest_whoever_came_first(values):
    text = f"""\
    config: {{least: {{type: number}}}}
    channels: {{lines: signal}}
    elements: {{level: {{from: lines, where: y1 > least}}}}
    output: {{levels: "len([l for l in level])", least: least}}
    notes: {type(values[0]).__name__}
    """
    one, other = (reading(text, config={"least": value}) for value in values)
    assert one.config == other.config
    assert [type(each.state["least"]) for each in (one, other)] == [type(each) for each in values]


# --------------------------------------------------------------------------------------- workbench


@in_one_test(
    ("old", "new"),
    [
        ("tag: SIG", "tag: 'SIG '"),
        ("tag: SIG", "tag: (SIG)"),
        ("meaning: A", "meaning: B"),
        ("about: tag.A", "about: tag.B"),
    ],
)
def test_a_diff_sees_what_only_looks_like_prose_or_like_an_expression(old, new):
    text = """\
    channels: {labels: signal}
    elements:
      tag: {from: labels, count: 1, decode: {of: text, as: delimiter, tag: SIG, fields: {A: {type: text}, B: {type: text}}}, reads: {meaning: A}}
    output: {about: tag.A, meant: tag.meaning}
    """
    assert old in text
    assert diff(make(text), make(text.replace(old, new))).level == "major"


def mutated(text, config, lines):
    contract, snapshot = make(text), Snapshot(draw.snapshot(study(lines=lines)))
    example = Example("good", snapshot, {"state": {"levels": len(lines)}}, config)
    assert example.read(contract).state == example.expect["state"]
    return mutate(contract, [example])


def test_a_setting_of_zero_is_there_and_colours_are_equal_whatever_their_opacity():
    text = """\
    config: {least: {type: number, default: null}, paint: {type: color, default: "#ff0000"}}
    channels: {lines: signal}
    elements: {level: {from: lines, where: "least == none or (paint == '#ff0000' and style == 'solid' and y1 > least)"}}
    output: {levels: "len([l for l in level])"}
    """
    found = mutated(text, {"least": 0, "paint": "#FF000080"}, [draw.line(1, 5.0, RED)])
    assert set(found.targets) >= {"level.style", "level.y1"}
    assert found.unnoticed == ()


def test_a_reading_imports_nothing_of_the_workbench():
    code = "import sys, chartpact as cp; cp.read; from chartpact.contracts import find; find('ob_ai'); print([m for m in sys.modules if 'workbench' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
