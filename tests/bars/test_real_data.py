"""Every reference file loads, and says what its description says."""

import numpy as np
import pytest
from tests.cases import in_one_test

import chartpact as cp
from chartpact.bars import BarsError
from chartpact.clock import zones
from chartpact.clock.walltime import iso

pytestmark = pytest.mark.needs_shared

GOLDEN_TIMEFRAMES = {"vwap": "15m", "session": "1h"}


@in_one_test(
    ("name", "options", "symbol", "timeframe", "count", "tick", "first"),
    [
        ("ESZ13_1m_2013-10-06_2013-10-14.csv.gz", {}, "ESZ13", "1m", 8198, 0.25,
         "2013-10-06T22:00:00Z"),
        ("SPY_1m_2013-10-04_2013-10-11.csv.gz", {}, "SPY", "1m", 4839, 0.01,
         "2013-10-04T08:06:00Z"),
        ("EURUSD_oanda_1m_bid_2014-05-01_2014-05-15.csv.gz", {}, "EURUSD", "1m", 15366, 0.00001,
         "2014-05-01T00:00:00Z"),
        ("EURUSD_15m_mt5_2022-10_2023-10.csv.gz", {"tz": "Europe/Athens"}, "EURUSD", "15m", 24424,
         0.00001, "2022-10-09T21:00:00Z"),
    ],
)  # fmt: skip
def test_market_data_loads(shared, name, options, symbol, timeframe, count, tick, first):
    bars = cp.load(shared / "data" / name, **options)
    assert (bars.symbol, bars.timeframe, len(bars), bars.tick_size) == (
        symbol,
        timeframe,
        count,
        tick,
    )
    assert iso(bars.time[0]) == first
    assert not bars.synthetic


def test_no_market_data_file_is_forgotten(shared):
    for path in sorted((shared / "data").glob("*.csv*")):
        assert len(cp.load(path, tz="Europe/Athens")) > 1000


def test_every_tradingview_export_loads(shared):
    paths = sorted((shared / "golden" / "tv-ta").glob("*.csv"))
    assert len(paths) > 15
    for path in paths:
        bars = cp.load(path)
        assert bars.timeframe == GOLDEN_TIMEFRAMES.get(path.stem, "30m")
        assert bars.tick_size == 0.00001
        assert np.isfinite(bars.volume).all()


def test_broker_time_needs_its_zone(shared):
    with pytest.raises(BarsError, match=r"line 2: time 2022-10-10T00:00:00 has no time zone"):
        cp.load(shared / "data" / "EURUSD_15m_mt5_2022-10_2023-10.csv.gz")


def test_us_releases_are_at_half_past_eight_in_new_york_in_weeks_when_clocks_differ(shared):
    bars = cp.load(shared / "data" / "EURUSD_15m_mt5_2022-10_2023-10.csv.gz", tz="Europe/Athens")
    for moment in ("2022-11-04T12:30", "2022-12-13T13:30", "2023-03-14T12:30", "2023-07-12T12:30"):
        release = np.datetime64(moment, "ms").astype(np.int64)
        hours = np.abs(bars.time - release) <= 4 * 3_600_000
        widest = bars.time[hours][np.argmax((bars.high - bars.low)[hours])]
        assert abs(int(widest - release)) <= 900_000


def test_fx_days_of_the_year_begin_at_five_in_new_york(shared):
    bars = cp.load(shared / "data" / "EURUSD_15m_mt5_2022-10_2023-10.csv.gz", tz="Europe/Athens")
    daily = bars.resample("1D")
    wall = zones.wall(zones.zone("America/New_York"), daily.time)
    hours = (wall // 3_600_000 % 24).tolist()
    # An hour late where the broker's clocks changed on another Sunday, later on two holidays.
    assert {hour: hours.count(hour) for hour in hours} == {17: 250, 18: 3, 2: 1, 0: 1}
    assert len(daily) == 255
    assert len(bars.resample("1W")) == 51


def test_es_and_spy_align_to_the_minutes_both_have(shared):
    es = cp.load(shared / "data" / "ESZ13_1m_2013-10-06_2013-10-14.csv.gz")
    spy = cp.load(shared / "data" / "SPY_1m_2013-10-04_2013-10-11.csv.gz")
    a, b = cp.align(es, spy)
    assert np.array_equal(a.time, b.time)
    assert set(a.time.tolist()) == set(es.time.tolist()) & set(spy.time.tolist())
    regular = (a.time // 60_000 % 1440 >= 13 * 60 + 30) & (a.time // 60_000 % 1440 < 20 * 60)
    change = [np.diff(np.log(side.close[regular])) for side in (a, b)]
    assert np.corrcoef(*change)[0, 1] > 0.9
