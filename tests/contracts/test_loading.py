"""What a contract file must prove before it is run; every refusal names its line."""

# ruff: noqa: E501  (a table of contracts, each fault on its line)

import pytest
from small import HEAD, contract_text, make, problems, told
from tests.cases import in_one_test

from chartpact import pacts
from chartpact.contracts import ContractError, find, load, load_file
from chartpact.contracts.language.document import describe, parse
from chartpact.contracts.language.model import validate

GOOD = """\
config:
  paint: {type: color, default: "#ff0000"}
  shape: {type: choice, options: [solid, dashed], default: solid}
channels: {lines: signal, labels: informational}
encodings: {look: {mine: paint, none: none}}
elements:
  tag: {from: labels, count: 0..1}
  level: {from: lines, where: style == 'solid', count: 0..1, reads: {look: look(color)}}
  rest: {from: lines, where: style != 'solid', ignore: not looked at}
states:
  looks:
    observe: {look: level.look, thin: level.width == 1}
    rows:
      NONE: {when: {look: absent}}
      MINE: {when: {look: mine, thin: true}}
      wrong: {when: [{look: none}, {look: mine, thin: false}], violation: malformed}
    initial: [NONE]
    transitions: {NONE: [MINE]}
edge_cases:
  high: {when: level and level.y1 > 5, violation: unexpected}
output: {state: looks.state, word: tag.text}
"""


def changed(old, new):
    assert old in GOOD, old
    return GOOD.replace(old, new)


def test_a_good_contract_loads():
    assert make(GOOD).name == "small"


@in_one_test(
    ("old", "new", "message"),
    [
        # the shape of the file
        ("channels: {lines", "chanels: {lines", "unknown key 'chanels' (did you mean 'channels'?)"),
        ("output: {state: looks.state, word: tag.text}", "", "output is missing"),
        ("type: color,", "type: colour,", "'colour' is not known here (use color, number"),
        ("ignore: not looked at", "ignore: true", "True is not a text (put it in quotes)"),
        ("ignore: not looked at", 'ignore: "\\ud800"', "holds half of a surrogate pair"),
        ("count: 0..1, reads", "count: 1..0, reads", "ends before it begins"),
        ("count: 0..1, reads", "count: many, reads", "'many' is not a count"),
        ("violation: unexpected", "violation: strange", "'strange' is not known here"),
        ("violation: unexpected", "violation: illegal_transition", "is not known here"),
        ("labels: informational", "labels: info", "'info' is not known here"),
        ("labels: informational", "dots: signal", "'dots' is not known here"),
        ("  tag: {from", "  2tag: {from", "'2tag' is not a name"),
        ("  tag: {from", "  if: {from", "'if' is a word of the language"),
        ("  tag: {from", "  none: {from", "'none' is a word of the language"),
        # config and encodings
        ('default: "#ff0000"', "default: red-ish", "is not a colour #rrggbb"),
        ("options: [solid, dashed], ", "", "options belong to a choice"),
        ("options: [solid, dashed], default: solid", "options: [dashed], default: solid",
         "'solid' is not one of dashed"),
        ("type: choice,", "type: choice, min: 1,", "a choice has no min or max"),
        ("type: choice,", "type: choice, from: chart.tick_size,", "chart.tick_size is a number"),
        ("type: choice,", "type: choice, from: price,", "'price' is unknown"),
        ("{mine: paint, none: none}", '{mine: "#ff0000", yours: "#FF0000aa"}', "means 'mine' already"),
        ("{mine: paint, none: none}", "{mine: shape, none: none}", "the config key shape is 'solid'"),
        ("{mine: paint, none: none}", "{mine: blue, none: none}", "'blue' is not a colour #rrggbb"),
        ("{mine: paint, none: none}", "{}", "the table is empty"),
        ("look(color)", "look(style)", "encodings.look.mine: the config key paint is a colour"),
        ("look(color)", "look(y1)", "the config key paint is a colour"),
        # names
        ("  tag: {from", "  paint: {from", "'paint' is a config key already"),
        ("  tag: {from", "  style: {from", "'style' is a field of"),
        ("reads: {look: look(color)}", "reads: {y2: y1}", "'y2' is a field of lines already"),
        ("reads: {look: look(color)}", "reads: {tag: y1}", "'tag' is an element already"),
        ("reads: {look: look(color)}", "reads: {paint: y1}", "'paint' is a config key already"),
        ("  looks:\n", "  paint:\n", "'paint' is a config key already"),
        # elements
        ("from: labels", "from: label", "neither a channel nor an earlier element"),
        ("from: labels", "from: level", "(move it up)"),
        ("from: labels", "from: boxes", "boxes is not in channels"),
        ("labels: informational", "labels: cosmetic", "labels is cosmetic, so nothing reads it"),
        ("ignore: not looked at", "ignore: x, reads: {a: y1}", "an ignored element is claimed"),
        ("style != 'solid', ignore: not looked at", "style != 'solid'", "nothing reads this element"),
        ("where: style == 'solid'", "where: style == 'solid' and tag", "'tag' is informational"),
        ("where: style == 'solid'", "where: rest", "'rest' is not known here"),
        ("where: style == 'solid'", "where: level.y1 > 1", "'level' is not known here"),
        ("count: 0..1, reads", "newest: style, count: 0..1, reads", "a number or a time"),
        ("count: 0..1, reads", "group: [y3], count: 0..1, reads", "'y3' is not a field here"),
        ("count: 0..1, reads", "group: [], count: 0..1, reads", "a group needs a field"),
        ("count: 0..1, reads", "group: [x1], newest: y1, count: 0..1, reads", "not a key of the group"),
        ("count: 0..1, reads", "parts: {a: {highest: y1}}, count: 0..1, reads", "inside a group"),
        ("count: 0..1, reads", "group: [x1], parts: {a: {}}, count: 0..1, reads", "in one way"),
        ("count: 0..1, reads", "key: [x1.bar], count: 0..1, reads", "shift as history loads"),
        ("count: 0..1, reads", "key: [x1], count: 0..1, reads", "shift as history loads"),
        ("count: 0..1, reads", "key: [y1 if x1 < x2 else y2], count: 0..1, reads", "shift as history"),
        ("count: 0..1, reads", "key: [], count: 0..1, reads", "a key needs an expression"),
        ("count: 0..1, reads: {look: look(color)}",
         "count: 0..1, key: [late], reads: {look: look(color), late: x1.bar > 3}", "shift as history"),
        ("count: 0..1, reads", "attach: {a: {from: rest, within: {y1: [1, 2]}}}, count: 0..1, reads",
         "'rest' is not an earlier element"),
        ("count: 0..1, reads", "attach: {a: {from: tag, within: {y: [1, 2]}}}, count: 0..1, reads",
         "'tag' is informational"),
        # states
        ("level.width == 1", "level.width", "it has no closed list of values"),
        ("level.width == 1", "tag.text == 'a'", "'tag' is informational and cannot decide"),
        ("NONE: {when: {look: absent}}", "NONE: {when: {look: absent, thin: true}}",
         "look = absent, thin = false: nothing is said"),
        ("MINE: {when: {look: mine, thin: true}}", "MINE: {when: {look: mine}}",
         "look = mine, thin = false: MINE and wrong both hold"),
        ("{look: none}, ", "{look: none}, {look: absent, thin: true}, ", "NONE and wrong both hold"),
        ("NONE: {when: {look: absent}}", "NONE: {when: {look: gone}}", "look is never 'gone'"),
        ("NONE: {when: {look: absent}}", "NONE: {when: {lok: absent}}", "'lok' is not observed"),
        ("NONE: {when: {look: absent}}", "NONE: {when: absent}", "'absent' is not a mapping"),
        ("thin: true}}\n", "thin: true}}\n      EXTRA: {when: []}\n", "EXTRA is never reached"),
        ("initial: [NONE]", "initial: [NONNE]", "'NONNE' is not a state (did you mean 'NONE'?)"),
        ("transitions: {NONE: [MINE]}", "transitions: {}", "MINE is never reached"),
        ("transitions: {NONE: [MINE]}", "transitions: {NONE: [MIEN]}", "'MIEN' is not a state"),
        ("transitions: {NONE: [MINE]}", "transitions: {NONE: [MINE]}\n    gone: forget",
         "only instances of an element can be gone"),
        ("MINE: {when: {look: mine, thin: true}}",
         "MINE: {when: {look: mine, thin: true}, give: {a: 1}}", "gives other columns"),
        ("violation: malformed}", "violation: malformed, give: {a: 1}}", "a violation gives nothing"),
        ("initial: [NONE]", "initial: [NONE]\n    epoch: level.x1.bar if level else none",
         "shift as history loads"),
        # edge cases and output
        ("level and level.y1 > 5", "tag and tag.text == 'a'", "'tag' is informational and cannot decide"),
        ("level and level.y1 > 5", "y1 > 5", "'y1' is not known here"),
        ("when: level and level.y1 > 5", "each: rest, when: y1 > 5", "'rest' is not an element"),
        ("level and level.y1 > 5, violation: unexpected", "level == none, violation: config",
         "looks at the config only"),
        ("level and level.y1 > 5, violation: unexpected",
         "chart.symbol == 'ES', violation: config", "looks at the config only"),
        ("word: tag.text", "word: {from: tag}", "give is missing"),
        ("word: tag.text", "word: {from: tga, give: {a: text}}", "'tga' is not an element"),
        ("word: tag.text", "word: {from: tag, give: {a: txt}}", "'txt' is not known here"),
        ("word: tag.text", "word: {from: tag, give: {a: text}, split: text}", "occurs at most once"),
        ("word: tag.text", "word: {}", "a mapping of names to expressions belongs here"),
        ("word: tag.text", "word: [tag.text]", "a list has no order here"),
        ("word: tag.text", "word: tag", "is not a JSON value"),
        ("word: tag.text", '"a b": tag.text', "is not a name for a value"),
        ("output: {state", "reserved: {elements: [tag]}\noutput: {state", "'tag' is reserved, yet used"),
        ("output: {state", "reserved: {states: [looks.MINE]}\noutput: {state", "reserved, yet used"),
        ("output: {state", "reserved: {output: [word]}\noutput: {state", "'word' is reserved, yet used"),
        ("output: {state", "reserved: {config: [paint]}\noutput: {state", "reserved, yet used"),
        ("output: {state", "reserved: {encodings: [look.mine]}\noutput: {state", "reserved, yet used"),
        ("output: {state", "profiles: {a: {pain: 1}}\noutput: {state", "there is no config key 'pain'"),
        ("output: {state", "profiles: {a: {paint: 1}}\noutput: {state", "1 is not a colour"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_line(old, new, message):
    text = changed(old, new)
    found = [each for each in problems(text) if message in describe(each)]
    assert found, told(text)
    assert all(each.line is not None and each.path for each in problems(text))
    assert all(each.hint for each in problems(text)), told(text)
    line = contract_text(text).splitlines()[found[0].line - 1]
    key = found[0].path.split(".")
    assert any(step in line for step in key) or found[0].message.endswith("is missing"), line


def test_all_faults_are_told_at_once_in_the_order_of_their_lines():
    text = changed("look(color)", "lok(color)").replace("tag.text", "tag.txt")
    text = text.replace("level.y1 > 5", "level.y3 > 5")
    lines = [each.line for each in problems(text)]
    assert len(lines) >= 3
    assert lines == sorted(lines)


def test_the_head_of_a_file_is_checked():
    body = contract_text(GOOD).removeprefix(HEAD)
    for head, message in (
        ("contract: Small Thing\nversion: 1.0.0\nidentity: {pine_title: A}\n", "is not a name"),
        ("contract: a\nversion: 1.0\nidentity: {pine_title: A}\n", "write three numbers"),
        ("contract: a\nversion: 1.0.0\nidentity: {}\n", "pine_title is missing"),
        (
            "contract: a\nversion: 1.0.0\nidentity: {pine_title: A, script_versions: []}\n",
            "no version",
        ),
    ):
        with pytest.raises(ContractError) as refused:
            load(head + body)
        assert message in str(refused.value)


def test_combinations_with_half_an_element_are_left_out():
    text = """\
    channels: {lines: signal}
    encodings: {look: {red: "#ff0000", blue: "#0000ff"}}
    elements:
      one: {from: lines, count: 0..1, reads: {look: look(color), thin: width == 1}}
    states:
      s:
        observe: {look: one.look, thin: one.thin}
        rows:
          NONE: {when: {look: absent}}
          SOME: {when: {look: [red, blue]}}
        initial: [NONE, SOME]
    output: {s: s.state}
    """
    assert make(text).machines["s"].table.keys() == {
        (None, None), ("red", True), ("red", False), ("blue", True), ("blue", False),
    }  # fmt: skip


def test_the_hunt_has_45_combinations_on_its_day_and_on_a_later_one():
    assert len(find("session_hunt_ai").machines["hunt"].table) == 2 * 45


def test_too_many_combinations_are_refused():
    observed = ", ".join(f"o{n}: one.width == {n}" for n in range(17))
    machine = f"{{observe: {{{observed}}}, rows: {{A: {{when: {{}}}}}}, initial: A}}"
    text = f"""\
    channels: {{lines: signal}}
    elements: {{one: {{from: lines, count: 1}}}}
    states: {{m: {machine}}}
    output: {{a: one.y1}}
    """
    assert "131072 combinations of observations are too many" in told(text)


def test_rows_tell_true_from_one():
    text = """\
    channels: {lines: signal}
    elements: {one: {from: lines, count: 1}}
    states:
      m: {observe: {thin: one.width == 1}, rows: {A: {when: {thin: 1}}, B: {when: {thin: false}}}, initial: [A, B]}
    output: {a: m.state}
    """
    assert "thin is never 1 (it is one of true, false)" in told(text)


def test_a_machine_of_an_element_needs_a_key():
    text = """\
    channels: {lines: signal}
    elements: {one: {from: lines, reads: {thin: width == 1}}}
    states:
      one: {observe: {thin: thin}, rows: {A: {when: {thin: true}}, B: {when: {thin: false}}}, initial: [A, B]}
    output: {a: {from: one, sort: x1, give: {state: state}}}
    """
    assert "an element with states needs a key" in told(text)
    assert told(text.replace("width == 1}", "width == 1}, key: [x1.time]")) == ""


def test_the_opacity_of_a_groups_colour_cannot_be_asked_for():
    text = """\
    channels: {lines: signal}
    elements: {one: {from: lines, group: [color], parts: {a: {highest: y1}}, reads: {b: alpha(color)}}}
    output: {a: {from: one, sort: b, give: {b: b}}}
    """
    assert "members may differ in opacity" in told(text)
    assert told(text.replace("alpha(color)", "alpha(a.color)")) == ""


def test_near_needs_a_tick_size_that_is_always_there():
    text = """\
    %s
    channels: {lines: signal}
    elements: {one: {from: lines, where: "near(y1, 5)"}}
    output: {a: "len([o for o in one])"}
    """
    assert told(text % "notes: without one, the chart's is taken") == ""
    assert "near needs tick_size" in told(
        text % "config: {tick_size: {type: number, default: null}}"
    )
    assert "near needs tick_size" in told(text % "config: {tick_size: {type: text}}")


def test_the_order_of_sections_and_comments_do_not_matter():
    body = contract_text(GOOD)
    start = body.index("edge_cases:")
    moved = body[start:] + body[:start]
    assert load("# a comment\n" + moved).name == "small"


def test_contracts_are_cached_by_content(tmp_path):
    text = contract_text(GOOD)
    assert load(text) is load(text.encode())
    path = tmp_path / "contract.yaml"
    path.write_text(text)
    assert load_file(path) is load(text)
    assert load(text + "\n# more\n") is not load(text)


def test_bound_contracts_are_cached_by_configuration():
    from chartpact.contracts.reading.bind import bind

    contract = make(GOOD)
    values = {"paint": "#ff0000ff", "shape": "solid", "tick_size": None}
    assert bind(contract, values) is bind(contract, dict(values))
    assert bind(contract, {**values, "shape": "dashed"}) is not bind(contract, values)


@in_one_test("name", pacts.names())
def test_shipped_contracts_fit_the_schema_for_editors(name):
    from jsonschema import Draft202012Validator

    from chartpact.contracts.language.model import json_schema

    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    text = (pacts.folder(name) / "contract.yaml").read_text()
    assert not list(Draft202012Validator(schema).iter_errors(parse(text).plain()))
    assert validate(parse(text)).contract == name


def test_a_name_that_is_no_contract_says_what_there_is():
    with pytest.raises(ContractError, match=r"there is no contract 'nobody'.*bias_ai"):
        find("nobody")


INFORMATIONAL = """\
channels: {labels: informational}
elements:
  tag: {from: labels, key: [text], reads: {up: style == 'label_up'}}
output: {tags: "len([t.up for t in tag])"}
"""


def test_states_of_an_informational_element_are_refused():
    assert not told(INFORMATIONAL)
    machine = "states: {tag: {observe: {up: up}, rows: {UP: {when: {up: true}}, DOWN: {when: {up: false}, violation: missing}}, initial: UP}}\n"
    assert "line 8: states.tag: 'tag' is informational and cannot decide" in told(
        INFORMATIONAL + machine
    )


def test_an_encoding_cannot_hide_a_function():
    table = "encodings: {near: {up: label_up, down: label_down}}\n"
    assert "line 8: encodings.near: 'near' is a function already" in told(INFORMATIONAL + table)


def test_a_key_cannot_hold_the_number_of_the_last_bar():
    assert "shift as history loads" in told(INFORMATIONAL.replace("[text]", "[chart.last_bar]"))


@in_one_test("name", ["", "x" * 5000, "a\0b", "no/such/folder", "."])
def test_a_name_that_no_file_can_have_is_no_contract(name):
    with pytest.raises(ContractError, match="there is no contract"):
        find(name)
