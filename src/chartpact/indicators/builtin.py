"""What a builtin is: its face to users, what it promises about its numbers, and its drawing."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chartpact.bars import Bars
from chartpact.params import IndicatorError, Param, resolve
from chartpact.problem import Problem
from chartpact.scene import Scene

Draw = Callable[..., Scene]

_WORDS = {"__builtins__": {}, "max": max, "isqrt": math.isqrt}


@dataclass(frozen=True)
class Track:
    """One drawn series, and where it has no value.

    `first` is the bar of its first value, written in the indicator's parameters. From there on
    every bar has one, unless `gaps` says when it has not. A track that is not `prefix_stable`
    changes past values when bars are added.

    >>> Track("MACD", first="slow - 1").first_bar({"slow": 26})
    25
    """

    title: str
    first: str = "0"
    gaps: str = ""
    prefix_stable: bool = True

    def first_bar(self, params: Mapping[str, Any]) -> int:
        return int(eval(self.first, _WORDS, dict(params)))


@dataclass(frozen=True)
class Builtin:
    """One builtin. `differences` tells where the reference project computes or draws otherwise."""

    name: str
    title: str
    category: str
    description: str
    draw: Draw
    params: tuple[Param, ...] = ()
    aliases: tuple[str, ...] = ()
    tracks: tuple[Track, ...] = ()
    signals: tuple[str, ...] = ()
    needs_volume: bool = False
    needs_network: bool = False
    stable: bool = True
    differences: tuple[str, ...] = field(default=(), repr=False)
    source: str = "builtin"

    @property
    def overlay(self) -> bool:
        return self.category == "overlay"

    @property
    def prefix_stable(self) -> bool:
        """Whether the first k bars give the first k values and the signals confirmed by then."""
        return self.stable and all(track.prefix_stable for track in self.tracks)

    def compute(self, bars: Bars, params: Mapping[str, Any]) -> Scene:
        """The scene on these bars; parameters that are not given have their default."""
        if self.needs_volume and len(bars) and np.isnan(bars.volume).all():
            raise IndicatorError(
                Problem(
                    "unavailable",
                    f"{self.name} needs volume, and these bars have none",
                    "use bars with a volume column",
                    details={"missing": "volume"},
                )
            )
        values = resolve(self.params, params, self.name)
        with np.errstate(all="ignore"):
            return self.draw(bars, **values)


def builtin(
    name: str, title: str, category: str, description: str, **rest: Any
) -> Callable[[Draw], Builtin]:
    """Makes a builtin of the function that draws it from bars and its parameters."""
    return lambda draw: Builtin(name, title, category, description, draw, **rest)


def period(default: int, desc: str = "Bars in the window", least: int = 1) -> Param:
    """The parameter every window length is."""
    return Param("period", "int", default, min=least, max=5000, desc=desc, aliases=("length",))


def bars_of_window(name: str, default: int, desc: str, *aliases: str, least: int = 1) -> Param:
    """A further window length, where an indicator has several."""
    return Param(name, "int", default, min=least, max=5000, desc=desc, aliases=aliases)
