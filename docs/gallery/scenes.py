"""Scenes that show every plot kind and every drawn object with all its attributes.

The gallery draws them, and the golden tests hold their structure.
"""

from collections.abc import Callable, Mapping

import numpy as np

import chartpact as cp
from chartpact import palette, ta
from chartpact.bars import Bars
from chartpact.charts import Chart
from chartpact.problem import Problem
from chartpact.scene import (
    Anchor,
    BackgroundPlot,
    BarColorPlot,
    BarsPlot,
    Box,
    CandlesPlot,
    Cell,
    DivLinePlot,
    DotPlot,
    Drawn,
    FillPlot,
    HBarPlot,
    HLinePlot,
    Label,
    Line,
    Linefill,
    LinePlot,
    Marks,
    Point,
    Polyline,
    Scene,
    ShapePlot,
    Table,
    Vertex,
)

GREEN, RED, BLUE, ORANGE, PURPLE = "#089981", "#f23645", "#2962ff", "#ff9800", "#9c27b0"


def drawn(scene: Scene, title: str, overlay: bool = True) -> Drawn:
    return Drawn(title, title, title=title, overlay=overlay, scene=scene)


def bars(count: int = 80) -> Bars:
    return cp.load("sample:btc-4h")[300 : 300 + count]


def at(bar: int) -> Anchor:
    return Anchor(n=None, bar=bar, time=None)


def over_price(title: str, make: Callable[[Bars], Scene], count: int = 80) -> Chart:
    shown = bars(count)
    return Chart(shown, (drawn(make(shown), title),))


def in_panel(title: str, make: Callable[[Bars], Scene], count: int = 80) -> Chart:
    shown = bars(count)
    return Chart(shown, (drawn(make(shown), title, overlay=False),))


def _levels(shown: Bars, count: int) -> list[float]:
    """Round heights spread over the prices."""
    return np.linspace(shown.low.min(), shown.high.max(), count).tolist()


# ------------------------------------------------------------------------------------------ labels


def label_styles(shown: Bars) -> Scene:
    heights = _levels(shown, 5)[1:4][::-1]
    labels = [
        Label(
            id=i,
            x=at(5 + (i % 7) * 11),
            y=heights[i // 7],
            text=style.replace("label_", ""),
            style=style,
            color=(BLUE, GREEN, RED, PURPLE)[i % 4],
            text_color="#ffffff",
        )
        for i, style in enumerate(palette.LABEL_STYLES)
    ]
    return Scene(labels=labels)


def label_texts(shown: Bars) -> Scene:
    heights = _levels(shown, 6)
    labels = []
    for i, size in enumerate(("tiny", "small", "normal", "large", "huge", 16, "auto")):
        labels.append(Label(id=i, x=at(6 + 11 * i), y=heights[4], text=f"{size}", size=size))
    for i, formatting in enumerate(palette.FORMATS):
        for j, family in enumerate(palette.FONTS):
            labels.append(
                Label(
                    id=100 + 2 * i + j,
                    x=at(10 + 19 * i),
                    y=heights[1] if j else heights[2],
                    text=f"{formatting}\n{family}",
                    text_formatting=formatting,
                    text_font_family=family,
                    color="#363a45",
                )
            )
    for i, align in enumerate(palette.HALIGNS):
        labels.append(
            Label(
                id=200 + i,
                x=at(14 + 26 * i),
                y=heights[0],
                text=f"{align}\naligned text\nof three lines",
                style="label_center",
                text_align=align,
                color=PURPLE,
            )
        )
    return Scene(labels=labels)


def label_places(shown: Bars) -> Scene:
    labels = []
    for i in range(3, len(shown) - 3, 7):
        up = shown.close[i] >= shown.open[i]
        labels.append(
            Label(
                id=i,
                x=at(i),
                y=None,
                yloc="belowbar" if up else "abovebar",
                style="label_up" if up else "label_down",
                color=GREEN if up else RED,
                text="BUY" if up else "SELL",
            )
        )
    for i, style in enumerate(("arrowup", "triangleup", "circle", "diamond", "xcross")):
        labels.append(
            Label(
                id=300 + i,
                x=at(6 + 14 * i),
                y=None,
                yloc="belowbar" if i % 2 else "abovebar",
                style=style,
                color=ORANGE,
                text="",
                size="small",
            )
        )
    labels.append(
        Label(id=400, x=at(len(shown) + 6), y=float(shown.close[-1]), text="ahead", color=BLUE)
    )
    return Scene(labels=labels)


def label_crowd(shown: Bars) -> Scene:
    """Many more labels than there is room for."""
    return Scene(
        labels=[
            Label(
                id=i,
                x=at(i),
                y=float(shown.high[i] if i % 2 else shown.low[i]),
                text=f"swing {i}",
                style="label_down" if i % 2 else "label_up",
                color=RED if i % 2 else GREEN,
            )
            for i in range(len(shown))
        ]
    )


# ------------------------------------------------------------------------------- lines and boxes


def line_styles(shown: Bars) -> Scene:
    heights = _levels(shown, 8)[1:7]
    lines = [
        Line(
            id=10 * i + width,
            x1=at(4 + 19 * (width - 1)),
            y1=heights[i],
            x2=at(18 + 19 * (width - 1)),
            y2=heights[i] * 1.004,
            style=style,
            width=width,
            color=(BLUE, ORANGE, GREEN, RED)[width - 1],
        )
        for i, style in enumerate(palette.LINE_STYLES)
        for width in (1, 2, 3, 4)
    ]
    return Scene(lines=lines)


def line_extends(shown: Bars) -> Scene:
    heights = _levels(shown, 6)
    lines = [
        Line(
            id=i,
            x1=at(30),
            y1=heights[i + 1],
            x2=at(50),
            y2=heights[i + 1] + (heights[1] - heights[0]) * 0.35,
            extend=extend,
            width=2,
            color=(BLUE, ORANGE, GREEN, PURPLE)[i],
        )
        for i, extend in enumerate(palette.EXTENDS)
    ]
    upright = Line(
        id=9, x1=at(64), y1=heights[1], x2=at(64), y2=heights[2], extend="both", style="dashed"
    )
    beyond = Line(
        id=10,
        x1=at(70),
        y1=heights[4],
        x2=at(len(shown) + 8),
        y2=heights[2],
        style="arrow_right",
        width=2,
        color=RED,
    )
    return Scene(lines=[*lines, upright, beyond])


def boxes(shown: Bars) -> Scene:
    heights = _levels(shown, 9)
    found = []
    for i, (halign, valign) in enumerate(
        (halign, valign) for valign in palette.VALIGNS for halign in palette.HALIGNS
    ):
        column, row = i % 3, i // 3
        found.append(
            Box(
                id=i,
                left=at(2 + 17 * column),
                top=heights[8 - 2 * row],
                right=at(16 + 17 * column),
                bottom=heights[7 - 2 * row],
                text=f"{valign} {halign}",
                text_halign=halign,
                text_valign=valign,
                text_size="small",
                text_color="#ffffff",
                border_color=(BLUE, ORANGE, GREEN)[column],
                border_style=palette.BORDER_STYLES[row],
                border_width=1 + row,
                bgcolor=(f"{BLUE}33", f"{ORANGE}33", f"{GREEN}33")[column],
            )
        )
    long = "a long text that is wrapped to the width of its box and cut off where the box ends"
    for i, wrap in enumerate(palette.WRAPS):
        found.append(
            Box(
                id=20 + i,
                left=at(55),
                top=heights[8 - 3 * i],
                right=at(74),
                bottom=heights[6 - 3 * i],
                text=long if wrap == "auto" else "auto size",
                text_wrap=wrap,
                text_size="normal" if wrap == "auto" else "auto",
                text_color="#ffffff",
                text_formatting="bold" if wrap == "none" else "none",
                border_color=PURPLE,
                bgcolor=f"{PURPLE}40",
            )
        )
    for i, extend in enumerate(("left", "right", "both")):
        found.append(
            Box(
                id=30 + i,
                left=at(30),
                top=heights[1] - i * (heights[1] - heights[0]) * 0.7,
                right=at(50),
                bottom=heights[1] - (i + 0.45) * (heights[1] - heights[0]) * 0.7,
                extend=extend,
                text=f"extend {extend}",
                text_color="#fdd835",
                border_color="#787b86",
                bgcolor="#787b8630",
            )
        )
    return Scene(boxes=found)


def corners(*points: tuple[int, float]) -> list[Vertex]:
    return [Vertex(bar, None, float(y)) for bar, y in points]


def polylines(shown: Bars) -> Scene:
    heights = _levels(shown, 9)
    step = heights[1] - heights[0]
    found = []
    for i, style in enumerate(palette.LINE_STYLES):
        y = heights[8] - 0.75 * i * step
        points = [(2 + 3 * k, y + (0.25 if k % 2 else -0.25) * step) for k in range(8)]
        found.append(
            Polyline(id=i, points=corners(*points), curved=i % 2 == 1, line_style=style,
                     line_width=1 + i // 2, line_color=(BLUE, ORANGE, GREEN)[i % 3])
        )  # fmt: skip
    star = [
        (42 + round(7 * r * np.sin(a)), heights[6] + 1.6 * r * step * np.cos(a))
        for k in range(10)
        for a, r in [(k * np.pi / 5, 0.45 if k % 2 else 1.0)]
    ]
    for i, curved in enumerate((False, True)):
        moved = [(bar + 20 * i, y) for bar, y in star]
        found.append(
            Polyline(id=20 + i, points=corners(*moved), curved=curved, closed=True, line_width=2,
                     line_color=PURPLE, fill_color=f"{PURPLE}40")
        )  # fmt: skip
    swings = [(2, 2.6), (12, 1.0), (24, 3.4), (36, 0.6), (52, 2.8), (66, 0.4), (90, 3.2)]
    raised = [(bar, heights[0] + y * step) for bar, y in swings]
    found.append(Polyline(id=30, points=corners(*raised), curved=True, line_color=BLUE,
                          line_width=2))  # fmt: skip
    found.append(Polyline(id=31, points=corners(*raised), line_color="#787b86",
                          line_style="dotted"))  # fmt: skip
    open_fill = [(70, heights[5]), (74, heights[7]), (78, heights[4])]
    found.append(Polyline(id=32, points=corners(*open_fill), line_color=RED,
                          fill_color=f"{RED}33"))  # fmt: skip
    return Scene(polylines=found)


def linefills(shown: Bars) -> Scene:
    """Channels between two lines: within them, extended one way and both ways, and crossing."""
    heights = _levels(shown, 11)
    step = heights[1] - heights[0]
    lines, fills = [], []

    def channel(left: int, right: int, y: float, rise: float, color: str, extend: str) -> None:
        one, other = (
            Line(id=len(lines) + k, x1=at(left), y1=y - k * step, x2=at(right),
                 y2=y + rise * step - k * step * (1 if rise else -1), extend=extend, color=color)
            for k in (0, 1)
        )  # fmt: skip
        lines.extend((one, other))
        fills.append(Linefill(id=100 + len(fills), line1=one.id, line2=other.id,
                              color=f"{color}33"))  # fmt: skip

    channel(4, 30, heights[9], -1.5, BLUE, "none")
    channel(44, 60, heights[7], 1.5, GREEN, "right")
    channel(16, 28, heights[4], 0.7, ORANGE, "both")
    channel(50, 74, heights[2], 0, PURPLE, "none")
    upright = [
        Line(id=50 + k, x1=at(36 + 4 * k), y1=heights[1], x2=at(36 + 4 * k), y2=heights[2],
             extend="both", color=RED, style="dashed")
        for k in (0, 1)
    ]  # fmt: skip
    fills.append(Linefill(id=200, line1=50, line2=51, color=f"{RED}1a"))
    return Scene(lines=[*lines, *upright], linefills=fills)


# ------------------------------------------------------------------------------------------ tables


def table_places(shown: Bars) -> Scene:  # noqa: ARG001
    tables = [
        Table(
            id=i,
            position=position,
            columns=2,
            rows=2,
            frame_color="#787b86",
            frame_width=1,
            border_color="#787b86",
            border_width=1,
            cells=[
                Cell(
                    id=0, column=0, row=0, end_column=1, end_row=0,
                    text=position, size="small", bgcolor=BLUE, text_color="#ffffff",
                ),
                Cell(id=1, column=0, row=1, text="Win %", size="small", bgcolor="#363a45ff",
                     text_color="#ffffff"),
                Cell(id=2, column=1, row=1, text="57.3", size="small", bgcolor=GREEN,
                     text_color="#ffffff"),
            ],
        )
        for i, position in enumerate(palette.POSITIONS)
    ]  # fmt: skip
    return Scene(tables=tables)


def table_cells(shown: Bars) -> Scene:  # noqa: ARG001
    cells = []
    for column, size in enumerate(("tiny", "small", "normal", "large")):
        cells.append(
            Cell(id=column, column=column, row=0, text=size, size=size, bgcolor=BLUE,
                 text_color="#ffffff")
        )  # fmt: skip
    for column, formatting in enumerate(palette.FORMATS):
        cells.append(
            Cell(id=10 + column, column=column, row=1, text=formatting, size="small",
                 text_formatting=formatting, text_color="#ffffff", bgcolor="#434651ff")
        )  # fmt: skip
    for column, halign in enumerate(palette.HALIGNS):
        cells.append(
            Cell(id=20 + column, column=column, row=2, text=halign, size="small",
                 text_halign=halign, text_valign=palette.VALIGNS[column], height=12,
                 text_color="#fdd835", bgcolor="#2a2e39ff", tooltip=f"aligned {halign}")
        )  # fmt: skip
    cells.append(
        Cell(id=30, column=3, row=2, text="mono", size=11, text_font_family="monospace",
             text_color="#ffffff", bgcolor=f"{RED}99")
    )  # fmt: skip
    cells.append(
        Cell(id=40, column=0, row=3, end_column=3, end_row=3, size="small",
             text="merged over four columns", text_color="#ffffff", bgcolor=f"{PURPLE}cc")
    )  # fmt: skip
    cells.append(Cell(id=50, column=0, row=4, text="no ground", size="small"))
    cells.append(Cell(id=51, column=1, row=4, text="wide", size="small", width=16, bgcolor=GREEN))
    return Scene(
        tables=[
            Table(
                id=1,
                position="middle_center",
                columns=4,
                rows=5,
                bgcolor="#1e222dcc",
                frame_color=ORANGE,
                frame_width=2,
                border_color="#50535e",
                border_width=1,
                cells=cells,
            )
        ]
    )


# ------------------------------------------------------------------------------------------- plots


def _wave(count: int, length: float, height: float = 1.0, shift: float = 0.0) -> np.ndarray:
    return height * np.sin(np.arange(count) * 2 * np.pi / length + shift)


def line_kinds(style: str) -> Callable[[Bars], Scene]:
    def make(shown: Bars) -> Scene:
        values = _wave(len(shown), 40) + 0.3 * _wave(len(shown), 9)
        values[30:34] = np.nan
        return Scene(
            plots=[LinePlot(values=values, style=style, width=2, color=BLUE, title=style)],
            label=f"line, {style}",
        )

    return make


def colored_line(shown: Bars) -> Scene:
    values = ta.sma(shown.close, 9)
    rising = np.diff(values, prepend=np.nan) >= 0
    colors = [None if np.isnan(v) else GREEN if up else RED for v, up in zip(values, rising)]  # noqa: B905
    return Scene(
        plots=[
            LinePlot(values=values, color=colors, width=3, title="SMA"),
            LinePlot(values=ta.sma(shown.close, 3), color="auto", title="auto"),
        ],
        label="Coloured line",
    )


def bars_plot(shown: Bars) -> Scene:
    values = _wave(len(shown), 30) * 2 + _wave(len(shown), 7)
    rising = np.diff(values, prepend=0) >= 0
    shades = [
        (GREEN if up else f"{GREEN}80") if v >= 0 else (RED if not up else f"{RED}80")
        for v, up in zip(values, rising, strict=True)
    ]
    return Scene(plots=[BarsPlot(values=values, color=shades, title="Hist")], label="Bars")


def fill_auto(shown: Bars) -> Scene:
    a, b = _wave(len(shown), 33), _wave(len(shown), 33, 0.6, 1.2)
    a[40:44] = np.nan
    return Scene(
        plots=[
            FillPlot(a=a, b=b, color="auto", alpha=0.35),
            LinePlot(values=a, color=GREEN, title="a"),
            LinePlot(values=b, color=RED, title="b"),
        ],
        label="Fill, auto",
    )


def fill_ahead(shown: Bars) -> Scene:
    count, more = len(shown), 20
    middle = ta.sma(shown.close, 9)
    a, b = middle * 1.01, middle * (0.99 + 0.02 * _wave(count, 50))
    last_a, last_b = a[-1], b[-1]
    ahead_a, ahead_b = last_a * (1 + 0.001 * np.arange(1, more + 1)), np.full(more, last_b)
    return Scene(
        plots=[
            FillPlot(a=a, b=b, a_ahead=ahead_a, b_ahead=ahead_b, color=BLUE, alpha=0.15),
            LinePlot(values=a, ahead=ahead_a, color=BLUE, title="upper"),
            LinePlot(values=b, ahead=ahead_b, color=ORANGE, title="lower"),
        ],
        label="Fill, ahead",
    )


def dots(shown: Bars) -> Scene:
    values = _wave(len(shown), 40)
    points = [
        Point(x=i, y=float(values[i]), size=float(2 + i % 9), label="buy" if i % 8 == 0 else None)
        for i in range(0, len(shown), 2)
    ]
    colors = [(BLUE, ORANGE, f"{PURPLE}99")[i % 3] for i in range(len(points))]
    return Scene(
        plots=[LinePlot(values=values, color="#787b86"), DotPlot(points=points, color=colors)],
        label="Dots",
    )


def levels(shown: Bars) -> Scene:
    values = 50 + _wave(len(shown), 40, 32)
    return Scene(
        plots=[
            LinePlot(values=values, color=PURPLE, width=2, title="value"),
            HLinePlot(y=80, color=RED, style="solid", title="high"),
            HLinePlot(y=50, color="#787b86", style="dotted"),
            HLinePlot(y=20, color=GREEN, style="dashed", title="low"),
            DivLinePlot(x1=10, y1=82, x2=50, y2=74, color=RED, style="dashed"),
            DivLinePlot(x1=30, y1=18, x2=70, y2=26, color=GREEN),
        ],
        label="Levels and divergences",
        y_range=(0, 100),
    )


def profile(shown: Bars) -> Scene:
    edges = np.linspace(shown.low.min(), shown.high.max(), 25)
    middles = (edges[1:] + edges[:-1]) / 2
    weight, _ = np.histogram(shown.hlc3, edges, weights=shown.volume)
    share = weight / weight.max()
    left = [
        HBarPlot(y=y, height=(edges[1] - edges[0]) * 0.9, width=0.2 * w, color=f"{BLUE}59")
        for y, w in zip(middles, share, strict=True)
        if w > 0
    ]
    right = [
        HBarPlot(
            y=y, height=(edges[1] - edges[0]) * 0.9, width=0.12 * w, side="right",
            offset=0.05, color=f"{ORANGE}66",
        )
        for y, w in zip(middles, share, strict=True)
        if w > 0
    ]  # fmt: skip
    return Scene(plots=[*left, *right], label="Profile")


def broken() -> Chart:
    shown = bars(80)
    error = Problem(
        "time",
        "the script ran for more than 1000 ms and was stopped",
        "line 12 loops over every bar for every bar; keep a running value instead",
    )
    values = LinePlot(values=50 + _wave(80, 30, 30), color=PURPLE, width=2, title="RSI")
    return Chart(
        shown,
        (
            Drawn("my_script:length=9000", "my_script", error=error),
            drawn(Scene(plots=[values], label="RSI", y_range=(0, 100)), "rsi", overlay=False),
        ),
    )


def ground(row: int, column: int, value: str) -> str:
    if row == 0:
        return BLUE
    if column < 2:
        return "#1e222dff"
    return f"{RED}80" if "−" in value else f"{GREEN}80"


def everything(shown: Bars) -> Scene:
    """Much at once: what a busy script draws."""
    middle = ta.sma(shown.close, 20)
    width = 2 * ta.stdev(shown.close, 20)
    upper, lower = middle + width, middle - width
    count = len(shown)
    labels, lines, found = [], [], []
    for i in range(12, count, 26):
        up = i % 52 == 12
        labels.append(
            Label(id=i, x=at(i), y=None, yloc="belowbar" if up else "abovebar",
                  style="label_up" if up else "label_down", text="BUY" if up else "SELL",
                  color=GREEN if up else RED)
        )  # fmt: skip
    high, low = float(shown.high.max()), float(shown.low.min())
    found.append(
        Box(id=1, left=at(count // 4), top=float(shown.high[count // 4 : count // 3].max()),
            right=at(count // 3), bottom=float(shown.low[count // 4 : count // 3].min()),
            text="Consolidation", text_valign="top", text_color="#fdd835",
            border_color="#fdd835", bgcolor="#fdd83526")
    )  # fmt: skip
    lines.append(Line(id=2, x1=at(count // 2), y1=high, x2=at(count * 5 // 8), y2=(high + low) / 2,
                      style="arrow_right", width=2, color="#b2b5be"))  # fmt: skip
    level = low + (high - low) * 0.2
    lines.append(
        Line(id=3, x1=at(count // 3), y1=level, x2=at(count // 2), y2=level, extend="right",
             style="dashed", color=RED)
    )  # fmt: skip
    rows = [("Stat", "Value", "Δ"), ("Sharpe", "1.84", "+0.12"), ("Win %", "57.3", "+1.1"),
            ("Max DD", "−12.4", "−0.8")]  # fmt: skip
    cells = [
        Cell(
            id=10 * r + c, column=c, row=r, text=value, size="small", text_color="#ffffff",
            text_formatting="bold" if r == 0 else "none",
            bgcolor=ground(r, c, value),
        )
        for r, row in enumerate(rows)
        for c, value in enumerate(row)
    ]  # fmt: skip
    table = Table(id=1, position="top_right", columns=3, rows=4, border_color="#434651",
                  border_width=1, frame_color="#434651", frame_width=1, cells=cells)  # fmt: skip
    return Scene(
        plots=[
            FillPlot(a=upper, b=lower, color="#2196f3", alpha=0.08),
            LinePlot(values=upper, color="#2196f3b3", title="Upper"),
            LinePlot(values=middle, color=ORANGE, title="Basis"),
            LinePlot(values=lower, color="#2196f3b3", title="Lower"),
        ],
        labels=labels,
        lines=lines,
        boxes=found,
        tables=[table],
        label="BB 20 2",
    )


def candles_plot(shown: Bars) -> Scene:
    """Filled candles, hollow ones with borders, grey wicks, and a gap."""
    change = shown.close - shown.open[0]
    start = np.concatenate((change[:1], change[:-1]))
    high = np.maximum(start, change) + (shown.high - shown.low) / 3
    low = np.minimum(start, change) - (shown.high - shown.low) / 3
    rising = change >= start
    start[-6:-4] = np.nan  # two candles are unknown
    color = [BLUE if up else ORANGE for up in rising]
    body = [None if up and 20 <= i < 40 else BLUE if up else ORANGE for i, up in enumerate(rising)]
    wick = ["#787b86" if 40 <= i < 60 else one for i, one in enumerate(color)]
    return Scene(
        plots=[
            CandlesPlot(open=start, high=high, low=low, close=change, color=body,
                        wick_color=wick, border_color=color, title="Change"),
            HLinePlot(y=0, color="#787b86", style="dotted"),
        ]
    )  # fmt: skip


def candles_auto(shown: Bars) -> Scene:
    """Averaged candles over the price, in the colours of the theme."""
    smooth = [ta.ema(one, 8) for one in (shown.open, shown.high, shown.low, shown.close)]
    prices = dict(zip(("open", "high", "low", "close"), smooth, strict=True))
    return Scene(plots=[CandlesPlot(**prices, title="Smoothed")])


def background(shown: Bars) -> Scene:
    fast, slow = ta.ema(shown.close, 5), ta.ema(shown.close, 20)
    trend = [f"{GREEN}26" if up else f"{RED}26" for up in fast >= slow]
    spike = np.argsort(shown.high - shown.low)[-4:]
    marked = [f"{BLUE}59" if i in spike else None for i in range(len(shown))]
    return Scene(
        plots=[
            BackgroundPlot(color=trend),
            BackgroundPlot(color=marked),
            LinePlot(values=fast, color=BLUE, title="Fast"),
            LinePlot(values=slow, color=ORANGE, title="Slow"),
        ]
    )


def bar_colors(shown: Bars) -> Scene:
    rsi = ta.rsi(shown.close, 7)
    colors = [ORANGE if value > 65 else PURPLE if value < 35 else None for value in rsi]
    return Scene(
        plots=[
            BarColorPlot(color=colors),
            BackgroundPlot(color="#2962ff14"),
            LinePlot(values=rsi, color=BLUE, title="RSI"),
        ]
    )


def shapes(shown: Bars) -> Scene:
    """Every shape above and below bars, all sizes, texts, and the top and bottom of the pane."""
    every = list(palette.SHAPES)
    plots = []
    for i, name in enumerate(every):
        up = name.endswith("up")
        x = [2 + 6 * i]
        plots.append(
            ShapePlot(points=Marks(x=x, y=[np.nan], text=[name]), shape=name, color=GREEN if up
                      else RED if name.endswith("down") else BLUE, size="normal",
                      location="belowbar" if up else "abovebar")
        )  # fmt: skip
    for i, size in enumerate(("tiny", "small", "normal", "large", "huge", "auto")):
        points = Marks(x=[4 + 12 * i], y=[np.nan], text=[size])
        plots.append(ShapePlot(points=points, shape="triangleup", location="bottom", size=size,
                               color=PURPLE, text_color="#787b86"))  # fmt: skip
    points = Marks(x=np.arange(0, len(shown), 8), y=np.full(10, np.nan), text=[""] * 10)
    plots.append(ShapePlot(points=points, shape="diamond", location="top", size="small",
                           color=[ORANGE, None] * 5))  # fmt: skip
    return Scene(plots=plots)


def signals_as_shapes(shown: Bars) -> Scene:
    """What most scripts draw: buy and sell labels, and crosses at the prices of the exits."""
    fast, slow = ta.ema(shown.close, 5), ta.ema(shown.close, 13)
    buy, sell = (np.flatnonzero(cross) for cross in (ta.crossover(fast, slow),
                                                     ta.crossunder(fast, slow)))  # fmt: skip
    exits = np.minimum(np.concatenate((buy, sell)) + 3, len(shown) - 1)
    none = [np.nan] * max(len(buy), len(sell))
    return Scene(
        plots=[
            LinePlot(values=fast, color=BLUE), LinePlot(values=slow, color=ORANGE),
            ShapePlot(points=Marks(x=buy, y=none[: len(buy)], text=["Buy"] * len(buy)),
                      shape="labelup", location="belowbar", color=GREEN, size="small",
                      text_color="#ffffff"),
            ShapePlot(points=Marks(x=sell, y=none[: len(sell)], text=["Sell"] * len(sell)),
                      shape="labeldown", location="abovebar", color=RED, size="small",
                      text_color="#ffffff"),
            ShapePlot(points=Marks(x=exits, y=shown.close[exits], text=[""] * len(exits)),
                      shape="xcross", location="absolute", color=PURPLE, size="tiny"),
        ]
    )  # fmt: skip


SCENES: Mapping[str, Callable[[], Chart]] = {
    "label-styles": lambda: over_price("Label styles", label_styles),
    "label-texts": lambda: over_price("Label texts", label_texts),
    "label-places": lambda: over_price("Label places", label_places),
    "label-crowd": lambda: over_price("Label crowd", label_crowd),
    "line-styles": lambda: over_price("Line styles", line_styles),
    "line-extends": lambda: over_price("Line extends", line_extends),
    "boxes": lambda: over_price("Boxes", boxes),
    "polylines": lambda: over_price("Polylines", polylines),
    "linefills": lambda: over_price("Linefills", linefills),
    "table-places": lambda: over_price("Table places", table_places),
    "table-cells": lambda: over_price("Table cells", table_cells),
    "bars": lambda: in_panel("Bars", bars_plot),
    "colored-line": lambda: over_price("Coloured line", colored_line),
    "fill-auto": lambda: in_panel("Fill", fill_auto),
    "fill-ahead": lambda: over_price("Fill ahead", fill_ahead),
    "candles-plot": lambda: in_panel("Candles", candles_plot),
    "candles-over-price": lambda: over_price("Candles over the price", candles_auto),
    "background": lambda: over_price("Background", background),
    "bar-colors": lambda: in_panel("Bar colours", bar_colors),
    "shapes": lambda: over_price("Shapes", shapes),
    "shape-signals": lambda: over_price("Signals", signals_as_shapes),
    "dots": lambda: in_panel("Dots", dots),
    "levels": lambda: in_panel("Levels", levels),
    "profile": lambda: over_price("Profile", profile),
    "error-card": broken,
    "everything": lambda: over_price("Everything", everything, 300),
    **{
        f"line-{style}": (lambda style=style: in_panel(style, line_kinds(style)))
        for style in palette.PLOT_STYLES
    },
}
