"""The colours of a chart, dark and light."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from chartpact.render.errors import RenderError


@dataclass(frozen=True)
class Theme:
    """Every colour that is not an indicator's own, as `#rrggbb` or `#rrggbbaa`."""

    name: str
    background: str
    grid: str
    day: str  # between days
    shade: str  # over bars outside a session
    frame: str  # between panes and around the axes
    text: str
    muted: str  # axis labels and other secondary text
    up: str
    down: str
    volume_up: str
    volume_down: str
    line: str  # the price as a line
    card: str  # behind an error
    warning: str


DARK = Theme(
    name="dark",
    background="#131722",
    grid="#1f2431",
    day="#353b4a",
    shade="#ffffff0b",
    frame="#2f3441",
    text="#d9dce3",
    muted="#9a9ea9",
    up="#089981",
    down="#f23645",
    volume_up="#08998199",
    volume_down="#f2364599",
    line="#2962ff",
    card="#2a1e28",
    warning="#ff9800",
)
LIGHT = Theme(
    name="light",
    background="#ffffff",
    grid="#eff1f6",
    day="#c8cdd8",
    shade="#1317220b",
    frame="#d6dae3",
    text="#131722",
    muted="#676b76",
    up="#089981",
    down="#f23645",
    volume_up="#08998180",
    volume_down="#f2364580",
    line="#2962ff",
    card="#fdf0ef",
    warning="#c25700",
)
THEMES: Mapping[str, Theme] = MappingProxyType({known.name: known for known in (DARK, LIGHT)})


def theme(name: str) -> Theme:
    if name not in THEMES:
        raise RenderError(f"{name!r} is not a theme: use {' or '.join(THEMES)}")
    return THEMES[name]


def rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def opacity(color: str) -> float:
    return int(color[7:9], 16) / 255 if len(color) == 9 else 1.0


def is_visible(color: str) -> bool:
    """Whether anything of the colour would be seen."""
    return len(color) == 7 or not color.endswith("00")


def fade(color: str, share: float) -> str:
    """The colour with its opacity multiplied."""
    return f"{color[:7]}{round(255 * opacity(color) * min(max(share, 0.0), 1.0)):02x}"


def blend(color: str, ground: str) -> str:
    """The opaque colour that a colour makes on a ground."""
    share = opacity(color)
    mixed = (
        round(share * a + (1 - share) * b) for a, b in zip(rgb(color), rgb(ground), strict=True)
    )
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def luminance(color: str) -> float:
    """The relative luminance of WCAG 2, from 0 to 1."""
    parts = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (channel / 255 for channel in rgb(color))
    )
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def contrast(color: str, ground: str) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21."""
    light, dark = sorted((luminance(color), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@lru_cache(1024)
def ensure_contrast(color: str, ground: str, least: float = 3.0) -> str:
    """The colour, moved towards black or white only as far as text on this ground needs it."""
    solid = blend(color, ground)
    target = "#ffffff" if luminance(ground) < 0.18 else "#000000"
    for share in range(11):
        mixed = blend(f"{target}{round(25.5 * share):02x}", solid)
        if contrast(mixed, ground) >= least:
            return mixed
    return target


def text_color_on(color: str, background: str, *grounds: str | None) -> str:
    """The colour of a text on these grounds, lowest first.

    A text on an opaque ground is as its author wanted it. One that lies on the chart, or on a
    ground that the chart shines through, is made legible: the author could not know the theme.
    """
    under = background
    for ground in grounds:
        if ground is not None:
            under = blend(ground, under)
    if grounds and grounds[-1] is not None and opacity(grounds[-1]) > 0.9:
        return color
    return ensure_contrast(color, under, 4.0)


def ink(ground: str) -> str:
    """Black or white, whichever is read better on this ground."""
    return "#ffffff" if contrast("#ffffff", ground) >= 3 else "#131722"
