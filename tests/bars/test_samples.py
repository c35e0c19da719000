"""The bundled samples: synthetic, the same everywhere, and with the habits of real markets."""

import hashlib
from itertools import pairwise

import numpy as np
import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact.bars import BarsError, samples
from chartpact.bars.samples import economiccalendar, randomwalk
from chartpact.clock import zones

NAMES = [f"sample:{name}" for name in samples.SAMPLES]


@in_one_test("name", NAMES)
def test_a_sample_is_marked_synthetic_and_names_a_pair_of_the_same_length(name):
    bars = cp.load(name)
    assert bars.synthetic
    assert "synthetic" in bars.source
    assert "synthetic" in repr(bars)
    pair = cp.load(bars.pair)
    assert pair.symbol != bars.symbol
    assert np.array_equal(pair.time, bars.time)
    assert samples.calendar(bars.calendar, int(bars.time[0]), int(bars.close_time[-1]))


@in_one_test("name", NAMES)
def test_a_samples_prices_lie_on_its_tick_grid(name):
    bars = cp.load(name)
    ticks = bars.close / bars.tick_size
    assert np.allclose(ticks, np.rint(ticks), atol=1e-4)
    assert (bars.volume >= 1).all()


def test_an_unknown_sample_gets_the_names_and_the_nearest():
    with pytest.raises(BarsError, match=r"no sample 'es5m' among es-1m, .* did you mean 'es-5m'"):
        cp.load("sample:es5m")


def test_the_index_futures_rest_from_five_to_six_in_new_york():
    bars = cp.load("sample:es-1m")
    minute = bars.time % 86_400_000 // 60_000
    first_week = bars.time < np.datetime64("2024-03-10", "ms").astype(np.int64)
    assert not ((minute[first_week] >= 22 * 60) & (minute[first_week] < 23 * 60)).any()
    assert not ((minute[~first_week] >= 21 * 60) & (minute[~first_week] < 22 * 60)).any()
    assert len(np.unique(bars.trading_day)) == 10


def test_the_two_index_futures_move_together_but_not_alike():
    es, nq = cp.load("sample:es-1m"), cp.load("sample:nq-1m")
    together = np.corrcoef(np.diff(es.close) / es.close[1:], np.diff(nq.close) / nq.close[1:])
    assert 0.85 < together[0, 1] < 0.97


def test_five_minutes_are_the_resampled_minutes():
    assert cp.load("sample:es-1m").resample("5m").close[-1] == cp.load("sample:es-5m").close[-1]


def digest():
    total = hashlib.sha256()
    for name in NAMES:
        bars = cp.load(name)
        for column in (bars.time, bars.open, bars.high, bars.low, bars.close, bars.volume):
            total.update(np.ascontiguousarray(column).tobytes())
    total.update(repr(samples.calendar()).encode())
    return total.hexdigest()[:16]


def test_samples_are_the_same_bits_on_every_machine():
    assert digest() == "324d49af94876830"


def new_york_minute(bars):
    return zones.wall(zones.zone("America/New_York"), bars.time) // 60_000 % 1440


def between(bars, begin, end):
    minute = new_york_minute(bars)
    return (minute >= begin * 60) & (minute < end * 60)


def test_asia_is_quiet_london_livelier_and_new_york_the_liveliest():
    bars = cp.load("sample:es-1m")
    asia, london, new_york = (between(bars, *hours) for hours in ((20, 24), (2, 5), (9.5, 11)))
    for measure in (bars.volume, bars.high - bars.low):
        assert 1.2 * measure[asia].mean() < measure[london].mean()
        assert 1.2 * measure[london].mean() < measure[new_york].mean()


def test_sessions_are_swept_on_some_days_and_turned_back_on_some_of_them():
    bars = cp.load("sample:es-1m")
    swept, rejected = 0, 0
    for day in np.unique(bars.trading_day):
        today = bars.trading_day == day
        asia, london = today & between(bars, 20, 24), today & between(bars, 2, 5)
        top, bottom = bars.high[asia].max(), bars.low[asia].min()
        if bars.high[london].max() > top or bars.low[london].min() < bottom:
            swept += 1
            rejected += bottom < bars.close[london][-1] < top
    assert 4 <= swept < 10
    assert 2 <= rejected < swept


@in_one_test("name", ["es-1m", "eurusd-15m", "btc-4h"])
def test_volatility_clusters_and_its_tails_are_fat(name):
    close = cp.load(f"sample:{name}").close
    change = np.diff(close) / close[:-1]
    size = np.abs(change)
    assert np.corrcoef(size[1:], size[:-1])[0, 1] > 0.1
    assert (change**4).mean() / (change**2).mean() ** 2 > 3.5


def test_fx_trades_from_sunday_five_to_friday_five_over_both_clock_changes():
    bars = cp.load("sample:eurusd-15m")
    minute = new_york_minute(bars)
    gaps = np.flatnonzero(np.diff(bars.time) > 900_000)
    assert len(gaps) == 5
    assert set(minute[gaps].tolist()) == {16 * 60 + 45}
    assert set(minute[gaps + 1].tolist()) == {17 * 60}
    hours = {int(hour) for hour in bars.time[gaps + 1] // 3_600_000 % 24}
    assert hours == {21, 22}


def test_crypto_never_rests_and_lasts_two_years():
    bars = cp.load("sample:btc-4h")
    assert set(np.diff(bars.time).tolist()) == {4 * 3_600_000}
    assert len(cp.load("sample:btc-1d")) == 731
    assert bars.day_roll == "UTC midnight"


# -------------------------------------------------------------------------------------- calendar

FIELDS = set(
    "id title country currency time_utc all_day tentative impact actual forecast previous revised "
    "unit period source fetched_at".split()
)


def test_the_calendar_holds_events_of_every_kind_in_the_order_of_time():
    found = samples.calendar("sample:calendar")
    assert all(set(event) == FIELDS for event in found)
    assert all(event["source"] == "synthetic sample" for event in found)
    assert {event["impact"] for event in found} == {"holiday", "low", "medium", "high"}
    times = [event["time_utc"] for event in found]
    assert times == sorted(times)
    assert len({event["id"] for event in found}) == len(found)
    assert any(event["tentative"] for event in found)
    assert any(event["revised"] for event in found)


def test_releases_keep_their_wall_clock_over_a_clock_change():
    claims = [e for e in samples.calendar() if e["id"].startswith("us-claims")]
    assert {event["time_utc"] // 60_000 % 1440 for event in claims} == {12 * 60 + 30, 13 * 60 + 30}


def test_what_is_still_to_come_has_no_actual_value_and_what_has_been_is_the_next_previous():
    found = samples.calendar()
    fetched = found[0]["fetched_at"]
    to_come = [event for event in found if event["time_utc"] >= fetched]
    assert to_come
    assert all(event["actual"] is None for event in to_come)
    payrolls = [event for event in found if event["title"] == "Non-Farm Payrolls"]
    for before, event in pairwise(payrolls):
        assert event["previous"] == before["actual"]
        assert float(event["forecast"]) > 0


def test_the_calendar_is_cut_to_a_span_of_time():
    found = samples.calendar()
    since, until = found[10]["time_utc"], found[20]["time_utc"]
    cut = samples.calendar(since=since, until=until)
    assert cut == [event for event in found if since <= event["time_utc"] < until]
    with pytest.raises(BarsError, match="no sample 'holidays'"):
        samples.calendar("sample:holidays")


def test_the_market_moves_on_the_news():
    bars = cp.load("sample:es-1m")
    span = (bars.high - bars.low) / bars.close
    for event in economiccalendar.calendar():
        inside = bars.time[0] < event.time_utc < bars.time[-1]
        if inside and event.impact == "high" and event.currency == "USD":
            bar = int(np.searchsorted(bars.time, event.time_utc))
            assert span[bar : bar + 10].mean() > 1.5 * span[bar - 30 : bar].mean()


def test_a_market_is_made_without_the_events_of_its_calendar():
    economiccalendar.calendar.cache_clear()
    randomwalk.walk(samples.INDEX)
    assert economiccalendar.calendar.cache_info().currsize == 0
