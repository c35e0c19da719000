"""Numeric primitives: series in, series out, by Pine's rules.

Every function works on the last axis (a 2-D array is a batch of symbols) and takes first the source
where there is one, then the price series it needs in the order open high low close volume, then its
numbers in Pine's order. Bars, or anything with these columns, may stand for the price series. `na`
is NaN, and each function says what an na bar does. A result of several series is a tuple in Pine's
order. Bad arguments raise `TaError`.

A large batch is shared out among the processors; `CHARTPACT_THREADS=1` keeps it on one.

A length may be a series, with a whole number from 1 to 5000 for each bar, where Pine takes one: not
in `ema rma rsi atr macd hma kc kcw dmi tsi supertrend rci`.

>>> from chartpact import ta
>>> ta.sma([1, 2, 3, 4], 2)
array([nan, 1.5, 2.5, 3.5])
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType, ModuleType
from typing import Any

from chartpact.ta import (
    arithmetic,
    averages,
    events,
    extremes,
    levels,
    logic,
    market_structure,
    oscillators,
    profiles,
    statistics,
    trend,
    typical,
    volatility,
    volume,
    wallclock,
)
from chartpact.ta.arguments import TaError as TaError
from chartpact.ta.arithmetic import *  # noqa: F403
from chartpact.ta.averages import *  # noqa: F403
from chartpact.ta.events import *  # noqa: F403
from chartpact.ta.extremes import *  # noqa: F403
from chartpact.ta.levels import *  # noqa: F403
from chartpact.ta.logic import *  # noqa: F403
from chartpact.ta.market_structure import *  # noqa: F403
from chartpact.ta.oscillators import *  # noqa: F403
from chartpact.ta.profiles import *  # noqa: F403
from chartpact.ta.statistics import *  # noqa: F403
from chartpact.ta.trend import *  # noqa: F403
from chartpact.ta.typical import *  # noqa: F403
from chartpact.ta.volatility import *  # noqa: F403
from chartpact.ta.volume import *  # noqa: F403
from chartpact.ta.wallclock import *  # noqa: F403

FAMILIES: tuple[ModuleType, ...] = (
    averages,
    oscillators,
    volatility,
    trend,
    extremes,
    levels,
    market_structure,
    statistics,
    volume,
    profiles,
    events,
    arithmetic,
    logic,
    typical,
    wallclock,
)

# name → function: what scripts may call and the reference page lists
FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {name: getattr(family, name) for family in FAMILIES for name in family.__all__}
)

__all__ = ["FAMILIES", "FUNCTIONS", "TaError", *FUNCTIONS]  # noqa: PLE0604  (named by the families)
