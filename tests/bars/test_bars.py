"""Bars as values: immutable, sliceable, comparable, and refused when they cannot be bars."""

import copy
import pickle

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact.bars import Bars, BarsError, align

MINUTE = 60_000


def some(count=6, **changes):
    close = np.arange(count) + 10.0
    given = {
        "time": np.arange(count) * MINUTE,
        "open": close,
        "high": close + 2,
        "low": close - 1,
        "close": close + 1,
        "volume": np.full(count, 5.0),
        "symbol": "X",
        "timeframe": "1m",
    }
    return Bars(**given | changes)


def test_columns_cannot_be_changed_and_do_not_follow_the_arrays_they_came_from():
    mine = np.arange(3) + 1.0
    bars = some(3, open=mine, high=mine + 9, low=mine - 1, close=mine)
    mine[0] = 99
    assert bars.open.tolist() == bars.close.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        bars.close[0] = 7
    with pytest.raises(AttributeError):
        bars.close = mine


def test_a_read_only_view_of_a_writable_array_is_copied():
    mine = np.arange(3) + 1.0
    view = mine[:]
    view.flags.writeable = False
    bars = some(3, open=view, high=mine + 9, low=mine - 1, close=mine)
    mine[0] = 99
    assert bars.open[0] == 1


def test_slices_are_bars_that_share_memory_and_keep_what_they_are():
    bars = some(tick_size=0.25, synthetic=True, day_roll="17:00 Europe/Berlin", pair="sample:x")
    tail = bars[-2:]
    assert isinstance(tail, Bars)
    assert tail.time.tolist() == [4 * MINUTE, 5 * MINUTE]
    assert np.shares_memory(tail.close, bars.close)
    assert (tail.tick_size, tail.synthetic, tail.day_roll) == (0.25, True, "17:00 Europe/Berlin")
    assert bars.last(2) == tail
    assert bars.last(100) == bars
    assert len(bars.last(0)) == len(bars[3:3]) == 0


def test_a_slice_is_what_checked_bars_of_its_columns_would_be():
    bars = some(ends=[MINUTE, 2 * MINUTE, 3 * MINUTE, 4 * MINUTE, 5 * MINUTE, 9 * MINUTE])
    assert bars.hl2[0] == 10.5  # a column that is derived once must not be passed on
    for start in range(7):
        for stop in range(start, 7):
            cut, checked = bars[start:stop], bars.take(slice(start, stop))
            assert cut == checked
            assert cut.hl2.tolist() == checked.hl2.tolist()
            assert cut.close_time.tolist() == checked.close_time.tolist()
            assert not cut.close.flags.writeable
            assert pickle.loads(pickle.dumps(cut)) == cut
    assert bars[:] is bars


def test_a_number_gives_one_bar_and_iteration_gives_them_all():
    bars = some()
    assert bars[0] == (0, 10.0, 12.0, 9.0, 11.0, 5.0)
    assert bars[-1].close == 16.0
    assert [bar.time for bar in bars] == bars.time.tolist()
    with pytest.raises(IndexError):
        bars[6]


@in_one_test("step", [2, -1])
def test_a_slice_with_a_step_is_refused(step):
    with pytest.raises(BarsError, match="steps of 1"):
        some()[::step]


def test_bars_are_equal_when_every_column_and_every_name_is():
    assert some() == some()
    assert some(volume=[np.nan] * 6) == some(volume=[np.nan] * 6)
    assert some() != some(symbol="Y")
    assert some() != some(volume=[6.0] * 6)
    assert some() != some(5)
    assert some() != "bars"


def test_bars_survive_pickling_and_copying():
    bars = some(tick_size=0.5)
    assert pickle.loads(pickle.dumps(bars)) == copy.deepcopy(bars) == bars


def test_a_repr_tells_what_they_are():
    assert repr(some()) == ("<Bars X 1m: 6 bars, 1970-01-01T00:00:00Z to 1970-01-01T00:05:00Z>")
    assert "synthetic" in repr(some(synthetic=True))
    assert repr(some(0, symbol="", timeframe="")) == "<Bars (no symbol): 0 bars>"


def test_typical_prices():
    bars = some(1)
    assert bars.hl2[0] == (12 + 9) / 2
    assert bars.hlc3[0] == (12 + 9 + 11) / 3
    assert bars.ohlc4[0] == (10 + 12 + 9 + 11) / 4
    assert bars.hlcc4[0] == (12 + 9 + 11 + 11) / 4
    assert not bars.hl2.flags.writeable


@in_one_test(
    ("changes", "told"),
    [
        ({"time": [0, 60_000, 60_000]}, "bar 2: time 1970-01-01T00:01:00Z is there twice"),
        ({"time": [0, 60_000, 30_000]}, "bar 2: time 1970-01-01T00:00:30Z comes after 1970-01"),
        ({"time": [0, 1, 10**16]}, "bar 2: time 10000000000000000 ms is outside"),
        ({"time": [0.5, 1.5, 2.5]}, "time holds float64 values"),
        ({"open": [10, np.nan, 12]}, "bar 1: open is nan"),
        ({"close": [11, np.inf, 13]}, "bar 1: close is inf"),
        ({"high": [12, 13, 12.5]}, r"bar 2: high 12.5 is below the close 13.0"),
        ({"low": [10.5, 10, 11]}, r"bar 0: low 10.5 is above the open 10.0"),
        ({"volume": [1, -1, 1]}, "bar 1: volume is -1.0"),
        ({"volume": [1, np.inf, 1]}, "bar 1: volume is inf"),
        ({"volume": [1, 1]}, "volume has 2 values, but time has 3"),
        ({"open": ["a", "b", "c"]}, "open holds something that is not a number"),
        ({"open": [[1, 2, 3]]}, "open has 2 dimensions"),
        ({"timeframe": "5x"}, "'5x' is no timeframe"),
        ({"tick_size": 0}, "tick_size is 0"),
        ({"tick_size": float("nan")}, "tick_size is nan"),
        ({"tick_size": "0.25"}, "tick_size is '0.25': it is a positive number"),
        ({"symbol": None}, "symbol is None: it is a text"),
        ({"open": [10**400, 11, 12]}, "open holds something that is not a number"),
        ({"day_roll": "noon"}, "'noon' is no day roll"),
        ({"day_roll": "18:00 America/Neu_York"}, "did you mean 'America/New_York'"),
    ],
)
def test_what_cannot_be_bars_is_refused_and_the_bar_is_named(changes, told):
    with pytest.raises(BarsError, match=told):
        some(3, **changes)


def test_the_first_faulty_bar_is_the_one_named():
    with pytest.raises(BarsError, match=r"^bar 1: volume"):
        some(3, volume=[1, -1, 1], close=[11, 12, np.nan])


def test_unknown_volume_is_not_a_fault():
    assert np.isnan(some(2, volume=[np.nan, 1.0]).volume[0])


def test_bars_without_a_timeframe_say_that_they_need_one():
    bars = some(timeframe="")
    with pytest.raises(BarsError, match="close_time needs the bars' timeframe"):
        _ = bars.close_time
    with pytest.raises(BarsError, match="resample needs the bars' timeframe"):
        bars.resample("1h")


def test_align_keeps_the_times_that_both_have():
    a, b = some(6), some(6, time=np.arange(3, 9) * MINUTE, symbol="Y")
    left, right = align(a, b)
    assert left.time.tolist() == right.time.tolist() == [3 * MINUTE, 4 * MINUTE, 5 * MINUTE]
    assert left.close.tolist() == [14, 15, 16]
    assert right.close.tolist() == [11, 12, 13]
    assert (left.symbol, right.symbol) == ("X", "Y")
    assert [len(side) for side in align(a, some(2, time=[10**9, 10**9 + 1]))] == [0, 0]
