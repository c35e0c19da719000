"""The bundled samples: synthetic markets, made here by our own code, never recorded.

>>> bars("es-5m").synthetic
True
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from chartpact.bars.bars import Bars
from chartpact.bars.errors import UnknownBars
from chartpact.bars.samples import economiccalendar
from chartpact.bars.samples.randomwalk import Market, Quote, walk
from chartpact.problem import did_you_mean

PREFIX = "sample:"
CALENDAR = "sample:calendar"

# From this time in New York: how wild it is, and how busy.
INDEX_HOURS = (
    (0, 0.5, 0.22), (200, 1.0, 0.55), (500, 0.8, 0.45), (800, 1.1, 0.8), (930, 2.4, 3.2),
    (1030, 1.6, 2.0), (1200, 1.0, 1.1), (1330, 1.2, 1.3), (1500, 1.7, 2.6), (1600, 0.6, 0.4),
    (1800, 0.6, 0.25), (2000, 0.75, 0.35),
)  # fmt: skip
FX_HOURS = (
    (0, 0.7, 0.6), (200, 1.5, 1.5), (500, 1.1, 1.1), (800, 1.8, 2.0), (1200, 0.8, 0.8),
    (1700, 0.35, 0.2), (1900, 0.7, 0.5),
)  # fmt: skip
CRYPTO_HOURS = ((0, 1.0, 1.0), (800, 1.3, 1.4), (1700, 0.8, 0.8))

INDEX = Market(
    quotes=(Quote("ES", 4, 5150.0, 1.0, 900.0), Quote("NQ", 4, 18250.0, 1.3, 420.0)),
    first="2024-03-04",
    last="2024-03-15",
    minutes=1,
    daily_move=0.009,
    together=0.93,
    hours=INDEX_HOURS,
    weekend_gap=0.35,
    currencies=("USD",),
    raids=((2000, 2400, 200, 330), (200, 500, 930, 1030)),
    regime=150,
    trend=1.2,
    home=0.0,
    seed=20_240_304,
)
FX = Market(
    quotes=(
        Quote("EURUSD", 10**5, 1.0821, 1.0, 1500.0),
        Quote("GBPUSD", 10**5, 1.2674, 1.1, 1400.0),
    ),
    first="2024-02-26",
    last="2024-04-05",
    minutes=15,
    daily_move=0.0048,
    together=0.88,
    hours=FX_HOURS,
    weekend_gap=0.3,
    currencies=("USD", "EUR", "GBP"),
    raids=((2000, 2400, 200, 400), (200, 500, 800, 1000)),
    regime=40,
    trend=1.0,
    home=0.002,
    seed=20_240_226,
)
CRYPTO = Market(
    quotes=(Quote("BTCUSD", 100, 45_500.0, 1.0, 4200.0), Quote("ETHUSD", 100, 3_400.0, 1.2, 5e4)),
    first="2022-04-06",
    last="2024-04-05",
    minutes=240,
    daily_move=0.027,
    together=0.9,
    hours=CRYPTO_HOURS,
    weekend_gap=0.0,
    currencies=("USD",),
    raids=(),
    regime=30,
    trend=0.9,
    home=0.0005,
    seed=20_220_406,
)


@dataclass(frozen=True)
class Sample:
    """One of a market's two symbols at one timeframe, and its sibling's name."""

    market: Market
    which: int
    timeframe: str
    pair: str


SAMPLES = {
    "es-1m": Sample(INDEX, 0, "1m", "nq-1m"),
    "es-5m": Sample(INDEX, 0, "5m", "nq-5m"),
    "nq-1m": Sample(INDEX, 1, "1m", "es-1m"),
    "nq-5m": Sample(INDEX, 1, "5m", "es-5m"),
    "eurusd-15m": Sample(FX, 0, "15m", "gbpusd-15m"),
    "gbpusd-15m": Sample(FX, 1, "15m", "eurusd-15m"),
    "btc-4h": Sample(CRYPTO, 0, "4h", "eth-4h"),
    "btc-1d": Sample(CRYPTO, 0, "1D", "eth-1d"),
    "eth-4h": Sample(CRYPTO, 1, "4h", "btc-4h"),
    "eth-1d": Sample(CRYPTO, 1, "1D", "btc-1d"),
}


def bars(name: str) -> Bars:
    """The bars of a sample, called `es-5m` or `sample:es-5m`; the same bits on every machine."""
    return _bars(_check_name(name.removeprefix(PREFIX), SAMPLES))


def calendar(
    source: str = CALENDAR, since: int | None = None, until: int | None = None
) -> list[dict[str, Any]]:
    """The synthetic economic events of the samples' weeks, from `since` to before `until` (ms)."""
    _check_name(source.removeprefix(PREFIX), (CALENDAR.removeprefix(PREFIX),))
    return [
        asdict(event)
        for event in economiccalendar.calendar()
        if (since is None or event.time_utc >= since) and (until is None or event.time_utc < until)
    ]


@cache
def _bars(name: str) -> Bars:
    sample = SAMPLES[name]
    quote = sample.market.quotes[sample.which]
    bars = Bars(
        *_walk(sample.market)[sample.which],
        symbol=quote.symbol,
        timeframe=f"{sample.market.minutes}m",
        tick_size=1 / quote.ticks_per_point,
        synthetic=True,
        pair=f"{PREFIX}{sample.pair}",
        calendar=CALENDAR,
    )
    return replace(bars.resample(sample.timeframe), source=f"synthetic {PREFIX}{name}")


_walk = cache(walk)


def _check_name(name: str, names: Iterable[str]) -> str:
    if name not in names:
        hint = did_you_mean(name, names, before="; ")
        raise UnknownBars(f"there is no sample {name!r} among {', '.join(names)}{hint}")
    return name
