"""Higher timeframes: completed bars only, right over halts and clock changes, never rewritten."""

import pickle
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.effort import examples

import chartpact as cp
from chartpact.bars import Bars, BarsError, last_closed, stretch

NEW_YORK = ZoneInfo("America/New_York")
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def at(*moment, zone=NEW_YORK):
    return int(datetime(*moment, tzinfo=zone).timestamp()) * 1000


def local(ms):
    return datetime.fromtimestamp(ms / 1000, NEW_YORK)


def noise(time, symbol="", timeframe="1m", seed=1, **more):
    """Bars at these times with prices that are all different."""
    dice = np.random.default_rng(seed)
    count = len(time)
    close = 100 + np.cumsum(dice.normal(size=count))
    opening = close + dice.normal(size=count)
    high = np.maximum(opening, close) + dice.random(count)
    low = np.minimum(opening, close) - dice.random(count)
    volume = dice.integers(0, 100, count).astype(float)
    return Bars(time, opening, high, low, close, volume, symbol, timeframe, **more)


def futures_minutes(first, days, step=1, close=(17, 0)):
    """Bars' times of consecutive calendar dates on the futures' clock, Saturdays left out."""
    times = []
    for number in range(days):
        date = first + timedelta(days=number)
        if date.weekday() >= 5:
            continue
        evening = date - timedelta(days=1)
        begin = at(evening.year, evening.month, evening.day, 18)
        end = at(date.year, date.month, date.day, *close)
        times += range(begin, end, step * MINUTE)
    return np.array(times, np.int64)


# ---------------------------------------------------------------------------- an independent law


def key_and_end(ms, timeframe):
    """Period and its end of an ES bar by the clock on the wall: plain datetime, no columns."""
    now = local(ms)
    date = now.date() + timedelta(days=1 if now.hour >= 18 else 0)
    while date.weekday() >= 5:
        date += timedelta(days=1)
    evening = date - timedelta(days=1)
    start = at(evening.year, evening.month, evening.day, 18)
    closing = (17, 15) if date.year < 2015 else (17, 0)
    end = at(date.year, date.month, date.day, *closing)
    if timeframe == "1D":
        return date, end
    if timeframe == "1W":
        friday = date + timedelta(days=4 - date.weekday())
        return date.isocalendar()[:2], at(friday.year, friday.month, friday.day, *closing)
    span = {"5m": 5, "15m": 15, "30m": 30, "1h": 60, "4h": 240}[timeframe] * MINUTE
    slot = (ms - start) // span
    return (date, slot), min(start + (slot + 1) * span, end)


def by_hand(bars, timeframe):
    """All periods as lists of bar numbers with their ends, and for each bar the last one over."""
    groups, ends = {}, {}
    for number, ms in enumerate(bars.time.tolist()):
        key, end = key_and_end(ms, timeframe)
        groups.setdefault(key, []).append(number)
        ends[key] = end
    step = {"1m": MINUTE, "5m": 5 * MINUTE}[bars.timeframe]
    seen, over = [], -1
    order = list(groups)
    for ms in bars.time.tolist():
        while over + 1 < len(order) and ends[order[over + 1]] <= ms + step:
            over += 1
        seen.append(over)
    return [groups[key] for key in order], seen


def assert_matches_by_hand(bars, timeframe):
    groups, seen = by_hand(bars, timeframe)
    higher = bars.resample(timeframe)
    assert len(higher) == seen[-1] + 1
    for number, bar in enumerate(higher):
        rows = groups[number]
        assert bar.open == bars.open[rows[0]]
        assert bar.close == bars.close[rows[-1]]
        assert bar.high == bars.high[rows].max()
        assert bar.low == bars.low[rows].min()
        assert bar.volume == pytest.approx(bars.volume[rows].sum(), nan_ok=True)
    assert last_closed(bars, higher).tolist() == seen


@in_one_test("timeframe", ["15m", "30m", "1h", "4h", "1D", "1W"])
def test_a_futures_sample_over_a_clock_change_resamples_as_by_hand(timeframe):
    assert_matches_by_hand(cp.load("sample:es-5m"), timeframe)


@pytest.mark.needs_shared
@in_one_test("timeframe", ["5m", "15m", "30m", "1h", "4h", "1D", "1W"])
def test_real_futures_with_halts_resample_as_by_hand(shared, timeframe):
    bars = cp.load(shared / "data" / "ESZ13_1m_2013-10-06_2013-10-14.csv.gz")
    assert_matches_by_hand(bars, timeframe)


@pytest.mark.needs_shared
def test_the_last_bar_before_the_halt_already_sees_its_day(shared):
    bars = cp.load(shared / "data" / "ESZ13_1m_2013-10-06_2013-10-14.csv.gz")
    daily = bars.resample("1D")
    index = last_closed(bars, daily)
    gap = np.flatnonzero(np.diff(bars.time) > 40 * MINUTE)
    assert len(gap) >= 6
    for number, last in enumerate(gap.tolist()):
        assert index[last] == number
        assert index[last - 1] == number - 1
        assert stretch(daily.close, index)[last] == bars.close[last]


# -------------------------------------------------------------------------------------- the laws


@in_one_test("timeframe", ["10m", "1h", "4h", "1D", "1W"])
def test_more_bars_change_nothing_that_was_there(timeframe):
    bars = cp.load("sample:es-5m")
    whole = bars.resample(timeframe)
    index = last_closed(bars, whole)
    for count in [*range(1, 60), *range(60, len(bars), 97)]:
        part = bars[:count]
        higher = part.resample(timeframe)
        assert higher == whole[: len(higher)]
        assert np.array_equal(last_closed(part, higher), index[:count])


@settings(max_examples=examples(40), deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from(["", "ES", "EURUSD"]),
    st.sampled_from([datetime(2024, 3, 6), datetime(2024, 10, 30), datetime(2023, 12, 27)]),
    st.sampled_from([("1m", "7m"), ("5m", "1h"), ("15m", "4h"), ("1h", "1D"), ("1h", "1W")]),
)
def test_resampling_loses_no_volume_and_no_extreme(seed, symbol, first, timeframes):
    lower, higher = timeframes
    step = {"1m": 1, "5m": 5, "15m": 15, "1h": 60}[lower]
    dice = np.random.default_rng(seed)
    start = int(first.replace(tzinfo=UTC).timestamp()) * 1000
    grid = start + step * MINUTE * np.arange(400)
    bars = noise(grid[dice.random(400) < 0.7], symbol, lower, seed)
    made = bars.resample(higher)
    begin = int(np.searchsorted(bars.time, made.time[0])) if len(made) else 0
    done = int(np.searchsorted(bars.close_time, made.close_time[-1], "right")) if len(made) else 0
    covered = bars[begin:done]
    assert made.volume.sum() == pytest.approx(covered.volume.sum())
    if len(made):
        assert made.high.max() == covered.high.max()
        assert made.low.min() == covered.low.min()
        assert made.open[0] == covered.open[0]
        assert begin in (0, bars.periods(higher).stop[0])
        assert np.isin(made.time, bars.time).all()
        assert made.close[-1] == covered.close[-1]
        assert (np.diff(made.time) > 0).all()
        assert (made.close_time > made.time).all()
        assert (made.close_time[:-1] <= made.time[1:]).all()
        assert made.close_time[-1] <= bars.close_time[-1]


def test_steps_of_one_kind_of_bars_compose():
    minutes = cp.load("sample:es-1m")
    assert minutes.resample("15m").resample("1h") == minutes.resample("1h")
    assert minutes.resample("1h").resample("1D") == minutes.resample("1D")
    assert minutes.resample("1D").resample("1W") == minutes.resample("1W")
    fourhours = cp.load("sample:btc-4h")
    assert fourhours.resample("1D").resample("1M") == fourhours.resample("1M")


# ----------------------------------------------------------------------------- when a bar is over


def test_the_bar_that_reaches_the_close_sees_it_and_the_one_before_does_not():
    bars = noise(np.arange(12) * 5 * MINUTE, timeframe="5m")
    assert last_closed(bars, bars.resample("15m")).tolist() == [
        -1,
        -1,
        0,
        0,
        0,
        1,
        1,
        1,
        2,
        2,
        2,
        3,
    ]


def test_an_unfinished_bar_is_not_there():
    bars = noise(np.arange(14) * 5 * MINUTE, timeframe="5m")
    assert len(bars.resample("15m")) == 4
    assert len(bars[:2].resample("15m")) == 0
    assert len(bars[:0].resample("15m")) == 0


def test_after_a_gap_the_next_bar_sees_what_was_over_meanwhile():
    time = np.array([0, 5, 40, 45]) * MINUTE
    bars = noise(time, timeframe="5m")
    higher = bars.resample("15m")
    assert higher.time.tolist() == [0, 40 * MINUTE]  # of the first bar that is there
    assert higher.close_time.tolist() == [15 * MINUTE, 45 * MINUTE]
    assert last_closed(bars, higher).tolist() == [-1, -1, 1, 1]


def test_a_day_of_futures_is_over_at_five_though_the_next_rolls_at_six():
    bars = noise(futures_minutes(datetime(2024, 3, 4), 5, step=5), "ES", "5m")
    daily = bars.resample("1D")
    assert len(daily) == 5
    assert [local(ms).strftime("%a %H:%M") for ms in daily.time.tolist()] == [
        "Sun 18:00",
        "Mon 18:00",
        "Tue 18:00",
        "Wed 18:00",
        "Thu 18:00",
    ]
    assert {local(ms).strftime("%H:%M") for ms in daily.close_time.tolist()} == {"17:00"}
    assert len(bars.resample("1W")) == 1
    assert len(bars[:-1].resample("1D")) == 4
    assert len(bars[:-1].resample("1W")) == 0


def test_the_last_four_hours_of_a_futures_day_are_three():
    bars = noise(futures_minutes(datetime(2024, 3, 4), 2, step=60), "ES", "1h")
    four = bars.resample("4h")
    opened = [local(ms).hour for ms in four.time.tolist()]
    assert opened == [18, 22, 2, 6, 10, 14] * 2
    assert local(int(four.close_time[5])).hour == 17


@in_one_test(("first", "utc_before", "utc_after"), [
    (datetime(2024, 3, 6), 22, 21),
    (datetime(2024, 10, 30), 21, 22),
])  # fmt: skip
def test_an_fx_day_keeps_its_wall_clock_over_a_clock_change(first, utc_before, utc_after):
    begin = at(first.year, first.month, first.day, 17)
    grid = begin + 15 * MINUTE * np.arange(10 * 96 + 8)
    open_market = [
        not (local(ms).weekday() == 5 or (local(ms).weekday() == 4 and local(ms).hour >= 17)
             or (local(ms).weekday() == 6 and local(ms).hour < 17))
        for ms in grid.tolist()
    ]  # fmt: skip
    bars = noise(grid[open_market], "EURUSD", "15m")
    daily = bars.resample("1D")
    assert {local(ms).hour for ms in daily.time.tolist()} == {17}
    hours = [ms // HOUR % 24 for ms in daily.time.tolist()]
    assert hours == sorted(hours, reverse=utc_before > utc_after)
    assert set(hours) == {utc_before, utc_after}
    counts = np.bincount(bars.periods("1D").of_each)
    assert set(counts[: len(daily)].tolist()) == {96}


def test_utc_days_weeks_and_months_of_a_market_that_never_rests():
    bars = cp.load("sample:btc-1d")
    weekly, monthly = bars.resample("1W"), bars.resample("1M")
    assert {datetime.fromtimestamp(ms / 1000, UTC).weekday() for ms in weekly.time.tolist()} == {0}
    assert len(monthly) == 23  # the bars begin on 6 April 2022 and end on 5 April 2024
    assert monthly.time.astype("datetime64[ms]").astype(str)[0] == "2022-05-01T00:00:00.000"
    assert monthly.close_time[0] == monthly.time[1]


def test_what_trades_in_the_break_counts_for_the_next_day_and_changes_no_closed_bar():
    hours = [at(2024, 3, 4, 14), *(at(2024, 3, 4, hour, 30) for hour in (15, 16, 17, 18, 19))]
    bars = noise(hours, "ES", "30m")
    daily, four = bars.resample("1D", partial=True), bars.resample("4h")
    assert daily.close.tolist() == [bars.close[2], bars.close[5]]
    assert [local(ms).hour for ms in four.time.tolist()] == [14]
    rest = noise([*hours, *(at(2024, 3, 5, hour) for hour in (0, 8, 16))], "ES", "30m")
    four = rest.resample("4h")
    assert [local(ms).hour for ms in four.time.tolist()] == [14, 17, 0, 8]
    assert [local(ms).hour for ms in four.close_time.tolist()] == [17, 22, 2, 10]
    assert four.open[1] == rest.open[3]


def test_unknown_volume_stays_unknown():
    bars = noise(np.arange(6) * MINUTE)
    bars = Bars(bars.time, bars.open, bars.high, bars.low, bars.close,
                [1, 2, np.nan, 4, 5, 6], "", "1m")  # fmt: skip
    volume = bars.resample("3m").volume
    assert np.isnan(volume[0])
    assert volume[1] == 15


def test_another_day_roll_gives_other_days():
    bars = cp.load("sample:btc-4h")
    utc, new_york = bars.resample("1D"), bars.resample("1D", day_roll="17:00 America/New_York")
    assert utc.day_roll == "UTC midnight"
    assert new_york.day_roll == "17:00 America/New_York"
    morning = bars.resample("1D", day_roll="08:00 UTC")
    assert morning.close[0] == bars.close[7]
    assert utc.close[1] == bars.close[11]
    assert {local(ms).hour for ms in new_york.close_time.tolist()} == {17}


def test_resampling_keeps_what_the_bars_are():
    made = cp.load("sample:es-5m").resample("1h")
    assert (made.symbol, made.timeframe, made.tick_size) == ("ES", "1h", 0.25)
    assert (made.synthetic, made.pair, made.calendar) == (True, "sample:nq-5m", "sample:calendar")


def test_the_own_timeframe_changes_nothing():
    bars = cp.load("sample:es-5m")
    assert bars.resample("5m") == bars


@in_one_test(
    ("own", "asked", "told"),
    [
        ("1h", "5m", "bars of 1h cannot be resampled to 5m, which is shorter"),
        ("5m", "12m", "bars of 5m cannot be resampled to 12m, which is not made of whole bars"),
        ("1W", "1M", "bars of 1W cannot be resampled to 1M, which is not made of whole bars"),
        ("1D", "4h", "which is shorter"),
        ("5m", "15M", "did you mean '15m'"),
        ("5m", "tomorrow", "is no timeframe"),
    ],
)
def test_what_cannot_be_resampled_is_told(own, asked, told):
    with pytest.raises(BarsError, match=told):
        noise([0, 7 * DAY], timeframe=own).resample(asked)


def test_days_of_a_listed_market_are_counted_by_daily_bars():
    days = noise(np.arange(40) * DAY, timeframe="1D", market="listed")
    assert len(days.resample("4D")) == 7  # of 28 weekdays
    with pytest.raises(
        BarsError, match="4D of a listed market is counted by daily bars, not by 2D"
    ):
        days.resample("2D").resample("4D")
    always = noise(np.arange(40) * DAY, timeframe="1D", market="24x7")
    assert always.resample("2D").resample("4D") == always.resample("4D")


def test_resampled_bars_of_two_symbols_meet_though_one_opens_late():
    minutes = np.arange(60)
    one = noise(minutes * MINUTE)
    other = noise(minutes[minutes % 15 > 0][:40] * MINUTE, "", "1m", seed=2)
    hours, late = one.resample("15m"), other.resample("15m", partial=True)
    assert late.time.tolist() != hours.time[: len(late)].tolist()
    a, b = cp.align(hours, late)
    assert a.close_time.tolist() == b.close_time.tolist() == late.close_time[:3].tolist()
    assert cp.align(one, other)[0].time.tolist() == other.time.tolist()


def test_the_own_ends_of_bars_are_kept_through_slices_and_copies():
    bars = noise(np.array([0, 5, 40, 65, 70]) * MINUTE, timeframe="5m").resample("15m")
    assert bars.ends.tolist() == [15 * MINUTE, 45 * MINUTE, 75 * MINUTE]
    assert bars[1:].close_time.tolist() == [45 * MINUTE, 75 * MINUTE]
    assert bars[:1].ends is None  # its timeframe tells it
    assert pickle.loads(pickle.dumps(bars)) == bars
    assert bars != replace(bars, ends=None)
    with pytest.raises(BarsError, match="ends has one time for each bar"):
        replace(bars, ends=bars.time)


def test_bars_that_straddle_a_period_count_for_the_one_they_open_in():
    bars = noise(30 * MINUTE + np.arange(8) * HOUR, timeframe="1h")
    made = bars.resample("4h")
    assert made.close.tolist() == [bars.close[7]]  # the first would begin half an hour earlier
    whole = bars.resample("4h", partial=True)
    assert whole.close.tolist() == [bars.close[3], bars.close[7]]
    assert last_closed(bars, whole).tolist() == [-1, -1, -1, 0, 0, 0, 0, 1]


def test_bars_on_another_grid_than_the_trading_day_are_over_no_earlier_than_they_are():
    bars = noise(at(2024, 3, 6, zone=UTC) + np.arange(18) * 4 * HOUR, "EURUSD", "4h")
    assert (bars.close_time == bars.time + 4 * HOUR).all()
    daily = bars.resample("1D")
    index = last_closed(bars, daily)
    first_with_day = int(np.argmax(index == 1))
    assert bars.close[first_with_day] == daily.close[1]
