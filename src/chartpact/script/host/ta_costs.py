"""What calls of `ta` cost a script: tables, which `bench/steps.py` measures.

A call is charged CALL, its rate for every bar and result, a step wherever na begins or ends, and a
step for every WINDOW bars × window. Where lengths are a series, each bar is charged SLICE and its
own length. A function that is not listed is taken to be slow.
"""

from collections.abc import Mapping

CALL = 150
LONG_CALLS: Mapping[str, int] = {
    "alma": 190, "bbw": 190,
    "bb": 450, "dayofmonth": 490, "dayofweek": 490, "dmi": 480, "hour": 460, "minute": 460,
    "month": 420, "round": 470, "second": 480, "year": 480, "kc": 620, "kcw": 500,
    "macd": 420, "pow": 450, "session": 520,
    "pivot_point_levels": 2_000, "profile": 7_000, "profile_levels": 7_000, "value_area": 1_200,
    **dict.fromkeys(("session_isfirstbar", "session_isfirstbar_regular"), 700),
    **dict.fromkeys(("session_islastbar", "session_islastbar_regular"), 700),
    **dict.fromkeys(("session_ismarket", "session_ispostmarket", "session_ispremarket"), 600),
    "time_close": 3_200, "time_tradingday": 2_600, "timeframe_change": 1_700, "tsi": 450,
    "vwap": 520, "weekofyear": 600,
}  # fmt: skip
TEXTS = 250  # a call that chooses between texts
OPERAND = 75  # each operand after the first, of a function that takes any number
SCALAR = 190  # a call without a series and without a quick form in ta_scalars
SCALARS: Mapping[str, int] = {
    "avg": 210, "max": 220, "min": 220, "mod": 450, "nz": 230, "pow": 240, "round": 200,
    **dict.fromkeys(("dayofweek", "hour", "minute", "second"), 420),
    **dict.fromkeys(("dayofmonth", "month", "weekofyear", "year"), 580),
    "time_tradingday": 1_600,
}  # fmt: skip
SCALAR_OPERAND = 110  # each operand after the second, of a function that takes any number
CLOCK = 2_000  # a function that looks at a time zone
RATES: Mapping[str, int] = {  # in parts of a step: PARTS are one
    name: rate
    for rate, names in (
        (1, "abs add add_scalar change div div_scalar eq eq_scalar ge "
            "ge_scalar gt gt_scalar hl2 hlc3 isna le le_scalar logical_and logical_not logical_or "
            "lt lt_scalar max_scalar min_scalar mom mul mul_scalar ne ne_scalar neg shift sub "
            "sub_scalar"),
        (2, "crossover crossunder"),
        (3, "accdist alma atr bb cci cog cross cum dev ema falling fixnan highest hlcc4 "
            "linreg lowest macd max min nvi nz obv ohlc4 percentrank pvi pvt rising rma roc "
            "sign sma sqrt stdev sum swma tr valuewhen variance wad wma wvad"),
        (4, "cmo iii kc range stoch where"),
        (6, "dmi first_true fvg highest_since highestbars log log10 lowest_since lowestbars "
            "pivot_high pivot_low pivothigh pivotlow rsi runs structure supertrend swings"),
        (20, "dayofweek hma hour minute mod mod_scalar rci second"),
        (28, "round"),
        (32, "exp median percentile_linear_interpolation percentile_nearest_rank session "
            "session_isfirstbar session_isfirstbar_regular session_islastbar "
            "session_islastbar_regular session_ismarket session_ispostmarket "
            "session_ispremarket time_tradingday"),
        (64, "dayofmonth highest_between lowest_between mode month time_close timeframe_change "
            "weekofyear year"),
        (128, "value_area"),
        (192, "pow pow_scalar"),
    )
    for name in names.split()
}  # fmt: skip
USUAL_RATE, PARTS = 8, 32
SLICE = 12  # a window of its own, where lengths are a series
LONGER = 12  # parts of a step for each bar of it, where a longer window takes longer
SORTED = frozenset("median mode percentile_linear_interpolation percentile_nearest_rank".split())
SORTED_WINDOW = 600  # bars × bars of a window that is sorted anew, for a step
WINDOW = 300
SLOW_WINDOWS: Mapping[str, int] = {"mode": 25, "rci": 12}
PROFILE, PROFILE_ROW = 4, 3  # steps for each row that a bar touches, and for each row of a session
ZONE = 40  # bars over which `zone_life` follows a zone, for a step
FLAT = frozenset(  # functions that take no longer for a longer window
    (
        "atr bb bbw change cmo cog correlation dmi ema falling highest highestbars hma kc kcw "
        "linreg lowest lowestbars macd mfi mom pivot_high pivot_low pivothigh pivotlow profile "
        "profile_levels range rising rma roc rsi shift sma stdev stoch structure sum supertrend "
        "swings swma tsi variance vwma wma wpr zone_life"
    ).split()
)
