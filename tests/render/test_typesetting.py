"""Texts are as wide as they are drawn, and the glyphs an SVG carries are whole."""

import base64
import re
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.effort import examples

from chartpact.render import raster, typeface, typesetting
from chartpact.render.display import DisplayList, Words
from chartpact.render.svgdocument import document
from chartpact.scene import Label, Scene

from .scenery import at, chart_of, pixels

WORDS = "HI 0123,456.78 BB Upper é"


@in_one_test("face", [name for name in typeface.FACES if name != "symbols"])
def test_a_text_is_as_wide_as_resvg_draws_it(face):
    family, weight, slant = typeface.FACES[face]
    size, words = 40, "H" + WORDS + "H"
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="60">'
        '<rect width="1200" height="60" fill="#fff"/>'
        f'<text x="10" y="45" font-family="{family}" font-weight="{weight}" font-style="{slant}" '
        f'font-size="{size}">{words}</text></svg>'
    )
    ink = np.flatnonzero((pixels(raster.rasterize(svg)) < 128).all(axis=2).any(axis=0))
    # An H begins and ends a stem's distance inside its advance, and slanted it leans out.
    assert ink[0] == pytest.approx(10, abs=size * 0.16)
    assert ink[-1] - 10 == pytest.approx(typesetting.width(words, size, face), abs=size * 0.18)


def test_a_text_that_the_monospaced_font_lacks_is_set_in_its_sister():
    assert typesetting.face_for("Ω", "mono-bold") == "sans-bold"
    assert typesetting.face_for("abc 🚀 漢", "mono") == "mono"
    assert typesetting.face_for("Ω", "sans-italic") == "sans-italic"


def test_digits_are_equally_wide():
    assert len({typesetting.width(digit, 12) for digit in "0123456789"}) == 1


def test_symbols_come_from_the_font_of_symbols():
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60">'
        '<rect width="80" height="60" fill="#fff"/>'
        '<text x="10" y="45" font-family="Chartpact Sans" font-size="40">{}</text></svg>'
    )
    rocket, missing = (pixels(raster.rasterize(svg.format(char))) for char in "🚀\ue000")
    assert (rocket != missing).any()
    advance = typeface.typeface("symbols").advance("🚀")
    assert typesetting.width("🚀", 10) == pytest.approx(10 * advance)
    assert typesetting.width("\ufe0f\u200d", 10) == 0


def test_symbols_are_drawn_beside_characters_that_no_font_has():
    def drawn(words):
        line = Words(10, 45, words, 40, "#000000")
        picture = DisplayList(200, 60, "#ffffff", "", [line])
        return pixels(raster.rasterize(document(picture, fonts=False)))

    rocket, family = "\U0001f680", "\U0001f468\u200d\U0001f469"
    room = 10 + int(typesetting.width(rocket, 40))
    assert (drawn(rocket + family)[:, :room] == drawn(rocket)[:, :room]).all()


@in_one_test(
    ("written", "shown"),
    [
        ("ES\u202e1h", "ES1h"),  # nothing turns what follows about
        ("\u2067a\u2069\ufeffb\u200bc", "abc"),
        ("a\x7fb\x85c", "abc"),
        ("one\u2028two", "one\ntwo"),
        ("e\u0301", "\u00e9"),
        ("Z\u0351\u036b\u0353A", "ZA"),
        ("\u26a0\ufe0f \U0001f44d\U0001f3fd", "\u26a0 \U0001f44d"),
        ("\u0915\u094d\u0937", "\u0915\u094d\u0937"),  # marks of a script we do not have stay
    ],
)
def test_what_cannot_be_seen_is_left_out(written, shown):
    assert typesetting.clean(written) == shown
    assert typesetting.clean(shown) == shown


@settings(max_examples=examples(150), deadline=None)
@given(st.text(max_size=60), st.floats(0, 300))
def test_a_fitted_text_fits(words, room):
    kept = typesetting.fit(words, 12, room)
    assert typesetting.width(kept, 12) <= room or kept == ""
    assert kept in (words, "") or kept.endswith("…")


@settings(max_examples=examples(150), deadline=None)
@given(st.text(alphabet="abc de\nfgh", max_size=80), st.floats(20, 200))
def test_wrapping_loses_nothing_and_keeps_to_the_width(words, room):
    lines = typesetting.wrap(words, 12, room)
    assert "".join("".join(lines).split()) == "".join(words.split())
    assert all(typesetting.width(line, 12) <= room or len(line) == 1 for line in lines)


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=50))
def test_a_cleaned_text_can_stand_in_xml(words):
    import xml.etree.ElementTree as ET

    kept = typesetting.clean(words)
    assert typesetting.clean(kept) == kept
    from html import escape

    ET.fromstring(f"<t>{escape(kept)}</t>".encode("utf-8", "strict"))


def tables_of(woff: bytes) -> dict[bytes, bytes]:
    """The tables of a WOFF file; written from its specification."""
    signature, flavor, length, count = struct.unpack(">4sIIH", woff[:14])
    assert (signature, flavor, length) == (b"wOFF", 0x00010000, len(woff))
    found = {}
    for i in range(count):
        tag, offset, packed, size, _ = struct.unpack(">4s4I", woff[44 + 20 * i : 64 + 20 * i])
        data = woff[offset : offset + packed]
        found[tag] = data if packed == size else zlib.decompress(data)
        assert len(found[tag]) == size
        assert offset % 4 == 0
    return found


def test_an_svg_carries_the_glyphs_it_uses_and_no_others():
    scene = Scene(labels=[Label(id=1, x=at(4), y=100.0, text="Åé🚀", text_formatting="bold")])
    svg = chart_of(scene).svg()
    rules = re.findall(
        r'font-family:"([^"]+)";font-weight:(\d+);.*?base64,([^"]+)".*?unicode-range:([^}]+)}', svg
    )
    cuts = {(family, weight): (data, codes) for family, weight, data, codes in rules}
    data, codes = cuts["Chartpact Sans", "700"]
    assert "U+C5" in codes.split(",")
    assert "U+E9" in codes.split(",")
    tables = tables_of(base64.b64decode(data))
    whole = typeface.typeface("sans-bold")
    offsets = struct.unpack(f">{len(tables[b'loca']) // 4}I", tables[b"loca"])

    def outline(char: str) -> bytes:
        glyph = whole.glyphs[ord(char)]
        return tables[b"glyf"][offsets[glyph] : offsets[glyph + 1]]

    def original(char: str) -> bytes:
        glyph = whole.glyphs[ord(char)]
        return whole.tables[b"glyf"][whole.offsets[glyph] : whole.offsets[glyph + 1]]

    assert outline("é") == original("é")
    assert outline("e") == original("e")  # é is composed of it
    assert outline("ж") == b""
    assert len(tables[b"glyf"]) < len(whole.tables[b"glyf"]) / 4
    assert ("Chartpact Symbols", "400") in cuts
    assert "U+1F680" in cuts["Chartpact Symbols", "400"][1]


def test_the_fonts_are_small_and_come_with_their_licence():
    from importlib.resources import files

    folder = files("chartpact.render").joinpath("fonts")
    sizes = [len(folder.joinpath(f"{name}.ttf").read_bytes()) for name in typeface.FACES]
    assert sum(sizes) < 450_000
    licence = folder.joinpath("OFL.txt").read_text()
    assert "SIL OPEN FONT LICENSE" in licence
    assert all(name in licence for name in ("Inter", "JetBrains Mono", "Noto Emoji"))
