"""The page's answer as a snapshot: codes as names, indexes as bars and times, numbers as colours.

What the page cannot tell is left out and not declared: a field that one record of a study lacks is
not delivered for that study's channel. Every value is still checked as that of any snapshot is.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from chartpact import palette
from chartpact.checks import is_number, is_text, is_whole
from chartpact.clock.errors import ClockError
from chartpact.clock.timeframe import DAY, Timeframe
from chartpact.snapshot import (
    CHANNELS,
    CHART,
    FIELDS,
    LONGEST_NAME,
    LONGEST_TEXT,
    Snapshot,
    SnapshotError,
    fault,
)
from chartpact.sources.errors import SourceFailed

Json = Any
MOST_STUDIES = 500
MOST_RECORDS = 50_000  # of one chart

LINE_STYLES = {
    "sol": "solid",
    "dsh": "dashed",
    "dot": "dotted",
    "al": "arrow_left",
    "ar": "arrow_right",
    "ab": "arrow_both",
}
EXTENDS = {"n": "none", "l": "left", "r": "right", "b": "both"}
YLOCS = {"pr": "price", "ab": "abovebar", "bl": "belowbar"}
LABEL_STYLES = {
    "n": "none",
    "xcr": "xcross",
    "cr": "cross",
    "tup": "triangleup",
    "tdn": "triangledown",
    "flg": "flag",
    "cir": "circle",
    "aup": "arrowup",
    "adn": "arrowdown",
    "lup": "label_up",
    "ldn": "label_down",
    "llf": "label_left",
    "lrg": "label_right",
    "llwlf": "label_lower_left",
    "llwrg": "label_lower_right",
    "luplf": "label_upper_left",
    "luprg": "label_upper_right",
    "lcn": "label_center",
    "sq": "square",
    "dia": "diamond",
}

# The fields of a snapshot's record, with the page's key for each.
LABEL = {"id": "id", "x": "x", "y": "y", "yloc": "yl", "text": "t", "style": "st", "color": "ci",
         "text_color": "tci", "size": "sz", "text_align": "ta", "tooltip": "tt"}  # fmt: skip
LINE = {"id": "id", "x1": "x1", "y1": "y1", "x2": "x2", "y2": "y2", "extend": "ex", "style": "st",
        "color": "ci", "width": "w"}  # fmt: skip
BOX = {"id": "id", "left": "x1", "top": "y1", "right": "x2", "bottom": "y2", "border_color": "c",
       "bgcolor": "bc", "border_style": "st", "border_width": "w", "extend": "ex", "text": "t",
       "text_color": "tc", "text_size": "ts", "text_halign": "tha", "text_valign": "tva",
       "text_wrap": "tw"}  # fmt: skip
CELL = {"id": "id", "table": "tid", "row": "row", "column": "col", "text": "t", "bgcolor": "bgc",
        "text_color": "tc", "size": "ts", "tooltip": "tt", "width": "w", "height": "h",
        "text_halign": "tha", "text_valign": "tva"}  # fmt: skip
TABLE = {"id": "id", "position": "pos", "rows": "rows", "columns": "cols", "bgcolor": "bgc",
         "frame_color": "frmc", "frame_width": "frmw", "border_color": "brdc",
         "border_width": "brdw"}  # fmt: skip

ANCHORS = {"x", "x1", "x2", "left", "right"}
COLORS = {"color", "text_color", "border_color", "bgcolor", "frame_color"}
CODES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "labels": {"yloc": YLOCS, "style": LABEL_STYLES},
    "lines": {"style": LINE_STYLES, "extend": EXTENDS},
    "boxes": {"border_style": LINE_STYLES, "extend": EXTENDS},
}
KEYS = {"labels": LABEL, "lines": LINE, "boxes": BOX, "cells": CELL, "tables": TABLE}
FAMILIES = {"labels": "dwglabels", "lines": "dwglines", "boxes": "dwgboxes",
            "cells": "dwgtablecells", "tables": "dwgtables", "linefills": "dwglinefills",
            "polylines": "dwgpolylines"}  # fmt: skip

PACKED = 1 << 24  # from here on a number has an opacity, and is a packed colour
LARGEST_PALETTE = 1 << 16


def decode(page: Mapping[str, Json], name: str) -> Snapshot:
    """The snapshot of what the page says."""
    studies = page.get("studies")
    if page.get("reader") != 1 or not isinstance(studies, list) or len(studies) > MOST_STUDIES:
        raise SourceFailed("the page's answer is not that of a chart")
    unread: list[dict[str, Json]] = []
    decoded = []
    left = MOST_RECORDS
    for data in studies:
        if not isinstance(data, Mapping):
            raise SourceFailed("the page's answer lists a study that is no object")
        study = _Study(data)
        left -= study.count
        if left < 0:
            raise SourceFailed("more is drawn on the chart than can be read at once")
        unread += study.unread
        if is_name(data.get("name")):
            decoded.append(study.decode())
        elif isinstance(data.get("name"), str):
            title = f"a title of at most {LONGEST_NAME} characters"
            unread.append({"study": _cut(data["name"]), "what": "study", "missing": title})
    source: dict[str, Json] = {"name": name}
    if unread:
        source["unread"] = unread
    try:
        return Snapshot({"schema": 1, "chart": _chart(page), "source": source, "studies": decoded})
    except SnapshotError as error:
        raise SourceFailed(f"the page's answer makes no sense: {error!s:.300}") from None


def is_plain(value: Json) -> bool:
    """Whether a value is null, true, false, a text or a finite number, and can be written.

    A text that is longer than Pine's longest is none: nothing that was cut is ever given out.
    """
    if isinstance(value, str):
        return len(value) <= LONGEST_TEXT and is_text(value)
    return value is None or isinstance(value, bool) or is_number(value)


def is_name(value: Json) -> bool:
    """Whether a value can be the title of a study, or of an input."""
    return isinstance(value, str) and len(value) <= LONGEST_NAME and is_text(value)


def _cut(value: Json) -> str:
    """The beginning of what the page says, as a text that can be written."""
    return f"{value!s:.200}".encode("utf-8", "replace").decode()


# ------------------------------------------------------------------------------------------- chart


def _chart(page: Mapping[str, Json]) -> dict[str, Json]:
    """The facts of the chart; those that the page does not tell, or tells wrongly, are left out."""
    info = page.get("info")
    info = info if isinstance(info, Mapping) else {}
    resolution = page.get("resolution")
    timeframe = _timeframe(resolution)
    facts = {
        "as_of": page.get("now"),
        "confirmed": _is_confirmed(page, timeframe, info),
        "first_time": page.get("first_time"),
        "last_bar": page.get("last"),
        "last_time": page.get("last_time"),
        "last_price": page.get("last_price"),
        "tick_size": _tick_size(info),
        "timezone": info.get("timezone"),
    }
    chart = {
        "symbol": page.get("symbol"),
        "timeframe": resolution if timeframe is None else str(timeframe),
    }
    for name, value in facts.items():
        if value is not None and (name not in CHART or fault(CHART[name], value) is None):
            chart[name] = value
    return chart


def _timeframe(resolution: Json) -> Timeframe | None:
    """The timeframe of TradingView's interval; ticks, ranges and the like have none."""
    try:
        return Timeframe.parse(resolution)
    except ClockError:
        return None


def _tick_size(info: Mapping[str, Json]) -> float | None:
    """The least step of a price; none where it depends on the price."""
    step: Json = info.get("minmov")
    scale: Json = info.get("pricescale")
    if info.get("variable_tick_size") or not is_number(step) or not is_number(scale):
        return None
    return step / scale if step > 0 and scale > 0 else None


def _is_confirmed(
    page: Mapping[str, Json], timeframe: Timeframe | None, info: Mapping[str, Json]
) -> bool | None:
    """Whether the last bar is over for sure: its whole length has passed, and the feed's delay.

    A bar may be shorter than its timeframe, as the last one of a session is, and never longer.
    """
    now: Json = page.get("now")
    opened: Json = page.get("last_time")
    delay: Json = info.get("delay")
    if timeframe is None or not is_whole(now) or not is_whole(opened):
        return None
    length = timeframe.count * 31 * DAY if timeframe.unit == "M" else timeframe.ms
    late = delay * 1000 if is_number(delay) and delay > 0 else 0
    return bool(now >= opened + length + late)


# ----------------------------------------------------------------------------------------- studies


class _Study:
    """One study of the page's answer while it is decoded."""

    def __init__(self, data: Mapping[str, Json]) -> None:
        self._data = data
        families, missing = data.get("families"), data.get("missing")
        self._families = families if isinstance(families, Mapping) else {}
        self._missing = missing if isinstance(missing, Mapping) else {}
        self._colors = StudyColors(data, self._raw_colors())
        indexes = data.get("indexes")
        self._indexes = indexes if isinstance(indexes, list) else None
        self.count = sum(len(records) for records in chain.from_iterable(self._groups()))

    @property
    def unread(self) -> list[dict[str, Json]]:
        """The parts of this study that could not be read, each with the missing step."""
        name = self._data.get("name") or self._data.get("id")
        return [
            {"study": _cut(name), "what": _cut(what), "missing": _cut(step)}
            for what, step in list(self._missing.items())[:20]
        ]

    def decode(self) -> dict[str, Json]:
        data = self._data
        study: dict[str, Json] = {"name": data["name"]}
        for key, raw in (("id", "id"), ("short_name", "short"), ("version", "version")):
            value = data.get(raw)
            if is_name(value) or is_number(value):
                study[key] = value
        if isinstance(data.get("inputs"), list):
            study["inputs"], study["input_titles"] = _inputs(data["inputs"])
        tables = self._records("tables")
        positions = {
            table["id"]: table["position"]
            for table in tables or ()
            if "position" in table and is_number(table.get("id"))
        }
        fields = {}
        for channel in CHANNELS:
            records = self._records(channel)
            if records is None:
                continue
            if channel == "cells":
                for cell in records:
                    if is_number(cell.get("table")) and cell["table"] in positions:
                        cell["position"] = positions[cell["table"]]
            study[channel] = records
            fields[channel] = _common_fields(channel, records)
        study["fields"] = fields
        if tables is not None:
            study["tables"] = tables
        for channel in ("linefills", "polylines"):
            carried = self._read_records(channel)
            if carried is not None:
                study[channel] = carried
        study["truncated"] = []
        limits = data.get("limits")
        if isinstance(limits, Mapping):
            study["limits"] = {str(key): most for key, most in limits.items() if is_whole(most)}
        return study

    def _groups(self) -> Iterator[list[list[Json]]]:
        for groups in self._families.values():
            if isinstance(groups, Mapping):
                yield [records for records in groups.values() if isinstance(records, list)]

    def _records_with_overlay(
        self, channel: str
    ) -> Iterator[tuple[Mapping[str, Json], bool]] | None:
        """The page's records of a channel with their force_overlay; None where it was not read."""
        groups = self._families.get(FAMILIES[channel])
        if not isinstance(groups, Mapping) or not {*groups} <= {"false", "true"}:
            return None
        if not all(isinstance(records, list) for records in groups.values()):
            return None
        flagged = ((raw, flag == "true") for flag, records in groups.items() for raw in records)
        return ((raw if isinstance(raw, Mapping) else {}, flag) for raw, flag in flagged)

    def _records(self, channel: str) -> list[dict[str, Json]] | None:
        flagged = self._records_with_overlay(channel)
        if flagged is None:
            return None
        records = []
        for raw, overlay in flagged:
            record = self._record(channel, raw)
            if channel != "cells":
                record["force_overlay"] = overlay
            records.append(record)
        return records

    def _record(self, channel: str, raw: Mapping[str, Json]) -> dict[str, Json]:
        record: dict[str, Json] = {}
        codes = CODES.get(channel, {})
        for name, key in KEYS[channel].items():
            if key not in raw or not is_plain(raw[key]):
                continue
            value = raw[key]
            if name in ANCHORS:
                anchor = self._anchor(value)
                if anchor is not None:
                    record[name] = anchor
            elif name in COLORS:
                if value is None or (value := self._colors.decode(value)) is not None:
                    record[name] = value
            elif name in codes and isinstance(value, str):
                record[name] = codes[name].get(value, value)
            else:
                record[name] = value
        return record

    def _anchor(self, index: Json) -> dict[str, Json] | None:
        """The place of an index; outside the loaded history it has none."""
        if self._indexes is None or not is_whole(index) or not 0 <= index < len(self._indexes):
            return None
        place = self._indexes[index]
        if place is None:
            return {"n": None, "bar": None, "time": None}
        if not isinstance(place, list) or len(place) != 2:
            return None
        bar, time = place
        return {"n": bar, "bar": bar, "time": time}

    def _read_records(self, channel: str) -> list[dict[str, Json]] | None:
        flagged = self._records_with_overlay(channel)
        if flagged is None:
            return None
        records = []
        for raw, flag in flagged:
            plain = {key: value for key, value in raw.items() if is_plain(value)}
            records.append({"id": plain.get("id"), "force_overlay": flag, "raw": plain})
        return records

    def _raw_colors(self) -> Iterator[Json]:
        for channel, keys in KEYS.items():
            named = [key for name, key in keys.items() if name in COLORS]
            for raw, _ in self._records_with_overlay(channel) or ():
                yield from (raw[key] for key in named if key in raw)


def _common_fields(channel: str, records: list[dict[str, Json]]) -> list[str]:
    """The fields that every record has, and the parts of anchors among them."""
    names = [name for name in FIELDS[channel] if all(name in record for record in records)]
    parts = [
        f"{name}.{part}"
        for name in names
        if FIELDS[channel][name].kind == "anchor"
        for part in ("bar", "time")
    ]
    return names + parts


def _inputs(listed: list[Json]) -> tuple[dict[str, Json], dict[str, Json]]:
    """The inputs by title, those without one by id; and the titles by id.

    Of two inputs with one title the later is called by title and id, so that none is lost.
    """
    values: dict[str, Json] = {}
    titles: dict[str, Json] = {}
    for item in listed[:1000]:
        if not isinstance(item, Mapping) or not is_name(item.get("id")):
            continue
        if not is_plain(item.get("value")):
            continue
        id_, title, value = item["id"], item.get("title"), item.get("value")
        if is_name(title):
            titles[id_] = title
        if item.get("type") == "color":
            value = to_hex(value) or value
        name = title if is_name(title) and title else id_
        values[f"{name} ({id_})" if name in values else name] = value
    return values, titles


# ----------------------------------------------------------------------------------------- colours

_RGB = re.compile(
    r"rgba?\( *([0-9]{1,3}) *, *([0-9]{1,3}) *, *([0-9]{1,3}) *(?:, *([01]?\.?[0-9]*) *)?\)"
)


def unpack(number: int) -> str:
    """The colour of a number 0xAABBGGRR.

    >>> unpack(0xFF5252FF), unpack(0x4DD4BC00)
    ('#ff5252ff', '#00bcd44d')
    """
    red, green, blue, alpha = (number >> shift & 0xFF for shift in (0, 8, 16, 24))
    return f"#{red:02x}{green:02x}{blue:02x}{alpha:02x}"


def to_hex(value: Json) -> str | None:
    """The colour that a style sheet would see in a text, as #rrggbbaa.

    >>> to_hex("#F23645"), to_hex("rgba(41, 98, 255, 0.5)")
    ('#f23645ff', '#2962ff80')
    """
    if not isinstance(value, str):
        return None
    if palette.is_hex(value):
        return palette.color(value)
    match = _RGB.fullmatch(value)
    if match is None or any(int(part) > 255 for part in match.groups()[:3]):
        return None
    red, green, blue = map(int, match.groups()[:3])
    try:
        opacity = 1.0 if match[4] is None else float(match[4])
    except ValueError:
        return None
    return palette.with_alpha(f"#{red:02x}{green:02x}{blue:02x}", opacity) if opacity <= 1 else None


class StudyColors:
    """How one study writes colours: as packed numbers, or as indexes into its palette.

    The compiler of Pine takes one of the two for a whole script. A number with an opacity is
    packed. One without is an index if the study carries a palette with that entry and packs no
    colour. It is an invisible packed colour if the study packs others and no palette is so large.
    Any other number cannot be told.
    """

    def __init__(self, study: Mapping[str, Json], numbers: Iterator[Json]) -> None:
        self._packs = any(is_whole(number) and number >= PACKED for number in numbers)
        data = study.get("palette")
        data = data if isinstance(data, Mapping) else {}
        colors, order = data.get("colors"), data.get("index")
        self._palette = colors if isinstance(colors, Mapping) else {}
        self._order = order if isinstance(order, Mapping) else None

    def decode(self, number: Json) -> str | None:
        """The colour `#rrggbbaa`, or None where it cannot be told."""
        if not is_whole(number) or not 0 <= number < 1 << 32:
            return None
        if number >= PACKED:
            return unpack(number)
        if self._packs:
            return unpack(number) if number >= LARGEST_PALETTE else None
        key = str(number)
        if self._order is not None and str(self._order.get(key)) != key:
            return None
        return to_hex(self._palette.get(key))
