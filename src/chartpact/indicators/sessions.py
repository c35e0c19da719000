"""Sessions of bars: trading days by their roll, calendar periods, or fixed counts."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chartpact.bars import Bars, BarsError
from chartpact.params import IndicatorError, Param
from chartpact.problem import Problem

Indices = NDArray[np.intp]

SESSIONS = {"hourly": "1h", "daily": "1D", "weekly": "1W", "monthly": "1M"}

DAY_ROLL = Param(
    "day_roll",
    "str",
    None,
    desc="When a trading day begins, as '17:00 America/New_York'; unset: as the symbol's does",
)


def with_day_roll(bars: Bars, day_roll: str | None, owner: str) -> Bars:
    """The bars with trading days that begin at the given time."""
    if day_roll is None:
        return bars
    try:
        return replace(bars, day_roll=day_roll)
    except BarsError as error:
        message, details = (
            f"{owner}: day_roll={day_roll!r} cannot be read",
            {"parameter": "day_roll"},
        )
        raise IndicatorError(Problem("value", message, str(error), details=details)) from None
