"""The one registry of colours, styles, sizes and positions: Pine's names and Pine's numbers."""

import math
import re
from functools import lru_cache
from typing import Any

from chartpact.checks import Unfit

COLORS: dict[str, str] = {  # Pine v6 constants
    "aqua": "#00bcd4",
    "black": "#363a45",
    "blue": "#2962ff",
    "fuchsia": "#e040fb",
    "gray": "#787b86",
    "green": "#4caf50",
    "lime": "#00e676",
    "maroon": "#880e4f",
    "navy": "#311b92",
    "olive": "#808000",
    "orange": "#ff9800",
    "purple": "#9c27b0",
    "red": "#f23645",
    "silver": "#b2b5be",
    "teal": "#089981",
    "white": "#ffffff",
    "yellow": "#fdd835",
}
AUTO = "auto"  # the theme's up colour where the first series is at or above the second, else down

LABEL_STYLES = (
    "none arrowdown arrowup circle cross diamond flag label_center label_down label_left "
    "label_lower_left label_lower_right label_right label_up label_upper_left label_upper_right "
    "square text_outline triangledown triangleup xcross"
).split()
LINE_STYLES = "solid dotted dashed arrow_left arrow_right arrow_both".split()
BORDER_STYLES = "solid dotted dashed".split()
PLOT_STYLES = (
    "line linebr stepline steplinebr stepline_diamond histogram columns area areabr circles cross "
    "levels"  # not Pine's: a stroke for each run of equal values, with its title at the end
).split()
XLOCS = "bar_index bar_time".split()
YLOCS = "price abovebar belowbar".split()
EXTENDS = "none left right both".split()
POSITIONS = [
    f"{row}_{col}" for row in "top middle bottom".split() for col in "left center right".split()
]
HALIGNS = "left center right".split()
VALIGNS = "top center bottom".split()
WRAPS = "none auto".split()
FONTS = "default monospace".split()
FORMATS = "none bold italic bold_italic".split()
SIDES = "left right".split()
SHAPES = (
    "xcross cross triangleup triangledown flag circle arrowup arrowdown labelup labeldown square "
    "diamond"
).split()
LOCATIONS = "abovebar belowbar top bottom absolute".split()

# Size names in points; any positive whole number of points is a size too.
LABEL_SIZES = {"auto": 0, "tiny": 7, "small": 10, "normal": 12, "large": 18, "huge": 24}
TEXT_SIZES = {"auto": 0, "tiny": 8, "small": 10, "normal": 14, "large": 20, "huge": 36}

_HEX = re.compile(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{8})")


def is_hex(text: str) -> bool:
    """Whether a text is a hexadecimal colour, #rrggbb or #rrggbbaa."""
    return _HEX.fullmatch(text) is not None


def color(value: Any) -> str:
    """The canonical `#rrggbbaa` of a colour name or a hexadecimal colour.

    >>> color("teal"), color("#2962FF80")
    ('#089981ff', '#2962ff80')
    """
    if isinstance(value, str) and len(value) < 10 and (canonical := _canonical(value)):
        return canonical
    raise Unfit(f"is not a colour: use #rrggbb, #rrggbbaa or one of {', '.join(COLORS)}", value)


@lru_cache(4096)
def _canonical(value: str) -> str:
    text = COLORS.get(value, value).lower()
    return "" if not is_hex(text) else text if len(text) == 9 else f"{text}ff"


def alpha_byte(transparency: float) -> int:
    """Pine's alpha byte of a transparency from 0 (opaque) to 100 (invisible).

    >>> alpha_byte(0), alpha_byte(50), alpha_byte(100)
    (255, 128, 0)
    """
    if not 0 <= transparency <= 100:
        raise ValueError(f"transparency {transparency!r} is not between 0 and 100")
    return math.floor(255 * (100 - transparency) / 100 + 0.5)


def with_alpha(value: str, opacity: float) -> str:
    """The colour with its opacity (0 to 1) replaced.

    >>> with_alpha("blue", 0.5)
    '#2962ff80'
    """
    return f"{color(value)[:7]}{alpha_byte(100 * (1 - opacity)):02x}"
