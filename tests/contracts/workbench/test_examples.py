"""The mutation law on contracts of one's own: no change that matters goes unnoticed, none is made up."""

# ruff: noqa: E501  (contracts in one line each)

import drawings as draw
from small import make, study
from tests.cases import in_one_test

from chartpact.contracts.reading.engine import read
from chartpact.contracts.workbench import examples
from chartpact.contracts.workbench.examples import Example
from chartpact.snapshot import Snapshot

RED, GREEN = "#ff0000", "#00ff00"


def mutated(text, **channels):
    contract, snapshot = make(text), Snapshot(draw.snapshot(study(**channels)))
    found = read(contract, snapshot)
    assert found.ok, [str(each) for each in found.violations]
    return examples.mutate(contract, [Example("good", snapshot, {"state": found.state})])


ATTACHED = """\
channels: {labels: signal, boxes: signal}
elements:
  zone: {from: boxes, reads: {at: left.time}}
  record:
    from: labels
    count: 1
    decode: {of: text, as: delimiter, tag: SIGNAL, fields: {AT: {type: time}}}
    attach:
      drawn: {from: zone, within: {at: [AT, AT]}, count: 1, exclusive: false}
output: {top: record.drawn.top}
"""
GROUPED = """\
channels: {lines: signal}
encodings: {look: {a: "#ff0000", b: "#00ff00"}}
elements:
  level: {from: lines, reads: {look: look(color)}}
  pair: {from: level, group: [look, horizontal], parts: {top: {highest: y1}, bottom: {lowest: y1}}}
output: {pairs: {from: pair, sort: top.y1, give: {top: top.y1, bottom: bottom.y1, look: look}}}
"""
COUNTED = """\
channels: {boxes: signal}
elements:
  zone: {from: boxes, reads: {bars: right.bar - left.bar}}
  longest: {from: zone, newest: bars, count: 0..1}
output:
  zones: "len([z.top for z in zone])"
  tall: "any([z.top - z.bottom > 1 for z in zone if z.bars > 20])"
  bars: longest.bars
"""
ALONE = """\
channels: {lines: signal}
elements:
  level: {from: lines, group: [x1], parts: {top: {highest: y1}}}
output: {levels: {from: level, sort: x1, give: {top: top.y1}}}
"""


def _attached():
    text = f"SIGNAL|AT:{draw.at(10)['time']}"
    zones = [draw.box(10, 9, 7, RED), draw.box(12, 9, 7, RED)]
    return {"labels": [draw.label(20, 5, text)], "boxes": zones}


@in_one_test(
    ("text", "drawn", "target"),
    [
        (ATTACHED, _attached(), "zone.left.time"),
        (GROUPED, {"lines": [draw.line(x, y, color) for x, y, color in
                             [(1, 5, RED), (2, 6, RED), (3, 15, GREEN), (4, 17, GREEN)]]}, "pair.color"),
        (COUNTED, {"boxes": [draw.box(1, 5, 3, RED), draw.box(1, 4, 2, RED, right=40)]}, "longest.right.bar"),
        (ALONE, {"lines": [draw.line(1, 5, RED), draw.line(2, 6, RED)]}, "level.top.y1"),
    ],
)  # fmt: skip
def test_a_sound_contract_passes_whatever_its_words(text, drawn, target):
    found = mutated(text, **drawn)
    assert [str(each) for each in found.unnoticed] == []
    assert target in found.targets


def test_a_lost_bound_that_is_read_as_another_zone_is_found():
    text = """\
channels: {lines: signal}
elements:
  zone:
    from: lines
    group: [x1]
    parts: {top: {highest: y1}, bottom: {lowest: y1}, midline: {where: "true", optional: true}}
output: {zones: {from: zone, sort: x1, give: {top: top.y1, bottom: bottom.y1}}}
"""
    found = mutated(text, lines=[draw.line(1, y, RED) for y in (5, 4, 3)])
    assert {(each.target, each.change) for each in found.unnoticed} == {
        ("zone as a whole", "removed")
    }


EITHER = """\
channels: {lines: signal}
elements:
  level: {from: lines, where: "%s"}
output: {levels: {from: level, sort: y1, give: {price: y1}}}
"""


@in_one_test(
    "condition",
    [
        "style == 'dashed' or width == 2",
        "style == 'dashed' or width == 2 or color == '#ff0000'",
        "not (style != 'dashed' and width != 2)",
        "(style == 'dashed' or width == 2) and color == '#ff0000'",
    ],
)
def test_what_an_or_hides_is_shown_when_the_other_part_is_changed_too(condition):
    drawn = [draw.line(1, 5, RED, style="dashed", width=2)]
    found = mutated(EITHER % condition, lines=drawn)
    assert {"level.style", "level.width"} <= set(found.targets)
    assert (found.unnoticed, found.unshown) == ((), ())


def test_a_part_that_never_decides_is_still_not_shown():
    condition = "style == 'dashed' or width == 2 or (width != 2 and extend == 'both')"
    drawn = [draw.line(1, 5, RED, style="dashed", width=2)]
    assert mutated(EITHER % condition, lines=drawn).unshown == ("level.extend",)


LISTS = """\
channels: {cells: signal}
elements:
  report:
    from: cells
    count: 1
    decode:
      of: text
      as: json
      fields:
        entries: {type: list, fields: {price: {type: number}}}
        exits: {type: list, fields: {price: {type: number}}}
  entry: {from: report, each: entries}
output: {entries: {from: entry, sort: price, give: {price: price}}}
"""


def test_a_decoded_field_is_not_mistaken_for_another_of_its_name():
    text = '{"entries": [{"price": 1}], "exits": [{"price": 2}]}'
    found = mutated(LISTS, cells=[draw.cell(0, text)])
    assert "report.entries.price" in found.targets
    assert "report.exits.price" not in found.targets
