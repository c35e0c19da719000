"""Sessions: which times lie within hours such as "0930-1600:23456"."""

import numpy as np
import pytest
from tests.cases import in_one_test

from chartpact.clock.errors import ClockError
from chartpact.clock.sessions import Session, minute_of_day


def within(session: str, *times: str) -> list[bool]:
    wall = np.array(times, "datetime64[ms]").astype(np.int64)
    return Session.parse(session).contains(wall).tolist()


def test_a_session_is_half_open():
    times = ("2024-07-01T09:29", "2024-07-01T09:30", "2024-07-01T15:59", "2024-07-01T16:00")
    assert within("0930-1600", *times) == [False, True, True, False]


def test_several_spans_and_days():
    session = "0930-1200,1300-1600:2"  # Mondays; 2024-07-01 was one
    times = ("2024-07-01T11:00", "2024-07-01T12:30", "2024-07-01T13:00", "2024-07-02T11:00")
    assert within(session, *times) == [True, False, True, False]


def test_an_overnight_session_belongs_to_the_day_it_ends_on():
    inside = {
        "2024-06-30T17:59": False,  # Sunday
        "2024-06-30T18:00": True,  # Monday's session opens on Sunday evening
        "2024-07-01T16:59": True,
        "2024-07-01T17:30": False,
        "2024-07-05T16:59": True,  # Friday
        "2024-07-05T18:00": False,  # would be Saturday's
        "2024-07-06T10:00": False,
    }
    assert within("1800-1700:23456", *inside) == list(inside.values())
    assert within("2000-0400:1", "2024-07-06T20:00", "2024-07-07T20:00") == [True, False]


def test_an_end_of_0000_is_midnight_of_the_same_day():
    times = ("2024-07-01T17:00", "2024-07-01T23:59", "2024-07-02T00:00")
    assert within("1700-0000:2", *times) == [True, True, False]
    assert within("0000-0000", *times) == [True, True, True]
    assert within("0000-2400:2", *times) == [True, True, False]


def test_one_range_is_on_every_day_and_several_are_on_weekdays():
    saturday, monday = "2024-07-06T11:30", "2024-07-01T11:30"
    assert within("1100-1400", saturday, monday) == [True, True]
    for text in ("1100-1400,1500-1600", "1100-1400,", "1100-1400:", "1100-1400|"):
        assert within(text, saturday, monday) == [False, True], text


def test_a_bar_is_in_a_session_by_its_open():
    half_hours = [f"2024-07-01T{text}" for text in ("09:30", "10:00", "10:30")]
    assert within("0945-1015", *half_hours) == [False, True, False]


def test_hours_are_a_count_of_minutes():
    times = [f"2024-07-01T{text}" for text in ("09:59", "10:00", "10:59", "11:00")]
    assert within("0960-1060", *times) == [False, True, True, False]
    late = ("2024-07-01T23:00", "2024-07-02T00:59", "2024-07-02T01:00")
    assert within("2200-2500:3", *late) == within("2200-0100:3", *late) == [True, True, False]


def test_a_session_that_ends_when_it_starts_lasts_a_day():
    times = ("2024-06-30T09:29", "2024-06-30T09:30", "2024-07-01T09:29", "2024-07-01T09:30")
    assert within("0930-0930:2", *times) == [False, True, True, False]


def test_a_later_section_replaces_an_earlier_one_on_its_days():
    session = "0930-1600|0930-1300:6"  # 2024-07-05 was a Friday
    times = ("2024-07-04T15:00", "2024-07-05T12:00", "2024-07-05T15:00", "2024-07-06T10:00")
    assert within(session, *times) == [True, True, False, False]
    assert within("0930-1600:23456|1000-1200:17", "2024-07-06T10:00", "2024-07-06T09:30") == [
        *(True, False)
    ]


@in_one_test("text", ["", "regular", "extended"])
def test_the_own_session_of_a_symbol_holds_all_of_its_bars(text):
    assert within(text, "2024-07-06T03:00", "2024-07-01T12:00") == [True, True]


def test_a_session_opens_with_its_first_range_and_closes_with_its_last():
    monday = int(np.datetime64("2024-07-01").astype(int))
    dates, opening, closing = Session.parse("0930-1200,1300-1600").days(monday - 2, monday + 1)
    assert (dates - monday).tolist() == [0, 1]
    assert ((opening - dates * 86_400_000) // 60_000).tolist() == [570, 570]
    assert ((closing - dates * 86_400_000) // 60_000).tolist() == [960, 960]
    _, opening, _ = Session.parse("1800-1700:2").days(monday - 2, monday + 1)
    assert opening.astype("datetime64[ms]").astype(str).tolist() == ["2024-06-30T18:00:00.000"]


def test_24x7_is_always():
    assert within("24x7", "2024-07-06T03:00", "2024-07-07T23:59") == [True, True]


@in_one_test(
    "text",
    [
        *["0930", "0930-", "930-1600", "09:30-16:00", "2500-2600", "2400-0930", "0930-3400"],
        *["0930-1600:8", "0930-1600:0", "0930-1600:a", ",0930-1600", "0930-1600,,", "|0930-1600"],
        *["0930-1600 ", "0930–1600", "٠٩٣٠-1600", "24X7", "24x7:2", "0930-1600:2:3", "|", "nine"],
        *["9:30-16", "0930-16:00", "0930-1600||", "0930-1600|x", None, 930, b"0930-1600"],
    ],
)
def test_a_malformed_session_is_refused(text):
    with pytest.raises(ClockError, match="write HHMM-HHMM") as caught:
        Session.parse(text)
    assert repr(text) in str(caught.value)


def test_a_time_of_day_is_written_in_four_digits():
    assert [minute_of_day(text) for text in ("0000", "0930", "2359")] == [0, 570, 1439]
    assert minute_of_day("17:05", ":") == 1025
    for text in ("", "17", "2400", "1760", "5pm", "17:00"):
        with pytest.raises(ClockError, match="no time of day"):
            minute_of_day(text)
