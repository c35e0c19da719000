"""What every kernel computes, written to be read: a short function each, one series at a time.

The oracle of the test suite, and what runs where no C kernels were built. `na` is NaN, and an
infinity counts as na. What an na bar does differs from function to function, as it does in Pine:

- *skips*: the bar is na and leaves the state alone. A window is the last n present values, and a
  recursion carries on from the last one.
- *holds*: the same, but the bar shows the last result again.
- *over bars*: a window is the last n bars, and an na among them makes the result na.

A division by zero is na. A window of equal values has a deviation of exactly zero.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import wraps
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Function = TypeVar("Function", bound=Callable[..., Any])

NA = math.nan
EPSILON = 1e-10  # Pine's tolerance: values no further apart are equal


def _finite(function: Function) -> Function:
    """The function, for which infinities are na, on the way in and on the way out."""

    def without_infinities(value: Any) -> Any:
        floats = isinstance(value, np.ndarray) and value.dtype == np.float64
        return np.where(np.isinf(value), NA, value) if floats else value

    @wraps(function)
    def compute(*arguments: Any) -> Any:
        result = function(*map(without_infinities, arguments))
        if isinstance(result, tuple):
            return tuple(map(without_infinities, result))
        return without_infinities(result)

    return cast(Function, compute)


def _empty(like: NDArray[Any]) -> Floats:
    return np.full(len(like), NA)


def _bars(*series: Floats) -> Iterator[tuple[int, tuple[float, ...]]]:
    """The bars where every series is present, with their values."""
    for i, values in enumerate(zip(*(s.tolist() for s in series), strict=True)):
        if all(map(math.isfinite, values)):
            yield i, values


def _skipping(n: int, rule: Callable[[list[float]], float], x: Floats) -> Floats:
    """`rule` of the last n present values, from the n-th on; na bars are na."""
    out = _empty(x)
    window: list[float] = []
    for i, (value,) in _bars(x):
        window = [*window[-n + 1 :], value] if n > 1 else [value]
        if len(window) == n:
            out[i] = rule(window)
    return out


def _holding(n: int, rule: Callable[[list[float]], float], x: Floats) -> Floats:
    """`rule` of the last n present values, from the n-th on; na bars repeat the last result."""
    return _hold(_skipping(n, rule, x), np.isnan(x))


def _hold(x: Floats, where: Bools) -> Floats:
    """The series with its last value repeated on the bars `where`."""
    out, last = x.copy(), NA
    for i, again in enumerate(where.tolist()):
        out[i] = last = last if again else out[i]
    return out


def _over_bars(n: int, rule: Callable[[list[float]], float], x: Floats) -> Floats:
    """`rule` of the last n bars, from bar n − 1 on; na where one of them is."""
    out = _empty(x)
    for i in range(n - 1, len(x)):
        window = x[i - n + 1 : i + 1].tolist()
        out[i] = NA if any(map(math.isnan, window)) else rule(window)
    return out


def _sum(values: list[float]) -> float:
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # beyond the range of a float, or inf - inf
        return NA


def _mean(values: list[float]) -> float:
    # n·c/n need not be c, and a constant window must have no deviation at all
    return values[0] if min(values) == max(values) else _sum(values) / len(values)


def _ratio(a: float, b: float) -> float:
    return a / b if b else NA


def _each(rule: Callable[..., float], *series: Floats) -> Floats:
    """`rule` of the values of each bar; na where one of them is, and what is beyond all floats."""
    out = _empty(series[0])
    for i, values in _bars(*series):
        value = rule(*values)
        out[i] = value if math.isfinite(value) else NA
    return out


# -------------------------------------------------------------------------- prices and steps


@_finite
def hl2(high: Floats, low: Floats) -> Floats:
    """(high + low) / 2; na where either is."""
    return _each(lambda h, low_: (h + low_) / 2, high, low)


@_finite
def hlc3(high: Floats, low: Floats, close: Floats) -> Floats:
    """(high + low + close) / 3; na where one is."""
    return _each(lambda h, low_, c: (h + low_ + c) / 3, high, low, close)


@_finite
def hlcc4(high: Floats, low: Floats, close: Floats) -> Floats:
    """(high + low + 2 · close) / 4; na where one is."""
    return ohlc4(high, low, close, close)


@_finite
def ohlc4(open: Floats, high: Floats, low: Floats, close: Floats) -> Floats:
    """(open + high + low + close) / 4; na where one is."""
    return _each(lambda o, h, low_, c: (o + h + low_ + c) / 4, open, high, low, close)


def _before(x: Floats, n: int) -> Floats:
    """The series as it stood n bars ago."""
    return np.concatenate((np.full(min(n, len(x)), NA), x[:-n]))


@_finite
def change(x: Floats, n: int) -> Floats:
    """x − xₙ, n *bars* ago; na where either is."""
    return _each(lambda now, then: now - then, x, _before(x, n))


mom = change


@_finite
def roc(x: Floats, n: int) -> Floats:
    """100 · (x − xₙ) / xₙ, n *bars* ago; na where either is, and where xₙ is 0."""
    return _each(lambda now, then: _ratio(100 * (now - then), then), x, _before(x, n))


# ---------------------------------------------------------------------------- moving windows


@_finite
def sum(x: Floats, n: int) -> Floats:
    """Sum of the last n values; holds."""
    return _holding(n, _sum, x)


@_finite
def sma(x: Floats, n: int) -> Floats:
    """Mean of the last n values; holds."""
    return _holding(n, _mean, x)


@_finite
def wma(x: Floats, n: int) -> Floats:
    """Mean weighted 1..n, oldest to newest, of the last n *bars*, na filled with the value before.

    The first value is at the n-th present value; an na bar is na.
    """
    out, present = _empty(x), 0
    window: list[float] = []
    weights = range(1, n + 1)
    for i, value in enumerate(x.tolist()):
        missing = math.isnan(value)
        present += not missing
        if present == 0:
            continue
        window = [*window[-n + 1 :], window[-1] if missing else value] if n > 1 else [value]
        if not missing and present >= n:
            out[i] = _sum([w * v for w, v in zip(weights, window, strict=True)]) / (n * (n + 1) / 2)
    return out


def hma(x: Floats, n: int) -> Floats:
    """wma of 2 · wma(n // 2) − wma(n) over ⌊√n⌋ bars, with the na rules of wma; n = 1 is na."""
    if n < 2:
        return _empty(x)
    return wma(2 * wma(x, n // 2) - wma(x, n), math.isqrt(n))


@_finite
def alma(x: Floats, n: int, offset: float, sigma: float) -> Floats:
    """Gaussian mean of n values, centred at offset·(n−1) with width n/sigma; over bars."""
    if n > len(x):
        return _empty(x)
    centre, width = offset * (n - 1), n / sigma
    weights = [math.exp(-((k - centre) ** 2) / (2 * width * width)) for k in range(n)]

    def rule(window: list[float]) -> float:
        total = _sum([w * v for w, v in zip(weights, window, strict=True)])
        return _ratio(total, _sum(weights))

    return _over_bars(n, rule, x)


@_finite
def swma(x: Floats) -> Floats:
    """(x + 2x₁ + 2x₂ + x₃) / 6; over bars."""
    return _over_bars(4, lambda w: (w[3] + 2 * w[2] + 2 * w[1] + w[0]) / 6, x)


@_finite
def vwma(x: Floats, volume: Floats, n: int) -> Floats:
    """sum(x·v) / sum(v), of which each holds on its own na; a sum of volume of 0 is na."""
    flows, volumes = sum(x * volume, n).tolist(), sum(volume, n).tolist()
    return np.array([_ratio(a, b) for a, b in zip(flows, volumes, strict=True)])


def _variance(window: list[float], biased: bool) -> float:
    mean = _mean(window)
    freedom = len(window) - (not biased)
    spread = _sum([(v - mean) * (v - mean) for v in window])
    return _ratio(spread, freedom) if spread < math.inf else NA


@_finite
def variance(x: Floats, n: int, biased: bool) -> Floats:
    """Mean squared distance from the mean of the last n values, in two passes; holds.

    Divided by n when biased, else by n − 1 (n = 1 is na).
    """
    return _holding(n, lambda w: _variance(w, biased), x)


@_finite
def stdev(x: Floats, n: int, biased: bool) -> Floats:
    """Square root of `variance`, with its rules."""
    return _holding(n, lambda w: math.sqrt(_variance(w, biased)), x)


@_finite
def bb(x: Floats, n: int, mult: float) -> tuple[Floats, Floats, Floats]:
    """Middle = sma, upper and lower = middle ± mult · biased stdev; all hold."""
    middle, reach = sma(x, n), mult * stdev(x, n, True)
    return middle, middle + reach, middle - reach


def _dev(window: list[float]) -> float:
    mean = _mean(window)
    return _sum([abs(v - mean) for v in window]) / len(window)


@_finite
def dev(x: Floats, n: int) -> Floats:
    """Mean absolute distance of n values from their mean; over bars."""
    return _over_bars(n, _dev, x)


@_finite
def cci(x: Floats, n: int) -> Floats:
    """(x − sma) / (0.015 · dev), over bars; a dev within 1e-10 of 0 repeats the last one, or 0."""
    last = 0.0

    def rule(window: list[float]) -> float:
        nonlocal last
        deviation = _dev(window)
        if deviation > EPSILON:
            last = (window[-1] - _mean(window)) / (0.015 * deviation)
        return last

    return _over_bars(n, rule, x)


@_finite
def cmo(x: Floats, n: int) -> Floats:
    """100 · (ups − downs) / (ups + downs) over the last n steps between present values.

    A step counts as down when it is below −1e-10, else as up; 0/0 is na. It skips, and the step
    after an na bar is taken from the last present value.
    """

    def rule(w: list[float]) -> float:
        steps = [b - a for a, b in pairwise(w)]
        ups = _sum([s for s in steps if s >= -EPSILON])
        downs = _sum([-s for s in steps if s < -EPSILON])
        return _ratio(100 * (ups - downs), ups + downs)

    return _skipping(n + 1, rule, x)


@_finite
def cog(x: Floats, n: int) -> Floats:
    """−Σ(i+1)·xᵢ / Σxᵢ over bars, i = 0 the newest; Σ = 0 is na."""

    def rule(w: list[float]) -> float:
        return -_ratio(_sum([k * v for k, v in enumerate(reversed(w), 1)]), _sum(w))

    return _over_bars(n, rule, x)


def _extreme(x: Floats, n: int, pick: Callable[[list[float]], float], place: bool) -> Floats:
    out = _empty(x)
    run: list[float] = []  # the present values since the last na
    for i, value in enumerate(x.tolist()):
        run = [] if math.isnan(value) else [*run, value][-n:]
        if i < n - 1:
            continue
        if place:
            out[i] = run.index(pick(run)) - (len(run) - 1) if run else 0.0
        elif run:
            out[i] = pick(run)
    return out


@_finite
def highest(x: Floats, n: int) -> Floats:
    """Largest of the last n bars, from bar n − 1 on; an na ends the window, an na bar is na."""
    return _extreme(x, n, max, False)


@_finite
def lowest(x: Floats, n: int) -> Floats:
    """Smallest of the last n bars, from bar n − 1 on; an na ends the window, an na bar is na."""
    return _extreme(x, n, min, False)


@_finite
def highestbars(x: Floats, n: int) -> Floats:
    """Offset (≤ 0) to the bar of `highest`, the oldest of equals; 0 on an na bar."""
    return _extreme(x, n, max, True)


@_finite
def lowestbars(x: Floats, n: int) -> Floats:
    """Offset (≤ 0) to the bar of `lowest`, the oldest of equals; 0 on an na bar."""
    return _extreme(x, n, min, True)


@_finite
def window_range(x: Floats, n: int) -> Floats:
    """Largest less smallest of the last n values; holds."""
    return _holding(n, lambda w: max(w) - min(w), x)


@_finite
def median(x: Floats, n: int) -> Floats:
    """Middle one of the last n values, the mean of the middle two when n is even; holds."""

    def rule(w: list[float]) -> float:
        ordered = sorted(w)
        return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2

    return _holding(n, rule, x)


@_finite
def mode(x: Floats, n: int) -> Floats:
    """Most frequent of the last n values, the smallest of equally frequent ones; holds."""

    def rule(w: list[float]) -> float:
        counts = Counter(w)
        most = max(counts.values())
        return min(v for v, count in counts.items() if count == most)

    return _holding(n, rule, x)


@_finite
def percentrank(x: Floats, n: int) -> Floats:
    """Percentage of the n *bars* before that are not above the current one by more than 1e-10.

    From bar n on. An na before counts as above; an na bar is na.
    """
    out = _empty(x)
    for i, (value,) in _bars(x):
        if i >= n:
            out[i] = 100 * np.count_nonzero(x[i - n : i] - value <= EPSILON) / n
    return out


def _slots(x: Floats, n: int) -> Iterator[tuple[int, Callable[[int], float]]]:
    """Each bar from n − 1 on with the slots, from 1, in which Pine keeps its last n bars.

    A number enters in front of the first number that is not below it, else at the end; an na
    enters at the end. Of the slots equal to the number that leaves, the last is emptied; for an na
    the first na. Numbers are equal within 1e-10. The na of bars before the first are in front of
    those that are stored, and leave first.
    """
    stored: list[float] = []

    def slot(rank: int) -> float:
        at = rank - 1 - (n - len(stored))
        return stored[at] if at >= 0 else NA

    for i, value in enumerate(x.tolist()):
        if i >= n and math.isnan(x[i - n]):
            del stored[[math.isnan(v) for v in stored].index(True)]
        elif i >= n:
            numbers = [k for k, v in enumerate(stored) if not math.isnan(v)]
            equal = [k for k in numbers if abs(stored[k] - x[i - n]) <= EPSILON] or numbers
            del stored[equal[-1]]
        above = [k for k, v in enumerate(stored) if value - v <= EPSILON]
        stored.insert(above[0] if above else len(stored), value)
        if i >= n - 1:
            yield i, slot


@_finite
def percentile_linear_interpolation(x: Floats, n: int, percentage: float) -> Floats:
    """Hazen's percentile of the last n bars in Pine's slots: rank n·p/100 + 0.5, held within 1..n.

    Between two slots it is na where either is, even if it has no share.
    """
    out, rank = _empty(x), n * percentage / 100 + 0.5
    below = int(rank)
    for i, slot in _slots(x, n):
        if rank <= 1 or rank >= n:
            out[i] = slot(1 if rank <= 1 else n)
        else:
            out[i] = slot(below) * (1 - (rank - below)) + slot(below + 1) * (rank - below)
    return out


@_finite
def percentile_nearest_rank(x: Floats, n: int, percentage: float) -> Floats:
    """The ⌈n·p/100⌉-th of the last n bars in Pine's slots, the first for p = 0."""
    out, rank = _empty(x), max(math.ceil(n * percentage / 100), 1)
    for i, slot in _slots(x, n):
        out[i] = slot(rank)
    return out


@_finite
def linreg(x: Floats, n: int, offset: int) -> Floats:
    """Least-squares line through n values, read `offset` bars before its end; over bars.

    n = 1 is the value itself.
    """

    def rule(w: list[float]) -> float:
        if n == 1:
            return w[0]
        mean, centre = _mean(w), (n - 1) / 2
        slope = _sum([(k - centre) * (v - mean) for k, v in enumerate(w)]) / (n * (n * n - 1) / 12)
        return mean + slope * (n - 1 - offset - centre)

    return _over_bars(n, rule, x)


@_finite
def correlation(a: Floats, b: Floats, n: int) -> Floats:
    """Covariance over the root of both variances: (mean(a·b) − mean(a)·mean(b)) / √(var(a)·var(b)).

    A covariance within 1e-10 of 0 is 0; else a variance of 0 is na. Each of the means is over the
    last n values of its own, so that a gap in one series only sets the windows apart, and the
    result may leave ±1. Holds where both are na.
    """
    out = _empty(a)
    of_a: list[int] = []
    of_b: list[int] = []
    of_both: list[int] = []
    for i, (p, q) in enumerate(zip(np.isnan(a).tolist(), np.isnan(b).tolist(), strict=True)):
        of_a = of_a if p else [*of_a, i][-n:]
        of_b = of_b if q else [*of_b, i][-n:]
        of_both = of_both if p or q else [*of_both, i][-n:]
        if len(of_both) == n:
            out[i] = _correlation(a, b, of_a, of_b, of_both)
    return out


def _correlation(
    a: Floats, b: Floats, of_a: list[int], of_b: list[int], of_both: list[int]
) -> float:
    p, q = _mean(a[of_a].tolist()), _mean(b[of_b].tolist())
    together = ((a[of_both] - p) * (b[of_both] - q)).tolist()
    if of_a != of_both:  # the mean of a over the bars of both is not p
        together += (q * (a[of_both] - p)).tolist()
    if of_b != of_both:
        together += (p * (b[of_both] - q)).tolist()
    covariance = _sum(together) / len(of_a)
    if abs(covariance) <= EPSILON:
        return 0.0
    spreads = _variance(a[of_a].tolist(), True), _variance(b[of_b].tolist(), True)
    value = _ratio(covariance, math.sqrt(spreads[0]) * math.sqrt(spreads[1]))
    return value if of_a != of_b or math.isnan(value) else min(max(value, -1.0), 1.0)


@_finite
def stoch(x: Floats, high: Floats, low: Floats, n: int) -> Floats:
    """100 · (x − lowest(low)) / (highest(high) − lowest(low)), not clamped.

    Where the range is zero or one of the three is na it repeats its last value.
    """
    top, bottom = highest(high, n), lowest(low, n)
    out = _empty(x)
    for i, (value, hh, ll) in _bars(x, top, bottom):
        out[i] = _ratio(100 * (value - ll), hh - ll)
    return _hold(out, ~np.isfinite(out))


@_finite
def wpr(high: Floats, low: Floats, close: Floats, n: int) -> Floats:
    """100 · (close − highest(high)) / (highest(high) − lowest(low)); a zero range is na.

    A bar where one of the three is na is na.
    """
    out = _empty(close)
    for i, (c, hh, ll) in _bars(close, highest(high, n), lowest(low, n)):
        out[i] = _ratio(100 * (c - hh), hh - ll)
    return out


@_finite
def mfi(x: Floats, volume: Floats, n: int) -> Floats:
    """100 − 100 / (1 + inflow / outflow), the sums of n flows x·volume, which hold.

    A flow is not inflow unless x rose by more than 1e-10 since the *bar* before, nor outflow unless
    it fell by more. Without a bar before (on bar 0, after an na) it is both. A sum within 1e-10 of
    0 is 0, and no outflow is 100.
    """
    flow, step = x * volume, np.diff(x, prepend=NA)
    inflow = sum(np.where(step <= EPSILON, 0.0, flow), n).tolist()
    outflow = sum(np.where(step >= -EPSILON, 0.0, flow), n).tolist()
    out = _empty(x)
    for i, (upper, lower) in enumerate(zip(inflow, outflow, strict=True)):
        if abs(lower) > EPSILON:
            out[i] = 100 - _ratio(100, 1 + (0.0 if abs(upper) <= EPSILON else upper / lower))
        elif not math.isnan(upper + lower):
            out[i] = 100.0
    return out


# --------------------------------------------------------------------------------- recursive


class _Average:
    """A recursive average, seeded with the mean of its first n values."""

    def __init__(self, n: int, step: Callable[[float, float], float]) -> None:
        self.n, self.step = n, step
        self.first: list[float] = []
        self.value = NA

    def add(self, x: float) -> float:
        if len(self.first) < self.n:
            self.first.append(x)
            if len(self.first) == self.n:
                self.value = _mean(self.first)
        elif not math.isfinite(moved := self.step(self.value, x)):
            return NA  # beyond the range of a float: the step is not taken
        else:
            self.value = moved
        return self.value


def _ema(n: int) -> _Average:
    alpha = 2 / (n + 1)
    return _Average(n, (lambda p, x: p + alpha * (x - p)) if n > 1 else (lambda _, x: x))


def _rma(n: int) -> _Average:
    return _Average(n, (lambda p, x: p + (x - p) / n) if n > 1 else (lambda _, x: x))


def _recursive(average: _Average, x: Floats) -> Floats:
    out = _empty(x)
    for i, (value,) in _bars(x):
        out[i] = average.add(value)
    return out


@_finite
def ema(x: Floats, n: int) -> Floats:
    """p + 2/(n+1) · (x − p), seeded with the mean of the first n values; n = 1 is x. Skips."""
    return _recursive(_ema(n), x)


@_finite
def rma(x: Floats, n: int) -> Floats:
    """p + (x − p) / n, seeded with the mean of the first n values; n = 1 is x. Skips."""
    return _recursive(_rma(n), x)


@_finite
def rsi(x: Floats, n: int) -> Floats:
    """100 − 100 / (1 + rma of rises / rma of falls). First value at the n-th step.

    An rma of falls within 1e-10 of 0 is 100, else one of rises is 0. It skips, and the step after
    an na bar is taken from the last present value.
    """
    out = _empty(x)
    rises, falls, before = _rma(n), _rma(n), NA
    for i, (value,) in _bars(x):
        if not math.isnan(before):
            up, down = rises.add(max(value - before, 0.0)), falls.add(max(before - value, 0.0))
            if down <= EPSILON:
                out[i] = 100.0
            else:
                out[i] = 0.0 if up <= EPSILON else 100 - 100 / (1 + up / down)
        before = value
    return out


@_finite
def macd(x: Floats, fast: int, slow: int, signal: int) -> tuple[Floats, Floats, Floats]:
    """Line = ema(fast) − ema(slow), signal = ema of the line, histogram = line − signal.

    The signal is seeded with the line's first values. All three skip.
    """
    line = ema(x, fast) - ema(x, slow)
    smooth = ema(line, signal)
    return line, smooth, line - smooth


@_finite
def tsi(x: Floats, short: int, long: int) -> Floats:
    """ema(ema(step, long), short) over the same of |step|; 0 below is na.

    A step to or from an na bar is na, and the averages pass it over.
    """
    step = change(x, 1)
    above = ema(ema(step, long), short)
    below = ema(ema(np.abs(step), long), short)
    return _each(_ratio, above, below)


@_finite
def tr(high: Floats, low: Floats, close: Floats, handle_na: bool) -> Floats:
    """max(high − low, |high − close₁|, |low − close₁|) with close₁ the close of the *bar* before.

    Where close₁ is na (bar 0, or after an na close) it is high − low if handle_na, else na.
    Where high or low is na it is na; the bar's own close is not looked at.
    """
    out = _empty(high)
    before = np.concatenate(([NA], close[:-1])) if len(close) else close
    for i, (h, low_, c) in enumerate(
        zip(high.tolist(), low.tolist(), before.tolist(), strict=True)
    ):
        if math.isnan(h) or math.isnan(low_):
            continue
        if not math.isnan(c):
            out[i] = max(h - low_, abs(h - c), abs(low_ - c))
        elif handle_na:
            out[i] = h - low_
    return out


@_finite
def atr(high: Floats, low: Floats, close: Floats, n: int) -> Floats:
    """rma of tr(handle_na=True): first value at bar n − 1; a bar without high or low is na."""
    return rma(tr(high, low, close, True), n)


@_finite
def kc(
    x: Floats, high: Floats, low: Floats, close: Floats, n: int, mult: float, use_tr: bool
) -> tuple[Floats, Floats, Floats]:
    """Middle = ema of x, upper and lower = middle ± mult · ema of the range.

    The range is tr(handle_na=False), or high − low without use_tr.
    """
    middle = ema(x, n)
    reach = mult * ema(tr(high, low, close, False) if use_tr else high - low, n)
    return middle, middle + reach, middle - reach


@_finite
def dmi(
    high: Floats, low: Floats, close: Floats, di_n: int, adx_n: int
) -> tuple[Floats, Floats, Floats]:
    """+DI, −DI and ADX: rma of ±DM over rma of tr(False), and rma of their relative distance.

    ±DM compares with a tolerance of 1e-10 and needs the *bar* before; where it or tr is na, all
    three are na and nothing moves. A zero tr average is na; a zero +DI + −DI counts as 1.
    """
    plus, minus, adx = _empty(high), _empty(high), _empty(high)
    ups, downs, ranges, index = _rma(di_n), _rma(di_n), _rma(di_n), _rma(adx_n)
    reach = tr(high, low, close, False)
    rises, falls = np.diff(high, prepend=NA), -np.diff(low, prepend=NA)
    for i, (up, down, span) in _bars(rises, falls, reach):
        p = ups.add(up if up - down > EPSILON and up > EPSILON else 0.0)
        m = downs.add(down if down - up > EPSILON and down > EPSILON else 0.0)
        a = ranges.add(span)
        if math.isnan(a) or a == 0:
            continue
        plus[i], minus[i] = p, m = 100 * p / a, 100 * m / a
        adx[i] = 100 * index.add(abs(p - m) / (p + m or 1.0))
    return plus, minus, adx


@_finite
def supertrend(
    high: Floats, low: Floats, close: Floats, factor: float, n: int
) -> tuple[Floats, Floats]:
    """Trailing band hl2 ± factor · atr(n), and its direction: −1 up, +1 down.

    Bar 0 is (0, 1). It starts down, on the upper band, at the first bar after bar 0 with an atr. A
    band is carried over unless it tightened or the last close was beyond it; the trend was down if
    the last line equals the last upper band. On a bar where an input or the atr is na the line is
    na, the direction stays (1 before the start) and nothing moves.
    """
    line, direction = _empty(high), np.ones(len(high))
    upper = lower = stop = last_close = NA
    trend = 1
    if len(line):
        line[0] = 0.0
    for i, (h, low_, c, a) in enumerate(
        zip(
            high.tolist(),
            low.tolist(),
            close.tolist(),
            atr(high, low, close, n).tolist(),
            strict=True,
        )
    ):
        if i == 0 or math.isnan(h + low_ + c + a):
            direction[i] = trend
            continue
        top, bottom = (h + low_) / 2 + factor * a, (h + low_) / 2 - factor * a
        if math.isnan(upper):
            upper, lower = top, bottom
        else:
            was_down = stop == upper  # Pine compares the levels, also where both bands meet
            upper = top if top < upper or last_close > upper else upper
            lower = bottom if bottom > lower or last_close < lower else lower
            flipped = c > upper if was_down else c < lower
            trend = -1 if was_down == flipped else 1
        stop, last_close = (upper if trend == 1 else lower), c
        line[i], direction[i] = stop, trend
    return line, direction


@_finite
def sar(high: Floats, low: Floats, close: Floats, start: float, inc: float, limit: float) -> Floats:
    """Parabolic stop and reverse, from the second present bar on.

    It starts long from the first low unless the first high is above the second, else short from the
    first high. It never passes the last two lows (highs). Where a low (high) is beyond the stop,
    it reverses: it restarts from the extreme, held outside the current bar too. A bar where high or
    low is na is skipped; close (Pine's argument) decides nothing.
    """
    del close
    out = _empty(high)
    long, value, extreme, speed = True, NA, NA, start
    bars: list[tuple[float, float]] = []
    for i, (h, low_) in _bars(high, low):
        if len(bars) == 1:
            long = not bars[0][0] > h
            value, extreme = (bars[0][1], h) if long else (bars[0][0], low_)
        elif bars:
            value += speed * (extreme - value)
            highs, lows = zip(*bars, strict=True)
            if low_ < value if long else h > value:
                long, speed = not long, start
                value = min(extreme, low_, *lows) if long else max(extreme, h, *highs)
                extreme = h if long else low_
            else:
                value = min(value, *lows) if long else max(value, *highs)
                if h > extreme if long else low_ < extreme:
                    extreme, speed = (h if long else low_), min(speed + inc, limit)
        out[i] = value
        bars = [*bars[-1:], (h, low_)]
    return out


@_finite
def vwap_bands(
    x: Floats, volume: Floats, anchor: Bools, mult: float
) -> tuple[Floats, Floats, Floats]:
    """Σx·v / Σv since the last anchor, and that ± mult · the volume-weighted stdev.

    na before the first anchor and while Σv = 0. A bar where x or volume is na makes it na until the
    next anchor.
    """
    middle, upper, lower = _empty(x), _empty(x), _empty(x)
    flow = weight = mean = spread = NA
    for i, (value, v, fresh) in enumerate(
        zip(x.tolist(), volume.tolist(), anchor.tolist(), strict=True)
    ):
        if fresh:
            flow = weight = mean = spread = 0.0
        if weight == 0 == flow:  # measured from the first price, flat prices have no spread at all
            mean = value
        flow, weight = flow + value * v, weight + v
        if math.isnan(flow) or weight == 0:
            continue
        step = value - mean
        mean += step * v / weight
        spread += v * step * (value - mean)
        reach = mult * math.sqrt(max(spread / weight, 0.0))
        middle[i] = flow / weight
        upper[i], lower[i] = middle[i] + reach, middle[i] - reach
    return middle, upper, lower


def vwap_anchored(x: Floats, volume: Floats, anchor: Bools) -> Floats:
    """Middle of `vwap_bands`."""
    return vwap_bands(x, volume, anchor, 0.0)[0]


def vwap(x: Floats, volume: Floats) -> Floats:
    """The same from the first bar on: an na makes it na for good."""
    return vwap_anchored(x, volume, np.arange(len(x)) == 0)


@_finite
def cum(x: Floats) -> Floats:
    """Sum of all values so far; skips."""
    out, total = _empty(x), 0.0
    for i, (value,) in _bars(x):
        out[i] = total = total + value
    return out


@_finite
def cummax(x: Floats) -> Floats:
    """Largest value so far; holds."""
    return np.fmax.accumulate(x)


@_finite
def cummin(x: Floats) -> Floats:
    """Smallest value so far; holds."""
    return np.fmin.accumulate(x)


def _steps(*series: Floats) -> Iterator[tuple[int, tuple[float, ...], tuple[float, ...] | None]]:
    """Present bars with the bar before, which is None on bar 0 and where it was na."""
    last, before = -2, None
    for i, values in _bars(*series):
        yield i, values, before if last == i - 1 else None
        last, before = i, values


@_finite
def obv(close: Floats, volume: Floats) -> Floats:
    """Sum of volume signed by the close's step from the *bar* before.

    na where the bar or the close before it is na (so on bar 0 too), and nothing is added there.
    """
    out, total = _empty(close), 0.0
    for i, (c,), before in _steps(close):
        if before and not math.isnan(volume[i]):
            total += volume[i] * ((c > before[0]) - (c < before[0]))
            out[i] = total
    return out


@_finite
def accdist(high: Floats, low: Floats, close: Floats, volume: Floats) -> Floats:
    """Sum of ((close − low) − (high − close)) / (high − low) · volume, from 0.

    Where an input is na, or high = low, it holds.
    """
    steps = np.zeros(len(close))
    for i, (h, low_, c, v) in _bars(high, low, close, volume):
        steps[i] = np.nan_to_num(_ratio((c - low_) - (h - c), h - low_) * v)
    return np.cumsum(steps)


@_finite
def pvt(close: Floats, volume: Floats) -> Floats:
    """Sum of volume times the close's relative step from the *bar* before.

    na where the bar or the close before it is na (so on bar 0 too) or that close is 0, and
    nothing is added there.
    """
    out, total = _empty(close), 0.0
    for i, (c,), before in _steps(close):
        if before and before[0] and not math.isnan(volume[i]):
            total += (c - before[0]) / before[0] * volume[i]
            out[i] = total
    return out


def _volume_index(close: Floats, volume: Floats, rising: bool) -> Floats:
    out, value = np.ones(len(close)), 1.0
    for i, (c, v), before in _steps(close, volume):
        if before and c and before[0] and (v > before[1] if rising else v < before[1]):
            value += (c - before[0]) / before[0] * value
        out[i:] = value
    return out


@_finite
def pvi(close: Floats, volume: Floats) -> Floats:
    """1, multiplied by close / close₁ on bars with more volume than the *bar* before.

    It holds on bar 0, on an na bar and the next, and around a zero close.
    """
    return _volume_index(close, volume, True)


@_finite
def nvi(close: Floats, volume: Floats) -> Floats:
    """1, multiplied by close / close₁ on bars with less volume than the *bar* before.

    It holds on bar 0, on an na bar and the next, and around a zero close.
    """
    return _volume_index(close, volume, False)


@_finite
def wad(high: Floats, low: Floats, close: Floats) -> Floats:
    """Sum of close − min(low, close₁) on up closes and close − max(high, close₁) on down closes.

    It holds where one of these is na, and is 0 on bar 0.
    """
    steps = np.zeros(len(close))
    for i, (c,), before in _steps(close):
        if before and c > before[0]:
            steps[i] = c - np.minimum(low[i], before[0])
        elif before and c < before[0]:
            steps[i] = c - np.maximum(high[i], before[0])
    return np.cumsum(np.nan_to_num(steps))


# ------------------------------------------------------------------------------------ events


def crossover(a: Floats, b: Floats) -> Bools:
    """a > b now, and a ≤ b on the last bar where both were present. Never na."""
    out, below = np.zeros(len(a), bool), False
    for i, (p, q) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        if p > q or p <= q:
            out[i], below = p > q and below, p <= q
    return out


def crossunder(a: Floats, b: Floats) -> Bools:
    """a < b now, and a ≥ b on the last bar where both were present. Never na."""
    return crossover(b, a)


def cross(a: Floats, b: Floats) -> Bools:
    """a and b changed sides: the last strict relation was the opposite one. Never na.

    Bars where they are equal, or one is na, are passed over; the first strict relation is no cross.
    """
    out, side = np.zeros(len(a), bool), 0
    for i, (p, q) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        now = (p > q) - (p < q)
        out[i] = now * side < 0
        side = now or side
    return out


@_finite
def rising(x: Floats, n: int) -> Bools:
    """The last n steps from *bar* to bar were each above 1e-10; a step from or to na is none."""
    out, run = np.zeros(len(x), bool), 0
    for i, step in enumerate(np.diff(x, prepend=NA).tolist()):
        if math.isfinite(step):
            run = run + 1 if step > EPSILON else 0
        out[i] = run >= n
    return out


@_finite
def falling(x: Floats, n: int) -> Bools:
    """The last n steps from *bar* to bar were each below −1e-10; a step from or to na is none."""
    return rising(-x, n)


def barssince(condition: Bools) -> Floats:
    """Bars since the condition was last true, 0 where it is true; na until it first is."""
    out, since = _empty(condition), NA
    for i, true in enumerate(condition.tolist()):
        out[i] = since = 0.0 if true else since + 1
    return out


def valuewhen(condition: Bools, x: Floats, occurrence: int) -> Floats:
    """x on the occurrence-th most recent bar where the condition was true (0 = the latest).

    na until there were enough; an na x on a true bar is an occurrence like any other.
    """
    out = _empty(x)
    seen: list[float] = []
    for i, (true, value) in enumerate(zip(condition.tolist(), x.tolist(), strict=True)):
        if true:
            seen.append(value)
        if len(seen) > occurrence:
            out[i] = seen[-1 - occurrence]
    return out


@_finite
def pivot_high(x: Floats, left: int, right: int) -> Floats:
    """x of `right` bars ago, where it is ≥ the `left` bars before it and > the `right` after it.

    Given on the bar that confirms it, na elsewhere. Only the bars after the last na before it are
    compared; an na after it means no pivot.
    """
    out = _empty(x)
    for i in range(left + right, len(x)):
        value, middle = x[i - right], i - right
        before = x[middle - left : middle]
        gaps = np.flatnonzero(np.isnan(before))
        before = before[gaps[-1] + 1 :] if len(gaps) else before
        if np.all(value >= before) and np.all(value > x[middle + 1 : i + 1]):
            out[i] = value
    return out


@_finite
def pivot_low(x: Floats, left: int, right: int) -> Floats:
    """x of `right` bars ago, where it is ≤ the `left` bars before it and < the `right` after it.

    Its na rules are those of `pivot_high`.
    """
    return -pivot_high(-x, left, right)


@_finite
def rci(x: Floats, n: int) -> Floats:
    """100 × the correlation of age and rank in the last n bars: the newest and the largest are 0.

    Values less than EPSILON above the smallest of their group share its mean rank. From bar n on;
    equal values are na. An na bar repeats the last result. Pine keeps values in n + 1 slots and an
    na bar leaves its slot as it was, so there the window holds the value of n + 1 bars before.
    """
    out, slots, last = _empty(x), [0.0] * (min(n, len(x)) + 1), NA
    if n >= len(x):
        return out
    for i, value in enumerate(x.tolist()):
        if math.isfinite(value):
            slots[i % (n + 1)] = value
            if i >= n:
                last = _rank_correlation([slots[(i - age) % (n + 1)] for age in range(n)])
        out[i] = last
    return out


def _rank_correlation(newest_first: list[float]) -> float:
    n, order, rank_of, first = len(newest_first), sorted(newest_first), {}, 0
    while first < n:
        group = [value for value in order[first:] if value - order[first] < EPSILON]
        for value in group:
            rank_of[value] = n - 1 - (2 * first + len(group) - 1) / 2
        first += len(group)
    ages, ranks = range(n), [rank_of[value] for value in newest_first]
    mean = (n - 1) / 2  # of ages and of ranks
    product = math.fsum((age - mean) * (rank - mean) for age, rank in zip(ages, ranks, strict=True))
    spreads = [math.fsum((place - mean) ** 2 for place in places) for places in (ages, ranks)]
    return _ratio(100 * product, math.sqrt(spreads[0] * spreads[1]))


@_finite
def period_prices(
    anchor: Bools, open: Floats, high: Floats, low: Floats, close: Floats, developing: bool
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """High, low, open and close of the period that ended last, and the open of the one after it.

    A period goes from an anchor bar to the bar before the next; the first starts at bar 0. While
    it develops, the prices are those of the running period and of the current bar's close. The
    extremes ignore na.
    """
    top, bottom, first, last, now = (_empty(close) for _ in range(5))
    begin, ended = 0, slice(0, 0)
    for i in range(len(close)):
        if anchor[i] and i > 0:
            begin, ended = i, slice(begin, i)
        period = slice(begin, i + 1) if developing else ended
        if period.stop:
            top[i] = max((v for v in high[period] if not math.isnan(v)), default=NA)
            bottom[i] = min((v for v in low[period] if not math.isnan(v)), default=NA)
            first[i], last[i], now[i] = open[period.start], close[period.stop - 1], open[begin]
    return top, bottom, first, last, now


# ---------------------------------------------------------------------------- market structure


def _last_pivot(pivot: Floats, right: int) -> tuple[Floats, Floats]:
    """The last pivot so far and its bar."""
    level, bar = _empty(pivot), _empty(pivot)
    for i in range(len(pivot)):
        if not math.isnan(pivot[i]):
            level[i], bar[i] = pivot[i], i - right
        elif i:
            level[i], bar[i] = level[i - 1], bar[i - 1]
    return level, bar


@_finite
def swings(
    high: Floats, low: Floats, left: int, right: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """The last confirmed pivot high and its bar, the last pivot low and its bar; na before one."""
    top, bottom = pivot_high(high, left, right), pivot_low(low, left, right)
    return (*_last_pivot(top, right), *_last_pivot(bottom, right))


@_finite
def structure(
    high: Floats, low: Floats, close: Floats, left: int, right: int
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Event (±1 with the trend, ±2 against it), broken level, its bar, trend, sweep.

    A confirmed swing counts until a close beyond it. A bar that closes beyond a high and a low at
    once, which only an na between them allows, breaks neither. An na price breaks and sweeps
    nothing.
    """
    event, trend, sweep = (np.zeros(len(close)) for _ in range(3))
    level, bar = _empty(close), _empty(close)
    tops, bottoms = pivot_high(high, left, right), pivot_low(low, left, right)
    held: dict[int, tuple[float, float]] = {1: (NA, NA), -1: (NA, NA)}
    direction = 0
    for i in range(len(close)):
        for side, pivots in ((1, tops), (-1, bottoms)):
            if not math.isnan(pivots[i]):
                held[side] = pivots[i], i - right
        broken = [side for side in (1, -1) if side * close[i] > side * held[side][0]]
        wicks = {1: high[i], -1: low[i]}
        swept = [
            side for side in (1, -1) if side * wicks[side] > side * held[side][0] >= side * close[i]
        ]
        sweep[i] = 2 if len(swept) == 2 else swept[0] if swept else 0
        if len(broken) == 1:
            side = broken[0]
            event[i] = 2 * side if direction == -side else side
            level[i], bar[i] = held[side]
            held[side] = NA, NA
            direction = side
        trend[i] = direction
    return event, level, bar, trend, sweep


@_finite
def fvg(
    open: Floats, high: Floats, low: Floats, close: Floats, min_size: float, body: bool
) -> tuple[Floats, Floats, Floats]:
    """Side, top and bottom of a gap between bars i − 2 and i, on bar i; an na price means none."""
    side, top, bottom = np.zeros(len(close)), _empty(close), _empty(close)
    for i in range(2, len(close)):
        up, down = low[i] > high[i - 2], high[i] < low[i - 2]
        up &= low[i] - high[i - 2] >= min_size
        down &= low[i - 2] - high[i] >= min_size
        up &= not body or close[i - 1] > open[i - 1]
        down &= not body or close[i - 1] < open[i - 1]
        if up != down:
            side[i] = 1 if up else -1
            top[i], bottom[i] = (low[i], high[i - 2]) if up else (low[i - 2], high[i])
    return side, top, bottom


@_finite
def zone_life(
    high: Floats,
    low: Floats,
    close: Floats,
    side: Floats,
    top: Floats,
    bottom: Floats,
    max_age: int,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Bars on which a zone known on bar i was touched, half filled, filled, broken and dead.

    A zone without a side, with an na bound or upside down has no life; an na price reaches nothing.
    """
    touched, middle, filled, broken, dead = (_empty(close) for _ in range(5))
    for i in np.flatnonzero((side > 0) | (side < 0)):
        if not top[i] >= bottom[i]:
            continue
        bull = side[i] > 0
        near, far = (top[i], bottom[i]) if bull else (-bottom[i], -top[i])
        reach, last = (low, close) if bull else (-high, -close)
        for j in range(i + 1, len(close)):
            if j - i > max_age or (last[j] > near and broken[i] < j):
                dead[i] = j
                break
            if not math.isnan(broken[i]):
                continue
            for phase, reached in (
                (touched, reach[j] <= near),
                (middle, reach[j] <= near / 2 + far / 2),
                (filled, reach[j] <= far),
                (broken, last[j] < far),
            ):
                if reached and math.isnan(phase[i]):
                    phase[i] = j
    return touched, middle, filled, broken, dead


@_finite
def highest_between(x: Floats, first: Floats, last: Floats) -> tuple[Floats, Floats]:
    """The largest x from bar `first` to bar `last`, and its bar, the latest of equals.

    na where either is na, `last` is to come or before `first`; na among the values is ignored.
    """
    value, bar = _empty(x), _empty(x)
    for i in range(len(x)):
        if not (first[i] <= last[i] and 0 <= last[i] <= i):
            continue
        for j in range(max(math.ceil(first[i]), 0), math.floor(last[i]) + 1):
            if not math.isnan(x[j]) and not x[j] < value[i]:
                value[i], bar[i] = x[j], j
    return value, bar


@_finite
def lowest_between(x: Floats, first: Floats, last: Floats) -> tuple[Floats, Floats]:
    """The smallest x from bar `first` to bar `last`, by the rules of `highest_between`."""
    value, bar = highest_between(-x, first, last)
    return -value, bar


@_finite
def highest_since(condition: Bools, x: Floats) -> Floats:
    """The largest x since the condition was last true; na before, and na is passed over."""
    out = _empty(x)
    starts = np.flatnonzero(condition)
    for i in range(starts[0] if len(starts) else len(x), len(x)):
        since = x[starts[starts <= i][-1] : i + 1]
        out[i] = max((v for v in since if not math.isnan(v)), default=NA)
    return out


@_finite
def lowest_since(condition: Bools, x: Floats) -> Floats:
    """The smallest x since the condition was last true; na before, and na is passed over."""
    return -highest_since(condition, -x)


def first_true(condition: Bools, reset: Bools) -> Bools:
    """True where the condition is, for the first time since the last bar that resets."""
    out = np.zeros(len(condition), np.bool_)
    done = False
    for i in range(len(condition)):
        done = done and not reset[i]
        out[i] = condition[i] and not done
        done = done or bool(condition[i])
    return out


def runs(condition: Bools) -> tuple[Floats, Floats]:
    """First and last bar so far of the latest run of true bars; na before the first."""
    first, last = _empty(condition), _empty(condition)
    for i in range(len(condition)):
        if i:
            first[i], last[i] = first[i - 1], last[i - 1]
        if condition[i]:
            first[i] = first[i] if i and condition[i - 1] else i
            last[i] = i
    return first, last


# -------------------------------------------------------------------------------- arithmetic
#
# Value by value. What is infinite though no operand is becomes na.


def _without_infinity(result: Floats, *operands: Floats) -> Floats:
    finite = np.logical_and.reduce([np.isfinite(operand) for operand in operands])
    return np.where(np.isinf(result) & finite, NA, result)


def add(a: Floats, b: Floats) -> Floats:
    """a + b; na where either is."""
    return _without_infinity(a + b, *np.broadcast_arrays(a, b))


def sub(a: Floats, b: Floats) -> Floats:
    """a − b; na where either is."""
    return _without_infinity(a - b, *np.broadcast_arrays(a, b))


def mul(a: Floats, b: Floats) -> Floats:
    """a · b; na where either is."""
    return _without_infinity(a * b, *np.broadcast_arrays(a, b))


def div(a: Floats, b: Floats) -> Floats:
    """a / b; na where b is 0."""
    return _without_infinity(np.divide(a, b), *np.broadcast_arrays(a, b))


def sqrt(x: Floats) -> Floats:
    """Square root; na below zero."""
    return np.sqrt(x)


# ------------------------------------------------------------------------------- comparisons
#
# Value by value. Pine takes values for equal that are within EPSILON, the bound included. With na
# every comparison is false, `ne` as well.


def gt(a: Floats, b: Floats) -> Bools:
    """Above by more than EPSILON."""
    return a - b > EPSILON


def lt(a: Floats, b: Floats) -> Bools:
    """Below by more than EPSILON."""
    return gt(b, a)


def eq(a: Floats, b: Floats) -> Bools:
    """At most EPSILON apart; an infinity is equal to itself."""
    return np.equal(a, b) | (np.abs(a - b) <= EPSILON)


def ne(a: Floats, b: Floats) -> Bools:
    """More than EPSILON apart."""
    return np.abs(a - b) > EPSILON


def ge(a: Floats, b: Floats) -> Bools:
    """Above or equal."""
    return gt(a, b) | eq(a, b)


def le(a: Floats, b: Floats) -> Bools:
    """Below or equal."""
    return lt(a, b) | eq(a, b)
