"""The package's fonts: the widths of characters, and the subsets of glyphs that an SVG embeds.

The files are made by `tools/fonts.py`: TrueType outlines without kerning or ligatures, so that the
width of a text is the sum of its characters' widths.
"""

import base64
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np

SANS, MONO, SYMBOLS = "Chartpact Sans", "Chartpact Mono", "Chartpact Symbols"
FALLBACK = "symbols"  # the face of characters that the others lack

# name → family, weight, slant
FACES: Mapping[str, tuple[str, int, str]] = {
    "sans": (SANS, 400, "normal"),
    "sans-bold": (SANS, 700, "normal"),
    "sans-italic": (SANS, 400, "italic"),
    "sans-bold-italic": (SANS, 700, "italic"),
    "mono": (MONO, 400, "normal"),
    "mono-bold": (MONO, 700, "normal"),
    "symbols": (SYMBOLS, 400, "normal"),
}


@dataclass(frozen=True)
class Typeface:
    """One font file, read: where its glyphs are and how wide each character is."""

    tables: Mapping[bytes, bytes]
    units: int
    glyphs: Mapping[int, int]  # character code → glyph
    advances: tuple[int, ...]  # glyph → width in units
    offsets: tuple[int, ...]  # glyph → place in the outline table, and one more

    def advance(self, char: str) -> float:
        """The width of a character at a size of 1; a missing one is as wide as its box."""
        return self.advances[self.glyphs.get(ord(char), 0)] / self.units

    def subset(self, text: Iterable[str]) -> bytes:
        """A WOFF font with the glyphs of these characters alone."""
        used = self._closure({0, *(self.glyphs.get(ord(char), 0) for char in text)})
        outlines = self.tables[b"glyf"]
        pieces, offsets = [], [0]
        for glyph in range(len(self.offsets) - 1):
            outline = outlines[self.offsets[glyph] : self.offsets[glyph + 1]]
            pieces.append(outline if glyph in used else b"")
            offsets.append(offsets[-1] + len(pieces[-1]))
        head = bytearray(self.tables[b"head"])
        struct.pack_into(">h", head, 50, 1)  # long offsets
        return _woff(
            {
                **self.tables,
                b"glyf": b"".join(pieces),
                b"loca": struct.pack(f">{len(offsets)}I", *offsets),
                b"head": bytes(head),
            }
        )

    def _closure(self, glyphs: set[int]) -> set[int]:
        """The glyphs and those that they are composed of."""
        closure, waiting = set(glyphs), list(glyphs)
        while waiting:
            for part in self._parts(waiting.pop()):
                if part not in closure:
                    closure.add(part)
                    waiting.append(part)
        return closure

    def _parts(self, glyph: int) -> Iterable[int]:
        outline = self.tables[b"glyf"][self.offsets[glyph] : self.offsets[glyph + 1]]
        if len(outline) < 10 or struct.unpack_from(">h", outline)[0] >= 0:
            return
        at, more = 10, True
        while more:
            flags, part = struct.unpack_from(">HH", outline, at)
            yield part
            more = bool(flags & 0x20)
            at += 4 + (4 if flags & 0x01 else 2)
            at += 2 if flags & 0x08 else 4 if flags & 0x40 else 8 if flags & 0x80 else 0


@cache
def typeface(name: str) -> Typeface:
    """The face of that name, read once."""
    data = font_file(name)
    tables = {}
    for i in range(struct.unpack_from(">H", data, 4)[0]):
        tag, _, offset, length = struct.unpack_from(">4sIII", data, 12 + 16 * i)
        tables[tag] = data[offset : offset + length]
    units = struct.unpack_from(">H", tables[b"head"], 18)[0]
    count = struct.unpack_from(">H", tables[b"maxp"], 4)[0]
    full = struct.unpack_from(">H", tables[b"hhea"], 34)[0]
    widths = struct.unpack(">" + "Hh" * full, tables[b"hmtx"][: 4 * full])[::2]
    long = struct.unpack_from(">h", tables[b"head"], 50)[0] == 1
    offsets = np.frombuffer(tables[b"loca"], ">u4" if long else ">u2").astype(int)
    return Typeface(
        tables,
        units,
        _characters(tables[b"cmap"]),
        widths + widths[-1:] * (count - full),
        tuple((offsets if long else offsets * 2).tolist()),
    )


@cache
def font_file(name: str) -> bytes:
    """The TrueType file of a face."""
    return files("chartpact.render").joinpath("fonts", f"{name}.ttf").read_bytes()


def _characters(cmap: bytes) -> dict[int, int]:
    """The glyph of each character, from the tables in formats 4 and 12."""
    glyphs: dict[int, int] = {}
    for i in range(struct.unpack_from(">H", cmap, 2)[0]):
        table = cmap[struct.unpack_from(">HHI", cmap, 4 + 8 * i)[2] :]
        match struct.unpack_from(">H", table)[0]:
            case 4:
                glyphs |= _segments(table)
            case 12:
                (count,) = struct.unpack_from(">I", table, 12)
                for first, last, glyph in struct.iter_unpack(">3I", table[16 : 16 + 12 * count]):
                    glyphs |= {code: glyph + code - first for code in range(first, last + 1)}
    return glyphs


def _segments(table: bytes) -> dict[int, int]:
    """Format 4: stretches of characters of the basic plane."""
    length, _, double = struct.unpack_from(">HHH", table, 2)
    words = np.frombuffer(table[:length], ">u2").astype(int)
    n = double // 2
    ends, starts = words[7 : 7 + n], words[8 + n : 8 + 2 * n]
    deltas, ranges = words[8 + 2 * n : 8 + 3 * n], words[8 + 3 * n : 8 + 4 * n]
    glyphs = {}
    for i in range(n):
        for code in range(starts[i], min(ends[i], 0xFFFE) + 1):
            glyph = code
            if ranges[i]:
                glyph = words[8 + 3 * n + i + ranges[i] // 2 + code - starts[i]]
                if not glyph:
                    continue
            glyphs[int(code)] = int(glyph + deltas[i]) & 0xFFFF
    return glyphs


def _woff(tables: Mapping[bytes, bytes]) -> bytes:
    """The tables as a WOFF 1.0 file."""
    at = 44 + 20 * len(tables)
    directory, body, size = [], [], 12 + 16 * len(tables)
    for tag in sorted(tables):
        plain = tables[tag]
        packed = min(zlib.compress(plain, 9), plain, key=len)
        padded = plain + bytes(-len(plain) % 4)
        checksum = sum(struct.unpack(f">{len(padded) // 4}I", padded)) & 0xFFFFFFFF
        directory.append(struct.pack(">4s4I", tag, at, len(packed), len(plain), checksum))
        body.append(packed + bytes(-len(packed) % 4))
        at += len(body[-1])
        size += len(padded)
    header = struct.pack(
        ">4s2I2HI2H5I", b"wOFF", 0x00010000, at, len(tables), 0, size, 1, 0, 0, 0, 0, 0, 0
    )
    return b"".join([header, *directory, *body])


@lru_cache(64)
def font_face(name: str, characters: str) -> str:
    """The CSS rule that embeds these characters of a face in a document."""
    family, weight, slant = FACES[name]
    face = typeface(name)
    known = sorted({ord(char) for char in characters} & face.glyphs.keys())
    codes = ",".join(f"U+{code:X}" for code in known)
    data = base64.b64encode(face.subset(map(chr, known))).decode()
    return (
        f'@font-face{{font-family:"{family}";font-weight:{weight};font-style:{slant};'
        f'src:url("data:font/woff;base64,{data}") format("woff");unicode-range:{codes}}}'
    )
