"""The bundled samples: synthetic, the same everywhere, and with the habits of real markets."""

import numpy as np
import pytest

import chartpact as cp
from chartpact.bars import BarsError, samples

NAMES = [f"sample:{name}" for name in samples.SAMPLES]


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_marked_synthetic_and_names_a_pair_of_the_same_length(name):
    bars = cp.load(name)
    assert bars.synthetic
    assert "synthetic" in bars.source
    assert "synthetic" in repr(bars)
    pair = cp.load(bars.pair)
    assert pair.symbol != bars.symbol
    assert np.array_equal(pair.time, bars.time)
    assert samples.calendar(bars.calendar, int(bars.time[0]), int(bars.close_time[-1]))


@pytest.mark.parametrize("name", NAMES)
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
