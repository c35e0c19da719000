"""The types of the states that are read under the shipped contracts.

Written by docs/generate.py from the contracts: edit those, then run `make docs`.
"""

from typing import Literal, TypedDict


class BiasAi(TypedDict):
    day_start: int | None
    daily: Literal["neutral", "bullish", "bearish"]
    weekly: Literal["neutral", "bullish", "bearish"] | None
    draw_on_liquidity: Literal["PDH", "PDL"] | None
    hit_target: bool
    pdh: float
    pdl: float
    pdh_swept: bool
    pdl_swept: bool


class EconomicCalendarEventsItem(TypedDict):
    time: int
    title: str
    currency: str
    impact: Literal["medium", "high"]
    phase: Literal["clear", "pre", "live", "post"]
    begin: int
    end: int
    forecast: str | None
    previous: str | None


class EconomicCalendarPastItem(TypedDict):
    time: int
    title: str
    currency: str
    impact: Literal["medium", "high"]


class EconomicCalendar(TypedDict):
    news: Literal["CLEAR", "PRE", "LIVE", "POST", "STALE"]
    blackout: bool | None
    as_of: int
    coverage: int | None
    tentative_day: bool
    holiday: bool
    events: list[EconomicCalendarEventsItem]
    past: list[EconomicCalendarPastItem]


class EmaTrendAverages(TypedDict):
    fast: float | None
    mid: float | None
    slow: float | None
    base: float | None


class EmaTrendChangesItem(TypedDict):
    phase: Literal["bull", "pullback_bull", "bear", "pullback_bear", "mixed"]
    time: int


class EmaTrend(TypedDict):
    trend: Literal["WARMUP", "BULL", "PULLBACK_BULL", "BEAR", "PULLBACK_BEAR", "MIXED"]
    direction: Literal["bullish", "bearish", "neutral"] | None
    since: int | None
    as_of: int
    averages: EmaTrendAverages
    changes: list[EmaTrendChangesItem]


class FvgObMssGapsItem(TypedDict):
    phase: Literal["open", "touched", "ce", "filled", "inverted"]
    anchor: int
    known: int
    top: float
    bottom: float
    halt: bool


class FvgObMssGaps(TypedDict):
    bull: list[FvgObMssGapsItem]
    bear: list[FvgObMssGapsItem]


class FvgObMssBlocksItem(TypedDict):
    phase: Literal["active", "tested", "mitigated", "broken"]
    anchor: int
    known: int
    top: float
    bottom: float
    has_fvg: bool


class FvgObMssBlocks(TypedDict):
    bull: list[FvgObMssBlocksItem]
    bear: list[FvgObMssBlocksItem]


class FvgObMssEventsItem(TypedDict):
    kind: Literal["bos", "choch", "mss"]
    side: Literal["bull", "bear"]
    time: int
    level: float
    after_sweep: bool
    mss_known: int | None


class FvgObMss(TypedDict):
    trend: Literal["bull", "bear", "none"]
    as_of: int
    start: int | None
    warmup: bool
    gaps: FvgObMssGaps
    blocks: FvgObMssBlocks
    events: list[FvgObMssEventsItem]


class MacroWindowsItem(TypedDict):
    begin: int
    end: int
    high: float
    low: float
    high_swept: bool
    low_swept: bool
    over: bool
    coarse: bool


class Macro(TypedDict):
    macro: Literal["IDLE", "UPCOMING", "ACTIVE", "DONE"]
    as_of: int
    wait_minutes: float | None
    windows: list[MacroWindowsItem]


class NextCandleBiasEventsItem(TypedDict):
    row: Literal["cont_up", "cont_down", "reject_up", "reject_down", "outside", "inside"]
    time: int
    candle: int


class NextCandleBias(TypedDict):
    row: Literal["WARMUP", "CONT_UP", "CONT_DOWN", "REJECT_UP", "REJECT_DOWN", "OUTSIDE", "INSIDE"]
    bias: Literal["bullish", "bearish", "neutral"] | None
    start: int | None
    candle: int | None
    first_target: float | None
    second_target: float | None
    as_of: int
    events: list[NextCandleBiasEventsItem]


class ObAiOrderBlocksItemFvg(TypedDict):
    high: float
    low: float
    aggressive: float
    safe: float


class ObAiOrderBlocksItem(TypedDict):
    high: float
    low: float
    spent: bool
    fvg: ObAiOrderBlocksItemFvg | None


class ObAiOrderBlocks(TypedDict):
    bullish: list[ObAiOrderBlocksItem]
    bearish: list[ObAiOrderBlocksItem]


class ObAiAtr(TypedDict):
    stop_points: float | None
    position_size: float | None
    risk_dollars: float | None


class ObAi(TypedDict):
    order_blocks: ObAiOrderBlocks
    atr: ObAiAtr | None


class SessionBiasSessionsItem(TypedDict):
    name: Literal["asia", "london", "ny_am", "ny_pm"]
    phase: Literal["forming", "armed", "high_swept", "low_swept", "both_swept"]
    first: int
    last: int
    known: int | None
    high: float
    low: float
    high_outcome: Literal["none", "pending", "rejected", "accepted"]
    low_outcome: Literal["none", "pending", "rejected", "accepted"]
    expired: bool


class SessionBiasEventsItem(TypedDict):
    session: Literal["asia", "london", "ny_am", "ny_pm"]
    side: Literal["high", "low"]
    outcome: Literal["rejected", "accepted"]
    swept: int
    known: int


class SessionBias(TypedDict):
    state: Literal[
        "WARMUP",
        "NO_RANGE",
        "ARMED",
        "HIGH_SWEPT",
        "HIGH_REJECTED",
        "HIGH_ACCEPTED",
        "LOW_SWEPT",
        "LOW_REJECTED",
        "LOW_ACCEPTED",
        "BOTH_SWEPT",
    ]
    bias: Literal["neutral", "bearish", "bullish"] | None
    session: Literal["asia", "london", "ny_am", "ny_pm"] | None
    start: int | None
    target: float | None
    as_of: int
    sessions: list[SessionBiasSessionsItem]
    events: list[SessionBiasEventsItem]


class SessionHuntAiHunt(TypedDict):
    state: Literal[
        "NO_RANGE",
        "WAITING",
        "HUNT_HIGH",
        "HUNT_LOW",
        "INVALID",
        "REEXT_WAITING",
        "REEXT_HIGH",
        "REEXT_LOW",
        "REEXT_INVALID",
    ]
    side: Literal["HUNT_HIGH", "HUNT_LOW", "INVALID"] | None
    range_start: int | None
    target_high: float | None
    target_low: float | None
    hi_swept: bool
    lo_swept: bool
    reextended: bool
    reext_high: float | None
    reext_low: float | None


class SessionHuntAi(TypedDict):
    mode: Literal["NY", "London"]
    hunt: SessionHuntAiHunt


class SmtDivergencesItem(TypedDict):
    side: Literal["bull", "bear"]
    phase: Literal["confirmed", "resolved", "invalidated", "expired"]
    failed: Literal["pair", "chart"]
    start_time: int
    end_time: int
    known: int
    until: int | None
    live: bool


class Smt(TypedDict):
    pair: str
    as_of: int
    start: int | None
    warmup: bool
    bullish_active: bool
    bearish_active: bool
    divergences: list[SmtDivergencesItem]


class SmtDivergencesDivergencesItem(TypedDict):
    direction: Literal["bullish", "bearish"]
    ticker: str
    start_time: int
    end_time: int
    start_price: float
    end_price: float
    active: bool


class SmtDivergences(TypedDict):
    bullish_active: bool
    bearish_active: bool
    paired_instrument: str | None
    last_signal: Literal["bullish", "bearish"] | None
    divergences: list[SmtDivergencesDivergencesItem]
