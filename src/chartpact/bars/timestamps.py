"""Time stamps as people write them, into UTC milliseconds.

A column of texts has few *shapes* (its digits replaced by 0), so each shape is understood once
and all of its rows are read together.
"""

import itertools
import re
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chartpact.bars.columns import EARLIEST, LATEST, DescribeRow
from chartpact.bars.errors import BarsError
from chartpact.bars.numerals import Texts, matrix, numbers
from chartpact.clock import zones
from chartpact.clock.timeframe import DAY
from chartpact.clock.walltime import iso

Times = NDArray[np.int64]

FORMS = (
    "epoch seconds or milliseconds, ISO 8601 such as 2022-10-10T08:30:00Z, "
    "2022.10.10 08:30:00, 10.10.2022 8:30 PM, or a date such as 2022-10-10"
)
ORDERS = {"dmy": "day first", "mdy": "month first"}
_CLOCK = (
    rb"(?P<hour>00?):?(?P<minute>00)(?::?(?P<second>00)(?:[.,](?P<fraction>0{1,9}))?)?"
    rb"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_OFFSET = (
    rb" ?(?P<offset>[Zz]|(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>00)(?::?(?P<minutes>00))?|UTC|GMT)?"
)
_YEAR_FIRST = re.compile(
    rb"(?P<year>0000)(?P<dash>[-./]?)(?P<month>00?)(?P=dash)(?P<day>00?)"
    rb"(?:(?:[Tt]| +|(?<=00000000)(?=000000))" + _CLOCK + rb")?" + _OFFSET
)
_YEAR_LAST = re.compile(
    rb"(?P<day>00?)(?P<dash>[-./])(?P<month>00?)(?P=dash)(?P<year>0000|00)"
    rb"(?:,? +" + _CLOCK + rb")?" + _OFFSET
)
FAR = 10**16  # ms, hundreds of thousands of years: what the checks of bars will refuse
_UNITS = ((1e11, 0.001), (1e14, 1.0), (1e17, 1_000.0))  # below this size: units in a millisecond
_COMPACT = (b"00000000", b"00000000000000")  # a date, or a count of seconds
_EPOCH = re.compile(rb"[+-]?0+(?:\.0*)?")
_TIME_OF_DAY = re.compile(rb"\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AaPp]\.?[Mm]\.?)?|\d{4}|\d{6}")
_MONTHS = b"jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = rb"(?:%s)[a-z]{0,6}" % b"|".join(_MONTHS)
_NAMED_MONTH = re.compile(
    rb"^(?:(?P<before>%s)\.? (?P<day>\d\d?),?|(?P<day2>\d\d?)[ -](?P<after>%s)\.?,?)"
    rb"[ -](?P<year>\d{4})(?!\d)" % (_MONTH, _MONTH),
    re.IGNORECASE,
)
_PIVOT = 70  # from here on, a year of two digits is of the last century
_DAY_NUMBERS = (20_000, 80_000)  # of spreadsheets, from 1954 to 2119
_LIKELY = (631_152_000_000, 4_102_444_800_000)  # 1990 and 2100, in ms


@dataclass(frozen=True)
class Stamps:
    """Times as read: in UTC, or naive, which is on the wall clock of a zone nobody has named."""

    ms: Times
    naive: NDArray[np.bool_]
    notes: tuple[str, ...] = ()

    def take(self, order: NDArray[np.intp]) -> "Stamps":
        return Stamps(self.ms[order], self.naive[order], self.notes)


@dataclass(frozen=True)
class _Group:
    """Rows of one shape, and what that shape is."""

    rows: NDArray[np.intp]
    match: re.Match[bytes] | None  # None: a count since 1970

    @property
    def form(self) -> str:
        """The properties that all rows of a column must share."""
        match = self.match
        if match is None:
            return "a count since 1970"
        year = "year first" if match.re is _YEAR_FIRST else f"year last after {match['dash']!r}"
        half = match["hour"] and (", AM or PM" if match["half"] else ", 24 hours")
        return f"{year}{half or ''}, {'with' if match['offset'] else 'without'} a zone"

    def fits(self, other: "_Group") -> bool:
        """Whether both may stand in one column: they differ in no more than the time of day."""
        short, long = sorted((self.form, other.form), key=len)
        return short == long or re.sub(", AM or PM|, 24 hours", "", long) == short


def of_texts(texts: Texts, name: str, place: DescribeRow, order: str | None = None) -> Stamps:
    """The times that a column of texts spells; `order` is of day and month before a year."""
    texts = _number_months(texts)
    rows = matrix(texts)
    groups, wrong = _group(texts, rows)
    for earlier, later in itertools.combinations(groups, 2):
        here, there = int(later.rows[0]), int(earlier.rows[0])
        if not later.fits(earlier) and here < min(wrong, default=here + 1):
            raise BarsError(
                f"{place(here)}: {name} {_show(texts, here)} is written otherwise than "
                f"{_show(texts, there)} ({place(there)}): one column has one form of times"
            )
    year_last = [group for group in groups if group.match and group.match.re is _YEAR_LAST]
    order, notes = _find_order(year_last, rows, order, texts, name, place)
    ms = np.zeros(len(texts), np.int64)
    naive = np.zeros(len(texts), np.bool_)
    for group in groups:
        if group.match is None:
            ms[group.rows] = _epoch_texts(texts[group.rows], name, place) if not wrong else 0
            continue
        ms[group.rows], bad = _read(rows[group.rows], group.match, swap=order == "mdy")
        naive[group.rows] = group.match["offset"] is None
        wrong += group.rows[bad][:1].tolist()
    if wrong:
        more = f"; dates were read {ORDERS[order]}" if year_last and order else ""
        raise _no_time(texts, min(wrong), name, place, more)
    return Stamps(ms, naive, notes)


def _number_months(texts: Texts) -> Texts:
    """The texts with the month in digits where it is named, as in 04-Mar-2024 or Mar 4, 2024."""
    if not len(texts) or not _NAMED_MONTH.match(texts[0]):
        return texts
    return np.array([_NAMED_MONTH.sub(_number_month, text) for text in texts.tolist()])


def _number_month(match: re.Match[bytes]) -> bytes:
    word = (match["before"] or match["after"])[:3].lower()
    day = match["day"] or match["day2"]
    return b"%s-%02d-%02d" % (match["year"], _MONTHS.index(word) + 1, int(day))


def _group(texts: Texts, rows: NDArray[np.uint8]) -> tuple[list[_Group], list[int]]:
    """The rows by their shapes, counts since 1970 in one group, and the first that is no time."""
    digits = (rows >= 48) & (rows <= 57)
    shapes = np.where(digits, np.uint8(48), rows)
    groups: list[_Group] = []
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
            groups.append(_Group(group, match))
        elif _EPOCH.fullmatch(shape):
            epoch[group] = True
        else:  # what is left comes later in the column than this row
            wrong.append(int(first))
            break
    if epoch.any():
        groups.append(_Group(np.flatnonzero(epoch), None))
    return sorted(groups, key=lambda group: int(group.rows[0])), wrong


def _find_order(
    groups: list[_Group],
    rows: NDArray[np.uint8],
    order: str | None,
    texts: Texts,
    name: str,
    place: DescribeRow,
) -> tuple[str | None, tuple[str, ...]]:
    """Whether dates such as 03.04.2024 begin with the day: as told, or by a number above 12."""
    if not groups or order is not None:
        return order, ()
    short = [group for group in groups if group.match and len(group.match["year"]) == 2]
    if short:
        row = int(short[0].rows[0])
        raise BarsError(
            f"{place(row)}: {name} {_show(texts, row)} has a year of two digits, which may be "
            "first or last: if it is last, say the order with date_order='dmy' or 'mdy'",
            option="date_order",
        )
    days: list[int] = []
    months: list[int] = []  # rows whose first number is no month, and whose second is none
    differ = False
    for group in groups:
        assert group.match is not None
        first, second = (_digits(rows[group.rows], group.match, part) for part in ("day", "month"))
        differ |= bool((first != second).any())
        for column, found in ((first, days), (second, months)):
            if (column > 12).any():
                found.append(int(group.rows[np.argmax(column > 12)]))
    if days and months:
        day, month = min(days), min(months)
        raise BarsError(
            f"{name} {_show(texts, day)} ({place(day)}) has the day first, and "
            f"{_show(texts, month)} ({place(month)}) the month: one column has one form of times"
        )
    if days or months:
        row = min(days or months)
        order = "dmy" if days else "mdy"
        return order, (f"dates are {ORDERS[order]}, by {_show(texts, row)} ({place(row)})",)
    if not differ:
        return "dmy", ()
    row = int(groups[0].rows[0])
    raise BarsError(
        f"{place(row)}: {name} {_show(texts, row)} may have the day or the month first, and no "
        "date here tells which: say it with date_order='dmy' or 'mdy'",
        option="date_order",
    )


def _show(texts: Texts, row: int) -> str:
    return repr(texts[row].decode("utf-8", "replace"))


def _no_time(texts: Texts, row: int, name: str, place: DescribeRow, more: str = "") -> BarsError:
    return BarsError(f"{place(row)}: {name} {_show(texts, row)} is not a time: use {FORMS}{more}")


def of_dates_and_times(dates: Texts, times: Texts, place: DescribeRow) -> Texts:
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


def of_numbers(values: NDArray[np.generic], place: DescribeRow) -> Stamps:
    """Times counted since 1970 in seconds, ms, µs or ns: the unit that gives a likely year."""
    finite = np.isfinite(values.astype(np.float64))
    if not finite.all():
        row = int(np.argmin(finite))
        raise BarsError(f"{place(row)}: time is {values[row]}; it is a number of seconds or ms")
    if values.dtype.kind in "iu" and _are_dates(values):
        return of_texts(values.astype(np.bytes_), "time", place)
    return Stamps(_epoch(values, place), np.zeros(len(values), np.bool_))


def _are_dates(values: NDArray[np.generic]) -> bool:
    """Whether whole numbers are written as 20240304 or 20240304093000."""
    numbers = values.astype(np.float64)
    units = (1, 10**6)
    return any(((numbers > 1.9e7 * unit) & (numbers < 2.2e7 * unit)).all() for unit in units)


def of_datetimes(values: NDArray[np.datetime64], naive: bool) -> Stamps:
    """Times that are already datetime64."""
    ms = values.astype("datetime64[ms]").astype(np.int64)
    return Stamps(ms, np.full(len(values), naive))


def to_utc(stamps: Stamps, tz: str | None, place: DescribeRow) -> Times:
    """All stamps in UTC ms; naive ones by the zone, or as they are when they are all dates."""
    if not stamps.naive.any():
        return stamps.ms
    local = stamps.ms[stamps.naive]
    dates = not (local % DAY).any()
    if ((local < EARLIEST) | (local > LATEST)).any():
        return stamps.ms  # beyond all calendars of zones: the checks of bars refuse them
    if tz is None and not dates:
        row = int(np.argmax(stamps.naive))
        raise BarsError(
            f"{place(row)}: time {iso(stamps.ms[row])[:-1]} has no time zone: say which one "
            "it is in, with tz='America/New_York' or tz='UTC'",
            option="tz",
        )
    ms = stamps.ms.copy()
    if tz is not None:
        ms[stamps.naive] = _from_wall_clock(local, tz, dates, np.flatnonzero(stamps.naive), place)
    return ms


def _from_wall_clock(
    local: Times, tz: str, dates: bool, rows: NDArray[np.intp], place: DescribeRow
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
    match = _YEAR_FIRST.fullmatch(shape)
    if match and not match["dash"] and match.end("day") != 8:
        return None  # digits in a row are a date only when there are eight
    return match or _YEAR_LAST.fullmatch(shape)


def _are_no_dates(rows: NDArray[np.uint8], match: re.Match[bytes]) -> bool:
    """Whether digits that could be YYYYMMDD are something else, such as a count of seconds."""
    year, month = (_digits(rows, match, part) for part in ("year", "month"))
    return bool(((year < 1900) | (year > 2199) | (month < 1) | (month > 12)).any())


def _read(
    rows: NDArray[np.uint8], match: re.Match[bytes], swap: bool = False
) -> tuple[Times, NDArray[np.bool_]]:
    """The times of rows that share a shape, and which of them do not exist in any calendar.

    `swap` says that the month of a date with its year last comes first.
    """
    year, month, day, hour, minute, second, hours, minutes = (
        _digits(rows, match, part)
        for part in ("year", "month", "day", "hour", "minute", "second", "hours", "minutes")
    )
    if swap and match.re is _YEAR_LAST:
        month, day = day, month
    if len(match["year"]) == 2:
        year += np.where(year < _PIVOT, 2000, 1900)
    late = np.zeros(len(rows), np.bool_)  # hours that no clock with two halves of a day shows
    if match["half"]:
        late = (hour < 1) | (hour > 12)
        afternoon = np.isin(rows[:, match.start("half")], np.frombuffer(b"pP", np.uint8))
        hour = hour % 12 + 12 * afternoon
    month_start = ((year - 1970) * 12 + month - 1).astype("datetime64[M]").astype("datetime64[D]")
    date = month_start + (day - 1)
    bad = (month < 1) | (month > 12) | (day < 1) | (date.astype("datetime64[M]") != month_start)
    bad |= late | (hour > 23) | (minute > 59) | (second > 59) | (hours > 15) | (minutes > 59)
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


def _epoch_texts(texts: Texts, name: str, place: DescribeRow) -> Times:
    values: NDArray[np.generic] | None = None
    if all(text.lstrip(b"+-").isdigit() for text in texts[:1].tolist()):
        # One of them may have a fraction, or more digits than any time.
        with suppress(ValueError, OverflowError):
            values = texts.astype(np.int64)
    return _epoch(numbers(texts, name, place) if values is None else values, place)


def _epoch(values: NDArray[np.generic], place: DescribeRow) -> Times:
    """UTC ms of counts since 1970, all in the unit that makes sense of the middle one."""
    size = np.abs(values.astype(np.float64))
    typical = float(np.median(size)) if len(size) else 0.0
    per_ms = next((unit for most, unit in _UNITS if typical < most), 1_000_000.0)
    rough = values.astype(np.float64) / per_ms
    if len(size) and _DAY_NUMBERS[0] <= size.min() and size.max() <= _DAY_NUMBERS[1]:
        raise BarsError(
            f"{place(0)}: time {values[0]} looks like a spreadsheet's count of days: "
            "save the column as dates, such as 2022-10-10 08:30"
        )
    bounds = np.array([most for most, _ in _UNITS])
    own_per_ms = np.array([unit for _, unit in _UNITS] + [1_000_000.0])[np.digitize(size, bounds)]
    own = size / own_per_ms
    odd = (own_per_ms != per_ms) & (own >= _LIKELY[0]) & (own <= _LIKELY[1])
    if odd.any():
        row, other = int(np.argmax(odd)), int(np.argmin(odd))
        raise BarsError(
            f"{place(row)}: time {values[row]} is in another unit than {values[other]} "
            f"({place(other)}): one column has one unit"
        )
    if values.dtype.kind not in "iu":
        return np.rint(np.clip(rough, -FAR, FAR)).astype(np.int64)
    near = np.where(size / per_ms < FAR, values, 0).astype(np.int64)
    exact = near * 1_000 if per_ms < 1 else near // int(per_ms)
    return np.where(size / per_ms < FAR, exact, np.copysign(FAR, rough).astype(np.int64))
