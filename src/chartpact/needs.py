"""What an indicator needs besides the bars it is drawn on, and what the host fetched for it.

Indicators fetch nothing: they declare their needs, the host fetches them, and the indicator is
handed the supplies. Which names may be fetched is the host's decision. A shell may name files, the
users of a server may not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact.bars import Bars
from chartpact.clock.timeframe import HOUR, Timeframe
from chartpact.params import IndicatorError
from chartpact.problem import Failure, Problem

BARS, CALENDAR = "bars", "calendar"
# The periods in which futures exchanges report open interest and positions, in ms.
PERIODS = {
    "5m": 300_000, "15m": 900_000, "30m": 1_800_000, "1h": HOUR, "2h": 2 * HOUR, "4h": 4 * HOUR,
    "6h": 6 * HOUR, "12h": 12 * HOUR, "1d": 24 * HOUR,
}  # fmt: skip


@dataclass(frozen=True)
class Need:
    """One thing to fetch: the bars of a symbol, the events of a calendar, or a feed's readings.

    `what` is `bars`, `calendar` or the name of a feed, such as `funding`. Only readings have a
    range, from `first` to `last` in UTC ms.
    """

    what: str
    name: str  # of the symbol or of the calendar
    timeframe: str = ""
    first: int = 0
    last: int = 0


@dataclass(frozen=True)
class Readings:
    """One quantity over time: when each reading was there (UTC ms, ascending), and its numbers."""

    time: NDArray[np.int64]
    values: Mapping[str, NDArray[np.float64]]


def reporting_period(timeframe: str) -> str:
    """The longest reporting period that is not longer than a bar, at least 5 minutes.

    >>> reporting_period("1m"), reporting_period("8h"), reporting_period("1W")
    ('5m', '6h', '1d')
    """
    bar = Timeframe.parse(timeframe).ms if timeframe else HOUR
    fitting = [name for name, ms in PERIODS.items() if ms <= bar]
    return fitting[-1] if fitting else "5m"


Events = tuple[Mapping[str, Any], ...]
Supply = Bars | Events | Readings
Needs = Mapping[str, Need]  # by the parameter or the feed that each is for
Supplies = Mapping[str, Supply]  # by the same keys
Fetch = Callable[[Need], Supply]  # raises Failure


def gather(needs: Needs, fetch: Fetch) -> Supplies:
    """Everything an indicator needs; the first thing that cannot be had is an IndicatorError."""
    supplies: dict[str, Supply] = {}
    for key, need in needs.items():
        try:
            supplies[key] = fetch(need)
        except Failure as failure:
            raise IndicatorError(_explain(key, need, failure.problem)) from None
    return supplies


def cut_supplies(supplies: Supplies, bars: Bars) -> Supplies:
    """What there was of the supplies when the last of these bars closed."""
    return {key: cut_supply(supply, bars) for key, supply in supplies.items()}


def cut_supply(supply: Supply, bars: Bars) -> Supply:
    """What there was of a supply when the last of these bars closed.

    An event that was still to come is known, and its outcome is not.
    """
    end = int(bars.close_time[-1]) if len(bars) else 0
    if isinstance(supply, Bars):
        return supply[: int(np.searchsorted(supply.close_time, end, side="right"))]
    if isinstance(supply, Readings):
        count = int(np.searchsorted(supply.time, end, side="right"))
        values = {name: column[:count] for name, column in supply.values.items()}
        return Readings(supply.time[:count], values)
    return tuple(
        event if event["time_utc"] <= end else {**event, "actual": None, "revised": None}
        for event in supply
    )


def _explain(key: str, need: Need, problem: Problem) -> Problem:
    if need.what in (BARS, CALENDAR):
        message = f"{key}={need.name!r:.80}: {problem.message}"
        return Problem(problem.kind, message, problem.hint, details={"parameter": key})
    hint = "nothing is drawn for this indicator alone"
    return Problem("unavailable", f"{key}: {problem.message}", hint)
