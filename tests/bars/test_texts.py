"""Numbers and times as texts: read as Python would read them, whole columns at a time."""

import re
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import in_one_test
from tests.effort import examples

from chartpact.bars import Bars, BarsError, timestamps
from chartpact.bars.numerals import numbers

MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(2199, 1, 1))


def line(row):
    return f"line {row + 2}"


def column(*texts):
    return np.array([text.encode() for text in texts], np.bytes_)


def read(*texts, tz=None):
    found = timestamps.of_texts(column(*texts), "time", line)
    return timestamps.to_utc(found, tz, line).tolist()


def ms(*moment):
    return int(datetime(*moment, tzinfo=UTC).timestamp() * 1000)


# --------------------------------------------------------------------------------------- numbers

DECIMALS = st.from_regex(re.compile(r"-?[0-9]{1,12}(\.[0-9]{0,14})?", re.ASCII), fullmatch=True)
FLOATS = st.floats(allow_nan=False, allow_infinity=False).map(repr)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(DECIMALS | FLOATS, min_size=1, max_size=20))
def test_numbers_are_read_to_the_last_bit(texts):
    assert numbers(column(*texts), "open", line).tolist() == [float(text) for text in texts]


def test_numbers_are_read_with_a_sign_an_exponent_or_blanks_around_them():
    texts = ["+1.5", "-1.5", "1e3", " 2 ", ".5", "5.", "1.0691800000000001", "-.25e-2"]
    expected = [1.5, -1.5, 1000, 2, 0.5, 5, 1.0691800000000001, -0.0025]
    assert numbers(column(*texts), "open", line).tolist() == expected


def test_absent_numbers_are_nan():
    texts = ["", "NaN", "nan", "null", "None", "N/A", "-"]
    assert np.isnan(numbers(column(*texts), "volume", line)).all()


@in_one_test(
    "text", ["abc", "1_000", "1,5", "1.2.3", "--1", "1-", "0x10", "1e", "e5", ".", "１", "1 2"]
)
def test_what_is_no_number_is_shown_with_its_line(text):
    with pytest.raises(BarsError, match=f"^line 3: open {re.escape(repr(text))} is not a number"):
        numbers(column("1.5", text, "zzz"), "open", line)


def test_a_decimal_comma_is_explained():
    with pytest.raises(BarsError, match="is its comma a decimal comma"):
        numbers(column("1,0691"), "open", line)


# ----------------------------------------------------------------------------------------- times


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(MOMENTS, min_size=1, max_size=8),
    st.sampled_from(["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y.%m.%d %H:%M:%S"])
    | st.sampled_from(["%Y/%m/%d %H:%M:%S", "%Y%m%d %H%M%S", "%Y-%m-%dT%H:%M:%S.%f"])
    | st.sampled_from(["%Y%m%d%H%M%S", "%Y-%m-%d %H:%M:%S.%f"]),
    st.integers(-14 * 4, 14 * 4).map(lambda quarters: timedelta(minutes=15 * quarters)),
)
def test_a_time_with_an_offset_is_the_instant_it_names(moments, form, offset):
    zone = timezone(offset)
    moments = [moment if "%f" in form else moment.replace(microsecond=0) for moment in moments]
    sign, whole = ("-", -offset) if offset < timedelta(0) else ("+", offset)
    hours, minutes = divmod(int(whole.total_seconds()) // 60, 60)
    for suffix in (f"{sign}{hours:02}:{minutes:02}", f"{sign}{hours:02}{minutes:02}"):
        texts = [moment.strftime(form) + suffix for moment in moments]
        expected = [
            (moment.replace(tzinfo=zone) - datetime(1970, 1, 1, tzinfo=UTC))
            // timedelta(milliseconds=1)
            for moment in moments
        ]
        assert read(*texts) == expected


@in_one_test(
    "text",
    [
        "2024-03-04T09:30:00Z",
        "2024-03-04T09:30:00z",
        "2024-03-04 09:30Z",
        "2024-03-04 09:30:00 UTC",
        "2024-03-04T09:30:00.000Z",
        "2024-03-04T04:30:00-05:00",
        "2024-03-04 15:00:00+0530",
        "2024-03-04T10:30:00+01",
        "1709544600",
        "1709544600000",
        "1709544600000000",
        "1709544600000000000",
        "1709544600.0",
        "2024.3.4 9:30:00Z",
        "20240304 093000Z",
        "2024-03-04T09:30:00,000000000Z",
    ],
)
def test_one_moment_in_many_spellings(text):
    assert read(text) == [ms(2024, 3, 4, 9, 30)]


def test_spellings_may_be_mixed_within_a_column():
    texts = ["2024-03-04T09:30:00Z", "2024-03-04T10:30:00.5+01:00", "2024-03-04T09:31Z"]
    assert read(*texts) == [
        ms(2024, 3, 4, 9, 30),
        ms(2024, 3, 4, 9, 30) + 500,
        ms(2024, 3, 4, 9, 31),
    ]


def test_dates_alone_are_utc_days_unless_a_zone_is_given():
    assert read("2024-03-04", "2024-03-05") == [ms(2024, 3, 4), ms(2024, 3, 5)]
    assert read("20240304", "20240305") == [ms(2024, 3, 4), ms(2024, 3, 5)]
    assert read("2024-03-04 00:00:00", "2024-03-05 00:00:00")[0] == ms(2024, 3, 4)
    assert read("2024-03-04", tz="America/New_York") == [ms(2024, 3, 4, 5)]


def test_eight_digits_that_are_no_dates_are_seconds():
    assert read("99999999") == [99_999_999_000]


def test_naive_times_need_a_zone():
    with pytest.raises(BarsError, match=r"line 2: time 2024-03-04T00:15:00 has no time zone.*tz="):
        read("2024-03-04 00:15:00", "2024-03-04 09:30:00")
    assert read("2024-03-04 09:30:00", tz="America/New_York") == [ms(2024, 3, 4, 14, 30)]
    assert read("2022.10.10 00:15:00", tz="Europe/Athens") == [ms(2022, 10, 9, 21, 15)]


def test_a_zone_leaves_times_alone_that_name_their_own():
    assert read("2024-03-04T09:30:00Z", tz="Asia/Tokyo") == [ms(2024, 3, 4, 9, 30)]


def test_an_unknown_zone_gets_the_nearest_name():
    with pytest.raises(BarsError, match=r"no time zone.*did you mean 'America/New_York'"):
        Bars.from_columns({"time": ["2024-03-04 09:30:00"]}, tz="America/NewYork")


@in_one_test(
    "text",
    [
        "2024-13-01T00:00:00Z",
        "2024-02-30T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "2024-00-10T00:00:00Z",
        "2024-01-00T00:00:00Z",
        "2024-01-01T24:00:00Z",
        "2024-01-01T10:60:00Z",
        "2024-01-01T10:00:61Z",
        "yesterday",
        "",
        "09:30",
        "2024-01-01T10:00:00+16:00",
        "2024-01",
        "2024-1-1-1",
        "2024-01/02",
        "Mon Mar 4 2024",
    ],
)
def test_what_is_no_time_is_shown_with_its_line(text):
    with pytest.raises(BarsError, match=f"^line 4: time {re.escape(repr(text))} is not a time"):
        read("2024-01-01T10:00:00Z", "2024-01-01T10:00:01Z", text, "zzz")


def test_the_first_wrong_time_is_named_though_another_shape_is_wrong_later():
    with pytest.raises(BarsError, match=r"^line 3: time '2024-02-31T00:00:00Z'"):
        read("2024-02-28T00:00:00Z", "2024-02-31T00:00:00Z", "nonsense")
    with pytest.raises(BarsError, match=r"^line 3: time 'nonsense'"):
        read("2024-02-28T00:00:00Z", "nonsense", "2024-02-31T00:00:00Z")


def test_the_hour_that_clocks_repeat_is_told_by_the_order_of_rows():
    texts = [
        f"2022-11-06 {hour}" for hour in ("00:30", "01:00", "01:30", "01:00", "01:30", "02:00")
    ]
    expected = [ms(2022, 11, 6, 4, 30) + 1_800_000 * step for step in range(6)]
    assert read(*texts, tz="America/New_York") == expected


def test_an_hour_that_could_be_either_pass_is_the_first():
    assert read("2022-11-06 01:00", "2022-11-06 02:00", tz="America/New_York") == [
        ms(2022, 11, 6, 5),
        ms(2022, 11, 6, 7),
    ]


def test_an_hour_that_clocks_skip_is_an_error_with_its_line():
    with pytest.raises(BarsError, match="line 3: 2023-03-12T02:30:00 does not exist in America"):
        read("2023-03-12 01:30", "2023-03-12 02:30", tz="America/New_York")


def test_a_date_whose_midnight_is_skipped_begins_right_after():
    assert read("2018-11-04", tz="America/Sao_Paulo") == [ms(2018, 11, 4, 3)]


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.integers(ms(1975, 1, 1), ms(2100, 1, 1)), min_size=1, max_size=30, unique=True),
    st.sampled_from(
        [
            "America/New_York",
            "Europe/Athens",
            "Australia/Lord_Howe",
            "Asia/Kathmandu",
            "UTC",
            "Africa/Casablanca",
            "America/Sao_Paulo",
            "Pacific/Apia",
        ]
    ),
)
def test_wall_clock_times_come_back_as_the_instants_they_were(instants, tz):
    zone = ZoneInfo(tz)
    for instant in instants:
        whole = instant // 1000
        local = datetime.fromtimestamp(whole, zone)
        text = local.strftime("%Y-%m-%d %H:%M:%S")
        first = local.replace(fold=0).timestamp()
        assert read(text, tz=tz) == [int(first) * 1000]
