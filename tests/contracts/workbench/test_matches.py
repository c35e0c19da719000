"""Which element each drawn object matched, of readings that hold and of those that are refused."""

import drawings as draw
from small import make, study

from chartpact.contracts.workbench.matches import match
from chartpact.snapshot import Snapshot

CONTRACT = """\
channels: {lines: signal, labels: cosmetic}
elements:
  zone:
    from: lines
    where: color == '#ff0000'
    group: [x1]
    parts: {upper: {highest: y1}, lower: {lowest: y1}}
    reads: {height: upper.y1 - lower.y1}
output: {zones: {from: zone, sort: height, give: {height: height}}}
"""


def line(y, color):
    return draw.line(x1=1, x2=2, y1=y, y2=y, color=color)


def found(*lines):
    snapshot = Snapshot(
        draw.snapshot(study(lines=list(lines), labels=[draw.label(1, 2.0, text="<b>")]))
    )
    return match(make(CONTRACT), snapshot)


def test_an_object_is_told_its_element_its_part_and_what_was_read_from_it():
    reading, matches = found(line(5.0, "#ff0000"), line(3.0, "#ff0000"))
    assert reading.ok
    upper, lower, label = sorted(matches, key=lambda one: (one.channel != "lines", one.number))
    assert (upper.elements, upper.part, upper.fields) == (["zone"], "upper", {"height": 2.0})
    assert (lower.number, lower.part) == (2, "lower")
    assert (upper.used, label.used) == (True, False)
    assert (label.elements, label.fields) == ([], {})
    assert label.to_json()["object"]["text"] == "<b>"


def test_an_object_that_nothing_claims_is_told_its_violation():
    reading, matches = found(line(5.0, "#ff0000"), line(3.0, "#ff0000"), line(4.0, "#00ff00"))
    assert not reading.ok
    stray = next(one for one in matches if one.violations)
    assert (stray.elements, stray.record["color"]) == ([], "#00ff00ff")
    assert reading.violations[stray.violations[0]].kind == "unexpected"


def test_where_the_study_is_missing_there_are_no_objects():
    reading, matches = match(make(CONTRACT), Snapshot(draw.snapshot()))
    assert (reading.ok, matches) == (False, [])
