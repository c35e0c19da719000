"""The replies of the stock TradingView MCP server: read over stdio, and written from a snapshot."""

import json
import sys
from contextlib import closing
from pathlib import Path

import pytest

import chartpact as cp
from chartpact.cli import main
from chartpact.sources.errors import SourceFailed
from chartpact.sources.tradingview.mcp_client import McpSource
from chartpact.sources.tradingview.stock import (
    FENCE,
    LISTS,
    TOOLS,
    parse_reply,
    read_replies,
    write_reply,
)

SERVER = Path(__file__).with_name("stock_server.py")
STATE = {"success": True, "symbol": "CME_MINI:NQ1!", "resolution": "5", "chartType": 1,
         "studies": [{"id": "a", "name": "Zones"}, {"id": "b", "name": "Volume"}]}  # fmt: skip
ANCHOR = {"n": 5, "bar": 5, "time": 1_767_367_500_000}


def drawn(**channels):
    """A snapshot of our own with one study."""
    study = {"name": "Zones", "labels": [], "lines": [], "boxes": [], "cells": [], **channels}
    chart = {"symbol": "NQ", "timeframe": "5m"}
    source = {"name": "test"}
    return cp.Snapshot({"schema": 1, "chart": chart, "source": source, "studies": [study]})


LABEL = {"id": 1, "x": ANCHOR, "y": 21_500.125, "yloc": "price", "text": "PDH", "size": "normal",
         "style": "label_up", "color": "#4caf50ff", "text_color": None}  # fmt: skip
LINE = {"id": 1, "x1": ANCHOR, "y1": 1.17732, "x2": {**ANCHOR, "n": 9}, "y2": 1.17732,
        "extend": "right", "style": "dashed", "width": 2, "color": "#ff5252ff"}  # fmt: skip
BOX = {"id": 4, "left": ANCHOR, "top": 99, "right": {**ANCHOR, "n": 9}, "bottom": 130.5,
       "border_color": "#ff5252ff", "bgcolor": None, "text": "OB"}  # fmt: skip
CELLS = [
    {"id": 1, "table": 2, "row": 0, "column": 1, "text": "BULL", "bgcolor": "#4caf50ff"},
    {"id": 2, "table": 2, "row": 0, "column": 0, "text": "D", "bgcolor": None},
    {"id": 3, "table": 2, "row": 1, "column": 0, "text": "", "bgcolor": "#ff5252ff"},
    {"id": 4, "table": 1, "row": 0, "column": 0, "text": "", "bgcolor": "#ff5252ff"},
]
PICTURE = drawn(labels=[LABEL], lines=[LINE], boxes=[BOX], cells=CELLS)


def verbose(snapshot=PICTURE, decimals=2):
    """What the tools say about a snapshot, by channel."""
    return {
        channel: write_reply(snapshot, channel, verbose=True, decimals=decimals)
        for channel in TOOLS
    }


def replies(**changed):
    """The recording of a server: a list of replies for each tool."""
    recorded = {TOOLS[channel]: [reply] for channel, reply in verbose().items()}
    return {"chart_get_state": [STATE], **recorded, **changed}


@pytest.fixture
def server(tmp_path):
    """The command of a server that replays replies."""

    def command(recorded):
        path = tmp_path / "replies.json"
        path.write_text(json.dumps(recorded))
        return f"{sys.executable} {SERVER} {path}"

    return command


def test_the_tools_of_a_server_over_stdio_make_one_snapshot(server, tmp_path):
    moved = {**STATE, "symbol": "ES1!"}
    states = [STATE, STATE, STATE, moved]  # the last one is what the chart shows from then on
    with closing(McpSource(server(replies(chart_get_state=states)))) as source:
        snapshot = source.read()
        with pytest.raises(SourceFailed, match="the chart changed while it was read"):
            source.read()
        assert source.read().chart["symbol"] == "ES1!"
    assert dict(snapshot.chart)["symbol"] == "CME_MINI:NQ1!"
    assert snapshot.chart["timeframe"] == "5m"
    zones, volume = snapshot.studies
    assert (zones.name, volume.name) == ("Zones", "Volume")
    [label] = zones.records("labels")
    assert label == {"id": 1, "text": "PDH", "y": 21_500.13, "x": {"n": 5}, "yloc": "price",
                     "size": "normal", "text_color": None, "color": "#4caf50ff"}  # fmt: skip
    [line] = zones.records("lines")
    assert (line["style"], line["width"], line["color"]) == ("dashed", 2, "#ff5252ff")
    [box] = zones.records("boxes")
    assert (box["top"], box["bottom"], box["bgcolor"]) == (130.5, 99, None)
    assert zones.records("cells") is None
    assert volume.records("labels") == []
    assert snapshot.source["price_step"] == 0.01
    assert not snapshot.delivers("labels", "style", zones)
    assert not snapshot.delivers("lines", "x1.bar", zones)
    asked = [json.loads(row) for row in (tmp_path / "replies.asked").read_text().splitlines()]
    assert asked[:6] == [
        ["chart_get_state", {}],
        ["data_get_pine_labels", {"verbose": True, "max_labels": 100_000}],
        ["data_get_pine_lines", {"verbose": True}],
        ["data_get_pine_boxes", {"verbose": True}],
        ["data_get_pine_tables", {}],
        ["chart_get_state", {}],
    ]


def test_a_filter_finds_parts_of_names_and_the_study_is_taken_by_its_whole_name():
    other = verbose()
    for reply in other.values():
        reply["studies"].insert(0, {**reply["studies"][0], "name": "Zones Pro"})
        reply["study_count"] += 1
    snapshot = read_replies(STATE, other, "stock", 0, "Zones")
    assert [study.name for study in snapshot.studies] == ["Zones"]


def test_two_studies_of_one_name_stay_two():
    state = {**STATE, "studies": [{"id": "a", "name": "Zones"}, {"id": "b", "name": "Zones"}]}
    assert len(read_replies(state, verbose(), "stock", 0).studies) == 2


def fenced(value):
    if isinstance(value, str):
        return f"{FENCE[0]}{value}{FENCE[1]}"
    if isinstance(value, list):
        return list(map(fenced, value))
    return {k: fenced(v) for k, v in value.items()} if isinstance(value, dict) else value


def renamed(reply):
    return {("count" if key == "study_count" else key): value for key, value in reply.items()}


def with_nulls(reply):
    """Of a study without lines, as one port says it."""
    empty = {"name": "Volume", "total_lines": 0, "all_lines": None}
    return {**reply, "study_count": 2, "studies": [*reply["studies"], empty]}


def with_times(reply):
    """As a fork says it that resolves places, and waits for the chart to settle."""
    more = {"time": 1, "time1": 1, "time2": 2, "time_unix": 1, "bar": 5, "unresolved": True}
    studies = [
        {key: [{**record, **more} if isinstance(record, dict) else record for record in value]
         if isinstance(value, list) and key in LISTS.values() else value
         for key, value in study.items()}
        for study in reply["studies"]
    ]  # fmt: skip
    return {**reply, "studies": studies, "settled": True, "wait": 250, "entity_id": "s1"}


def from_go(reply):
    """As a port says it: lists that are empty are null, and tables come in any order."""
    studies = [
        {key: None if value == [] else value[::-1] if key == "tables" else value
         for key, value in study.items()}
        for study in reply["studies"]
    ]  # fmt: skip
    return {**reply, "studies": studies}


@pytest.mark.parametrize("variant", [fenced, renamed, with_nulls, with_times, from_go])
def test_every_known_form_of_a_reply_gives_the_same_snapshot(variant):
    plain = verbose()
    varied = plain | {channel: variant(plain[channel]) for channel in plain}
    if variant is with_nulls:
        varied = plain | {"lines": with_nulls(plain["lines"])}
    checked = {
        channel: parse_reply(TOOLS[channel], json.dumps(reply)) for channel, reply in varied.items()
    }
    expected = read_replies(STATE, plain, "stock", 0).to_json()
    assert read_replies(STATE, checked, "stock", 0).to_json() == expected


@pytest.mark.needs_shared
def test_every_captured_reply_is_read_or_names_its_tool(shared):
    read, failed = 0, []
    for path in sorted((shared / "captures").glob("*.json")):
        capture = json.loads(path.read_text())
        tool, result = capture["tool"], capture["result"]
        text = "".join(part["text"] for part in result["content"])
        try:
            reply = parse_reply(tool, text, bool(result.get("isError")))
        except SourceFailed as error:
            assert result.get("isError"), path.name
            assert str(error).startswith(f"{tool}: ")
            failed.append(str(error))
            continue
        [channel] = [channel for channel, name in TOOLS.items() if name == tool]
        none = {"success": True, "study_count": 0, "studies": []}
        if channel in LISTS and not capture["arguments"].get("verbose") and reply["studies"]:
            if channel != "labels":  # only what is verbose lists every object
                with pytest.raises(SourceFailed, match="is it verbose"):
                    read_replies(STATE, {**dict.fromkeys(TOOLS, none), channel: reply}, "stock", 0)
            continue
        snapshot = read_replies(STATE, {**dict.fromkeys(TOOLS, none), channel: reply}, "stock", 0)
        if channel in LISTS:
            told = sum(len(study.records(channel)) for study in snapshot.studies)
            assert told == sum(len(study[LISTS[channel]]) for study in reply["studies"])
        if capture["scenario"] == "fx_precision":
            assert snapshot.source["price_step"] == 0.01
        read += 1
    assert read > 20
    assert sum("JS evaluation error" in error for error in failed) == 4
    assert any("No TradingView chart target found" in error for error in failed)
    assert sum("Input validation error" in error for error in failed) == 2


def test_the_rounding_of_prices_is_told_by_the_prices():
    for decimals, step in ((2, 0.01), (5, 1e-5), (8, 1e-5)):
        told = verbose(decimals=decimals)
        assert read_replies(STATE, told, "stock", 0).source["price_step"] == step


def test_records_that_were_left_out_are_told():
    silent = {**LABEL, "id": 2, "text": "", "y": None}
    told = verbose(drawn(labels=[LABEL, silent]))
    told["labels"]["studies"][0]["labels"].pop()  # the stock server drops it, and counts it
    [zones, _] = read_replies(STATE, told, "stock", 0).studies
    assert zones.truncated == ["labels"]


@pytest.mark.parametrize(
    ("channel", "reply", "said"),
    [
        (
            "labels",
            '{"success": false, "error": "JS evaluation error: TypeError: …"}',
            "data_get_pine_labels: JS evaluation error: TypeError: …",
        ),
        (
            "lines",
            "MCP error -32602: Input validation error: Invalid arguments",
            "data_get_pine_lines: MCP error -32602: Input validation error: Invalid arguments",
        ),
        (
            "lines",
            '{"success": false, "error": "no chart", "code": "NO_TARGET", "hint": "open one"}',
            "data_get_pine_lines: no chart",
        ),
        ("lines", "", "data_get_pine_lines: the reply is empty"),
        ("lines", "[]", "data_get_pine_lines: the reply is no object"),
        (
            "boxes",
            '{"success": true, "study_count": 1, "studies": [{"name": "Zones", "total_boxes": 1}]}',
            "data_get_pine_boxes: the reply has no all_boxes; is it verbose?",
        ),
        (
            "cells",
            '{"success": true, "study_count": 3, "studies": []}',
            "data_get_pine_tables: the reply counts other studies than it lists",
        ),
        (
            "cells",
            '{"success": true}',
            "data_get_pine_tables: the reply has no list of studies with names",
        ),
    ],
)
def test_a_reply_that_cannot_be_read_names_its_tool(channel, reply, said):
    with pytest.raises(SourceFailed) as wrong:
        told = {**verbose(), channel: parse_reply(TOOLS[channel], reply)}
        read_replies(STATE, told, "stock", 0)
    assert str(wrong.value) == said


def test_text_of_a_chart_does_not_reach_the_terminal_as_it_is(server, capsys):
    evil = "a\x9b2J\u202e\x1b[2J\x7f"
    told = verbose(drawn(labels=[{**LABEL, "text": evil}]))
    assert (
        main(["snapshot", "--tv-mcp", server(replies(data_get_pine_labels=[told["labels"]]))]) == 0
    )
    out = capsys.readouterr().out
    assert not {"\x9b", "\u202e", "\x1b", "\x7f"} & {*out}
    assert json.loads(out)["studies"][0]["labels"][0]["text"] == evil


WATCHED = """\
contract: levels
version: 1.0.0
identity: {pine_title: Zones}
channels: {labels: signal, lines: cosmetic, boxes: cosmetic}
timing: close
elements:
  level: {from: labels, where: text == 'PDH', meaning: the high of the day before}
states:
  light:
    observe: {on: "len([l for l in level]) > 0"}
    rows: {OFF: {when: {on: false}}, ON: {when: {on: true}}}
    initial: ["OFF", "ON"]
    transitions: {OFF: ["ON"]}
output: {light: light.state}
"""


def test_the_stock_server_is_watched_where_a_contract_needs_no_times(
    server, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("CHARTPACT_DB", f"sqlite:///{tmp_path}/library.db")
    (tmp_path / "levels.yaml").write_text(WATCHED)
    (tmp_path / "ticks.yaml").write_text(WATCHED.replace("timing: close\n", ""))
    arguments = ["--tv-mcp", server(replies()), "--reads", "1", "--json"]
    assert main(["watch", str(tmp_path / "levels.yaml"), *arguments]) == 0
    started = json.loads(capsys.readouterr().out)
    assert (started["kind"], started["to"], started["last_time"]) == ("started", "ON", None)
    assert main(["watch", str(tmp_path / "ticks.yaml"), *arguments]) == 0
    refused = json.loads(capsys.readouterr().out)
    assert refused["type"] == "refused"
    assert "does not tell the time of the last bar" in refused["why"]


def test_a_server_that_fails_or_ends_is_source_unreachable(server, capsys):
    dies = server(replies(data_get_pine_lines=["die"]))
    assert main(["snapshot", "--tv-mcp", dies]) == 5
    assert "the MCP server does not answer" in capsys.readouterr().err


def test_a_command_that_is_not_there_is_source_unreachable(capsys):
    assert main(["snapshot", "--tv-mcp", "no-such-program server.js"]) == 5
    assert "no-such-program" in capsys.readouterr().err
    assert main(["snapshot", "--tv-mcp", "'"]) == 2


def test_a_contract_that_needs_what_the_tools_drop_names_tool_and_field(server, tmp_path, capsys):
    (tmp_path / "bias.yaml").write_text("""
contract: bias
version: 1.0.0
identity: {pine_title: Zones, study_filter: Zones}
channels: {cells: signal, labels: signal, lines: cosmetic, boxes: cosmetic}
encodings:
  side: {up: '#4caf50', none: none}
  look: {up: label_up, down: label_down}
elements:
  cell: {from: cells, count: 0.., reads: {side: side(bgcolor)}}
  mark: {from: labels, count: 0.., reads: {look: look(style)}}
output:
  sides: {from: cell, sort: row, give: {side: side}}
  looks: {from: mark, sort: text, give: {look: look}}
""")
    command = server(replies())
    assert main(["read", str(tmp_path / "bias.yaml"), "--tv-mcp", command, "--json"]) == 3
    violations = json.loads(capsys.readouterr().out)["violations"]
    assert {(item["kind"], item["field"]) for item in violations} == {
        ("unavailable", "cells.bgcolor"),
        ("unavailable", "cells.row"),
        ("unavailable", "labels.style"),
    }
    tools = {item["field"]: item["message"] for item in violations}
    assert "(data_get_pine_tables)" in tools["cells.bgcolor"]
    assert "(data_get_pine_labels)" in tools["labels.style"]


# ----------------------------------------------------------------------------------------- writing


def test_the_short_replies_have_the_shapes_of_the_stock_server():
    assert write_reply(PICTURE, "labels", decimals=2)["studies"] == [
        {
            "name": "Zones",
            "total_labels": 1,
            "showing": 1,
            "labels": [{"text": "PDH", "price": 21_500.13}],
        }
    ]
    assert write_reply(PICTURE, "lines")["studies"] == [
        {"name": "Zones", "total_lines": 1, "horizontal_levels": [1.17732]}
    ]
    assert write_reply(PICTURE, "boxes")["studies"] == [
        {"name": "Zones", "total_boxes": 1, "zones": [{"high": 130.5, "low": 99}]}
    ]
    assert write_reply(PICTURE, "cells") == {
        "success": True,
        "study_count": 1,
        "studies": [{"name": "Zones", "tables": [{"rows": []}, {"rows": ["D | BULL"]}]}],
    }


def test_the_long_replies_tell_what_the_stock_server_loses():
    [label] = write_reply(PICTURE, "labels", verbose=True)["studies"][0]["labels"]
    assert label["color"] == 0xFF50AF4C
    assert (label["colorHex"], label["style"]) == ("#4caf50ff", "label_up")
    assert (label["bar"], label["time"]) == (5, 1_767_367_500_000)
    [line] = write_reply(PICTURE, "lines", verbose=True)["studies"][0]["all_lines"]
    assert (line["extend"], line["style"]) == ("right", "dsh")
    _, table = write_reply(PICTURE, "cells", verbose=True)["studies"][0]["tables"]
    assert table["cells"][1] == {"row": 0, "column": 1, "text": "BULL", "bgcolor": "#4caf50ff"}
    assert table["cells"][2] == {"row": 1, "column": 0, "text": "", "bgcolor": "#ff5252ff"}


@pytest.mark.parametrize(
    ("asked", "shown"),
    [(0, "3..52"), (2, "51..52"), (100, "1..52"), (-3, "4..52"), (2.7, "51..52")],
)
def test_of_many_labels_the_last_ones_are_shown(asked, shown):
    many = drawn(labels=[{**LABEL, "id": i, "text": str(i)} for i in range(1, 53)])
    [study] = write_reply(many, "labels", max_labels=asked)["studies"]
    texts = [label["text"] for label in study["labels"]]
    assert (f"{texts[0]}..{texts[-1]}", study["total_labels"]) == (shown, 52)


def test_a_filter_is_a_part_of_the_name_in_its_case():
    assert write_reply(PICTURE, "lines", "Zon")["study_count"] == 1
    for filter_ in ("zones", "Zones Pro"):
        none = {"success": True, "study_count": 0, "studies": []}
        assert write_reply(PICTURE, "lines", filter_) == none


@pytest.mark.parametrize("command", ["true", "cat"])
def test_a_command_that_is_no_server_is_told_in_a_sentence(capsys, command):
    assert main(["read", "ema_trend", "--tv-mcp", command]) == 5
    told = capsys.readouterr().err
    assert told.startswith("chartpact read: the MCP server does not answer: ")
    assert told.count("\n") == 1
