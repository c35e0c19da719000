"""Number formats: how axes, legends and tags write values."""

import math
from dataclasses import dataclass

import numpy as np

from chartpact.prices import decimals_of
from chartpact.render.display import Floats

MINUS = "−"
MOST_DECIMALS = 14  # a number that needs more is written with a power of ten
_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K"))


@dataclass(frozen=True)
class NumberFormat:
    """How many decimals, and whether thousands are written as K, M, B."""

    decimals: int = 2
    compact: bool = False

    def __call__(self, value: float) -> str:
        """The number as text.

        >>> NumberFormat(2)(-47943.824), NumberFormat(0, compact=True)(1_250_000)
        ('−47,943.82', '1.25M')
        """
        if not math.isfinite(value):
            return "–"
        if self.compact:
            return compact(value)
        if abs(value) >= 1e15 or (value and self.decimals > MOST_DECIMALS):
            return _powers(value)
        if self.decimals > MOST_DECIMALS:
            return "0"
        return _with_minus(f"{value:,.{self.decimals}f}")


def _powers(value: float) -> str:
    digits, _, power = f"{value:.3e}".partition("e")
    return f"{digits}e{int(power)}".replace("-", MINUS)


def _with_minus(text: str) -> str:
    if text.startswith("-"):
        return text[1:] if not text.strip("-0.,") else MINUS + text[1:]
    return text


def compact(value: float) -> str:
    """Three significant digits and a unit.

    >>> compact(20_000), compact(-1_234_567), compact(950)
    ('20K', '−1.23M', '950')
    """
    size = abs(value)
    if size >= 1e15:
        return _powers(value)
    for unit, letter in _UNITS:
        if size >= unit * 0.9995:
            scaled = value / unit
            digits = max(0, 2 - math.floor(math.log10(abs(scaled))))
            written = f"{scaled:.{digits}f}"
            return (
                _with_minus(written.rstrip("0").rstrip(".") if "." in written else written) + letter
            )
    return _with_minus(f"{value:.4g}")


def price_format(prices: Floats, tick_size: float | None) -> NumberFormat:
    """The decimals of the tick size or, where it is unknown, those the prices themselves have."""
    if tick_size:
        return NumberFormat(decimals_of(tick_size))
    known = prices[np.isfinite(prices)][-500:]
    size = float(np.abs(known).max(initial=0.0))
    if not size:
        return NumberFormat(2)
    most = max(0, 5 - math.floor(math.log10(size)))
    for decimals in range(min(most, MOST_DECIMALS + 1)):
        scaled = known * 10.0**decimals
        near = 1e-6 * min(1.0, size * 10.0**decimals)  # a price below that is not a price of 0
        if np.allclose(scaled, np.rint(scaled), rtol=0, atol=near):
            return NumberFormat(decimals if decimals != 1 else 2)
    return NumberFormat(most)


def range_format(low: float, high: float) -> NumberFormat:
    """Decimals that suit values between these."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return NumberFormat(2)
    size = max(abs(low), abs(high))
    if size >= 1e5:
        return NumberFormat(0, compact=True)
    span = high - low if high > low else max(size, 1.0)
    if span >= 10:
        return NumberFormat(2 if size < 1e4 else 1)
    exact = 11 - math.floor(math.log10(size)) if size else 0  # further digits are noise
    return NumberFormat(max(0, min(math.floor(3.7 - math.log10(span)), exact)))
