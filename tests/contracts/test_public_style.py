"""Contracts in the style of public indicators: structure, a localised dashboard, nested JSON.

The files in `public_style` and the pictures here are made up. Each contract reads its pictures,
refuses what is broken, and keeps the mutation law.
"""

import json
from pathlib import Path

import drawings as draw
from tests.cases import in_one_test

from chartpact.contracts import load, load_file
from chartpact.contracts.reading.engine import read
from chartpact.contracts.workbench.examples import Example, mutate
from chartpact.snapshot import Snapshot

FOLDER = Path(__file__).parent / "public_style"
UP, DOWN, BLOCK_UP, BLOCK_DOWN, GAP = "#089981", "#f23645", "#1848cc", "#b22833", "#00ff68"


def picture(name, chart=None, limits=None, **channels):
    contract = load_file(FOLDER / f"{name}.yaml")
    study = {**draw.study(contract.title, **channels), "limits": limits or {}}
    return contract, Snapshot(draw.snapshot(study, chart=chart))


def reading(name, config=None, chart=None, limits=None, **channels):
    contract, snapshot = picture(name, chart, limits, **channels)
    return read(contract, snapshot, config)


def kinds(found):
    assert found.state is None
    return sorted({(violation.kind, violation.path) for violation in found.violations})


def unnoticed(name, chart=None, **channels):
    contract, snapshot = picture(name, chart, **channels)
    state = read(contract, snapshot).state
    return mutate(contract, [Example("good", snapshot, {"state": state})]).unnoticed


# --------------------------------------------------------------------------------------- structure


def broken(x1, x2, price, color, text, style="solid"):
    """A break of structure: its line and the text in the middle."""
    tag = draw.label((x1 + x2) // 2, price, text, text_color=f"{color}ff")
    return draw.line(x1, price, color, style, x2=x2), tag


def equal(x1, x2, price, text):
    line = draw.line(x1, price, "#787b86", "dotted", x2=x2, y2=price + 0.25)
    return line, draw.label((x1 + x2) // 2, price, text)


def area(text, top, bottom):
    return draw.box(5, top, bottom, "#787b86", right=90, text=text)


def drawn(*pairs, boxes=()):
    lines, labels = zip(*pairs, strict=True)
    return {"lines": list(lines), "labels": list(labels), "boxes": list(boxes)}


BREAKS = [
    broken(10, 20, 5000.0, UP, "BOS"),
    broken(30, 40, 5010.0, UP, "CHoCH"),
    broken(32, 44, 5005.0, DOWN, "BOS", "dashed"),
    equal(50, 60, 5020.0, "EQH"),
]
BOXES = [
    draw.box(12, 4990.0, 4980.0, BLOCK_UP, BLOCK_UP, right=80),
    draw.box(13, 4998.0, 4992.0, GAP, GAP, right=20),
    draw.box(15, 5001.0, 4999.0, GAP, GAP, right=22),
    draw.box(40, 5030.0, 5025.0, BLOCK_DOWN, BLOCK_DOWN, right=80),
    area("Premium", 5040.0, 5030.0),
    area("Equilibrium", 5012.0, 5008.0),
    area("Discount", 4990.0, 4970.0),
]
CHART = {"last_price": 5010.0}
PIVOT = draw.label(20, 5003.0, "HH")


def structure(pairs=BREAKS, boxes=BOXES, extra=(), chart=CHART, **given):
    shown = drawn(*pairs, boxes=boxes)
    shown["labels"] += [PIVOT, *extra]
    return reading("structure", chart=chart, **shown, **given)


def test_a_structure_indicator_is_read():
    found = structure()
    assert found.ok, list(map(str, found.violations))
    assert found.state == {
        "trend": "TURNED_UP",
        "breaks": {
            "internal": [{"side": "bearish", "event": "bos", "price": 5005.0}],
            "swing": [{"side": "bullish", "event": "choch", "price": 5010.0}],
        },
        "equals": [{"kind": "highs", "price": 5020.25}],
        "order_blocks": {
            "bullish": [
                {
                    "high": 4990.0,
                    "low": 4980.0,
                    "state": "AWAY",
                    "gaps": [{"high": 4998.0, "low": 4992.0}, {"high": 5001.0, "low": 4999.0}],
                    "gap_high": 5001.0,
                }
            ],
            "bearish": [
                {"high": 5030.0, "low": 5025.0, "state": "AWAY", "gaps": [], "gap_high": None}
            ],
        },
        "supports": [{"high": 4990.0}],
        "area": "equilibrium",
        "ceiling": 5040.0,
        "floor": 4970.0,
    }
    assert {track.machine for track in found.tracks} == {"trend", "order_block"}


def test_a_quiet_chart_and_another_price_are_read_as_such():
    quiet = reading("structure", chart=CHART, lines=[], labels=[], boxes=[])
    assert (quiet.state["trend"], quiet.state["area"], quiet.state["floor"]) == (
        "UNDECIDED",
        None,
        None,
    )
    inside = structure(chart={"last_price": 4985.0}).state
    assert inside["order_blocks"]["bullish"][0]["state"] == "ENTERED"
    assert (inside["area"], inside["supports"]) == ("discount", [])
    assert kinds(structure(chart={})) == [("unavailable", "elements.order_block.reads.rank")]


@in_one_test(
    ("given", "violations"),
    [
        ({"extra": [draw.label(70, 1.0, "BoS")]}, [("unexpected", "channels.labels")]),
        (
            {"extra": [draw.label(70, 1.0, "BOS", text_color=f"{UP}ff")]},
            [("missing", "elements.structure.attach.tag")],
        ),
        (
            {"pairs": [*BREAKS, broken(70, 80, 1.0, "#ffffff", "BOS")]},
            [("malformed", "elements.event_tag.reads.tag_side")],
        ),
        (
            {"pairs": [*BREAKS, BREAKS[0]]},
            [
                ("ambiguous", "elements.structure.attach.tag"),
                ("duplicate", "elements.structure.key"),
            ],
        ),
        ({"boxes": BOXES[:-1]}, [("missing", "edge_cases.half_zones")]),
        ({"boxes": [*BOXES, area("premium", 2.0, 1.0)]}, [("unexpected", "channels.boxes")]),
        ({"config": {"mode": "present"}}, [("unexpected", "edge_cases.present_shows_few")]),
    ],
)
def test_a_structure_picture_that_breaks_the_contract_is_refused(given, violations):
    assert kinds(structure(**given)) == violations


def test_a_structure_indicator_at_the_cap_is_read_without_its_oldest_break():
    early = broken(2, 4, 4900.0, DOWN, "BOS")
    orphan = draw.line(2, 4900.0, DOWN, x2=4)
    lines = [orphan, *(line for line, _ in BREAKS)]
    labels = [PIVOT, *(label for _, label in BREAKS)]
    full = reading(
        "structure", chart=CHART, limits={"labels": 5}, lines=lines, labels=labels, boxes=BOXES
    )
    assert full.ok and full.state == structure([early, *BREAKS]).state
    assert ("evicted.structure", 1) in [(each.key, each.value) for each in full.assumptions]
    room = reading(
        "structure", chart=CHART, limits={"labels": 500}, lines=lines, labels=labels, boxes=BOXES
    )
    assert kinds(room) == [("missing", "elements.structure.attach.tag")]


def test_no_change_of_the_structure_goes_unnoticed():
    shown = drawn(*BREAKS, boxes=BOXES)
    assert list(map(str, unnoticed("structure", CHART, **shown))) == []


# --------------------------------------------------------------------------------------- dashboard


def table(
    trend="Aufwärts", atr="1.234,50 Punkte", volume="12\u202f345 678", change="-0,75 %", tint=UP
):
    names = ["Trend", "ATR (14)", "Volumen", "Änderung"]
    tints = [f"{tint}ff" if tint else None, None, None, None]
    values = zip(names, (trend, atr, volume, change), tints, strict=True)
    cells = [draw.cell(0, "Übersicht"), draw.cell(0, "", column=1)]
    for row, (name, value, color) in enumerate(values, start=1):
        cells += [draw.cell(row, name), draw.cell(row, value, color, column=1)]
    return cells


GREEN, RED = "#4caf50", "#ff5252"


def test_a_dashboard_with_localised_numbers_is_read():
    found = reading("dashboard", cells=table(tint=GREEN))
    assert found.ok, list(map(str, found.violations))
    assert found.state == {"trend": "UP", "atr": 1234.5, "volume": 12345678, "change": -0.75}
    other = table("Abwärts", "0,25 Punkte", "999", "10,5 %", RED)
    assert reading("dashboard", cells=other[::-1]).state == {
        "trend": "DOWN",
        "atr": 0.25,
        "volume": 999,
        "change": 10.5,
    }


@in_one_test(
    ("changes", "violations"),
    [
        ({"atr": "1,234.50 Punkte"}, [("malformed", "elements.atr_cell.decode.fields.atr")]),
        ({"atr": "1234,50 Punkte"}, [("malformed", "elements.atr_cell.decode.fields.atr")]),
        ({"atr": "NaN Punkte"}, [("malformed", "elements.atr_cell.decode.fields.atr")]),
        ({"atr": "-1,0 Punkte"}, [("malformed", "elements.atr_cell.decode.fields.atr")]),
        ({"atr": "1.234,50"}, [("malformed", "elements.atr_cell.decode")]),
        ({"volume": "12.345.678"}, [("malformed", "elements.volume_cell.decode.fields.volume")]),
        ({"change": "∞ %"}, [("malformed", "elements.change_cell.decode.fields.change")]),
        ({"change": "٣,٥ %"}, [("malformed", "elements.change_cell.decode.fields.change")]),
        ({"trend": "Up"}, [("malformed", "elements.trend_cell.reads.word")]),
        ({"tint": RED}, [("ambiguous", "states.trend.rows.torn")]),
        ({"tint": None}, [("ambiguous", "states.trend.rows.torn")]),
    ],
)
def test_a_dashboard_that_breaks_the_contract_is_refused(changes, violations):
    assert kinds(reading("dashboard", cells=table(**{"tint": GREEN, **changes}))) == violations


def test_no_change_of_the_dashboard_goes_unnoticed():
    assert list(map(str, unnoticed("dashboard", cells=table(tint=GREEN)))) == []


# ------------------------------------------------------------------------------------- nested JSON


PLAN = {
    "v": 2,
    "id": "ES-7",
    "from": 1_700_000_100_000,
    "position": {"size": 3, "side": "long", "text": "with the trend"},
    "exit": {"take-profit": 5040.5},
    "range": [5000, 5020.25],
    "levels": [
        {"price": 5040.5, "type": "target", "status": {"hit": False}},
        {"price": 5012, "type": "entry", "status": {"hit": True}},
        {"price": 5030, "type": "target", "status": {"hit": True}},
    ],
    "tags": ["late", "early"],
}


def plan(**changes):
    return [draw.cell(0, json.dumps({**PLAN, **changes}))]


def test_a_nested_json_cell_is_read():
    found = reading("trade_plan", cells=plan())
    assert found.ok, list(map(str, found.violations))
    assert found.state == {
        "id": "ES-7",
        "since": 1_700_000_100_000,
        "side": "long",
        "lots": 3,
        "comment": "with the trend",
        "take_profit": 5040.5,
        "stop": None,
        "range": {"low": 5000, "high": 5020.25},
        "levels": {
            "entry": [{"price": 5012, "state": "FILLED", "side": "inside"}],
            "target": [
                {"price": 5030, "state": "REACHED", "side": "above"},
                {"price": 5040.5, "state": "WAITING", "side": "above"},
            ],
        },
        "next_target": 5040.5,
        "tags": [{"word": "early"}, {"word": "late"}],
    }
    assert {track.key for track in found.tracks} == {
        ("ES-7", 5040.5),
        ("ES-7", 5012),
        ("ES-7", 5030),
    }


LEVEL = PLAN["levels"][0]


@in_one_test(
    ("changes", "violations"),
    [
        ({"v": 1}, [("version", "elements.plan.decode")]),
        ({"v": 3}, [("version", "elements.plan.decode")]),
        ({"exit": {"take_profit": 1}}, [("unexpected", "elements.plan.decode")]),
        ({"exit": {}}, [("malformed", "elements.plan.decode.fields.take_profit")]),
        ({"position": 3}, [("malformed", "elements.plan.decode")]),
        ({"range": [1, 2, 3]}, [("unexpected", "elements.plan.decode")]),
        ({"range": [1]}, [("malformed", "elements.plan.decode.fields.high")]),
        ({"levels": {}}, [("malformed", "elements.plan.decode.fields.levels")]),
        ({"levels": [LEVEL]}, [("missing", "edge_cases.no_entry")]),
        ({"levels": [*PLAN["levels"], LEVEL]}, [("duplicate", "elements.level.key")]),
        (
            {"levels": [{**LEVEL, "status": {"hit": 1}}]},
            [("malformed", "elements.plan.decode.fields.levels.fields.hit")],
        ),
        (
            {"levels": [{**LEVEL, "price": float("nan")}]},
            [("malformed", "elements.plan.decode")],
        ),
        (
            {"levels": [{**LEVEL, "type": "entry"}]},
            [("malformed", "edge_cases.outside")],
        ),
        ({"tags": ["x"] * 1001}, [("malformed", "elements.plan.decode")]),
        ({"more": None}, [("unexpected", "elements.plan.decode")]),
    ],
)
def test_a_nested_json_cell_that_breaks_the_contract_is_refused(changes, violations):
    found = kinds(reading("trade_plan", cells=plan(**changes)))
    assert [each for each in found if each in violations] == violations


def test_no_change_of_the_json_cell_goes_unnoticed():
    assert list(map(str, unnoticed("trade_plan", cells=plan()))) == []
    contract, snapshot = picture("trade_plan", cells=plan())
    result = mutate(
        contract, [Example("good", snapshot, {"state": read(contract, snapshot).state})]
    )
    decoded = {"plan.lots", "plan.take_profit", "plan.low", "plan.levels.price", "plan.tags.word"}
    assert decoded <= set(result.targets)
    assert [name for name in result.unshown if name.startswith("plan.")] == []


def test_a_decoded_field_that_changes_nothing_is_told():
    contract, snapshot = picture("trade_plan", cells=plan())
    text = contract.text.replace("  take_profit: plan.take_profit\n", "").replace(
        "  outside:", "  never: {when: plan.take_profit < 0, violation: malformed}\n  outside:"
    )
    blind = load(text)
    good = Example("good", snapshot, {"state": read(blind, snapshot).state})
    assert "plan.take_profit" in mutate(blind, [good]).unshown
