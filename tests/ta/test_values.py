"""Values worked out by hand, for what no export covers."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact import ta

NA = np.nan
BARS = SimpleNamespace(
    open=np.array([4.0, 5, 6, 8, 9]),
    high=np.array([5.0, 7, 9, 9, 10]),
    low=np.array([3.0, 4, 6, 7, 6]),
    close=np.array([4.0, 6, 8, 8, 7]),
    volume=np.array([10.0, 20, 15, 30, 25]),
    time=np.arange(5) * 3_600_000,
)


def assert_values(got, *wanted):
    np.testing.assert_allclose(got, wanted, rtol=1e-14, atol=1e-14)


def test_stdev_is_biased_unless_told_otherwise():
    x = [2.0, 4, 4, 4, 5, 5, 7, 9]
    assert ta.stdev(x, 8)[-1] == 2
    assert ta.variance(x, 8)[-1] == 4
    assert ta.variance(x, 8, False)[-1] == pytest.approx(32 / 7, rel=1e-15)
    assert ta.stdev(x, 8, False)[-1] == pytest.approx(math.sqrt(32 / 7), rel=1e-15)
    assert np.isnan(ta.stdev(x, 1, False)).all()
    assert (ta.stdev(x, 1) == 0).all()


def test_a_constant_has_no_deviation_at_all():
    x = np.full(30, 0.1)
    assert (ta.stdev(x, 7)[6:] == 0).all()
    assert (ta.dev(x, 7)[6:] == 0).all()
    middle, upper, lower = ta.bb(x, 7, 2)
    assert (upper[6:] == lower[6:]).all()
    assert (middle[6:] == 0.1).all()


def test_dividing_by_zero_is_na():
    flat = np.full(9, 3.0)
    zero = np.zeros(9)
    for series in (
        ta.cmo(flat, 3),
        ta.cog(zero, 3),
        ta.tsi(flat, 2, 2),
        ta.roc(zero, 1),
        ta.bbw(zero, 3, 2),
        ta.kcw(zero, zero, zero, zero, 3, 2),
        ta.stoch(flat, flat, flat, 3),
        ta.wpr(flat, flat, flat, 3),
        ta.vwma(flat, zero, 3),
        ta.vwap(flat, zero),
        ta.iii(flat, flat, flat, flat),
        ta.iii(flat + 1, flat, flat, zero),
        ta.wvad(flat, flat, flat, flat, flat),
        ta.pvt(zero, flat),
        ta.dmi(flat, flat, flat, 2, 2)[0],
        ta.div(flat, zero),
        ta.div_scalar(flat, 0),
        ta.mod(flat, 0),
    ):
        assert np.isnan(series).all()


def test_rsi_without_falls_is_100_and_mfi_without_outflow_too():
    assert_values(ta.rsi([1, 1, 1, 1], 2), NA, NA, 100, 100)
    assert_values(ta.rsi([1, 2, 3, 4], 2), NA, NA, 100, 100)
    assert_values(ta.rsi([4, 3, 2, 1], 2), NA, NA, 0, 0)
    assert_values(ta.mfi([1, 1, 1, 1], [1, 1, 1, 1], 2), NA, 50, 100, 100)


def test_dev_and_cci():
    # of 1, 2, 6 the mean is 3, the mean distance from it (2 + 1 + 3) / 3 = 2
    assert_values(ta.dev([1, 2, 6, 4], 3), NA, NA, 2, 4 / 3)
    assert_values(ta.cci([1, 2, 6, 4], 3), NA, NA, 3 / 0.03, 0)


def test_cmo():
    assert_values(ta.cmo([1, 4, 3, 3], 2), NA, NA, 100 * (3 - 1) / 4, -100)


def test_cog_weighs_by_age():
    assert_values(ta.cog([1, 2, 3], 3), NA, NA, -(1 * 3 + 2 * 2 + 3 * 1) / 6)


def test_kc_and_kcw():
    # tr: na, 3, 3, 2, 4 → ema(2): na, na, 3, 7/3, 31/9; close → ema(2): na, 5, 7, 23/3, 65/9
    middle, upper, lower = ta.kc(BARS.close, BARS, 2, 1.5)
    assert_values(middle, NA, 5, 7, 23 / 3, 65 / 9)
    assert_values(upper, NA, NA, 7 + 4.5, 23 / 3 + 3.5, 65 / 9 + 1.5 * 31 / 9)
    assert_values(lower, NA, NA, 7 - 4.5, 23 / 3 - 3.5, 65 / 9 - 1.5 * 31 / 9)
    assert_values(ta.kcw(BARS.close, BARS, 2, 1.5), NA, NA, 9 / 7, 7 / (23 / 3), 3 * 31 / 65)
    # high − low: 2, 3, 3, 2, 4 → ema(2): na, 2.5, ...
    assert ta.kc(BARS.close, BARS, 2, 1.5, use_tr=False)[1][1] == 5 + 1.5 * 2.5


def test_dmi():
    # up: 2 2 0 1, down: −1 −2 −1 1; +DM 2 2 0 0 (the last two moves are equal), −DM 0 0 0 0
    # tr from bar 1: 3 3 2 4; rma(2) of +DM: 2 1 0.5, of tr: 3 2.5 3.25
    plus, minus, adx = ta.dmi(BARS, 2, 2)
    assert_values(plus, NA, NA, 200 / 3, 40, 50 / 3.25)
    assert_values(minus, NA, NA, 0, 0, 0)
    assert_values(adx, NA, NA, NA, 100, 100)


def test_dmi_counts_no_movement_as_a_distance_of_zero():
    flat, reach = np.full(4, 5.0), np.full(4, 6.0)
    plus, _minus, adx = ta.dmi(reach, flat, flat, 1, 1)
    assert_values(plus, NA, 0, 0, 0)
    assert_values(adx, NA, 0, 0, 0)


def test_supertrend():
    # tr: 2 3 3 2 4 → atr(2): na 2.5 2.75 2.375 3.1875; hl2: 4 5.5 7.5 8 8
    line, direction = ta.supertrend(BARS, 1, 2)
    # bar 1 starts down on 8; bar 2: 10.25 is no tighter, 8 does not break 8; bar 3: the same;
    # bar 4: 7 is below
    assert_values(line, 0, 8, 8, 8, 8)
    assert_values(direction, 1, 1, 1, 1, 1)
    line, direction = ta.supertrend(BARS, 0.5, 2)
    # bar 1: 5.5 + 1.25; bar 2: 8 breaks 6.75, so the lower band 7.5 − 1.375; bar 3: 8 − 1.1875;
    # bar 4: 8 − 1.59375 is below the band, which stays
    assert_values(line, 0, 6.75, 6.125, 6.8125, 6.8125)
    assert_values(direction, 1, 1, -1, -1, -1)


def test_sar_reverses_at_its_extreme():
    high, low = [5.0, 6, 8, 7, 4], [4.0, 5, 6, 3, 2]
    # bar 1: long from 4, extreme 6; bar 2: 4 + 0.1·2 = 4.2, held at the low of 4, extreme 8, 0.2;
    # bar 3: 4 + 0.2·4 = 4.8, held at 4.8, but its low of 3 is below: short from 8, extreme 3
    # bar 4: 8 + 0.1·(3 − 8) = 7.5, held at the highs 8 and 7
    assert_values(ta.sar(high, low, low, 0.1, 0.1, 0.5), NA, 4, 4, 8, 8)


def test_percentrank_looks_at_the_values_before():
    assert_values(ta.percentrank([3, 1, 2, 2, 0], 3), NA, NA, NA, 100 * 2 / 3, 0)


def test_percentiles():
    x = [15, 20, 35, 40, 50]
    linear, nearest = ta.percentile_linear_interpolation, ta.percentile_nearest_rank
    # Hazen: rank 5·40/100 + 0.5 = 2.5, between 20 and 35
    assert linear(x, 5, 40)[-1] == 27.5
    assert [nearest(x, 5, p)[-1] for p in (0, 5, 30, 40, 50, 100)] == [15, 15, 20, 20, 35, 50]
    assert [linear(x, 5, p)[-1] for p in (0, 5, 10, 50, 90, 95, 100)] == [
        15,
        15,
        15,
        35,
        50,
        50,
        50,
    ]


def test_median_of_an_even_number_is_the_mean_of_the_middle_two():
    assert_values(ta.median([1, 9, 2, 3], 4), NA, NA, NA, 2.5)


def test_linreg_reads_its_line_before_and_beyond_its_end():
    x = [1.0, 3, 5, 7]
    assert [ta.linreg(x, 4, offset)[-1] for offset in (0, 1, 3, -1)] == [7, 5, 1, 9]
    assert_values(ta.linreg(x, 1, 0), *x)


def test_change_mom_and_roc():
    assert_values(ta.change([1, 3, 6]), NA, 2, 3)
    assert_values(ta.change([1, 3, 6], 2), NA, NA, 5)
    assert_values(ta.mom([1, 3, 6], 2), NA, NA, 5)
    assert_values(ta.roc([4, 5, 2], 1), NA, 25, -60)


def test_lengths_beyond_the_series_give_na_only():
    x = np.arange(1.0, 6)
    for name in "sma ema rma wma hma rsi cci cmo cog stdev highest median linreg mom roc".split():
        assert np.isnan(ta.FUNCTIONS[name](x, 6)).all(), name


def test_pivots_take_the_rightmost_of_equal_highs():
    assert_values(ta.pivot_high([1, 3, 3, 1, 0], 2, 1), NA, NA, NA, 3, NA)
    assert_values(ta.pivot_low([3, 1, 1, 3, 4], 2, 1), NA, NA, NA, 1, NA)


def test_crossover_needs_a_bar_at_or_below_and_cross_another_side():
    a, b = [1, 2, 3, 2, 3], [2, 2, 2, 2, 2]
    assert ta.crossover(a, b).tolist() == [False, False, True, False, True]
    assert ta.cross(a, b).tolist() == [False, False, True, False, False]
    assert ta.crossover([3, 3], [2, 2]).tolist() == [False, False]
    assert ta.crossunder(b, a).tolist() == [False, False, True, False, True]


def test_crossing_a_level_and_crossing_as_a_level():
    x = [1, 3, 1]
    assert ta.crossover(x, 2).tolist() == [False, True, False]
    assert ta.crossunder(x, 2.0).tolist() == [False, False, True]
    assert ta.crossover(2, x).tolist() == [False, False, True]
    assert ta.cross(np.array([x, [5, 5, 1]]), 2).tolist() == [[0, 1, 1], [0, 0, 1]]


def test_rising_ignores_steps_of_dust():
    assert ta.rising([1, 1 + 1e-11, 1 + 1e-9], 1).tolist() == [False, False, True]


def test_barssince_counts_from_the_last_time():
    assert_values(ta.barssince([0, 1, 0, 0, 1]), NA, 0, 1, 2, 0)


def test_shift_looks_back_only():
    assert_values(ta.shift([1, 2, 3], 2), NA, NA, 1)
    assert_values(ta.shift([1, 2, 3], 0), 1, 2, 3)
    assert_values(ta.shift([1, 2, 3], 9), NA, NA, NA)
    with pytest.raises(ta.TaError, match="shift: n must be a whole number of at least 0, not -1"):
        ta.shift([1, 2, 3], -1)


def test_accdist_does_not_move_on_a_bar_without_range():
    assert_values(ta.accdist([5, 4], [3, 4], [5, 4], [10, 99]), 10, 10)


def test_obv_stands_still_on_an_unchanged_close():
    assert_values(ta.obv(BARS), NA, 20, 35, 35, 10)


def test_vwap_runs_from_the_first_bar_without_an_anchor():
    middle, upper, lower = ta.vwap([1.0, 3], [1.0, 3], mult=2)
    assert_values(middle, 1, 2.5)
    assert_values(upper, 1, 2.5 + 2 * math.sqrt(0.75))
    assert_values(lower, 1, 2.5 - 2 * math.sqrt(0.75))
    assert_values(ta.vwap([1.0, 3], [1.0, 3]), 1, 2.5)


def test_alma_can_round_its_centre_down():
    assert_values(ta.alma([1, 2, 3, 4], 4, 0.85, 6, True), *ta.alma([1, 2, 3, 4], 4, 2 / 3, 6))


def test_prices_made_of_several():
    assert_values(ta.hl2(BARS), 4, 5.5, 7.5, 8, 8)
    assert_values(ta.hlc3(BARS), 4, 17 / 3, 23 / 3, 8, 23 / 3)
    assert_values(ta.ohlc4(BARS), 4, 5.5, 7.25, 8, 8)
    assert_values(ta.hlcc4(BARS), 4, 5.75, 7.75, 8, 7.5)


BARS_STAND_FOR = {
    "tr": "high low close",
    "atr": "high low close",
    "dmi": "high low close",
    "supertrend": "high low close",
    "sar": "high low close",
    "wpr": "high low close",
    "wad": "high low close",
    "hl2": "high low",
    "hlc3": "high low close",
    "hlcc4": "high low close",
    "ohlc4": "open high low close",
    "obv": "close volume",
    "pvt": "close volume",
    "pvi": "close volume",
    "nvi": "close volume",
    "accdist": "high low close volume",
    "iii": "high low close volume",
    "wvad": "open high low close volume",
    "kc": "source high low close",
    "kcw": "source high low close",
    "stoch": "source high low",
    "mfi": "source volume",
    "vwma": "source volume",
    "vwap": "source volume",
    "highest": "high",
    "lowest": "low",
    "highestbars": "high",
    "lowestbars": "low",
    "pivot_high": "high",
    "pivot_low": "low",
    "hour": "time",
}
NUMBERS = {
    "dmi": (2, 2),
    "supertrend": (1, 2),
    "sar": (0.02, 0.02, 0.2),
    "kc": (2, 1),
    "kcw": (2, 1),
}
NUMBERS |= {"pivot_high": (1, 1), "pivot_low": (1, 1)}
NUMBERS |= dict.fromkeys(
    "atr wpr stoch mfi vwma highest lowest highestbars lowestbars".split(), (2,)
)


@in_one_test("name", BARS_STAND_FOR)
def test_bars_may_stand_for_the_price_arguments(name):
    names = BARS_STAND_FOR[name].split()
    numbers = NUMBERS.get(name, ())
    columns = [BARS.close if n == "source" else getattr(BARS, n) for n in names]
    function = ta.FUNCTIONS[name]
    short = function(*columns[: names[0] == "source"], BARS, *numbers)
    np.testing.assert_array_equal(short, function(*columns, *numbers))


def test_real_bars_and_a_data_frame_are_bars_too():
    import pandas as pd

    import chartpact as cp

    bars = cp.load("sample:es-5m")
    frame = pd.DataFrame({"high": BARS.high, "low": BARS.low, "close": BARS.close})
    np.testing.assert_array_equal(ta.atr(bars, 14), ta.atr(bars.high, bars.low, bars.close, 14))
    np.testing.assert_array_equal(ta.atr(frame, 2), ta.atr(BARS, 2))
    np.testing.assert_array_equal(ta.atr(bars, n=14), ta.atr(bars, 14))


def test_arithmetic():
    a, b = [6.0, 9], [3.0, -2]
    assert_values(ta.add(a, b), 9, 7)
    assert_values(ta.sub(a, b), 3, 11)
    assert_values(ta.mul(a, b), 18, -18)
    assert_values(ta.div(a, b), 2, -4.5)
    assert_values(ta.mod(a, b), 0, -1)
    assert_values(ta.pow(a, b), 216, 1 / 81)
    assert_values(ta.add(1, b), 4, -1)
    assert_values(ta.div(6, b), 2, -3)
    assert_values(ta.add_scalar(a, 1), 7, 10)
    assert_values(ta.sub_scalar(a, 1), 5, 8)
    assert_values(ta.mul_scalar(a, 2), 12, 18)
    assert_values(ta.div_scalar(a, 2), 3, 4.5)
    assert_values(ta.mod_scalar(a, 4), 2, 1)
    assert_values(ta.pow_scalar(a, 2), 36, 81)
    assert_values(ta.max_scalar(a, 7), 7, 9)
    assert_values(ta.min_scalar(a, 7), 6, 7)
    assert_values(ta.max(a, b, [7, 7]), 7, 9)
    assert_values(ta.min(a, 7), 6, 7)
    assert ta.add(1, 2) == 3.0


def test_nothing_becomes_infinite_that_was_not():
    huge = np.array([1e300])
    for series in (
        ta.mul(huge, huge),
        ta.add(huge * 1e8, huge * 1e8),
        ta.exp([1000.0]),
        ta.pow(huge, 2),
        ta.div(huge, [1e-300]),
        ta.log([0.0]),
        ta.log10([0.0]),
        ta.div([1.0], [0.0]),
    ):
        assert np.isnan(series).all()
    assert ta.add([np.inf], [1.0]) == np.inf


def test_functions_of_numbers_give_numbers():
    assert ta.abs(-2) == 2 and isinstance(ta.abs(-2), int)
    assert ta.abs(-2.5) == 2.5
    assert ta.sign(-2.5) == -1
    assert ta.sqrt(9) == 3.0
    assert math.isnan(ta.sqrt(-1.0))
    assert ta.log(1) == 0
    assert math.isnan(ta.log(0))
    assert ta.exp(0) == 1
    assert (ta.floor(-1.5), ta.ceil(-1.5)) == (-2, -1)
    assert isinstance(ta.floor(1.5), int)
    assert math.isnan(ta.floor(NA))
    assert ta.isna(NA) is True
    assert ta.isna(None) is True
    assert ta.isna(1) is False
    assert ta.nz(NA) == 0
    assert ta.nz(NA, 5) == 5
    assert ta.nz(3.0, 5) == 3


def test_round_takes_halves_away_from_zero():
    assert_values(ta.round([0.5, 1.5, 2.5, -0.5, -1.5]), 1, 2, 3, -1, -2)
    assert ta.round(0.49999999999999994) == 0
    assert ta.round(2.5) == 3 and isinstance(ta.round(2.5), int)
    assert_values(ta.round([1.2345, 1.2355], 3), 1.235, 1.236)
    assert ta.round(1234.5, 0) == 1235
    assert ta.round(1e300, 5) == 1e300


def test_choosing_and_filling():
    assert_values(ta.nz([1, NA], [7, 8]), 1, 8)
    assert_values(ta.where([True, False], [1, 2], [3, 4]), 1, 4)
    assert_values(ta.where([1, 0], 5, NA), 5, NA)
    assert_values(ta.fixnan([NA, 1, NA, NA, 2]), NA, 1, 1, 1, 2)
    assert ta.isna([1, NA, None]).tolist() == [False, True, True]


def test_logic():
    a, b = [True, True, False], [True, False, False]
    assert ta.logical_and(a, b).tolist() == [True, False, False]
    assert ta.logical_or(a, b).tolist() == [True, True, False]
    assert ta.logical_not(a).tolist() == [False, False, True]
    assert ta.logical_and([1.0, NA, 2], [1, 1, 0]).tolist() == [True, False, False]


def test_a_sum_of_conditions_counts_them():
    assert_values(ta.sum(ta.gt_scalar([1, 5, 6], 4), 2), NA, 1, 2)


def test_the_chain_of_the_example_script():
    hlc3 = ta.hlc3(BARS)
    esa = ta.ema(hlc3, 2)
    de = ta.ema(ta.abs(ta.sub(hlc3, esa)), 2)
    ci = ta.div(ta.sub(hlc3, esa), ta.mul_scalar(de, 0.015))
    assert np.isnan(ci).tolist() == [True, True, False, False, False]
