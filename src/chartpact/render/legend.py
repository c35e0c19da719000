"""The legend at the top left of a pane: names, and the last values in their colours."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from chartpact.arrays import NOTHING
from chartpact.render import typesetting
from chartpact.render.display import Area, Floats, Op, Panel, Words
from chartpact.render.frame import TEXT
from chartpact.render.numberformat import NumberFormat
from chartpact.render.plots import is_empty
from chartpact.render.theme import Theme, ensure_contrast
from chartpact.scene import (
    CHANNELS,
    BarsPlot,
    CandlesPlot,
    DivLinePlot,
    HLinePlot,
    LinePlot,
    Plot,
    Scene,
)
from chartpact.textcolumn import TextColumn

ROW = 18.0
LEFT = 10.0
TOP = 6.0
GAP = 7.0  # between a name and its values
APART = 18.0  # between entries
MOST_VALUES = 12
MOST_PARAMS = 4
LEVELS = HLinePlot | DivLinePlot
LONGEST = 24  # letters of a parameter
FIRST_TIME, LAST_TIME = 10**11, 10**13  # ms from 1973 to 2286: no other number is as large


@dataclass(frozen=True)
class Piece:
    """A bit of text in one colour."""

    text: str
    color: str
    face: str = "sans"
    size: float = TEXT

    @property
    def width(self) -> float:
        return typesetting.width(self.text, self.size, self.face)

    def fit(self, room: float) -> "Piece | None":
        """The piece, shortened to that width; None where nothing of it has room."""
        words = typesetting.fit(self.text, self.size, room, self.face)
        return replace(self, text=words) if words else None


Entry = tuple[Piece, ...]
Row = tuple[tuple[float, Piece], ...]


def is_valued(plot: Plot) -> bool:
    """Whether the legend tells the last value of a plot."""
    return bool(plot.title) and isinstance(plot, LinePlot | BarsPlot | CandlesPlot | LEVELS)


def tagged(scene: Scene) -> Sequence[Plot]:
    """The plots whose last values are on the axis: lines and candles, or columns without them."""
    lines = [plot for plot in scene.plots if isinstance(plot, LinePlot | CandlesPlot)]
    return lines or [plot for plot in scene.plots if isinstance(plot, BarsPlot)]


def last_value(plot: Plot) -> float | None:
    """The value of a titled plot on the last bar; a strip of one height has none."""
    values = _values(plot)
    value = float(values[-1]) if plot.title and len(values) else np.nan
    if isinstance(plot, BarsPlot) and len(values) > 2 and (values[1:] == values[0]).all():
        return None
    return value if np.isfinite(value) else None


def _values(plot: Plot) -> Floats:
    """The series of which the legend names the last value."""
    match plot:
        case LinePlot() | BarsPlot():
            return plot.values
        case CandlesPlot():
            return plot.close
        case HLinePlot():
            return np.array([plot.y], dtype=float)
        case DivLinePlot() if plot.y1 == plot.y2:
            return np.array([plot.y2], dtype=float)
    return NOTHING


def last_color(plot: Plot, theme: Theme) -> str | None:
    """The colour of the last bar that has one; of a hollow candle, that of its border or wick."""
    paints = (paint for name in plot.paints if (paint := getattr(plot, name)) is not None)
    ends = (paint if isinstance(paint, str) else _last(paint) for paint in paints)
    color = next((end for end in ends if end), None) if plot.paints else str(plot.color)
    if color != "auto":
        return color
    values = _values(plot)
    base = values[-2] if len(values) > 1 else 0
    if isinstance(plot, BarsPlot):
        base = plot.base
    elif isinstance(plot, CandlesPlot) and len(values):
        base = plot.open[-1]
    return theme.up if len(values) and values[-1] >= base else theme.down


def _last(colors: TextColumn) -> str | None:
    return next((color for color in reversed(colors) if color is not None), None)


def entry(name: str, scene: Scene, format_value: NumberFormat, theme: Theme) -> Entry:
    """A name and the last values of its plots, each with its own name where there are several."""
    pieces = [Piece(_one_line(name), theme.muted)]
    valued = [plot for plot in scene.plots if is_valued(plot)]
    titles = value_names(name, [plot.title for plot in valued])
    titles |= {plot.title: plot.title for plot in valued if isinstance(plot, LEVELS)}
    for plot in scene.plots:
        value, color = last_value(plot), last_color(plot, theme)
        if value is not None and color is not None and len(pieces) <= MOST_VALUES:
            words = f"{_one_line(titles[plot.title])} {format_value(value)}".strip()
            pieces.append(Piece(words, ensure_contrast(color, theme.background, 3.5)))
    if len(pieces) == 1 and _is_empty(scene):
        pieces.append(Piece("nothing drawn on these bars", theme.muted, "sans-italic"))
    return tuple(pieces)


def _one_line(text: str) -> str:
    return " ".join(typesetting.clean(text).split())


def value_names(name: str, titles: Sequence[str]) -> dict[str, str]:
    """What the legend calls each of several values: the words of its title that `name` lacks.

    Where the name has them all, as of EMA 8 21 50 200, the values stand alone in that order.

    >>> value_names("BB 20 2", ["BB Upper", "BB Mid"])
    {'BB Upper': 'Upper', 'BB Mid': 'Mid'}
    >>> value_names("EMA 8 21", ["EMA 8", "EMA 21"])
    {'EMA 8': '', 'EMA 21': ''}
    """
    known = set(name.split())
    short = {title: " ".join(w for w in title.split() if w not in known) for title in titles}
    if len(titles) == 1 or not any(short.values()):
        return dict.fromkeys(titles, "")
    return {title: words or title for title, words in short.items()}


def _is_empty(scene: Scene) -> bool:
    """Whether a scene shows neither objects nor titled values: levels alone explain little."""
    if any(getattr(scene, channel) for channel in CHANNELS):
        return False
    series = [plot for plot in scene.plots if isinstance(plot, LinePlot | BarsPlot) and plot.title]
    if series:
        return not any(np.isfinite(plot.values).any() for plot in series)
    return all(map(is_empty, scene.plots))


def arrange(entries: Sequence[Entry], room: float, most: int, theme: Theme) -> list[Row]:
    """Entries side by side in as many rows as they need; past the last row they are counted.

    An entry wider than a row goes on in the next one.
    """
    rows: list[list[tuple[float, Piece]]] = [[]]
    x = 0.0
    for number, pieces in enumerate(entries):
        wide = sum(piece.width for piece in pieces) + GAP * (len(pieces) - 1)
        if rows[-1] and x + wide > room:
            if len(rows) == most:
                rest = Piece(f"+{len(entries) - number} more", theme.muted)
                if x + rest.width <= room:
                    rows[-1].append((x, rest))
                break
            rows.append([])
            x = 0.0
        for piece in pieces:
            if rows[-1] and x + piece.width > room:
                if len(rows) == most:
                    break
                rows.append([])
                x = 0.0
            if short := piece.fit(room - x):
                rows[-1].append((x, short))
                x += short.width + GAP
        x += APART - GAP
    return [tuple(row) for row in rows if row]


def height(rows: Sequence[Row]) -> float:
    return TOP + ROW * len(rows) if rows else 0.0


def draw(rows: Sequence[Row], pane: Area, theme: Theme) -> tuple[list[Op], list[Area]]:
    """The rows on a ground that covers what is behind them, and the areas they take."""
    ops: list[Op] = []
    places = []
    for i, row in enumerate(rows):
        top = pane.top + TOP + i * ROW
        left = pane.left + LEFT
        last_x, last = row[-1]
        area = Area(left - 4, top, left + last_x + last.width + 4, top + ROW)
        places.append(area)
        ops.append(Panel(area, theme.background, radius=3))
        for x, piece in row:
            base = top + ROW / 2 + TEXT * typesetting.CAP_HEIGHT / 2
            ops.append(Words(left + x, base, piece.text, piece.size, piece.color, face=piece.face))
    return ops, places


def params_of(values: Mapping[str, object], defaults: Mapping[str, object]) -> str:
    """The parameters that tell one use of an indicator from another, as a legend shows them.

    Numbers and short words stand alone; others have their names and are left out at the default.

    >>> params_of({"period": 7, "dots": False, "fill": True}, {"dots": True, "fill": True})
    '7 dots=false'
    >>> params_of({"start": 1_710_252_000_000}, {})
    '2024-03-12 14:00'
    """
    if len(values) > MOST_PARAMS:
        values = {key: value for key, value in values.items() if value != defaults.get(key)}
    plain = {key: word for key, value in values.items() if (word := _plain(value))}
    shown = dict(itertools.islice(plain.items(), MOST_PARAMS))
    further = {
        key: str(value).lower() if isinstance(value, bool) else f"{value:.{LONGEST}}"
        for key, value in values.items()
        if key not in shown and isinstance(value, bool | str) and value != defaults.get(key)
    }
    return " ".join([*shown.values(), *(f"{key}={value}" for key, value in further.items())])


def _plain(value: object) -> str:
    """A number or a short word; nothing for a value that needs its name to be understood."""
    if isinstance(value, bool):
        return ""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int) and FIRST_TIME <= value < LAST_TIME:
        return f"{datetime.fromtimestamp(value / 1000, UTC):%Y-%m-%d %H:%M}"
    short = isinstance(value, str) and 0 < len(value) <= 8
    return str(value) if isinstance(value, int) or short else ""
