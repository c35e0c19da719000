"""The options that `load` and `Bars.from_…` share."""

from dataclasses import dataclass
from typing import TypedDict

from chartpact.bars.errors import BarsError, translate_clock_errors
from chartpact.clock.zones import zone

STAMPS = ("open", "close")


class Known(TypedDict, total=False):
    """The options as keyword arguments: what a caller knows better than the data."""

    tz: str | None  # the zone of times that name none
    stamp: str  # "open" or "close": what of a bar its time is
    symbol: str | None
    timeframe: str | None
    tick_size: float | None
    day_roll: str | None


@dataclass(frozen=True)
class Options:
    """The options with their defaults filled in."""

    tz: str | None = None
    stamp: str = "open"
    symbol: str | None = None
    timeframe: str | None = None
    tick_size: float | None = None
    day_roll: str | None = None

    @translate_clock_errors()
    def __post_init__(self) -> None:
        if self.stamp not in STAMPS:
            raise BarsError(f"stamp is {self.stamp!r}: a bar is stamped at its open or its close")
        if self.tz is not None:
            zone(self.tz)  # a misspelt zone is an error even where every time has an offset
