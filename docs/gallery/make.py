"""Draws the gallery: `make gallery`.

Every builtin on the bundled samples, every plot kind and drawn object, the kinds of charts, in both
themes, as SVG; and README.md, which shows them all. The same code draws the same files.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from scenes import SCENES, drawn, line_kinds
from tqdm import tqdm

import chartpact as cp
from chartpact import palette
from chartpact.bars import Bars
from chartpact.catalogue import Indicator
from chartpact.charts import Chart
from chartpact.needs import HOUR, Need, Readings
from chartpact.sources.readings import FEEDS

HERE = Path(__file__).resolve().parent
THEMES = ("dark", "light")
SIZE = {"width": 900, "height": 500}
SHOWN = 200  # bars
# Where an indicator's picture ends, and what it is set to, if not as the others.
VIEWS = {
    "economic_calendar": (1831, ""),  # an event is published on the last bar
    "bias_ai": (1500, ":position=top_right"),  # its table would cover the last candles
}


@dataclass(frozen=True)
class Picture:
    """One chart of the gallery: the file's name, a caption, the chart and its look."""

    name: str
    caption: str
    chart: Callable[[], Chart]
    look: dict[str, object]


def make_readings(need: Need) -> Readings:
    """Readings that no market ever gave, so that indicators of the outside world can be shown."""
    time = np.arange(need.first - 24 * HOUR, need.last + HOUR, HOUR)
    wave = np.sin(time / (90 * HOUR)) + 0.4 * np.sin(time / (13 * HOUR))
    shapes = {
        "rate": 0.0001 * wave,
        "value": 50 + 25 * wave if need.what == "fear_greed" else 4e9 + 6e8 * wave,
        "long": 0.5 + 0.1 * wave,
        "short": 0.5 - 0.1 * wave,
    }
    return Readings(time, {name: shapes[name] for name in FEEDS[need.what].numbers})


def shipped(source: str) -> Iterator[Picture]:
    for each in cp.list_indicators():
        if each.source == source:
            yield Picture(each.name, each.description, lambda each=each: one(each), SIZE)


def one(indicator: Indicator) -> Chart:
    """An indicator alone on a sample that suits it."""
    if indicator.name in FEEDS:
        bars = replace(cp.load("sample:btc-4h"), symbol="BTCUSDT")
        return cp.chart(bars, [indicator.name], last=SHOWN, fetch=make_readings)
    end, params = VIEWS.get(indicator.name, (1500, ""))
    return cp.chart(cp.load("sample:es-5m")[:end], [indicator.name + params], last=SHOWN)


CAPTIONS = {
    "label-styles": "All 21 label styles.",
    "label-texts": "Label sizes, text formats, fonts and alignment.",
    "label-places": "Labels above and below bars, signs, and a label beyond the last bar.",
    "label-crowd": "More labels than there is room for: they move off, or keep a mark.",
    "line-styles": "Line styles in four widths: solid, dotted, dashed and three arrows.",
    "line-extends": "Lines extended left, right and both ways, an upright one, and an arrow ahead.",
    "boxes": "Boxes: nine alignments, border styles, wrapped and self-sizing text, extension.",
    "polylines": "Polylines: line styles, curves, closed and filled shapes, points ahead.",
    "linefills": "The area between two lines, extended as the lines are.",
    "table-places": "Tables in the nine places of a pane.",
    "table-cells": "Cell sizes, formats, alignment, colours, fonts, a merged row, a wide column.",
    "bars": "Bars with a colour each.",
    "colored-line": "A line with a colour for each bar, and one that colours itself.",
    "fill-auto": "A fill that changes colour exactly where the series cross, and stops at gaps.",
    "fill-ahead": "Lines and a fill that go on beyond the last bar.",
    "candles-plot": "Candles in a panel: filled, hollow with borders, wicks of their own colour.",
    "candles-over-price": "Candles of an indicator over the price, in the colours of the theme.",
    "background": "Backgrounds: a trend in two colours, and single bars over it.",
    "bar-colors": "An indicator in a panel that colours the chart's own bars, and its background.",
    "shapes": "The twelve shapes, six sizes, texts, above and below bars, at the top and bottom.",
    "shape-signals": "Shapes as most scripts use them: texts in bubbles, and crosses at prices.",
    "dots": "Dots of many sizes; a labelled one is a signal and says its name when pointed at.",
    "levels": "Levels with names, divergence lines, and a fixed range of values.",
    "profile": "Profiles from the left and from the right, with an offset.",
    "error-card": "A broken indicator: a card in its own pane, the rest untouched.",
    "everything": "Much at once.",
}


def objects() -> Iterator[Picture]:
    for name, caption in CAPTIONS.items():
        yield Picture(name, caption, SCENES[name], SIZE)
    yield Picture("plot-styles", "The plot styles.", plot_styles, {"width": 900})


def plot_styles() -> Chart:
    bars = cp.load("sample:btc-4h")[300:380]
    panels = [drawn(line_kinds(style)(bars), style, overlay=False) for style in palette.PLOT_STYLES]
    return Chart(bars, tuple(panels))


def charts() -> Iterator[Picture]:
    def es(last: int, *indicators: str) -> Callable[[], Chart]:
        return lambda: cp.chart(cp.load("sample:es-5m")[:1500], indicators, last=last)

    def btc(last: int, *indicators: str) -> Callable[[], Chart]:
        return lambda: cp.chart(cp.load("sample:btc-1d"), indicators, last=last)

    yield Picture("candles", "Candles, the default, with volume.", es(120), SIZE)
    for kind, name in (("heikin_ashi", "Heikin-Ashi"), ("bars", "OHLC bars"), ("line", "A line")):
        yield Picture(f"kind-{kind}", f"{name}.", es(120), {**SIZE, "kind": kind})
    yield Picture(
        "volume-overlay", "Volume at the foot of the price.", es(150), {**SIZE, "volume": "overlay"}
    )
    yield Picture("log", "A log scale.", btc(731, "ema_stack"), {**SIZE, "log": True})
    yield Picture("five-bars", "Five bars.", es(5, "rsi"), SIZE)
    yield Picture(
        "fifty-thousand-bars",
        "Fifty thousand bars: no high and no low is lost.",
        lambda: cp.chart(walk(50_000), ["bbands", "rsi"], last=50_000),
        SIZE,
    )
    yield Picture(
        "sessions",
        "The hours outside the session shaded, and its levels.",
        es(300, "pivot", "vwap"),
        {**SIZE, "sessions": "0930-1600", "tz": "America/New_York"},
    )
    yield Picture(
        "time-zone", "Times in New York.", es(400, "vwap"), {**SIZE, "tz": "America/New_York"}
    )
    yield Picture(
        "desk",
        "A working chart: overlays, a profile and three panels.",
        es(220, "volume_profile", "ema_stack", "supertrend", "cipher_b", "macd", "rsi"),
        {"width": 1200, "height": 900},
    )


def walk(count: int) -> Bars:
    chance = np.random.default_rng(11)
    close = np.round(100 * np.exp(np.cumsum(chance.normal(0, 0.0015, count))), 2)
    start = np.concatenate((close[:1], close[:-1]))
    high = np.maximum(start, close) + np.round(np.abs(chance.normal(0, 0.05, count)), 2)
    low = np.minimum(start, close) - np.round(np.abs(chance.normal(0, 0.05, count)), 2)
    time = 1_500_000_000_000 + 3_600_000 * np.arange(count)
    volume = np.round(chance.lognormal(6, 0.6, count))
    return Bars(time, start, high, low, close, volume, "WALK", "1h", 0.01, synthetic=True)


SECTIONS: dict[str, tuple[str, Callable[[], Iterator[Picture]]]] = {
    "charts": ("Charts", charts),
    "objects": ("Plots and drawn objects", objects),
    "builtins": ("The builtins", partial(shipped, "builtin")),
    "pacts": ("Indicators with a contract", partial(shipped, "pact")),
}


def main() -> int:
    page = [
        "# Gallery",
        "",
        "Drawn by `make gallery` from the bundled samples: synthetic data, and it says so.",
        "Funding, open interest, positions and the mood are readings made up for this page.",
        "",
    ]
    kept = {HERE / "README.md", HERE / "make.py", HERE / "scenes.py"}
    for folder, (title, pictures) in SECTIONS.items():
        page += [f"## {title}", ""]
        (HERE / folder).mkdir(exist_ok=True)
        for picture in tqdm(list(pictures()), desc=folder, file=sys.stderr):
            chart = picture.chart()
            errors = [
                each.error for each in chart.drawn if each.error and picture.name != "error-card"
            ]
            if errors:
                raise SystemExit(f"{picture.name}: {errors[0]}")
            page += [f"### {picture.name}", "", picture.caption, ""]
            for theme in THEMES:
                path = HERE / folder / f"{picture.name}-{theme}.svg"
                chart.save(path, theme=theme, **picture.look)
                kept.add(path)
                page.append(f"![{picture.name}, {theme}]({folder}/{path.name})")
            page.append("")
    (HERE / "README.md").write_text("\n".join(page))
    for path in HERE.rglob("*.svg"):
        if path not in kept:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
