"""Periods as TradingView exported them: 20 016 five-minute bars of EURUSD over a new year."""

import csv
from datetime import datetime

import numpy as np
import pytest

from chartpact import ta
from chartpact.bars import Bars

pytestmark = pytest.mark.needs_shared
TIMEFRAMES = ("15", "240", "D", "2D", "W", "3W", "M")


@pytest.fixture(scope="module")
def exported(shared):
    with (shared / "golden" / "tv-time" / "timeframe.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    time = [1000 * int(datetime.fromisoformat(row["time"]).timestamp()) for row in rows]
    changes = {name: [float(row[f"tf_change_{name}"]) > 0 for row in rows] for name in TIMEFRAMES}
    prices = [[float(row[name]) for row in rows] for name in ("open", "high", "low", "close")]
    volume = [float(row["Volume"]) for row in rows]
    bars = Bars(np.array(time), *map(np.array, (*prices, volume)), "EURUSD", "5m")
    return bars, changes


@pytest.mark.parametrize("timeframe", TIMEFRAMES)
def test_a_new_period_begins_where_tradingview_began_one(exported, timeframe):
    bars, changes = exported
    begins = ta.timeframe_change(bars, timeframe, "America/New_York", "1700", "fx")
    assert begins.tolist() == changes[timeframe]


@pytest.mark.parametrize("timeframe", TIMEFRAMES)
def test_bars_group_and_resample_where_tradingview_began_a_period(exported, timeframe):
    bars, changes = exported
    begins = np.flatnonzero(changes[timeframe])
    assert bars.periods(timeframe).first.tolist() == [0, *begins.tolist()]
    made = bars.resample(timeframe, partial=True)
    assert made.time.tolist() == [bars.time[0], *bars.time[begins].tolist()]
