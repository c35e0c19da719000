"""What every kernel computes, written to be read: a short function each, one series at a time.

The oracle of the test suite, and what runs where no C kernels were built. `na` is NaN. Unless a
function says otherwise, **a bar where an input is na yields na and leaves the state alone**: the
window is the last n bars that were present, and a recursion carries on from the last one. A
division by zero is na. A window of equal values has a deviation of exactly zero.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

NA = math.nan
EPSILON = 1e-10  # Pine's tolerance in comparisons


def _empty(like: NDArray[Any]) -> Floats:
    return np.full(len(like), NA)


def _bars(*series: Floats) -> Iterator[tuple[int, tuple[float, ...]]]:
    """The bars where every series is present, with their values."""
    for i, values in enumerate(zip(*(s.tolist() for s in series), strict=True)):
        if not any(map(math.isnan, values)):
            yield i, values


def _rolling(n: int, rule: Callable[..., float], *series: Floats) -> Floats:
    """`rule` of the last n present values of each series, from the n-th present bar on."""
    out = _empty(series[0])
    present = list(_bars(*series))
    columns = [[values[k] for _, values in present] for k in range(len(series))]
    for last in range(n - 1, len(present)):
        out[present[last][0]] = rule(*(c[last - n + 1 : last + 1] for c in columns))
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
    """`rule` of the values of each bar; na where one of them is."""
    out = _empty(series[0])
    for i, values in _bars(*series):
        out[i] = rule(*values)
    return out


# -------------------------------------------------------------------------- prices and steps


def hl2(high: Floats, low: Floats) -> Floats:
    """(high + low) / 2; na where either is."""
    return _each(lambda h, low_: (h + low_) / 2, high, low)


def hlc3(high: Floats, low: Floats, close: Floats) -> Floats:
    """(high + low + close) / 3; na where one is."""
    return _each(lambda h, low_, c: (h + low_ + c) / 3, high, low, close)


def hlcc4(high: Floats, low: Floats, close: Floats) -> Floats:
    """(high + low + 2 · close) / 4; na where one is."""
    return ohlc4(high, low, close, close)


def ohlc4(open: Floats, high: Floats, low: Floats, close: Floats) -> Floats:
    """(open + high + low + close) / 4; na where one is."""
    return _each(lambda o, h, low_, c: (o + h + low_ + c) / 4, open, high, low, close)


def _before(x: Floats, n: int) -> Floats:
    """The series as it stood n bars ago."""
    return np.concatenate((np.full(min(n, len(x)), NA), x[:-n]))


def change(x: Floats, n: int) -> Floats:
    """x − xₙ, n *bars* ago; na where either is."""
    return _each(lambda now, then: now - then, x, _before(x, n))


mom = change


def roc(x: Floats, n: int) -> Floats:
    """100 · (x − xₙ) / xₙ, n *bars* ago; na where either is, and where xₙ is 0."""
    return _each(lambda now, then: _ratio(100 * (now - then), then), x, _before(x, n))


# ---------------------------------------------------------------------------- moving windows


def sum(x: Floats, n: int) -> Floats:
    """Sum of the last n present values; an na bar is na and does not enter the window."""
    return _rolling(n, _sum, x)


def sma(x: Floats, n: int) -> Floats:
    """Mean of the last n present values; an na bar is na and does not enter the window."""
    return _rolling(n, _mean, x)


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


def alma(x: Floats, n: int, offset: float, sigma: float) -> Floats:
    """Gaussian mean of the last n *bars*, centred at offset·(n−1) with width n/sigma.

    An na anywhere in the window makes it na.
    """
    out = _empty(x)
    if n > len(x):
        return out
    centre, width = offset * (n - 1), n / sigma
    weights = [math.exp(-((k - centre) ** 2) / (2 * width * width)) for k in range(n)]
    for i in range(n - 1, len(x)):
        window = x[i - n + 1 : i + 1].tolist()
        total = _sum([w * v for w, v in zip(weights, window, strict=True)])
        out[i] = _ratio(total, _sum(weights))
    return out


def swma(x: Floats) -> Floats:
    """(x + 2x₁ + 2x₂ + x₃) / 6 over the last four *bars*; an na in the window makes it na."""
    out = _empty(x)
    for i in range(3, len(x)):
        d, c, b, a = x[i - 3 : i + 1].tolist()
        out[i] = (a + 2 * b + 2 * c + d) / 6
    return out


def vwma(x: Floats, volume: Floats, n: int) -> Floats:
    """Σx·v / Σv over the last n bars where both are present; Σv = 0 is na."""
    return _rolling(
        n, lambda p, v: _ratio(_sum([a * b for a, b in zip(p, v, strict=True)]), _sum(v)), x, volume
    )


def _variance(window: list[float], biased: bool) -> float:
    mean = _mean(window)
    freedom = len(window) - (not biased)
    spread = _sum([(v - mean) * (v - mean) for v in window])
    return _ratio(spread, freedom) if spread < math.inf else NA


def variance(x: Floats, n: int, biased: bool) -> Floats:
    """Mean squared distance from the mean of the last n present values, in two passes.

    Divided by n when biased, else by n − 1 (n = 1 is na). An na bar is na.
    """
    return _rolling(n, lambda w: _variance(w, biased), x)


def stdev(x: Floats, n: int, biased: bool) -> Floats:
    """Square root of `variance`, with its rules."""
    return _rolling(n, lambda w: math.sqrt(_variance(w, biased)), x)


def bb(x: Floats, n: int, mult: float) -> tuple[Floats, Floats, Floats]:
    """Middle = sma, upper and lower = middle ± mult · biased stdev; an na bar is na in all."""
    middle, reach = sma(x, n), mult * stdev(x, n, True)
    return middle, middle + reach, middle - reach


def _dev(window: list[float]) -> float:
    mean = _mean(window)
    return _sum([abs(v - mean) for v in window]) / len(window)


def dev(x: Floats, n: int) -> Floats:
    """Mean absolute distance from the mean of the last n present values; an na bar is na."""
    return _rolling(n, _dev, x)


def cci(x: Floats, n: int) -> Floats:
    """(x − mean) / (0.015 · dev) over the last n present values; dev = 0 (all equal) is na."""
    return _rolling(n, lambda w: _ratio(w[-1] - _mean(w), 0.015 * _dev(w)), x)


def cmo(x: Floats, n: int) -> Floats:
    """100 · (ups − downs) / (ups + downs) over the last n steps between present values.

    A step counts as down when it is below −1e-10, else as up; 0/0 is na. An na bar is na, and the
    step after it is taken from the last present value.
    """

    def rule(w: list[float]) -> float:
        steps = [b - a for a, b in pairwise(w)]
        ups = _sum([s for s in steps if s >= -EPSILON])
        downs = _sum([-s for s in steps if s < -EPSILON])
        return _ratio(100 * (ups - downs), ups + downs)

    return _rolling(n + 1, rule, x)


def cog(x: Floats, n: int) -> Floats:
    """−Σ(i+1)·xᵢ / Σxᵢ over the last n present values, i = 0 the newest; Σ = 0 is na."""

    def rule(w: list[float]) -> float:
        return -_ratio(_sum([k * v for k, v in enumerate(reversed(w), 1)]), _sum(w))

    return _rolling(n, rule, x)


def _extreme(x: Floats, n: int, pick: Callable[[list[float]], float], place: bool) -> Floats:
    out = _empty(x)
    for i in range(n - 1, len(x)):
        window = x[i - n + 1 : i + 1].tolist()
        present = [v for v in window if not math.isnan(v)]
        if present:
            best = pick(present)
            out[i] = window.index(best) - (n - 1) if place else best
    return out


def highest(x: Floats, n: int) -> Floats:
    """Largest of the last n *bars*, na ignored (an na bar still has a value); all na is na."""
    return _extreme(x, n, max, False)


def lowest(x: Floats, n: int) -> Floats:
    """Smallest of the last n *bars*, na ignored (an na bar still has a value); all na is na."""
    return _extreme(x, n, min, False)


def highestbars(x: Floats, n: int) -> Floats:
    """Offset (≤ 0) to the bar of `highest`, the oldest of equals; all na is na."""
    return _extreme(x, n, max, True)


def lowestbars(x: Floats, n: int) -> Floats:
    """Offset (≤ 0) to the bar of `lowest`, the oldest of equals; all na is na."""
    return _extreme(x, n, min, True)


def median(x: Floats, n: int) -> Floats:
    """Middle value of the last n present values, the mean of the middle two when n is even."""

    def rule(w: list[float]) -> float:
        ordered = sorted(w)
        return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2

    return _rolling(n, rule, x)


def mode(x: Floats, n: int) -> Floats:
    """Most frequent of the last n present values, the smallest of equally frequent ones."""

    def rule(w: list[float]) -> float:
        counts = Counter(w)
        most = max(counts.values())
        return min(v for v, count in counts.items() if count == most)

    return _rolling(n, rule, x)


def percentrank(x: Floats, n: int) -> Floats:
    """Percentage of the n present values before that are ≤ the current; an na bar is na."""
    return _rolling(n + 1, lambda w: 100 * bisect_right(sorted(w[:-1]), w[-1]) / n, x)


def percentile_linear_interpolation(x: Floats, n: int, percentage: float) -> Floats:
    """Hazen's percentile of the last n present values: rank n·p/100 + 0.5, held within 1..n."""

    def rule(w: list[float]) -> float:
        ordered = sorted(w)
        rank = min(max(n * percentage / 100 + 0.5, 1.0), float(n))
        below = int(rank)
        if below == n:
            return ordered[-1]
        low, high = ordered[below - 1], ordered[below]
        return low + (rank - below) * (high - low)

    return _rolling(n, rule, x)


def percentile_nearest_rank(x: Floats, n: int, percentage: float) -> Floats:
    """The ⌈n·p/100⌉-th smallest of the last n present values (the smallest for p = 0)."""
    rank = max(math.ceil(n * percentage / 100), 1)
    return _rolling(n, lambda w: sorted(w)[rank - 1], x)


def linreg(x: Floats, n: int, offset: int) -> Floats:
    """Least-squares line through the last n present values, read `offset` bars before its end.

    n = 1 is the value itself. An na bar is na.
    """

    def rule(w: list[float]) -> float:
        if n == 1:
            return w[0]
        mean, centre = _mean(w), (n - 1) / 2
        slope = _sum([(k - centre) * (v - mean) for k, v in enumerate(w)]) / (n * (n * n - 1) / 12)
        return mean + slope * (n - 1 - offset - centre)

    return _rolling(n, rule, x)


def correlation(a: Floats, b: Floats, n: int) -> Floats:
    """Pearson's correlation of the last n bars where both are present, held within ±1.

    A window in which either series is constant is na, and so is n = 1.
    """

    def rule(p: list[float], q: list[float]) -> float:
        p_mean, q_mean = _mean(p), _mean(q)
        p, q = [v - p_mean for v in p], [v - q_mean for v in q]
        scale = math.sqrt(_sum([v * v for v in p])) * math.sqrt(_sum([v * v for v in q]))
        value = _ratio(_sum([u * v for u, v in zip(p, q, strict=True)]), scale)
        return math.nan if math.isnan(value) else min(max(value, -1.0), 1.0)

    return _rolling(n, rule, a, b)


def stoch(x: Floats, high: Floats, low: Floats, n: int) -> Floats:
    """100 · (x − lowest(low)) / (highest(high) − lowest(low)), not clamped; a zero range is na.

    A bar where any of the three is na is na; the windows are those of `highest` and `lowest`.
    """
    out = _empty(x)
    top, bottom = highest(high, n), lowest(low, n)
    for i, (value, _, _, hh, ll) in _bars(x, high, low, top, bottom):
        out[i] = _ratio(100 * (value - ll), hh - ll)
    return out


def mfi(x: Floats, volume: Floats, n: int) -> Floats:
    """100 − 100 / (1 + inflow / outflow) over the last n bars where both are present.

    A bar's flow x·volume is inflow when x rose by more than 1e-10 since the present bar before,
    outflow when it fell by more; the first bar's flow is both. No outflow is 100.
    """
    out = _empty(x)
    inflow: list[float] = []
    outflow: list[float] = []
    before = NA
    for i, (value, v) in _bars(x, volume):
        inflow.append(0.0 if value - before <= EPSILON else value * v)
        outflow.append(0.0 if value - before >= -EPSILON else value * v)
        before = value
        if len(inflow) >= n:
            upper, lower = _sum(inflow[-n:]), _sum(outflow[-n:])
            out[i] = 100.0 if lower == 0 else 100 - _ratio(100, 1 + upper / lower)
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
        else:
            self.value = self.step(self.value, x)
        return self.value


def _ema(n: int) -> _Average:
    alpha = 2 / (n + 1)
    return _Average(n, (lambda p, x: p + alpha * (x - p)) if n > 1 else (lambda _, x: x))


def _rma(n: int) -> _Average:
    return _Average(n, lambda p, x: (p * (n - 1) + x) / n)


def _recursive(average: _Average, x: Floats) -> Floats:
    out = _empty(x)
    for i, (value,) in _bars(x):
        out[i] = average.add(value)
    return out


def ema(x: Floats, n: int) -> Floats:
    """p + 2/(n+1) · (x − p), seeded with the mean of the first n present values; n = 1 is x.

    An na bar is na and does not move p.
    """
    return _recursive(_ema(n), x)


def rma(x: Floats, n: int) -> Floats:
    """(p·(n−1) + x) / n, seeded with the mean of the first n present values; n = 1 is x.

    An na bar is na and does not move p.
    """
    return _recursive(_rma(n), x)


def rsi(x: Floats, n: int) -> Floats:
    """100 − 100 / (1 + rma of rises / rma of falls); no falls is 100. First value at the n-th step.

    An na bar is na, and the step after it is taken from the last present value.
    """
    out = _empty(x)
    rises, falls, before = _rma(n), _rma(n), NA
    for i, (value,) in _bars(x):
        if not math.isnan(before):
            up, down = rises.add(max(value - before, 0.0)), falls.add(max(before - value, 0.0))
            out[i] = 100.0 if down == 0 else 100 - 100 / (1 + up / down)
        before = value
    return out


def macd(x: Floats, fast: int, slow: int, signal: int) -> tuple[Floats, Floats, Floats]:
    """Line = ema(fast) − ema(slow), signal = ema of the line, histogram = line − signal.

    The signal is seeded with the line's first values. An na bar is na in all three.
    """
    line = ema(x, fast) - ema(x, slow)
    smooth = ema(line, signal)
    return line, smooth, line - smooth


def tsi(x: Floats, short: int, long: int) -> Floats:
    """ema(ema(step, long), short) over the same of |step|; 0 below is na.

    A step to or from an na bar is na, and the averages pass it over.
    """
    step = change(x, 1)
    above = ema(ema(step, long), short)
    below = ema(ema(np.abs(step), long), short)
    return _each(_ratio, above, below)


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


def atr(high: Floats, low: Floats, close: Floats, n: int) -> Floats:
    """rma of tr(handle_na=True): first value at bar n − 1; a bar without high or low is na."""
    return rma(tr(high, low, close, True), n)


def kc(
    x: Floats, high: Floats, low: Floats, close: Floats, n: int, mult: float, use_tr: bool
) -> tuple[Floats, Floats, Floats]:
    """Middle = ema of x, upper and lower = middle ± mult · ema of the range.

    The range is tr(handle_na=False), or high − low without use_tr.
    """
    middle = ema(x, n)
    reach = mult * ema(tr(high, low, close, False) if use_tr else high - low, n)
    return middle, middle + reach, middle - reach


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


def sar(high: Floats, low: Floats, close: Floats, start: float, inc: float, limit: float) -> Floats:
    """Parabolic stop and reverse, from the second present bar on.

    It starts long from the first low unless the first high is above the second, else short from the
    first high. It never passes the last two lows (highs), and on a reversal restarts from the
    extreme, held outside the current bar too. A bar where high or low is na is na; close (Pine's
    argument) decides nothing.
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
            if low_ <= value if long else h >= value:
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


def vwap(x: Floats, volume: Floats, anchor: Bools, mult: float) -> tuple[Floats, Floats, Floats]:
    """Σx·v / Σv since the last anchor, and that ± mult · the volume-weighted stdev.

    na before the first anchor and while Σv = 0. A bar where x or volume is na is na and adds
    nothing, but an anchor on it still starts afresh.
    """
    middle, upper, lower = _empty(x), _empty(x), _empty(x)
    flow = weight = mean = spread = NA
    for i, (value, v, fresh) in enumerate(
        zip(x.tolist(), volume.tolist(), anchor.tolist(), strict=True)
    ):
        if fresh:
            flow = weight = mean = spread = 0.0
        if math.isnan(value) or math.isnan(v):
            continue
        if weight == 0:  # measured from the first price, flat prices have no spread at all
            mean = value
        flow, weight = flow + value * v, weight + v
        if math.isnan(weight) or weight == 0:
            continue
        step = value - mean
        mean += step * v / weight
        spread += v * step * (value - mean)
        reach = mult * math.sqrt(max(spread / weight, 0.0))
        middle[i] = flow / weight
        upper[i], lower[i] = middle[i] + reach, middle[i] - reach
    return middle, upper, lower


def cum(x: Floats) -> Floats:
    """Sum of all present values so far; an na bar is na and adds nothing."""
    out, total = _empty(x), 0.0
    for i, (value,) in _bars(x):
        out[i] = total = total + value
    return out


def cummax(x: Floats) -> Floats:
    """Largest value so far, na ignored (an na bar still has a value); na before the first."""
    return np.fmax.accumulate(x)


def cummin(x: Floats) -> Floats:
    """Smallest value so far, na ignored (an na bar still has a value); na before the first."""
    return np.fmin.accumulate(x)


def _steps(*series: Floats) -> Iterator[tuple[int, tuple[float, ...], tuple[float, ...] | None]]:
    """Present bars with the bar before, which is None on bar 0 and where it was na."""
    last, before = -2, None
    for i, values in _bars(*series):
        yield i, values, before if last == i - 1 else None
        last, before = i, values


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


def accdist(high: Floats, low: Floats, close: Floats, volume: Floats) -> Floats:
    """Sum of ((close − low) − (high − close)) / (high − low) · volume; high = low adds nothing.

    A bar where an input is na is na and adds nothing.
    """
    out, total = _empty(close), 0.0
    for i, (h, low_, c, v) in _bars(high, low, close, volume):
        if h != low_:
            total += ((c - low_) - (h - c)) / (h - low_) * v
        out[i] = total
    return out


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
    out, value = _empty(close), 1.0
    for i, (c, v), before in _steps(close, volume):
        if before and c and before[0] and (v > before[1] if rising else v < before[1]):
            value += (c - before[0]) / before[0] * value
        out[i] = value
    return out


def pvi(close: Floats, volume: Floats) -> Floats:
    """1, multiplied by close / close₁ on bars with more volume than the *bar* before.

    A bar where an input is na is na; on bar 0, after an na bar and around a zero close it holds.
    """
    return _volume_index(close, volume, True)


def nvi(close: Floats, volume: Floats) -> Floats:
    """1, multiplied by close / close₁ on bars with less volume than the *bar* before.

    A bar where an input is na is na; on bar 0, after an na bar and around a zero close it holds.
    """
    return _volume_index(close, volume, False)


def wad(high: Floats, low: Floats, close: Floats) -> Floats:
    """Sum of close − min(low, close₁) on up closes and close − max(high, close₁) on down closes.

    A bar where an input is na is na; on bar 0 and after an na bar it holds.
    """
    out, total = _empty(close), 0.0
    for i, (h, low_, c), before in _steps(high, low, close):
        if before and c > before[2]:
            total += c - min(low_, before[2])
        elif before and c < before[2]:
            total += c - max(h, before[2])
        out[i] = total
    return out


# ------------------------------------------------------------------------------------ events


def crossover(a: Floats, b: Floats) -> Bools:
    """a > b now, and a ≤ b on the last bar where both were present. Never na."""
    out, below = np.zeros(len(a), bool), False
    for i, (p, q) in _bars(a, b):
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
    for i, (p, q) in _bars(a, b):
        now = (p > q) - (p < q)
        out[i] = now * side < 0
        side = now or side
    return out


def rising(x: Floats, n: int) -> Bools:
    """The last n steps between present values were each above 1e-10. An na bar is false."""
    out, run, before = np.zeros(len(x), bool), 0, NA
    for i, (value,) in _bars(x):
        run = run + 1 if value - before > EPSILON else 0
        out[i], before = run >= n, value
    return out


def falling(x: Floats, n: int) -> Bools:
    """The last n steps between present values were each below −1e-10. An na bar is false."""
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


def pivot_high(x: Floats, left: int, right: int) -> Floats:
    """x of `right` bars ago, where it is ≥ the `left` bars before it and > the `right` after it.

    Given on the bar that confirms it, na elsewhere; an na among those bars means no pivot.
    """
    out = _empty(x)
    for i in range(left + right, len(x)):
        value, middle = x[i - right], i - right
        if np.all(value >= x[middle - left : middle]) and np.all(value > x[middle + 1 : i + 1]):
            out[i] = value
    return out


def pivot_low(x: Floats, left: int, right: int) -> Floats:
    """x of `right` bars ago, where it is ≤ the `left` bars before it and < the `right` after it.

    Given on the bar that confirms it, na elsewhere; an na among those bars means no pivot.
    """
    return -pivot_high(-x, left, right)


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
