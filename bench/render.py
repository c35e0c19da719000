"""How fast a chart becomes a PNG: one interleaved run against matplotlib and mplfinance.

    python bench/render.py            the table, in Markdown (about a minute)
    python bench/render.py --quick    fewer rounds
    python bench/render.py --write    also puts it into docs/benchmarks.md

Everybody draws the same chart of the same bars and ready-made series, 1200 × 800 pixels: candles,
four overlays (Bollinger bands, EMA, SMA) and three panels (volume, RSI, MACD). Times are CPU time,
the least of several rounds; a round calls everybody once before anybody twice.
"""

import argparse
import io
import platform
import struct
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
warnings.simplefilter("ignore")  # mplfinance warns of thousands of candles

import matplotlib.pyplot as plt  # noqa: E402
import mplfinance as mpf  # noqa: E402
import pandas as pd  # noqa: E402
from matplotlib.collections import LineCollection, PolyCollection  # noqa: E402
from tqdm import tqdm  # noqa: E402

from chartpact import ta  # noqa: E402
from chartpact.bars import Bars  # noqa: E402
from chartpact.catalogue import Catalogue  # noqa: E402
from chartpact.charts import Chart  # noqa: E402
from chartpact.render import svg  # noqa: E402
from chartpact.render.pool import PicturePool  # noqa: E402
from chartpact.render.raster import rasterize  # noqa: E402
from chartpact.scene import BarsPlot, Drawn, FillPlot, HLinePlot, LinePlot, Scene  # noqa: E402

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench:render -->", "<!-- /bench:render -->"
WIDTH, HEIGHT = 1200, 800
UP, DOWN = "#089981", "#f23645"
BLUE, ORANGE, PURPLE = "#2196f3", "#ff9800", "#9c27b0"


def walk(count: int) -> Bars:
    """Hourly bars of a random walk, the same every time."""
    chance = np.random.default_rng(5)
    close = np.round(100 * np.exp(np.cumsum(chance.normal(0, 0.002, count))), 2)
    start = np.concatenate((close[:1], close[:-1]))
    high = np.maximum(start, close) + np.round(np.abs(chance.normal(0, 0.1, count)), 2)
    low = np.minimum(start, close) - np.round(np.abs(chance.normal(0, 0.1, count)), 2)
    time = 1_700_000_400_000 + 3_600_000 * np.arange(count)
    volume = np.round(chance.lognormal(6, 0.6, count))
    return Bars(time, start, high, low, close, volume, "WALK", "1h", 0.01, synthetic=True)


@dataclass(frozen=True)
class Series:
    """The bars and everything that is drawn on them."""

    bars: Bars
    upper: Any
    lower: Any
    ema: Any
    sma: Any
    rsi: Any
    macd: Any
    signal: Any
    hist: Any

    @classmethod
    def of(cls, bars: Bars) -> "Series":
        _, upper, lower = ta.bb(bars.close, 20, 2)
        macd, signal, hist = ta.macd(bars.close, 12, 26, 9)
        ema, sma = ta.ema(bars.close, 21), ta.sma(bars.close, 50)
        return cls(bars, upper, lower, ema, sma, ta.rsi(bars.close, 14), macd, signal, hist)


def our_chart(series: Series) -> Chart:
    bands = [
        FillPlot(a=series.upper, b=series.lower, color=BLUE, alpha=0.1),
        LinePlot(values=series.upper, color=BLUE, title="Upper"),
        LinePlot(values=series.lower, color=BLUE, title="Lower"),
    ]
    levels = [HLinePlot(y=y, color="gray", style="dashed") for y in (70, 30)]
    macd = [
        BarsPlot(values=series.hist, color="auto", title="Histogram"),
        LinePlot(values=series.macd, color="blue", title="MACD"),
        LinePlot(values=series.signal, color=ORANGE, title="Signal"),
    ]
    scenes = {
        "bbands": Scene(plots=bands, label="BB 20 2"),
        "ema_stack": Scene(plots=[LinePlot(values=series.ema, color=ORANGE, title="EMA")]),
        "vwap": Scene(plots=[LinePlot(values=series.sma, color=PURPLE, title="SMA")]),
        "rsi": Scene(
            plots=[LinePlot(values=series.rsi, color=PURPLE, title="RSI"), *levels],
            y_range=(0, 100),
        ),
        "macd": Scene(plots=macd),
    }
    drawn = tuple(
        Drawn(name, name, title=found.title, overlay=found.overlay, scene=scene)
        for name, scene in scenes.items()
        if (found := Catalogue().resolve(name))
    )
    return Chart(series.bars, drawn)


def ours(series: Series) -> Callable[[], bytes]:
    chart = our_chart(series)  # drawn in this process, where its CPU time is counted
    return lambda: rasterize(svg(chart, fonts=False, width=WIDTH, height=HEIGHT))


def with_matplotlib(series: Series) -> Callable[[], bytes]:
    bars = series.bars
    x = np.arange(len(bars))
    rising = bars.close >= bars.open
    colors = np.where(rising, UP, DOWN)
    labels = pd.to_datetime(bars.time, unit="ms").strftime("%d %b")
    body_low, body_high = np.minimum(bars.open, bars.close), np.maximum(bars.open, bars.close)
    wicks = np.stack((np.stack((x, bars.low), 1), np.stack((x, bars.high), 1)), 1)
    corners = ((x - 0.4, body_low), (x - 0.4, body_high), (x + 0.4, body_high), (x + 0.4, body_low))
    bodies = np.stack([np.stack(corner, 1) for corner in corners], 1)

    def draw() -> bytes:
        figure, panes = plt.subplots(
            4,
            1,
            sharex=True,
            figsize=(WIDTH / 100, HEIGHT / 100),
            dpi=100,
            gridspec_kw={"height_ratios": [5, 1, 1.3, 1.3], "hspace": 0},
            facecolor="#131722",
        )
        price, volume, rsi, macd = panes
        for pane in panes:
            pane.set_facecolor("#131722")
            pane.grid(color="#1f2431")
            pane.tick_params(colors="#9a9ea9")
            pane.yaxis.tick_right()
        price.add_collection(LineCollection(wicks, colors=colors, linewidths=0.8))
        price.add_collection(PolyCollection(bodies, facecolors=colors))
        price.fill_between(x, series.upper, series.lower, color=BLUE, alpha=0.1)
        for values, color, name in (
            (series.upper, BLUE, "Upper"),
            (series.lower, BLUE, "Lower"),
            (series.ema, ORANGE, "EMA"),
            (series.sma, PURPLE, "SMA"),
        ):
            price.plot(x, values, color=color, linewidth=1, label=name)
        price.legend(loc="upper left")
        price.set_title("WALK 1h", loc="left", color="white")
        volume.vlines(x, 0, bars.volume, colors=colors)
        rsi.plot(x, series.rsi, color=PURPLE, linewidth=1)
        rsi.axhline(70, color="gray", linestyle="--")
        rsi.axhline(30, color="gray", linestyle="--")
        macd.vlines(x, 0, series.hist, colors=np.where(series.hist >= 0, UP, DOWN))
        macd.plot(x, series.macd, color="#2962ff", linewidth=1)
        macd.plot(x, series.signal, color=ORANGE, linewidth=1)
        ticks = np.linspace(0, len(bars) - 1, 9).astype(int)
        macd.set_xticks(ticks, labels[ticks])
        price.set_xlim(-1, len(bars) + 5)
        out = io.BytesIO()
        figure.savefig(out, format="png")
        plt.close(figure)
        return out.getvalue()

    return draw


def with_mplfinance(series: Series) -> Callable[[], bytes]:
    bars = series.bars
    frame = pd.DataFrame(
        {
            "Open": bars.open,
            "High": bars.high,
            "Low": bars.low,
            "Close": bars.close,
            "Volume": bars.volume,
        },
        index=pd.to_datetime(bars.time, unit="ms"),
    )

    def draw() -> bytes:
        more = [
            mpf.make_addplot(series.upper, color=BLUE, width=1),
            mpf.make_addplot(series.lower, color=BLUE, width=1),
            mpf.make_addplot(series.ema, color=ORANGE, width=1),
            mpf.make_addplot(series.sma, color=PURPLE, width=1),
            mpf.make_addplot(series.rsi, panel=2, color=PURPLE, width=1),
            mpf.make_addplot(series.hist, panel=3, type="bar"),
            mpf.make_addplot(series.macd, panel=3, color="#2962ff", width=1),
            mpf.make_addplot(series.signal, panel=3, color=ORANGE, width=1),
        ]
        out = io.BytesIO()
        figure, _ = mpf.plot(
            frame,
            type="candle",
            style="nightclouds",
            volume=True,
            addplot=more,
            figsize=(WIDTH / 100, HEIGHT / 100),
            warn_too_much_data=10**9,
            returnfig=True,
        )
        figure.savefig(out, format="png", dpi=100)
        plt.close(figure)
        return out.getvalue()

    return draw


def fastest(contenders: dict[str, Callable[[], bytes]], rounds: dict[str, int]) -> dict[str, float]:
    """The least CPU time of each, in ms; everybody draws once before anything is timed."""
    for name, draw in contenders.items():
        width, height = struct.unpack(">II", draw()[16:24])
        if (width, height) != (WIDTH, HEIGHT):
            raise SystemExit(f"{name} drew {width} × {height} pixels")
    best = dict.fromkeys(contenders, float("inf"))
    for turn in tqdm(range(max(rounds.values())), file=sys.stderr, desc="rounds"):
        for name, draw in contenders.items():
            if turn < rounds[name]:
                start = process_time()
                draw()
                best[name] = min(best[name], 1e3 * (process_time() - start))
    return best


def pooled(series: Series, rounds: int) -> tuple[float, float]:
    """Wall time of a PNG from the process pool, the first and the fastest of the others, in ms."""
    document = svg(our_chart(series), fonts=False, width=WIDTH, height=HEIGHT)
    pool = PicturePool(size=1)
    times = []
    for _ in range(rounds + 1):
        start = perf_counter()
        pool.png(document)
        times.append(1e3 * (perf_counter() - start))
    pool.close()
    return times[0], min(times[1:])


def table(quick: bool) -> str:
    few, many = Series.of(walk(500)), Series.of(walk(5000))
    contenders = {
        "chartpact, 500 bars": ours(few),
        "matplotlib, 500 bars": with_matplotlib(few),
        "mplfinance, 500 bars": with_mplfinance(few),
        "chartpact, 5 000 bars": ours(many),
        "matplotlib, 5 000 bars": with_matplotlib(many),
    }
    rounds = dict.fromkeys(contenders, 5 if quick else 15)
    rounds["mplfinance, 500 bars"] = 2 if quick else 4
    best = fastest(contenders, rounds)
    first, later = pooled(few, 5)
    size = len(our_chart(many).svg(width=WIDTH, height=HEIGHT).encode()) / 1000
    base = best["chartpact, 500 bars"]
    lines = [
        f"{date.today()}, Python {platform.python_version()}, {platform.system()} "
        f"{platform.machine()}; resvg {version('resvg')}, matplotlib {mpl.__version__}, "
        f"mplfinance {version('mplfinance')}.",
        "",
        "| PNG of 1200 × 800 | CPU ms | × chartpact, 500 bars |",
        "|---|---:|---:|",
        *(f"| {name} | {ms:.0f} | {ms / base:.1f} |" for name, ms in best.items()),
        "",
        f"The SVG of the 5 000 bars has {size:.0f} KB, fonts included. From the process pool a PNG "
        f"of 500 bars takes {later:.0f} ms of wall time, the first one {first:.0f} ms.",
    ]
    return "\n".join(lines)


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--quick", action="store_true", help="fewer rounds")
    options.add_argument("--write", action="store_true", help="put the table into the docs")
    asked = options.parse_args()
    found = table(asked.quick)
    print(found)
    if asked.write:
        page = PAGE.read_text()
        head, _, rest = page.partition(BEGIN)
        _, _, tail = rest.partition(END)
        PAGE.write_text(f"{head}{BEGIN}\n{found}\n{END}{tail}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
