"""A broken indicator: a small card in a pane of its own that says what went wrong."""

import numpy as np

from chartpact.render import text
from chartpact.render.display import Area, Op, Panel, Rects, Words
from chartpact.render.theme import Theme
from chartpact.scene import Drawn

MARGIN = 6.0
SIZE = 12.0
PITCH = 17.0


def draw(drawn: Drawn, pane: Area, theme: Theme) -> list[Op]:
    """The name, the message and, where there is room, the hint."""
    card = pane.grown(-MARGIN)
    error = drawn.error
    ops: list[Op] = [
        Panel(card, theme.card, radius=4),
        Rects(
            np.array([[round(card.left), round(card.top), 3, round(card.height)]], dtype=np.int64),
            theme.down,
        ),
    ]
    room = card.width - 24
    lines: list[tuple[str, str, str]] = []
    name = text.fit(f"{_line(drawn.id)} could not be drawn", SIZE, room, "sans-bold")
    lines.append((name, theme.text, "sans-bold"))
    message, hint = (error.message, error.hint) if error is not None else ("nothing was drawn", "")
    lines += [(each, theme.text, "sans") for each in text.wrap(_line(message), SIZE, room)]
    if hint:
        lines += [(each, theme.muted, "sans") for each in text.wrap(_line(hint), SIZE, room)]
    most = max(1, int((card.height - 6) // PITCH))
    shown = lines[:most]
    if len(lines) > most:
        words, color, face = shown[-1]
        shown[-1] = (text.fit(words + text.ELLIPSIS, SIZE, room, face), color, face)
    top = card.top + (card.height - PITCH * len(shown)) / 2
    for i, (words, color, face) in enumerate(shown):
        y = top + (i + 0.5) * PITCH + SIZE * text.CAP_HEIGHT / 2
        ops.append(Words(card.left + 14, y, words, SIZE, color, face=face))
    return ops


def _line(words: str) -> str:
    return " ".join(text.clean(words).split())
