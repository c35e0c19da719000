"""Texts as they are drawn: cleaned, measured, shortened and wrapped in the package's fonts."""

import re
import unicodedata
from functools import lru_cache

from chartpact.render.typeface import typeface

LINE_HEIGHT = 1.3  # of the size
CAP_HEIGHT = 0.727  # of the size: what "vertically centred" goes by
ELLIPSIS = "…"
MAX_CHARS = 4096

# What XML 1.0 cannot hold, even escaped; resvg panics on some of it.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_widths: dict[str, dict[str, float]] = {}


def clean(text: str) -> str:
    """The text with every character that an XML document cannot hold left out.

    >>> clean("BUY\\x01\\r\\nnow")
    'BUY\\nnow'
    """
    text = _FORBIDDEN.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return text.expandtabs(4)[:MAX_CHARS]


def face(bold: bool = False, italic: bool = False, mono: bool = False) -> str:
    """The name of the typeface; the monospaced one has no slanted cut."""
    family = "mono" if mono else "sans"
    return family + "-bold" * bold + "-italic" * (italic and not mono)


def _advance(char: str, face: str) -> float:
    font = typeface(face)
    if ord(char) not in font.glyphs and unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0.0
    return font.advance(char)


@lru_cache(8192)
def width(text: str, size: float, face: str = "sans") -> float:
    """How wide one line of text is."""
    known = _widths.setdefault(face, {})
    total = 0.0
    for char in text:
        if char not in known:
            known[char] = _advance(char, face)
        total += known[char]
    return total * size


def fit(text: str, size: float, room: float, face: str = "sans") -> str:
    """The text, or as much of it as there is room for and an ellipsis."""
    if width(text, size, face) <= room:
        return text
    left = room - width(ELLIPSIS, size, face)
    kept = 0
    for char in text:
        left -= width(char, size, face)
        if left < 0:
            break
        kept += 1
    return text[:kept].rstrip() + ELLIPSIS if kept else ""


def wrap(text: str, size: float, room: float, face: str = "sans") -> list[str]:
    """The lines of a text broken at spaces, and inside a word only where it is too long."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if width(longer, size, face) <= room:
                line = longer
                continue
            if line:
                lines.append(line)
            line = word
            while width(line, size, face) > room and len(line) > 1:
                kept = max(1, len(_prefix(line, size, room, face)))
                lines.append(line[:kept])
                line = line[kept:]
        lines.append(line)
    return lines


def _prefix(text: str, size: float, room: float, face: str) -> str:
    for i, char in enumerate(text):
        room -= width(char, size, face)
        if room < 0:
            return text[:i]
    return text
