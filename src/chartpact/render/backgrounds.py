"""The background of a pane, in the colours of an indicator."""

import numpy as np

from chartpact.render import sampling
from chartpact.render.display import Op, Rects
from chartpact.render.frame import Frame
from chartpact.render.paint import by_color, codes_of
from chartpact.scene import BackgroundPlot


def draw(plot: BackgroundPlot, frame: Frame) -> list[Op]:
    """A rectangle for each stretch of bars of one colour; one colour alone fills the pane."""
    if isinstance(plot.color, str):
        edges = np.rint([frame.area.left, frame.area.right]).astype(np.int64)
        colors, codes = [plot.color], np.array([0])
    else:
        count, size = len(plot.color), sampling.bars_per_group(frame.bars.step)
        colors, codes = codes_of(plot.color, count, lambda: np.ones(count, bool), frame.theme)
        starts = sampling.starts(count, size)
        codes = np.maximum.reduceat(codes, starts) if count else codes
        edges = np.rint(frame.bars.x(np.append(starts, count) - 0.5)).astype(np.int64)
    firsts = np.flatnonzero(np.diff(codes, prepend=-2))
    left, right = edges[firsts], edges[np.append(firsts[1:], len(codes))]
    top = round(frame.area.top)
    height = round(frame.area.bottom) - top
    boxes = np.column_stack(
        (left, np.full_like(left, top), right - left, np.full_like(left, height))
    )
    known = right > left
    return [Rects(boxes[rows], color) for color, rows in by_color(codes[firsts], known, colors)]
