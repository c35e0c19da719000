"""Pivot point levels: the six types, and the period they are made of."""

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact import ta
from chartpact.ta.levels import TYPES

NA = np.nan
NAMES = "P R1 S1 R2 S2 R3 S3 R4 S4 R5 S5".split()
# A period with high 15, low 8, close 13 and open 10, and a bar after it that opens at 12.
PERIOD = [[10, 9, 12], [11, 15, 14], [8, 9, 11], [9, 13, 12.5]]
NEXT = [False, False, True]
LEVELS = {
    "Traditional": [12, 16, 9, 19, 5, 23, 2, 27, -1, 31, -4],
    "Fibonacci": [12, 14.674, 9.326, 16.326, 7.674, 19, 5],
    "Woodie": [11.75, 15.5, 8.5, 18.75, 4.75, 22.5, 1.5, 29.5, -5.5],
    "Classic": [12, 16, 9, 19, 5, 26, -2, 33, -9],
    "DM": [12.75, 17.5, 10.5],
    "Camarilla": [12, 13.641667, 12.358333, 14.283333, 11.716667, 14.925, 11.075, 16.85, 9.15,
                  24.375, 1.625],
}  # fmt: skip


@in_one_test("kind", TYPES)
def test_a_type_has_the_levels_that_tradingview_states(kind):
    levels = ta.pivot_point_levels(*PERIOD, kind, NEXT)
    assert len(levels) == len(NAMES)
    wanted = LEVELS[kind] + [NA] * (len(NAMES) - len(LEVELS[kind]))
    np.testing.assert_allclose([level[2] for level in levels], wanted, atol=5e-7)
    assert np.isnan(np.array(levels)[:, :2]).all()  # until the first anchor


@in_one_test(
    ("close", "total"), [(9, 15 + 2 * 8 + 9), (13, 2 * 15 + 8 + 13), (10, 15 + 8 + 2 * 10)]
)
def test_the_pivot_of_demark_asks_where_the_period_closed(close, total):
    prices = [*PERIOD[:3], [9, close, 12]]
    pivot, r1, s1, *_ = (level[2] for level in ta.pivot_point_levels(*prices, "DM", NEXT))
    assert (pivot, r1, s1) == (total / 4, total / 2 - 8, total / 2 - 15)


def test_levels_stand_until_the_next_anchor_and_a_period_ends_before_it():
    high = np.array([5.0, 9, 7, 6, 8, 3])
    anchor = np.array([False, False, True, False, True, False])
    pivot, r1, *_ = ta.pivot_point_levels(high, high, high - 2, high - 1, "Traditional", anchor)
    first, second = (9 + 3 + 8) / 3, (7 + 4 + 5) / 3
    np.testing.assert_array_equal(pivot, [NA, NA, first, first, second, second])
    np.testing.assert_allclose(r1[2:], [2 * first - 3] * 2 + [2 * second - 4] * 2)


def test_an_anchor_on_the_first_bar_ends_no_period():
    high = np.array([5.0, 9, 7])
    levels = ta.pivot_point_levels(high, high, high, high, "Classic", [True, False, False])
    assert np.isnan(levels).all()


def test_developing_levels_are_those_of_the_running_period_from_bar_0_on():
    high = np.array([5.0, 9, 7, 6])
    anchor = [False, False, True, False]
    pivot, *_ = ta.pivot_point_levels(high, high, high - 2, high - 1, "Classic", anchor, True)
    np.testing.assert_allclose(
        pivot, [(5 + 3 + 4) / 3, (9 + 3 + 8) / 3, (7 + 5 + 6) / 3, (7 + 4 + 5) / 3]
    )


def test_a_gap_within_a_period_is_left_out_of_its_extremes():
    open, high, low, close = (np.array(column, float) for column in PERIOD)
    for column in (high, low):
        column[0] = NA
    pivot, *_ = ta.pivot_point_levels(open, high, low, close, "Traditional", NEXT)
    assert pivot[2] == (15 + 9 + 13) / 3
    open[0] = NA
    assert np.isnan(ta.pivot_point_levels(open, high, low, close, "DM", NEXT)[0][2])


def test_bars_stand_for_the_prices_and_a_batch_is_its_rows():
    rng = np.random.default_rng(4)
    prices = rng.random((4, 3, 40)) + 1
    anchor = rng.random((3, 40)) < 0.2
    batch = ta.pivot_point_levels(*prices, "Woodie", anchor)
    for row in range(3):
        single = ta.pivot_point_levels(*prices[:, row], "Woodie", anchor[row])
        np.testing.assert_array_equal([level[row] for level in batch], single)


def test_what_is_no_type_and_a_developing_woodie_are_refused():
    with pytest.raises(ta.TaError, match="type must be one of Traditional, Fibonacci, Woodie"):
        ta.pivot_point_levels(*PERIOD, "Fibonaci", NEXT)
    with pytest.raises(ta.TaError, match="must not be Woodie while developing"):
        ta.pivot_point_levels(*PERIOD, "Woodie", NEXT, True)


def test_a_low_of_0_leaves_no_infinite_level():
    levels = ta.pivot_point_levels([1, 1], [2, 2], [0, 1], [1, 1], "Camarilla", [False, True])
    assert not np.isinf(levels).any()
    assert np.isnan([level[1] for level in levels[-2:]]).all()
