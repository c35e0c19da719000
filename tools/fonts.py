"""Makes the fonts that charts are drawn with: `python tools/fonts.py INTER MONO EMOJI`.

Needs fontTools (and brotli to read WOFF2). The three folders hold Inter, JetBrains Mono and Noto
Emoji (the one without colours) as their projects publish them. What is written is smaller (the
characters charts need), has digits of equal width in the place of the ordinary ones, and has
neither kerning nor ligatures, so that the width of a text is the sum of its characters' widths, in
any program. The Open Font License lets changed fonts go by another name only, hence "Chartpact
Sans", "Chartpact Mono" and "Chartpact Symbols".
"""

import sys
import tempfile
from pathlib import Path

from fontTools import merge, subset
from fontTools.ttLib import TTFont

FONTS = Path(__file__).resolve().parents[1] / "src" / "chartpact" / "render" / "fonts"
RANGES = (
    (0x20, 0x7E),  # Latin
    (0xA0, 0x17F),
    (0x192, 0x192),
    (0x218, 0x21B),
    (0x2B0, 0x2FF),  # spacing modifiers
    (0x370, 0x3FF),  # Greek
    (0x400, 0x45F),  # Cyrillic
    (0x490, 0x491),
    (0x1E80, 0x1E85),
    (0x1EA0, 0x1EF9),  # Vietnamese
    (0x2000, 0x206F),  # punctuation
    (0x2070, 0x209F),  # superscripts and subscripts
    (0x20A0, 0x20CF),  # currencies
    (0x2100, 0x218F),  # letterlike, number forms
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # mathematics
    (0x2300, 0x23FF),
    (0x2460, 0x24FF),
    (0x2500, 0x25FF),  # boxes, blocks, shapes
    (0x2600, 0x27BF),  # symbols, dingbats
    (0x2B00, 0x2BFF),
    (0xFFFD, 0xFFFD),
)
MONO_RANGES = (
    (0x20, 0x7E),
    (0xA0, 0x17F),
    (0x2010, 0x2027),
    (0x20A0, 0x20CF),
    (0x2190, 0x2199),
    (0x2200, 0x2265),
    (0x2500, 0x25FF),
    (0xFFFD, 0xFFFD),
)
FACES = {  # file → upstream file, our family, style
    "sans": ("Inter-Regular", "Chartpact Sans", "Regular"),
    "sans-bold": ("Inter-SemiBold", "Chartpact Sans", "Bold"),
    "sans-italic": ("Inter-Italic", "Chartpact Sans", "Italic"),
    "sans-bold-italic": ("Inter-SemiBoldItalic", "Chartpact Sans", "Bold Italic"),
    "mono": ("JetBrainsMono-Regular", "Chartpact Mono", "Regular"),
    "mono-bold": ("JetBrainsMono-Bold", "Chartpact Mono", "Bold"),
}
SYMBOLS = (  # what traders put into labels and Inter does not have
    "⌚⌛⏩⏪⏫⏬⏰⏱⏳⏸⏹⏺⚡⚪⚫⚽⛔⛽✅✊✋✔✖✨❌❎❓❗➕➖➗⬛⬜⭐⭕"
    "🌊🌍🌕🌙🌟🍀🎉🎯🎲🏁🏆🏛🏠🏦🐂🐋🐢🐻👀👆👇👈👉👋👍👎💀💎💡💣💤💥💧💪💯💰💲💵💸💹"
    "📅📆📈📉📊📌📍📎📝📢📣🔄🔍🔎🔑🔒🔓🔔🔕🔝🔥🔮🔴🔵🔶🔷🔸🔹🔺🔻🔼🔽🕐🕒🕓🕘🕛🕯"
    "😀😃😎😐😡😢😨😱🙂🙈🙏🚀🚦🚧🚨🚩🚫🛑🛒🛡🟠🟡🟢🟣🟤🟥🟦🟧🟨🟩🟪🤑🤔🤖🤝🥇🥈🥉🧠🧨🧪🧲🪙"
)
WEIGHTS = {"Regular": 400, "Italic": 400, "Bold": 700, "Bold Italic": 700}


def tabular_digits(font: TTFont) -> None:
    """Digits of equal width take the place of the ordinary ones."""
    gsub = font["GSUB"].table
    lookups = [
        index
        for record in gsub.FeatureList.FeatureRecord
        if record.FeatureTag == "tnum"
        for index in record.Feature.LookupListIndex
    ]
    equal: dict[str, str] = {}
    for index in lookups:
        for table in gsub.LookupList.Lookup[index].SubTable:
            equal |= getattr(table, "ExtSubTable", table).mapping
    for cmap in font["cmap"].tables:
        for code in range(ord("0"), ord("9") + 1):
            if code in cmap.cmap:
                cmap.cmap[code] = equal.get(cmap.cmap[code], cmap.cmap[code])


def rename(font: TTFont, family: str, style: str) -> None:
    """Our names, and the weight and slant that go with them."""
    names = font["name"]
    for record in list(names.names):
        if record.nameID not in (0, 13, 14):  # the copyright and the licence stay
            names.removeNames(nameID=record.nameID)
    postscript = f"{family}-{style}".replace(" ", "")
    given = {1: family, 2: style, 3: postscript, 4: f"{family} {style}", 5: "1.0", 6: postscript}
    for key, text in given.items():
        names.setName(text, key, 3, 1, 0x409)
    font["OS/2"].usWeightClass = WEIGHTS[style]
    bold, italic = "Bold" in style, "Italic" in style
    font["head"].macStyle = bold | italic << 1
    font["OS/2"].fsSelection = bold << 5 | italic << 0 | (not (bold or italic)) << 6


def make(source: Path, target: Path, family: str, style: str, characters: str = "") -> None:
    font = TTFont(source)
    if family == "Chartpact Sans":
        tabular_digits(font)
    options = subset.Options(
        layout_features=[],
        hinting=False,
        name_IDs=["*"],
        notdef_outline=True,
        glyph_names=False,
        drop_tables=[
            "GSUB",
            "GPOS",
            "GDEF",
            "DSIG",
            "gasp",
            "STAT",
            "avar",
            "fvar",
            "meta",
            "vhea",
            "vmtx",
        ],
    )
    worker = subset.Subsetter(options)
    ranges = MONO_RANGES if family == "Chartpact Mono" else RANGES
    codes = [code for low, high in ranges for code in range(low, high + 1)]
    worker.populate(unicodes=map(ord, characters) if characters else codes)
    worker.subset(font)
    rename(font, family, style)
    font["post"].formatType = 3.0
    font.flavor = None
    font["head"].modified = font["head"].created  # the same input gives the same file
    font.recalcTimestamp = False
    font.save(target)
    print(f"{target.name}: {target.stat().st_size:,} bytes, {len(font.getBestCmap())} characters")


def make_symbols(folder: Path, target: Path) -> None:
    """One font of the symbols, which are published spread over several files."""
    wanted = {ord(char) for char in SYMBOLS}
    with tempfile.TemporaryDirectory() as workshop:
        parts = []
        for source in sorted(folder.glob("*-400-normal.woff2")):
            font = TTFont(source)
            here = wanted & set(font.getBestCmap())
            if not here:
                continue
            wanted -= here
            options = subset.Options(layout_features=[], hinting=False, glyph_names=False)
            worker = subset.Subsetter(options)
            worker.populate(unicodes=here)
            worker.subset(font)
            font.flavor = None
            parts.append(Path(workshop) / f"{len(parts)}.ttf")
            font.save(parts[-1])
        whole = Path(workshop) / "whole.ttf"
        merge.Merger().merge([str(part) for part in parts]).save(whole)
        make(whole, target, "Chartpact Symbols", "Regular", SYMBOLS)
    if wanted:
        print("not found:", "".join(map(chr, sorted(wanted))), file=sys.stderr)


def main() -> int:
    folders = [Path(each) for each in sys.argv[1:]]
    if len(folders) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    for name, (upstream, family, style) in FACES.items():
        found = [p for folder in folders for p in sorted(folder.glob(f"{upstream}.*"))]
        make(found[0], FONTS / f"{name}.ttf", family, style)
    make_symbols(folders[2], FONTS / "symbols.ttf")
    return 0


if __name__ == "__main__":
    sys.exit(main())
