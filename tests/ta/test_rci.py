"""The rank correlation index, as Pine's exports show it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import in_one_test

from chartpact import ta

NA = np.nan


@in_one_test(
    ("source", "wanted"),
    [
        (
            [1, 2, 3, 5, 4, 6, 6],
            [NA, NA, NA, 99.99999999999999, 49.99999999999999, 49.99999999999999,
             86.60254037844385],
        ),
        ([2, 2, 2, 2], [NA] * 4),
        ([1, 2, 3, 4, NA, 5, 6, 7], [NA, NA, NA, 100, 100, 50, 100, 100]),
    ],
)  # fmt: skip
def test_the_vectors_of_pine(source, wanted):
    np.testing.assert_allclose(ta.rci(source, 3), wanted, rtol=1e-13)


def test_values_less_than_the_tolerance_above_the_smallest_share_a_rank():
    dust = [0.0, 0.0, 3e-11, 9e-11, 5.0]
    np.testing.assert_array_equal(ta.rci(dust, 4), ta.rci([0, 0, 0, 0, 5], 4))
    # 0, 9e-11, 18e-11: the third is not within the group of the first
    np.testing.assert_array_equal(ta.rci([0, 0, 9e-11, 18e-11], 3), ta.rci([0, 0, 0, 1], 3))
    assert ta.rci([0, 0, 1e-10], 2)[2] == pytest.approx(100)


@given(st.lists(st.integers(-50, 50), min_size=5, max_size=30, unique=True), st.integers(2, 4))
def test_without_ties_it_is_spearmans_coefficient(values, n):
    wanted = np.full(len(values), NA)
    for i in range(n, len(values)):
        ranks = np.argsort(np.argsort(values[i - n + 1 : i + 1]))
        wanted[i] = 100 * (1 - 6 * np.sum((ranks - np.arange(n)) ** 2) / (n * (n * n - 1)))
    np.testing.assert_allclose(ta.rci(values, n), wanted, atol=1e-11)


def test_an_infinity_is_passed_over_like_na():
    np.testing.assert_array_equal(
        ta.rci([1, 2, 3, 4, np.inf, 5, 6], 3), ta.rci([1, 2, 3, 4, NA, 5, 6], 3)
    )
