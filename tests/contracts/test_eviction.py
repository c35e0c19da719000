"""A declared tolerance: at Pine's cap on objects, the oldest may have lost a part."""

import drawings as draw
from small import make, refused, told
from tests.cases import in_one_test

from chartpact.contracts.reading.engine import read
from chartpact.snapshot import Snapshot

RED = "#ff0000"
PAIRS = """\
channels: {lines: signal}
elements:
  pair:
    from: lines
    group: [x1]
    parts: {upper: {highest: y1}, lower: {lowest: y1}}
    evicted: x1
output: {pairs: {from: pair, sort: x1, give: {high: upper.y1, low: lower.y1}}}
"""
TAGGED = """\
channels: {lines: signal, labels: signal}
elements:
  tag: {from: labels, evicted: x}
  ray:
    from: lines
    attach: {mark: {from: tag, within: {x.bar: [x1.bar, x1.bar]}}}
    evicted: x1
output:
  rays: {from: ray, sort: x1, give: {price: y1, text: mark.text}}
  tags: len([t for t in tag])
"""


def lines(*places):
    return [draw.line(bar, price, RED) for bar, price in places]


def tags(*bars):
    return [draw.label(bar, 1.0, "t") for bar in bars]


def found(text, caps, **channels):
    study = {**draw.study("Small", **channels), "limits": caps}
    return read(make(text), Snapshot(draw.snapshot(study)))


WHOLE = [(5, 4.0), (5, 2.0), (7, 8.0), (7, 6.0)]
HALF = (3, 1.0)


def test_the_oldest_pair_that_lost_a_line_to_the_cap_is_history():
    reading = found(PAIRS, {"lines": 5}, lines=lines(HALF, *WHOLE))
    assert reading.state == {"pairs": [{"high": 4.0, "low": 2.0}, {"high": 8.0, "low": 6.0}]}
    assert [str(each) for each in reading.assumptions] == [
        "evicted.pair = 1 (the oldest lost something to the cap on objects)"
    ]


@in_one_test(
    ("caps", "places"),
    [
        ({"lines": 6}, [HALF, *WHOLE]),  # below the cap nothing is evicted
        ({}, [HALF, *WHOLE]),  # nobody knows the cap
        ({"lines": 5}, [*WHOLE, (9, 1.0)]),  # the newest cannot have been evicted
        ({"lines": 5}, [*WHOLE, (6, 1.0)]),  # nor one between whole ones
        ({"lines": 1}, [HALF]),  # nothing whole is left to compare with
    ],
)
def test_a_pair_that_lost_a_line_otherwise_is_refused(caps, places):
    reading = found(PAIRS, caps, lines=lines(*places))
    assert {(v.kind, v.path) for v in reading.violations} == {
        ("missing", "elements.pair.parts.lower")
    }


def test_surplus_is_never_forgiven():
    reading = found(PAIRS, {"lines": 7}, lines=lines((3, 1.0), (3, 2.0), (3, 3.0), *WHOLE))
    assert [v.kind for v in reading.violations] == ["unexpected"]


def test_without_the_word_nothing_is_forgiven():
    strict = PAIRS.replace("    evicted: x1\n", "")
    assert not found(strict, {"lines": 5}, lines=lines(HALF, *WHOLE)).ok
    assert refused(PAIRS, lines=lines(HALF, *WHOLE)) == [("missing", "elements.pair.parts.lower")]


def test_an_old_owner_and_an_old_label_without_their_other_half_are_history():
    rays = lines((3, 1.0), (5, 2.0), (7, 3.0))
    reading = found(TAGGED, {"labels": 2}, lines=rays, labels=tags(5, 7))
    assert [ray["price"] for ray in reading.state["rays"]] == [2.0, 3.0]
    reading = found(TAGGED, {"lines": 2}, lines=rays[1:], labels=tags(3, 5, 7))
    assert reading.state["tags"] == 2
    assert [each.key for each in reading.assumptions] == ["evicted.tag"]


@in_one_test(
    ("rays", "labels"),
    [((3, 5, 7), (3, 5)), ((3, 5), (3, 5, 7)), ((3, 5, 7), (3, 7)), ((3,), (5,))],
)
def test_a_newer_one_without_its_other_half_is_refused(rays, labels):
    drawn = lines(*((bar, 1.0) for bar in rays))
    caps = {"lines": len(rays), "labels": len(labels)}
    reading = found(TAGGED, caps, lines=drawn, labels=tags(*labels))
    assert {v.kind for v in reading.violations} == {"missing"}


@in_one_test(
    ("text", "old", "new", "message"),
    [
        (PAIRS, "evicted: x1", "evicted: y1", "no key of the group"),
        (PAIRS, "evicted: x1", "evicted: z", "no key of the group"),
        (TAGGED, "evicted: x}", "evicted: text}", "belongs here"),
        (TAGGED, "evicted: x}", "evicted: where}", "is not known here"),
    ],
)
def test_what_is_oldest_is_declared_soundly(text, old, new, message):
    assert message in told(text.replace(old, new))


def test_cells_are_never_evicted():
    text = """\
    channels: {cells: signal}
    elements: {cell: {from: cells, evicted: row}}
    output: {cells: "len([c for c in cell])"}
    """
    assert "nothing is evicted from cells" in told(text)
