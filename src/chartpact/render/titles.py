"""What a chart and its indicators are called."""

from chartpact.bars import Bars
from chartpact.render import legend, text
from chartpact.render.legend import Entry, Piece, Row
from chartpact.render.numbers import MINUS, Numbers
from chartpact.render.theme import Theme, legible
from chartpact.scene import Drawn, Scene

TITLE_SIZE = 14.0
BADGE_SIZE = 11.0


def title_of(bars: Bars) -> str:
    """Symbol, timeframe and where the bars come from."""
    source = bars.source.removeprefix("synthetic ").rpartition("/")[2]
    parts = (bars.symbol, bars.timeframe, source)
    return " · ".join(" ".join(text.clean(each).split()) for each in parts if each)


def name_of(drawn: Drawn, scene: Scene) -> str:
    """What the legend calls an indicator: its label and the parameters that matter."""
    name = scene.label or drawn.title or drawn.name
    return f"{name} {legend.params_of(drawn.params, drawn.defaults)}".strip()


def rising(bars: Bars, theme: Theme) -> str:
    """The colour of the last bar."""
    return theme.up if bars.close[-1] >= bars.open[-1] else theme.down


def title_row(bars: Bars, before: float | None, numbers: Numbers, room: float, theme: Theme) -> Row:
    """The title, that the data is synthetic where it is, and the last bar if there is room.

    `before` is the close before the last one, also where that bar is out of view.
    """
    badge = Piece("synthetic", theme.warning, "sans-bold", BADGE_SIZE)
    left = room - (badge.width + legend.GAP if bars.synthetic else 0.0)
    name = text.fit(title_of(bars), TITLE_SIZE, left, "sans-bold")
    pieces = [Piece(name, theme.text, "sans-bold", TITLE_SIZE)] if name else []
    if bars.synthetic:  # what is not real says so, however little room there is
        pieces.append(badge)
    row: list[tuple[float, Piece]] = []
    x = 0.0
    for piece in pieces:
        row.append((x, piece))
        x += piece.width + legend.GAP
    last, end = _last_bar(bars, before, numbers, theme, x + legend.APART - legend.GAP if row else x)
    return (*row, *(last if end <= room else ()))


def _last_bar(
    bars: Bars, before: float | None, numbers: Numbers, theme: Theme, x: float
) -> tuple[Row, float]:
    """Open, high, low, close and the change, from `x` on, and where they end."""
    if not len(bars):
        return (), x
    color = legible(rising(bars, theme), theme.background, 3.5)
    pieces: list[tuple[Piece, float]] = []
    columns = (bars.open, bars.high, bars.low, bars.close)
    for letter, column in zip("OHLC", columns, strict=True):
        pieces.append((Piece(letter, theme.muted), 3.0))
        pieces.append((Piece(numbers(float(column[-1])), color), 8.0))
    before = float(bars.open[-1]) if before is None else before
    change = float(bars.close[-1]) - before
    share = f" ({100 * change / abs(before):+.2f}%)".replace("-", MINUS) if before else ""
    pieces.append((Piece(f"{'+' if change >= 0 else ''}{numbers(change)}{share}", color), 0.0))
    placed = []
    for piece, gap in pieces:
        placed.append((x, piece))
        x += piece.width + gap
    return tuple(placed), x


def volume_entry(bars: Bars, numbers: Numbers, theme: Theme) -> Entry:
    """The volume of the last bar."""
    color = legible(rising(bars, theme), theme.background, 3.5)
    return Piece("Volume", theme.muted), Piece(numbers(float(bars.volume[-1])), color)
