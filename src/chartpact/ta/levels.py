"""Levels: prices to watch, made of the prices of a period."""

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from chartpact.checks import Unfit
from chartpact.ta.arguments import (
    BOOL,
    Check,
    Close,
    Flag,
    Floats,
    High,
    Low,
    Open,
    TaError,
    condition,
    takes_bars,
)
from chartpact.ta.arithmetic import quiet, quotient
from chartpact.ta.kernels import kernel

__all__ = ["pivot_point_levels"]

_period_prices: Callable[..., tuple[Floats, ...]] = kernel("period_prices")
_lt, _gt = kernel("lt"), kernel("gt")
Levels = tuple[
    Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats, Floats
]


class Prices(NamedTuple):
    """Those of a period, and the open of the period after it."""

    high: Floats
    low: Floats
    open: Floats
    close: Floats
    next_open: Floats

    @property
    def mean(self) -> Floats:
        return (self.high + self.low + self.close) / 3

    @property
    def range(self) -> Floats:
        return self.high - self.low


# Each type gives P, R1, S1, R2, S2 … as far as it goes.


def _around(centre: Floats, *distances: Floats) -> Iterator[Floats]:
    for distance in distances:
        yield from (centre + distance, centre - distance)


def _mirror(pivot: Floats, prices: Prices) -> tuple[Floats, Floats]:
    return 2 * pivot - prices.low, 2 * pivot - prices.high


def _traditional(prices: Prices) -> Iterator[Floats]:
    high, low, pivot = prices.high, prices.low, prices.mean
    yield from (pivot, *_mirror(pivot, prices), *_around(pivot, prices.range))
    for k in (2, 3, 4):
        yield from (k * pivot + (high - k * low), k * pivot - (k * high - low))


def _fibonacci(prices: Prices) -> Iterator[Floats]:
    shares = (share * prices.range for share in (0.382, 0.618, 1))
    yield from (prices.mean, *_around(prices.mean, *shares))


def _woodie(prices: Prices) -> Iterator[Floats]:
    high, low, reach = prices.high, prices.low, prices.range
    pivot = (high + low + 2 * prices.next_open) / 4
    r3, s3 = high + 2 * (pivot - low), low - 2 * (high - pivot)
    yield from (pivot, *_mirror(pivot, prices), *_around(pivot, reach))
    yield from (r3, s3, r3 + reach, s3 - reach)


def _classic(prices: Prices) -> Iterator[Floats]:
    pivot = prices.mean
    yield from (pivot, *_mirror(pivot, prices))
    yield from _around(pivot, *(k * prices.range for k in (1, 2, 3)))


def _demark(prices: Prices) -> Iterator[Floats]:
    high, low, close = prices.high, prices.low, prices.close
    doubled = np.select([_lt(close, prices.open), _gt(close, prices.open)], [low, high], close)
    total = high + low + close + np.where(np.isnan(prices.open), np.nan, doubled)
    yield from (total / 4, total / 2 - low, total / 2 - high)


def _camarilla(prices: Prices) -> Iterator[Floats]:
    r5 = quotient(prices.high, prices.low) * prices.close
    yield prices.mean
    yield from _around(prices.close, *(1.1 * prices.range / parts for parts in (12, 6, 4, 2)))
    yield from (r5, 2 * prices.close - r5)


TYPES: Mapping[str, Callable[[Prices], Iterator[Floats]]] = {
    "Traditional": _traditional,
    "Fibonacci": _fibonacci,
    "Woodie": _woodie,
    "Classic": _classic,
    "DM": _demark,
    "Camarilla": _camarilla,
}


def _type(value: Any) -> str:
    if type(value) is not str or value not in TYPES:
        raise Unfit(f"must be one of {', '.join(TYPES)}")
    return value


def _finite(level: Floats) -> Floats:
    infinite = np.isinf(level)
    return np.where(infinite, np.nan, level) if infinite.any() else level


@takes_bars
@quiet
def pivot_point_levels(
    open: Open,
    high: High,
    low: Low,
    close: Close,
    type: Annotated[str, Check(_type)],
    anchor: Annotated[ArrayLike, Check(condition, BOOL)],
    developing: Flag = False,
) -> Levels:
    """Pivot points: (P, R1, S1, R2, S2, R3, S3, R4, S4, R5, S5), na where the type has no level.

    A bar where `anchor` is true begins a period (see `timeframe_change`), and so does bar 0. The
    levels are those of the period before, na until the first anchor; with `developing`, those of
    the running period up to the bar. The types are Traditional, Fibonacci, Woodie, Classic, DM and
    Camarilla; Woodie needs the open of the next period, so it cannot be developing.

    >>> bars = [9, 8, 12], [15, 11, 14], [8, 9, 11], [10, 13, 12]
    >>> levels = pivot_point_levels(*bars, "Traditional", [False, False, True])
    >>> [float(level[2]) for level in levels[:5]]
    [12.0, 16.0, 9.0, 19.0, 5.0]
    """
    if developing and type == "Woodie":
        raise TaError("pivot_point_levels", "type", type, "must not be Woodie while developing")
    prices = Prices(*_period_prices(anchor, open, high, low, close, developing))
    levels = [*map(_finite, TYPES[type](prices))]
    absent = np.full(prices.high.shape, np.nan)
    return cast(Levels, (*levels, *[absent] * (11 - len(levels))))
