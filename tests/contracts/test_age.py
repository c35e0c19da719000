"""Times in contracts: clocks, the age of what is drawn, sources without times; and new words."""

import copy

import drawings as draw
from small import make, problems, reading, refused, state, told
from tests.cases import in_one_test

import chartpact as cp
from chartpact.contracts import find
from chartpact.contracts.reading.engine import read
from chartpact.snapshot import Snapshot

LINES = """\
channels: {lines: signal}
elements:
  level: {from: lines, count: 1}
"""


def evaluate(expression, **chart):
    text = f'{LINES}output: {{y: level.y1, value: "{expression}"}}\n'
    found = read(make(text), Snapshot(draw.snapshot(study(), chart=chart)))
    assert found.ok, found.violations
    return found.state["value"]


def study(**line):
    lines = [{**draw.line(300, 5.0, draw.HI), **line}]
    return {"id": 1, "name": "Small", "labels": [], "lines": lines, "boxes": [], "cells": []}


@in_one_test(
    ("zone", "minutes"),
    [("UTC", 23 * 60 + 15), ("America/New_York", 18 * 60 + 15), ("Asia/Kolkata", 4 * 60 + 45)],
)
def test_the_time_of_day_is_that_of_a_zone(zone, minutes):
    assert evaluate(f"time_of_day(level.x1.time, '{zone}')") == minutes


def test_a_trading_day_begins_at_its_roll():
    day = "trading_day(level.x1.time, '{}')"
    assert evaluate(day.format("18:00 America/New_York")) == 19677  # 2023-11-16
    assert evaluate(day.format("18:16 America/New_York")) == 19676
    assert evaluate(day.format("UTC midnight")) == 19676


@in_one_test(
    ("timeframe", "length"), [("5m", 5), ("240", 240), ("4h", 240), ("D", 1440), ("30s", 0.5)]
)
def test_minutes_reads_our_timeframes_and_those_of_tradingview(timeframe, length):
    assert evaluate("minutes(chart.timeframe)", timeframe=timeframe) == length


def test_clocks_that_do_not_exist_are_named_when_the_contract_is_loaded():
    wrong = {
        "time_of_day(level.x1.time, 'Mars/Olympus')": "is no time zone",
        "trading_day(level.x1.time, 'noon')": "is no day roll",
        "trading_day(level.y1, 'UTC midnight')": "not a time",
        "outdated(level.x1.time, 'UTC midnight')": "outdated takes an anchor",
        "time_of(level.y1)": "time_of takes an anchor",
        "trading_day(level.x1.time, chart.timezone)": "no zone or day roll",
    }
    for expression, said in wrong.items():
        assert said in told(f'{LINES}output: {{a: "{expression}"}}\n'), expression


OLD = f"""\
config: {{roll: {{type: text, from: chart.day_roll, default: 18:00 America/New_York}}}}
{LINES}
edge_cases:
  old: {{when: "outdated(level.x1, roll)", violation: missing}}
output: {{y: level.y1, begin: time_of(level.x1)}}
"""
DAY = 86_400_000
LAST = draw.START + draw.LAST_BAR * draw.STEP


def read_old(source=None, line=None, **chart):
    drawn = draw.snapshot(study(**(line or {})), chart=chart, source=source)
    return read(make(OLD), Snapshot(drawn))


def notes(found):
    return [str(each) for each in found.assumptions if each.key == "age"]


def test_what_began_on_an_earlier_trading_day_is_outdated():
    assert read_old().ok
    assert notes(read_old()) == []
    later = read_old(last_time=LAST + DAY)
    assert [(v.kind, v.path) for v in later.violations] == [("missing", "edge_cases.old")]
    assert read_old(day_roll="20:00 America/New_York").violations  # it began at 18:15


def test_a_roll_that_is_none_is_a_fault_of_the_configuration():
    assert [v.path for v in read_old(day_roll="soon").violations] == ["config.roll"]


def test_half_of_a_surrogate_pair_is_a_fault_of_the_configuration():
    found = read(make(OLD), Snapshot(draw.snapshot(study())), {"roll": "\ud800"})
    assert [v.path for v in found.violations] == ["config.roll"]


def test_without_the_last_time_the_state_stands_and_its_age_is_assumed():
    drawn = draw.snapshot(study())
    del drawn["chart"]["last_time"]
    found = read(make(OLD), Snapshot(drawn))
    assert found.ok
    assert notes(found) == ['age = "unknown" (the source does not tell)']
    assert {"key": "age", "value": "unknown", "from": "source"} in found.to_json()["assumptions"]


def test_a_source_without_times_is_read_and_says_that_the_age_is_unknown():
    source = {"fields": {"lines": ["x1", "y1"]}}
    found = read_old(source, last_time=LAST + DAY)
    assert found.state == {"y": 5.0, "begin": None}
    assert notes(found)


def test_an_anchor_without_its_time_is_of_unknown_age():
    found = read_old(line={"x1": {"n": 300, "bar": 300, "time": None}}, last_time=LAST + DAY)
    assert found.ok
    assert notes(found)


@in_one_test("time", [-5, 10**14])
def test_a_time_beyond_all_calendars_is_malformed(time):
    found = read_old(line={"x1": {"n": 300, "bar": 300, "time": time}})
    assert [v.kind for v in found.violations] == ["malformed"]


def test_the_stock_source_reads_the_hunt_and_does_not_know_its_age():
    example = next(e for e in _examples("session_hunt_ai") if e.name == "stock_source")
    found = example.read(find("session_hunt_ai"))
    assert found.ok
    assert notes(found)


def _examples(name):
    from chartpact import pacts
    from chartpact.contracts.workbench import examples

    return examples.load_all(pacts.folder(name) / "examples")


# --------------------------------------------------------------------------------- box, key, row


BOXES = """\
channels: {boxes: signal}
elements:
  zone: {from: boxes, count: 1}
output: {left: zone.left.bar, right: zone.right.bar, begin: zone.left.time}
"""


def test_a_box_reads_from_left_to_right_however_it_was_drawn():
    box = draw.box(10, 5, 3, draw.ASIA, right=30)
    turned = {**box, "left": box["right"], "right": box["left"]}
    assert state(BOXES, boxes=[turned]) == state(BOXES, boxes=[box])
    assert state(BOXES, boxes=[box])["left"] == 10


KEYED = """\
channels: {lines: signal}
elements:
  level: {from: lines, where: "x1 <= x2", key: [x1.time]}
states:
  level:
    observe: {flat: horizontal}
    rows: {FLAT: {when: {flat: true}}, SLANTED: {when: otherwise}}
    initial: [FLAT, SLANTED]
output: {levels: {from: level, sort: y1, give: {y: y1, state: state}}}
"""


@in_one_test("chart", [{}, {"confirmed": False}])
@in_one_test("fields", [None, ["x1", "x2", "y1", "y2"]])
def test_equal_keys_are_duplicates_whether_or_not_they_can_be_followed(chart, fields):
    lines = [draw.line(5, 1.0, draw.HI), draw.line(5, 2.0, draw.HI), draw.line(6, 3.0, draw.HI)]
    source = {} if fields is None else {"fields": {"lines": fields}}
    drawn = draw.snapshot({**study(), "lines": lines}, chart=chart, source=source)
    found = read(make(KEYED), Snapshot(drawn))
    assert [(v.kind, v.path, len(v.objects)) for v in found.violations] == [
        ("duplicate", "elements.level.key", 2)
    ]
    drawn["studies"][0]["lines"] = lines[1:]
    assert read(make(KEYED), Snapshot(drawn)).ok


def test_a_row_for_everything_else_takes_what_no_other_row_speaks_of():
    lines = [draw.line(5, 1.0, draw.HI), draw.line(6, 2.0, draw.HI, y2=3.0)]
    states = [level["state"] for level in state(KEYED, lines=lines)["levels"]]
    assert states == ["FLAT", "SLANTED"]
    twice = KEYED.replace("{when: {flat: true}}", "{when: otherwise}")
    assert "is for everything else already" in told(twice)
    idle = KEYED.replace("{FLAT: {when: {flat: true}}", "{FLAT: {when: {flat: [true, false]}}")
    assert "SLANTED never decides anything" in told(idle)


# ------------------------------------------------------------------------ where over decoded fields


DECODED = """\
channels: {cells: signal}
elements:
  zone:
    from: cells
    where: column == 0 and kind == 'zone'
    decode: {of: text, as: json, fields: {kind: {type: text}, top: {type: number, optional: true}}}
  rest:
    from: cells
    where: column == 1
    ignore: statistics
output: {zones: {from: zone, sort: row, give: {top: top}}}
"""


def test_a_condition_may_ask_for_decoded_fields():
    cells = [draw.cell(1, '{"kind":"zone","top":5}'), draw.cell(2, "95 %", column=1)]
    assert state(DECODED, cells=cells) == {"zones": [{"top": 5}]}


def test_a_condition_that_rests_on_decoded_fields_waits_for_decoding():
    asks = "column == 0 and (first != none and kind == 'zone') and row > first.row"
    text = DECODED.replace("column == 0 and kind == 'zone'", asks)
    first = "  first: {from: cells, where: column == 1, count: 0..1}\n  zone:"
    text = text.replace("  zone:", first, 1).replace(
        "    where: column == 1\n    ignore", "    where: column == 2\n    ignore"
    )
    zone, start = draw.cell(2, '{"kind":"zone","top":5}'), draw.cell(1, "95 %", column=1)
    assert state(text, cells=[start, zone]) == {"zones": [{"top": 5}]}
    assert refused(text, cells=[zone]) == [("unexpected", "channels.cells")]


def test_what_decodes_and_does_not_fit_is_left_to_other_elements():
    cells = [draw.cell(1, '{"kind":"other"}')]
    assert refused(DECODED, cells=cells) == [("unexpected", "channels.cells")]


def test_a_payload_of_another_version_is_of_another_version_and_not_unclaimed():
    cells = [draw.cell(1, '{"v":2,"kind":"zone"}'), draw.cell(2, '{"kind":"zone"}')]
    assert refused(DECODED, cells=cells) == [("version", "elements.zone.decode")]
    assert refused(DECODED, cells=[draw.cell(1, "{")]) == [("malformed", "elements.zone.decode")]


def test_how_many_there_may_be_counts_those_that_fit():
    one = DECODED.replace("    decode:", "    count: 0..1\n    decode:", 1)
    one = one.replace("{zones: {from: zone, sort: row, give: {top: top}}}", "{top: zone.top}")
    zone, other = '{"kind":"zone","top":5}', '{"kind":"other"}'
    assert state(one, cells=[draw.cell(1, zone)]) == {"top": 5}
    assert refused(one, cells=[draw.cell(1, zone), draw.cell(2, zone)]) == [
        ("duplicate", "elements.zone.count")
    ]
    assert ("unexpected", "channels.cells") in refused(one, cells=[draw.cell(1, other)])


def test_what_comes_before_decoding_belongs_into_a_view():
    newest = DECODED.replace("    decode:", "    newest: row\n    decode:", 1)
    assert "newest comes before decoding" in told(newest)
    assert problems(DECODED) == ()


# --------------------------------------------------------------------------------- inputs by title


def _with_inputs(inputs, config=None):
    example = next(e for e in _examples("session_hunt_ai") if e.name == "mode_from_inputs")
    data = copy.deepcopy(example.snapshot.to_json())
    data["studies"][0]["inputs"] = inputs
    return cp.read("session_hunt_ai", data, config)


@in_one_test("title", ["mode", "Mode", "MODE ", "mo-de"])
def test_an_input_is_found_by_its_name_or_its_title(title):
    found = _with_inputs({title: "London", "Line Width": 2})
    assert found.state["mode"] == "London"
    assert ("mode", "London", "inputs") in found.assumptions


def test_inputs_that_contradict_each_other_are_refused_and_the_caller_decides():
    both = {"Mode": "London", "mo de": "NY"}
    assert [v.path for v in _with_inputs(both).violations] == ["config.mode"]
    assert _with_inputs(both, {"mode": "London"}).ok
    assert _with_inputs({"mode": "London", "Mode": "NY"}).ok  # the name itself comes first


def test_a_contract_may_list_further_titles_of_an_input():
    text = f"""\
config: {{stroke: {{type: number, default: 1, input: [Line Thickness, Width]}}}}
{LINES}output: {{y: level.y1, stroke: stroke}}
"""
    drawn = study()
    drawn["inputs"] = {"line thickness": 4}
    assert reading(text, lines=drawn["lines"]).state["stroke"] == 1
    assert read(make(text), Snapshot(draw.snapshot(drawn))).state["stroke"] == 4
