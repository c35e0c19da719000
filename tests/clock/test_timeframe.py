"""Timeframes: one spelling each, what nests in what, and what bars' steps say."""

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact.clock.errors import ClockError
from chartpact.clock.timeframe import DAY, Timeframe, of_steps


@in_one_test(
    ("text", "canonical"),
    [
        ("1m", "1m"),
        ("5m", "5m"),
        ("60m", "1h"),
        ("240m", "4h"),
        ("90m", "90m"),
        ("1h", "1h"),
        ("1H", "1h"),
        ("24h", "1D"),
        ("1440m", "1D"),
        ("86400s", "1D"),
        ("1D", "1D"),
        ("1d", "1D"),
        ("1W", "1W"),
        ("1w", "1W"),
        ("1M", "1M"),
        ("3M", "3M"),
        ("5M", "5M"),
        ("15s", "15s"),
        ("60s", "1m"),
        ("60", "1h"),
        ("D", "1D"),
        ("W", "1W"),
        ("M", "1M"),
        ("3D", "3D"),
    ],
)
def test_a_timeframe_has_one_spelling(text, canonical):
    assert str(Timeframe.parse(text)) == canonical


@in_one_test(
    ("text", "told"),
    [
        ("13M", "m is minutes and M is months: did you mean '13m'"),
        ("15M", "m is minutes and M is months: did you mean '15m'"),
        ("5min", "did you mean '5m'"),
        ("", "write it like 1m 5m 1h 4h 1D 1W 1M"),
        ("0m", "is no timeframe"),
        ("m", "is no timeframe"),
        ("-5m", "is no timeframe"),
        ("1.5h", "is no timeframe"),
        ("36h", "counts days"),
        ("400D", "is no timeframe"),
        ("53W", "is no timeframe"),
        ("٥m", "is no timeframe"),
        (5, "is a text"),
    ],
)
def test_what_is_no_timeframe_is_told_and_the_nearest_is_named(text, told):
    with pytest.raises(ClockError, match=told):
        Timeframe.parse(text)


@in_one_test(
    ("lower", "higher", "nests"),
    [
        ("1m", "5m", True),
        ("5m", "15m", True),
        ("5m", "12m", False),
        ("7m", "1D", False),
        ("4h", "1D", True),
        ("1D", "1W", True),
        ("1D", "1M", True),
        ("1W", "1M", False),
        ("1W", "2W", True),
        ("1M", "3M", True),
        ("2D", "1W", False),
        ("1D", "4h", False),
    ],
)
def test_what_nests_in_what(lower, higher, nests):
    assert Timeframe.parse(lower).nests_in(Timeframe.parse(higher)) is nests


def dates(*texts):
    return np.array(texts, "datetime64[ms]").astype(np.int64)


def test_the_timeframe_is_the_commonest_step():
    assert str(of_steps(np.array([0, 60, 90, 120, 150]) * 60_000)) == "30m"
    assert str(of_steps(np.array([0, 1, 2, 3, 66]) * DAY)) == "1D"
    assert str(of_steps(np.arange(9) * 7 * DAY)) == "1W"
    assert str(of_steps(np.arange(9) * 15_000)) == "15s"
    assert of_steps(np.array([0])) is None
    assert of_steps(np.array([0, 1])) is None


def test_months_are_told_by_their_calendar_even_from_the_evening_before():
    assert str(of_steps(dates("2024-01-01", "2024-02-01", "2024-03-01", "2024-04-01"))) == "1M"
    assert str(of_steps(dates("2023-02-01", "2023-03-01"))) == "1M"
    assert str(of_steps(dates("2024-01-31T22", "2024-02-29T22", "2024-03-31T21"))) == "1M"
    assert str(of_steps(dates("2024-01-01", "2024-04-01", "2024-07-01"))) == "3M"
    assert str(of_steps(dates("2022-01-01", "2023-01-01", "2024-01-01"))) == "12M"
