"""`ohlcv` in scripts: the clock of its bars, and higher timeframes that agree with the library."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chartpact as cp
from chartpact import script, ta
from chartpact.bars import Bars, last_closed
from chartpact.script.host.ohlcv import lay_on
from chartpact.script.runtime.meter import Meter

HEAD = 'PARAMS = []\nMETA = {"title": "x"}\ndef compute(ohlcv, params, chart):\n'
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


@cache
def load(lines: tuple[str, ...]) -> object:
    return script.load(HEAD + "".join(f"    {line}\n" for line in lines))


def plots(bars: Bars, *lines: str) -> list[list[float]]:
    scene = script.execute(load(lines), bars).scene
    return [plot.values.tolist() for plot in scene.plots]


def flat(time: np.ndarray, symbol: str = "", timeframe: str = "1h", **more: str) -> Bars:
    price = np.arange(1.0, len(time) + 1)
    return Bars(time, price, price, price, price, price, symbol, timeframe, **more)


@pytest.fixture(scope="module")
def futures() -> Bars:
    return cp.load("sample:es-5m")


def test_a_script_sees_when_bars_are_over_and_of_which_day_they_are(futures):
    closes, days = plots(
        futures, "chart.line(ohlcv.close_time + 0)", "chart.line(ohlcv.trading_day + 0)"
    )
    assert closes == futures.close_time.tolist()
    assert days == futures.trading_day.tolist()


def test_the_newest_value_of_a_clock_is_read_from_the_end(futures):
    lines = [
        f"chart.line(ohlcv.bar_index * 0 + ohlcv.{name}[-1])"
        for name in ("close_time", "trading_day")
    ]
    closes, days = plots(futures, *lines)
    assert (closes[0], days[0]) == (futures.close_time[-1], futures.trading_day[-1])
    (first,) = plots(
        futures, 'chart.line(ohlcv.bar_index * 0 + ohlcv.resample("1D").first_bar[-1])'
    )
    assert first[0] > 0


def test_times_and_first_bars_are_whole_numbers(futures):
    lines = ("daily = ohlcv.resample('1D')", "at = daily.first_bar[1]")
    script.execute(
        load((*lines, "chart.hline(ohlcv.close[at] + ohlcv.close_time[at] % 2)")), futures
    )
    out = script.execute(load((*lines, "print(type(at), type(ohlcv.trading_day[0]))")), futures)
    assert "int int" in "".join(map(str, out.log))


def test_a_script_knows_the_days_of_its_symbol(futures):
    out = script.execute(load(("print(ohlcv.day_roll, ohlcv.market)",)), futures)
    assert "18:00 America/New_York listed" in "".join(map(str, out.log))
    (starts,) = plots(
        futures,
        'new = ta.timeframe_change(ohlcv, "2D")',
        "chart.line(ta.where(new, 1, 0))",
    )
    assert np.flatnonzero(starts).tolist() == futures.periods("2D").first[1:].tolist()


def test_higher_bars_tell_their_first_bar_and_whether_they_are_whole(futures):
    bars = futures[100:2000]
    groups = bars.periods("1D")
    assert groups.whole.tolist() == [False, *[True] * 6, False]
    for options, kept in (("", groups.whole), (", partial=True", groups.whole | True)):
        lines = (
            f"daily = ohlcv.resample('1D'{options})",
            "for k in range(len(daily)):",
            "    chart.hline(daily.first_bar[k])",
            "    chart.hline(1 if daily.whole[k] else 0)",
            "    chart.hline(daily.open[k])",
        )
        scene = script.execute(load(lines), bars).scene
        first = groups.first[kept]
        rows = zip(first.tolist(), groups.whole[kept], bars.open[first], strict=True)
        assert [plot.y for plot in scene.plots] == [float(value) for row in rows for value in row]


def test_what_is_calculated_on_higher_bars_knows_their_first_bars(futures):
    (values,) = plots(futures, "chart.line(ohlcv.security('1D', lambda d: d.first_bar + 0))")
    daily = futures.resample("1D")
    first = futures.periods("1D").first[: len(daily)]
    seen = last_closed(futures, daily)
    assert np.array_equal(values, np.append(first, np.nan)[seen], equal_nan=True)


def test_first_bars_are_of_higher_bars_alone(futures):
    with pytest.raises(script.ScriptError, match=r"write ohlcv.resample\(timeframe\).first_bar"):
        script.execute(load(("chart.line(ohlcv.first_bar)",)), futures)
    with pytest.raises(script.ScriptError, match="partial is True or False"):
        script.execute(load(("ohlcv.resample('1D', 1)",)), futures)


def test_security_leaves_out_a_day_whose_opening_is_not_there(futures):
    part = futures[100:]  # from the middle of the first day on
    (values,) = plots(part, "chart.line(ohlcv.security('1D').open)")
    seen = last_closed(part, part.resample("1D"))
    assert np.isnan(values[: int(np.argmax(seen >= 0))]).all()
    assert set(np.unique(np.array(values)[seen >= 0])) <= set(part.resample("1D").open)
    first_day = futures.resample("1D").open[0]
    assert first_day not in values


def test_a_second_symbol_lies_on_the_bars_of_its_periods_though_it_opens_late(futures):
    hours = futures.resample("1h")
    late = futures.take(np.flatnonzero(futures.time % HOUR > 0)).resample("1h", partial=True)
    assert (late.time != hours.time).all()
    laid = lay_on(hours, late, Meter(1_000_000), None, 0)
    assert laid.close.array.tolist() == late.close.tolist()


@st.composite
def hourly_bars(draw: st.DrawFn) -> Bars:
    """Bars of an hour around a new year, with days and hours missing."""
    first = draw(st.sampled_from(["2019-12-20", "2021-12-27", "2023-12-30", "2024-02-26"]))
    market = draw(st.sampled_from(["24x7", "fx", "listed"]))
    roll = draw(st.sampled_from(["UTC midnight", "17:00 America/New_York"]))
    days = draw(st.lists(st.booleans(), min_size=8, max_size=40))
    start = int(np.datetime64(first, "ms").astype(np.int64)) + draw(st.integers(0, 30)) * HOUR
    grid = start + HOUR * np.arange(24 * len(days))
    there = np.repeat(days, 24) & (np.arange(len(grid)) % draw(st.integers(2, 7)) > 0)
    return flat(grid[there], market=market, day_roll=roll)


def test_a_mean_of_prices_whose_sum_is_beyond_floats_is_na():
    bars = Bars([0], [1.5e308], [1.6e308], [1.4e308], [1.5e308], [1])
    for name in ("hl2", "hlc3", "ohlc4", "hlcc4"):
        assert np.isnan(plots(bars, f"chart.line(ohlcv.{name})")).all()


@given(hourly_bars(), st.sampled_from(["4h", "1D", "2D", "3D", "1W", "2W", "1M", "5M"]))
def test_periods_begin_on_the_same_bars_whoever_is_asked(bars, timeframe):
    groups = bars.periods(timeframe)
    change = ta.timeframe_change(bars, timeframe)
    said = ta.timeframe_change(bars.time, timeframe, roll=bars.day_roll, market=bars.market)
    assert change.tolist() == said.tolist()
    assert np.flatnonzero(change).tolist() == groups.first[1:].tolist()
    assert (groups.start[1:] >= groups.end[:-1]).all()
    assert (groups.end[groups.of_each] > bars.time).all()
    made = bars.resample(timeframe)
    assert made.time.tolist() == bars.time[groups.first[groups.whole]].tolist()
    assert made.close_time.tolist() == groups.end[groups.whole].tolist()
    parts = bars.resample(timeframe, partial=True)
    assert parts.time.tolist() == bars.time[groups.first].tolist()
    assert made.volume.sum() == bars.volume[groups.whole[groups.of_each]].sum()
    if len(bars):
        (seen,) = plots(bars, f"chart.line(ohlcv.security('{timeframe}').time + 0)")
        index = last_closed(bars, made)
        expected = np.where(index >= 0, np.append(made.time, 0)[index], np.nan)
        assert np.array_equal(seen, expected, equal_nan=True)


@given(hourly_bars(), st.sampled_from(["4h", "1D", "2D", "3D", "2W", "5M"]), st.integers(0, 400))
def test_bars_that_arrive_later_change_no_higher_bar(bars, timeframe, count):
    whole, part = bars.resample(timeframe), bars[:count].resample(timeframe)
    assert part == whole[: len(part)]
    seen = last_closed(bars, whole)[: len(bars[:count])]
    assert last_closed(bars[:count], part).tolist() == seen.tolist()
