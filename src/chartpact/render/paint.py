"""The colours of a plot, bar by bar."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact import palette
from chartpact.render.theme import Theme, is_visible

Codes = NDArray[np.int64]  # for each bar the index of its colour; −1: not drawn


def codes_of(
    paint: Any, count: int, auto: Callable[[], NDArray[np.bool_]], theme: Theme
) -> tuple[list[str], Codes]:
    """The colours of a plot, and for each bar which of them is its own (−1: not drawn)."""
    if isinstance(paint, str):
        if paint != palette.AUTO:
            return [paint], np.zeros(count, dtype=np.int64)
        return [theme.up, theme.down], np.where(auto(), 0, 1)
    index: dict[str | None, int] = {None: 0}
    codes = np.full(count, -1, dtype=np.int64)
    codes[: len(paint)] = paint[:count].recode(index)
    codes[: len(paint)] -= 1
    colors = [color for color in index if color is not None]
    if len(paint) < count and len(paint):  # bars ahead are coloured like the last one
        codes[len(paint) :] = codes[len(paint) - 1]
    return colors, codes


def by_color(
    codes: Codes, known: NDArray[np.bool_], colors: list[str]
) -> Iterable[tuple[str, Codes]]:
    """Each visible colour with the places that have it and are known."""
    rows = np.flatnonzero(known & (codes >= 0))
    rows = rows[np.argsort(codes[rows], kind="stable")]
    for part in np.split(rows, np.flatnonzero(np.diff(codes[rows])) + 1):
        if len(part) and is_visible(color := colors[codes[part[0]]]):
            yield color, part
