"""The volume-weighted average price since the session began: vwap, vwap_bands."""

import numpy as np

from chartpact import ta
from chartpact.bars import Bars
from chartpact.indicators import ink
from chartpact.indicators.builtin import Trace, builtin
from chartpact.indicators.drawing import Bools, Floats, fill, line, paint, scene
from chartpact.indicators.sessions import DAY_ROLL, with_day_roll
from chartpact.params import Param
from chartpact.scene import Scene
from chartpact.textcolumn import TextColumn

ANCHORS = {"session": "1D", "week": "1W", "month": "1M", "quarter": "3M", "year": "12M"}
ANCHOR = Param(
    "anchor",
    "choice",
    "session",
    options=(*ANCHORS, "none"),
    desc="What starts the average afresh; none: only the first bar",
)
NO_VOLUME = "until the session has volume, and from a missing volume to the next session"
RESET = (
    "The reference never resets; TradingView's average begins anew with every session: at 17:00 "
    "New York for currencies, 18:00 for futures, with the exchange's day otherwise."
)


def _vwap(
    bars: Bars, anchor: str, day_roll: str | None, std_dev: float, owner: str
) -> tuple[Floats, Floats, Floats, Bools]:
    """The average, its bands, and where it starts afresh."""
    fresh = np.zeros(len(bars), dtype=np.bool_)
    fresh[:1] = True
    if anchor in ANCHORS:
        fresh[with_day_roll(bars, day_roll, owner).periods(ANCHORS[anchor]).first] = True
    return *ta.vwap(bars.hlc3, bars.volume, fresh, std_dev), fresh


def _broken(color: str, fresh: Bools) -> TextColumn:
    """The colour of each bar but the first of a session, to which no stroke leads."""
    return paint(fresh, (color, None))


@builtin(
    "vwap",
    "Volume-Weighted Average Price",
    "overlay",
    "The average price paid since the session began, weighted by volume.",
    params=(ANCHOR, DAY_ROLL),
    tracks=(Trace("VWAP", gaps=NO_VOLUME),),
    needs_volume=True,
    differences=(RESET,),
)
def vwap(bars: Bars, anchor: str, day_roll: str | None) -> Scene:
    middle, _, _, fresh = _vwap(bars, anchor, day_roll, 1.0, "vwap")
    return scene("VWAP", line("VWAP", middle, _broken(ink.MAGENTA, fresh), 2))


@builtin(
    "vwap_bands",
    "VWAP Bands",
    "overlay",
    "The session's volume-weighted average price, and bands of its standard deviation.",
    params=(
        Param("std_dev", "float", 2.0, 0, 50, desc="Standard deviations", aliases=("mult",)),
        ANCHOR,
        DAY_ROLL,
    ),
    tracks=tuple(Trace(title, gaps=NO_VOLUME) for title in ("VWAP Upper", "VWAP", "VWAP Lower")),
    needs_volume=True,
    differences=(RESET, "TradingView's own study starts with bands at 1 standard deviation."),
)
def vwap_bands(bars: Bars, std_dev: float, anchor: str, day_roll: str | None) -> Scene:
    middle, upper, lower, fresh = _vwap(bars, anchor, day_roll, std_dev, "vwap_bands")
    edge, inner = _broken(ink.VIOLET, fresh), _broken(ink.MAGENTA, fresh)
    return scene(
        "VWAP Bands",
        line("VWAP Upper", upper, edge),
        line("VWAP", middle, inner, 2),
        line("VWAP Lower", lower, edge),
        fill(upper, lower, inner, 0.08),
    )
