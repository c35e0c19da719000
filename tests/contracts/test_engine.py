"""The engine, sentence by sentence, on contracts small enough to see through."""

import drawings as draw
import pytest
from small import make, reading, refused, state, study
from tests.cases import in_one_test

from chartpact.contracts.reading.engine import read
from chartpact.snapshot import Snapshot

RED, BLUE, GREY = "#ff0000", "#0000ff", "#888888"


def kinds(violations):
    return [(each.kind, each.path) for each in violations]


# ------------------------------------------------------------------------------ claims and counts

LEVELS = """\
channels: {lines: signal}
elements:
  red: {from: lines, where: color == '#ff0000', count: %s}
  tall: {from: lines, where: y1 > 100, ignore: not looked at}
output: {reds: "len([r for r in red])"}
"""


def test_every_object_of_a_signal_channel_is_claimed_by_exactly_one_element():
    red, blue = draw.line(1, 5.0, RED), draw.line(1, 6.0, BLUE)
    assert state(LEVELS % "0..", lines=[red]) == {"reds": 1}
    found = reading(LEVELS % "0..", lines=[red, blue])
    assert kinds(found.violations) == [("unexpected", "channels.lines")]
    assert found.violations[0].objects == (blue,)
    both = draw.line(1, 200.0, RED)
    found = reading(LEVELS % "0..", lines=[both])
    assert kinds(found.violations) == [("ambiguous", "channels.lines")]
    assert "red and tall both claim this" in found.violations[0].message


@in_one_test(
    ("count", "number", "kind"),
    [
        ("1", 0, "missing"),
        ("1", 1, None),
        ("1", 2, "duplicate"),
        ("0..1", 0, None),
        ("0..1", 2, "duplicate"),
        ("2..4", 1, "missing"),
        ("2..4", 3, None),
        ("2..4", 5, "duplicate"),
        ("2..", 1, "missing"),
        ("2..", 9, None),
        ("0..", 0, None),
    ],
)
def test_too_few_are_missing_and_too_many_are_duplicate(count, number, kind):
    lines = [draw.line(n, 5.0, RED) for n in range(number)]
    text = LEVELS % count
    if kind is None:
        assert state(text, lines=lines) == {"reds": number}
    else:
        assert refused(text, lines=lines) == [(kind, "elements.red.count")]


def test_a_channel_that_is_not_listed_must_be_empty():
    found = reading(LEVELS % "0..", labels=[draw.label(1, 1.0, "a")], cells=[draw.cell(0, "b")])
    assert kinds(found.violations) == [("unexpected", "channels")] * 2
    nowhere = draw.label(1, None, "a")
    assert reading(LEVELS % "0..", labels=[nowhere]).ok  # it is not drawn
    beside = draw.label(1, None, "a", yloc="abovebar")
    assert not reading(LEVELS % "0..", labels=[beside]).ok


def test_cosmetic_and_informational_channels_may_hold_anything():
    text = LEVELS.replace("signal}", "signal, labels: cosmetic, boxes: informational}")
    drawn = {"labels": [draw.label(1, 1.0, "a"), 5], "boxes": [draw.box(1, 2.0, 1.0, RED)]}
    assert state(text % "0..", **drawn) == {"reds": 0}


def test_colours_compare_by_look_and_what_cannot_be_seen_is_none():
    text = """\
    channels: {lines: signal}
    encodings: {look: {red: "#FF0000", none: none}}
    elements: {any_line: {from: lines, reads: {look: look(color)}}}
    output: {looks: {from: any_line, sort: y1, give: {look: look}}}
    """
    lines = [
        draw.line(1, 1.0, RED),
        draw.line(1, 2.0, RED, alpha="01"),
        draw.line(1, 3.0, BLUE, alpha="00"),
        draw.line(1, 4.0, None),
        {**draw.line(1, 5.0, RED), "color": "#FF0000"},
    ]
    looks = [each["look"] for each in state(text, lines=lines)["looks"]]
    assert looks == ["red", "red", "none", "none", "red"]
    found = reading(text, lines=[*lines, draw.line(1, 6.0, BLUE)])
    assert kinds(found.violations) == [("malformed", "elements.any_line.reads.look")]
    assert "#0000ff has no meaning in look: #ff0000 = red, none = none" in str(found.violations[0])


def test_an_object_without_a_price_is_set_aside_and_counted():
    lines = [
        draw.line(1, 5.0, RED),
        draw.line(1, None, BLUE),
        {**draw.line(1, 7.0, BLUE), "y2": None},
    ]
    found = reading(LEVELS % "0..", lines=lines)
    assert found.state == {"reds": 1}
    assert found.undrawn == {"lines": 2}
    assert found.to_json()["undrawn"] == {"lines": 2}


def test_a_label_beside_its_bar_is_drawn_without_a_price():
    text = """\
    channels: {labels: signal}
    elements: {tag: {from: labels}}
    output: {tags: {from: tag, sort: x, give: {price: y, loc: yloc}}}
    """
    labels = [
        draw.label(1, None, "a", yloc="belowbar"),
        draw.label(2, None, "b"),
        draw.label(3, 4.5, "c"),
    ]
    assert state(text, labels=labels)["tags"] == [
        {"price": None, "loc": "belowbar"},
        {"price": 4.5, "loc": "price"},
    ]


def test_a_box_drawn_upside_down_reads_upright():
    text = """\
    channels: {boxes: signal}
    elements: {zone: {from: boxes, where: top > bottom, count: 1}}
    output: {high: zone.top, low: zone.bottom}
    """
    assert state(text, boxes=[draw.box(1, 3.0, 8.0, RED)]) == {"high": 8.0, "low": 3.0}


# -------------------------------------------------------------------------- groups, newest, parts

PAIRS = """\
channels: {lines: signal}
elements:
  pair:
    from: lines
    group: [x1]
    %s
    parts:
      top: {highest: y1}
      low: {lowest: y1}
      middle: {where: "near(y1, mean(top.y1, low.y1))", optional: true}
    reads: {high: top.y1, base: low.y1, has_middle: middle != none}
output: {pairs: {from: pair, sort: x1, give: {high: high, low: base, middle: has_middle}}}
"""


def test_parts_are_chosen_in_order_from_what_is_left():
    lines = [draw.line(1, 5.0, RED), draw.line(1, 9.0, RED), draw.line(1, 7.0, BLUE),
             draw.line(2, 4.0, RED), draw.line(2, 3.0, RED)]  # fmt: skip
    assert state(PAIRS % "count: 0..", lines=lines)["pairs"] == [
        {"high": 9.0, "low": 5.0, "middle": True},
        {"high": 4.0, "low": 3.0, "middle": False},
    ]


@in_one_test(
    ("prices", "violation"),
    [
        ([5.0], ("missing", "elements.pair.parts.low")),
        ([5.0, 5.0], ("ambiguous", "elements.pair.parts.top")),
        ([5.0, 4.0, 4.0], ("ambiguous", "elements.pair.parts.low")),
        ([9.0, 5.0, 6.0], ("unexpected", "elements.pair.parts")),
        ([9.0, 5.0, 7.0, 7.0], ("ambiguous", "elements.pair.parts.middle")),
    ],
)
def test_a_group_that_lacks_ties_or_overflows_is_refused(prices, violation):
    lines = [draw.line(1, price, RED) for price in prices]
    found = reading(PAIRS % "count: 0..", lines=lines)
    assert kinds(found.violations) == [violation]
    assert len(found.violations[0].objects) >= 1


def test_each_damaged_group_is_told():
    lines = [draw.line(1, 5.0, RED), draw.line(2, 5.0, RED), draw.line(3, 5.0, RED),
             draw.line(3, 4.0, RED)]  # fmt: skip
    assert len(refused(PAIRS % "count: 0..", lines=lines)) == 2


def test_only_the_newest_group_counts_and_the_rest_is_history():
    text = PAIRS % "newest: x1\n    count: 1"
    today = [draw.line(9, 5.0, RED), draw.line(9, 4.0, RED)]
    damaged = [draw.line(3, 1.0, RED)]
    lost = [draw.line(None, 2.0, RED), draw.line(None, 3.0, RED), draw.line(None, 3.0, RED)]
    found = state(text, lines=[*damaged, *today, *lost])
    assert found["pairs"] == {"high": 5.0, "low": 4.0, "middle": False}
    assert refused(text, lines=lost) == [("unavailable", "elements.pair.group")]
    assert refused(text, lines=[]) == [("missing", "elements.pair.count")]


def test_a_group_outside_the_loaded_history_is_unavailable():
    lost = [draw.line(None, 5.0, RED), draw.line(None, 4.0, RED)]
    today = [draw.line(9, 5.0, RED), draw.line(9, 4.0, RED)]
    found = refused(PAIRS % "count: 0..", lines=[*lost, *today])
    assert found == [("unavailable", "elements.pair.group")]


def test_no_object_of_a_group_speaks_for_the_others():
    lines = [draw.line(1, 5.0, RED), draw.line(1, 4.0, RED)]
    lines[1]["x1"] = {**lines[1]["x1"], "bar": 7}
    text = PAIRS.replace("middle: has_middle", "middle: has_middle, bar: x1.bar")
    for order in (lines, lines[::-1]):
        assert len(refused(text % "count: 0..", lines=order)) == 2


NEWEST = """\
channels: {labels: signal}
elements:
  tag: {from: labels, newest: x, reads: {word: text}}
output: {words: {from: tag, sort: word, give: {word: word}}}
"""


def test_newest_keeps_every_instance_with_the_greatest_value():
    labels = [draw.label(3, 1.0, "c"), draw.label(5, 1.0, "b"), draw.label(5, 2.0, "a"),
              draw.label(None, 1.0, "z")]  # fmt: skip
    words = [each["word"] for each in state(NEWEST, labels=labels)["words"]]
    assert words == ["a", "b"]
    assert refused(NEWEST.replace("newest: x", "newest: x, count: 0..1"), labels=labels) == [
        ("duplicate", "elements.tag.count")
    ]
    nowhere = [draw.label(None, 1.0, "z")]
    assert refused(NEWEST, labels=nowhere) == [("unavailable", "elements.tag.newest")]
    assert state(NEWEST, labels=[]) == {"words": []}


def test_only_what_newest_keeps_is_decoded_and_read():
    text = """\
    channels: {labels: signal}
    elements:
      signal:
        from: labels
        newest: x
        count: 1
        decode: {of: text, as: delimiter, tag: S, versions: [2], fields: {A: {type: number}}}
    output: {a: signal.A}
    """
    old = [draw.label(1, 1.0, "garbage"), draw.label(2, 1.0, "S|V:1|A:x")]
    assert state(text, labels=[*old, draw.label(3, 1.0, "S|V:2|A:1.5")]) == {"a": 1.5}
    newest = {
        "S|V:3|A:1": ("version", "elements.signal.decode"),
        "S|V:2|A:": ("malformed", "elements.signal.decode.fields.A"),
        "S|V:2|A:x": ("malformed", "elements.signal.decode.fields.A"),
        "S|V:2|A:1|B:2": ("unexpected", "elements.signal.decode"),
        "T|V:2|A:1": ("malformed", "elements.signal.decode"),
    }
    for payload, violation in newest.items():
        assert refused(text, labels=[*old, draw.label(3, 1.0, payload)]) == [violation]


def test_a_view_filters_and_claims_nothing():
    text = """\
    channels: {lines: signal}
    elements:
      level: {from: lines, reads: {twice: y1 * 2}}
      high: {from: level, where: twice > 10, newest: x1, count: 0..1, reads: {more: twice + 1}}
      above: {from: lines, where: "high and y1 > high.y1 and y1 < 0", ignore: nothing}
    output: {all: "len([l for l in level])", high: high.twice, more: high.more}
    """
    lines = [draw.line(1, 3.0, RED), draw.line(2, 8.0, RED), draw.line(3, 9.0, RED)]
    assert state(text, lines=lines) == {"all": 3, "high": 18.0, "more": 19.0}


# --------------------------------------------------------------------------------------- attaching

ATTACH = """\
config: {tick_size: {type: number, from: chart.tick_size}}
channels: {lines: signal, labels: signal}
elements:
  tag: {from: labels}
  level:
    from: lines
    attach:
      note:
        from: tag
        within: {x.bar: [x1.bar - 2, x1.bar + 2], y: [y1 - 1, y1 + 1]}
        %s
output:
  levels: {from: level, sort: y1, give: {y: y1, note: {from: note, give: {word: note.text}}}}
"""


def attached(words, lines, labels):
    found = state(ATTACH % words, lines=lines, labels=labels)["levels"]
    return [each["note"] and each["note"]["word"] for each in found]


def test_an_instance_is_attached_within_its_ranges():
    lines = [draw.line(10, 5.0, RED), draw.line(30, 8.0, RED)]
    labels = [draw.label(31, 8.5, "b"), draw.label(12, 4.0, "a")]
    assert attached("count: 1", lines, labels) == ["a", "b"]
    assert refused(ATTACH % "count: 1", lines=lines, labels=labels[:1]) == [
        ("missing", "elements.level.attach.note")
    ]
    assert attached("count: 0..1", lines, labels[:1]) == [None, "b"]


def test_a_candidate_left_alone_or_shared_is_refused_unless_that_is_allowed():
    lines = [draw.line(10, 5.0, RED), draw.line(11, 5.5, RED)]
    shared, alone = draw.label(10, 5.0, "both"), draw.label(90, 5.0, "none")
    found = reading(ATTACH % "count: 0..1", lines=lines, labels=[shared])
    assert kinds(found.violations) == [("ambiguous", "elements.level.attach.note")]
    assert found.violations[0].objects == (shared,)
    found = reading(ATTACH % "count: 0..1", lines=lines[:1], labels=[shared, alone])
    assert kinds(found.violations) == [("missing", "elements.level.attach.note")]
    assert found.violations[0].objects == (alone,)
    free = "count: 0..1\n        exclusive: false"
    assert attached(free, lines, [shared, alone]) == ["both", "both"]


def test_of_several_candidates_the_least_nearest_is_taken_and_a_tie_is_ambiguous():
    lines = [draw.line(10, 5.0, RED)]
    near, far, tied = (
        draw.label(10, y, word) for y, word in ((5.25, "n"), (6.0, "f"), (4.75, "t"))
    )
    free = "count: 1\n        exclusive: false"
    assert refused(ATTACH % free, lines=lines, labels=[near, far]) == [
        ("ambiguous", "elements.level.attach.note")
    ]
    nearest = free + '\n        nearest: "abs(note.y - y1) if note.y != none else 0"'
    assert attached(nearest, lines, [far, near]) == ["n"]
    assert refused(ATTACH % nearest, lines=lines, labels=[near, far, tied]) == [
        ("ambiguous", "elements.level.attach.note")
    ]
    chosen = free + "\n        where: note.text == 'f'"
    assert attached(chosen, lines, [near, far, tied]) == ["f"]


def test_a_candidate_without_the_field_is_never_within():
    lines = [draw.line(10, 5.0, RED)]
    beside = draw.label(10, None, "a", yloc="abovebar")
    found = refused(ATTACH % "count: 0..1", lines=lines, labels=[beside])
    assert found == [("missing", "elements.level.attach.note")]


def test_attaching_outside_the_loaded_history_is_unavailable():
    lines, lost = [draw.line(10, 5.0, RED)], draw.label(None, 5.0, "a")
    found = reading(ATTACH % "count: 0..1", lines=lines, labels=[lost])
    assert kinds(found.violations) == [("unavailable", "elements.level.attach.note.within")]
    assert found.violations[0].objects == (lost,)
    older = draw.line(None, 5.0, RED)
    found = reading(ATTACH % "count: 0..1", lines=[*lines, older], labels=[])
    assert found.violations[0].kind == "unavailable"
    assert found.violations[0].objects == (older,)


def test_a_crowd_is_ambiguous_before_it_costs_too_much():
    lines = [draw.line(10, 5.0, RED) for _ in range(300)]
    labels = [draw.label(10, 5.0, "a") for _ in range(300)]
    found = reading(ATTACH % "count: 0..1", lines=lines, labels=labels)
    assert kinds(found.violations) == [("ambiguous", "elements.level.attach.note")]
    assert "too many candidates" in found.violations[0].message


# ------------------------------------------------------------------------------ states and output

ZONES = """\
channels: {boxes: signal}
encodings: {wear: {fresh: solid, worn: dotted}}
elements:
  zone: {from: boxes, reads: {wear: wear(border_style)}, key: [left.time]}
states:
  zone:
    observe: {wear: wear}
    rows:
      ACTIVE: {when: {wear: fresh}, give: {spent: false, rank: 1}}
      SPENT: {when: {wear: worn}, give: {spent: true, rank: 2}}
    initial: ACTIVE
    transitions: {ACTIVE: [SPENT, GONE], SPENT: [GONE]}
    gone: GONE
  market:
    observe: {worn: "any([z.spent for z in zone])", first: "only([z.state for z in zone])"}
    rows:
      QUIET: {when: {worn: false}, give: {word: null}}
      BUSY: {when: {worn: true, first: SPENT}, give: {word: all}}
      mixed: {when: {worn: true, first: [ACTIVE, absent]}, violation: ambiguous, say: not all alike}
    initial: [QUIET, BUSY]
    epoch: chart.symbol
edge_cases:
  high: {each: zone, when: spent and top > 100, violation: unexpected, say: too high}
  many: {when: "len([z for z in zone]) > 3", violation: duplicate}
output:
  market: market.state
  word: market.word
  zones: {from: zone, sort: top, where: rank > 0, give: {top: top, state: state, spent: spent}}
  by_wear: {from: zone, split: wear, sort: top, give: {inner: {rank: rank}}}
"""


def zone(left, top, style="solid"):
    return draw.box(left, top, top - 1, RED, border_style=style)


def test_states_come_from_the_table_and_carry_their_columns():
    found = reading(ZONES, boxes=[zone(2, 9.0, "dotted"), zone(1, 5.0, "dotted")])
    assert found.state == {
        "market": "BUSY",
        "word": "all",
        "zones": [
            {"top": 5.0, "state": "SPENT", "spent": True},
            {"top": 9.0, "state": "SPENT", "spent": True},
        ],
        "by_wear": {
            "fresh": [],
            "worn": [{"inner": {"rank": 2}}, {"inner": {"rank": 2}}],
        },
    }
    assert {(track.machine, track.state) for track in found.tracks} == {
        ("zone", "SPENT"),
        ("market", "BUSY"),
    }
    assert {track.key for track in found.tracks if track.machine == "zone"} == {
        (draw.START + draw.STEP,),
        (draw.START + 2 * draw.STEP,),
    }


def test_a_row_may_refuse_and_says_what_was_observed():
    found = reading(ZONES, boxes=[zone(1, 5.0), zone(2, 6.0, "dotted")])
    assert kinds(found.violations) == [("ambiguous", "states.market.rows.mixed")]
    assert found.violations[0].message == "not all alike (worn = true, first = absent)"


def test_edge_cases_refuse_each_instance_or_the_whole():
    high = [zone(1, 500.0, "dotted"), zone(2, 6.0, "dotted")]
    found = reading(ZONES, boxes=high)
    assert kinds(found.violations) == [("unexpected", "edge_cases.high")]
    assert found.violations[0].objects == (high[0],)
    many = [zone(n, 5.0 + n) for n in range(5)]
    assert refused(ZONES, boxes=many) == [("duplicate", "edge_cases.many")]


def test_equal_keys_are_duplicate():
    found = reading(ZONES, boxes=[zone(1, 5.0), zone(1, 6.0)])
    assert kinds(found.violations) == [("duplicate", "elements.zone.key")]
    assert len(found.violations[0].objects) == 2


def test_ties_of_a_list_are_ordered_by_what_is_given():
    text = """\
    channels: {labels: signal}
    elements: {tag: {from: labels}}
    output: {tags: {from: tag, sort: x, give: {y: y, word: text}}}
    """
    labels = [
        draw.label(1, y, word) for y, word in ((2.0, "b"), (2.0, "a"), (None, "z"), (10.0, "c"))
    ]
    labels[2]["yloc"] = "abovebar"
    for order in (labels, labels[::-1]):
        found = state(text, labels=order)["tags"]
        assert [(each["y"], each["word"]) for each in found] == [
            (None, "z"), (2.0, "a"), (2.0, "b"), (10.0, "c"),
        ]  # fmt: skip


def test_what_occurs_at_most_once_is_an_object_or_null():
    text = """\
    channels: {labels: signal}
    elements: {tag: {from: labels, count: 0..1}}
    output: {tag: {from: tag, give: {word: text}}, word: tag.text}
    """
    assert state(text) == {"tag": None, "word": None}
    labels = [draw.label(1, 1.0, "a")]
    assert state(text, labels=labels) == {"tag": {"word": "a"}, "word": "a"}


# --------------------------------------------------------------------------- failing and skipping

CHAIN = """\
channels: {lines: signal, boxes: signal}
encodings: {look: {red: "#ff0000"}}
elements:
  first: {from: lines, where: style == 'solid', count: 1, reads: {look: look(color)}}
  second: {from: lines, where: "style == 'dashed' and y1 > first.y1", count: 1}
  view: {from: first, count: 0..1}
  zone: {from: boxes, count: 1}
states:
  firsts:
    observe: {look: first.look}
    rows: {RED: {when: {look: red}}}
    initial: RED
edge_cases:
  below: {when: second.y1 < first.y1, violation: ambiguous}
  small: {when: zone.top < 5, violation: malformed}
output: {state: firsts.state, view: view.y1, second: second.y1, zone: zone.top}
"""


def test_what_refers_to_a_failed_element_is_skipped_and_everything_else_is_checked():
    blue, stray = draw.line(1, 5.0, BLUE), draw.line(1, 5.0, RED, "dotted")
    found = refused(CHAIN, lines=[blue, stray], boxes=[draw.box(1, 2.0, 1.0, RED)])
    # `second` is skipped, so nobody can say whether `stray` is claimed.
    assert found == [
        ("malformed", "elements.first.reads.look"),
        ("malformed", "edge_cases.small"),
    ]


def test_a_failed_element_still_claims_what_it_claimed():
    red, dashed = draw.line(1, 5.0, RED), draw.line(1, 6.0, RED, "dashed")
    found = refused(CHAIN, lines=[red, dashed, {**dashed}], boxes=[draw.box(1, 9.0, 1.0, RED)])
    assert found == [("duplicate", "elements.second.count")]


INFORMATIONAL = """\
config: {rule: {type: pattern, default: "(?P<n>.*)"}}
channels: {labels: signal, cells: informational}
elements:
  tag: {from: labels}
  banner:
    from: cells
    where: row == 1
    count: 1
    decode: {of: text, as: pattern, pattern: rule, fields: {n: {type: number}}}
  rest: {from: cells, where: row > 1}
output:
  tags: len([t for t in tag])
  n: banner.n
  banner: {from: banner, give: {n: n}}
  rest: {from: rest, sort: row, give: {text: text}}
"""


def test_a_failed_informational_element_is_a_warning_and_left_empty():
    found = reading(INFORMATIONAL, cells=[draw.cell(1, "5"), draw.cell(2, "x")])
    assert found.state == {"tags": 0, "n": 5, "banner": {"n": 5}, "rest": [{"text": "x"}]}
    assert found.warnings == ()
    found = reading(INFORMATIONAL, cells=[draw.cell(1, "five"), draw.cell(2, "x")])
    assert found.state == {"tags": 0, "n": None, "banner": None, "rest": [{"text": "x"}]}
    assert kinds(found.warnings) == [("malformed", "elements.banner.decode.fields.n")]
    assert found.to_json()["warnings"][0]["kind"] == "malformed"
    found = reading(INFORMATIONAL)
    assert kinds(found.warnings) == [("missing", "elements.banner.count")]
    found = reading(INFORMATIONAL, cells=[{**draw.cell(1, "5"), "text": 5}])
    assert found.state["banner"] is None
    assert kinds(found.warnings) == [("malformed", "channels.cells")]


def test_what_a_source_lacks_leaves_informational_elements_empty():
    everything = ["x", "y", "text"]
    source = {"fields": {"labels": everything, "cells": ["row"]}}
    found = reading(INFORMATIONAL, source=source, cells=[draw.cell(1, "5")])
    assert found.ok
    assert found.state["banner"] is None and found.state["rest"] == []
    data = draw.without(draw.snapshot(study()), "schema") | {"schema": 1}
    data["studies"][0].pop("cells")
    found = read(make(INFORMATIONAL), Snapshot(data))
    assert found.state["banner"] is None
    assert found.warnings == ()


def test_what_one_informational_element_lacks_leaves_the_others_alone():
    text = """\
channels: {cells: informational}
encodings: {mark: {on: "#ff0000", off: none}}
elements:
  name: {from: cells, where: row == 0, count: 0..1, reads: {word: text}}
  place: {from: cells, where: row == 0, count: 0..1}
  light: {from: cells, where: row == 1, count: 0..1, reads: {mark: mark(bgcolor)}}
output:
  name: name.word
  place: {from: place, give: {size: size}}
  light: light.mark
"""
    source = {"fields": {"cells": ["row", "text"]}}
    found = reading(text, source=source, cells=[draw.cell(0, "A"), draw.cell(1, "B")])
    assert found.state == {"name": "A", "place": None, "light": None}
    assert [(each.path, each.field) for each in found.warnings] == [
        ("elements.place", "cells.size"),
        ("elements.light", "cells.bgcolor"),
    ]


def test_a_tie_shows_the_objects_that_tie_alone():
    text = """\
channels: {lines: signal}
elements:
  pair: {from: lines, group: [x1], parts: {top: {highest: y1}, bottom: {lowest: y1}}}
output: {pairs: {from: pair, sort: x1, give: {top: top.y1}}}
"""
    lines = [draw.line(1, y, "#000000") for y in (5, 5, 3)]
    [tie] = reading(text, lines=lines).violations
    assert (tie.kind, tie.path) == ("ambiguous", "elements.pair.parts.top")
    assert [each["y1"] for each in tie.objects] == [5, 5]


def test_lists_and_what_is_given_count_towards_the_cost():
    lists = ", ".join(f"n{i}: 'len([v.y1 + v.y1 + v.y1 for v in level])'" for i in range(300))
    text = f"""\
channels: {{lines: signal}}
elements:
  level: {{from: lines}}
output: {{{lists}}}
"""
    lines = [draw.line(1, 5, "#000000")]
    assert reading(text, lines=lines).ok
    assert refused(text, lines=lines * 20_000) == [("unavailable", "channels.lines")]


# ----------------------------------------------------------------- sources, versions and identity

FIELDS = """\
channels: {lines: signal}
elements:
  level: {from: lines, where: style == 'solid' and x1.bar > 0, key: [x1.time], reads: {high: y1}}
output: {levels: {from: level, sort: x1, give: {high: high}}}
"""


def test_a_field_that_the_source_lacks_is_unavailable_by_name_before_anything_is_matched():
    lines = [{"y1": 1.0}]
    found = reading(FIELDS, lines=lines, source={"name": "poor", "fields": {"lines": ["y1", "x2"]}})
    assert kinds(found.violations) == [("unavailable", "channels.lines")] * 3
    assert [each.field for each in found.violations] == ["lines.style", "lines.x1", "lines.x1.bar"]
    assert found.violations[0].message == "the source 'poor' does not deliver lines.style"
    found = reading(FIELDS, lines=lines, source={"name": "poor", "fields": {}})
    assert len(found.violations) == 4


def test_what_only_following_needs_does_not_stop_a_reading():
    lines = [draw.line(1, 5.0, RED), draw.line(2, 6.0, RED)]
    lines = [{**each, "x1": draw.without(each["x1"], "time")} for each in lines]
    source = {"fields": {"lines": ["y1", "x1", "x1.bar", "style"]}}
    found = reading(FIELDS, lines=lines, source=source)
    assert found.state == {"levels": [{"high": 5.0}, {"high": 6.0}]}
    assert found.tracks is None
    assert found.untracked == "the source 'drawn by hand' does not deliver lines.x1.time"


def test_a_declared_field_that_is_missing_on_one_object_is_malformed():
    good, bad = draw.line(1, 5.0, RED), draw.without(draw.line(2, 6.0, RED), "style")
    found = reading(FIELDS, lines=[good, bad])
    assert kinds(found.violations) == [("malformed", "channels.lines")]
    assert (found.violations[0].field, found.violations[0].objects) == ("lines.style", (bad,))
    no_bar = {**good, "x1": draw.without(good["x1"], "bar")}
    assert reading(FIELDS, lines=[no_bar]).violations[0].field == "lines.x1.bar"


@in_one_test(
    "change",
    [
        {"y1": "5"},
        {"y1": True},
        {"y1": float("nan")},
        {"y1": float("inf")},
        {"y1": 10**400},
        {"style": "wavy"},
        {"style": 3},
        {"style": None},
        {"style": ["solid"]},
        {"x1": None},
        {"x1": 5},
        {"x1": {"n": 1.5, "bar": 1, "time": 1}},
        {"x1": {"n": True, "bar": 1, "time": 1}},
        {"x1": {"n": 1, "bar": "1", "time": 1}},
        {"x1": {"n": 2**60, "bar": 1, "time": 1}},
    ],
)
def test_a_value_of_the_wrong_type_is_malformed_with_its_object(change):
    bad = {**draw.line(2, 6.0, RED), **change}
    found = reading(FIELDS, lines=[draw.line(1, 5.0, RED), bad])
    assert kinds(found.violations) == [("malformed", "channels.lines")]
    assert found.violations[0].objects == (bad,)
    assert found.violations[0].field.startswith("lines.")


@in_one_test("record", [None, 5, "line", [], {}, [{}]])
def test_what_is_no_record_is_malformed(record):
    found = reading(FIELDS, lines=[record])
    assert {each.kind for each in found.violations} == {"malformed"}
    assert found.to_json()


def test_odd_but_right_values_are_read():
    large = {**draw.line(1, 5.0, RED), "y1": 10**17, "y2": 10**17}
    assert reading(FIELDS, lines=[large]).state == {"levels": [{"high": 1e17}]}
    whole = {**draw.line(1, 5.0, RED), "y1": 5}
    assert reading(FIELDS, lines=[whole]).state == {"levels": [{"high": 5}]}


def test_a_channel_that_cannot_be_read_is_unavailable():
    data = draw.snapshot(study())
    data["studies"][0].pop("lines")
    found = read(make(FIELDS), Snapshot(data))
    assert kinds(found.violations) == [("unavailable", "channels.lines")]


def test_truncated_channels_and_rounded_prices_are_unavailable():
    data = draw.snapshot({**study(), "truncated": ["lines", "boxes"]})
    assert kinds(read(make(FIELDS), Snapshot(data)).violations) == [
        ("unavailable", "channels.lines")
    ]
    coarse = {"price_step": 0.2}
    found = reading(FIELDS, source=coarse)
    assert found.violations[0].field == "price_step"
    assert reading(FIELDS, source={"price_step": 0.125}).ok
    assert reading(FIELDS, source=coarse, config={"tick_size": 1}).ok
    unknown = draw.without(draw.snapshot(study(), source=coarse), "chart", "tick_size")
    assert read(make(FIELDS), Snapshot(unknown)).ok


@in_one_test(
    ("version", "kind"),
    [
        ("1.0", None),
        (2, None),
        ("2", None),
        ("3", "version"),
        (None, "version"),
        (..., "unavailable"),
    ],
)
def test_a_script_version_that_is_not_known_is_refused(version, kind):
    text = FIELDS.replace("channels:", "notes: x\nchannels:")
    from small import HEAD, load

    head = HEAD.replace("Small}", 'Small, script_versions: ["1.0", 2]}')
    contract = load(head + text)
    extra = {} if version is ... else {"version": version}
    found = read(contract, Snapshot(draw.snapshot({**study(), **extra})))
    expected = [] if kind is None else [(kind, "identity.script_versions")]
    assert kinds(found.violations) == expected


# ------------------------------------------------------------------------------------ configuration

CONFIG = """\
config:
  paint: {type: color}
  level: {type: number, default: 5, min: 0, max: 10}
  name: {type: text, default: null}
  shape: {type: choice, options: [solid, dashed], default: solid}
  strict: {type: bool, default: true}
  zone: {type: text, from: chart.timezone, default: UTC}
  rule: {type: pattern, default: null}
profiles: {dark: {paint: "#111111", level: 7}}
channels: {lines: signal}
encodings: {look: {mine: paint, grey: "#888888"}}
elements: {line: {from: lines, reads: {look: look(color)}}}
edge_cases: {loose: {when: not strict and level > 9, violation: config, say: too loose}}
output:
  level: level
  name: name
  shape: shape
  zone: zone
  looks: len([l for l in line if l.look == 'mine'])
"""


def test_settings_come_from_the_caller_the_profile_the_inputs_the_chart_or_the_default():
    def settings(given=None, profile=None, inputs=None):
        data = draw.snapshot({**study(), "inputs": inputs})
        found = read(make(CONFIG), Snapshot(data), given, profile)
        assert found.ok, found.violations
        return found.state["level"], {each.key: each.origin for each in found.assumptions}

    inputs = {"level": 3, "paint": "#222222", "other": 1, "name": None}
    level, origins = settings({"level": 1}, "dark", inputs)
    assert level == 1
    assert origins == {
        "paint": "profile", "name": "default", "shape": "default", "strict": "default",
        "zone": "chart", "rule": "default",
    }  # fmt: skip
    assert settings({}, "dark", inputs)[0] == 7
    assert settings({}, None, inputs)[0] == 3
    assert settings({}, None, {"paint": "#222222"})[0] == 5


@in_one_test(
    ("given", "path"),
    [
        ({}, "config.paint"),
        ({"paint": "bluish"}, "config.paint"),
        ({"paint": None}, "config.paint"),
        ({"paint": 5}, "config.paint"),
        ({"paint": ["#111111"]}, "config.paint"),
        ({"paint": "#11111100"}, "config.paint"),
        ({"paint": "#888888"}, "encodings.look"),
        ({"paint": "#888888aa"}, "encodings.look"),
        ({"paint": "#111111", "level": 11}, "config.level"),
        ({"paint": "#111111", "level": "5"}, "config.level"),
        ({"paint": "#111111", "level": True}, "config.level"),
        ({"paint": "#111111", "level": float("nan")}, "config.level"),
        ({"paint": "#111111", "level": 10**400}, "config.level"),
        ({"paint": "#111111", "shape": "Solid"}, "config.shape"),
        ({"paint": "#111111", "strict": "yes"}, "config.strict"),
        ({"paint": "#111111", "name": 3}, "config.name"),
        ({"paint": "#111111", "rule": "(a"}, "config.rule"),
        ({"paint": "#111111", "colour": 1}, "config"),
        ({"paint": "#111111", "tick_size": 0}, "config.tick_size"),
        ({"paint": "#111111", "strict": False, "level": 10}, "edge_cases.loose"),
    ],
)
def test_a_setting_that_does_not_fit_is_a_violation_and_stops_the_reading(given, path):
    found = reading(CONFIG, config=given, lines=[draw.line(1, 5.0, "#123456")])
    assert kinds(found.violations) == [("config", path)]


def test_an_input_that_does_not_fit_is_a_violation_too():
    data = draw.snapshot({**study(), "inputs": {"paint": 4294926889}})
    found = read(make(CONFIG), Snapshot(data))
    assert kinds(found.violations) == [("config", "config.paint")]
    assert "the study's input" in found.violations[0].message


def test_an_unset_colour_looks_like_nothing_rather_than_like_none():
    text = """\
    config: {paint: {type: color, default: null}}
    channels: {lines: signal}
    encodings: {look: {mine: paint, none: none}}
    elements: {line: {from: lines, reads: {look: look(color)}}}
    output: {looks: "only([l.look for l in line])"}
    """
    assert state(text, lines=[draw.line(1, 5.0, None)]) == {"looks": "none"}


def test_more_than_can_be_read_at_once_is_refused_before_it_is_read():
    where = " and ".join(["y1 > 1"] * 40)
    text = f"""\
    channels: {{lines: signal}}
    elements: {{level: {{from: lines, where: "{where}"}}}}
    output: {{levels: "len([l for l in level])"}}
    """
    line = draw.line(1, 5.0, RED)
    found = reading(text, lines=[line] * 250_000)
    assert kinds(found.violations) == [("unavailable", "channels.lines")]
    assert "more than can be read at once" in found.violations[0].message


def test_violations_are_listed_up_to_a_limit():
    found = reading(LEVELS % "0..", lines=[draw.line(1, 5.0, BLUE)] * 1000)
    assert len(found.violations) == 200


# ---------------------------------------------------------------------------------------- following


def test_what_cannot_be_followed_can_still_be_read():
    lines = [draw.line(1, 5.0, RED)]
    good = {"levels": [{"high": 5.0}]}
    assert reading(FIELDS, lines=lines).tracks == ()
    unknown = [{**each, "x1": draw.without(each["x1"], "time")} for each in lines]
    found = reading(FIELDS, lines=unknown)
    assert (found.state, found.tracks, found.untracked) == (good, None, "x1 has no time")
    later = [{**each, "x1": {**each["x1"], "time": None}} for each in lines]
    found = reading(FIELDS, lines=later)
    assert (found.state, found.tracks) == (good, None)
    assert "its bar or time is not known" in found.untracked


@pytest.mark.parametrize("chart, confirmed", [({}, True), ({"confirmed": False}, False)])
def test_a_forming_bar_is_read_and_can_be_followed(chart, confirmed):
    found = reading(FIELDS, lines=[draw.line(1, 5.0, RED)], chart=chart)
    assert (found.tracks, found.facts.confirmed) == ((), confirmed)
    assert found.to_json()["confirmed"] is confirmed


def test_a_source_that_does_not_tell_shows_a_forming_bar():
    data = draw.snapshot(draw.study("Small", lines=[]))
    del data["chart"]["confirmed"]
    assert read(make(FIELDS), Snapshot(data)).facts.confirmed is False


def test_a_refused_reading_tells_its_chart_and_what_was_assumed():
    text = FIELDS.replace("channels:", "config: {reach: {type: number, default: 2}}\nchannels:")
    found = reading(text, config={"depth": 1}, lines=[draw.line(1, 5.0, RED)])
    assert [violation.kind for violation in found.violations] == ["config"]
    assert [str(setting) for setting in found.assumptions] == ["reach = 2 (the contract's default)"]
    facts = found.facts
    assert (facts.symbol, facts.drawn["lines"]) == (draw.snapshot()["chart"]["symbol"], 1)
    assert found.to_json()["untracked"] == "the reading was refused"


def test_the_last_bar_of_a_contract_is_the_last_closed_one():
    text = """
        channels: {lines: signal}
        elements:
          one: {from: lines, ignore: not looked at}
        output: {last: chart.last_bar}
    """
    last = state(text)["last"]
    assert state(text, chart={"confirmed": False}) == {"last": last - 1}


def test_a_key_outside_the_loaded_history_is_unavailable():
    text = FIELDS.replace(" and x1.bar > 0", "").replace("sort: x1,", "sort: high,")
    text = text.replace("where: style == 'solid'", "where: style == 'solid' and x1 < x2")
    lost = draw.line(None, 5.0, RED, x2=5)
    assert refused(text, lines=[lost]) == [("unavailable", "elements.level.key")]


def test_an_epoch_that_is_not_known_stops_only_the_following():
    text = """\
    channels: {lines: signal}
    elements: {level: {from: lines, count: 0..1, reads: {thin: width == 1}}}
    states:
      level_there:
        observe: {thin: level.thin}
        rows: {NONE: {when: {thin: absent}}, SOME: {when: {thin: [true, false]}}}
        initial: [NONE, SOME]
        epoch: level.x1.time
    output: {state: level_there.state}
    """
    found = reading(text, lines=[draw.line(3, 5.0, RED)])
    assert [track.epoch for track in found.tracks] == [draw.START + 3 * draw.STEP]
    found = reading(text, lines=[draw.line(None, 5.0, RED)])
    assert found.state == {"state": "SOME"}
    assert found.tracks is None
    assert [track.epoch for track in reading(text).tracks] == [None]


def test_a_violation_of_the_whole_reading_names_the_objects_it_speaks_of():
    text = """\
    channels: {lines: signal, labels: signal}
    elements:
      level: {from: lines, count: 1}
      tag: {from: labels}
    states:
      side:
        observe: {up: level.y1 > 5}
        rows: {UP: {when: {up: true}}, below: {when: {up: false}, violation: missing}}
        initial: UP
    edge_cases:
      crowd: {when: "len([t for t in tag]) > 1", violation: duplicate}
    output: {side: side.state}
    """
    line, labels = draw.line(1, 4.0, "#ff0000"), [draw.label(n, 1.0, "x") for n in range(2)]
    below, crowd = reading(text, lines=[line], labels=labels).violations
    assert (below.path, below.objects) == ("states.side.rows.below", (line,))
    assert (crowd.path, crowd.objects) == ("edge_cases.crowd", tuple(labels))
