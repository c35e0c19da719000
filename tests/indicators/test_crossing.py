"""Rounding makes no signal: what crosses is judged by exact arithmetic."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import chartpact as cp
from chartpact.indicators.crossing import crosses_above, crosses_below

FILES = ("ESZ13_1m_2013-10-06_2013-10-14.csv.gz", "SPY_1m_2013-10-04_2013-10-11.csv.gz")
CENT = 100


def exact_stoch(bars, n):
    """The stochastic in rational numbers; a window without range holds the value before it."""
    high, low, close = (
        [round(price * CENT) for price in column.tolist()]
        for column in (bars.high, bars.low, bars.close)
    )
    values = [None] * len(close)
    for i in range(n - 1, len(close)):
        top, bottom = max(high[i - n + 1 : i + 1]), min(low[i - n + 1 : i + 1])
        spread = top - bottom
        values[i] = Fraction(100 * (close[i] - bottom), spread) if spread else values[i - 1]
    return values


def exact_sma(values, n):
    return [
        None if None in values[max(i - n + 1, 0) : i + 1] or i < n - 1
        else sum(values[i - n + 1 : i + 1]) / n
        for i in range(len(values))
    ]  # fmt: skip


@pytest.mark.needs_shared
@pytest.mark.parametrize("file", FILES)
def test_the_stochastic_crosses_its_signal_line_where_it_does_in_exact_numbers(shared, file):
    bars = cp.load(shared / "data" / file)[:8_200]
    k = exact_sma(exact_stoch(bars, 14), 3)
    d = exact_sma(k, 3)
    lines = [None if y is None else (x, x - y) for x, y in zip(k, d, strict=True)]
    wanted = []
    for i, (before, now) in enumerate(pairwise(lines), start=1):
        if before and now and before[1] <= 0 < now[1] and now[0] < 20:
            wanted.append((i, "stoch_oversold"))
        if before and now and before[1] >= 0 > now[1] and now[0] > 80:
            wanted.append((i, "stoch_overbought"))
    scene = cp.indicator("rsi_mfi_stoch")(bars)
    drawn = [(signal.bar, signal.name) for signal in scene.signals if "stoch" in signal.name]
    assert sorted(drawn) == wanted
    assert len(wanted) > 100


def test_lines_that_are_equal_but_for_rounding_do_not_cross():
    a = np.array([1.0, 0.1 + 0.2, 0.3, 1.0])
    b = np.array([1.0, 0.3, 0.1 + 0.2, 0.9])
    assert crosses_above(a, b).tolist() == [False, False, False, True]
    assert crosses_below(b, a).tolist() == [False, False, False, True]
    assert not crosses_above(b, a).any()
