"""The bars and parameters on which a script is compared with the builtin it stands for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from tests.script.brinks import BRINKS

from chartpact.bars import Bars
from chartpact.catalogue import Catalogue
from chartpact.clock.timeframe import Timeframe
from chartpact.params import IndicatorError, Param, resolve
from chartpact.scene import Scene


def market(
    bars: int,
    drift: float,
    noise: float,
    seed: int,
    hold: float = 0,
    gap: float = 0,
    tick: float = 0.01,
) -> Bars:
    """A random walk in ticks; `hold` of the bars do not move, `gap` of them jump."""
    rng = np.random.default_rng(seed)
    steps = drift + noise * rng.normal(size=bars)
    steps[rng.random(bars) < hold] = 0
    steps += 8 * noise * rng.normal(size=bars) * (rng.random(bars) < gap)
    close = np.round(tick * np.round(np.maximum(100 + np.cumsum(steps), 1) / tick), 2)
    start = np.concatenate((close[:1], close[:-1]))
    start = np.where(rng.random(bars) < gap, close, start)
    reach = tick * np.round(noise * rng.random(bars) / tick) * (rng.random(bars) >= hold)
    time = 1_700_000_100_000 + 300_000 * np.cumsum(1 + 50 * (rng.random(bars) < gap))
    return Bars(
        time,
        start,
        np.maximum(start, close) + reach,
        np.minimum(start, close) - np.minimum(reach, 0.5),
        close,
        np.round(rng.lognormal(5, 1, bars)),
        "TEST",
        "5m",
    )


def moved(bars: Bars, by: float, times: float = 1) -> Bars:
    """The same market at other prices."""
    prices = {name: times * getattr(bars, name) + by for name in ("open", "high", "low", "close")}
    return replace(bars, **prices)


def stilled(bars: Bars, first: int, last: int) -> Bars:
    """The same market, in which nothing moves for a while."""
    columns = {name: getattr(bars, name).copy() for name in ("open", "high", "low", "close")}
    for column in columns.values():
        column[first:last] = bars.close[first]
    return replace(bars, **columns)


def with_volume(bars: Bars, volume: float, every: int = 1) -> Bars:
    """The same market with this volume on every so manieth bar."""
    volumes = bars.volume.copy()
    volumes[::every] = volume
    return replace(bars, volume=volumes)


GAPS = market(500, 0, 0.5, 6, gap=0.1)
COARSE = market(800, 0, 1.2, 11, hold=0.2, tick=1)
BATTERY = {
    "coarse ticks": COARSE,
    "gaps": GAPS,
    "trend up": market(600, 0.2, 0.5, 1),
    "trend down": market(400, -0.2, 0.5, 2),
    "low volatility": market(500, 0, 0.01, 3),
    "high volatility": market(500, 0, 5, 4),
    "sparse": market(300, 0, 0.3, 5, hold=0.7),
    "a long decline": market(1500, -0.05, 0.5, 2),
    "a pause": stilled(market(300, 0, 0.5, 12), 100, 200),
    "below zero": moved(market(300, 0, 1, 13), -100),
    "prices near the end of floats": moved(market(200, 0, 5, 14), 0, 1e306),
    "prices near the beginning of floats": moved(market(200, 0, 5, 14), 0, 1e-320),
    "volume of zero": with_volume(market(200, 0, 1, 15), 0),
    "volume now and then": with_volume(market(200, 0, 1, 16, hold=0.2), 0, 3),
    "volume not always known": with_volume(market(200, 0, 1, 17), np.nan, 7),
    "volume never known": with_volume(market(200, 0, 1, 17), np.nan),
    "one bar without volume": with_volume(market(1, 0, 1, 17), np.nan),
    "flat": market(120, 0, 0, 7),
    "short": market(30, 0, 1, 8),
    "very short": market(3, 0, 1, 9),
    "one bar": market(1, 0, 1, 10),
    "no bars": market(0, 0, 1, 10),
}


def lasting(bars: Bars, timeframe: str, named: bool = True) -> Bars:
    """The same market in bars of another timeframe, which may be left for the reader to tell."""
    time = 1_700_000_100_000 + Timeframe.parse(timeframe).ms * np.arange(len(bars))
    return replace(bars, time=time, timeframe=timeframe if named else "")


# Bars on which what the clock says about them matters.
_BY_CLOCK = {
    **{step: lasting(GAPS[:350], step) for step in ("15m", "30m", "1D", "1W")},
    **{f"{step}, unnamed": lasting(GAPS[:150], step, named=False) for step in ("1m", "1D")},
    "one bar, unnamed": lasting(GAPS[:1], "1D", named=False),
}
# Two rows of equal weight with nothing between: as prominent as can be, up and down.
_FAR_APART = replace(
    market(2, 0, 1, 1), open=[1, 3], high=[1, 3], low=[1, 3], close=[1, 3], volume=[7, 7]
)
FURTHER = {
    **dict.fromkeys(("histvol", "pivot", "session_vp", "vwap", "vwap_bands"), _BY_CLOCK),
    "hvn_lvn": {"two prices far apart": _FAR_APART},
    "naked_poc": {**_BY_CLOCK, "the last bar touches a level first": GAPS[:286]},
}

# Parameters that are tried together; each alone, and at its ends, is tried anyway.
TOGETHER: Mapping[str, list[dict[str, Any]]] = {
    "cipher_b": [
        {"dot_mode": "classic"},
        {"wt_channel_length": 3, "wt_average_length": 5, "wt_oversold": -20, "wt_overbought": 10},
    ],
    "hvn_lvn": [{"bins": 3, "neighborhood": 1, "min_prominence": 1}],
    "volume_profile": [{"split_up_down": True, "bins": 100}],
    "wavetrend": [{"ch_len": 4, "avg_len": 1}],
    "ichimoku": [{"tenkan": 3, "kijun": 5, "senkou_b": 7}],
    "rsi_mfi_stoch": [
        {"rsi_length": 3, "mfi_length": 4, "stoch_k": 5, "stoch_smooth": 1},
        {"show_trend_bars": False, "overbought": 55, "oversold": 45},
    ],
}


# Values of parameters that are texts; the last of each may be refused.
TEXTS: Mapping[str, tuple[str, ...]] = {
    "color": ("#12345678", "teal"),
    "str": ("17:00 America/New_York", "noon"),
}


def others(param: Param) -> list[Any]:
    """Values of a parameter that are not its default: others, the least and the greatest."""
    if param.type == "bool":
        return [not param.default]
    if param.options:
        return [each for each in param.options if each != param.default]
    if param.type in TEXTS:
        return list(TEXTS[param.type])
    between = 7 if param.default is None else param.default + 1
    return [value for value in (between, param.min, param.max) if value is not None]


@dataclass(frozen=True, eq=False)
class Case:
    """Bars and parameters, and what the builtin draws there, which is nothing if it refuses."""

    indicator: str
    title: str
    bars: Bars
    params: Mapping[str, Any]
    first_visible: int = 0

    @cached_property
    def wanted(self) -> Scene | None:
        builtin = Catalogue().resolve(self.indicator)
        try:
            values = resolve(builtin.params, self.params, self.indicator)
            return builtin.draw(self.bars, values, {}, self.first_visible)
        except IndicatorError:
            return None


def _cases(name: str) -> Iterator[Case]:
    for params in ({}, *TOGETHER.get(name, ())):
        for title, bars in {**BATTERY, **FURTHER.get(name, {})}.items():
            yield Case(name, f"{title}, {params}", bars, params)
    for param in Catalogue().resolve(name).params:
        for value in others(param):
            for title in ("coarse ticks", "gaps", "short"):
                params = {param.name: value}
                yield Case(name, f"{title}, {params}", BATTERY[title], params)
    for params in ({}, {"range_bars": 50}) if Catalogue().resolve(name).of_view else ():
        yield Case(name, f"the last bars in view, {params}", GAPS, params, len(GAPS) - 40)
    for brink in BRINKS:
        if brink.indicator == name:
            for side, bars in zip(("below", "at", "above"), brink.sides, strict=True):
                yield Case(name, f"{side} the brink of {brink.title}", bars, brink.params)


@cache
def cases(name: str) -> tuple[Case, ...]:
    """Everything on which the script of this builtin is compared."""
    return tuple(_cases(name))
