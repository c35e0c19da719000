"""Comparisons are Pine's: equal within 1e-10, false with na."""

import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from chartpact import ta

TOLERANCE = Fraction(1, 10**10)
EXACT = {
    "lt": lambda a, b: b - a > TOLERANCE,
    "le": lambda a, b: a - b <= TOLERANCE,
    "gt": lambda a, b: a - b > TOLERANCE,
    "ge": lambda a, b: b - a <= TOLERANCE,
    "eq": lambda a, b: abs(a - b) <= TOLERANCE,
    "ne": lambda a, b: abs(a - b) > TOLERANCE,
}
every_comparison = pytest.mark.parametrize("name", EXACT)
numbers = st.floats(allow_nan=False, allow_infinity=False)


@every_comparison
def test_the_recorded_cases_of_pine(name):
    wanted = {
        "lt": [False, False, False, True, False],
        "le": [True, True, True, True, False],
        "gt": [False, False, False, False, True],
        "ge": [True, True, True, False, True],
        "eq": [True, True, True, False, False],
        "ne": [False, False, False, True, True],
    }
    a = [0.1 + 0.2, 1 + 5e-11, 1e-10, 1.0, 2e-10]
    b = [0.3, 1.0, 0.0, 1 + 2e-10, 0.0]
    assert getattr(ta, name)(a, b).tolist() == wanted[name]


@every_comparison
@given(a=numbers, b=numbers, apart=st.sampled_from([0.0, 5e-11, 9e-11, 1.1e-10, 1.0]))
@example(a=1e308, b=-1e308, apart=0.0)
def test_a_comparison_is_that_of_exact_numbers_away_from_the_bound(name, a, b, apart):
    compare = getattr(ta, name)
    for x, y in ((a, b), (a, a + apart)):
        distance = abs(Fraction(x) - Fraction(y)) if np.isfinite(y) else None
        if distance is None or abs(distance - TOLERANCE) < Fraction(1, 10**24):
            continue  # the difference of two floats is itself rounded
        wanted = EXACT[name](Fraction(x), Fraction(y))
        assert compare([x], [y]).tolist() == [wanted]
        assert compare([x, x], y).tolist() == [wanted, wanted]
        assert compare(x, np.array([y])).tolist() == [wanted]
        assert compare(x, y) is wanted


@every_comparison
def test_a_comparison_with_na_is_false_and_infinities_are_ordered(name):
    x = np.array([np.nan, 1.0, np.nan, np.inf, -np.inf, np.inf, 1.0])
    y = np.array([1.0, np.nan, np.nan, np.inf, np.inf, 1.0, -np.inf])
    wanted = [False] * 3 + [
        getattr(operator, name)(a, b) for a, b in zip(x[3:], y[3:], strict=True)
    ]
    assert getattr(ta, name)(x, y).tolist() == wanted


def test_a_number_taken_for_a_condition_is_false_where_it_is_0_within_the_tolerance():
    assert ta.logical_not([1e-11, -1e-10, 2e-10, np.nan]).tolist() == [True, True, False, True]
    assert ta.barssince([1.0, 1e-11, 1e-11]).tolist() == [0, 1, 2]


def test_what_pine_keeps_exact_sees_a_step_below_the_tolerance():
    a = np.array([100, 100 + 1e-12, 100, 100, 100 + 1e-12])
    assert ta.crossover(a, 100).tolist() == [False, True, False, False, True]
    assert ta.highestbars(a, 2).tolist()[1:] == [0, -1, -1, 0]
    assert ta.change(a)[1] > 0
    assert ta.max(a, 100.0)[1] > 100
    assert ta.pivothigh(a, 1, 1)[2] == a[1]
