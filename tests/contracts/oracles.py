"""What each documented indicator's picture means, in plain Python, written from what is known of
the indicators and not from their contracts.

An oracle takes a study's records and the settings and returns the state, or raises `Refused`.
It says nothing about why: only whether a picture can be read, and as what.
"""

import re
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, Decimal
from zoneinfo import ZoneInfo

from drawings import LAST_BAR, START, STEP

LABEL_TEXT = re.compile(r"SMT - \s*(\S|\S.*\S)\s*")
NEW_YORK = ZoneInfo("America/New_York")


class Refused(Exception):
    """The picture cannot be read."""


def refuse_unless(condition):
    if not condition:
        raise Refused


def rgb(color):
    """How a colour looks: its red, green and blue; none where it cannot be seen."""
    if color is None or (len(color) == 9 and color.endswith("00")):
        return None
    return color[:7].lower()


def alpha(color):
    return 0 if color is None else int(color[7:] or "ff", 16)


def drawn(records, *prices):
    return [r for r in records if all(r[name] is not None for name in prices)]


def older(x, than):
    """Whether an anchor lies before another; what is outside the history lies before all."""
    return x["n"] is None or (than["n"] is not None and x["n"] < than["n"])


def trading_day(ms):
    """The date of a futures day, which begins at 18:00 in New York on the evening before."""
    wall = datetime.fromtimestamp(ms / 1000, NEW_YORK).replace(tzinfo=None)
    return (wall + timedelta(hours=6)).date()


def outdated(anchor):
    """Whether an anchor lies on an earlier trading day than the last bar."""
    last = trading_day(START + LAST_BAR * STEP)
    return anchor["time"] is not None and trading_day(anchor["time"]) < last


def left_to_right(box):
    return (
        {**box, "left": box["right"], "right": box["left"]}
        if older(box["right"], box["left"])
        else box
    )


# --------------------------------------------------------------------------------------- Bias AI


def bias(study, settings):
    before, after = rgb(settings["before_raid_color"]), rgb(settings["after_raid_color"])
    refuse_unless(before != after)
    refuse_unless(not study["boxes"])
    marks = {None: "none", before: "before", after: "after"}

    def mark(color):
        refuse_unless(rgb(color) in marks)
        return marks[rgb(color)]

    named = {}
    for each in study["cells"]:
        if each["column"] == 0 and each["text"] in ("PDH", "PDL", "PWH", "PWL"):
            refuse_unless(each["text"] not in named)
            named[each["text"]] = each
    refuse_unless("PDH" in named and "PDL" in named)
    refuse_unless(named["PDH"]["row"] == 1 and named["PDL"]["row"] == 2)
    cells = {text: mark(each["bgcolor"]) for text, each in named.items()}

    levels = []
    for each in drawn(study["lines"], "y1", "y2"):
        upright = each["x1"]["n"] is not None and each["x1"]["n"] == each["x2"]["n"]
        level = each["y1"] == each["y2"] and rgb(each["color"]) in (before, after)
        upright = upright and each["y1"] != each["y2"]
        daily = level and each["style"] == "solid"
        weekly = level and each["style"] == "dashed"
        refuse_unless([upright, daily, weekly].count(True) == 1)
        if daily:
            levels.append(each)
    known = [each for each in levels if each["x1"]["n"] is not None]
    refuse_unless(known)
    newest = max(each["x1"]["n"] for each in known)
    today = sorted((e for e in known if e["x1"]["n"] == newest), key=lambda e: e["y1"])
    refuse_unless(len(today) == 2 and not outdated(today[0]["x1"]))
    low, high = today
    if low["y1"] == high["y1"]:  # which is which cannot be told, nor matters where they look alike
        refuse_unless(low["x2"] == high["x2"] and rgb(low["color"]) == rgb(high["color"]))
    high_mark, low_mark = mark(high["color"]), mark(low["color"])

    refuse_unless(cells["PDH"] == "none" or cells["PDL"] == "none")
    for text, seen in (("PDH", high_mark), ("PDL", low_mark)):
        refuse_unless(cells[text] in ("none", seen))
    daily, target = "neutral", None
    if cells["PDH"] != "none":
        daily, target = "bullish", "PDH"
    if cells["PDL"] != "none":
        daily, target = "bearish", "PDL"

    weekly = None
    refuse_unless(("PWH" in cells) == ("PWL" in cells))
    if "PWH" in cells:
        refuse_unless(cells["PWH"] == "none" or cells["PWL"] == "none")
        weekly = "neutral"
        weekly = "bullish" if cells["PWH"] != "none" else weekly
        weekly = "bearish" if cells["PWL"] != "none" else weekly
    return {
        "day_start": high["x1"]["time"],
        "daily": daily,
        "weekly": weekly,
        "draw_on_liquidity": target,
        "hit_target": target is not None and cells[target] == "after",
        "pdh": high["y1"],
        "pdl": low["y1"],
        "pdh_swept": high_mark == "after",
        "pdl_swept": low_mark == "after",
    }


# ------------------------------------------------------------------------------- Session Hunt AI


def hunt(study, settings):
    tick = settings["tick_size"]
    sessions = {rgb(settings[f"{name}_color"]): name for name in ("asia", "london", "ny_am")}
    refuse_unless(len(sessions) == 3)
    hi, lo, swept = (rgb(settings[f"ext_{name}_color"]) for name in ("hi", "lo", "swept"))
    refuse_unless(swept not in (hi, lo))
    refuse_unless(not study["cells"])
    wanted = "london" if settings["mode"] == "NY" else "asia"

    boxes = [left_to_right(each) for each in drawn(study["boxes"], "top", "bottom")]
    for each in boxes:
        refuse_unless(rgb(each["border_color"]) in sessions)
    ranges = [each for each in boxes if sessions[rgb(each["border_color"])] == wanted]
    lines = drawn(study["lines"], "y1", "y2")
    for each in lines:
        refuse_unless(each["y1"] == each["y2"] and rgb(each["color"]) in (hi, lo, swept))
    state = {
        "state": "NO_RANGE",
        "side": None,
        "range_start": None,
        "target_high": None,
        "target_low": None,
        "hi_swept": False,
        "lo_swept": False,
        "reextended": False,
        "reext_high": None,
        "reext_low": None,
    }
    answer = {"mode": settings["mode"], "hunt": state}
    if not ranges:
        refuse_unless(not lines)
        return answer
    starts = [each["left"]["n"] for each in ranges if each["left"]["n"] is not None]
    refuse_unless(starts)
    newest = [each for each in ranges if each["left"]["n"] == max(starts)]
    refuse_unless(len(newest) == 1)
    top = max(newest[0]["top"], newest[0]["bottom"])
    bottom = min(newest[0]["top"], newest[0]["bottom"])

    def near(a, b):
        return abs(a - b) <= tick / 2

    highs, lows, others = [], [], []
    for each in lines:
        if older(each["x1"], newest[0]["left"]):
            refuse_unless(not older(newest[0]["left"], each["x2"]))
            continue
        is_high = near(each["y1"], top) and rgb(each["color"]) in (hi, swept)
        is_low = near(each["y1"], bottom) and rgb(each["color"]) in (lo, swept)
        refuse_unless(not (is_high and is_low))
        if is_high:
            highs.append(each)
        elif is_low:
            lows.append(each)
        else:
            refuse_unless(not near(each["y1"], top) and not near(each["y1"], bottom))
            others.append(each)
    refuse_unless(len(highs) <= 1 and len(lows) <= 1)
    if others:
        refuse_unless(len(others) == 2 and others[0]["x1"] == others[1]["x1"])
        lower, upper = sorted(others, key=lambda each: each["y1"])
        refuse_unless(lower["y1"] != upper["y1"])
        refuse_unless(rgb(upper["color"]) in (hi, swept) and rgb(lower["color"]) in (lo, swept))
    if outdated(newest[0]["left"]):
        refuse_unless(all(outdated(each["x1"]) for each in (*highs, *lows, *others)))
        return answer
    refuse_unless(len(highs) == len(lows))
    if not highs:
        refuse_unless(not others)
        return answer
    hi_swept = rgb(highs[0]["color"]) == swept
    lo_swept = rgb(lows[0]["color"]) == swept
    state |= {
        "range_start": newest[0]["left"]["time"],
        "target_high": highs[0]["y1"],
        "target_low": lows[0]["y1"],
        "hi_swept": hi_swept,
        "lo_swept": lo_swept,
    }
    names = {
        (False, False): ("WAITING", None),
        (True, False): ("HUNT_HIGH", "HUNT_HIGH"),
        (False, True): ("HUNT_LOW", "HUNT_LOW"),
        (True, True): ("INVALID", "INVALID"),
    }
    if not others:
        state["state"], state["side"] = names[hi_swept, lo_swept]
        return answer
    refuse_unless(hi_swept and lo_swept)
    again = rgb(upper["color"]) == swept, rgb(lower["color"]) == swept
    name, state["side"] = names[again]
    state["state"] = f"REEXT_{name.removeprefix('HUNT_')}"
    state |= {"reextended": True, "reext_high": upper["y1"], "reext_low": lower["y1"]}
    return answer


# ----------------------------------------------------------------------------------------- OB AI


def to_tick(price, tick):
    """Rounded half up, by decimal digits."""
    ticks = Decimal(repr(price)) / Decimal(repr(tick)) + Decimal("0.5")
    return float(ticks.to_integral_value(ROUND_FLOOR) * Decimal(repr(tick)))


def order_blocks(study, settings):
    tick = settings["tick_size"]
    sides = {
        rgb(settings["bull_line_color"]): "bullish",
        rgb(settings["bear_line_color"]): "bearish",
    }
    refuse_unless(len(sides) == 2)
    refuse_unless(settings["base_style"] != "dotted" and settings["delLines"])
    bull, bear = rgb(settings["bull_fvg_color"]), rgb(settings["bear_fvg_color"])

    groups = {}
    for each in drawn(study["lines"], "y1", "y2"):
        refuse_unless(each["y1"] == each["y2"] and rgb(each["color"]) in sides)
        refuse_unless(each["x1"]["n"] is not None)
        groups.setdefault((each["x1"]["n"], rgb(each["color"])), []).append(each)
    gaps = [left_to_right(each) for each in drawn(study["boxes"], "top", "bottom")]
    if bull is not None and bear is not None:
        refuse_unless(all(rgb(each["bgcolor"]) in (bull, bear) for each in gaps))
    gaps = [
        {
            "high": max(each["top"], each["bottom"]),
            "low": min(each["top"], each["bottom"]),
            "bar": each["left"]["bar"],
            "color": rgb(each["bgcolor"]),
        }
        for each in gaps
    ]
    refuse_unless(all(each["bar"] is not None for each in gaps))

    def fits(gap, side):
        own, other = (bull, bear) if side == "bullish" else (bear, bull)
        return gap["color"] == own if own is not None else other is None or gap["color"] != other

    found = {"bullish": [], "bearish": []}
    beside = []
    for (start, color), lines in sorted(groups.items()):
        side = sides[color]
        block = _block(lines, settings["base_style"], tick)
        mine = [gap for gap in gaps if start <= gap["bar"] <= start + settings["fvg_bars"]]
        if side == "bullish":
            mine = [g for g in mine if g["low"] >= block["low"] and g["high"] > block["high"]]
            mine = [g for g in mine if fits(g, side)]
            distance = [max(0, g["low"] - block["high"]) for g in mine]
        else:
            mine = [g for g in mine if g["high"] <= block["high"] and g["low"] < block["low"]]
            mine = [g for g in mine if fits(g, side)]
            distance = [max(0, block["low"] - g["high"]) for g in mine]
        beside += mine
        nearest = [g for g, far in zip(mine, distance, strict=True) if far == min(distance)]
        refuse_unless(len(nearest) <= 1)
        block["fvg"] = _gap(nearest[0], side, settings, tick) if nearest else None
        found[side].append(block)
    if (bull is None) != (bear is None):
        refuse_unless(all(g["color"] == (bull or bear) or g in beside for g in gaps))
    return {"order_blocks": found, "atr": None}


def _block(lines, base_style, tick):
    lines = sorted(lines, key=lambda each: each["y1"])
    refuse_unless(len(lines) in (2, 3))
    low, high = lines[0], lines[-1]
    refuse_unless(len({each["y1"] for each in lines}) == len(lines))
    if len(lines) == 3:
        middle = (high["y1"] + low["y1"]) / 2
        refuse_unless(abs(lines[1]["y1"] - middle) <= tick / 2)
        refuse_unless(alpha(lines[1]["color"]) < alpha(high["color"]))
    refuse_unless(alpha(high["color"]) == alpha(low["color"]))
    refuse_unless(high["style"] == low["style"] and high["style"] in (base_style, "dotted"))
    return {"high": high["y1"], "low": low["y1"], "spent": high["style"] == "dotted"}


def _gap(gap, side, settings, tick):
    height = gap["high"] - gap["low"]
    inside = settings["safe_ratio"] * height
    safe = gap["low"] + inside if side == "bullish" else gap["high"] - inside
    return {
        "high": gap["high"],
        "low": gap["low"],
        "aggressive": to_tick((gap["high"] + gap["low"]) / 2, tick),
        "safe": to_tick(safe, tick),
    }


# ------------------------------------------------------------------------------- SMT Divergences


def smt(study, settings, last_bar):
    refuse_unless(not study["boxes"] and not study["cells"])
    tick = settings["tick_size"]
    lines = drawn(study["lines"], "y1", "y2")
    tags = [each for each in study["labels"] if each["y"] is not None or each["yloc"] != "price"]
    pointers = {"label_up": "bullish", "label_down": "bearish"}
    for each in tags:
        refuse_unless(LABEL_TEXT.fullmatch(each["text"]) and each["style"] in pointers)
        refuse_unless(each["x"]["bar"] is not None)
    taken, items = [], []
    for each in lines:
        refuse_unless(each["y1"] != each["y2"])
        first, second = each["x1"], each["x2"]
        for anchor in (first, second):
            refuse_unless(None not in (anchor["n"], anchor["bar"], anchor["time"]))
        refuse_unless(first["n"] < second["n"])
        direction = "bullish" if each["y2"] < each["y1"] else "bearish"
        middle = (first["bar"] + second["bar"]) / 2, (each["y1"] + each["y2"]) / 2
        mine = [
            tag
            for tag in tags
            if tag["y"] is not None
            and abs(tag["x"]["bar"] - middle[0]) <= 1
            and middle[1] - tick / 2 <= tag["y"] <= middle[1] + tick / 2
        ]
        refuse_unless(len(mine) == 1 and pointers[mine[0]["style"]] == direction)
        taken.append(id(mine[0]))
        color = settings["bullColor" if direction == "bullish" else "bearColor"]
        refuse_unless(color is None or rgb(each["color"]) == rgb(color))
        items.append(
            {
                "direction": direction,
                "ticker": LABEL_TEXT.fullmatch(mine[0]["text"])[1],
                "start_time": first["time"],
                "end_time": second["time"],
                "start_price": each["y1"],
                "end_price": each["y2"],
                "active": 0 <= last_bar - second["bar"] <= settings["active_bars"],
            }
        )
    refuse_unless(sorted(taken) == sorted(id(tag) for tag in tags))
    keys = [(i["start_time"], i["end_time"], i["direction"]) for i in items]
    refuse_unless(len(set(keys)) == len(keys))
    items.sort(key=lambda item: (item["end_time"], *item.values()))
    newest = [item for item in items if item["end_time"] == items[-1]["end_time"]] if items else []
    pairs = {item["ticker"] for item in newest}
    signals = {item["direction"] for item in newest}
    return {
        "bullish_active": any(i["active"] for i in items if i["direction"] == "bullish"),
        "bearish_active": any(i["active"] for i in items if i["direction"] == "bearish"),
        "paired_instrument": pairs.pop() if len(pairs) == 1 else None,
        "last_signal": signals.pop() if len(signals) == 1 else None,
        "divergences": items,
    }
