import numpy as np
import pytest

from chartpact.bars import Bars
from chartpact.cache import Cache
from chartpact.sources.folder import count_bytes

ROW_BYTES = 6 * 8


def bars(count: int) -> Bars:
    column = np.ones(count)
    return Bars(np.arange(count) * 60_000, column, column, column, column, column, "X", "1m")


def cache(most_bytes: int) -> Cache[str, Bars]:
    return Cache(100, weight=most_bytes, weigh=count_bytes)


class Reader:
    """Reads bars, and counts how often."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.times = 0

    def __call__(self) -> Bars:
        self.times += 1
        return bars(self._count)


def test_what_is_asked_for_again_is_read_once():
    parsed, read = cache(1000 * ROW_BYTES), Reader(3)
    assert parsed.get_or_make("a", read) is parsed.get_or_make("a", read)
    assert read.times == 1
    parsed.get_or_make("b", read)
    assert read.times == 2


def test_no_more_bytes_are_held_than_may_be_and_those_used_longest_ago_leave_first():
    parsed, read = cache(10 * ROW_BYTES), Reader(4)
    for key in ("a", "b", "a", "c"):
        parsed.get_or_make(key, read)
    assert read.times == 3
    parsed.get_or_make("a", read)
    assert read.times == 3
    parsed.get_or_make("b", read)
    assert read.times == 4


def test_bars_larger_than_all_that_may_be_held_are_handed_over_and_push_nothing_out():
    parsed, small, large = cache(10 * ROW_BYTES), Reader(4), Reader(11)
    parsed.get_or_make("small", small)
    assert len(parsed.get_or_make("large", large)) == 11
    parsed.get_or_make("large", large)
    parsed.get_or_make("small", small)
    assert (small.times, large.times) == (1, 2)


def test_what_cannot_be_read_is_tried_again():
    parsed, read = cache(1000 * ROW_BYTES), Reader(3)

    def fails() -> Bars:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        parsed.get_or_make("a", fails)
    assert len(parsed.get_or_make("a", read)) == 3
