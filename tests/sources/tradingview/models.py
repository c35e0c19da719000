"""Models of charts: what stands on them, as TradingView's page holds it."""

from typing import Any

from chartpact.sources.tradingview import decode, stock

Model = dict[str, Any]
START, STEP = 1_767_366_000, 300  # the first bar's open and the length of a bar, in seconds
RED, GREEN, FAINT = 0xFF4536F2, 0xFF50AF4C, 0x33E6B300
WHITE, NAVY = 0xFFFFFFFF, 0xFF453A36


def bars(count: int = 120) -> list[list[float]]:
    return [[START + i * STEP, 100 + i, 103 + i, 99 + i, 101 + i, 7.0] for i in range(count)]


def study(id_: str, name: str, graphics: Model | None = None, **meta: Any) -> Model:
    inputs = meta.pop("inputs", [])
    values = meta.pop("values", [])
    entry: Model = {
        "id": id_,
        "meta": {"description": name, "shortDescription": name[:4], "inputs": inputs, **meta},
        "inputs": values,
    }
    return entry if graphics is None else {**entry, "graphics": graphics}


def label(id_: int, x: int, y: float | None, text: str, **other: Any) -> Model:
    base = {"id": id_, "x": x, "y": y, "yl": "pr", "t": text, "st": "ldn", "ci": RED, "tci": WHITE,
            "sz": "normal", "ta": "center", "tt": ""}  # fmt: skip
    return {**base, **other}


def line(id_: int, x1: int, y1: float | None, x2: int, y2: float | None, **other: Any) -> Model:
    base = {"id": id_, "x1": x1, "y1": y1, "x2": x2, "y2": y2, "ex": "n", "st": "sol", "w": 1,
            "ci": GREEN}  # fmt: skip
    return {**base, **other}


def box(id_: int, x1: int, y1: float, x2: int, y2: float, **other: Any) -> Model:
    base = {"id": id_, "x1": x1, "y1": y1, "x2": x2, "y2": y2, "c": RED, "bc": FAINT, "ex": "n",
            "st": "sol", "w": 1, "t": "", "ts": "auto", "tc": WHITE, "tva": "center",
            "tha": "center", "tw": "none"}  # fmt: skip
    return {**base, **other}


def table(id_: int, position: str, rows: int, cols: int) -> Model:
    return {"id": id_, "pos": position, "rows": rows, "cols": cols, "bgc": None, "frmc": NAVY,
            "frmw": 1, "brdc": NAVY, "brdw": 1}  # fmt: skip


def cell(id_: int, tid: int, row: int, col: int, text: str, bgc: int | None) -> Model:
    return {"id": id_, "tid": tid, "row": row, "col": col, "t": text, "w": 0, "h": 0, "tc": WHITE,
            "tha": "center", "tva": "center", "ts": "normal", "bgc": bgc}  # fmt: skip


def chart(*studies: Model, **facts: Any) -> Model:
    """A chart with these studies, beside the series itself and one study that is still loading."""
    others = [{"id": "_seriesId"}, {"id": "late01", "throws": "metaInfo not ready"}]
    info = {"minmov": 25, "pricescale": 100, "timezone": "America/Chicago", "delay": 0}
    base: Model = {"symbol": "CME_MINI:NQ1!", "resolution": "5", "bars": bars(), "info": info}
    return {**base, "sources": [*others, *studies], **facts}


def zones() -> Model:
    """A study that draws one of everything, in both overlay groups."""
    graphics = {
        "indexes": [5, 50, 119, 130, -2_000_000],
        "dwglabels": {
            "false": [label(1, 0, 110.25, "Zone"), label(2, 2, None, "Hint", yl="bl", st="lup")],
            "true": [label(3, 4, 111, "old", ci=None)],
        },
        "dwglines": [line(1, 0, 110.25, 3, 110.25, ex="r", st="dsh", w=2)],
        "dwgboxes": {"false": [box(1, 0, 120.5, 2, 110.25, t="OB")],
                     "true": [box(2, 1, 99, 2, 130, bc=None)]},
        "dwgtables": [table(7, "top_right", 2, 2)],
        "dwgtablecells": [cell(1, 7, 0, 1, "", GREEN), cell(2, 7, 1, 0, "H4 | D", None)],
        "dwglinefills": [{"id": 1, "l1": 1, "l2": 1, "ci": FAINT}],
    }  # fmt: skip
    inputs = [{"id": "in_0", "name": "Length", "type": "integer"},
              {"id": "in_1", "name": "Up Color", "type": "color"},
              {"id": "text", "name": "ILScript", "type": "text"}]  # fmt: skip
    values = [{"id": "in_0", "value": 14}, {"id": "in_1", "value": "rgba(76, 175, 80, 1)"},
              {"id": "text", "value": "the script itself"},
              {"id": "pineId", "value": "USER;a1b2c3"}]  # fmt: skip
    pine = {"version": "3.0", "digest": "d41d8c"}
    return study("zones1", "Zones", graphics, pine=pine, inputs=inputs, values=values)


def of_snapshot(snapshot: Model) -> Model:
    """The page that shows a snapshot: names as codes, colours as numbers, bars as indexes."""
    facts = snapshot["chart"]
    times: dict[int, int] = {}
    sources = [_source(entry, times) for entry in snapshot["studies"]]
    times[facts["last_bar"]] = facts["last_time"]
    rows = [
        [times[i] // 1000, 1, 2, 0, 1, 5] if i in times else None
        for i in range(facts["last_bar"] + 1)
    ]
    info = {"minmov": facts["tick_size"], "pricescale": 1, "timezone": facts.get("timezone")}
    return chart(*sources, symbol=facts["symbol"], resolution=facts["timeframe"], bars=rows,
                 info={key: value for key, value in info.items() if value is not None})  # fmt: skip


def _source(entry: Model, times: dict[int, int]) -> Model:
    places: list[int] = []

    def index(anchor: Model) -> int:
        bar = -2_000_000 if anchor["bar"] is None else anchor["bar"]
        if anchor["time"] is not None:
            times[bar] = anchor["time"]
        if bar not in places:
            places.append(bar)
        return places.index(bar)

    def raw(channel: str, record: Model) -> Model:
        found = {}
        for name, key in decode.KEYS[channel].items():
            if name not in record:
                continue
            value = record[name]
            if name in decode.ANCHORS:
                value = index(value)
            elif name in decode.COLORS:
                value = stock.pack(None if value is None else f"{value}ff"[:9])
            elif name in (codes := decode.CODES.get(channel, {})):
                value = {name: code for code, name in codes[name].items()}[value]
            found[key] = value
        return found

    graphics: Model = {}
    for channel in ("labels", "lines", "boxes"):
        groups: Model = {"false": [], "true": []}
        for record in entry[channel]:
            groups[str(record.get("force_overlay", False)).lower()].append(raw(channel, record))
        graphics[decode.FAMILIES[channel]] = groups
    cells = enumerate(entry["cells"])  # whose ids are unique on the page, and per table with us
    graphics["dwgtablecells"] = [raw("cells", record) | {"id": n} for n, record in cells]
    corners = {record["table"]: record["position"] for record in entry["cells"]}
    graphics["dwgtables"] = [table(id_, corner, 9, 9) for id_, corner in corners.items()]
    inputs = [{"id": f"in_{n}", "name": name} for n, name in enumerate(entry.get("inputs") or {})]
    given = (entry.get("inputs") or {}).values()
    values = [{"id": f"in_{n}", "value": value} for n, value in enumerate(given)]
    graphics["indexes"] = places
    return study(entry["id"], entry["name"], graphics, inputs=inputs, values=values)
