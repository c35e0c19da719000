"""Markets to try kernels on: made by the rules hypothesis chooses, with holes and shocks."""

import inspect
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from chartpact.ta import reference
from chartpact.ta.kernels import KERNELS

OUTLIER = 1e9


@dataclass(frozen=True)
class Market:
    """Columns by the names the reference gives its arguments."""

    x: np.ndarray
    open: np.ndarray
    high: np.ndarray
    low: np.ndarray
    close: np.ndarray
    volume: np.ndarray
    a: np.ndarray
    b: np.ndarray
    anchor: np.ndarray
    condition: np.ndarray
    reset: np.ndarray
    side: np.ndarray
    top: np.ndarray
    bottom: np.ndarray
    first: np.ndarray
    last: np.ndarray

    def __len__(self) -> int:
        return len(self.x)


def market(bars: int, style: str = "walk", seed: int = 0, holes: str = "", shock: bool = False):
    """A market of a style, with na where `holes` says and one outlier of 1e9 if `shock`.

    Infinite holes hold infinities as well as na.
    """
    rng = np.random.default_rng(seed)
    if style == "constant":
        close = np.full(bars, 100.1)
        reach = np.zeros((2, bars))
    elif style == "steps":  # few distinct values, so ties everywhere
        close = 50.0 + rng.integers(0, 4, bars)
        reach = rng.integers(0, 2, (2, bars)).astype(float)
    elif style == "dust":  # ties within and beyond Pine's tolerance of 1e-10
        close = 1e-9 + 0.35e-10 * rng.integers(0, 9, bars)
        reach = 0.35e-10 * rng.integers(0, 4, (2, bars))
    else:
        close = 100 + np.cumsum(rng.normal(0, 1, bars)).clip(-90, None)
        reach = rng.exponential(0.5, (2, bars))
    volume = np.floor(rng.exponential(100, bars)) * (rng.random(bars) > 0.1)
    volume = np.zeros(bars) if style == "constant" and seed % 2 else volume
    high, low = close + reach[0], close - reach[1]
    other = 100 + np.cumsum(rng.normal(0, 1, bars)) if style == "walk" else close.copy()
    columns = [close, high, low, volume, other]
    if shock and bars:
        at = rng.integers(bars)
        close[at] = high[at] = OUTLIER
    missing = _holes(holes, bars, rng)
    for column in columns:
        if "apart" in holes:
            missing = missing & (rng.random(bars) < 0.7)
        column[missing] = np.nan
        if "infinite" in holes:
            some = missing & (rng.random(bars) < 0.7)
            column[some] = np.where(rng.random(bars) < 0.5, np.inf, -np.inf)[some]
    flags = rng.random((3, bars)) < 0.2
    zones = _zones(other, rng, np.nan if holes else -1.0)
    return Market(close, other, high, low, close, volume, close, other, *flags, *zones)


def _zones(prices: np.ndarray, rng: np.random.Generator, odd: float) -> list[np.ndarray]:
    """Sides, tops and bottoms of zones, and pairs of bars, some of them absurd."""
    bars = len(prices)
    side = rng.choice([-1.0, 0, 0, 1, odd], bars)
    last = np.arange(bars) - rng.integers(-1, 5, bars)
    first = np.where(rng.random(bars) < 0.1, odd, last - rng.integers(-1, 9, bars))
    bottom = prices + rng.integers(-2, 3, bars)
    top = np.where(rng.random(bars) < 0.1, prices - 9, bottom + rng.integers(0, 3, bars))
    return [side, top, bottom, first, last.astype(float)]


def _holes(where: str, bars: int, rng: np.random.Generator) -> np.ndarray:
    missing = np.zeros(bars, bool)
    run = int(rng.integers(1, 6))
    if "start" in where:
        missing[:run] = True
    if "middle" in where:
        missing[bars // 2 : bars // 2 + run] = True
    if "end" in where:
        missing[max(bars - run, 0) :] = True
    if "scattered" in where:
        missing |= rng.random(bars) < 0.15
    if "everywhere" in where:
        missing[:] = True
    return missing


HOLES = ["", "start", "middle", "end", "start middle end", "scattered", "scattered apart"]

markets = st.builds(
    market,
    bars=st.integers(1, 50),
    style=st.sampled_from(["walk", "steps", "constant", "dust"]),
    seed=st.integers(0, 10_000),
    holes=st.sampled_from([*HOLES, "everywhere", "scattered infinite", "start apart infinite"]),
    shock=st.booleans(),
)

NUMBERS = {
    "biased": st.booleans(),
    "developing": st.booleans(),
    "handle_na": st.booleans(),
    "use_tr": st.booleans(),
    "mult": st.sampled_from([0.0, 1.0, 2.1]),
    "factor": st.sampled_from([0.5, 1.0, 3.0]),
    "offset": st.sampled_from([0.0, 0.5, 0.85, 1.0]),
    "sigma": st.sampled_from([0.5, 6.0, 12.0]),
    "percentage": st.sampled_from([0.0, 1.0, 25.0, 50.0, 66.6, 99.0, 100.0]),
    "occurrence": st.integers(0, 4),
    "left": st.integers(0, 5),
    "right": st.integers(0, 5),
    "min_size": st.sampled_from([0.0, 0.5, 1.0]),
    "body": st.booleans(),
    "start": st.sampled_from([0.02, 0.1]),
    "inc": st.sampled_from([0.02, 0.0]),
    "limit": st.sampled_from([0.2, 0.05]),
}


def arguments(name: str, data: Market, draw) -> list:
    """Arguments for a kernel: columns of the market, and numbers drawn for the rest."""
    lengths = st.one_of(
        st.integers(1, 8), st.sampled_from([max(len(data) + k, 1) for k in (-1, 0, 1, 50)])
    )
    values = []
    letters = KERNELS[name][1]
    for letter, parameter in zip(letters, parameters(name), strict=False):
        if hasattr(data, parameter):
            values.append(getattr(data, parameter))
        elif parameter == "offset" and letter == "q":
            values.append(draw(st.integers(-3, 12)))
        else:
            values.append(draw(NUMBERS.get(parameter, lengths)))
    return values


def parameters(name: str) -> list[str]:
    return list(inspect.signature(getattr(reference, name)).parameters)


TYPICAL = {
    "biased": True,
    "developing": False,
    "handle_na": False,
    "use_tr": True,
    "mult": 2.0,
    "factor": 1.5,
    "offset": 0.85,
    "sigma": 6.0,
    "percentage": 40.0,
    "occurrence": 1,
    "start": 0.02,
    "inc": 0.02,
    "limit": 0.2,
    "slow": 6,
    "min_size": 0.0,
    "body": True,
}


def typical(name: str, data: Market) -> list:
    """Arguments for a kernel: columns of the market, and usual numbers for the rest."""
    values = []
    for letter, parameter in zip(KERNELS[name][1], parameters(name), strict=False):
        if hasattr(data, parameter):
            values.append(getattr(data, parameter))
        elif parameter == "offset" and letter == "q":
            values.append(2)
        else:
            values.append(TYPICAL.get(parameter, 4))
    return values
