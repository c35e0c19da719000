"""A builtin: how users see it, what its numbers promise, and the function that draws it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chartpact.bars import Bars
from chartpact.needs import Needs, Supplies
from chartpact.params import IndicatorError, Param, resolve
from chartpact.problem import Problem
from chartpact.scene import Scene

Function = Callable[..., Scene]

_WORDS = {"__builtins__": {}, "max": max, "isqrt": math.isqrt}


@dataclass(frozen=True)
class Trace:
    """One drawn series, and where it has no value.

    `first` is the bar of its first value, written in the indicator's parameters. From there on
    every bar has one, unless `gaps` says when it has not. A trace that is not `prefix_stable`
    changes past values when bars are added.

    >>> Trace("MACD", first="slow - 1").first_bar({"slow": 26})
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
    """One builtin. `differences` says where the reference project computes or draws otherwise.

    One `of_view` is computed on the bars in view, unless `range_bars` says how many; all others
    are computed on all bars.
    """

    name: str
    title: str
    category: str
    description: str
    function: Function
    params: tuple[Param, ...] = ()
    aliases: tuple[str, ...] = ()
    tracks: tuple[Trace, ...] = ()
    signals: tuple[str, ...] = ()
    needs_volume: bool = False
    stable: bool = True
    of_view: bool = False
    differences: tuple[str, ...] = field(default=(), repr=False)
    source: str = "builtin"
    short_title: str | None = None

    @property
    def overlay(self) -> bool:
        return self.category == "overlay"

    @property
    def prefix_stable(self) -> bool:
        """Whether the first k bars give the first k values and the signals confirmed by then."""
        return self.stable and all(track.prefix_stable for track in self.tracks)

    def needs(self, bars: Bars, values: Mapping[str, Any]) -> Needs:  # noqa: ARG002
        """What the host must fetch before this is drawn on the bars."""
        return {}

    def looks_outside(self, values: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Whether it needs anything besides the bars."""
        return False

    def draw(
        self,
        bars: Bars,
        values: Mapping[str, Any],
        supplies: Supplies,  # noqa: ARG002
        first_visible: int = 0,
    ) -> Scene:
        """The scene on these bars; `values` has every parameter, checked."""
        if self.of_view and values["range_bars"] is None:
            bars = bars[first_visible:]
        if self.needs_volume:
            require_volume(self.name, bars)
        with np.errstate(all="ignore"):
            return self.function(bars, **values)

    def __post_init__(self) -> None:
        object.__setattr__(self, "__module__", self.function.__module__)

    def __reduce__(self) -> str:
        """Pickles a builtin by reference: by its module and the name it is bound to there."""
        return str(self.function.__name__)

    def compute(self, bars: Bars, params: Mapping[str, Any]) -> Scene:
        """The scene on these bars alone; parameters that are not given have their default."""
        return self.draw(bars, resolve(self.params, params, self.name), {})


def require_volume(name: str, bars: Bars) -> None:
    """Raises the error of an indicator that needs volume on bars that have none."""
    if len(bars) and np.isnan(bars.volume).all():
        message = f"{name} needs volume, and these bars have none"
        hint, details = "use bars with a volume column", {"missing": "volume"}
        raise IndicatorError(Problem("unavailable", message, hint, details=details))


def builtin(
    name: str, title: str, category: str, description: str, **rest: Any
) -> Callable[[Function], Builtin]:
    """Makes a builtin of the function that draws it from bars and its parameters."""
    return lambda function: Builtin(name, title, category, description, function, **rest)


def period(default: int, desc: str = "Bars in the window") -> Param:
    """The parameter every window length is."""
    return bars_of_window("period", default, desc, "length")


def bars_of_window(name: str, default: int, desc: str, *aliases: str, least: int = 1) -> Param:
    """A further window length, where an indicator has several."""
    return Param(name, "int", default, min=least, max=5000, desc=desc, aliases=aliases)
