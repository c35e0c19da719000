"""Time stamps as people write them, into UTC milliseconds.

A column of texts has few *shapes* (its digits replaced by 0), so each shape is understood once
and all of its rows are read together.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact.bars.columns import EARLIEST, LATEST, Place
from chartpact.bars.errors import BarsError, NoTimeZone
from chartpact.bars.numerals import Texts, matrix, numbers
from chartpact.clock import zones
from chartpact.clock.timeframe import DAY
from chartpact.clock.walltime import iso

Times = NDArray[np.int64]

FORMS = (
    "epoch seconds or milliseconds, ISO 8601 such as 2022-10-10T08:30:00Z, "
    "2022.10.10 08:30:00, or a date such as 2022-10-10"
)
_SHAPE = re.compile(
    rb"(?P<year>0000)(?P<dash>[-./]?)(?P<month>00?)(?P=dash)(?P<day>00?)"
    rb"(?:(?:[Tt]| +|(?<=00000000)(?=000000))(?P<hour>00?):?(?P<minute>00)"
    rb"(?::?(?P<second>00)(?:[.,](?P<fraction>0{1,9}))?)?)?"
    rb" ?(?P<offset>[Zz]|UTC|GMT|(?P<sign>[+-])(?P<hours>00)(?::?(?P<minutes>00))?)?"
)
FAR = 10**16  # ms, hundreds of thousands of years: what the checks of bars will refuse
_UNITS = ((1e11, 0.001), (1e14, 1.0), (1e17, 1_000.0))  # below this size: units in a millisecond
_COMPACT = (b"00000000", b"00000000000000")  # a date, or a count of seconds
_EPOCH = re.compile(rb"[+-]?0+(?:\.0*)?")
_TIME_OF_DAY = re.compile(rb"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?|\d{4}|\d{6}")


@dataclass(frozen=True)
class Stamps:
    """Times as read: in UTC, or naive, which is on the wall clock of a zone nobody has named."""

    ms: Times
    naive: NDArray[np.bool_]


def of_texts(texts: Texts, name: str, place: Place) -> Stamps:
    """The times that a column of texts spells."""
    rows = matrix(texts)
    digits = (rows >= 48) & (rows <= 57)
    shapes = np.where(digits, np.uint8(48), rows)
    ms = np.zeros(len(texts), np.int64)
    naive = np.zeros(len(texts), np.bool_)
    wrong: list[int] = []
    epoch = np.zeros(len(texts), np.bool_)
    left = np.arange(len(texts))
    while len(left):
        first = left[0]
        same = (shapes[left] == shapes[first]).all(axis=1)
        group, left = left[same], left[~same]
        shape = shapes[first].tobytes().rstrip(b"\0")
        match = _match_shape(shape)
        if match and not (shape in _COMPACT and _are_no_dates(rows[group], match)):
            ms[group], bad = _read(rows[group], match)
            naive[group] = match["offset"] is None
            wrong += group[bad][:1].tolist()
        elif _EPOCH.fullmatch(shape):
            epoch[group] = True
        else:  # what is left comes later in the column than this row
            wrong.append(int(first))
            break
    if wrong:
        row = min(wrong)
        shown = texts[row].decode("utf-8", "replace")
        raise BarsError(f"{place(row)}: {name} {shown!r} is not a time: use {FORMS}")
    if epoch.any():
        ms[epoch] = _epoch_texts(texts[epoch], name, place)
    return Stamps(ms, naive)


def of_dates_and_times(dates: Texts, times: Texts, place: Place) -> Texts:
    """A date column and a time column as one; the time column alone where it holds the date."""
    first = times[0] if len(times) else b""
    if _TIME_OF_DAY.fullmatch(first):
        joined: Texts = np.char.add(np.char.add(dates, b" "), times)
        return joined
    if first.isdigit() and len(first) < 9:  # 93000 is not a second of the year 1970
        raise BarsError(
            f"{place(0)}: time {first.decode()!r} beside a date is a time of day, "
            "as 09:30, 09:30:00 or 093000, or a time that holds its date too"
        )
    return times


def of_numbers(values: NDArray[np.generic], place: Place) -> Stamps:
    """Times counted since 1970 in seconds, ms, µs or ns: the unit that gives a likely year."""
    finite = np.isfinite(values.astype(np.float64))
    if not finite.all():
        row = int(np.argmin(finite))
        raise BarsError(f"{place(row)}: time is {values[row]}; it is a number of seconds or ms")
    return Stamps(_epoch(values), np.zeros(len(values), np.bool_))


def of_datetimes(values: NDArray[np.datetime64], naive: bool) -> Stamps:
    """Times that are already datetime64."""
    ms = values.astype("datetime64[ms]").astype(np.int64)
    return Stamps(ms, np.full(len(values), naive))


def to_utc(stamps: Stamps, tz: str | None, place: Place) -> Times:
    """All stamps in UTC ms; naive ones by the zone, or as they are when they are all dates."""
    if not stamps.naive.any():
        return stamps.ms
    local = stamps.ms[stamps.naive]
    dates = not (local % DAY).any()
    if ((local < EARLIEST) | (local > LATEST)).any():
        return stamps.ms  # beyond all calendars of zones: the checks of bars refuse them
    if tz is None and not dates:
        row = int(np.argmax(stamps.naive))
        raise NoTimeZone(
            f"{place(row)}: time {iso(stamps.ms[row])[:-1]} has no time zone: say which one "
            "it is in, with tz='America/New_York' or tz='UTC'"
        )
    ms = stamps.ms.copy()
    if tz is not None:
        ms[stamps.naive] = _from_wall_clock(local, tz, dates, np.flatnonzero(stamps.naive), place)
    return ms


def _from_wall_clock(
    local: Times, tz: str, dates: bool, rows: NDArray[np.intp], place: Place
) -> Times:
    earlier, later, skipped = zones.to_utc(zones.zone(tz), local)
    if skipped.any() and not dates:  # a date whose midnight is skipped begins right after it
        first = int(np.argmax(skipped))
        raise BarsError(
            f"{place(int(rows[first]))}: {iso(local[first])[:-1]} does not exist in {tz}, "
            "where clocks were put forward over it: the times are in another zone"
        )
    # An hour that clocks repeat is read as its first pass, until time would go backwards.
    for row in np.flatnonzero(earlier != later).tolist():
        if row and earlier[row] <= earlier[row - 1]:
            earlier[row] = later[row]
    return earlier


def _match_shape(shape: bytes) -> re.Match[bytes] | None:
    match = _SHAPE.fullmatch(shape)
    if match and not match["dash"] and match.end("day") != 8:
        return None  # digits in a row are a date only when there are eight
    return match


def _are_no_dates(rows: NDArray[np.uint8], match: re.Match[bytes]) -> bool:
    """Whether digits that could be YYYYMMDD are something else, such as a count of seconds."""
    year, month = (_digits(rows, match, part) for part in ("year", "month"))
    return bool(((year < 1900) | (year > 2199) | (month < 1) | (month > 12)).any())


def _read(rows: NDArray[np.uint8], match: re.Match[bytes]) -> tuple[Times, NDArray[np.bool_]]:
    """The times of rows that share a shape, and which of them do not exist in any calendar."""
    year, month, day, hour, minute, second, hours, minutes = (
        _digits(rows, match, part)
        for part in ("year", "month", "day", "hour", "minute", "second", "hours", "minutes")
    )
    month_start = ((year - 1970) * 12 + month - 1).astype("datetime64[M]").astype("datetime64[D]")
    date = month_start + (day - 1)
    bad = (month < 1) | (month > 12) | (day < 1) | (date.astype("datetime64[M]") != month_start)
    bad |= (hour > 23) | (minute > 59) | (second > 59) | (hours > 15) | (minutes > 59)
    ms = date.astype(np.int64) * DAY + hour * 3_600_000 + minute * 60_000 + second * 1_000
    if match["fraction"]:
        length = len(match["fraction"])
        fraction = _digits(rows, match, "fraction")
        ms += fraction * 10 ** (3 - length) if length <= 3 else fraction // 10 ** (length - 3)
    if match["sign"]:
        east = rows[:, match.start("sign")] == ord("+")
        offset = hours * 3_600_000 + minutes * 60_000
        ms += np.where(east, -offset, offset)
    return ms, bad


def _digits(rows: NDArray[np.uint8], match: re.Match[bytes], part: str) -> Times:
    total = np.zeros(len(rows), np.int64)
    begin, end = match.span(part)
    for column in range(begin, end):
        total = total * 10 + (rows[:, column] - np.uint8(48))
    return total


def _epoch_texts(texts: Texts, name: str, place: Place) -> Times:
    if all(text.lstrip(b"+-").isdigit() for text in texts[:1].tolist()):
        try:
            return _epoch(texts.astype(np.int64))
        except (ValueError, OverflowError):
            pass  # one of them has a fraction, or more digits than any time
    return _epoch(numbers(texts, name, place))


def _epoch(values: NDArray[np.generic]) -> Times:
    """UTC ms of counts since 1970, all in the unit that makes sense of the middle one."""
    size = np.abs(values.astype(np.float64))
    typical = float(np.median(size)) if len(size) else 0.0
    per_ms = next((unit for most, unit in _UNITS if typical < most), 1_000_000.0)
    rough = values.astype(np.float64) / per_ms
    if values.dtype.kind not in "iu":
        return np.rint(np.clip(rough, -FAR, FAR)).astype(np.int64)
    near = np.where(size / per_ms < FAR, values, 0).astype(np.int64)
    exact = near * 1_000 if per_ms < 1 else near // int(per_ms)
    return np.where(size / per_ms < FAR, exact, np.copysign(FAR, rough).astype(np.int64))
