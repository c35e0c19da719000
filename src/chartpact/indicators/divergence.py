"""Fractals of a series, and where they diverge from the price."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact import ta

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

WING = 2  # bars on each side of a fractal's centre; it is known so many bars later


@dataclass(frozen=True)
class Fractals:
    """Centres of 5-bar fractals, each with the one before it (-1: none)."""

    centre: Indices
    previous: Indices

    def where(self, chosen: NDArray[np.bool_]) -> "Fractals":
        return Fractals(self.centre[chosen], self.previous[chosen])


def tops(series: Floats) -> Fractals:
    """Bars whose value is above that of the two bars on either side."""
    if len(series) < 2 * WING + 1:
        return _chain(np.zeros(0, np.intp))
    centre = series[WING:-WING]
    sides = (series[:-4], series[1:-3], series[3:-1], series[4:])
    above = np.logical_and.reduce([ta.gt(centre, side) for side in sides])
    return _chain(np.flatnonzero(above) + WING)


def bottoms(series: Floats) -> Fractals:
    """Bars whose value is below that of the two bars on either side."""
    return tops(-series)


def _chain(centre: Indices) -> Fractals:
    return Fractals(centre, np.append(np.full(min(1, len(centre)), -1, np.intp), centre[:-1]))


def bearish(fractals: Fractals, series: Floats, high: Floats, limit: float) -> Fractals:
    """Tops at or above `limit` that are lower than the top before, under a higher high."""
    now, then = fractals.centre, fractals.previous
    return fractals.where(
        (then >= 0)
        & ta.ge(series[now], limit)
        & ta.gt(high[now], high[then])
        & ta.lt(series[now], series[then])
    )


def bullish(fractals: Fractals, series: Floats, low: Floats, limit: float) -> Fractals:
    """Bottoms at or below `limit` that are higher than the bottom before, over a lower low."""
    return bearish(fractals, -series, -low, -limit)
