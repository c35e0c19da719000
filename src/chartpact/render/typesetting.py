"""Texts as they are drawn: cleaned, measured, shortened and wrapped in the package's fonts."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from chartpact.render.typeface import FALLBACK, typeface

LINE_HEIGHT = 1.3  # of the size
CAP_HEIGHT = 0.727  # of the size; text is centred vertically by its capitals
ELLIPSIS = "…"
MAX_CHARS = 4096

# Characters that XML 1.0 cannot hold, even escaped (resvg panics on some); invisible ones; and
# marks that reverse the direction of text.
_FORBIDDEN = re.compile(
    "[^\t\n\r\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    "|[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
    "|[\U000e0000-\U000e0fff]"
)
_NEWLINES = re.compile("\r\n|[\r\u2028\u2029]")
# Joiners, variation selectors and skin tones: they change the character before them.
_JOINERS = re.compile("[\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")


def clean(text: str) -> str:
    """The text without characters that a picture cannot show or that break a document.

    >>> clean("BUY\\x01\\r\\nnow")
    'BUY\\nnow'
    """
    text = _NEWLINES.sub("\n", text[: 4 * MAX_CHARS])
    text = _FORBIDDEN.sub("", text)
    if not text.isascii():
        text = _without_stray_marks(unicodedata.normalize("NFC", text))
    return text.expandtabs(4)[:MAX_CHARS]


def _without_stray_marks(text: str) -> str:
    """The text without marks that the fonts lack: on a known character they would show as boxes."""
    chars: list[str] = []
    drawn = False
    for char in text:
        if _is_mark(char):
            if drawn and not has_glyph(char):
                continue
        else:
            drawn = has_glyph(char)
        chars.append(char)
    return "".join(chars)


@lru_cache(8192)
def _is_mark(char: str) -> bool:
    return unicodedata.category(char) in ("Mn", "Me") or bool(_JOINERS.match(char))


@lru_cache(8192)
def has_glyph(char: str) -> bool:
    """Whether the package has a glyph for a character."""
    return any(ord(char) in typeface(face).glyphs for face in ("sans", FALLBACK))


def runs(words: str, face: str) -> Iterator[tuple[bool, str]]:
    """The runs of a text, each with whether only the face of symbols has its characters."""
    own, symbols = typeface(face).glyphs, typeface(FALLBACK).glyphs
    for other, chars in groupby(words, lambda c: ord(c) not in own and ord(c) in symbols):
        yield other, "".join(chars)


def face_of(formatting: str, family: str) -> str:
    """The name of the typeface; the monospaced one has no slanted cut."""
    if family == "monospace":
        return "mono" + "-bold" * ("bold" in formatting)
    return "sans" + "-bold" * ("bold" in formatting) + "-italic" * ("italic" in formatting)


def face_for(words: str, face: str) -> str:
    """The face, or its proportional sister where the monospaced one lacks a character."""
    if not face.startswith("mono"):
        return face
    mono, sister = typeface(face).glyphs, face.replace("mono", "sans")
    lacking = {ord(char) for char in words} - mono.keys()
    return sister if lacking & typeface(sister).glyphs.keys() else face


@lru_cache(8192)
def _advance(char: str, face: str) -> float:
    font = typeface(face)
    if ord(char) not in font.glyphs:
        if unicodedata.category(char) in ("Mn", "Me", "Cf"):
            return 0.0
        if ord(char) in typeface(FALLBACK).glyphs:
            return typeface(FALLBACK).advance(char)
    return font.advance(char)


def width(text: str, size: float, face: str = "sans") -> float:
    """How wide one line of text is."""
    return (_cached_advances(text, face) if len(text) < 64 else _advances(text, face)) * size


def _advances(text: str, face: str) -> float:
    return sum(_advance(char, face) for char in text)


_cached_advances = lru_cache(4096)(_advances)


def fit(text: str, size: float, room: float, face: str = "sans") -> str:
    """The text, or as much of it as there is room for and an ellipsis."""
    if width(text, size, face) <= room:
        return text
    prefix = _prefix(text, size, room - width(ELLIPSIS, size, face), face)
    return prefix.rstrip() + ELLIPSIS if prefix else ""


def wrap(
    text: str, size: float, room: float, face: str = "sans", most: int | None = None
) -> list[str]:
    """The lines of a text broken at spaces, and inside a word only where it is too long.

    A text of more than `most` lines is broken only a little further than that.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        if most is not None and len(lines) > most:
            break
        line = ""
        for word in paragraph.split(" "):
            if most is not None and len(lines) > most:
                break
            longer = f"{line} {word}" if line else word
            if width(longer, size, face) <= room:
                line = longer
                continue
            if line:
                lines.append(line)
            line = word
            while (fits := max(1, len(_prefix(line, size, room, face)))) < len(line):
                lines.append(line[:fits])
                line = line[fits:]
        lines.append(line)
    return lines


def _prefix(text: str, size: float, room: float, face: str) -> str:
    """As much of a text as there is room for."""
    for i, char in enumerate(text):
        room -= width(char, size, face)
        if room < 0:
            return text[:i]
    return text
