"""The table of kernels, and which implementation serves them: the C extension or the reference.

A kernel works on the last axis of float64 series (bool where the table says `?`), broadcasts over
the others, takes its lengths as int64 scalars and its factors as float64 scalars. Arithmetic
and comparisons work value by value. Arguments have been checked before they come here.
"""

import os
import warnings
from collections.abc import Callable
from typing import Any, cast

import numpy as np

# name → (NumPy gufunc signature, one type letter per input, "->", one per output)
KERNELS: dict[str, tuple[str, str]] = {
    # moving windows
    "sma": ("(n),()->(n)", "dq->d"),
    "sum": ("(n),()->(n)", "dq->d"),
    "wma": ("(n),()->(n)", "dq->d"),
    "hma": ("(n),()->(n)", "dq->d"),
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
    "wpr": ("(n),(n),(n),()->(n)", "dddq->d"),
    "window_range": ("(n),()->(n)", "dq->d"),
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
    "vwap": ("(n),(n)->(n)", "dd->d"),
    "vwap_anchored": ("(n),(n),(n)->(n)", "dd?->d"),
    "vwap_bands": ("(n),(n),(n),()->(n),(n),(n)", "dd?d->ddd"),
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
    "rci": ("(n),()->(n)", "dq->d"),
    "period_prices": ("(n),(n),(n),(n),(n),()->(n),(n),(n),(n),(n)", "?dddd?->ddddd"),
    # market structure
    "swings": ("(n),(n),(),()->(n),(n),(n),(n)", "ddqq->dddd"),
    "structure": ("(n),(n),(n),(),()->(n),(n),(n),(n),(n)", "dddqq->ddddd"),
    "fvg": ("(n),(n),(n),(n),(),()->(n),(n),(n)", "ddddd?->ddd"),
    "zone_life": ("(n),(n),(n),(n),(n),(n),()->(n),(n),(n),(n),(n)", "ddddddq->ddddd"),
    "highest_between": ("(n),(n),(n)->(n),(n)", "ddd->dd"),
    "lowest_between": ("(n),(n),(n)->(n),(n)", "ddd->dd"),
    "highest_since": ("(n),(n)->(n)", "?d->d"),
    "lowest_since": ("(n),(n)->(n)", "?d->d"),
    "first_true": ("(n),(n)->(n)", "??->?"),
    "runs": ("(n)->(n),(n)", "?->dd"),
    # value by value
    "add": ("(),()->()", "dd->d"),
    "sub": ("(),()->()", "dd->d"),
    "mul": ("(),()->()", "dd->d"),
    "div": ("(),()->()", "dd->d"),
    "sqrt": ("()->()", "d->d"),
    "lt": ("(),()->()", "dd->?"),
    "le": ("(),()->()", "dd->?"),
    "gt": ("(),()->()", "dd->?"),
    "ge": ("(),()->()", "dd->?"),
    "eq": ("(),()->()", "dd->?"),
    "ne": ("(),()->()", "dd->?"),
    # prices and steps
    "hl2": ("(n),(n)->(n)", "dd->d"),
    "hlc3": ("(n),(n),(n)->(n)", "ddd->d"),
    "hlcc4": ("(n),(n),(n)->(n)", "ddd->d"),
    "ohlc4": ("(n),(n),(n),(n)->(n)", "dddd->d"),
    "change": ("(n),()->(n)", "dq->d"),
    "mom": ("(n),()->(n)", "dq->d"),
    "roc": ("(n),()->(n)", "dq->d"),
    # fused
    "tsi": ("(n),(),()->(n)", "dqq->d"),
    "kc": ("(n),(n),(n),(n),(),(),()->(n),(n),(n)", "ddddqd?->ddd"),
}

FORBIDDEN = os.environ.get("CHARTPACT_NO_NATIVE", "") not in ("", "0")


class SlowKernelsWarning(RuntimeWarning):
    """The C kernels are not there, so the much slower reference computes."""


class Batched:
    """A reference function with the manners of a gufunc: it casts, broadcasts and fills `out`."""

    def __init__(self, name: str) -> None:
        from chartpact.ta import reference

        signature, types = KERNELS[name]
        inputs, outputs = types.split("->")
        self.__name__ = name
        self.function: Callable[..., Any] = getattr(reference, name)
        self.inputs = [
            (np.dtype(letter), shape == "(n)")
            for letter, shape in zip(inputs, signature.split("->")[0].split(","), strict=True)
        ]
        self.outputs = [np.dtype(letter) for letter in outputs]

    @np.errstate(all="ignore")  # as the C kernels leave no floating-point flags behind
    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        values = [
            np.asarray(value).astype(dtype, casting="safe", copy=False)
            for value, (dtype, _) in zip(arguments, self.inputs, strict=True)
        ]
        series = [
            value for value, (_, is_series) in zip(values, self.inputs, strict=True) if is_series
        ]
        if not series:
            return self.function(*values)
        bars = series[0].shape[-1]
        if any(each.shape[-1] != bars for each in series):
            raise ValueError(f"{self.__name__}: series of different lengths")
        outer = np.broadcast_shapes(
            *(
                value.shape[:-1] if is_series else value.shape
                for value, (_, is_series) in zip(values, self.inputs, strict=True)
            )
        )
        spread = [
            np.broadcast_to(value, outer + (value.shape[-1:] if is_series else ()))
            for value, (_, is_series) in zip(values, self.inputs, strict=True)
        ]
        results = [np.empty((*outer, bars), dtype) for dtype in self.outputs]
        for row in np.ndindex(*outer):
            columns = [
                value[row] if is_series else value[row].item()
                for value, (_, is_series) in zip(spread, self.inputs, strict=True)
            ]
            found = self.function(*columns)
            for result, column in zip(
                results, found if isinstance(found, tuple) else (found,), strict=True
            ):
                result[row] = column
        if out is not None:
            targets = out if isinstance(out, tuple) else (out,)
            for target, result in zip(targets, results, strict=True):
                if target.shape != result.shape:
                    raise ValueError(f"{self.__name__}: out has shape {target.shape}")
                target[...] = result
            results = list(targets)
        return results[0] if len(results) == 1 else tuple(results)


def _native() -> dict[str, Callable[..., Any]]:
    if FORBIDDEN:
        return {}
    try:
        from chartpact import _native as extension
    except ImportError:
        return {}
    return {name: getattr(extension, name) for name in KERNELS if hasattr(extension, name)}


NATIVE = _native()
BACKEND = "c" if len(NATIVE) == len(KERNELS) else "reference"


def kernel(name: str) -> Callable[..., Any]:
    """The implementation of a kernel: C where it is built, else the reference."""
    return NATIVE.get(name) or cast(Callable[..., Any], Batched(name))


def direct_call(
    name: str, least: tuple[float, ...], most: tuple[float, ...]
) -> Callable[..., Any] | None:
    """The C kernel as a plain function, which answers None unless every argument is ready for it.

    Ready are arrays of the kernel's types and of one shape, and numbers within these bounds.
    """
    if name not in NATIVE:
        return None
    from chartpact import _native as extension

    return cast(Callable[..., Any], extension.direct_call(name, least, most))


def status() -> str:
    """Which kernels are in use and, where they are not the C ones, why and what to do."""
    if BACKEND == "c":
        return "C"
    if FORBIDDEN:
        return "reference (slow): CHARTPACT_NO_NATIVE forbids the C kernels"
    lacking = f"lacks {len(KERNELS) - len(NATIVE)} kernels" if NATIVE else "is not built"
    return (
        f"reference (slow): the C extension {lacking}; install a C compiler and reinstall chartpact"
    )


if BACKEND != "c" and not FORBIDDEN:
    warnings.warn(f"ta kernels: {status()}", SlowKernelsWarning, stacklevel=2)
