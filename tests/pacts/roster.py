"""The eleven pacts as the laws see them: what each is drawn with, and how it says "not yet"."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.pacts import agreement
from tests.pacts.pictures import Companion, calendar, partner

from chartpact.bars import Bars

State = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One pact and what a law has to know of it."""

    pact: str
    agree: Callable[..., Any]  # the reading equals the detector's state
    companion: Callable[[Bars], Companion | None] = lambda _: None
    minutes: int = 5  # of the bars on which a short walk shows its states
    count: int = 700  # bars of that walk
    warms_up: Callable[[State], bool] = lambda _: False
    logs: tuple[str, ...] = ()  # lists of the past: a shorter history holds the newest of them
    unknown: tuple[str, ...] = ()  # null where the history does not reach
    inexact: tuple[str, ...] = ()  # averages, which remember where the data begin a little
    small: tuple[tuple[str, int], ...] = ()  # parameters with which a few bars show its states
    sided: bool = True  # up and down are swapped in the state of mirrored prices
    missing: bool = False  # the reading is `missing` while it warms up
    exempt: tuple[tuple[str, str], ...] = ()  # laws that cannot apply, and why

    def __str__(self) -> str:
        return self.pact


ROSTER = (
    Entry(
        "bias_ai", agreement.bias_ai, minutes=60, count=450,
        unknown=("weekly",), missing=True,
    ),
    Entry("session_hunt_ai", agreement.session_hunt_ai, minutes=15, count=900),
    Entry(
        "ob_ai", agreement.ob_ai, small=(("fractal", 1),),
        exempt=((
            "left cut",
            "a block lives until price goes through it, however old it is: a shorter history "
            "shows those whose swings it holds, which test_ob_ai proves, and the reading tells "
            "from when on (`history_from`)",
        ),),
    ),
    Entry(
        "smt_divergences", agreement.smt_divergences, lambda bars: partner(bars, 8),
        small=(("left", 1), ("right", 1)),
        exempt=((
            "left cut",
            "a divergence stays whatever its age, and the documented picture has no word for a "
            "warm-up: a shorter history shows those whose swings it holds, and no other, which "
            "test_smt_divergences proves, and the reading tells from when on (`history_from`)",
        ),),
    ),
    Entry(
        "fvg_ob_mss", agreement.fvg_ob_mss, count=1_100,
        small=(("swing", 1), ("keep", 2), ("max_age", 9), ("settle", 9)),
        warms_up=lambda state: state["warmup"], logs=("events",), unknown=("start",),
    ),
    Entry(
        "next_candle_bias", agreement.next_candle_bias, minutes=60, count=450,
        warms_up=lambda state: state["row"] == "WARMUP", logs=("events",),
    ),
    Entry(
        "smt", agreement.smt, lambda bars: partner(bars, 8),
        small=(("left", 1), ("right", 1), ("life", 4)),
        warms_up=lambda state: state["warmup"], logs=("divergences",), unknown=("start",),
    ),
    Entry(
        "session_bias", agreement.session_bias, minutes=15, count=900,
        warms_up=lambda state: state["state"] == "WARMUP", logs=("sessions", "events"),
    ),
    Entry("macro", agreement.macro, logs=("windows",)),
    Entry("economic_calendar", agreement.economic_calendar, calendar, logs=("past",), sided=False),
    Entry(
        "ema_trend", agreement.ema_trend, count=2_200,
        small=(("fast", 1), ("mid", 2), ("slow", 3), ("base", 4), ("settle", 2)),
        warms_up=lambda state: state["trend"] == "WARMUP", logs=("changes",),
        unknown=("since",), inexact=("averages",),
    ),
)  # fmt: skip
