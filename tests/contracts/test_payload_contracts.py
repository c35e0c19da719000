"""Contracts for indicators that write payloads: a label, a cell, and a payload with its picture."""

import json

import drawings as draw
from small import reading, refused, state
from tests.cases import in_one_test

LABEL = """\
channels: {labels: signal}
elements:
  signal:
    from: labels
    where: starts_with(text, 'SIGNAL|')
    newest: x
    count: 1
    decode:
      of: text
      as: delimiter
      tag: SIGNAL
      versions: [1, 2]
      fields:
        BIAS: {type: choice, options: [BULL, BEAR, NEUTRAL]}
        CONF: {type: number, min: 0, max: 1}
  other: {from: labels, where: "not starts_with(text, 'SIGNAL|')", ignore: decoration}
states:
  bias:
    observe: {bias: signal.BIAS, sure: signal.CONF >= 0.5}
    rows:
      UP: {when: {bias: BULL, sure: true}, give: {sign: 1}}
      DOWN: {when: {bias: BEAR, sure: true}, give: {sign: -1}}
      FLAT: {when: [{bias: NEUTRAL}, {sure: false, bias: [BULL, BEAR]}], give: {sign: 0}}
    initial: [UP, DOWN, FLAT]
    transitions: {UP: [FLAT], DOWN: [FLAT], FLAT: [UP, DOWN]}
    epoch: signal.x.time
output: {bias: bias.state, sign: bias.sign, confidence: signal.CONF}
"""


def test_the_newest_label_decides():
    labels = [
        draw.label(1, 1.0, "SIGNAL|V:9|what was this"),
        draw.label(7, 1.0, "SIGNAL|V:2|BIAS:BULL|CONF:0.85"),
        draw.label(9, 1.0, "▲"),
        draw.label(5, 1.0, "SIGNAL|BIAS:BEAR|CONF:0.9"),
    ]
    expected = {"bias": "UP", "sign": 1, "confidence": 0.85}
    assert state(LABEL, labels=labels) == expected
    assert state(LABEL, labels=labels[::-1]) == expected
    assert state(LABEL, labels=[*labels[2:]])["bias"] == "DOWN"
    unsure = draw.label(20, 1.0, "SIGNAL|BIAS:BEAR|CONF:.25")
    assert state(LABEL, labels=[*labels, unsure])["bias"] == "FLAT"


@in_one_test(
    ("texts", "violations"),
    [
        ([], [("missing", "elements.signal.count")]),
        (["SIGNAL|BIAS:UP|CONF:1"], [("malformed", "elements.signal.decode.fields.BIAS")]),
        (["SIGNAL|V:3|BIAS:BULL|CONF:1"], [("version", "elements.signal.decode")]),
        (["SIGNAL|BIAS:BULL|CONF:1|X:1"], [("unexpected", "elements.signal.decode")]),
        (["SIGNAL|BIAS:BULL|CONF:1"] * 2, [("duplicate", "elements.signal.count")]),
    ],
)
def test_a_label_that_breaks_the_grammar_is_refused(texts, violations):
    labels = [draw.label(3, 1.0 + n, text) for n, text in enumerate(texts)]
    assert refused(LABEL, labels=labels) == violations


CELLS = """\
channels: {cells: signal}
elements:
  record:
    from: cells
    where: column == 0 and text != ''
    decode:
      of: text
      as: json
      fields:
        id: {type: text}
        side: {type: choice, options: [long, short]}
        entry: {type: number}
        live: {type: bool}
        at: {type: time}
        note: {type: text, optional: true}
    key: [id]
  empty: {from: cells, where: column != 0 or text == '', ignore: no record}
states:
  record:
    observe: {live: live}
    rows: {OPEN: {when: {live: true}}, CLOSED: {when: {live: false}}}
    initial: OPEN
    transitions: {OPEN: [CLOSED]}
    gone: forget
output:
  open: len([r for r in record if r.state == 'OPEN'])
  records:
    from: record
    split: side
    sort: at
    give: {id: id, entry: entry, state: state, note: note}
"""


def test_cells_hold_typed_records():
    # `id` is a field of cells already, so the payload calls it otherwise.
    text = CELLS.replace("id:", "ref:", 1).replace("[id]", "[ref]").replace("id: id", "id: ref")
    cells = [
        draw.cell(0, ""),
        *(
            draw.cell(n + 1, json.dumps(values))
            for n, values in enumerate(
                [
                    {"ref": "b", "side": "long", "entry": 6, "live": False, "at": 9, "note": "x"},
                    {"ref": "a", "side": "long", "entry": 5.5, "live": True, "at": 3},
                ]
            )
        ),
    ]
    found = reading(text, cells=cells)
    assert found.state == {
        "open": 1,
        "records": {
            "long": [
                {"id": "a", "entry": 5.5, "state": "OPEN", "note": None},
                {"id": "b", "entry": 6, "state": "CLOSED", "note": "x"},
            ],
            "short": [],
        },
    }
    assert {(track.key, track.state) for track in found.tracks} == {
        (("a",), "OPEN"),
        (("b",), "CLOSED"),
    }
    twice = draw.cell(
        7, json.dumps({"ref": "a", "side": "short", "entry": 1, "live": True, "at": 1})
    )
    assert refused(text, cells=[*cells, twice]) == [("duplicate", "elements.record.key")]


def test_a_payload_field_may_not_be_called_like_a_field_of_the_channel():
    from small import told

    assert "'id' is a field of cells already" in told(CELLS)


PICTURE = """\
config: {tick_size: {type: number, from: chart.tick_size}}
channels: {labels: signal, boxes: signal}
elements:
  zone: {from: boxes}
  record:
    from: labels
    decode:
      of: text
      as: delimiter
      tag: ZONE
      fields: {AT: {type: time}, HIGH: {type: number}, LOW: {type: number}}
    attach:
      drawn: {from: zone, within: {left.time: [AT, AT]}, count: 1}
    key: [AT]
edge_cases:
  disagrees:
    each: record
    when: not near(HIGH, drawn.top) or not near(LOW, drawn.bottom)
    violation: ambiguous
    say: the payload and the box show different prices
output: {zones: {from: record, sort: AT, give: {at: AT, high: HIGH, low: LOW}}}
"""


def zone(bar, high, low, **says):
    told = {"AT": draw.START + bar * draw.STEP, "HIGH": high, "LOW": low, **says}
    text = "ZONE|" + "|".join(f"{key}:{value}" for key, value in told.items())
    return draw.label(bar, high, text), draw.box(bar, high, low, "#123456")


def test_a_payload_and_its_picture_must_agree():
    first, second = zone(10, 5.0, 4.0), zone(20, 7.0, 6.5)
    labels, boxes = [first[0], second[0]], [second[1], first[1]]
    assert state(PICTURE, labels=labels, boxes=boxes)["zones"] == [
        {"at": draw.START + 10 * draw.STEP, "high": 5.0, "low": 4.0},
        {"at": draw.START + 20 * draw.STEP, "high": 7.0, "low": 6.5},
    ]
    lying = zone(20, 7.0, 6.5, HIGH=8.0)
    assert refused(PICTURE, labels=[lying[0]], boxes=[lying[1]]) == [
        ("ambiguous", "edge_cases.disagrees")
    ]
    assert refused(PICTURE, labels=labels, boxes=boxes[:1]) == [
        ("missing", "elements.record.attach.drawn")
    ]
    assert refused(PICTURE, labels=labels[:1], boxes=boxes) == [
        ("missing", "elements.record.attach.drawn")
    ]


REPORT = """\
channels: {cells: signal}
elements:
  report:
    from: cells
    count: 1
    decode:
      of: text
      as: json
      fields:
        ref: {type: text, key: id}
        levels: {type: list, fields: {price: {type: number}, side: {type: choice, options: [long, short]}}}
  level: {from: report, each: levels, where: price > 1, count: 0..3, reads: {twice: price * 2}, key: [ref, price]}
states:
  level:
    observe: {side: side}
    rows: {UP: {when: {side: long}}, DOWN: {when: {side: short}}}
    initial: [UP, DOWN]
    gone: forget
output:
  levels: {from: level, sort: price, give: {price: price, twice: twice, of: ref, state: state}}
"""  # noqa: E501


def report(*levels):
    entries = [{"price": price, "side": side} for price, side in levels]
    return [draw.cell(0, json.dumps({"id": "x", "levels": entries}))]


def test_each_entry_of_a_decoded_list_is_an_instance():
    found = reading(REPORT, cells=report((3, "long"), (2.5, "short"), (0.5, "long")))
    assert found.state == {
        "levels": [
            {"price": 2.5, "twice": 5, "of": "x", "state": "DOWN"},
            {"price": 3, "twice": 6, "of": "x", "state": "UP"},
        ]
    }
    assert {(track.key, track.state) for track in found.tracks} == {
        (("x", 3), "UP"),
        (("x", 2.5), "DOWN"),
    }
    assert state(REPORT, cells=report()) == {"levels": []}


@in_one_test(
    ("levels", "violations"),
    [
        ([(3, "long"), (3, "short")], [("duplicate", "elements.level.key")]),
        ([(n, "long") for n in range(2, 6)], [("duplicate", "elements.level.count")]),
        ([(3, "flat")], [("malformed", "elements.report.decode.fields.levels.fields.side")]),
        ([(True, "long")], [("malformed", "elements.report.decode.fields.levels.fields.price")]),
    ],
)
def test_an_entry_that_breaks_the_contract_is_refused(levels, violations):
    assert refused(REPORT, cells=report(*levels)) == violations


def test_entries_count_against_the_budget_of_a_reading():
    cells = [draw.cell(n, json.dumps({"id": "x", "levels": [{}] * 1000})) for n in range(900)]
    text = REPORT.replace("count: 1\n", "count: 0..\n")
    assert refused(text, cells=cells) == [("unavailable", "channels.cells")]


@in_one_test(
    ("old", "new", "message"),
    [
        ("each: levels", "each: ref", "'ref' is not a decoded list"),
        ("each: levels", "each: nothing", "'nothing' is not a decoded list"),
        ("each: levels", "each: levels, newest: row", "newest does not go with each"),
        ("from: report, each", "from: cells, each", "is not a decoded list"),
        ("price: {type", "text: {type", "'text' is a field of cells already"),
    ],
)
def test_each_names_a_list_that_was_decoded(old, new, message):
    from small import told

    assert message in told(REPORT.replace(old, new))
