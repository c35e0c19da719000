"""The titles of a chart and the names of its indicators."""

from chartpact.bars import Bars
from chartpact.bars.bars import RESAMPLED
from chartpact.render import legend, typesetting
from chartpact.render.legend import Entry, Piece, Row
from chartpact.render.numberformat import NumberFormat
from chartpact.render.theme import Theme, ensure_contrast
from chartpact.scene import Drawn, Scene

TITLE_SIZE = 14.0
BADGE_SIZE = 11.0


def title_of(bars: Bars, source: bool = True) -> str:
    """Symbol, timeframe and where the bars come from; or only that they were resampled."""
    name = bars.source.removeprefix("synthetic ").rpartition("/")[2]
    if not source:
        name = RESAMPLED.lstrip(", ") if name.endswith(RESAMPLED) else ""
    parts = (bars.symbol, bars.timeframe, name)
    return " · ".join(" ".join(typesetting.clean(part).split()) for part in parts if part)


def name_of(drawn: Drawn, scene: Scene) -> str:
    """What the legend calls an indicator: its label and the parameters that matter."""
    name = scene.label or drawn.title or drawn.name
    return f"{name} {legend.params_of(drawn.params, drawn.defaults)}".strip()


def rising(bars: Bars, theme: Theme) -> str:
    """The colour of the last bar."""
    return theme.up if bars.close[-1] >= bars.open[-1] else theme.down


def title_row(
    bars: Bars, before: float | None, format_value: NumberFormat, room: float, theme: Theme
) -> Row:
    """The title, a badge on synthetic data, and the last bar if there is room.

    The name of the source gives way to the last bar. `before` is the close before the last one,
    also where that bar is out of view.
    """
    short = title_of(bars, source=False)
    for title in [title_of(bars), *([short] if short else [])]:
        row, x = _title(bars, title, room, theme)
        last, end = _last_bar(bars, before, format_value, theme, x)
        if end <= room:
            return (*row, *last)
    return _title(bars, title_of(bars), room, theme)[0]


def _title(bars: Bars, title: str, room: float, theme: Theme) -> tuple[Row, float]:
    """The title and the badge, and where the last bar may begin."""
    badge = Piece("synthetic", theme.warning, "sans-bold", BADGE_SIZE)
    left = room - (badge.width + legend.GAP if bars.synthetic else 0.0)
    name = typesetting.fit(title, TITLE_SIZE, left, "sans-bold")
    pieces = [Piece(name, theme.text, "sans-bold", TITLE_SIZE)] if name else []
    if bars.synthetic:  # the badge is there however little room there is
        pieces.append(badge)
    row: list[tuple[float, Piece]] = []
    x = 0.0
    for piece in pieces:
        row.append((x, piece))
        x += piece.width + legend.GAP
    return tuple(row), x + legend.APART - legend.GAP if row else x


def _last_bar(
    bars: Bars, before: float | None, format_value: NumberFormat, theme: Theme, x: float
) -> tuple[Row, float]:
    """Open, high, low, close and the change, from `x` on, and where they end."""
    if not len(bars):
        return (), x
    color = ensure_contrast(rising(bars, theme), theme.background, 3.5)
    pieces: list[tuple[Piece, float]] = []
    columns = (bars.open, bars.high, bars.low, bars.close)
    for letter, column in zip("OHLC", columns, strict=True):
        pieces.append((Piece(letter, theme.muted), 3.0))
        pieces.append((Piece(format_value(float(column[-1])), color), 8.0))
    before = float(bars.open[-1]) if before is None else before
    change = float(bars.close[-1]) - before
    share = f" ({_signed(100 * change / abs(before), NumberFormat(2))}%)" if before else ""
    pieces.append((Piece(f"{_signed(change, format_value)}{share}", color), 0.0))
    placed = []
    for piece, gap in pieces:
        placed.append((x, piece))
        x += piece.width + gap
    return tuple(placed), x


def _signed(value: float, format_value: NumberFormat) -> str:
    """A change with its sign; one that is written as 0 has none."""
    text = format_value(value)
    return text if value <= 0 or not text.strip("0.,") else f"+{text}"


def volume_entry(bars: Bars, format_value: NumberFormat, theme: Theme) -> Entry:
    """The volume of the last bar."""
    color = ensure_contrast(rising(bars, theme), theme.background, 3.5)
    return Piece("Volume", theme.muted), Piece(format_value(float(bars.volume[-1])), color)
