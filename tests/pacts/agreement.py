"""Where a reading and the detector's own state agree: one function for each pact.

Each draws the pact on bars, reads the picture, and compares every field that the detector knows.
It returns the name of the state, so that a test can tell which ones it met.
"""

from collections.abc import Hashable
from typing import Any

from tests.pacts import detectors
from tests.pacts.pictures import Companion, read

from chartpact.bars import Bars
from chartpact.contracts import Reading

GAPS = ("open", "touched", "ce", "filled", "inverted")
BLOCKS = ("active", "tested", "mitigated", "mitigated", "broken")


def _read(pact: str, bars: Bars, companion: Companion | None = None, **params: Any) -> Reading:
    reading = read(pact, bars, companion, **params)
    assert reading.ok, (len(bars), reading.violations)
    return reading


def _ticks(price: float, bars: Bars) -> int:
    return round(price / bars.tick_size)


def bias_ai(bars: Bars, _: Companion | None = None) -> Hashable:
    wanted = detectors.bias_ai(bars)
    if wanted is None:
        reading = read("bias_ai", bars)
        assert {violation.kind for violation in reading.violations} == {"missing"}
        return "missing"
    state = _read("bias_ai", bars).state
    assert state["daily"] == wanted["bias"]
    assert state["weekly"] == wanted["weekly"]
    assert state["hit_target"] == wanted["hit"]
    assert [_ticks(state[name], bars) for name in ("pdh", "pdl")] == wanted["levels"]
    assert [state["pdh_swept"], state["pdl_swept"]] == wanted["hits"]
    return wanted["bias"], wanted["hit"], wanted["weekly"]


def session_hunt_ai(bars: Bars, _: Companion | None = None, mode: str = "NY") -> str:
    hunt = _read("session_hunt_ai", bars, mode=mode).state["hunt"]
    wanted = detectors.session_hunt_ai(bars, mode)
    assert hunt["state"] == wanted["state"], len(bars)
    if wanted["state"] != "NO_RANGE":
        levels = [_ticks(hunt[name], bars) for name in ("target_high", "target_low")]
        assert levels == wanted["levels"]
        again = [hunt[name] and _ticks(hunt[name], bars) for name in ("reext_high", "reext_low")]
        assert again == (wanted["again"] or [None, None])
    return wanted["state"]


def ob_ai(bars: Bars, _: Companion | None = None, zone: str = "Body", fractal: int = 2) -> int:
    wanted = detectors.ob_ai(bars, fractal, wick=zone == "Wick")
    told = read_blocks(bars, zone=zone, fractal=fractal)
    assert told == {side: [block[1:] for block in found] for side, found in wanted.items()}
    return sum(map(len, wanted.values()))


def read_blocks(bars: Bars, **params: Any) -> dict[str, list[Any]]:
    """The blocks of OB AI as read, in whole ticks, as the detector tells them."""
    state = _read("ob_ai", bars, **params).state
    return {
        side: [
            (_ticks(block["high"], bars), _ticks(block["low"], bars), block["spent"],
             *(_ticks(block["fvg"][edge], bars) for edge in ("high", "low")))
            for block in found
        ]
        for side, found in state["order_blocks"].items()
    }  # fmt: skip


def smt_divergences(bars: Bars, pair: Bars, **params: int) -> int:
    told = _read("smt_divergences", bars, pair, **params).state["divergences"]
    wanted = detectors.smt_divergences(bars, pair, **params)
    assert sorted((d["direction"], d["start_time"], d["end_time"]) for d in told) == sorted(wanted)
    assert {d["ticker"] for d in told} <= {"NQ"}
    places = {time: i for i, time in enumerate(bars.time.tolist())}
    for one in told:
        assert one["active"] == (len(bars) - 1 - places[one["end_time"]] <= 20)
    return len(wanted)


def smt(bars: Bars, pair: Bars, **params: int) -> tuple[str, ...]:
    state = _read("smt", bars, pair, **params).state
    wanted = detectors.smt(bars, pair, **params)[-12:]
    names = ("side", "phase", "failed", "start_time", "end_time", "known", "until")
    told = [tuple(d[name] for name in names) for d in state["divergences"]]
    assert sorted(told, key=str) == sorted(wanted, key=str)
    for side, name in (("bull", "bullish_active"), ("bear", "bearish_active")):
        assert state[name] == any(d[:2] == (side, "confirmed") for d in wanted)
    return tuple(d[1] for d in wanted)


def next_candle_bias(bars: Bars, _: Companion | None = None) -> str:
    state, wanted = _read("next_candle_bias", bars).state, detectors.next_candle_bias(bars)
    if wanted is None:
        assert state["row"] == "WARMUP"
        return "WARMUP"
    assert (state["row"], state["start"]) == (wanted["row"], wanted["start"])
    targets = [state["first_target"], state["second_target"]]
    assert [_ticks(t, bars) for t in targets if t is not None] == wanted["targets"]
    return wanted["row"]


def fvg_ob_mss(bars: Bars, _: Companion | None = None, **params: int) -> tuple[str, ...]:
    state = _read("fvg_ob_mss", bars, **params).state
    wanted = detectors.fvg_ob_mss(bars, **params)
    time = bars.time.tolist()
    assert state["trend"] == {1: "bull", -1: "bear", 0: "none"}[wanted["trend"]]
    assert state["warmup"] == wanted["warmup"]
    zones = sorted(
        (
            zone["kind"], "bull" if zone["side"] > 0 else "bear", time[zone["bar"]],
            time[zone["known"]], (GAPS if zone["kind"] == "gap" else BLOCKS)[zone["phase"]],
            zone["top"], zone["bottom"], zone.get("fvg"),
        )
        for zone in wanted["zones"]
    )  # fmt: skip
    told = sorted(
        (
            kind, side, zone["anchor"], zone["known"], zone["phase"],
            *(_ticks(zone[edge], bars) for edge in ("top", "bottom")),
            zone.get("has_fvg"),
        )
        for kind in ("gap", "block")
        for side, found in state[f"{kind}s"].items()
        for zone in found
    )  # fmt: skip
    assert told == zones
    breaks = [
        (
            "mss" if item["mss"] is not None else "choch" if item["turned"] else "bos",
            "bull" if item["side"] > 0 else "bear", time[item["bar"]], item["level"],
            item["swept"], None if item["mss"] is None else time[item["mss"]],
        )
        for item in wanted["breaks"][-20:]
    ]  # fmt: skip
    assert breaks == [
        (
            e["kind"], e["side"], e["time"], _ticks(e["level"], bars), e["after_sweep"],
            e["mss_known"],
        )
        for e in state["events"]
    ]  # fmt: skip
    return *(zone[4] for zone in zones), *(item[0] for item in breaks)


def session_bias(bars: Bars, _: Companion | None = None, closes: int = 3) -> str:
    state = _read("session_bias", bars, closes=closes).state
    wanted = detectors.session_bias(bars, closes)
    target = None if state["target"] is None else _ticks(state["target"], bars)
    assert (state["state"], state["session"], target) == (
        wanted["state"],
        wanted["session"],
        wanted["target"],
    )
    names = ("name", "first", "last", "known", "expired")
    assert [
        (
            *(session[name] for name in names),
            *(_ticks(session[side], bars) for side in ("high", "low")),
            {side: session[f"{side}_outcome"] for side in ("high", "low")},
        )
        for session in state["sessions"]
    ] == [
        (*(s[name] for name in names), s["high"], s["low"], s["outcomes"])
        for s in wanted["sessions"][-8:]
    ]
    return state["state"]


def macro(bars: Bars, _: Companion | None = None) -> str:
    state, wanted = _read("macro", bars).state, detectors.macro(bars)
    assert (state["macro"], state["wait_minutes"]) == (wanted["macro"], wanted["wait"])
    assert [
        {
            "begin": window["begin"],
            **{side: _ticks(window[side], bars) for side in ("high", "low")},
            **{name: window[name] for name in ("high_swept", "low_swept")},
        }
        for window in state["windows"]
    ] == wanted["windows"]
    return state["macro"]


def ema_trend(bars: Bars, _: Companion | None = None, **params: int) -> str:
    state = _read("ema_trend", bars, **params).state
    wanted = detectors.ema_trend(bars, **params)
    assert (state["trend"], state["since"]) == (wanted["trend"], wanted["since"])
    assert [(change["phase"], change["time"]) for change in state["changes"]] == wanted["changes"]
    return state["trend"]


def economic_calendar(bars: Bars, events: tuple[Any, ...]) -> str:
    state = _read("economic_calendar", bars, events).state
    wanted = detectors.economic_calendar(bars, events)
    assert state["news"] == wanted["news"]
    assert [(event["time"], event["phase"]) for event in state["events"]] == wanted["events"]
    return state["news"]
