"""What a run may have drawn is looked at again when it comes out, before anything is made of it."""

import copy
import json
import random
import tracemalloc
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact import script
from chartpact.drawing import CAPS, Cell, Line, Table
from chartpact.sandbox import answers, bounds, packing, wire
from chartpact.sandbox.pool import Answered
from chartpact.sandbox.wire import WireError
from chartpact.script import ScriptError, stock
from chartpact.script.dry_run import dry_run_bars
from chartpact.script.limits import (
    DOT_TEXT_CHARS,
    DOTS,
    OBJECT_TEXT_CHARS,
    PLOTS,
    POINTS,
    SCENE_TEXT_CHARS,
    TABLE_CELLS,
    VERTICES,
)

BARS = 8_000
MAX_CAP = CAPS["labels"]
EACH = DOTS // BARS  # dots on every bar
SERIES, PLACES, ZEROS, FAR, BELOW, HALF = range(6)
COLUMNS = [
    np.zeros(BARS),
    np.repeat(np.arange(BARS), EACH),
    np.zeros(DOTS, np.uint8),
    np.full(5, BARS),
    np.full(5, -1),
    np.zeros(BARS // 2),
]
LINE = {"kind": "line", "values": SERIES}
TALL = {"kind": "line", "values": SERIES, "ahead": SERIES, "color": ["red", BARS]}
HEIGHTS = [*COLUMNS, np.zeros(DOTS), np.arange(VERTICES)]
POINT = {"x": PLACES, "y": 6, "size": 6, "label": [None, DOTS]}
SIGNAL = {"bar": PLACES, "confirmed_bar": PLACES, "value": 6, "name": [["a"], ZEROS]}


def table(cells: Any, columns: Any = 1, rows: Any = 1, **fields: Any) -> list[Any]:
    """A table field by field, its cells field by field too."""
    values = {"cells": cells, "columns": columns, "rows": rows, **fields}
    return [[values.get(name, 1)] for name in Table.field_types]


def cells(*places: tuple[Any, ...], **fields: Any) -> list[Any]:
    """Cells field by field, each at a column and a row; a merged one with those of its end."""
    whole = [(*place, None, None)[:4] for place in places]
    by_name: dict[str, Any] = dict(
        zip(
            ("column", "row", "end_column", "end_row"),
            map(list, zip(*whole, strict=True)),
            strict=True,
        )
    )
    by_name |= {name: [value] * len(places) for name, value in fields.items()}
    return [by_name.get(name, [1] * len(places)) for name in Cell.field_types]


MOST = {
    "plots": [LINE] * (POINTS // BARS - 1) + [{"kind": "dot", "points": DOTS}],
    "dots": POINT,
    "signals": SIGNAL,
    "labels": [[1] * MAX_CAP, ["x"] * MAX_CAP],
    "tables": table(cells((0, 0, 38, 48), (39, 0, 39, 49), (39, 49)), 40, 50),
    "vertices": {"bar": 7, "time": 7, "y": 7},
    "label": "x" * OBJECT_TEXT_CHARS,
    "limits": {"labels": MAX_CAP},
}


def test_as_much_as_a_run_may_draw_passes() -> None:
    bounds.check(MOST, HEIGHTS, BARS)
    bounds.check({}, [], BARS)
    assert POINTS // BARS <= PLOTS


def dots(**changed: Any) -> dict[str, Any]:
    return {"plots": [{"kind": "dot", "points": DOTS}], "dots": POINT | changed}


VERTEX = {"bar": PLACES, "time": PLACES, "y": 6}


@in_one_test(
    ("scene", "what"),
    [
        ({"plots": [{"kind": "hline", "y": 1}] * (PLOTS + 1)}, "plots"),
        ({"plots": [{"kind": "hline", "rows": [[1] * (PLOTS + 1)] * 4}]}, "plots"),
        ({"plots": [{"kind": "hline", "rows": [[1] * (PLOTS // 2 + 1)] * 4}] * 2}, "plots"),
        ({"plots": [{"kind": "hline", "rows": [[1], [1] * 1000]}]}, "fields are missing"),
        ({"plots": [{"kind": "hline", "rows": [["x" * (OBJECT_TEXT_CHARS + 1)]]}]}, "of a text"),
        ({"plots": [{"kind": "hline", "rows": 7}]}, "no scene"),
        ({"plots": [TALL] * (POINTS // BARS // 2 + 1)}, "points"),
        ({"plots": [{"kind": "hline", "color": ["red", 1 << 22]}] * 2}, "colours"),
        ({"plots": [{"kind": "hline", "color": [["red"], ZEROS]}] * 30}, "colours"),
        ({"plots": [LINE | {"values": HALF}]}, "another length"),
        ({"plots": [{"kind": "fill", "a": SERIES, "b": HALF}]}, "another length"),
        ({"plots": [{"kind": "background", "color": ["red", BARS + 1]}]}, "another number of col"),
        ({"plots": [{"kind": "bar_color", "color": [["red"], HALF]}]}, "another number of col"),
        ({"plots": [LINE | {"kind": "candles", "wick_color": ["red", 1]}]}, "another number of c"),
        ({"plots": [{"kind": "background", "color": ["red", BARS]}] * 600}, "more colours"),
        ({"marks": {"x": PLACES, "y": 6, "text": ["x", DOTS + 1]}}, "shapes"),
        ({"marks": {"x": PLACES, "y": 6, "text": ["x" * 21, DOTS]}}, "text of shapes"),
        ({"marks": {"x": FAR}}, "where no bar is"),
        ({"marks": [7]}, "no scene"),
        (dots(label=[None, DOTS + 1]), "dots"),
        (dots(label=["x" * (DOT_TEXT_CHARS // DOTS + 1), DOTS]), "text of dots"),
        (dots(label=[["x" * (DOT_TEXT_CHARS // DOTS + 1)], ZEROS]), "text of dots"),
        (dots(label=[["x"], SERIES]), "no scene"),
        (dots(label=[[], ZEROS]), "no scene"),
        (dots(label=[["x"], FAR]), "no scene"),
        (dots(label=["x", -1]), "no scene"),
        (dots(x=FAR), "where no bar is"),
        (dots(x=BELOW), "where no bar is"),
        (dots(x=99), "no scene"),
        (dots(x=-1), "no scene"),
        (dots(x=True), "no scene"),
        ({"signals": SIGNAL | {"name": ["x" * 1000, DOTS]}}, "text of signals"),
        ({"signals": SIGNAL | {"name": ["x", DOTS + 1]}}, "signals"),
        ({"signals": SIGNAL | {"bar": FAR}}, "where no bar is"),
        ({"signals": SIGNAL | {"confirmed_bar": BELOW}}, "where no bar is"),
        ({"labels": [[1] * (MAX_CAP + 1)]}, "labels"),
        ({"lines": [[1] * (MAX_CAP + 1)]}, "lines"),
        ({"boxes": [[], [1] * (MAX_CAP + 1)]}, "boxes"),
        ({"labels": [["x" * (OBJECT_TEXT_CHARS + 1)]]}, "characters of a text"),
        ({"labels": [["x" * OBJECT_TEXT_CHARS] * MAX_CAP]}, "characters"),
        ({"polylines": [[1] * (CAPS["polylines"] + 1)]}, "polylines"),
        ({"linefills": [[1] * (CAPS["lines"] + 1)]}, "linefills"),
        ({"vertices": VERTEX}, "points of polylines"),
        ({"vertices": {"bar": BELOW, "time": BELOW, "y": 6}}, "points of polylines"),
        ({"vertices": {"bar": BELOW}}, "where no bar is"),
        ({"vertices": {"bar": 99}}, "no scene"),
        ({"vertices": [7]}, "no scene"),
        ({"tables": table(cells((0, 0), text="x" * (OBJECT_TEXT_CHARS + 1)))}, "of a text"),
        ({"tables": table(cells((0, 0)), 10**9, 10**9)}, "larger tables"),
        ({"tables": table(cells((0, 0)), 1, 10**9)}, "larger tables"),
        ({"tables": table(cells((0, 0)), True, 1)}, "larger tables"),
        ({"tables": table(cells((0, 0)), 1.0, 1)}, "larger tables"),
        ({"tables": table(cells((0, 0)), 50, TABLE_CELLS // 50 + 1)}, "cells"),
        ({"tables": [values * 10 for values in table(cells((0, 0)))]}, "tables"),
        ({"tables": [values * 2 for values in table(cells((0, 0)))]}, "tables at one position"),
        ({"tables": table(cells((0, 0)), frame_width=10**9)}, "width or size"),
        ({"tables": table(cells((0, 0), width=1e308))}, "width or size"),
        ({"tables": table(cells((0, 0), size=10**30))}, "width or size"),
        ({"lines": [[10**30]] * len(Line.field_types)}, "width or size"),
        ({"plots": [LINE | {"width": 1001}]}, "width or size"),
        ({"plots": [{"kind": "hbar", "rows": [[-1001.0]] * 7}]}, "width or size"),
        (dots(size=7), "width or size"),
        ({"limits": {"labels": 10**30}}, "limits"),
        ({"limits": {"labels": MAX_CAP + 1}}, "limits"),
        ({"evicted": {"labels": 10**30}}, "evicted"),
        ({"limits": [7]}, "no scene"),
        ({"tables": table(cells((0, 1)))}, "outside their table"),
        ({"tables": table(cells((-1, 0)))}, "outside their table"),
        ({"tables": table(cells((0, 0, 10**9, 0)), 2, 2)}, "outside their table"),
        ({"tables": table(cells((1, 1, 0, 0)), 2, 2)}, "outside their table"),
        ({"tables": table(cells((0, 0), (0, 0)))}, "several cells at one place"),
        ({"tables": table(cells((0, 0, 1, 1), (1, 1, 2, 2)), 3, 3)}, "merged cells that overlap"),
        ({"tables": table(cells((0, 0, 2, 2), (1, 1, 1, 2)), 3, 3)}, "merged cells that overlap"),
        ({"tables": table(cells(("a", 0)))}, "no scene"),
        ({"tables": table(cells((0, 0))[:-1])}, "no scene"),
        ({"plots": [LINE | {"title": "x" * (OBJECT_TEXT_CHARS + 1)}]}, "of a text"),
        ({"label": "x" * (OBJECT_TEXT_CHARS + 1)}, "of a text"),
        ([], "no scene"),
        ({"plots": 7}, "no scene"),
        ({"plots": [7]}, "no scene"),
        ({"signals": [7]}, "no scene"),
        ({"dots": [7]}, "no scene"),
        ({"labels": [7]}, "no scene"),
        ({"tables": table(7)}, "no scene"),
    ],
)
def test_more_than_a_run_may_draw_is_refused(scene: Any, what: str) -> None:
    with pytest.raises(WireError, match=what):
        bounds.check(scene, HEIGHTS, BARS)
    assert 2 * SCENE_TEXT_CHARS < MAX_CAP * OBJECT_TEXT_CHARS


def test_gigabytes_that_a_few_bytes_stand_for_are_never_made() -> None:
    plots = [{"kind": "hline", "y": 1, "color": ["red", 1 << 22]}] * PLOTS
    document = {"scene": {"plots": plots}, "steps": 1, "log": []}
    tracemalloc.start()
    try:
        with pytest.raises(ScriptError, match="no usable answer"):
            read(document, [])
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


# ------------------------------------------------------------------------------ mutated answers

DRAWING = """
PARAMS = []
META = {"title": "Everything"}
def compute(ohlcv, params, chart):
    chart.dot(ohlcv.close > ohlcv.open, ohlcv.close, label = "up",
              color = ["red" if i % 2 else "green" for i in range(len(ohlcv))])
    chart.dot(3, 5.0, label = "one")
    chart.new_label(3, 5.0, "text")
    chart.new_line(1, 1.0, 5, 2.0)
    chart.new_box(1, 2.0, 5, 1.0)
    table = chart.new_table("top_right", 2, 2)
    table.cell(0, 0, "x")
    table.merge_cells(0, 1, 1, 1)
    chart.new_polyline([(1, 1.0), (5, 2.0), (7, 1.5)], curved = True, provisional = True)
    chart.new_linefill(chart.new_line(1, 2.0, 5, 3.0), chart.new_line(1, 1.0, 5, 2.0), "red")
    chart.line(ohlcv.close, offset = 5)
    chart.hline(3)
    chart.divline(1, 1.0, 5, 2.0)
    chart.set_y_range(1, 2)
    chart.candles(ohlcv.open, ohlcv.high, ohlcv.low, ohlcv.close, wick = "gray")
    chart.background(ta.where(ohlcv.close > ohlcv.open, "#12345678", None))
    chart.bar_color(["red" if i % 2 else None for i in range(len(ohlcv))])
    chart.shape(ohlcv.close > ohlcv.open, "labelup", text = "Buy")
    print("log")
"""
SOURCES = [*(stock.source(name) for name in stock.NAMES), DRAWING]
VALUES: list[Any] = [
    *(None, True, -1, 0, 7, 1 << 22, 1 << 63, 10**400, 1e308, -0.0, 0.5, "", "\ud800", "\x00"),
    *("a" * 5000, "auto", "red", "dot", "line", [], {}, [[]], [["a"], 0], ["red", 400], [None, 4]),
    *(["red", 1 << 22], [{}, 4], [[[]], 2], [2, 1], {"x": 0}, {"n": 0, "bar": 10**30}),
]
FIELDS = "x y kind color values a points dots title label bar ahead id __class__".split()


def read(document: Any, columns: list[wire.Column], bars: int = BARS) -> script.Result:
    reader = partial(answers.read_result, bars=bars)
    return answers.read_answer(reader, Answered(document, columns), "run")


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a document: what holds it, and under which name or number."""
    names = list(value) if isinstance(value, dict) else range(len(value))
    for name in names:
        yield value, name
        if isinstance(value[name], dict | list):
            yield from places(value[name])


def mutated(chance: random.Random, answer: Any, columns: list[wire.Column]) -> bytes:
    document, columns = copy.deepcopy(answer), list(columns)
    for _ in range(chance.choice((1, 1, 2, 4))):
        holder, name = chance.choice(list(places(document)))
        way = chance.randrange(6)
        if way == 0 and isinstance(holder, dict):
            del holder[name]
        elif way == 1 and isinstance(holder, dict):
            holder[chance.choice(FIELDS)] = copy.deepcopy(chance.choice(VALUES))
        elif way == 2 and isinstance(holder, list):
            holder.extend([holder[name]] * chance.choice((1, 600, 5000)))
        elif way == 3:
            one, other = (chance.randrange(len(columns)) for _ in range(2))
            columns[one] = columns[other][: chance.choice((None, 0, 1, -1))]
        else:
            holder[name] = copy.deepcopy(chance.choice(VALUES))
    packet = bytearray(b"".join(wire.encode(document, columns)))
    for _ in range(chance.choice((0, 0, 0, 1, 20))):
        packet[chance.randrange(len(packet))] = chance.randrange(256)
    return bytes(packet)


def test_whatever_a_run_leaves_is_a_result_or_a_structured_error() -> None:
    bars = dry_run_bars(400)
    answers = []
    for source in SOURCES:
        columns: list[wire.Column] = []
        result = script.execute(script.load(source), bars)
        scene = packing.pack_scene(result.scene, columns)
        answer = {"scene": scene, "steps": result.steps, "log": result.log}
        answers.append((json.loads(json.dumps(answer)), columns))
        assert read(*answers[-1], bars=400).scene.to_json() == result.scene.to_json()
    chance, passed = random.Random(20_261_115), 0
    for _ in range(300):
        packet = mutated(chance, *chance.choice(answers))
        try:
            found = read(*wire.decode(packet), bars=400)
        except (WireError, ScriptError):
            continue
        passed += 1
        json.dumps(found.scene.to_json())
    assert 0 < passed < 150


@in_one_test("half", ["\\ud800", "\\uDfff", "\\udc00\\ud800", "\\ud83d"])
def test_half_of_a_surrogate_pair_is_refused_in_every_text(half: str) -> None:
    """In a label, in a log, in an error, in a name: a child writes JSON, and this is none of it."""
    for document in ('{"log": ["%s"]}', '{"error": {"message": "%s"}}', '{"%s": 1}', '["%s"]'):
        text = (document % half).join(("[", ", []]")).encode()
        with pytest.raises(WireError, match="half of a surrogate pair"):
            wire.read(text, b"")


ROUTES = [
    '{"log": ["%s"], "steps": 1, "scene": {}}',
    '{"error": {"kind": "value", "message": "%s", "hint": ""}}',
    '{"error": {"kind": "value", "message": "", "hint": "%s"}}',
    '{"errors": [{"kind": "value", "message": "%s", "hint": ""}]}',
    '{"warnings": [{"kind": "lookahead", "message": "%s", "hint": ""}]}',
    '{"warnings": [{"kind": "lookahead", "message": "", "hint": "%s"}]}',
    '{"scene": {"labels": [["%s"]]}}',
    '{"meta": {"title": "%s"}}',
    '{"internal": "%s"}',
]


@in_one_test("route", ROUTES)
def test_an_answer_that_is_not_plain_utf_8_is_refused_by_every_route(route: str) -> None:
    text = f"[{route % chr(0xD800)}, []]"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32-le"):
        with pytest.raises(WireError, match="cannot be read"):
            wire.read(text.encode(encoding, "surrogatepass"), b"")
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-32"):
        with pytest.raises(WireError, match="cannot be read"):
            wire.read(f"[{route % 'x'}, []]".encode(encoding), b"")


@in_one_test(("name", "value"), [("line", 10**30), ("column", 10**30), ("line", 0)])
def test_a_problem_of_a_child_lies_within_a_source(name: str, value: int) -> None:
    problem = {"step": "check", "kind": "lookahead", "line": 1, "column": 1}
    problem |= {"message": "m", "hint": "h", name: value}
    inspected = {"meta": {"title": "T"}, "params": [], "warnings": [problem]}
    columns = [np.zeros(1, np.uint8)]
    with pytest.raises(ValueError, match=name if value else "not a line"):
        answers.read_inspected(inspected, columns)
    inspected["warnings"] = [problem | {name: 1}]
    assert answers.read_inspected(inspected, columns).warnings
    with pytest.raises(ScriptError, match="no usable answer"):
        answers.read_answer(lambda *_: None, Answered({"error": problem}, []), "run")


def test_whole_surrogate_pairs_and_escapes_that_only_look_like_one_are_texts() -> None:
    for text in ("🚀", "\\ud800", "é 🚀 \\udfff"):
        packet = b"".join(wire.encode({"label": text}))
        assert wire.decode(packet) == ({"label": text}, [])
