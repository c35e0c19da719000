"""Values and times are named where they lie, in numbers and dates people use."""

import re
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.effort import examples

import chartpact as cp
from chartpact.charts import Chart
from chartpact.render import axes, timeaxis
from chartpact.render.axes import TAG, Tag
from chartpact.render.display import Area, DisplayList, Rects, Words
from chartpact.render.frame import Frame
from chartpact.render.look import Look
from chartpact.render.numberformat import NumberFormat, compact, price_format, range_format
from chartpact.render.picture import _Composer, compose
from chartpact.render.scales import ValueScale, round_step
from chartpact.render.theme import DARK
from chartpact.scene import Scene

from .scenery import chart_of, elements, flat_bars, written

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def ms(*when: int, tz: str = "UTC") -> int:
    return round(datetime(*when, tzinfo=ZoneInfo(tz)).timestamp() * 1000)


# ------------------------------------------------------------------------------------------ values


@in_one_test(
    ("least", "tick", "step"),
    [
        (0.3, None, 0.5),
        (0.011, None, 0.02),
        (2.1, None, 2.5),
        (0.1, 0.25, 0.25),
        (0.3, 0.25, 0.5),
        (0.6, 0.25, 1.0),
        (1.1, 0.25, 2.0),
        (0.00007, 0.00001, 0.0001),
        (0.02, 0.03125, 0.03125),
        (0.05, 0.03125, 0.0625),
        (0.4, 0.03125, 0.5),
        (3, 5, 5),
    ],
)
def test_steps_are_round_and_whole_ticks(least, tick, step):
    assert round_step(least, tick) == pytest.approx(step)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.floats(1e-6, 1e9),
    st.sampled_from([None, 0.25, 0.01, 1e-5, 0.5, 1 / 32, 5.0, 100.0]),
)
def test_a_step_is_never_less_than_asked_and_always_a_whole_number_of_ticks(least, tick):
    step = round_step(least, tick)
    assert step >= least * (1 - 1e-9)
    assert step <= max(least * 10, (tick or 0) * 10)
    if tick:
        assert step / tick == pytest.approx(round(step / tick), rel=1e-9)


@settings(max_examples=examples(150), deadline=None)
@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.booleans())
def test_value_labels_are_inside_and_apart(low, span, log):
    if log:
        low = abs(low) + 0.5
    scale = ValueScale(low, low + span, 20.0, 380.0, log)
    found = scale.ticks(0.0, 400.0, 40.0, None)
    heights = [scale.y1(value) for value in found]
    assert all(-1 <= y <= 401 for y in heights)
    assert all(b - a >= 20 for a, b in pairwise(sorted(heights)))
    assert len(found) >= 1


def test_a_height_and_its_value_belong_together():
    for scale in (ValueScale(3, 9, 10, 200), ValueScale(3, 900, 10, 200, log=True)):
        for y in (10.0, 77.0, 200.0):
            assert scale.y1(scale.value(y)) == pytest.approx(y)


def test_prices_are_written_with_the_decimals_of_their_tick():
    prices = np.array([4500.25, 4501.0])
    assert price_format(prices, 0.25)(4500.5) == "4,500.50"
    assert price_format(prices, 0.00001)(1.1) == "1.10000"
    assert price_format(np.array([1.23456, 1.3]), None)(1.25) == "1.25000"
    assert price_format(np.array([17.0, 18.0]), None)(17.0) == "17"
    assert price_format(np.array([0.00001234]), None)(0.00001234) == "0.00001234"


@in_one_test("size", [1e-3, 3.2e-8, 5e-12, 7e-30])
def test_a_price_near_nought_is_not_written_as_nought(size):
    prices = size * np.array([1.0, 1.01, 1.0234])
    low, middle, high = map(price_format(prices, None), prices)
    assert len({low, middle, high, "0"}) == 4
    assert float(high.replace("−", "-")) == pytest.approx(1.0234 * size, rel=1e-3)
    assert range_format(size, 1.01 * size)(size) != range_format(size, 1.01 * size)(1.01 * size)


def test_a_tall_log_scale_is_named_all_along():
    scale = ValueScale(28_000.0, 120_000.0, 0.0, 3_600.0, log=True)
    y = [scale.y1(each) for each in scale.ticks(0.0, 3_600.0, 38.0, 0.01)]
    assert len(y) > 30
    assert all(26 <= lower - upper < 260 for lower, upper in pairwise(y))


def test_large_values_are_written_short_and_a_nought_has_no_sign():
    assert [compact(v) for v in (0, 999, 1000, 20_500, -3.456e9, 7e12)] == [
        "0", "999", "1K", "20.5K", "−3.46B", "7T",
    ]  # fmt: skip
    assert NumberFormat(2)(-0.001) == "0.00"
    assert range_format(-0.0003, 0.0002)(-0.00025) == "−0.0002500"


def test_the_price_axis_goes_by_the_tick_size():
    labels = written(chart_of(Scene(), flat_bars(tick_size=0.25)).svg(height=500))
    assert {"100.00", "100.50", "101.00"} <= set(labels)
    assert "100.20" not in labels


def test_the_last_price_has_a_tag_in_the_colour_of_its_bar():
    bars = flat_bars(11)  # the last bar rises, to 101
    root = chart_of(Scene(), bars).svg(height=500)
    [tag] = [
        each
        for each in elements(root, "rect")
        if each.get("rx") == "2" and each.get("fill") == "#089981"
    ]
    assert "101.00" in written(root)
    assert float(tag.get("height")) == TAG


def test_the_price_tag_stays_at_its_price_and_the_others_make_room_in_half_of_the_axis():
    area = Area(0, 0, 100, 200)
    tags = [Tag(100.0 + i, f"{i}", "#ffffff", first=i == 3) for i in range(8)]
    placed = axes.spread(tags, area)
    heights = [y for y, _ in placed]
    assert len(placed) == 5  # of the others the first ones stay
    assert {tag.text for _, tag in placed} == {"3", "0", "1", "2", "4"}
    assert all(b - a >= TAG - 1e-9 for a, b in pairwise(heights))
    assert next(y for y, tag in placed if tag.first) == 103.0


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.floats(0, 120), min_size=1, max_size=15), st.integers(0, 14), st.floats(0, 120))
def test_no_crowd_of_tags_moves_the_price_tag(heights, number, price):
    tags = [Tag(y, "1", "#ffffff") for y in heights]
    tags.insert(number % len(tags), Tag(price, "price", "#ffffff", first=True))
    placed = axes.spread(tags, Area(0, 0, 100, 120))
    [y] = [y for y, tag in placed if tag.first]
    assert y == min(max(price, TAG / 2), 120 - TAG / 2)  # within the pane, else at its price
    assert len(placed) * TAG <= 60 or len(placed) == 1


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.floats(0, 120), max_size=15), st.integers(0, 14))
def test_tags_never_cover_each_other(heights, first):
    tags = [Tag(y, "1", "#ffffff", first=i == first) for i, y in enumerate(heights)]
    placed = [y for y, _ in axes.spread(tags, Area(0, 0, 100, 120))]
    assert all(b - a >= TAG - 1e-6 for a, b in pairwise(placed))
    assert all(TAG / 2 - 1e-6 <= y <= 120 - TAG / 2 + 1e-6 for y in placed)


def test_a_log_scale_gives_equal_room_to_equal_ratios():
    scale = ValueScale(1, 100, 0, 200, log=True)
    assert scale.y1(10) == pytest.approx(100)
    assert np.isnan(scale.y1(-1))


# ------------------------------------------------------------------------------------------- times


def labels(time, width=1000, tz="UTC"):
    time = np.asarray(time)
    found = timeaxis.ticks(time, width / len(time), tz, 11)
    return [(tick.label, tick.major) for tick in found]


@in_one_test(
    ("step", "count", "some"),
    [
        (MINUTE, 60, {"00:10", "00:30"}),
        (MINUTE, 600, {"02:00", "05:00"}),
        (5 * MINUTE, 288 * 3, {"2 Jan", "3 Jan", "12:00"}),
        (HOUR, 24 * 20, {"3 Jan", "15 Jan"}),
        (HOUR, 24 * 200, {"Feb", "Jun"}),
        (DAY, 365, {"Feb", "Jul", "Dec"}),
        (DAY, 365 * 6, {"2025", "2028", "Jul"}),
        (DAY, 365 * 40, {"2030", "2060"}),
        (7 * DAY, 52 * 60, {"2030", "2080"}),
        (1_000, 120, {"00:00:30", "00:01:00"}),
    ],
)
def test_ticks_are_readable_from_seconds_to_decades(step, count, some):
    found = labels(ms(2024, 1, 1) + step * np.arange(count))
    words = {word for word, _ in found}
    assert some <= words
    assert 4 <= len(found) <= 18


@settings(max_examples=examples(150), deadline=None)
@given(
    st.integers(1, 3000),
    st.sampled_from([1_000, MINUTE, 5 * MINUTE, HOUR, 4 * HOUR, DAY, 7 * DAY, 31 * DAY]),
    st.sampled_from(["UTC", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"]),
    st.integers(160, 4000),
)
def test_there_is_always_a_label_and_labels_never_touch(count, step, tz, width):
    from chartpact.render import typesetting

    time = ms(1990, 5, 3, 7) + step * np.arange(count)
    pitch = width / count
    found = timeaxis.ticks(time, pitch, tz, 11)
    assert found
    spans = sorted(
        (tick.bar * pitch - w / 2, tick.bar * pitch + w / 2)
        for tick in found
        for w in [typesetting.width(tick.label, 11, "sans-bold")]
    )
    assert all(b[0] >= a[1] for a, b in pairwise(spans))
    assert len({tick.bar for tick in found}) == len(found)


def test_a_new_day_stands_out_among_hours_and_a_new_year_among_months():
    hours = labels(ms(2024, 3, 4, 18) + HOUR * np.arange(12))
    assert ("5 Mar", True) in hours
    assert ("20:00", False) in hours
    months = labels(ms(2023, 9, 1) + DAY * np.arange(240))
    assert ("2024", True) in months
    assert ("15 Nov", False) in months


def test_a_few_bars_are_all_named():
    assert [word for word, _ in labels(ms(2024, 3, 4, 9) + MINUTE * np.arange(4))] == [
        "09:00", "09:01", "09:02", "09:03",
    ]  # fmt: skip
    months = [ms(2023, month, 1) for month in (9, 10, 11, 12)] + [ms(2024, 1, 1)]
    assert labels(months) == [
        ("Sep", False), ("Oct", False), ("Nov", False), ("Dec", False), ("2024", True),
    ]  # fmt: skip


def test_a_single_bar_has_its_time_or_its_day():
    assert labels([ms(2024, 3, 4, 9, 35)]) == [("09:35", False)]
    assert labels([ms(2024, 3, 4)]) == [("4 Mar", False)]


def test_times_are_told_in_the_zone_asked_for():
    time = ms(2024, 3, 4, 14) + 30 * MINUTE * np.arange(14)
    assert ("15:00", False) in labels(time, tz="UTC")
    assert ("10:00", False) in labels(time, tz="America/New_York")
    assert ("20:45", False) in labels(time, tz="Asia/Kathmandu") or (
        "20:15",
        False,
    ) in labels(time, tz="Asia/Kathmandu")


def test_the_clock_change_moves_the_wall_clock_not_the_bars():
    time = ms(2024, 3, 10, 5) + HOUR * np.arange(6)  # New York springs forward at 07:00 UTC
    wall = timeaxis.local(time, "America/New_York")
    assert [(each // HOUR) % 24 for each in wall.tolist()] == [0, 1, 3, 4, 5, 6]


def test_a_night_without_bars_takes_no_room():
    day = ms(2024, 3, 4, 14, 30) + 5 * MINUTE * np.arange(78)
    bars = flat_bars(156)
    bars = type(bars)(
        np.concatenate((day, day + DAY)), bars.open, bars.high, bars.low, bars.close, bars.volume
    )
    picture = Chart(bars).svg(width=1000, height=400, volume="none")
    bodies = [
        each.get("d")
        for each in elements(picture, "path")
        if each.get("shape-rendering") and each.get("fill") in ("#089981", "#f23645")
    ]
    import re

    xs = sorted(
        {int(x) for d in bodies for x, w in re.findall(r"M(\d+) \d+h(\d+)v", d) if w == "1"}
    )
    gaps = np.diff(xs)
    assert gaps.max() <= 2 * np.median(gaps)
    assert "5 Mar" in written(picture)


# -------------------------------------------------------------------------------- dates on pictures


def sampled(name: str, **how: object) -> tuple[Chart, DisplayList]:
    chart = cp.chart(cp.load(f"sample:{name}"), last=how.pop("last", 200))
    return chart, compose(chart, Look(**how))


def time_labels(picture: DisplayList) -> list[Words]:
    """The texts below the panes, from the left, without the name of the zone."""
    axis = picture.height - axes.TIME_HEIGHT
    words = [op for op in picture.ops if isinstance(op, Words) and op.y > axis and op.size == 11]
    return sorted(words, key=lambda op: op.x)


@in_one_test("name", ["es-1m", "es-5m", "eurusd-15m", "btc-4h", "btc-1d"])
@in_one_test("width", [160, 420, 1200])
def test_every_picture_has_a_date_with_its_year(name, width):
    for last in (1, 2, 20, 200, 700):
        chart, picture = sampled(name, last=last, width=width, height=300)
        first = time_labels(picture)[0].text
        days = chart.bars.time // DAY
        dates = {timeaxis.date(int(day) * DAY, "UTC") for day in np.unique(days)}
        assert first in dates
        assert re.fullmatch(r"[0-9]{1,2} [A-Z][a-z]{2} 202[0-9]", first)


def test_a_day_that_begins_under_the_first_date_is_named_instead():
    time = ms(2024, 3, 4, 23, 50) + 5 * MINUTE * np.arange(100)
    bars = flat_bars(100)
    bars = replace(bars, time=time, timeframe="5m")
    texts = [op.text for op in time_labels(compose(Chart(bars), Look()))]
    assert texts[0] == "5 Mar 2024"
    assert "5 Mar" not in texts


def day_marks(picture: DisplayList) -> list[float]:
    rects = [op for op in picture.ops if isinstance(op, Rects) and op.fill == DARK.day]
    return sorted({int(left) for op in rects for left in op.boxes[:, 0]})


@in_one_test("tz", ["UTC", "America/New_York"])
def test_every_new_day_of_an_intraday_chart_is_marked_and_named(tz):
    chart, picture = sampled("eurusd-15m", last=400, tz=tz)
    days = timeaxis.local(chart.bars.time, tz) // DAY
    assert len(day_marks(picture)) == len(np.unique(days)) - 1 >= 4
    bold = [op.text for op in time_labels(picture) if op.face == "sans-bold"]
    named = {word.removesuffix(" 2024") for word in bold}
    dates = [timeaxis.date(int(day) * DAY, "UTC").removesuffix(" 2024") for day in np.unique(days)]
    assert named >= set(dates[1:])  # the first day may be but a few bars
    assert not day_marks(sampled("btc-1d")[1])


@in_one_test("name", ["es-1m", "es-5m", "eurusd-15m", "btc-4h", "btc-1d"])
def test_labels_of_times_are_evenly_spread(name):
    for last in (60, 120, 200, 300, 500):
        for width in (420, 900, 1200):
            _, picture = sampled(name, last=last, width=width)
            gaps = np.diff([op.x for op in time_labels(picture)[1:]])  # the date stands at the left
            if len(gaps) > 1:
                assert gaps.max() <= 2.8 * gaps.min(), (last, width, gaps)


def test_tags_leave_the_axis_readable():
    chart = cp.chart(cp.load("sample:es-5m"), ["cipher_b", "rsi_mfi_stoch", "ichimoku"], last=200)
    for height in (400, 600, 900):
        made = _Composer(chart, Look(height=height))
        for pane in made.panes:
            frame = Frame(pane.area, made.bars, pane.scale, made.theme, made.timeline)
            tags = made._tags(pane, frame)
            ops = axes.values(frame, pane.ticks, pane.tick_format, tags, made.width)
            words = [op for op in ops if isinstance(op, Words)]
            labels = [op for op in words if op.color == made.theme.muted]
            assert len(labels) >= 1
            assert len(words) - len(labels) >= min(1, len(tags))


def test_there_is_room_between_the_last_bar_and_the_axis():
    for width in (160, 420, 1200, 4000):
        chart, _ = sampled("es-5m")
        made = _Composer(chart, Look(width=width))
        assert 24 <= made.right - made.bars.x1(len(chart.bars) - 1) <= 75 + made.bars.step


def test_a_change_that_rounds_to_nothing_has_no_sign():
    for change in (0.0, -1e-7, 1e-7):
        bars = flat_bars(2)
        bars = replace(bars, close=[101.0, 101.0 + change], low=[99.0, 99.0], high=[102.0, 102.0])
        texts = [op.text for op in compose(Chart(bars), Look()).ops if isinstance(op, Words)]
        assert "0.00 (0.00%)" in texts


@in_one_test(("asked", "title"), [
    ("5m", "ES · 5m · sample:es-5m"),
    ("1h", "ES · 1h · sample:es-5m, resampled"),
    ("1D", "ES · 1D · sample:es-5m, resampled"),
])  # fmt: skip
def test_a_resampled_chart_is_titled_with_what_it_shows(asked, title):
    bars = cp.load("sample:es-5m").resample("30m").resample(asked) if asked != "5m" else None
    chart = cp.chart(bars or cp.load("sample:es-5m"))
    assert title in written(chart.svg())


def test_the_name_of_the_source_gives_way_to_the_last_bar():
    long = "a_file_with_a_name_that_leaves_no_room_for_anything_else_in_the_row.csv"
    bars = replace(cp.load("sample:es-5m").resample("1h"), source=f"{long}, resampled")
    wide, middle, narrow = (written(cp.chart(bars).svg(width=w)) for w in (1600, 900, 300))
    assert f"ES · 1h · {long}, resampled" in wide
    assert "ES · 1h · resampled" in middle
    assert "O" in wide
    assert "O" in middle
    assert "O" not in narrow
