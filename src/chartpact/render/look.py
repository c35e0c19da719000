"""How a chart should look: its size, theme, time zone and the way prices are drawn."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args

from chartpact.checks import is_number, is_whole, shown
from chartpact.render import shading, theme, timeaxis
from chartpact.render.candles import KINDS
from chartpact.render.errors import RenderError
from chartpact.render.options import Volume

LARGEST = 4096  # pixels, either way
SMALLEST = (160, 100)
VOLUMES: tuple[str, ...] = get_args(Volume)


@dataclass(frozen=True)
class Look:
    """Options of a picture, checked when made; without a `height` its panes decide."""

    width: int = 1200
    height: int | None = None
    theme: str = "dark"
    kind: str = "candles"
    tz: str = "UTC"
    log: bool = False
    volume: str = "pane"
    sessions: str | None = None  # hours, what lies outside is shaded; or "days"
    scale: float = 1.0  # pixels of the PNG for each pixel of the picture

    def __post_init__(self) -> None:
        theme.theme(self.theme)
        timeaxis.zone(self.tz)
        if self.sessions is not None:
            shading.check(self.sessions)
        _check_name("kind of chart", self.kind, KINDS)
        _check_name("place for the volume", self.volume, VOLUMES)
        if not is_number(self.scale) or not 0.25 <= self.scale <= 4:
            raise RenderError(f"a scale of {shown(self.scale)} is not between 0.25 and 4")
        for name, value, least in zip(
            ("width", "height"), (self.width, self.height), SMALLEST, strict=True
        ):
            if value is None:
                continue
            if not is_whole(value):
                raise RenderError(f"a {name} of {shown(value)} is not a whole number of pixels")
            if not least <= value or value * self.scale > LARGEST:
                scaled = f" at a scale of {self.scale:g}" if self.scale != 1 else ""
                raise RenderError(
                    f"a {name} of {value}{scaled} is not between {least} and {LARGEST} pixels"
                )


def read_look(options: Mapping[str, Any]) -> Look:
    """The look of these options; `size` stands for width and height, as (1200, 800) or 1200x800."""
    values = {name: value for name, value in options.items() if value is not None}
    size = values.pop("size", None)
    if size is not None:
        pair = read_size(size) if isinstance(size, str) else size
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise RenderError(f"{size!r} is not a size: write it as 1200x800")
        values["width"], values["height"] = pair
    known = [option.name for option in fields(Look)]
    if unknown := sorted(set(values) - set(known)):
        raise RenderError(f"a picture has no {unknown[0]!r}: it takes size, {', '.join(known)}")
    return Look(**values)


def _check_name(what: str, value: str, names: Iterable[str]) -> None:
    if value not in (known := list(names)):
        raise RenderError(f"{value!r} is not a {what}: use {', '.join(known)}")


def read_size(text: str) -> tuple[int, int]:
    """Width and height of a size such as 1200x800.

    >>> read_size("1200x800")
    (1200, 800)
    """
    match = re.fullmatch(r"\s*(\d{1,9})\s*[x×X]\s*(\d{1,9})\s*", text)
    if match is None:
        raise RenderError(f"{text!r} is not a size: write it as 1200x800")
    return int(match[1]), int(match[2])
