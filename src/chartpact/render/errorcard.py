"""A broken indicator: a small card in a pane of its own that says what went wrong."""

import numpy as np

from chartpact.render import typesetting
from chartpact.render.display import Area, Op, Panel, Rects, Words
from chartpact.render.theme import Theme
from chartpact.scene import Drawn

MARGIN = 6.0
SIZE = 12.0
PITCH = 17.0


def draw(drawn: Drawn, pane: Area, theme: Theme) -> list[Op]:
    """The name, the message and, where there is room, the hint."""
    card = pane.grow(-MARGIN)
    error = drawn.error
    ops: list[Op] = [
        Panel(card, theme.card, radius=4),
        Rects(
            np.array([[round(card.left), round(card.top), 3, round(card.height)]], dtype=np.int64),
            theme.down,
        ),
    ]
    room = card.width - 24
    title = typesetting.fit(f"{_one_line(drawn.id)} could not be drawn", SIZE, room, "sans-bold")
    lines = [(title, theme.text, "sans-bold")]
    message, hint = (error.message, error.hint) if error is not None else ("nothing was drawn", "")
    for words, color in ((message, theme.text), (hint, theme.muted)):
        if words:
            wrapped = typesetting.wrap(_one_line(words), SIZE, room)
            lines += [(line, color, "sans") for line in wrapped]
    most = max(1, int((card.height - 6) // PITCH))
    shown = lines[:most]
    if len(lines) > most:
        words, color, face = shown[-1]
        shown[-1] = (typesetting.fit(words + typesetting.ELLIPSIS, SIZE, room, face), color, face)
    top = card.top + (card.height - PITCH * len(shown)) / 2
    for i, (words, color, face) in enumerate(shown):
        y = top + (i + 0.5) * PITCH + SIZE * typesetting.CAP_HEIGHT / 2
        ops.append(Words(card.left + 14, y, words, SIZE, color, face=face))
    return ops


def _one_line(words: str) -> str:
    return " ".join(typesetting.clean(words).split())
