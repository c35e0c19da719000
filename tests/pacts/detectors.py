"""Each pact's rules once more, bar by bar in plain Python: what the contract should read.

The detectors know nothing of the scripts: no kernels, no drawing. They go forward over whole ticks
and remember what is live.
"""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

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


# ------------------------------------------------------------------------------------- session hunt

NEW_YORK = ZoneInfo("America/New_York")
WINDOWS = {"asia": (1200, 1440), "london": (120, 300), "ny_am": (510, 660)}  # minutes of the day


def wall_minutes(bars: Bars) -> list[int]:
    local = [datetime.fromtimestamp(t / 1000, NEW_YORK) for t in bars.time.tolist()]
    return [moment.hour * 60 + moment.minute for moment in local]


def session_hunt_ai(bars: Bars, mode: str = "NY", reext_bars: int = 3) -> dict[str, Any]:
    """The hunt of the last bar's trading day, prices in ticks; None before its range is whole."""
    _, high, low, _ = in_ticks(bars)
    clock, days = wall_minutes(bars), bars.trading_day.tolist()
    hunted, hunter = ("london", "ny_am") if mode == "NY" else ("asia", "london")
    today = [i for i in range(len(bars)) if days[i] == days[-1]]
    inside = {
        name: [i for i in today if WINDOWS[name][0] <= clock[i] < WINDOWS[name][1]]
        for name in (hunted, hunter)
    }
    seen = inside[hunted]
    if not seen or seen[-1] == today[-1] or (seen[0] == 0 and clock[0] != WINDOWS[hunted][0]):
        return {"state": "NO_RANGE"}
    start, last = seen[-1] + 1, today[-1]
    hunting = [i for i in inside[hunter] if i >= start]
    if hunting:
        last = hunting[-1]
    levels = [max(high[i] for i in seen), min(low[i] for i in seen)]
    if levels[0] == levels[1]:
        return {"state": "NO_RANGE"}
    again: list[int] | None = None
    hits, more, quiet = [False, False], [False, False], 0
    for i in range(start, last + 1):
        both = all(hits)
        if again is not None:
            more = [more[0] or high[i] > again[0], more[1] or low[i] < again[1]]
        elif both:
            calm = high[i] <= max(high[start:i]) and low[i] >= min(low[start:i])
            quiet = quiet + 1 if calm else 0
            if quiet == reext_bars:
                again = [max(high[start : i + 1]), min(low[start : i + 1])]
        hits = [hits[0] or high[i] > levels[0], hits[1] or low[i] < levels[1]]
    names = {(0, 0): "WAITING", (1, 0): "HIGH", (0, 1): "LOW", (1, 1): "INVALID"}
    state = names[tuple(map(int, hits))]
    if again is not None:
        state = "REEXT_" + names[tuple(map(int, more))]
    elif state in ("HIGH", "LOW"):
        state = "HUNT_" + state
    return {"state": state, "levels": levels, "again": again}


# -------------------------------------------------------------------------------------------- bias


def bias_ai(bars: Bars) -> dict[str, Any] | None:
    """The day's bias and levels, in ticks; None before two whole days have passed."""
    days = bars.trading_day.tolist()
    daily = _bias(bars, days)
    weekly = _bias(bars, [(day + 3) // 7 for day in days])  # 1970-01-01 was a Thursday
    return daily and daily | {"weekly": weekly and weekly["bias"]}


def _bias(bars: Bars, periods: list[int]) -> dict[str, Any] | None:
    opens, high, low, close = in_ticks(bars)
    spans: dict[int, list[int]] = {}
    for i, period in enumerate(periods):
        spans.setdefault(period, []).append(i)
    if not _begins_with_the_week(
        bars, weekly=len(set(periods)) < len(set(bars.trading_day.tolist()))
    ):
        spans.pop(periods[0])
    if len(spans) < 3:
        return None
    (before, last, now) = list(spans.values())[-3:]
    pdh, pdl = max(high[i] for i in last), min(low[i] for i in last)
    old_high, old_low = max(high[i] for i in before), min(low[i] for i in before)
    end = close[last[-1]]
    if end > old_high:
        bias = 1
    elif end < old_low:
        bias = -1
    elif pdh > old_high or pdl < old_low:
        bias = (pdl < old_low) - (pdh > old_high)
    else:
        bias = int(np.sign(close[before[-1]] - opens[before[0]]))
    hits = [max(high[i] for i in now) >= pdh, min(low[i] for i in now) <= pdl]
    names = {1: "bullish", 0: "neutral", -1: "bearish"}
    hit = {1: hits[0], -1: hits[1], 0: False}[bias]
    return {"bias": names[bias], "levels": [pdh, pdl], "hits": hits, "hit": hit, "first": now[0]}


def _begins_with_the_week(bars: Bars, weekly: bool) -> bool:
    """Whether the first bar opens a trading day, or a week of them, by the market's clock."""
    first = datetime.fromtimestamp(bars.time[0] / 1000, NEW_YORK)
    at_roll = (first.hour, first.minute) == (_roll_hour(bars), 0)
    return at_roll and (not weekly or first.weekday() == 6)


def _roll_hour(bars: Bars) -> int:
    """The hour of New York at which a trading day begins: 18 for futures, 17 for currencies."""
    clock, zone = bars.day_roll.split(" ")
    assert zone == "America/New_York"
    assert clock.endswith(":00")
    return int(clock[:2])


# --------------------------------------------------------------------------------------------- SMT


def smt_divergences(bars: Bars, pair: Bars, left: int = 5, right: int = 5) -> list[tuple]:
    """Divergences on the bars that both have: (direction, start time, end time), in order."""
    shared = sorted({*bars.time.tolist()} & {*pair.time.tolist()})
    ours = {t: i for i, t in enumerate(bars.time.tolist())}
    theirs = {t: i for i, t in enumerate(pair.time.tolist())}
    _, high, low, _ = in_ticks(bars)
    _, other_high, other_low, _ = in_ticks(pair)
    found = []
    for side, own, other in ((-1, high, other_high), (1, low, other_low)):
        a = [-side * own[ours[t]] for t in shared]
        b = [-side * other[theirs[t]] for t in shared]
        last = None
        for p in range(left, len(shared) - right):
            if max(a[p - left : p]) > a[p] or max(a[p + 1 : p + right + 1]) >= a[p]:
                continue
            most = max(b[max(p - right, 0) : p + right + 1])
            if last is not None and a[p] > a[last[0]] and most <= last[1]:
                name = "bullish" if side > 0 else "bearish"
                found.append((name, shared[last[0]], shared[p], shared[p + right]))
            last = p, most
    return [item[:3] for item in sorted(found, key=lambda item: (item[3], item[0] == "bullish"))]


# --------------------------------------------------------------------------- the next candle's bias


def next_candle_bias(bars: Bars) -> dict[str, Any] | None:
    """The row of the running day, in ticks; None before two whole days have passed."""
    _, high, low, close = in_ticks(bars)
    spans: dict[int, list[int]] = {}
    for i, day in enumerate(bars.trading_day.tolist()):
        spans.setdefault(day, []).append(i)
    if not _begins_with_the_week(bars, weekly=False):
        spans.pop(bars.trading_day[0])
    if len(spans) < 3:
        return None
    before, last, now = list(spans.values())[-3:]
    high1, low1 = max(high[i] for i in last), min(low[i] for i in last)
    high2, low2 = max(high[i] for i in before), min(low[i] for i in before)
    end = close[last[-1]]
    rows = {
        "CONT_UP": (end > high2, [high1]),
        "CONT_DOWN": (end < low2, [low1]),
        "REJECT_UP": (low2 <= end <= high2 and high1 > high2 and low1 >= low2, [low1, low2]),
        "REJECT_DOWN": (low2 <= end <= high2 and low1 < low2 and high1 <= high2, [high1, high2]),
        "OUTSIDE": (low2 <= end <= high2 and low1 < low2 and high1 > high2, []),
        "INSIDE": (low1 >= low2 and high1 <= high2, []),
    }
    ((row, targets),) = [(row, aims) for row, (holds, aims) in rows.items() if holds]
    return {"row": row, "targets": targets, "start": int(bars.time[now[0]])}


# ----------------------------------------------------------------- gaps, blocks and their structure


def fvg_ob_mss(
    bars: Bars, swing: int = 5, keep: int = 4, max_age: int = 500, settle: int = 250
) -> dict[str, Any]:
    """Live zones and the breaks to tell, bar by bar; prices in ticks."""
    swings = Swings(bars, swing, swing)
    opens, high, low, close = swings.open, swings.high, swings.low, swings.close
    atr = _atr(high, low, close)
    live: list[dict[str, Any]] = []
    gaps: list[tuple[int, int]] = []  # side and middle bar
    breaks: list[dict[str, Any]] = []
    taken: set[tuple[int, int]] = set()
    trend, sweeps = 0, {1: -10_000, -1: -10_000}
    confirmed: set[int] = set()  # the sides that have had a swing
    ready = None
    for i in range(len(bars)):
        for zone in list(live):
            _age(zone, i, high, low, close, max_age, live)
        found = _gap(i, opens, high, low, close)
        if found:
            gaps.append((found["side"], i - 1))
            live.append(found)
            for broken in breaks[-1:]:
                # around the breaking bar a gap is final one bar later
                if broken["bar"] == i - 1 and broken["side"] == found["side"]:
                    broken["mss"] = (
                        i
                        if broken["pushed"] and broken["turned"] and broken["mss"] is None
                        else broken["mss"]
                    )
                    for zone in live:
                        if zone["kind"] == "block" and zone["known"] == i - 1:
                            zone["fvg"] = True
        broken = swings.step(i)
        confirmed |= {side for side, held in swings.held.items() if held is not None}
        confirmed |= {broken[0]} if broken else set()
        if ready is None and len(confirmed) == 2:
            both = i
            ready = -1
        if ready == -1 and broken:
            ready = max(both + settle, i + 1)
        for side, wick in ((1, high[i]), (-1, low[i])):
            level = swings.held[side]  # a swing that this bar broke is not held any more
            if level and side * wick > side * level[0] and side * close[i] <= side * level[0]:
                sweeps[side] = i
        if broken:
            side, bar = broken
            prices = low if side > 0 else high
            best = min(side * prices[k] for k in range(bar, i + 1))
            start = max(k for k in range(bar, i + 1) if side * prices[k] == best)
            pushes = [
                k
                for k in range(start, i + 1)
                if atr[k] is not None and side * (close[k] - opens[k]) >= atr[k]
            ]
            item = {
                "side": side,
                "bar": i,
                "turned": trend == -side,
                "pushed": bool(pushes),
                "mss": None,
            }
            item["level"] = high[bar] if side > 0 else low[bar]
            item["swept"] = i - sweeps[-side] <= 20
            if item["turned"] and pushes and any(s == side and m >= start for s, m in gaps):
                item["mss"] = i
            breaks.append(item)
            trend = side
            candles = (
                [k for k in range(start, pushes[0]) if side * (close[k] - opens[k]) < 0]
                if pushes
                else []
            )
            if candles and (candles[-1], side) not in taken:
                at = candles[-1]
                taken.add((at, side))
                has = any(s == side and m >= at for s, m in gaps)
                live.append(
                    {
                        "kind": "block",
                        "side": side,
                        "bar": at,
                        "known": i,
                        "top": high[at],
                        "bottom": low[at],
                        "phase": 0,
                        "fvg": has,
                    }
                )
        for kind in ("gap", "block"):
            for side in (1, -1):
                for done in (False, True):
                    group = [
                        z
                        for z in live
                        if (z["kind"], z["side"], z["phase"] == 4) == (kind, side, done)
                    ]
                    for zone in sorted(group, key=lambda z: z["known"])[
                        : max(len(group) - keep, 0)
                    ]:
                        live.remove(zone)
    warming = ready in (None, -1) or len(bars) - 1 < ready + max_age
    breaks = [item for item in breaks if warming or item["bar"] >= ready]
    return {"trend": trend, "zones": live, "breaks": breaks, "warmup": warming}


def _gap(i, opens, high, low, close):
    if i < 2:
        return None
    body = close[i - 1] - opens[i - 1]
    zone = {"kind": "gap", "bar": i - 1, "known": i, "phase": 0}
    if low[i] > high[i - 2] and body > 0:
        return zone | {"side": 1, "top": low[i], "bottom": high[i - 2]}
    if high[i] < low[i - 2] and body < 0:
        return zone | {"side": -1, "top": low[i - 2], "bottom": high[i]}
    return None


def _age(zone, i, high, low, close, max_age, live):
    """The zone on bar i: it goes as far as the bar reaches, and leaves when it is dead."""
    side = zone["side"]
    near, far = (zone["top"], zone["bottom"]) if side > 0 else (-zone["bottom"], -zone["top"])
    reach, last = (low[i], close[i]) if side > 0 else (-high[i], -close[i])
    if i - zone["known"] > max_age or (zone["phase"] == 4 and last > near):
        live.remove(zone)
        return
    if zone["phase"] < 4:
        steps = (reach <= near, 2 * reach <= near + far, reach <= far, last < far)
        zone["phase"] = max(zone["phase"], *(k + 1 for k, done in enumerate(steps) if done), 0)


def _atr(high, low, close, n=14):
    """Wilder's average of the true range, seeded with the mean of the first n."""
    ranges = [
        max(high[i], close[i - 1]) - min(low[i], close[i - 1]) if i else high[i] - low[i]
        for i in range(len(high))
    ]
    out: list[float | None] = [None] * len(ranges)
    for i in range(n - 1, len(ranges)):
        out[i] = sum(ranges[:n]) / n if i == n - 1 else (out[i - 1] * (n - 1) + ranges[i]) / n
    return out


def smt(bars: Bars, pair: Bars, left: int = 5, right: int = 5, life: int = 20) -> list[tuple]:
    """Divergences of either instrument with their phases, in the order in which they were known."""
    shared = sorted({*bars.time.tolist()} & {*pair.time.tolist()})
    ours = {t: i for i, t in enumerate(bars.time.tolist())}
    theirs = {t: i for i, t in enumerate(pair.time.tolist())}
    _, high, low, close = in_ticks(bars)
    _, other_high, other_low, _ = in_ticks(pair)
    found = []
    for side, own, other in ((-1, high, other_high), (1, low, other_low)):
        a = [-side * own[ours[t]] for t in shared]
        b = [-side * other[theirs[t]] for t in shared]
        ends = [-side * close[ours[t]] for t in shared]
        last = None
        for p in range(left, len(shared) - right):
            if max(a[p - left : p]) > a[p] or max(a[p + 1 : p + right + 1]) >= a[p]:
                continue
            most = max(b[max(p - right, 0) : p + right + 1])
            if last is not None and (a[p] > a[last[0]]) != (most > last[1]):
                known = p + right
                phase, until = _end(a, b, ends, last, p, known, life)
                failed = "pair" if a[p] > a[last[0]] else "chart"
                name = "bull" if side > 0 else "bear"
                times = (shared[last[0]], shared[p], shared[known], until and shared[until])
                found.append((known, side, (name, phase, failed, *times)))
            last = p, most
    return [item for _, _, item in sorted(found)]


def _end(a, b, ends, last, p, known, life):
    """How a divergence ended, and on which joined bar."""
    for k in range(known + 1, len(a)):
        if k > known + life:
            return "expired", k
        if ends[k] > max(a[p], a[last[0]]):
            return "invalidated", k
        if b[k] > last[1] if a[p] > a[last[0]] else a[k] > a[last[0]]:
            return "resolved", k
    return "confirmed", None


# ------------------------------------------------------------------------------------ session bias

SESSIONS = {"asia": (1200, 1440), "london": (120, 300), "ny_am": (570, 660), "ny_pm": (810, 960)}


def session_bias(bars: Bars, closes: int = 3) -> dict[str, Any]:
    """The sessions in the order in which they began, and what the one that ended last says."""
    _, high, low, close = in_ticks(bars)
    clock, days, time = wall_minutes(bars), bars.trading_day.tolist(), bars.time.tolist()
    sessions: list[dict[str, Any]] = []
    for i in range(len(bars)):
        for session in sessions:
            begin, end = SESSIONS[session["name"]]
            if session["day"] != days[i]:
                session["expired"] = True
                session["known"] = session["known"] or time[i]
                continue
            if session["known"] is None and begin <= clock[i] < end:
                session["high"] = max(session["high"], high[i])
                session["low"] = min(session["low"], low[i])
                session["last"] = time[i]
                continue
            if session["known"] is None:
                session["known"] = time[i]
            _watch(session, "high", high[i] > session["high"], close[i] > session["high"], closes)
            _watch(session, "low", low[i] < session["low"], close[i] < session["low"], closes)
        for name, (begin, end) in SESSIONS.items():
            runs = any((s["name"], s["day"]) == (name, days[i]) for s in sessions)
            if begin <= clock[i] < end and not runs:
                whole = i > 0 or clock[i] == begin
                item = {"name": name, "day": days[i], "first": time[i], "last": time[i]}
                item |= {"known": None, "expired": False, "whole": whole, "outside": {}}
                item |= {
                    "high": high[i],
                    "low": low[i],
                    "outcomes": {"high": "none", "low": "none"},
                }
                sessions.append(item)
    over = [s for s in sessions if s["known"] is not None and not s["expired"]]
    last = max(over, key=lambda s: s["known"], default=None)
    state = "NO_RANGE" if days[0] != days[-1] else "WARMUP"
    target = None
    if last is not None:
        above, below = last["outcomes"]["high"], last["outcomes"]["low"]
        if (above, below) == ("none", "none"):
            state = "ARMED"
        elif "none" not in (above, below):
            state = "BOTH_SWEPT"
        else:
            side, outcome = ("HIGH", above) if below == "none" else ("LOW", below)
            state = f"{side}_{'SWEPT' if outcome == 'pending' else outcome.upper()}"
        if state.endswith("REJECTED"):
            target = last["low"] if state.startswith("HIGH") else last["high"]
        state = state if last["whole"] else "WARMUP"
    return {
        "state": state,
        "target": target if state != "WARMUP" else None,
        "session": last["name"] if last and state != "WARMUP" else None,
        "sessions": [s for s in sessions if s["whole"]],
    }


def _watch(session, side, beyond, closed_beyond, closes):
    """One bar of a session's watch over one of its sides."""
    if session["outcomes"][side] == "none" and beyond:
        session["outcomes"][side] = "pending"
    if session["outcomes"][side] == "pending":
        count = session["outside"].get(side, 0) + 1
        session["outside"][side] = count
        if not closed_beyond:
            session["outcomes"][side] = "rejected"
        elif count == closes:
            session["outcomes"][side] = "accepted"


# ------------------------------------------------------------------------------------------ macros

MACROS = ((153, 180), (243, 270), (530, 550), (590, 610), (650, 670), (710, 730), (790, 820),
          (915, 945))  # fmt: skip


def macro(bars: Bars, ahead: int = 30, keep: int = 8) -> dict[str, Any]:
    """The windows that were met, oldest first, and where the last close stands to them."""
    _, high, low, _ = in_ticks(bars)
    clock, days, time = wall_minutes(bars), bars.trading_day.tolist(), bars.time.tolist()
    span = int(bars.close_time[0] - bars.time[0]) // 60_000
    dates = [datetime.fromtimestamp(t / 1000, NEW_YORK).date() for t in time]
    windows = []
    for date in sorted(set(dates)):
        for begin, end in MACROS:
            met = [
                i
                for i in range(len(bars))
                if dates[i] == date and clock[i] < end and clock[i] + span > begin
            ]
            if not met or (met[0] == 0 and clock[0] > begin):
                continue
            later = [i for i in range(met[-1] + 1, len(bars)) if days[i] == days[met[0]]]
            top, bottom = max(high[i] for i in met), min(low[i] for i in met)
            windows.append({
                "begin": time[met[0]] + (begin - clock[met[0]]) * 60_000, "high": top,
                "low": bottom, "high_swept": any(high[i] > top for i in later),
                "low_swept": any(low[i] < bottom for i in later),
            })  # fmt: skip
    now = (clock[-1] + span) % 1440
    wait = min((begin - now for begin, _ in MACROS if begin > now), default=None)
    phase = "IDLE"
    since_roll = (clock[-1] - 60 * _roll_hour(bars)) % 1440 + span
    if any((now - end) % 1440 < since_roll for _, end in MACROS):
        phase = "DONE"
    if wait is not None and wait <= ahead:
        phase = "UPCOMING"
    if any(begin <= now < end for begin, end in MACROS):
        phase = "ACTIVE"
    return {"macro": phase, "wait": wait, "windows": windows[-keep:]}


# ------------------------------------------------------------------------------------- EMA and news


def ema_trend(
    bars: Bars, fast: int = 9, mid: int = 21, slow: int = 50, base: int = 200, settle: int = 1000
) -> dict[str, Any]:
    """The phase that was last confirmed, since when, and the changes before."""
    lengths = (fast, mid, slow, base)
    close, high, low = (column.tolist() for column in (bars.close, bars.high, bars.low))
    averages = [_ema(close, length) for length in lengths]
    atr = _atr(high, low, close)
    phase, since, run, before, changes = None, None, 0, None, []
    for i in range(len(close)):
        values = [average[i] for average in averages]
        if None in values:
            continue
        a, b, c, d = values
        rising = averages[2][i - 1] is not None and c > averages[2][i - 1]
        falling = averages[2][i - 1] is not None and c < averages[2][i - 1]
        code = "MIXED"
        if a > b > c > d:
            code = "BULL" if close[i] > c and rising else code
            code = "PULLBACK_BULL" if d < close[i] <= c else code
        elif a < b < c < d:
            code = "BEAR" if close[i] < c and falling else code
            code = "PULLBACK_BEAR" if d > close[i] >= c else code
        run = run + 1 if code == before else 1
        before = code
        sure = run >= 2 or (atr[i] is not None and abs(a - b) >= 0.1 * atr[i])
        if i >= lengths[-1] - 1 + settle and sure and code != phase:
            if phase is not None:  # when the first one began is not known
                since = int(bars.time[i])
                changes.append((code.lower(), since))
            phase = code
    return {"trend": phase or "WARMUP", "since": since, "changes": changes[-20:]}


def _ema(values: list[float], length: int) -> list[float | None]:
    """Pine's: seeded with the mean of the first values."""
    out: list[float | None] = [None] * len(values)
    for i in range(length - 1, len(values)):
        last = out[i - 1]
        seed = sum(values[:length]) / length
        out[i] = seed if last is None else last + 2 / (length + 1) * (values[i] - last)
    return out


def economic_calendar(bars: Bars, events: tuple[Any, ...]) -> dict[str, Any]:
    """Where the last bar stands to the dollar's events: the strongest phase, and the next three."""
    opened, closed = int(bars.time[-1]), int(bars.close_time[-1])
    dated = [
        event
        for event in events
        if event["currency"] == "USD" and event["impact"] in ("high", "medium")
        and not event["all_day"] and not event["tentative"]
    ]  # fmt: skip
    told = {}
    for event in dated:
        at, margin = event["time_utc"], 300_000 if event["impact"] == "high" else 0
        if opened <= at < closed:
            told[event["id"]] = "live"
        elif margin and at >= closed and at - margin <= closed:
            told[event["id"]] = "pre"
        elif margin and at < opened < at + margin:
            told[event["id"]] = "post"
    news = next((p.upper() for p in ("live", "pre", "post") if p in told.values()), "CLEAR")
    if not events or max(event["time_utc"] for event in events) < closed:
        news = "STALE"
    ahead = [event for event in dated if event["time_utc"] >= closed][:3]
    near = [e for e in dated if e["time_utc"] < closed and e["id"] in told] + ahead
    return {"news": news, "events": [(e["time_utc"], told.get(e["id"], "clear")) for e in near]}
