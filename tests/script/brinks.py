"""Bars on a brink: a hair one way or the other, and something else is drawn.

Each is made in two steps. A market is drawn by hand so that what is drawn hangs on one comparison
alone; then one figure of one bar is moved until the two sides of that comparison are equal by
Pine's rule. The bars of that tie, and of the nearest floats beyond its bounds, tell `<` from `<=`,
and a threshold from every other.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chartpact import ta
from chartpact.bars import Bars
from chartpact.indicators.kalman import kalman_volume
from chartpact.indicators.wavetrend import waves

Floats = NDArray[np.float64]

CHANNEL = 9  # bars of the WaveTrend channel; with an average of one bar the wave is drawn freely
FIRST = 2 * CHANNEL - 1  # the first bar whose wave can be chosen
ULPS = 1 << 24
EQUAL = 1e-10  # the largest difference of equal values


@dataclass(frozen=True)
class Comparison:
    """The difference of two sides, of which scripts ask whether it is above, below or at 0."""

    of: Callable[..., float]
    where: tuple[Any, ...]

    def __call__(self, bars: Bars) -> float:
        return float(self.of(bars, *self.where))

    def __str__(self) -> str:
        return f"{self.of.__name__}{self.where}"


def comparison(of: Callable[..., float]) -> Callable[..., Comparison]:
    return lambda *where: Comparison(of, where)


@dataclass(frozen=True)
class Brink:
    """What hangs on one comparison: signals of a name, or the colours of a plot.

    `column` of `bar` is what is moved until it is a tie.
    """

    indicator: str
    hangs: str
    weigh: Comparison
    bars: Bars
    bar: int
    column: str = "low"
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.hangs}: {self.weigh}"

    @cached_property
    def sides(self) -> tuple[Bars, Bars, Bars]:
        """The bars just below the tie, on it, and just above."""
        return _Ulps(self, self._crossing()).around()

    def moved(self, value: float) -> Bars:
        """The bars with the figure at `value`."""
        figures = getattr(self.bars, self.column).copy()
        figures[self.bar] = value
        return replace(self.bars, **{self.column: figures})

    def _crossing(self) -> float:
        """A figure next to which the comparison turns."""
        start = float(getattr(self.bars, self.column)[self.bar])
        before = self.weigh(self.bars)
        reach = 2.0**-7
        while reach < max(8, start):
            for far in (start + reach, start - reach):
                if before * self.weigh(self.moved(far)) <= 0:
                    return self._halved(start, far, before)
            reach *= 1.25
        raise AssertionError(f"{self}: nothing turns")

    def _halved(self, near: float, far: float, before: float) -> float:
        while (middle := (near + far) / 2) not in (near, far):
            if before * self.weigh(self.moved(middle)) > 0:
                near = middle
            else:
                far = middle
        return far


@dataclass(frozen=True)
class _Ulps:
    """The floats around a figure, by their number of ulps from it."""

    brink: Brink
    figure: float

    def bars(self, ulps: int) -> Bars:
        return self.brink.moved(self.figure + ulps * np.spacing(max(1, abs(self.figure))))

    def weight(self, ulps: int) -> float:
        return self.brink.weigh(self.bars(ulps))

    def around(self) -> tuple[Bars, Bars, Bars]:
        """The nearest bars on either side of a tie, and those of a tie between them."""
        sign = 1 if self.weight(-ULPS) < self.weight(ULPS) else -1
        before, first = self._turn(lambda weight: sign * weight < -EQUAL)
        last, after = self._turn(lambda weight: sign * weight <= EQUAL)
        below, above = (before, after) if sign > 0 else (after, before)
        return self.bars(below), self.bars((first + last) // 2), self.bars(above)

    def _turn(self, holds: Callable[[float], bool]) -> tuple[int, int]:
        """Neighbours: on the first it holds of the weight, on the second no more."""
        first, last = -ULPS, ULPS
        while last - first > 1:
            middle = (first + last) // 2
            if holds(self.weight(middle)):
                first = middle
            else:
                last = middle
        return first, last


# ------------------------------------------------------------------------------- drawing a market


def through(*knots: tuple[int, float]) -> Floats:
    """A line from 0 through values, each so many bars after the one before."""
    values = [0.0]
    for bars, value in knots:
        values += np.linspace(values[-1], value, bars + 1)[1:].tolist()
    return np.array(values[1:])


def price_of(wave: Floats) -> Floats:
    """The typical prices whose WaveTrend goes this way, after a market that moves sideways."""
    alpha = 2 / (CHANNEL + 1)
    prices = [(-1.0) ** i for i in range(FIRST)]
    centre = sum(prices[:CHANNEL]) / CHANNEL
    distances = [abs(prices[CHANNEL - 1] - centre)]
    for price in prices[CHANNEL:]:
        centre += alpha * (price - centre)
        distances.append(abs(price - centre))
    reach = sum(distances) / CHANNEL
    for height in wave.tolist():
        share = 0.015 * height
        distance = share * (1 - alpha) * reach / (1 - abs(share) * alpha)
        reach += alpha * (abs(distance) - reach)
        prices.append(centre + distance / (1 - alpha))
        centre = prices[-1] - distance
    return np.array(prices)


def bars_of(price: Floats, close: Floats | None = None, wick: float | Floats = 8) -> Bars:
    """Bars with these typical prices, and with these closes between long wicks."""
    close = price if close is None else close
    low, high = price - wick, 2 * price + wick - close
    time = 1_700_000_100_000 + 300_000 * np.arange(len(price))
    return Bars(time, close, high, low, close, np.full(len(price), 100.0), "TEST", "5m")


def two_bottoms(
    first: float,
    second: float,
    rim: float,
    end: float | None = None,
    swing: float = 0,
    wick: float = 1,
    bent: Mapping[int, float] = MappingProxyType({}),
) -> Bars:
    """A slow wave with bottoms on bars 27 and 37; where they are positive, with tops.

    Between them the wave goes to `rim`, at last to `end`; `bent` changes the fast wave on some
    bars. The wick of the second is longer, so that the price has gone further there. With a
    `swing` the closes leave the waves alone: they go up and down beside a trend, as the RSI likes.
    """
    end = rim if end is None else end
    deep = (3 * first - rim / 5) / 2.7
    deep_again = (3 * second - rim / 5 - end / 4) / 2.55
    wave = through((10, deep), (5, rim), (5, deep_again), (4, end))
    for bar, height in bent.items():
        wave[bar - FIRST] = height
    price = price_of(wave)
    wicks = np.full(len(price), 9.0 if swing else 3.0)
    wicks[37] += wick
    bar = np.arange(len(price))
    trend = np.where(bar < FIRST, np.sign(first) * (bar - FIRST) / 10, price)
    return bars_of(price, trend - swing * (-1.0) ** bar if swing else None, wicks)


def as_far(first: float, second: float, rim: float, column: str) -> Bars:
    """Two bottoms where the price goes almost as far as before."""
    prices = getattr(two_bottoms(first, second, rim, wick=0), column)
    return two_bottoms(first, second, rim, wick=0.001 - abs(prices[37] - prices[27]))


def turn(low: float) -> Bars:
    """A wave that falls to `low` and crosses on bar 27, or rises to it."""
    side = np.sign(low)
    return bars_of(price_of(through((10, low), (1, low - 12 * side), (2, low - 30 * side))), wick=1)


def tired(side: int, steep: float, calm: int = 24, bounce: float = 0) -> Bars:
    """A trend of closes after calm, and waves that cross on bar 33; side 1 is up, -1 down.

    With a bounce the closes swing all the time, and at the cross against the trend.
    """
    price = price_of(side * through((16, 80), (1, 40), (2, 20)))
    bar = np.arange(len(price))
    swing = 0.3 * (-1.0) ** bar * ((bar <= calm) | (bounce > 0))
    close = 20 + side * (steep * np.maximum(bar - calm, 0) - swing - bounce * (bar >= 33))
    return bars_of(20 + price, close, 40)


def vee(side: int, bars: int = 40) -> Bars:
    """Closes that go one way for 25 bars and then the other; side 1 ends up, -1 down."""
    close = 50 + side * np.abs(np.arange(bars) - 25.0)
    return bars_of(close, close, 1.5)


def bodies(share: float, last: float) -> Bars:
    """Bars of one size, 61 of them with a body that is this share of it, and one of another."""
    shares = np.append(np.full(61, share), last)
    flat = bars_of(np.full(62, 16.0), wick=4)
    return replace(flat, open=16 - shares * (flat.high - flat.low))


def crowd(bars: int, loud: float | None = None) -> Bars:
    """Closes that wander, under volumes of very different sizes; that of bar 230 may be `loud`."""
    rng = np.random.default_rng(6)
    market = bars_of(100 + np.cumsum(rng.normal(size=bars)))
    volume = np.round(rng.lognormal(5, 1, bars))
    volume[230] = volume[230] if loud is None else loud
    return replace(market, volume=volume)


# ---------------------------------------------------------------------------------- comparisons


@comparison
def fast_and_slow(bars: Bars, bar: int) -> float:
    found = waves(bars, CHANNEL, 1)
    return found.wt1[bar] - found.wt2[bar]


@comparison
def slow(bars: Bars, bar: int, level: float) -> float:
    return waves(bars, CHANNEL, 1).wt2[bar] - level


@comparison
def slow_and_slow(bars: Bars, bar: int, other: int, level: float = 0) -> float:
    wt2 = waves(bars, CHANNEL, 1).wt2
    return wt2[bar] - wt2[other] - level


@comparison
def rsi(bars: Bars, bar: int, level: float) -> float:
    return ta.rsi(bars.close, 14)[bar] - level


@comparison
def stoch_rsi(bars: Bars, bar: int, level: float) -> float:
    of = ta.rsi(np.log(bars.close), 14)
    return ta.sma(ta.stoch(of, of, of, 14), 3)[bar] - level


@comparison
def mfi(bars: Bars, bar: int, level: float) -> float:
    return ta.mfi(bars.hlc3, bars.volume, 14)[bar] - level


@comparison
def stoch(bars: Bars, bar: int, level: float) -> float:
    return ta.stoch(bars.close, bars.high, bars.low, 14)[bar] - level


@comparison
def k_and_d(bars: Bars, bar: int) -> float:
    k = ta.stoch(bars.close, bars.high, bars.low, 14)
    return k[bar] - ta.sma(k, 3)[bar]


@comparison
def price(bars: Bars, column: str, bar: int, other: int) -> float:
    prices = getattr(bars, column)
    return prices[bar] - prices[other]


def _flow(bars: Bars) -> Floats:
    body = (bars.close - bars.open) / (bars.high - bars.low) * 150
    return ta.sma(body, 60) - 2.5


@comparison
def flow(bars: Bars, bar: int) -> float:
    return _flow(bars)[bar]


def _filtered(bars: Bars, title: str) -> Floats:
    scene = kalman_volume.compute(bars, LIVELY)
    return next(plot.values for plot in scene.plots if plot.title == title)


@comparison
def kvf(bars: Bars, bar: int, level: float) -> float:
    return _filtered(bars, "KVF")[bar] - level


@comparison
def kvf_and_signal(bars: Bars, bar: int) -> float:
    return _filtered(bars, "KVF")[bar] - _filtered(bars, "Signal")[bar]


@comparison
def tenth(bars: Bars, bar: int, level: float) -> float:
    """The volume of a bar, in tens of standard deviations."""
    return bars.volume[bar] / ta.stdev(bars.volume, 200)[bar] / 10 - level


# ------------------------------------------------------------------------------------- the table

QUICK = {"wt_average_length": 1}
BIG = {"wt_oversold": 1000, "wt_overbought": -1000}  # every cross is a big one
SMALL = {"wt_oversold": -1000, "wt_overbought": 1000}
LIVELY = {"vzo_length": 9, "k": 1.0, "sig_length": 3}  # a filter that follows every bar
ZIGZAG = {34: -95, 35: -70, 36: -50, 37: -100, 38: -60, 39: -50, 40: -40}


def _divergences() -> Iterator[Brink]:
    cipher = partial(Brink, "cipher_b", params=QUICK)
    gold = partial(cipher, "gold_buy")
    yield gold(slow(27, -75), two_bottoms(-75, -70, -50, swing=0.1), 27)
    yield gold(slow(39, -75), two_bottoms(-92, -80, -50, -66, swing=0.1), 39)
    yield gold(slow_and_slow(27, 39, -5), two_bottoms(-76, -74, -55, -65, swing=0.1), 39)
    yield gold(rsi(37, 30), two_bottoms(-90, -70, -50, swing=0.2), 37, "close")

    yield cipher("wt_bull_div", slow(37, -65), two_bottoms(-90, -65, -50), 37)
    yield cipher("any_bull_div", slow(37, -40), two_bottoms(-60, -40, -30), 37)
    yield cipher("wt_bear_div", slow(37, 45), two_bottoms(90, 45, 20), 37)
    yield cipher("any_bear_div", slow(37, 15), two_bottoms(40, 15, 8), 37)

    bull, bear = partial(cipher, "any_bull_div"), partial(cipher, "any_bear_div")
    yield bull(slow_and_slow(37, 27), two_bottoms(-75, -75, -50), 37)
    yield bear(slow_and_slow(37, 27), two_bottoms(75, 75, 50), 37)
    yield bull(price("low", 37, 27), as_far(-90, -75, -50, "low"), 37)
    yield bear(price("high", 37, 27), as_far(90, 75, 50, "high"), 37, "high")

    # the four neighbours of a fractal's centre
    yield bull(slow_and_slow(37, 35), two_bottoms(-90, -75, -50, bent=ZIGZAG), 34)
    yield bull(slow_and_slow(37, 36), two_bottoms(-90, -75, -50), 37)
    yield bull(slow_and_slow(37, 38), two_bottoms(-90, -75, -50), 38)
    yield bull(slow_and_slow(37, 39), two_bottoms(-90, -75, -50, bent={**ZIGZAG, 34: -80}), 39)


def _crosses() -> Iterator[Brink]:
    up = (("cipher_b", "buy"), ("wavetrend", "cross_up_os"))
    down = (("cipher_b", "sell"), ("wavetrend", "cross_down_ob"))
    params = {"cipher_b": {**QUICK, "dot_mode": "classic"}, "wavetrend": {"avg_len": 1}}
    for side, drawn in ((-1, up), (1, down)):
        for indicator, signal in drawn:
            cross = partial(Brink, indicator, signal, params=params[indicator])
            yield cross(slow(27, 53 * side), turn(56.3 * side), 27)
            yield cross(fast_and_slow(27), turn(60 * side), 27)
            yield cross(fast_and_slow(26), turn(68 * side), 26)


def _strictness() -> Iterator[Brink]:
    cipher = partial(Brink, "cipher_b", bar=33, column="close")
    for side, name in ((-1, "buy"), (1, "sell")):
        big, small = partial(cipher, name), partial(cipher, f"{name}_small")
        yield big(rsi(33, 50 + 20 * side), tired(side, 0.42), params={**QUICK, **BIG})
        bouncing = tired(side, 0.5, calm=14, bounce=0.3)
        yield big(stoch_rsi(33, 50 + 30 * side), bouncing, params={**QUICK, **BIG})
        yield small(rsi(33, 50 + 10 * side), tired(side, 0.12), params={**QUICK, **SMALL})
    yield cipher("rsi_oversold", rsi(33, 30), tired(-1, 0.4))
    yield cipher("rsi_overbought", rsi(33, 60), tired(1, 0.2))


def _money_flow() -> Iterator[Brink]:
    yield Brink("cipher_b", "MFI", flow(61), bodies(1 / 60, 1 / 60), bar=61, column="open")


def _combination() -> Iterator[Brink]:
    combo = partial(Brink, "rsi_mfi_stoch", column="close")
    raw = {"stoch_smooth": 1}
    for side, signals in ((1, "oversold"), (-1, "overbought")):
        trend, market = partial(combo, "Trend"), vee(side)
        yield trend(rsi(34, 50), market, 34)
        yield trend(mfi(32, 50), market, 32, column="volume", params={"rsi_length": 2})
        quick = {"rsi_length": 2, "mfi_length": 2, **raw}
        yield trend(stoch(29, 50), market, 29, params=quick)
        for bar in (29, 30):
            yield combo(f"rsi_{signals}", rsi(bar, 50 - 20 * side), market, bar)
        crossing = partial(combo, f"stoch_{signals}", params=raw)
        yield crossing(stoch(26, 50 - 30 * side), market, 26)
        yield crossing(k_and_d(26), market, 26)
        yield crossing(k_and_d(25), market, 25)


def _volume_filter() -> Iterator[Brink]:
    brink = partial(Brink, "kalman_volume", column="volume", params=LIVELY)
    market = crowd(240)
    yield brink("buy", kvf_and_signal(218), market, 218)
    yield brink("sell", kvf_and_signal(222), market, 220)
    yield brink("buy_oversold", kvf(227, -0.6), market, 227)
    yield brink("sell_overbought", kvf(211, 0.6), market, 208)
    yield brink("Volume", tenth(230, 0.8), crowd(240, 3000), 230)


BRINKS = (
    *_divergences(),
    *_crosses(),
    *_strictness(),
    *_money_flow(),
    *_combination(),
    *_volume_filter(),
)
