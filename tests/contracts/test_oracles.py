"""Each contract against an oracle that knows nothing of it: same state, or both refuse."""

import copy
import random

import drawings as draw
import oracles
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.effort import examples

import chartpact as cp

PRICES = st.integers(0, 200).map(lambda n: 5800 + n * 0.25)
BARS = st.integers(100, draw.LAST_BAR - 10)
FEW = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

DEFAULTS = {
    "bias_ai": {"before_raid_color": draw.BEFORE, "after_raid_color": draw.AFTER},
    "session_hunt_ai": {
        "mode": "NY",
        "asia_color": draw.ASIA,
        "london_color": draw.LONDON,
        "ny_am_color": draw.NY_AM,
        "ext_hi_color": draw.HI,
        "ext_lo_color": draw.LO,
        "ext_swept_color": draw.SWEPT,
        "tick_size": 0.25,
    },
    "ob_ai": {
        "bull_line_color": draw.BULL,
        "bear_line_color": draw.BEAR,
        "base_style": "solid",
        "delLines": True,
        "bull_fvg_color": None,
        "bear_fvg_color": None,
        "fvg_bars": 3,
        "safe_ratio": 0.25,
        "tick_size": 0.25,
    },
    "smt_divergences": {
        "bullColor": None,
        "bearColor": None,
        "active_bars": 20,
        "tick_size": 0.25,
    },
}
ORACLES = {
    "bias_ai": oracles.bias,
    "session_hunt_ai": oracles.hunt,
    "ob_ai": oracles.order_blocks,
    "smt_divergences": lambda study, config: oracles.smt(study, config, draw.LAST_BAR),
}


@st.composite
def bias_pictures(pick):
    marks = st.sampled_from(["none", "before", "after"])
    weekly = pick(st.none() | st.tuples(marks, marks))
    side = pick(st.sampled_from(["pdh", "pdl", "neither"]))
    mark = pick(marks)
    hits = {"high_hit": pick(st.booleans()), "low_hit": pick(st.booleans())}
    if side != "neither" and mark != "none":
        hits["high_hit" if side == "pdh" else "low_hit"] = mark == "after"
    shown = {} if side == "neither" else {side: mark}
    return draw.bias(**shown, **hits, weekly=weekly, history=pick(st.booleans()))


@st.composite
def hunt_pictures(pick):
    level = st.sampled_from(["live", "swept"])
    low = pick(PRICES)
    high = low + pick(st.integers(4, 80)) * 0.25
    lines = pick(st.sampled_from(["none", "first", "both"]))
    hi, lo = (None, None) if lines == "none" else (pick(level), pick(level))
    again = None
    if lines == "both":
        hi = lo = "swept"
        again = (
            high + pick(st.integers(1, 9)),
            low - pick(st.integers(1, 9)),
            pick(level),
            pick(level),
        )
    return draw.hunt(
        hi,
        lo,
        again,
        session=pick(st.sampled_from([draw.LONDON, draw.LONDON, draw.ASIA])),
        left=pick(BARS),
        high=high,
        low=low,
        history=pick(st.booleans()),
    )


@st.composite
def ob_pictures(pick):
    blocks, gaps = [], []
    for start in sorted(pick(st.sets(BARS, max_size=5))):
        low = pick(PRICES)
        high = low + pick(st.integers(1, 20)) * 0.25
        side = pick(st.sampled_from(["bullish", "bearish"]))
        style = pick(st.sampled_from(["solid", "dotted"]))
        blocks.append(draw.block(start, high, low, side, style, pick(st.booleans())))
        for _ in range(pick(st.integers(0, 2))):
            edge = pick(st.integers(-8, 16)) * 0.25
            height = pick(st.integers(1, 12)) * 0.25
            bottom = high + edge if side == "bullish" else low - edge - height
            gaps.append(draw.gap(start + pick(st.integers(-1, 5)), bottom + height, bottom))
    return draw.ob(*blocks, gaps=gaps)


@st.composite
def smt_pictures(pick):
    pairs = []
    for _ in range(pick(st.integers(0, 4))):
        start = pick(BARS)
        end = min(start + pick(st.integers(2, 120)), draw.LAST_BAR)
        first = pick(PRICES)
        second = first + pick(st.integers(-40, 40)) * 0.25
        pairs.append(
            draw.divergence(start, first, end, second, pick(st.sampled_from(["NQ1!", "YM1!"])))
        )
    return draw.smt(*pairs)


PICTURES = {
    "bias_ai": bias_pictures(),
    "session_hunt_ai": hunt_pictures(),
    "ob_ai": ob_pictures(),
    "smt_divergences": smt_pictures(),
}
CONTRACTS = sorted(PICTURES)


def agree(name, study, config):
    """The contract and the oracle read the same, or both refuse."""
    reading = cp.read(name, draw.snapshot(study), config)
    try:
        expected = ORACLES[name](study, config)
    except oracles.Refused:
        expected = None
    if expected is None:
        assert not reading.ok, (study, reading.state)
    else:
        assert reading.ok, ([str(each) for each in reading.violations], study)
        assert reading.state == expected
    return expected is not None


@in_one_test("name", CONTRACTS)
def test_pictures_as_they_are_drawn_are_read_as_the_oracle_reads_them(name):
    good = 0

    @FEW
    @given(PICTURES[name])
    def check(study):
        nonlocal good
        good += agree(name, study, DEFAULTS[name])

    check()
    assert good > 10  # which are tried depends on the modules that are imported


COLORS = [
    draw.BEFORE, draw.AFTER, draw.HI, draw.LO, draw.SWEPT, draw.LONDON, draw.ASIA, draw.BEAR,
    "#123456",
]  # fmt: skip


def damage(study, chance):
    """One thing about a picture changed, in a way a broken indicator or source might."""
    channels = [name for name in ("labels", "lines", "boxes", "cells") if study[name]]
    if not channels:
        return study
    study = copy.deepcopy(study)
    records = study[chance.choice(channels)]
    at = chance.randrange(len(records))
    record = records[at]
    way = chance.randrange(12)
    if way == 0:
        del records[at]
    elif way == 1:
        records.append({**record, "id": 999_999})
    else:
        _change(record, way, chance)
    return study


def _change(record, way, chance):
    prices = [name for name in ("y", "y1", "y2", "top", "bottom") if name in record]
    anchors = [name for name in ("x", "x1", "x2", "left", "right") if name in record]
    colors = [name for name in ("color", "border_color", "bgcolor") if name in record]
    if way in (2, 3) and colors:
        color = chance.choice(COLORS) + chance.choice(["ff", "80", "cc", "00"])
        record[chance.choice(colors)] = chance.choice([color, color, None])
    elif way in (4, 5) and prices:
        name = chance.choice(prices)
        base = chance.choice([record[name] or 0, 5850.0])
        record[name] = base + chance.choice([0.125, 0.25, -3, 40])
    elif way == 6 and prices:
        for name in prices:
            record[name] = (record[name] or 0) + chance.choice([0.125, -0.125, 2.5])
    elif way == 7 and anchors:
        name = chance.choice(anchors)
        record[name] = draw.at(max((record[name]["n"] or 0) + chance.choice([-1, 1, 7, -90]), 0))
    elif way == 8 and anchors:
        for name in anchors:
            record[name] = draw.at(None)
    elif way == 9 and "style" in record:
        record["style"] = chance.choice(
            ["label_up", "label_down", "diamond"]
            if "text" in record
            else ["solid", "dotted", "dashed"]
        )
    elif way == 10 and "text" in record:
        record["text"] = chance.choice(["PDH", "PWL", "SMT - YM1!", "SMT NQ1!", ""])
    elif way == 11 and prices:
        record[chance.choice(prices)] = None
    elif "row" in record:
        record[chance.choice(["row", "column"])] += chance.choice([-1, 1, 2])


@in_one_test("name", CONTRACTS)
def test_damaged_pictures_are_refused_where_the_oracle_refuses_them(name):
    seen = {True: 0, False: 0}

    @FEW
    @given(PICTURES[name], st.integers(0, 2**32), st.integers(1, 3))
    def check(study, seed, times):
        chance = random.Random(seed)
        for _ in range(times):
            study = damage(study, chance)
        seen[agree(name, study, DEFAULTS[name])] += 1

    check()
    assert seen[False] > 20


CHANGES = {
    "bias_ai": st.fixed_dictionaries(
        {}, optional={"after_raid_color": st.sampled_from([draw.BEFORE, "#ff00ff"])}
    ),
    "session_hunt_ai": st.fixed_dictionaries(
        {},
        optional={
            "mode": st.sampled_from(["NY", "London"]),
            "tick_size": st.sampled_from([0.01, 0.25, 1, 5]),
            "ext_swept_color": st.sampled_from([draw.HI, "#ff00ff"]),
            "ext_lo_color": st.just(draw.HI),
            "asia_color": st.just(draw.LONDON),
        },
    ),
    "ob_ai": st.fixed_dictionaries(
        {},
        optional={
            "base_style": st.sampled_from(["solid", "dashed", "dotted"]),
            "delLines": st.booleans(),
            "fvg_bars": st.integers(0, 6),
            "safe_ratio": st.sampled_from([0, 0.1, 1 / 3, 0.5, 1]),
            "tick_size": st.sampled_from([0.01, 0.1, 0.25, 2.5]),
            "bull_fvg_color": st.sampled_from(["#4caf50", "#00ff00"]),
            "bear_fvg_color": st.sampled_from(["#4caf50", "#00ff00"]),
        },
    ),
    "smt_divergences": st.fixed_dictionaries(
        {},
        optional={
            "active_bars": st.integers(0, 300),
            "tick_size": st.sampled_from([0.01, 0.25, 5]),
            "bullColor": st.sampled_from([draw.BLACK, "#00ff00"]),
            "bearColor": st.sampled_from([draw.BLACK, "#00ff00"]),
        },
    ),
}


@in_one_test("name", CONTRACTS)
def test_other_settings_are_followed_as_the_oracle_follows_them(name):
    @FEW
    @given(PICTURES[name], CHANGES[name])
    def check(study, changes):
        agree(name, study, {**DEFAULTS[name], **changes})

    check()
