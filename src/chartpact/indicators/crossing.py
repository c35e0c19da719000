"""Where two lines cross, by Pine's comparison.

`ta.crossover` is exact, as in Pine. Two lines that are equal by their definition then cross where
one of them is rounded; here they are equal within 1e-10.
"""

from chartpact import ta
from chartpact.indicators.drawing import Bools, Floats


def crosses_above(a: Floats, b: Floats) -> Bools:
    """Where a is above b and was not on the bar before."""
    return ta.gt(a, b) & ta.le(ta.shift(a, 1), ta.shift(b, 1))


def crosses_below(a: Floats, b: Floats) -> Bools:
    """Where a is below b and was not on the bar before."""
    return crosses_above(b, a)
