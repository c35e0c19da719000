"""The table of kernels, and which implementation serves them: the C extension or the reference.

A kernel works on the last axis of float64 series (bool where the table says `?`), broadcasts over
the others, takes its lengths as int64 scalars and its factors as float64 scalars. Arguments have
been checked before they come here.
"""

# name → (NumPy gufunc signature, one type letter per input, "->", one per output)
KERNELS: dict[str, tuple[str, str]] = {
    # moving windows
    "sma": ("(n),()->(n)", "dq->d"),
    "sum": ("(n),()->(n)", "dq->d"),
    "wma": ("(n),()->(n)", "dq->d"),
    "alma": ("(n),(),(),()->(n)", "dqdd->d"),
    "swma": ("(n)->(n)", "d->d"),
    "vwma": ("(n),(n),()->(n)", "ddq->d"),
    "stdev": ("(n),(),()->(n)", "dq?->d"),
    "variance": ("(n),(),()->(n)", "dq?->d"),
    "dev": ("(n),()->(n)", "dq->d"),
    "cci": ("(n),()->(n)", "dq->d"),
    "cmo": ("(n),()->(n)", "dq->d"),
    "cog": ("(n),()->(n)", "dq->d"),
    "highest": ("(n),()->(n)", "dq->d"),
    "lowest": ("(n),()->(n)", "dq->d"),
    "highestbars": ("(n),()->(n)", "dq->d"),
    "lowestbars": ("(n),()->(n)", "dq->d"),
    "median": ("(n),()->(n)", "dq->d"),
    "mode": ("(n),()->(n)", "dq->d"),
    "percentrank": ("(n),()->(n)", "dq->d"),
    "percentile_linear_interpolation": ("(n),(),()->(n)", "dqd->d"),
    "percentile_nearest_rank": ("(n),(),()->(n)", "dqd->d"),
    "linreg": ("(n),(),()->(n)", "dqq->d"),
    "correlation": ("(n),(n),()->(n)", "ddq->d"),
    "stoch": ("(n),(n),(n),()->(n)", "dddq->d"),
    "mfi": ("(n),(n),()->(n)", "ddq->d"),
    "bb": ("(n),(),()->(n),(n),(n)", "dqd->ddd"),
    # recursive
    "ema": ("(n),()->(n)", "dq->d"),
    "rma": ("(n),()->(n)", "dq->d"),
    "rsi": ("(n),()->(n)", "dq->d"),
    "macd": ("(n),(),(),()->(n),(n),(n)", "dqqq->ddd"),
    "tr": ("(n),(n),(n),()->(n)", "ddd?->d"),
    "atr": ("(n),(n),(n),()->(n)", "dddq->d"),
    "dmi": ("(n),(n),(n),(),()->(n),(n),(n)", "dddqq->ddd"),
    "supertrend": ("(n),(n),(n),(),()->(n),(n)", "ddddq->dd"),
    "sar": ("(n),(n),(n),(),(),()->(n)", "dddddd->d"),
    "vwap": ("(n),(n),(n),()->(n),(n),(n)", "dd?d->ddd"),
    "cum": ("(n)->(n)", "d->d"),
    "cummax": ("(n)->(n)", "d->d"),
    "cummin": ("(n)->(n)", "d->d"),
    "obv": ("(n),(n)->(n)", "dd->d"),
    "accdist": ("(n),(n),(n),(n)->(n)", "dddd->d"),
    "pvt": ("(n),(n)->(n)", "dd->d"),
    "pvi": ("(n),(n)->(n)", "dd->d"),
    "nvi": ("(n),(n)->(n)", "dd->d"),
    "wad": ("(n),(n),(n)->(n)", "ddd->d"),
    # events
    "crossover": ("(n),(n)->(n)", "dd->?"),
    "crossunder": ("(n),(n)->(n)", "dd->?"),
    "cross": ("(n),(n)->(n)", "dd->?"),
    "rising": ("(n),()->(n)", "dq->?"),
    "falling": ("(n),()->(n)", "dq->?"),
    "barssince": ("(n)->(n)", "?->d"),
    "valuewhen": ("(n),(n),()->(n)", "?dq->d"),
    "pivot_high": ("(n),(),()->(n)", "dqq->d"),
    "pivot_low": ("(n),(),()->(n)", "dqq->d"),
}
