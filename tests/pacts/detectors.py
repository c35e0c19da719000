"""Each pact's rules once more, bar by bar in plain Python: what the contract should read.

The detectors know nothing of the scripts: no kernels, no drawing. They go forward over whole ticks
and remember what is live.
"""

from typing import Any

import numpy as np

from chartpact.bars import Bars


def in_ticks(bars: Bars) -> list[list[int]]:
    """Open, high, low and close in whole ticks."""
    columns = (bars.open, bars.high, bars.low, bars.close)
    return [np.rint(column / bars.tick_size).astype(int).tolist() for column in columns]


class Swings:
    """The last confirmed swing high and low that no close has broken."""

    def __init__(self, bars: Bars, left: int, right: int) -> None:
        self.open, self.high, self.low, self.close = in_ticks(bars)
        self.left, self.right = left, right
        self.held: dict[int, tuple[int, int] | None] = {1: None, -1: None}
        self.trend = 0

    def step(self, i: int) -> tuple[int, int] | None:
        """A break on bar i: its side and the bar of the broken swing."""
        at = i - self.right
        for side, prices in ((1, self.high), (-1, self.low)):
            if at < self.left:
                continue
            value = side * prices[at]
            before = all(side * prices[k] <= value for k in range(at - self.left, at))
            after = all(side * prices[k] < value for k in range(at + 1, i + 1))
            if before and after:
                self.held[side] = prices[at], at
        for side in (1, -1):
            swing = self.held[side]
            if swing is not None and side * self.close[i] > side * swing[0]:
                self.held[side] = None
                return side, swing[1]
        return None


def ob_ai(bars: Bars, fractal: int = 2, fvg_bars: int = 3, wick: bool = False) -> dict[str, Any]:
    """The live order blocks of both sides, in order of their candles, prices in ticks."""
    swings = Swings(bars, fractal, fractal)
    opens, high, low, close = swings.open, swings.high, swings.low, swings.close
    live: list[dict[str, Any]] = []
    pending = None
    for i in range(len(bars)):
        for block in list(live):
            far = block["low"] if block["side"] > 0 else block["high"]
            near = block["high"] if block["side"] > 0 else block["low"]
            extreme = low[i] if block["side"] > 0 else high[i]
            if block["side"] * extreme <= block["side"] * far:
                live.remove(block)
            elif block["side"] * extreme <= block["side"] * near:
                block["spent"] = True
        if pending is not None:
            side, swing = pending
            candles = [k for k in range(swing, i - 1) if side * (close[k] - opens[k]) < 0]
            block = candles and _block(
                side, candles[-1], i, fvg_bars, wick, opens, high, low, close
            )
            crowd = [
                b
                for b in live
                if b["side"] == side and block and block["bar"] - b["bar"] <= fvg_bars
            ]
            if block and not crowd:
                live.append(block)
        pending = swings.step(i)
    blocks = sorted(live, key=lambda block: block["bar"])
    return {
        name: [
            (b["bar"], b["high"], b["low"], b["spent"], *b["gap"])
            for b in blocks
            if b["side"] == side
        ]
        for name, side in (("bullish", 1), ("bearish", -1))
    }


def _block(side, at, known, fvg_bars, wick, opens, high, low, close):
    top = high[at] if wick or side < 0 else opens[at]
    bottom = low[at] if wick or side > 0 else opens[at]
    for middle in range(at + 1, min(at + fvg_bars, known - 1) + 1):
        if side * (close[middle] - opens[middle]) <= 0:
            continue
        if side > 0:
            upper, lower = low[middle + 1], high[middle - 1]
            fits = upper > lower >= bottom and upper > top
        else:
            upper, lower = low[middle - 1], high[middle + 1]
            fits = upper > lower and upper <= top and lower < bottom
        if fits:
            return {
                "side": side,
                "bar": at,
                "high": top,
                "low": bottom,
                "spent": False,
                "gap": (upper, lower),
            }
    return None
