"""`text`: numbers and times as people read them."""

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from chartpact.clock.zones import zone
from chartpact.script.errors import Fault
from chartpact.script.runtime.series import Series
from chartpact.script.runtime.values import a_type, shown

MOST_DECIMALS = 16
_LONGEST_FORMAT = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = (
    "January February March April May June July August September October November December"
).split()


def number(x: Any, decimals: Any = None) -> str:
    """The number with this many decimals, or with as many as it needs; na is "NaN".

    >>> number(4512.5, 2), number(0.1, 0), number(3.0), number(None, 2)
    ('4512.50', '0', '3', 'NaN')
    """
    if x is None or (type(x) is float and math.isnan(x)):
        return "NaN"
    if type(x) not in (int, float):
        hint = "take one bar: s[i]" if type(x) is Series else ""
        raise Fault("type", f"text.number takes a number, not {a_type(x)}", hint)
    if decimals is None:
        text = repr(x)
        return text.removesuffix(".0")
    if type(decimals) is not int or not 0 <= decimals <= MOST_DECIMALS:
        raise Fault("value", f"decimals is an int from 0 to {MOST_DECIMALS}")
    try:
        return f"{x:.{decimals}f}"
    except OverflowError:
        raise Fault("value", "this int is too large to be written with decimals") from None


def time(ms: Any, format: Any = "yyyy-MM-dd HH:mm", tz: Any = "UTC") -> str:
    """A time in UTC ms by the wall clock of tz, in Pine's letters (HH:mm) or as in %H:%M.

    >>> time(1_700_000_000_000, "yyyy-MM-dd'T'HH:mm", "America/New_York")
    '2023-11-14T17:13'
    >>> time(1_700_000_000_000, "%d %b %H:%M")
    '14 Nov 22:13'
    """
    local = _local(ms, tz)
    if type(format) is not str or len(format) > _LONGEST_FORMAT:
        raise Fault("type", "the format of a time is a short string such as 'yyyy-MM-dd HH:mm'")
    if "%" in format:
        return _PERCENT.sub(lambda match: _percent(match, local), format)
    return _LETTERS.sub(lambda match: _letters(match, local), format)


def _local(ms: Any, tz: Any) -> datetime:
    if type(ms) not in (int, float) or (type(ms) is float and not math.isfinite(ms)):
        hint = "take one bar: ohlcv.time[i]" if type(ms) is Series else ""
        raise Fault("type", f"text.time takes UTC milliseconds, not {a_type(ms)}", hint)
    if type(tz) is not str:
        raise Fault("type", f"a time zone is a string, not {a_type(tz)}")
    try:
        moment = _EPOCH + timedelta(milliseconds=int(ms))
        return moment if tz == "UTC" else moment.astimezone(zone(tz))
    except (OverflowError, ValueError, KeyError, OSError):
        pass
    try:
        _EPOCH + timedelta(milliseconds=int(ms))
    except (OverflowError, ValueError):
        raise Fault("value", f"{shown(ms)} is not a time in UTC milliseconds") from None
    raise Fault("value", f"{tz!r:.60} is not a time zone", 'write "America/New_York"')


_LETTERS = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*")
_PERCENT = re.compile(r"%(.?)", re.DOTALL)


def _offset(moment: datetime) -> str:
    shift = moment.utcoffset() or timedelta()
    minutes = int(shift.total_seconds() // 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}{abs(minutes) % 60:02d}"


Part = Callable[[datetime], str]
_BY_LETTERS: Mapping[str, Part] = {
    "yyyy": lambda t: f"{t.year:04d}",
    "yy": lambda t: f"{t.year % 100:02d}",
    "MMMM": lambda t: _MONTHS[t.month - 1],
    "MMM": lambda t: _MONTHS[t.month - 1][:3],
    "MM": lambda t: f"{t.month:02d}",
    "M": lambda t: str(t.month),
    "dd": lambda t: f"{t.day:02d}",
    "d": lambda t: str(t.day),
    "EEEE": lambda t: _DAYS[t.weekday()],
    "EEE": lambda t: _DAYS[t.weekday()][:3],
    "E": lambda t: _DAYS[t.weekday()][:3],
    "HH": lambda t: f"{t.hour:02d}",
    "H": lambda t: str(t.hour),
    "hh": lambda t: f"{(t.hour - 1) % 12 + 1:02d}",
    "h": lambda t: str((t.hour - 1) % 12 + 1),
    "mm": lambda t: f"{t.minute:02d}",
    "m": lambda t: str(t.minute),
    "ss": lambda t: f"{t.second:02d}",
    "s": lambda t: str(t.second),
    "SSS": lambda t: f"{t.microsecond // 1000:03d}",
    "a": lambda t: "AM" if t.hour < 12 else "PM",
    "Z": _offset,
}

_SAME = {  # the letters after % that are Pine's under another name
    "Y": "yyyy", "y": "yy", "B": "MMMM", "b": "MMM", "m": "MM", "d": "dd", "A": "EEEE", "a": "EEE",
    "H": "HH", "I": "hh", "M": "mm", "S": "ss", "p": "a", "z": "Z",
}  # fmt: skip
_BY_PERCENT: Mapping[str, Part] = {
    **{letter: _BY_LETTERS[letters] for letter, letters in _SAME.items()},
    "%": lambda t: "%",  # noqa: ARG005
}


def _letters(match: re.Match[str], moment: datetime) -> str:
    if match[1] is not None:
        return match[1].replace("''", "'") or "'"
    return _part(_BY_LETTERS, match[0], moment, "put words in single quotes, as in 'T'")


def _percent(match: re.Match[str], moment: datetime) -> str:
    return _part(_BY_PERCENT, match[1], moment, "")


def _part(table: Mapping[str, Part], key: str, moment: datetime, hint: str) -> str:
    if key not in table:
        known = ", ".join(table)
        raise Fault("value", f"{key!r:.20} is no part of a time", hint or f"there are {known}")
    return table[key](moment)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {"number": number, "time": time}
