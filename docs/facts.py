"""Writes what the page knows of the package: a module of constants that docs/generate.py checks."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

from chartpact.drawing.fieldtypes import SERIES
from chartpact.library.scripts import NAME
from chartpact.render.theme import THEMES
from chartpact.scene import PLOTS
from chartpact.script.limits import Limits
from chartpact.server.jobs import FIRST_CHART

MODULE = Path(__file__).parents[1] / "src" / "chartpact" / "server" / "static" / "js" / "facts.js"
NOT_THE_PAGES = ("day", "shade", "card")  # colours of pictures


def module() -> str:
    """The source of the module."""
    symbol, indicators = FIRST_CHART
    by_bar = {
        kind: [
            name
            for name, type_ in plot.field_types.items()
            if type_ is SERIES and name not in plot.beyond
        ]
        for kind, plot in PLOTS.items()
    }
    themes = {
        name: {
            _camel(field.name): getattr(theme, field.name)
            for field in fields(theme)
            if field.name not in NOT_THE_PAGES
        }
        for name, theme in THEMES.items()
    }
    paints = list(dict.fromkeys(name for plot in PLOTS.values() for name in plot.paints))
    constants: dict[str, tuple[str, str, Any]] = {
        "SCRIPT_NAME": ("string", "what a script may be called", NAME.pattern),
        "STEPS": ("number", "what a run may cost", Limits().steps),
        "FIRST_CHART": (
            "{ symbol: string, indicators: string[] }",
            "what the page opens with",
            {"symbol": symbol, "indicators": indicators},
        ),
        "THEMES": ("Record<string, Theme>", "the colours of a chart", themes),
        "BY_BAR": (
            "Record<string, string[]>",
            "the series of each plot that have a value for each bar",
            {kind: names for kind, names in by_bar.items() if names},
        ),
        "PAINTS": ("string[]", "fields of plots with one colour, or one for each bar", paints),
    }
    declared = (
        f"/**\n * {words[0].upper()}{words[1:]}.\n * @type {{{type_}}}\n */\n"
        f"export const {name} = {json.dumps(value, indent=2)};\n"
        for name, (type_, words, value) in constants.items()
    )
    return "// Written by docs/generate.py from the code: run `make docs`.\n\n" + "\n".join(
        declared
    )


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
