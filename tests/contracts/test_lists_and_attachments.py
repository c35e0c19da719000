"""Greatest and least of lists, the newest of each kind, and several attachments of one owner."""

import drawings as draw
from small import make, reading, refused, state, told
from tests.cases import in_one_test

from chartpact.contracts.workbench.examples import Example, mutate
from chartpact.contracts.workbench.exports import json_schema, python_types
from chartpact.snapshot import Snapshot

RED, BLUE = "#ff0000", "#0000ff"

RANGE = """\
channels: {lines: signal}
encodings: {side: {up: "#0000ff", down: "#ff0000"}}
elements:
  level: {from: lines, reads: {side: side(color)}}
  latest: {from: level, newest: x1, per: [side]}
  recent: {from: level, newest: x1, top: 2}
  two: {from: level, newest: y1, per: [side], top: 2}
output:
  low: min([l.y1 for l in level])
  high: max([l.y1 for l in level if l.side == 'up'])
  since: max([l.x1.time for l in level])
  latest: {from: latest, split: side, sort: y1, give: {price: y1}}
  recent: {from: recent, sort: x1, give: {price: y1}}
  two: {from: two, sort: y1, give: {price: y1}}
"""
LINES = [
    draw.line(bar, price, color)
    for bar, price, color in ((1, 10.0, RED), (4, 12.0, BLUE), (3, 9.0, BLUE), (2, 11.0, RED))
]


def test_the_least_and_the_greatest_of_a_list():
    for lines in (LINES, LINES[::-1]):
        found = state(RANGE, lines=lines)
        assert (found["low"], found["high"]) == (9.0, 12.0)
        assert found["since"] == LINES[1]["x1"]["time"]
    found = state(RANGE, lines=[])
    assert (found["low"], found["high"], found["since"]) == (None, None, None)


def test_the_newest_of_each_kind_and_the_newest_few():
    found = state(RANGE, lines=LINES)
    assert found["latest"] == {"up": [{"price": 12.0}], "down": [{"price": 11.0}]}
    assert found["recent"] == [{"price": 9.0}, {"price": 12.0}]
    assert [each["price"] for each in found["two"]] == [9.0, 10.0, 11.0, 12.0]
    tied = [*LINES, draw.line(4, 13.0, BLUE)]
    assert state(RANGE, lines=tied)["latest"]["up"] == [{"price": 12.0}, {"price": 13.0}]
    assert [each["price"] for each in state(RANGE, lines=tied)["recent"]] == [9.0, 12.0, 13.0]


def test_groups_have_their_newest_for_each_key_too():
    text = """\
    channels: {lines: signal}
    elements:
      pair:
        from: lines
        group: [x1, color]
        newest: x1
        per: [color]
        parts: {upper: {highest: y1}, lower: {lowest: y1}}
    output: {pairs: {from: pair, sort: x1, give: {high: upper.y1, low: lower.y1}}}
    """
    pair = [(5, 3.0, RED), (5, 1.0, RED), (4, 8.0, BLUE), (4, 7.0, BLUE), (2, 6.0, BLUE)]
    lines = [draw.line(*each) for each in pair]
    expected = {"pairs": [{"high": 8.0, "low": 7.0}, {"high": 3.0, "low": 1.0}]}
    assert state(text, lines=lines) == expected


def test_what_lies_outside_the_history_has_no_place_among_the_newest():
    lost = {**LINES[0], "x1": {"n": None, "bar": None, "time": None}}
    text = RANGE.replace("  since: max([l.x1.time for l in level])\n", "")
    assert state(text, lines=[*LINES, lost])["recent"] == [{"price": 9.0}, {"price": 12.0}]
    only = refused(text, lines=[lost, LINES[1]])
    assert set(only) == {
        ("unavailable", "elements.latest.newest"),
        ("unavailable", "elements.recent.newest"),
    }


@in_one_test(
    ("old", "new", "message"),
    [
        ("newest: x1, per: [side]", "per: [side]", "per says of what"),
        ("newest: x1, top: 2", "top: 2", "top says of what"),
        ("top: 2", "top: 0", "is out of range"),
        ("top: 2", "top: 1001", "is out of range"),
        ("top: 2", "top: 1.5", "is not a whole number"),
        ("per: [side]", "per: [sid]", "'sid' is not a field here"),
        ("per: [side]", "per: [x2]", "tells nothing apart"),
        ("min([l.y1 for l in level])", "min([l.side for l in level])", "numbers or times"),
        ("min([l.y1 for l in level])", "1 + min([l.y1 for l in level])", "may be none here"),
        ("min([l.y1 for l in level])", "min(level)", "min takes at least 2 values"),
    ],
)
def test_what_is_kept_is_declared_soundly(old, new, message):
    assert message in told(RANGE.replace(old, new))


ZONES = """\
channels: {boxes: signal, labels: signal}
elements:
  touch: {from: labels, reads: {strong: size == 'large'}}
  zone:
    from: boxes
    attach:
      touches: {from: touch, within: {x.bar: [left.bar, right.bar]}, count: 0..3}
    key: [left.time]
states:
  zone:
    observe: {tested: "len([t for t in touches]) > 1", strong: "any([t.strong for t in touches])"}
    rows:
      FRESH: {when: {tested: false, strong: false}}
      HELD: {when: {tested: false, strong: true}}
      WORN: {when: {tested: true}}
    initial: FRESH
    transitions: {FRESH: [HELD, WORN], HELD: [WORN]}
    gone: forget
edge_cases:
  deep: {each: zone, when: "any([t.x == left for t in touches])", violation: ambiguous}
output:
  zones:
    from: zone
    sort: left
    give:
      state: state
      count: len([t for t in touches])
      last: max([t.x.bar for t in touches])
      touches: {from: touches, where: touches.strong, sort: touches.x, give: {at: touches.x.bar}}
"""


def box(left, right):
    return draw.box(left, 2.0, 1.0, RED, right=right)


def touches(*bars, size="normal"):
    return [{**draw.label(bar, 1.0, "t"), "size": size} for bar in bars]


def test_an_owner_may_have_several_attachments():
    labels = [*touches(3, 13), *touches(5, 4, size="large")]
    for drawn in (labels, labels[::-1]):
        found = state(ZONES, boxes=[box(1, 9), box(10, 20), box(30, 40)], labels=drawn)
        assert found["zones"] == [
            {"state": "WORN", "count": 3, "last": 5, "touches": [{"at": 4}, {"at": 5}]},
            {"state": "FRESH", "count": 1, "last": 13, "touches": []},
            {"state": "FRESH", "count": 0, "last": None, "touches": []},
        ]


@in_one_test(
    ("labels", "text", "violations"),
    [
        (touches(2, 3, 4, 5), ZONES, [("duplicate", "elements.zone.attach.touches")]),
        (touches(99), ZONES, [("missing", "elements.zone.attach.touches")]),
        (touches(2), ZONES.replace("0..3", "2.."), [("missing", "elements.zone.attach.touches")]),
        (touches(1), ZONES, [("ambiguous", "edge_cases.deep")]),
    ],
)
def test_too_few_and_too_many_attachments_and_orphans_are_refused(labels, text, violations):
    assert refused(text, boxes=[box(1, 9)], labels=labels) == violations


def test_a_candidate_with_two_owners_is_ambiguous_unless_it_may_be_shared():
    boxes, labels = [box(1, 9), box(2, 20)], touches(5)
    assert refused(ZONES, boxes=boxes, labels=labels) == [
        ("ambiguous", "elements.zone.attach.touches")
    ]
    shared = ZONES.replace("count: 0..3", "count: 0..3, exclusive: false")
    zones = state(shared, boxes=boxes, labels=[*labels, *touches(99)])["zones"]
    assert [zone["count"] for zone in zones] == [1, 1]


@in_one_test(
    ("old", "new", "message"),
    [
        ("count: 0..3", "count: 0..3, nearest: touches.x.bar", "nearest would choose one"),
        ("count: 0..3", "count: 0..0", "nothing would be attached"),
        ("state: state", "state: touches.x.bar", "it has no 'x'"),
        ("state: state", "state: touches", "is not a JSON value"),
        ("sort: touches.x, ", "", "sort is missing"),
        ("where: touches.strong", "where: 'any([t.strong for t in touches])'", "a list stands in"),
        ("give: {at: touches.x.bar}", "give: {at: 'len([t for t in zone])'}", "a list stands in"),
        ("key: [left.time]", "key: ['len([t for t in touches])']", "a list has no place here"),
    ],
)
def test_several_attachments_are_used_in_lists_only(old, new, message):
    assert message in told(ZONES.replace(old, new))


def test_the_mutation_law_holds_for_several_attachments():
    snapshot = draw.snapshot(
        draw.study("Small", boxes=[box(1, 9), box(10, 20)], labels=touches(3, 5, 14))
    )
    found = reading(ZONES, boxes=[box(1, 9), box(10, 20)], labels=touches(3, 5, 14))
    result = mutate(make(ZONES), [Example("zones", Snapshot(snapshot), {"state": found.state})])
    assert result.unnoticed == ()
    assert {"touch as a whole", "touch.x.bar", "touch.size"} <= set(result.targets)


def test_attached_lists_have_a_schema_and_a_type():
    zones = json_schema(make(ZONES))["properties"]["zones"]["items"]["properties"]
    assert zones["touches"]["type"] == "array"
    assert zones["last"]["anyOf"][1] == {"type": "null"}
    assert "touches: list[" in python_types(make(ZONES))
