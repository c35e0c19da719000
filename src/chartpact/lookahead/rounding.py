"""Numbers that are equal but for rounding, and how they are written."""

import math

import numpy as np
from numpy.typing import NDArray

from chartpact import palette

Array = NDArray[np.float64]
Point = tuple[float, float]  # a bar and a price; infinite above or below the bar
TOLERANCE = 1e-9
_NOISE = 1e-11  # rounding near 0, as a share of the largest value of a series
AUTO = -1.0  # the number of a colour that is chosen when it is drawn


def noise_of(values: Array) -> float:
    """The differences that are rounding even in values near 0."""
    return _NOISE * float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))


def is_same(a: float, b: float, noise: float = 0.0) -> bool:
    """Whether two prices or bars are equal but for rounding; what is nowhere is alike."""
    close = math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=noise)
    return close or (math.isnan(a) and math.isnan(b))


def same_heights(heights: tuple[float, ...], others: tuple[float, ...]) -> bool:
    return len(heights) == len(others) and all(map(is_same, heights, others))


def begins_with(points: tuple[Point, ...], first: tuple[Point, ...]) -> bool:
    """Whether a line through some points begins with others."""
    return len(points) >= len(first) and all(map(same_heights, points, first))


def format_number(height: float) -> str:
    if math.isinf(height):
        return "above its bar" if height > 0 else "below its bar"
    return "nothing" if math.isnan(height) else f"{height:.12g}"


def format_color(value: float) -> str:
    if value == AUTO:
        return palette.AUTO
    return "nothing" if math.isnan(value) else f"#{int(value):08x}"
