import numpy as np
from tests.indicators.market import bars, noise, values

import chartpact as cp

NA = np.nan


def test_obv_adds_volume_with_the_sign_of_the_step():
    found = values(cp.indicator("obv")(bars([1, 2, 2, 1], volumes=[5, 7, 9, 4])), "OBV")
    np.testing.assert_array_equal(found, [NA, 7, 7, 3])


def test_mfi_weighs_inflow_against_outflow():
    # flows 10 (both ways on the first bar), 11·2 in, 10·1 out, 12·3 in
    found = values(
        cp.indicator("mfi", period=2)(bars([10, 11, 10, 12], volumes=[1, 2, 1, 3])), "MFI"
    )
    np.testing.assert_allclose(
        found, [NA, 100 - 100 / (1 + 32 / 10), 100 - 100 / (1 + 22 / 10), 100 - 100 / (1 + 36 / 10)]
    )


def test_cmf_is_the_share_of_volume_that_closed_high():
    market = bars([4, 1, 3], highs=[4, 5, 3], lows=[0, 1, 3], volumes=[10, 30, 40])
    # places +1, −1 and (a flat bar) 0
    found = values(cp.indicator("cmf", period=2)(market), "CMF")
    np.testing.assert_allclose(found, [NA, -20 / 40, -30 / 70])


def test_cmf_of_no_volume_is_unknown():
    scene = cp.indicator("cmf", period=2)(bars([1, 2, 3], volumes=[0, 0, 5]))
    np.testing.assert_array_equal(np.isnan(values(scene, "CMF")), [True, True, False])


def test_accumulation_sums_the_place_of_the_close():
    market = bars([4, 1, 3], highs=[4, 5, 3], lows=[0, 1, 3], volumes=[10, 30, 40])
    np.testing.assert_array_equal(values(cp.indicator("ad_line")(market), "A/D"), [10, -20, -20])


def test_cvd_is_bought_less_sold():
    market = bars([3, 1, 3], highs=[4, 5, 3], lows=[0, 1, 3], volumes=[8, 30, 40])
    # 8 · 3/4 bought, 8 · 1/4 sold
    np.testing.assert_array_equal(values(cp.indicator("cvd")(market), "CVD"), [4, -26, -26])


def test_cvd_is_the_accumulation_line_by_another_road():
    market = noise(500)
    np.testing.assert_allclose(
        values(cp.indicator("cvd")(market), "CVD"),
        values(cp.indicator("ad")(market), "A/D"),
        atol=1e-6,
    )


def test_a_bar_without_volume_is_skipped_and_the_sum_goes_on():
    market = bars([4, 4, 4], highs=[4, 4, 4], lows=[0, 0, 0], volumes=[10, NA, 5])
    np.testing.assert_array_equal(values(cp.indicator("ad")(market), "A/D"), [10, 10, 15])
    np.testing.assert_array_equal(values(cp.indicator("cvd")(market), "CVD"), [10, NA, 15])
