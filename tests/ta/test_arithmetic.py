"""Rounding and means, as Pine does them."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.cases import in_one_test

from chartpact import ta

HALF = Fraction(1, 2)
TOLERANCE = Fraction(1, 10**10)


@in_one_test(
    ("arguments", "wanted"),
    [
        ((-2.5,), -3),
        ((2.5,), 3),
        ((0.49999999999999994,), 0),
        ((452523.49999999994,), 452523),
        ((1.005, 2), 1.01),
        ((-1.005, 2), -1.01),
        ((100019.7405, 3), 100019.74),
        ((2.5, 0), 3.0),
        ((1234.5, -2), 1235.0),
        ((1e300, 5), 1e300),
        ((5e-324, 300), 0.0),
    ],
)
def test_a_number_is_rounded_as_pine_rounds_it(arguments, wanted):
    rounded = ta.round(*arguments)
    assert rounded == wanted
    assert type(rounded) is type(wanted)
    value, *precision = arguments
    assert ta.round([value], *precision).tolist() == [wanted]


@given(st.floats(-1e9, 1e9), st.integers(1, 6))
@example(100019.7405, 3)
def test_the_exact_product_is_compared_with_the_half(x, precision):
    exact = abs(Fraction(x)) * 10**precision
    rest = exact % 1
    if abs(rest + TOLERANCE - HALF) < Fraction(1, 10**14):
        return  # on the bound itself
    whole = exact // 1 + (rest + TOLERANCE >= HALF)
    assert ta.round(x, precision) == float(np.sign(x) * (whole / Fraction(10**precision)))


def test_na_and_signs_survive_rounding():
    assert np.isnan(ta.round([np.nan])).all()
    assert str(ta.round(np.array([-0.2]))) == "[0.]"


def test_a_mean_of_more_than_two_is_summed_with_pines_correction():
    assert ta.avg(0.1, 0.2, 0.3) == 0.19999999999999998
    assert ta.avg(0.1, 0.2) == (0.1 + 0.2) / 2


def test_a_mean_takes_series_and_numbers_and_is_na_where_one_is():
    assert ta.avg([1, 2, np.nan], 3).tolist()[:2] == [2, 2.5]
    assert np.isnan(ta.avg([1, np.nan], 3, [2, 2])[1])
    assert ta.avg([4, 5]).tolist() == [4, 5]


def test_a_mean_refuses_what_does_not_fit_and_makes_nothing_infinite():
    with pytest.raises(ta.TaError, match="argument 2 must be as long as a"):
        ta.avg([1, 2], [1, 2, 3])
    with pytest.raises(ta.TaError, match="argument 2 must hold numbers only"):
        ta.avg(1, "2")
    assert np.isnan(ta.avg(1.7e308, 1.7e308, 1.7e308))
