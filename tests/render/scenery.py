"""The scenes of the gallery, small charts, and readers of what was drawn."""

import importlib.util
import struct
import sys
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path
from types import ModuleType

import numpy as np

from chartpact.bars import Bars
from chartpact.charts import Chart
from chartpact.render import typesetting
from chartpact.render.display import Area, DisplayList, Words
from chartpact.scene import Anchor, Scene

SVG = "{http://www.w3.org/2000/svg}"
GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery" / "scenes.py"


def _load() -> ModuleType:
    name = "gallery_scenes"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, GALLERY)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


gallery = _load()


def at(bar: int) -> Anchor:
    return Anchor(n=None, bar=bar, time=None)


def flat_bars(count: int = 10, price: float = 100.0, step_ms: int = 60_000, **more: object) -> Bars:
    """Bars that rise by 1 and fall by 1 in turn, between `price` and `price + 1`."""
    even = np.arange(count) % 2 == 0
    opens = np.where(even, price, price + 1.0)
    closes = np.where(even, price + 1.0, price)
    time = 1_700_000_040_000 + step_ms * np.arange(count)
    given = {"symbol": "FLAT", "timeframe": "1m", "tick_size": 0.01, **more}
    return Bars(
        time,
        opens,
        np.maximum(opens, closes) + 0.5,
        np.minimum(opens, closes) - 0.5,
        closes,
        np.full(count, 10.0),
        **given,
    )


def chart_of(scene: Scene, bars: Bars | None = None, overlay: bool = True) -> Chart:
    return Chart(bars or flat_bars(), (gallery.drawn(scene, "Drawn", overlay),))


def elements(svg: str, tag: str) -> list[ET.Element]:
    return list(ET.fromstring(svg).iter(f"{SVG}{tag}"))


def written(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in elements(svg, "text")]


def places(picture: DisplayList) -> list[tuple[Area, str]]:
    """Every text of a picture and the room its letters take."""
    found = []
    for op in picture.ops:
        if isinstance(op, Words):
            wide = typesetting.width(op.text, op.size, op.face)
            left = op.x - {"start": 0.0, "middle": wide / 2, "end": wide}[op.anchor]
            area = Area(left, op.y - op.size * 0.74, left + wide, op.y + op.size * 0.2)
            found.append((area.grow(-0.3), op.text))
    return found


def overlaps(picture: DisplayList) -> list[tuple[str, str]]:
    """Texts that cover each other."""
    found = places(picture)
    return [
        (one, other)
        for i, (area, one) in enumerate(found)
        for place, other in found[i + 1 :]
        if area.meets(place)
    ]


def pixels(png: bytes) -> np.ndarray:
    """The RGB pixels of a PNG, as rows of columns of three; written from the PNG specification."""
    at, data, width, height = 8, b"", 0, 0
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            assert (depth, color) == (8, 6)
        elif kind == b"IDAT":
            data += body
        at += 12 + length
    raw = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + 4 * width)
    rows = np.zeros((height, 4 * width), np.uint8)
    for y in range(height):
        rows[y] = _unfiltered(raw[y, 0], raw[y, 1:], rows[y - 1] if y else np.zeros_like(rows[0]))
    return rows.reshape(height, width, 4)[:, :, :3]


def _unfiltered(kind: int, line: np.ndarray, above: np.ndarray) -> np.ndarray:
    if kind == 0:
        return line
    if kind == 2:
        return line + above
    if kind == 1:
        return np.cumsum(line.reshape(-1, 4), axis=0, dtype=np.uint8).ravel()
    done = bytearray(len(line))
    for i, value in enumerate(line.tolist()):
        left = done[i - 4] if i >= 4 else 0
        up = int(above[i])
        if kind == 3:
            guess = (left + up) // 2
        else:
            corner = int(above[i - 4]) if i >= 4 else 0
            near = left + up - corner
            by = (abs(near - left), abs(near - up), abs(near - corner))
            guess = (left, up, corner)[by.index(min(by))]
        done[i] = (value + guess) & 255
    return np.frombuffer(bytes(done), np.uint8)
