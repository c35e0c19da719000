"""The replies of the TradingView MCP server's four Pine tools: written from a snapshot, and read.

`write_reply` gives what a tool would say about a snapshot; with `verbose` it adds what the stock
server loses. `read_replies` makes a snapshot of what the tools say, and declares what they tell.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chartpact.checks import is_number, is_whole
from chartpact.clock.errors import ClockError
from chartpact.clock.timeframe import Timeframe
from chartpact.snapshot import Snapshot, SnapshotError, Study, parse_json
from chartpact.sources.errors import SourceFailed
from chartpact.sources.tradingview.decode import (
    EXTENDS,
    LINE_STYLES,
    YLOCS,
    StudyColors,
    is_name,
    is_plain,
)

Json = Any
Record = Mapping[str, Json]
TOOLS = {
    "labels": "data_get_pine_labels",
    "lines": "data_get_pine_lines",
    "boxes": "data_get_pine_boxes",
    "cells": "data_get_pine_tables",
}
STATE_TOOL = "chart_get_state"
DEFAULT_LABELS = 50
DECIMALS = 8
MOST_CHARACTERS = 16 * 1024 * 1024  # of one reply
SHOWN_CHARACTERS = 4096  # of a text in a reply of ours, which a model reads


# ----------------------------------------------------------------------------------------- writing


def write_reply(
    snapshot: Snapshot,
    channel: str,
    study_filter: str = "",
    verbose: bool = False,
    max_labels: float = 0,
    decimals: int = DECIMALS,
) -> dict[str, Json]:
    """What the tool of a channel says about a snapshot.

    A filter is a part of the study's name. Of labels the last `max_labels` are shown, 50 where none
    are asked for. With `verbose`, each record also has what the stock server leaves out.
    """
    studies = []
    for study in snapshot.studies:
        records = study.records(channel)
        if study_filter not in study.name or not records:
            continue
        match channel:
            case "labels":
                body = _labels(records, verbose, int(max_labels) or DEFAULT_LABELS, decimals)
            case "lines":
                body = _lines(records, verbose, decimals)
            case "boxes":
                body = _boxes(records, verbose, decimals)
            case _:
                body = {"tables": list(_tables(study, records, verbose))}
        studies.append({"name": study.name, **body})
    return {"success": True, "study_count": len(studies), "studies": studies}


def _labels(records: Sequence[Record], verbose: bool, most: int, decimals: int) -> dict[str, Json]:
    labels = []
    for record in records:
        text, price = _cut(record.get("text") or ""), _round_price(record.get("y"), decimals)
        if not verbose:
            if text or price is not None:
                labels.append({"text": text, "price": price})
            continue
        label = {"id": record.get("id"), "text": text, "price": price, "x": _order(record, "x")}
        label |= _codes(record, yloc=("yloc", YLOCS))
        label |= _present(record, size="size")
        label |= _numbers(record, textColor="text_color", color="color")
        label |= _present(record, style="style", textAlign="text_align", tooltip="tooltip")
        labels.append(label | _beyond(record, {"x": ""}, "text_color", "color"))
    shown = labels[-most:] if len(labels) > most else labels
    return {"total_labels": len(records), "showing": len(shown), "labels": shown}


def _lines(records: Sequence[Record], verbose: bool, decimals: int) -> dict[str, Json]:
    levels = {
        _round_price(record["y1"], decimals)
        for record in records
        if is_number(record.get("y1")) and record["y1"] == record.get("y2")
    }
    body: dict[str, Json] = {
        "total_lines": len(records),
        "horizontal_levels": sorted(levels, reverse=True),
    }
    if verbose:
        body["all_lines"] = [
            {
                "id": record.get("id"),
                "y1": _round_price(record.get("y1"), decimals),
                "y2": _round_price(record.get("y2"), decimals),
                "x1": _order(record, "x1"),
                "x2": _order(record, "x2"),
                "horizontal": record.get("y1") == record.get("y2"),
                **_codes(record, style=("style", LINE_STYLES)),
                **_present(record, width="width"),
                **_numbers(record, color="color"),
                **_present(record, extend="extend"),
                **_beyond(record, {"x1": "1", "x2": "2"}, "color"),
            }
            for record in records
        ]
    return body


def _boxes(records: Sequence[Record], verbose: bool, decimals: int) -> dict[str, Json]:
    edges = [_edges(record, decimals) for record in records]
    zones = sorted({pair for pair in edges if None not in pair}, reverse=True)
    body: dict[str, Json] = {
        "total_boxes": len(records),
        "zones": [{"high": high, "low": low} for high, low in zones],
    }
    if verbose:
        body["all_boxes"] = [
            {
                "id": record.get("id"),
                "high": high,
                "low": low,
                "x1": _order(record, "left"),
                "x2": _order(record, "right"),
                **_numbers(record, borderColor="border_color", bgColor="bgcolor"),
                **_present(record, top="top", bottom="bottom", text="text", extend="extend"),
                **_present(record, borderStyle="border_style", borderWidth="border_width"),
                **_beyond(
                    record, {"left": "1", "right": "2"}, "border_color", "bgcolor", "text_color"
                ),
            }
            for record, (high, low) in zip(records, edges, strict=True)
        ]
    return body


def _edges(record: Record, decimals: int) -> tuple[Json, Json]:
    top, bottom = (_round_price(record.get(name), decimals) for name in ("top", "bottom"))
    return (None, None) if top is None or bottom is None else (max(top, bottom), min(top, bottom))


def _tables(study: Study, records: Sequence[Record], verbose: bool) -> Iterator[dict[str, Json]]:
    frames = {frame.get("id"): frame for frame in study.data.get("tables") or ()}
    tables: dict[Json, dict[Json, dict[Json, Record]]] = {}
    for cell in records:
        row = tables.setdefault(cell.get("table"), {}).setdefault(cell.get("row"), {})
        row[cell.get("column")] = cell
    for id_, rows in sorted(tables.items(), key=lambda item: _rank(item[0])):
        ordered = [
            [row[column] for column in sorted(row, key=_rank)]
            for _, row in sorted(rows.items(), key=lambda item: _rank(item[0]))
        ]
        lines = [" | ".join(filter(None, map(_text, row))) for row in ordered]
        table: dict[str, Json] = {"rows": list(filter(None, lines))}
        if verbose:
            frame = frames.get(id_, {})
            table |= {"id": id_}
            table |= _present(frame, position="position", row_count="rows", column_count="columns")
            table["cells"] = [
                _present(cell, row="row", column="column", text="text", size="size")
                | _present(cell, tooltip="tooltip")
                | _hex(cell, "bgcolor", "text_color")
                for row in ordered
                for cell in row
            ]
        yield table


def _text(cell: Record) -> str:
    return str(_cut(cell.get("text") or ""))


def _cut(value: Json) -> Json:
    """A value as a reply shows it: of a very long text the beginning and an ellipsis."""
    long = isinstance(value, str) and len(value) > SHOWN_CHARACTERS
    return f"{value[:SHOWN_CHARACTERS]}…" if long else value


def _rank(number: Json) -> float:
    return number if is_number(number) else math.inf


def _round_price(price: Json, decimals: int) -> float | None:
    """A price as JavaScript rounds it: halves up, and whole numbers without a fraction."""
    if not is_number(price):
        return None
    scale: float = 10.0**decimals
    scaled = price * scale + 0.5
    if not math.isfinite(scaled):
        return float(price)
    rounded = math.floor(scaled) / scale
    return int(rounded) if rounded == int(rounded) else rounded


def _order(record: Record, name: str) -> int | None:
    """The sort key of an object within its study: the number of its bar."""
    anchor = record.get(name)
    order = anchor.get("n") if isinstance(anchor, Mapping) else None
    return order if is_whole(order) else None


def _present(record: Record, **names: str) -> dict[str, Json]:
    return {key: _cut(record[name]) for key, name in names.items() if name in record}


def _codes(record: Record, **names: tuple[str, Mapping[str, str]]) -> dict[str, Json]:
    """Names as the wire's codes."""
    fields = {}
    for key, (name, codes) in names.items():
        if name in record:
            fields[key] = next((c for c, n in codes.items() if n == record[name]), record[name])
    return fields


def _numbers(record: Record, **names: str) -> dict[str, Json]:
    """Colours as packed numbers."""
    return {key: pack(record[name]) for key, name in names.items() if name in record}


def pack(color: Json) -> int | None:
    """The number 0xAABBGGRR of a colour.

    >>> pack("#ff5252ff") == 0xFF5252FF, pack(None)
    (True, None)
    """
    if not isinstance(color, str) or len(color) != 9:
        return None
    red, green, blue, alpha = (int(color[i : i + 2], 16) for i in (1, 3, 5, 7))
    return alpha << 24 | blue << 16 | green << 8 | red


def _hex(record: Record, *names: str) -> dict[str, Json]:
    return {name: record[name] for name in names if name in record}


_HEX_KEYS = {
    "color": "colorHex",
    "text_color": "textColorHex",
    "border_color": "borderColorHex",
    "bgcolor": "bgColorHex",
}


def _beyond(record: Record, anchors: Mapping[str, str], *colors: str) -> dict[str, Json]:
    """Fields that the stock server does not give: bars, times, readable colours and the overlay."""
    fields: dict[str, Json] = {}
    for name, suffix in anchors.items():
        anchor = record.get(name)
        if isinstance(anchor, Mapping):
            fields |= {
                f"{part}{suffix}": anchor[part] for part in ("bar", "time") if part in anchor
            }
    fields |= {_HEX_KEYS[name]: record[name] for name in colors if name in record}
    return fields | _present(record, forceOverlay="force_overlay")


# ----------------------------------------------------------------------------------------- reading

FENCE = ("UNTRUSTED_CHART_START\n", "\nUNTRUSTED_CHART_END")
# What the tools can tell in their verbose mode. Nothing of a cell can be told: rows are one text.
FIELDS = {
    "labels": ["id", "text", "y", "x", "yloc", "size", "text_color", "color"],
    "lines": ["id", "x1", "y1", "x2", "y2", "style", "width", "color"],
    "boxes": ["id", "left", "right", "top", "bottom", "border_color", "bgcolor"],
    "cells": [],
}
LISTS = {"labels": "labels", "lines": "all_lines", "boxes": "all_boxes"}
TOTALS = {"labels": "total_labels", "lines": "total_lines", "boxes": "total_boxes"}
KEYS: Mapping[str, Mapping[str, str]] = {
    "labels": {"id": "id", "text": "text", "y": "price", "x": "x", "yloc": "yloc", "size": "size",
               "text_color": "textColor", "color": "color"},
    "lines": {"id": "id", "x1": "x1", "y1": "y1", "x2": "x2", "y2": "y2", "style": "style",
              "width": "width", "color": "color"},
    "boxes": {"id": "id", "left": "x1", "right": "x2", "top": "high", "bottom": "low",
              "border_color": "borderColor", "bgcolor": "bgColor"},
}  # fmt: skip
PRICES = ("price", "y1", "y2", "high", "low")
COUNTS = ("study_count", "count")
_CODES = {"yloc": YLOCS, "style": LINE_STYLES, "extend": EXTENDS}


def unfence(value: Json) -> Json:
    """The value without the fences that one server puts around every text of the chart."""
    if isinstance(value, str):
        start, end = FENCE
        fenced = value.startswith(start) and value.endswith(end) and len(value) >= len(start + end)
        return value[len(start) : len(value) - len(end)] if fenced else value
    if isinstance(value, list):
        return [unfence(item) for item in value]
    return {key: unfence(item) for key, item in value.items()} if isinstance(value, dict) else value


def parse_reply(tool: str, text: str, failed: bool = False) -> dict[str, Json]:
    """The data of a tool's reply, or `SourceFailed` with what it says is wrong."""
    if len(text) > MOST_CHARACTERS:
        raise SourceFailed(f"{tool}: the reply is too large")
    try:
        reply = parse_json(text)
    except SnapshotError:
        raise SourceFailed(f"{tool}: {text.strip() or 'the reply is empty'!s:.300}") from None
    if not isinstance(reply, dict):
        raise SourceFailed(f"{tool}: the reply is no object")
    if failed or reply.get("success") is False or "error" in reply:
        reason = unfence(reply.get("error", "it failed and does not say why"))
        raise SourceFailed(f"{tool}: {reason!s:.300}")
    return {key: unfence(value) for key, value in reply.items()}


def read_studies(tool: str, reply: Mapping[str, Json]) -> list[dict[str, Json]]:
    """The studies of a reply, whatever their count is called."""
    studies = reply.get("studies")
    if studies is None and any(reply.get(key) == 0 for key in COUNTS):
        studies = []
    named = isinstance(studies, list) and all(
        isinstance(study, dict) and is_name(study.get("name")) for study in studies
    )
    if not named:
        raise SourceFailed(f"{tool}: the reply has no list of studies with names")
    assert isinstance(studies, list)
    if any(key in reply and reply[key] != len(studies) for key in COUNTS):
        raise SourceFailed(f"{tool}: the reply counts other studies than it lists")
    return studies


def read_replies(
    state: Mapping[str, Json],
    replies: Mapping[str, Mapping[str, Json]],
    name: str,
    as_of: int,
    study: str | None = None,
) -> Snapshot:
    """The snapshot of the four tools' verbose replies, and of the chart's state.

    With `study`, the one study of exactly that name: a filter finds others too.
    """
    drawn = {channel: read_studies(TOOLS[channel], reply) for channel, reply in replies.items()}
    listed = state.get("studies")
    present = [
        item["name"]
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, dict) and isinstance(item.get("name"), str)
    ]
    counts: Counter[str] = Counter(present)
    for studies in drawn.values():
        counts |= Counter(item["name"] for item in studies)
    prices: list[Json] = []
    studies = [
        _study(title, nth, drawn, prices)
        for title, count in counts.items()
        if study is None or title == study
        for nth in range(count)
    ]
    source = {
        "name": name,
        "fields": FIELDS,
        "tools": TOOLS,
        "price_step": price_step(prices),
    }
    try:
        timeframe = str(Timeframe.parse(state.get("resolution", "")))
    except ClockError:
        timeframe = state.get("resolution", "")
    chart = {"symbol": state.get("symbol"), "timeframe": timeframe, "as_of": as_of}
    try:
        return Snapshot({"schema": 1, "chart": chart, "source": source, "studies": studies})
    except SnapshotError as error:
        raise SourceFailed(f"the replies make no sense: {error!s:.300}") from None


def price_step(prices: Sequence[Json]) -> float:
    """The step prices are rounded to, inferred from the prices.

    Two decimals are the least precise server's. More in one price show a more precise one.

    >>> price_step([1.18, 21500.25]), price_step([1.17732]), price_step([1.1773212])
    (0.01, 1e-05, 1e-08)
    """
    fractions = (repr(price).partition(".")[2] for price in prices if is_number(price))
    digits = max(map(len, fractions), default=0)
    return 0.01 if digits <= 2 else 1e-5 if digits <= 5 else 1e-8


def _study(
    title: str, nth: int, drawn: Mapping[str, list[dict[str, Json]]], prices: list[Json]
) -> dict[str, Json]:
    """The nth study of a name; a channel in which the tool lists nothing is empty."""
    study: dict[str, Json] = {"name": title}
    entries = {
        channel: [item for item in studies if item["name"] == title][nth : nth + 1]
        for channel, studies in drawn.items()
        if channel in KEYS
    }
    raw = {channel: _records_in_reply(channel, studies) for channel, studies in entries.items()}
    colors = StudyColors({}, _colors(raw))
    fields, truncated = {"cells": FIELDS["cells"]}, []
    for channel, records in raw.items():
        study[channel] = decoded = [_record(channel, record, colors) for record in records]
        prices += (record[key] for record in records for key in PRICES if key in record)
        fields[channel] = [
            field for field in FIELDS[channel] if all(field in record for record in decoded)
        ]
        total = entries[channel][0].get(TOTALS[channel]) if entries[channel] else 0
        if total != len(records):
            truncated.append(channel)
    return {**study, "fields": fields, "truncated": truncated}


def _records_in_reply(channel: str, studies: list[dict[str, Json]]) -> list[Record]:
    """The records of a study in a reply; where it draws nothing the list may be null."""
    if not studies:
        return []
    records = studies[0].get(LISTS[channel])
    if records is None and not studies[0].get(TOTALS[channel]):
        return []
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        message = f"the reply has no {LISTS[channel]}; is it verbose?"
        raise SourceFailed(f"{TOOLS[channel]}: {message}")
    return records


def _colors(raw: Mapping[str, list[Record]]) -> Iterator[Json]:
    for channel, records in raw.items():
        keys = [key for field, key in KEYS[channel].items() if field.endswith("color")]
        yield from (record[key] for record in records for key in keys if key in record)


def _record(channel: str, raw: Record, colors: StudyColors) -> dict[str, Json]:
    record: dict[str, Json] = {}
    for field, key in KEYS[channel].items():
        if key not in raw or not is_plain(raw[key]):
            continue
        value = raw[key]
        if field.endswith("color"):
            if value is None or (value := colors.decode(value)) is not None:
                record[field] = value
        elif field in ("x", "x1", "x2", "left", "right"):
            record[field] = {"n": value}
        elif field in _CODES and isinstance(value, str):
            record[field] = _CODES[field].get(value, value)
        else:
            record[field] = value
    return record
