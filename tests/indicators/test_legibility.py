"""Whatever a builtin draws can be seen on a dark and on a light background."""

import numpy as np
import pytest
from tests.indicators.market import noise

from chartpact import indicators
from chartpact.params import resolve
from chartpact.scene import DivLinePlot, DotPlot, HLinePlot, LinePlot

BACKGROUNDS = ("#131722", "#ffffff")
LEAST = 3.0  # the contrast that WCAG asks of graphics
FAINT = 1.3  # of a dot that is faint on purpose: the weak divergences


def channels(color):
    return np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])


def luminance(rgb):
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(color, background):
    alpha = int(color[7:9], 16) / 255
    seen = alpha * channels(color) + (1 - alpha) * channels(background)
    light, dark = sorted((luminance(seen), luminance(channels(background))), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    "builtin",
    [each for each in indicators.table().values() if not each.looks_outside({})],
    ids=lambda each: each.name,
)
def test_every_line_dot_and_level_stands_out_from_both_backgrounds(builtin):
    scene = builtin.compute(noise(600), resolve(builtin.params, {}, builtin.name))
    for plot in scene.plots:
        if not isinstance(plot, LinePlot | DotPlot | HLinePlot | DivLinePlot):
            continue
        colors = {plot.color} if isinstance(plot.color, str) else set(plot.color)
        for color in colors - {None}:
            least = FAINT if isinstance(plot, DotPlot) and color.endswith("66") else LEAST
            for background in BACKGROUNDS:
                assert contrast(color, background) >= least, (plot.title, color, background)


def distance(one, other):
    return float(np.linalg.norm(255 * (channels(one) - channels(other))))


def line_colors(name):
    """The colours of each titled line; lines that mirror each other count as one."""
    builtin = indicators.table()[name]
    scene = builtin.compute(noise(600), resolve(builtin.params, {}, name))
    lines = [plot for plot in scene.plots if isinstance(plot, LinePlot) and plot.title]
    found = {}
    for plot in lines:
        colors = {plot.color} if isinstance(plot.color, str) else set(plot.color) - {None}
        found.setdefault(MIRRORED.get(plot.title, plot.title), set()).update(colors)
    return found


# The lines of a channel, and levels that have their names on the lines.
MIRRORED = {
    **{
        f"{channel} {part}": f"{channel} Upper"
        for channel in ("BB", "KC", "DC", "VWAP")
        for part in ("Mid", "Lower")
    },
    **{f"{side}{k}": f"{side}1" for side in "RS" for k in range(1, 6)},
    "VAL": "VAH",
}
TOLD_APART = 45  # in 8-bit RGB


@pytest.mark.parametrize(
    "names",
    [[name] for name, one in indicators.table().items() if not one.looks_outside({})]
    + [
        ["ema_stack", "vwap"],
        ["ema_stack", "bbands"],
        ["bbands", "keltner"],
        ["keltner", "donchian"],
    ],
    ids="+".join,
)
def test_lines_that_share_a_pane_are_told_apart_by_their_colours(names):
    lines = [(name, title, colors) for name in names for title, colors in line_colors(name).items()]
    for i, (one, title, colors) in enumerate(lines):
        for other, name, others in lines[i + 1 :]:
            near = min(distance(a, b) for a in colors for b in others)
            assert near >= TOLD_APART, (one, title, other, name)
