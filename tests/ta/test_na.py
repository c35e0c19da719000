"""What a bar without a value does to each function."""

import numpy as np
from tests.cases import in_one_test

from chartpact import ta
from chartpact.ta import reference
from chartpact.ta.kernels import kernel

NA = np.nan
PRESENT = np.array([1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1, 1], bool)
X = np.array([3.0, 4, 6, 5, 7, 9, 8, 8, 6, 5, 4, 6, 7, 7])
Y = np.array([4.0, 4, 5, 6, 6, 7, 9, 8, 7, 5, 3, 4, 8, 9])
V = np.array([5.0, 1, 3, 8, 2, 2, 6, 1, 0, 4, 9, 3, 3, 7])


def with_holes(column):
    full = np.full(len(PRESENT), NA)
    full[PRESENT] = column
    return full


# An na bar is na, and might as well not be there.
SKIP = {
    "ema": ("x", lambda x: ta.ema(x, 3)),
    "rma": ("x", lambda x: ta.rma(x, 3)),
    "rsi": ("x", lambda x: ta.rsi(x, 3)),
    "macd": ("x", lambda x: ta.macd(x, 2, 3, 2)),
    "cmo": ("x", lambda x: ta.cmo(x, 3)),
    "cum": ("x", ta.cum),
    "sar": ("x", lambda x: ta.sar(x + 1, x - 1, x, 0.1, 0.1, 0.4)),
    "crossover": ("xy", ta.crossover),
    "crossunder": ("xy", ta.crossunder),
    "cross": ("xy", ta.cross),
}
# An na bar repeats the last result, and might as well not be there.
HOLD = {
    "sma": ("x", lambda x: ta.sma(x, 3)),
    "sum": ("x", lambda x: ta.sum(x, 3)),
    "stdev": ("x", lambda x: ta.stdev(x, 3)),
    "variance": ("x", lambda x: ta.variance(x, 3, False)),
    "bb": ("x", lambda x: ta.bb(x, 3, 2)),
    "bbw": ("x", lambda x: ta.bbw(x, 3, 2)),
    "vwma": ("xv", lambda x, v: ta.vwma(x, v, 3)),
    "median": ("x", lambda x: ta.median(x, 4)),
    "mode": ("x", lambda x: ta.mode(x, 4)),
    "range": ("x", lambda x: ta.range(x, 3)),
    "correlation": ("xy", lambda x, y: ta.correlation(x, y, 4)),
    "accdist": ("xyv", lambda x, y, v: ta.accdist(x + 1, x - 1, y, v)),
    "max": ("x", ta.max),
    "min": ("x", ta.min),
}
# An na among the last n bars is na.
OVER_BARS = {
    "alma": (3, lambda x: ta.alma(x, 3, 0.85, 6)),
    "swma": (4, ta.swma),
    "dev": (3, lambda x: ta.dev(x, 3)),
    "cci": (3, lambda x: ta.cci(x, 3)),
    "cog": (2, lambda x: ta.cog(x, 2)),
    "linreg": (3, lambda x: ta.linreg(x, 3, 1)),
}

COLUMNS = {"x": X, "y": Y, "v": V}


def dense_and_holed(used, function):
    """Each result on bars without gaps, and with gaps between them."""
    dense = function(*(COLUMNS[c] for c in used))
    holed = function(*(with_holes(COLUMNS[c]) for c in used))
    return zip(np.atleast_2d(dense), np.atleast_2d(holed), strict=True)


@in_one_test("name", SKIP)
def test_an_na_bar_is_na_and_leaves_the_state_alone(name):
    for dense, holed in dense_and_holed(*SKIP[name]):
        np.testing.assert_allclose(holed[PRESENT], dense, rtol=1e-12, atol=1e-12)
        gaps = holed[~PRESENT]
        assert (gaps == 0).all() if gaps.dtype == bool else np.isnan(gaps).all()


@in_one_test("name", HOLD)
def test_an_na_bar_repeats_the_last_result_and_leaves_the_state_alone(name):
    last = np.cumsum(PRESENT) - 1
    for dense, holed in dense_and_holed(*HOLD[name]):
        np.testing.assert_allclose(holed, dense[last], rtol=1e-12, atol=1e-12)


@in_one_test("name", OVER_BARS)
def test_an_na_among_the_last_n_bars_is_na(name):
    n, function = OVER_BARS[name]
    full = np.array([3.0, 4, 6, 5, 7, 9, 8, 8, 6, 5, 4, 6])
    gapped = full.copy()
    gapped[5] = NA
    got, whole = function(gapped), function(full)
    assert np.isnan(got[5 : 5 + n]).all()
    np.testing.assert_allclose(got[:5], whole[:5])
    np.testing.assert_allclose(got[5 + n :], whole[5 + n :])


def test_one_missing_input_is_enough_to_pass_a_bar_over():
    for name in ("crossover", "crossunder", "cross"):
        used, function = SKIP[name]
        both = function(*(with_holes(COLUMNS[c]) for c in used))
        for gone in used:
            columns = [with_holes(COLUMNS[c]) if c == gone else _filled(COLUMNS[c]) for c in used]
            assert function(*columns).tolist() == both.tolist()


def _filled(column):
    full = with_holes(column)
    full[~PRESENT] = 1e6
    return full


def test_wma_fills_the_window_with_the_value_before():
    got = ta.wma([1, NA, 2, 5], 2)
    np.testing.assert_allclose(got, [NA, NA, (1 * 1 + 2 * 2) / 3, (2 * 1 + 5 * 2) / 3])


def test_wma_waits_for_n_values_not_n_bars():
    np.testing.assert_allclose(
        ta.wma([NA, 1, NA, NA, 2, 3], 3), [NA] * 5 + [(1 + 2 * 2 + 3 * 3) / 6]
    )


def test_an_na_ends_the_window_of_highest_and_its_kin():
    x = [NA, 4, NA, 2, 3, NA, NA, 3]
    np.testing.assert_array_equal(ta.highest(x, 3), [NA, NA, NA, 2, 3, NA, NA, 3])
    np.testing.assert_array_equal(ta.lowest(x, 3), [NA, NA, NA, 2, 2, NA, NA, 3])
    np.testing.assert_array_equal(ta.highestbars(x, 3), [NA, NA, 0, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(ta.lowestbars(x, 3), [NA, NA, 0, 0, -1, 0, 0, 0])


def test_stoch_holds_and_wpr_is_na_on_an_na_bar():
    h, low, c = [5.0, 9, 6, 7], [1.0, 2, 3, 4], [2.0, 3, 4, 5]
    for column in (h, low, c):
        column[2] = NA
    np.testing.assert_allclose(ta.stoch(c, h, low, 2), [NA, 25, 25, 100 / 3])
    np.testing.assert_allclose(ta.wpr(h, low, c, 2), [NA, -75, NA, -200 / 3])
    for gone in range(3):
        columns = [np.array([5.0, 9, 6]), np.array([1.0, 2, 3]), np.array([2.0, 3, 4])]
        columns[gone][2] = NA
        h, low, c = columns
        assert ta.stoch(c, h, low, 2)[2] == ta.stoch(c, h, low, 2)[1] == 25
        assert np.isnan(ta.wpr(h, low, c, 2)[2])


def test_the_sums_of_mfi_pass_over_their_own_na():
    # the volume of bar 2 is missing: it rose, so no inflow is known, and its outflow is 0
    x, v = [1.0, 2, 3, 2, 4], [1.0, 1, NA, 1, 1]
    # inflows 1 2 na 0 4, outflows 1 0 0 2 0
    np.testing.assert_allclose(ta.mfi(x, v, 2), [NA, 75, 100, 50, 200 / 3])


def test_mfi_is_na_until_enough_inflows_are_known_in_c_and_reference():
    x, v = np.array([1.0, 2, 1, 3]), np.array([1.0, NA, 1, 1])  # inflows 1 na 0 3, outflows 1 0 1 0
    for mfi in (kernel("mfi"), reference.mfi):
        np.testing.assert_allclose(mfi(x, v, 3), [NA, NA, NA, 100 - 100 / (1 + 4 / 1)])


def test_pivots_compare_with_the_bars_since_the_last_na():
    x = [1.0, 2, 1, 2, NA, 1, 3, 1]
    np.testing.assert_array_equal(ta.pivot_high(x, 1, 1), [NA, NA, 2, NA, NA, NA, NA, 3])
    np.testing.assert_array_equal(ta.pivot_high(x, 3, 1), [NA] * 7 + [3])


def test_rising_leaves_its_count_alone_where_a_step_is_na():
    x = [1.0, 2, NA, 1, 2, 1, NA, 2]
    assert ta.rising(x, 2).tolist() == [0, 0, 0, 0, 1, 0, 0, 0]
    assert ta.falling([-v for v in x], 2).tolist() == [0, 0, 0, 0, 1, 0, 0, 0]


def test_a_step_over_an_na_bar_is_na():
    x = [1.0, NA, 4, 6]
    np.testing.assert_array_equal(ta.change(x), [NA, NA, NA, 2])
    np.testing.assert_array_equal(ta.mom(x, 2), [NA, NA, 3, NA])
    np.testing.assert_array_equal(ta.roc(x, 2), [NA, NA, 300, NA])


HIGH = np.array([5.0, 6, NA, 9, 8])
LOW = np.array([4.0, 5, NA, 7, 6])
CLOSE = np.array([5.0, 5, NA, 8, 7])


def test_tr_has_no_close_before_it_after_an_na_bar():
    np.testing.assert_array_equal(ta.tr(HIGH, LOW, CLOSE), [NA, 1, NA, NA, 2])
    np.testing.assert_array_equal(ta.tr(HIGH, LOW, CLOSE, True), [1, 1, NA, 2, 2])


def test_atr_carries_on_after_an_na_bar():
    np.testing.assert_array_equal(ta.atr(HIGH, LOW, CLOSE, 2), [NA, 1, NA, 1.5, 1.75])


def test_dmi_stands_still_on_an_na_bar_and_the_next():
    plus, minus, adx = ta.dmi(HIGH, LOW, CLOSE, 1, 1)
    # bar 1: up 1, down −1 of a range of 1; bar 4: up −1, down 1 of a range of 2
    np.testing.assert_array_equal(plus, [NA, 100, NA, NA, 0])
    np.testing.assert_array_equal(minus, [NA, 0, NA, NA, 50])
    np.testing.assert_array_equal(adx, [NA, 100, NA, NA, 100])


def test_supertrend_keeps_its_direction_on_an_na_bar():
    line, direction = ta.supertrend(HIGH, LOW, CLOSE, 0.5, 2)
    # atr 1, 1.5, 1.75; bar 1: upper 5.5 + 0.5; bar 3: the close of 8 is above it, lower 8 − 0.75;
    # bar 4: the close of 7 is below that, upper 7 + 0.875 as the last close was above the old one
    np.testing.assert_array_equal(line, [0, 6, NA, 7.25, 7.875])
    np.testing.assert_array_equal(direction, [1, 1, 1, -1, 1])


def test_kc_gives_its_middle_where_only_the_range_is_missing():
    middle, upper, lower = ta.kc([1.0, 2, 3, 4, 5], HIGH, LOW, CLOSE, 2, 1)
    assert np.isnan(middle).tolist() == [1, 0, 0, 0, 0]
    assert np.isnan(upper).tolist() == np.isnan(lower).tolist() == [1, 1, 1, 1, 0]


def test_volume_totals_add_nothing_across_an_na_bar():
    close, volume = [1.0, 2, NA, 8, 4], [5.0, 6, NA, 7, 3]
    np.testing.assert_array_equal(ta.obv(close, volume), [NA, 6, NA, NA, 3])
    np.testing.assert_array_equal(ta.pvt(close, volume), [NA, 6, NA, NA, 4.5])
    np.testing.assert_array_equal(ta.pvi(close, volume), [1, 2, 2, 2, 2])
    np.testing.assert_array_equal(ta.nvi(close, volume), [1, 1, 1, 1, 0.5])
    np.testing.assert_array_equal(ta.wad(close, close, close), [0, 1, 1, 1, -3])


def test_a_missing_volume_leaves_only_its_own_bar_out_of_the_totals():
    close, volume = [1.0, 2, 4, 8, 4], [5.0, 6, NA, 7, 3]
    np.testing.assert_array_equal(ta.obv(close, volume), [NA, 6, NA, 13, 10])
    np.testing.assert_array_equal(ta.pvt(close, volume), [NA, 6, NA, 13, 11.5])


def test_vwap_is_na_from_an_na_bar_to_the_next_anchor():
    got = ta.vwap([1.0, NA, 3, 5], [1.0, 1, 1, 1], [True, True, False, True])
    np.testing.assert_array_equal(got, [1, NA, NA, 5])
    got = ta.vwap([1.0, 2, 3, 5], [1.0, NA, 1, 1], [True, False, False, True])
    np.testing.assert_array_equal(got, [1, NA, NA, 5])


def test_valuewhen_remembers_an_na():
    got = ta.valuewhen([True, True, False], [1, NA, 3], 0)
    np.testing.assert_array_equal(got, [1, NA, NA])


def test_comparisons_with_na_are_false_and_arithmetic_with_it_is_na():
    for compare in (ta.gt, ta.ge, ta.lt, ta.le, ta.eq, ta.ne):
        assert compare([NA, 1, NA], [1, NA, NA]).tolist() == [False, False, False]
    for binary in (ta.add, ta.sub, ta.mul, ta.div, ta.mod, ta.max, ta.min):
        assert np.isnan(binary([NA, 1], [1, NA])).all()
    for unary in (ta.abs, ta.neg, ta.sign, ta.sqrt, ta.log, ta.exp, ta.round, ta.floor, ta.ceil):
        assert np.isnan(unary([NA])).all()


def test_tsi_has_no_step_to_or_from_an_na_bar():
    x = [1, 2, 4, np.nan, 5, 7, 6, 9]
    expected = [np.nan, np.nan, 1, np.nan, np.nan, 1, -1 / 23, 107 / 131]
    np.testing.assert_allclose(ta.tsi(x, 1, 2), expected, rtol=1e-12)
