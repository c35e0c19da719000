"""What was measured on TradingView, one vector a line, of the kernels and of the reference.

An expected value of `ANY` is one the measurement does not tell. TradingView's rounding is not part
of a law: where its own value is off by cancellation, the exact one is expected.
"""

import math

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact import ta
from chartpact.ta.kernels import KERNELS, NATIVE, Batched

NA, ANY, INF = math.nan, None, math.inf
ARM = [63.59, 60.75, 58, NA, 52.91, 52.16, 51.32, 54.44, 53.52]
THIRTEEN = [NA if i % 7 == 0 else float(i % 13) for i in range(8)]
DUST = [100 + (1e-12 if i in (1, 4, 7) else 0) for i in range(8)]
LATE = [NA, NA, NA, 3, 4, 5, 6, 7]
RAMP = [100.0, 101, 102, 103]
STEPS = [1.0, 2, 3, 4, NA, 5, 6]
GAPPED = [NA, 101, 102, NA, 100, 101, NA, 103, 100, NA]
FLAT_END = [5.0, 5, 5, 5, 5, 11, 12, 13, 7, 7, 7, 7]
ANCHORED = [True] + [False] * 7
PRICES = [10.5, 10, 8, 8.22, 8.88, 8.89, NA, 8.5]
VOLUMES = [2.35652174, 1.1, 1, 164.48, 79.76, 0.20022497, 21, 3]

# what it shows, kernel, arguments, result
VECTORS = [
    ("an infinity is skipped like na", "sum", ([1, 2, INF, 3], 2), [NA, 3, 3, 5]),
    ("sum holds", "sum", (STEPS, 3), [NA, NA, 6, 9, 9, 12, 15]),
    ("a sum of one holds", "sum", ([5, NA, 7], 1), [5, 5, 7]),
    (
        "sma is over what is present, and holds",
        "sma",
        ([NA, NA, 1, NA, NA, 1, NA, NA, 1, NA], 2),
        [NA] * 5 + [1] * 5,
    ),
    ("an exact sma", "sma", ([159.64235294117648, 79.76, 0, 0, 0], 2), [NA, ANY, 39.88, 0, 0]),
    ("an exact sum", "sum", ([0.1, 0.2, 0, 0], 2), [NA, 0.3, 0.2, 0]),
    ("ema skips", "ema", ([1, 2, 3, 4, NA, 5], 3), [NA, NA, 2, 3, NA, 4]),
    ("the seed of ema", "ema", ([0.1, 0.2, 0.3], 3), [NA, NA, 0.2]),
    ("rma", "rma", ([0.1, 0.2, 0.3, 0.3, 0.3], 3), [NA, NA, 0.2, 0.7 / 3, 2.3 / 9]),
    ("wma fills a gap", "wma", (STEPS, 3), [NA, NA, 14 / 6, 20 / 6, NA, 4.5, 32 / 6]),
    ("wma is not snapped to 0", "wma", ([1, -0.4999999999001], 2), [NA, 0.0001998e-6 / 3]),
    (
        "alma is over bars",
        "alma",
        ([1, 2, 4, NA, 5, 6, 9], 3, 0.85, 6.0),
        [NA, NA, 3.3738921388, NA, NA, NA, 8.0621106774],
    ),
    (
        "swma",
        "swma",
        ([10.9, 11.69, 11.7, 11.7, 11.7],),
        [NA, NA, NA, 11.563333333333333, 11.698333333333332],
    ),
    (
        "the two sums of vwma hold on their own na",
        "vwma",
        ([1, 2, NA, 4, 5], [1, 1, 2, 2, 4], 2),
        [NA, 1.5, 1, 2.5, 28 / 6],
    ),
    (
        "it is na until the next anchor",
        "vwap_bands",
        (PRICES, VOLUMES, ANCHORED, 1.0),
        ([ANY, ANY, ANY, ANY, 8.4602625865, 8.4606082887, NA, NA], [ANY] * 8, [ANY] * 8),
    ),
    (
        "it is na until the next anchor",
        "vwap_anchored",
        (PRICES, VOLUMES, ANCHORED),
        [ANY, ANY, ANY, ANY, 8.4602625865, 8.4606082887, NA, NA],
    ),
    ("it is na after an na", "vwap", ([1, 2, NA, 4], [1, 1, 1, 1]), [1, 1.5, NA, NA]),
    (
        "variance is exact where TradingView's is 2",
        "variance",
        ([1e8, 1e8 + 0.001] * 3, 4, True),
        [NA, NA, NA] + [np.var([1e8, 1e8 + 0.001])] * 3,
    ),
    (
        "variance holds",
        "variance",
        (STEPS, 3, True),
        [NA, NA, 2 / 3, 2 / 3, 2 / 3, ANY, ANY],
    ),
    (
        "stdev of a flat window is exactly 0",
        "stdev",
        ([43.77842238, 20.68003681, 0, 0], 2, True),
        [NA, ANY, ANY, 0],
    ),
    ("stdev", "stdev", (ARM, 5, True), [NA] * 5 + [4.4154881950, 3.6887580566, ANY, ANY]),
    ("stdev holds", "stdev", (STEPS, 3, True), [NA, NA, ANY, ANY, math.sqrt(2 / 3), ANY, ANY]),
    (
        "bb holds",
        "bb",
        ([1, 2, 4, NA, 5], 2, 2.0),
        ([NA, 1.5, 3, 3, 4.5], [NA, 2.5, 5, 5, 5.5], [NA, 0.5, 1, 1, 3.5]),
    ),
    ("dev is over bars", "dev", (STEPS, 3), [NA, NA, 2 / 3, 2 / 3, NA, NA, NA]),
    ("dev", "dev", ([10.9, 11.69, 11.7, 11.7, 11.7], 5), [NA] * 4 + [0.2552]),
    ("no correlation with a constant", "correlation", (RAMP, [3.0] * 4, 2), [NA, 0, 0, 0]),
    ("no correlation of one bar", "correlation", (RAMP, RAMP, 1), [0, 0, 0, 0]),
    (
        "a covariance within 1e-10 is 0",
        "correlation",
        ([5e-6 * (i % 4) for i in range(6)], [1e-5 * (i % 4) for i in range(6)], 4),
        [NA, NA, NA, 0, 0, 0],
    ),
    (
        "gaps in one series set the windows of correlation apart",
        "correlation",
        (GAPPED, [float(i) for i in range(10)], 4),
        [ANY] * 8 + [-36.51483716701107, -110.27480824437345],
    ),
    ("median holds", "median", (THIRTEEN, 5), [ANY] * 7 + [4]),
    ("median of two", "median", ([NA, 2, 4, NA, 1], 2), [NA, NA, 3, 3, 2.5]),
    ("mode holds", "mode", (THIRTEEN, 5), [ANY] * 7 + [2]),
    (
        "range is over what is present",
        "window_range",
        (ARM, 4),
        [NA, NA, NA, NA, 10.68, 8.59, 6.68, 3.12, 3.12],
    ),
    ("range holds", "window_range", ([1, 3, NA, 4], 2), [NA, 2, 2, 1]),
    (
        "an na ends the window of highest",
        "highest",
        (ARM, 4),
        [NA, NA, NA, NA, 52.91, 52.91, 52.91, 54.44, 54.44],
    ),
    (
        "an na ends the window of lowest",
        "lowest",
        (ARM, 4),
        [NA, NA, NA, NA, 52.91, 52.16, 51.32, 51.32, 51.32],
    ),
    (
        "highestbars is 0 on an na bar",
        "highestbars",
        (ARM, 4),
        [NA, NA, NA, 0, 0, -1, -2, 0, -1],
    ),
    ("lowestbars is 0 on an na bar", "lowestbars", (ARM, 4), [NA, NA, NA, 0, 0, 0, 0, -1, -2]),
    ("the oldest of equals", "highestbars", ([1, 3, 3, 2], 3), [NA, NA, -1, -2]),
    ("linreg is over bars", "linreg", ([1, 2, NA, 4, 5, 6], 2, 0), [NA, 2, NA, NA, 5, 6]),
    ("percentrank is blind to dust", "percentrank", (DUST, 5), [NA] * 5 + [100, 100, 100]),
    (
        "an na counts as above in percentrank",
        "percentrank",
        ([NA, NA, NA, 1, 2, 3, 4, 5], 4),
        [NA] * 4 + [25, 50, 75, 100],
    ),
    *(
        (f"{p}% of a ramp", "percentile_linear_interpolation", (RAMP, 4, p), [ANY] * 3 + [value])
        for p, value in [
            *((0.0, 100), (12.5, 100), (25.0, 100.5)),
            *((37.5, 101), (50.0, 101.5), (100.0, 103)),
        ]
    ),
    *(
        (f"{p}% of a ramp", "percentile_nearest_rank", (RAMP, 4, p), [ANY] * 3 + [value])
        for p, value in [
            *((0.0, 100), (25.0, 100), (26.0, 101)),
            *((50.0, 101), (51.0, 102), (100.0, 103)),
        ]
    ),
    (
        "no percentile before bar n - 1",
        "percentile_nearest_rank",
        (RAMP, 3, 100.0),
        [NA, NA, 102, 103],
    ),
    (
        "a percentile fills from the top",
        "percentile_linear_interpolation",
        (LATE, 5, 75.0),
        [ANY] * 4 + [3.25, 4.25, 5.25, 6.25],
    ),
    (
        "the lowest percentile comes last",
        "percentile_linear_interpolation",
        (LATE, 5, 0.0),
        [NA] * 7 + [3],
    ),
    (
        "the nearest rank fills from the top",
        "percentile_nearest_rank",
        (LATE, 5, 80.0),
        [ANY] * 4 + [3, 4, 5, 6],
    ),
    (
        "an na that comes goes to the last slot",
        "percentile_linear_interpolation",
        (THIRTEEN, 5, 50.0),
        [ANY] * 7 + [5],
    ),
    (
        "an na neighbour makes a percentile na",
        "percentile_linear_interpolation",
        ([1, 2, 3, NA], 4, 62.5),
        [ANY] * 3 + [NA],
    ),
    ("cum skips", "cum", ([1, NA, 3],), [1, NA, 4]),
    ("the all-time high holds", "cummax", ([NA, 3, NA, 1, 5],), [NA, 3, 3, 3, 5]),
    ("the all-time low holds", "cummin", ([NA, 3, NA, 1, 5],), [NA, 3, 3, 1, 1]),
    (
        "rsi saturates",
        "rsi",
        ([1, 2] + [1.9] * 32, 2),
        [NA, NA] + [100 / 1.1] * 29 + [100] * 3,
    ),
    ("rsi of a constant", "rsi", ([3.0] * 4, 2), [NA, NA, 100, 100]),
    ("rsi without rises", "rsi", ([4.0, 3, 2], 2), [NA, NA, 0]),
    (
        "stoch holds in a range of zero",
        "stoch",
        (FLAT_END, FLAT_END, FLAT_END, 3),
        [NA] * 5 + [100, 100, 100, 0, 0, 0, 0],
    ),
    (
        "stoch holds on an na source",
        "stoch",
        ([2, 3, 4, NA, 2], [5] * 5, [1] * 5, 2),
        [NA, 50, 75, 75, 25],
    ),
    ("cci holds on a flat window", "cci", ([1, 2, 3, 3, 3, 4], 2), [NA] + [200 / 3] * 5),
    ("cci begins at 0", "cci", ([3.3, 3.3, 3.5], 2), [NA, 0, 200 / 3]),
    ("cci is over bars", "cci", ([1, 2, 4, NA, 5, 7], 2), [NA, ANY, ANY, NA, NA, 200 / 3]),
    ("cmo of dust", "cmo", ([100, 100 + 1e-12] * 4, 4), [NA] * 8),
    (
        "cog",
        "cog",
        ([10.9, 11.69, 11.7, 11.7], 3),
        [NA, NA, -1.9766695829687957, -1.9997150185237957],
    ),
    ("cog is over bars", "cog", ([1, NA, 2, 3], 2), [NA, NA, NA, -1.4]),
    (
        "mfi holds, and a flow after a gap goes both ways",
        "mfi",
        ([1, 2, NA, 3, 2, 4], [1] * 6, 2),
        [NA, 75, 75, 62.5, 37.5, 200 / 3],
    ),
    (
        "macd",
        "macd",
        ([1, 2, 4, 8], 1, 2, 2),
        ([NA, 0.5, 5 / 6, 29 / 18], [NA, NA, 2 / 3, 35 / 27], [ANY] * 4),
    ),
    (
        "wpr has the windows of highest and lowest",
        "wpr",
        ([5, 9, NA, 6, 7, 8], [4, 7, 3, 5, 6, 7], [5, 8, 5, 6, 7, 7], 3),
        [NA, NA, NA, 0, 0, -100 / 3],
    ),
    ("tr", "tr", ([10, 12, 15], [9, 11, 14], [9, 10, 14], False), [NA, 3, 5]),
    ("tr with the first bar", "tr", ([10, 12, 15], [9, 11, 14], [9, 10, 14], True), [1, 3, 5]),
    ("atr", "atr", ([10, 12, 15], [9, 11, 14], [9, 10, 14], 2), [NA, 2, 3.5]),
    (
        "dmi",
        "dmi",
        ([10, 12, 11, 13], [9, 10, 9, 11], [9.5, 11, 10, 12], 2, 2),
        ([NA, NA, 400 / 9, 400 / 7], [ANY] * 4, [NA, NA, NA, 1100 / 21]),
    ),
    (
        "supertrend",
        "supertrend",
        ([10, 11, 12, 13], [9, 10, 11, 12], [9.5, 10.5, 11.5, 12.5], 1.0, 2),
        ([0, 11.75, 11.75, 11.0625], [1, 1, 1, -1]),
    ),
    (
        "sar does not reverse at a touch",
        "sar",
        ([10, 12, 13], [8, 9, 10], [9, 11, 12], 0.5, 0.5, 0.5),
        [NA, 8, 8],
    ),
    (
        "crossover is exact",
        "crossover",
        ([100, 100 + 1e-12, 100, 100, 100 + 1e-12], [100] * 5),
        [0, 1, 0, 0, 1],
    ),
    ("crossover passes over na", "crossover", ([0, 0, NA, 2], [1] * 4), [0, 0, 0, 1]),
    (
        "cross is exact",
        "cross",
        ([1, 1, 1, 1, 2, 1, 1 - 5e-11, 2, 0.5], [1] * 9),
        [0, 0, 0, 0, 0, 0, 1, 1, 1],
    ),
    ("rising counts on over na", "rising", ([1, 2, 3, NA, 4, 5], 2), [0, 0, 1, 1, 1, 1]),
    ("falling counts on over na", "falling", ([3, 2, 1, NA, 2, 5], 2), [0, 0, 1, 1, 1, 0]),
    ("dust does not rise", "rising", ([1, 1 + 1e-12], 1), [0, 0]),
    ("barssince", "barssince", ([False, True, False, True],), [NA, 0, 1, 0]),
    (
        "valuewhen counts na",
        "valuewhen",
        ([True, False, True, False, True], [1, 2, NA, 4, 5], 1),
        [NA, NA, 1, 1, NA],
    ),
    ("a pivot", "pivot_high", ([1, 2, 2, 1, 0], 1, 1), [NA, NA, NA, 2, NA]),
    ("a pivot confirmed at once", "pivot_high", ([1, 3, 2, 5], 1, 0), [NA, 3, NA, 5]),
    ("a pivot with nothing before", "pivot_low", ([3, 1, 2, 0], 0, 1), [NA, NA, 1, NA]),
    ("an na ends the left of a pivot", "pivot_high", ([3, NA, 2, 1], 2, 1), [NA, NA, NA, 2]),
    ("an na on the right is no pivot", "pivot_high", ([1, 3, NA, 2], 1, 1), [NA] * 4),
    ("obv", "obv", ([1, 2, 3, 2], [100, NA, 300, 400]), [NA, NA, 300, -100]),
    ("accdist holds", "accdist", ([2, 3, 3], [1, 3, 1], [2, 3, 3], [5, 7, NA]), [5, 5, 5]),
    (
        "pvt",
        "pvt",
        ([63.59, 60.75, 58], [130534505, 74753091, 34571903]),
        [NA, -3338556.0377, -4903539.3011],
    ),
    ("nvi holds without volume", "nvi", ([1, 2, 3, 2], [NA] * 4), [1, 1, 1, 1]),
    ("pvi holds without volume", "pvi", ([1, 2, 3, 2], [NA] * 4), [1, 1, 1, 1]),
    ("nvi", "nvi", ([1, 2, 3], [5, 4, 6]), [1, 2, 2]),
    ("pvi", "pvi", ([1, 2, 3], [5, 4, 6]), [1, 1, 1.5]),
    ("wad", "wad", ([10, 12, 12], [8, 9, 9], [9, 11, 11]), [0, 2, 2]),
    ("wad holds", "wad", ([10, NA, 12], [8, 9, 9], [9, NA, 11]), [0, 0, 0]),
]

# what it shows, function of kernels, arguments, result
COMPOSED = [
    ("bbw holds", ta.bbw, ([1, 2, 4, NA, 5], 2, 2), [NA, 400 / 3, 400 / 3, 400 / 3, 400 / 9]),
    ("range", ta.range, (ARM, 4), [NA, NA, NA, NA, 10.68, 8.59, 6.68, 3.12, 3.12]),
    (
        "a step from or to na is none in tsi",
        ta.tsi,
        ([1, 2, 4, NA, 5, 7, 6, 9], 1, 2),
        [NA, NA, 1, NA, NA, 1, -1 / 23, 107 / 131],
    ),
    (
        "hma",
        ta.hma,
        ([100 + (i % 7) / 3 for i in range(12)], 4),
        [ANY] * 10 + [100.92222222222223, 101.33333333333333],
    ),
    (
        "kcw",
        ta.kcw,
        ([5, 5, 9], [5, 6, 9], [4, 5, 8], [5, 5, 9], 2, 1),
        [NA, NA, 15 / 23],
    ),
    ("change", ta.change, ([1, NA, 2, 3],), [NA, NA, NA, 1]),
    ("roc from 0", ta.roc, ([1, 2, 4, 0, 1], 1), [NA, 100, 100, -100, NA]),
    (
        "wvad",
        ta.wvad,
        ([56.1], [66.28], [55.54], [63.59], [130534505]),
        [91033840.0791],
    ),
    ("an infinity is na", ta.isna, ([NA, 1, INF, -INF],), [1, 0, 1, 1]),
    ("nz replaces an infinity", ta.nz, ([NA, 1, INF, -INF],), [0, 1, 0, 0]),
    ("fixnan lets an infinity pass", ta.fixnan, ([NA, 1, NA, INF, NA],), [NA, 1, 1, INF, INF]),
    ("sar takes any numbers", ta.sar, ([5, 6], [4, 5], [5, 5], -0.1, 0.5, 0.2), [NA, 4]),
]


def arrays(kernel, arguments):
    types = KERNELS[kernel][1]
    return [
        np.array(value, "?" if letter == "?" else float) if isinstance(value, list) else value
        for value, letter in zip(arguments, types, strict=False)
    ]


def assert_vector(got, expected):
    columns = got if isinstance(got, tuple) else (got,)
    for values, wanted in zip(
        columns, expected if isinstance(expected, tuple) else (expected,), strict=True
    ):
        known = [k for k, value in enumerate(wanted) if value is not ANY]
        np.testing.assert_allclose(
            np.asarray(values, float)[known],
            np.array([wanted[k] for k in known], float),
            rtol=1e-9,
            atol=1e-15,
        )


@pytest.mark.parametrize("backend", ["kernel", "reference"])
@in_one_test(
    ("kernel", "arguments", "expected"),
    [vector[1:] for vector in VECTORS],
    ids=[f"{vector[1]}: {vector[0]}" for vector in VECTORS],
)
def test_a_function_gives_what_was_measured(backend, kernel, arguments, expected):
    if backend == "kernel" and kernel not in NATIVE:
        pytest.skip("no C kernels here")
    compute = NATIVE[kernel] if backend == "kernel" else Batched(kernel)
    assert_vector(compute(*arrays(kernel, arguments)), expected)


@in_one_test(
    ("function", "arguments", "expected"),
    [vector[1:] for vector in COMPOSED],
    ids=[vector[0] for vector in COMPOSED],
)
def test_a_function_of_kernels_gives_what_was_measured(function, arguments, expected):
    assert_vector(function(*arguments), expected)
