"""What changed between two contracts: patch, minor, major; and the ids that may not come back."""

# ruff: noqa: E501  (tables)

from small import contract_text, make, told
from tests.cases import in_one_test

from chartpact.contracts import load
from chartpact.contracts.workbench.diff import diff

OLD = """\
config:
  paint: {type: color, default: "#ff0000", about: a colour}
  mode: {type: choice, options: [a, b], default: a}
profiles: {dark: {paint: "#111111"}}
channels: {lines: signal, labels: informational}
encodings: {look: {mine: paint, none: none}}
elements:
  tag: {from: labels, count: 0..1, meaning: a tag}
  level: {from: lines, where: style == 'solid', count: 1, key: [x1.time], reads: {look: look(color)}}
  rest: {from: lines, where: style != 'solid', ignore: why not}
states:
  looks:
    observe: {look: level.look, thin: level.width == 1}
    rows:
      MINE: {when: {look: mine, thin: true}, give: {n: 1}}
      NONE: {when: {look: none, thin: true}, give: {n: 2}}
      thick: {when: {thin: false}, violation: malformed, say: too thick}
    initial: [MINE, NONE]
    transitions: {}
edge_cases:
  high: {when: level.y1 > 5, violation: unexpected, say: high}
output: {state: looks.state, n: looks.n, word: tag.text}
notes: a contract
"""


@in_one_test(
    ("old", "new", "level"),
    [
        ("notes: a contract", "notes: the contract", "patch"),
        ("about: a colour", "about: the colour", "patch"),
        ("meaning: a tag", "meaning: the tag", "patch"),
        ("ignore: why not", "ignore: because", "patch"),
        ("say: too thick", "say: thick", "patch"),
        ("say: high", "say: too high", "patch"),
        ("profiles: {dark", "profiles: {black", "patch"),
        ("style == 'solid', count", "( style=='solid' ), count", "none"),
        ("level.y1 > 5", "level.y1 > 5.0", "none"),
        ("word: tag.text", "word: tag.text if tag != none else none", "major"),
        ("word: tag.text", "word: (tag.text)", "none"),
        ("rows:\n      MINE: {when: {look: mine, thin: true}",
         "rows:\n      MINE: {when: [{look: mine, thin: [true]}]", "none"),
        # additions
        ("mode: {type", "more: {type: number, default: 1}\n  mode: {type", "minor"),
        ("n: looks.n,", "n: looks.n, more: level.y1,", "minor"),
        ("style != 'solid', ignore: why not}",
         "style == 'dashed', ignore: why not}\n  other: {from: lines, where: \"style not in ['solid', 'dashed']\", ignore: x}",
         "major"),
        ("labels: informational", "labels: informational, boxes: cosmetic", "minor"),
        ("edge_cases:\n  high: {when: level.y1 > 5, violation: unexpected, say: high}\n", "", "minor"),
        # breaking
        ("n: looks.n, ", "", "major"),
        ("n: looks.n", "n: looks.n if looks.n > 1 else none", "major"),
        ("n: looks.n", "n: looks.n + 1", "major"),
        ("word: tag.text", "word: tag.style", "major"),
        ("{n: 2}", "{n: 3}", "major"),
        ("style == 'solid'", "style == 'dotted'", "major"),
        ("key: [x1.time]", "key: [x1.time, y1]", "major"),
        ("{mine: paint, none: none}", '{mine: [paint, "#00ff00"], none: none}', "major"),
        ("default: a}", "default: b}", "major"),
        ("options: [a, b]", "options: [a, b, c]", "major"),
        ("mode: {type", "more: {type: number}\n  mode: {type", "major"),
        ("transitions: {}", "transitions: {MINE: [NONE]}", "major"),
        ("transitions: {}", "transitions: {}\n    epoch: chart.symbol", "major"),
        ("level.y1 > 5", "level.y1 > 6", "major"),
        ("  high: {when", "  low: {when: level.y1 < 1, violation: unexpected}\n  high: {when", "major"),
        ("violation: malformed", "violation: ambiguous", "major"),
        ("labels: informational", "labels: signal", "major"),
        ("level.y1 > 5", "level.y1 > 5 and level.extend == 'none'", "major"),
    ],
)  # fmt: skip
def test_a_change_has_its_class(old, new, level):
    assert old in OLD
    text = OLD.replace(old, new)
    found = diff(make(OLD), make(text))
    assert found.level == level, [each.to_json() for each in found.changes]


def test_a_refused_combination_may_become_a_state_of_the_same_enum():
    new = OLD.replace("{thin: false}, violation", "{thin: false, look: none}, violation").replace(
        "MINE: {when: {look: mine, thin: true}", "MINE: {when: {look: mine}"
    )
    assert diff(make(OLD), make(new)).level == "minor"
    assert diff(make(new), make(OLD)).level == "major"


def test_a_new_state_breaks_consumers():
    new = OLD.replace("thick: {when: {thin: false}, violation: malformed, say: too thick}",
                      "THICK: {when: {thin: false}, give: {n: 3}}").replace(
        "initial: [MINE, NONE]", "initial: [MINE, NONE, THICK]")  # fmt: skip
    found = diff(make(OLD), make(new))
    assert found.level == "major"
    assert found.unreserved == ()


def test_only_the_changed_expression_is_told():
    new = OLD.replace("reads: {look", "reads: {more: y1, look")
    assert [change.path for change in diff(make(OLD), make(new)).changes] == [
        "elements.level.reads"
    ]


def test_a_new_informational_element_is_minor():
    new = OLD.replace(
        "  rest: {from", "  note: {from: labels, count: 0..1}\n  rest: {from"
    ).replace("word: tag.text", "word: tag.text, note: note.text")
    assert diff(make(OLD), make(new)).level == "minor"


def test_an_id_that_disappears_must_be_reserved_and_stay_so():
    gone = OLD.replace(", word: tag.text", "").replace(
        "  tag: {from: labels, count: 0..1, meaning: a tag}\n", ""
    )
    found = diff(make(OLD), make(gone))
    assert found.unreserved == ("elements.tag", "output.word")
    assert not found.ok
    reserved = gone + "reserved: {elements: [tag], output: [word]}\n"
    assert diff(make(OLD), make(reserved)).unreserved == ()
    assert diff(make(reserved), make(gone)).unreserved == ("elements.tag", "output.word")
    assert diff(make(reserved), make(OLD)).unreserved == ("elements.tag", "output.word")


def test_versions_are_counted_from_the_old_one():
    new = OLD.replace("n: looks.n, ", "")
    found = diff(make(OLD), make(new))
    assert (found.old, found.new, found.next_version) == ("1.0.0", "1.0.0", "2.0.0")


@in_one_test(
    ("was", "now", "ok"),
    [
        ("1.2.0", "1.2.0", False),
        ("1.2.0", "1.3.0", False),
        ("1.2.0", "2.0.0", True),
        ("2.0.0", "1.0.0", False),
        ("0.1.0", "0.1.1", False),
        ("0.1.0", "0.2.0", True),
    ],
)
def test_a_major_change_that_keeps_its_version_fails(was, now, ok):
    old = load(contract_text(OLD).replace("1.0.0", was))
    new = load(contract_text(OLD.replace("width == 1", "width == 2")).replace("1.0.0", now))
    found = diff(old, new)
    assert (found.level, found.ok) == ("major", ok)
    assert found.to_json()["ok"] is ok
    if not ok:
        (fault,) = found.faults
        assert fault.startswith(f"a major change needs another version than {now}")


def test_the_order_of_independent_elements_is_a_patch():
    lines = OLD.splitlines(keepends=True)
    tag = next(n for n, line in enumerate(lines) if line.startswith("  tag:"))
    moved = [*lines[:tag], *lines[tag + 1 : tag + 3], lines[tag], *lines[tag + 3 :]]
    found = diff(make(OLD), make("".join(moved)))
    assert [(each.path, each.level) for each in found.changes] == [("elements", "patch")]


@in_one_test(
    ("old", "new"),
    [
        ("{mine: paint, none: none}", "{none: none, mine: paint}"),
        ("{look: level.look, thin: level.width == 1}", "{thin: level.width == 1, look: level.look}"),
        ("initial: [MINE, NONE]", "initial: [NONE, MINE]"),
        ("MINE: {when: {look: mine, thin: true}, give: {n: 1}}\n      NONE: {when: {look: none, thin: true}, give: {n: 2}}",
         "NONE: {when: {look: none, thin: true}, give: {n: 2}}\n      MINE: {when: {look: mine, thin: true}, give: {n: 1}}"),
    ],
)  # fmt: skip
def test_the_order_in_which_names_are_listed_means_nothing(old, new):
    assert old in OLD
    assert diff(make(OLD), make(OLD.replace(old, new))).level == "none"


@in_one_test("name", ["looks.NONE", "NONE", "looks"])
def test_a_state_is_reserved_by_its_path_or_by_its_own_name(name):
    new = (
        OLD.replace("NONE: {when: {look: none, thin: true}, give: {n: 2}}",
                    "bare: {when: {look: none, thin: true}, violation: missing}")
        .replace("initial: [MINE, NONE]", "initial: MINE")
    )  # fmt: skip
    assert diff(make(OLD), make(new)).unreserved == ("states.looks.NONE",)
    if name != "looks":
        assert diff(make(OLD), make(f"{new}reserved: {{states: [{name}]}}\n")).unreserved == ()
    assert f"{name!r} is reserved, yet used" in told(f"{OLD}reserved: {{states: [{name}]}}\n")
